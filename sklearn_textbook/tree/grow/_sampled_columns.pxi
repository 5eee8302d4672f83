# The columns that a node samples: counting its samples in bins, and listing those of
# some bins.


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
