"""Information gain and gain ratio of one column.

Numeric tests come first, then nominal ones.

With L(v) = v log2 v, a test that divides the known cases of a node (weight K, classes
n_c) into branches n_b with classes n_bc has the value

    V = L(K) - sum_c L(n_c) - sum_b L(n_b) + sum_bc L(n_bc),

its gain is V / W, where W is the weight of the node with the cases that miss the
column, and its split information (L(W) - sum_b L(n_b) - L(W - K)) / W.

The cuts of a numeric column are compared by V; gain and ratio are computed of the best
one alone. Where every case weighs 1, L comes from a table of integers.
"""

from libc.math cimport ceil, fabs, log2
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from sklearn_textbook._contract._interrupt cimport has_stopped, must_stop
from sklearn_textbook.tree.split._best cimport block_length
from sklearn_textbook.tree.split._column cimport count_missing
from sklearn_textbook.tree.split._criterion cimport weight_of
from sklearn_textbook.tree.split._scan cimport is_apart, scan_entropy
from sklearn_textbook.tree.split._types cimport (
    CHOOSE_GAIN,
    GLOBAL_MISSING,
    MAX_GROUPED,
    SPLIT_MULTIWAY,
    SPLIT_ONE_VS_REST,
    GainRules,
    Pass,
    Totals,
    rank_of,
    row_of,
)


cdef enum:
    FEW_ROWS = 64  # up to here every cut is tried

# The best cut of a column so far.
cdef struct Cut:
    double value  # V of the best cut
    int64_t position  # known rows below it; 0: none yet
    double left_weight
    int64_t n_tries
    double beat  # what a value must exceed


cdef double xlogx(const Problem* problem, double count) noexcept nogil:
    """L(count)."""
    if problem.entropy_table != NULL:
        return problem.entropy_table[<int64_t>count] * problem.entropy_unit
    return weighted_log(problem.gain.min_count, count)


# log2 inlined: calling the C library's took a fifth of the time. Numbers between 1 and
# 2 are divided by the nearest of 128.
cdef:
    double inverse_of[128]
    double log_of[128]


cdef void fill_log_tables() noexcept:
    """By the middle of each of 128 parts of the interval from 1 to 2; ``log_of`` is the
    logarithm of the very number that is divided by, as it has been rounded."""
    cdef int i
    for i in range(128):
        inverse_of[i] = <double>(<float>(1.0 / (1.0 + (i + 0.5) / 128.0)))
        log_of[i] = -log2(inverse_of[i])


fill_log_tables()


cdef inline double quick_log2(double number) noexcept nogil:
    """log2 of a positive number, to the last digits of its sum of exponent and rest."""
    cdef:
        uint64_t bits
        int place
        double rest, part
    memcpy(&bits, &number, sizeof(double))
    # The exponent, and the first seven bits of the fraction.
    place = (bits >> 45) & 127
    part = <double>(<int64_t>(bits >> 52) - 1023) + log_of[place]
    bits = (bits & <uint64_t>0xFFFFFFFFFFFFF) | <uint64_t>0x3FF0000000000000
    memcpy(&rest, &bits, sizeof(double))
    rest = rest * inverse_of[place] - 1.0
    # The series of log(1 + rest) / log(2), |rest| <= 1/256.
    return part + rest * (
        1.4426950408889634 + rest * (
            -0.7213475204444817 + rest * (
                0.48089834696298783 + rest * (
                    -0.36067376022224085 + rest * (
                        0.2885390081777927 - rest * 0.24044917348149393
                    )
                )
            )
        )
    )


cdef inline double weighted_log(double least, double count) noexcept nogil:
    """L(count); 0 below ``least``, as J48 has it."""
    return count * quick_log2(count) if count >= least and count > 0.0 else 0.0


cdef void view_rest(
    const Problem* problem, const NodeView* node, int64_t n_missing, Totals* known
) noexcept nogil:
    """Turn the classes of the missing rows, in known.sums, into those of the known."""
    cdef:
        int64_t c
        double weight
    known.rows = node.totals.rows - n_missing
    known.weight = 0.0
    # The known classes are what the missing ones leave of the node's.
    for c in range(problem.n_statistics):
        weight = node.totals.sums[c] - known.sums[c]
        # A class without known rows leaves a rounding residue.
        known.sums[c] = weight if weight > 1e-12 * node.totals.sums[c] else 0.0
        known.weight += known.sums[c]


