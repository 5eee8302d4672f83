# One random threshold for each sampled column of a small node, four side by side.


# Values in place of codes; n_left samples of each column are on the left.
cdef struct RandomTile:
    double[SMALL_ROWS * TILE_COLUMNS] values
    double[TILE_COLUMNS] smallest
    double[TILE_COLUMNS] largest
    double[TILE_COLUMNS] threshold
    double[TILE_COLUMNS] first
    double[TILE_COLUMNS] weight
    double[TILE_COLUMNS] n_left
    int64_t[TILE_COLUMNS] n_missing
    bint[TILE_COLUMNS] missing_left
    bint[TILE_COLUMNS] varies
    bint[TILE_COLUMNS] is_divided
    int32_t[TILE_COLUMNS] number


cdef inline void read_values(
    const SmallRows* rows, const SmallSearch* search, RandomTile* tile
) noexcept nogil:
    """The values of the columns, and their ranges."""
    cdef:
        int64_t first = tile.number[0], second = tile.number[1]
        int64_t third = tile.number[2], fourth = tile.number[3], i
        Four four, smallest = SAME_FOUR(INFINITY), largest = SAME_FOUR(-INFINITY)
    for i in range(search.n):
        four = GATHER_FOUR(
            values_of(rows, search.order[i]), first, second, third, fourth
        )
        WIDEN_FOUR(smallest, largest, four)
        STORE_FOUR(tile.values + TILE_COLUMNS * i, four)
    STORE_FOUR(tile.smallest, smallest)
    STORE_FOUR(tile.largest, largest)
    for i in range(TILE_COLUMNS):
        tile.n_missing[i] = 0
        tile.missing_left[i] = False


cdef inline double random_threshold(
    const SmallNode* node, int32_t number, double smallest, double largest,
    uint64_t* state
) noexcept nogil:
    """A threshold between the smallest and the largest value of a column."""
    cdef double threshold
    state[0] = child_state(node.random_state, ~<int64_t>number)
    threshold = smallest + random_unit(state) * (largest - smallest)
    return smallest + 0.0 if threshold >= largest else threshold  # not -0


cdef inline void sample_threshold(
    const SmallNode* node, int64_t n, bint may_miss, int64_t c, RandomTile* tile
) noexcept nogil:
    """A threshold of a column, and the side of missing values."""
    cdef:
        uint64_t state
        int64_t i
    tile.threshold[c] = random_threshold(
        node, tile.number[c], tile.smallest[c], tile.largest[c], &state
    )
    if not may_miss:
        return
    for i in range(n):
        tile.n_missing[c] += tile.values[TILE_COLUMNS * i + c] != (
            tile.values[TILE_COLUMNS * i + c]
        )
    if tile.n_missing[c] > 0:
        tile.missing_left[c] = random_below(&state, 2) == 1


cdef void sample_division(
    const Problem* problem, const SmallNode* node, int64_t n, int64_t c,
    const int32_t* keys, RandomTile* tile
) noexcept nogil:
    """Divide the levels, whose keys are sorted, at random as ``try_random``. Writes 0
    for child 0 and 1 for child 1 in place of the levels, so that 0.5 is a threshold."""
    cdef:
        int32_t[SMALL_ROWS] is_left
        uint8_t[SMALL_ROWS] level_of
        uint64_t state = child_state(node.random_state, ~<int64_t>tile.number[c])
        int64_t i, n_levels = 0
    for i in range(n):
        if i > 0:
            n_levels += not same_code(
                keys[TILE_COLUMNS * i + c], keys[TILE_COLUMNS * (i - 1) + c]
            )
        level_of[place_of(keys[TILE_COLUMNS * i + c])] = <uint8_t>n_levels
    n_levels += 1
    tile.is_divided[c] = tile.varies[c] = n_levels > 1
    if n_levels == 1:
        return
    sample_sides(
        problem.categorical_split == SPLIT_ONE_VS_REST, n_levels, &state, is_left
    )
    tile.threshold[c] = 0.5
    for i in range(n):
        tile.values[TILE_COLUMNS * i + c] = 0.0 if is_left[level_of[i]] else 1.0


cdef inline void sort_levels_of_tile(
    const Problem* problem, int64_t n, const RandomTile* tile, int32_t* keys
) noexcept nogil:
    """Make keys of the levels of nominal columns, and sort them."""
    cdef:
        int64_t i, c
        uint32_t code
        double value
    for i in range(n):
        for c in range(TILE_COLUMNS):
            code = 0
            if problem.kind[tile.number[c]] == NOMINAL_COLUMN:
                value = tile.values[TILE_COLUMNS * i + c]
                code = <uint32_t>(
                    value if value == value else problem.n_levels[tile.number[c]]
                )
            keys[TILE_COLUMNS * i + c] = make_key(code, i)
    sort_keys(keys, n)


cdef inline void sample_tests(
    const Problem* problem, const SmallNode* node, int64_t n, int64_t n_columns,
    RandomTile* tile
) noexcept nogil:
    """A threshold, or a division of the levels, of each column."""
    cdef:
        int32_t[SMALL_ROWS * TILE_COLUMNS] keys
        int64_t c
        bint any_nominal = False
    for c in range(n_columns):
        any_nominal |= problem.kind[tile.number[c]] == NOMINAL_COLUMN
    if any_nominal:
        sort_levels_of_tile(problem, n, tile, keys)
    for c in range(n_columns):
        if problem.kind[tile.number[c]] == NOMINAL_COLUMN:
            sample_division(problem, node, n, c, keys, tile)
            continue
        sample_threshold(node, n, problem.has_missing[tile.number[c]], c, tile)
        tile.is_divided[c] = tile.smallest[c] < tile.largest[c]
        tile.varies[c] = tile.is_divided[c] or 0 < tile.n_missing[c] < n
    for c in range(n_columns, TILE_COLUMNS):
        tile.threshold[c] = tile.threshold[0]


