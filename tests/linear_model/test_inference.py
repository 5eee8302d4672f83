"""Robust covariances, contrasts, tests of terms, effects: identities and errors.

Values of R and Python are in tests/differential/test_inference.py.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.linear_model import (
    ElasticNet,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    anova,
    compare_models,
    comparisons,
    estimate_contrasts,
    marginal_means,
    predictions,
    robust_covariance,
    slopes,
    wald_test,
)

N_ROWS = 240


def draw(seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "x": rng.normal(size=N_ROWS),
            "z": rng.exponential(size=N_ROWS),
            "g": rng.choice(["a", "b", "c"], N_ROWS),
        }
    )
    score = 0.5 + table.x - 0.5 * table.z + (table.g == "c")
    targets = {
        "squares": score + rng.normal(size=N_ROWS) * (1 + table.z),
        "counts": rng.poisson(np.exp(0.4 * score)),
        "two": np.where(score + rng.logistic(size=N_ROWS) > 0, "yes", "no"),
        "three": np.digitize(score + rng.logistic(size=N_ROWS), [-0.5, 1.0]),
    }
    return table, targets, rng.integers(1, 4, N_ROWS).astype(float)


X, TARGETS, COUNTS = draw()
MODELS = {
    "squares": LinearRegression(),
    "counts": GeneralizedLinearRegressor("poisson"),
    "two": LogisticRegression(),
    "three": LogisticRegression(),
}


def fit(name, table=X, weight=None, **options):
    model = clone(MODELS[name]).set_params(**options)
    return model.fit(table, TARGETS[name], sample_weight=weight)


def kinds_of(name):
    return ("HC0", "HC1") if name == "three" else ("HC0", "HC1", "HC2", "HC3")


@pytest.mark.parametrize("name", MODELS)
def test_a_frequency_is_a_number_of_rows(name):
    rows = np.repeat(np.arange(N_ROWS), COUNTS.astype(int))
    table, y = X.iloc[rows].reset_index(drop=True), np.asarray(TARGETS[name])
    copies = clone(MODELS[name]).fit(table, y[rows])
    model = fit(name, weight=COUNTS)
    for kind in kinds_of(name):
        found = robust_covariance(model, X, y, COUNTS, covariance_type=kind)
        expected = robust_covariance(copies, table, y[rows], covariance_type=kind)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-10)
    found = robust_covariance(
        model, X, y, COUNTS, covariance_type="cluster", groups=X["g"]
    )
    expected = robust_covariance(
        copies, table, y[rows], covariance_type="cluster", groups=table["g"]
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_each_row_a_group(name):
    """Up to its factor, the covariance of groups of one row is HC0."""
    model, y = fit(name), TARGETS[name]
    found = robust_covariance(
        model, X, y, covariance_type="cluster", groups=np.arange(N_ROWS)
    )
    expected = robust_covariance(model, X, y, covariance_type="HC1")
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows(name):
    dense = np.column_stack([X.x, X.z, X.g == "b"])
    model = fit(name, sparse.csr_array(dense))
    other = fit(name, dense)
    found = robust_covariance(
        model, sparse.csr_array(dense), TARGETS[name], covariance_type="HC1"
    )
    expected = robust_covariance(other, dense, TARGETS[name], covariance_type="HC1")
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_rows_that_do_not_count():
    table, y = X.copy(), TARGETS["squares"].copy()
    table.loc[3, "x"] = np.nan
    weight = np.ones(N_ROWS)
    weight[5] = 0.0
    kept = np.setdiff1d(np.arange(N_ROWS), [3, 5])
    model = LinearRegression(missing="drop").fit(table, y, sample_weight=weight)
    found = robust_covariance(
        model, table, y, weight, covariance_type="cluster", groups=X["g"]
    )
    few = LinearRegression().fit(X.iloc[kept], y[kept])
    expected = robust_covariance(
        few,
        X.iloc[kept],
        y[kept],
        covariance_type="cluster",
        groups=X["g"].iloc[kept],
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_weights_of_classes_are_no_copies():
    """Twice the weight of a class is twice its score, not two rows."""
    y = TARGETS["two"]
    model = LogisticRegression(class_weight={"yes": 2.0}).fit(X, y)
    found = robust_covariance(model, X, y, covariance_type="HC0")
    weight = np.where(y == "yes", 2.0, 1.0)
    p = model.predict_proba(X)[:, 1]
    Z = np.column_stack([np.ones(N_ROWS), X.x, X.z, X.g == "b", X.g == "c"])
    bread = np.linalg.inv((Z.T * (weight * p * (1 - p))) @ Z)
    scores = Z * (weight * ((y == "yes") - p))[:, np.newaxis]
    np.testing.assert_allclose(found, bread @ scores.T @ scores @ bread, rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_symmetric_coefficients_and_contrasts(name):
    """Contrasts, tests and effects do not depend on the parametrisation."""
    if name == "three":
        y = TARGETS[name]
        one = fit(name)
        other = fit(name, parametrization="symmetric")
        for function in (slopes, comparisons, predictions):
            tables = [function(model, X) for model in (one, other)]
            np.testing.assert_allclose(
                tables[0].standard_errors, tables[1].standard_errors, rtol=1e-6
            )
            V = robust_covariance(other, X, y, covariance_type="HC0")
            again = function(other, X, covariance=V)
            V = robust_covariance(one, X, y, covariance_type="HC0")
            np.testing.assert_allclose(
                again.standard_errors,
                function(one, X, covariance=V).standard_errors,
                rtol=1e-6,
            )
    model = fit(name)
    names = model._make_result().full_names
    table = estimate_contrasts(model, names)
    known = model.coefficient_table_
    if name != "three":
        np.testing.assert_allclose(table.estimates, known.estimates)
        np.testing.assert_allclose(table.standard_errors, known.standard_errors)
        np.testing.assert_allclose(table.p_values, known.p_values, rtol=1e-9)
        # A test of one coefficient is that of its table.
        test = wald_test(model, [names[1]])
        assert test.p_value == pytest.approx(known.p_values[1])
    # Combinations that depend on each other count once.
    rows = np.eye(len(names))[:2]
    twice = wald_test(model, np.vstack([rows, rows.sum(axis=0)]))
    once = wald_test(model, rows)
    assert twice.degrees_of_freedom == once.degrees_of_freedom == 2
    assert twice.statistic == pytest.approx(once.statistic)


@pytest.mark.parametrize("name", MODELS)
def test_errors_of_effects_by_differences_of_coefficients(name):
    """The derivatives by the coefficients, from coefficients that are moved."""
    model = fit(name)
    result = model._make_result()
    shape = (len(result.headings), len(result.names))

    def compute(function, moved):
        other = clone(model).fit(X, TARGETS[name])
        vectors = moved.reshape(shape)
        other.intercept_ = vectors[:, 0] if "Logistic" in repr(other) else vectors[0, 0]
        other.coef_ = vectors[:, 1:] if "Logistic" in repr(other) else vectors[0, 1:]
        return function(other, X).estimates

    for function in (predictions, slopes):
        table = function(model, X)
        step, gradients = 1e-5, []
        for place in range(len(result.estimates)):
            ends = []
            for sign in (1, -1):
                moved = result.estimates.copy()
                moved[place] += sign * step
                ends.append(compute(function, moved))
            gradients.append((ends[0] - ends[1]) / (2 * step))
        gradients = np.array(gradients).T
        squares = np.einsum("ij,jk,ik->i", gradients, result.covariance, gradients)
        np.testing.assert_allclose(table.standard_errors, np.sqrt(squares), rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_effects_are_those_of_predict(name):
    model = fit(name)

    def predict(table):
        if name in ("two", "three"):
            found = model.predict_proba(table)
            return found[:, 1:] if name == "two" else found
        return model.predict(table)[:, np.newaxis]

    weight = COUNTS
    average = np.average(predict(X), axis=0, weights=weight)
    found = predictions(model, X, sample_weight=weight)
    np.testing.assert_allclose(found.estimates, average)
    found = comparisons(model, X, {"x": 2.0}, by="g")
    for level in "abc":
        part = X[X.g == level]
        expected = predict(part.assign(x=part.x + 1)) - predict(
            part.assign(x=part.x - 1)
        )
        is_level = found.as_dict()["by: g"] == level
        np.testing.assert_allclose(found.estimates[is_level], expected.mean(axis=0))
    found = comparisons(model, X, "g", at={"z": [0.5, 2.0]})
    columns = found.as_dict()
    for value in (0.5, 2.0):
        for level in "bc":
            is_line = (columns["at: z"] == str(value)) & (
                columns["contrast"] == f"{level} - a"
            )
            rows = X.assign(z=value)
            expected = predict(rows.assign(g=level)) - predict(rows.assign(g="a"))
            np.testing.assert_allclose(found.estimates[is_line], expected.mean(axis=0))
    middle = pd.DataFrame({"x": [X.x.mean()], "z": [X.z.mean()], "g": [X.g.mode()[0]]})
    found = predictions(model, X, at="mean")
    np.testing.assert_allclose(found.estimates, predict(middle)[0])


def test_exposure_and_offset():
    rng = np.random.default_rng(1)
    time = rng.uniform(0.5, 3.0, N_ROWS)
    y = rng.poisson(time * np.exp(0.4 * X.x))
    model = GeneralizedLinearRegressor("poisson").fit(X, y, exposure=time)
    found = predictions(model, X, exposure=time)
    assert found.estimates[0] == pytest.approx(y.mean())
    with pytest.raises(ValueError, match="fitted with an offset or an exposure"):
        robust_covariance(model, X, y)
    with pytest.raises(TypeError, match="those of generalised linear models"):
        predictions(fit("squares"), X, exposure=time)


def test_tests_of_terms_agree():
    """A sequence that ends with a column, all others, and Wald of least squares."""
    model, y = fit("squares"), TARGETS["squares"]
    last = anova(model, X, y, type=1)
    each = anova(model)
    assert each.columns["F"][2] == pytest.approx(last.columns["F"][2])
    refitted = anova(model, X, y)
    for column in ("df", "sum_of_squares", "F"):
        np.testing.assert_allclose(refitted.columns[column], each.columns[column])
    test = wald_test(model, ["g=b", "g=c"])
    assert anova(model, test="wald").p_values[2] == pytest.approx(test.p_value)
    assert anova(model, type=3).as_dict()["name"].tolist() == [
        "x",
        "z",
        "g",
        "residuals",
    ]
    smaller = LinearRegression().fit(X[["x", "z"]], y)
    nested = compare_models(smaller, model)
    assert nested.p_values[1] == pytest.approx(each.p_values[2])
    assert "resid. df" in str(nested)


def test_a_constant_among_the_columns():
    """Without an intercept, the first column explains squares about 0."""
    table = X[["x", "z"]].assign(one=1.0)[["one", "x", "z"]]
    y = TARGETS["squares"]
    model = LinearRegression(fit_intercept=False).fit(table, y)
    found = anova(model, table, y, type=1)
    assert found.columns["sum_of_squares"][0] == pytest.approx(N_ROWS * y.mean() ** 2)


def test_several_classes_and_terms():
    y = TARGETS["three"]
    model = fit("three")
    table = anova(model, X, y)
    smaller = LogisticRegression().fit(X[["x", "z"]], y)
    nested = compare_models(model, smaller)
    assert table.columns["df"][2] == nested.columns["df"][1] == 4
    assert table.p_values[2] == pytest.approx(nested.p_values[1])
    one = anova(model, X, y, type=1)
    assert one.columns["deviance"][:3].sum() == pytest.approx(
        model.null_deviance_ - model.deviance_
    )


def test_dependent_columns_have_no_tests():
    table = X.assign(again=2 * X.x)
    with pytest.warns(UserWarning, match="linearly dependent"):
        model = LinearRegression().fit(table, TARGETS["squares"])
    found = estimate_contrasts(model, {"sum": {"x": 1, "again": 2}, "z": {"z": 1}})
    assert np.isnan(found.standard_errors[0])
    assert np.isfinite(found.standard_errors[1])
    assert wald_test(model, ["x"]).degrees_of_freedom == 0
    tested = anova(model)
    assert tested.columns["df"].tolist()[:2] == [0.0, 1.0]
    assert np.isnan(tested.p_values[0])


def test_means_of_levels():
    model = fit("squares")
    means = marginal_means(model, X, "g")
    rows = pd.DataFrame({"x": X.x.mean(), "z": X.z.mean(), "g": list("abc")})
    np.testing.assert_allclose(means.estimates, model.predict(rows))
    pairs = marginal_means(model, X, "g", pairs=True, adjust="none")
    assert pairs.as_dict()["contrast"].tolist() == ["b - a", "c - a", "c - b"]
    known = model.coefficient_table_.p_values
    np.testing.assert_allclose(pairs.p_values[:2], known[-2:])
    careful = marginal_means(model, X, "g", pairs=True, adjust="bonferroni")
    np.testing.assert_allclose(careful.p_values, np.minimum(1, 3 * pairs.p_values))
    tukey = marginal_means(model, X, "g", pairs=True)
    assert (tukey.p_values > pairs.p_values).all()
    assert (tukey.p_values < careful.p_values + 1e-12).all()
    moved = marginal_means(model, X, "g", at={"z": 0.0})
    slope = model.coef_[1]
    np.testing.assert_allclose(moved.estimates, means.estimates - slope * X.z.mean())


ERRORS = {
    "tree": (lambda: anova(DecisionTreeClassifier()), TypeError, "has no coefficients"),
    "elastic net": (
        lambda: wald_test(ElasticNet(), ["x"]),
        TypeError,
        "ElasticNet has no coefficients with standard errors here",
    ),
    "ridge": (
        lambda: anova(fit("squares", alpha=1.0)),
        ValueError,
        r"fitted with a penalty \(alpha=1\)",
    ),
    "penalised": (
        lambda: slopes(fit("two", C=2.0), X),
        ValueError,
        r"fitted with a penalty \(C=2\)",
    ),
    "no negative slopes": (
        lambda: anova(fit("squares", positive=True)),
        ValueError,
        "constrained to be at least 0",
    ),
    "two targets": (
        lambda: anova(LinearRegression().fit(X, np.c_[X.x, X.z])),
        ValueError,
        "one model for each target",
    ),
    "coefficient": (
        lambda: wald_test(fit("squares"), ["g=d"]),
        ValueError,
        "'g=d' is not the name of a coefficient; there are 'intercept', 'x'",
    ),
    "weights": (
        lambda: estimate_contrasts(fit("squares"), np.ones((1, 3))),
        ValueError,
        "one finite weight for each of 5 coefficients",
    ),
    "no contrast": (
        lambda: estimate_contrasts(fit("squares"), []),
        ValueError,
        "must not be empty",
    ),
    "covariance": (
        lambda: wald_test(fit("squares"), ["x"], covariance=np.eye(4)),
        ValueError,
        r"covariance must be a finite matrix of shape \(5, 5\)",
    ),
    "kind": (
        lambda: robust_covariance(
            fit("squares"), X, TARGETS["squares"], covariance_type="HC9"
        ),
        ValueError,
        "'covariance_type' parameter",
    ),
    "other rows": (
        lambda: robust_covariance(fit("squares"), X, TARGETS["squares"] + 1),
        ValueError,
        "must be those of the fit",
    ),
    "other rows of classes": (
        lambda: robust_covariance(
            fit("two"), X.assign(x=0.0), TARGETS["two"], covariance_type="HC0"
        ),
        ValueError,
        "robust_covariance needs the rows, labels and weights of the fit",
    ),
    "other weights": (
        lambda: robust_covariance(fit("counts"), X, TARGETS["counts"], COUNTS),
        ValueError,
        "rows of the fit|of the fit",
    ),
    "leverage of several classes": (
        lambda: robust_covariance(fit("three"), X, TARGETS["three"]),
        ValueError,
        "'HC3' is defined for one vector",
    ),
    "groups": (
        lambda: robust_covariance(
            fit("squares"), X, TARGETS["squares"], covariance_type="cluster"
        ),
        ValueError,
        "requires groups; got None",
    ),
    "few groups": (
        lambda: robust_covariance(
            fit("squares"),
            *(X, TARGETS["squares"]),
            covariance_type="cluster",
            groups=X["g"][:5],
        ),
        ValueError,
        r"groups must have shape \(240,\)",
    ),
    "one group": (
        lambda: robust_covariance(
            fit("squares"),
            *(X, TARGETS["squares"]),
            covariance_type="cluster",
            groups=np.zeros(N_ROWS),
        ),
        ValueError,
        "two groups or more",
    ),
    "groups of HC3": (
        lambda: robust_covariance(fit("squares"), X, TARGETS["squares"], groups=X["g"]),
        ValueError,
        "groups requires covariance_type='cluster'",
    ),
    "type": (
        lambda: anova(fit("squares"), type=4),
        ValueError,
        "type must be 1, 2 or 3",
    ),
    "rows of a sequence": (
        lambda: anova(fit("squares"), type=1),
        ValueError,
        "pass the training rows X and y",
    ),
    "robust F": (
        lambda: anova(fit("squares"), test="F", covariance=np.eye(5)),
        ValueError,
        "covariance requires test='wald'",
    ),
    "one model": (
        lambda: compare_models(fit("squares")),
        TypeError,
        "two models or more",
    ),
    "other classes of models": (
        lambda: compare_models(fit("squares"), fit("two")),
        TypeError,
        "of one class",
    ),
    "models of other rows": (
        lambda: compare_models(
            fit("squares"), LinearRegression().fit(X[:99], TARGETS["squares"][:99])
        ),
        ValueError,
        "the same rows, targets and weights",
    ),
    "families": (
        lambda: compare_models(
            fit("counts"), GeneralizedLinearRegressor().fit(X, TARGETS["counts"])
        ),
        ValueError,
        "the same family",
    ),
    "column": (
        lambda: slopes(fit("squares"), X, ["u"]),
        ValueError,
        "'u' is not a column of the model; there are 'x', 'z', 'g'",
    ),
    "level": (
        lambda: predictions(fit("squares"), X, at={"g": "q"}),
        ValueError,
        "'q' is not a level of the column 'g'",
    ),
    "at": (
        lambda: predictions(fit("squares"), X, at="median"),
        ValueError,
        "'at' param",
    ),
    "groups of numbers": (
        lambda: predictions(fit("squares"), X, by="x"),
        ValueError,
        "by must name nominal columns",
    ),
    "means of numbers": (
        lambda: marginal_means(fit("squares"), X, "x"),
        ValueError,
        "column must be nominal",
    ),
    "level of intervals": (
        lambda: slopes(fit("squares"), X, level=2.0),
        ValueError,
        "level must be a float",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    call, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message):
        call()


def test_a_row_that_is_fitted_exactly():
    table = X.copy()
    table.loc[0, "g"] = "alone"
    model, y = LinearRegression().fit(table, TARGETS["squares"]), TARGETS["squares"]
    with pytest.raises(ValueError, match="row 0 is fitted exactly"):
        robust_covariance(model, table, y)
    assert np.isfinite(robust_covariance(model, table, y, covariance_type="HC1")).all()


ROBUST_MODELS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False, weight_type="variance"),
    GeneralizedLinearRegressor("poisson"),
    GeneralizedLinearRegressor("gamma", "log", fit_intercept=False),
    LogisticRegression(),
]


def make_robust_table():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"x": rng.normal(size=120), "g": rng.choice(["a", "b"], 120)})
    y = rng.poisson(np.exp(0.4 * X["x"])) + 1
    return X, y, rng.integers(0, 12, 120), rng.integers(1, 4, 120)


@pytest.mark.parametrize("model", ROBUST_MODELS, ids=str)
@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3", "cluster"])
def test_robust_errors_as_a_parameter(model, kind):
    X, y, groups, weight = make_robust_table()
    if isinstance(model, LogisticRegression):
        y = (y > 1).astype(int)
    groups = {"groups": groups} if kind == "cluster" else {}
    plain = clone(model).fit(X, y, weight)
    V = robust_covariance(plain, X, y, weight, covariance_type=kind, **groups)
    found = clone(model).set_params(covariance_type=kind).fit(X, y, weight, **groups)
    errors = np.sqrt(V.diagonal())
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    np.testing.assert_allclose(found.coefficient_table_.standard_errors, errors)
    np.testing.assert_allclose(
        np.ravel(found.standard_errors_), errors[int(model.fit_intercept) :]
    )
    # Functions of the model use them, too, and can do so again.
    assert wald_test(found, ["x"]) == wald_test(plain, ["x"], covariance=V)
    tests = anova(found), anova(plain, covariance=V)
    np.testing.assert_array_equal(tests[0].p_values, tests[1].p_values)
    again = robust_covariance(found, X, y, weight, covariance_type=kind, **groups)
    np.testing.assert_array_equal(again, V)
    assert kind in found.summary()
    assert kind not in plain.summary()
    other = load_from_text(found)
    np.testing.assert_array_equal(
        other.coefficient_table_.standard_errors,
        found.coefficient_table_.standard_errors,
    )
    back = found.set_params(covariance_type="nonrobust").fit(X, y, weight)
    np.testing.assert_array_equal(
        back.coefficient_table_.standard_errors,
        plain.coefficient_table_.standard_errors,
    )


def load_from_text(model):
    with TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "model.json")
        return load_model(Path(folder) / "model.json")


def test_robust_errors_of_predictions():
    X, y, _, _ = make_robust_table()
    V = robust_covariance(LinearRegression().fit(X, y), X, y)
    rows = np.column_stack([np.ones(len(X)), X["x"], X["g"] == "b"]).astype(float)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", rows, V, rows))
    model = LinearRegression(covariance_type="HC3").fit(X, y)
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], errors)
    general = GeneralizedLinearRegressor("gaussian", covariance_type="HC3").fit(X, y)
    np.testing.assert_allclose(general.predict(X, return_std=True)[1], errors)
    test = wald_test(LinearRegression().fit(X, y), ["x", "g=b"], covariance=V)
    assert model.f_statistic_ == pytest.approx(test.statistic)
    assert model.f_p_value_ == pytest.approx(test.p_value)


@pytest.mark.parametrize(
    ("parameters", "options", "message"),
    [
        ({"covariance_type": "HC4"}, {}, "'covariance_type' parameter must be"),
        ({"covariance_type": "cluster"}, {}, "requires groups in fit"),
        ({}, {"groups": True}, "requires groups in fit"),
        ({"covariance_type": "HC1"}, {"groups": True}, "no other covariance_type"),
    ],
)
@pytest.mark.parametrize("model", ROBUST_MODELS[::2], ids=str)
def test_wrong_covariance_types(model, parameters, options, message):
    X, y, groups, _ = make_robust_table()
    if isinstance(model, LogisticRegression):
        y = (y > 1).astype(int)
    options = {"groups": groups} if options else {}
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**parameters).fit(X, y, **options)


def test_robust_errors_need_rows_and_no_penalty():
    X, y, _, _ = make_robust_table()
    for model in (
        LinearRegression(alpha=1.0, covariance_type="HC3"),
        LinearRegression(positive=True, covariance_type="HC3"),
        GeneralizedLinearRegressor("poisson", alpha=1.0, covariance_type="HC3"),
    ):
        with pytest.raises(ValueError, match="without a penalty"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="without a penalty"):
        LogisticRegression(C=1.0, covariance_type="HC3").fit(X, y > 1)
    with pytest.raises(ValueError, match="partial_fit keeps no rows"):
        LinearRegression(covariance_type="HC3").partial_fit(X[["x"]], y)
    with pytest.raises(ValueError, match="robust errors do not apply|without them"):
        anova(LinearRegression(covariance_type="HC3").fit(X, y), test="F")


def test_tables_in_notebooks_and_frames():
    X, y, _, _ = make_robust_table()
    model = LinearRegression().fit(X, y)
    summary = model.summary()
    frame = summary.to_frame()
    assert frame.index.tolist() == ["intercept", "x", "g=b"]
    np.testing.assert_array_equal(frame["coef"][1:], model.coef_)
    page = summary._repr_html_()
    assert page.count("<table>") == 2
    assert "g=b" in page
    assert anova(model).to_frame().loc["x", "df"] == 1.0
    assert "<th" in anova(model)._repr_html_()
    several = LogisticRegression().fit(X, np.minimum(y, 3)).summary()
    assert several.to_frame().index.names == ["class", None]
