from libc.stdint cimport int64_t

from sklearn_textbook.tree.split._types cimport (
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
    Totals,
)

cdef void add_row(
    const Problem* problem, const Rows* rows, int64_t row, double weight,
    const double* centre, double* sums
) noexcept nogil
cdef void sum_entries(
    const Problem* problem, const Rows* rows, const Entry* entries, int64_t n,
    Totals* totals
) noexcept nogil
cdef double value_of(
    const Problem* problem, const double* sums, double weight, const double* centre
) noexcept nogil
cdef void scan_general(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil
