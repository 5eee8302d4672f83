from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._listed_rows cimport ListedTable
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._types cimport Problem

cdef bint is_class_small(
    const Problem* problem, const ListedTable* table, const Worker* worker,
    const Frame* frame
) noexcept nogil
cdef int grow_class_small(
    const Problem* problem, const ListedTable* table, Worker* worker, const Frame* root
) noexcept nogil
