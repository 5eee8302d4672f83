"""李航《统计学习方法》, example and exercise 8.1: AdaBoost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_textbook.datasets import load_adaboost_example, load_recruitment
from sklearn_textbook.ensemble import AdaBoostClassifier
from tests.golden import get_example


def get_value(name):
    return get_example(f"lihang.{name}")["verified"]["value"]


@pytest.fixture(scope="module")
def example():
    X, y = load_adaboost_example(return_X_y=True)
    return X, y, AdaBoostClassifier(n_estimators=3, store_weights=True).fit(X, y)


def test_rounds(example):
    X, y, model = example
    rounds = get_value("ex8.1.rounds")
    for number, (wanted, stump) in enumerate(zip(rounds, model, strict=True)):
        # Of the two stumps that are equal in the first round, the book takes ours.
        assert stump.tree_.threshold[0] == wanted["threshold"]
        assert stump.predict(X[:1])[0] == wanted["left_label"]
        assert_allclose(model.estimator_errors_[number], wanted["e"], atol=1e-9)
        assert_allclose(model.estimator_weights_[number], wanted["alpha"], atol=1e-9)
    wrong = [np.sum(predicted != y) for predicted in model.staged_predict(X)]
    assert wrong == [one["errors"] for one in rounds] == [3, 3, 0]


@pytest.mark.parametrize("number", [2, 3, 4])
def test_weights(example, number):
    weights = example[2].sample_weights_[number - 1]
    assert_allclose(weights, get_value(f"ex8.1.D{number}"), atol=1e-9)
    printed = get_example(f"lihang.ex8.1.D{number}")
    tolerance = printed["verified"]["tolerance_covering_printed"]
    assert_allclose(weights, printed["printed"], atol=1.01 * tolerance)


def test_additive_model(example):
    X, y, model = example
    wanted = get_value("ex8.1.f")
    decisions = list(model.staged_decision_function(X))
    for number, found in enumerate(decisions, 1):
        assert_allclose(found, wanted[f"f{number}"], atol=1e-9)
    assert_array_equal(np.sign(decisions[-1]), wanted["signs"])
    assert_array_equal(model.predict(X), y)
    assert_allclose(model.normalizers_, wanted["Z"], atol=1e-9)
    assert_allclose(model.error_bounds_[-1], wanted["prod_Z"], atol=1e-9)
    # Theorem 8.1: the product is the mean exponential loss.
    assert_allclose(np.mean(np.exp(-y * decisions[-1])), wanted["prod_Z"], atol=1e-9)


def test_fourth_round_would_be_perfect_or_go_on(example):
    X, y, three = example
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    assert_array_equal(model.estimator_weights_[:3], three.estimator_weights_)
    assert model.score(X, y) == 1.0
    assert model.margins(X, y).min() > three.margins(X, y).min() > 0


def test_recruitment():
    X, y = load_recruitment(return_X_y=True, as_frame=True)
    assert sorted(set(y)) == [-1, 1]
    values = get_value("exercise8.1.first_round")
    # The constant -1 is wrong in 2 of 10 rows, every stump of two leaves in 3 or more:
    # it is taken first, and the best of those afterwards.
    model = AdaBoostClassifier(n_estimators=6, store_weights=True).fit(X, y)
    first, second = model[0].tree_, model[1].tree_
    assert first.node_count == 1
    assert_allclose(model.estimator_errors_[0], 0.2, atol=1e-12)
    assert min(values["errors"].values()) == values["best"] == 0.3
    (best,) = values["tied"]
    name, _, rest = best.partition("<")
    weights = model.sample_weights_[1]
    assert_allclose(weights[np.asarray(y) == 1].sum(), 0.5)
    wrong = weights[model[1].predict(X) != y].sum()
    assert_allclose(model.estimator_errors_[1], wrong, atol=1e-12)
    assert second.node_count == 3
    threshold = float(rest.partition(":")[0])
    candidate = np.where(np.asarray(X[name]) < threshold, 1, -1)
    assert wrong <= weights[candidate != y].sum() + 1e-12
    assert model.score(X, y) == 1.0
