"""Growth from gradient pairs, as boosting needs it: the samples are a list, and what a
node has is summed up for all columns at once.

The histograms of one child are counted, those of the other are what is left of their
parent's. A node that waits keeps its histograms and its best split, and its samples are
partitioned only if the split is made. All sums are integers: see _gradients.pxd.
"""

from libc.math cimport INFINITY, fabs, floor
from libc.stdint cimport uint16_t
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memcpy, memmove, memset

from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook.tree.grow._buffers cimport reserve
from sklearn_textbook.tree.grow._children cimport Children, write_level_map
from sklearn_textbook.tree.grow._column_sampler cimport (
    ColumnSampler,
    sample_column,
    start_sampling,
)
from sklearn_textbook.tree.split._best cimport breaks_constraint
from sklearn_textbook.tree.split._column cimport midpoint
from sklearn_textbook.tree.split._gradients cimport (
    ADD_PAIR,
    LOAD_PAIR,
    PairVector,
    add_pair,
    decrease_by,
    decrease_of,
    gradient_of,
    hessian_of,
    samples_of,
    step_of_leaf,
    subtract_pair,
)
from sklearn_textbook.tree.split._memory cimport (
    Memory,
    free_memory,
    take_doubles,
    take_memory,
    take_zeros,
)
from sklearn_textbook.tree.split._sums cimport FETCH_AHEAD, PREFETCH
from sklearn_textbook.tree.split._smoothing cimport added_weight
from sklearn_textbook.tree.split._types cimport (
    NOMINAL_COLUMN,
    ORDERED_ROWS,
    SHARED_CELLS,
    smooths_levels,
)

cdef enum:
    UNROLLED = 4  # columns
    BLOCK_ROWS = 8192  # that a thread partitions
    SLOT_CELLS = 8  # cells that take as long to count as a sum to be searched

ctypedef fused SmallCode:
    uint8_t
    uint16_t

# By how much the decrease must be larger to be better; it is about the rounding of a
# sum of squares.
cdef double TIE = 1e-12


# ---------------------------------------------------------------------------- buffers


cdef int start_gradient_list(
    const Problem* problem, GradientList* samples
) noexcept nogil:
    """Allocate for trees over a table that has been set. Returns -1 without memory."""
    cdef:
        int64_t n = samples.n_rows, i, most = samples.most_codes + 1
        GradientScratch* scratch
        Memory* memory = &samples.memory
    samples.rows = <uint32_t*>take_memory(memory, n + FETCH_AHEAD, sizeof(uint32_t))
    samples.spare = <uint32_t*>take_memory(memory, n, sizeof(uint32_t))
    samples.parts = <int64_t*>take_memory(
        memory, n // BLOCK_ROWS + 2, sizeof(int64_t)
    )
    samples.found = <GradientSplit*>take_zeros(
        memory, 2 * samples.n_columns, sizeof(GradientSplit)
    )
    samples.columns = <int32_t*>take_memory(
        memory, 2 * samples.n_columns, sizeof(int32_t)
    )
    samples.scratch = <GradientScratch*>take_zeros(
        memory, samples.n_threads, sizeof(GradientScratch)
    )
    if memory.is_short:
        return -1
    memset(samples.rows + n, 0, FETCH_AHEAD * sizeof(uint32_t))
    for i in range(samples.n_threads):
        scratch = &samples.scratch[i]
        scratch.gradients = take_doubles(memory, most)
        scratch.hessians = take_doubles(memory, most)
        scratch.scores = take_doubles(memory, most)
        if problem.any_nominal:
            scratch.levels = <Keyed*>take_memory(memory, most, sizeof(Keyed))
    return -1 if memory.is_short else 0


cdef void free_gradient_list(GradientList* samples) noexcept nogil:
    free_memory(&samples.memory)
    free(samples.place)
    free(samples.waiting)
    free(samples.unused)
    memset(samples, 0, sizeof(GradientList))


cdef void forget_waiting(GradientList* samples) noexcept nogil:
    """Take back all histograms, for the next tree."""
    if samples.n_waiting > 0:
        memcpy(
            samples.unused, samples.waiting, samples.n_waiting * sizeof(WaitingNode*)
        )
    samples.n_unused = samples.n_waiting


