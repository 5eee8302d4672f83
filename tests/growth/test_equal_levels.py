"""Levels of equal means where limits bind: their order of declaration says nothing."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.growth.mixed_tables import MixedCase
from tests.growth.partitioners import assert_close_trees

ESTIMATORS = [
    CARTClassifier(min_samples_leaf=6),
    CARTClassifier(criterion="entropy", min_samples_leaf=6),
    CARTClassifier(min_weight_fraction_leaf=0.35),
    CARTRegressor(min_samples_leaf=6),
    CARTRegressor(criterion="poisson", min_samples_leaf=6),
    RandomForestClassifier(1, bootstrap=False, max_features=None, min_samples_leaf=6),
    RandomForestRegressor(1, bootstrap=False, max_features=None, min_samples_leaf=6),
]


def make_rows():
    """A level of mean 0.25 and four rows, and three of mean 1 and 1, 2 and 10 rows."""
    levels = np.repeat(list("abcd"), [4, 1, 2, 10])
    y = np.ones(17)
    y[:3] = 0.0
    return levels, y


def get_tree(estimator):
    return getattr(estimator, "estimators_", [estimator])[0].tree_


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_declared_order(estimator):
    """The only divisions with six rows on both sides part levels of equal means."""
    levels, y = make_rows()
    found = set()
    for order in permutations("abcd"):
        X = pd.DataFrame({"level": pd.Categorical(levels, order)})
        tree = get_tree(estimator.fit(X, y))
        assert tree.node_count == 3
        predict = getattr(estimator, "predict_proba", estimator.predict)
        frame = pd.DataFrame({"level": pd.Categorical(list("abcd"), order)})
        found.add(predict(frame).tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("estimator", [CARTClassifier(), CARTRegressor()], ids=repr)
def test_levels_without_a_gain(estimator):
    """Dividing levels of equal means saves nothing; the missing rows save something."""
    levels = np.repeat(["a", "b", "c"], [2, 4, 6])
    y = np.r_[np.tile([0.0, 1.0], 6), np.ones(6)]
    found = set()
    for order in permutations("abc"):
        X = pd.DataFrame({"level": pd.Categorical([*levels, *[None] * 6], order)})
        estimator.set_params(missing="branch", max_depth=1).fit(X, y)
        found.add(estimator.tree_.n_node_samples.tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
@pytest.mark.parametrize("limit", ["rows", "weight"])
@pytest.mark.parametrize("n_rows", [40, 300])
def test_engines_agree(criterion, limit, n_rows):
    """A list of samples, and its small nodes, take the levels of sorted columns."""
    rng = np.random.default_rng(n_rows)
    is_classifier = criterion in ("gini", "entropy")
    for seed in range(20):
        X = rng.integers(0, 12, (n_rows, 3)).astype(float)
        X[rng.random(n_rows) < 0.1, 0] = np.nan
        y = X[:, 1:2] > rng.integers(0, 12)
        y ^= rng.random((n_rows, 1)) < 0.1
        y[0] = True  # Poisson needs one
        limits = {"min_samples_leaf": 7}
        if limit == "weight":
            limits = {"min_weight_leaf": 8.0}
        case = MixedCase(
            X,
            np.array([True, True, True]),
            y.astype(int if is_classifier else float),
            is_classifier,
            None,
            GrowthRules(criterion, max_features=2, shuffles_columns=True, **limits),
            None,
            seed,
        )
        assert_close_trees(case.grow("sorted-columns"), case.grow("sample-list"))
