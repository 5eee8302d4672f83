"""rpart's sequence equals its reference's, and errors are a risk like any other."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from sklearn_textbook.tree import CARTClassifier, CARTRegressor, CostComplexityPruning
from sklearn_textbook.tree.prune import (
    compute_rpart_sequence,
    compute_weakest_link_sequence,
    cut_below,
)
from tests.loops import loop_over
from tests.reference.node_risks import list_node_risks
from tests.reference.rpart_sequence import find_rpart_subtrees
from tests.reference.weakest_link import find_weakest_links
from tests.tree_builders import make_nodes, make_tree, random_shape


def random_class_tree(rng, n_inner, max_children, n_outputs=1):
    """A tree of class counts; some rows stay in inner nodes, some leaves are empty."""
    nodes = make_nodes(random_shape(rng, n_inner, max_children))
    counts = rng.integers(0, 8, (len(nodes), n_outputs, 3))
    # All outputs are of the same rows.
    counts[:, 1:, :] = rng.permuted(counts[:, :1, :].repeat(n_outputs - 1, 1), axis=2)
    inner = nodes["n_children"] > 0
    counts[inner] *= rng.random(inner.sum())[:, None, None] < 0.2
    counts[~inner] *= rng.random((~inner).sum())[:, None, None] < 0.9
    if not counts[~inner].any():
        counts[-1] = 1
    for node in range(len(nodes) - 1, 0, -1):
        counts[nodes["parent"][node]] += counts[node]
    nodes["weight"] = counts[:, 0].sum(axis=1)
    for node in range(1, len(nodes)):
        if nodes["weight"][node] == 0:
            counts[node] = counts[nodes["parent"][node]]
    nodes["impurity"] = rng.integers(0, 8, len(nodes)) / 8
    return make_tree(nodes, counts.astype(float), is_classifier=True)


def make_random_table(seed, n_rows=80):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (n_rows, 3)).astype(float)
    y = (X[:, 0] > 3) + (X[:, 1] > 5) * (rng.random(n_rows) < 0.7)
    return X, y.astype(int) % 3, rng.integers(1, 4, n_rows).astype(float)


def assert_equal_to_reference(sequence, tree, risk):
    """The subtree of every alpha is the reference's."""
    subtrees = find_rpart_subtrees(tree, risk)
    alphas = np.unique(sequence.ccp_alphas)
    np.testing.assert_allclose(alphas, [float(row[0]) for row in subtrees], rtol=1e-14)
    for alpha, (_, leaf_risk, n_leaves, inner) in zip(alphas, subtrees, strict=True):
        step = sequence.find_step(alpha)
        cut = sequence.find_cut(step)
        assert sequence.n_leaves[step] == n_leaves
        assert sequence.impurities[step] == pytest.approx(float(leaf_risk), abs=1e-14)
        assert inner == set(np.flatnonzero(tree.nodes["n_children"])) - set(cut)


# -------------------------------------------------------------- against the reference
@loop_over("max_children", [2, 5])
@loop_over("risk", ["impurity", "error"])
@loop_over("seed", range(60))
def test_rpart_sequence_equals_reference(seed, risk, max_children):
    rng = np.random.default_rng(seed)
    tree = random_class_tree(rng, int(rng.integers(0, 30)), max_children)
    assert_equal_to_reference(compute_rpart_sequence(tree, risk), tree, risk)


@loop_over("max_children", [2, 5])
@loop_over("seed", range(60))
def test_weakest_links_by_error_equal_reference(seed, max_children):
    rng = np.random.default_rng(seed)
    tree = random_class_tree(rng, int(rng.integers(0, 30)), max_children)
    sequence = compute_weakest_link_sequence(tree, risk="error")
    steps = find_weakest_links(tree, risk="error")
    alphas, risks, n_leaves, cut_node = zip(*steps, strict=True)
    np.testing.assert_allclose(sequence.ccp_alphas, np.array(alphas, float), rtol=1e-14)
    np.testing.assert_allclose(sequence.impurities, np.array(risks, float), rtol=1e-14)
    assert sequence.n_leaves.tolist() == list(n_leaves)
    assert sequence.cut_node.tolist() == list(cut_node)


@pytest.mark.parametrize("sequence_of", ["rpart", "weakest_link"])
def test_error_of_several_outputs_is_their_mean(sequence_of):
    rng = np.random.default_rng(5)
    tree = random_class_tree(rng, 15, 3, n_outputs=2)
    if sequence_of == "rpart":
        assert_equal_to_reference(compute_rpart_sequence(tree, "error"), tree, "error")
        return
    sequence = compute_weakest_link_sequence(tree, "error")
    steps = find_weakest_links(tree, risk="error")
    assert sequence.cut_node.tolist() == [step[3] for step in steps]
    np.testing.assert_allclose(sequence.impurities, [float(step[1]) for step in steps])


