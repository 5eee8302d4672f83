"""Factorised second derivatives of the logistic likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse import issparse
from scipy.special import expit, softmax

#: With smaller pivots of a Hessian of unit diagonal, the step is found from the rows.
SMALLEST_PIVOT = 1e-9
#: Numbers in a block of weighted rows.
BLOCK_NUMBERS = 2**20
#: Lower bound of probabilities in denominators.
MIN_PROBABILITY = 1e-290


@dataclass(frozen=True)
class HessianFactor:
    """Cholesky's factor of the Hessian, scaled to a diagonal of ones.

    Parameters
    ----------
    scale : ndarray of shape (n,)
        Roots of the diagonal.
    factor : ndarray of shape (n, n)
        The lower triangle.
    """

    scale: np.ndarray
    factor: np.ndarray

    def find_step(self, gradient):
        """Solve for the Newton step, to be subtracted from the coefficients."""
        right = gradient.ravel() / self.scale
        step = linalg.cho_solve((self.factor, True), right, check_finite=False)
        return (step / self.scale).reshape(gradient.shape)

    def invert(self):
        """Inverse of the Hessian."""
        inverse = linalg.cho_solve((self.factor, True), np.eye(len(self.scale)))
        return inverse / self.scale / self.scale[:, np.newaxis]


@dataclass(frozen=True)
class RowFactor:
    """A root of the inverse of the Hessian, found from the weighted rows.

    Parameters
    ----------
    root : ndarray of shape (n, rank)
        Its product with its transpose is the inverse.
    along : ndarray of shape (rank,)
        The gradient, multiplied by the transposed root.
    """

    root: np.ndarray
    along: np.ndarray

    def find_step(self, gradient):
        """Return the Newton step; the gradient is that of the factorisation."""
        return (self.root @ self.along).reshape(gradient.shape)

    def invert(self):
        """Inverse of the Hessian."""
        return self.root @ self.root.T


def factor_curvature(likelihood, theta, at):
    """Factorise the Hessian, or the weighted rows where its squares lose too much.

    Parameters
    ----------
    likelihood : LogisticLikelihood
        With the rows.
    theta : ndarray of shape (n_scores, n_parameters)
        Coefficients.
    at : Evaluation
        Likelihood, gradient and Hessian there.

    Returns
    -------
    factor : HessianFactor or RowFactor
        Solves for steps, and inverts.
    """
    factor = factor_hessian(at.hessian)
    return find_root(likelihood, theta) if factor is None else factor


def factor_hessian(hessian):
    """Cholesky's factor of a Hessian; None if a pivot is too small."""
    scale = np.sqrt(np.maximum(hessian.diagonal(), 0.0))
    if not (np.isfinite(scale) & (scale > 0.0)).all():
        return None
    try:
        factor = linalg.cholesky(
            hessian / scale / scale[:, np.newaxis], lower=True, check_finite=False
        )
    except linalg.LinAlgError:
        return None
    pivots = factor.diagonal() ** 2
    is_safe = np.isfinite(pivots).all() and pivots.min() > SMALLEST_PIVOT
    return HessianFactor(scale, factor) if is_safe else None


def find_root(likelihood, theta):
    r"""Find a root of the inverse Hessian by orthogonal transformations of the rows.

    Row i with the probabilities p and the own class y adds :math:`L^T L` to the
    Hessian and :math:`L^T z` to the gradient, with

    .. math:: L = \sqrt{w_i D} (I - 1 p^T) \otimes x_i^T, \qquad
        z = \sqrt{w_i} D^{-1/2} (p - e_y), \qquad D = \operatorname{diag}(p).

    Rounding errors grow with the condition number of L, not with its square.
    """
    theta = np.reshape(theta, likelihood.shape)
    n = theta.size
    stack = [_write_penalty(likelihood, theta)]
    height = max(likelihood.n_classes, 2)
    n_block = max(1, max(BLOCK_NUMBERS // (n + 1), 2 * n) // height)
    for first in range(0, likelihood.n_rows, n_block):
        rows = _write_rows(likelihood, theta, slice(first, first + n_block))
        stack = [np.linalg.qr(np.vstack([*stack, rows]), mode="r")]
    triangle = stack[0]
    left, right = triangle[:, :n], triangle[:, n]
    scale = np.linalg.norm(left, axis=0)
    scale[scale == 0.0] = 1.0
    rows, values, columns = np.linalg.svd(left / scale, full_matrices=False)
    is_kept = values > 4.0 * n * np.finfo(float).eps * values[0]
    root = columns[is_kept].T / values[is_kept] / scale[:, np.newaxis]
    return RowFactor(root, rows[:, is_kept].T @ right)


def _write_penalty(likelihood, theta):
    """Rows for the penalty and the constraint that all intercepts sum to 0."""
    first, n_scores = likelihood.fit_intercept, likelihood.n_scores
    diagonal = np.zeros(theta.shape)
    diagonal[:, first:] = np.sqrt(likelihood.l2)
    rows = np.diag(diagonal.ravel())[diagonal.ravel() > 0.0]
    rows = np.column_stack([rows, rows @ theta.ravel()])
    if not likelihood.is_tied:
        return rows
    tie = np.zeros((n_scores, likelihood.n_parameters))
    tie[:, 0] = np.sqrt(likelihood.total_weight)
    total = tie.ravel() @ theta.ravel()
    return np.vstack([rows, np.append(tie.ravel(), total)])


def _write_rows(likelihood, theta, rows):
    """Rows of L with z in the last column, for a block of rows of the table."""
    X, codes = likelihood.X[rows], likelihood.codes[rows]
    scores = likelihood.score_rows(theta, X)
    X = (X.toarray() if issparse(X) else X) - likelihood.centre
    if likelihood.fit_intercept:
        X = np.column_stack([np.ones(len(X)), X])
    roots = np.ones(len(X))
    if likelihood.weight is not None:
        roots = np.sqrt(likelihood.weight[rows])
    if likelihood.n_classes == 2:
        share, other = expit(scores[:, 0]), expit(-scores[:, 0])
        deviation = np.sqrt(np.maximum(share * other, MIN_PROBABILITY))
        residual = np.where(codes == 1, -other, share)
        block = (roots * deviation)[:, np.newaxis] * X
        return np.column_stack([block, roots * residual / deviation])
    if scores.shape[1] < likelihood.n_classes:
        scores = np.column_stack([scores, np.zeros(len(scores))])
    shares = np.maximum(softmax(scores, axis=1), MIN_PROBABILITY)
    deviations = np.sqrt(shares)
    places = np.arange(len(X)), codes
    residuals = shares.copy()
    residuals[places] = 0.0
    residuals[places] = -residuals.sum(axis=1)
    mixed = np.eye(likelihood.n_classes) - shares[:, np.newaxis]
    mixed *= (roots[:, np.newaxis] * deviations)[:, :, np.newaxis]
    mixed = mixed[:, :, : likelihood.n_scores]
    block = np.einsum("iks,ij->iksj", mixed, X).reshape(mixed[:, :, 0].size, -1)
    last = roots[:, np.newaxis] * residuals / deviations
    return np.column_stack([block, last.ravel()])
