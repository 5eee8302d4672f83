"""Growing a whole tree from a list of rows and the codes of all columns.

The sorted columns of ``_engine`` are all divided at every node, which is wasteful
where a node looks at few of them. Here a node reads the codes of the columns it has
drawn and divides the list of its rows alone. The tree is the same, node by node: the
drawing of columns, the comparison of candidates, the limits and the records are those
of ``_search``, ``_numeric`` and ``_node``.
"""

import numpy as np

from libc.math cimport NAN
from libc.string cimport memset

from sklearn_textbook.tree.grow._assemble cimport write_nodes
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    free_buffer,
    push_frame,
    start_buffer,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._measure cimport (
    Children,
    clear_children,
    finish_classes,
)
from sklearn_textbook.tree.grow._missing cimport branch_for_missing
from sklearn_textbook.tree.grow._node cimport (
    create_children,
    improvement_of,
    must_be_leaf,
    push_children,
)
from sklearn_textbook.tree.grow._row_list cimport (
    RowList,
    divide_rows,
    draw_columns,
    free_row_list,
    make_local,
    start_row_list,
)
from sklearn_textbook.tree.grow._search cimport view_node
from sklearn_textbook.tree.grow._settings cimport fill_codes, fill_problem, write_root
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    Worker,
    free_worker,
    start_worker,
)
from sklearn_textbook.tree.split._counted cimport (
    FEW_ROWS,
    Contest,
    ones_in,
    rows_in,
    search_few_rows,
    start_contest,
    weight_in,
)
from sklearn_textbook.tree.split._histogram cimport search_many_rows
from sklearn_textbook.tree.split._types cimport (
    NodeView,
    Problem,
    int32_t,
    int64_t,
    uint8_t,
    uint32_t,
    uint64_t,
)

from sklearn_textbook.tree.grow.layout import NODE_DTYPE, SURROGATE_DTYPE


cdef enum:
    COPIES_PAY = 6  # copies of codes pay up to so many columns per one that is tried


cdef void find_division(
    const Problem* problem, RowList* row_list, const Frame* frame,
    const NodeView* view, int64_t n_visit, Contest* contest
) noexcept nogil:
    """The best division of the columns that were drawn."""
    cdef:
        const uint64_t* rows = row_list.rows + frame.start
        int64_t i, n = frame.n_rows
    start_contest(problem, view, contest)
    if contest.lowest > contest.highest:
        return
    if n > FEW_ROWS:
        search_many_rows(
            problem, contest, row_list.columns, n_visit, rows, n, row_list.keys,
            row_list.spare, row_list.is_open
        )
        return
    if n == 2:
        # Any two rows that differ: the first column is the best.
        n_visit = 1
    for i in range(n_visit):
        search_few_rows(
            problem, contest, &row_list.columns[i], <int32_t>i, rows, n, row_list.keys
        )


cdef void measure_both(
    const Problem* problem, const NodeView* view, uint64_t counts, Children* children
) noexcept nogil:
    """What the children hold, from the counts of the first."""
    cdef int64_t child
    children.n_children = 2
    children.n_pieces = 0
    children.n_missing = 0
    clear_children(problem, children)
    children.n_rows[0] = rows_in(counts)
    children.n_rows[1] = view.totals.rows - children.n_rows[0]
    children.weight[0] = <double>weight_in(counts)
    children.weight[1] = view.totals.weight - children.weight[0]
    children.sums[1] = <double>ones_in(counts)
    children.sums[0] = children.weight[0] - children.sums[1]
    children.sums[2] = view.totals.sums[0] - children.sums[0]
    children.sums[3] = view.totals.sums[1] - children.sums[1]
    for child in range(2):
        finish_classes(problem, view, child, children)


