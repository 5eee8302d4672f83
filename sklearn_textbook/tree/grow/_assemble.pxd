from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.split._types cimport Problem

cdef double resolve_threshold(
    const Problem* problem, int32_t feature, int64_t pair
) noexcept nogil
cdef int64_t count_nodes(
    const NodeBuffer* above, const NodeBuffer* done, int64_t n_tasks
) noexcept nogil
cdef write_nodes(
    const Problem* problem, const NodeBuffer* above, const NodeBuffer* done,
    int64_t n_tasks, Node[::1] nodes, double[:, ::1] statistics, surrogate_dtype
)
cdef write_alone(
    const Problem* problem, const NodeBuffer* buffer, make_room, surrogate_dtype
)
