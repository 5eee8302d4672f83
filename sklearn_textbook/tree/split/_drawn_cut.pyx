"""A threshold drawn at random, and what it divides the rows of a node into.

Nothing is sorted: the threshold needs the smallest and the largest value only, and one
pass counts the rows below it. Threshold and comparison are those of
``try_random_threshold``; sums of whole numbers are equal in any order, so for classes
the score is equal in every bit. For values it is equal but for rounding, which the
node's margin covers.
"""

from libc.string cimport memset

from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._counted cimport ones_in
from sklearn_textbook.tree.split._impurity cimport goodness
from sklearn_textbook.tree.split._listed cimport (
    LISTED_CLASSES,
    LISTED_TWO_CLASSES,
    class_of,
    listed_rows,
    listed_weight,
)
from sklearn_textbook.tree.split._random cimport child_state, random_unit
from sklearn_textbook.tree.split._types cimport int64_t, uint64_t


cdef uint64_t count_left(
    const ListedRows* listed, const double* values, double threshold
) noexcept nogil:
    """Counts of the rows with values up to the threshold."""
    cdef:
        const uint64_t* counts = listed.counts
        int64_t i
        uint64_t left = 0
    for i in range(listed.n):
        left += counts[i] if values[i] <= threshold else <uint64_t>0
    return left


cdef int64_t sum_left(
    const ListedRows* listed, const double* values, double threshold
) noexcept nogil:
    """Residuals of the rows with values up to the threshold."""
    cdef:
        const int64_t* residuals = listed.residuals
        int64_t i, left = 0
    for i in range(listed.n):
        left += residuals[i] if values[i] <= threshold else <int64_t>0
    return left


cdef void sum_left_classes(
    const ListedRows* listed, const double* values, double threshold, double* sums,
    int64_t n_classes
) noexcept nogil:
    """Class weights of the rows with values up to the threshold."""
    cdef:
        int64_t i
        uint64_t row
    memset(sums, 0, n_classes * sizeof(double))
    for i in range(listed.n):
        row = listed.rows[i]
        # No branch: whether a row is on the left is hard to foretell.
        sums[class_of(row)] += <double>(
            <int64_t>(row >> 48) * <int64_t>(values[i] <= threshold)
        )


cdef double score_cut(
    const Problem* problem, const NodeView* view, Scratch* scratch,
    const ListedRows* listed, const double* values, double threshold, Division* cut
) noexcept nogil:
    """Decrease of weighted impurity; also counts child 0."""
    cdef:
        double* left = scratch.left
        double* right = scratch.right
        double weight, other_weight, score = -view.totals.goodness
        int64_t k
    cut.counts = count_left(listed, values, threshold)
    weight = <double>listed_weight(listed.kind, cut.counts)
    other_weight = view.totals.weight - weight
    if listed.kind == LISTED_TWO_CLASSES:
        left[1] = <double>ones_in(cut.counts)
        left[0] = weight - left[1]
    elif listed.kind == LISTED_CLASSES:
        sum_left_classes(listed, values, threshold, left, problem.n_statistics)
    else:
        cut.sum = sum_left(listed, values, threshold)
        left[0] = <double>cut.sum * listed.unit
        right[0] = <double>(listed.total - cut.sum) * listed.unit
        score = 0.0
    if problem.is_classifier:
        for k in range(problem.n_statistics):
            right[k] = view.totals.sums[k] - left[k]
    score += goodness(problem, left, weight)
    score += goodness(problem, right, other_weight)
    return score


cdef bint leaves_enough(
    const Problem* problem, const NodeView* view, const ListedRows* listed,
    uint64_t counts
) noexcept nogil:
    """Whether both sides have the rows and the weight that they must have."""
    cdef:
        int64_t n_left = listed_rows(listed.kind, counts)
        double weight = <double>listed_weight(listed.kind, counts)
    return (
        problem.min_samples_leaf <= n_left <= listed.n - problem.min_samples_leaf
        and problem.min_weight_leaf <= weight
        and problem.min_weight_leaf <= view.totals.weight - weight
    )


cdef bint try_drawn_cut(
    const Problem* problem, const NodeView* view, Scratch* scratch,
    const ListedRows* listed, const ValuedColumn* column, int32_t number,
    Division* division
) noexcept nogil:
    """Draw a threshold of one column; whether it divides the rows better than
    ``division``, which it then replaces."""
    cdef:
        double smallest = column.smallest, largest = column.largest
        uint64_t random_state = child_state(view.random_state, ~<int64_t>number)
        double threshold = smallest + random_unit(&random_state) * (largest - smallest)
        double score
        Division cut
    if threshold >= largest:
        threshold = smallest
    cut.sum = 0
    score = score_cut(
        problem, view, scratch, listed, column.values, threshold, &cut
    )
    if not leaves_enough(problem, view, listed, cut.counts):
        return False
    if not score > score_to_beat(problem, &division.best, view.margin):
        return False
    take(&division.best, score, listed_rows(listed.kind, cut.counts), -1)
    division.best.column = number
    division.best.kind = problem.kind[number]
    division.best.threshold = threshold
    division.values = column.values
    division.counts = cut.counts
    division.sum = cut.sum
    return True
