"""Regression: four columns of a node of up to 64 rows, side by side.

Their keys, codes and places in one number, are sorted by one network of exchanges: up
to 16 of a column in the registers, and more of them by merging. Then all scores are
computed before the first is looked at, so that nothing is guessed.
"""

from libc.stdint cimport uint32_t

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
    """The score of every division that leaves so many rows on both sides."""
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


cdef inline int64_t code_of(int32_t key) noexcept nogil:
    return (key - LEAST_KEY) >> ROW_BITS


cdef void take_division(
    const Tile* tile, int64_t i, int64_t c, SmallSearch* search
) noexcept nogil:
    """Take the division above sorted row i in lane c."""
    cdef int64_t j
    search.bound = tile.score[LANES * i + c] + search.margin
    search.column = tile.number[c]
    search.n_left = i + 1
    search.map_start = code_of(tile.keys[LANES * i + c]) << 32 | (
        code_of(tile.keys[LANES * (i + 1) + c])
    )
    for j in range(search.n):
        search.places[j] = <uint8_t>(tile.keys[LANES * j + c] & (SMALL_ROWS - 1))


cdef void choose_in_order(
    const Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best division where scores come so near that their order decides."""
    cdef:
        int64_t i, c
        double score
    for c in range(tile.n_columns):
        for i in range(lowest - 1, search.n - lowest):
            score = tile.score[LANES * i + c]
            if score >= 0.0 and score > search.bound:
                take_division(tile, i, c, search)


cdef void choose_division(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best division. It is the largest score, unless others come near."""
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
    take_division(tile, i, best, search)


# -------------------------------------------------------------------------- few rows


cdef wide_void score_few(
    Tile* tile, int64_t lowest, SmallSearch* search, uint32_t* near, uint32_t* equal
) noexcept nogil:
    """Sort the keys of up to 8 rows, and score all divisions. Bits tell which of them
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
    """Sort up to 8 keys of each lane, and take the best division. Which it is comes
    from a number of bits, as nobody could guess it. Few rows are often divided alike by
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
    take_division(
        tile, LOWEST_BIT(near & (<uint32_t>0x11111111 << c)) // LANES, c, search
    )
