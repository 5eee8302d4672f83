"""Growing a whole tree from a list of samples.

The sorted columns of ``_engine`` are all partitioned at every node, which is wasteful
where a node looks at few of them. Here a node reads the codes of the columns that it
has sampled and partitions the list of its samples alone.
"""

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from sklearn_textbook.tree.grow._assemble cimport write_alone
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    NodeBuffer,
    free_buffer,
    push_frame,
    start_buffer,
    start_growth,
    take_frame,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._list_search cimport (
    ListSearch,
    free_list_search,
    partition_list,
    search_list,
    settle_list,
    start_list_search,
)
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.grow._missing cimport branch_for_missing
from sklearn_textbook.tree.grow._node cimport (
    create_children,
    improvement_of,
    must_be_leaf,
    push_children,
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
    make_local,
    start_sample_list,
)
from sklearn_textbook.tree.grow._search cimport view_node
from sklearn_textbook.tree.grow._settings cimport fill_codes, fill_problem, write_root
from sklearn_textbook.tree.grow._small_node cimport (
    SmallRoots,
    finish_small,
    is_small,
    may_be_small,
    wait_small,
)
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    Worker,
    free_worker,
    start_worker,
)
from sklearn_textbook.tree.split._sums cimport (
    FEW_SAMPLES,
    NUMBER_BITS,
    make_counted,
    make_listed,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport (
    NOMINAL_COLUMN,
    POISSON,
    Codes,
    NodeView,
    Problem,
    Rows,
    Split,
)

from sklearn_textbook.tree.grow.layout import SURROGATE_DTYPE

LIST_KINDS = {
    "binary": LIST_BINARY,
    "moments": LIST_MOMENTS,
    "class-counts": LIST_CLASS_COUNTS,
    "class-weights": LIST_CLASS_WEIGHTS,
    "general": LIST_GENERAL,
}

cdef enum:
    COPIES_PAY = 6  # copies of codes pay up to so many columns per one that is tried


cdef bint accepts_split(
    const Problem* problem, const Worker* worker, Node* node, const Split* split
) noexcept nogil:
    """Whether the improvement is as large as is asked for."""
    node.improvement = improvement_of(problem, node, &worker.children, split)
    if node.improvement * node.weight / problem.total_weight + 2.2e-16 >= (
        problem.min_impurity_decrease
    ):
        return True
    node.improvement = 0.0
    return False


cdef int expand_node(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Arena* arena, Frame* frame
) noexcept nogil:
    """Split a node if that is worth it. Returns -1 when memory runs out."""
    cdef:
        NodeView view
        const Split* best = &search.node.found.split
        Children* children = &worker.children
        Node* node = &worker.buffer.nodes[frame.node]
        uint8_t* is_leaf = worker.is_active
        int64_t child, pair = -1, map_start = worker.buffer.n_levels
        int first
        bint any_inner = False
    view_node(problem, arena, worker, frame, &view)
    search_list(problem, samples, search, worker, frame, &view)
    if best.column < 0:
        return 0
    if settle_list(problem, samples, search, worker, frame, &view, &pair) < 0:
        return -1
    if not accepts_split(problem, worker, node, best):
        worker.buffer.n_levels = map_start
        return 0
    first = create_children(problem, worker, frame)
    if first < 0:
        return -1
    node = &worker.buffer.nodes[frame.node]
    node.first_child = first
    node.n_children = <int32_t>children.n_children
    node.feature = best.column
    node.kind = best.kind
    node.missing_branch = branch_for_missing(problem, children, best)
    node.map_start = pair
    node.threshold = NAN
    if best.kind == NOMINAL_COLUMN:
        node.map_start = map_start
    elif problem.random_splitter or best.alone:
        node.threshold = best.threshold
        node.map_start = -1
    for child in range(children.n_children):
        children.blocks[child] = NULL
        is_leaf[child] = children.n_rows[child] == 0 or must_be_leaf(
            problem, children.n_rows[child], children.weight[child], frame.depth + 1,
            children.is_pure[child]
        )
        any_inner = any_inner or not is_leaf[child]
    if any_inner:
        partition_list(problem, samples, &search.node, worker)
    return push_children(problem, worker, frame, best, first, is_leaf)


cdef int grow_all(
    const Problem* problem, SampleList* samples, ListSearch* search, Worker* worker,
    const Frame* root, const int32_t* columns
) noexcept nogil:
    """Split nodes until none is left, or there are enough leaves. Returns -1 without
    memory."""
    cdef:
        Arena arena
        Frame frame
        SmallRoots roots
        int outcome
        bint is_best_first = problem.max_leaf_nodes > 0
        int64_t n_waiting = -1  # nodes outside of the local subtree
    memset(&arena, 0, sizeof(Arena))
    roots.n_met = roots.n_grown = 0
    start_growth(&worker.stack, problem.max_leaf_nodes, &worker.buffer)
    if push_frame(&worker.stack, root, columns) < 0:
        return -1
    while True:
        outcome = take_frame(&worker.stack, &worker.buffer, &frame, worker.active)
        if outcome < 0:
            return -1
        if outcome == 0:
            break
        if samples.is_local and worker.stack.n_frames < n_waiting:
            if finish_small(problem, samples, worker, &roots) < 0:
                return -1
            samples.is_local = False
        # Subtrees that grow by turns cannot all be local.
        if not (samples.is_local or is_best_first) and (
            frame.n_rows <= samples.local_rows
        ) and (
            FEW_SAMPLES < frame.n_rows and samples.n_outputs == 1
            and frame.n_active <= COPIES_PAY * problem.max_features
        ):
            if finish_small(problem, samples, worker, &roots) < 0:
                return -1
            make_local(problem, samples, &frame)
            n_waiting = worker.stack.n_frames
        if is_small(problem, samples, worker, &frame):
            if wait_small(problem, samples, worker, &frame, &roots) < 0:
                return -1
            if is_best_first and finish_small(problem, samples, worker, &roots) < 0:
                return -1
        elif expand_node(problem, samples, search, worker, &arena, &frame) < 0:
            return -1
    return finish_small(problem, samples, worker, &roots)


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


cdef int64_t list_samples(
    const Weight* weight, const int32_t* label, int64_t n_outputs, int64_t n_rows,
    bint is_binary, bint is_whole, uint64_t* entries
) noexcept nogil:
    """List the samples that take part; returns their number."""
    cdef int64_t row, share, code, n = 0
    for row in range(n_rows):
        code = 0 if label == NULL or n_outputs > 1 else label[row]
        share = <int64_t>weight[row] if is_whole else <int64_t>1
        # Written in any case, and kept if the row has a weight: no branch to predict.
        if is_binary:
            entries[n] = make_counted(row, share, share * code)
        else:
            entries[n] = make_listed(row, share, code)
        n += weight[row] > 0
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


cdef double weight_of(
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


cdef double add_classes(
    const SampleList* samples, int64_t n, double* sums
) noexcept nogil:
    """Sum up the weights of the classes; returns the weight of all samples."""
    cdef:
        int64_t i, number
        double weight, total = 0.0
    for i in range(n):
        weight = weight_of(samples, samples.entries[i], &number)
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
    weight_of(samples, samples.entries[0], &number)
    first = samples.y[number]
    # One after the other: sums of symmetric values are then exactly 0.
    for i in range(n):
        weight = weight_of(samples, samples.entries[i], &number)
        total[0] += weight
        sums += weight * samples.y[number]
        is_pure = is_pure and samples.y[number] == first
    mean[0] = first if is_pure else sums / total[0]
    for i in range(n):
        weight = weight_of(samples, samples.entries[i], &number)
        value = samples.y[number] - mean[0]
        squares += weight * (value * value)
    variance[0] = squares / total[0]
    return is_pure


cdef class ListGrower:
    """Owns the memory of a growing tree, which serves one tree after the other.

    Parameters
    ----------
    settings : dict
        What the trees share: see grow.py; and the classes or values of all rows,
        ``all_labels`` or ``all_values``.
    kind : str
        What is summed up of the samples, a key of ``LIST_KINDS``.
    """

    cdef:
        Problem problem
        SampleList samples
        ListSearch search
        Worker worker
        Codes codes
        const Span[::1] spans
        dict settings  # keeps the arrays alive
        object weight
        const int64_t[::1] entropy_table
        int64_t n_listed

    def __cinit__(self, dict settings, kind):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.samples, 0, sizeof(SampleList))
        memset(&self.search, 0, sizeof(ListSearch))
        memset(&self.worker, 0, sizeof(Worker))
        memset(&self.codes, 0, sizeof(Codes))
        self.settings = settings
        fill_problem(&self.problem, settings)
        fill_codes(&self.problem, &self.codes, settings)
        self.samples.kind = LIST_KINDS[kind]
        self.fill_table(settings)
        if (
            start_sample_list(
                &self.problem, &self.samples, self.samples.n_samples
            ) < 0
            or start_list_search(&self.problem, &self.samples, &self.search) < 0
            or start_worker(
                &self.problem, &self.worker, self.samples.n_samples, 8, True, NULL
            ) < 0
            or start_buffer(
                &self.worker.buffer, self.problem.n_statistics,
                self.problem.monotonic != NULL
            ) < 0
        ):
            raise MemoryError()
        self.samples.may_be_small = may_be_small(&self.problem, &self.samples)

    def __dealloc__(self):
        free_sample_list(&self.samples)
        free_list_search(&self.search)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker)

    cdef int fill_table(self, dict settings) except -1:
        """Point to the codes and targets of the table."""
        cdef:
            const double[:, ::1] y
            const double[:, ::1] values
            const int32_t[:, ::1] label
            SampleList* samples = &self.samples
        samples.table.n_columns = self.problem.n_columns
        samples.table.n_rows = samples.n_samples = settings["order"].shape[1]
        samples.table.codes = address_of(settings["ranks"])
        samples.table.code_size = settings["ranks"].dtype.itemsize
        samples.table.row_codes = address_of(settings["row_ranks"])
        samples.table.row_bins = <const uint8_t*>address_of(settings["row_bins"])
        self.spans = settings["spans"]
        samples.table.spans = &self.spans[0]
        if settings["row_values"] is not None:
            values = settings["row_values"]
            samples.row_values = &values[0, 0]
            values = settings["bin_values"]
            samples.bin_values = &values[0, 0]
        if self.problem.is_classifier:
            label = settings["all_labels"]
            samples.label = &label[0, 0]
        else:
            y = settings["all_values"]
            samples.y = &y[0, 0]
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
            SampleList* samples = &self.samples
            int64_t n_rows = samples.table.n_rows
            bint is_binary = samples.kind == LIST_BINARY
            bint is_whole = True
        samples.weight = NULL
        samples.least_weight = 1.0
        if weight is None:
            weight = np.ones(n_rows, dtype=np.int32)
        if weight.dtype == np.float64:
            real = weight
            if samples.kind != LIST_BINARY and samples.kind != LIST_CLASS_COUNTS:
                is_whole = False
                self.weight = weight
                samples.weight = &real[0]
                samples.least_weight = find_least(&real[0], n_rows)
            with nogil:
                self.n_listed = list_samples(
                    &real[0], samples.label, samples.n_outputs, n_rows, is_binary,
                    is_whole, samples.entries
                )
        elif weight.dtype == np.int64:
            whole = weight
            with nogil:
                self.n_listed = list_samples(
                    &whole[0], samples.label, samples.n_outputs, n_rows, is_binary,
                    True, samples.entries
                )
        else:
            short = weight
            with nogil:
                self.n_listed = list_samples(
                    &short[0], samples.label, samples.n_outputs, n_rows, is_binary,
                    True, samples.entries
                )

        return self.measure_root()

    cdef measure_root(self):
        """Describe all samples that are listed."""
        cdef:
            double[::1] statistics = np.zeros(self.problem.n_statistics)
            double total = 0.0, variance = 0.0
            bint is_pure = False
        if self.samples.n_outputs > 1 or self.problem.criterion == POISSON:
            return None
        with nogil:
            if self.problem.is_classifier:
                total = add_classes(&self.samples, self.n_listed, &statistics[0])
            else:
                is_pure = measure_values(
                    &self.samples, self.n_listed, &total, &statistics[0], &variance
                )
        root = {
            "n_rows": self.n_listed,
            "total_weight": total,
            "root_statistics": statistics.base,
        }
        if not self.problem.is_classifier:
            root |= {"root_impurity": variance, "is_pure": is_pure}
        return root

    def grow(self, dict root_settings):
        """Grow a tree from the samples that were listed.

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
        buffer.n_levels = 0
        self.samples.is_local = False
        write_root(
            &self.problem, &no_rows, self.n_listed, root_settings, buffer, &root
        )
        if not root_settings["root_is_leaf"]:
            with nogil:
                outcome = grow_all(
                    &self.problem, &self.samples, &self.search, &self.worker, &root,
                    &columns[0]
                )
            if outcome < 0:
                raise MemoryError()
        return buffer.n_nodes

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
