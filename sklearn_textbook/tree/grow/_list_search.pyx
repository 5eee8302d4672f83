"""The best split of a node whose samples are a list, and what its children hold.

A node counts its samples in bins, if there are many in those of the table and four
columns in one pass, and reads codes only of the samples whose bin may hold a better
threshold than the ends of bins do. A random threshold needs no histogram, but the
range of a column and what is below it. The levels of nominal columns are summed up one
by one. Columns of several outputs are sorted and searched as sorted columns are.
"""

from libc.math cimport INFINITY, fabs, frexp, ldexp, log2, sqrt
from libc.stdint cimport (
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._buffers cimport reserve_terms
from sklearn_textbook.tree.grow._column_sampler cimport (
    ColumnSampler,
    finish_sampling,
    note_constant,
    sample_column,
    start_sampling,
)
from sklearn_textbook.tree.grow._children cimport (
    Children,
    clear_children,
    finish_classes,
    finish_values,
    list_pieces,
    measure_children,
    write_level_map,
)
from sklearn_textbook.tree.grow._layout cimport Term
from sklearn_textbook.tree.grow._search cimport draw_split, mark_rows
from sklearn_textbook.tree.grow._partition_list cimport partition_by_steps
from sklearn_textbook.tree.grow._sample_list cimport (
    LIST_BINARY,
    LIST_CLASS_COUNTS,
    LIST_CLASS_WEIGHTS,
    LIST_GENERAL,
    LIST_MOMENTS,
    Span,
    add_codes,
    describe_samples,
    gather_codes,
    sort_column,
    sort_keys,
)
from sklearn_textbook.tree.split._best cimport breaks_constraint, score_to_beat, take
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._column cimport (
    assign_runs,
    count_missing,
    evaluate_column,
    evaluate_runs,
    midpoint,
    own_margin,
)
from sklearn_textbook.tree.split._criterion cimport add_row, goodness
from sklearn_textbook.tree.split._deviance cimport deviance_bound, deviance_part
from sklearn_textbook.tree.split._oblique cimport (
    SUM_CODE_BITS,
    Direction,
    ObliqueSearch,
    begin_oblique,
    code_sums,
    finish_oblique,
    keep_direction,
    make_directions,
    rank_codes,
    try_sorted_sums,
    turn_to_direction,
)
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    random_unit,
)
from sklearn_textbook.tree.split._steps cimport (
    ABOVE_STEPS,
    HIGHEST_STEP,
    LOWEST_STEP,
    MISSING_STEP,
    Scale,
    separates_all,
    step_of,
)
from sklearn_textbook.tree.split._sums cimport (
    COUNT_BITS,
    COUNT_MASK,
    FETCH_AHEAD,
    FEW_SAMPLES,
    MAX_BINS,
    PREFETCH,
    TILE_COLUMNS,
    BinaryCounts,
    ClassCounts,
    ClassSums,
    ClassWeights,
    Moments,
    PairSums,
    Sums,
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
    NOMINAL_COLUMN,
    POISSON,
    SPLIT_MULTIWAY,
    Rows,
    Scratch,
    Split,
    Totals,
)
from sklearn_textbook._contract._interrupt cimport has_stopped, must_stop
from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook._contract._wide_units cimport wide_void


cdef enum:
    GAP = 4  # between the sums of one column or class and those of the next
    FEWEST_USED = 8  # bins with samples, below which a column is counted more finely
    FEWEST_BINS = 16
    MAX_CLASS_BINS = 8192  # bins times classes of one column
    CLASSES_PER_SAMPLE = 8  # so many more, and a bin should have one sample more
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ
    END_ARRAYS = 5
    FLAG_ROWS = 64
    FEW_KEYS = 48  # that are sorted at once
    SUMS_OFFSET = 2  # of the sums of a level, behind its samples and their weight
    MAX_BYTES = 256  # children that a byte can number


# ------------------------------------------------------------------------------------
# Histograms of the samples of a node: counting several columns in one pass.
# ------------------------------------------------------------------------------------


