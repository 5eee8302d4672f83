"""Tables of pruning, and what was pruned in words."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

from sklearn_textbook.datasets import load_watermelon, make_mixed_table
from sklearn_textbook.tree import (
    CARTClassifier,
    CARTRegressor,
    CostComplexityPruning,
    ErrorBasedPruning,
    ID3Classifier,
    export_pruning_report,
    export_rules,
)
from sklearn_textbook.tree.prune import PruningTable, cut_below
from sklearn_textbook.tree.prune.outcome import PruningRecord, cut_and_report


def make_table(n_rows=3):
    table = PruningTable(node=np.arange(n_rows), before=np.linspace(0.0, 1.0, n_rows))
    table.measure, table.n_leaves_grown = "validation error", 7
    return table


def prune_by_hand(estimator, nodes, measures, measure="error"):
    """A copy of a fitted tree with some nodes made leaves, one after the other."""
    tree = estimator.tree_
    is_cut = np.isin(np.arange(tree.node_count), nodes)
    decision = np.full(len(nodes), "pruned")
    record = PruningRecord(
        measure, np.array(nodes), decision, np.array(measures[:-1]), measures[1:]
    )
    outcome = cut_and_report(tree, is_cut, record)
    pruned = copy.copy(estimator)
    pruned.tree_, pruned.pruning_report_ = outcome.tree, outcome.report
    pruned.pruning = "cost_complexity"
    return pruned


@pytest.fixture(scope="module")
def iris_tree():
    iris = load_iris(as_frame=True)
    return CARTClassifier().fit(iris.data, iris.target_names[iris.target])


# -------------------------------------------------------------------------- tables
@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies_of_a_table_are_whole(duplicate):
    table = make_table()
    copied = duplicate(table)
    assert isinstance(copied, PruningTable)
    assert (copied.measure, copied.n_leaves_grown) == ("validation error", 7)
    assert list(copied) == list(table)
    np.testing.assert_array_equal(copied["before"], table["before"])


def test_pickles_of_former_tables_are_read():
    pickled = b"csklearn_textbook.tree.prune.outcome\n_make_table\n((dtR."
    assert isinstance(pickle.loads(pickled), PruningTable)


def test_table_as_frame():
    frame = make_table().as_frame()
    assert list(frame.columns) == ["node", "before"]
    assert frame["before"].tolist() == [0.0, 0.5, 1.0]
    assert frame.attrs["measure"] == "validation error"


def test_frames_need_pandas(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="as_frame requires pandas"):
        make_table().as_frame()


def test_printed_table():
    lines = str(make_table()).splitlines()
    assert [line.split() for line in lines[:-1]] == [
        ["node", "before"],
        ["0", "0"],
        ["1", "0.5"],
        ["2", "1"],
    ]
    assert lines[-1] == " before, after: validation error"
    assert len({len(line) for line in lines[:-1]}) == 1
    assert repr(make_table()) == str(make_table())
    assert str(PruningTable()) == "PruningTable()"


@pytest.mark.parametrize(("n_rows", "n_lines"), [(20, 21), (21, 22), (22, 22)])
def test_long_tables_are_shortened(n_rows, n_lines):
    table = make_table(n_rows)
    table.measure = None
    lines = str(table).splitlines()
    assert len(lines) == n_lines
    assert any("2 more rows" in line for line in lines) == (n_rows == 22)
    assert lines[-1].split() == [str(n_rows - 1), "1"]


def test_columns_have_one_length():
    with pytest.raises(
        ValueError, match=r"must have equal lengths.*'a': \(2,\), 'b': \(3,\)"
    ):
        PruningTable(a=[1, 2], b=[1, 2, 3])


# --------------------------------------------------------------------------- words
def test_largest_branches_come_first(iris_tree):
    tree = iris_tree.tree_
    inner = np.flatnonzero(tree.nodes["n_children"] > 0)
    left, right = inner[inner > 2][:2]
    text = export_pruning_report(prune_by_hand(iris_tree, [left, right], [0, 0.1, 0.2]))
    lines = text.splitlines()
    n_leaves = cut_below(tree, [left, right]).n_leaves
    assert lines[0] == (
        f"CARTClassifier, cost-complexity pruning: {n_leaves} of {tree.n_leaves} "
        "leaves kept."
    )
    assert lines[1] == "error: 0 before pruning, 0.2 after"
    assert lines[3].split() == ["leaves", "first", "test", "error", "is", "now"]
    sizes = [int(line.split()[0]) for line in lines[4:]]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) - 2 == tree.n_leaves - n_leaves


def test_places_are_the_rules_of_the_leaves(iris_tree):
    inner = np.flatnonzero(iris_tree.tree_.nodes["n_children"] > 0)
    pruned = prune_by_hand(iris_tree, inner[inner > 2][:2], [0, 0.1, 0.2])
    rules = {line.partition(" [")[0] for line in export_rules(pruned).splitlines()}
    for line in export_pruning_report(pruned).splitlines()[4:]:
        assert line[line.index("IF") : line.index(" (", line.index("THEN"))] in rules


def test_branches_within_others_are_not_listed(iris_tree):
    text = export_pruning_report(prune_by_hand(iris_tree, [2, 0], [0, 0.1, 0.5]))
    assert len(text.splitlines()) == 5
    *_, line = text.splitlines()
    assert line.split()[0] == str(iris_tree.tree_.n_leaves)
    assert "0.1 -> 0.5" in line
    assert line.endswith("ALWAYS setosa (150 rows, 33.3%)")
    assert text.startswith("CARTClassifier, cost-complexity pruning: 1 of ")


@pytest.mark.parametrize(("max_rows", "n_shown"), [(0, 0), (1, 1), (None, 2), (2, 2)])
def test_long_reports_are_shortened(iris_tree, max_rows, n_shown):
    inner = np.flatnonzero(iris_tree.tree_.nodes["n_children"] > 0)
    pruned = prune_by_hand(iris_tree, inner[inner > 2][:2], [0, 0.1, 0.2])
    lines = export_pruning_report(pruned, max_rows=max_rows).splitlines()
    assert sum("->" in line for line in lines) == n_shown
    assert lines[-1].startswith("... ") == (n_shown < 2)


def test_small_changes_are_seen(iris_tree):
    text = export_pruning_report(prune_by_hand(iris_tree, [2], [0.3, 0.3 + 1e-7]))
    assert "0.3000000 -> 0.3000001" in text


def test_choice_of_alpha_is_told():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    tree = CARTClassifier(pruning=CostComplexityPruning(cv=3)).fit(X, y)
    path = tree.pruning_path_
    chosen = int(path["selected"].argmax())
    head = export_pruning_report(tree, max_rows=0).splitlines()[1]
    assert head.startswith(f"cross-validated risk: {path['cv_risk'][0]:.4}")
    assert head.endswith(f"(alpha = {path['alpha'][chosen]:.4})")


def test_nothing_fell():
    X, y = load_iris(return_X_y=True)
    tree = CARTClassifier(pruning=CostComplexityPruning(cv=None)).fit(X, y)
    first, *others = export_pruning_report(tree).splitlines()
    assert first.startswith("CARTClassifier, cost-complexity pruning: nothing pruned; ")
    assert first.endswith(f"; {tree.get_n_leaves()} leaves.")
    assert others == ["training risk: 0"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"categorical_split": "subset"},
        {"categorical_split": "multiway", "missing": "branch"},
        {"missing": "surrogate"},
    ],
)
def test_trees_of_mixed_tables(parameters):
    X, y = make_mixed_table(
        400, label_noise=0.1, missing_fraction=0.1, as_frame=True, random_state=0
    )
    tree = CARTClassifier(pruning=CostComplexityPruning(cv=3), **parameters).fit(X, y)
    report = tree.pruning_report_
    is_leaf = (report["tree_node"] >= 0) & (report["decision"] == "pruned")
    lines = export_pruning_report(tree, max_rows=None).splitlines()
    assert sum("->" in line for line in lines) == is_leaf.sum()
    n_gone = (report["n_leaves"][is_leaf] - 1).sum()
    assert report.n_leaves_grown - n_gone == tree.get_n_leaves()


def test_values_and_given_names():
    X, y = load_iris(return_X_y=True)
    tree = CARTRegressor(pruning="cost_complexity").fit(X, y)
    text = export_pruning_report(tree, feature_names=["a", "b", "c", "d"], decimals=1)
    assert text.startswith("CARTRegressor, cost-complexity pruning: ")
    assert " d " in text or " c " in text


def test_trees_without_a_report_are_refused(iris_tree):
    with pytest.raises(ValueError, match=r"no pruning_report_.*pruning=None"):
        export_pruning_report(iris_tree)
    with pytest.raises(NotFittedError):
        export_pruning_report(CARTClassifier())
    with pytest.raises(TypeError, match="SimpleNamespace"):
        export_pruning_report(SimpleNamespace())
    pruned = prune_by_hand(iris_tree, [2], [0.0, 0.1])
    with pytest.raises(ValueError, match="max_rows must be an integer >= 0 or None"):
        export_pruning_report(pruned, max_rows=-1)


def load_melons():
    """Training and validation parts of the melons, the book's columns first."""
    melons = load_watermelon("2.0", language="en", as_frame=True)
    X = melons.data[["umbilicus", "color", "root", "sound", "texture", "surface"]]
    y = melons.target.astype(str).replace({"yes": "good", "no": "poor"})
    grows, judges = melons.subset == "train", melons.subset == "validation"
    return X[grows], y[grows], {"X_val": X[judges], "y_val": y[judges]}


