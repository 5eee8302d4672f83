# Weighted quantiles by selection, in time proportional to the number of values:
# header-only.

from libc.stdint cimport int64_t, uint32_t


# Weights are multiples of a power of two, so that their sums are exact and do not
# depend on the order of the rows.
cdef struct Pair:
    double value
    int64_t weight


cdef inline double clip(double value, double bound) noexcept nogil:
    """The value, kept within [-bound, bound]."""
    return min(max(value, -bound), bound)


cdef inline double choose_pivot(
    const Pair* pairs, Py_ssize_t n_pairs, uint32_t* seed
) noexcept nogil:
    """Median of three random values, so that no order of the rows is slow."""
    cdef double a, b, c
    cdef double picked[3]
    cdef int i
    for i in range(3):
        seed[0] = seed[0] * 1664525u + 1013904223u
        picked[i] = pairs[<Py_ssize_t> (seed[0] * (1.0 / 4294967296.0) * n_pairs)].value
    a, b, c = picked[0], picked[1], picked[2]
    return max(min(a, b), min(max(a, b), c))


cdef inline double select_quantile(
    Pair* pairs, Py_ssize_t n_pairs, int64_t total, double quantile
) noexcept nogil:
    """The lowest value with at least that fraction of the weight up to it.

    The pairs are put in another order. Sums that are equal but for rounding are equal.
    """
    cdef:
        Py_ssize_t first = 0, last = n_pairs, less, i, more
        double enough = quantile * total - 1e-12 * total, pivot = pairs[0].value
        int64_t below = 0, lighter, equal
        uint32_t seed = 1
        Pair held
    while first < last:
        pivot = choose_pivot(pairs + first, last - first, &seed)
        less, i, more, lighter, equal = first, first, last, 0, 0
        while i < more:
            # In order: less than the pivot, equal to it, not looked at yet, greater.
            held = pairs[i]
            if held.value < pivot:
                lighter += held.weight
                pairs[i], pairs[less] = pairs[less], held
                less += 1
                i += 1
            elif held.value > pivot:
                more -= 1
                pairs[i], pairs[more] = pairs[more], held
            else:
                equal += held.weight
                i += 1
        # On with the lower values if their weight, with all below, reaches the target;
        # also if it fails to by rounding alone.
        if less > first and below + lighter >= enough:
            last = less
        elif below + lighter + equal >= enough:
            return pivot
        else:
            below += lighter + equal
            first = more
    return pivot
