"""Growing a whole tree from a list of rows and the cells of all columns, whatever is
counted of the rows: classes, or values.

As in ``_row_list_engine``, which is made for two classes and the Gini impurity, only
the list of rows is divided at a node. The drawing of columns and thresholds, the
comparison of candidates, the limits and the records are those of ``_search``,
``_column`` and ``_node``, so the tree is that of sorted columns: bit by bit for
classes, and but for the rounding of sums of y for values.
"""

import numpy as np

from libc.math cimport NAN
from libc.stdlib cimport malloc
from libc.string cimport memset

from sklearn_textbook.tree.grow._assemble cimport write_nodes
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    free_buffer,
    push_frame,
    start_buffer,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._measure cimport Children
from sklearn_textbook.tree.grow._listed_node cimport (
    divide_pair,
    is_pair,
    measure_division,
    search_drawn_cuts,
    search_listed,
)
from sklearn_textbook.tree.grow._missing cimport branch_for_missing
from sklearn_textbook.tree.grow._node cimport (
    create_children,
    improvement_of,
    must_be_leaf,
    push_children,
)
from sklearn_textbook.tree.grow._listed_rows cimport (
    ListedTable,
    divide_rows,
    draw_columns,
    find_neighbours,
    free_listed_table,
    make_local,
    mark_rows,
    start_listed_table,
)
from sklearn_textbook.tree.grow._search cimport view_node
from sklearn_textbook.tree.grow._settings cimport fill_codes, fill_problem, write_root
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    Worker,
    free_worker,
    start_worker,
)
from sklearn_textbook.tree.split._counted cimport FEW_ROWS
from sklearn_textbook.tree.split._listed cimport (
    LISTED_CLASSES,
    LISTED_TWO_CLASSES,
    LISTED_VALUES,
    Division,
    clear_division,
)
from sklearn_textbook.tree.split._types cimport (
    NodeView,
    Problem,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)

from sklearn_textbook.tree.grow.layout import NODE_DTYPE, SURROGATE_DTYPE


cdef enum:
    COPIES_PAY = 6  # copies of codes pay up to so many columns per one that is tried


cdef void choose_division(
    const Problem* problem, ListedTable* table, Worker* worker, const Arena* arena,
    Frame* frame, NodeView* view, Division* division
) noexcept nogil:
    """Draw columns and divide the node by the best one; the column is -1 if none
    will do."""
    cdef int64_t n_visit
    view_node(problem, arena, worker, frame, view)
    if problem.random_splitter:
        search_drawn_cuts(problem, table, worker, frame, view, division)
        return
    clear_division(division)
    n_visit = draw_columns(problem, table, worker, frame)
    if n_visit == 0:
        return
    search_listed(problem, table, worker, frame, view, n_visit, division)
    if division.best.column >= 0:
        division.best.column = worker.visit[division.column - table.columns]
        division.best.kind = problem.kind[division.best.column]


cdef int split_node(
    const Problem* problem, ListedTable* table, Worker* worker, const Arena* arena,
    Frame* frame
) noexcept nogil:
    """Split a node if that is worth it. Returns -1 when memory runs out."""
    cdef:
        NodeView view
        Division division
        Children* children = &worker.children
        Node* node = &worker.buffer.nodes[frame.node]
        uint8_t* is_leaf = worker.is_active
        uint32_t below = 0, above = 0
        int64_t child
        int first
        bint moves
    if is_pair(problem, frame):
        if not divide_pair(problem, table, worker, frame, &division):
            return 0
    else:
        choose_division(problem, table, worker, arena, frame, &view, &division)
        if division.best.column < 0:
            return 0
        mark_rows(table, frame.n_rows, &division)
        measure_division(problem, &view, table, &division, children)
    node.improvement = improvement_of(problem, node, children, &division.best)
    if node.improvement * node.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        node.improvement = 0.0
        return 0
    first = create_children(problem, worker, frame)
    if first < 0:
        return -1
    for child in range(2):
        children.blocks[child] = NULL
        is_leaf[child] = must_be_leaf(
            problem, children.n_rows[child], children.weight[child], frame.depth + 1,
            children.is_pure[child]
        )
    moves = not (is_leaf[0] and is_leaf[1])
    if not problem.random_splitter:
        find_neighbours(division.column, frame.n_rows, division.cut, &below, &above)
    if moves:
        divide_rows(table, frame)
    node = &worker.buffer.nodes[frame.node]
    node.first_child = first
    node.n_children = 2
    node.feature = division.best.column
    node.kind = division.best.kind
    node.missing_branch = branch_for_missing(problem, children, &division.best)
    node.threshold = division.best.threshold
    if not problem.random_splitter:
        node.threshold = NAN
        node.map_start = <int64_t>(<uint64_t>below << 32 | above)
    return push_children(problem, worker, frame, &division.best, first, is_leaf)


