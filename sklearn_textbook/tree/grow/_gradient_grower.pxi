# Growing trees from gradients and hessians, one by one over the same table.


cdef class GradientGrower:
    """Owns the memory of a growing tree, which serves one tree after the other.

    Parameters
    ----------
    settings : dict
        Settings common to the trees: see settings.py; and ``ranks`` and ``row_ranks``,
        the codes of all rows, of one or two bytes; ``l2_regularization``,
        ``level_smoothing``, ``level_l2`` and ``least_level_rows``; ``groups`` of
        interaction constraints, bits of each column, or None.
    n_threads : int
        Number of threads; the trees do not depend on it.
    """

    cdef:
        Problem problem
        Interrupt interrupt
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
        self.problem.interrupt = &self.interrupt
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
            samples.team = start_team(n_threads, &self.interrupt)

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
        """Turn gradients and hessians into integers."""
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
            Arena no_columns
            Grower grower
            Frame root
            NodeBuffer* buffer = &self.worker.buffer
            GradientList* samples = &self.samples
            const int32_t[::1] columns = self.settings["columns"]
            const uint32_t[::1] given
            int64_t i
            int outcome = 0
        start_interrupt(&self.interrupt)
        self.round_pairs(gradient, hessian, largest)
        samples.variance = variance
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
            &self.problem, self.n_listed, settings | {"random_state": random_state},
            buffer, &root
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
                raise_failure(&self.interrupt)
        return buffer.n_nodes

    def round_to_pairs(self, gradient, hessian, largest):
        """Turn gradients and hessians into pairs of integers.

        Parameters
        ----------
        gradient, hessian, largest
            As in ``grow``.

        Returns
        -------
        pairs : ndarray, shape (n_rows,)
            A copy.
        """
        self.round_pairs(gradient, hessian, largest)
        return self.pairs.copy()

    def count_block(self, row_codes, pairs, rows):
        """Sum up some rows of a block that need not be rows of the table.

        Parameters
        ----------
        row_codes : ndarray like ``row_ranks``, shape (n_block_rows, n_columns)
            The codes of the block.
        pairs : ndarray, shape (n_block_rows,)
            Their pairs, of the scale of the last ``round_to_pairs``.
        rows : ndarray of uint32
            Which rows.

        Returns
        -------
        histogram : ndarray of int64, shape (n_codes, 2)
            Sums of all columns, concatenated; those of blocks may be added.
        """
        cdef:
            const uint8_t[:, ::1] narrow
            const uint16_t[:, ::1] wide
            const GradientPair[::1] block_pairs = pairs
            uint32_t[::1] listed = np.concatenate([rows, np.zeros(64, dtype=np.uint32)])
            int64_t[:, ::1] sums = np.zeros(
                (self.samples.start[self.samples.n_columns], 2), dtype=np.int64
            )
            GradientList block = self.samples
            int64_t n = len(rows)
        block.pairs = &block_pairs[0]
        if block.code_size == 1:
            narrow = row_codes
            block.row_codes = &narrow[0, 0]
        else:
            wide = row_codes
            block.row_codes = &wide[0, 0]
        with nogil:
            count_rows(&block, &listed[0], n, <GradientPair*>&sums[0, 0])
        return sums.base

    def find_split(self, const int64_t[:, ::1] histogram, int64_t depth):
        """Find the best split of a node from its histogram.

        Parameters
        ----------
        histogram : ndarray of int64, shape (n_codes, 2)
            As ``count_block`` gives it.
        depth : int
            Depth of the node.

        Returns
        -------
        decrease : float
            Decrease of twice the loss; 0 if the node is not to be split.
        column : int
            What is tested.
        child_of_code : ndarray of uint8
            The child of every code of the column; 2: the row stays.
        """
        cdef:
            GradientList* samples = &self.samples
            WaitingNode* node
            Frame frame
            int64_t pair = -1
            Split split
            const int32_t[::1] columns = self.settings["columns"]
            uint8_t[::1] children
        memset(&frame, 0, sizeof(Frame))
        frame.lower = -INFINITY
        frame.upper = INFINITY
        frame.depth = depth
        frame.groups = ~<uint64_t>0
        frame.n_active = <int32_t>samples.n_columns
        memcpy(
            self.worker.active, &columns[0], samples.n_columns * sizeof(int32_t)
        )
        forget_waiting(samples)
        if search_given(
            &self.problem, samples, &self.worker, &frame,
            <const GradientPair*>&histogram[0, 0]
        ) < 0:
            raise MemoryError()
        node = <WaitingNode*>frame.waiting
        if frame.gain <= 0.0 or depth >= self.problem.max_depth:
            return 0.0, -1, None
        if settle_gradients(
            &self.problem, samples, &self.worker, &frame, &split, &pair
        ) < 0:
            raise MemoryError()
        n_codes = samples.start[split.column + 1] - samples.start[split.column]
        children = np.empty(n_codes, dtype=np.uint8)
        memcpy(&children[0], node.child_of_code, n_codes)
        return frame.gain, split.column, children.base

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

    def write_nodes(self):
        """Write the records of the tree that has grown; ``find_leaves`` comes first.

        Returns
        -------
        grown : tuple
            What ``grow_nodes`` returns.
        """
        return write_tree(&self.problem, &self.worker.buffer, NULL, 0)
