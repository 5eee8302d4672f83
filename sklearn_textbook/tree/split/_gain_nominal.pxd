from libc.stdint cimport int32_t, int64_t, uint32_t

from sklearn_textbook.tree.split._types cimport (
    Candidate,
    Entry,
    NodeView,
    Problem,
    Rows,
    Scratch,
    Split,
    Totals,
)

cdef void evaluate_nominal_gain(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, const NodeView* node,
    int64_t column, const Totals* known, Candidate* candidate
) noexcept nogil
cdef void divide_gain_runs(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, const NodeView* node,
    const Split* chosen, int64_t n_present
) noexcept nogil
