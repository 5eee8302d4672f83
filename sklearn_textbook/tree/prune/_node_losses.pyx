# cython: language_level=3
"""Kernels that measure how well the nodes of a tree predict rows it has not seen.

Nodes are numbered breadth first: a parent's number is smaller than its children's.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t

from sklearn_textbook.tree.grow._layout cimport Node

cdef enum:
    ERROR = 0
    SQUARED_ERROR = 1
    ABSOLUTE_ERROR = 2

LOSSES = {
    "error": ERROR,
    "squared_error": SQUARED_ERROR,
    "absolute_error": ABSOLUTE_ERROR,
}


cdef inline double measure_loss(
    const double* y, const double* decision, Py_ssize_t n_outputs, int loss
) noexcept nogil:
    """Mean over the outputs."""
    cdef double total = 0.0, difference
    cdef Py_ssize_t k
    for k in range(n_outputs):
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
    const double[::1] shares, const double[::1] weight, const double[:, ::1] y,
    const double[:, ::1] decisions, int loss, double[:, ::1] leaf, double[:, ::1] stay,
):
    """Add the loss of every row, and its square, to all nodes it enters.

    leaf[node]: what the node as a leaf would lose; stay[node]: what the rows lose that
    end in it although it is an inner node. Column 0 has losses, column 1 squares.
    """
    cdef Py_ssize_t i, n_outputs = y.shape[1]
    cdef int32_t node
    cdef double part, value
    with nogil:
        for i in range(rows.shape[0]):
            part = shares[i]
            if weight is not None:
                part *= weight[rows[i]]
            node = <int32_t> ends[i]
            if nodes[node].n_children > 0:
                value = measure_loss(
                    &y[rows[i], 0], &decisions[node, 0], n_outputs, loss
                )
                stay[node, 0] += part * value
                stay[node, 1] += part * value * value
            while node >= 0:
                value = measure_loss(
                    &y[rows[i], 0], &decisions[node, 0], n_outputs, loss
                )
                leaf[node, 0] += part * value
                leaf[node, 1] += part * value * value
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
    cut: written; 1 for a node that falls. branch: written; cost of the node's branch
    when the node was looked at, its best subtrees below; of a leaf its own.
    """
    cdef Py_ssize_t i
    cdef double best
    with nogil:
        for i in range(nodes.shape[0]):
            branch[i] = leaf[i] if nodes[i].n_children == 0 else stay[i]
            cut[i] = 0
        for i in range(nodes.shape[0] - 1, -1, -1):
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
            # Either the parent stands for itself, or something above it for both.
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
