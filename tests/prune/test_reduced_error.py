"""Reduced-error, pre- and out-of-bag pruning: against the references, and in use."""

import random

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    OutOfBagPruning,
    PrePruning,
    ReducedErrorPruning,
)
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.prune import Rows, TrainingData, cut_below
from sklearn_textbook.tree.route import find_ends
from tests.loops import loop_over
from tests.reference.compare import find_difference, read_grown_tree
from tests.reference.id3_cases import make_id3_case
from tests.reference.pre_pruning import grow_pre_pruned
from tests.reference.validation import (
    count_leaves,
    list_subtrees,
    prune_bottom_up,
    prune_top_down,
)
from tests.reference.validation_cases import KINDS, make_case

TIES = ["prune", "keep"]
REFERENCES = {ReducedErrorPruning: prune_bottom_up, PrePruning: prune_top_down}


def prune(case, pruner):
    return pruner.prune(case.estimator, **case.validation)


def check_same(one, other):
    """Require equal trees; a nominal test has NaN for its threshold."""
    assert one.nodes.tobytes() == other.nodes.tobytes()
    np.testing.assert_array_equal(one.statistics, other.statistics)


# -------------------------------------------------------------- against the reference
@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", REFERENCES)
def test_leaves_and_report_equal_the_reference(method, kind, tie):
    n_steps, decisions = 0, set()
    for seed in range(15):
        case = make_case(kind, 1000 + seed)
        pruned = prune(case, method(tie=tie))
        check_tree(pruned.tree_)
        losses = case.measure_reference()
        leaves, steps = REFERENCES[method](losses, tie)
        expected = cut_below(case.estimator.tree_, sorted(leaves))
        check_same(pruned.tree_, expected)
        report = pruned.pruning_report_
        assert report.n_rows == len(steps)
        for number, (node, decision, before, after) in enumerate(steps):
            assert report["node"][number] == node
            assert report["decision"][number] == decision
            for name, value in (("before", before), ("after", after)):
                expected = pytest.approx(value / losses.total, abs=1e-9)
                assert report[name][number] == expected
        n_steps += len(steps)
        decisions |= set(report["decision"].tolist())
    assert n_steps > 5
    assert decisions == {"kept", "pruned"}


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_subtree_errs_less(kind, tie):
    """And of those that err as little, it is the smallest, or the largest."""
    n_compared = 0
    for seed in range(16):
        case = make_case(kind, 2000 + seed, max_depth=3)
        losses = case.measure_reference()
        subtrees = list_subtrees(losses.nodes)
        if not 2 < len(subtrees) < 300:
            continue
        errors = [losses.add_up(0, leaves)[0] for leaves in subtrees]
        least = min(errors)
        sizes = [
            count_leaves(losses.nodes, leaves)
            for leaves, error in zip(subtrees, errors, strict=True)
            if error <= least + 1e-9
        ]
        tree = prune(case, ReducedErrorPruning(tie=tie)).tree_
        assert tree.n_leaves == (min(sizes) if tie == "prune" else max(sizes))
        n_compared += 1
    assert n_compared > 1


