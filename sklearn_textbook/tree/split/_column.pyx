"""One column of one node: which scan, which rows, where the missing ones stand.

The missing rows of a column are in child 1, in child 0, in a child of their own, or
left out, as the strategy for missing values prescribes; where there is a choice, each
is tried. A search is given the best split so far and replaces it by a better one.
"""

from libc.math cimport INFINITY, floor, sqrt
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._interrupt cimport must_stop
from sklearn_textbook.tree.split._best cimport (
    breaks_constraint,
    leaves_enough,
    limits_children,
    score_to_beat,
    take,
    take_missing_alone,
)
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._criterion cimport (
    absolute_loss,
    add_row,
    class_impurity,
    clear_losses,
    goodness,
    insert_row,
    lacks_events,
    sum_entries,
    value_of,
)
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    sample_sides,
    sample_threshold,
)
from sklearn_textbook.tree.split._scan cimport run_scan
from sklearn_textbook.tree.split._smoothing cimport added_weight, variance_within
from sklearn_textbook.tree.split._types cimport (
    ABSOLUTE_ERROR,
    GINI,
    MANY_ROWS,
    MISSING_BRANCH,
    MISSING_LEARNED,
    MISSING_SURROGATE,
    NOMINAL_COLUMN,
    ORDERED_ROWS,
    POISSON,
    SPLIT_MULTIWAY,
    SPLIT_ONE_VS_REST,
    SPLIT_SUBSET,
    SQUARED_ERROR,
    Entry,
    Keyed,
    NodeView,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
    Totals,
    int32_t,
    int64_t,
    is_missing,
    rank_of,
    row_of,
    smooths_levels,
    uint32_t,
    uint64_t,
)


# ------------------------------------------------------------------------------------
# Best division of the levels of a nominal column.
#
# The rows of a level are a *run*: they stand side by side in a sorted column, and in a
# list of samples they are summed up level by level. Missing rows count as one more run
# where the strategy for missing values says so. A division is built by moving one run
# at a time to child 0.
#
# A division that is found by the means of the levels suits the rows that it was found
# in better than others, and the more so, the more levels there are: of a column without
# any effect, the sum of squares between L levels is about (L - 1) s^2, where s^2 is the
# variance within levels, and two thirds of it are between the two children of the best
# division. A threshold of a numeric column is chosen, too, and owes as much to chance
# as a division of nine levels does. For columns of more levels, the decrease is
# therefore multiplied by the fraction of it to be expected on other rows. The mean
# of a level there is taken to be its smoothed mean, that of its rows and of k more with
# the mean m of the node,
#
#     m + n / (n + k) (mean - m).
#
# This is the posterior mean of a normal model (empirical Bayes: Efron and Morris 1975).
# Of the sum of squares B between the levels, (L - 9) s^2 are attributed to chance, as
# James and Stein (1961) attribute (L - 3) s^2, and k is such that levels of average
# size n' keep the rest: n' / (n' + k) = 1 - (L - 9) s^2 / B. Where B is less, there is
# nothing to divide. If the mean of a child of weight W differs from that of the node by
# a, and by b where the levels have their smoothed means, then predicting the mean of
# the child decreases the squared error on other rows by W (2 a b - a^2), where it
# decreases it by W a^2 on these.
#
# Such columns are also divided in the declared order of their levels, like ordinal
# columns, which owes nothing to the means.
# ------------------------------------------------------------------------------------


cdef enum:
    ENUMERATED_LEVELS = 10  # up to here all divisions are tried
    EXCHANGE_PASSES = 10
    INSERTED_RUNS = 40  # up to here runs are sorted by insertion
    TABLE_ROUNDING = 8  # units by which equal sums of table entries may differ


# The division at hand.
cdef struct Division:
    int64_t n_runs
    int64_t left_rows
    int64_t left_runs
    double left_weight
    double beat
    bint is_quadratic  # sums of squares over weights, of one output
    # entropy of whole weights: c log2 c from a table, whose rounding counts in ``beat``
    const int64_t* table
    int64_t table_base
    double table_margin
    # the decrease is multiplied by what is expected of it on other rows
    bint is_smoothed
    double shrinkage  # the same of a division into all levels
    double found  # score of the last division as it is


cdef void sort_runs(Keyed* runs, int64_t n) noexcept nogil:
    """Sort by key; the order of equal ones stays."""
    cdef:
        int64_t i, j
        Keyed run
    for i in range(1, n):
        run = runs[i]
        j = i
        while j > 0 and runs[j - 1].key > run.key:
            runs[j] = runs[j - 1]
            j -= 1
        runs[j] = run


cdef int compare_keyed(const void* first, const void* second) noexcept nogil:
    """As ``sort_runs``: equal keys in the order of their runs."""
    cdef const Keyed* a = <const Keyed*>first
    cdef const Keyed* b = <const Keyed*>second
    if a.key != b.key:
        return 1 if a.key > b.key else -1
    return (a.index > b.index) - (a.index < b.index)


cdef int64_t collect_runs(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, bint missing_is_level
) noexcept nogil:
    """Sum up every level of the node; returns their number."""
    cdef:
        int64_t n_runs = 0, i, run, row, n_statistics = problem.n_statistics
        int64_t n_all = scan.n_present + (scan.n_missing if missing_is_level else 0)
        double weight
    for i in range(n_all):
        # All missing rows have one rank.
        if i == 0 or rank_of(entries[i]) != rank_of(entries[i - 1]):
            scratch.run_start[n_runs] = i
            scratch.run_rows[n_runs] = 0
            scratch.run_weight[n_runs] = 0.0
            memset(
                scratch.run_sums + n_runs * n_statistics, 0,
                n_statistics * sizeof(double)
            )
            n_runs += 1
        run = n_runs - 1
        row = row_of(entries[i])
        weight = 1.0 if rows.weight == NULL else rows.weight[row]
        scratch.run_rows[run] += 1
        scratch.run_weight[run] += weight
        add_row(
            problem, rows, row, weight, scan.totals.centre,
            scratch.run_sums + run * n_statistics
        )
    # One more, so that every run ends where the next begins.
    scratch.run_start[n_runs] = n_all
    return n_runs


