# How many errors a rule is expected to make on new rows, and whether a condition
# matters: header-only.

from libc.math cimport exp, lgamma

from sklearn_textbook.tree.prune._error_estimate cimport Confidence, add_errors


cdef inline double estimate_rate(
    const Confidence* confidence, double right, double wrong
) noexcept nogil:
    """Pessimistic error rate of a rule; 1 if it covers nothing."""
    cdef double weight = right + wrong
    if weight <= 0.0:
        return 1.0
    return (wrong + add_errors(confidence, weight, wrong)) / weight


cdef inline double log_ways(double n, double k) noexcept nogil:
    """Natural logarithm of the binomial coefficient."""
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)


cdef inline double compute_p_value(
    double right, double wrong, double more_right, double more_wrong
) noexcept nogil:
    """One-sided Fisher's exact test: the probability that a condition independent of
    the class keeps at least as many correct rows.

    ``more_right`` and ``more_wrong`` are the additional rows covered without it. It is
    the upper tail of the hypergeometric distribution, P(K >= right) for ``drawn`` of
    ``good`` + ``bad`` rows; each term follows from the one before it. Weights count as
    rows.
    """
    cdef double good = right + more_right, drawn = right + wrong
    cdef double bad = wrong + more_wrong
    cdef double most = good if good < drawn else drawn
    cdef double k = right, total = 0.0
    cdef double term = exp(
        log_ways(good, right) + log_ways(bad, wrong) - log_ways(good + bad, drawn)
    )
    while k <= most:
        total += term
        # Beyond the peak, what is left is less than a geometric series.
        if term < 1e-17 * total:
            break
        term *= (good - k) / (k + 1.0) * (drawn - k) / (bad - drawn + k + 1.0)
        k += 1.0
    return total if total < 1.0 else 1.0
