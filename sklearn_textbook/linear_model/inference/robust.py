"""Covariances of coefficients that hold if the variances of rows differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.linear_model.inference.result import find_tested, get_result
from sklearn_textbook.linear_model.solve.row_blocks import take_rows

COVARIANCE_TYPES = ("HC0", "HC1", "HC2", "HC3", "cluster")
#: Leverages above 1 minus this are those of rows that are fitted exactly.
EXACT = 1e-10


@dataclass(frozen=True, eq=False)
class TrainingScores:
    """Derivatives of the log-likelihood of the training rows by the coefficients.

    That by the coefficient of column j in vector v is ``factors[:, v] * matrix[:, j]``,
    of one copy of the row.
    """

    #: Which of the given rows count. Shape (n_given,).
    is_present: np.ndarray
    #: The design matrix of these.
    matrix: np.ndarray | csr_array
    has_intercept: bool
    #: Shape (n_rows, n_vectors).
    factors: np.ndarray
    #: How many rows each stands for. Shape (n_rows,).
    copies: np.ndarray
    #: Leverage of one copy; None for several vectors. Shape (n_rows,).
    leverage: np.ndarray | None
    #: Inverse of the expected second derivatives.
    inverse: np.ndarray
    #: The derivatives themselves, if they are no such products. Shape (n_rows,
    #: n_coefficients).
    score_rows: np.ndarray | None = None


def robust_covariance(
    model: Any,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    covariance_type: str = "HC3",
    groups: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> np.ndarray:
    r"""Compute a robust covariance of the coefficients (稳健协方差).

    With the scores :math:`u_i`, the derivatives of the log-likelihood of the rows by
    the coefficients times the dispersion, and the matrix A of their expected second
    derivatives,

    .. math:: V = A^{-1} \Bigl(\sum_i c_i u_i u_i^T\Bigr) A^{-1} .

    It holds if the variances of the rows are others than those of the model ("HC"), or
    if rows of a group depend on each other ("cluster": scores are first added up by
    group).

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression,
        MaxEntClassifier or OrdinalRegression, without a penalty.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        The training targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, as in ``fit``: of frequencies a row stands for as many rows.
    covariance_type : {"HC0", "HC1", "HC2", "HC3", "cluster"}, default="HC3"
        The factor :math:`c_i`. "HC0": 1. "HC1": :math:`n / (n - k)` with the number n
        of rows and k of coefficients. "HC2": :math:`1 / (1 - h_i)` with the leverage
        :math:`h_i`. "HC3": :math:`1 / (1 - h_i)^2`. "cluster": :math:`\frac{G}{G - 1}
        \frac{n - 1}{n - k}` with the number G of groups, as in Stata and statsmodels
        (in R's sandwich, ``vcovCL(type="HC1")``).
    groups : array-like of shape (n_samples,), default=None
        The group of each row, for "cluster".
    offset, exposure : array-like of shape (n_samples,), default=None
        As in the ``fit`` of a generalised linear model.

    Returns
    -------
    covariance : ndarray of shape (n_coefficients, n_coefficients)
        In the order of the ``coefficient_table_``, that of the intercept first. For
        ``covariance`` of :func:`estimate_contrasts`, :func:`wald_test`, :func:`anova`,
        :func:`predictions`, :func:`comparisons` and :func:`slopes`.

    Raises
    ------
    ValueError
        If the model has a penalty, if the rows are not those of the fit, if a row is
        fitted exactly with "HC2" or "HC3", if these are asked for more than two
        classes, or if ``groups`` are missing, of another length, or a single one.

    References
    ----------
    J. G. MacKinnon, H. White, Some heteroskedasticity-consistent covariance matrix
    estimators with improved finite sample properties, Journal of Econometrics 29, 1985.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.linear_model import (
    ...     LinearRegression,
    ...     estimate_contrasts,
    ...     robust_covariance,
    ... )
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> y = X[:, 0] + np.tile([1.0, -1.0], 6) * X[:, 0] / 4
    >>> model = LinearRegression().fit(X, y)
    >>> model.standard_errors_.round(3)
    array([0.147])
    >>> V = robust_covariance(model, X, y)
    >>> np.sqrt(V.diagonal()).round(3)
    array([0.649, 0.19 ])
    """
    check_choice("covariance_type", covariance_type, COVARIANCE_TYPES)
    model = find_tested(model)
    result = get_result(model)
    known = {"offset": offset, "exposure": exposure}
    known = {name: given for name, given in known.items() if given is not None}
    scores = model._find_scores(X, y, sample_weight, **known)
    codes = None
    if covariance_type == "cluster":
        codes = _number_groups(groups, scores.is_present)
    elif groups is not None:
        raise ValueError(
            "groups requires covariance_type='cluster'; got "
            f"covariance_type={covariance_type!r}."
        )
    middle = _add_up_scores(scores, covariance_type, codes)
    covariance = scores.inverse @ middle @ scores.inverse
    if covariance_type in ("HC1", "cluster"):
        n_rows, left = result.n_observations, result.residual_degrees_of_freedom
        if not left > 0.0:
            raise ValueError(
                f"covariance_type={covariance_type!r} requires more rows than "
                f"coefficients; there are {n_rows:g} rows."
            )
        factor = n_rows / left
        if codes is not None:
            n_groups = int(codes.max()) + 1
            factor = n_groups / (n_groups - 1) * (n_rows - 1) / left
        covariance = covariance * factor
    return covariance


def measure_errors(
    matrix: np.ndarray | csr_array, covariance: np.ndarray, *, has_intercept: bool
) -> np.ndarray:
    """Compute standard errors of linear predictors of rows."""
    errors = np.empty(matrix.shape[0])
    for rows in list_blocks(matrix.shape[0]):
        block = take_rows(matrix, rows)
        block = block.toarray() if issparse(block) else block
        if has_intercept:
            block = np.column_stack([np.ones(len(block)), block])
        squares = np.einsum("ij,ij->i", block @ covariance, block)
        errors[rows] = np.sqrt(np.maximum(squares, 0.0))
    return errors


def _number_groups(groups, is_present):
    """Give numbers to the groups of the rows that count."""
    if groups is None:
        raise ValueError("covariance_type='cluster' requires groups; got None.")
    groups, n_rows = np.asarray(groups), len(is_present)
    if groups.shape != (n_rows,):
        raise ValueError(
            f"groups must have shape ({n_rows},), one for each row; got {groups.shape}."
        )
    found, codes = np.unique(groups[is_present], return_inverse=True)
    if len(found) < 2:
        raise ValueError(
            "covariance_type='cluster' requires two groups or more; got "
            f"{found.tolist()!r}."
        )
    return codes


def _add_up_scores(scores: TrainingScores, kind: str, codes: np.ndarray | None):
    """Add up the products of the scores of rows, or of groups."""
    n_coefficients = len(scores.inverse)
    roots = np.sqrt(scores.copies)
    if kind in ("HC2", "HC3"):
        roots = roots * _adjust(scores, kind)
    total = np.zeros((n_coefficients, n_coefficients))
    sums = None
    if codes is not None:
        sums = np.zeros((int(codes.max()) + 1, n_coefficients))
    for rows in list_blocks(len(roots)):
        parts = _take_scores(scores, rows)
        if sums is not None:
            np.add.at(sums, codes[rows], parts * scores.copies[rows, np.newaxis])
        else:
            parts *= roots[rows, np.newaxis]
            total += parts.T @ parts
    return total if sums is None else sums.T @ sums


def _take_scores(scores: TrainingScores, rows: slice) -> np.ndarray:
    """Take the derivatives of some rows by all coefficients."""
    if scores.score_rows is not None:
        return scores.score_rows[rows].copy()
    block = take_rows(scores.matrix, rows)
    columns = block.toarray() if issparse(block) else block
    if scores.has_intercept:
        columns = np.column_stack([np.ones(len(columns)), columns])
    factors = scores.factors[rows]
    parts = factors[:, :, np.newaxis] * columns[:, np.newaxis, :]
    return parts.reshape(len(columns), -1)


def _adjust(scores, kind):
    """Factors of the scores for their leverages."""
    if scores.leverage is None:
        raise ValueError(
            f"covariance_type={kind!r} is defined for one vector of coefficients, not "
            "for more than two classes; use 'HC0', 'HC1' or 'cluster'."
        )
    left = 1.0 - scores.leverage
    if not (left > EXACT).all():
        row = int(np.flatnonzero(scores.is_present)[np.argmin(left)])
        raise ValueError(
            f"covariance_type={kind!r} is not defined, since row {row} is fitted "
            "exactly whatever its target; use 'HC1'."
        )
    return 1.0 / (np.sqrt(left) if kind == "HC2" else left)
