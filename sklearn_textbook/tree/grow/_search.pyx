"""The best test of one node over all of its columns."""

from libc.math cimport fabs, log2, sqrt
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._threads cimport ThreadTeam, run_tasks
from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._choose cimport choose_by_gain
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._workers cimport (
    Arena,
    SharedNode,
    Worker,
    column_ranks,
)
from sklearn_textbook.tree.split._absolute cimport rank_targets
from sklearn_textbook.tree.split._best cimport decreases
from sklearn_textbook.tree.split._column cimport (
    evaluate_column,
    evaluate_plain_columns,
)
from sklearn_textbook.tree.split._impurity cimport goodness
from sklearn_textbook.tree.split._levels cimport is_one_level
from sklearn_textbook.tree.split._random cimport (
    child_state,
    draw_place,
    random_below,
)
from sklearn_textbook.tree.split._types cimport (
    ABSOLUTE_ERROR,
    CHOOSE_SCORE,
    POISSON,
    SCAN_ABSOLUTE,
    SCAN_FIXED,
    SCAN_GENERAL,
    SHARED_CELLS,
    Entry,
    NodeView,
    Problem,
    Rows,
    Split,
    int32_t,
    int64_t,
    rank_of,
    uint64_t,
)


cdef double rounding_noise(
    const Problem* problem, const Rows* rows, const Node* node,
    const double* statistics, double spread
) noexcept nogil:
    """How far rounding may carry two equal scores apart. Class scores are differences
    of sums as large as the weight of the node, however pure it is. Sums of y carry the
    rounding of the mean they are counted from, or of the fixed-point unit."""
    cdef:
        double step = 0.0
        int64_t k
    if problem.is_classifier or problem.criterion == POISSON:
        return 1e-15 * node.weight * (1.0 + fabs(log2(node.weight)))
    if problem.scan == SCAN_FIXED:
        step = 8.0 * rows.fixed_unit
    for k in range(problem.n_outputs):
        step += 1e-15 * fabs(statistics[k])
    return step * sqrt(node.weight * spread)


cdef void view_node(
    const Problem* problem, const Arena* arena, Worker* worker, const Frame* frame,
    NodeView* view
) noexcept nogil:
    """The node at hand as the split search sees it."""
    cdef:
        Node* node = &worker.buffer.nodes[frame.node]
        double* statistics = (
            worker.buffer.statistics + frame.node * problem.n_statistics
        )
        double spread = node.impurity * node.weight
        int64_t k
    view.lower = frame.lower
    view.upper = frame.upper
    view.random_state = frame.random_state
    view.noise = rounding_noise(problem, &arena.rows, node, statistics, spread)
    view.margin = 1e-12 * spread + view.noise
    view.totals.rows = frame.n_rows
    view.totals.weight = node.weight
    view.totals.squares = spread * problem.n_outputs
    view.totals.fixed = frame.fixed
    view.totals.centre = worker.scratch.zeros
    view.totals.sums = worker.scratch.zeros
    if problem.is_classifier:
        view.totals.sums = statistics
    elif problem.criterion == POISSON:
        for k in range(problem.n_outputs):
            worker.node_sums[k] = statistics[k] * node.weight
        view.totals.sums = worker.node_sums
    elif problem.criterion != ABSOLUTE_ERROR:
        view.totals.centre = statistics
    if problem.criterion == ABSOLUTE_ERROR:
        view.totals.goodness = -spread
    else:
        view.totals.goodness = goodness(problem, view.totals.sums, node.weight)


# -------------------------------------------------------------- choosing columns


cdef inline bint is_constant(
    const Entry* entries, int64_t n, int64_t stride, int64_t column, int64_t start
) noexcept nogil:
    """Whether all rows of the node share one value, or all miss it."""
    cdef const Entry* cells = entries + column * stride + start
    return rank_of(cells[0]) == rank_of(cells[n - 1])


cdef int64_t list_columns(
    const Problem* problem, const Arena* arena, Worker* worker, Frame* frame,
    Entry* entries
) noexcept nogil:
    """Drop the constant columns for this node and all below it; write the
    columns to be tried into ``visit`` and return their number."""
    cdef:
        int32_t* active = worker.active
        int64_t i, j, n_active = 0, n_visit = 0, n_drawn = 0
        uint64_t random_state = child_state(frame.random_state, 7)
        int32_t column
    worker.n_moved = 0
    for i in range(frame.n_active):
        column = active[i]
        if problem.is_coded[column]:
            if is_one_level(
                &arena.codes, column,
                entries + problem.n_columns * frame.stride + frame.start,
                frame.n_rows
            ):
                continue
        elif is_constant(entries, frame.n_rows, frame.stride, column, frame.start):
            continue
        else:
            worker.moved[worker.n_moved] = column
            worker.n_moved += 1
        active[n_active] = column
        n_active += 1
    if problem.any_coded:
        worker.moved[worker.n_moved] = <int32_t>problem.n_columns
        worker.n_moved += 1
    frame.n_active = <int32_t>n_active
    if not problem.shuffle_columns:
        memcpy(worker.visit, active, n_active * sizeof(int32_t))
        return n_active
    # Draw without replacement; constant columns count as drawn, but go on
    # until one column that is not constant was drawn.
    memset(worker.is_active, 0, problem.n_columns)
    for i in range(n_active):
        worker.is_active[active[i]] = 1
    for i in range(problem.n_columns):
        worker.order[i] = <int32_t>i
    for i in range(problem.n_columns):
        if n_drawn >= problem.max_features and n_visit > 0:
            break
        j = i + random_below(&random_state, problem.n_columns - i)
        column = worker.order[j]
        worker.order[j] = worker.order[i]
        n_drawn += 1
        if worker.is_active[column]:
            worker.visit[n_visit] = column
            n_visit += 1
    return n_visit


