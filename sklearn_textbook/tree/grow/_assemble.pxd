from libc.stdint cimport int64_t

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.split._types cimport Problem

cdef int64_t count_nodes(
    const NodeBuffer* above, const NodeBuffer* done, int64_t n_tasks
) noexcept nogil
cdef write_nodes(
    const Problem* problem, const NodeBuffer* above, const NodeBuffer* done,
    int64_t n_tasks, Node[::1] nodes, double[:, ::1] statistics, surrogate_dtype
)
