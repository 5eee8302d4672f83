# What is summed up of samples, by criterion: one type each, over which the histogram
# search is specialised at compile time.

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define PREFETCH(address) __builtin_prefetch(address)
    #else
    #define PREFETCH(address) ((void)(address))
    #endif
    """
    void PREFETCH(const void*) noexcept nogil

cdef enum:
    COUNT_BITS = 21
    COUNT_MASK = 0x1FFFFF
    NUMBER_BITS = 43  # below the number of a sample in an entry of two classes
    MAX_BINS = 256  # the number of a bin fits into a byte
    MAX_VALUE_BINS = 240  # of columns that have missing values, too
    BIN_GAP = 16  # bins that may be joined without that of missing values
    TILE_COLUMNS = 4  # columns that are counted in one pass
    FETCH_AHEAD = 16  # samples that are prefetched
    FEW_SAMPLES = 64  # nodes up to this size are sorted

# Two classes with whole weights: samples, weight and weight of the second class in 21
# bits each, so that one addition counts a sample.
cdef struct BinaryCounts:
    uint64_t counts

# Values, or two classes with any weights (the second class has the value 1).
cdef struct Moments:
    double first  # sum of weight * (y - centre)
    double weight
    double spread  # what bounds the scores inside of a bin; see _histogram_pairs
    double n_samples

# Several classes: the weight of one of them.
cdef struct ClassCounts:
    uint32_t weight

cdef struct ClassWeights:
    double weight

ctypedef fused PairSums:
    BinaryCounts
    Moments

ctypedef fused ClassSums:
    ClassCounts
    ClassWeights

ctypedef fused Sums:
    BinaryCounts
    Moments
    ClassCounts
    ClassWeights

# An entry of the list of samples holds the number of a sample and what is counted of
# it. Two classes with whole weights: the number (21 bits) above the counts. All others:
# weight (16 bits, 1 for float weights), class (16), number (32).
# The second argument of these, ``kind``, is a NULL pointer whose type selects the
# layout when the function is compiled. Sums of packed counts do not run into each
# other, as the weights of all samples add up to less than 2^21 (``choose_sums`` in
# plan.py).

cdef inline int64_t number_of(const Sums* kind, uint64_t entry) noexcept nogil:
    # The row in the table, or in the copy of a subtree.
    if Sums is BinaryCounts:
        return <int64_t>(entry >> NUMBER_BITS)
    else:
        return <int64_t><uint32_t>entry

cdef inline uint64_t renumber(
    const Sums* kind, uint64_t entry, int64_t number
) noexcept nogil:
    # The same entry with another number; what is counted stays.
    if Sums is BinaryCounts:
        return <uint64_t>number << NUMBER_BITS | counts_of(entry)
    else:
        return entry & <uint64_t>0xFFFFFFFF00000000 | <uint64_t>number

cdef inline uint64_t make_counted(
    int64_t number, int64_t weight, int64_t ones
) noexcept nogil:
    # An entry of two classes, one sample; ``ones`` is its weight in the second class.
    return (
        <uint64_t>number << NUMBER_BITS
        | <uint64_t>1 << (2 * COUNT_BITS)
        | <uint64_t>weight << COUNT_BITS
        | <uint64_t>ones
    )

# An entry of the other kinds.
cdef inline uint64_t make_listed(
    int64_t number, int64_t weight, int64_t code
) noexcept nogil:
    return <uint64_t>weight << 48 | <uint64_t>code << 32 | <uint64_t>number

# Parts of an entry of two classes, or of a sum of their counts.
cdef inline uint64_t counts_of(uint64_t entry) noexcept nogil:
    return entry & ((<uint64_t>1 << NUMBER_BITS) - 1)

cdef inline int64_t samples_in(uint64_t counts) noexcept nogil:
    return <int64_t>(counts >> (2 * COUNT_BITS))

cdef inline int64_t weight_in(uint64_t counts) noexcept nogil:
    return <int64_t>((counts >> COUNT_BITS) & COUNT_MASK)

cdef inline int64_t ones_in(uint64_t counts) noexcept nogil:
    return <int64_t>(counts & COUNT_MASK)

# Parts of an entry of the other kinds.
cdef inline int64_t class_of(uint64_t entry) noexcept nogil:
    return <int64_t>((entry >> 32) & 0xFFFF)

cdef inline int64_t whole_weight_of(uint64_t entry) noexcept nogil:
    return <int64_t>(entry >> 48)
