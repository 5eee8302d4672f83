"""Trees do not depend on the size of the weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from sklearn_textbook.ensemble import AdaBoostClassifier, RandomForestRegressor
from sklearn_textbook.tree import (
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
)

EXPONENTS = (-300, -250, -120, -80, 80, 120, 250, 300)
SAME = ("first_child", "feature", "kind", "threshold", "impurity", "improvement")


def make_weighted_rows(is_whole):
    X, y = load_breast_cancer(return_X_y=True)
    random = np.random.default_rng(0)
    X[random.random(X.shape) < 0.02] = np.nan
    weight = random.uniform(0.5, 2.0, len(y))
    return X, y, random.integers(0, 4, len(y)).astype(float) if is_whole else weight


def require_scaled(tree, base, exponent):
    """Require a tree whose only difference is the weights."""
    for name in SAME:
        np.testing.assert_array_equal(tree.nodes[name], base.nodes[name], name)
    factor = 2.0**exponent
    np.testing.assert_array_equal(tree.nodes["weight"], factor * base.nodes["weight"])
    factor = factor if tree.is_classifier else 1.0
    np.testing.assert_array_equal(tree.statistics, factor * base.statistics)


@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(),
        CARTClassifier(min_weight_fraction_leaf=0.05),
        CARTClassifier(max_leaf_nodes=6, missing="surrogate"),
        CARTClassifier(splitter="random", random_state=0, ccp_alpha=0.01),
        CARTClassifier(criterion="entropy", max_depth=4),
        CARTRegressor(),
        CARTRegressor(criterion="poisson", max_depth=4),
        CARTRegressor(criterion="absolute_error", max_depth=4),
        ObliqueTreeClassifier(max_depth=3, random_state=0),
    ],
    ids=repr,
)
def test_trees_are_the_same_for_any_size(estimator, is_whole):
    X, y, weight = make_weighted_rows(is_whole)
    base = estimator.fit(X, y, sample_weight=weight).tree_
    assert base.node_count > 1
    for exponent in EXPONENTS:
        estimator.fit(X, y, sample_weight=weight * 2.0**exponent)
        require_scaled(estimator.tree_, base, exponent)


def test_errors_of_boosting_are_the_same():
    X, y, weight = make_weighted_rows(False)
    model = AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=5)
    base = model.fit(X, y, sample_weight=weight).estimator_errors_
    for exponent in EXPONENTS:
        model.fit(X, y, sample_weight=weight * 2.0**exponent)
        np.testing.assert_allclose(model.estimator_errors_, base, rtol=1e-12)


def test_forests_are_the_same():
    X, y, weight = make_weighted_rows(False)
    model = RandomForestRegressor(n_estimators=4, random_state=0)
    base = model.fit(X, y, sample_weight=weight).predict(X)
    for exponent in EXPONENTS:
        model.fit(X, y, sample_weight=weight * 2.0**exponent)
        np.testing.assert_array_equal(model.predict(X), base)


@pytest.mark.filterwarnings("ignore:The weights of the")
def test_levels_are_smoothed_by_the_size_as_before():
    """Weights count rows where levels are smoothed, so only far sizes are alike."""
    random = np.random.default_rng(0)
    level = random.integers(0, 30, 500)
    X = pd.DataFrame({"level": np.char.mod("l%02d", level), "x": random.random(500)})
    y = (np.sin(level) + random.normal(size=500) > 0).astype(int)
    weight = random.uniform(0.5, 2.0, 500)
    tree = CARTClassifier(max_depth=4)
    for near, far in ((-90, -300), (90, 300)):
        base = tree.fit(X, y, sample_weight=weight * 2.0**near).tree_
        tree.fit(X, y, sample_weight=weight * 2.0**far)
        require_scaled(tree.tree_, base, far - near)
    tree.set_params(categorical_smoothing=0.0)
    base = tree.fit(X, y, sample_weight=weight).tree_
    for exponent in EXPONENTS:
        tree.fit(X, y, sample_weight=weight * 2.0**exponent)
        require_scaled(tree.tree_, base, exponent)