cdef void view_known(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const NodeView* node, int64_t column, Totals* known
) noexcept nogil:
    """Weight and classes of the rows whose value is known."""
    cdef:
        int64_t n = node.totals.rows, n_missing = 0, i, c
        uint32_t row
        bint adds_known
    known[0] = node.totals
    if problem.has_missing[column]:
        n_missing = count_missing(entries, n)
    if n_missing == 0:
        return
    known.rows = n - n_missing
    known.sums = scratch.present
    memset(known.sums, 0, problem.n_statistics * sizeof(double))
    # The smaller part is added up; the larger one is the rest.
    adds_known = known.rows <= n_missing
    for i in range(0 if adds_known else known.rows, known.rows if adds_known else n):
        row = row_of(entries[i])
        known.sums[rows.label[row]] += rows.weight[row]
    if not adds_known:
        view_rest(problem, node, n_missing, known)
        return
    known.weight = 0.0
    for c in range(problem.n_statistics):
        known.weight += known.sums[c]


cdef double whole_spread(
    const Problem* problem, const NodeView* node, const Totals* known
) noexcept nogil:
    """Weight times split information, less what the branches take off."""
    return xlogx(problem, node.totals.weight) - xlogx(
        problem, node.totals.weight - known.weight
    )


cdef double min_spread(const Problem* problem, const NodeView* node) noexcept nogil:
    """What counts as no split information."""
    return max(problem.gain.tolerance, 1e-12 * node.totals.weight)


cdef void finish_candidate(
    const Problem* problem, const NodeView* node, const Totals* known, double value,
    double branches, double cost, Candidate* candidate
) noexcept nogil:
    """Gain and gain ratio from V, from sum_b L(n_b), and from the cost in bits that a
    threshold pays."""
    cdef:
        double tolerance = problem.gain.tolerance
        double weight = node.totals.weight, spread
    # J48 takes a gain that is less than its tolerance for none.
    if tolerance > 0.0 and fabs(known.weight / weight * value) < tolerance:
        value = 0.0
    candidate.gain = (value - cost) / weight
    spread = whole_spread(problem, node, known) - branches
    candidate.ratio = 0.0
    if known.weight > tolerance and fabs(spread) > min_spread(problem, node):
        candidate.ratio = candidate.gain * weight / spread


# ------------------------------------------------------------------ unit weights


cdef int64_t count_positions(
    const Entry* entries, const Spacing* spacing, int64_t lowest, int64_t highest
) noexcept nogil:
    """Positions between values that a threshold may separate."""
    cdef int64_t i, n = 0
    if spacing.next_apart == NULL and spacing.is_all_distinct:
        return highest - lowest + 1
    for i in range(lowest, highest + 1):
        n += is_apart(
            spacing.next_apart, rank_of(entries[i - 1]), rank_of(entries[i])
        )
    return n


cdef void cut_by_counts(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    const Spacing* spacing, const Totals* known, double smallest,
    double margin, Cut* cut
) noexcept nogil:
    """The best cut where every row weighs 1."""
    cdef:
        Pass scan
        Split best
    memset(&scan, 0, sizeof(Pass))
    memset(&best, 0, sizeof(Split))
    # Every row weighs 1: the least weight of a side is a number of rows.
    scan.lowest = max(
        1, <int64_t>ceil(smallest - problem.gain.weight_tolerance)
    )
    scan.highest = known.rows - scan.lowest
    if scan.lowest > scan.highest:
        return
    # Counted apart from the scan, which skips blocks.
    cut.n_tries = count_positions(entries, spacing, scan.lowest, scan.highest)
    if cut.n_tries == 0:
        return
    scan.n_present = known.rows
    scan.left_sums = scratch.zeros
    scan.totals = known
    scan.next_apart = spacing.next_apart
    scan.margin = margin
    # As if a split of score 0 had been found: a better one must exceed the margin.
    best.column = -1 if cut.beat < 0.0 else 0
    scan_entropy(problem, rows, scratch, entries, &scan, &best)
    if best.improved:
        cut.value = best.score
        cut.position = best.position
        cut.left_weight = <double>best.position


# ----------------------------------------------------------------------- weights


# The class weights on both sides of a place in a column of two classes, with L of each.
cdef struct Place:
    double below_0
    double below_1
    double inside_0  # L of class 0 below and above
    double inside_1
    double value  # V, up to a constant


cdef inline double two_sides(double least, double below, double total) noexcept nogil:
    """L of a weight below a place and of the rest above."""
    return weighted_log(least, below) + weighted_log(least, total - below)


cdef inline double value_of_place(
    double least, const Totals* known, double below, double inside
) noexcept nogil:
    """V up to a constant; ``inside`` is the sum of L(n_bc), over classes and sides."""
    return inside - two_sides(least, below, known.weight)


