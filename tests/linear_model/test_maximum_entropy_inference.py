"""Standard errors and tests of maximum entropy models.

With columns as features, they are those of LogisticRegression.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_textbook.io import load_model, save_model, scan
from sklearn_textbook.linear_model import (
    LogisticRegression,
    MaxEntClassifier,
    anova,
    compare_models,
    comparisons,
    estimate_contrasts,
    predictions,
    robust_covariance,
    slopes,
    variance_inflation,
    wald_test,
)
from tests.linear_model.entropy_cases import make_classes

EXACT = {"tol": 1e-10, "max_iter": 50_000}


def make_table(n_classes=3, n_rows=200):
    rng = np.random.default_rng(n_classes)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "z": rng.normal(size=n_rows) * 100 + 3000,
            "g": rng.choice(["a", "b", "c"], n_rows),
        }
    )
    scores = np.column_stack([X["x"], X["z"] / 100 - 30, X["g"] == "b"])[:, :n_classes]
    codes = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X, np.array(["u", "v", "w"])[codes]


def fit_both(X, y, weight=None, **options):
    kept = {"reference_level": "first"} | options
    model = MaxEntClassifier(**EXACT, **kept).fit(X, y, weight)
    return model, LogisticRegression(tol=1e-12, **kept).fit(X, y, weight)


def check_tables(found, expected):
    assert found.names == expected.names
    for name in ("estimates", "standard_errors", "statistics", "p_values"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    ours, theirs = found.confidence_intervals, expected.confidence_intervals
    assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)  # an end may be near 0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("n_classes", "reference_class"), [(2, None), (3, None), (3, "u"), (3, "v")]
)
def test_logistic_regression_has_the_same_table(
    n_classes, reference_class, fit_intercept
):
    X, y = make_table(n_classes)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    model, expected = fit_both(
        *(X, y, weight), reference_class=reference_class, fit_intercept=fit_intercept
    )
    check_tables(model.coefficient_table_, expected.coefficient_table_)
    assert_allclose(model.covariance_, expected.covariance_, rtol=1e-5, atol=1e-9)
    assert model.rank_ == expected.rank_
    assert model.n_observations_ == expected.n_observations_
    assert model.separation_ == "none"
    for name in ("log_likelihood_", "null_log_likelihood_", "aic_", "bic_"):
        assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-9)
    assert_allclose(model.pseudo_r2_, expected.pseudo_r2_, rtol=1e-7)
    found, wanted = model.likelihood_ratio_test_, expected.likelihood_ratio_test_
    assert found.degrees_of_freedom == wanted.degrees_of_freedom
    assert_allclose(found.statistic, wanted.statistic, rtol=1e-7)
    ours, theirs = model.summary(), expected.summary()
    assert [heading for heading, _ in ours.tables] == [n for n, _ in theirs.tables]
    assert_allclose(ours.to_frame(), theirs.to_frame(), rtol=1e-6, atol=1e-8)
    # The weights do not depend on the reference class.
    assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)


def test_undetermined_weights_have_no_errors():
    """All levels have an indicator here, which depend on each other."""
    X, y = make_table()
    model = MaxEntClassifier(**EXACT).fit(X.assign(double=2 * X["x"]), y)
    expected = LogisticRegression(tol=1e-12).fit(X, y)
    assert model.rank_ == expected.rank_ == 5
    found = model.coefficient_table_.to_frame()
    wanted = expected.coefficient_table_.to_frame()
    assert found.index[found["standard_error"].notna()].tolist() == [
        "u against w: z",
        "v against w: z",
    ]
    places = ["u against w: z", "v against w: z"]
    assert_allclose(found.loc[places], wanted.loc[places], rtol=1e-6, atol=1e-12)
    assert "not determined by the data" in model.summary(width=None)


def test_features_of_pairs_are_those_of_columns():
    X, y = make_classes(0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    joint = np.zeros((len(X), 3, 2, 5))
    for k in range(2):
        joint[:, k, k, 0], joint[:, k, k, 1:] = 1.0, X
    model = MaxEntClassifier("precomputed", **EXACT).fit(joint.reshape(len(X), -1), y)
    expected = LogisticRegression(tol=1e-12).fit(X, y)
    assert_allclose(model.covariance_, expected.covariance_, rtol=1e-5, atol=1e-9)
    assert_allclose(
        model.coefficient_table_.statistics,
        expected.coefficient_table_.statistics,
        rtol=1e-5,
    )
    assert model.rank_ == 10
    assert_allclose(model.aic_, expected.aic_, rtol=1e-9)
    test = model.likelihood_ratio_test_  # of the constants, too
    assert_allclose(test.statistic, 2.0 * len(y) * np.log(3) - model.deviance_)
    names = ["f3", "f4"]
    assert_allclose(
        wald_test(model, names).statistic,
        wald_test(expected, ["0 against 2: x2", "0 against 2: x3"]).statistic,
        rtol=1e-5,
    )
    assert anova(model).names == tuple(model.weight_names_)


def test_shared_features_by_differences_of_the_likelihood():
    """A weight that several classes share; the matrix of second differences."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(80, 4, 3)) * [1.0, 10.0, 0.1]
    weight = rng.integers(1, 4, 80).astype(float)
    scores = features @ [0.5, 0.05, -3.0] + rng.gumbel(size=(80, 4))
    y = scores.argmax(axis=1)

    def measure(weights):
        scores = features @ weights
        own = scores[np.arange(80), y]
        return weight @ (own - np.log(np.exp(scores).sum(axis=1)))

    model = MaxEntClassifier("precomputed", **EXACT)
    model.fit(features.reshape(80, -1), y, weight)
    steps = 1e-3 * model.coefficient_table_.standard_errors
    information = np.empty((3, 3))
    for one in range(3):
        for other in range(3):
            a, b = np.eye(3)[one] * steps[one], np.eye(3)[other] * steps[other]
            at = [
                measure(model.weights_ + sign * a + turned * b)
                for sign, turned in ((1, 1), (1, -1), (-1, 1), (-1, -1))
            ]
            mixed = at[0] - at[1] - at[2] + at[3]
            information[one, other] = -mixed / (4 * steps[one] * steps[other])
    scale = np.outer(steps, steps) * 1e6
    assert_allclose(
        model.covariance_ / scale, np.linalg.inv(information) / scale, atol=1e-4
    )


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_undetermined_features_of_pairs(kind):
    """One is the same for all classes, which made rounding errors a feature."""
    rng = np.random.default_rng(2)
    features = rng.normal(size=(100, 3, 2))
    y = (features @ [1.0, -0.5] + rng.gumbel(size=(100, 3))).argmax(axis=1)
    plain = MaxEntClassifier("precomputed", **EXACT).fit(features.reshape(100, -1), y)
    same = np.repeat(rng.normal(size=(100, 1)), 3, axis=1)
    double = -2.0 * features[:, :, 1]
    wide = np.dstack([features, same, double]).reshape(100, -1)
    if kind == "sparse":
        wide = np.dstack([np.zeros((100, 3, 8)), wide.reshape(100, 3, -1)])
        wide = wide.reshape(100, -1)
    model = MaxEntClassifier("precomputed", **EXACT).fit(wide, y)
    assert model.converged_
    assert model.rank_ == 2
    assert np.abs(model.weights_).max() < 10.0
    assert_allclose(model.deviance_, plain.deviance_, rtol=1e-10)
    errors = model.coefficient_table_.standard_errors
    assert_array_equal(
        np.isnan(errors), [*[True] * (kind == "sparse") * 8, False, True, True, True]
    )
    assert_allclose(np.nanmin(errors), plain.coefficient_table_.standard_errors[0])


