# cython: language_level=3
"""Kernels of the losses; :mod:`sklearn_textbook.ensemble.boosting.losses` has the
documents.

Rows are processed in blocks that stay in the cache, some blocks to a task. What is
summed up is summed up by task, and the tasks' sums are added in their order: the number
of threads changes no bit.
"""

from libc.math cimport fabs, log
from libc.stdint cimport int32_t, int64_t

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook._contract._wide_units cimport wide_void
from sklearn_textbook.ensemble.boosting._exponential cimport (
    bounded_exp, log_one_plus,
)
from sklearn_textbook.ensemble.boosting._leaf_quantile cimport (
    Pair, clip, select_quantile,
)

import numpy as np

from sklearn_textbook._contract.blocks import BLOCK_ROWS as _SUM_ROWS

# Sums of floating-point numbers are made by blocks of so many rows.
cdef Py_ssize_t SUM_ROWS = _SUM_ROWS

ctypedef fused real:
    float
    double

# One task: BLOCK_ROWS * TASK_BLOCKS rows. SUM_TASKS: tasks of a block of the rows by
# which sums are made, ``_contract.blocks.BLOCK_ROWS``. N_FOUND: numbers that a task
# finds, see ``found``. N_LANES: maxima that are taken side by side.
cdef enum:
    BLOCK_ROWS = 512
    TASK_BLOCKS = 16
    SUM_TASKS = 8
    N_FOUND = 3
    N_LANES = 8

# The losses, and the meaning of ``low`` and ``high`` for each.
cpdef enum Kind:
    # the gradient is clipped to [low, high]; squared error: to [-inf, inf]
    BOUNDED = 0
    # the gradient below and above the target
    PINBALL = 1
    # 1 - p and 2 - p
    TWEEDIE = 2
    # unused, as by those that follow
    LOGISTIC = 3
    EXPONENTIAL = 4
    SOFTMAX = 5

# A pass over all rows.
cdef struct Pass:
    int kind
    double low
    double high
    const double* y
    # (n_scores, n_rows)
    const double* raw
    # NULL: 1 each
    const double* weight
    Py_ssize_t n_rows
    Py_ssize_t n_scores
    # (n_scores, n_rows), float or double; NULL: not computed
    void* gradient
    void* hessian
    bint is_single
    # for each task: the largest |gradient| and hessian, and the sum of losses
    double* found
    bint adds_losses  # besides the derivatives
    # (n_threads, (n_scores + 4) blocks)
    double* memory


# ------------------------------------------------------------------------------------
# The losses of a block of rows, and their derivatives, one loop each.
#
# f is the raw score of a row; y its target, of two classes coded 0 and 1 for -1 and 1.
# g and h, ``gradient`` and ``hessian``, are the derivatives of the loss by f, without
# weights. The loops have neither branches nor calls, so that they become vector
# instructions.
# ------------------------------------------------------------------------------------


cdef wide_void fill_exp(
    const double* raw, double factor, Py_ssize_t n_rows, double* out
) noexcept nogil:
    """out = exp(factor f)."""
    cdef Py_ssize_t row
    for row in range(n_rows):
        out[row] = bounded_exp(factor * raw[row])


cdef void fill_power(
    const double* raw, double factor, Py_ssize_t n_rows, double* out
) noexcept nogil:
    """Powers of the mean; that of exponent 0 is 1."""
    cdef Py_ssize_t row
    if factor != 0.0:
        fill_exp(raw, factor, n_rows, out)
        return
    for row in range(n_rows):
        out[row] = 1.0


cdef wide_void differentiate_bounded(
    const Pass* work, const double* y, const double* raw, Py_ssize_t n_rows,
    double* gradient, double* hessian,
) noexcept nogil:
    """Huber's loss, and the squared error: g = f - y, kept within [low, high]; h = 1.

    h is 1 beyond the bounds, too: trees are fitted to the gradients by least squares.
    """
    cdef Py_ssize_t row
    cdef double low = work.low, high = work.high, value
    for row in range(n_rows):
        value = raw[row] - y[row]
        value = low if value < low else value
        gradient[row] = high if value > high else value
        hessian[row] = 1.0