cdef void start_division(
    const Problem* problem, Scratch* scratch, Division* division
) noexcept nogil:
    """All runs in child 1."""
    memset(scratch.left, 0, problem.n_statistics * sizeof(double))
    memset(scratch.run_side, 0, division.n_runs * sizeof(int32_t))
    if division.is_smoothed:
        memset(scratch.left_smooth, 0, problem.n_statistics * sizeof(double))
    division.left_rows = 0
    division.left_runs = 0
    division.left_weight = 0.0


cdef inline void move_run(
    const Problem* problem, Scratch* scratch, Division* division, int64_t run
) noexcept nogil:
    """Send a run to the other child; run_side is 1 for child 0."""
    cdef:
        int64_t k
        double sign = -1.0 if scratch.run_side[run] else 1.0
        const double* sums = scratch.run_sums + run * problem.n_statistics
    # Of real sums, a run that moves there and back may leave rounding.
    for k in range(problem.n_statistics):
        scratch.left[k] += sign * sums[k]
    if division.is_smoothed:
        sums = scratch.run_smooth + run * problem.n_statistics
        for k in range(problem.n_statistics):
            scratch.left_smooth[k] += sign * sums[k]
    division.left_weight += sign * scratch.run_weight[run]
    division.left_rows += (
        -scratch.run_rows[run] if scratch.run_side[run] else scratch.run_rows[run]
    )
    division.left_runs += -1 if scratch.run_side[run] else 1
    scratch.run_side[run] = 1 - scratch.run_side[run]


cdef double side_loss(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n_runs, int32_t side
) noexcept nogil:
    """Absolute error of one child."""
    cdef:
        int64_t output, run, i
        double total = 0.0, median
    for output in range(problem.n_outputs):
        clear_losses(scratch, output)
        # Medians have to be found anew for every division.
        for run in range(n_runs):
            if scratch.run_side[run] != side:
                continue
            for i in range(scratch.run_start[run], scratch.run_start[run + 1]):
                insert_row(rows, scratch, output, row_of(entries[i]))
        total += absolute_loss(scratch, &median)
    return total / problem.n_outputs


cdef void choose_arithmetic(
    const Problem* problem, const Pass* scan, Division* division
) noexcept nogil:
    """How divisions are scored, and their initial values."""
    cdef int64_t k
    division.is_quadratic = problem.n_outputs == 1 and (
        problem.criterion == GINI or problem.criterion == SQUARED_ERROR
    )
    division.table = problem.entropy_table
    division.table_base = 0
    division.table_margin = 0.0
    # The base is the value of no division: sum T(t_c) - T(n).
    if division.table != NULL:
        division.table_margin = TABLE_ROUNDING * problem.entropy_unit
        division.table_base = -division.table[<int64_t>scan.totals.weight]
        for k in range(problem.n_statistics):
            division.table_base += division.table[<int64_t>scan.totals.sums[k]]


cdef inline double quadratic_score(
    const Problem* problem, const Scratch* scratch, const Pass* scan,
    const Division* division
) noexcept nogil:
    """Gini and squared error, as ``goodness`` has them."""
    cdef:
        double left = 0.0, right = 0.0, value
        int64_t k
    for k in range(problem.n_statistics):
        value = scratch.left[k]
        left += value * value
        value = scan.totals.sums[k] - value
        right += value * value
    left /= division.left_weight
    right /= scan.totals.weight - division.left_weight
    return scan.offset + left + right - scan.totals.goodness


cdef inline double table_score(
    const Problem* problem, const Scratch* scratch, const Pass* scan,
    const Division* division
) noexcept nogil:
    """Entropy of whole weights."""
    cdef:
        const int64_t* table = division.table
        int64_t left = <int64_t>division.left_weight, k
        int64_t value = -table[left] - table[<int64_t>scan.totals.weight - left]
    for k in range(problem.n_statistics):
        left = <int64_t>scratch.left[k]
        value += table[left] + table[<int64_t>scan.totals.sums[k] - left]
    return scan.offset + problem.entropy_unit * <double>(value - division.table_base)


cdef double score_as_found(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division
) noexcept nogil:
    """Score of the current division; -inf if it is not allowed."""
    cdef:
        const Totals* totals = scan.totals
        double right_weight = totals.weight - division.left_weight
        double left_goodness, right_goodness
        int64_t k
    if division.left_runs == 0 or division.left_runs == division.n_runs:
        return -INFINITY
    if division.left_rows < problem.min_samples_leaf:
        return -INFINITY
    if totals.rows - division.left_rows < problem.min_samples_leaf:
        return -INFINITY
    if division.left_weight < problem.min_weight_leaf:
        return -INFINITY
    if right_weight < problem.min_weight_leaf:
        return -INFINITY
    if division.is_quadratic and division.left_weight > 0.0 and right_weight > 0.0:
        return quadratic_score(problem, scratch, scan, division)
    if division.table != NULL:
        return table_score(problem, scratch, scan, division)
    if problem.criterion == ABSOLUTE_ERROR:
        left_goodness = -side_loss(problem, rows, scratch, entries, division.n_runs, 1)
        right_goodness = -side_loss(
            problem, rows, scratch, entries, division.n_runs, 0
        )
    else:
        for k in range(problem.n_statistics):
            scratch.right[k] = totals.sums[k] - scratch.left[k]
        if lacks_events(problem, scratch.left, scratch.right):
            return -INFINITY
        left_goodness = goodness(problem, scratch.left, division.left_weight)
        right_goodness = goodness(problem, scratch.right, right_weight)
    return scan.offset + left_goodness + right_goodness - totals.goodness


cdef double shrink_division(
    const Problem* problem, const Scratch* scratch, const Pass* scan,
    const Division* division
) noexcept nogil:
    """The decrease of the squared error on other rows, as a fraction of that on these;
    below 0 if it is to increase there."""
    cdef:
        double part = division.left_weight / scan.totals.weight
        double expected = 0.0, found = 0.0, difference
        int64_t k
    # Up to a common factor, ``difference`` is a, and what it is multiplied by is b: the
    # fraction is W (2 a b - a^2) / (W a^2) = 2 b / a - 1, summed over the classes or
    # outputs.
    for k in range(problem.n_statistics):
        difference = scratch.left[k] - part * scratch.all_sums[k]
        found += difference * difference
        expected += difference * (
            scratch.left_smooth[k] - part * scratch.all_smooth[k]
        )
    return 2.0 * expected / found - 1.0 if expected < found else 1.0


