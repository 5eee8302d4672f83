"""scikit-learn's parameters of gradient boosting mean what they mean there."""

import numpy as np
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

#: scikit-learn's defaults.
LIMITS = {"max_depth": 3, "max_leaf_nodes": None, "min_samples_leaf": 1}


def make_rows(n_rows=300):
    random = np.random.default_rng(0)
    X = random.uniform(size=(n_rows, 5))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * random.normal(size=n_rows)
    return X, y, random.uniform(0.2, 3.0, n_rows)


def count_leaves(model):
    return [int(tree.get_n_leaves()) for tree in model.estimators_.ravel()]


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"ccp_alpha": 1e-3, "max_depth": 5},
        {"ccp_alpha": 1e-2, "max_depth": 5},
        {"ccp_alpha": 1e-2, "max_depth": None, "max_leaf_nodes": 12},
        {"min_weight_fraction_leaf": 0.07},
        {"min_weight_fraction_leaf": 0.04, "max_depth": 5, "ccp_alpha": 2e-3},
        {"min_impurity_decrease": 1e-2, "init": "zero"},
    ],
    ids=repr,
)
def test_trees_are_those_of_scikit_learn(parameters, is_weighted):
    X, y, weight = make_rows()
    weight = weight if is_weighted else None
    parameters = LIMITS | {"n_estimators": 10} | parameters
    stock = sklearn.ensemble.GradientBoostingRegressor(**parameters)
    if stock.criterion != "deprecated":
        # The default before 1.9 measures min_impurity_decrease in other units.
        stock.set_params(criterion="squared_error")
    stock.fit(X, y, weight)
    model = GradientBoostingRegressor(max_bins=None, **parameters).fit(X, y, weight)
    assert count_leaves(model) == count_leaves(stock)
    assert_allclose(model.predict(X), stock.predict(X), atol=1e-9)


@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("ccp_alpha", [1e-3, 1e-2])
def test_classes_are_pruned_by_the_variance_of_residuals(max_bins, ccp_alpha):
    """The first trees: those of later rounds come from other scores."""
    X, y, weight = make_rows(250)
    parameters = LIMITS | {"n_estimators": 1, "max_depth": 5}
    parameters["ccp_alpha"] = ccp_alpha
    stock = sklearn.ensemble.GradientBoostingClassifier(**parameters)
    stock.fit(X, y > 0.5, weight)
    model = GradientBoostingClassifier(max_bins=max_bins, **parameters)
    model.fit(X, y > 0.5, weight)
    assert count_leaves(model) == count_leaves(stock)
    assert_allclose(model.predict_proba(X), stock.predict_proba(X), atol=1e-9)


def test_rows_that_no_tree_was_grown_from_end_in_pruned_leaves():
    X, y, _ = make_rows()
    model = GradientBoostingRegressor(
        subsample=0.5,
        ccp_alpha=0.02,
        n_estimators=20,
        random_state=0,
        min_samples_leaf=2,
    ).fit(X, y)
    full = GradientBoostingRegressor(
        subsample=0.5, n_estimators=20, random_state=0, min_samples_leaf=2
    ).fit(X, y)
    assert sum(count_leaves(model)) < sum(count_leaves(full)) / 2
    # The losses are computed with the leaves that growth has found for each row.
    raw = model.predict(X)
    assert_allclose(model.train_score_[-1], 0.5 * np.mean((y - raw) ** 2))


def test_missing_values_and_levels_in_pruned_trees():
    X, y, _ = make_rows()
    X[::3, 0] = np.nan
    X[:, 3] = np.floor(4.0 * X[:, 3])
    model = GradientBoostingRegressor(
        ccp_alpha=0.01, n_estimators=15, min_samples_leaf=2, categorical_features=[3]
    ).fit(X, y)
    raw = model.predict(X)
    assert_allclose(model.train_score_[-1], 0.5 * np.mean((y - raw) ** 2))


def test_least_weight_of_leaves_counts_the_drawn_rows():
    X, y, _ = make_rows()
    for parameters in ({}, {"subsample": 0.5, "random_state": 0}):
        model = GradientBoostingClassifier(
            min_weight_fraction_leaf=0.1,
            n_estimators=5,
            min_samples_leaf=1,
            **parameters,
        ).fit(X, y > 0.5)
        least = 0.1 * 300 * parameters.get("subsample", 1.0)
        for tree in model.estimators_.ravel():
            grown = tree.tree_
            rows = grown.n_node_samples[grown.children_left == -1]
            assert rows.min() >= least


def test_least_weight_of_leaves_with_other_second_derivatives():
    X, y, weight = make_rows()
    parameters = {"min_weight_fraction_leaf": 0.1, "n_estimators": 2, "max_bins": None}
    model = GradientBoostingClassifier(**parameters)
    model.fit(X, y > 0.5, weight)
    for tree in model.estimators_.ravel():
        leaves = np.bincount(tree.apply(X), weight)
        assert leaves[leaves > 0].min() >= 0.1 * weight.sum()
        assert np.count_nonzero(leaves) > 1
    # Equal weights are numbers of rows, and rows of weight 0 are none.
    is_kept = np.arange(300) < 200
    other = GradientBoostingClassifier(**parameters)
    model.fit(X, y > 0.5, np.where(is_kept, 2.0, 0.0))
    other.fit(X[is_kept], y[is_kept] > 0.5)
    assert count_leaves(model) == count_leaves(other)


@pytest.mark.parametrize("criterion", ["friedman_mse", "squared_error"])
def test_criterion_is_deprecated_and_has_no_effect(criterion):
    X, y, _ = make_rows()
    plain = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    model = GradientBoostingRegressor(n_estimators=3, criterion=criterion)
    with pytest.warns(FutureWarning, match="'criterion' was deprecated"):
        model.fit(X, y)
    assert_array_equal(model.predict(X), plain.predict(X))


@pytest.mark.parametrize(
    "parameters",
    [
        {"criterion": "absolute_error"},
        {"ccp_alpha": -0.1},
        {"min_weight_fraction_leaf": 0.6},
    ],
    ids=repr,
)
def test_wrong_parameters(parameters):
    X, y, _ = make_rows()
    (name,) = parameters
    with pytest.raises(ValueError, match=f"The {name!r} parameter must be"):
        GradientBoostingRegressor(**parameters).fit(X, y)
