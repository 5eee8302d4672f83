"""Best stumps by weighted error, round after round, over one encoded table.

Each numeric column is divided once into at most 256 bins of about as many rows; a
level of a nominal column is a bin of its own. The weight of each class in each bin is
kept from round to round: as weights are not normalised, a round only adds to those of
the rows that were wrong. A stump (a, b) is right for what class a has on the left and
class b on the right; inside of a bin that cannot be more than all that a has up to its
end and b from its start on. Bins that may hold better than the best end of a bin are
walked row by row, in the order of the column, so that the stump is the best of all.

Tasks are blocks of rows and groups of columns, and sums are taken in the order of the
rows: the result does not depend on the number of threads.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from sklearn_textbook._contract._threads cimport (
    ThreadTeam,
    run_in_threads,
    run_tasks,
    start_team,
    stop_team,
)
from sklearn_textbook.tree.members._level_search cimport (
    LevelSearch,
    divide_summed_levels,
    free_level_search,
    start_level_search,
)

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define PREFETCH(address) __builtin_prefetch(address)
    #else
    #define PREFETCH(address) ((void)0)
    #endif
    """
    void PREFETCH(const void* address) nogil

cdef enum:
    FETCH_AHEAD = 12  # rows that are prefetched
    MOST_BINS = 256  # numbers of bins fit into a byte
    LEAST_BINS = 16
    LEAST_BIN_ROWS = 8
    MOST_SUMS = 1 << 24  # bins times classes; above, there are fewer bins
    BLOCK_ROWS = 8192
    TURNED_ROWS = 256
    GROUP_COLUMNS = 12  # their sums stay in the level 1 cache
    LANES = 4  # independent sums, so that additions do not wait for each other
    REBUILT_ROUNDS = 16  # rounds after which sums are recomputed

# Where a row ends up. Rows that are not used for learning may have a level that no
# other row has, or a missing value in a column without missing values.
cdef enum:
    UNSEEN = 2  # stays in the root
    UNKNOWN = 3  # goes to the child with more rows
    N_ENDS = 4
    PARTED = 4  # instead of a child: the bin is divided

cdef uint32_t ROW_MASK = 0x7FFFFFFF
cdef double LARGEST_TOTAL = 1e100
cdef double LARGEST_FACTOR = 1e30
cdef double MARGIN = 1e-12  # of the total weight; scores that differ less are equal

# A column and its bins.
cdef struct Column:
    const uint32_t* order
    const double* values  # by rank
    const uint8_t* bins  # of all rows
    const uint32_t* codes  # instead of bins, if there are more than fit into a byte
    const int64_t* start  # numeric: first position of each bin, and the end of the last
    int64_t first  # number of its first bin among those of all columns
    int64_t n_bins  # without the bin of missing values, which follows
    bint is_nominal
    bint is_exact  # every bin is one value
    bint has_missing
    # nominal, of many levels that are smoothed: rows and child of each, and of missing
    # values; else NULL
    int64_t* level_rows
    int8_t* level_child

# The best stump of a column.
cdef struct Stump:
    double score  # weight of the rows classified correctly
    int64_t position  # numeric: present rows on the left
    int32_t missing_child
    bint is_alone  # present values against missing ones
    int32_t low_class  # nominal: levels go to the child of one of these
    int32_t high_class

# Everything that tasks read and write.
cdef struct Work:
    int64_t n_rows
    int64_t n_columns
    int64_t n_classes
    int64_t n_all_bins
    int64_t n_blocks
    int64_t n_groups
    int64_t width  # bins from the first of a column to the first of the next
    Column* columns
    const uint8_t* bins  # of all columns, row by row
    const int32_t* labels
    double* weight
    const double* learned  # weights to learn from: the same, or counts of draws
    bint is_drawn
    # the last stump, and how it changes the weights
    uint8_t* side
    const int32_t* predicted  # by end
    double right_factor
    double wrong_factor
    bint is_rebuilt
    # changes of the sums: rows and weights, block by block
    uint32_t* entry_row
    double* entry_weight
    int64_t* n_entries
    double* block_totals
    double* sums  # by class and bin
    double* totals  # by class
    double* best_end  # by column
    double margin
    double limit  # lower scores cannot be the best
    Stump* stumps
    double* scratch  # of each thread
    LevelSearch* level_search  # of each thread; NULL: no column is smoothed
    double design_effect  # of the weights, per unit of their sum
    # dividing the rows
    const Column* column  # NULL: a leaf
    const int8_t* child_of_bin
    double* child_sums  # by block, kind of weight, end and class
    int64_t* child_rows  # by block and end


