# Moving the rows of a node into its children, one sorted column at a time; part of
# _grower.pyx.
#
# All partitions are stable, so every child's column stays sorted and its missing
# rows stay last.

cdef enum:
    FEW_ROWS = 12  # up to here a loop is faster than a call
    IN_ALL = -3  # child of a row that goes into several


cdef void partition_two(
    Entry* entries, int64_t n, const uint8_t* goes_left, Entry* spare
) noexcept nogil:
    """Left rows to the front, right rows to the back."""
    cdef:
        int64_t i, n_left = 0, n_right
        Entry entry
    # Both stores happen always; only the counter depends on the side.
    for i in range(n):
        entry = entries[i]
        entries[n_left] = entry
        spare[i - n_left] = entry
        n_left += goes_left[row_of(entry)]
    n_right = n - n_left
    if n_right > FEW_ROWS:
        memcpy(entries + n_left, spare, n_right * sizeof(Entry))
    else:
        for i in range(n_right):
            entries[n_left + i] = spare[i]


cdef void partition_many(
    Entry* entries, int64_t n, const int32_t* child_of_row, int64_t* next_slot,
    Entry* spare
) noexcept nogil:
    """Rows of child c from next_slot[c] on; rows of child -1 are dropped."""
    cdef:
        int64_t i
        int32_t child
        Entry entry
    for i in range(n):
        entry = entries[i]
        child = child_of_row[row_of(entry)]
        if child >= 0:
            spare[next_slot[child]] = entry
            next_slot[child] += 1
    memcpy(entries, spare, n * sizeof(Entry))


cdef bint mark_sides(
    Worker* worker, const Frame* frame, const Entry* cells, bint is_marked
) noexcept nogil:
    """Write the child of every row; whether all go to two children, by goes_left."""
    cdef:
        Children* children = &worker.children
        int64_t p, i, n_sent = 0
        uint8_t side
    for i in range(children.n_children):
        n_sent += children.n_rows[i]
    if children.n_children != 2 or n_sent != frame.n_rows:
        if not is_marked:
            mark_rows(children, cells, worker.child_of_row)
        return False
    if is_marked:
        for i in range(frame.n_rows):
            worker.goes_left[row_of(cells[i])] = (
                worker.child_of_row[row_of(cells[i])] == 0
            )
        return True
    for p in range(children.n_pieces):
        side = <uint8_t>(1 - children.pieces[p].child)
        for i in range(children.pieces[p].start, children.pieces[p].stop):
            worker.goes_left[row_of(cells[i])] = side
    return True


# How the columns of a node move.
cdef struct Move:
    const Worker* worker
    Worker* all_workers
    const Frame* frame
    uint64_t* entries  # of threads that share the columns
    bint two_way
    int64_t column_in_place  # or -1


cdef void move_shared(void* context, int64_t task, int thread) noexcept nogil:
    """One column, by one of the threads."""
    cdef const Move* move = <Move*>context
    move_column(
        move, &move.all_workers[thread], move.entries, move.worker.moved[task]
    )


cdef void move_column(
    const Move* move, Worker* own, Entry* entries, int64_t column
) noexcept nogil:
    cdef:
        const Frame* frame = move.frame
        const Children* children = &move.worker.children
        Entry* cells = entries + column * frame.stride + frame.start
        Entry* spare = <Entry*>own.spare
        int64_t child, start = 0
    if column == move.column_in_place:
        return
    if move.two_way:
        partition_two(cells, frame.n_rows, move.worker.goes_left, spare)
        return
    for child in range(children.n_children):
        own.children.next_slot[child] = start
        start += children.n_rows[child]
    partition_many(
        cells, frame.n_rows, move.worker.child_of_row, own.children.next_slot, spare
    )


cdef void move_rows(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const Split* split, Entry* entries
) noexcept nogil:
    """Partition every column."""
    cdef:
        Children* children = &worker.children
        bint is_marked = problem.is_coded[split.column]
        int64_t anchor = problem.n_columns if is_marked else split.column
        int64_t i
        bint in_order = not is_marked and children.pieces[0].child >= 0
        Move move
    for i in range(1, children.n_pieces):
        if children.pieces[i].child < children.pieces[i - 1].child:
            in_order = False
    move.worker = worker
    move.frame = frame
    move.two_way = mark_sides(
        worker, frame, entries + anchor * frame.stride + frame.start, is_marked
    )
    move.column_in_place = split.column if in_order else -1
    if Entry is uint64_t:
        if team != NULL and worker.n_moved * frame.n_rows >= SHARED_CELLS:
            move.all_workers = all_workers
            move.entries = entries
            run_tasks(team, move_shared, &move, worker.n_moved)
            return
    for i in range(worker.n_moved):
        move_column(&move, worker, entries, worker.moved[i])


