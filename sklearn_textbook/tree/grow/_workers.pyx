"""What a thread works with, allocated once per tree and reused for every node; and the
sorted columns that it works on."""

from libc.stdint cimport uint64_t
from libc.string cimport memset

from sklearn_textbook.tree.grow._buffers cimport (
    Block,
    free_blocks,
    free_stack,
    start_stack,
)
from sklearn_textbook.tree.grow._children cimport Piece
from sklearn_textbook.tree.split._column cimport (
    count_missing,
    upper_value_of_rank,
    value_of_rank,
)
from sklearn_textbook.tree.split._median_set cimport MedianSet, count_mark_levels
from sklearn_textbook.tree.split._memory cimport (
    Memory,
    free_memory,
    take_doubles,
    take_memory,
    take_zeros,
)
from sklearn_textbook.tree.split._types cimport (
    ABSOLUTE_ERROR,
    CHOOSE_SCORE,
    GLOBAL_MISSING,
    LOCAL_MISSING,
    MISSING_SURROGATE,
    MAX_GROUPED,
    NOMINAL_COLUMN,
    SPLIT_SUBSET,
    Keyed,
    Target,
    rank_of,
    row_of,
)


cdef int64_t count_children(const Problem* problem) noexcept nogil:
    """Largest number of children of a node: a branch per level, and missing."""
    return max(3, problem.max_levels + 1)


cdef void start_levels(
    const Problem* problem, Scratch* scratch, Memory* memory
) noexcept nogil:
    """What the search of nominal columns works with."""
    cdef:
        int64_t size = problem.n_statistics
        int64_t slots = problem.max_levels + 2, n_pairs
    scratch.run_start = <int64_t*>take_memory(memory, slots + 1, sizeof(int64_t))
    scratch.run_rows = <int64_t*>take_memory(memory, slots, sizeof(int64_t))
    scratch.run_weight = take_doubles(memory, slots)
    scratch.run_sums = take_doubles(memory, slots * size)
    scratch.run_gain = take_doubles(memory, slots)
    if problem.is_smoothed != NULL:
        scratch.declared_side = <int32_t*>take_memory(memory, slots, sizeof(int32_t))
        scratch.run_smooth = take_doubles(memory, slots * size)
        scratch.left_smooth = take_doubles(memory, size)
        scratch.all_smooth = take_doubles(memory, size)
        scratch.all_sums = take_doubles(memory, size)
    scratch.run_order = <Keyed*>take_memory(memory, slots, sizeof(Keyed))
    scratch.run_side = <int32_t*>take_memory(memory, slots, sizeof(int32_t))
    scratch.best_side = <int32_t*>take_memory(memory, slots, sizeof(int32_t))
    scratch.run_level = <int32_t*>take_memory(memory, slots, sizeof(int32_t))
    # Zero between uses.
    scratch.level_counts = <int32_t*>take_zeros(memory, slots * size, sizeof(int32_t))
    scratch.level_rows = <int32_t*>take_zeros(memory, slots, sizeof(int32_t))
    if problem.gain.choice != CHOOSE_SCORE and (
        problem.categorical_split == SPLIT_SUBSET
    ):
        n_pairs = min(slots, MAX_GROUPED) * min(slots, MAX_GROUPED)
        scratch.pair_value = take_doubles(memory, n_pairs)
        scratch.pair_branches = take_doubles(memory, n_pairs)


cdef void start_median_set(
    MedianSet* known, int64_t n_rows, Memory* memory
) noexcept nogil:
    """Memory for sets of up to n_rows ranks."""
    cdef int64_t level, n = n_rows
    known.weight = take_doubles(memory, n_rows)
    known.moment = take_doubles(memory, n_rows)
    for level in range(count_mark_levels(n_rows)):
        n = (n + 63) // 64
        known.marks[level] = <uint64_t*>take_memory(memory, n, sizeof(uint64_t))


