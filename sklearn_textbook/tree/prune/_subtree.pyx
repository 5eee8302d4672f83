# cython: language_level=3
"""Kernels that choose among the subtrees of a tree: which nodes stay, what every node
would lose as a leaf, the weakest-link sequence, and that of rpart.

Nodes are numbered breadth first, so one sweep upwards in number passes every parent
before its children, and one sweep downwards every child before its parent.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t

from sklearn_textbook.tree.grow._heap cimport (
    Entry,
    gain_step,
    pop_entry,
    push_entry,
    replace_top,
    split_key,
)
from sklearn_textbook.tree.grow._layout cimport Node

import numpy as np

ENTRY_DTYPE = np.dtype([("key", np.float64), ("rank", np.int64)])


# ---------------------------------------------------------------------- nodes that stay
def mark_kept(const Node[::1] nodes, const uint8_t[::1] cut, uint8_t[::1] kept):
    """kept = 1 for the nodes without a proper ancestor in ``cut``."""
    cdef Py_ssize_t i
    cdef int32_t parent
    with nogil:
        kept[0] = 1
        for i in range(1, nodes.shape[0]):
            parent = nodes[i].parent
            kept[i] = kept[parent] and not cut[parent]


def mark_uniform(
    const Node[::1] nodes, const uint8_t[::1] agrees, uint8_t[::1] uniform
):
    """uniform = 1 for the nodes below which every node agrees with its parent."""
    cdef Py_ssize_t i
    with nogil:
        # Upwards: no node above one that disagrees is uniform.
        uniform[:] = 1
        for i in range(nodes.shape[0] - 1, 0, -1):
            if not (agrees[i] and uniform[i]):
                uniform[nodes[i].parent] = 0


def mark_unexpanded(
    const Node[::1] nodes, int64_t max_leaf_nodes, Entry[::1] heap,
    uint8_t[::1] unexpanded,
):
    """unexpanded = 1 for the inner nodes that best-first growth does not split.

    The heap has the nodes that could be split next, by the key of growth (_heap.pxd). A
    split that would exceed ``max_leaf_nodes`` ends growth, even if a later one fitted.
    """
    cdef Py_ssize_t size = 0
    cdef int64_t n_leaves = 1, number
    cdef int32_t child
    cdef const Node* node
    cdef double step = gain_step(&nodes[0])
    with nogil:
        for number in range(nodes.shape[0]):
            unexpanded[number] = nodes[number].n_children > 0
        if unexpanded[0]:
            push_entry(&heap[0], &size, 0.0, 0)
        while size > 0:
            number = heap[0].rank
            node = &nodes[number]
            if n_leaves + node.n_children - 1 > max_leaf_nodes:
                break
            pop_entry(&heap[0], &size)
            unexpanded[number] = 0
            n_leaves += node.n_children - 1
            for child in range(node.first_child, node.first_child + node.n_children):
                if nodes[child].n_children > 0:
                    push_entry(&heap[0], &size, split_key(&nodes[child], step), child)


# ---------------------------------------------------------------------- what nodes lose
cdef enum:
    ERROR = 0
    SQUARED_ERROR = 1
    ABSOLUTE_ERROR = 2
    TABLE = 3

LOSSES = {
    "error": ERROR,
    "squared_error": SQUARED_ERROR,
    "absolute_error": ABSOLUTE_ERROR,
    "gini": TABLE,
}


cdef inline double loss_of_decision(
    const double* y, const double* decision, Py_ssize_t n_outputs, Py_ssize_t stride,
    int loss,
) noexcept nogil:
    """Mean over the outputs; a TABLE has the loss of every class of every output."""
    cdef double total = 0.0, difference
    cdef Py_ssize_t k
    for k in range(n_outputs):
        if loss == TABLE:
            total += decision[k * stride + <Py_ssize_t> y[k]]
            continue
        difference = y[k] - decision[k]
        if loss == ERROR:
            total += difference != 0.0
        elif loss == SQUARED_ERROR:
            total += difference * difference
        else:
            total += fabs(difference)
    return total / n_outputs


def add_node_losses(
    const Node[::1] nodes, const int64_t[::1] rows, const int64_t[::1] ends,
    const double[::1] fractions, const double[::1] weight, const double[:, ::1] y,
    const double[:, ::1] decisions, int loss, double[:, ::1] leaf, double[:, ::1] stay,
):
    """Add the loss of every row, and its square, to all nodes it enters.

    leaf[node]: what the node as a leaf would lose; stay[node]: what the rows lose that
    end in it although it is an inner node. Column 0 has losses, column 1 squares.
    """
    cdef Py_ssize_t i, n_outputs = y.shape[1], stride = decisions.shape[1] // n_outputs
    cdef int32_t node
    cdef double part, value
    with nogil:
        for i in range(rows.shape[0]):
            part = fractions[i]
            if weight is not None:
                part *= weight[rows[i]]
            node = <int32_t> ends[i]
            if nodes[node].n_children > 0:
                # The row ends in an inner node: no branch below loses it, so that it is
                # added to what the branch of this node loses.
                value = loss_of_decision(
                    &y[rows[i], 0], &decisions[node, 0], n_outputs, stride, loss
                )
                stay[node, 0] += part * value
                stay[node, 1] += part * value * value
            while node >= 0:
                value = loss_of_decision(
                    &y[rows[i], 0], &decisions[node, 0], n_outputs, stride, loss
                )
                leaf[node, 0] += part * value
                leaf[node, 1] += part * value * value
                # Every node on the way up would have had the row as a leaf.
                node = nodes[node].parent


def add_up_branches(
    const Node[::1] nodes, const double[:, ::1] leaf, const double[:, ::1] stay,
    double[:, ::1] branch,
):
    """branch[node]: what the leaves below lose, and the rows that end on the way."""
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(nodes.shape[0]):
            for k in range(branch.shape[1]):
                branch[i, k] = leaf[i, k] if nodes[i].n_children == 0 else stay[i, k]
        for i in range(nodes.shape[0] - 1, 0, -1):
            for k in range(branch.shape[1]):
                branch[nodes[i].parent, k] += branch[i, k]


def count_branch_leaves(const Node[::1] nodes, int64_t[::1] n_leaves):
    """n_leaves[node]: leaves below a node; 1 for a leaf."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(nodes.shape[0]):
            n_leaves[i] = nodes[i].n_children == 0
        for i in range(nodes.shape[0] - 1, 0, -1):
            n_leaves[nodes[i].parent] += n_leaves[i]


