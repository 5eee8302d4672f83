# The best split of a node with gradient pairs.


# A column that is searched, with what is the same for all columns of the node.
cdef struct Searching:
    const Problem* problem
    const GradientList* samples
    const WaitingNode* node
    const Frame* frame
    int32_t* columns  # in ascending order
    int64_t n_columns
    GradientSplit* found  # of each column
    double gradient
    double hessian
    double min_hessian
    double parent  # decrease by the step of the node itself
    double size  # of its terms, which bounds their rounding error


cdef void score_places(
    const Searching* search, const GradientScratch* scratch, double l2, int64_t low,
    int64_t high
) noexcept nogil:
    """By how much the steps of both children decrease the loss, twice."""
    cdef:
        const double* gradients = scratch.gradients
        const double* hessians = scratch.hessians
        double* scores = scratch.scores
        double total = search.gradient, weight = search.hessian
        double left, right, below, above
        int64_t i
    for i in range(low, high):
        left = gradients[i]
        right = total - left
        below = hessians[i] + l2
        above = weight - hessians[i] + l2
        # One division for both children.
        scores[i] = (left * left * above + right * right * below) / (below * above)


cdef void score_within(
    const Searching* search, const GradientScratch* scratch, int32_t direction,
    double l2, int64_t low, int64_t high
) noexcept nogil:
    """The same where the steps are bounded by monotonic constraints."""
    cdef:
        const Frame* frame = search.frame
        double left, right, below, above, first, second
        int64_t i
    for i in range(low, high):
        left = scratch.gradients[i]
        right = search.gradient - left
        below = scratch.hessians[i]
        above = search.hessian - below
        first = min(max(step_of_leaf(left, below, l2), frame.lower), frame.upper)
        second = min(max(step_of_leaf(right, above, l2), frame.lower), frame.upper)
        if breaks_constraint(
            first, second, frame.lower, frame.upper, direction
        ):
            scratch.scores[i] = -INFINITY
        else:
            scratch.scores[i] = decrease_by(first, left, below, l2) + (
                decrease_by(second, right, above, l2)
            )


cdef bint keep_best_place(
    const Searching* search, const GradientScratch* scratch, int32_t direction,
    double l2, int64_t low, int64_t high, GradientSplit* best
) noexcept nogil:
    """Take the first of the best places from low on, below high, if it is better."""
    cdef:
        const double* scores = scratch.scores
        double top = -INFINITY, decrease
        int64_t i
    if low >= high:
        return False
    if search.problem.monotonic == NULL:
        score_places(search, scratch, l2, low, high)
    else:
        score_within(search, scratch, direction, l2, low, high)
    for i in range(low, high):
        top = scores[i] if scores[i] > top else top
    decrease = top - search.parent
    if not decrease > best.decrease + TIE * (search.size + fabs(top)):
        return False
    best.decrease = decrease
    best.cut = low
    while scores[best.cut] < top:
        best.cut += 1
    return True