cdef inline int32_t choose_coarseness(
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


cdef inline int64_t bin_of_code(
    const SampledColumn* column, uint32_t code
) noexcept nogil:
    if code > column.largest:
        return column.missing_bin
    return (code - column.smallest) >> column.shift


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


# ------------------------------------------------------------------------------------
# Passes over the steps of a column: its range, and the samples below a step.
# ------------------------------------------------------------------------------------


cdef enum:
    NUMBERED_ROWS = 16384  # whose numbers fit into 16 bits with a sign
    SCANNED_ROWS = 256  # that are compared with a step at once
    MAX_COUNT = 0xFFFF
    SPARSE = 8  # rows of the table for one of a node that is read row by row
    FIXED_BITS = 50  # of a number in fixed point
    SUM_BITS = 62

# The range of a column in a node.
cdef struct StepRange:
    int64_t n_missing
    int16_t lowest
    int16_t highest
    # a sample on each, and whether it is the only one
    int64_t at_lowest
    int64_t at_highest
    bint is_single_lowest
    bint is_single_highest
    double smallest
    double largest


cdef wide_void find_range(
    const int16_t* steps, int64_t n, int16_t* low, int16_t* high
) noexcept nogil:
    """The lowest step of a value and the highest one."""
    cdef:
        # The step of missing values, the smallest number, becomes the largest.
        uint16_t lowest = MAX_COUNT, above
        int16_t highest = MISSING_STEP
        int64_t i
    for i in range(n):
        above = <uint16_t>(steps[i] - <int16_t>LOWEST_STEP)
        lowest = above if above < lowest else lowest
        highest = steps[i] if steps[i] > highest else highest
    low[0] = <int16_t>(<int32_t>lowest + LOWEST_STEP)
    high[0] = highest


cdef wide_void find_on_steps(
    const int16_t* steps, int64_t n, int16_t low, int16_t high, int64_t* places,
    int64_t* counts
) noexcept nogil:
    """The last samples on two steps, and how many are on each."""
    cdef:
        int64_t i
        # a number of its own, as wide as the steps
        int16_t number = 0, is_low, is_high
        int16_t last_low = 0, last_high = 0, n_low = 0, n_high = 0
    for i in range(n):
        is_low = <int16_t>(-<int16_t>(steps[i] == low))
        is_high = <int16_t>(-<int16_t>(steps[i] == high))
        n_low -= is_low
        n_high -= is_high
        is_low &= number
        is_high &= number
        last_low = is_low if is_low > last_low else last_low
        last_high = is_high if is_high > last_high else last_high
        number += 1
    places[0] = last_low
    places[1] = last_high
    counts[0] = n_low
    counts[1] = n_high


cdef void find_extremes(
    const int16_t* steps, int64_t n, StepRange* found
) noexcept nogil:
    """Find the lowest and the highest step, and a sample on each."""
    cdef:
        int16_t low, high
        # the first block with the extreme, and how many have it
        int64_t low_block = 0, high_block = 0, n_low = 0, n_high = 0, start = 0
        int64_t[2] places
        int64_t[2] counts
    found.lowest = HIGHEST_STEP
    found.highest = MISSING_STEP
    while start < n:
        find_range(steps + start, min(<int64_t>NUMBERED_ROWS, n - start), &low, &high)
        n_low = (0 if low < found.lowest else n_low) + (low <= found.lowest)
        low_block = start if low < found.lowest else low_block
        found.lowest = low if low < found.lowest else found.lowest
        n_high = (0 if high > found.highest else n_high) + (high >= found.highest)
        high_block = start if high > found.highest else high_block
        found.highest = high if high > found.highest else found.highest
        start += NUMBERED_ROWS
    find_on_steps(
        steps + low_block, min(<int64_t>NUMBERED_ROWS, n - low_block), found.lowest,
        found.highest, places, counts
    )
    found.at_lowest = places[0] + low_block
    found.is_single_lowest = n_low == 1 and counts[0] == 1
    if high_block != low_block:
        find_on_steps(
            steps + high_block, min(<int64_t>NUMBERED_ROWS, n - high_block),
            found.lowest, found.highest, places, counts
        )
    found.at_highest = places[1] + high_block
    found.is_single_highest = n_high == 1 and counts[1] == 1


cdef wide_void count_on_step(
    const int16_t* steps, int64_t n, int16_t step, int64_t* count
) noexcept nogil:
    """Samples on a step, of so few that their number fits into 16 bits."""
    cdef:
        int64_t i
        uint16_t n_equal = 0
    for i in range(n):
        n_equal += <uint16_t>(steps[i] == step)
    count[0] = n_equal


cdef int64_t list_on_step(
    const int16_t* steps, int64_t n, int16_t step, uint32_t* places
) noexcept nogil:
    """List the samples on a step; returns their number."""
    cdef int64_t i, start = 0, n_listed = 0, count, stop
    while start < n:
        # Most blocks have none.
        stop = min(start + SCANNED_ROWS, n)
        count_on_step(steps + start, stop - start, step, &count)
        i = start
        while count > 0:
            places[n_listed] = <uint32_t>i
            n_listed += steps[i] == step
            count -= steps[i] == step
            i += 1
        start = stop
    return n_listed


cdef wide_void sum_block(
    const int16_t* steps, const uint16_t* weights, const uint16_t* ones, int64_t n,
    int16_t boundary, int64_t* counts
) noexcept nogil:
    """Samples below a step, their weight, and that of the second class; of so few that
    sums fit into 16 bits."""
    cdef:
        int64_t i
        uint16_t n_below = 0, weight = 0, n_ones = 0, mask
    for i in range(n):
        mask = <uint16_t>(0 - <uint16_t>(steps[i] < boundary))
        n_below -= mask
        weight += weights[i] & mask
        n_ones += ones[i] & mask
    counts[0] += n_below
    counts[1] += weight
    counts[2] += n_ones


cdef wide_void count_block(
    const int16_t* steps, int64_t n, int16_t boundary, int64_t* count
) noexcept nogil:
    """Samples below a step, of so few that their number fits into 16 bits."""
    cdef:
        int64_t i
        uint16_t n_below = 0
    for i in range(n):
        n_below += <uint16_t>(steps[i] < boundary)
    count[0] += n_below


cdef int64_t count_below(
    const int16_t* steps, int64_t n, int16_t boundary
) noexcept nogil:
    """Samples below a step."""
    cdef int64_t i = 0, count = 0
    while i < n:
        count_block(steps + i, min(<int64_t>MAX_COUNT, n - i), boundary, &count)
        i += MAX_COUNT
    return count


cdef wide_void sum_below(
    const int16_t* steps, const int64_t* amounts, int64_t n, int16_t boundary,
    int64_t* total
) noexcept nogil:
    """Sum up the numbers of the samples below a step."""
    cdef int64_t i, below = 0
    for i in range(n):
        below += amounts[i] & -<int64_t>(steps[i] < boundary)
    total[0] = below


cdef wide_void send_missing_right(int16_t* steps, int64_t n) noexcept nogil:
    """Put missing values above all others."""
    cdef int64_t i
    for i in range(n):
        steps[i] = ABOVE_STEPS if steps[i] == MISSING_STEP else steps[i]


# ------------------------------------------------------------------------------------
# Thresholds sampled at random, one for each column that a node tries.
#
# A threshold needs the smallest and the largest value of a column; one pass then sums
# up the samples below it. Both are passes over steps (_steps.pxd), which vector units
# compare many at a time. Values are read of the few samples on the steps of the
# extremes and of the threshold.
# ------------------------------------------------------------------------------------


# ------------------------------------------------------------------ samples of a node


cdef wide_void take_bits(
    const uint64_t* entries, int64_t n, int shift, uint16_t* bits
) noexcept nogil:
    """Take 16 bits of every entry."""
    cdef int64_t i
    for i in range(n):
        bits[i] = <uint16_t>(entries[i] >> shift)


cdef double round_to_fixed(
    const double* numbers, int64_t n, int64_t* fixed
) noexcept nogil:
    """Turn numbers into whole ones, whose sums do not depend on the order, and as fine
    as their sum allows. Returns their unit."""
    cdef:
        double largest = 0.0, size, scale
        int64_t i, rest = n
        int bits = SUM_BITS, exponent
    for i in range(n):
        size = fabs(numbers[i])
        largest = size if size > largest else largest
    while rest > 0:
        rest >>= 1
        bits -= 1
    bits = min(bits, <int>FIXED_BITS)
    frexp(largest, &exponent)
    exponent = max(exponent, -900)  # units stay numbers that have a reciprocal
    scale = ldexp(1.0, bits - exponent)
    for i in range(n):
        fixed[i] = <int64_t>(numbers[i] * scale)
    return ldexp(1.0, exponent - bits)


cdef void describe_targets(
    const Problem* problem, SampleList* samples, NodeSearch* node, const Sums* kind
) noexcept nogil:
    """Put what is summed up of the samples side by side."""
    cdef:
        const Rows* rows = &samples.node_rows
        const double* weight = rows.weight
        double* first = <double*>samples.keys
        double y, unit
        int64_t i, total = 0
    if Sums is BinaryCounts:
        take_bits(node.entries, node.n, 0, samples.ones)
        take_bits(node.entries, node.n, COUNT_BITS, samples.whole_weights)
    elif Sums is Moments:
        node.amounts = samples.amounts
        node.centre = centre_of(problem, node.view)
        for i in range(node.n):
            y = <double>rows.label[i] if problem.is_classifier else rows.y[i]
            first[i] = weight[i] * (y - node.centre)
        unit = round_to_fixed(first, node.n, samples.fixed_first)
        samples.weight_unit = round_to_fixed(weight, node.n, samples.fixed_weight)
        for i in range(node.n):
            total += samples.fixed_first[i]
        samples.first_unit = unit
        node.total = <double>total * unit
        # Rounding of one integer of the unit per sample.
        node.noise = 8.0 * unit * <double>node.n * sqrt(
            node.view.totals.squares / node.view.totals.weight
        )


cdef inline const double* values_of(
    const SampleList* samples, uint64_t entry, const Sums* kind
) noexcept nogil:
    """The values of a sample."""
    cdef int64_t number = number_of(kind, entry)
    if samples.is_local:
        number = samples.local_row[number]
    return samples.row_values + number * samples.table.n_columns


cdef inline void take_four(
    const int16_t* source, const int64_t* places, int16_t* steps
) noexcept nogil:
    """Put four steps next to each other in one store: four stores that are loaded by
    one instruction stall."""
    cdef int16_t[4] four
    four[0] = source[places[0]]
    four[1] = source[places[1]]
    four[2] = source[places[2]]
    four[3] = source[places[3]]
    memcpy(steps, four, sizeof(four))


cdef inline void read_four(
    const int16_t* source, int64_t column_width, int64_t row_width,
    const uint64_t* entries, int64_t n, bint is_far, SampledColumn** columns,
    const Sums* kind
) noexcept nogil:
    """Four columns in one pass, from steps that are so far apart: those of a row in one
    or two cache lines, or those of a column."""
    cdef:
        const int16_t* first = source + columns[0].number * column_width
        const int16_t* second = source + columns[1].number * column_width
        const int16_t* third = source + columns[2].number * column_width
        const int16_t* fourth = source + columns[3].number * column_width
        int16_t* first_steps = columns[0].steps
        int16_t* second_steps = columns[1].steps
        int16_t* third_steps = columns[2].steps
        int16_t* fourth_steps = columns[3].steps
        const int16_t* row
        int64_t[4] places
        int64_t i = 0, j
    while i + 4 <= n:
        for j in range(4):
            if is_far:
                row = source + row_width * (
                    number_of(kind, entries[i + j + FETCH_AHEAD])
                )
                PREFETCH(row)
                PREFETCH(row + row_width - 1)
            places[j] = number_of(kind, entries[i + j]) * row_width
        take_four(first, places, first_steps + i)
        take_four(second, places, second_steps + i)
        take_four(third, places, third_steps + i)
        take_four(fourth, places, fourth_steps + i)
        i += 4
    while i < n:
        j = number_of(kind, entries[i]) * row_width
        first_steps[i] = first[j]
        second_steps[i] = second[j]
        third_steps[i] = third[j]
        fourth_steps[i] = fourth[j]
        i += 1


cdef void read_steps(
    const SampleList* samples, const NodeSearch* node, SampledColumn** columns,
    int64_t n_columns, const Sums* kind
) noexcept nogil:
    """Put the steps of up to four columns next to each other."""
    cdef:
        const int16_t* source = samples.row_steps
        int64_t i, j, column_width = 1, row_width = samples.table.n_columns
    if samples.is_local:
        source = samples.local_steps
    elif node.n * SPARSE > samples.table.n_rows:
        # Cache lines of a column are then read one by one.
        source = samples.steps
        column_width, row_width = samples.table.n_rows, 1
    # The compiler specialises the loop for each constant.
    if n_columns == TILE_COLUMNS:
        if row_width == 1:
            read_four(
                source, column_width, 1, node.entries, node.n, False, columns, kind
            )
        elif samples.is_local:
            read_four(
                source, 1, row_width, node.entries, node.n, False, columns, kind
            )
        else:
            read_four(
                source, 1, row_width, node.entries, node.n, True, columns, kind
            )
        return
    for j in range(n_columns):
        for i in range(node.n):
            columns[j].steps[i] = source[
                columns[j].number * column_width
                + number_of(kind, node.entries[i]) * row_width
            ]


# ---------------------------------------------------------------------------- ranges


cdef void locate_extremes(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column,
    StepRange* found, const Sums* kind
) noexcept nogil:
    """Find the lowest and the highest step, and prefetch the values there: those of
    several columns come from memory at the same time."""
    find_extremes(column.steps, node.n, found)
    PREFETCH(
        values_of(samples, node.entries[found.at_lowest], kind) + column.number
    )
    PREFETCH(
        values_of(samples, node.entries[found.at_highest], kind) + column.number
    )


cdef void widen_range(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column,
    int16_t step, StepRange* found, const Sums* kind
) noexcept nogil:
    """Widen a range by the values of all samples on a step."""
    cdef:
        uint32_t* places = <uint32_t*>samples.spare
        int64_t i, n = list_on_step(column.steps, node.n, step, places)
        double value
    for i in range(n):
        value = values_of(samples, node.entries[places[i]], kind)[column.number]
        found.smallest = value if value < found.smallest else found.smallest
        found.largest = value if value > found.largest else found.largest


cdef bint find_values(
    const SampleList* samples, const NodeSearch* node, SampledColumn* column,
    StepRange* found, const Sums* kind
) noexcept nogil:
    """Find the smallest and the largest value; whether the column is not constant."""
    cdef:
        const Scale* scale = (
            samples.local_scales if samples.is_local else samples.scales
        ) + column.number
    column.n_missing = 0
    if node.problem.has_missing[column.number]:
        column.n_missing = count_below(column.steps, node.n, LOWEST_STEP)
        if column.n_missing == node.n:
            return False
    found.smallest = values_of(samples, node.entries[found.at_lowest], kind)[
        column.number
    ]
    found.largest = values_of(samples, node.entries[found.at_highest], kind)[
        column.number
    ]
    if not separates_all(scale):
        if not found.is_single_lowest:
            widen_range(samples, node, column, found.lowest, found, kind)
        if not found.is_single_highest and found.highest != found.lowest:
            widen_range(samples, node, column, found.highest, found, kind)
    return column.n_missing > 0 or found.smallest < found.largest


# ------------------------------------------------------------------------ thresholds


cdef int16_t find_boundary(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column,
    double threshold, const Sums* kind
) noexcept nogil:
    """The step above those of child 0. Samples on the step of the threshold are moved
    by one where that is needed."""
    cdef:
        const Scale* scale = (
            samples.local_scales if samples.is_local else samples.scales
        ) + column.number
        int16_t boundary = step_of(threshold, scale)
        uint32_t* places = <uint32_t*>samples.spare
        int64_t i, n = list_on_step(column.steps, node.n, boundary, places)
        double value
    for i in range(n):
        value = values_of(samples, node.entries[places[i]], kind)[column.number]
        if value <= threshold:
            column.steps[places[i]] -= 1
    return boundary


cdef void sum_counts(
    const SampleList* samples, const int16_t* steps, int64_t n, int16_t boundary,
    int64_t* counts
) noexcept nogil:
    """Samples of child 0, their weight, and that of the second class."""
    cdef int64_t i = 0, most = MAX_COUNT // samples.most_weight
    memset(counts, 0, 3 * sizeof(int64_t))
    while i < n:
        sum_block(
            steps + i, samples.whole_weights + i, samples.ones + i, min(most, n - i),
            boundary, counts
        )
        i += most


cdef double sum_classes(
    const NodeSearch* node, const int16_t* steps, int16_t boundary, double* left,
    const ClassSums* kind
) noexcept nogil:
    """Class weights of child 0; returns their sum."""
    cdef:
        int64_t* counts = node.class_counts
        double weight = 0.0
        int64_t i, c
        uint64_t entry
    memset(counts, 0, node.n_classes * sizeof(int64_t))
    memset(left, 0, node.n_classes * sizeof(double))
    # No branch to predict.
    for i in range(node.n):
        entry = node.entries[i]
        if ClassSums is ClassCounts:
            counts[class_of(entry)] += (
                whole_weight_of(entry) & -<int64_t>(steps[i] < boundary)
            )
        else:
            left[class_of(entry)] += (
                node.sample_weight[i] * <double>(steps[i] < boundary)
            )
    for c in range(node.n_classes):
        if ClassSums is ClassCounts:
            left[c] = <double>counts[c]
        weight += left[c]
    return weight


cdef void sum_left(
    const SampleList* samples, const NodeSearch* node, const int16_t* steps,
    int16_t boundary, int64_t* n_left, double* weight, double* left, const Sums* kind
) noexcept nogil:
    """Sum up the samples of child 0."""
    cdef int64_t[3] counts
    if Sums is BinaryCounts:
        sum_counts(samples, steps, node.n, boundary, counts)
        n_left[0] = counts[0]
        weight[0] = <double>counts[1]
        left[1] = <double>counts[2]
        left[0] = weight[0] - left[1]
    elif Sums is Moments:
        n_left[0] = count_below(steps, node.n, boundary)
        sum_below(steps, samples.fixed_first, node.n, boundary, &counts[0])
        sum_below(steps, samples.fixed_weight, node.n, boundary, &counts[1])
        left[0] = <double>counts[0] * samples.first_unit
        weight[0] = <double>counts[1] * samples.weight_unit
    else:
        n_left[0] = count_below(steps, node.n, boundary)
        weight[0] = sum_classes(node, steps, boundary, left, kind)


cdef bint is_random_split_allowed(
    const NodeSearch* node, const SampledColumn* column, int64_t n_left, double weight,
    const double* left, const double* right, const Sums* kind
) noexcept nogil:
    """Limits of the children, and monotonic constraints."""
    cdef:
        const Problem* problem = node.problem
        double rest = node.view.totals.weight - weight, smallest
        double first, second
    if not node.lowest <= n_left <= node.n - node.lowest:
        return False
    if weight < problem.min_weight_leaf or rest < problem.min_weight_leaf:
        return False
    if Sums is Moments:
        smallest = 1e-12 * node.total
        if problem.criterion == POISSON and (
            left[0] <= smallest or right[0] <= smallest
        ):
            return False
    if problem.monotonic == NULL:
        return True
    if Sums is Moments:
        first = node.centre + left[0] / weight
        second = node.centre + right[0] / rest
    else:
        first = left[1] / weight
        second = right[1] / rest
    return not breaks_constraint(
        first, second, node.view.lower, node.view.upper,
        problem.monotonic[column.number]
    )


cdef void try_random_threshold(
    const SampleList* samples, NodeSearch* node, const SampledColumn* column,
    const StepRange* values, const Sums* kind
) noexcept nogil:
    """One threshold, sampled evenly between the smallest and the largest value; one
    inside of a bin is moved to its upper end."""
    cdef:
        const Problem* problem = node.problem
        Found* found = &node.found
        double* left = node.left
        double* right = node.right
        uint64_t state = child_state(node.view.random_state, ~<int64_t>column.number)
        double threshold, weight, score
        int64_t n_left, k
        int16_t boundary
        bint missing_left = False
    if not values.smallest < values.largest:
        return
    threshold = values.smallest + random_unit(&state) * (
        values.largest - values.smallest
    )
    if threshold >= values.largest:
        threshold = values.smallest + 0.0  # not -0
    if column.n_missing > 0:
        missing_left = random_below(&state, 2) == 1
        if not missing_left:
            send_missing_right(column.steps, node.n)
    boundary = find_boundary(samples, node, column, threshold, kind)
    sum_left(samples, node, column.steps, boundary, &n_left, &weight, left, kind)
    if Sums is Moments:
        right[0] = node.total - left[0]
        score = -part_goodness(node, &node.total, node.view.totals.weight)
    else:
        for k in range(problem.n_statistics):
            right[k] = node.view.totals.sums[k] - left[k]
        score = -node.view.totals.goodness
    if not is_random_split_allowed(node, column, n_left, weight, left, right, kind):
        return
    score += part_goodness(node, left, weight)
    score += part_goodness(node, right, node.view.totals.weight - weight)
    if not score > score_to_beat(
        problem, &found.split, node.view.margin + node.noise
    ):
        return
    take(&found.split, score, n_left, -1)
    if column.n_missing > 0:
        found.split.missing_child = 0 if missing_left else 1
    found.split.n_children = 2
    found.split.threshold = leave_bin(problem, column.number, threshold)
    found.column = column
    found.boundary = boundary
    if Sums is BinaryCounts:
        found.left_counts = (
            <uint64_t>n_left << (2 * COUNT_BITS) | <uint64_t>weight << COUNT_BITS
            | <uint64_t>left[1]
        )


# ------------------------------------------------------------------------------------
# The columns that a node samples: counting its samples in bins, and listing those of
# some bins.
# ------------------------------------------------------------------------------------


# Which of 64 flags are 1, as bits of a number, and the lowest of these.
cdef extern from *:
    """
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <emmintrin.h>
    static inline uint64_t FLAG_BITS(const uint8_t *flags) {
        uint64_t bits = 0;
        int i;
        for (i = 0; i < 64; i += 16) {
            __m128i high = _mm_slli_epi16(
                _mm_loadu_si128((const __m128i *)(flags + i)), 7
            );
            bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(high) << i;
        }
        return bits;
    }
    #define LOWEST_PLACE(bits) __builtin_ctzll(bits)
    #else
    static uint64_t FLAG_BITS(const uint8_t *flags) {
        uint64_t bits = 0;
        int i;
        for (i = 0; i < 64; i++) bits |= (uint64_t)flags[i] << i;
        return bits;
    }
    static int LOWEST_PLACE(uint64_t bits) {
        int place = 0;
        while (!(bits >> place & 1)) place++;
        return place;
    }
    #endif
    """
    uint64_t FLAG_BITS(const uint8_t* flags) noexcept nogil
    int LOWEST_PLACE(uint64_t bits) noexcept nogil


cdef inline bint is_countable(
    const Problem* problem, const SampleList* samples, int32_t number
) noexcept nogil:
    """Whether the thresholds of a column are searched in histograms, or sampled
    between steps."""
    return (
        samples.kind != LIST_GENERAL and problem.kind[number] != NOMINAL_COLUMN
        and not (
            problem.random_splitter and problem.has_missing[number]
            and problem.missing_mode != MISSING_LEARNED
        )
    )


cdef inline bint is_in_tile(
    const Problem* problem, const SampledColumn* column, int64_t n
) noexcept nogil:
    """Whether bins of a column are counted, or steps read, together with others."""
    return (
        (n > FEW_SAMPLES or problem.random_splitter)
        and not column.is_sorted and not column.is_nominal
    )


cdef inline uint32_t missing_code_of(
    const Problem* problem, int32_t number
) noexcept nogil:
    return <uint32_t>problem.n_distinct[number]


cdef bint codes_differ(const uint32_t* codes, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(1, n):
        if codes[i] != codes[0]:
            return True
    return False


cdef inline void read_span(
    const Problem* problem, const SampleList* samples, SampledColumn* column
) noexcept nogil:
    """How the codes of a column are put into bins."""
    cdef const Span* span = &samples.table.spans[column.number]
    if samples.is_local:
        span = &samples.local_spans[column.number]
    column.smallest = span.smallest
    column.largest = span.largest
    column.shift = span.shift
    column.n_bins = ((span.largest - span.smallest) >> column.shift) + 1
    if problem.has_missing[column.number]:
        column.missing_bin = span.missing_bin


cdef int64_t sample_columns(
    const Problem* problem, const SampleList* samples, ListSearch* search,
    Worker* worker, ColumnSampler* sampler, int64_t most
) noexcept nogil:
    """Sample up to so many of the next columns; returns their number."""
    cdef:
        int64_t n = 0
        SampledColumn* column
    sampler.n_waiting = 0
    while n < most and sampler.n_found + n < problem.max_features:
        column = &search.columns[sampler.n_found + n]
        column.number = sample_column(problem, worker, sampler)
        if column.number < 0:
            break
        column.n_missing = 0
        column.is_gathered = False
        column.is_nominal = problem.kind[column.number] == NOMINAL_COLUMN
        column.is_sorted = not column.is_nominal and not is_countable(
            problem, samples, column.number
        )
        column.missing_bin = -1
        if problem.has_missing[column.number]:
            column.missing_bin = 0
        if not problem.random_splitter and is_in_tile(problem, column, search.node.n):
            read_span(problem, samples, column)
        n += 1
        sampler.n_waiting = n
    return n


cdef inline int64_t list_tile(
    const Problem* problem, const NodeSearch* node, SampledColumn* columns, int64_t n,
    SampledColumn** tile
) noexcept nogil:
    """Those of up to four columns that are counted in one pass over the samples."""
    cdef int64_t i, n_listed = 0
    for i in range(n):
        if is_in_tile(problem, &columns[i], node.n):
            tile[n_listed] = &columns[i]
            n_listed += 1
    return n_listed


cdef int32_t join_bins(
    SampledColumn** columns, int64_t n_columns, int32_t coarseness
) noexcept nogil:
    """Join neighbouring bins of columns that are counted together, unless all of them
    have as few anyway; returns how many are joined, as a power of two."""
    cdef:
        int64_t i, n_bins = 0
        int32_t joined = 0
    for i in range(n_columns):
        n_bins = max(n_bins, columns[i].n_bins, columns[i].missing_bin + 1)
    while joined < coarseness and n_bins - 1 >> joined >= MAX_BINS >> coarseness:
        joined += 1
    for i in range(n_columns):
        columns[i].shift += joined
        columns[i].n_bins = (
            (columns[i].largest - columns[i].smallest) >> columns[i].shift
        ) + 1
        if columns[i].missing_bin >= 0:
            columns[i].missing_bin >>= joined
    return joined


cdef int64_t n_missing_in(
    const NodeSearch* node, const SampledColumn* column, const Sums* below
) noexcept nogil:
    cdef int64_t last = column.n_bins + 1
    if column.missing_bin < 0:
        return 0
    if Sums is BinaryCounts:
        return samples_in(below[last].counts)
    elif Sums is Moments:
        return <int64_t>below[last].n_samples
    else:
        return <int64_t>below[node.n_classes * node.stride + last].weight


cdef bint finish_column(
    const Problem* problem, const SampleList* samples, NodeSearch* node,
    SampledColumn* column, Sums* slots, int32_t coarseness
) noexcept nogil:
    """Finish the counts of a column; whether the node's values differ in it. Where they
    are few, or fill few bins of the table, the column gets bins of its own."""
    cdef:
        Sums* below = <Sums*>column.histograms[0].below
        int64_t n_used
    if is_in_tile(problem, column, node.n):
        n_used = add_up_bins(node, column, slots, below)
        column.n_missing = n_missing_in(node, column, below)
        if n_used >= FEWEST_USED or (
            column.shift == 0 and n_used + (column.n_missing > 0) > 1
        ):
            return True
        if column.shift == 0 or n_used == 0:
            return False
    gather_codes(samples, slots, node.entries, node.n, column.number, column.codes)
    column.is_gathered = True
    if not codes_differ(column.codes, node.n):
        return False
    if column.is_sorted or column.is_nominal:
        return True
    column.largest = missing_code_of(problem, column.number) - 1
    choose_bins(column, node.n, coarseness)
    count_codes(node, column, slots)
    add_up_bins(node, column, slots, below)
    column.n_missing = n_missing_in(node, column, below)
    return True


cdef SampledColumn* keep_column(
    ListSearch* search, Worker* worker, ColumnSampler* sampler, SampledColumn* column
) noexcept nogil:
    """Put a column that is not constant after those found before, in the order of
    sampling; returns where it is then."""
    cdef:
        SampledColumn* place = &search.columns[sampler.n_found]
        SampledColumn held = place[0]
    if place != column:
        place[0] = column[0]
        column[0] = held
    worker.visit[sampler.n_found] = place.number
    sampler.n_found += 1
    return place


# Columns that threads count, four of them in a task.
cdef struct SharedCount:
    const Problem* problem
    const SampleList* samples
    ListSearch* search
    SampledColumn* columns
    int64_t n_columns
    uint8_t* tile_bins


cdef inline void count_tile_columns(
    const SharedCount* shared, int64_t task, int thread, const Sums* kind
) noexcept nogil:
    """Count the bins of up to four columns, and note which of them vary."""
    cdef:
        const Problem* problem = shared.problem
        const SampleList* samples = shared.samples
        NodeSearch* node = &shared.search.node
        SampledColumn* columns = shared.columns + task * TILE_COLUMNS
        SampledColumn* tile_columns[TILE_COLUMNS]
        int64_t n = min(<int64_t>TILE_COLUMNS, shared.n_columns - task * TILE_COLUMNS)
        int64_t i, n_listed = list_tile(problem, node, columns, n, tile_columns)
        int64_t stride = node.stride
        int32_t coarseness = choose_coarseness(kind, node.n, node.n_planes)
        Sums* slots = <Sums*>(
            <char*>shared.search.tile + thread * shared.search.tile_bytes
        )
    if Sums in ClassSums:
        stride *= node.n_planes
    if n_listed > 0:
        count_columns(
            node,
            samples.local_bins if samples.is_local else samples.table.row_bins,
            problem.n_columns, tile_columns, n_listed,
            join_bins(tile_columns, n_listed, coarseness), not samples.is_local,
            shared.tile_bins + task * TILE_COLUMNS * samples.n_samples, slots, stride
        )
    for i in range(n):
        columns[i].varies = finish_column(
            problem, samples, node, &columns[i], slots, coarseness
        )
        if is_in_tile(problem, &columns[i], node.n):
            slots += stride


cdef void count_shared(void* context, int64_t task, int thread) noexcept nogil:
    """The same by one of the threads."""
    cdef:
        const SharedCount* shared = <const SharedCount*>context
        const BinaryCounts* binary = NULL
        const Moments* moments = NULL
        const ClassCounts* class_counts = NULL
        const ClassWeights* class_weights = NULL
    if must_stop(shared.problem.interrupt, TILE_COLUMNS * shared.search.node.n):
        return
    if shared.samples.kind == LIST_BINARY:
        count_tile_columns(shared, task, thread, binary)
    elif shared.samples.kind == LIST_CLASS_COUNTS:
        count_tile_columns(shared, task, thread, class_counts)
    elif shared.samples.kind == LIST_CLASS_WEIGHTS:
        count_tile_columns(shared, task, thread, class_weights)
    else:
        count_tile_columns(shared, task, thread, moments)


cdef int64_t count_sampled(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const Sums* kind
) noexcept nogil:
    """Sample the columns of the node, and count their bins; returns their number. How
    many threads share a large node does not change which columns are counted in one
    pass, and so no sum."""
    cdef:
        NodeSearch* node = &search.node
        ColumnSampler sampler
        SharedCount shared
        SampledColumn* column
        int64_t i, n, most = TILE_COLUMNS, before, n_kept = 0
    if search.team != NULL and not problem.shuffle_columns and (
        frame.n_rows * frame.n_active >= search.shared_cells
    ):
        most = problem.n_columns
    node.stride = (MAX_BINS >> choose_coarseness(kind, node.n, node.n_planes)) + GAP
    start_sampling(problem, worker, frame, &sampler)
    while True:
        n = sample_columns(problem, samples, search, worker, &sampler, most)
        if n == 0 or must_stop(problem.interrupt, node.n):
            break
        before = sampler.n_found
        shared = SharedCount(
            problem, samples, search, search.columns + before, n,
            samples.tile_bins + n_kept * TILE_COLUMNS * samples.n_samples
        )
        if n > TILE_COLUMNS:
            run_tasks(
                search.team, count_shared, &shared,
                (n + TILE_COLUMNS - 1) // TILE_COLUMNS
            )
        else:
            count_tile_columns(&shared, 0, 0, kind)
        if has_stopped(problem.interrupt):
            break
        for i in range(n):
            column = &search.columns[before + i]
            if column.varies:
                keep_column(search, worker, &sampler, column)
            else:
                note_constant(worker, column.number, &sampler)
        n_kept += sampler.n_found > before
    finish_sampling(worker, frame, &sampler)
    return sampler.n_found


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


cdef wide_void flag_bins(
    const uint8_t* bins, int64_t n, uint8_t one, uint8_t other, uint8_t* flags
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        flags[i] = (bins[TILE_COLUMNS * i] == one) | (bins[TILE_COLUMNS * i] == other)


cdef int64_t list_flagged(uint8_t* flags, int64_t n, uint64_t* places) noexcept nogil:
    """The flagged positions; the array has FLAG_ROWS more entries."""
    cdef:
        int64_t i = 0, n_listed = 0
        uint64_t bits
    memset(flags + n, 0, FLAG_ROWS)
    while i < n:
        bits = FLAG_BITS(flags + i)
        while bits:
            places[n_listed] = <uint64_t>(i + LOWEST_PLACE(bits))
            n_listed += 1
            bits &= bits - 1
        i += FLAG_ROWS
    return n_listed


cdef int64_t list_bins(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column,
    int64_t one, int64_t other, const Sums* kind
) noexcept nogil:
    """Make keys of the samples in two bins, codes and places; returns their number."""
    cdef:
        const uint8_t* bins = column.bins
        uint64_t* keys = samples.keys
        int64_t i, b, n = 0
    if column.is_gathered:
        for i in range(node.n):
            b = bin_of_code(column, column.codes[i])
            keys[n] = (
                <uint64_t>(column.codes[i] - column.smallest) << 32 | <uint64_t>i
            )
            n += (b == one) | (b == other)
        return n
    # The flags use the memory that sorting used for its copy.
    flag_bins(bins, node.n, <uint8_t>one, <uint8_t>other, <uint8_t*>samples.spare)
    n = list_flagged(<uint8_t*>samples.spare, node.n, keys)
    add_codes(
        samples, kind, node.entries, column.number, column.smallest, keys, n
    )
    return n


# ------------------------------------------------------------------------------------
# The thresholds of a column whose samples are counted in bins: histograms with missing
# samples on either side, the candidates at the ends of bins and inside of open ones.
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


cdef void try_missing_alone(
    NodeSearch* node, const SampledColumn* column, const Sums* below
) noexcept nogil:
    """Samples with a value against those without."""
    cdef:
        const Problem* problem = node.problem
        Found* found = &node.found
        double* totals = column.totals
        double* missing = totals + problem.n_statistics
        double weight, rest, score, first, second
        int64_t n_present = node.n - column.n_missing
    if problem.missing_mode == MISSING_SURROGATE or n_present == 0:
        return
    if n_present < problem.min_samples_leaf or (
        column.n_missing < problem.min_samples_leaf
    ):
        return
    read_totals(node, &below[column.n_bins], totals)
    read_totals(node, &below[column.n_bins + 1], missing)
    weight = weight_of_part(node, &below[column.n_bins], totals)
    rest = weight_of_part(node, &below[column.n_bins + 1], missing)
    if weight < problem.min_weight_leaf or rest < problem.min_weight_leaf:
        return
    if problem.monotonic != NULL:
        if Sums is Moments:
            first = node.centre + totals[0] / weight
            second = node.centre + missing[0] / rest
        else:
            first = totals[1] / weight
            second = missing[1] / rest
        if breaks_constraint(
            first, second, node.view.lower, node.view.upper,
            problem.monotonic[column.number]
        ):
            return
    score = score_alone(node, column, below, totals)
    if not score > score_to_beat(problem, &found.split, node.view.margin):
        return
    take(&found.split, score, n_present, 1)
    found.split.splits_missing = True
    found.split.n_children = 2
    found.split.threshold = INFINITY
    found.column = column
    found.is_between = True
    if Sums is BinaryCounts:
        found.left_counts = below[column.n_bins].counts


cdef int64_t collect_samples(
    const NodeSearch* node, SampleList* samples, const SampledColumn* column,
    const Sums* kind
) noexcept nogil:
    """Make keys of the samples in open bins, codes and places; returns their number."""
    cdef:
        const uint8_t* may_win = samples.may_win
        const uint8_t* bins = column.bins
        uint64_t* keys = samples.keys
        int64_t i, n = 0
        uint32_t code
    if column.is_gathered:
        for i in range(node.n):
            code = column.codes[i]
            keys[n] = <uint64_t>(code - column.smallest) << 32 | <uint64_t>i
            if code <= column.largest:
                n += may_win[(code - column.smallest) >> column.shift]
        return n
    # The bin of missing values is never open.
    for i in range(node.n):
        keys[n] = <uint64_t>i
        n += may_win[bins[TILE_COLUMNS * i]]
    add_codes(samples, kind, node.entries, column.number, column.smallest, keys, n)
    return n


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


cdef void try_histogram(
    NodeSearch* node, SampleList* samples, const Histogram* h, double top,
    const Sums* kind
) noexcept nogil:
    """All candidates in ascending order: those inside of open bins, and the ends."""
    cdef:
        const SampledColumn* column = h.column
        const Sums* below = <const Sums*>h.below
        uint8_t* may_win = samples.may_win
        uint64_t* keys = samples.keys
        int64_t b, n, n_kept = 0, n_keys = 0
        double beat = score_to_beat(node.problem, &node.found.split, h.margin), bound
        bint is_poisson = node.problem.criterion == POISSON
    if column.shift > 0:
        if Sums in ClassSums:
            n_kept = select_bins_of_classes(node, h, below, max(top, beat), may_win)
        else:
            n_kept = select_bins_of_pairs(node, h, below, max(top, beat), may_win)
    else:
        memset(may_win, 0, column.n_bins)
    # An edge may be rounded in another way than a candidate.
    if n_kept == 0 and not h.edge + 0.25 * node.slack > beat:
        return
    if n_kept > 0:
        if column.missing_bin >= 0:
            may_win[column.missing_bin] = False
        n_keys = collect_samples(node, samples, column, kind)
        sort_keys(keys, n_keys, samples.spare, 32, column.largest - column.smallest)
        if column.is_oblique:
            rank_codes(column.sums, column.rounding, column.shift, keys, n_keys)
        samples.keys_of = h
        samples.n_keys = n_keys
    bound = bound_of_ends(node, h, kind)
    for b in range(column.n_bins):
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


# ------------------------------------------------------------------------------------
# Nominal columns of a node whose samples are a list: they are summed up level by level,
# which takes no sorting, and sent to the child of their level.
# ------------------------------------------------------------------------------------


cdef int start_levels(
    const Problem* problem, ListSearch* search, int64_t n_slots
) noexcept nogil:
    """Allocate for the levels of the columns of a node; returns -1 without memory."""
    cdef int64_t n = problem.max_levels + 1, i
    if not problem.any_nominal:
        return 0
    # Zero between uses.
    search.level_sums = <double*>calloc(
        n * (SUMS_OFFSET + problem.n_statistics), sizeof(double)
    )
    search.used_levels = <uint64_t*>calloc(n // 64 + 1, sizeof(uint64_t))
    search.used_words = <uint64_t*>calloc(n // 4096 + 1, sizeof(uint64_t))
    search.run_codes = <int32_t*>malloc(2 * n_slots * n * sizeof(int32_t))
    if (
        search.level_sums == NULL or search.used_levels == NULL
        or search.used_words == NULL or search.run_codes == NULL
    ):
        return -1
    for i in range(n_slots):
        search.columns[i].run_code = search.run_codes + 2 * i * n
        search.columns[i].run_child = search.run_codes + (2 * i + 1) * n
    return 0


cdef inline void note_level(ListSearch* search, uint32_t code) noexcept nogil:
    """Mark a level as used, and the word of its mark: many may have no samples."""
    search.used_levels[code >> 6] |= <uint64_t>1 << (code & 63)
    search.used_words[code >> 12] |= <uint64_t>1 << (code >> 6 & 63)


cdef void sum_levels(
    const SampleList* samples, ListSearch* search, const uint32_t* codes,
    const Sums* kind
) noexcept nogil:
    """Sum up the samples of every level: their number, weight, and sums of classes or
    values; or the packed counts of two classes."""
    cdef:
        const NodeSearch* node = &search.node
        const Problem* problem = node.problem
        const Rows* rows = &samples.node_rows
        uint64_t* counts = <uint64_t*>search.level_sums
        int64_t i, size = SUMS_OFFSET + problem.n_statistics
        double weight
        double* sums
    for i in range(node.n):
        if Sums is BinaryCounts:
            if counts[codes[i]] == 0:
                note_level(search, codes[i])
            counts[codes[i]] += counts_of(node.entries[i])
        else:
            sums = search.level_sums + codes[i] * size
            if sums[0] == 0.0:
                note_level(search, codes[i])
            if Sums is ClassCounts:
                weight = <double>whole_weight_of(node.entries[i])
            elif Sums is ClassWeights:
                weight = node.sample_weight[i]
            else:
                weight = rows.weight[i]
            sums[0] += 1.0
            sums[1] += weight
            if Sums in ClassSums:
                sums[SUMS_OFFSET + class_of(node.entries[i])] += weight
            elif problem.n_outputs > 1:
                add_row(
                    problem, rows, i, weight, node.view.totals.centre,
                    sums + SUMS_OFFSET
                )
            elif problem.is_classifier:
                sums[SUMS_OFFSET + rows.label[i]] += weight
            else:
                sums[SUMS_OFFSET] += node.amounts[i].first


cdef void read_level(
    const Problem* problem, ListSearch* search, Scratch* scratch, int64_t code,
    int64_t run, const Sums* kind
) noexcept nogil:
    """Make a run of a level, and leave zeros."""
    cdef:
        int64_t size = problem.n_statistics
        double* run_sums = scratch.run_sums + run * size
        double* sums
        uint64_t counts
    if Sums is BinaryCounts:
        counts = (<uint64_t*>search.level_sums)[code]
        (<uint64_t*>search.level_sums)[code] = 0
        scratch.run_rows[run] = samples_in(counts)
        scratch.run_weight[run] = <double>weight_in(counts)
        run_sums[1] = <double>ones_in(counts)
        run_sums[0] = scratch.run_weight[run] - run_sums[1]
    else:
        sums = search.level_sums + code * (SUMS_OFFSET + size)
        scratch.run_rows[run] = <int64_t>sums[0]
        scratch.run_weight[run] = sums[1]
        memcpy(run_sums, sums + SUMS_OFFSET, size * sizeof(double))
        memset(sums, 0, (SUMS_OFFSET + size) * sizeof(double))


cdef int64_t list_runs(
    const Problem* problem, ListSearch* search, Scratch* scratch, int64_t n_codes,
    const Sums* kind
) noexcept nogil:
    """Make runs of all levels that were noted, in the order of their codes, and list
    these in scratch.run_level; returns their number."""
    cdef:
        int64_t group, word, code, n_runs = 0
        uint64_t words, levels
    for group in range((n_codes - 1 >> 12) + 1):
        words = search.used_words[group]
        search.used_words[group] = 0
        while words:
            word = group << 6 | LOWEST_PLACE(words)
            words &= words - 1
            levels = search.used_levels[word]
            search.used_levels[word] = 0
            while levels:
                code = word << 6 | LOWEST_PLACE(levels)
                levels &= levels - 1
                scratch.run_level[n_runs] = <int32_t>code
                read_level(problem, search, scratch, code, n_runs, kind)
                n_runs += 1
    return n_runs


cdef void find_levels(
    const Problem* problem, int64_t column, int64_t n_runs, int32_t* levels
) noexcept nogil:
    """Turn codes into the levels behind them: some levels have no rows at all."""
    cdef int64_t run
    for run in range(n_runs):
        levels[run] = <int32_t>problem.values[
            column * problem.values_stride + levels[run]
        ]


cdef void try_levels(
    const SampleList* samples, ListSearch* search, Worker* worker,
    SampledColumn* column, const Sums* kind
) noexcept nogil:
    """Search the divisions of the levels of a column, and keep a better one."""
    cdef:
        NodeSearch* node = &search.node
        const Problem* problem = node.problem
        Scratch* scratch = &worker.scratch
        Split* split = &node.found.split
        int64_t missing_code = missing_code_of(problem, column.number)
        int64_t n_runs, n_missing = 0
    sum_levels(samples, search, column.codes, kind)
    n_runs = list_runs(problem, search, scratch, missing_code + 1, kind)
    if scratch.run_level[n_runs - 1] == missing_code:
        n_missing = scratch.run_rows[n_runs - 1]
    split.improved = False
    evaluate_runs(
        problem, scratch, node.view, column.number, n_runs, n_missing, split
    )
    if not split.improved:
        return
    node.found.column = column
    if n_missing > 0:
        n_runs -= 1
    column.n_runs = n_runs
    memcpy(column.run_code, scratch.run_level, n_runs * sizeof(int32_t))
    find_levels(problem, column.number, n_runs, scratch.run_level)
    split.missing_child = assign_runs(problem, scratch, split, n_runs, n_missing)
    memcpy(column.run_child, scratch.run_side, n_runs * sizeof(int32_t))


cdef int write_levels(
    const Problem* problem, const NodeSearch* node, Worker* worker
) noexcept nogil:
    """Write the level map of the best split; returns -1 without memory."""
    cdef:
        const SampledColumn* column = node.found.column
        int32_t* levels = worker.scratch.run_level
    memcpy(levels, column.run_code, column.n_runs * sizeof(int32_t))
    find_levels(problem, column.number, column.n_runs, levels)
    return 0 if write_level_map(
        problem, &worker.buffer, column.number, column.n_runs, levels,
        column.run_child, problem.categorical_split == SPLIT_MULTIWAY
    ) >= 0 else -1


cdef void mark_by_levels(
    SampleList* samples, const NodeSearch* node, Worker* worker
) noexcept nogil:
    """Write the child of every sample: into bytes where there are few children."""
    cdef:
        const SampledColumn* column = node.found.column
        const uint32_t* codes = column.codes
        int32_t* child_of_code = worker.scratch.best_side
        int64_t i
    child_of_code[missing_code_of(node.problem, column.number)] = (
        node.found.split.missing_child
    )
    for i in range(column.n_runs):
        child_of_code[column.run_code[i]] = column.run_child[i]
    if worker.children.n_children <= MAX_BYTES:
        for i in range(node.n):
            samples.child[i] = <uint8_t>child_of_code[codes[i]]
    else:
        for i in range(node.n):
            worker.child_of_row[i] = child_of_code[codes[i]]


# ------------------------------------------------------------------------------------
# The children of a split: their samples, what they hold, and the list in their order.
# ------------------------------------------------------------------------------------


cdef int64_t find_pair(
    const SampleList* samples, const NodeSearch* node, const Sums* kind
) noexcept nogil:
    """The codes on both sides of the threshold."""
    cdef:
        const Found* found = &node.found
        const SampledColumn* column = found.column
        const uint64_t* keys = samples.keys
        int64_t i, n, cut, first, last
        uint32_t code, below = 0, above = 0xFFFFFFFF
    if found.is_between:
        return <int64_t>(<uint64_t>found.cut << 32 | found.above)
    # The bins on both sides that hold samples.
    cut = (found.cut - column.smallest) >> column.shift
    first = next_used(node, column, cut + 1, -1, kind)
    last = next_used(node, column, cut, 1, kind)
    if column.shift == 0:
        return <int64_t>(
            <uint64_t>(column.smallest + <uint32_t>first) << 32
            | <uint64_t>(column.smallest + <uint32_t>last)
        )
    n = list_bins(samples, node, column, first, last, kind)
    for i in range(n):
        code = column.smallest + <uint32_t>(keys[i] >> 32)
        below = code if code <= found.cut and code > below else below
        above = code if code > found.cut and code < above else above
    return <int64_t>(<uint64_t>below << 32 | above)


cdef void mark_by_codes(SampleList* samples, const NodeSearch* node) noexcept nogil:
    """Write the child of every sample of a column whose codes are gathered."""
    cdef:
        const Found* found = &node.found
        const SampledColumn* column = found.column
        const uint32_t* codes = column.codes
        uint8_t missing_child = <uint8_t>found.split.missing_child
        uint32_t cut = column.largest if found.split.splits_missing else found.cut
        int64_t i
    # Missing ones have larger codes.
    for i in range(node.n):
        samples.child[i] = codes[i] > cut
    if column.n_missing > 0:
        for i in range(node.n):
            if codes[i] > column.largest:
                samples.child[i] = missing_child


cdef uint8_t move_bin_of_threshold(
    SampleList* samples, const NodeSearch* node, const Sums* kind
) noexcept nogil:
    """Move the samples of the bin of the threshold to the first and last one; returns
    the last bin of child 0."""
    cdef:
        const Found* found = &node.found
        const SampledColumn* column = found.column
        uint8_t* bins = <uint8_t*>column.bins
        # A bin of no value and of no missing one, where some are missing.
        uint8_t last = MAX_BINS - 1
        uint32_t most = found.cut - column.smallest
        int64_t i, n, cut = most >> column.shift
    if found.split.splits_missing:
        return last
    if not found.is_between or column.shift == 0:
        return <uint8_t>cut
    n = samples.n_keys
    if samples.keys_of != found.histogram:
        n = list_bins(samples, node, column, cut, cut, kind)
    for i in range(n):
        bins[TILE_COLUMNS * <uint32_t>samples.keys[i]] = (
            0 if <uint32_t>(samples.keys[i] >> 32) <= most else last
        )
    return <uint8_t>(max(cut, 1) - 1)


cdef void mark_missing(
    SampleList* samples, const NodeSearch* node, uint8_t last
) noexcept nogil:
    """Write the child of every sample of a column with missing values."""
    cdef:
        const SampledColumn* column = node.found.column
        const uint8_t* bins = column.bins
        uint8_t* child = samples.child
        uint8_t missing_bin = <uint8_t>column.missing_bin, b
        uint8_t missing_child = <uint8_t>node.found.split.missing_child
        int64_t i
    for i in range(node.n):
        b = bins[TILE_COLUMNS * i]
        child[i] = missing_child if b == missing_bin else <uint8_t>(b > last)


cdef void measure_range(
    const Problem* problem, const SampleList* samples, const NodeView* view,
    const uint64_t* entries, int64_t n, int64_t child, Children* children
) noexcept nogil:
    """Sum up what a child holds, whose samples stand together; of one output."""
    cdef:
        const Moments* listed = NULL
        const double* weights = samples.weight
        const double* y = samples.local_y if samples.is_local else samples.y
        const double* logarithm = (
            samples.local_logarithm if samples.is_local else samples.logarithm
        )
        double* sums = children.sums + child * problem.n_statistics
        double* first = children.values + child * problem.n_statistics
        double weight, value, difference, total = 0.0, squares = 0.0
        int64_t i, number
        uint64_t counts = 0
        bint is_pure = True
    if samples.kind == LIST_BINARY:
        for i in range(n):
            counts += counts_of(entries[i])
        children.weight[child] = <double>weight_in(counts)
        sums[1] = <double>ones_in(counts)
        sums[0] = children.weight[child] - sums[1]
        return
    if weights != NULL and samples.is_local:
        weights = samples.local_weight
    if problem.is_classifier:
        for i in range(n):
            weight = (
                <double>whole_weight_of(entries[i]) if weights == NULL
                else weights[number_of(listed, entries[i])]
            )
            total += weight
            sums[class_of(entries[i])] += weight
        children.weight[child] = total
        return
    if n > 0:
        first[0] = y[number_of(listed, entries[0])]
    for i in range(n):
        number = number_of(listed, entries[i])
        weight = (
            <double>whole_weight_of(entries[i]) if weights == NULL else weights[number]
        )
        value = y[number]
        is_pure = is_pure and value == first[0]
        difference = value - view.totals.centre[0]
        total += weight
        sums[0] += weight * difference
        if problem.criterion != POISSON:
            squares += weight * difference * difference
        else:
            squares += weight * value * logarithm[number]
    children.weight[child] = total
    children.squares[child] = squares
    children.is_pure[child] = is_pure


cdef void measure_counts_of_children(
    const Problem* problem, const NodeSearch* node, Children* children
) noexcept nogil:
    """Two classes with whole weights: what the children hold is known."""
    cdef:
        const Found* found = &node.found
        const NodeView* view = node.view
        int64_t child
        uint64_t[3] counts
    counts[2] = 0
    if children.n_children == 3:
        counts[2] = (
            <const BinaryCounts*>found.column.histograms[0].below
        )[found.column.n_bins + 1].counts
    counts[0] = found.left_counts
    counts[1] = (
        <uint64_t>node.n << (2 * COUNT_BITS)
        | <uint64_t>view.totals.weight << COUNT_BITS
        | <uint64_t>view.totals.sums[1]
    ) - counts[0] - counts[2]
    for child in range(children.n_children):
        children.n_rows[child] = samples_in(counts[child])
        children.weight[child] = <double>weight_in(counts[child])
        children.sums[2 * child + 1] = <double>ones_in(counts[child])
        children.sums[2 * child] = (
            children.weight[child] - children.sums[2 * child + 1]
        )
        finish_classes(problem, view, child, children)


cdef void measure_general(
    const Problem* problem, SampleList* samples, const NodeSearch* node,
    Worker* worker, const Frame* frame
) noexcept nogil:
    """What the children hold, whose samples stand together; of any outputs."""
    cdef:
        Children* children = &worker.children
        int64_t child, i, start = 0
    describe_samples(problem, samples, frame)
    for child in range(children.n_children):
        children.pieces[child].start = start
        start += children.n_rows[child]
        children.pieces[child].stop = start
        children.pieces[child].child = <int32_t>child
    children.n_pieces = children.n_children
    for i in range(node.n):
        samples.keys[i] = <uint64_t>i << 1  # entries of a sorted column
    measure_children(
        problem, &samples.node_rows, &worker.scratch, samples.keys, node.view,
        children
    )


cdef void measure_listed(
    const Problem* problem, SampleList* samples, const NodeSearch* node,
    Worker* worker, const Frame* frame
) noexcept nogil:
    """What the children hold."""
    cdef:
        Children* children = &worker.children
        const uint64_t* entries = node.entries
        int64_t child
    children.n_children = node.found.split.n_children
    children.n_pieces = 0
    children.n_missing = 0
    clear_children(problem, children)
    if samples.kind == LIST_BINARY and not (
        node.found.column.is_nominal or node.found.column.is_oblique
    ):
        measure_counts_of_children(problem, node, children)
        return
    partition_list(problem, samples, node, worker)
    if samples.kind == LIST_GENERAL:
        measure_general(problem, samples, node, worker, frame)
        return
    for child in range(children.n_children):
        if children.n_rows[child] == 0:
            continue
        measure_range(
            problem, samples, node.view, entries, children.n_rows[child], child,
            children
        )
        entries += children.n_rows[child]
        if problem.is_classifier:
            finish_classes(problem, node.view, child, children)
        else:
            finish_values(problem, node.view, child, children)


cdef void settle_sorted(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const NodeView* view, int64_t* pair
) noexcept nogil:
    """Children of a split that was found in a sorted column."""
    cdef:
        NodeSearch* node = &search.node
        Split* split = &node.found.split
        Children* children = &worker.children
        const SampledColumn* column = node.found.column
        uint64_t* cells = samples.keys
        int64_t n = node.n, n_present
    sort_column(
        samples, node.entries, n, column.codes,
        missing_code_of(problem, column.number), cells
    )
    n_present = n - count_missing(cells, n)
    if not split.splits_missing:
        pair[0] = <int64_t>(
            (cells[split.position - 1] >> 32) << 32 | cells[split.position] >> 32
        )
    list_pieces(problem, cells, NULL, split, n_present, n, children)
    measure_children(
        problem, &samples.node_rows, &worker.scratch, cells, view, children
    )
    children.n_missing = 0
    mark_rows(children, cells, worker.child_of_row)


cdef int settle_list(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* frame, const NodeView* view, int64_t* pair
) noexcept nogil:
    """What the children hold. Writes the ranks on both sides of a threshold. Returns
    -1 without memory."""
    cdef:
        NodeSearch* node = &search.node
        const BinaryCounts* binary = NULL
        const Moments* moments = NULL
        const ClassCounts* class_counts = NULL
        const ClassWeights* class_weights = NULL
    samples.is_partitioned = False
    if node.found.column.is_oblique:
        mark_by_sums(samples, search)
        measure_listed(problem, samples, node, worker, frame)
        return 0
    if node.found.column.is_sorted:
        settle_sorted(problem, samples, search, worker, view, pair)
        return 0
    if node.found.column.is_nominal:
        if write_levels(problem, node, worker) < 0:
            return -1
    elif not node.found.split.splits_missing and not problem.random_splitter:
        if samples.kind == LIST_BINARY:
            pair[0] = find_pair(samples, node, binary)
        elif samples.kind == LIST_CLASS_COUNTS:
            pair[0] = find_pair(samples, node, class_counts)
        elif samples.kind == LIST_CLASS_WEIGHTS:
            pair[0] = find_pair(samples, node, class_weights)
        else:
            pair[0] = find_pair(samples, node, moments)
    measure_listed(problem, samples, node, worker, frame)
    return 0


cdef inline int64_t part_two(
    uint64_t* entries, int64_t n, const uint8_t* marks, int64_t step, uint8_t last,
    uint64_t* spare
) noexcept nogil:
    """Samples whose mark is not above the last one to the front; returns their
    number."""
    cdef:
        int64_t i, n_left = 0
        uint64_t entry
    # Both stores happen always; only the counter depends on the child.
    for i in range(n):
        entry = entries[i]
        entries[n_left] = entry
        spare[i - n_left] = entry
        n_left += marks[step * i] <= last
    memcpy(entries + n_left, spare, (n - n_left) * sizeof(uint64_t))
    return n_left


cdef void part_many(
    uint64_t* entries, int64_t n, const uint8_t* child, const int32_t* child_of_row,
    Children* children, uint64_t* spare
) noexcept nogil:
    """Put the samples of each child together."""
    cdef:
        int64_t* n_rows = children.n_rows
        int64_t* next_slot = children.next_slot
        int64_t i, c, start = 0
    memset(n_rows, 0, children.n_children * sizeof(int64_t))
    for i in range(n):
        n_rows[child_of_row[i] if child == NULL else child[i]] += 1
    for c in range(children.n_children):
        next_slot[c] = start
        start += n_rows[c]
    for i in range(n):
        c = child_of_row[i] if child == NULL else child[i]
        spare[next_slot[c]] = entries[i]
        next_slot[c] += 1
    memcpy(entries, spare, n * sizeof(uint64_t))


cdef void partition_list(
    const Problem* problem, SampleList* samples, const NodeSearch* node, Worker* worker
) noexcept nogil:
    """Put the samples of each child together, in their order."""
    cdef:
        const SampledColumn* column = node.found.column
        Children* children = &worker.children
        uint64_t* entries = <uint64_t*>node.entries
        const uint8_t* child = samples.child
        const BinaryCounts* binary = NULL
        const Moments* listed = NULL
        int64_t n = node.n, n_left = -1
        uint8_t last
    if samples.is_partitioned:
        return
    samples.is_partitioned = True
    if column.is_sorted:
        child = NULL
    elif column.is_oblique:
        pass  # marked
    elif column.is_nominal:
        mark_by_levels(samples, node, worker)
        if children.n_children > MAX_BYTES:
            child = NULL
    elif problem.random_splitter:
        n_left = partition_by_steps(
            entries, samples.spare, column.steps, node.found.boundary, n,
            samples.permutations
        )
    elif column.is_gathered:
        mark_by_codes(samples, node)
    else:
        if samples.kind == LIST_BINARY:
            last = move_bin_of_threshold(samples, node, binary)
        else:
            last = move_bin_of_threshold(samples, node, listed)
        if column.n_missing > 0:
            mark_missing(samples, node, last)
        else:
            n_left = part_two(
                entries, n, column.bins, TILE_COLUMNS, last, samples.spare
            )
    if n_left < 0 and children.n_children == 2 and child != NULL:
        n_left = part_two(entries, n, child, 1, 0, samples.spare)
    if n_left < 0:
        part_many(
            entries, n, child, worker.child_of_row, children, samples.spare
        )
    else:
        children.n_rows[0] = n_left
        children.n_rows[1] = n - n_left


# ------------------------------------------------------------------------------------
# Memory of the search in a list.
# ------------------------------------------------------------------------------------


cdef int64_t count_planes(
    const Problem* problem, const SampleList* samples
) noexcept nogil:
    """Sums of a bin: one, or the weight of each class and the number of samples."""
    if samples.kind == LIST_CLASS_COUNTS or samples.kind == LIST_CLASS_WEIGHTS:
        return problem.n_statistics + 1
    return 1


cdef int start_list_search(
    const Problem* problem, const SampleList* samples, ListSearch* search
) noexcept nogil:
    """Allocate for the columns of a node; returns -1 without memory."""
    cdef:
        int64_t n_slots = problem.max_features
        int64_t n_planes = count_planes(problem, samples)
        int64_t n_histograms = 1 if samples.value_limit == NULL else 2
        int64_t n_ends = MAX_BINS + GAP, i, j
        int64_t n_rows = samples.n_samples
        int64_t size = n_planes * n_ends * sizeof(Moments)
        Histogram* h
        double* ends
    memset(search, 0, sizeof(ListSearch))
    if n_planes > 1:
        size = n_planes * n_ends * sizeof(double)
    # Places for a column that is still to be found constant, and for a direction.
    n_slots += TILE_COLUMNS
    search.columns = <SampledColumn*>calloc(n_slots, sizeof(SampledColumn))
    search.histograms = <Histogram*>calloc(n_slots * n_histograms, sizeof(Histogram))
    search.found = <Found*>malloc(n_slots * sizeof(Found))
    search.below = malloc(n_slots * n_histograms * size)
    search.ends = <double*>malloc(
        n_slots * n_histograms * END_ARRAYS * n_ends * sizeof(double)
    )
    search.tile_bytes = TILE_COLUMNS * size
    search.totals = <double*>malloc(
        n_slots * 2 * problem.n_statistics * sizeof(double)
    )
    search.scratch = <double*>malloc(n_ends * sizeof(double))
    if (
        search.columns == NULL or search.histograms == NULL or search.found == NULL
        or search.below == NULL or search.ends == NULL or search.totals == NULL
        or search.scratch == NULL or reserve_tiles(search, 1) < 0
    ):
        return -1
    for i in range(n_slots):
        search.columns[i].codes = samples.gathered + i * n_rows
        search.columns[i].steps = <int16_t*>search.columns[i].codes
        search.columns[i].histograms = search.histograms + i * n_histograms
        search.columns[i].totals = search.totals + 2 * i * problem.n_statistics
        for j in range(n_histograms):
            h = &search.columns[i].histograms[j]
            h.below = <char*>search.below + (i * n_histograms + j) * size
            ends = search.ends + (i * n_histograms + j) * END_ARRAYS * n_ends
            h.first = ends
            h.second = ends + n_ends
            h.third = ends + 2 * n_ends
            h.fourth = ends + 3 * n_ends
            h.fifth = ends + 4 * n_ends
    search.oblique_column = search.columns[n_slots - 1]
    search.oblique_column.is_oblique = search.oblique_column.is_gathered = True
    search.oblique_column.missing_bin = -1
    return start_levels(problem, search, n_slots)


cdef int reserve_tiles(ListSearch* search, int n_threads) noexcept nogil:
    """Allocate for threads that share the columns of a node; returns -1 without
    memory."""
    if n_threads <= search.n_tiles:
        return 0
    free(search.tile)
    search.tile = malloc(n_threads * search.tile_bytes)
    search.n_tiles = n_threads if search.tile != NULL else 0
    return -1 if search.tile == NULL else 0


cdef void free_list_search(ListSearch* search) noexcept nogil:
    free(search.columns)
    free(search.histograms)
    free(search.found)
    free(search.below)
    free(search.ends)
    free(search.tile)
    free(search.totals)
    free(search.scratch)
    free(search.level_sums)
    free(search.used_levels)
    free(search.used_words)
    free(search.run_codes)
    memset(search, 0, sizeof(ListSearch))


# ------------------------------------------------------------------------------------
# Oblique tests of a node whose samples are a list.
# ------------------------------------------------------------------------------------


cdef void list_table_rows(
    const SampleList* samples, const NodeSearch* node, uint32_t* row
) noexcept nogil:
    """The rows of the table that the node's samples are."""
    cdef:
        const BinaryCounts* binary = NULL
        const Moments* listed = NULL
        int64_t i
    if samples.kind == LIST_BINARY:
        for i in range(node.n):
            row[i] = <uint32_t>number_of(binary, node.entries[i])
    else:
        for i in range(node.n):
            row[i] = <uint32_t>number_of(listed, node.entries[i])
    if samples.is_local:
        for i in range(node.n):
            row[i] = samples.local_row[row[i]]


cdef double threshold_of_sums(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column
) noexcept nogil:
    """The midpoint between the sums on both sides of the best split, which is one along
    the direction on trial."""
    cdef:
        const Found* found = &node.found
        const uint64_t* keys = samples.keys
        const uint32_t* codes = column.codes
        const double* z = column.sums
        double below = -INFINITY, above = INFINITY
        int64_t i = 1
    if found.is_between:
        while <uint32_t>(keys[i] >> 32) <= found.cut:
            i += 1
        return midpoint(z[<uint32_t>keys[i - 1]], z[<uint32_t>keys[i]])
    for i in range(node.n):
        if codes[i] <= found.cut:
            below = z[i] if z[i] > below else below
        else:
            above = z[i] if z[i] < above else above
    return midpoint(below, above)


cdef bint count_sums(
    SampleList* samples, ListSearch* search, SampledColumn* column, const Sums* kind
) noexcept nogil:
    """Count the samples in bins of their sums along the direction on trial. False if
    the sums have to be sorted, or are equal."""
    cdef:
        NodeSearch* node = &search.node
        int32_t coarseness = choose_coarseness(kind, node.n, node.n_planes)
        Sums* slots = <Sums*>search.tile
    column.sums = search.oblique.trial.z
    column.rounding = search.oblique.rounding
    column.n_bins = MAX_BINS >> coarseness
    column.shift = SUM_CODE_BITS
    while column.n_bins << column.shift > <int64_t>1 << SUM_CODE_BITS:
        column.shift -= 1
    if not code_sums(search.oblique, column.shift, column.codes):
        return False
    column.smallest = 0
    column.largest = (<uint32_t>1 << SUM_CODE_BITS) - 1
    node.stride = column.n_bins + GAP
    count_codes(node, column, slots)
    add_up_bins(node, column, slots, <Sums*>column.histograms[0].below)
    return True


cdef void try_sums(
    SampleList* samples, ListSearch* search, const Sums* kind
) noexcept nogil:
    """Search the thresholds along the direction on trial; keep it if it is better."""
    cdef:
        NodeSearch* node = &search.node
        ObliqueSearch* oblique = search.oblique
        SampledColumn* column = &search.oblique_column
        Split* best = &node.found.split
        Histogram* h = &column.histograms[0]
    if samples.kind == LIST_GENERAL or node.n <= FEW_SAMPLES or not count_sums(
        samples, search, column, kind
    ):
        oblique.split = best[0]
        if try_sorted_sums(oblique):
            best[0] = oblique.split
        return
    start_histograms(node, column, kind)
    best.improved = False
    try_histogram(node, samples, h, h.edge - node.slack, kind)
    if best.improved:
        keep_direction(oblique, threshold_of_sums(samples, node, column))


cdef void try_direction(SampleList* samples, ListSearch* search) noexcept nogil:
    """The same for the sums that the criterion needs."""
    cdef:
        const BinaryCounts* binary = NULL
        const Moments* moments = NULL
        const ClassCounts* class_counts = NULL
        const ClassWeights* class_weights = NULL
    if samples.kind == LIST_BINARY:
        try_sums(samples, search, binary)
    elif samples.kind == LIST_CLASS_COUNTS:
        try_sums(samples, search, class_counts)
    elif samples.kind == LIST_CLASS_WEIGHTS:
        try_sums(samples, search, class_weights)
    else:
        try_sums(samples, search, moments)


cdef int search_oblique(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* frame, const NodeView* view
) noexcept nogil:
    """Replace the best test of one column by a better oblique one. Returns -1 without
    memory, or if a signal was received."""
    cdef:
        NodeSearch* node = &search.node
        ObliqueSearch* oblique = search.oblique
        Found axis = node.found
        int64_t stride = node.stride, n_made = 0, n, i
    list_table_rows(samples, node, oblique.row)
    oblique.counts_entropy = (
        samples.kind == LIST_CLASS_COUNTS and problem.entropy_table != NULL
        and problem.min_weight_leaf <= 0.0
    )
    oblique.keys = samples.keys
    oblique.spare = samples.spare
    begin_oblique(
        problem, &samples.node_rows, &worker.scratch, view, node.n, frame.depth == 0,
        oblique
    )
    clear_found(&node.found)
    while n_made < oblique.n_directions:
        n = make_directions(oblique, &axis.split, n_made)
        if n < 0:
            return -1
        for i in range(n):
            if turn_to_direction(oblique, i):
                try_direction(samples, search)
        n_made += n
    # What is left of the search by one column, whose keys have to be listed again.
    samples.keys_of = NULL
    node.stride = stride
    oblique.split = node.found.split
    if finish_oblique(oblique, &axis.split):
        node.found.split = oblique.split
        node.found.column = &search.oblique_column
    else:
        node.found = axis
    return 0


cdef void mark_by_sums(SampleList* samples, const ListSearch* search) noexcept nogil:
    """Write the child of every sample of an oblique test."""
    cdef:
        const double* z = search.oblique.best.z
        double threshold = search.oblique.best.threshold
        int64_t i
    for i in range(search.node.n):
        samples.child[i] = z[i] > threshold


cdef int append_terms(
    const ListSearch* search, NodeBuffer* buffer, int32_t node
) noexcept nogil:
    """Write the terms of the best oblique test. Returns -1 without memory."""
    cdef:
        const ObliqueSearch* oblique = search.oblique
        const Direction* direction = &oblique.best
        int64_t t, level, n_levels
        const double* codes
        Term term
    term.node = node
    for t in range(direction.n_terms):
        term.feature = direction.column[t]
        term.share = <float>direction.share[t]
        term.weight = direction.weight[t]
        term.fill = direction.fill[t]
        term.level = -1
        n_levels = 0
        if direction.code_start[t] >= 0:
            n_levels = oblique.problem.n_levels[term.feature]
        if reserve_terms(buffer, 1 + n_levels) < 0:
            return -1
        if direction.code_start[t] < 0:
            buffer.terms[buffer.n_terms] = term
            buffer.n_terms += 1
            continue
        codes = direction.codes + direction.code_start[t]
        for level in range(n_levels):
            if codes[level] == codes[level]:
                term.level = <int32_t>level
                term.weight = codes[level]
                buffer.terms[buffer.n_terms] = term
                buffer.n_terms += 1
    return 0


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


cdef void start_node_search(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* frame, const NodeView* view
) noexcept nogil:
    cdef:
        NodeSearch* node = &search.node
    node.problem = problem
    node.view = view
    node.entries = samples.entries + frame.start
    node.n = frame.n_rows
    node.lowest = max(problem.min_samples_leaf, 1)
    node.checks_limits = problem.min_weight_leaf > 0.0 or problem.monotonic != NULL or (
        problem.criterion == POISSON
    )
    node.min_weight = samples.min_weight
    node.unit = 1.0
    node.centre = node.pivot = 0.0
    node.slack = 4.0 * view.margin
    node.noise = 0.0
    node.n_classes = problem.n_statistics
    node.counts_samples = node.lowest > 1 or samples.value_limit != NULL
    node.n_planes = node.n_classes + node.counts_samples
    node.left = worker.scratch.left
    node.right = worker.scratch.right
    node.class_counts = worker.scratch.left_count
    node.scratch = search.scratch
    if samples.kind == LIST_BINARY:
        node.unit = 2.0
        node.total = view.totals.sums[1]
    elif samples.kind == LIST_MOMENTS:
        node.unit = 2.0 if problem.is_classifier else 1.0
        if not problem.random_splitter or problem.any_nominal:
            describe_moments(problem, samples, view, node)
    elif samples.kind == LIST_CLASS_COUNTS and problem.entropy_table != NULL:
        node.entropy_table = problem.entropy_table
        node.unit = problem.entropy_unit
        node.noise = 64.0 + 2.0 * <double>node.n_classes + (
            1e-14 * <double>problem.entropy_table[<int64_t>view.totals.weight]
        )
        node.slack += 4.0 * TABLE_ROUNDING * node.unit
    elif samples.kind == LIST_CLASS_WEIGHTS:
        node.sample_weight = samples.node_rows.weight


cdef void clear_found(Found* found) noexcept nogil:
    memset(found, 0, sizeof(Found))
    found.split.column = -1
    found.split.score = -1.0
    found.split.missing_child = -1
    found.split.n_children = 2


# -------------------------------------------------------------------------- searching


cdef void try_sorted(
    SampleList* samples, NodeSearch* node, Worker* worker, const SampledColumn* column
) noexcept nogil:
    """Search a column in order."""
    cdef:
        const Problem* problem = node.problem
        Found* found = &node.found
    found.split.improved = False
    samples.keys_of = NULL
    sort_column(
        samples, node.entries, node.n, column.codes,
        missing_code_of(problem, column.number), samples.keys
    )
    evaluate_column(
        problem, &samples.node_rows, &worker.scratch, samples.keys, NULL, node.view,
        column.number, &found.split
    )
    if found.split.improved:
        found.column = column


cdef void try_column(
    SampleList* samples, ListSearch* search, Worker* worker, SampledColumn* column,
    double top, const Sums* kind
) noexcept nogil:
    cdef:
        NodeSearch* node = &search.node
        int64_t i
    if must_stop(node.problem.interrupt, node.n):
        return
    if column.is_nominal:
        try_levels(samples, search, worker, column, kind)
        return
    if column.is_sorted:
        try_sorted(samples, node, worker, column)
        return
    for i in range(column.n_histograms):
        try_histogram(node, samples, &column.histograms[i], top, kind)
    if column.n_missing > 0:
        try_missing_alone(node, column, <const Sums*>column.histograms[0].below)


cdef double top_of(const SampledColumn* column) noexcept nogil:
    """The best end of a bin."""
    cdef:
        int64_t i
        double top = -INFINITY
    if not column.is_sorted and not column.is_nominal:
        for i in range(column.n_histograms):
            top = max(top, column.histograms[i].edge)
    return top


cdef void search_columns(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const Sums* kind
) noexcept nogil:
    """The best split of all sampled columns, the earlier one where two are equal."""
    cdef:
        NodeSearch* node = &search.node
        int64_t i, n_visit
        double top = -INFINITY
        SampledColumn* column
    if problem.random_splitter:
        search_random(problem, samples, search, worker, frame, kind)
        return
    n_visit = count_sampled(problem, samples, search, worker, frame, kind)
    for i in range(n_visit):
        column = &search.columns[i]
        if not column.is_sorted and not column.is_nominal:
            start_histograms(node, column, kind)
            top = max(top, top_of(column))
    # Candidates so near the best that the order decides are all looked at.
    top -= node.slack
    for i in range(n_visit):
        column = &search.columns[i]
        if problem.top_splits > 1:
            clear_found(&node.found)
            top = top_of(column) - node.slack
        try_column(samples, search, worker, column, top, kind)
        if problem.top_splits > 1:
            keep_found(search, worker, i)
    choose_found(problem, search, worker, n_visit)


cdef bint varies_at_random(
    const Problem* problem, const SampleList* samples, const NodeSearch* node,
    SampledColumn* column, StepRange* values, const Sums* kind
) noexcept nogil:
    """Whether the node's values of a column differ."""
    if is_in_tile(problem, column, node.n):
        return find_values(samples, node, column, values, kind)
    column.is_gathered = True
    gather_codes(samples, kind, node.entries, node.n, column.number, column.codes)
    return codes_differ(column.codes, node.n)


cdef void search_random(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const Sums* kind
) noexcept nogil:
    """The best of one random threshold for each sampled column."""
    cdef:
        NodeSearch* node = &search.node
        ColumnSampler sampler
        SampledColumn* stepped[TILE_COLUMNS]
        SampledColumn* column
        StepRange[TILE_COLUMNS] ranges
        int64_t i, k, n, n_stepped, first
        bint is_stepped
    if samples.kind != LIST_GENERAL:
        describe_targets(problem, samples, node, kind)
    start_sampling(problem, worker, frame, &sampler)
    while True:
        n = sample_columns(problem, samples, search, worker, &sampler, TILE_COLUMNS)
        if n == 0 or must_stop(problem.interrupt, n * node.n):
            break
        n_stepped = list_tile(
            problem, node, search.columns + sampler.n_found, n, stepped
        )
        if n_stepped > 0:
            read_steps(samples, node, stepped, n_stepped, kind)
        for i in range(n_stepped):
            locate_extremes(samples, node, stepped[i], &ranges[i], kind)
        first = sampler.n_found
        k = 0
        for i in range(n):
            column = &search.columns[first + i]
            is_stepped = is_in_tile(problem, column, node.n)
            if not varies_at_random(problem, samples, node, column, &ranges[k], kind):
                note_constant(worker, column.number, &sampler)
            else:
                column = keep_column(search, worker, &sampler, column)
                if problem.top_splits > 1:
                    clear_found(&node.found)
                if is_stepped:
                    try_random_threshold(samples, node, column, &ranges[k], kind)
                else:
                    try_column(samples, search, worker, column, 0.0, kind)
                if problem.top_splits > 1:
                    keep_found(search, worker, sampler.n_found - 1)
            k += is_stepped
    finish_sampling(worker, frame, &sampler)
    choose_found(problem, search, worker, sampler.n_found)


cdef void keep_found(ListSearch* search, Worker* worker, int64_t i) noexcept nogil:
    """Keep the best split of a column, where one of several is taken."""
    cdef Found* found = &search.node.found
    if found.split.column >= 0:
        found.split.column = found.column.number
    search.found[i] = found[0]
    worker.splits[i] = found.split


cdef void choose_found(
    const Problem* problem, ListSearch* search, Worker* worker, int64_t n_visit
) noexcept nogil:
    """Take one of the best splits of the columns."""
    cdef int64_t i
    if problem.top_splits <= 1 or n_visit == 0:
        return
    clear_found(&search.node.found)
    i = draw_split(problem, worker, search.node.view, n_visit)
    if i >= 0:
        search.node.found = search.found[i]


cdef void search_axis(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame
) noexcept nogil:
    """The best split of a node by one column."""
    cdef:
        NodeSearch* node = &search.node
        const BinaryCounts* binary = NULL
        const Moments* moments = NULL
        const ClassCounts* class_counts = NULL
        const ClassWeights* class_weights = NULL
    if samples.kind == LIST_BINARY:
        search_columns(problem, samples, search, worker, frame, binary)
    elif samples.kind == LIST_CLASS_COUNTS:
        search_columns(problem, samples, search, worker, frame, class_counts)
    elif samples.kind == LIST_CLASS_WEIGHTS:
        search_columns(problem, samples, search, worker, frame, class_weights)
    else:
        search_columns(problem, samples, search, worker, frame, moments)
    if node.found.split.column >= 0:
        node.found.split.column = node.found.column.number
        node.found.split.kind = problem.kind[node.found.column.number]


cdef int search_list(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const NodeView* view
) noexcept nogil:
    """The best split of a node; the column of ``search.node.found`` is -1 if there is
    none. Returns -1 without memory."""
    clear_found(&search.node.found)
    samples.keys_of = NULL
    if search.oblique != NULL or needs_description(problem, samples):
        describe_samples(problem, samples, frame)
    start_node_search(problem, samples, search, worker, frame, view)
    if search.oblique == NULL or search.oblique.searches_axis:
        search_axis(problem, samples, search, worker, frame)
    if search.oblique != NULL:
        return search_oblique(problem, samples, search, worker, frame, view)
    return 0


cdef inline bint needs_description(
    const Problem* problem, const SampleList* samples
) noexcept nogil:
    """Whether some column may be sorted, or targets are counted from the mean."""
    return (
        problem.random_splitter and problem.missing_mode != MISSING_LEARNED
    ) or (
        samples.kind != LIST_BINARY and samples.kind != LIST_CLASS_COUNTS
    )
