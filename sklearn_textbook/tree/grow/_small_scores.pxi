# Scores of all splits of up to four sorted columns, and the best of them.


cdef inline int64_t place_of(int32_t key) noexcept nogil:
    return key & (SMALL_ROWS - 1)


cdef inline uint32_t code_of(int32_t key) noexcept nogil:
    return <uint32_t>((key - MIN_KEY) >> ROW_BITS)


cdef inline bint same_code(int32_t key, int32_t other) noexcept nogil:
    return (key ^ other) < SMALL_ROWS


cdef inline const double* amount_at(
    const SmallSearch* search, int32_t key
) noexcept nogil:
    return search.amounts + 2 * place_of(key)


cdef inline void add_amount(
    const SmallSearch* search, int64_t place, double* first, double* weight
) noexcept nogil:
    first[0] += search.amounts[2 * place]
    weight[0] += search.amounts[2 * place + 1]


# -------------------------------------------------------- two classes, squared error


cdef wide_void score_pairs(
    const SmallSearch* search, int64_t lowest, Tile* tile
) noexcept nogil:
    """d^2 / (k (n - k))."""
    cdef:
        const int32_t* keys = tile.keys
        double* score = tile.score
        int64_t i
        double n_weight = search.n_weight, total = search.total
        Amount a = NO_AMOUNT(), b = NO_AMOUNT(), c = NO_AMOUNT(), d = NO_AMOUNT()
    for i in range(search.n - lowest):
        ADD_AMOUNT(a, amount_at(search, keys[0]))
        ADD_AMOUNT(b, amount_at(search, keys[1]))
        ADD_AMOUNT(c, amount_at(search, keys[2]))
        ADD_AMOUNT(d, amount_at(search, keys[3]))
        if i >= lowest - 1:
            STORE_FOUR(score, SCORE_FOUR(a, b, c, d, n_weight, total, keys))
        keys += TILE_COLUMNS
        score += TILE_COLUMNS


# ---------------------------------------------------------------------------- classes


cdef void add_up_classes(
    const SmallSearch* search, const int32_t* keys, int64_t n, SideSums* sums
) noexcept nogil:
    """Gini: the sums of squared class weights of both sides."""
    cdef:
        double[TILE_COLUMNS * MAX_CLASSES] left
        double[TILE_COLUMNS] left_squares
        double[TILE_COLUMNS] right_squares
        double[TILE_COLUMNS] weights
        int64_t i, c, place, label
        double weight, here, there, squares = 0.0
    memset(left, 0, TILE_COLUMNS * search.n_classes * sizeof(double))
    for c in range(search.n_classes):
        squares += search.totals[c] * search.totals[c]
    for c in range(TILE_COLUMNS):
        left_squares[c] = weights[c] = 0.0
        right_squares[c] = squares
    for i in range(n):
        for c in range(TILE_COLUMNS):
            place = place_of(keys[TILE_COLUMNS * i + c])
            weight = search.amounts[2 * place + 1]
            label = <int64_t>search.y[place]
            here = left[TILE_COLUMNS * label + c]
            there = search.totals[label] - here
            left[TILE_COLUMNS * label + c] = here + weight
            left_squares[c] += weight * (2.0 * here + weight)
            right_squares[c] -= weight * (2.0 * there - weight)
            weights[c] += weight
            sums.left[TILE_COLUMNS * i + c] = left_squares[c]
            sums.right[TILE_COLUMNS * i + c] = right_squares[c]
            sums.weight[TILE_COLUMNS * i + c] = weights[c]


cdef wide_void score_squares(
    const SideSums* sums, const int32_t* keys, int64_t n, double n_weight, double base,
    double* score
) noexcept nogil:
    """Gini: the sum of squares over the weight, of both sides."""
    cdef:
        int64_t i
        double weight, value
    for i in range(n):
        weight = sums.weight[i]
        value = (sums.left[i] * (n_weight - weight) + sums.right[i] * weight) / (
            weight * (n_weight - weight)
        ) - base
        value = value if value > 0.0 else 0.0
        score[i] = -1.0 if same_code(keys[i], keys[i + TILE_COLUMNS]) else value


cdef double score_logarithms(
    const SmallSearch* search, const double* left, double weight
) noexcept nogil:
    """Entropy: sum T(l_c) + T(r_c), less T(k) + T(n - k) and the base."""
    cdef:
        const int64_t* table = search.entropy_table
        int64_t c, whole = 0
        double value = 0.0
    if table != NULL:
        for c in range(search.n_classes):
            whole += table[<int64_t>left[c]] + table[
                <int64_t>(search.totals[c] - left[c])
            ]
        whole -= table[<int64_t>weight] + table[<int64_t>(search.n_weight - weight)]
        return <double>(whole - search.whole_base) * search.unit
    for c in range(search.n_classes):
        value += times_log(left[c]) + times_log(search.totals[c] - left[c])
    return value - times_log(weight) - times_log(search.n_weight - weight) - search.base


