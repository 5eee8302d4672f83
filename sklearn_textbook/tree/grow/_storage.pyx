# cython: language_level=3
"""Kernels of :mod:`sklearn_textbook.tree.grow.storage`."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._layout cimport Node


cdef inline uint64_t bits_of(double number) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &number, sizeof(double))
    return bits


def list_shape(const int32_t[::1] n_children):
    """List what the numbers of children tell of a tree, breadth first.

    Parameters
    ----------
    n_children : ndarray of int32, shape (n_nodes,)
        Numbers of children.

    Returns
    -------
    inner, leaves : ndarray of int32
        Numbers of the inner nodes and of the leaves.
    starts : ndarray of int32, shape (n_inner,)
        Where the children of each inner node start, the root left out.
    first_child : ndarray of int32, shape (n_nodes,)
        -1 for a leaf.
    is_sound : bool
        Whether there is such a tree.
    """
    cdef:
        Py_ssize_t i, n = n_children.shape[0], n_inner = 0
        int64_t first = 0
        bint is_sound = True
        int32_t[::1] inner = np.empty(n + 1, dtype=np.int32)
        int32_t[::1] leaves = np.empty(n + 1, dtype=np.int32)
        int32_t[::1] starts = np.empty(n + 1, dtype=np.int32)
        int32_t[::1] first_child = np.empty(n, dtype=np.int32)
    with nogil:
        for i in range(n):
            # Written anyway, and kept where it belongs: nobody guesses.
            inner[n_inner] = <int32_t>i
            leaves[i - n_inner] = <int32_t>i
            starts[n_inner] = <int32_t>first
            first_child[i] = <int32_t>(first + 1) if n_children[i] > 0 else -1
            is_sound = is_sound and (n_children[i] <= 0 or first >= i)
            first += n_children[i]
            n_inner += n_children[i] > 0
    return (
        inner.base[:n_inner], leaves.base[:n - n_inner], starts.base[:n_inner],
        first_child.base, bool(is_sound and first + 1 == n)
    )


def list_parents(const int32_t[::1] n_children):
    """List the parents of the nodes of a sound tree; -1 for the root."""
    cdef:
        Py_ssize_t i, n = n_children.shape[0]
        int64_t child, last = 1
        int32_t[::1] parent = np.empty(n, dtype=np.int32)
    with nogil:
        parent[0] = -1
        for i in range(n):
            for child in range(last, last + n_children[i]):
                parent[child] = <int32_t>i
            last += n_children[i]
    return parent.base


def read_inner(const Node[::1] nodes, leaf_entries):
    """Read the columns that mean something in inner nodes only.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE, shape (n_nodes,)
        The nodes.
    leaf_entries : tuple of (int, int, int, int, float)
        What a leaf has as ``feature``, ``missing_branch``, ``kind``, ``map_start`` and
        ``threshold``.

    Returns
    -------
    columns : tuple of ndarray of shape (n_inner,)
        Those of the inner nodes.
    is_usual : tuple of bool
        Whether the leaves have these entries, bit for bit.
    """
    cdef:
        Py_ssize_t i, n = nodes.shape[0], n_inner = 0
        int32_t feature, branch, kind
        int64_t map_start
        double threshold
        bint[5] usual
        const Node* node
        int32_t[:, ::1] short = np.empty((3, n + 1), dtype=np.int32)
        int64_t[::1] starts = np.empty(n + 1, dtype=np.int64)
        double[::1] thresholds = np.empty(n + 1)
    feature, branch, kind, map_start, threshold = leaf_entries
    with nogil:
        for i in range(5):
            usual[i] = True
        for i in range(n):
            node = &nodes[i]
            # Written anyway, and kept for an inner node.
            short[0, n_inner] = node.feature
            short[1, n_inner] = node.missing_branch
            short[2, n_inner] = node.kind
            starts[n_inner] = node.map_start
            thresholds[n_inner] = node.threshold
            if node.n_children > 0:
                n_inner += 1
                continue
            usual[0] &= node.feature == feature
            usual[1] &= node.missing_branch == branch
            usual[2] &= node.kind == kind
            usual[3] &= node.map_start == map_start
            usual[4] &= bits_of(node.threshold) == bits_of(threshold)
    columns = [*short.base[:, :n_inner], starts.base[:n_inner]]
    return (*columns, thresholds.base[:n_inner]), tuple([bool(u) for u in usual])


def read_measures(const Node[::1] nodes):
    """Read ``n_samples``, ``weight``, ``impurity`` and ``improvement``, each with its
    entries side by side."""
    cdef:
        Py_ssize_t i, n = nodes.shape[0]
        int64_t[::1] n_samples = np.empty(n, dtype=np.int64)
        double[:, ::1] measures = np.empty((3, n))
    with nogil:
        for i in range(n):
            n_samples[i] = nodes[i].n_samples
            measures[0, i] = nodes[i].weight
            measures[1, i] = nodes[i].impurity
            measures[2, i] = nodes[i].improvement
    return n_samples.base, *measures.base


ctypedef fused Amount:
    int64_t
    double


def take_leaves(const int32_t[::1] leaves, const Amount[:, ::1] column):
    """Copy the rows of the leaves."""
    cdef:
        Py_ssize_t i, k
        Amount[:, ::1] taken
    taken_array = np.empty(
        (leaves.shape[0], column.shape[1]), np.float64 if Amount is double else np.int64
    )
    taken = taken_array
    with nogil:
        for i in range(leaves.shape[0]):
            for k in range(column.shape[1]):
                taken[i, k] = column[leaves[i], k]
    return taken_array


def adds_up(const int32_t[::1] n_children, const Amount[:, ::1] column):
    """Tell whether the numbers of every inner node are, bit for bit, the sums of its
    children's, for a sound tree of whole numbers."""
    cdef:
        Py_ssize_t i, k, child, first = 1
        Amount total
        bint is_same = True
    with nogil:
        for i in range(n_children.shape[0]):
            if n_children[i] == 0:
                continue
            for k in range(column.shape[1]):
                total = 0
                for child in range(first, first + n_children[i]):
                    total += column[child, k]
                if Amount is double:
                    is_same = is_same and bits_of(total) == bits_of(column[i, k])
                else:
                    is_same = is_same and total == column[i, k]
            first += n_children[i]
    return is_same


