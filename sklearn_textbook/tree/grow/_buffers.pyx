"""Growing arrays of nodes and frames. Every function that allocates returns -1
when memory runs out."""

import os

import numpy as np

from libc.stdlib cimport free, malloc, realloc
from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._heap cimport (
    gain_step,
    pop_entry,
    push_entry,
    split_key,
)


cdef int grow_array(void** array, int64_t size, int64_t n_items) noexcept nogil:
    """Allocate room for n_items; the array moves, and keeps what it holds."""
    cdef void* moved = realloc(array[0], size * n_items)
    if moved == NULL:
        return -1
    array[0] = moved
    return 0


cdef int start_buffer(
    NodeBuffer* buffer, int64_t n_statistics, bint keeps_bounds
) noexcept nogil:
    """An empty buffer with room for a few nodes."""
    memset(buffer, 0, sizeof(NodeBuffer))
    buffer.n_statistics = n_statistics
    buffer.keeps_bounds = keeps_bounds
    return reserve_nodes(buffer, 32)


cdef void free_buffer(NodeBuffer* buffer) noexcept nogil:
    """Free the arrays; the buffer is empty then, and may be started again."""
    free(buffer.nodes)
    free(buffer.statistics)
    free(buffer.bounds)
    free(buffer.task)
    free(buffer.level_branch)
    free(buffer.surrogates)
    free(buffer.terms)
    memset(buffer, 0, sizeof(NodeBuffer))


cdef void free_buffers(NodeBuffer* buffers, int64_t n_buffers) noexcept nogil:
    """Free an array of buffers, or NULL."""
    cdef int64_t i
    if buffers != NULL:
        for i in range(n_buffers):
            free_buffer(&buffers[i])
    free(buffers)


