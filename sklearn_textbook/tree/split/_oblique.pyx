"""The best oblique test of a node: a weighted sum of columns and a threshold.

A direction is drawn at random or computed from the samples of the node. These are
projected on it, and the sums are searched like any numeric column, in order or in
histograms, so that thresholds along the direction are exact under every criterion. Sums
that differ by less than the rounding of their terms count as equal.

Directions are computed from standardized columns. A missing value counts as the mean of
its column in the node. The levels of a nominal column are replaced by the smoothed mean
of the response (target coding) in the node.

The work at a node: ``begin_oblique`` turns to it, ``make_directions`` makes some
directions and the sums of the samples along them, and for each of these the caller
searches the thresholds and keeps the direction if it is better; ``finish_oblique``
compares the best one with the best test of one column.

Values are divided by the ``size`` of their column, a power of two above all of them, so
that squares do not overflow. Matrices are k x k for the k columns in use, row by row;
as they are symmetric, LAPACK may read them column by column.
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

cdef double SMALLEST_FRACTION = 1e-6  # of a weight, relative to the largest
cdef double SUM_ROUNDING = 1e-15  # of a sum, relative to the size of its terms
cdef double JITTER = 1e-10  # on the diagonal of a correlation matrix


# ---------------------------------------------------------------------------- buffers


cdef void start_direction(
    Direction* direction, int64_t n_terms, int64_t n_codes, int64_t n_rows,
    Memory* memory
) noexcept nogil:
    """Allocate a direction of so many terms, codes of levels, and sums of rows."""
    direction.column = <int32_t*>take_memory(memory, n_terms, sizeof(int32_t))
    direction.weight = take_doubles(memory, n_terms)
    direction.fill = take_doubles(memory, n_terms)
    direction.fraction = take_doubles(memory, n_terms)
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
    memory.in_files = problem.in_files
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
    """Free all memory; the struct is all zeros then."""
    free_memory(&search.memory)
    free_memory(&search.cell_memory)
    memset(search, 0, sizeof(ObliqueSearch))


# ------------------------------------------------------------------------------------
# Sums of samples along directions.
# ------------------------------------------------------------------------------------


cdef inline double cell_of(
    const ObliqueSearch* search, int64_t i, int64_t column
) noexcept nogil:
    """The value, or level, of a sample of the node."""
    return search.values[<int64_t>search.row[i] * search.problem.n_columns + column]


cdef void add_term_values(
    const ObliqueSearch* search, const Direction* direction, int64_t t, int64_t first,
    int64_t stop
) noexcept nogil:
    """Add a term to the sums of some samples."""
    cdef:
        double* z = direction.z
        const double* codes
        double weight = direction.weight[t], fill = direction.fill[t], value
        int64_t i, column = direction.column[t], p = search.problem.n_columns
        const double* values = search.values + column
        const uint32_t* row = search.row
    # A value that differs from itself is NaN, for missing.
    if direction.code_start[t] < 0:
        for i in range(first, stop):
            value = values[row[i] * p]
            z[i] += weight * value if value == value else fill
        return
    codes = direction.codes + direction.code_start[t]
    for i in range(first, stop):
        value = values[row[i] * p]
        z[i] += codes[<int64_t>value] if value == value else fill


cdef inline void fetch_row(const ObliqueSearch* search, int64_t i) noexcept nogil:
    """Begin to fetch the values of a sample that will be read soon."""
    cdef:
        int64_t p = search.problem.n_columns, j = 0
        const double* x
    i += ROWS_AHEAD
    if i >= search.n:
        return
    x = search.values + search.row[i] * p
    while j < min(p, <int64_t>MOST_FETCHED):
        PREFETCH(x + j)
        j += 8


cdef void add_dense(
    const ObliqueSearch* search, const Direction* direction, int64_t first, int64_t stop
) noexcept nogil:
    """The same sums of many numeric columns, row by row."""
    cdef:
        const double* weight = direction.weight
        const double* fill = direction.fill
        const int32_t* column = direction.column
        const double* x
        double total
        int64_t i, t, p = search.problem.n_columns, n_terms = direction.n_terms
    for i in range(first, stop):
        fetch_row(search, i)
        x = search.values + search.row[i] * p
        total = 0.0
        # The test for missing values is left out where no column has any.
        if search.any_missing:
            for t in range(n_terms):
                total += (
                    weight[t] * x[column[t]] if x[column[t]] == x[column[t]]
                    else fill[t]
                )
        else:
            for t in range(n_terms):
                total += weight[t] * x[column[t]]
        direction.z[i] = total


cdef void project(const ObliqueSearch* search, int64_t n_trials) noexcept nogil:
    """Sum up the terms of the directions that were made, one after the other, as
    predictions do; for some samples at a time, as their rows then stay in the cache."""
    cdef:
        const Direction* direction
        int64_t first = 0, stop, i, t
    while first < search.n:
        stop = min(first + BLOCK_SAMPLES, search.n)
        for i in range(n_trials):
            direction = &search.trials[i]
            # Both ways add the terms of a sample in the same order, so the sums are
            # equal to the last bit.
            if direction.n_terms > MAX_SPARSE and not search.problem.any_nominal:
                add_dense(search, direction, first, stop)
                continue
            memset(direction.z + first, 0, (stop - first) * sizeof(double))
            for t in range(direction.n_terms):
                add_term_values(search, direction, t, first, stop)
        first = stop


cdef double sum_rounding(
    const ObliqueSearch* search, const Direction* direction
) noexcept nogil:
    """The rounding of sums along a direction."""
    cdef:
        double total = 0.0, largest, code
        int64_t t, level, column
    # The largest absolute value of every term.
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


# ------------------------------------------------------------------------------------
# Sums along a direction in ascending order.
# ------------------------------------------------------------------------------------


cdef inline bint is_before(const double* z, uint64_t a, uint64_t b) noexcept nogil:
    """Whether key a belongs before key b; equal values in the order of samples."""
    cdef double first = z[row_of(a)], second = z[row_of(b)]
    return first < second or (first == second and row_of(a) < row_of(b))


cdef void sift_down(
    const double* z, uint64_t* keys, int64_t place, int64_t n
) noexcept nogil:
    """Restore the order of a heap, the largest key on top, below a place."""
    cdef:
        uint64_t key = keys[place]
        int64_t child = 2 * place + 1
    while child < n:
        if child + 1 < n and is_before(z, keys[child], keys[child + 1]):
            child += 1
        if not is_before(z, key, keys[child]):
            break
        keys[place] = keys[child]
        place = child
        child = 2 * place + 1
    keys[place] = key


cdef void sort_by_heap(const double* z, uint64_t* keys, int64_t n) noexcept nogil:
    """Sort values of any distribution."""
    cdef int64_t i
    for i in range(n // 2 - 1, -1, -1):
        sift_down(z, keys, i, n)
    for i in range(n - 1, 0, -1):
        keys[0], keys[i] = keys[i], keys[0]
        sift_down(z, keys, 0, i)


cdef bint sort_nearly_ordered(
    const double* z, uint64_t* keys, int64_t n
) noexcept nogil:
    """Sort keys that are nearly in order; whether they were."""
    cdef:
        int64_t i, j, n_left = MAX_SHIFTS * n + FEW_KEYS * FEW_KEYS
        uint64_t key
        double value
    for i in range(1, n):
        key = keys[i]
        value = z[row_of(key)]
        j = i
        while j > 0 and z[row_of(keys[j - 1])] > value:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
        # Insertion takes one move for each pair out of order: given up after MAX_SHIFTS
        # per key, with the keys in some order.
        n_left -= i - j
        if n_left < 0:
            return False
    return True


cdef bint sort_values(
    const double* z, int64_t n, uint64_t* keys, uint64_t* spare
) noexcept nogil:
    """Sort the samples by their values: numbers of samples, shifted by 1, as in the
    entries of a sorted column. False if the values are all equal or not finite."""
    cdef:
        int64_t i
        double low = INFINITY, high = -INFINITY, factor
        # Of the 256^n_digits buckets each has four keys or fewer on average.
        int n_digits = 1 if n <= 256 else 2 if n <= 262144 else 3
    for i in range(n):
        low = z[i] if z[i] < low else low
        high = z[i] if z[i] > high else high
    if not low < high or not isfinite(high - low):
        return False
    # Radix sort by the leading digits of the place in the range, then insertion.
    factor = <double>(<int64_t>1 << (8 * n_digits)) * (1.0 - 1e-9) / (high - low)
    if n <= FEW_KEYS or not isfinite(factor):
        for i in range(n):
            keys[i] = <uint64_t>i << 1
    else:
        for i in range(n):
            keys[i] = (
                <uint64_t><uint32_t>((z[i] - low) * factor) << 32 | <uint64_t>i << 1
            )
        sort_by_digits(keys, n, spare, 32, (1 << (8 * n_digits)) - 1)
    if not sort_nearly_ordered(z, keys, n):
        sort_by_heap(z, keys, n)
    return True


cdef void rank_sums(
    const ObliqueSearch* search, const double* z, double rounding
) noexcept nogil:
    """Make entries of a sorted column of the sorted keys: ranks, which are equal if
    values are equal up to rounding, and the second of two classes."""
    cdef:
        const Problem* problem = search.problem
        const int32_t* label = NULL
        uint64_t* keys = search.keys
        int64_t i, place
        uint64_t rank = 0
        double value, last = z[row_of(keys[0])]
    if problem.is_classifier and problem.n_outputs == 1 and problem.n_statistics == 2:
        label = search.rows.label
    for i in range(search.n):
        place = row_of(keys[i])
        value = z[place]
        # Neighbours are compared: a run of values, each equal to the next up to
        # rounding, has one rank.
        rank += value - last > rounding
        last = value
        keys[i] = rank << 32 | <uint64_t>place << 1
        if label != NULL:
            keys[i] |= <uint64_t>label[place]


# ------------------------------------------------------------------------------------
# Codes of the sums along a direction, by which samples are counted in bins.
# ------------------------------------------------------------------------------------


cdef bint find_finite_range(
    const double* z, int64_t n, double* lowest, double* highest
) noexcept nogil:
    """Whether the values differ, and lie within a finite range."""
    cdef:
        double[LANES] low
        double[LANES] high
        int64_t i, lane, n_whole = n // LANES * LANES
    for lane in range(LANES):
        low[lane] = high[lane] = z[0]
    i = 0
    while i < n_whole:
        for lane in range(LANES):
            low[lane] = z[i + lane] if z[i + lane] < low[lane] else low[lane]
            high[lane] = z[i + lane] if z[i + lane] > high[lane] else high[lane]
        i += LANES
    for i in range(n_whole, n):
        low[0] = z[i] if z[i] < low[0] else low[0]
        high[0] = z[i] if z[i] > high[0] else high[0]
    for lane in range(1, LANES):
        low[0] = low[lane] if low[lane] < low[0] else low[0]
        high[0] = high[lane] if high[lane] > high[0] else high[0]
    lowest[0] = low[0]
    highest[0] = high[0]
    return low[0] < high[0] and isfinite(high[0] - low[0])


cdef wide_void code_values(
    const double* z, int64_t n, double low, double factor, uint32_t mask,
    uint32_t* codes, bint* is_unsafe
) noexcept nogil:
    """Codes that rise with the values; unsafe if some lie next to each other on both
    sides of the end of a bin, where they may be equal but for rounding."""
    cdef:
        int64_t i
        int32_t code, any_last = 0, any_first = 0, inside = <int32_t>mask
    for i in range(n):
        code = <int32_t>((z[i] - low) * factor)
        codes[i] = <uint32_t>code
        # Stricter than needed: any code at the end of a bin together with any at the
        # beginning of a later one, adjacent or not. So the loop has no branches.
        any_last |= (code & inside) == inside
        any_first |= ((code & inside) == 0) & (code != 0)
    is_unsafe[0] = any_last and any_first


cdef bint code_sums(
    ObliqueSearch* search, int32_t shift, uint32_t* codes
) noexcept nogil:
    """Codes below 2^SUM_CODE_BITS of the sums along the direction on trial, for bins of
    2^shift codes. False if the sums are all equal or not finite, or have to be sorted
    because the end of a bin may come between equal ones."""
    cdef:
        double low, high, factor
        bint is_unsafe
    if not find_finite_range(search.trial.z, search.n, &low, &high):
        return False
    factor = <double>(<int64_t>1 << SUM_CODE_BITS) * (1.0 - 1e-9) / (high - low)
    # Values equal up to rounding have codes that differ by 1 at most, and the ranks of
    # a bin's samples fit into the codes of the bin.
    if not isfinite(factor) or not search.rounding * factor < 0.5 or (
        search.n >= <int64_t>1 << shift
    ):
        return False
    code_values(
        search.trial.z, search.n, low, factor, (<uint32_t>1 << shift) - 1, codes,
        &is_unsafe
    )
    return not is_unsafe


cdef void order_run(const double* z, uint64_t* keys, int64_t n) noexcept nogil:
    """Sort keys of equal codes by their values."""
    cdef:
        uint64_t code = keys[0] >> 32 << 32
        int64_t i
    # As ``sort_values`` has them: places shifted by 1.
    for i in range(n):
        keys[i] = (keys[i] & <uint64_t>0xFFFFFFFF) << 1
    if not sort_nearly_ordered(z, keys, n):
        sort_by_heap(z, keys, n)
    for i in range(n):
        keys[i] = code | row_of(keys[i])


cdef void rank_codes(
    const double* z, double rounding, int32_t shift, uint64_t* keys, int64_t n
) noexcept nogil:
    """Replace the codes of sorted keys, above the places of the samples, by others that
    are equal if the values are equal up to rounding; the bins stay."""
    cdef:
        int64_t i, first = 0
        uint64_t code = 0
        double value, last = 0.0
    # Within equal codes, by the values.
    for i in range(1, n + 1):
        if i == n or (keys[i] ^ keys[first]) >> 32 != 0:
            if i - first > 1:
                order_run(z, keys + first, i - first)
            first = i
    for i in range(n):
        value = z[<uint32_t>keys[i]]
        # Codes count up from the first code of each bin, so that every sample stays in
        # it.
        if i == 0 or keys[i] >> 32 >> shift != code >> shift:
            code = keys[i] >> 32 >> shift << shift
        else:
            code += value - last > rounding
        last = value
        keys[i] = code << 32 | <uint32_t>keys[i]


# -------------------------------------------------------------------- best direction


cdef void keep_direction(ObliqueSearch* search, double threshold) noexcept nogil:
    """Keep the direction on trial, which is better than the best one."""
    cdef Direction kept = search.best
    # Its memory is exchanged for that of the best one, which is not needed any more.
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
    # Unless the entropy is counted, the direction was searched as the column behind the
    # last one, which is numeric and has no missing values.
    position = search.split.position
    keep_direction(
        search, midpoint(z[row_of(keys[position - 1])], z[row_of(keys[position])])
    )
    return True


cdef void add_term(
    const ObliqueSearch* search, Direction* direction, int32_t column, double weight,
    double mean, double fraction, const double* codes
) noexcept nogil:
    """Add a column to a direction, in descending order of fractions."""
    cdef:
        int64_t t = direction.n_terms, level, start = search.level_start[column]
        bint is_nominal = search.problem.kind[column] == NOMINAL_COLUMN
    if not (isfinite(weight) and isfinite(weight * mean)) or weight == 0.0:
        return
    # By insertion; equal fractions in the order of the columns.
    while t > 0 and direction.fraction[t - 1] < fraction:
        direction.column[t] = direction.column[t - 1]
        direction.weight[t] = direction.weight[t - 1]
        direction.fill[t] = direction.fill[t - 1]
        direction.fraction[t] = direction.fraction[t - 1]
        direction.code_start[t] = direction.code_start[t - 1]
        t -= 1
    direction.column[t] = column
    direction.weight[t] = 1.0 if is_nominal else weight
    direction.fill[t] = weight * mean
    direction.fraction[t] = fraction
    direction.code_start[t] = start if is_nominal else -1
    if is_nominal:
        for level in range(search.problem.n_levels[column]):
            direction.codes[start + level] = weight * codes[level]
    direction.n_terms += 1


cdef void finish_direction(Direction* direction) noexcept nogil:
    """Divide the fractions by their sum."""
    cdef:
        int64_t t
        double total = 0.0
    for t in range(direction.n_terms):
        total += direction.fraction[t]
    for t in range(direction.n_terms):
        direction.fraction[t] /= total


# ------------------------------------------------------------------------------------
# Some samples of a large node, by which weights are searched.
# ------------------------------------------------------------------------------------


cdef void start_some(const Problem* problem, ObliqueSearch* search) noexcept nogil:
    """Allocate for the samples that are taken."""
    cdef:
        int64_t n = MAX_SEARCHED, n_values = n * problem.n_outputs
        SomeSamples* some = &search.some
        Memory* memory = &search.memory
    some.row = <uint32_t*>take_memory(memory, n, sizeof(uint32_t))
    some.response = take_doubles(memory, n)
    some.rows.label = <const int32_t*>take_memory(memory, n_values, sizeof(int32_t))
    some.rows.y = take_doubles(memory, n_values)
    some.rows.weight = take_doubles(memory, n)
    some.sums = take_doubles(memory, 2 * problem.n_statistics)


cdef void swap_samples(ObliqueSearch* search) noexcept nogil:
    """Exchange the samples at work for those that are set aside."""
    cdef SomeSamples* some = &search.some
    search.n, some.n = some.n, search.n
    search.row, some.row = some.row, search.row
    search.response, some.response = some.response, search.response
    search.rows, some.rows_aside = some.rows_aside, search.rows
    search.view, some.view_aside = some.view_aside, search.view


cdef void total_some(ObliqueSearch* search) noexcept nogil:
    """The totals of the samples that were taken."""
    cdef:
        const Problem* problem = search.problem
        SomeSamples* some = &search.some
        Totals* totals = &some.view.totals
        const double* zeros = search.scratch.zeros
        double* centre = some.sums + problem.n_statistics
        int64_t i, k, n_outputs = problem.n_outputs
        double difference
    memset(some.sums, 0, 2 * problem.n_statistics * sizeof(double))
    totals.rows = some.n
    totals.weight = totals.squares = 0.0
    for i in range(some.n):
        totals.weight += some.rows.weight[i]
        add_row(problem, &some.rows, i, some.rows.weight[i], zeros, some.sums)
    totals.sums = some.sums
    totals.centre = zeros
    # Values are counted from their mean, about which the sums are 0.
    if not problem.is_classifier and problem.criterion != POISSON:
        for k in range(n_outputs):
            centre[k] = some.sums[k] / totals.weight
            some.sums[k] = 0.0
        totals.centre = centre
        for i in range(some.n):
            for k in range(n_outputs):
                difference = some.rows.y[i * n_outputs + k] - centre[k]
                totals.squares += some.rows.weight[i] * difference * difference
    totals.goodness = goodness(problem, totals.sums, totals.weight)


cdef void take_some(ObliqueSearch* search) noexcept nogil:
    """Put samples of a large node to work, evenly spaced in their order; the response
    and the codes of the levels are those of the whole node."""
    cdef:
        const Problem* problem = search.problem
        SomeSamples* some = &search.some
        int32_t* label = <int32_t*>some.rows.label
        double* y = <double*>some.rows.y
        double* weight = <double*>some.rows.weight
        int64_t i, j, k, n_outputs = problem.n_outputs
    some.n = MAX_SEARCHED
    for j in range(some.n):
        i = j * search.n // some.n
        some.row[j] = search.row[i]
        some.response[j] = search.response[i]
        weight[j] = search.rows.weight[i]
        for k in range(n_outputs):
            if problem.is_classifier:
                label[j * n_outputs + k] = search.rows.label[i * n_outputs + k]
            else:
                y[j * n_outputs + k] = search.rows.y[i * n_outputs + k]
    # Bounds and margin are those of the node, the totals are not.
    some.view = search.view[0]
    total_some(search)
    some.rows_aside = &some.rows
    some.view_aside = &some.view
    swap_samples(search)


# ------------------------------------------------------------------------------------
# Thresholds along a direction under the entropy, for whole weights of classes: sums of
# c log2 c come from a table of integers.
# ------------------------------------------------------------------------------------


cdef inline int64_t move_count(
    const int64_t* table, int64_t* counts, int64_t label, int64_t change
) noexcept nogil:
    """Change the count of a class; returns by how much the sum of c log2 c grows."""
    cdef int64_t before = table[counts[label]]
    counts[label] += change
    return table[counts[label]] - before


cdef void scan_counts(ObliqueSearch* search) noexcept nogil:
    """Replace the best split if a threshold of the sorted entries is better."""
    cdef:
        const Problem* problem = search.problem
        const int64_t* table = problem.entropy_table
        const uint64_t* keys = search.keys
        const int32_t* label = search.rows.label
        const double* weight = search.rows.weight
        int64_t* left = search.scratch.left_count
        int64_t* right = search.scratch.right_count
        int64_t n_classes = problem.n_statistics, i, c, w
        int64_t n_left = 0, n_right = <int64_t>search.view.totals.weight
        int64_t left_sum = 0, right_sum = 0, sums
        int64_t least = problem.min_samples_leaf, best = INT64_MIN // 4
        int64_t whole = table[n_right], margin
        double score
    for c in range(n_classes):
        left[c] = 0
        right[c] = <int64_t>search.view.totals.sums[c]
        right_sum += table[right[c]]
        whole -= table[right[c]]
    # Units by which sums of table entries may differ though they are equal.
    margin = ROUNDED_UNITS + 2 * n_classes + (
        <int64_t>(search.view.margin / problem.entropy_unit)
    )
    if search.split.column >= 0:
        # The best score so far as a sum like those below.
        best = <int64_t>(search.split.score / problem.entropy_unit) - whole + margin
    # Sample i moves to the left; then the threshold is above it.
    for i in range(search.n - least):
        c = label[row_of(keys[i])]
        w = <int64_t>weight[row_of(keys[i])]
        left_sum += move_count(table, left, c, w)
        right_sum += move_count(table, right, c, -w)
        n_left += w
        n_right -= w
        if i + 1 < least or (keys[i + 1] ^ keys[i]) >> 32 == 0:
            continue
        sums = left_sum - table[n_left] + right_sum - table[n_right]
        if sums > best:
            best = sums + margin
            score = <double>(sums + whole) * problem.entropy_unit
            take(&search.split, score, i + 1, -1)


# ------------------------------------------------------------------------------------
# The response of a node, and its columns in standard units.
# ------------------------------------------------------------------------------------


# --------------------------------------------------------------------------- response


cdef int64_t pick_output(const ObliqueSearch* search) noexcept nogil:
    """The output with the largest impurity: Gini or variance."""
    cdef:
        const Problem* problem = search.problem
        const double* sums = search.view.totals.sums
        int64_t output, k, i, picked = 0, n_outputs = problem.n_outputs
        double impurity, largest = -1.0, mean, weight = search.view.totals.weight
    if n_outputs == 1:
        return 0
    for output in range(n_outputs):
        impurity = 0.0
        # 1 - sum p^2.
        if problem.is_classifier:
            impurity = 1.0
            for k in range(
                problem.output_start[output], problem.output_start[output + 1]
            ):
                impurity -= (sums[k] / weight) * (sums[k] / weight)
        else:
            # The view has the squares of all outputs together, so y is read again.
            mean = 0.0
            for i in range(search.n):
                mean += search.rows.weight[i] * search.rows.y[i * n_outputs + output]
            mean /= weight
            for i in range(search.n):
                impurity += search.rows.weight[i] * (
                    (search.rows.y[i * n_outputs + output] - mean)
                    * (search.rows.y[i * n_outputs + output] - mean)
                )
            impurity /= weight
        if impurity > largest:
            largest = impurity
            picked = output
    return picked


cdef void set_response(ObliqueSearch* search, int64_t output) noexcept nogil:
    """The group of the class of each sample, 0 or 1; or its value."""
    cdef:
        const Problem* problem = search.problem
        int64_t i, place
        double total = 0.0
    for i in range(search.n):
        place = i * problem.n_outputs + output
        if problem.is_classifier:
            search.response[i] = <double>search.group_of_class[search.rows.label[place]]
        else:
            search.response[i] = search.rows.y[place]
        total += search.rows.weight[i] * search.response[i]
    search.mean_response = total / search.view.totals.weight


cdef void group_largest(ObliqueSearch* search, int64_t output) noexcept nogil:
    """The largest class against the others; of two classes, the second one."""
    cdef:
        const Problem* problem = search.problem
        int64_t start = problem.output_start[output], c, largest = 1
        int64_t n_classes = problem.output_start[output + 1] - start
        const double* weights = search.view.totals.sums + start
    if n_classes != 2:
        largest = 0
        for c in range(n_classes):
            if weights[c] > weights[largest]:
                largest = c
    for c in range(n_classes):
        search.group_of_class[c] = c == largest


cdef void group_at_random(
    ObliqueSearch* search, int64_t output, uint64_t* state
) noexcept nogil:
    """Two groups of classes for the codes of levels; of two classes, one each. A number
    is drawn for every class in any case."""
    cdef:
        const Problem* problem = search.problem
        int64_t c
        int64_t n_classes = problem.output_start[output + 1] - (
            problem.output_start[output]
        )
    for c in range(n_classes):
        search.group_of_class[c] = <int32_t>(next_random(state) >> 63)
    if n_classes == 2:
        search.group_of_class[0] = 0
        search.group_of_class[1] = 1


cdef double weigh_mean(
    const ObliqueSearch* search, int32_t column, double squared_response
) noexcept nogil:
    """The weight of the mean of the node that is added to each level of a column of
    many levels, as in _column.pyx; below 0 if less than half of the squares between
    the levels is to be expected on other rows. The levels are summed up already."""
    cdef:
        const Problem* problem = search.problem
        int64_t level, n_levels = 0
        double weight, difference, added, total = 0.0, squares = 0.0, between = 0.0
        double expected = 0.0, variance
    # Squares between the levels, and of their weights.
    for level in range(problem.n_levels[column]):
        weight = search.level_weight[level]
        if weight <= 0.0:
            continue
        n_levels += 1
        total += weight
        squares += weight * weight
        difference = search.level_sum[level] - weight * search.mean_response
        between += difference * difference / weight
    added = problem.smoothing * problem.design_effect
    if problem.smoothing < 0.0:
        variance = squared_response / total - search.mean_response**2
        added = added_weight(
            variance_within(
                variance, between, total, n_levels, problem.design_effect
            ),
            between, total, squares, n_levels
        )
    if added < 0.0:
        return -1.0
    # 2 b / a - 1 in the notation of _column.pyx, which must be 1 / 2 or more.
    for level in range(problem.n_levels[column]):
        weight = search.level_weight[level]
        if weight > 0.0:
            difference = search.level_sum[level] - weight * search.mean_response
            expected += difference * difference / (weight + added)
    return added if 2.0 * expected - between >= 0.5 * between else -1.0


cdef void code_levels(ObliqueSearch* search, int32_t column) noexcept nogil:
    """Code the levels of a column by the mean of the response, to which samples with
    the mean of the node are added: one average sample, or what ``weigh_mean`` tells.
    NaN for levels without samples."""
    cdef:
        const Rows* rows = search.rows
        int64_t n_levels = search.problem.n_levels[column], level, i
        double* codes = search.level_code + search.level_start[column]
        double value, prior = search.view.totals.weight / <double>search.n
        double squares = 0.0
    memset(search.level_weight, 0, n_levels * sizeof(double))
    memset(search.level_sum, 0, n_levels * sizeof(double))
    for i in range(search.n):
        value = cell_of(search, i, column)
        if value == value:
            level = <int64_t>value
            search.level_weight[level] += rows.weight[i]
            search.level_sum[level] += rows.weight[i] * search.response[i]
            squares += rows.weight[i] * search.response[i] * search.response[i]
    if smooths_levels(search.problem, column):
        prior = weigh_mean(search, column, squares)
    for level in range(n_levels):
        codes[level] = NAN
        if search.level_weight[level] > 0.0:
            # Where they tell nothing, all are 0: the column is left out as constant.
            codes[level] = 0.0 if prior < 0.0 else (
                search.level_sum[level] + prior * search.mean_response
            ) / (search.level_weight[level] + prior)


# ---------------------------------------------------------------------- standard units


cdef inline double read_cell(
    const ObliqueSearch* search, int64_t i, int64_t column
) noexcept nogil:
    """A value relative to the largest one of its column, or the code of a level."""
    cdef double value = cell_of(search, i, column)
    if value != value:
        return value
    if search.problem.kind[column] == NOMINAL_COLUMN:
        return search.level_code[search.level_start[column] + <int64_t>value]
    return value / search.size[column]


cdef inline void read_row(
    const ObliqueSearch* search, int64_t i, const int32_t* columns, int64_t n_columns,
    double* cells
) noexcept nogil:
    """Read values relative to the sizes of their columns, and codes of levels."""
    cdef:
        const double* x = search.values + search.row[i] * search.problem.n_columns
        const int64_t* level_start = search.level_start
        const double* factor = search.inverse_size
        int64_t j, column
    if n_columns == search.problem.n_columns:
        for j in range(n_columns):
            cells[j] = x[j] * factor[j]
    else:
        for j in range(n_columns):
            cells[j] = x[columns[j]] * factor[columns[j]]
    if not search.problem.any_nominal:
        return
    for j in range(n_columns):
        column = columns[j]
        if search.problem.kind[column] == NOMINAL_COLUMN and x[column] == x[column]:
            cells[j] = search.level_code[level_start[column] + <int64_t>x[column]]


cdef void measure_columns(
    ObliqueSearch* search, const int32_t* columns, int64_t n_columns
) noexcept nogil:
    """Correlation of columns with the response in the node, up to a factor, by place in
    the list; 0 for constant columns."""
    cdef:
        const double* weight = search.rows.weight
        double* mean = search.mean
        double* deviation = search.deviation
        double* relation = search.relation
        double* total = search.totals
        double* cells = search.line
        double value, residual
        int64_t i, j
    memset(mean, 0, n_columns * sizeof(double))
    memset(total, 0, n_columns * sizeof(double))
    memset(deviation, 0, n_columns * sizeof(double))
    memset(relation, 0, n_columns * sizeof(double))
    # Means first, as sums of squares about them lose less to cancellation.
    for i in range(search.n):
        if i % ROWS_PER_CHECK == 0 and must_stop(
            search.problem.interrupt, ROWS_PER_CHECK * n_columns
        ):
            return
        read_row(search, i, columns, n_columns, cells)
        for j in range(n_columns):
            value = cells[j]
            mean[j] += weight[i] * value if value == value else 0.0
            total[j] += weight[i] if value == value else 0.0
    for j in range(n_columns):
        mean[j] = mean[j] / total[j] if total[j] > 0.0 else 0.0
    for i in range(search.n):
        if i % ROWS_PER_CHECK == 0 and must_stop(
            search.problem.interrupt, ROWS_PER_CHECK * n_columns
        ):
            return
        read_row(search, i, columns, n_columns, cells)
        # Missing values add nothing; ``value`` is not a number then.
        residual = weight[i] * (search.response[i] - search.mean_response)
        for j in range(n_columns):
            value = cells[j] - mean[j]
            value = value if value == value else 0.0
            deviation[j] += weight[i] * value * value
            relation[j] += residual * value
    for j in range(n_columns):
        deviation[j] = sqrt(deviation[j] / total[j]) if total[j] > 0.0 else 0.0
        if deviation[j] > 1e-14:
            relation[j] = fabs(relation[j]) / deviation[j]
        else:
            deviation[j] = relation[j] = 0.0


cdef double find_least_relation(
    const ObliqueSearch* search, int64_t n_columns, int64_t most
) noexcept nogil:
    """The correlation above which at most so many columns lie."""
    cdef:
        int64_t j, _step, n_above
        double low = 0.0, high = 0.0, middle
    for j in range(n_columns):
        high = search.relation[j] if search.relation[j] > high else high
    # By bisection; no sorting, and ties are left out together.
    for _step in range(60):
        middle = 0.5 * (low + high)
        n_above = 0
        for j in range(n_columns):
            n_above += search.relation[j] > middle
        if n_above > most:
            low = middle
        else:
            high = middle
    return high


cdef void sample_used_columns(ObliqueSearch* search) noexcept nogil:
    """List columns that are not constant in the table, at random unless all are used,
    in ascending order."""
    cdef:
        int64_t p = search.problem.n_columns, j, k, n = 0
        int32_t column
    for j in range(p):
        search.order[j] = <int32_t>j
    if search.max_columns < p:
        for j in range(search.max_columns):
            k = j + random_below(&search.random_state, p - j)
            search.order[j], search.order[k] = search.order[k], search.order[j]
    for j in range(min(search.max_columns, p)):
        column = search.order[j]
        if search.size[column] == 0.0:
            continue
        k = n
        if search.max_columns < p:
            while k > 0 and search.used[k - 1] > column:
                search.used[k] = search.used[k - 1]
                k -= 1
        search.used[k] = column
        n += 1
    search.n_used = n


cdef uint64_t hash_sample(const ObliqueSearch* search, int64_t i) noexcept nogil:
    """A number that tells different samples apart; not 0."""
    cdef:
        const double* x = search.values + search.row[i] * search.problem.n_columns
        int64_t j
        uint64_t mixed = 1
        double value
    for j in range(search.n_used):
        value = x[search.used[j]] + 0.0  # not -0
        if value == value:
            mixed ^= (<uint64_t*>&value)[0]
        mixed = child_state(mixed, j)
    return mixed | 1


cdef int64_t count_different(ObliqueSearch* search, int64_t most) noexcept nogil:
    """Count the samples with different values, up to a number: repeated rows are as
    good as weights."""
    cdef:
        int64_t i, place, n = 0
        uint64_t number
    memset(search.seen, 0, SEEN_SLOTS * sizeof(uint64_t))
    for i in range(search.n):
        if n == most:
            break
        number = hash_sample(search, i)
        place = <int64_t>(number >> 1) % SEEN_SLOTS
        # A hash table with open addressing, at most a quarter full, as no more than
        # twice MAX_USED samples are counted. Different samples with one hash count
        # once.
        while search.seen[place] != 0 and search.seen[place] != number:
            place = (place + 1) % SEEN_SLOTS
        n += search.seen[place] == 0
        search.seen[place] = number
    return n


cdef void keep_related(ObliqueSearch* search) noexcept nogil:
    """Keep those columns that have most to do with the response, if there are more than
    half as many as different samples."""
    cdef:
        int64_t j, n = 0, most = min(<int64_t>MAX_USED, search.n_used)
        double least
    # With fewer different samples than twice the columns, a fit would follow the
    # samples.
    most = max(1, count_different(search, 2 * most) // 2)
    if search.n_used <= most:
        return
    measure_columns(search, search.used, search.n_used)
    least = find_least_relation(search, search.n_used, most)
    for j in range(search.n_used):
        if search.relation[j] > least:
            search.used[n] = search.used[j]
            n += 1
    search.n_used = n


cdef void take_columns(
    ObliqueSearch* search, const int32_t* place, int64_t n
) noexcept nogil:
    """Keep some of the used columns, given by their places in ascending order, and
    their cells."""
    cdef:
        int64_t _i, j, k = search.n_used
        double* target = search.cells
        const double* x = search.cells
    if n == k:
        return
    for j in range(n):
        search.used[j] = search.used[place[j]]
        search.mean[j] = search.mean[place[j]]
        search.deviation[j] = search.deviation[place[j]]
        search.solution[j] = search.solution[place[j]]
    # In place: rows get shorter, so nothing is overwritten before it is read.
    for _i in range(search.n):
        for j in range(n):
            target[j] = x[place[j]]
        target += n
        x += k
    search.n_used = n


cdef wide_void read_cells(ObliqueSearch* search) noexcept nogil:
    """Read the used columns, row by row, and their means."""
    cdef:
        int64_t i, j, k = search.n_used
        double value, weight
        double* cells = search.cells
        double* mean = search.mean
        double* total = search.totals
    memset(mean, 0, k * sizeof(double))
    memset(total, 0, k * sizeof(double))
    for i in range(search.n):
        fetch_row(search, i)
        read_row(search, i, search.used, k, cells)
        weight = search.rows.weight[i]
        if search.any_missing:
            for j in range(k):
                value = cells[j]
                mean[j] += weight * value if value == value else 0.0
                total[j] += weight if value == value else 0.0
        else:
            for j in range(k):
                mean[j] += weight * cells[j]
        cells += k
    for j in range(k):
        if not search.any_missing:
            total[j] = search.view.totals.weight
        mean[j] = mean[j] / total[j] if total[j] > 0.0 else 0.0


cdef int reserve_cells(ObliqueSearch* search) noexcept nogil:
    """Allocate the cells of the node. Returns -1 without memory."""
    if search.n * search.n_used <= search.cell_capacity:
        return 0
    free_memory(&search.cell_memory)
    search.cell_capacity = search.n * search.n_used
    search.cells = take_doubles(&search.cell_memory, search.cell_capacity)
    if search.cells == NULL:
        search.cell_capacity = 0
        return -1
    return 0


cdef wide_void standardize(ObliqueSearch* search) noexcept nogil:
    """Centre and scale the cells, with 0 for missing values, and drop the columns that
    are constant in the node."""
    cdef:
        int64_t i, j, n = 0, k = search.n_used, _i
        double value, weight
        double* cells = search.cells
        double* deviation = search.deviation
    memset(deviation, 0, k * sizeof(double))
    # Variances about the means. Missing values become 0, the mean.
    for i in range(search.n):
        weight = search.rows.weight[i]
        for j in range(k):
            cells[j] -= search.mean[j]
        if search.any_missing:
            for j in range(k):
                value = cells[j]
                cells[j] = value if value == value else 0.0
        for j in range(k):
            deviation[j] += weight * cells[j] * cells[j]
        cells += k
    for j in range(k):
        deviation[j] = sqrt(deviation[j] / search.totals[j]) if (
            search.totals[j] > 0.0
        ) else 0.0
        if deviation[j] > 1e-14:
            search.order[n] = <int32_t>j
            n += 1
    take_columns(search, search.order, n)
    for j in range(n):
        search.totals[j] = 1.0 / deviation[j]
    cells = search.cells
    for _i in range(search.n):
        for j in range(n):
            cells[j] *= search.totals[j]
        cells += n


cdef int prepare_columns(ObliqueSearch* search) noexcept nogil:
    """Standardize the sampled columns. Returns -1 without memory."""
    keep_related(search)
    if reserve_cells(search) < 0:
        return -1
    read_cells(search)
    standardize(search)
    return 0


# ------------------------------------------------------------------------------------
# Sparse directions drawn at random, and what missing values stand for.
# ------------------------------------------------------------------------------------


cdef wide_void add_column_values(
    const ObliqueSearch* search, const double* mean, bint squares, double* sums,
    double* totals
) noexcept nogil:
    """Add up the values of each column, or the squares of what they exceed the means
    by."""
    cdef:
        const double* x
        const double* factor = search.inverse_size
        double weight, value
        int64_t p = search.problem.n_columns, i, j
    for i in range(search.n):
        fetch_row(search, i)
        x = search.values + search.row[i] * p
        weight = search.rows.weight[i]
        for j in range(p):
            value = x[j] * factor[j] - mean[j]
            value = weight * value * value if squares else weight * value
            # NaN for missing values; without a branch.
            sums[j] += value if value == value else 0.0
            totals[j] += weight if value == value else 0.0


cdef void measure_scales(ObliqueSearch* search) noexcept nogil:
    """Standard deviation of each numeric column, in units of its size."""
    cdef:
        double* mean = search.mean
        double* sums = search.relation
        double* totals = search.totals
        int64_t p = search.problem.n_columns, j, turn
    memset(mean, 0, p * sizeof(double))
    # The means, then the squares about them.
    for turn in range(2):
        memset(sums, 0, p * sizeof(double))
        memset(totals, 0, p * sizeof(double))
        add_column_values(search, mean, turn == 1, sums, totals)
        for j in range(p):
            sums[j] = sums[j] / totals[j] if totals[j] > 0.0 else 0.0
        if turn == 0:
            memcpy(mean, sums, p * sizeof(double))
    for j in range(p):
        search.scale[j] = sqrt(sums[j]) if search.size[j] > 0.0 else 0.0


cdef double mean_of(
    const ObliqueSearch* search, int64_t column, double* deviation
) noexcept nogil:
    """Mean and standard deviation in the node, of numbers relative to the largest."""
    cdef:
        int64_t i
        double value, total = 0.0, mean = 0.0, spread = 0.0
    for i in range(search.n):
        value = read_cell(search, i, column)
        if value == value:
            mean += search.rows.weight[i] * value
            total += search.rows.weight[i]
    mean = mean / total if total > 0.0 else 0.0
    if deviation != NULL:
        for i in range(search.n):
            value = read_cell(search, i, column) - mean
            if value == value:
                spread += search.rows.weight[i] * value * value
        deviation[0] = sqrt(spread / total) if total > 0.0 else 0.0
    return mean


cdef void add_random_term(
    ObliqueSearch* search, int32_t column, int64_t output, double sign
) noexcept nogil:
    """Add a column with the inverse of its standard deviation as weight."""
    cdef:
        double mean = 0.0, deviation
        Direction* trial = search.trial
    if search.problem.kind[column] == NOMINAL_COLUMN:
        set_response(search, output)
        code_levels(search, column)
        mean = mean_of(search, column, &deviation)
        if deviation > 0.0:
            add_term(
                search, trial, column, sign / deviation, mean, 1.0,
                search.level_code + search.level_start[column]
            )
        return
    if not search.scale[column] > 1e-14:
        return
    # The means of other columns are needed for predictions only.
    if search.problem.has_missing[column]:
        mean = mean_of(search, column, NULL) * search.size[column]
    add_term(
        search, trial, column, sign / (search.scale[column] * search.size[column]),
        mean, 1.0, NULL
    )


cdef void make_random(ObliqueSearch* search) noexcept nogil:
    """Sample the columns of a direction, and the signs of their weights."""
    cdef:
        int64_t p = search.problem.n_columns, j, k, output = 0, n_terms
        uint64_t* state = &search.random_state
        int32_t column
    search.trial.n_terms = 0
    if search.problem.any_nominal:
        output = pick_output(search)
        if search.problem.is_classifier:
            group_at_random(search, output, state)
    for j in range(p):
        search.order[j] = <int32_t>j
    n_terms = 1 + random_below(state, search.max_terms)
    # Shuffled as far as needed; constant columns do not count.
    for j in range(p):
        k = j + random_below(state, p - j)
        column = search.order[k]
        search.order[k] = search.order[j]
        search.order[j] = column
        if search.size[column] == 0.0:
            continue
        add_random_term(
            search, column, output, -1.0 if next_random(state) >> 63 else 1.0
        )
        if search.trial.n_terms == n_terms:
            break
    finish_direction(search.trial)


cdef double mean_of_codes(
    const ObliqueSearch* search, const Direction* direction, int64_t t
) noexcept nogil:
    """The mean of what the levels of a term add."""
    cdef:
        const double* codes = direction.codes + direction.code_start[t]
        double value, total = 0.0, sums = 0.0
        int64_t i
    for i in range(search.n):
        value = cell_of(search, i, direction.column[t])
        if value == value:
            sums += search.rows.weight[i] * codes[<int64_t>value]
            total += search.rows.weight[i]
    return sums / total if total > 0.0 else 0.0


cdef inline void add_up_columns(
    const ObliqueSearch* search, const int32_t* columns, int64_t n_columns,
    double* means
) noexcept nogil:
    """Means of a few columns in one pass over the samples, relative to the sizes of the
    columns."""
    cdef:
        const double* x
        const double* factor = search.inverse_size
        const double* values = search.values
        const uint32_t* row = search.row
        double weight, value
        double[MEANS_AT_ONCE] sums
        double[MEANS_AT_ONCE] totals
        int64_t i, t, p = search.problem.n_columns
    for t in range(n_columns):
        sums[t] = totals[t] = 0.0
    for i in range(search.n):
        x = values + row[i] * p
        weight = search.rows.weight[i]
        for t in range(n_columns):
            value = x[columns[t]] * factor[columns[t]]
            sums[t] += weight * value if value == value else 0.0
            totals[t] += weight if value == value else 0.0
    for t in range(n_columns):
        means[t] = sums[t] / totals[t] if totals[t] > 0.0 else 0.0


cdef void find_means(
    const ObliqueSearch* search, const int32_t* columns, int64_t n, double* means
) noexcept nogil:
    """Means of columns; the compiler specialises the loop for each number of them."""
    cdef int64_t first = 0
    while n - first > 2:
        add_up_columns(search, columns + first, 3, means + first)
        first += 3
    if n - first == 2:
        add_up_columns(search, columns + first, 2, means + first)
    elif n - first == 1:
        add_up_columns(search, columns + first, 1, means + first)


cdef void fill_means(
    ObliqueSearch* search, Direction* direction, bint fills_all
) noexcept nogil:
    """Write what missing values stand for; of all terms, or of the columns that have
    none in training."""
    cdef:
        int64_t t, column, n = 0
        int32_t* columns = search.order
        double* means = search.line
    for t in range(direction.n_terms):
        column = direction.column[t]
        if direction.code_start[t] >= 0:
            if fills_all:
                direction.fill[t] = mean_of_codes(search, direction, t)
        elif fills_all or not search.problem.has_missing[column]:
            columns[n] = <int32_t>column
            n += 1
    find_means(search, columns, n, means)
    n = 0
    for t in range(direction.n_terms):
        column = direction.column[t]
        if direction.code_start[t] < 0 and (
            fills_all or not search.problem.has_missing[column]
        ):
            # ``n`` goes through the columns in the order in which they were listed.
            direction.fill[t] = direction.weight[t] * means[n] * search.size[column]
            n += 1


# ------------------------------------------------------------------------------------
# Logistic regression as a direction.
# ------------------------------------------------------------------------------------


cdef double logistic_loss(
    const ObliqueSearch* search, const double* w
) noexcept nogil:
    """Mean negative log likelihood with the ridge penalty; the intercept is last."""
    cdef:
        int64_t k = search.n_used, i, j
        const double* x = search.cells
        double total = 0.0, eta, size
    for i in range(search.n):
        eta = w[k]
        for j in range(k):
            eta += w[j] * x[j]
        x += k
        # log(1 + exp(eta)) - r eta, without overflow.
        size = eta if eta > 0.0 else 0.0
        total += search.rows.weight[i] * (
            size + log(exp(-size) + exp(eta - size)) - search.response[i] * eta
        )
    total /= search.view.totals.weight
    for j in range(k):
        total += 0.5 * search.ridge * w[j] * w[j]
    return total


cdef void sum_logistic(ObliqueSearch* search, const double* w) noexcept nogil:
    """The Hessian and the negative gradient, with those of the intercept eliminated
    from the Hessian."""
    cdef:
        int64_t k = search.n_used, i, j, a, b
        const double* x = search.cells
        double* curvature = search.along
        double* cross = search.work
        double eta, p, residual, weight = search.view.totals.weight, total = 0.0
        double* gradient = search.target
    memset(gradient, 0, (k + 1) * sizeof(double))
    memset(cross, 0, k * sizeof(double))
    # p (1 - p) is the second derivative of the loss by eta, r - p minus the first.
    for i in range(search.n):
        eta = w[k]
        for j in range(k):
            eta += w[j] * x[j]
        p = 1.0 / (1.0 + exp(-eta))
        residual = search.rows.weight[i] * (search.response[i] - p)
        curvature[i] = search.rows.weight[i] * p * (1.0 - p)
        total += curvature[i]
        gradient[k] += residual
        for j in range(k):
            gradient[j] += residual * x[j]
            cross[j] += curvature[i] * x[j]
        x += k
    sum_column_products(search, curvature, search.gram)
    total = max(total, 1e-12 * weight)
    # The intercept has the Hessian ``total`` and the mixed derivatives c = ``cross``.
    # It is eliminated: H - c c' / total, and g - c g_0 / total.
    for a in range(k):
        for b in range(a + 1):
            search.gram[a * k + b] -= cross[a] * cross[b] / total
        gradient[a] -= cross[a] * gradient[k] / total
    complete(search.gram, k, 1.0 / weight)
    add_ridge(search.gram, k, search.ridge)
    for j in range(k):
        # The mean loss has the penalty ridge / 2 |w|^2. What is left in ``cross`` and
        # in gradient[k] gives the step of the intercept, once those of the weights are
        # known.
        gradient[j] = gradient[j] / weight - search.ridge * w[j]
        cross[j] /= total
    gradient[k] /= total


cdef bint fit_logistic(ObliqueSearch* search) noexcept nogil:
    """Logistic regression of the response on the columns, by Newton's method with
    halved steps. With a lasso penalty, the last Newton step is penalized."""
    cdef:
        int64_t k = search.n_used, _round, j, half, _half
        double* w = search.centres  # which are not needed any more
        double* next_w = search.step
        double loss, next_loss, largest, slope, fraction = search.mean_response
    memset(w, 0, (k + 1) * sizeof(double))
    # Begin with the intercept alone, which fits the mean response.
    w[k] = log(fraction / (1.0 - fraction))
    loss = logistic_loss(search, w)
    for _round in range(MAX_STEPS):
        if must_stop(search.problem.interrupt, search.n * k + k * k):
            return False
        sum_logistic(search, w)
        if search.lasso > 0.0:
            # Towards the minimum of the quadratic approximation.
            # b = g + H w: then H v = b for the new weights v, which the lasso
            # penalizes.
            for j in range(k):
                for half in range(k):
                    search.target[j] += search.gram[j * k + half] * w[half]
        if not solve(search, search.gram, search.target, k, search.solution):
            return False
        # The step of the intercept, g_0 / total - c' step / total.
        slope = search.target[k]
        largest = 0.0
        for j in range(k):
            if search.lasso > 0.0:
                search.solution[j] -= w[j]
            slope -= search.work[j] * search.solution[j]
            largest = max(largest, fabs(search.solution[j]))
        # Halved until the loss does not rise. A penalized step is taken as it is.
        for _half in range(10):
            if must_stop(search.problem.interrupt, search.n * k):
                return False
            for j in range(k):
                next_w[j] = w[j] + search.solution[j]
            next_w[k] = w[k] + slope
            next_loss = logistic_loss(search, next_w)
            if next_loss <= loss or search.lasso > 0.0:
                break
            slope *= 0.5
            for j in range(k):
                search.solution[j] *= 0.5
        memcpy(w, next_w, (k + 1) * sizeof(double))
        if largest < 1e-4 or not next_loss < loss:
            break
        loss = next_loss
    memcpy(search.solution, w, k * sizeof(double))
    return True


# ------------------------------------------------------------------------------------
# Directions that are computed from the samples of a node: Fisher's, ridge regression
# and logistic regression.
# ------------------------------------------------------------------------------------


# --------------------------------------------------------------------- linear systems


cdef double soft(double value, double limit) noexcept nogil:
    """Move a number towards 0 by the limit."""
    if value > limit:
        return value - limit
    return value + limit if value < -limit else 0.0


cdef void solve_lasso(
    const ObliqueSearch* search, const double* system, const double* target, int64_t k,
    double* solution
) noexcept nogil:
    """Minimize w'Aw / 2 - b'w + lasso max|b| |w| by coordinate descent."""
    cdef:
        int64_t _sweep, i, j
        double limit = 0.0, residual, change, largest
    # The limit is relative to the smallest penalty that makes all weights 0, max|b|.
    for j in range(k):
        limit = fabs(target[j]) if fabs(target[j]) > limit else limit
    limit *= search.lasso
    memset(solution, 0, k * sizeof(double))
    for _sweep in range(LASSO_SWEEPS):
        if must_stop(search.problem.interrupt, k * k):
            return
        change = largest = 0.0
        for j in range(k):
            # b_j less what the other columns explain.
            residual = target[j] + system[j * k + j] * solution[j]
            for i in range(k):
                residual -= system[j * k + i] * solution[i]
            residual = soft(residual, limit) / system[j * k + j]
            change = max(change, fabs(residual - solution[j]))
            largest = max(largest, fabs(residual))
            solution[j] = residual
        if change <= 1e-6 * largest:
            break


cdef bint factorize(ObliqueSearch* search, double* system, int64_t k) noexcept nogil:
    """Cholesky factor of a system, to whose diagonal more is added until it has one."""
    cdef:
        int n = <int>k, info = 0, _attempt
        int64_t j
        double more = JITTER
        double* kept = search.within
    memcpy(kept, system, k * k * sizeof(double))
    for _attempt in range(6):
        dpotrf(b"L", &n, system, &n, &info)
        if info == 0:
            return True
        # dpotrf has overwritten a part of it.
        memcpy(system, kept, k * k * sizeof(double))
        for j in range(k):
            system[j * k + j] += more * (1.0 + kept[j * k + j])
        more *= 100.0
    return False


cdef bint solve(
    ObliqueSearch* search, double* system, const double* target, int64_t k,
    double* solution
) noexcept nogil:
    """Solve a symmetric system, or the same with a lasso penalty."""
    cdef:
        int n = <int>k, one = 1, info = 0
    if search.lasso > 0.0:
        solve_lasso(search, system, target, k, solution)
        return True
    if not factorize(search, system, k):
        return False
    memcpy(solution, target, k * sizeof(double))
    dpotrs(b"L", &n, &one, system, &n, solution, &n, &info)
    return info == 0


# ----------------------------------------------------------------------- cross products


cdef wide_void sum_column_products(
    const ObliqueSearch* search, const double* weight, double* products
) noexcept nogil:
    """Weighted sums of the products of all pairs of columns, lower triangle; four
    samples at a time, so that sums are read and written less often."""
    cdef:
        int64_t k = search.n_used, i = 0, a, b
        const double* x
        double first, second, third, fourth
        double* line
    memset(products, 0, k * k * sizeof(double))
    while i + 4 <= search.n:
        if i % ROWS_PER_CHECK == 0 and must_stop(
            search.problem.interrupt, ROWS_PER_CHECK * k
        ):
            return
        x = search.cells + i * k
        for a in range(k):
            first = weight[i] * x[a]
            second = weight[i + 1] * x[k + a]
            third = weight[i + 2] * x[2 * k + a]
            fourth = weight[i + 3] * x[3 * k + a]
            line = products + a * k
            for b in range(a + 1):
                # In pairs, so that the additions do not all wait for each other.
                line[b] += (first * x[b] + second * x[k + b]) + (
                    third * x[2 * k + b] + fourth * x[3 * k + b]
                )
        i += 4
    while i < search.n:
        x = search.cells + i * k
        for a in range(k):
            first = weight[i] * x[a]
            for b in range(a + 1):
                products[a * k + b] += first * x[b]
        i += 1


cdef void complete(double* products, int64_t k, double factor) noexcept nogil:
    """Multiply a lower triangle, and mirror it."""
    cdef int64_t a, b
    for a in range(k):
        for b in range(a + 1):
            products[a * k + b] *= factor
            products[b * k + a] = products[a * k + b]


cdef void add_ridge(double* system, int64_t k, double ridge) noexcept nogil:
    """Add the penalty to the diagonal, and a little for columns that are collinear."""
    cdef int64_t j
    for j in range(k):
        system[j * k + j] += ridge + JITTER


# ------------------------------------------------------------------------- regression


cdef bint fit_ridge(ObliqueSearch* search) noexcept nogil:
    """Regression of the response on the columns."""
    cdef:
        int64_t k = search.n_used, i, j
        double weight = search.view.totals.weight, residual
        const double* x = search.cells
    sum_column_products(search, search.rows.weight, search.gram)
    complete(search.gram, k, 1.0 / weight)
    add_ridge(search.gram, k, search.ridge)
    memset(search.target, 0, k * sizeof(double))
    for i in range(search.n):
        residual = search.rows.weight[i] * (search.response[i] - search.mean_response)
        for j in range(k):
            search.target[j] += residual * x[j] / weight
        x += k
    return solve(search, search.gram, search.target, k, search.solution)


# -------------------------------------------------------------------------- Fisher's


cdef void average_classes(ObliqueSearch* search, int64_t output) noexcept nogil:
    """Weights and means of the classes."""
    cdef:
        const Problem* problem = search.problem
        int64_t k = search.n_used, i, j, c
        int64_t n_classes = problem.output_start[output + 1] - (
            problem.output_start[output]
        )
        const double* x = search.cells
        double* centre
        double weight
    memset(search.centres, 0, n_classes * k * sizeof(double))
    memset(search.class_weight, 0, n_classes * sizeof(double))
    # Sums of weight * x by class.
    for i in range(search.n):
        c = search.rows.label[i * problem.n_outputs + output]
        centre = search.centres + c * k
        weight = search.rows.weight[i]
        search.class_weight[c] += weight
        for j in range(k):
            centre[j] += weight * x[j]
        x += k
    for c in range(n_classes):
        if search.class_weight[c] > 0.0:
            for j in range(k):
                search.centres[c * k + j] /= search.class_weight[c]


cdef void subtract_between(ObliqueSearch* search, int64_t n_classes) noexcept nogil:
    """Make the scatter within classes from that of all samples, and keep the scatter
    between classes."""
    cdef:
        int64_t k = search.n_used, a, b, c
        double weight = search.view.totals.weight, total
        const double* centre
    for a in range(k):
        if must_stop(search.problem.interrupt, k * n_classes):
            return
        # sum_c w_c / w mean_c mean_c': the columns have mean 0.
        for b in range(k):
            total = 0.0
            for c in range(n_classes):
                centre = search.centres + c * k
                total += search.class_weight[c] / weight * centre[a] * centre[b]
            search.system[a * k + b] = total
            search.gram[a * k + b] -= total


cdef bint find_discriminant(ObliqueSearch* search) noexcept nogil:
    """The direction with the largest ratio of the scatter between classes to that
    within: L^-1 B L^-T u = e u, w = L^-T u."""
    cdef:
        int k = <int>search.n_used, info = 0, n_work = <int>search.n_work, one = 1
        int64_t a, b
        double* factor = search.gram
        double* between = search.system
        double* values = search.step
    if must_stop(search.problem.interrupt, <int64_t>k * k * k) or (
        not factorize(search, factor, k)
    ):
        return False
    # L^-1 B, then its transpose, B L^-T, and so L^-1 B L^-T.
    dtrtrs(b"L", b"N", b"N", &k, &k, factor, &k, between, &k, &info)
    for a in range(k):
        for b in range(a):
            between[a * k + b], between[b * k + a] = (
                between[b * k + a], between[a * k + b]
            )
    dtrtrs(b"L", b"N", b"N", &k, &k, factor, &k, between, &k, &info)
    dsyev(b"V", b"L", &k, between, &k, values, search.work, &n_work, &info)
    if info != 0:
        return False
    # Eigenvalues are in ascending order, eigenvectors column by column.
    memcpy(search.solution, between + (k - 1) * <int64_t>k, k * sizeof(double))
    dtrtrs(b"L", b"T", b"N", &k, &one, factor, &k, search.solution, &k, &info)
    return info == 0


cdef bint fit_lda(ObliqueSearch* search, int64_t output) noexcept nogil:
    """Fisher's direction; with a lasso penalty, the sparse direction whose products
    with the scatter within classes are those of Fisher's."""
    cdef:
        const Problem* problem = search.problem
        int64_t k = search.n_used, j, i, n_present = 0, c, first = -1, last = -1
        int64_t n_classes = problem.output_start[output + 1] - (
            problem.output_start[output]
        )
    sum_column_products(search, search.rows.weight, search.gram)
    complete(search.gram, k, 1.0 / search.view.totals.weight)
    average_classes(search, output)
    for c in range(n_classes):
        if search.class_weight[c] > 0.0:
            n_present += 1
            first = c if first < 0 else first
            last = c
    subtract_between(search, n_classes)
    add_ridge(search.gram, k, search.ridge)
    # Of two classes the direction is within^-1 (difference of the means).
    if n_present == 2:
        for j in range(k):
            search.target[j] = (
                search.centres[last * k + j] - search.centres[first * k + j]
            )
        return solve(search, search.gram, search.target, k, search.solution)
    if search.lasso == 0.0:
        return find_discriminant(search)
    # find_discriminant overwrites the scatter with its factor; the copy that
    # factorize keeps is whole.
    if not find_discriminant(search):
        return False
    memcpy(search.system, search.within, k * k * sizeof(double))
    for j in range(k):
        search.target[j] = 0.0
        for i in range(k):
            search.target[j] += search.system[j * k + i] * search.solution[i]
    return solve(search, search.system, search.target, k, search.solution)


