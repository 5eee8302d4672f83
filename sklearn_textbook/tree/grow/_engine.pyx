"""Growing a whole tree from the sorted columns.

Two phases. Nodes of many rows are split one after the other, threads sharing
their columns. A node of at most ``task_rows`` rows becomes a task: its rows are
renumbered into 16 bits and copied next to each other, so that the whole subtree
stays in the cache of one thread, and threads share the tasks. Everything that
decides a split is the same in both phases and for any number of threads.
"""

import numpy as np

from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memset

from sklearn_textbook._contract._threads cimport (
    ThreadTeam,
    run_tasks,
    start_team,
    stop_team,
)
from sklearn_textbook.tree.grow._assemble cimport count_nodes, write_nodes
from sklearn_textbook.tree.grow._buffers cimport (
    Block,
    Frame,
    NodeBuffer,
    Stack,
    free_buffer,
    free_stack,
    push_frame,
    release_block,
    start_buffer,
    start_growth,
    start_stack,
    take_frame,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._node cimport expand_node
from sklearn_textbook.tree.grow._partition cimport load_weights, save_weights
from sklearn_textbook.tree.grow._settings cimport fill_codes, fill_problem, write_root
from sklearn_textbook.tree.grow._task cimport enter_arena, grow_task
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    Worker,
    anchor_column,
    copy_codes,
    copy_column,
    copy_list,
    copy_rows,
    count_slots,
    fill_column,
    free_arena,
    free_worker,
    list_rows,
    measure_spacing,
    quantise,
    start_local_arena,
    start_spacing,
    start_worker,
)
from sklearn_textbook.tree.split._column cimport count_missing
from sklearn_textbook.tree.split._types cimport (
    LOCAL_ROWS,
    SCAN_FIXED,
    Keyed,
    Problem,
    Codes,
    Rows,
    Spacing,
    int32_t,
    int64_t,
    uint8_t,
    uint32_t,
    uint64_t,
)

from sklearn_textbook.tree.grow.layout import NODE_DTYPE, SURROGATE_DTYPE


cdef enum:
    FEW_CELLS = 20000  # tables up to this size are one task
    LOCAL_CELLS = 16777216  # cells a thread may copy


