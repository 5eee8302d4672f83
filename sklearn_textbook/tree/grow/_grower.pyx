"""The loop over nodes: take one that waits, find its best split, write the records of
its children, partition its rows, and let the children wait in turn.

Two things may be partitioned: the sorted columns of the table, or the list of its
samples. They differ in how a split is found and how rows are moved; everything else is
here once. What decides a split is the same in any order of the nodes and for any number
of threads.
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
from sklearn_textbook.tree.grow._layout cimport LEAF, STAY
from sklearn_textbook.tree.grow._list_search cimport (
    append_terms,
    partition_list,
    search_list,
    settle_list,
)
from sklearn_textbook.tree.grow._search cimport (
    branch_for_missing,
    drop_surrogates,
    find_split,
    list_columns,
    mark_rows,
    must_be_gain_leaf,
    send_missing_rows,
    splits_pair,
    view_node,
)
from sklearn_textbook.tree.grow._node cimport must_be_leaf
from sklearn_textbook.tree.grow._sample_list cimport make_local
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
from sklearn_textbook.tree.split._best cimport narrow_bounds
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

include "_partition.pxi"


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

include "_node_records.pxi"


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
        int64_t pair = -1, map_start = worker.buffer.n_levels
    if find_best_split(grower, frame, &best, &pair) < 0 or (
        has_stopped(grower.problem.interrupt)
    ):
        return -1
    if best.column < 0:
        return 0
    if not accepts_split(
        grower.problem, worker, &worker.buffer.nodes[frame.node], &best
    ):
        worker.buffer.n_levels = map_start
        drop_surrogates(&worker.buffer, frame.node)
        return 0
    return make_split(grower, frame, &best, map_start, pair)


cdef int expand_histograms(Grower* grower, Frame* frame) noexcept nogil:
    """The same of a node with gradient pairs, whose best split is known: it was found
    with that of the other child of the parent. Returns -1 when memory runs out."""
    cdef:
        const Problem* problem = grower.problem
        Worker* worker = grower.worker
        Split best
        int64_t pair = -1, map_start = worker.buffer.n_levels, n_before
    if not frame.is_searched and (
        search_root(problem, grower.gradients, worker, frame) < 0
    ):
        return -1
    if frame.gain <= 0.0:
        return 0
    n_before = worker.stack.n_frames
    worker.buffer.nodes[frame.node].improvement = (
        frame.gain / worker.buffer.nodes[frame.node].weight
    )
    if settle_gradients(
        problem, grower.gradients, worker, frame, &best, &pair
    ) < 0 or make_split(grower, frame, &best, map_start, pair) < 0:
        return -1
    search_children(
        problem, grower.gradients, worker, worker.stack.n_frames - n_before
    )
    return 0


include "_local_arenas.pxi"


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
    return finish_small(grower.problem, grower.samples, grower.worker, &grower.roots)


cdef int prepare_list(Grower* grower, const Frame* frame) noexcept nogil:
    """Make the list ready for a node. Returns 1 if the kernel of small subtrees grows
    it, -1 when memory runs out."""
    cdef:
        const Problem* problem = grower.problem
        SampleList* samples = grower.samples
        Worker* worker = grower.worker
        bint is_best_first = problem.max_leaf_nodes > 0
    if samples.is_local and worker.stack.n_frames < grower.n_outside:
        if finish_small_subtrees(grower) < 0:
            return -1
        samples.is_local = False
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
    if not is_small(problem, samples, worker, frame):
        return 0
    if wait_small(problem, samples, worker, frame, &grower.roots) < 0:
        return -1
    return -1 if is_best_first and finish_small_subtrees(grower) < 0 else 1


cdef inline bint is_task(const Grower* grower, const Frame* frame) noexcept nogil:
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
        if must_stop(
            grower.problem.interrupt,
            NODE_UNITS + frame.n_rows * n_columns + grower.problem.n_statistics
        ):
            return -1
        if grower.gradients != NULL:
            if expand_histograms(grower, &frame) < 0:
                return -1
            continue
        if is_task(grower, &frame):
            if keep_task(grower, &frame) < 0:
                return -1
            continue
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


include "_subtree_tasks.pxi"
