"""How often a bootstrap sample has each row, without a list of the rows.

NumPy's ``RandomState(seed).randint(0, n_rows, n_drawn)`` draws each row in turn, and
guesses each time whether a random number is small enough. Its generator is the Mersenne
Twister (M. Matsumoto, T. Nishimura, 1998), and never changes; here it fills a block at
a time, and numbers that are too large are counted in a place that is not read.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_textbook._contract._threads cimport run_in_threads


# The Mersenne Twister MT19937: a recurrence on 624 words of 32 bits,
#
# x[i + 624] = x[i + 397] ^ twist(x[i], x[i + 1]).
#
# renew_state computes 624 of them in place, draw_words tempers them to random numbers.
cdef enum:
    STATE_WORDS = 624
    MIDDLE = 397
    UPPER_BIT = 0x80000000
    LOWER_BITS = 0x7FFFFFFF


cdef void start_state(uint32_t seed, uint32_t* state) noexcept nogil:
    """Fill the state from a seed, as NumPy's ``RandomState(seed)`` does."""
    cdef uint32_t i
    state[0] = seed
    for i in range(1, STATE_WORDS):
        state[i] = <uint32_t>1812433253 * (state[i - 1] ^ (state[i - 1] >> 30)) + i


cdef inline uint32_t twist(uint32_t first, uint32_t second) noexcept nogil:
    """The upper bit of one word joined with the lower bits of the next, times the
    matrix of the recurrence: a shift, and the constant if the lowest bit was set."""
    cdef uint32_t joined = (first & <uint32_t>UPPER_BIT) | (second & LOWER_BITS)
    return (joined >> 1) ^ (-(joined & 1) & <uint32_t>0x9908B0DF)


cdef void renew_state(uint32_t* state) noexcept nogil:
    """Replace the 624 words by the next 624.

    In two loops, so that no index need be taken modulo 624; the last word is followed
    by the first of the new ones.
    """
    cdef int64_t i
    for i in range(STATE_WORDS - MIDDLE):
        state[i] = state[i + MIDDLE] ^ twist(state[i], state[i + 1])
    for i in range(STATE_WORDS - MIDDLE, STATE_WORDS - 1):
        state[i] = state[i + MIDDLE - STATE_WORDS] ^ twist(state[i], state[i + 1])
    state[STATE_WORDS - 1] = state[MIDDLE - 1] ^ twist(state[STATE_WORDS - 1], state[0])


cdef void draw_words(
    const uint32_t* state, uint32_t mask, uint32_t* words
) noexcept nogil:
    """Temper the words of the state to random numbers, and keep the bits of
    ``mask``."""
    cdef:
        int64_t i
        uint32_t word
    for i in range(STATE_WORDS):
        word = state[i]
        word ^= word >> 11
        word ^= (word << 7) & <uint32_t>0x9D2C5680
        word ^= (word << 15) & <uint32_t>0xEFC60000
        words[i] = (word ^ (word >> 18)) & mask


cdef void count_words(
    uint32_t seed, uint32_t n_rows, int64_t n_drawn, uint32_t mask, int32_t* counts
) noexcept nogil:
    """Count the rows drawn with a seed.

    ``counts`` has an entry for every number up to ``mask``, the smallest 2^k - 1 that
    is at least n_rows - 1. NumPy rejects numbers from n_rows on; here they are counted
    behind the rows, which needs no branch, and only rows count as drawn.
    """
    cdef:
        uint32_t[STATE_WORDS] state, words
        int64_t i, n_found = 0
    start_state(seed, state)
    while n_found < n_drawn:
        renew_state(state)
        draw_words(state, mask, words)
        for i in range(STATE_WORDS):
            if n_found == n_drawn:
                break
            counts[words[i]] += 1
            n_found += words[i] < n_rows


