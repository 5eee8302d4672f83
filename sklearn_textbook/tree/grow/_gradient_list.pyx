"""Growth from gradient pairs, as boosting needs it: the rows of a tree as a list, and
the histograms of the nodes that wait.

The histogram of one child is counted, that of the other is what is left of their
parent's; both are searched by _gradients.pyx. A node that waits keeps its histogram and
its best split, and its rows are partitioned only if the split is made.

The memory of histograms is kept for later nodes and trees. A parent's histogram becomes
that of the child which is not counted. ``counted`` is the node that is counted next,
``rest`` the one whose histogram it is taken away from.
"""

from libc.math cimport INFINITY
from libc.stdint cimport uint16_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove, memset

from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook.tree.grow._buffers cimport reserve
from sklearn_textbook.tree.grow._children cimport Children, write_level_map
from sklearn_textbook.tree.grow._column_sampler cimport (
    ColumnSampler,
    sample_column,
    start_sampling,
)
from sklearn_textbook.tree.split._gradients cimport (
    GradientPair,
    GradientScratch,
    GradientSearch,
    GradientSplit,
    GradientTable,
    add_pair,
    count_pairs,
    describe_node,
    find_children,
    gradient_of,
    hessian_of,
    is_better_split,
    samples_of,
    search_pairs,
    start_gradient_scratch,
    step_of_leaf,
    subtract_pair,
)
from sklearn_textbook.tree.split._memory cimport (
    Memory,
    free_memory,
    take_memory,
    take_zeros,
)
from sklearn_textbook.tree.split._sums cimport FETCH_AHEAD
from sklearn_textbook.tree.split._types cimport NOMINAL_COLUMN, SHARED_CELLS

cdef enum:
    BLOCK_ROWS = 8192  # that a thread partitions
    SLOT_CELLS = 8  # cells that take as long to count as a sum to be searched

ctypedef fused SmallCode:
    uint8_t
    uint16_t


# ---------------------------------------------------------------------------- buffers


cdef int start_gradient_list(
    const Problem* problem, GradientList* samples
) noexcept nogil:
    """Allocate for trees over a table that has been set. Returns -1 without memory."""
    cdef:
        int64_t n = samples.n_rows, i
        Memory* memory = &samples.memory
    samples.rows = <uint32_t*>take_memory(memory, n + FETCH_AHEAD, sizeof(uint32_t))
    samples.spare = <uint32_t*>take_memory(memory, n, sizeof(uint32_t))
    samples.parts = <int64_t*>take_memory(
        memory, n // BLOCK_ROWS + 2, sizeof(int64_t)
    )
    samples.found = <GradientSplit*>take_zeros(
        memory, 2 * samples.table.n_columns, sizeof(GradientSplit)
    )
    samples.columns = <int32_t*>take_memory(
        memory, 2 * samples.table.n_columns, sizeof(int32_t)
    )
    samples.scratch = <GradientScratch*>take_zeros(
        memory, samples.n_threads, sizeof(GradientScratch)
    )
    if memory.is_short:
        return -1
    memset(samples.rows + n, 0, FETCH_AHEAD * sizeof(uint32_t))
    for i in range(samples.n_threads):
        start_gradient_scratch(
            problem, samples.most_codes + 1, memory, &samples.scratch[i]
        )
    return -1 if memory.is_short else 0


cdef void free_gradient_list(GradientList* samples) noexcept nogil:
    """Free everything, the histograms of waiting nodes included."""
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
        const GradientTable* table = &samples.table
        int64_t n = samples.n_waiting, size = table.start[table.n_columns]
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


# ------------------------------------------------------------------------------------
# The best split of one or two nodes.
# ------------------------------------------------------------------------------------


# A node that is searched, and the columns that it tries.
cdef struct Searching:
    GradientSearch node
    int32_t* columns  # in ascending order
    int64_t n_columns
    GradientSplit* found  # of each column


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
    # A bit remains for each group that holds all columns tested above.
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
        int64_t n_columns = samples.table.n_columns
    describe_node(
        problem, &samples.table, node.histogram, &node.total, frame.lower, frame.upper,
        &search.node
    )
    search.columns = samples.columns + place * n_columns
    search.found = samples.found + place * n_columns
    search.n_columns = list_sampled(
        problem, samples, worker, frame, active, search.columns
    )


