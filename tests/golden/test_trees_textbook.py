"""The trees of 周志华 ch. 4, 李航 ch. 5 and the golf tables, node by node."""

import math

import numpy as np
import pytest

from sklearn_textbook.criteria import best_threshold, gain_ratio, information_gain
from sklearn_textbook.datasets import load_loan, load_play_tennis, load_watermelon
from sklearn_textbook.tree import C45Classifier, ID3Classifier
from tests.golden import get_example
from tests.reference.compare import read_grown_tree

#: The order of the books' choices among columns that gain the same in table 4.2.
ORDER_OF_FIGURE_4_5 = ["脐部", "色泽", "根蒂", "敲声", "纹理", "触感"]


def read_table(bunch):
    """Columns, classes and printed numbers of the rows."""
    numbers = getattr(bunch, "sample_ids", np.arange(1, len(bunch.target) + 1))
    return bunch.data, bunch.target, numbers


def load_melons(version="2.0", subset=None):
    bunch = load_watermelon(version, as_frame=True)
    X, y, ids = read_table(bunch)
    if subset is not None:
        rows = bunch.subset == subset
        X, y, ids = X.loc[rows, ORDER_OF_FIGURE_4_5], y[rows], ids[rows]
    return X, y, ids


def load_people():
    return read_table(load_loan(as_frame=True))


def load_days(version):
    return read_table(load_play_tennis(version, as_frame=True))


def share_rows(nodes, matrix):
    """Weight of every row in every node, by the tests and weights of the nodes."""
    weights = np.zeros((len(nodes), len(matrix)))
    weights[0] = 1.0
    for number, node in enumerate(nodes):
        children = node["children"]
        total = sum(nodes[child]["weight"] for child in children)
        for row, values in enumerate(matrix):
            value = values[node["feature"]]
            for branch, child in enumerate(children):
                if math.isnan(value):
                    share = nodes[child]["weight"] / total
                elif node["kind"] == "nominal":
                    share = node["level_map"][int(value)] == branch
                else:
                    share = (value > node["threshold"]) == branch
                weights[child, row] = weights[number, row] * share
    return weights


class PrintedTree:
    """A fitted tree beside the printed one."""

    def __init__(self, example_id, estimator, table, has_midpoints=True):
        self.example = get_example(example_id)
        self.recorded = {node["path"]: node for node in self.example["nodes"]}
        self.tied = {tie["path"]: tie["tied"] for tie in self.example["ties"]}
        self.tied_labels = {
            tie["path"]: tie["tied"] for tie in self.example["label_ties"]
        }
        self.X, self.y, self.ids = table
        self.has_midpoints = has_midpoints
        self.estimator = estimator.fit(self.X, self.y)
        self.levels = [column.levels for column in estimator.schema_.columns]
        self.nodes = read_grown_tree(estimator.tree_)
        self.weights = share_rows(self.nodes, estimator.schema_.read(self.X))

    def check(self):
        """Compare every node; the fitted tree may have no others."""
        printed = self.example["printed"] or self.example["verified"]["value"]
        assert self.check_node(0, printed, "root") == len(self.nodes)

    def check_node(self, number, expected, path):
        """Compare a node and all below it; returns how many there are."""
        node, recorded = self.nodes[number], self.recorded[path]
        self.check_rows(node, self.weights[number], recorded)
        if "leaf" in expected:
            self.check_leaf(node, expected, path)
            return 1
        name = self.X.columns[node["feature"]]
        # Of columns that are equally good, we take the first: here as the book does.
        equal = self.tied.get(path, [expected["feature"]])
        assert name == min(equal, key=self.X.columns.get_loc) == expected["feature"]
        self.check_gains(node, self.weights[number], recorded["gains"], name)
        branches = self.list_branches(node, expected, recorded)
        return 1 + sum(
            self.check_node(child, expected["branches"][branch], f"{path}/{name}{text}")
            for child, (branch, text) in zip(node["children"], branches, strict=True)
        )

    def check_rows(self, node, weights, recorded):
        assert self.ids[weights > 0].tolist() == recorded["ids"]
        assert node["n_samples"] == len(recorded["ids"])
        assert node["weight"] == pytest.approx(weights.sum(), abs=1e-12)
        if recorded["ids"]:
            counts = [weights[self.y == label].sum() for label in sorted(set(self.y))]
            assert node["statistics"][0] == pytest.approx(counts, abs=1e-12)

    def check_leaf(self, node, expected, path):
        assert not node["children"]
        label = self.estimator.classes_[np.argmax(node["statistics"][0])]
        assert label in self.tied_labels.get(path, [expected["leaf"]])
        if expected.get("empty"):
            assert node["statistics"] == self.nodes[node["parent"]]["statistics"]

    def check_gains(self, node, weights, gains, name):
        """Every gain is that of the criteria over the weights of this node's rows."""
        are_ratios = "gain ratios" in self.example.get("note", "")
        measure = gain_ratio if are_ratios else information_gain
        for column, gain in gains.items():
            values = self.X[column].to_numpy()
            if values.dtype.kind == "f":
                _, computed = best_threshold(values, self.y, sample_weight=weights)
            else:
                computed = measure(values, self.y, weights)
            assert computed == pytest.approx(gain, abs=1e-6)
        if not are_ratios and not self.X.isna().any(axis=None):
            assert node["improvement"] == pytest.approx(gains[name], abs=1e-6)
            assert gains[name] == max(gains.values())

    def list_branches(self, node, expected, recorded):
        """The branches of the printed node in the order of the fitted one's."""
        if "threshold" in expected:
            printed = expected["threshold"]
            assert node["kind"] == "numeric"
            if self.has_midpoints:  # which the books cut off or round
                assert node["threshold"] == pytest.approx(
                    recorded["threshold_exact"][0]
                )
            else:
                assert node["threshold"] == printed
            return [(side, f"{side}{printed}") for side in ("<=", ">")]
        levels = self.levels[node["feature"]]
        assert node["level_map"] == {code: code for code in range(len(levels))}
        assert set(levels) == set(expected["branches"])
        return [(level, f"={level}") for level in levels]


