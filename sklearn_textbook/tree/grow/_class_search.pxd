from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._listed_rows cimport ListedTable
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._listed cimport Division
from sklearn_textbook.tree.split._types cimport NodeView, Problem

cdef bint counts_classes(const ListedTable* table, const Frame* frame) noexcept nogil
cdef void search_classes(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame,
    const NodeView* view, Division* division
) noexcept nogil
