"""Proximities and permutation importances of forests against plain loops."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.inspection import permutation_importance

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    compute_proximities,
)
from sklearn_textbook.ensemble.forest import permutation_importances as permuting
from sklearn_textbook.ensemble.forest import proximities
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.members import read_matrix
from tests.reference.forest_measures import (
    list_out_of_bag,
    measure_importances,
    measure_proximities,
)


def make_table(seed=0, n_rows=50, missing=0.1):
    """Numbers with gaps; the first two columns decide, the last one is constant."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 5)).round(1)
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int) + (X[:, 0] > 1)
    X[random.random(X.shape) < missing] = np.nan
    X[:, 4] = 1
    return X, y


def make_forest(kind, **parameters):
    return kind(**{"n_estimators": 8, "random_state": 0, "n_jobs": 1, **parameters})


# -------------------------------------------------------------------- proximities


@pytest.mark.parametrize(
    "forest",
    [
        make_forest(RandomForestClassifier),
        make_forest(RandomForestClassifier, missing="branch", max_depth=3),
        make_forest(RandomForestClassifier, missing="surrogate", max_leaf_nodes=6),
        make_forest(RandomForestClassifier, criterion="gain_ratio"),
        make_forest(RandomForestRegressor, min_samples_leaf=3),
        make_forest(ExtraTreesClassifier, bootstrap=True),
    ],
    ids=["learned", "branch", "surrogate", "fractional", "regression", "extra"],
)
def test_proximities_are_those_of_a_double_loop(forest):
    X, y = make_table()
    new, _ = make_table(1, 30, missing=0.3)
    forest = clone(forest).fit(X, y)
    for table, others in ((X, None), (X, new), (new, X), (new, None)):
        expected = measure_proximities(forest, table, others)
        found = forest.proximities(table, others)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        thin = forest.proximities(table, others, dense=False)
        assert sparse.issparse(thin)
        assert thin.has_canonical_format
        np.testing.assert_allclose(thin.toarray(), expected, atol=1e-12)
    expected = measure_proximities(forest, X, out_of_bag=True)
    for dense in (True, False):
        found = compute_proximities(forest, X, out_of_bag=True, dense=dense)
        found = found if dense else found.toarray()
        np.testing.assert_allclose(found, expected, atol=1e-12)
    # The cases are worth their names.
    assert 0 < expected.mean() < 1
    assert (expected != measure_proximities(forest, X)).any()


def test_rows_that_stay_in_an_inner_node_share_it():
    random = np.random.default_rng(0)
    colours = random.choice(["red", "green", "blue", "grey"], 60)
    X = pd.DataFrame({"colour": colours, "size": random.normal(size=60)})
    y = np.isin(colours, ["red", "green"]) ^ (X["size"] > 0)
    forest = make_forest(RandomForestClassifier).fit(X, y)
    new = X[:30].assign(colour="violet")
    is_inner = [
        tree.tree_.nodes["n_children"][ends] > 0
        for tree, ends in zip(forest, forest.apply(new).T, strict=True)
    ]
    assert np.any(is_inner)
    matrix = read_matrix(forest, new, forest[0])
    expected = measure_proximities(forest, matrix)
    np.testing.assert_allclose(forest.proximities(new), expected)


def test_a_divided_row_has_proximity_1_to_itself_alone():
    X, y = make_table()
    forest = make_forest(RandomForestClassifier, criterion="gain_ratio").fit(X, y)
    assert np.diagonal(forest.proximities(X, X)).min() < 0.9
    np.testing.assert_array_equal(np.diagonal(forest.proximities(X)), 1)


def test_proximities_in_blocks(monkeypatch):
    X, y = make_table()
    forest = make_forest(RandomForestClassifier).fit(X, y)
    expected = forest.proximities(X), forest.proximities(X, out_of_bag=True)
    monkeypatch.setattr(proximities, "_BLOCK_ENTRIES", 7 * len(X))
    for dense in (True, False):
        for is_out in (True, False):
            found = forest.proximities(X, out_of_bag=is_out, dense=dense)
            found = found if dense else found.toarray()
            np.testing.assert_array_equal(found, expected[is_out])


def test_proximities_of_frames():
    X, y = make_mixed_table(60, missing_fraction=0.1, as_frame=True, random_state=0)
    forest = make_forest(RandomForestClassifier).fit(X, y)
    same = forest.apply(X)[:, np.newaxis] == forest.apply(X)
    np.testing.assert_allclose(forest.proximities(X), same.mean(axis=2))


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_proximities_of_sparse_tables(kind, monkeypatch):
    X, y = make_table(missing=0.0)
    X[X < 0] = 0
    forest = make_forest(kind).fit(sparse.csr_array(X), y)
    thin = sparse.csr_array(X)
    expected = forest.proximities(X, out_of_bag=kind is RandomForestRegressor)
    # A sparse table is read in blocks of rows.
    monkeypatch.setattr(TableSchema.read_blocks, "__defaults__", (8 * 5 * 7,))
    found = forest.proximities(thin, out_of_bag=kind is RandomForestRegressor)
    np.testing.assert_array_equal(found, expected)


def test_out_of_bag_proximities_ask_for_the_training_table():
    X, y = make_table()
    forest = make_forest(RandomForestClassifier).fit(X, y)
    with pytest.raises(ValueError, match=r"50 rows .*; got 49 rows"):
        forest.proximities(X[1:], out_of_bag=True)
    with pytest.raises(ValueError, match="Y must be None"):
        forest.proximities(X, X, out_of_bag=True)
    forest = make_forest(ExtraTreesClassifier).fit(X, y)
    with pytest.raises(ValueError, match="requires a forest with bootstrap=True"):
        forest.proximities(X, out_of_bag=True)
    with pytest.raises(ValueError, match="'dense' parameter must be True or False"):
        forest.proximities(X, dense="yes")


