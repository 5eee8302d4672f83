# The weakest-link sequence; part of _subtree.pyx.
#
# Only inner nodes are numbered here, in preorder (first child first): those of a branch
# are consecutive, and all sums and exact ties are in the order of a tree that was grown
# depth first. Rounding decides between nodes that tie, so this order is part of the
# result.

# One inner node during pruning: 32 bytes, since walks up to the root are limited by the
# speed of memory.
cdef struct Link:
    # the parent's link, -1 at the root
    int32_t parent
    # leaves of the current branch; 0 once the node has become a leaf
    int32_t n_leaves
    # risk of the node as a leaf, and of the leaves of its branch
    double risk
    double branch_risk
    # the newest key of the node in the heap
    double key


# Fields of a link that are used less often.
cdef struct Place:
    # number of the node in the tree
    int32_t node
    # inner nodes of the full tree's branch, itself included
    int32_t size


# All working memory of one call.
cdef struct State:
    Link* links
    Place* places
    Py_ssize_t n_links
    Entry* heap
    Py_ssize_t heap_size
    Py_ssize_t heap_room


LINK_DTYPE = np.dtype(
    [
        ("parent", np.int32),
        ("n_leaves", np.int32),
        ("risk", np.float64),
        ("branch_risk", np.float64),
        ("key", np.float64),
    ]
)
PLACE_DTYPE = np.dtype([("node", np.int32), ("size", np.int32)])


cdef void add_leaf(Link* links, int32_t parent, double risk) noexcept nogil:
    """Add a leaf to all branches it belongs to."""
    while parent >= 0:
        links[parent].branch_risk += risk
        links[parent].n_leaves += 1
        parent = links[parent].parent


cdef void fill_links(
    const Node[::1] nodes, const double[::1] node_risks, int32_t[::1] stack,
    int32_t[::1] link_of, State* state,
) noexcept nogil:
    """Number the inner nodes, walking in preorder, and add up the leaves' risks."""
    cdef Py_ssize_t n_pending = 1
    cdef int32_t number, first, child, parent
    cdef Link* link
    stack[0] = 0
    state.n_links = 0
    while n_pending > 0:
        n_pending -= 1
        number = stack[n_pending]
        parent = link_of[nodes[number].parent] if number > 0 else -1
        if nodes[number].n_children == 0:
            add_leaf(state.links, parent, node_risks[number])
            continue
        link_of[number] = <int32_t> state.n_links
        link = &state.links[state.n_links]
        link.parent = parent
        link.n_leaves = 0
        link.risk = node_risks[number]
        link.branch_risk = 0.0
        state.places[state.n_links].node = number
        state.places[state.n_links].size = 1
        state.n_links += 1
        first = nodes[number].first_child
        for child in range(first + nodes[number].n_children - 1, first - 1, -1):
            stack[n_pending] = child
            n_pending += 1


cdef void add_up_sizes(State* state) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(state.n_links - 1, 0, -1):
        state.places[state.links[i].parent].size += state.places[i].size


cdef inline double link_strength(const Link* link) noexcept nogil:
    """What every leaf of the branch but one saves: (R(t) - R(T_t)) / (|T_t| - 1)."""
    return (link.risk - link.branch_risk) / (link.n_leaves - 1)


cdef void fill_heap(State* state) noexcept nogil:
    """Enter every inner node once."""
    cdef Py_ssize_t i
    cdef Link* link
    state.heap_size = 0
    for i in range(state.n_links):
        link = &state.links[i]
        if link.n_leaves > 0:
            link.key = link_strength(link)
            push_entry(state.heap, &state.heap_size, link.key, i)


cdef void cut_link(State* state, Py_ssize_t rank) noexcept nogil:
    """Make a leaf of an inner node."""
    cdef Link* link = &state.links[rank]
    cdef double added = link.risk - link.branch_risk, strength
    cdef int32_t dropped = link.n_leaves - 1, above = link.parent
    cdef Py_ssize_t below = rank, stop = rank + state.places[rank].size
    while below < stop:
        if state.links[below].n_leaves > 0:
            state.links[below].n_leaves = 0
            below += 1
        else:
            # It was pruned before, with all nodes below it.
            below += state.places[below].size
    while above >= 0:
        link = &state.links[above]
        link.n_leaves -= dropped
        link.branch_risk += added
        strength = link_strength(link)
        # Usually the strength has increased, which is noticed when the old key comes
        # to the top of the heap. If rounding has decreased it, add a new entry.
        if strength < link.key:
            link.key = strength
            if state.heap_size == state.heap_room:
                fill_heap(state)
            else:
                push_entry(state.heap, &state.heap_size, strength, above)
        above = link.parent


cdef Py_ssize_t take_weakest(State* state) noexcept nogil:
    """The weakest link, taken off the heap; -1 if there is none left."""
    cdef Link* link
    cdef Entry top
    cdef double strength
    while state.heap_size > 0:
        top = state.heap[0]
        link = &state.links[top.rank]
        if link.n_leaves > 0 and top.key == link.key:
            strength = link_strength(link)
            if not strength > top.key:
                pop_entry(state.heap, &state.heap_size)
                return top.rank
            link.key = strength
            replace_top(state.heap, state.heap_size, strength, top.rank)
        else:
            pop_entry(state.heap, &state.heap_size)
    return -1


def find_weakest_links(
    const Node[::1] nodes, const double[::1] node_risks, double max_alpha,
    double[::1] alphas, double[::1] risks, int64_t[::1] n_leaves, int64_t[::1] cut_node,
):
    """Fill one entry per step, the full tree first; the number of entries.

    node_risks: read; what every node would cost as a leaf. Stops before the first link
    stronger than ``max_alpha``.
    """
    cdef Py_ssize_t n_inner = alphas.shape[0] - 1, step = 1, rank
    cdef int32_t[::1] stack = np.empty(nodes.shape[0], dtype=np.int32)
    cdef int32_t[::1] link_of = np.empty(nodes.shape[0], dtype=np.int32)
    cdef Link[::1] links = np.empty(n_inner + 1, dtype=LINK_DTYPE)
    cdef Place[::1] places = np.empty(n_inner + 1, dtype=PLACE_DTYPE)
    cdef Entry[::1] heap = np.empty(2 * n_inner + 1, dtype=ENTRY_DTYPE)
    cdef State state
    state.links, state.places, state.heap = &links[0], &places[0], &heap[0]
    state.heap_room = heap.shape[0]
    alphas[0], risks[0], n_leaves[0], cut_node[0] = 0.0, node_risks[0], 1, -1
    with nogil:
        fill_links(nodes, node_risks, stack, link_of, &state)
        add_up_sizes(&state)
        fill_heap(&state)
        if state.n_links > 0:
            risks[0] = links[0].branch_risk
            n_leaves[0] = links[0].n_leaves
        while True:
            rank = take_weakest(&state)
            if rank < 0 or link_strength(&links[rank]) > max_alpha:
                break
            alphas[step] = link_strength(&links[rank])
            cut_node[step] = places[rank].node
            cut_link(&state, rank)
            risks[step] = links[0].branch_risk if rank > 0 else links[0].risk
            n_leaves[step] = links[0].n_leaves if rank > 0 else 1
            step += 1
    return step
