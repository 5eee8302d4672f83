"""Minimal cost-complexity pruning equals scikit-learn's and the reference's exactly."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.tree import CARTClassifier, CARTRegressor, ReducedErrorPruning
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.prune import (
    compute_weakest_link_sequence,
    cut_below,
    prune_to_alpha,
)
from tests.loops import loop_over
from tests.reference.weakest_link import find_weakest_links
from tests.tree_builders import (
    convert_sklearn_tree,
    make_nodes,
    make_tree,
    random_shape,
)

CRITERIA = {
    DecisionTreeClassifier: ["gini", "entropy"],
    DecisionTreeRegressor: ["squared_error", "absolute_error", "poisson"],
}
MODELS = [(model, c) for model, criteria in CRITERIA.items() for c in criteria]


def fit_random(model, criterion, seed, **parameters):
    """A fitted scikit-learn tree on a small random table, with many ties."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(5, 150)), int(rng.integers(1, 6))
    table = rng.integers(0, int(rng.integers(2, 30)), (n_rows, n_columns)).astype(float)
    if seed % 3 == 0:
        table[rng.random(table.shape) < 0.1] = np.nan
    y = rng.integers(0, int(rng.integers(2, 5)), n_rows)
    weight = rng.integers(1, 4, n_rows) if seed % 2 else None
    estimator = model(criterion=criterion, random_state=seed, **parameters)
    return estimator.fit(table, y, sample_weight=weight), (table, y, weight)


def random_tree(rng, n_inner, max_children, denominator=16):
    """A tree of random impurities and weights that add up without rounding."""
    nodes = make_nodes(random_shape(rng, n_inner, max_children))
    nodes["impurity"] = rng.integers(0, denominator, len(nodes)) / denominator
    nodes["weight"] = rng.integers(0, 9, len(nodes))
    nodes["weight"][0] = 64
    nodes["impurity"][0] = 16
    return make_tree(nodes)


# -------------------------------------------------------------- against scikit-learn
@pytest.mark.parametrize(("model", "criterion"), MODELS)
@pytest.mark.parametrize("chunk", range(4))
def test_sequence_is_scikit_learns_bit_for_bit(model, criterion, chunk):
    for seed in range(50 * chunk, 50 * chunk + 50):  # 1,000 tables in all
        estimator, (table, y, weight) = fit_random(model, criterion, seed)
        path = estimator.cost_complexity_pruning_path(table, y, sample_weight=weight)
        tree, _ = convert_sklearn_tree(estimator)
        sequence = compute_weakest_link_sequence(tree)
        np.testing.assert_array_equal(sequence.ccp_alphas, path.ccp_alphas)
        np.testing.assert_array_equal(sequence.impurities, path.impurities)
        assert sequence.n_leaves[0] == estimator.get_n_leaves()
        assert sequence.n_leaves[-1] == 1


def test_sequence_of_a_large_tree_is_scikit_learns():
    X, y = make_classification(3000, 8, n_informative=4, flip_y=0.3, random_state=0)
    estimator = DecisionTreeClassifier(random_state=0).fit(X, y)
    path = estimator.cost_complexity_pruning_path(X, y)
    sequence = compute_weakest_link_sequence(convert_sklearn_tree(estimator)[0])
    assert len(path.ccp_alphas) > 200
    np.testing.assert_array_equal(sequence.ccp_alphas, path.ccp_alphas)
    np.testing.assert_array_equal(sequence.impurities, path.impurities)


