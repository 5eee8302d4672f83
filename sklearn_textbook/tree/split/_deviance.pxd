# Poisson deviance: s log(s / k) on both sides, with first moment s and weight k, t and
# n in all. With c = t / n, the decrease is c (k h(x) + (n - k) h(z)) where x and z are
# the means of the sides over c, and h(x) = x log x - x + 1. Padé approximants of the
# logarithm make of that a bound that needs none: logarithms are computed only where it
# is better than what there is.

from libc.math cimport fabs, log, log2

cdef inline double deviance_part(double first, double weight) noexcept nogil:
    # What one side adds.
    return first * log(first / weight) if first > 0.0 and weight > 0.0 else 0.0

cdef inline double deviance_noise(double mean, double weight) noexcept nogil:
    # How far rounding may carry the logarithms of two equal scores apart.
    return 1e-15 * weight * mean * (1.0 + fabs(log2(mean))) if mean > 0.0 else 0.0

cdef inline double bound_side(double x) noexcept nogil:
    # Not less than h(1 + x). Without events, there is none of less weight than would
    # make it x = -1; more weight adds as much as it has.
    cdef:
        double square = x * x
        double above = square * (x + 3.0) / (4.0 * x + 6.0)
        double below = square * (2.0 * x + 3.0) / (square + 6.0 * x + 6.0)
    below = below if x > -1.0 else -x
    return above if x > 0.0 else below

cdef inline double deviance_bound(
    double cross, double weight, double rest, double total
) noexcept nogil:
    # Not less than the decrease over c, where cross = s n - t k and t is the total. The
    # first side is bounded for a weight of at least ``weight``, the second for one of
    # at least ``rest``, if they do not add up to n. The factor covers rounding.
    return (1.0 + 1e-12) * (
        weight * bound_side(cross / (weight * total))
        + rest * bound_side(-cross / (rest * total))
    )
