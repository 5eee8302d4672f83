# The edges of a tree, listed for _shapley.pxi. Part of _route.pyx.

EDGE_DTYPE = np.dtype(
    [
        # child number, or STAY: the row ends in the parent
        ("child", np.int32),
        # node whose value a leaf adds, or whose test follows
        ("node", np.int32),
        # column of the test; ~parent if it is oblique, which counts as a column
        ("feature", np.int32),
        # number of tests up to this edge
        ("level", np.int32),
        # level of the last edge before it with the same column; 0: none
        ("previous", np.int32),
        # whether the tree has none below
        ("is_leaf", np.int32),
        # whether it is the previous one of another
        ("is_previous", np.int32),
        # first edge that is not below
        ("next", np.int32),
        # part of the parent's training weight
        ("part", np.float64),
        # product of the parts of this edge and those before it with the same column
        ("product", np.float64),
    ],
    align=True,
)

cdef struct Edge:
    int32_t child
    int32_t node
    int32_t feature
    int32_t level
    int32_t previous
    int32_t is_leaf
    int32_t is_previous
    int32_t next
    double part
    double product


cdef class EdgeList:
    """The edges of a tree, with what the walk reads of it."""

    cdef readonly object edges
    cdef readonly int32_t n_levels
    # most columns that are tested on a path
    cdef readonly int32_t n_columns
    cdef Edge[::1] view
    cdef RouteTables tables
    cdef const double[:, ::1] values
    # columns of the oblique tests and their shares; start: the first of every node
    cdef int64_t[::1] share_start
    cdef int32_t[::1] share_column
    cdef double[::1] share

    def __cinit__(self, tree):
        """tree: a regression tree, of which the statistics are the values."""
        self.tables = RouteTables(tree)
        terms = tree.terms[list_first_levels(tree.terms)]
        nodes = np.arange(tree.node_count + 1)
        self.share_start = np.searchsorted(terms["node"], nodes).astype(np.int64)
        self.share_column = np.append(terms["feature"], np.int32(0))
        share = terms["share"].astype(np.float64)
        total = np.bincount(terms["node"], share, minlength=1)[terms["node"]]
        number = np.bincount(terms["node"], minlength=1)[terms["node"]]
        share = np.where(total > 0.0, share / np.maximum(total, 1e-300), 1.0 / number)
        self.share = np.append(share, 0.0)
        self.values = np.ascontiguousarray(tree.statistics[:, :, 0])
        self.edges = np.zeros(2 * tree.node_count, dtype=EDGE_DTYPE)
        self.view = self.edges
        cdef int32_t[::1] stack = np.empty(2 * tree.node_count + 1, dtype=np.int32)
        cdef int32_t[::1] parents = np.empty_like(stack)
        cdef int32_t[::1] levels = np.empty_like(stack)
        cdef int32_t[::1] path = np.zeros(tree.node_count + 1, dtype=np.int32)
        cdef int64_t n_edges
        with nogil:
            n_edges = self.list_edges(stack, parents, levels, path)
        self.edges = self.edges[:n_edges]
        self.n_levels = 1 + max(self.edges["level"], default=0)

    cdef int64_t list_edges(
        self, int32_t[::1] stack, int32_t[::1] parents, int32_t[::1] levels,
        int32_t[::1] path,
    ) noexcept nogil:
        """Write the edges. path: the edge of each level on the way to the present one.

        An entry of the stack is a node to enter, or ~node for rows that stay there.
        """
        cdef const Node* nodes = &self.tables.nodes[0]
        cdef const Node* parent
        cdef Edge* edge
        cdef int64_t n_stacked = 0, n_edges = 0
        cdef int32_t i, number, node
        cdef double weight
        if nodes[0].kind == LEAF:
            return 0
        n_stacked = push_children(&self.tables.view, 0, 0, stack, parents, levels, 0)
        while n_stacked > 0:
            n_stacked -= 1
            number, node = stack[n_stacked], parents[n_stacked]
            parent = &nodes[node]
            edge = &self.view[n_edges]
            edge.level = levels[n_stacked] + 1
            edge.feature = ~node if parent.kind == OBLIQUE else parent.feature
            weight = 0.0
            for i in range(parent.n_children):
                weight += nodes[parent.first_child + i].weight
            if number < 0:
                edge.child, edge.node, edge.is_leaf = STAY, node, True
                # Of a column that is not known, nothing stays unless there is no child.
                edge.part = 0.0 if weight > 0.0 else 1.0
            else:
                edge.child, edge.node = number - parent.first_child, number
                edge.is_leaf = nodes[number].kind == LEAF
                edge.part = nodes[number].weight / weight if weight > 0.0 else 0.0
            self.join_columns(edge, path)
            path[edge.level] = <int32_t> n_edges
            n_edges += 1
            if not edge.is_leaf:
                n_stacked = push_children(
                    &self.tables.view, number, edge.level, stack, parents, levels,
                    n_stacked,
                )
        self.find_ends(n_edges, path)
        return n_edges

    cdef void join_columns(self, Edge* edge, const int32_t[::1] path) noexcept nogil:
        """Find the previous edge of the column, and count the columns of the path."""
        cdef int32_t level, n_columns = 0
        cdef Edge* other
        edge.product, edge.previous = edge.part, 0
        for level in range(edge.level - 1, 0, -1):
            other = &self.view[path[level]]
            n_columns += other.previous == 0
            if edge.previous == 0 and other.feature == edge.feature:
                edge.previous = level
                edge.product = other.product * edge.part
                other.is_previous = True
        n_columns += edge.previous == 0
        self.n_columns = max(self.n_columns, n_columns)

    cdef void find_ends(self, int64_t n_edges, int32_t[::1] path) noexcept nogil:
        """Find the first edge that is not below each. path: working memory, where up to
        the level ``last`` the next edge of this level or above it is noted."""
        cdef int64_t i
        cdef int32_t level, last = <int32_t> (path.shape[0] - 1)
        for i in range(path.shape[0]):
            path[i] = <int32_t> n_edges
        for i in range(n_edges - 1, -1, -1):
            level = self.view[i].level
            while last < level:
                last += 1
                path[last] = path[last - 1]
            self.view[i].next = path[level]
            last = level
            path[level] = <int32_t> i


cdef int64_t push_children(
    const TreeView* tree, int32_t node, int32_t level, int32_t[::1] stack,
    int32_t[::1] parents, int32_t[::1] levels, int64_t n_stacked,
) noexcept nogil:
    """Push the children of a node, and the node itself if rows may stay there."""
    cdef const Node* record = &tree.nodes[node]
    cdef int32_t i
    cdef double weight = 0.0
    for i in range(record.n_children - 1, -1, -1):
        stack[n_stacked] = record.first_child + i
        parents[n_stacked], levels[n_stacked] = node, level
        weight += tree.nodes[record.first_child + i].weight
        n_stacked += 1
    if (
        record.missing_branch == STAY or weight <= 0.0
        or (record.kind != NUMERIC and tree.unseen_branch != FRACTIONAL)
    ):
        stack[n_stacked] = ~node
        parents[n_stacked], levels[n_stacked] = node, level
        n_stacked += 1
    return n_stacked
