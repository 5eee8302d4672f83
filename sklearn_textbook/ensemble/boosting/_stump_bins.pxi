# Dividing columns into bins: part of _stumps.pyx.


cdef struct Binning:
    Column* columns
    uint8_t* bins  # column by column
    uint8_t* row_bins
    uint32_t* codes  # column by column
    int64_t* start
    const int64_t* n_missing
    const int64_t* n_distinct
    const int64_t* wide_number
    int64_t n_rows
    int64_t n_columns
    int64_t width


cdef void bin_column(void* context, int64_t c, int thread) noexcept nogil:
    """Divide a column into bins."""
    cdef:
        Binning* work = <Binning*>context
        Column* column = work.columns + c
        int64_t n_rows = work.n_rows, n_present = n_rows - work.n_missing[c]
        int64_t most = work.width - column.has_missing, target = 0, b = -1, i
        int64_t* start = work.start + c * (MOST_BINS + 1)
        uint8_t* bins = work.bins + c * n_rows
        uint32_t* codes = NULL
        uint32_t row
    if work.wide_number[c] >= 0:
        codes = work.codes + work.wide_number[c] * n_rows
    elif work.n_distinct[c] > most:
        target = max(1 + (n_present - 1) // most, <int64_t>LEAST_BIN_ROWS)
    column.is_exact = target == 0
    for i in range(n_rows):
        row = column.order[i]
        if i == n_present or (
            row > ROW_MASK and i < n_present
            and (b < 0 or column.is_nominal or i - start[b] >= target)
        ):
            b += 1
            if not column.is_nominal:
                start[b] = i
        row &= ROW_MASK
        if codes != NULL:
            codes[row] = <uint32_t>b
        else:
            bins[row] = <uint8_t>b
    column.n_bins = b + 1 - column.has_missing
    if not column.is_nominal:
        start[column.n_bins] = n_present


cdef void turn_block(void* context, int64_t block, int thread) noexcept nogil:
    """Store the bins of some rows row by row."""
    cdef:
        Binning* work = <Binning*>context
        int64_t first = block * TURNED_ROWS, c, row
        int64_t last = min(first + TURNED_ROWS, work.n_rows)
    for c in range(work.n_columns):
        for row in range(first, last):
            work.row_bins[row * work.n_columns + c] = work.bins[c * work.n_rows + row]
