"""The best test of one node over all of its columns.

A column is searched for itself, by threads in a large node, and the winner is chosen in
the order of the columns. Where one thread searches a copied subtree, the best split is
passed from column to column instead, which gives the same winner.
"""

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
from sklearn_textbook.tree.grow._layout cimport Node, Surrogate
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
    # Scores that differ by less are ties.
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
        # Not sorted: the rows are listed behind the last column.
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
        # The list of rows is partitioned with the columns.
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
    # The first of equal ones.
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
    # Gains are differences of sums, so ties are those of scores.
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
    """The place of the best test in the list of columns, or -1."""
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
    """Withdraw a test, so that the next best is picked."""
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
    # Tests without a decrease are taken only if there are no others.
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
            # For levels, whose search has to be repeated from the same start.
            if best.column != held.column:
                before[0] = held


# ------------------------------------------------------------------------------------
# Rows whose value is missing in the split column: which child they go to.
# ------------------------------------------------------------------------------------


cdef void mark_rows(
    const Children* children, const Entry* cells, int32_t* child_of_row
) noexcept nogil:
    """Write the child of every row of the pieces; rows that are sent nowhere have -1.
    """
    cdef int64_t p, i
    for p in range(children.n_pieces):
        for i in range(children.pieces[p].start, children.pieces[p].stop):
            child_of_row[row_of(cells[i])] = children.pieces[p].child


cdef inline double own_weight_of(
    const Problem* problem, const Rows* rows, uint32_t row
) noexcept nogil:
    """Weight of a row without the factor that costs give its class."""
    cdef double weight = weight_of(rows, row)
    if problem.class_factor != NULL:
        weight /= problem.class_factor[rows.label[row]]
    return weight


cdef int keep_surrogate(
    const Problem* problem, NodeBuffer* buffer, const Frame* frame,
    const SurrogateTest* test, double total, int64_t map_start
) noexcept nogil:
    """Append the record of a surrogate. ``total`` is the weight of the rows that the
    chosen test sends. Returns -1 when memory runs out."""
    cdef Surrogate* record
    if reserve_surrogates(buffer, 1) < 0:
        return -1
    record = &buffer.surrogates[buffer.n_surrogates]
    record.node = frame.node
    record.feature = test.column
    record.kind = problem.kind[test.column]
    record.low_branch = test.low_child
    record.map_start = map_start
    record.threshold = test.threshold
    record.agreement = test.agreement / total
    record.adjusted_agreement = test.adjusted
    record.n_used = test.n_used
    buffer.n_surrogates += 1
    return 0


cdef int settle_surrogate(
    const Problem* problem, const Arena* arena, Worker* worker, const Frame* frame,
    const Entry* cells, const double* target_weight, SurrogateTest* test
) noexcept nogil:
    """Work out the threshold or the level map, and keep the record."""
    cdef:
        int64_t column = test.column, map_start = -1, n_present, n_runs
        const uint32_t* ranks = column_ranks(arena, column)
    test.threshold = NAN
    if problem.kind[column] == NOMINAL_COLUMN:
        n_present = frame.n_rows - count_missing(cells, frame.n_rows)
        divide_surrogate_runs(
            problem, &arena.rows, &worker.scratch, cells, n_present,
            worker.child_of_row, target_weight
        )
        n_runs = list_levels(
            problem, cells, ranks, column, n_present, worker.scratch.run_level
        )
        map_start = write_level_map(
            problem, &worker.buffer, column, n_runs, worker.scratch.run_level,
            worker.scratch.run_side, False
        )
        if map_start < 0:
            return -1
    else:
        test.threshold = midpoint(
            upper_value_of_rank(
                problem, column, ranks, rank_of(cells[test.position - 1])
            ),
            value_of_rank(problem, column, ranks, rank_of(cells[test.position])),
        )
    return keep_surrogate(
        problem, &worker.buffer, frame, test, target_weight[0] + target_weight[1],
        map_start
    )


cdef inline bint is_monotonic(const Problem* problem, int64_t column) noexcept nogil:
    """Whether the column has a monotonic constraint."""
    return problem.monotonic != NULL and problem.monotonic[column] != 0


