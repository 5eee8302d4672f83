"""Robust covariances, tests of terms, marginal means and effects against R and Python.

``inference_r.json`` is written by ``inference_oracle.R`` (sandwich, car, emmeans),
``effects.json`` by ``effects_oracle.py`` (statsmodels, marginaleffects).
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    anova,
    compare_models,
    comparisons,
    marginal_means,
    predictions,
    robust_covariance,
    slopes,
)

FOLDER = Path(__file__).parent
CASES = {
    case["name"]: case
    for case in json.loads((FOLDER / "inference_r.json").read_text())["cases"]
}
PYTHON = json.loads((FOLDER / "effects.json").read_text())
EFFECTS = {case["name"]: case for case in PYTHON["cases"]}
HERE = {"Gamma": ("gamma", "log"), "gaussian": ("gaussian", "log")}


def read_table(case, columns=None):
    table = pd.DataFrame(case["table"])
    for name, levels in (case["levels"] or {}).items():
        table[name] = pd.Categorical(table[name], categories=levels)
    return table[_list(case["columns"] if columns is None else columns)]


def _list(names):
    return [names] if isinstance(names, str) else list(names)


def fit(case, columns=None):
    """Fit our model; returns it, and what else it was fitted with."""
    X, y = read_table(case, columns), np.array(case["table"][case["target"]], float)
    options = {}
    if case.get("exposure"):
        options["exposure"] = np.array(case["table"][case["exposure"]], float)
    if case["kind"] == "lm":
        model = LinearRegression()
    elif case["kind"] == "binomial":
        model, y = LogisticRegression(tol=1e-10), y.astype(int)
    else:
        family, link = HERE.get(case["kind"], (case["kind"], "auto"))
        model = GeneralizedLinearRegressor(family=family, link=link, tol=1e-13)
    return model.fit(X, y, **options), X, y, options


def check(found, expected, tolerance=1e-6):
    expected = np.array(expected, dtype=float)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", CASES)
def test_robust_covariances(name):
    case = CASES[name]
    model, X, y, options = fit(case)
    for kind in ("HC0", "HC1", "HC2", "HC3"):
        found = robust_covariance(model, X, y, covariance_type=kind, **options)
        check(found, case[kind])
    if "cluster" in case:
        groups = np.array(case["table"][case["group"]])
        found = robust_covariance(
            model, X, y, covariance_type="cluster", groups=groups, **options
        )
        check(found, case["cluster"])


def read_tests(found, kind):
    """The statistics, degrees of freedom and p-values of R's table of tests."""
    rows = np.array(found["values"], dtype=float)
    terms = _list(found["terms"])
    kept = [
        place for place, term in enumerate(terms) if term not in ("NULL", "Residuals")
    ]
    return rows[kept]


@pytest.mark.parametrize("name", CASES)
def test_terms(name):
    case = CASES[name]
    model, X, y, options = fit(case)
    is_squares = case["kind"] == "lm"
    knows = case["kind"] in ("binomial", "poisson")
    n_terms = len(_list(case["columns"]))
    one = anova(model, X, y, type=1, **options)
    rows = read_tests(case["type1"], case["kind"])
    # lm: df, sum, mean square, F, p; glm: df, deviance, df left, deviance left, (F), p.
    check(one.columns["df"][:n_terms], rows[:, 0])
    check(
        one.columns["sum_of_squares" if is_squares else "deviance"][:n_terms],
        rows[:, 1],
    )
    check(one.p_values[:n_terms], rows[:, -1])
    two = anova(model, X, y, **options)
    rows = read_tests(case["type2"], case["kind"])
    if knows:
        check(two.columns["chi2"][:n_terms], rows[:, 0])
    else:
        check(two.columns["F"][:n_terms], rows[:, 2])
    check(two.p_values[:n_terms], rows[:, -1], 2e-6)
    V = robust_covariance(model, X, y, **options)
    wald = anova(model, covariance=V)
    rows = read_tests(case["wald"], case["kind"])
    statistic = wald.columns["chi2" if knows else "F"]
    if not is_squares and not knows:
        # R's table of a generalised linear model has chi² in any case.
        statistic = statistic * wald.columns["df"]
    check(statistic, rows[:, 1])


