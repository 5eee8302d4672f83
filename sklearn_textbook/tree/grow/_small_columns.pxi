# Sampling the columns of a small node, and the keys of its samples in up to four.


cdef inline void start_sampling(
    const Problem* problem, const SmallNode* node, SmallSampler* sampler
) noexcept nogil:
    # A constant number of bytes is copied without a call.
    if problem.n_columns <= 64:
        memcpy(sampler.order, IN_ORDER, 64 * sizeof(uint16_t))
    else:
        memcpy(sampler.order, IN_ORDER, problem.n_columns * sizeof(uint16_t))
    sampler.random_state = child_state(node.random_state, 7)
    sampler.place = 0
    sampler.n_found = 0


cdef inline bint divides_levels(const Problem* problem, int32_t column) noexcept nogil:
    """Whether the levels of a column are divided by their means, or at random."""
    return problem.kind[column] == NOMINAL_COLUMN and not is_ordered_only(
        problem, column
    )


cdef inline void leave_column_out(SmallNode* node, int32_t number) noexcept nogil:
    node.active.words[number >> 6] &= ~(<uint64_t>1 << (number & 63))


cdef inline int32_t sample_column(
    const Problem* problem, const SmallNode* node, SmallSampler* sampler,
    int64_t n_waiting
) noexcept nogil:
    """The next column that is not known to be constant, or -1; n_waiting of those
    sampled before may turn out to be. As in ``_column_sampler``."""
    cdef:
        int64_t j, n_left
        int32_t number
    while sampler.place < problem.n_columns:
        number = sampler.order[sampler.place]
        if problem.shuffle_columns:
            if sampler.place >= problem.max_features and (
                sampler.n_found + n_waiting >= 1
            ):
                return -1
            n_left = problem.n_columns - sampler.place
            j = sampler.place + random_below_known(
                &sampler.random_state, n_left, RECIPROCALS[n_left]
            )
            number = sampler.order[j]
            sampler.order[j] = sampler.order[sampler.place]
        sampler.place += 1
        if node.active.words[number >> 6] >> (number & 63) & 1:
            return number
    return -1


cdef inline int64_t sample_tile(
    const Problem* problem, const SmallNode* node, SmallSampler* sampler,
    int32_t* numbers
) noexcept nogil:
    """Sample up to four columns; returns their number. The first one fills the rest."""
    cdef:
        int64_t n_columns = 0, c
        int32_t number
    while n_columns < TILE_COLUMNS:
        number = sample_column(problem, node, sampler, n_columns)
        if number < 0:
            break
        numbers[n_columns] = number
        n_columns += 1
    for c in range(n_columns, TILE_COLUMNS):
        numbers[c] = numbers[0]
    return n_columns


cdef inline int32_t make_key(uint32_t code, int64_t place) noexcept nogil:
    return <int32_t>(code << ROW_BITS) + <int32_t>place + MIN_KEY


cdef inline void fill_keys(
    const Code* kind, const SmallRows* rows, const SmallSearch* search, Tile* tile
) noexcept nogil:
    """Make keys of the samples, code and place in one number."""
    cdef:
        int64_t first = tile.number[0], second = tile.number[1]
        int64_t third = tile.number[2], fourth = tile.number[3], i
        int32_t* keys = tile.keys
        const Code* row
    for i in range(search.n):
        row = <const Code*>rows.codes[search.order[i]]
        keys[0] = make_key(row[first], i)
        keys[1] = make_key(row[second], i)
        keys[2] = make_key(row[third], i)
        keys[3] = make_key(row[fourth], i)
        keys += TILE_COLUMNS


cdef inline void fill_tile(
    const SmallRows* rows, const SmallSearch* search, Tile* tile
) noexcept nogil:
    """The same of codes of any width."""
    cdef int64_t c
    if rows.code_size == 1:
        fill_keys(<const uint8_t*>NULL, rows, search, tile)
    elif rows.code_size == 2:
        fill_keys(<const uint16_t*>NULL, rows, search, tile)
    else:
        fill_keys(<const uint32_t*>NULL, rows, search, tile)
    for c in range(TILE_COLUMNS):
        tile.n_missing[c] = 0
        tile.ties[c] = tile.varies[c] = False


