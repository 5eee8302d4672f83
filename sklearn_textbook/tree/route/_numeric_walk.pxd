# The walk of a group by numeric tests alone: header-only.
#
# Groups without a missing value have a loop of their own, since asking for one at
# every node takes half as long again.

from libc.stdint cimport int32_t, uint8_t

from sklearn_textbook.tree.route._rows cimport N_LANES, RowGroup, read_entry

cdef enum:
    # rows that walk together where a value is missing: more would not fit the
    # registers
    N_MISSING_LANES = 8
    # turns between two looks whether anybody still moves
    N_TURNS = 8
    N_MISSING_TURNS = 4


# 16 bytes, four to a cache line.
cdef struct PackedNode:
    double threshold
    int32_t feature
    # Number of the first child, doubled; plus 1 if a missing value goes to the
    # second. A leaf stands here with its own number and the threshold +inf.
    int32_t first_child


cdef inline void walk_complete(
    const PackedNode* nodes, const RowGroup* rows, Py_ssize_t stride, bint is_single,
    int32_t* position,
) noexcept nogil:
    """Walk rows without a missing value from the root to their leaves."""
    cdef int lane, _turn
    cdef int32_t target, moved = 1
    cdef double value
    cdef const PackedNode* node
    for lane in range(N_LANES):
        position[lane] = 0
    while moved != 0:
        for _turn in range(N_TURNS):
            # Only the last turn counts: who does not move in it is in a leaf.
            moved = 0
            for lane in range(N_LANES):
                node = &nodes[position[lane]]
                value = read_entry(rows.start[lane], node.feature, stride, is_single)
                target = (node.first_child >> 1) + (value > node.threshold)
                moved |= target ^ position[lane]
                position[lane] = target


cdef inline void walk_incomplete(
    const PackedNode* nodes, const RowGroup* rows, int first, Py_ssize_t stride,
    bint is_single, int32_t* position, uint8_t* met_missing,
) noexcept nogil:
    """Walk the rows from lane ``first`` on, and note who met a missing value that
    the mark in first_child speaks of."""
    cdef int lane, _turn
    cdef int32_t target, moved = 1
    cdef uint8_t is_missing
    cdef double value
    cdef const PackedNode* node
    for lane in range(first, first + N_MISSING_LANES):
        position[lane] = 0
        met_missing[lane] = 0
    while moved != 0:
        for _turn in range(N_MISSING_TURNS):
            moved = 0
            for lane in range(first, first + N_MISSING_LANES):
                node = &nodes[position[lane]]
                value = read_entry(rows.start[lane], node.feature, stride, is_single)
                # 1 if the value is missing and bit 0 of first_child is set; leaves have
                # it clear.
                is_missing = (value != value) & node.first_child
                target = (node.first_child >> 1) + (
                    (value > node.threshold) | is_missing
                )
                met_missing[lane] |= is_missing
                moved |= target ^ position[lane]
                position[lane] = target
