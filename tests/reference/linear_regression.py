"""Least squares in plain Python and exact fractions, for tests and to be read first.

The normal equations (X'WX) b = X'Wy of the centred columns, which floating point had
better not form, are solved by elimination: fractions do not round. 周志华《机器学习》,
section 3.2.
"""

from fractions import Fraction


def fit(X, y, weight=None, alpha=0, fit_intercept=True):
    """Coefficients, intercept, rank, residual sum of squares and inverse of X'WX.

    If columns depend on each other, the shortest solution; the inverse is None then.
    """
    X = [[Fraction(value) for value in row] for row in X]
    y = [Fraction(value) for value in y]
    w = [Fraction(value) for value in (weight or [1] * len(y))]
    columns = range(len(X[0]))
    mean, target_mean = [Fraction(0)] * len(X[0]), Fraction(0)
    if fit_intercept:
        mean = [_dot(w, [row[j] for row in X]) / sum(w) for j in columns]
        target_mean = _dot(w, y) / sum(w)
    Z = [[value - mean[j] for j, value in enumerate(row)] for row in X]
    t = [value - target_mean for value in y]
    products = [
        [
            sum(wi * row[j] * row[k] for wi, row in zip(w, Z, strict=True))
            + (alpha if j == k else 0)
            for k in columns
        ]
        for j in columns
    ]
    targets = [
        sum(wi * row[j] * ti for wi, row, ti in zip(w, Z, t, strict=True))
        for j in columns
    ]
    equations = eliminate(
        [[*row, value] for row, value in zip(products, targets, strict=True)]
    )
    coef = solve_shortest(equations)
    rank, inverse = len(equations), None
    if rank == len(mean):
        unit = [[Fraction(j == k) for k in columns] for j in columns]
        inverse = [
            row[len(mean) :]
            for row in eliminate(
                [[*row, *one] for row, one in zip(products, unit, strict=True)]
            )
        ]
    intercept = target_mean - _dot(mean, coef)
    residuals = [
        value - _dot(row, coef) - intercept for row, value in zip(X, y, strict=True)
    ]
    squares = sum(wi * e * e for wi, e in zip(w, residuals, strict=True))
    return coef, intercept, rank, squares, inverse


def eliminate(rows):
    """Reduced rows with leading ones, those of zeros left out (Gauss and Jordan)."""
    reduced, n_equations = [], len(rows)
    rows = [list(row) for row in rows]
    for column in range(n_equations):
        pivot = next((row for row in rows if row[column] != 0), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        pivot = [value / pivot[column] for value in pivot]
        for row in [*rows, *reduced]:
            factor = row[column]
            row[:] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
        reduced.append(pivot)
    return reduced


def solve_shortest(equations):
    """The shortest b with A b = c, which is A' (A A')^-1 c, for independent rows."""
    if not equations:
        return []
    A = [row[:-1] for row in equations]
    rows = [
        [*(_dot(row, other) for other in A), equation[-1]]
        for row, equation in zip(A, equations, strict=True)
    ]
    shares = [row[-1] for row in eliminate(rows)]
    return [
        sum(share * row[j] for share, row in zip(shares, A, strict=True))
        for j in range(len(A[0]))
    ]


def _dot(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))
