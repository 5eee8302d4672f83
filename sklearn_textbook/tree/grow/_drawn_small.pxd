from sklearn_textbook.tree.grow._drawn_rows cimport DrawnNode, DrawnTable
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._types cimport Problem

cdef bint is_small(
    const Problem* problem, const DrawnTable* table, const DrawnNode* node
) noexcept nogil
cdef int wait_small(
    const Problem* problem, DrawnTable* table, Worker* worker, const DrawnNode* node
) noexcept nogil
cdef int finish_small(
    const Problem* problem, DrawnTable* table, Worker* worker
) noexcept nogil
