"""Regression: four columns of a node of up to 64 rows, side by side.

Their keys, codes and places in one number, are sorted by one network of exchanges: up
to 16 of a column in the registers, and more of them by merging. Then all scores are
computed before the first is looked at, so that nothing is guessed.
"""

from sklearn_textbook.tree.split._wide_units cimport wide_void


# Four keys, one of each column. Read as floats, numbers keep their order, and there is
# an instruction for the smaller of two.
cdef extern from *:
    """
    #include <string.h>
    #if defined(__SSE2__)
    #include <emmintrin.h>
    typedef __m128 Lanes;
    #define LOAD_LANES(from) _mm_loadu_ps((const float*)(from))
    #define STORE_LANES(to, lanes) _mm_storeu_ps((float*)(to), lanes)
    #define LOWER_LANES(a, b) _mm_min_ps(a, b)
    #define UPPER_LANES(a, b) _mm_max_ps(a, b)
    #else
    typedef struct { int32_t lane[4]; } Lanes;
    static inline Lanes LOAD_LANES(const int32_t* from) {
        Lanes lanes;
        memcpy(&lanes, from, sizeof(lanes));
        return lanes;
    }
    #define STORE_LANES(to, lanes) memcpy(to, &(lanes), sizeof(lanes))
    static inline Lanes LOWER_LANES(Lanes a, Lanes b) {
        int c;
        for (c = 0; c < 4; c++)
            a.lane[c] = a.lane[c] < b.lane[c] ? a.lane[c] : b.lane[c];
        return a;
    }
    static inline Lanes UPPER_LANES(Lanes a, Lanes b) {
        int c;
        for (c = 0; c < 4; c++)
            a.lane[c] = a.lane[c] < b.lane[c] ? b.lane[c] : a.lane[c];
        return a;
    }
    #endif
    #define EXCHANGE(a, b) do { \\
        Lanes lower_ = LOWER_LANES(a, b); \\
        b = UPPER_LANES(a, b); \\
        a = lower_; \\
    } while (0)
    """
    ctypedef struct Lanes:
        pass
    Lanes LOAD_LANES(const int32_t* source) noexcept nogil
    void STORE_LANES(int32_t* target, Lanes lanes) noexcept nogil
    # Put the smaller of two keys first; both are changed.
    void EXCHANGE(Lanes first, Lanes second) noexcept nogil

