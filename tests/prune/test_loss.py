"""Pruning by penalised loss: optimal, the smallest such tree, the reference's steps."""

import math
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV

from sklearn_textbook import criteria
from sklearn_textbook.datasets import load_loan, load_play_tennis
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    LossPruning,
    export_text,
)
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.prune import (
    TrainingData,
    compute_weakest_link_sequence,
    cut_below,
    prune_to_alpha,
)
from tests.loops import loop_over
from tests.prune.cases import KINDS, fit_unpruned
from tests.reference.loss_pruning import (
    count_subtrees,
    list_nodes,
    list_subtrees,
    measure_loss,
    prune_by_loss,
    read_tree,
)
from tests.tree_builders import make_nodes, make_tree

N_CASES = 25
MAX_SUBTREES = 500


def choose_criterion(estimator, seed):
    """What LossPruning is told, and what the reference has to measure."""
    own = estimator._criterion_name()
    if not hasattr(estimator, "classes_"):
        return None, own
    told = (None, "entropy", "gini", "error", "log_loss")[seed % 5]
    return told, own if told is None else told


def choose_alphas(root, criterion, rng):
    """0, a value at which a tie occurs, and some between."""
    inner = [node for node in list_nodes(root) if node["children"]]
    total = measure_loss(root, criterion)
    alphas = [0.0, *(total * rng.random(2) / 5)]
    if inner:
        node = inner[rng.integers(len(inner))]
        below = [leaf for leaf in list_nodes(node) if not leaf["children"]]
        saved = measure_loss(node, criterion)
        saved -= sum(measure_loss(leaf, criterion) for leaf in below)
        alphas.append(max(saved, 0.0) / max(len(below) - 1, 1))
    return alphas


def assert_same_tree(tree, expected):
    for name in expected.nodes.dtype.names:  # field by field: thresholds may be NaN
        np.testing.assert_array_equal(tree.nodes[name], expected.nodes[name])
    np.testing.assert_array_equal(tree.statistics, expected.statistics)


