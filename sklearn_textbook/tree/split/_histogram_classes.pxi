# Histograms of several classes: scores of the ends of bins, and bounds of the splits
# inside of bins.
#
# With class weights l_c of k on the left, r_c of n - k on the right and t_c in all,
# Gini maximises sum l_c^2 / k + sum r_c^2 / (n - k), compared without a division as
# value and area; entropy maximises sum T(l_c) + T(r_c) - T(k) - T(n - k) with
# T(x) = x log2 x, in fixed point for whole weights.
#
# Both are convex in the class weights, and twice as large for twice the samples: so
# they are no more for some samples than the sum for two parts of these. A split inside
# of a bin has no more than the samples below the bin, those above it, and the two parts
# of its own, each of them for itself.


cdef inline double times_log(double x) noexcept nogil:
    """T(x)."""
    return x * log2(x) if x > 0.0 else 0.0


cdef wide_void add_counts(
    const uint32_t* below, int64_t n_ends, double* weight
) noexcept nogil:
    """Add the weights of one class."""
    cdef int64_t b
    for b in range(n_ends):
        weight[b] += <double><int32_t>below[b]


cdef wide_void add_weights(
    const double* below, int64_t n_ends, double* weight
) noexcept nogil:
    cdef int64_t b
    for b in range(n_ends):
        weight[b] += below[b]


cdef wide_void add_squares(
    const uint32_t* below, int64_t n_ends, double total, double* left, double* right
) noexcept nogil:
    """Add the squares of one class."""
    cdef:
        int64_t b
        double inside, beside
    for b in range(n_ends):
        inside = <double><int32_t>below[b]
        beside = total - inside
        left[b] += inside * inside
        right[b] += beside * beside


cdef wide_void add_weighted_squares(
    const double* below, int64_t n_ends, double total, double* left, double* right
) noexcept nogil:
    cdef:
        int64_t b
        double beside
    for b in range(n_ends):
        beside = total - below[b]
        left[b] += below[b] * below[b]
        right[b] += beside * beside


cdef wide_void judge_squares(
    const double* weight, int64_t n_ends, double n, double least, double* left,
    double* right, double* value, double* area
) noexcept nogil:
    """Values of splits; and sums of squares over the weight of their side."""
    cdef:
        int64_t b
        double k
    for b in range(n_ends):
        k = weight[b]
        area[b] = k * (n - k)
        value[b] = left[b] * (n - k) + right[b] * k
        left[b] /= k if k > least else least
        right[b] /= n - k if n - k > least else least


cdef void measure_squares(
    const NodeSearch* search, Histogram* h, const ClassSums* below
) noexcept nogil:
    """Gini."""
    cdef int64_t c, n_ends = h.column.n_bins + 1
    memset(h.second, 0, n_ends * sizeof(double))
    memset(h.third, 0, n_ends * sizeof(double))
    for c in range(search.n_classes):
        if ClassSums is ClassCounts:
            add_squares(
                <const uint32_t*>(below + c * search.stride), n_ends, h.totals[c],
                h.second, h.third
            )
        elif ClassSums is ClassWeights:
            add_weighted_squares(
                <const double*>(below + c * search.stride), n_ends, h.totals[c],
                h.second, h.third
            )
    judge_squares(
        h.first, n_ends, h.weight, search.min_weight, h.second, h.third, h.fourth,
        h.fifth
    )


cdef void measure_logarithms(
    const NodeSearch* search, Histogram* h, const ClassSums* below
) noexcept nogil:
    """Entropy."""
    cdef:
        const int64_t* table = search.entropy_table
        int64_t[MAX_BINS + GAP] left
        int64_t[MAX_BINS + GAP] right
        int64_t b, c, n = <int64_t>h.weight, total
        int64_t n_ends = h.column.n_bins + 1
        const ClassSums* plane
    for b in range(n_ends):
        h.fifth[b] = 1.0
        if ClassSums is ClassCounts:
            left[b] = -table[<int64_t>h.first[b]]
            right[b] = -table[n - <int64_t>h.first[b]]
        else:
            h.second[b] = -times_log(h.first[b])
            h.third[b] = -times_log(h.weight - h.first[b])
    for c in range(search.n_classes):
        plane = below + c * search.stride
        total = <int64_t>h.totals[c]
        for b in range(n_ends):
            if ClassSums is ClassCounts:
                left[b] += table[plane[b].weight]
                right[b] += table[total - plane[b].weight]
            else:
                h.second[b] += times_log(<double>plane[b].weight)
                h.third[b] += times_log(h.totals[c] - <double>plane[b].weight)
    for b in range(n_ends):
        if ClassSums is ClassCounts:
            h.second[b] = <double>left[b]
            h.third[b] = <double>right[b]
            h.fourth[b] = <double>(left[b] + right[b] - h.whole_base)
        else:
            h.fourth[b] = h.second[b] + h.third[b] - h.base


