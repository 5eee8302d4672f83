"""Best threshold of a numeric column: one pass along its sorted cells.

The loop is written once. What it sums up is specialised at compile time over kinds of
sums, for which ``add`` moves a row to the left side, ``is_better`` compares the split
at the position with the best one, and ``accept`` takes it. A position is a candidate
where the rank changes; it replaces the best one only if its score is larger by more
than the node's margin, so exact ties go to the lower threshold. Absolute error, whose
medians need two passes, has a loop of its own.
"""

from libc.math cimport ceil, floor
from libc.stdint cimport INT64_MIN, int64_t
from libc.string cimport memset

from sklearn_textbook._contract._interrupt cimport must_stop
from sklearn_textbook.tree.split._best cimport (
    block_length,
    breaks_constraint,
    score_to_beat,
    take,
)
from sklearn_textbook.tree.split._criterion cimport (
    absolute_loss,
    add_row,
    clear_losses,
    goodness,
    insert_row,
    lacks_events,
    value_of,
    weight_of,
)
from sklearn_textbook.tree.split._types cimport (
    GINI,
    MISSING_LEARNED,
    SCAN_ABSOLUTE,
    SCAN_BINARY,
    SCAN_CLASSES,
    SCAN_ENTROPY,
    SCAN_VALUES,
    SQUARED_ERROR,
    Totals,
    rank_of,
    row_of,
)


cdef enum:
    ROWS_PER_CHECK = 256
    MIN_BLOCKED = 256  # rows from which on whole blocks are tried against the best


# What is known of the left side of a position; every kind of sums uses a part of it.
# A position is the number of present rows on the left. Where possible, candidates are
# compared without a division: value > bound * area, where the area is k (n - k).
cdef struct Side:
    double n  # weight of the rows that are divided
    double k  # weight on the left
    double bound  # what is_better compares with
    double unit  # what a unit of that is worth
    double base  # what has to be taken from a value for the score
    double d  # n times the sum s on the left, less k times that of all
    double s  # of the residuals of y
    double[2] step  # what a row of each class adds to d
    double centre
    double total
    double* left  # by class or output
    double* right
    double left_squares
    double right_squares
    # the same in integers, whose sums do not depend on their order
    int64_t n_rows
    int64_t k_rows
    int64_t whole_bound
    int64_t whole_base
    int64_t whole_sum  # of the second class, or of squares on the right
    int64_t whole_total
    int64_t whole_squares  # on the left
    int64_t* left_count
    int64_t* right_count
    const int64_t* table  # c log2 c
    int64_t block  # rows that are tried together; 0: none
    # AnySums
    const Problem* problem
    const Pass* scan
    double score


# Two classes by Gini: the decrease is d^2 / (k (n - k)) * unit. It is convex in (d, k),
# so a block of rows whose corners do not beat the best holds no candidate that does.
# The structs are empty: a NULL pointer to one selects what the loop sums up.
cdef struct Ones:  # two classes, unit weights
    int tag

cdef struct WeightedOnes:
    int tag

# Squared error: the decrease is s^2 / k + (S - s)^2 / (n - k) - base.
cdef struct Values:
    int tag

# Many classes by Gini: the decrease is sum l_c^2 / k + sum r_c^2 / (n - k) - base; both
# sums change by one product per row, whatever the number of classes.
cdef struct Classes:  # unit weights
    int tag

cdef struct WeightedClasses:
    int tag

# Unit weights, a sum of c log2 c; that of two classes is convex in (ones, k), too.
cdef struct OneEntropy:
    int tag

cdef struct ClassEntropy:
    int tag

# Every criterion, weight, number of outputs and constraint.
cdef struct AnySums:
    int tag

ctypedef fused Blocked:
    Ones
    OneEntropy

ctypedef fused Sums:
    Ones
    WeightedOnes
    Values
    Classes
    WeightedClasses
    OneEntropy
    ClassEntropy
    AnySums


