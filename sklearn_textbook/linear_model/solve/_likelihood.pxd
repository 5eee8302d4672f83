# The logistic likelihood of some rows: header-only; documented in
# logistic/likelihood.py.
#
# Each block of rows is read from memory once. While it is in the cache, scores are
# converted to probabilities, these to residuals and curvatures, and both are summed up
# with the columns.

from libc.math cimport INFINITY, log1p
from libc.stdint cimport int32_t

from sklearn_textbook.linear_model.solve._exponential cimport (
    take_exponentials, take_log1p,
)
from sklearn_textbook.linear_model.solve._panels cimport (
    BLOCK_ROWS, PANEL_WIDTH, TILE_HEIGHT, add_products, add_scaled_rows, add_tile,
    clear_rest, fill_columns, fill_ones, scale_panels, score_many_rows, score_rows,
    shift_rows,
)

cdef extern from *:
    """
    /* Steps for all rows of a block, which compilers turn into vector instructions. */
    FOR_EACH_WIDTH
    static void orient_scores(
        double* scores, const int32_t* codes, double* minus_sizes, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++) {
            double score = codes[i] ? scores[i] : -scores[i];
            scores[i] = score;
            minus_sizes[i] = score > 0.0 ? -score : score;
        }
    }

    FOR_EACH_WIDTH
    static void differentiate_two(
        const double* scores, const int32_t* codes, const double* fractions,
        double* residuals, double* curvatures, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++) {
            double small = fractions[i], total = 1.0 + small;
            /* probability of the other class */
            double other = (scores[i] > 0.0 ? small : 1.0) / total;
            residuals[i] = codes[i] ? -other : other;
            curvatures[i] = small / (total * total);
        }
    }

    FOR_EACH_WIDTH
    static void compare_scores(
        const double* scores, const int32_t* codes, int k, double* top, double* best,
        double* own, double* rest, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++) {
            double score = scores[i], other = codes[i] == k ? -INFINITY : score;
            best[i] = score > top[i] ? (double)k : best[i];
            top[i] = score > top[i] ? score : top[i];
            own[i] = codes[i] == k ? score : own[i];
            rest[i] = other > rest[i] ? other : rest[i];
        }
    }

    FOR_EACH_WIDTH
    static void subtract_top(double* scores, const double* top, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++)
            scores[i] -= top[i];
    }

    FOR_EACH_WIDTH
    static void add_rest(
        const double* scores, const double* best, int k, double* rest, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++)
            rest[i] += best[i] == k ? 0.0 : scores[i];
    }

    FOR_EACH_WIDTH
    static void divide_by_total(
        double* scores, const double* best, int k, const double* rest,
        double* residuals, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++) {
            double total = 1.0 + rest[i];
            /* the probability of the other classes */
            residuals[i] = (best[i] == k ? rest[i] : total - scores[i]) / total;
            scores[i] /= total;
        }
    }

    FOR_EACH_WIDTH
    static void choose_residuals(
        const double* fractions, const double* others, const int32_t* codes, int k,
        double* residuals, Py_ssize_t n)
    {
        Py_ssize_t i;
        for (i = 0; i < n; i++)
            residuals[i] = codes[i] == k ? -others[i] : fractions[i];
    }
    """
    # scores of two classes become those of the row's class minus that of the other
    void orient_scores(
        double* scores, const int32_t* codes, double* minus_sizes, Py_ssize_t n,
    ) noexcept nogil
    void differentiate_two(
        const double* scores, const int32_t* codes, const double* fractions,
        double* residuals, double* curvatures, Py_ssize_t n,
    ) noexcept nogil
    # one class of many: largest score so far, its class, own score, largest other one
    void compare_scores(
        const double* scores, const int32_t* codes, int k, double* top, double* best,
        double* own, double* rest, Py_ssize_t n,
    ) noexcept nogil
    void subtract_top(double* scores, const double* top, Py_ssize_t n) noexcept nogil
    void add_rest(
        const double* scores, const double* best, int k, double* rest, Py_ssize_t n,
    ) noexcept nogil
    void divide_by_total(
        double* scores, const double* best, int k, const double* rest,
        double* residuals, Py_ssize_t n,
    ) noexcept nogil
    void choose_residuals(
        const double* fractions, const double* others, const int32_t* codes, int k,
        double* residuals, Py_ssize_t n,
    ) noexcept nogil


