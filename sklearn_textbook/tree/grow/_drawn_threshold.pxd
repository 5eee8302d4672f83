# A threshold drawn at random, and what a division by it must be and is worth.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from sklearn_textbook.tree.split._criterion cimport goodness
from sklearn_textbook.tree.split._random cimport child_state, random_unit
from sklearn_textbook.tree.split._types cimport Problem, Split

cdef inline void start_best(Split* best) noexcept nogil:
    memset(best, 0, sizeof(Split))
    best.column = -1
    best.score = -1.0
    best.missing_child = -1
    best.n_children = 2

cdef inline double draw_threshold(
    uint64_t node_state, double smallest, double largest, int64_t number
) noexcept nogil:
    # Drawn evenly between the smallest and the largest value of a node.
    cdef:
        uint64_t random_state = child_state(node_state, ~number)
        double threshold = smallest + random_unit(&random_state) * (largest - smallest)
    # Not -0, which may stand for 0 in some rows.
    return smallest + 0.0 if threshold >= largest else threshold

cdef inline bint leaves_enough(
    const Problem* problem, int64_t n, int64_t n_left, double total, double weight
) noexcept nogil:
    # Whether both sides have the rows and the weight that they must have.
    return (
        problem.min_samples_leaf <= n_left <= n - problem.min_samples_leaf
        and problem.min_weight_leaf <= weight
        and problem.min_weight_leaf <= total - weight
    )

cdef inline double goodness_of(
    const Problem* problem, bint is_binary_gini, const double* sums, double weight
) noexcept nogil:
    # ``goodness``, but at hand for what is asked for most; the same bits.
    if is_binary_gini:
        return (sums[0] * sums[0] + sums[1] * sums[1]) / weight
    return goodness(problem, sums, weight)
