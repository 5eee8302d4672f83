"""Monotonic constraints hold for rows that surrogate splits send."""

import numpy as np
import pytest

from sklearn_textbook.tree import CARTClassifier, CARTRegressor

SETTINGS = {"missing": "surrogate", "max_depth": 5, "min_samples_leaf": 5}


def make_linked_table(seed, sign):
    """Column 1 follows column 0, which has the constraint, in reverse."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(300, 3))
    X[:, 1] = 1.0 - X[:, 0] + 0.1 * rng.normal(size=300)
    y = sign * X[:, 0] + 3.0 * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=300)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("seed", range(5))
def test_rows_with_gaps_follow_the_constraint(seed, sign):
    X, y = make_linked_table(seed, sign)
    shown = np.linspace(0.0, 1.0, 101)
    for tree in (CARTRegressor(**SETTINGS), CARTClassifier(**SETTINGS)):
        is_classifier = isinstance(tree, CARTClassifier)
        tree.set_params(monotonic_cst=[sign, 0, 0])
        tree.fit(X, y > np.median(y) if is_classifier else y)
        assert len(tree.tree_.surrogates) > 0
        assert not (tree.tree_.surrogates["feature"] == 0).any()
        for others in ([np.nan, np.nan], [np.nan, 0.3], [0.3, np.nan], [0.3, 0.6]):
            table = np.column_stack([shown, np.tile(others, (101, 1))])
            values = (
                tree.predict_proba(table)[:, 1]
                if is_classifier
                else tree.predict(table)
            )
            assert (sign * np.diff(values) >= -1e-12).all()


def test_columns_with_a_constraint_may_have_surrogates():
    X, y = make_linked_table(0, 1)
    tree = CARTRegressor(**SETTINGS, monotonic_cst=[0, 1]).fit(X[:, :2], y)
    tested = tree.tree_.nodes["feature"][tree.tree_.surrogates["node"]]
    assert set(tested) == {1}
