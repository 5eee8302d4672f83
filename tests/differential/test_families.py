"""Families of linear models and their diagnostics against R.

``families_r.json`` is written by ``families_oracle.R`` (MASS, car, brglm2).
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
    OrdinalRegression,
    anova,
    compare_models,
    variance_inflation,
)

FOLDER = Path(__file__).parent
FOUND = json.loads((FOLDER / "families_r.json").read_text())


def name_cases(kind):
    return [pytest.param(case, id=case["name"]) for case in FOUND[kind]]


def list_names(names):
    return [names] if isinstance(names, str) else list(names)


def read_table(case, columns):
    table = pd.DataFrame(case["table"])
    for name, levels in (case["levels"] or {}).items():
        table[name] = pd.Categorical(table[name], categories=levels)
    return table[list_names(columns)]


def check(found, expected, tolerance=1e-6):
    expected = np.array(expected, dtype=float)
    scale = np.nanmax(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


# ------------------------------------------------------------- negative binomial
def fit_counts(case, columns=None, **options):
    """Our model of a case, and what it was fitted with."""
    columns = case["columns"] if columns is None else columns
    X, y = read_table(case, columns), np.array(case["table"][case["target"]])
    known = {}
    if case["weights"]:
        known["sample_weight"] = np.array(case["table"][case["weights"]])
    if case["exposure"]:
        known["exposure"] = np.array(case["table"][case["exposure"]])
    link = "power" if case["link"] == "sqrt" else case["link"]
    model = GeneralizedLinearRegressor(
        "negative_binomial",
        link,
        link_power=0.5 if link == "power" else None,
        theta=case["given"] or "estimate",
        weight_type="variance",
        tol=1e-13,
        **options,
    )
    return model.fit(X, y, **known), X, y, known


@pytest.mark.parametrize("case", name_cases("counts"))
def test_negative_binomial_regressions(case):
    model, X, y, known = fit_counts(case)
    check(np.append(model.intercept_, model.coef_), case["coef"])
    errors = np.append(model.intercept_standard_error_, model.standard_errors_)
    check(errors, case["errors"])
    check(model.deviance_, case["deviance"])
    check(model.null_deviance_, case["null_deviance"])
    freedom = model.residual_degrees_of_freedom_, model.null_degrees_of_freedom_
    check(freedom, case["df"])
    if case["given"]:
        assert model.theta_ == case["given"]
        assert np.isnan(model.theta_standard_error_)
        return
    check(model.theta_, case["theta"])
    check(model.theta_standard_error_, case["theta_error"])
    check(model.log_likelihood_, case["log_likelihood"])
    check(model.aic_, case["aic"])
    # Theta is not estimated again: each column is added to those before it.
    table = anova(model, X, y, type=1, **known)
    rows = np.array(case["type1"], dtype=float)[1:]
    check(table.columns["df"][:-1], rows[:, 0])
    check(table.columns["deviance"][:-1], rows[:, 1])


@pytest.mark.parametrize(
    "case", [case for case in name_cases("counts") if "smaller" in case.values[0]]
)
def test_negative_binomial_models_are_compared_by_their_likelihoods(case):
    smaller = fit_counts(case, case["smaller"])[0]
    table = compare_models(smaller, fit_counts(case)[0])
    statistic, p_value = case["compared"]
    check(table.columns["chi2"][1], statistic)
    check(table.p_values[1], p_value)


# --------------------------------------------------------- influence and inflation


def fit_swayed(case, columns=None):
    X = read_table(case, case["columns"] if columns is None else columns)
    y = np.array(case["table"][case["target"]])
    weight = case["weights"] and np.array(case["table"][case["weights"]])
    known = {}
    if case["offset"]:
        known["offset"] = np.array(case["table"][case["offset"]])
    if case["family"] == "lm":
        model = LinearRegression(weight_type="variance")
    elif case["family"] == "binomial":
        model, y = LogisticRegression(tol=1e-10), y.astype(int)
    else:
        family = case["family"].lower()
        model = GeneralizedLinearRegressor(family, case["link"], tol=1e-13)
    return model.fit(X, y, weight, **known), X, y, weight, known


@pytest.mark.parametrize("case", name_cases("sways"))
def test_measures_of_influence(case):
    model, X, y, weight, known = fit_swayed(case)
    found = model.influence(X, y, weight, **known)
    check(found.leverage, case["hat"])
    check(found.standardized_residuals, case["rstandard"])
    check(found.studentized_residuals, case["rstudent"])
    check(found.cooks_distance, case["cooks"])
    check(found.dffits, case["dffits"])
    check(found.covariance_ratio, case["covratio"])
    check(found.dfbetas, case["dfbetas"])


@pytest.mark.parametrize("case", name_cases("sways"))
def test_variance_inflation(case):
    found = variance_inflation(fit_swayed(case)[0])
    expected = np.array(case["inflation"])
    columns = (found.factors, found.degrees_of_freedom, found.scaled_factors)
    check(np.column_stack(columns), expected)
    assert list(found.names) == case["columns"]


# ---------------------------------------------------------------- Firth's penalty
@pytest.mark.parametrize("case", name_cases("shrinks"))
def test_firths_penalty(case):
    X = read_table(case, case["columns"])
    y = np.array(case["table"][case["target"]]).astype(int)
    weight = case["weights"] and np.array(case["table"][case["weights"]])
    model = LogisticRegression(firth=True).fit(X, y, weight)
    check(np.append(model.intercept_, model.coef_), case["coef"])
    check(model.covariance_, case["vcov"])
    check(model.log_likelihood_, case["log_likelihood"])
    check(model.aic_, case["aic"])
    check(model.likelihood_ratio_test_.statistic, case["statistic"])
    check(model.profile_intervals(X, y, weight), case["profile"])


# --------------------------------------------------------------- ordered classes
@pytest.mark.parametrize("case", name_cases("ranked"))
def test_ordinal_regressions(case):
    X = read_table(case, case["columns"])
    y = np.array(case["table"][case["target"]])
    weight = case["weights"] and np.array(case["table"][case["weights"]])
    link = {"logistic": "logit"}.get(case["method"], case["method"])
    offset = case["offset"] and np.array(case["table"][case["offset"]])
    model = OrdinalRegression(link, class_order=case["classes"])
    model.fit(X, y, weight, offset=offset)
    check(model.coef_, case["coef"])
    check(model.thresholds_, case["zeta"])
    check(model.coefficient_table_.standard_errors, case["errors"])
    check(model.deviance_, case["deviance"])
    check(model.aic_, case["aic"])
    places = [model.classes_.tolist().index(label) for label in case["classes"]]
    check(model.predict_proba(X, offset=offset)[:20, places], case["fitted"])
    if "brant" in case:
        test = model.proportional_odds_test(X, y, weight)
        assert list(test.names) == [*case["columns"], "all"]
        check(test.columns["chi2"], case["brant"])


STATSMODELS = json.loads((FOLDER / "ordinal_statsmodels.json").read_text())


@pytest.mark.parametrize("name", STATSMODELS)
def test_ordinal_regressions_of_statsmodels(name):
    """``ordinal_statsmodels.json`` is written by ``ordinal_oracle.py``."""
    case = next(case for case in FOUND["ranked"] if case["name"] == name)
    expected = STATSMODELS[name]
    X = read_table(case, expected["columns"])
    y = pd.Categorical(case["table"][case["target"]], case["classes"], ordered=True)
    model = OrdinalRegression("probit" if "probit" in name else "logit").fit(X, y)
    check(model.coef_, expected["coef"])
    check(model.standard_errors_, expected["errors"])
    check(model.thresholds_, expected["thresholds"])
    check(model.log_likelihood_, expected["log_likelihood"])
    check(model.aic_, expected["aic"])
