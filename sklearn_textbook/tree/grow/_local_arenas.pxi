# Rows of small nodes of sorted columns, copied next to each other; part of _grower.pyx.


cdef void measure_table_column(
    const Problem* problem, Arena* table, int64_t column, int64_t n_ranks,
    int64_t n_present
) noexcept nogil:
    """How the values of a column of the table lie, where gains decide."""
    if table.spacing != NULL:
        measure_spacing(problem, table, column, NULL, n_ranks, n_present)


cdef void copy_subtree(
    const Problem* problem, const Arena* table, const Frame* frame,
    const int32_t* active, uint32_t* local_number, Arena* arena
) noexcept nogil:
    """Copy the rows of a node next to each other, with numbers of their own."""
    cdef:
        const uint64_t* first = <const uint64_t*>frame.entries + frame.start
        const uint64_t* cells = first + anchor_column(problem, active) * frame.stride
        int64_t i, column, n_ranks, n_present, n = frame.n_rows
        uint32_t* entries = <uint32_t*>arena.entries
        uint32_t* ranks
    copy_rows(problem, table, cells, n, frame.row_weight, local_number, arena)
    if problem.any_coded:
        copy_list(cells, n, entries + problem.n_columns * arena.stride)
    for i in range(frame.n_active):
        column = active[i]
        if problem.is_coded[column]:
            copy_codes(&table.codes, column, cells, n, arena)
            continue
        ranks = <uint32_t*>arena.ranks + column * arena.stride
        n_ranks = copy_column(
            first + column * frame.stride, n, local_number,
            entries + column * arena.stride, ranks
        )
        if arena.spacing == NULL:
            continue
        n_present = n - count_missing(first + column * frame.stride, n)
        arena.spacing[column].is_all_distinct = n_ranks == n_present
        arena.spacing[column].next_apart = NULL
        # What lies apart in the table lies apart in a subtree, too.
        if table.spacing[column].next_apart != NULL:
            measure_spacing(problem, arena, column, ranks, n_ranks, n_present)


cdef void enter_arena(
    Grower* grower, const int32_t* active, Arena* arena, Frame* frame
) noexcept nogil:
    """Copy the rows of a node into an arena, where its subtree is to grow."""
    copy_subtree(
        grower.problem, grower.table, frame, active, grower.local_number, arena
    )
    frame.arena = arena
    frame.entries = arena.entries
    frame.stride = arena.stride
    frame.block = NULL
    frame.has_own_weights = False
    frame.start = 0
