"""The maximum entropy classifier as its users meet it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_textbook.datasets import load_loan, load_play_tennis
from sklearn_textbook.linear_model import LogisticRegression as OwnLogisticRegression
from sklearn_textbook.linear_model import MaxEntClassifier
from tests.linear_model.entropy_cases import make_classes

SOLVERS = ["iis", "gis", "bfgs", "lbfgs"]
EXACT = {"tol": 1e-8, "max_iter": 50_000}


def fit_logistic(X, y, C=np.inf, **options):
    """scikit-learn's multinomial logistic regression, to the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search stops at rounding
        return LogisticRegression(
            C=C, solver="newton-cg", tol=1e-11, max_iter=1_000, **options
        ).fit(X, y)


# ------------------------------------------------------------------ the same optimum


@pytest.mark.parametrize("solver", SOLVERS)
def test_logistic_regression(solver):
    X, y = make_classes(0)
    model = MaxEntClassifier(solver=solver, **EXACT).fit(X, y)
    expected = fit_logistic(X, y)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert_allclose(model.coef_, expected.coef_, rtol=1e-4, atol=1e-4)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)


def test_logistic_regression_of_this_package():
    """Also of nominal columns, of which it takes a reference level."""
    X, y = make_classes(0)
    X = pd.DataFrame(X, columns=list("abcd"))
    X["e"] = np.where(np.random.default_rng(0).random(len(X)) < 0.5, "u", "v")
    model = MaxEntClassifier(**EXACT).fit(X, y)
    shares = OwnLogisticRegression(tol=1e-10).fit(X, y).predict_proba(X)
    assert_allclose(model.predict_proba(X), shares, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_penalized_logistic_regression(solver):
    """The penalty is that of the columns' own units."""
    X, y = make_classes(1)
    X = X * [1.0, 0.05, 10.0, 0.5]
    model = MaxEntClassifier(solver=solver, alpha=5.0, **EXACT).fit(X, y)
    expected = fit_logistic(X, y, C=1 / 5.0)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert_allclose(model.coef_, expected.coef_, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_constants(solver):
    """Columns of both signs stay where they are."""
    X, y = make_classes(2)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = MaxEntClassifier(solver=solver, fit_intercept=False, **EXACT).fit(X, y)
    expected = fit_logistic(X, y, fit_intercept=False)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert not model.intercept_.any()
    assert len(model.weights_) == 3 * 4


def test_nominal_columns():
    """Levels are indicators; the probabilities are those of one-hot columns."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": random.choice(list("uvw"), 400), "b": random.choice(list("xy"), 400)}
    )
    y = np.where(random.random(400) < 0.3 + 0.3 * (X["a"] == "u"), "no", "yes")
    expected = fit_logistic(OneHotEncoder().fit_transform(X).toarray(), y)
    shares = expected.predict_proba(OneHotEncoder().fit_transform(X).toarray())
    for solver in SOLVERS:
        model = MaxEntClassifier(solver=solver, **EXACT).fit(X, y)
        assert_allclose(model.predict_proba(X), shares, atol=1e-6)
        assert model.n_contexts_ == 6
        assert model.coef_names_.tolist() == ["a=u", "a=v", "a=w", "b=x", "b=y"]
        assert model.weight_names_[:2].tolist() == ["a=u & no", "a=u & yes"]
        assert model.weight_names_[-1] == "constant & yes"
    reference = MaxEntClassifier(reference_level="first", **EXACT).fit(X, y)
    assert reference.coef_.shape == (2, 3)
    assert_allclose(reference.predict_proba(X), shares, atol=1e-6)


# --------------------------------------------------------------------------- duality


@pytest.mark.parametrize("solver", SOLVERS)
def test_duality(solver):
    X, y = make_classes(3)
    model = MaxEntClassifier(solver=solver, **EXACT).fit(X, y)
    assert_allclose(
        model.model_expectation_, model.empirical_expectation_, rtol=1e-6, atol=1e-7
    )
    assert_allclose(model.entropy_, -model.dual_value_, atol=1e-6)
    shares = model.predict_proba(X)
    entropy = -(shares * np.log(shares)).sum(axis=1).mean()
    assert_allclose(model.entropy_, entropy, rtol=1e-9)
    indicators = y[:, np.newaxis] == model.classes_
    sums = np.column_stack((X, np.ones(len(X)))).T @ indicators / len(X)
    assert_allclose(model.empirical_expectation_, sums.ravel(), rtol=1e-12)
    loss = -np.log(shares[np.arange(len(y)), y]).sum()
    assert_allclose(model.loss_path_[-1], loss, rtol=1e-10)
    assert_allclose(model.loss_path_[0], len(y) * np.log(3), rtol=1e-12)
    assert len(model.loss_path_) == model.n_iter_ + 1


def test_no_distribution_with_the_constraints_has_more_entropy():
    """Moves that keep all expectations lose entropy, whatever their direction."""
    values = np.array([[1.0, 2, 0, 3, 1, 0], [0, 1, 1, 0, 2, 5]])
    model = MaxEntClassifier.from_constraints(range(6), values, [1.3, 1.1])
    fixed = np.vstack((values, np.ones(6)))
    _, _, rows = np.linalg.svd(fixed)
    for direction in (*rows[3:], *-rows[3:]):
        moved = model.distribution_ + 0.02 * direction
        assert (moved > 0).all()
        assert_allclose(values @ moved, [1.3, 1.1], atol=1e-9)
        assert -(moved @ np.log(moved)) < model.entropy_ - 1e-5


def test_scaling_never_loses():
    X, y = load_iris(return_X_y=True)
    for solver in ("iis", "gis"):
        model = MaxEntClassifier(solver=solver, alpha=0.01, max_iter=300, tol=0.0)
        with pytest.warns(ConvergenceWarning, match="did not converge in max_iter"):
            model.fit(X, y)
        assert model.n_iter_ == 300
        assert np.diff(model.loss_path_).max() < 0


# --------------------------------------------------------------------------- weights


@pytest.mark.parametrize("solver", ["iis", "lbfgs"])
def test_weights_are_copies(solver):
    X, y = make_classes(4)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = MaxEntClassifier(solver=solver, **EXACT).fit(X, y, weight)
    copied = MaxEntClassifier(solver=solver, **EXACT).fit(
        X.repeat(weight, axis=0), y.repeat(weight)
    )
    assert_allclose(weighted.weights_, copied.weights_, atol=1e-9)
    assert_allclose(weighted.loss_path_, copied.loss_path_, rtol=1e-9)
    assert_allclose(weighted.entropy_, copied.entropy_, rtol=1e-9)


def test_rows_of_no_weight_leave_no_trace():
    X, y = make_classes(4)
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    y[0], X[3] = 7, 1e9
    model = MaxEntClassifier().fit(X, y, weight)
    assert 7 not in model.classes_
    without = MaxEntClassifier().fit(X[weight > 0], y[weight > 0])
    assert_array_equal(model.weights_, without.weights_)
    functions = [lambda x, y: x[0] * (y == 1), lambda x, y: float(y == 2)]
    for table in (X, pd.DataFrame(X)):
        model = MaxEntClassifier(functions).fit(table, y, weight)
        without = MaxEntClassifier(functions).fit(X[weight > 0], y[weight > 0])
        assert_array_equal(model.weights_, without.weights_)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_of_weights_do_not_matter(factor):
    X, y = make_classes(4)
    one = MaxEntClassifier(alpha=2.0, **EXACT).fit(X, y)
    weight = np.full(len(y), factor)
    other = MaxEntClassifier(alpha=2.0 * factor, **EXACT).fit(X, y, weight)
    assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-7)


def test_class_weight():
    X, y = make_classes(5, 150)
    by_class = MaxEntClassifier(class_weight={0: 2.0, 1: 1.0, 2: 3.0}).fit(X, y)
    by_row = MaxEntClassifier().fit(X, y, np.array([2.0, 1.0, 3.0])[y])
    assert_array_equal(by_class.weights_, by_row.weights_)
    balanced = MaxEntClassifier(class_weight="balanced").fit(X, y)
    assert_allclose(balanced.empirical_expectation_[-3:], 1 / 3)


# ------------------------------------------------------------------ ways to features


def make_functions(n_columns, classes):
    """The features of columns, as functions f(x, y)."""
    return [
        lambda x, y, j=j, label=label: (x[j] if j < n_columns else 1.0) * (y == label)
        for j in range(n_columns + 1)
        for label in classes
    ]


@pytest.mark.parametrize("solver", SOLVERS)
def test_functions_are_columns(solver):
    X, y = make_classes(6, 100)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    columns = MaxEntClassifier(solver=solver, **EXACT).fit(X, y)
    functions = MaxEntClassifier(make_functions(4, range(3)), solver=solver, **EXACT)
    functions.fit(X, y)
    assert_allclose(functions.predict_proba(X), columns.predict_proba(X), atol=1e-6)
    assert_allclose(
        functions.empirical_expectation_, columns.empirical_expectation_, rtol=1e-12
    )
    if solver in ("iis", "gis"):  # the same rounds, up to rounding
        assert functions.n_iter_ == pytest.approx(columns.n_iter_, abs=2)
    assert functions.weight_names_[:2].tolist() == ["f0", "f1"]
    assert not hasattr(functions, "coef_")


def test_one_function_of_the_table():
    X, y = make_classes(6, 100)

    def place(X, label):
        assert isinstance(X, np.ndarray)
        blocks = np.zeros((len(X), 3, 5))
        blocks[:, label] = np.column_stack((X, np.ones(len(X))))
        return blocks.reshape(len(X), -1)

    columns = MaxEntClassifier(**EXACT).fit(X, y)
    model = MaxEntClassifier(place, **EXACT).fit(X, y)
    assert_allclose(model.predict_proba(X), columns.predict_proba(X), atol=1e-6)
    as_sparse = MaxEntClassifier(
        lambda X, label: sparse.csr_matrix(place(X, label)), **EXACT
    ).fit(X, y)
    assert_allclose(as_sparse.weights_, model.weights_, rtol=1e-9)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_precomputed(is_sparse):
    X, y = make_classes(6, 100)
    blocks = np.zeros((100, 3, 5, 3))
    for k in range(3):
        blocks[:, k, :, k] = np.column_stack((X, np.ones(100)))
    given = blocks.reshape(100, -1)
    given = sparse.csr_array(given) if is_sparse else given
    columns = MaxEntClassifier(**EXACT).fit(X, y)
    model = MaxEntClassifier("precomputed", **EXACT).fit(given, y)
    assert_allclose(model.predict_proba(given), columns.predict_proba(X), atol=1e-6)
    assert model.weights_.shape == (15,)


def test_features_of_classes_that_know_each_other():
    """A feature may hold for several classes, which no column can say."""
    X, y = make_classes(7, 200)
    model = MaxEntClassifier(
        [lambda x, y: x[0] * (y != 0), lambda x, y: float(y == 2)], **EXACT
    ).fit(X, y)
    shares = model.predict_proba(X)
    ratio = np.log(shares[:, 2] / shares[:, 1])
    assert_allclose(ratio, model.weights_[1], atol=1e-9)  # the same in every row
    assert_allclose(model.model_expectation_[0], (X[:, 0] * (y != 0)).mean(), rtol=1e-6)


def test_functions_of_frames():
    """Rows of a data frame are tuples, with text as it is."""
    X, y = load_play_tennis(return_X_y=True, as_frame=True)

    def is_sunny(x, y):
        assert isinstance(x, tuple)
        return x[0] == "sunny" and y == "no"

    model = MaxEntClassifier([is_sunny], **EXACT).fit(X, y)
    assert model.weight_names_.tolist() == ["is_sunny"]
    shares = model.predict_proba(X)[X["outlook"] == "sunny"][0]
    assert_allclose(shares, [3 / 5, 2 / 5], atol=1e-8)
    assert_allclose(model.predict_proba(X)[X["outlook"] != "sunny"], 0.5)
    in_polars = MaxEntClassifier([is_sunny], **EXACT).fit(pl.from_pandas(X), y)
    assert_array_equal(in_polars.weights_, model.weights_)


def test_sparse_is_dense():
    X, y = make_classes(8)
    X = np.maximum(X - X.mean(axis=0), 0.0)
    weight = np.random.default_rng(1).random(len(y))
    for solver in SOLVERS:
        dense = MaxEntClassifier(solver=solver, **EXACT).fit(X, y, weight)
        for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
            model = MaxEntClassifier(solver=solver, **EXACT).fit(make(X), y, weight)
            shares = model.predict_proba(sparse.csr_array(X))
            assert_allclose(shares, dense.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("solver", ["gis", "lbfgs"])
def test_sparse_columns_of_both_signs(solver):
    X, y = make_classes(8)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0.0
    dense = MaxEntClassifier(solver="bfgs", **EXACT).fit(X, y)
    model = MaxEntClassifier(solver=solver, **EXACT).fit(sparse.csr_array(X), y)
    assert_allclose(model.predict_proba(X), dense.predict_proba(X), atol=1e-6)
    assert_allclose(model.coef_, dense.coef_, atol=1e-5)


def test_permuted_columns():
    X, y = load_loan(return_X_y=True, as_frame=True)
    order = list(X.columns[::-1])
    for solver in SOLVERS:
        options = {"solver": solver, "alpha": 2.0, "tol": 1e-8, "max_iter": 20_000}
        one = MaxEntClassifier(**options).fit(X, y)
        other = MaxEntClassifier(**options).fit(X[order], y)
        shares = other.predict_proba(X[order])
        assert_allclose(one.predict_proba(X), shares, atol=1e-7)
        by_name = dict(zip(one.weight_names_, one.weights_, strict=True))
        weights = [by_name[name] for name in other.weight_names_]
        assert_allclose(other.weights_, weights, atol=1e-5)


# ----------------------------------------------------------------- no maximum, no end


@pytest.mark.parametrize("solver", SOLVERS)
def test_levels_that_never_occur_with_a_class(solver):
    X, y = load_play_tennis(return_X_y=True, as_frame=True)  # overcast: always yes
    model = MaxEntClassifier(solver=solver, tol=1e-4)
    with pytest.warns(ConvergenceWarning, match="no maximum") as caught:
        model.fit(X, y)
    text = str(caught[0].message)
    assert "minus infinity" in text
    assert "outlook=overcast & no" in text
    assert "features with the largest possible expectation diverge to infinity" in text
    assert caught[0].filename == __file__
    assert np.isfinite(model.weights_).all()
    assert np.abs(model.weights_).max() < 40
    overcast = model.predict_proba(X)[X["outlook"] == "overcast", 0]
    assert overcast.max() < 0.01


@pytest.mark.parametrize("solver", SOLVERS)
def test_separated_classes(solver):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100] - [0.0, 0, 3, 0], y[:100]
    model = MaxEntClassifier(solver=solver, tol=1e-3, max_iter=5_000)
    with pytest.warns(ConvergenceWarning, match="the features separate the classes"):
        model.fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.weights_).all()


def test_penalty_needs_no_warning():
    X, y = load_play_tennis(return_X_y=True, as_frame=True)
    model = MaxEntClassifier(alpha=0.1).fit(X, y)
    assert np.abs(model.weights_).max() < 5
    with pytest.warns(ConvergenceWarning, match="no maximum"):
        MaxEntClassifier([lambda x, y: x[0] == "overcast" and y == "no"]).fit(X, y)


def test_too_few_rounds():
    X, y = make_classes(9)
    with pytest.warns(ConvergenceWarning, match="'bfgs' did not .* max_iter=3 ") as w:
        MaxEntClassifier(solver="bfgs", max_iter=3).fit(X, y)
    assert "differ by up to" in str(w[0].message)
    assert w[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="since rounding hides the slope"):
        MaxEntClassifier(tol=0.0).fit(X, y)


# ------------------------------------------------------------------------- extremes


def test_units_do_not_matter():
    X, y = make_classes(10)
    expected = MaxEntClassifier(**EXACT).fit(X, y).predict_proba(X)
    for factor, offset in ((1e-8, 0.0), (1e200, 0.0), (1.0, 1e6)):
        table = factor * X + offset
        model = MaxEntClassifier(**EXACT).fit(table, y)
        assert_allclose(model.predict_proba(table), expected, atol=1e-6)


def test_penalty_of_columns_in_small_units():
    """They have no say, and do not keep the others from arriving."""
    X, y = make_classes(10, 100)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    tiny = X * [1.0, 1e-9, 1e-180, 1.0]
    expected = MaxEntClassifier(alpha=1.0, **EXACT).fit(X[:, [0, 3]], y)
    for solver in ("bfgs", "lbfgs"):
        model = MaxEntClassifier(solver=solver, alpha=1.0, **EXACT).fit(tiny, y)
        shares = expected.predict_proba(X[:, [0, 3]])
        assert_allclose(model.predict_proba(tiny), shares, atol=1e-6)
    for table in (X, X[:, [0, 3]]):
        model = MaxEntClassifier(solver="iis", alpha=1e-300, tol=1e-4, max_iter=5_000)
        plain = clone(model).set_params(alpha=0.0).fit(table, y)
        shares = plain.predict_proba(table)
        assert_allclose(model.fit(table, y).predict_proba(table), shares, atol=1e-9)


def test_constant_columns_and_one_class():
    X, y = make_classes(10, 100)
    more = np.column_stack((X, np.full(100, 3.0), np.zeros(100)))
    for solver in SOLVERS:
        model = MaxEntClassifier(solver=solver, **EXACT).fit(more, y)
        expected = MaxEntClassifier(**EXACT).fit(X, y)
        shares = expected.predict_proba(X)
        assert_allclose(model.predict_proba(more), shares, atol=1e-6)
        model = MaxEntClassifier(solver=solver).fit(X, np.full(100, "only"))
        assert_array_equal(model.predict_proba(X), 1.0)
        assert model.entropy_ == 0.0


def test_scores_without_end_of_floats():
    X, y = make_classes(11, 100)
    model = MaxEntClassifier().fit(X, y)
    far = 1e6 * X[:5]
    logarithms = model.predict_log_proba(far)
    assert np.isfinite(logarithms).all()
    assert logarithms.min() < -1e5
    scores = model.decision_function(far)
    assert_array_equal(scores.argmax(axis=1), model.predict(far))
    two = MaxEntClassifier().fit(X, y == 1)
    decision = two.decision_function(X)
    assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-decision)), rtol=1e-12)


# ---------------------------------------------------------------------- constraints


def test_constraints_of_three_kinds():
    outcomes = [1, 2, 3, 4, 5, 6]
    values = np.array([[1.0, 2, 3, 4, 5, 6], [0, 0, 0, 0, 1, 1]])
    by_values = MaxEntClassifier.from_constraints(outcomes, values, [4.5, 0.5])
    mixed = [lambda y: y, {5, 6}]
    by_functions = MaxEntClassifier.from_constraints(outcomes, mixed, [4.5, 0.5])
    assert_allclose(by_functions.distribution_, by_values.distribution_, rtol=1e-12)
    assert_allclose(by_values.distribution_ @ outcomes, 4.5, atol=1e-9)
    assert by_values.predict(values.T.reshape(1, -1)).tolist() == [6]
    shares = by_values.predict_proba(values.T.reshape(1, -1))
    assert_allclose(shares[0], by_values.distribution_, rtol=1e-12)
    assert by_values.weight_names_.tolist() == ["f0", "f1"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_constraints_of_any_sign(solver):
    """Jaynes' dice, moved so that its faces have mean 0."""
    model = MaxEntClassifier.from_constraints(
        range(6), [[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]], [1.0], solver=solver
    )
    ratios = model.distribution_[1:] / model.distribution_[:-1]
    assert_allclose(ratios, np.exp(model.weights_[0]), rtol=1e-9)
    assert_allclose(model.distribution_.round(4).tolist(),
                    [0.0544, 0.0788, 0.1142, 0.1654, 0.2398, 0.3475],
                    atol=1e-4)  # fmt: skip


def test_constraints_that_repeat_each_other():
    model = MaxEntClassifier.from_constraints(
        "ABC", [{"A"}, {"B", "C"}, {"A"}], [0.2, 0.8, 0.2]
    )
    assert_allclose(model.distribution_, [0.2, 0.4, 0.4], atol=1e-9)


@pytest.mark.parametrize(
    ("features", "expectations", "message"),
    [
        (
            [{"A", "B"}],
            [1.2],
            r"expectations\[0\] must be between 0 and 1, .*; got 1.2",
        ),
        ([{"A"}, {"B"}], [0.7, 0.6], "they contradict each other"),
        ([{"A"}, {"A"}], [0.7, 0.6], "they contradict each other"),
        ([{"A"}], [0.7, 0.6], r"shape \(1,\), one number per feature"),
        ([{"A", "Q"}], [0.7], "'Q', which is not one of the outcomes"),
        ([[1.0, 2.0]], [0.7], r"features\[0\]"),
        ([{"A"}], [np.nan], "must be finite"),
        ([3], [0.5], r"features\[0\] must be a function"),
    ],
)
def test_wrong_constraints(features, expectations, message):
    with pytest.raises(ValueError, match=message):
        MaxEntClassifier.from_constraints("ABC", features, expectations)


def test_outcomes_of_any_kind():
    pairs = [("a", 0), ("a", 1), ("b", 0)]
    model = MaxEntClassifier.from_constraints(pairs, [lambda y: y[0] == "a"], [0.4])
    assert model.classes_.tolist() == pairs
    assert_allclose(model.distribution_, [0.2, 0.2, 0.6], atol=1e-9)
    model = MaxEntClassifier.from_constraints([1, "one"], [{1}], [0.4])
    assert model.classes_.tolist() == [1, "one"]


def test_outcomes_must_be_distinct():
    with pytest.raises(ValueError, match="outcomes must be one or more distinct"):
        MaxEntClassifier.from_constraints("AAB", [], [])


def test_constraints_that_forbid_an_outcome():
    with pytest.warns(ConvergenceWarning, match="no probability to 'C'") as caught:
        model = MaxEntClassifier.from_constraints("ABC", [{"A", "B"}, {"A"}], [1, 0.3])
    assert caught[0].filename == __file__
    assert_allclose(model.distribution_, [0.3, 0.7, 0.0], atol=1e-8)
    assert np.isfinite(model.weights_).all()


# ------------------------------------------------------------------------- in use


def test_unseen_levels():
    X, y = load_play_tennis(return_X_y=True, as_frame=True)
    new = X.astype(str).iloc[[0]].assign(outlook="hail")
    X = X.astype(str)
    strict = MaxEntClassifier(alpha=1.0, handle_unknown="error")
    with pytest.raises(ValueError, match="'outlook', row 0, has the level 'hail'"):
        strict.fit(X, y).predict(new)
    model = MaxEntClassifier(alpha=1.0).fit(X, y)
    rows = [model.design_.read(new.assign(outlook=level))[0] for level in X["outlook"]]
    scores = model.coef_ @ np.mean(rows, axis=0) + model.intercept_
    with pytest.warns(UserWarning, match=r"'outlook' in 1 row \('hail'\)"):
        found = model.decision_function(new)
    assert_allclose(found, scores[1] - scores[0], rtol=1e-9)


def test_frames_are_read_alike():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["wide"] = (X.iloc[:, 1] > 3).map({True: "yes", False: "no"})
    model = MaxEntClassifier(alpha=1.0).fit(X, y)
    in_polars = MaxEntClassifier(alpha=1.0).fit(pl.from_pandas(X), y.to_numpy())
    assert_array_equal(in_polars.weights_, model.weights_)
    assert in_polars.feature_names_in_.tolist() == list(X.columns)
    shares = in_polars.predict_proba(pl.from_pandas(X))
    assert_array_equal(shares, model.predict_proba(X))


def test_pipelines_copies_and_searches():
    X, y = make_classes(12, 150)
    pipeline = make_pipeline(
        StandardScaler().set_output(transform="pandas"), MaxEntClassifier()
    ).fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    search = GridSearchCV(MaxEntClassifier(), {"alpha": [0.01, 100.0]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"alpha": 0.01}
    for model in (pipeline[-1], search.best_estimator_):
        copy = pickle.loads(pickle.dumps(model))
        assert_array_equal(copy.weights_, model.weights_)
        assert clone(model).get_params() == model.get_params()


def test_another_fit_leaves_nothing_behind():
    X, y = make_classes(12, 150)
    model = MaxEntClassifier().fit(X, y)
    model.set_params(features=[lambda x, y: x[0] * y]).fit(X, y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "design_")
    assert model.weights_.shape == (1,)


def test_threads_give_the_same_bits():
    X, y = make_classes(13, 12_000)
    for solver in ("iis", "lbfgs"):
        options = {"solver": solver, "max_iter": 5, "tol": 1e-3}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            models = [
                MaxEntClassifier(n_jobs=n_jobs, **options).fit(X, y)
                for n_jobs in (1, 2, 3)
            ]
        for model in models[1:]:
            assert_array_equal(model.weights_, models[0].weights_)
            assert_array_equal(model.loss_path_, models[0].loss_path_)


# --------------------------------------------------------------------- wrong input

X, y = make_classes(14, 30)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"features": "rows"}, "'features' parameter must be one of 'columns'"),
        ({"features": []}, "'features' parameter must be 'columns', 'precomputed'"),
        ({"features": [1]}, "'features' parameter must be 'columns', 'precomputed'"),
        ({"solver": "newton"}, "'solver' parameter must be one of 'iis', 'gis'"),
        ({"alpha": -1.0}, r"'alpha' parameter must be a float in the range \[0.0, inf"),
        ({"max_iter": 0}, "'max_iter' parameter must be an int"),
        ({"tol": -1e-3}, "'tol' parameter must be a float"),
        ({"fit_intercept": 1}, "'fit_intercept' parameter must be True or False"),
        ({"n_jobs": 0}, "'n_jobs' parameter must be None, a positive int"),
        ({"handle_unknown": "guess"}, "'handle_unknown' parameter must be one of"),
        ({"reference_level": "third"}, "'reference_level' parameter must be one of"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        MaxEntClassifier(**parameters).fit(X, y)


def test_wrong_tables():
    with pytest.raises(
        ValueError, match="block of columns .* for each of the 3 classes"
    ):
        MaxEntClassifier("precomputed").fit(X, y)
    with pytest.raises(ValueError, match="returned NaN or infinity for class 0"):
        MaxEntClassifier([lambda x, y: np.nan]).fit(X, y)
    with pytest.raises(ValueError, match="one row per row of X, 30 in all"):
        MaxEntClassifier(lambda X, y: X[:3]).fit(X, y)
    with pytest.raises(TypeError, match="[Ss]parse"):
        MaxEntClassifier([lambda x, y: 1.0]).fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="NaN"):
        MaxEntClassifier().fit(np.where(X > 5, np.nan, X), y)
    with pytest.raises(ValueError, match="2 features, but MaxEntClassifier is exp"):
        MaxEntClassifier().fit(X, y).predict(X[:, :2])
    with pytest.raises(ValueError, match="should be a 1d array"):
        MaxEntClassifier().fit(X, np.column_stack((y, y)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_too_many_pairs_of_rows_and_classes_are_refused():
    X = np.random.default_rng(0).standard_normal((20_000, 3))
    y = np.arange(20_000) % 10_000
    message = "200,000,000 pairs of 20,000 rows and 10,000 classes. Merge classes"
    with pytest.raises(ValueError, match=message):
        MaxEntClassifier().fit(X, y)
    # Equal rows are one: what counts is how many differ.
    model = MaxEntClassifier(max_iter=1).fit(np.round(X[:, :1] / 4), y)
    assert model.n_contexts_ < 10
