from libc.stdint cimport int64_t

from sklearn_textbook.tree.grow._buffers cimport Frame, NodeBuffer
from sklearn_textbook.tree.split._types cimport Codes, Problem, Rows

cdef int fill_problem(Problem* problem, dict settings) except -1
cdef int fill_codes(Problem* problem, Codes* codes, dict settings) except -1
cdef int write_root(
    const Problem* problem, const Rows* rows, int64_t n_rows, dict settings,
    NodeBuffer* buffer, Frame* frame
) except -1
