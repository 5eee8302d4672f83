from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._row_list cimport RowList
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._counted cimport Contest
from sklearn_textbook.tree.split._types cimport NodeView, Problem, uint32_t

cdef void find_division(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame,
    const NodeView* view, Contest* contest
) noexcept nogil
cdef void divide_counted(
    RowList* row_list, const Frame* frame, const Contest* contest, bint moves,
    uint32_t* below, uint32_t* above
) noexcept nogil