cdef void release_waiting(GradientList* samples, void* waiting) noexcept nogil:
    """Take the histograms of a node back."""
    if waiting != NULL:
        samples.unused[samples.n_unused] = <WaitingNode*>waiting
        samples.n_unused += 1


cdef WaitingNode* take_waiting(GradientList* samples) noexcept nogil:
    """Take histograms that are not in use; NULL when memory runs out."""
    cdef:
        WaitingNode* node
        int64_t n = samples.n_waiting, size = samples.start[samples.n_columns]
        void* longer
    if samples.n_unused > 0:
        samples.n_unused -= 1
        return samples.unused[samples.n_unused]
    longer = realloc(samples.waiting, (n + 1) * sizeof(WaitingNode*))
    if longer == NULL:
        return NULL
    samples.waiting = <WaitingNode**>longer
    longer = realloc(samples.unused, (n + 1) * sizeof(WaitingNode*))
    if longer == NULL:
        return NULL
    samples.unused = <WaitingNode**>longer
    node = <WaitingNode*>take_memory(&samples.memory, 1, sizeof(WaitingNode))
    if node == NULL:
        return NULL
    node.histogram = <GradientPair*>take_memory(
        &samples.memory, size * sizeof(GradientPair) + samples.most_codes, 1
    )
    if node.histogram == NULL:
        return NULL
    node.child_of_code = <uint8_t*>(node.histogram + size)
    samples.waiting[n] = node
    samples.n_waiting += 1
    return node


# ------------------------------------------------------------------------- the parts


# ------------------------------------------------------------------------------------
# Histograms of gradient pairs: counted, or what is left of those of the parent.
# ------------------------------------------------------------------------------------


cdef struct Counting:
    const GradientList* samples
    const uint32_t* rows
    int64_t n
    GradientPair* histogram
    GradientPair* rest  # those of the parent; NULL if the other child needs none


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


cdef void count_columns(
    const Counting* work, int64_t first, int64_t stop
) noexcept nogil:
    """Make the histograms of some columns: of one child, and what is left of those of
    the parent for the other."""
    cdef:
        const GradientList* samples = work.samples
        const int64_t* start = samples.start
        int64_t i
    memset(
        work.histogram + start[first], 0,
        (start[stop] - start[first]) * sizeof(GradientPair)
    )
    if samples.code_size == 1:
        count_codes(work, <const uint8_t*>samples.row_codes, first, stop)
    else:
        count_codes(work, <const uint16_t*>samples.row_codes, first, stop)
    if work.rest != NULL:
        for i in range(start[first], start[stop]):
            subtract_pair(&work.rest[i], &work.histogram[i])


# ------------------------------------------------------------------------------------
# The best split of a node with gradient pairs.
# ------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------
# The children of a split by gradient pairs, and their samples.
# ------------------------------------------------------------------------------------


cdef void map_values(
    const Problem* problem, const GradientList* samples, WaitingNode* node,
    int64_t* pair
) noexcept nogil:
    """Write the child of every code of a numeric column. The threshold is the midpoint
    of the values on both sides, or, if that lies inside of a bin that the node lacks,
    the end of this bin: a row of no weight goes where its code goes."""
    cdef:
        const GradientSplit* split = &node.split
        const GradientPair* sums = node.histogram + samples.start[split.column]
        int64_t place = split.column * problem.values_stride
        const double* values = problem.values + place
        const double* upper_values = problem.upper_values + place
        int64_t n = problem.n_distinct[split.column], cut = split.cut
        int64_t above = cut + 1
        double threshold
    if not split.splits_missing:
        while samples_of(&sums[above], &samples.scale) == 0:
            above += 1
        pair[0] = cut << 32 | above
        threshold = midpoint(upper_values[cut], values[above])
        while cut + 1 < above and values[cut + 1] <= threshold:
            cut += 1
        if upper_values[cut] > threshold:
            pair[0] = cut << 32 | (cut + 1)
    else:
        cut = n - 1
    memset(node.child_of_code, 0, cut + 1)
    memset(node.child_of_code + cut + 1, 1, n - cut - 1)
    if problem.has_missing[split.column]:
        node.child_of_code[n] = split.missing_child == 1


