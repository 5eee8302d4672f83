"""The weakest-link sequence against all subtrees: nested, each the smallest best one.

Trees of every recipe, two-way and many-way, small enough to list all their subtrees.
"""

import numpy as np
import pytest

from sklearn_textbook.tree.prune import (
    compute_weakest_link_sequence,
    cut_below,
    prune_to_alpha,
)
from tests.loops import loop_over
from tests.prune.cases import KINDS, fit_unpruned
from tests.reference.loss_pruning import count_subtrees, list_subtrees, read_tree

N_CASES = 25
MAX_SUBTREES = 500
# Risks and alphas are shares of the root's risk here; so is what counts as equal.
EQUAL = 1e-9


def fit_small(kind, seed):
    """A tree with few subtrees: the deepest that has no more than there may be."""
    for max_depth in (None, 4, 3, 2, 1):
        tree = fit_unpruned(kind, seed, max_depth).tree_
        root = read_tree(tree)
        if count_subtrees(root) <= MAX_SUBTREES:
            break
    return tree, root


def list_all(root):
    """Risk of the leaves, their number, and the splits of all subtrees."""
    scale = root["weight"] * root["impurity"] or 1.0

    def measure(node):
        return node["weight"] * node["impurity"] / scale

    risks, n_leaves, splits = zip(*list_subtrees(root, measure), strict=True)
    return np.array(risks), np.array(n_leaves), splits


def find_splits(tree, step, sequence):
    """The inner nodes of the full tree that are left after a step."""
    gone = set(sequence.find_cut(step).tolist())
    # Breadth first: whether the parent is gone is known before the node.
    for node, parent in enumerate(tree.nodes["parent"].tolist()):
        if parent in gone:
            gone.add(node)
    return frozenset(np.flatnonzero(tree.nodes["n_children"]).tolist()) - gone


def group_alphas(alphas):
    """(alpha, last step) of the steps whose alphas differ by rounding alone."""
    last_of_group = np.append(np.flatnonzero(np.diff(alphas) > EQUAL), len(alphas) - 1)
    return [(alphas[step], int(step)) for step in last_of_group]


@pytest.mark.parametrize("kind", KINDS)
@loop_over("seed", range(N_CASES))
def test_every_subtree_is_the_smallest_of_the_best(kind, seed):
    tree, root = fit_small(kind, seed)
    sequence = compute_weakest_link_sequence(tree)
    risks, n_leaves, splits = list_all(root)
    groups = group_alphas(sequence.ccp_alphas / (root["impurity"] or 1.0))
    for number, (critical, step) in enumerate(groups):
        kept = find_splits(tree, step, sequence)
        assert sequence.n_leaves[step] == n_leaves[splits.index(kept)]
        is_last = number == len(groups) - 1
        following = 2 * critical + 1 if is_last else groups[number + 1][0]
        for alpha in (max(critical, 0.0), (critical + following) / 2):
            costs = risks + alpha * n_leaves
            is_best = costs <= costs.min() + EQUAL
            assert is_best[splits.index(kept)]
            for place in np.flatnonzero(is_best):
                assert kept <= splits[place]
        # Between two critical values there is but one best subtree.
        assert is_best.sum() == 1
        between = (critical + following) / 2 * (root["impurity"] or 1.0)
        pruned = prune_to_alpha(tree, between)
        expected = cut_below(tree, sequence.find_cut(step))
        for name in ("first_child", "n_children", "weight"):
            np.testing.assert_array_equal(pruned.nodes[name], expected.nodes[name])


@pytest.mark.parametrize("kind", KINDS)
@loop_over("seed", range(N_CASES))
def test_subtrees_are_nested(kind, seed):
    tree = fit_unpruned(kind, seed).tree_
    sequence = compute_weakest_link_sequence(tree)
    steps = range(len(sequence.n_leaves))
    subtrees = [find_splits(tree, step, sequence) for step in steps]
    assert len(subtrees[0]) == tree.node_count - tree.n_leaves
    assert subtrees[-1] == frozenset()
    for step in steps[1:]:
        assert subtrees[step] < subtrees[step - 1]
        assert sequence.cut_node[step] in subtrees[step - 1] - subtrees[step]
    # Alphas rise but for rounding.
    slack = 1e-12 * tree.nodes["impurity"][0]
    assert (np.diff(sequence.ccp_alphas) >= -slack).all()
