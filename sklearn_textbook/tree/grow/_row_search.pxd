from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._row_list cimport RowList
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._counted cimport Contest
from sklearn_textbook.tree.split._types cimport NodeView, Problem

cdef void find_division(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame,
    const NodeView* view, Contest* contest
) noexcept nogil
