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

from sklearn_textbook.tree.grow._assemble cimport write_alone
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    NodeBuffer,
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
    CodedTable,
    RowList,
    Span,
    divide_rows,
    find_neighbours,
    free_row_list,
    make_local,
    start_row_list,
)
from sklearn_textbook.tree.grow._row_search cimport divide_counted, find_division
from sklearn_textbook.tree.grow._row_small cimport grow_row_small, is_row_small
from sklearn_textbook.tree.grow._search cimport view_node
from sklearn_textbook.tree.grow._settings cimport fill_codes, fill_problem, write_root
from sklearn_textbook.tree.grow._short_columns cimport read_short_columns
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    Worker,
    free_worker,
    start_worker,
)
from sklearn_textbook.tree.split._counted cimport (
    COUNT_MASK,
    FEW_ROWS,
    Contest,
    CountedColumn,
    make_row,
    ones_in,
    rows_in,
    weight_in,
)
from sklearn_textbook.tree.split._types cimport (
    Codes,
    NodeView,
    Problem,
    Rows,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)

from sklearn_textbook.tree.grow.layout import SURROGATE_DTYPE, make_records


cdef enum:
    LARGEST_TOTAL = COUNT_MASK  # that counts can hold
    COPIES_PAY = 6  # copies of codes pay up to so many columns per one that is tried


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


