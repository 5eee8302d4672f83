"""Forests of oblique trees."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import cross_val_score

from sklearn_textbook.ensemble import (
    ObliqueRandomForestClassifier,
    ObliqueRandomForestRegressor,
    RandomForestClassifier,
)
from sklearn_textbook.tree import ObliqueTreeClassifier


def make_rotated(n, rng):
    """Classes that are divided along no column."""
    X = rng.normal(size=(n, 10))
    y = (X @ np.ones(10) + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y


def test_members_are_oblique_trees_with_the_forest_s_parameters():
    X, y = load_iris(return_X_y=True)
    forest = ObliqueRandomForestClassifier(
        5, direction="lda", ridge=0.1, max_features=2, random_state=0
    ).fit(X, y)
    for member in forest.estimators_:
        assert type(member) is ObliqueTreeClassifier
        assert (member.direction, member.ridge) == ("lda", 0.1)
        assert member.max_features_ == 2
        assert np.bincount(member.tree_.terms["node"]).max() <= 2
    assert np.array_equal(
        forest.predict_proba(X),
        np.mean([member.predict_proba(X) for member in forest.estimators_], axis=0),
    )


def test_better_than_a_forest_of_single_columns_where_classes_divide_obliquely():
    X, y = make_rotated(600, np.random.default_rng(0))
    oblique = ObliqueRandomForestClassifier(40, random_state=0)
    axis = RandomForestClassifier(40, random_state=0)
    scores = [cross_val_score(model, X, y, cv=4).mean() for model in (oblique, axis)]
    assert scores[0] > scores[1] + 0.02


@pytest.mark.parametrize("bootstrap", [True, False])
def test_seeds_threads_and_copies(bootstrap):
    X, y = make_rotated(300, np.random.default_rng(1))
    forests = [
        ObliqueRandomForestClassifier(
            6, random_state=seed, n_jobs=n_jobs, bootstrap=bootstrap
        ).fit(X, y)
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    ]
    probabilities = [forest.predict_proba(X) for forest in forests]
    assert np.array_equal(probabilities[0], probabilities[1])
    terms = [forest.estimators_[0].tree_.terms for forest in forests]
    assert terms[0].tobytes() == terms[1].tobytes()
    assert terms[0].tobytes() != terms[2].tobytes()
    copy = pickle.loads(pickle.dumps(forests[0]))
    assert np.array_equal(copy.predict_proba(X), probabilities[0])


def test_warm_start_and_large_trees():
    # Trees of more than 4096 nodes are kept in their compact form.
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12000, 3))
    y = rng.integers(0, 2, len(X))
    forest = ObliqueRandomForestClassifier(
        2, random_state=0, warm_start=True, n_directions=1
    ).fit(X, y)
    tree = forest.estimators_[0].tree_
    assert tree.is_compact
    forest.set_params(n_estimators=3).fit(X, y)
    whole = clone(forest).set_params(warm_start=False).fit(X, y)
    assert np.array_equal(forest.predict_proba(X[:50]), whole.predict_proba(X[:50]))
    of_members = [member.predict_proba(X[:50]) for member in whole.estimators_]
    assert np.allclose(whole.predict_proba(X[:50]), np.mean(of_members, axis=0))


def test_text_gaps_and_weights_as_they_come():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(3)
    X = X.mask(rng.random(X.shape) < 0.1)
    X["sex"] = np.where(X["sex"] > 0, "f", "m")
    X.loc[::9, "sex"] = None
    weight = rng.choice([0.0, 1.0, 2.5], len(X))
    forest = ObliqueRandomForestRegressor(40, random_state=0, oob_score=True)
    forest.fit(X, y, sample_weight=weight)
    assert forest.oob_score_ > 0.25
    assert any(
        (member.tree_.terms["level"] >= 0).any() for member in forest.estimators_
    )
    new = pd.concat([X[:3], X[:1].assign(sex="x")])
    assert np.isfinite(forest.predict(new)).all()
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"direction": "pca"}, "'direction' parameter must be"),
        ({"missing": "learned"}, "'missing' parameter must be"),
        ({"criterion": "error"}, "'criterion' parameter must be"),
        ({"n_directions": 0}, "'n_directions' parameter must be"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        ObliqueRandomForestClassifier(2, **parameters).fit([[0.0], [1.0]], [0, 1])
