"""Forests and gradient boosting whose trees have linear equations in their leaves."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance
from sklearn.model_selection import KFold, cross_val_score

from sklearn_textbook.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import (
    read_trees,
    to_onnx,
    to_pmml,
    to_shap,
    to_sklearn,
)
from sklearn_textbook.inspection import partial_dependence, shap_values
from sklearn_textbook.io import load_model, save_model, scan
from sklearn_textbook.tree import CARTRegressor

FOREST = RandomForestRegressor(5, leaf_model="linear", random_state=0)
EXTRA_TREES = ExtraTreesRegressor(
    5, leaf_model="linear", leaf_shrinkage=0.5, random_state=0
)
BOOSTING = GradientBoostingRegressor(n_estimators=8, leaf_model="linear")
ALL = [FOREST, EXTRA_TREES, BOOSTING]


def make(model, **changes):
    """Copy an estimator with other parameters."""
    return type(model)(**{**model.get_params(deep=False), **changes})


def make_rows(n=600, seed=0):
    """Numbers, gaps and levels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["level"] = pd.Categorical.from_codes(rng.integers(0, 3, n), list("xyz"))
    y = np.where(X["a"] > 0, 2 * X["b"], -X["c"]) + (X["level"] == "x") * 2.0
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    return X, y.fillna(0.0).to_numpy() + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("model", [FOREST, EXTRA_TREES, make(FOREST, max_features=0.5)])
def test_a_forest_is_the_mean_of_single_trees(model):
    X, y = make_rows()
    fitted = make(model).fit(X, y)
    total = np.zeros(len(y))
    for tree, rows in zip(fitted.estimators_, fitted.estimators_samples_, strict=True):
        weight = np.bincount(rows, minlength=len(y)).astype(float)
        alone = make(tree, min_samples_leaf=1).fit(X, y, weight)
        assert len(alone.tree_.slopes)
        total += alone.predict(X)
    np.testing.assert_allclose(fitted.predict(X), total / len(fitted), rtol=1e-9)


@pytest.mark.parametrize("max_bins", [255, None])
def test_boosting_adds_trees_of_the_residuals(max_bins):
    X, y = make_rows(1500)
    X = X.drop(columns="level")  # single trees smooth levels otherwise
    model = make(BOOSTING, max_bins=max_bins).fit(X, y)
    tree = CARTRegressor(
        leaf_model="linear", max_bins=max_bins, max_leaf_nodes=31, min_samples_leaf=20
    )
    score = np.full(len(y), y.mean())
    for _ in range(8):
        score += 0.1 * tree.fit(X, y - score).predict(X)
    np.testing.assert_allclose(model.predict(X), score, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", [make(FOREST, bootstrap=False), BOOSTING])
def test_weights_are_copies(model):
    X, y = make_rows()
    X = X.round(1)  # bins do not depend on how often values occur
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = make(model, min_samples_leaf=1).fit(X, y, weight.astype(float))
    place = np.repeat(np.arange(len(y)), weight)
    copied = make(model, min_samples_leaf=1).fit(X.iloc[place], y[place])
    np.testing.assert_allclose(
        weighted.predict(X), copied.predict(X), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("model", ALL)
def test_threads_files_and_sparse_tables(model, tmp_path):
    X, y = make_rows(3000)
    fitted = make(model, n_jobs=1).fit(X, y)
    expected = fitted.predict(X)
    again = make(model, n_jobs=4).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), expected)
    save_model(fitted, tmp_path / "model.json")
    for copy in (
        load_model(tmp_path / "model.json"),
        pickle.loads(pickle.dumps(fitted)),
    ):
        np.testing.assert_array_equal(copy.predict(X), expected)
    numbers = X[["a", "c", "d"]].to_numpy(copy=True)
    numbers[np.abs(numbers) < 0.5] = 0.0
    dense = make(model).fit(numbers, y)
    sparse = make(model).fit(csr_array(numbers), y)
    np.testing.assert_array_equal(
        sparse.predict(csr_array(numbers)), dense.predict(numbers)
    )


@pytest.mark.parametrize("model", [FOREST, EXTRA_TREES])
def test_a_forest_of_a_table_in_blocks(model, tmp_path):
    X, y = make_rows()
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    table = pd.read_csv(tmp_path / "table.csv")
    X, y = table[list(X)], table["y"]
    blocks = make(model).fit(scan(tmp_path / "table.csv"), "y")
    np.testing.assert_array_equal(blocks.predict(X), make(model).fit(X, y).predict(X))


def test_boosting_refuses_a_table_in_blocks(tmp_path):
    X, y = make_rows()
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(ValueError, match="leaf_model='constant'"):
        make(BOOSTING).fit(scan(tmp_path / "table.csv"), "y")


