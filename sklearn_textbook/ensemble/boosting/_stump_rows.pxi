# The rows of a round: their weights, and their children. Part of _stumps.pyx.


cdef void reweigh_block(void* context, int64_t block, int thread) noexcept nogil:
    """Change the weights of a block and list the changes of the sums."""
    cdef:
        Work* work = <Work*>context
        int64_t row, first = block * BLOCK_ROWS, n = first
        int64_t last = min(first + BLOCK_ROWS, work.n_rows)
        double* totals = work.block_totals + block * work.n_classes
        # Read once: the compiler cannot know that they do not alias what is written.
        const int32_t* labels = work.labels
        const int32_t* predicted = work.predicted
        const uint8_t* side = work.side
        double* weights = work.weight
        uint32_t* entry_row = work.entry_row
        double* entry_weight = work.entry_weight
        bint is_rebuilt = work.is_rebuilt
        double[2] factor
        double weight, new_weight
        bint is_wrong
    factor[0], factor[1] = work.right_factor, work.wrong_factor
    memset(totals, 0, work.n_classes * sizeof(double))
    for row in range(first, last):
        is_wrong = labels[row] != predicted[side[row]]
        weight = weights[row]
        new_weight = weight * factor[is_wrong]
        weights[row] = new_weight
        entry_row[n] = <uint32_t>row
        if is_rebuilt:
            entry_weight[n] = work.learned[row]
            n += entry_weight[n] > 0.0
        else:
            entry_weight[n] = new_weight - weight
            n += is_wrong
    for row in range(first, n):
        totals[work.labels[work.entry_row[row]]] += work.entry_weight[row]
    work.n_entries[block] = n - first


cdef inline void add_to_bins(
    double* sums, int64_t width, const uint8_t* bins, int64_t n, double change
) noexcept nogil:
    """Add to the bin of a row in each of some columns; four at a time, since a
    compiler cannot know that sums and bins do not alias."""
    cdef:
        int64_t c, _c
        uint8_t b0, b1, b2, b3
    for _c in range(0, n - 3, 4):
        b0, b1, b2, b3 = bins[0], bins[1], bins[2], bins[3]
        sums[b0] += change
        sums[width + b1] += change
        sums[2 * width + b2] += change
        sums[3 * width + b3] += change
        bins += 4
        sums += 4 * width
    for c in range(n & 3):
        sums[c * width + bins[c]] += change


cdef void add_entries(Work* work, int64_t first, int64_t last) noexcept nogil:
    """Add the changes to the sums of some columns."""
    cdef:
        int64_t block, i, c, start, row, width = work.width
        double change
        double* sums
        const uint8_t* bins
        const uint32_t* codes
    for block in range(work.n_blocks):
        start = block * BLOCK_ROWS
        for i in range(start, start + work.n_entries[block]):
            row = work.entry_row[i]
            change = work.entry_weight[i]
            sums = work.sums + work.labels[row] * work.n_all_bins
            bins = work.bins + row * work.n_columns
            PREFETCH(work.bins + work.entry_row[i + FETCH_AHEAD] * work.n_columns)
            add_to_bins(sums + first * width, width, bins + first, last - first, change)
    for c in range(first, last):
        codes = work.columns[c].codes
        if codes == NULL:
            continue
        for block in range(work.n_blocks):
            start = block * BLOCK_ROWS
            for i in range(start, start + work.n_entries[block]):
                row = work.entry_row[i]
                sums = work.sums + work.labels[row] * work.n_all_bins
                sums[work.columns[c].first + codes[row]] += work.entry_weight[i]


cdef void divide_block(void* context, int64_t block, int thread) noexcept nogil:
    """Assign the rows of a block to the children and sum their weights."""
    cdef:
        Work* work = <Work*>context
        int64_t row, first = block * BLOCK_ROWS, size = N_ENDS * work.n_classes
        int64_t last = min(first + BLOCK_ROWS, work.n_rows)
        double* sums = work.child_sums + block * LANES * 2 * size
        int64_t* n_rows = work.child_rows + block * LANES * N_ENDS
        const uint8_t* bins = NULL
        const uint32_t* codes = NULL
        const int8_t* child_of_bin = work.child_of_bin
        const int32_t* labels = work.labels
        const double* learned = work.learned
        const double* weight = work.weight
        uint8_t* side = work.side
        int64_t n_classes = work.n_classes, slot, lane
        bint is_leaf = work.column == NULL, is_drawn = work.is_drawn
        int8_t child = 0
    if not is_leaf:
        bins, codes = work.column.bins, work.column.codes
    memset(sums, 0, LANES * 2 * size * sizeof(double))
    memset(n_rows, 0, LANES * N_ENDS * sizeof(int64_t))
    for row in range(first, last):
        if not is_leaf:
            child = child_of_bin[codes[row] if codes != NULL else bins[row]]
            if child == PARTED:
                child = <int8_t>side[row]
        side[row] = <uint8_t>child
        lane = row & (LANES - 1)
        slot = lane * 2 * size + child * n_classes + labels[row]
        sums[slot] += learned[row]
        n_rows[lane * N_ENDS + child] += learned[row] > 0.0
        if is_drawn:
            sums[size + slot] += weight[row]


cdef double place_threshold(
    const Work* work, const Column* column, int64_t* position
) noexcept nogil:
    """Midpoint between the values next to a position, among rows with weight.
    Moves the position, so that others between them stand on their side of it."""
    cdef:
        int64_t below = position[0] - 1, above = position[0], rank = -1, i
        double low, high, threshold
    while not work.learned[column.order[below] & ROW_MASK] > 0.0:
        below -= 1
    while not work.learned[column.order[above] & ROW_MASK] > 0.0:
        above += 1
    for i in range(below + 1):
        rank += column.order[i] >> 31
    low = column.values[rank]
    for i in range(below + 1, above + 1):
        rank += column.order[i] >> 31
    high = column.values[rank]
    threshold = low / 2 + high / 2
    if not threshold < high:
        threshold = low
    position[0] = above
    while position[0] > below + 1:
        rank -= column.order[position[0]] >> 31
        if column.values[rank] <= threshold:
            break
        position[0] -= 1
    return threshold
