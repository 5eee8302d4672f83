# cython: language_level=3
"""The step of every weight; :mod:`iterative_scaling` has the formulas.

The equation of a weight is solved by Newton's method in logarithms: the logarithm of
a sum of exponentials is convex, and its slope lies between the smallest and largest
of the sizes f#, so that no step overflows. Where these are all equal, the first step
is the closed form. The second derivative shortens the way: each sum has as many
exponentials as terms, but for the first.
"""

from libc.math cimport INFINITY, exp, fabs, fmax, fmin, log, sqrt
from libc.stdint cimport int32_t, int64_t

from sklearn_textbook._contract._threads cimport run_in_threads

cdef int MOST_STEPS = 200
cdef double PRECISION = 1e-13
# Largest third moment about the mean of numbers between 0 and 1.
cdef double THIRD_MOMENT = 1.0 / (6.0 * sqrt(3.0))
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


cdef struct Sum:
    # Logarithm of the sum, and its first and second derivative by the step.
    double logarithm
    double slope
    double bend


cdef struct Equations:
    # Features that threads share: arrays as the two functions below have them.
    const double* amounts
    const double* sizes
    int64_t n_sizes
    int64_t n_features
    # entries instead of buckets
    const int32_t* places
    const int64_t* starts
    const double* shares
    int64_t n_blocks
    const double* empirical
    const double* penalty
    const double* weights
    double* steps
    double floor


cdef inline double solve_feature(
    const Equations* work, int64_t j, Terms* terms
) noexcept nogil:
    return solve(
        terms, work.empirical[j], work.penalty[j], work.weights[j], work.floor
    )


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
    cdef Equations work
    if steps.shape[0] == 0:
        return
    work = Equations(
        &amounts[0, 0], &sizes[0], sizes.shape[0], steps.shape[0], NULL, NULL, NULL, 0,
        &empirical[0], &penalty[0], &weights[0], &steps[0], floor,
    )
    run_in_threads(n_threads, find_bucket_step, &work, steps.shape[0])


cdef void find_bucket_step(void* context, int64_t j, int thread) noexcept nogil:
    cdef const Equations* work = <Equations*> context
    cdef Terms terms
    terms.amounts = work.amounts + j
    terms.sizes = work.sizes
    terms.shares = NULL
    terms.places = NULL
    terms.n_terms = work.n_sizes
    terms.stride = work.n_features
    terms.size_stride = 1
    terms.offset = 0
    work.steps[j] = solve_feature(work, j, &terms)


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
    cdef Equations work
    if steps.shape[0] == 0:
        return
    work = Equations(
        &values[0], &sizes[0], 0, 0, &places[0], &starts[0], &shares[0], n_blocks,
        &empirical[0], &penalty[0], &weights[0], &steps[0], floor,
    )
    run_in_threads(n_threads, find_entry_step, &work, steps.shape[0])