@pytest.mark.parametrize(
    ("example_id", "table"),
    [
        ("zhou.fig4.4.tree", load_melons()),
        ("zhou.fig4.5.tree", load_melons(subset="train")),
        ("zhou.fig4.8.tree", load_melons("3.0")),
        ("zhou.fig4.9.tree", load_melons("2.0alpha")),
        ("zhou.fig4.10.tree", load_melons("3.0alpha")),
        ("lihang.ex5.3.tree", load_people()),
        ("classic.tennis.tree", load_days("nominal")),
        ("classic.golf.tree", load_days("golf")),
        ("classic.weather.tree", load_days("weka")),
    ],
)
@pytest.mark.parametrize("dtype", ["category", object])
def test_tree_of_id3(example_id, table, dtype):
    """All parameters at their defaults; levels in the book's order, or sorted."""
    X, y, ids = table
    table = X.astype(dict.fromkeys(X.select_dtypes("category"), dtype)), y, ids
    printed = PrintedTree(example_id, ID3Classifier(), table)
    printed.check()
    accuracy = printed.example.get("training_accuracy", 1.0)
    if not printed.X.isna().any(axis=None):
        assert printed.estimator.score(printed.X, printed.y) == accuracy


def test_equal_columns_in_the_order_of_the_table():
    """In table 4.2 色泽 stands before 脐部, which gains the same and is the book's."""
    X, y, _ = load_melons(subset="train")
    X = X[load_melons()[0].columns]
    for example_id in ("zhou.fig4.5.tree", "zhou.4.3.train_root_gain"):
        tie = get_example(example_id)["ties"][0]
        assert (tie["path"], tie["book_picks"]) == ("root", "脐部")
        assert set(tie["tied"]) == {"色泽", "脐部"}
    root = ID3Classifier().fit(X, y).tree_.feature[0]
    assert X.columns[root] == "色泽"


@pytest.mark.parametrize("gain_ratio_rule", ["plain", "above_average"])
@pytest.mark.parametrize("parameters", [{"pruning": None}, {}])
def test_loan_tree_of_c45(gain_ratio_rule, parameters):
    """习题5.1: the same tree as by information gain."""
    estimator = C45Classifier(gain_ratio_rule=gain_ratio_rule, **parameters)
    PrintedTree("lihang.exercise5.1.tree", estimator, load_people()).check()


