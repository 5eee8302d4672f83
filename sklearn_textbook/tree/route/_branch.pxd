# The test of one node on one row: header-only, shared by all walks of _route.pyx.
#
# A branch is the number of a child of the node, from 0 on; what is negative says why
# there is none: STAY, FRACTIONAL, UNKNOWN or UNSEEN_ERROR.

from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.grow._layout cimport (
    NUMERIC, OBLIQUE, ORDINAL, Node, Surrogate, Term, find_level_child,
)
from sklearn_textbook.tree.route._rows cimport Row, read_entry

cdef enum:
    # the node knows no branch for this level
    UNKNOWN = -4
    # what find_branch returns for an unknown level if tree.handle_unknown is "error"
    UNSEEN_ERROR = -3


# What a walk reads of a tree.
cdef struct TreeView:
    const Node* nodes
    const int32_t* level_branch
    const int64_t* n_levels
    const Surrogate* surrogates
    # surrogates of node i are surrogate_start[i] to surrogate_start[i + 1];
    # NULL if the tree has none
    const int64_t* surrogate_start
    # the same of terms
    const Term* terms
    const int64_t* term_start
    # where an unknown level goes: STAY, FRACTIONAL or UNSEEN_ERROR
    int32_t unseen_branch


cdef inline int32_t test_value(
    const TreeView* tree, int32_t kind, int32_t column, int64_t map_start,
    double threshold, int32_t low_branch, double value,
) noexcept nogil:
    """Branch of a value that is present, or UNKNOWN for a level not seen here.

    low_branch: where values up to the threshold go; 0 in a node's own test, either
    branch in a surrogate.
    """
    if kind == NUMERIC:
        return low_branch if value <= threshold else 1 - low_branch
    if not 0.0 <= value < <double> tree.n_levels[column]:
        return UNKNOWN
    if kind == ORDINAL:
        return low_branch if value <= threshold else 1 - low_branch
    cdef int32_t branch = find_level_child(
        tree.level_branch + map_start, <int64_t> value
    )
    return branch if branch >= 0 else UNKNOWN


cdef inline bint has_surrogates(const TreeView* tree, int32_t number) noexcept nogil:
    """Whether a node has surrogates; they are sorted by node."""
    if tree.surrogate_start == NULL:
        return False
    return tree.surrogate_start[number] < tree.surrogate_start[number + 1]


cdef inline int32_t follow_surrogates(
    const TreeView* tree, int32_t number, const Row* row
) noexcept nogil:
    """Branch of the first applicable surrogate, or UNKNOWN."""
    cdef const Surrogate* stand_in
    cdef int64_t i
    cdef int32_t branch
    cdef double value
    if has_surrogates(tree, number):
        for i in range(tree.surrogate_start[number], tree.surrogate_start[number + 1]):
            stand_in = &tree.surrogates[i]
            # A value that is missing here, too, or a level that this surrogate does not
            # know: the next one is asked.
            value = read_entry(
                row.start, stand_in.feature, row.stride, row.is_single
            )
            if value != value:
                continue
            branch = test_value(
                tree, stand_in.kind, stand_in.feature, stand_in.map_start,
                stand_in.threshold, stand_in.low_branch, value,
            )
            if branch != UNKNOWN:
                return branch
    return UNKNOWN


cdef inline int64_t end_column(
    const TreeView* tree, int64_t first, int64_t stop
) noexcept nogil:
    """The end of the terms of the first one's column, which are consecutive."""
    cdef int32_t column = tree.terms[first].feature
    cdef int64_t low = first, step = 1, middle
    # Doubled steps, then halved ones: logarithmic in the terms of this column, however
    # many the node has.
    while low + step < stop and tree.terms[low + step].feature == column:
        low += step
        step *= 2
    stop = min(stop, low + step)
    while low + 1 < stop:
        middle = low + (stop - low) // 2
        if tree.terms[middle].feature == column:
            low = middle
        else:
            stop = middle
    return low + 1


cdef inline int64_t find_level(
    const TreeView* tree, int64_t first, int64_t stop, double value
) noexcept nogil:
    """The term of a level among terms of ascending levels, or -1."""
    cdef int64_t end = stop, middle
    while first < stop:
        middle = first + (stop - first) // 2
        if <double> tree.terms[middle].level < value:
            first = middle + 1
        else:
            stop = middle
    return first if first < end and <double> tree.terms[first].level == value else -1


cdef inline int32_t test_sum(
    const TreeView* tree, int32_t number, const Row* row, int32_t* unseen
) noexcept nogil:
    """Branch of an oblique test, or UNKNOWN for a level not seen here, whose column is
    written. Terms are added in the order in which growing adds them."""
    cdef int64_t i = tree.term_start[number], stop = tree.term_start[number + 1]
    cdef int64_t end, place
    cdef const Term* term
    cdef double total = 0.0, value
    while i < stop:
        term = &tree.terms[i]
        value = read_entry(row.start, term.feature, row.stride, row.is_single)
        # A nominal column has a term for each level, and the row's level selects one.
        # The first says what a missing value adds.
        if term.level >= 0:
            end = end_column(tree, i, stop)
            place = i if value != value else find_level(tree, i, end, value)
            if place < 0:
                unseen[0] = term.feature
                return UNKNOWN
            total += term.fill if value != value else tree.terms[place].weight
            i = end
            continue
        # A numeric or ordinal column has one term, a weight of its value.
        if tree.n_levels[term.feature] > 0 and not (
            value != value or 0.0 <= value < <double> tree.n_levels[term.feature]
        ):
            unseen[0] = term.feature
            return UNKNOWN
        total += term.fill if value != value else term.weight * value
        i += 1
    return 0 if total <= tree.nodes[number].threshold else 1


cdef inline int32_t find_branch(
    const TreeView* tree, int32_t number, const Row* row, int32_t* unseen
) noexcept nogil:
    """Child number for a row at an inner node, or STAY, FRACTIONAL, UNSEEN_ERROR; the
    column of an unseen level is written."""
    cdef const Node* node = &tree.nodes[number]
    cdef double value
    cdef int32_t branch
    if node.kind == OBLIQUE:
        branch = test_sum(tree, number, row, unseen)
        return tree.unseen_branch if branch == UNKNOWN else branch
    unseen[0] = node.feature
    value = read_entry(row.start, node.feature, row.stride, row.is_single)
    if value != value:
        branch = follow_surrogates(tree, number, row)
        return node.missing_branch if branch == UNKNOWN else branch
    branch = test_value(
        tree, node.kind, node.feature, node.map_start, node.threshold, 0, value
    )
    return tree.unseen_branch if branch == UNKNOWN else branch
