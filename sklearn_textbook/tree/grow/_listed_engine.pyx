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
from libc.stdint cimport int16_t
from libc.string cimport memset

from sklearn_textbook.tree.grow._assemble cimport write_alone
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    NodeBuffer,
    free_buffer,
    push_frame,
    start_buffer,
)
from sklearn_textbook.tree.grow._class_search cimport counts_classes, search_classes
from sklearn_textbook.tree.grow._class_small cimport grow_class_small, is_class_small
from sklearn_textbook.tree.grow._drawn_node cimport grow_drawn
from sklearn_textbook.tree.grow._drawn_rows cimport (
    DrawnTable,
    free_drawn_table,
    start_drawn_table,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._measure cimport Children
from sklearn_textbook.tree.grow._coded_small cimport (
    fetch_coded_small,
    grow_coded_small,
    is_coded_small,
)
from sklearn_textbook.tree.grow._listed_node cimport (
    divide_pair,
    is_pair,
    measure_division,
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
from sklearn_textbook.tree.grow._row_list cimport Span
from sklearn_textbook.tree.grow._settings cimport fill_codes, fill_problem, write_root
from sklearn_textbook.tree.grow._short_columns cimport read_short_columns
from sklearn_textbook.tree.grow._value_search cimport counts_values, search_values
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    Worker,
    free_worker,
    start_worker,
)
from sklearn_textbook.tree.split._counted cimport FEW_ROWS
from sklearn_textbook.tree.split._drawn_steps cimport Scale
from sklearn_textbook.tree.split._listed cimport (
    LISTED_CLASSES,
    LISTED_TWO_CLASSES,
    LISTED_VALUES,
    Division,
    clear_division,
    number_of,
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
    LARGEST_WEIGHT = 0xFFFF
    LARGEST_TOTAL = 0x1FFFFF
    COPIES_PAY = 6  # copies of codes pay up to so many columns per one that is tried


cdef void choose_division(
    const Problem* problem, ListedTable* table, Worker* worker, const Arena* arena,
    Frame* frame, NodeView* view, Division* division
) noexcept nogil:
    """Draw columns, find the best division, and mark the rows of child 0; the column
    is -1 if none will do."""
    cdef int64_t n_visit
    view_node(problem, arena, worker, frame, view)
    if counts_values(problem, table, frame):
        search_values(problem, table, worker, frame, view, division)
        return
    if counts_classes(table, frame):
        search_classes(problem, table, worker, frame, view, division)
        return
    clear_division(division)
    n_visit = draw_columns(problem, table, worker, frame)
    if n_visit == 0:
        return
    search_listed(problem, table, worker, frame, view, n_visit, division)
    if division.best.column >= 0:
        division.best.column = worker.visit[division.column - table.columns]
        division.best.kind = problem.kind[division.best.column]
        mark_rows(table, frame.n_rows, division)


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
        uint32_t below, above
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
    if division.is_between:
        below = division.cut
        above = division.above
    else:
        find_neighbours(division.column, frame.n_rows, division.cut, &below, &above)
    if moves:
        divide_rows(table, frame)
    node = &worker.buffer.nodes[frame.node]
    node.first_child = first
    node.n_children = 2
    node.feature = division.best.column
    node.kind = division.best.kind
    node.missing_branch = branch_for_missing(problem, children, &division.best)
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
            make_local(problem, table, &frame)
            n_waiting = worker.stack.n_frames
        if is_coded_small(problem, table, &frame):
            # The next one comes from memory meanwhile, if its rows are numbered alike.
            if worker.stack.n_frames > (n_waiting if table.is_local else 0):
                fetch_coded_small(
                    table, &worker.stack.frames[worker.stack.n_frames - 1]
                )
            if grow_coded_small(problem, table, worker, &frame) < 0:
                return -1
        elif is_class_small(problem, table, worker, &frame):
            if worker.stack.n_frames > (n_waiting if table.is_local else 0):
                fetch_coded_small(
                    table, &worker.stack.frames[worker.stack.n_frames - 1]
                )
            if grow_class_small(problem, table, worker, &frame) < 0:
                return -1
        elif split_node(problem, table, worker, &arena, &frame) < 0:
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


cdef int64_t list_weighted_rows(
    const Weight* weight, int64_t n_table_rows, uint64_t* rows, int64_t* total
) noexcept nogil:
    """List the rows that take part, and sum up their weights. Returns their number, or
    -1 if a weight does not fit into an entry."""
    cdef:
        int64_t row, share, n = 0
        bint fits = True
    total[0] = 0
    for row in range(n_table_rows):
        if not 0 <= weight[row] <= LARGEST_WEIGHT:
            return -1
        share = <int64_t>weight[row]
        fits = fits and share == weight[row]
        # Written anyway, and kept if the row has a weight: nobody guesses which have.
        rows[n] = <uint64_t>share << 48 | <uint64_t>row
        n += share > 0
        total[0] += share
    return n if fits else -1


cdef void add_classes(
    const int32_t* label, bint is_binary, uint64_t* rows, int64_t n, double* counts
) noexcept nogil:
    """Write the classes into the entries, and sum up the weight of each."""
    cdef:
        int64_t i
        uint64_t row, code, share
    for i in range(n):
        row = rows[i]
        code = <uint64_t>label[number_of(row)]
        share = row >> 48
        counts[code] += <double>share
        rows[i] = row | (code * share if is_binary else code) << 32


cdef bint measure_values(
    const double* y, const uint64_t* rows, int64_t n, double weight, double* mean,
    double* variance
) noexcept nogil:
    """Mean and variance of y; whether there is but one value, which is then kept."""
    cdef:
        int64_t i
        double total = 0.0, squares = 0.0, value, first = y[number_of(rows[0])]
        bint is_pure = True
    # One after the other: sums of symmetric values are then exactly 0.
    for i in range(n):
        value = y[number_of(rows[i])]
        total += <double>(rows[i] >> 48) * value
        is_pure = is_pure and value == first
    mean[0] = first if is_pure else total / weight
    for i in range(n):
        value = y[number_of(rows[i])] - mean[0]
        squares += <double>(rows[i] >> 48) * (value * value)
    variance[0] = squares / weight
    return is_pure


cdef class RowsGrower:
    """Owns the memory of a growing tree, which serves one tree after the other.

    Parameters
    ----------
    settings : dict
        What the trees share: see grow.py; and the classes or values of all rows,
        ``all_labels`` or ``all_values``.
    """

    cdef:
        Problem problem
        ListedTable table
        DrawnTable drawn
        Worker worker
        Codes codes
        int64_t n_listed
        const int32_t[:, ::1] label
        const Span[::1] spans
        dict settings  # keeps the arrays alive
        const int64_t[::1] entropy_table

    def __cinit__(self, dict settings):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.table, 0, sizeof(ListedTable))
        memset(&self.drawn, 0, sizeof(DrawnTable))
        memset(&self.worker, 0, sizeof(Worker))
        memset(&self.codes, 0, sizeof(Codes))
        self.settings = settings
        fill_problem(&self.problem, settings)
        fill_codes(&self.problem, &self.codes, settings)
        if (
            start_listed_table(
                &self.problem, &self.table, settings["order"].shape[1]
            ) < 0
            or start_worker(&self.problem, &self.worker, 1, 8, True, NULL) < 0
            or start_buffer(&self.worker.buffer, self.problem.n_statistics, False) < 0
        ):
            raise MemoryError()
        self.fill_table(settings)
        if self.problem.random_splitter:
            self.fill_drawn_table(settings)

    def __dealloc__(self):
        free_listed_table(&self.table)
        free_drawn_table(&self.drawn)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker, NULL)

    cdef int fill_table(self, dict settings) except -1:
        """Point to the cells and targets of the table."""
        cdef:
            const double[:, ::1] y
            const uint8_t[:, ::1] row_bins
            ListedTable* table = &self.table
        table.n_table_rows = settings["order"].shape[1]
        if not self.problem.random_splitter:
            table.codes = address_of(settings["ranks"])
            table.code_size = settings["ranks"].dtype.itemsize
            table.row_codes = address_of(settings["row_ranks"])
            row_bins = settings["row_bins"]
            self.spans = settings["spans"]
            table.coded.table.n_columns = self.problem.n_columns
            table.coded.table.row_bins = &row_bins[0, 0]
            table.coded.table.spans = &self.spans[0]
        table.listed.kind = LISTED_VALUES
        if self.problem.is_classifier:
            self.label = settings["all_labels"]
            table.listed.kind = (
                LISTED_TWO_CLASSES
                if self.problem.n_statistics == 2 and self.problem.random_splitter
                else LISTED_CLASSES
            )
        else:
            y = settings["all_values"]
            table.y = &y[0, 0]
        return 0

    cdef int fill_drawn_table(self, dict settings) except -1:
        """Point to the steps of the table."""
        cdef:
            const int16_t[:, ::1] steps = settings["steps"]
            const int16_t[:, ::1] row_steps = settings["row_steps"]
            const double[:, ::1] values = settings["row_values"]
            const Scale[::1] scales = settings["scales"]
            DrawnTable* drawn = &self.drawn
        if start_drawn_table(&self.problem, drawn, self.table.n_table_rows) < 0:
            raise MemoryError()
        drawn.n_table_rows = self.table.n_table_rows
        drawn.steps = &steps[0, 0]
        drawn.row_steps = &row_steps[0, 0]
        drawn.scales = &scales[0]
        drawn.row_values = &values[0, 0]
        drawn.rows = self.table.rows
        drawn.spare = self.table.spare
        drawn.listed = self.table.listed
        drawn.y = self.table.y
        drawn.local_y = self.table.local_y
        return 0

    def list_rows(self, weight):
        """List the rows that take part in the next tree.

        Parameters
        ----------
        weight : ndarray of int32, int64 or float64, shape (n_rows,), or None
            Weights of all rows of the table; None for unit weights.

        Returns
        -------
        root : dict, or None
            ``n_rows``, ``total_weight`` and ``root_statistics``; for values also
            ``root_impurity`` and ``is_pure``. None if a weight or their sum does not
            fit into a list, or there are no rows.
        """
        cdef:
            const double[::1] real
            const int64_t[::1] whole
            const int32_t[::1] short
            int64_t total = 0, n_rows = self.table.n_table_rows, row
            uint64_t* rows = self.table.rows
        if weight is None:
            self.n_listed = total = n_rows
            with nogil:
                for row in range(n_rows):
                    rows[row] = <uint64_t>1 << 48 | <uint64_t>row
        elif weight.dtype == np.int64:
            whole = weight
            with nogil:
                self.n_listed = list_weighted_rows(&whole[0], n_rows, rows, &total)
        elif weight.dtype == np.int32:
            short = weight
            with nogil:
                self.n_listed = list_weighted_rows(&short[0], n_rows, rows, &total)
        else:
            real = weight
            with nogil:
                self.n_listed = list_weighted_rows(&real[0], n_rows, rows, &total)
        if self.n_listed <= 0 or total > LARGEST_TOTAL:
            return None
        self.drawn.is_unit = total == self.n_listed
        return self.measure_rows(<double>total)

    cdef measure_rows(self, double weight):
        """Describe all rows that are listed, and write their classes."""
        cdef:
            double[::1] statistics = np.zeros(self.problem.n_statistics)
            double variance
            bint is_pure
            bint is_binary = self.table.listed.kind == LISTED_TWO_CLASSES
            uint64_t* rows = self.table.rows
        root = {
            "n_rows": self.n_listed,
            "total_weight": weight,
            "root_statistics": statistics.base,
        }
        if self.problem.is_classifier:
            with nogil:
                add_classes(
                    &self.label[0, 0], is_binary, rows, self.n_listed, &statistics[0]
                )
            return root
        with nogil:
            is_pure = measure_values(
                self.table.y, rows, self.n_listed, weight, &statistics[0], &variance
            )
        return root | {"root_impurity": variance, "is_pure": is_pure}

    def grow(self, dict root_settings):
        """Grow a tree from the rows that were listed.

        Parameters
        ----------
        root_settings : dict
            ``root_statistics``, ``root_impurity``, ``root_is_leaf``, ``total_weight``,
            ``random_state``, ``entropy_table`` and ``entropy_unit``.

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
        if root_settings["entropy_table"] is not None:
            self.entropy_table = root_settings["entropy_table"]
            self.problem.entropy_table = &self.entropy_table[0]
            self.problem.entropy_unit = root_settings["entropy_unit"]
        self.worker.stack.n_frames = 0
        self.table.is_local = False
        write_root(
            &self.problem, &no_rows, self.n_listed, root_settings, buffer, &root
        )
        if not root_settings["root_is_leaf"]:
            with nogil:
                if self.drawn.row_steps != NULL:
                    outcome = grow_drawn(
                        &self.problem, &self.drawn, &self.worker, &root
                    )
                else:
                    outcome = grow_all(
                        &self.problem, &self.table, &self.worker, &root, &columns[0]
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


def grow_from_rows(dict settings):
    """Grow a tree; see grow.py for the settings.

    Returns what ``grow_nodes`` returns.
    """
    grower = RowsGrower(settings)
    root = grower.list_rows(settings["all_weights"])
    grower.grow(settings | root)
    return grower.write_nodes(make_records)
