# The step of one weight: header-only; iterative_scaling.py has the formulas.
#
# The equation of a weight is solved by Newton's method in logarithms: the logarithm of
# a sum of exponentials is convex, and its slope lies between the smallest and largest
# of the sizes f#, so that no step overflows. Where these are all equal, the first step
# is the closed form. The second derivative shortens the way: each sum has as many
# exponentials as terms, but for the first.

from libc.math cimport INFINITY, exp, fabs, fmax, fmin, log, sqrt
from libc.stdint cimport int32_t, int64_t

cdef enum:
    MAX_STEPS = 200

cdef extern from *:
    const double PRECISION "1e-13"
    # Largest third moment about the mean of numbers between 0 and 1.
    const double THIRD_MOMENT "(1.0 / (6.0 * sqrt(3.0)))"
    # A weight that belongs at minus infinity: its expectation falls to this part, until
    # it is at most what the caller calls floor.
    const double SHRINKING "0.1"


cdef struct Terms:
    # a exp(delta f#), summed. In buckets: amounts are a row per size. By entries:
    # amounts are entries of a column, times the fraction of their place.
    const double* amounts
    const double* sizes
    const double* fractions  # NULL: buckets
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


cdef inline void read_term(
    const Terms* terms, int64_t i, double* amount, double* size
) noexcept nogil:
    """The amount a and the size f# of a term."""
    cdef int64_t place
    if terms.fractions == NULL:
        amount[0] = terms.amounts[i * terms.stride]
        size[0] = terms.sizes[i]
    else:
        place = terms.places[i]
        amount[0] = terms.amounts[i] * (
            terms.fractions[place * terms.size_stride + terms.offset]
        )
        size[0] = terms.sizes[place]


cdef inline Sum begin(Terms* terms) noexcept nogil:
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


cdef inline Sum sum_terms(const Terms* terms, double step) noexcept nogil:
    """The sum at another step."""
    cdef int64_t i
    cdef double amount, size, total = 0.0, first = 0.0, second = 0.0
    # The largest exponent: no term overflows.
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
    """Logarithm of the sum and its derivatives: mean and variance of the sizes,
    weighted by the terms.

    total, first, second: sums of the terms, times the size, times its square; all of
    them divided by e^shift, which only the logarithm notices.
    """
    cdef Sum found
    found.logarithm = log(total) + shift
    found.slope = first / total
    found.bend = fmax(0.0, second / total - found.slope * found.slope)
    return found


cdef inline double solve(
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


cdef inline double find_root(
    const Terms* terms, double step, double target, double empirical, double penalty,
    double weight, Sum found,
) noexcept nogil:
    """Newton's method with the second derivative, where that is of use."""
    cdef double change, right, rest = INFINITY, difference, bend_of_rest = 0.0
    cdef int n_steps
    for n_steps in range(MAX_STEPS):
        if penalty > 0.0:
            # Both sides in logarithms: log(sum) - log(right) = 0. The right side's
            # derivatives are added to those of the sum.
            right = empirical - penalty * (weight + step)
            if right <= 0.0:
                break
            target = log(right)
            rest = right / penalty  # how far it is to where the right side vanishes
            found.slope += 1.0 / rest
            found.bend += 1.0 / (rest * rest)
            bend_of_rest = 16.0 / (rest * rest * rest)  # the third one, half way
        difference = target - found.logarithm
        # Newton's step; or the nearer root of the parabola with the same value, slope
        # and bend, if its discriminant is large enough.
        change = difference / found.slope
        if n_steps < MAX_STEPS // 2 and found.bend * difference > (
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
