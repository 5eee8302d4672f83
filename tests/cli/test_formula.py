"""Formulas on the command line: fit, anova."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.io import load_model
from sklearn_textbook.linear_model import LinearRegression, anova, from_formula

pytest.importorskip("formulaic")
PENGUINS = Path(__file__).parents[1] / "data" / "penguins.csv"
FORMULA = "body_mass_g ~ species * sex + flipper_length_mm"


def read_penguins(columns):
    frame = pd.read_csv(PENGUINS)
    return frame[columns].dropna()


def test_fit_with_a_formula(command):
    text = command(
        *("fit", PENGUINS, "--formula", FORMULA, "--robust", "HC3", "--cv", 2),
        *("--set", "missing=drop", "--save", "m.json", "--report", "r.html"),
    )
    used = read_penguins(["body_mass_g", "species", "sex", "flipper_length_mm"])
    model = from_formula(FORMULA, used, LinearRegression(covariance_type="HC3"))
    saved = load_model("m.json")
    np.testing.assert_allclose(saved.coef_, model.coef_)
    np.testing.assert_allclose(saved.standard_errors_, model.standard_errors_)
    # Columns that the formula does not name are not in the output.
    assert "island" not in text
    assert "standard errors:" in text
    tests = text[text.index("tests of terms") :]
    for line in str(anova(model)).splitlines():
        assert line.strip() in tests
    page = Path("r.html").read_text(encoding="utf-8")
    assert "tests of terms" in page.lower()
    assert "species:sex" in page
    predicted = command("predict", "m.json", PENGUINS, "--id", "island")
    assert predicted.count("\n") == 345
    assert "9 rows with missing values: no prediction" in command.errors
    assert "tests of terms" in command("show", "m.json")


def test_classes_choose_logistic_regression(command):
    text = command("fit", PENGUINS, "--formula", "species ~ year", "--cv", 0)
    assert "LogisticRegression" in text
    assert "tests of terms" in text
    text = command("anova", PENGUINS, "--formula", "island ~ year")
    assert "chi2" in text


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_anova(command, kind):
    options = ("--type", kind, "--set", "missing=drop")
    text = command("anova", PENGUINS, "--formula", FORMULA, *options)
    used = read_penguins(["body_mass_g", "species", "sex", "flipper_length_mm"])
    model = from_formula(FORMULA, used)
    found = anova(model, used, used.body_mass_g, type=kind)
    assert str(found).splitlines()[1] in text


def test_nested_formulas(command):
    formulas = ("--formula", "body_mass_g ~ species", "--formula", "species * year")
    text = command("anova", PENGUINS, *formulas)
    assert "comparison of models" in text
    assert "model 2: body_mass_g ~ species * year" in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--formula", "log(body_mass_g) ~ sex"), 2, "target must be a column"),
        (("--formula", "body_mass_g ~ sex", "--target", "year"), 2, "has the target"),
        (("--formula", "body_mass_g ~ wing"), 5, "'wing', which is no column"),
        (("--formula", "body_mass_g ~ sex +"), 5, "cannot be read"),
        (("--formula", "body_mass_g ~ sex"), 5, "missing"),
        (("--formula", "body_mass_g ~ year", "--type", 4), 2, "--type"),
        (("--formula", "body_mass_g ~ year", "--robust", "HC9"), 2, "HC9"),
        (("--formula", "year"), 2, "--target"),
    ],
)
def test_wrong_use(command, arguments, code, message):
    assert message in command("anova", PENGUINS, *arguments, code=code)


def test_robust_errors_of_other_algorithms(command):
    arguments = ("--target", "species", "--algorithm", "cart", "--robust", "HC3")
    error = command("fit", PENGUINS, *arguments, code=2)
    assert "covariance_type" in error


def test_formulas_of_tables_in_blocks(command):
    text = command(
        *("fit", PENGUINS, "--formula", "body_mass_g ~ species * year"),
        *("--memory", "1GiB", "--save", "m.json"),
    )
    assert "species=Gentoo:year" in text
