# The pessimistic estimate of a leaf's errors, and C4.5's comparisons: header-only.

from libc.math cimport exp, sqrt


# The confidence, in single precision as J48 holds it, and what follows from it.
cdef struct Confidence:
    double level
    double log_level
    # the quantile of the normal distribution at 1 - level
    double z


# Numbers that differ by less than 1e-6 are equal.
cdef inline bint is_greater(double one, double other) noexcept nogil:
    return one - other > 1e-6


cdef inline bint is_at_most(double one, double other) noexcept nogil:
    """Smaller, or equal up to 1e-6, as Weka's ``smOrEq``; the second comparison makes
    it true of two infinities, whose difference is NaN."""
    return one - other < 1e-6 or one <= other


cdef inline double count_errors(
    const double* class_weights, Py_ssize_t n_classes, double* weight
) noexcept nogil:
    """Weight of the cases that are not of the majority class, the first of ties;
    also the weight of all."""
    cdef Py_ssize_t c
    cdef double total = 0.0, majority = 0.0
    for c in range(n_classes):
        total += class_weights[c]
        if is_greater(class_weights[c], majority):
            majority = class_weights[c]
    weight[0] = total
    return total - majority


cdef inline Py_ssize_t find_majority(
    const double* class_weights, Py_ssize_t n_classes
) noexcept nogil:
    """The class of largest weight, the first of ties."""
    cdef Py_ssize_t c, majority = 0
    cdef double best = 0.0
    for c in range(n_classes):
        if is_greater(class_weights[c], best):
            best = class_weights[c]
            majority = c
    return majority


cdef inline double add_to_many(
    const Confidence* confidence, double weight, double errors
) noexcept nogil:
    """What is added to at least one error: by the normal distribution, half an error
    up for continuity."""
    cdef double fraction, square, root, limit
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    # The upper limit of Wilson's interval for the error rate, times the weight.
    fraction = (errors + 0.5) / weight
    square = confidence.z * confidence.z
    root = sqrt(
        fraction / weight - fraction * fraction / weight
        + square / (4.0 * weight * weight)
    )
    limit = fraction + square / (2.0 * weight) + confidence.z * root
    return limit / (1.0 + square / weight) * weight - errors


cdef inline double add_errors(
    const Confidence* confidence, double weight, double errors
) noexcept nogil:
    """What the upper confidence limit of the error rate adds to the errors counted.

    A level above 0.5 adds nothing.
    """
    cdef double none
    if confidence.level > 0.5:
        return 0.0
    if errors >= 1.0:
        return add_to_many(confidence, weight, errors)
    # Of no error: the rate p with (1 - p)^weight = level.
    none = weight * (1.0 - exp(confidence.log_level / weight))
    if errors == 0.0:
        return none
    # Below one error: linear between the estimates for 0 and 1.
    return none + errors * (add_to_many(confidence, weight, 1.0) - none)


cdef inline double estimate_counted(
    const Confidence* confidence, double weight, double errors
) noexcept nogil:
    """Estimated errors of a leaf with this number of training errors."""
    if weight < 1e-6:
        return 0.0
    return errors + add_errors(confidence, weight, errors)


cdef inline double estimate_errors(
    const Confidence* confidence, const double* class_weights, Py_ssize_t n_classes
) noexcept nogil:
    """Estimated errors of a leaf."""
    cdef double weight, errors
    errors = count_errors(class_weights, n_classes, &weight)
    return estimate_counted(confidence, weight, errors)