cdef int grow_all(
    const Problem* problem, ListedTable* table, Worker* worker, const Frame* root,
    const int32_t* columns
) noexcept nogil:
    """Split nodes, depth first, until none is left. Returns -1 without memory."""
    cdef:
        Arena arena
        Frame frame
        int64_t i, n_waiting = -1  # nodes outside of the local subtree
    memset(&arena, 0, sizeof(Arena))
    if push_frame(&worker.stack, root, columns) < 0:
        return -1
    while worker.stack.n_frames > 0:
        worker.stack.n_frames -= 1
        frame = worker.stack.frames[worker.stack.n_frames]
        for i in range(frame.n_active):
            worker.active[i] = worker.stack.active[
                worker.stack.n_frames * problem.n_columns + i
            ]
        if table.is_local and worker.stack.n_frames < n_waiting:
            table.is_local = False
        if not table.is_local and frame.n_rows <= table.local_rows and (
            FEW_ROWS < frame.n_rows
            and frame.n_active <= COPIES_PAY * problem.max_features
        ):
            make_local(problem, table, &frame, worker.active)
            n_waiting = worker.stack.n_frames
        if split_node(problem, table, worker, &arena, &frame) < 0:
            return -1
    return 0


cdef const void* address_of(array) except NULL:
    """Where the entries of an array of one, two or four bytes each begin."""
    cdef:
        const uint8_t[:, ::1] narrow
        const uint16_t[:, ::1] middle
        const uint32_t[:, ::1] wide
    if array.dtype == np.uint8:
        narrow = array
        return &narrow[0, 0]
    if array.dtype == np.uint16:
        middle = array
        return &middle[0, 0]
    wide = array
    return &wide[0, 0]


cdef class RowsGrower:
    """Owns all memory of one growing tree."""

    cdef:
        Problem problem
        ListedTable table
        Worker worker

    def __cinit__(self):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.table, 0, sizeof(ListedTable))
        memset(&self.worker, 0, sizeof(Worker))

    def __dealloc__(self):
        free_listed_table(&self.table)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker, NULL)

    cdef int allocate(self, int64_t n_rows) except -1:
        if (
            start_listed_table(&self.problem, &self.table, n_rows) < 0
            or start_worker(&self.problem, &self.worker, 1, 8, True, NULL) < 0
            or start_buffer(&self.worker.buffer, self.problem.n_statistics, False) < 0
        ):
            raise MemoryError()
        self.table.listed.kind = LISTED_VALUES
        if self.problem.is_classifier:
            self.table.listed.kind = (
                LISTED_TWO_CLASSES
                if self.problem.n_statistics == 2 and self.problem.random_splitter
                else LISTED_CLASSES
            )
        return 0

    cdef int fill_rows(self, dict settings) except -1:
        """List the rows that take part."""
        cdef:
            const double[:, ::1] values
            const int32_t[:, ::1] label
            const double[:, ::1] y
            const double[::1] weight
            const uint32_t[::1] row_number
            ListedTable* table = &self.table
            int64_t row, i, n_table_rows = settings["ranks"].shape[1]
            bint is_weighted = settings["weight"] is not None
            bint is_numbered = settings["row_number"] is not None
            bint is_classifier = self.problem.is_classifier
            bint is_binary = table.listed.kind == LISTED_TWO_CLASSES
            uint64_t share, beside = 0
        if is_weighted:
            weight = settings["weight"]
        if is_numbered:
            row_number = settings["row_number"]
        if is_classifier:
            label = settings["label"]
        else:
            y = settings["y"]
            table.y = <double*>malloc(n_table_rows * sizeof(double))
            if table.y == NULL:
                raise MemoryError()
        table.n_table_rows = n_table_rows
        table.codes = address_of(settings["ranks"])
        table.code_size = settings["ranks"].dtype.itemsize
        if self.problem.random_splitter:
            values = settings["row_values"]
            table.row_values = &values[0, 0]
        else:
            table.row_codes = address_of(settings["row_ranks"])
        with nogil:
            for row in range(n_table_rows):
                i = row
                if is_numbered:
                    i = row_number[row]
                    if row_number[row] == <uint32_t>-1:
                        continue
                share = <uint64_t>weight[i] if is_weighted else 1
                if is_classifier:
                    beside = <uint64_t>label[i, 0] * (share if is_binary else 1)
                else:
                    table.y[row] = y[i, 0]
                table.rows[i] = share << 48 | beside << 32 | <uint64_t>row
        return 0


def grow_from_rows(dict settings):
    """Grow a tree; see grow.py for the settings.

    Returns what ``grow_nodes`` returns.
    """
    cdef:
        RowsGrower grower = RowsGrower()
        Arena arena
        Frame root
        const int32_t[::1] columns = settings["columns"]
        Node[::1] nodes
        double[:, ::1] statistics
        int64_t n_rows
        int outcome = 0
    memset(&arena, 0, sizeof(Arena))
    fill_problem(&grower.problem, settings)
    target = settings["label"] if grower.problem.is_classifier else settings["y"]
    n_rows = target.shape[0]
    fill_codes(&grower.problem, &arena.codes, settings)
    grower.allocate(n_rows)
    write_root(
        &grower.problem, &arena.rows, n_rows, settings, &grower.worker.buffer, &root
    )
    if not settings["root_is_leaf"]:
        grower.fill_rows(settings)
        with nogil:
            outcome = grow_all(
                &grower.problem, &grower.table, &grower.worker, &root, &columns[0]
            )
        if outcome < 0:
            raise MemoryError()
    node_records = np.empty(grower.worker.buffer.n_nodes, dtype=NODE_DTYPE)
    node_statistics = np.empty((len(node_records), grower.problem.n_statistics))
    nodes = node_records
    statistics = node_statistics
    level_branch, surrogates = write_nodes(
        &grower.problem, &grower.worker.buffer, NULL, 0, nodes, statistics,
        SURROGATE_DTYPE
    )
    return node_records, node_statistics, level_branch, surrogates
