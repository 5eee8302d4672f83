# The children of a split by gradient pairs, and their samples.


cdef void map_values(
    const Problem* problem, const GradientList* samples, WaitingNode* node,
    int64_t* pair
) noexcept nogil:
    """Write the child of every code of a numeric column. The threshold is the midpoint
    of the values on both sides, or, if that lies inside of a bin that the node lacks,
    the end of this bin: a row of no weight goes where its code goes."""
    cdef:
        const GradientSplit* split = &node.split
        const GradientPair* sums = node.histogram + samples.start[split.column]
        int64_t place = split.column * problem.values_stride
        const double* values = problem.values + place
        const double* upper_values = problem.upper_values + place
        int64_t n = problem.n_distinct[split.column], cut = split.cut
        int64_t above = cut + 1
        double threshold
    if not split.splits_missing:
        while samples_of(&sums[above], &samples.scale) == 0:
            above += 1
        pair[0] = cut << 32 | above
        threshold = midpoint(upper_values[cut], values[above])
        while cut + 1 < above and values[cut + 1] <= threshold:
            cut += 1
        if upper_values[cut] > threshold:
            pair[0] = cut << 32 | (cut + 1)
    else:
        cut = n - 1
    memset(node.child_of_code, 0, cut + 1)
    memset(node.child_of_code + cut + 1, 1, n - cut - 1)
    if problem.has_missing[split.column]:
        node.child_of_code[n] = split.missing_child == 1


cdef int map_levels(
    const Problem* problem, const GradientList* samples, Worker* worker,
    WaitingNode* node
) noexcept nogil:
    """Write the child of every level. Returns -1 without memory."""
    cdef:
        const GradientSplit* split = &node.split
        Keyed* levels = samples.scratch[0].levels
        int32_t* level = worker.scratch.run_level
        int32_t* child = worker.scratch.run_side
        int64_t column = split.column, i, n, n_levels = 0
        int64_t n_codes = samples.start[column + 1] - samples.start[column]
        const GradientPair* sums = node.histogram + samples.start[column]
        double added
    memset(node.child_of_code, 2, n_codes)  # levels that the node lacks
    if split.is_ordered:
        for i in range(n_codes):
            if samples_of(&sums[i], &samples.scale) > 0:
                node.child_of_code[i] = i > split.cut
    else:
        n = order_levels(problem, samples, node, levels, column, &added)
        for i in range(n):
            node.child_of_code[levels[i].index] = i > split.cut
    if split.missing_child >= 0:
        node.child_of_code[problem.n_distinct[column]] = split.missing_child
    for i in range(problem.n_distinct[column]):
        if node.child_of_code[i] < 2:
            level[n_levels] = <int32_t>problem.values[
                column * problem.values_stride + i
            ]
            child[n_levels] = node.child_of_code[i]
            n_levels += 1
    return 0 if write_level_map(
        problem, &worker.buffer, column, n_levels, level, child, False
    ) >= 0 else -1


cdef int settle_gradients(
    const Problem* problem, GradientList* samples, Worker* worker, const Frame* frame,
    Split* split, int64_t* pair
) noexcept nogil:
    """What the children hold. Writes the codes on both sides of a threshold. Returns
    -1 without memory."""
    cdef:
        WaitingNode* node = <WaitingNode*>frame.waiting
        const GradientSplit* found = &node.split
        Children* children = &worker.children
        GradientPair[2] sums
        int64_t child
        double hessian
    samples.groups_left = frame.groups
    if samples.groups != NULL:
        samples.groups_left &= samples.groups[found.column]
    memset(split, 0, sizeof(Split))
    split.column = found.column
    split.kind = problem.kind[found.column]
    split.n_children = 2
    split.missing_child = found.missing_child
    split.splits_missing = found.splits_missing
    split.score = found.decrease
    if split.kind != NOMINAL_COLUMN:
        map_values(problem, samples, node, pair)
        # Beyond all values.
        split.threshold = INFINITY
    elif map_levels(problem, samples, worker, node) < 0:
        return -1
    sums[0] = found.left
    sums[1] = node.total
    subtract_pair(&sums[1], &sums[0])
    children.n_children = 2
    children.n_pieces = 0
    children.n_missing = 0
    for child in range(2):
        hessian = hessian_of(&sums[child], &samples.scale)
        children.n_rows[child] = samples_of(&sums[child], &samples.scale)
        children.weight[child] = hessian
        children.impurity[child] = 0.0
        children.is_pure[child] = False
        children.values[child] = step_of_leaf(
            gradient_of(&sums[child], &samples.scale), hessian, samples.l2
        )
        if problem.monotonic != NULL:
            children.values[child] = min(
                max(children.values[child], frame.lower), frame.upper
            )
    return 0


