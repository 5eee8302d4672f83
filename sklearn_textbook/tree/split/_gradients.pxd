# Gradient pairs: what boosting by a second-order expansion of the loss sums up.
# All sums are integers, so that they do not depend on the order of the samples or
# on the number of threads, histograms of blocks of rows can be merged, and that of a
# child is exactly that of its parent less that of the other child.

from libc.stdint cimport int32_t, int64_t, uint64_t

cdef extern from *:
    """
    typedef struct {
        int64_t gradient;
        uint64_t counted;
    } GradientPair;
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <emmintrin.h>
    /* One addition for both sums. */
    typedef __m128i PairVector;
    #define LOAD_PAIR(pair) _mm_loadu_si128((const __m128i *)(pair))
    #define ADD_PAIR(sums, pair) _mm_storeu_si128( \\
        (__m128i *)(sums), _mm_add_epi64(LOAD_PAIR(sums), pair) \\
    )
    #else
    typedef GradientPair PairVector;
    #define LOAD_PAIR(pair) (*(pair))
    static inline void ADD_PAIR(GradientPair *sums, GradientPair pair) {
        sums->gradient += pair.gradient;
        sums->counted += pair.counted;
    }
    #endif
    """
    # Of one sample, or of many: the gradient in units of its scale; the hessian in
    # units of its own, above the number of samples.
    ctypedef struct GradientPair:
        int64_t gradient
        uint64_t counted
    ctypedef struct PairVector:
        pass
    PairVector LOAD_PAIR(const GradientPair* pair) noexcept nogil
    void ADD_PAIR(GradientPair* sums, PairVector pair) noexcept nogil

# What turns the integers into gradients and hessians.
cdef struct GradientScale:
    double gradient_unit
    double hessian_unit
    int32_t count_bits  # of ``counted``, below the hessian

cdef inline int64_t samples_of(
    const GradientPair* sums, const GradientScale* scale
) noexcept nogil:
    return <int64_t>(sums.counted & ((<uint64_t>1 << scale.count_bits) - 1))

cdef inline double hessian_of(
    const GradientPair* sums, const GradientScale* scale
) noexcept nogil:
    # Signed, as processors convert these sooner; a sum has at most 63 bits.
    return scale.hessian_unit * <double><int64_t>(sums.counted >> scale.count_bits)

cdef inline double gradient_of(
    const GradientPair* sums, const GradientScale* scale
) noexcept nogil:
    return scale.gradient_unit * <double>sums.gradient

cdef inline void add_pair(GradientPair* sums, const GradientPair* other) noexcept nogil:
    sums.gradient += other.gradient
    sums.counted += other.counted

cdef inline void subtract_pair(
    GradientPair* sums, const GradientPair* other
) noexcept nogil:
    # The samples of ``other`` are some of ``sums``: no borrow from the hessian.
    sums.gradient -= other.gradient
    sums.counted -= other.counted

cdef inline double step_of_leaf(
    double gradient, double hessian, double l2
) noexcept nogil:
    # The Newton step that minimises gradient * v + (hessian + l2) * v^2 / 2.
    return -gradient / (hessian + l2) if hessian + l2 > 0.0 else 0.0

cdef inline double decrease_of(
    double gradient, double hessian, double l2
) noexcept nogil:
    # By how much that step decreases it, twice.
    return gradient * gradient / (hessian + l2) if hessian + l2 > 0.0 else 0.0

cdef inline double decrease_by(
    double step, double gradient, double hessian, double l2
) noexcept nogil:
    # By how much another step does.
    return -(2.0 * gradient + (hessian + l2) * step) * step
