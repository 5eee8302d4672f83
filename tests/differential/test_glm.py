"""The numbers of R's glm, as tests/data/glm.json has them.

glm.R made the file (R 4); where R is installed, it is made again and compared.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.linear_model import GeneralizedLinearRegressor

SCRIPT = Path(__file__).with_name("glm.R")
DATA = Path(__file__).parents[1] / "data" / "glm.json"
CASES = json.loads(DATA.read_text("utf-8"))
FAMILIES = {
    "gaussian": "gaussian",
    "Gamma": "gamma",
    "inverse.gaussian": "inverse_gaussian",
}
LINKS = {"sqrt": ("power", 0.5), "1/mu^2": ("power", -2.0)}


def read(values):
    """A list as an array; null is NaN, one number a scalar."""
    array = np.array([np.nan if value is None else value for value in values])
    return array if len(array) > 1 else array[0]


def fit_ours(case):
    """Our model of a case, and what its methods take."""
    table = pd.DataFrame(case["table"])
    link, exponent = LINKS.get(case["link"][0], (case["link"][0], None))
    family = case["family"][0]
    model = GeneralizedLinearRegressor(
        FAMILIES.get(family, family),
        link,
        link_power=exponent,
        weight_type="variance",
        dependent_columns="drop",
        tol=1e-15,
    )
    weights, offset = read(case["weights"]), read(case["offset"])
    rows = (table, read(case["y"]))
    options = {"offset": offset if offset.any() else None}
    if (weights != 1).any():
        options["sample_weight"] = weights
    return model.fit(*rows, **options), rows, options


@pytest.fixture(params=CASES, scope="module")
def fitted(request):
    case = CASES[request.param]
    return case, *fit_ours(case)


def test_coefficients(fitted):
    case, model, *_ = fitted
    expected, errors = read(case["coef"]), read(case["errors"])
    assert_allclose(model.intercept_, expected[0], rtol=1e-6)
    assert_allclose(model.coef_, np.nan_to_num(expected[1:]), rtol=1e-6, atol=1e-12)
    assert_allclose(model.intercept_standard_error_, errors[0], rtol=1e-6)
    assert_allclose(model.standard_errors_, errors[1:], rtol=1e-6)
    table = model.coefficient_table_
    p_values = table.p_values[~np.isnan(table.p_values)]
    assert_allclose(p_values, read(case["p_values"]), rtol=1e-5, atol=1e-100)


def test_measures(fitted):
    case, model, *_ = fitted
    assert model.rank_ + 1 == case["rank"][0]
    assert model.residual_degrees_of_freedom_ == case["df_residual"][0]
    assert model.null_degrees_of_freedom_ == case["df_null"][0]
    for name in ("deviance", "null_deviance", "dispersion"):
        assert_allclose(getattr(model, f"{name}_"), read(case[name]), rtol=1e-6)
    for name in ("log_likelihood", "aic", "bic"):
        assert_allclose(
            getattr(model, f"{name}_"), read(case[name]), rtol=1e-6, err_msg=name
        )


def test_deviance_table(fitted):
    case, model, rows, options = fitted
    test = "F" if case["test"] == ["F"] else "chi2"
    table = model.deviance_table(*rows, **options)
    assert table.test == test
    assert table.names[1:] == tuple(case["table"])
    scale = case["null_deviance"][0]
    for ours, theirs in (
        (table.deviances, "anova_deviance"),
        (table.residual_deviances, "anova_residual_deviance"),
    ):
        assert_allclose(ours, read(case[theirs]), rtol=1e-6, atol=1e-9 * scale)
    # R leaves the row of a column empty that uses no degree of freedom.
    assert_allclose(np.nan_to_num(table.degrees_of_freedom),
                    np.nan_to_num(read(case["anova_df"])))  # fmt: skip
    assert_allclose(table.residual_degrees_of_freedom, read(case["anova_residual_df"]))
    has_test = table.degrees_of_freedom > 0
    assert_allclose(
        table.p_values[has_test], read(case["anova_p"])[has_test], rtol=1e-5, atol=1e-99
    )


def test_rows(fitted):
    case, model, rows, options = fitted
    mean = model.predict(rows[0], offset=options["offset"])
    assert_allclose(mean, read(case["fitted"]), rtol=1e-6)
    for kind in ("deviance", "pearson", "working", "response"):
        expected = read(case[f"residuals_{kind}"])
        found = model.residuals(*rows, kind=kind, **options)
        size = np.abs(expected).max()
        assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * size, err_msg=kind)
    found = model.leverage(rows[0], **options)
    assert_allclose(found, read(case["leverage"]), rtol=1e-6, atol=1e-9)
    assert_allclose(found.sum(), 1 + model.rank_)


def test_influence_and_errors_of_means(fitted):
    case, model, rows, options = fitted
    influence = model.influence(*rows, **options)
    offset = options["offset"]
    for found, name in (
        (influence.standardized_residuals, "standardized"),
        (influence.standardized_pearson_residuals, "standardized_pearson"),
        (influence.cooks_distance, "cook"),
        (model.predict_linear(rows[0], True, offset=offset)[1], "link_errors"),
        (model.predict(rows[0], True, offset=offset)[1], "mean_errors"),
    ):
        expected = read(case[name])
        if np.isnan(expected).all():
            continue
        size = np.nanmax(np.abs(expected))
        assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * size, err_msg=name)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")
def test_file_is_what_the_script_makes():
    command = ["Rscript", "--vanilla", str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    made = json.loads(done.stdout)
    assert made.keys() == CASES.keys()
    for name, case in made.items():
        for key in ("coef", "errors", "deviance", "aic", "anova_p", "leverage"):
            assert_allclose(read(case[key]), read(CASES[name][key]), rtol=1e-5)