cdef double score_division(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division
) noexcept nogil:
    """Score of the current division on other rows; -inf if it is not allowed."""
    cdef double score = score_as_found(
        problem, rows, scratch, entries, scan, division
    )
    division.found = score
    if not division.is_smoothed or score == -INFINITY:
        return score
    return scan.offset + (score - scan.offset) * shrink_division(
        problem, scratch, scan, division
    )


cdef inline bint must_leave(
    const Problem* problem, const Pass* scan
) noexcept nogil:
    """Whether a signal ends the search, before the next division is scored."""
    cdef int64_t n_units = problem.n_statistics
    if problem.criterion == ABSOLUTE_ERROR:
        n_units *= scan.totals.rows
    return must_stop(problem.interrupt, n_units)


cdef bint try_division(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, Split* best
) noexcept nogil:
    """Take the division at hand if it is better, and raise what others must exceed;
    whether it was taken. The caller then keeps its sides."""
    cdef double score = score_division(problem, rows, scratch, entries, scan, division)
    if not score > division.beat:
        return False
    take(best, score, -1, -1)
    best.decrease = division.found
    best.n_children = 2 if scan.offset_child < 0 else 3
    division.beat = score + scan.margin + division.table_margin
    return True


cdef void keep_sides(Scratch* scratch, const Division* division) noexcept nogil:
    # 1 for the levels of child 0, as ``assign_runs`` reads them.
    memcpy(scratch.best_side, scratch.run_side, division.n_runs * sizeof(int32_t))


cdef void sort_keyed(Keyed* runs, int64_t n) noexcept nogil:
    """Sort by key; equal ones by run."""
    if n <= INSERTED_RUNS:
        sort_runs(runs, n)
    else:
        qsort(runs, n, sizeof(Keyed), compare_keyed)


cdef void order_runs(
    const Problem* problem, Scratch* scratch, const Pass* scan,
    const Division* division, int64_t statistic
) noexcept nogil:
    """Sort the levels by the proportion of a class or by the mean of an output.

    Smoothed sums are counted from the mean of the node, and in the order of the
    smoothed means.
    """
    cdef:
        int64_t run, n_runs = division.n_runs
        double grid = 1.0, key
        const double* sums = scratch.run_sums
    if division.is_smoothed:
        sums = scratch.run_smooth
    if not problem.is_classifier and scan.totals.squares > 0.0:
        grid = sqrt(scan.totals.squares / scan.totals.weight)
    # Equal means may differ in their last bits: a fine grid makes them equal.
    grid /= 1099511627776.0
    for run in range(n_runs):
        key = sums[run * problem.n_statistics + statistic]
        scratch.run_order[run].key = floor(key / scratch.run_weight[run] / grid + 0.5)
        scratch.run_order[run].index = run
    sort_keyed(scratch.run_order, n_runs)


cdef bint order_ties(
    const Scratch* scratch, Keyed* order, int64_t n_runs, double sign, bint by_weight
) noexcept nogil:
    """Sort levels of equal keys by their rows, and equal ones of these by weight,
    falling if ``sign`` is -1. Returns whether there were any."""
    cdef:
        int64_t first = 0, last, i, run
        bint any_ties = False
    while first < n_runs:
        last = first + 1
        while last < n_runs and order[last].key == order[first].key:
            last += 1
        # Keys are replaced by rows, then by weights, as far as levels are equal.
        if last - first > 1:
            any_ties = True
            for i in range(first, last):
                run = order[i].index
                order[i].key = sign * (
                    scratch.run_weight[run] if by_weight else scratch.run_rows[run]
                )
            sort_keyed(order + first, last - first)
            if not by_weight:
                order_ties(scratch, order + first, last - first, sign, True)
        first = last
    return any_ties


cdef void try_prefixes(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, Split* best
) noexcept nogil:
    """The first levels in the order of run_order against the others, for every number
    of them."""
    cdef int64_t i, last = -1
    start_division(problem, scratch, division)
    for i in range(division.n_runs - 1):
        if must_leave(problem, scan):
            return
        move_run(problem, scratch, division, scratch.run_order[i].index)
        if try_division(problem, rows, scratch, entries, scan, division, best):
            last = i
    if last >= 0:
        memset(scratch.best_side, 0, division.n_runs * sizeof(int32_t))
        # Written once, for the best prefix.
        for i in range(last + 1):
            scratch.best_side[scratch.run_order[i].index] = 1


cdef void try_all(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, Split* best
) noexcept nogil:
    """Every division, in Gray code order; the last level stays in child 1."""
    cdef int64_t step, run, bits
    start_division(problem, scratch, division)
    for step in range(1, <int64_t>1 << (division.n_runs - 1)):
        if must_leave(problem, scan):
            return
        # From one division to the next the lowest bit that is 1 in the step tells the
        # run that changes sides, so that each division costs one move.
        run = 0
        bits = step
        while not bits & 1:
            bits >>= 1
            run += 1
        move_run(problem, scratch, division, run)
        if try_division(problem, rows, scratch, entries, scan, division, best):
            keep_sides(scratch, division)


cdef void exchange_runs(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, Split* best
) noexcept nogil:
    """Improve the best division by moving single levels."""
    cdef:
        int64_t run, _attempt
        bint changed
    start_division(problem, scratch, division)
    for run in range(division.n_runs):
        if scratch.best_side[run]:
            move_run(problem, scratch, division, run)
    for _attempt in range(EXCHANGE_PASSES):
        changed = False
        for run in range(division.n_runs):
            if must_leave(problem, scan):
                return
            move_run(problem, scratch, division, run)
            # A move that does not help is taken back. Moves that do are kept at once,
            # and the next run is tried from there.
            if try_division(problem, rows, scratch, entries, scan, division, best):
                scratch.best_side[run] = scratch.run_side[run]
                changed = True
            else:
                move_run(problem, scratch, division, run)
        if not changed:
            return


cdef void try_ordered(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, int64_t statistic,
    Split* best
) noexcept nogil:
    """The first levels in order of their means, which is exact but for limits
    (Fisher 1958; Breiman et al. 1984).

    Levels of equal means are best kept together. If a limit does not allow that, the
    small ones of them may go first or the large ones, however they are declared.
    """
    cdef:
        bint is_limited = limits_children(problem)
        double sign = 1.0
    while True:
        order_runs(problem, scratch, scan, division, statistic)
        if is_limited or scan.offset_child >= 0:
            is_limited &= order_ties(
                scratch, scratch.run_order, division.n_runs, sign, False
            )
        try_prefixes(problem, rows, scratch, entries, scan, division, best)
        if not is_limited or sign < 0.0:
            return
        sign = -1.0