def test_pre_pruning_tells_what_dividing_would_cost():
    X, y, judges = load_melons()
    tree = ID3Classifier(pruning="pre_pruning").fit(X, y, **judges)
    first, second, _, header, *lines = export_pruning_report(tree).splitlines()
    assert first == "ID3Classifier, pre-pruning: 3 of 11 leaves kept."
    assert second == "validation error: 0.5714 as a single leaf, 0.2857 as pruned"
    assert "validation error if divided" in header
    assert [line[line.index("IF") :] for line in lines] == [
        "IF umbilicus = slightly_hollow THEN good (4 rows, 50%)",
        "IF umbilicus = hollow THEN good (4 rows, 75%)",
    ]
    assert [line.split()[2:5] for line in lines] == [
        ["0.2857", "->", "0.2857"],
        ["0.2857", "->", "0.4286"],
    ]


def test_reduced_error_pruning_tells_what_falling_saved():
    X, y, judges = load_melons()
    tree = ID3Classifier(pruning="reduced_error").fit(X, y, **judges)
    lines = export_pruning_report(tree).splitlines()
    assert lines[0] == "ID3Classifier, reduced-error pruning: 3 of 11 leaves kept."
    assert lines[1] == "validation error: 0.5714 before pruning, 0.2857 after"
    assert [line.split()[:2] for line in lines[4:]] == [["7", "root"], ["3", "color"]]