cdef void start_medians(
    const Problem* problem, Scratch* scratch, int64_t n_rows, const Scratch* lender,
    Memory* memory
) noexcept nogil:
    """What absolute error works with; the ranks of y may be those of the lender."""
    cdef int64_t n_values = n_rows * problem.n_outputs
    scratch.loss = take_doubles(memory, n_rows + 1)
    scratch.left_median = take_doubles(memory, n_rows + 1)
    scratch.right_median = take_doubles(memory, n_rows + 1)
    start_median_set(&scratch.medians, n_rows, memory)
    scratch.capacity = n_rows
    if lender != NULL:
        scratch.y_rank = lender.y_rank
        scratch.y_sorted = lender.y_sorted
        scratch.n_sorted = lender.n_sorted
        return
    scratch.y_rank = <int32_t*>take_memory(memory, n_values, sizeof(int32_t))
    scratch.y_sorted = take_doubles(memory, n_values)
    scratch.n_sorted = <int64_t*>take_memory(
        memory, problem.n_outputs, sizeof(int64_t)
    )
    scratch.targets = <Target*>take_memory(memory, n_rows, sizeof(Target))


cdef void start_children(
    const Problem* problem, Children* children, int64_t n_rows, Memory* memory
) noexcept nogil:
    """Memory for the children of a node: a branch per level and one for missing rows.
    With surrogates every missing row may be a piece of its own."""
    cdef:
        int64_t n = count_children(problem)
        int64_t size = problem.n_statistics
        int64_t n_pieces = problem.max_levels + 4
    if problem.missing_mode == MISSING_SURROGATE:
        n_pieces += n_rows
    children.pieces = <Piece*>take_memory(memory, n_pieces, sizeof(Piece))
    children.n_rows = <int64_t*>take_memory(memory, n, sizeof(int64_t))
    children.next_slot = <int64_t*>take_memory(memory, n, sizeof(int64_t))
    children.weight = take_doubles(memory, n)
    children.squares = take_doubles(memory, n)
    children.impurity = take_doubles(memory, n)
    children.sums = take_doubles(memory, n * size)
    children.values = take_doubles(memory, n * size)
    children.is_pure = <bint*>take_memory(memory, n, sizeof(bint))
    children.fraction = take_doubles(memory, n)
    children.missing_sums = take_doubles(memory, size)
    children.blocks = <Block**>take_zeros(memory, n, sizeof(Block*))


cdef int start_worker(
    const Problem* problem, Worker* worker, int64_t n_rows, int64_t entry_size,
    bint marks_rows, Worker* lender
) noexcept nogil:
    """Allocate for nodes of up to n_rows rows. Threads that only help with the
    columns of a node mark no rows and borrow the lender's ranks of y."""
    cdef:
        int64_t n_columns = problem.n_columns, size = problem.n_statistics
        Memory* memory = &worker.memory
        Scratch* scratch = &worker.scratch
    memset(worker, 0, sizeof(Worker))
    memory.in_files = problem.in_files
    scratch.left = <double*>take_zeros(memory, size, sizeof(double))
    scratch.right = <double*>take_zeros(memory, size, sizeof(double))
    scratch.present = <double*>take_zeros(memory, size, sizeof(double))
    scratch.missing = <double*>take_zeros(memory, size, sizeof(double))
    scratch.zeros = <double*>take_zeros(memory, size, sizeof(double))
    scratch.left_count = <int64_t*>take_zeros(memory, size, sizeof(int64_t))
    scratch.right_count = <int64_t*>take_zeros(memory, size, sizeof(int64_t))
    if problem.any_nominal:
        start_levels(problem, scratch, memory)
    if problem.criterion == ABSOLUTE_ERROR:
        start_medians(
            problem, scratch, n_rows, NULL if lender == NULL else &lender.scratch,
            memory
        )
    start_children(problem, &worker.children, n_rows, memory)
    start_stack(&worker.stack, n_columns)
    worker.spare = take_memory(memory, n_rows, entry_size)
    # Helpers search and move columns, the calling thread also decides and marks.
    if marks_rows:
        worker.visit = <int32_t*>take_memory(memory, n_columns, sizeof(int32_t))
        worker.order = <int32_t*>take_memory(memory, n_columns, sizeof(int32_t))
        worker.active = <int32_t*>take_memory(memory, n_columns, sizeof(int32_t))
        worker.moved = <int32_t*>take_memory(memory, n_columns + 1, sizeof(int32_t))
        worker.is_active = <uint8_t*>take_memory(
            memory, n_columns + count_children(problem), sizeof(uint8_t)
        )
        worker.splits = <Split*>take_memory(memory, n_columns, sizeof(Split))
        worker.candidates = <Candidate*>take_memory(
            memory, n_columns, sizeof(Candidate)
        )
        worker.node_sums = take_doubles(memory, size)
        worker.goes_left = <uint8_t*>take_memory(memory, n_rows, sizeof(uint8_t))
        worker.child_of_row = <int32_t*>take_memory(memory, n_rows, sizeof(int32_t))
    return -1 if memory.is_short else 0