cdef enum:
    LOSS = 0
    GRADIENT = 1
    HESSIAN = 2
    N_NOTES = 4


# A dense table with classes and weights, and coefficients.
cdef struct Problem:
    const double* values
    Py_ssize_t row_stride
    Py_ssize_t column_stride
    Py_ssize_t n_columns
    bint has_intercept
    # subtracted from the columns of the panels; 0 for the ones and the padding
    const double* shift
    # NULL: 1 each
    const double* weight
    const int32_t* codes
    int n_classes
    # one for each class, or one less: then the score of the last class is 0, or for two
    # classes that of the first
    int n_scores
    # n_scores rows of padded length
    const double* coef
    # of several scores the same by columns, for eight scores at a time
    const double* coef_groups
    Py_ssize_t n_panels


# The sums of a stretch of rows.
cdef struct Sums:
    # loss and smallest margin
    double* totals
    # of several scores, those of a multiple of TILE_HEIGHT
    double* gradient
    double* hessian


# Working memory of a thread: blocks of rows.
cdef struct Workspace:
    double* panels
    double* scaled
    # n_scores + 1 columns each. factors: the residuals of the scores, and one column of
    # curvatures. Of two classes, which have one score, both for the score; of many, the
    # probability of the other classes in place of residuals, and the curvatures of the
    # pair of scores that is being added
    double* scores
    double* factors
    # N_NOTES columns that are needed to evaluate the scores
    double* notes


cdef inline Py_ssize_t count_score_columns(Py_ssize_t n_scores) noexcept nogil:
    """Columns of scores, factors and notes."""
    return 2 * (n_scores + 1) + N_NOTES


cdef inline void place_scores(
    Workspace* work, double* memory, Py_ssize_t n_scores
) noexcept nogil:
    """Divide the memory of these columns among them."""
    work.scores = memory
    work.factors = work.scores + (n_scores + 1) * BLOCK_ROWS
    work.notes = work.factors + (n_scores + 1) * BLOCK_ROWS


cdef inline void judge_two(
    const Problem* problem, Py_ssize_t first, Py_ssize_t n_rows, const Workspace* work,
    double* totals,
) noexcept nogil:
    """Losses, residuals and curvatures of two classes, from the scores of a block."""
    cdef Py_ssize_t row
    cdef double score, weight = 1.0, margin = INFINITY, loss = 0.0
    cdef double* residual = work.factors
    cdef double* curvature = work.factors + BLOCK_ROWS
    cdef double* fraction = work.notes
    cdef const int32_t* codes = problem.codes + first
    orient_scores(work.scores, codes, fraction, n_rows)
    for row in range(n_rows):
        margin = min(margin, work.scores[row])
    take_exponentials(fraction, n_rows)
    take_log1p(fraction, residual, n_rows)
    for row in range(n_rows):
        if problem.weight != NULL:
            weight = problem.weight[first + row]
        score = work.scores[row]
        loss += weight * (residual[row] + (0.0 if score > 0 else -score))
    differentiate_two(work.scores, codes, fraction, residual, curvature, n_rows)
    if problem.weight != NULL:
        for row in range(n_rows):
            residual[row] *= problem.weight[first + row]
            curvature[row] *= problem.weight[first + row]
    totals[0] += loss
    totals[1] = min(totals[1], margin)


