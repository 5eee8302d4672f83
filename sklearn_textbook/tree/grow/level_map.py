"""Level maps: the child of each level of a nominal test, dense or sparse.

``GrownTree.level_branch`` contains all maps, concatenated. The first entry of a
map gives its form:

- ``DENSE_MAP`` (-1): the child number of every level of the column follows, in the
  order of the codes.
- n >= 0: n level codes follow, ascending, and then the child number of each. All
  other levels have no row in the node.

A child number of -1 marks a level not seen in the node. Growing writes the shorter
form, so that in a deep tree the memory depends on the levels present in the nodes, not
on all levels of the column. A multiway split has a child for every level and is always
dense. The C function that reads one entry is ``find_level_child`` in ``_layout.pxd``.
"""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.layout import DENSE_MAP


def read_level_map(level_branch: np.ndarray, start: int, n_levels: int) -> np.ndarray:
    """Read one map of either form."""
    start, n_levels = int(start), int(n_levels)
    n_pairs, first = int(level_branch[start]), start + 1
    if n_pairs == DENSE_MAP:
        return level_branch[first : first + n_levels]
    children = np.full(n_levels, -1, dtype=np.int32)
    codes = level_branch[first : first + n_pairs]
    children[codes] = level_branch[first + n_pairs : first + 2 * n_pairs]
    return children


def measure_level_maps(
    level_branch: np.ndarray, starts: np.ndarray, n_levels: np.ndarray
) -> np.ndarray:
    """Count the entries of maps, the first one included."""
    n_pairs = level_branch[starts].astype(np.int64)
    return 1 + np.where(n_pairs == DENSE_MAP, n_levels, 2 * n_pairs)


def list_places(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """List the places of stretches of an array, one stretch after the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))
