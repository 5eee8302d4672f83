"""How often a bootstrap sample has each row, without a list of the rows.

NumPy's ``RandomState(seed).randint(0, n_rows, n_drawn)`` draws each row in turn, and
guesses each time whether a random number is small enough. Its generator is the Mersenne
Twister (M. Matsumoto, T. Nishimura, 1998), and never changes; here it fills a block at
a time, and numbers that are too large are counted in a place that is not read.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t


cdef enum:
    STATE_WORDS = 624
    MIDDLE = 397
    UPPER_BIT = 0x80000000
    LOWER_BITS = 0x7FFFFFFF


cdef void start_state(uint32_t seed, uint32_t* state) noexcept nogil:
    cdef uint32_t i
    state[0] = seed
    for i in range(1, STATE_WORDS):
        state[i] = <uint32_t>1812433253 * (state[i - 1] ^ (state[i - 1] >> 30)) + i


cdef inline uint32_t twist(uint32_t first, uint32_t second) noexcept nogil:
    cdef uint32_t joined = (first & <uint32_t>UPPER_BIT) | (second & LOWER_BITS)
    return (joined >> 1) ^ (-(joined & 1) & <uint32_t>0x9908B0DF)


cdef void renew_state(uint32_t* state) noexcept nogil:
    cdef int64_t i
    for i in range(STATE_WORDS - MIDDLE):
        state[i] = state[i + MIDDLE] ^ twist(state[i], state[i + 1])
    for i in range(STATE_WORDS - MIDDLE, STATE_WORDS - 1):
        state[i] = state[i + MIDDLE - STATE_WORDS] ^ twist(state[i], state[i + 1])
    state[STATE_WORDS - 1] = state[MIDDLE - 1] ^ twist(state[STATE_WORDS - 1], state[0])


cdef void draw_words(
    const uint32_t* state, uint32_t mask, uint32_t* words
) noexcept nogil:
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


include "diversity/_disagreements.pxi"
