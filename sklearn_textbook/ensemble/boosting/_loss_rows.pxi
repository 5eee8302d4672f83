# The losses of a block of rows, and their derivatives, one loop each; included by
# _losses.pyx.


cdef wide_void fill_exp(
    const double* raw, double factor, Py_ssize_t n_rows, double* out
) noexcept nogil:
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
    """Reads the two powers of the mean from where the derivatives are written."""
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
    cdef Py_ssize_t row
    cdef double sign, margin, small, large, other
    for row in range(n_rows):
        sign = 1.0 - 2.0 * y[row]
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
    cdef Py_ssize_t row
    for row in range(n_rows):
        top[row] = raw[row] if raw[row] > top[row] else top[row]


cdef wide_void add_exponentials(
    const double* raw, const double* top, Py_ssize_t n_rows, double* power,
    double* total,
) noexcept nogil:
    cdef Py_ssize_t row
    for row in range(n_rows):
        power[row] = bounded_exp(raw[row] - top[row])
        total[row] += power[row]


cdef wide_void differentiate_softmax(
    const double* y, double code, const double* power, const double* total,
    Py_ssize_t n_rows, double* gradient, double* hessian,
) noexcept nogil:
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
    cdef Py_ssize_t row
    cdef double low = work.low, high = work.high, value
    for row in range(n_rows):
        value = raw[row] - y[row]
        loss[row] = (low if value < 0.0 else high) * value


cdef wide_void fill_logistic_losses(
    const double* y, const double* raw, Py_ssize_t n_rows, double* loss
) noexcept nogil:
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
    cdef Py_ssize_t row
    for row in range(n_rows):
        loss[row] = bounded_exp((1.0 - 2.0 * y[row]) * raw[row])


cdef void fill_tweedie_losses(
    const Pass* work, const double* y, const double* raw, Py_ssize_t n_rows,
    double* below, double* loss,
) noexcept nogil:
    """For an exponent of 0, the logarithm of the mean replaces the power."""
    cdef Py_ssize_t row
    cdef double low = work.low, high = work.high
    fill_power(raw, low, n_rows, below)
    fill_power(raw, high, n_rows, loss)
    for row in range(n_rows):
        loss[row] = (raw[row] if high == 0.0 else loss[row] / high) - y[row] * (
            raw[row] if low == 0.0 else below[row] / low
        )