cdef inline void judge_many(
    const Problem* problem, Py_ssize_t first, Py_ssize_t n_rows, const Workspace* work,
    double* totals,
) noexcept nogil:
    """Losses of a block, whose scores become probabilities, and residuals.

    The scores of a row lie BLOCK_ROWS apart. Of the class with the largest score, the
    probability of all others is what is summed up, so that nothing cancels.
    """
    cdef Py_ssize_t row, k, n_scores = problem.n_scores
    # Without a score of its own, the last class has the score 0.
    cdef bint has_zero = n_scores < problem.n_classes
    cdef double weight = 1.0
    cdef double* top = work.notes
    cdef double* best = work.notes + BLOCK_ROWS
    cdef double* own = work.notes + 2 * BLOCK_ROWS
    cdef double* rest = work.notes + 3 * BLOCK_ROWS
    cdef double* scores
    cdef const int32_t* codes = problem.codes + first
    for row in range(n_rows):
        top[row] = 0.0 if has_zero else -INFINITY
        best[row] = n_scores if has_zero else 0
        own[row] = 0.0
        # the largest score of the other classes
        rest[row] = 0.0 if has_zero and codes[row] < n_scores else -INFINITY
    for k in range(n_scores):
        compare_scores(
            work.scores + k * BLOCK_ROWS, codes, k, top, best, own, rest, n_rows
        )
    for row in range(n_rows):
        totals[1] = min(totals[1], own[row] - rest[row])
    for row in range(n_rows):
        rest[row] = -top[row] if has_zero else -INFINITY
    take_exponentials(rest, n_rows)
    for row in range(n_rows):
        rest[row] = 0.0 if best[row] == n_scores else rest[row]
    for k in range(n_scores):
        scores = work.scores + k * BLOCK_ROWS
        subtract_top(scores, top, n_rows)
        take_exponentials(scores, n_rows)
        add_rest(scores, best, k, rest, n_rows)
    # log(1 + rest) keeps the digits of a loss near 0.
    for row in range(n_rows):
        if problem.weight != NULL:
            weight = problem.weight[first + row]
        totals[0] += weight * (log1p(rest[row]) + (top[row] - own[row]))
    for k in range(n_scores):
        divide_by_total(
            work.scores + k * BLOCK_ROWS, best, k, rest, work.factors + k * BLOCK_ROWS,
            n_rows,
        )


cdef inline void note_residual(
    const Problem* problem, Py_ssize_t first, Py_ssize_t n_rows, const Workspace* work,
    Py_ssize_t k, double* residual,
) noexcept nogil:
    """Write the weighted residuals of one of many scores: p_k, or of a row of class k
    minus the probability of the other classes, which is p_k - 1."""
    cdef Py_ssize_t row, start = k * BLOCK_ROWS
    choose_residuals(
        work.scores + start, work.factors + start, problem.codes + first, k, residual,
        n_rows,
    )
    if problem.weight != NULL:
        for row in range(n_rows):
            residual[row] *= problem.weight[first + row]


cdef inline void note_curvature(
    const Problem* problem, Py_ssize_t first, Py_ssize_t n_rows, const Workspace* work,
    Py_ssize_t k, Py_ssize_t other, double* curvature,
) noexcept nogil:
    """Write the weighted second derivatives by two of many scores: p_k (1 - p_k), and
    -p_k p_l of two different ones."""
    cdef Py_ssize_t row
    cdef double weight = 1.0
    cdef const double* fractions = work.scores
    for row in range(n_rows):
        if problem.weight != NULL:
            weight = problem.weight[first + row]
        curvature[row] = weight * fractions[k * BLOCK_ROWS + row] * (
            work.factors[k * BLOCK_ROWS + row] if k == other
            else -fractions[other * BLOCK_ROWS + row]
        )


