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
        """tree: a GrownTree. Of arrays without entries, pointers stay NULL."""
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
    """Write the nodes of a tree of numeric tests.

    marks_missing: set bit 0 of first_child in every test, so that the walk notes each
    missing value; else only in tests that send it to the second child.
    """
    cdef Py_ssize_t i
    cdef const Node* node
    for i in range(nodes.shape[0]):
        node = &nodes[i]
        if node.kind == LEAF:
            # Its own child: no value is above infinity.
            packed[i].threshold = INFINITY
            packed[i].first_child = 2 * <int32_t> i
        else:
            packed[i].threshold = node.threshold
            packed[i].feature = node.feature
            packed[i].first_child = 2 * node.first_child + (
                marks_missing or node.missing_branch == 1
            )


def count_steps(RouteTables tables):
    """Entries that FastTables.of_coded needs for its steps: a row for all leaves, and
    one for each test, of 3 entries and one for each code."""
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
    """Write the tests of any tree but an oblique one, and their rows of steps.

    What no step can say leads to the sink, the node behind the last one: a level
    without a branch, and a missing value that is not sent to one child or may have a
    surrogate.
    """
    cdef int32_t number, branch, sink = <int32_t> n_nodes
    # The first row of steps is that of all leaves and of the sink: they stay.
    cdef int32_t place = N_NUMERIC_STEPS, code
    cdef const Node* node
    cdef CodedTest* test
    tests[sink].threshold = INFINITY
    for number in range(sink):
        node = &tree.nodes[number]
        test = &tests[number]
        # A leaf keeps the first row of steps, which are all 0.
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
            # -1 and n_codes are unseen levels, for which test_value finds no branch.
            for code in range(-1, test.n_codes + 1):
                branch = test_value(
                    tree, node.kind, node.feature, node.map_start, node.threshold, 0,
                    code,
                )
                steps[place] = sink - number
                # Children follow each other, so a branch is an offset.
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
    """The node where a row ends, or ~node if it is divided there, by the full walk.

    error: (row, column) of the first unseen level that is an error, kept if set.
    """
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
    const double* fractions
    double* predicted
    Py_ssize_t width
    int64_t* errors
    # rows that are divided, and the memory of each thread for them
    const int64_t* rows
    Py_ssize_t n_rows
    int32_t* pending
    double* pending_fraction
    Py_ssize_t n_pending


cdef void walk_block(void* context, int64_t block, int thread) noexcept nogil:
    """Find where the rows of a block end, and copy the distributions of these nodes.

    The fast walk leaves INT64_MIN for rows that need the full one. Rows that are
    divided are left out of ``predicted``: spread_rows fills them in.
    """
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
        # Errors are noted per block, so that the first one does not depend on threads.
        if walk.fast == NULL or ended[number] == INT64_MIN:
            ended[number] = find_end(
                walk.tree, &walk.table, number, walk.errors + 2 * block
            )
    if walk.fractions == NULL:
        return
    for number in range(first, first + part.n_rows):
        if ended[number] >= 0:
            source = walk.fractions + ended[number] * walk.width
            target = walk.predicted + number * walk.width
            for i in range(walk.width):
                target[i] = source[i]


def walk_rows(
    matrix, RouteTables tables, FastTables fast_tables,
    int64_t[::1] ended, const double[:, ::1] fractions, double[:, ::1] gathered,
    int64_t[:, ::1] errors, int n_threads,
):
    """Find the node where each row ends, and its distribution.

    matrix, tables, fast_tables: the rows and the tree; fast_tables may be None.
    ended: written; a leaf, or the inner node where the row stays, or ~node for a row
        that is divided among the node's children.
    fractions, gathered: read and written; gathered[i] = fractions[ended[i]], but for
        rows that are divided. Both may be None.
    errors: written, one for each block of rows; (row, column) of its first unseen
        level, if that is an error, else left alone.
    """
    cdef Walk walk = Walk(
        &tables.view, NULL, view_table(matrix), &ended[0], NULL, NULL, 0,
        &errors[0, 0], NULL, 0, NULL, NULL, 0,
    )
    if fast_tables is not None:
        walk.fast = &fast_tables.view
    if fractions is not None:
        walk.fractions, walk.predicted = &fractions[0, 0], &gathered[0, 0]
        walk.width = fractions.shape[1]
    run_in_threads(n_threads, walk_block, &walk, errors.shape[0])


# --------------------------------------------------------------------- divided rows
def spread_rows(
    matrix, RouteTables tables, const int64_t[::1] rows,
    const int64_t[::1] ended, const double[:, ::1] fractions, int32_t[:, ::1] pending,
    double[:, ::1] pending_fraction, double[:, ::1] means, int64_t[:, ::1] errors,
):
    """Fill ``means`` for the rows that are divided; one thread per line of pending."""
    cdef Walk walk = Walk(
        &tables.view, NULL, view_table(matrix), <int64_t*> &ended[0], &fractions[0, 0],
        &means[0, 0], fractions.shape[1], &errors[0, 0], &rows[0], rows.shape[0],
        &pending[0, 0], &pending_fraction[0, 0], pending.shape[1],
    )
    # The last block may be empty.
    run_in_threads(
        <int> pending.shape[0], spread_block, &walk, 1 + rows.shape[0] // BLOCK
    )


