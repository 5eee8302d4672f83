"""The elastic net: its minimum, its path, the choice of alpha, and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import xlogy
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, PoissonRegressor, enet_path
from sklearn.linear_model import LogisticRegression as StockLogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from sklearn_textbook.datasets import load_credit
from sklearn_textbook.io import load_model, save_model, scan
from sklearn_textbook.linear_model import (
    ElasticNet,
    ElasticNetClassifier,
    GeneralizedLinearRegressor,
    LogisticRegression,
    anova,
    estimate_contrasts,
    predictions,
    robust_covariance,
    wald_test,
)
from tests.reference.elastic_net import fit_squares, measure_violation

EXACT = {"tol": 1e-20}
#: Also for paths and cross-validation as of scikit-learn.
AS_THERE = EXACT | {"standardize": False}


def make_rows(seed, n_rows=40, n_columns=6, *, is_wide=False):
    """Rows with correlated columns far from zero, a target, weights."""
    random = np.random.default_rng(seed)
    if is_wide:
        n_rows, n_columns = 30, 700
    X = random.normal(size=(n_rows, n_columns)) + random.normal(size=(n_rows, 1))
    X = X * random.uniform(0.5, 2.0, n_columns) + random.normal(size=n_columns)
    coef = np.where(np.arange(n_columns) < 4, random.normal(size=n_columns), 0.0)
    y = X @ coef + random.normal(size=n_rows)
    return X, y, random.integers(1, 4, n_rows).astype(float)


# ------------------------------------------------------------------- the minimum
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4, 0.0])
def test_minimum_is_that_of_the_reference(seed, l1_ratio):
    X, y, weight = make_rows(seed)
    coef, intercept = fit_squares(X, y, weight, 0.1, l1_ratio)
    model = ElasticNet(0.1, l1_ratio=l1_ratio, **EXACT).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-10)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-9)
    assert model.dual_gap_ < 1e-12


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
def test_path_is_that_of_scikit_learn(l1_ratio, is_wide):
    X, y, _ = make_rows(5, is_wide=is_wide)
    model = ElasticNet("min", l1_ratio=l1_ratio, eps=0.01, **AS_THERE).fit(X, y)
    centred = X - X.mean(axis=0), y - y.mean()
    alphas, coefs, _ = enet_path(
        *centred, l1_ratio=l1_ratio, eps=0.01, tol=1e-15, max_iter=100_000
    )
    np.testing.assert_allclose(model.alphas_, alphas, rtol=1e-11)
    np.testing.assert_allclose(model.coef_path_, coefs, atol=1e-8)


def test_cross_validation_is_that_of_scikit_learn():
    X, y, _ = make_rows(6, n_rows=60)
    model = ElasticNet("min", l1_ratio=1.0, cv=KFold(5), **AS_THERE).fit(X, y)
    stock = LassoCV(tol=1e-13, max_iter=100_000).fit(X, y)
    assert model.alpha_ == pytest.approx(stock.alpha_, rel=1e-11)
    means = stock.mse_path_.mean(axis=1)
    np.testing.assert_allclose(model.path_table_["cv_mean"], means, rtol=1e-8)
    np.testing.assert_allclose(model.coef_, stock.coef_, atol=1e-8)
    errors = stock.mse_path_.std(axis=1) / np.sqrt(4)
    np.testing.assert_allclose(model.path_table_["cv_se"], errors, rtol=1e-8)


def test_units_of_columns_do_not_matter_where_alpha_is_chosen():
    """Amounts of money beside text: without units, the text is left out."""
    X, y = load_credit(return_X_y=True, as_frame=True)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:3000], order[3000:]
    scores = {}
    for standardize in ("auto", False):
        model = ElasticNetClassifier(
            "min", l1_ratio=1.0, missing="mean", standardize=standardize
        ).fit(X.iloc[train], y.iloc[train])
        found = model.predict_proba(X.iloc[test])[:, 1]
        scores[standardize] = roc_auc_score(y.iloc[test], found)
    free = LogisticRegression(firth=True, missing="mean")
    free.fit(X.iloc[train], y.iloc[train])
    limit = roc_auc_score(y.iloc[test], free.predict_proba(X.iloc[test])[:, 1])
    assert scores["auto"] > limit - 0.01
    assert scores[False] < limit - 0.05
    fixed = [
        ElasticNet(0.1, standardize=choice).fit(X[["amount"]].fillna(0.0), y == "good")
        for choice in ("auto", False)
    ]
    assert fixed[0].coef_ == fixed[1].coef_


def test_a_sorted_table_has_the_folds_of_others():
    X, y = load_diabetes(return_X_y=True)
    order = np.argsort(y)
    found = [
        ElasticNet("min", l1_ratio=1.0).fit(X[rows], y[rows]).path_table_["cv_mean"]
        for rows in (order, np.random.default_rng(0).permutation(len(y)))
    ]
    assert found[0].min() == pytest.approx(found[1].min(), rel=0.05)


def test_one_standard_error():
    X, y, _ = make_rows(6, n_rows=60)
    table = ElasticNet("min", l1_ratio=1.0).fit(X, y).path_table_
    best = np.argmin(table["cv_mean"])
    limit = table["cv_mean"][best] + table["cv_se"][best]
    model = ElasticNet("1se", l1_ratio=1.0).fit(X, y)
    is_near = table["cv_mean"] <= limit
    assert model.alpha_ == table["alpha"][is_near].max() > table["alpha"][best]
    assert model.path_table_["selected"].sum() == 1


FAMILIES = ["gaussian", "poisson", "gamma", "tweedie", "inverse_gaussian", "binomial"]


def make_target(family, X, random):
    mean = np.exp(0.3 * X[:, 0] - 0.2 * X[:, 1])
    return {
        "gaussian": lambda: X[:, 0] + random.normal(size=len(X)),
        "poisson": lambda: random.poisson(mean).astype(float),
        "tweedie": lambda: random.poisson(mean) * random.gamma(2, 0.5, len(X)),
        "binomial": lambda: random.uniform(0, mean / (1 + mean)),
    }.get(family, lambda: mean * random.gamma(5, 0.2, len(X)))()


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_conditions_of_the_minimum_hold_on_the_whole_path(family, is_wide):
    X, _, weight = make_rows(7, is_wide=is_wide)
    X /= 3.0
    y = make_target(family, X, np.random.default_rng(8))
    model = ElasticNet(
        "min",
        l1_ratio=0.8,
        family=family,
        alphas=12,
        eps=0.05,
        cv=2,
        standardize=False,
    )
    model.set_params(tol=1e-18).fit(X, y, weight)
    assert model.path_table_["n_nonzero"][0] == 0 < model.path_table_["n_nonzero"][-1]
    share = weight / weight.sum()
    for k, alpha in enumerate(model.alphas_):
        coef = model.coef_path_[:, k]
        predictor = X @ coef + model.intercept_path_[k]
        mean = model.link_.invert(predictor)
        rise = model.link_.differentiate(predictor, mean)
        residuals = share * (y - mean) * rise / model.family_.compute_variance(mean)
        assert abs(residuals.sum()) < 1e-6
        assert measure_violation(X.T @ residuals, coef, alpha, 0.8) < 1e-6


def test_poisson_is_that_of_scikit_learn():
    X, _, weight = make_rows(7)
    y = make_target("poisson", X, np.random.default_rng(8))
    model = ElasticNet(0.1, l1_ratio=0.0, family="poisson", **EXACT)
    model.fit(X, y, weight)
    stock = PoissonRegressor(alpha=0.1, solver="newton-cholesky", tol=1e-12)
    stock.fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, stock.coef_, atol=1e-9)
    assert model.score(X, y) == pytest.approx(stock.score(X, y))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.0])
def test_classifier_is_our_logistic_regression(n_classes, l1_ratio):
    X, y, weight = make_rows(9, n_rows=60)
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = ElasticNetClassifier(0.05, l1_ratio=l1_ratio, **EXACT)
    model.fit(X, labels, weight)
    strength = 1 / (0.05 * weight.sum())
    other = LogisticRegression(C=strength, l1_ratio=l1_ratio, tol=1e-12)
    other.fit(X, labels, weight)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-7)
    np.testing.assert_allclose(
        model.predict_proba(X), other.predict_proba(X), atol=1e-8
    )
    assert model.score(X, labels) == other.score(X, labels)


def test_many_classes_and_columns_are_fitted_class_by_class(monkeypatch):
    X, y, weight = make_rows(9, n_rows=60)
    labels = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    model = ElasticNetClassifier(0.05, alphas=[0.1, 0.2], tol=1e-14)
    narrow = model.fit(X, labels, weight).coef_path_
    monkeypatch.setattr("sklearn_textbook.linear_model.penalized.path.WIDE", 0)
    wide = model.fit(X, labels, weight).coef_path_
    np.testing.assert_allclose(wide, narrow, atol=1e-5)
    y = (y > 0).astype(float)
    for family in ("gaussian", "poisson"):
        wide = ElasticNet(0.05, family=family, alphas=5, **EXACT).fit(X, y, weight)
        monkeypatch.undo()
        model = ElasticNet(0.05, family=family, alphas=5, **EXACT).fit(X, y, weight)
        np.testing.assert_allclose(wide.coef_path_, model.coef_path_, atol=1e-8)


def test_more_columns_than_products_are_kept_for(monkeypatch):
    X, y, weight = make_rows(3)
    model = ElasticNet("min", alphas=20, cv=3, **EXACT).fit(X, y, weight)
    name = "sklearn_textbook.linear_model.penalized.fitting."
    monkeypatch.setattr(name + "FEW_COLUMNS", 0)
    monkeypatch.setattr(name + "MANY_COLUMNS", 0)
    by_rows = ElasticNet("min", alphas=20, cv=3, **EXACT).fit(X, y, weight)
    np.testing.assert_allclose(by_rows.coef_path_, model.coef_path_, atol=1e-8)
    np.testing.assert_allclose(
        by_rows.path_table_["cv_mean"], model.path_table_["cv_mean"], rtol=1e-8
    )
    assert by_rows.dual_gap_ < 1e-12


def test_correlated_columns_converge():
    random = np.random.default_rng(0)
    base = random.normal(size=(100, 1))
    X = base + 1e-3 * random.normal(size=(100, 8))
    y = base[:, 0] + 0.1 * random.normal(size=100)
    model = ElasticNet(1e-5, l1_ratio=1.0).fit(X, y)
    assert model.dual_gap_ <= 1e-8 * 0.5 * y.var()


# ------------------------------------------------------- weights, units and order
@pytest.mark.parametrize("family", ["gaussian", "poisson"])
@pytest.mark.parametrize("standardize", [False, True])
def test_weights_are_copies(family, standardize):
    X, y, weight = make_rows(2)
    y = np.abs(y)
    model = ElasticNet(0.1, family=family, standardize=standardize, alphas=9, **EXACT)
    first = model.fit(X, y, weight).coef_path_
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    second = model.fit(X[copies], y[copies]).coef_path_
    np.testing.assert_allclose(first, second, atol=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_standardized_columns_may_have_any_unit(family):
    X, y, _ = make_rows(2)
    y = np.abs(y)
    units = 10.0 ** np.arange(-3, 3)
    model = ElasticNet(0.1, family=family, standardize=True, **EXACT).fit(X, y)
    other = ElasticNet(0.1, family=family, standardize=True, **EXACT).fit(X * units, y)
    np.testing.assert_allclose(other.coef_ * units, model.coef_, atol=1e-8)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = ElasticNet(0.1, family=family, **EXACT).fit(scaled, y)
    np.testing.assert_allclose(plain.coef_ / X.std(axis=0), model.coef_, atol=1e-8)


@pytest.mark.parametrize("make", [ElasticNet, ElasticNetClassifier])
def test_order_of_rows_and_columns_does_not_matter(make):
    X, y, weight = make_rows(4)
    y = (y > y.mean()).astype(int)
    random = np.random.default_rng(0)
    rows, columns = random.permutation(len(y)), random.permutation(X.shape[1])
    model = make(0.02, **EXACT).fit(X, y, weight)
    other = make(0.02, **EXACT).fit(X[rows][:, columns], y[rows], weight[rows])
    first, second = np.atleast_2d(model.coef_), np.atleast_2d(other.coef_)
    np.testing.assert_allclose(second, first[:, columns], atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_sparse_rows(family, fit_intercept, standardize):
    X, y, weight = make_rows(1)
    X, y = np.where(X > 0.5, X, 0.0), np.abs(y)
    options = {"fit_intercept": fit_intercept, "standardize": standardize}
    model = ElasticNet(0.05, family=family, alphas=7, **options, **EXACT)
    dense = model.fit(X, y, weight).coef_path_
    sparse = model.fit(csr_array(X), y, weight).coef_path_
    np.testing.assert_allclose(sparse, dense, atol=1e-9)
    np.testing.assert_allclose(model.predict(csr_array(X)), model.predict(X))


def test_result_does_not_depend_on_threads():
    X, y, weight = make_rows(1, n_rows=20_000)
    one, two = (
        ElasticNet("min", alphas=9, n_jobs=n_jobs).fit(X, y, weight)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.coef_path_, two.coef_path_)
    np.testing.assert_array_equal(
        one.path_table_["cv_mean"], two.path_table_["cv_mean"]
    )


def test_constant_column_has_no_coefficient():
    X, y, _ = make_rows(1)
    X[:, 2] = 1 / 3
    for family in ("gaussian", "poisson"):
        model = ElasticNet(0.0, family=family, standardize=True).fit(X, np.abs(y))
        assert model.coef_[2] == 0.0
        assert (np.delete(model.coef_, 2) != 0.0).all()


# -------------------------------------------------------------------- parameters
def test_unpenalised_columns():
    X, y, _ = make_rows(3)
    for family in ("gaussian", "poisson"):
        target = np.abs(y)
        model = ElasticNet(
            "min", family=family, l1_ratio=1.0, penalty_factors={1: 0.0, 2: 2.0}
        )
        model.set_params(tol=1e-16).fit(X, target)
        assert model.coef_path_[1, 0] != 0.0
        assert np.count_nonzero(model.coef_path_[:, 0]) == 1
        residuals = (target - model.predict(X)) / len(y)
        slopes = X.T @ residuals
        assert abs(slopes[1]) < 1e-8
        assert abs(slopes[2]) <= 2.0 * model.alpha_ * (1 + 1e-6)
    listed = ElasticNet(0.1, penalty_factors=[1, 0, 2, 1, 1, 1], **EXACT).fit(X, y)
    named = ElasticNet(0.1, penalty_factors={"x1": 0.0, "x2": 2.0}, **EXACT)
    named.fit(pd.DataFrame(X, columns=[f"x{k}" for k in range(6)]), y)
    np.testing.assert_allclose(listed.coef_, named.coef_, atol=1e-12)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_positive_coefficients(family):
    X, y, _ = make_rows(3)
    X[:, 1] *= -1.0
    model = ElasticNet(0.02, l1_ratio=1.0, family=family, positive=True, **EXACT)
    model.fit(X, np.abs(y))
    free = ElasticNet(0.02, l1_ratio=1.0, family=family).fit(X, np.abs(y))
    assert (model.coef_ >= 0.0).all()
    assert (free.coef_ < 0.0).any()
    mean = model.predict(X)
    slopes = X.T @ (np.abs(y) - mean) / len(y)
    assert (slopes <= 0.02 + 1e-8).all()
    np.testing.assert_allclose(slopes[model.coef_ > 0.0], 0.02, atol=1e-8)


def test_alpha_is_added_to_the_path():
    X, y, _ = make_rows(3)
    model = ElasticNet(0.1, alphas=10).fit(X, y)
    assert len(model.alphas_) == 11
    assert 0.1 in model.alphas_
    assert (np.diff(model.alphas_) < 0).all()
    alone = ElasticNet(0.1).fit(X, y)
    assert alone.alphas_.tolist() == [0.1]
    np.testing.assert_allclose(alone.coef_, model.coef_, atol=1e-4)
    given = ElasticNet(0.1, alphas=[0.01, 0.1, 1.0]).fit(X, y)
    assert given.alphas_.tolist() == [1.0, 0.1, 0.01]


def test_warm_start():
    X, y, _ = make_rows(3)
    for model in (
        ElasticNet(0.01, tol=1e-14, warm_start=True),
        ElasticNet(0.01, family="poisson", tol=1e-14, warm_start=True),
        ElasticNetClassifier(0.01, tol=1e-14, warm_start=True),
    ):
        target = (y > 0).astype(int)
        n_first = model.fit(X, target).n_iter_
        coef = model.coef_
        assert model.fit(X, target).n_iter_ < n_first
        np.testing.assert_allclose(model.coef_, coef, atol=1e-6)


def test_folds_may_be_given():
    X, y, weight = make_rows(3)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    first = ElasticNet("min", cv=4).fit(X, y).path_table_
    second = ElasticNet("min", cv=folds).fit(X, y).path_table_
    np.testing.assert_array_equal(first["cv_mean"], second["cv_mean"])
    masks = [tuple(np.isin(np.arange(40), rows) for rows in fold) for fold in folds]
    masked = ElasticNet("min", cv=masks).fit(X, y).path_table_
    np.testing.assert_array_equal(masked["cv_mean"], first["cv_mean"])
    repeated = [(np.repeat(train[::2], 2)[:30], test) for train, test in folds]
    table = ElasticNet("min", cv=repeated, alphas=[0.1, 0.2]).fit(X, y).path_table_
    for k, alpha in enumerate([0.2, 0.1]):
        alone = ElasticNet(alpha, standardize=True)
        errors = [
            np.mean((y[test] - alone.fit(X[train], y[train]).predict(X[test])) ** 2)
            for train, test in repeated
        ]
        assert table["cv_mean"][k] == pytest.approx(np.mean(errors), rel=1e-6)
    # A row of weight 0 is in no fold, and does not shift the others.
    longer = np.vstack([np.full((1, 6), 9.0), X]), np.append(99.0, y)
    moved = [(np.append(0, train + 1), test + 1) for train, test in folds]
    third = ElasticNet("min", cv=moved).fit(*longer, np.append(0.0, np.ones(len(y))))
    np.testing.assert_allclose(
        third.path_table_["cv_mean"], first["cv_mean"], rtol=1e-10
    )
    overlapping = [(np.arange(30), np.arange(20, 40)), (np.arange(9, 40), np.arange(9))]
    table = ElasticNet("min", cv=overlapping).fit(X, y, weight).path_table_
    assert np.isfinite(table["cv_mean"]).all()


# ------------------------------------------------------------------------ levels
def make_levels(seed, n_rows=80):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": random.normal(size=n_rows),
            "colour": random.choice(["red", "green", "blue", "grey"], n_rows),
            "town": random.choice(list("abc"), n_rows),
        }
    )
    effect = X["colour"].map({"red": 1.0, "green": -1.0, "blue": 0.3, "grey": 0.0})
    y = X["size"] + effect + 0.5 * random.normal(size=n_rows)
    return X, y.to_numpy(float)


def list_groups(model):
    places = map(model.design_.find_columns, range(model.n_features_in_))
    return [list(range(place.start, place.stop)) for place in places]


@pytest.mark.parametrize("reference_level", ["first", None])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_groups_of_levels(l1_ratio, reference_level):
    X, y = make_levels(0)
    model = ElasticNet(
        0.08,
        l1_ratio=l1_ratio,
        grouped_levels=True,
        reference_level=reference_level,
        alphas=15,
        **EXACT,
    ).fit(X, y)
    groups = list_groups(model)
    matrix = model.design_.read(X)
    coef, _ = fit_squares(matrix, y, np.ones(len(y)), 0.08, l1_ratio, groups)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-9)
    for k, alpha in enumerate(model.alphas_):
        path = model.coef_path_[:, k]
        residuals = y - matrix @ path - model.intercept_path_[k]
        slopes = matrix.T @ residuals / len(y)
        assert measure_violation(slopes, path, alpha, l1_ratio, groups) < 1e-8
        for group in groups:
            assert np.count_nonzero(path[group]) in (0, len(group))
    assert (model.coef_path_[groups[2], 1] == 0.0).all()


@pytest.mark.parametrize("make", [ElasticNet, ElasticNetClassifier])
def test_groups_of_levels_of_other_models(make):
    X, y = make_levels(1)
    options = {"family": "poisson"} if make is ElasticNet else {}
    y = np.digitize(y, [-0.5, 0.5])
    model = make(0.02, l1_ratio=1.0, grouped_levels=True, alphas=9, **options)
    model.set_params(tol=1e-17).fit(X, y)
    matrix = model.design_.read(X)
    groups = list_groups(model)
    scores = matrix @ model.coef_.T + model.intercept_
    if make is ElasticNet:
        slopes = [matrix.T @ (y - np.exp(scores)) / len(y)]
    else:
        shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        slopes = (matrix.T @ (np.eye(3)[y] - shares) / len(y)).T
    for slope, coef in zip(slopes, np.atleast_2d(model.coef_), strict=True):
        assert measure_violation(slope, coef, 0.02, 1.0, groups) < 1e-7
    n_some = [
        np.count_nonzero(model.coef_path_[..., group, :], axis=-2) for group in groups
    ]
    for group, counts in zip(groups, n_some, strict=True):
        assert np.isin(counts, [0, len(group)]).all()


def test_grouped_numbers_are_single():
    X, y, _ = make_rows(3)
    first = ElasticNet(0.1).fit(X, y).coef_
    second = ElasticNet(0.1, grouped_levels=True).fit(X, y).coef_
    np.testing.assert_array_equal(first, second)


# --------------------------------------------------------------- other functions
@pytest.mark.parametrize("make", [ElasticNet, ElasticNetClassifier])
def test_inference_refuses_penalised_models_by_name(make):
    X, y, _ = make_rows(3)
    model = make(0.01).fit(X, (y > 0).astype(int))
    for call in (
        lambda: anova(model, X, y),
        lambda: wald_test(model, ["x0"]),
        lambda: estimate_contrasts(model, ["x0"]),
        lambda: robust_covariance(model, X, y),
        lambda: predictions(model, X),
    ):
        with pytest.raises(TypeError, match=make.__name__):
            call()


@pytest.mark.parametrize("make", [ElasticNet, ElasticNetClassifier])
@pytest.mark.parametrize("alpha", [0.02, "1se"])
def test_model_files(make, alpha, tmp_path):
    X, y = make_levels(1)
    y = np.digitize(y, [-0.5, 0.5])
    model = make(alpha, alphas=9, grouped_levels=True).fit(X, y)
    path = tmp_path / "model.json"
    save_model(model, path)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.path_table_.keys() == model.path_table_.keys()
    for name, column in model.path_table_.items():
        np.testing.assert_array_equal(loaded.path_table_[name], column)


# ---------------------------------------------------------------------- messages
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": "best"}, "'alpha' parameter must be one of 'min', '1se' or a float"),
        ({"alpha": -1.0}, "'alpha'"),
        ({"alpha": np.inf}, "'alpha'"),
        ({"l1_ratio": 1.5}, "'l1_ratio'"),
        ({"alphas": 0}, "'alphas'"),
        ({"alphas": [1.0, -1.0]}, "'alphas'"),
        ({"alphas": "many"}, "'alphas'"),
        ({"eps": 0.0}, "'eps'"),
        ({"cv": 1}, "'cv'"),
        ({"cv": "five"}, "'cv'"),
        ({"standardize": "yes"}, "'standardize'"),
        ({"grouped_levels": 2}, "'grouped_levels'"),
        ({"penalty_factors": [1.0]}, "'penalty_factors'.*each of 6 columns"),
        ({"penalty_factors": {1: -1.0}}, "'penalty_factors'"),
        ({"penalty_factors": {"age": 1.0}}, "penalty_factors must be column names"),
        ({"positive": None}, "'positive'"),
        ({"max_iter": 0}, "'max_iter'"),
        ({"tol": -1.0}, "'tol'"),
        ({"random_state": "a"}, "'random_state'"),
        ({"alpha": "min", "cv": 50}, "n_samples=40"),
        ({"alpha": "min", "cv": iter([])}, "no folds"),
        ({"alpha": "min", "cv": [(np.arange(9), [])]}, "without test rows"),
    ],
)
def test_wrong_parameters(options, words):
    X, y, _ = make_rows(3)
    for make in (ElasticNet, ElasticNetClassifier):
        with pytest.raises(ValueError, match=words):
            make(**options).fit(X, (y > 0).astype(int))


def test_wrong_families_and_targets():
    X, y, _ = make_rows(3)
    with pytest.raises(ValueError, match=r"'family'.*Did you mean 'gaussian'"):
        ElasticNet(family="gausian").fit(X, y)
    with pytest.raises(ValueError, match="'power'"):
        ElasticNet(family="tweedie", power=0.5).fit(X, np.abs(y))
    with pytest.raises(ValueError, match="out of the valid range"):
        ElasticNet(family="poisson").fit(X, y)
    with pytest.raises(ValueError, match="0 in all rows"):
        ElasticNet(family="poisson").fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="'class_weight'"):
        ElasticNetClassifier(class_weight="even").fit(X, y > 0)
    with pytest.raises(ValueError, match="lack"):
        ElasticNetClassifier("min", cv=KFold(2)).fit(X, np.arange(40) > 19)


def test_slow_convergence_warns():
    X, y, _ = make_rows(3)
    with pytest.warns(ConvergenceWarning, match=r"alphas, first for alpha=.*max_iter"):
        ElasticNet(1e-3, max_iter=1, tol=1e-12).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ElasticNet(1e-3, tol=1e-12).fit(X, y)


def test_saga_agrees():
    X, y, _ = make_rows(9, n_rows=60)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = ElasticNetClassifier(0.05, l1_ratio=0.5, **EXACT).fit(X, y > 0)
    stock = StockLogisticRegression(
        C=1 / (0.05 * 60), l1_ratio=0.5, solver="saga", tol=1e-12, max_iter=100_000
    ).fit(X, y > 0)
    np.testing.assert_allclose(model.coef_, stock.coef_, atol=1e-8)


# ----------------------------------------------------------------------- offsets
def make_rates(n_rows=300):
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "z": rng.normal(size=n_rows) * 5,
            "g": rng.choice(["a", "b", "c"], n_rows),
        }
    )
    hours = rng.uniform(0.5, 60.0, n_rows)
    rate = np.exp(0.4 * X["x"] + 0.5 * (X["g"] == "b") - 1.0)
    return X, rng.poisson(rate * hours).astype(float), hours


OFFSET_FAMILIES = {
    "gaussian": {"family": "gaussian"},
    "poisson": {"family": "poisson"},
    "tweedie": {"family": "tweedie", "power": 1.4},
    "gamma": {"family": "gamma"},
    "binomial": {"family": "binomial"},
}


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", OFFSET_FAMILIES)
def test_offsets_without_a_penalty_are_those_of_generalized_models(name, fit_intercept):
    X, y, hours = make_rates()
    y = {"gamma": y + 0.5, "binomial": y / (y.max() + 1.0)}.get(name, y)
    offset = np.log(hours) - 2.0
    weight = np.arange(len(y)) % 3 + 0.0
    link = {"gaussian": "identity", "binomial": "logit"}.get(name, "log")
    options = OFFSET_FAMILIES[name] | {"fit_intercept": fit_intercept}
    model = ElasticNet(0.0, tol=1e-16, **options)
    model.fit(X, y, weight, offset=offset)
    expected = GeneralizedLinearRegressor(
        tol=1e-12, max_iter=1000, link=link, **options
    )
    expected.fit(X, y, weight, offset=offset)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-7)
    for known in ({}, {"offset": offset}):
        found, wanted = (each.predict(X, **known) for each in (model, expected))
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        found, wanted = (
            each.score(X, y, weight, **known) for each in (model, expected)
        )
        np.testing.assert_allclose(found, wanted, atol=1e-8)
    explained = 1.0 - expected.deviance_ / expected.null_deviance_
    np.testing.assert_allclose(
        model.path_table_["deviance_ratio"], explained, atol=1e-8
    )


@pytest.mark.parametrize("kind", ["dense", "sparse", "wide"])
def test_conditions_of_the_minimum_with_an_exposure(kind):
    X, y, hours = make_rates(60 if kind == "wide" else 300)
    rng = np.random.default_rng(5)
    n_others = 400 if kind == "wide" else 3
    X = np.column_stack([X["x"], rng.normal(size=(len(y), n_others))])
    X[np.abs(X) < 0.5] = 0.0
    table = csr_array(X) if kind == "sparse" else X
    model = ElasticNet(0.3, family="poisson", l1_ratio=0.7, tol=1e-14)
    model.fit(table, y, exposure=hours)
    residual = y - model.predict(table, exposure=hours)
    slopes = X.T @ residual / len(y) - 0.3 * 0.3 * model.coef_
    assert abs(residual.mean()) < 1e-7
    is_used = model.coef_ != 0.0
    assert 0 < is_used.sum() < len(is_used)
    np.testing.assert_allclose(
        slopes[is_used], 0.21 * np.sign(model.coef_[is_used]), atol=1e-6
    )
    assert (np.abs(slopes[~is_used]) <= 0.21 + 1e-7).all()
    same = ElasticNet(0.3, family="poisson", l1_ratio=0.7, tol=1e-14)
    same.fit(table, y, offset=np.log(hours))
    np.testing.assert_array_equal(same.coef_, model.coef_)


def test_folds_have_the_offsets_of_their_rows():
    """Deviances of test rows, computed anew; and rows that are left out."""
    X, y, hours = make_rates()
    folds = [(np.arange(len(y)) % 3 != k, np.arange(len(y)) % 3 == k) for k in range(3)]
    options = {"family": "poisson", "tol": 1e-12, "standardize": False}
    model = ElasticNet("min", alphas=[0.5, 0.1], cv=folds, **options)
    model.fit(X, y, exposure=hours)
    for place, alpha in enumerate([0.5, 0.1]):
        means = []
        for train, test in folds:
            part = ElasticNet(alpha, **options)
            part.fit(X[train], y[train], exposure=hours[train])
            mean = part.predict(X[test], exposure=hours[test])
            unit = 2.0 * (xlogy(y[test], y[test] / mean) - y[test] + mean)
            means.append(unit.mean())
        np.testing.assert_allclose(
            model.path_table_["cv_mean"][place], np.mean(means), rtol=1e-6
        )
    lacking = X.copy()
    lacking.loc[::7, "x"] = np.nan
    kept = lacking["x"].notna().to_numpy()
    found = ElasticNet(0.1, missing="drop", **options)
    found.fit(lacking, y, exposure=hours)
    expected = ElasticNet(0.1, **options).fit(X[kept], y[kept], exposure=hours[kept])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_offsets_of_classes(n_classes, tmp_path):
    """A known part of the scores is subtracted from their coefficients."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(300, 2))
    scores = np.column_stack([np.zeros(300), X, X])[:, :n_classes]
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    plain = ElasticNetClassifier(0.0, tol=1e-16).fit(X, y)
    part = rng.normal(size=(2, n_classes))
    part -= part.mean(axis=1, keepdims=True)
    offset = X @ part
    if n_classes == 2:
        part, offset = part[:, 1:], offset[:, 1]
    model = ElasticNetClassifier(0.0, tol=1e-16).fit(X, y, offset=offset)
    moved = model.coef_ + part.T - plain.coef_
    if n_classes > 2:  # the same number may be added to all
        moved = moved - moved.mean(axis=0)
    np.testing.assert_allclose(moved, 0.0, atol=1e-6)
    expected = plain.predict_proba(X)
    np.testing.assert_allclose(
        model.predict_proba(X, offset=offset), expected, atol=1e-7
    )
    np.testing.assert_allclose(
        model.predict_log_proba(X, offset=offset), np.log(expected), atol=1e-6
    )
    assert (model.predict(X, offset=offset) == plain.predict(X)).all()
    assert (model.predict(X) != plain.predict(X)).any()
    penalised = ElasticNetClassifier(0.02, l1_ratio=0.5, tol=1e-15)
    penalised.fit(X, y, offset=offset)
    is_own = y[:, np.newaxis] == np.arange(n_classes)
    residual = (is_own - penalised.predict_proba(X, offset=offset)) / len(y)
    slopes = (X.T @ residual).T[-len(model.coef_) :] - 0.01 * penalised.coef_
    used = penalised.coef_ != 0.0
    np.testing.assert_allclose(
        slopes[used], 0.01 * np.sign(penalised.coef_[used]), atol=1e-6
    )
    if n_classes == 2:
        frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, o=offset)
        frame.to_csv(tmp_path / "t.csv", index=False)
        named = ElasticNetClassifier(0.0, tol=1e-16)
        named.fit(frame[["a", "b"]], y, offset=offset)
        rows = scan(tmp_path / "t.csv")
        np.testing.assert_allclose(
            named.predict_proba(rows, offset="o"), expected, atol=1e-7
        )


def test_wrong_offsets():
    X, y, hours = make_rates(30)
    model = ElasticNet(family="poisson")
    for known, message in (
        ({"offset": hours[:5]}, r"offset must have shape \(30,\)"),
        ({"offset": np.where(hours > 5, np.nan, 1.0)}, "contains NaN"),
        ({"exposure": -hours}, "exposure must be above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, **known)
    with pytest.raises(ValueError, match="exposure requires the link 'log'"):
        ElasticNet().fit(X, y, exposure=hours)
    labels = np.arange(30) % 3
    with pytest.raises(ValueError, match=r"offset must have shape \(30, 3\)"):
        ElasticNetClassifier().fit(X, labels, offset=hours)
