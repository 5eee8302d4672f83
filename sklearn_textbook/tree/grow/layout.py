"""The record layouts of a grown tree: one numpy dtype per C struct of ``_layout.pxd``.

Structured arrays can be memory-mapped and compared; for the compact form of trees see
:mod:`sklearn_textbook.tree.grow.storage`. Change a layout here and in ``_layout.pxd``
together, and increment :data:`SCHEMA_VERSION`.
"""

import mmap
from contextlib import suppress

import numpy as np

#: Incremented whenever a field changes its meaning, type or position.
SCHEMA_VERSION = 1

#: Kinds of nodes.
LEAF = 0  # no test: rows end here
NUMERIC = 1  # value <= threshold goes to child 0, value > threshold to child 1
ORDINAL = 2  # as NUMERIC, over level codes; a code below 0 is a level never seen
NOMINAL = 3  # level code -> child by a map in GrownTree.level_branch
OBLIQUE = 4  # weighted sum of columns <= threshold; see GrownTree.terms

#: Branch of missing values: a child index, or one of these.
STAY = -1  # no child: the row ends in this node
FRACTIONAL = -2  # into all children, weighted by their training weight

#: First entry of a level map that has an entry for every level; see level_map.py.
DENSE_MAP = -1

#: Marks of scikit-learn's tree arrays.
TREE_LEAF = -1
TREE_UNDEFINED = -2

NODE_DTYPE = np.dtype(
    [
        # first of the node's children, which are consecutive; -1 in a leaf
        ("first_child", np.int32),
        # 0 in a leaf, 2 for a binary split, more for a multiway split
        ("n_children", np.int32),
        # column that is tested, of an oblique test the one with the largest fraction;
        # -2 in a leaf, as in scikit-learn
        ("feature", np.int32),
        # child number for a missing value, or STAY or FRACTIONAL
        ("missing_branch", np.int32),
        # LEAF, NUMERIC, ORDINAL, NOMINAL or OBLIQUE
        ("kind", np.int32),
        # number of the parent node; -1 at the root
        ("parent", np.int32),
        # start of the node's level map in GrownTree.level_branch; -1 where none
        ("map_start", np.int64),
        # numeric and ordinal tests: value <= threshold, oblique tests: sum of terms
        # <= threshold; -2.0 in a leaf
        ("threshold", np.float64),
        # impurity of the node under the criterion that grew it
        ("impurity", np.float64),
        # improvement of the split: impurity minus the weighted mean impurity of the
        # children, per unit of this node's weight; 0 in a leaf
        ("improvement", np.float64),
        # training rows that reached the node (rows of weight 0 are dropped first)
        ("n_samples", np.int64),
        # their weight
        ("weight", np.float64),
    ],
    align=True,
)

SURROGATE_DTYPE = np.dtype(
    [
        # node of the surrogate; records are sorted by node, then rank
        ("node", np.int32),
        # column that is tested instead
        ("feature", np.int32),
        # NUMERIC, ORDINAL or NOMINAL
        ("kind", np.int32),
        # child number of value <= threshold (the others go to the other child);
        # no meaning in a nominal test, where growing writes -1
        ("low_branch", np.int32),
        # start of the level map in GrownTree.level_branch; -1 where none
        ("map_start", np.int64),
        ("threshold", np.float64),
        # fraction of the primary split's weight that the surrogate sends the same way;
        # of smoothed levels, that the other rows of each row's level send so
        ("agreement", np.float64),
        # agreement beyond that of always following the heavier child, rescaled to 1
        ("adjusted_agreement", np.float64),
        # training rows that this surrogate routed
        ("n_used", np.int64),
    ],
    align=True,
)

TERM_DTYPE = np.dtype(
    [
        # node of the oblique test; records are sorted by node, the columns of a test
        # by fraction in descending order, and the levels of a column by number
        ("node", np.int32),
        ("feature", np.int32),
        # level of a nominal column, which has a record for each level seen in the node;
        # -1: the column is numeric or ordinal
        ("level", np.int32),
        # part of the test's improvement that is credited to the column
        ("share", np.float32),
        # summand: weight * value, or the weight of the level
        ("weight", np.float64),
        # summand if the value is missing
        ("fill", np.float64),
    ],
    align=True,
)

SLOPE_DTYPE = np.dtype(
    [
        # node of the equation; records are sorted by node
        ("node", np.int32),
        # column, numeric or ordinal
        ("feature", np.int32),
        # summand: weight * (value - center), or 0 if the value is missing
        ("weight", np.float64),
        ("center", np.float64),
        # standard error of the weight
        ("error", np.float64),
    ],
    align=True,
)

#: Side tables of records, sorted by node.
SIDE_DTYPES = {
    "surrogates": SURROGATE_DTYPE,
    "terms": TERM_DTYPE,
    "slopes": SLOPE_DTYPE,
}

# The codes of a column and their bins; as in _sample_list.pxd.
SPAN_DTYPE = np.dtype(
    [
        ("smallest", np.uint32),
        ("largest", np.uint32),
        # (code - smallest) >> shift is the number of the bin
        ("shift", np.int32),
        # bin of missing values; 255 if there are none
        ("missing_bin", np.int32),
    ],
    align=True,
)

# How the values of a column become steps; split/_steps.pxd does the same in C.
SCALE_DTYPE = np.dtype(
    [
        ("low", np.float64),
        # steps per unit
        ("factor", np.float64),
        # smallest difference of two distinct values
        ("gap", np.float64),
    ],
    align=True,
)


#: With more statistics of a node than that, pages without any of them take no memory;
#: the same as in ``_buffers.pxd``.
FEW_NUMBERS = 1024


def make_records(n_nodes: int, n_statistics: int) -> tuple[np.ndarray, np.ndarray]:
    """Allocate the records of a tree and its statistics."""
    return np.empty(n_nodes, dtype=NODE_DTYPE), make_statistics(n_nodes, n_statistics)


def make_statistics(n_nodes: int, n_statistics: int) -> np.ndarray:
    """Allocate the statistics of nodes.

    Of many classes few are present in a node. Where the system allows it, pages of
    memory without any of them take none; numpy would ask for pages too large for that.
    """
    if n_statistics <= FEW_NUMBERS:
        return np.empty((n_nodes, n_statistics))
    if not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros((n_nodes, n_statistics))
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    try:
        pages = mmap.mmap(-1, max(1, n_nodes * n_statistics * 8), flags=flags)
    except OSError as error:
        raise MemoryError(str(error)) from None
    with suppress(OSError):  # a kernel without huge pages
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    numbers = np.frombuffer(pages, count=n_nodes * n_statistics)
    return numbers.reshape(n_nodes, n_statistics)


def share_out(weights: np.ndarray) -> np.ndarray:
    """Divide class weights by their sum."""
    total = weights.sum(axis=2, keepdims=True)
    n_classes = weights.shape[2]
    if n_classes <= FEW_NUMBERS:
        return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    fractions = make_statistics(weights.shape[0] * weights.shape[1], n_classes)
    present = np.flatnonzero(weights)
    each = weights.reshape(-1)[present] / total.reshape(-1)[present // n_classes]
    fractions.reshape(-1)[present] = each
    return fractions.reshape(weights.shape)
