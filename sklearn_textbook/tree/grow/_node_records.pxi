# The records of a node that is split and of its children; part of _grower.pyx.


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
    for child in range(children.n_children):
        if children.n_rows[child]:
            decrease -= (
                children.weight[child] / node.weight * children.impurity[child]
            )
    # Below 0 only by rounding.
    return max(decrease, 0.0)


cdef bint accepts_split(
    const Problem* problem, const Worker* worker, Node* node, const Split* split
) noexcept nogil:
    """Whether the improvement reaches min_impurity_decrease."""
    node.improvement = improvement_of(problem, node, &worker.children, split)
    if node.improvement * node.weight / problem.total_weight + 2.2e-16 >= (
        problem.min_impurity_decrease
    ):
        return True
    node.improvement = 0.0
    return False


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
        copy_statistics(
            buffer.statistics + (first + child) * size, children.values + child * size,
            size
        )
        buffer.task[first + child] = -1
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
        node.missing_branch = branch_for_missing(problem, &worker.children, split)
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


cdef void bound_children(
    const Problem* problem, const Worker* worker, const Frame* frame,
    const Split* split, int64_t child, Frame* below
) noexcept nogil:
    """Monotonic constraints: the range of values allowed in a child."""
    cdef:
        const Children* children = &worker.children
        int32_t direction = problem.monotonic[split.column]
        double first, second
    if direction == 0:
        return
    if problem.is_classifier:
        first = children.values[1] / children.weight[0]
        second = children.values[problem.n_statistics + 1] / children.weight[1]
    else:
        first = children.values[0]
        second = children.values[problem.n_statistics]
    narrow_bounds(first, second, direction, child, &below.lower, &below.upper)


cdef int push_children(
    Grower* grower, const Frame* frame, const Split* split, int first
) noexcept nogil:
    cdef:
        const Problem* problem = grower.problem
        Worker* worker = grower.worker
        Children* children = &worker.children
        const uint8_t* is_leaf = worker.is_active
        Frame below
        int64_t child, start = frame.start
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