cdef void group_by_scores(ObliqueSearch* search, int64_t output) noexcept nogil:
    """Divide the classes into the two groups whose means on Fisher's direction differ
    most, relative to the weights of the groups."""
    cdef:
        const Problem* problem = search.problem
        int64_t k = search.n_used, c, d, j
        int64_t n_classes = problem.output_start[output + 1] - (
            problem.output_start[output]
        )
        double* score = search.centres  # the first number of each class
        double left, left_sum, right, right_sum, spread, best = -1.0, limit = 0.0, total
    # Means of the classes along the direction.
    for c in range(n_classes):
        total = 0.0
        for j in range(k):
            total += search.centres[c * k + j] * search.solution[j]
        score[c * k] = total
    # Each of them as the upper end of the first group: sum of squares between the
    # groups, up to a factor.
    for c in range(n_classes):
        if search.class_weight[c] == 0.0:
            continue
        if must_stop(search.problem.interrupt, n_classes):
            return
        left = left_sum = right = right_sum = 0.0
        for d in range(n_classes):
            if score[d * k] <= score[c * k]:
                left += search.class_weight[d]
                left_sum += search.class_weight[d] * score[d * k]
            else:
                right += search.class_weight[d]
                right_sum += search.class_weight[d] * score[d * k]
        if right == 0.0:
            continue
        spread = left_sum / left - right_sum / right
        spread = left * right * spread * spread
        if spread > best:
            best = spread
            limit = score[c * k]
    for c in range(n_classes):
        search.group_of_class[c] = score[c * k] > limit


