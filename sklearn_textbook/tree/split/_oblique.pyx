"""The best oblique test of a node: a weighted sum of columns and a threshold.

A direction is drawn at random or computed from the samples of the node. These are
projected on it, and the sums are searched like any numeric column, in order or in
histograms, so that thresholds along the direction are exact under every criterion. Sums
that differ by less than the rounding of their terms count as equal.

Directions are computed from standardized columns. A missing value counts as the mean of
its column in the node. The levels of a nominal column are replaced by the smoothed mean
of the response (target coding) in the node.

This file projects and keeps the best; the others are part of the same module, and named
after what they do.
"""

from libc.math cimport INFINITY, NAN, exp, fabs, isfinite, log, sqrt
from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from scipy.linalg.cython_lapack cimport dpotrf, dpotrs, dsyev, dtrtrs

from sklearn_textbook._contract._interrupt cimport has_stopped, must_stop
from sklearn_textbook._contract._wide_units cimport wide_void
from sklearn_textbook.tree.split._best cimport clear_split, take
from sklearn_textbook.tree.split._column cimport evaluate_column, midpoint
from sklearn_textbook.tree.split._criterion cimport add_row, goodness
from sklearn_textbook.tree.split._memory cimport (
    Memory,
    free_memory,
    take_doubles,
    take_memory,
)
from sklearn_textbook.tree.split._random cimport (
    child_state,
    next_random,
    random_below,
    random_unit,
)
from sklearn_textbook.tree.split._sort_keys cimport sort_by_digits
from sklearn_textbook.tree.split._sums cimport PREFETCH
from sklearn_textbook.tree.split._smoothing cimport added_weight, variance_within
from sklearn_textbook.tree.split._types cimport (
    NOMINAL_COLUMN,
    OBLIQUE_TEST,
    POISSON,
    Totals,
    row_of,
    smooths_levels,
)


cdef enum:
    MAX_USED = 256  # columns of a direction that is computed
    MAX_SEARCHED = 2000  # samples by which weights are searched one by one
    SEEN_SLOTS = 2048  # for up to twice as many different samples
    FEW_KEYS = 24  # that are sorted by insertion
    MAX_SHIFTS = 8  # of a key, on average, before the order is found otherwise
    BLOCK_SAMPLES = 64  # whose rows stay in the cache
    ROWS_AHEAD = 8  # that are prefetched
    MOST_FETCHED = 64  # values of a row
    MAX_SPARSE = 4  # terms that are added one after the other for all samples
    MAX_STEPS = 12  # of Newton's method
    MAX_SWEEPS = 8  # over the weights, in the coordinate search
    LASSO_SWEEPS = 100
    ROUNDED_UNITS = 16  # by which equal sums from a table may differ
    SORT_UNITS = 16  # of work that a sample takes which is sorted
    NODE_UNITS = 256  # that a direction takes, of however few samples
    ROWS_PER_CHECK = 256
    LANES = 4
    MEANS_AT_ONCE = 3

cdef double SMALLEST_SHARE = 1e-6  # of a weight, relative to the largest
cdef double SUM_ROUNDING = 1e-15  # of a sum, relative to the size of its terms
cdef double JITTER = 1e-10  # on the diagonal of a correlation matrix


# ---------------------------------------------------------------------------- buffers


cdef void start_direction(
    Direction* direction, int64_t n_terms, int64_t n_codes, int64_t n_rows,
    Memory* memory
) noexcept nogil:
    direction.column = <int32_t*>take_memory(memory, n_terms, sizeof(int32_t))
    direction.weight = take_doubles(memory, n_terms)
    direction.fill = take_doubles(memory, n_terms)
    direction.share = take_doubles(memory, n_terms)
    direction.code_start = <int64_t*>take_memory(memory, n_terms, sizeof(int64_t))
    direction.codes = take_doubles(memory, n_codes + 1)
    direction.z = take_doubles(memory, n_rows + 1)


