from libc.stdint cimport int64_t

from sklearn_textbook.tree.split._types cimport (
    Candidate,
    Codes,
    Entry,
    NodeView,
    Problem,
    Rows,
    Scratch,
    Spacing,
    Split,
)

# Each of these fills ``candidate`` with the best test of one column; ``is_valid`` says
# whether there is one. The tests of a node are compared when all columns have been
# evaluated, as the gain ratio is subject to the average gain.
cdef void evaluate_numeric_gain(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Spacing* spacing, const NodeView* node,
    int64_t column, Candidate* candidate
) noexcept nogil
cdef void evaluate_nominal_gain(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    const Entry* rows_of_node, const NodeView* node, int64_t column,
    Candidate* candidate
) noexcept nogil
cdef void divide_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    const Entry* rows_of_node, const NodeView* node, const Split* chosen
) noexcept nogil
cdef bint is_one_level(
    const Codes* codes, int64_t column, const Entry* rows_of_node, int64_t n
) noexcept nogil
