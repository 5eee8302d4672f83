"""What smallest sizes measure: rows in CART, weight in ID3 and C4.5."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    ID3Classifier,
)

COUNT_ROWS = [
    CARTClassifier(),
    RandomForestClassifier(1, bootstrap=False, max_features=None),
]
MEASURE_WEIGHT = [
    C45Classifier(pruning=None, collapse=False, mdl_correction=False),
    C45Classifier(gain_ratio_rule="plain", mdl_correction=False, pruning=None),
    ID3Classifier(),
    RandomForestClassifier(
        1, criterion="gain_ratio", bootstrap=False, max_features=None
    ),
]


def make_rows(n_rows=64):
    X = np.arange(n_rows, dtype=float)[:, np.newaxis]
    return X, np.random.default_rng(0).integers(0, 2, n_rows)


def list_sizes(estimator):
    """Rows and weights of the leaves."""
    tree = getattr(estimator, "estimators_", [estimator])[0].tree_
    is_leaf = tree.children_left == -1
    return tree.n_node_samples[is_leaf], tree.weighted_n_node_samples[is_leaf]


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("estimator", COUNT_ROWS, ids=repr)
def test_rows(estimator, weight):
    X, y = make_rows()
    estimator = clone(estimator).set_params(min_samples_leaf=4)
    rows, weights = list_sizes(estimator.fit(X, y, np.full(len(y), weight)))
    assert rows.min() == 4
    assert weights.min() == 4 * weight


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("estimator", MEASURE_WEIGHT, ids=repr)
def test_weight(estimator, weight):
    X, y = make_rows()
    estimator = clone(estimator).set_params(min_samples_leaf=4)
    rows, weights = list_sizes(estimator.fit(X, y, np.full(len(y), weight)))
    assert weights.min() == 4
    assert rows.min() == 4 / weight


@pytest.mark.parametrize("parameter", ["min_samples_leaf", "min_samples_split"])
@pytest.mark.parametrize("estimator", MEASURE_WEIGHT, ids=repr)
def test_a_weight_of_two_is_two_rows(estimator, parameter):
    X, y = make_rows()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    estimator = clone(estimator).set_params(**{parameter: 7})
    weighted = list_sizes(clone(estimator).fit(X, y, weight))[1]
    repeated = list_sizes(estimator.fit(np.repeat(X, weight, 0), np.repeat(y, weight)))
    np.testing.assert_array_equal(weighted, repeated[0])


def test_rules_of_weighted_rows():
    X, y = make_rows()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    rules = C45RulesClassifier(min_samples_leaf=7)
    weighted = clone(rules).fit(X, y, weight).predict(X)
    repeated = rules.fit(np.repeat(X, weight, 0), np.repeat(y, weight)).predict(X)
    np.testing.assert_array_equal(weighted, repeated)
