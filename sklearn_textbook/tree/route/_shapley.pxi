# Shapley values of trees; shapley.py explains them. Part of _route.pyx, with
# _shapley_edges.pxi, the edges, and _shapley_rows.pxi, the division of the work.
#
# A group of rows goes through all nodes of a tree, also those that it does not reach.
# The edges of a tree are listed in the order of a depth-first walk. On the way down to
# an edge, the product of the factors of all columns is known at every point of the
# quadrature; on the way back, the sum of the values below, times the factors below.

cdef enum:
    # rows of a group
    LANES = 8


# Working memory of a thread: lines of LANES for the points of the quadrature, of each
# level. At a node whose column has a previous edge on the path, the factors of the
# node's edges take the place of that one's.
cdef struct Scratch:
    # product of the factors of all columns on the path to a node
    double* above
    # the same without the node's own column
    double* others
    # the same divided again by the previous factor of the column; and the sum of that
    # over the points, a line for each level
    double* reduced
    double* reduced_sum
    # factor of an edge
    double* factor
    # reciprocals of the factors of edges that are previous ones
    double* inverse
    # sum of values below a node, times the factors from its edges on; of pairs the
    # changes of the factors of each column of a path, relative to them
    double* below
    # product of what a row takes of the edges of the same column
    double* taken
    # products of a path and the change of one of its columns
    double* changed
    # branch of each row
    int32_t* branch
    # level of the previous edge of the column that a node tests; 0: none
    int32_t* previous
    # whether a later edge of the path has the same column
    int32_t* is_replaced
    # columns of the path
    int32_t* columns


# What a walk reads of a tree.
cdef struct TreeEdges:
    const TreeView* view
    const Edge* edges
    int64_t n_edges
    const double* values
    int64_t n_values
    # first score to which it adds
    int64_t first
    const int64_t* share_start
    const int32_t* share_column
    const double* share
    # points of the quadrature, and their weights
    const double* points
    const double* weights
    int64_t n_points


cdef struct Group:
    # What a walk reads and writes.
    TreeEdges tree
    # first of the rows, which are LANES, or of fewer the last again
    const double* rows
    int64_t n_rows
    int64_t n_columns
    # sums of the group: (n_columns, n_scores, LANES), from the first score of the tree
    double* sums
    int64_t n_scores
    # whether the sums are those of pairs: (n_columns, n_columns, n_scores, LANES)
    bint takes_pairs
    # level of the last open edge
    int32_t top
    Scratch scratch


cdef void find_branches(Group* group, int32_t number, int32_t* branch) noexcept nogil:
    """Find the branch of every row at a node."""
    cdef const Node* node = &group.tree.view.nodes[number]
    cdef const double* entry
    cdef double value
    cdef int64_t lane
    cdef int32_t unseen
    cdef Row row
    cdef bint is_plain = node.kind == NUMERIC
    for lane in range(LANES):
        entry = group.rows + min(lane, group.n_rows - 1) * group.n_columns
        value = entry[node.feature]
        if is_plain and value == value:
            branch[lane] = 0 if value <= node.threshold else 1
            continue
        row = Row(<const char*> entry, sizeof(double), False)
        branch[lane] = find_branch(group.tree.view, number, &row, &unseen)
        if branch[lane] < 0 and branch[lane] != FRACTIONAL:
            branch[lane] = STAY


