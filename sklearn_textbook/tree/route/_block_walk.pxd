# The walk of a block of rows by binary tests: header-only. Trees over numeric columns
# read the table itself, other trees its words (_mixed_walk.pxd).
#
# All rows take some turns in lock step, as in _numeric_walk.pxd. Then those that have
# reached a leaf are listed and walk on in full groups, repeatedly, so that no row waits
# in a leaf for the deepest row of its group, which would take a third of all turns.

from libc.stdint cimport int32_t, uint8_t, uint64_t

from sklearn_textbook.tree.route._mixed_walk cimport MixedNode, find_mixed_child
from sklearn_textbook.tree.route._numeric_walk cimport PackedNode
from sklearn_textbook.tree.route._rows cimport (
    N_LANES, RowGroup, Table, lacks_value, read_entry,
)

cdef enum:
    # turns that all rows take, if the tree is that deep
    N_FIRST_TURNS = 16
    # turns between two lists of those that walk on
    N_FURTHER_TURNS = 4


# Working memory of a walk.
cdef struct BlockScratch:
    # node of every row; the leaf, in the end
    int32_t* position
    # rows that walk on, and space for one group more
    int32_t* active
    # whether a group of rows lacks no value
    uint8_t* is_complete


cdef inline void step_four_lanes(
    const MixedNode* nodes, const char* const* start, int32_t* position
) noexcept nogil:
    """One turn of four rows by their words. Written out, since compilers make of a loop
    one that takes two turns of each row at once, the second waiting for the first."""
    position[0] = find_mixed_child(&nodes[position[0]], <const uint64_t*> start[0])
    position[1] = find_mixed_child(&nodes[position[1]], <const uint64_t*> start[1])
    position[2] = find_mixed_child(&nodes[position[2]], <const uint64_t*> start[2])
    position[3] = find_mixed_child(&nodes[position[3]], <const uint64_t*> start[3])


cdef inline void take_turns(
    const PackedNode* nodes, const RowGroup* rows, int32_t* position, int n_turns,
    bint is_complete, bint is_mixed, bint is_single, Py_ssize_t stride,
) noexcept nogil:
    """Move the rows of a group by some turns from where they are.

    is_complete: no row lacks a value, which saves a comparison per turn. is_mixed:
    nodes are MixedNode and rows are words, which have no missing values. A leaf is its
    own child, so turns beyond it change nothing.
    """
    cdef int lane, _turn
    cdef double value
    cdef const PackedNode* node
    if is_mixed:
        for _turn in range(n_turns):
            for lane in range(0, N_LANES, 4):
                step_four_lanes(
                    <const MixedNode*> nodes, &rows.start[lane], &position[lane]
                )
    elif is_complete:
        for _turn in range(n_turns):
            for lane in range(N_LANES):
                node = &nodes[position[lane]]
                value = read_entry(rows.start[lane], node.feature, stride, is_single)
                position[lane] = (node.first_child >> 1) + (value > node.threshold)
    else:
        for _turn in range(n_turns):
            for lane in range(N_LANES):
                node = &nodes[position[lane]]
                value = read_entry(rows.start[lane], node.feature, stride, is_single)
                position[lane] = (node.first_child >> 1) + (
                    (value > node.threshold) | ((value != value) & node.first_child)
                )


cdef inline bint is_on_way(
    const PackedNode* nodes, int32_t position, bint is_mixed
) noexcept nogil:
    """Whether a node is not a leaf, which is its own child."""
    if is_mixed:
        return (<const MixedNode*> nodes)[position].first_child != position
    return (nodes[position].first_child >> 1) != position


