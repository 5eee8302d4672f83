"""The best split of a node whose samples are a list, and what its children hold.

A node counts its samples in bins, if there are many in those of the table and four
columns in one pass, and reads codes only of the samples whose bin may hold a better
threshold than the ends of bins do. A random threshold needs no histogram, but the
range of a column and what is below it. The levels of nominal columns are summed up one
by one. Columns of several outputs are sorted and searched as sorted columns are.

The steps of a node: describe the samples, sample and count columns, score the ends of
bins of all columns, and then look into the bins that may hold a split above the best
end (``search_list``); next mark the samples with their children and sum these up
(``settle_list``); last, if some child is split, partition the list
(``partition_list``).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t, uint8_t
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
    add_codes,
    describe_samples,
    gather_codes,
    sort_column,
    sort_keys,
)
from sklearn_textbook.tree.split._column cimport (
    assign_runs,
    count_missing,
    evaluate_column,
    evaluate_runs,
    midpoint,
)
from sklearn_textbook.tree.split._criterion cimport add_row
from sklearn_textbook.tree.split._histogram cimport (
    GAP,
    TABLE_ROUNDING,
    add_up_bins,
    bin_of_code,
    choose_bins,
    choose_coarseness,
    count_bins,
    count_codes,
    describe_moments,
    n_missing_in,
    next_used,
    select_bins,
    start_histograms,
    try_candidates,
    try_missing_bin,
)
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
from sklearn_textbook.tree.split._random_threshold cimport (
    StepRange,
    describe_targets,
    find_values,
    locate_extremes,
    read_steps,
    try_random_threshold,
)
from sklearn_textbook.tree.split._samples cimport (
    LIST_BINARY,
    LIST_CLASS_COUNTS,
    LIST_CLASS_WEIGHTS,
    LIST_GENERAL,
    LIST_MOMENTS,
    Span,
)
from sklearn_textbook.tree.split._sums cimport (
    COUNT_BITS,
    FEW_SAMPLES,
    MAX_BINS,
    TILE_COLUMNS,
    BinaryCounts,
    ClassCounts,
    ClassSums,
    ClassWeights,
    Moments,
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
    MISSING_LEARNED,
    NOMINAL_COLUMN,
    POISSON,
    SPLIT_MULTIWAY,
    Rows,
    Scratch,
    Split,
)
from sklearn_textbook._contract._interrupt cimport has_stopped, must_stop
from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook._contract._wide_units cimport wide_void


cdef enum:
    FEWEST_USED = 8  # bins with samples, below which a column is counted more finely
    END_ARRAYS = 5
    FLAG_ROWS = 64
    SUMS_OFFSET = 2  # of the sums of a level, behind its samples and their weight
    MAX_BYTES = 256  # children that a byte can number


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
    # One more than the largest code of a value.
    return <uint32_t>problem.n_distinct[number]


cdef bint codes_differ(const uint32_t* codes, int64_t n) noexcept nogil:
    """Whether not all codes are equal."""
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
        # Behind those that vary; a constant column gives up its place.
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
    # Columns of one pass are shifted alike, so that all four bins of a sample are
    # shifted by one instruction.
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
        # Bins enough, or a bin per code: these bins serve.
        if n_used >= FEWEST_USED or (
            column.shift == 0 and n_used + (column.n_missing > 0) > 1
        ):
            return True
        # One code, or missing values alone.
        if column.shift == 0 or n_used == 0:
            return False
    gather_codes(samples, slots, node.entries, node.n, column.number, column.codes)
    column.is_gathered = True
    if not codes_differ(column.codes, node.n):
        return False
    if column.is_sorted or column.is_nominal:
        return True
    # Bins of its own, from the smallest to the largest code of the node; what is above
    # ``largest`` is missing.
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
        count_bins(
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
    # All columns at once, by tasks of TILE_COLUMNS.
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
        # Bins of a tile are kept if one of its columns varies.
        n_kept += sampler.n_found > before
    finish_sampling(worker, frame, &sampler)
    return sampler.n_found


cdef wide_void flag_bins(
    const uint8_t* bins, int64_t n, uint8_t one, uint8_t other, uint8_t* flags
) noexcept nogil:
    """Flag the samples of two bins; ``bins`` are TILE_COLUMNS apart."""
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
            # Without the lowest bit.
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
            # Written always, kept only in one of the bins.
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
# The samples of a column that are in open bins.
# ------------------------------------------------------------------------------------


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
            # Written always, kept only in an open bin.
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


cdef void try_histogram(
    NodeSearch* node, SampleList* samples, const Histogram* h, double top,
    const Sums* kind
) noexcept nogil:
    """All thresholds of a column whose samples are counted in bins."""
    cdef:
        const SampledColumn* column = h.column
        uint64_t* keys = samples.keys
        int64_t n_open = select_bins(node, h, top, samples.may_win, kind), n_keys = 0
    if n_open < 0:
        return
    if n_open > 0:
        n_keys = collect_samples(node, samples, column, kind)
        sort_keys(keys, n_keys, samples.spare, 32, column.largest - column.smallest)
        if column.is_oblique:
            rank_codes(column.sums, column.rounding, column.shift, keys, n_keys)
        samples.keys_of = h
        samples.n_keys = n_keys
    try_candidates(node, h, samples.may_win, keys, n_keys, kind)


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
            # The first sample of its level.
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
    # A word of ``used_words`` has bits of 64 words, each of 64 levels.
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
    # The children are kept with the column, as the scratch serves the next one.
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
    # A bin per code: no codes need be read.
    if column.shift == 0:
        return <int64_t>(
            <uint64_t>(column.smallest + <uint32_t>first) << 32
            | <uint64_t>(column.smallest + <uint32_t>last)
        )
    n = list_bins(samples, node, column, first, last, kind)
    # The largest code below the cut, and the smallest above.
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
    # Unless the keys that were sorted last hold this bin.
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
        # As ``add_values``, in the order of the list.
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
    # A third child holds the missing samples, child 1 what is left.
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
    # Samples of a child then stand together, and are partitioned already.
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
    # The keys may be those of another column by now.
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
    # It may have been done for the sums of the children.
    if samples.is_partitioned:
        return
    samples.is_partitioned = True
    # How the children are marked depends on how the column was searched.
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
    # Every column has its codes (or steps), histograms and ends.
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
    """Free everything but the oblique search."""
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
        # Keys of the open bins, sorted: the first one above the cut.
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
    # As many bins as a column of the table has in this node, of 2^shift codes each.
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
    # Oblique tests compete with each other first, ...
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
    # ... and the best one then with the best test of one column.
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
        term.fraction = <float>direction.fraction[t]
        term.weight = direction.weight[t]
        term.fill = direction.fill[t]
        term.level = -1
        n_levels = 0
        if direction.code_start[t] >= 0:
            n_levels = oblique.problem.n_levels[term.feature]
        if reserve_terms(buffer, 1 + n_levels) < 0:
            return -1
        # A numeric column is one term, a nominal one a term per level of the node.
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


cdef void start_node_search(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* frame, const NodeView* view
) noexcept nogil:
    """Describe a node to the searches of its columns."""
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
    # Weights tell whether a side is empty. Numbers of samples are needed for
    # min_samples_leaf, and of missing ones.
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
        # Rounding of the table in sums of its entries, and of numbers as large as T(n).
        node.noise = 64.0 + 2.0 * <double>node.n_classes + (
            1e-14 * <double>problem.entropy_table[<int64_t>view.totals.weight]
        )
        node.slack += 4.0 * TABLE_ROUNDING * node.unit
    elif samples.kind == LIST_CLASS_WEIGHTS:
        node.sample_weight = samples.node_rows.weight


cdef void clear_found(Found* found) noexcept nogil:
    """No split found yet."""
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
    """Search a column, by its histograms or as its kind requires. A bin is opened only
    if it may hold a score above ``top``."""
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
        try_missing_bin(node, column, <const Sums*>column.histograms[0].below)


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
    # The ends of all columns first, so that few bins have to be opened.
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
        # Columns whose thresholds are steps are read together; others are sorted or
        # summed up by levels, one by one.
        n_stepped = list_tile(
            problem, node, search.columns + sampler.n_found, n, stepped
        )
        if n_stepped > 0:
            read_steps(samples, node, stepped, n_stepped, kind)
        for i in range(n_stepped):
            locate_extremes(samples, node, stepped[i], &ranges[i], kind)
        # Columns that vary are put after those found before; ``n_found`` counts them.
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