def count_seeded_draws(uint32_t seed, uint32_t n_rows, int64_t n_drawn):
    """Count how often each row is drawn, all rows alike and with replacement.

    Parameters
    ----------
    seed : int
        From 0 to 2**32 - 1.
    n_rows : int
        Number of rows, at least 2 and at most 2**31.
    n_drawn : int
        Number of draws, less than 2**31.

    Returns
    -------
    counts : ndarray of int32, shape (n_rows,)
        Those of ``RandomState(seed).randint(0, n_rows, n_drawn)``.
    """
    cdef:
        uint32_t mask = (1 << int(n_rows - 1).bit_length()) - 1
        int32_t[::1] view
    counts = np.zeros(<int64_t>mask + 1, dtype=np.int32)
    view = counts
    with nogil:
        count_words(seed, n_rows, n_drawn, mask, &view[0])
    return counts[:n_rows]


cdef void count_positions(
    const double* cumulated, int64_t n_rows, const double* uniform, int64_t n_drawn,
    int32_t* first, int32_t* counts
) noexcept nogil:
    """Count in which interval of a distribution each number falls. ``first`` is room
    for the first interval that may hold numbers from i / n_rows on."""
    cdef:
        int64_t i, row = 0
        double scale = <double>n_rows
    for i in range(n_rows):
        # Intervals of equal width in [0, 1): a number starts its search where its own
        # begins.
        while row < n_rows - 1 and cumulated[row] * scale < <double>i:
            row += 1
        first[i] = <int32_t>row
    for i in range(n_drawn):
        row = first[<int64_t>(uniform[i] * scale)]
        # Rounding may have put the guess one interval too far.
        while row > 0 and cumulated[row - 1] > uniform[i]:
            row -= 1
        while cumulated[row] <= uniform[i]:
            row += 1
        counts[row] += 1


def count_weighted_draws(const double[::1] cumulated, const double[::1] uniform):
    """Count how often each row is drawn in proportion to its weight.

    Parameters
    ----------
    cumulated : memoryview of float64, shape (n_rows,)
        Cumulated relative weights, the last one 1.
    uniform : memoryview of float64, shape (n_drawn,)
        Random numbers from 0 to 1, without 1.

    Returns
    -------
    counts : ndarray of int32, shape (n_rows,)
        Those of ``cumulated.searchsorted(uniform, side="right")``.
    """
    cdef:
        int64_t n_rows = cumulated.shape[0], n_drawn = uniform.shape[0]
        int32_t[::1] counts = np.zeros(n_rows, dtype=np.int32)
        int32_t[::1] first = np.empty(n_rows, dtype=np.int32)
    if n_drawn > 0:
        with nogil:
            count_positions(
                &cumulated[0], n_rows, &uniform[0], n_drawn, &first[0], &counts[0]
            )
    return counts.base


# ------------------------------------------------------------------------------------
# On how many rows two members of an ensemble differ, for all pairs of members.
#
# Codes of predictions are given as bits: a plane for each binary digit of a code, and
# in it a bit for each row. Two codes differ if they do so in any plane.
# ------------------------------------------------------------------------------------


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
    """Mark the rows of a block on which two members differ: in any plane.

    marks: written, a bit for each row.
    """
    cdef int64_t _plane, i
    for i in range(n_words):
        marks[i] = first[i] ^ second[i]
    for _plane in range(1, n_planes):
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
        # Sums of bytes side by side: at most 8 per word, so that BLOCK_WORDS words fit.
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
            # A subset with this row is one of the rows before, and this row.
            sums[pattern + (1 << row)] = sums[pattern] + weight[row]


cdef inline double weigh_marks(const uint8_t* marks, const double* sums) noexcept nogil:
    """Weight of the marked rows of a word: for each byte, the sum of its pattern.

    sums: of each of the 8 bytes, the weights of all 256 subsets of its rows.
    """
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
        # 256 sums for each byte, which all pairs of the task look up.
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
    """Compare TASK_MEMBERS members with all that follow them.

    A task has the sums of its pairs to itself, and adds the blocks in their order.
    """
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