def make_pre_pruning_case(seed):
    """A table in two parts: rows that grow the tree, and rows that are asked."""
    generator = random.Random(seed)
    case = make_id3_case(generator)
    settings = {
        **case.settings,
        "handle_unknown": generator.choice(["parent", "fractional"]),
    }
    rows = list(range(len(case.y)))
    asked = sorted(generator.sample(rows, len(rows) // 2))
    weights = [float(generator.randint(1, 3)) for _ in rows]
    return case, settings, [row for row in rows if row not in asked], asked, weights


@pytest.mark.parametrize("tie", TIES)
def test_pre_pruning_is_deciding_while_growing(tie):
    """The tree of a reference that asks the other rows before it splits a node.

    The reference counts in exact fractions: where two classes weigh the same but for
    the rounding of fractions (one table of some thousands), the class of a node
    differs.
    """
    n_inner = n_stopped = n_divided = 0
    for seed in range(50):
        case, settings, grows, asked, weights = make_pre_pruning_case(seed)
        if not asked:
            continue
        # Rows of weight 0 leave no trace, but the frame has all levels and classes.
        growing = [weight * (row in grows) for row, weight in enumerate(weights)]
        frame, y = case.make_frame(), case.make_target()
        estimator = ID3Classifier(**settings, pruning=PrePruning(tie=tie)).fit(
            frame,
            y,
            growing,
            X_val=frame.iloc[asked],
            y_val=y[asked],
            sample_weight_val=[weights[row] for row in asked],
        )
        arrived = [
            ([column.values[row] for column in case.columns], weights[row], y[row])
            for row in asked
        ]
        reference = grow_pre_pruned(
            case.columns, y, growing, case.n_classes[0], arrived, tie, **settings
        )
        nodes = read_grown_tree(estimator.tree_)
        assert find_difference(reference, nodes) is None, f"seed {seed}"
        n_inner += len(nodes) > 1
        n_stopped += "pruned" in estimator.pruning_report_["decision"]
        n_divided += any(not node["weight"].is_integer() for node in nodes)
    assert min(n_inner, n_stopped) > 10
    assert n_divided > 0


@loop_over("seed", range(6))
def test_report_tells_the_score_of_every_step(seed):
    """Nodes cut one after the other: what the report says is what score says."""
    X, y = make_classification(300, 6, n_informative=4, flip_y=0.2, random_state=seed)
    grown = CARTClassifier().fit(X[:150], y[:150])
    report = ReducedErrorPruning().prune(grown, X[150:], y[150:]).pruning_report_
    assert (np.diff(report["depth"]) <= 0).all()
    is_same_level = np.diff(report["depth"]) == 0
    assert (np.diff(report["node"])[is_same_level] > 0).all()
    cut = []
    for step in range(report.n_rows):
        errors = []
        for nodes in (cut, [*cut, report["node"][step]]):
            ends = find_ends(grown.tree_, X[150:])[1]
            errors.append(count_errors(grown.tree_, ends, nodes, y[150:]) / 150)
        assert [report["before"][step], report["after"][step]] == pytest.approx(errors)
        assert (report["decision"][step] == "pruned") == (errors[1] <= errors[0])
        if report["decision"][step] == "pruned":
            cut.append(report["node"][step])
    pruned = ReducedErrorPruning().prune(grown, X[150:], y[150:])
    assert 0 < pruned.get_n_leaves() < grown.get_n_leaves()
    last = report["after" if report["decision"][-1] == "pruned" else "before"][-1]
    assert 1 - pruned.score(X[150:], y[150:]) == pytest.approx(last)
    stays = report["tree_node"] >= 0
    kept = report["node"][stays & (report["decision"] == "kept")]
    assert len(kept) == pruned.tree_.node_count - pruned.get_n_leaves()


def count_errors(tree, ends, leaves, y):
    """Wrongly judged rows if some nodes are leaves."""
    parent, decision = tree.nodes["parent"], tree.value[:, 0].argmax(axis=1)
    n_errors = 0
    for end, label in zip(ends, y, strict=True):
        node, decides = end, end
        while node >= 0:
            decides = node if node in leaves else decides
            node = parent[node]
        n_errors += decision[decides] != label
    return n_errors


# ---------------------------------------------------------------- what must not matter
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", REFERENCES)
def test_order_of_rows_and_copies_for_weights(method, kind):
    for seed in range(5):
        case = make_case(kind, 3000 + seed)
        rng = np.random.default_rng(seed)
        X_val, y_val = case.validation["X_val"], case.validation["y_val"]
        weight = rng.integers(0, 4, len(y_val))
        weight[0] += 1
        first = method().prune(case.estimator, X_val, y_val, weight)
        order = rng.permutation(len(y_val))
        others = [(X_val.iloc[order], y_val[order], weight[order])]
        copies = np.repeat(np.arange(len(y_val)), weight)
        others.append((X_val.iloc[copies], y_val[copies], None))
        for rows in others:
            other = method().prune(case.estimator, *rows)
            check_same(other.tree_, first.tree_)
            for name in ("before", "after"):
                np.testing.assert_allclose(
                    other.pruning_report_[name], first.pruning_report_[name], atol=1e-9
                )


@pytest.mark.parametrize("method", REFERENCES)
def test_number_of_threads_does_not_matter(method):
    X, y = make_classification(400, 5, flip_y=0.3, random_state=0)
    reports = [
        CARTClassifier(pruning=method(), n_jobs=n_jobs).fit(X, y).pruning_report_
        for n_jobs in (1, 2)
    ]
    assert str(reports[0]) == str(reports[1])


@pytest.mark.parametrize("method", REFERENCES)
def test_fit_and_prune_give_one_tree(method):
    for kind in KINDS:
        case = make_case(kind, 12)
        fitted = clone(case.estimator).set_params(pruning=method())
        if kind == "C45Classifier":
            fitted.set_params(collapse=False)
            case.estimator.set_params(collapse=False)
            case.estimator.fit(case.X, case.y, case.weights)
        fitted.fit(case.X, case.y, case.weights, **case.validation)
        pruned = prune(case, method())
        check_same(fitted.tree_, pruned.tree_)
        assert str(fitted.pruning_report_) == str(pruned.pruning_report_)
        assert type(pruned.pruning) is method
        assert not hasattr(case.estimator, "pruning_report_")


def test_collapse_is_left_out():
    """A branch that saves nothing in training may yet do so on other rows."""
    X, y = [[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 0, 1]
    X, y = np.array(X * 3 + [[1]] * 6), np.array(y * 3 + [0] * 6)
    settings = {"mdl_correction": False, "gain_ratio_rule": "plain"}
    assert C45Classifier(**settings, pruning=None).fit(X, y).get_n_leaves() == 1
    fitted = C45Classifier(**settings, pruning=ReducedErrorPruning(tie="keep"))
    assert fitted.fit(X, y, X_val=X, y_val=y).get_n_leaves() == 2


# --------------------------------------------------------------------- small and exact
def test_underfitting_of_pre_pruning():
    """Exclusive or: the first split alone is of no use, both together are."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    y = X[:, 0] ^ X[:, 1]
    rows = {"X_val": X, "y_val": y}
    full = CARTClassifier(pruning=ReducedErrorPruning()).fit(X, y, **rows)
    assert full.score(X, y) == 1.0
    assert CARTClassifier(pruning=PrePruning()).fit(X, y, **rows).get_n_leaves() == 1
    fitted = CARTClassifier(pruning=PrePruning(tie="keep")).fit(X, y, **rows)
    assert fitted.score(X, y) == 1.0


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_by_hand(criterion):
    """Values 1, 3 | 10, 12; the other rows say 2, 2 | 12, 13."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 10.0, 12.0]
    fitted = CARTRegressor(criterion=criterion, pruning="reduced_error")
    fitted.fit(X, y, X_val=X, y_val=[2.0, 2.0, 12.0, 13.0])
    is_squared = criterion != "absolute_error"
    report = fitted.pruning_report_
    # Rows 2 and 3 err 2 and 1 below node 2, 1 and 2 in it: a tie. Node 1 errs 0.
    assert report["node"].tolist() == [1, 2, 0]
    assert report["decision"].tolist() == ["pruned", "pruned", "kept"]
    errors = [7, 5, 5] if is_squared else [5, 3, 3]
    assert report["before"].tolist() == [errors[0] / 4, errors[1] / 4, errors[2] / 4]
    # As one leaf: 6.5, hence errors of 4.5, 4.5, 5.5 and 6.5.
    assert report["after"][2] == (113 if is_squared else 21) / 4
    assert fitted.predict(X).tolist() == [2.0, 2.0, 11.0, 11.0]


def test_several_outputs_count_by_their_mean():
    X = np.arange(8.0).reshape(-1, 1)
    y = np.column_stack([X[:, 0] > 3, X[:, 0] > 5]).astype(int)
    fitted = CARTClassifier(pruning="reduced_error").fit(X, y, X_val=X, y_val=y)
    np.testing.assert_array_equal(fitted.predict(X), y)
    assert fitted.pruning_report_["before"].tolist() == [0.0, 0.0]
    # As a leaf the node above errs in two rows of one output of two.
    assert fitted.pruning_report_["after"][0] == 2 / 16


@pytest.mark.parametrize("name", ["reduced_error", "pre_pruning"])
@pytest.mark.parametrize("model", [CARTClassifier, ID3Classifier, C45Classifier])
def test_one_row_and_one_class(model, name):
    with pytest.raises(ValueError, match="1 sample.*X_val"):
        model(pruning=name).fit([[1.0]], [0])
    fitted = model(pruning=name).fit([[1.0]], [0], X_val=[[2.0]], y_val=[0])
    assert fitted.pruning_report_.n_rows == 0
    assert fitted.get_n_leaves() == 1
    fitted = model(pruning=name).fit([[1.0], [2.0], [3.0]], ["a"] * 3)
    assert fitted.predict([[0.0]]).tolist() == ["a"]
    assert fitted.pruning_report_.n_rows == 0
    assert fitted.pruning_report_["decision"].shape == (0,)


def test_node_without_validation_rows_falls_unless_ties_keep():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 0]
    rows = {"X_val": [[3.0]], "y_val": [0]}
    for tie, n_leaves in (("prune", 1), ("keep", 3)):
        fitted = CARTClassifier(pruning=ReducedErrorPruning(tie=tie)).fit(X, y, **rows)
        assert fitted.get_n_leaves() == n_leaves


def test_the_limit_of_the_whole_tree_comes_first():
    X, y = make_classification(200, 5, flip_y=0.3, random_state=1)
    grown = CARTClassifier(max_leaf_nodes=4).fit(X[:100], y[:100])
    fitted = CARTClassifier(max_leaf_nodes=4, pruning=PrePruning(tie="keep"))
    fitted.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    pruned = PrePruning(tie="keep").prune(grown, X[100:], y[100:])
    check_same(fitted.tree_, pruned.tree_)


# ------------------------------------------------------------------------- parameters
@pytest.mark.parametrize("method", REFERENCES)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tie": "cut"}, "'tie' parameter must be one of 'prune', 'keep'; got 'cut'"),
        ({"tie": None}, "'tie' parameter"),
        ({"validation_fraction": 0.0}, r"'validation_fraction'.*range \(0.0, 1.0\)"),
        ({"validation_fraction": 1.0}, "'validation_fraction' parameter"),
        ({"validation_fraction": 3}, "'validation_fraction' parameter"),
        ({"validation_fraction": None}, "'validation_fraction' parameter"),
        ({"random_state": "x"}, "'random_state' parameter"),
    ],
)
def test_bad_parameters(method, parameters, message):
    with pytest.raises(ValueError, match=message):
        CARTClassifier(pruning=method(**parameters)).fit([[0], [1]], [0, 1])
    fitted = CARTClassifier().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=message):
        method(**parameters).prune(fitted, [[0]], [1])


