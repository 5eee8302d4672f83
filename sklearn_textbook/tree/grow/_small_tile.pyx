"""Four columns of a node of up to 64 samples, side by side.

Their keys, codes and places in one number, are sorted by one network of exchanges: up
to 16 of a column in the registers, and more of them by merging. Then all scores are
computed before the first is looked at, so that nothing is guessed.
"""

from libc.math cimport log2
from libc.stdint cimport uint32_t
from libc.string cimport memset

from sklearn_textbook.tree.grow._lanes cimport (
    ADD_AMOUNT,
    EXCHANGE,
    KEEP_BEST,
    LARGEST_OF,
    LOAD_FOUR,
    LOAD_LANES,
    NO_AMOUNT,
    REACHES_FOUR,
    SAME_FOUR,
    SCORE_FOUR,
    STORE_FOUR,
    STORE_LANES,
    Amount,
    Four,
    Lanes,
)
from sklearn_textbook.tree.split._wide_units cimport wide_void

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define LOWEST_BIT(bits) __builtin_ctz(bits)
    #else
    static int LOWEST_BIT(uint32_t bits) {
        int place = 0;
        while (!(bits >> place & 1)) place++;
        return place;
    }
    #endif
    """
    int LOWEST_BIT(uint32_t bits) noexcept nogil


cdef enum:
    NO_KEY = 0x7F000000
    BLOCK = 16  # keys of a column that are sorted in the registers


# --------------------------------------------------------------------------- sorting


cdef inline void sort_four(int32_t* keys) noexcept nogil:
    cdef:
        Lanes a = LOAD_LANES(keys), b = LOAD_LANES(keys + LANES)
        Lanes c = LOAD_LANES(keys + 2 * LANES), d = LOAD_LANES(keys + 3 * LANES)
    EXCHANGE(a, b)
    EXCHANGE(c, d)
    EXCHANGE(a, c)
    EXCHANGE(b, d)
    EXCHANGE(b, c)
    STORE_LANES(keys, a)
    STORE_LANES(keys + LANES, b)
    STORE_LANES(keys + 2 * LANES, c)
    STORE_LANES(keys + 3 * LANES, d)


cdef inline void sort_eight(int32_t* keys) noexcept nogil:
    cdef:
        Lanes a = LOAD_LANES(keys), b = LOAD_LANES(keys + LANES)
        Lanes c = LOAD_LANES(keys + 2 * LANES), d = LOAD_LANES(keys + 3 * LANES)
        Lanes e = LOAD_LANES(keys + 4 * LANES), f = LOAD_LANES(keys + 5 * LANES)
        Lanes g = LOAD_LANES(keys + 6 * LANES), h = LOAD_LANES(keys + 7 * LANES)
    EXCHANGE(a, b)
    EXCHANGE(c, d)
    EXCHANGE(e, f)
    EXCHANGE(g, h)
    EXCHANGE(a, c)
    EXCHANGE(b, d)
    EXCHANGE(e, g)
    EXCHANGE(f, h)
    EXCHANGE(b, c)
    EXCHANGE(f, g)
    EXCHANGE(a, e)
    EXCHANGE(b, f)
    EXCHANGE(c, g)
    EXCHANGE(d, h)
    EXCHANGE(c, e)
    EXCHANGE(d, f)
    EXCHANGE(b, c)
    EXCHANGE(d, e)
    EXCHANGE(f, g)
    STORE_LANES(keys, a)
    STORE_LANES(keys + LANES, b)
    STORE_LANES(keys + 2 * LANES, c)
    STORE_LANES(keys + 3 * LANES, d)
    STORE_LANES(keys + 4 * LANES, e)
    STORE_LANES(keys + 5 * LANES, f)
    STORE_LANES(keys + 6 * LANES, g)
    STORE_LANES(keys + 7 * LANES, h)


cdef inline void exchange_run(
    int32_t* keys, int64_t start, int64_t stop, int64_t gap
) noexcept nogil:
    """Exchange the keys from start to stop with those that many places above."""
    cdef:
        int64_t i
        int32_t* low
        Lanes a, b
    for i in range(start, stop):
        low = keys + LANES * i
        a = LOAD_LANES(low)
        b = LOAD_LANES(low + LANES * gap)
        EXCHANGE(a, b)
        STORE_LANES(low, a)
        STORE_LANES(low + LANES * gap, b)


cdef inline void merge_halves(int32_t* keys, int64_t half, int64_t n) noexcept nogil:
    """Batcher's odd-even merging of two sorted halves, of which n keys are there: an
    exchange with a key that is not there would change nothing."""
    cdef int64_t gap = half // 2, start
    exchange_run(keys, 0, min(half, n - half), half)
    while gap > 0:
        start = gap
        while start + gap < n:
            exchange_run(keys, start, min(start + gap, n - gap), gap)
            start += 2 * gap
        gap //= 2


cdef inline void sort_block(int32_t* keys, int64_t n) noexcept nogil:
    """Sort up to 16 keys; there is room for a multiple of four."""
    cdef int64_t i
    for i in range(LANES * n, LANES * ((n + 3) // 4 * 4)):
        keys[i] = NO_KEY
    if n <= 4:
        sort_four(keys)
        return
    sort_eight(keys)
    if n <= 8:
        return
    if n <= 12:
        sort_four(keys + 8 * LANES)
    else:
        sort_eight(keys + 8 * LANES)
    merge_halves(keys, 8, n)


cdef wide_void sort_lanes(int32_t* keys, int64_t n) noexcept nogil:
    cdef int64_t start = 0, half = BLOCK
    while start < n:
        sort_block(keys + LANES * start, min(n - start, <int64_t>BLOCK))
        start += BLOCK
    while half < n:
        start = 0
        while start + half < n:
            merge_halves(keys + LANES * start, half, min(n - start, 2 * half))
            start += 2 * half
        half *= 2


cdef void sort_tile(Tile* tile, int64_t n) noexcept nogil:
    """Sort n keys of each lane; others are overwritten."""
    sort_lanes(tile.keys, n)


# --------------------------------------------------------------------------- scoring


cdef inline const double* amount_at(
    const SmallSearch* search, int32_t key
) noexcept nogil:
    return search.amounts + 2 * (key & (SMALL_ROWS - 1))


cdef wide_void score_tile(
    const SmallSearch* search, int64_t lowest, Tile* tile
) noexcept nogil:
    """The score of every split that leaves so many rows on both sides."""
    cdef:
        const int32_t* keys = tile.keys
        double* score = tile.score
        int64_t i
        double n_weight = search.n_weight, total = search.total
        Amount a = NO_AMOUNT(), b = NO_AMOUNT(), c = NO_AMOUNT(), d = NO_AMOUNT()
        Four four, top = SAME_FOUR(-1.0), second = SAME_FOUR(-1.0)
    for i in range(search.n - lowest):
        ADD_AMOUNT(a, amount_at(search, keys[0]))
        ADD_AMOUNT(b, amount_at(search, keys[1]))
        ADD_AMOUNT(c, amount_at(search, keys[2]))
        ADD_AMOUNT(d, amount_at(search, keys[3]))
        if i >= lowest - 1:
            four = SCORE_FOUR(a, b, c, d, n_weight, total, keys)
            STORE_FOUR(score, four)
            KEEP_BEST(four, top, second)
        keys += LANES
        score += LANES
    STORE_FOUR(tile.top, top)
    STORE_FOUR(tile.second, second)


cdef inline uint32_t code_of(int32_t key) noexcept nogil:
    return <uint32_t>((key - LEAST_KEY) >> ROW_BITS)


cdef void take_split(
    const Tile* tile, int64_t i, int64_t c, SmallSearch* search
) noexcept nogil:
    """Take the split above sorted row i in lane c."""
    cdef int64_t j
    search.bound = tile.score[LANES * i + c] + search.margin
    search.column = tile.number[c]
    search.n_left = i + 1
    search.below = code_of(tile.keys[LANES * i + c])
    search.above = code_of(tile.keys[LANES * (i + 1) + c])
    search.missing_child = -1
    search.is_alone = False
    for j in range(search.n):
        search.places[j] = <uint8_t>(tile.keys[LANES * j + c] & (SMALL_ROWS - 1))


cdef void choose_in_order(
    const Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best split where scores come so near that their order decides."""
    cdef:
        int64_t i, c
        double score
    for c in range(tile.n_columns):
        for i in range(lowest - 1, search.n - lowest):
            score = tile.score[LANES * i + c]
            if score >= 0.0 and score > search.bound:
                take_split(tile, i, c, search)