# ------------------------------------------------------------- finding the split


cdef void clear_split(Split* split) noexcept nogil:
    memset(split, 0, sizeof(Split))
    split.column = -1
    split.score = -1.0
    split.missing_child = -1


cdef bint splits_pair(
    const Problem* problem, const Frame* frame, Worker* worker, Split* best
) noexcept nogil:
    """Two rows that differ: the first column that tells them apart is the best."""
    if frame.n_rows != 2 or not problem.is_plain or problem.min_samples_leaf > 1:
        return False
    if problem.top_splits > 1:
        return False
    if problem.scan == SCAN_GENERAL or problem.scan == SCAN_ABSOLUTE:
        return False
    clear_split(best)
    best.score = 0.0
    best.column = worker.visit[0]
    best.kind = problem.kind[best.column]
    best.n_children = 2
    best.position = 1
    return True


cdef void search_column(void* context, int64_t task, int thread) noexcept nogil:
    """The best test of one column, by one of the threads."""
    cdef:
        const SharedNode* node = <SharedNode*>context
        Worker* worker = node.worker
        int64_t column = worker.visit[task]
    evaluate_column(
        node.problem, &node.arena.rows, &node.all_workers[thread].scratch,
        node.entries + column * node.frame.stride + node.frame.start,
        node.arena.ranks, node.view, column, &worker.splits[task]
    )


cdef void search_columns(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const NodeView* view, int64_t n_visit,
    Entry* entries
) noexcept nogil:
    """The best test of every visited column for itself, so that the number of threads
    cannot matter."""
    cdef:
        int64_t i, column, start = frame.start, stride = frame.stride
        bint shared = False
        SharedNode node
    for i in range(n_visit):
        clear_split(&worker.splits[i])
    if Entry is uint64_t:
        shared = team != NULL and n_visit * frame.n_rows >= SHARED_CELLS
        if shared:
            node = SharedNode(
                problem, arena, worker, all_workers, frame, view, entries
            )
            run_tasks(team, search_column, &node, n_visit)
    if not shared:
        for i in range(n_visit):
            column = worker.visit[i]
            evaluate_column(
                problem, &arena.rows, &worker.scratch,
                entries + column * stride + start, column_ranks(arena, column), view,
                column, &worker.splits[i]
            )


cdef int64_t pick_split(
    const Worker* worker, const NodeView* view, int64_t n_visit
) noexcept nogil:
    """The place of the best test in the list of columns, or -1."""
    cdef int64_t i, winner = -1
    for i in range(n_visit):
        if worker.splits[i].column >= 0 and (
            winner < 0
            or worker.splits[i].score > worker.splits[winner].score + view.margin
        ):
            winner = i
    return winner


cdef int64_t draw_split(
    const Problem* problem, Worker* worker, const NodeView* view, int64_t n_visit
) noexcept nogil:
    """The place of one of the ``top_splits`` best tests, each as likely. A test must
    decrease the impurity, and by ``min_impurity_decrease``, to take part."""
    cdef:
        int64_t i, n_good = 0, n_before
        Split* split
    for i in range(n_visit):
        split = &worker.splits[i]
        n_good += split.column >= 0 and decreases(problem, view, split.score)
    if n_good == 0:
        return pick_split(worker, view, n_visit)
    for i in range(n_visit):
        split = &worker.splits[i]
        if split.column >= 0 and not decreases(problem, view, split.score):
            split.column = -1
    n_before = draw_place(view.random_state, min(n_good, problem.top_splits))
    # The best, the best of the rest, and so on: ties fall as they always do.
    while n_before > 0:
        worker.splits[pick_split(worker, view, n_visit)].column = -1
        n_before -= 1
    return pick_split(worker, view, n_visit)


cdef void find_split(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const NodeView* view, int64_t n_visit,
    Entry* entries, Split* best, Split* before
) noexcept nogil:
    """The best test of all visited columns; ``before`` is what it had to beat."""
    cdef:
        int64_t i, column, start = frame.start, stride = frame.stride
        Split held
    clear_split(best)
    clear_split(before)
    if problem.gain.choice != CHOOSE_SCORE:
        choose_by_gain(
            problem, arena, worker, all_workers, team, frame, view, n_visit,
            entries, best
        )
        return
    if problem.criterion == ABSOLUTE_ERROR:
        rank_targets(
            problem, &arena.rows, &worker.scratch,
            entries + worker.visit[0] * stride + start, frame.n_rows
        )
    if Entry is uint64_t or problem.top_splits > 1:
        search_columns(
            problem, arena, worker, all_workers, team, frame, view, n_visit,
            entries
        )
        if problem.top_splits > 1:
            i = draw_split(problem, worker, view, n_visit)
        else:
            i = pick_split(worker, view, n_visit)
        if i >= 0:
            best[0] = worker.splits[i]
    elif problem.is_plain:
        evaluate_plain_columns(
            problem, &arena.rows, &worker.scratch, entries + start, stride,
            worker.visit, n_visit, view, best
        )
    else:
        for i in range(n_visit):
            column = worker.visit[i]
            held = best[0]
            evaluate_column(
                problem, &arena.rows, &worker.scratch,
                entries + column * stride + start,
                column_ranks(arena, column),
                view, column, best
            )
            if best.column != held.column:
                before[0] = held
