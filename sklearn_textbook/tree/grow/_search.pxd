# The search of one node of sorted columns. ``visit`` lists the columns that are tried,
# in the order in which the first of equal splits wins.

from libc.stdint cimport int32_t, int64_t

from sklearn_textbook._contract._threads cimport ThreadTeam
from sklearn_textbook.tree.grow._buffers cimport Frame, NodeBuffer
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Entry, NodeView, Problem, Split

cdef void view_node(
    const Problem* problem, const Arena* arena, Worker* worker, const Frame* frame,
    NodeView* view
) noexcept nogil
cdef int64_t list_columns(
    const Problem* problem, const Arena* arena, Worker* worker, Frame* frame,
    Entry* entries
) noexcept nogil
cdef bint splits_pair(
    const Problem* problem, const Frame* frame, Worker* worker, Split* best
) noexcept nogil
cdef void find_split(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const NodeView* view, int64_t n_visit,
    Entry* entries, Split* best, Split* before
) noexcept nogil
cdef int64_t draw_split(
    const Problem* problem, Worker* worker, const NodeView* view, int64_t n_visit
) noexcept nogil
cdef bint must_be_gain_leaf(
    const Problem* problem, const double* sums, double weight, int64_t depth,
    bint is_divided
) noexcept nogil
cdef void mark_rows(
    const Children* children, const Entry* cells, int32_t* child_of_row
) noexcept nogil
cdef int send_missing_rows(
    const Problem* problem, Arena* arena, Worker* worker, const Frame* frame,
    Entry* entries, const Split* split
) noexcept nogil
cdef void drop_surrogates(NodeBuffer* buffer, int32_t node) noexcept nogil
cdef enum:
    NOT_SENT = -2  # mark of a row whose value is missing and that awaits its child
