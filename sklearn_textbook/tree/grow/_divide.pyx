"""Dividing the rows of a node by the level codes of a nominal column."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t

from sklearn_textbook.tree.grow._level_map cimport write_coded_map
from sklearn_textbook.tree.grow._measure cimport (
    Children,
    clear_children,
    finish_classes,
)
from sklearn_textbook.tree.split._gain_nominal cimport divide_levels
from sklearn_textbook.tree.split._types cimport Code, missing_code, row_of


cdef void send_coded_rows(
    const Problem* problem, const Arena* arena, Worker* worker, const Code* codes,
    const Entry* rows_of_node, int64_t n
) noexcept nogil:
    """Mark every row with its child, and add it to what the child holds."""
    cdef:
        Children* children = &worker.children
        const int32_t* child_of_level = worker.scratch.best_side
        const double* weights = arena.rows.weight
        int64_t i, size = problem.n_statistics
        double weight
        int32_t child
        uint32_t row
    for i in range(n):
        row = row_of(rows_of_node[i])
        weight = 1.0 if weights == NULL else weights[row]
        if <int64_t>codes[row] == missing_code(codes[row]):
            worker.child_of_row[row] = IN_ALL
            children.missing_sums[arena.rows.label[row]] += weight
            children.n_missing += 1
            continue
        child = child_of_level[codes[row]]
        worker.child_of_row[row] = child
        children.n_rows[child] += 1
        children.weight[child] += weight
        children.sums[child * size + arena.rows.label[row]] += weight


cdef int divide_coded_rows(
    const Problem* problem, const Arena* arena, Worker* worker, const NodeView* view,
    const Entry* rows_of_node, const Split* split
) noexcept nogil:
    """Work out where every row goes, and what the children hold of the known ones.
    Returns -1 when memory runs out."""
    cdef:
        Children* children = &worker.children
        int64_t column = split.column, child, c
    divide_levels(
        problem, &arena.rows, &worker.scratch, &arena.codes, rows_of_node, view, split
    )
    if write_coded_map(
        problem, &worker.buffer, column, worker.scratch.best_side
    ) < 0:
        return -1
    children.n_children = split.n_children
    children.n_pieces = 0
    clear_children(problem, children)
    children.n_missing = 0
    for c in range(problem.n_statistics):
        children.missing_sums[c] = 0.0
    if arena.codes.is_wide:
        send_coded_rows(
            problem, arena, worker,
            <const uint32_t*>arena.codes.start + column * arena.codes.stride,
            rows_of_node, view.totals.rows
        )
    else:
        send_coded_rows(
            problem, arena, worker,
            <const uint16_t*>arena.codes.start + column * arena.codes.stride,
            rows_of_node, view.totals.rows
        )
    for child in range(children.n_children):
        if children.n_rows[child]:
            finish_classes(problem, view, child, children)
    return 0
