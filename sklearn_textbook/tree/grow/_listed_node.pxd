from libc.stdint cimport int64_t

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._measure cimport Children
from sklearn_textbook.tree.grow._listed_rows cimport ListedTable
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._listed cimport Division
from sklearn_textbook.tree.split._types cimport NodeView, Problem

cdef void describe_rows(
    ListedTable* table, const Frame* frame, NodeView* view
) noexcept nogil
cdef void search_listed(
    const Problem* problem, ListedTable* table, Worker* worker, const Frame* frame,
    NodeView* view, int64_t n_visit, Division* division
) noexcept nogil
cdef bint is_pair(const Problem* problem, const Frame* frame) noexcept nogil
cdef bint divide_pair(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame,
    Division* division
) noexcept nogil
cdef void measure_division(
    const Problem* problem, const NodeView* view, const ListedTable* table,
    const Division* division, Children* children
) noexcept nogil