cdef void try_subsets(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, Split* best
) noexcept nogil:
    """Two sets of levels. One output of two classes or of values needs no more than the
    levels in the order of their means; otherwise all divisions are tried, if there are
    not too many."""
    cdef:
        bint single = problem.n_outputs == 1
        bint two_classes = problem.is_classifier and problem.n_statistics == 2
    if single and (
        two_classes
        or problem.criterion == SQUARED_ERROR
        or problem.criterion == POISSON
    ):
        try_ordered(
            problem, rows, scratch, entries, scan, division, 1 if two_classes else 0,
            best
        )
    elif division.n_runs <= ENUMERATED_LEVELS:
        try_all(problem, rows, scratch, entries, scan, division, best)
    else:
        search_subsets(problem, rows, scratch, entries, scan, division, best)


cdef void search_subsets(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, Split* best
) noexcept nogil:
    """Heuristic for many levels: the best prefix of several orders, improved level by
    level. It starts from nothing, so that other columns cannot end it early."""
    cdef:
        int64_t statistic
        double beat = division.beat
        Split own = best[0]
    own.column = -1
    own.improved = False
    division.beat = score_to_beat(problem, &own, scan.margin)
    if division.is_smoothed:
        division.beat = max(division.beat, scan.offset)
    for statistic in range(problem.n_statistics):
        order_runs(problem, scratch, scan, division, statistic)
        try_prefixes(problem, rows, scratch, entries, scan, division, &own)
    if own.improved:
        exchange_runs(problem, rows, scratch, entries, scan, division, &own)
    if own.improved and own.score > beat:
        best[0] = own


cdef void try_singles(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, Split* best
) noexcept nogil:
    """Each level against all others."""
    cdef int64_t run, chosen = -1
    start_division(problem, scratch, division)
    for run in range(division.n_runs):
        if must_leave(problem, scan):
            return
        move_run(problem, scratch, division, run)
        if try_division(problem, rows, scratch, entries, scan, division, best):
            chosen = run
        move_run(problem, scratch, division, run)
    if chosen >= 0:
        memset(scratch.best_side, 0, division.n_runs * sizeof(int32_t))
        scratch.best_side[chosen] = 1


cdef void try_random(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division,
    uint64_t* random_state, Split* best
) noexcept nogil:
    """One division sampled at random."""
    cdef int64_t run
    start_division(problem, scratch, division)
    sample_sides(
        problem.categorical_split == SPLIT_ONE_VS_REST, division.n_runs, random_state,
        scratch.run_side
    )
    # Moved one by one, so that the sums of child 0 are those of its runs.
    for run in range(division.n_runs):
        if scratch.run_side[run]:
            scratch.run_side[run] = 0
            move_run(problem, scratch, division, run)
    if try_division(problem, rows, scratch, entries, scan, division, best):
        keep_sides(scratch, division)


cdef double node_variance(const Problem* problem, const Totals* whole) noexcept nogil:
    """Variance of a row of the node, summed over the outputs; of the indicators of the
    classes. Of counts at least their mean; of absolute errors as in a normal model."""
    cdef:
        double spread = whole.squares / whole.weight, variance, mean, deviance
        int64_t k
    # Of the indicator of a class with fraction p it is p (1 - p); the fractions of an
    # output add up to 1.
    if problem.is_classifier:
        variance = problem.n_outputs
        for k in range(problem.n_statistics):
            mean = whole.sums[k] / whole.weight
            variance -= mean * mean
        return variance
    if problem.criterion == ABSOLUTE_ERROR:
        # Of a normal variable, the square of the mean absolute error is 2 / pi of the
        # variance. ``spread`` is the sum over the outputs.
        return 1.5707963267948966 * spread * spread / problem.n_outputs
    if problem.criterion != POISSON:
        return spread
    # Counts vary by their mean, times the deviance per row where that is more than 1.
    variance = 0.0
    deviance = max(2.0 * spread / problem.n_outputs, 1.0)
    for k in range(problem.n_outputs):
        variance += deviance * whole.sums[k] / whole.weight
    return variance


cdef bint smooth_runs(
    const Problem* problem, Scratch* scratch, const Pass* scan, Division* division
) noexcept nogil:
    """Estimate k, and smooth the sums of the levels; those of few levels are left as
    they are. Returns False if the means differ by no more than they would by chance."""
    cdef:
        int64_t run, k, size = problem.n_statistics, n_runs = division.n_runs
        const Totals* totals = scan.totals
        double weight, mean, difference, added = problem.smoothing
        double between = 0.0, expected = 0.0, squares = 0.0, within
        double* smoothed = scratch.run_smooth
    # Totals of the absolute error have no sums.
    memset(scratch.all_sums, 0, size * sizeof(double))
    for run in range(n_runs):
        for k in range(size):
            scratch.all_sums[k] += scratch.run_sums[run * size + k]
    # The means of the levels about their common mean, and the squares between.
    for run in range(n_runs):
        weight = scratch.run_weight[run]
        squares += weight * weight
        for k in range(size):
            difference = scratch.run_sums[run * size + k] - (
                scratch.all_sums[k] / totals.weight * weight
            )
            smoothed[run * size + k] = difference
            between += difference * difference / weight
    if not between > 0.0:
        return False
    # k is estimated.
    if added < 0.0:
        within = variance_within(
            node_variance(problem, scan.whole), between, totals.weight, n_runs,
            problem.design_effect
        )
        added = added_weight(within, between, totals.weight, squares, n_runs)
        if added <= 0.0:
            return added == 0.0
    else:
        added *= problem.design_effect
    memset(scratch.all_smooth, 0, size * sizeof(double))
    # n / (n + k) of the difference of a level's sum from n times the mean m.
    for run in range(n_runs):
        weight = scratch.run_weight[run]
        for k in range(size):
            mean = smoothed[run * size + k] / (weight + added)
            expected += mean * smoothed[run * size + k]
            smoothed[run * size + k] = mean * weight
            scratch.all_smooth[k] += mean * weight
    division.shrinkage = 2.0 * expected / between - 1.0
    division.is_smoothed = True
    division.beat = max(division.beat, scan.offset)
    return True