@pytest.mark.parametrize("method", REFERENCES)
def test_after_the_fact_other_rows_are_needed(method):
    fitted = CARTClassifier().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=f"{method.__name__}.*Give X_val and y_val"):
        method().prune(fitted)
    with pytest.raises(TypeError, match="must be a fitted tree estimator"):
        method().prune(C45RulesClassifier().fit([[0], [1]], [0, 1]), [[0]], [1])


def test_names_and_nested_parameters():
    estimator = ID3Classifier(pruning="pre_pruning")
    assert estimator.get_params()["pruning__tie"] == "prune"
    estimator.set_params(pruning__tie="keep", pruning__validation_fraction=0.5)
    assert repr(estimator.pruning) == "PrePruning(tie='keep', validation_fraction=0.5)"
    assert (
        estimator.fit([[0], [1], [2], [3]], [0, 1, 0, 1]).tree_.n_node_samples[0] == 2
    )


def test_search_over_the_treatment_of_ties():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        CARTClassifier(pruning="reduced_error"),
        {"pruning__tie": TIES, "pruning__validation_fraction": [0.2, 0.4]},
        cv=3,
    ).fit(X, y)
    assert search.best_estimator_.pruning.tie in TIES
    assert len(np.unique(search.cv_results_["mean_test_score"])) > 1


