"""Splitting one node: find the best test, make the children, move the rows."""

from libc.math cimport NAN
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._buffers cimport (
    Block,
    Frame,
    NodeBuffer,
    push_frame,
    reserve_nodes,
)
from sklearn_textbook.tree.grow._search cimport (
    find_split,
    list_columns,
    must_be_gain_leaf,
    splits_pair,
    view_node,
)
from sklearn_textbook.tree.grow._partition cimport (
    divide_coded_rows,
    move_fractions,
    move_rows,
    share_missing_rows,
    sum_missing_rows,
)
from sklearn_textbook.tree.grow._layout cimport LEAF, STAY, Node
from sklearn_textbook.tree.grow._children cimport (
    Children,
    list_pieces,
    measure_children,
    write_level_map,
)
from sklearn_textbook.tree.grow._missing cimport (
    branch_for_missing,
    drop_surrogates,
    send_missing_rows,
)
from sklearn_textbook.tree.grow._workers cimport Arena, Worker, column_ranks
from sklearn_textbook.tree.split._column cimport count_missing, divide_runs
from sklearn_textbook.tree.split._random cimport child_state
from sklearn_textbook.tree.split._types cimport (
    CHOOSE_SCORE,
    MISSING_FRACTIONAL,
    MISSING_SURROGATE,
    NOMINAL_COLUMN,
    SPLIT_MULTIWAY,
    Entry,
    NodeView,
    Problem,
    Split,
    int32_t,
    int64_t,
    rank_of,
    uint8_t,
    uint32_t,
    uint64_t,
)


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
        return split.score / node.weight
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
        Node* node
    if reserve_nodes(buffer, children.n_children) < 0:
        return -1
    for child in range(children.n_children):
        node = &buffer.nodes[first + child]
        node.first_child = -1
        node.n_children = 0
        node.feature = -2
        node.missing_branch = STAY
        node.kind = LEAF
        node.parent = frame.node
        node.map_start = -1
        node.threshold = -2.0
        node.improvement = 0.0
        node.n_samples = children.n_rows[child]
        node.weight = children.weight[child]
        node.impurity = children.impurity[child]
        if children.n_rows[child] == 0:
            # Its statistics are its parent's, filled in at the end.
            node.impurity = buffer.nodes[frame.node].impurity
        memcpy(
            buffer.statistics + (first + child) * size, children.values + child * size,
            size * sizeof(double)
        )
        buffer.task[first + child] = -1
    buffer.n_nodes += children.n_children
    return <int>first


cdef void bound_children(
    const Problem* problem, const Worker* worker, const Frame* frame,
    const Split* split, int64_t child, Frame* below
) noexcept nogil:
    """Monotonic constraints: the range of values allowed in a child."""
    cdef:
        const Children* children = &worker.children
        int32_t direction = problem.monotonic[split.column]
        double first, second, middle
    if direction == 0 or child > 1:
        return
    if problem.is_classifier:
        first = children.values[1] / children.weight[0]
        second = children.values[problem.n_statistics + 1] / children.weight[1]
    else:
        first = children.values[0]
        second = children.values[problem.n_statistics]
    middle = min(max(first / 2 + second / 2, frame.lower), frame.upper)
    if (child == 0) == (direction > 0):
        below.upper = middle
    else:
        below.lower = middle


cdef int push_children(
    const Problem* problem, Worker* worker, const Frame* frame, const Split* split,
    int first, const uint8_t* is_leaf
) noexcept nogil:
    cdef:
        Children* children = &worker.children
        Frame below
        int64_t child, start = frame.start
    # The last child is split first, so push in order.
    for child in range(children.n_children):
        below = frame[0]
        below.start = start
        below.n_rows = children.n_rows[child]
        below.depth = frame.depth + 1
        below.fixed = children.fixed[child]
        below.is_divided = frame.is_divided or children.n_missing > 0
        below.random_state = child_state(frame.random_state, child)
        below.node = <int32_t>(first + child)
        start += below.n_rows
        below.has_own_weights = children.blocks[child] != NULL
        if below.has_own_weights:
            below.block = children.blocks[child]
            below.entries = below.block.entries
            below.stride = below.n_rows + 1
            below.start = 0
        if below.block != NULL and not is_leaf[child]:
            below.block.n_frames += 1
        if problem.monotonic != NULL:
            bound_children(problem, worker, frame, split, child, &below)
            worker.buffer.bounds[2 * below.node] = below.lower
            worker.buffer.bounds[2 * below.node + 1] = below.upper
        if not is_leaf[child] and push_frame(
            &worker.stack, &below, worker.active
        ) < 0:
            return -1
    return 0


