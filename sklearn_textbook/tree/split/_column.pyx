"""One column of one node: which scan, which rows, where the missing ones stand."""

from libc.math cimport INFINITY, floor, sqrt
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._interrupt cimport must_stop
from sklearn_textbook.tree.split._best cimport (
    breaks_constraint,
    limits_children,
    score_to_beat,
    take,
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
    random_unit,
    sample_sides,
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

include "_nominal.pxi"
include "_multiway.pxi"
include "_random_division.pxi"


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
    scan.highest = scan.totals.rows - scan.left_rows - problem.min_samples_leaf
    if scan.highest > scan.n_present - 1:
        scan.highest = scan.n_present - 1


cdef void run_pass(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, Pass* scan, Split* best
) noexcept nogil:
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


cdef bint leaves_enough(
    const Problem* problem, const Totals* left, const Totals* right
) noexcept nogil:
    return (
        left.rows >= problem.min_samples_leaf
        and right.rows >= problem.min_samples_leaf
        and left.weight >= problem.min_weight_leaf
        and right.weight >= problem.min_weight_leaf
    )


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
    if not leaves_enough(problem, present, missing):
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
    take(best, score, present.rows, 1)
    best.splits_missing = True
    best.n_children = 2
    best.threshold = INFINITY


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
    scan.totals = present
    if problem.missing_mode == MISSING_SURROGATE:
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
        try_random_threshold(
            problem, rows, scratch, entries, ranks, scan, column, &random_state, found
        )
    else:
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


cdef void search_column(
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
    found.improved = False
    if scan.n_missing:
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
    search_column(
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
    search_column(
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