def test_pipeline_hands_validation_rows_on():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), CARTClassifier(pruning="reduced_error"))
    X_val = StandardScaler().fit(X[::2]).transform(X[1::2])
    model.fit(
        X[::2], y[::2], cartclassifier__X_val=X_val, cartclassifier__y_val=y[1::2]
    )
    assert model[-1].tree_.n_node_samples[0] == 75
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_pruning_helps_on_noisy_rows():
    X, y = make_classification(600, 8, n_informative=3, flip_y=0.4, random_state=2)
    scores = {
        pruning: cross_val_score(CARTClassifier(pruning=pruning), X, y, cv=4).mean()
        for pruning in (None, "reduced_error", "pre_pruning")
    }
    assert scores["reduced_error"] > scores[None]
    X, y = load_diabetes(return_X_y=True)
    full, pruned = (
        cross_val_score(CARTRegressor(pruning=pruning), X, y, cv=4).mean()
        for pruning in (None, "reduced_error")
    )
    assert pruned > full + 0.2


# ------------------------------------------------------------------- out-of-bag pruning
def test_members_of_a_bagging_are_pruned_by_the_rows_they_have_not_seen():
    """As an ensemble would: one table, members grown by counts of drawn rows."""
    X, y = make_classification(300, 6, n_informative=3, flip_y=0.3, random_state=0)
    X_test, y_test, X, y = X[200:], y[200:], X[:200], y[:200]
    rng, pruner = np.random.default_rng(0), OutOfBagPruning()
    votes = {"grown": np.zeros(100), "pruned": np.zeros(100)}
    for _ in range(11):
        counts = np.bincount(rng.integers(0, 200, 200), minlength=200)
        is_out = counts == 0
        member = CARTClassifier().fit(X, y, sample_weight=counts)
        out_of_bag = member._read_rows(X[is_out], y[is_out], None)
        data = TrainingData(None, None, "gini", out_of_bag, find_ends=find_ends)
        tree = pruner.prune_tree(member.tree_, data)
        pruned = pruner.prune(member, X[is_out], y[is_out])
        check_same(tree, pruned.tree_)
        same = ReducedErrorPruning().prune(member, X[is_out], y[is_out])
        assert str(same.pruning_report_) == str(pruned.pruning_report_)
        assert pruned.get_n_leaves() < member.get_n_leaves()
        assert pruned.score(X[is_out], y[is_out]) >= member.score(X[is_out], y[is_out])
        votes["grown"] += member.predict(X_test)
        votes["pruned"] += pruned.predict(X_test)
    right = {name: ((vote > 5) == y_test).mean() for name, vote in votes.items()}
    assert min(right.values()) > 0.6


