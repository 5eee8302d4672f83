# cython: language_level=3
"""The step of every weight; :mod:`iterative_scaling` has the formulas.

The equation of a weight is solved by Newton's method in logarithms: the logarithm of
a sum of exponentials is convex, and its slope lies between the smallest and largest
of the sizes f#, so that no step overflows. Where these are all equal, the first step
is the closed form.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, exp, fabs, fmax, fmin, log
from libc.stdint cimport int32_t, int64_t

cdef int MOST_STEPS = 200
cdef double PRECISION = 1e-13
# A weight that belongs at minus infinity: its expectation falls to this part, until it
# is at most what the caller calls floor.
cdef double SHRINKING = 0.1


cdef struct Terms:
    # a exp(delta f#), summed. In buckets: amounts are a row per size. By entries:
    # amounts are entries of a column, times the share of their place.
    const double* amounts
    const double* sizes
    const double* shares  # NULL: buckets
    const int32_t* places
    int64_t n_terms
    int64_t stride
    int64_t size_stride
    int64_t offset
    double smallest
    double largest


def find_bucket_steps(
    const double[:, ::1] amounts,
    const double[::1] sizes,
    const double[::1] empirical,
    const double[::1] penalty,
    const double[::1] weights,
    double[::1] steps,
    double floor,
    int n_threads,
):
    """Fill in the steps from sums over all terms of each size."""
    cdef int64_t j, n_features = steps.shape[0]
    for j in prange(n_features, nogil=True, num_threads=n_threads, schedule="static"):
        steps[j] = find_bucket_step(
            &amounts[0, j], &sizes[0], sizes.shape[0], n_features, empirical[j],
            penalty[j], weights[j], floor,
        )


cdef double find_bucket_step(
    const double* amounts, const double* sizes, int64_t n_sizes, int64_t n_features,
    double empirical, double penalty, double weight, double floor,
) noexcept nogil:
    cdef Terms terms
    terms.amounts = amounts
    terms.sizes = sizes
    terms.shares = NULL
    terms.places = NULL
    terms.n_terms = n_sizes
    terms.stride = n_features
    terms.size_stride = 1
    terms.offset = 0
    return solve(&terms, empirical, penalty, weight, floor)


def find_entry_steps(
    const double[::1] values,
    const int32_t[::1] places,
    const int64_t[::1] starts,
    const double[::1] sizes,
    const double[::1] shares,
    int64_t n_blocks,
    const double[::1] empirical,
    const double[::1] penalty,
    const double[::1] weights,
    double[::1] steps,
    double floor,
    int n_threads,
):
    """Fill in the steps from the entries of each column, with a size per row.

    Column j // n_blocks has feature j; the share of a row for it is entry
    ``row * n_blocks + j % n_blocks``.
    """
    cdef int64_t j, n_features = steps.shape[0]
    for j in prange(
        n_features, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=1
    ):
        steps[j] = find_entry_step(
            &values[0], &places[0], &starts[j // n_blocks], &sizes[0], &shares[0],
            n_blocks, j % n_blocks, empirical[j], penalty[j], weights[j], floor,
        )


cdef double find_entry_step(
    const double* values, const int32_t* places, const int64_t* starts,
    const double* sizes, const double* shares, int64_t n_blocks, int64_t block,
    double empirical, double penalty, double weight, double floor,
) noexcept nogil:
    cdef Terms terms
    terms.amounts = values + starts[0]
    terms.places = places + starts[0]
    terms.sizes = sizes
    terms.shares = shares
    terms.n_terms = starts[1] - starts[0]
    terms.stride = 1
    terms.size_stride = n_blocks
    terms.offset = block
    return solve(&terms, empirical, penalty, weight, floor)


cdef inline void read_term(
    const Terms* terms, int64_t i, double* amount, double* size
) noexcept nogil:
    cdef int64_t place
    if terms.shares == NULL:
        amount[0] = terms.amounts[i * terms.stride]
        size[0] = terms.sizes[i]
    else:
        place = terms.places[i]
        amount[0] = terms.amounts[i] * (
            terms.shares[place * terms.size_stride + terms.offset]
        )
        size[0] = terms.sizes[place]


cdef double begin(Terms* terms, double* slope) noexcept nogil:
    """Range of the sizes of terms that are not zero; logarithm and slope at step 0."""
    cdef int64_t i
    cdef double amount, size, total = 0.0, moment = 0.0
    terms.smallest = INFINITY
    terms.largest = 0.0
    for i in range(terms.n_terms):
        read_term(terms, i, &amount, &size)
        if amount > 0.0:
            terms.smallest = fmin(terms.smallest, size)
            terms.largest = fmax(terms.largest, size)
            total += amount
            moment += amount * size
    slope[0] = moment / total
    return log(total)


cdef double sum_terms(const Terms* terms, double step, double* slope) noexcept nogil:
    """Logarithm of the sum, and its slope."""
    cdef int64_t i
    cdef double amount, size, term, total = 0.0, moment = 0.0
    cdef double shift = step * (terms.largest if step > 0.0 else terms.smallest)
    for i in range(terms.n_terms):
        read_term(terms, i, &amount, &size)
        if amount > 0.0:
            term = amount * exp(step * size - shift)
            total += term
            moment += term * size
    slope[0] = moment / total
    return log(total) + shift


cdef double solve(
    Terms* terms, double empirical, double penalty, double weight, double floor
) noexcept nogil:
    """Find the step with sum(a exp(step f#)) = empirical - penalty (weight + step)."""
    cdef double slope, target, edge, step
    cdef double logarithm = begin(terms, &slope)
    if terms.largest == 0.0:  # the feature is nowhere, or impossible by now
        return 0.0
    if penalty > 0.0:
        edge = empirical / penalty - weight  # where the right-hand side vanishes
        step = 0.0
        if edge <= 0.0:  # the right-hand side needs a lower weight to be positive
            step = edge - exp(logarithm) / penalty
            logarithm = sum_terms(terms, step, &slope)
        return solve_penalized(terms, step, edge, penalty, logarithm, slope)
    if empirical > 0.0:
        target = log(empirical)
    elif exp(logarithm) > floor:
        target = logarithm + log(SHRINKING)
    else:
        return 0.0
    return solve_plain(terms, target, logarithm, slope)


cdef inline bint is_done(
    const Terms* terms, double change, double step, double slope, double bend
) noexcept nogil:
    """Whether the error after a change is rounding.

    The second derivative is at most the variance of sizes, and that has a bound;
    ``bend`` is what the other side adds.
    """
    cdef double width = terms.largest - terms.smallest
    cdef double precision = PRECISION * (fabs(step) + 1.0 / terms.largest)
    if fabs(change) <= precision:
        return True
    bend = (bend + 0.25 * width * width) * fabs(change)
    return slope > 2.0 * bend and bend * fabs(change) / slope <= precision


cdef double solve_plain(
    const Terms* terms, double target, double logarithm, double slope
) noexcept nogil:
    cdef double step = 0.0, change
    cdef int _step
    for _step in range(MOST_STEPS):
        change = (target - logarithm) / slope
        step += change
        if is_done(terms, change, step, slope, 0.0):
            break
        logarithm = sum_terms(terms, step, &slope)
    return step


cdef double solve_penalized(
    const Terms* terms, double step, double edge, double penalty, double logarithm,
    double slope,
) noexcept nogil:
    cdef double change, rest
    cdef int _step
    for _step in range(MOST_STEPS):
        rest = edge - step
        if rest <= 0.0:
            break
        slope += 1.0 / rest
        change = (log(penalty * rest) - logarithm) / slope
        if change >= rest:
            change = 0.5 * rest  # the logarithm ends at the edge
        step += change
        if 2.0 * fabs(change) < rest and is_done(
            terms, change, step, slope, 4.0 / (rest * rest)
        ):
            break
        logarithm = sum_terms(terms, step, &slope)
    return step
