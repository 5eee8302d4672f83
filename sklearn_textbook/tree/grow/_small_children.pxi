# Splitting a small node: what its children hold, and their records.


cdef inline void write_leaf(
    const Problem* problem, NodeBuffer* buffer, int64_t number, int32_t parent,
    bint is_plain, const Child* child
) noexcept nogil:
    cdef:
        Node* node = &buffer.nodes[number]
        double* statistics
    node.first_child = -1
    node.n_children = 0
    node.feature = -2
    node.missing_branch = STAY
    node.kind = LEAF
    node.parent = parent
    node.map_start = -1
    node.threshold = -2.0
    node.improvement = 0.0
    node.n_samples = child.n_rows
    node.weight = child.weight
    node.impurity = child.impurity
    buffer.task[number] = -1
    if not problem.is_classifier:
        buffer.statistics[number] = child.value
    elif problem.n_statistics == 2 and is_plain:
        statistics = buffer.statistics + 2 * number
        statistics[0] = child.weight - child.first
        statistics[1] = child.first


cdef inline void write_test(
    const Problem* problem, Node* node, const SmallSearch* search, int64_t first
) noexcept nogil:
    cdef int64_t n_right = node.n_samples - search.n_left
    node.first_child = <int32_t>first
    node.n_children = 2
    node.feature = search.column
    node.kind = problem.kind[search.column]
    # As in ``branch_for_missing``.
    if search.missing_child >= 0:
        node.missing_branch = search.missing_child
    elif problem.missing_mode == MISSING_LEARNED:
        node.missing_branch = n_right >= search.n_left
    else:
        node.missing_branch = problem.unseen_branch
    node.threshold = INFINITY if search.is_alone else search.threshold
    node.map_start = -1
    if node.threshold != node.threshold:
        node.map_start = <int64_t>(<uint64_t>search.below << 32 | search.above)


cdef inline bint accepts_split(const Problem* problem, Node* node) noexcept nogil:
    """Whether the improvement reaches min_impurity_decrease."""
    if node.improvement * node.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        node.improvement = 0.0
        return False
    return True


cdef void split_pair(
    const Problem* problem, const SmallRows* rows, SmallNode* node, NodeBuffer* buffer
) noexcept nogil:
    """Split two samples by the first column in which they differ."""
    cdef:
        SmallSearch search
        uint8_t[2] pair
        Child child
        int64_t first = buffer.n_nodes, c
        Node* record = &buffer.nodes[node.node]
        double* statistics
    if problem.criterion == POISSON and not (
        rows.y[rows.order[node.start]] > 0.0
        and rows.y[rows.order[node.start + 1]] > 0.0
    ):
        return
    if not find_pair_split(problem, rows, node, pair, &search):
        return
    record.improvement = record.impurity
    if not accepts_split(problem, record):
        return
    write_test(problem, record, &search, first)
    for c in range(2):
        # Of two classes, ``first`` is the weight of the second.
        child.n_rows = 1
        child.weight = rows.weight[pair[c]]
        child.value = rows.y[pair[c]]
        child.first = child.weight * child.value
        child.impurity = 0.0
        write_leaf(problem, buffer, first + c, node.node, True, &child)
        if problem.n_statistics > 2:
            statistics = buffer.statistics + (first + c) * problem.n_statistics
            clear_statistics(statistics, problem.n_statistics)
            statistics[<int64_t>child.value] = child.weight
    buffer.n_nodes += 2


cdef void order_samples(
    const Problem* problem, const SmallRows* rows, SmallSearch* search, uint8_t* held
) noexcept nogil:
    """Sum up the samples of each child in the order of the column, and hold them in
    that of the list, as larger nodes do."""
    cdef:
        uint32_t[SMALL_ROWS] keys
        int64_t i, j, low = 0, high = search.n_left
        uint32_t key
        uint8_t place, row
        uint8_t[SMALL_ROWS] is_right
    for i in range(search.n):
        place = search.places[i]
        is_right[place] = i >= search.n_left
        row = search.order[place]
        key = make_key(code_in(rows, row, search.column), place)
        key |= <uint32_t>(i >= search.n_left) << 31
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
    for i in range(search.n):
        search.places[i] = <uint8_t>place_of(keys[i])
        held[high if is_right[i] else low] = search.order[i]
        low += not is_right[i]
        high += is_right[i]


cdef void measure_classes(
    const Problem* problem, const SmallSearch* search, Child* children, double* sums
) noexcept nogil:
    """Class weights of the children, and their impurity as in ``finish_classes``."""
    cdef:
        int64_t i, c, size = problem.n_statistics
        uint8_t place
    clear_statistics(sums, 2 * size)
    for i in range(search.n):
        place = search.places[i]
        c = size if i >= search.n_left else 0
        sums[c + <int64_t>search.y[place]] += search.amounts[2 * place + 1]
    for c in range(2):
        children[c].impurity = 0.0
        if children[c].varies:
            children[c].impurity = class_impurity(
                problem, sums + c * size, children[c].weight
            )
        if size == 2:
            children[c].first = sums[2 * c + 1]


cdef inline void measure_children(
    const SmallSearch* search, bint is_classifier, Child* children, uint8_t* rows
) noexcept nogil:
    """What the children hold, and their samples."""
    cdef:
        int64_t i, c, start, stop
        double y, first, weight, squares
        uint8_t place
        bint varies
    for c in range(2):
        start = search.n_left if c else 0
        stop = search.n if c else search.n_left
        y = search.y[search.places[start]]
        first = weight = squares = 0.0
        varies = False
        for i in range(start, stop):
            place = search.places[i]
            rows[i] = search.order[place]
            first += search.amounts[2 * place]
            weight += search.amounts[2 * place + 1]
            varies |= search.y[place] != y
            if not is_classifier:
                squares += search.squares[place]
        children[c].n_rows = stop - start
        children[c].y = y
        children[c].first = first
        children[c].weight = weight
        children[c].squares = squares
        children[c].varies = varies


