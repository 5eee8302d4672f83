from libc.stdint cimport uint8_t

from sklearn_textbook._contract._threads cimport ThreadTeam
from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Entry, Problem, Split

cdef void move_rows(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const Split* split, Entry* entries,
    const uint8_t* is_leaf
) noexcept nogil
