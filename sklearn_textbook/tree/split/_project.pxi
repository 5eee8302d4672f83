# Sums of samples along directions; part of _oblique.pyx.


cdef inline double cell_of(
    const ObliqueSearch* search, int64_t i, int64_t column
) noexcept nogil:
    """The value, or level, of a sample of the node."""
    return search.values[<int64_t>search.row[i] * search.problem.n_columns + column]


cdef void add_term_values(
    const ObliqueSearch* search, const Direction* direction, int64_t t, int64_t first,
    int64_t stop
) noexcept nogil:
    """Add a term to the sums of some samples."""
    cdef:
        double* z = direction.z
        const double* codes
        double weight = direction.weight[t], fill = direction.fill[t], value
        int64_t i, column = direction.column[t], p = search.problem.n_columns
        const double* values = search.values + column
        const uint32_t* row = search.row
    if direction.code_start[t] < 0:
        for i in range(first, stop):
            value = values[row[i] * p]
            z[i] += weight * value if value == value else fill
        return
    codes = direction.codes + direction.code_start[t]
    for i in range(first, stop):
        value = values[row[i] * p]
        z[i] += codes[<int64_t>value] if value == value else fill


cdef inline void fetch_row(const ObliqueSearch* search, int64_t i) noexcept nogil:
    """Begin to fetch the values of a sample that will be read soon."""
    cdef:
        int64_t p = search.problem.n_columns, j = 0
        const double* x
    i += ROWS_AHEAD
    if i >= search.n:
        return
    x = search.values + search.row[i] * p
    while j < min(p, <int64_t>MOST_FETCHED):
        PREFETCH(x + j)
        j += 8


cdef void add_dense(
    const ObliqueSearch* search, const Direction* direction, int64_t first, int64_t stop
) noexcept nogil:
    """The same sums of many numeric columns, row by row."""
    cdef:
        const double* weight = direction.weight
        const double* fill = direction.fill
        const int32_t* column = direction.column
        const double* x
        double total
        int64_t i, t, p = search.problem.n_columns, n_terms = direction.n_terms
    for i in range(first, stop):
        fetch_row(search, i)
        x = search.values + search.row[i] * p
        total = 0.0
        if search.any_missing:
            for t in range(n_terms):
                total += (
                    weight[t] * x[column[t]] if x[column[t]] == x[column[t]]
                    else fill[t]
                )
        else:
            for t in range(n_terms):
                total += weight[t] * x[column[t]]
        direction.z[i] = total


cdef void project(const ObliqueSearch* search, int64_t n_trials) noexcept nogil:
    """Sum up the terms of the directions that were made, one after the other, as
    predictions do; for some samples at a time, as their rows then stay in the cache."""
    cdef:
        const Direction* direction
        int64_t first = 0, stop, i, t
    while first < search.n:
        stop = min(first + BLOCK_SAMPLES, search.n)
        for i in range(n_trials):
            direction = &search.trials[i]
            if direction.n_terms > MAX_SPARSE and not search.problem.any_nominal:
                add_dense(search, direction, first, stop)
                continue
            memset(direction.z + first, 0, (stop - first) * sizeof(double))
            for t in range(direction.n_terms):
                add_term_values(search, direction, t, first, stop)
        first = stop