cdef wide_void differentiate_pinball(
    const Pass* work, const double* y, const double* raw, Py_ssize_t n_rows,
    double* gradient, double* hessian,
) noexcept nogil:
    """Quantile and absolute error, h = 1: g = low below the target, high above, 0 at
    it."""
    cdef Py_ssize_t row
    cdef double low = work.low, high = work.high, value
    for row in range(n_rows):
        value = low if raw[row] < y[row] else 0.0
        gradient[row] = high if raw[row] > y[row] else value
        hessian[row] = 1.0


cdef wide_void differentiate_tweedie(
    const Pass* work, const double* y, Py_ssize_t n_rows, double* gradient,
    double* hessian,
) noexcept nogil:
    """Tweedie's deviances of power p, with mu = e^f, low = 1 - p and high = 2 - p: g =
    mu^(2-p) - y mu^(1-p), h = (2-p) mu^(2-p) - (1-p) y mu^(1-p).

    Reads the two powers of the mean from where the derivatives are written: mu^(1-p) in
    ``gradient``, mu^(2-p) in ``hessian``.
    """
    cdef Py_ssize_t row
    cdef double low = work.low, high = work.high, above, below
    for row in range(n_rows):
        above, below = hessian[row], y[row] * gradient[row]
        gradient[row] = above - below
        hessian[row] = high * above - low * below


cdef wide_void differentiate_logistic(
    const double* y, const double* raw, Py_ssize_t n_rows, double* gradient,
    double* hessian,
) noexcept nogil:
    """Log loss: g = -y P(other class), h = P(0) P(1), y in {-1, 1}."""
    cdef Py_ssize_t row
    cdef double sign, margin, small, large, other
    for row in range(n_rows):
        sign = 1.0 - 2.0 * y[row]
        # Positive where the row is on the wrong side. e^-|margin| does not overflow,
        # and no probability is computed as 1 minus another, so that small ones keep
        # their digits.
        margin = sign * raw[row]
        small = bounded_exp(-fabs(margin))
        large = 1.0 / (1.0 + small)
        small = small * large
        # the probability of the other class
        other = large if margin > 0.0 else small
        gradient[row] = sign * other
        hessian[row] = small * large


cdef wide_void differentiate_exponential(
    const double* y, const double* raw, Py_ssize_t n_rows, double* gradient,
    double* hessian,
) noexcept nogil:
    """Exponential loss e^(-y f), y in {-1, 1}: g = -y e^(-y f), h = e^(-y f)."""
    cdef Py_ssize_t row
    cdef double sign, value
    for row in range(n_rows):
        sign = 1.0 - 2.0 * y[row]
        value = bounded_exp(sign * raw[row])
        gradient[row] = sign * value
        hessian[row] = value


cdef wide_void raise_top(
    const double* raw, Py_ssize_t n_rows, double* top
) noexcept nogil:
    """top = max(top, f), row by row."""
    cdef Py_ssize_t row
    for row in range(n_rows):
        top[row] = raw[row] if raw[row] > top[row] else top[row]


cdef wide_void add_exponentials(
    const double* raw, const double* top, Py_ssize_t n_rows, double* power,
    double* total,
) noexcept nogil:
    """power = e^(f - top), added to ``total``, for one score of every row."""
    cdef Py_ssize_t row
    for row in range(n_rows):
        power[row] = bounded_exp(raw[row] - top[row])
        total[row] += power[row]


cdef wide_void differentiate_softmax(
    const double* y, double code, const double* power, const double* total,
    Py_ssize_t n_rows, double* gradient, double* hessian,
) noexcept nogil:
    """Multinomial log loss by the score of one class, from e^(f_k - top) and their sum:
    g = p - [y = k], h = p (1 - p).

    1 - p is the sum of the other classes divided by that of all; ``code`` is k.
    """
    cdef Py_ssize_t row
    cdef double scale, own, other
    for row in range(n_rows):
        scale = 1.0 / total[row]
        own = power[row] * scale
        other = (total[row] - power[row]) * scale
        gradient[row] = -other if y[row] == code else own
        hessian[row] = own * other