cdef inline void view_place(
    double least, const Totals* known, double below_0, double below_1, Place* place
) noexcept nogil:
    """Describe the place with these class weights below it."""
    place.below_0 = below_0
    place.below_1 = below_1
    place.inside_0 = two_sides(least, below_0, known.sums[0])
    place.inside_1 = two_sides(least, below_1, known.sums[1])
    place.value = value_of_place(
        least, known, below_0 + below_1, place.inside_0 + place.inside_1
    )


cdef inline double best_corner(
    double least, const Totals* known, const Place* start, const Place* end
) noexcept nogil:
    """V is convex in the class weights below a cut, so what any place between two
    others may have is no more than the best of four corners."""
    return max(
        max(start.value, end.value),
        max(
            value_of_place(
                least, known, end.below_0 + start.below_1,
                end.inside_0 + start.inside_1
            ),
            value_of_place(
                least, known, start.below_0 + end.below_1,
                start.inside_0 + end.inside_1
            ),
        ),
    )


cdef inline void offer_cut(
    Cut* cut, double value, double margin, int64_t position, double left_weight
) noexcept nogil:
    """Count a try, and keep the cut if its value is better."""
    cut.n_tries += 1
    if value > cut.beat:
        cut.value = value
        cut.beat = value + margin
        cut.position = position
        cut.left_weight = left_weight


cdef void cut_two_classes(
    const Problem* problem, const Rows* rows, const Entry* entries,
    const uint32_t* next_apart, const Totals* known, double smallest,
    double margin, Cut* cut
) noexcept nogil:
    """Two classes. Blocks of rows that cannot hold the winner are only counted.

    A block is judged as a whole if every place in it leaves enough weight on both
    sides. Its V does not exceed that of the best of four corners; if this does not beat
    the best cut, the logarithms of its places are saved. The places still count as
    tries, for which the threshold of C4.5 pays.
    """
    cdef:
        double least = problem.gain.min_count
        double first = max(smallest - problem.gain.weight_tolerance, 0.0)
        double base, weight, below_0 = 0.0, below_1 = 0.0
        int64_t n = known.rows, i = 0, j, last, length, n_apart
        bint blocked = n >= FEW_ROWS
        double of_second  # 1 for a row of the second class
        Place start, end
    length = block_length(n) if n >= 1024 else FEW_ROWS // 8
    # ``start`` is the place before row i.
    view_place(least, known, 0.0, 0.0, &start)
    base = start.value
    while i < n - 1:
        last = min(i + length, n - 1)
        # The whole block, before its places.
        if blocked and start.below_0 + start.below_1 >= first and last - i == length:
            below_0 = start.below_0
            below_1 = start.below_1
            n_apart = 0
            for j in range(i, last):
                weight = rows.weight[row_of(entries[j])]
                of_second = <double>(entries[j] & 1)
                below_1 += weight * of_second
                below_0 += weight * (1.0 - of_second)
                n_apart += is_apart(
                    next_apart, rank_of(entries[j]), rank_of(entries[j + 1])
                )
            view_place(least, known, below_0, below_1, &end)
            if known.weight - below_0 - below_1 >= first and (
                best_corner(least, known, &start, &end) - base <= cut.beat
            ):
                cut.n_tries += n_apart
                start = end
                i = last
                continue
        below_0 = start.below_0
        below_1 = start.below_1
        # Place by place.
        while i < last:
            weight = rows.weight[row_of(entries[i])]
            of_second = <double>(entries[i] & 1)
            below_1 += weight * of_second
            below_0 += weight * (1.0 - of_second)
            i += 1
            if below_0 + below_1 < first or not is_apart(
                next_apart, rank_of(entries[i - 1]), rank_of(entries[i])
            ):
                continue
            if known.weight - below_0 - below_1 < first:
                return
            view_place(least, known, below_0, below_1, &start)
            offer_cut(cut, start.value - base, margin, i, below_0 + below_1)
        # The next block starts here, although this place was no try.
        if start.below_0 != below_0 or start.below_1 != below_1:
            view_place(least, known, below_0, below_1, &start)


