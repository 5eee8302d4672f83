# The record of a node and the rules of its growth, for subtrees of any size:
# header-only.
# A node is written as a leaf with its parent's split (``write_leaf``), and becomes an
# inner node when its own split is accepted.

from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer
from sklearn_textbook.tree.grow._layout cimport FRACTIONAL, LEAF, STAY, Node
from sklearn_textbook.tree.split._best cimport narrow_bounds
from sklearn_textbook.tree.split._types cimport (
    MISSING_FRACTIONAL,
    MISSING_LEARNED,
    MISSING_SURROGATE,
    Problem,
)

cdef inline bint must_be_leaf(
    const Problem* problem, int64_t n_rows, double weight, int64_t depth, bint pure
) noexcept nogil:
    # All of it is compared, since branches on purity are mispredicted.
    return (
        pure
        | (depth >= problem.max_depth)
        | (n_rows < problem.min_samples_split)
        | (n_rows < 2 * problem.min_samples_leaf)
        | (weight < 2 * problem.min_weight_leaf)
    )

cdef inline void write_leaf(
    NodeBuffer* buffer, int64_t number, int32_t parent, int64_t n_rows, double weight,
    double impurity
) noexcept nogil:
    # The record of a node that is not split, or not yet.
    cdef Node* node = &buffer.nodes[number]
    node.first_child = -1
    node.n_children = 0
    node.feature = -2
    node.missing_branch = STAY
    node.kind = LEAF
    node.parent = parent
    node.map_start = -1
    node.threshold = -2.0
    node.improvement = 0.0
    node.n_samples = n_rows
    node.weight = weight
    node.impurity = impurity
    buffer.task[number] = -1

cdef inline bint accepts_split(
    const Problem* problem, Node* node, double improvement
) noexcept nogil:
    # Whether the decrease of the impurity reaches min_impurity_decrease.
    cdef bint accepted = improvement * node.weight / problem.total_weight + 2.2e-16 >= (
        problem.min_impurity_decrease
    )
    node.improvement = improvement if accepted else 0.0
    return accepted

cdef inline int32_t branch_for_missing(
    const Problem* problem, int32_t missing_child, const int64_t* n_rows,
    int64_t n_children
) noexcept nogil:
    # Where a missing value goes at prediction time, from the child of those of the
    # node (-1: it had none) and the rows of all children.
    cdef:
        int64_t child, largest = 0
        bint tied = False
    if missing_child >= 0:
        return missing_child
    if problem.missing_mode == MISSING_FRACTIONAL:
        return <int32_t>FRACTIONAL
    # The child with most rows. Of equal ones it is the last where missing values are
    # learned; with surrogates, rows then stay in the node.
    for child in range(1, n_children):
        if n_rows[child] == n_rows[largest]:
            tied = True
            if problem.missing_mode == MISSING_LEARNED:
                largest = child
        elif n_rows[child] > n_rows[largest]:
            largest = child
            tied = False
    if problem.missing_mode == MISSING_LEARNED:
        return <int32_t>largest
    if problem.missing_mode == MISSING_SURROGATE:
        return <int32_t>STAY if tied else <int32_t>largest
    return problem.unseen_branch

cdef inline void bound_children(
    const Problem* problem, int32_t column, double first, double second, double lower,
    double upper, int64_t n_children, double* bounds
) noexcept nogil:
    # Monotonic constraints: the ranges of values that are allowed in the children of a
    # node with this range, of which the first two have these values.
    cdef int64_t child
    for child in range(n_children):
        bounds[2 * child] = lower
        bounds[2 * child + 1] = upper
        # Of more children than two, those behind keep the range of the node.
        narrow_bounds(
            first, second, problem.monotonic[column], child, &bounds[2 * child],
            &bounds[2 * child + 1]
        )