def compute_gini(const double[:, :, ::1] statistics, const double[::1] weight):
    """Compute the Gini impurity of all nodes as growing does, in the same order.

    Parameters
    ----------
    statistics : ndarray of float64, shape (n_nodes, n_outputs, n_classes)
        Weights of the classes.
    weight : ndarray of float64, shape (n_nodes,)
        Weights of the nodes.

    Returns
    -------
    impurity : ndarray of float64, shape (n_nodes,)
    """
    cdef:
        Py_ssize_t i, output, k
        double total, squares, share
        double[::1] impurity = np.empty(weight.shape[0])
    with nogil:
        for i in range(weight.shape[0]):
            total = 0.0
            for output in range(statistics.shape[1]):
                squares = 0.0
                for k in range(statistics.shape[2]):
                    share = statistics[i, output, k] / weight[i]
                    squares += share * share
                total += 1.0 - squares
            impurity[i] = total / statistics.shape[1]
    return impurity.base


def compute_decrease(
    const int32_t[::1] n_children, const double[::1] weight, const double[::1] impurity
):
    """Compute the decrease of the impurity by two-way splits as growing does, for a
    sound tree without others; 0 for leaves.

    Parameters
    ----------
    n_children : ndarray of int32, shape (n_nodes,)
        Numbers of children.
    weight, impurity : ndarray of float64, shape (n_nodes,)
        Those of the nodes.

    Returns
    -------
    decrease : ndarray of float64, shape (n_nodes,)
    """
    cdef:
        Py_ssize_t i, first = 1
        double left
        double[::1] decrease = np.zeros(weight.shape[0])
    with nogil:
        for i in range(weight.shape[0]):
            if n_children[i] == 0:
                continue
            left = impurity[i] - weight[first] / weight[i] * impurity[first]
            left -= weight[first + 1] / weight[i] * impurity[first + 1]
            decrease[i] = left if left > 0.0 else 0.0
            first += 2
    return decrease.base


def add_up(const int32_t[::1] n_children, int64_t[:, ::1] sums):
    """Fill the sums of inner nodes from those of their children, bottom up.

    sums: read and written; a row per node, those of inner nodes 0.
    """
    cdef Py_ssize_t node, k, child, last = n_children.shape[0]
    with nogil:
        # Breadth first: going backwards, the children of each inner node are those
        # right before the children of the one that came last.
        for node in range(n_children.shape[0] - 1, -1, -1):
            if n_children[node] == 0:
                continue
            for child in range(last - n_children[node], last):
                for k in range(sums.shape[1]):
                    sums[node, k] += sums[child, k]
            last -= n_children[node]
