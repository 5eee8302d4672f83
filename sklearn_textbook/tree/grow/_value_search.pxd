from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._listed_rows cimport ListedTable
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._listed cimport Division
from sklearn_textbook.tree.split._types cimport NodeView, Problem

cdef bint counts_values(
    const Problem* problem, const ListedTable* table, const Frame* frame
) noexcept nogil
cdef void search_values(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame,
    NodeView* view, Division* division
) noexcept nogil