cdef void free_worker(Worker* worker) noexcept nogil:
    """Free all but the buffer of nodes, which has been freed, or handed on, before."""
    free_memory(&worker.memory)
    free_blocks(&worker.blocks)
    free_stack(&worker.stack)
    memset(worker, 0, sizeof(Worker))


cdef int start_local_arena(
    const Problem* problem, Arena* arena, int64_t n_rows
) noexcept nogil:
    """Memory for a subtree of up to n_rows rows."""
    cdef:
        int64_t n_values = n_rows * problem.n_outputs
        int64_t n_cells = n_rows * problem.n_columns
        Memory* memory = &arena.memory
    memset(arena, 0, sizeof(Arena))
    arena.stride = n_rows
    arena.entries = take_memory(
        memory, count_slots(problem) * n_rows, sizeof(uint32_t)
    )
    if problem.any_coded:
        arena.codes.stride = n_rows
        arena.codes.start = <const uint32_t*>take_memory(
            memory, n_cells, sizeof(uint32_t)
        )
    arena.ranks = <const uint32_t*>take_memory(memory, n_cells, sizeof(uint32_t))
    if problem.is_classifier:
        arena.rows.label = <const int32_t*>take_memory(
            memory, n_values, sizeof(int32_t)
        )
    else:
        arena.rows.y = <const double*>take_memory(memory, n_values, sizeof(double))
    if problem.weighted:
        arena.rows.weight = <const double*>take_memory(
            memory, n_rows, sizeof(double)
        )
    return start_spacing(problem, arena, n_rows)


cdef int start_spacing(
    const Problem* problem, Arena* arena, int64_t n_ranks
) noexcept nogil:
    """Memory for the spacing of every column of n_ranks ranks, where gains decide."""
    cdef Memory* memory = &arena.memory
    if problem.gain.choice != CHOOSE_SCORE:
        arena.spacing_stride = n_ranks
        arena.spacing = <Spacing*>take_zeros(
            memory, problem.n_columns, sizeof(Spacing)
        )
        if problem.gain.resolution > 0.0:
            arena.next_apart = <uint32_t*>take_memory(
                memory, problem.n_columns * n_ranks, sizeof(uint32_t)
            )
    return -1 if memory.is_short else 0


cdef void free_arena(Arena* arena) noexcept nogil:
    """Free what the functions above have allocated."""
    free_memory(&arena.memory)
    memset(arena, 0, sizeof(Arena))


# ------------------------------------------------------- filling sorted columns


cdef void fill_column(
    const uint32_t* order, int64_t n_rows, int64_t n_missing,
    const uint32_t* row_number, const uint8_t* second_class, Entry* entries
) noexcept nogil:
    """Entries of one column from its sorted row numbers, whose highest bit marks
    a new value. Rows of weight 0 have no number and are left out."""
    cdef:
        int64_t i, n = 0
        uint32_t rank = <uint32_t>-1, row, shown
    for i in range(n_rows):
        # Ranks count up with the marks; rows that are left out count, too, so ranks are
        # those of the table.
        rank += order[i] >> 31
        row = order[i] & <uint32_t>0x7FFFFFFF
        if row_number != NULL:
            row = row_number[row]
            if row == <uint32_t>-1:
                continue
        if Entry is uint32_t:
            shown = rank if i < n_rows - n_missing else <uint32_t>LOCAL_MISSING
            entries[n] = shown << 16 | row << 1 | second_class[row]
        else:
            shown = rank if i < n_rows - n_missing else <uint32_t>GLOBAL_MISSING
            entries[n] = <uint64_t>shown << 32 | <uint64_t>row << 1 | second_class[row]
        n += 1


