"""Growing a whole tree from the sorted columns.

Two phases. Nodes of many rows are split one by one, threads sharing
their columns. A node of at most ``task_rows`` rows becomes a task: its rows are
renumbered into 16 bits and copied next to each other, so that the whole subtree
stays in the cache of one thread, and threads share the tasks. A small table has such
narrow cells from the start. Everything that decides a split is the same in both phases
and for any number of threads.
"""

import numpy as np

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from sklearn_textbook._contract._interrupt cimport (
    Interrupt,
    raise_failure,
    start_interrupt,
)
from sklearn_textbook._contract._threads cimport (
    ThreadTeam,
    run_tasks,
    start_team,
    stop_team,
)
from sklearn_textbook.tree.grow._assemble cimport write_tree
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    NodeBuffer,
    Stack,
    free_buffer,
    free_buffers,
    free_stack,
    start_buffer,
    start_stack,
)
from sklearn_textbook.tree.grow._grower cimport (
    Grower,
    grow_from,
    grow_subtrees,
    measure_table_column,
)
from sklearn_textbook.tree.grow._settings cimport Settings, write_root
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    Worker,
    count_slots,
    fill_column,
    free_arena,
    free_worker,
    list_rows,
    start_local_arena,
    start_spacing,
    start_worker,
)
from sklearn_textbook.tree.split._types cimport (
    LOCAL_ROWS,
    Problem,
    Rows,
    int32_t,
    int64_t,
    uint32_t,
    uint64_t,
    uint8_t,
)


cdef enum:
    FEW_CELLS = 20000  # tables up to this size are one task
    LOCAL_CELLS = 16777216  # cells a thread may copy


