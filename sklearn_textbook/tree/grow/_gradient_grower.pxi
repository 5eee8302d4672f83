# Growing trees from gradients and hessians, one after the other over the same table.


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


cdef void round_rows(
    const Rounding* work, const Real* gradient, const Real* hessian, int64_t first,
    int64_t stop, uint8_t* is_bad
) noexcept nogil:
    cdef:
        int64_t i
        double value, curvature = 1.0
        bint bad = False
    for i in range(first, stop):
        value = work.gradient_factor * gradient[i]
        if hessian != NULL:
            curvature = hessian[i]
        # Not a number, or out of the range that was told.
        if not (-4.7e18 < value < 4.7e18 and 0.0 <= curvature < 1e300):
            bad = True
            continue
        curvature *= work.hessian_factor
        work.pairs[i].gradient = <int64_t>(value + (0.5 if value > 0.0 else -0.5))
        work.pairs[i].counted = (
            <uint64_t><int64_t>(curvature + 0.5) << work.count_bits | <uint64_t>1
        )
    is_bad[0] = bad


cdef void round_block(void* context, int64_t task, int thread) noexcept nogil:
    cdef:
        const Rounding* work = <const Rounding*>context
        int64_t first = task * BLOCK_ROWS
        int64_t stop = min(first + BLOCK_ROWS, work.n_rows)
    round_rows(
        work, <const double*>work.gradient, <const double*>work.hessian, first, stop,
        &work.is_bad[task]
    )


cdef double make_factor(double largest, int64_t n_rows, int bits) noexcept nogil:
    """The power of two by which n numbers, none of them larger, are multiplied so that
    no sum of them has more bits."""
    cdef int exponent = 0
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
        # All that have a value go to child 0 if nothing tells their codes apart.
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


