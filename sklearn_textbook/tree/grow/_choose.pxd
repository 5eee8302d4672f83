from libc.stdint cimport int64_t

from sklearn_textbook._contract._threads cimport ThreadTeam
from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Entry, NodeView, Problem, Split

cdef void choose_by_gain(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const NodeView* view, int64_t n_visit,
    Entry* entries, Split* best
) noexcept nogil
cdef bint must_be_gain_leaf(
    const Problem* problem, const double* sums, double weight, int64_t depth,
    bint is_divided
) noexcept nogil
