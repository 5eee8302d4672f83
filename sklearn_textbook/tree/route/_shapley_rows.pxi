# Division of the rows of _shapley.pxi among threads, and of the trees in turn.

# Bytes of the sums of the groups of one task.
cdef enum:
    TASK_BYTES = 1 << 18


cdef struct ShapleyWork:
    const TreeEdges* trees
    int64_t n_trees
    const double* rows
    int64_t n_rows
    int64_t n_columns
    double* values
    int64_t n_scores
    bint takes_pairs
    # sums of a row
    int64_t n_sums
    # rows of a task
    int64_t n_task_rows
    # working memory of a thread
    double* memory
    int64_t n_memory
    int32_t* branch
    int64_t n_branch
    const Edge** open
    int64_t n_levels
    int64_t most_below
    int64_t most_points


cdef void run_shapley_task(void* context, int64_t task, int thread) noexcept nogil:
    """Compute the Shapley values of some rows."""
    cdef const ShapleyWork* work = <ShapleyWork*> context
    cdef Group group
    cdef int64_t first = task * work.n_task_rows
    cdef int64_t n_rows = min(work.n_task_rows, work.n_rows - first)
    cdef int64_t n_groups = (n_rows + LANES - 1) // LANES
    cdef int64_t n_sums = work.n_sums, t, g, lane, i
    cdef int64_t n_lines = work.n_levels * work.most_points * LANES
    cdef double* sums = work.memory + thread * work.n_memory
    cdef double* to
    memset(sums, 0, n_groups * n_sums * LANES * sizeof(double))
    group.scratch.above = sums + (work.n_task_rows // LANES) * n_sums * LANES
    group.scratch.others = group.scratch.above + n_lines
    group.scratch.reduced = group.scratch.others + n_lines
    group.scratch.factor = group.scratch.reduced + n_lines
    group.scratch.inverse = group.scratch.factor + n_lines
    group.scratch.taken = group.scratch.inverse + n_lines
    group.scratch.reduced_sum = group.scratch.taken + work.n_levels * LANES
    group.scratch.changed = group.scratch.reduced_sum + work.n_levels * LANES
    group.scratch.below = group.scratch.changed + work.most_points * LANES
    group.scratch.branch = work.branch + thread * work.n_branch
    group.scratch.is_replaced = group.scratch.branch + work.n_levels * LANES
    group.scratch.columns = group.scratch.is_replaced + work.n_levels
    group.scratch.previous = group.scratch.columns + work.n_levels
    group.takes_pairs = work.takes_pairs
    group.n_columns, group.n_scores = work.n_columns, work.n_scores
    for t in range(work.n_trees):
        group.tree = work.trees[t]
        if group.tree.n_edges == 0:
            continue
        for g in range(n_groups):
            group.rows = work.rows + (first + g * LANES) * work.n_columns
            group.n_rows = min(LANES, n_rows - g * LANES)
            group.sums = sums + (g * n_sums + group.tree.first) * LANES
            walk_group(&group, work.open + thread * work.n_levels)
    for g in range(n_groups):
        for lane in range(min(LANES, n_rows - g * LANES)):
            to = work.values + (first + g * LANES + lane) * n_sums
            for i in range(n_sums):
                to[i] = sums[(g * n_sums + i) * LANES + lane]


def add_shapley_values(
    list edge_lists, const int64_t[::1] first, list points, list weights,
    const double[:, ::1] rows, double[:, :, ::1] values, bint takes_pairs,
    int n_threads,
):
    """Write the sums over trees; points and weights: the quadrature of each tree."""
    cdef ShapleyWork work
    cdef int64_t n_trees = len(edge_lists), t, width, most_below = 1
    cdef EdgeList edges
    cdef const double[::1] point, weight
    cdef TreeEdges* trees
    cdef TreeEdges* tree
    if rows.shape[0] == 0 or n_trees == 0:
        return
    work.rows, work.n_rows, work.n_columns = &rows[0, 0], rows.shape[0], rows.shape[1]
    work.values, work.n_scores = &values[0, 0, 0], values.shape[2]
    work.takes_pairs, work.n_sums = takes_pairs, values.shape[1] * values.shape[2]
    work.n_trees = n_trees
    work.n_levels = work.most_points = 1
    trees = <TreeEdges*> malloc(n_trees * sizeof(TreeEdges))
    if trees == NULL:
        raise MemoryError
    try:
        for t in range(n_trees):
            edges, point, weight = edge_lists[t], points[t], weights[t]
            tree = &trees[t]
            tree.view, tree.edges = &edges.tables.view, &edges.view[0]
            tree.n_edges, tree.first = len(edges.edges), first[t]
            tree.values, tree.n_values = &edges.values[0, 0], edges.values.shape[1]
            tree.share_start = &edges.share_start[0]
            tree.share_column, tree.share = &edges.share_column[0], &edges.share[0]
            tree.points, tree.weights = &point[0], &weight[0]
            tree.n_points = point.shape[0]
            work.n_levels = max(work.n_levels, edges.n_levels)
            work.most_points = max(work.most_points, point.shape[0])
            # Of pairs there is a line for each column of a path.
            width = 1 if takes_pairs else edges.values.shape[1]
            most_below = max(most_below, point.shape[0] * width)
        work.trees = trees
        run_shapley_tasks(&work, most_below, n_threads)
    finally:
        free(trees)


cdef int run_shapley_tasks(
    ShapleyWork* work, int64_t most_below, int n_threads
) except -1:
    """Divide the rows among threads with their own memory."""
    cdef int64_t group_bytes = work.n_sums * LANES * sizeof(double)
    cdef int64_t n_groups = max(1, TASK_BYTES // group_bytes)
    cdef int64_t least = (work.n_rows + LANES - 1) // LANES
    cdef int64_t n_lines = work.n_levels * LANES, n_tasks
    n_groups = min(n_groups, max(1, least // (4 * n_threads)))
    work.n_task_rows = n_groups * LANES
    n_tasks = (work.n_rows + work.n_task_rows - 1) // work.n_task_rows
    n_threads = <int> min(n_threads, n_tasks)
    work.n_memory = (
        n_groups * work.n_sums * LANES
        + n_lines * (5 * work.most_points + 2 + most_below)
        + work.most_points * LANES
    )
    work.n_branch = n_lines + 3 * work.n_levels
    work.memory = <double*> malloc(n_threads * work.n_memory * sizeof(double))
    work.branch = <int32_t*> malloc(n_threads * work.n_branch * sizeof(int32_t))
    work.open = <const Edge**> malloc(n_threads * work.n_levels * sizeof(Edge*))
    try:
        if work.memory == NULL or work.branch == NULL or work.open == NULL:
            raise MemoryError
        run_in_threads(n_threads, run_shapley_task, work, n_tasks)
    finally:
        free(work.memory)
        free(work.branch)
        free(work.open)
    return 0
