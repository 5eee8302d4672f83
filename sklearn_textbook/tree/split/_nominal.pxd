from libc.stdint cimport int64_t, uint64_t

from sklearn_textbook.tree.split._types cimport (
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
)

cdef int64_t scan_nominal(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, bint missing_is_level, int64_t n_levels,
    uint64_t* random_state, Split* best
) noexcept nogil