cdef void search_values(
    const Searching* search, const GradientScratch* scratch, int64_t column,
    bint missing_left, GradientSplit* best
) noexcept nogil:
    """Search the thresholds of a numeric column."""
    cdef:
        const Problem* problem = search.problem
        const GradientScale* scale = &search.samples.scale
        const GradientPair* sums = (
            search.node.histogram + search.samples.start[column]
        )
        GradientPair left
        int64_t i, n = problem.n_distinct[column], count, low = -1, high = -1
        int64_t n_samples = samples_of(&search.node.total, scale)
        int64_t lowest = max(problem.min_samples_leaf, 1)
        int64_t highest = n_samples - lowest
        double least = search.min_hessian, most = search.hessian - least, hessian
        int32_t direction = 0
        bint has_missing = problem.has_missing[column] and (
            samples_of(&sums[n], scale) > 0
        )
    if missing_left and not has_missing:
        return
    memset(&left, 0, sizeof(GradientPair))
    if missing_left:
        left = sums[n]
        # Missing values are not parted from all others a second time.
        lowest = max(lowest, samples_of(&left, scale) + 1)
    for i in range(n):
        add_pair(&left, &sums[i])
        count = samples_of(&left, scale)
        hessian = hessian_of(&left, scale)
        scratch.gradients[i] = gradient_of(&left, scale)
        scratch.hessians[i] = hessian
        if count > highest or hessian > most:
            break
        if low < 0 and count >= lowest and hessian >= least:
            low = i
        high = i + 1
    if low < 0:
        return
    if problem.monotonic != NULL:
        direction = problem.monotonic[column]
    if not keep_best_place(
        search, scratch, direction, search.samples.l2, low, high, best
    ):
        return
    best.column = <int32_t>column
    best.is_ordered = True
    best.missing_child = (0 if missing_left else 1) if has_missing else -1
    memset(&best.left, 0, sizeof(GradientPair))
    if missing_left:
        best.left = sums[n]
    for i in range(best.cut + 1):
        add_pair(&best.left, &sums[i])
    best.splits_missing = has_missing and samples_of(&best.left, scale) == (
        n_samples - samples_of(&sums[n], scale)
    ) and not missing_left


cdef int compare_levels(const void* first, const void* second) noexcept nogil:
    cdef:
        const Keyed* a = <const Keyed*>first
        const Keyed* b = <const Keyed*>second
    if a.key != b.key:
        return -1 if a.key < b.key else 1
    return -1 if a.index < b.index else 1


cdef double added_to_levels(
    const Problem* problem, const GradientList* samples, const WaitingNode* node,
    const Keyed* levels, int64_t n, int64_t column
) noexcept nogil:
    """The hessian k of rows with the step of the node by which those of levels are
    smoothed, as in ``smooth_runs``; below 0 if the steps differ by chance only."""
    cdef:
        const GradientScale* scale = &samples.scale
        const GradientPair* sums = node.histogram + samples.start[column]
        double total = hessian_of(&node.total, scale), hessian, difference
        double mean = gradient_of(&node.total, scale) / total
        double between = 0.0, squares = 0.0
        int64_t i
    if problem.smoothing >= 0.0:
        return problem.smoothing * total / samples_of(&node.total, scale)
    for i in range(n):
        hessian = hessian_of(&sums[levels[i].index], scale)
        difference = gradient_of(&sums[levels[i].index], scale) - mean * hessian
        if hessian > 0.0:
            between += difference * difference / hessian
        squares += hessian * hessian
    return added_weight(samples.variance, between, total, squares, n)


cdef int64_t order_levels(
    const Problem* problem, const GradientList* samples, const WaitingNode* node,
    Keyed* levels, int64_t column, double* added
) noexcept nogil:
    """Order the levels that the node has by the steps that they would take. A missing
    value is one more level. Returns their number, or 0 if their steps differ by chance
    only; and the hessian by which steps are smoothed."""
    cdef:
        const GradientScale* scale = &samples.scale
        const GradientPair* sums = node.histogram + samples.start[column]
        int64_t code, i, n = 0
        double mean = 0.0, hessian, largest = 0.0, grid
    for code in range(samples.start[column + 1] - samples.start[column]):
        if samples_of(&sums[code], scale) > 0:
            levels[n].index = code
            n += 1
    added[0] = 0.0
    if smooths_levels(problem, column):
        added[0] = added_to_levels(problem, samples, node, levels, n, column)
        if added[0] < 0.0:
            return 0
        mean = gradient_of(&node.total, scale) / hessian_of(&node.total, scale)
    for i in range(n):
        hessian = hessian_of(&sums[levels[i].index], scale)
        levels[i].key = step_of_leaf(
            gradient_of(&sums[levels[i].index], scale) - mean * hessian, hessian,
            added[0]
        )
        largest = max(largest, fabs(levels[i].key))
    # Equal steps may differ in their last bits: a fine grid makes them equal.
    grid = largest / 1099511627776.0
    for i in range(n if grid > 0.0 else 0):
        levels[i].key = grid * floor(levels[i].key / grid + 0.5)
    qsort(levels, n, sizeof(Keyed), compare_levels)
    return n