cdef inline bint goes_left(
    const RandomTile* tile, int64_t i, int64_t c
) noexcept nogil:
    # No branch to predict.
    cdef double value = tile.values[TILE_COLUMNS * i + c]
    return (value <= tile.threshold[c]) | ((value != value) & tile.missing_left[c])


cdef inline void add_up_left(
    const SmallSearch* search, RandomTile* tile
) noexcept nogil:
    """First moments, weights and numbers of the samples on the left; missing ones are
    on the right."""
    cdef:
        # Loads of four numbers stored one by one stall.
        Four threshold = GATHER_FOUR(tile.threshold, 0, 1, 2, 3), is_left
        Four first = SAME_FOUR(0.0), weight = first, count = first
        int64_t i
    for i in range(search.n):
        is_left = AT_MOST(LOAD_FOUR(tile.values + TILE_COLUMNS * i), threshold)
        ADD_WHERE(first, is_left, search.amounts[2 * i])
        ADD_WHERE(weight, is_left, search.amounts[2 * i + 1])
        ADD_WHERE(count, is_left, 1.0)
    STORE_FOUR(tile.first, first)
    STORE_FOUR(tile.weight, weight)
    STORE_FOUR(tile.n_left, count)


cdef double score_threshold(
    const SmallSearch* search, const RandomTile* tile, int64_t c, int64_t* n_left
) noexcept nogil:
    """The score of a threshold, and how many samples are on the left."""
    cdef:
        double[MAX_CLASSES] left
        double first = tile.first[c], weight = tile.weight[c]
        int64_t i
    n_left[0] = <int64_t>tile.n_left[c]
    if search.is_classes or tile.missing_left[c]:
        memset(left, 0, search.n_classes * sizeof(double))
        first = weight = 0.0
        n_left[0] = 0
        for i in range(search.n):
            if not goes_left(tile, i, c):
                continue
            n_left[0] += 1
            add_amount(search, i, &first, &weight)
            if search.is_classes:
                left[<int64_t>search.y[i]] += search.amounts[2 * i + 1]
    return score_split(search, tile.number[c], left, first, weight)


cdef inline void take_random(
    const RandomTile* tile, int64_t c, int64_t n_left, double score,
    SmallSearch* search
) noexcept nogil:
    cdef int64_t i
    search.bound = score + search.margin
    search.column = tile.number[c]
    search.threshold = tile.threshold[c]
    search.is_alone = False
    search.missing_child = -1
    if tile.n_missing[c] > 0:
        search.missing_child = 0 if tile.missing_left[c] else 1
    search.n_left = n_left
    if search.problem.kind[search.column] == NOMINAL_COLUMN:
        search.goes_left = 0
        for i in range(search.n):
            search.goes_left |= <uint64_t>goes_left(tile, i, c) << i


cdef inline void list_children(
    const Problem* problem, const SmallRows* rows, SmallSearch* search
) noexcept nogil:
    """List the samples of child 0, then those of child 1."""
    cdef:
        uint8_t[SMALL_ROWS] right
        double threshold = search.threshold, value
        int64_t i, n_left = 0
        bint missing_left = search.missing_child == 0, is_left
        bint is_nominal = problem.kind[search.column] == NOMINAL_COLUMN
    # Both stores happen always; only the counter depends on the child.
    for i in range(search.n):
        search.places[n_left] = <uint8_t>i
        right[i - n_left] = <uint8_t>i
        if is_nominal:
            is_left = search.goes_left >> i & 1
        else:
            value = values_of(rows, search.order[i])[search.column]
            is_left = (value <= threshold) | ((value != value) & missing_left)
        n_left += is_left
    memcpy(search.places + n_left, right, search.n - n_left)
    search.threshold = (
        NAN if is_nominal else leave_bin(problem, search.column, threshold)
    )


cdef void try_random_columns(
    const Problem* problem, const SmallRows* rows, SmallNode* node, SmallSearch* search
) noexcept nogil:
    """Sample columns, and one threshold of each."""
    cdef:
        SmallSampler sampler
        RandomTile tile
        int64_t c, n = search.n, n_columns, n_left
        int64_t lowest = max(problem.min_samples_leaf, 1)
        double score
    start_sampling(problem, node, &sampler)
    while True:
        n_columns = sample_tile(problem, node, &sampler, tile.number)
        if n_columns == 0:
            break
        read_values(rows, search, &tile)
        sample_tests(problem, node, n, n_columns, &tile)
        if not search.is_classes:
            add_up_left(search, &tile)
        for c in range(n_columns):
            if not tile.varies[c]:
                leave_column_out(node, tile.number[c])
                continue
            sampler.n_found += 1
            if not tile.is_divided[c]:
                continue
            score = score_threshold(search, &tile, c, &n_left)
            if lowest <= n_left <= n - lowest and score > search.bound:
                take_random(&tile, c, n_left, score, search)
    if search.column >= 0:
        list_children(problem, rows, search)
