# A growing set of weighted values with its median and its absolute error:
# header-only.
#
# Values are known by their rank among all that may be added. The ranks in the set are
# marked in a bit set of several levels, where each bit of a level says whether a word
# of the level below is not zero, so that the rank next to another takes a few
# operations. The median moves to a neighbour when values are added on one side of it:
# O(1) for each value, if weights do not differ by orders of magnitude.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int lowest_bit(uint64_t word)
    {
        unsigned long place;
        _BitScanForward64(&place, word);
        return (int)place;
    }
    static __inline int highest_bit(uint64_t word)
    {
        unsigned long place;
        _BitScanReverse64(&place, word);
        return (int)place;
    }
    #else
    #define lowest_bit(word) __builtin_ctzll(word)
    #define highest_bit(word) (63 - __builtin_clzll(word))
    #endif
    """
    int lowest_bit(uint64_t word) nogil
    int highest_bit(uint64_t word) nogil

cdef enum:
    MAX_MARK_LEVELS = 6  # for 2^36 ranks

cdef struct MedianSet:
    const double* values  # by rank, ascending
    # Moments about the middle value lose less to cancellation.
    double centre
    # by rank, where marked
    double* weight
    double* moment
    int64_t n_levels
    (uint64_t*)[MAX_MARK_LEVELS] marks
    double total
    double total_moment
    # the median is at this rank or between it and the next; -1: the set is empty
    int64_t rank
    double below
    double below_moment


cdef inline int64_t count_mark_levels(int64_t n_ranks) noexcept nogil:
    """Levels of the bit set; the highest one is a single word."""
    cdef int64_t n_levels = 1
    while n_ranks > 64:
        n_ranks = (n_ranks + 63) // 64
        n_levels += 1
    return n_levels


cdef inline void clear_medians(
    MedianSet* known, const double* values, int64_t n_ranks
) noexcept nogil:
    """Remove all values, and set those that may be added."""
    cdef int64_t level, n = n_ranks
    known.values = values
    known.centre = values[n_ranks // 2]
    known.n_levels = count_mark_levels(n_ranks)
    for level in range(known.n_levels):
        n = (n + 63) // 64
        memset(known.marks[level], 0, n * sizeof(uint64_t))
    known.total = known.total_moment = known.below = known.below_moment = 0.0
    known.rank = -1


cdef inline void add_value(
    MedianSet* known, int64_t rank, double weight
) noexcept nogil:
    """Add weight to a rank. The median moves in ``measure_loss`` only."""
    cdef:
        double moment = weight * (known.values[rank] - known.centre)
        int64_t level, place = rank
        uint64_t word
    if weight <= 0.0:
        return
    known.total += weight
    known.total_moment += moment
    if known.marks[0][rank >> 6] >> (rank & 63) & 1:
        known.weight[rank] += weight
        known.moment[rank] += moment
    else:
        known.weight[rank] = weight
        known.moment[rank] = moment
        # A word that was not zero is marked in the level above already.
        for level in range(known.n_levels):
            word = known.marks[level][place >> 6]
            known.marks[level][place >> 6] = word | (<uint64_t>1 << (place & 63))
            if word != 0:
                break
            place >>= 6
    # ``below`` and ``below_moment`` are those of the ranks below known.rank.
    if known.rank < 0:
        known.rank = rank
    elif rank < known.rank:
        known.below += weight
        known.below_moment += moment


cdef inline int64_t find_next(const MedianSet* known, int64_t rank) noexcept nogil:
    """The next higher rank in the set; -1: there is none."""
    cdef:
        int64_t level = 0
        uint64_t word
    # Up to a word that has a higher bit, then down along the lowest bits.
    while level < known.n_levels:
        # Two shifts, since one by 64 is not defined.
        word = known.marks[level][rank >> 6] >> (rank & 63) >> 1
        if word != 0:
            rank += 1 + lowest_bit(word)
            while level > 0:
                level -= 1
                rank = (rank << 6) + lowest_bit(known.marks[level][rank])
            return rank
        rank >>= 6
        level += 1
    return -1


cdef inline int64_t find_previous(const MedianSet* known, int64_t rank) noexcept nogil:
    """The next lower rank in the set; -1: there is none."""
    cdef:
        int64_t level = 0
        uint64_t word
    while level < known.n_levels:
        word = known.marks[level][rank >> 6]
        word &= (<uint64_t>1 << (rank & 63)) - 1
        if word != 0:
            rank = (rank & ~(<int64_t>63)) + highest_bit(word)
            while level > 0:
                level -= 1
                rank = (rank << 6) + highest_bit(known.marks[level][rank])
            return rank
        rank >>= 6
        level += 1
    return -1


cdef inline double measure_loss(MedianSet* known, double* median) noexcept nogil:
    """Weighted sum of |y - median| of the set, and its median: the first value whose
    cumulated weight exceeds half, or the mean of two where it is half but for rounding.
    """
    cdef:
        double slack = 1e-12 * known.total
        double half = 0.5 * known.total - slack
        double middle
        int64_t rank = known.rank, other
    if rank < 0:
        median[0] = known.values[0]
        return 0.0
    # Down as long as half of the weight is below the rank, ...
    while known.below >= half:
        other = find_previous(known, rank)
        if other < 0:
            known.below = known.below_moment = 0.0
            break
        rank = other
        known.below -= known.weight[rank]
        known.below_moment -= known.moment[rank]
    # ... and up as long as less than half is up to it.
    while known.below + known.weight[rank] < half:
        other = find_next(known, rank)
        if other < 0:
            break
        known.below += known.weight[rank]
        known.below_moment += known.moment[rank]
        rank = other
    known.rank = rank
    median[0] = known.values[rank]
    if known.below + known.weight[rank] <= half + 2.0 * slack:
        other = find_next(known, rank)
        if other >= 0:
            median[0] = known.values[rank] / 2 + known.values[other] / 2
    middle = known.values[rank] - known.centre
    # Values below the median, and the rest; the median itself adds nothing.
    return (middle * known.below - known.below_moment) + (
        (known.total_moment - known.below_moment)
        - middle * (known.total - known.below)
    )