cdef void score_whole_entropies(
    const SmallSearch* search, int64_t n, Tile* tile
) noexcept nogil:
    """Entropy of whole weights, by differences of the table."""
    cdef:
        const int64_t* table = search.entropy_table
        int64_t[TILE_COLUMNS * MAX_CLASSES] left
        int64_t[TILE_COLUMNS] sums
        int64_t[TILE_COLUMNS] weights
        int64_t i, c, place, label, weight, here, there, whole
        int64_t n_weight = <int64_t>search.n_weight
        int64_t base = -table[n_weight]  # the differences are from the node's own sum
        const int32_t* keys = tile.keys
        double* score = tile.score
    memset(left, 0, TILE_COLUMNS * search.n_classes * sizeof(int64_t))
    for c in range(TILE_COLUMNS):
        sums[c] = weights[c] = 0
    for i in range(n):
        for c in range(TILE_COLUMNS):
            place = place_of(keys[c])
            weight = <int64_t>search.amounts[2 * place + 1]
            label = <int64_t>search.y[place]
            here = left[TILE_COLUMNS * label + c]
            there = <int64_t>search.totals[label] - here
            left[TILE_COLUMNS * label + c] = here + weight
            sums[c] += (
                table[here + weight] - table[here]
                + table[there - weight] - table[there]
            )
            weights[c] += weight
            score[c] = -1.0
            if not same_code(keys[c], keys[c + TILE_COLUMNS]):
                whole = sums[c] - table[weights[c]] - table[n_weight - weights[c]]
                score[c] = max(<double>(whole - base) * search.unit, 0.0)
        keys += TILE_COLUMNS
        score += TILE_COLUMNS


cdef void score_entropies(
    const SmallSearch* search, int64_t n, Tile* tile
) noexcept nogil:
    cdef:
        double[MAX_CLASSES] left
        const int32_t* keys
        double* score
        int64_t i, c, place
        double weight
    for c in range(tile.n_columns):
        keys = tile.keys + c
        score = tile.score + c
        memset(left, 0, search.n_classes * sizeof(double))
        weight = 0.0
        for i in range(n):
            place = place_of(keys[TILE_COLUMNS * i])
            left[<int64_t>search.y[place]] += search.amounts[2 * place + 1]
            weight += search.amounts[2 * place + 1]
            score[TILE_COLUMNS * i] = -1.0
            if not same_code(keys[TILE_COLUMNS * i], keys[TILE_COLUMNS * (i + 1)]):
                score[TILE_COLUMNS * i] = max(
                    score_logarithms(search, left, weight), 0.0
                )


# ---------------------------------------------------------------------------- Poisson


cdef void add_up_moments(
    const SmallSearch* search, const int32_t* keys, int64_t n, SideSums* sums
) noexcept nogil:
    cdef:
        double[TILE_COLUMNS] first
        double[TILE_COLUMNS] weight
        int64_t i, c
    for c in range(TILE_COLUMNS):
        first[c] = weight[c] = 0.0
    for i in range(n):
        for c in range(TILE_COLUMNS):
            add_amount(
                search, place_of(keys[TILE_COLUMNS * i + c]), &first[c], &weight[c]
            )
            sums.left[TILE_COLUMNS * i + c] = first[c]
            sums.weight[TILE_COLUMNS * i + c] = weight[c]


cdef wide_void bound_deviances(
    const SideSums* sums, const int32_t* keys, int64_t n, double n_weight, double total,
    double* score
) noexcept nogil:
    """What the scores do not exceed."""
    cdef:
        int64_t i
        double weight, value, mean = total / n_weight, inverse_total = 1.0 / total
    for i in range(n):
        weight = sums.weight[i]
        value = mean * deviance_bound(
            sums.left[i] * n_weight - total * weight, weight, n_weight - weight,
            inverse_total
        )
        score[i] = -1.0 if same_code(keys[i], keys[i + TILE_COLUMNS]) else value


# -------------------------------------------------------------------------- one split


cdef double settle_score(
    const SmallSearch* search, int32_t column, double first, double weight, double score
) noexcept nogil:
    """The score of a split, -infinity if it is not allowed. For Poisson, in place of
    a bound."""
    cdef:
        const Problem* problem = search.problem
        double total = search.total, rest = search.n_weight - weight
    if weight < problem.min_weight_leaf or rest < problem.min_weight_leaf:
        return -INFINITY
    if problem.monotonic != NULL and breaks_constraint(
        search.centre + first / weight, search.centre + (total - first) / rest,
        search.lower, search.upper, problem.monotonic[column]
    ):
        return -INFINITY
    if problem.criterion != POISSON:
        return score
    if first <= 1e-12 * total or total - first <= 1e-12 * total:
        return -INFINITY
    return max(
        deviance_part(first, weight) + deviance_part(total - first, rest) - search.base,
        0.0
    )


