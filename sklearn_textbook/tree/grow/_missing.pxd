from libc.stdint cimport int32_t

from sklearn_textbook.tree.grow._buffers cimport Frame, NodeBuffer
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Entry, Problem, Split

cdef void mark_rows(
    const Children* children, const Entry* cells, int32_t* child_of_row
) noexcept nogil
cdef int send_missing_rows(
    const Problem* problem, Arena* arena, Worker* worker, const Frame* frame,
    Entry* entries, const Split* split
) noexcept nogil
cdef int32_t branch_for_missing(
    const Problem* problem, const Children* children, const Split* split
) noexcept nogil
cdef void drop_surrogates(NodeBuffer* buffer, int32_t node) noexcept nogil
cdef enum:
    NOT_SENT = -2  # mark of a row whose value is missing and that awaits its child
