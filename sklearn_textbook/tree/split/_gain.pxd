from libc.stdint cimport int64_t, uint32_t

from sklearn_textbook.tree.split._types cimport (
    Candidate,
    Entry,
    NodeView,
    Problem,
    Rows,
    Scratch,
    Spacing,
    Totals,
)

cdef double xlogx(const Problem* problem, double count) noexcept nogil
cdef double whole_spread(
    const Problem* problem, const NodeView* node, const Totals* known
) noexcept nogil
cdef double least_spread(const Problem* problem, const NodeView* node) noexcept nogil
cdef void finish_candidate(
    const Problem* problem, const NodeView* node, const Totals* known, double value,
    double branches, double cost, Candidate* candidate
) noexcept nogil
cdef void evaluate_numeric_gain(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Spacing* spacing, const NodeView* node,
    int64_t column, Candidate* candidate
) noexcept nogil