def choose_bottom_up(
    const Node[::1] nodes, const double[::1] leaf, const double[::1] stay,
    double slack, bint cuts_ties, uint8_t[::1] cut, double[::1] branch,
):
    """From the leaves upwards, make a leaf of every node that is cheaper as one.

    leaf, stay: read; cost of a node as a leaf, and of what ends in it otherwise.
    slack: costs that differ by no more are equal.
    cut: written; 1 for a node that becomes a leaf. branch: written; cost of the node's
    branch when it is visited, with the best subtrees below; of a leaf its own.
    """
    cdef Py_ssize_t i
    cdef double best
    with nogil:
        for i in range(nodes.shape[0]):
            branch[i] = leaf[i] if nodes[i].n_children == 0 else stay[i]
            cut[i] = 0
        for i in range(nodes.shape[0] - 1, -1, -1):
            # The branches of its children are complete, with the best subtrees.
            best = branch[i]
            if nodes[i].n_children > 0:
                if cuts_ties:
                    cut[i] = leaf[i] <= branch[i] + slack
                else:
                    cut[i] = leaf[i] < branch[i] - slack
                if cut[i]:
                    best = leaf[i]
            if i > 0:
                branch[nodes[i].parent] += best


def find_representatives(
    const Node[::1] nodes, const uint8_t[::1] cut, int32_t[::1] representative
):
    """The node of the pruned tree in which a row ends that ended in a node before."""
    cdef Py_ssize_t i
    cdef int32_t parent
    with nogil:
        representative[0] = 0
        for i in range(1, nodes.shape[0]):
            parent = nodes[i].parent
            # The parent, or a node above it, is a leaf and represents both.
            if representative[parent] != parent or cut[parent]:
                representative[i] = representative[parent]
            else:
                representative[i] = <int32_t> i


def find_gone_steps(
    const Node[::1] nodes, const int64_t[::1] cut_step, int64_t never,
    int64_t[::1] gone_step,
):
    """gone_step[node]: first step that cuts a node above; ``never`` if none does."""
    cdef Py_ssize_t i
    cdef int32_t parent
    with nogil:
        gone_step[0] = never
        for i in range(1, nodes.shape[0]):
            parent = nodes[i].parent
            gone_step[i] = min(gone_step[parent], cut_step[parent])