cdef int split_node(
    const Problem* problem, RowList* row_list, Worker* worker, const Arena* arena,
    Frame* frame
) noexcept nogil:
    """Split a node if that is worth it. Returns -1 when memory runs out."""
    cdef:
        NodeView view
        Contest contest
        Children* children = &worker.children
        Node* node = &worker.buffer.nodes[frame.node]
        uint8_t* is_leaf = worker.is_active
        uint32_t below, above
        int64_t child, n_visit = draw_columns(problem, row_list, worker, frame)
        int first
    if n_visit == 0:
        return 0
    view_node(problem, arena, worker, frame, &view)
    find_division(problem, row_list, frame, &view, n_visit, &contest)
    if contest.best.column < 0:
        return 0
    contest.best.column = worker.visit[contest.place]
    contest.best.kind = problem.kind[contest.best.column]
    measure_both(problem, &view, contest.counts, children)
    node.improvement = improvement_of(problem, node, children, &contest.best)
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
    divide_rows(
        row_list, frame, &row_list.columns[contest.place], contest.cut,
        not (is_leaf[0] and is_leaf[1]), &below, &above
    )
    node = &worker.buffer.nodes[frame.node]
    node.first_child = first
    node.n_children = 2
    node.feature = contest.best.column
    node.kind = contest.best.kind
    node.missing_branch = branch_for_missing(problem, children, &contest.best)
    node.threshold = NAN
    node.map_start = <int64_t>(<uint64_t>below << 32 | above)
    return push_children(problem, worker, frame, &contest.best, first, is_leaf)


cdef int grow_all(
    const Problem* problem, RowList* row_list, Worker* worker, const Frame* root,
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
        if row_list.is_local and worker.stack.n_frames < n_waiting:
            row_list.is_local = False
        if not row_list.is_local and frame.n_rows <= row_list.local_rows and (
            FEW_ROWS < frame.n_rows
            and frame.n_active <= COPIES_PAY * problem.max_features
        ):
            make_local(row_list, &frame, worker.active)
            n_waiting = worker.stack.n_frames
        if split_node(problem, row_list, worker, &arena, &frame) < 0:
            return -1
    return 0


cdef class ListGrower:
    """Owns all memory of one growing tree."""

    cdef:
        Problem problem
        RowList row_list
        Worker worker

    def __cinit__(self):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.row_list, 0, sizeof(RowList))
        memset(&self.worker, 0, sizeof(Worker))

    def __dealloc__(self):
        free_row_list(&self.row_list)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker, NULL)

    cdef int allocate(self, int64_t n_rows) except -1:
        if (
            start_row_list(&self.problem, &self.row_list, n_rows) < 0
            or start_worker(&self.problem, &self.worker, 1, 8, True, NULL) < 0
            or start_buffer(&self.worker.buffer, self.problem.n_statistics, False) < 0
        ):
            raise MemoryError()
        return 0

    cdef int fill_rows(self, dict settings) except -1:
        """List the rows that take part."""
        cdef:
            const uint32_t[:, ::1] codes = settings["ranks"]
            const int32_t[:, ::1] label = settings["label"]
            const double[::1] weight
            const uint32_t[::1] row_number
            int64_t row, i, n_table_rows = codes.shape[1]
            bint is_weighted = settings["weight"] is not None
            bint is_numbered = settings["row_number"] is not None
            uint64_t share
        if is_weighted:
            weight = settings["weight"]
        if is_numbered:
            row_number = settings["row_number"]
        self.row_list.codes = &codes[0, 0]
        self.row_list.stride = n_table_rows
        with nogil:
            for row in range(n_table_rows):
                i = row
                if is_numbered:
                    i = row_number[row]
                    if row_number[row] == <uint32_t>-1:
                        continue
                share = <uint64_t>weight[i] if is_weighted else 1
                self.row_list.rows[i] = (
                    share << 48 | (share * <uint64_t>label[i, 0]) << 32 | <uint64_t>row
                )
        return 0


def grow_from_list(dict settings):
    """Grow a tree; see grow.py for the settings.

    Returns what ``grow_nodes`` returns.
    """
    cdef:
        ListGrower grower = ListGrower()
        Arena arena
        Frame root
        const int32_t[::1] columns = settings["columns"]
        Node[::1] nodes
        double[:, ::1] statistics
        int64_t n_rows = settings["label"].shape[0]
        int outcome = 0
    memset(&arena, 0, sizeof(Arena))
    fill_problem(&grower.problem, settings)
    fill_codes(&grower.problem, &arena.codes, settings)
    grower.allocate(n_rows)
    write_root(
        &grower.problem, &arena.rows, n_rows, settings, &grower.worker.buffer, &root
    )
    if not settings["root_is_leaf"]:
        grower.fill_rows(settings)
        with nogil:
            outcome = grow_all(
                &grower.problem, &grower.row_list, &grower.worker, &root, &columns[0]
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