cdef void choose_column(
    const Problem* problem, const Searching* search, Frame* frame
) noexcept nogil:
    """Keep the best of the splits of the columns, the first of equal ones."""
    cdef:
        WaitingNode* node = <WaitingNode*>frame.waiting
        const GradientSplit* found
        int64_t i
    memset(&node.split, 0, sizeof(GradientSplit))
    node.split.column = -1
    for i in range(search.n_columns):
        found = &search.found[search.columns[i]]
        if is_better_split(&search.node, found, &node.split):
            node.split = found[0]
    frame.gain = node.split.decrease
    # Not to be split: a gain of 0.
    if frame.gain < problem.min_impurity_decrease * problem.total_weight:
        frame.gain = 0.0
    frame.is_searched = True


# One or two nodes whose histograms are made and searched, column by column.
cdef struct Family:
    const GradientList* samples
    const uint32_t* rows  # of the node that is counted; NULL: it has been
    int64_t n
    GradientPair* histogram
    GradientPair* rest  # the parent's; NULL if the other child needs none
    Searching[2] searches
    int64_t n_searches
    int64_t step  # columns of a task


cdef void count_and_search(void* context, int64_t task, int thread) noexcept nogil:
    """Make the histograms of some columns, and search them."""
    cdef:
        const Family* family = <const Family*>context
        const GradientList* samples = family.samples
        const int64_t* start = samples.table.start
        const Searching* search
        int64_t first = task * family.step, i, k, column
        int64_t stop = min(first + family.step, samples.table.n_columns)
    if family.rows != NULL:
        count_pairs(
            &samples.table, family.rows, family.n, first, stop, family.histogram
        )
    # The parent's histogram less the counted child's is the other child's.
    if family.rest != NULL:
        for i in range(start[first], start[stop]):
            subtract_pair(&family.rest[i], &family.histogram[i])
    for i in range(family.n_searches):
        search = &family.searches[i]
        for k in range(search.n_columns):
            column = search.columns[k]
            if first <= column < stop:
                search_pairs(
                    &search.node, &samples.scratch[thread], column,
                    &search.found[column]
                )


cdef void search_family(
    const Problem* problem, GradientList* samples, Worker* worker, Frame* frames,
    int32_t* active, int64_t n_frames
) noexcept nogil:
    """Find the best splits of the children of a node, or of the root. Threads take
    the columns, each with its histograms in the memory that is near."""
    cdef:
        Family family
        int64_t n_columns = samples.table.n_columns, n_tasks = 1, i
        int64_t n_slots = samples.table.start[n_columns]
        bint keeps_counted = False
    family.samples = samples
    family.rows = NULL
    if samples.codes != NULL:
        family.rows = samples.rows + samples.counted_start
    family.n = samples.n_counted
    family.histogram = samples.counted.histogram
    family.rest = NULL if samples.rest == NULL else samples.rest.histogram
    family.n_searches = n_frames
    for i in range(n_frames):
        start_search(
            problem, samples, worker, &frames[i], active + i * n_columns, i,
            &family.searches[i]
        )
    if samples.team != NULL and (
        samples.n_counted * n_columns + SLOT_CELLS * n_slots >= SHARED_CELLS
    ):
        n_tasks = samples.n_threads
    # A task takes columns that are next to each other.
    family.step = (n_columns + n_tasks - 1) // n_tasks
    n_tasks = (n_columns + family.step - 1) // family.step
    if n_tasks == 1:
        count_and_search(&family, 0, 0)
    else:
        run_tasks(samples.team, count_and_search, &family, n_tasks)
    for i in range(n_frames):
        # Histograms are kept of nodes that may be split; the counted one may be of a
        # child that is a leaf, and has no frame.
        choose_column(problem, &family.searches[i], &frames[i])
        if frames[i].waiting == samples.counted:
            keeps_counted = frames[i].gain > 0.0
        elif frames[i].gain <= 0.0:
            release_waiting(samples, frames[i].waiting)
    if not keeps_counted:
        release_waiting(samples, samples.counted)


