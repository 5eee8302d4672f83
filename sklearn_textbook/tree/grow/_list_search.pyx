"""The best split of a node whose samples are a list, and what its children hold.

A node of many samples counts them in bins, four columns in one pass, and reads codes
only of the samples whose bin may hold a better threshold than the ends of bins do. A
random threshold needs no histogram, but the range of a column and what is below it.
Other columns, and nodes of few samples, are sorted and searched as sorted columns are.
"""

from libc.math cimport INFINITY, fabs, frexp, ldexp, log2, sqrt
from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

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
from sklearn_textbook.tree.grow._missing cimport mark_rows
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
from sklearn_textbook.tree.grow._search cimport draw_split
from sklearn_textbook.tree.split._best cimport (
    breaks_constraint,
    clear_split,
    score_to_beat,
    take,
)
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._column cimport (
    count_missing,
    divide_runs,
    evaluate_column,
    own_margin,
)
from sklearn_textbook.tree.split._criterion cimport goodness
from sklearn_textbook.tree.split._deviance cimport deviance_bound, deviance_part
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    random_unit,
)
from sklearn_textbook.tree.split._sums cimport (
    COUNT_BITS,
    COUNT_MASK,
    FETCH_AHEAD,
    FEW_SAMPLES,
    MOST_BINS,
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
from sklearn_textbook.tree.split._steps cimport (
    ABOVE_STEPS,
    HIGHEST_STEP,
    LOWEST_STEP,
    MISSING_STEP,
    Scale,
    separates_all,
    step_of,
)
from sklearn_textbook.tree.split._types cimport (
    GINI,
    MISSING_LEARNED,
    MISSING_SURROGATE,
    NOMINAL_COLUMN,
    POISSON,
    SPLIT_MULTIWAY,
    Rows,
    Split,
    Totals,
)
from sklearn_textbook.tree.split._wide_units cimport wide_void


cdef enum:
    GAP = 4  # between the sums of one column or class and those of the next
    FEWEST_USED = 8  # bins with samples, below which a column is counted more finely
    FEWEST_BINS = 16
    MOST_CLASS_BINS = 8192  # bins times classes of one column
    CLASSES_PER_SAMPLE = 8  # so many more, and a bin should have one sample more
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ
    END_ARRAYS = 5
    FLAG_ROWS = 64
    FEW_KEYS = 48  # that are sorted at once


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

include "../split/_histogram_count.pxi"
include "../split/_histogram_pairs.pxi"
include "../split/_histogram_classes.pxi"
include "../split/_random_threshold.pxi"


# ---------------------------------------------------------------------------- buffers


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
        int64_t n_ends = MOST_BINS + GAP, i, j
        int64_t n_rows = samples.n_samples
        int64_t size = n_planes * n_ends * sizeof(Moments)
        Histogram* h
        double* ends
    memset(search, 0, sizeof(ListSearch))
    if n_planes > 1:
        size = n_planes * n_ends * sizeof(double)
    # A place for a column that is still to be found constant.
    n_slots += TILE_COLUMNS
    search.columns = <SampledColumn*>calloc(n_slots, sizeof(SampledColumn))
    search.histograms = <Histogram*>calloc(n_slots * n_histograms, sizeof(Histogram))
    search.found = <Found*>malloc(n_slots * sizeof(Found))
    search.below = malloc(n_slots * n_histograms * size)
    search.ends = <double*>malloc(
        n_slots * n_histograms * END_ARRAYS * n_ends * sizeof(double)
    )
    search.tile = malloc(TILE_COLUMNS * size)
    search.totals = <double*>malloc(
        n_slots * 2 * problem.n_statistics * sizeof(double)
    )
    search.scratch = <double*>malloc(n_ends * sizeof(double))
    if (
        search.columns == NULL or search.histograms == NULL or search.found == NULL
        or search.below == NULL or search.ends == NULL or search.tile == NULL
        or search.totals == NULL or search.scratch == NULL
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
    return 0


cdef void free_list_search(ListSearch* search) noexcept nogil:
    free(search.columns)
    free(search.histograms)
    free(search.found)
    free(search.below)
    free(search.ends)
    free(search.tile)
    free(search.totals)
    free(search.scratch)
    memset(search, 0, sizeof(ListSearch))


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
        amounts[i].spread = above if above > 0.0 else 0.0
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
    node.least_weight = samples.least_weight
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
        if not problem.random_splitter:
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


# -------------------------------------------------------------------- sampled columns


cdef inline bint is_countable(
    const Problem* problem, const SampleList* samples, int64_t n, int32_t number
) noexcept nogil:
    """Whether the thresholds of a column are searched in histograms, or sampled
    between steps."""
    if samples.kind == LIST_GENERAL or problem.kind[number] == NOMINAL_COLUMN:
        return False
    if problem.random_splitter:
        return (
            not problem.has_missing[number] or problem.missing_mode == MISSING_LEARNED
        )
    return n > FEW_SAMPLES


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


cdef int64_t sample_tile(
    const Problem* problem, const SampleList* samples, ListSearch* search,
    Worker* worker, ColumnSampler* sampler, SampledColumn** countable,
    int64_t* n_countable
) noexcept nogil:
    """Sample the columns of the next pass over the samples; returns their number."""
    cdef:
        int64_t n = 0
        SampledColumn* column
    n_countable[0] = 0
    sampler.n_waiting = 0
    while n < TILE_COLUMNS and sampler.n_found + n < problem.max_features:
        column = &search.columns[sampler.n_found + n]
        column.number = sample_column(problem, worker, sampler)
        if column.number < 0:
            break
        column.n_missing = 0
        column.is_gathered = False
        column.is_sorted = not is_countable(
            problem, samples, search.node.n, column.number
        )
        column.missing_bin = -1
        if not column.is_sorted:
            if not problem.random_splitter:
                read_span(problem, samples, column)
            countable[n_countable[0]] = column
            n_countable[0] += 1
        n += 1
        sampler.n_waiting = n
    return n


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
    while joined < coarseness and n_bins - 1 >> joined >= MOST_BINS >> coarseness:
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
    fill few bins, they are counted in finer ones."""
    cdef:
        Sums* below = <Sums*>column.histograms[0].below
        int64_t n_used
    if column.is_sorted:
        gather_codes(
            samples, slots, node.entries, node.n, column.number, column.codes
        )
        column.is_gathered = True
        return codes_differ(column.codes, node.n)
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
    column.largest = missing_code_of(problem, column.number) - 1
    if not choose_bins(column, node.n, coarseness) and column.n_missing == 0:
        return False
    count_codes(node, column, slots)
    add_up_bins(node, column, slots, below)
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


cdef int64_t count_sampled(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const Sums* kind
) noexcept nogil:
    """Sample the columns of the node, and count their bins; returns their number."""
    cdef:
        NodeSearch* node = &search.node
        ColumnSampler sampler
        SampledColumn* countable[TILE_COLUMNS]
        SampledColumn* column
        int32_t coarseness = choose_coarseness(kind, frame.n_rows, node.n_planes)
        int64_t i, n, n_countable, counted, before, n_kept = 0, tile_stride
        const uint8_t* row_bins = samples.table.row_bins
        Sums* tile = <Sums*>search.tile
        Sums* slots
    if samples.is_local:
        row_bins = samples.local_bins
    node.stride = (MOST_BINS >> coarseness) + GAP
    tile_stride = node.stride
    if Sums in ClassSums:
        tile_stride *= node.n_planes
    start_sampling(problem, worker, frame, &sampler)
    while True:
        n = sample_tile(
            problem, samples, search, worker, &sampler, countable, &n_countable
        )
        if n == 0:
            break
        if n_countable > 0:
            count_columns(
                node, row_bins, problem.n_columns, countable, n_countable,
                join_bins(countable, n_countable, coarseness),
                not samples.is_local,
                samples.tile_bins + n_kept * TILE_COLUMNS * samples.n_samples, tile,
                tile_stride
            )
        before = sampler.n_found
        counted = 0
        for i in range(n):
            column = &search.columns[before + i]
            slots = tile + counted * tile_stride
            counted += not column.is_sorted
            if not finish_column(problem, samples, node, column, slots, coarseness):
                note_constant(worker, column.number, &sampler)
            else:
                keep_column(search, worker, &sampler, column)
        n_kept += sampler.n_found > before
    finish_sampling(worker, frame, &sampler)
    return sampler.n_found


# -------------------------------------------------------------------------- searching


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
    found.split.alone = True
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
        const uint8_t* is_open = samples.is_open
        const uint8_t* bins = column.bins
        uint64_t* keys = samples.keys
        int64_t i, n = 0
        uint32_t code
    if column.is_gathered:
        for i in range(node.n):
            code = column.codes[i]
            keys[n] = <uint64_t>(code - column.smallest) << 32 | <uint64_t>i
            if code <= column.largest:
                n += is_open[(code - column.smallest) >> column.shift]
        return n
    # The bin of missing values is never open.
    for i in range(node.n):
        keys[n] = <uint64_t>i
        n += is_open[bins[TILE_COLUMNS * i]]
    add_codes(samples, kind, node.entries, column.number, column.smallest, keys, n)
    return n


cdef void sort_by_bins(
    SampleList* samples, const SampledColumn* column, int64_t n
) noexcept nogil:
    """Sort the keys of the samples in open bins."""
    cdef:
        int64_t[MOST_BINS + 1] start
        uint64_t* keys = samples.keys
        uint64_t* spare = samples.spare
        int64_t b, i, first
    if n <= FEW_KEYS:
        sort_keys(keys, n, spare, 32, 0)
        return
    memset(start, 0, (column.n_bins + 1) * sizeof(int64_t))
    for i in range(n):
        start[(keys[i] >> 32 >> column.shift) + 1] += 1
    for b in range(column.n_bins):
        start[b + 1] += start[b]
    for i in range(n):
        b = keys[i] >> 32 >> column.shift
        spare[start[b]] = keys[i]
        start[b] += 1
    memcpy(keys, spare, n * sizeof(uint64_t))
    # Each bin now starts where the one before it ends.
    first = 0
    for b in range(column.n_bins):
        if start[b] > first + 1:
            # Above the shift, all codes of a bin are equal.
            sort_keys(
                keys + first, start[b] - first, spare, 32,
                (<uint32_t>1 << column.shift) - 1
            )
        first = start[b]


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
        uint8_t* is_open = samples.is_open
        uint64_t* keys = samples.keys
        int64_t b, n, n_open = 0, n_keys = 0
        double beat = score_to_beat(node.problem, &node.found.split, h.margin), bound
        bint is_poisson = node.problem.criterion == POISSON
    if column.shift > 0:
        if Sums in ClassSums:
            n_open = open_bins_of_classes(node, h, below, max(top, beat), is_open)
        else:
            n_open = open_bins_of_pairs(node, h, below, max(top, beat), is_open)
    else:
        memset(is_open, 0, column.n_bins)
    # An edge may be rounded in another way than a candidate.
    if n_open == 0 and not h.edge + 0.25 * node.slack > beat:
        return
    if n_open > 0:
        if column.missing_bin >= 0:
            is_open[column.missing_bin] = False
        n_keys = collect_samples(node, samples, column, kind)
        sort_by_bins(samples, column, n_keys)
        samples.keys_of = h
        samples.n_keys = n_keys
    bound = bound_of_ends(node, h, kind)
    for b in range(column.n_bins):
        if is_open[b]:
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


cdef void try_sorted(
    SampleList* samples, NodeSearch* node, Worker* worker, const SampledColumn* column,
    Split* before
) noexcept nogil:
    """Search a column in order; ``before`` becomes what it had to beat if it is
    better."""
    cdef:
        const Problem* problem = node.problem
        Found* found = &node.found
        Split held = found.split
    found.split.improved = False
    samples.keys_of = NULL
    sort_column(
        samples, node.entries, node.n, column.codes,
        missing_code_of(problem, column.number), problem.n_statistics == 2,
        samples.keys
    )
    evaluate_column(
        problem, &samples.node_rows, &worker.scratch, samples.keys, NULL, node.view,
        column.number, &found.split
    )
    if found.split.improved:
        before[0] = held
        found.column = column


cdef void try_column(
    SampleList* samples, NodeSearch* node, Worker* worker, const SampledColumn* column,
    double top, Split* before, const Sums* kind
) noexcept nogil:
    cdef int64_t i
    if column.is_sorted:
        try_sorted(samples, node, worker, column, before)
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
    if not column.is_sorted:
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
        if not column.is_sorted:
            start_histograms(node, column, kind)
            top = max(top, top_of(column))
    # Candidates so near the best that the order decides are all looked at.
    top -= node.slack
    for i in range(n_visit):
        column = &search.columns[i]
        if problem.top_splits > 1:
            clear_found(&node.found)
            top = top_of(column) - node.slack
        try_column(samples, node, worker, column, top, &search.before, kind)
        if problem.top_splits > 1:
            keep_found(search, worker, i)
    choose_found(problem, search, worker, n_visit)


# ----------------------------------------------------------------- random thresholds


cdef bint varies_at_random(
    const Problem* problem, const SampleList* samples, const NodeSearch* node,
    SampledColumn* column, StepRange* values, const Sums* kind
) noexcept nogil:
    """Whether the node's values of a column differ."""
    if not column.is_sorted:
        return find_values(samples, node, column, values, kind)
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
    if samples.kind != LIST_GENERAL:
        describe_targets(problem, samples, node, kind)
    start_sampling(problem, worker, frame, &sampler)
    while True:
        n = sample_tile(
            problem, samples, search, worker, &sampler, stepped, &n_stepped
        )
        if n == 0:
            break
        if n_stepped > 0:
            read_steps(samples, node, stepped, n_stepped, kind)
        for i in range(n_stepped):
            locate_extremes(samples, node, stepped[i], &ranges[i], kind)
        first = sampler.n_found
        k = 0
        for i in range(n):
            column = &search.columns[first + i]
            if not varies_at_random(problem, samples, node, column, &ranges[k], kind):
                note_constant(worker, column.number, &sampler)
            else:
                column = keep_column(search, worker, &sampler, column)
                if problem.top_splits > 1:
                    clear_found(&node.found)
                if column.is_sorted:
                    try_sorted(samples, node, worker, column, &search.before)
                else:
                    try_random_threshold(samples, node, column, &ranges[k], kind)
                if problem.top_splits > 1:
                    keep_found(search, worker, sampler.n_found - 1)
            k += not column.is_sorted
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
    clear_split(&search.before)
    i = draw_split(problem, worker, search.node.view, n_visit)
    if i >= 0:
        search.node.found = search.found[i]


cdef void search_list(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    Frame* frame, const NodeView* view
) noexcept nogil:
    """The best split of a node; the column of ``search.node.found`` is -1 if there is
    none."""
    cdef:
        NodeSearch* node = &search.node
        const BinaryCounts* binary = NULL
        const Moments* moments = NULL
        const ClassCounts* class_counts = NULL
        const ClassWeights* class_weights = NULL
    clear_found(&node.found)
    clear_split(&search.before)
    samples.keys_of = NULL
    if needs_description(problem, samples, frame):
        describe_samples(problem, samples, frame)
    start_node_search(problem, samples, search, worker, frame, view)
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


cdef inline bint needs_description(
    const Problem* problem, const SampleList* samples, const Frame* frame
) noexcept nogil:
    """Whether some column may be sorted, or targets are counted from the mean."""
    return (
        (frame.n_rows <= FEW_SAMPLES and not problem.random_splitter)
        or problem.any_nominal
        or (problem.random_splitter and problem.missing_mode != MISSING_LEARNED)
        or (samples.kind != LIST_BINARY and samples.kind != LIST_CLASS_COUNTS)
    )


# -------------------------------------------------------------------------- children


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
    """The places that are flagged; there is room for FLAG_ROWS flags more."""
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
    # There is room for the flags where sorting had its copy.
    flag_bins(bins, node.n, <uint8_t>one, <uint8_t>other, <uint8_t*>samples.spare)
    n = list_flagged(<uint8_t*>samples.spare, node.n, keys)
    add_codes(
        samples, kind, node.entries, column.number, column.smallest, keys, n
    )
    return n


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
        uint32_t cut = column.largest if found.split.alone else found.cut
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
        uint8_t last = MOST_BINS - 1
        uint32_t most = found.cut - column.smallest
        int64_t i, n, cut = most >> column.shift
    if found.split.alone:
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
    """Sum up what a child holds, whose samples stand together."""
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
        bint is_pure = True
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
    if samples.kind == LIST_BINARY:
        measure_counts_of_children(problem, node, children)
        return
    partition_list(problem, samples, node, worker)
    for child in range(children.n_children):
        measure_range(
            problem, samples, node.view, entries, children.n_rows[child], child,
            children
        )
        entries += children.n_rows[child]
        if problem.is_classifier:
            finish_classes(problem, node.view, child, children)
        else:
            finish_values(problem, node.view, child, children)


cdef int settle_sorted(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const NodeView* view, int64_t* pair
) noexcept nogil:
    """Children of a split that was found in a sorted column. Returns -1 without
    memory."""
    cdef:
        NodeSearch* node = &search.node
        Split* split = &node.found.split
        Children* children = &worker.children
        const SampledColumn* column = node.found.column
        const int32_t* run_child = worker.scratch.run_side
        uint64_t* cells = samples.keys
        int64_t n = node.n, n_present
    sort_column(
        samples, node.entries, n, column.codes,
        missing_code_of(problem, column.number), problem.n_statistics == 2, cells
    )
    n_present = n - count_missing(cells, n)
    if split.kind == NOMINAL_COLUMN:
        split.missing_child = divide_runs(
            problem, &samples.node_rows, &worker.scratch, cells, NULL, view, split,
            &search.before, n_present
        )
        if write_level_map(
            problem, &worker.buffer, cells, NULL, column.number, n_present, run_child,
            problem.categorical_split == SPLIT_MULTIWAY
        ) < 0:
            return -1
    elif not split.alone:
        pair[0] = <int64_t>(
            (cells[split.position - 1] >> 32) << 32 | cells[split.position] >> 32
        )
    list_pieces(problem, cells, run_child, split, n_present, n, children)
    measure_children(
        problem, &samples.node_rows, &worker.scratch, cells, view, children
    )
    children.n_missing = 0
    mark_rows(children, cells, worker.child_of_row)
    return 0


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
    if node.found.column.is_sorted:
        return settle_sorted(problem, samples, search, worker, view, pair)
    if not node.found.split.alone and not problem.random_splitter:
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
    elif column.is_gathered:
        mark_by_codes(samples, node)
    elif problem.random_splitter:
        n_left = partition_by_steps(
            entries, samples.spare, column.steps, node.found.boundary, n,
            samples.permutations
        )
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