# -------------------------------------------------------------------- importances


def share_wrong(y, predicted):
    return np.mean(y != predicted)


def mean_squared(y, predicted):
    return np.mean((y - predicted) ** 2)


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize(
    ("forest", "measure_error"),
    [
        (make_forest(RandomForestClassifier), share_wrong),
        (make_forest(RandomForestClassifier, missing="surrogate"), share_wrong),
        (make_forest(RandomForestClassifier, criterion="gain_ratio"), share_wrong),
        (make_forest(ExtraTreesClassifier, bootstrap=True), share_wrong),
        (make_forest(RandomForestRegressor, max_depth=4), mean_squared),
    ],
    ids=["learned", "surrogate", "fractional", "extra", "regression"],
)
def test_importances_are_those_of_a_plain_loop(forest, measure_error, n_repeats):
    X, y = make_table()
    y = y if measure_error is mean_squared else np.array(["no", "yes", "most"])[y]
    forest = clone(forest).fit(X, y)
    expected = measure_importances(forest, X, y, n_repeats, 5, measure_error)
    found = forest.permutation_importances(X, y, n_repeats=n_repeats, random_state=5)
    np.testing.assert_allclose(found.importances, expected, atol=1e-12)
    np.testing.assert_allclose(found.importances_mean, expected.mean(axis=1))
    np.testing.assert_allclose(found.importances_std, expected.std(axis=1))
    assert set(found.importances_mean.argsort()[-2:]) == {0, 1}
    assert (found.importances[4] == 0).all()
    together = clone(forest).set_params(n_jobs=3).fit(X, y)
    again = together.permutation_importances(X, y, n_repeats=n_repeats, random_state=5)
    np.testing.assert_array_equal(again.importances, found.importances)


def test_importances_of_sparse_tables_and_in_blocks(monkeypatch):
    X, y = make_table(missing=0.0)
    X[X < 0.3] = 0
    thin = sparse.csr_array(X)
    dense = make_forest(RandomForestClassifier).fit(X, y)
    expected = dense.permutation_importances(X, y, n_repeats=2, random_state=1)
    of_thin = make_forest(RandomForestClassifier).fit(thin, y)
    found = of_thin.permutation_importances(thin, y, n_repeats=2, random_state=1)
    np.testing.assert_array_equal(found.importances, expected.importances)
    monkeypatch.setattr(permuting, "_BLOCK_ENTRIES", 300)
    for forest, table in ((dense, X), (of_thin, thin)):
        found = forest.permutation_importances(table, y, n_repeats=2, random_state=1)
        np.testing.assert_array_equal(found.importances, expected.importances)


def test_importances_of_several_outputs_are_their_mean():
    X, y = make_table(missing=0.0)
    several = np.column_stack([y, y > 0])
    forest = make_forest(RandomForestClassifier).fit(X, several)
    found = forest.permutation_importances(X, several, random_state=2)

    def measure_error(y, predicted):
        return np.mean([share_wrong(y[:, k], predicted[:, k]) for k in range(2)])

    expected = measure_importances(forest, X, several, 1, 2, measure_error)
    np.testing.assert_allclose(found.importances, expected, atol=1e-12)


def test_a_nominal_column_that_decides_is_the_most_important():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "noise": random.normal(size=120),
            "colour": random.choice(["red", "green", "blue"], 120),
        }
    )
    y = np.where(X["colour"] == "green", "yes", "no")
    forest = make_forest(RandomForestClassifier, max_features=None).fit(X, y)
    found = forest.permutation_importances(X, y, random_state=0)
    assert found.importances_mean[0] == 0  # no tree tests it
    share = np.mean(y == "yes")
    # Of two rows drawn at random, this share differs in the class.
    assert found.importances_mean[1] == pytest.approx(2 * share * (1 - share), rel=0.2)


def test_training_rows_overrate_where_out_of_bag_rows_do_not():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 3)), random.integers(0, 2, 200)
    forest = make_forest(RandomForestClassifier, n_estimators=30).fit(X, y)
    own = forest.permutation_importances(X, y, random_state=0).importances_mean
    of_all = permutation_importance(forest, X, y, n_repeats=2, random_state=0)
    assert np.abs(own).max() < 0.05  # the labels are noise
    assert of_all.importances_mean.min() > 0.1


def test_a_tree_that_has_seen_all_rows_counts_as_zero():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1])
    forest = make_forest(RandomForestClassifier, n_estimators=40).fit(X, y)
    has_seen_all = [not list_out_of_bag(member, 3) for member in forest]
    assert any(has_seen_all)
    found = forest.permutation_importances(X, y, random_state=0).importances
    np.testing.assert_array_equal(found[0, has_seen_all], 0)


def test_importances_ask_for_the_training_table():
    X, y = make_table()
    forest = make_forest(RandomForestClassifier).fit(X, y)
    with pytest.raises(
        ValueError, match=r"permutation_importances .* 50 rows .*; got 2 rows"
    ):
        forest.permutation_importances(X[:2], y[:2])
    with pytest.raises(ValueError, match=r"50 rows and 1 outputs, got shape \(49, 1\)"):
        forest.permutation_importances(X, y[1:])
    with pytest.raises(
        ValueError, match="y must contain only classes seen in training.*got 7"
    ):
        forest.permutation_importances(X, np.where(y == 1, 7, y))
    with pytest.raises(ValueError, match="'n_repeats' parameter must be an int"):
        forest.permutation_importances(X, y, n_repeats=0)
    forest.set_params(bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="requires a forest with bootstrap=True"):
        forest.permutation_importances(X, y)