cdef inline void add(
    const Sums* kind, Side* side, const Rows* rows, Entry entry
) noexcept nogil:
    """Move a row to the left side."""
    cdef:
        int64_t c, before
        uint32_t row = row_of(entry)
        double weight
    # With counts l and r of a class on both sides before the move, the sums change by
    # T(l + 1) - T(l) + T(r - 1) - T(r), or by (2 l + 1) - (2 r - 1) for squares.
    if Sums is OneEntropy:
        side.whole_sum += entry & 1
        side.k_rows += 1
    elif Sums is ClassEntropy:
        c = rows.label[row]
        side.whole_sum += (
            side.table[side.left_count[c] + 1] - side.table[side.left_count[c]]
            + side.table[side.right_count[c] - 1] - side.table[side.right_count[c]]
        )
        side.left_count[c] += 1
        side.right_count[c] -= 1
        side.k_rows += 1
    else:
        weight = 1.0 if Sums is Ones or Sums is Classes else weight_of(rows, row)
        side.k += weight
        if Sums is Ones or Sums is WeightedOnes:
            side.d += weight * side.step[entry & 1]
        elif Sums is Values:
            side.s += weight * (rows.y[row] - side.centre)
        elif Sums is Classes:
            c = rows.label[row]
            # ``right_count`` holds the rows of the class on both sides.
            before = side.left_count[c]
            side.left_count[c] = before + 1
            side.whole_squares += 2 * before + 1
            side.whole_sum -= 2 * (side.right_count[c] - before) - 1
        elif Sums is WeightedClasses:
            c = rows.label[row]
            side.left_squares += weight * (2.0 * side.left[c] + weight)
            side.right_squares -= weight * (2.0 * side.right[c] - weight)
            side.left[c] += weight
            side.right[c] -= weight
        else:
            add_row(
                side.problem, rows, row, weight, side.scan.totals.centre, side.left
            )


cdef inline int64_t value_of_ones(
    const Side* side, int64_t k, int64_t ones
) noexcept nogil:
    """k rows on the left, of which ``ones`` are of the second class."""
    cdef const int64_t* table = side.table
    return (
        table[ones] + table[k - ones] + table[side.whole_total - ones]
        + table[side.n_rows - side.whole_total - k + ones]
        - table[k] - table[side.n_rows - k]
    )


cdef inline int64_t whole_value(const Sums* kind, const Side* side) noexcept nogil:
    """Entropy: what grows with the decrease."""
    if Sums is OneEntropy:
        return value_of_ones(side, side.k_rows, side.whole_sum)
    else:
        return (
            side.whole_sum - side.table[side.k_rows]
            - side.table[side.n_rows - side.k_rows]
        )


cdef inline double value(const Sums* kind, const Side* side) noexcept nogil:
    """k (n - k) times what grows with the decrease."""
    cdef double d
    if Sums is Classes:
        return (
            <double>side.whole_squares * (side.n - side.k)
            + <double>side.whole_sum * side.k
        )
    elif Sums is WeightedClasses:
        return side.left_squares * (side.n - side.k) + side.right_squares * side.k
    elif Sums is Values:
        d = side.total - side.s
        return side.s * side.s * (side.n - side.k) + d * d * side.k
    else:
        return side.d * side.d


cdef inline bint is_worse(const Side* side, double right_weight) noexcept nogil:
    """Whether the score is below the bound, however it is rounded: by sums of squares
    over all outputs and without divisions, which most candidates do not pass."""
    cdef:
        const Problem* problem = side.problem
        double value, other, left = 0.0, right = 0.0
        int64_t c
    if problem.criterion != GINI and problem.criterion != SQUARED_ERROR:
        return False
    for c in range(problem.n_statistics):
        value = side.left[c]
        other = side.scan.totals.sums[c] - value
        left += value * value
        right += other * other
    # The division is by n_outputs k (n - k), with which both sides are multiplied.
    return (left * right_weight + right * side.k) * (1.0 + 1e-9) < (
        (side.bound + side.base) * problem.n_outputs * side.k * right_weight
    )


