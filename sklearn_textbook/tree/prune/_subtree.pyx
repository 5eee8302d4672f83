# cython: language_level=3
"""Kernels that decide which nodes of a tree stay.

Nodes are numbered breadth first, so one sweep upwards in number passes every parent
before its children, and one sweep downwards every child before its parent.
"""

from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t, uint8_t

from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.prune._heap cimport Entry, pop_entry, push_entry

import numpy as np

ENTRY_DTYPE = np.dtype([("key", np.float64), ("rank", np.int64)])


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
        uniform[:] = 1
        for i in range(nodes.shape[0] - 1, 0, -1):
            if not (agrees[i] and uniform[i]):
                uniform[nodes[i].parent] = 0


def mark_unexpanded(
    const Node[::1] nodes, int64_t max_leaf_nodes, Entry[::1] heap,
    uint8_t[::1] unexpanded,
):
    """unexpanded = 1 for the inner nodes that best-first growth does not split."""
    cdef Py_ssize_t size = 0
    cdef int64_t n_leaves = 1, number
    cdef int32_t child
    cdef const Node* node
    # Gains that are equal but for rounding shall be equal: count them in steps that
    # are small against the whole.
    cdef double gain, grid = 1e-12 * nodes[0].impurity * nodes[0].weight
    if grid <= 0.0:
        grid = 1.0
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
                    gain = nodes[child].improvement * nodes[child].weight
                    push_entry(&heap[0], &size, -floor(gain / grid + 0.5), child)