cdef void try_declared(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, bint missing_is_level,
    Split* best
) noexcept nogil:
    """The first levels in their declared order. Missing rows, if they are a level, are
    in child 1, alone there, or in child 0."""
    cdef:
        int64_t n_levels = division.n_runs - (1 if missing_is_level else 0)
        int64_t n_tried = n_levels - (0 if missing_is_level else 1)
        int64_t i, missing_left, last = -1
        bint last_left = False
    # The missing rows are the last run. With all levels on the left they are alone in
    # child 1; with all of them there as well, nothing would be divided.
    for missing_left in range(2 if missing_is_level else 1):
        start_division(problem, scratch, division)
        if missing_left:
            move_run(problem, scratch, division, n_levels)
        for i in range(n_tried - missing_left):
            if must_leave(problem, scan):
                return
            move_run(problem, scratch, division, i)
            if try_division(problem, rows, scratch, entries, scan, division, best):
                last = i
                last_left = missing_left
    if last >= 0:
        for i in range(division.n_runs):
            scratch.best_side[i] = i <= last if i < n_levels else last_left


cdef void try_smoothed(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Division* division, bint missing_is_level,
    Split* best
) noexcept nogil:
    """Divisions in declared order and, of enough rows, by smoothed means."""
    cdef bint is_declared
    try_declared(
        problem, rows, scratch, entries, scan, division, missing_is_level, best
    )
    if scan.whole.rows <= ORDERED_ROWS:
        return
    if not smooth_runs(problem, scratch, scan, division):
        return
    # The search may write sides of divisions that are not better.
    is_declared = best.improved
    best.improved = False
    memcpy(
        scratch.declared_side, scratch.best_side, division.n_runs * sizeof(int32_t)
    )
    try_subsets(problem, rows, scratch, entries, scan, division, best)
    if best.improved:
        return
    best.improved = is_declared
    memcpy(
        scratch.best_side, scratch.declared_side, division.n_runs * sizeof(int32_t)
    )


cdef void scan_nominal(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, bint missing_is_level, bint is_smoothed,
    int64_t n_levels, int64_t n_runs, uint64_t* random_state, Split* best
) noexcept nogil:
    """Find the best division; scratch.best_side holds 1 for levels of child 0.

    Without entries there are n_runs runs, that of missing rows the last one, which the
    caller has summed up; the absolute error needs entries.
    For a multiway split ``best.position`` is the run that the missing rows joined, or
    -1.
    """
    cdef:
        Division division
        Pass own = scan[0]
    if entries != NULL:
        n_runs = collect_runs(
            problem, rows, scratch, entries, scan, missing_is_level
        )
    elif scan.n_missing > 0 and not missing_is_level:
        n_runs -= 1
    division.n_runs = n_runs
    division.is_smoothed = False
    division.beat = score_to_beat(problem, best, scan.margin)
    choose_arithmetic(problem, scan, &division)
    # Sums of table entries may be equal but for the rounding of the entries.
    if best.column >= 0:
        division.beat += division.table_margin
    if is_smoothed and not problem.random_splitter:
        if problem.categorical_split == SPLIT_SUBSET:
            try_smoothed(
                problem, rows, scratch, entries, scan, &division, missing_is_level, best
            )
            return
        if not smooth_runs(problem, scratch, scan, &division):
            return
    if problem.categorical_split == SPLIT_MULTIWAY:
        try_branches(
            problem, rows, scratch, entries, &own, missing_is_level, n_levels,
            &division, best
        )
        return
    if division.n_runs < 2:
        return
    if problem.random_splitter:
        try_random(
            problem, rows, scratch, entries, scan, &division, random_state, best
        )
    elif problem.categorical_split == SPLIT_ONE_VS_REST:
        try_singles(problem, rows, scratch, entries, scan, &division, best)
    else:
        try_subsets(problem, rows, scratch, entries, scan, &division, best)


# ------------------------------------------------------------------------------------
# A nominal column with a branch for every level.
# ------------------------------------------------------------------------------------


cdef double run_goodness(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, int64_t run, bint with_missing
) noexcept nogil:
    """Goodness of one branch, with or without the missing rows; -inf if it is
    too small."""
    cdef:
        int64_t k, size = scratch.run_rows[run], last = scan.n_runs_missing
        double weight = scratch.run_weight[run], median = 0.0
        const double* sums = scratch.run_sums + run * problem.n_statistics
        double* all_sums = scratch.right
    # A copy, to which those of the missing rows may be added.
    memcpy(all_sums, sums, problem.n_statistics * sizeof(double))
    if with_missing:
        size += scratch.run_rows[last]
        weight += scratch.run_weight[last]
        for k in range(problem.n_statistics):
            all_sums[k] += scratch.run_sums[last * problem.n_statistics + k]
    if size < problem.min_samples_leaf or weight < problem.min_weight_leaf:
        return -INFINITY
    if problem.criterion == ABSOLUTE_ERROR:
        return -two_part_loss(
            problem, rows, scratch, entries + scratch.run_start[run],
            scratch.run_rows[run], entries + scan.n_present,
            scan.n_missing if with_missing else 0, &median
        )
    return goodness(problem, all_sums, weight)


cdef void try_branches(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, Pass* scan, bint missing_is_level, int64_t n_levels,
    Division* division, Split* best
) noexcept nogil:
    """One branch per level; missing rows join the level that gains most."""
    cdef:
        int64_t n_present_runs = division.n_runs - (1 if missing_is_level else 0)
        int64_t run, n_invalid = 0, invalid_run = -1, joined = -1
        double* alone = scratch.run_gain
        double sum_alone = 0.0, found, score, with_missing
        double fraction = division.shrinkage if division.is_smoothed else 1.0
    if n_present_runs < (1 if scan.offset_child >= 0 else 2):
        return
    scan.n_runs_missing = n_present_runs
    # What every branch is worth without the missing rows.
    for run in range(n_present_runs):
        alone[run] = run_goodness(
            problem, rows, scratch, entries, scan, run, False
        )
        if alone[run] == -INFINITY:
            n_invalid += 1
            invalid_run = run
        else:
            sum_alone += alone[run]
    if not missing_is_level:
        if n_invalid:
            return
        found = sum_alone - scan.totals.goodness
        score = scan.offset + fraction * found
        if not score > division.beat:
            return
        take(best, score, -1, -1)
        best.decrease = scan.offset + found
    else:
        for run in range(n_present_runs):
            # A branch too small on its own must be the one that is joined.
            if n_invalid > 1 or (n_invalid == 1 and run != invalid_run):
                continue
            with_missing = run_goodness(
                problem, rows, scratch, entries, scan, run, True
            )
            if with_missing == -INFINITY:
                continue
            found = sum_alone + with_missing - scan.totals.goodness
            # The branch counts once, with the missing rows; one that is too small
            # without them was not added.
            if n_invalid == 0:
                found -= alone[run]
            score = scan.offset + fraction * found
            if score > division.beat:
                division.beat = score + scan.margin
                take(best, score, run, -1)
                best.decrease = scan.offset + found
                joined = run
        if joined < 0:
            return
    best.n_children = <int32_t>n_levels + (1 if scan.offset_child >= 0 else 0)