# Sums of residuals and of weights, a pair for each column; and scores of four columns.
cdef extern from *:
    """
    #if defined(__SSE2__)
    typedef __m128d Amount;
    typedef struct { __m128d low, high; } Four;
    #define NO_AMOUNT() _mm_setzero_pd()
    #define ADD_AMOUNT(sum, amount) (sum) = _mm_add_pd(sum, _mm_loadu_pd(amount))
    static inline Four SAME_FOUR(double number) {
        Four four;
        four.low = four.high = _mm_set1_pd(number);
        return four;
    }
    #define STORE_FOUR(to, four) do { \\
        _mm_storeu_pd(to, (four).low); \\
        _mm_storeu_pd((to) + 2, (four).high); \\
    } while (0)
    static inline __m128d SCORE_TWO(
        Amount a, Amount b, __m128d n_weight, __m128d total, __m128i differs
    ) {
        __m128d left = _mm_unpacklo_pd(a, b), weight = _mm_unpackhi_pd(a, b);
        __m128d d = _mm_sub_pd(_mm_mul_pd(left, n_weight), _mm_mul_pd(total, weight));
        __m128d area = _mm_mul_pd(weight, _mm_sub_pd(n_weight, weight));
        __m128d score = _mm_div_pd(_mm_mul_pd(d, d), area);
        __m128d mask = _mm_castsi128_pd(differs);
        return _mm_or_pd(
            _mm_and_pd(mask, score), _mm_andnot_pd(mask, _mm_set1_pd(-1.0))
        );
    }
    static inline Four SCORE_FOUR(
        Amount a, Amount b, Amount c, Amount d, double n_weight, double total,
        const int32_t* keys
    ) {
        __m128d all = _mm_set1_pd(n_weight), sum = _mm_set1_pd(total);
        __m128i differs = _mm_cmpgt_epi32(
            _mm_xor_si128(
                _mm_loadu_si128((const __m128i*)keys),
                _mm_loadu_si128((const __m128i*)(keys + 4))
            ),
            _mm_set1_epi32(63)
        );
        Four four;
        four.low = SCORE_TWO(a, b, all, sum, _mm_unpacklo_epi32(differs, differs));
        four.high = SCORE_TWO(c, d, all, sum, _mm_unpackhi_epi32(differs, differs));
        return four;
    }
    #define KEEP_TWO(four, half, top, second) do { \\
        (second).half = _mm_max_pd( \\
            _mm_min_pd((four).half, (top).half), (second).half); \\
        (top).half = _mm_max_pd((four).half, (top).half); \\
    } while (0)
    #define KEEP_BEST(four, top, second) do { \\
        KEEP_TWO(four, low, top, second); \\
        KEEP_TWO(four, high, top, second); \\
    } while (0)
    #else
    typedef struct { double residual, weight; } Amount;
    typedef struct { double lane[4]; } Four;
    static inline Amount NO_AMOUNT(void) {
        Amount amount = {0.0, 0.0};
        return amount;
    }
    #define ADD_AMOUNT(sum, amount) do { \\
        const double* amount_ = amount; \\
        (sum).residual += amount_[0]; \\
        (sum).weight += amount_[1]; \\
    } while (0)
    static inline Four SAME_FOUR(double number) {
        Four four;
        four.lane[0] = four.lane[1] = four.lane[2] = four.lane[3] = number;
        return four;
    }
    #define STORE_FOUR(to, four) memcpy(to, (four).lane, sizeof((four).lane))
    static inline double SCORE_ONE(
        Amount left, double n_weight, double total, int32_t key, int32_t next
    ) {
        double d = left.residual * n_weight - total * left.weight;
        if ((key ^ next) < 64) return -1.0;
        return d * d / (left.weight * (n_weight - left.weight));
    }
    static inline Four SCORE_FOUR(
        Amount a, Amount b, Amount c, Amount d, double n_weight, double total,
        const int32_t* keys
    ) {
        Four four;
        four.lane[0] = SCORE_ONE(a, n_weight, total, keys[0], keys[4]);
        four.lane[1] = SCORE_ONE(b, n_weight, total, keys[1], keys[5]);
        four.lane[2] = SCORE_ONE(c, n_weight, total, keys[2], keys[6]);
        four.lane[3] = SCORE_ONE(d, n_weight, total, keys[3], keys[7]);
        return four;
    }
    #define KEEP_BEST(four, top, second) do { \\
        int c_; \\
        for (c_ = 0; c_ < 4; c_++) { \\
            double score_ = (four).lane[c_], most_ = (top).lane[c_]; \\
            double less_ = score_ < most_ ? score_ : most_; \\
            if (less_ > (second).lane[c_]) (second).lane[c_] = less_; \\
            if (score_ > most_) (top).lane[c_] = score_; \\
        } \\
    } while (0)
    #endif
    """
    ctypedef struct Amount:
        pass
    ctypedef struct Four:
        pass
    Amount NO_AMOUNT() noexcept nogil
    void ADD_AMOUNT(Amount sum, const double* amount) noexcept nogil
    Four SAME_FOUR(double number) noexcept nogil
    void STORE_FOUR(double* target, Four four) noexcept nogil
    # Scores of a division above the second four keys; -1 where codes are equal.
    Four SCORE_FOUR(
        Amount a, Amount b, Amount c, Amount d, double n_weight, double total,
        const int32_t* keys
    ) noexcept nogil
    # Keep the largest number of each lane, and the largest of the others. Where one is
    # not a number, the other stays.
    void KEEP_BEST(Four four, Four top, Four second) noexcept nogil

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


cdef void choose_division(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil:
    """Take the best division. It is the largest score, unless others come near."""
    cdef:
        const double* scores = tile.score
        int64_t i, c, best = 0, first = lowest - 1, stop = search.n - lowest
        double largest = -1.0, near, score, other = -1.0
    score_tile(search, lowest, tile)
    # Lanes beyond are copies of the first column.
    for c in range(tile.n_columns):
        best = c if tile.top[c] > largest else best
        largest = tile.top[c] if tile.top[c] > largest else largest
    if largest < 0.0 or not largest > search.bound:
        return
    for c in range(tile.n_columns):
        score = tile.second[c] if c == best else tile.top[c]
        other = score if score > other else other
    near = largest - 2.0 * search.margin
    if other < near:
        i = first
        while scores[LANES * i + best] != largest:
            i += 1
        take_division(tile, i, best, search)
        return
    for c in range(tile.n_columns):
        for i in range(first, stop):
            score = scores[LANES * i + c]
            if score >= 0.0 and score > search.bound:
                take_division(tile, i, c, search)
