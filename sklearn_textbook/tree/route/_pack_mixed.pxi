# A tree in the form of _mixed_walk.pxd.

MIXED_NODE_DTYPE = np.dtype(
    [
        ("operand", np.uint64),
        ("mask", np.uint16),
        ("bound", np.uint16),
        ("first_child", np.int32),
    ]
)
LACKED_LEVELS_DTYPE = np.dtype(
    [
        ("levels", np.uint64),
        ("word", np.int32),
        ("node", np.int32),
        ("end", np.int32),
        ("before", np.int32),
        ("other", np.int32),
    ],
    align=True,
)
MAX_LEVELS = MAX_LEVEL_BITS
# Places of words are numbers of 16 bits.
MAX_WORDS = 0xffff


def place_words(n_levels):
    """Where the words of the columns begin, and their bits among those of levels; and
    how many words there are, and words of levels."""
    is_number = (n_levels == 0) | (n_levels > MAX_LEVELS)
    n_words = np.where(is_number, 2, 1)
    place = N_CONSTANT_WORDS + np.cumsum(n_words) - n_words
    first_bit, end = np.zeros(len(n_levels), dtype=np.int64), 0
    for column in np.flatnonzero(n_levels).tolist():
        n_bits = 1 if is_number[column] else int(n_levels[column]) + 1
        if end % 64 + n_bits > 64:
            end += 64 - end % 64
        first_bit[column] = end
        end += n_bits
    return place, first_bit, N_CONSTANT_WORDS + int(n_words.sum()), (end + 63) // 64


cdef void read_level_sets(
    const int32_t* level_map, int64_t n_levels, uint64_t* known, uint64_t* second
) noexcept nogil:
    """The levels of a map as bits: all, and those of the second child."""
    cdef int64_t i, n_pairs = level_map[0], code
    cdef const int32_t* children = level_map + 1
    cdef int64_t n_entries = n_levels
    if n_pairs != DENSE_MAP:
        children += n_pairs
        n_entries = n_pairs
    for i in range(n_entries):
        code = i if n_pairs == DENSE_MAP else level_map[1 + i]
        if children[i] >= 0:
            known[0] |= <uint64_t> 1 << code
        if children[i] == 1:
            second[0] |= <uint64_t> 1 << code


def pack_mixed(
    const int32_t[::1] n_children, const int32_t[::1] feature,
    const int32_t[::1] missing_branch, const int32_t[::1] kind,
    const double[::1] threshold, const int64_t[::1] map_start,
    const int32_t[::1] level_branch, const int64_t[::1] n_levels,
    const int64_t[::1] place, const int64_t[::1] first_bit, const int32_t[::1] ends,
    MixedNode[::1] nodes, LackedLevels[::1] lacked,
):
    """Write the nodes, and the levels that tests lack, of which there are as many as
    tests of levels and one more, which has none.

    All children stand in pairs, in the order of their parents.
    """
    cdef Py_ssize_t node
    cdef int32_t child = 1, number, n_lacked = 1, column
    cdef int64_t code, n
    cdef uint64_t known, second, absent
    cdef MixedNode* packed
    cdef LackedLevels* new
    # What tests on the way to each node lack, by number.
    cdef int32_t[::1] lacked_at = np.zeros(n_children.shape[0], dtype=np.int32)
    for node in range(n_children.shape[0]):
        packed = &nodes[node]
        number = lacked_at[node]
        if n_children[node] == 0:
            packed.operand = (<uint64_t> ends[node] << 32) | <uint32_t> number
            packed.mask = 0
            packed.bound = 2  # the word 0
            packed.first_child = <int32_t> node
            continue
        column = feature[node]
        n = n_levels[column]
        # The levels that this test lacks, the first of the column as the first bit.
        absent = n > 0
        if 0 < n <= MAX_LEVEL_BITS:
            known = second = 0
            if kind[node] == NOMINAL:
                read_level_sets(
                    &level_branch[map_start[node]], n, &known, &second
                )
            else:
                known = (<uint64_t> 1 << n) - 1
                for code in range(n):
                    if code > threshold[node]:
                        second |= <uint64_t> 1 << code
            absent = (~known) & (~(<uint64_t> 0) >> (MAX_LEVEL_BITS - n))
            second |= <uint64_t> missing_branch[node] << MAX_LEVEL_BITS
            packed.operand = ~second
            packed.mask = <uint16_t> place[column]
            packed.bound = 1
        else:
            packed.operand = order_number(threshold[node])
            packed.mask = 0
            packed.bound = <uint16_t> (place[column] + missing_branch[node])
        if absent != 0:
            absent <<= first_bit[column] & 63
            new = &lacked[n_lacked]
            new.levels = absent
            new.word = <int32_t> (first_bit[column] >> 6)
            new.node = <int32_t> node
            new.end = ends[node]
            new.before = new.other = number
            if number != 0 and lacked[number].word == new.word:
                absent &= ~lacked[number].levels
                new.levels |= lacked[number].levels
                new.other = lacked[number].other
            if absent != 0:  # more than the tests before it lack
                number = n_lacked
                n_lacked += 1
        packed.first_child = child
        lacked_at[child] = lacked_at[child + 1] = number
        child += 2
