"""Least squares in every node of a tree, and the predictions of its equations."""

from libc.math cimport INFINITY, fabs, isnan, sqrt
from libc.stdint cimport int32_t, int64_t

from sklearn_textbook._contract._interrupt cimport (
    Interrupt, has_stopped, must_stop, raise_failure, start_interrupt,
)
from sklearn_textbook._contract._threads cimport (
    ThreadTeam, run_in_threads, run_tasks, start_team, stop_team,
)
from sklearn_textbook._contract._wide_units cimport wide_void
from sklearn_textbook.tree.route._rows cimport Row, Table, read_entry, view_row

import numpy as np

cdef enum:
    BLOCK_ROWS = 1024  # rows of a task of prediction
    TILE_ROWS = 4  # rows whose products are added at once
    CHECKED_ROWS = 256  # rows between two checks for Ctrl-C; a multiple of the tile

cdef:
    # With less than this part of the variance of y left, an equation is exact.
    double MIN_RESIDUAL = 1e-14
    # Factor of the coefficients in the estimate of the error on other rows. With 1 it
    # is Akaike's final prediction error; columns that are chosen cost more.
    double PENALTY = 2.0
    # A column is left out if its variance given the others is less than this part of
    # its own: with cross products of centred columns, what is left is rounding.
    double MIN_TOLERANCE = 1e-9
    # ... or if its standard deviation is less than this part of its mean.
    double MIN_SPREAD = 1e-13
    # Gains that differ by less, in units of the variance of y, are equal, and the first
    # column enters: rounding must not choose it.
    double SAME_GAIN = 1e-10
    # Fewer rows for each coefficient would be interpolated, above all if they are
    # copies of each other.
    double MIN_ROWS_PER_TERM = 3.0


# One record of SLOPE_DTYPE in tree/grow/layout.py.
cdef struct Slope:
    int32_t node
    int32_t feature
    double weight
    double center
    double error


# What the tasks of fitting share.
cdef struct Fit:
    const double* X  # (n_rows, n_used), the rows of a node one after the other
    const double* y
    const double* w
    Py_ssize_t n_used
    const int64_t* first
    const int64_t* last
    const int64_t* start  # where the slopes of a node go
    double* memory
    Py_ssize_t memory_size  # of a thread
    int32_t* chosen
    double* slopes
    double* centers
    double* errors
    int64_t* n_chosen
    double* mean
    double* low
    double* high
    Interrupt* interrupt


cdef wide_void add_centers(
    const Fit* fit, int64_t first, int64_t last, const double* origin, double* total,
    double* weight,
) noexcept nogil:
    """Weighted sums of the values present, as distances from an origin, and of their
    weights; the last column is y."""
    cdef:
        Py_ssize_t n = fit.n_used, i
        int64_t number
        double value, w
    for number in range(first, last):
        w = fit.w[number]
        for i in range(n):
            value = fit.X[number * n + i] - origin[i]
            if value == value:  # not missing
                total[i] += w * value
                weight[i] += w
        total[n] += w * (fit.y[number] - origin[n])
        weight[n] += w


cdef wide_void add_products(
    const Fit* fit, int64_t first, int64_t last, const double* centers, double* tile,
    double* products,
) noexcept nogil:
    """Cross products of the centred columns and, last, of y; a lower triangle."""
    cdef:
        Py_ssize_t n = fit.n_used, width = n + 1, i, j, k
        int64_t number
        const double* X
        double value, w0, w1, w2, w3
        double w[TILE_ROWS]
        double* r0 = tile
        double* r1 = r0 + width
        double* r2 = r1 + width
        double* r3 = r2 + width
        double* row
        double* line
    number = first
    while number < last:
        for k in range(TILE_ROWS):
            row = tile + k * width
            w[k] = 0.0
            if number + k >= last:
                for i in range(width):
                    row[i] = 0.0
                continue
            w[k] = fit.w[number + k]
            X = fit.X + (number + k) * n
            for i in range(n):
                value = X[i] - centers[i]
                row[i] = value if value == value else 0.0  # a missing value is the mean
            row[n] = fit.y[number + k] - centers[n]
        for i in range(width):
            w0, w1, w2, w3 = w[0] * r0[i], w[1] * r1[i], w[2] * r2[i], w[3] * r3[i]
            line = products + i * width
            for j in range(i + 1):
                line[j] += w0 * r0[j] + w1 * r1[j] + (w2 * r2[j] + w3 * r3[j])
        number += TILE_ROWS


