# Subtrees that are put aside as tasks, which threads share; part of _grower.pyx.


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
