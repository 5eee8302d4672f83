# cython: language_level=3
"""Growing one subtree whose rows stand next to each other in a local arena."""

from libc.string cimport memset

from sklearn_textbook.tree.grow._buffers cimport (
    Stack,
    push_frame,
    release_block,
    reserve_nodes,
    start_buffer,
    start_growth,
    take_frame,
)
from sklearn_textbook.tree.grow._workers cimport anchor_column, quantise
from sklearn_textbook.tree.grow._partition cimport load_weights
from sklearn_textbook.tree.grow._node cimport expand_node
from sklearn_textbook.tree.split._types cimport SCAN_FIXED, int64_t, uint32_t


cdef void enter_arena(
    const Problem* problem, Arena* arena, Frame* frame
) noexcept nogil:
    """Let the root of a subtree begin where its rows stand next to each other."""
    cdef int64_t i
    frame.arena = arena
    frame.entries = arena.entries
    frame.stride = arena.stride
    frame.block = NULL
    frame.has_own_weights = False
    frame.start = 0
    frame.fixed = 0
    if problem.scan == SCAN_FIXED:
        quantise(
            arena.rows.y, frame.n_rows, <int64_t*>arena.rows.fixed,
            &arena.rows.fixed_unit
        )
        for i in range(frame.n_rows):
            frame.fixed += arena.rows.fixed[i]


cdef int grow_task(
    const Problem* problem, Arena* arena, Worker* worker, NodeBuffer* done,
    const NodeBuffer* above, Frame* frame, const int32_t* active
) noexcept nogil:
    """Grow one subtree whose rows stand in the local arena."""
    cdef:
        int64_t k, size = problem.n_statistics
        int outcome
        Frame root = frame[0]
        Stack* stack = &worker.stack
    if start_buffer(&worker.buffer, size, problem.monotonic != NULL) < 0:
        return -1
    # Many-way trees often have about as many nodes as rows.
    if problem.any_coded and reserve_nodes(&worker.buffer, root.n_rows) < 0:
        return -1
    worker.buffer.n_nodes = 1
    worker.buffer.nodes[0] = above.nodes[frame.node]
    worker.buffer.task[0] = -1
    for k in range(size):
        worker.buffer.statistics[k] = above.statistics[frame.node * size + k]
    if problem.monotonic != NULL:
        worker.buffer.bounds[0] = frame.lower
        worker.buffer.bounds[1] = frame.upper
    enter_arena(problem, arena, &root)
    root.node = 0
    start_growth(stack, problem.max_leaf_nodes, &worker.buffer)
    outcome = push_frame(stack, &root, active)
    while outcome >= 0:
        outcome = take_frame(stack, &worker.buffer, &root, worker.active)
        if outcome <= 0:
            break
        if root.has_own_weights:
            load_weights(
                arena, &root, anchor_column(problem, worker.active),
                <uint32_t*>root.entries
            )
        outcome = expand_node(
            problem, arena, worker, worker, NULL, &root, <uint32_t*>root.entries
        )
        release_block(&worker.blocks, root.block)
    done[0] = worker.buffer
    memset(&worker.buffer, 0, sizeof(NodeBuffer))
    return -1 if outcome < 0 else 0