cdef int send_by_surrogates(
    const Problem* problem, Arena* arena, Worker* worker, const Frame* frame,
    Entry* entries, const Split* split, const double* target_weight
) noexcept nogil:
    """Rank the surrogates of a binary test and let them send the missing rows."""
    cdef:
        SurrogateTest ranked[MAX_SURROGATES]
        int64_t n_ranked = 0, i, column, n_runs
        int32_t* levels = worker.scratch.run_level
        Entry* cells
        SurrogateTest* test
        Surrogate* record
    for i in range(frame.n_active):
        if must_stop(problem.interrupt, frame.n_rows):
            return -1
        column = worker.active[i]
        # A surrogate may send larger values to the child with the smaller value.
        if column != split.column and not is_monotonic(problem, column):
            n_ranked = rank_surrogate(
                problem, &arena.rows, &worker.scratch,
                entries + column * frame.stride + frame.start, frame.n_rows,
                worker.child_of_row, target_weight, column, ranked, n_ranked
            )
    # Levels are mapped by the targets alone, so before any row is sent.
    for i in range(n_ranked):
        cells = entries + ranked[i].column * frame.stride + frame.start
        if settle_surrogate(
            problem, arena, worker, frame, cells, target_weight, &ranked[i]
        ) < 0:
            return -1
    for i in range(n_ranked):
        test = &ranked[i]
        column = test.column
        cells = entries + column * frame.stride + frame.start
        record = &worker.buffer.surrogates[worker.buffer.n_surrogates - n_ranked + i]
        if test.position < 0:
            # All columns share run_side: fill it again.
            n_runs = list_levels(
                problem, cells, column_ranks(arena, column), column,
                frame.n_rows - count_missing(cells, frame.n_rows), levels
            )
            read_run_children(
                worker.buffer.level_branch + record.map_start, n_runs, levels,
                worker.scratch.run_side
            )
        send_rows(
            cells, frame.n_rows, test, worker.scratch.run_side, worker.child_of_row
        )
        record.n_used = test.n_used
    return 0


cdef int send_missing_rows(
    const Problem* problem, Arena* arena, Worker* worker, const Frame* frame,
    Entry* entries, const Split* split
) noexcept nogil:
    """Surrogate strategy: a child, or none, for every row that misses the test."""
    cdef:
        Children* children = &worker.children
        Entry* cells = entries + split.column * frame.stride + frame.start
        int64_t p, i, child, heaviest = 0
        double* target_weight = children.weight
        double total = 0.0, margin
        bint tied = False
    mark_rows(children, cells, worker.child_of_row)
    memset(target_weight, 0, children.n_children * sizeof(double))
    # What the chosen test sends to each child, by weight.
    for p in range(children.n_pieces):
        for i in range(children.pieces[p].start, children.pieces[p].stop):
            child = children.pieces[p].child
            if child < 0:
                worker.child_of_row[row_of(cells[i])] = NOT_SENT
            else:
                target_weight[child] += own_weight_of(
                    problem, &arena.rows, row_of(cells[i])
                )
    for child in range(children.n_children):
        total += target_weight[child]
    # Weights that are equal but for rounding are tied.
    margin = 1e-12 * total
    for child in range(1, children.n_children):
        if target_weight[child] > target_weight[heaviest] + margin:
            heaviest = child
            tied = False
        elif target_weight[child] >= target_weight[heaviest] - margin:
            tied = True
    if children.n_children == 2 and send_by_surrogates(
        problem, arena, worker, frame, entries, split, target_weight
    ) < 0:
        return -1
    for p in range(children.n_pieces):
        if children.pieces[p].child < 0:
            child = worker.child_of_row[row_of(cells[children.pieces[p].start])]
            if child == NOT_SENT:
                # No surrogate could send it: to the heavier child, or nowhere if they
                # are tied.
                child = -1 if tied else heaviest
            children.pieces[p].child = <int32_t>child
    return 0


