# Histograms of two classes and of values: scores of the ends of bins, and bounds of the
# splits inside of bins.
#
# With weight k and first moment s on the left, n and t in all, the decrease of the
# weighted squared error is d^2 / (n k (n - k)) where d = s n - t k; that of the
# weighted Gini impurity of two classes is twice as much. The score is convex in (s, k),
# so no split inside of a bin scores more than the corners of what the bin may put on
# the left: d lies between what its samples that raise d, and what those that lower it
# would make of it alone, and k (n - k) is not below that of one of the ends.
#
# Poisson deviance: see _deviance.pxd for the bound of a score. For given d, the part of
# either side is largest where its weight is smallest, and both grow with the distance
# of d from 0; so inside of a bin there is no more than for the ends of d with the
# smallest weights of both sides.


cdef wide_void measure_counts(
    const BinaryCounts* below, int64_t n_ends, uint64_t before, double n, double t,
    double* cross, double* area, double* reach
) noexcept nogil:
    cdef:
        int64_t b
        uint64_t counts
        double weight, ones
    for b in range(n_ends):
        counts = below[b].counts + before
        # 21 bits each: SSE2 converts no wider integers.
        weight = <double><int32_t>((counts >> COUNT_BITS) & COUNT_MASK)
        ones = <double><int32_t>(counts & COUNT_MASK)
        cross[b] = ones * n - t * weight
        area[b] = weight * (n - weight)
        reach[b] = ones * (n - t)


cdef wide_void measure_moments(
    const Moments* below, int64_t n_ends, double first, double weight, double n,
    double t, double slope, bint is_poisson, double* cross, double* area, double* reach
) noexcept nogil:
    """Poisson: the weight in place of the area."""
    cdef:
        int64_t b
        double k
    for b in range(n_ends):
        k = below[b].weight + weight
        cross[b] = (below[b].first + first) * n - t * k
        area[b] = k if is_poisson else k * (n - k)
        reach[b] = below[b].spread * n + slope * k


cdef wide_void bound_deviances(
    const double* cross, const double* weight, int64_t start, int64_t stop, double n,
    double t, double* score
) noexcept nogil:
    """Poisson: no less than the scores."""
    cdef:
        int64_t b
        double mean = t / n, inverse_total = 1.0 / t
    for b in range(start, stop):
        score[b] = mean * deviance_bound(
            cross[b], weight[b], n - weight[b], inverse_total
        )


cdef wide_void score_ends(
    const double* cross, const double* area, int64_t start, int64_t stop, double* score
) noexcept nogil:
    cdef int64_t b
    for b in range(start, stop):
        score[b] = cross[b] * cross[b] / area[b]


cdef inline double largest_of(const double* score, int64_t n) noexcept nogil:
    """The largest of some numbers and -1, several at a time: a comparison waits for
    the one before it."""
    cdef:
        double[4] top
        int64_t b, c, whole = n // 4
    for c in range(4):
        top[c] = -1.0
    for b in range(whole):
        for c in range(4):
            top[c] = score[4 * b + c] if score[4 * b + c] > top[c] else top[c]
    for b in range(4 * whole, n):
        top[0] = score[b] if score[b] > top[0] else top[0]
    for c in range(1, 4):
        top[0] = top[c] if top[c] > top[0] else top[0]
    return top[0]


cdef inline double raw_bound(
    const Histogram* h, double unit, double score
) noexcept nogil:
    """What d^2 / (k (n - k)) must exceed."""
    return (score - h.offset) * h.weight / unit


cdef inline int64_t n_below(
    const PairSums* below, int64_t b
) noexcept nogil:
    """Samples with values below the end of a bin."""
    if PairSums is BinaryCounts:
        return samples_in(below[b].counts)
    else:
        return <int64_t>below[b].n_samples


cdef inline bint runs_against(
    const NodeSearch* search, const Histogram* h, double d
) noexcept nogil:
    """Whether a split with this d runs against the constraint of its column, by more
    than rounding: that is its sign."""
    if search.problem.monotonic == NULL:
        return False
    return d * <double>search.problem.monotonic[h.column.number] > (
        1e-12 * fabs(h.third[h.column.n_bins])
    )


cdef inline bint is_allowed(
    const NodeSearch* search, const Histogram* h, double first, double weight
) noexcept nogil:
    """Whether a split satisfies the least weight of a leaf, monotonic constraints, and
    Poisson's demand for events on both sides."""
    cdef:
        const Problem* problem = search.problem
        double rest = h.weight - weight, smallest
    if weight < problem.min_weight_leaf or rest < problem.min_weight_leaf:
        return False
    if problem.criterion == POISSON:
        smallest = 1e-12 * h.total
        if first <= smallest or h.total - first <= smallest:
            return False
    if problem.monotonic == NULL:
        return True
    return not breaks_constraint(
        search.centre + first / weight, search.centre + (h.total - first) / rest,
        search.view.lower, search.view.upper, problem.monotonic[h.column.number]
    )


