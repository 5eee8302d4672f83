"""周志华《机器学习》, exercise 3.3: logistic regression of watermelons 3.0α."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.linear_model import LogisticRegression
from tests.golden import get_example

EXAMPLE = get_example("zhou.ex3.3.logistic")["verified"]["value"]


@pytest.fixture(scope="module", params=["newton", "gradient", "bfgs", "lbfgs"])
def model(request):
    X, y = load_watermelon(version="3.0alpha", return_X_y=True, as_frame=True)
    return LogisticRegression(solver=request.param, max_iter=5000).fit(X, y)


def test_coefficients(model):
    assert model.classes_.tolist() == ["否", "是"]
    found = dict(zip(model.feature_names_in_, model.coef_[0], strict=True))
    for name in ("密度", "含糖率"):
        assert_allclose(found[name], EXAMPLE[name], rtol=1e-6)
    assert_allclose(model.intercept_, EXAMPLE["intercept"], rtol=1e-6)


def test_likelihood(model):
    assert_allclose(model.log_likelihood_, EXAMPLE["log_likelihood"], atol=1e-9)


def test_training_rows(model):
    X, y = load_watermelon(version="3.0alpha", return_X_y=True, as_frame=True)
    wrong = np.flatnonzero(model.predict(X) != y) + 1
    assert wrong.tolist() == EXAMPLE["misclassified_ids"]
    assert_allclose(model.score(X, y), EXAMPLE["training_accuracy"], atol=1e-9)
