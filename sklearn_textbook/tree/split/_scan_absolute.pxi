# Best threshold by the absolute error, whose medians need two passes; part of
# _scan.pyx.


cdef inline bint is_candidate(
    const Entry* entries, const Pass* scan, int64_t position
) noexcept nogil:
    return scan.lowest <= position <= scan.highest and rank_of(
        entries[position]
    ) != rank_of(entries[position - 1])


cdef void scan_absolute(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
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