cdef void drop_surrogates(NodeBuffer* buffer, int32_t node) noexcept nogil:
    """Take back the surrogates of a node that stays a leaf after all."""
    while buffer.n_surrogates and (
        buffer.surrogates[buffer.n_surrogates - 1].node == node
    ):
        buffer.n_surrogates -= 1


# ------------------------------------------------------------- surrogate splits
# Tests on other columns that imitate the chosen one.
# Breiman et al. (1984), 5.3.1, with the rules of R's rpart (surrogatestyle 0). The
# target of a row is the child that the chosen test sends it to; rows whose value is
# missing there have none.


cdef enum:
    MIN_ROWS = 2  # rows a surrogate needs on each side


cdef bint imitate_by_threshold(
    const Problem* problem, const Rows* rows, const Entry* entries, int64_t n_present,
    const int32_t* child_of_row, double margin, SurrogateTest* test
) noexcept nogil:
    """The threshold that agrees best with the targets, low values in either child;
    whether one agrees more than the majority.

    The agreement is the weight of the rows that are sent as by the chosen test. All
    rows in the heavier child agree by its weight already, which is what a surrogate
    must beat.
    """
    cdef:
        double total[2]
        double below[2]
        double best, low_right, low_left
        int64_t i, n_targets = 0, n_below = 0
        int32_t child
        bint found = False
    total[0] = total[1] = below[0] = below[1] = 0.0
    for i in range(n_present):
        child = child_of_row[row_of(entries[i])]
        if child >= 0:
            total[child] += own_weight_of(problem, rows, row_of(entries[i]))
            n_targets += 1
    best = total[0] if total[0] > total[1] else total[1]
    # Rows up to i - 1 are below the threshold; rows without target count nothing.
    for i in range(1, n_present):
        child = child_of_row[row_of(entries[i - 1])]
        if child >= 0:
            below[child] += own_weight_of(problem, rows, row_of(entries[i - 1]))
            n_below += 1
        if rank_of(entries[i]) == rank_of(entries[i - 1]):
            continue
        if n_below < MIN_ROWS or n_targets - n_below < MIN_ROWS:
            continue
        # Rows with low values go to child 1, or to child 0.
        low_right = below[1] + (total[0] - below[0])
        low_left = below[0] + (total[1] - below[1])
        if low_right > best + margin:
            best = low_right
            test.low_child = 1
        elif low_left > best + margin:
            best = low_left
            test.low_child = 0
        else:
            continue
        test.position = i
        test.agreement = best
        found = True
    return found


cdef int32_t imitate_level(
    const double* weight, double margin, const double* column_weight
) noexcept nogil:
    """Child that a level goes to: the heavier one."""
    if fabs(weight[0] - weight[1]) <= margin:
        weight = column_weight
    if fabs(weight[0] - weight[1]) <= margin:
        return 1
    return 0 if weight[0] > weight[1] else 1


cdef double agree_without_itself(
    const double* weight, int64_t n_rows, int32_t child, double margin,
    const double* column_weight
) noexcept nogil:
    """Weight of the rows of a level that the others of the level send the right way.

    Rows against the majority are sent wrong. Those of the majority are sent right if
    the level keeps its child without one of them, of the mean weight.
    """
    cdef double others[2]
    others[child] = weight[child] - (weight[0] + weight[1]) / n_rows
    others[1 - child] = weight[1 - child]
    if imitate_level(others, margin, column_weight) == child:
        return weight[child]
    return 0.0


