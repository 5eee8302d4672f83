# Directions that are computed from the samples of a node: Fisher's, ridge regression
# and logistic regression; part of _oblique.pyx.


# --------------------------------------------------------------------- linear systems


cdef double soft(double value, double limit) noexcept nogil:
    """Move a number towards 0 by the limit."""
    if value > limit:
        return value - limit
    return value + limit if value < -limit else 0.0


cdef void solve_lasso(
    const ObliqueSearch* search, const double* system, const double* target, int64_t k,
    double* solution
) noexcept nogil:
    """Minimize w'Aw / 2 - b'w + lasso max|b| |w| by coordinate descent."""
    cdef:
        int64_t sweep, i, j
        double limit = 0.0, residual, change, largest
    for j in range(k):
        limit = fabs(target[j]) if fabs(target[j]) > limit else limit
    limit *= search.lasso
    memset(solution, 0, k * sizeof(double))
    for sweep in range(LASSO_SWEEPS):
        if must_stop(search.problem.interrupt, k * k):
            return
        change = largest = 0.0
        for j in range(k):
            residual = target[j] + system[j * k + j] * solution[j]
            for i in range(k):
                residual -= system[j * k + i] * solution[i]
            residual = soft(residual, limit) / system[j * k + j]
            change = max(change, fabs(residual - solution[j]))
            largest = max(largest, fabs(residual))
            solution[j] = residual
        if change <= 1e-6 * largest:
            break


cdef bint factorize(ObliqueSearch* search, double* system, int64_t k) noexcept nogil:
    """Cholesky factor of a system, to whose diagonal more is added until it has one."""
    cdef:
        int n = <int>k, info = 0, attempt
        int64_t j
        double more = JITTER
        double* kept = search.within
    memcpy(kept, system, k * k * sizeof(double))
    for attempt in range(6):
        dpotrf(b"L", &n, system, &n, &info)
        if info == 0:
            return True
        memcpy(system, kept, k * k * sizeof(double))
        for j in range(k):
            system[j * k + j] += more * (1.0 + kept[j * k + j])
        more *= 100.0
    return False


cdef bint solve(
    ObliqueSearch* search, double* system, const double* target, int64_t k,
    double* solution
) noexcept nogil:
    """Solve a symmetric system, or the same with a lasso penalty."""
    cdef:
        int n = <int>k, one = 1, info = 0
    if search.lasso > 0.0:
        solve_lasso(search, system, target, k, solution)
        return True
    if not factorize(search, system, k):
        return False
    memcpy(solution, target, k * sizeof(double))
    dpotrs(b"L", &n, &one, system, &n, solution, &n, &info)
    return info == 0


# ----------------------------------------------------------------------- cross products


cdef wide_void sum_products(
    const ObliqueSearch* search, const double* weight, double* products
) noexcept nogil:
    """Weighted sums of the products of all pairs of columns, lower triangle; four
    samples at a time, so that sums are read and written less often."""
    cdef:
        int64_t k = search.n_used, i = 0, a, b
        const double* x
        double first, second, third, fourth
        double* line
    memset(products, 0, k * k * sizeof(double))
    while i + 4 <= search.n:
        if i % ROWS_PER_CHECK == 0 and must_stop(
            search.problem.interrupt, ROWS_PER_CHECK * k
        ):
            return
        x = search.cells + i * k
        for a in range(k):
            first = weight[i] * x[a]
            second = weight[i + 1] * x[k + a]
            third = weight[i + 2] * x[2 * k + a]
            fourth = weight[i + 3] * x[3 * k + a]
            line = products + a * k
            for b in range(a + 1):
                line[b] += (first * x[b] + second * x[k + b]) + (
                    third * x[2 * k + b] + fourth * x[3 * k + b]
                )
        i += 4
    while i < search.n:
        x = search.cells + i * k
        for a in range(k):
            first = weight[i] * x[a]
            for b in range(a + 1):
                products[a * k + b] += first * x[b]
        i += 1