cdef void fill_exponentials(
    const Pass* work, Py_ssize_t first, Py_ssize_t n_rows, double* powers, double* top,
    double* total,
) noexcept nogil:
    """Exponentials of the scores of a block minus the largest score of the row."""
    cdef const double* raw = work.raw + first
    cdef Py_ssize_t k, row
    for row in range(n_rows):
        top[row], total[row] = raw[row], 0.0
    for k in range(1, work.n_scores):
        raise_top(raw + k * work.n_rows, n_rows, top)
    for k in range(work.n_scores):
        add_exponentials(
            raw + k * work.n_rows, top, n_rows, powers + k * BLOCK_ROWS, total
        )


cdef wide_void fill_bounded_losses(
    const Pass* work, const double* y, const double* raw, Py_ssize_t n_rows,
    double* loss,
) noexcept nogil:
    """Huber's loss: (f - y)^2 / 2 up to ``high``, then high (|f - y| - high / 2).

    With b = min(|f - y|, high), both are b (|f - y| - b / 2).
    """
    cdef Py_ssize_t row
    cdef double high = work.high, size, bounded
    for row in range(n_rows):
        size = fabs(raw[row] - y[row])
        bounded = high if size > high else size
        loss[row] = bounded * (size - 0.5 * bounded)


cdef wide_void fill_pinball_losses(
    const Pass* work, const double* y, const double* raw, Py_ssize_t n_rows,
    double* loss,
) noexcept nogil:
    """low (f - y) below the target, where low < 0; high (f - y) above."""
    cdef Py_ssize_t row
    cdef double low = work.low, high = work.high, value
    for row in range(n_rows):
        value = raw[row] - y[row]
        loss[row] = (low if value < 0.0 else high) * value


cdef wide_void fill_logistic_losses(
    const double* y, const double* raw, Py_ssize_t n_rows, double* loss
) noexcept nogil:
    """log(1 + e^m) with m = -y f, as log(1 + e^-|m|) + max(m, 0)."""
    cdef Py_ssize_t row
    cdef double margin
    for row in range(n_rows):
        margin = (1.0 - 2.0 * y[row]) * raw[row]
        loss[row] = log_one_plus(bounded_exp(-fabs(margin))) + (
            margin if margin > 0.0 else 0.0
        )


cdef wide_void fill_exponential_losses(
    const double* y, const double* raw, Py_ssize_t n_rows, double* loss
) noexcept nogil:
    """e^(-y f), y in {-1, 1}."""
    cdef Py_ssize_t row
    for row in range(n_rows):
        loss[row] = bounded_exp((1.0 - 2.0 * y[row]) * raw[row])


cdef void fill_tweedie_losses(
    const Pass* work, const double* y, const double* raw, Py_ssize_t n_rows,
    double* below, double* loss,
) noexcept nogil:
    """mu^(2-p) / (2-p) - y mu^(1-p) / (1-p), with mu = e^f.

    For an exponent of 0, the logarithm of the mean, f, replaces the power divided by
    the exponent. ``below``: working memory of a block.
    """
    cdef Py_ssize_t row
    cdef double low = work.low, high = work.high
    fill_power(raw, low, n_rows, below)
    fill_power(raw, high, n_rows, loss)
    for row in range(n_rows):
        loss[row] = (raw[row] if high == 0.0 else loss[row] / high) - y[row] * (
            raw[row] if low == 0.0 else below[row] / low
        )


# ------------------------------------------------------------------------ the losses
cdef void fill_softmax_losses(
    const Pass* work, Py_ssize_t first, Py_ssize_t n_rows, const double* top,
    const double* total, double* loss,
) noexcept nogil:
    """log(sum of e^f_k) - f_y, with the largest score taken out of the sum.

    top, total: of the block, as `fill_exponentials` wrote them.
    """
    cdef Py_ssize_t row, k
    for row in range(n_rows):
        k = <Py_ssize_t> work.y[first + row]
        loss[row] = log(total[row]) + (
            top[row] - work.raw[k * work.n_rows + first + row]
        )