cdef void smooth_levels(
    const Searching* search, const GradientScratch* scratch, int64_t n, int64_t high,
    int64_t column
) noexcept nogil:
    """Put the smoothed gradients in child 0, below a place, in place of those that were
    summed up. There are n levels."""
    cdef:
        const GradientScale* scale = &search.samples.scale
        const GradientPair* sums = (
            search.node.histogram + search.samples.start[column]
        )
        double below = 0.0, above = 0.0, hessian, change
        int64_t i
    # The keys are differences of steps from that of the node, of the sign of steps. The
    # mean of the smoothed gradients is shifted to that of the node.
    for i in range(n):
        hessian = hessian_of(&sums[scratch.levels[i].index], scale)
        above -= scratch.levels[i].key * hessian
    change = above / search.hessian
    for i in range(high):
        hessian = hessian_of(&sums[scratch.levels[i].index], scale)
        below -= scratch.levels[i].key * hessian
        scratch.gradients[i] = below + (
            search.gradient / search.hessian - change
        ) * scratch.hessians[i]


cdef void search_levels(
    const Searching* search, const GradientScratch* scratch, int64_t column,
    GradientSplit* best
) noexcept nogil:
    """Search the divisions of the ordered levels of a nominal column."""
    cdef:
        const Problem* problem = search.problem
        const GradientScale* scale = &search.samples.scale
        const GradientPair* sums = (
            search.node.histogram + search.samples.start[column]
        )
        Keyed* levels = scratch.levels
        GradientPair left
        double added
        int64_t i, low = -1, high = -1, n, count
        int64_t lowest = max(problem.min_samples_leaf, 1)
        int64_t highest = samples_of(&search.node.total, scale) - lowest
        double least = search.min_hessian, most = search.hessian - least, hessian
    n = order_levels(problem, search.samples, search.node, levels, column, &added)
    memset(&left, 0, sizeof(GradientPair))
    for i in range(n - 1):
        add_pair(&left, &sums[levels[i].index])
        count = samples_of(&left, scale)
        hessian = hessian_of(&left, scale)
        scratch.gradients[i] = gradient_of(&left, scale)
        scratch.hessians[i] = hessian
        if count > highest or hessian > most:
            break
        if low < 0 and count >= lowest and hessian >= least:
            low = i
        high = i + 1
    if low < 0:
        return
    if added > 0.0:
        smooth_levels(search, scratch, n, high, column)
    if not keep_best_place(
        search, scratch, 0, search.samples.l2, low, high, best
    ):
        return
    best.column = <int32_t>column
    best.is_ordered = False
    best.missing_child = -1
    best.splits_missing = False
    memset(&best.left, 0, sizeof(GradientPair))
    for i in range(n):
        if i <= best.cut:
            add_pair(&best.left, &sums[levels[i].index])
        if problem.has_missing[column] and (
            levels[i].index == problem.n_distinct[column]
        ):
            best.missing_child = i > best.cut


cdef void search_column(
    const Searching* search, const GradientScratch* scratch, int64_t column
) noexcept nogil:
    """Find the best split of a column."""
    cdef GradientSplit* best = &search.found[column]
    memset(best, 0, sizeof(GradientSplit))
    best.column = -1
    if search.problem.kind[column] == NOMINAL_COLUMN:
        if not smooths_levels(search.problem, column):
            search_levels(search, scratch, column, best)
            return
        if samples_of(&search.node.total, &search.samples.scale) > ORDERED_ROWS:
            search_levels(search, scratch, column, best)
    search_values(search, scratch, column, False, best)
    search_values(search, scratch, column, True, best)


