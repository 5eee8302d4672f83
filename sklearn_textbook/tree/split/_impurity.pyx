"""Impurities of a set of rows from its class weights or its sums of y.

The *goodness* G of a set is chosen so that the decrease of weighted impurity of
a split is G(children) - G(node): the part of weight * impurity that does not add
up to a constant, with the sign turned round.
"""

from libc.math cimport INFINITY, log, log2

from sklearn_textbook.tree.split._types cimport (
    ENTROPY,
    ERROR,
    GINI,
    POISSON,
    Problem,
    int64_t,
)


cdef double goodness(
    const Problem* problem, const double* sums, double weight
) noexcept nogil:
    """Gini: sum v^2 / w; entropy: sum v log2 v - w log2 w; error: max v; squared
    error: s^2 / w; Poisson: s log(s / w). Mean over the outputs."""
    cdef:
        int64_t output, k
        double total = 0.0, part, value
    if weight <= 0.0:
        return 0.0
    for output in range(problem.n_outputs):
        part = 0.0
        for k in range(problem.output_start[output], problem.output_start[output + 1]):
            value = sums[k]
            if problem.criterion == GINI:
                part += value * value
            elif problem.criterion == ENTROPY:
                if value > 0.0:
                    part += value * log2(value)
            elif problem.criterion == ERROR:
                if value > part:
                    part = value
            elif problem.criterion == POISSON:
                # A child that predicts 0 has no finite deviance.
                if value <= 0.0:
                    return -INFINITY
                part += value * log(value / weight)
            else:
                part += value * value
        if problem.criterion == ENTROPY:
            part -= weight * log2(weight)
        elif problem.criterion != ERROR and problem.criterion != POISSON:
            part /= weight
        total += part
    return total / problem.n_outputs


cdef double class_impurity(
    const Problem* problem, const double* sums, double weight
) noexcept nogil:
    """Gini, entropy or error share of class weights; mean over the outputs."""
    cdef:
        int64_t output, k
        double total = 0.0, part, share, largest
    if weight <= 0.0:
        return 0.0
    for output in range(problem.n_outputs):
        part = 0.0
        largest = 0.0
        for k in range(problem.output_start[output], problem.output_start[output + 1]):
            share = sums[k] / weight
            if share > largest:
                largest = share
            if problem.criterion == GINI:
                part += share * share
            elif problem.criterion == ENTROPY and share > 0.0:
                part -= share * log2(share)
        if problem.criterion == GINI:
            part = 1.0 - part
        elif problem.criterion == ERROR:
            part = 1.0 - largest
        total += part
    return total / problem.n_outputs


cdef bint lacks_events(
    const Problem* problem, const double* left, const double* right
) noexcept nogil:
    """Poisson: whether one side's sum of y is 0 but for rounding, since sums of one
    side come from subtraction."""
    cdef:
        int64_t k
        double smallest
    if problem.criterion != POISSON:
        return False
    for k in range(problem.n_statistics):
        smallest = 1e-12 * (left[k] + right[k])
        if left[k] <= smallest or right[k] <= smallest:
            return True
    return False
