# Copying the codes of a subtree of few samples, with bins or steps of its own; part of
# _sample_list.pyx.


cdef void copy_rows(
    const Sums* kind, const uint64_t* entries, int64_t n, int64_t width,
    const Rank* source, Rank* target
) noexcept nogil:
    """Copy the codes or bins of some samples."""
    cdef:
        int64_t i
        const Rank* early
    for i in range(n):
        if i + FETCH_AHEAD < n:
            early = source + number_of(kind, entries[i + FETCH_AHEAD]) * width
            PREFETCH(early)
            PREFETCH(early + width - 1)
        memcpy(
            target, source + number_of(kind, entries[i]) * width, width * sizeof(Rank)
        )
        target += width


cdef void widen(
    const Cell* low, const Cell* high, int64_t n, Cell* smallest, Cell* largest
) noexcept nogil:
    """Widen n ranges by others."""
    cdef:
        int64_t j
        Cell value
    # Two loops over cells of one width, each of which the compiler vectorises.
    for j in range(n):
        value = low[j]
        if Cell is int16_t:
            value = <int16_t>HIGHEST_STEP if value == MISSING_STEP else value
        smallest[j] = value if value < smallest[j] else smallest[j]
    for j in range(n):
        largest[j] = high[j] if high[j] > largest[j] else largest[j]


cdef void widen_by_values(
    const uint8_t* bins, const uint8_t* limit, int64_t n, uint8_t* smallest,
    uint8_t* largest
) noexcept nogil:
    """The same, leaving out the bin of missing values."""
    cdef:
        int64_t j
        uint8_t value
    for j in range(n):
        smallest[j] = bins[j] if bins[j] < smallest[j] else smallest[j]
    for j in range(n):
        value = bins[j] if bins[j] <= limit[j] else <uint8_t>0
        largest[j] = value if value > largest[j] else largest[j]


cdef void find_extremes(
    const SampleList* samples, const Cell* cells, int64_t n
) noexcept nogil:
    """Find the smallest and largest of the copied bins, or steps, of each column."""
    cdef:
        int64_t i, width = samples.table.n_columns, block = BLOCK_ROWS * width
        int64_t n_blocks = n // BLOCK_ROWS
        Cell* smallest = <Cell*>samples.smallest
        Cell* largest = <Cell*>samples.largest
        const uint8_t* limit = samples.value_limit
    for i in range(block):
        smallest[i] = <Cell>(HIGHEST_STEP if Cell is int16_t else 0xFF)
        largest[i] = <Cell>(MISSING_STEP if Cell is int16_t else 0)
    for i in range(n_blocks):
        if Cell is uint8_t:
            if limit != NULL:
                widen_by_values(cells + i * block, limit, block, smallest, largest)
                continue
        widen(cells + i * block, cells + i * block, block, smallest, largest)
    for i in range(n_blocks * BLOCK_ROWS, n):
        if Cell is uint8_t:
            if limit != NULL:
                widen_by_values(cells + i * width, limit, width, smallest, largest)
                continue
        widen(cells + i * width, cells + i * width, width, smallest, largest)
    # Those of the first row of the blocks stand for all.
    for i in range(1, BLOCK_ROWS):
        widen(smallest + i * width, largest + i * width, width, smallest, largest)


