"""Pruning when errors have costs: paths, decisions, reports, and brute force."""

import numpy as np
import pytest

from sklearn_textbook.criteria import expected_cost
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CostComplexityPruning,
    ErrorBasedPruning,
    LossPruning,
    PrePruning,
    ReducedErrorPruning,
)
from sklearn_textbook.tree.prune import (
    compute_rpart_sequence,
    compute_weakest_link_sequence,
)
from tests.growth.test_costs import COSTS, make_mixed_table
from tests.reference.rpart_sequence import find_rpart_subtrees
from tests.reference.weakest_link import find_weakest_links

MATRIX = np.array(COSTS, dtype=float)


def list_subtrees(tree, node=0):
    """The sets of inner nodes of all subtrees with the same root."""
    first, count = tree.nodes["first_child"][node], tree.nodes["n_children"][node]
    subtrees = [frozenset()]
    if count:
        parts = [list_subtrees(tree, child) for child in range(first, first + count)]
        for one in parts[0]:
            subtrees += [one | other | {node} for other in parts[1]]
    return subtrees


def measure(tree, inner, node=0):
    """Least training costs of the leaves of a subtree, and their number."""
    if node not in inner:
        return (tree.statistics[node, 0] @ MATRIX).min(), 1
    first = tree.nodes["first_child"][node]
    parts = [measure(tree, inner, child) for child in (first, first + 1)]
    return sum(part[0] for part in parts), sum(part[1] for part in parts)


@pytest.mark.parametrize("seed", range(12))
def test_the_path_is_that_of_the_reference(seed):
    X, y = make_mixed_table(80, seed=seed)
    model = CARTClassifier(min_samples_leaf=4, cost_matrix=COSTS).fit(X, y)
    for missing in ("learned", "surrogate"):
        model.set_params(missing=missing).fit(X, y)
        tree = model.tree_
        sequence = compute_weakest_link_sequence(tree, "error", MATRIX)
        steps = find_weakest_links(tree, risk="error", costs=COSTS)
        for name, values in zip(
            ("ccp_alphas", "impurities", "n_leaves", "cut_node"),
            zip(*steps, strict=True),
            strict=True,
        ):
            expected = np.array(values, dtype=float)
            np.testing.assert_allclose(getattr(sequence, name), expected, atol=1e-12)
        sequence = compute_rpart_sequence(tree, "error", MATRIX)
        for alpha, risk, n_leaves, _ in find_rpart_subtrees(tree, "error", COSTS):
            step = sequence.find_step(float(alpha) + 1e-12)
            assert sequence.impurities[step] == pytest.approx(float(risk))
            assert sequence.n_leaves[step] == n_leaves


@pytest.mark.parametrize("seed", range(6))
def test_the_path_has_the_best_subtrees(seed):
    X, y = make_mixed_table(60, seed=seed)
    pruner = CostComplexityPruning(cv=None, risk="error")
    model = CARTClassifier(max_depth=4, min_samples_leaf=4, cost_matrix=COSTS)
    path = model.set_params(pruning=pruner).fit(X, y).pruning_path_
    tree = model.set_params(pruning=None).fit(X, y).tree_
    found = [measure(tree, inner) for inner in list_subtrees(tree)]
    for alpha, risk, n_leaves in zip(
        path["alpha"], path["risk"], path["n_leaves"], strict=True
    ):
        best = min(cost / len(y) + alpha * leaves for cost, leaves in found)
        assert risk + alpha * n_leaves == pytest.approx(best)


def test_cross_validation_is_in_costs():
    X, y = make_mixed_table(200)
    row = np.arange(len(y))
    folds = [(row[row % 3 != k], row[row % 3 == k]) for k in range(3)]
    pruner = CostComplexityPruning(cv=folds, risk="error")
    model = CARTClassifier(min_samples_leaf=8, cost_matrix=COSTS, pruning=pruner)
    path = model.fit(X, y).pruning_path_
    # The tree of the root alone predicts one class of least cost in each fold.
    costs = []
    for train, test in folds:
        chosen = (np.bincount(y[train], minlength=3) @ MATRIX).argmin()
        costs += MATRIX[y[test], chosen].tolist()
    assert path["cv_risk"][-1] == pytest.approx(np.mean(costs))
    error = np.std(costs) / np.sqrt(len(costs))
    assert path["cv_risk_std"][-1] == pytest.approx(error)
    least = (np.bincount(y) @ MATRIX).min() / len(y)
    assert path["risk"][-1] == pytest.approx(least)


