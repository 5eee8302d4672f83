from libc.stdint cimport int32_t, int64_t, uint32_t

from sklearn_textbook.tree.split._types cimport (
    Entry,
    Problem,
    Rows,
    Scratch,
    SurrogateTest,
)

cdef enum:
    NOT_SENT = -2  # mark of a row whose value is missing and that awaits its child

cdef int64_t rank_surrogate(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n, const int32_t* child_of_row,
    const double* target_weight, int64_t column, SurrogateTest* ranked,
    int64_t n_ranked
) noexcept nogil
cdef void divide_surrogate_runs(
    const Rows* rows, Scratch* scratch, const Entry* entries, int64_t n_present,
    const int32_t* child_of_row, const double* target_weight
) noexcept nogil
cdef void send_rows(
    const Entry* entries, int64_t n, SurrogateTest* test,
    const int32_t* run_child, int32_t* child_of_row
) noexcept nogil