cdef double add_block_losses(
    const Pass* work, Py_ssize_t first, Py_ssize_t n_rows, double* memory
) noexcept nogil:
    """The weighted losses of a block, added in the order of the rows; SOFTMAX requires
    the exponentials.

    memory: n_scores + 4 blocks: gradient, hessian, top, total, and a power for each
    score.
    """
    cdef:
        const double* y = work.y + first
        const double* raw = work.raw + first
        double* loss = memory
        double* powers = memory + 4 * BLOCK_ROWS
        double total = 0.0
        Py_ssize_t row
    if work.kind == BOUNDED:
        fill_bounded_losses(work, y, raw, n_rows, loss)
    elif work.kind == PINBALL:
        fill_pinball_losses(work, y, raw, n_rows, loss)
    elif work.kind == TWEEDIE:
        fill_tweedie_losses(work, y, raw, n_rows, powers, loss)
    elif work.kind == LOGISTIC:
        fill_logistic_losses(y, raw, n_rows, loss)
    elif work.kind == EXPONENTIAL:
        fill_exponential_losses(y, raw, n_rows, loss)
    else:
        fill_softmax_losses(
            work, first, n_rows, memory + 2 * BLOCK_ROWS, memory + 3 * BLOCK_ROWS, loss
        )
    if work.weight != NULL:
        scale_rows(work.weight + first, n_rows, loss)
    for row in range(n_rows):
        total += loss[row]
    return total


cdef void add_task_losses(void* context, int64_t task, int thread) noexcept nogil:
    """Add the losses of a task, block by block."""
    cdef:
        const Pass* work = <Pass*> context
        double* memory = work.memory + thread * (work.n_scores + 4) * BLOCK_ROWS
        Py_ssize_t first = task * TASK_BLOCKS * BLOCK_ROWS
        Py_ssize_t last = min(first + TASK_BLOCKS * BLOCK_ROWS, work.n_rows)
        Py_ssize_t n_rows
    while first < last:
        n_rows = min(<Py_ssize_t> BLOCK_ROWS, last - first)
        if work.kind == SOFTMAX:
            fill_exponentials(
                work, first, n_rows, memory + 4 * BLOCK_ROWS, memory + 2 * BLOCK_ROWS,
                memory + 3 * BLOCK_ROWS,
            )
        work.found[N_FOUND * task + 2] += add_block_losses(work, first, n_rows, memory)
        first += BLOCK_ROWS


# ---------------------------------------------------------------- the derivatives
cdef wide_void scale_rows(
    const double* weight, Py_ssize_t n_rows, double* values
) noexcept nogil:
    cdef Py_ssize_t row
    for row in range(n_rows):
        values[row] *= weight[row]