# ------------------------------------------------------------------------------------
# One threshold of a sorted column, sampled at random.
# ------------------------------------------------------------------------------------


cdef void try_parts(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, Pass* scan, int64_t position, bint missing_left,
    Split* best
) noexcept nogil:
    """Judge one given division: present rows up to a position, and the side of
    the missing rows."""
    cdef:
        const Entry* missing = entries + scan.n_present
        bint learned = problem.missing_mode == MISSING_LEARNED
        int64_t with_left = scan.n_missing if learned and missing_left else 0
        int64_t with_right = scan.n_missing if learned and not missing_left else 0
        int64_t k
        double score = scan.offset - scan.totals.goodness, first = 0.0, second = 0.0
        Totals left, right, extra
        Totals* joined = &left if with_left else &right
    left.sums = scratch.left
    right.sums = scratch.right
    extra.sums = scratch.present
    left.centre = right.centre = extra.centre = scan.totals.centre
    sum_entries(problem, rows, entries, position, &left)
    sum_entries(problem, rows, entries + position, scan.n_present - position, &right)
    sum_entries(problem, rows, missing, with_left + with_right, &extra)
    for k in range(problem.n_statistics):
        joined.sums[k] += extra.sums[k]
    joined.rows += extra.rows
    joined.weight += extra.weight
    if not leaves_enough(problem, left.rows, right.rows, left.weight, right.weight):
        return
    if problem.criterion == ABSOLUTE_ERROR:
        # Rows of one child stand in two stretches of the column: the present ones and,
        # of learned missing rows, those at the end.
        score -= two_part_loss(
            problem, rows, scratch, entries, position, missing, with_left, &first
        )
        score -= two_part_loss(
            problem, rows, scratch, entries + position, scan.n_present - position,
            missing, with_right, &second
        )
    else:
        score += goodness(problem, left.sums, left.weight)
        score += goodness(problem, right.sums, right.weight)
    if not runs_against(problem, scan, &left, &right, first, second) and (
        score > score_to_beat(problem, best, scan.margin)
    ):
        take(best, score, position, 0 if missing_left else scan.missing_child)


cdef void try_random_rank(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, Pass* scan, int64_t column,
    uint64_t* random_state, Split* best
) noexcept nogil:
    """Divide the sorted rows at a threshold sampled at random; one inside a bin is
    moved to its upper end."""
    cdef:
        int64_t low = 0, high = scan.n_present - 1, middle
        double smallest = value_of_rank(problem, column, ranks, rank_of(entries[0]))
        double largest = value_of_rank(problem, column, ranks, rank_of(entries[high]))
        double threshold
        bint missing_left = False
    if not smallest < largest:
        return
    threshold = sample_threshold(random_state, smallest, largest)
    # The second draw: other searches of random thresholds draw in this order, too.
    if scan.n_missing and problem.missing_mode == MISSING_LEARNED:
        missing_left = random_below(random_state, 2) == 1
    # First row above the threshold.
    while low < high:
        middle = (low + high) // 2
        if value_of_rank(problem, column, ranks, rank_of(entries[middle])) <= threshold:
            low = middle + 1
        else:
            high = middle
    best.improved = False
    try_parts(problem, rows, scratch, entries, scan, low, missing_left, best)
    if best.improved:
        best.threshold = leave_bin(problem, column, threshold)


cdef int64_t count_missing(const Entry* entries, int64_t n) noexcept nogil:
    """Missing rows stand last."""
    cdef int64_t low = 0, high = n, middle
    if n == 0 or not is_missing(entries[n - 1]):
        return 0
    while low < high:
        middle = (low + high) // 2
        if is_missing(entries[middle]):
            high = middle
        else:
            low = middle + 1
    return n - low


cdef double value_of_rank(
    const Problem* problem, int64_t column, const uint32_t* ranks, uint32_t rank
) noexcept nogil:
    """The value (or level code) behind a rank; ``ranks`` undoes the renumbering
    of a subtree, or is NULL."""
    if ranks != NULL:
        rank = ranks[rank]
    return problem.values[column * problem.values_stride + rank]


cdef double upper_value_of_rank(
    const Problem* problem, int64_t column, const uint32_t* ranks, uint32_t rank
) noexcept nogil:
    """The largest value behind a rank, which may be that of a bin."""
    if ranks != NULL:
        rank = ranks[rank]
    return problem.upper_values[column * problem.values_stride + rank]


cdef void set_range(const Problem* problem, Pass* scan) noexcept nogil:
    """Positions that leave min_samples_leaf rows on both sides."""
    scan.lowest = problem.min_samples_leaf - scan.left_rows
    if scan.lowest < 1:
        scan.lowest = 1
    # Both ends count present rows; ``left_rows`` are missing ones on the left.
    scan.highest = scan.totals.rows - scan.left_rows - problem.min_samples_leaf
    if scan.highest > scan.n_present - 1:
        scan.highest = scan.n_present - 1


cdef void run_pass(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, Pass* scan, Split* best
) noexcept nogil:
    """Try the thresholds that leave enough rows on both sides, if there are any."""
    set_range(problem, scan)
    if scan.lowest <= scan.highest:
        run_scan(problem, rows, scratch, entries, scan, best)