# ---------------------------------- rows divided by the level codes of a column


cdef void send_coded_rows(
    const Problem* problem, const Arena* arena, Worker* worker, const uint32_t* codes,
    const Entry* rows_of_node, int64_t n
) noexcept nogil:
    """Mark every row with its child, and add it to what the child holds."""
    cdef:
        Children* children = &worker.children
        const int32_t* child_of_level = worker.scratch.best_side
        int64_t i, size = problem.n_statistics
        double weight
        int32_t child
        uint32_t row
    for i in range(n):
        row = row_of(rows_of_node[i])
        weight = weight_of(&arena.rows, row)
        if codes[row] == GLOBAL_MISSING:
            worker.child_of_row[row] = IN_ALL
            children.missing_sums[arena.rows.label[row]] += weight
            children.n_missing += 1
            continue
        child = child_of_level[codes[row]]
        worker.child_of_row[row] = child
        children.n_rows[child] += 1
        children.weight[child] += weight
        children.sums[child * size + arena.rows.label[row]] += weight


cdef int64_t list_known_levels(
    int64_t n_levels, const int32_t* child_of_level, int32_t* levels, int32_t* children
) noexcept nogil:
    """List the levels that have a child; returns their number."""
    cdef int64_t level, n = 0
    for level in range(n_levels):
        if child_of_level[level] >= 0:
            levels[n] = <int32_t>level
            children[n] = child_of_level[level]
            n += 1
    return n


cdef int divide_coded_rows(
    const Problem* problem, const Arena* arena, Worker* worker, const NodeView* view,
    const Entry* rows_of_node, const Split* split
) noexcept nogil:
    """Work out where every row goes, and what the children hold of the known ones.
    Returns -1 when memory runs out."""
    cdef:
        Children* children = &worker.children
        Scratch* scratch = &worker.scratch
        int64_t column = split.column, child, c, n_known
    divide_levels(
        problem, &arena.rows, scratch, &arena.codes, rows_of_node, view, split
    )
    if has_stopped(problem.interrupt):
        return -1
    n_known = list_known_levels(
        problem.n_levels[column], scratch.best_side, scratch.run_level,
        scratch.run_side
    )
    if write_level_map(
        problem, &worker.buffer, column, n_known, scratch.run_level, scratch.run_side,
        False
    ) < 0:
        return -1
    children.n_children = split.n_children
    children.n_pieces = 0
    clear_children(problem, children)
    children.n_missing = 0
    for c in range(problem.n_statistics):
        children.missing_sums[c] = 0.0
    send_coded_rows(
        problem, arena, worker, arena.codes.start + column * arena.codes.stride,
        rows_of_node, view.totals.rows
    )
    for child in range(children.n_children):
        if children.n_rows[child]:
            finish_classes(problem, view, child, children)
    return 0


# ----------------------------------------------------------- fractions of cases

# Cases that miss the tested column go into several branches, each with a fraction. A
# case is in a node at most once, so its weight stands in one array for all nodes. The
# branches of one test share cases, though: each of them is then given sorted columns
# of its own, a *block*, and the weights of its cases, which are put into the array when
# the growing of the branch begins. Branches of a test that no case misses need no
# block: they share the columns of their parent, as everywhere else.


cdef void sum_missing_rows(
    const Problem* problem, const Arena* arena, const Entry* cells,
    const NodeView* node, int64_t n_present, Children* children
) noexcept nogil:
    """The missing rows of a sorted column, which stand last in it."""
    cdef int64_t i, c
    children.n_missing = node.totals.rows - n_present
    for c in range(problem.n_statistics):
        children.missing_sums[c] = 0.0
    for i in range(n_present, node.totals.rows):
        children.missing_sums[arena.rows.label[row_of(cells[i])]] += (
            arena.rows.weight[row_of(cells[i])]
        )


cdef void share_missing_rows(
    const Problem* problem, const NodeView* node, Children* children
) noexcept nogil:
    """Add the missing rows to the children, in proportion to their known weight."""
    cdef:
        int64_t c, child, size = problem.n_statistics
        double known = 0.0, share
        const double* missing = children.missing_sums
        double* sums
    if children.n_missing == 0:
        return
    for child in range(children.n_children):
        known += children.weight[child]
    for child in range(children.n_children):
        share = children.weight[child] / known
        children.share[child] = 0.0
        if children.n_rows[child] == 0 or not share > problem.gain.min_fraction:
            continue
        children.share[child] = share
        children.n_rows[child] += children.n_missing
        sums = children.sums + child * size
        for c in range(size):
            sums[c] += share * missing[c]
            children.weight[child] += share * missing[c]
        finish_classes(problem, node, child, children)


