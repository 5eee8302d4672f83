"""The covariance within the classes of weighted rows, with or without shrinkage."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.covariance import shrunk_covariance
from sklearn.utils.validation import has_fit_parameter

from sklearn_textbook._contract.blocks import BLOCK_ROWS

EPSILON = np.finfo(np.float64).eps


def estimate_within(table, shrinkage, estimator, scatter: np.ndarray) -> np.ndarray:
    """Estimate the mean of the classes' covariances, weighted by their rows."""
    if estimator is None and shrinkage != "auto":
        # Shrinkage is linear: the mean of shrunk matrices is the shrunk mean.
        return shrunk_covariance(scatter, shrinkage) if shrinkage else scatter
    covariance = np.zeros((table.n_columns, table.n_columns))
    class_fraction = table.class_weight / table.class_weight.sum()
    for number in range(table.n_classes):
        of_class = table.select_class(number)
        if estimator is None:
            covariance += class_fraction[number] * _shrink_by_rows(of_class)
        else:
            covariance += class_fraction[number] * _estimate_with(estimator, of_class)
    return covariance


def _shrink_by_rows(table):
    """Shrink the covariance of one class by the formula of Ledoit and Wolf.

    The columns are standardised first, and the result is in their original units.
    """
    if table.n_rows > BLOCK_ROWS:
        covariance, deviation, powers = _sum_powers(table)
        shrinkage = _divide_spread(table, powers, covariance)
    else:
        _, rows, deviation = standardise_rows(table)
        covariance = rows.T @ rows
        shrinkage = choose_shrinkage(table, rows, covariance)
    shrunk = shrunk_covariance(covariance, shrinkage)
    return shrunk * np.outer(deviation, deviation)


def _sum_powers(table) -> tuple[np.ndarray, np.ndarray, float]:
    """Find the covariance of the standardised rows of one class, block by block.

    Returns (covariance, deviation, powers), the last of which is the mean of |z|⁴.
    """
    means, covariance = table.compute_scatter()
    deviation = np.sqrt(covariance.diagonal())
    is_constant = deviation <= 8 * EPSILON * np.abs(means[0])
    deviation[is_constant] = 1.0
    covariance /= np.outer(deviation, deviation)
    covariance[is_constant] = 0.0
    covariance[:, is_constant] = 0.0
    powers = 0.0
    for rows, _, root in table.centre_blocks(means):
        rows /= deviation
        rows[:, is_constant] = 0.0
        squares = np.einsum("ij,ij->i", rows, rows)
        powers += float(np.sum((root * squares) ** 2))
    return covariance, deviation, powers


def standardise_rows(table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre the rows of one class, and divide them by the standard deviations."""
    means, rows = table.centre_rows()
    deviation = np.sqrt(np.einsum("ij,ij->j", rows, rows))
    is_constant = deviation <= 8 * EPSILON * np.abs(means[0])
    rows[:, is_constant] = 0.0
    deviation[is_constant] = 1.0
    rows /= deviation
    return means, rows, deviation


def choose_shrinkage(table, rows: np.ndarray, products: np.ndarray) -> float:
    """Choose the shrinkage of Ledoit and Wolf (2004) for weighted rows.

    For n rows z of p columns with mean 0 and covariance C, whose diagonal has the mean
    m, it is the smaller of 1 and β / δ:

    ``β = (mean of |z|⁴ − |C|²) / (n p),   δ = |C|² / p − m²``,

    where a weight w counts as w rows: n is the sum of the weights.
    """
    squares = np.einsum("ij,ij->i", rows, rows)
    powers = float(np.sum(squares**2 / table.share_rows()))
    return _divide_spread(table, powers, products)


def _divide_spread(table, powers, products):
    """Choose the shrinkage from the mean of |z|⁴ and the covariance of z."""
    n_columns = table.n_columns
    if n_columns == 1:
        return 0.0  # the multiple of the identity is the covariance itself
    norm = float(np.einsum("ij,ij->", products, products))
    spread = (powers - norm) / n_columns
    spread /= float(table.class_weight[0])
    distance = norm / n_columns - (float(np.trace(products)) / n_columns) ** 2
    spread = min(spread, distance)
    return 0.0 if spread <= 0.0 else spread / distance


def _estimate_with(estimator, table):
    """Estimate the covariance of one class with the user's estimator."""
    estimator = clone(estimator, safe=False)
    if table.weight is None:
        estimator.fit(table.X)
    elif has_fit_parameter(estimator, "sample_weight"):
        estimator.fit(table.X, sample_weight=table.weight)
    elif (table.weight == np.floor(table.weight)).all():
        estimator.fit(np.repeat(table.X, table.weight.astype(np.intp), axis=0))
    else:
        raise ValueError(
            f"The fit method of covariance_estimator {type(estimator).__name__} does "
            "not accept sample_weight, so rows are repeated by their weights, which "
            "must be integers."
        )
    if not hasattr(estimator, "covariance_"):
        raise ValueError(
            f"The covariance_estimator {type(estimator).__name__} does not have a "
            "covariance_ attribute after fit."
        )
    return np.atleast_2d(estimator.covariance_)