cdef bint sum_rows(
    Fit* fit, int64_t node, double* centers, double* memory, double* products
) noexcept nogil:
    """Centres of the columns and of y, and their cross products; whether to go on."""
    cdef:
        Py_ssize_t n = fit.n_used, width = n + 1, i
        int64_t first = fit.first[node], last = fit.last[node], number, stop
        double* origin = memory
        double* total = origin + width
        double* weight = total + width
    for i in range(n):
        origin[i] = 0.0
        for number in range(first, last):
            origin[i] = fit.X[number * n + i]
            if not isnan(origin[i]):
                break
    origin[n] = fit.y[first] if first < last else 0.0
    for i in range(2 * width):
        total[i] = 0.0
    for i in range(width * width):
        products[i] = 0.0
    number = first
    while number < last:
        if must_stop(fit.interrupt, CHECKED_ROWS * width):
            return False
        stop = min(number + CHECKED_ROWS, last)
        add_centers(fit, number, stop, origin, total, weight)
        number = stop
    for i in range(width):
        centers[i] = origin[i] + total[i] / weight[i] if weight[i] > 0.0 else 0.0
    number = first
    while number < last:
        if must_stop(fit.interrupt, CHECKED_ROWS * width * width):
            return False
        stop = min(number + CHECKED_ROWS, last)
        add_products(fit, number, stop, centers, memory, products)
        number = stop
    return True


cdef wide_void sweep(double* A, Py_ssize_t width, Py_ssize_t k) noexcept nogil:
    """Take column k into the equation, or out of it: the operation is its own inverse
    up to signs."""
    cdef double pivot = A[k * width + k], factor
    cdef Py_ssize_t i, j
    for i in range(width):
        if i == k:
            continue
        factor = A[i * width + k] / pivot
        for j in range(width):
            A[i * width + j] -= factor * A[k * width + j]
        A[i * width + k] = factor
    for j in range(width):
        A[k * width + j] /= pivot
    A[k * width + k] = -1.0 / pivot


cdef inline double left_over(double squares) noexcept nogil:
    """Part of the variance of y that an equation leaves; 0 if it is rounding."""
    return squares if squares >= MIN_RESIDUAL else 0.0


cdef inline double inflate(
    double squares, double weight, double n_terms
) noexcept nogil:
    """Estimate of the squared error on other rows, times the weight of these."""
    if weight <= n_terms:
        return INFINITY
    return squares * (weight + PENALTY * n_terms) / (weight - n_terms)


cdef void fit_node(void* context, int64_t node, int thread) noexcept nogil:
    """Forward selection in one node."""
    cdef:
        Fit* fit = <Fit*> context
        int64_t start = fit.start[node]
        Py_ssize_t n = fit.n_used, width = n + 1, i, j, best, step
        Py_ssize_t n_steps = 0, best_step = 0
        int64_t n_rows = fit.last[node] - fit.first[node], number
        const double* w = fit.w + fit.first[node]
        const double* y = fit.y + fit.first[node]
        double* A = fit.memory + thread * fit.memory_size
        double* centers = A + width * width
        double* scale = centers + width
        double* order = scale + width  # the columns in the order of their selection
        double weight = 0.0, gain, most, risk, estimate, squares
    for number in range(n_rows):
        weight += w[number]
    if has_stopped(fit.interrupt) or not sum_rows(
        fit, node, centers, order + width, A
    ):
        return
    fit.mean[node] = centers[n]
    fit.low[node] = fit.high[node] = y[0] if n_rows else 0.0
    for number in range(n_rows):
        fit.low[node] = min(fit.low[node], y[number])
        fit.high[node] = max(fit.high[node], y[number])
    for i in range(width):
        scale[i] = sqrt(A[i * width + i] / weight) if weight > 0.0 else 0.0
        if not scale[i] > MIN_SPREAD * (fabs(centers[i]) if i < n else 0.0):
            scale[i] = 0.0
    # Correlations; the triangle becomes a square.
    for i in range(width):
        for j in range(i + 1):
            if scale[i] > 0.0 and scale[j] > 0.0:
                A[i * width + j] /= scale[i] * scale[j] * weight
            else:
                A[i * width + j] = 0.0
            A[j * width + i] = A[i * width + j]
    risk = inflate(A[n * width + n], weight, 1.0)
    for step in range(fit.start[node + 1] - start):
        if weight < MIN_ROWS_PER_TERM * (step + 2.0):
            break
        best, most = -1, 0.0
        for i in range(n):
            # Of a column in the equation this is negative.
            if A[i * width + i] > MIN_TOLERANCE:
                gain = A[i * width + n] * A[i * width + n] / A[i * width + i]
                if gain > most + SAME_GAIN:
                    best, most = i, gain
        if best < 0 or left_over(A[n * width + n]) == 0.0:
            break
        sweep(A, width, best)
        order[n_steps] = best
        n_steps += 1
        estimate = inflate(left_over(A[n * width + n]), weight, 1.0 + n_steps)
        if estimate < risk:
            risk, best_step = estimate, n_steps
    for step in range(n_steps - 1, best_step - 1, -1):
        sweep(A, width, <Py_ssize_t> order[step])
    squares = left_over(A[n * width + n])
    fit.n_chosen[node] = best_step
    for step in range(best_step):
        i = <Py_ssize_t> order[step]
        fit.chosen[start + step] = <int32_t> i
        fit.slopes[start + step] = A[i * width + n] * scale[n] / scale[i]
        fit.centers[start + step] = centers[i]
        fit.errors[start + step] = sqrt(
            max(-A[i * width + i], 0.0) * squares / (weight - 1.0 - best_step)
        ) * scale[n] / scale[i]