def test_functions_of_fitted_models():
    X, y = make_table()
    model, expected = fit_both(X, y)
    found = robust_covariance(model, X, y, covariance_type="HC1")
    wanted = robust_covariance(expected, X, y, covariance_type="HC1")
    assert_allclose(found, wanted, rtol=1e-5, atol=1e-9)
    for options in ({}, {"X": X, "y": y}):
        found, wanted = anova(model, **options), anova(expected, **options)
        assert found.names == wanted.names
        assert_allclose(found.columns["chi2"], wanted.columns["chi2"], rtol=1e-6)
    for function in (slopes, comparisons, predictions):
        found, wanted = function(model, X), function(expected, X)
        assert found.names == wanted.names
        assert_allclose(found.estimates, wanted.estimates, rtol=1e-6, atol=1e-9)
        assert_allclose(found.standard_errors, wanted.standard_errors, rtol=1e-6)
    contrast = {"b - c": {"u against w: g=b": 1, "u against w: g=c": -1}}
    assert_allclose(
        estimate_contrasts(model, contrast).statistics,
        estimate_contrasts(expected, contrast).statistics,
        rtol=1e-6,
    )
    models = (fit_both(X[["x"]], y), (model, expected))
    tables = [compare_models(*pair) for pair in zip(*models, strict=True)]
    assert_allclose(tables[0].columns["chi2"], tables[1].columns["chi2"], rtol=1e-6)
    two = [variance_inflation(each) for each in fit_both(*make_table(2))]
    assert_allclose(two[0].factors, two[1].factors, rtol=1e-6)


@pytest.mark.parametrize("solver", ["iis", "bfgs"])
def test_other_solvers(solver):
    X, y = make_table()
    _, expected = fit_both(X, y)
    model = MaxEntClassifier(
        solver=solver, tol=1e-9, max_iter=50_000, reference_level="first"
    ).fit(X, y)
    check_tables(model.coefficient_table_, expected.coefficient_table_)


