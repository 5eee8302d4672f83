"""What each child of a split holds: rows, weight, value, impurity, purity; and the maps
that tell which level of a nominal column goes to which child.

Purity is decided from the classes or values present, not from the impurity, which
may keep a rounding residue.

The rows of a child are the pieces of the split column that go to it. Sums are taken in
the order of that column, and of the values from the mean of the node.
"""

from libc.math cimport log
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._buffers cimport reserve_levels
from sklearn_textbook.tree.grow._layout cimport DENSE_MAP
from sklearn_textbook.tree.split._column cimport value_of_rank
from sklearn_textbook.tree.split._criterion cimport (
    absolute_loss,
    add_row,
    class_impurity,
    clear_losses,
    insert_row,
    weight_of,
)
from sklearn_textbook.tree.split._types cimport (
    ABSOLUTE_ERROR,
    MISSING_SURROGATE,
    NOMINAL_COLUMN,
    POISSON,
    rank_of,
    row_of,
)


# A mean smaller than this, in units of what it was computed from, is rounding.
cdef double NOISE = 1e-15


cdef inline void add_piece(
    Children* children, int64_t start, int64_t stop, int32_t child
) noexcept nogil:
    """Append a piece unless it is empty."""
    if start < stop:
        children.pieces[children.n_pieces].start = start
        children.pieces[children.n_pieces].stop = stop
        children.pieces[children.n_pieces].child = child
        children.n_pieces += 1


cdef void list_pieces(
    const Problem* problem, const Entry* entries, const int32_t* run_child,
    const Split* split, int64_t n_present, int64_t n, Children* children
) noexcept nogil:
    """The stretches of the split column by child."""
    cdef int64_t i, run = 0, start = 0
    children.n_pieces = 0
    children.n_children = split.n_children
    if split.kind == NOMINAL_COLUMN:
        for i in range(1, n_present + 1):
            if i == n_present or rank_of(entries[i]) != rank_of(entries[i - 1]):
                add_piece(children, start, i, run_child[run])
                run += 1
                start = i
    else:
        add_piece(children, 0, split.position, 0)
        add_piece(children, split.position, n_present, 1)
    if problem.missing_mode == MISSING_SURROGATE:
        # Surrogates send each row on its own.
        for i in range(n_present, n):
            add_piece(children, i, i + 1, -1)
    elif split.missing_child >= 0:
        add_piece(children, n_present, n, split.missing_child)


cdef void clear_children(const Problem* problem, Children* children) noexcept nogil:
    """Zero the sums of all children, whose number is known."""
    cdef int64_t n = children.n_children
    memset(children.n_rows, 0, n * sizeof(int64_t))
    memset(children.weight, 0, n * sizeof(double))
    memset(children.squares, 0, n * sizeof(double))
    memset(children.sums, 0, n * problem.n_statistics * sizeof(double))


cdef void add_classes(
    const Problem* problem, const Rows* rows, const Entry* entries,
    int64_t start, int64_t stop, double* sums, double* weight
) noexcept nogil:
    """Add the class weights of a piece; two classes of unit weight are counted by the
    lowest bits of the entries."""
    cdef:
        int64_t i, ones = 0, row
        double row_weight
    if problem.n_statistics == 2 and problem.n_outputs == 1 and rows.weight == NULL:
        for i in range(start, stop):
            ones += entries[i] & 1
        sums[0] += stop - start - ones
        sums[1] += ones
        weight[0] += stop - start
        return
    for i in range(start, stop):
        row = row_of(entries[i])
        row_weight = weight_of(rows, row)
        weight[0] += row_weight
        add_row(problem, rows, row, row_weight, NULL, sums)


cdef void add_values(
    const Problem* problem, const Rows* rows, const Entry* entries,
    const NodeView* node, const Piece* piece, int64_t child, Children* children
) noexcept nogil:
    """Add the values of a piece to sum, squares and weight of its child.

    ``children.values`` holds the first y of a child until ``finish_values`` or
    ``finish_medians`` writes what belongs there. For Poisson ``squares`` is the sum of
    weight * y log y.
    """
    cdef:
        int64_t i, row, output, n_outputs = problem.n_outputs
        double weight, difference, total_weight = 0.0, squares = 0.0, y
        double* sums = children.sums + child * n_outputs
        # The first row's y, with which the others are compared for purity.
        double* first = children.values + child * n_outputs
        bint pure = True
    if children.n_rows[child] == 0:
        children.is_pure[child] = True
        for output in range(n_outputs if piece.start < piece.stop else 0):
            first[output] = rows.y[row_of(entries[piece.start]) * n_outputs + output]
    for i in range(piece.start, piece.stop):
        row = row_of(entries[i])
        weight = weight_of(rows, row)
        total_weight += weight
        for output in range(n_outputs):
            y = rows.y[row * n_outputs + output]
            pure = pure and y == first[output]
            difference = y - node.totals.centre[output]
            sums[output] += weight * difference
            # The deviance follows from y log y, the variance from squares about the
            # centre.
            if problem.criterion == POISSON:
                if y > 0.0:
                    squares += weight * y * log(y)
            else:
                squares += weight * difference * difference
    children.weight[child] += total_weight
    children.squares[child] += squares
    if not pure:
        children.is_pure[child] = False


cdef void finish_classes(
    const Problem* problem, const NodeView* node, int64_t child, Children* children
) noexcept nogil:
    """Class weights as they are, purity by the number of classes with weight, and the
    impurity."""
    cdef:
        int64_t output, k, present
        double* sums = children.sums + child * problem.n_statistics
        double* values = children.values + child * problem.n_statistics
        bint pure = True
    for output in range(problem.n_outputs):
        present = 0
        for k in range(problem.output_start[output], problem.output_start[output + 1]):
            values[k] = sums[k]
            present += sums[k] > 0.0
        pure = pure and present <= 1
    children.is_pure[child] = pure
    children.impurity[child] = 0.0 if pure else class_impurity(
        problem, sums, children.weight[child]
    )