cdef int64_t list_sampled(
    const Problem* problem, const GradientList* samples, Worker* worker, Frame* frame,
    int32_t* active, int32_t* columns
) noexcept nogil:
    """List the columns that the node tries, in their order; returns how many. Columns
    that may not interact with those above are left out in all nodes below."""
    cdef:
        ColumnSampler sampler
        const uint64_t* groups = samples.groups
        int64_t n = 0, i
        int32_t column
    if groups != NULL:
        for i in range(frame.n_active):
            column = active[i]
            active[n] = column
            n += (groups[column] & frame.groups) != 0
        frame.n_active = <int32_t>n
        n = 0
    if problem.max_features >= frame.n_active:
        memcpy(columns, active, frame.n_active * sizeof(int32_t))
        return frame.n_active
    memcpy(worker.active, active, frame.n_active * sizeof(int32_t))
    start_sampling(problem, worker, frame, &sampler)
    while n < problem.max_features:
        column = sample_column(problem, worker, &sampler)
        if column < 0:
            break
        # By insertion: the first of equal columns is the one with the lowest number.
        i = n
        while i > 0 and columns[i - 1] > column:
            columns[i] = columns[i - 1]
            i -= 1
        columns[i] = column
        n += 1
        sampler.n_found = n
    return n


cdef void start_search(
    const Problem* problem, const GradientList* samples, Worker* worker, Frame* frame,
    int32_t* active, int64_t place, Searching* search
) noexcept nogil:
    """Describe a node that is to be searched, as the first or second one."""
    cdef:
        WaitingNode* node = <WaitingNode*>frame.waiting
        double step
    search.problem = problem
    search.samples = samples
    search.node = node
    search.frame = frame
    search.columns = samples.columns + place * samples.n_columns
    search.found = samples.found + place * samples.n_columns
    search.n_columns = list_sampled(
        problem, samples, worker, frame, active, search.columns
    )
    search.gradient = gradient_of(&node.total, &samples.scale)
    search.hessian = hessian_of(&node.total, &samples.scale)
    # A side without any hessian has no step.
    search.min_hessian = max(problem.min_weight_leaf, samples.scale.hessian_unit)
    search.parent = decrease_of(search.gradient, search.hessian, samples.l2)
    search.size = search.parent
    if problem.monotonic != NULL:
        step = step_of_leaf(search.gradient, search.hessian, samples.l2)
        step = min(max(step, frame.lower), frame.upper)
        search.parent = decrease_by(
            step, search.gradient, search.hessian, samples.l2
        )
        search.size = 2.0 * fabs(search.gradient * step) + fabs(search.parent)


cdef void choose_column(const Searching* search, Frame* frame) noexcept nogil:
    """Keep the best of the splits of the columns, the first of equal ones."""
    cdef:
        WaitingNode* node = <WaitingNode*>frame.waiting
        const GradientSplit* found
        int64_t i
    memset(&node.split, 0, sizeof(GradientSplit))
    node.split.column = -1
    for i in range(search.n_columns):
        found = &search.found[search.columns[i]]
        if found.column >= 0 and found.decrease > node.split.decrease + TIE * (
            2.0 * search.size + found.decrease
        ):
            node.split = found[0]
    frame.gain = node.split.decrease
    if frame.gain < search.problem.min_impurity_decrease * search.problem.total_weight:
        frame.gain = 0.0
    frame.is_searched = True


# One or two nodes whose histograms are made and searched, column by column.
cdef struct Family:
    const GradientList* samples
    Counting counting
    Searching[2] searches
    int64_t n_searches
    int64_t step  # columns of a task


cdef void count_and_search(void* context, int64_t task, int thread) noexcept nogil:
    """Make the histograms of some columns, and search them."""
    cdef:
        const Family* family = <const Family*>context
        const GradientList* samples = family.samples
        const Searching* search
        int64_t first = task * family.step, i, k
        int64_t stop = min(first + family.step, samples.n_columns)
    count_columns(&family.counting, first, stop)
    for i in range(family.n_searches):
        search = &family.searches[i]
        for k in range(search.n_columns):
            if first <= search.columns[k] < stop:
                search_column(search, &samples.scratch[thread], search.columns[k])


