# Numbers of four columns side by side, as vector units take them.
# Each operation is a macro or function of C, for SSE2 and, with the same results, for
# other processors. Additions are those of a loop over one column, in the same order.

from libc.stdint cimport int32_t, int64_t, uint32_t

# Four keys, one of each column. Read as floats, numbers keep their order, and there is
# an instruction for the smaller of two.
cdef extern from *:
    """
    #include <string.h>
    #if defined(__SSE2__)
    #include <emmintrin.h>
    typedef __m128 Keys;
    #define LOAD_KEYS(from) _mm_loadu_ps((const float*)(from))
    #define STORE_KEYS(to, keys) _mm_storeu_ps((float*)(to), keys)
    #define LOWER_KEYS(a, b) _mm_min_ps(a, b)
    #define UPPER_KEYS(a, b) _mm_max_ps(a, b)
    #else
    typedef struct { int32_t of[4]; } Keys;
    static inline Keys LOAD_KEYS(const int32_t* from) {
        Keys keys;
        memcpy(&keys, from, sizeof(keys));
        return keys;
    }
    #define STORE_KEYS(to, keys) memcpy(to, &(keys), sizeof(keys))
    static inline Keys LOWER_KEYS(Keys a, Keys b) {
        int c;
        for (c = 0; c < 4; c++)
            a.of[c] = a.of[c] < b.of[c] ? a.of[c] : b.of[c];
        return a;
    }
    static inline Keys UPPER_KEYS(Keys a, Keys b) {
        int c;
        for (c = 0; c < 4; c++)
            a.of[c] = a.of[c] < b.of[c] ? b.of[c] : a.of[c];
        return a;
    }
    #endif
    #define EXCHANGE(a, b) do { \\
        Keys lower_ = LOWER_KEYS(a, b); \\
        b = UPPER_KEYS(a, b); \\
        a = lower_; \\
    } while (0)
    """
    ctypedef struct Keys:
        pass
    Keys LOAD_KEYS(const int32_t* source) noexcept nogil
    void STORE_KEYS(int32_t* target, Keys keys) noexcept nogil
    # Put the smaller of two keys first; both are changed.
    void EXCHANGE(Keys first, Keys second) noexcept nogil

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
    static inline Four LOAD_FOUR(const double* from) {
        Four four;
        four.low = _mm_loadu_pd(from);
        four.high = _mm_loadu_pd(from + 2);
        return four;
    }
    static inline Four GATHER_FOUR(
        const double* from, int64_t a, int64_t b, int64_t c, int64_t d
    ) {
        Four four;
        four.low = _mm_loadh_pd(_mm_load_sd(from + a), from + b);
        four.high = _mm_loadh_pd(_mm_load_sd(from + c), from + d);
        return four;
    }
    #define WIDEN_FOUR(smallest, largest, four) do { \\
        (smallest).low = _mm_min_pd((four).low, (smallest).low); \\
        (smallest).high = _mm_min_pd((four).high, (smallest).high); \\
        (largest).low = _mm_max_pd((four).low, (largest).low); \\
        (largest).high = _mm_max_pd((four).high, (largest).high); \\
    } while (0)
    static inline Four AT_MOST(Four four, Four threshold) {
        four.low = _mm_cmple_pd(four.low, threshold.low);
        four.high = _mm_cmple_pd(four.high, threshold.high);
        return four;
    }
    #define ADD_WHERE(sum, mask, number) do { \\
        __m128d same_ = _mm_set1_pd(number); \\
        (sum).low = _mm_add_pd((sum).low, _mm_and_pd((mask).low, same_)); \\
        (sum).high = _mm_add_pd((sum).high, _mm_and_pd((mask).high, same_)); \\
    } while (0)
    #define KEEP_LARGER(top, four) do { \\
        Four four_ = four; \\
        (top).low = _mm_max_pd(four_.low, (top).low); \\
        (top).high = _mm_max_pd(four_.high, (top).high); \\
    } while (0)
    #else
    typedef struct { double residual, weight; } Amount;
    typedef struct { double of[4]; } Four;
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
        four.of[0] = four.of[1] = four.of[2] = four.of[3] = number;
        return four;
    }
    #define STORE_FOUR(to, four) memcpy(to, (four).of, sizeof((four).of))
    static inline Four LOAD_FOUR(const double* from) {
        Four four;
        memcpy(four.of, from, sizeof(four.of));
        return four;
    }
    static inline Four GATHER_FOUR(
        const double* from, int64_t a, int64_t b, int64_t c, int64_t d
    ) {
        Four four = {{from[a], from[b], from[c], from[d]}};
        return four;
    }
    #define WIDEN_FOUR(smallest, largest, four) do { \\
        int c_; \\
        for (c_ = 0; c_ < 4; c_++) { \\
            if ((four).of[c_] < (smallest).of[c_]) (smallest).of[c_] = (four).of[c_]; \\
            if ((four).of[c_] > (largest).of[c_]) (largest).of[c_] = (four).of[c_]; \\
        } \\
    } while (0)
    static inline Four AT_MOST(Four four, Four threshold) {
        int c;
        for (c = 0; c < 4; c++)
            four.of[c] = (double)(four.of[c] <= threshold.of[c]);
        return four;
    }
    #define ADD_WHERE(sum, mask, number) do { \\
        int c_; \\
        for (c_ = 0; c_ < 4; c_++) \\
            (sum).of[c_] += (mask).of[c_] * (number); \\
    } while (0)
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
        four.of[0] = SCORE_ONE(a, n_weight, total, keys[0], keys[4]);
        four.of[1] = SCORE_ONE(b, n_weight, total, keys[1], keys[5]);
        four.of[2] = SCORE_ONE(c, n_weight, total, keys[2], keys[6]);
        four.of[3] = SCORE_ONE(d, n_weight, total, keys[3], keys[7]);
        return four;
    }
    #define KEEP_LARGER(top, four) do { \\
        Four four_ = four; \\
        int c_; \\
        for (c_ = 0; c_ < 4; c_++) \\
            if (four_.of[c_] > (top).of[c_]) (top).of[c_] = four_.of[c_]; \\
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
    Four LOAD_FOUR(const double* source) noexcept nogil
    Four GATHER_FOUR(
        const double* source, int64_t first, int64_t second, int64_t third,
        int64_t fourth
    ) noexcept nogil
    # NaN changes neither range.
    void WIDEN_FOUR(Four smallest, Four largest, Four four) noexcept nogil
    # Which numbers do not exceed their threshold; and a sum where that holds.
    Four AT_MOST(Four four, Four threshold) noexcept nogil
    void ADD_WHERE(Four sum, Four mask, double number) noexcept nogil
    # Scores of the splits above the first four keys; -1 where codes are equal.
    Four SCORE_FOUR(
        Amount a, Amount b, Amount c, Amount d, double n_weight, double total,
        const int32_t* keys
    ) noexcept nogil
    # Keep the larger number of each column. Where the new one is not a number, the
    # other stays.
    void KEEP_LARGER(Four top, Four four) noexcept nogil
