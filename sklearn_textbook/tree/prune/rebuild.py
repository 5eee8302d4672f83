"""Cut branches off a grown tree and renumber its nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_textbook.tree.grow.layout import (
    LEAF,
    NOMINAL,
    STAY,
    TREE_LEAF,
    TREE_UNDEFINED,
)
from sklearn_textbook.tree.grow.level_map import list_places, measure_level_maps
from sklearn_textbook.tree.prune._subtree import mark_kept


def cut_below(tree, cut: np.ndarray | Sequence[int]):
    """Make some nodes leaves and remove all nodes below them.

    The remaining nodes keep their order, so they are numbered breadth first again.
    Level maps, surrogates and terms are kept only for the remaining inner nodes,
    equations for all remaining nodes.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    cut : array of bool, shape (node_count,), or sequence of int
        The nodes to make leaves, as a mask or as numbers. Nodes that are leaves
        already, or that are below another one of ``cut``, have no effect.

    Returns
    -------
    GrownTree
        The pruned tree; the same object if there is nothing to cut.

    Raises
    ------
    ValueError
        If a mask has the wrong length or a number is not that of a node.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> from sklearn_textbook.tree.prune import cut_below
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> tree.threshold
    array([ 2.5,  1.5, -2. ,  0.5, -2. , -2. , -2. ])
    >>> cut_below(tree, [3]).value.ravel()
    array([3.5       , 1.66666667, 9.        , 0.5       , 4.        ])
    """
    is_cut = _as_mask(tree, cut) & (tree.nodes["kind"] != LEAF)
    if not is_cut.any():
        return tree
    is_kept = np.empty(tree.node_count, dtype=bool)
    mark_kept(tree.nodes, is_cut.view(np.uint8), is_kept.view(np.uint8))
    number = np.cumsum(is_kept, dtype=np.int32) - 1
    nodes = tree.nodes[is_kept]
    _clear_tests(nodes, is_cut[is_kept])
    inner = nodes["kind"] != LEAF
    nodes["first_child"][inner] = number[nodes["first_child"][inner]]
    nodes["parent"][1:] = number[nodes["parent"][1:]]
    stands = is_kept & ~is_cut
    surrogates = tree.surrogates[stands[tree.surrogates["node"]]]
    surrogates["node"] = number[surrogates["node"]]
    terms = tree.terms[stands[tree.terms["node"]]]
    terms["node"] = number[terms["node"]]
    slopes = tree.slopes[is_kept[tree.slopes["node"]]]
    slopes["node"] = number[slopes["node"]]
    return tree.replace(
        nodes=nodes,
        statistics=tree.statistics[is_kept],
        surrogates=surrogates,
        terms=terms,
        slopes=slopes,
        bounds=tree.bounds[is_kept] if len(tree.bounds) else tree.bounds,
        level_branch=compact_maps(tree, nodes, surrogates),
    )


def find_kept(tree, cut: np.ndarray | Sequence[int]) -> np.ndarray:
    """Find where the rows of every node end once some nodes are leaves.

    Returns the numbers of nodes in ``cut_below(tree, cut)``.
    """
    is_cut = _as_mask(tree, cut)
    parent = tree.nodes["parent"]
    number = np.zeros(tree.node_count, dtype=np.int32)
    is_inside = is_cut.copy()
    n_kept = 1
    for node in range(1, tree.node_count):  # parents come before their children
        above = parent[node]
        if is_inside[above]:
            number[node], is_inside[node] = number[above], True
        else:
            number[node] = n_kept
            n_kept += 1
    return number


def _as_mask(tree, cut):
    """Convert the nodes to cut to a mask."""
    cut = np.asarray(cut)
    if cut.dtype == bool:
        if cut.shape != (tree.node_count,):
            raise ValueError(
                f"The mask cut must have shape ({tree.node_count},), one entry per "
                f"node, got {cut.shape}."
            )
        return cut
    mask = np.zeros(tree.node_count, dtype=bool)
    if cut.size == 0:
        return mask
    if cut.dtype.kind not in "iu":
        raise ValueError(f"cut must be booleans or integers, got dtype {cut.dtype}.")
    if cut.min() < 0 or cut.max() >= tree.node_count:
        raise ValueError(
            f"cut must be node numbers from 0 to {tree.node_count - 1}, got "
            f"{cut.min() if cut.min() < 0 else cut.max()}."
        )
    mask[cut] = True
    return mask


def _clear_tests(nodes, where) -> None:
    """Mark some nodes as leaves."""
    marks = {
        "kind": LEAF,
        "first_child": TREE_LEAF,
        "n_children": 0,
        "feature": TREE_UNDEFINED,
        "threshold": float(TREE_UNDEFINED),
        "missing_branch": STAY,
        "map_start": -1,
        "improvement": 0.0,
    }
    for name, mark in marks.items():
        nodes[name][where] = mark


def compact_maps(tree, nodes, surrogates):
    """Keep only the level maps in use, and update their positions in the nodes."""
    tables = (nodes, surrogates)
    users = [np.flatnonzero(records["kind"] == NOMINAL) for records in tables]
    starts, features = (
        np.concatenate([r[name][user] for r, user in zip(tables, users, strict=True)])
        for name in ("map_start", "feature")
    )
    starts, first_use = np.unique(starts, return_index=True)
    n_levels = np.asarray(tree.n_levels)[features[first_use]]
    lengths = measure_level_maps(tree.level_branch, starts, n_levels)
    new_starts = np.cumsum(lengths) - lengths
    for records, user in zip(tables, users, strict=True):
        place = np.searchsorted(starts, records["map_start"][user])
        records["map_start"][user] = new_starts[place]
    return tree.level_branch[list_places(starts, lengths)]
