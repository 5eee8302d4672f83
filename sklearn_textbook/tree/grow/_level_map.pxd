from libc.stdint cimport int32_t, int64_t, uint32_t

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer
from sklearn_textbook.tree.split._types cimport Entry, Problem

cdef int64_t write_level_map(
    const Problem* problem, NodeBuffer* buffer, const Entry* entries,
    const uint32_t* ranks, int64_t column, int64_t n_present,
    const int32_t* run_child, bint covers_all
) noexcept nogil
cdef int64_t write_coded_map(
    const Problem* problem, NodeBuffer* buffer, int64_t column,
    const int32_t* child_of_level
) noexcept nogil
cdef void read_run_children(
    const Problem* problem, const int32_t* level_map, const Entry* entries,
    const uint32_t* ranks, int64_t column, int64_t n_present, int32_t* run_child
) noexcept nogil