cdef void divide(
    RowList* row_list, const Frame* frame, const Contest* contest, bint moves,
    uint32_t* below, uint32_t* above
) noexcept nogil:
    """Divide the rows, if they have to move at all. Finds the codes on both sides of
    the threshold."""
    cdef CountedColumn* column = &row_list.columns[contest.place]
    if not column.is_gathered:
        divide_counted(row_list, frame, contest, moves, below, above)
        return
    if contest.is_between:
        below[0] = contest.cut
        above[0] = contest.above
    else:
        find_neighbours(column, frame.n_rows, contest.cut, below, above)
    if moves:
        divide_rows(row_list, frame, column, contest.cut)


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
        int64_t child
        int first
    view_node(problem, arena, worker, frame, &view)
    find_division(problem, row_list, worker, frame, &view, &contest)
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
    divide(
        row_list, frame, &contest, not (is_leaf[0] and is_leaf[1]), &below, &above
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
            make_local(row_list, &frame)
            n_waiting = worker.stack.n_frames
        if is_row_small(problem, row_list, worker, &frame):
            if grow_row_small(problem, row_list, worker, &frame) < 0:
                return -1
        elif split_node(problem, row_list, worker, &arena, &frame) < 0:
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


ctypedef fused Weight:
    int32_t
    int64_t
    double


cdef bint list_weighted_rows(
    const Weight* weight, const int32_t* label, int64_t n_table_rows, uint64_t* rows,
    int64_t* totals
) noexcept nogil:
    """List the rows that take part; sum up rows, weight and weight of the second class.
    Returns False if a weight does not fit into an entry."""
    cdef:
        int64_t row, share, n = 0, total = 0, ones = 0
        bint fits = True
    for row in range(n_table_rows):
        share = <int64_t>weight[row]
        if not 0 <= weight[row] <= LARGEST_TOTAL:
            return False
        fits = fits and share == weight[row]
        # Written anyway, and kept if the row has a weight: nobody guesses which have.
        rows[n] = make_row(row, share, share * label[row])
        n += share > 0
        total += share
        ones += share * label[row]
    totals[0] = n
    totals[1] = total
    totals[2] = ones
    return fits


cdef class ListGrower:
    """Owns the memory of a growing tree, which serves one tree after the other.

    Parameters
    ----------
    settings : dict
        What the trees share: see grow.py; and their labels, ``all_labels``.
    """

    cdef:
        Problem problem
        RowList row_list
        Worker worker
        Codes codes
        const int32_t[:, ::1] label
        int64_t n_listed
        dict settings  # keeps the arrays alive

    def __cinit__(self, dict settings):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.row_list, 0, sizeof(RowList))
        memset(&self.worker, 0, sizeof(Worker))
        memset(&self.codes, 0, sizeof(Codes))
        self.settings = settings
        self.label = settings["all_labels"]
        fill_problem(&self.problem, settings)
        fill_codes(&self.problem, &self.codes, settings)
        self.fill_table(settings)
        if (
            start_row_list(&self.problem, &self.row_list, self.label.shape[0]) < 0
            or start_worker(&self.problem, &self.worker, 1, 8, True, NULL) < 0
            or start_buffer(&self.worker.buffer, self.problem.n_statistics, False) < 0
        ):
            raise MemoryError()

    def __dealloc__(self):
        free_row_list(&self.row_list)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker, NULL)

    cdef int fill_table(self, dict settings) except -1:
        """Point to the codes of the table."""
        cdef:
            const uint8_t[:, ::1] bins = settings["row_bins"]
            const Span[::1] spans = settings["spans"]
            CodedTable* table = &self.row_list.table
        table.n_columns = bins.shape[1]
        table.n_rows = bins.shape[0]
        table.code_size = settings["ranks"].dtype.itemsize
        table.codes = address_of(settings["ranks"])
        table.row_codes = address_of(settings["row_ranks"])
        table.row_bins = &bins[0, 0]
        table.spans = &spans[0]
        return 0

    def list_rows(self, weight):
        """List the rows that take part in the next tree.

        Parameters
        ----------
        weight : ndarray of int32, int64 or float64, shape (n_rows,), or None
            Weights of all rows of the table; None for unit weights.

        Returns
        -------
        totals : tuple of int, or None
            Number of rows, weight, and weight of the second class. None if a weight or
            their sum does not fit into a list.
        """
        cdef:
            const double[::1] real
            const int64_t[::1] whole
            const int32_t[::1] short
            int64_t[3] totals
            int64_t n = self.label.shape[0], row
            uint64_t* rows = self.row_list.rows
            const int32_t* label = &self.label[0, 0]
            bint fits = True
        if weight is None:
            totals[0] = totals[1] = n
            totals[2] = 0
            with nogil:
                for row in range(n):
                    rows[row] = make_row(row, 1, label[row])
                    totals[2] += label[row]
        elif weight.dtype == np.int64:
            whole = weight
            with nogil:
                fits = list_weighted_rows(&whole[0], label, n, rows, totals)
        elif weight.dtype == np.int32:
            short = weight
            with nogil:
                fits = list_weighted_rows(&short[0], label, n, rows, totals)
        else:
            real = weight
            with nogil:
                fits = list_weighted_rows(&real[0], label, n, rows, totals)
        if not fits or totals[1] > LARGEST_TOTAL:
            return None
        self.n_listed = totals[0]
        return totals[0], totals[1], totals[2]

    def grow(self, dict root_settings):
        """Grow a tree from the rows that were listed.

        Parameters
        ----------
        root_settings : dict
            ``root_statistics``, ``root_impurity``, ``root_is_leaf``, ``total_weight``
            and ``random_state``.

        Returns
        -------
        n_nodes : int
            Number of its nodes, which stay until the next tree.
        """
        cdef:
            Rows no_rows
            Frame root
            NodeBuffer* buffer = &self.worker.buffer
            const int32_t[::1] columns = self.settings["columns"]
            int outcome = 0
        memset(&no_rows, 0, sizeof(Rows))
        self.problem.total_weight = root_settings["total_weight"]
        self.worker.stack.n_frames = 0
        self.row_list.is_local = False
        write_root(
            &self.problem, &no_rows, self.n_listed, root_settings, buffer, &root
        )
        if not root_settings["root_is_leaf"]:
            with nogil:
                outcome = grow_all(
                    &self.problem, &self.row_list, &self.worker, &root, &columns[0]
                )
            if outcome < 0:
                raise MemoryError()
        return buffer.n_nodes

    def read_short_columns(self):
        """Read the columns of the short form of the tree that has grown.

        Returns
        -------
        columns : dict, or None
            What ``storage.store_columns`` takes; None for trees with other than two-way
            tests, or with empty branches.
        """
        return read_short_columns(&self.problem, &self.worker.buffer)

    def write_nodes(self, make_room):
        """Write the records of the tree that has grown.

        Parameters
        ----------
        make_room : function
            Makes the arrays of nodes and statistics from their lengths.

        Returns
        -------
        grown : tuple
            What ``grow_nodes`` returns.
        """
        return write_alone(
            &self.problem, &self.worker.buffer, make_room, SURROGATE_DTYPE
        )


def grow_from_list(dict settings):
    """Grow a tree; see grow.py for the settings.

    Returns what ``grow_nodes`` returns.
    """
    grower = ListGrower(settings)
    grower.list_rows(settings["all_weights"])
    grower.grow(settings)
    return grower.write_nodes(make_records)
