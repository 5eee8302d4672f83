"""Growing a whole tree from a list of samples.

The sorted columns of ``_engine`` are all partitioned at every node, which is wasteful
where a node looks at few of them. Here a node reads the codes of the columns that it
has sampled and partitions the list of its samples alone.
"""

import numpy as np

from libc.math cimport INFINITY, frexp, ldexp
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
    fill_codes,
    fill_problem,
    read_short_columns,
    resolve_threshold,
    write_root,
    write_tree,
)
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
from sklearn_textbook.tree.grow._gradient_list cimport (
    GradientList,
    WaitingNode,
    count_rows,
    forget_waiting,
    free_gradient_list,
    search_given,
    settle_gradients,
    start_gradient_list,
)
from sklearn_textbook.tree.grow._grower cimport (
    Grower,
    grow_from,
    grow_subtrees,
)
from sklearn_textbook.tree.grow._layout cimport DENSE_MAP, NOMINAL, Node
from sklearn_textbook.tree.grow._list_search cimport (
    ListSearch,
    free_list_search,
    reserve_tiles,
    start_list_search,
)
from sklearn_textbook.tree.grow._sample_list cimport (
    LIST_BINARY,
    LIST_CLASS_COUNTS,
    LIST_CLASS_WEIGHTS,
    LIST_GENERAL,
    LIST_MOMENTS,
    SampleList,
    Span,
    free_sample_list,
    start_sample_list,
)
from sklearn_textbook.tree.grow._small_node cimport may_be_small
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    Worker,
    free_worker,
    start_worker,
)
from sklearn_textbook.tree.split._gradients cimport (
    GradientPair,
    add_pair,
    gradient_of,
    hessian_of,
    step_of_leaf,
)
from sklearn_textbook.tree.split._oblique cimport (
    ObliqueSearch,
    free_oblique,
    start_oblique,
)
from sklearn_textbook.tree.split._steps cimport Scale
from sklearn_textbook.tree.split._sums cimport (
    FEW_SAMPLES,
    NUMBER_BITS,
    make_counted,
    make_listed,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport POISSON, Codes, Problem, Split


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


include "_list_roots.pxi"
include "_list_threads.pxi"


def choose_task_rows(n_rows, n_threads, local_rows):
    """Samples up to which a subtree becomes a task. They are no fewer than are copied
    next to each other, so that the copies are those of a single thread."""
    return max(n_rows // (n_threads + 1), local_rows, FEW_SAMPLES)


cdef class ListGrower:
    """Owns the memory of a growing tree, which serves one tree after the other.

    Parameters
    ----------
    settings : dict
        Settings common to the trees: see grow.py; and the classes or values of all
        rows, ``all_labels`` or ``all_values``.
    kind : str
        What is summed up of the samples, a key of ``LIST_KINDS``.
    """

    cdef:
        Problem problem
        Interrupt interrupt
        ListThread first  # the calling thread's; it holds the nodes and the list
        ListThread* helpers  # for subtrees of up to helper_rows samples
        int n_helpers
        int64_t helper_rows
        Stack tasks
        NodeBuffer* done  # by tasks
        Codes codes
        dict settings  # keeps the arrays alive
        str kind
        object weight
        const int64_t[::1] entropy_table
        int64_t n_listed

    def __cinit__(self, dict settings, str kind):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.first, 0, sizeof(ListThread))
        memset(&self.codes, 0, sizeof(Codes))
        self.settings = settings
        self.kind = kind
        fill_problem(&self.problem, settings)
        self.problem.interrupt = &self.interrupt
        fill_codes(&self.problem, &self.codes, settings)
        start_stack(&self.tasks, self.problem.n_columns)
        start_thread(
            &self.problem, settings, kind, &self.first, settings["order"].shape[1], NULL
        )
        if start_buffer(
            &self.first.worker.buffer, self.problem.n_statistics,
            self.problem.monotonic != NULL
        ) < 0:
            raise MemoryError()

    def __dealloc__(self):
        self.forget_tasks()
        self.stop_helpers()
        free_buffer(&self.first.worker.buffer)
        free_thread(&self.first)

    cdef void forget_tasks(self) noexcept:
        free_buffers(self.done, self.tasks.n_frames)
        self.done = NULL
        free_stack(&self.tasks)
        start_stack(&self.tasks, self.problem.n_columns)

    cdef void stop_helpers(self) noexcept:
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
            start_thread(
                &self.problem, self.settings, self.kind,
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
        root : dict, or None
            ``n_rows``, ``total_weight`` and ``root_statistics``; for values also
            ``root_impurity`` and ``is_pure``. None of several outputs, or of Poisson
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
        """Describe all samples that are listed."""
        cdef:
            double[::1] statistics = np.zeros(self.problem.n_statistics)
            SampleList* samples = &self.first.samples
            double total = 0.0, variance = 0.0
            bint is_pure = False
        if samples.n_outputs > 1 or self.problem.criterion == POISSON:
            return None
        with nogil:
            if self.problem.is_classifier:
                total = add_classes(samples, self.n_listed, &statistics[0])
            else:
                is_pure = measure_values(
                    samples, self.n_listed, &total, &statistics[0], &variance
                )
        root = {
            "n_rows": self.n_listed,
            "total_weight": total,
            "root_statistics": statistics.base,
        }
        if not self.problem.is_classifier:
            root |= {"root_impurity": variance, "is_pure": is_pure}
        return root

    def grow(self, dict root_settings, int n_threads=1):
        """Grow a tree from the samples that were listed.

        Parameters
        ----------
        root_settings : dict
            ``root_statistics``, ``root_impurity``, ``root_is_leaf``, ``total_weight``,
            ``random_state``, ``entropy_table`` and ``entropy_unit``.
        n_threads : int, default=1
            Number of threads, which share the columns of nodes of many samples, and the
            subtrees of few.

        Returns
        -------
        n_nodes : int
            Number of its nodes, which stay until the next tree.
        """
        cdef:
            Arena no_columns
            Grower grower
            Frame root
            NodeBuffer* buffer = &self.first.worker.buffer
            const int32_t[::1] columns = self.settings["columns"]
            ThreadTeam* team = NULL
            int outcome = 0
        memset(&no_columns, 0, sizeof(Arena))
        memset(&grower, 0, sizeof(Grower))
        grower.problem = &self.problem
        grower.table = &no_columns
        grower.tasks = &self.tasks
        start_interrupt(&self.interrupt)
        self.problem.total_weight = root_settings["total_weight"]
        self.problem.design_effect = root_settings["design_effect"]
        if root_settings["entropy_table"] is not None:
            self.entropy_table = root_settings["entropy_table"]
            self.problem.entropy_table = &self.entropy_table[0]
            self.problem.entropy_unit = root_settings["entropy_unit"]
        self.forget_tasks()
        buffer.n_levels = buffer.n_terms = 0
        write_root(&self.problem, self.n_listed, root_settings, buffer, &root)
        if root_settings["root_is_leaf"]:
            return buffer.n_nodes
        lend_thread(&grower, &self.first)
        if n_threads > 1:
            grower.task_rows = self.choose_task_rows(n_threads)
            if reserve_tiles(&self.first.search, n_threads) < 0:
                raise MemoryError()
            self.first.search.shared_cells = threads.CELLS_PER_THREAD
            team = start_team(n_threads, &self.interrupt)
        self.first.search.team = team
        try:
            with nogil:
                outcome = grow_from(&grower, &root, &columns[0])
            if outcome < 0:
                raise_failure(&self.interrupt)
            self.first.search.team = NULL
            if self.tasks.n_frames > 0:
                self.grow_tasks(&grower, team, n_threads)
        finally:
            self.first.search.team = NULL
            stop_team(team)
        return count_nodes(buffer, self.done, self.tasks.n_frames)

    cdef int64_t choose_task_rows(self, int n_threads) except -1:
        """Samples up to which a node becomes a task; 0: there are no tasks."""
        cdef int64_t task_rows = choose_task_rows(
            self.n_listed, n_threads, self.first.samples.local_rows
        )
        # Subtrees that grow by turns cannot be divided.
        if self.problem.max_leaf_nodes > 0 or self.n_listed <= task_rows:
            return 0
        return task_rows

    cdef int grow_tasks(
        self, const Grower* above, ThreadTeam* team, int n_threads
    ) except -1:
        """Let threads share the subtrees that were put aside."""
        cdef:
            NodeBuffer* buffer = &self.first.worker.buffer
            NodeBuffer nodes = buffer[0]
            Grower* growers
            int i, outcome
        self.start_helpers(n_threads - 1, above.task_rows)
        growers = <Grower*>malloc(n_threads * sizeof(Grower))
        if growers == NULL:
            raise MemoryError()
        for i in range(n_threads):
            growers[i] = above[0]
            growers[i].task_rows = 0
            if i > 0:
                follow_thread(&self.helpers[i - 1], &self.first)
            lend_thread(&growers[i], &self.first if i == 0 else &self.helpers[i - 1])
        # The calling thread grows tasks in a buffer of their own, too.
        memset(buffer, 0, sizeof(NodeBuffer))
        with nogil:
            outcome = grow_subtrees(&nodes, &self.tasks, growers, team, &self.done)
        buffer[0] = nodes
        free(growers)
        if outcome < 0:
            raise_failure(&self.interrupt)
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
        return read_short_columns(&self.problem, &self.first.worker.buffer)

    def write_nodes(self):
        """Write the records of the tree that has grown.

        Returns
        -------
        grown : tuple
            What ``grow_nodes`` returns.
        """
        return write_tree(
            &self.problem, &self.first.worker.buffer, self.done, self.tasks.n_frames
        )


include "_gradient_rows.pxi"
include "_gradient_grower.pxi"
