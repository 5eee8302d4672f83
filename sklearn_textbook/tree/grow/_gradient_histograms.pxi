# Histograms of gradient pairs: counted, or what is left of those of the parent.


cdef struct Counting:
    const GradientList* samples
    const uint32_t* rows
    int64_t n
    int64_t step  # columns of a task
    GradientPair* histogram


cdef void count_codes(
    const Counting* work, const SmallCode* row_codes, int64_t first, int64_t stop
) noexcept nogil:
    """Add the pairs of some rows to the histograms of some columns."""
    cdef:
        const GradientList* samples = work.samples
        const GradientPair* pairs = samples.pairs
        const int64_t* start = samples.start
        const uint32_t* rows = work.rows
        const SmallCode* codes
        int64_t i, j, width = samples.n_columns
        int64_t even = first + (stop - first) // UNROLLED * UNROLLED
        GradientPair* histogram = work.histogram
        PairVector pair
    for i in range(work.n):
        PREFETCH(row_codes + rows[i + FETCH_AHEAD] * width + first)
        PREFETCH(pairs + rows[i + FETCH_AHEAD])
        codes = row_codes + rows[i] * width
        pair = LOAD_PAIR(&pairs[rows[i]])
        j = first
        while j < even:
            ADD_PAIR(&histogram[start[j] + codes[j]], pair)
            ADD_PAIR(&histogram[start[j + 1] + codes[j + 1]], pair)
            ADD_PAIR(&histogram[start[j + 2] + codes[j + 2]], pair)
            ADD_PAIR(&histogram[start[j + 3] + codes[j + 3]], pair)
            j += UNROLLED
        while j < stop:
            ADD_PAIR(&histogram[start[j] + codes[j]], pair)
            j += 1


cdef void count_columns(void* context, int64_t task, int thread) noexcept nogil:
    cdef:
        const Counting* work = <const Counting*>context
        const GradientList* samples = work.samples
        int64_t first = task * work.step
        int64_t stop = min(first + work.step, samples.n_columns)
    memset(
        work.histogram + samples.start[first], 0,
        (samples.start[stop] - samples.start[first]) * sizeof(GradientPair)
    )
    if samples.code_size == 1:
        count_codes(work, <const uint8_t*>samples.row_codes, first, stop)
    else:
        count_codes(work, <const uint16_t*>samples.row_codes, first, stop)


cdef void count_gradients(
    const GradientList* samples, int64_t start, int64_t n, GradientPair* histogram
) noexcept nogil:
    """Sum up the samples from ``start`` on in the histograms of all columns."""
    cdef:
        Counting work
        int64_t n_tasks = 1
    if samples.team != NULL and n * samples.n_columns >= SHARED_CELLS:
        n_tasks = samples.n_threads
    work.samples = samples
    work.rows = samples.rows + start
    work.n = n
    work.histogram = histogram
    work.step = (samples.n_columns + n_tasks - 1) // n_tasks
    n_tasks = (samples.n_columns + work.step - 1) // work.step
    if n_tasks == 1:
        count_columns(&work, 0, 0)
    else:
        run_tasks(samples.team, count_columns, &work, n_tasks)


cdef void sum_column(
    const GradientList* samples, WaitingNode* node
) noexcept nogil:
    """Sum up what the node holds, from any column."""
    cdef int64_t i
    memset(&node.total, 0, sizeof(GradientPair))
    for i in range(samples.start[1]):
        add_pair(&node.total, &node.histogram[i])


cdef void take_away(
    const GradientList* samples, WaitingNode* parent, const WaitingNode* child
) noexcept nogil:
    """Turn the histograms of a node into those of its other child."""
    cdef int64_t i
    for i in range(samples.start[samples.n_columns]):
        subtract_pair(&parent.histogram[i], &child.histogram[i])
    subtract_pair(&parent.total, &child.total)