cdef inline bint leaves_enough(
    const NodeSearch* search, const Histogram* h, int64_t n_left
) noexcept nogil:
    """Whether so many samples with values on the left leave enough on both sides."""
    cdef:
        int64_t n_missing = h.column.n_missing if h.missing_child == 0 else 0
        int64_t n_present = search.n - h.column.n_missing
    return (
        0 < n_left < n_present
        and n_left + n_missing >= search.lowest
        and h.n_samples - n_left - n_missing >= search.lowest
    )


cdef inline void add_sums(PairSums* total, const PairSums* part) noexcept nogil:
    if PairSums is BinaryCounts:
        total.counts += part.counts
    else:
        add_moments(total, part)


cdef inline double first_of(
    const NodeSearch* search, const PairSums* sums
) noexcept nogil:
    """The first moment; of two classes counted from 0."""
    if PairSums is BinaryCounts:
        return <double>ones_in(sums.counts)
    else:
        return sums.first


cdef inline double weight_of(const PairSums* sums) noexcept nogil:
    if PairSums is BinaryCounts:
        return <double>weight_in(sums.counts)
    else:
        return <double>sums.weight


cdef void measure_pairs(
    const NodeSearch* search, Histogram* h, const PairSums* below
) noexcept nogil:
    """What the ends of bins need for their scores."""
    cdef:
        int64_t b, n_ends = h.column.n_bins + 1
        PairSums before
    memset(&before, 0, sizeof(PairSums))
    if h.missing_left:
        before = below[n_ends]
    if PairSums is BinaryCounts:
        measure_counts(
            below, n_ends, before.counts, h.weight, h.total, h.first, h.second, h.third
        )
    else:
        measure_moments(
            below, n_ends, before.first, before.weight, h.weight, h.total,
            fabs(h.total - search.pivot * h.weight),
            search.problem.criterion == POISSON, h.first, h.second, h.third
        )


cdef double deviance_score(
    const Histogram* h, double first, double weight
) noexcept nogil:
    """Poisson: the score of a split of the samples that have a value."""
    return (
        deviance_part(first, weight) + deviance_part(h.total - first, h.weight - weight)
        - h.base
    )


cdef double allowed_score(
    const NodeSearch* search, const Histogram* h, const PairSums* below, int64_t b
) noexcept nogil:
    """The score of the end of a bin, in units of the ends; -1 if it is not allowed."""
    cdef PairSums left = below[b]
    if h.missing_left:
        add_sums(&left, &below[h.column.n_bins + 1])
    if not is_allowed(search, h, first_of(search, &left), weight_of(&left)):
        return -1.0
    if search.problem.criterion == POISSON:
        return max(deviance_score(h, first_of(search, &left), weight_of(&left)), 0.0)
    return h.fourth[b]


cdef double best_allowed(
    const NodeSearch* search, const Histogram* h, const PairSums* below, int64_t start,
    int64_t stop, double top
) noexcept nogil:
    """The best score that is allowed. The one with the largest bound comes first, so
    that few others are looked at."""
    cdef:
        int64_t b = start
        double best = -1.0
    while b < stop and h.fourth[b] != top:
        b += 1
    if b < stop:
        best = allowed_score(search, h, below, b)
    for b in range(start, stop):
        if h.fourth[b] > best:
            best = max(best, allowed_score(search, h, below, b))
    return best


cdef void find_edge_of_pairs(
    const NodeSearch* search, Histogram* h, const PairSums* below
) noexcept nogil:
    """The best end of a bin. Ends of empty bins repeat a candidate, which is cheaper
    than testing for them."""
    cdef:
        int64_t b, start = 0, stop = h.column.n_bins + 1
        double* score = h.fourth
        double best
        bint is_poisson = search.problem.criterion == POISSON
    measure_pairs(search, h, below)
    while start < stop and not leaves_enough(search, h, n_below(below, start)):
        score[start] = -1.0
        start += 1
    while stop > start and not leaves_enough(search, h, n_below(below, stop - 1)):
        stop -= 1
        score[stop] = -1.0
    h.edge = -INFINITY
    if is_poisson:
        bound_deviances(h.first, h.second, start, stop, h.weight, h.total, score)
    else:
        score_ends(h.first, h.second, start, stop, score)
    if search.problem.monotonic != NULL:
        for b in range(start, stop):
            if runs_against(search, h, h.first[b]):
                score[b] = -1.0
    best = largest_of(score + start, stop - start)
    if search.checks_limits:
        best = best_allowed(search, h, below, start, stop, best)
    if best >= 0.0:
        h.edge = h.offset + (best if is_poisson else search.unit * best / h.weight)


