from libc.stdint cimport int64_t, uint8_t

from sklearn_textbook.tree.split._types cimport (
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
)

cdef void rank_targets(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n
) noexcept nogil
cdef void clear_losses(Scratch* scratch, int64_t output) noexcept nogil
cdef void insert_row(
    const Problem* problem, const Rows* rows, Scratch* scratch, int64_t output,
    int64_t row
) noexcept nogil
cdef double absolute_loss(
    Scratch* scratch, int64_t output, double* median
) noexcept nogil
cdef void scan_absolute(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil
