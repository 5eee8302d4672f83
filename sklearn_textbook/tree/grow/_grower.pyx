"""The loop over nodes: take one that waits, find its best split, write the records of
its children, partition its rows, and let the children wait in turn.

Two things may be partitioned: the sorted columns of the table, or the list of its
samples. They differ in how a split is found and how rows are moved; everything else is
here once. What decides a split is the same in any order of the nodes and for any number
of threads.

A node waits as a ``Frame``, in one of three forms: a stretch of all sorted columns, a
stretch of the list of samples, or the histogram of its gradient pairs. Before it is
split, its record in the buffer is that of a leaf. A step that fails (no memory, a
signal) returns -1 through all functions.
"""

from libc.math cimport NAN
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._interrupt cimport has_stopped, must_stop
from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook.tree.grow._buffers cimport (
    Block,
    copy_statistics,
    make_block,
    push_frame,
    release_block,
    reserve_nodes,
    start_buffer,
    start_growth,
    take_frame,
)
from sklearn_textbook.tree.grow._children cimport (
    clear_children,
    finish_classes,
    list_levels,
    list_pieces,
    measure_children,
    write_level_map,
)
from sklearn_textbook.tree.grow._gradient_list cimport (
    partition_gradients,
    search_children,
    search_root,
    settle_gradients,
)
from sklearn_textbook.tree.grow._layout cimport STAY
from sklearn_textbook.tree.grow._list_search cimport (
    append_terms,
    partition_list,
    search_list,
    settle_list,
)
from sklearn_textbook.tree.grow._search cimport (
    drop_surrogates,
    find_split,
    list_columns,
    mark_rows,
    must_be_gain_leaf,
    send_missing_rows,
    splits_pair,
    view_node,
)
from sklearn_textbook.tree.grow._node cimport (
    accepts_split,
    bound_children,
    branch_for_missing,
    must_be_leaf,
    write_leaf,
)
from sklearn_textbook.tree.grow._sample_list cimport (
    copy_table,
    leave_copy,
    make_local,
    needs_copy,
)
from sklearn_textbook.tree.grow._small_node cimport finish_small, is_small, wait_small
from sklearn_textbook.tree.grow._workers cimport (
    SharedNode,
    anchor_column,
    column_ranks,
    copy_codes,
    copy_column,
    copy_list,
    copy_rows,
    count_slots,
    measure_spacing,
)
from sklearn_textbook.tree.split._column cimport count_missing, divide_runs
from sklearn_textbook.tree.split._criterion cimport weight_of
from sklearn_textbook.tree.split._gain cimport divide_levels
from sklearn_textbook.tree.split._random cimport child_state
from sklearn_textbook.tree.split._sums cimport FEW_SAMPLES
from sklearn_textbook.tree.split._types cimport (
    CHOOSE_SCORE,
    GLOBAL_MISSING,
    MISSING_FRACTIONAL,
    MISSING_SURROGATE,
    NOMINAL_COLUMN,
    OBLIQUE_TEST,
    SHARED_CELLS,
    SPLIT_MULTIWAY,
    Keyed,
    Scratch,
    Entry,
    NodeView,
    rank_of,
    row_of,
    uint64_t,
    uint8_t,
)

cdef enum:
    NODE_UNITS = 64  # of work that a node is, however small
    COPIES_PAY = 6  # copies of codes pay up to so many columns per one that is tried


# ------------------------------------------------------ partitions of sorted columns


# ------------------------------------------------------------------------------------
# Moving the rows of a node into its children, one sorted column at a time.
#
# All partitions are stable, so every child's column stays sorted and its missing
# rows stay last.
# ------------------------------------------------------------------------------------


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
    # memcpy is a call where the length is not known.
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
    # Behind the rows that are kept there may be old entries, which no child reads.
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
    # More children, or rows that stay in the node.
    if children.n_children != 2 or n_sent != frame.n_rows:
        if not is_marked:
            mark_rows(children, cells, worker.child_of_row)
        return False
    # ``child_of_row`` was written when the level codes were read.
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
    """Partition one column, in the memory of the thread that does it."""
    cdef:
        const Frame* frame = move.frame
        const Children* children = &move.worker.children
        Entry* cells = entries + column * frame.stride + frame.start
        Entry* spare = <Entry*>own.spare
        int64_t child, start = 0
    # The pieces of the split column are in the order of the children already.
    if column == move.column_in_place:
        return
    if move.two_way:
        partition_two(cells, frame.n_rows, move.worker.goes_left, spare)
        return
    # ``next_slot`` is used up by each column.
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
    # In order if each piece goes to the child of the one before it, or to a later one.
    for i in range(1, children.n_pieces):
        if children.pieces[i].child < children.pieces[i - 1].child:
            in_order = False
    move.worker = worker
    move.frame = frame
    move.two_way = mark_sides(
        worker, frame, entries + anchor * frame.stride + frame.start, is_marked
    )
    move.column_in_place = split.column if in_order else -1
    # Only the table itself has entries of 64 bits; threads share its large nodes.
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
            # Its fractions are known when all children have been weighed.
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
    # The search kept a score alone; now the children of the levels.
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
        double known = 0.0, fraction
        const double* missing = children.missing_sums
        double* sums
    if children.n_missing == 0:
        return
    for child in range(children.n_children):
        known += children.weight[child]
    for child in range(children.n_children):
        fraction = children.weight[child] / known
        # No fraction for children without known rows, or with next to none of their
        # weight.
        children.fraction[child] = 0.0
        if children.n_rows[child] == 0 or not fraction > problem.gain.min_fraction:
            continue
        children.fraction[child] = fraction
        children.n_rows[child] += children.n_missing
        sums = children.sums + child * size
        for c in range(size):
            sums[c] += fraction * missing[c]
            children.weight[child] += fraction * missing[c]
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
    # Row by row in the order of one column, which is that of every block's rows, too.
    for i in range(n):
        weight = arena.rows.weight[row_of(cells[i])]
        side = worker.child_of_row[row_of(cells[i])]
        if side >= 0:
            if children.blocks[side] != NULL:
                children.blocks[side].weights[children.next_slot[side]] = weight
                children.next_slot[side] += 1
            continue
        for child in range(children.n_children):
            if children.blocks[child] != NULL and children.fraction[child] > 0.0:
                children.blocks[child].weights[children.next_slot[child]] = (
                    weight * children.fraction[child]
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
        # The stride of a block is one more than its rows.
        next_slot[child] = column * (children.n_rows[child] + 1)
    for i in range(n):
        side = worker.child_of_row[row_of(cells[i])]
        # Rows with a value are in one child, rows without in all that have a fraction.
        if side >= 0:
            if children.blocks[side] != NULL:
                target = <Entry*>children.blocks[side].entries
                target[next_slot[side]] = cells[i]
                next_slot[side] += 1
            continue
        for child in range(children.n_children):
            if children.blocks[child] != NULL and children.fraction[child] > 0.0:
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
        # Missing rows stand last in the split column.
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


# ----------------------------------------------------------- splits of sorted columns


cdef int64_t pack_ranks(
    const Entry* cells, const uint32_t* ranks, int64_t position
) noexcept nogil:
    """The ranks on both sides of a threshold. Their values lie far apart in
    memory; they are fetched for all nodes together when the tree is put together."""
    cdef:
        uint64_t below = rank_of(cells[position - 1])
        uint64_t above = rank_of(cells[position])
    if ranks != NULL:
        below = ranks[below]
        above = ranks[above]
    return <int64_t>(below << 32 | above)


cdef int settle_split(
    const Problem* problem, Arena* arena, Worker* worker, const Frame* frame,
    const NodeView* view, Entry* entries, Split* best, const Split* before,
    int64_t* pair
) noexcept nogil:
    """Work out where every row of the node goes, and what the children hold."""
    cdef:
        Children* children = &worker.children
        Entry* cells = entries + best.column * frame.stride + frame.start
        const uint32_t* ranks = column_ranks(arena, best.column)
        const int32_t* run_child = worker.scratch.run_side
        int64_t n_present = frame.n_rows, n_runs
    if problem.has_missing[best.column]:
        n_present -= count_missing(cells, frame.n_rows)
    if best.kind == NOMINAL_COLUMN:
        n_runs = list_levels(
            problem, cells, ranks, best.column, n_present, worker.scratch.run_level
        )
        # The search kept the best score alone: it runs once more for the children.
        best.missing_child = divide_runs(
            problem, &arena.rows, &worker.scratch, cells, ranks, view, best, before,
            n_runs, frame.n_rows - n_present
        )
        if write_level_map(
            problem, &worker.buffer, best.column, n_runs, worker.scratch.run_level,
            run_child, problem.categorical_split == SPLIT_MULTIWAY
        ) < 0:
            return -1
    elif not best.splits_missing:
        pair[0] = pack_ranks(cells, ranks, best.position)
    list_pieces(problem, cells, run_child, best, n_present, frame.n_rows, children)
    if problem.missing_mode == MISSING_SURROGATE and send_missing_rows(
        problem, arena, worker, frame, entries, best
    ) < 0:
        return -1
    measure_children(problem, &arena.rows, &worker.scratch, cells, view, children)
    children.n_missing = 0
    if problem.missing_mode == MISSING_FRACTIONAL:
        sum_missing_rows(problem, arena, cells, view, n_present, children)
    return 0


cdef int find_in_columns(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, Frame* frame, Entry* entries, Split* best, int64_t* pair
) noexcept nogil:
    """Find the best split of sorted columns, and measure its children. Returns -1 when
    memory runs out."""
    cdef:
        NodeView view
        Split before
        int outcome
        int64_t n_visit = list_columns(problem, arena, worker, frame, entries)
    best.column = -1
    if n_visit == 0:
        return 0
    view_node(problem, arena, worker, frame, &view)
    # Two rows need no search.
    if not splits_pair(problem, frame, worker, best):
        find_split(
            problem, arena, worker, all_workers, team, frame, &view, n_visit,
            entries, best, &before
        )
    if has_stopped(problem.interrupt):
        return -1
    if best.column < 0:
        return 0
    if problem.is_coded[best.column]:
        outcome = divide_coded_rows(
            problem, arena, worker, &view,
            entries + problem.n_columns * frame.stride + frame.start, best
        )
    else:
        outcome = settle_split(
            problem, arena, worker, frame, &view, entries, best, &before, pair
        )
    if outcome < 0:
        return -1
    share_missing_rows(problem, &view, &worker.children)
    return 0


cdef int partition_columns(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, Entry* entries, const Split* split
) noexcept nogil:
    """Partition the sorted columns, as far as the children still need them. Returns -1
    when memory runs out."""
    if worker.children.n_missing > 0:
        return move_fractions(
            problem, arena, worker, all_workers, team, frame, split, entries,
            worker.is_active
        )
    move_rows(
        problem, arena, worker, all_workers, team, frame, split, entries
    )
    return 0


# ------------------------------------------------------------ splits of either kind


cdef int find_best_split(
    Grower* grower, Frame* frame, Split* best, int64_t* pair
) noexcept nogil:
    """Find the best split of a node, and measure its children. Returns -1 when memory
    runs out, or a signal was received."""
    cdef:
        const Problem* problem = grower.problem
        Worker* worker = grower.worker
        NodeView view
    # A task of sorted columns, in 32 bits; then the table in 64 bits; then a list.
    if frame.arena != NULL:
        return find_in_columns(
            problem, <Arena*>frame.arena, worker, worker, NULL, frame,
            <uint32_t*>frame.entries, best, pair
        )
    if grower.samples == NULL:
        return find_in_columns(
            problem, grower.table, worker, grower.all_workers, grower.team, frame,
            <uint64_t*>frame.entries, best, pair
        )
    view_node(problem, grower.table, worker, frame, &view)
    if search_list(
        problem, grower.samples, grower.search, worker, frame, &view
    ) < 0 or has_stopped(problem.interrupt):
        return -1
    if grower.search.node.found.split.column >= 0 and settle_list(
        problem, grower.samples, grower.search, worker, frame, &view, pair
    ) < 0:
        return -1
    best[0] = grower.search.node.found.split
    return 0


cdef int partition_rows(
    Grower* grower, const Frame* frame, const Split* split
) noexcept nogil:
    """Divide the rows of a node among its children. Returns -1 when memory runs
    out."""
    cdef Worker* worker = grower.worker
    # With its last split a tree that has a limit of leaves ends: nothing below is
    # searched.
    if grower.gradients != NULL:
        return partition_gradients(
            grower.problem, grower.gradients, worker, frame,
            worker.stack.n_leaves == grower.problem.max_leaf_nodes
        )
    if frame.arena != NULL:
        return partition_columns(
            grower.problem, <Arena*>frame.arena, worker, worker, NULL, frame,
            <uint32_t*>frame.entries, split
        )
    if grower.samples == NULL:
        return partition_columns(
            grower.problem, grower.table, worker, grower.all_workers, grower.team,
            frame, <uint64_t*>frame.entries, split
        )
    partition_list(grower.problem, grower.samples, &grower.search.node, worker)
    return 0


# ---------------------------------------------------------------------- one node


# ------------------------------------------------------------------------------------
# The records of a node that is split and of its children.
# ------------------------------------------------------------------------------------


cdef double improvement_of(
    const Problem* problem, const Node* node, const Children* children,
    const Split* split
) noexcept nogil:
    """Decrease of impurity per unit of the node's weight."""
    cdef:
        int64_t child
        double decrease = node.impurity
    if problem.missing_mode == MISSING_SURROGATE and problem.has_missing[split.column]:
        # Rows that miss the test, or stay in the node, count nothing.
        return split.decrease / node.weight
    # impurity - sum_b w_b / w impurity_b.
    for child in range(children.n_children):
        if children.n_rows[child]:
            decrease -= (
                children.weight[child] / node.weight * children.impurity[child]
            )
    # Below 0 only by rounding.
    return max(decrease, 0.0)


cdef int create_children(
    const Problem* problem, Worker* worker, const Frame* frame
) noexcept nogil:
    """Append the children's records; returns the number of the first one."""
    cdef:
        NodeBuffer* buffer = &worker.buffer
        Children* children = &worker.children
        int64_t child, first = buffer.n_nodes, size = problem.n_statistics
    if reserve_nodes(buffer, children.n_children) < 0:
        return -1
    for child in range(children.n_children):
        # Of a child without rows the statistics are its parent's, filled in at the end.
        write_leaf(
            buffer, first + child, frame.node, children.n_rows[child],
            children.weight[child],
            children.impurity[child] if children.n_rows[child]
            else buffer.nodes[frame.node].impurity
        )
        copy_statistics(
            buffer.statistics + (first + child) * size, children.values + child * size,
            size
        )
    buffer.n_nodes += children.n_children
    return <int>first


cdef void write_split(
    const Problem* problem, Worker* worker, const Frame* frame, const Split* split,
    int64_t map_start, int64_t pair, int first
) noexcept nogil:
    """Turn the node's record into that of an inner node."""
    cdef Node* node = &worker.buffer.nodes[frame.node]
    node.first_child = first
    node.n_children = <int32_t>worker.children.n_children
    node.feature = split.column
    node.kind = split.kind
    # Missing values of oblique tests have values of their own.
    node.missing_branch = STAY
    if split.kind != OBLIQUE_TEST:
        node.missing_branch = branch_for_missing(
            problem, split.missing_child, worker.children.n_rows, node.n_children
        )
    # The ranks on both sides of a threshold, until the tree is assembled.
    node.map_start = pair
    node.threshold = NAN
    if split.kind == NOMINAL_COLUMN:
        node.map_start = map_start
    elif problem.random_splitter or split.splits_missing or (
        split.kind == OBLIQUE_TEST
    ):
        node.threshold = split.threshold
        node.map_start = -1


cdef bint mark_leaves(
    const Problem* problem, Worker* worker, const Frame* frame
) noexcept nogil:
    """Mark in ``is_active`` the children that stay leaves; whether any does not."""
    cdef:
        Children* children = &worker.children
        uint8_t* is_leaf = worker.is_active
        int64_t child
        bint any_inner = False, is_divided = frame.is_divided or children.n_missing > 0
    for child in range(children.n_children):
        # ID3 and C4.5 have rules of their own, by weights.
        if problem.gain.choice != CHOOSE_SCORE:
            is_leaf[child] = children.n_rows[child] == 0 or must_be_gain_leaf(
                problem, children.values + child * problem.n_statistics,
                children.weight[child], frame.depth + 1, is_divided
            )
        else:
            is_leaf[child] = children.n_rows[child] == 0 or must_be_leaf(
                problem, children.n_rows[child], children.weight[child],
                frame.depth + 1, children.is_pure[child]
            )
        any_inner = any_inner or not is_leaf[child]
    return any_inner


cdef void write_bounds(
    const Problem* problem, Worker* worker, const Frame* frame, const Split* split,
    int first
) noexcept nogil:
    """Monotonic constraints: the ranges of values allowed in the children."""
    cdef:
        const double* values = worker.children.values
        double low = values[0], high = values[problem.n_statistics]
    # The value of a class is the fraction of the second.
    if problem.is_classifier:
        low = values[1] / worker.children.weight[0]
        high = values[problem.n_statistics + 1] / worker.children.weight[1]
    bound_children(
        problem, split.column, low, high, frame.lower, frame.upper,
        worker.children.n_children, worker.buffer.bounds + 2 * first
    )


cdef int push_children(
    Grower* grower, const Frame* frame, const Split* split, int first
) noexcept nogil:
    """Let the children that may be split wait, each with its stretch of rows, its seed
    and what it is allowed. Returns -1 when memory runs out."""
    cdef:
        const Problem* problem = grower.problem
        Worker* worker = grower.worker
        Children* children = &worker.children
        const uint8_t* is_leaf = worker.is_active
        Frame below
        int64_t child, start = frame.start
    if problem.monotonic != NULL:
        write_bounds(problem, worker, frame, split, first)
    # The last child is split first, so push in order.
    for child in range(children.n_children):
        below = frame[0]
        below.start = start
        below.n_rows = children.n_rows[child]
        below.depth = frame.depth + 1
        below.is_divided = frame.is_divided or children.n_missing > 0
        below.random_state = child_state(frame.random_state, child)
        below.node = <int32_t>(first + child)
        start += below.n_rows
        if grower.gradients != NULL:
            below.waiting = (
                grower.gradients.right_child if child else grower.gradients.left_child
            )
            # Where the tree ends, nothing is counted, and nothing will be searched.
            below.is_searched = grower.gradients.counted == NULL
            below.gain = 0.0
            below.groups = grower.gradients.groups_left
        below.has_own_weights = children.blocks[child] != NULL
        # Its rows are in several children, so it has columns of its own.
        if below.has_own_weights:
            below.block = children.blocks[child]
            below.entries = below.block.entries
            below.stride = below.n_rows + 1
            below.start = 0
        # A block lives as long as nodes wait in it.
        if below.block != NULL and not is_leaf[child]:
            below.block.n_frames += 1
        if problem.monotonic != NULL:
            below.lower = worker.buffer.bounds[2 * below.node]
            below.upper = worker.buffer.bounds[2 * below.node + 1]
        if not is_leaf[child] and push_frame(
            &worker.stack, &below, worker.active
        ) < 0:
            return -1
    return 0


cdef int make_split(
    Grower* grower, Frame* frame, const Split* split, int64_t map_start, int64_t pair
) noexcept nogil:
    """Make a split whose children have been measured. Returns -1 when memory runs
    out."""
    cdef:
        const Problem* problem = grower.problem
        Worker* worker = grower.worker
        int first = create_children(problem, worker, frame)
        bint any_inner
    if first < 0:
        return -1
    write_split(problem, worker, frame, split, map_start, pair, first)
    if split.kind == OBLIQUE_TEST and append_terms(
        grower.search, &worker.buffer, frame.node
    ) < 0:
        return -1
    memset(worker.children.blocks, 0, worker.children.n_children * sizeof(Block*))
    any_inner = mark_leaves(problem, worker, frame)
    # Boosting also needs the samples of the leaves.
    if (any_inner or grower.gradients != NULL) and (
        partition_rows(grower, frame, split) < 0
    ):
        return -1
    return push_children(grower, frame, split, first)


cdef int expand_node(Grower* grower, Frame* frame) noexcept nogil:
    """Split a node if that is worth it. Returns -1 when memory runs out."""
    cdef:
        Worker* worker = grower.worker
        Split best
        Node* node
        int64_t pair = -1, map_start = worker.buffer.n_levels
    if find_best_split(grower, frame, &best, &pair) < 0 or (
        has_stopped(grower.problem.interrupt)
    ):
        return -1
    if best.column < 0:
        return 0
    node = &worker.buffer.nodes[frame.node]
    # What the search has appended to the buffer is taken back.
    if not accepts_split(
        grower.problem, node,
        improvement_of(grower.problem, node, &worker.children, &best)
    ):
        worker.buffer.n_levels = map_start
        drop_surrogates(&worker.buffer, frame.node)
        return 0
    return make_split(grower, frame, &best, map_start, pair)


cdef int split_waiting(
    Grower* grower, Frame* frame, WaitingSplit* made
) noexcept nogil:
    """Make the split of a node with gradient pairs, which was found with that of the
    other child of the parent. Returns -1 when memory runs out."""
    cdef:
        const Problem* problem = grower.problem
        GradientList* samples = grower.gradients
        Worker* worker = grower.worker
        Node* node = &worker.buffer.nodes[frame.node]
        Split best
        int64_t pair = -1, map_start = worker.buffer.n_levels
    made.first_frame = worker.stack.n_frames
    node.improvement = frame.gain / node.weight
    if settle_gradients(problem, samples, worker, frame, &best, &pair) < 0:
        return -1
    made.column = best.column
    if make_split(grower, frame, &best, map_start, pair) < 0:
        return -1
    made.first_child = worker.buffer.nodes[frame.node].first_child
    made.n_frames = worker.stack.n_frames - made.first_frame
    made.counted, made.rest = samples.counted, samples.rest
    made.counted_child = -1
    if made.counted != NULL:
        made.counted_child = made.first_child + (made.counted == samples.right_child)
    return 0


cdef int expand_histograms(Grower* grower, Frame* frame) noexcept nogil:
    """Split a node with gradient pairs if that is worth it. Returns -1 when memory runs
    out."""
    cdef WaitingSplit made
    if not frame.is_searched and (
        search_root(grower.problem, grower.gradients, grower.worker, frame) < 0
    ):
        return -1
    if frame.gain <= 0.0:
        return 0
    if split_waiting(grower, frame, &made) < 0:
        return -1
    search_children(
        grower.problem, grower.gradients, grower.worker, made.first_frame, made.n_frames
    )
    return 0


# ------------------------------------------------------------------------------------
# Rows of small nodes of sorted columns, copied next to each other.
# ------------------------------------------------------------------------------------


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


# -------------------------------------------------------------------- the loop


cdef void load_own_weights(Grower* grower, const Frame* frame) noexcept nogil:
    """Put the weights of a node that holds fractions of cases into the array."""
    cdef int64_t anchor
    if not frame.has_own_weights:
        return
    anchor = anchor_column(grower.problem, grower.worker.active)
    if frame.arena != NULL:
        load_weights(
            <Arena*>frame.arena, frame, anchor, <uint32_t*>frame.entries
        )
    else:
        load_weights(grower.table, frame, anchor, <uint64_t*>frame.entries)


cdef int finish_small_subtrees(Grower* grower) noexcept nogil:
    """Grow the small subtrees whose samples are still coming from memory."""
    return finish_small(grower.problem, grower.samples, grower.worker, &grower.roots)


cdef int prepare_list(Grower* grower, const Frame* frame) noexcept nogil:
    """Make the list ready for a node. Returns 1 if the kernel of small subtrees grows
    it, -1 when memory runs out."""
    cdef:
        const Problem* problem = grower.problem
        SampleList* samples = grower.samples
        Worker* worker = grower.worker
        bint is_best_first = problem.max_leaf_nodes > 0
    # The node is from outside, so the local subtree is finished.
    if samples.is_local and worker.stack.n_frames < grower.n_outside:
        if finish_small_subtrees(grower) < 0:
            return -1
        samples.is_local = False
    while samples.copies != NULL and (
        worker.stack.n_frames < samples.copies.n_outside
    ):
        if finish_small_subtrees(grower) < 0:
            return -1
        leave_copy(samples)
    if needs_copy(samples, frame.n_rows):
        if finish_small_subtrees(grower) < 0 or copy_table(
            problem, samples, frame, worker.stack.n_frames
        ) < 0:
            return -1
    # Subtrees that grow by turns cannot all be local.
    if not (samples.is_local or is_best_first) and (
        FEW_SAMPLES < frame.n_rows <= samples.local_rows
        and samples.n_outputs == 1
        and frame.n_active <= COPIES_PAY * problem.max_features
    ):
        if finish_small_subtrees(grower) < 0:
            return -1
        make_local(problem, samples, frame)
        grower.n_outside = worker.stack.n_frames
    # A small subtree waits until its samples have been prefetched. Best-first growth
    # needs the records of a node at once.
    if not is_small(problem, samples, worker, frame):
        return 0
    if wait_small(problem, samples, worker, frame, &grower.roots) < 0:
        return -1
    return -1 if is_best_first and finish_small_subtrees(grower) < 0 else 1


cdef inline bint is_task(const Grower* grower, const Frame* frame) noexcept nogil:
    """Whether a node becomes a task; best-first growth has no subtrees to put aside."""
    return (
        frame.n_rows <= grower.task_rows and frame.arena == NULL
        and grower.problem.max_leaf_nodes == 0
    )


cdef int grow_from(
    Grower* grower, const Frame* root, const int32_t* columns
) noexcept nogil:
    """Grow a tree, or a subtree, from its root, whose record stands in the buffer.
    Returns -1 if memory is exhausted or a signal was received."""
    cdef:
        Worker* worker = grower.worker
        Frame frame
        int64_t n_columns = grower.problem.max_features
        int outcome
    start_growth(&worker.stack, grower.problem.max_leaf_nodes, &worker.buffer)
    if push_frame(&worker.stack, root, columns) < 0:
        return -1
    while True:
        outcome = take_frame(&worker.stack, &worker.buffer, &frame, worker.active)
        if outcome <= 0:
            break
        # What a node costs in units of work, about.
        if must_stop(
            grower.problem.interrupt,
            NODE_UNITS + frame.n_rows * n_columns + grower.problem.n_statistics
        ):
            return -1
        # Boosting: the split was found when the parent was made.
        if grower.gradients != NULL:
            if expand_histograms(grower, &frame) < 0:
                return -1
            continue
        # Put aside for threads.
        if is_task(grower, &frame):
            if keep_task(grower, &frame) < 0:
                return -1
            continue
        # Make the rows ready: weights of fractions of cases, or a copy of the codes.
        if grower.samples == NULL:
            load_own_weights(grower, &frame)
        else:
            outcome = prepare_list(grower, &frame)
            if outcome > 0:
                continue
        if outcome < 0 or expand_node(grower, &frame) < 0:
            return -1
        release_block(&worker.blocks, frame.block)
    if outcome == 0 and grower.samples != NULL:
        return finish_small_subtrees(grower)
    return outcome


# ------------------------------------------------------------------------------------
# Subtrees that are put aside as tasks, which threads share.
# ------------------------------------------------------------------------------------


# Tasks in the order they are begun in; -1 in place of one that failed.
cdef struct Subtrees:
    const NodeBuffer* above
    const Stack* tasks
    Keyed* sizes
    Grower* growers
    NodeBuffer* done


cdef int keep_task(Grower* grower, Frame* frame) noexcept nogil:
    """Put a subtree aside for later, with its rows' weights as they are now. Returns -1
    when memory runs out."""
    cdef:
        Worker* worker = grower.worker
        Block* saved
    frame.row_weight = NULL
    if frame.has_own_weights:
        frame.row_weight = frame.block.weights
    elif grower.problem.divides_cases:
        saved = save_weights(
            grower.table, worker, frame,
            anchor_column(grower.problem, worker.active), <uint64_t*>frame.entries
        )
        if saved == NULL:
            return -1
        frame.row_weight = saved.weights
    worker.buffer.task[frame.node] = <int32_t>grower.tasks.n_frames
    return push_frame(grower.tasks, frame, worker.active)


cdef int grow_task(
    Grower* grower, const NodeBuffer* above, const Frame* frame, const int32_t* active,
    NodeBuffer* done
) noexcept nogil:
    """Grow a subtree that was put aside; ``done`` takes its nodes. Returns -1 if memory
    is exhausted or a signal was received."""
    cdef:
        int64_t size = grower.problem.n_statistics
        NodeBuffer* buffer = &grower.worker.buffer
        Frame root = frame[0]
        int outcome
    if start_buffer(buffer, size, grower.problem.monotonic != NULL) < 0:
        return -1
    # The root of the subtree is a copy of its record in the tree above.
    buffer.n_nodes = 1
    buffer.nodes[0] = above.nodes[frame.node]
    buffer.task[0] = -1
    copy_statistics(buffer.statistics, above.statistics + frame.node * size, size)
    if grower.problem.monotonic != NULL:
        buffer.bounds[0] = frame.lower
        buffer.bounds[1] = frame.upper
    root.node = 0
    if grower.samples == NULL:
        enter_arena(grower, active, grower.arena, &root)
    else:
        grower.samples.is_local = False
    outcome = grow_from(grower, &root, active)
    # The nodes are handed on; the worker begins the next task with a new buffer.
    done[0] = buffer[0]
    memset(buffer, 0, sizeof(NodeBuffer))
    return outcome


cdef int compare_sizes(const void* first, const void* second) noexcept nogil:
    """Large tasks first; equal ones in their own order."""
    cdef const Keyed* a = <const Keyed*>first
    cdef const Keyed* b = <const Keyed*>second
    if a.key != b.key:
        return 1 if a.key < b.key else -1
    return (a.index > b.index) - (a.index < b.index)


cdef void grow_subtree(void* context, int64_t i, int thread) noexcept nogil:
    """Grow one of the tasks, by one of the threads."""
    cdef:
        Subtrees* subtrees = <Subtrees*>context
        const Stack* tasks = subtrees.tasks
        int64_t task = subtrees.sizes[i].index
    if grow_task(
        &subtrees.growers[thread], subtrees.above, &tasks.frames[task],
        tasks.active + task * tasks.n_columns, &subtrees.done[task]
    ) < 0:
        subtrees.sizes[i].index = -1


cdef int grow_subtrees(
    const NodeBuffer* above, const Stack* tasks, Grower* growers, ThreadTeam* team,
    NodeBuffer** done
) noexcept nogil:
    """Let a team of threads grow the subtrees that were put aside, each thread with its
    own grower. ``done`` becomes an array of their nodes, also after a failure. Returns
    -1 if memory is exhausted or a signal was received."""
    cdef:
        int64_t i, n_tasks = tasks.n_frames
        int outcome = 0
        Keyed* sizes = <Keyed*>malloc(n_tasks * sizeof(Keyed))
        Subtrees subtrees
    done[0] = <NodeBuffer*>calloc(n_tasks, sizeof(NodeBuffer))
    if done[0] == NULL or sizes == NULL:
        free(sizes)
        return -1
    for i in range(n_tasks):
        sizes[i].key = <double>tasks.frames[i].n_rows
        sizes[i].index = i
    qsort(sizes, n_tasks, sizeof(Keyed), compare_sizes)
    subtrees = Subtrees(above, tasks, sizes, growers, done[0])
    run_tasks(team, grow_subtree, &subtrees, n_tasks)
    # A task that failed has written that into its place of the list.
    for i in range(n_tasks):
        outcome = min(outcome, <int>sizes[i].index)
    free(sizes)
    return outcome
