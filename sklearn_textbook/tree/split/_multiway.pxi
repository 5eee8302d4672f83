# A nominal column with a branch for every level: part of _column.pyx.


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
        double share = division.shrinkage if division.is_smoothed else 1.0
    if n_present_runs < (1 if scan.offset_child >= 0 else 2):
        return
    scan.n_runs_missing = n_present_runs
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
        score = scan.offset + share * found
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
            if n_invalid == 0:
                found -= alone[run]
            score = scan.offset + share * found
            if score > division.beat:
                division.beat = score + scan.margin
                take(best, score, run, -1)
                best.decrease = scan.offset + found
                joined = run
        if joined < 0:
            return
    best.n_children = <int32_t>n_levels + (1 if scan.offset_child >= 0 else 0)
