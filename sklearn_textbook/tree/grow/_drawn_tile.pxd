from libc.stdint cimport int64_t, uint8_t, uint64_t

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer
from sklearn_textbook.tree.grow._drawn_rows cimport (
    SMALL_ROWS,
    DrawnNode,
    DrawnTable,
)
from sklearn_textbook.tree.split._types cimport Problem, Split

# The rows of a subtree.
cdef struct SmallRows:
    const double* values[SMALL_ROWS]
    uint64_t[SMALL_ROWS] counts
    double[SMALL_ROWS] y  # values
    double[SMALL_ROWS] weight
    uint8_t[SMALL_ROWS] order  # those of a node stand together

# A node of it that waits to be split.
cdef struct SmallNode:
    int64_t first  # its rows in the order
    DrawnNode node
    uint64_t active

# The node at hand: its totals, and the best division.
cdef struct SmallSearch:
    double weight
    double margin
    Split best
    # two classes
    double[2] sums
    double goodness
    uint64_t counts  # of child 0
    # values: weight * (y - centre) in the order of the node's rows
    double[SMALL_ROWS] residuals
    double centre
    double total
    double bound  # what d^2 / (k (n - k)) must exceed


cdef void search_small(
    const Problem* problem, DrawnTable* table, const NodeBuffer* buffer,
    const SmallNode* small, const SmallRows* rows, SmallSearch* search
) noexcept nogil
