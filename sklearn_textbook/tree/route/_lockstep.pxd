# The fast walk of a table: header-only, used by _route.pyx.
#
# Some rows walk down together, one level a turn, without a branch that depends on
# data, so that the loads of the rows overlap. The child of a leaf is the leaf itself,
# so arrival need not be checked per row; after some turns one test finds whether any
# row still moves.

from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint8_t

from sklearn_textbook.tree.route._coded_walk cimport (
    N_CODED_LANES, CodedTest, walk_coded,
)
from sklearn_textbook.tree.route._numeric_walk cimport (
    N_MISSING_LANES, PackedNode, walk_complete, walk_incomplete,
)
from sklearn_textbook.tree.route._rows cimport (
    MAX_SCANNED, N_LANES, RowGroup, Table, lacks_value, read_entry,
)

cdef enum:
    # rows of a table with entries far apart that are copied at a time
    N_COPIED = 64


# A tree made ready for the fast walk.
cdef struct FastTree:
    # of a tree of numeric tests, else NULL
    const PackedNode* nodes
    # of other trees: tests, and the steps from node to node (_coded_walk.pxd); rows
    # that arrive at the node `sink` need the full walk
    const CodedTest* tests
    const int32_t* steps
    int32_t sink
    # whether a row that met a missing value needs the full walk
    bint marks_missing


cdef inline void walk_lanes(
    const FastTree* tree, const RowGroup* rows, Py_ssize_t stride, bint is_single,
    int32_t* position, uint8_t* needs_walk,
) noexcept nogil:
    """Walk a group. The caller gives stride and is_single as constants where it
    knows them, so that the compiler makes a loop for each."""
    cdef int lane
    if tree.nodes == NULL:
        for lane in range(N_LANES // N_CODED_LANES):
            walk_coded(
                tree.tests, tree.steps, rows, lane * N_CODED_LANES, stride, is_single,
                position,
            )
        for lane in range(N_LANES):
            needs_walk[lane] = position[lane] == tree.sink
        return
    if rows.n_columns <= MAX_SCANNED and not lacks_value(rows, stride, is_single):
        walk_complete(tree.nodes, rows, stride, is_single, position)
        for lane in range(N_LANES):
            needs_walk[lane] = 0
        return
    for lane in range(N_LANES // N_MISSING_LANES):
        walk_incomplete(
            tree.nodes, rows, lane * N_MISSING_LANES, stride, is_single, position,
            needs_walk,
        )
    for lane in range(N_LANES):
        # Without marks, bit 0 only said where a missing value goes, and the row is in
        # the right leaf.
        needs_walk[lane] &= tree.marks_missing


cdef inline void walk_group(
    const FastTree* tree, const RowGroup* rows, int32_t* position, uint8_t* needs_walk
) noexcept nogil:
    """`walk_lanes` with constants for rows whose entries lie side by side."""
    if rows.stride == <Py_ssize_t> sizeof(double) and not rows.is_single:
        walk_lanes(tree, rows, sizeof(double), False, position, needs_walk)
    elif rows.stride == <Py_ssize_t> sizeof(float) and rows.is_single:
        walk_lanes(tree, rows, sizeof(float), True, position, needs_walk)
    else:
        walk_lanes(tree, rows, rows.stride, rows.is_single, position, needs_walk)


cdef inline void walk_rows(
    const FastTree* tree, const Table* table, int64_t* ended
) noexcept nogil:
    """Node where each row ends, or INT64_MIN if it needs the full walk."""
    cdef int32_t position[N_LANES]
    cdef uint8_t needs_walk[N_LANES]
    cdef RowGroup rows
    cdef Py_ssize_t group, first, lane, n_valid
    rows.stride = table.column_stride
    rows.n_columns = table.n_columns
    rows.is_single = table.is_single
    for group in range((table.n_rows + N_LANES - 1) // N_LANES):
        first = group * N_LANES
        n_valid = min(<Py_ssize_t> N_LANES, table.n_rows - first)
        for lane in range(N_LANES):
            # The last group fills its empty lanes with its first row.
            rows.start[lane] = table.start + table.row_stride * (
                first + (lane if lane < n_valid else 0)
            )
        walk_group(tree, &rows, position, needs_walk)
        for lane in range(n_valid):
            ended[first + lane] = INT64_MIN if needs_walk[lane] else position[lane]


cdef inline void walk_copied_rows(
    const FastTree* tree, const Table* table, int64_t* ended
) noexcept nogil:
    """The same for rows whose entries lie apart, in a copy that has them together."""
    cdef double values[N_COPIED * MAX_SCANNED]
    cdef Table copied
    cdef Py_ssize_t part, first, row, column
    cdef const char* start
    copied.start = <const char*> values
    copied.n_columns = table.n_columns
    copied.column_stride = sizeof(double)
    copied.row_stride = table.n_columns * <Py_ssize_t> sizeof(double)
    copied.is_single = False
    for part in range((table.n_rows + N_COPIED - 1) // N_COPIED):
        first = part * N_COPIED
        copied.n_rows = min(<Py_ssize_t> N_COPIED, table.n_rows - first)
        for column in range(table.n_columns):
            start = table.start + first * table.row_stride
            start += column * table.column_stride
            for row in range(copied.n_rows):
                values[row * table.n_columns + column] = read_entry(
                    start, row, table.row_stride, table.is_single
                )
        walk_rows(tree, &copied, ended + first)


cdef inline void walk_table(
    const FastTree* tree, const Table* table, int64_t* ended
) noexcept nogil:
    """Node where each row ends, or INT64_MIN: `walk_rows`, of a copy of the rows if
    their entries lie apart. Rows of wide tables are not copied, since a walk reads few
    of their entries."""
    cdef Py_ssize_t item_size = sizeof(float) if table.is_single else sizeof(double)
    if table.column_stride == item_size or table.n_columns > MAX_SCANNED:
        walk_rows(tree, table, ended)
    else:
        walk_copied_rows(tree, table, ended)