include "_stump_bins.pxi"
include "_stump_rows.pxi"
include "_stump_columns.pxi"
include "_stump_votes.pxi"


cdef class StumpSearch:
    """Finds the best stump of every round over one table.

    Parameters
    ----------
    order : ndarray of uint32, shape (n_columns, n_rows)
        Sorted columns, as in ``EncodedTable``.
    values : ndarray of float64, shape (n_columns, n)
        Their distinct values.
    n_distinct, n_missing : ndarray of int64, shape (n_columns,)
        Distinct values, and missing ones, of each column.
    is_nominal : ndarray of bool, shape (n_columns,)
        Whether the values of a column are levels without order.
    labels : ndarray of int32, shape (n_rows,)
        Class numbers.
    n_classes : int
        Number of classes.
    weight : ndarray of float64, shape (n_rows,)
        First weights of the rows; they are copied.
    n_threads : int
        Number of threads.
    is_smoothed : ndarray of bool, shape (n_columns,)
        Whether the levels of a nominal column are smoothed; see ``smoothing``.
    smoothing : float
        ``categorical_smoothing`` of the stumps; below 0: "auto".
    """

    cdef:
        Work work
        ThreadTeam* team
        int n_threads
        int64_t n_since
        double largest_weight
        object arrays, labels
        double[::1] weight, totals, block_totals, best_end, child_sums
        int32_t[::1] predicted
        int64_t[::1] n_entries, child_rows, level_rows
        int8_t[::1] level_child
        uint8_t[::1] side

    def __cinit__(
        self, const uint32_t[:, ::1] order, const double[:, ::1] values,
        const int64_t[::1] n_distinct,
        const int64_t[::1] n_missing, const uint8_t[::1] is_nominal,
        const int32_t[::1] labels, int64_t n_classes, weight, int n_threads,
        const uint8_t[::1] is_smoothed, double smoothing,
    ):
        cdef:
            int64_t n_columns = order.shape[0], n_rows = order.shape[1]
            int64_t width = MOST_SUMS // (n_columns * n_classes), c
        width = min(max(width, <int64_t>LEAST_BINS), <int64_t>MOST_BINS)
        self.n_threads = n_threads
        self.n_since = -1
        self.work.n_rows, self.work.n_columns = n_rows, n_columns
        self.work.n_classes = n_classes
        self.work.width = width
        self.work.n_blocks = 1 + (n_rows - 1) // BLOCK_ROWS
        # As many for each thread.
        self.work.n_groups = 1 + (n_columns - 1) // (GROUP_COLUMNS * n_threads)
        self.work.n_groups = min(self.work.n_groups * n_threads, n_columns)
        self._bin(order, n_distinct, n_missing, is_nominal, width)
        for c in range(n_columns):
            self.work.columns[c].values = &values[c, 0]
        self._allocate(labels, weight)
        self.arrays.append(values)
        self._start_levels(is_smoothed, smoothing)
        self.team = start_team(n_threads, NULL)

    def __dealloc__(self):
        cdef int i
        with nogil:
            stop_team(self.team)
        if self.work.level_search != NULL:
            for i in range(self.n_threads):
                free_level_search(&self.work.level_search[i])
            free(self.work.level_search)

    cdef _start_levels(self, const uint8_t[::1] is_smoothed, double smoothing):
        """Allocate for columns of many levels, and count their rows."""
        cdef:
            Work* work = &self.work
            Column* column
            int64_t c, i, place = 0, most = 0
            uint32_t code = 0
        for c in range(work.n_columns):
            if is_smoothed[c]:
                most = max(most, work.columns[c].n_bins + 1)
                place += work.columns[c].n_bins + 1
        if most == 0:
            return
        self.level_rows = np.zeros(place, dtype=np.int64)
        self.level_child = np.zeros(place, dtype=np.int8)
        place = 0
        for c in range(work.n_columns):
            if not is_smoothed[c]:
                continue
            column = work.columns + c
            column.level_rows = &self.level_rows[place]
            column.level_child = &self.level_child[place]
            place += column.n_bins + 1
            for i in range(work.n_rows):
                code = column.bins[i] if column.codes == NULL else column.codes[i]
                column.level_rows[code] += 1
        work.level_search = <LevelSearch*>calloc(self.n_threads, sizeof(LevelSearch))
        if work.level_search == NULL:
            raise MemoryError()
        for i in range(self.n_threads):
            if start_level_search(
                &work.level_search[i], work.n_classes, most, smoothing
            ) < 0:
                raise MemoryError()

    cdef _bin(
        self, const uint32_t[:, ::1] order, const int64_t[::1] n_distinct,
        const int64_t[::1] n_missing, const uint8_t[::1] is_nominal, int64_t width
    ):
        """Divide the columns into bins and number these."""
        cdef:
            int64_t n_columns = order.shape[0], n_rows = order.shape[1], c
            Binning binning
            # Those of wide columns stay 0.
            uint8_t[:, ::1] bins = np.zeros((n_columns, n_rows), dtype=np.uint8)
            uint8_t[:, ::1] row_bins = np.empty((n_rows, n_columns), dtype=np.uint8)
            uint8_t[::1] columns = np.zeros(n_columns * sizeof(Column), dtype=np.uint8)
            int64_t[:, ::1] start = np.zeros((n_columns, MOST_BINS + 1), dtype=np.int64)
            Column* column
        n_bins = np.asarray(n_distinct) + (np.asarray(n_missing) > 0)
        is_wide = (np.asarray(is_nominal) > 0) & (n_bins > width)
        cdef:
            int64_t[::1] wide = np.where(is_wide, np.cumsum(is_wide) - 1, -1)
            int64_t[::1] places = np.cumsum(np.where(is_wide, n_bins, 0))
            uint32_t[:, ::1] codes = np.empty(
                (max(is_wide.sum(), 1), n_rows), dtype=np.uint32
            )
        self.work.columns = <Column*>&columns[0]
        self.work.bins = &row_bins[0, 0]
        self.work.n_all_bins = width * n_columns + places[n_columns - 1]
        for c in range(n_columns):
            column = self.work.columns + c
            column.order = &order[c, 0]
            column.bins = &bins[c, 0]
            column.start = &start[c, 0]
            column.is_nominal = is_nominal[c] != 0
            column.has_missing = n_missing[c] > 0
            column.first = c * width
            column.codes = NULL
            if wide[c] >= 0:
                column.codes = &codes[wide[c], 0]
                column.first = width * n_columns + places[c] - n_bins[c]
        binning.columns = self.work.columns
        binning.bins, binning.row_bins = &bins[0, 0], &row_bins[0, 0]
        binning.codes = &codes[0, 0]
        binning.start, binning.wide_number = &start[0, 0], &wide[0]
        binning.n_missing, binning.n_distinct = &n_missing[0], &n_distinct[0]
        binning.n_rows, binning.n_columns = n_rows, n_columns
        binning.width = width
        run_in_threads(self.n_threads, bin_column, &binning, n_columns)
        run_in_threads(
            self.n_threads, turn_block, &binning, 1 + (n_rows - 1) // TURNED_ROWS
        )
        self.arrays = [order, bins, row_bins, columns, start, codes]

    cdef _allocate(self, const int32_t[::1] labels, weight):
        """Allocate the memory of the rounds."""
        cdef:
            Work* work = &self.work
            int64_t n_rows = work.n_rows, n_classes = work.n_classes
            uint32_t[::1] entry_row = np.zeros(
                work.n_blocks * BLOCK_ROWS + FETCH_AHEAD, dtype=np.uint32
            )
            double[::1] entry_weight = np.empty(work.n_blocks * BLOCK_ROWS + 1)
            double[::1] sums = np.zeros(work.n_all_bins * n_classes)
            double[::1] scratch = np.empty(2 * n_classes * self.n_threads)
            uint8_t[::1] stumps = np.zeros(
                work.n_columns * sizeof(Stump), dtype=np.uint8
            )
        self.weight = np.array(weight, dtype=np.float64)
        self.largest_weight = LARGEST_TOTAL
        self.totals, self.predicted = np.zeros(n_classes), np.zeros(N_ENDS, np.int32)
        self.block_totals = np.empty(work.n_blocks * n_classes)
        self.best_end = np.empty(work.n_columns)
        self.n_entries = np.zeros(work.n_blocks, dtype=np.int64)
        self.child_sums = np.empty(work.n_blocks * LANES * 2 * N_ENDS * n_classes)
        self.child_rows = np.empty(work.n_blocks * LANES * N_ENDS, np.int64)
        self.side = np.zeros(n_rows, dtype=np.uint8)
        self.labels = np.asarray(labels)
        self.arrays += [entry_row, entry_weight, sums, scratch, stumps]
        work.labels, work.weight = &labels[0], &self.weight[0]
        work.totals, work.predicted = &self.totals[0], &self.predicted[0]
        work.block_totals, work.best_end = &self.block_totals[0], &self.best_end[0]
        work.n_entries, work.side = &self.n_entries[0], &self.side[0]
        work.child_sums, work.child_rows = &self.child_sums[0], &self.child_rows[0]
        work.entry_row, work.entry_weight = &entry_row[0], &entry_weight[0]
        work.sums, work.scratch = &sums[0], &scratch[0]
        work.stumps = <Stump*>&stumps[0]
        work.learned, work.is_drawn = work.weight, False

    def copy_weights(self):
        """Copy the weights, which are not normalised.

        Returns
        -------
        weight : ndarray of float64, shape (n_rows,)
        """
        return np.array(self.weight)

    def mark_wrong(self):
        """Mark the rows that the last stump misclassified.

        Returns
        -------
        is_wrong : ndarray of bool, shape (n_rows,)
        """
        return np.asarray(self.predicted)[np.asarray(self.side)] != self.labels

    def find(
        self, double factor, const double[::1] drawn=None, double design_effect=0.0
    ):
        """Multiply the weights of the rows that the last stump misclassified, and find
        the best stump for the new ones.

        Parameters
        ----------
        factor : double
            At least 1.
        drawn : ndarray of float64, shape (n_rows,), default=None
            Weights to learn from in place of those of the rows, such as counts.
        design_effect : double, default=0.0
            That of the weights to learn from (see ``GrowthRules``), divided by their
            sum. Used only with smoothed columns.

        Returns
        -------
        found : dict
            ``column``, -1 for a leaf; ``threshold``, infinite where present values are
            parted from missing ones; ``missing_child``; ``level_child`` of a nominal
            column, by rank, -1 for a level without rows;
            by child ``weights`` of the classes and ``n_rows``; ``wrong`` and
            ``total``, weights of rows.
        """
        cdef:
            Work* work = &self.work
            ThreadTeam* team = self.team
            Stump best
            int64_t c
        work.design_effect = design_effect
        self._choose_factors(factor, drawn is not None)
        work.learned, work.is_drawn = work.weight, drawn is not None
        if drawn is not None:
            work.learned = &drawn[0]
        with nogil:
            run_tasks(team, reweigh_block, work, work.n_blocks)
            self._add_totals()
            run_tasks(team, update_group, work, work.n_groups)
            work.limit = -INFINITY
            for c in range(work.n_columns):
                work.limit = max(work.limit, work.best_end[c] - work.margin)
            run_tasks(team, refine_column, work, work.n_columns)
            c = self._choose(&best)
        found = self._start_division(c, &best)
        with nogil:
            run_tasks(team, divide_block, work, work.n_blocks)
        return self._describe(found, c)

    cdef _choose_factors(self, double factor, bint is_drawn):
        """Set how weights change, and whether sums are recomputed."""
        cdef:
            Work* work = &self.work
            bint is_large = factor > LARGEST_FACTOR
        self.n_since += 1
        work.is_rebuilt = (
            is_drawn or is_large or self.n_since % REBUILT_ROUNDS == 0
            or self.largest_weight >= LARGEST_TOTAL
        )
        work.right_factor, work.wrong_factor = 1.0, factor
        if work.is_rebuilt:
            self.n_since = 0
            work.right_factor = 1.0 / np.sum(self.weight)
            work.wrong_factor = factor * work.right_factor
            if is_large:
                work.wrong_factor = work.right_factor
                work.right_factor /= factor

    cdef void _add_totals(self) noexcept nogil:
        """Update the weights of the classes."""
        cdef int64_t block, k
        cdef double total = 0.0
        if self.work.is_rebuilt:
            memset(self.work.totals, 0, self.work.n_classes * sizeof(double))
        for block in range(self.work.n_blocks):
            for k in range(self.work.n_classes):
                self.work.totals[k] += self.work.block_totals[
                    block * self.work.n_classes + k
                ]
        for k in range(self.work.n_classes):
            total += self.work.totals[k]
        self.work.margin = MARGIN * total

    cdef int64_t _choose(self, Stump* best) noexcept nogil:
        """The best column, the first of equal ones; -1: none is better than a leaf."""
        cdef int64_t c, chosen = -1
        clear_stump(best)
        best.score = 0.0
        for c in range(self.work.n_classes):
            best.score = max(best.score, self.work.totals[c])
        for c in range(self.work.n_columns):
            if self.work.stumps[c].score > best.score + self.work.margin:
                best[0] = self.work.stumps[c]
                chosen = c
        return chosen

    cdef _start_division(self, int64_t c, Stump* best):
        """Find the child of every bin, and of each row in a divided bin."""
        cdef:
            Work* work = &self.work
            Column* column
            int64_t b, i
            int8_t[::1] child_of_bin
        work.column = NULL
        if c < 0:
            return {"column": -1}
        column = work.column = work.columns + c
        child_of_bin = np.zeros(column.n_bins + 1, dtype=np.int8)
        found = {"column": c, "children": child_of_bin, "missing_child": -1}
        work.child_of_bin = &child_of_bin[0]
        if column.level_child != NULL:
            for b in range(column.n_bins + column.has_missing):
                child_of_bin[b] = column.level_child[b]
                if child_of_bin[b] < 0:
                    child_of_bin[b] = UNSEEN if b < column.n_bins else UNKNOWN
            return found
        if column.is_nominal:
            self._divide_levels(best, child_of_bin)
            return found
        found["threshold"] = INFINITY
        if not best.is_alone:
            found["threshold"] = place_threshold(work, column, &best.position)
        for b in range(column.n_bins):
            if column.start[b] >= best.position:
                child_of_bin[b] = 1
            elif column.start[b + 1] > best.position:
                child_of_bin[b] = PARTED
                for i in range(column.start[b], column.start[b + 1]):
                    work.side[column.order[i] & ROW_MASK] = i >= best.position
        child_of_bin[column.n_bins] = (
            UNKNOWN if best.missing_child < 0 else best.missing_child
        )
        found["missing_child"] = best.missing_child
        return found

    cdef _divide_levels(self, Stump* best, int8_t[::1] child_of_bin):
        """Child 0 gets the levels with more weight of one of the classes."""
        cdef:
            Work* work = &self.work
            const double* low = (
                work.sums + best.low_class * work.n_all_bins + work.column.first
            )
            const double* high = (
                work.sums + best.high_class * work.n_all_bins + work.column.first
            )
            int64_t b, k, n_bins = work.column.n_bins + work.column.has_missing
            int8_t last = 1
            double heaviest
        for b in range(n_bins):
            child_of_bin[b] = not low[b] > high[b] + work.margin
            heaviest = 0.0
            for k in range(work.n_classes):
                heaviest = max(
                    heaviest,
                    work.sums[k * work.n_all_bins + work.column.first + b],
                )
            if heaviest > 0.0:
                last = child_of_bin[b]
            else:
                child_of_bin[b] = UNSEEN if b < work.column.n_bins else UNKNOWN
        if work.n_classes > 2 and last == 0:
            for b in range(n_bins):
                if child_of_bin[b] < UNSEEN:
                    child_of_bin[b] = 1 - child_of_bin[b]

    cdef _describe(self, found, int64_t c):
        """Sum the weights of the children."""
        cdef:
            Work* work = &self.work
            int64_t n_classes = work.n_classes
            int64_t end
        shape = (-1, 2, N_ENDS, n_classes)
        sums = np.asarray(self.child_sums).reshape(shape).sum(axis=0)
        n_rows = np.asarray(self.child_rows).reshape(-1, N_ENDS).sum(axis=0)
        weights, real = sums[0, :2], sums[int(work.is_drawn)]
        found.update(weights=weights, n_rows=n_rows[:2], total=real.sum())
        self.largest_weight = found["total"]
        predicted = [*weights.argmax(axis=1), weights.sum(axis=0).argmax(), 0]
        if c >= 0:
            self._finish(found, work.columns + c)
            predicted[UNKNOWN] = predicted[found["missing_child"]]
        for end in range(N_ENDS):
            self.predicted[end] = predicted[end]
        is_wrong = np.arange(n_classes) != np.array(predicted)[:, np.newaxis]
        found["wrong"] = real[is_wrong].sum()
        return found

    cdef _finish(self, found, const Column* column):
        """Return where levels and missing values go."""
        cdef int64_t n_bins = column.n_bins
        children = np.array(found.pop("children"), dtype=np.int32)
        found["level_child"] = None
        if column.is_nominal:
            found["level_child"] = np.where(children < UNSEEN, children, -1)[:n_bins]
            if column.has_missing and children[n_bins] < UNSEEN:
                found["missing_child"] = int(children[n_bins])
        if found["missing_child"] < 0:
            # As a tree does with unknown levels: to the child with more rows.
            found["missing_child"] = int(found["n_rows"][1] >= found["n_rows"][0])
