# Oblique tests of a node: directions, and the search of one that is better than all
# tests of one column. _list_search.pyx calls these functions in the order
# begin_oblique, make_directions, turn_to_direction (for each direction),
# finish_oblique.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._memory cimport Memory
from sklearn_textbook.tree.split._types cimport NodeView, Problem, Rows, Scratch, Split

cdef enum DirectionKind:
    RANDOM_DIRECTION = 0
    LDA_DIRECTION = 1
    RIDGE_DIRECTION = 2
    LOGISTIC_DIRECTION = 3
    COORDINATE_DIRECTION = 4

cdef enum:
    SUM_CODE_BITS = 30  # of the code of a sum
    MAX_TRIALS = 8

# A weighted sum of columns, the best test along it, and its values for the samples of
# the node. A nominal column has a value for each of its levels, NaN for those that the
# node does not have.
cdef struct Direction:
    int64_t n_terms
    int32_t* column
    double* weight  # of a nominal column: 1, its values are multiplied already
    double* fill  # what a missing value adds to the sum
    double* fraction  # of the column in the direction; the sum is 1
    int64_t* code_start  # of a nominal column in ``codes``; -1 if numeric
    double* codes
    double* z
    double threshold

# Some samples of a large node, or all of it while these are at work.
cdef struct SomeSamples:
    int64_t n
    uint32_t* row
    double* response
    Rows rows
    NodeView view
    double* sums
    const Rows* rows_aside
    const NodeView* view_aside

# The rules, the table, the node at hand, the best direction found and buffers.
cdef struct ObliqueSearch:
    int32_t kind
    int64_t n_directions  # tried in a node
    int64_t max_columns  # sampled for a direction that is computed
    int64_t max_terms
    bint searches_axis  # whether tests of one column are tried, too
    # by how much the decrease must exceed theirs for every further column, relative to
    # their decrease
    double column_penalty
    double ridge
    double lasso
    const double* values  # row by row
    const double* size  # above all values of a column; 0: the column is constant
    double* scale  # standard deviation of each column in the tree, in these units
    const int64_t* level_start  # first level of each column among all levels
    int64_t n_codes
    bint any_missing  # in the table
    # the node
    const Problem* problem
    const NodeView* view
    const Rows* rows
    Scratch* scratch
    int64_t n
    uint32_t* row  # in the table
    uint64_t random_state
    double* response
    double mean_response
    int32_t* group_of_class
    SomeSamples some
    bint counts_entropy  # whole weights of classes, of which there is a table
    # what was found; column -1: nothing better
    Split split
    double rounding  # of the sums along the direction on trial
    Direction best
    # directions that are made together, and the one on trial
    Direction[MAX_TRIALS] trials
    int64_t n_trials
    Direction* trial
    # buffers
    Memory memory
    uint64_t* keys
    uint64_t* spare
    double* along  # coordinate search: weights at which a sample changes sides
    int32_t* order  # columns in random order
    int64_t n_used
    int32_t* used  # columns of the direction that is computed
    const double* inverse_size  # of numeric columns; 1 of nominal ones
    double* totals  # by column, as the next ones
    double* line
    double* mean
    double* deviation
    double* relation
    double* level_weight
    double* level_sum
    double* level_code
    double* cells  # standardized, row by row
    int64_t cell_capacity
    Memory cell_memory
    uint64_t* seen
    double* gram
    double* system
    double* within
    double* target
    double* solution
    double* step
    double* centres  # of the classes
    double* class_weight
    double* work
    int64_t n_work

cdef int start_oblique(
    const Problem* problem, ObliqueSearch* search, int64_t n_rows
) noexcept nogil
cdef void free_oblique(ObliqueSearch* search) noexcept nogil
cdef void begin_oblique(
    const Problem* problem, const Rows* rows, Scratch* scratch, const NodeView* view,
    int64_t n, bint is_root, ObliqueSearch* search
) noexcept nogil
cdef int make_directions(
    ObliqueSearch* search, const Split* axis, int64_t n_made
) noexcept nogil
cdef bint turn_to_direction(ObliqueSearch* search, int64_t i) noexcept nogil
cdef bint finish_oblique(ObliqueSearch* search, const Split* axis) noexcept nogil
cdef bint try_sorted_sums(ObliqueSearch* search) noexcept nogil
cdef bint code_sums(
    ObliqueSearch* search, int32_t shift, uint32_t* codes
) noexcept nogil
cdef void rank_codes(
    const double* z, double rounding, int32_t shift, uint64_t* keys, int64_t n
) noexcept nogil
cdef void keep_direction(ObliqueSearch* search, double threshold) noexcept nogil