cdef inline bint leaves_class_rows(
    const NodeSearch* search, const Histogram* h, const ClassSums* below, int64_t b
) noexcept nogil:
    """Whether the split at the end of a bin leaves enough on both sides."""
    cdef:
        int64_t n_bins = h.column.n_bins
        const ClassSums* rows = below + search.n_classes * search.stride
        int64_t n_missing = h.column.n_missing if h.missing_child == 0 else 0
    if search.counts_samples:
        return leaves_enough(search, h, <int64_t>rows[b].weight - n_missing)
    return h.first[0] < h.first[b] < h.first[n_bins]


cdef inline void bar_end(Histogram* h, int64_t b) noexcept nogil:
    """The split at this end is not allowed."""
    h.fourth[b] = -INFINITY
    h.fifth[b] = 1.0


cdef bint is_class_split_allowed(
    const NodeSearch* search, const Histogram* h, double ones, double weight
) noexcept nogil:
    """Least weight of a leaf, and monotonic constraints of two classes."""
    cdef:
        const Problem* problem = search.problem
        double rest = h.weight - weight
    if weight < problem.min_weight_leaf or rest < problem.min_weight_leaf:
        return False
    return problem.monotonic == NULL or not breaks_constraint(
        ones / weight, (h.totals[1] - ones) / rest, search.view.lower,
        search.view.upper, problem.monotonic[h.column.number]
    )


cdef void find_edge_of_classes(
    const NodeSearch* search, Histogram* h, const ClassSums* below
) noexcept nogil:
    """The best end of a bin."""
    cdef:
        int64_t b, c, n_ends = h.column.n_bins + 1
        double best = -INFINITY, score
        int64_t start = 0, stop = n_ends
        const ClassSums* plane
    memset(h.first, 0, n_ends * sizeof(double))
    for c in range(search.n_classes):
        plane = below + c * search.stride
        if ClassSums is ClassCounts:
            add_counts(<const uint32_t*>plane, n_ends, h.first)
        elif ClassSums is ClassWeights:
            add_weights(<const double*>plane, n_ends, h.first)
    if search.problem.criterion == GINI:
        measure_squares(search, h, below)
    else:
        measure_logarithms(search, h, below)
    while start < stop and not leaves_class_rows(search, h, below, start):
        bar_end(h, start)
        start += 1
    while stop > start and not leaves_class_rows(search, h, below, stop - 1):
        stop -= 1
        bar_end(h, stop)
    plane = below + search.stride
    for b in range(start, stop):
        if search.checks_limits and not is_class_split_allowed(
            search, h, <double>plane[b].weight, h.first[b]
        ):
            bar_end(h, b)
            continue
        score = h.second[b] + h.third[b]
        best = score if score > best else best
    h.edge = -INFINITY
    if best > -INFINITY:
        h.edge = h.offset + (best - h.base) * search.unit


cdef wide_void find_class_excess(
    const double* left, const double* right, const double* weight, int64_t n_bins,
    double worth, double bound, double* excess
) noexcept nogil:
    """By how much bins may exceed a bound, if their parts have no more than so much for
    a unit of weight."""
    cdef int64_t b
    for b in range(n_bins):
        excess[b] = (
            left[b] + right[b + 1] + worth * (weight[b + 1] - weight[b]) - bound
        )


