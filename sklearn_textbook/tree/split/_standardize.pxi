# The response of a node, and its columns in standard units; part of _oblique.pyx.


# --------------------------------------------------------------------------- response


cdef int64_t pick_output(const ObliqueSearch* search) noexcept nogil:
    """The output with the largest impurity: Gini or variance."""
    cdef:
        const Problem* problem = search.problem
        const double* sums = search.view.totals.sums
        int64_t output, k, i, picked = 0, n_outputs = problem.n_outputs
        double impurity, largest = -1.0, mean, weight = search.view.totals.weight
    if n_outputs == 1:
        return 0
    for output in range(n_outputs):
        impurity = 0.0
        if problem.is_classifier:
            impurity = 1.0
            for k in range(
                problem.output_start[output], problem.output_start[output + 1]
            ):
                impurity -= (sums[k] / weight) * (sums[k] / weight)
        else:
            mean = 0.0
            for i in range(search.n):
                mean += search.rows.weight[i] * search.rows.y[i * n_outputs + output]
            mean /= weight
            for i in range(search.n):
                impurity += search.rows.weight[i] * (
                    (search.rows.y[i * n_outputs + output] - mean)
                    * (search.rows.y[i * n_outputs + output] - mean)
                )
            impurity /= weight
        if impurity > largest:
            largest = impurity
            picked = output
    return picked


cdef void set_response(ObliqueSearch* search, int64_t output) noexcept nogil:
    """The group of the class of each sample, 0 or 1; or its value."""
    cdef:
        const Problem* problem = search.problem
        int64_t i, place
        double total = 0.0
    for i in range(search.n):
        place = i * problem.n_outputs + output
        if problem.is_classifier:
            search.response[i] = <double>search.group_of_class[search.rows.label[place]]
        else:
            search.response[i] = search.rows.y[place]
        total += search.rows.weight[i] * search.response[i]
    search.mean_response = total / search.view.totals.weight


cdef void group_largest(ObliqueSearch* search, int64_t output) noexcept nogil:
    """The largest class against the others; of two classes, the second one."""
    cdef:
        const Problem* problem = search.problem
        int64_t start = problem.output_start[output], c, largest = 1
        int64_t n_classes = problem.output_start[output + 1] - start
        const double* weights = search.view.totals.sums + start
    if n_classes != 2:
        largest = 0
        for c in range(n_classes):
            if weights[c] > weights[largest]:
                largest = c
    for c in range(n_classes):
        search.group_of_class[c] = c == largest


cdef void group_at_random(
    ObliqueSearch* search, int64_t output, uint64_t* state
) noexcept nogil:
    cdef:
        const Problem* problem = search.problem
        int64_t c
        int64_t n_classes = problem.output_start[output + 1] - (
            problem.output_start[output]
        )
    for c in range(n_classes):
        search.group_of_class[c] = <int32_t>(next_random(state) >> 63)
    if n_classes == 2:
        search.group_of_class[0] = 0
        search.group_of_class[1] = 1


cdef double weigh_mean(
    const ObliqueSearch* search, int32_t column, double squared_response
) noexcept nogil:
    """The weight of the mean of the node that is added to each level of a column of
    many levels, as in _nominal.pxi; below 0 if less than half of the squares between
    the levels is to be expected on other rows. The levels are summed up already."""
    cdef:
        const Problem* problem = search.problem
        int64_t level, n_levels = 0
        double weight, difference, added, total = 0.0, squares = 0.0, between = 0.0
        double expected = 0.0, variance
    for level in range(problem.n_levels[column]):
        weight = search.level_weight[level]
        if weight <= 0.0:
            continue
        n_levels += 1
        total += weight
        squares += weight * weight
        difference = search.level_sum[level] - weight * search.mean_response
        between += difference * difference / weight
    added = problem.smoothing * problem.design_effect
    if problem.smoothing < 0.0:
        variance = squared_response / total - search.mean_response**2
        added = added_weight(
            variance_within(
                variance, between, total, n_levels, problem.design_effect
            ),
            between, total, squares, n_levels
        )
    if added < 0.0:
        return -1.0
    for level in range(problem.n_levels[column]):
        weight = search.level_weight[level]
        if weight > 0.0:
            difference = search.level_sum[level] - weight * search.mean_response
            expected += difference * difference / (weight + added)
    return added if 2.0 * expected - between >= 0.5 * between else -1.0


