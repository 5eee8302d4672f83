# Values of the rows of a node, and what may be counted of them at once.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._listed cimport Division, ListedRows
from sklearn_textbook.tree.split._types cimport NodeView, Problem

cdef enum:
    WEIGHT_SHIFT = 22
    ROWS_SHIFT = 43
    WEIGHT_MASK = 0x1FFFFF
    POSITIVE_MASK = 0x3FFFFF

# What is counted of a set of rows: in one number the rows (21 bits), their weight (21
# bits) and a bound of their positive residuals (22 bits); and the sum of the residuals,
# a whole number with a sign. Two neighbours of one type are added in one step.
cdef struct Amount:
    uint64_t counts
    uint64_t residual

# A column that is tried in the node at hand.
cdef struct ValueColumn:
    int32_t number
    # codes of the node's rows in the order of their list, if they are gathered, and
    # the smallest and largest of them
    bint is_gathered
    uint32_t* codes
    uint32_t lowest
    uint32_t highest
    # (code - smallest) >> shift is the number of a bin
    uint32_t smallest
    uint32_t largest
    int32_t shift
    int64_t n_bins
    const uint8_t* row_bins  # of the node's rows, TILE_COLUMNS apart, if not gathered
    # of all rows below a bin; one more entry for those up to the end of the last
    Amount* below
    double* cross  # d, see ``_value_histogram``
    double* area  # k (n - k)
    double* positive  # bound of the positive residuals, times n
    double* score  # d^2 / (k (n - k)); below 0 where too few rows are left
    double edge  # the largest of them

# What decides between the candidates of a node.
cdef struct ValueContest:
    const Problem* problem
    const Amount* amounts  # of the rows, in the order of their list
    int64_t n_rows
    double n  # weight
    double total  # of the residuals
    double grain  # of the bound of positive residuals, in units of the residuals
    double margin
    double worth  # what a unit of d^2 / (k (n - k)) adds to a score
    double bound  # what d^2 / (k (n - k)) must exceed
    # rows in child 0 that leave enough on both sides
    int64_t lowest
    int64_t highest
    int64_t place  # which of the columns is the best
    Division* division

cdef inline int64_t rows_in(uint64_t counts) noexcept nogil:
    return <int64_t>(counts >> ROWS_SHIFT)

cdef inline int32_t weight_in(uint64_t counts) noexcept nogil:
    return <int32_t>((counts >> WEIGHT_SHIFT) & WEIGHT_MASK)

cdef void describe_values(
    const double* y, NodeView* view, ListedRows* listed, Amount* amounts,
    ValueContest* contest
) noexcept nogil
cdef void count_columns(
    const uint8_t* row_bins, int64_t width, const ListedRows* listed,
    const Amount* amounts, ValueColumn** columns, int64_t n_columns,
    int32_t coarseness, bint is_far, uint8_t* tile_bins, Amount* tile
) noexcept nogil
cdef void count_codes(
    const ValueColumn* column, const Amount* amounts, int64_t n, Amount* tile
) noexcept nogil
cdef int64_t add_up_bins(ValueColumn* column, const Amount* tile) noexcept nogil
cdef void find_edge(const ValueContest* contest, ValueColumn* column) noexcept nogil
cdef int64_t open_bins(
    const ValueContest* contest, const ValueColumn* column, double bound,
    double* excess, uint8_t* is_open
) noexcept nogil
cdef void try_column(
    ValueContest* contest, ValueColumn* column, int64_t place,
    const uint8_t* is_open, uint64_t* keys, uint64_t* spare
) noexcept nogil
