# The nodes that rows go through; part of _route.pyx.


cdef struct Paths:
    # Blocks of rows that threads share: to count nodes, a line of entered and errors
    # for each thread; to write them, where.
    const TreeView* tree
    Table table
    const int64_t* ended
    const int64_t* depth
    int64_t* n_nodes
    int32_t* entered
    Py_ssize_t n_entered
    int64_t* errors
    const int64_t* path_start
    int32_t* path_nodes


cdef void count_block(void* context, int64_t block, int thread) noexcept nogil:
    cdef const Paths* paths = <Paths*> context
    cdef Py_ssize_t number, first = block * BLOCK
    cdef int32_t node
    cdef Row row
    for number in range(first, min(paths.table.n_rows, first + BLOCK)):
        node = <int32_t> paths.ended[number]
        if node >= 0:
            paths.n_nodes[number] = paths.depth[node] + 1
        else:
            row = view_row(&paths.table, number)
            paths.n_nodes[number] = paths.depth[~node] + enter_nodes(
                paths.tree, &row, ~node, paths.entered + thread * paths.n_entered,
                number, paths.errors + 2 * thread,
            )


def count_path_nodes(
    matrix, RouteTables tables, const int64_t[::1] ended,
    const int64_t[::1] depth, int64_t[::1] n_nodes, int32_t[:, ::1] entered,
    int64_t[:, ::1] errors,
):
    """Number of nodes that each row enters; one thread per line of ``entered``."""
    cdef Paths paths = Paths(
        &tables.view, view_table(matrix), &ended[0], &depth[0], &n_nodes[0],
        &entered[0, 0], entered.shape[1], &errors[0, 0], NULL, NULL,
    )
    run_in_threads(
        <int> entered.shape[0], count_block, &paths, 1 + ended.shape[0] // BLOCK
    )


cdef void fill_block(void* context, int64_t block, int thread) noexcept nogil:
    cdef const Paths* paths = <Paths*> context
    cdef Py_ssize_t number, i, first = block * BLOCK
    cdef int32_t node
    cdef int32_t* path
    cdef int64_t ignored[2]
    cdef Row row
    ignored[0] = 0
    for number in range(first, min(paths.table.n_rows, first + BLOCK)):
        node = <int32_t> paths.ended[number]
        path = paths.path_nodes + paths.path_start[number]
        if node < 0:
            node = ~node
            row = view_row(&paths.table, number)
            enter_nodes(
                paths.tree, &row, node, path + paths.depth[node], number, ignored
            )
        for i in range(paths.depth[node], -1, -1):
            path[i] = node
            node = paths.tree.nodes[node].parent


def fill_path_nodes(
    matrix, RouteTables tables, const int64_t[::1] ended,
    const int64_t[::1] depth, const int64_t[::1] path_start, int32_t[::1] path_nodes,
    int n_threads,
):
    """Write the nodes of each row's path, ascending, from path_start on."""
    cdef Paths paths = Paths(
        &tables.view, view_table(matrix), &ended[0], &depth[0], NULL, NULL, 0, NULL,
        &path_start[0], &path_nodes[0],
    )
    run_in_threads(n_threads, fill_block, &paths, 1 + ended.shape[0] // BLOCK)
