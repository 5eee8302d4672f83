# Numbers of four columns side by side, as vector units take them.

from libc.stdint cimport int32_t, int64_t, uint32_t

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
    static inline double LARGEST_OF(Four four) {
        __m128d top = _mm_max_pd(four.low, four.high);
        return _mm_cvtsd_f64(_mm_max_sd(top, _mm_unpackhi_pd(top, top)));
    }
    static inline uint32_t REACHES_FOUR(Four four, double number) {
        __m128d least = _mm_set1_pd(number);
        return (uint32_t)(
            _mm_movemask_pd(_mm_cmpge_pd(four.low, least))
            | _mm_movemask_pd(_mm_cmpge_pd(four.high, least)) << 2
        );
    }
    static inline Four LOAD_FOUR(const double* from) {
        Four four;
        four.low = _mm_loadu_pd(from);
        four.high = _mm_loadu_pd(from + 2);
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
    static inline Four LOAD_FOUR(const double* from) {
        Four four;
        memcpy(four.lane, from, sizeof(four.lane));
        return four;
    }
    static inline double LARGEST_OF(Four four) {
        double top = four.lane[0];
        int c;
        for (c = 1; c < 4; c++)
            top = four.lane[c] > top ? four.lane[c] : top;
        return top;
    }
    static inline uint32_t REACHES_FOUR(Four four, double number) {
        uint32_t bits = 0;
        int c;
        for (c = 0; c < 4; c++)
            bits |= (uint32_t)(four.lane[c] >= number) << c;
        return bits;
    }
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
    Four LOAD_FOUR(const double* source) noexcept nogil
    double LARGEST_OF(Four four) noexcept nogil
    # A bit for each that is not less.
    uint32_t REACHES_FOUR(Four four, double number) noexcept nogil
    # Scores of a division above the second four keys; -1 where codes are equal.
    Four SCORE_FOUR(
        Amount a, Amount b, Amount c, Amount d, double n_weight, double total,
        const int32_t* keys
    ) noexcept nogil
    # Keep the largest number of each lane, and the largest of the others. Where one is
    # not a number, the other stays.
    void KEEP_BEST(Four four, Four top, Four second) noexcept nogil

# The ranges of four columns of values, and sums over the values up to a threshold of
# each. Where a value is not a number, it is left out.
cdef extern from *:
    """
    #if defined(__SSE2__)
    static void RANGE_FOUR(
        const double* values, int64_t n, double* smallest, double* largest
    ) {
        __m128d low0 = _mm_loadu_pd(smallest), low1 = _mm_loadu_pd(smallest + 2);
        __m128d high0 = _mm_loadu_pd(largest), high1 = _mm_loadu_pd(largest + 2);
        int64_t i;
        for (i = 0; i < n; i++, values += 4) {
            __m128d v0 = _mm_loadu_pd(values), v1 = _mm_loadu_pd(values + 2);
            low0 = _mm_min_pd(v0, low0);
            low1 = _mm_min_pd(v1, low1);
            high0 = _mm_max_pd(v0, high0);
            high1 = _mm_max_pd(v1, high1);
        }
        _mm_storeu_pd(smallest, low0);
        _mm_storeu_pd(smallest + 2, low1);
        _mm_storeu_pd(largest, high0);
        _mm_storeu_pd(largest + 2, high1);
    }
    static void SUM_FOUR(
        const double* values, const double* threshold, const double* amounts,
        int64_t n, double* first, double* weight, double* count
    ) {
        __m128d t0 = _mm_loadu_pd(threshold), t1 = _mm_loadu_pd(threshold + 2);
        __m128d zero = _mm_setzero_pd(), one = _mm_set1_pd(1.0);
        __m128d f0 = zero, f1 = zero, w0 = zero, w1 = zero, c0 = zero, c1 = zero;
        int64_t i;
        for (i = 0; i < n; i++, values += 4, amounts += 2) {
            __m128d m0 = _mm_cmple_pd(_mm_loadu_pd(values), t0);
            __m128d m1 = _mm_cmple_pd(_mm_loadu_pd(values + 2), t1);
            __m128d a = _mm_set1_pd(amounts[0]), w = _mm_set1_pd(amounts[1]);
            f0 = _mm_add_pd(f0, _mm_and_pd(m0, a));
            f1 = _mm_add_pd(f1, _mm_and_pd(m1, a));
            w0 = _mm_add_pd(w0, _mm_and_pd(m0, w));
            w1 = _mm_add_pd(w1, _mm_and_pd(m1, w));
            c0 = _mm_add_pd(c0, _mm_and_pd(m0, one));
            c1 = _mm_add_pd(c1, _mm_and_pd(m1, one));
        }
        _mm_storeu_pd(first, f0);
        _mm_storeu_pd(first + 2, f1);
        _mm_storeu_pd(weight, w0);
        _mm_storeu_pd(weight + 2, w1);
        _mm_storeu_pd(count, c0);
        _mm_storeu_pd(count + 2, c1);
    }
    #else
    static void RANGE_FOUR(
        const double* values, int64_t n, double* smallest, double* largest
    ) {
        int64_t i;
        int c;
        for (i = 0; i < n; i++, values += 4)
            for (c = 0; c < 4; c++) {
                if (values[c] < smallest[c]) smallest[c] = values[c];
                if (values[c] > largest[c]) largest[c] = values[c];
            }
    }
    static void SUM_FOUR(
        const double* values, const double* threshold, const double* amounts,
        int64_t n, double* first, double* weight, double* count
    ) {
        int64_t i;
        int c;
        for (c = 0; c < 4; c++) first[c] = weight[c] = count[c] = 0.0;
        for (i = 0; i < n; i++, values += 4, amounts += 2)
            for (c = 0; c < 4; c++)
                if (values[c] <= threshold[c]) {
                    first[c] += amounts[0];
                    weight[c] += amounts[1];
                    count[c] += 1.0;
                }
    }
    #endif
    """
    void RANGE_FOUR(
        const double* values, int64_t n, double* smallest, double* largest
    ) noexcept nogil
    void SUM_FOUR(
        const double* values, const double* threshold, const double* amounts, int64_t n,
        double* first, double* weight, double* count
    ) noexcept nogil