# -------------------------------------------------------------------------- all of them


cdef bint fit_direction(ObliqueSearch* search, int64_t output) noexcept nogil:
    """The direction of the kind that was asked for, as ``solution`` in standard units.
    """
    if search.kind == LDA_DIRECTION:
        return fit_lda(search, output)
    if search.kind == LOGISTIC_DIRECTION:
        return fit_logistic(search)
    return fit_ridge(search)


cdef double largest_weight(const ObliqueSearch* search) noexcept nogil:
    """The largest absolute weight of the solution."""
    cdef:
        int64_t j
        double largest = 0.0
    for j in range(search.n_used):
        largest = max(largest, fabs(search.solution[j]))
    return largest


cdef int64_t keep_largest(ObliqueSearch* search, int64_t n_kept) noexcept nogil:
    """Keep the columns with the largest weights, in their order, and their cells;
    returns their number."""
    cdef:
        int64_t j, n = 0, k = search.n_used, n_larger, other
        double size, limit = SMALLEST_FRACTION * largest_weight(search)
        int32_t* place = search.order
    for j in range(k):
        size = fabs(search.solution[j])
        n_larger = 0
        for other in range(k):
            n_larger += fabs(search.solution[other]) > size or (
                fabs(search.solution[other]) == size and other < j
            )
        if size > limit and n_larger < n_kept:
            place[n] = <int32_t>j
            n += 1
    take_columns(search, place, n)
    return n


