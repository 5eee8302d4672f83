# Random numbers that depend on a node's place in the tree alone, so that a tree
# does not depend on the order in which threads reach its nodes.

from libc.stdint cimport int32_t, int64_t, uint64_t

cdef inline uint64_t next_random(uint64_t* state) noexcept nogil:
    # One step of a 64-bit Weyl sequence, mixed by xor-shifts and multiplications.
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)

cdef inline uint64_t child_state(uint64_t state, int64_t child) noexcept nogil:
    # The seed of a child, or of whatever else of a node has a number: as children have
    # numbers from 0 on, columns take ~column. A factor of its own keeps the seeds of
    # neighbours apart.
    cdef uint64_t mixed = state ^ (<uint64_t>(child + 1) * <uint64_t>0xD1342543DE82EF95)
    return next_random(&mixed)

cdef inline int64_t random_below(uint64_t* state, int64_t n) noexcept nogil:
    # From 0 to n - 1. The bias of the remainder is at most n / 2^64.
    return <int64_t>(next_random(state) % <uint64_t>n)

cdef extern from *:
    """
    #if defined(__SIZEOF_INT128__)
    #define HIGH_PRODUCT(a, b) ((uint64_t)(((unsigned __int128)(a) * (b)) >> 64))
    #else
    static uint64_t HIGH_PRODUCT(uint64_t a, uint64_t b) {
        uint64_t low = (uint32_t)a, high = a >> 32, half = (uint32_t)b, rest = b >> 32;
        uint64_t middle = high * half + (low * half >> 32);
        uint64_t other = low * rest + (uint32_t)middle;
        return high * rest + (middle >> 32) + (other >> 32);
    }
    #endif
    """
    uint64_t HIGH_PRODUCT(uint64_t a, uint64_t b) noexcept nogil

cdef inline uint64_t reciprocal_of(int64_t n) noexcept nogil:
    # For ``random_below_known``; tabulated where many numbers are drawn.
    return <uint64_t>0xFFFFFFFFFFFFFFFF // <uint64_t>n

cdef inline int64_t random_below_known(
    uint64_t* state, int64_t n, uint64_t reciprocal
) noexcept nogil:
    # The same as random_below without its division: the quotient is one too small at
    # most.
    cdef:
        uint64_t x = next_random(state)
        uint64_t rest = x - HIGH_PRODUCT(x, reciprocal) * <uint64_t>n
    return <int64_t>(rest - <uint64_t>n if rest >= <uint64_t>n else rest)

cdef inline int64_t draw_place(uint64_t state, int64_t n) noexcept nogil:
    # Which of the n best tests of a node to take; 2 ** 40 is the number of no child
    # and of no column, whose draws begin like this.
    cdef uint64_t own = child_state(state, <int64_t>1 << 40)
    return random_below(&own, n)

cdef inline double random_unit(uint64_t* state) noexcept nogil:
    # A multiple of 2^-53 in [0, 1).
    return <double>(next_random(state) >> 11) * (1.0 / 9007199254740992.0)

cdef inline double sample_threshold(
    uint64_t* state, double smallest, double largest
) noexcept nogil:
    # Evenly between two values, of which the larger one is above.
    cdef double threshold = smallest + random_unit(state) * (largest - smallest)
    return smallest + 0.0 if threshold >= largest else threshold  # not -0

cdef inline void sample_sides(
    bint is_single, int64_t n, uint64_t* state, int32_t* is_left
) noexcept nogil:
    # Divide n levels at random: one against the others, or each level by itself. At
    # least one level is on each side.
    cdef int64_t i, n_left = 0
    for i in range(n):
        is_left[i] = not is_single and next_random(state) >> 63
        n_left += is_left[i]
    if n_left == 0 or n_left == n:
        i = random_below(state, n)
        is_left[i] = not is_left[i]