cdef bint imitate_by_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    int64_t n_present, const int32_t* child_of_row, double margin, bint is_smoothed,
    SurrogateTest* test
) noexcept nogil:
    """Child of every run of equal levels into scratch.run_side, -1 if unknown.

    With many levels of few rows, their majorities agree with anything. So the agreement
    of smoothed columns is that of every row with the other rows of its level.
    """
    cdef:
        double column_weight[2]
        double weight[2]
        int64_t n_rows[2]
        int64_t i, run = 0, agreeing = 0, disagreeing = 0
        int32_t child
    column_weight[0] = column_weight[1] = 0.0
    # Weights of all rows with a value and a target, which decide ties within a level.
    for i in range(n_present):
        child = child_of_row[row_of(entries[i])]
        if child >= 0:
            column_weight[child] += own_weight_of(problem, rows, row_of(entries[i]))
    test.agreement = 0.0
    test.position = -1
    test.low_child = -1
    weight[0] = weight[1] = 0.0
    n_rows[0] = n_rows[1] = 0
    # Level by level.
    for i in range(n_present):
        child = child_of_row[row_of(entries[i])]
        if child >= 0:
            weight[child] += own_weight_of(problem, rows, row_of(entries[i]))
            n_rows[child] += 1
        if i + 1 < n_present and rank_of(entries[i + 1]) == rank_of(entries[i]):
            continue
        # The run ends here.
        if n_rows[0] + n_rows[1] == 0:
            scratch.run_side[run] = -1
        else:
            child = imitate_level(weight, margin, column_weight)
            scratch.run_side[run] = child
            if is_smoothed:
                test.agreement += agree_without_itself(
                    weight, n_rows[0] + n_rows[1], child, margin, column_weight
                )
            else:
                test.agreement += weight[child]
            agreeing += n_rows[child]
            disagreeing += n_rows[1 - child]
        run += 1
        weight[0] = weight[1] = 0.0
        n_rows[0] = n_rows[1] = 0
    return agreeing >= MIN_ROWS and disagreeing >= MIN_ROWS


cdef int64_t rank_surrogate(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n, const int32_t* child_of_row,
    const double* target_weight, int64_t column, SurrogateTest* ranked,
    int64_t n_ranked
) noexcept nogil:
    """Put a column's best imitation into the ranked list; returns its length."""
    cdef:
        double total = target_weight[0] + target_weight[1]
        double majority = max(target_weight[0], target_weight[1])
        double margin = 1e-12 * total
        int64_t n_present = n - count_missing(entries, n)
        int64_t place
        SurrogateTest test
        bint found
    test.column = <int32_t>column
    test.n_used = 0
    if problem.kind[column] == NOMINAL_COLUMN:
        found = imitate_by_levels(
            problem, rows, scratch, entries, n_present, child_of_row, margin,
            smooths_levels(problem, column), &test
        )
    else:
        found = imitate_by_threshold(
            problem, rows, entries, n_present, child_of_row, margin, &test
        )
    if not found or total <= majority:
        return n_ranked
    # 0 if it is no better than to follow the majority, 1 if all rows are sent right.
    test.adjusted = (test.agreement - majority) / (total - majority)
    if test.adjusted <= 1e-10:
        return n_ranked
    place = n_ranked
    # By insertion, so that the first column of equal ones stands first.
    while place > 0 and test.agreement > ranked[place - 1].agreement + margin:
        if place < MAX_SURROGATES:
            ranked[place] = ranked[place - 1]
        place -= 1
    if place >= MAX_SURROGATES:
        return n_ranked
    ranked[place] = test
    return n_ranked + 1 if n_ranked < MAX_SURROGATES else n_ranked


cdef void divide_surrogate_runs(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    int64_t n_present, const int32_t* child_of_row, const double* target_weight
) noexcept nogil:
    """Write the child of every run of equal levels into scratch.run_side again."""
    cdef SurrogateTest test
    imitate_by_levels(
        problem, rows, scratch, entries, n_present, child_of_row,
        1e-12 * (target_weight[0] + target_weight[1]), False, &test
    )


cdef void send_rows(
    const Entry* entries, int64_t n, SurrogateTest* test,
    const int32_t* run_child, int32_t* child_of_row
) noexcept nogil:
    """Send the rows that await their child and whose value is present here."""
    cdef:
        int64_t n_present = n - count_missing(entries, n), i, run = -1
        int32_t child
    for i in range(n_present):
        if i == 0 or rank_of(entries[i]) != rank_of(entries[i - 1]):
            run += 1
        if child_of_row[row_of(entries[i])] != NOT_SENT:
            continue
        # A threshold, or levels.
        if test.position >= 0:
            child = test.low_child if i < test.position else 1 - test.low_child
        else:
            child = run_child[run]
        if child >= 0:
            child_of_row[row_of(entries[i])] = child
            test.n_used += 1