cdef void take_split(
    NodeSearch* search, const Histogram* h, const PairSums* left, double score,
    uint32_t cut, uint32_t above, bint is_between
) noexcept nogil:
    """Take a split if it leaves enough on both sides; ``left`` has the missing samples
    of child 0, too."""
    cdef:
        Found* found = &search.found
        int64_t n_left = n_below(left, 0)
    if h.missing_child == 0:
        n_left -= h.column.n_missing
    if not leaves_enough(search, h, n_left):
        return
    if search.checks_limits and not is_allowed(
        search, h, first_of(search, left), weight_of(left)
    ):
        return
    take(&found.split, score, n_left, h.missing_child)
    found.split.n_children = 3 if h.missing_child == 2 else 2
    found.column = h.column
    found.histogram = h
    found.cut = cut
    found.above = above
    found.is_between = is_between
    if PairSums is BinaryCounts:
        found.left_counts = left.counts


cdef void walk_up_pairs(
    NodeSearch* search, const Histogram* h, const PairSums* below, const uint64_t* keys,
    int64_t n, int64_t b
) noexcept nogil:
    """Try the splits between the sorted samples of a bin."""
    cdef:
        const Problem* problem = search.problem
        const SampledColumn* column = h.column
        PairSums left = below[b]
        uint32_t code = <uint32_t>(keys[0] >> 32), above, place
        double weight = h.weight, total = h.total, k, d, area, value
        double beat = score_to_beat(problem, &search.found.split, h.margin)
        double bound = raw_bound(h, search.unit, beat)
        bint is_poisson = problem.criterion == POISSON
        int64_t i
    if h.missing_left:
        add_sums(&left, &below[column.n_bins + 1])
    for i in range(1, n):
        place = <uint32_t>keys[i - 1]
        above = <uint32_t>(keys[i] >> 32)
        if PairSums is BinaryCounts:
            left.counts += counts_of(search.entries[place])
            # 21 bits each.
            k = <double><int32_t>weight_in(left.counts)
            d = <double><int32_t>ones_in(left.counts) * weight - total * k
        else:
            add_moments(&left, &search.amounts[place])
            k = left.weight
            d = left.first * weight - total * k
        if is_poisson:
            if above != code and total / weight * deviance_bound(
                d, k, weight - k, 1.0 / total
            ) > beat - h.offset:
                value = h.offset + deviance_score(h, first_of(search, &left), k)
                if value > beat:
                    take_split(
                        search, h, &left, value, column.smallest + code,
                        column.smallest + above, True
                    )
                    beat = score_to_beat(problem, &search.found.split, h.margin)
        else:
            area = k * (weight - k)
            if d * d > bound * area and above != code and area > 0.0 and (
                not runs_against(search, h, d)
            ):
                take_split(
                    search, h, &left, h.offset + search.unit * (d * d / area) / weight,
                    column.smallest + code, column.smallest + above, True
                )
                beat = score_to_beat(problem, &search.found.split, h.margin)
                bound = raw_bound(h, search.unit, beat)
        code = above


cdef inline bint beats_bound(
    const Histogram* h, int64_t b, double bound, bint is_poisson
) noexcept nogil:
    """Whether the split at the end of a bin is better than a bound, or may be."""
    if is_poisson:
        return h.fourth[b] > bound
    return h.first[b] * h.first[b] > bound * h.second[b]


cdef void take_end_of_pairs(
    NodeSearch* search, const Histogram* h, const PairSums* below, int64_t b
) noexcept nogil:
    """Take the split at the end of a bin."""
    cdef:
        const SampledColumn* column = h.column
        double score
        PairSums left = below[b]
    if h.missing_left:
        add_sums(&left, &below[column.n_bins + 1])
    if search.problem.criterion == POISSON:
        score = h.offset + deviance_score(
            h, first_of(search, &left), weight_of(&left)
        )
        if not score > score_to_beat(search.problem, &search.found.split, h.margin):
            return
    else:
        score = h.offset + search.unit * (
            h.first[b] * h.first[b] / h.second[b]
        ) / h.weight
    take_split(search, h, &left, score, end_code(column, b), 0, False)
