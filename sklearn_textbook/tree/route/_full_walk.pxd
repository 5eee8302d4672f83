# The walk of one row by tests of any kind, which may divide it: header-only.

from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.grow._layout cimport FRACTIONAL, LEAF, STAY, Node
from sklearn_textbook.tree.route._branch cimport UNSEEN_ERROR, TreeView, find_branch
from sklearn_textbook.tree.route._rows cimport Row


cdef inline void note_error(
    int64_t* error, Py_ssize_t row, int32_t column
) noexcept nogil:
    """Keep the first row that met an unseen level, and its column."""
    if error[0] < 0:
        error[0] = row
        error[1] = column


cdef inline int32_t walk_on(
    const TreeView* tree, const Row* row, int32_t* node, int32_t* unseen
) noexcept nogil:
    """Walk from ``node`` to where the row ends, which is written there.

    Returns what holds the row: STAY in a leaf, else STAY, FRACTIONAL or UNSEEN_ERROR;
    then ``unseen`` is the column of the unseen level.
    """
    cdef int32_t branch
    while tree.nodes[node[0]].kind != LEAF:
        branch = find_branch(tree, node[0], row, unseen)
        if branch < 0:
            return branch
        node[0] = tree.nodes[node[0]].first_child + branch
    return STAY


cdef inline Py_ssize_t push_children(
    const TreeView* tree, int32_t number, double fraction, int32_t* pending,
    double* pending_fraction, Py_ssize_t n_pending,
) noexcept nogil:
    """Divide a fraction among the children with weight, the first on top."""
    cdef const Node* node = &tree.nodes[number]
    cdef double total = 0.0, weight
    cdef int32_t first = node.first_child, child
    for child in range(first, first + node.n_children):
        total += tree.nodes[child].weight
    for child in range(first + node.n_children - 1, first - 1, -1):
        weight = tree.nodes[child].weight
        if weight > 0.0:
            pending[n_pending] = child
            pending_fraction[n_pending] = fraction * weight / total
            n_pending += 1
    return n_pending


cdef inline void spread_row(
    const TreeView* tree, const Row* row, int32_t start, const double* fractions,
    Py_ssize_t width, int32_t* pending, double* pending_fraction, double* mean,
    Py_ssize_t number, int64_t* error,
) noexcept nogil:
    """Weighted mean of the distributions that a row reaches from ``start`` on."""
    cdef Py_ssize_t n_pending, n_before, j
    cdef int32_t node, branch, unseen = 0
    cdef double fraction
    for j in range(width):
        mean[j] = 0.0
    n_pending = push_children(tree, start, 1.0, pending, pending_fraction, 0)
    # No child has weight: the row ends in the node itself.
    if n_pending == 0:
        for j in range(width):
            mean[j] = fractions[start * width + j]
    while n_pending > 0:
        # A stack of nodes with the fraction of the row that reaches them, depth first:
        # at most the children of the nodes on one path.
        n_pending -= 1
        node = pending[n_pending]
        fraction = pending_fraction[n_pending]
        branch = walk_on(tree, row, &node, &unseen)
        if branch == UNSEEN_ERROR:
            note_error(error, number, unseen)
        n_before = n_pending
        if branch == FRACTIONAL:
            n_pending = push_children(
                tree, node, fraction, pending, pending_fraction, n_pending
            )
        # Nothing was pushed: this part of the row ends here.
        if n_pending == n_before:
            for j in range(width):
                mean[j] += fraction * fractions[node * width + j]


cdef inline Py_ssize_t enter_nodes(
    const TreeView* tree, const Row* row, int32_t start, int32_t* entered,
    Py_ssize_t number, int64_t* error,
) noexcept nogil:
    """All nodes that a row enters which is divided at ``start``, in ascending order;
    ``entered`` is a queue too, since nodes are numbered breadth first."""
    cdef Py_ssize_t n_entered = 1, i = 0
    cdef int32_t node, branch, child, first, unseen = 0
    entered[0] = start
    branch = FRACTIONAL
    while i < n_entered:
        node = entered[i]
        first = tree.nodes[node].first_child
        if i > 0:
            # The first node divides the row, as is known; others are asked.
            branch = STAY
            if tree.nodes[node].kind != LEAF:
                branch = find_branch(tree, node, row, &unseen)
        if branch >= 0:
            entered[n_entered] = first + branch
            n_entered += 1
        elif branch == UNSEEN_ERROR:
            note_error(error, number, unseen)
        elif branch == FRACTIONAL:
            for child in range(first, first + tree.nodes[node].n_children):
                if tree.nodes[child].weight > 0.0:
                    entered[n_entered] = child
                    n_entered += 1
        i += 1
    return n_entered
