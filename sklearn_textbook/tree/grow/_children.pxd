# What the children of the split at hand hold, in slots that every node uses again.

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t, uint32_t

from sklearn_textbook.tree.grow._buffers cimport Block, NodeBuffer
from sklearn_textbook.tree.split._types cimport (
    Entry,
    NodeView,
    Problem,
    Rows,
    Scratch,
    Split,
)

# A stretch of the split column whose rows all go to one child (-1: to none).
cdef struct Piece:
    int64_t start
    int64_t stop
    int32_t child
# What the children of a split hold; one slot per child.
cdef struct Children:
    Piece* pieces
    int64_t n_pieces
    int64_t n_children
    int64_t* n_rows
    int64_t* next_slot
    double* weight
    double* squares
    double* sums  # n_statistics per child
    double* values  # n_statistics per child: class weights, means or medians
    double* impurity
    bint* is_pure
    # fractions of cases: rows that go into several children, their class weights,
    # each child's fraction of them, and the columns of a child that has its own
    int64_t n_missing
    double* missing_sums
    double* fraction
    Block** blocks
cdef void list_pieces(
    const Problem* problem, const Entry* entries, const int32_t* run_child,
    const Split* split, int64_t n_present, int64_t n, Children* children
) noexcept nogil
cdef void clear_children(const Problem* problem, Children* children) noexcept nogil
cdef void finish_classes(
    const Problem* problem, const NodeView* node, int64_t child, Children* children
) noexcept nogil
cdef void finish_values(
    const Problem* problem, const NodeView* node, int64_t child, Children* children
) noexcept nogil
cdef void measure_children(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const NodeView* node, Children* children
) noexcept nogil
cdef inline void finish_value(
    double centre, double weight, double residuals, double squares, bint is_poisson,
    double* value, double* impurity
) noexcept nogil:
    # Mean and impurity of one output that varies: what finish_values makes of the sums
    # of residuals from the centre and of their squares, with its NOISE.
    cdef:
        double mean = residuals / weight, spread = squares / weight
        double about_centre = spread, found = centre + mean
    if not is_poisson:
        spread -= mean * mean
    elif mean > 0.0:
        spread -= mean * log(mean)
    impurity[0] = spread if spread >= 0.0 else 0.0
    # Rounding of numbers that cancel out.
    if found * found <= 1e-15 * 1e-15 * (about_centre + centre * centre):
        found = 0.0
    value[0] = found
cdef int64_t list_levels(
    const Problem* problem, const Entry* entries, const uint32_t* ranks,
    int64_t column, int64_t n_present, int32_t* levels
) noexcept nogil
cdef int64_t write_level_map(
    const Problem* problem, NodeBuffer* buffer, int64_t column, int64_t n_runs,
    const int32_t* levels, const int32_t* children, bint covers_all
) noexcept nogil
cdef void read_run_children(
    const int32_t* level_map, int64_t n_runs, const int32_t* levels,
    int32_t* run_child
) noexcept nogil