cdef bint scores_more(Side* side) noexcept nogil:
    """Check what the other kinds need not check, and keep the score."""
    cdef:
        const Problem* problem = side.problem
        const Totals* totals = side.scan.totals
        double right_weight = totals.weight - side.k
        int64_t c
    if side.k < problem.min_weight_leaf:
        return False
    if right_weight < problem.min_weight_leaf or right_weight <= 0.0:
        return False
    # The cheap bound first, then what needs the sums of the right side.
    if is_worse(side, right_weight):
        return False
    for c in range(problem.n_statistics):
        side.right[c] = totals.sums[c] - side.left[c]
    if lacks_events(problem, side.left, side.right):
        return False
    if problem.monotonic != NULL and breaks_constraint(
        value_of(problem, side.left, side.k, totals.centre),
        value_of(problem, side.right, right_weight, totals.centre),
        side.scan.lower, side.scan.upper, side.scan.direction
    ):
        return False
    side.score = (
        goodness(problem, side.left, side.k)
        + goodness(problem, side.right, right_weight)
        - side.base
    )
    return side.score > side.bound


cdef inline bint is_better(const Sums* kind, Side* side) noexcept nogil:
    """Whether the score here is larger than the best by the margin."""
    cdef double area
    if Sums is AnySums:
        return scores_more(side)
    elif Sums is OneEntropy or Sums is ClassEntropy:
        return whole_value(kind, side) > side.whole_bound
    else:
        area = side.k * (side.n - side.k)
        return value(kind, side) > side.bound * area and area > 0.0


cdef inline void accept(
    const Sums* kind, Side* side, const Pass* scan, int64_t position, Split* best
) noexcept nogil:
    """Take the split here, and raise what the next one must exceed."""
    cdef double score
    if Sums is AnySums:
        score = side.score
        side.bound = score + scan.margin
    elif Sums is OneEntropy or Sums is ClassEntropy:
        score = (whole_value(kind, side) - side.whole_base) * side.unit + scan.offset
        # The margin, and rounding of the table.
        side.whole_bound = whole_value(kind, side) + 8
        side.whole_bound += <int64_t>ceil(scan.margin / side.unit)
    else:
        score = value(kind, side) / (side.k * (side.n - side.k))
        # The decrease is 2 d^2 / (n k (n - k)); ``unit`` is 2 / n.
        if Sums is Ones or Sums is WeightedOnes:
            score = 2.0 * score / side.n
        side.bound = (score + scan.margin) / side.unit
        score += scan.offset - side.base
    take(best, score, position, scan.missing_child)


cdef inline bint is_better_at(
    const Blocked* kind, const Side* side, int64_t k, int64_t s
) noexcept nogil:
    """The same with k rows more on the left, whose sum is s; unit weights."""
    cdef Side moved = side[0]
    move_rows(kind, &moved, k, s)
    return is_better(kind, &moved)


cdef inline void move_rows(
    const Blocked* kind, Side* side, int64_t k, int64_t s
) noexcept nogil:
    """Move k rows to the left side, s of them of the second class."""
    if Blocked is Ones:
        side.d += <double>s * side.step[1] + <double>(k - s) * side.step[0]
        side.k += <double>k
    else:
        side.whole_sum += s
        side.k_rows += k


cdef inline bint skip_block(
    const Blocked* kind, Side* side, const Entry* entries
) noexcept nogil:
    """Move a block of rows to the left side if no candidate in it can be better."""
    cdef:
        int64_t j, length = side.block
        uint32_t count = 0
    for j in range(length):
        count += <uint32_t>entries[j] & 1
    # Any order of the rows lies between ones first and ones last.
    if (
        is_better(kind, side) or is_better_at(kind, side, length, count)
        or is_better_at(kind, side, count, count)
        or is_better_at(kind, side, length - count, 0)
    ):
        return False
    move_rows(kind, side, length, count)
    return True


