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
    search.bound = score + search.margin
    search.column = tile.number[c]
    search.threshold = tile.threshold[c]
    search.is_alone = False
    search.missing_child = -1
    if tile.n_missing[c] > 0:
        search.missing_child = 0 if tile.missing_left[c] else 1
    search.n_left = n_left


cdef inline void list_children(
    const Problem* problem, const SmallRows* rows, SmallSearch* search
) noexcept nogil:
    """List the samples of child 0, then those of child 1."""
    cdef:
        uint8_t[SMALL_ROWS] right
        double threshold = search.threshold, value
        int64_t i, n_left = 0
        bint missing_left = search.missing_child == 0
    # Both stores happen always; only the counter depends on the child.
    for i in range(search.n):
        value = values_of(rows, search.order[i])[search.column]
        search.places[n_left] = <uint8_t>i
        right[i - n_left] = <uint8_t>i
        n_left += (value <= threshold) | ((value != value) & missing_left)
    memcpy(search.places + n_left, right, search.n - n_left)
    search.threshold = leave_bin(problem, search.column, threshold)


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
        bint varies
    start_sampling(problem, node, &sampler)
    while True:
        n_columns = sample_tile(problem, node, &sampler, tile.number)
        if n_columns == 0:
            break
        read_values(rows, search, &tile)
        for c in range(n_columns):
            sample_threshold(node, n, problem.has_missing[tile.number[c]], c, &tile)
        for c in range(n_columns, TILE_COLUMNS):
            tile.threshold[c] = tile.threshold[0]
        if not search.is_classes:
            add_up_left(search, &tile)
        for c in range(n_columns):
            varies = tile.smallest[c] < tile.largest[c]
            if not varies and not 0 < tile.n_missing[c] < n:
                leave_column_out(node, tile.number[c])
                continue
            sampler.n_found += 1
            if not varies:
                continue
            score = score_threshold(search, &tile, c, &n_left)
            if lowest <= n_left <= n - lowest and score > search.bound:
                take_random(&tile, c, n_left, score, search)
    if search.column >= 0:
        list_children(problem, rows, search)
