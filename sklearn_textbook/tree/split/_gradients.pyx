"""Histograms of gradient pairs: counting the rows of a node, and the best split.

A histogram has an entry for every code of every column. It may be counted from rows,
be what is left of that of the parent, or be the sum of those of several blocks of rows:
all sums are integers, see _gradients.pxd. Other sums are searched in the histograms of
_histogram.pyx, of which those have few bins, whose samples are sorted where a bin may
hold the best split; here every code has an entry of its own, so that the end of an
entry is a split, and the histogram of a node is kept for its children.
"""

from libc.math cimport INFINITY, fabs, floor
from libc.stdint cimport uint16_t
from libc.stdlib cimport qsort
from libc.string cimport memset

from sklearn_textbook.tree.split._best cimport breaks_constraint
from sklearn_textbook.tree.split._column cimport midpoint
from sklearn_textbook.tree.split._memory cimport take_doubles, take_memory
from sklearn_textbook.tree.split._smoothing cimport added_weight
from sklearn_textbook.tree.split._sums cimport FETCH_AHEAD, PREFETCH
from sklearn_textbook.tree.split._types cimport (
    NOMINAL_COLUMN,
    ORDERED_ROWS,
    smooths_levels,
)

cdef enum:
    UNROLLED = 4  # columns

ctypedef fused SmallCode:
    uint8_t
    uint16_t

# By how much the decrease must be larger to be better; it is about the rounding of a
# sum of squares.
cdef double TIE = 1e-12


# ------------------------------------------------------------------------------------
# Counting.
# ------------------------------------------------------------------------------------


cdef void add_rows(
    const GradientTable* table, const SmallCode* row_codes, const uint32_t* rows,
    int64_t n, int64_t first, int64_t stop, GradientPair* histogram
) noexcept nogil:
    """Add the pairs of some rows to the histograms of some columns."""
    cdef:
        const GradientPair* pairs = table.pairs
        const int64_t* start = table.start
        const SmallCode* codes
        int64_t i, j, width = table.n_columns
        int64_t even = first + (stop - first) // UNROLLED * UNROLLED
        PairVector pair
    for i in range(n):
        # Rows of a node are scattered over the table.
        PREFETCH(row_codes + rows[i + FETCH_AHEAD] * width + first)
        PREFETCH(pairs + rows[i + FETCH_AHEAD])
        codes = row_codes + rows[i] * width
        pair = LOAD_PAIR(&pairs[rows[i]])
        j = first
        while j < even:
            ADD_PAIR(&histogram[start[j] + codes[j]], pair)
            ADD_PAIR(&histogram[start[j + 1] + codes[j + 1]], pair)
            ADD_PAIR(&histogram[start[j + 2] + codes[j + 2]], pair)
            ADD_PAIR(&histogram[start[j + 3] + codes[j + 3]], pair)
            j += UNROLLED
        while j < stop:
            ADD_PAIR(&histogram[start[j] + codes[j]], pair)
            j += 1


cdef void count_pairs(
    const GradientTable* table, const uint32_t* rows, int64_t n, int64_t first,
    int64_t stop, GradientPair* histogram
) noexcept nogil:
    """Sum up n rows in the histograms of some columns. Behind the numbers of the rows
    are FETCH_AHEAD more, which are prefetched."""
    memset(
        histogram + table.start[first], 0,
        (table.start[stop] - table.start[first]) * sizeof(GradientPair)
    )
    add_pairs(table, rows, n, first, stop, histogram)


cdef void add_pairs(
    const GradientTable* table, const uint32_t* rows, int64_t n, int64_t first,
    int64_t stop, GradientPair* histogram
) noexcept nogil:
    """Add n rows to the histograms of some columns."""
    if table.code_size == 1:
        add_rows(
            table, <const uint8_t*>table.row_codes, rows, n, first, stop, histogram
        )
    else:
        add_rows(
            table, <const uint16_t*>table.row_codes, rows, n, first, stop, histogram
        )


# ------------------------------------------------------------------------------------
# The best split of a column.
# ------------------------------------------------------------------------------------