def fit_nodes(
    const double[:, ::1] X, const double[::1] y, const double[::1] w,
    const int64_t[::1] first, const int64_t[::1] last,
    const int64_t[::1] start, int n_threads,
):
    """Fit an equation in every node, of columns chosen by forward selection."""
    cdef:
        Py_ssize_t n_nodes = first.shape[0], n = start[n_nodes], width = X.shape[1] + 1
        int32_t[::1] chosen = np.zeros(n + 1, dtype=np.int32)
        double[:, ::1] found = np.zeros((3, n + 1))
        int64_t[::1] n_chosen = np.zeros(n_nodes, dtype=np.int64)
        double[:, ::1] of_node = np.zeros((3, n_nodes))
        double[:, ::1] memory = np.empty(
            (n_threads, width * width + (3 + TILE_ROWS) * width)
        )
        Fit fit
        Interrupt interrupt
        ThreadTeam* team
    if X.shape[0] == 0 or n_nodes == 0:
        raise ValueError("There are no rows.")
    fit.X = &X[0, 0] if X.shape[1] else NULL
    fit.y, fit.w, fit.n_used = &y[0], &w[0], X.shape[1]
    fit.first, fit.last, fit.start = &first[0], &last[0], &start[0]
    fit.memory, fit.memory_size = &memory[0, 0], memory.shape[1]
    fit.chosen, fit.n_chosen = &chosen[0], &n_chosen[0]
    fit.slopes, fit.centers, fit.errors = &found[0, 0], &found[1, 0], &found[2, 0]
    fit.mean, fit.low, fit.high = &of_node[0, 0], &of_node[1, 0], &of_node[2, 0]
    start_interrupt(&interrupt)
    fit.interrupt = &interrupt
    team = start_team(n_threads, &interrupt)
    with nogil:
        run_tasks(team, fit_node, &fit, n_nodes)
        stop_team(team)
    if has_stopped(&interrupt):
        raise_failure(&interrupt)
    return (
        np.asarray(chosen), np.asarray(found), np.asarray(n_chosen), np.asarray(of_node)
    )


# What the tasks of shrinkage share.
cdef struct Shrinkage:
    const double* X
    const double* y
    const double* w
    Py_ssize_t n_used
    const int64_t* first
    const int64_t* last
    const Slope* slopes
    const int64_t* start
    const double* level
    const int32_t* parent
    double shrinkage
    int64_t first_node  # of the level of the tree
    double* own  # what the equations of nodes predict for their rows
    double* predicted  # what the averaged equations do
    double* part
    double* factor
    double* risk


cdef void shrink_node(void* context, int64_t task, int thread) noexcept nogil:
    """Find how much of its own equation a node keeps, from the errors of its rows."""
    cdef:
        Shrinkage* work = <Shrinkage*> context
        int64_t node = work.first_node + task, number, i
        double level = work.level[node], w, y, value, x, rest
        double weight = 0.0, whole = 0.0, left = 0.0, above = 0.0
        double n_terms = 1.0 + (work.start[node + 1] - work.start[node])
        const Slope* slope
    for number in range(work.first[node], work.last[node]):
        w, y, value = work.w[number], work.y[number], level
        for i in range(work.start[node], work.start[node + 1]):
            slope = work.slopes + i
            x = work.X[number * work.n_used + slope.feature]
            if not isnan(x):
                value += slope.weight * (x - slope.center)
        work.own[number] = value
        weight += w
        whole += w * (y - level) * (y - level)
        left += w * (y - value) * (y - value)
        above += w * (y - work.predicted[number]) * (y - work.predicted[number])
    rest = 1.0
    if node == 0 or (work.shrinkage == 0.0 and weight > 0.0):
        rest = 0.0
    elif weight > n_terms and above > left:
        rest = min(work.shrinkage * n_terms * above / weight / (above - left), 1.0)
    work.part[node] = 1.0 - rest
    work.factor[node] = inflate(1.0, weight, n_terms) if weight > n_terms else 1.0
    if node > 0:
        work.factor[node] *= 1.0 - rest
        work.factor[node] += rest * work.factor[work.parent[node]]
    left = 0.0
    for number in range(work.first[node], work.last[node]):
        value = work.own[number]
        if node > 0:
            value = work.predicted[number] + (1.0 - rest) * (
                value - work.predicted[number]
            )
        work.predicted[number] = value
        left += work.w[number] * (work.y[number] - value) * (work.y[number] - value)
    if left >= MIN_RESIDUAL * whole and weight > 0.0:
        work.risk[node] = work.factor[node] * left / weight