# ---------------------------------------------------------- known numbers, properties
def test_splits_that_fall_before_a_child_are_missing_above_it():
    """The child is handed up as it stands just before it falls itself."""
    nodes = make_nodes([2, 2, 0, 0, 2, 0, 0])
    nodes["impurity"] = [10, 9, 1, 0, 4, 0.5, 0.5]
    tree = make_tree(nodes)
    exact = compute_weakest_link_sequence(tree)
    assert exact.ccp_alphas.tolist() == [0.0, 8 / 3]
    sequence = compute_rpart_sequence(tree)
    assert sequence.ccp_alphas.tolist() == [0.0, 2.5, 2.5, 2.5]
    assert sequence.impurities.tolist() == [2.0, 5.0, 10.0, 10.0]
    assert sequence.n_leaves.tolist() == [4, 3, 2, 1]
    assert sequence.cut_node.tolist() == [-1, 4, 1, 0]


def test_splits_that_save_no_error_come_first_with_alpha_zero():
    counts = np.array([[[6, 4]], [[3, 3]], [[3, 1]], [[2, 1]], [[1, 2]]], dtype=float)
    nodes = make_nodes([2, 2, 0, 0, 0])
    nodes["weight"] = counts.sum(axis=(1, 2))
    tree = make_tree(nodes, counts, is_classifier=True)
    sequence = compute_rpart_sequence(tree, "error")
    # The root saves nothing by its own split, but one error by all of them.
    assert sequence.ccp_alphas.tolist() == [0.0, 0.05, 0.05]
    assert sequence.impurities.tolist() == [0.3, 0.4, 0.4]
    counts = counts.copy()
    counts[3:] = [[[2, 2]], [[1, 1]]]
    tree = make_tree(nodes, counts, is_classifier=True)
    sequence = compute_rpart_sequence(tree, "error")
    assert sequence.ccp_alphas.tolist() == [0.0, 0.0, 0.0]
    assert sequence.cut_node.tolist() == [-1, 1, 0]
    assert sequence.find_step(0.0) == 2


@pytest.mark.parametrize("risk", ["impurity", "error"])
@loop_over("seed", range(10))
def test_steps_are_nested_subtrees_with_their_risks(seed, risk):
    X, y, weight = make_random_table(seed)
    tree = CARTClassifier().fit(X, y, sample_weight=weight).tree_
    sequence = compute_rpart_sequence(tree, risk)
    risks = np.array(list_node_risks(tree, risk, float), dtype=float)
    assert np.all(np.diff(sequence.ccp_alphas) >= 0)
    assert sequence.ccp_alphas[0] == 0
    assert sequence.n_leaves[-1] == 1
    for step in range(len(sequence.ccp_alphas)):
        is_cut = np.zeros(tree.node_count, bool)
        is_cut[sequence.find_cut(step)] = True
        is_gone = np.zeros(tree.node_count, bool)
        for node in range(1, tree.node_count):
            parent = tree.nodes["parent"][node]
            is_gone[node] = is_cut[parent] or is_gone[parent]
        is_leaf = (is_cut | tree.is_leaf) & ~is_gone
        assert is_leaf.sum() == sequence.n_leaves[step]
        assert risks[is_leaf].sum() == pytest.approx(sequence.impurities[step])
        pruned = cut_below(tree, sequence.find_cut(step))
        assert pruned.n_leaves == sequence.n_leaves[step]


@loop_over("seed", range(5))
def test_weights_are_repeated_rows(seed):
    X, y, weight = make_random_table(seed)
    times = weight.astype(int)
    weighted = CARTClassifier().fit(X, y, sample_weight=weight).tree_
    repeated = CARTClassifier().fit(X.repeat(times, 0), y.repeat(times)).tree_
    for compute in (compute_rpart_sequence, compute_weakest_link_sequence):
        first, second = compute(weighted, "error"), compute(repeated, "error")
        np.testing.assert_array_equal(first.ccp_alphas, second.ccp_alphas)
        np.testing.assert_array_equal(first.impurities, second.impurities)
        np.testing.assert_array_equal(first.cut_node, second.cut_node)


@loop_over("seed", range(5))
@pytest.mark.parametrize(
    "compute", [compute_rpart_sequence, compute_weakest_link_sequence]
)
def test_what_saves_nothing_has_alpha_zero_whatever_the_weights(compute, seed):
    """Sums of fractions are rounded; what is lost there is no gain."""
    X, y, weight = make_random_table(seed)
    y[:] = np.random.default_rng(seed).random(len(y)) < 0.2
    estimator = CARTClassifier(min_samples_leaf=5)
    tree = estimator.fit(X, y, sample_weight=weight).tree_
    expected = compute(tree, "error")
    tree = estimator.fit(X, y, sample_weight=weight * 0.1).tree_
    sequence = compute(tree, "error")
    free = expected.find_step(0.0), sequence.find_step(0.0)
    assert min(free) > 0
    assert sequence.n_leaves[free[1]] == expected.n_leaves[free[0]]
    # Of equal alphas, one may fall with the node above or before it.
    alphas = np.unique(expected.ccp_alphas)
    np.testing.assert_allclose(
        np.unique(sequence.ccp_alphas.round(12)), alphas.round(12)
    )


