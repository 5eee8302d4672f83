"""Bayesian model averaging over linear models of all subsets of the columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook.ensemble import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
)
from sklearn_textbook.ensemble.model_averaging.subsets import (
    SubsetRules,
    explore_subsets,
)
from sklearn_textbook.linear_model import LinearRegression, LogisticRegression
from tests.loops import loop_over
from tests.reference.model_averaging import average_subsets, fit_line, fit_log_odds

DIABETES = load_diabetes(return_X_y=True, scaled=False)


def list_models(averaging):
    """Posterior probability of each model, by the numbers of its columns."""
    numbers = {name: number for number, name in enumerate(averaging.coef_names_)}
    table = averaging.posterior_table_
    return {
        tuple(numbers[name] for name in terms): weight
        for terms, weight in zip(table["terms"], table["weight"], strict=True)
    }


def compare(averaging, expected):
    """Compare an average over subsets of single columns with the reference."""
    models, terms, mean, std = expected
    found = list_models(averaging)
    assert found.keys() == models.keys()
    for subset, weight in models.items():
        np.testing.assert_allclose(found[subset], weight, rtol=1e-6)
    np.testing.assert_allclose(averaging.inclusion_probabilities_, terms, atol=1e-9)
    coef = np.append(averaging.intercept_, np.ravel(averaging.coef_))
    coef_std = np.append(averaging.intercept_std_, np.ravel(averaging.coef_std_))
    np.testing.assert_allclose(coef, mean, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(coef_std, std, rtol=1e-6, atol=1e-9)


def make_table(seed, n_rows=60, n_columns=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    score = X @ rng.choice([0, 0, 0.5, 1], n_columns)
    return X + 3, score, rng


# ------------------------------------------------------------------ least squares


@loop_over("seed", range(4))
@pytest.mark.parametrize("window", [20.0, np.inf])
def test_regressions_by_brute_force(seed, window):
    X, score, rng = make_table(seed)
    y = score + rng.normal(size=len(X)) * np.abs(score).mean()
    weight = rng.integers(1, 4, size=len(X)).astype(float) if seed % 2 else None
    inclusion = [0.5, 0.9, 0.2, 1.0, 0.5] if seed > 1 else None
    averaging = BayesianModelAveragingRegressor(occam_window=window, prior=inclusion)
    averaging.fit(X, y, weight)
    groups = [[column] for column in range(X.shape[1])]
    with np.errstate(divide="ignore"):
        expected = average_subsets(X, y, groups, fit_line, weight, window, inclusion)
    if inclusion is not None and window == np.inf:
        # The reference lists models of probability 0, too.
        models = {subset: w for subset, w in expected[0].items() if w > 0}
        expected = models, *expected[1:]
    compare(averaging, expected)


@loop_over("seed", range(6))
def test_residuals_and_ranks_of_terms_that_depend(seed):
    rng = np.random.default_rng(seed)
    n_rows = [4, 12][seed % 2]
    X = rng.normal(size=(n_rows, 9))
    X[:, 3] = X[:, 0] + X[:, 1]
    X[:, 6] = X[:, 5]
    X[:, 8] = 0
    X /= np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    y = rng.normal(size=n_rows)
    groups = np.split(rng.permutation(9), np.sort(rng.choice(9, 4)))
    rules = SubsetRules(tuple("abcde"), np.full(5, 0.5), 5, 20.0)
    is_in, rank, residual = explore_subsets(X, y, groups, rules, 1e-10)
    assert len(np.unique(is_in, axis=0)) == 32
    for row, found, squares in zip(is_in, rank, residual, strict=True):
        used = [group for group, has in zip(groups, row, strict=True) if has]
        columns = X[:, np.concatenate([[], *used]).astype(int)]
        fitted = columns @ np.linalg.lstsq(columns, y, rcond=1e-10)[0]
        assert found == (np.linalg.matrix_rank(columns) if columns.size else 0)
        np.testing.assert_allclose(squares, ((y - fitted) ** 2).sum(), atol=1e-12)


def test_table_of_regressions_is_that_of_the_models():
    X, y = DIABETES
    averaging = BayesianModelAveragingRegressor(occam_window=1000.0).fit(X, y)
    table = averaging.posterior_table_
    assert (np.diff(table["weight"]) <= 0).all()
    for subset, number in zip(list_models(averaging), range(5), strict=False):
        line = LinearRegression().fit(X[:, subset], y)
        assert table["bic"][number] == pytest.approx(line.bic_)
        assert table["log_likelihood"][number] == pytest.approx(line.log_likelihood_)
        assert table["r_squared"][number] == pytest.approx(line.r_squared_)
        assert table["n_parameters"][number] == len(subset) + 2
        assert table["n_terms"][number] == len(subset)
    ratio = np.exp(-0.5 * (table["bic"][1] - table["bic"][0]))
    assert table["weight"][1] / table["weight"][0] == pytest.approx(ratio)


def test_standard_deviations_of_predictions():
    X, y = DIABETES
    averaging = BayesianModelAveragingRegressor().fit(X, y)
    values, deviations = averaging.predict(X[:20], return_std=True)
    means, squares = [], []
    for subset in list_models(averaging):
        columns = list(subset)
        line = LinearRegression().fit(X[:, columns], y)
        given = line.predict(X[:20][:, columns])
        low, high = line.predict_interval(X[:20][:, columns], level=0.5).T
        quantile = line.predict_interval(X[:1][:, columns], level=0.5)
        assert quantile.shape == (1, 2)
        Z = np.column_stack([np.ones(len(X)), X[:, columns]])
        z = Z[:20]
        spread = np.einsum("ij,jk,ik->i", z, np.linalg.inv(Z.T @ Z), z)
        variance = line.residual_standard_error_**2 * (1 + spread)
        assert (low < high).all()
        means.append(given)
        squares.append(variance + given**2)
    weights = averaging.weights_
    np.testing.assert_allclose(values, weights @ means)
    second = weights @ squares
    np.testing.assert_allclose(deviations, np.sqrt(second - (weights @ means) ** 2))


def test_planted_columns_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 12))
    score = X[:, [1, 4, 7]].sum(axis=1)
    planted = np.isin(np.arange(12), [1, 4, 7])
    for averaging, y in (
        (BayesianModelAveragingRegressor(), score + rng.normal(size=500)),
        (BayesianModelAveragingClassifier(), score + rng.logistic(size=500) > 0),
    ):
        found = averaging.fit(X, y).inclusion_probabilities_
        assert (found[planted] > 0.999).all()
        assert (found[~planted] < 0.3).all()


def test_weights_count_rows():
    X, score, rng = make_table(0, 40, 4)
    counts = rng.integers(0, 4, size=len(X))
    repeated = np.repeat(np.arange(len(X)), counts)
    for averaging, y in (
        (BayesianModelAveragingRegressor(), score + rng.normal(size=len(X))),
        (BayesianModelAveragingClassifier(), score + rng.logistic(size=len(X)) > 3),
    ):
        weighted = clone(averaging).fit(X, y, counts)
        other = clone(averaging).fit(X[repeated], y[repeated])
        np.testing.assert_allclose(weighted.weights_, other.weights_, rtol=1e-7)
        np.testing.assert_allclose(weighted.coef_, other.coef_, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(weighted.coef_std_, other.coef_std_, rtol=1e-6)


def test_dependent_columns_count_by_rank():
    X, score, rng = make_table(1, 80, 3)
    y = score + rng.normal(size=len(X))
    doubled = np.column_stack([X, 2 * X[:, 0], np.ones(len(X))])
    averaging = BayesianModelAveragingRegressor(occam_window=np.inf).fit(doubled, y)
    table = averaging.posterior_table_
    rank = {
        terms: n - 2
        for terms, n in zip(table["terms"], table["n_parameters"], strict=True)
    }
    assert len(rank) == 32
    assert rank["x0", "x3"] == rank["x0",] == rank["x3",] == rank["x3", "x4"] == 1
    assert rank["x0", "x1", "x2", "x3", "x4"] == 3
    by_terms = dict(zip(table["terms"], table["weight"], strict=True))
    assert by_terms["x0", "x3"] == pytest.approx(by_terms["x0",])
    # Where the constant column is makes no difference.
    assert averaging.inclusion_probabilities_[4] == pytest.approx(0.5)
    # No model with both determines their coefficients.
    assert np.isnan(averaging.coef_std_).tolist() == [True, False, False, True, True]
    plain = BayesianModelAveragingRegressor(occam_window=np.inf, prior=[0.75, 0.5, 0.5])
    # One of two, or both: three subsets of four have the column.
    np.testing.assert_allclose(
        averaging.predict(doubled), plain.fit(X, y).predict(X), rtol=1e-9
    )


def test_terms_go_in_and_out_as_a_whole():
    rng = np.random.default_rng(0)
    n = 200
    colour = rng.choice(["red", "green", "blue", "grey"], n)
    table = pd.DataFrame({"colour": colour, "size": rng.normal(size=n)})
    table["noise"] = rng.choice(["a", "b"], n)
    effect = pd.Series(colour).map({"red": 0, "green": 1, "blue": 2, "grey": 3})
    y = effect.to_numpy() + rng.normal(size=n)
    averaging = BayesianModelAveragingRegressor(occam_window=np.inf).fit(table, y)
    assert len(averaging.weights_) == 8
    assert averaging.coef_.shape == (5,)
    assert averaging.coef_names_[-1] == "noise=b"
    Z = np.column_stack(
        [colour == "green", colour == "grey", colour == "red", table["size"]]
    ).astype(float)
    Z = np.column_stack([Z, table["noise"] == "b"])
    groups = [[0, 1, 2], [3], [4]]
    _, terms, mean, std = average_subsets(Z, y, groups, fit_line, None, np.inf)
    np.testing.assert_allclose(averaging.inclusion_probabilities_, terms)
    np.testing.assert_allclose(averaging.coef_, mean[1:])
    np.testing.assert_allclose(averaging.coef_std_, std[1:])
    assert averaging.inclusion_probabilities_[0] > 0.999
    text = averaging.summary()
    assert max(map(len, text.splitlines())) <= 80
    coded = table.assign(colour=effect.to_numpy(), noise=(table["noise"] == "b") * 1)
    other = BayesianModelAveragingRegressor(
        occam_window=np.inf, categorical_features=["colour", "noise"]
    ).fit(coded, y)
    np.testing.assert_allclose(other.inclusion_probabilities_, terms)
    with pytest.warns(UserWarning, match="'colour' in 200 rows \\('pink'\\)"):
        averaging.predict(table.assign(colour="pink"))
    with pytest.raises(ValueError, match="Column 'colour', row 0"):
        averaging.set_params(handle_unknown="error").predict(
            table.assign(colour="pink")
        )


def test_sparse_tables():
    X, score, rng = make_table(2, 50, 4)
    X[rng.uniform(size=X.shape) < 0.6] = 0
    for averaging, y in (
        (BayesianModelAveragingRegressor(), X[:, 0] + rng.normal(size=50)),
        (BayesianModelAveragingClassifier(), X[:, 0] + 3 * rng.logistic(size=50) > 2),
    ):
        dense = clone(averaging).fit(X, y)
        thin = clone(averaging).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(thin.weights_, dense.weights_, rtol=1e-6)
        np.testing.assert_allclose(
            thin.predict(sparse.csr_array(X)), dense.predict(X), rtol=1e-6
        )
    thin = BayesianModelAveragingRegressor().fit(sparse.csr_array(X), score)
    _, deviations = thin.predict(sparse.csr_array(X), return_std=True)
    assert deviations.shape == (50,)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 12))
    y = X[:, 0] + 0.01 * rng.normal(size=8)
    averaging = BayesianModelAveragingRegressor(occam_window=np.inf).fit(X, y)
    table = averaging.posterior_table_
    # A residual degree of freedom is left.
    assert table["n_parameters"].max() == 8
    assert np.isfinite(table["bic"]).all()
    assert averaging.inclusion_probabilities_[0] > 0.9


def test_units_have_no_effect():
    X, y = DIABETES
    units = 10.0 ** np.arange(-50, 50, 10)
    plain = BayesianModelAveragingRegressor().fit(X, y)
    scaled = BayesianModelAveragingRegressor().fit(X * units, y * 1e-60)
    np.testing.assert_allclose(scaled.weights_, plain.weights_, rtol=1e-8)
    np.testing.assert_allclose(scaled.coef_, plain.coef_ * 1e-60 / units, rtol=1e-6)
    np.testing.assert_allclose(
        scaled.predict(X * units, return_std=True)[1] * 1e60,
        plain.predict(X, return_std=True)[1],
    )


def test_exact_and_constant_targets():
    X = np.random.default_rng(0).normal(size=(30, 4))
    averaging = BayesianModelAveragingRegressor().fit(X, X[:, 0] - X[:, 2])
    assert averaging.posterior_table_["terms"][0] == ("x0", "x2")
    np.testing.assert_allclose(averaging.coef_, [1, 0, -1, 0], atol=1e-9)
    averaging.fit(X, np.full(30, 5.0))
    assert averaging.posterior_table_["terms"][0] == ()
    np.testing.assert_allclose(averaging.predict(X), 5.0)


# ----------------------------------------------------------------------- logistic


@pytest.mark.parametrize("n_columns", [4, 6])
def test_logistic_by_brute_force(n_columns):
    # 16 subsets are all fitted, of 64 those that the approximation leaves.
    X, score, rng = make_table(5, 120, n_columns)
    y = (score - score.mean() + 2 * rng.logistic(size=len(X)) > 0).astype(int)
    weight = rng.integers(1, 3, size=len(X)).astype(float)
    averaging = BayesianModelAveragingClassifier().fit(X, y, weight)
    groups = [[column] for column in range(n_columns)]
    expected = average_subsets(X, y, groups, fit_log_odds, weight)
    assert len(expected[0]) > 3
    compare(averaging, expected)
    given = np.zeros(len(X))
    for subset, share in expected[0].items():
        _, _, coef, _ = fit_log_odds(X[:, subset], y, weight)
        given += share / (1 + np.exp(-coef[0] - X[:, subset] @ coef[1:]))
    np.testing.assert_allclose(averaging.predict_proba(X)[:, 1], given, rtol=1e-6)
    assert averaging.predict(X).tolist() == (given > 0.5).astype(int).tolist()


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X = X + rng.normal(size=X.shape)
    labels = np.array(["c", "a", "b"])[y]
    averaging = BayesianModelAveragingClassifier(occam_window=np.inf).fit(X, labels)
    assert averaging.classes_.tolist() == ["a", "b", "c"]
    assert averaging.coef_.shape == averaging.coef_std_.shape == (2, 4)
    probabilities = 0.0
    for subset, weight in list_models(averaging).items():
        columns = list(subset)
        table = X[:, columns] if columns else np.zeros((150, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression().fit(table, labels)
        probabilities = probabilities + weight * model.predict_proba(table)
    np.testing.assert_allclose(averaging.predict_proba(X), probabilities, rtol=1e-6)
    text = averaging.summary()
    assert "a against c" in text
    assert max(map(len, text.splitlines())) <= 80


def test_approximation_loses_no_model_of_weight():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, [0, 1, 4, 5, 8, 9, 14, 18]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        averaging = BayesianModelAveragingClassifier().fit(X, y)
        groups = [[column] for column in range(8)]
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        models, terms, *_ = average_subsets(scaled, y, groups, fit_log_odds)
    assert list_models(averaging).keys() == models.keys()
    np.testing.assert_allclose(averaging.inclusion_probabilities_, terms, atol=1e-6)


def test_separated_classes_are_told():
    X, y = load_iris(return_X_y=True)
    averaging = BayesianModelAveragingClassifier()
    with pytest.warns(ConvergenceWarning, match="Classes can be separated in") as told:
        averaging.fit(X[:100], y[:100])
    assert told[0].filename == __file__
    assert averaging.score(X[:100], y[:100]) == 1.0


def test_too_many_models_are_told(monkeypatch):
    name = "sklearn_textbook.ensemble.model_averaging.logistic_subsets.MOST_FITS"
    monkeypatch.setattr(name, 3)
    X, _, rng = make_table(0, 40, 6)
    y = rng.uniform(size=40) > 0.5
    with pytest.warns(UserWarning, match="models may be within the window") as told:
        averaging = BayesianModelAveragingClassifier().fit(X, y)
    assert told[0].filename == __file__
    assert len(averaging.weights_) <= 3


def test_units_have_no_effect_on_classes():
    X, score, rng = make_table(3, 100, 6)
    y = score + rng.logistic(size=100) > 3
    units = 10.0 ** np.array([-150, -80, 0, 40, 90, 3])
    plain = BayesianModelAveragingClassifier().fit(X, y)
    scaled = BayesianModelAveragingClassifier().fit(X * units, y)
    np.testing.assert_allclose(scaled.weights_, plain.weights_, rtol=1e-6)
    np.testing.assert_allclose(
        scaled.predict_proba(X * units), plain.predict_proba(X), rtol=1e-6
    )


# ------------------------------------------------------------------------ choices


def test_decided_columns_and_sizes():
    X, y = DIABETES
    prior = [0, 0.5, 1, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5]
    averaging = BayesianModelAveragingRegressor(
        prior=prior, max_subset_size=3, occam_window=np.inf
    ).fit(X, y)
    assert len(averaging.weights_) == 1 + 7 + 21
    assert averaging.posterior_table_["n_terms"].max() == 3
    found = averaging.inclusion_probabilities_[[0, 2, 6]]
    np.testing.assert_allclose(found, [0, 1, 0], atol=1e-15)
    assert all("x2" in terms for terms in averaging.posterior_table_["terms"])
    alone = BayesianModelAveragingRegressor(max_subset_size=0).fit(X, y)
    np.testing.assert_allclose(alone.predict(X), y.mean())


def test_many_columns_in_small_subsets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    y = X[:, 3] - X[:, 30] + rng.normal(size=200)
    averaging = BayesianModelAveragingRegressor(max_subset_size=3).fit(X, y)
    assert len(averaging.weights_) > 1
    found = averaging.inclusion_probabilities_
    assert np.flatnonzero(found > 0.99).tolist() == [3, 30]


def test_batches_make_no_difference(monkeypatch):
    X, y = DIABETES
    whole = BayesianModelAveragingRegressor(occam_window=np.inf).fit(X, y)
    for module in ("subsets", "linear_subsets"):
        name = f"sklearn_textbook.ensemble.model_averaging.{module}"
        monkeypatch.setattr(f"{name}.MOST_CELLS", 200)
    parts = BayesianModelAveragingRegressor(occam_window=np.inf).fit(X, y)
    np.testing.assert_array_equal(
        parts.posterior_table_["n_terms"], whole.posterior_table_["n_terms"]
    )
    np.testing.assert_allclose(parts.weights_, whole.weights_)
    np.testing.assert_allclose(parts.coef_, whole.coef_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior": [0.5]}, "'prior' parameter must have one number for each of the 10"),
        ({"prior": [2.0] * 10}, "'prior' parameter must be one probability"),
        (
            {"prior": [1] * 10, "max_subset_size": 3},
            "'max_subset_size' parameter must be at least 10, .*; got 3",
        ),
        ({"prefit": True}, "'prefit'"),
        ({"n_parameters": [2]}, "'n_parameters' parameter is for members; got"),
        ({"categorical_features": [77]}, "categorical_features"),
    ],
)
def test_parameters_are_checked(parameters, message):
    averaging = BayesianModelAveragingRegressor(**parameters)
    with pytest.raises(ValueError, match=message):
        averaging.fit(*DIABETES)


def test_too_many_subsets():
    X = np.random.default_rng(0).normal(size=(50, 30))
    averaging = BayesianModelAveragingRegressor()
    message = "30 columns have 1073741824 subsets.*'max_subset_size' .* at most 6"
    with pytest.raises(ValueError, match=message):
        averaging.fit(X, X[:, 0])
    averaging.set_params(prior=[1] * 20 + [0.5] * 10).fit(X, X[:, 0])
    assert (averaging.inclusion_probabilities_[:20] > 0.999).all()


def test_target_that_is_too_large():
    X, y = DIABETES
    y = np.where(np.arange(len(y)) == 3, -1e180, y)
    with pytest.raises(ValueError, match=r"y has the value -1e\+180 in row 3"):
        BayesianModelAveragingRegressor().fit(X, y)


def test_rows_and_classes_that_are_too_few():
    X, y = DIABETES
    with pytest.raises(ValueError, match="n_samples=1 .*for a model to have residual"):
        BayesianModelAveragingRegressor().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="weights count as numbers of rows"):
        BayesianModelAveragingRegressor().fit(X, y, np.full(len(y), 1 / len(y)))
    labels = np.array(["a", "b"])[[0, 0, 1]]
    with pytest.raises(ValueError, match="only one class: 'a'"):
        BayesianModelAveragingClassifier().fit(X[:3], labels, [1, 1, 0])


@pytest.mark.parametrize(
    "averaging", [BayesianModelAveragingRegressor(), BayesianModelAveragingClassifier()]
)
def test_averages_without_members_are_listed_and_displayed(averaging):
    X, y = DIABETES
    averaging = clone(averaging).fit(X[:, :3], y > 150)
    assert "inclusion_probabilities_" in dir(averaging)
    assert "BayesianModelAveraging" in averaging._repr_html_()
    assert averaging.named_estimators == {}