cdef void complete(double* products, int64_t k, double factor) noexcept nogil:
    """Multiply a lower triangle, and mirror it."""
    cdef int64_t a, b
    for a in range(k):
        for b in range(a + 1):
            products[a * k + b] *= factor
            products[b * k + a] = products[a * k + b]


cdef void add_ridge(double* system, int64_t k, double ridge) noexcept nogil:
    cdef int64_t j
    for j in range(k):
        system[j * k + j] += ridge + JITTER


# ------------------------------------------------------------------------- regression


cdef bint fit_ridge(ObliqueSearch* search) noexcept nogil:
    """Regression of the response on the columns."""
    cdef:
        int64_t k = search.n_used, i, j
        double weight = search.view.totals.weight, residual
        const double* x = search.cells
    sum_products(search, search.rows.weight, search.gram)
    complete(search.gram, k, 1.0 / weight)
    add_ridge(search.gram, k, search.ridge)
    memset(search.target, 0, k * sizeof(double))
    for i in range(search.n):
        residual = search.rows.weight[i] * (search.response[i] - search.mean_response)
        for j in range(k):
            search.target[j] += residual * x[j] / weight
        x += k
    return solve(search, search.gram, search.target, k, search.solution)


# -------------------------------------------------------------------------- Fisher's


cdef void sum_classes(ObliqueSearch* search, int64_t output) noexcept nogil:
    """Weights and means of the classes."""
    cdef:
        const Problem* problem = search.problem
        int64_t k = search.n_used, i, j, c
        int64_t n_classes = problem.output_start[output + 1] - (
            problem.output_start[output]
        )
        const double* x = search.cells
        double* centre
        double weight
    memset(search.centres, 0, n_classes * k * sizeof(double))
    memset(search.class_weight, 0, n_classes * sizeof(double))
    for i in range(search.n):
        c = search.rows.label[i * problem.n_outputs + output]
        centre = search.centres + c * k
        weight = search.rows.weight[i]
        search.class_weight[c] += weight
        for j in range(k):
            centre[j] += weight * x[j]
        x += k
    for c in range(n_classes):
        if search.class_weight[c] > 0.0:
            for j in range(k):
                search.centres[c * k + j] /= search.class_weight[c]


cdef void subtract_between(ObliqueSearch* search, int64_t n_classes) noexcept nogil:
    """Make the scatter within classes from that of all samples, and keep the scatter
    between classes."""
    cdef:
        int64_t k = search.n_used, a, b, c
        double weight = search.view.totals.weight, total
        const double* centre
    for a in range(k):
        if must_stop(search.problem.interrupt, k * n_classes):
            return
        for b in range(k):
            total = 0.0
            for c in range(n_classes):
                centre = search.centres + c * k
                total += search.class_weight[c] / weight * centre[a] * centre[b]
            search.system[a * k + b] = total
            search.gram[a * k + b] -= total


cdef bint find_discriminant(ObliqueSearch* search) noexcept nogil:
    """The direction with the largest ratio of the scatter between classes to that
    within: L^-1 B L^-T u = e u, w = L^-T u."""
    cdef:
        int k = <int>search.n_used, info = 0, n_work = <int>search.n_work, one = 1
        int64_t a, b
        double* factor = search.gram
        double* between = search.system
        double* values = search.step
    if must_stop(search.problem.interrupt, <int64_t>k * k * k) or (
        not factorize(search, factor, k)
    ):
        return False
    dtrtrs(b"L", b"N", b"N", &k, &k, factor, &k, between, &k, &info)
    for a in range(k):
        for b in range(a):
            between[a * k + b], between[b * k + a] = (
                between[b * k + a], between[a * k + b]
            )
    dtrtrs(b"L", b"N", b"N", &k, &k, factor, &k, between, &k, &info)
    dsyev(b"V", b"L", &k, between, &k, values, search.work, &n_work, &info)
    if info != 0:
        return False
    memcpy(search.solution, between + (k - 1) * <int64_t>k, k * sizeof(double))
    dtrtrs(b"L", b"T", b"N", &k, &one, factor, &k, search.solution, &k, &info)
    return info == 0