cdef inline void count_missing(
    const Problem* problem, int64_t n, Tile* tile
) noexcept nogil:
    """Count the samples of each column whose value is missing."""
    cdef:
        int64_t i, c
        int32_t least
    for c in range(tile.n_columns):
        if not problem.has_missing[tile.number[c]] or (
            divides_levels(problem, tile.number[c])
        ):
            continue
        least = make_key(<uint32_t>problem.n_distinct[tile.number[c]], 0)
        for i in range(n):
            tile.n_missing[c] += tile.keys[TILE_COLUMNS * i + c] >= least


cdef inline void try_columns(
    const Problem* problem, const SmallRows* rows, SmallNode* node, SmallSearch* search
) noexcept nogil:
    """Sample columns, and try all their splits."""
    cdef:
        SmallSampler sampler
        Tile tile
        int64_t c, last = TILE_COLUMNS * (search.n - 1)
    start_sampling(problem, node, &sampler)
    while True:
        tile.n_columns = sample_tile(problem, node, &sampler, tile.number)
        if tile.n_columns == 0:
            return
        fill_tile(rows, search, &tile)
        if rows.may_miss:
            count_missing(problem, search.n, &tile)
        sort_keys(tile.keys, search.n)
        if problem.any_nominal and search_levels(search, &tile):
            sort_keys(tile.keys, search.n)
        search_tile(&tile, max(problem.min_samples_leaf, 1), search)
        for c in range(tile.n_columns):
            if not tile.varies[c] and same_code(tile.keys[c], tile.keys[last + c]):
                leave_column_out(node, tile.number[c])
            else:
                sampler.n_found += 1


cdef inline bint separates_pair(
    const SmallRows* rows, const uint8_t* order, int32_t number, SmallSampler* sampler,
    bint* is_falling
) noexcept nogil:
    """Whether a random threshold separates two samples. It does not separate a missing
    value from another one, but a column that has both is not constant."""
    cdef:
        double one = values_of(rows, order[0])[number]
        double other = values_of(rows, order[1])[number]
    sampler.n_found += (one == one) != (other == other)
    is_falling[0] = one > other
    return one < other or one > other


cdef inline bint find_pair_split(
    const Problem* problem, const SmallRows* rows, const SmallNode* node,
    uint8_t* pair, SmallSearch* search
) noexcept nogil:
    """Find the first column in which the two samples of a node differ, and put them
    into order; False if none does."""
    cdef:
        SmallSampler sampler
        const uint8_t* order = rows.order + node.start
        int32_t number
        uint32_t one = 0, other = 0
        bint is_falling
    start_sampling(problem, node, &sampler)
    while True:
        number = sample_column(problem, node, &sampler, 0)
        if number < 0:
            return False
        if problem.random_splitter:
            if separates_pair(rows, order, number, &sampler, &is_falling):
                break
            continue
        one = code_in(rows, order[0], number)
        other = code_in(rows, order[1], number)
        if one != other:
            is_falling = one > other
            break
    pair[0] = order[is_falling]
    pair[1] = order[not is_falling]
    search.column = number
    search.n_left = 1
    search.missing_child = -1
    search.is_alone = False
    if problem.random_splitter:
        search.threshold = leave_bin(
            problem, number,
            random_threshold(
                node, number, values_of(rows, pair[0])[number],
                values_of(rows, pair[1])[number], &sampler.random_state
            )
        )
        return True
    search.below = min(one, other)
    search.above = max(one, other)
    search.threshold = NAN
    if problem.has_missing[number] and (
        search.above == <uint32_t>problem.n_distinct[number]
    ):
        search.is_alone = True
        search.missing_child = 1
    return True
