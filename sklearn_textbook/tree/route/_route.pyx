# cython: language_level=3
"""Kernels of routing; :mod:`sklearn_textbook.tree.route.route` has the documents."""

from cython cimport floating
from libc.math cimport INFINITY
from libc.stdint cimport INT64_MIN, int32_t, int64_t

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook.tree.grow._layout cimport (
    FRACTIONAL, LEAF, NUMERIC, STAY, Node, Surrogate,
)
from sklearn_textbook.tree.route._branch cimport (
    UNSEEN_ERROR, TreeView, find_branch, has_surrogates, test_value,
)
from sklearn_textbook.tree.route._coded_walk cimport CodedTest
from sklearn_textbook.tree.route._lockstep cimport FastTree, walk_table
from sklearn_textbook.tree.route._numeric_walk cimport PackedNode
from sklearn_textbook.tree.route._rows cimport Row, Table, view_row

import numpy as np

# Rows that one thread takes at a time.
cdef enum:
    BLOCK = 1024
    # low, high, missing
    N_NUMERIC_STEPS = 3

BLOCK_ROWS = BLOCK

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


cdef class RouteTables:
    """The arrays of a tree, held for as long as a walk reads them."""

    cdef TreeView view
    cdef const Node[::1] nodes
    cdef const int32_t[::1] level_branch
    cdef const int64_t[::1] n_levels
    cdef const Surrogate[::1] surrogates
    cdef const int64_t[::1] surrogate_start

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
            self.surrogate_start = np.searchsorted(
                tree.surrogates["node"], np.arange(tree.node_count + 1)
            ).astype(np.int64)
            self.view.surrogates = &self.surrogates[0]
            self.view.surrogate_start = &self.surrogate_start[0]
        self.view.unseen_branch = {
            "parent": STAY, "fractional": FRACTIONAL, "error": UNSEEN_ERROR
        }[tree.unseen]


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
        """For any tree; n_steps as count_steps tells."""
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
    cdef int32_t free = N_NUMERIC_STEPS, code
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
        test.first_step = free
        if node.kind == NUMERIC:
            test.threshold = node.threshold
            steps[free] = node.first_child - number
            steps[free + 1] = node.first_child + 1 - number
            free += 2
        else:
            test.n_codes = <int32_t> tree.n_levels[node.feature]
            test.threshold = test.n_codes
            for code in range(-1, test.n_codes + 1):
                branch = test_value(
                    tree, node.kind, node.feature, node.map_start, node.threshold, 0,
                    code,
                )
                steps[free] = sink - number
                if branch >= 0:
                    steps[free] = node.first_child + branch - number
                free += 1
        steps[free] = sink - number
        if node.missing_branch >= 0 and not has_surrogates(tree, number):
            steps[free] = node.first_child + node.missing_branch - number
        free += 1


cdef inline Table view_table(const floating[:, :] matrix) noexcept:
    cdef Table table
    table.start = <const char*> &matrix[0, 0]
    table.row_stride = matrix.strides[0]
    table.column_stride = matrix.strides[1]
    table.n_rows = matrix.shape[0]
    table.n_columns = matrix.shape[1]
    table.is_single = floating is float
    return table


# ---------------------------------------------------------------------- the walk
cdef inline void note_error(
    int64_t* error, Py_ssize_t row, int32_t column
) noexcept nogil:
    """Keep the first row that met an unseen level, and its column."""
    if error[0] < 0:
        error[0] = row
        error[1] = column


cdef inline int32_t walk_on(
    const TreeView* tree, const Row* row, int32_t* node
) noexcept nogil:
    """Walk from ``node`` to where the row ends; what holds it there: STAY in a leaf,
    else STAY, FRACTIONAL or UNSEEN_ERROR."""
    cdef int32_t branch
    while tree.nodes[node[0]].kind != LEAF:
        branch = find_branch(tree, node[0], row)
        if branch < 0:
            return branch
        node[0] = tree.nodes[node[0]].first_child + branch
    return STAY