@pytest.mark.parametrize(
    ("example_id", "version"),
    [
        ("classic.golf.tree", "golf"),
        ("classic.weather.tree", "weka"),
        ("classic.tennis.tree", "nominal"),
    ],
)
def test_golf_trees_of_c45(example_id, version):
    """With the threshold that C4.5 prints: the largest humidity up to the midpoint."""
    PrintedTree(example_id, C45Classifier(), load_days(version), False).check()
    plain = C45Classifier(threshold="midpoint", mdl_correction=False, pruning=None)
    PrintedTree(example_id, plain, load_days(version)).check()


@pytest.mark.parametrize("gain_ratio_rule", ["plain", "above_average"])
def test_root_of_c45_on_the_melons(gain_ratio_rule):
    """4.2.2: the largest gain ratio, and of columns that gain more than the mean."""
    X, y, _ = load_melons()
    verified = get_example("zhou.4.2.2.gain_ratio_all")["verified"]["value"]
    ratios = verified["gain_ratio"]
    if gain_ratio_rule == "above_average":
        gains = get_example("zhou.4.2.1.root_gain")["verified"]["value"]
        above = [name for name in gains if gains[name] > verified["mean_gain"]]
        assert above == verified["candidates"]
        ratios = {name: ratios[name] for name in above}
    estimator = C45Classifier(gain_ratio_rule=gain_ratio_rule, pruning=None).fit(X, y)
    assert X.columns[estimator.tree_.feature[0]] == max(ratios, key=ratios.get)


# ------------------------------------------------------------- missing values, 4.4.2
def test_melons_8_and_10_go_down_every_branch():
    """Their texture is missing: weights 7/15, 5/15 and 3/15."""
    printed = PrintedTree("zhou.fig4.9.tree", ID3Classifier(), load_melons("2.0alpha"))
    root = printed.nodes[0]
    shares = get_example("zhou.4.4.2.branch_weights")["printed"]
    fifteenths = {"清晰": 7, "稍糊": 5, "模糊": 3}
    missing = np.isin(printed.ids, [8, 10])
    for level, child in zip(
        printed.levels[root["feature"]], root["children"], strict=True
    ):
        expected = pytest.approx(fifteenths[level] / 15, abs=1e-12)
        assert shares[level] == pytest.approx(fifteenths[level] / 15, abs=1e-9)
        assert printed.weights[child, missing].tolist() == [expected, expected]
        weight = fifteenths[level] + 2 * fifteenths[level] / 15
        assert printed.nodes[child]["weight"] == pytest.approx(weight, abs=1e-12)


def test_shares_of_melons_with_missing_values():
    """A melon that went down several branches is predicted from all of them."""
    X, y, ids = load_melons("2.0alpha")
    estimator = ID3Classifier().fit(X, y)
    shares = dict(zip(ids, estimator.predict_proba(X), strict=True))
    assert estimator.classes_.tolist() == ["否", "是"]
    # 8: all its other values lead to 是. 10: 硬挺 and 清脆 tell; the last branch
    # does too, by 青绿.
    assert shares[8] == pytest.approx([0, 1], abs=1e-12)
    assert shares[10] == pytest.approx([1, 0], abs=1e-12)


# ----------------------------------------------------------------- thresholds, 4.4.1
@pytest.mark.parametrize("name", ["密度", "含糖率"])
def test_candidate_thresholds(name):
    """Each of the 16 midpoints is found when the classes part there."""
    X, _, _ = load_melons("3.0")
    example = get_example("zhou.4.4.1.candidate_thresholds")
    thresholds = example["verified"]["value"][name]
    for threshold, printed in zip(thresholds, example["printed"][name], strict=True):
        above = X[name] > threshold
        tree = ID3Classifier().fit(X[[name]], above).tree_
        assert tree.node_count == 3
        assert tree.threshold[0] == pytest.approx(threshold, abs=1e-12)
        assert math.floor(threshold * 1000 + 1e-6) / 1000 == printed
    assert len(thresholds) == len(np.unique(X[name])) - 1 == 16


