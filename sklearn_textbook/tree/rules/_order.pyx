# cython: language_level=3
"""Which rules of a list take which rows; :mod:`order` has the documents."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from sklearn_textbook.tree.rules._cover cimport take_first, weigh


def weigh_wrong(
    const uint64_t[:, ::1] covered,
    const uint64_t[::1] left,
    const int64_t[::1] class_start,
    const double[::1] weight,
    double common_weight,
    double[::1] wrong,
):
    """Weight of the rows left that the rules of each class cover, other classes'."""
    cdef int64_t number, w
    cdef uint64_t bits
    with nogil:
        for number in range(covered.shape[0]):
            wrong[number] = 0.0
            for w in range(left.shape[0]):
                bits = covered[number, w] & left[w]
                if bits and not class_start[number] <= w < class_start[number + 1]:
                    wrong[number] += weigh(bits, &weight[64 * w], common_weight)


def find_first_two(
    const int64_t[::1] order,
    const int64_t[::1] start,
    const int32_t[::1] word,
    const uint64_t[::1] bits,
    uint64_t[::1] taken_once,
    uint64_t[::1] taken_twice,
    int32_t[::1] first,
    int32_t[::1] second,
):
    """Places in the list of the first and second rule that cover each slot.

    ``taken_once`` and ``taken_twice`` come as zeros, ``first`` and ``second`` as -1.
    """
    cdef int64_t place, i, w
    cdef uint64_t once, twice
    with nogil:
        for place in range(order.shape[0]):
            for i in range(start[order[place]], start[order[place] + 1]):
                w = word[i]
                once = bits[i] & ~taken_once[w]
                twice = bits[i] & taken_once[w] & ~taken_twice[w]
                taken_once[w] |= once
                taken_twice[w] |= twice
                mark(once, 64 * w, <int32_t> place, first)
                mark(twice, 64 * w, <int32_t> place, second)


cdef inline void mark(
    uint64_t bits, int64_t slot, int32_t place, int32_t[::1] places
) noexcept nogil:
    cdef int64_t bit
    while bits:
        take_first(&bits, &bit)
        places[slot + bit] = place