cdef void start_gradient_scratch(
    const Problem* problem, int64_t most_codes, Memory* memory, GradientScratch* scratch
) noexcept nogil:
    """Allocate what a thread searches with."""
    scratch.gradients = take_doubles(memory, most_codes)
    scratch.hessians = take_doubles(memory, most_codes)
    scratch.scores = take_doubles(memory, most_codes)
    if problem.any_nominal:
        scratch.levels = <Keyed*>take_memory(memory, most_codes, sizeof(Keyed))


cdef void describe_node(
    const Problem* problem, const GradientTable* table, const GradientPair* histogram,
    const GradientPair* total, double lower, double upper, GradientSearch* search
) noexcept nogil:
    """Describe a node that is to be searched."""
    cdef double step
    search.problem = problem
    search.table = table
    search.histogram = histogram
    search.total = total[0]
    search.lower = lower
    search.upper = upper
    search.gradient = gradient_of(total, &table.scale)
    search.hessian = hessian_of(total, &table.scale)
    # A side without any hessian has no step.
    search.min_hessian = max(problem.min_weight_leaf, table.scale.hessian_unit)
    search.parent = decrease_of(search.gradient, search.hessian, table.l2)
    search.size = search.parent
    # The step may be cut off by the bounds; then the node's own decrease is less.
    if problem.monotonic != NULL:
        step = step_of_leaf(search.gradient, search.hessian, table.l2)
        step = min(max(step, lower), upper)
        search.parent = decrease_by(step, search.gradient, search.hessian, table.l2)
        search.size = 2.0 * fabs(search.gradient * step) + fabs(search.parent)


cdef void score_places(
    const GradientSearch* search, const GradientScratch* scratch, int64_t low,
    int64_t high
) noexcept nogil:
    """By how much the steps of both children decrease the loss, twice."""
    cdef:
        const double* gradients = scratch.gradients
        const double* hessians = scratch.hessians
        double* scores = scratch.scores
        double total = search.gradient, weight = search.hessian, l2 = search.table.l2
        double left, right, below, above
        int64_t i
    # G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2).
    for i in range(low, high):
        left = gradients[i]
        right = total - left
        below = hessians[i] + l2
        above = weight - hessians[i] + l2
        # One division for both children.
        scores[i] = (left * left * above + right * right * below) / (below * above)


cdef void score_within(
    const GradientSearch* search, const GradientScratch* scratch, int32_t direction,
    int64_t low, int64_t high
) noexcept nogil:
    """The same where the steps are bounded by monotonic constraints."""
    cdef:
        double left, right, below, above, first, second, l2 = search.table.l2
        int64_t i
    # A step that is cut off at a bound decreases the loss by less than its best.
    for i in range(low, high):
        left = scratch.gradients[i]
        right = search.gradient - left
        below = scratch.hessians[i]
        above = search.hessian - below
        first = min(max(step_of_leaf(left, below, l2), search.lower), search.upper)
        second = min(max(step_of_leaf(right, above, l2), search.lower), search.upper)
        if breaks_constraint(first, second, search.lower, search.upper, direction):
            scratch.scores[i] = -INFINITY
        else:
            scratch.scores[i] = decrease_by(first, left, below, l2) + (
                decrease_by(second, right, above, l2)
            )


cdef bint keep_best_place(
    const GradientSearch* search, const GradientScratch* scratch, int32_t direction,
    int64_t low, int64_t high, GradientSplit* best
) noexcept nogil:
    """Take the first of the best places from low on, below high, if it is better."""
    cdef:
        const double* scores = scratch.scores
        double top = -INFINITY, decrease
        int64_t i
    if low >= high:
        return False
    if search.problem.monotonic == NULL:
        score_places(search, scratch, low, high)
    else:
        score_within(search, scratch, direction, low, high)
    # How large the best is first, in a loop that compilers vectorise; then where.
    for i in range(low, high):
        top = scores[i] if scores[i] > top else top
    decrease = top - search.parent
    if not decrease > best.decrease + TIE * (search.size + fabs(top)):
        return False
    best.decrease = decrease
    # The first place with it: the lowest threshold of equal ones.
    best.cut = low
    while scores[best.cut] < top:
        best.cut += 1
    return True


