from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.split._types cimport NodeView, Problem, Split

cdef enum:
    BLOCKED_ROWS = 256  # rows from which on whole blocks are tried against the best

cdef double score_to_beat(
    const Problem* problem, const Split* best, double margin
) noexcept nogil
cdef void take(
    Split* best, double score, int64_t position, int32_t missing_child
) noexcept nogil
cdef bint decreases(
    const Problem* problem, const NodeView* node, double score
) noexcept nogil
cdef int64_t block_length(int64_t n) noexcept nogil