cdef int search_given(
    const Problem* problem, GradientList* samples, Worker* worker, Frame* frame,
    const GradientPair* histogram
) noexcept nogil:
    """Find the best split of a node whose histograms come from elsewhere. Returns -1
    without memory."""
    cdef:
        WaitingNode* node = take_waiting(samples)
        Searching search
        const int64_t* start = samples.table.start
        int64_t i, column
    if node == NULL:
        return -1
    memcpy(
        node.histogram, histogram,
        start[samples.table.n_columns] * sizeof(GradientPair)
    )
    memset(&node.total, 0, sizeof(GradientPair))
    # Every row is in one entry of the first column.
    for i in range(start[1]):
        add_pair(&node.total, &histogram[i])
    frame.waiting = node
    start_search(problem, samples, worker, frame, worker.active, 0, &search)
    for i in range(search.n_columns):
        column = search.columns[i]
        search_pairs(
            &search.node, &samples.scratch[0], column, &search.found[column]
        )
    choose_column(problem, &search, frame)
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
    const Problem* problem, GradientList* samples, Worker* worker, int64_t first,
    int64_t n_frames
) noexcept nogil:
    """Find the best splits of the children of a node, which wait on the stack."""
    if samples.counted == NULL or n_frames == 0:
        return
    search_family(
        problem, samples, worker, worker.stack.frames + first,
        worker.stack.active + first * samples.table.n_columns, n_frames
    )


# ------------------------------------------------------------------------------------
# The children of a split by gradient pairs, and their samples.
# ------------------------------------------------------------------------------------


cdef int map_levels(
    const Problem* problem, Worker* worker, const WaitingNode* node
) noexcept nogil:
    """Write the children of the levels of the node. Returns -1 without memory."""
    cdef:
        int32_t* level = worker.scratch.run_level
        int32_t* child = worker.scratch.run_side
        int64_t column = node.split.column, i, n_levels = 0
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
        const GradientTable* table = &samples.table
        Children* children = &worker.children
        GradientSearch search
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
    split.threshold = INFINITY  # beyond all values, where those are not divided
    # Nodes that wait keep no description; find_children needs it.
    describe_node(
        problem, table, node.histogram, &node.total, frame.lower, frame.upper, &search
    )
    find_children(&search, &samples.scratch[0], found, node.child_of_code, pair)
    if split.kind == NOMINAL_COLUMN and map_levels(problem, worker, node) < 0:
        return -1
    sums[0] = found.left
    sums[1] = node.total
    subtract_pair(&sums[1], &sums[0])
    children.n_children = 2
    children.n_pieces = 0
    children.n_missing = 0
    for child in range(2):
        hessian = hessian_of(&sums[child], &table.scale)
        children.n_rows[child] = samples_of(&sums[child], &table.scale)
        # A node's weight is the sum of the hessians, its value the Newton step.
        children.weight[child] = hessian
        children.impurity[child] = 0.0
        children.is_pure[child] = False
        children.values[child] = step_of_leaf(
            gradient_of(&sums[child], &table.scale), hessian, table.l2
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
    """Partition one block of rows, by one of the threads."""
    cdef:
        const Partitioning* work = <const Partitioning*>context
        const GradientList* samples = work.samples
        int64_t first = task * BLOCK_ROWS, n = min(work.n - first, BLOCK_ROWS)
        uint32_t* rows = work.rows + first
        uint32_t* spare = samples.spare + first
        int64_t place = work.column * samples.n_rows
    if samples.table.code_size == 1:
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
            # The stretches may overlap.
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
    if samples.codes != NULL:
        if reserve(
            <void**>&samples.place, sizeof(int64_t), first, 2, &samples.place_capacity
        ) < 0:
            return -1
        part_list(samples, parent, start, frame.n_rows)
        samples.place[first] = start
        samples.place[first + 1] = start + n_rows[0]
        samples.counted_start = samples.place[first + smaller]
    samples.left_child = samples.right_child = samples.counted = NULL
    if is_last or (is_leaf[0] and is_leaf[1]):
        release_waiting(samples, parent)
        return 0
    node = take_waiting(samples)
    if node == NULL:
        return -1
    # The smaller child is counted.
    # Its sums, and those left to the other, which takes over the parent's node.
    node.total = parent.split.left
    if smaller:
        node.total = parent.total
        subtract_pair(&node.total, &parent.split.left)
    subtract_pair(&parent.total, &node.total)
    samples.counted = node
    samples.n_counted = n_rows[smaller]
    samples.rest = parent
    # The other child is a leaf and needs no histogram.
    if is_leaf[1 - smaller]:
        samples.rest = NULL
        release_waiting(samples, parent)
    samples.left_child = samples.rest if smaller else node
    samples.right_child = node if smaller else samples.rest
    return 0
