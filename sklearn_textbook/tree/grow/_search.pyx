"""The best test of one node over all of its columns."""

from libc.math cimport NAN, fabs, log2, sqrt
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._interrupt cimport must_stop
from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook.tree.grow._buffers cimport reserve_surrogates
from sklearn_textbook.tree.grow._children cimport (
    list_levels,
    read_run_children,
    write_level_map,
)
from sklearn_textbook.tree.grow._column_sampler cimport (
    ColumnSampler,
    sample_column,
    start_sampling,
)
from sklearn_textbook.tree.grow._layout cimport FRACTIONAL, Node, STAY, Surrogate
from sklearn_textbook.tree.grow._workers cimport SharedNode, column_ranks
from sklearn_textbook.tree.split._best cimport clear_split, decreases
from sklearn_textbook.tree.split._column cimport (
    count_missing,
    evaluate_column,
    midpoint,
    upper_value_of_rank,
    value_of_rank,
)
from sklearn_textbook.tree.split._criterion cimport goodness, rank_targets, weight_of
from sklearn_textbook.tree.split._deviance cimport deviance_noise
from sklearn_textbook.tree.split._gain cimport (
    evaluate_nominal_gain,
    evaluate_numeric_gain,
    is_one_level,
)
from sklearn_textbook.tree.split._random cimport draw_place
from sklearn_textbook.tree.split._types cimport (
    ABSOLUTE_ERROR,
    CHOOSE_GAIN,
    CHOOSE_RATIO,
    CHOOSE_SCORE,
    Candidate,
    GainRules,
    MAX_SURROGATES,
    MISSING_FRACTIONAL,
    MISSING_LEARNED,
    MISSING_SURROGATE,
    NOMINAL_COLUMN,
    POISSON,
    Rows,
    SCAN_ABSOLUTE,
    SCAN_GENERAL,
    SHARED_CELLS,
    Scratch,
    SurrogateTest,
    int32_t,
    int64_t,
    rank_of,
    row_of,
    smooths_levels,
    uint32_t,
    uint64_t,
)


cdef double rounding_noise(
    const Problem* problem, const Node* node, const double* statistics, double spread
) noexcept nogil:
    """How far rounding may carry two equal scores apart. Class scores are differences
    of sums as large as the weight of the node, however pure it is. Sums of y carry the
    rounding of the mean they are counted from, those of Poisson that of their
    logarithms."""
    cdef:
        double step = 0.0
        int64_t k
    if problem.is_classifier or problem.criterion == POISSON:
        step = 1e-15 * node.weight * (1.0 + fabs(log2(node.weight)))
        if problem.criterion == POISSON:
            for k in range(problem.n_outputs):
                step += deviance_noise(statistics[k], node.weight)
        return step
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
    view.noise = rounding_noise(problem, node, statistics, spread)
    view.margin = 1e-12 * spread + view.noise
    view.totals.rows = frame.n_rows
    view.totals.weight = node.weight
    view.totals.squares = spread * problem.n_outputs
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
        int64_t i, n_active = 0
        int32_t column
        ColumnSampler sampler
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
    start_sampling(problem, worker, frame, &sampler)
    column = sample_column(problem, worker, &sampler)
    while column >= 0:
        worker.visit[sampler.n_found] = column
        sampler.n_found += 1
        column = sample_column(problem, worker, &sampler)
    return sampler.n_found


# ------------------------------------------------------------- finding the split


cdef bint splits_pair(
    const Problem* problem, const Frame* frame, Worker* worker, Split* best
) noexcept nogil:
    """Two different rows: the first column in which they differ is the best."""
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


cdef void search_column(
    const Problem* problem, const Arena* arena, Worker* worker, Scratch* scratch,
    const Frame* frame, const NodeView* view, const Entry* entries, int64_t place
) noexcept nogil:
    """The best test of a visited column for itself: by its gain, or its score."""
    cdef:
        int64_t column = worker.visit[place]
        const Entry* cells = entries + column * frame.stride + frame.start
    if problem.gain.choice == CHOOSE_SCORE:
        clear_split(&worker.splits[place])
        evaluate_column(
            problem, &arena.rows, scratch, cells, column_ranks(arena, column), view,
            column, &worker.splits[place]
        )
        return
    worker.candidates[place].is_valid = False
    if must_stop(problem.interrupt, frame.n_rows):
        return
    if problem.is_coded[column]:
        evaluate_nominal_gain(
            problem, &arena.rows, scratch, &arena.codes,
            entries + problem.n_columns * frame.stride + frame.start, view, column,
            &worker.candidates[place]
        )
    else:
        evaluate_numeric_gain(
            problem, &arena.rows, scratch, cells, &arena.spacing[column], view,
            column, &worker.candidates[place]
        )


cdef void search_shared(void* context, int64_t task, int thread) noexcept nogil:
    """The same by one of the threads."""
    cdef const SharedNode* node = <SharedNode*>context
    search_column(
        node.problem, node.arena, node.worker, &node.all_workers[thread].scratch,
        node.frame, node.view, node.entries, task
    )