def cut(model, inner):
    """The same model with a subtree, by brute force."""
    tree = model.tree_
    falls = [n for n in range(tree.node_count) if n not in inner]
    from sklearn_textbook.tree.prune.rebuild import cut_below
    from sklearn_textbook.tree.route import RoutedTree

    smaller = CARTClassifier(**model.get_params(deep=False))
    vars(smaller).update(vars(model))
    smaller.tree_ = RoutedTree.from_grown(cut_below(tree, np.array(falls)))
    return smaller


@pytest.mark.parametrize("seed", range(4))
def test_validation_finds_the_subtree_of_least_cost(seed):
    X, y = make_mixed_table(120, seed=seed)
    X_val, y_val = make_mixed_table(60, seed=seed + 100)
    full = CARTClassifier(max_depth=3, min_samples_leaf=4, cost_matrix=COSTS).fit(X, y)
    costs = {
        inner: expected_cost(
            y_val, cut(full, inner).predict(X_val), MATRIX, None, [0, 1, 2]
        )
        for inner in set(list_subtrees(full.tree_))
    }
    pruned = ReducedErrorPruning().prune(full, X_val, y_val)
    found = expected_cost(y_val, pruned.predict(X_val), MATRIX, None, [0, 1, 2])
    assert found == pytest.approx(min(costs.values()))
    report = pruned.pruning_report_
    assert report.measure == "validation cost"
    last = np.where(report["decision"] == "pruned", report["after"], report["before"])
    assert last[-1] == pytest.approx(found)
    assert PrePruning().prune(full, X_val, y_val).pruning_report_.measure == (
        "validation cost"
    )


@pytest.mark.parametrize("pruner", [ErrorBasedPruning(), LossPruning(3.0)], ids=repr)
@pytest.mark.parametrize("kind", [CARTClassifier, C45Classifier])
def test_estimates_of_counts_use_the_weights_of_growth(kind, pruner):
    X, y = make_mixed_table()
    sums = MATRIX.sum(axis=1)
    weights = dict(enumerate(sums * len(y) / (sums @ np.bincount(y))))
    costly = kind(cost_matrix=COSTS, pruning=pruner).fit(X, y)
    weighted = kind(class_weight=weights, pruning=pruner).fit(X, y)
    assert costly.get_n_leaves() < kind(pruning=None).fit(X, y).get_n_leaves()
    for name in ("feature", "first_child", "n_samples"):
        np.testing.assert_array_equal(
            costly.tree_.nodes[name], weighted.tree_.nodes[name]
        )
    later = pruner.prune(kind(cost_matrix=COSTS, pruning=None).fit(X, y), X=X, y=y)
    if kind is CARTClassifier:
        np.testing.assert_array_equal(later.tree_.statistics, costly.tree_.statistics)
    counts = costly.tree_.statistics[0, 0]
    np.testing.assert_allclose(counts, np.bincount(y), rtol=1e-12)


def test_equal_costs_are_no_costs_in_pruning():
    X, y = make_mixed_table()
    for pruner in ("cost_complexity", "reduced_error", "error_based", "loss"):
        plain = CARTClassifier(pruning=pruner).fit(X, y)
        equal = CARTClassifier(pruning=pruner, cost_matrix=3 * (1 - np.eye(3)))
        equal.fit(X, y)
        assert plain.tree_.nodes.tobytes() == equal.tree_.nodes.tobytes()
        assert str(plain.pruning_report_) == str(equal.pruning_report_)


def test_a_single_leaf_is_warned_of_in_costs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = (rng.random(2000) < np.where(X[:, 0] > 0, 0.35, 0.05)).astype(int)
    model = CARTClassifier(pruning="cost_complexity", min_samples_leaf=300)
    with pytest.warns(UserWarning, match="as no subtree makes fewer errors, but there"):
        model.fit(X, y)
    model.set_params(cost_matrix=[[0, 1], [30, 0]])
    with pytest.warns(UserWarning, match="as no subtree costs less, but there are"):
        model.fit(X, y)