@pytest.mark.parametrize(("model", "criterion"), MODELS)
@loop_over("seed", range(8))
def test_pruned_tree_is_scikit_learns(model, criterion, seed):
    estimator, (table, y, weight) = fit_random(model, criterion, seed)
    tree, _ = convert_sklearn_tree(estimator)
    sequence = compute_weakest_link_sequence(tree)
    alphas = np.unique(np.abs(sequence.ccp_alphas))
    between = (alphas[1:] + alphas[:-1]) / 2
    for alpha in [*alphas[:: len(alphas) // 6 + 1], *between[:6], 1e300]:
        expected = model(criterion=criterion, random_state=seed, ccp_alpha=alpha)
        expected = convert_sklearn_tree(expected.fit(table, y, sample_weight=weight))[0]
        pruned = prune_to_alpha(tree, alpha)
        check_tree(pruned)
        assert pruned.node_count == expected.node_count
        for name in ("first_child", "n_children", "parent", "feature", "threshold"):
            np.testing.assert_array_equal(pruned.nodes[name], expected.nodes[name])
        np.testing.assert_array_equal(pruned.statistics, expected.statistics)
        again = prune_to_alpha(tree, alpha, sequence)
        np.testing.assert_array_equal(again.nodes, pruned.nodes)


def test_alpha_zero_keeps_splits_that_gain_nothing():
    nodes = make_nodes([2, 0, 0])
    nodes["impurity"] = 1.0
    nodes["weight"] = [2, 1, 1]
    tree = make_tree(nodes)
    np.testing.assert_array_equal(
        compute_weakest_link_sequence(tree).ccp_alphas, [0.0, 0.0]
    )
    assert prune_to_alpha(tree, 0.0) is tree
    assert prune_to_alpha(tree, 5e-324).node_count == 1


# ------------------------------------------------------------- against the reference
@loop_over("max_children", [2, 4])
@loop_over("seed", range(60))
def test_sequence_equals_exact_reference(seed, max_children):
    # Sums are exact here, and so are ties: quotients of equal value round alike.
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(0, 25)), max_children)
    sequence = compute_weakest_link_sequence(tree)
    steps = find_weakest_links(tree)
    alphas, risks, n_leaves, cut_node = zip(*steps, strict=True)
    assert sequence.ccp_alphas.tolist() == [float(alpha) for alpha in alphas]
    assert sequence.impurities.tolist() == [float(risk) for risk in risks]
    assert sequence.n_leaves.tolist() == list(n_leaves)
    assert sequence.cut_node.tolist() == list(cut_node)


@loop_over("seed", range(20))
def test_every_subtree_of_the_sequence_is_the_smallest_of_least_cost(seed):
    rng = np.random.default_rng(seed)
    nodes = make_nodes(random_shape(rng, 6, 3))
    nodes["weight"] = rng.integers(1, 9, len(nodes))
    nodes["impurity"] = rng.random(len(nodes))
    # Every split gains, so that no alpha is negative.
    for node in np.flatnonzero(nodes["n_children"])[::-1]:
        first = nodes["first_child"][node]
        below = slice(first, first + nodes["n_children"][node])
        risk = (nodes["weight"][below] * nodes["impurity"][below]).sum()
        nodes["weight"][node] = nodes["weight"][below].sum()
        nodes["impurity"][node] = risk / nodes["weight"][node] + rng.random()
    tree = make_tree(nodes)
    sequence = compute_weakest_link_sequence(tree)
    for step in range(1, len(sequence.ccp_alphas)):
        if sequence.ccp_alphas[step] == sequence.ccp_alphas[step - 1]:
            continue
        alpha = (sequence.ccp_alphas[step] + sequence.ccp_alphas[step - 1]) / 2
        cost = sequence.impurities[step - 1] + alpha * sequence.n_leaves[step - 1]
        assert cost == pytest.approx(find_least_cost(tree, alpha))
        pruned = cut_below(tree, sequence.find_cut(step - 1))
        assert pruned.n_leaves == sequence.n_leaves[step - 1]
        assert prune_to_alpha(tree, alpha).n_leaves == pruned.n_leaves


def find_least_cost(tree, alpha):
    """min R(T) + alpha |T| over all subtrees, by dynamic programming."""
    nodes = tree.nodes
    cost = nodes["weight"] * nodes["impurity"] / nodes["weight"][0] + alpha
    for node in np.flatnonzero(nodes["n_children"])[::-1]:
        first = nodes["first_child"][node]
        below = cost[first : first + nodes["n_children"][node]].sum()
        cost[node] = min(cost[node], below)
    return cost[0]


# -------------------------------------------------------------------- properties, size
def test_rows_that_stay_in_a_node_are_in_no_leaf():
    # The node keeps 2 of its 8 rows: R(T_t) lacks them.
    nodes = make_nodes([2, 0, 0])
    nodes["weight"] = [8, 3, 3]
    nodes["impurity"] = [1.0, 0.5, 0.25]
    sequence = compute_weakest_link_sequence(make_tree(nodes))
    assert sequence.impurities.tolist() == [(1.5 + 0.75) / 8, 1.0]
    assert sequence.ccp_alphas[1] == 1.0 - 2.25 / 8