cdef void choose_split(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best split. It is the largest score, unless others come near."""
    cdef:
        int64_t i = lowest - 1, best
        double largest, near
        Four top
        uint32_t bits
    score_tile(search, lowest, tile)
    # Lanes beyond are copies of the first column.
    top = LOAD_FOUR(tile.top)
    largest = LARGEST_OF(top)
    if largest < 0.0 or not largest > search.bound:
        return
    near = largest - 2.0 * search.margin
    bits = REACHES_FOUR(top, near) | REACHES_FOUR(LOAD_FOUR(tile.second), near) << LANES
    if bits & (bits - 1):
        choose_in_order(tile, lowest, search)
        return
    best = LOWEST_BIT(bits)
    while tile.score[LANES * i + best] != largest:
        i += 1
    take_split(tile, i, best, search)


# -------------------------------------------------------------------------- few rows


cdef wide_void score_few(
    Tile* tile, int64_t lowest, SmallSearch* search, uint32_t* near, uint32_t* equal
) noexcept nogil:
    """Sort the keys of up to 8 rows, and score all splits. Bits tell which of them
    come near the largest, and which are so near that the first of them is taken. There
    are none if the largest is no better than what there is."""
    cdef:
        int32_t* keys = tile.keys
        double* score = tile.score
        int64_t i, n = search.n
        Amount a = NO_AMOUNT(), b = NO_AMOUNT(), c = NO_AMOUNT(), d = NO_AMOUNT()
        Four four, top = SAME_FOUR(-1.0), second = SAME_FOUR(-1.0)
        double n_weight = search.n_weight, total = search.total, largest
    near[0] = equal[0] = 0
    sort_block(keys, n)
    for i in range(n - lowest):
        ADD_AMOUNT(a, amount_at(search, keys[0]))
        ADD_AMOUNT(b, amount_at(search, keys[1]))
        ADD_AMOUNT(c, amount_at(search, keys[2]))
        ADD_AMOUNT(d, amount_at(search, keys[3]))
        four = SCORE_FOUR(a, b, c, d, n_weight, total, keys)
        STORE_FOUR(score, four)
        if i >= lowest - 1:
            KEEP_BEST(four, top, second)
        keys += LANES
        score += LANES
    largest = LARGEST_OF(top)
    if largest < 0.0 or not largest > search.bound:
        return
    for i in range(lowest - 1, n - lowest):
        four = LOAD_FOUR(tile.score + LANES * i)
        near[0] |= REACHES_FOUR(four, largest - 2.0 * search.margin) << LANES * i
        equal[0] |= REACHES_FOUR(four, largest - 0.5 * search.margin) << LANES * i
    if not largest - 0.5 * search.margin > search.bound:
        equal[0] = 0


cdef void try_few(Tile* tile, int64_t lowest, SmallSearch* search) noexcept nogil:
    """Sort up to 8 keys of each lane, and take the best split. Which it is comes
    from a number of bits, as nobody could guess it. Few rows are often split alike by
    several columns, of which the first is taken."""
    cdef:
        uint32_t near, equal, lanes
        int64_t c
    score_few(tile, lowest, search, &near, &equal)
    if near == 0:
        return
    if near != equal:
        choose_in_order(tile, lowest, search)
        return
    lanes = near | near >> 16
    lanes |= lanes >> 8
    c = LOWEST_BIT(lanes | lanes >> 4)
    take_split(
        tile, LOWEST_BIT(near & (<uint32_t>0x11111111 << c)) // LANES, c, search
    )


# ------------------------------------------------------------------------ many classes


# What is on the left of every split, lane by lane: the weight, and the sums of squared
# class weights of both sides.
cdef struct SideSums:
    double[SMALL_ROWS * LANES] weight
    double[SMALL_ROWS * LANES] left
    double[SMALL_ROWS * LANES] right


cdef void add_up_classes(
    const SmallSearch* search, const int32_t* keys, int64_t n, SideSums* sums
) noexcept nogil:
    cdef:
        double[LANES * MOST_CLASSES] left
        double[LANES] left_squares
        double[LANES] right_squares
        double[LANES] weights
        int64_t i, c, place, label
        double weight, here, there, squares = 0.0
    memset(left, 0, LANES * search.n_classes * sizeof(double))
    for c in range(search.n_classes):
        squares += search.totals[c] * search.totals[c]
    for c in range(LANES):
        left_squares[c] = weights[c] = 0.0
        right_squares[c] = squares
    for i in range(n):
        for c in range(LANES):
            place = keys[LANES * i + c] & (SMALL_ROWS - 1)
            weight = search.amounts[2 * place + 1]
            label = <int64_t>search.y[place]
            here = left[LANES * label + c]
            there = search.totals[label] - here
            left[LANES * label + c] = here + weight
            left_squares[c] += weight * (2.0 * here + weight)
            right_squares[c] -= weight * (2.0 * there - weight)
            weights[c] += weight
            sums.left[LANES * i + c] = left_squares[c]
            sums.right[LANES * i + c] = right_squares[c]
            sums.weight[LANES * i + c] = weights[c]


cdef wide_void judge_squares(
    const SideSums* sums, const int32_t* keys, int64_t n, double n_weight, double base,
    double* score
) noexcept nogil:
    """Gini: the sum of squares over the weight, of both sides; -1 between equal
    codes."""
    cdef:
        int64_t i
        double weight, value
    for i in range(n):
        weight = sums.weight[i]
        value = (sums.left[i] * (n_weight - weight) + sums.right[i] * weight) / (
            weight * (n_weight - weight)
        ) - base
        value = value if value > 0.0 else 0.0
        score[i] = value if (keys[i] ^ keys[i + LANES]) >= SMALL_ROWS else -1.0


cdef inline double times_log(double x) noexcept nogil:
    return x * log2(x) if x > 0.0 else 0.0


cdef double judge_logarithms(
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


cdef void score_by_logarithms(
    const SmallSearch* search, int64_t n, Tile* tile
) noexcept nogil:
    cdef:
        double[MOST_CLASSES] left
        const int32_t* keys
        int64_t i, c, place
        double weight
    for c in range(LANES):
        keys = tile.keys + c
        memset(left, 0, search.n_classes * sizeof(double))
        weight = 0.0
        for i in range(n):
            place = keys[LANES * i] & (SMALL_ROWS - 1)
            left[<int64_t>search.y[place]] += search.amounts[2 * place + 1]
            weight += search.amounts[2 * place + 1]
            tile.score[LANES * i + c] = -1.0
            if (keys[LANES * i] ^ keys[LANES * (i + 1)]) >= SMALL_ROWS:
                tile.score[LANES * i + c] = max(
                    judge_logarithms(search, left, weight), 0.0
                )


cdef void score_classes(
    const SmallSearch* search, int64_t lowest, Tile* tile
) noexcept nogil:
    """The score of every split that leaves so many samples on both sides."""
    cdef:
        SideSums sums
        int64_t n = search.n - lowest
    if not search.is_gini:
        score_by_logarithms(search, n, tile)
        return
    add_up_classes(search, tile.keys, n, &sums)
    judge_squares(
        &sums, tile.keys, LANES * n, search.n_weight, search.base, tile.score
    )


cdef void choose_class_split(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best split of sorted lanes."""
    if search.n - lowest < lowest:
        return
    score_classes(search, lowest, tile)
    if tile.any_missing:
        choose_with_missing(tile, lowest, search)
    else:
        choose_in_order(tile, lowest, search)


cdef double judge_classes(
    const SmallSearch* search, const double* left, double weight
) noexcept nogil:
    """Score of one split of several classes."""
    cdef:
        double left_squares = 0.0, right_squares = 0.0, there, n = search.n_weight
        int64_t c
    if not search.is_gini:
        return judge_logarithms(search, left, weight)
    for c in range(search.n_classes):
        there = search.totals[c] - left[c]
        left_squares += left[c] * left[c]
        right_squares += there * there
    return (left_squares * (n - weight) + right_squares * weight) / (
        weight * (n - weight)
    ) - search.base


# -------------------------------------------------------------------- missing values


cdef void take_with_missing(
    const Tile* tile, int64_t i, int64_t c, double score, int32_t missing_child,
    SmallSearch* search
) noexcept nogil:
    """Take the split above sorted sample i in a lane whose last samples are missing."""
    cdef:
        int64_t j, n_missing = tile.n_missing[c], n_present = search.n - n_missing
        int64_t n = 0
    take_split(tile, i, c, search)
    search.bound = score + search.margin
    search.missing_child = missing_child
    search.is_alone = i == n_present - 1
    if missing_child != 0:
        return
    # The missing samples first, then those below the threshold.
    search.n_left = n_missing + i + 1
    for j in range(n_present, search.n):
        search.places[n] = <uint8_t>(tile.keys[LANES * j + c] & (SMALL_ROWS - 1))
        n += 1
    for j in range(n_present):
        search.places[n] = <uint8_t>(tile.keys[LANES * j + c] & (SMALL_ROWS - 1))
        n += 1


cdef void try_missing_left(
    const Tile* tile, int64_t c, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Try the thresholds of a lane with its missing samples in child 0."""
    cdef:
        double[MOST_CLASSES] left
        const int32_t* keys = tile.keys + c
        int64_t i, place, n_missing = tile.n_missing[c]
        int64_t n_present = search.n - n_missing
        double first = 0.0, weight = 0.0, d, area, n = search.n_weight, score
    if search.is_classes:
        memset(left, 0, search.n_classes * sizeof(double))
    for i in range(-n_missing, n_present - 1):
        place = keys[LANES * (i if i >= 0 else search.n + i)] & (SMALL_ROWS - 1)
        first += search.amounts[2 * place]
        weight += search.amounts[2 * place + 1]
        if search.is_classes:
            left[<int64_t>search.y[place]] += search.amounts[2 * place + 1]
        if i < 0 or (keys[LANES * i] ^ keys[LANES * (i + 1)]) < SMALL_ROWS:
            continue
        if n_missing + i + 1 < lowest or n_present - i - 1 < lowest:
            continue
        if search.is_classes:
            score = judge_classes(search, left, weight)
            if score > search.bound:
                take_with_missing(tile, i, c, score, 0, search)
            continue
        d = first * n - search.total * weight
        area = weight * (n - weight)
        if d * d > search.bound * area and area > 0.0:
            take_with_missing(tile, i, c, d * d / area, 0, search)


cdef void try_with_missing(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best split of sorted lanes, some of which have missing samples."""
    score_tile(search, lowest, tile)
    choose_with_missing(tile, lowest, search)


cdef void choose_with_missing(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """The same of scored lanes, in the order of ``_column``: missing samples in child
    1, in child 0, and alone."""
    cdef:
        int64_t i, c, n_present
        double score
    for c in range(tile.n_columns):
        n_present = search.n - tile.n_missing[c]
        for i in range(lowest - 1, search.n - lowest):
            score = tile.score[LANES * i + c]
            if not (score >= 0.0 and score > search.bound):
                continue
            if tile.n_missing[c] == 0:
                take_split(tile, i, c, search)
            elif i < n_present - 1:
                take_with_missing(tile, i, c, score, 1, search)
        if tile.n_missing[c] == 0 or n_present == 0:
            continue
        try_missing_left(tile, c, lowest, search)
        if n_present >= lowest and tile.n_missing[c] >= lowest:
            score = tile.score[LANES * (n_present - 1) + c]
            if score > search.bound:
                take_with_missing(tile, n_present - 1, c, score, 1, search)