cdef void cut_classes(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    const uint32_t* next_apart, const Totals* known, double smallest,
    double margin, Cut* cut
) noexcept nogil:
    """Any number of classes; two logarithms for a row, two more for a try."""
    cdef:
        double least = problem.gain.min_count, inside = 0.0, below = 0.0, weight
        double base = -weighted_log(least, known.weight)
        double first = max(smallest - problem.gain.weight_tolerance, 0.0)
        double* left = scratch.left
        double* right = scratch.right
        # L of both sides, class by class
        double* both = scratch.missing
        double renewed
        int64_t i, c, n = known.rows
        uint32_t row
    for c in range(problem.n_statistics):
        left[c] = 0.0
        right[c] = known.sums[c]
        both[c] = weighted_log(least, known.sums[c])
        inside += both[c]
    base += inside
    # One row moves below; only L of its class changes, on both sides.
    for i in range(1, n):
        row = row_of(entries[i - 1])
        c = rows.label[row]
        weight = rows.weight[row]
        left[c] += weight
        right[c] -= weight
        below += weight
        renewed = weighted_log(least, left[c]) + weighted_log(least, right[c])
        inside += renewed - both[c]
        both[c] = renewed
        if below < first or not is_apart(
            next_apart, rank_of(entries[i - 1]), rank_of(entries[i])
        ):
            continue
        # All later cuts leave even less above.
        if known.weight - below < first:
            return
        offer_cut(
            cut,
            inside - weighted_log(least, below)
            - weighted_log(least, known.weight - below) - base,
            margin, i, below
        )


# ----------------------------------------------------------------- one column


cdef double smallest_side(const Problem* problem, double known) noexcept nogil:
    """Weight that both sides of a numeric cut must have."""
    cdef:
        const GainRules* gain = &problem.gain
        double fraction
    if not gain.adapts_minimum:
        return gain.min_branch
    # C4.5: a tenth of the average weight of a class, but from min_branch to 25.
    fraction = 0.1 * known / problem.n_statistics
    if fraction - gain.min_branch < gain.weight_tolerance:
        return gain.min_branch
    return 25.0 if fraction - 25.0 > gain.weight_tolerance else fraction


cdef void evaluate_numeric_gain(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Spacing* spacing, const NodeView* node,
    int64_t column, Candidate* candidate
) noexcept nogil:
    """The test of one numeric or ordinal column, if it has a valid one."""
    cdef:
        const GainRules* gain = &problem.gain
        double smallest, cost = 0.0, margin
        Totals known
        Cut cut
    candidate.is_valid = False
    view_known(problem, rows, scratch, entries, node, column, &known)
    if known.rows < 2 or rank_of(entries[0]) == rank_of(entries[known.rows - 1]):
        return
    smallest = smallest_side(problem, known.weight)
    margin = gain.tolerance * node.totals.weight if gain.tolerance else node.margin
    memset(&cut, 0, sizeof(Cut))
    # ID3 takes a cut without gain, too.
    cut.beat = -1e300 if gain.choice == CHOOSE_GAIN else margin
    if rows.weight == NULL:
        cut_by_counts(
            problem, rows, scratch, entries, spacing, &known, smallest, margin, &cut
        )
    elif problem.n_statistics == 2:
        cut_two_classes(
            problem, rows, entries, spacing.next_apart, &known, smallest, margin, &cut
        )
    else:
        cut_classes(
            problem, rows, scratch, entries, spacing.next_apart, &known, smallest,
            margin, &cut
        )
    if cut.position == 0:
        return
    # C4.5, release 8: log2(tries) bits tell which of the thresholds was chosen.
    if gain.corrects_gain:
        cost = log2(<double>cut.n_tries)
    finish_candidate(
        problem, node, &known, cut.value,
        xlogx(problem, cut.left_weight)
        + xlogx(problem, known.weight - cut.left_weight),
        cost, candidate
    )
    candidate.position = cut.position
    candidate.n_children = 2
    candidate.is_valid = gain.tolerance == 0.0 or candidate.gain >= gain.tolerance


# ------------------------------------------------------------------------------------
# Information gain and gain ratio of one column: nominal tests.
#
# The rows of a level that is present are called a *run*.
# ------------------------------------------------------------------------------------


cdef enum:
    ALL_LEVELS = -1


# The classes of every level are counted from the rows' level codes. No sorting: the
# rows of the node are listed once for all columns.


cdef bint is_one_level(
    const Codes* codes, int64_t column, const Entry* rows_of_node, int64_t n
) noexcept nogil:
    """Whether all rows of the node have one level, or all miss it."""
    cdef:
        const uint32_t* level = codes.start + column * codes.stride
        int64_t i
    for i in range(1, n):
        if level[row_of(rows_of_node[i])] != level[row_of(rows_of_node[0])]:
            return False
    return True


