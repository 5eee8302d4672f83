"""Models of formulas against R's lm, glm, anova and car.

``formula_r.json`` is written by ``formula_oracle.R``.
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
    from_formula,
)

pytest.importorskip("formulaic")
CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parent / "formula_r.json").read_text(encoding="utf-8")
    )["cases"]
}


def read_table(case, part):
    table = pd.DataFrame(case[part])
    for name, levels in (case["levels"] or {}).items():
        table[name] = pd.Categorical(table[name], categories=levels)
    return table


def fit(case):
    table = read_table(case, "train")
    if case["family"] == "lm":
        model = LinearRegression()
    elif case["family"] == "binomial":
        model = LogisticRegression(tol=1e-12)
        target = case["formula"].partition("~")[0].strip()
        table[target] = table[target].astype(int)
    else:
        model = GeneralizedLinearRegressor(family=case["family"], tol=1e-13)
    return from_formula(case["formula"], table, model), table


def respond(model, table):
    if isinstance(model, LogisticRegression):
        return model.predict_proba(table)[:, 1]
    return model.predict(table)


def check(found, expected, tolerance=1e-6):
    expected = np.array(expected, dtype=float)
    scale = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", CASES)
def test_coefficients_and_predictions(name):
    case = CASES[name]
    model, table = fit(case)
    wanted = np.array([np.nan if c is None else c for c in case["coef"]])
    found = np.ravel(model.coef_)
    if model.fit_intercept:
        found = np.append(np.ravel(model.intercept_), found)
    assert np.isfinite(wanted).all()
    check(found, wanted)
    check(respond(model, table), case["fitted"])
    check(respond(model, read_table(case, "new")), case["predicted"])
    assert model.log_likelihood_ == pytest.approx(case["log_likelihood"], rel=1e-8)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["type1", "type2", "type3", "wald2", "wald3"])
def test_tests_of_terms(name, kind):
    case = CASES[name]
    model, table = fit(case)
    target = case["formula"].partition("~")[0].strip()
    y = table.get(target)
    if y is None:
        y = {"log(uptake)": np.log, "sqrt(weight)": np.sqrt}[target](
            table[target.partition("(")[2][:-1]]
        )
    number = int(kind[-1])
    if kind.startswith("wald"):
        found = anova(model, type=number, test="wald")
    else:
        found = anova(model, table, y, type=number)
    table_of_r = dict(zip(case[kind]["terms"], case[kind]["values"], strict=True))
    names = {"".join(term.split()): term for term in table_of_r}
    own = found.as_dict()
    statistic = "F" if "F" in own else "chi2"
    n_compared = 0
    for place, term in enumerate(found.names):
        key = "".join(term.split()).replace("**", "^")
        if term == "residuals":
            continue
        line = [value for value in table_of_r[names[key]] if value is not None]
        free = next(value for value in line if float(value).is_integer() and value > 0)
        assert own["df"][place] == free
        check(own[statistic][place], _find_statistic(case, kind, line), 1e-6)
        check(own["p_value"][place], line[-1], 1e-5)
        n_compared += 1
    assert n_compared == len(case["terms"])


def _find_statistic(case, kind, line):
    """The statistic in a line of R."""
    if case["family"] == "lm":
        return line[-2]
    # Df, Deviance, Resid. Df, Resid. Dev, p; or LR chi2, Df, p; or Df, chi2, p
    if kind == "type1":
        return line[1]
    return line[0] if kind.startswith("type") else line[1]