cdef inline bint list_places(
    const GradientSearch* search, const GradientScratch* scratch,
    const GradientPair* sums, const Keyed* levels, int64_t n, GradientPair left,
    int64_t lowest, int64_t* low, int64_t* high
) noexcept nogil:
    """Add up n entries, of levels in their order or of all codes, to what is in child 0
    already. Splits behind the entries from low on, below high, leave enough samples and
    hessian on both sides; whether there are any."""
    cdef:
        GradientScale scale = search.table.scale
        int64_t fewest = max(search.problem.min_samples_leaf, 1)
        int64_t highest = samples_of(&search.total, &scale) - fewest, i, count
        int64_t first = -1, behind = -1
        double* gradients = scratch.gradients
        double* hessians = scratch.hessians
        double least = search.min_hessian, most = search.hessian - least, hessian
    for i in range(n):
        add_pair(&left, &sums[i if levels == NULL else levels[i].index])
        count = samples_of(&left, &scale)
        hessian = hessian_of(&left, &scale)
        gradients[i] = gradient_of(&left, &scale)
        hessians[i] = hessian
        # Sums only grow, so no later place leaves enough on the right.
        if count > highest or hessian > most:
            break
        # And from the first place on that leaves enough on the left, all do.
        if first < 0 and count >= lowest and hessian >= least:
            first = i
        behind = i + 1
    low[0] = first
    high[0] = behind
    return first >= 0


cdef void search_values(
    const GradientSearch* search, const GradientScratch* scratch, int64_t column,
    bint missing_left, GradientSplit* best
) noexcept nogil:
    """Search the thresholds of a numeric column."""
    cdef:
        const Problem* problem = search.problem
        const GradientScale* scale = &search.table.scale
        const GradientPair* sums = search.histogram + search.table.start[column]
        GradientPair left
        int64_t i, n = problem.n_distinct[column], low, high
        int64_t lowest = max(problem.min_samples_leaf, 1)
        int32_t direction = 0
        bint has_missing = problem.has_missing[column] and (
            samples_of(&sums[n], scale) > 0
        )
    if missing_left and not has_missing:
        return
    memset(&left, 0, sizeof(GradientPair))
    if missing_left:
        left = sums[n]
        # Missing values are not parted from all others a second time.
        lowest = max(lowest, samples_of(&left, scale) + 1)
    if not list_places(
        search, scratch, sums, NULL, n, left, lowest, &low, &high
    ):
        return
    if problem.monotonic != NULL:
        direction = problem.monotonic[column]
    if not keep_best_place(search, scratch, direction, low, high, best):
        return
    best.column = <int32_t>column
    best.is_ordered = True
    best.missing_child = (0 if missing_left else 1) if has_missing else -1
    # Sums of integers: the same as in the search.
    memset(&best.left, 0, sizeof(GradientPair))
    if missing_left:
        best.left = sums[n]
    for i in range(best.cut + 1):
        add_pair(&best.left, &sums[i])
    # All that have a value are in child 0, and all others in child 1.
    best.splits_missing = has_missing and samples_of(&best.left, scale) == (
        samples_of(&search.total, scale) - samples_of(&sums[n], scale)
    ) and not missing_left


cdef int compare_levels(const void* first, const void* second) noexcept nogil:
    """Rising steps; equal ones by code, so that the order is one on every machine."""
    cdef:
        const Keyed* a = <const Keyed*>first
        const Keyed* b = <const Keyed*>second
    if a.key != b.key:
        return -1 if a.key < b.key else 1
    return -1 if a.index < b.index else 1


cdef double added_to_levels(
    const GradientSearch* search, const GradientPair* sums, const Keyed* levels,
    int64_t n
) noexcept nogil:
    """The hessian k of rows with the step of the node by which those of levels are
    smoothed, as in ``smooth_runs``; below 0 if the steps differ by chance only."""
    cdef:
        const GradientScale* scale = &search.table.scale
        double hessian, difference, mean = search.gradient / search.hessian
        double between = 0.0, squares = 0.0
        int64_t i
    if search.problem.smoothing >= 0.0:
        return search.problem.smoothing * search.hessian / samples_of(
            &search.total, scale
        )
    # (G_l - H_l G / H)^2 / H_l, as if gradients were sums of values, and hessians
    # weights.
    for i in range(n):
        hessian = hessian_of(&sums[levels[i].index], scale)
        difference = gradient_of(&sums[levels[i].index], scale) - mean * hessian
        if hessian > 0.0:
            between += difference * difference / hessian
        squares += hessian * hessian
    return added_weight(search.table.variance, between, search.hessian, squares, n)