cdef bint gini_may_exceed(
    const NodeSearch* search, const Histogram* h, const ClassSums* below, int64_t b,
    double bound
) noexcept nogil:
    """The decrease is sum d_c^2 / (n k (n - k)) with d_c = l_c n - t_c k. A split
    inside of a bin puts from none to all of each class of the bin on the left, so it
    has no more than the largest d_c^2 of every class over the smallest area. And a part
    of the bin has no more than its largest class."""
    cdef:
        int64_t c
        double n = h.weight, start, stop, inside, total, first, last
        double low = h.first[b], high = h.first[b + 1], least = search.min_weight
        double area = min(
            (low + least) * (n - low - least), (high - least) * (n - high + least)
        )
        double squares = 0.0, largest = 0.0, second = 0.0
    for c in range(search.n_classes):
        total = h.totals[c]
        start = <double>below[c * search.stride + b].weight
        stop = <double>below[c * search.stride + b + 1].weight
        inside = stop - start
        second = max(second, min(largest, inside))
        largest = max(largest, inside)
        first = start * n - total * (high - inside)
        last = stop * n - total * (low + inside)
        squares += max(first * first, last * last)
    # The factors cover what rounding may take from the largest.
    return squares * (1.0 + 1e-12) > (bound - h.base) * n * area and (
        (h.second[b] + h.third[b + 1] + largest + second) * (1.0 + 1e-12) > bound
    )


cdef bint entropy_may_exceed(
    const NodeSearch* search, const Histogram* h, const ClassSums* below, int64_t b,
    double bound
) noexcept nogil:
    """The value is the sum of T(l_c) + T(r_c) - s l_c over the classes, less
    T(k) + T(n - k) - s k, for any slope s. The first are convex in l_c, so largest at
    their ends; the last is convex in k, so smallest where s is its slope, which lies
    between its steps down and up: take that in the middle of the bin."""
    cdef:
        const int64_t* table = search.entropy_table
        int64_t c, total, first, last, n = <int64_t>h.weight
        int64_t low = <int64_t>h.first[b], high = <int64_t>h.first[b + 1]
        int64_t middle = (low + high) // 2
        double slope, most
    if not (ClassSums is ClassCounts):
        return True
    slope = 0.5 * <double>(
        table[middle + 1] + table[n - middle - 1]
        - table[middle - 1] - table[n - middle + 1]
    )
    most = slope * <double>middle - <double>(table[middle] + table[n - middle]) - h.base
    for c in range(search.n_classes):
        total = <int64_t>h.totals[c]
        first = <int64_t>below[c * search.stride + b].weight
        last = <int64_t>below[c * search.stride + b + 1].weight
        most += max(
            <double>(table[first] + table[total - first]) - slope * <double>first,
            <double>(table[last] + table[total - last]) - slope * <double>last
        )
    # Rounding of the table, and of numbers as large as n log2 n.
    return most + 64.0 + 2.0 * <double>(search.n_classes + high - low) + (
        (1e-14 + 4e-16 * <double>search.n_classes) * <double>table[n]
    ) > bound


cdef int64_t select_bins_of_classes(
    const NodeSearch* search, const Histogram* h, const ClassSums* below, double score,
    uint8_t* may_win
) noexcept nogil:
    """Mark the bins that may hold a split above a score; returns how many."""
    cdef:
        double* excess = search.scratch
        double bound = (score - h.offset) / search.unit
        const double* weight = h.first
        int64_t b, n_kept = 0, n_bins = h.column.n_bins
        bint is_gini = search.problem.criterion == GINI, all_win = bound == -INFINITY
    if is_gini:
        # Samples of one class have their weight. The factor covers rounding.
        bound += h.base
        find_class_excess(
            h.second, h.third, weight, n_bins, 1.0, bound * (1.0 - 1e-12), excess
        )
    else:
        find_class_excess(
            h.second, h.third, weight, n_bins, 0.0,
            bound + h.base - search.noise - 1e-12 * fabs(h.base), excess
        )
    for b in range(n_bins):
        may_win[b] = False
        if excess[b] > 0.0 and weight[b + 1] - weight[b] > search.min_weight:
            may_win[b] = all_win or (
                gini_may_exceed(search, h, below, b, bound) if is_gini
                else entropy_may_exceed(search, h, below, b, bound)
            )
            n_kept += may_win[b]
    return n_kept


cdef inline double class_bound(
    const NodeSearch* search, const Histogram* h
) noexcept nogil:
    """What value / area must exceed."""
    cdef double beat = score_to_beat(search.problem, &search.found.split, h.margin)
    if search.problem.criterion == GINI:
        return beat - h.offset + h.base
    return (beat - h.offset) / search.unit + (
        TABLE_ROUNDING if search.found.split.column >= 0 and search.noise > 0.0 else 0
    )


