"""Keeping the best test: what a candidate must exceed, and taking it."""

from libc.math cimport INFINITY

from sklearn_textbook.tree.split._types cimport (
    ERROR,
    MISSING_SURROGATE,
    NodeView,
    Problem,
    Split,
    int32_t,
    int64_t,
)


cdef double score_to_beat(
    const Problem* problem, const Split* best, double margin
) noexcept nogil:
    """What a candidate's score must exceed."""
    if best.column >= 0:
        return best.score + margin
    # As in rpart, a split judged by its present rows alone must gain something. So
    # must one judged by its errors: most save none, and trees of such splits would
    # peel off row after row.
    if problem.missing_mode == MISSING_SURROGATE or problem.criterion == ERROR:
        return margin
    return -INFINITY


cdef void take(
    Split* best, double score, int64_t position, int32_t missing_child
) noexcept nogil:
    best.score = score
    best.position = position
    best.missing_child = missing_child
    best.alone = False
    best.improved = True
    # The caller knows the column; any number marks the split as found.
    best.column = 0


cdef bint decreases(
    const Problem* problem, const NodeView* node, double score
) noexcept nogil:
    """Whether a decrease of weight * impurity is more than rounding, and as much as
    min_impurity_decrease asks for."""
    return score > node.margin and (
        score / problem.total_weight + 2.2e-16 >= problem.min_impurity_decrease
    )


cdef int64_t block_length(int64_t n) noexcept nogil:
    """Rows that are tried together; more in large nodes, where the score moves
    little from row to row."""
    if n >= 32768:
        return 128
    return 64 if n >= 4096 else 32 if n >= 1024 else 16
