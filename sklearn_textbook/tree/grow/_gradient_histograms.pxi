# Histograms of gradient pairs: counted, or what is left of those of the parent.


cdef struct Counting:
    const GradientList* samples
    const uint32_t* rows
    int64_t n
    GradientPair* histogram
    GradientPair* rest  # those of the parent; NULL if the other child needs none


cdef void count_codes(
    const Counting* work, const SmallCode* row_codes, int64_t first, int64_t stop
) noexcept nogil:
    """Add the pairs of some rows to the histograms of some columns."""
    cdef:
        const GradientList* samples = work.samples
        const GradientPair* pairs = samples.pairs
        const int64_t* start = samples.start
        const uint32_t* rows = work.rows
        const SmallCode* codes
        int64_t i, j, width = samples.n_columns
        int64_t even = first + (stop - first) // UNROLLED * UNROLLED
        GradientPair* histogram = work.histogram
        PairVector pair
    for i in range(work.n):
        PREFETCH(row_codes + rows[i + FETCH_AHEAD] * width + first)
        PREFETCH(pairs + rows[i + FETCH_AHEAD])
        codes = row_codes + rows[i] * width
        pair = LOAD_PAIR(&pairs[rows[i]])
        j = first
        while j < even:
            ADD_PAIR(&histogram[start[j] + codes[j]], pair)
            ADD_PAIR(&histogram[start[j + 1] + codes[j + 1]], pair)
            ADD_PAIR(&histogram[start[j + 2] + codes[j + 2]], pair)
            ADD_PAIR(&histogram[start[j + 3] + codes[j + 3]], pair)
            j += UNROLLED
        while j < stop:
            ADD_PAIR(&histogram[start[j] + codes[j]], pair)
            j += 1


cdef void count_columns(
    const Counting* work, int64_t first, int64_t stop
) noexcept nogil:
    """Make the histograms of some columns: of one child, and what is left of those of
    the parent for the other."""
    cdef:
        const GradientList* samples = work.samples
        const int64_t* start = samples.start
        int64_t i
    memset(
        work.histogram + start[first], 0,
        (start[stop] - start[first]) * sizeof(GradientPair)
    )
    if samples.code_size == 1:
        count_codes(work, <const uint8_t*>samples.row_codes, first, stop)
    else:
        count_codes(work, <const uint16_t*>samples.row_codes, first, stop)
    if work.rest != NULL:
        for i in range(start[first], start[stop]):
            subtract_pair(&work.rest[i], &work.histogram[i])