cdef void code_levels(ObliqueSearch* search, int32_t column) noexcept nogil:
    """Code the levels of a column by the mean of the response, to which samples with
    the mean of the node are added: one average sample, or what ``weigh_mean`` tells.
    NaN for levels without samples."""
    cdef:
        const Rows* rows = search.rows
        int64_t n_levels = search.problem.n_levels[column], level, i
        double* codes = search.level_code + search.level_start[column]
        double value, prior = search.view.totals.weight / <double>search.n
        double squares = 0.0
    memset(search.level_weight, 0, n_levels * sizeof(double))
    memset(search.level_sum, 0, n_levels * sizeof(double))
    for i in range(search.n):
        value = cell_of(search, i, column)
        if value == value:
            level = <int64_t>value
            search.level_weight[level] += rows.weight[i]
            search.level_sum[level] += rows.weight[i] * search.response[i]
            squares += rows.weight[i] * search.response[i] * search.response[i]
    if smooths_levels(search.problem, column):
        prior = weigh_mean(search, column, squares)
    for level in range(n_levels):
        codes[level] = NAN
        if search.level_weight[level] > 0.0:
            # Where they tell nothing, all are 0: the column is left out as constant.
            codes[level] = 0.0 if prior < 0.0 else (
                search.level_sum[level] + prior * search.mean_response
            ) / (search.level_weight[level] + prior)


# ---------------------------------------------------------------------- standard units


cdef inline double read_cell(
    const ObliqueSearch* search, int64_t i, int64_t column
) noexcept nogil:
    """A value relative to the largest one of its column, or the code of a level."""
    cdef double value = cell_of(search, i, column)
    if value != value:
        return value
    if search.problem.kind[column] == NOMINAL_COLUMN:
        return search.level_code[search.level_start[column] + <int64_t>value]
    return value / search.size[column]


cdef inline void read_row(
    const ObliqueSearch* search, int64_t i, const int32_t* columns, int64_t n_columns,
    double* cells
) noexcept nogil:
    """Read values relative to the sizes of their columns, and codes of levels."""
    cdef:
        const double* x = search.values + search.row[i] * search.problem.n_columns
        const int64_t* level_start = search.level_start
        const double* factor = search.inverse_size
        int64_t j, column
    if n_columns == search.problem.n_columns:
        for j in range(n_columns):
            cells[j] = x[j] * factor[j]
    else:
        for j in range(n_columns):
            cells[j] = x[columns[j]] * factor[columns[j]]
    if not search.problem.any_nominal:
        return
    for j in range(n_columns):
        column = columns[j]
        if search.problem.kind[column] == NOMINAL_COLUMN and x[column] == x[column]:
            cells[j] = search.level_code[level_start[column] + <int64_t>x[column]]


