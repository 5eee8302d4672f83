# The children of a split: their samples, what they hold, and the list in their order.


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
