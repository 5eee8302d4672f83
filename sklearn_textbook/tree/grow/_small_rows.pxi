# Reading the rows of a small subtree, and what its nodes hold; part of _small_node.pyx.


cdef const void* find_rows(const SampleList* samples, int64_t* size) noexcept nogil:
    """Where the codes of the samples stand row by row, and how wide they are."""
    size[0] = samples.table.code_size
    if not samples.is_local:
        return samples.table.row_codes
    if samples.table.row_codes == samples.table.row_bins:
        return samples.local_bins
    return samples.local_codes


cdef void prefetch_small(
    const SampleList* samples, const Frame* root
) noexcept nogil:
    """Prefetch the codes of a subtree, if it is of few samples."""
    cdef:
        const uint64_t* entries = samples.entries + root.start
        const BinaryCounts* counted = NULL
        const Moments* listed = NULL
        int64_t i, j, size, number
        const char* codes = <const char*>find_rows(samples, &size)
        const double* values
    size *= samples.table.n_columns
    if root.n_rows > SMALL_ROWS:
        return
    for i in range(root.n_rows):
        if samples.kind == LIST_BINARY:
            number = number_of(counted, entries[i])
        else:
            number = number_of(listed, entries[i])
        if samples.row_values != NULL:
            if samples.is_local:
                number = samples.local_row[number]
            values = samples.row_values + number * samples.table.n_columns
            for j in range(0, samples.table.n_columns, 8):
                PREFETCH(values + j)
            PREFETCH(values + samples.table.n_columns - 1)
            continue
        PREFETCH(codes + number * size)
        PREFETCH(codes + (number + 1) * size - 1)


cdef void read_rows(
    const Problem* problem, const SampleList* samples, const Frame* root,
    SmallRows* rows
) noexcept nogil:
    """Find what is known of the samples of the subtree."""
    cdef:
        const uint64_t* entries = samples.entries + root.start
        const BinaryCounts* counted = NULL
        const Moments* listed = NULL
        const double* y = samples.local_y if samples.is_local else samples.y
        const double* logarithm = samples.logarithm
        const double* weights = samples.weight
        int64_t i, number, width = problem.n_columns
        const char* codes = <const char*>find_rows(samples, &rows.code_size)
    if weights != NULL and samples.is_local:
        weights = samples.local_weight
    if logarithm != NULL and samples.is_local:
        logarithm = samples.local_logarithm
    rows.may_miss = samples.value_limit != NULL
    rows.is_plain = is_plain(problem) and problem.criterion != POISSON
    rows.is_classes = problem.is_classifier and (
        problem.n_statistics != 2 or problem.criterion != GINI
    )
    for i in range(root.n_rows):
        rows.order[i] = <uint8_t>i
        if samples.kind == LIST_BINARY:
            number = number_of(counted, entries[i])
            rows.y[i] = <double>(ones_in(entries[i]) > 0)
            rows.weight[i] = <double>weight_in(entries[i])
        else:
            number = number_of(listed, entries[i])
            rows.y[i] = (
                <double>class_of(entries[i]) if problem.is_classifier else y[number]
            )
            rows.weight[i] = (
                <double>whole_weight_of(entries[i]) if weights == NULL
                else weights[number]
            )
        if logarithm != NULL:
            rows.logarithm[i] = logarithm[number]
        if problem.random_splitter:
            if samples.is_local:
                number = samples.local_row[number]
            rows.codes[i] = samples.row_values + number * width
        else:
            rows.codes[i] = codes + number * width * rows.code_size


cdef void view_classes(
    const Problem* problem, const double* statistics, double margin,
    SmallSearch* search
) noexcept nogil:
    """Several classes, or entropy."""
    cdef:
        const int64_t* table = problem.entropy_table
        int64_t c
    search.totals = statistics
    search.entropy_table = table if search.is_entropy else NULL
    search.margin = margin
    search.unit = 1.0
    search.base = goodness(problem, statistics, search.n_weight)
    if search.entropy_table == NULL:
        return
    search.unit = problem.entropy_unit
    search.margin += TABLE_ROUNDING * search.unit
    search.whole_base = -table[<int64_t>search.n_weight]
    for c in range(search.n_classes):
        search.whole_base += table[<int64_t>statistics[c]]


