# Information gain and gain ratio of one column: nominal tests; part of _gain.pyx.
#
# The rows of a level that is present are called a *run*.

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


cdef int64_t sum_levels(
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
    for run in range(n_runs):
        if scratch.run_side[run] == gone:
            scratch.run_side[run] = <int32_t>kept
    for i in range(second, n_groups - 1):
        groups[i] = groups[i + 1]
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
    """
    cdef:
        int64_t* groups = scratch.run_start  # in order; named by their first run
        int64_t run, i, j, n_groups = n_runs, best_i, best_j, place
        double value = value_of_known(problem, known), branches = 0.0
        double best, best_value = 0.0, best_branches = 0.0
        double whole = whole_spread(problem, node, known)
        double least = min_spread(problem, node), gain, spread, ratio
        double share = known.weight / node.totals.weight
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
    finish_candidate(problem, node, known, value, branches, 0.0, candidate)
    while n_groups > 2:
        best = -1e300
        best_i = -1
        best_j = -1
        for i in range(n_groups):
            if must_stop(problem.interrupt, n_groups):
                break
            for j in range(i + 1, n_groups):
                place = groups[i] * n_runs + groups[j]
                # As finish_candidate has it.
                gain = value + scratch.pair_value[place]
                spread = whole - branches - scratch.pair_branches[place]
                ratio = 0.0
                if spread > least and gain * share >= problem.gain.tolerance:
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
    n_runs = sum_levels(
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
    n_runs = sum_levels(
        problem, rows, scratch, codes, column, rows_of_node, node, &known
    )
    group_levels(problem, scratch, node, &known, n_runs, &again)
    for level in range(n_levels):
        child[level] = -1
    for run in range(n_runs):
        child[scratch.run_level[run]] = scratch.run_side[run]
