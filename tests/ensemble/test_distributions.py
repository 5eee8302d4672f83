"""Quantiles, intervals, sets of classes and standard errors of ensembles."""

import math
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ObliqueRandomForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.ensemble.conformal import find_critical_score
from sklearn_textbook.ensemble.jackknife import Jackknife
from sklearn_textbook.io import load_model, save_model, scan
from sklearn_textbook.tree import CARTRegressor
from tests.reference import distributions as reference

LEVELS = [0.0, 0.05, 0.3, 0.5, 0.9, 1.0]


def make_gaps(n_rows, seed=0, n_outputs=1):
    """A table of numbers, levels and gaps; the noise grows with a column."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n_rows, 3))).add_prefix("x")
    X["level"] = pd.Categorical.from_codes(random.integers(0, 5, n_rows), list("abcde"))
    scale = 0.2 + np.abs(X["x0"])
    y = X["x1"] + 0.5 * X["level"].cat.codes + scale * random.normal(size=n_rows)
    X.loc[random.random(n_rows) < 0.1, "x1"] = np.nan
    X.loc[random.random(n_rows) < 0.1, "level"] = np.nan
    y = np.round(y.to_numpy(), 1)  # with ties
    if n_outputs > 1:
        y = np.stack([y, np.round(random.normal(size=n_rows), 1)], axis=1)
    return X, y


def list_models():
    return {
        "forest": RandomForestRegressor(8, min_samples_leaf=3, random_state=0),
        "parent": RandomForestRegressor(
            8, categorical_split="multiway", random_state=0
        ),
        "extra": ExtraTreesRegressor(8, random_state=0),
        "small samples": RandomForestRegressor(8, max_samples=20, random_state=0),
        "oblique": ObliqueRandomForestRegressor(8, min_samples_leaf=3, random_state=0),
        "bagging": BaggingRegressor(n_estimators=8, max_features=0.7, random_state=0),
        "pasting": BaggingRegressor(
            CARTRegressor(min_samples_leaf=4),
            8,
            max_samples=0.5,
            bootstrap=False,
            random_state=0,
        ),
    }


def describe_trees(model, X, X_new):
    """The nodes of all rows in all trees, the nodes above, and the draws."""
    train, query, parents, counts = [], [], [], []
    for member, columns, (draw, seed) in zip(
        model, model._list_columns(), model._list_draws(), strict=True
    ):
        own = slice(None) if columns is None else columns
        train.append(member.apply(X.iloc[:, own]))
        query.append(member.apply(X_new.iloc[:, own]))
        parents.append(member.tree_.nodes["parent"].tolist())
        weight = draw.weigh(seed)
        counts.append(np.ones(len(X)) if weight is None else weight)
    return train, query, parents, counts


@pytest.mark.parametrize("name", list_models())
def test_quantiles_are_those_of_plain_python(name):
    X, y = make_gaps(60)
    X_new = make_gaps(25, seed=1)[0]
    X_new["level"] = X_new["level"].cat.add_categories("z")
    X_new.loc[X_new.index[:4], "level"] = "z"
    model = list_models()[name].set_params(store_distribution=True).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.predict(X_new, quantiles=LEVELS)
        train, query, parents, counts = describe_trees(model, X, X_new)
        means = model.predict(X_new)
    for row in range(len(X_new)):
        weights = reference.weigh_rows(
            train, parents, counts, [nodes[row] for nodes in query]
        )
        expected = [reference.find_quantile(y, weights, level) for level in LEVELS]
        assert found[row].tolist() == expected
        assert math.isclose(np.dot(weights, y), means[row], abs_tol=1e-9)


def test_weights_of_rows_are_weights_in_the_leaves():
    X, y = make_gaps(60)
    weight = np.random.default_rng(2).integers(0, 4, 60)
    model = ExtraTreesRegressor(8, min_samples_leaf=4, random_state=0)
    model.set_params(store_distribution=True).fit(X, y, weight)
    X_new = make_gaps(25, seed=1)[0]
    found = model.predict(X_new, quantiles=LEVELS)
    train, query, parents, _ = describe_trees(model, X, X_new)
    for row in range(len(X_new)):
        weights = reference.weigh_rows(
            train, parents, [weight] * 8, [nodes[row] for nodes in query]
        )
        expected = [reference.find_quantile(y, weights, level) for level in LEVELS]
        assert found[row].tolist() == expected


def test_a_row_divided_among_children_has_their_distributions():
    X = pd.DataFrame({"x": pd.Categorical(list("aabbbbcc"))})
    y = np.arange(8.0)
    model = ExtraTreesRegressor(
        5, handle_unknown="fractional", random_state=0, store_distribution=True
    ).fit(X, y)
    X_new = pd.DataFrame({"x": pd.Categorical(["z"])})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.predict(X_new, quantiles=[0.0, 1.0]).tolist() == [[0.0, 7.0]]


@pytest.mark.parametrize("name", ["forest", "bagging", "pasting", "oblique"])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_intervals_are_those_of_plain_python(name, coverage, is_weighted):
    X, y = make_gaps(60)
    X_new = make_gaps(5, seed=1)[0]
    weight = np.random.default_rng(2).integers(0, 4, 60) if is_weighted else None
    model = list_models()[name].set_params(store_distribution=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, weight)
    found = model.predict_interval(X_new, coverage)
    train, query, counts = [], [], []
    for member, columns, (draw, seed) in zip(
        model, model._list_columns(), model._list_draws(), strict=True
    ):
        own = slice(None) if columns is None else columns
        train.append(member.predict(X.iloc[:, own]))
        query.append(member.predict(X_new.iloc[:, own]))
        counts.append(draw.count_rows(seed))
    for row, interval in enumerate(found):
        expected = reference.find_interval(
            train, counts, y, [of[row] for of in query], coverage, weight
        )
        np.testing.assert_allclose(interval, expected, rtol=1e-9)


def test_the_critical_score_is_that_of_plain_python():
    random = np.random.default_rng(0)
    for n_rows in (1, 2, 9, 10, 19, 20, 57):
        scores = np.round(random.random(n_rows), 1)
        weight = random.random(n_rows)
        for coverage in (0.01, 0.5, 0.7, 0.9, 0.95):
            assert find_critical_score(scores, coverage) == reference.find_critical(
                scores, coverage
            )
            assert find_critical_score(
                scores, coverage, weight
            ) == reference.find_critical(scores, coverage, weight)
    assert find_critical_score(np.zeros(0), 0.5) == math.inf
    assert find_critical_score(np.arange(1.0, 20.0), 0.95) == 19.0
    assert find_critical_score(np.arange(1.0, 19.0), 0.95) == math.inf


@pytest.mark.parametrize("model", [RandomForestRegressor(60), BaggingRegressor(
    LinearRegression(), 60)])  # fmt: skip
def test_intervals_cover_as_promised(model):
    # A binomial count for a fixed seed; the bounds have a probability below 1e-3.
    covered = n_rows = 0
    for seed in range(10):
        X, y = make_gaps(400, seed)
        X = X.drop(columns="level").fillna(0.0)
        new = slice(150, None)
        model = clone(model).set_params(random_state=seed, store_distribution=True)
        model.fit(X[:150], y[:150])
        low, high = model.predict_interval(X[new], 0.9).T
        covered += ((y[new] >= low) & (y[new] <= high)).sum()
        n_rows += len(low)
    # Calibration by 150 rows adds to the variance of the new ones.
    scale = math.sqrt(0.9 * 0.1 * (1 / n_rows + 1 / 1500))
    assert abs(covered / n_rows - 0.9) < 3.3 * scale + 0.01


def test_sets_cover_as_promised():
    counts = np.zeros((2, 2))
    by_class = np.zeros((2, 2, 3))
    for seed in range(10):
        random = np.random.default_rng(seed)
        y = random.choice(3, 500, p=[0.7, 0.2, 0.1])
        X = random.normal(size=(500, 3)) + 1.2 * np.eye(3)[y]
        model = RandomForestClassifier(60, random_state=seed, store_distribution=True)
        model.fit(X[:200], y[:200])
        for i, is_conditional in enumerate((False, True)):
            found = model.predict_set(X[200:], 0.9, class_conditional=is_conditional)
            own = found[np.arange(300), y[200:]]
            counts[i] += own.sum(), found.sum()
            for c in range(3):
                by_class[i, :, c] += own[y[200:] == c].sum(), (y[200:] == c).sum()
    assert abs(counts[0, 0] / 3000 - 0.9) < 0.03
    conditional = by_class[:, 0] / by_class[:, 1]
    assert conditional[0, 2] < 0.75  # the rare class, on average over all
    # Equal fractions of votes of its 20 rows make the coverage larger.
    assert (conditional[1] > 0.87).all()
    assert counts[1, 1] > counts[0, 1]


def test_classes_are_labels_and_gaps_are_none():
    X, y = make_mixed_table(300, random_state=0, as_frame=True)
    model = BaggingClassifier(n_estimators=30, random_state=0, store_distribution=True)
    found = model.fit(X, y).predict_set(X[:10])
    assert found.shape == (10, len(model.classes_))
    assert found.dtype == bool


def test_equal_fractions_of_votes_are_equal():
    # 1 - (1 - 1/3) is not 1/3.
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(3, random_state=0, store_distribution=True)
    model.fit(X, y)
    thresholds = model._calibration.find_thresholds(3, 0.999, False)
    assert (model.predict_set(X, 0.999) | (model.predict_proba(X) < thresholds)).all()


# ------------------------------------------------------------------ boosting
@pytest.mark.parametrize("loss", ["squared_error", "huber", "poisson", "tweedie"])
def test_boosting_is_calibrated_on_validation_rows(loss):
    random = np.random.default_rng(0)
    X, X_val = random.normal(size=(2, 400, 3))
    y, y_val = (random.poisson(np.exp(0.5 + of[:, 0])) for of in (X, X_val))
    model = GradientBoostingRegressor(loss=loss, n_iter_no_change=5)
    model.set_params(store_distribution=True).fit(X, y, X_val=X_val, y_val=y_val)

    def scale(rows):
        powers = {"poisson": 0.5, "tweedie": 0.75}
        return model.predict(rows) ** powers.get(loss, 0.0)

    squares = ((y - model.predict(X)) / scale(X)) ** 2
    variances = []
    for of_train, of_val in zip(model.apply(X).T, model.apply(X_val).T, strict=True):
        variances.append([squares[of_train == node].mean() for node in of_val])
    spread = np.sqrt(np.mean(variances, axis=0))
    spread += spread.mean()
    predicted = model.predict(X_val)
    scores = np.abs(y_val - predicted) / scale(X_val) / spread
    width = scale(X_val) * spread * reference.find_critical(scores.tolist(), 0.8)
    low, high = model.predict_interval(X_val, 0.8).T
    np.testing.assert_allclose(high, predicted + width)
    least = 0.0 if loss in ("poisson", "tweedie") else -np.inf
    np.testing.assert_allclose(low, np.maximum(predicted - width, least))
    assert 320 < ((low <= y_val) & (y_val <= high)).sum() < 340


@pytest.mark.parametrize("is_warm", [False, True])
def test_nodes_have_the_residuals_of_the_rows_below(is_warm):
    X, y = make_gaps(200)
    model = GradientBoostingRegressor(
        n_estimators=4, n_iter_no_change=5, warm_start=is_warm, random_state=0
    ).set_params(store_distribution=True)
    if is_warm:  # some leaves have none of the rows of the second fit
        model.fit(X, y)
        X, y = X[X["x0"] > 0.5], y[X["x0"] > 0.5]
        model.set_params(n_estimators=5)
    X_val, y_val = make_gaps(50, seed=1)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    X_new = make_gaps(30, seed=2)[0]
    X_new["level"] = X_new["level"].cat.add_categories("z")
    X_new.loc[X_new.index[:15], "level"] = "z"
    squares = (y - model.predict(X)) ** 2
    ends = model.apply(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        query = model.apply(X_new)
        low, high = model.predict_interval(X_new).T
    variances, n_above = np.zeros(30), 0
    for tree, member in enumerate(model.estimators_.ravel()):
        above = member.tree_.nodes["parent"].tolist()
        for row, node in enumerate(query[:, tree].tolist()):
            inside = np.zeros(0)
            while not len(inside):
                below = [reference.is_below(end, node, above) for end in ends[:, tree]]
                inside, node = squares[below], above[node]
                n_above += not len(inside)
            variances[row] += inside.mean() / len(model.estimators_)
    assert (n_above > 0) == is_warm
    ratios = (high - low) / (np.sqrt(variances) + model._calibration.floor)
    np.testing.assert_allclose(ratios, ratios[0])


def test_boosting_in_blocks_and_from_files(tmp_path):
    X, y = make_gaps(300)
    X["x1"] = X["x1"].fillna(0.0)
    weight = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    table = X.assign(y=y, w=weight)
    table.to_parquet(tmp_path / "table.parquet")
    model = GradientBoostingRegressor(
        n_iter_no_change=5, random_state=0, store_distribution=True
    )
    whole = clone(model).fit(X, y, weight)
    blocks = clone(model).fit(scan(tmp_path / "table.parquet"), "y", "w")
    expected = whole.predict_interval(X)
    np.testing.assert_array_equal(blocks.predict_interval(X), expected)
    save_model(whole, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_interval(X), expected)


def test_boosting_without_validation_rows():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="n_iter_no_change"):
        GradientBoostingRegressor(store_distribution=True).fit(X, y)
    model = GradientBoostingRegressor(n_iter_no_change=3, n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="store_distribution=True"):
        model.predict_interval(X)
    model.set_params(store_distribution=True).fit(X, y).predict_interval(X)
    model.set_params(store_distribution=False).fit(X, y)
    with pytest.raises(ValueError, match="store_distribution=True"):
        model.predict_interval(X)


def make_classes(n_rows, n_classes, seed=0):
    """Text labels, gaps and a column of levels; the first class is the largest."""
    random = np.random.default_rng(seed)
    X = make_gaps(n_rows, seed)[0]
    codes = random.integers(0, n_classes, n_rows)
    codes[random.random(n_rows) < 0.3] = 0
    X["x0"] += 1.5 * codes
    return X, np.array(["one", "two", "three", "four"])[codes]


@pytest.mark.parametrize(
    ("n_classes", "loss"), [(2, "log_loss"), (2, "exponential"), (4, "log_loss")]
)
@pytest.mark.parametrize("is_conditional", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_sets_of_boosting_are_those_of_plain_python(
    n_classes, loss, is_conditional, is_weighted
):
    X, y = make_classes(200, n_classes)
    X_val, y_val = make_classes(60, n_classes, seed=1)
    weight = np.random.default_rng(2).integers(0, 4, 60) if is_weighted else None
    model = GradientBoostingClassifier(
        loss=loss, n_estimators=5, n_iter_no_change=5, store_distribution=True
    ).fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    X_new = make_classes(50, n_classes, seed=3)[0]
    known = model.predict_proba(X_val).tolist()
    classes = model.classes_.tolist()
    for coverage in (0.5, 0.9, 0.99):
        found = model.predict_set(X_new, coverage, class_conditional=is_conditional)
        for row, probabilities in enumerate(model.predict_proba(X_new).tolist()):
            expected = reference.find_set(
                known, y_val.tolist(), classes, probabilities, coverage,
                None if weight is None else weight.tolist(), is_conditional,
            )  # fmt: skip
            assert found[row].tolist() == expected


def test_each_of_the_rows_is_covered_in_turn():
    # Split-conformal prediction: of any n + 1 rows, each calibrated on the n others, at
    # least the fraction (1 - a) is covered, and less than 1 / (n + 1) more.
    X, y = make_classes(150, 4)
    X_val, y_val = make_classes(40, 4, seed=1)
    # Rounds of small steps: few probabilities are equal.
    model = GradientBoostingClassifier(
        n_estimators=5, n_iter_no_change=5, min_samples_leaf=1, learning_rate=0.03
    ).set_params(store_distribution=True)
    covered = {False: 0, True: 0}
    for row in range(40):
        others = np.arange(40) != row
        model.fit(X, y, X_val=X_val[others], y_val=y_val[others])
        code = int(np.flatnonzero(model.classes_ == y_val[row])[0])
        for is_conditional in covered:
            found = model.predict_set(
                X_val[row : row + 1], 0.8, class_conditional=is_conditional
            )
            covered[is_conditional] += found[0, code]
    assert 32 <= covered[False] <= 33
    n_rows = np.unique(y_val, return_counts=True)[1]
    assert covered[True] >= sum(math.ceil(0.8 * n) for n in n_rows)


def test_sets_of_boosting_in_blocks_and_from_files(tmp_path):
    X, y = make_classes(300, 4)
    weight = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    table = X.assign(y=y, w=weight)
    table.to_parquet(tmp_path / "table.parquet")
    model = GradientBoostingClassifier(
        n_estimators=5, n_iter_no_change=5, random_state=0, store_distribution=True
    )
    whole = clone(model).fit(X, y, weight)
    blocks = clone(model).fit(scan(tmp_path / "table.parquet"), "y", "w")
    save_model(whole, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    for is_conditional in (False, True):
        expected = whole.predict_set(X, 0.8, class_conditional=is_conditional)
        assert 300 < expected.sum() < 1200
        for other in (loaded, blocks, pickle.loads(pickle.dumps(whole))):
            found = other.predict_set(X, 0.8, class_conditional=is_conditional)
            if other is blocks:  # other validation rows
                assert (found == expected).mean() > 0.9
            else:
                np.testing.assert_array_equal(found, expected)


def test_a_set_of_a_class_that_has_too_few_rows_has_this_class():
    X, y = make_classes(200, 2)
    X_val, y_val = make_classes(60, 2, seed=1)
    y_val[:] = "one"
    model = GradientBoostingClassifier(n_estimators=3, n_iter_no_change=5)
    model.set_params(store_distribution=True).fit(X, y, X_val=X_val, y_val=y_val)
    found = model.predict_set(X, 0.9, class_conditional=True)
    assert model.classes_.tolist() == ["one", "two"]
    assert found[:, 1].all()
    assert not found[:, 0].all()


def test_no_set_is_stored_after_a_fit_without():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="n_iter_no_change, which is None"):
        GradientBoostingClassifier(store_distribution=True).fit(X, y)
    model = GradientBoostingClassifier(n_iter_no_change=3, n_estimators=5)
    with pytest.raises(ValueError, match="'store_distribution' parameter"):
        clone(model).set_params(store_distribution="x").fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict_set(X)
    model.set_params(store_distribution=True).fit(X, y).predict_set(X)
    model.set_params(store_distribution=False).fit(X, y)
    with pytest.raises(ValueError, match="predict_set requires a fit with"):
        model.predict_set(X)
    regressor = GradientBoostingRegressor(n_iter_no_change=3, n_estimators=5)
    regressor.set_params(store_distribution=True).fit(X, y)
    regressor.set_params(store_distribution=False).fit(X, y)
    assert not {"_calibration", "_node_variance"} & set(vars(regressor))


# ------------------------------------------------------------------ invariants
def test_copies_of_rows_are_weights():
    X, y = make_gaps(80)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    model = ExtraTreesRegressor(
        10, min_samples_leaf=1, max_depth=4, max_features=None, random_state=0
    ).set_params(store_distribution=True, min_samples_split=2)
    new = make_gaps(30, seed=1)[0]
    weighted = clone(model).fit(X, y, weight).predict(new, quantiles=LEVELS)
    copied = clone(model).fit(X.iloc[copies], y[copies]).predict(new, quantiles=LEVELS)
    np.testing.assert_array_equal(weighted, copied)


def test_critical_scores_scale_with_weights():
    random = np.random.default_rng(0)
    scores, weight = random.random(50), random.random(50)
    expected = find_critical_score(scores, 0.8, weight)
    assert find_critical_score(scores, 0.8, 7 * weight) == expected
    order = random.permutation(50)
    assert find_critical_score(scores[order], 0.8, weight[order]) == expected
    assert find_critical_score(scores, 0.8, np.full(50, 3.0)) == find_critical_score(
        scores, 0.8
    )


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_shifts_and_scales_of_the_target(n_outputs):
    X, y = make_gaps(150, n_outputs=n_outputs)
    new = make_gaps(20, seed=1)[0]
    model = RandomForestRegressor(
        20, min_samples_leaf=5, random_state=0, store_distribution=True
    )
    first, second = clone(model).fit(X, y), clone(model).fit(X, 4 * y + 64)
    for method in ("conformal", "quantile"):
        interval = first.predict_interval(new, 0.8, method=method)
        assert interval.shape == (20, 2) if n_outputs == 1 else (20, 2, 2)
        np.testing.assert_allclose(
            second.predict_interval(new, 0.8, method=method), 4 * interval + 64
        )
    np.testing.assert_allclose(
        second.standard_error(new), 4 * first.standard_error(new), rtol=1e-6
    )


def test_wider_coverage_and_higher_levels():
    X, y = make_gaps(150)
    model = RandomForestRegressor(20, random_state=0, store_distribution=True).fit(X, y)
    quantiles = model.predict(X, quantiles=LEVELS)
    assert (np.diff(quantiles, axis=1) >= 0).all()
    np.testing.assert_array_equal(model.predict(X, quantiles=0.3), quantiles[:, 2])
    bounds = [model.predict_interval(X, c) for c in (0.5, 0.8, 0.95)]
    for inner, outer in pairwise(bounds):
        assert (outer[:, 0] <= inner[:, 0]).all()
        assert (inner[:, 1] <= outer[:, 1]).all()
    assert np.isinf(model.predict_interval(X, 0.999)).all()


@pytest.mark.parametrize("model", [RandomForestRegressor(30), BaggingRegressor(
    n_estimators=30), ExtraTreesRegressor(30, bootstrap=True)])  # fmt: skip
def test_any_number_of_threads_gives_the_same_bits(model):
    X, y = load_diabetes(return_X_y=True)
    X, y = np.tile(X, (6, 1)), np.tile(y, 6)
    model = model.set_params(random_state=0, store_distribution=True)
    models = [clone(model).set_params(n_jobs=n).fit(X, y) for n in (1, 3)]
    for call in (
        lambda m: m.predict(X, quantiles=LEVELS),
        lambda m: m.predict_interval(X),
        lambda m: m.standard_error(X),
    ):
        np.testing.assert_array_equal(*map(call, models))


def test_rows_one_by_one_and_in_any_order():
    X, y = make_gaps(200)
    model = RandomForestRegressor(20, random_state=0, store_distribution=True).fit(X, y)
    order = np.random.default_rng(0).permutation(200)
    for call in (
        lambda rows: model.predict(rows, quantiles=LEVELS),
        model.predict_interval,
        model.standard_error,
    ):
        whole = call(X)
        np.testing.assert_array_equal(call(X.iloc[order]), whole[order])
        np.testing.assert_allclose(call(X[7:8]), whole[7:8], rtol=1e-12)


def test_sparse_tables_are_dense_ones():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 6)) * (random.random((120, 6)) < 0.4)
    y = X.sum(axis=1) + random.normal(size=120)
    for model in (RandomForestRegressor(15), BaggingRegressor(n_estimators=15)):
        model.set_params(random_state=0, store_distribution=True)
        dense, thin = model.fit(X, y), clone(model).fit(sparse.csr_array(X), y)
        np.testing.assert_array_equal(
            thin.predict_interval(sparse.csr_array(X)), dense.predict_interval(X)
        )
        np.testing.assert_array_equal(
            thin.predict(sparse.csr_array(X), quantiles=LEVELS),
            dense.predict(X, quantiles=LEVELS),
        )


def test_more_trees_of_a_warm_start():
    X, y = make_gaps(100)
    model = RandomForestRegressor(random_state=0, store_distribution=True)
    whole = clone(model).set_params(n_estimators=20).fit(X, y)
    warm = clone(model).set_params(n_estimators=5, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=20).fit(X, y)
    for call in (
        lambda m: m.predict(X, quantiles=LEVELS),
        lambda m: m.predict_interval(X),
    ):
        np.testing.assert_array_equal(call(warm), call(whole))


def test_nothing_else_depends_on_what_is_stored():
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(20, oob_score=True, random_state=0)
    plain = clone(model).fit(X, y)
    stored = clone(model).set_params(store_distribution=True).fit(X, y)
    np.testing.assert_array_equal(stored.predict(X), plain.predict(X))
    np.testing.assert_array_equal(stored.oob_prediction_, plain.oob_prediction_)
    assert not {"_calibration", "_leaf_rows"} & set(vars(plain))
    assert not hasattr(stored.set_params(oob_score=False).fit(X, y), "oob_score_")


# ------------------------------------------------------------ standard errors
def test_the_jackknife_is_that_of_plain_python():
    random = np.random.default_rng(0)
    counts = random.multinomial(30, np.full(30, 1 / 30), size=2000)
    slopes = random.normal(size=(30, 3))
    predictions = counts @ slopes / 30 + random.normal(size=(2000, 3))
    jackknife = Jackknife(counts)
    for output, error in enumerate(jackknife.measure(predictions)):
        total, bias = reference.jackknife(
            counts.tolist(), predictions[:, output].tolist()
        )
        noise = math.sqrt(2 * bias**2 / 30 + 4 * bias / 30 * max(total - bias, 0.0))
        z = (total - bias) / noise
        expected = total - bias + noise * stats.norm.pdf(z) / stats.norm.cdf(z)
        assert math.isclose(error, math.sqrt(expected), rel_tol=1e-9)


def test_standard_errors_are_never_negative():
    X, y = load_diabetes(return_X_y=True)
    for n_estimators in (1, 2, 10, 40):
        model = RandomForestRegressor(n_estimators, random_state=0).fit(X, y)
        errors = model.standard_error(X)
        assert np.isfinite(errors).all()
        assert (errors >= 0).all()
    assert (errors > 0).all()


def test_standard_errors_are_the_deviation_over_tables():
    # Predictions of one row from 60 tables, and the mean of their standard errors.
    new = np.array([[0.3, 0.5]])
    predictions, errors = [], []
    for seed in range(60):
        random = np.random.default_rng(seed)
        X = random.random((100, 2))
        y = 3 * X[:, 0] + random.normal(size=100)
        model = RandomForestRegressor(600, min_samples_leaf=5, random_state=seed)
        model.fit(X, y)
        predictions.append(model.predict(new)[0])
        errors.append(model.standard_error(new)[0])
    ratio = np.mean(errors) / np.std(predictions, ddof=1)
    assert 0.75 < ratio < 1.35  # the deviation itself has an error of 9 %


def test_standard_errors_of_classes():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(50, max_depth=2, random_state=0).fit(X, y)
    errors = model.standard_error(X[45:55])
    assert errors.shape == (10, 3)
    assert (errors >= 0).all()


# --------------------------------------------------------- files, tools, errors
@pytest.mark.parametrize("name", ["forest", "extra", "bagging", "oblique"])
def test_files_keep_the_distribution(name, tmp_path):
    X, y = make_gaps(80)
    model = list_models()[name].set_params(store_distribution=True).fit(X, y)
    save_model(model, tmp_path / "model.json")
    restored = [load_model(tmp_path / "model.json")]
    restored.append(pickle.loads(pickle.dumps(model)))
    for other in restored:
        np.testing.assert_array_equal(
            other.predict(X, quantiles=LEVELS), model.predict(X, quantiles=LEVELS)
        )
        if name != "extra":
            np.testing.assert_array_equal(
                other.predict_interval(X), model.predict_interval(X)
            )


def test_files_keep_sets_of_classes(tmp_path):
    X, y = load_iris(return_X_y=True)
    for model in (RandomForestClassifier(9), BaggingClassifier(n_estimators=9)):
        model.set_params(random_state=0, store_distribution=True).fit(X, y)
        save_model(model, tmp_path / "model.json")
        other = load_model(tmp_path / "model.json")
        np.testing.assert_array_equal(other.predict_set(X), model.predict_set(X))
        np.testing.assert_array_equal(other.standard_error(X), model.standard_error(X))


def test_tools_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(10, random_state=0, store_distribution=True)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    assert pipeline.predict(X[:3], quantiles=[0.1, 0.9]).shape == (3, 2)
    search = GridSearchCV(model, {"min_samples_leaf": [1, 5]}, cv=2).fit(X, y)
    assert search.best_estimator_.predict_interval(X[:3]).shape == (3, 2)


@pytest.mark.parametrize("quantiles", [-0.1, [0.5, 1.1], [], "x", [[0.5]], [np.nan]])
def test_wrong_quantiles(quantiles):
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(3, store_distribution=True).fit(X, y)
    with pytest.raises(ValueError, match=r"'quantiles' parameter must be a number in"):
        model.predict(X, quantiles=quantiles)


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.5, np.nan, "0.9", None, True])
def test_wrong_coverages(coverage):
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(3, store_distribution=True).fit(X, y)
    with pytest.raises(ValueError, match=r"'coverage' parameter must be a float in"):
        model.predict_interval(X, coverage)


def test_sets_of_several_outputs():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(5, store_distribution=True)
    model.fit(X, np.stack([y, y > 0], axis=1))
    with pytest.raises(ValueError, match="predict_set requires a single output"):
        model.predict_set(X)
    with pytest.raises(ValueError, match="requires bootstrap=True"):
        model.set_params(bootstrap=False).fit(X, y)


def test_what_is_not_stored():
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(3).fit(X, y)
    for call in (
        forest.predict_interval,
        lambda X: forest.predict(X, quantiles=0.5),
        lambda X: forest.predict_interval(X, method="quantile"),
        RandomForestClassifier(3).fit(X, y > 100).predict_set,
    ):
        with pytest.raises(ValueError, match="store_distribution=True"):
            call(X)
    with pytest.raises(ValueError, match="'method' parameter must be"):
        forest.predict_interval(X, method="jackknife")
    extra = ExtraTreesRegressor(3, store_distribution=True).fit(X, y)
    with pytest.raises(ValueError, match="bootstrap=True"):
        extra.predict_interval(X)
    with pytest.raises(ValueError, match="bootstrap=True"):
        extra.standard_error(X)
    linear = BaggingRegressor(LinearRegression(), store_distribution=True).fit(X, y)
    with pytest.raises(ValueError, match="trees of this package"):
        linear.predict(X, quantiles=0.5)
    with pytest.raises(ValueError, match="warm_start=False"):
        linear.set_params(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="'store_distribution' parameter"):
        RandomForestRegressor(3, store_distribution=2).fit(X, y)


@pytest.mark.parametrize("name", ["predict_interval", "standard_error"])
def test_an_ensemble_that_is_not_fitted(name):
    for model in (RandomForestRegressor(), BaggingRegressor()):
        with pytest.raises(Exception, match="not fitted"):
            getattr(model, name)(np.zeros((3, 2)))