cdef void describe_direction(ObliqueSearch* search) noexcept nogil:
    """Make the direction on trial of the solution, in the units of the table; its
    length is 1 in standard units, and its largest weight is positive."""
    cdef:
        int64_t j
        int32_t column
        double length = 0.0, largest = 0.0, weight, limit, unit
        const double* codes
    search.trial.n_terms = 0
    for j in range(search.n_used):
        length += search.solution[j] * search.solution[j]
        if fabs(search.solution[j]) > fabs(largest):
            largest = search.solution[j]
    if not length > 0.0 or not isfinite(length):
        return
    # A direction and its opposite divide alike; this makes it one of the two.
    length = sqrt(length) if largest > 0.0 else -sqrt(length)
    limit = SMALLEST_FRACTION * fabs(largest)
    for j in range(search.n_used):
        # Terms too small to matter are left out.
        if fabs(search.solution[j]) <= limit:
            continue
        column = search.used[j]
        unit = 1.0
        codes = NULL
        if search.problem.kind[column] == NOMINAL_COLUMN:
            codes = search.level_code + search.level_start[column]
        else:
            unit = search.size[column]
        weight = search.solution[j] / length
        # From standard units to those of the table: over the deviation and the size.
        add_term(
            search, search.trial, column, weight / (search.deviation[j] * unit),
            search.mean[j] * unit, fabs(weight), codes
        )
    finish_direction(search.trial)