def _measure_memory():
    """Bytes of the machine's memory, or the largest number if it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return np.iinfo(np.int64).max


# Linux gives out more memory than there is, and ends a process that uses it.
cdef int64_t MAX_BYTES = _measure_memory()


cdef bint fits_twice(int64_t n_nodes, int64_t n_statistics) noexcept nogil:
    """Whether there is memory for the statistics of the nodes and a copy of them."""
    return n_nodes <= MAX_BYTES // (2 * sizeof(double) * max(1, n_statistics))


cdef int reserve_nodes(NodeBuffer* buffer, int64_t n_more) noexcept nogil:
    """Make room for more nodes, with their statistics and bounds. Doubling keeps the
    number of copies logarithmic. -1 also if the machine has no memory for the
    statistics."""
    cdef int64_t capacity = buffer.node_capacity
    if buffer.n_nodes + n_more <= capacity:
        return 0
    capacity = max(2 * capacity, buffer.n_nodes + n_more)
    if capacity > MAX_BYTES // (8 * max(1, buffer.n_statistics)):
        return -1
    if grow_array(<void**>&buffer.nodes, sizeof(Node), capacity) < 0:
        return -1
    if grow_array(<void**>&buffer.task, sizeof(int32_t), capacity) < 0:
        return -1
    if grow_array(
        <void**>&buffer.statistics, buffer.n_statistics * sizeof(double), capacity
    ) < 0:
        return -1
    if buffer.keeps_bounds and grow_array(
        <void**>&buffer.bounds, 2 * sizeof(double), capacity
    ) < 0:
        return -1
    buffer.node_capacity = capacity
    return 0


cdef int reserve(
    void** array, int64_t size, int64_t n_items, int64_t n_more, int64_t* capacity
) noexcept nogil:
    """Make room for more items behind those that an array has."""
    cdef int64_t n = n_items + n_more
    if n <= capacity[0]:
        return 0
    n = max(2 * capacity[0], n)
    if grow_array(array, size, n) < 0:
        return -1
    capacity[0] = n
    return 0


cdef int reserve_levels(NodeBuffer* buffer, int64_t n_more) noexcept nogil:
    """Room for more entries of level maps."""
    return reserve(
        <void**>&buffer.level_branch, sizeof(int32_t), buffer.n_levels, n_more,
        &buffer.level_capacity
    )


cdef int reserve_surrogates(NodeBuffer* buffer, int64_t n_more) noexcept nogil:
    """Room for more surrogates."""
    return reserve(
        <void**>&buffer.surrogates, sizeof(Surrogate), buffer.n_surrogates, n_more,
        &buffer.surrogate_capacity
    )


cdef int reserve_terms(NodeBuffer* buffer, int64_t n_more) noexcept nogil:
    """Room for more terms of oblique tests."""
    return reserve(
        <void**>&buffer.terms, sizeof(Term), buffer.n_terms, n_more,
        &buffer.term_capacity
    )


cdef int start_stack(Stack* stack, int64_t n_columns) noexcept nogil:
    """An empty stack; memory is allocated with the first frame."""
    memset(stack, 0, sizeof(Stack))
    stack.n_columns = n_columns
    return 0


cdef void free_stack(Stack* stack) noexcept nogil:
    """Free the stack, which is empty then."""
    free(stack.frames)
    free(stack.active)
    free(stack.splits)
    memset(stack, 0, sizeof(Stack))


cdef int push_frame(
    Stack* stack, const Frame* frame, const int32_t* active
) noexcept nogil:
    """Let a node wait, with a copy of its frame and of its list of columns."""
    cdef int64_t capacity = stack.capacity
    if stack.n_frames == capacity:
        capacity = max(2 * capacity, 16)
        if grow_array(<void**>&stack.frames, sizeof(Frame), capacity) < 0:
            return -1
        if grow_array(
            <void**>&stack.active, stack.n_columns * sizeof(int32_t), capacity
        ) < 0:
            return -1
        stack.capacity = capacity
    stack.frames[stack.n_frames] = frame[0]
    memcpy(
        stack.active + stack.n_frames * stack.n_columns, active,
        frame.n_active * sizeof(int32_t)
    )
    stack.n_frames += 1
    return 0


cdef void start_growth(
    Stack* stack, int64_t max_leaf_nodes, const NodeBuffer* buffer
) noexcept nogil:
    """Empty the stack for the root of a tree, or subtree, which is pushed next.

    Best-first growth ends when there are ``max_leaf_nodes`` leaves and no split is
    left that gains as much as the least of those chosen: which of equal ones come
    first is for ``keep_best_first`` to say, when nodes have their final numbers."""
    stack.n_frames = stack.n_splits = stack.n_placed = 0
    stack.max_leaf_nodes = max_leaf_nodes
    stack.chosen = -1
    stack.child = stack.last_child = 0
    stack.n_leaves = 1
    stack.least = -INFINITY
    stack.step = gain_step(&buffer.nodes[0])


cdef int choose_split(Stack* stack, const NodeBuffer* buffer) noexcept nogil:
    """Choose the split that gains most. Returns 0 if there are enough."""
    cdef int64_t number
    if stack.n_splits == 0 or (
        stack.n_leaves >= stack.max_leaf_nodes and stack.splits[0].key > stack.least
    ):
        return 0
    number = stack.splits[0].rank
    stack.least = max(stack.least, stack.splits[0].key)
    stack.chosen = number
    # Searched, and its split not made yet: it still has a frame.
    if buffer.task[number] >= 0:
        # Made only now. No split is as good as the last one: equal ones do not count.
        stack.least = -INFINITY
        stack.n_leaves += 1
    else:
        stack.n_leaves += buffer.nodes[number].n_children - 1
    pop_entry(stack.splits, &stack.n_splits)
    return 1


cdef int push_split(Stack* stack, double key, int64_t number) noexcept nogil:
    """Add a split to those that may be chosen; returns -1 when memory runs out."""
    if reserve(
        <void**>&stack.splits, sizeof(Entry), stack.n_splits, 1, &stack.split_capacity
    ) < 0:
        return -1
    # The root's split is chosen whatever it gains.
    push_entry(
        stack.splits, &stack.n_splits, key if number > 0 else -INFINITY, number
    )
    return 0


cdef int64_t find_best_frame(Stack* stack, NodeBuffer* buffer) noexcept nogil:
    """The place of the frame that comes next where the best comes first; -1 if there
    is none, -2 when memory runs out.

    Best-first growth goes on in two turns. The nodes below the split that was chosen
    last (``child`` to ``last_child``) are searched one by one, by returning their
    frames; those with a split join the heap. Then the best split of the heap is chosen.
    If its node has a frame (gradient pairs: it was searched before it is split), the
    frame is returned; all others have been split while they were searched, and their
    children are next.
    """
    cdef:
        int64_t i, place
        const Node* node
    # ``task`` of a node that waits is the place of its frame.
    for i in range(stack.n_placed, stack.n_frames):
        buffer.task[stack.frames[i].node] = <int32_t>i
    while True:
        if stack.chosen >= 0:
            node = &buffer.nodes[stack.chosen]
            stack.child = node.first_child
            stack.last_child = node.first_child + node.n_children - 1
            stack.chosen = -1
        if stack.child > stack.last_child:
            if not choose_split(stack, buffer):
                break
            if buffer.task[stack.chosen] >= 0:
                return buffer.task[stack.chosen]
            continue
        node = &buffer.nodes[stack.child]
        place = buffer.task[stack.child]
        if place >= 0 and not stack.frames[place].is_searched:
            # Searched now, so that the next call finds its split.
            return place
        if place >= 0:
            if stack.frames[place].gain > 0.0 and push_split(
                stack, -stack.frames[place].gain, stack.child
            ) < 0:
                return -2
        elif node.n_children > 0 and push_split(
            stack, split_key(node, stack.step), stack.child
        ) < 0:
            return -2
        stack.child += 1
    # Growth ends; nodes that still wait stay leaves.
    for i in range(stack.n_frames):
        buffer.task[stack.frames[i].node] = -1
    stack.n_frames = 0
    return -1


cdef int take_frame(
    Stack* stack, NodeBuffer* buffer, Frame* frame, int32_t* active
) noexcept nogil:
    """Take the node that is to be searched next off the stack, with its columns.
    Returns 0 if none is left, -1 when memory runs out."""
    cdef int64_t place = stack.n_frames - 1, n_columns = stack.n_columns
    if stack.max_leaf_nodes > 0:
        place = find_best_frame(stack, buffer)
    if place < 0:
        return <int>(place + 1)
    frame[0] = stack.frames[place]
    memcpy(
        active, stack.active + place * n_columns, frame.n_active * sizeof(int32_t)
    )
    stack.n_frames -= 1
    if stack.max_leaf_nodes > 0:
        buffer.task[frame.node] = -1
        # The last frame fills the gap.
        if place < stack.n_frames:
            stack.frames[place] = stack.frames[stack.n_frames]
            memcpy(
                stack.active + place * n_columns,
                stack.active + stack.n_frames * n_columns,
                stack.frames[place].n_active * sizeof(int32_t)
            )
            buffer.task[stack.frames[place].node] = <int32_t>place
        stack.n_placed = stack.n_frames
    return 1


cdef Block* make_block(
    BlockList* blocks, int64_t n_entries, int64_t entry_size, int64_t n_rows
) noexcept nogil:
    """Allocate the columns and weights of n_rows rows; NULL when memory runs out."""
    cdef:
        Block* block = <Block*>malloc(
            sizeof(Block) + n_rows * sizeof(double) + n_entries * entry_size
        )
    if block == NULL:
        return NULL
    block.n_frames = 0
    block.weights = <double*>(block + 1)
    block.entries = block.weights + n_rows
    block.previous = NULL
    block.next = blocks.first
    if block.next != NULL:
        block.next.previous = block
    blocks.first = block
    return block


cdef void release_block(BlockList* blocks, Block* block) noexcept nogil:
    """Forget one node of a block, and free it with its last one."""
    if block == NULL:
        return
    block.n_frames -= 1
    if block.n_frames > 0:
        return
    if block.previous == NULL:
        blocks.first = block.next
    else:
        block.previous.next = block.next
    if block.next != NULL:
        block.next.previous = block.previous
    free(block)


cdef void free_blocks(BlockList* blocks) noexcept nogil:
    """Free the blocks of nodes that still wait, after a failure."""
    cdef:
        Block* block = blocks.first
        Block* after
    while block != NULL:
        after = block.next
        free(block)
        block = after
    blocks.first = NULL