# --------------------------------------------------------------------- rpart's sequence
# The branch of a node just before the node itself is pruned.
cdef struct Branch:
    # cost of its leaves
    double cost
    # number of its leaves, less one: in a two-way tree its splits
    double n_splits


BRANCH_DTYPE = np.dtype([("cost", np.float64), ("n_splits", np.float64)])


cdef double measure_complexity(
    const Node* nodes, const double* node_costs, const double* complexity,
    double slack, Branch* branches, Entry* heap, Py_ssize_t number,
) noexcept nogil:
    """What a split of a branch saves, once children that save less are pruned.

    Writes the branch that is left.
    """
    cdef Py_ssize_t heap_size = 0
    cdef int32_t child, first = nodes[number].first_child
    cdef int32_t n_children = nodes[number].n_children
    cdef double cost = 0.0, n_splits = n_children - 1, saved
    for child in range(first, first + n_children):
        cost += branches[child].cost
        n_splits += branches[child].n_splits
        if branches[child].n_splits > 0:
            # Of ties the last is pruned first.
            push_entry(heap, &heap_size, complexity[child], -child)
    # (R(t) - R(T_t)) / (|T_t| - 1), the cost saved per split.
    saved = (node_costs[number] - cost) / n_splits
    while heap_size > 0 and saved > heap[0].key + slack:
        # The child's own splits save less than the branch as a whole: they go first.
        child = <int32_t> -heap[0].rank
        pop_entry(heap, &heap_size)
        n_splits -= branches[child].n_splits
        if n_children == 2:
            # Added up again, as rpart does.
            branches[child].cost = node_costs[child]
            cost = branches[first].cost + branches[first + 1].cost
        else:
            cost += node_costs[child] - branches[child].cost
        saved = (node_costs[number] - cost) / n_splits
    branches[number].cost = cost
    branches[number].n_splits = n_splits
    return saved


def measure_complexities(
    const Node[::1] nodes, const double[::1] node_costs, double slack,
    double[::1] complexity,
):
    """complexity[node]: the cost of a leaf up to which the node is split; 0 in a leaf.

    At least 0, and at most that of the parent. Costs that differ by at most
    ``slack`` are equal.
    """
    cdef Py_ssize_t n_nodes = nodes.shape[0], i
    cdef Branch[::1] branches = np.empty(n_nodes, dtype=BRANCH_DTYPE)
    cdef Entry[::1] heap = np.empty(n_nodes, dtype=ENTRY_DTYPE)
    with nogil:
        for i in range(n_nodes - 1, -1, -1):
            complexity[i] = 0.0
            if nodes[i].n_children > 0:
                complexity[i] = measure_complexity(
                    &nodes[0], &node_costs[0], &complexity[0], slack, &branches[0],
                    &heap[0], i,
                )
            # A split that saves nothing is never made.
            if not complexity[i] > slack:
                complexity[i] = 0.0
                branches[i].cost = node_costs[i]
                branches[i].n_splits = 0.0
        # From the root downwards: a node is not split where its parent is a leaf.
        for i in range(1, n_nodes):
            if complexity[nodes[i].parent] < complexity[i]:
                complexity[i] = complexity[nodes[i].parent]


# ------------------------------------------------------------------------------------
# The weakest-link sequence.
#
# Only inner nodes are numbered here, in preorder (first child first): those of a branch
# are consecutive, and all sums and exact ties are in the order of a tree that was grown
# depth first. Rounding decides between nodes that tie, so this order is part of the
# result.
# ------------------------------------------------------------------------------------


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
        # Preorder: a parent has its number before its children are taken from the
        # stack.
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
    """Add up the inner nodes of each branch, children before their parents."""
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
    """Make a leaf of an inner node.

    Nodes of its branch get n_leaves = 0; all nodes above lose its leaves but one, and
    gain its risk in place of theirs. A node above has another child and so at least two
    leaves left: link_strength does not divide by 0.
    """
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
        # Other entries are outdated: the node is a leaf by now, or has a newer entry.
        if link.n_leaves > 0 and top.key == link.key:
            strength = link_strength(link)
            if not strength > top.key:
                pop_entry(state.heap, &state.heap_size)
                return top.rank
            # The branch has become stronger since; back into the heap.
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
