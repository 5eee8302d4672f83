from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._row_list cimport RowList
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._types cimport Problem

cdef bint is_row_small(
    const Problem* problem, const RowList* row_list, const Worker* worker,
    const Frame* frame
) noexcept nogil
cdef int grow_row_small(
    const Problem* problem, const RowList* row_list, Worker* worker, const Frame* root
) noexcept nogil
