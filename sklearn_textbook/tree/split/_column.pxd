from libc.stdint cimport int32_t, int64_t, uint32_t

from sklearn_textbook.tree.split._types cimport (
    Entry,
    NodeView,
    Problem,
    Rows,
    Scratch,
    Split,
    Totals,
)

# What a search of one column of a node needs, and what is done with its result. Entries
# are those of the node in this column; ``ranks`` maps the ranks of a subtree to those
# of the table, or is NULL.
cdef int64_t count_missing(const Entry* entries, int64_t n) noexcept nogil
cdef double value_of_rank(
    const Problem* problem, int64_t column, const uint32_t* ranks, uint32_t rank
) noexcept nogil
cdef double upper_value_of_rank(
    const Problem* problem, int64_t column, const uint32_t* ranks, uint32_t rank
) noexcept nogil
cdef void evaluate_column(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, const NodeView* node,
    int64_t column, Split* best
) noexcept nogil
cdef void evaluate_runs(
    const Problem* problem, Scratch* scratch, const NodeView* node, int64_t column,
    int64_t n_runs, int64_t n_missing, Split* best
) noexcept nogil
cdef double midpoint(double below, double above) noexcept nogil
cdef int32_t assign_runs(
    const Problem* problem, Scratch* scratch, const Split* chosen, int64_t n_runs,
    int64_t n_missing
) noexcept nogil
cdef int32_t divide_runs(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, const NodeView* node,
    const Split* chosen, const Split* before, int64_t n_runs, int64_t n_missing
) noexcept nogil
cdef double own_margin(const Problem* problem, const Totals* present) noexcept nogil