cdef void finish_values(
    const Problem* problem, const NodeView* node, int64_t child, Children* children
) noexcept nogil:
    """Mean; variance or Poisson deviance."""
    cdef:
        int64_t output
        double weight = children.weight[child]
        double* sums = children.sums + child * problem.n_statistics
        double* values = children.values + child * problem.n_statistics
        double mean, value, spread = children.squares[child] / weight
        # For several outputs the spread does not give the scale of each.
        double about_centre = spread if problem.n_outputs == 1 else 0.0
    for output in range(problem.n_outputs):
        mean = sums[output] / weight
        if problem.criterion == POISSON:
            if mean > 0.0:
                spread -= mean * log(mean)
        else:
            spread -= mean * mean
        # A pure child keeps the very value of its rows.
        if not children.is_pure[child]:
            value = node.totals.centre[output] + mean
            if value * value <= NOISE * NOISE * (
                about_centre + node.totals.centre[output] * node.totals.centre[output]
            ):
                value = 0.0  # what is left of numbers that cancel out
            values[output] = value
    if children.is_pure[child] or spread < 0.0:
        spread = 0.0
    children.impurity[child] = spread / problem.n_outputs


cdef void finish_medians(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t child, Children* children
) noexcept nogil:
    """The median of every output, and the mean absolute error."""
    cdef:
        int64_t output, p, i
        double total = 0.0
    for output in range(problem.n_outputs):
        clear_losses(scratch, output)
        for p in range(children.n_pieces):
            if children.pieces[p].child == child:
                for i in range(children.pieces[p].start, children.pieces[p].stop):
                    insert_row(rows, scratch, output, row_of(entries[i]))
        total += absolute_loss(
            scratch, children.values + child * problem.n_outputs + output
        )
    children.impurity[child] = 0.0 if children.is_pure[child] else (
        total / children.weight[child] / problem.n_outputs
    )


cdef void measure_children(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const NodeView* node, Children* children
) noexcept nogil:
    """Fill every slot from the pieces. Empty children take the node's numbers."""
    cdef:
        int64_t p, child
        Piece* piece
    clear_children(problem, children)
    # Sums first: a child may have several pieces.
    for p in range(children.n_pieces):
        piece = &children.pieces[p]
        if piece.child < 0:
            continue
        if problem.is_classifier:
            add_classes(
                problem, rows, entries, piece.start, piece.stop,
                children.sums + piece.child * problem.n_statistics,
                &children.weight[piece.child]
            )
        else:
            add_values(problem, rows, entries, node, piece, piece.child, children)
        children.n_rows[piece.child] += piece.stop - piece.start
    for child in range(children.n_children):
        if children.n_rows[child] == 0:
            continue
        if problem.is_classifier:
            finish_classes(problem, node, child, children)
        elif problem.criterion == ABSOLUTE_ERROR:
            finish_medians(problem, rows, scratch, entries, child, children)
        else:
            finish_values(problem, node, child, children)


# ------------------------------------------------------------------- level maps
# Runs are levels in ascending order, and so are those of a sparse map.


cdef int64_t list_levels(
    const Problem* problem, const Entry* entries, const uint32_t* ranks,
    int64_t column, int64_t n_present, int32_t* levels
) noexcept nogil:
    """List the level of every run of a sorted column; returns their number."""
    cdef int64_t i, n_runs = 0
    for i in range(n_present):
        if i == 0 or rank_of(entries[i]) != rank_of(entries[i - 1]):
            levels[n_runs] = <int32_t>value_of_rank(
                problem, column, ranks, rank_of(entries[i])
            )
            n_runs += 1
    return n_runs


cdef int64_t write_level_map(
    const Problem* problem, NodeBuffer* buffer, int64_t column, int64_t n_runs,
    const int32_t* levels, const int32_t* children, bint covers_all
) noexcept nogil:
    """Append the map of a node in its shorter form.

    covers_all: levels without rows go to the child of their own number, as in a
        split of many ways; otherwise the node does not know them.
    Returns where the map starts, or -1 when memory runs out.
    """
    cdef:
        int64_t n_levels = problem.n_levels[column], level, run
        int64_t start = buffer.n_levels
        bint is_sparse = not covers_all and 2 * n_runs < n_levels
        int64_t length = 1 + (2 * n_runs if is_sparse else n_levels)
        int32_t* level_map
    if reserve_levels(buffer, length) < 0:
        return -1
    buffer.n_levels += length
    level_map = buffer.level_branch + start
    level_map[0] = <int32_t>n_runs if is_sparse else DENSE_MAP
    # n, n ascending levels, n children.
    if is_sparse:
        memcpy(level_map + 1, levels, n_runs * sizeof(int32_t))
        memcpy(level_map + 1 + n_runs, children, n_runs * sizeof(int32_t))
        return start
    # -1, and a child for every level.
    for level in range(n_levels):
        level_map[1 + level] = <int32_t>level if covers_all else -1
    for run in range(n_runs):
        level_map[1 + levels[run]] = children[run]
    return start


cdef void read_run_children(
    const int32_t* level_map, int64_t n_runs, const int32_t* levels,
    int32_t* run_child
) noexcept nogil:
    """The child of every run, from the map that was written of the same runs."""
    cdef int64_t run
    if level_map[0] != DENSE_MAP:
        memcpy(run_child, level_map + 1 + n_runs, n_runs * sizeof(int32_t))
        return
    for run in range(n_runs):
        run_child[run] = level_map[1 + levels[run]]