cdef int start_oblique(
    const Problem* problem, ObliqueSearch* search, int64_t n_rows
) noexcept nogil:
    """Allocate for trees of up to n_rows samples, after the rules and the table have
    been set. Returns -1 without memory."""
    cdef:
        int64_t p = problem.n_columns, n_classes = problem.n_statistics
        int64_t k = min(p, <int64_t>MAX_USED) + 1, levels = problem.max_levels + 1
        int64_t i
        Memory* memory = &search.memory
    search.row = <uint32_t*>take_memory(memory, n_rows + 1, sizeof(uint32_t))
    search.response = take_doubles(memory, n_rows + 1)
    search.along = take_doubles(memory, n_rows + 1)
    search.group_of_class = <int32_t*>take_memory(
        memory, n_classes + 1, sizeof(int32_t)
    )
    search.order = <int32_t*>take_memory(memory, p, sizeof(int32_t))
    search.used = <int32_t*>take_memory(memory, p, sizeof(int32_t))
    search.scale = take_doubles(memory, p)
    search.mean = take_doubles(memory, p)
    search.deviation = take_doubles(memory, p)
    search.relation = take_doubles(memory, p)
    search.totals = take_doubles(memory, p)
    search.line = take_doubles(memory, p)
    search.level_weight = take_doubles(memory, levels)
    search.level_sum = take_doubles(memory, levels)
    search.level_code = take_doubles(memory, search.n_codes + 1)
    search.seen = <uint64_t*>take_memory(memory, SEEN_SLOTS, sizeof(uint64_t))
    search.n_work = 64 * k
    # Others need what those before them were computed with.
    search.n_trials = 1
    if search.kind == RANDOM_DIRECTION:
        search.n_trials = min(search.n_directions, <int64_t>MAX_TRIALS)
    search.trial = &search.trials[0]
    for i in range(p):
        search.any_missing = search.any_missing or problem.has_missing[i]
    search.gram = take_doubles(memory, k * k)
    search.system = take_doubles(memory, k * k)
    search.within = take_doubles(memory, k * k)
    search.target = take_doubles(memory, k)
    search.solution = take_doubles(memory, k)
    search.step = take_doubles(memory, 2 * k)
    search.work = take_doubles(memory, search.n_work)
    search.centres = take_doubles(memory, (n_classes + 1) * k)
    search.class_weight = take_doubles(memory, n_classes + 1)
    start_some(problem, search)
    start_direction(&search.best, p, search.n_codes, n_rows, memory)
    for i in range(search.n_trials):
        start_direction(&search.trials[i], p, search.n_codes, n_rows, memory)
    return -1 if memory.is_short else 0


cdef void free_oblique(ObliqueSearch* search) noexcept nogil:
    free_memory(&search.memory)
    free_memory(&search.cell_memory)
    memset(search, 0, sizeof(ObliqueSearch))


include "_project.pxi"


cdef double sum_rounding(
    const ObliqueSearch* search, const Direction* direction
) noexcept nogil:
    """The rounding of sums along a direction."""
    cdef:
        double total = 0.0, largest, code
        int64_t t, level, column
    for t in range(direction.n_terms):
        column = direction.column[t]
        if direction.code_start[t] < 0:
            total += fabs(direction.weight[t]) * search.size[column]
            continue
        largest = fabs(direction.fill[t])
        for level in range(search.problem.n_levels[column]):
            code = fabs(direction.codes[direction.code_start[t] + level])
            largest = code if code > largest else largest
        total += largest
    return SUM_ROUNDING * <double>(direction.n_terms + 1) * total


include "_sort_sums.pxi"
include "_code_sums.pxi"


# -------------------------------------------------------------------- best direction


cdef void keep_direction(ObliqueSearch* search, double threshold) noexcept nogil:
    """Keep the direction on trial, which is better than the best one."""
    cdef Direction kept = search.best
    search.best = search.trial[0]
    search.best.threshold = threshold
    search.trial[0] = kept


cdef bint try_sorted_sums(ObliqueSearch* search) noexcept nogil:
    """Search the thresholds along the direction on trial in order; keep it if it is
    better."""
    cdef:
        const double* z = search.trial.z
        uint64_t* keys = search.keys
        int64_t position
    if not sort_values(z, search.n, keys, search.spare):
        return False
    rank_sums(search, z, search.rounding)
    search.split.improved = False
    if search.counts_entropy:
        scan_counts(search)
    else:
        evaluate_column(
            search.problem, search.rows, search.scratch, keys, NULL, search.view,
            search.problem.n_columns, &search.split
        )
    if not search.split.improved:
        return False
    position = search.split.position
    keep_direction(
        search, midpoint(z[row_of(keys[position - 1])], z[row_of(keys[position])])
    )
    return True


