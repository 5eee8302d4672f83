# Coordinate descent on a quadratic function with a penalty of absolute values.


cdef double minimise_coordinate(
    const double* row, Py_ssize_t n, Py_ssize_t place, double l1,
    double* theta, double* slope,
) noexcept nogil:
    """Minimise along one coordinate; its change in units of the curvature."""
    cdef double curvature = row[place], moved, new, change
    cdef Py_ssize_t other
    if not curvature > 0.0:
        return 0.0
    moved = theta[place] - slope[place] / curvature
    new = 0.0
    if fabs(moved) > l1 / curvature:
        new = moved - l1 / curvature if moved > 0.0 else moved + l1 / curvature
    change = new - theta[place]
    if change == 0.0:
        return 0.0
    theta[place] = new
    for other in range(n):
        slope[other] += change * row[other]
    return fabs(change) * sqrt(curvature)


def descend_coordinates(
    const double[:, ::1] hessian, double[::1] slope, const double[::1] l1,
    double[::1] theta, double tol, Py_ssize_t max_sweeps,
):
    """Minimise g (t - s) + (t - s) H (t - s) / 2 + l1 |t| from t = s; find t.

    hessian (n, n): H, symmetric. slope (n): g, changed to the derivatives at t. theta
    (n): s, changed to t. tol: where the changes of a sweep end it, in units of the
    roots of H's diagonal. Returns whether they did.
    """
    cdef Py_ssize_t n = theta.shape[0], place, _sweep
    cdef double largest
    cdef bint is_whole = True
    for _sweep in range(max_sweeps):
        largest = 0.0
        with nogil:
            for place in range(n):
                # Between sweeps over all of them, those that are not zero.
                if is_whole or theta[place] != 0.0:
                    largest = max(largest, minimise_coordinate(
                        &hessian[place, 0], n, place, l1[place], &theta[0], &slope[0],
                    ))
        if largest <= tol:
            if is_whole:
                return True
            is_whole = True
        else:
            is_whole = False
    return False