def test_nested_and_increasing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 5)), rng.normal(size=2000)
    tree, _ = convert_sklearn_tree(DecisionTreeRegressor(random_state=0).fit(X, y))
    sequence = compute_weakest_link_sequence(tree)
    assert np.all(np.diff(sequence.n_leaves) < 0)
    assert np.all(np.diff(sequence.ccp_alphas[1:]) > -1e-15)
    assert len(np.unique(sequence.cut_node)) == len(sequence.cut_node)
    for step in (0, len(sequence.n_leaves) // 2, len(sequence.n_leaves) - 1):
        pruned = cut_below(tree, sequence.find_cut(step))
        leaves = pruned.nodes[pruned.is_leaf]
        risk = (leaves["weight"] * leaves["impurity"]).sum() / 2000
        assert pruned.n_leaves == sequence.n_leaves[step]
        assert risk == pytest.approx(sequence.impurities[step])


@loop_over("seed", range(60))
def test_rounding_decides_as_in_the_reference(seed):
    """A chain whose links differ by rounding alone: some grow weaker by a cut."""
    rng = np.random.default_rng(seed)
    n_inner = int(rng.integers(5, 60))
    nodes = make_nodes([2] + [2, 0] * (n_inner - 1) + [0, 0])
    inner = nodes["n_children"] > 0
    leaf_impurity = rng.random()
    step = rng.choice([0, 1e-16, 3e-16, 1e-15, 1e-14]) * np.arange(n_inner, 0, -1)
    strength = rng.random() * (1 + step * rng.random(n_inner))
    nodes["impurity"] = leaf_impurity
    nodes["impurity"][inner] = leaf_impurity * np.arange(n_inner + 1, 1, -1)
    nodes["impurity"][inner] += np.cumsum(strength[::-1])[::-1]
    tree = make_tree(nodes)
    sequence = compute_weakest_link_sequence(tree)
    alphas, risks, _, cut_node = zip(*find_weakest_links(tree, float), strict=True)
    assert sequence.ccp_alphas.tolist() == list(alphas)
    assert sequence.impurities.tolist() == list(risks)
    assert sequence.cut_node.tolist() == list(cut_node)


def test_tree_of_one_node():
    tree = make_tree(make_nodes([0]))
    sequence = compute_weakest_link_sequence(tree)
    assert sequence.ccp_alphas.tolist() == [0.0]
    assert sequence.n_leaves.tolist() == [1]
    assert sequence.cut_node.tolist() == [-1]
    assert prune_to_alpha(tree, 1.0) is tree


def test_find_step_stops_before_the_first_dearer_cut():
    rng = np.random.default_rng(3)
    sequence = compute_weakest_link_sequence(random_tree(rng, 20, 2))
    for step, alpha in enumerate(sequence.ccp_alphas[1:], 1):
        assert sequence.find_step(np.nextafter(alpha, -np.inf)) < step
        assert sequence.find_step(np.inf) == len(sequence.ccp_alphas) - 1


@pytest.mark.parametrize("ccp_alpha", [-1e-9, np.nan, "0.1", None])
def test_bad_alpha_is_an_error(ccp_alpha):
    with pytest.raises(ValueError, match="must be a number >= 0"):
        prune_to_alpha(make_tree(make_nodes([2, 0, 0])), ccp_alpha)


def test_book_example():
    """李航, section 5.5.2: g(t) = (C(t) - C(T_t)) / (|T_t| - 1), worked by hand."""
    nodes = make_nodes([2, 2, 2, 0, 0, 0, 0])
    nodes["weight"] = [16, 8, 8, 4, 4, 4, 4]
    nodes["impurity"] = [8, 4, 3, 1, 3, 2, 2]
    steps = find_weakest_links(make_tree(nodes))
    # R: 8; 2, 3/2; 1/4, 3/4, 1/2, 1/2. g: (8 - 2)/3 = 2; 2 - 1 = 1; 3/2 - 1 = 1/2.
    assert [step[0] for step in steps] == [0, Fraction(1, 2), 1, Fraction(9, 2)]
    sequence = compute_weakest_link_sequence(make_tree(nodes))
    assert sequence.ccp_alphas.tolist() == [0.0, 0.5, 1.0, 4.5]
    assert sequence.impurities.tolist() == [2.0, 2.5, 3.5, 8.0]
    assert sequence.cut_node.tolist() == [-1, 2, 1, 0]


@pytest.mark.parametrize(
    "tree", [CARTClassifier(), CARTRegressor(), RandomForestClassifier(2)]
)
@pytest.mark.parametrize("pruning", ["pre_pruning", ReducedErrorPruning()])
def test_alpha_and_a_pruner_exclude_each_other(tree, pruning):
    tree = clone(tree).set_params(ccp_alpha=0.1, pruning=pruning)
    message = "both prune the tree; got ccp_alpha=0.1 and pruning="
    with pytest.raises(ValueError, match=message):
        tree.fit([[0.0], [1.0], [2.0]], [0, 1, 1])
