"""The numbers of R's glmnet, as glmnet.json beside has them (glmnet_oracle.R)."""

import json
from pathlib import Path

import numpy as np
import pytest

from sklearn_textbook.linear_model import ElasticNet, ElasticNetClassifier

CASES = json.loads(Path(__file__).with_name("glmnet.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_coefficients_are_those_of_glmnet(case):
    options = {
        "alphas": case["alphas"],
        "l1_ratio": case["l1_ratio"],
        "standardize": case["standardize"],
        "fit_intercept": case["intercept"],
        "positive": case["positive"],
        "penalty_factors": case["factors"],
        "tol": 1e-18,
    }
    if case["family"] in ("binomial", "multinomial"):
        model = ElasticNetClassifier(case["alphas"][-1], **options)
    else:
        model = ElasticNet(case["alphas"][-1], family=case["family"], **options)
    model.fit(case["X"], case["y"], case["weights"], offset=case.get("offset"))
    coef = np.atleast_3d(model.coef_path_.T).T
    intercept = np.atleast_2d(model.intercept_path_)
    wanted = np.array(case["coefficients"])
    scale = np.std(case["X"], axis=0)[:, np.newaxis]
    np.testing.assert_allclose(coef * scale, wanted[:, 1:] * scale, atol=1e-6)
    if len(wanted) > 1:  # the same number may be added to all
        intercept = intercept - intercept.mean(axis=0)
        wanted = wanted - wanted.mean(axis=0)
    np.testing.assert_allclose(intercept, wanted[:, 0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        model.path_table_["deviance_ratio"], case["deviance_ratio"], atol=1e-8
    )


def test_there_are_ten_tables():
    assert len({case["name"] for case in CASES}) >= 10