cdef void find_entry_step(void* context, int64_t j, int thread) noexcept nogil:
    cdef const Equations* work = <Equations*> context
    cdef int64_t start = work.starts[j // work.n_blocks]
    cdef Terms terms
    terms.amounts = work.amounts + start
    terms.places = work.places + start
    terms.sizes = work.sizes
    terms.shares = work.shares
    terms.n_terms = work.starts[j // work.n_blocks + 1] - start
    terms.stride = 1
    terms.size_stride = work.n_blocks
    terms.offset = j % work.n_blocks
    work.steps[j] = solve_feature(work, j, &terms)


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


cdef Sum begin(Terms* terms) noexcept nogil:
    """Range of the sizes of terms that are not zero; the sum at step 0."""
    cdef int64_t i
    cdef double amount, size, total = 0.0, first = 0.0, second = 0.0
    terms.smallest = INFINITY
    terms.largest = 0.0
    for i in range(terms.n_terms):
        read_term(terms, i, &amount, &size)
        if amount > 0.0:
            terms.smallest = fmin(terms.smallest, size)
            terms.largest = fmax(terms.largest, size)
            total += amount
            amount *= size
            first += amount
            second += amount * size
    return finish(total, first, second, 0.0)


cdef Sum sum_terms(const Terms* terms, double step) noexcept nogil:
    """The sum at another step."""
    cdef int64_t i
    cdef double amount, size, total = 0.0, first = 0.0, second = 0.0
    cdef double shift = step * (terms.largest if step > 0.0 else terms.smallest)
    for i in range(terms.n_terms):
        read_term(terms, i, &amount, &size)
        if amount > 0.0:
            amount *= exp(step * size - shift)
            total += amount
            amount *= size
            first += amount
            second += amount * size
    return finish(total, first, second, shift)


cdef inline Sum finish(
    double total, double first, double second, double shift
) noexcept nogil:
    cdef Sum found
    found.logarithm = log(total) + shift
    found.slope = first / total
    found.bend = fmax(0.0, second / total - found.slope * found.slope)
    return found


cdef double solve(
    Terms* terms, double empirical, double penalty, double weight, double floor
) noexcept nogil:
    """Find the step with sum(a exp(step f#)) = empirical - penalty (weight + step)."""
    cdef double target = 0.0, step = 0.0
    cdef Sum found = begin(terms)
    if terms.largest == 0.0:  # the feature is nowhere, or impossible by now
        return 0.0
    if penalty > 0.0:
        if empirical - penalty * weight <= 0.0:  # a lower weight makes it positive
            step = (empirical - exp(found.logarithm)) / penalty - weight
            found = sum_terms(terms, step)
    elif empirical > 0.0:
        target = log(empirical)
    elif exp(found.logarithm) > floor:
        target = found.logarithm + log(SHRINKING)
    else:
        return 0.0
    return find_root(terms, step, target, empirical, penalty, weight, found)


cdef double find_root(
    const Terms* terms, double step, double target, double empirical, double penalty,
    double weight, Sum found,
) noexcept nogil:
    """Newton's method with the second derivative, where that is of use."""
    cdef double change, right, rest = INFINITY, difference, bend_of_rest = 0.0
    cdef int n_steps
    for n_steps in range(MOST_STEPS):
        if penalty > 0.0:
            right = empirical - penalty * (weight + step)
            if right <= 0.0:
                break
            target = log(right)
            rest = right / penalty  # how far it is to where the right side vanishes
            found.slope += 1.0 / rest
            found.bend += 1.0 / (rest * rest)
            bend_of_rest = 16.0 / (rest * rest * rest)  # the third one, half way
        difference = target - found.logarithm
        change = difference / found.slope
        if n_steps < MOST_STEPS // 2 and found.bend * difference > (
            -0.375 * found.slope * found.slope
        ):
            change = 2.0 * difference / (
                found.slope
                + sqrt(found.slope * found.slope + 2.0 * found.bend * difference)
            )
        if penalty > 0.0 and 2.0 * fabs(change) >= rest:
            if change >= rest:
                change = 0.5 * rest  # the logarithm ends at the edge
            step += change
        else:
            step += change
            if is_done(terms, change, step, found, bend_of_rest):
                break
        found = sum_terms(terms, step)
    return step


cdef inline bint is_done(
    const Terms* terms, double change, double step, Sum found, double third
) noexcept nogil:
    """Whether the error after a change is rounding.

    Second and third derivatives are moments of sizes about their mean, and these have
    bounds; ``third`` is what the other side adds.
    """
    cdef double width = terms.largest - terms.smallest
    cdef double precision = PRECISION * (fabs(step) + 1.0 / terms.largest)
    cdef double slope
    if fabs(change) <= precision:
        return True
    third += THIRD_MOMENT * width * width * width
    # The slope there is no smaller than this.
    slope = found.slope - (found.bend + third * fabs(change)) * fabs(change)
    if slope < 0.5 * found.slope:
        return False
    return third * fabs(change) ** 3 <= 6.0 * slope * precision