def choose_task_rows(int64_t n_rows, int64_t n_columns):
    """Rows up to which a node becomes one task; does not depend on the threads."""
    if n_rows <= LOCAL_ROWS and n_rows * n_columns <= FEW_CELLS:
        return n_rows
    limit = min(LOCAL_ROWS, max(64, n_rows // 6))
    return max(64, min(limit, LOCAL_CELLS // max(1, n_columns)))


# --------------------------------------------------------------------- the engine


cdef int compare_sizes(const void* first, const void* second) noexcept nogil:
    """Large tasks first; equal ones in their own order."""
    cdef const Keyed* a = <const Keyed*>first
    cdef const Keyed* b = <const Keyed*>second
    if a.key != b.key:
        return 1 if a.key < b.key else -1
    return (a.index > b.index) - (a.index < b.index)


# Subtrees that grow at the same time, because the best split comes first.
cdef struct ArenaList:
    Arena arena
    ArenaList* next


cdef struct Filling:
    # Columns to be filled; the grower is borrowed.
    PyObject* grower
    const uint32_t* order
    int64_t n_table_rows
    const int64_t* n_missing
    const int64_t* n_distinct
    const uint32_t* row_number
    const uint8_t* second_class


cdef struct Subtrees:
    # Tasks in the order they are begun in; -1 in place of one that failed.
    PyObject* grower
    Keyed* sizes


cdef class TreeGrower:
    """Owns all memory of one growing tree."""

    cdef:
        Problem problem
        Arena table
        Worker* workers
        Worker* local_workers
        Arena* local_arenas
        ArenaList* arenas
        NodeBuffer* done
        Stack tasks
        uint32_t* local_number
        int64_t number_stride  # from one thread's numbers to the next one's; or 0
        int64_t n_rows
        int64_t task_rows
        int n_threads
        ThreadTeam* team
        object kept  # the settings, which own the arrays pointed to
        object entries

    def __cinit__(self):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.table, 0, sizeof(Arena))
        memset(&self.tasks, 0, sizeof(Stack))

    def __dealloc__(self):
        cdef int64_t i
        cdef ArenaList* after
        while self.arenas != NULL:
            after = self.arenas.next
            free_arena(&self.arenas.arena)
            free(self.arenas)
            self.arenas = after
        stop_team(self.team)
        if self.workers != NULL:
            free_buffer(&self.workers[0].buffer)
            for i in range(self.n_threads):
                free_worker(&self.workers[i])
            free(self.workers)
        if self.local_workers != NULL:
            for i in range(self.n_threads):
                free_buffer(&self.local_workers[i].buffer)
                free_worker(&self.local_workers[i])
            free(self.local_workers)
        if self.local_arenas != NULL:
            for i in range(self.n_threads):
                free_arena(&self.local_arenas[i])
            free(self.local_arenas)
        if self.done != NULL:
            for i in range(self.tasks.n_frames):
                free_buffer(&self.done[i])
            free(self.done)
        free_stack(&self.tasks)
        free(<void*>self.table.rows.fixed)
        free_arena(&self.table)
        free(self.local_number)

    cdef int set_rows(self, dict settings) except -1:
        cdef:
            const int32_t[:, ::1] label
            const double[:, ::1] y
            const double[::1] weight
            Rows* rows = &self.table.rows
        if settings["label"] is not None:
            label = settings["label"]
            rows.label = &label[0, 0]
            self.n_rows = label.shape[0]
        else:
            y = settings["y"]
            rows.y = &y[0, 0]
            self.n_rows = y.shape[0]
        if settings["weight"] is not None:
            weight = settings["weight"]
            rows.weight = &weight[0]
            self.problem.weighted = True
        if self.problem.scan == SCAN_FIXED:
            rows.fixed = <const int64_t*>malloc(self.n_rows * sizeof(int64_t))
            if rows.fixed == NULL:
                raise MemoryError()
            with nogil:
                quantise(rows.y, self.n_rows, <int64_t*>rows.fixed, &rows.fixed_unit)
        return 0

    cdef int allocate(self, int n_threads) except -1:
        """Room for both phases; a table that is one task needs no first phase."""
        cdef:
            int64_t i
            bint complete = True
        self.n_threads = n_threads
        self.task_rows = choose_task_rows(self.n_rows, self.problem.n_columns)
        self.workers = <Worker*>calloc(n_threads, sizeof(Worker))
        self.local_workers = <Worker*>calloc(n_threads, sizeof(Worker))
        self.local_arenas = <Arena*>calloc(n_threads, sizeof(Arena))
        if (
            self.workers == NULL or self.local_workers == NULL
            or self.local_arenas == NULL
        ):
            raise MemoryError()
        start_stack(&self.tasks, self.problem.n_columns)
        for i in range(n_threads):
            if self.n_rows > self.task_rows:
                complete = complete and start_worker(
                    &self.problem, &self.workers[i], self.n_rows, sizeof(uint64_t),
                    i == 0, NULL if i == 0 else &self.workers[0]
                ) == 0
            if i > 0 and self.n_rows <= self.task_rows:
                continue
            complete = complete and start_worker(
                &self.problem, &self.local_workers[i], self.task_rows,
                sizeof(uint32_t), True, NULL
            ) == 0
            complete = complete and start_local_arena(
                &self.problem, &self.local_arenas[i], self.task_rows
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
        if self.n_rows > self.task_rows:
            self.team = start_team(n_threads)
        return 0

    cdef int grow_large(self, Frame* root, const int32_t* columns) noexcept nogil:
        """Phase 1: split nodes until all that is left are tasks; or, where the best
        split comes first, until there are enough."""
        cdef:
            Worker* worker = &self.workers[0]
            Stack* stack = &worker.stack
            Frame frame
            int outcome
            bint is_best_first = self.problem.max_leaf_nodes > 0
        start_growth(stack, self.problem.max_leaf_nodes, &worker.buffer)
        if push_frame(stack, root, columns) < 0:
            return -1
        while True:
            outcome = take_frame(stack, &worker.buffer, &frame, worker.active)
            if outcome <= 0:
                return outcome
            if frame.arena == NULL and frame.n_rows <= self.task_rows:
                if not is_best_first:
                    if self.keep_task(&frame) < 0:
                        return -1
                    continue
                if self.open_arena(&frame) < 0:
                    return -1
            if frame.arena != NULL:
                if expand_node(
                    &self.problem, <Arena*>frame.arena, worker, worker, NULL, &frame,
                    <uint32_t*>frame.entries
                ) < 0:
                    return -1
                continue
            if frame.has_own_weights:
                load_weights(
                    &self.table, &frame,
                    anchor_column(&self.problem, worker.active),
                    <uint64_t*>frame.entries
                )
            if expand_node(
                &self.problem, &self.table, worker, self.workers, self.team,
                &frame, <uint64_t*>frame.entries
            ) < 0:
                return -1
            release_block(&worker.blocks, frame.block)

    cdef int open_arena(self, Frame* frame) noexcept nogil:
        """Let a subtree begin that is grown a node now and then."""
        cdef ArenaList* opened = <ArenaList*>malloc(sizeof(ArenaList))
        if opened == NULL:
            return -1
        opened.next = self.arenas
        self.arenas = opened
        if start_local_arena(&self.problem, &opened.arena, frame.n_rows) < 0:
            return -1
        self.copy_subtree(
            frame, self.workers[0].active, &opened.arena, self.local_number
        )
        enter_arena(&self.problem, &opened.arena, frame)
        return 0

    cdef int keep_task(self, Frame* frame) noexcept nogil:
        """Put a node aside for the second phase, with its rows' weights as they are
        now."""
        cdef:
            Worker* worker = &self.workers[0]
            Block* saved
        frame.row_weight = NULL
        if frame.has_own_weights:
            frame.row_weight = frame.block.weights
        elif self.problem.divides_cases:
            saved = save_weights(
                &self.table, worker, frame,
                anchor_column(&self.problem, worker.active),
                <uint64_t*>frame.entries
            )
            if saved == NULL:
                return -1
            frame.row_weight = saved.weights
        worker.buffer.task[frame.node] = <int32_t>self.tasks.n_frames
        return push_frame(&self.tasks, frame, worker.active)

    cdef bint is_coded(self, int64_t column) noexcept nogil:
        return self.problem.is_coded[column]

    cdef void measure_table_spacing(self, int64_t column, int64_t n_ranks,
                                    int64_t n_missing) noexcept nogil:
        if self.table.spacing != NULL:
            measure_spacing(
                &self.problem, &self.table, column, NULL, n_ranks,
                self.n_rows - n_missing
            )

    cdef void measure_task_spacing(
        self, Arena* arena, int64_t column, int64_t n_ranks, const uint64_t* cells,
        int64_t n
    ) noexcept nogil:
        """What lies apart in the table lies apart in a task, too."""
        arena.spacing[column].is_all_distinct = (
            n_ranks == n - count_missing(cells, n)
        )
        arena.spacing[column].next_apart = NULL
        if self.table.spacing[column].next_apart != NULL:
            measure_spacing(
                &self.problem, arena, column, arena.ranks + column * arena.stride,
                n_ranks, n - count_missing(cells, n)
            )

    cdef const uint64_t* task_cells(
        self, const Frame* frame, int64_t column
    ) noexcept nogil:
        return (
            <const uint64_t*>frame.entries + column * frame.stride + frame.start
        )

    cdef int copy_and_grow(self, int64_t task, int thread) noexcept nogil:
        """Phase 2, one task."""
        cdef:
            Frame* frame = &self.tasks.frames[task]
            const int32_t* active = self.tasks.active + task * self.problem.n_columns
            Arena* arena = &self.local_arenas[thread]
        self.copy_subtree(
            frame, active, arena, self.local_number + thread * self.number_stride
        )
        return grow_task(
            &self.problem, arena, &self.local_workers[thread], &self.done[task],
            &self.workers[0].buffer, frame, active
        )

    cdef void copy_subtree(
        self, const Frame* frame, const int32_t* active, Arena* arena,
        uint32_t* local_number
    ) noexcept nogil:
        """Copy the rows of a node next to each other, with numbers of their own."""
        cdef:
            const uint64_t* cells
            const uint64_t* sorted_cells
            int64_t i, column, n_ranks
        cells = self.task_cells(frame, anchor_column(&self.problem, active))
        copy_rows(
            &self.problem, &self.table, cells, frame.n_rows, frame.row_weight,
            local_number, arena
        )
        for i in range(frame.n_active):
            column = active[i]
            if self.is_coded(column):
                copy_codes(&self.table.codes, column, cells, frame.n_rows, arena)
                continue
            sorted_cells = self.task_cells(frame, column)
            n_ranks = copy_column(
                sorted_cells, frame.n_rows, local_number,
                <uint32_t*>arena.entries + column * arena.stride,
                <uint32_t*>arena.ranks + column * arena.stride
            )
            if arena.spacing != NULL:
                self.measure_task_spacing(
                    arena, column, n_ranks, sorted_cells, frame.n_rows
                )
        if self.problem.any_coded:
            copy_list(
                cells, frame.n_rows,
                <uint32_t*>arena.entries + self.problem.n_columns * arena.stride
            )

    cdef void fill_table_column(
        self, const Filling* filling, int64_t column
    ) noexcept nogil:
        if self.is_coded(column):
            return
        fill_column(
            filling.order + column * filling.n_table_rows, filling.n_table_rows,
            filling.n_missing[column], filling.row_number, filling.second_class,
            <uint64_t*>self.table.entries + column * self.n_rows
        )
        self.measure_table_spacing(
            column, filling.n_distinct[column], filling.n_missing[column]
        )

    cdef int grow_in_two_phases(self, dict settings, Frame* root) except -1:
        cdef:
            const uint32_t[:, ::1] order = settings["order"]
            const int64_t[::1] n_missing = settings["n_missing"]
            const int64_t[::1] n_distinct = settings["n_distinct"]
            const uint32_t[::1] numbers
            const uint8_t[::1] second_class = settings["second_class"]
            const int32_t[::1] columns = settings["columns"]
            const uint32_t* row_number = NULL
            int64_t i, n_tasks, n_columns = self.problem.n_columns
            int outcome
            Filling filling
            Subtrees subtrees
            Keyed* sizes
            uint64_t* entries
            uint64_t[:, ::1] cells
        if settings["row_number"] is not None:
            numbers = settings["row_number"]
            row_number = &numbers[0]
        self.table.stride = self.n_rows
        # Tasks that share cases number them each for itself.
        if self.problem.divides_cases:
            self.number_stride = self.n_rows
        self.local_number = <uint32_t*>malloc(
            max(self.n_rows, self.number_stride * self.n_threads) * sizeof(uint32_t)
        )
        if self.local_number == NULL:
            raise MemoryError()
        # numpy asks for huge pages, which cost less to touch for the first time.
        cells = np.empty((count_slots(&self.problem), self.n_rows), dtype=np.uint64)
        self.entries = cells
        entries = &cells[0, 0]
        self.table.entries = entries
        root.entries = entries
        root.stride = self.n_rows
        filling = Filling(
            <PyObject*>self, &order[0, 0], order.shape[1], &n_missing[0],
            &n_distinct[0], row_number, &second_class[0]
        )
        with nogil:
            run_tasks(self.team, fill_shared, &filling, n_columns)
        if self.problem.any_coded:
            list_rows(
                self.n_rows, self.table.rows.label, &second_class[0],
                entries + n_columns * self.n_rows
            )
        with nogil:
            outcome = self.grow_large(root, &columns[0])
        if outcome < 0:
            raise MemoryError()
        n_tasks = self.tasks.n_frames
        self.done = <NodeBuffer*>calloc(max(n_tasks, 1), sizeof(NodeBuffer))
        sizes = <Keyed*>malloc(max(n_tasks, 1) * sizeof(Keyed))
        if self.done == NULL or sizes == NULL:
            free(sizes)
            raise MemoryError()
        for i in range(n_tasks):
            sizes[i].key = <double>self.tasks.frames[i].n_rows
            sizes[i].index = i
        qsort(sizes, n_tasks, sizeof(Keyed), compare_sizes)
        subtrees = Subtrees(<PyObject*>self, sizes)
        with nogil:
            run_tasks(self.team, grow_subtree, &subtrees, n_tasks)
        # A task that failed has written that into its place of the list.
        outcome = 0
        for i in range(n_tasks):
            outcome = min(outcome, <int>sizes[i].index)
        free(sizes)
        if outcome < 0:
            raise MemoryError()
        return 0

    cdef int grow_at_once(self, dict settings, Frame* root) except -1:
        """A small table is one task, filled straight from the sorted columns."""
        cdef:
            const uint32_t[:, ::1] order = settings["order"]
            const int64_t[::1] n_missing = settings["n_missing"]
            const int64_t[::1] n_distinct = settings["n_distinct"]
            const uint32_t[::1] numbers
            const uint8_t[::1] second_class = settings["second_class"]
            const int32_t[::1] columns = settings["columns"]
            const uint32_t* row_number = NULL
            Arena* arena = &self.local_arenas[0]
            Rows own = arena.rows
            Spacing* own_spacing = arena.spacing
            Codes own_codes = arena.codes
            int64_t i
            int outcome
            uint32_t* ranks = <uint32_t*>arena.ranks
        if settings["row_number"] is not None:
            numbers = settings["row_number"]
            row_number = &numbers[0]
        if push_frame(&self.tasks, root, &columns[0]) < 0:
            raise MemoryError()
        self.workers[0].buffer.task[0] = 0
        self.done = <NodeBuffer*>calloc(1, sizeof(NodeBuffer))
        if self.done == NULL:
            raise MemoryError()
        for i in range(self.problem.n_columns):
            if not self.is_coded(i):
                fill_column(
                    &order[i, 0], order.shape[1], n_missing[i], row_number,
                    &second_class[0], <uint32_t*>arena.entries + i * arena.stride
                )
                self.measure_table_spacing(i, n_distinct[i], n_missing[i])
        if self.problem.any_coded:
            list_rows(
                self.n_rows, self.table.rows.label, &second_class[0],
                <uint32_t*>arena.entries + self.problem.n_columns * arena.stride
            )
        # Ranks are those of the table, and the rows are its rows.
        arena.ranks = NULL
        arena.rows = self.table.rows
        arena.spacing = self.table.spacing
        arena.codes = self.table.codes
        arena.rows.fixed = own.fixed
        with nogil:
            outcome = grow_task(
                &self.problem, arena, &self.local_workers[0], self.done,
                &self.workers[0].buffer, &self.tasks.frames[0], self.tasks.active
            )
        arena.ranks = ranks
        arena.rows = own
        arena.spacing = own_spacing
        arena.codes = own_codes
        if outcome < 0:
            raise MemoryError()
        return 0


cdef void fill_shared(void* context, int64_t column, int thread) noexcept nogil:
    cdef const Filling* filling = <Filling*>context
    (<TreeGrower>filling.grower).fill_table_column(filling, column)


cdef void grow_subtree(void* context, int64_t i, int thread) noexcept nogil:
    cdef Subtrees* subtrees = <Subtrees*>context
    cdef Keyed* size = &subtrees.sizes[i]
    if (<TreeGrower>subtrees.grower).copy_and_grow(size.index, thread) < 0:
        size.index = -1


def grow_nodes(dict settings, int n_threads):
    """Grow a tree; see grow.py for the settings.

    Returns the node records, the statistics, the level maps and the surrogates.
    """
    cdef:
        TreeGrower grower = TreeGrower()
        Frame root
        Node[::1] nodes
        double[:, ::1] statistics
        int64_t n_nodes
    fill_problem(&grower.problem, settings)
    fill_codes(&grower.problem, &grower.table.codes, settings)
    grower.kept = settings
    grower.set_rows(settings)
    grower.allocate(n_threads)
    write_root(
        &grower.problem, &grower.table.rows, grower.n_rows, settings,
        &grower.workers[0].buffer, &root
    )
    if not settings["root_is_leaf"]:
        if grower.n_rows <= grower.task_rows:
            grower.grow_at_once(settings, &root)
        else:
            grower.grow_in_two_phases(settings, &root)
    n_nodes = count_nodes(
        &grower.workers[0].buffer, grower.done, grower.tasks.n_frames
    )
    node_records = np.empty(n_nodes, dtype=NODE_DTYPE)
    node_statistics = np.empty((n_nodes, grower.problem.n_statistics))
    nodes = node_records
    statistics = node_statistics
    level_branch, surrogates = write_nodes(
        &grower.problem, &grower.workers[0].buffer, grower.done,
        grower.tasks.n_frames, nodes, statistics, SURROGATE_DTYPE
    )
    return node_records, node_statistics, level_branch, surrogates