cdef inline double score_split(
    const SmallSearch* search, int32_t column, const double* left, double first,
    double weight
) noexcept nogil:
    """The score of one split, -infinity if it is not allowed."""
    cdef:
        double left_squares = 0.0, right_squares = 0.0, there, score, d
        double n = search.n_weight, rest = n - weight
        int64_t c
    if search.is_entropy:
        score = score_logarithms(search, left, weight)
    elif search.is_classes:
        for c in range(search.n_classes):
            there = search.totals[c] - left[c]
            left_squares += left[c] * left[c]
            right_squares += there * there
        score = (left_squares * rest + right_squares * weight) / (
            weight * rest
        ) - search.base
    else:
        d = first * n - search.total * weight
        score = d * d / (weight * rest)
    if search.is_plain:
        return score
    return settle_score(search, column, first, weight, score)


# ------------------------------------------------------------------------ the best one


cdef inline void take_split(
    const Tile* tile, int64_t i, int64_t c, double score, int32_t missing_child,
    SmallSearch* search
) noexcept nogil:
    """Take the split above sorted sample i in a column whose last samples may be
    missing: if they are all that is above, they stand alone."""
    cdef:
        const int32_t* keys = tile.keys + c
        int64_t n_missing = tile.n_missing[c]
    search.bound = score + search.margin
    search.column = tile.number[c]
    search.below = code_of(keys[TILE_COLUMNS * i])
    search.above = code_of(keys[TILE_COLUMNS * (i + 1)])
    search.missing_child = missing_child
    search.is_alone = missing_child == 1 and i + 1 == search.n - n_missing
    search.n_left = i + 1 + (n_missing if missing_child == 0 else 0)
    search.taken = c


cdef inline void keep_places(const Tile* tile, SmallSearch* search) noexcept nogil:
    """The samples of child 0 first; missing ones come first of these."""
    cdef:
        const int32_t* keys = tile.keys + search.taken
        int64_t j, n = search.n, n_first = 0
    if search.missing_child == 0:
        n_first = tile.n_missing[search.taken]
        for j in range(n_first):
            search.places[j] = <uint8_t>place_of(keys[TILE_COLUMNS * (n - n_first + j)])
    for j in range(n - n_first):
        search.places[n_first + j] = <uint8_t>place_of(keys[TILE_COLUMNS * j])


cdef void try_missing_left(
    const Tile* tile, int64_t c, int64_t lowest, double near, SmallSearch* search
) noexcept nogil:
    """Try the thresholds of a column with its missing samples in child 0."""
    cdef:
        double[MAX_CLASSES] left
        const int32_t* keys = tile.keys + c
        int64_t i, place, n_missing = tile.n_missing[c]
        int64_t n_present = search.n - n_missing
        double first = 0.0, weight = 0.0, score
    if search.is_classes:
        memset(left, 0, search.n_classes * sizeof(double))
    for i in range(-n_missing, n_present - 1):
        place = place_of(keys[TILE_COLUMNS * (i if i >= 0 else search.n + i)])
        add_amount(search, place, &first, &weight)
        if search.is_classes:
            left[<int64_t>search.y[place]] += search.amounts[2 * place + 1]
        if i < 0 or same_code(keys[TILE_COLUMNS * i], keys[TILE_COLUMNS * (i + 1)]):
            continue
        if n_missing + i + 1 < lowest or n_present - i - 1 < lowest:
            continue
        score = score_split(search, tile.number[c], left, first, weight)
        if score >= near and score > search.bound:
            take_split(tile, i, c, score, 0, search)


cdef double settle_end(
    const Tile* tile, int64_t i, int64_t c, const SmallSearch* search
) noexcept nogil:
    """The score of the split above sorted sample i, -infinity if it is not allowed."""
    cdef:
        double score = tile.score[TILE_COLUMNS * i + c], first = 0.0, weight = 0.0
        int64_t j
    if search.is_plain:
        return score
    for j in range(i + 1):
        add_amount(search, place_of(tile.keys[TILE_COLUMNS * j + c]), &first, &weight)
    return settle_score(search, tile.number[c], first, weight, score)


cdef inline void try_end(
    const Tile* tile, int64_t i, int64_t c, int32_t missing_child, double near,
    SmallSearch* search
) noexcept nogil:
    """Take the split above sorted sample i if it is better."""
    cdef double score = tile.score[TILE_COLUMNS * i + c]
    if not (score >= near and score > search.bound):
        return
    score = settle_end(tile, i, c, search)
    if score > search.bound:
        take_split(tile, i, c, score, missing_child, search)


