"""One-sided Jacobi in plain NumPy, for floats and for decimal fractions."""

from decimal import Decimal, localcontext

import numpy as np


def rotate_rows(rows, rotations, threshold):
    """Make every pair of rows orthogonal once, the longest row first; count them."""
    n_rows = len(rows)
    n_rotated = 0
    squares = [row @ row for row in rows]
    for p in range(n_rows):
        longest = max(range(p, n_rows), key=lambda row: (squares[row], -row))
        for table in (rows, rotations):
            table[[p, longest]] = table[[longest, p]]
        squares[p], squares[longest] = squares[longest], squares[p]
        for q in range(p + 1, n_rows):
            product = rows[p] @ rows[q]
            if abs(product) <= threshold * np.sqrt(squares[p]) * np.sqrt(squares[q]):
                continue
            ratio = (squares[q] - squares[p]) / (2 * product)
            tangent = 1 / (abs(ratio) + np.sqrt(1 + ratio * ratio))
            if ratio < 0:
                tangent = -tangent
            cosine = 1 / np.sqrt(1 + tangent * tangent)
            sine = cosine * tangent
            for table in (rows, rotations):
                table[p], table[q] = (
                    cosine * table[p] - sine * table[q],
                    sine * table[p] + cosine * table[q],
                )
            squares[p], squares[q] = rows[p] @ rows[p], rows[q] @ rows[q]
            n_rotated += 1
    return n_rotated


def decompose(A, threshold=1e-15):
    """U, s and Vt of a matrix, thin, by rotating the shorter side of it."""
    if A.shape[0] < A.shape[1]:
        V, s, Ut = decompose(A.T, threshold)
        return Ut.T, s, V.T
    rows, rotations = A.T.copy(), np.eye(A.shape[1], dtype=A.dtype)
    while rotate_rows(rows, rotations, threshold):
        pass
    lengths = np.sqrt((rows * rows).sum(axis=1))
    order = np.argsort(-lengths, kind="stable")
    with np.errstate(invalid="ignore"):  # of a zero, the vector is not determined
        U = (rows[order] / lengths[order, np.newaxis]).T
    return U, lengths[order], rotations[order]


def find_exact_values(A, digits=120):
    """Singular values of floats, as floats that are right to their last digit."""
    with localcontext() as context:
        context.prec = digits
        numbers = np.array([[Decimal(float(x)) for x in row] for row in A])
        if A.shape[0] < A.shape[1]:
            numbers = numbers.T
        rows = numbers.T.copy()
        rotations = np.eye(len(rows), dtype=int).astype(object)
        while rotate_rows(rows, rotations, Decimal(10) ** (-digits // 3)):
            pass
        lengths = np.sqrt((rows * rows).sum(axis=1))
    return np.sort(lengths.astype(float))[::-1]