cdef wide_void raise_lanes(
    const double* values, Py_ssize_t n_rows, double* lanes
) noexcept nogil:
    """lanes[i] = max(lanes[i], |values|), each of N_LANES lanes for rows N_LANES apart.

    A maximum does not depend on the order, so lanes may be compared in any.
    """
    cdef Py_ssize_t row, lane, part
    cdef double size
    for part in range(n_rows // N_LANES):
        for lane in range(N_LANES):
            size = fabs(values[part * N_LANES + lane])
            lanes[lane] = size if size > lanes[lane] else lanes[lane]
    for row in range(n_rows - n_rows % N_LANES, n_rows):
        size = fabs(values[row])
        lanes[0] = size if size > lanes[0] else lanes[0]


cdef double find_largest(
    const double* values, Py_ssize_t n_rows, double so_far
) noexcept nogil:
    """The largest of |values| and ``so_far``."""
    cdef double lanes[N_LANES]
    cdef int lane
    for lane in range(N_LANES):
        lanes[lane] = so_far
    raise_lanes(values, n_rows, lanes)
    for lane in range(N_LANES):
        so_far = max(so_far, lanes[lane])
    return so_far


cdef wide_void store_single(
    double* values, Py_ssize_t n_rows, float* out
) noexcept nogil:
    """Also write the values, clipped to the range of a float, into ``values``."""
    cdef Py_ssize_t row
    cdef double value
    for row in range(n_rows):
        value = values[row]
        value = -3e38 if value < -3e38 else value
        value = 3e38 if value > 3e38 else value
        values[row] = value
        out[row] = <float> value


cdef double store(
    const Pass* work, void* out, Py_ssize_t place, Py_ssize_t first, Py_ssize_t n_rows,
    double* values, double so_far,
) noexcept nogil:
    """Weight the values of a block, write them and update the largest."""
    cdef Py_ssize_t row
    if work.weight != NULL:
        scale_rows(work.weight + first, n_rows, values)
    if work.is_single and out != NULL:
        store_single(values, n_rows, <float*> out + place)
    elif out != NULL:
        for row in range(n_rows):
            (<double*> out)[place + row] = values[row]
    return find_largest(values, n_rows, so_far)


cdef void differentiate_block(
    const Pass* work, Py_ssize_t first, Py_ssize_t n_rows, double* memory, double* found
) noexcept nogil:
    """Write the derivatives of a block, and update what the task has found.

    Losses, if they are to be added, come first, since they use the memory of the
    gradient. Of SOFTMAX, all scores of a row share its exponentials and their sum.
    """
    cdef:
        const double* y = work.y + first
        const double* raw = work.raw + first
        double* gradient = memory
        double* hessian = memory + BLOCK_ROWS
        double* top = memory + 2 * BLOCK_ROWS
        double* total = memory + 3 * BLOCK_ROWS
        double* powers = memory + 4 * BLOCK_ROWS
        Py_ssize_t k, place
    if work.kind == SOFTMAX:
        fill_exponentials(work, first, n_rows, powers, top, total)
    if work.adds_losses:
        found[2] += add_block_losses(work, first, n_rows, memory)
    if work.kind == BOUNDED:
        differentiate_bounded(work, y, raw, n_rows, gradient, hessian)
    elif work.kind == PINBALL:
        differentiate_pinball(work, y, raw, n_rows, gradient, hessian)
    elif work.kind == TWEEDIE:
        fill_power(raw, work.low, n_rows, gradient)
        fill_power(raw, work.high, n_rows, hessian)
        differentiate_tweedie(work, y, n_rows, gradient, hessian)
    elif work.kind == LOGISTIC:
        differentiate_logistic(y, raw, n_rows, gradient, hessian)
    elif work.kind == EXPONENTIAL:
        differentiate_exponential(y, raw, n_rows, gradient, hessian)
    for k in range(work.n_scores):
        if work.kind == SOFTMAX:
            differentiate_softmax(
                y, <double> k, powers + k * BLOCK_ROWS, total, n_rows, gradient, hessian
            )
        place = k * work.n_rows + first
        found[0] = store(work, work.gradient, place, first, n_rows, gradient, found[0])
        found[1] = store(work, work.hessian, place, first, n_rows, hessian, found[1])


cdef void differentiate_task(void* context, int64_t task, int thread) noexcept nogil:
    """Differentiate the rows of a task, block by block."""
    cdef:
        const Pass* work = <Pass*> context
        double* memory = work.memory + thread * (work.n_scores + 4) * BLOCK_ROWS
        Py_ssize_t first = task * TASK_BLOCKS * BLOCK_ROWS
        Py_ssize_t last = min(first + TASK_BLOCKS * BLOCK_ROWS, work.n_rows)
    while first < last:
        differentiate_block(
            work, first, min(<Py_ssize_t> BLOCK_ROWS, last - first), memory,
            work.found + N_FOUND * task,
        )
        first += BLOCK_ROWS


# ------------------------------------------------------------------ the entry points
cdef Py_ssize_t count_tasks(Py_ssize_t n_rows) noexcept nogil:
    return (n_rows + TASK_BLOCKS * BLOCK_ROWS - 1) // (TASK_BLOCKS * BLOCK_ROWS)


cdef Pass note_rows(
    int kind, double low, double high, const double[::1] y, const double[:, ::1] raw,
    const double[::1] weight, double[:, ::1] memory,
) noexcept:
    """What both passes have in common; ``weight`` may be None."""
    cdef Pass work
    work.kind, work.low, work.high = kind, low, high
    work.y, work.raw, work.weight = &y[0], &raw[0, 0], NULL
    if weight is not None:
        work.weight = &weight[0]
    work.n_rows, work.n_scores = y.shape[0], raw.shape[0]
    work.gradient = work.hessian = work.found = NULL
    work.is_single = work.adds_losses = False
    work.memory = &memory[0, 0]
    return work


def make_memory(Py_ssize_t n_scores, int n_threads):
    """Working memory of the threads for the two functions that follow."""
    return np.empty((n_threads, (n_scores + 4) * BLOCK_ROWS))


cdef double add_tasks(const double[:, ::1] found, double total) noexcept:
    """Add the losses of the tasks, in their order, to those of earlier rows."""
    cdef:
        Py_ssize_t task
        double of_block = 0.0
    for task in range(found.shape[0]):
        of_block += found[task, 2]
        if (task + 1) % SUM_TASKS == 0:
            total += of_block
            of_block = 0.0
    return total + of_block


def differentiate(
    int kind, double low, double high, const double[::1] y, const double[:, ::1] raw,
    const double[::1] weight, real[:, ::1] gradient, real[:, ::1] hessian,
    double[:, ::1] memory, total=None,
):
    """Write the derivatives; return the largest |gradient| and the largest hessian, and
    the sum of the losses and of ``total``, unless that is None."""
    cdef:
        Pass work = note_rows(kind, low, high, y, raw, weight, memory)
        Py_ssize_t n_tasks = count_tasks(work.n_rows)
        double[:, ::1] found = np.zeros((n_tasks, N_FOUND))
    work.gradient = &gradient[0, 0]
    if hessian is not None:
        work.hessian = &hessian[0, 0]
    work.is_single = sizeof(real) == sizeof(float)
    work.found = &found[0, 0]
    work.adds_losses = total is not None
    run_in_threads(memory.shape[0], differentiate_task, &work, n_tasks)
    largest_gradient, largest_hessian, _ = np.asarray(found).max(axis=0).tolist()
    if total is not None:
        total = add_tasks(found, total)
    return (largest_gradient, largest_hessian), total


def add_losses(
    int kind, double low, double high, const double[::1] y, const double[:, ::1] raw,
    const double[::1] weight, double[:, ::1] memory, double total=0.0,
):
    """Add the losses of all rows to ``total``."""
    cdef:
        Pass work = note_rows(kind, low, high, y, raw, weight, memory)
        Py_ssize_t n_tasks = count_tasks(work.n_rows)
        double[:, ::1] found = np.zeros((n_tasks, N_FOUND))
    work.found = &found[0, 0]
    run_in_threads(memory.shape[0], add_task_losses, &work, n_tasks)
    return add_tasks(found, total)


# ------------------------------------------------------------------ values of leaves
cdef struct Leaves:
    const double* residuals
    const double* weight
    # how many units of the quantile a weight of 1 is
    double unit
    # rows of leaf i: order[starts[i] : starts[i + 1]]
    const int32_t* order
    const int64_t* starts
    double quantile
    # Huber's step from the median; negative: none
    double delta
    Pair* pairs
    double* values


def sort_by_leaf(
    const int32_t[::1] leaf_of_row, int64_t[::1] starts, int32_t[::1] order
):
    """Order rows by leaf; the order within a leaf is kept, rows of no leaf are omitted.

    starts (n_leaves + 1,), zeros, becomes the first place of each leaf.
    """
    cdef Py_ssize_t row, leaf, n_leaves = starts.shape[0] - 1
    cdef int64_t place = 0, n_here
    with nogil:
        for row in range(leaf_of_row.shape[0]):
            if leaf_of_row[row] >= 0:
                starts[leaf_of_row[row]] += 1
        for leaf in range(n_leaves + 1):
            n_here = starts[leaf]
            starts[leaf] = place
            # Counts become first places; each is moved on as its leaf is filled, and so
            # ends at the first place of the next leaf, to which the last loop shifts it
            # back.
            place += n_here
        for row in range(leaf_of_row.shape[0]):
            leaf = leaf_of_row[row]
            if leaf >= 0:
                order[starts[leaf]] = <int32_t> row
                starts[leaf] += 1
        for leaf in range(n_leaves, 0, -1):
            starts[leaf] = starts[leaf - 1]
        starts[0] = 0


cdef void value_leaf(void* context, int64_t leaf, int thread) noexcept nogil:
    """Quantile of the residuals of a leaf plus a step from it; 0 for an empty leaf."""
    cdef:
        const Leaves* work = <Leaves*> context
        int64_t total = 0
        Pair* pairs = work.pairs + work.starts[leaf]
        Py_ssize_t n_pairs = list_pairs(work, leaf, pairs, &total)
        double middle
    if n_pairs == 0:
        work.values[leaf] = 0.0
        return
    middle = select_quantile(pairs, n_pairs, total, work.quantile)
    if work.delta >= 0.0:
        middle += find_step(work, leaf, middle)
    work.values[leaf] = middle


cdef Py_ssize_t list_pairs(
    const Leaves* work, int64_t leaf, Pair* pairs, int64_t* total
) noexcept nogil:
    """List the residuals and weights of the rows of a leaf that have weight.

    Minus zero becomes zero, which it equals: + 0.0.
    """
    cdef:
        const double* residuals = work.residuals
        const double* weights = work.weight
        const int32_t* order = work.order
        double unit = work.unit
        int64_t place, n_units, sum_units = 0
        Py_ssize_t n_pairs = 0, row
    for place in range(work.starts[leaf], work.starts[leaf + 1]):
        row = order[place] if order != NULL else place
        n_units = 1
        if weights != NULL:
            if weights[row] <= 0.0:
                continue
            n_units = max(<int64_t> (weights[row] * unit + 0.5), n_units)
        pairs[n_pairs].value, pairs[n_pairs].weight = residuals[row] + 0.0, n_units
        sum_units += n_units
        n_pairs += 1
    total[0] = sum_units
    return n_pairs


cdef double find_step(
    const Leaves* work, int64_t leaf, double middle
) noexcept nogil:
    """The step of Huber's loss: the weighted mean of the residuals less the median,
    clipped to [-delta, delta]."""
    cdef:
        const double* residuals = work.residuals
        const double* weights = work.weight
        const int32_t* order = work.order
        double delta = work.delta, weight = 1.0
        double step = 0.0, total = 0.0, block_step = 0.0, block_total = 0.0
        int64_t place
        Py_ssize_t row, end = SUM_ROWS
    for place in range(work.starts[leaf], work.starts[leaf + 1]):
        row = order[place]
        if row >= end:
            step, total = step + block_step, total + block_total
            block_step = block_total = 0.0
            end = (row // SUM_ROWS + 1) * SUM_ROWS
        if weights != NULL:
            weight = weights[row]
        # Rows without weight add 0.
        block_step += weight * clip(residuals[row] - middle, delta)
        block_total += weight
    return (step + block_step) / (total + block_total)


def find_leaf_quantiles(
    const double[::1] residuals, const double[::1] weight, double unit,
    const int32_t[::1] order, const int64_t[::1] starts, double quantile, double delta,
    int n_threads,
):
    """Weighted quantiles of the residuals of each leaf.

    Weights are rounded to multiples of 1 / ``unit``, and are at least one. order: rows
    by leaf, as `sort_by_leaf` writes it; None: as stored. delta: Huber's, negative for
    none, as it must be without an order.
    """
    cdef:
        Leaves work
        Py_ssize_t n_leaves = starts.shape[0] - 1
        double[::1] values = np.zeros(n_leaves + 1)
        double[:, ::1] pairs = np.empty((residuals.shape[0] + 1, 2))
    work.residuals, work.weight, work.order = &residuals[0], NULL, NULL
    work.unit = unit
    if weight is not None:
        work.weight = &weight[0]
    if order is not None:
        work.order = &order[0]
    work.starts, work.quantile, work.delta = &starts[0], quantile, delta
    work.pairs, work.values = <Pair*> &pairs[0, 0], &values[0]
    run_in_threads(n_threads, value_leaf, &work, n_leaves)
    return np.asarray(values)[:n_leaves]