cdef void measure_columns(
    ObliqueSearch* search, const int32_t* columns, int64_t n_columns
) noexcept nogil:
    """Correlation of columns with the response in the node, up to a factor, by place in
    the list; 0 for constant columns."""
    cdef:
        const double* weight = search.rows.weight
        double* mean = search.mean
        double* deviation = search.deviation
        double* relation = search.relation
        double* total = search.totals
        double* cells = search.line
        double value, residual
        int64_t i, j
    memset(mean, 0, n_columns * sizeof(double))
    memset(total, 0, n_columns * sizeof(double))
    memset(deviation, 0, n_columns * sizeof(double))
    memset(relation, 0, n_columns * sizeof(double))
    for i in range(search.n):
        if i % ROWS_PER_CHECK == 0 and must_stop(
            search.problem.interrupt, ROWS_PER_CHECK * n_columns
        ):
            return
        read_row(search, i, columns, n_columns, cells)
        for j in range(n_columns):
            value = cells[j]
            mean[j] += weight[i] * value if value == value else 0.0
            total[j] += weight[i] if value == value else 0.0
    for j in range(n_columns):
        mean[j] = mean[j] / total[j] if total[j] > 0.0 else 0.0
    for i in range(search.n):
        if i % ROWS_PER_CHECK == 0 and must_stop(
            search.problem.interrupt, ROWS_PER_CHECK * n_columns
        ):
            return
        read_row(search, i, columns, n_columns, cells)
        residual = weight[i] * (search.response[i] - search.mean_response)
        for j in range(n_columns):
            value = cells[j] - mean[j]
            value = value if value == value else 0.0
            deviation[j] += weight[i] * value * value
            relation[j] += residual * value
    for j in range(n_columns):
        deviation[j] = sqrt(deviation[j] / total[j]) if total[j] > 0.0 else 0.0
        if deviation[j] > 1e-14:
            relation[j] = fabs(relation[j]) / deviation[j]
        else:
            deviation[j] = relation[j] = 0.0


cdef double find_least_relation(
    const ObliqueSearch* search, int64_t n_columns, int64_t most
) noexcept nogil:
    """The correlation above which at most so many columns lie."""
    cdef:
        int64_t j, step, n_above
        double low = 0.0, high = 0.0, middle
    for j in range(n_columns):
        high = search.relation[j] if search.relation[j] > high else high
    for step in range(60):
        middle = 0.5 * (low + high)
        n_above = 0
        for j in range(n_columns):
            n_above += search.relation[j] > middle
        if n_above > most:
            low = middle
        else:
            high = middle
    return high


cdef void sample_columns(ObliqueSearch* search) noexcept nogil:
    """List columns that are not constant in the table, at random unless all are used,
    in ascending order."""
    cdef:
        int64_t p = search.problem.n_columns, j, k, n = 0
        int32_t column
    for j in range(p):
        search.order[j] = <int32_t>j
    if search.max_columns < p:
        for j in range(search.max_columns):
            k = j + random_below(&search.random_state, p - j)
            search.order[j], search.order[k] = search.order[k], search.order[j]
    for j in range(min(search.max_columns, p)):
        column = search.order[j]
        if search.size[column] == 0.0:
            continue
        k = n
        if search.max_columns < p:
            while k > 0 and search.used[k - 1] > column:
                search.used[k] = search.used[k - 1]
                k -= 1
        search.used[k] = column
        n += 1
    search.n_used = n


cdef uint64_t hash_sample(const ObliqueSearch* search, int64_t i) noexcept nogil:
    """A number that tells different samples apart; not 0."""
    cdef:
        const double* x = search.values + search.row[i] * search.problem.n_columns
        int64_t j
        uint64_t mixed = 1
        double value
    for j in range(search.n_used):
        value = x[search.used[j]] + 0.0  # not -0
        if value == value:
            mixed ^= (<uint64_t*>&value)[0]
        mixed = child_state(mixed, j)
    return mixed | 1


cdef int64_t count_different(ObliqueSearch* search, int64_t most) noexcept nogil:
    """Count the samples with different values, up to a number: repeated rows are as
    good as weights."""
    cdef:
        int64_t i, place, n = 0
        uint64_t number
    memset(search.seen, 0, SEEN_SLOTS * sizeof(uint64_t))
    for i in range(search.n):
        if n == most:
            break
        number = hash_sample(search, i)
        place = <int64_t>(number >> 1) % SEEN_SLOTS
        while search.seen[place] != 0 and search.seen[place] != number:
            place = (place + 1) % SEEN_SLOTS
        n += search.seen[place] == 0
        search.seen[place] = number
    return n


