# Histograms of the samples of a node: counting several columns in one pass.


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
