# The thresholds of a column whose samples are counted in bins: histograms with missing
# samples on either side, the candidates at the ends of bins and inside of open ones.


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