cdef void keep_related(ObliqueSearch* search) noexcept nogil:
    """Keep those columns that have most to do with the response, if there are more than
    half as many as different samples."""
    cdef:
        int64_t j, n = 0, most = min(<int64_t>MAX_USED, search.n_used)
        double least
    most = max(1, count_different(search, 2 * most) // 2)
    if search.n_used <= most:
        return
    measure_columns(search, search.used, search.n_used)
    least = find_least_relation(search, search.n_used, most)
    for j in range(search.n_used):
        if search.relation[j] > least:
            search.used[n] = search.used[j]
            n += 1
    search.n_used = n


cdef void take_columns(
    ObliqueSearch* search, const int32_t* place, int64_t n
) noexcept nogil:
    """Keep some of the used columns, given by their places in ascending order, and
    their cells."""
    cdef:
        int64_t i, j, k = search.n_used
        double* target = search.cells
        const double* x = search.cells
    if n == k:
        return
    for j in range(n):
        search.used[j] = search.used[place[j]]
        search.mean[j] = search.mean[place[j]]
        search.deviation[j] = search.deviation[place[j]]
        search.solution[j] = search.solution[place[j]]
    for i in range(search.n):
        for j in range(n):
            target[j] = x[place[j]]
        target += n
        x += k
    search.n_used = n


cdef wide_void read_cells(ObliqueSearch* search) noexcept nogil:
    """Read the used columns, row by row, and their means."""
    cdef:
        int64_t i, j, k = search.n_used
        double value, weight
        double* cells = search.cells
        double* mean = search.mean
        double* total = search.totals
    memset(mean, 0, k * sizeof(double))
    memset(total, 0, k * sizeof(double))
    for i in range(search.n):
        fetch_row(search, i)
        read_row(search, i, search.used, k, cells)
        weight = search.rows.weight[i]
        if search.any_missing:
            for j in range(k):
                value = cells[j]
                mean[j] += weight * value if value == value else 0.0
                total[j] += weight if value == value else 0.0
        else:
            for j in range(k):
                mean[j] += weight * cells[j]
        cells += k
    for j in range(k):
        if not search.any_missing:
            total[j] = search.view.totals.weight
        mean[j] = mean[j] / total[j] if total[j] > 0.0 else 0.0


cdef int reserve_cells(ObliqueSearch* search) noexcept nogil:
    """Allocate the cells of the node. Returns -1 without memory."""
    if search.n * search.n_used <= search.cell_capacity:
        return 0
    free_memory(&search.cell_memory)
    search.cell_capacity = search.n * search.n_used
    search.cells = take_doubles(&search.cell_memory, search.cell_capacity)
    if search.cells == NULL:
        search.cell_capacity = 0
        return -1
    return 0


cdef wide_void standardize(ObliqueSearch* search) noexcept nogil:
    """Centre and scale the cells, with 0 for missing values, and drop the columns that
    are constant in the node."""
    cdef:
        int64_t i, j, n = 0, k = search.n_used
        double value, weight
        double* cells = search.cells
        double* deviation = search.deviation
    memset(deviation, 0, k * sizeof(double))
    for i in range(search.n):
        weight = search.rows.weight[i]
        for j in range(k):
            cells[j] -= search.mean[j]
        if search.any_missing:
            for j in range(k):
                value = cells[j]
                cells[j] = value if value == value else 0.0
        for j in range(k):
            deviation[j] += weight * cells[j] * cells[j]
        cells += k
    for j in range(k):
        deviation[j] = sqrt(deviation[j] / search.totals[j]) if (
            search.totals[j] > 0.0
        ) else 0.0
        if deviation[j] > 1e-14:
            search.order[n] = <int32_t>j
            n += 1
    take_columns(search, search.order, n)
    for j in range(n):
        search.totals[j] = 1.0 / deviation[j]
    cells = search.cells
    for i in range(search.n):
        for j in range(n):
            cells[j] *= search.totals[j]
        cells += n


cdef int prepare_columns(ObliqueSearch* search) noexcept nogil:
    """Standardize the sampled columns. Returns -1 without memory."""
    keep_related(search)
    if reserve_cells(search) < 0:
        return -1
    read_cells(search)
    standardize(search)
    return 0