cdef void search_columns(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const NodeView* view, int64_t n_visit,
    Entry* entries
) noexcept nogil:
    """Every visited column for itself, so that the number of threads cannot matter."""
    cdef:
        int64_t i
        SharedNode node
    if Entry is uint64_t:
        if team != NULL and n_visit * frame.n_rows >= SHARED_CELLS:
            node = SharedNode(
                problem, arena, worker, all_workers, frame, view, entries
            )
            run_tasks(team, search_shared, &node, n_visit)
            return
    for i in range(n_visit):
        search_column(
            problem, arena, worker, &worker.scratch, frame, view, entries, i
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


# ----------------------------------------------------------------- ID3 and C4.5


cdef bint must_be_gain_leaf(
    const Problem* problem, const double* sums, double weight, int64_t depth,
    bint is_divided
) noexcept nogil:
    """Whether a node with these class weights stays a leaf."""
    cdef:
        const GainRules* gain = &problem.gain
        double largest = 0.0
        int64_t c, n_present = 0
    for c in range(problem.n_statistics):
        n_present += sums[c] > 0.0
        largest = max(largest, sums[c])
    return (
        n_present <= 1
        or weight - largest < gain.tolerance
        or depth >= problem.max_depth
        or gain.min_weight_split - weight > gain.weight_tolerance
        or (
            is_divided
            and gain.min_divided_weight - weight > gain.weight_tolerance
        )
    )


cdef double find_least_gain(
    const Problem* problem, const Worker* worker, int64_t n_visit
) noexcept nogil:
    """C4.5: the average gain of the tests that count, less some slack. Above every
    gain if none counts."""
    cdef:
        double total = 0.0
        int64_t i, n_counted = 0
    if problem.gain.choice != CHOOSE_RATIO:
        return problem.gain.tolerance
    for i in range(n_visit):
        if worker.candidates[i].is_valid and (
            not problem.is_many_valued[worker.visit[i]]
        ):
            total += worker.candidates[i].gain
            n_counted += 1
    if n_counted == 0:
        return 1e300
    return total / n_counted - problem.gain.slack


cdef int64_t pick_candidate(
    const Problem* problem, const Worker* worker, const NodeView* view,
    int64_t n_visit, double least
) noexcept nogil:
    """The place of the winner in the list of columns, or -1."""
    cdef:
        double best = 0.0, score
        double margin = problem.gain.tolerance
        int64_t i, winner = -1
        bint by_gain = problem.gain.choice == CHOOSE_GAIN
        const Candidate* candidate
    if by_gain:
        best = -1e300
        margin = view.margin / view.totals.weight
    for i in range(n_visit):
        candidate = &worker.candidates[i]
        if not candidate.is_valid or (not by_gain and candidate.gain < least):
            continue
        score = candidate.gain if by_gain else candidate.ratio
        if score > best + margin:
            best = score
            winner = i
    if by_gain and winner >= 0 and best < problem.gain.min_gain - margin:
        return -1
    return winner


cdef bint may_win(
    const Problem* problem, const Candidate* candidate, const NodeView* view,
    double least
) noexcept nogil:
    """Whether a test could win if no other were there, and gains something."""
    cdef double margin = view.margin / view.totals.weight
    if not candidate.is_valid:
        return False
    if not decreases(problem, view, candidate.gain * view.totals.weight):
        return False
    if problem.gain.choice == CHOOSE_GAIN:
        return candidate.gain >= problem.gain.min_gain - margin
    return candidate.gain >= least and candidate.ratio > problem.gain.tolerance


# ------------------------------------------------------------------ all columns


cdef int64_t pick_best(
    const Problem* problem, const Worker* worker, const NodeView* view,
    int64_t n_visit, double least
) noexcept nogil:
    if problem.gain.choice == CHOOSE_SCORE:
        return pick_split(worker, view, n_visit)
    return pick_candidate(problem, worker, view, n_visit, least)


cdef bint may_be_taken(
    const Problem* problem, const Worker* worker, const NodeView* view, int64_t place,
    double least
) noexcept nogil:
    """Whether a test decreases the impurity, and by ``min_impurity_decrease``."""
    cdef const Split* split = &worker.splits[place]
    if problem.gain.choice == CHOOSE_SCORE:
        return split.column >= 0 and decreases(problem, view, split.decrease)
    return may_win(problem, &worker.candidates[place], view, least)


cdef void leave_out(
    const Problem* problem, Worker* worker, int64_t place
) noexcept nogil:
    if problem.gain.choice == CHOOSE_SCORE:
        worker.splits[place].column = -1
    else:
        worker.candidates[place].is_valid = False


cdef int64_t draw_split(
    const Problem* problem, Worker* worker, const NodeView* view, int64_t n_visit
) noexcept nogil:
    """The place of the best test in the list of columns, or -1; or that of one of the
    ``top_splits`` best tests, each as likely."""
    cdef:
        int64_t i, n_good = 0, n_before
        double least = find_least_gain(problem, worker, n_visit)
    if problem.top_splits > 1:
        for i in range(n_visit):
            n_good += may_be_taken(problem, worker, view, i, least)
    if n_good > 0:
        for i in range(n_visit):
            if not may_be_taken(problem, worker, view, i, least):
                leave_out(problem, worker, i)
        n_before = draw_place(view.random_state, min(n_good, problem.top_splits))
        # The best, the best of the rest, and so on: ties fall as they always do.
        while n_before > 0:
            leave_out(
                problem, worker, pick_best(problem, worker, view, n_visit, least)
            )
            n_before -= 1
    return pick_best(problem, worker, view, n_visit, least)


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
        search_columns(
            problem, arena, worker, all_workers, team, frame, view, n_visit, entries
        )
        i = draw_split(problem, worker, view, n_visit)
        if i >= 0:
            best.column = worker.visit[i]
            best.kind = problem.kind[best.column]
            best.position = worker.candidates[i].position
            best.n_children = worker.candidates[i].n_children
            best.score = worker.candidates[i].gain * view.totals.weight
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
        i = draw_split(problem, worker, view, n_visit)
        if i >= 0:
            best[0] = worker.splits[i]
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


include "_missing.pxi"