cdef inline bint note_complete_groups(
    const Table* table, uint8_t* is_complete
) noexcept nogil:
    """Look for missing values; whether there are none."""
    cdef Py_ssize_t group, first, lane, row
    cdef RowGroup rows
    cdef bint all_complete = True
    rows.n_columns = table.n_columns
    for group in range((table.n_rows + N_LANES - 1) // N_LANES):
        first = group * N_LANES
        for lane in range(N_LANES):
            # The last group fills its empty lanes with the last row.
            row = min(first + lane, table.n_rows - 1)
            rows.start[lane] = table.start + row * table.row_stride
        if table.is_single:
            is_complete[group] = not lacks_value(&rows, sizeof(float), True)
        else:
            is_complete[group] = not lacks_value(
                &rows, sizeof(double), False
            )
        all_complete = all_complete and is_complete[group]
    return all_complete


cdef inline void walk_together(
    const PackedNode* nodes, int n_turns, const Table* table, bint all_complete,
    const BlockScratch* scratch, bint is_mixed, bint is_single, Py_ssize_t stride,
) noexcept nogil:
    """Walk a block whose entries lie side by side. The caller gives is_single and
    stride as constants, so that the compiler makes a loop for each."""
    cdef int32_t position[N_LANES]
    cdef int32_t number[N_LANES]
    cdef RowGroup rows
    cdef Py_ssize_t group, first, lane, n_active = 0, n_left
    for group in range((table.n_rows + N_LANES - 1) // N_LANES):
        first = group * N_LANES
        for lane in range(N_LANES):
            # The last group fills its empty lanes with the last row.
            number[lane] = <int32_t> min(first + lane, table.n_rows - 1)
            rows.start[lane] = table.start + number[lane] * table.row_stride
            position[lane] = 0
        take_turns(
            nodes, &rows, position, n_turns,
            all_complete or scratch.is_complete[group], is_mixed, is_single, stride,
        )
        for lane in range(min(<Py_ssize_t> N_LANES, table.n_rows - first)):
            scratch.position[first + lane] = position[lane]
            # Written in any case and kept if the row walks on: no branch.
            scratch.active[n_active] = number[lane]
            n_active += is_on_way(nodes, position[lane], is_mixed)
    while n_active > 0:
        for lane in range(N_LANES):
            # Fill the last group with its last row, which then walks in several lanes
            # alike.
            scratch.active[n_active + lane] = scratch.active[n_active - 1]
        n_left = 0
        for group in range((n_active + N_LANES - 1) // N_LANES):
            first = group * N_LANES
            for lane in range(N_LANES):
                number[lane] = scratch.active[first + lane]
                rows.start[lane] = table.start + number[lane] * table.row_stride
                position[lane] = scratch.position[number[lane]]
            # These rows come from several groups: complete if the whole block is.
            take_turns(
                nodes, &rows, position, N_FURTHER_TURNS, all_complete, is_mixed,
                is_single, stride,
            )
            for lane in range(min(<Py_ssize_t> N_LANES, n_active - first)):
                scratch.position[number[lane]] = position[lane]
                # Never beyond what has been read of the list.
                scratch.active[n_left] = number[lane]
                n_left += is_on_way(nodes, position[lane], is_mixed)
        n_active = n_left


cdef inline void walk_block(
    const PackedNode* nodes, int n_turns, const Table* table, bint all_complete,
    const BlockScratch* scratch, bint is_mixed,
) noexcept nogil:
    """Find the leaf of every row of a block."""
    if is_mixed:
        walk_together(nodes, n_turns, table, True, scratch, True, False, 0)
    elif table.is_single:
        walk_together(
            nodes, n_turns, table, all_complete, scratch, False, True, sizeof(float)
        )
    else:
        walk_together(
            nodes, n_turns, table, all_complete, scratch, False, False, sizeof(double)
        )


cdef inline int32_t walk_row(
    const PackedNode* nodes, const char* start, Py_ssize_t stride, bint is_single
) noexcept nogil:
    """Find the leaf of one row, whatever the distance of its entries."""
    cdef int32_t position = 0, target
    cdef double value
    cdef const PackedNode* node
    while True:
        node = &nodes[position]
        value = read_entry(start, node.feature, stride, is_single)
        target = (node.first_child >> 1) + (
            (value > node.threshold) | ((value != value) & node.first_child)
        )
        if target == position:
            return position
        position = target
