"""Room for the threads: allocated once per tree, reused for every node."""

from libc.stdint cimport uint16_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from sklearn_textbook.tree.grow._buffers cimport (
    Block,
    free_blocks,
    free_stack,
    start_stack,
)
from sklearn_textbook.tree.grow._measure cimport Piece
from sklearn_textbook.tree.split._types cimport (
    ABSOLUTE_ERROR,
    CHOOSE_SCORE,
    MOST_GROUPED,
    MISSING_SURROGATE,
    SPLIT_SUBSET,
    Keyed,
)


cdef int64_t count_children(const Problem* problem) noexcept nogil:
    """Largest number of children of a node: a branch per level, and missing."""
    return max(3, problem.max_levels + 1)


cdef int start_scratch(
    const Problem* problem, Scratch* scratch, int64_t n_rows, Scratch* lender
) noexcept nogil:
    cdef:
        int64_t size = problem.n_statistics
        int64_t slots = problem.max_levels + 2
        int64_t n_outputs = problem.n_outputs, n_pairs
        bint complete
    # One block of zeroed doubles serves all the short vectors.
    scratch.left = <double*>calloc(5 * size, sizeof(double))
    scratch.left_count = <int64_t*>calloc(2 * size, sizeof(int64_t))
    complete = scratch.left != NULL and scratch.left_count != NULL
    if complete:
        scratch.right = scratch.left + size
        scratch.present = scratch.left + 2 * size
        scratch.missing = scratch.left + 3 * size
        scratch.zeros = scratch.left + 4 * size
        scratch.right_count = scratch.left_count + size
    if problem.any_nominal:
        scratch.run_start = <int64_t*>malloc((slots + 1) * sizeof(int64_t))
        scratch.run_rows = <int64_t*>malloc(slots * sizeof(int64_t))
        scratch.run_weight = <double*>malloc(slots * sizeof(double))
        scratch.run_sums = <double*>malloc(slots * size * sizeof(double))
        scratch.run_gain = <double*>malloc(slots * sizeof(double))
        scratch.run_order = <Keyed*>malloc(slots * sizeof(Keyed))
        scratch.run_side = <int32_t*>malloc(slots * sizeof(int32_t))
        scratch.best_side = <int32_t*>malloc(slots * sizeof(int32_t))
        scratch.run_level = <int32_t*>malloc(slots * sizeof(int32_t))
        # Zero between uses.
        scratch.level_counts = <int32_t*>calloc(slots * size, sizeof(int32_t))
        scratch.level_rows = <int32_t*>calloc(slots, sizeof(int32_t))
        if problem.gain.choice != CHOOSE_SCORE and (
            problem.categorical_split == SPLIT_SUBSET
        ):
            n_pairs = min(slots, MOST_GROUPED) * min(slots, MOST_GROUPED)
            scratch.pair_value = <double*>malloc(2 * n_pairs * sizeof(double))
            complete = complete and scratch.pair_value != NULL
            if complete:
                scratch.pair_branches = scratch.pair_value + n_pairs
        complete = complete and (
            scratch.run_start != NULL and scratch.run_rows != NULL
            and scratch.run_weight != NULL and scratch.run_sums != NULL
            and scratch.run_gain != NULL and scratch.run_order != NULL
            and scratch.run_side != NULL and scratch.best_side != NULL
            and scratch.run_level != NULL and scratch.level_counts != NULL
            and scratch.level_rows != NULL
        )
    if problem.criterion == ABSOLUTE_ERROR:
        scratch.loss = <double*>malloc(3 * (n_rows + 1) * sizeof(double))
        scratch.tree_weight = <double*>malloc(2 * (n_rows + 2) * sizeof(double))
        complete = complete and scratch.loss != NULL and scratch.tree_weight != NULL
        if complete:
            scratch.left_median = scratch.loss + n_rows + 1
            scratch.right_median = scratch.loss + 2 * (n_rows + 1)
            scratch.tree_moment = scratch.tree_weight + n_rows + 2
        scratch.capacity = n_rows
        if lender != NULL:
            scratch.y_rank = lender.y_rank
            scratch.y_sorted = lender.y_sorted
            scratch.n_sorted = lender.n_sorted
        else:
            scratch.y_rank = <int32_t*>malloc(n_rows * n_outputs * sizeof(int32_t))
            scratch.y_sorted = <double*>malloc(n_rows * n_outputs * sizeof(double))
            scratch.n_sorted = <int64_t*>malloc(n_outputs * sizeof(int64_t))
            complete = complete and (
                scratch.y_rank != NULL and scratch.y_sorted != NULL
                and scratch.n_sorted != NULL
            )
    return 0 if complete else -1