cdef void take_class_split(
    NodeSearch* search, const Histogram* h, double value, double area, uint32_t cut,
    uint32_t above, bint is_between
) noexcept nogil:
    cdef:
        Found* found = &search.found
        double score = value / area
    if search.problem.criterion == GINI:
        score = h.offset + score - h.base
    else:
        score = h.offset + score * search.unit
    # How many samples are on the left is found when they are marked.
    take(&found.split, score, 0, h.missing_child)
    found.split.n_children = 3 if h.missing_child == 2 else 2
    found.column = h.column
    found.histogram = h
    found.cut = cut
    found.above = above
    found.is_between = is_between


cdef inline void start_walk(
    const NodeSearch* search, const Histogram* h, const ClassSums* below, int64_t b,
    bint is_gini, double* left_sum, double* right_sum, int64_t* whole_sum
) noexcept nogil:
    """The class weights on both sides of the end of a bin, and their sums."""
    cdef:
        const int64_t* table = search.entropy_table
        int64_t c
        double here, there
    left_sum[0] = right_sum[0] = 0.0
    whole_sum[0] = 0
    for c in range(search.n_classes):
        here = <double>below[c * search.stride + b].weight
        there = h.totals[c] - here
        search.left[c] = here
        search.right[c] = there
        if is_gini:
            left_sum[0] += here * here
            right_sum[0] += there * there
        elif ClassSums is ClassCounts:
            whole_sum[0] += table[<int64_t>here] + table[<int64_t>there]
        else:
            left_sum[0] += times_log(here) + times_log(there)


cdef inline void walk_up_classes(
    NodeSearch* search, const Histogram* h, const ClassSums* below,
    const uint64_t* keys, int64_t n, int64_t b, bint is_gini
) noexcept nogil:
    """Try the splits between the sorted samples of a bin."""
    cdef:
        const SampledColumn* column = h.column
        const int64_t* table = search.entropy_table
        double* left = search.left
        double* right = search.right
        int64_t i, c, n_left = 0, whole, whole_sum
        double weight, here, there, left_sum, right_sum
        double k = h.first[b], n_weight = h.weight, area = 1.0, value
        double bound = class_bound(search, h)
        uint32_t code = <uint32_t>(keys[0] >> 32), above, place
        uint64_t entry
    start_walk(search, h, below, b, is_gini, &left_sum, &right_sum, &whole_sum)
    if search.counts_samples:
        n_left = <int64_t>below[search.n_classes * search.stride + b].weight
        n_left -= column.n_missing if h.missing_child == 0 else 0
    for i in range(1, n):
        place = <uint32_t>keys[i - 1]
        entry = search.entries[place]
        c = class_of(entry)
        if ClassSums is ClassCounts:
            weight = <double>whole_weight_of(entry)
        else:
            weight = search.sample_weight[place]
        here = left[c]
        there = right[c]
        left[c] = here + weight
        right[c] = there - weight
        k += weight
        if is_gini:
            left_sum += weight * (2.0 * here + weight)
            right_sum -= weight * (2.0 * there - weight)
            area = k * (n_weight - k)
            value = left_sum * (n_weight - k) + right_sum * k
        elif ClassSums is ClassCounts:
            whole = <int64_t>weight
            whole_sum += (
                table[<int64_t>here + whole] - table[<int64_t>here]
                + table[<int64_t>there - whole] - table[<int64_t>there]
            )
            value = <double>(
                whole_sum - table[<int64_t>k] - table[<int64_t>(n_weight - k)]
                - h.whole_base
            )
        else:
            left_sum += (
                times_log(here + weight) - times_log(here)
                + times_log(there - weight) - times_log(there)
            )
            value = left_sum - times_log(k) - times_log(n_weight - k) - h.base
        above = <uint32_t>(keys[i] >> 32)
        if value > bound * area and above != code and area > 0.0 and (
            not search.counts_samples or leaves_enough(search, h, n_left + i)
        ) and (
            not search.checks_limits
            or is_class_split_allowed(search, h, left[1], k)
        ):
            take_class_split(
                search, h, value, area, column.smallest + code,
                column.smallest + above, True
            )
            bound = class_bound(search, h)
        code = above