cdef struct Partitioning:
    const GradientList* samples
    uint32_t* rows
    int64_t n
    int64_t column
    const uint8_t* child_of_code


cdef int64_t part_rows(
    uint32_t* rows, uint32_t* spare, int64_t n, const SmallCode* codes,
    const uint8_t* child_of_code
) noexcept nogil:
    """Rows of child 0 to the front, the others to ``spare``; returns how many."""
    cdef:
        int64_t i, n_left = 0
        uint32_t row
    # Both stores happen always; only the counter depends on the child.
    for i in range(n):
        row = rows[i]
        rows[n_left] = row
        spare[i - n_left] = row
        n_left += child_of_code[codes[row]] == 0
    return n_left


cdef void part_block(void* context, int64_t task, int thread) noexcept nogil:
    cdef:
        const Partitioning* work = <const Partitioning*>context
        const GradientList* samples = work.samples
        int64_t first = task * BLOCK_ROWS, n = min(work.n - first, BLOCK_ROWS)
        uint32_t* rows = work.rows + first
        uint32_t* spare = samples.spare + first
        int64_t place = work.column * samples.n_rows
    if samples.code_size == 1:
        samples.parts[task] = part_rows(
            rows, spare, n, <const uint8_t*>samples.codes + place, work.child_of_code
        )
    else:
        samples.parts[task] = part_rows(
            rows, spare, n, <const uint16_t*>samples.codes + place, work.child_of_code
        )


cdef void part_list(
    const GradientList* samples, const WaitingNode* node, int64_t start, int64_t n
) noexcept nogil:
    """Put the rows of each child together, in their order."""
    cdef:
        Partitioning work
        int64_t task, n_tasks = (n + BLOCK_ROWS - 1) // BLOCK_ROWS
        int64_t first, n_left = 0, n_right = 0
        uint32_t* rows = samples.rows + start
    work.samples = samples
    work.rows = rows
    work.n = n
    work.column = node.split.column
    work.child_of_code = node.child_of_code
    if samples.team != NULL and n_tasks > 1:
        run_tasks(samples.team, part_block, &work, n_tasks)
    else:
        for task in range(n_tasks):
            part_block(&work, task, 0)
    # The left ones of a block move to the front, the right ones behind all of these.
    for task in range(n_tasks):
        first = task * BLOCK_ROWS
        if n_left < first:
            memmove(
                rows + n_left, rows + first, samples.parts[task] * sizeof(uint32_t)
            )
        n_left += samples.parts[task]
    for task in range(n_tasks):
        first = task * BLOCK_ROWS
        memcpy(
            rows + n_left + n_right, samples.spare + first,
            (min(n - first, BLOCK_ROWS) - samples.parts[task]) * sizeof(uint32_t)
        )
        n_right += min(n - first, BLOCK_ROWS) - samples.parts[task]


cdef int partition_gradients(
    const Problem* problem, GradientList* samples, Worker* worker, const Frame* frame,
    bint is_last
) noexcept nogil:
    """Divide the samples of a node among its children, which have records already, and
    find which histograms are needed, unless the tree ends here. Returns -1 without
    memory."""
    cdef:
        WaitingNode* parent = <WaitingNode*>frame.waiting
        WaitingNode* node
        const int64_t* n_rows = worker.children.n_rows
        const uint8_t* is_leaf = worker.is_active
        int64_t smaller = n_rows[1] < n_rows[0], start = frame.start
        int64_t first = worker.buffer.nodes[frame.node].first_child
    if reserve(
        <void**>&samples.place, sizeof(int64_t), first, 2, &samples.place_capacity
    ) < 0:
        return -1
    part_list(samples, parent, start, frame.n_rows)
    samples.place[first] = start
    samples.place[first + 1] = start + n_rows[0]
    samples.left_child = samples.right_child = samples.counted = NULL
    if is_last or (is_leaf[0] and is_leaf[1]):
        release_waiting(samples, parent)
        return 0
    node = take_waiting(samples)
    if node == NULL:
        return -1
    # The smaller child is counted.
    node.total = parent.split.left
    if smaller:
        node.total = parent.total
        subtract_pair(&node.total, &parent.split.left)
    subtract_pair(&parent.total, &node.total)
    samples.counted = node
    samples.counted_start = samples.place[first + smaller]
    samples.n_counted = n_rows[smaller]
    samples.rest = parent
    if is_leaf[1 - smaller]:
        samples.rest = NULL
        release_waiting(samples, parent)
    samples.left_child = samples.rest if smaller else node
    samples.right_child = node if smaller else samples.rest
    return 0