@pytest.mark.parametrize("is_empty", [True, False])
def test_member_without_out_of_bag_rows_stays_as_it_is(is_empty):
    member = CARTClassifier().fit([[0.0], [1.0]], [0, 1])
    n_rows = 0 if is_empty else 2
    rows = member._read_rows([[0.0], [1.0]], [1, 0], None).take(np.arange(n_rows))
    rows = Rows(rows.matrix, rows.target, np.zeros(n_rows))
    data = TrainingData(None, None, "gini", rows, find_ends=find_ends)
    outcome = OutOfBagPruning().prune_grown(member.tree_, data)
    assert outcome.tree is member.tree_
    assert outcome.report.n_rows == 0
    with pytest.raises(ValueError, match="requires validation rows of positive weight"):
        ReducedErrorPruning().prune_tree(member.tree_, data)


def test_single_tree_has_no_out_of_bag_rows():
    X, y = load_iris(return_X_y=True)
    for pruning in ("out_of_bag", OutOfBagPruning("keep")):
        with pytest.raises(ValueError, match="member of a bagging ensemble or forest"):
            CARTClassifier(pruning=pruning).fit(X, y)
    with pytest.raises(ValueError, match="member of a bagging ensemble or forest"):
        OutOfBagPruning().prune(CARTClassifier().fit(X, y))
    with pytest.raises(ValueError, match="'tie' parameter"):
        CARTClassifier(pruning=OutOfBagPruning("no")).fit(X, y)
    fitted = CARTClassifier(pruning="out_of_bag").fit(X, y, X_val=X, y_val=y)
    assert fitted.score(X, y) == 1.0
