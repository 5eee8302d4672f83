"""The regressions of R's lm, as tests/data/lm.json has them.

lm.R made the file (R 4); where R is installed, it is made again and compared.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.linear_model import LinearRegression

SCRIPT = Path(__file__).with_name("lm.R")
DATA = Path(__file__).parents[1] / "data" / "lm.json"
CASES = json.loads(DATA.read_text("utf-8"))
DEPENDENT = "rank_deficient"
#: R's model of the frequencies has repeated rows, and lm's weights are precisions.
PRECISION = "precision"

pytestmark = pytest.mark.filterwarnings("ignore:Columns are linearly dependent")


def read_frame(case):
    columns = {
        name: pd.Categorical(column["values"], categories=column["levels"])
        if isinstance(column, dict)
        else column
        for name, column in case["table"].items()
    }
    return pd.DataFrame(columns)


def read(case, name):
    return np.array(case[name], dtype=np.float64)


def fit(name):
    case = CASES[name]
    X, y = read_frame(case), read(case, "y")
    weight = case["weights"] or case["frequencies"]
    model = LinearRegression(
        fit_intercept=case["intercept"],
        weight_type="variance" if name == PRECISION else "frequency",
    ).fit(X, y, weight)
    return case, X, y, weight, model


def assert_close(found, expected, rtol=1e-8):
    expected = np.asarray(expected, dtype=np.float64)
    size = np.nanmax(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-10 * size)


@pytest.mark.parametrize("name", sorted(set(CASES) - {DEPENDENT}))
def test_coefficients(name):
    case, _, _, _, model = fit(name)
    table = model.make_coefficient_table(0.95)
    rows = slice(1 if "shift" in case else 0, None)
    for found, key in (
        (table.estimates, "coefficients"),
        (table.standard_errors, "standard_errors"),
        (table.statistics, "t"),
        (table.confidence_intervals, "intervals"),
    ):
        np.testing.assert_allclose(found[rows], read(case, key)[rows], rtol=1e-6)
    np.testing.assert_allclose(
        table.p_values[rows], read(case, "p")[rows], rtol=1e-6, atol=1e-300
    )
    # Without an intercept, it has zeros in the first row and column.
    rows = slice(int("shift" in case or not case["intercept"]), None)
    expected = read(case, "covariance")[int("shift" in case) :, int("shift" in case) :]
    assert_close(model.covariance_[rows, rows], expected, 1e-6)


@pytest.mark.parametrize("name", sorted(CASES))
def test_measures_of_the_model(name):
    case, _, _, _, model = fit(name)
    assert model.rank_ + model._rows.has_intercept == case["rank"][0]
    for attribute, key in (
        ("residual_degrees_of_freedom_", "freedom"),
        ("residual_standard_error_", "sigma"),
        ("r_squared_", "r_squared"),
        ("adjusted_r_squared_", "adjusted"),
        ("f_statistic_", "f"),
        ("f_p_value_", "f_p"),
        ("log_likelihood_", "log_likelihood"),
        ("aic_", "aic"),
        ("bic_", "bic"),
    ):
        np.testing.assert_allclose(
            getattr(model, attribute), read(case, key)[0], rtol=1e-7, err_msg=key
        )


@pytest.mark.parametrize("name", sorted(CASES))
def test_rows(name):
    case, X, y, weight, model = fit(name)
    influence = model.influence(X, y, weight)
    for found, key in (
        (influence.fitted, "fitted"),
        (influence.leverage, "leverage"),
        (influence.standardized_residuals, "standardized"),
        (influence.studentized_residuals, "studentized"),
        (influence.cooks_distance, "cook"),
        (influence.dffits, "dffits"),
    ):
        # Predictions of rows at 1e8 are rounded to about 1e-7.
        rtol = 1e-5 if "shift" in case else 1e-7
        assert_close(found, read(case, key), rtol)


@pytest.mark.parametrize("name", sorted(CASES))
def test_new_rows(name):
    case, X, _, _, model = fit(name)
    _, errors = model.predict(X[:3], return_std=True)
    np.testing.assert_allclose(errors, read(case, "new_errors"), rtol=1e-7)
    band = model.predict_interval(X[:3], level=0.9)
    rtol = 1e-6 if "shift" in case else 1e-8
    np.testing.assert_allclose(band, read(case, "new_band"), rtol=rtol)


def test_rank_deficient():
    """R leaves out columns that others determine; here they are named as well."""
    case, _, _, _, model = fit(DEPENDENT)
    left_out = [
        name
        for name, value in zip(case["names"], case["coefficients"], strict=True)
        if value is None
    ]
    assert list(model.find_dependent_columns()) == left_out == ["c", "e"]
    assert model.find_dependent_columns()["c"] == {"a": 1.0, "b": 1.0}
    assert model.find_dependent_columns()["e"] == {"intercept": 3.0}
    # Only the column that depends on no other has a coefficient to compare.
    table = model.coefficient_table_
    position = table.names.index("d")
    assert np.isnan(np.delete(table.standard_errors, position)).all()
    known = [name for name in case["names"] if name not in left_out]
    row = known.index("d")
    np.testing.assert_allclose(
        table.estimates[position],
        case["coefficients"][case["names"].index("d")],
        rtol=1e-8,
    )
    np.testing.assert_allclose(
        table.standard_errors[position], case["standard_errors"][row], rtol=1e-8
    )


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_file_is_what_r_says():
    done = subprocess.run(
        ["Rscript", "--vanilla", SCRIPT], capture_output=True, text=True, check=True
    )
    again = json.loads(done.stdout)
    assert list(again) == list(CASES)
    for name, case in again.items():
        for key in ("coefficients", "standard_errors", "cook"):
            np.testing.assert_allclose(
                read(case, key), read(CASES[name], key), rtol=1e-4, err_msg=name
            )
