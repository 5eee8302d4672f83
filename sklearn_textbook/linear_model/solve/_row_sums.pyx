# cython: language_level=3
"""Kernels of the sums over rows.

:mod:`sklearn_textbook.linear_model.solve.row_sums` documents the products,
:mod:`sklearn_textbook.linear_model.logistic.likelihood` the likelihood.

Narrow tables are divided into stretches of rows with separate sums, which are added in
order. For wide tables, whose sums would fill the memory, the threads share the sums of
each block of rows. The method, and so the bits, only depend on the shape.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from sklearn_textbook._contract._interrupt cimport (
    Interrupt, has_stopped, must_stop, raise_failure, start_interrupt,
)
from sklearn_textbook._contract._threads cimport (
    ThreadTeam, run_in_threads, run_tasks, start_team, stop_team,
)
from sklearn_textbook.linear_model.solve._likelihood cimport (
    GRADIENT, HESSIAN, Problem, Sums, Workspace, add_likelihood, count_score_columns,
    judge_many, judge_two, note_curvature, note_residual, place_scores,
)
from sklearn_textbook.linear_model.solve._panels cimport (
    BLOCK_ROWS, PANEL_WIDTH, TILE_HEIGHT, add_half_panel, add_products, clear_rest,
    count_panels, fill_columns, fill_ones, scale_panels,
)


# A dense table with weights and targets.
cdef struct DenseRows:
    const double* values
    Py_ssize_t row_stride
    Py_ssize_t column_stride
    Py_ssize_t n_rows
    Py_ssize_t n_columns
    # NULL: 1 each
    const double* weight
    # row after row
    const double* targets
    Py_ssize_t n_targets


cdef inline Py_ssize_t count_sums(const DenseRows* rows) noexcept nogil:
    """Columns of the panels: ones, table, targets."""
    return 1 + rows.n_columns + rows.n_targets


cdef inline void fill_block(
    const DenseRows* rows, Py_ssize_t first, Py_ssize_t n_rows, double* panels
) noexcept nogil:
    """Write the panels of a block, all but the zeros at their end."""
    fill_ones(panels, 0, n_rows)
    fill_columns(
        panels, 1, rows.values + first * rows.row_stride, rows.row_stride,
        rows.column_stride, rows.n_columns, n_rows,
    )
    fill_columns(
        panels, 1 + rows.n_columns, rows.targets + first * rows.n_targets,
        rows.n_targets, 1, rows.n_targets, n_rows,
    )


cdef inline void add_stretch(
    const DenseRows* rows, Py_ssize_t first, Py_ssize_t last, double* panels,
    double* sums,
) noexcept nogil:
    """Add the rows from ``first`` to before ``last``; panels: two blocks."""
    cdef Py_ssize_t n_panels = count_panels(count_sums(rows)), n_rows
    cdef double* scaled = panels + n_panels * BLOCK_ROWS * PANEL_WIDTH
    clear_rest(panels, count_sums(rows))
    while first < last:
        n_rows = min(<Py_ssize_t> BLOCK_ROWS, last - first)
        fill_block(rows, first, n_rows, panels)
        if rows.weight == NULL:
            add_products(panels, panels, 1 + rows.n_columns, n_panels, n_rows, sums)
        else:
            scale_panels(panels, rows.weight + first, scaled, n_panels, n_rows)
            add_products(scaled, panels, 1 + rows.n_columns, n_panels, n_rows, sums)
        first += n_rows


cdef DenseRows note_rows(
    const double[:, :] X, const double[::1] weight, const double[:, ::1] targets
) noexcept:
    """View a table, weights (None: 1 each) and targets; strides count numbers."""
    cdef DenseRows rows
    rows.n_rows, rows.n_columns = X.shape[0], X.shape[1]
    rows.n_targets = targets.shape[1]
    rows.row_stride = X.strides[0] // <Py_ssize_t> sizeof(double)
    rows.column_stride = X.strides[1] // <Py_ssize_t> sizeof(double)
    rows.values = &X[0, 0] if rows.n_rows and rows.n_columns else NULL
    rows.weight = &weight[0] if weight is not None and rows.n_rows else NULL
    rows.targets = &targets[0, 0] if rows.n_rows and rows.n_targets else NULL
    return rows


cdef struct Stretches:
    # Stretches of rows that threads share: sums of each stretch, room of each thread.
    DenseRows rows
    const Py_ssize_t* bounds
    double* sums
    Py_ssize_t n_sums
    double* room
    Py_ssize_t room_size


cdef void sum_stretch(void* context, int64_t stretch, int thread) noexcept nogil:
    """Add up one stretch of rows, into its own sums."""
    cdef const Stretches* work = <Stretches*> context
    add_stretch(
        &work.rows, work.bounds[stretch], work.bounds[stretch + 1],
        work.room + thread * work.room_size, work.sums + stretch * work.n_sums,
    )


def sum_dense_stretches(
    const double[:, :] X, const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, double[:, :, ::1] sums, int n_threads,
):
    """Add up every stretch of rows separately.

    bounds (n_stretches + 1): where stretches begin and end. sums (n_stretches,
    n_padded, n_padded), zero: the upper triangle of the first 1 + n_columns rows.
    """
    cdef Stretches work
    cdef Py_ssize_t size = 2 * sums.shape[1] * BLOCK_ROWS
    cdef double* buffer = <double*> malloc(n_threads * size * sizeof(double))
    if buffer == NULL:
        raise MemoryError()
    work = Stretches(
        note_rows(X, weight, targets), &bounds[0], &sums[0, 0, 0],
        sums.shape[1] * sums.shape[2], buffer, size,
    )
    # An interrupted call raises.
    try:
        run_in_threads(n_threads, sum_stretch, &work, sums.shape[0])
    finally:
        free(buffer)


cdef struct Tiles:
    # Panels of a block of rows, then halves of panels of the sums, that threads share.
    const double* weight
    Py_ssize_t n_rows
    double* panels
    double* scaled
    Py_ssize_t n_panels
    double* sums


cdef void scale_panel(void* context, int64_t panel, int thread) noexcept nogil:
    """Weight the rows of one panel of the block."""
    cdef const Tiles* tiles = <Tiles*> context
    cdef Py_ssize_t start = panel * BLOCK_ROWS * PANEL_WIDTH
    scale_panels(
        tiles.panels + start, tiles.weight, tiles.scaled + start, 1, tiles.n_rows
    )


cdef void add_half(void* context, int64_t half, int thread) noexcept nogil:
    """Add the products of four columns of the block. No other task has these sums."""
    cdef const Tiles* tiles = <Tiles*> context
    add_half_panel(
        tiles.scaled, tiles.panels, half, tiles.n_panels, tiles.n_rows, tiles.sums
    )


def sum_dense_tiles(
    const double[:, :] X, const double[::1] weight, const double[:, ::1] targets,
    double[:, ::1] sums, int n_threads,
):
    """Add up block after block, the threads sharing the sums.

    sums (n_padded, n_padded), zero: the upper triangle of the first 1 + n_columns rows.
    """
    cdef DenseRows rows = note_rows(X, weight, targets)
    cdef Py_ssize_t n_panels = sums.shape[0] // PANEL_WIDTH
    cdef Py_ssize_t size = n_panels * BLOCK_ROWS * PANEL_WIDTH
    cdef Py_ssize_t n_halves = (1 + rows.n_columns + TILE_HEIGHT - 1) // TILE_HEIGHT
    cdef Py_ssize_t first = 0
    cdef double* panels = <double*> malloc(2 * size * sizeof(double))
    cdef Tiles tiles
    cdef ThreadTeam* team
    cdef Interrupt interrupt
    if panels == NULL:
        raise MemoryError()
    tiles = Tiles(NULL, 0, panels, panels, n_panels, &sums[0, 0])
    start_interrupt(&interrupt)
    team = start_team(n_threads, &interrupt)
    with nogil:
        clear_rest(panels, count_sums(&rows))
        while first < rows.n_rows and not must_stop(&interrupt, size):
            tiles.n_rows = min(<Py_ssize_t> BLOCK_ROWS, rows.n_rows - first)
            fill_block(&rows, first, tiles.n_rows, panels)
            if rows.weight != NULL:
                tiles.scaled = panels + size
                tiles.weight = rows.weight + first
                # Scaled before any product is added: run_tasks waits for all tasks.
                run_tasks(team, scale_panel, &tiles, n_panels)
            run_tasks(team, add_half, &tiles, n_halves)
            first += tiles.n_rows
        stop_team(team)
    free(panels)
    if has_stopped(&interrupt):
        raise_failure(&interrupt)


# -------------------------------------------------------------- the logistic likelihood
cdef struct LikelihoodStretches:
    # Stretches of rows that threads share: sums of each stretch, memory of each thread.
    Problem problem
    const Py_ssize_t* bounds
    Sums sums
    Py_ssize_t gradient_size
    Py_ssize_t hessian_size
    int order
    double* memory
    Py_ssize_t memory_size


cdef void sum_likelihood_stretch(
    void* context, int64_t stretch, int thread
) noexcept nogil:
    """Add up the likelihood of one stretch of rows, into its own sums."""
    cdef const LikelihoodStretches* work = <LikelihoodStretches*> context
    cdef Sums sums = work.sums
    sums.totals += 2 * stretch
    sums.gradient += stretch * work.gradient_size
    sums.hessian += stretch * work.hessian_size
    add_likelihood(
        &work.problem, work.bounds[stretch], work.bounds[stretch + 1],
        work.memory + thread * work.memory_size, sums, work.order,
    )


def sum_likelihood(
    const double[:, :] X, bint has_intercept, const double[::1] shift,
    const double[::1] weight, const int32_t[::1] codes, int n_classes,
    const double[:, ::1] coef, const double[:, :, ::1] coef_groups,
    const Py_ssize_t[::1] bounds, double[:, ::1] totals, double[:, :, ::1] gradient,
    double[:, :, :, ::1] hessian, int order, int n_threads,
):
    """Add up loss, gradient and Hessian of every stretch of rows.

    shift (n_padded), coef (n_scores, n_padded): in the order of the panels. coef_groups
    (n_groups, n_padded, 8): of several scores the same, transposed, for eight at a
    time. bounds (n_stretches + 1). totals (n_stretches, 2): loss, 0, and smallest
    margin, infinity. gradient (n_stretches, n_scores, n_padded), with the scores padded
    to a multiple of 4 unless there is one; hessian (n_stretches, n_pairs, n_padded,
    n_padded), zero; of each pair of scores the upper triangle. order: 0, 1 or 2.
    """
    cdef LikelihoodStretches work
    cdef Problem problem
    cdef Py_ssize_t size
    cdef double* memory
    problem.values = &X[0, 0] if X.shape[1] else NULL
    problem.row_stride = X.strides[0] // <Py_ssize_t> sizeof(double)
    problem.column_stride = X.strides[1] // <Py_ssize_t> sizeof(double)
    problem.n_columns = X.shape[1]
    problem.has_intercept = has_intercept
    problem.shift = &shift[0]
    problem.weight = NULL
    if weight is not None:
        problem.weight = &weight[0]
    problem.codes = &codes[0]
    problem.n_classes, problem.n_scores = n_classes, coef.shape[0]
    problem.coef = &coef[0, 0]
    problem.coef_groups = &coef_groups[0, 0, 0] if coef_groups.shape[0] else NULL
    problem.n_panels = coef.shape[1] // PANEL_WIDTH
    size = 2 * coef.shape[1] + count_score_columns(problem.n_scores)
    memory = <double*> malloc(n_threads * size * BLOCK_ROWS * sizeof(double))
    if memory == NULL:
        raise MemoryError()
    work = LikelihoodStretches(
        problem, &bounds[0], Sums(&totals[0, 0], NULL, NULL), 0, 0, order, memory,
        size * BLOCK_ROWS,
    )
    if order >= GRADIENT:
        work.sums.gradient = &gradient[0, 0, 0]
        work.gradient_size = gradient.shape[1] * gradient.shape[2]
    if order >= HESSIAN:
        work.sums.hessian = &hessian[0, 0, 0, 0]
        work.hessian_size = hessian.shape[1] * hessian.shape[2] * hessian.shape[3]
    # An interrupted call raises.
    try:
        run_in_threads(n_threads, sum_likelihood_stretch, &work, totals.shape[0])
    finally:
        free(memory)


cdef struct Judgement:
    # Stretches of rows that threads share: a line of totals for each stretch,
    # memory of each thread.
    Problem problem
    const double* scores
    const Py_ssize_t* bounds
    Py_ssize_t n_rows
    double* totals
    # rows, or none
    double* residuals
    Py_ssize_t n_residuals
    double* curvatures
    Py_ssize_t n_curvatures
    double* memory
    Py_ssize_t memory_size


cdef void judge_stretch(void* context, int64_t stretch, int thread) noexcept nogil:
    """Evaluate the scores of a stretch of rows."""
    cdef const Judgement* work = <Judgement*> context
    cdef const Problem* problem = &work.problem
    cdef Py_ssize_t first = work.bounds[stretch], last = work.bounds[stretch + 1]
    cdef Py_ssize_t n_rows, k, row
    cdef double* totals = work.totals + 2 * stretch
    cdef Workspace space
    place_scores(&space, work.memory + thread * work.memory_size, problem.n_scores)
    while first < last:
        n_rows = min(<Py_ssize_t> BLOCK_ROWS, last - first)
        # Scores come row by row, and are read score by score.
        for k in range(problem.n_scores):
            for row in range(n_rows):
                space.scores[k * BLOCK_ROWS + row] = work.scores[
                    (first + row) * problem.n_scores + k
                ]
        if problem.n_classes == 2:
            judge_two(problem, first, n_rows, &space, totals)
            for row in range(n_rows if work.n_residuals else 0):
                work.residuals[first + row] = space.factors[row]
            for row in range(n_rows if work.n_curvatures else 0):
                work.curvatures[first + row] = space.factors[BLOCK_ROWS + row]
        else:
            judge_many(problem, first, n_rows, &space, totals)
            note_block(work, first, n_rows, &space)
        first += n_rows


cdef void note_block(
    const Judgement* work, Py_ssize_t first, Py_ssize_t n_rows, const Workspace* space
) noexcept nogil:
    """Residuals and curvatures of a block of several classes."""
    cdef const Problem* problem = &work.problem
    cdef Py_ssize_t k, other, pair = 0
    for k in range(work.n_residuals):
        note_residual(
            problem, first, n_rows, space, k, work.residuals + k * work.n_rows + first
        )
    if work.n_curvatures == 0:
        return
    for k in range(problem.n_scores):
        for other in range(k, problem.n_scores):
            note_curvature(
                problem, first, n_rows, space, k, other,
                work.curvatures + pair * work.n_rows + first,
            )
            pair += 1


def judge_scores(
    const double[:, ::1] scores, const double[::1] weight, const int32_t[::1] codes,
    int n_classes, const Py_ssize_t[::1] bounds, double[:, ::1] totals,
    double[:, ::1] residuals, double[:, ::1] curvatures, int n_threads,
):
    """Evaluate scores (n_rows, n_scores) that are computed elsewhere.

    totals (n_stretches, 2): as above. residuals (n_scores, n_rows) and curvatures
    (n_pairs, n_rows) are filled, unless they have no rows.
    """
    cdef Judgement work
    cdef Problem problem
    cdef Py_ssize_t size
    cdef double* memory
    problem.weight = NULL
    if weight is not None:
        problem.weight = &weight[0]
    problem.codes = &codes[0]
    problem.n_classes, problem.n_scores = n_classes, scores.shape[1]
    size = count_score_columns(problem.n_scores) * BLOCK_ROWS
    memory = <double*> malloc(n_threads * size * sizeof(double))
    if memory == NULL:
        raise MemoryError()
    work = Judgement(
        problem, &scores[0, 0], &bounds[0], scores.shape[0], &totals[0, 0], NULL,
        residuals.shape[0], NULL, curvatures.shape[0], memory, size,
    )
    if work.n_residuals:
        work.residuals = &residuals[0, 0]
    if work.n_curvatures:
        work.curvatures = &curvatures[0, 0]
    # An interrupted call raises.
    try:
        run_in_threads(n_threads, judge_stretch, &work, totals.shape[0])
    finally:
        free(memory)


# ------------------------------------------------------------------------------------
# Coordinate descent on a quadratic function with an elastic-net penalty.
# ------------------------------------------------------------------------------------


cdef struct Quadratic:
    # Its second derivatives are a matrix, or products of columns; those of the penalty
    # are l2.
    Py_ssize_t n
    const double* hessian
    Py_ssize_t n_rows
    const double* columns  # one after the other
    double* moved  # the sum of the columns times the changes
    const double* curvature
    double* slope
    const double* l1
    const double* l2
    double* theta
    bint is_positive


cdef inline double find_slope(const Quadratic* of, Py_ssize_t place) noexcept nogil:
    """Derivative of the quadratic function at theta."""
    cdef double total = of.slope[place]
    cdef double[4] sums
    cdef const double* column
    cdef Py_ssize_t row, end
    if of.columns == NULL:
        return total
    # Four sums, so that additions need not wait for each other.
    column = of.columns + place * of.n_rows
    end = of.n_rows - of.n_rows % 4
    sums[0] = sums[1] = sums[2] = sums[3] = 0.0
    for row in range(0, end, 4):
        sums[0] += column[row] * of.moved[row]
        sums[1] += column[row + 1] * of.moved[row + 1]
        sums[2] += column[row + 2] * of.moved[row + 2]
        sums[3] += column[row + 3] * of.moved[row + 3]
    for row in range(end, of.n_rows):
        sums[0] += column[row] * of.moved[row]
    return total + ((sums[0] + sums[1]) + (sums[2] + sums[3]))


cdef inline void move(
    const Quadratic* of, Py_ssize_t place, double new
) noexcept nogil:
    """Set one coordinate, and keep the slopes or the moved rows up to date."""
    cdef double change = new - of.theta[place]
    cdef const double* line
    cdef double* changed = of.slope
    cdef Py_ssize_t other, n = of.n
    if change == 0.0:
        return
    of.theta[place] = new
    if of.columns == NULL:
        line = of.hessian + place * n
    else:
        n, changed, line = of.n_rows, of.moved, of.columns + place * of.n_rows
    for other in range(n):
        changed[other] += change * line[other]


cdef double minimise_coordinate(
    const Quadratic* of, Py_ssize_t place
) noexcept nogil:
    """Minimise along one coordinate; its change in units of the curvature.

    Soft thresholding: with m = t_i - slope_i / c_i, t_i becomes sign(m) max(|m| - l1_i
    / c_i, 0), where c_i is the second derivative and slope_i the first one of all but
    l1 |t|. Returns |change| sqrt(c_i).
    """
    cdef double curvature = of.curvature[place] + of.l2[place]
    cdef double moved, new = 0.0, old = of.theta[place], limit
    if not curvature > 0.0:
        return 0.0
    moved = old - (find_slope(of, place) + of.l2[place] * old) / curvature
    limit = of.l1[place] / curvature
    if moved > limit:
        new = moved - limit
    elif moved < -limit and not of.is_positive:
        new = moved + limit
    move(of, place, new)
    return fabs(new - old) * sqrt(curvature)


cdef double minimise_group(
    const Quadratic* of, Py_ssize_t first, Py_ssize_t stop, double bound, double* aims
) noexcept nogil:
    """Minimise a bound along the coordinates of a group, whose norm is penalised.

    The bound has the curvature ``bound``, the largest eigenvalue of the group's second
    derivatives, in all directions. Returns the norm of the change times its root.
    """
    cdef double curvature = bound + of.l2[first], square = 0.0, factor, moved = 0.0
    cdef Py_ssize_t place
    if not curvature > 0.0:
        return 0.0
    for place in range(first, stop):
        aims[place] = of.theta[place] - (
            find_slope(of, place) + of.l2[place] * of.theta[place]
        ) / curvature
        if of.is_positive:
            aims[place] = max(aims[place], 0.0)
        square += aims[place] * aims[place]
    factor = 0.0
    if square > 0.0:
        factor = max(0.0, 1.0 - of.l1[first] / (curvature * sqrt(square)))
    for place in range(first, stop):
        aims[place] *= factor
        moved += (aims[place] - of.theta[place]) * (aims[place] - of.theta[place])
        move(of, place, aims[place])
    return sqrt(moved * curvature)


cdef double sweep_once(
    const Quadratic* of, const Py_ssize_t* starts, Py_ssize_t n_groups,
    const double* bounds, double* aims, bint is_whole,
) noexcept nogil:
    """Minimise along all coordinates or groups in turn, or those that are not 0.

    Returns the largest change.
    """
    cdef double largest = 0.0
    cdef Py_ssize_t group, first, stop, place
    cdef bint is_zero
    for group in range(n_groups):
        first, stop = group, group + 1
        if starts != NULL:
            first, stop = starts[group], starts[group + 1]
        is_zero = True
        for place in range(first, stop):
            is_zero = is_zero and of.theta[place] == 0.0
        if is_zero and not is_whole:
            continue
        if stop - first == 1:
            largest = max(largest, minimise_coordinate(of, first))
        else:
            largest = max(largest, minimise_group(of, first, stop, bounds[group], aims))
    return largest


def descend_coordinates(
    const double[:, ::1] hessian, double[::1] slope, const double[::1] l1,
    double[::1] theta, double tol, Py_ssize_t max_sweeps, *,
    const double[::1] l2=None, const Py_ssize_t[::1] starts=None,
    const double[::1] bounds=None, const double[:, ::1] columns=None,
    double[::1] moved=None, bint is_positive=False,
):
    """Minimise g (t - s) + (t - s) H (t - s) / 2 + l1 |t| + l2 t t / 2 from t = s.

    hessian (n, n): H, symmetric; or columns (n, n_rows): H is the products of its rows,
    and only the diagonal hessian (1, n) is passed. slope (n): g, with H changed to the
    derivatives at t. theta (n): s, changed to t. moved (n_rows), zero: becomes the sum
    of the columns times t - s. starts (n_groups + 1): the coordinates of groups, whose
    norms are penalised by the l1 of the first of them in place of absolute values;
    bounds (n_groups): largest eigenvalues of their parts of H. is_positive: t is not
    negative. tol: where the changes of a sweep end it, in units of the roots of H's
    diagonal. Returns the number of sweeps, and whether they have converged.
    """
    cdef Py_ssize_t n = theta.shape[0], place, n_sweeps
    cdef Py_ssize_t n_groups = n if starts is None else starts.shape[0] - 1
    cdef double largest
    cdef bint is_whole = True
    cdef Quadratic of
    cdef double* memory = <double*> malloc(3 * max(n, 1) * sizeof(double))
    if memory == NULL:
        raise MemoryError()
    of = Quadratic(
        n, NULL, 0, NULL, NULL, memory, &slope[0], &l1[0], memory + n, &theta[0],
        is_positive,
    )
    for place in range(n):
        memory[place] = (
            hessian[place, place] if columns is None else hessian[0, place]
        )
        memory[n + place] = 0.0 if l2 is None else l2[place]
    if columns is None:
        of.hessian = &hessian[0, 0]
    else:
        of.columns, of.n_rows, of.moved = &columns[0, 0], columns.shape[1], &moved[0]
    try:
        for n_sweeps in range(1, max_sweeps + 1):
            # A sweep over all coordinates, then over those that are not 0 until they
            # have converged, then over all again: only that one may end the search.
            with nogil:
                largest = sweep_once(
                    &of, NULL if starts is None else &starts[0], n_groups,
                    NULL if starts is None else &bounds[0], memory + 2 * n, is_whole,
                )
            if largest <= tol:
                if is_whole:
                    return n_sweeps, True
                is_whole = True
            else:
                is_whole = False
        return max_sweeps, False
    finally:
        free(memory)


# ------------------------------------------------------------------------------------
# Sums over the rows of sparse tables.
# ------------------------------------------------------------------------------------


ctypedef fused index_t:
    int32_t
    int64_t


cdef struct SparseRows:
    # Stretches of rows, or bands of the sums, that threads share.
    const double* data
    const void* indices
    const void* indptr
    bint is_wide  # indices of 64 bits, or of 32
    const double* weight
    const double* targets
    Py_ssize_t n_targets
    Py_ssize_t n_rows
    const Py_ssize_t* bounds
    double* sums
    Py_ssize_t height


cdef SparseRows note_sparse_rows(
    const double[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, Py_ssize_t height,
) noexcept:
    """View a CSR matrix, weights and targets. height: 1 + n_columns, rows of the
    sums."""
    cdef SparseRows rows = SparseRows(
        NULL, NULL, &indptr[0], index_t is int64_t, NULL, NULL, targets.shape[1],
        indptr.shape[0] - 1, &bounds[0], NULL, height,
    )
    if data.shape[0]:
        rows.data, rows.indices = &data[0], &indices[0]
    if weight.shape[0]:
        rows.weight = &weight[0]
        rows.targets = &targets[0, 0] if rows.n_targets else NULL
    return rows


def sum_sparse_stretches(
    const double[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, double[:, :, ::1] sums, int n_threads,
):
    """Add up every stretch of sparse rows, whose indices ascend, separately.

    sums (n_stretches, 1 + n_columns, 1 + n_columns + n_targets), zero: the upper
    triangle.
    """
    cdef SparseRows rows = note_sparse_rows(
        data, indices, indptr, weight, targets, bounds, sums.shape[1]
    )
    rows.sums = &sums[0, 0, 0]
    run_in_threads(n_threads, sum_sparse_stretch, &rows, sums.shape[0])


cdef void sum_sparse_stretch(void* context, int64_t stretch, int thread) noexcept nogil:
    """Add up one stretch of rows, into its own sums."""
    cdef const SparseRows* rows = <SparseRows*> context
    add_sparse_rows(
        rows, rows.bounds[stretch], rows.bounds[stretch + 1], 0, rows.height,
        rows.sums + stretch * rows.height * (rows.height + rows.n_targets),
    )


def sum_sparse_bands(
    const double[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    const double[::1] weight, const double[:, ::1] targets,
    const Py_ssize_t[::1] bounds, double[:, ::1] sums, int n_threads,
):
    """Add up all sparse rows, whose indices ascend, the threads sharing the sums.

    bounds (n_bands + 1): rows of the sums that a thread computes at a time.
    """
    cdef SparseRows rows = note_sparse_rows(
        data, indices, indptr, weight, targets, bounds, sums.shape[0]
    )
    rows.sums = &sums[0, 0]
    run_in_threads(n_threads, sum_sparse_band, &rows, bounds.shape[0] - 1)


cdef void sum_sparse_band(void* context, int64_t band, int thread) noexcept nogil:
    """Add up all rows, in some rows of the sums alone, which no other task has."""
    cdef const SparseRows* rows = <SparseRows*> context
    add_sparse_rows(
        rows, 0, rows.n_rows, rows.bounds[band], rows.bounds[band + 1], rows.sums
    )


cdef void add_sparse_rows(
    const SparseRows* rows, Py_ssize_t first, Py_ssize_t last, Py_ssize_t low,
    Py_ssize_t high, double* sums,
) noexcept nogil:
    """Add rows to the rows of the sums from ``low`` to before ``high``."""
    if rows.is_wide:
        add_indexed_rows(
            rows, <const int64_t*> rows.indices, <const int64_t*> rows.indptr, first,
            last, low, high, sums,
        )
    else:
        add_indexed_rows(
            rows, <const int32_t*> rows.indices, <const int32_t*> rows.indptr, first,
            last, low, high, sums,
        )


cdef void add_indexed_rows(
    const SparseRows* rows, const index_t* indices, const index_t* indptr,
    Py_ssize_t first, Py_ssize_t last, Py_ssize_t low, Py_ssize_t high, double* sums,
) noexcept nogil:
    """The work of `add_sparse_rows`, for one type of indices.

    Row 0 of the sums belongs to the column of ones, row 1 + c to column c; their
    columns likewise, and then the targets. Only entries on and right of the diagonal
    are added, which requires indices that ascend within a row.
    """
    cdef Py_ssize_t row, entry, other, end, i, target
    cdef Py_ssize_t height = rows.height, n_targets = rows.n_targets
    cdef const double* data = rows.data
    cdef const double* targets
    cdef double* line
    cdef double factor, weight
    for row in range(first, last):
        end = indptr[row + 1]
        weight = rows.weight[row]
        targets = rows.targets + row * n_targets
        # The products of the ones.
        if low == 0:
            sums[0] += weight
            for entry in range(indptr[row], end):
                sums[1 + indices[entry]] += weight * data[entry]
            for target in range(n_targets):
                sums[height + target] += weight * targets[target]
        for entry in range(indptr[row], end):
            i = 1 + indices[entry]
            if i < low:
                continue
            if i >= high:
                break
            line = sums + i * (height + n_targets)
            factor = weight * data[entry]
            for other in range(entry, end):
                line[1 + indices[other]] += factor * data[other]
            for target in range(n_targets):
                line[height + target] += factor * targets[target]