cdef void try_falling(
    Tile* tile, int64_t c, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Try the levels of a column once more, the large ones of equal means first."""
    cdef:
        int32_t[SMALL_ROWS] rising
        double[MAX_CLASSES] left
        int32_t* keys = tile.keys + c
        int32_t key
        int64_t i, j, place, n = search.n
        double first = 0.0, weight = 0.0, score, bound = search.bound
    for i in range(n):
        rising[i] = keys[TILE_COLUMNS * i]
        key = make_key(tile.falling[c][code_of(rising[i])], place_of(rising[i]))
        j = i
        while j > 0 and keys[TILE_COLUMNS * (j - 1)] > key:
            keys[TILE_COLUMNS * j] = keys[TILE_COLUMNS * (j - 1)]
            j -= 1
        keys[TILE_COLUMNS * j] = key
    memset(left, 0, search.n_classes * sizeof(double))
    for i in range(n - lowest):
        place = place_of(keys[TILE_COLUMNS * i])
        add_amount(search, place, &first, &weight)
        if search.is_classes:
            left[<int64_t>search.y[place]] += search.amounts[2 * place + 1]
        if i + 1 < lowest or same_code(
            keys[TILE_COLUMNS * i], keys[TILE_COLUMNS * (i + 1)]
        ):
            continue
        score = score_split(search, tile.number[c], left, first, weight)
        if score > search.bound:
            take_split(tile, i, c, score, -1, search)
    if search.bound == bound:
        for i in range(n):
            keys[TILE_COLUMNS * i] = rising[i]


cdef inline double find_tops(
    int64_t lowest, const SmallSearch* search, Tile* tile
) noexcept nogil:
    """The largest score of each column, and of all."""
    cdef:
        Four top = SAME_FOUR(-1.0)
        double largest = -1.0
        int64_t i
    for i in range(lowest - 1, search.n - lowest):
        KEEP_LARGER(top, LOAD_FOUR(tile.score + TILE_COLUMNS * i))
    STORE_FOUR(tile.top, top)
    for i in range(tile.n_columns):
        largest = max(largest, tile.top[i])
    return largest


cdef double find_near(
    const Tile* tile, int64_t lowest, double top, const SmallSearch* search
) noexcept nogil:
    """The score from which on the order of splits decides between them and the best."""
    cdef int64_t i = lowest - 1, c = 0
    if not search.is_plain and top >= 0.0:
        # It is a bound, or the split may not be allowed.
        while tile.top[c] != top:
            c += 1
        while tile.score[TILE_COLUMNS * i + c] != top:
            i += 1
        top = settle_end(tile, i, c, search)
    return max(top - 4.0 * search.margin, 0.0)


cdef inline void choose_split(
    int64_t lowest, Tile* tile, SmallSearch* search
) noexcept nogil:
    """Take the best split; of those that come near, the first column's, the lowest
    threshold's, and missing samples in child 1, in child 0, and alone."""
    cdef:
        int64_t i, c, n_missing, n_present, last
        int32_t missing_child
        double near = find_near(
            tile, lowest, find_tops(lowest, search, tile), search
        )
    for c in range(tile.n_columns):
        n_missing = tile.n_missing[c]
        n_present = search.n - n_missing
        missing_child = 1 if n_missing > 0 else -1
        if tile.top[c] >= near and tile.top[c] > search.bound:
            last = min(search.n - lowest, n_present - (n_missing > 0))
            for i in range(lowest - 1, last):
                try_end(tile, i, c, missing_child, near, search)
        if tile.ties[c]:
            try_falling(tile, c, lowest, search)
        if n_missing == 0 or n_present == 0:
            continue
        try_missing_left(tile, c, lowest, near, search)
        if n_present >= lowest and n_missing >= lowest:
            try_end(tile, n_present - 1, c, 1, near, search)


cdef inline void search_tile(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best split of sorted columns if it is better than what there is."""
    cdef:
        SideSums sums
        int64_t n = search.n - lowest
    search.taken = -1
    if search.is_entropy and search.entropy_table != NULL:
        score_whole_entropies(search, n, tile)
    elif search.is_entropy:
        score_entropies(search, n, tile)
    elif search.is_classes:
        add_up_classes(search, tile.keys, n, &sums)
        score_squares(
            &sums, tile.keys, TILE_COLUMNS * n, search.n_weight, search.base, tile.score
        )
    elif search.problem.criterion == POISSON:
        add_up_moments(search, tile.keys, n, &sums)
        bound_deviances(
            &sums, tile.keys, TILE_COLUMNS * n, search.n_weight, search.total,
            tile.score
        )
    else:
        score_pairs(search, lowest, tile)
    choose_split(lowest, tile, search)
    if search.taken >= 0:
        keep_places(tile, search)