# --------------------------------------------------------------------- pruning, 4.3
def load_parts():
    """The two parts of table 4.2; the class False stands for 好瓜.

    It comes first, so it is taken where both classes are equal, as in the book.
    """
    parts = [load_melons(subset=subset) for subset in ("train", "validation")]
    return [(X, y == "否") for X, y, _ in parts]


def fit_figure_4_5():
    """The tree of figure 4.5, its nodes, and these by the book's numbers."""
    estimator = ID3Classifier().fit(*load_parts()[0])
    nodes = read_grown_tree(estimator.tree_)
    hollow, slightly_hollow, flat = nodes[0]["children"]
    slightly_curly = nodes[slightly_hollow]["children"][1]
    black = nodes[slightly_curly]["children"][1]
    numbers = [0, hollow, slightly_hollow, flat, slightly_curly, black]
    return estimator, nodes, dict(enumerate(numbers, start=1))


def count_right(estimator, leaves, X, y):
    """Per cent of the rows that are judged rightly if these nodes are leaves."""
    shares = estimator.tree_.compute_value()[:, 0]
    right = 0
    for entered, label in zip(estimator.decision_path(X).toarray(), y, strict=True):
        path = np.flatnonzero(entered)
        end = min(leaves.intersection(path), default=path[-1])
        right += estimator.classes_[shares[end].argmax()] == label
    return 100 * right / len(y)


def check_pruned(estimator, nodes, leaves, printed, number=0):
    """Compare with a printed tree, these nodes being leaves."""
    node = nodes[number]
    if "leaf" in printed:
        assert number in leaves or not node["children"]
        is_bad = estimator.classes_[np.argmax(node["statistics"][0])]
        assert printed["leaf"] == ("否" if is_bad else "是")
        return
    assert number not in leaves
    column = estimator.schema_.columns[node["feature"]]
    assert column.name == printed["feature"]
    for level, child in zip(column.levels, node["children"], strict=True):
        check_pruned(estimator, nodes, leaves, printed["branches"][level], child)


def test_pre_pruning():
    """图4.6: a node is split only if more of the other melons are judged rightly."""
    estimator, nodes, number = fit_figure_4_5()
    validation = load_parts()[1]
    steps = get_example("zhou.4.3.prepruning_steps")["verified"]["value"]
    stump = set(nodes[0]["children"])
    expected = [(steps[0]["before"], {0}), (steps[1]["after"], stump)]
    for step, split in ((steps[2], number[2]), (steps[3], number[3])):
        expected.append((step["before"], stump))
        expected.append(
            (step["after"], stump - {split} | set(nodes[split]["children"]))
        )
    for accuracy, leaves in expected:
        computed = count_right(estimator, leaves, *validation)
        assert computed == pytest.approx(accuracy, abs=1e-9)
    check_pruned(estimator, nodes, stump, get_example("zhou.fig4.6.tree")["printed"])
    shallow = ID3Classifier(max_depth=1).fit(*load_parts()[0])
    accuracies = get_example("zhou.4.3.accuracy")["verified"]["value"]
    assert 100 * shallow.score(*validation) == pytest.approx(accuracies["prepruned"])


def test_post_pruning():
    """图4.7: a node becomes a leaf if more of the other melons are judged rightly."""
    estimator, nodes, number = fit_figure_4_5()
    validation = load_parts()[1]
    accuracies = get_example("zhou.4.3.accuracy")["verified"]["value"]
    unpruned = 100 * estimator.score(*validation)
    assert unpruned == pytest.approx(accuracies["unpruned"])
    leaves = set()
    for step in get_example("zhou.4.3.postpruning_steps")["verified"]["value"]:
        before = count_right(estimator, leaves, *validation)
        after = count_right(estimator, leaves | {number[step["node"]]}, *validation)
        assert before == pytest.approx(step["before"], abs=1e-9)
        assert after == pytest.approx(step["after"], abs=1e-9)
        assert step["decision"] == ("prune" if after > before else "keep")
        if after > before:
            leaves.add(number[step["node"]])
    pruned = count_right(estimator, leaves, *validation)
    assert pruned == pytest.approx(accuracies["postpruned"])
    check_pruned(estimator, nodes, leaves, get_example("zhou.fig4.7.tree")["printed"])