cdef void refine_bins(
    const Problem* problem, SampleList* samples, const Rank* codes, int64_t n
) noexcept nogil:
    """Make finer bins of the copied codes of those columns that have become narrow;
    most have not, as the tests above the subtree were of few columns."""
    cdef:
        int64_t i, j, width = samples.table.n_columns, most
        const uint8_t* least_bin = <const uint8_t*>samples.smallest
        const uint8_t* most_bin = <const uint8_t*>samples.largest
        uint8_t* bins = samples.local_bins
        Span* span
        uint32_t smallest, largest, code
        int32_t shift
    for j in range(width):
        span = &samples.local_spans[j]
        span[0] = samples.table.spans[j]
        if most_bin[j] < least_bin[j]:
            continue  # all are missing
        shift = span.shift
        most = MAX_VALUE_BINS if problem.has_missing[j] else MAX_BINS
        while shift > 0 and (
            <int64_t>(most_bin[j] - least_bin[j] + 1) << span.shift
        ) <= most << (shift - 1):
            shift -= 1
        if shift == span.shift:
            continue
        smallest = <uint32_t>least_bin[j] << span.shift
        largest = min(
            span.largest, ((<uint32_t>most_bin[j] + 1) << span.shift) - 1
        )
        span.largest = largest
        span.smallest = smallest
        span.shift = shift
        if problem.has_missing[j]:
            span.missing_bin = <int32_t>(
                (((largest - smallest) >> shift) // BIN_GAP + 1) * BIN_GAP
            )
        for i in range(n):
            code = codes[i * width + j]
            bins[i * width + j] = (
                <uint8_t>((code - smallest) >> shift) if code <= largest
                else <uint8_t>span.missing_bin
            )


cdef void copy_cells(
    const Problem* problem, SampleList* samples, const Sums* kind,
    const uint64_t* entries, int64_t n
) noexcept nogil:
    """Copy the codes and bins, or the steps, of some samples."""
    cdef:
        const CodedTable* table = &samples.table
        int64_t width = table.n_columns
    if samples.row_steps != NULL:
        copy_rows(
            kind, entries, n, width, <const uint16_t*>samples.row_steps,
            <uint16_t*>samples.local_steps
        )
        return
    copy_rows(kind, entries, n, width, table.row_bins, samples.local_bins)
    find_extremes(samples, samples.local_bins, n)
    if table.row_codes == table.row_bins:
        memcpy(samples.local_spans, table.spans, width * sizeof(Span))
    elif table.code_size == 1:
        copy_rows(
            kind, entries, n, width, <const uint8_t*>table.row_codes,
            <uint8_t*>samples.local_codes
        )
        refine_bins(problem, samples, <const uint8_t*>samples.local_codes, n)
    elif table.code_size == 2:
        copy_rows(
            kind, entries, n, width, <const uint16_t*>table.row_codes,
            <uint16_t*>samples.local_codes
        )
        refine_bins(problem, samples, <const uint16_t*>samples.local_codes, n)
    else:
        copy_rows(
            kind, entries, n, width, <const uint32_t*>table.row_codes,
            <uint32_t*>samples.local_codes
        )
        refine_bins(problem, samples, <const uint32_t*>samples.local_codes, n)


cdef void refine_column(
    SampleList* samples, int64_t n, int64_t column
) noexcept nogil:
    """Make smaller steps of a column that has become narrow."""
    cdef:
        Scale* scale = &samples.local_scales[column]
        const double* values = samples.row_values + column
        int16_t* steps = samples.local_steps + column
        int64_t i, width = samples.table.n_columns
        double value, low = INFINITY, high = -INFINITY, factor
    for i in range(n):
        value = values[samples.local_row[i] * width]
        low = value if value < low else low
        high = value if value > high else high
    factor = N_STEPS / (high - low) if high > low else 0.0
    # Beyond this, the factor of the smallest range would overflow.
    if not scale.factor < factor < 1e300:
        return
    scale.low = low
    scale.factor = factor
    for i in range(n):
        value = values[samples.local_row[i] * width]
        steps[i * width] = step_of(value, scale) if value == value else MISSING_STEP


cdef void refine_steps(SampleList* samples, int64_t n) noexcept nogil:
    """Make smaller steps of the columns that are crowded on few."""
    cdef:
        const int16_t* lowest
        const int16_t* highest
        int64_t j, width = samples.table.n_columns
    find_extremes(samples, samples.local_steps, n)
    lowest = <const int16_t*>samples.smallest
    highest = <const int16_t*>samples.largest
    memcpy(samples.local_scales, samples.scales, width * sizeof(Scale))
    for j in range(width):
        if CROWDED * (<int64_t>highest[j] - lowest[j]) < n and not (
            separates_all(&samples.local_scales[j])
        ):
            refine_column(samples, n, j)


cdef void make_local(
    const Problem* problem, SampleList* samples, const Frame* frame
) noexcept nogil:
    """Copy the codes of a node's samples, and number these 0, 1, ... for all below."""
    cdef:
        uint64_t* entries = samples.entries + frame.start
        const BinaryCounts* counted = NULL
        const Moments* listed = NULL
        int64_t i, n = frame.n_rows
    if samples.kind == LIST_BINARY:
        copy_cells(problem, samples, counted, entries, n)
        for i in range(n):
            samples.local_row[i] = <uint32_t>number_of(counted, entries[i])
            entries[i] = renumber(counted, entries[i], i)
    else:
        copy_cells(problem, samples, listed, entries, n)
        if samples.y != NULL:
            for i in range(n):
                samples.local_y[i] = samples.y[number_of(listed, entries[i])]
        if samples.logarithm != NULL:
            for i in range(n):
                samples.local_logarithm[i] = samples.logarithm[
                    number_of(listed, entries[i])
                ]
        if samples.weight != NULL:
            for i in range(n):
                samples.local_weight[i] = samples.weight[number_of(listed, entries[i])]
        for i in range(n):
            samples.local_row[i] = <uint32_t>number_of(listed, entries[i])
            entries[i] = renumber(listed, entries[i], i)
    if samples.row_steps != NULL:
        refine_steps(samples, n)
    samples.is_local = True
