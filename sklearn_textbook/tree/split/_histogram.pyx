"""Thresholds of the columns of a node whose samples are counted in bins.

The ends of bins are scored first. Samples are sorted only of bins that may hold a
better threshold than these, which a bound tells. What a bin sums up is specialised at
compile time over the kinds of ``_sums.pxd``.

With weight k and first moment s, or class weights, on the left of a threshold, scores
are convex in these sums: inside of a bin, none exceeds what it would be at the corners
of what the bin can put on the left. Trees are therefore those of a search of all
thresholds.

A histogram is first counted (sums of every bin), then added up (``below``: sums of all
bins below an end), then measured (numbers of every end, from which its score and the
bounds of the bins beside it follow). The loops over bins have no branches, so that
compilers vectorise them.
"""

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._wide_units cimport wide_void
from sklearn_textbook.tree.split._best cimport (
    breaks_constraint,
    leaves_enough,
    score_to_beat,
    take,
    take_missing_alone,
)
from sklearn_textbook.tree.split._column cimport own_margin
from sklearn_textbook.tree.split._criterion cimport goodness, times_log
from sklearn_textbook.tree.split._deviance cimport deviance_bound, deviance_part
from sklearn_textbook.tree.split._sums cimport (
    COUNT_BITS,
    COUNT_MASK,
    FETCH_AHEAD,
    MAX_BINS,
    PREFETCH,
    TILE_COLUMNS,
    BinaryCounts,
    ClassCounts,
    ClassSums,
    ClassWeights,
    PairSums,
    class_of,
    counts_of,
    number_of,
    ones_in,
    samples_in,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport (
    GINI,
    MISSING_LEARNED,
    MISSING_SURROGATE,
    POISSON,
    Rows,
    Totals,
)


cdef enum:
    FEWEST_BINS = 16
    MAX_CLASS_BINS = 8192  # bins times classes of one column
    CLASSES_PER_SAMPLE = 8  # so many more, and a bin should have one sample more


# ------------------------------------------------------------------- samples of a node


cdef double centre_of(const Problem* problem, const NodeView* view) noexcept nogil:
    """What y is counted from: the mean of the node, but for Poisson deviance."""
    if problem.is_classifier:
        return view.totals.sums[1] / view.totals.weight
    return 0.0 if problem.criterion == POISSON else view.totals.centre[0]


cdef void describe_moments(
    const Problem* problem, SampleList* samples, const NodeView* view,
    NodeSearch* node
) noexcept nogil:
    """Count y from the mean of the node; Poisson: from 0, as its logarithm is taken."""
    cdef:
        const Rows* rows = &samples.node_rows
        Moments* amounts = samples.amounts
        double centre = centre_of(problem, view), pivot = 0.0, first, above
        double total = 0.0
        int64_t i
    if problem.criterion == POISSON:
        pivot = view.totals.sums[0] / view.totals.weight
    # What a sample adds to the sums of a bin; ``spread`` is the positive part of weight
    # * (y - pivot), for the bounds in ``measure_moments``.
    for i in range(node.n):
        first = <double>rows.label[i] if problem.is_classifier else rows.y[i]
        above = rows.weight[i] * (first - centre - pivot)
        first = rows.weight[i] * (first - centre)
        total += first
        amounts[i].first = first
        amounts[i].weight = rows.weight[i]
        # The positive part, without a branch to predict.
        amounts[i].spread = 0.5 * (above + fabs(above))
        amounts[i].n_samples = 1.0
    node.amounts = amounts
    node.centre = centre
    node.pivot = pivot
    node.total = total


# ------------------------------------------------------------------------------------
# Histograms of the samples of a node: counting several columns in one pass.
# ------------------------------------------------------------------------------------


cdef int32_t choose_coarseness(
    const Sums* kind, int64_t n, int64_t n_planes
) noexcept nogil:
    """How many neighbouring bins of the table, as a power of two, make one bin of a
    node of n samples. With fewer bins, more samples are to be sorted; with more, there
    is more to add up."""
    cdef:
        int32_t coarseness = 0
        int64_t most
    if Sums is BinaryCounts:
        most = max(n // 4, min(n // 2, <int64_t>64))
    elif Sums is Moments:
        most = n // 2
    else:
        while (
            (MAX_BINS >> coarseness) * n_planes > MAX_CLASS_BINS
            and MAX_BINS >> coarseness > FEWEST_BINS
        ):
            coarseness += 1
        most = max(n // (2 + n_planes // CLASSES_PER_SAMPLE), <int64_t>FEWEST_BINS)
    while MAX_BINS >> coarseness > most:
        coarseness += 1
    return coarseness


cdef inline void add_moments(Moments* slot, const Moments* amount) noexcept nogil:
    # ``amount`` may be of a sample or of a bin.
    slot.first += amount.first
    slot.weight += amount.weight
    slot.spread += amount.spread
    slot.n_samples += amount.n_samples


cdef inline void add_sample(
    Sums* slots, int64_t b, const NodeSearch* search, int64_t i, uint64_t entry
) noexcept nogil:
    """Add a sample to a bin."""
    cdef int64_t place
    if Sums is BinaryCounts:
        slots[b].counts += counts_of(entry)
    elif Sums is Moments:
        add_moments(&slots[b], &search.amounts[i])
    else:
        place = class_of(entry) * search.stride + b
        if Sums is ClassCounts:
            slots[place].weight += <uint32_t>whole_weight_of(entry)
        else:
            slots[place].weight += search.sample_weight[i]
        # The last plane counts samples.
        if search.counts_samples:
            slots[search.n_classes * search.stride + b].weight += 1


cdef inline void count_tile(
    const NodeSearch* search, const uint8_t* row_bins, int64_t width,
    SampledColumn** columns, Sums** slots, int32_t coarseness, bint is_far,
    uint8_t* tile_bins
) noexcept nogil:
    """Four columns in one pass: the bins of a sample stand in the same cache line.
    They are kept, as some will be read again."""
    cdef:
        const uint8_t* first = row_bins + columns[0].number
        const uint8_t* second = row_bins + columns[1].number
        const uint8_t* third = row_bins + columns[2].number
        const uint8_t* fourth = row_bins + columns[3].number
        Sums* first_slots = slots[0]
        Sums* second_slots = slots[1]
        Sums* third_slots = slots[2]
        Sums* fourth_slots = slots[3]
        const uint64_t* entries = search.entries
        int64_t i, place
        uint64_t entry
        uint32_t word
    for i in range(search.n):
        entry = entries[i]
        place = number_of(first_slots, entry) * width
        if is_far:
            PREFETCH(
                row_bins + number_of(first_slots, entries[i + FETCH_AHEAD]) * width
            )
        word = (
            <uint32_t>first[place] | <uint32_t>second[place] << 8
            | <uint32_t>third[place] << 16 | <uint32_t>fourth[place] << 24
        )
        # One shift for all four; bits from the neighbour are masked.
        word = (
            word >> coarseness & (<uint32_t>0xFF >> coarseness) * <uint32_t>0x01010101
        )
        tile_bins[0] = <uint8_t>word
        tile_bins[1] = <uint8_t>(word >> 8)
        tile_bins[2] = <uint8_t>(word >> 16)
        tile_bins[3] = <uint8_t>(word >> 24)
        tile_bins += TILE_COLUMNS
        add_sample(first_slots, word & 0xFF, search, i, entry)
        add_sample(second_slots, word >> 8 & 0xFF, search, i, entry)
        add_sample(third_slots, word >> 16 & 0xFF, search, i, entry)
        add_sample(fourth_slots, word >> 24, search, i, entry)


cdef void clear_bins(
    const NodeSearch* search, const SampledColumn* column, Sums* slots
) noexcept nogil:
    """Empty bins, and the one of missing values."""
    cdef int64_t n = column.n_bins
    if Sums in ClassSums:
        memset(slots, 0, search.n_planes * search.stride * sizeof(Sums))
    else:
        memset(slots, 0, n * sizeof(Sums))
        if column.missing_bin >= n:
            memset(&slots[column.missing_bin], 0, sizeof(Sums))


cdef wide_void count_columns(
    const NodeSearch* search, const uint8_t* row_bins, int64_t width,
    SampledColumn** columns, int64_t n_columns, int32_t coarseness, bint is_far,
    uint8_t* tile_bins, Sums* tile, int64_t tile_stride
) noexcept nogil:
    """Count the samples of up to four columns, each in its part of the tile."""
    cdef:
        SampledColumn* all_columns[TILE_COLUMNS]
        Sums* slots[TILE_COLUMNS]
        int64_t i
    # A column that is counted twice costs less than a loop for every number of them.
    for i in range(TILE_COLUMNS):
        all_columns[i] = columns[min(i, n_columns - 1)]
        slots[i] = tile + i * tile_stride
        if i < n_columns:
            clear_bins(search, columns[i], slots[i])
            columns[i].bins = tile_bins + i
    # The compiler specialises the loop for each constant.
    if is_far and coarseness == 0:
        count_tile(
            search, row_bins, width, all_columns, slots, 0, True, tile_bins
        )
    elif coarseness == 0:
        count_tile(
            search, row_bins, width, all_columns, slots, 0, False, tile_bins
        )
    elif coarseness == 1:
        count_tile(
            search, row_bins, width, all_columns, slots, 1, False, tile_bins
        )
    else:
        count_tile(
            search, row_bins, width, all_columns, slots, coarseness, False, tile_bins
        )


cdef void count_bins(
    const NodeSearch* search, const uint8_t* row_bins, int64_t width,
    SampledColumn** columns, int64_t n_columns, int32_t coarseness, bint is_far,
    uint8_t* tile_bins, Sums* tile, int64_t tile_stride
) noexcept nogil:
    """Count the samples of up to four columns, each in its part of the tile."""
    # A function for wide vector units belongs to one module.
    count_columns(
        search, row_bins, width, columns, n_columns, coarseness, is_far, tile_bins,
        tile, tile_stride
    )


cdef void count_codes(
    const NodeSearch* search, const SampledColumn* column, Sums* slots
) noexcept nogil:
    """Count the samples of a column whose codes are gathered."""
    cdef int64_t i
    clear_bins(search, column, slots)
    for i in range(search.n):
        add_sample(
            slots, bin_of_code(column, column.codes[i]), search, i, search.entries[i]
        )


cdef void choose_bins(
    SampledColumn* column, int64_t n, int32_t coarseness
) noexcept nogil:
    """Bins between the smallest and the largest of the gathered codes."""
    cdef:
        const uint32_t* codes = column.codes
        int64_t i, most = MAX_BINS >> coarseness
        # Signed numbers are what SSE2 compares.
        int32_t smallest = 0x7FFFFFFF, largest = -1, code
        int32_t missing = 0x7FFFFFFF
    if column.missing_bin >= 0:
        missing = <int32_t>column.largest + 1
        most = max(most - 1, 1)
    for i in range(n):
        code = <int32_t>codes[i]
        smallest = code if code < smallest else smallest
        # Missing codes are larger than all others, so they do not change the smallest
        # one; for the largest one they count as -1.
        code = code if code < missing else <int32_t>-1
        largest = code if code > largest else largest
    column.smallest = <uint32_t>smallest
    column.largest = <uint32_t>largest
    column.shift = 0
    while (largest - smallest) >> column.shift >= most:
        column.shift += 1
    column.n_bins = ((largest - smallest) >> column.shift) + 1
    if column.missing_bin >= 0:
        column.missing_bin = column.n_bins


# ------------------------------------------------------------------------ adding up


cdef int64_t add_up_planes(
    const NodeSearch* search, const SampledColumn* column, const ClassSums* slots,
    ClassSums* below
) noexcept nogil:
    """Turn class weights in bins into weights below them; returns the bins that hold
    samples. One entry more of each plane has the missing samples."""
    cdef:
        int64_t b, c, n_bins = column.n_bins, n_used = 0, stride = search.stride
        const ClassSums* source
        ClassSums* target
        ClassSums total
        ClassSums[MAX_BINS] used
    memset(used, 0, n_bins * sizeof(ClassSums))
    # A bin is used if any class has weight in it. (The plane of samples counts, too.)
    for c in range(search.n_planes):
        source = slots + c * stride
        target = below + c * stride
        total.weight = 0
        target[0].weight = 0
        # Two loops, as only the first is one that the compiler vectorises.
        for b in range(n_bins):
            used[b].weight += source[b].weight
        for b in range(n_bins):
            total.weight += source[b].weight
            target[b + 1].weight = total.weight
        target[n_bins + 1].weight = 0
        if column.missing_bin >= 0:
            target[n_bins + 1].weight = source[column.missing_bin].weight
    for b in range(n_bins):
        n_used += used[b].weight != 0
    return n_used


cdef int64_t add_up_bins(
    const NodeSearch* search, const SampledColumn* column, const Sums* slots,
    Sums* below
) noexcept nogil:
    """Turn sums of bins into sums below them; returns the bins that hold samples."""
    cdef:
        int64_t b, n_bins = column.n_bins, n_used = 0
        Sums total
    if Sums in ClassSums:
        return add_up_planes(search, column, slots, below)
    else:
        memset(&total, 0, sizeof(Sums))
        below[0] = total
        for b in range(n_bins):
            if Sums is BinaryCounts:
                n_used += slots[b].counts != 0
                total.counts += slots[b].counts
            else:
                n_used += slots[b].n_samples != 0.0
                add_moments(&total, &slots[b])
            below[b + 1] = total
        memset(&below[n_bins + 1], 0, sizeof(Sums))
        if column.missing_bin >= 0:
            below[n_bins + 1] = slots[column.missing_bin]
        return n_used


cdef int64_t n_missing_in(
    const NodeSearch* node, const SampledColumn* column, const Sums* below
) noexcept nogil:
    """Samples whose value is missing; they stand behind the last end of a bin."""
    cdef int64_t last = column.n_bins + 1
    if column.missing_bin < 0:
        return 0
    if Sums is BinaryCounts:
        return samples_in(below[last].counts)
    elif Sums is Moments:
        return <int64_t>below[last].n_samples
    else:
        return <int64_t>below[node.n_classes * node.stride + last].weight


cdef bint is_used(
    const NodeSearch* node, const Sums* below, int64_t b
) noexcept nogil:
    """Whether a bin holds samples."""
    cdef:
        int64_t c
        const Sums* plane
    if Sums is BinaryCounts:
        return below[b + 1].counts != below[b].counts
    elif Sums is Moments:
        return below[b + 1].n_samples != below[b].n_samples
    else:
        # Whether the sums below the two ends of the bin differ.
        for c in range(node.n_classes):
            plane = below + c * node.stride + b
            if plane[1].weight != plane[0].weight:
                return True
        return False


cdef int64_t next_used(
    const NodeSearch* node, const SampledColumn* column, int64_t b, int64_t step,
    const Sums* kind
) noexcept nogil:
    """The next bin that holds samples with a value, after or before another."""
    cdef const Sums* below = <const Sums*>column.histograms[0].below
    b += step
    while not is_used(node, below, b):
        b += step
    return b


# ------------------------------------------------------------------------------------
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
# ------------------------------------------------------------------------------------


cdef wide_void measure_counts(
    const BinaryCounts* below, int64_t n_ends, uint64_t before, double n, double t,
    double* cross, double* area, double* reach
) noexcept nogil:
    """d, k (n - k) and the reach at every end of a bin, of two classes. Of a bin that
    holds some ones, d rises by no more than (n - t) for each, so ``reach`` is that of
    all ones below; what zeros can lower d by follows from the end of the bin."""
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
    """The same of values; for Poisson the weight stands in place of the area.

    A sample of weight w changes d by n w (y - t / n), with y counted from the centre.
    The positive part of that is no more than n times the positive part of w (y -
    pivot), which is summed up as ``spread``, plus w times the slope |t - pivot n|,
    which is 0 but for rounding unless missing samples are left out.
    """
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
    """d^2 / (k (n - k)), without the factor that all of a histogram share."""
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


cdef inline bint has_wrong_sign(
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


cdef inline bint leaves_enough_samples(
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
    # ``total`` takes the sums of another part.
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
    # The weight of a set of samples.
    if PairSums is BinaryCounts:
        return <double>weight_in(sums.counts)
    else:
        return <double>sums.weight


cdef void measure_pairs(
    const NodeSearch* search, Histogram* h, const PairSums* below
) noexcept nogil:
    """What the ends of bins need for their scores."""
    cdef:
        int64_t n_ends = h.column.n_bins + 1
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
    # The end with the largest score, or bound.
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
    # Ends that leave too few samples are at the low and at the high end.
    while start < stop and not leaves_enough_samples(search, h, n_below(below, start)):
        score[start] = -1.0
        start += 1
    while stop > start and not leaves_enough_samples(
        search, h, n_below(below, stop - 1)
    ):
        stop -= 1
        score[stop] = -1.0
    h.edge = -INFINITY
    if is_poisson:
        bound_deviances(h.first, h.second, start, stop, h.weight, h.total, score)
    else:
        score_ends(h.first, h.second, start, stop, score)
    if search.problem.monotonic != NULL:
        for b in range(start, stop):
            if has_wrong_sign(search, h, h.first[b]):
                score[b] = -1.0
    # Scores, or for Poisson their bounds.
    best = largest_of(score + start, stop - start)
    if search.checks_limits:
        best = best_allowed(search, h, below, start, stop, best)
    if best >= 0.0:
        h.edge = h.offset + (best if is_poisson else search.unit * best / h.weight)


cdef void take_split_of_pairs(
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
    if not leaves_enough_samples(search, h, n_left):
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
        # The sample moves to the left; then the threshold is above it.
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
                    take_split_of_pairs(
                        search, h, &left, value, column.smallest + code,
                        column.smallest + above, True
                    )
                    beat = score_to_beat(problem, &search.found.split, h.margin)
        else:
            area = k * (weight - k)
            if d * d > bound * area and above != code and area > 0.0 and (
                not has_wrong_sign(search, h, d)
            ):
                take_split_of_pairs(
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
    take_split_of_pairs(search, h, &left, score, end_code(column, b), 0, False)


# ------------------------------------------------------------------------------------
# Which bins of two classes or of values may hold a better split, by the
# bounds above.
# ------------------------------------------------------------------------------------


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
        # d as in ``find_excess``; the weight of a side is no less than with one sample
        # of the bin.
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
        # d rises to ``high`` if only the samples that raise it move to the left, and
        # falls to ``low`` if only the others do. The area is concave in k, so least at
        # an end.
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
    # d is the one furthest on the side that is allowed. If even that has the wrong
    # sign, no split of the bin is allowed; otherwise none scores more than it.
    if d * direction > 0.0 or search.problem.criterion == POISSON:
        return has_wrong_sign(search, h, d)
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
    # The corners of what some samples of the bin can add, but not all: one of them, or
    # all but one, of either class, ...
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
    # ... or all ones, or all zeros.
    return ones > 0.0 and zeros > 0.0 and (
        reaches(left + ones, k + ones, n, t, bound)
        or reaches(left, k + zeros, n, t, bound)
    )


cdef inline bint reaches(
    double ones, double weight, double n, double t, double bound
) noexcept nogil:
    """Whether d^2 / (k (n - k)) exceeds the bound, with these sums on the left."""
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
    # A bin of one sample holds no threshold.
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


# ------------------------------------------------------------------------------------
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
# ------------------------------------------------------------------------------------


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
    """The same of real weights."""
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
    """The same of real weights."""
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
        # Without weight on a side the squares there are 0, and are divided by
        # ``least``.
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
    # -T(k) and -T(n - k), to which the classes add T(l_c) and T(r_c).
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
        return leaves_enough_samples(search, h, <int64_t>rows[b].weight - n_missing)
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
    # Ends that leave too few samples are at the low and at the high end.
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
        # What both sides add to the score, up to the base.
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
        # Of this class, from ``start`` to ``stop`` may be on the left. d_c is least
        # with none of the bin's and all of its other classes, largest the other way
        # round.
        inside = stop - start
        # A part of the bin has sum v^2 / k <= max v, and the two parts together at most
        # the two largest classes.
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
    """Take a split of classes, whose score is value / area up to base and unit."""
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
        # The sample moves to the left; only its class changes.
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
        # A threshold lies between different codes only; the limits are looked at last.
        above = <uint32_t>(keys[i] >> 32)
        if value > bound * area and above != code and area > 0.0 and (
            not search.counts_samples or leaves_enough_samples(search, h, n_left + i)
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


# ------------------------------------------------------------------------------------
# A column: histograms with missing samples on either side, and the candidates at the
# ends of bins and inside of open ones.
# ------------------------------------------------------------------------------------


cdef void read_totals(
    const NodeSearch* node, const Sums* sums, double* totals
) noexcept nogil:
    """Class weights, or the first moment, of what an entry of a histogram holds."""
    cdef int64_t c
    if Sums is BinaryCounts:
        totals[1] = <double>ones_in(sums.counts)
        totals[0] = <double>weight_in(sums.counts) - totals[1]
    elif Sums is Moments:
        totals[0] = sums.first
    else:
        for c in range(node.n_classes):
            totals[c] = <double>sums[c * node.stride].weight


cdef double part_goodness(
    const NodeSearch* node, const double* totals, double weight
) noexcept nogil:
    """What a set of samples adds to the score, as ``goodness``."""
    if node.amounts != NULL and node.problem.criterion != POISSON:
        return node.unit * totals[0] * totals[0] / weight if weight > 0.0 else 0.0
    return goodness(node.problem, totals, weight)


cdef double weight_of_part(
    const NodeSearch* node, const Sums* sums, const double* totals
) noexcept nogil:
    """The weight of what an entry of a histogram holds, whose totals are read already.
    """
    cdef:
        double weight = 0.0
        int64_t c
    if Sums is Moments:
        return sums.weight
    else:
        for c in range(node.n_classes):
            weight += totals[c]
        return weight


cdef void start_histogram(
    const NodeSearch* node, const SampledColumn* column, Histogram* h
) noexcept nogil:
    """All samples of the node are split; those that are missing go to child 1."""
    h.column = column
    h.missing_child = -1
    h.missing_left = False
    h.n_samples = node.n
    h.weight = node.view.totals.weight
    h.total = node.total
    h.totals = node.view.totals.sums
    h.offset = 0.0
    h.margin = node.view.margin
    h.base = 0.0
    h.whole_base = 0


cdef void set_base(
    const NodeSearch* node, Histogram* h, const Sums* kind
) noexcept nogil:
    """What has to be taken from a value for the score."""
    cdef:
        const int64_t* table = node.entropy_table
        int64_t c
    if Sums is ClassCounts:
        if node.problem.criterion != GINI:
            for c in range(node.n_classes):
                h.whole_base += table[<int64_t>h.totals[c]]
            h.whole_base -= table[<int64_t>h.weight]
            h.base = <double>h.whole_base
            return
    if Sums is Moments:
        if node.problem.criterion == POISSON:
            h.base = deviance_part(h.total, h.weight)
    elif not (Sums is BinaryCounts):
        h.base = goodness(node.problem, h.totals, h.weight)


cdef bint start_without_missing(
    const NodeSearch* node, SampledColumn* column, Histogram* h, const Sums* below,
    double alone_score
) noexcept nogil:
    """Split the samples that have a value alone, which is how missing ones are treated
    that get a branch of their own, or are sent by surrogates. Returns whether they may
    be split."""
    cdef:
        const Problem* problem = node.problem
        double* totals = <double*>h.totals
        const double* missing = totals + problem.n_statistics
        Totals present
        double missing_weight
    h.weight = weight_of_part(node, &below[column.n_bins], totals)
    h.n_samples = node.n - column.n_missing
    h.total = totals[1] if Sums is BinaryCounts else totals[0]
    if problem.missing_mode == MISSING_SURROGATE:
        present.weight = h.weight
        present.sums = totals
        present.squares = node.view.totals.squares
        h.margin = own_margin(problem, &present) + node.view.noise
        return True
    h.offset = alone_score
    h.missing_child = 2
    missing_weight = weight_of_part(node, &below[column.n_bins + 1], missing)
    return (
        column.n_missing >= problem.min_samples_leaf
        and missing_weight >= problem.min_weight_leaf
    )


cdef void add_missing_planes(
    const NodeSearch* node, const SampledColumn* column, const ClassSums* below,
    ClassSums* target
) noexcept nogil:
    """Class weights below the ends of bins, with the missing samples."""
    cdef int64_t b, c, n_ends = column.n_bins + 1
    for c in range(node.n_planes):
        for b in range(n_ends):
            target[c * node.stride + b].weight = (
                below[c * node.stride + b].weight
                + below[c * node.stride + n_ends].weight
            )


cdef double score_alone(
    const NodeSearch* node, const SampledColumn* column, const Sums* below,
    const double* totals
) noexcept nogil:
    """Score of parting the missing samples from all others."""
    cdef:
        const double* missing = totals + node.problem.n_statistics
        double weight = weight_of_part(node, &below[column.n_bins], totals)
        double rest = weight_of_part(node, &below[column.n_bins + 1], missing)
        double whole = node.view.totals.goodness
    if Sums is Moments:
        if node.problem.criterion != POISSON:
            whole = node.unit * node.total * node.total / node.view.totals.weight
    return (
        part_goodness(node, totals, weight) + part_goodness(node, missing, rest) - whole
    )


cdef void start_histograms(
    const NodeSearch* node, SampledColumn* column, const Sums* kind
) noexcept nogil:
    """Find out which samples are split, and the best ends of bins."""
    cdef:
        Histogram* h = &column.histograms[0]
        Histogram* other
        Sums* below = <Sums*>h.below
        double* totals
        double alone_score
        int64_t size = node.problem.n_statistics, i
    column.n_histograms = 1
    totals = column.totals
    start_histogram(node, column, h)
    # Learned: two histograms, with the missing samples on the right and on the left.
    if column.n_missing > 0 and node.problem.missing_mode == MISSING_LEARNED:
        h.missing_child = 1
        other = &column.histograms[1]
        start_histogram(node, column, other)
        other.missing_child = 0
        other.missing_left = True
        if Sums in ClassSums:
            add_missing_planes(node, column, below, <Sums*>other.below)
        else:
            memcpy(other.below, below, (column.n_bins + 2) * sizeof(Sums))
        column.n_histograms = 2
    elif column.n_missing > 0:
        # Otherwise only the samples with a value are divided.
        read_totals(node, &below[column.n_bins], totals)
        read_totals(node, &below[column.n_bins + 1], totals + size)
        alone_score = score_alone(node, column, below, totals)
        h.totals = totals
        if not start_without_missing(node, column, h, below, alone_score):
            column.n_histograms = 0
    for i in range(column.n_histograms):
        h = &column.histograms[i]
        set_base(node, h, kind)
        if Sums in ClassSums:
            find_edge_of_classes(node, h, <Sums*>h.below)
        else:
            find_edge_of_pairs(node, h, <Sums*>h.below)


cdef inline int64_t count_keys(
    const uint64_t* keys, int64_t n, int32_t shift, int64_t b
) noexcept nogil:
    """How many of the sorted keys belong to a bin."""
    cdef int64_t i = 0
    while i < n and <int64_t>(keys[i] >> 32 >> shift) == b:
        i += 1
    return i


cdef inline double bound_of_ends(
    const NodeSearch* node, const Histogram* h, const Sums* kind
) noexcept nogil:
    """What the end of a bin must exceed."""
    cdef double beat
    if Sums in ClassSums:
        return class_bound(node, h)
    else:
        beat = score_to_beat(node.problem, &node.found.split, h.margin)
        if node.problem.criterion == POISSON:
            return beat - h.offset
        return raw_bound(h, node.unit, beat)


cdef inline uint32_t end_code(const SampledColumn* column, int64_t b) noexcept nogil:
    """The largest code below the end of a bin."""
    return column.smallest + (<uint32_t>b << column.shift) - 1


cdef int64_t select_bins(
    const NodeSearch* node, const Histogram* h, double top, uint8_t* may_win,
    const Sums* kind
) noexcept nogil:
    """Mark the bins that may hold a split better than the best one so far and than a
    score; returns how many, or -1 if no end of a bin may be better, either."""
    cdef:
        const SampledColumn* column = h.column
        const Sums* below = <const Sums*>h.below
        int64_t n_kept = 0
        double beat = score_to_beat(node.problem, &node.found.split, h.margin)
    if column.shift > 0:
        if Sums in ClassSums:
            n_kept = select_bins_of_classes(node, h, below, max(top, beat), may_win)
        else:
            n_kept = select_bins_of_pairs(node, h, below, max(top, beat), may_win)
    else:
        memset(may_win, 0, column.n_bins)
    # An edge may be rounded in another way than a candidate.
    if n_kept == 0 and not h.edge + 0.25 * node.slack > beat:
        return -1
    if column.missing_bin >= 0:
        may_win[column.missing_bin] = False
    return n_kept


cdef void try_candidates(
    NodeSearch* node, const Histogram* h, const uint8_t* may_win, const uint64_t* keys,
    int64_t n_keys, const Sums* kind
) noexcept nogil:
    """All candidates in ascending order: those between the samples of the marked bins,
    whose keys are sorted, and the ends of bins."""
    cdef:
        const SampledColumn* column = h.column
        const Sums* below = <const Sums*>h.below
        int64_t b, n
        double bound = bound_of_ends(node, h, kind)
        bint is_poisson = node.problem.criterion == POISSON
    for b in range(column.n_bins):
        # Thresholds inside of the bin come before its end, as they are lower.
        if may_win[b]:
            n = count_keys(keys, n_keys, column.shift, b)
            if n > 1:
                if Sums in ClassSums:
                    walk_up_classes(
                        node, h, below, keys, n, b, node.problem.criterion == GINI
                    )
                else:
                    walk_up_pairs(node, h, below, keys, n, b)
                bound = bound_of_ends(node, h, kind)
            # The keys are those of the open bins, one after the other.
            keys += n
            n_keys -= n
        if Sums in ClassSums:
            if h.fourth[b + 1] > bound * h.fifth[b + 1]:
                take_class_split(
                    node, h, h.fourth[b + 1], h.fifth[b + 1], end_code(column, b + 1),
                    0, False
                )
                bound = bound_of_ends(node, h, kind)
        elif h.fourth[b + 1] >= 0.0 and beats_bound(h, b + 1, bound, is_poisson):
            take_end_of_pairs(node, h, below, b + 1)
            bound = bound_of_ends(node, h, kind)


cdef bint satisfies_constraint(
    const NodeSearch* node, const SampledColumn* column, const double* left,
    const double* right, double left_weight, double right_weight, const Sums* kind
) noexcept nogil:
    """Whether children of these sums satisfy the monotonic constraint."""
    cdef double first, second
    if node.problem.monotonic == NULL:
        return True
    if Sums is Moments:
        first = node.centre + left[0] / left_weight
        second = node.centre + right[0] / right_weight
    else:
        first = left[1] / left_weight
        second = right[1] / right_weight
    return not breaks_constraint(
        first, second, node.view.lower, node.view.upper,
        node.problem.monotonic[column.number]
    )


cdef void try_missing_bin(
    NodeSearch* node, const SampledColumn* column, const Sums* below
) noexcept nogil:
    """Samples with a value against those without."""
    cdef:
        const Problem* problem = node.problem
        Found* found = &node.found
        double* totals = column.totals
        double* missing = totals + problem.n_statistics
        double weight, rest, score
        int64_t n_present = node.n - column.n_missing
    if problem.missing_mode == MISSING_SURROGATE or n_present == 0:
        return
    read_totals(node, &below[column.n_bins], totals)
    read_totals(node, &below[column.n_bins + 1], missing)
    weight = weight_of_part(node, &below[column.n_bins], totals)
    rest = weight_of_part(node, &below[column.n_bins + 1], missing)
    if not leaves_enough(problem, n_present, column.n_missing, weight, rest) or not (
        satisfies_constraint(node, column, totals, missing, weight, rest, below)
    ):
        return
    score = score_alone(node, column, below, totals)
    if not score > score_to_beat(problem, &found.split, node.view.margin):
        return
    take_missing_alone(&found.split, score, n_present)
    found.column = column
    found.is_between = True
    if Sums is BinaryCounts:
        found.left_counts = below[column.n_bins].counts
