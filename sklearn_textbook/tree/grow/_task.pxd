from libc.stdint cimport int32_t

from sklearn_textbook.tree.grow._buffers cimport Frame, NodeBuffer
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Problem

cdef int grow_task(
    const Problem* problem, Arena* arena, Worker* worker, NodeBuffer* done,
    const NodeBuffer* above, Frame* frame, const int32_t* active
) noexcept nogil
cdef void enter_arena(
    const Problem* problem, Arena* arena, Frame* frame
) noexcept nogil