cdef bint fit_lda(ObliqueSearch* search, int64_t output) noexcept nogil:
    """Fisher's direction; with a lasso penalty, the sparse direction whose products
    with the scatter within classes are those of Fisher's."""
    cdef:
        const Problem* problem = search.problem
        int64_t k = search.n_used, j, i, n_present = 0, c, first = -1, last = -1
        int64_t n_classes = problem.output_start[output + 1] - (
            problem.output_start[output]
        )
    sum_products(search, search.rows.weight, search.gram)
    complete(search.gram, k, 1.0 / search.view.totals.weight)
    sum_classes(search, output)
    for c in range(n_classes):
        if search.class_weight[c] > 0.0:
            n_present += 1
            first = c if first < 0 else first
            last = c
    subtract_between(search, n_classes)
    add_ridge(search.gram, k, search.ridge)
    if n_present == 2:
        for j in range(k):
            search.target[j] = (
                search.centres[last * k + j] - search.centres[first * k + j]
            )
        return solve(search, search.gram, search.target, k, search.solution)
    if search.lasso == 0.0:
        return find_discriminant(search)
    # find_discriminant overwrites the scatter with its factor; the copy that
    # factorize keeps is whole.
    if not find_discriminant(search):
        return False
    memcpy(search.system, search.within, k * k * sizeof(double))
    for j in range(k):
        search.target[j] = 0.0
        for i in range(k):
            search.target[j] += search.system[j * k + i] * search.solution[i]
    return solve(search, search.system, search.target, k, search.solution)


cdef void group_by_scores(ObliqueSearch* search, int64_t output) noexcept nogil:
    """Divide the classes into the two groups whose means on Fisher's direction differ
    most, relative to the weights of the groups."""
    cdef:
        const Problem* problem = search.problem
        int64_t k = search.n_used, c, d, j
        int64_t n_classes = problem.output_start[output + 1] - (
            problem.output_start[output]
        )
        double* score = search.centres  # the first number of each class
        double left, left_sum, right, right_sum, spread, best = -1.0, limit = 0.0, total
    for c in range(n_classes):
        total = 0.0
        for j in range(k):
            total += search.centres[c * k + j] * search.solution[j]
        score[c * k] = total
    for c in range(n_classes):
        if search.class_weight[c] == 0.0:
            continue
        if must_stop(search.problem.interrupt, n_classes):
            return
        left = left_sum = right = right_sum = 0.0
        for d in range(n_classes):
            if score[d * k] <= score[c * k]:
                left += search.class_weight[d]
                left_sum += search.class_weight[d] * score[d * k]
            else:
                right += search.class_weight[d]
                right_sum += search.class_weight[d] * score[d * k]
        if right == 0.0:
            continue
        spread = left_sum / left - right_sum / right
        spread = left * right * spread * spread
        if spread > best:
            best = spread
            limit = score[c * k]
    for c in range(n_classes):
        search.group_of_class[c] = score[c * k] > limit


# -------------------------------------------------------------------------- all of them


cdef bint fit_direction(ObliqueSearch* search, int64_t output) noexcept nogil:
    if search.kind == LDA_DIRECTION:
        return fit_lda(search, output)
    if search.kind == LOGISTIC_DIRECTION:
        return fit_logistic(search)
    return fit_ridge(search)


cdef double largest_weight(const ObliqueSearch* search) noexcept nogil:
    cdef:
        int64_t j
        double largest = 0.0
    for j in range(search.n_used):
        largest = max(largest, fabs(search.solution[j]))
    return largest


