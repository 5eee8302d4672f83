# Subtrees of up to 64 samples of a list, which are grown without the loop of
# _grower.pyx. A few of them wait in a ring while their samples are prefetched.

from libc.stdint cimport int64_t

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._column_sampler cimport COLUMN_WORDS, ColumnSet
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._samples cimport SampleList
from sklearn_textbook.tree.split._types cimport Problem

cdef enum:
    MAX_WAITING = 4

# The root of a small subtree, which waits while its samples come from memory.
cdef struct SmallRoot:
    Frame frame
    ColumnSet active

cdef struct SmallRoots:
    int64_t n_met
    int64_t n_grown
    SmallRoot[MAX_WAITING] waiting

cdef bint may_be_small(
    const Problem* problem, const SampleList* samples
) noexcept nogil
cdef bint is_small(
    const Problem* problem, const SampleList* samples, const Worker* worker,
    const Frame* frame
) noexcept nogil
cdef int wait_small(
    const Problem* problem, const SampleList* samples, Worker* worker,
    const Frame* frame, SmallRoots* roots
) noexcept nogil
cdef int finish_small(
    const Problem* problem, const SampleList* samples, Worker* worker,
    SmallRoots* roots
) noexcept nogil
