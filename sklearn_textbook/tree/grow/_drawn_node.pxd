from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._drawn_rows cimport DrawnTable
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._types cimport Problem

cdef int grow_drawn(
    const Problem* problem, DrawnTable* table, Worker* worker, const Frame* root
) noexcept nogil
