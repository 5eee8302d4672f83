# What the best split of a node must fulfil, and keeping it.
# A score is the decrease of weight * impurity. Candidates are tried in a fixed order,
# and one replaces the best so far only if its score is larger by more than the margin,
# which covers rounding: so the first of equal candidates wins in every search of the
# same node.

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from sklearn_textbook.tree.split._types cimport (
    ERROR,
    MISSING_SURROGATE,
    POISSON,
    NodeView,
    Problem,
    Split,
)

cdef inline void clear_split(Split* split) noexcept nogil:
    # No split found yet. Only ``column`` tells, since a first split may have any score.
    memset(split, 0, sizeof(Split))
    split.column = -1
    split.score = -1.0
    split.missing_child = -1

cdef inline double score_to_beat(
    const Problem* problem, const Split* best, double margin
) noexcept nogil:
    """What a candidate's score must exceed."""
    if best.column >= 0:
        return best.score + margin
    # As in rpart, a split scored by its present rows only must have a positive gain. So
    # must a split scored by its errors: most save none, and trees of such splits would
    # separate single rows.
    if problem.missing_mode == MISSING_SURROGATE or problem.criterion == ERROR:
        return margin
    return -INFINITY

cdef inline void take(
    Split* best, double score, int64_t position, int32_t missing_child
) noexcept nogil:
    # ``position``: present rows in child 0, or -1 where levels are divided.
    best.score = best.decrease = score
    best.position = position
    best.missing_child = missing_child
    best.splits_missing = False
    best.improved = True
    # The caller knows the column; any number marks the split as found.
    best.column = 0

cdef inline void take_missing_alone(
    Split* best, double score, int64_t n_present
) noexcept nogil:
    """Take the test that parts rows with a value from those without."""
    take(best, score, n_present, 1)
    best.splits_missing = True
    best.n_children = 2
    # All values are below, so that predictions need no case of their own.
    best.threshold = INFINITY

cdef inline bint leaves_enough(
    const Problem* problem, int64_t n_left, int64_t n_right, double left_weight,
    double right_weight
) noexcept nogil:
    # The limits of a leaf, for both children; only rows of weight > 0 are counted.
    return (
        n_left >= problem.min_samples_leaf
        and n_right >= problem.min_samples_leaf
        and left_weight >= problem.min_weight_leaf
        and right_weight >= problem.min_weight_leaf
    )

cdef inline bint limits_children(const Problem* problem) noexcept nogil:
    """Whether some divisions of present rows are not allowed."""
    return (
        problem.min_samples_leaf > 1 or problem.min_weight_leaf > 0.0
        or problem.criterion == POISSON
    )

cdef inline bint decreases(
    const Problem* problem, const NodeView* node, double score
) noexcept nogil:
    """Whether a decrease of weight * impurity is more than rounding, and as much as
    min_impurity_decrease requires."""
    return score > node.margin and (
        score / problem.total_weight + 2.2e-16 >= problem.min_impurity_decrease
    )

cdef inline int64_t block_length(int64_t n) noexcept nogil:
    """Rows that are tried together; more in large nodes, where the score moves
    little from row to row."""
    if n >= 32768:
        return 128
    return 64 if n >= 4096 else 32 if n >= 1024 else 16

cdef inline bint is_above(double value, double limit) noexcept nogil:
    # Above by more than rounding.
    cdef double size = fabs(value) if fabs(value) > fabs(limit) else fabs(limit)
    return value > limit and value - limit > 1e-12 * size

cdef inline bint breaks_constraint(
    double first, double second, double lower, double upper, int32_t direction
) noexcept nogil:
    # Whether two child values leave the node's range or run against the sign of
    # their column. Columns without a constraint, and a third child of missing values,
    # are free; the values of the nodes are clipped instead.
    if direction == 0:
        return False
    if is_above(lower, first) or is_above(lower, second):
        return True
    if is_above(first, upper) or is_above(second, upper):
        return True
    return is_above(first, second) if direction > 0 else is_above(second, first)

cdef inline void narrow_bounds(
    double first, double second, int32_t direction, int64_t child, double* lower,
    double* upper
) noexcept nogil:
    # The range of values allowed in a child of a node with this range, if the first
    # two children have these values.
    cdef double middle = first / 2 + second / 2
    if direction == 0 or child > 1:
        return
    # Each child may have values up to the middle between the two, or from there on, so
    # that no split further down can make the children overlap.
    middle = min(max(middle, lower[0]), upper[0])
    if (child == 0) == (direction > 0):
        upper[0] = middle
    else:
        lower[0] = middle
