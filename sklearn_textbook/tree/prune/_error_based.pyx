# cython: language_level=3
"""Error-based pruning of a whole tree; documented in error_based.py.

Everything runs in one thread: half of the time is spent on a few nodes with most of the
cases, which are visited one after the other.
"""

from cython cimport floating
from libc.math cimport log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._file_memory cimport (
    free_bytes, take_bytes, take_zero_bytes,
)
from sklearn_textbook.tree.grow._layout cimport (
    FRACTIONAL, LEAF, STAY, Node, Surrogate,
)
from sklearn_textbook.tree.prune._cases cimport Branch, Case, CaseTable
from sklearn_textbook.tree.prune._error_estimate cimport (
    Confidence, add_errors, count_errors, estimate_counted, estimate_errors,
    find_majority, is_at_most,
)
from sklearn_textbook.tree.prune._pruner cimport (
    DONE, KEPT, NO_MEMORY, OTHER_ROWS, PRUNED, RAISED, Entry, Frame, Outcome, Pruner,
    Slot, Step, is_leaf, test_of, weights_of,
)
from sklearn_textbook.tree.prune._walk cimport prune_root

import numpy as np

from sklearn_textbook._contract.file_memory import is_in_files
from sklearn_textbook.tree.grow.layout import NODE_DTYPE

# What the numbers in a list of steps mean.
DECISIONS = {"kept": KEPT, "pruned": PRUNED, "raised": RAISED}

cdef enum Criterion:
    ENTROPY = 0
    GINI = 1
    ERROR = 2

CRITERIA = {"entropy": ENTROPY, "log_loss": ENTROPY, "gini": GINI, "error": ERROR}

# One decision about one node; the counterpart of Entry in _pruner.pxd.
ENTRY_DTYPE = np.dtype(
    [
        # the position, numbered as the node of the grown tree there
        ("slot", np.int32),
        # the node that stood there
        ("node", np.int32),
        # the node that took its place; -1: none did
        ("raised", np.int32),
        # one of DECISIONS
        ("decision", np.int32),
        # estimated errors of what was below the node, and of what took its place or,
        # if the node was kept, of the leaf that did not
        ("before", np.float64),
        ("after", np.float64),
    ],
    align=True,
)


# ------------------------------------------------------------------------- beginning
cdef Outcome allocate(Pruner* p, Py_ssize_t n_rows) noexcept nogil:
    """Allocate working memory; on NO_MEMORY, `release` frees what there is.

    The stack starts with room for two copies of all rows, and grows where missing
    values are divided.
    """
    cdef Py_ssize_t i, n_inner = 0
    for i in range(p.n_nodes):
        n_inner += p.nodes[i].kind != LEAF
    p.stack.capacity = 2 * n_rows
    p.stack.cases = <Case*>take_bytes(
        p.stack.capacity * sizeof(Case), p.stack.in_files
    )
    p.stack.scratch = <Case*>take_bytes(n_rows * sizeof(Case), p.stack.in_files)
    p.stack.branch_of = <int32_t*>take_bytes(
        n_rows * sizeof(int32_t), p.stack.in_files
    )
    p.is_dropped = <uint8_t*>take_zero_bytes(n_rows, p.stack.in_files)
    # No way is longer than the number of inner nodes.
    p.frames = <Frame*>malloc(n_inner * sizeof(Frame))
    p.steps = <Step*>malloc(n_inner * sizeof(Step))
    p.leaf_weights = <double*>malloc(p.n_classes * sizeof(double))
    if (
        p.stack.cases == NULL or p.stack.scratch == NULL or p.stack.branch_of == NULL
        or p.is_dropped == NULL or p.frames == NULL or p.steps == NULL
        or p.leaf_weights == NULL
    ):
        return NO_MEMORY
    return DONE


cdef void release(Pruner* p) noexcept nogil:
    """Free the working memory; free(NULL) does nothing."""
    free_bytes(p.stack.cases)
    free_bytes(p.stack.scratch)
    free_bytes(p.stack.branch_of)
    free_bytes(p.is_dropped)
    free(p.frames)
    free(p.steps)
    free(p.leaf_weights)
    free(p.log.entries)