@loop_over("seed", range(5))
def test_error_is_that_of_the_training_rows(seed):
    X, y, weight = make_random_table(seed)
    estimator = CARTClassifier(max_depth=3).fit(X, y, sample_weight=weight)
    accuracy = estimator.score(X, y, sample_weight=weight)
    for compute in (compute_rpart_sequence, compute_weakest_link_sequence):
        risks = compute(estimator.tree_, risk="error").impurities
        assert risks[0] == pytest.approx(1 - accuracy)
        assert risks[-1] * weight.sum() == weight.sum() - np.bincount(y, weight).max()


@loop_over("seed", range(10))
def test_both_sequences_are_equal_where_the_tree_is_concave(seed):
    """Where every split saves more than those below it, children fall before parents:
    then nothing is missing, and the approximation is exact."""
    rng = np.random.default_rng(seed)
    nodes = make_nodes(random_shape(rng, 12, 3))
    saved = np.zeros(len(nodes))
    for node in np.flatnonzero(nodes["n_children"])[::-1]:
        first, count = nodes["first_child"][node], nodes["n_children"][node]
        below = slice(first, first + count)
        # Per leaf that the split adds.
        saved[node] = max(saved[below]) + rng.integers(1, 9)
        risk = nodes["impurity"][below].sum()
        nodes["impurity"][node] = risk + saved[node] * (count - 1)
    tree = make_tree(nodes)
    exact, sequence = compute_weakest_link_sequence(tree), compute_rpart_sequence(tree)
    np.testing.assert_allclose(sequence.ccp_alphas, exact.ccp_alphas)
    np.testing.assert_allclose(np.sort(saved[saved > 0]), exact.ccp_alphas[1:])


# ------------------------------------------------------------------------ by folds
COMPUTE = {
    "rpart": compute_rpart_sequence,
    "weakest_link": compute_weakest_link_sequence,
}


def count_errors_by_folds(X, y, weight, folds, alphas, sequence, risk):
    """Weighted errors of the left-out rows: alpha by alpha, tree by tree."""
    errors = np.zeros(len(alphas))
    for train, test in folds:
        fitted = CARTClassifier().fit(X[train], y[train], sample_weight=weight[train])
        steps = COMPUTE[sequence](fitted.tree_, risk)
        ends = fitted.apply(X[test])
        for number, alpha in enumerate(alphas):
            cut = set(steps.find_cut(steps.find_step(alpha)).tolist())
            for row, end in zip(test, ends, strict=True):
                node, place = int(end), int(end)
                while node >= 0:
                    place = node if node in cut else place
                    node = int(fitted.tree_.nodes["parent"][node])
                predicted = fitted.tree_.statistics[place, 0].argmax()
                errors[number] += weight[row] * (predicted != y[row])
    return errors


@pytest.mark.parametrize("risk", ["impurity", "error"])
@pytest.mark.parametrize("sequence", COMPUTE)
def test_cross_validation_is_an_explicit_loop(sequence, risk):
    X, y, weight = make_random_table(7, n_rows=60)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    pruner = CostComplexityPruning(cv=folds, sequence=sequence, risk=risk)
    fitted = CARTClassifier(pruning=pruner).fit(X, y, sample_weight=weight)
    path = fitted.pruning_path_
    full = COMPUTE[sequence](CARTClassifier().fit(X, y, weight).tree_, risk)
    alphas = np.unique(np.maximum(full.ccp_alphas, 0))
    has_useless_splits = full.find_step(0.0) > 0
    assert path["alpha"].tolist() == [0.0] * has_useless_splits + alphas.tolist()
    assert len(alphas) > 3
    last = 10 * alphas[-1] if sequence == "rpart" else np.inf
    tested = np.append(np.sqrt(alphas[:-1] * alphas[1:]), last)
    errors = count_errors_by_folds(X, y, weight, folds, tested, sequence, risk)
    risks = path["cv_risk"][has_useless_splits:]
    np.testing.assert_allclose(risks, errors / weight.sum())
    assert fitted.get_n_leaves() == path["n_leaves"][path["selected"]][0]


# ------------------------------------------------------------------- ends, bad input
def test_deep_tree_and_tree_of_one_node():
    n_inner = 50_000
    nodes = make_nodes([2] + [2, 0] * (n_inner - 1) + [0, 0])
    inner = nodes["n_children"] > 0
    nodes["impurity"][inner] = np.arange(n_inner, 0, -1)
    sequence = compute_rpart_sequence(make_tree(nodes))
    assert sequence.n_leaves.tolist() == list(range(n_inner + 1, 0, -1))
    assert sequence.ccp_alphas.tolist() == [0.0] + [1.0] * n_inner
    sequence = compute_rpart_sequence(make_tree(make_nodes([0])))
    assert sequence.ccp_alphas.tolist() == [0.0]
    assert sequence.n_leaves.tolist() == [1]
    assert sequence.cut_node.tolist() == [-1]


@pytest.mark.parametrize(
    "compute", [compute_rpart_sequence, compute_weakest_link_sequence]
)
def test_bad_risks_are_errors(compute):
    tree = CARTRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).tree_
    with pytest.raises(ValueError, match="regression tree; use risk='impurity'"):
        compute(tree, risk="error")
    with pytest.raises(ValueError, match="'risk' parameter must be one of"):
        compute(tree, risk="gini")
