# cython: language_level=3
"""Kernels of many trees at once; :mod:`sklearn_textbook.tree.route.many_trees` has
the documents.

A block of rows meets one tree after the other, so that it is the tree that stays in
the cache.
"""

from cython cimport floating
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook.tree.route._block_walk cimport (
    N_FIRST_TURNS, BlockScratch, note_complete_groups, walk_block, walk_row,
)
from sklearn_textbook.tree.route._numeric_walk cimport PackedNode
from sklearn_textbook.tree.route._rows cimport N_LANES, Table

GROUP_ROWS = N_LANES


# One tree as the walk reads it.
cdef struct Member:
    const PackedNode* nodes
    # number of a leaf among the leaves, by node
    const int32_t* leaf_number
    # distributions of the leaves
    const double* shares
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


cdef class PackedTrees:
    """Trees of numeric tests, held for as long as walks read them.

    packs: nodes, leaf numbers, distributions of the leaves and depth of each tree.
    """

    cdef Member* members
    cdef readonly Py_ssize_t n_members
    cdef list arrays

    def __cinit__(self, packs):
        cdef const PackedNode[::1] nodes
        cdef const int32_t[::1] leaf_number
        cdef const double[:, ::1] shares
        cdef Py_ssize_t i
        self.arrays = list(packs)
        self.n_members = len(self.arrays)
        self.members = <Member*> malloc(self.n_members * sizeof(Member))
        if self.members == NULL:
            raise MemoryError()
        for i in range(self.n_members):
            nodes, leaf_number, shares, depth = self.arrays[i]
            self.members[i].nodes = &nodes[0]
            self.members[i].leaf_number = &leaf_number[0]
            self.members[i].shares = &shares[0, 0]
            self.members[i].n_turns = min(depth, N_FIRST_TURNS)

    def __dealloc__(self):
        free(self.members)


# ------------------------------------------------------------------------ collecting
cdef inline void add_shares(
    const Member* member, double weight, const int32_t* position, Py_ssize_t n_rows,
    double* sums, Py_ssize_t width,
) noexcept nogil:
    """Add the distributions of the leaves. The caller gives width as a constant where
    it is small."""
    cdef Py_ssize_t row, i
    cdef const double* shares
    for row in range(n_rows):
        shares = member.shares + member.leaf_number[position[row]] * width
        for i in range(width):
            sums[row * width + i] += weight * shares[i]


cdef inline void add_votes(
    const Member* member, double weight, const int32_t* position, Py_ssize_t n_rows,
    double* sums, Py_ssize_t n_outputs, Py_ssize_t n_classes,
) noexcept nogil:
    """Add the weight to the class with the largest share, of equals the first."""
    cdef Py_ssize_t row, output, k, best
    cdef const double* shares
    for row in range(n_rows):
        shares = member.shares + (
            member.leaf_number[position[row]] * n_outputs * n_classes
        )
        for output in range(n_outputs):
            best = output * n_classes
            for k in range(best + 1, (output + 1) * n_classes):
                if shares[k] > shares[best]:
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
        add_shares(member, weight, position, n_rows, sums, 1)
    elif width == 2:
        add_shares(member, weight, position, n_rows, sums, 2)
    else:
        add_shares(member, weight, position, n_rows, sums, width)


# ---------------------------------------------------------------------------- blocks
cdef void copy_rows(const Table* table, char* target) noexcept nogil:
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


cdef void serve_few_rows(
    const Member* members, Py_ssize_t n_members, const Table* table,
    Py_ssize_t first, const Collecting* collecting,
) noexcept nogil:
    """For fewer rows than fill the lanes."""
    cdef Py_ssize_t number, row
    cdef int32_t position
    for number in range(n_members):
        for row in range(table.n_rows):
            position = walk_row(
                members[number].nodes, table.start + row * table.row_stride,
                table.column_stride, table.is_single,
            )
            collect(collecting, &members[number], number, &position, first + row, 1)


