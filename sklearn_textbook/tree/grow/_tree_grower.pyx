"""Growing a whole tree: who owns its memory, and how threads share the work.

There are three kinds of growers, by what they partition at a node: sorted columns, a
list of samples, and a list of rows with gradient pairs. The loop over the nodes is that
of ``_grower``; a grower makes its columns or lists ready, and keeps their memory.
"""

import numpy as np

from libc.math cimport frexp, ldexp
from libc.stdint cimport (
    int16_t,
    int32_t,
    int64_t,
    uint16_t,
    uint32_t,
    uint64_t,
    uint8_t,
)
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook._contract import threads
from sklearn_textbook.tree.grow.settings import Root
from sklearn_textbook._contract._file_memory cimport free_bytes, take_bytes
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
from sklearn_textbook.tree.grow._assemble cimport (
    count_nodes,
    read_short_columns,
    resolve_threshold,
    write_tree,
)
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    NodeBuffer,
    Stack,
    free_buffer,
    free_buffers,
    free_stack,
    push_frame,
    reserve,
    start_buffer,
    start_growth,
    start_stack,
)
from sklearn_textbook.tree.grow._gradient_list cimport (
    GradientList,
    forget_waiting,
    free_gradient_list,
    release_waiting,
    search_children,
    search_given,
    start_gradient_list,
)
from sklearn_textbook.tree.grow._grower cimport (
    Grower,
    WaitingSplit,
    grow_from,
    grow_subtrees,
    measure_table_column,
    split_waiting,
)
from sklearn_textbook.tree.grow._layout cimport DENSE_MAP, NOMINAL, Node
from sklearn_textbook.tree.grow._list_search cimport (
    ListSearch,
    free_list_search,
    reserve_tiles,
    start_list_search,
)
from sklearn_textbook.tree.grow._sample_list cimport (
    free_sample_list,
    leave_copy,
    needs_copy,
    start_sample_list,
)
from sklearn_textbook.tree.grow._settings cimport Settings, write_root
from sklearn_textbook.tree.grow._small_node cimport may_be_small
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
from sklearn_textbook.tree.split._gradients cimport (
    GradientPair,
    GradientScale,
    GradientTable,
    add_pair,
    add_pairs,
    gradient_of,
    hessian_of,
    samples_of,
    step_of_leaf,
)
from sklearn_textbook.tree.split._oblique cimport (
    ObliqueSearch,
    free_oblique,
    start_oblique,
)
from sklearn_textbook.tree.split._samples cimport (
    LIST_BINARY,
    LIST_CLASS_COUNTS,
    LIST_CLASS_WEIGHTS,
    LIST_GENERAL,
    LIST_MOMENTS,
    SampleList,
    Span,
)
from sklearn_textbook.tree.split._steps cimport Scale
from sklearn_textbook.tree.split._sums cimport (
    FETCH_AHEAD,
    FEW_SAMPLES,
    NUMBER_BITS,
    make_counted,
    make_listed,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport (
    LOCAL_ROWS,
    POISSON,
    Problem,
    Rows,
)


# ------------------------------------------------------------------------------------
# What all growers have.
# ------------------------------------------------------------------------------------


cdef class TreeGrower:
    """The rules, the records of the nodes, and the subtrees that are put aside as tasks
    for threads to share."""

    cdef:
        Settings settings
        Problem problem
        Interrupt interrupt
        Arena table  # the sorted columns; lists have none
        NodeBuffer* buffer  # of the calling thread
        Stack tasks
        NodeBuffer* done  # by tasks
        const int64_t[::1] entropy_table

    def __cinit__(self, Settings settings, *others, **more):
        # The rules are shared; what differs between trees is written into the copy.
        self.settings = settings
        self.problem = settings.problem
        self.problem.interrupt = &self.interrupt
        memset(&self.table, 0, sizeof(Arena))
        self.table.memory.in_files = self.problem.in_files
        start_stack(&self.tasks, self.problem.n_columns)

    def __dealloc__(self):
        self.forget_tasks()

    cdef void forget_tasks(self) noexcept:
        """Free the subtrees of the tree before."""
        free_buffers(self.done, self.tasks.n_frames)
        self.done = NULL
        free_stack(&self.tasks)
        start_stack(&self.tasks, self.problem.n_columns)

    cdef int start_records(self, Worker* worker) except -1:
        """Allocate for the records of the nodes, which the worker of the calling thread
        holds."""
        self.buffer = &worker.buffer
        if start_buffer(
            self.buffer, self.problem.n_statistics, self.problem.monotonic != NULL
        ) < 0:
            raise MemoryError()
        return 0

    cdef int start_tree(
        self, root, int64_t n_rows, Worker* worker, Grower* grower, Frame* frame
    ) except -1:
        """Write the record of the root, in place of those of an earlier tree, and what
        the loop needs to know of every kind of rows."""
        grower.problem = &self.problem
        grower.table = &self.table
        grower.tasks = &self.tasks
        grower.worker = worker
        start_interrupt(&self.interrupt)
        self.problem.total_weight = root.total_weight
        self.problem.design_effect = root.design_effect
        if root.entropy_table is not None:
            self.entropy_table = root.entropy_table
            self.problem.entropy_table = &self.entropy_table[0]
            self.problem.entropy_unit = root.entropy_unit
        self.forget_tasks()
        self.buffer.n_levels = self.buffer.n_terms = 0
        return write_root(&self.problem, n_rows, root, self.buffer, frame)

    cdef int grow_nodes(self, Grower* grower, const Frame* root) except -1:
        """Grow the nodes below the root, apart from those of tasks."""
        cdef int outcome
        with nogil:
            outcome = grow_from(grower, root, self.settings.columns)
        if outcome < 0:
            raise_failure(&self.interrupt)
        return 0

    cdef int grow_tasks(self, Grower* growers, ThreadTeam* team) except -1:
        """Let threads, each with its grower, share the subtrees that were put aside."""
        cdef:
            NodeBuffer nodes = self.buffer[0]
            int outcome
        # The calling thread grows tasks in a buffer of their own, too.
        memset(self.buffer, 0, sizeof(NodeBuffer))
        with nogil:
            outcome = grow_subtrees(&nodes, &self.tasks, growers, team, &self.done)
        self.buffer[0] = nodes
        if outcome < 0:
            raise_failure(&self.interrupt)
        return 0

    def write_nodes(self):
        """Write the records of the tree that has grown.

        Returns
        -------
        nodes, statistics, side_tables : ndarray, ndarray, dict
            The node records, the statistics and the side tables by name.
        """
        return write_tree(&self.problem, self.buffer, self.done, self.tasks.n_frames)


# ------------------------------------------------------------------------------------
# Sorted columns.
# ------------------------------------------------------------------------------------


cdef enum:
    FEW_CELLS = 20000  # tables up to this size are one task
    LOCAL_CELLS = 16777216  # cells a thread may copy


def choose_task_rows(int64_t n_rows, int64_t n_columns):
    """Rows up to which a node becomes one task; does not depend on the threads."""
    if n_rows <= LOCAL_ROWS and n_rows * n_columns <= FEW_CELLS:
        return n_rows
    limit = min(LOCAL_ROWS, max(64, n_rows // 6))
    return max(64, min(limit, LOCAL_CELLS // max(1, n_columns)))


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
    """Fill one sorted column, by one of the threads, and measure its spacing."""
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


cdef void list_unsorted_rows(const Filling* filling) noexcept nogil:
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


cdef class ColumnGrower(TreeGrower):
    """Grows one tree from its sorted columns.

    Nodes of many rows are split one by one, threads sharing their columns. A node of at
    most ``task_rows`` rows becomes a task: its rows are renumbered into 16 bits and
    copied next to each other, so that the whole subtree stays in the cache of one
    thread. A small table has such narrow cells from the start. Everything that decides
    a split is the same in both phases and for any number of threads.

    Parameters
    ----------
    settings : Settings
        The table, the rules, and the classes or values of the rows that take part.
    weight : ndarray of float64, shape (n_rows,), or None
        Their weights; fractional cases write into them.
    n_threads : int
        Number of threads.
    """

    cdef:
        Grower grower
        Grower* local_growers  # by threads, of the tasks
        Worker* workers
        Worker* local_workers
        Arena* local_arenas
        int64_t n_rows
        bint is_narrow
        int n_threads
        ThreadTeam* team
        object kept  # targets and weights, which are pointed to
        object entries

    def __cinit__(self, Settings settings, weight, int n_threads):
        # The columns are filled when the tree is grown.
        memset(&self.grower, 0, sizeof(Grower))
        self.table.codes = settings.codes
        self.set_rows(weight)
        self.allocate(n_threads)

    def __dealloc__(self):
        # Also of a grower whose allocation failed half-way.
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
        free_arena(&self.table)
        free_bytes(self.grower.local_number)

    cdef int set_rows(self, weight) except -1:
        """Point to targets and weights."""
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
        # The first worker decides and marks rows; others help with columns of large
        # nodes.
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
        if not complete:
            raise MemoryError()
        self.start_records(&self.workers[0])
        if not self.is_narrow:
            self.team = start_team(n_threads, &self.interrupt)
            # Tasks that share cases number them each for itself.
            self.grower.local_number = <uint32_t*>take_bytes(
                self.n_rows * sizeof(uint32_t)
                * (n_threads if self.problem.divides_cases else 1),
                self.problem.in_files
            )
            if self.grower.local_number == NULL:
                raise MemoryError()
        self.grower.all_workers = self.workers
        self.grower.team = self.team
        self.grower.task_rows = task_rows
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
            # The lowest bit of an entry, where there are two classes.
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
                list_unsorted_rows(&filling)
        return 0

    def grow(self, root, row_number):
        """Grow the tree.

        Parameters
        ----------
        root : Root
            What the rows hold.
        row_number : ndarray of uint32, or None
            The number of each row of the table among them.
        """
        cdef Frame frame
        self.start_tree(root, self.n_rows, self.workers, &self.grower, &frame)
        if root.is_leaf:
            return
        self.fill_columns(row_number)
        frame.entries = self.table.entries
        frame.stride = self.n_rows
        # A table in 32 bits is an arena already.
        if self.is_narrow:
            frame.arena = &self.table
        self.grow_nodes(&self.grower, &frame)
        if self.tasks.n_frames > 0:
            self.start_local_growers()
            self.grow_tasks(self.local_growers, self.team)

    cdef void start_local_growers(self) noexcept:
        """Every thread grows its tasks in memory of its own."""
        cdef:
            Grower* grower
            int64_t i, stride = self.n_rows if self.problem.divides_cases else 0
        for i in range(self.n_threads):
            grower = &self.local_growers[i]
            grower[0] = self.grower
            grower.worker = &self.local_workers[i]
            grower.arena = &self.local_arenas[i]
            grower.local_number += i * stride


LIST_KINDS = {
    "binary": LIST_BINARY,
    "moments": LIST_MOMENTS,
    "class-counts": LIST_CLASS_COUNTS,
    "class-weights": LIST_CLASS_WEIGHTS,
    "general": LIST_GENERAL,
}

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


# ------------------------------------------------------------------------------------
# Listing the samples of a tree, and what all of them hold.
# ------------------------------------------------------------------------------------


ctypedef fused Weight:
    int32_t
    int64_t
    double


cdef int64_t list_samples(
    const Weight* weight, const int32_t* label, int64_t n_outputs, int64_t n_rows,
    bint is_binary, bint is_whole, uint64_t* entries, int64_t* most_weight
) noexcept nogil:
    """List the samples that take part; returns their number."""
    cdef int64_t row, fraction, code, n = 0, most = 1
    for row in range(n_rows):
        code = 0 if label == NULL or n_outputs > 1 else label[row]
        fraction = <int64_t>weight[row] if is_whole else <int64_t>1
        most = max(most, fraction)
        # Written in any case, and kept if the row has a weight: no branch to predict.
        if is_binary:
            entries[n] = make_counted(row, fraction, fraction * code)
        else:
            entries[n] = make_listed(row, fraction, code)
        n += weight[row] > 0
    most_weight[0] = most
    return n


cdef double find_least(const double* weight, int64_t n) noexcept nogil:
    """The smallest positive weight."""
    cdef:
        double least = 0.0
        int64_t i
    for i in range(n):
        if weight[i] > 0.0 and (least == 0.0 or weight[i] < least):
            least = weight[i]
    return least


cdef double weight_of_sample(
    const SampleList* samples, uint64_t entry, int64_t* number
) noexcept nogil:
    """The weight of a sample, and its row in the table."""
    if samples.kind == LIST_BINARY:
        number[0] = <int64_t>(entry >> NUMBER_BITS)
        return <double>weight_in(entry)
    number[0] = <int64_t><uint32_t>entry
    if samples.weight != NULL:
        return samples.weight[number[0]]
    return <double>whole_weight_of(entry)


cdef double sum_class_weights(
    const SampleList* samples, int64_t n, double* sums
) noexcept nogil:
    """Sum up the weights of the classes; returns the weight of all samples."""
    cdef:
        int64_t i, number
        double weight, total = 0.0
    for i in range(n):
        weight = weight_of_sample(samples, samples.entries[i], &number)
        total += weight
        sums[samples.label[number]] += weight
    return total


cdef bint measure_values(
    const SampleList* samples, int64_t n, double* total, double* mean, double* variance
) noexcept nogil:
    """Weight, mean and variance of y; whether there is but one value, which is then
    kept."""
    cdef:
        int64_t i, number
        double weight, value, first, sums = 0.0, squares = 0.0
        bint is_pure = True
    total[0] = 0.0
    weight_of_sample(samples, samples.entries[0], &number)
    first = samples.y[number]
    # One after the other: sums of symmetric values are then exactly 0.
    for i in range(n):
        weight = weight_of_sample(samples, samples.entries[i], &number)
        total[0] += weight
        sums += weight * samples.y[number]
        is_pure = is_pure and samples.y[number] == first
    mean[0] = first if is_pure else sums / total[0]
    for i in range(n):
        weight = weight_of_sample(samples, samples.entries[i], &number)
        value = samples.y[number] - mean[0]
        squares += weight * (value * value)
    variance[0] = squares / total[0]
    return is_pure


# ------------------------------------------------------------------------------------
# What a thread grows from a list of samples with.
# ------------------------------------------------------------------------------------


cdef struct ListThread:
    SampleList samples
    ListSearch search
    ObliqueSearch oblique
    Worker worker


cdef int point_to_cells(
    const Problem* problem, target, cells, SampleList* samples
) except -1:
    """Point to the codes and targets of the table."""
    cdef:
        const double[:, ::1] y
        const double[:, ::1] values
        const int16_t[:, ::1] steps
        const int32_t[:, ::1] label
        const Span[::1] spans
        const Scale[::1] scales
    samples.table.n_columns = problem.n_columns
    samples.table.n_rows = target.n_rows
    if cells.ranks is not None:
        samples.table.codes = address_of(cells.ranks)
        samples.table.code_size = cells.ranks.dtype.itemsize
    if problem.random_splitter:
        values = cells.row_values
        samples.row_values = &values[0, 0]
        steps = cells.steps
        samples.steps = &steps[0, 0]
        steps = cells.row_steps
        samples.row_steps = &steps[0, 0]
        scales = cells.scales
        samples.scales = &scales[0]
    else:
        samples.table.row_codes = address_of(cells.row_ranks)
        samples.table.row_bins = <const uint8_t*>address_of(cells.row_bins)
        spans = cells.spans
        samples.table.spans = &spans[0]
    if problem.is_classifier:
        label = target.codes
        samples.label = &label[0, 0]
    else:
        y = target.values
        samples.y = &y[0, 0]
    return 0


cdef int fill_oblique(
    const Problem* problem, settings, ListThread* thread
) except -1:
    """Take the rules of oblique tests, and allocate for them."""
    cdef:
        const double[:, ::1] values = settings.row_values
        const double[::1] numbers
        const int64_t[::1] level_start = settings.level_start
        ObliqueSearch* oblique = &thread.oblique
    oblique.values = &values[0, 0]
    oblique.level_start = &level_start[0]
    oblique.n_codes = level_start[level_start.shape[0] - 1]
    numbers = settings.size
    oblique.size = &numbers[0]
    numbers = settings.inverse_size
    oblique.inverse_size = &numbers[0]
    oblique.kind = settings.direction
    oblique.max_columns = settings.max_columns
    oblique.max_terms = settings.max_terms
    rules = settings.rules
    oblique.n_directions = rules.n_directions
    oblique.searches_axis = rules.searches_axis
    oblique.column_penalty = rules.column_penalty
    oblique.ridge = rules.ridge
    oblique.lasso = rules.lasso
    thread.search.oblique = oblique
    # The kernel of small subtrees knows tests of one column alone, and directions are
    # found from the values of the rows.
    thread.samples.may_be_small = False
    thread.samples.memory_rows = 0
    if not oblique.searches_axis:
        # There are no codes to be copied.
        thread.samples.local_rows = 0
    if start_oblique(problem, oblique, thread.samples.n_samples) < 0:
        raise MemoryError()
    return 0


cdef int start_thread(
    const Problem* problem, target, cells, oblique, int32_t kind, ListThread* thread,
    int64_t n_rows, const SampleList* lender
) except -1:
    """Allocate for nodes of up to n_rows samples, perhaps of the list of another
    thread."""
    cdef SampleList* samples = &thread.samples
    samples.kind = kind
    point_to_cells(problem, target, cells, samples)
    if (
        start_sample_list(problem, samples, n_rows, lender) < 0
        or start_list_search(problem, samples, &thread.search) < 0
        or start_worker(problem, &thread.worker, n_rows, 8, True, NULL) < 0
    ):
        raise MemoryError()
    samples.may_be_small = may_be_small(problem, samples)
    if oblique is not None:
        fill_oblique(problem, oblique, thread)
    return 0


cdef void free_thread(ListThread* thread) noexcept nogil:
    """Free what ``start_thread`` allocates; the buffer of nodes is apart."""
    free_sample_list(&thread.samples)
    free_list_search(&thread.search)
    free_oblique(&thread.oblique)
    free_worker(&thread.worker)


cdef void lend_thread(Grower* grower, ListThread* thread) noexcept nogil:
    """Let a grower work in the memory of a thread, which begins outside of any subtree.
    """
    grower.worker = &thread.worker
    grower.samples = &thread.samples
    grower.search = &thread.search
    thread.samples.is_local = False


cdef void follow_thread(ListThread* thread, const ListThread* first) noexcept nogil:
    """Take over what the first thread knows of the tree."""
    thread.samples.weight = first.samples.weight
    thread.samples.min_weight = first.samples.min_weight
    thread.samples.most_weight = first.samples.most_weight
    if first.oblique.scale != NULL:
        memcpy(
            thread.oblique.scale, first.oblique.scale,
            first.samples.table.n_columns * sizeof(double)
        )


def choose_list_task_rows(n_rows, n_threads, local_rows):
    """Samples up to which a subtree becomes a task. They are no fewer than are copied
    next to each other, so that the copies are those of a single thread."""
    return max(n_rows // (n_threads + 1), local_rows, FEW_SAMPLES)


cdef class ListGrower(TreeGrower):
    """Grows one tree after the other from a list of samples.

    Sorted columns are all partitioned at every node, which is wasteful where a node
    looks at few of them. Here a node reads the codes of the columns that it has sampled
    and partitions the list of its samples alone.

    Parameters
    ----------
    settings : Settings
        The table, the rules, and the classes or values of all rows.
    cells : Cells
        The cells of the table.
    oblique : ObliqueSettings, or None
        How oblique tests are found.
    kind : str
        What is summed up of the samples, a key of ``LIST_KINDS``.
    """

    cdef:
        ListThread first  # the calling thread's; it holds the nodes and the list
        ListThread* helpers  # for subtrees of up to helper_rows samples
        int n_helpers
        int64_t helper_rows
        object cells
        object oblique
        int32_t kind
        object weight
        int64_t n_listed

    def __cinit__(self, Settings settings, cells, oblique, str kind):
        # Helpers are started with the first tree that has tasks.
        memset(&self.first, 0, sizeof(ListThread))
        self.cells, self.oblique = cells, oblique
        self.kind = LIST_KINDS[kind]
        self.start_thread(&self.first, settings.target.n_rows, NULL)
        self.start_records(&self.first.worker)

    def __dealloc__(self):
        self.stop_helpers()
        free_buffer(&self.first.worker.buffer)
        free_thread(&self.first)

    cdef int start_thread(
        self, ListThread* thread, int64_t n_rows, const SampleList* lender
    ) except -1:
        """Allocate for one thread over the table of this grower."""
        return start_thread(
            &self.problem, self.settings.target, self.cells, self.oblique, self.kind,
            thread, n_rows, lender
        )

    cdef void stop_helpers(self) noexcept:
        """Free the memory of all threads but the calling one."""
        cdef int i
        for i in range(self.n_helpers):
            free_thread(&self.helpers[i])
        free(self.helpers)
        self.helpers = NULL
        self.n_helpers = 0

    cdef int start_helpers(self, int n_helpers, int64_t n_rows) except -1:
        """Allocate for more threads, unless it was done for an earlier tree."""
        if n_helpers <= self.n_helpers and n_rows <= self.helper_rows:
            return 0
        self.stop_helpers()
        self.helpers = <ListThread*>calloc(n_helpers, sizeof(ListThread))
        if self.helpers == NULL:
            raise MemoryError()
        self.helper_rows = n_rows
        while self.n_helpers < n_helpers:
            self.n_helpers += 1
            self.start_thread(
                &self.helpers[self.n_helpers - 1], n_rows, &self.first.samples
            )
        return 0

    def list_samples(self, weight):
        """List the samples that take part in the next tree.

        Parameters
        ----------
        weight : ndarray of int32, int64 or float64, shape (n_rows,), or None
            Weights of all rows of the table; None for unit weights.

        Returns
        -------
        measured : tuple, or None
            The number of samples, their weight and their statistics; the variance of
            values, and whether there is but one. None of several outputs, or of Poisson
            deviance.
        """
        cdef:
            const double[::1] real
            const int64_t[::1] whole
            const int32_t[::1] short
            SampleList* samples = &self.first.samples
            int64_t n_rows = samples.table.n_rows
            bint is_binary = samples.kind == LIST_BINARY
            bint is_whole = True
        samples.weight = NULL
        samples.min_weight = 1.0
        if weight is None:
            weight = np.ones(n_rows, dtype=np.int32)
        if weight.dtype == np.float64:
            real = weight
            if samples.kind != LIST_BINARY and samples.kind != LIST_CLASS_COUNTS:
                is_whole = False
                self.weight = weight
                samples.weight = &real[0]
                samples.min_weight = find_least(&real[0], n_rows)
            with nogil:
                self.n_listed = list_samples(
                    &real[0], samples.label, samples.n_outputs, n_rows, is_binary,
                    is_whole, samples.entries, &samples.most_weight
                )
        elif weight.dtype == np.int64:
            whole = weight
            with nogil:
                self.n_listed = list_samples(
                    &whole[0], samples.label, samples.n_outputs, n_rows, is_binary,
                    True, samples.entries, &samples.most_weight
                )
        else:
            short = weight
            with nogil:
                self.n_listed = list_samples(
                    &short[0], samples.label, samples.n_outputs, n_rows, is_binary,
                    True, samples.entries, &samples.most_weight
                )

        return self.measure_root()

    cdef measure_root(self):
        """What all samples that are listed hold."""
        cdef:
            double[::1] statistics = np.zeros(self.problem.n_statistics)
            SampleList* samples = &self.first.samples
            double total = 0.0, variance = 0.0
            bint is_pure = False
        if samples.n_outputs > 1 or self.problem.criterion == POISSON:
            return None
        with nogil:
            if self.problem.is_classifier:
                total = sum_class_weights(samples, self.n_listed, &statistics[0])
            else:
                is_pure = measure_values(
                    samples, self.n_listed, &total, &statistics[0], &variance
                )
        return self.n_listed, total, statistics.base, variance, bool(is_pure)

    def grow(self, root, int n_threads=1):
        """Grow a tree from the samples that were listed.

        Parameters
        ----------
        root : Root
            What they hold.
        n_threads : int, default=1
            Number of threads, which share the columns of nodes of many samples, and the
            subtrees of few.

        Returns
        -------
        n_nodes : int
            Number of its nodes, which stay until the next tree.
        """
        cdef:
            Grower grower
            Frame frame
            ThreadTeam* team = NULL
        memset(&grower, 0, sizeof(Grower))
        self.start_tree(root, self.n_listed, &self.first.worker, &grower, &frame)
        if root.is_leaf:
            return self.buffer.n_nodes
        lend_thread(&grower, &self.first)
        if n_threads > 1:
            grower.task_rows = self.choose_task_rows(n_threads)
            if reserve_tiles(&self.first.search, n_threads) < 0:
                raise MemoryError()
            self.first.search.shared_cells = threads.CELLS_PER_THREAD
            team = start_team(n_threads, &self.interrupt)
        self.first.search.team = team
        try:
            self.grow_nodes(&grower, &frame)
            self.first.search.team = NULL
            if self.tasks.n_frames > 0:
                self.share_tasks(&grower, team, n_threads)
        finally:
            self.first.search.team = NULL
            stop_team(team)
            while self.first.samples.copies != NULL:
                leave_copy(&self.first.samples)
        return count_nodes(self.buffer, self.done, self.tasks.n_frames)

    cdef int64_t choose_task_rows(self, int n_threads) except -1:
        """Samples up to which a node becomes a task; 0: there are no tasks."""
        cdef int64_t task_rows = choose_list_task_rows(
            self.n_listed, n_threads, self.first.samples.local_rows
        )
        # Subtrees that grow by turns cannot be divided, and of a table in files only
        # one is in memory at a time.
        if self.problem.max_leaf_nodes > 0 or self.n_listed <= task_rows or (
            needs_copy(&self.first.samples, 1)
        ):
            return 0
        return task_rows

    cdef int share_tasks(
        self, const Grower* above, ThreadTeam* team, int n_threads
    ) except -1:
        """Give every thread a grower, and let them share the tasks."""
        cdef:
            Grower* growers
            int i
        self.start_helpers(n_threads - 1, above.task_rows)
        growers = <Grower*>malloc(n_threads * sizeof(Grower))
        if growers == NULL:
            raise MemoryError()
        for i in range(n_threads):
            growers[i] = above[0]
            # Subtrees are not divided any further.
            growers[i].task_rows = 0
            if i > 0:
                follow_thread(&self.helpers[i - 1], &self.first)
            lend_thread(&growers[i], &self.first if i == 0 else &self.helpers[i - 1])
        try:
            self.grow_tasks(growers, team)
        finally:
            free(growers)
        return 0

    def read_short_columns(self):
        """Read the columns of the short form of the tree that has grown.

        Returns
        -------
        columns : dict, or None
            What ``storage.store_columns`` takes; None for trees with other than binary
            tests, or with empty branches, and for trees with tasks.
        """
        if self.tasks.n_frames > 0:
            return None
        return read_short_columns(&self.problem, self.buffer)


# ------------------------------------------------------------------------------------
# Rows with gradient pairs: rounding, and the leaves of those that are ignored.
# ------------------------------------------------------------------------------------


cdef enum:
    BLOCK_ROWS = 8192  # that a thread takes at a time
    SUM_BITS = 62  # of the gradients
    COUNTED_BITS = 63  # of the hessians and the number of samples

ctypedef fused Real:
    float
    double

ctypedef fused SmallCode:
    uint8_t
    uint16_t


# What a thread needs to know of the rows that are made ready.
cdef struct Rounding:
    const void* gradient
    const void* hessian  # NULL: 1 for all
    int64_t n_rows
    double gradient_factor
    double hessian_factor
    int32_t count_bits
    GradientPair* pairs
    uint8_t* is_bad  # of each block


cdef void round_some(
    const Rounding* work, const Real* gradient, const Real* hessian, int64_t first,
    int64_t stop, uint8_t* is_bad
) noexcept nogil:
    """Turn some rows into pairs, rounded to the nearest integers.

    A pair has the gradient in one number, and in the other the hessian above
    ``count_bits`` bits, in which a 1 counts the row. Sums of all rows of the table fit,
    as the factors were made for them.
    """
    cdef:
        int64_t i
        double value, curvature = 1.0
        bint bad = False
    for i in range(first, stop):
        value = work.gradient_factor * gradient[i]
        if hessian != NULL:
            curvature = hessian[i]
        # Not a number, or out of the given range.
        if not (-4.7e18 < value < 4.7e18 and 0.0 <= curvature < 1e300):
            bad = True
            continue
        curvature *= work.hessian_factor
        work.pairs[i].gradient = <int64_t>(value + (0.5 if value > 0.0 else -0.5))
        work.pairs[i].counted = (
            <uint64_t><int64_t>(curvature + 0.5) << work.count_bits | <uint64_t>1
        )
    is_bad[0] = bad


cdef void round_pair_block(void* context, int64_t task, int thread) noexcept nogil:
    """Round one block of rows, by one of the threads."""
    cdef:
        const Rounding* work = <const Rounding*>context
        int64_t first = task * BLOCK_ROWS
        int64_t stop = min(first + BLOCK_ROWS, work.n_rows)
    round_some(
        work, <const double*>work.gradient, <const double*>work.hessian, first, stop,
        &work.is_bad[task]
    )


cdef double make_factor(double largest, int64_t n_rows, int bits) noexcept nogil:
    """The power of two by which n numbers, none of them larger, are multiplied so that
    no sum of them has more bits."""
    cdef int exponent = 0
    # 2^exponent is above every sum.
    frexp(largest * n_rows, &exponent)
    return ldexp(1.0, bits - exponent)


cdef int32_t find_branch(
    const Problem* problem, const NodeBuffer* buffer, const Node* node, int64_t code
) noexcept nogil:
    """The child of a code; -1 where the row stays in the node."""
    cdef:
        const int32_t* level_map
        int32_t level, i
    if problem.has_missing[node.feature] and code == problem.n_distinct[node.feature]:
        return node.missing_branch
    if node.kind != NOMINAL:
        # All rows with a value go to child 0 if their codes are not divided.
        return node.map_start >= 0 and problem.values[
            node.feature * problem.values_stride + code
        ] > resolve_threshold(problem, node.feature, node.map_start)
    level_map = buffer.level_branch + node.map_start
    level = <int32_t>problem.values[node.feature * problem.values_stride + code]
    if level_map[0] == DENSE_MAP:
        return level_map[1 + level]
    for i in range(1, level_map[0] + 1):
        if level_map[i] == level:
            return level_map[i + level_map[0]]
    return -1


cdef void route_row(
    const Problem* problem, const GradientList* samples, const NodeBuffer* buffer,
    const SmallCode* codes, const int32_t* number, int64_t row, int32_t* leaf_of_row
) noexcept nogil:
    """Find the leaf of a row that took no part."""
    cdef:
        int64_t node = 0
        int32_t branch
        const Node* record
    while True:
        record = &buffer.nodes[node]
        if record.n_children == 0:
            break
        branch = find_branch(
            problem, buffer, record, codes[record.feature * samples.n_rows + row]
        )
        if branch < 0:
            break
        node = record.first_child + branch
    leaf_of_row[row] = number[node]


cdef int number_nodes(const NodeBuffer* buffer, int32_t* number) noexcept nogil:
    """Number the nodes breadth first, as they are written. Returns -1 without
    memory."""
    cdef:
        int32_t* queue = <int32_t*>malloc(buffer.n_nodes * sizeof(int32_t))
        const Node* node
        int64_t i, child, n_queued = 1
    if queue == NULL:
        return -1
    queue[0] = 0
    # The queue holds all nodes in the end, in the order of their numbers.
    for i in range(buffer.n_nodes):
        number[queue[i]] = <int32_t>i
        node = &buffer.nodes[queue[i]]
        for child in range(node.n_children):
            queue[n_queued] = node.first_child + <int32_t>child
            n_queued += 1
    free(queue)
    return 0


def add_leaf_values(
    const int32_t[::1] leaf_of_row, const double[::1] values, double[::1] scores
):
    """Add the value of each row's leaf to its score.

    Parameters
    ----------
    leaf_of_row : ndarray of int32, shape (n_rows,)
        Numbers of nodes.
    values : ndarray of float64, shape (n_nodes,)
        Values of the nodes.
    scores : ndarray of float64, shape (n_rows,)
        Scores, in place.
    """
    cdef int64_t i
    with nogil:
        for i in range(leaf_of_row.shape[0]):
            scores[i] += values[leaf_of_row[i]]


# ------------------------------------------------------------------------------------
# Growing trees from gradients and hessians, one by one over the same table.
# ------------------------------------------------------------------------------------


PAIR_DTYPE = np.dtype([("gradient", np.int64), ("counted", np.uint64)])


cdef enum:
    STAYS = 2  # in its node, a row whose code leads to no child


def make_scale(int64_t n_rows, largest, bint has_hessian):
    """Choose the units of gradients and hessians as integers, so that no sum of the
    rows of a table overflows.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.
    largest : tuple of two floats
        The largest absolute gradient and the largest hessian.
    has_hessian : bool
        Whether hessians are given; otherwise they are 1.

    Returns
    -------
    scale : tuple
        What gradients and hessians are multiplied by, powers of two that are infinite
        where all numbers are nearly zero; and the bits for the number of rows.
    """
    # As many bits as the number of all rows needs.
    count_bits = int(n_rows).bit_length()
    factor = make_factor(largest[0] if largest[0] > 0.0 else 1.0, n_rows, SUM_BITS)
    hessian_factor = 1.0
    if has_hessian:
        hessian_factor = make_factor(
            largest[1] if largest[1] > 0.0 else 1.0, n_rows, COUNTED_BITS - count_bits
        )
    return factor, hessian_factor, count_bits


def round_block(gradient, hessian, scale):
    """Turn gradients and hessians of a block of rows into pairs of integers.

    Parameters
    ----------
    gradient : ndarray of float64, shape (n_block_rows,)
        First derivatives.
    hessian : ndarray of float64, shape (n_block_rows,), or None
        Second derivatives; None for 1.
    scale : tuple
        By ``make_scale``.

    Returns
    -------
    pairs : ndarray, shape (n_block_rows,)
        The pairs.
    """
    pairs = np.empty(len(gradient), dtype=PAIR_DTYPE)
    round_rows(gradient, hessian, scale, pairs, NULL)
    return pairs


cdef int round_rows(
    gradient, hessian, scale, pairs, ThreadTeam* team
) except -1:
    """Turn gradients and hessians into integers, by a team of threads or none."""
    cdef:
        const double[::1] gradients = gradient
        const double[::1] hessians
        GradientPair[::1] rounded = pairs
        int64_t n_rows = gradients.shape[0], task
        int64_t n_tasks = n_rows // BLOCK_ROWS + 1
        uint8_t[::1] is_bad = np.zeros(n_tasks, dtype=np.uint8)
        Rounding work
    memset(&work, 0, sizeof(Rounding))
    work.n_rows = n_rows
    work.gradient = &gradients[0]
    if hessian is not None:
        hessians = hessian
        work.hessian = &hessians[0]
    work.gradient_factor, work.hessian_factor, work.count_bits = scale
    work.pairs = &rounded[0]
    work.is_bad = &is_bad[0]
    with nogil:
        if team != NULL:
            run_tasks(team, round_pair_block, &work, n_tasks)
        else:
            for task in range(n_tasks):
                round_pair_block(&work, task, 0)
    if np.any(is_bad):
        raise ValueError(
            "Gradients must be numbers, and hessians numbers that are not negative."
        )
    return 0


cdef void send_rows(
    const SmallCode* row_codes, int64_t n_columns, int64_t n_rows,
    const int32_t* column, const int32_t* first_child, const int64_t* start,
    const uint8_t* child_of_code, int32_t* node_of_row
) noexcept nogil:
    """Send the rows of a block to the children of the nodes that were split."""
    cdef:
        int64_t i
        int32_t node, child
    for i in range(n_rows):
        node = node_of_row[i]
        node = node if node >= 0 else ~node
        if column[node] < 0:
            continue
        child = child_of_code[start[node] + row_codes[i * n_columns + column[node]]]
        if child < STAYS:
            child += first_child[node]
            node_of_row[i] = child if node_of_row[i] >= 0 else ~child


def count_level(
    row_codes, const int64_t[::1] column_start, pairs, int32_t[::1] node_of_row,
    level, int64_t[:, :, ::1] sums
):
    """Send the rows of a block to the nodes of the next level, and sum up those of the
    nodes that are to be counted.

    Parameters
    ----------
    row_codes : ndarray of uint8 or uint16, shape (n_block_rows, n_columns)
        The codes of the block.
    column_start : ndarray of int64, shape (n_columns + 1,)
        Where the codes of each column begin in a histogram.
    pairs : ndarray, shape (n_block_rows,), or None
        As ``round_block`` gives them; None without slots.
    node_of_row : ndarray of int32, shape (n_block_rows,)
        Node of every row, in place; ~node for a row that takes no part.
    level : tuple of ndarrays
        As ``split_level`` gives it.
    sums : ndarray of int64, shape (n_slots, n_codes, 2)
        To which the sums of the rows of every slot are added.
    """
    cdef:
        const int32_t[::1] column = level[0], first_child = level[1], slot = level[4]
        const int64_t[::1] start = level[2]
        const uint8_t[::1] child_of_code = level[3]
        const uint8_t[:, ::1] narrow
        const uint16_t[:, ::1] wide
        const GradientPair[::1] block_pairs = pairs
        int64_t n = node_of_row.shape[0], i, s, n_slots = sums.shape[0]
        uint32_t[::1] listed = np.empty(n + FETCH_AHEAD, dtype=np.uint32)
        int64_t[::1] place = np.zeros(n_slots + 1, dtype=np.int64)
        const uint8_t* children = NULL
        GradientTable block
    if child_of_code.shape[0] > 0:
        children = &child_of_code[0]
    memset(&block, 0, sizeof(GradientTable))
    block.n_columns = column_start.shape[0] - 1
    block.start = &column_start[0]
    if pairs is not None:
        block.pairs = &block_pairs[0]
    block.code_size = row_codes.dtype.itemsize
    if block.code_size == 1:
        narrow = row_codes
        block.row_codes = &narrow[0, 0]
    else:
        wide = row_codes
        block.row_codes = &wide[0, 0]
    with nogil:
        if block.code_size == 1:
            send_rows(
                <const uint8_t*>block.row_codes, block.n_columns, n, &column[0],
                &first_child[0], &start[0], children, &node_of_row[0]
            )
        else:
            send_rows(
                <const uint16_t*>block.row_codes, block.n_columns, n, &column[0],
                &first_child[0], &start[0], children, &node_of_row[0]
            )
        # The rows of each slot one after the other, in their order.
        for i in range(n):
            if node_of_row[i] >= 0 and slot[node_of_row[i]] >= 0:
                place[slot[node_of_row[i]] + 1] += 1
        for s in range(n_slots):
            place[s + 1] += place[s]
        for i in range(n):
            if node_of_row[i] >= 0 and slot[node_of_row[i]] >= 0:
                s = slot[node_of_row[i]]
                listed[place[s]] = <uint32_t>i
                place[s] += 1
        memset(&listed[place[n_slots]], 0, FETCH_AHEAD * sizeof(uint32_t))
        # Each place is now where the next slot begins.
        for s in range(n_slots):
            i = place[s - 1] if s > 0 else 0
            add_pairs(
                &block, &listed[i], place[s] - i, 0, block.n_columns,
                <GradientPair*>&sums[s, 0, 0]
            )


cdef class GradientGrower(TreeGrower):
    """Grows one tree after the other from gradient pairs.

    Parameters
    ----------
    settings : Settings
        The table and the rules.
    ranks, row_ranks : ndarray of uint8 or uint16, or None
        The codes of all rows, column by column and row by row. None: histograms are
        counted elsewhere, and the tree grows level by level.
    max_leaf_nodes : int
        Largest number of leaves; 0: no limit.
    l2 : float
        The regularization of leaves.
    groups : ndarray of uint64, shape (n_columns,), or None
        Interaction constraints: bits of the groups of each column.
    n_threads : int
        Number of threads; the trees do not depend on it.
    """

    cdef:
        GradientList samples
        Worker worker
        object ranks
        object row_ranks
        object pairs
        object start
        int64_t n_listed
        const uint64_t[::1] groups
        uint8_t[::1] takes_part
        # of a tree that grows level by level
        Grower level_grower
        Stack spare_stack
        WaitingSplit* families
        int64_t n_families
        int64_t family_capacity

    def __cinit__(
        self, Settings settings, ranks, row_ranks, int64_t max_leaf_nodes, double l2,
        groups, int n_threads
    ):
        # Gradients, and the rows that take part, come with each tree.
        cdef:
            const int64_t[::1] start
            GradientPair[::1] pairs
            GradientList* samples = &self.samples
        memset(&self.samples, 0, sizeof(GradientList))
        memset(&self.worker, 0, sizeof(Worker))
        start_stack(&self.spare_stack, self.problem.n_columns)
        self.ranks, self.row_ranks = ranks, row_ranks
        self.problem.max_leaf_nodes = max_leaf_nodes
        samples.n_threads = n_threads
        samples.table.n_columns = self.problem.n_columns
        if ranks is not None:
            samples.n_rows = ranks.shape[1]
            samples.table.code_size = ranks.dtype.itemsize
            samples.codes = address_of(ranks)
            samples.table.row_codes = address_of(row_ranks)
        n_codes = settings.table.n_distinct + (settings.table.n_missing > 0)
        self.start = np.concatenate([[0], np.cumsum(n_codes)])
        start = self.start
        samples.table.start = &start[0]
        samples.most_codes = n_codes.max()
        if groups is not None:
            self.groups = groups
            samples.groups = &self.groups[0]
        samples.table.l2 = l2
        self.pairs = np.empty(samples.n_rows, dtype=PAIR_DTYPE)
        if ranks is not None:
            pairs = self.pairs
            samples.table.pairs = &pairs[0]
        if (
            start_gradient_list(&self.problem, samples) < 0
            or start_worker(&self.problem, &self.worker, 1, 8, True, NULL) < 0
        ):
            raise MemoryError()
        self.start_records(&self.worker)
        if n_threads > 1:
            samples.team = start_team(n_threads, &self.interrupt)

    def __dealloc__(self):
        # Threads first, which may be at work in the rest.
        self.stop_threads()
        free_stack(&self.spare_stack)
        free(self.families)
        free_gradient_list(&self.samples)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker)

    def stop_threads(self):
        """End the threads; later trees grow without."""
        if self.samples.team != NULL:
            stop_team(self.samples.team)
            self.samples.team = NULL

    cdef int set_scale(self, scale) except -1:
        """Note the units of the pairs."""
        cdef:
            GradientScale* units = &self.samples.table.scale
            double factor, hessian_factor
        factor, hessian_factor, units.count_bits = scale
        units.gradient_unit, units.hessian_unit = 1.0 / factor, 1.0 / hessian_factor
        return 0

    cdef make_root(self, const GradientPair* total, int64_t n_rows, random_state):
        """Describe the root from the sum of the rows that take part."""
        cdef GradientList* samples = &self.samples
        samples.total = total[0]
        hessian = hessian_of(total, &samples.table.scale)
        step = step_of_leaf(
            gradient_of(total, &samples.table.scale), hessian, samples.table.l2
        )
        is_leaf = (
            self.problem.max_depth <= 0
            or n_rows < 2 * max(self.problem.min_samples_leaf, 1)
            or n_rows < self.problem.min_samples_split
            or self.problem.max_leaf_nodes == 1
        )
        return Root(np.array([step]), 0.0, hessian, is_leaf, random_state)

    cdef void sum_listed(self, GradientPair* total) noexcept nogil:
        """Sum up the rows that take part."""
        cdef int64_t i
        memset(total, 0, sizeof(GradientPair))
        for i in range(self.n_listed):
            add_pair(total, &self.samples.table.pairs[self.samples.rows[i]])

    def grow(
        self, gradient, hessian, largest, rows=None, random_state=0, variance=1.0
    ):
        """Grow a tree.

        Parameters
        ----------
        gradient : ndarray of float64, shape (n_rows,)
            First derivative of the loss by the prediction, for all rows of the table.
        hessian : ndarray of float64, shape (n_rows,), or None
            Second derivative, not negative; None for 1.
        largest : tuple of two floats
            The largest absolute gradient and the largest hessian.
        rows : ndarray of uint32, default=None
            The rows that take part, in ascending order; None: all.
        random_state : int, default=0
            Seed of the sampling of columns.
        variance : float, default=1.0
            Variance of the gradient of a row, per unit of its hessian.

        Returns
        -------
        n_nodes : int
            Number of its nodes, which stay until the next tree.
        """
        cdef:
            Grower grower
            Frame frame
            GradientPair total
            GradientList* samples = &self.samples
            const uint32_t[::1] given
            int64_t i
        start_interrupt(&self.interrupt)
        scale = make_scale(samples.n_rows, largest, hessian is not None)
        self.set_scale(scale)
        round_rows(gradient, hessian, scale, self.pairs, samples.team)
        samples.table.variance = variance
        if rows is None:
            self.takes_part = None
            self.n_listed = samples.n_rows
            for i in range(self.n_listed):
                samples.rows[i] = <uint32_t>i
        else:
            self.takes_part = np.zeros(samples.n_rows, dtype=np.uint8)
            given = rows
            self.n_listed = given.shape[0]
            for i in range(self.n_listed):
                samples.rows[i] = given[i]
                self.takes_part[given[i]] = 1
        memset(&grower, 0, sizeof(Grower))
        grower.gradients = samples
        self.sum_listed(&total)
        root = self.make_root(&total, self.n_listed, random_state)
        forget_waiting(samples)
        self.start_tree(root, self.n_listed, &self.worker, &grower, &frame)
        frame.groups = ~<uint64_t>0
        if not root.is_leaf:
            self.grow_nodes(&grower, &frame)
        return self.buffer.n_nodes

    # ------------------------------------------------- histograms counted elsewhere
    # Rows are not known here. A tree grows level by level: the splits of all nodes of a
    # level are made, then whoever has the rows counts the smaller child of each, and
    # the children are searched. Nodes and splits are those of ``grow``, as they do not
    # depend on the order in which nodes are searched.

    def start_levels(
        self, scale, const int64_t[:, ::1] histogram, random_state=0, variance=1.0
    ):
        """Start a tree.

        Parameters
        ----------
        scale : tuple
            That of the pairs, by ``make_scale``.
        histogram : ndarray of int64, shape (n_codes, 2)
            The sums of all rows that take part, of all columns one after the other.
        random_state : int, default=0
            Seed of the sampling of columns.
        variance : float, default=1.0
            As for ``grow``.
        """
        cdef:
            GradientList* samples = &self.samples
            const int64_t* start = samples.table.start
            const GradientPair* sums = <const GradientPair*>&histogram[0, 0]
            GradientPair total
            Frame frame
            int64_t i
        self.set_scale(scale)
        samples.table.variance = variance
        memset(&total, 0, sizeof(GradientPair))
        for i in range(start[1]):
            add_pair(&total, &sums[i])
        n_rows = samples_of(&total, &samples.table.scale)
        root = self.make_root(&total, n_rows, random_state)
        forget_waiting(samples)
        memset(&self.level_grower, 0, sizeof(Grower))
        self.level_grower.gradients = samples
        self.start_tree(root, n_rows, &self.worker, &self.level_grower, &frame)
        frame.groups = ~<uint64_t>0
        start_growth(&self.worker.stack, 0, self.buffer)
        if root.is_leaf:
            return
        memcpy(
            self.worker.active, self.settings.columns,
            samples.table.n_columns * sizeof(int32_t)
        )
        if search_given(&self.problem, samples, &self.worker, &frame, sums) < 0 or (
            push_frame(&self.worker.stack, &frame, self.worker.active) < 0
        ):
            raise MemoryError()

    def list_open(self):
        """List the nodes that have been searched and may be split.

        Returns
        -------
        nodes : list of int
            Their numbers.
        gains : list of float
            By how much their splits decrease twice the loss.
        """
        cdef:
            const Stack* stack = &self.worker.stack
            int64_t i
        places = [i for i in range(stack.n_frames) if stack.frames[i].gain > 0.0]
        return (
            [stack.frames[i].node for i in places],
            [stack.frames[i].gain for i in places],
        )

    def split_level(self, wanted):
        """Make the splits of nodes of a level; the others stay leaves.

        Parameters
        ----------
        wanted : set of int
            Which nodes of ``list_open``.

        Returns
        -------
        level : tuple of ndarrays
            ``column`` (n_nodes): what the nodes that have just been split test, -1 for
            others; ``first_child`` (n_nodes); ``start`` (n_nodes) of the children of
            the codes of that column in ``child_of_code``; ``slot`` (n_nodes): the
            histogram for which the rows of a node are to be counted, or -1.
        """
        cdef:
            GradientList* samples = &self.samples
            Stack* stack = &self.worker.stack
            Stack level
            int64_t i, n_columns = samples.table.n_columns
            Frame* frame
            WaitingSplit split
            const int64_t* start = samples.table.start
            uint8_t[::1] children
            int64_t code
            int32_t branch
        # The frames of the level; their children take the place of these.
        level = stack[0]
        stack[0] = self.spare_stack
        self.spare_stack = level
        start_growth(stack, 0, self.buffer)
        self.n_families = 0
        splits, parts, n_children = [], [], 0
        for i in range(level.n_frames):
            frame = &level.frames[i]
            if frame.gain <= 0.0:
                continue
            if frame.node not in wanted:
                release_waiting(samples, frame.waiting)
                continue
            memcpy(
                self.worker.active, level.active + i * n_columns,
                n_columns * sizeof(int32_t)
            )
            if split_waiting(&self.level_grower, frame, &split) < 0:
                raise_failure(&self.interrupt)
            self.keep_family(&split)
            n_codes = start[split.column + 1] - start[split.column]
            children = np.empty(n_codes, dtype=np.uint8)
            # As rows are sent that take no part, whose codes the node may not know.
            for code in range(n_codes):
                branch = find_branch(
                    &self.problem, self.buffer, &self.buffer.nodes[frame.node], code
                )
                children[code] = branch if branch >= 0 else STAYS
            splits.append(
                (frame.node, split.column, split.first_child, n_children,
                 split.counted_child)
            )
            parts.append(children.base)
            n_children += n_codes
        column = np.full(self.buffer.n_nodes, -1, dtype=np.int32)
        first_child = np.zeros(self.buffer.n_nodes, dtype=np.int32)
        start_of = np.zeros(self.buffer.n_nodes, dtype=np.int64)
        slot = np.full(self.buffer.n_nodes, -1, dtype=np.int32)
        n_slots = 0
        for node, tested, first, begin, counted in splits:
            column[node], first_child[node], start_of[node] = tested, first, begin
            if counted >= 0:
                slot[counted] = n_slots
                n_slots += 1
        child_of_code = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint8)
        return column, first_child, start_of, child_of_code, slot

    cdef int keep_family(self, const WaitingSplit* split) except -1:
        """Remember which nodes wait for a histogram."""
        if reserve(
            <void**>&self.families, sizeof(WaitingSplit), self.n_families, 1,
            &self.family_capacity
        ) < 0:
            raise MemoryError()
        self.families[self.n_families] = split[0]
        self.n_families += 1
        return 0

    def search_level(self, const int64_t[:, :, ::1] histograms):
        """Search the nodes that the splits of a level have made.

        Parameters
        ----------
        histograms : ndarray of int64, shape (n_slots, n_codes, 2)
            What was counted for the slots of ``split_level``.
        """
        cdef:
            GradientList* samples = &self.samples
            int64_t i, slot = 0, size = samples.table.start[samples.table.n_columns]
            const WaitingSplit* family
        for i in range(self.n_families):
            family = &self.families[i]
            if family.counted == NULL:
                continue
            memcpy(
                family.counted.histogram, &histograms[slot, 0, 0],
                size * sizeof(GradientPair)
            )
            slot += 1
            samples.counted = family.counted
            samples.rest = family.rest
            samples.n_counted = 0
            with nogil:
                search_children(
                    &self.problem, samples, &self.worker, family.first_frame,
                    family.n_frames
                )

    def number_nodes(self):
        """Return the number of every node in ``write_nodes``."""
        cdef int32_t[::1] number = np.empty(self.buffer.n_nodes, dtype=np.int32)
        if number_nodes(self.buffer, &number[0]) < 0:
            raise MemoryError()
        return number.base

    def find_leaves(self, int32_t[::1] leaf_of_row):
        """Write the node where each row of the table ends.

        Parameters
        ----------
        leaf_of_row : ndarray of int32, shape (n_rows,)
            Out: numbers of nodes as ``write_nodes`` gives them.
        """
        cdef:
            NodeBuffer* buffer = self.buffer
            GradientList* samples = &self.samples
            const Node* node
            int32_t[::1] number = np.empty(buffer.n_nodes, dtype=np.int32)
            int64_t i, k, first
        if number_nodes(buffer, &number[0]) < 0:
            raise MemoryError()
        with nogil:
            for i in range(buffer.n_nodes):
                node = &buffer.nodes[i]
                if node.n_children > 0:
                    continue
                # Rows of a leaf stand together since its parent was split.
                first = samples.place[i] if i > 0 else 0
                for k in range(first, first + node.n_samples):
                    leaf_of_row[samples.rows[k]] = number[i]
            # Rows that took no part are routed by their codes.
            if self.takes_part is not None:
                for i in range(samples.n_rows):
                    if self.takes_part[i]:
                        continue
                    if samples.table.code_size == 1:
                        route_row(
                            &self.problem, samples, buffer,
                            <const uint8_t*>samples.codes, &number[0], i,
                            &leaf_of_row[0]
                        )
                    else:
                        route_row(
                            &self.problem, samples, buffer,
                            <const uint16_t*>samples.codes, &number[0], i,
                            &leaf_of_row[0]
                        )
