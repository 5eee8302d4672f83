# Tests on values, and arithmetic on rows packed 64 to a word: header-only.
# TEST_DTYPE in collect_paths.py is the numpy side of the struct.

from libc.stdint cimport int32_t, int64_t, uint64_t

from sklearn_textbook.tree.grow._layout cimport NUMERIC, ORDINAL, find_level_child


# The test of one branch of a tree.
cdef struct Test:
    # numeric and ordinal tests
    double threshold
    # nominal tests: where the level map starts
    int64_t map_start
    # column of the table
    int32_t column
    # NUMERIC, ORDINAL or NOMINAL
    int32_t kind
    # the child that the branch leads to
    int32_t branch


cdef inline bint meets(
    const Test* test, const int32_t* level_branch, double value
) noexcept nogil:
    """Whether a value meets a test; missing values and unseen levels meet none."""
    if test.kind != NUMERIC and not value >= 0.0:
        return False
    if test.kind == NUMERIC or test.kind == ORDINAL:
        return value <= test.threshold if test.branch == 0 else value > test.threshold
    return find_level_child(
        level_branch + test.map_start, <int64_t> value
    ) == test.branch


cdef inline int64_t count_bits(uint64_t bits) noexcept nogil:
    """Number of ones: sums of 2, 4 and 8 bits side by side, then of all bytes."""
    bits -= (bits >> 1) & 0x5555555555555555ULL
    bits = (bits & 0x3333333333333333ULL) + ((bits >> 2) & 0x3333333333333333ULL)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0FULL
    return <int64_t> ((bits * 0x0101010101010101ULL) >> 56)


cdef inline uint64_t take_first(uint64_t* bits, int64_t* place) noexcept nogil:
    """Remove the lowest set bit of a nonzero word; return it and its position."""
    cdef uint64_t first = bits[0] & (~bits[0] + 1)
    place[0] = count_bits(first - 1)
    bits[0] ^= first
    return first


cdef inline double weigh(
    uint64_t bits, const double* weight, double common
) noexcept nogil:
    """Weight of the rows of a word; ``common`` is that of every row, or 0.

    Weights are whole multiples of a power of two, so that sums are exact."""
    cdef double total = 0.0
    cdef int64_t place
    if common > 0.0:
        return common * <double> count_bits(bits)
    while bits:
        take_first(&bits, &place)
        total += weight[place]
    return total