cdef void share_weights(
    const Arena* arena, const Worker* worker, const Entry* cells, int64_t n
) noexcept nogil:
    """The weights of every block's rows, in the order of one column."""
    cdef:
        const Children* children = &worker.children
        int64_t i, child
        int32_t side
        double weight
    for child in range(children.n_children):
        children.next_slot[child] = 0
    for i in range(n):
        weight = arena.rows.weight[row_of(cells[i])]
        side = worker.child_of_row[row_of(cells[i])]
        if side >= 0:
            if children.blocks[side] != NULL:
                children.blocks[side].weights[children.next_slot[side]] = weight
                children.next_slot[side] += 1
            continue
        for child in range(children.n_children):
            if children.blocks[child] != NULL and children.share[child] > 0.0:
                children.blocks[child].weights[children.next_slot[child]] = (
                    weight * children.share[child]
                )
                children.next_slot[child] += 1


cdef void share_column(
    const Worker* worker, Worker* own, const Entry* cells, int64_t n, int64_t column
) noexcept nogil:
    """One sorted column into the same column of every block; stays sorted."""
    cdef:
        const Children* children = &worker.children
        int64_t* next_slot = own.children.next_slot
        int64_t i, child
        int32_t side
        Entry* target
    for child in range(children.n_children):
        next_slot[child] = column * (children.n_rows[child] + 1)
    for i in range(n):
        side = worker.child_of_row[row_of(cells[i])]
        if side >= 0:
            if children.blocks[side] != NULL:
                target = <Entry*>children.blocks[side].entries
                target[next_slot[side]] = cells[i]
                next_slot[side] += 1
            continue
        for child in range(children.n_children):
            if children.blocks[child] != NULL and children.share[child] > 0.0:
                target = <Entry*>children.blocks[child].entries
                target[next_slot[child]] = cells[i]
                next_slot[child] += 1


cdef void share_column_shared(void* context, int64_t task, int thread) noexcept nogil:
    """One column, by one of the threads."""
    cdef:
        const SharedNode* node = <SharedNode*>context
        int64_t column = node.worker.moved[task]
    share_column(
        node.worker, &node.all_workers[thread],
        node.entries + column * node.frame.stride + node.frame.start,
        node.frame.n_rows, column
    )


cdef int move_fractions(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const Split* split, Entry* entries,
    const uint8_t* is_leaf
) noexcept nogil:
    """A block for every child that will be split. Returns -1 when memory runs out."""
    cdef:
        Children* children = &worker.children
        Entry* cells = entries + split.column * frame.stride + frame.start
        int64_t i, child, n = frame.n_rows
        int64_t anchor = anchor_column(problem, worker.moved)
        SharedNode node
    if not problem.is_coded[split.column]:
        mark_rows(children, cells, worker.child_of_row)
        for i in range(n - children.n_missing, n):
            worker.child_of_row[row_of(cells[i])] = IN_ALL
    for child in range(children.n_children):
        if is_leaf[child]:
            continue
        children.blocks[child] = make_block(
            &worker.blocks, count_slots(problem) * (children.n_rows[child] + 1),
            sizeof(Entry), children.n_rows[child]
        )
        if children.blocks[child] == NULL:
            return -1
    share_weights(
        arena, worker, entries + anchor * frame.stride + frame.start, n
    )
    if Entry is uint64_t:
        if team != NULL and worker.n_moved * n >= SHARED_CELLS:
            node = SharedNode(
                problem, arena, worker, all_workers, frame, NULL, entries
            )
            run_tasks(team, share_column_shared, &node, worker.n_moved)
            return 0
    for i in range(worker.n_moved):
        share_column(
            worker, worker, entries + worker.moved[i] * frame.stride + frame.start,
            n, worker.moved[i]
        )
    return 0


cdef void load_weights(
    Arena* arena, const Frame* frame, int64_t column, const Entry* entries
) noexcept nogil:
    """Put the weights of a block's rows into the array of all weights."""
    cdef:
        const Entry* cells = entries + column * frame.stride + frame.start
        double* weight = <double*>arena.rows.weight
        int64_t i
    for i in range(frame.n_rows):
        weight[row_of(cells[i])] = frame.block.weights[i]


cdef Block* save_weights(
    const Arena* arena, Worker* worker, const Frame* frame, int64_t column,
    const Entry* entries
) noexcept nogil:
    """Keep the weights of a node's rows until its turn comes; NULL when memory runs
    out."""
    cdef:
        const Entry* cells = entries + column * frame.stride + frame.start
        Block* block = make_block(&worker.blocks, 0, 1, frame.n_rows)
        int64_t i
    if block != NULL:
        for i in range(frame.n_rows):
            block.weights[i] = arena.rows.weight[row_of(cells[i])]
    return block
