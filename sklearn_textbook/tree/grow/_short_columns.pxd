from sklearn_textbook.tree.grow._buffers cimport NodeBuffer
from sklearn_textbook.tree.split._types cimport Problem

cdef read_short_columns(const Problem* problem, const NodeBuffer* buffer)