cdef class GradientGrower:
    """Owns the memory of a growing tree, which serves one tree after the other.

    Parameters
    ----------
    settings : dict
        What the trees share: see settings.py; and ``ranks`` and ``row_ranks``, the
        codes of all rows, of one or two bytes; ``l2_regularization`` and
        ``level_smoothing``.
    n_threads : int
        Number of threads; the trees do not depend on it.
    """

    cdef:
        Problem problem
        GradientList samples
        Worker worker
        Codes codes
        dict settings  # keeps the arrays alive
        object pairs
        object start
        int64_t n_listed
        uint8_t[::1] is_bad
        const uint64_t[::1] groups
        uint8_t[::1] takes_part

    def __cinit__(self, dict settings, int n_threads):
        cdef:
            const uint8_t[:, ::1] narrow
            const uint16_t[:, ::1] wide
            const int64_t[::1] start
            GradientPair[::1] pairs
            GradientList* samples = &self.samples
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.samples, 0, sizeof(GradientList))
        memset(&self.worker, 0, sizeof(Worker))
        memset(&self.codes, 0, sizeof(Codes))
        self.settings = settings
        fill_problem(&self.problem, settings)
        fill_codes(&self.problem, &self.codes, settings)
        samples.n_threads = n_threads
        samples.n_columns = self.problem.n_columns
        samples.n_rows = settings["ranks"].shape[1]
        samples.code_size = settings["ranks"].dtype.itemsize
        if samples.code_size == 1:
            narrow = settings["ranks"]
            samples.codes = &narrow[0, 0]
            narrow = settings["row_ranks"]
            samples.row_codes = &narrow[0, 0]
        else:
            wide = settings["ranks"]
            samples.codes = &wide[0, 0]
            wide = settings["row_ranks"]
            samples.row_codes = &wide[0, 0]
        n_codes = settings["n_distinct"] + settings["has_missing"]
        self.start = np.concatenate([[0], np.cumsum(n_codes)])
        start = self.start
        samples.start = &start[0]
        samples.most_codes = n_codes.max()
        if settings["groups"] is not None:
            self.groups = settings["groups"]
            samples.groups = &self.groups[0]
        samples.l2 = settings["l2_regularization"]
        samples.level_smoothing = settings["level_smoothing"]
        self.pairs = np.empty(
            samples.n_rows, dtype=[("gradient", np.int64), ("counted", np.uint64)]
        )
        pairs = self.pairs
        samples.pairs = &pairs[0]
        self.is_bad = np.zeros(samples.n_rows // BLOCK_ROWS + 1, dtype=np.uint8)
        if (
            start_gradient_list(&self.problem, samples) < 0
            or start_worker(&self.problem, &self.worker, 1, 8, True, NULL) < 0
            or start_buffer(
                &self.worker.buffer, self.problem.n_statistics,
                self.problem.monotonic != NULL
            ) < 0
        ):
            raise MemoryError()
        if n_threads > 1:
            samples.team = start_team(n_threads)

    def __dealloc__(self):
        self.stop_threads()
        free_gradient_list(&self.samples)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker)

    def stop_threads(self):
        """End the threads; later trees grow without."""
        if self.samples.team != NULL:
            stop_team(self.samples.team)
            self.samples.team = NULL

    cdef int round_pairs(self, gradient, hessian, largest) except -1:
        """Turn gradients and hessians into whole numbers."""
        cdef:
            const double[::1] gradients = gradient
            const double[::1] hessians
            GradientPair[::1] pairs = self.pairs
            GradientList* samples = &self.samples
            int64_t n_rows = samples.n_rows, task, n_tasks = self.is_bad.shape[0]
            Rounding work
        memset(&work, 0, sizeof(Rounding))
        work.n_rows = n_rows
        work.count_bits = <int32_t>int(n_rows).bit_length()
        work.gradient = &gradients[0]
        work.gradient_factor = make_factor(
            largest[0] if largest[0] > 0.0 else 1.0, n_rows, SUM_BITS
        )
        if hessian is None:
            work.hessian_factor = 1.0
        else:
            hessians = hessian
            work.hessian = &hessians[0]
            work.hessian_factor = make_factor(
                largest[1] if largest[1] > 0.0 else 1.0, n_rows,
                COUNTED_BITS - work.count_bits
            )
        work.pairs = &pairs[0]
        work.is_bad = &self.is_bad[0]
        samples.scale.gradient_unit = 1.0 / work.gradient_factor
        samples.scale.hessian_unit = 1.0 / work.hessian_factor
        samples.scale.count_bits = work.count_bits
        with nogil:
            if samples.team != NULL:
                run_tasks(samples.team, round_block, &work, n_tasks)
            else:
                for task in range(n_tasks):
                    round_block(&work, task, 0)
        if np.any(self.is_bad):
            raise ValueError(
                "Gradients must be numbers, and hessians numbers that are not negative."
            )
        return 0

    cdef measure_root(self):
        """Sum up the rows that take part."""
        cdef:
            GradientList* samples = &self.samples
            GradientPair total
            int64_t i
        memset(&total, 0, sizeof(GradientPair))
        with nogil:
            for i in range(self.n_listed):
                add_pair(&total, &samples.pairs[samples.rows[i]])
        samples.total = total
        hessian = hessian_of(&total, &samples.scale)
        step = step_of_leaf(
            gradient_of(&total, &samples.scale), hessian, samples.l2
        )
        return {
            "root_statistics": np.array([step]),
            "root_impurity": 0.0,
            "total_weight": hessian,
        }

    def grow(self, gradient, hessian, largest, rows=None, random_state=0):
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

        Returns
        -------
        n_nodes : int
            Number of its nodes, which stay until the next tree.
        """
        cdef:
            Arena no_columns
            Grower grower
            Frame root
            NodeBuffer* buffer = &self.worker.buffer
            GradientList* samples = &self.samples
            const int32_t[::1] columns = self.settings["columns"]
            const uint32_t[::1] given
            int64_t i
            int outcome = 0
        self.round_pairs(gradient, hessian, largest)
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
        memset(&no_columns, 0, sizeof(Arena))
        memset(&grower, 0, sizeof(Grower))
        grower.problem = &self.problem
        grower.worker = &self.worker
        grower.table = &no_columns
        grower.gradients = samples
        settings = self.measure_root()
        self.problem.total_weight = settings["total_weight"]
        buffer.n_levels = 0
        forget_waiting(samples)
        write_root(
            &self.problem, &no_columns.rows, self.n_listed,
            settings | {"random_state": random_state}, buffer, &root
        )
        root.groups = ~<uint64_t>0
        if (
            self.problem.max_depth > 0
            and self.n_listed >= 2 * max(self.problem.min_samples_leaf, 1)
            and self.n_listed >= self.problem.min_samples_split
            and self.problem.max_leaf_nodes != 1
        ):
            with nogil:
                outcome = grow_from(&grower, &root, &columns[0])
            if outcome < 0:
                raise MemoryError()
        return buffer.n_nodes

    def find_leaves(self, int32_t[::1] leaf_of_row):
        """Write the node where each row of the table ends.

        Parameters
        ----------
        leaf_of_row : ndarray of int32, shape (n_rows,)
            Out: numbers of nodes as ``write_nodes`` gives them.
        """
        cdef:
            NodeBuffer* buffer = &self.worker.buffer
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
                first = samples.place[i] if i > 0 else 0
                for k in range(first, first + node.n_samples):
                    leaf_of_row[samples.rows[k]] = number[i]
            if self.takes_part is not None:
                for i in range(samples.n_rows):
                    if self.takes_part[i]:
                        continue
                    if samples.code_size == 1:
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

    def write_nodes(self, make_records):
        """Write the records of the tree that has grown; ``find_leaves`` comes first.

        Parameters
        ----------
        make_records : function
            Makes the arrays of nodes and statistics from their lengths.

        Returns
        -------
        grown : tuple
            What ``grow_nodes`` returns.
        """
        return write_alone(
            &self.problem, &self.worker.buffer, make_records, SURROGATE_DTYPE
        )
