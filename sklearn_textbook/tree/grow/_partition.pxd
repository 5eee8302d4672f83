from libc.stdint cimport int64_t, uint8_t

from sklearn_textbook._contract._threads cimport ThreadTeam
from sklearn_textbook.tree.grow._buffers cimport Block, Frame
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Entry, NodeView, Problem, Split

cdef void move_rows(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const Split* split, Entry* entries,
    const uint8_t* is_leaf
) noexcept nogil
cdef int divide_coded_rows(
    const Problem* problem, const Arena* arena, Worker* worker, const NodeView* view,
    const Entry* rows_of_node, const Split* split
) noexcept nogil
cdef void sum_missing_rows(
    const Problem* problem, const Arena* arena, const Entry* cells,
    const NodeView* node, int64_t n_present, Children* children
) noexcept nogil
cdef void share_missing_rows(
    const Problem* problem, const NodeView* node, Children* children
) noexcept nogil
cdef int move_fractions(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const Split* split, Entry* entries,
    const uint8_t* is_leaf
) noexcept nogil
cdef void load_weights(
    Arena* arena, const Frame* frame, int64_t column, const Entry* entries
) noexcept nogil
cdef Block* save_weights(
    const Arena* arena, Worker* worker, const Frame* frame, int64_t column,
    const Entry* entries
) noexcept nogil