cdef void list_rows(
    int64_t n_rows, const uint8_t* second_class, Entry* entries
) noexcept nogil:
    """All rows, in their order."""
    cdef int64_t i
    for i in range(n_rows):
        entries[i] = <Entry>(i << 1 | second_class[i])


cdef void copy_list(
    const uint64_t* cells, int64_t n, uint32_t* entries
) noexcept nogil:
    """The list of a task's rows, by their local numbers."""
    cdef int64_t i
    for i in range(n):
        entries[i] = <uint32_t>(i << 1) | <uint32_t>(cells[i] & 1)


cdef void copy_codes(
    const Codes* codes, int64_t column, const uint64_t* cells, int64_t n, Arena* arena
) noexcept nogil:
    """The level codes of a task's rows, by their local numbers."""
    cdef:
        const uint32_t* source = codes.start + column * codes.stride
        uint32_t* local = <uint32_t*>arena.codes.start + column * arena.codes.stride
        int64_t i
    for i in range(n):
        local[i] = source[row_of(cells[i])]


cdef void copy_rows(
    const Problem* problem, const Arena* table, const Entry* cells, int64_t n,
    const double* row_weight, uint32_t* local_number, Arena* arena
) noexcept nogil:
    """Number a task's rows 0, 1, ... and copy what is known of them."""
    cdef:
        int64_t i, output, n_outputs = problem.n_outputs
        int64_t row
        int32_t* label = <int32_t*>arena.rows.label
        double* y = <double*>arena.rows.y
        double* weight = <double*>arena.rows.weight
    for i in range(n):
        row = row_of(cells[i])
        # Columns look up the new number of a row here.
        local_number[row] = <uint32_t>i
        for output in range(n_outputs):
            if problem.is_classifier:
                label[i * n_outputs + output] = (
                    table.rows.label[row * n_outputs + output]
                )
            else:
                y[i * n_outputs + output] = table.rows.y[row * n_outputs + output]
        if row_weight != NULL:
            weight[i] = row_weight[i]
        elif problem.weighted:
            weight[i] = table.rows.weight[row]


cdef void measure_spacing(
    const Problem* problem, Arena* arena, int64_t column, const uint32_t* ranks,
    int64_t n_ranks, int64_t n_present
) noexcept nogil:
    """Find out whether a value occurs twice, and which ranks lie too close together
    for a threshold; ``ranks`` as in ``value_of_rank``."""
    cdef:
        Spacing* spacing = &arena.spacing[column]
        uint32_t* next_apart = arena.next_apart + column * arena.spacing_stride
        int64_t rank, above = 0
        double limit
        bint any_close = False
    spacing.is_all_distinct = n_ranks == n_present
    spacing.next_apart = NULL
    if arena.next_apart == NULL or problem.kind[column] == NOMINAL_COLUMN:
        return
    # Both ends of the gap only rise, so one pass finds all.
    for rank in range(n_ranks):
        limit = upper_value_of_rank(problem, column, ranks, <uint32_t>rank)
        limit += problem.gain.resolution
        above = max(above, rank + 1)
        while above < n_ranks and value_of_rank(
            problem, column, ranks, <uint32_t>above
        ) <= limit:
            above += 1
        next_apart[rank] = <uint32_t>above
        any_close = any_close or above > rank + 1
    if any_close:
        spacing.next_apart = next_apart


cdef int64_t copy_column(
    const uint64_t* cells, int64_t n, const uint32_t* local_number,
    uint32_t* entries, uint32_t* ranks
) noexcept nogil:
    """One column of a task: dense ranks, local row numbers. Returns the number of
    ranks."""
    cdef:
        int64_t i, n_present = n - count_missing(cells, n)
        uint32_t rank = <uint32_t>-1, previous = <uint32_t>-1, shown
    for i in range(n):
        shown = rank_of(cells[i])
        if i < n_present:
            # Ranks of the rows at hand, without gaps; ``ranks`` leads back to those of
            # the table.
            rank += shown != previous
            previous = shown
            ranks[rank] = shown
            shown = rank
        else:
            shown = LOCAL_MISSING
        entries[i] = (
            shown << 16 | local_number[row_of(cells[i])] << 1
            | <uint32_t>(cells[i] & 1)
        )
    return <int64_t>rank + 1 if n_present > 0 else 0
