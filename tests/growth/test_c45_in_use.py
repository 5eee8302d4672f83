"""ID3 and C4.5 where their users put them: pipelines, searches, ensembles, frames."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline

from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    ErrorBasedPruning,
    ID3Classifier,
)


@pytest.fixture(scope="module")
def loans():
    """Strings, numbers and nulls; the class follows two columns, but for noise."""
    rng = np.random.default_rng(0)
    n = 400
    job = rng.choice(["clerk", "farmer", "pilot", "none"], n)
    house = rng.choice(["own", "rent"], n)
    age = rng.integers(18, 80, n)
    granted = (house == "own") | ((job == "pilot") & (age > 30))
    granted ^= rng.random(n) < 0.1

    def hide(values):
        return [None if rng.random() < 0.1 else v for v in values.tolist()]

    frame = pl.DataFrame({"job": hide(job), "house": hide(house), "age": hide(age)})
    return frame, np.where(granted, "yes", "no")


@pytest.mark.parametrize("pruning", ["error_based", ErrorBasedPruning()])
def test_search_over_the_confidence(loans, pruning):
    X, y = loans
    pipeline = Pipeline([("tree", C45Classifier(pruning=pruning))])
    grid = {"tree__pruning__confidence": [0.01, 0.1, 0.25, 0.5]}
    search = GridSearchCV(pipeline, grid, cv=5).fit(X, y)
    best = search.best_estimator_["tree"]
    assert isinstance(best.pruning, ErrorBasedPruning)
    expected = search.best_params_["tree__pruning__confidence"]
    assert best.pruning.confidence == expected
    assert search.best_score_ > 0.75
    # The parameter has an effect, and the given estimator is left alone.
    sizes = [
        clone(pipeline).set_params(tree__pruning__confidence=c).fit(X, y)["tree"].tree_
        for c in (0.01, 0.9)
    ]
    assert sizes[0].node_count < sizes[1].node_count
    assert pipeline["tree"].pruning is pruning


@pytest.mark.parametrize("estimator", [C45Classifier(), ID3Classifier(min_gain=0.02)])
def test_nulls_at_prediction(loans, estimator):
    """A row without any value gets the distribution of all."""
    X, y = loans
    estimator = clone(estimator).fit(X, y)
    nothing = pl.DataFrame({name: [None] for name in X.columns}, schema=X.schema)
    shares = estimator.predict_proba(nothing)
    assert shares[0] == pytest.approx([np.mean(y == "no"), np.mean(y == "yes")])
    predicted = cross_val_predict(estimator, X, y, cv=5)
    assert np.mean(predicted == y) > 0.75


def test_members_of_scikit_learns_ensembles(loans):
    X, y = loans
    numbers = X.with_columns(
        pl.col("job", "house").cast(pl.Categorical).to_physical()
    ).to_numpy()
    bagging = BaggingClassifier(C45Classifier(), n_estimators=5, random_state=0)
    voting = VotingClassifier([("c45", C45Classifier()), ("id3", ID3Classifier())])
    for ensemble in (bagging, voting):
        assert ensemble.fit(numbers, y).score(numbers, y) > 0.8


def test_copies(loans):
    X, y = loans
    estimator = C45Classifier().fit(X, y)
    copy = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(copy.predict_proba(X), estimator.predict_proba(X))
    assert clone(estimator).get_params() == estimator.get_params()


def test_pipeline_of_numbers():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(300, 3)), np.ones(300)])
    y = X[:, 0] > 0.3
    pipeline = make_pipeline(VarianceThreshold(), C45Classifier()).fit(X, y)
    assert pipeline[-1].n_features_in_ == 3
    assert pipeline.score(X, y) > 0.97


def test_more_levels_than_two_bytes_can_number():
    """70,000 declared levels, of which few occur."""
    rng = np.random.default_rng(2)
    names = [f"level {code}" for code in range(70_000)]
    codes = rng.choice([5, 66_000, 69_999], 60)
    X = pd.DataFrame({"place": pd.Categorical.from_codes(codes, names)})
    y = codes == 66_000
    tree = C45Classifier(categorical_split="one_vs_rest").fit(X, y).tree_
    assert tree.node_count == 3
    assert tree.read_level_map(tree.nodes[0])[66_000] == 0
    groups = C45Classifier(categorical_split="subset").fit(X, y)
    assert groups.score(X, y) == 1.0
    # Beside others, a column of so many levels does not count in the average.
    assert C45Classifier().fit(X.assign(noise=rng.normal(size=60)), y).get_depth() == 0
    many = ID3Classifier().fit(X, y)
    assert many.tree_.node_count == 70_001
    assert many.score(X, y) == 1.0


def test_groups_of_levels_join_what_behaves_alike():
    """Six levels, two kinds: the merging of pairs finds the two groups."""
    X = np.repeat(list("abcdef"), 20).reshape(-1, 1)
    y = np.repeat([0, 1, 0, 1, 1, 0], 20)
    y[::20] = 1 - y[::20]
    tree = C45Classifier(categorical_split="subset").fit(X, y).tree_
    assert tree.node_count == 3
    assert tree.read_level_map(tree.nodes[0]).tolist() == [0, 1, 0, 1, 1, 0]


def test_laplace_pulls_shares_to_the_middle(loans):
    X, y = loans
    complete = X.drop_nulls()
    plain, smooth = (
        C45Classifier(laplace=laplace).fit(X, y).predict_proba(complete)
        for laplace in (False, True)
    )
    assert (np.abs(smooth - 0.5) < np.abs(plain - 0.5) + 1e-12).all()
    assert smooth.min() > 0.0


def test_class_weight_is_a_weight_of_rows(loans):
    X, y = loans
    weighted = C45Classifier(class_weight={"yes": 2.0}).fit(X, y)
    by_rows = C45Classifier().fit(X, y, sample_weight=np.where(y == "yes", 2.0, 1.0))
    assert weighted.tree_.nodes.tobytes() == by_rows.tree_.nodes.tobytes()


def test_sparse_table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.4) + 0.0
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    dense = C45Classifier().fit(X, y)
    for convert in (sparse.csr_array, sparse.csc_matrix):
        tree = C45Classifier().fit(convert(X), y)
        assert tree.tree_.nodes.tobytes() == dense.tree_.nodes.tobytes()
        np.testing.assert_array_equal(tree.predict(convert(X)), dense.predict(X))


def test_smaller_minimum_gives_larger_trees(loans):
    X, y = loans
    sizes = [
        C45Classifier(min_samples_leaf=m, pruning=None).fit(X, y).tree_.node_count
        for m in (1, 5, 20, 80)
    ]
    assert all(large >= small for large, small in pairwise(sizes))
    assert sizes[0] > sizes[-1]


# ------------------------------------------------------------------------ bad weights
def test_weights_too_light_for_any_test():
    """Boosting passes weights that sum to 1; that the tree is a leaf must be said."""
    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20) > 9
    with pytest.warns(UserWarning, match="sum to 1, but a test requires"):
        light = C45Classifier().fit(X, y, sample_weight=np.full(20, 0.05))
    assert light.get_depth() == 0
    assert C45Classifier().fit(X, y, sample_weight=np.full(20, 1.0)).get_depth() == 1
    # Below so many rows no test would do anyway.
    C45Classifier().fit(X[9:12], y[9:12], sample_weight=[0.1, 0.1, 0.1])


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("estimator", [C45Classifier, ID3Classifier, CARTClassifier])
def test_class_weights_that_are_none(estimator, weight):
    with pytest.raises(ValueError, match="'class_weight' parameter .* for class 0"):
        estimator(class_weight={0: weight, 1: 1}).fit([[0.0], [1.0]], [0, 1])


def test_no_weight_left():
    estimator = C45Classifier(class_weight={0: 0, 1: 1})
    with pytest.raises(ValueError, match="must be positive and finite"):
        estimator.fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 0])
    with pytest.raises(ValueError, match="too large"):
        C45Classifier().fit([[0.0], [1.0]], [0, 1], sample_weight=[1e308, 1e308])


def test_no_pruner_no_parameters_of_it():
    with pytest.raises(ValueError, match="'pruning__confidence'.*'pruning' is None"):
        C45Classifier(pruning=None).set_params(pruning__confidence=0.1)


def test_fractions_are_not_split_for_ever():
    """Half of the cells missing: parts of rows reach most nodes."""
    rng = np.random.default_rng(0)
    X = rng.random((1000, 5))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.3) ^ (rng.random(1000) < 0.1)
    X[rng.random(X.shape) < 0.5] = np.nan
    tree = ID3Classifier().fit(X, y).tree_
    assert tree.node_count < 10_000
    inner = tree.nodes[~tree.is_leaf]
    assert inner["weight"].min() >= 1 - 1e-6


def test_groups_of_many_levels():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 120, (2000, 1)).astype(str)
    y = (X[:, 0].astype(int) % 3 == 0) ^ (rng.random(2000) < 0.05)
    tree = C45Classifier(categorical_split="subset").fit(X, y).tree_
    assert tree.nodes["n_children"][0] == 2
    # More levels than are grouped in a node: no test.
    X = np.arange(3000).astype(str).reshape(-1, 1)
    estimator = C45Classifier(categorical_split="subset", min_samples_leaf=1)
    with pytest.warns(UserWarning, match="identifies the rows"):
        estimator.fit(X, np.arange(3000) % 2)
    assert estimator.get_depth() == 0
