# The state of error-based pruning, for _walk.pxd and _error_based.pyx.
#
# A case is a row of positive weight, or a part of one. Every node of the grown tree
# is a slot. Pruning makes a leaf of a slot; raising a branch gives a slot the test
# and the children of its heaviest child, whose own slot is not reached any more.
# Children are settled before their parent; what has been raised is pruned again, with
# its new cases.

from libc.stdint cimport int32_t, int64_t, uint8_t

from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.prune._cases cimport Branch, CaseTable, Stack
from sklearn_textbook.tree.prune._error_estimate cimport Confidence

cdef enum Outcome:
    # the rows do not reach the same nodes as those that grew the tree
    OTHER_ROWS = -2
    NO_MEMORY = -1
    DONE = 0
    # the node has been raised and is to be pruned again
    AGAIN = 1
    # a value is missing where none may be
    MET_MISSING = 2


# A place in the tree. It keeps its number, that of a node of the grown tree, whatever
# test it takes over.
cdef struct Slot:
    # node whose test and children it has; -1 in a leaf
    int32_t test
    # whether the node has to be visited
    bint is_pending
    # whether its cases are not those that the grown tree has there
    bint is_changed
    # whether a case is divided or stays at its test, or below
    bint meets_missing
    # estimated errors of the leaves below and of the cases that stay on the way to
    # them, or of itself if it is a leaf
    double estimate
    int64_t n_cases


# Where the cases of a frame are.
cdef enum Standing:
    # among those of its parent
    INSIDE
    # the same, and behind them, at the top, parts of the parent's missing cases
    EXTENDED
    # at the top, all of them copies
    COPIED


# A node on the current path.
cdef struct Frame:
    int64_t start
    int64_t n_cases
    # cases that stay, which stand first
    int64_t n_staying
    # then those that go to all branches; -1: not counted
    int64_t n_missing
    # estimated errors of the cases that stay
    double staying_errors
    int32_t slot
    int32_t next_child
    Standing standing
    bint is_divided
    # whether the slots below must be given these cases
    bint is_new
    # whether all cases that the slots below had are among these, with equal weights
    bint includes_old


# A node on the path of cases down a branch.
cdef struct Step:
    int64_t start
    int64_t n_staying
    int64_t n_missing
    int32_t slot
    int32_t next_branch
    int32_t last_branch
    bint includes_old


cdef enum Decision:
    KEPT = 0
    PRUNED = 1
    RAISED = 2


# What was decided about a node, and when.
cdef struct Entry:
    int32_t slot
    # the node that stood there, and the one that took its place; -1: none did
    int32_t node
    int32_t raised
    # one of Decision
    int32_t decision
    # estimated errors of what was below the node, and of what took or would have
    # taken its place
    double before
    double after


cdef struct Log:
    Entry* entries
    int64_t n_entries
    int64_t capacity


# The tree, and all working memory.
cdef struct Pruner:
    const Node* nodes
    Py_ssize_t n_nodes
    Py_ssize_t n_classes
    Confidence confidence
    bint raises_branches
    CaseTable table
    # one for each node of the grown tree, or n_classes
    Slot* slots
    double* class_weights
    Branch* branches
    # the cases of the nodes on the current path, and these nodes
    Stack stack
    Frame* frames
    Py_ssize_t n_frames
    Step* steps
    # the class weights of one leaf
    double* leaf_weights
    # 1 for the rows to be dropped
    uint8_t* is_dropped
    Log log


cdef inline bint is_leaf(const Pruner* p, int32_t slot) noexcept nogil:
    """Whether a slot is a leaf at present."""
    return p.slots[slot].test < 0


cdef inline const Node* test_of(const Pruner* p, int32_t slot) noexcept nogil:
    """The test of a slot that is no leaf. Its children are the slots from
    ``test.first_child`` on: raising a branch gives a slot the test and the children of
    another."""
    return &p.nodes[p.slots[slot].test]


cdef inline double* weights_of(const Pruner* p, int32_t slot) noexcept nogil:
    """The class weights of a slot's cases."""
    return p.class_weights + slot * p.n_classes