cdef double two_part_loss(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* first, int64_t n_first, const Entry* second, int64_t n_second,
    double* median
) noexcept nogil:
    """Absolute error of the rows of two stretches of a column."""
    cdef:
        int64_t output, i
        double total = 0.0
    for output in range(problem.n_outputs):
        clear_losses(scratch, output)
        for i in range(n_first):
            insert_row(rows, scratch, output, row_of(first[i]))
        for i in range(n_second):
            insert_row(rows, scratch, output, row_of(second[i]))
        total += absolute_loss(scratch, median)
    return total / problem.n_outputs


cdef bint runs_against(
    const Problem* problem, const Pass* scan, const Totals* left, const Totals* right,
    double first, double second
) noexcept nogil:
    """Whether a division breaks a monotonic constraint; ``first`` and ``second`` are
    the medians of absolute error."""
    if problem.monotonic == NULL:
        return False
    if problem.criterion != ABSOLUTE_ERROR:
        first = value_of(problem, left.sums, left.weight, left.centre)
        second = value_of(problem, right.sums, right.weight, right.centre)
    return breaks_constraint(first, second, scan.lower, scan.upper, scan.direction)


cdef void try_missing_alone(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, const NodeView* node,
    const Totals* present, const Totals* missing, double score, Split* best
) noexcept nogil:
    """Present rows against missing ones."""
    cdef double first = 0.0, second = 0.0
    if not leaves_enough(
        problem, present.rows, missing.rows, present.weight, missing.weight
    ):
        return
    if problem.monotonic != NULL and problem.criterion == ABSOLUTE_ERROR:
        two_part_loss(
            problem, rows, scratch, entries, present.rows, entries, 0, &first
        )
        two_part_loss(
            problem, rows, scratch, entries + present.rows, missing.rows, entries, 0,
            &second
        )
    if runs_against(problem, scan, present, missing, first, second) or not (
        score > score_to_beat(problem, best, node.margin)
    ):
        return
    take_missing_alone(best, score, present.rows)


cdef double own_margin(const Problem* problem, const Totals* present) noexcept nogil:
    """1e-12 of weight * impurity of the present rows."""
    cdef:
        double spread = present.squares
        int64_t k
    if problem.is_classifier:
        spread = present.weight * class_impurity(problem, present.sums, present.weight)
    elif present.weight > 0.0 and problem.criterion != ABSOLUTE_ERROR:
        for k in range(problem.n_statistics):
            spread -= present.sums[k] * present.sums[k] / present.weight
    return 1e-12 * spread


cdef void start_totals(
    Scratch* scratch, const NodeView* node, Totals* present, Totals* missing
) noexcept nogil:
    """Memory for the sums of the present and of the missing rows, about the node's
    centre."""
    present.sums = scratch.present
    present.centre = node.totals.centre
    missing.sums = scratch.missing
    missing.centre = node.totals.centre


cdef void sum_parts(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n_present, int64_t n_missing, Totals* present,
    Totals* missing
) noexcept nogil:
    """Totals of the present and of the missing rows."""
    cdef double value = 0.0
    sum_entries(problem, rows, entries, n_present, present)
    sum_entries(problem, rows, entries + n_present, n_missing, missing)
    if problem.criterion == ABSOLUTE_ERROR:
        present.goodness = -two_part_loss(
            problem, rows, scratch, entries, n_present, entries, 0, &value
        )
        missing.goodness = -two_part_loss(
            problem, rows, scratch, entries + n_present, n_missing, entries, 0, &value
        )
    else:
        present.goodness = goodness(problem, present.sums, present.weight)
        missing.goodness = goodness(problem, missing.sums, missing.weight)


cdef void sum_runs(
    const Problem* problem, const Scratch* scratch, int64_t start, int64_t stop,
    Totals* totals
) noexcept nogil:
    """Totals of some levels; ``squares`` stay out."""
    cdef:
        int64_t run, k, size = problem.n_statistics
    memset(totals.sums, 0, size * sizeof(double))
    totals.rows = 0
    totals.weight = 0.0
    totals.squares = 0.0
    for run in range(start, stop):
        totals.rows += scratch.run_rows[run]
        totals.weight += scratch.run_weight[run]
        for k in range(size):
            totals.sums[k] += scratch.run_sums[run * size + k]
    totals.goodness = goodness(problem, totals.sums, totals.weight)


cdef void start_pass(
    const Problem* problem, Scratch* scratch, const NodeView* node, int64_t column,
    int64_t n_missing, Pass* scan
) noexcept nogil:
    """A pass over the column from its lowest value, all of its rows in child 1."""
    scan.n_present = node.totals.rows - n_missing
    scan.n_missing = n_missing
    scan.missing_left = False
    scan.missing_child = -1
    scan.left_rows = 0
    scan.left_weight = 0.0
    scan.left_sums = scratch.zeros
    scan.totals = &node.totals
    scan.whole = &node.totals
    scan.offset = 0.0
    scan.offset_child = -1
    scan.margin = node.margin
    scan.next_apart = NULL
    scan.lower = node.lower
    scan.upper = node.upper
    scan.direction = 0 if problem.monotonic == NULL else problem.monotonic[column]


cdef bint place_missing(
    const Problem* problem, const NodeView* node, Pass* scan, const Totals* present,
    const Totals* missing, double alone_score
) noexcept nogil:
    """Set where the missing rows stand during the pass. Returns whether the present
    rows may be divided at all."""
    if problem.missing_mode == MISSING_LEARNED:
        scan.missing_child = 1
        return True
    # Only the present rows are divided from here on.
    scan.totals = present
    if problem.missing_mode == MISSING_SURROGATE:
        # The score is that of the present rows, and so is the margin.
        scan.margin = own_margin(problem, present) + node.noise
        return True
    # A child of their own, in addition to those of the others.
    scan.offset = alone_score
    scan.offset_child = 2
    scan.missing_child = 2
    return (
        missing.rows >= problem.min_samples_leaf
        and missing.weight >= problem.min_weight_leaf
    )


cdef void move_missing_left(Pass* scan, const Totals* missing) noexcept nogil:
    """Put the missing rows into child 0, for a second pass over the present ones."""
    scan.left_rows = missing.rows
    scan.left_weight = missing.weight
    scan.left_sums = missing.sums
    scan.missing_left = True
    scan.missing_child = 0