def shrink_nodes(
    const double[:, ::1] X, const double[::1] y, const double[::1] w,
    const int64_t[::1] first, const int64_t[::1] last, const Slope[::1] slopes,
    const int64_t[::1] start, const double[::1] level, const int32_t[::1] parent,
    list levels, double shrinkage, int n_threads,
):
    """Find the part of the own equation of every node, and the risk of its average.

    ``levels`` are the first node and the last but one of each level of the tree.
    """
    cdef:
        Py_ssize_t n_nodes = first.shape[0]
        double[:, ::1] of_row = np.zeros((2, y.shape[0]))
        double[:, ::1] of_node = np.zeros((3, n_nodes))
        int64_t last_node
        Shrinkage work
    work.X = &X[0, 0] if X.shape[1] else NULL
    work.y, work.w, work.n_used = &y[0], &w[0], X.shape[1]
    work.first, work.last, work.start = &first[0], &last[0], &start[0]
    work.slopes = &slopes[0] if slopes.shape[0] else NULL
    work.level, work.parent, work.shrinkage = &level[0], &parent[0], shrinkage
    work.own, work.predicted = &of_row[0, 0], &of_row[1, 0]
    work.part, work.factor, work.risk = &of_node[0, 0], &of_node[1, 0], &of_node[2, 0]
    for work.first_node, last_node in levels:
        run_in_threads(n_threads, shrink_node, &work, last_node - work.first_node)
    return np.asarray(of_node[0]), np.asarray(of_node[2])


# What the tasks of prediction share. The nodes of all trees are numbered one after the
# other.
cdef struct Prediction:
    Table table
    const int64_t* leaves  # (n_rows, n_trees), numbered tree by tree
    Py_ssize_t n_trees
    const int64_t* first_node
    const double* weights
    const double* level
    const Slope* slopes
    const int64_t* start
    const int64_t* n_levels
    const double* bounds
    double* out


cdef void predict_block(void* context, int64_t task, int thread) noexcept nogil:
    """Add what all trees predict for some rows."""
    cdef:
        Prediction* work = <Prediction*> context
        Py_ssize_t number, tree
        int64_t node, i
        Row row
        const Slope* slope
        double value, total
    for number in range(
        task * BLOCK_ROWS, min((task + 1) * BLOCK_ROWS, work.table.n_rows)
    ):
        row = view_row(&work.table, number)
        for tree in range(work.n_trees):
            node = work.first_node[tree] + work.leaves[number * work.n_trees + tree]
            total = work.level[node]
            for i in range(work.start[node], work.start[node + 1]):
                slope = work.slopes + i
                value = read_entry(row.start, slope.feature, row.stride, row.is_single)
                # A level never seen, too, counts as the mean.
                if isnan(value) or (value < 0.0 and work.n_levels[slope.feature] > 0):
                    continue
                total += slope.weight * (value - slope.center)
            if work.start[node] < work.start[node + 1]:
                total = min(
                    max(total, work.bounds[2 * node]), work.bounds[2 * node + 1]
                )
            work.out[number] += work.weights[tree] * total


def add_equations(
    matrix, const int64_t[:, ::1] leaves, const int64_t[::1] first_node,
    const double[::1] weights, const double[::1] level, const Slope[::1] slopes,
    const int64_t[::1] start, const int64_t[::1] n_levels, const double[:, ::1] bounds,
    double[::1] out, int n_threads,
):
    """Add the equations of the leaves of all rows in many trees, within their bounds.
    """
    cdef:
        Prediction work
        const float[:, :] single
        const double[:, :] double_
    if leaves.shape[0] == 0:
        return
    work.table.is_single = matrix.dtype == np.float32
    if work.table.is_single:
        single = matrix
        work.table.start = <const char*> &single[0, 0]
    else:
        double_ = matrix
        work.table.start = <const char*> &double_[0, 0]
    work.table.row_stride, work.table.column_stride = matrix.strides
    work.table.n_rows, work.table.n_columns = matrix.shape
    work.leaves, work.n_trees = &leaves[0, 0], leaves.shape[1]
    work.first_node, work.weights, work.level = &first_node[0], &weights[0], &level[0]
    work.slopes = &slopes[0] if slopes.shape[0] else NULL
    work.start, work.n_levels, work.bounds = &start[0], &n_levels[0], &bounds[0, 0]
    work.out = &out[0]
    run_in_threads(
        n_threads, predict_block, &work,
        (work.table.n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS,
    )