cdef int map_levels(
    const Problem* problem, const GradientList* samples, Worker* worker,
    WaitingNode* node
) noexcept nogil:
    """Write the child of every level. Returns -1 without memory."""
    cdef:
        const GradientSplit* split = &node.split
        Keyed* levels = samples.scratch[0].levels
        int32_t* level = worker.scratch.run_level
        int32_t* child = worker.scratch.run_side
        int64_t column = split.column, i, n, n_levels = 0
        int64_t n_codes = samples.start[column + 1] - samples.start[column]
        const GradientPair* sums = node.histogram + samples.start[column]
        double added
    memset(node.child_of_code, 2, n_codes)  # levels that the node lacks
    if split.is_ordered:
        for i in range(n_codes):
            if samples_of(&sums[i], &samples.scale) > 0:
                node.child_of_code[i] = i > split.cut
    else:
        n = order_levels(problem, samples, node, levels, column, &added)
        for i in range(n):
            node.child_of_code[levels[i].index] = i > split.cut
    if split.missing_child >= 0:
        node.child_of_code[problem.n_distinct[column]] = split.missing_child
    for i in range(problem.n_distinct[column]):
        if node.child_of_code[i] < 2:
            level[n_levels] = <int32_t>problem.values[
                column * problem.values_stride + i
            ]
            child[n_levels] = node.child_of_code[i]
            n_levels += 1
    return 0 if write_level_map(
        problem, &worker.buffer, column, n_levels, level, child, False
    ) >= 0 else -1


cdef int settle_gradients(
    const Problem* problem, GradientList* samples, Worker* worker, const Frame* frame,
    Split* split, int64_t* pair
) noexcept nogil:
    """What the children hold. Writes the codes on both sides of a threshold. Returns
    -1 without memory."""
    cdef:
        WaitingNode* node = <WaitingNode*>frame.waiting
        const GradientSplit* found = &node.split
        Children* children = &worker.children
        GradientPair[2] sums
        int64_t child
        double hessian
    samples.groups_left = frame.groups
    if samples.groups != NULL:
        samples.groups_left &= samples.groups[found.column]
    memset(split, 0, sizeof(Split))
    split.column = found.column
    split.kind = problem.kind[found.column]
    split.n_children = 2
    split.missing_child = found.missing_child
    split.splits_missing = found.splits_missing
    split.score = found.decrease
    if split.kind != NOMINAL_COLUMN:
        map_values(problem, samples, node, pair)
        # Beyond all values.
        split.threshold = INFINITY
    elif map_levels(problem, samples, worker, node) < 0:
        return -1
    sums[0] = found.left
    sums[1] = node.total
    subtract_pair(&sums[1], &sums[0])
    children.n_children = 2
    children.n_pieces = 0
    children.n_missing = 0
    for child in range(2):
        hessian = hessian_of(&sums[child], &samples.scale)
        children.n_rows[child] = samples_of(&sums[child], &samples.scale)
        children.weight[child] = hessian
        children.impurity[child] = 0.0
        children.is_pure[child] = False
        children.values[child] = step_of_leaf(
            gradient_of(&sums[child], &samples.scale), hessian, samples.l2
        )
        if problem.monotonic != NULL:
            children.values[child] = min(
                max(children.values[child], frame.lower), frame.upper
            )
    return 0


cdef struct Partitioning:
    const GradientList* samples
    uint32_t* rows
    int64_t n
    int64_t column
    const uint8_t* child_of_code


cdef int64_t part_rows(
    uint32_t* rows, uint32_t* spare, int64_t n, const SmallCode* codes,
    const uint8_t* child_of_code
) noexcept nogil:
    """Rows of child 0 to the front, the others to ``spare``; returns how many."""
    cdef:
        int64_t i, n_left = 0
        uint32_t row
    # Both stores happen always; only the counter depends on the child.
    for i in range(n):
        row = rows[i]
        rows[n_left] = row
        spare[i - n_left] = row
        n_left += child_of_code[codes[row]] == 0
    return n_left