cdef void free_scratch(Scratch* scratch, const Scratch* lender) noexcept nogil:
    free(scratch.left)
    free(scratch.left_count)
    free(scratch.run_start)
    free(scratch.run_rows)
    free(scratch.run_weight)
    free(scratch.run_sums)
    free(scratch.run_gain)
    free(scratch.run_order)
    free(scratch.run_side)
    free(scratch.best_side)
    free(scratch.run_level)
    free(scratch.level_counts)
    free(scratch.level_rows)
    free(scratch.pair_value)
    free(scratch.loss)
    free(scratch.tree_weight)
    if lender == NULL or lender == scratch:
        free(scratch.y_rank)
        free(scratch.y_sorted)
        free(scratch.n_sorted)


cdef int start_children(
    const Problem* problem, Children* children, int64_t n_rows
) noexcept nogil:
    cdef:
        int64_t n = count_children(problem)
        int64_t size = problem.n_statistics
        int64_t n_pieces = problem.max_levels + 4
    if problem.missing_mode == MISSING_SURROGATE:
        n_pieces += n_rows
    children.pieces = <Piece*>malloc(n_pieces * sizeof(Piece))
    children.n_rows = <int64_t*>malloc(3 * n * sizeof(int64_t))
    children.weight = <double*>malloc(3 * n * sizeof(double))
    children.sums = <double*>malloc(2 * n * size * sizeof(double))
    children.is_pure = <bint*>malloc(n * sizeof(bint))
    children.share = <double*>malloc((n + size) * sizeof(double))
    children.blocks = <Block**>calloc(n, sizeof(Block*))
    if (
        children.pieces == NULL or children.n_rows == NULL or children.weight == NULL
        or children.sums == NULL or children.is_pure == NULL
        or children.share == NULL or children.blocks == NULL
    ):
        return -1
    children.fixed = children.n_rows + n
    children.next_slot = children.n_rows + 2 * n
    children.squares = children.weight + n
    children.impurity = children.weight + 2 * n
    children.values = children.sums + n * size
    children.missing_sums = children.share + n
    return 0


cdef int start_worker(
    const Problem* problem, Worker* worker, int64_t n_rows, int64_t entry_size,
    bint marks_rows, Worker* lender
) noexcept nogil:
    """Allocate for nodes of up to n_rows rows. Threads that only help with the
    columns of a node mark no rows and borrow the lender's ranks of y."""
    cdef:
        int64_t n_columns = problem.n_columns
        bint complete
    memset(worker, 0, sizeof(Worker))
    complete = start_scratch(
        problem, &worker.scratch, n_rows, NULL if lender == NULL else &lender.scratch
    ) == 0
    complete = start_children(problem, &worker.children, n_rows) == 0 and complete
    start_stack(&worker.stack, n_columns)
    worker.spare = malloc(n_rows * entry_size)
    complete = complete and worker.spare != NULL
    if marks_rows:
        worker.visit = <int32_t*>malloc((4 * n_columns + 1) * sizeof(int32_t))
        worker.is_active = <uint8_t*>malloc(n_columns + count_children(problem))
        worker.splits = <Split*>malloc(n_columns * sizeof(Split))
        worker.candidates = <Candidate*>malloc(n_columns * sizeof(Candidate))
        worker.node_sums = <double*>malloc(problem.n_statistics * sizeof(double))
        worker.goes_left = <uint8_t*>malloc(n_rows)
        worker.child_of_row = <int32_t*>malloc(n_rows * sizeof(int32_t))
        complete = complete and (
            worker.visit != NULL and worker.is_active != NULL
            and worker.splits != NULL and worker.candidates != NULL
            and worker.node_sums != NULL
            and worker.goes_left != NULL and worker.child_of_row != NULL
        )
        if worker.visit != NULL:
            worker.order = worker.visit + n_columns
            worker.active = worker.visit + 2 * n_columns
            worker.moved = worker.visit + 3 * n_columns
    return 0 if complete else -1