@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_stages_and_losses(subsample):
    X, y = make_rows()
    model = make(BOOSTING, subsample=subsample, random_state=0).fit(X, y)
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    losses = [np.mean((stage - y) ** 2) / 2 for stage in stages]
    np.testing.assert_allclose(model.train_score_, losses)
    assert np.all(np.diff(losses) < 0)


@pytest.mark.parametrize(
    ("loss", "measure"),
    [("poisson", mean_poisson_deviance), ("gamma", mean_gamma_deviance)],
)
def test_losses_with_a_log_link(loss, measure):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3000, 3)), columns=list("abc"))
    mean = np.exp(X["a"] + np.where(X["b"] > 0, X["c"], 0.0)).to_numpy()
    y = mean * rng.gamma(4.0, 0.25, len(X))
    found = []
    for changes, unit in (
        ({"leaf_model": "constant"}, 1.0),
        ({}, 1.0),
        ({}, 2.0**10),
        ({}, 2.0**-10),
    ):
        model = make(BOOSTING, n_estimators=60, loss=loss, **changes)
        model.fit(X[:2000], unit * y[:2000])
        found.append(model.predict(X[2000:]) / unit)
    errors = [measure(mean[2000:], one) for one in found]
    assert errors[1] < 0.9 * errors[0]
    # Neither the unit of the target matters, nor that of the second derivatives.
    np.testing.assert_allclose(found[2], found[1], rtol=1e-6)
    np.testing.assert_allclose(found[3], found[1], rtol=1e-6)


def test_large_counts_do_not_matter_for_other_rows():
    def make_counts(n):
        X = rng.lognormal(0.0, 1.5, size=(n, 2))
        rate = 0.05 * X[:, 0] * np.where(rng.random(n) < 0.05, 10.0, 1.0)
        return X, rng.poisson(rate).astype(float)

    rng = np.random.default_rng(1)
    X, y = make_counts(700)
    X_new, y_new = make_counts(2000)
    errors = []
    for kind in ("constant", "linear"):
        model = make(BOOSTING, n_estimators=100, loss="poisson", leaf_model=kind)
        errors.append(mean_poisson_deviance(y_new, model.fit(X, y).predict(X_new)))
    assert errors[1] < errors[0]


def test_warm_start_and_early_stopping():
    X, y = make_rows()
    at_once = make(BOOSTING, subsample=0.7, random_state=0).fit(X, y)
    in_steps = make(BOOSTING, n_estimators=3, subsample=0.7, random_state=0)
    in_steps.fit(X, y).set_params(n_estimators=8, warm_start=True).fit(X, y)
    np.testing.assert_array_equal(in_steps.predict(X), at_once.predict(X))
    X_val, y_val = make_rows(seed=1)
    model = make(BOOSTING, n_estimators=500, n_iter_no_change=3).fit(
        X, y, X_val=X_val, y_val=y_val
    )
    assert model.n_estimators_ < 500
    loss = np.mean((model.predict(X_val) - y_val) ** 2) / 2
    assert model.validation_score_[-1] == pytest.approx(loss)


def test_pruning_before_the_equations():
    X, y = make_rows()
    full = make(BOOSTING).fit(X, y)
    pruned = make(BOOSTING, ccp_alpha=0.05).fit(X, y)
    n_leaves = [
        sum(tree.tree_.n_leaves for tree in model.estimators_.ravel())
        for model in (full, pruned)
    ]
    assert n_leaves[1] < n_leaves[0]
    assert pruned.score(X, y) > 0.5


@pytest.mark.parametrize("model", [FOREST, BOOSTING])
def test_intervals(model):
    X, y = make_rows(2000)
    X_new, y_new = make_rows(2000, seed=1)
    changes = {"store_distribution": True}
    if model is BOOSTING:
        changes["n_iter_no_change"] = 5
        changes["n_estimators"] = 100
    fitted = make(model, **changes, random_state=0).fit(X, y)
    low, high = fitted.predict_interval(X_new).T
    assert 0.86 < np.mean((low <= y_new) & (y_new <= high)) < 0.95


@pytest.mark.parametrize(
    "model",
    [FOREST, BaggingRegressor(CARTRegressor(leaf_model="linear"), 3, random_state=0)],
)
def test_quantiles_are_refused(model, tmp_path):
    X, y = make_rows()
    fitted = make(model, store_distribution=True).fit(X, y)
    save_model(fitted, tmp_path / "model.json")
    for one in (fitted, load_model(tmp_path / "model.json")):
        with pytest.raises(ValueError, match="a constant in each leaf"):
            one.predict(X, quantiles=0.5)