cdef void scan_cells(
    const Sums* kind, const Side* start, const Rows* rows, const Entry* entries,
    const Pass* scan, Split* best
) noexcept nogil:
    """Try every position of the pass. A threshold at a position lies between the
    entries before and after it, so the one after it is read, too; it exists, as
    ``highest`` leaves a row on the right."""
    cdef:
        Side side = start[0]  # a copy of which the parts in use stay in registers
        int64_t position = 0, last
    # Positions that leave too few rows on the left.
    while position < scan.lowest - 1:
        add(kind, &side, rows, entries[position])
        position += 1
    while position < scan.highest:
        last = scan.highest
        if Sums is Ones or Sums is OneEntropy:
            if side.block and position + side.block <= last:
                last = position + side.block
                if skip_block(kind, &side, entries + position):
                    position = last
                    continue
        while position < last:
            add(kind, &side, rows, entries[position])
            position += 1
            if Sums is AnySums:
                # The score takes longest.
                if rank_of(entries[position]) == rank_of(entries[position - 1]):
                    continue
            # Most positions fail the comparison, which is the cheaper one.
            if is_better(kind, &side) and is_apart(
                scan.next_apart, rank_of(entries[position - 1]),
                rank_of(entries[position])
            ):
                accept(kind, &side, scan, position, best)


cdef inline int64_t block_of(const Rows* rows, const Totals* totals) noexcept nogil:
    """Rows that are tried together; 0 for single ones. The bounds of a block count its
    rows, so weights are not for them, and in a small node they exclude too little."""
    if rows.weight != NULL or totals.rows < MIN_BLOCKED:
        return 0
    return block_length(totals.rows)


cdef void scan_entropy(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    const Pass* scan, Split* best
) noexcept nogil:
    """The entropy of unit weights, from the table of c log2 c. Sums of its integers are
    exact: divisions of equal counts score the same in whatever order rows were added.
    """
    cdef Side side
    start_entropy(
        problem, scratch, scan,
        score_to_beat(problem, best, scan.margin) - scan.offset, &side
    )
    side.block = block_of(rows, scan.totals)
    if problem.n_statistics == 2:
        scan_cells(<OneEntropy*>NULL, &side, rows, entries, scan, best)
    else:
        scan_cells(<ClassEntropy*>NULL, &side, rows, entries, scan, best)


cdef void run_scan(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    const Pass* scan, Split* best
) noexcept nogil:
    """Look for a better threshold between the positions of the pass."""
    cdef:
        const Totals* totals = scan.totals
        double beat = score_to_beat(problem, best, scan.margin) - scan.offset
        Side side
    if problem.scan == SCAN_ENTROPY:
        scan_entropy(problem, rows, scratch, entries, scan, best)
        return
    if problem.scan == SCAN_ABSOLUTE:
        scan_absolute(problem, rows, scratch, entries, scan, best)
        return
    side.n = totals.weight
    side.k = scan.left_weight
    side.base = 0.0
    side.unit = 1.0
    side.block = 0
    if problem.scan == SCAN_BINARY:
        # With weight s of the second class on the left and t in all, d = n s - t k: a
        # row of the first class adds -t, one of the second n - t, times its weight.
        side.d = scan.left_sums[1] * side.n - totals.sums[1] * side.k
        side.step[0] = -totals.sums[1]
        side.step[1] = side.n - totals.sums[1]
        side.unit = 2.0 / side.n
        side.bound = beat / side.unit
        side.block = block_of(rows, totals)
        if rows.weight == NULL:
            scan_cells(<Ones*>NULL, &side, rows, entries, scan, best)
        else:
            scan_cells(<WeightedOnes*>NULL, &side, rows, entries, scan, best)
    elif problem.scan == SCAN_VALUES:
        side.centre = totals.centre[0]
        side.total = totals.sums[0]
        side.s = scan.left_sums[0]
        side.base = totals.goodness
        side.bound = beat + side.base
        scan_cells(<Values*>NULL, &side, rows, entries, scan, best)
    elif problem.scan == SCAN_CLASSES:
        side.base = totals.goodness
        side.bound = beat + side.base
        if rows.weight == NULL:
            start_counts(problem, rows, scratch, entries, scan, &side)
            scan_cells(<Classes*>NULL, &side, rows, entries, scan, best)
        else:
            start_classes(problem, scratch, scan, &side)
            scan_cells(<WeightedClasses*>NULL, &side, rows, entries, scan, best)
    else:
        side.problem = problem
        side.scan = scan
        # The score is compared as a whole, offset included.
        side.base = totals.goodness - scan.offset
        side.bound = beat + scan.offset
        start_classes(problem, scratch, scan, &side)
        scan_cells(<AnySums*>NULL, &side, rows, entries, scan, best)