def test_chinese_letters_take_two_places():
    melons = load_watermelon("2.0", as_frame=True)
    tree = ID3Classifier(pruning="loss").fit(melons.data, melons.target)
    *_, header, line = export_pruning_report(tree, max_rows=1).splitlines()[:5]
    name = line.split()[1]
    assert header.index("is now") - line.index("IF") == len(name)


def test_raised_branches_stand_where_their_largest_branch_is(iris_tree):
    pruned = prune_by_hand(iris_tree, [2], [0.0, 0.1])
    report = pruned.pruning_report_
    steps = {
        "node": [9, 5, 5, 0],
        "tree_node": [-1, 2, 2, 0],
        "feature": [1, 2, 2, 3],
        "decision": ["raised", "kept", "pruned", "kept"],
        "before": [3.0, 2.0, 2.0, 1.5],
        "after": [2.0, 2.5, 1.5, 4.0],
        "raised_node": [5, -1, -1, -1],
        "n_leaves": [7, 4, 4, 9],
    }
    pruned.pruning_report_ = PruningTable(**steps)
    pruned.pruning_report_.measure = report.measure
    *_, line = export_pruning_report(pruned).splitlines()
    assert "sepal width (cm)" in line  # the node that is gone, not its branch
    assert line.split()[0] == "7"
    assert "3 -> 2" in line
    assert line.endswith("rows, 50%)")
    steps["raised_node"][0] = 0  # the root of this branch is still split
    steps["decision"][2] = "kept"
    pruned.pruning_report_ = PruningTable(**steps)
    *_, line = export_pruning_report(pruned).splitlines()
    assert "ALWAYS its largest branch, which tests " in line


def test_empty_report(iris_tree):
    pruned = prune_by_hand(iris_tree, [2], [0.0, 0.1])
    pruned.pruning_report_ = PruningTable()
    text = export_pruning_report(pruned)
    n_leaves = pruned.tree_.n_leaves
    assert text == (
        f"CARTClassifier, cost-complexity pruning: {n_leaves} leaves kept.\n"
    )


def test_weights_far_below_one_are_named():
    """They count as rows, of which there would be too few for any test."""
    X = np.arange(100.0)[:, np.newaxis]
    y = (X[:, 0] > 30).astype(int)
    tree = CARTClassifier(pruning=ErrorBasedPruning())
    assert tree.fit(X, y, np.full(100, 0.6)).get_n_leaves() == 2
    with pytest.warns(UserWarning, match="100 rows sum to 1. A weight counts") as found:
        tree.fit(X, y, np.full(100, 0.01))
    assert [warning.filename for warning in found] == [__file__]
    assert tree.get_n_leaves() == 1