cdef int64_t count_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    int64_t column, const Entry* rows_of_node, int64_t n
) noexcept nogil:
    """Fill scratch.level_counts, which holds zeros before, where every row weighs 1 and
    none misses the column. Returns the number of levels that are present, which
    scratch.run_level lists and scratch.level_rows counts; or ALL_LEVELS in a large
    node, where nothing more is written."""
    cdef:
        const uint32_t* code = codes.start + column * codes.stride
        int64_t i, size = problem.n_statistics, n_runs = 0
        int32_t* counts = scratch.level_counts
        int32_t* n_rows = scratch.level_rows
        int32_t* listed = scratch.run_level
        uint32_t level, row
    if n >= 4 * problem.n_levels[column]:
        # Most levels are present: all of them are looked at afterwards.
        for i in range(n):
            row = row_of(rows_of_node[i])
            counts[code[row] * size + rows.label[row]] += 1
        return ALL_LEVELS
    for i in range(n):
        row = row_of(rows_of_node[i])
        level = code[row]
        # Written always, kept only if the level is new.
        listed[n_runs] = <int32_t>level
        n_runs += n_rows[level] == 0
        n_rows[level] += 1
        counts[level * size + rows.label[row]] += 1
    return n_runs


cdef int64_t fill_sums(
    const Problem* problem, const Rows* rows, Scratch* scratch, const uint32_t* codes,
    const Entry* rows_of_node, int64_t n, double* missing
) noexcept nogil:
    """Any weights; returns the number of rows without a level."""
    cdef:
        int64_t i, size = problem.n_statistics, n_missing = 0
        double* sums = scratch.run_sums
        double weight
        uint32_t row
    for i in range(n):
        row = row_of(rows_of_node[i])
        weight = weight_of(rows, row)
        if codes[row] == GLOBAL_MISSING:
            missing[rows.label[row]] += weight
            n_missing += 1
        else:
            sums[codes[row] * size + rows.label[row]] += weight
    return n_missing


cdef int64_t sum_known_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    int64_t column, const Entry* rows_of_node, const NodeView* node, Totals* known
) noexcept nogil:
    """Fill scratch.run_sums for the levels that are present, one by one, and
    scratch.run_level with what they are. Returns their number."""
    cdef:
        int64_t n_levels = problem.n_levels[column], n = node.totals.rows
        int64_t size = problem.n_statistics, level, c, run = 0, n_missing
        double* sums = scratch.run_sums
        bint is_present
    memset(sums, 0, n_levels * size * sizeof(double))
    memset(scratch.present, 0, size * sizeof(double))
    n_missing = fill_sums(
        problem, rows, scratch, codes.start + column * codes.stride, rows_of_node, n,
        scratch.present
    )
    known[0] = node.totals
    if n_missing:
        known.sums = scratch.present
        view_rest(problem, node, n_missing, known)
    for level in range(n_levels):
        is_present = False
        for c in range(size):
            is_present = is_present or sums[level * size + c] > 0.0
        if not is_present:
            continue
        scratch.run_level[run] = <int32_t>level
        # Sums of present levels move down over those of absent ones.
        if run < level:
            memmove(sums + run * size, sums + level * size, size * sizeof(double))
        run += 1
    return run


# ---------------------------------------------------------- tests of all levels


cdef inline double inner_sum(
    const Problem* problem, const double* sums, double* weight
) noexcept nogil:
    """sum_c L(n_c); and the weight of the set."""
    cdef:
        double total = 0.0
        int64_t c
    weight[0] = 0.0
    for c in range(problem.n_statistics):
        if sums[c] > 0.0:
            weight[0] += sums[c]
            total += xlogx(problem, sums[c])
    return total


cdef inline double value_of_known(
    const Problem* problem, const Totals* known
) noexcept nogil:
    """L(K) - sum_c L(n_c)."""
    cdef double weight, total = inner_sum(problem, known.sums, &weight)
    return xlogx(problem, known.weight) - total


cdef inline bint is_large(const Problem* problem, double weight) noexcept nogil:
    """Whether a branch holds the least weight. The second comparison is for weights so
    large that the tolerance is lost in rounding."""
    return weight > problem.gain.min_branch - problem.gain.weight_tolerance or (
        weight >= problem.gain.min_branch
    )


cdef bint has_branches(
    const Problem* problem, int64_t n_large, int64_t n_branches
) noexcept nogil:
    """Whether enough branches hold enough."""
    if problem.gain.needs_all_branches and n_large < n_branches:
        return False
    return n_large >= 2


