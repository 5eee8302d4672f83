# Some samples of a large node, by which weights are searched; part of _oblique.pyx.


cdef void start_some(const Problem* problem, ObliqueSearch* search) noexcept nogil:
    """Allocate for the samples that are taken."""
    cdef:
        int64_t n = MAX_SEARCHED, n_values = n * problem.n_outputs
        SomeSamples* some = &search.some
        Memory* memory = &search.memory
    some.row = <uint32_t*>take_memory(memory, n, sizeof(uint32_t))
    some.response = take_doubles(memory, n)
    some.rows.label = <const int32_t*>take_memory(memory, n_values, sizeof(int32_t))
    some.rows.y = take_doubles(memory, n_values)
    some.rows.weight = take_doubles(memory, n)
    some.sums = take_doubles(memory, 2 * problem.n_statistics)


cdef void swap_samples(ObliqueSearch* search) noexcept nogil:
    """Exchange the samples at work for those that are set aside."""
    cdef SomeSamples* some = &search.some
    search.n, some.n = some.n, search.n
    search.row, some.row = some.row, search.row
    search.response, some.response = some.response, search.response
    search.rows, some.rows_aside = some.rows_aside, search.rows
    search.view, some.view_aside = some.view_aside, search.view


cdef void total_some(ObliqueSearch* search) noexcept nogil:
    """The totals of the samples that were taken."""
    cdef:
        const Problem* problem = search.problem
        SomeSamples* some = &search.some
        Totals* totals = &some.view.totals
        const double* zeros = search.scratch.zeros
        double* centre = some.sums + problem.n_statistics
        int64_t i, k, n_outputs = problem.n_outputs
        double difference
    memset(some.sums, 0, 2 * problem.n_statistics * sizeof(double))
    totals.rows = some.n
    totals.weight = totals.squares = 0.0
    for i in range(some.n):
        totals.weight += some.rows.weight[i]
        add_row(problem, &some.rows, i, some.rows.weight[i], zeros, some.sums)
    totals.sums = some.sums
    totals.centre = zeros
    if not problem.is_classifier and problem.criterion != POISSON:
        for k in range(n_outputs):
            centre[k] = some.sums[k] / totals.weight
            some.sums[k] = 0.0
        totals.centre = centre
        for i in range(some.n):
            for k in range(n_outputs):
                difference = some.rows.y[i * n_outputs + k] - centre[k]
                totals.squares += some.rows.weight[i] * difference * difference
    totals.goodness = goodness(problem, totals.sums, totals.weight)


cdef void take_some(ObliqueSearch* search) noexcept nogil:
    """Put samples of a large node to work, evenly spaced in their order; the response
    and the codes of the levels are those of the whole node."""
    cdef:
        const Problem* problem = search.problem
        SomeSamples* some = &search.some
        int32_t* label = <int32_t*>some.rows.label
        double* y = <double*>some.rows.y
        double* weight = <double*>some.rows.weight
        int64_t i, j, k, n_outputs = problem.n_outputs
    some.n = MAX_SEARCHED
    for j in range(some.n):
        i = j * search.n // some.n
        some.row[j] = search.row[i]
        some.response[j] = search.response[i]
        weight[j] = search.rows.weight[i]
        for k in range(n_outputs):
            if problem.is_classifier:
                label[j * n_outputs + k] = search.rows.label[i * n_outputs + k]
            else:
                y[j * n_outputs + k] = search.rows.y[i * n_outputs + k]
    some.view = search.view[0]
    total_some(search)
    some.rows_aside = &some.rows
    some.view_aside = &some.view
    swap_samples(search)