cdef int fit_columns(
    ObliqueSearch* search, const Split* axis, int64_t start, int64_t output
) noexcept nogil:
    """Compute a direction of at most max_terms of the sampled columns, which are chosen
    step by step, and the direction computed again. Returns -1 without memory."""
    cdef:
        int64_t n_kept
        bint is_searched = search.kind == COORDINATE_DIRECTION
    if prepare_columns(search) < 0:
        return -1
    if search.n_used == 0:
        return 0
    if search.problem.is_classifier and search.kind != LDA_DIRECTION and (
        search.problem.n_statistics > 2
    ):
        if not fit_lda(search, output):
            return 0
        group_by_scores(search, output)
        set_response(search, output)
    if search.kind == LOGISTIC_DIRECTION and not (
        0.0 < search.mean_response < 1.0
    ):
        return 0
    if is_searched:
        start_coordinates(search, axis, start)
    elif not fit_direction(search, output):
        return 0
    # At most half of the columns are dropped at a time, as the weights of those that
    # stay change.
    while search.n_used > search.max_terms:
        n_kept = max(search.max_terms, search.n_used // 2)
        if keep_largest(search, n_kept) == 0:
            return 0
        if not is_searched and not fit_direction(search, output):
            return 0
    if is_searched:
        search_coordinates(search)
    describe_direction(search)
    return 0


cdef int compute_direction(
    ObliqueSearch* search, const Split* axis, int64_t start
) noexcept nogil:
    """Compute a direction. Returns -1 without memory."""
    cdef:
        int64_t output = pick_output(search), j
        int outcome
        bint takes_some = search.kind == COORDINATE_DIRECTION and (
            search.n > MAX_SEARCHED
        )
    search.trial.n_terms = 0
    if search.problem.is_classifier:
        group_largest(search, output)
    set_response(search, output)
    sample_used_columns(search)
    for j in range(search.n_used):
        if search.problem.kind[search.used[j]] == NOMINAL_COLUMN:
            code_levels(search, search.used[j])
    if takes_some:
        take_some(search)
    outcome = fit_columns(search, axis, start, output)
    if takes_some:
        swap_samples(search)
        # The means of all samples in place of those of some.
        fill_means(search, search.trial, True)
    return outcome


# ------------------------------------------------------------------------------------
# The direction whose test is best, found by changing one weight at a time as in OC1.
# ------------------------------------------------------------------------------------


cdef void start_coordinates(
    ObliqueSearch* search, const Split* axis, int64_t start
) noexcept nogil:
    """First the column of the best test of one column, or regression; then random
    weights."""
    cdef int64_t j, place = -1
    if start == 0:
        for j in range(search.n_used):
            if axis.column == search.used[j]:
                place = j
        if place < 0 and fit_ridge(search):
            return
    for j in range(search.n_used):
        search.solution[j] = 2.0 * random_unit(&search.random_state) - 1.0
        if start == 0:
            search.solution[j] = j == place


cdef bint order_changes(
    ObliqueSearch* search, const double* sums, int64_t column, double threshold
) noexcept nogil:
    """Sort the weights of a column at which samples change sides, sums and threshold
    being as they are: weight * x + rest = threshold. Samples on which the weight has no
    effect are put on a level with the largest."""
    cdef:
        int64_t i, k = search.n_used
        const double* x = search.cells + column
        double weight = search.solution[column]
        double* along = search.along
        double largest = -INFINITY
    for i in range(search.n):
        along[i] = INFINITY
        if fabs(x[i * k]) > 1e-9:
            along[i] = (threshold - (sums[i] - weight * x[i * k])) / x[i * k]
            largest = along[i] if along[i] > largest else largest
    # Finite, so that the range of the values is.
    for i in range(search.n):
        if along[i] == INFINITY:
            along[i] = largest
    return sort_values(along, search.n, search.keys, search.spare)


cdef inline void move_sample(
    ObliqueSearch* search, int64_t i, double* to, double* source
) noexcept nogil:
    """Move a sample from one side's sums to another's."""
    cdef double weight = search.rows.weight[i]
    add_row(
        search.problem, search.rows, i, weight, search.view.totals.centre, to
    )
    add_row(
        search.problem, search.rows, i, -weight, search.view.totals.centre, source
    )


cdef double find_weight(
    ObliqueSearch* search, const double* sums, int64_t column, double threshold,
    double* found
) noexcept nogil:
    """The best weight of a column if the others and the threshold stay; returns its
    score, or -inf."""
    cdef:
        const Problem* problem = search.problem
        int64_t i, place, k = search.n_used, n_left = 0
        const double* x = search.cells + column
        double* left = search.scratch.left
        double* right = search.scratch.right
        double left_weight = 0.0, weight, score, best = -INFINITY, gap
        double total = search.view.totals.weight
        bint is_left
    if not order_changes(search, sums, column, threshold):
        return -INFINITY
    memset(left, 0, problem.n_statistics * sizeof(double))
    memset(right, 0, problem.n_statistics * sizeof(double))
    weight = search.solution[column]
    # The sides if the weight were -infinite.
    for i in range(search.n):
        is_left = x[i * k] > 1e-9 or (
            not x[i * k] < -1e-9 and sums[i] - weight * x[i * k] <= threshold
        )
        n_left += is_left
        left_weight += search.rows.weight[i] if is_left else 0.0
        add_row(
            problem, search.rows, i, search.rows.weight[i], search.view.totals.centre,
            left if is_left else right
        )
    # As the weight rises, a sample with x > 0 goes to the right at its weight, and one
    # with x < 0 to the left. What is found lies half way to the next change.
    for place in range(search.n - 1):
        i = row_of(search.keys[place])
        if x[i * k] > 1e-9:
            move_sample(search, i, right, left)
            n_left -= 1
            left_weight -= search.rows.weight[i]
        elif x[i * k] < -1e-9:
            move_sample(search, i, left, right)
            n_left += 1
            left_weight += search.rows.weight[i]
        gap = search.along[row_of(search.keys[place + 1])] - search.along[i]
        if not gap > 1e-12 * (1.0 + fabs(search.along[i])):
            continue
        if (
            n_left < problem.min_samples_leaf
            or search.n - n_left < problem.min_samples_leaf
            or left_weight < problem.min_weight_leaf
            or total - left_weight < problem.min_weight_leaf
            or n_left < 1 or search.n - n_left < 1
        ):
            continue
        score = goodness(problem, left, left_weight) + goodness(
            problem, right, total - left_weight
        ) - search.view.totals.goodness
        if score > best + search.view.margin:
            best = score
            found[0] = search.along[i] + 0.5 * gap
    return best


cdef double find_threshold(ObliqueSearch* search, double* sums) noexcept nogil:
    """Sums along the solution, and their best threshold; NaN if there is none. The
    score is that of the split on trial."""
    cdef:
        int64_t i, j, k = search.n_used, position
        const double* x = search.cells
        Split trial
    for i in range(search.n):
        sums[i] = 0.0
        for j in range(k):
            sums[i] += search.solution[j] * x[j]
        x += k
    if not sort_values(sums, search.n, search.keys, search.spare):
        return NAN
    # About the rounding of a sum, as cells in standard units are of the order of 1.
    rank_sums(search, sums, 1e-14 * <double>k * largest_weight(search))
    clear_split(&trial)
    trial.n_children = 2
    evaluate_column(
        search.problem, search.rows, search.scratch, search.keys, NULL, search.view,
        search.problem.n_columns, &trial
    )
    if trial.column < 0:
        return NAN
    position = trial.position
    return midpoint(
        sums[row_of(search.keys[position - 1])], sums[row_of(search.keys[position])]
    )


cdef double score_of(
    ObliqueSearch* search, const double* sums, double threshold
) noexcept nogil:
    """The decrease of weight * impurity of a test."""
    cdef:
        const Problem* problem = search.problem
        double* left = search.scratch.left
        double* right = search.scratch.right
        double left_weight = 0.0, weight
        int64_t i
    memset(left, 0, problem.n_statistics * sizeof(double))
    memset(right, 0, problem.n_statistics * sizeof(double))
    for i in range(search.n):
        weight = search.rows.weight[i]
        left_weight += weight if sums[i] <= threshold else 0.0
        add_row(
            problem, search.rows, i, weight, search.view.totals.centre,
            left if sums[i] <= threshold else right
        )
    return goodness(problem, left, left_weight) + goodness(
        problem, right, search.view.totals.weight - left_weight
    ) - search.view.totals.goodness


cdef void search_coordinates(ObliqueSearch* search) noexcept nogil:
    """Change one weight after the other to its best value, as long as that helps."""
    cdef:
        int64_t _sweep, i, j, k = search.n_used
        double* sums = search.trial.z
        double threshold, score, found = 0.0, tried, change
        bint is_better
    threshold = find_threshold(search, sums)
    if threshold != threshold:
        return
    score = score_of(search, sums, threshold)
    for _sweep in range(MAX_SWEEPS):
        is_better = False
        for j in range(k):
            if must_stop(search.problem.interrupt, search.n * SORT_UNITS):
                return
            tried = find_weight(search, sums, j, threshold, &found)
            # Better by more than the rounding of the score.
            if not tried > score + 1e-9 * fabs(score) + search.view.margin:
                continue
            is_better = True
            score = tried
            # The threshold stays; the one of the final direction is searched again.
            change = found - search.solution[j]
            search.solution[j] = found
            for i in range(search.n):
                sums[i] += change * search.cells[i * k + j]
        if not is_better:
            break


cdef bint is_worth_it(
    const ObliqueSearch* search, const Split* axis
) noexcept nogil:
    """Whether the oblique test is better than the best test of one column."""
    if search.split.column < 0:
        return False
    if axis.column < 0:
        return True
    # score > axis score (1 + penalty (terms - 1)): a longer test must gain more.
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
