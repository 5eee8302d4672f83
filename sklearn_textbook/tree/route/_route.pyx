# cython: language_level=3
"""Kernels of routing; :mod:`sklearn_textbook.tree.route.route` has the documents."""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport INFINITY
from libc.stdint cimport INT64_MIN, int32_t, int64_t

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


# Distributions of the nodes, and where to write those of the rows; or NULLs.
cdef struct Gathering:
    const double* shares
    double* gathered
    Py_ssize_t width


cdef void walk_block(
    const TreeView* tree, const FastTree* fast, const Table* table, Py_ssize_t block,
    int64_t* ended, const Gathering* gathering, int64_t* error,
) noexcept nogil:
    cdef Py_ssize_t first = block * BLOCK, number, i, width = gathering.width
    cdef const double* source
    cdef double* target
    cdef Table part = table[0]
    part.start += first * table.row_stride
    part.n_rows = min(<Py_ssize_t> BLOCK, table.n_rows - first)
    if fast != NULL:
        walk_table(fast, &part, ended + first)
    for number in range(first, first + part.n_rows):
        if fast == NULL or ended[number] == INT64_MIN:
            ended[number] = find_end(tree, table, number, error)
    if gathering.shares == NULL:
        return
    for number in range(first, first + part.n_rows):
        if ended[number] >= 0:
            source = gathering.shares + ended[number] * width
            target = gathering.gathered + number * width
            for i in range(width):
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
    cdef Table table = view_table(matrix)
    cdef const TreeView* tree = &tables.view
    cdef const FastTree* fast = NULL
    cdef Gathering gathering
    cdef Py_ssize_t n_blocks = errors.shape[0]
    cdef Py_ssize_t block
    gathering.shares, gathering.gathered, gathering.width = NULL, NULL, 0
    if fast_tables is not None:
        fast = &fast_tables.view
    if shares is not None:
        gathering.shares, gathering.gathered = &shares[0, 0], &gathered[0, 0]
        gathering.width = shares.shape[1]
    with nogil:
        for block in prange(n_blocks, num_threads=n_threads, schedule="dynamic"):
            walk_block(
                tree, fast, &table, block, &ended[0], &gathering, &errors[block, 0]
            )


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
    cdef Table table = view_table(matrix)
    cdef const TreeView* tree = &tables.view
    cdef Py_ssize_t n_threads = pending.shape[0]
    cdef Py_ssize_t thread
    with nogil:
        for thread in prange(n_threads, num_threads=n_threads, schedule="static"):
            spread_part(
                tree, &table, &rows[0], rows.shape[0] * thread // n_threads,
                rows.shape[0] * (thread + 1) // n_threads, &ended[0], &shares[0, 0],
                shares.shape[1], &pending[thread, 0], &pending_share[thread, 0],
                &means[0, 0], &errors[thread, 0],
            )


cdef void spread_part(
    const TreeView* tree, const Table* table, const int64_t* rows, Py_ssize_t first,
    Py_ssize_t last, const int64_t* ended, const double* shares, Py_ssize_t width,
    int32_t* pending, double* pending_share, double* means, int64_t* error,
) noexcept nogil:
    cdef Py_ssize_t i, number
    cdef Row row
    for i in range(first, last):
        number = rows[i]
        row = view_row(table, number)
        spread_row(
            tree, &row, <int32_t> ~ended[number], shares, width, pending,
            pending_share, means + number * width, number, error,
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


cdef void count_block(
    const TreeView* tree, const Table* table, const int64_t* ended,
    const int64_t* depth, Py_ssize_t first, Py_ssize_t last, int64_t* n_nodes,
    int32_t* entered, int64_t* error,
) noexcept nogil:
    cdef Py_ssize_t number
    cdef int32_t start
    cdef Row row
    for number in range(first, last):
        if ended[number] >= 0:
            n_nodes[number] = depth[ended[number]] + 1
        else:
            start = <int32_t> ~ended[number]
            row = view_row(table, number)
            n_nodes[number] = depth[start] + enter_nodes(
                tree, &row, start, entered, number, error
            )


def count_path_nodes(
    const floating[:, :] matrix, RouteTables tables, const int64_t[::1] ended,
    const int64_t[::1] depth, int64_t[::1] n_nodes, int32_t[:, ::1] entered,
    int64_t[:, ::1] errors,
):
    """Number of nodes that each row enters; one thread per line of ``entered``."""
    cdef Table table = view_table(matrix)
    cdef const TreeView* tree = &tables.view
    cdef Py_ssize_t n_threads = entered.shape[0]
    cdef Py_ssize_t thread
    with nogil:
        for thread in prange(n_threads, num_threads=n_threads, schedule="static"):
            count_block(
                tree, &table, &ended[0], &depth[0],
                table.n_rows * thread // n_threads,
                table.n_rows * (thread + 1) // n_threads, &n_nodes[0],
                &entered[thread, 0], &errors[thread, 0],
            )


cdef void fill_path(
    const TreeView* tree, const Table* table, Py_ssize_t number, int64_t end,
    int64_t depth, int32_t* path,
) noexcept nogil:
    cdef int32_t node = <int32_t> (end if end >= 0 else ~end)
    cdef int64_t ignored[2]
    cdef Row row
    cdef Py_ssize_t i
    if end < 0:
        row = view_row(table, number)
        ignored[0] = 0
        enter_nodes(tree, &row, node, path + depth, number, ignored)
    for i in range(depth, -1, -1):
        path[i] = node
        node = tree.nodes[node].parent


def fill_path_nodes(
    const floating[:, :] matrix, RouteTables tables, const int64_t[::1] ended,
    const int64_t[::1] depth, const int64_t[::1] path_start, int32_t[::1] path_nodes,
    int n_threads,
):
    """Write the nodes of each row's path, ascending, from path_start on."""
    cdef Table table = view_table(matrix)
    cdef const TreeView* tree = &tables.view
    cdef Py_ssize_t number
    with nogil:
        for number in prange(table.n_rows, num_threads=n_threads, schedule="static"):
            fill_path(
                tree, &table, number, ended[number],
                depth[ended[number] if ended[number] >= 0 else ~ended[number]],
                &path_nodes[path_start[number]],
            )
