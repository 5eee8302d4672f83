# On how many rows two members of an ensemble differ, for all pairs of members.
#
# Codes of predictions are given as bits: a plane for each binary digit of a code, and
# in it a bit for each row. Two codes differ if they do so in any plane.

from libc.stdint cimport uint8_t, uint64_t

from sklearn_textbook._contract._threads cimport run_in_threads

cdef enum:
    BLOCK_WORDS = 16  # at most 31, so that sums of eight rows of each fit into a byte
    TASK_MEMBERS = 8
    PATTERNS = 256


cdef struct Comparison:
    const uint64_t* bits
    int64_t n_blocks
    int64_t n_members
    int64_t n_planes
    int64_t n_words  # of a block; compilers unroll known numbers in place of SIMD
    const double* weight  # of every row, 0 beyond the last one; NULL: all alike
    double* sums  # of every pair


cdef inline void mark_differences(
    const uint64_t* first, const uint64_t* second, int64_t n_planes, int64_t n_words,
    uint64_t* marks
) noexcept nogil:
    cdef int64_t plane, i
    for i in range(n_words):
        marks[i] = first[i] ^ second[i]
    for plane in range(1, n_planes):
        first += n_words
        second += n_words
        for i in range(n_words):
            marks[i] |= first[i] ^ second[i]


cdef inline uint64_t count_marks(
    const uint64_t* marks, int64_t n_words
) noexcept nogil:
    """Count the bits of a block: of pairs of bits, of four, of bytes, of all words."""
    cdef:
        int64_t i
        uint64_t word, total = 0
    for i in range(n_words):
        word = marks[i]
        word -= (word >> 1) & <uint64_t> 0x5555555555555555
        word = (word & <uint64_t> 0x3333333333333333) + (
            (word >> 2) & <uint64_t> 0x3333333333333333
        )
        total += (word + (word >> 4)) & <uint64_t> 0x0F0F0F0F0F0F0F0F
    total = (total & <uint64_t> 0x00FF00FF00FF00FF) + (
        (total >> 8) & <uint64_t> 0x00FF00FF00FF00FF
    )
    return (total * <uint64_t> 0x0001000100010001) >> 48


cdef void add_up_patterns(const double* weight, double* sums) noexcept nogil:
    """Sum the weights of every subset of eight rows."""
    cdef int64_t row, pattern
    sums[0] = 0.0
    for row in range(8):
        for pattern in range(1 << row):
            sums[pattern + (1 << row)] = sums[pattern] + weight[row]


cdef inline double weigh_marks(const uint8_t* marks, const double* sums) noexcept nogil:
    cdef:
        int64_t i
        double total = 0.0
    for i in range(8):
        total += sums[i * PATTERNS + marks[i]]
    return total


cdef void compare_block(
    const Comparison* work, int64_t block, int64_t start, int64_t stop
) noexcept nogil:
    """Compare some members with those that follow them, on the rows of a block."""
    cdef:
        int64_t n_words = work.n_words, stride = work.n_planes * n_words
        int64_t n_members = work.n_members
        const uint64_t* bits = work.bits + block * n_members * stride
        const double* weight
        uint64_t[BLOCK_WORDS] marks
        double[8 * PATTERNS] patterns
        int64_t first, second, word, i
    if work.weight == NULL:
        for first in range(start, stop):
            for second in range(first + 1, n_members):
                mark_differences(
                    bits + first * stride,
                    bits + second * stride,
                    work.n_planes,
                    n_words,
                    marks,
                )
                work.sums[first * n_members + second] += <double> count_marks(
                    marks, n_words
                )
        return
    weight = work.weight + block * n_words * 64
    for word in range(n_words):
        for i in range(8):
            add_up_patterns(weight + (word * 8 + i) * 8, patterns + i * PATTERNS)
        for first in range(start, stop):
            for second in range(first + 1, n_members):
                marks[0] = 0
                for i in range(work.n_planes):
                    marks[0] |= (
                        bits[first * stride + i * n_words + word]
                        ^ bits[second * stride + i * n_words + word]
                    )
                work.sums[first * n_members + second] += weigh_marks(
                    <const uint8_t*> marks, patterns
                )


cdef void compare_members(void* context, int64_t task, int thread) noexcept nogil:
    cdef:
        const Comparison* work = <const Comparison*> context
        int64_t start = task * TASK_MEMBERS, block
        int64_t stop = min(start + TASK_MEMBERS, work.n_members)
    for block in range(work.n_blocks):
        compare_block(work, block, start, stop)


def sum_disagreements(
    const uint64_t[:, :, :, ::1] bits, const double[::1] weight, int n_threads
):
    """Sum the weights of the rows on which two members differ.

    Parameters
    ----------
    bits : memoryview of uint64, shape (n_blocks, n_members, n_planes, 16)
        Bits of the codes; in memory, rows follow each other from the lowest bit of each
        byte on, and beyond the last row bits are 0.
    weight : memoryview of float64, shape (n_blocks * 1024,), or None
        Weights of the rows; None: each counts 1.
    n_threads : int
        Number of threads.

    Returns
    -------
    sums : ndarray of float64, shape (n_members, n_members)
        Symmetric, and the same for every number of threads.
    """
    cdef:
        Comparison work
        double[:, ::1] sums = np.zeros((bits.shape[1], bits.shape[1]))
    work.bits, work.n_blocks = &bits[0, 0, 0, 0], bits.shape[0]
    work.n_members, work.n_planes = bits.shape[1], bits.shape[2]
    work.n_words = bits.shape[3]
    work.weight = NULL
    if weight is not None:
        work.weight = &weight[0]
    work.sums = &sums[0, 0]
    run_in_threads(
        n_threads,
        compare_members,
        &work,
        (work.n_members + TASK_MEMBERS - 1) // TASK_MEMBERS,
    )
    return sums.base + sums.base.T
