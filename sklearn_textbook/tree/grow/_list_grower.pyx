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
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._interrupt cimport (
    Interrupt,
    raise_failure,
    start_interrupt,
)
from sklearn_textbook._contract._threads cimport (
    run_tasks,
    start_team,
    stop_team,
)
from sklearn_textbook.tree.grow._assemble cimport (
    fill_codes,
    fill_problem,
    read_short_columns,
    resolve_threshold,
    write_alone,
    write_root,
)
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    NodeBuffer,
    free_buffer,
    start_buffer,
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
from sklearn_textbook.tree.grow._grower cimport Grower, grow_from
from sklearn_textbook.tree.grow._layout cimport DENSE_MAP, NOMINAL, Node
from sklearn_textbook.tree.grow._list_search cimport (
    ListSearch,
    free_list_search,
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


ctypedef fused Weight:
    int32_t
    int64_t
    double


cdef int64_t list_samples(
    const Weight* weight, const int32_t* label, int64_t n_outputs, int64_t n_rows,
    bint is_binary, bint is_whole, uint64_t* entries, int64_t* most_weight
) noexcept nogil:
    """List the samples that take part; returns their number."""
    cdef int64_t row, share, code, n = 0, most = 1
    for row in range(n_rows):
        code = 0 if label == NULL or n_outputs > 1 else label[row]
        share = <int64_t>weight[row] if is_whole else <int64_t>1
        most = max(most, share)
        # Written in any case, and kept if the row has a weight: no branch to predict.
        if is_binary:
            entries[n] = make_counted(row, share, share * code)
        else:
            entries[n] = make_listed(row, share, code)
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
        Settings common to the trees: see grow.py; and the classes or values of all
        rows, ``all_labels`` or ``all_values``.
    kind : str
        What is summed up of the samples, a key of ``LIST_KINDS``.
    """

    cdef:
        Problem problem
        SampleList samples
        ListSearch search
        ObliqueSearch oblique
        Worker worker
        Codes codes
        const Span[::1] spans
        const Scale[::1] scales
        dict settings  # keeps the arrays alive
        object weight
        const int64_t[::1] entropy_table
        int64_t n_listed

    def __cinit__(self, dict settings, kind):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.samples, 0, sizeof(SampleList))
        memset(&self.search, 0, sizeof(ListSearch))
        memset(&self.oblique, 0, sizeof(ObliqueSearch))
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
        if settings["oblique"] is not None:
            self.prepare_oblique(settings["oblique"])

    def __dealloc__(self):
        free_sample_list(&self.samples)
        free_list_search(&self.search)
        free_oblique(&self.oblique)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker)

    cdef int fill_table(self, dict settings) except -1:
        """Point to the codes and targets of the table."""
        cdef:
            const double[:, ::1] y
            const double[:, ::1] values
            const int16_t[:, ::1] steps
            const int32_t[:, ::1] label
            SampleList* samples = &self.samples
        samples.table.n_columns = self.problem.n_columns
        samples.table.n_rows = samples.n_samples = settings["order"].shape[1]
        if settings["ranks"] is not None:
            samples.table.codes = address_of(settings["ranks"])
            samples.table.code_size = settings["ranks"].dtype.itemsize
        if self.problem.random_splitter:
            values = settings["row_values"]
            samples.row_values = &values[0, 0]
            steps = settings["steps"]
            samples.steps = &steps[0, 0]
            steps = settings["row_steps"]
            samples.row_steps = &steps[0, 0]
            self.scales = settings["scales"]
            samples.scales = &self.scales[0]
        else:
            samples.table.row_codes = address_of(settings["row_ranks"])
            samples.table.row_bins = <const uint8_t*>address_of(settings["row_bins"])
            self.spans = settings["spans"]
            samples.table.spans = &self.spans[0]
        if self.problem.is_classifier:
            label = settings["all_labels"]
            samples.label = &label[0, 0]
        else:
            y = settings["all_values"]
            samples.y = &y[0, 0]
        return 0

    cdef int prepare_oblique(self, dict settings) except -1:
        """Take the rules of oblique tests, and allocate for them."""
        cdef:
            const double[:, ::1] values = settings["row_values"]
            const double[::1] numbers
            const int64_t[::1] level_start = settings["level_start"]
            ObliqueSearch* oblique = &self.oblique
        oblique.values = &values[0, 0]
        oblique.level_start = &level_start[0]
        oblique.n_codes = level_start[level_start.shape[0] - 1]
        numbers = settings["size"]
        oblique.size = &numbers[0]
        numbers = settings["inverse_size"]
        oblique.inverse_size = &numbers[0]
        oblique.kind = settings["direction"]
        oblique.n_directions = settings["n_directions"]
        oblique.max_columns = settings["max_columns"]
        oblique.max_terms = settings["max_terms"]
        oblique.searches_axis = settings["searches_axis"]
        oblique.column_penalty = settings["column_penalty"]
        oblique.ridge = settings["ridge"]
        oblique.lasso = settings["lasso"]
        self.search.oblique = oblique
        # The kernel of small subtrees knows tests of one column alone.
        self.samples.may_be_small = False
        if not oblique.searches_axis:
            # There are no codes to be copied.
            self.samples.local_rows = 0
        if start_oblique(&self.problem, oblique, self.samples.n_samples) < 0:
            raise MemoryError()
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
            Arena no_columns
            Grower grower
            Interrupt interrupt
            Frame root
            NodeBuffer* buffer = &self.worker.buffer
            const int32_t[::1] columns = self.settings["columns"]
            int outcome = 0
        memset(&no_columns, 0, sizeof(Arena))
        memset(&grower, 0, sizeof(Grower))
        grower.problem = &self.problem
        grower.worker = &self.worker
        grower.table = &no_columns
        grower.samples = &self.samples
        grower.search = &self.search
        start_interrupt(&interrupt)
        grower.interrupt = self.oblique.interrupt = &interrupt
        self.problem.total_weight = root_settings["total_weight"]
        if root_settings["entropy_table"] is not None:
            self.entropy_table = root_settings["entropy_table"]
            self.problem.entropy_table = &self.entropy_table[0]
            self.problem.entropy_unit = root_settings["entropy_unit"]
        buffer.n_levels = buffer.n_terms = 0
        self.samples.is_local = False
        write_root(
            &self.problem, &no_columns.rows, self.n_listed, root_settings, buffer, &root
        )
        if not root_settings["root_is_leaf"]:
            with nogil:
                outcome = grow_from(&grower, &root, &columns[0])
            if outcome < 0:
                raise_failure()
        return buffer.n_nodes

    def read_short_columns(self):
        """Read the columns of the short form of the tree that has grown.

        Returns
        -------
        columns : dict, or None
            What ``storage.store_columns`` takes; None for trees with other than binary
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
        return write_alone(&self.problem, &self.worker.buffer, make_room)


include "_gradient_rows.pxi"
include "_gradient_grower.pxi"
