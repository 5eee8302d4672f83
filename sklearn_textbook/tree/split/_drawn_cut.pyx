"""A threshold drawn at random, and what it divides the rows of a node into.

Nothing is sorted: the threshold needs the smallest and the largest value only, and one
pass counts the rows below it. Threshold and comparison are those of
``try_random_threshold``; sums of whole numbers are equal in any order, so for classes
the score is equal in every bit. For values it is equal but for rounding, which the
node's margin covers.
"""

from libc.string cimport memcpy, memset

from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._counted cimport ones_in
from sklearn_textbook.tree.split._impurity cimport goodness
from sklearn_textbook.tree.split._listed cimport (
    LISTED_TWO_CLASSES,
    LISTED_VALUES,
    class_of,
    listed_rows,
    listed_weight,
)
from sklearn_textbook.tree.split._random cimport child_state, random_unit
from sklearn_textbook.tree.split._types cimport GINI, uint32_t


# Values, or codes as whole numbers with a sign, which vector units compare.
ctypedef fused Cell:
    double
    int32_t


cdef inline int64_t is_above(Cell cell, Cell last) noexcept nogil:
    """All bits of a cell above the last one, or none. Compilers give loops over signs
    of differences to vector units, but not those that compare numbers of 64 bits."""
    cdef:
        Cell difference = last - cell
        int64_t bits
    if Cell is double:
        memcpy(&bits, &difference, sizeof(double))
        return bits >> 63
    else:
        return <int64_t>(difference >> 31)


cdef uint64_t count_left(
    const ListedRows* listed, const Cell* cells, Cell last
) noexcept nogil:
    """Counts of the rows with cells up to the last."""
    cdef:
        const uint64_t* counts = listed.counts
        int64_t i
        uint64_t left = 0
    for i in range(listed.n):
        left += counts[i] & ~<uint64_t>is_above(cells[i], last)
    return left


cdef uint64_t count_and_sum_left(
    const ListedRows* listed, const Cell* cells, Cell last, int64_t* sum
) noexcept nogil:
    """Counts and residuals of the rows with cells up to the last."""
    cdef:
        const uint64_t* counts = listed.counts
        const int64_t* residuals = listed.residuals
        int64_t i, is_left, residual = 0
        uint64_t left = 0
    for i in range(listed.n):
        is_left = ~is_above(cells[i], last)
        left += counts[i] & <uint64_t>is_left
        residual += residuals[i] & is_left
    sum[0] = residual
    return left


cdef void sum_left_classes(
    const ListedRows* listed, const Cell* cells, Cell last, double* sums,
    int64_t n_classes
) noexcept nogil:
    """Class weights of the rows with cells up to the last."""
    cdef:
        int64_t i
        uint64_t row
    memset(sums, 0, n_classes * sizeof(double))
    for i in range(listed.n):
        row = listed.rows[i]
        sums[class_of(row)] += <double>(
            <int64_t>(row >> 48) * <int64_t>(cells[i] <= last)
        )


cdef uint32_t find_cut(
    const double* values, const ListedColumn* column, double threshold
) noexcept nogil:
    """The last code whose value is not above the threshold, which lies between the
    values of the smallest and the largest code."""
    cdef uint32_t low = column.smallest, high = column.largest, middle
    while high - low > 1:
        middle = low + (high - low) // 2
        if values[middle] <= threshold:
            low = middle
        else:
            high = middle
    return low


cdef void count_child(
    const Problem* problem, const ListedRows* listed, const Cell* cells, Cell last,
    double* left, Division* cut
) noexcept nogil:
    """What child 0 holds: counts, and residuals or class weights."""
    cut.sum = 0
    if listed.kind == LISTED_VALUES:
        cut.counts = count_and_sum_left(listed, cells, last, &cut.sum)
        left[0] = <double>cut.sum * listed.unit
        return
    cut.counts = count_left(listed, cells, last)
    if listed.kind == LISTED_TWO_CLASSES:
        left[1] = <double>ones_in(cut.counts)
        left[0] = <double>listed_weight(listed.kind, cut.counts) - left[1]
    else:
        sum_left_classes(listed, cells, last, left, problem.n_statistics)


cdef inline double goodness_of(
    const Problem* problem, const ListedRows* listed, const double* sums, double weight
) noexcept nogil:
    """``goodness``, but at hand for what small nodes ask for most; the same bits."""
    if listed.kind == LISTED_VALUES:
        return sums[0] * sums[0] / weight
    if listed.kind == LISTED_TWO_CLASSES and problem.criterion == GINI:
        return (sums[0] * sums[0] + sums[1] * sums[1]) / weight
    return goodness(problem, sums, weight)


cdef double score_cut(
    const Problem* problem, const NodeView* view, Scratch* scratch,
    const ListedRows* listed, const Division* cut
) noexcept nogil:
    """Decrease of weighted impurity, from what child 0 holds."""
    cdef:
        double* left = scratch.left
        double* right = scratch.right
        double weight = <double>listed_weight(listed.kind, cut.counts), score = 0.0
        int64_t k
    if problem.is_classifier:
        score = -view.totals.goodness
        for k in range(problem.n_statistics):
            right[k] = view.totals.sums[k] - left[k]
    else:
        right[0] = <double>(listed.total - cut.sum) * listed.unit
    score += goodness_of(problem, listed, left, weight)
    score += goodness_of(problem, listed, right, view.totals.weight - weight)
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


cdef double draw_threshold(
    uint64_t node_state, const DrawnColumn* column, int64_t number
) noexcept nogil:
    """A threshold drawn evenly between the smallest and the largest value of a node."""
    cdef:
        double smallest = column.smallest, largest = column.largest
        uint64_t random_state = child_state(node_state, ~number)
        double threshold = smallest + random_unit(&random_state) * (largest - smallest)
    return smallest if threshold >= largest else threshold


cdef bint try_drawn_cut(
    const Problem* problem, const NodeView* view, Scratch* scratch,
    const ListedRows* listed, const DrawnColumn* column, int32_t number,
    Division* division
) noexcept nogil:
    """Draw a threshold of one column; whether it divides the rows better than
    ``division``, which it then replaces."""
    cdef:
        double threshold = draw_threshold(view.random_state, column, number)
        double score
        Division cut
    cut.cut = 0
    if column.values != NULL:
        count_child(problem, listed, column.values, threshold, scratch.left, &cut)
    else:
        cut.cut = find_cut(
            problem.values + number * problem.values_stride, &column.coded, threshold
        )
        count_child(
            problem, listed, <const int32_t*>column.coded.codes, <int32_t>cut.cut,
            scratch.left, &cut
        )
    score = score_cut(problem, view, scratch, listed, &cut)
    if not leaves_enough(problem, view, listed, cut.counts):
        return False
    if not score > score_to_beat(problem, &division.best, view.margin):
        return False
    take(&division.best, score, listed_rows(listed.kind, cut.counts), -1)
    division.best.column = number
    division.best.kind = problem.kind[number]
    division.best.threshold = threshold
    division.values = column.values
    division.column = &column.coded
    division.cut = cut.cut
    division.counts = cut.counts
    division.sum = cut.sum
    return True