cdef void fill_slots(
    Pruner* p, const double* statistics, const uint8_t[::1] collapsed
) noexcept nogil:
    """Take over the grown tree; nodes at and below a collapsed one become leaves.

    Parents precede their children, so their slots are filled first.
    """
    cdef int32_t i, parent
    cdef size_t size = p.n_classes * sizeof(double)
    for i in range(p.n_nodes):
        parent = p.nodes[i].parent
        if i > 0 and (p.slots[parent].test < 0):
            # Below a node that has been collapsed.
            p.slots[i].test = -1
            continue
        p.slots[i].test = i if p.nodes[i].kind != LEAF and not collapsed[i] else -1
        p.slots[i].n_cases = p.nodes[i].n_samples
        # An empty leaf has the class weights of its parent.
        if p.nodes[i].n_samples > 0:
            memcpy(weights_of(p, i), statistics + i * p.n_classes, size)
        if is_leaf(p, i):
            p.slots[i].estimate = estimate_errors(
                &p.confidence, weights_of(p, i), p.n_classes
            )


cdef void push_rows(
    Pruner* p, const int32_t[::1] codes, const double[::1] sample_weight
) noexcept nogil:
    """The cases of the root: the rows of positive weight."""
    cdef int32_t row
    cdef double weight = 1.0
    cdef Case* one
    for row in range(codes.shape[0]):
        if sample_weight is not None:
            weight = sample_weight[row]
        if weight > 0.0:
            one = &p.stack.cases[p.stack.top]
            one.weight, one.row, one.label = weight, row, codes[row]
            p.stack.top += 1


# ------------------------------------------------------------------------ the result
cdef int32_t list_slots(const Pruner* p, int32_t[::1] order) noexcept nogil:
    """List the slots that remain, breadth first; their number."""
    cdef int32_t n_listed = 1, i = 0, branch
    cdef const Node* test
    order[0] = 0
    while i < n_listed:
        if not is_leaf(p, order[i]):
            test = test_of(p, order[i])
            for branch in range(test.n_children):
                order[n_listed] = test.first_child + branch
                n_listed += 1
        i += 1
    return n_listed


cdef double compute_impurity(
    const double* weights, double total, Py_ssize_t n_classes, int criterion
) noexcept nogil:
    """Entropy in bits, Gini impurity or fraction of errors."""
    cdef double impurity = 0.0 if criterion == ENTROPY else 1.0, largest = 0.0, fraction
    cdef Py_ssize_t c
    for c in range(n_classes):
        if weights[c] <= 0.0:
            continue
        fraction = weights[c] / total
        largest = max(largest, fraction)
        if criterion == ENTROPY:
            impurity -= fraction * log2(fraction)
        elif criterion == GINI:
            impurity -= fraction * fraction
    if criterion == ERROR:
        impurity -= largest
    return max(impurity, 0.0)


cdef void write_test_of_slot(const Pruner* p, int32_t slot, Node* node) noexcept nogil:
    """Write the test of a slot, or what a leaf has instead of one. first_child of an
    inner node is left to write_kept_nodes."""
    cdef const Node* test
    if is_leaf(p, slot):
        node.kind, node.n_children, node.first_child = LEAF, 0, -1
        node.feature, node.missing_branch, node.map_start = -2, STAY, -1
        node.threshold, node.improvement = -2.0, 0.0
    else:
        test = test_of(p, slot)
        node.kind, node.n_children = test.kind, test.n_children
        node.feature, node.missing_branch = test.feature, test.missing_branch
        node.map_start, node.threshold = test.map_start, test.threshold


