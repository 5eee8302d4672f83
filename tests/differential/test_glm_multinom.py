"""R's glm and nnet::multinom as oracles: logistic_oracle.R has written logistic_r.json.

Coefficients, standard errors, deviances and probabilities agree to six digits.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.linear_model import LogisticRegression, MaxEntClassifier

KEPT = Path(__file__).with_name("logistic_r.json")
SCRIPT = Path(__file__).with_name("logistic_oracle.R")
TABLES = {table["name"]: table for table in json.loads(KEPT.read_text())["tables"]}
# multinom minimises by BFGS, and stops where the deviance changes no more.
PRECISION = {"binary": 1e-7, "several": 1e-6}


def make_columns(table):
    """The table as a frame, words as categories in the order of R's levels."""
    return pd.DataFrame(
        {
            name: pd.Categorical(values, find_levels(table["name"], name, values))
            if isinstance(values[0], str)
            else np.array(values, dtype=float)
            for name, values in table["X"].items()
        }
    )


def find_levels(table_name, column, values):
    """R sorts the levels of a factor unless it is told; birthwt's and Titanic's are."""
    declared = {
        ("birthwt", "race"): ["white", "black", "other"],
        ("Titanic, weighted", "Sex"): ["Male", "Female"],
        ("Titanic, weighted", "Age"): ["Child", "Adult"],
    }
    return declared.get((table_name, column), sorted(set(values)))


def fit_ours(table, **parameters):
    weight = table["weight"] and np.array(table["weight"])
    model = LogisticRegression(**parameters)
    return model.fit(make_columns(table), table["y"], sample_weight=weight)


def join_vectors(model, coef, intercept):
    return np.column_stack([intercept, coef])


@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
@pytest.mark.parametrize("solver", ["newton", "bfgs", "lbfgs"])
@pytest.mark.parametrize("name", TABLES)
def test_probabilities_and_deviances(name, solver):
    table = TABLES[name]
    parameters = {} if solver == "newton" else {"max_iter": 3000, "tol": 1e-9}
    model = fit_ours(table, solver=solver, **parameters)
    assert_allclose(model.deviance_, table["deviance"], rtol=1e-9)
    assert_allclose(model.null_deviance_, table["null_deviance"], rtol=1e-9)
    assert model.rank_ == table["rank"]
    assert model.separation_ == "none"
    found = model.predict_proba(make_columns(table))
    assert_allclose(found, table["fitted"], atol=2e-6)


@pytest.mark.parametrize("name", [name for name in TABLES if "dependent" not in name])
def test_coefficients_and_standard_errors(name):
    table = TABLES[name]
    model = fit_ours(table)
    precision = PRECISION[table["kind"]]
    found = np.column_stack([model.intercept_, model.coef_])
    size = np.abs(table["errors"])  # a coefficient may be close to zero
    assert_allclose(found / size, np.array(table["coef"]) / size, atol=precision * 10)
    errors = np.column_stack([model.intercept_standard_error_, model.standard_errors_])
    assert_allclose(errors, table["errors"], rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in TABLES if "dependent" not in name])
def test_maximum_entropy(name):
    """Differences of its weights have the same estimates and errors."""
    table = TABLES[name]
    model = MaxEntClassifier(tol=1e-10, max_iter=10_000, reference_level="first")
    weight = table["weight"] and np.array(table["weight"])
    model.fit(make_columns(table), table["y"], sample_weight=weight)
    found, precision = model.coefficient_table_, PRECISION[table["kind"]]
    errors = np.ravel(table["errors"])
    assert_allclose(found.standard_errors, errors, rtol=1e-6)
    size, coef = np.abs(errors), np.ravel(table["coef"])
    assert_allclose(found.estimates / size, coef / size, atol=precision * 10)
    assert_allclose(model.deviance_, table["deviance"], rtol=1e-9)
    assert_allclose(model.null_deviance_, table["null_deviance"], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
def test_dependent_columns():
    """R leaves the last ones out; ours has the shortest slopes with the same scores."""
    table = TABLES["mtcars, dependent columns"]
    model = fit_ours(table)
    X = make_columns(table).to_numpy()
    theirs = np.nan_to_num(np.array(table["coef"], dtype=float)[0])
    scores = theirs[0] + X @ theirs[1:]
    assert_allclose(model.decision_function(make_columns(table)), scores, atol=1e-6)
    centred = X - X.mean(axis=0)
    shortest = np.linalg.pinv(centred, rcond=1e-10) @ (scores - scores.mean())
    assert_allclose(model.coef_[0], shortest, rtol=1e-7, atol=1e-9)
    # wt, hp and double = 2 wt - hp / 10 share what two of them say.
    assert np.isnan(model.standard_errors_).all()
    assert np.isnan(model.intercept_standard_error_).all()
    assert "linearly dependent" in model.summary()


@pytest.mark.slow
def test_kept_numbers_are_what_the_script_prints():
    probe = ["Rscript", "--vanilla", "-e", "library(MASS); library(nnet)"]
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed (Debian: r-base-core)")
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("MASS and nnet are not installed (Debian: r-recommended)")
    command = ["Rscript", "--vanilla", str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    printed = json.loads(done.stdout)["tables"]
    for table, kept in zip(printed, TABLES.values(), strict=True):
        assert (table["X"], table["y"]) == (kept["X"], kept["y"])
        assert_allclose(table["deviance"], kept["deviance"], rtol=1e-9)
        assert_allclose(table["fitted"], kept["fitted"], atol=1e-6)