cdef int64_t order_levels(
    const GradientSearch* search, const GradientPair* sums, Keyed* levels,
    int64_t column, double* added
) noexcept nogil:
    """Order the levels that the node has by the steps that they would take. A missing
    value is one more level. Returns their number, or 0 if their steps differ by chance
    only; and the hessian by which steps are smoothed."""
    cdef:
        const int64_t* start = search.table.start
        const GradientScale* scale = &search.table.scale
        int64_t code, i, n = 0
        double mean = 0.0, hessian, largest = 0.0, grid
    # The last code is that of missing values, if there are any in the table.
    for code in range(start[column + 1] - start[column]):
        if samples_of(&sums[code], scale) > 0:
            levels[n].index = code
            n += 1
    added[0] = 0.0
    if smooths_levels(search.problem, column):
        added[0] = added_to_levels(search, sums, levels, n)
        if added[0] < 0.0:
            return 0
        mean = search.gradient / search.hessian
    # With a mean, what is left of the gradients after the step of the node.
    for i in range(n):
        hessian = hessian_of(&sums[levels[i].index], scale)
        levels[i].key = step_of_leaf(
            gradient_of(&sums[levels[i].index], scale) - mean * hessian, hessian,
            added[0]
        )
        largest = max(largest, fabs(levels[i].key))
    # Equal steps may differ in their last bits: a fine grid makes them equal.
    grid = largest / 1099511627776.0
    for i in range(n if grid > 0.0 else 0):
        levels[i].key = grid * floor(levels[i].key / grid + 0.5)
    qsort(levels, n, sizeof(Keyed), compare_levels)
    return n


cdef void smooth_places(
    const GradientSearch* search, const GradientScratch* scratch,
    const GradientPair* sums, int64_t n, int64_t high
) noexcept nogil:
    """Put the smoothed gradients in child 0, below a place, in place of those that were
    summed up. There are n levels."""
    cdef:
        const GradientScale* scale = &search.table.scale
        double below = 0.0, above = 0.0, hessian, change
        int64_t i
    # The keys are differences of steps from that of the node, of the sign of steps. The
    # mean of the smoothed gradients is shifted to that of the node.
    for i in range(n):
        hessian = hessian_of(&sums[scratch.levels[i].index], scale)
        above -= scratch.levels[i].key * hessian
    change = above / search.hessian
    for i in range(high):
        hessian = hessian_of(&sums[scratch.levels[i].index], scale)
        below -= scratch.levels[i].key * hessian
        scratch.gradients[i] = below + (
            search.gradient / search.hessian - change
        ) * scratch.hessians[i]


cdef void search_levels(
    const GradientSearch* search, const GradientScratch* scratch, int64_t column,
    GradientSplit* best
) noexcept nogil:
    """Search the divisions of the ordered levels of a nominal column."""
    cdef:
        const Problem* problem = search.problem
        const GradientPair* sums = search.histogram + search.table.start[column]
        Keyed* levels = scratch.levels
        GradientPair left
        double added
        int64_t i, n, low, high
        int64_t lowest = max(problem.min_samples_leaf, 1)
    n = order_levels(search, sums, levels, column, &added)
    memset(&left, 0, sizeof(GradientPair))
    # With the last level on the left nothing would be divided.
    if not list_places(
        search, scratch, sums, levels, n - 1, left, lowest, &low, &high
    ):
        return
    if added > 0.0:
        smooth_places(search, scratch, sums, n, high)
    if not keep_best_place(search, scratch, 0, low, high, best):
        return
    best.column = <int32_t>column
    best.is_ordered = False
    best.missing_child = -1
    best.splits_missing = False
    memset(&best.left, 0, sizeof(GradientPair))
    # The sums of child 0, and the child of missing values, by the order of the levels.
    for i in range(n):
        if i <= best.cut:
            add_pair(&best.left, &sums[levels[i].index])
        if problem.has_missing[column] and (
            levels[i].index == problem.n_distinct[column]
        ):
            best.missing_child = i > best.cut


