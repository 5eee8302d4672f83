# Tests of numbers and of levels by one comparison: header-only, used by _block_walk.pxd
# and _collect.pxd for trees over tables with nominal or ordinal columns.
#
# The rows of a block are written once, for all trees, as 64-bit words:
#
#     three constants    all bits set, 1, and 0
#     numeric columns    the value as an integer, twice; a missing one goes to the first
#                        child by the one word and to the second by the other
#     columns of levels  the bit of the row's level, or the highest bit if it is missing
#
# A node names two words, a mask and a bound, and sends a row to its second child if
#
#     operand & mask < bound.
#
# In a numeric test, the mask is all bits and the bound the value. In a test of levels,
# the operand has the bits of what goes to the first child, the mask is the word of the
# column, and the bound is 1. So there is no branch between kinds of tests, and missing
# values cost nothing. In a leaf, the bound is 0, so that rows stay.
#
# Most nodes deep in a tree lack some levels. A row with such a level stays in the node,
# but the walk ignores that: a test of its own would be one more turn for all rows, and
# few rows have such a level. Afterwards, the levels of each row, for which there are
# further words with a bit for each level of each column, are compared with those that
# some test on the way to its leaf lacks, and rows that have one of them go back.

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.route._rows cimport Table, read_entry

cdef enum:
    # levels of a column that has a bit for each; one more is for missing values
    MAX_LEVEL_BITS = 63
    # words before those of the columns
    N_CONSTANT_WORDS = 3


cdef struct MixedNode:
    # of a leaf, two numbers of 32 bits: its row of the distributions, and what is
    # lacked on the way to it
    uint64_t operand
    # places of words in the row
    uint16_t mask
    uint16_t bound
    # a leaf stands here with its own number
    int32_t first_child


# Levels that tests on the way to some nodes lack, those of one word.
cdef struct LackedLevels:
    uint64_t levels
    int32_t word
    # the last test on the way that lacks more levels than those before it, and its row
    # of the distributions
    int32_t node
    int32_t end
    # the number of what the tests before it lack
    int32_t before
    # the number of what is lacked in other words; 0 for nothing
    int32_t other


# A tree as the walk of words reads it.
cdef struct MixedTree:
    const MixedNode* nodes
    # by number; 0 is for no levels
    const LackedLevels* lacked


# Places of the words of a row.
cdef struct WordLayout:
    Py_ssize_t n_words
    # words with the bits of levels
    Py_ssize_t n_level_words
    # of each column; no levels if it is numeric
    const int64_t* n_levels
    # the first word of each column
    const int64_t* place
    # the first bit of each column among the bits of levels, which are in one word; the
    # bit after its last level, or the only one of a column with more than
    # MAX_LEVEL_BITS levels, which is like a numeric one, stands for levels never seen
    const int64_t* first_bit


cdef inline uint64_t order_number(double value) noexcept nogil:
    """An unsigned integer, neither 0 nor the highest, in the order of the numbers."""
    cdef uint64_t bits
    value += 0.0  # minus zero equals zero
    memcpy(&bits, &value, sizeof(uint64_t))
    return bits ^ ((<uint64_t> 0 - (bits >> 63)) | (<uint64_t> 1 << 63))


cdef inline bint is_known_code(double value, int64_t n_levels) noexcept nogil:
    """Whether a value is the code of a level; missing and unseen ones are not."""
    return 0.0 <= value < <double> n_levels


cdef inline void set_bit(uint64_t* words, int64_t bit) noexcept nogil:
    """Set a bit counted over an array of words."""
    words[bit >> 6] |= <uint64_t> 1 << (bit & 63)


cdef inline void write_words(
    const Table* table, const WordLayout* layout, uint64_t* words, uint64_t* levels
) noexcept nogil:
    """Write the words of all rows of a block, column by column."""
    cdef Py_ssize_t row, column, i
    cdef uint64_t* place
    cdef uint64_t number
    cdef int64_t n_levels, first_bit, last_bit, code
    cdef double value
    cdef bint has_bits
    cdef const char* start
    for row in range(table.n_rows):
        # The three constants.
        place = words + row * layout.n_words
        place[0] = ~(<uint64_t> 0)
        place[1] = 1
        place[2] = 0
    memset(levels, 0, table.n_rows * layout.n_level_words * sizeof(uint64_t))
    for column in range(table.n_columns):
        start = table.start + column * table.column_stride
        place = words + layout.place[column]
        n_levels = layout.n_levels[column]
        has_bits = 0 < n_levels <= MAX_LEVEL_BITS
        first_bit = layout.first_bit[column]
        last_bit = first_bit + (n_levels if has_bits else 0)
        for row in range(table.n_rows):
            value = read_entry(start, row, table.row_stride, table.is_single)
            i = row * layout.n_words
            if has_bits:
                if is_known_code(value, n_levels):
                    code = <int64_t> value
                    # One bit of the column's word, for the operand of a test; and one
                    # among the bits of levels, for levels that tests lack.
                    place[i] = <uint64_t> 1 << code
                    set_bit(levels + row * layout.n_level_words, first_bit + code)
                else:
                    # Missing: the highest bit. Unseen: none, so that the row goes to
                    # the second child until `go_back` finds the bit set below.
                    place[i] = <uint64_t> (value != value) << MAX_LEVEL_BITS
            else:
                # A missing value is below all others, and above.
                number = order_number(value)
                place[i] = number if value == value else 0
                place[i + 1] = number if value == value else ~(<uint64_t> 0)
            if n_levels > 0 and value == value and not is_known_code(value, n_levels):
                set_bit(levels + row * layout.n_level_words, last_bit)


cdef inline int32_t find_mixed_child(
    const MixedNode* node, const uint64_t* words
) noexcept nogil:
    """The first child, or the second, which follows it; a leaf leads to itself."""
    return node.first_child + ((node.operand & words[node.mask]) < words[node.bound])


cdef inline bint has_lacked(
    const MixedTree* tree, int32_t number, const uint64_t* levels
) noexcept nogil:
    """Whether the row has a level that is lacked."""
    cdef const LackedLevels* lacked = &tree.lacked[number]
    cdef uint64_t found = levels[lacked.word] & lacked.levels
    while lacked.other != 0:
        lacked = &tree.lacked[lacked.other]
        found |= levels[lacked.word] & lacked.levels
    return found != 0


cdef inline int32_t go_back(
    const MixedTree* tree, int32_t position, const uint64_t* levels, bint wants_ends
) noexcept nogil:
    """The first node on the way to a leaf that lacks a level of the row, or the leaf.

    wants_ends: return the node's row of the distributions instead.
    """
    cdef uint64_t numbers = tree.nodes[position].operand
    cdef int32_t number = <int32_t> <uint32_t> numbers
    cdef int32_t end = <int32_t> (numbers >> 32)
    while has_lacked(tree, number, levels):
        # Upwards: the first node lacking a level is the last that is found.
        position = tree.lacked[number].node
        end = tree.lacked[number].end
        number = tree.lacked[number].before
    return end if wants_ends else position


cdef inline int32_t walk_mixed_row(
    const MixedNode* nodes, const uint64_t* words
) noexcept nogil:
    """Find the leaf of one row."""
    cdef int32_t position = 0, target
    while True:
        target = find_mixed_child(&nodes[position], words)
        if target == position:
            return position
        position = target