cdef void evaluate_many_ways(
    const Problem* problem, Scratch* scratch, const NodeView* node,
    int64_t column, const Totals* known, int64_t n_runs, Candidate* candidate
) noexcept nogil:
    """One branch for every declared level."""
    cdef:
        double value = value_of_known(problem, known), branches = 0.0, weight, part
        int64_t run, n_large = 0
    for run in range(n_runs):
        value += inner_sum(
            problem, scratch.run_sums + run * problem.n_statistics, &weight
        )
        part = xlogx(problem, weight)
        value -= part
        branches += part
        n_large += is_large(problem, weight)
    if not has_branches(problem, n_large, n_runs):
        return
    finish_candidate(problem, node, known, value, branches, 0.0, candidate)
    candidate.n_children = <int32_t>problem.n_levels[column]
    candidate.is_valid = True


cdef int64_t list_counted_levels(
    const Problem* problem, Scratch* scratch, int64_t n_levels
) noexcept nogil:
    """Find the levels that are present, and count their rows."""
    cdef:
        int64_t size = problem.n_statistics, level, c, n_runs = 0
        const int32_t* counts = scratch.level_counts
        int32_t n_rows
    for level in range(n_levels):
        n_rows = 0
        for c in range(size):
            n_rows += counts[level * size + c]
        scratch.level_rows[level] = n_rows
        scratch.run_level[n_runs] = <int32_t>level
        n_runs += n_rows > 0
    return n_runs


cdef void evaluate_counted_ways(
    const Problem* problem, Scratch* scratch, const NodeView* node, int64_t column,
    int64_t n_runs, Candidate* candidate
) noexcept nogil:
    """The same, where classes are counted: integers, in fixed point. Leaves zeros
    behind."""
    cdef:
        const int64_t* table = problem.entropy_table
        int64_t size = problem.n_statistics, run, level, c, n_large = 0
        int64_t inside = 0, branches = 0, least
        int32_t* counts
        int32_t n_rows
    least = <int64_t>ceil(problem.gain.min_branch - problem.gain.weight_tolerance)
    if n_runs == ALL_LEVELS:
        n_runs = list_counted_levels(problem, scratch, problem.n_levels[column])
    # sum_b L(n_b) and sum_bc L(n_bc), level by level.
    for run in range(n_runs):
        level = scratch.run_level[run]
        n_rows = scratch.level_rows[level]
        scratch.level_rows[level] = 0
        branches += table[n_rows]
        n_large += n_rows >= least
        counts = scratch.level_counts + level * size
        for c in range(size):
            inside += table[counts[c]]
            counts[c] = 0
    if not has_branches(problem, n_large, n_runs):
        return
    finish_candidate(
        problem, node, &node.totals,
        value_of_known(problem, &node.totals)
        + (inside - branches) * problem.entropy_unit,
        branches * problem.entropy_unit, 0.0, candidate
    )
    candidate.n_children = <int32_t>problem.n_levels[column]
    candidate.is_valid = True


cdef void evaluate_one_against_rest(
    const Problem* problem, Scratch* scratch, const NodeView* node,
    const Totals* known, int64_t n_runs, Candidate* candidate
) noexcept nogil:
    """The level whose parting is best: by gain (ID3), or by gain ratio."""
    cdef:
        const GainRules* gain = &problem.gain
        double* rest = scratch.right
        const double* sums
        double value, branches, weight, other, start = value_of_known(problem, known)
        double best = 0.0, tolerance = gain.tolerance
        int64_t run, c
        bint by_gain = gain.choice == CHOOSE_GAIN, qualifies = False
        Candidate found
    found.is_valid = False
    if by_gain:
        best = -1e300
        tolerance = node.margin / node.totals.weight
    for run in range(n_runs):
        if must_stop(problem.interrupt, problem.n_statistics):
            return
        sums = scratch.run_sums + run * problem.n_statistics
        # The other branch holds all known cases of other levels.
        for c in range(problem.n_statistics):
            rest[c] = known.sums[c] - sums[c]
        value = start + inner_sum(problem, sums, &weight)
        value += inner_sum(problem, rest, &other)
        if not (is_large(problem, weight) and is_large(problem, other)):
            continue
        branches = xlogx(problem, weight) + xlogx(problem, other)
        finish_candidate(
            problem, node, known, value - branches, branches, 0.0, &found
        )
        if not by_gain and scratch.run_level[run] == 0:
            best = found.ratio - 2.0 * tolerance  # taken as it is
        if not qualifies:
            # A column without a winner counts in the average, with gain 0.
            candidate.is_valid = True
            candidate.gain = 0.0
            candidate.ratio = 0.0
            candidate.n_children = 2
            candidate.position = scratch.run_level[run]
            qualifies = True
        if (found.gain if by_gain else found.ratio) > best + tolerance:
            candidate.gain = found.gain
            candidate.ratio = found.ratio
            candidate.position = scratch.run_level[run]
            best = found.gain if by_gain else found.ratio


