"""周志华《机器学习》, exercise 3.5: linear discriminants of watermelons 3.0α."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from tests.golden import get_example

EXAMPLE = get_example("zhou.ex3.5.lda")["verified"]["value"]


@pytest.fixture(scope="module", params=["svd", "lsqr", "eigen"])
def model(request):
    X, y = load_watermelon(version="3.0alpha", return_X_y=True)
    return LinearDiscriminantAnalysis(request.param).fit(X, y)


def test_centres(model):
    assert model.classes_.tolist() == ["否", "是"]
    assert_allclose(model.means_, [EXAMPLE["mu0"], EXAMPLE["mu1"]], atol=1e-9)


def test_within_scatter(model):
    assert_allclose(model.within_scatter_, EXAMPLE["Sw"], atol=1e-9)


def test_direction(model):
    direction = model.direction_
    assert_allclose(direction, EXAMPLE["w"], atol=1e-9)
    length = np.linalg.norm(direction)
    assert_allclose(direction / length, EXAMPLE["unit_w"], atol=1e-9)


def test_direction_solves_the_eigenproblem(model):
    """Formula 3.38: for two classes S_b w has the direction of the centres."""
    moved = model.between_scatter_ @ model.direction_
    offset = model.means_[0] - model.means_[1]
    assert_allclose(moved / moved[0], offset / offset[0], rtol=1e-12)
