# From the records that growth has left behind to the arrays of a tree. Threads are done
# by then; ``above`` and ``done`` are as in _assemble.pyx.

from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer
from sklearn_textbook.tree.split._types cimport Problem

cdef double resolve_threshold(
    const Problem* problem, int32_t feature, int64_t pair
) noexcept nogil
cdef int64_t count_nodes(
    const NodeBuffer* above, const NodeBuffer* done, int64_t n_tasks
) noexcept nogil
cdef write_tree(
    const Problem* problem, const NodeBuffer* above, const NodeBuffer* done,
    int64_t n_tasks
)
cdef read_short_columns(const Problem* problem, const NodeBuffer* buffer)
