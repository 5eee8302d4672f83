"""ID3 and C4.5: the choice between the tests of all columns, and when to stop."""

from libc.stdint cimport uint64_t

from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook.tree.grow._workers cimport SharedNode
from sklearn_textbook.tree.split._best cimport decreases
from sklearn_textbook.tree.split._gain cimport evaluate_numeric_gain
from sklearn_textbook.tree.split._gain_nominal cimport evaluate_nominal_gain
from sklearn_textbook.tree.split._random cimport draw_place
from sklearn_textbook.tree.split._types cimport (
    CHOOSE_GAIN,
    CHOOSE_RATIO,
    SHARED_CELLS,
    Candidate,
    GainRules,
    Scratch,
)


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
            not problem.gain.is_many_valued[worker.visit[i]]
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


cdef bint may_be_drawn(
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


cdef int64_t draw_candidate(
    const Problem* problem, Worker* worker, const NodeView* view, int64_t n_visit,
    double least
) noexcept nogil:
    """The place of one of the ``top_splits`` best tests, each as likely; or -1."""
    cdef int64_t i, n_good = 0, n_before
    for i in range(n_visit):
        n_good += may_be_drawn(problem, &worker.candidates[i], view, least)
    if n_good == 0:
        return pick_candidate(problem, worker, view, n_visit, least)
    for i in range(n_visit):
        if not may_be_drawn(problem, &worker.candidates[i], view, least):
            worker.candidates[i].is_valid = False
    n_before = draw_place(view.random_state, min(n_good, problem.top_splits))
    # The best, the best of the rest, and so on: ties fall as they always do.
    while n_before > 0:
        worker.candidates[
            pick_candidate(problem, worker, view, n_visit, least)
        ].is_valid = False
        n_before -= 1
    return pick_candidate(problem, worker, view, n_visit, least)


cdef void evaluate_gain(
    const Problem* problem, const Arena* arena, Scratch* scratch, const Frame* frame,
    const NodeView* view, const Entry* entries, int64_t column, Candidate* candidate
) noexcept nogil:
    """The test of one column: counted by levels, or along the sorted values."""
    if problem.is_coded[column]:
        evaluate_nominal_gain(
            problem, &arena.rows, scratch, &arena.codes,
            entries + problem.n_columns * frame.stride + frame.start, view, column,
            candidate
        )
    else:
        evaluate_numeric_gain(
            problem, &arena.rows, scratch,
            entries + column * frame.stride + frame.start, &arena.spacing[column],
            view, column, candidate
        )


cdef void evaluate_shared(void* context, int64_t task, int thread) noexcept nogil:
    """The test of one column, by one of the threads."""
    cdef const SharedNode* node = <SharedNode*>context
    evaluate_gain(
        node.problem, node.arena, &node.all_workers[thread].scratch, node.frame,
        node.view, node.entries, node.worker.visit[task],
        &node.worker.candidates[task]
    )


cdef void choose_by_gain(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const NodeView* view, int64_t n_visit,
    Entry* entries, Split* best
) noexcept nogil:
    """The test of the node; ``best.column`` is -1 if it stays a leaf."""
    cdef:
        int64_t i, winner
        double least
        bint shared = False
        SharedNode node
    if Entry is uint64_t:
        shared = team != NULL and n_visit * frame.n_rows >= SHARED_CELLS
        if shared:
            node = SharedNode(
                problem, arena, worker, all_workers, frame, view, entries
            )
            run_tasks(team, evaluate_shared, &node, n_visit)
    if not shared:
        for i in range(n_visit):
            evaluate_gain(
                problem, arena, &worker.scratch, frame, view, entries,
                worker.visit[i], &worker.candidates[i]
            )
    least = find_least_gain(problem, worker, n_visit)
    if problem.top_splits > 1:
        winner = draw_candidate(problem, worker, view, n_visit, least)
    else:
        winner = pick_candidate(problem, worker, view, n_visit, least)
    if winner < 0:
        return
    best.column = worker.visit[winner]
    best.kind = problem.kind[best.column]
    best.position = worker.candidates[winner].position
    best.n_children = worker.candidates[winner].n_children
    best.score = worker.candidates[winner].gain * view.totals.weight
