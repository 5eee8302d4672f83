# The best stump of each column: part of _stumps.pyx.


cdef inline double score(
    const double* left, const double* totals, int64_t n_classes
) noexcept nogil:
    """Weight classified correctly if both sides predict their heaviest class."""
    cdef double most_left = left[0], most_right = totals[0] - left[0]
    cdef int64_t k
    for k in range(1, n_classes):
        most_left = max(most_left, left[k])
        most_right = max(most_right, totals[k] - left[k])
    return most_left + most_right


cdef inline double bound(
    const double* left, const double* sums, const double* totals, int64_t n_classes,
    int64_t stride
) noexcept nogil:
    """No division inside of a bin scores more, if its sides predict different classes;
    of each class there is the weight left of the bin, inside of it, and in all."""
    cdef:
        double most = -INFINITY, next_most = -INFINITY, best = -INFINITY, value
        int64_t k, chosen = 0
    for k in range(n_classes):
        value = left[k] + sums[k * stride]
        if value > most:
            next_most = most
            most = value
            chosen = k
        elif value > next_most:
            next_most = value
    for k in range(n_classes):
        value = totals[k] - left[k] + (next_most if k == chosen else most)
        if value > best:
            best = value
    return best


cdef inline void consider(
    const Work* work, const double* left, int64_t position, int32_t missing_child,
    Stump* best
) noexcept nogil:
    cdef double value = score(left, work.totals, work.n_classes)
    if value > best.score + work.margin:
        best.score = value
        best.position = position
        best.missing_child = missing_child
        best.is_alone = False


cdef void walk_bin(
    const Work* work, const Column* column, int64_t b, const double* left,
    double* inside, int32_t missing_child, Stump* best
) noexcept nogil:
    """Try the thresholds within a bin."""
    cdef int64_t i, k, row
    for k in range(work.n_classes):
        inside[k] = left[k]
    for i in range(column.start[b], column.start[b + 1]):
        if column.order[i] > ROW_MASK and i > column.start[b]:
            consider(work, inside, i, missing_child, best)
        row = column.order[i] & ROW_MASK
        inside[work.labels[row]] += work.learned[row]


cdef void pass_column(
    const Work* work, const Column* column, double* left, double* inside,
    int32_t missing_child, bint is_refined, Stump* best
) noexcept nogil:
    """Try the ends of all bins, and what lies inside of some; ``left`` is what is in
    child 0 before the first row."""
    cdef:
        const double* sums
        int64_t b, k
    for b in range(column.n_bins):
        sums = work.sums + column.first + b
        if is_refined and not column.is_exact and bound(
            left, sums, work.totals, work.n_classes, work.n_all_bins
        ) >= work.limit:
            walk_bin(work, column, b, left, inside, missing_child, best)
        for k in range(work.n_classes):
            left[k] += sums[k * work.n_all_bins]
        if b + 1 < column.n_bins:
            consider(work, left, column.start[b + 1], missing_child, best)


cdef void search_numeric(
    const Work* work, const Column* column, double* scratch, bint is_refined,
    Stump* best
) noexcept nogil:
    """Best threshold: missing values right, then left, then alone."""
    cdef:
        int64_t k
        double* left = scratch
        const double* missing = work.sums + column.first + column.n_bins
        double heaviest = 0.0
    memset(left, 0, work.n_classes * sizeof(double))
    if column.has_missing:
        for k in range(work.n_classes):
            heaviest = max(heaviest, missing[k * work.n_all_bins])
    if heaviest <= 0.0:
        pass_column(
            work, column, left, scratch + work.n_classes, -1, is_refined, best
        )
        return
    pass_column(work, column, left, scratch + work.n_classes, 1, is_refined, best)
    for k in range(work.n_classes):
        left[k] = missing[k * work.n_all_bins]
    pass_column(work, column, left, scratch + work.n_classes, 0, is_refined, best)
    for k in range(work.n_classes):
        left[k] = work.totals[k] - missing[k * work.n_all_bins]
    if score(left, work.totals, work.n_classes) > best.score + work.margin:
        consider(work, left, column.start[column.n_bins], 1, best)
        best.is_alone = True


cdef void search_nominal(
    const Work* work, const Column* column, Stump* best
) noexcept nogil:
    """Best division of the levels: two classes share them, each level going to the
    one that has more of it. Missing values are one more level."""
    cdef:
        int64_t a, c, b, n_bins = column.n_bins + column.has_missing
        const double* first
        const double* second
        double value
    for a in range(work.n_classes):
        first = work.sums + a * work.n_all_bins + column.first
        for c in range(a + 1, work.n_classes):
            second = work.sums + c * work.n_all_bins + column.first
            value = 0.0
            for b in range(n_bins):
                value += max(first[b], second[b])
            if value > best.score + work.margin:
                best.score = value
                best.low_class = <int32_t>a
                best.high_class = <int32_t>c


cdef void search_smoothed(
    const Work* work, const Column* column, int thread, Stump* best
) noexcept nogil:
    """Best division of many levels, whose weights are smoothed, as trees find it."""
    cdef:
        int64_t k
        double total = 0.0
    for k in range(work.n_classes):
        total += work.totals[k]
    best.score = divide_summed_levels(
        &work.level_search[thread], work.sums + column.first, work.n_all_bins,
        column.level_rows, column.n_bins + column.has_missing, column.has_missing,
        work.totals, work.design_effect * total, column.level_child
    )


cdef void clear_stump(Stump* stump) noexcept nogil:
    memset(stump, 0, sizeof(Stump))
    stump.score = -INFINITY


cdef void update_group(void* context, int64_t group, int thread) noexcept nogil:
    """Update the sums of some columns and try the ends of their bins."""
    cdef:
        Work* work = <Work*>context
        int64_t first = group * work.n_columns // work.n_groups
        int64_t last = (group + 1) * work.n_columns // work.n_groups, c, k
        double* scratch = work.scratch + thread * 2 * work.n_classes
        Column* column
    if work.is_rebuilt:
        for k in range(work.n_classes):
            for c in range(first, last):
                column = work.columns + c
                memset(
                    work.sums + k * work.n_all_bins + column.first, 0,
                    (column.n_bins + column.has_missing) * sizeof(double)
                )
    add_entries(work, first, last)
    for c in range(first, last):
        clear_stump(work.stumps + c)
        column = work.columns + c
        if column.level_child != NULL:
            search_smoothed(work, column, thread, work.stumps + c)
        elif column.is_nominal:
            search_nominal(work, column, work.stumps + c)
        else:
            search_numeric(work, column, scratch, False, work.stumps + c)
        work.best_end[c] = work.stumps[c].score


cdef void refine_column(void* context, int64_t c, int thread) noexcept nogil:
    """Find the best stump of a column if it may be the best of all."""
    cdef:
        Work* work = <Work*>context
        double* scratch = work.scratch + thread * 2 * work.n_classes
    if work.columns[c].is_nominal or work.columns[c].is_exact:
        return
    clear_stump(work.stumps + c)
    search_numeric(work, work.columns + c, scratch, True, work.stumps + c)