cdef inline void finish_child(
    const Problem* problem, double centre, Child* child
) noexcept nogil:
    cdef:
        double[2] values
        double[2] impurities
        double zero_share, one_share
    if problem.is_classifier:
        # As in ``class_impurity``.
        child.impurity = 0.0
        if child.varies:
            zero_share = (child.weight - child.first) / child.weight
            one_share = child.first / child.weight
            child.impurity = 1.0 - (zero_share * zero_share + one_share * one_share)
        elif child.y == 1.0:
            child.first = child.weight
        return
    values[0] = child.y
    impurities[0] = 0.0
    finish_value(
        centre, child.weight, child.first, child.squares, problem.criterion == POISSON,
        &values[1], &impurities[1]
    )
    child.value = values[child.varies]
    child.impurity = impurities[child.varies]


cdef void bound_children(
    const Problem* problem, const SmallSearch* search, const Child* children,
    int64_t first, double* bounds
) noexcept nogil:
    """Monotonic constraints: the ranges of values allowed in the children."""
    cdef:
        double[2] values
        int64_t c
    for c in range(2):
        values[c] = children[c].value
        if problem.is_classifier:
            values[c] = children[c].first / children[c].weight
    for c in range(2):
        bounds[2 * (first + c)] = search.lower
        bounds[2 * (first + c) + 1] = search.upper
        narrow_bounds(
            values[0], values[1], problem.monotonic[search.column], c,
            &bounds[2 * (first + c)], &bounds[2 * (first + c) + 1]
        )


cdef inline int32_t level_in(
    const Problem* problem, const SmallRows* rows, uint8_t row, int32_t column
) noexcept nogil:
    """The level of a sample, -1 if it is missing."""
    cdef:
        double value
        uint32_t code
    if problem.random_splitter:
        value = values_of(rows, row)[column]
        return <int32_t>value if value == value else -1
    code = code_in(rows, row, column)
    if code == <uint32_t>problem.n_distinct[column]:
        return -1
    return <int32_t>problem.values[column * problem.values_stride + code]


cdef int64_t map_levels(
    const Problem* problem, const SmallRows* rows, SmallSearch* search,
    NodeBuffer* buffer
) noexcept nogil:
    """Write the level map of a nominal split, and find the child of missing values.
    Returns where the map starts, or -1 without memory."""
    cdef:
        uint64_t[SMALL_ROWS] cells  # as those of a sorted column
        int32_t[SMALL_ROWS] levels
        int32_t[SMALL_ROWS] run_child
        int64_t i, j, n = 0, n_runs = 0
        int32_t level
        uint64_t cell
    for i in range(search.n):
        level = level_in(problem, rows, search.order[search.places[i]], search.column)
        if level < 0:
            search.missing_child = i >= search.n_left
            continue
        cell = <uint64_t>level << 32 | <uint64_t>(i >= search.n_left)
        j = n
        while j > 0 and cells[j - 1] > cell:
            cells[j] = cells[j - 1]
            j -= 1
        cells[j] = cell
        n += 1
    for i in range(n):
        if i == 0 or cells[i] != cells[i - 1]:
            levels[n_runs] = <int32_t>(cells[i] >> 32)
            run_child[n_runs] = <int32_t>(cells[i] & 1)
            n_runs += 1
    return write_level_map(
        problem, buffer, search.column, n_runs, levels, run_child, False
    )


cdef int64_t split_node(
    const Problem* problem, const SmallRows* rows, SmallNode* node,
    SmallSearch* search, NodeBuffer* buffer, Child* children
) noexcept nogil:
    """Make the children. Returns the number of the first, 0 if the node remains a leaf,
    or -1 without memory."""
    cdef:
        Node* record = &buffer.nodes[node.node]
        uint8_t[SMALL_ROWS] held
        uint8_t[SMALL_ROWS] stable
        int64_t c, map_start, first = buffer.n_nodes
        double decrease = record.impurity
        # Of a random test, the samples are in the order of the list already.
        bint keeps_order = search.is_plain or problem.random_splitter
    if not keeps_order:
        order_samples(problem, rows, search, stable)
    if problem.is_classifier:
        measure_children(search, True, children, held)
    else:
        measure_children(search, False, children, held)
    if search.sums_classes:
        # Written behind the last node, and kept if the split is accepted.
        measure_classes(
            problem, search, children, buffer.statistics + first * problem.n_statistics
        )
    for c in range(2):
        if not search.sums_classes:
            finish_child(problem, search.centre, &children[c])
        decrease -= children[c].weight / record.weight * children[c].impurity
    record.improvement = max(decrease, 0.0)
    if not accepts_split(problem, record):
        return 0
    if problem.kind[search.column] == NOMINAL_COLUMN:
        search.missing_child = -1
        search.is_alone = False  # missing values are a level
        map_start = map_levels(problem, rows, search, buffer)
        if map_start < 0:
            return -1
        write_test(problem, record, search, first)
        record.map_start = map_start
    else:
        write_test(problem, record, search, first)
    for c in range(2):
        write_leaf(
            problem, buffer, first + c, node.node, search.is_plain, &children[c]
        )
    if problem.monotonic != NULL:
        bound_children(problem, search, children, first, buffer.bounds)
    buffer.n_nodes += 2
    if keeps_order:
        memcpy(search.order, held, search.n)
    else:
        memcpy(search.order, stable, search.n)
    return first