cdef inline double class_noise(double weight) noexcept nogil:
    """As ``rounding_noise``; whole weights are looked up."""
    cdef int64_t whole = <int64_t>weight if weight <= MAX_WEIGHT else <int64_t>0
    if <double>whole == weight:
        return NOISE[whole]
    return 1e-15 * weight * (1.0 + fabs(log2(weight)))


cdef void view_margin(
    const Problem* problem, const Node* record, const double* statistics,
    SmallSearch* search
) noexcept nogil:
    """By how much a score must be larger to be better, as in ``view_node``."""
    cdef double spread = record.impurity * record.weight
    if problem.is_classifier or problem.criterion == POISSON:
        search.margin = 1e-12 * spread + class_noise(record.weight)
        search.view.margin = search.margin
        if search.is_classes:
            view_classes(problem, statistics, search.margin, search)
        elif problem.is_classifier:
            search.margin *= 0.5 * record.weight
        else:
            search.margin += deviance_noise(statistics[0], record.weight)
            search.view.margin = search.margin
    else:
        search.margin = record.weight * (
            1e-12 * spread + 1e-15 * fabs(search.centre) * sqrt(record.weight * spread)
        )
        search.view.margin = search.margin / record.weight
    search.grid = 1.0
    if not problem.is_classifier and spread > 0.0:
        search.grid = sqrt(spread / record.weight)
    search.grid /= 1099511627776.0


cdef void view_levels(
    const Problem* problem, const SmallNode* node, const Node* record,
    double* statistics, Scratch* scratch, SmallSearch* search
) noexcept nogil:
    """The node as the search of levels sees it; the margin is there already."""
    cdef NodeView* view = &search.view
    search.scratch = scratch
    view.lower = view.upper = 0.0
    if problem.monotonic != NULL:
        view.lower = search.lower
        view.upper = search.upper
    view.random_state = node.random_state
    view.totals.rows = node.n_rows
    view.totals.weight = record.weight
    view.totals.centre = scratch.zeros
    view.totals.sums = scratch.zeros
    if problem.is_classifier:
        view.totals.sums = statistics
    elif problem.criterion == POISSON:
        view.totals.sums = &search.total
    else:
        view.totals.centre = statistics
    view.totals.squares = record.impurity * record.weight
    view.totals.goodness = goodness(problem, view.totals.sums, record.weight)


cdef void view_rows(
    const Problem* problem, const SmallRows* rows, const SmallNode* node,
    Worker* worker, SmallSearch* search
) noexcept nogil:
    """Put the samples of the node side by side."""
    cdef:
        const NodeBuffer* buffer = &worker.buffer
        const Node* record = &buffer.nodes[node.node]
        double* statistics = (
            buffer.statistics + node.node * problem.n_statistics
        )
        double total = 0.0, first, mean = 0.0
        int64_t i
        uint8_t row
        bint is_poisson = problem.criterion == POISSON
    if not problem.is_classifier and not is_poisson:
        mean = statistics[0]
    search.problem = problem
    search.n = node.n_rows
    search.order = <uint8_t*>rows.order + node.start
    search.is_plain = rows.is_plain
    search.is_limited = limits_children(problem)
    search.is_classes = rows.is_classes
    search.n_classes = problem.n_statistics if rows.is_classes else 0
    search.is_entropy = rows.is_classes and problem.criterion != GINI
    search.sums_classes = rows.is_classes or (
        problem.is_classifier and not rows.is_plain
    )
    search.centre = mean
    search.n_weight = record.weight
    view_margin(problem, record, statistics, search)
    search.bound = -INFINITY
    search.threshold = NAN
    search.column = -1
    for i in range(search.n):
        row = search.order[i]
        first = rows.weight[row] * (rows.y[row] - mean)
        search.y[i] = rows.y[row]
        search.amounts[2 * i] = first
        search.amounts[2 * i + 1] = rows.weight[row]
        if not problem.is_classifier:
            search.squares[i] = first * (
                rows.logarithm[row] if is_poisson else rows.y[row] - mean
            )
        total += first
    search.total = total
    if is_poisson:
        search.base = deviance_part(total, record.weight)
    if problem.monotonic != NULL:
        search.lower = buffer.bounds[2 * node.node]
        search.upper = buffer.bounds[2 * node.node + 1]
    if problem.any_nominal:
        view_levels(problem, node, record, statistics, &worker.scratch, search)