cdef void search_family(
    const Problem* problem, GradientList* samples, Worker* worker, Frame* frames,
    int32_t* active, int64_t n_frames
) noexcept nogil:
    """Find the best splits of the children of a node, or of the root. Threads take
    the columns, each with its histograms in the memory that is near."""
    cdef:
        Family family
        int64_t n_tasks = 1, i, n_slots = samples.start[samples.n_columns]
        bint keeps_counted = False
    family.samples = samples
    family.counting.samples = samples
    family.counting.rows = samples.rows + samples.counted_start
    family.counting.n = samples.n_counted
    family.counting.histogram = samples.counted.histogram
    family.counting.rest = NULL if samples.rest == NULL else samples.rest.histogram
    family.n_searches = n_frames
    for i in range(n_frames):
        start_search(
            problem, samples, worker, &frames[i], active + i * samples.n_columns, i,
            &family.searches[i]
        )
    if samples.team != NULL and (
        samples.n_counted * samples.n_columns + SLOT_CELLS * n_slots >= SHARED_CELLS
    ):
        n_tasks = samples.n_threads
    family.step = (samples.n_columns + n_tasks - 1) // n_tasks
    n_tasks = (samples.n_columns + family.step - 1) // family.step
    if n_tasks == 1:
        count_and_search(&family, 0, 0)
    else:
        run_tasks(samples.team, count_and_search, &family, n_tasks)
    for i in range(n_frames):
        choose_column(&family.searches[i], &frames[i])
        if frames[i].waiting == samples.counted:
            keeps_counted = frames[i].gain > 0.0
        elif frames[i].gain <= 0.0:
            release_waiting(samples, frames[i].waiting)
    if not keeps_counted:
        release_waiting(samples, samples.counted)


cdef void count_rows(
    const GradientList* samples, const uint32_t* rows, int64_t n,
    GradientPair* histogram
) noexcept nogil:
    """Sum up some rows in histograms of their own."""
    cdef Counting work
    work.samples = samples
    work.rows = rows
    work.n = n
    work.histogram = histogram
    work.rest = NULL
    count_columns(&work, 0, samples.n_columns)


cdef int search_given(
    const Problem* problem, GradientList* samples, Worker* worker, Frame* frame,
    const GradientPair* histogram
) noexcept nogil:
    """Find the best split of a node whose histograms come from elsewhere. Returns -1
    without memory."""
    cdef:
        WaitingNode* node = take_waiting(samples)
        Searching search
        int64_t i
    if node == NULL:
        return -1
    memcpy(
        node.histogram, histogram,
        samples.start[samples.n_columns] * sizeof(GradientPair)
    )
    memset(&node.total, 0, sizeof(GradientPair))
    for i in range(samples.start[1]):
        add_pair(&node.total, &histogram[i])
    frame.waiting = node
    start_search(problem, samples, worker, frame, worker.active, 0, &search)
    for i in range(search.n_columns):
        search_column(&search, &samples.scratch[0], search.columns[i])
    choose_column(&search, frame)
    return 0


cdef int search_root(
    const Problem* problem, GradientList* samples, Worker* worker, Frame* frame
) noexcept nogil:
    """Find the best split of the root. Returns -1 without memory."""
    cdef WaitingNode* node = take_waiting(samples)
    if node == NULL:
        return -1
    frame.waiting = node
    node.total = samples.total
    samples.counted = node
    samples.rest = NULL
    samples.counted_start = frame.start
    samples.n_counted = frame.n_rows
    search_family(problem, samples, worker, frame, worker.active, 1)
    return 0


cdef void search_children(
    const Problem* problem, GradientList* samples, Worker* worker, int64_t n_frames
) noexcept nogil:
    """Find the best splits of the children that wait on top of the stack."""
    cdef int64_t first = worker.stack.n_frames - n_frames
    if samples.counted == NULL or n_frames == 0:
        return
    search_family(
        problem, samples, worker, worker.stack.frames + first,
        worker.stack.active + first * samples.n_columns, n_frames
    )
