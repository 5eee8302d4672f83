"""Coefficients and second derivatives from a sample of the rows of a large table."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sklearn_textbook.linear_model.logistic.curvature import (
    HessianFactor,
    factor_hessian,
)
from sklearn_textbook.linear_model.logistic.likelihood import (
    HESSIAN,
    LogisticLikelihood,
)
from sklearn_textbook.linear_model.solve.row_blocks import SAMPLE_STEP

#: Minimum number of rows of the sample for each coefficient, and of all of them.
ROWS_PER_COEFFICIENT, MIN_ROWS = 4, 2000
#: Minimum number of its rows in each class: fewer are often separable.
MIN_OF_CLASS = 20
#: The coefficients of the sample are found to this fraction of their standard errors.
PRECISION = 0.03
#: Largest change of a score by the last step.
LARGEST_MOVE = 0.5
#: Maximum number of iterations for them.
MAX_ITER = 50
#: With more multiplications than this for each one of a gradient, a Hessian takes so
#: long that all others are estimated from that of the sample.
COSTLY = 32


class SampleStart(NamedTuple):
    """Coefficients near the maximum, and the factor of a Hessian there, if costly."""

    theta: np.ndarray
    #: Of the Hessian for one row.
    factor: HessianFactor | None


def is_costly(likelihood: LogisticLikelihood) -> bool:
    """Whether a Hessian takes much longer than a gradient."""
    return math.prod(likelihood.shape) > COSTLY


def find_start(
    likelihood: LogisticLikelihood, solve_sample, solve_costly_sample
) -> SampleStart | None:
    r"""Fit every 16th row.

    These coefficients differ from those of all rows by about four standard errors, and
    the Hessian by a small fraction. Newton's steps then need few passes over all rows,
    and steps with the Hessian of the sample reduce the error by a factor each, for any
    units and correlations of the columns. None if the sample is too small, or if it
    does not determine all coefficients.
    """
    n_rows = likelihood.n_rows // SAMPLE_STEP
    n_coefficients = math.prod(likelihood.shape)
    if n_rows < max(MIN_ROWS, ROWS_PER_COEFFICIENT * n_coefficients):
        return None
    sample = likelihood.take_sample(SAMPLE_STEP)
    counts = np.bincount(sample.codes, minlength=likelihood.n_classes)
    if counts.min() < MIN_OF_CLASS:
        return None
    has_factor = is_costly(likelihood)
    solve = solve_costly_sample if has_factor else solve_sample
    tol = PRECISION / math.sqrt(sample.total_weight)
    found = solve(sample, sample.start(), MAX_ITER, tol, lambda theta, loss: False)
    if not found.is_converged:
        return None
    at = sample.evaluate(found.theta, HESSIAN) if found.at is None else found.at
    factor = factor_hessian(at.hessian / sample.total_weight)
    if factor is None:
        return None
    step = factor.find_step(at.gradient / sample.total_weight)
    if not _measure_move(sample, step) < LARGEST_MOVE:
        return None  # coefficients that diverge still move
    theta = found.theta - step if found.at is None else found.theta
    if not np.isfinite(theta).all():
        return None
    theta = likelihood.centre_coefficients(*sample.restore_coefficients(theta))
    return SampleStart(theta, factor if has_factor else None)


def _measure_move(sample: LogisticLikelihood, step: np.ndarray) -> float:
    """Largest change of a score of the sample by a step."""
    return max(float(np.abs(scores).max()) for _, scores in sample.read_scores(step))


def whiten_columns(likelihood: LogisticLikelihood) -> HessianFactor | None:
    """Factor of the second derivatives at zero for one row; None if it loses digits.

    Without penalty it is that of the products of the columns, from a sample of the rows
    if they are many.
    """
    step = SAMPLE_STEP
    while step > 1 and likelihood.n_rows < (
        ROWS_PER_COEFFICIENT * step * likelihood.n_parameters
    ):
        step //= 2
    sample = likelihood if step == 1 else likelihood.take_sample(step)
    products = sample.evaluate_products()
    fraction = (1.0 - 1.0 / likelihood.n_classes) / likelihood.n_classes
    added = np.zeros(likelihood.n_parameters)
    added[likelihood.fit_intercept :] = sample.l2 / fraction
    products[np.diag_indices(len(products))] += added
    return factor_hessian(products / sample.total_weight)
