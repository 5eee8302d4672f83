"""Brant's test of proportional odds."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import expit

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook.linear_model.inference.anova import AnovaTable
from sklearn_textbook.linear_model.inference.result import WaldTest
from sklearn_textbook.linear_model.logistic.logistic_regression import (
    LogisticRegression,
)
from sklearn_textbook.linear_model.logistic.separation import NONE
from sklearn_textbook.linear_model.solve.row_blocks import take_rows


def compare_slopes(
    matrix: np.ndarray | csr_array,
    codes: np.ndarray,
    weight: np.ndarray,
    classes: np.ndarray,
    terms: tuple,
) -> AnovaTable:
    """Test that binary regressions of all splits of the classes have equal slopes."""
    n_splits, n_columns = len(classes) - 1, matrix.shape[1]
    size = n_columns + 1
    estimates = np.empty((n_splits, size))
    for split in range(n_splits):
        model = LogisticRegression(tol=1e-10).fit(matrix, codes > split, weight)
        if model.separation_ != NONE or model.rank_ < size:
            raise ValueError(
                "The test of proportional odds compares binary regressions, but that "
                f"of classes above {classes[split]!r} has no unique finite "
                "coefficients. Merge classes, or leave columns out."
            )
        estimates[split] = np.append(model.intercept_, model.coef_)
    products = _add_up_products(matrix, weight, estimates)
    inverses = [np.linalg.inv(products[split, split]) for split in range(n_splits)]
    covariance = np.empty((n_splits, n_columns, n_splits, n_columns))
    for one in range(n_splits):
        for other in range(n_splits):
            both = inverses[one] @ products[one, other] @ inverses[other]
            covariance[one, :, other, :] = both[1:, 1:]
    slopes = estimates[:, 1:]
    names, tests = [], []
    places = [(name, np.arange(n_columns)[place]) for name, place, _ in terms]
    for name, columns in [*places, ("all", np.arange(n_columns))]:
        if not len(columns):
            continue
        # Differences of each split to the first one.
        values = (slopes[1:, columns] - slopes[0, columns]).ravel()
        block = covariance[:, columns][:, :, :, columns]
        scatter = (
            block[1:, :, 1:] - block[:1, :, 1:] - block[1:, :, :1] + block[:1, :, :1]
        )
        scatter = scatter.reshape(len(values), len(values))
        statistic = float(values @ np.linalg.solve(scatter, values))
        names.append(name)
        tests.append(WaldTest(statistic, len(values)))
    columns = {
        "df": np.array([float(test.degrees_of_freedom) for test in tests]),
        "chi2": np.array([test.statistic for test in tests]),
    }
    return AnovaTable(tuple(names), columns, np.array([test.p_value for test in tests]))


def _add_up_products(matrix, weight, estimates):
    """Add up products of the columns, weighted by covariances of the splits."""
    n_splits, size = estimates.shape
    products = np.zeros((n_splits, n_splits, size, size))
    for rows in list_blocks(matrix.shape[0]):
        block = take_rows(matrix, rows)
        block = block.toarray() if issparse(block) else block
        block = np.column_stack([np.ones(len(block)), block])
        above = expit(block @ estimates.T)
        below = expit(-block @ estimates.T)
        for one in range(n_splits):
            for other in range(one, n_splits):
                # Above the higher split is above the lower one, too.
                both = weight[rows] * above[:, other] * below[:, one]
                products[one, other] += block.T @ (both[:, np.newaxis] * block)
                products[other, one] = products[one, other].T
    return products