cdef void write_weights(
    const Pruner* p, int32_t slot, Node* node, double* weights, const Node* parent,
    const double* parent_weights, int criterion
) noexcept nogil:
    """Write class weights, number of rows, weight and impurity of a slot.

    Those of a slot whose cases did not change are exactly those of growing. n_samples
    counts cases: a part of a row is one.
    """
    cdef size_t size = p.n_classes * sizeof(double)
    node.n_samples = p.slots[slot].n_cases
    if node.n_samples == 0:
        # An empty leaf predicts like its parent.
        memcpy(weights, parent_weights, size)
        node.weight = 0.0
        node.impurity = parent.impurity
        return
    memcpy(weights, weights_of(p, slot), size)
    if p.slots[slot].is_changed:
        count_errors(weights, p.n_classes, &node.weight)
        node.impurity = compute_impurity(
            weights, node.weight, p.n_classes, criterion
        )


cdef void write_kept_nodes(
    const Pruner* p, const int32_t[::1] order, Node[::1] nodes,
    double[:, ::1] statistics, int criterion
) noexcept nogil:
    """Write the nodes of the pruned tree, breadth first, in the order of ``order``.

    A parent is written before its children, whose numbers follow in sequence; it notes
    itself as their parent.
    """
    cdef int32_t i, slot, parent, child, n_numbered = 1
    cdef Node* node
    nodes[0].parent = -1
    for i in range(nodes.shape[0]):
        slot = order[i]
        node = &nodes[i]
        parent = node.parent
        # The record was given its parent when that was written.
        node[0] = p.nodes[slot]
        node.parent = parent
        parent = max(parent, 0)
        write_test_of_slot(p, slot, node)
        write_weights(
            p, slot, node, &statistics[i, 0], &nodes[parent], &statistics[parent, 0],
            criterion
        )
        if node.kind != LEAF:
            node.first_child = n_numbered
            for child in range(n_numbered, n_numbered + node.n_children):
                nodes[child].parent = i
            n_numbered += node.n_children


cdef void write_improvements(
    const Pruner* p, const int32_t[::1] order, Node[::1] nodes
) noexcept nogil:
    """Of the nodes that have other children, or children with other cases.

    improvement = impurity - sum of W_c / W impurity_c over the children c. Cases that
    stay gain nothing: without FRACTIONAL, the first term counts for the part of the
    weight that is in the children.
    """
    cdef int32_t i, child
    cdef const Slot* slot
    cdef Node* node
    cdef double gain, weight
    for i in range(nodes.shape[0]):
        node = &nodes[i]
        slot = &p.slots[order[i]]
        if node.kind == LEAF or (slot.test == order[i] and not slot.is_changed):
            continue
        gain, weight = node.impurity, 0.0
        for child in range(node.first_child, node.first_child + node.n_children):
            weight += nodes[child].weight
        if node.missing_branch != FRACTIONAL:
            gain *= weight / node.weight
        for child in range(node.first_child, node.first_child + node.n_children):
            gain -= nodes[child].weight / node.weight * nodes[child].impurity
        node.improvement = max(gain, 0.0)


cdef void view_tests(
    CaseTable* table, const Node[::1] nodes, const int32_t[::1] level_branch,
    const int64_t[::1] n_levels, const Surrogate[::1] surrogates,
    const int64_t[::1] surrogate_start, int32_t unseen_branch,
) noexcept nogil:
    """The arrays of tests without the columns."""
    table.tree.nodes = &nodes[0]
    table.tree.n_levels = &n_levels[0]
    table.tree.unseen_branch = unseen_branch
    if level_branch.shape[0] > 0:
        table.tree.level_branch = &level_branch[0]
    if surrogates.shape[0] > 0:
        table.tree.surrogates = &surrogates[0]
        table.tree.surrogate_start = &surrogate_start[0]


cdef copy_log(const Pruner* p):
    """The decisions as an array of ENTRY_DTYPE."""
    steps = np.empty(p.log.n_entries, dtype=ENTRY_DTYPE)
    cdef Entry[::1] target = steps
    if p.log.n_entries > 0:
        memcpy(&target[0], p.log.entries, p.log.n_entries * sizeof(Entry))
    return steps