def choose_task_rows(int64_t n_rows, int64_t n_columns):
    """Rows up to which a node becomes one task; does not depend on the threads."""
    if n_rows <= LOCAL_ROWS and n_rows * n_columns <= FEW_CELLS:
        return n_rows
    limit = min(LOCAL_ROWS, max(64, n_rows // 6))
    return max(64, min(limit, LOCAL_CELLS // max(1, n_columns)))


# ------------------------------------------------------------------- filling columns


cdef struct Filling:
    # Columns to be filled, and from what.
    const Problem* problem
    Arena* table
    bint is_narrow
    int64_t n_rows
    const uint32_t* order
    int64_t n_table_rows
    const int64_t* n_missing
    const int64_t* n_distinct
    const uint32_t* row_number
    const uint8_t* second_class


cdef void fill_table_column(void* context, int64_t column, int thread) noexcept nogil:
    cdef:
        const Filling* filling = <Filling*>context
        const uint32_t* order = filling.order + column * filling.n_table_rows
        int64_t n_missing = filling.n_missing[column], start = column * filling.n_rows
        Arena* table = filling.table
    if filling.problem.is_coded[column]:
        return
    if filling.is_narrow:
        fill_column(
            order, filling.n_table_rows, n_missing, filling.row_number,
            filling.second_class, <uint32_t*>table.entries + start
        )
    else:
        fill_column(
            order, filling.n_table_rows, n_missing, filling.row_number,
            filling.second_class, <uint64_t*>table.entries + start
        )
    measure_table_column(
        filling.problem, table, column, filling.n_distinct[column],
        filling.n_rows - n_missing
    )


cdef void list_table_rows(const Filling* filling) noexcept nogil:
    """The rows of nominal columns that are not sorted."""
    cdef:
        Arena* table = filling.table
        int64_t start = filling.problem.n_columns * filling.n_rows
    if filling.is_narrow:
        list_rows(
            filling.n_rows, filling.second_class, <uint32_t*>table.entries + start
        )
    else:
        list_rows(
            filling.n_rows, filling.second_class, <uint64_t*>table.entries + start
        )


# --------------------------------------------------------------------- the engine


cdef class TreeGrower:
    """Owns all memory of one growing tree."""

    cdef:
        Problem problem
        Arena table
        Grower grower
        Grower* local_growers  # by threads, of the tasks
        Interrupt interrupt
        Worker* workers
        Worker* local_workers
        Arena* local_arenas
        NodeBuffer* done
        Stack tasks
        int64_t n_rows
        bint is_narrow
        int n_threads
        ThreadTeam* team
        Settings settings
        object kept  # targets and weights, which are pointed to
        object entries

    def __cinit__(self):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.table, 0, sizeof(Arena))
        memset(&self.grower, 0, sizeof(Grower))
        memset(&self.tasks, 0, sizeof(Stack))

    def __dealloc__(self):
        cdef int64_t i
        stop_team(self.team)
        for i in range(self.n_threads):
            if self.workers != NULL:
                free_buffer(&self.workers[i].buffer)
                free_worker(&self.workers[i])
            if self.local_workers != NULL:
                free_buffer(&self.local_workers[i].buffer)
                free_worker(&self.local_workers[i])
            if self.local_arenas != NULL:
                free_arena(&self.local_arenas[i])
        free(self.workers)
        free(self.local_growers)
        free(self.local_workers)
        free(self.local_arenas)
        free_buffers(self.done, self.tasks.n_frames)
        free_stack(&self.tasks)
        free_arena(&self.table)
        free(self.grower.local_number)

    cdef int set_rows(self, weight) except -1:
        cdef:
            const int32_t[:, ::1] label
            const double[:, ::1] y
            const double[::1] weights
            Rows* rows = &self.table.rows
        target = self.settings.target
        self.kept = target, weight
        self.n_rows = target.n_rows
        if target.is_classifier:
            label = target.codes
            rows.label = &label[0, 0]
        else:
            y = target.values
            rows.y = &y[0, 0]
        if weight is not None:
            weights = weight
            rows.weight = &weights[0]
            self.problem.weighted = True
        return 0

    cdef int allocate(self, int n_threads) except -1:
        """Allocate for both phases; a table that is one task needs no second one."""
        cdef:
            int64_t i, task_rows = choose_task_rows(self.n_rows, self.problem.n_columns)
            bint complete = True
            bint has_tasks = self.problem.max_leaf_nodes == 0
        self.is_narrow = self.n_rows <= task_rows
        if self.is_narrow:
            n_threads, has_tasks = 1, False
        self.n_threads = n_threads
        self.workers = <Worker*>calloc(n_threads, sizeof(Worker))
        self.local_growers = <Grower*>calloc(n_threads, sizeof(Grower))
        self.local_workers = <Worker*>calloc(n_threads, sizeof(Worker))
        self.local_arenas = <Arena*>calloc(n_threads, sizeof(Arena))
        if (
            self.workers == NULL or self.local_growers == NULL
            or self.local_workers == NULL or self.local_arenas == NULL
        ):
            raise MemoryError()
        start_stack(&self.tasks, self.problem.n_columns)
        for i in range(n_threads):
            complete = complete and start_worker(
                &self.problem, &self.workers[i], self.n_rows,
                sizeof(uint32_t) if self.is_narrow else sizeof(uint64_t),
                i == 0, NULL if i == 0 else &self.workers[0]
            ) == 0
            if has_tasks:
                complete = complete and start_worker(
                    &self.problem, &self.local_workers[i], task_rows,
                    sizeof(uint32_t), True, NULL
                ) == 0
                complete = complete and start_local_arena(
                    &self.problem, &self.local_arenas[i], task_rows
                ) == 0
        complete = complete and start_spacing(
            &self.problem, &self.table, self.problem.values_stride
        ) == 0
        complete = complete and start_buffer(
            &self.workers[0].buffer, self.problem.n_statistics,
            self.problem.monotonic != NULL
        ) == 0
        if not complete:
            raise MemoryError()
        if not self.is_narrow:
            self.team = start_team(n_threads, &self.interrupt)
            # Tasks that share cases number them each for itself.
            self.grower.local_number = <uint32_t*>malloc(
                self.n_rows * sizeof(uint32_t)
                * (n_threads if self.problem.divides_cases else 1)
            )
            if self.grower.local_number == NULL:
                raise MemoryError()
        self.grower.problem = &self.problem
        self.grower.worker = self.grower.all_workers = &self.workers[0]
        self.grower.table = &self.table
        self.grower.team = self.team
        start_interrupt(&self.interrupt)
        self.problem.interrupt = &self.interrupt
        self.grower.task_rows = task_rows
        self.grower.tasks = &self.tasks
        return 0

    cdef int fill_columns(self, row_number) except -1:
        """Fill the cells of the whole table."""
        cdef:
            const uint32_t[:, ::1] order = self.settings.table.order
            const int64_t[::1] n_missing = self.settings.table.n_missing
            const uint32_t[::1] numbers
            const uint8_t[::1] second_class = np.zeros(self.n_rows, dtype=np.uint8)
            const uint32_t* number = NULL
            uint64_t[::1] cells
            Filling filling
        target = self.settings.target
        if target.is_classifier and target.n_outputs == 1 and target.n_classes[0] == 2:
            second_class = target.codes[:, 0].astype(np.uint8)
        if row_number is not None:
            numbers = row_number
            number = &numbers[0]
        # numpy requests huge pages, which cost less at the first access.
        n_cells = count_slots(&self.problem) * self.n_rows
        cells = np.empty((n_cells + 1) // 2 if self.is_narrow else n_cells, np.uint64)
        self.entries = cells
        self.table.entries = &cells[0]
        self.table.stride = self.n_rows
        filling = Filling(
            &self.problem, &self.table, self.is_narrow, self.n_rows, &order[0, 0],
            order.shape[1], &n_missing[0], self.problem.n_distinct, number,
            &second_class[0]
        )
        with nogil:
            run_tasks(self.team, fill_table_column, &filling, self.problem.n_columns)
            if self.problem.any_coded:
                list_table_rows(&filling)
        return 0

    cdef int grow(self, root, row_number) except -1:
        """Grow the tree from its root."""
        cdef:
            Frame frame
            int outcome
        write_root(
            &self.problem, self.n_rows, root, &self.workers[0].buffer, &frame
        )
        if root.is_leaf:
            return 0
        self.fill_columns(row_number)
        frame.entries = self.table.entries
        frame.stride = self.n_rows
        if self.is_narrow:
            frame.arena = &self.table
        with nogil:
            outcome = grow_from(&self.grower, &frame, self.settings.columns)
        if outcome < 0:
            raise_failure(&self.interrupt)
        return self.grow_tasks()

    cdef int grow_tasks(self) except -1:
        """The second phase: threads share the postponed subtrees."""
        cdef:
            Grower* grower
            int64_t i, stride = self.n_rows if self.problem.divides_cases else 0
            int outcome
        if self.tasks.n_frames == 0:
            return 0
        for i in range(self.n_threads):
            grower = &self.local_growers[i]
            grower[0] = self.grower
            grower.worker = &self.local_workers[i]
            grower.arena = &self.local_arenas[i]
            grower.local_number += i * stride
        with nogil:
            outcome = grow_subtrees(
                &self.workers[0].buffer, &self.tasks, self.local_growers, self.team,
                &self.done
            )
        if outcome < 0:
            raise_failure(&self.interrupt)
        return 0


def grow_nodes(Settings settings, root, weight, row_number, int n_threads):
    """Grow a tree from its sorted columns.

    Parameters
    ----------
    settings : Settings
        The table, the rules, and the classes or values of the rows that take part.
    root : Root
        What these rows hold.
    weight : ndarray of float64, shape (n_rows,), or None
        Their weights; fractional cases write into them.
    row_number : ndarray of uint32, or None
        The number of each row of the table among them.
    n_threads : int
        Number of threads.

    Returns
    -------
    nodes, statistics, side_tables : ndarray, ndarray, dict
        The node records, the statistics and the side tables by name.
    """
    cdef:
        TreeGrower grower = TreeGrower()
        const int64_t[::1] entropy_table
    grower.settings = settings
    grower.problem = settings.problem
    grower.table.codes = settings.codes
    grower.problem.total_weight = root.total_weight
    grower.problem.design_effect = root.design_effect
    if root.entropy_table is not None:
        entropy_table = root.entropy_table
        grower.problem.entropy_table = &entropy_table[0]
        grower.problem.entropy_unit = root.entropy_unit
    grower.set_rows(weight)
    grower.allocate(n_threads)
    grower.grow(root, row_number)
    return write_tree(
        &grower.problem, &grower.workers[0].buffer, grower.done, grower.tasks.n_frames
    )