cdef void search_pairs(
    const GradientSearch* search, const GradientScratch* scratch, int64_t column,
    GradientSplit* best
) noexcept nogil:
    """Find the best split of a column."""
    memset(best, 0, sizeof(GradientSplit))
    best.column = -1
    if search.problem.kind[column] == NOMINAL_COLUMN:
        if not smooths_levels(search.problem, column):
            search_levels(search, scratch, column, best)
            return
        if samples_of(&search.total, &search.table.scale) > ORDERED_ROWS:
            search_levels(search, scratch, column, best)
    search_values(search, scratch, column, False, best)
    search_values(search, scratch, column, True, best)


cdef bint is_better_split(
    const GradientSearch* search, const GradientSplit* found, const GradientSplit* best
) noexcept nogil:
    """Whether the split of a column is better than that of one before it."""
    return found.column >= 0 and found.decrease > best.decrease + TIE * (
        2.0 * search.size + found.decrease
    )


# ------------------------------------------------------------------------------------
# The child of every code, by which rows are partitioned.
# ------------------------------------------------------------------------------------


cdef void divide_values(
    const GradientSearch* search, const GradientSplit* split, uint8_t* child_of_code,
    int64_t* pair
) noexcept nogil:
    """Write the child of every code of a numeric column. The threshold is the midpoint
    of the values on both sides, or, if that lies inside of a bin that the node lacks,
    the end of this bin: a row of no weight goes where its code goes."""
    cdef:
        const Problem* problem = search.problem
        const GradientPair* sums = search.histogram + search.table.start[split.column]
        int64_t place = split.column * problem.values_stride
        const double* values = problem.values + place
        const double* upper_values = problem.upper_values + place
        int64_t n = problem.n_distinct[split.column], cut = split.cut
        int64_t above = cut + 1
        double threshold
    if not split.splits_missing:
        # The next code that the node has.
        while samples_of(&sums[above], &search.table.scale) == 0:
            above += 1
        pair[0] = cut << 32 | above
        threshold = midpoint(upper_values[cut], values[above])
        # Codes between the two, which the node lacks, by the threshold.
        while cut + 1 < above and values[cut + 1] <= threshold:
            cut += 1
        if upper_values[cut] > threshold:
            pair[0] = cut << 32 | (cut + 1)
    else:
        cut = n - 1
    memset(child_of_code, 0, cut + 1)
    memset(child_of_code + cut + 1, 1, n - cut - 1)
    if problem.has_missing[split.column]:
        child_of_code[n] = split.missing_child == 1


cdef void divide_codes(
    const GradientSearch* search, const GradientScratch* scratch,
    const GradientSplit* split, uint8_t* child_of_code
) noexcept nogil:
    """Write the child of every level; 2: the node lacks it."""
    cdef:
        int64_t column = split.column, i, n
        const GradientPair* sums = search.histogram + search.table.start[column]
        int64_t n_codes = search.table.start[column + 1] - search.table.start[column]
        double added
    memset(child_of_code, 2, n_codes)
    if split.is_ordered:
        for i in range(n_codes):
            if samples_of(&sums[i], &search.table.scale) > 0:
                child_of_code[i] = i > split.cut
    else:
        n = order_levels(search, sums, scratch.levels, column, &added)
        for i in range(n):
            child_of_code[scratch.levels[i].index] = i > split.cut
    if split.missing_child >= 0:
        child_of_code[search.problem.n_distinct[column]] = split.missing_child


cdef void find_children(
    const GradientSearch* search, const GradientScratch* scratch,
    const GradientSplit* split, uint8_t* child_of_code, int64_t* pair
) noexcept nogil:
    """Write the child of every code of the column of a split, and the codes on both
    sides of a threshold."""
    if search.problem.kind[split.column] == NOMINAL_COLUMN:
        divide_codes(search, scratch, split, child_of_code)
    else:
        divide_values(search, split, child_of_code, pair)