# -------------------------------------------------------------- groups of levels


cdef inline void measure_group(
    const Problem* problem, Scratch* scratch, int64_t group
) noexcept nogil:
    """Keep what a group adds to V and to sum_b L(n_b)."""
    cdef:
        double weight
        double value = inner_sum(
            problem, scratch.run_sums + group * problem.n_statistics, &weight
        )
    scratch.run_weight[group] = xlogx(problem, weight)
    scratch.run_gain[group] = value - scratch.run_weight[group]


cdef inline double merge_value(
    const Problem* problem, Scratch* scratch, int64_t first, int64_t second,
    double* branches
) noexcept nogil:
    """What merging two groups adds to V, and to sum_b L(n_b)."""
    cdef:
        int64_t c, size = problem.n_statistics
        const double* a = scratch.run_sums + first * size
        const double* b = scratch.run_sums + second * size
        double weight, value, part
    for c in range(size):
        scratch.left[c] = a[c] + b[c]
    value = inner_sum(problem, scratch.left, &weight)
    part = xlogx(problem, weight)
    branches[0] = part - scratch.run_weight[first] - scratch.run_weight[second]
    return value - part - scratch.run_gain[first] - scratch.run_gain[second]


cdef inline void keep_pair(
    const Problem* problem, Scratch* scratch, int64_t n_runs, int64_t first,
    int64_t second
) noexcept nogil:
    """Keep what merging two groups would add; the first stands before the second."""
    cdef int64_t place = first * n_runs + second
    scratch.pair_value[place] = merge_value(
        problem, scratch, first, second, &scratch.pair_branches[place]
    )


cdef void merge_groups(
    const Problem* problem, Scratch* scratch, int64_t n_runs, int64_t n_groups,
    int64_t first, int64_t second
) noexcept nogil:
    """Let the group at one place of the list join the one at an earlier place."""
    cdef:
        int64_t size = problem.n_statistics, run, c, i
        int64_t* groups = scratch.run_start
        int64_t kept = groups[first], gone = groups[second]
    for c in range(size):
        scratch.run_sums[kept * size + c] += scratch.run_sums[gone * size + c]
    measure_group(problem, scratch, kept)
    # Rename the group in its runs, and take it off the list.
    for run in range(n_runs):
        if scratch.run_side[run] == gone:
            scratch.run_side[run] = <int32_t>kept
    for i in range(second, n_groups - 1):
        groups[i] = groups[i + 1]
    # Only pairs with the group that has grown have changed.
    for i in range(n_groups - 1):
        if i < first:
            keep_pair(problem, scratch, n_runs, groups[i], kept)
        elif i > first:
            keep_pair(problem, scratch, n_runs, kept, groups[i])


cdef void number_groups(Scratch* scratch, int64_t n_runs) noexcept nogil:
    """Replace the names of the groups in run_side by their places in the list."""
    cdef int64_t run, i
    for run in range(n_runs):
        i = 0
        while scratch.run_start[i] != scratch.run_side[run]:
            i += 1
        scratch.run_side[run] = <int32_t>i


