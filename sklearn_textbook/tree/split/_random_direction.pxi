# Sparse directions drawn at random, and what missing values stand for; part of
# _oblique.pyx.


cdef wide_void add_values(
    const ObliqueSearch* search, const double* mean, bint squares, double* sums,
    double* totals
) noexcept nogil:
    """Add up the values of each column, or the squares of what they exceed the means
    by."""
    cdef:
        const double* x
        const double* factor = search.inverse_size
        double weight, value
        int64_t p = search.problem.n_columns, i, j
    for i in range(search.n):
        fetch_row(search, i)
        x = search.values + search.row[i] * p
        weight = search.rows.weight[i]
        for j in range(p):
            value = x[j] * factor[j] - mean[j]
            value = weight * value * value if squares else weight * value
            sums[j] += value if value == value else 0.0
            totals[j] += weight if value == value else 0.0


cdef void measure_scales(ObliqueSearch* search) noexcept nogil:
    """Standard deviation of each numeric column, in units of its size."""
    cdef:
        double* mean = search.mean
        double* sums = search.relation
        double* totals = search.totals
        int64_t p = search.problem.n_columns, j, turn
    memset(mean, 0, p * sizeof(double))
    for turn in range(2):
        memset(sums, 0, p * sizeof(double))
        memset(totals, 0, p * sizeof(double))
        add_values(search, mean, turn == 1, sums, totals)
        for j in range(p):
            sums[j] = sums[j] / totals[j] if totals[j] > 0.0 else 0.0
        if turn == 0:
            memcpy(mean, sums, p * sizeof(double))
    for j in range(p):
        search.scale[j] = sqrt(sums[j]) if search.size[j] > 0.0 else 0.0


cdef double mean_of(
    const ObliqueSearch* search, int64_t column, double* deviation
) noexcept nogil:
    """Mean and standard deviation in the node, of numbers relative to the largest."""
    cdef:
        int64_t i
        double value, total = 0.0, mean = 0.0, spread = 0.0
    for i in range(search.n):
        value = read_cell(search, i, column)
        if value == value:
            mean += search.rows.weight[i] * value
            total += search.rows.weight[i]
    mean = mean / total if total > 0.0 else 0.0
    if deviation != NULL:
        for i in range(search.n):
            value = read_cell(search, i, column) - mean
            if value == value:
                spread += search.rows.weight[i] * value * value
        deviation[0] = sqrt(spread / total) if total > 0.0 else 0.0
    return mean


cdef void add_random_term(
    ObliqueSearch* search, int32_t column, int64_t output, double sign
) noexcept nogil:
    """Add a column with the inverse of its standard deviation as weight."""
    cdef:
        double mean = 0.0, deviation
        Direction* trial = search.trial
    if search.problem.kind[column] == NOMINAL_COLUMN:
        set_response(search, output)
        code_levels(search, column)
        mean = mean_of(search, column, &deviation)
        if deviation > 0.0:
            add_term(
                search, trial, column, sign / deviation, mean, 1.0,
                search.level_code + search.level_start[column]
            )
        return
    if not search.scale[column] > 1e-14:
        return
    # The means of other columns are needed for predictions only.
    if search.problem.has_missing[column]:
        mean = mean_of(search, column, NULL) * search.size[column]
    add_term(
        search, trial, column, sign / (search.scale[column] * search.size[column]),
        mean, 1.0, NULL
    )


cdef void make_random(ObliqueSearch* search) noexcept nogil:
    """Sample the columns of a direction, and the signs of their weights."""
    cdef:
        int64_t p = search.problem.n_columns, j, k, output = 0, n_terms
        uint64_t* state = &search.random_state
        int32_t column
    search.trial.n_terms = 0
    if search.problem.any_nominal:
        output = pick_output(search)
        if search.problem.is_classifier:
            group_at_random(search, output, state)
    for j in range(p):
        search.order[j] = <int32_t>j
    n_terms = 1 + random_below(state, search.max_terms)
    for j in range(p):
        k = j + random_below(state, p - j)
        column = search.order[k]
        search.order[k] = search.order[j]
        search.order[j] = column
        if search.size[column] == 0.0:
            continue
        add_random_term(
            search, column, output, -1.0 if next_random(state) >> 63 else 1.0
        )
        if search.trial.n_terms == n_terms:
            break
    finish_direction(search.trial)


cdef double mean_of_codes(
    const ObliqueSearch* search, const Direction* direction, int64_t t
) noexcept nogil:
    """The mean of what the levels of a term add."""
    cdef:
        const double* codes = direction.codes + direction.code_start[t]
        double value, total = 0.0, sums = 0.0
        int64_t i
    for i in range(search.n):
        value = cell_of(search, i, direction.column[t])
        if value == value:
            sums += search.rows.weight[i] * codes[<int64_t>value]
            total += search.rows.weight[i]
    return sums / total if total > 0.0 else 0.0


cdef inline void add_up_columns(
    const ObliqueSearch* search, const int32_t* columns, int64_t n_columns,
    double* means
) noexcept nogil:
    """Means of a few columns in one pass over the samples, relative to the sizes of the
    columns."""
    cdef:
        const double* x
        const double* factor = search.inverse_size
        const double* values = search.values
        const uint32_t* row = search.row
        double weight, value
        double[MEANS_AT_ONCE] sums
        double[MEANS_AT_ONCE] totals
        int64_t i, t, p = search.problem.n_columns
    for t in range(n_columns):
        sums[t] = totals[t] = 0.0
    for i in range(search.n):
        x = values + row[i] * p
        weight = search.rows.weight[i]
        for t in range(n_columns):
            value = x[columns[t]] * factor[columns[t]]
            sums[t] += weight * value if value == value else 0.0
            totals[t] += weight if value == value else 0.0
    for t in range(n_columns):
        means[t] = sums[t] / totals[t] if totals[t] > 0.0 else 0.0


cdef void find_means(
    const ObliqueSearch* search, const int32_t* columns, int64_t n, double* means
) noexcept nogil:
    """Means of columns; the compiler specialises the loop for each number of them."""
    cdef int64_t first = 0
    while n - first > 2:
        add_up_columns(search, columns + first, 3, means + first)
        first += 3
    if n - first == 2:
        add_up_columns(search, columns + first, 2, means + first)
    elif n - first == 1:
        add_up_columns(search, columns + first, 1, means + first)


cdef void fill_means(
    ObliqueSearch* search, Direction* direction, bint fills_all
) noexcept nogil:
    """Write what missing values stand for; of all terms, or of the columns that have
    none in training."""
    cdef:
        int64_t t, column, n = 0
        int32_t* columns = search.order
        double* means = search.line
    for t in range(direction.n_terms):
        column = direction.column[t]
        if direction.code_start[t] >= 0:
            if fills_all:
                direction.fill[t] = mean_of_codes(search, direction, t)
        elif fills_all or not search.problem.has_missing[column]:
            columns[n] = <int32_t>column
            n += 1
    find_means(search, columns, n, means)
    n = 0
    for t in range(direction.n_terms):
        column = direction.column[t]
        if direction.code_start[t] < 0 and (
            fills_all or not search.problem.has_missing[column]
        ):
            direction.fill[t] = direction.weight[t] * means[n] * search.size[column]
            n += 1