# ----------------------------------------------------------------------- from Python
def prune_nodes(
    const Node[::1] nodes, const double[:, ::1] statistics,
    const int32_t[::1] level_branch, const int64_t[::1] n_levels,
    const Surrogate[::1] surrogates, const int64_t[::1] surrogate_start,
    int32_t unseen_branch, const floating[:, :] matrix, const int32_t[::1] codes,
    const double[::1] sample_weight, confidence, bint raises_branches,
    const uint8_t[::1] collapsed, const uint32_t[:, ::1] level_codes, int criterion,
):
    """Prune the tree, which has an inner node, with the rows that grew it.

    surrogate_start: where those of each node start and stop. unseen_branch: STAY or
    FRACTIONAL. sample_weight: may be None. confidence: level, its logarithm, and the
    normal quantile of 1 - level. collapsed: 1 for inner nodes that are leaves from the
    beginning. level_codes: empty, or the nominal columns. criterion: one of CRITERIA.

    Returns the nodes and the class weights of the pruned tree, whose level maps stay in
    place; the numbers that its nodes' places had; and the steps, an ENTRY_DTYPE each.
    """
    cdef Pruner p
    cdef Py_ssize_t n_kept
    cdef Outcome outcome
    cdef uint8_t[::1] buffer
    memset(&p, 0, sizeof(Pruner))
    p.stack.in_files = is_in_files()
    p.nodes, p.n_nodes, p.n_classes = &nodes[0], nodes.shape[0], statistics.shape[1]
    p.confidence.level, p.confidence.log_level, p.confidence.z = confidence
    p.raises_branches = raises_branches
    view_tests(
        &p.table, nodes, level_branch, n_levels, surrogates, surrogate_start,
        unseen_branch
    )
    p.table.rows.start = <const char*>&matrix[0, 0]
    p.table.rows.row_stride = matrix.strides[0]
    p.table.rows.column_stride = matrix.strides[1]
    p.table.rows.is_single = floating is float
    if level_codes.shape[1] > 0:
        p.table.codes.start = &level_codes[0, 0]
        p.table.codes.stride = level_codes.shape[1]
    order = np.empty(p.n_nodes, dtype=np.int32)
    # numpy requests huge pages, which cost less at the first access.
    buffer = np.zeros(
        p.n_nodes * (sizeof(Slot) + sizeof(Branch) + p.n_classes * sizeof(double)),
        dtype=np.uint8,
    )
    p.slots = <Slot*>&buffer[0]
    p.branches = <Branch*>(p.slots + p.n_nodes)
    p.class_weights = <double*>(p.branches + p.n_nodes)
    try:
        with nogil:
            outcome = allocate(&p, codes.shape[0])
            if outcome == DONE:
                fill_slots(&p, &statistics[0, 0], collapsed)
                push_rows(&p, codes, sample_weight)
                outcome = prune_root(&p)
        if outcome == NO_MEMORY:
            raise MemoryError("There is not enough memory to prune the tree.")
        if outcome == OTHER_ROWS:
            raise ValueError(
                "The rows do not reach the nodes of the tree as those did that grew "
                "it, so that none of its branches can be raised. Weighted rows with "
                "missing values may do so in a tree with missing='surrogate' that has "
                "no surrogates; subtree_raising=False needs no rows."
            )
        n_kept = list_slots(&p, order)
        kept = np.empty(n_kept, dtype=NODE_DTYPE)
        kept_statistics = np.empty((n_kept, p.n_classes))
        write_kept_nodes(&p, order, kept, kept_statistics, criterion)
        write_improvements(&p, order, kept)
        steps = copy_log(&p)
    finally:
        release(&p)
    return kept, kept_statistics, order[:n_kept], steps


