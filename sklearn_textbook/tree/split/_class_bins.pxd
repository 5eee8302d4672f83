# Classes of the rows of a node, and what is counted of them in bins.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._listed cimport Division
from sklearn_textbook.tree.split._types cimport NodeView, Problem

cdef enum:
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ

# A column that is tried in the node at hand.
cdef struct ClassColumn:
    int32_t number
    # codes of the node's rows in the order of their list, if they are gathered, and
    # the smallest and largest of them
    bint is_gathered
    uint32_t* codes
    # (code - smallest) >> shift is the number of a bin
    uint32_t smallest
    uint32_t largest
    int32_t shift
    int64_t n_bins
    const uint8_t* row_bins  # of the node's rows, TILE_COLUMNS apart, if not gathered
    # of all rows below a bin; one more entry for those up to the end of the last: the
    # weight of one class after the other, and the rows where their number matters
    uint32_t* below
    double* weight  # of all classes
    # what either side of the division there adds to its value over its area
    double* left
    double* right
    # of the division there: -inf and 1 where too few rows are left
    double* value
    double* area
    double edge  # the largest of value / area

# What decides between the candidates of a node. Candidates have a *value*, which grows
# with the decrease of impurity, times an *area*.
cdef struct ClassContest:
    const Problem* problem
    Division* division
    int64_t n_classes
    const double* totals  # weights of the classes
    double n  # of all of them
    double margin  # by how much a score must be larger to be better
    double bound  # value that a candidate must exceed
    double slack  # difference of values that an order of candidates may hang on
    double worth  # score of a unit of value
    # what has to be taken from a value for the score
    double base
    int64_t whole_base
    # rows in child 0 that leave enough on both sides, and whether that asks for their
    # number: if one is enough, the weight tells
    int64_t lowest
    int64_t highest
    bint counts_rows
    int64_t n_planes  # classes, and rows if they are counted
    int64_t stride  # from one class to the next
    int64_t place  # which of the columns is the best
    double* scratch  # a number for every bin

# Room for the columns of a node.
cdef struct ClassBins:
    int32_t coarseness  # of nodes of many rows: fewer bins if there are many classes
    ClassColumn* columns
    uint32_t* counts
    uint32_t* spare_counts  # of columns that are counted twice
    double* sums
    uint8_t* tile_bins  # of the rows, in columns that are counted together

cdef int start_class_bins(
    const Problem* problem, ClassBins* room, int64_t n_rows, uint32_t* gathered
) noexcept nogil
cdef void free_class_bins(ClassBins* room) noexcept nogil
cdef void start_class_contest(
    const Problem* problem, const NodeView* view, Division* division,
    const ClassBins* room, int32_t coarseness, ClassContest* contest
) noexcept nogil
cdef void count_columns(
    const ClassContest* contest, const uint8_t* row_bins, int64_t width,
    const uint64_t* rows, int64_t n, ClassColumn** columns, int64_t n_columns,
    int32_t coarseness, bint is_far, uint8_t* tile_bins, uint32_t* spare_counts
) noexcept nogil
cdef void count_codes(
    const ClassContest* contest, ClassColumn* column, const uint64_t* rows, int64_t n
) noexcept nogil
cdef int64_t add_up_bins(
    const ClassContest* contest, ClassColumn* column
) noexcept nogil
