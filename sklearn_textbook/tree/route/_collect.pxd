# A block of rows meets one tree of binary tests after the other: header-only;
# many_trees.py has the documents. It is the tree that stays in the cache.

from libc.stdint cimport int32_t, int64_t, uint64_t

from sklearn_textbook.tree.route._block_walk cimport (
    BlockScratch, note_complete_groups, walk_block, walk_row,
)
from sklearn_textbook.tree.route._mixed_walk cimport (
    MixedTree, WordLayout, go_back, walk_mixed_row, write_words,
)
from sklearn_textbook.tree.route._numeric_walk cimport PackedNode
from sklearn_textbook.tree.route._rows cimport N_LANES, Table


# One tree as the walk reads it.
cdef struct Member:
    # of a tree over numeric columns, else NULL
    const PackedNode* nodes
    # of other trees
    MixedTree mixed
    # row of fractions, by node, of a tree over numeric columns, else NULL
    const int32_t* leaf_number
    # distributions of the leaves, and of other nodes in which rows stay
    const double* fractions
    # turns that all rows take
    int n_turns


# What happens with the leaves of the rows.
cdef struct Collecting:
    # sums of the rows, or NULL if leaves are wanted
    double* sums
    Py_ssize_t n_outputs
    Py_ssize_t n_statistics
    bint votes
    # weight of every tree
    const double* weights
    # leaves of the rows, or NULL; and the distance of two rows
    int64_t* leaves
    Py_ssize_t leaves_stride


# ------------------------------------------------------------------------ collecting
cdef inline int32_t find_fraction(
    const Member* member, int32_t position
) noexcept nogil:
    """The row of fractions, which the walk of words finds together with the leaf."""
    return member.leaf_number[position] if member.leaf_number != NULL else position


cdef inline void add_fractions(
    const Member* member, double weight, const int32_t* position, Py_ssize_t n_rows,
    double* sums, Py_ssize_t width,
) noexcept nogil:
    """Add the distributions of the leaves. The caller gives width as a constant where
    it is small."""
    cdef Py_ssize_t row, i
    cdef const double* fractions
    for row in range(n_rows):
        fractions = member.fractions + find_fraction(member, position[row]) * width
        for i in range(width):
            sums[row * width + i] += weight * fractions[i]


cdef inline void add_votes(
    const Member* member, double weight, const int32_t* position, Py_ssize_t n_rows,
    double* sums, Py_ssize_t n_outputs, Py_ssize_t n_classes,
) noexcept nogil:
    """Add the weight to the most probable class, at ties the first."""
    cdef Py_ssize_t row, output, k, best
    cdef const double* fractions
    for row in range(n_rows):
        fractions = member.fractions + (
            find_fraction(member, position[row]) * n_outputs * n_classes
        )
        for output in range(n_outputs):
            best = output * n_classes
            for k in range(best + 1, (output + 1) * n_classes):
                # Strictly larger, so that the first of ties stays.
                if fractions[k] > fractions[best]:
                    best = k
            sums[row * n_outputs * n_classes + best] += weight


cdef inline void collect(
    const Collecting* collecting, const Member* member, Py_ssize_t number,
    const int32_t* position, Py_ssize_t first, Py_ssize_t n_rows,
) noexcept nogil:
    """Add what a tree says of the rows from ``first`` on, or note their leaves."""
    cdef Py_ssize_t row, width = collecting.n_outputs * collecting.n_statistics
    cdef double weight = collecting.weights[number]
    cdef double* sums = collecting.sums + first * width
    if collecting.leaves != NULL:
        for row in range(n_rows):
            collecting.leaves[
                (first + row) * collecting.leaves_stride + number
            ] = position[row]
    elif collecting.votes:
        add_votes(
            member, weight, position, n_rows, sums, collecting.n_outputs,
            collecting.n_statistics,
        )
    elif width == 1:
        add_fractions(member, weight, position, n_rows, sums, 1)
    elif width == 2:
        add_fractions(member, weight, position, n_rows, sums, 2)
    else:
        add_fractions(member, weight, position, n_rows, sums, width)


