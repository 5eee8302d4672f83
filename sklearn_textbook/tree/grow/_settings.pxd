# The struct of rules that all kernels read, and the arrays that it points into, which
# live as long as the object.

from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.grow._buffers cimport Frame, NodeBuffer
from sklearn_textbook.tree.split._types cimport Codes, Problem

cdef class Settings:
    cdef:
        Problem problem
        Codes codes  # of the nominal columns that are not sorted
        readonly object table
        readonly object target
        const int32_t* columns  # their numbers, from 0 on
        list kept  # arrays that are pointed to

    cdef const void* keep(self, array, dtype) except? NULL
    cdef int read_columns(self, rules) except -1
    cdef int read_rules(self, rules) except -1
    cdef int read_gain(self, gain, weight) except -1

cdef int write_root(
    const Problem* problem, int64_t n_rows, root, NodeBuffer* buffer, Frame* frame
) except -1
