from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Entry, Problem

cdef int expand_node(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    int n_threads, Frame* frame, Entry* entries
) noexcept nogil
