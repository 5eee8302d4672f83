# One threshold of a sorted column, sampled at random; part of _column.pyx.


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
    if not leaves_enough(problem, &left, &right):
        return
    if problem.criterion == ABSOLUTE_ERROR:
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


cdef void try_random_threshold(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const uint32_t* ranks, Pass* scan, int64_t column,
    uint64_t* random_state, Split* best
) noexcept nogil:
    """A threshold drawn evenly between the smallest and the largest value; one inside
    a bin is moved to its upper end."""
    cdef:
        int64_t low = 0, high = scan.n_present - 1, middle
        double smallest = value_of_rank(problem, column, ranks, rank_of(entries[0]))
        double largest = value_of_rank(problem, column, ranks, rank_of(entries[high]))
        double threshold = smallest + random_unit(random_state) * (largest - smallest)
        bint missing_left = False
    if not smallest < largest:
        return
    if threshold >= largest:
        threshold = smallest + 0.0  # not -0
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
