"""例8.2 of 李航: a boosting tree of six rounds, and the forward stagewise algorithm."""

import numpy as np
import pytest

from sklearn_textbook.datasets import (
    load_adaboost_example,
    load_boosting_tree_example,
)
from sklearn_textbook.ensemble import BoostingTreeRegressor, fit_additive_model
from sklearn_textbook.ensemble.boosting.losses import ExponentialLoss
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.golden import get_example

# The book rounds leaves and residuals to two digits in every round.
ROUNDED = 0.015


def fit(n_rounds=6):
    X, y = load_boosting_tree_example(return_X_y=True)
    return BoostingTreeRegressor(n_estimators=n_rounds).fit(X, y), X, y


def list_trees(model):
    """Split, values of the two leaves, and loss of each round."""
    for member, loss in zip(model.estimators_, model.train_losses_, strict=True):
        assert member.get_n_leaves() == 2
        left, right = member.tree_.value[1:, 0, 0]
        yield {
            "split": float(member.tree_.threshold[0]),
            "left": float(left),
            "right": float(right),
            "loss": float(loss),
        }


def test_trees():
    """The splits, leaves and losses, exactly and as printed; the last loss is 0.17."""
    example = get_example("lihang.ex8.2.trees")
    model, _, _ = fit()
    found = list(list_trees(model))
    for tree, exact in zip(found, example["verified"]["value"], strict=True):
        assert tree == pytest.approx(exact, abs=1e-9)
    for tree, printed in zip(found, example["printed"], strict=True):
        assert tree == pytest.approx(printed, abs=ROUNDED)
    assert round(found[-1]["loss"], 2) == 0.17


def test_squared_errors_of_the_first_split():
    """m(s) of 表8.3: what each threshold of the first tree would leave."""
    example = get_example("lihang.ex8.2.m_s")
    _, X, y = fit()
    errors = {}
    for name in example["printed"]:
        rows = X[:, 0] <= float(name)
        parts = [part - part.mean() for part in (y[rows], y[~rows])]
        errors[name] = float(sum(part @ part for part in parts))
    assert errors == pytest.approx(example["verified"]["value"], abs=1e-9)
    assert errors == pytest.approx(example["printed"], abs=ROUNDED)
    best = min(errors, key=errors.get)
    model, _, _ = fit(1)
    assert model.estimators_[0].tree_.threshold[0] == float(best)
    assert model.train_losses_[0] == pytest.approx(errors[best])


def test_residuals():
    """r2 of 表8.4, and the residuals of all rounds."""
    example = get_example("lihang.ex8.2.T1")
    model, X, y = fit()
    table = model.compute_residual_table(X, y)
    assert table.shape == (7, 10)
    np.testing.assert_array_equal(table[0], y)
    exact = example["verified"]["value"]["residuals"]
    np.testing.assert_allclose(table[1], exact, atol=1e-9)
    np.testing.assert_allclose(table[1], example["printed"]["residuals"], atol=0.005)
    np.testing.assert_allclose(np.square(table[1:]).sum(axis=1), model.train_losses_)


@pytest.mark.parametrize(
    ("name", "n_rounds", "X"),
    [
        ("lihang.ex8.2.f2", 2, [[2.0], [5.0], [8.0]]),
        ("lihang.ex8.2.f6", 6, [[1.0], [3.0], [4.0], [6.0], [9.0]]),
    ],
)
def test_functions(name, n_rounds, X):
    """f2 and f6 on the pieces between the splits."""
    example = get_example(name)
    values = fit()[0].staged_predict(X)
    found = [stage for stage, _ in zip(values, range(n_rounds), strict=False)][-1]
    np.testing.assert_allclose(found, example["verified"]["value"], atol=1e-9)
    np.testing.assert_allclose(found, example["printed"], atol=ROUNDED)


def test_residual_fitting_is_forward_stagewise():
    """Algorithm 8.3 is algorithm 8.2 with the squared error: all coefficients are 1."""
    boosted, X, y = fit()
    model = fit_additive_model(CARTRegressor(max_depth=1), X, y, n_estimators=6)
    np.testing.assert_allclose(model.coefficients, 1.0, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), boosted.predict(X), atol=1e-12)
    np.testing.assert_allclose(model.losses, boosted.train_losses_ / 20, atol=1e-12)


def test_exponential_loss_is_adaboost():
    """Theorem 8.3, with the numbers of 例8.1."""
    X, y = load_adaboost_example(return_X_y=True)
    stump = CARTClassifier(criterion="error", max_depth=1)
    model = fit_additive_model(stump, X, y, loss=ExponentialLoss(), n_estimators=3)
    rounds = get_example("lihang.ex8.1.rounds")["verified"]["value"]
    thresholds = [float(member.tree_.threshold[0]) for member in model.estimators]
    assert thresholds == [each["threshold"] for each in rounds]
    alphas = [each["alpha"] for each in rounds]
    np.testing.assert_allclose(model.coefficients, alphas, atol=1e-9)
    stages = list(model.staged_scores(X))[1:]
    errors = [int((np.where(stage > 0, 1, -1) != y).sum()) for stage in stages]
    assert errors == [each["errors"] for each in rounds]
    expected = get_example("lihang.ex8.1.f")["verified"]["value"]
    np.testing.assert_allclose(model.compute_scores(X), expected["f3"], atol=1e-9)
    # The mean loss is the product of the normalising factors (theorem 8.1).
    np.testing.assert_allclose(model.losses, np.cumprod(expected["Z"]), atol=1e-9)
