from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Entry, NodeView, Problem, Split

cdef enum:
    IN_ALL = -3  # child of a row that goes into several

cdef int divide_coded_rows(
    const Problem* problem, const Arena* arena, Worker* worker, const NodeView* view,
    const Entry* rows_of_node, const Split* split
) noexcept nogil