# ------------------------------------------------------------- against the reference
@pytest.mark.parametrize("kind", KINDS)
@loop_over("seed", range(N_CASES))
def test_steps_and_tree_equal_reference(kind, seed):
    estimator = fit_unpruned(kind, seed)
    tree, root = estimator.tree_, read_tree(estimator.tree_)
    told, criterion = choose_criterion(estimator, seed)
    for alpha in choose_alphas(root, criterion, np.random.default_rng(seed)):
        pruned = LossPruning(alpha, told).prune(estimator)
        leaves, steps = prune_by_loss(root, alpha, criterion)
        check_tree(pruned.tree_)
        assert_same_tree(pruned.tree_, cut_below(tree, sorted(leaves)))
        report = pruned.pruning_report_
        assert report.measure == "penalised loss"
        assert report["node"].tolist() == [step[0] for step in steps]
        assert (report["decision"] == "pruned").tolist() == [step[1] for step in steps]
        for column, name in ((2, "before"), (3, "after")):
            expected = [step[column] for step in steps]
            np.testing.assert_allclose(report[name], expected, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------- against all the subtrees
@pytest.mark.parametrize("kind", KINDS)
@loop_over("seed", range(N_CASES))
def test_result_is_the_smallest_of_the_best_subtrees(kind, seed):
    for max_depth in (None, 4, 3, 2, 1):
        estimator = fit_unpruned(kind, seed, max_depth)
        root = read_tree(estimator.tree_)
        if count_subtrees(root) <= MAX_SUBTREES:
            break
    told, criterion = choose_criterion(estimator, seed)

    def measure(node):
        return measure_loss(node, criterion)

    def measure_stay(node):
        return node["stays"] / (node["weight"] or 1.0) * measure(node)

    subtrees = list(list_subtrees(root, measure, measure_stay))
    for alpha in choose_alphas(root, criterion, np.random.default_rng(seed)):
        pruned = LossPruning(alpha, told).prune(estimator)
        costs = [loss + alpha * count for loss, count, _ in subtrees]
        least = min(costs)
        slack = 1e-9 * (measure(root) + alpha)
        report = pruned.pruning_report_
        kept = frozenset(report["node"][report["tree_node"] >= 0].tolist())
        kept -= set(report["node"][report["decision"] == "pruned"].tolist())
        (own,) = (cost for cost, s in zip(costs, subtrees, strict=True) if s[2] == kept)
        assert own <= least + slack
        for cost, (_, count, splits) in zip(costs, subtrees, strict=True):
            if cost <= least + slack:
                assert kept <= splits
                assert pruned.get_n_leaves() <= count


# ------------------------------------------------------------------------ the formula
def test_loan_table_by_hand():
    """Table 5.1: 15 cases, 9 : 6; of the 9 without a house 3 : 6; then all are pure."""
    X, y = load_loan(return_X_y=True)
    root = 15 * criteria.entropy([0] * 6 + [1] * 9, base=math.e)
    inner = 9 * criteria.entropy([0] * 6 + [1] * 3, base=math.e)
    grown = ID3Classifier().fit(X, y)
    for alpha, n_leaves in ((0.0, 3), (root / 2 - 1e-9, 3), (root / 2, 1), (inner, 1)):
        pruned = LossPruning(alpha).prune(grown)
        assert pruned.get_n_leaves() == n_leaves
        report = pruned.pruning_report_
        assert report["depth"].tolist() == [1, 0]
        before, after = report["before"], report["after"]
        assert before[0] == pytest.approx(3 * alpha)
        assert after[0] == pytest.approx(inner + 2 * alpha)
        assert after[1] == pytest.approx(root + alpha)
    # At this alpha the inner node is worth its leaves, and the root is not worth three.
    assert root / 2 < inner
    pruned = LossPruning(root / 2).prune(grown)
    assert pruned.pruning_report_["decision"].tolist() == ["kept", "pruned"]


@pytest.mark.parametrize("criterion", ["entropy", "gini", "error"])
def test_loss_of_a_grown_tree_is_that_of_its_predictions(criterion):
    X, y = load_iris(return_X_y=True)
    cart = CARTClassifier(max_depth=3, pruning=LossPruning(0.25, criterion)).fit(X, y)
    shares = cart.predict_proba(X)
    if criterion == "entropy":
        loss = -np.log(shares[np.arange(len(y)), y]).sum()
    elif criterion == "gini":
        loss = np.square(np.eye(3)[y] - shares).sum()
    else:
        loss = (cart.predict(X) != y).sum()
    report = cart.pruning_report_
    last = "after" if report["decision"][-1] == "pruned" else "before"
    assert cart.get_n_leaves() > 1
    assert report[last][-1] == pytest.approx(loss + 0.25 * cart.get_n_leaves())


def test_loss_of_a_regression_tree_is_the_sum_of_squared_errors():
    X, y = load_diabetes(return_X_y=True)
    tree = CARTRegressor(max_depth=5, pruning=LossPruning(40000.0)).fit(X, y)
    report = tree.pruning_report_
    assert report["decision"][-1] == "kept"
    assert 1 < tree.get_n_leaves() < 32
    squares = np.square(y - tree.predict(X)).sum()
    assert report["before"][-1] == pytest.approx(squares + 40000 * tree.get_n_leaves())


def test_empty_branch_costs_alpha_alone():
    nodes = make_nodes([3, 0, 0, 0])
    nodes["weight"] = [4, 2, 2, 0]
    statistics = np.array([[[2, 2]], [[2, 0]], [[0, 2]], [[2, 2]]], dtype=float)
    tree = make_tree(nodes, statistics, is_classifier=True)
    data = TrainingData(None, None)
    # 4 ln 2 + alpha as a leaf, 3 alpha as it is.
    pruned = LossPruning(2 * math.log(2) - 1e-9).prune_grown(tree, data)
    assert pruned.tree is tree
    assert LossPruning(2 * math.log(2)).prune_tree(tree, data).node_count == 1


def test_rows_that_stay_speak_for_nothing():
    # 2 of the root's 8 rows stay: 3 + 3 rows gain, whatever the 2 are.
    nodes = make_nodes([2, 0, 0])
    nodes["weight"] = [8, 3, 3]
    nodes["impurity"] = [1.0, 0.5, 0.25]
    tree = make_tree(nodes)
    data = TrainingData(None, None, criterion="squared_error")
    gain = 6 * 1.0 - (1.5 + 0.75)
    outcome = LossPruning(gain - 1e-9).prune_grown(tree, data)
    assert outcome.tree is tree
    assert outcome.report["before"][0] == pytest.approx(2 + 2.25 + 2 * gain)
    assert LossPruning(gain).prune_tree(tree, data).node_count == 1


def test_split_without_gain_falls_at_alpha_zero():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    stump = CARTClassifier(max_depth=1).fit(X, y)
    assert stump.get_n_leaves() == 2
    assert LossPruning(0.0).prune(stump).get_n_leaves() == 1
    # A useless split stays where splits below it need it.
    assert LossPruning(0.0).prune(CARTClassifier().fit(X, y)).get_n_leaves() == 4


def test_tree_pruned_by_alpha_and_then_by_a_pruner_is_fitted_again():
    X, y = load_iris(return_X_y=True)
    grown = CARTClassifier(ccp_alpha=0.01).fit(X, y)
    pruned = LossPruning(3.0).prune(grown)
    assert pruned.get_n_leaves() < grown.get_n_leaves()
    assert grown.ccp_alpha == 0.01
    expected = CARTClassifier(pruning=LossPruning(3.0)).fit(X, y)
    again = pruned.fit(X, y)
    assert export_text(again) == export_text(expected)


# -------------------------------------------------------- relation to cost complexity
@loop_over("seed", range(30))
@loop_over("criterion", ["gini", "entropy", "error", "squared_error"])
def test_same_tree_as_cost_complexity(criterion, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 9, (60, 3)).astype(float), rng.integers(0, 4, 60)
    weight = rng.integers(1, 4, 60)
    model = CARTRegressor if criterion == "squared_error" else CARTClassifier
    estimator = model(criterion=criterion).fit(X, y, sample_weight=weight)
    scale = weight.sum() * (math.log(2) if criterion == "entropy" else 1)
    alphas = np.unique(compute_weakest_link_sequence(estimator.tree_).ccp_alphas)
    between = (alphas[1:] + alphas[:-1])[np.diff(alphas) > 1e-9] / 2
    assert len(between) > 2
    for alpha in [*between[:: len(between) // 6 + 1], 2 * alphas[-1]]:
        pruned = LossPruning(alpha * scale).prune(estimator)
        assert_same_tree(pruned.tree_, prune_to_alpha(estimator.tree_, alpha))


# ------------------------------------------------------------------ what holds always
@pytest.mark.parametrize("kind", KINDS)
@loop_over("seed", range(10))
def test_larger_alpha_gives_a_subtree(kind, seed):
    estimator = fit_unpruned(kind, seed)
    everything = set(range(estimator.tree_.node_count))
    last = everything
    for alpha in [0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 1e6]:
        pruned = LossPruning(alpha).prune(estimator)
        report = pruned.pruning_report_
        is_cut = report["decision"] == "pruned"
        kept = set(report["node"][(report["tree_node"] >= 0) & ~is_cut].tolist())
        assert kept <= last
        assert len(kept) == pruned.tree_.node_count - pruned.get_n_leaves()
        last = kept
        again = LossPruning(alpha).prune(pruned)
        assert_same_tree(again.tree_, pruned.tree_)
    assert not last


@pytest.mark.parametrize("model", [CARTClassifier, ID3Classifier, C45Classifier])
def test_weights_are_repeated_rows(model):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (50, 3)).astype(float), rng.integers(0, 3, 50)
    weight = rng.integers(0, 4, 50)
    estimator = model(pruning=LossPruning(1.5))
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(X.repeat(weight, 0), y.repeat(weight))
    assert weighted.get_n_leaves() > 1
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    for name in ("node", "decision"):
        np.testing.assert_array_equal(
            weighted.pruning_report_[name], repeated.pruning_report_[name]
        )
    for name in ("before", "after"):
        np.testing.assert_allclose(
            weighted.pruning_report_[name], repeated.pruning_report_[name]
        )


def test_columns_without_a_test_do_not_matter():
    X, y = load_iris(return_X_y=True)
    estimator = CARTClassifier(pruning=LossPruning(3.0, "error"), max_depth=4)
    alone = clone(estimator).fit(X[:, 2:3], y)
    # Constant columns change numbers, and nothing else.
    padded = np.zeros((len(y), 3))
    padded[:, 2] = X[:, 2]
    among = clone(estimator).fit(padded, y)
    shares = among.predict_proba(padded)
    np.testing.assert_array_equal(alone.predict_proba(X[:, 2:3]), shares)
    np.testing.assert_array_equal(
        alone.pruning_report_["after"], among.pruning_report_["after"]
    )


# --------------------------------------------------------------------------- in use
ESTIMATORS = [
    CARTClassifier(),
    CARTRegressor(),
    ID3Classifier(),
    C45Classifier(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_fit_prunes_as_after_the_fact(estimator):
    X, y = load_iris(return_X_y=True)
    grown = clone(estimator).set_params(pruning=None).fit(X, y)
    for pruning, pruner in (("loss", LossPruning()), (LossPruning(3.0),) * 2):
        fitted = clone(estimator).set_params(pruning=pruning).fit(X, y)
        pruned = pruner.prune(grown)
        assert_same_tree(fitted.tree_, pruned.tree_)
        assert 1 < fitted.get_n_leaves() <= grown.get_n_leaves() - (pruner.alpha > 1)
        assert fitted.pruning_report_.n_rows == pruned.pruning_report_.n_rows
        assert grown.pruning is None
        assert not hasattr(grown, "pruning_report_")
        assert pruned.pruning.get_params() == pruner.get_params()
        np.testing.assert_array_equal(pruned.predict(X), fitted.predict(X))
        copy = pickle.loads(pickle.dumps(fitted))
        assert_same_tree(copy.tree_, fitted.tree_)
        assert copy.get_params()["pruning__alpha"] == pruner.alpha


def test_rows_at_hand_change_nothing():
    X, y = load_iris(return_X_y=True)
    grown = CARTClassifier().fit(X, y)
    with_rows = LossPruning(2.0).prune(grown, X=X, y=y)
    assert_same_tree(with_rows.tree_, LossPruning(2.0).prune(grown).tree_)


@pytest.mark.parametrize("pruning", ["loss", LossPruning(7.0)])
def test_search_over_alpha(pruning):
    X, y = load_iris(return_X_y=True)
    grid = {"pruning__alpha": [0.1, 2.0, 1000.0], "pruning__criterion": [None, "error"]}
    search = GridSearchCV(CARTClassifier(pruning=pruning), grid, cv=3).fit(X, y)
    best = search.best_estimator_.pruning
    assert isinstance(best, LossPruning)
    assert best.alpha == search.best_params_["pruning__alpha"] < 1000
    scores = search.cv_results_["mean_test_score"]
    assert scores.max() > 0.9 > scores.min()


def test_nominal_table():
    X, y = load_play_tennis(return_X_y=True, as_frame=True)
    id3 = ID3Classifier(pruning=LossPruning(1.0)).fit(X, y)
    # Outlook, 5 : 9; sunny 3 : 2 by humidity, rain 2 : 3 by wind, overcast pure. A
    # split below saves 5 H(2/5) = 3.365 for one leaf, the root 9.125 for four.
    assert id3.pruning_report_["after"].round(3).tolist() == [7.365, 7.365, 10.125]
    assert id3.get_n_leaves() == 5
    n_leaves = {
        alpha: LossPruning(alpha).prune(id3).get_n_leaves()
        for alpha in (0.0, 2.28, 2.29, 3.3, 3.4)
    }
    assert n_leaves == {0.0: 5, 2.28: 5, 2.29: 1, 3.3: 1, 3.4: 1}


# ----------------------------------------------------------------------------- errors
@pytest.mark.parametrize("alpha", [-1e-9, math.nan, math.inf, "1", None, True])
def test_bad_alpha_is_an_error(alpha):
    message = r"'alpha' parameter must be a float in the range \[0.0, inf\); got "
    X, y = load_iris(return_X_y=True)
    for call in (
        lambda: CARTClassifier(pruning=LossPruning(alpha)).fit(X, y),
        lambda: LossPruning(alpha).prune(CARTClassifier().fit(X, y)),
    ):
        with pytest.raises(ValueError, match=message + re.escape(repr(alpha))):
            call()


@pytest.mark.parametrize("criterion", ["Gini", 1, "friedman_mse"])
def test_bad_criterion_is_an_error(criterion):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'criterion' parameter must be one of 'entro"):
        CARTClassifier(pruning=LossPruning(1.0, criterion)).fit(X, y)


@pytest.mark.parametrize("criterion", ["entropy", "gini", "error", "absolute_error"])
def test_regression_tree_has_its_own_criterion_alone(criterion):
    regressor = CARTRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="cannot prune this regression tree"):
        LossPruning(1.0, criterion).prune(regressor)
    own = LossPruning(0.1, "squared_error").prune(regressor)
    assert own.get_n_leaves() == 2


def test_classification_tree_has_no_squared_error():
    classifier = CARTClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="cannot prune a classification tree"):
        LossPruning(1.0, "squared_error").prune(classifier)


def test_validation_rows_are_not_looked_at():
    X, y = load_iris(return_X_y=True)
    grown = CARTClassifier().fit(X, y)
    with pytest.raises(ValueError, match="LossPruning does not use validation"):
        LossPruning().prune(grown, X, y)


def test_tree_of_one_node():
    tree = make_tree(make_nodes([0]))
    outcome = LossPruning().prune_grown(tree, TrainingData(None, None))
    assert outcome.tree is tree
    assert outcome.report.n_rows == 0