cdef int64_t keep_largest(ObliqueSearch* search, int64_t n_kept) noexcept nogil:
    """Keep the columns with the largest weights, in their order, and their cells;
    returns their number."""
    cdef:
        int64_t j, n = 0, k = search.n_used, n_larger, other
        double size, limit = SMALLEST_SHARE * largest_weight(search)
        int32_t* place = search.order
    for j in range(k):
        size = fabs(search.solution[j])
        n_larger = 0
        for other in range(k):
            n_larger += fabs(search.solution[other]) > size or (
                fabs(search.solution[other]) == size and other < j
            )
        if size > limit and n_larger < n_kept:
            place[n] = <int32_t>j
            n += 1
    take_columns(search, place, n)
    return n


cdef void describe_direction(ObliqueSearch* search) noexcept nogil:
    """Make the direction on trial of the solution, in the units of the table; its
    length is 1 in standard units, and its largest weight is positive."""
    cdef:
        int64_t j
        int32_t column
        double length = 0.0, largest = 0.0, weight, limit, unit
        const double* codes
    search.trial.n_terms = 0
    for j in range(search.n_used):
        length += search.solution[j] * search.solution[j]
        if fabs(search.solution[j]) > fabs(largest):
            largest = search.solution[j]
    if not length > 0.0 or not isfinite(length):
        return
    length = sqrt(length) if largest > 0.0 else -sqrt(length)
    limit = SMALLEST_SHARE * fabs(largest)
    for j in range(search.n_used):
        if fabs(search.solution[j]) <= limit:
            continue
        column = search.used[j]
        unit = 1.0
        codes = NULL
        if search.problem.kind[column] == NOMINAL_COLUMN:
            codes = search.level_code + search.level_start[column]
        else:
            unit = search.size[column]
        weight = search.solution[j] / length
        add_term(
            search, search.trial, column, weight / (search.deviation[j] * unit),
            search.mean[j] * unit, fabs(weight), codes
        )
    finish_direction(search.trial)


cdef int fit_columns(
    ObliqueSearch* search, const Split* axis, int64_t start, int64_t output
) noexcept nogil:
    """Compute a direction of at most max_terms of the sampled columns, which are chosen
    step by step, and the direction computed again. Returns -1 without memory."""
    cdef:
        int64_t n_kept
        bint is_searched = search.kind == COORDINATE_DIRECTION
    if prepare_columns(search) < 0:
        return -1
    if search.n_used == 0:
        return 0
    if search.problem.is_classifier and search.kind != LDA_DIRECTION and (
        search.problem.n_statistics > 2
    ):
        if not fit_lda(search, output):
            return 0
        group_by_scores(search, output)
        set_response(search, output)
    if search.kind == LOGISTIC_DIRECTION and not (
        0.0 < search.mean_response < 1.0
    ):
        return 0
    if is_searched:
        start_coordinates(search, axis, start)
    elif not fit_direction(search, output):
        return 0
    while search.n_used > search.max_terms:
        n_kept = max(search.max_terms, search.n_used // 2)
        if keep_largest(search, n_kept) == 0:
            return 0
        if not is_searched and not fit_direction(search, output):
            return 0
    if is_searched:
        search_coordinates(search)
    describe_direction(search)
    return 0


cdef int compute_direction(
    ObliqueSearch* search, const Split* axis, int64_t start
) noexcept nogil:
    """Compute a direction. Returns -1 without memory."""
    cdef:
        int64_t output = pick_output(search), j
        int outcome
        bint takes_some = search.kind == COORDINATE_DIRECTION and (
            search.n > MAX_SEARCHED
        )
    search.trial.n_terms = 0
    if search.problem.is_classifier:
        group_largest(search, output)
    set_response(search, output)
    sample_columns(search)
    for j in range(search.n_used):
        if search.problem.kind[search.used[j]] == NOMINAL_COLUMN:
            code_levels(search, search.used[j])
    if takes_some:
        take_some(search)
    outcome = fit_columns(search, axis, start, output)
    if takes_some:
        swap_samples(search)
        fill_means(search, search.trial, True)
    return outcome