cdef void try_divisions(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, const NodeView* node,
    int64_t column, int64_t n_runs, const Totals* missing, Pass* scan, Split* found
) noexcept nogil:
    """All thresholds, or divisions of the levels, or one at random."""
    cdef:
        bint learned = problem.missing_mode == MISSING_LEARNED and scan.n_missing > 0
        uint64_t random_state = child_state(node.random_state, ~column)
    found.n_children = 2 if scan.offset_child < 0 else 3
    if problem.kind[column] == NOMINAL_COLUMN:
        scan_nominal(
            problem, rows, scratch, entries, scan, learned,
            smooths_levels(problem, column), problem.n_levels[column], n_runs,
            &random_state, found
        )
    elif problem.random_splitter:
        try_random_rank(
            problem, rows, scratch, entries, ranks, scan, column, &random_state, found
        )
    else:
        # Missing rows in child 1 come first, so they win a tie.
        run_pass(problem, rows, scratch, entries, scan, found)
        if learned:
            move_missing_left(scan, missing)
            run_pass(problem, rows, scratch, entries, scan, found)


cdef bint may_stand_alone(const Problem* problem, int64_t column) noexcept nogil:
    """Whether parting the missing rows from all others is a test of its own."""
    if problem.random_splitter or problem.missing_mode == MISSING_SURROGATE:
        return False
    if problem.kind[column] != NOMINAL_COLUMN:
        return True
    # Learned: missing rows are one more level already. Many ways: there is a child
    # for them anyway.
    return (
        problem.missing_mode == MISSING_BRANCH
        and problem.categorical_split != SPLIT_MULTIWAY
    )


cdef void search_sorted_column(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, const NodeView* node,
    int64_t column, int64_t n_runs, const Totals* present, const Totals* missing,
    Pass* scan, Split* best
) noexcept nogil:
    """Replace ``best`` if this column has a test that is better."""
    cdef:
        double alone_score = 0.0
        bint may_divide = True
        Split found = best[0]
    # ``best`` goes into the search, so that its score is what candidates must exceed.
    found.improved = False
    if scan.n_missing:
        # The decrease by parting the missing rows from the others. With a child of
        # their own, it is what every division of the others starts from.
        alone_score = present.goodness + missing.goodness - node.totals.goodness
        may_divide = place_missing(problem, node, scan, present, missing, alone_score)
    if may_divide:
        try_divisions(
            problem, rows, scratch, entries, ranks, node, column, n_runs, missing,
            scan, &found
        )
    if scan.n_missing and scan.n_present and may_stand_alone(problem, column):
        try_missing_alone(
            problem, rows, scratch, entries, scan, node, present, missing,
            alone_score, &found
        )
    if found.improved:
        found.column = <int32_t>column
        found.kind = problem.kind[column]
        best[0] = found


cdef void evaluate_column(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, const NodeView* node,
    int64_t column, Split* best
) noexcept nogil:
    """Replace ``best`` if this sorted column has a test that is better."""
    cdef:
        int64_t n_missing = 0
        Totals present, missing
        Pass scan
    # Smaller nodes are counted as a whole.
    if node.totals.rows >= MANY_ROWS and must_stop(
        problem.interrupt, node.totals.rows
    ):
        return
    if problem.has_missing[column]:
        n_missing = count_missing(entries, node.totals.rows)
    start_pass(problem, scratch, node, column, n_missing, &scan)
    if n_missing:
        start_totals(scratch, node, &present, &missing)
        sum_parts(
            problem, rows, scratch, entries, scan.n_present, n_missing, &present,
            &missing
        )
    search_sorted_column(
        problem, rows, scratch, entries, ranks, node, column, 0, &present, &missing,
        &scan, best
    )


cdef void evaluate_runs(
    const Problem* problem, Scratch* scratch, const NodeView* node, int64_t column,
    int64_t n_runs, int64_t n_missing, Split* best
) noexcept nogil:
    """The same of a nominal column whose levels are summed up in the scratch, the
    missing rows behind them. Neither for the absolute error, nor for surrogates."""
    cdef:
        const uint64_t* no_entries = NULL
        int64_t n_levels = n_runs - (1 if n_missing else 0)
        Totals present, missing
        Pass scan
    start_pass(problem, scratch, node, column, n_missing, &scan)
    if n_missing:
        start_totals(scratch, node, &present, &missing)
        sum_runs(problem, scratch, 0, n_levels, &present)
        sum_runs(problem, scratch, n_levels, n_runs, &missing)
    search_sorted_column(
        problem, NULL, scratch, no_entries, NULL, node, column, n_runs, &present,
        &missing, &scan, best
    )


cdef double midpoint(double below, double above) noexcept nogil:
    """Half way between two values; the lower one where there is nothing between."""
    cdef double middle = below / 2 + above / 2
    return middle if middle < above else below


cdef int32_t assign_runs(
    const Problem* problem, Scratch* scratch, const Split* chosen, int64_t n_runs,
    int64_t n_missing
) noexcept nogil:
    """Write the child of every run, whose levels are listed, into scratch.run_side,
    after the search has left the division in the scratch. Returns the child of the
    missing rows, or -1."""
    cdef:
        bint many_ways = problem.categorical_split == SPLIT_MULTIWAY
        int64_t run
    for run in range(n_runs):
        if chosen.splits_missing:
            scratch.run_side[run] = 0
        elif many_ways:
            scratch.run_side[run] = scratch.run_level[run]
        else:
            scratch.run_side[run] = 0 if scratch.best_side[run] else 1
    if n_missing == 0 or problem.missing_mode == MISSING_SURROGATE:
        return -1
    if chosen.splits_missing:
        return 1
    if problem.missing_mode == MISSING_BRANCH:
        return <int32_t>problem.n_levels[chosen.column] if many_ways else 2
    if many_ways:
        # The branch that the missing rows join.
        return -1 if chosen.position < 0 else scratch.run_level[chosen.position]
    return 0 if scratch.best_side[n_runs] else 1


cdef int32_t divide_runs(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, const NodeView* node,
    const Split* chosen, const Split* before, int64_t n_runs, int64_t n_missing
) noexcept nogil:
    """Search a sorted column again, from the same start, for the child of every run;
    see ``assign_runs``."""
    cdef Split again = before[0]
    if not chosen.splits_missing:
        evaluate_column(
            problem, rows, scratch, entries, ranks, node, chosen.column, &again
        )
    return assign_runs(problem, scratch, chosen, n_runs, n_missing)
