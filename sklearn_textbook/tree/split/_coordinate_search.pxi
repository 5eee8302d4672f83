# The direction whose test is best, found by changing one weight at a time as in OC1;
# part of _oblique.pyx.


cdef void start_coordinates(
    ObliqueSearch* search, const Split* axis, int64_t start
) noexcept nogil:
    """First the column of the best test of one column, or regression; then random
    weights."""
    cdef int64_t j, place = -1
    if start == 0:
        for j in range(search.n_used):
            if axis.column == search.used[j]:
                place = j
        if place < 0 and fit_ridge(search):
            return
    for j in range(search.n_used):
        search.solution[j] = 2.0 * random_unit(&search.random_state) - 1.0
        if start == 0:
            search.solution[j] = j == place


cdef bint order_changes(
    ObliqueSearch* search, const double* sums, int64_t column, double threshold
) noexcept nogil:
    """Sort the weights of a column at which samples change sides. Samples on which the
    weight has no effect stand last, with NaN."""
    cdef:
        int64_t i, k = search.n_used
        const double* x = search.cells + column
        double weight = search.solution[column]
        double* along = search.along
        double largest = -INFINITY
    for i in range(search.n):
        along[i] = INFINITY
        if fabs(x[i * k]) > 1e-9:
            along[i] = (threshold - (sums[i] - weight * x[i * k])) / x[i * k]
            largest = along[i] if along[i] > largest else largest
    # Finite, so that the range of the values is.
    for i in range(search.n):
        if along[i] == INFINITY:
            along[i] = largest
    return sort_values(along, search.n, search.keys, search.spare)


cdef inline void move_sample(
    ObliqueSearch* search, int64_t i, double* to, double* source
) noexcept nogil:
    cdef double weight = search.rows.weight[i]
    add_row(
        search.problem, search.rows, i, weight, search.view.totals.centre, to
    )
    add_row(
        search.problem, search.rows, i, -weight, search.view.totals.centre, source
    )


cdef double find_weight(
    ObliqueSearch* search, const double* sums, int64_t column, double threshold,
    double* found
) noexcept nogil:
    """The best weight of a column if the others and the threshold stay; returns its
    score, or -inf."""
    cdef:
        const Problem* problem = search.problem
        int64_t i, place, k = search.n_used, n_left = 0
        const double* x = search.cells + column
        double* left = search.scratch.left
        double* right = search.scratch.right
        double left_weight = 0.0, weight, score, best = -INFINITY, gap
        double total = search.view.totals.weight
        bint is_left
    if not order_changes(search, sums, column, threshold):
        return -INFINITY
    memset(left, 0, problem.n_statistics * sizeof(double))
    memset(right, 0, problem.n_statistics * sizeof(double))
    weight = search.solution[column]
    # The sides if the weight were -infinite.
    for i in range(search.n):
        is_left = x[i * k] > 1e-9 or (
            not x[i * k] < -1e-9 and sums[i] - weight * x[i * k] <= threshold
        )
        n_left += is_left
        left_weight += search.rows.weight[i] if is_left else 0.0
        add_row(
            problem, search.rows, i, search.rows.weight[i], search.view.totals.centre,
            left if is_left else right
        )
    for place in range(search.n - 1):
        i = row_of(search.keys[place])
        if x[i * k] > 1e-9:
            move_sample(search, i, right, left)
            n_left -= 1
            left_weight -= search.rows.weight[i]
        elif x[i * k] < -1e-9:
            move_sample(search, i, left, right)
            n_left += 1
            left_weight += search.rows.weight[i]
        gap = search.along[row_of(search.keys[place + 1])] - search.along[i]
        if not gap > 1e-12 * (1.0 + fabs(search.along[i])):
            continue
        if (
            n_left < problem.min_samples_leaf
            or search.n - n_left < problem.min_samples_leaf
            or left_weight < problem.min_weight_leaf
            or total - left_weight < problem.min_weight_leaf
            or n_left < 1 or search.n - n_left < 1
        ):
            continue
        score = goodness(problem, left, left_weight) + goodness(
            problem, right, total - left_weight
        ) - search.view.totals.goodness
        if score > best + search.view.margin:
            best = score
            found[0] = search.along[i] + 0.5 * gap
    return best


cdef double find_threshold(ObliqueSearch* search, double* sums) noexcept nogil:
    """Sums along the solution, and their best threshold; NaN if there is none. The
    score is that of the split on trial."""
    cdef:
        int64_t i, j, k = search.n_used, position
        const double* x = search.cells
        Split trial
    for i in range(search.n):
        sums[i] = 0.0
        for j in range(k):
            sums[i] += search.solution[j] * x[j]
        x += k
    if not sort_values(sums, search.n, search.keys, search.spare):
        return NAN
    rank_sums(search, sums, 1e-14 * <double>k * largest_weight(search))
    clear_split(&trial)
    trial.n_children = 2
    evaluate_column(
        search.problem, search.rows, search.scratch, search.keys, NULL, search.view,
        search.problem.n_columns, &trial
    )
    if trial.column < 0:
        return NAN
    position = trial.position
    return midpoint(
        sums[row_of(search.keys[position - 1])], sums[row_of(search.keys[position])]
    )


cdef double score_of(
    ObliqueSearch* search, const double* sums, double threshold
) noexcept nogil:
    """The decrease of weight * impurity of a test."""
    cdef:
        const Problem* problem = search.problem
        double* left = search.scratch.left
        double* right = search.scratch.right
        double left_weight = 0.0, weight
        int64_t i
    memset(left, 0, problem.n_statistics * sizeof(double))
    memset(right, 0, problem.n_statistics * sizeof(double))
    for i in range(search.n):
        weight = search.rows.weight[i]
        left_weight += weight if sums[i] <= threshold else 0.0
        add_row(
            problem, search.rows, i, weight, search.view.totals.centre,
            left if sums[i] <= threshold else right
        )
    return goodness(problem, left, left_weight) + goodness(
        problem, right, search.view.totals.weight - left_weight
    ) - search.view.totals.goodness


cdef void search_coordinates(ObliqueSearch* search) noexcept nogil:
    """Change one weight after the other to its best value, as long as that helps."""
    cdef:
        int64_t sweep, i, j, k = search.n_used
        double* sums = search.trial.z
        double threshold, score, found = 0.0, tried, change
        bint is_better
    threshold = find_threshold(search, sums)
    if threshold != threshold:
        return
    score = score_of(search, sums, threshold)
    for sweep in range(MAX_SWEEPS):
        is_better = False
        for j in range(k):
            if must_stop(search.problem.interrupt, search.n * SORT_UNITS):
                return
            tried = find_weight(search, sums, j, threshold, &found)
            if not tried > score + 1e-9 * fabs(score) + search.view.margin:
                continue
            is_better = True
            score = tried
            change = found - search.solution[j]
            search.solution[j] = found
            for i in range(search.n):
                sums[i] += change * search.cells[i * k + j]
        if not is_better:
            break
