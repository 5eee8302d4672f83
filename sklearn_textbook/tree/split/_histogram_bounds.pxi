# Which bins of two classes or of values may hold a better split; part of
# _list_search.pyx. See _histogram_pairs.pxi for the bounds.


cdef wide_void find_deviance_excess(
    const double* cross, const double* weight, const double* reach, int64_t n_bins,
    double drift, double least, double n, double t, double bound, double* excess
) noexcept nogil:
    """By how much the bins may exceed a bound."""
    cdef:
        int64_t b
        double gained, high, low, k, rest
        double mean = t / n, inverse_total = 1.0 / t
    for b in range(n_bins):
        gained = (reach[b + 1] - reach[b]) + drift
        k = weight[b] + least
        rest = n - weight[b + 1] + least
        high = deviance_bound(cross[b] + gained, k, rest, inverse_total)
        low = deviance_bound(cross[b + 1] - gained, k, rest, inverse_total)
        excess[b] = mean * (high if high > low else low) - bound


cdef wide_void find_excess(
    const double* cross, const double* area, const double* reach, int64_t n_bins,
    double drift, double min_area, double bound, double* excess
) noexcept nogil:
    """By how much the bins may exceed a bound."""
    cdef:
        int64_t b
        double gained, high, low, square, smaller
    for b in range(n_bins):
        gained = (reach[b + 1] - reach[b]) + drift
        high = cross[b] + gained
        low = cross[b + 1] - gained
        high *= high
        low *= low
        square = high if high > low else low
        smaller = area[b] if area[b] < area[b + 1] else area[b + 1]
        smaller = smaller if smaller > min_area else min_area
        # The factor covers what rounding may take from the largest.
        excess[b] = square * (1.0 + 1e-14) - bound * smaller


cdef bint is_excluded_by_constraint(
    const NodeSearch* search, const Histogram* h, int64_t b, double drift,
    double min_area, double bound
) noexcept nogil:
    """Whether no split inside of a bin has a d of the right sign that exceeds the
    bound."""
    cdef:
        int32_t direction = search.problem.monotonic[h.column.number]
        double gained = h.third[b + 1] - h.third[b] + drift, smaller
        double d = h.first[b + 1] - gained if direction > 0 else h.first[b] + gained
    if direction == 0:
        return False
    if d * direction > 0.0 or search.problem.criterion == POISSON:
        return runs_against(search, h, d)
    smaller = max(min(h.second[b], h.second[b + 1]), min_area)
    return d * d * (1.0 + 1e-14) <= bound * smaller


cdef bint may_hold_better(
    const Histogram* h, uint64_t below, uint64_t inside, double bound
) noexcept nogil:
    """Whether a split inside of a bin of two classes may exceed the bound: one that
    leaves at least one sample of the bin on either side. Samples weigh 1 or more."""
    cdef:
        double n = h.weight, t = h.total
        double left = <double>ones_in(below), k = <double>weight_in(below)
        double weight = <double>weight_in(inside), ones = <double>ones_in(inside)
        double zeros = weight - ones
    if samples_in(inside) < 2:
        return False
    if ones > 0.0 and (
        reaches(left + 1.0, k + 1.0, n, t, bound)
        or reaches(left + ones - 1.0, k + weight - 1.0, n, t, bound)
    ):
        return True
    if zeros > 0.0 and (
        reaches(left, k + 1.0, n, t, bound)
        or reaches(left + ones, k + weight - 1.0, n, t, bound)
    ):
        return True
    return ones > 0.0 and zeros > 0.0 and (
        reaches(left + ones, k + ones, n, t, bound)
        or reaches(left, k + zeros, n, t, bound)
    )


cdef inline bint reaches(
    double ones, double weight, double n, double t, double bound
) noexcept nogil:
    cdef double d = ones * n - t * weight
    return d * d > bound * (weight * (n - weight))


cdef int64_t select_bins_of_pairs(
    const NodeSearch* search, const Histogram* h, const PairSums* below, double score,
    uint8_t* may_win
) noexcept nogil:
    """Mark the bins that may hold a split above a score; returns how many."""
    cdef:
        double* excess = search.scratch
        double drift = 0.0, bound = raw_bound(h, search.unit, score)
        double least = search.min_weight
        double min_area = least * (h.weight - least)
        int64_t b, n_bins = h.column.n_bins, n_kept = 0
        uint64_t before = 0
    if PairSums is Moments:
        # Rounding of sums whose parts cancel out.
        drift = 1e-12 * fabs(h.third[n_bins])
    if search.problem.criterion == POISSON:
        find_deviance_excess(
            h.first, h.second, h.third, n_bins, drift, least, h.weight, h.total,
            score - h.offset, excess
        )
    else:
        find_excess(
            h.first, h.second, h.third, n_bins, drift, min_area, bound, excess
        )
    if PairSums is BinaryCounts:
        if h.missing_left:
            before = below[n_bins + 1].counts
    for b in range(n_bins):
        may_win[b] = False
        if not excess[b] > 0.0 or (
            search.problem.monotonic != NULL
            and is_excluded_by_constraint(search, h, b, drift, min_area, bound)
        ):
            continue
        if PairSums is BinaryCounts:
            may_win[b] = bound == -INFINITY or may_hold_better(
                h, below[b].counts + before, below[b + 1].counts - below[b].counts,
                bound
            )
        else:
            may_win[b] = n_below(below, b + 1) - n_below(below, b) > 1
        n_kept += may_win[b]
    return n_kept
