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

cdef inline double deviance_bound(
    double cross, double weight, double rest, double inverse_total
) noexcept nogil:
    # Not less than the decrease over c, where cross = s n - t k and t is the total. The
    # first side is bounded for a weight of at least ``weight``, the second for one of
    # at least ``rest``, if they do not add up to n. With g = |cross| / t, the side of
    # weight p whose mean is larger has x = g / p, and the other one, of weight m, has
    # x = -g / m. Without events, there is none of less weight than would make it
    # x = -1; more weight adds as much as it has. The factor covers rounding.
    cdef:
        double gain = fabs(cross) * inverse_total
        double larger = weight if cross > 0.0 else rest
        double smaller = rest if cross > 0.0 else weight
        double square = gain * gain
        double above = square * (gain + 3.0 * larger) / (
            larger * (4.0 * gain + 6.0 * larger)
        )
        double below = square * (3.0 * smaller - 2.0 * gain) / (
            square + 6.0 * smaller * (smaller - gain)
        )
    below = below if gain < smaller else gain
    return (1.0 + 1e-12) * (above + below)