# ------------------------------------------------------------------------------------
# Best threshold by the absolute error, whose medians need two passes.
# ------------------------------------------------------------------------------------


cdef inline bint is_candidate(
    const Entry* entries, const Pass* scan, int64_t position
) noexcept nogil:
    """Whether a threshold may lie before the entry at a position."""
    return scan.lowest <= position <= scan.highest and rank_of(
        entries[position]
    ) != rank_of(entries[position - 1])


cdef void scan_absolute(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    """The threshold with the least sum of absolute errors.

    Medians can be kept of sets that grow, not of sets that shrink. So the left sides
    are gone through in ascending order, the right sides in descending order, and the
    errors of both are added up in scratch.loss, by position and over the outputs,
    before any are compared.
    """
    cdef:
        const Entry* missing = entries + scan.n_present
        int64_t output, position, i, missing_left, missing_right
        double score, weight = scan.left_weight
        double beat = score_to_beat(problem, best, scan.margin)
    # Only the learned strategy has the missing rows in one of the two children.
    missing_left = missing_right = 0
    if problem.missing_mode == MISSING_LEARNED:
        missing_left = scan.n_missing if scan.missing_left else 0
        missing_right = scan.n_missing - missing_left
    memset(scratch.loss, 0, (scan.n_present + 1) * sizeof(double))
    for output in range(problem.n_outputs):
        clear_losses(scratch, output)
        for i in range(missing_left):
            insert_row(rows, scratch, output, row_of(missing[i]))
        # Left sides, with the missing rows if these go there.
        for position in range(1, scan.highest + 1):
            if position % ROWS_PER_CHECK == 0 and must_stop(
                problem.interrupt, ROWS_PER_CHECK
            ):
                return
            insert_row(rows, scratch, output, row_of(entries[position - 1]))
            if is_candidate(entries, scan, position):
                scratch.loss[position] += absolute_loss(
                    scratch, &scratch.left_median[position]
                )
        clear_losses(scratch, output)
        for i in range(missing_right):
            insert_row(rows, scratch, output, row_of(missing[i]))
        # The right side at a position begins with the entry there.
        for position in range(scan.n_present - 1, scan.lowest - 1, -1):
            if position % ROWS_PER_CHECK == 0 and must_stop(
                problem.interrupt, ROWS_PER_CHECK
            ):
                return
            insert_row(rows, scratch, output, row_of(entries[position]))
            if is_candidate(entries, scan, position):
                scratch.loss[position] += absolute_loss(
                    scratch, &scratch.right_median[position]
                )
    # Both errors are known. ``weight`` is that of the left side.
    for position in range(1, scan.highest + 1):
        weight += weight_of(rows, row_of(entries[position - 1]))
        if not is_candidate(entries, scan, position):
            continue
        if weight < problem.min_weight_leaf:
            continue
        if scan.totals.weight - weight < problem.min_weight_leaf:
            continue
        if problem.monotonic != NULL and breaks_constraint(
            scratch.left_median[position], scratch.right_median[position],
            scan.lower, scan.upper, scan.direction
        ):
            continue
        score = scan.offset - scan.totals.goodness - (
            scratch.loss[position] / problem.n_outputs
        )
        if score > beat:
            take(best, score, position, scan.missing_child)
            beat = score + scan.margin


# ------------------------------------------------------------------------------------
# The sums with which a pass begins.
# ------------------------------------------------------------------------------------


cdef void start_classes(
    const Problem* problem, Scratch* scratch, const Pass* scan, Side* side
) noexcept nogil:
    """Classes or outputs, and the squares of classes."""
    cdef int64_t c
    side.left = scratch.left
    side.right = scratch.right
    side.left_squares = side.right_squares = 0.0
    for c in range(problem.n_statistics):
        side.left[c] = scan.left_sums[c]
        side.right[c] = scan.totals.sums[c] - side.left[c]
        side.left_squares += side.left[c] * side.left[c]
        side.right_squares += side.right[c] * side.right[c]


cdef void start_counts(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    const Pass* scan, Side* side
) noexcept nogil:
    """Counts of the classes on the left and of all, and their squares; of fewer rows
    than classes those of the classes of the rows."""
    cdef:
        const Totals* totals = scan.totals
        int64_t c, i
    side.left_count = scratch.left_count
    side.right_count = scratch.right_count
    # Only the classes of the rows are set, as clearing all would take longer than the
    # pass. A class of m rows is met m times and adds m each time, so that the sum is
    # that of the squares.
    if scan.n_present == totals.rows < problem.n_statistics and scan.left_rows == 0:
        side.whole_squares = side.whole_sum = 0
        for i in range(scan.n_present):
            c = rows.label[row_of(entries[i])]
            side.left_count[c] = 0
            side.right_count[c] = <int64_t>totals.sums[c]
            side.whole_sum += side.right_count[c]
        return
    start_classes(problem, scratch, scan, side)
    side.whole_squares = <int64_t>side.left_squares
    side.whole_sum = <int64_t>side.right_squares
    for c in range(problem.n_statistics):
        side.left_count[c] = <int64_t>side.left[c]
        side.right_count[c] = <int64_t>totals.sums[c]


cdef void start_entropy(
    const Problem* problem, Scratch* scratch, const Pass* scan, double beat, Side* side
) noexcept nogil:
    """The counts on both sides before the first entry, and what a score must exceed.

    In units of the table, the value of a division is

        sum T(l_c) + T(r_c) - T(k) - T(n - k),

    and the decrease is what it exceeds the base by, sum T(t_c) - T(n) of the node.
    ``whole_sum`` is the first part of it; of two classes, the rows of the second on the
    left, from which ``value_of_ones`` looks up all of it.
    """
    cdef:
        const int64_t* table = problem.entropy_table
        const double* total = scan.totals.sums
        int64_t c, size = problem.n_statistics
    side.table = table
    side.unit = problem.entropy_unit
    side.n_rows = scan.totals.rows
    side.k_rows = scan.left_rows
    side.whole_sum = 0
    side.whole_base = -table[side.n_rows]
    side.left_count = scratch.left_count
    side.right_count = scratch.right_count
    for c in range(size):
        side.left_count[c] = <int64_t>scan.left_sums[c]
        side.right_count[c] = <int64_t>total[c] - side.left_count[c]
        side.whole_sum += table[side.left_count[c]] + table[side.right_count[c]]
        side.whole_base += table[<int64_t>total[c]]
    if size == 2:
        side.whole_sum = <int64_t>scan.left_sums[1]
        side.whole_total = <int64_t>total[1]
    side.whole_bound = INT64_MIN
    # -infinity has no integer: then every division is better.
    if beat >= -1e300:
        side.whole_bound = side.whole_base + <int64_t>floor(beat / side.unit)
