# cython: language_level=3
"""Kernels of routing; :mod:`sklearn_textbook.tree.route.route` and, of many trees at
once, :mod:`sklearn_textbook.tree.route.many_trees` have the documents."""

from libc.math cimport INFINITY
from libc.stdint cimport (
    INT64_MIN, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook._contract._wide_units cimport wide_void
from sklearn_textbook.tree.grow._layout cimport (
    DENSE_MAP, FRACTIONAL, LEAF, NOMINAL, NUMERIC, OBLIQUE, STAY, Node, Surrogate,
    Term,
)
from sklearn_textbook.tree.route._block_walk cimport N_FIRST_TURNS, BlockScratch
from sklearn_textbook.tree.route._branch cimport (
    UNSEEN_ERROR, TreeView, find_branch, has_surrogates, test_value,
)
from sklearn_textbook.tree.route._coded_walk cimport CodedTest
from sklearn_textbook.tree.route._collect cimport Collecting, Member, serve_block
from sklearn_textbook.tree.route._full_walk cimport (
    enter_nodes, note_error, spread_row, walk_on,
)
from sklearn_textbook.tree.route._lockstep cimport FastTree, walk_table
from sklearn_textbook.tree.route._mixed_walk cimport (
    MAX_LEVEL_BITS, N_CONSTANT_WORDS, LackedLevels, MixedNode, MixedTree, WordLayout,
    order_number,
)
from sklearn_textbook.tree.route._numeric_walk cimport PackedNode
from sklearn_textbook.tree.route._rows cimport N_LANES, Row, Table, view_row

import numpy as np

from sklearn_textbook.tree.grow.importances import list_first_levels

# Rows that one thread takes at a time.
cdef enum:
    BLOCK = 1024
    # low, high, missing
    N_NUMERIC_STEPS = 3

BLOCK_ROWS = BLOCK
GROUP_ROWS = N_LANES

PACKED_NODE_DTYPE = np.dtype(
    [("threshold", np.float64), ("feature", np.int32), ("first_child", np.int32)]
)
CODED_TEST_DTYPE = np.dtype(
    [
        ("threshold", np.float64),
        ("feature", np.int32),
        ("first_step", np.int32),
        ("n_codes", np.int32),
    ],
    align=True,
)


def find_starts(records, n_nodes):
    """The first record of each node, and the number of all, of a side table."""
    return np.searchsorted(records["node"], np.arange(n_nodes + 1)).astype(np.int64)


cdef class RouteTables:
    """The arrays of a tree, held for as long as a walk reads them."""

    cdef TreeView view
    cdef const Node[::1] nodes
    cdef const int32_t[::1] level_branch
    cdef const int64_t[::1] n_levels
    cdef const Surrogate[::1] surrogates
    cdef const int64_t[::1] surrogate_start
    cdef const Term[::1] terms
    cdef const int64_t[::1] term_start

    def __cinit__(self, tree):
        self.nodes = tree.nodes
        self.view.nodes = &self.nodes[0]
        self.level_branch = tree.level_branch
        if self.level_branch.shape[0] > 0:
            self.view.level_branch = &self.level_branch[0]
        self.n_levels = np.ascontiguousarray(tree.n_levels, dtype=np.int64)
        self.view.n_levels = &self.n_levels[0]
        self.surrogates = tree.surrogates
        if self.surrogates.shape[0] > 0:
            self.surrogate_start = find_starts(tree.surrogates, tree.node_count)
            self.view.surrogates = &self.surrogates[0]
            self.view.surrogate_start = &self.surrogate_start[0]
        self.terms = tree.terms
        if self.terms.shape[0] > 0:
            self.term_start = find_starts(tree.terms, tree.node_count)
            self.view.terms = &self.terms[0]
            self.view.term_start = &self.term_start[0]
        self.view.unseen_branch = {
            "parent": STAY, "fractional": FRACTIONAL, "error": UNSEEN_ERROR
        }[tree.handle_unknown]


# ------------------------------------------------------------------ the fast walk
cdef class FastTables:
    """A tree in the form of the fast walk, at the cost of one look at each node."""

    cdef FastTree view
    cdef PackedNode[::1] nodes
    cdef CodedTest[::1] tests
    cdef int32_t[::1] steps

    @staticmethod
    def of_numeric(RouteTables tables, bint marks_missing):
        """For a tree of numeric tests.

        marks_missing: leave every row to the full walk that meets a missing value,
        whatever the node's missing_branch.
        """
        cdef FastTables fast = FastTables()
        cdef Py_ssize_t n_nodes = tables.nodes.shape[0]
        # Nobody arrives at the last, but the last leaf's neighbour must be readable.
        fast.nodes = np.zeros(n_nodes + 1, dtype=PACKED_NODE_DTYPE)
        fast.view.nodes = &fast.nodes[0]
        fast.view.marks_missing = marks_missing
        with nogil:
            pack_nodes(tables.nodes, fast.nodes, marks_missing)
        return fast

    @staticmethod
    def of_coded(RouteTables tables, Py_ssize_t n_steps):
        """For any tree; n_steps as returned by count_steps."""
        cdef FastTables fast = FastTables()
        cdef Py_ssize_t n_nodes = tables.nodes.shape[0]
        fast.tests = np.zeros(n_nodes + 1, dtype=CODED_TEST_DTYPE)
        fast.steps = np.zeros(n_steps, dtype=np.int32)
        fast.view.tests = &fast.tests[0]
        fast.view.steps = &fast.steps[0]
        fast.view.sink = <int32_t> n_nodes
        with nogil:
            pack_tests(&tables.view, n_nodes, fast.tests, fast.steps)
        return fast


cdef void pack_nodes(
    const Node[::1] nodes, PackedNode[::1] packed, bint marks_missing
) noexcept nogil:
    cdef Py_ssize_t i
    cdef const Node* node
    for i in range(nodes.shape[0]):
        node = &nodes[i]
        if node.kind == LEAF:
            packed[i].threshold = INFINITY
            packed[i].first_child = 2 * <int32_t> i
        else:
            packed[i].threshold = node.threshold
            packed[i].feature = node.feature
            packed[i].first_child = 2 * node.first_child + (
                marks_missing or node.missing_branch == 1
            )


def count_steps(RouteTables tables):
    """Entries that FastTables.of_coded needs for its steps."""
    cdef Py_ssize_t i
    cdef int64_t n_steps = N_NUMERIC_STEPS
    cdef const Node* node
    with nogil:
        for i in range(tables.nodes.shape[0]):
            node = &tables.nodes[i]
            if node.kind == NUMERIC:
                n_steps += N_NUMERIC_STEPS
            elif node.kind != LEAF:
                n_steps += tables.n_levels[node.feature] + N_NUMERIC_STEPS
    return n_steps


cdef void pack_tests(
    const TreeView* tree, Py_ssize_t n_nodes, CodedTest[::1] tests, int32_t[::1] steps
) noexcept nogil:
    cdef int32_t number, branch, sink = <int32_t> n_nodes
    # The first row of steps is that of all leaves and of the sink: they stay.
    cdef int32_t place = N_NUMERIC_STEPS, code
    cdef const Node* node
    cdef CodedTest* test
    tests[sink].threshold = INFINITY
    for number in range(sink):
        node = &tree.nodes[number]
        test = &tests[number]
        test.threshold = INFINITY
        if node.kind == LEAF:
            continue
        test.feature = node.feature
        test.first_step = place
        if node.kind == NUMERIC:
            test.threshold = node.threshold
            steps[place] = node.first_child - number
            steps[place + 1] = node.first_child + 1 - number
            place += 2
        else:
            test.n_codes = <int32_t> tree.n_levels[node.feature]
            test.threshold = test.n_codes
            for code in range(-1, test.n_codes + 1):
                branch = test_value(
                    tree, node.kind, node.feature, node.map_start, node.threshold, 0,
                    code,
                )
                steps[place] = sink - number
                if branch >= 0:
                    steps[place] = node.first_child + branch - number
                place += 1
        steps[place] = sink - number
        if node.missing_branch >= 0 and not has_surrogates(tree, number):
            steps[place] = node.first_child + node.missing_branch - number
        place += 1


cdef Table view_table(matrix) except *:
    """The entries of an array of float32 or float64, which the caller holds."""
    cdef const float[:, :] singles
    cdef const double[:, :] doubles
    cdef Table table
    table.n_rows, table.n_columns = matrix.shape
    table.is_single = matrix.dtype == np.float32
    if table.is_single:
        singles = matrix
        table.start = <const char*> &singles[0, 0]
    else:
        doubles = matrix
        table.start = <const char*> &doubles[0, 0]
    table.row_stride, table.column_stride = matrix.strides
    return table


# ---------------------------------------------------------------------- the walk
cdef inline int64_t find_end(
    const TreeView* tree, const Table* table, Py_ssize_t number, int64_t* error
) noexcept nogil:
    cdef Row row = view_row(table, number)
    cdef int32_t node = 0, unseen = 0
    cdef int32_t branch = walk_on(tree, &row, &node, &unseen)
    if branch == UNSEEN_ERROR:
        note_error(error, number, unseen)
    return ~<int64_t> node if branch == FRACTIONAL else node


# Blocks of rows that threads share, with the arrays of the functions below, or NULL.
cdef struct Walk:
    const TreeView* tree
    const FastTree* fast
    Table table
    int64_t* ended
    const double* shares
    double* predicted
    Py_ssize_t width
    int64_t* errors
    # rows that are divided, and the memory of each thread for them
    const int64_t* rows
    Py_ssize_t n_rows
    int32_t* pending
    double* pending_share
    Py_ssize_t n_pending


cdef void walk_block(void* context, int64_t block, int thread) noexcept nogil:
    cdef const Walk* walk = <Walk*> context
    cdef Py_ssize_t first = block * BLOCK, number, i
    cdef int64_t* ended = walk.ended
    cdef const double* source
    cdef double* target
    cdef Table part = walk.table
    part.start += first * part.row_stride
    part.n_rows = min(<Py_ssize_t> BLOCK, part.n_rows - first)
    if walk.fast != NULL:
        walk_table(walk.fast, &part, ended + first)
    for number in range(first, first + part.n_rows):
        if walk.fast == NULL or ended[number] == INT64_MIN:
            ended[number] = find_end(
                walk.tree, &walk.table, number, walk.errors + 2 * block
            )
    if walk.shares == NULL:
        return
    for number in range(first, first + part.n_rows):
        if ended[number] >= 0:
            source = walk.shares + ended[number] * walk.width
            target = walk.predicted + number * walk.width
            for i in range(walk.width):
                target[i] = source[i]


def walk_rows(
    matrix, RouteTables tables, FastTables fast_tables,
    int64_t[::1] ended, const double[:, ::1] shares, double[:, ::1] gathered,
    int64_t[:, ::1] errors, int n_threads,
):
    """Find the node where each row ends, and its distribution.

    matrix, tables, fast_tables: the rows and the tree; fast_tables may be None.
    ended: written; a leaf, or the inner node where the row stays, or ~node for a row
        that is divided among the node's children.
    shares, gathered: read and written; gathered[i] = shares[ended[i]], but for rows
        that are divided. Both may be None.
    errors: written, one for each block of rows; (row, column) of its first unseen
        level, if that is an error, else left alone.
    """
    cdef Walk walk = Walk(
        &tables.view, NULL, view_table(matrix), &ended[0], NULL, NULL, 0,
        &errors[0, 0], NULL, 0, NULL, NULL, 0,
    )
    if fast_tables is not None:
        walk.fast = &fast_tables.view
    if shares is not None:
        walk.shares, walk.predicted = &shares[0, 0], &gathered[0, 0]
        walk.width = shares.shape[1]
    run_in_threads(n_threads, walk_block, &walk, errors.shape[0])


# --------------------------------------------------------------------- divided rows
def spread_rows(
    matrix, RouteTables tables, const int64_t[::1] rows,
    const int64_t[::1] ended, const double[:, ::1] shares, int32_t[:, ::1] pending,
    double[:, ::1] pending_share, double[:, ::1] means, int64_t[:, ::1] errors,
):
    """Fill ``means`` for the rows that are divided; one thread per line of pending."""
    cdef Walk walk = Walk(
        &tables.view, NULL, view_table(matrix), <int64_t*> &ended[0], &shares[0, 0],
        &means[0, 0], shares.shape[1], &errors[0, 0], &rows[0], rows.shape[0],
        &pending[0, 0], &pending_share[0, 0], pending.shape[1],
    )
    # The last block may be empty.
    run_in_threads(
        <int> pending.shape[0], spread_block, &walk, 1 + rows.shape[0] // BLOCK
    )


cdef void spread_block(void* context, int64_t block, int thread) noexcept nogil:
    cdef const Walk* walk = <Walk*> context
    cdef Py_ssize_t i, number, first = block * BLOCK
    cdef Row row
    for i in range(first, min(walk.n_rows, first + BLOCK)):
        number = walk.rows[i]
        row = view_row(&walk.table, number)
        spread_row(
            walk.tree, &row, <int32_t> ~walk.ended[number], walk.shares, walk.width,
            walk.pending + thread * walk.n_pending,
            walk.pending_share + thread * walk.n_pending,
            walk.predicted + number * walk.width, number, walk.errors + 2 * thread,
        )


include "_paths.pxi"


# ----------------------------------------------- trees in the form of _mixed_walk.pxd

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


# --------------------------------------------------------------------------- many trees
cdef class PackedTrees:
    """Trees of binary tests, held for as long as walks read them.

    packs: a PackedTree for each; all are over the same columns.
    """

    cdef Member* members
    cdef readonly Py_ssize_t n_members
    cdef readonly list packs
    # the words of a row, of which there are none for trees over numeric columns
    cdef WordLayout layout
    cdef const int64_t[::1] n_levels
    cdef const int64_t[::1] place
    cdef const int64_t[::1] first_bit

    def __cinit__(self, packs):
        cdef const PackedNode[::1] nodes
        cdef const MixedNode[::1] mixed_nodes
        cdef const LackedLevels[::1] lacked
        cdef const int32_t[::1] leaf_number
        cdef const double[:, ::1] shares
        cdef Py_ssize_t i
        self.packs = list(packs)
        self.n_members = len(self.packs)
        self.members = <Member*> malloc(self.n_members * sizeof(Member))
        if self.members == NULL:
            raise MemoryError()
        for i in range(self.n_members):
            shares = self.packs[i].shares
            if self.packs[i].lacked is None:
                nodes, leaf_number = self.packs[i].nodes, self.packs[i].leaf_number
                self.members[i].nodes = &nodes[0]
                self.members[i].leaf_number = &leaf_number[0]
            else:
                mixed_nodes, lacked = self.packs[i].nodes, self.packs[i].lacked
                self.members[i].nodes = NULL
                self.members[i].leaf_number = NULL
                self.members[i].mixed = MixedTree(&mixed_nodes[0], &lacked[0])
            self.members[i].shares = &shares[0, 0]
            self.members[i].n_turns = min(self.packs[i].depth, N_FIRST_TURNS)
        self.layout.n_words = 0
        if self.packs[0].lacked is not None:
            self.n_levels = self.packs[0].n_levels
            self.place, self.first_bit, n_words, n_level_words = place_words(
                self.packs[0].n_levels
            )
            self.layout = WordLayout(
                n_words, n_level_words, &self.n_levels[0], &self.place[0],
                &self.first_bit[0],
            )

    @property
    def word_bytes(self):
        """Size of the words of a row; 0 if the walk reads the table itself."""
        cdef Py_ssize_t n_words = self.layout.n_words
        if n_words > 0:
            n_words += self.layout.n_level_words
        return n_words * sizeof(uint64_t)

    def __dealloc__(self):
        free(self.members)


cdef struct ForestWalk:
    # Blocks of rows that threads share, each with working memory of its own.
    const Member* members
    Py_ssize_t n_members
    Table table
    Py_ssize_t block_rows
    const WordLayout* layout
    Collecting collecting
    char* copied
    Py_ssize_t copied_size
    int32_t* numbers
    Py_ssize_t numbers_size
    uint8_t* is_complete
    Py_ssize_t complete_size


cdef void serve_rows(void* context, int64_t block, int thread) noexcept nogil:
    cdef const ForestWalk* walk = <ForestWalk*> context
    cdef BlockScratch scratch
    scratch.position = walk.numbers + thread * walk.numbers_size
    scratch.active = scratch.position + walk.block_rows
    scratch.is_complete = walk.is_complete + thread * walk.complete_size
    serve_block(
        walk.members, walk.n_members, &walk.table, block * walk.block_rows,
        walk.block_rows, walk.layout, &walk.collecting,
        walk.copied + thread * walk.copied_size, &scratch,
    )


def walk_trees(
    matrix, PackedTrees trees, const double[::1] weights,
    double[:, :, ::1] sums, bint votes, int64_t[:, :] leaves, char[:, ::1] copied,
    int32_t[:, ::1] numbers, uint8_t[:, ::1] is_complete, Py_ssize_t block_rows,
):
    """Walk rows through trees of binary tests.

    sums: read and written; gets the distributions, or votes, times the weight of the
        tree. None if leaves are wanted.
    leaves: written, a column per tree; None if sums are wanted.
    copied, numbers, is_complete: working memory, a line per thread: the words of a
        block, or its rows if their entries lie apart; two numbers for each row and a
        group more; and an entry for each group.
    """
    cdef Table table = view_table(matrix)
    cdef Collecting collecting
    cdef ForestWalk walk
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
    walk = ForestWalk(
        trees.members, trees.n_members, table, block_rows, &trees.layout, collecting,
        &copied[0, 0], copied.shape[1], &numbers[0, 0],
        numbers.shape[1], &is_complete[0, 0], is_complete.shape[1],
    )
    run_in_threads(
        <int> numbers.shape[0], serve_rows, &walk,
        (table.n_rows + block_rows - 1) // block_rows,
    )


include "_shapley_edges.pxi"
include "_shapley.pxi"
include "_shapley_rows.pxi"