def test_weights_are_copies_and_classes_have_weights():
    X, y = make_table()
    weight = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weight)
    model = MaxEntClassifier(**EXACT).fit(X, y, weight)
    copies = MaxEntClassifier(**EXACT).fit(X.iloc[rows], y[rows])
    assert_allclose(model.covariance_, copies.covariance_, rtol=1e-6)
    assert_allclose(model.bic_, copies.bic_)
    of_classes = {"u": 2.0, "v": 1.0, "w": 3.0}
    model, expected = fit_both(X, y, class_weight=of_classes)
    check_tables(model.coefficient_table_, expected.coefficient_table_)
    found = robust_covariance(model, X, y, covariance_type="HC0")
    wanted = robust_covariance(expected, X, y, covariance_type="HC0")
    assert_allclose(found, wanted, rtol=1e-5, atol=1e-9)
    model = MaxEntClassifier().fit(X, y, weight + 0.5)
    with pytest.warns(UserWarning, match="not whole numbers"):
        _ = model.coefficient_table_


def test_files_keep_the_table(tmp_path):
    X, y = make_table()
    model = MaxEntClassifier(reference_class="v").fit(X, y)
    save_model(model, tmp_path / "model.json")
    found = load_model(tmp_path / "model.json")
    assert found.summary() == model.summary()
    assert "reference class:" in model.summary()
    assert_array_equal(found.covariance_, model.covariance_)
    frame = X.assign(y=y)
    frame.to_csv(tmp_path / "table.csv", index=False)
    blocks = MaxEntClassifier(reference_class="v").fit(
        scan(tmp_path / "table.csv"), "y"
    )
    assert_array_equal(blocks.covariance_, model.covariance_)
    assert blocks.log_likelihood_ == model.log_likelihood_


def fit_wide():
    rng = np.random.default_rng(0)
    return MaxEntClassifier(max_iter=1).fit(
        rng.normal(size=(9, 1000)), np.arange(9) % 2
    )


WITHOUT_ERRORS = {
    "penalty": (
        lambda: MaxEntClassifier(alpha=2.0).fit(*make_table()),
        "only without a penalty; got alpha=2",
    ),
    "one class": (
        lambda: MaxEntClassifier().fit([[0.0], [1.0]], ["a", "a"]),
        "only with two classes or more",
    ),
    "constraints": (
        lambda: MaxEntClassifier.from_constraints("ABC", [{"A"}], [0.3]),
        "only of a model that was fitted to rows",
    ),
    "many": (fit_wide, r"with up to 1,000 weights .* there are 2,002"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WITHOUT_ERRORS)
def test_models_without_errors(name):
    make, message = WITHOUT_ERRORS[name]
    model = make()
    for attribute in ("coefficient_table_", "aic_", "likelihood_ratio_test_"):
        with pytest.raises(AttributeError, match=message):
            getattr(model, attribute)
    assert not hasattr(model, "covariance_")
    table = model.summary().tables[0][1]
    assert np.isnan(table.standard_errors).all()
    assert "has standard errors only" in model.summary(width=None)
    with pytest.raises((AttributeError, ValueError), match="only|penalty"):
        wald_test(model, [table.names[0]])


def test_penalised_weights_of_each_class():
    X, y = make_table()
    model = MaxEntClassifier(alpha=2.0).fit(X, y)
    assert [heading for heading, _ in model.summary().tables] == ["u", "v", "w"]
    assert_array_equal(model.summary().tables[1][1].estimates[1:], model.coef_[1])
    assert model.separation_ is None
    assert model.log_likelihood_ < MaxEntClassifier().fit(X, y).log_likelihood_
    with pytest.raises(ValueError, match=r"fitted with a penalty \(alpha=2\)"):
        slopes(model, X)


def test_separated_classes_are_named():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "z": [1.0, 0.0, 1.0, 0.0]})
    with pytest.warns(match="no maximum"):
        model = MaxEntClassifier().fit(X, [0, 0, 1, 1])
    assert model.separation_ == "complete"
    assert "meaningless" in model.summary()
    with pytest.warns(match="no maximum"):
        model = MaxEntClassifier(reference_level=None).fit(
            pd.DataFrame({"g": list("aabbbb")}), [0, 0, 1, 0, 1, 1]
        )
    assert model.separation_ == "quasi_complete"


def test_bad_reference_classes():
    X, y = make_table()
    with pytest.raises(ValueError, match="one of the classes 'u', 'v', 'w'; got 'q'"):
        MaxEntClassifier(reference_class="q").fit(X, y)
    for options in ({"alpha": 1.0}, {"features": [lambda x, y: x[0] * (y == "u")]}):
        with pytest.raises(ValueError, match="requires features='columns', alpha=0"):
            MaxEntClassifier(reference_class="u", **options).fit(X, y)
    features = [lambda x, y: x[0] * (y == "u"), lambda x, y: x[0] * (y == "v")]
    model = MaxEntClassifier(features).fit(X, y)
    for function in (
        lambda: slopes(model, X),
        lambda: robust_covariance(model, X, y, covariance_type="HC0"),
        lambda: anova(model, X, y),
    ):
        with pytest.raises(ValueError, match="requires features='columns'"):
            function()
