"""Summaries of models with long names fit in a terminal of 80 columns."""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sklearn_textbook._contract.text_table import measure_width, shorten_names
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
)
from sklearn_textbook.linear_model.inference.coefficient_table import CoefficientTable
from sklearn_textbook.linear_model.inference.summary import (
    NAMES_ARE_CUT,
    format_column,
    tabulate_coefficients,
    write_table,
)

INCOME = "average_monthly_household_income_{}_taxes_in_euros"
LONG_CLASSES = [f"households of kind number {i} of the survey" for i in range(9)]


def make_table(n_rows=200):
    rng = np.random.default_rng(0)
    levels = ["no degree at all", "upper secondary education", "postgraduate degree"]
    table = pd.DataFrame(
        {
            INCOME.format("before"): rng.normal(size=n_rows) * 54321.0,
            INCOME.format("after"): rng.normal(size=n_rows) * 1e-6,
            "education_of_the_head": pd.Categorical(rng.choice(levels, n_rows)),
            "家庭平均每月税前收入与支出之差": rng.normal(size=n_rows),
            "x": rng.normal(size=n_rows),
        }
    )
    return table, table["x"] + rng.normal(size=n_rows)


def fit_models():
    table, y = make_table()
    double = table.assign(y=y, the_same_column_once_more_under_another_name=y)
    many = np.array(LONG_CLASSES)[np.arange(len(y)) % len(LONG_CLASSES)]
    return {
        "linear": (LinearRegression().fit(table, y), (table, y)),
        "ridge": (LinearRegression(alpha=1.0).fit(table, y), ()),
        "generalized": (
            GeneralizedLinearRegressor("gamma", link="log").fit(table, np.exp(y)),
            (),
        ),
        "two classes": (LogisticRegression().fit(table, y > 0), ()),
        "many classes": (LogisticRegression().fit(table, many), ()),
        "dependent": (LinearRegression().fit(double, y), ()),
    }


@pytest.fixture(scope="module")
def models():
    # The filters of the first test that asks for them would be in force otherwise.
    with warnings.catch_warnings(action="ignore"):
        return fit_models()


KINDS = ["linear", "ridge", "generalized", "two classes", "many classes", "dependent"]


@pytest.mark.parametrize("kind", KINDS)
def test_lines_fit(models, kind):
    model, rows = models[kind]
    lines = model.summary(*rows).splitlines()
    assert max(map(measure_width, lines)) <= 80
    note = (
        "Names are shortened (# is their number); coefficient_table_ has them in full."
    )
    assert note in lines
    whole = model.summary(*rows, width=None)
    assert NAMES_ARE_CUT not in whole
    assert INCOME.format("before") in whole
    table = model.coefficient_table_
    assert any(INCOME.format("before") in name for name in table.as_dict()["name"])
    # A row for each coefficient, with the same numbers or fewer digits of them.
    numbers = _list_rows(model.summary(*rows))
    assert len(numbers) >= 5
    for short, full in zip(numbers, _list_rows(whole), strict=True):
        # Decimals follow from the standard errors, which keep two digits.
        assert short == pytest.approx(full, rel=0.01, abs=0.05 * full[1])


def _list_rows(text):
    """The numbers of the rows of coefficients."""
    number = r"(-?\d\.?\d*(?:e[+-]\d+)?|-?\d+\.?\d*)"
    test = rf"(?:{number}|-)\s+(?:<2e-16|{number}|-)\s"  # "-" with a penalty
    row = re.compile(rf".*?\s+{number}\s+{number}\s+{test}")
    found = [row.match(line + " ") for line in text.splitlines()]
    return [[float(part or 0.0) for part in m.groups()[:3]] for m in found if m]


def test_classes_are_listed(models):
    text = " ".join(models["many classes"][0].summary().split())
    assert f"classes: {', '.join(LONG_CLASSES)}" in text


def test_short_names_are_as_they_were():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    model = LinearRegression().fit(X, X @ [1.0, 2.0] + rng.normal(size=30))
    assert model.summary() == model.summary(width=None)
    assert "shortened" not in model.summary()


@pytest.mark.parametrize(
    ("names", "room", "shown"),
    [
        (["abcdefghijkl", "x"], 9, ["abc...jkl", "x"]),
        (["abcdxxxxxghi", "abcdyyyyyghi"], 9, ["abcd...#1", "abcd...#2"]),
        (["家庭平均每月税前收入"], 11, ["家庭...收入"]),
        (["abcdefgh"], 8, ["abcdefgh"]),
        (["abcdefgh"], -3, ["a...h"]),
    ],
)
def test_shortened_names(names, room, shown):
    assert shorten_names(names, room) == shown


def test_numbers_give_way_to_names():
    def write(name):
        estimates = np.array([-1.23456e-5])
        table = CoefficientTable((name,), estimates, estimates * -1.1)
        return "\n".join(write_table(partial(tabulate_coefficients, table))[0])

    assert "-1.2346e-05" in write("x")
    assert "-1.235e-05" in write("a name that has very many letters")
    assert "a name ...etters " in write("a name that has very many letters")


@pytest.mark.parametrize(
    ("numbers", "scale", "shown"),
    [
        ([-334.567, 0.217, 5.6], None, ["-334.567", "0.217", "5.600"]),
        ([1.0, 2.5, np.nan], None, ["1.0", "2.5", "-"]),
        ([100.0, 20.0], None, ["100", "20"]),
        ([0.0, -0.0], None, ["0", "0"]),
        ([12.3456, 1e-9], 0.5, ["12.346", "0.000"]),
        ([12.345678, 1.2345678e-5], None, ["12.346", "1.2346e-05"]),
        ([2.170967812e7, 1556.2], None, ["21709678", "1556"]),
        ([1e300, 1.5, np.inf], None, ["1.0000e+300", "1.5", "inf"]),
        ([], None, []),
    ],
)
def test_numbers_of_a_column_have_the_same_decimals(numbers, scale, shown):
    assert format_column(numbers, scale=scale) == shown


@pytest.mark.parametrize(
    "model", [LinearRegression(), GeneralizedLinearRegressor("poisson")], ids=str
)
def test_a_penalty_leaves_no_tests(model):
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = np.exp(2.0 + X[:, 0]).round()
    plain = clone(model).fit(X, y).summary()
    assert "***" in plain
    assert "shrinks" not in plain
    model = clone(model).set_params(alpha=0.1).fit(X, y)
    table = model.coefficient_table_
    assert (table.standard_errors > 0).all()
    for numbers in (table.statistics, table.p_values, table.confidence_intervals):
        assert np.isnan(numbers).all()
    text = " ".join(model.summary().split())
    assert "*" not in text
    assert "do not include this bias: there are no tests, p-values and" in text
