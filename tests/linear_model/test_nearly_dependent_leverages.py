"""Leverages and errors of predictors for powers that nearly depend on each other."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
)

TABLE = pd.read_csv(Path(__file__).parents[1] / "data" / "nist_filip.csv")
VALUES, Y = TABLE["x"].to_numpy(), TABLE["y"].to_numpy()
POWERS = VALUES[:, np.newaxis] ** np.arange(1, 11)
#: Polynomials with the same span that are nearly orthogonal.
SCALED = 2.0 * (VALUES - VALUES.mean()) / np.ptp(VALUES)
ORTHOGONAL = np.polynomial.legendre.legvander(SCALED, 10)


def measure(weight):
    """Leverages by an orthogonal basis."""
    basis, _ = np.linalg.qr(ORTHOGONAL * np.sqrt(weight)[:, np.newaxis])
    return np.square(basis).sum(axis=1)


def test_linear_regression():
    model = LinearRegression(tol=1e-15).fit(POWERS, Y)
    leverage = model.influence(POWERS, Y).leverage
    assert_allclose(leverage, measure(np.ones(len(VALUES))), rtol=1e-5)


def test_generalized_linear():
    model = GeneralizedLinearRegressor("gaussian").fit(POWERS, Y)
    expected = measure(np.ones(len(VALUES)))
    assert_allclose(model.leverage(POWERS), expected, rtol=1e-5)
    assert_allclose(model.influence(POWERS, Y).leverage, expected, rtol=1e-5)
    _, errors = model.predict_linear(POWERS, return_std=True)
    assert_allclose(errors, np.sqrt(model.dispersion_ * expected), rtol=1e-5)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_logistic():
    above = np.median(Y) < Y
    model = LogisticRegression().fit(POWERS, above)
    weight = 0.5 / (1.0 + np.cosh(model.decision_function(POWERS)))
    leverage = model.influence(POWERS, above).leverage
    assert_allclose(leverage, measure(weight), rtol=1e-4, atol=1e-6)