cdef int64_t group_levels(
    const Problem* problem, Scratch* scratch, const NodeView* node,
    const Totals* known, int64_t n_runs, Candidate* candidate
) noexcept nogil:
    """Merge the pair of groups that gives the best gain ratio, until two are left or
    every merger is worse. run_side has the group of each run; returns their number.

    What a merger changes depends on the pair alone, so it is kept; only the ratio has
    to be found again at every step.

    run_sums, run_gain and run_weight hold the sums of the group that a run names, what
    it adds to V, and its L(n_b). pair_value and pair_branches hold what merging the
    groups named first and second would add to V and to sum_b L(n_b), at first * n_runs
    + second.
    """
    cdef:
        int64_t* groups = scratch.run_start  # in order; named by their first run
        int64_t run, i, j, n_groups = n_runs, best_i, best_j, place
        double value = value_of_known(problem, known), branches = 0.0
        double best, best_value = 0.0, best_branches = 0.0
        double whole = whole_spread(problem, node, known)
        double least = min_spread(problem, node), gain, spread, ratio
        double fraction = known.weight / node.totals.weight
    for run in range(n_runs):
        groups[run] = run
        scratch.run_side[run] = <int32_t>run
        measure_group(problem, scratch, run)
        value += scratch.run_gain[run]
        branches += scratch.run_weight[run]
    for i in range(n_runs):
        if must_stop(problem.interrupt, n_runs * problem.n_statistics):
            break
        for j in range(i + 1, n_runs):
            keep_pair(problem, scratch, n_runs, i, j)
    # The ratio of a branch for every level, which a merger has to keep up with.
    finish_candidate(problem, node, known, value, branches, 0.0, candidate)
    while n_groups > 2:
        best = -1e300
        best_i = -1
        best_j = -1
        # The best merger of all pairs, the first of equal ones.
        for i in range(n_groups):
            if must_stop(problem.interrupt, n_groups):
                break
            for j in range(i + 1, n_groups):
                place = groups[i] * n_runs + groups[j]
                # As finish_candidate has it.
                gain = value + scratch.pair_value[place]
                spread = whole - branches - scratch.pair_branches[place]
                ratio = 0.0
                if spread > least and gain * fraction >= problem.gain.tolerance:
                    ratio = gain / spread
                if ratio > best + problem.gain.tolerance:
                    best = ratio
                    best_i = i
                    best_j = j
                    best_value = scratch.pair_value[place]
                    best_branches = scratch.pair_branches[place]
        if has_stopped(problem.interrupt) or (
            best <= candidate.ratio - problem.gain.tolerance
        ):
            break
        value += best_value
        branches += best_branches
        merge_groups(problem, scratch, n_runs, n_groups, best_i, best_j)
        n_groups -= 1
        finish_candidate(problem, node, known, value, branches, 0.0, candidate)
    number_groups(scratch, n_runs)
    return n_groups


cdef void evaluate_groups(
    const Problem* problem, Scratch* scratch, const NodeView* node,
    const Totals* known, int64_t n_runs, Candidate* candidate
) noexcept nogil:
    """Merge the levels into groups, and check that enough of them hold enough."""
    cdef:
        int64_t n_groups, group, n_large = 0
        double weight
    n_groups = group_levels(problem, scratch, node, known, n_runs, candidate)
    for group in range(n_groups):
        inner_sum(
            problem,
            scratch.run_sums + scratch.run_start[group] * problem.n_statistics, &weight
        )
        n_large += is_large(problem, weight)
    candidate.n_children = <int32_t>n_groups
    candidate.is_valid = has_branches(problem, n_large, n_groups)


# ------------------------------------------------------------------- one column


cdef void evaluate_nominal_gain(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    const Entry* rows_of_node, const NodeView* node, int64_t column,
    Candidate* candidate
) noexcept nogil:
    """The test of one nominal column, if it has a valid one."""
    cdef:
        int64_t n_runs
        Totals known
    candidate.is_valid = False
    if problem.categorical_split == SPLIT_MULTIWAY and rows.weight == NULL:
        n_runs = count_levels(
            problem, rows, scratch, codes, column, rows_of_node, node.totals.rows
        )
        evaluate_counted_ways(problem, scratch, node, column, n_runs, candidate)
        return
    n_runs = sum_known_levels(
        problem, rows, scratch, codes, column, rows_of_node, node, &known
    )
    if n_runs < 2:
        return
    if problem.categorical_split == SPLIT_MULTIWAY:
        evaluate_many_ways(problem, scratch, node, column, &known, n_runs, candidate)
    elif problem.categorical_split == SPLIT_ONE_VS_REST:
        evaluate_one_against_rest(problem, scratch, node, &known, n_runs, candidate)
    elif n_runs <= MAX_GROUPED:
        evaluate_groups(problem, scratch, node, &known, n_runs, candidate)


cdef void divide_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    const Entry* rows_of_node, const NodeView* node, const Split* chosen
) noexcept nogil:
    """Write the child of every level of the chosen column into scratch.best_side; -1
    for one that the node does not know."""
    cdef:
        int64_t column = chosen.column, level, run, n_runs
        int64_t n_levels = problem.n_levels[column]
        int32_t* child = scratch.best_side
        Totals known
        Candidate again
    if problem.categorical_split == SPLIT_MULTIWAY:
        for level in range(n_levels):
            child[level] = <int32_t>level
        return
    if problem.categorical_split == SPLIT_ONE_VS_REST:
        for level in range(n_levels):
            child[level] = 0 if level == chosen.position else 1
        return
    n_runs = sum_known_levels(
        problem, rows, scratch, codes, column, rows_of_node, node, &known
    )
    group_levels(problem, scratch, node, &known, n_runs, &again)
    for level in range(n_levels):
        child[level] = -1
    for run in range(n_runs):
        child[scratch.run_level[run]] = scratch.run_side[run]