cdef void spread_block(void* context, int64_t block, int thread) noexcept nogil:
    """Write the means of some of the rows that are divided.

    Working memory and errors are of the thread.
    """
    cdef const Walk* walk = <Walk*> context
    cdef Py_ssize_t i, number, first = block * BLOCK
    cdef Row row
    for i in range(first, min(walk.n_rows, first + BLOCK)):
        number = walk.rows[i]
        row = view_row(&walk.table, number)
        spread_row(
            walk.tree, &row, <int32_t> ~walk.ended[number], walk.fractions, walk.width,
            walk.pending + thread * walk.n_pending,
            walk.pending_fraction + thread * walk.n_pending,
            walk.predicted + number * walk.width, number, walk.errors + 2 * thread,
        )


# ------------------------------------------------------------------------------------
# The nodes that rows go through.
# ------------------------------------------------------------------------------------


cdef struct Paths:
    # Blocks of rows that threads share: to count nodes, a line of entered and errors
    # for each thread; to write them, where.
    const TreeView* tree
    Table table
    const int64_t* ended
    const int64_t* depth
    int64_t* n_nodes
    int32_t* entered
    Py_ssize_t n_entered
    int64_t* errors
    const int64_t* path_start
    int32_t* path_nodes


cdef void count_block(void* context, int64_t block, int thread) noexcept nogil:
    """Count the nodes that the rows of a block enter.

    A row that ends in one node enters all on the way to it, depth + 1; a divided one
    those above the node that divides it, which are as many as its depth, and what it
    enters from there on.
    """
    cdef const Paths* paths = <Paths*> context
    cdef Py_ssize_t number, first = block * BLOCK
    cdef int32_t node
    cdef Row row
    for number in range(first, min(paths.table.n_rows, first + BLOCK)):
        node = <int32_t> paths.ended[number]
        if node >= 0:
            paths.n_nodes[number] = paths.depth[node] + 1
        else:
            row = view_row(&paths.table, number)
            paths.n_nodes[number] = paths.depth[~node] + enter_nodes(
                paths.tree, &row, ~node, paths.entered + thread * paths.n_entered,
                number, paths.errors + 2 * thread,
            )


def count_path_nodes(
    matrix, RouteTables tables, const int64_t[::1] ended,
    const int64_t[::1] depth, int64_t[::1] n_nodes, int32_t[:, ::1] entered,
    int64_t[:, ::1] errors,
):
    """Number of nodes that each row enters; one thread per line of ``entered``."""
    cdef Paths paths = Paths(
        &tables.view, view_table(matrix), &ended[0], &depth[0], &n_nodes[0],
        &entered[0, 0], entered.shape[1], &errors[0, 0], NULL, NULL,
    )
    run_in_threads(
        <int> entered.shape[0], count_block, &paths, 1 + ended.shape[0] // BLOCK
    )


cdef void fill_block(void* context, int64_t block, int thread) noexcept nogil:
    """Write the paths of a block of rows, from the known ends upwards.

    Errors have been reported when the nodes were counted, hence ``ignored``: its first
    entry is not negative, as if one were noted already.
    """
    cdef const Paths* paths = <Paths*> context
    cdef Py_ssize_t number, i, first = block * BLOCK
    cdef int32_t node
    cdef int32_t* path
    cdef int64_t ignored[2]
    cdef Row row
    ignored[0] = 0
    for number in range(first, min(paths.table.n_rows, first + BLOCK)):
        node = <int32_t> paths.ended[number]
        path = paths.path_nodes + paths.path_start[number]
        if node < 0:
            node = ~node
            row = view_row(&paths.table, number)
            enter_nodes(
                paths.tree, &row, node, path + paths.depth[node], number, ignored
            )
        # Number and depth ascend together from parent to child, so the path is
        # ascending.
        for i in range(paths.depth[node], -1, -1):
            path[i] = node
            node = paths.tree.nodes[node].parent


