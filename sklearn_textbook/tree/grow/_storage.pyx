# cython: language_level=3
"""Kernels of :mod:`sklearn_textbook.tree.grow.storage`."""

from libc.stdint cimport int32_t, int64_t


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