cdef void serve_block(
    const Member* members, Py_ssize_t n_members, const Table* table,
    Py_ssize_t first, Py_ssize_t n_rows, const Collecting* collecting, char* copied,
    const BlockScratch* scratch,
) noexcept nogil:
    cdef Table block = table[0]
    cdef Py_ssize_t item_size = sizeof(float) if table.is_single else sizeof(double)
    cdef Py_ssize_t number
    cdef bint all_complete
    block.start = table.start + first * table.row_stride
    block.n_rows = min(n_rows, table.n_rows - first)
    if block.n_rows < N_LANES:
        serve_few_rows(members, n_members, &block, first, collecting)
        return
    if table.column_stride != item_size:
        copy_rows(&block, copied)
        block.start = copied
        block.column_stride = item_size
        block.row_stride = item_size * table.n_columns
    all_complete = note_complete_groups(&block, scratch.is_complete)
    for number in range(n_members):
        walk_block(
            members[number].nodes, members[number].n_turns, &block, all_complete,
            scratch,
        )
        collect(
            collecting, &members[number], number, scratch.position, first, block.n_rows
        )


cdef struct Walk:
    # Blocks of rows that threads share, each with working memory of its own.
    const Member* members
    Py_ssize_t n_members
    Table table
    Py_ssize_t block_rows
    Collecting collecting
    char* copied
    Py_ssize_t copied_size
    int32_t* numbers
    Py_ssize_t numbers_size
    uint8_t* is_complete
    Py_ssize_t complete_size


cdef void serve_rows(void* context, int64_t block, int thread) noexcept nogil:
    cdef const Walk* walk = <Walk*> context
    cdef BlockScratch scratch
    scratch.position = walk.numbers + thread * walk.numbers_size
    scratch.active = scratch.position + walk.block_rows
    scratch.is_complete = walk.is_complete + thread * walk.complete_size
    serve_block(
        walk.members, walk.n_members, &walk.table, block * walk.block_rows,
        walk.block_rows, &walk.collecting, walk.copied + thread * walk.copied_size,
        &scratch,
    )


def walk_trees(
    const floating[:, :] matrix, PackedTrees trees, const double[::1] weights,
    double[:, :, ::1] sums, bint votes, int64_t[:, :] leaves, char[:, ::1] copied,
    int32_t[:, ::1] numbers, uint8_t[:, ::1] is_complete, Py_ssize_t block_rows,
):
    """Walk rows through trees of numeric tests.

    sums: read and written; gets the distributions, or votes, times the weight of the
        tree. None if leaves are wanted.
    leaves: written, a column per tree; None if sums are wanted.
    copied, numbers, is_complete: working memory, a line per thread: the rows of a
        block if their entries lie apart, two numbers for each row and a group more,
        and an entry for each group.
    """
    cdef Table table
    cdef Collecting collecting
    cdef Walk walk
    table.start = <const char*> &matrix[0, 0]
    table.row_stride, table.column_stride = matrix.strides[0], matrix.strides[1]
    table.n_rows, table.n_columns = matrix.shape[0], matrix.shape[1]
    table.is_single = floating is float
    collecting.sums, collecting.leaves = NULL, NULL
    collecting.n_outputs, collecting.n_statistics = 0, 0
    collecting.weights = &weights[0]
    collecting.votes = votes
    if leaves is not None:
        collecting.leaves = &leaves[0, 0]
        collecting.leaves_stride = leaves.strides[0] // <Py_ssize_t> sizeof(int64_t)
    else:
        collecting.sums = &sums[0, 0, 0]
        collecting.n_outputs, collecting.n_statistics = sums.shape[1], sums.shape[2]
    walk = Walk(
        trees.members, trees.n_members, table, block_rows, collecting,
        &copied[0, 0], copied.shape[1], &numbers[0, 0],
        numbers.shape[1], &is_complete[0, 0], is_complete.shape[1],
    )
    run_in_threads(
        <int> numbers.shape[0], serve_rows, &walk,
        (table.n_rows + block_rows - 1) // block_rows,
    )