cdef int settle_split(
    const Problem* problem, Arena* arena, Worker* worker, const Frame* frame,
    const NodeView* view, Entry* entries, Split* best, const Split* before
) noexcept nogil:
    """Work out where every row of the node goes, and what the children hold."""
    cdef:
        Children* children = &worker.children
        Entry* cells = entries + best.column * frame.stride + frame.start
        const uint32_t* ranks = column_ranks(arena, best.column)
        const int32_t* run_child = worker.scratch.run_side
        int64_t n_present = frame.n_rows
    if problem.has_missing[best.column]:
        n_present -= count_missing(cells, frame.n_rows)
    if best.kind == NOMINAL_COLUMN:
        best.missing_child = divide_runs(
            problem, &arena.rows, &worker.scratch, cells, ranks, view, best, before,
            n_present
        )
        if write_level_map(
            problem, &worker.buffer, cells, ranks, best.column, n_present, run_child,
            problem.categorical_split == SPLIT_MULTIWAY
        ) < 0:
            return -1
    list_pieces(problem, cells, run_child, best, n_present, frame.n_rows, children)
    if problem.missing_mode == MISSING_SURROGATE and send_missing_rows(
        problem, arena, worker, frame, entries, best
    ) < 0:
        return -1
    measure_children(problem, &arena.rows, &worker.scratch, cells, view, children)
    children.n_missing = 0
    if problem.missing_mode == MISSING_FRACTIONAL:
        sum_missing_rows(problem, arena, cells, view, n_present, children)
        share_missing_rows(problem, view, children)
    return 0


cdef void write_test(
    const Problem* problem, const Arena* arena, Worker* worker, const Frame* frame,
    const Split* split, int64_t map_start, int first, const Entry* entries
) noexcept nogil:
    """Turn the node's record into that of an inner node."""
    cdef:
        Node* node = &worker.buffer.nodes[frame.node]
        const Entry* cells = entries + split.column * frame.stride + frame.start
    node.first_child = first
    node.n_children = <int32_t>worker.children.n_children
    node.feature = split.column
    node.kind = split.kind
    node.missing_branch = branch_for_missing(problem, &worker.children, split)
    node.map_start = map_start
    node.threshold = NAN
    if split.kind == NOMINAL_COLUMN:
        return
    node.map_start = -1
    if problem.random_splitter or split.alone:
        node.threshold = split.threshold
    else:
        node.map_start = pack_ranks(
            cells, column_ranks(arena, split.column), split.position
        )


cdef int expand_node(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, Frame* frame, Entry* entries
) noexcept nogil:
    """Split a node if that is worth it. Returns -1 when memory runs out."""
    cdef:
        NodeView view
        Split best, before
        Children* children = &worker.children
        Node* node = &worker.buffer.nodes[frame.node]
        int64_t n_visit, child, map_start = worker.buffer.n_levels
        uint8_t* is_leaf = worker.is_active
        int first
        bint any_inner = False, divides
    n_visit = list_columns(problem, arena, worker, frame, entries)
    if n_visit == 0:
        return 0
    view_node(problem, arena, worker, frame, &view)
    if not splits_pair(problem, frame, worker, &best):
        find_split(
            problem, arena, worker, all_workers, team, frame, &view, n_visit,
            entries, &best, &before
        )
    if best.column < 0:
        return 0
    if problem.is_coded[best.column]:
        if divide_coded_rows(
            problem, arena, worker, &view,
            entries + problem.n_columns * frame.stride + frame.start, &best
        ) < 0:
            return -1
        share_missing_rows(problem, &view, children)
    elif settle_split(
        problem, arena, worker, frame, &view, entries, &best, &before
    ) < 0:
        return -1
    node.improvement = improvement_of(problem, node, children, &best)
    if node.improvement * node.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        node.improvement = 0.0
        worker.buffer.n_levels = map_start
        drop_surrogates(&worker.buffer, frame.node)
        return 0
    first = create_children(problem, worker, frame)
    if first < 0:
        return -1
    write_test(problem, arena, worker, frame, &best, map_start, first, entries)
    divides = frame.is_divided or children.n_missing > 0
    for child in range(children.n_children):
        if problem.gain.choice != CHOOSE_SCORE:
            is_leaf[child] = children.n_rows[child] == 0 or must_be_gain_leaf(
                problem, children.values + child * problem.n_statistics,
                children.weight[child], frame.depth + 1, divides
            )
        else:
            is_leaf[child] = children.n_rows[child] == 0 or must_be_leaf(
                problem, children.n_rows[child], children.weight[child],
                frame.depth + 1, children.is_pure[child]
            )
        any_inner = any_inner or not is_leaf[child]
    memset(children.blocks, 0, children.n_children * sizeof(Block*))
    if any_inner and children.n_missing > 0:
        if move_fractions(
            problem, arena, worker, all_workers, team, frame, &best, entries,
            is_leaf
        ) < 0:
            return -1
    elif any_inner:
        move_rows(
            problem, arena, worker, all_workers, team, frame, &best, entries,
            is_leaf
        )
    return push_children(problem, worker, frame, &best, first, is_leaf)


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