def test_out_of_bag_and_importances():
    X, y = make_rows()
    X["e"] = np.random.default_rng(1).normal(size=len(y))
    # All effects are in equations: there are too few rows for a split.
    y = y + 3.0 * X["e"].to_numpy()
    # Too few rows for a split: all of the effects are in equations.
    model = make(FOREST, n_estimators=20, oob_score=True, min_samples_leaf=400).fit(
        X, y
    )
    assert model.oob_score_ > 0.5
    importances = model.permutation_importances(X, y, random_state=0)
    assert importances.importances_mean.argmax() == 5


@pytest.mark.parametrize(
    "model",
    [
        *ALL,
        CARTRegressor(leaf_model="linear"),
        BaggingRegressor(
            CARTRegressor(leaf_model="linear"), 3, max_features=0.7, random_state=0
        ),
    ],
)
def test_partial_dependence_is_the_mean_over_the_rows(model):
    X, y = make_rows()
    fitted = make(model).fit(X, y)
    found = partial_dependence(fitted, X, ["b", "level"], grid_resolution=4)
    for i, b in enumerate(found.grid_values[0]):
        for j, level in enumerate(found.grid_values[1]):
            level_of_all = pd.Categorical([level] * len(X), X["level"].cat.categories)
            mean = fitted.predict(X.assign(b=b, level=level_of_all)).mean()
            np.testing.assert_allclose(found.average[0, i, j], mean, rtol=1e-9)
    with pytest.raises(ValueError, match="with linear equations in its leaves"):
        partial_dependence(fitted, X, ["b"], method="recursion")


@pytest.mark.parametrize("model", [FOREST, BOOSTING])
@pytest.mark.parametrize(
    "export",
    [
        read_trees,
        to_sklearn,
        to_onnx,
        to_pmml,
        to_shap,
        lambda model: shap_values(model, make_rows()[0]),
    ],
)
def test_exports_without_equations_refuse(export, model):
    with pytest.raises(ValueError, match="linear equations in its leaves"):
        export(make(model).fit(*make_rows()))


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (FOREST, {"leaf_model": "cubic"}, "leaf_model"),
        (FOREST, {"leaf_shrinkage": -1.0}, "leaf_shrinkage"),
        (FOREST, {"criterion": "absolute_error"}, "criterion='squared_error'"),
        (FOREST, {"monotonic_cst": [1, 0, 0, 0, 0]}, "monotonic_cst"),
        (BOOSTING, {"leaf_model": "cubic"}, "leaf_model"),
        (BOOSTING, {"leaf_shrinkage": -1.0}, "leaf_shrinkage"),
        (BOOSTING, {"monotonic_cst": [1, 0, 0, 0, 0]}, "monotonic_cst"),
        (BOOSTING, {"loss": "huber"}, "got loss='huber'"),
        (BOOSTING, {"l2_regularization": 1}, "got l2_regularization=1"),
        (BOOSTING, {"interaction_cst": "pairwise"}, "got interaction_cst='pairwise'"),
    ],
)
def test_wrong_values(model, settings, message):
    with pytest.raises(ValueError, match=message):
        make(model, **settings).fit(*make_rows())


@pytest.mark.parametrize("model", [make(FOREST, bootstrap=False), BOOSTING])
def test_light_weights_warn(model):
    X, y = make_rows()
    with pytest.warns(UserWarning, match="too few for linear equations"):
        make(model).fit(X.drop(columns="level"), y, np.full(len(y), 1.0 / len(y)))


@pytest.mark.parametrize("missing", ["learned", "surrogate"])
def test_trees_with_and_without_equations(missing):
    X, y = make_rows()
    model = make(FOREST, leaf_model="constant", warm_start=True, missing=missing)
    model.fit(X, y).set_params(n_estimators=9, leaf_model="linear").fit(X, y)
    has_slopes = [len(tree.tree_.slopes) > 0 for tree in model.estimators_]
    assert has_slopes == [False] * 5 + [True] * 4
    total = np.zeros(len(y))
    for tree in model.estimators_:
        total += tree.predict(X)
    np.testing.assert_array_equal(model.predict(X), total / 9)


@pytest.mark.parametrize("model", ALL)
def test_other_rows_of_a_real_table(model):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    scores = []
    for kind in ("constant", "linear"):
        one = make(model, n_estimators=40, leaf_model=kind)
        scores.append(cross_val_score(one, X, y, cv=KFold(5)).mean())
    assert scores[1] > scores[0] + 0.01


def test_several_outputs():
    X, y = make_rows()
    with pytest.raises(ValueError, match="1d array"):
        make(FOREST).fit(X, np.column_stack([y, y]))