cdef void add_term(
    const ObliqueSearch* search, Direction* direction, int32_t column, double weight,
    double mean, double share, const double* codes
) noexcept nogil:
    """Add a column to a direction, in descending order of shares."""
    cdef:
        int64_t t = direction.n_terms, level, start = search.level_start[column]
        bint is_nominal = search.problem.kind[column] == NOMINAL_COLUMN
    if not (isfinite(weight) and isfinite(weight * mean)) or weight == 0.0:
        return
    while t > 0 and direction.share[t - 1] < share:
        direction.column[t] = direction.column[t - 1]
        direction.weight[t] = direction.weight[t - 1]
        direction.fill[t] = direction.fill[t - 1]
        direction.share[t] = direction.share[t - 1]
        direction.code_start[t] = direction.code_start[t - 1]
        t -= 1
    direction.column[t] = column
    direction.weight[t] = 1.0 if is_nominal else weight
    direction.fill[t] = weight * mean
    direction.share[t] = share
    direction.code_start[t] = start if is_nominal else -1
    if is_nominal:
        for level in range(search.problem.n_levels[column]):
            direction.codes[start + level] = weight * codes[level]
    direction.n_terms += 1


cdef void finish_direction(Direction* direction) noexcept nogil:
    """Divide the shares by their sum."""
    cdef:
        int64_t t
        double total = 0.0
    for t in range(direction.n_terms):
        total += direction.share[t]
    for t in range(direction.n_terms):
        direction.share[t] /= total


include "_some_samples.pxi"
include "_count_entropy.pxi"
include "_standardize.pxi"
include "_random_direction.pxi"
include "_logistic_direction.pxi"
include "_direction.pxi"
include "_coordinate_search.pxi"


cdef bint is_worth_it(
    const ObliqueSearch* search, const Split* axis
) noexcept nogil:
    """Whether the oblique test is better than the best test of one column."""
    if search.split.column < 0:
        return False
    if axis.column < 0:
        return True
    return search.split.score > search.view.margin + axis.score * (
        1.0 + search.column_penalty * <double>(search.best.n_terms - 1)
    )


cdef void begin_oblique(
    const Problem* problem, const Rows* rows, Scratch* scratch, const NodeView* view,
    int64_t n, bint is_root, ObliqueSearch* search
) noexcept nogil:
    """Turn to a node, whose samples are in ``search.row``."""
    search.problem = problem
    search.rows = rows
    search.scratch = scratch
    search.view = view
    search.n = n
    # No child and no column has this number, whose draws begin like this.
    search.random_state = child_state(view.random_state, <int64_t>1 << 41)
    if is_root and search.kind == RANDOM_DIRECTION:
        measure_scales(search)
    clear_split(&search.split)
    search.split.n_children = 2


cdef int make_directions(
    ObliqueSearch* search, const Split* axis, int64_t n_made
) noexcept nogil:
    """Make some more directions, and the sums along them. Returns how many, or -1
    without memory, or if a signal was received."""
    cdef:
        int64_t n = min(search.n_directions - n_made, search.n_trials), i
    if must_stop(
        search.problem.interrupt, n * (NODE_UNITS + search.n * search.problem.n_columns)
    ):
        return -1
    for i in range(n):
        search.trial = &search.trials[i]
        if search.kind == RANDOM_DIRECTION:
            make_random(search)
        elif compute_direction(search, axis, n_made) < 0:
            return -1
    if has_stopped(search.problem.interrupt):
        return -1
    project(search, n)
    return <int>n


cdef bint turn_to_direction(ObliqueSearch* search, int64_t i) noexcept nogil:
    """Put one of the directions that were made on trial; whether it has any terms."""
    search.trial = &search.trials[i]
    search.rounding = sum_rounding(search, search.trial)
    return search.trial.n_terms > 0


cdef bint finish_oblique(ObliqueSearch* search, const Split* axis) noexcept nogil:
    """Complete the best oblique test; whether there is one that is better than the best
    test of one column."""
    if not is_worth_it(search, axis):
        return False
    if search.kind == RANDOM_DIRECTION:
        fill_means(search, &search.best, False)
    search.split.column = search.best.column[0]
    search.split.threshold = search.best.threshold
    search.split.kind = OBLIQUE_TEST
    return True