def fill_path_nodes(
    matrix, RouteTables tables, const int64_t[::1] ended,
    const int64_t[::1] depth, const int64_t[::1] path_start, int32_t[::1] path_nodes,
    int n_threads,
):
    """Write the nodes of each row's path, ascending, from path_start on."""
    cdef Paths paths = Paths(
        &tables.view, view_table(matrix), &ended[0], &depth[0], NULL, NULL, 0, NULL,
        &path_start[0], &path_nodes[0],
    )
    run_in_threads(n_threads, fill_block, &paths, 1 + ended.shape[0] // BLOCK)


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
    how many words there are, and words of levels.

    n_levels: of each column, 0 if it is numeric. A column with more than MAX_LEVEL_BITS
    levels is compared like a number and has one bit, for levels never seen.
    """
    is_number = (n_levels == 0) | (n_levels > MAX_LEVELS)
    n_words = np.where(is_number, 2, 1)
    place = N_CONSTANT_WORDS + np.cumsum(n_words) - n_words
    first_bit, end = np.zeros(len(n_levels), dtype=np.int64), 0
    for column in np.flatnonzero(n_levels).tolist():
        n_bits = 1 if is_number[column] else int(n_levels[column]) + 1
        # The bits of a column are in one word.
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

    All children stand in pairs, in the order of their parents. place, first_bit: as of
    place_words. ends: row of the distributions of each node in which rows may end.
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
                # An ordinal test knows all levels.
                known = (<uint64_t> 1 << n) - 1
                for code in range(n):
                    if code > threshold[node]:
                        second |= <uint64_t> 1 << code
            # One more bit than levels: that of levels never seen.
            absent = (~known) & (~(<uint64_t> 0) >> (MAX_LEVEL_BITS - n))
            # A missing value has the highest bit of the word.
            second |= <uint64_t> missing_branch[node] << MAX_LEVEL_BITS
            packed.operand = ~second
            packed.mask = <uint16_t> place[column]
            packed.bound = 1
        else:
            # Of the column's two words the one that sends a missing value to its
            # branch.
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
            # Joined with what the tests before lack in the same word: one comparison
            # for both.
            if number != 0 and lacked[number].word == new.word:
                absent &= ~lacked[number].levels
                new.levels |= lacked[number].levels
                new.other = lacked[number].other
            if absent != 0:  # more than the tests before it lack
                number = n_lacked
                n_lacked += 1
        packed.first_child = child
        # What is lacked up to this test holds for both children.
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
        """packs: at least one; all have words (``lacked``), or none has."""
        cdef const PackedNode[::1] nodes
        cdef const MixedNode[::1] mixed_nodes
        cdef const LackedLevels[::1] lacked
        cdef const int32_t[::1] leaf_number
        cdef const double[:, ::1] fractions
        cdef Py_ssize_t i
        self.packs = list(packs)
        self.n_members = len(self.packs)
        self.members = <Member*> malloc(self.n_members * sizeof(Member))
        if self.members == NULL:
            raise MemoryError()
        for i in range(self.n_members):
            # The packs hold the arrays, so the pointers outlive these views.
            fractions = self.packs[i].fractions
            if self.packs[i].lacked is None:
                nodes, leaf_number = self.packs[i].nodes, self.packs[i].leaf_number
                self.members[i].nodes = &nodes[0]
                self.members[i].leaf_number = &leaf_number[0]
            else:
                mixed_nodes, lacked = self.packs[i].nodes, self.packs[i].lacked
                self.members[i].nodes = NULL
                self.members[i].leaf_number = NULL
                self.members[i].mixed = MixedTree(&mixed_nodes[0], &lacked[0])
            self.members[i].fractions = &fractions[0, 0]
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
        """The arrays belong to the packs; only the list of members is freed."""
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
    """Walk a block of rows through all trees, in the memory of the thread."""
    cdef const ForestWalk* walk = <ForestWalk*> context
    cdef BlockScratch scratch
    scratch.position = walk.numbers + thread * walk.numbers_size
    # In one array: a number for each row, then the list of those that walk on.
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


# ------------------------------------------------------------------------------------
# The edges of a tree, listed for Shapley values.
# ------------------------------------------------------------------------------------


EDGE_DTYPE = np.dtype(
    [
        # child number, or STAY: the row ends in the parent
        ("child", np.int32),
        # node whose value a leaf adds, or whose test follows
        ("node", np.int32),
        # column of the test; ~parent if it is oblique, which counts as a column
        ("feature", np.int32),
        # number of tests up to this edge
        ("level", np.int32),
        # level of the last edge before it with the same column; 0: none
        ("previous", np.int32),
        # whether the tree has none below
        ("is_leaf", np.int32),
        # whether it is the previous one of another
        ("is_previous", np.int32),
        # first edge that is not below
        ("next", np.int32),
        # part of the parent's training weight
        ("part", np.float64),
        # product of the parts of this edge and those before it with the same column
        ("product", np.float64),
    ],
    align=True,
)

# The C struct of EDGE_DTYPE.
cdef struct Edge:
    int32_t child
    int32_t node
    int32_t feature
    int32_t level
    int32_t previous
    int32_t is_leaf
    int32_t is_previous
    int32_t next
    double part
    double product


cdef class EdgeList:
    """The edges of a tree, with what the walk reads of it."""

    cdef readonly object edges
    cdef readonly int32_t n_levels
    # most columns that are tested on a path
    cdef readonly int32_t n_columns
    cdef Edge[::1] view
    cdef RouteTables tables
    cdef const double[:, ::1] values
    # columns of the oblique tests and their fractions; start: the first of every node
    cdef int64_t[::1] fraction_start
    cdef int32_t[::1] fraction_column
    cdef double[::1] fraction

    def __cinit__(self, tree):
        """tree: a regression tree, of which the statistics are the values."""
        self.tables = RouteTables(tree)
        terms = tree.terms[list_first_levels(tree.terms)]
        nodes = np.arange(tree.node_count + 1)
        self.fraction_start = np.searchsorted(terms["node"], nodes).astype(np.int64)
        self.fraction_column = np.append(terms["feature"], np.int32(0))
        # The fractions of a test, scaled to sum to 1; equal ones if they are all 0.
        fraction = terms["share"].astype(np.float64)
        total = np.bincount(terms["node"], fraction, minlength=1)[terms["node"]]
        number = np.bincount(terms["node"], minlength=1)[terms["node"]]
        fraction = np.where(
            total > 0.0, fraction / np.maximum(total, 1e-300), 1.0 / number
        )
        self.fraction = np.append(fraction, 0.0)
        self.values = np.ascontiguousarray(tree.statistics[:, :, 0])
        self.edges = np.zeros(2 * tree.node_count, dtype=EDGE_DTYPE)
        self.view = self.edges
        cdef int32_t[::1] stack = np.empty(2 * tree.node_count + 1, dtype=np.int32)
        cdef int32_t[::1] parents = np.empty_like(stack)
        cdef int32_t[::1] levels = np.empty_like(stack)
        cdef int32_t[::1] path = np.zeros(tree.node_count + 1, dtype=np.int32)
        cdef int64_t n_edges
        with nogil:
            n_edges = self.list_edges(stack, parents, levels, path)
        self.edges = self.edges[:n_edges]
        self.n_levels = 1 + max(self.edges["level"], default=0)

    cdef int64_t list_edges(
        self, int32_t[::1] stack, int32_t[::1] parents, int32_t[::1] levels,
        int32_t[::1] path,
    ) noexcept nogil:
        """Write the edges. path: the edge of each level on the way to the present one.

        An entry of the stack is a node to enter, or ~node for rows that stay there.
        """
        cdef const Node* nodes = &self.tables.nodes[0]
        cdef const Node* parent
        cdef Edge* edge
        cdef int64_t n_stacked = 0, n_edges = 0
        cdef int32_t i, number, node
        cdef double weight
        if nodes[0].kind == LEAF:
            return 0
        n_stacked = stack_children(&self.tables.view, 0, 0, stack, parents, levels, 0)
        while n_stacked > 0:
            n_stacked -= 1
            number, node = stack[n_stacked], parents[n_stacked]
            parent = &nodes[node]
            edge = &self.view[n_edges]
            # In preorder: what is below an edge follows it, up to edge.next.
            edge.level = levels[n_stacked] + 1
            edge.feature = ~node if parent.kind == OBLIQUE else parent.feature
            weight = 0.0
            for i in range(parent.n_children):
                weight += nodes[parent.first_child + i].weight
            if number < 0:
                edge.child, edge.node, edge.is_leaf = STAY, node, True
                # Of a column that is not known, nothing stays unless there is no child.
                edge.part = 0.0 if weight > 0.0 else 1.0
            else:
                edge.child, edge.node = number - parent.first_child, number
                edge.is_leaf = nodes[number].kind == LEAF
                edge.part = nodes[number].weight / weight if weight > 0.0 else 0.0
            self.join_columns(edge, path)
            path[edge.level] = <int32_t> n_edges
            n_edges += 1
            if not edge.is_leaf:
                n_stacked = stack_children(
                    &self.tables.view, number, edge.level, stack, parents, levels,
                    n_stacked,
                )
        self.find_ends(n_edges, path)
        return n_edges

    cdef void join_columns(self, Edge* edge, const int32_t[::1] path) noexcept nogil:
        """Find the previous edge of the column, and count the columns of the path."""
        cdef int32_t level, n_columns = 0
        cdef Edge* other
        edge.product, edge.previous = edge.part, 0
        for level in range(edge.level - 1, 0, -1):
            other = &self.view[path[level]]
            # An edge without a previous one is the first of its column on the path.
            n_columns += other.previous == 0
            # From the leaf's side upwards, so this is the last one of the column; its
            # product includes those before it.
            if edge.previous == 0 and other.feature == edge.feature:
                edge.previous = level
                edge.product = other.product * edge.part
                other.is_previous = True
        n_columns += edge.previous == 0
        self.n_columns = max(self.n_columns, n_columns)

    cdef void find_ends(self, int64_t n_edges, int32_t[::1] path) noexcept nogil:
        """Find the first edge that is not below each. path: working memory, where up to
        the level ``last`` the next edge of this level or above it is noted."""
        cdef int64_t i
        cdef int32_t level, last = <int32_t> (path.shape[0] - 1)
        for i in range(path.shape[0]):
            path[i] = <int32_t> n_edges
        for i in range(n_edges - 1, -1, -1):
            level = self.view[i].level
            # No edge of these levels has followed yet: the next one above them is what
            # ends this branch.
            while last < level:
                last += 1
                path[last] = path[last - 1]
            self.view[i].next = path[level]
            last = level
            path[level] = <int32_t> i


cdef int64_t stack_children(
    const TreeView* tree, int32_t node, int32_t level, int32_t[::1] stack,
    int32_t[::1] parents, int32_t[::1] levels, int64_t n_stacked,
) noexcept nogil:
    """Push the children of a node, and the node itself if rows may stay there.

    Returns the new height of the stack; the first child is on top of its siblings,
    under the node itself.
    """
    cdef const Node* record = &tree.nodes[node]
    cdef int32_t i
    cdef double weight = 0.0
    for i in range(record.n_children - 1, -1, -1):
        stack[n_stacked] = record.first_child + i
        parents[n_stacked], levels[n_stacked] = node, level
        weight += tree.nodes[record.first_child + i].weight
        n_stacked += 1
    if (
        record.missing_branch == STAY or weight <= 0.0
        or (record.kind != NUMERIC and tree.unseen_branch != FRACTIONAL)
    ):
        stack[n_stacked] = ~node
        parents[n_stacked], levels[n_stacked] = node, level
        n_stacked += 1
    return n_stacked


# ------------------------------------------------------------------------------------
# Shapley values of trees; shapley.py explains them.
#
# A group of rows goes through all nodes of a tree, also those that it does not reach.
# The edges of a tree are listed in the order of a depth-first walk. On the way down to
# an edge, the product of the factors of all columns is known at every point of the
# quadrature; on the way back, the sum of the values below, times the factors below.
#
# The factor of a column at a point t is f(t) = z + t (o - z) = z (1 - t) + t o, with z
# and o as in shapley.py: z is ``product`` of the last edge of the column on the path, o
# is ``taken``. The arrays of a level have n_points lines of LANES numbers, one for each
# row of the group; ``level`` counts the tests above, so the root is at level 0.
# ------------------------------------------------------------------------------------


cdef enum:
    # rows of a group
    LANES = 8


# Working memory of a thread: lines of LANES for the points of the quadrature, of each
# level. At a node whose column has a previous edge on the path, the factors of the
# node's edges take the place of that one's.
cdef struct Scratch:
    # product of the factors of all columns on the path to a node
    double* above
    # the same without the node's own column
    double* others
    # the same divided again by the previous factor of the column; and the sum of that
    # over the points, a line for each level
    double* reduced
    double* reduced_sum
    # factor of an edge
    double* factor
    # reciprocals of the factors of edges that are previous ones
    double* inverse
    # sum of values below a node, times the factors from its edges on; of pairs the
    # changes of the factors of each column of a path, relative to them
    double* below
    # product of what a row takes of the edges of the same column
    double* taken
    # products of a path and the change of one of its columns
    double* changed
    # branch of each row
    int32_t* branch
    # level of the previous edge of the column that a node tests; 0: none
    int32_t* previous
    # whether a later edge of the path has the same column
    int32_t* is_replaced
    # columns of the path
    int32_t* columns


# What a walk reads of a tree.
cdef struct TreeEdges:
    const TreeView* view
    const Edge* edges
    int64_t n_edges
    const double* values
    int64_t n_values
    # first score to which it adds
    int64_t first
    const int64_t* fraction_start
    const int32_t* fraction_column
    const double* fraction
    # points of the quadrature, and their weights
    const double* points
    const double* weights
    int64_t n_points


cdef struct Group:
    # What a walk reads and writes.
    TreeEdges tree
    # first of the rows, which are LANES, or of fewer the last again
    const double* rows
    int64_t n_rows
    int64_t n_columns
    # sums of the group: (n_columns, n_scores, LANES), from the first score of the tree
    double* sums
    int64_t n_scores
    # whether the sums are those of pairs: (n_columns, n_columns, n_scores, LANES)
    bint takes_pairs
    # level of the last open edge
    int32_t top
    Scratch scratch


cdef void find_lane_branches(
    Group* group, int32_t number, int32_t* branch
) noexcept nogil:
    """Find the branch of every row at a node: a child, STAY or FRACTIONAL.

    Empty lanes of the last group repeat its last row.
    """
    cdef const Node* node = &group.tree.view.nodes[number]
    cdef const double* entry
    cdef double value
    cdef int64_t lane
    cdef int32_t unseen
    cdef Row row
    cdef bint is_plain = node.kind == NUMERIC
    for lane in range(LANES):
        entry = group.rows + min(lane, group.n_rows - 1) * group.n_columns
        value = entry[node.feature]
        if is_plain and value == value:
            branch[lane] = 0 if value <= node.threshold else 1
            continue
        row = Row(<const char*> entry, sizeof(double), False)
        branch[lane] = find_branch(group.tree.view, number, &row, &unseen)
        if branch[lane] < 0 and branch[lane] != FRACTIONAL:
            branch[lane] = STAY


# Arrays that no other pointer of the function reads or writes, which compilers need to
# know for vector units.
cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define ONLY __restrict
    #else
    #define ONLY __restrict__
    #endif
    """
    ctypedef double* Output "double *ONLY"
    ctypedef const double* Input "const double *ONLY"


cdef inline void compute_factors(
    Output factors, Input taken, Input points, double part, int64_t n_points
) noexcept nogil:
    """Compute the factors of an edge at all points: part (1 - t) + t taken.

    part: z of the column, taken: o of every row. No term is negative, so nothing
    cancels.
    """
    cdef double rest, point
    cdef int64_t lane, q
    for q in range(n_points):
        point = points[q]
        rest = part * (1.0 - point)
        for lane in range(LANES):
            factors[q * LANES + lane] = rest + point * taken[lane]


cdef inline void multiply(
    double* product, const double* one, const double* other, int64_t n
) noexcept nogil:
    """Multiply arrays; the product may be one of them, so it is not declared ONLY."""
    cdef int64_t i
    for i in range(n):
        product[i] = one[i] * other[i]


cdef inline void invert(Output inverse, Input factors, int64_t n) noexcept nogil:
    """Compute the reciprocals of factors; 0 of 0, as nothing is below."""
    cdef int64_t i
    for i in range(n):
        inverse[i] = 1.0 / factors[i] if factors[i] != 0.0 else 0.0


cdef inline bint enter_edge(Group* group, const Edge* edge) noexcept nogil:
    """Compute the factors of an edge; False if they are all 0.

    Then no row of the group and no part of the training weight is below: the whole
    branch adds nothing, and is skipped.
    """
    cdef Scratch* s = &group.scratch
    cdef int64_t n = group.tree.n_points * LANES, level = edge.level, lane
    cdef const int32_t* branch = s.branch + (level - 1) * LANES
    cdef double* taken = s.taken + level * LANES
    cdef const double* before = s.taken + <int64_t> edge.previous * LANES
    cdef double part
    cdef bint is_empty = edge.product == 0.0
    for lane in range(LANES):
        # o of this test: all, nothing, or the child's part of a divided row.
        part = 1.0 if branch[lane] == edge.child else 0.0
        taken[lane] = edge.part if branch[lane] == FRACTIONAL else part
    # o and z of a column are products over its tests on the path.
    if edge.previous > 0:
        for lane in range(LANES):
            taken[lane] *= before[lane]
    if is_empty:
        for lane in range(LANES):
            is_empty &= taken[lane] == 0.0
        if is_empty:
            return False
    compute_factors(
        s.factor + level * n, taken, group.tree.points, edge.product,
        group.tree.n_points,
    )
    # Only where the factor is to be divided out again below.
    if edge.is_previous or group.takes_pairs:
        invert(s.inverse + level * n, s.factor + level * n, n)
    if not edge.is_leaf or group.takes_pairs:
        multiply(
            s.above + level * n, get_others(group, level - 1), s.factor + level * n, n
        )
    return True


cdef inline const double* get_others(const Group* group, int64_t level) noexcept nogil:
    """Products above a node without its column."""
    cdef const Scratch* s = &group.scratch
    cdef int64_t offset = level * group.tree.n_points * LANES
    return (s.others if s.previous[level] > 0 else s.above) + offset


cdef inline void enter_node(
    Group* group, int32_t number, int64_t level, int32_t previous
) noexcept nogil:
    """Prepare a level for the edges of a node.

    number: the node; previous: level of the last edge on its path that tests the same
    column, 0 for none. That edge's factor is taken out of the products above, since the
    factors of this node's edges include it; and a second time for ``reduced``, as the
    column's gain is divided by both factors (see leave_edge).
    """
    cdef Scratch* s = &group.scratch
    cdef int64_t n = group.tree.n_points * LANES, offset = level * n
    cdef const double* reduced = s.above + offset
    find_lane_branches(group, number, s.branch + level * LANES)
    s.previous[level] = previous
    if previous > 0:
        multiply(s.others + offset, s.above + offset, s.inverse + previous * n, n)
        multiply(s.reduced + offset, s.others + offset, s.inverse + previous * n, n)
        reduced = s.reduced + offset
    if not group.takes_pairs:
        sum_points(s.reduced_sum + level * LANES, reduced, group.tree.n_points)
        memset(
            s.below + level * group.tree.n_values * n, 0,
            group.tree.n_values * n * sizeof(double),
        )


cdef inline void add_leaf_product(
    Output parent, Input factor, double value, int64_t n
) noexcept nogil:
    """Add a leaf to the sums below its parent."""
    cdef int64_t i
    for i in range(n):
        parent[i] += value * factor[i]


cdef inline void sum_points(Output total, Input above, int64_t n_points) noexcept nogil:
    """Sum the products above an edge over the points."""
    cdef int64_t lane, q
    for lane in range(LANES):
        total[lane] = 0.0
    for q in range(n_points):
        for lane in range(LANES):
            total[lane] += above[q * LANES + lane]


cdef inline void sum_products(
    Output total, Input one, Input other, int64_t n_points
) noexcept nogil:
    """Sum the products of two arrays over the points."""
    cdef int64_t lane, q
    for lane in range(LANES):
        total[lane] = 0.0
    for q in range(n_points):
        for lane in range(LANES):
            total[lane] += one[q * LANES + lane] * other[q * LANES + lane]


cdef inline void add_below(
    Output parent, Output total, Input below, Input factor, Input reduced,
    int64_t n_points,
) noexcept nogil:
    """Add what is below a node to its parent, and sum it times what is above."""
    cdef double value
    cdef int64_t lane, q
    for q in range(n_points):
        for lane in range(LANES):
            value = below[q * LANES + lane]
            parent[q * LANES + lane] += value * factor[q * LANES + lane]
            total[lane] += value * reduced[q * LANES + lane]


cdef inline void add_to_column(
    Group* group, int32_t feature, int64_t k, const double* total
) noexcept nogil:
    """Add to the sums of a column, or of all columns of an oblique test."""
    cdef const int64_t* start = group.tree.fraction_start
    cdef double* sums
    cdef int64_t lane, i
    if feature >= 0:
        sums = group.sums + (feature * group.n_scores + k) * LANES
        for lane in range(LANES):
            sums[lane] += total[lane]
        return
    for i in range(start[~feature], start[~feature + 1]):
        sums = group.sums + (group.tree.fraction_column[i] * group.n_scores + k) * LANES
        for lane in range(LANES):
            sums[lane] += group.tree.fraction[i] * total[lane]


cdef inline void leave_edge(
    Group* group, const Edge* edge, const Edge* previous
) noexcept nogil:
    """Add what is below an edge to the sums of its column and to its parent.

    With o and z of the edge, o' and z' of the previous one of the column, and their
    factors f and f', the column gains (o - z) / f - (o' - z') / f' of what is below,
    which is (o z' - o' z) / (f f'). So what the previous edge will add for everything
    below it is corrected here, and every leaf counts once with its last edge.
    """
    cdef Scratch* s = &group.scratch
    cdef int64_t n = group.tree.n_points * LANES, level = edge.level, lane, k
    cdef const double* reduced = s.above
    cdef const double* factor = s.factor + level * n
    cdef const double* taken = s.taken + level * LANES
    cdef const double* before
    cdef double* below
    cdef double* parent
    cdef double value
    cdef double[LANES] total, gain
    for lane in range(LANES):
        gain[lane] = taken[lane] - edge.product
    if previous != NULL:
        reduced = s.reduced
        before = s.taken + <int64_t> edge.previous * LANES
        for lane in range(LANES):
            gain[lane] = taken[lane] * previous.product - before[lane] * edge.product
    for k in range(group.tree.n_values):
        parent = s.below + ((level - 1) * group.tree.n_values + k) * n
        if edge.is_leaf:
            value = group.tree.values[edge.node * group.tree.n_values + k]
            add_leaf_product(parent, factor, value, n)
            for lane in range(LANES):
                # Below a leaf's edge is the same value at all points.
                total[lane] = value * s.reduced_sum[(level - 1) * LANES + lane]
        else:
            below = s.below + (level * group.tree.n_values + k) * n
            # The node below tests a column again: the factors of its edges include that
            # of the previous one, which is multiplied in again further up.
            if s.previous[level] > 0:
                multiply(below, below, s.inverse + s.previous[level] * n, n)
            for lane in range(LANES):
                total[lane] = 0.0
            add_below(
                parent, total, below, factor, reduced + (level - 1) * n,
                group.tree.n_points,
            )
        for lane in range(LANES):
            total[lane] *= gain[lane]
        add_to_column(group, edge.feature, k, total)


cdef inline void leave_to(
    Group* group, const Edge** open, int32_t level
) noexcept nogil:
    """Leave the open edges from the lowest one up to a level, which is left, too."""
    cdef int32_t i
    cdef const Edge* edge
    for i in range(group.top, level - 1, -1):
        edge = open[i]
        leave_edge(group, edge, open[edge.previous] if edge.previous > 0 else NULL)
    group.top = min(group.top, level - 1)


cdef inline void add_pairs(
    Group* group, const Edge** open, const Edge* leaf
) noexcept nogil:
    """Add a leaf to the sums of all pairs of columns on its path.

    The interaction of columns i and j is the integral of (o_i - z_i) (o_j - z_j) times
    the factors of all other columns; half of it belongs to each of the two orders. On
    the diagonal is the Shapley value of the column.
    """
    cdef Scratch* s = &group.scratch
    cdef int64_t n = group.tree.n_points * LANES, n_columns = 0, i, j, k, q, lane
    cdef int32_t level
    cdef const Edge* edge
    cdef double* change
    cdef double* sums
    cdef double[LANES] total
    cdef double value
    open[leaf.level] = leaf
    for level in range(1, leaf.level + 1):
        s.is_replaced[level] = False
        # The last edge of a column on the path has its products; level 0 is none.
        s.is_replaced[open[level].previous] = True
    for level in range(1, leaf.level + 1):
        if s.is_replaced[level]:
            continue
        edge = open[level]
        change = s.below + n_columns * n
        for q in range(group.tree.n_points):
            for lane in range(LANES):
                # (o - z) / f: times the product of all factors, it replaces the
                # column's own.
                change[q * LANES + lane] = s.inverse[level * n + q * LANES + lane] * (
                    s.taken[level * LANES + lane] - edge.product
                )
        s.columns[n_columns] = edge.feature
        n_columns += 1
    for i in range(n_columns):
        # Product of all factors, with the change of column i in place of its factor;
        # below, with that of column j, too.
        multiply(s.changed, s.above + leaf.level * n, s.below + i * n, n)
        for j in range(i + 1):
            if i == j:
                sum_points(total, s.changed, group.tree.n_points)
            else:
                sum_products(total, s.changed, s.below + j * n, group.tree.n_points)
            sums = group.sums + (
                (s.columns[i] * group.n_columns + s.columns[j]) * group.n_scores * LANES
            )
            for k in range(group.tree.n_values):
                value = group.tree.values[leaf.node * group.tree.n_values + k]
                value *= 1.0 if i == j else 0.5
                for lane in range(LANES):
                    sums[k * LANES + lane] += value * total[lane]


cdef wide_void walk_group(Group* group, const Edge** open) noexcept nogil:
    """Add the Shapley values of one tree for a group of rows."""
    cdef Scratch* s = &group.scratch
    cdef int64_t i = 0, q, lane
    cdef const Edge* edge
    for q in range(group.tree.n_points):
        for lane in range(LANES):
            # The product of no factors, times the weight of the point in the
            # quadrature.
            s.above[q * LANES + lane] = group.tree.weights[q]
    enter_node(group, 0, 0, 0)
    group.top = 0
    while i < group.tree.n_edges:
        edge = &group.tree.edges[i]
        if not group.takes_pairs:
            leave_to(group, open, edge.level)
        if not enter_edge(group, edge):
            # Nothing below this edge adds anything.
            i = edge.next
            continue
        i += 1
        if not edge.is_leaf:
            group.top = edge.level
            open[edge.level] = edge
            # The next edge is the first of the node.
            enter_node(group, edge.node, edge.level, group.tree.edges[i].previous)
        elif group.takes_pairs:
            add_pairs(group, open, edge)
        else:
            leave_edge(group, edge, open[edge.previous] if edge.previous > 0 else NULL)
    if not group.takes_pairs:
        leave_to(group, open, 1)


# ------------------------------------------------------------------------------------
# Division of the rows among threads, and of the trees in turn.
# ------------------------------------------------------------------------------------


# Bytes of the sums of the groups of one task.
cdef enum:
    TASK_BYTES = 1 << 18


cdef struct ShapleyWork:
    const TreeEdges* trees
    int64_t n_trees
    const double* rows
    int64_t n_rows
    int64_t n_columns
    double* values
    int64_t n_scores
    bint takes_pairs
    # sums of a row
    int64_t n_sums
    # rows of a task
    int64_t n_task_rows
    # working memory of a thread
    double* memory
    int64_t n_memory
    int32_t* branch
    int64_t n_branch
    const Edge** open
    int64_t n_levels
    int64_t most_below
    int64_t most_points


cdef void run_shapley_task(void* context, int64_t task, int thread) noexcept nogil:
    """Compute the Shapley values of some rows."""
    cdef const ShapleyWork* work = <ShapleyWork*> context
    cdef Group group
    cdef int64_t first = task * work.n_task_rows
    cdef int64_t n_rows = min(work.n_task_rows, work.n_rows - first)
    cdef int64_t n_groups = (n_rows + LANES - 1) // LANES
    cdef int64_t n_sums = work.n_sums, t, g, lane, i
    cdef int64_t n_lines = work.n_levels * work.most_points * LANES
    cdef double* sums = work.memory + thread * work.n_memory
    cdef double* to
    memset(sums, 0, n_groups * n_sums * LANES * sizeof(double))
    # The arrays of Scratch follow the sums in one piece; run_shapley_tasks counts them.
    group.scratch.above = sums + (work.n_task_rows // LANES) * n_sums * LANES
    group.scratch.others = group.scratch.above + n_lines
    group.scratch.reduced = group.scratch.others + n_lines
    group.scratch.factor = group.scratch.reduced + n_lines
    group.scratch.inverse = group.scratch.factor + n_lines
    group.scratch.taken = group.scratch.inverse + n_lines
    group.scratch.reduced_sum = group.scratch.taken + work.n_levels * LANES
    group.scratch.changed = group.scratch.reduced_sum + work.n_levels * LANES
    group.scratch.below = group.scratch.changed + work.most_points * LANES
    group.scratch.branch = work.branch + thread * work.n_branch
    group.scratch.is_replaced = group.scratch.branch + work.n_levels * LANES
    group.scratch.columns = group.scratch.is_replaced + work.n_levels
    group.scratch.previous = group.scratch.columns + work.n_levels
    group.takes_pairs = work.takes_pairs
    group.n_columns, group.n_scores = work.n_columns, work.n_scores
    for t in range(work.n_trees):
        group.tree = work.trees[t]
        if group.tree.n_edges == 0:
            continue
        for g in range(n_groups):
            group.rows = work.rows + (first + g * LANES) * work.n_columns
            group.n_rows = min(LANES, n_rows - g * LANES)
            group.sums = sums + (g * n_sums + group.tree.first) * LANES
            walk_group(&group, work.open + thread * work.n_levels)
    for g in range(n_groups):
        for lane in range(min(LANES, n_rows - g * LANES)):
            to = work.values + (first + g * LANES + lane) * n_sums
            for i in range(n_sums):
                to[i] = sums[(g * n_sums + i) * LANES + lane]


def add_shapley_values(
    list edge_lists, const int64_t[::1] first, list points, list weights,
    const double[:, ::1] rows, double[:, :, ::1] values, bint takes_pairs,
    int n_threads,
):
    """Write the sums over trees; points and weights: the quadrature of each tree."""
    cdef ShapleyWork work
    cdef int64_t n_trees = len(edge_lists), t, width, most_below = 1
    cdef EdgeList edges
    cdef const double[::1] point, weight
    cdef TreeEdges* trees
    cdef TreeEdges* tree
    if rows.shape[0] == 0 or n_trees == 0:
        return
    work.rows, work.n_rows, work.n_columns = &rows[0, 0], rows.shape[0], rows.shape[1]
    work.values, work.n_scores = &values[0, 0, 0], values.shape[2]
    work.takes_pairs, work.n_sums = takes_pairs, values.shape[1] * values.shape[2]
    work.n_trees = n_trees
    work.n_levels = work.most_points = 1
    trees = <TreeEdges*> malloc(n_trees * sizeof(TreeEdges))
    if trees == NULL:
        raise MemoryError
    try:
        for t in range(n_trees):
            edges, point, weight = edge_lists[t], points[t], weights[t]
            tree = &trees[t]
            tree.view, tree.edges = &edges.tables.view, &edges.view[0]
            tree.n_edges, tree.first = len(edges.edges), first[t]
            tree.values, tree.n_values = &edges.values[0, 0], edges.values.shape[1]
            tree.fraction_start = &edges.fraction_start[0]
            tree.fraction_column = &edges.fraction_column[0]
            tree.fraction = &edges.fraction[0]
            tree.points, tree.weights = &point[0], &weight[0]
            tree.n_points = point.shape[0]
            work.n_levels = max(work.n_levels, edges.n_levels)
            work.most_points = max(work.most_points, point.shape[0])
            # Of pairs there is a line for each column of a path.
            width = 1 if takes_pairs else edges.values.shape[1]
            most_below = max(most_below, point.shape[0] * width)
        work.trees = trees
        run_shapley_tasks(&work, most_below, n_threads)
    finally:
        free(trees)


cdef int run_shapley_tasks(
    ShapleyWork* work, int64_t most_below, int n_threads
) except -1:
    """Divide the rows among threads with their own memory.

    most_below: lines of ``below`` per level, for the tree that needs most. A task has
    as many groups as keep their sums in TASK_BYTES.
    """
    cdef int64_t group_bytes = work.n_sums * LANES * sizeof(double)
    cdef int64_t n_groups = max(1, TASK_BYTES // group_bytes)
    cdef int64_t least = (work.n_rows + LANES - 1) // LANES
    cdef int64_t n_lines = work.n_levels * LANES, n_tasks
    # At least four tasks per thread, if there are rows enough.
    n_groups = min(n_groups, max(1, least // (4 * n_threads)))
    work.n_task_rows = n_groups * LANES
    n_tasks = (work.n_rows + work.n_task_rows - 1) // work.n_task_rows
    n_threads = <int> min(n_threads, n_tasks)
    work.n_memory = (
        n_groups * work.n_sums * LANES
        + n_lines * (5 * work.most_points + 2 + most_below)
        + work.most_points * LANES
    )
    work.n_branch = n_lines + 3 * work.n_levels
    work.memory = <double*> malloc(n_threads * work.n_memory * sizeof(double))
    work.branch = <int32_t*> malloc(n_threads * work.n_branch * sizeof(int32_t))
    work.open = <const Edge**> malloc(n_threads * work.n_levels * sizeof(Edge*))
    try:
        if work.memory == NULL or work.branch == NULL or work.open == NULL:
            raise MemoryError
        run_in_threads(n_threads, run_shapley_task, work, n_tasks)
    finally:
        free(work.memory)
        free(work.branch)
        free(work.open)
    return 0