cdef void part_block(void* context, int64_t task, int thread) noexcept nogil:
    cdef:
        const Partitioning* work = <const Partitioning*>context
        const GradientList* samples = work.samples
        int64_t first = task * BLOCK_ROWS, n = min(work.n - first, BLOCK_ROWS)
        uint32_t* rows = work.rows + first
        uint32_t* spare = samples.spare + first
        int64_t place = work.column * samples.n_rows
    if samples.code_size == 1:
        samples.parts[task] = part_rows(
            rows, spare, n, <const uint8_t*>samples.codes + place, work.child_of_code
        )
    else:
        samples.parts[task] = part_rows(
            rows, spare, n, <const uint16_t*>samples.codes + place, work.child_of_code
        )


cdef void part_list(
    const GradientList* samples, const WaitingNode* node, int64_t start, int64_t n
) noexcept nogil:
    """Put the rows of each child together, in their order."""
    cdef:
        Partitioning work
        int64_t task, n_tasks = (n + BLOCK_ROWS - 1) // BLOCK_ROWS
        int64_t first, n_left = 0, n_right = 0
        uint32_t* rows = samples.rows + start
    work.samples = samples
    work.rows = rows
    work.n = n
    work.column = node.split.column
    work.child_of_code = node.child_of_code
    if samples.team != NULL and n_tasks > 1:
        run_tasks(samples.team, part_block, &work, n_tasks)
    else:
        for task in range(n_tasks):
            part_block(&work, task, 0)
    # The left ones of a block move to the front, the right ones behind all of these.
    for task in range(n_tasks):
        first = task * BLOCK_ROWS
        if n_left < first:
            memmove(
                rows + n_left, rows + first, samples.parts[task] * sizeof(uint32_t)
            )
        n_left += samples.parts[task]
    for task in range(n_tasks):
        first = task * BLOCK_ROWS
        memcpy(
            rows + n_left + n_right, samples.spare + first,
            (min(n - first, BLOCK_ROWS) - samples.parts[task]) * sizeof(uint32_t)
        )
        n_right += min(n - first, BLOCK_ROWS) - samples.parts[task]


cdef int partition_gradients(
    const Problem* problem, GradientList* samples, Worker* worker, const Frame* frame,
    bint is_last
) noexcept nogil:
    """Divide the samples of a node among its children, which have records already, and
    find which histograms are needed, unless the tree ends here. Returns -1 without
    memory."""
    cdef:
        WaitingNode* parent = <WaitingNode*>frame.waiting
        WaitingNode* node
        const int64_t* n_rows = worker.children.n_rows
        const uint8_t* is_leaf = worker.is_active
        int64_t smaller = n_rows[1] < n_rows[0], start = frame.start
        int64_t first = worker.buffer.nodes[frame.node].first_child
    if reserve(
        <void**>&samples.place, sizeof(int64_t), first, 2, &samples.place_capacity
    ) < 0:
        return -1
    part_list(samples, parent, start, frame.n_rows)
    samples.place[first] = start
    samples.place[first + 1] = start + n_rows[0]
    samples.left_child = samples.right_child = samples.counted = NULL
    if is_last or (is_leaf[0] and is_leaf[1]):
        release_waiting(samples, parent)
        return 0
    node = take_waiting(samples)
    if node == NULL:
        return -1
    # The smaller child is counted.
    node.total = parent.split.left
    if smaller:
        node.total = parent.total
        subtract_pair(&node.total, &parent.split.left)
    subtract_pair(&parent.total, &node.total)
    samples.counted = node
    samples.counted_start = samples.place[first + smaller]
    samples.n_counted = n_rows[smaller]
    samples.rest = parent
    if is_leaf[1 - smaller]:
        samples.rest = NULL
        release_waiting(samples, parent)
    samples.left_child = samples.rest if smaller else node
    samples.right_child = node if smaller else samples.rest
    return 0
