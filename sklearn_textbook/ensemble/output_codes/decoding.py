"""Decoding (解码): from the predictions of an output code's members to classes."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

#: Of several fractions that agree with the members equally well, the most even ones.
EVENNESS = 1e-10
#: Rows are decoded in blocks of about this many numbers.
BLOCK_NUMBERS = 2_000_000
#: Exponents are kept below this, so that sums of exponentials are finite.
LARGEST_EXPONENT = 500.0


def _compute_exponential(margins):
    return np.exp(np.minimum(-margins, LARGEST_EXPONENT))


def _compute_logistic(margins):
    return np.logaddexp(0.0, -2.0 * margins)


def _compute_hinge(margins):
    return np.maximum(1.0 - margins, 0.0)


def _compute_linear(margins):
    return -margins


#: Losses of a margin, the output times the sign of the code, as Allwein has them.
LOSSES = {
    "linear": _compute_linear,
    "hinge": _compute_hinge,
    "logistic": _compute_logistic,
    "exponential": _compute_exponential,
}


def sum_losses(outputs: np.ndarray, matrix: np.ndarray, loss: str) -> np.ndarray:
    r"""Sum the losses of the members if a row were of each class."""
    compute, sides = LOSSES[loss], matrix.T.astype(np.float64)
    if loss == "linear":
        return -(outputs @ sides)
    # Entries of +1 and of -1 take a product each, and those of 0 add a constant.
    positive, negative = np.maximum(sides, 0.0), np.maximum(-sides, 0.0)
    total = compute(outputs) @ positive + compute(-outputs) @ negative
    return total + float(compute(np.zeros(1))[0]) * (matrix == 0).sum(axis=1)


def measure_hamming(votes: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    r"""Measure the Hamming distance (海明距离) from votes to the rows of a code."""
    return (matrix.shape[1] + sum_losses(votes, matrix, "linear")) / 2


def fit_fractions(given: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    r"""Fit fractions of the classes to the members' predictions of their two sides.

    The equations are homogeneous: the fractions have the direction of the x >= 0 that
    minimises the same sum plus :math:`(\sum_r x_r - 1)^2`, a problem of non-negative
    least squares.
    """
    # Trees predict few distinct values.
    given, number = np.unique(given, axis=0, return_inverse=True)
    step = max(1, BLOCK_NUMBERS // matrix.size)
    parts = [
        _fit_block(given[first : first + step], matrix)
        for first in range(0, len(given), step)
    ]
    return np.concatenate(parts)[number.reshape(-1)] if parts else np.empty((0, 0))


def _fit_block(given, matrix):
    n_classes = len(matrix)
    # Equation b of row i has the coefficients M_+ - q_ib |M|.
    sides = matrix.T.astype(np.float64)
    equations = np.maximum(sides, 0.0) - given[:, :, np.newaxis] * np.abs(sides)
    products = equations.transpose(0, 2, 1) @ equations
    products += 1.0 + EVENNESS * np.eye(n_classes)
    right = np.ones((len(given), n_classes, 1))
    fractions = np.linalg.solve(products, right)[:, :, 0]
    more = np.vstack((np.ones(n_classes), np.sqrt(EVENNESS) * np.eye(n_classes)))
    target = np.zeros(matrix.shape[1] + len(more))
    target[matrix.shape[1]] = 1.0
    for row in np.flatnonzero((fractions < 0).any(axis=1)):
        fractions[row] = nnls(np.vstack((equations[row], more)), target)[0]
    return fractions / fractions.sum(axis=1, keepdims=True)
