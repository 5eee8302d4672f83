"""Growing trees whose thresholds are sampled at random, over tables of numbers without
missing values and with whole weights.

Nothing is sorted; see ``_drawn_node``. Other tables are grown by ``_list_grower``.
"""

import numpy as np

from libc.stdint cimport int16_t, int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from sklearn_textbook.tree.grow._assemble cimport write_alone
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    NodeBuffer,
    free_buffer,
    start_buffer,
)
from sklearn_textbook.tree.grow._drawn_node cimport grow_drawn
from sklearn_textbook.tree.grow._drawn_rows cimport (
    DrawnTable,
    free_drawn_table,
    start_drawn_table,
)
from sklearn_textbook.tree.grow._settings cimport fill_codes, fill_problem, write_root
from sklearn_textbook.tree.grow._workers cimport Worker, free_worker, start_worker
from sklearn_textbook.tree.split._drawn_steps cimport Scale
from sklearn_textbook.tree.split._listed cimport (
    LISTED_CLASSES,
    LISTED_TWO_CLASSES,
    LISTED_VALUES,
    number_of,
)
from sklearn_textbook.tree.split._sums cimport FETCH_AHEAD
from sklearn_textbook.tree.split._types cimport Codes, Problem, Rows

from sklearn_textbook.tree.grow.layout import SURROGATE_DTYPE


cdef enum:
    LARGEST_WEIGHT = 0xFFFF
    LARGEST_TOTAL = 0x1FFFFF


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
        # Written in any case, and kept if the row has a weight: no branch to predict.
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


cdef class RandomGrower:
    """Owns the memory of a growing tree, which serves one tree after the other.

    Parameters
    ----------
    settings : dict
        What the trees share: see grow.py; and the classes or values of all rows,
        ``all_labels`` or ``all_values``.
    """

    cdef:
        Problem problem
        DrawnTable drawn
        Worker worker
        Codes codes
        int64_t n_listed
        const int32_t[:, ::1] label
        dict settings  # keeps the arrays alive

    def __cinit__(self, dict settings):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.drawn, 0, sizeof(DrawnTable))
        memset(&self.worker, 0, sizeof(Worker))
        memset(&self.codes, 0, sizeof(Codes))
        self.settings = settings
        fill_problem(&self.problem, settings)
        fill_codes(&self.problem, &self.codes, settings)
        if (
            self.start_lists(settings["order"].shape[1]) < 0
            or start_worker(&self.problem, &self.worker, 1, 8, True, NULL) < 0
            or start_buffer(&self.worker.buffer, self.problem.n_statistics, False) < 0
        ):
            raise MemoryError()
        self.fill_drawn_table(settings)

    def __dealloc__(self):
        free(self.drawn.rows)
        free(self.drawn.spare)
        free(self.drawn.listed.counts)
        free(self.drawn.listed.y)
        free(self.drawn.listed.residuals)
        free(self.drawn.local_y)
        free_drawn_table(&self.drawn)
        free_buffer(&self.worker.buffer)
        free_worker(&self.worker)

    cdef int start_lists(self, int64_t n_rows) noexcept nogil:
        """Allocate what has a place for every row. Returns -1 without memory."""
        cdef:
            DrawnTable* drawn = &self.drawn
            int64_t n_values = 1 if self.problem.is_classifier else n_rows
        drawn.rows = <uint64_t*>malloc((n_rows + FETCH_AHEAD) * sizeof(uint64_t))
        drawn.spare = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
        drawn.listed.counts = <uint64_t*>malloc(n_rows * sizeof(uint64_t))
        drawn.listed.y = <double*>malloc(n_values * sizeof(double))
        drawn.listed.residuals = <int64_t*>malloc(n_values * sizeof(int64_t))
        drawn.local_y = <double*>malloc(n_values * sizeof(double))
        if (
            drawn.rows == NULL or drawn.spare == NULL or drawn.listed.counts == NULL
            or drawn.listed.y == NULL or drawn.listed.residuals == NULL
            or drawn.local_y == NULL
        ):
            return -1
        return 0

    cdef int fill_drawn_table(self, dict settings) except -1:
        """Point to the steps of the table."""
        cdef:
            const int16_t[:, ::1] steps = settings["steps"]
            const int16_t[:, ::1] row_steps = settings["row_steps"]
            const double[:, ::1] values = settings["row_values"]
            const Scale[::1] scales = settings["scales"]
            const double[:, ::1] y
            DrawnTable* drawn = &self.drawn
        if start_drawn_table(
            &self.problem, drawn, settings["order"].shape[1]
        ) < 0:
            raise MemoryError()
        drawn.n_table_rows = settings["order"].shape[1]
        drawn.steps = &steps[0, 0]
        drawn.row_steps = &row_steps[0, 0]
        drawn.scales = &scales[0]
        drawn.row_values = &values[0, 0]
        drawn.listed.kind = LISTED_VALUES
        if self.problem.is_classifier:
            self.label = settings["all_labels"]
            drawn.listed.kind = (
                LISTED_TWO_CLASSES if self.problem.n_statistics == 2
                else LISTED_CLASSES
            )
        else:
            y = settings["all_values"]
            drawn.y = &y[0, 0]
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
            ``root_impurity`` and ``is_pure``. None if a weight or their sum does not
            fit into a list, or there are no rows.
        """
        cdef:
            const double[::1] real
            const int64_t[::1] whole
            const int32_t[::1] short
            int64_t total = 0, n_rows = self.drawn.n_table_rows, row
            uint64_t* rows = self.drawn.rows
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
            bint is_binary = self.drawn.listed.kind == LISTED_TWO_CLASSES
            uint64_t* rows = self.drawn.rows
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
                self.drawn.y, rows, self.n_listed, weight, &statistics[0], &variance
            )
        return root | {"root_impurity": variance, "is_pure": is_pure}

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
            int outcome = 0
        memset(&no_rows, 0, sizeof(Rows))
        self.problem.total_weight = root_settings["total_weight"]
        self.worker.stack.n_frames = 0
        write_root(
            &self.problem, &no_rows, self.n_listed, root_settings, buffer, &root
        )
        if not root_settings["root_is_leaf"]:
            with nogil:
                outcome = grow_drawn(&self.problem, &self.drawn, &self.worker, &root)
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