cdef double estimate_rest(
    const Node[::1] nodes, const double[:, ::1] statistics, Py_ssize_t i,
    const Confidence* limit,
) noexcept nogil:
    """Estimate of the cases of an inner node that are in no branch: as for a leaf
    that predicts the class of the node."""
    cdef Py_ssize_t c, majority
    cdef int32_t child, first = nodes[i].first_child
    cdef double weight = 0.0, errors = 0.0, rest
    if nodes[i].missing_branch == FRACTIONAL:
        return 0.0
    majority = find_majority(&statistics[i, 0], statistics.shape[1])
    for c in range(statistics.shape[1]):
        rest = statistics[i, c]
        for child in range(first, first + nodes[i].n_children):
            # An empty leaf has the class weights of its parent.
            if nodes[child].n_samples > 0:
                rest -= statistics[child, c]
        rest = max(rest, 0.0)
        weight += rest
        if c != majority:
            errors += rest
    return estimate_counted(limit, weight, errors)


def estimate_nodes(
    const Node[::1] nodes, const double[:, ::1] statistics, confidence,
    double[::1] leaf, double[::1] rest,
):
    """leaf = estimated errors of each node if it were one; rest = those of the cases
    of an inner node that are in no branch."""
    cdef Confidence limit
    cdef Py_ssize_t i
    limit.level, limit.log_level, limit.z = confidence
    with nogil:
        for i in range(nodes.shape[0]):
            leaf[i] = rest[i] = 0.0
            if nodes[i].n_samples == 0:
                continue
            leaf[i] = estimate_errors(
                &limit, &statistics[i, 0], statistics.shape[1]
            )
            if nodes[i].kind != LEAF:
                rest[i] = estimate_rest(nodes, statistics, i, &limit)


def add_up_estimates(
    const Node[::1] nodes, const double[::1] leaf, const double[::1] rest,
    const uint8_t[::1] fallen, bint prunes, double[::1] branch, uint8_t[::1] cut,
):
    """branch = estimated errors of what is below each node; a node of ``fallen``
    counts as a leaf for those above it.

    prunes: whether inner nodes become leaves where that costs no more than 0.1 errors;
    then branch holds what is left below a node when it is looked at. cut = 1 for
    those, and for ``fallen``.
    """
    cdef Py_ssize_t i
    cdef int32_t child, first
    with nogil:
        # Backwards, since children follow their parents.
        for i in range(nodes.shape[0] - 1, -1, -1):
            cut[i] = fallen[i]
            first = nodes[i].first_child
            if nodes[i].kind == LEAF:
                branch[i] = leaf[i]
                continue
            branch[i] = 0.0
            for child in range(first, first + nodes[i].n_children):
                branch[i] += leaf[child] if cut[child] else branch[child]
            branch[i] += rest[i]
            if prunes and is_at_most(leaf[i], branch[i] + 0.1):
                cut[i] = 1


def mark_collapsed(
    const Node[::1] nodes, const double[:, ::1] statistics, double slack,
    uint8_t[::1] collapsed,
):
    """collapsed = 1 for the inner nodes whose leaves save at most ``slack`` errors."""
    cdef double[::1] leaf_errors = np.zeros(nodes.shape[0])
    cdef Py_ssize_t n_classes = statistics.shape[1], i
    cdef int32_t child
    cdef double errors, weight
    with nogil:
        # Backwards, since children follow their parents.
        for i in range(nodes.shape[0] - 1, -1, -1):
            # An empty leaf has the class weights of its parent.
            errors = 0.0
            if nodes[i].n_samples > 0:
                errors = count_errors(&statistics[i, 0], n_classes, &weight)
            collapsed[i] = 0
            if nodes[i].kind == LEAF:
                leaf_errors[i] = errors
                continue
            for child in range(
                nodes[i].first_child, nodes[i].first_child + nodes[i].n_children
            ):
                leaf_errors[i] += leaf_errors[child]
            collapsed[i] = leaf_errors[i] >= errors - slack


def fill_added_errors(
    const double[::1] weight, const double[::1] errors, confidence, double[::1] added
):
    """added = what the estimate adds to the errors of each leaf."""
    cdef Confidence limit
    cdef Py_ssize_t i
    limit.level, limit.log_level, limit.z = confidence
    for i in range(weight.shape[0]):
        added[i] = add_errors(&limit, weight[i], errors[i])