# ---------------------------------------------------------------------------- blocks
cdef inline void copy_rows(const Table* table, char* target) noexcept nogil:
    """Copy rows so that their entries lie side by side."""
    cdef Py_ssize_t row, column, n_columns = table.n_columns
    cdef const char* source
    for row in range(table.n_rows):
        source = table.start + row * table.row_stride
        if table.is_single:
            for column in range(n_columns):
                (<float*> target)[row * n_columns + column] = (
                    <const float*> (source + column * table.column_stride)
                )[0]
        else:
            for column in range(n_columns):
                (<double*> target)[row * n_columns + column] = (
                    <const double*> (source + column * table.column_stride)
                )[0]


cdef inline void find_nodes(
    const Member* member, const Table* block, bint all_complete,
    const BlockScratch* scratch,
) noexcept nogil:
    """Find the leaf of every row by numeric tests."""
    cdef Py_ssize_t row
    if block.n_rows >= N_LANES:
        walk_block(member.nodes, member.n_turns, block, all_complete, scratch, False)
        return
    for row in range(block.n_rows):
        scratch.position[row] = walk_row(
            member.nodes, block.start + row * block.row_stride, block.column_stride,
            block.is_single,
        )


cdef inline void find_mixed_nodes(
    const Member* member, const Table* block, const uint64_t* levels,
    Py_ssize_t n_level_words, const BlockScratch* scratch, bint wants_ends,
) noexcept nogil:
    """Find the leaf of every row by its words, or the node where it stays; or the row
    of fractions of this."""
    cdef const MixedTree* tree = &member.mixed
    cdef Py_ssize_t row
    if block.n_rows >= N_LANES:
        walk_block(
            <const PackedNode*> tree.nodes, member.n_turns, block, True, scratch, True
        )
    else:
        for row in range(block.n_rows):
            scratch.position[row] = walk_mixed_row(
                tree.nodes, <const uint64_t*> (block.start + row * block.row_stride)
            )
    for row in range(block.n_rows):
        scratch.position[row] = go_back(
            tree, scratch.position[row], levels + row * n_level_words, wants_ends
        )


cdef inline void serve_block(
    const Member* members, Py_ssize_t n_members, const Table* table,
    Py_ssize_t first, Py_ssize_t n_rows, const WordLayout* layout,
    const Collecting* collecting, char* copied, const BlockScratch* scratch,
) noexcept nogil:
    """Walk the rows from ``first`` on through all trees, one tree after the other.

    copied: room for the words of the block, or for its rows if their entries lie apart.
    Sums are added in the order of the trees, so the result does not depend on the
    division into blocks. Blocks of fewer rows than a group are walked row by row, in
    place.
    """
    cdef Table block = table[0]
    cdef Py_ssize_t item_size = sizeof(float) if table.is_single else sizeof(double)
    cdef Py_ssize_t number
    cdef bint all_complete = False
    cdef uint64_t* words = <uint64_t*> copied
    cdef uint64_t* levels = NULL
    block.start = table.start + first * table.row_stride
    block.n_rows = min(n_rows, table.n_rows - first)
    if layout.n_words > 0:
        levels = words + block.n_rows * layout.n_words
        write_words(&block, layout, words, levels)
        block.start = copied
        block.row_stride = layout.n_words * <Py_ssize_t> sizeof(uint64_t)
    elif block.n_rows >= N_LANES:
        if table.column_stride != item_size:
            copy_rows(&block, copied)
            block.start = copied
            block.column_stride = item_size
            block.row_stride = item_size * table.n_columns
        # Once per block, for all trees.
        all_complete = note_complete_groups(&block, scratch.is_complete)
    for number in range(n_members):
        if layout.n_words > 0:
            find_mixed_nodes(
                &members[number], &block, levels, layout.n_level_words, scratch,
                collecting.leaves == NULL,
            )
        else:
            find_nodes(&members[number], &block, all_complete, scratch)
        collect(
            collecting, &members[number], number, scratch.position, first, block.n_rows
        )