cdef inline int64_t find_end(
    const TreeView* tree, const Table* table, Py_ssize_t number, int64_t* error
) noexcept nogil:
    cdef Row row = view_row(table, number)
    cdef int32_t node = 0
    cdef int32_t branch = walk_on(tree, &row, &node)
    if branch == UNSEEN_ERROR:
        note_error(error, number, tree.nodes[node].feature)
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
    const floating[:, :] matrix, RouteTables tables, FastTables fast_tables,
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
cdef inline Py_ssize_t push_children(
    const TreeView* tree, int32_t number, double share, int32_t* pending,
    double* pending_share, Py_ssize_t n_pending,
) noexcept nogil:
    """Divide a share among the children that have weight, the first on top."""
    cdef const Node* node = &tree.nodes[number]
    cdef double total = 0.0, weight
    cdef int32_t first = node.first_child, child
    for child in range(first, first + node.n_children):
        total += tree.nodes[child].weight
    for child in range(first + node.n_children - 1, first - 1, -1):
        weight = tree.nodes[child].weight
        if weight > 0.0:
            pending[n_pending] = child
            pending_share[n_pending] = share * weight / total
            n_pending += 1
    return n_pending


cdef void spread_row(
    const TreeView* tree, const Row* row, int32_t start, const double* shares,
    Py_ssize_t width, int32_t* pending, double* pending_share, double* mean,
    Py_ssize_t number, int64_t* error,
) noexcept nogil:
    """Weighted mean of the distributions that a row reaches from ``start`` on."""
    cdef Py_ssize_t n_pending, n_before, j
    cdef int32_t node, branch
    cdef double share
    for j in range(width):
        mean[j] = 0.0
    n_pending = push_children(tree, start, 1.0, pending, pending_share, 0)
    if n_pending == 0:
        for j in range(width):
            mean[j] = shares[start * width + j]
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending]
        share = pending_share[n_pending]
        branch = walk_on(tree, row, &node)
        if branch == UNSEEN_ERROR:
            note_error(error, number, tree.nodes[node].feature)
        n_before = n_pending
        if branch == FRACTIONAL:
            n_pending = push_children(
                tree, node, share, pending, pending_share, n_pending
            )
        if n_pending == n_before:
            for j in range(width):
                mean[j] += share * shares[node * width + j]


def spread_rows(
    const floating[:, :] matrix, RouteTables tables, const int64_t[::1] rows,
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


# --------------------------------------------------------------------------- paths
cdef Py_ssize_t enter_nodes(
    const TreeView* tree, const Row* row, int32_t start, int32_t* entered,
    Py_ssize_t number, int64_t* error,
) noexcept nogil:
    """All nodes that a row enters which is divided at ``start``, in ascending order;
    ``entered`` is a queue too, since nodes are numbered breadth first."""
    cdef Py_ssize_t n_entered = 1, i = 0
    cdef int32_t node, branch, child, first
    entered[0] = start
    branch = FRACTIONAL
    while i < n_entered:
        node = entered[i]
        first = tree.nodes[node].first_child
        if i > 0:
            branch = STAY
            if tree.nodes[node].kind != LEAF:
                branch = find_branch(tree, node, row)
        if branch >= 0:
            entered[n_entered] = first + branch
            n_entered += 1
        elif branch == UNSEEN_ERROR:
            note_error(error, number, tree.nodes[node].feature)
        elif branch == FRACTIONAL:
            for child in range(first, first + tree.nodes[node].n_children):
                if tree.nodes[child].weight > 0.0:
                    entered[n_entered] = child
                    n_entered += 1
        i += 1
    return n_entered


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
    const floating[:, :] matrix, RouteTables tables, const int64_t[::1] ended,
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
        for i in range(paths.depth[node], -1, -1):
            path[i] = node
            node = paths.tree.nodes[node].parent


def fill_path_nodes(
    const floating[:, :] matrix, RouteTables tables, const int64_t[::1] ended,
    const int64_t[::1] depth, const int64_t[::1] path_start, int32_t[::1] path_nodes,
    int n_threads,
):
    """Write the nodes of each row's path, ascending, from path_start on."""
    cdef Paths paths = Paths(
        &tables.view, view_table(matrix), &ended[0], &depth[0], NULL, NULL, 0, NULL,
        &path_start[0], &path_nodes[0],
    )
    run_in_threads(n_threads, fill_block, &paths, 1 + ended.shape[0] // BLOCK)