cdef inline void score_block(
    const Problem* problem, Py_ssize_t n_rows, const Workspace* work
) noexcept nogil:
    """Scores of a block: a number per row for each, scores BLOCK_ROWS apart."""
    cdef Py_ssize_t group, k, row, n_here, size = BLOCK_ROWS * PANEL_WIDTH
    cdef double* scores
    if problem.n_scores == 1:
        score_rows(
            work.panels, problem.n_panels, size, problem.coef, n_rows, work.scores
        )
        return
    for group in range((problem.n_scores + PANEL_WIDTH - 1) // PANEL_WIDTH):
        score_many_rows(
            work.panels, problem.n_panels, size,
            problem.coef_groups + group * problem.n_panels * PANEL_WIDTH * PANEL_WIDTH,
            n_rows, work.scaled,
        )
        n_here = min(<Py_ssize_t> PANEL_WIDTH, problem.n_scores - group * PANEL_WIDTH)
        for k in range(n_here):
            scores = work.scores + (group * PANEL_WIDTH + k) * BLOCK_ROWS
            for row in range(n_rows):
                scores[row] = work.scaled[row * PANEL_WIDTH + k]


cdef inline void add_gradient(
    const Problem* problem, Py_ssize_t first, Py_ssize_t n_rows, const Workspace* work,
    double* gradient,
) noexcept nogil:
    """Add the residuals of each score times the columns.

    Of many scores, the residuals of eight are a panel, whose products with those of the
    columns are summed by tiles.
    """
    cdef Py_ssize_t panel, k, row, tile, start, size = BLOCK_ROWS * PANEL_WIDTH
    cdef Py_ssize_t stride = problem.n_panels * PANEL_WIDTH
    cdef double* residual = work.factors + problem.n_scores * BLOCK_ROWS
    if problem.n_scores == 1:
        for panel in range(problem.n_panels):
            add_scaled_rows(
                work.panels + panel * size, work.factors, n_rows,
                gradient + panel * PANEL_WIDTH,
            )
        return
    for tile in range((problem.n_scores + TILE_HEIGHT - 1) // TILE_HEIGHT):
        start = tile * TILE_HEIGHT
        for k in range(start, start + TILE_HEIGHT):
            if k < problem.n_scores:
                note_residual(problem, first, n_rows, work, k, residual)
            for row in range(n_rows):
                work.scaled[row * PANEL_WIDTH + k - start] = (
                    residual[row] if k < problem.n_scores else 0.0
                )
        for panel in range(problem.n_panels):
            add_tile(
                work.scaled, work.panels + panel * size, n_rows,
                gradient + start * stride + panel * PANEL_WIDTH, stride,
            )


cdef inline void add_hessian(
    const Problem* problem, Py_ssize_t first, Py_ssize_t n_rows, const Workspace* work,
    double* hessian,
) noexcept nogil:
    """Add the products of columns, weighted by the curvature of each pair of scores."""
    cdef Py_ssize_t k, other, pair = 0
    cdef Py_ssize_t width = problem.n_panels * PANEL_WIDTH
    cdef double* curvature = work.factors + problem.n_scores * BLOCK_ROWS
    for k in range(problem.n_scores):
        for other in range(k, problem.n_scores):
            if problem.n_classes > 2:
                note_curvature(problem, first, n_rows, work, k, other, curvature)
            scale_panels(work.panels, curvature, work.scaled, problem.n_panels, n_rows)
            add_products(
                work.scaled, work.panels, problem.has_intercept + problem.n_columns,
                problem.n_panels, n_rows, hessian + pair * width * width,
            )
            pair += 1


cdef inline void add_likelihood(
    const Problem* problem, Py_ssize_t first, Py_ssize_t last, double* memory,
    Sums sums, int order,
) noexcept nogil:
    """Add the rows from ``first`` to before ``last``."""
    cdef Py_ssize_t n_rows, k, size = BLOCK_ROWS * PANEL_WIDTH
    cdef Workspace whole
    cdef Workspace* work = &whole
    work.panels = memory
    work.scaled = work.panels + problem.n_panels * size
    place_scores(work, work.scaled + problem.n_panels * size, problem.n_scores)
    clear_rest(work.panels, problem.has_intercept + problem.n_columns)
    while first < last:
        n_rows = min(<Py_ssize_t> BLOCK_ROWS, last - first)
        if problem.has_intercept:
            fill_ones(work.panels, 0, n_rows)
        fill_columns(
            work.panels, problem.has_intercept,
            problem.values + first * problem.row_stride, problem.row_stride,
            problem.column_stride, problem.n_columns, n_rows,
        )
        for k in range(problem.n_panels):
            shift_rows(work.panels + k * size, problem.shift + k * PANEL_WIDTH, n_rows)
        score_block(problem, n_rows, work)
        if problem.n_classes == 2:
            judge_two(problem, first, n_rows, work, sums.totals)
        else:
            judge_many(problem, first, n_rows, work, sums.totals)
        if order >= GRADIENT:
            add_gradient(problem, first, n_rows, work, sums.gradient)
        if order >= HESSIAN:
            add_hessian(problem, first, n_rows, work, sums.hessian)
        first += n_rows