@pytest.mark.parametrize("name", [name for name in CASES if "smaller" in CASES[name]])
def test_nested_models(name):
    case = CASES[name]
    larger, *_ = fit(case)
    smaller, *_ = fit(case, case["smaller"])
    table = compare_models(larger, smaller)
    assert table.names == ("model 2", "model 1")
    last = np.array(case["compared"]["values"][1], dtype=float)
    check(table.p_values[1], last[-1])
    criteria = np.array(case["criteria"], dtype=float)
    check(table.columns["AIC"], criteria[:, 0])
    check(table.columns["BIC"], criteria[:, 1])


@pytest.mark.parametrize("name", [name for name in CASES if "factor" in CASES[name]])
def test_marginal_means(name):
    case = CASES[name]
    model, X, *_ = fit(case)
    means = marginal_means(model, X, case["factor"], scale="link")
    found = np.column_stack([means.estimates, means.standard_errors])
    check(found, case["means"])
    pairs = marginal_means(model, X, case["factor"], scale="link", pairs=True)
    found = np.column_stack([pairs.estimates, pairs.standard_errors])
    expected = np.array(case["pairs"], dtype=float)
    check(found, expected[:, :2])
    check(pairs.p_values, expected[:, 2], 2e-5)


def read_effects(table):
    """Estimates and errors by column and contrast."""
    columns = table.as_dict()
    keys = zip(columns["column"], columns["contrast"], strict=True)
    numbers = zip(table.estimates, table.standard_errors, strict=True)
    return {
        (column.replace(".", "_"), contrast): pair
        for (column, contrast), pair in zip(keys, numbers, strict=True)
    }


@pytest.mark.parametrize("name", EFFECTS)
def test_effects(name):
    """The errors of marginaleffects are by differences of the coefficients."""
    known = EFFECTS[name]
    model, X, *_ = fit(CASES[name])
    for key, table in (
        ("slopes", slopes(model, X)),
        ("comparisons", comparisons(model, X)),
        ("at_mean", slopes(model, X, at="mean")),
    ):
        if (name, key) == ("warpbreaks, counts", "at_mean"):
            continue  # its levels are equally frequent
        found = read_effects(table)
        assert len(found) == len(known[key])
        for row in known[key]:
            estimate, error = found[row["column"], row["contrast"]]
            # Its slopes are by differences, too.
            check([estimate], [row["estimate"]], 5e-4 if key != "comparisons" else 1e-6)
            check([error], [row["error"]], 0.05 if key != "comparisons" else 5e-3)
    average = predictions(model, X)
    check(average.estimates, [row["estimate"] for row in known["prediction"]])
    check(average.standard_errors, [row["error"] for row in known["prediction"]], 2e-3)
    if "by" in known:
        by = known["by"].replace("_", ".") if "." in str(X.columns) else known["by"]
        by = by if by in X else known["by"]
        groups = predictions(model, X, by=by)
        order = groups.as_dict()[f"by: {by}"].tolist()
        rows = {row[known["by"]]: row for row in known["of_groups"]}
        for level, estimate, error in zip(
            order, groups.estimates, groups.standard_errors, strict=True
        ):
            check([estimate], [rows[level]["estimate"]])
            check([error], [rows[level]["error"]], 2e-3)


@pytest.mark.parametrize("name", [name for name in EFFECTS if "exact" in EFFECTS[name]])
def test_exact_slopes(name):
    model, X, *_ = fit(CASES[name])
    found = read_effects(slopes(model, X))
    for column, expected in EFFECTS[name]["exact"].items():
        check(found[column, "dY/dX"], expected, 2e-6)


@pytest.mark.parametrize("at", ["overall", "mean"])
def test_slopes_of_several_classes(at):
    case = CASES["birthwt"]
    X = read_table(case, ["age", "lwt"])
    model = LogisticRegression(tol=1e-10).fit(X, np.array(case["table"]["race"]))
    table = slopes(model, X, at=None if at == "overall" else "mean")
    found = table.as_dict()
    effects = np.array(PYTHON["multinomial"][at]["effects"])
    errors = np.array(PYTHON["multinomial"][at]["errors"])
    for place, column in enumerate(["age", "lwt"]):
        is_column = found["column"] == column
        check(table.estimates[is_column], effects[place], 5e-6)
        check(table.standard_errors[is_column], errors[place], 5e-6)
