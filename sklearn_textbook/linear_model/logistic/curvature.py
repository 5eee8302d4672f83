"""Factorised second derivatives of the logistic likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse import issparse
from scipy.special import expit, softmax

from sklearn_textbook._contract.blocks import BLOCK_ROWS, list_blocks
from sklearn_textbook.linear_model.logistic.likelihood import (
    Evaluation,
    LogisticLikelihood,
)
from sklearn_textbook.linear_model.solve.row_blocks import read_rows

#: With smaller pivots of a Hessian of unit diagonal, the step is found from the rows.
SMALLEST_PIVOT = 1e-9
#: With fewer classes than this, the rows take little time.
MANY_CLASSES = 20
#: Eigenvalues of a Hessian of unit diagonal below this one are found from the rows, and
#: how often their vectors are turned.
SMALL_EIGENVALUE, MAX_TURNS = 1e-6, 3
#: Numbers in a block of weighted rows.
BLOCK_NUMBERS = 2**20
#: Lower bound of probabilities in denominators.
MIN_PROBABILITY = 1e-290


@dataclass(frozen=True)
class HessianFactor:
    """Cholesky's factor of the Hessian, scaled to a diagonal of ones."""

    #: Roots of the diagonal. Shape (n,).
    scale: np.ndarray
    #: The lower triangle. Shape (n, n).
    factor: np.ndarray

    def find_step(self, gradient):
        """Solve for the Newton step, to be subtracted from the coefficients."""
        right = gradient.ravel() / self.scale
        step = linalg.cho_solve((self.factor, True), right, check_finite=False)
        return (step / self.scale).reshape(gradient.shape)

    def find_directions(self):
        """Find directions of unit curvature: columns of a root of the inverse."""
        inverse, _ = linalg.lapack.dtrtri(self.factor, lower=1)
        return np.tril(inverse).T / self.scale[:, np.newaxis]

    def invert(self):
        """Inverse of the Hessian."""
        inverse = linalg.cho_solve((self.factor, True), np.eye(len(self.scale)))
        return inverse / self.scale / self.scale[:, np.newaxis]


@dataclass(frozen=True)
class TurnedFactor:
    """Cholesky's factor of the Hessian in other coordinates."""

    #: The coordinates. Shape (n, n).
    basis: np.ndarray
    #: Of the Hessian in these.
    factor: HessianFactor
    #: The gradient in these. Shape (n,).
    along: np.ndarray

    def find_step(self, gradient):
        """Return the Newton step; the gradient is that of the factorisation."""
        return (self.basis @ self.factor.find_step(self.along)).reshape(gradient.shape)


@dataclass(frozen=True)
class RowFactor:
    """A root of the inverse of the Hessian, found from the weighted rows."""

    #: Its product with its transpose is the inverse. Shape (n, rank).
    root: np.ndarray
    #: The gradient, multiplied by the transposed root. Shape (rank,).
    along: np.ndarray

    def find_step(self, gradient):
        """Return the Newton step; the gradient is that of the factorisation."""
        return (self.root @ self.along).reshape(gradient.shape)

    def invert(self):
        """Inverse of the Hessian."""
        return self.root @ self.root.T


def factor_curvature(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    at: Evaluation,
    *,
    is_for_step: bool = False,
) -> HessianFactor | TurnedFactor | RowFactor:
    """Factorise the Hessian, or the weighted rows where its squares lose too much."""
    factor = factor_hessian(at.hessian)
    is_for_step = is_for_step and likelihood.n_classes >= MANY_CLASSES
    if factor is None and is_for_step:
        factor = factor_turned(likelihood, theta, at)
    return find_root(likelihood, theta) if factor is None else factor


def factor_hessian(hessian, smallest: float = SMALLEST_PIVOT):
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
    is_safe = np.isfinite(pivots).all() and pivots.min() > smallest
    return HessianFactor(scale, factor) if is_safe else None


def factor_turned(
    likelihood: LogisticLikelihood, theta: np.ndarray, at: Evaluation
) -> TurnedFactor | None:
    r"""Factorise the Hessian with its smallest eigenvectors computed from the rows.

    Where the Hessian has few small eigenvalues, only these are lost in rounding. With
    the scores v of a row along such a vector, :math:`c = v - p^T v`, the row adds
    :math:`w \sum p_k c_k^2` to the square of the vector, :math:`w p_k c_k x` to the
    product with the Hessian, and :math:`- w c_y` to that with the gradient, all without
    differences of large numbers. This takes far less time than `find_root`.
    """
    scale = np.sqrt(np.maximum(at.hessian.diagonal(), 0.0))
    is_usable = np.isfinite(scale).all() and (scale > 0.0).all()
    if likelihood.is_penalised or likelihood.is_tied or not is_usable:
        return None
    values, vectors = linalg.eigh(at.hessian / scale / scale[:, np.newaxis])
    basis = vectors / scale[:, np.newaxis]
    n_small = int(np.count_nonzero(values < SMALL_EIGENVALUE))
    turned, along = np.diag(values), basis.T @ at.gradient.ravel()
    for _ in range(MAX_TURNS):
        small = basis[:, :n_small].reshape(*likelihood.shape, n_small)
        along[:n_small], turned[:n_small, :n_small], products = _sum_changes(
            likelihood, np.reshape(theta, likelihood.shape), small
        )
        crossed = basis[:, n_small:].T @ products.reshape(-1, n_small)
        turned[n_small:, :n_small], turned[:n_small, n_small:] = crossed, crossed.T
        factor = factor_hessian(turned)
        if factor is not None:
            return TurnedFactor(basis, factor, along)
        # The small eigenvalues differ from each other: turn their vectors again.
        corner = turned[:n_small, :n_small]
        units = np.sqrt(corner.diagonal())
        if not (n_small and (units > 0.0).all()):
            return None
        _, mixed = linalg.eigh(corner / units / units[:, np.newaxis])
        basis[:, :n_small] = basis[:, :n_small] @ (mixed / units[:, np.newaxis])
    return None