# Arrays that no other pointer of the function reads or writes, which compilers need to
# know for vector units.
cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define ONLY __restrict
    #else
    #define ONLY __restrict__
    #endif
    """
    ctypedef double* Output "double *ONLY"
    ctypedef const double* Input "const double *ONLY"


cdef inline void compute_factors(
    Output factors, Input taken, Input points, double part, int64_t n_points
) noexcept nogil:
    """Compute the factors of an edge at all points."""
    cdef double rest, point
    cdef int64_t lane, q
    for q in range(n_points):
        point = points[q]
        rest = part * (1.0 - point)
        for lane in range(LANES):
            factors[q * LANES + lane] = rest + point * taken[lane]


cdef inline void multiply(
    double* product, const double* one, const double* other, int64_t n
) noexcept nogil:
    """Multiply arrays; the product may be one of them."""
    cdef int64_t i
    for i in range(n):
        product[i] = one[i] * other[i]


cdef inline void invert(Output inverse, Input factors, int64_t n) noexcept nogil:
    """Compute the reciprocals of factors; 0 of 0, as nothing is below."""
    cdef int64_t i
    for i in range(n):
        inverse[i] = 1.0 / factors[i] if factors[i] != 0.0 else 0.0


cdef inline bint enter_edge(Group* group, const Edge* edge) noexcept nogil:
    """Compute the factors of an edge; False if they are all 0."""
    cdef Scratch* s = &group.scratch
    cdef int64_t n = group.tree.n_points * LANES, level = edge.level, lane
    cdef const int32_t* branch = s.branch + (level - 1) * LANES
    cdef double* taken = s.taken + level * LANES
    cdef const double* before = s.taken + <int64_t> edge.previous * LANES
    cdef double part
    cdef bint is_empty = edge.product == 0.0
    for lane in range(LANES):
        part = 1.0 if branch[lane] == edge.child else 0.0
        taken[lane] = edge.part if branch[lane] == FRACTIONAL else part
    if edge.previous > 0:
        for lane in range(LANES):
            taken[lane] *= before[lane]
    if is_empty:
        for lane in range(LANES):
            is_empty &= taken[lane] == 0.0
        if is_empty:
            return False
    compute_factors(
        s.factor + level * n, taken, group.tree.points, edge.product,
        group.tree.n_points,
    )
    if edge.is_previous or group.takes_pairs:
        invert(s.inverse + level * n, s.factor + level * n, n)
    if not edge.is_leaf or group.takes_pairs:
        multiply(
            s.above + level * n, get_others(group, level - 1), s.factor + level * n, n
        )
    return True


cdef inline const double* get_others(const Group* group, int64_t level) noexcept nogil:
    """Products above a node without its column."""
    cdef const Scratch* s = &group.scratch
    cdef int64_t offset = level * group.tree.n_points * LANES
    return (s.others if s.previous[level] > 0 else s.above) + offset


cdef inline void enter_node(
    Group* group, int32_t number, int64_t level, int32_t previous
) noexcept nogil:
    """Prepare a level for the edges of a node."""
    cdef Scratch* s = &group.scratch
    cdef int64_t n = group.tree.n_points * LANES, offset = level * n
    cdef const double* reduced = s.above + offset
    find_branches(group, number, s.branch + level * LANES)
    s.previous[level] = previous
    if previous > 0:
        multiply(s.others + offset, s.above + offset, s.inverse + previous * n, n)
        multiply(s.reduced + offset, s.others + offset, s.inverse + previous * n, n)
        reduced = s.reduced + offset
    if not group.takes_pairs:
        sum_points(s.reduced_sum + level * LANES, reduced, group.tree.n_points)
        memset(
            s.below + level * group.tree.n_values * n, 0,
            group.tree.n_values * n * sizeof(double),
        )


cdef inline void add_leaf(
    Output parent, Input factor, double value, int64_t n
) noexcept nogil:
    """Add a leaf to the sums below its parent."""
    cdef int64_t i
    for i in range(n):
        parent[i] += value * factor[i]


cdef inline void sum_points(Output total, Input above, int64_t n_points) noexcept nogil:
    """Sum the products above an edge over the points."""
    cdef int64_t lane, q
    for lane in range(LANES):
        total[lane] = 0.0
    for q in range(n_points):
        for lane in range(LANES):
            total[lane] += above[q * LANES + lane]


cdef inline void sum_products(
    Output total, Input one, Input other, int64_t n_points
) noexcept nogil:
    """Sum the products of two arrays over the points."""
    cdef int64_t lane, q
    for lane in range(LANES):
        total[lane] = 0.0
    for q in range(n_points):
        for lane in range(LANES):
            total[lane] += one[q * LANES + lane] * other[q * LANES + lane]


cdef inline void add_below(
    Output parent, Output total, Input below, Input factor, Input reduced,
    int64_t n_points,
) noexcept nogil:
    """Add what is below a node to its parent, and sum it times what is above."""
    cdef double value
    cdef int64_t lane, q
    for q in range(n_points):
        for lane in range(LANES):
            value = below[q * LANES + lane]
            parent[q * LANES + lane] += value * factor[q * LANES + lane]
            total[lane] += value * reduced[q * LANES + lane]


cdef inline void add_to_column(
    Group* group, int32_t feature, int64_t k, const double* total
) noexcept nogil:
    """Add to the sums of a column, or of all columns of an oblique test."""
    cdef const int64_t* start = group.tree.share_start
    cdef double* sums
    cdef int64_t lane, i
    if feature >= 0:
        sums = group.sums + (feature * group.n_scores + k) * LANES
        for lane in range(LANES):
            sums[lane] += total[lane]
        return
    for i in range(start[~feature], start[~feature + 1]):
        sums = group.sums + (group.tree.share_column[i] * group.n_scores + k) * LANES
        for lane in range(LANES):
            sums[lane] += group.tree.share[i] * total[lane]


cdef inline void leave_edge(
    Group* group, const Edge* edge, const Edge* previous
) noexcept nogil:
    """Add what is below an edge to the sums of its column and to its parent.

    With o and z of the edge, o' and z' of the previous one of the column, and their
    factors f and f', the column gains (o - z) / f - (o' - z') / f' of what is below,
    which is (o z' - o' z) / (f f').
    """
    cdef Scratch* s = &group.scratch
    cdef int64_t n = group.tree.n_points * LANES, level = edge.level, lane, k
    cdef const double* reduced = s.above
    cdef const double* factor = s.factor + level * n
    cdef const double* taken = s.taken + level * LANES
    cdef const double* before
    cdef double* below
    cdef double* parent
    cdef double value
    cdef double[LANES] total, gain
    for lane in range(LANES):
        gain[lane] = taken[lane] - edge.product
    if previous != NULL:
        reduced = s.reduced
        before = s.taken + <int64_t> edge.previous * LANES
        for lane in range(LANES):
            gain[lane] = taken[lane] * previous.product - before[lane] * edge.product
    for k in range(group.tree.n_values):
        parent = s.below + ((level - 1) * group.tree.n_values + k) * n
        if edge.is_leaf:
            value = group.tree.values[edge.node * group.tree.n_values + k]
            add_leaf(parent, factor, value, n)
            for lane in range(LANES):
                total[lane] = value * s.reduced_sum[(level - 1) * LANES + lane]
        else:
            below = s.below + (level * group.tree.n_values + k) * n
            if s.previous[level] > 0:
                multiply(below, below, s.inverse + s.previous[level] * n, n)
            for lane in range(LANES):
                total[lane] = 0.0
            add_below(
                parent, total, below, factor, reduced + (level - 1) * n,
                group.tree.n_points,
            )
        for lane in range(LANES):
            total[lane] *= gain[lane]
        add_to_column(group, edge.feature, k, total)


cdef inline void leave_to(
    Group* group, const Edge** open, int32_t level
) noexcept nogil:
    """Leave the open edges down to a level."""
    cdef int32_t i
    cdef const Edge* edge
    for i in range(group.top, level - 1, -1):
        edge = open[i]
        leave_edge(group, edge, open[edge.previous] if edge.previous > 0 else NULL)
    group.top = min(group.top, level - 1)


cdef inline void add_pairs(
    Group* group, const Edge** open, const Edge* leaf
) noexcept nogil:
    """Add a leaf to the sums of all pairs of columns on its path."""
    cdef Scratch* s = &group.scratch
    cdef int64_t n = group.tree.n_points * LANES, n_columns = 0, i, j, k, q, lane
    cdef int32_t level
    cdef const Edge* edge
    cdef double* change
    cdef double* sums
    cdef double[LANES] total
    cdef double value
    open[leaf.level] = leaf
    for level in range(1, leaf.level + 1):
        s.is_replaced[level] = False
        s.is_replaced[open[level].previous] = True
    for level in range(1, leaf.level + 1):
        if s.is_replaced[level]:
            continue
        edge = open[level]
        change = s.below + n_columns * n
        for q in range(group.tree.n_points):
            for lane in range(LANES):
                change[q * LANES + lane] = s.inverse[level * n + q * LANES + lane] * (
                    s.taken[level * LANES + lane] - edge.product
                )
        s.columns[n_columns] = edge.feature
        n_columns += 1
    for i in range(n_columns):
        multiply(s.changed, s.above + leaf.level * n, s.below + i * n, n)
        for j in range(i + 1):
            if i == j:
                sum_points(total, s.changed, group.tree.n_points)
            else:
                sum_products(total, s.changed, s.below + j * n, group.tree.n_points)
            sums = group.sums + (
                (s.columns[i] * group.n_columns + s.columns[j]) * group.n_scores * LANES
            )
            for k in range(group.tree.n_values):
                value = group.tree.values[leaf.node * group.tree.n_values + k]
                value *= 1.0 if i == j else 0.5
                for lane in range(LANES):
                    sums[k * LANES + lane] += value * total[lane]


cdef wide_void walk_group(Group* group, const Edge** open) noexcept nogil:
    """Add the Shapley values of one tree for a group of rows."""
    cdef Scratch* s = &group.scratch
    cdef int64_t i = 0, q, lane
    cdef const Edge* edge
    for q in range(group.tree.n_points):
        for lane in range(LANES):
            s.above[q * LANES + lane] = group.tree.weights[q]
    enter_node(group, 0, 0, 0)
    group.top = 0
    while i < group.tree.n_edges:
        edge = &group.tree.edges[i]
        if not group.takes_pairs:
            leave_to(group, open, edge.level)
        if not enter_edge(group, edge):
            i = edge.next
            continue
        i += 1
        if not edge.is_leaf:
            group.top = edge.level
            open[edge.level] = edge
            # The next edge is the first of the node.
            enter_node(group, edge.node, edge.level, group.tree.edges[i].previous)
        elif group.takes_pairs:
            add_pairs(group, open, edge)
        else:
            leave_edge(group, edge, open[edge.previous] if edge.previous > 0 else NULL)
    if not group.takes_pairs:
        leave_to(group, open, 1)
