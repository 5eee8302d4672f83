"""One sweep of plane rotations over all pairs of rows."""

from libc.math cimport copysign, fabs, sqrt

from sklearn_textbook._contract._interrupt cimport (
    Interrupt, has_stopped, must_stop, raise_failure, start_interrupt,
)


cdef double multiply_rows(
    const double* first, const double* second, Py_ssize_t length
) noexcept nogil:
    """Dot product; four sums at a time, which a compiler may keep in one register."""
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    cdef Py_ssize_t i, even = length - length % 4
    for i in range(0, even, 4):
        a += first[i] * second[i]
        b += first[i + 1] * second[i + 1]
        c += first[i + 2] * second[i + 2]
        d += first[i + 3] * second[i + 3]
    for i in range(even, length):
        a += first[i] * second[i]
    return (a + b) + (c + d)


cdef void rotate_pair(
    double* first, double* second, Py_ssize_t length, double cosine, double sine
) noexcept nogil:
    """(first, second) = (c first - s second, s first + c second)."""
    cdef Py_ssize_t i
    cdef double kept
    for i in range(length):
        kept = first[i]
        first[i] = cosine * kept - sine * second[i]
        second[i] = sine * kept + cosine * second[i]


cdef void swap_rows(double* first, double* second, Py_ssize_t length) noexcept nogil:
    """Exchange the numbers of two rows."""
    cdef Py_ssize_t i
    cdef double kept
    for i in range(length):
        kept = first[i]
        first[i] = second[i]
        second[i] = kept


cdef Py_ssize_t find_longest(
    const double* squares, Py_ssize_t start, Py_ssize_t n_rows
) noexcept nogil:
    """The row from ``start`` on with the largest square, the first of equal ones."""
    cdef Py_ssize_t row, longest = start
    for row in range(start + 1, n_rows):
        if squares[row] > squares[longest]:
            longest = row
    return longest


cdef double find_tangent(double first, double second, double product) noexcept nogil:
    """Tangent of the smaller angle that makes two rows orthogonal.

    Computed from the squares of their lengths and their dot product: with a = cot(2
    angle) = (second - first) / (2 product), it is the smaller root of t^2 + 2 a t - 1 =
    0.
    """
    cdef double half_cotangent = (second - first) / (2.0 * product)
    if fabs(half_cotangent) > 1e150:  # its square might overflow
        return 0.5 / half_cotangent
    return copysign(
        1.0 / (fabs(half_cotangent) + sqrt(1.0 + half_cotangent * half_cotangent)),
        half_cotangent,
    )


def rotate_rows(
    double[:, ::1] rows,
    double[:, ::1] rotations,
    double[::1] squares,
    double threshold,
    double smallest_square,
):
    """Rotate every pair of rows once unless they are already orthogonal.

    Before a row is paired with those after it, it is swapped with the longest of these
    (de Rijk's pivoting), which speeds up convergence where lengths differ much.

    Parameters
    ----------
    rows : (n_rows, n_columns)
        Rotated in place.
    rotations : (n_rows, n_others)
        Rotated likewise: it accumulates the rotations if it is the identity at first.
    squares : (n_rows,)
        Buffer for the squares of the rows' lengths.
    threshold : float
        Rows count as orthogonal if the cosine of their angle is not larger.
    smallest_square : float
        Rows whose squared length is smaller count as zeros.

    Returns
    -------
    n_rotated : int
        Number of pairs that were rotated.
    """
    cdef Py_ssize_t n_rows = rows.shape[0], n_columns = rows.shape[1]
    cdef Py_ssize_t n_others = rotations.shape[1], p, q, n_rotated = 0
    cdef double product, tangent, cosine, sine, change
    cdef Interrupt interrupt
    start_interrupt(&interrupt)
    with nogil:
        for p in range(n_rows):
            squares[p] = multiply_rows(&rows[p, 0], &rows[p, 0], n_columns)
        for p in range(n_rows - 1):
            q = find_longest(&squares[0], p, n_rows)
            if q != p:
                swap_rows(&rows[p, 0], &rows[q, 0], n_columns)
                swap_rows(&rotations[p, 0], &rotations[q, 0], n_others)
                squares[p], squares[q] = squares[q], squares[p]
            if squares[p] < smallest_square:
                break  # and so are all that follow
            if must_stop(&interrupt, (n_rows - p) * (n_columns + n_others)):
                break
            for q in range(p + 1, n_rows):
                if squares[q] < smallest_square:
                    continue
                product = multiply_rows(&rows[p, 0], &rows[q, 0], n_columns)
                if fabs(product) <= (
                    threshold * sqrt(squares[p]) * sqrt(squares[q])
                ):
                    continue
                tangent = find_tangent(squares[p], squares[q], product)
                cosine = 1.0 / sqrt(1.0 + tangent * tangent)
                sine = cosine * tangent
                rotate_pair(&rows[p, 0], &rows[q, 0], n_columns, cosine, sine)
                rotate_pair(&rotations[p, 0], &rotations[q, 0], n_others, cosine, sine)
                # The rotation moves this much from one squared length to the other;
                # their sum stays.
                change = tangent * product
                squares[p] -= change
                squares[q] += change
                # A difference of nearly equal numbers is not accurate.
                if squares[p] < fabs(change):
                    squares[p] = multiply_rows(&rows[p, 0], &rows[p, 0], n_columns)
                if squares[q] < fabs(change):
                    squares[q] = multiply_rows(&rows[q, 0], &rows[q, 0], n_columns)
                n_rotated += 1
    if has_stopped(&interrupt):
        raise_failure(&interrupt)
    return n_rotated