def _sum_changes(likelihood, theta, small):
    """Products of the small vectors with the gradient, each other and the Hessian."""
    n_small = small.shape[-1]
    along, squares = np.zeros(n_small), np.zeros((n_small, n_small))
    products = np.zeros(small.shape)
    for rows in list_blocks(likelihood.n_rows):
        X, roots = write_columns(likelihood, rows)
        scores = likelihood.score_rows(theta, read_rows(likelihood.X, rows))
        probabilities = _find_probabilities(scores, likelihood.n_classes)
        changes = np.zeros((*probabilities.shape, n_small))
        changes[:, : likelihood.n_scores] = np.einsum("ij,kjs->iks", X, small)
        changes -= np.einsum("ik,iks->is", probabilities, changes)[:, np.newaxis]
        own = changes[np.arange(len(X)), likelihood.codes[rows]]
        along -= roots**2 @ own
        factors = (roots[:, np.newaxis] * np.sqrt(probabilities))[:, :, np.newaxis]
        changes *= factors
        flat = changes.reshape(-1, n_small)
        squares += flat.T @ flat
        changes *= factors
        products += np.einsum("ij,iks->kjs", X, changes[:, : likelihood.n_scores])
    return along, squares, products


def find_root(likelihood: LogisticLikelihood, theta: np.ndarray):
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
    for rows in list_blocks(likelihood.n_rows, min(n_block, BLOCK_ROWS)):
        written = _write_rows(likelihood, theta, rows)
        stack = [np.linalg.qr(np.vstack([*stack, written]), mode="r")]
    triangle = stack[0]
    left, right = triangle[:, :n], triangle[:, n]
    scale = np.linalg.norm(left, axis=0)
    scale[scale == 0.0] = 1.0
    rows, values, columns = np.linalg.svd(left / scale, full_matrices=False)
    is_kept = values > 4.0 * n * np.finfo(float).eps * values[0]
    root = columns[is_kept].T / values[is_kept] / scale[:, np.newaxis]
    return RowFactor(root, rows[:, is_kept].T @ right)


def _write_penalty(likelihood: LogisticLikelihood, theta: np.ndarray):
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


def write_columns(likelihood: LogisticLikelihood, rows):
    """Centred columns, after one of ones, and the roots of the weights."""
    X = read_rows(likelihood.X, rows)
    X = (X.toarray() if issparse(X) else X) - likelihood.centre
    if likelihood.fit_intercept:
        X = np.column_stack([np.ones(len(X)), X])
    weight = likelihood.weight
    return X, np.ones(len(X)) if weight is None else np.sqrt(weight[rows])


def _find_probabilities(scores, n_classes):
    """Probabilities of more than two classes, none of them zero."""
    if scores.shape[1] < n_classes:
        scores = np.column_stack([scores, np.zeros(len(scores))])
    return np.maximum(softmax(scores, axis=1), MIN_PROBABILITY)


def _write_rows(likelihood: LogisticLikelihood, theta: np.ndarray, rows):
    """Rows of L with z in the last column, for a block of rows of the table."""
    codes = likelihood.codes[rows]
    scores = likelihood.score_rows(theta, read_rows(likelihood.X, rows))
    X, roots = write_columns(likelihood, rows)
    if likelihood.n_classes == 2:
        probability, other = expit(scores[:, 0]), expit(-scores[:, 0])
        deviation = np.sqrt(np.maximum(probability * other, MIN_PROBABILITY))
        residual = np.where(codes == 1, -other, probability)
        block = (roots * deviation)[:, np.newaxis] * X
        return np.column_stack([block, roots * residual / deviation])
    probabilities = _find_probabilities(scores, likelihood.n_classes)
    deviations = np.sqrt(probabilities)
    places = np.arange(len(X)), codes
    residuals = probabilities.copy()
    residuals[places] = 0.0
    residuals[places] = -residuals.sum(axis=1)
    mixed = np.eye(likelihood.n_classes) - probabilities[:, np.newaxis]
    mixed *= (roots[:, np.newaxis] * deviations)[:, :, np.newaxis]
    mixed = mixed[:, :, : likelihood.n_scores]
    block = np.einsum("iks,ij->iksj", mixed, X).reshape(mixed[:, :, 0].size, -1)
    last = roots[:, np.newaxis] * residuals / deviations
    return np.column_stack([block, last.ravel()])
