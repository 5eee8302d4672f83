# cython: language_level=3
"""Kernel of rpart's sequence; rpart_sequence.py has the documents.

Nodes are numbered breadth first: a parent's number is smaller than its children's.
"""

from libc.stdint cimport int32_t

from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.prune._heap cimport Entry, pop_entry, push_entry

import numpy as np


# The branch of a node as it is handed up: just before the node itself falls.
cdef struct Branch:
    # cost of its leaves
    double cost
    # number of its leaves, less one: in a two-way tree its splits
    double n_splits


BRANCH_DTYPE = np.dtype([("cost", np.float64), ("n_splits", np.float64)])
ENTRY_DTYPE = np.dtype([("key", np.float64), ("rank", np.int64)])


cdef double measure_complexity(
    const Node* nodes, const double* node_costs, const double* complexity,
    double slack, Branch* branches, Entry* heap, Py_ssize_t number,
) noexcept nogil:
    """What a split of a branch saves, once children that save less have fallen.

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
            # Of equals the last falls first.
            push_entry(heap, &heap_size, complexity[child], -child)
    saved = (node_costs[number] - cost) / n_splits
    while heap_size > 0 and saved > heap[0].key + slack:
        child = <int32_t> -heap[0].rank
        pop_entry(heap, &heap_size)
        n_splits -= branches[child].n_splits
        if n_children == 2:
            # The sum anew, as rpart has it.
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

    At least 0, and at most that of the parent. Costs that differ by no more than
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
        for i in range(1, n_nodes):
            if complexity[nodes[i].parent] < complexity[i]:
                complexity[i] = complexity[nodes[i].parent]