cdef void free_worker(Worker* worker, const Worker* lender) noexcept nogil:
    free_scratch(
        &worker.scratch, NULL if lender == NULL else &lender.scratch
    )
    free(worker.children.pieces)
    free(worker.children.n_rows)
    free(worker.children.weight)
    free(worker.children.sums)
    free(worker.children.is_pure)
    free(worker.children.share)
    free(worker.children.blocks)
    free_blocks(&worker.blocks)
    free_stack(&worker.stack)
    free(worker.visit)
    free(worker.is_active)
    free(worker.splits)
    free(worker.candidates)
    free(worker.node_sums)
    free(worker.spare)
    free(worker.goes_left)
    free(worker.child_of_row)
    memset(worker, 0, sizeof(Worker))


cdef int start_local_arena(
    const Problem* problem, Arena* arena, int64_t n_rows
) noexcept nogil:
    """Room for a subtree of up to n_rows rows."""
    cdef int64_t n_outputs = problem.n_outputs
    memset(arena, 0, sizeof(Arena))
    arena.stride = n_rows
    arena.entries = malloc(count_slots(problem) * n_rows * sizeof(uint32_t))
    if problem.any_coded:
        arena.codes.stride = n_rows
        arena.codes.is_wide = problem.has_wide_codes
        arena.codes.start = malloc(
            problem.n_columns * n_rows
            * (sizeof(uint32_t) if problem.has_wide_codes else sizeof(uint16_t))
        )
        if arena.codes.start == NULL:
            return -1
    arena.ranks = <const uint32_t*>malloc(
        problem.n_columns * n_rows * sizeof(uint32_t)
    )
    if problem.is_classifier:
        arena.rows.label = <const int32_t*>malloc(n_rows * n_outputs * sizeof(int32_t))
    else:
        arena.rows.y = <const double*>malloc(n_rows * n_outputs * sizeof(double))
        arena.rows.fixed = <const int64_t*>malloc(n_rows * sizeof(int64_t))
    if problem.weighted:
        arena.rows.weight = <const double*>malloc(n_rows * sizeof(double))
    if start_spacing(problem, arena, n_rows) < 0:
        return -1
    if arena.entries == NULL or arena.ranks == NULL:
        return -1
    if problem.weighted and arena.rows.weight == NULL:
        return -1
    if problem.is_classifier:
        return 0 if arena.rows.label != NULL else -1
    return 0 if arena.rows.y != NULL and arena.rows.fixed != NULL else -1


cdef int start_spacing(
    const Problem* problem, Arena* arena, int64_t n_ranks
) noexcept nogil:
    """Room for the spacing of every column of n_ranks ranks, where gains decide."""
    if problem.gain.choice == CHOOSE_SCORE:
        return 0
    arena.spacing_stride = n_ranks
    arena.spacing = <Spacing*>calloc(problem.n_columns, sizeof(Spacing))
    if problem.gain.resolution > 0.0:
        arena.next_apart = <uint32_t*>malloc(
            problem.n_columns * n_ranks * sizeof(uint32_t)
        )
        if arena.next_apart == NULL:
            return -1
    return 0 if arena.spacing != NULL else -1


cdef void free_spacing(Arena* arena) noexcept nogil:
    free(arena.spacing)
    free(arena.next_apart)
    arena.spacing = NULL
    arena.next_apart = NULL


cdef void free_local_arena(Arena* arena) noexcept nogil:
    free_spacing(arena)
    free(arena.entries)
    free(<void*>arena.ranks)
    free(<void*>arena.codes.start)
    free(<void*>arena.rows.label)
    free(<void*>arena.rows.y)
    free(<void*>arena.rows.fixed)
    free(<void*>arena.rows.weight)
    memset(arena, 0, sizeof(Arena))
