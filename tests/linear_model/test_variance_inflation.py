"""Variance inflation factors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    variance_inflation,
)


def make_table(n_rows=80):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(n_rows, 2)), columns=["a", "b"])
    table["c"] = table["a"] + 0.5 * random.normal(size=n_rows)
    table["d"] = random.choice(["x", "y", "z"], n_rows)
    return table, random.normal(size=n_rows)


def test_a_number_has_the_factor_of_its_coefficient():
    table, y = make_table()
    model = LinearRegression().fit(table, y)
    found = variance_inflation(model)
    assert found.names == ("a", "b", "c", "d")
    assert_allclose(found.factors[:3], model.variance_inflation_[:3])
    assert_allclose(found.scaled_factors[:3], np.sqrt(found.factors[:3]))
    assert found.degrees_of_freedom.tolist() == [1, 1, 1, 2]
    assert list(found.as_dict()) == [
        "name",
        "degrees_of_freedom",
        "factor",
        "scaled_factor",
    ]


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LogisticRegression(),
        GeneralizedLinearRegressor("gaussian", fit_intercept=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_factors_are_those_of_the_model_also_with_robust_errors(model):
    table, y = make_table()
    y = y > 0 if isinstance(model, LogisticRegression) else y
    plain = variance_inflation(clone(model).fit(table, y))
    robust = clone(model).set_params(covariance_type="HC3").fit(table, y)
    assert_allclose(variance_inflation(robust).factors, plain.factors)


def test_the_reference_level_has_no_effect():
    table, y = make_table()
    one = variance_inflation(LinearRegression().fit(table, y))
    other = LinearRegression(reference_level="last").fit(table, y)
    assert_allclose(variance_inflation(other).factors, one.factors)


@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
def test_what_has_no_factors_is_refused():
    table, y = make_table()
    table = table.assign(e=table["a"] - table["b"])
    with pytest.raises(ValueError, match="linearly dependent or constant.*'a'"):
        variance_inflation(LinearRegression().fit(table, y))
    classes = np.arange(len(y)) % 3
    with pytest.raises(ValueError, match="requires one vector of coefficients"):
        variance_inflation(LogisticRegression().fit(table[["b", "d"]], classes))
    with pytest.raises(ValueError, match="fitted with a penalty"):
        variance_inflation(LinearRegression(alpha=1.0).fit(table, y))
