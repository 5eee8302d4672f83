# Sorting the keys of four columns side by side, by one network of exchanges: up to 16
# keys of a column in the registers, and more of them by merging.


cdef enum:
    NO_KEY = 0x7F000000
    BLOCK = 16  # keys of a column that are sorted in the registers


cdef inline void sort_four(int32_t* keys) noexcept nogil:
    cdef:
        Keys a = LOAD_KEYS(keys), b = LOAD_KEYS(keys + TILE_COLUMNS)
        Keys c = LOAD_KEYS(keys + 2 * TILE_COLUMNS)
        Keys d = LOAD_KEYS(keys + 3 * TILE_COLUMNS)
    EXCHANGE(a, b)
    EXCHANGE(c, d)
    EXCHANGE(a, c)
    EXCHANGE(b, d)
    EXCHANGE(b, c)
    STORE_KEYS(keys, a)
    STORE_KEYS(keys + TILE_COLUMNS, b)
    STORE_KEYS(keys + 2 * TILE_COLUMNS, c)
    STORE_KEYS(keys + 3 * TILE_COLUMNS, d)


cdef inline void sort_eight(int32_t* keys) noexcept nogil:
    cdef:
        Keys a = LOAD_KEYS(keys), b = LOAD_KEYS(keys + TILE_COLUMNS)
        Keys c = LOAD_KEYS(keys + 2 * TILE_COLUMNS)
        Keys d = LOAD_KEYS(keys + 3 * TILE_COLUMNS)
        Keys e = LOAD_KEYS(keys + 4 * TILE_COLUMNS)
        Keys f = LOAD_KEYS(keys + 5 * TILE_COLUMNS)
        Keys g = LOAD_KEYS(keys + 6 * TILE_COLUMNS)
        Keys h = LOAD_KEYS(keys + 7 * TILE_COLUMNS)
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
    STORE_KEYS(keys, a)
    STORE_KEYS(keys + TILE_COLUMNS, b)
    STORE_KEYS(keys + 2 * TILE_COLUMNS, c)
    STORE_KEYS(keys + 3 * TILE_COLUMNS, d)
    STORE_KEYS(keys + 4 * TILE_COLUMNS, e)
    STORE_KEYS(keys + 5 * TILE_COLUMNS, f)
    STORE_KEYS(keys + 6 * TILE_COLUMNS, g)
    STORE_KEYS(keys + 7 * TILE_COLUMNS, h)


cdef inline void exchange_run(
    int32_t* keys, int64_t start, int64_t stop, int64_t gap
) noexcept nogil:
    """Exchange the keys from start to stop with those that many places above."""
    cdef:
        int64_t i
        int32_t* low
        Keys a, b
    for i in range(start, stop):
        low = keys + TILE_COLUMNS * i
        a = LOAD_KEYS(low)
        b = LOAD_KEYS(low + TILE_COLUMNS * gap)
        EXCHANGE(a, b)
        STORE_KEYS(low, a)
        STORE_KEYS(low + TILE_COLUMNS * gap, b)


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
    """Sort up to 16 keys; the array has a multiple of four entries."""
    cdef int64_t i
    for i in range(TILE_COLUMNS * n, TILE_COLUMNS * ((n + 3) // 4 * 4)):
        keys[i] = NO_KEY
    if n <= 4:
        sort_four(keys)
        return
    sort_eight(keys)
    if n <= 8:
        return
    if n <= 12:
        sort_four(keys + 8 * TILE_COLUMNS)
    else:
        sort_eight(keys + 8 * TILE_COLUMNS)
    merge_halves(keys, 8, n)


cdef wide_void sort_keys(int32_t* keys, int64_t n) noexcept nogil:
    """Sort n keys of each column; others are overwritten."""
    cdef int64_t start = 0, half = BLOCK
    while start < n:
        sort_block(keys + TILE_COLUMNS * start, min(n - start, <int64_t>BLOCK))
        start += BLOCK
    while half < n:
        start = 0
        while start + half < n:
            merge_halves(keys + TILE_COLUMNS * start, half, min(n - start, 2 * half))
            start += 2 * half
        half *= 2
