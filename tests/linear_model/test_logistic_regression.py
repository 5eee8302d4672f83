"""LogisticRegression: solvers, parametrisations, inference, and what it refuses."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression as StockLogisticRegression

from sklearn_textbook.linear_model import LogisticRegression
from sklearn_textbook.linear_model.logistic import separation
from sklearn_textbook.linear_model.logistic.likelihood import (
    MAX_NUMBERS_OF_ONE,
    LogisticLikelihood,
)
from tests.reference import logistic_regression as reference

SOLVERS = ("newton", "gradient", "bfgs", "lbfgs")
MOST = {"newton": 100, "gradient": 20_000, "bfgs": 500, "lbfgs": 1000}


def make_rows(n_classes=2, n_rows=150, n_columns=3, seed=0):
    """Overlapping classes with weights."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns)) + generator.normal(size=n_columns)
    scores = X @ generator.normal(size=(n_columns, n_classes))
    scores += 2.0 * generator.gumbel(size=scores.shape)
    y = scores.argmax(axis=1)
    return X, y, generator.integers(1, 4, n_rows).astype(float)


def fit_each(X, y, **parameters):
    for solver in SOLVERS:
        model = LogisticRegression(
            solver=solver, max_iter=MOST[solver], **{"tol": 1e-9} | parameters
        )
        yield model.fit(X, y)


# -------------------------------------------------------------------------- reference
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_likelihood_equals_the_reference(n_classes, fit_intercept):
    X, y, weight = make_rows(n_classes, 40)
    likelihood = LogisticLikelihood(
        X,
        y,
        n_classes,
        weight,
        fit_intercept=fit_intercept,
        is_symmetric=False,
        strength=0.0,
        n_threads=1,
    )
    Z = np.column_stack([np.ones(40), X - likelihood.centre]) if fit_intercept else X
    theta = np.random.default_rng(1).normal(size=(n_classes - 1) * Z.shape[1])
    found = likelihood.evaluate(theta)
    assert_allclose(found.loss, reference.compute_loss(Z, y, weight, theta, n_classes))
    gradient, hessian = reference.compute_derivatives(Z, y, weight, theta, n_classes)
    assert_allclose(found.gradient.ravel(), gradient, atol=1e-11)
    assert_allclose(found.hessian, hessian, atol=1e-11)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("solver", "take_steps", "n_steps"),
    [
        ("newton", reference.take_newton_steps, 4),
        ("gradient", reference.take_gradient_steps, 8),
        ("bfgs", reference.take_bfgs_steps, 8),
    ],
)
def test_solver_takes_the_steps_of_the_reference(
    solver, take_steps, n_steps, n_classes
):
    X, y, weight = make_rows(n_classes, 40)
    centre = np.average(X, axis=0, weights=weight)
    Z = np.column_stack([np.ones(40), X - centre])
    path = take_steps(Z, y, weight, n_classes, n_steps)
    losses = [reference.compute_loss(Z, y, weight, theta, n_classes) for theta in path]
    for number, theta in enumerate(path):
        model = LogisticRegression(solver=solver, max_iter=number, tol=0.0)
        with pytest.warns(ConvergenceWarning, match=f"after {number} iteration"):
            model.fit(X, y, sample_weight=weight)
        intercept = model.intercept_ + model.coef_ @ centre
        found = np.column_stack([intercept, model.coef_])
        assert_allclose(found, theta.reshape(found.shape), atol=1e-9)
        assert_allclose(model.loss_path_, losses[: number + 1], rtol=1e-10)
        assert_array_equal(model.n_iter_, [number])


# ---------------------------------------------------------------------------- kernels
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("is_symmetric", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_and_products_of_columns_agree(n_classes, is_symmetric, weighted):
    X, y, weight = make_rows(n_classes, 3000, 9)
    parameters = {
        "fit_intercept": True,
        "is_symmetric": is_symmetric,
        "strength": 0.7,
        "n_threads": 2,
    }
    weight = weight if weighted else None
    one = LogisticLikelihood(X, y, n_classes, weight, **parameters)
    other = LogisticLikelihood(X, y, n_classes, weight, **parameters)
    other._is_compiled = False
    theta = np.random.default_rng(0).normal(size=one.shape)
    found, expected = one.evaluate(theta), other.evaluate(theta)
    assert_allclose(found.loss, expected.loss, rtol=1e-12)
    assert_allclose(found.margin, expected.margin, rtol=1e-12)
    assert_allclose(found.gradient, expected.gradient, atol=1e-8)
    assert_allclose(found.hessian, expected.hessian, atol=1e-8)
    for order in (0, 1):
        assert one.evaluate(theta, order).loss == found.loss
    assert_array_equal(one.evaluate(theta, 1).gradient, found.gradient)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bits_do_not_depend_on_threads(n_classes):
    X, y, weight = make_rows(n_classes, 5000, 11)
    first = LogisticRegression(n_jobs=1).fit(X, y, weight)
    for n_jobs in (2, 3, 8):
        other = LogisticRegression(n_jobs=n_jobs).fit(X, y, weight)
        assert_array_equal(other.coef_, first.coef_)
        assert_array_equal(other.loss_path_, first.loss_path_)
    other = LogisticRegression(n_jobs=2).fit(np.asfortranarray(X), y, weight)
    assert_allclose(other.coef_, first.coef_, rtol=1e-12)


def test_wide_table_goes_by_products():
    """Where the sums of products of all stretches of rows would fill the memory."""
    X, y, _ = make_rows(8, 60, 400)
    assert MAX_NUMBERS_OF_ONE < 36 * 400**2  # pairs of scores, pairs of columns
    parameters = {"C": 0.01, "tol": 1e-9, "max_iter": 1000}
    model = LogisticRegression(parametrization="symmetric", solver="lbfgs")
    model.set_params(**parameters).fit(X, y)
    stock = StockLogisticRegression(**parameters)
    assert_allclose(model.coef_, stock.fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_table(solver, n_classes):
    X, y, weight = make_rows(n_classes, 200, 4)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0.0
    model = LogisticRegression(solver=solver, max_iter=MOST[solver])
    dense = model.fit(X, y, weight)
    coef, errors = dense.coef_, dense.standard_errors_
    proba = dense.predict_proba(X)
    for container in (sparse.csr_array, sparse.csc_matrix):
        model.fit(container(X), y, weight)
        assert_allclose(model.coef_, coef, atol=1e-5)
        assert_allclose(model.standard_errors_, errors, rtol=1e-5)
        assert_allclose(model.predict_proba(container(X)), proba, atol=1e-5)


# ---------------------------------------------------------------------------- optimum
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("parametrization", ["reference", "symmetric"])
@pytest.mark.parametrize("C", [np.inf, 0.3])
def test_solvers_reach_the_same_optimum(n_classes, parametrization, C):
    X, y, _ = make_rows(n_classes)
    parameters = {"C": C, "parametrization": parametrization}
    first, *others = fit_each(X, y, **parameters)
    for model in others:
        assert_allclose(model.coef_, first.coef_, atol=1e-6)
        assert_allclose(model.intercept_, first.intercept_, atol=1e-6)
        assert_allclose(model.loss_path_[-1], first.loss_path_[-1], rtol=1e-12)
    for model in (first, *others):
        assert (np.diff(model.loss_path_) <= 1e-10).all()
        assert model.converged_


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("C", [np.inf, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_scikit_learn(n_classes, C, fit_intercept):
    X, y, weight = make_rows(n_classes)
    common = {"C": C, "fit_intercept": fit_intercept}
    model = LogisticRegression(parametrization="symmetric", **common)
    model.fit(X, y, weight)
    stock = StockLogisticRegression(
        solver="newton-cholesky", tol=1e-10, max_iter=1000, **common
    ).fit(X, y, weight)
    assert_allclose(model.coef_, stock.coef_, atol=1e-7)
    assert_allclose(model.intercept_, stock.intercept_, atol=1e-7)
    assert_allclose(model.predict_proba(X), stock.predict_proba(X), atol=1e-8)
    assert_array_equal(model.predict(X), stock.predict(X))


def test_reference_and_symmetric_say_the_same():
    X, y, _ = make_rows(4)
    labels = np.array(["d", "a", "c", "b"])[y]
    reference = LogisticRegression().fit(X, labels)
    symmetric = LogisticRegression(parametrization="symmetric").fit(X, labels)
    assert reference.coef_.shape == (3, 3)
    assert symmetric.coef_.shape == (4, 3)
    assert reference.reference_class_ == "d"
    assert symmetric.reference_class_ is None
    assert_allclose(symmetric.coef_.sum(axis=0), 0.0, atol=1e-12)
    assert_allclose(symmetric.intercept_.sum(), 0.0, atol=1e-12)
    assert_allclose(
        symmetric.coef_[:3] - symmetric.coef_[3], reference.coef_, atol=1e-10
    )
    assert_allclose(symmetric.predict_proba(X), reference.predict_proba(X), atol=1e-12)
    assert_array_equal(reference.decision_function(X)[:, 3], 0.0)
    # An estimate's error does not depend on how the others are written down.
    turn = np.eye(4)[:, :3] - 0.25
    whole = np.kron(turn, np.eye(4)) @ reference.covariance_
    expected = whole @ np.kron(turn, np.eye(4)).T
    assert_allclose(symmetric.covariance_, expected, atol=1e-10)


def test_weights_are_repeated_rows():
    X, y, weight = make_rows(3)
    weight[:5] = 0.0
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    weighted = LogisticRegression().fit(X, y, weight)
    model = LogisticRegression().fit(X[repeated], y[repeated])
    assert_allclose(weighted.coef_, model.coef_, rtol=1e-8)
    assert_allclose(weighted.standard_errors_, model.standard_errors_, rtol=1e-8)
    for name in ("log_likelihood_", "null_log_likelihood_", "aic_", "bic_"):
        assert_allclose(getattr(weighted, name), getattr(model, name), rtol=1e-10)
    assert weighted.n_observations_ == len(repeated)


def test_class_weights_multiply_sample_weights():
    X, y, weight = make_rows(3)
    factors = {0: 1.0, 1: 2.0, 2: 0.5}
    given = LogisticRegression(class_weight=factors).fit(X, y, weight)
    product = weight * np.array([factors[label] for label in y])
    assert_array_equal(given.coef_, LogisticRegression().fit(X, y, product).coef_)
    balanced = LogisticRegression(class_weight="balanced").fit(X, y, weight)
    totals = np.bincount(y, weight)
    product = weight * (weight.sum() / (3 * totals))[y]
    expected = LogisticRegression().fit(X, y, product).coef_
    assert_allclose(balanced.coef_, expected, rtol=1e-10)


def test_units_and_origins_of_columns():
    X, y, _ = make_rows(3)
    model = LogisticRegression().fit(X, y)
    factors, shift = np.array([1e-9, 1.0, 1e7]), np.array([0.0, 1e5, 3e12])
    other = LogisticRegression().fit(X * factors + shift, y)
    assert_allclose(other.coef_ * factors, model.coef_, rtol=1e-5)
    assert_allclose(other.standard_errors_ * factors, model.standard_errors_, rtol=1e-5)
    assert_allclose(other.log_likelihood_, model.log_likelihood_, rtol=1e-9)
    assert other.n_iter_ == model.n_iter_
    assert other.rank_ == 4


def test_order_of_rows_columns_and_classes():
    X, y, _ = make_rows(2)
    model = LogisticRegression().fit(X, y)
    turned = LogisticRegression().fit(X[::-1, ::-1], 1 - y[::-1])
    assert_allclose(turned.coef_, -model.coef_[:, ::-1], rtol=1e-9)
    assert_allclose(turned.intercept_, -model.intercept_, rtol=1e-9)


def test_one_column_of_two_values_is_the_log_odds_ratio():
    """The table [[10, 20], [30, 15]]: a closed form."""
    counts = np.array([[10.0, 20.0], [30.0, 15.0]])
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    model = LogisticRegression().fit(X, y, counts.ravel())
    ratio = counts[0, 0] * counts[1, 1] / (counts[0, 1] * counts[1, 0])
    assert_allclose(model.odds_ratios_, [[ratio]], rtol=1e-10)
    error = np.sqrt((1.0 / counts).sum())
    assert_allclose(model.standard_errors_, [[error]], rtol=1e-9)
    low, high = model.odds_ratio_intervals_[0, 0]
    assert_allclose(np.log([low, high]), np.log(ratio) + np.array([-1, 1]) * 1.959964
                    * error, rtol=1e-6)  # fmt: skip
    shares = counts / counts.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba([[0.0], [1.0]]), shares, rtol=1e-10)


# -------------------------------------------------------------------------- inference
@pytest.mark.parametrize("n_classes", [2, 3])
def test_results_follow_from_each_other(n_classes):
    X, y, weight = make_rows(n_classes)
    model = LogisticRegression().fit(X, y, weight)
    log_proba = model.predict_log_proba(X)[np.arange(len(y)), y]
    assert_allclose(model.log_likelihood_, weight @ log_proba)
    shares = np.bincount(y, weight) / weight.sum()
    assert_allclose(model.null_log_likelihood_, weight @ np.log(shares[y]))
    n_free = (n_classes - 1) * 4
    assert_allclose(model.aic_, 2 * n_free - 2 * model.log_likelihood_)
    expected = n_free * np.log(weight.sum()) - 2 * model.log_likelihood_
    assert_allclose(model.bic_, expected)
    test = model.likelihood_ratio_test_
    assert test.degrees_of_freedom == n_free - (n_classes - 1)
    assert_allclose(test.statistic, model.null_deviance_ - model.deviance_)
    assert_allclose(test.p_value, stats.chi2.sf(test.statistic, n_free - n_classes + 1))
    assert 0.0 < model.pseudo_r2_ < 1.0
    table = model.coefficient_table_
    assert len(table.names) == n_free
    assert_allclose(table.standard_errors**2, model.covariance_.diagonal())
    assert table.statistic_name == "z"


def test_without_intercept():
    X, y, _ = make_rows(3)
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    assert_array_equal(model.intercept_, 0.0)
    assert np.isnan(model.intercept_standard_error_).all()
    assert_allclose(model.null_log_likelihood_, -len(y) * np.log(3))
    assert model.likelihood_ratio_test_.degrees_of_freedom == 6
    assert "intercept" not in model.summary()


def test_penalised_model_has_no_standard_errors():
    X, y, _ = make_rows()
    model = LogisticRegression(C=1.0).fit(X, y)
    assert model.rank_ is None
    assert model.separation_ is None
    for name in ("standard_errors_", "aic_", "coefficient_table_", "covariance_"):
        with pytest.raises(AttributeError, match=name):
            getattr(model, name)
    assert "no standard errors" in model.summary()
    # The loss has the penalty, the likelihood has not.
    penalty = 0.5 * (model.coef_**2).sum()
    assert_allclose(model.loss_path_[-1], penalty - model.log_likelihood_)
    # A second fit without penalty has all of it, a third one loses it again.
    model.set_params(C=np.inf).fit(X, y)
    assert np.isfinite(model.covariance_).all()
    assert not hasattr(model.set_params(C=1.0).fit(X, y), "covariance_")


def test_summary():
    X, y, _ = make_rows(3)
    names = ["length", "width", "重量"]
    labels = np.array(["one", "three", "two"])[y]
    model = LogisticRegression().fit(pd.DataFrame(X, columns=names), labels)
    text = model.summary(level=0.9)
    for part in (
        "one against two",
        "three against two",
        "重量",
        "5%",
        "95%",
        "McFadden",
    ):
        assert part in text
    assert "separation" not in text
    with pytest.raises(NotFittedError):
        LogisticRegression().summary()
    with pytest.raises(ValueError, match="level"):
        model.summary(level=1.5)


# -------------------------------------------------------------------- dependent columns
@pytest.mark.parametrize(
    ("solver", "is_sparse"),
    [*((solver, False) for solver in SOLVERS), ("newton", True), ("bfgs", True)],
)
def test_dependent_columns(solver, is_sparse):
    X, y, _ = make_rows(3)
    full = LogisticRegression().fit(X, y)
    wide = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 7.0)])
    table = sparse.csr_array(wide) if is_sparse else wide
    model = LogisticRegression(solver=solver, max_iter=MOST[solver])
    with pytest.warns(
        UserWarning, match=r"dependent or constant: 'x0', 'x1', 'x3', 'x4'\. "
    ):
        model.fit(table, y)
    assert model.rank_ == 4
    assert_allclose(model.predict_proba(table), full.predict_proba(X), atol=1e-6)
    errors = model.standard_errors_
    assert_allclose(errors[:, 2], full.standard_errors_[:, 2], rtol=1e-5)
    assert np.isnan(errors[:, [0, 1, 3, 4]]).all()
    assert np.isnan(model.intercept_standard_error_).all()
    # Of least norm: at right angles to all that changes nothing.
    assert_allclose(model.coef_[:, 4], 0.0, atol=1e-9)
    turned = model.coef_ @ [1.0, 1.0, 0.0, -1.0, 0.0]
    assert_allclose(turned, 0.0, atol=1e-8)
    assert model.likelihood_ratio_test_.degrees_of_freedom == 6
    assert "linearly dependent" in model.summary()


def test_more_columns_than_rows_are_separable():
    X, y, _ = make_rows(2, 10, 30)
    with pytest.warns(ConvergenceWarning, match="Complete separation"):
        model = LogisticRegression().fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.rank_ == 10


def test_indicators_of_all_levels():
    frame = pd.DataFrame({"colour": list("rgbrgbrgb") * 4, "size": np.arange(36) % 5})
    y = np.arange(36) % 7 % 2
    some = LogisticRegression(categorical_features=["colour"], handle_unknown="error")
    some.fit(frame, y)
    every = LogisticRegression(categorical_features=["colour"], reference_level=None)
    every.fit(frame, y)
    assert some.coef_names_.tolist() == ["colour=g", "colour=r", "size"]
    assert every.rank_ == some.rank_ == 4
    assert_allclose(every.predict_proba(frame), some.predict_proba(frame), atol=1e-8)
    with pytest.raises(
        ValueError, match="'colour', row 0, has the level 'x' that was no"
    ):
        some.predict(pd.DataFrame({"colour": ["x"], "size": [1]}))


# -------------------------------------------------------------------------- separation
LINE = np.arange(8.0).reshape(-1, 1)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("separation", ["check", "exact"])
def test_complete_separation(solver, separation):
    y = (LINE[:, 0] > 3.0).astype(int)
    model = LogisticRegression(solver=solver, separation=separation, max_iter=200)
    with pytest.warns(ConvergenceWarning, match=r"Complete separation.*no maximum"):
        model.fit(LINE, y)
    assert model.separation_ == "complete"
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_proba(LINE)).all()
    assert_array_equal(model.predict(LINE), y)
    assert "are meaningless" in model.summary()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("separation", ["check", "exact"])
def test_quasi_complete_separation(solver, separation):
    X = np.append(LINE, [[3.0]], axis=0)
    y = np.append((LINE[:, 0] > 3.0).astype(int), 1)
    model = LogisticRegression(solver=solver, separation=separation, max_iter=200)
    with pytest.warns(ConvergenceWarning, match="Quasi-complete separation"):
        model.fit(X, y)
    assert model.separation_ == "quasi_complete"
    assert np.isfinite(model.coef_).all()
    # One of the two at 3 is of each class, whatever the slope.
    assert_allclose(model.predict_proba([[3.0]])[0, 1], 0.5, atol=0.05)


@pytest.mark.parametrize("separation", ["check", "exact"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_overlapping_classes_are_not_separated(separation, n_classes):
    X, y, _ = make_rows(n_classes, 60)
    model = LogisticRegression(separation=separation).fit(X, y)
    assert model.separation_ == "none"


@pytest.mark.parametrize("separation", ["check", "exact"])
def test_one_of_three_classes_is_separated(separation):
    X, y, _ = make_rows(2, 80)
    X = np.append(X, X[:20] + 50.0, axis=0)
    y = np.append(y, np.full(20, 2))
    with pytest.warns(ConvergenceWarning, match="Quasi-complete"):
        model = LogisticRegression(separation=separation).fit(X, y)
    assert model.separation_ == "quasi_complete"


def make_rows_apart(seed):
    """Three classes; a difference of columns is above 0 only in rows of the first two.

    It is very large in some of these 30 rows, and the likelihood hardly increases in
    the others.
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((18_000, 3))
    y = (random.standard_normal(X.shape) + X).argmax(axis=1)
    apart = np.zeros(len(X))
    apart[:30], y[:30] = random.pareto(1.0, 30), seed % 2 * (np.arange(30) % 2)
    return np.column_stack([X, X[:, 0] - apart]), y


def test_separation_in_large_tables():
    X, y, _ = make_rows(2, 70_000, 3)
    assert LogisticRegression().fit(X, y).separation_ == "none"
    level = (np.arange(70_000) < 500) & (y == 1)  # a level that only one class has
    with pytest.warns(ConvergenceWarning, match="Quasi-complete"):
        LogisticRegression().fit(np.column_stack([X, level]), y)


@pytest.mark.parametrize("seed", [1, 3, 6])
def test_combination_that_separates_rows_of_a_large_table(seed):
    X, y = make_rows_apart(seed)
    with pytest.warns(ConvergenceWarning, match="Quasi-complete"):
        model = LogisticRegression().fit(X, y)
    assert model.separation_ == "quasi_complete"
    assert model.standard_errors_.max() > 1e4
    # Two rows of the third class, one on each side, forbid it.
    X, y = np.append(X, X[:1] * [[1.0], [-1.0]], axis=0), np.append(y, [2, 2])
    model = LogisticRegression(separation="exact").fit(X, y)
    assert model.separation_ == "none"


def test_separation_by_few_of_the_constraints(monkeypatch):
    """The linear programme finds the same when constraints are added one by one."""
    kinds = []
    monkeypatch.setattr(separation, "N_PER_COEFFICIENT", 0)
    for n_classes, spread in itertools.product((2, 3, 4), (0.5, 3.0, 1000.0)):
        random = np.random.default_rng(0)
        X = random.normal(size=(150, 3))
        scores = X @ random.normal(size=(3, n_classes)) * spread
        y = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
        if spread == 3.0:
            X[y == 0, 0] = np.maximum(X[y == 0, 0], 0.0)
            X[y > 0, 0] = 0.0
        likelihood = LogisticLikelihood(
            *(X, y, n_classes, None),
            fit_intercept=True,
            is_symmetric=False,
            strength=0.0,
        )
        found = set()
        for n_added in (1, 10_000):
            monkeypatch.setattr(separation, "N_CONSTRAINTS", n_added)
            found.add(separation.solve_programme(likelihood, likelihood.start()))
        assert len(found) == 1
        kinds += found
    assert kinds == ["none", "quasi_complete", "complete"] * 3


def test_linear_programme_that_is_too_large(monkeypatch):
    X = np.append(LINE, [[3.0]], axis=0)
    y = np.append((LINE[:, 0] > 3.0).astype(int), 1)
    monkeypatch.setattr(separation, "MOST_UNASKED", 10)
    with pytest.warns(ConvergenceWarning, match="may separate classes.*'exact'"):
        model = LogisticRegression().fit(X, y)
    assert model.separation_ == "unknown"
    assert "may separate classes: not decided" in model.summary()
    with pytest.warns(ConvergenceWarning, match="Quasi-complete"):
        LogisticRegression(separation="exact").fit(X, y)


def test_far_row_that_forbids_separation():
    """Nearly separable: a single row overlaps."""
    X = np.append(LINE, [[3.5]], axis=0) * 10.0
    y = np.append((LINE[:, 0] > 3.0).astype(int), 0)
    y[3] = 1
    model = LogisticRegression(separation="exact").fit(X, y)
    assert model.separation_ == "none"
    stock = StockLogisticRegression(
        C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000
    ).fit(X, y)
    assert_allclose(model.coef_, stock.coef_, rtol=1e-6)


def test_separation_ignored():
    y = (LINE[:, 0] > 3.0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(separation="ignore").fit(LINE, y)
    assert model.separation_ is None


# --------------------------------------------------------------------------- odds, ends
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("parametrization", ["reference", "symmetric"])
@pytest.mark.parametrize("C", [np.inf, 1.0])
def test_warm_start_is_there_at_once(solver, parametrization, C):
    X, y, _ = make_rows(3)
    model = LogisticRegression(
        C=C,
        solver=solver,
        parametrization=parametrization,
        warm_start=True,
        max_iter=MOST[solver],
        tol=1e-7,
    )
    first = model.fit(X, y).coef_
    model.fit(X, y)
    assert model.n_iter_[0] <= 1
    assert_allclose(model.coef_, first, atol=1e-6)
    # Other classes or columns: from the beginning.
    assert model.fit(X[:, :2], y).n_iter_[0] > 1
    assert model.fit(X[:, :2], y % 2).n_iter_[0] > 1


def test_halved_steps():
    """Full Newton steps would run away from this start."""
    X = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [40.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    model = LogisticRegression(warm_start=True).fit(X, y)
    best, coef = model.log_likelihood_, model.coef_.copy()
    model.coef_, model.intercept_ = np.array([[8.0]]), np.array([-30.0])
    model.fit(X, y)
    assert_allclose(model.log_likelihood_, best, rtol=1e-12)
    assert_allclose(model.coef_, coef, rtol=1e-6)
    assert (np.diff(model.loss_path_) < 1e-10).all()


def test_huge_scores_give_finite_answers():
    X, y, _ = make_rows(3)
    model = LogisticRegression().fit(X, y)
    for far in (1e6, -1e6):
        proba = model.predict_proba(far * X[:5])
        assert np.isfinite(proba).all()
        assert_allclose(proba.sum(axis=1), 1.0)
        assert np.isfinite(model.predict_log_proba(far * X[:5])).all()
    binary = LogisticRegression().fit(X, y == 1)
    logs = binary.predict_log_proba(1e6 * X[:5])
    assert np.isfinite(logs).all()
    assert (logs.min(axis=1) < -1e3).all()


def test_no_iterations():
    X, y, _ = make_rows()
    with pytest.warns(ConvergenceWarning, match="after 0 iteration"):
        model = LogisticRegression(max_iter=0).fit(X, y)
    assert_array_equal(model.coef_, 0.0)
    assert_allclose(model.loss_path_, [len(y) * np.log(2)])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("l1_ratio", 1.5),
        ("penalty", "l3"),
        ("dual", 1),
        ("intercept_scaling", -1.0),
        ("random_state", "0"),
        ("verbose", -1),
        ("multi_class", "one"),
        ("C", 0.0),
        ("C", "1"),
        ("fit_intercept", "yes"),
        ("solver", "simplex"),
        ("parametrization", "full"),
        ("separation", True),
        ("class_weight", "even"),
        ("class_weight", {0: -1.0}),
        ("class_weight", {0: 0.0}),
        ("max_iter", -1),
        ("tol", np.nan),
        ("warm_start", 1),
        ("reference_level", "middle"),
        ("handle_unknown", "guess"),
        ("n_jobs", 0),
    ],
)
def test_wrong_parameters(parameter, value):
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match=parameter):
        LogisticRegression(**{parameter: value}).fit(X, y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_too_large_numbers_are_refused(solver):
    X, y, _ = make_rows()
    assert LogisticRegression().fit(X * 1e140, y).separation_ == "none"
    for table in (X * 1e200, sparse.csr_array(X * 1e200)):
        with pytest.raises(ValueError, match="whose square overflows"):
            LogisticRegression(solver=solver).fit(table, y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("factor", [1e-200, 1e-160, 1e140])
def test_columns_of_very_large_or_small_numbers(solver, is_sparse, factor):
    X, y, weight = make_rows()
    units = np.array([1.0, factor, 1.0])
    table = sparse.csr_array(X * units) if is_sparse else X * units
    plain = LogisticRegression(tol=1e-9).fit(X, y, weight)
    model = LogisticRegression(solver=solver, tol=1e-9, max_iter=MOST[solver])
    model.fit(table, y, weight)
    assert_allclose(model.coef_ * units, plain.coef_, rtol=1e-6)
    errors = model.standard_errors_ * units
    assert_allclose(errors, plain.standard_errors_, rtol=1e-6)
    assert_allclose(model.predict_proba(table), plain.predict_proba(X), rtol=1e-6)
    assert model.separation_ == "none"
    # With a penalty the coefficients are about zero, or its share is.
    model.set_params(C=1.0).fit(table, y, weight)
    assert np.isfinite(model.predict_proba(table)).all()


def test_wrong_rows():
    X, y, weight = make_rows()
    model = LogisticRegression()
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, y, weight * (y == 1))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, np.linspace(0.0, 1.0, len(X)))
    with pytest.raises(ValueError, match="negative"):
        model.fit(X, y, -weight)


# ---------------------------------------------------------------------------- influence
def test_influence_is_that_of_r():
    X, y = np.arange(10.0)[:, np.newaxis], [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
    found = LogisticRegression().fit(X, y).influence(X, y)
    # rstandard, hatvalues and cooks.distance of glm(y ~ x, binomial) in R 4.2
    pearson = [-0.3317447, -0.4390359, 2.2278430, -0.7371349, -0.9518621]
    pearson += [0.9518621, -1.6662252, 0.5722336, 0.4390359, 0.3317447]
    deviance = [-0.4594527, -0.5994431, 2.0120990, -0.9485888, -1.1606310]
    leverage = [0.2132590, 0.2263148, 0.2155919, 0.1858221, 0.1590121]
    distance = [0.01491605, 0.02819153, 0.68207100, 0.06200719, 0.08565616]
    assert_allclose(found.standardized_pearson_residuals, pearson, rtol=1e-6)
    assert_allclose(found.standardized_residuals[:5], deviance, rtol=1e-6)
    assert_allclose(found.leverage[:5], leverage, rtol=1e-6)
    assert_allclose(found.cooks_distance[:5], distance, rtol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_influence_of_weighted_rows_is_that_of_copies(fit_intercept):
    X = np.random.default_rng(0).normal(size=(40, 2)) + 5.0
    y = np.where(np.arange(40) % 3, "no", "yes")
    weight = np.arange(40.0) % 4
    model = LogisticRegression(class_weight={"yes": 2}, fit_intercept=fit_intercept)
    found = model.fit(X, y, weight).influence(sparse.csr_array(X), y, weight)
    times = (weight * np.where(y == "yes", 2, 1)).astype(int)
    copies = np.repeat(np.arange(40), times)
    plain = LogisticRegression(fit_intercept=fit_intercept).fit(X[copies], y[copies])
    expected = plain.influence(X[copies], y[copies])
    for name in ("linear_predictor", "deviance_residuals", "leverage"):
        of_row = getattr(found, name)[copies]
        assert_allclose(of_row, getattr(expected, name), rtol=1e-6)
    assert_allclose(times @ found.leverage, 2 + fit_intercept)


def test_influence_needs_the_rows_of_a_fit_without_a_penalty():
    X, y = np.arange(10.0)[:, np.newaxis], [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
    model = LogisticRegression().fit(X, y)
    for rows, labels in ((X[:9], y[:9]), (X, y[::-1]), (X, [*y[:9], 7])):
        with pytest.raises(ValueError, match="needs the rows, labels and weights"):
            model.influence(rows, labels)
    with pytest.raises(AttributeError, match="has influence only without penalty"):
        LogisticRegression(C=1.0).fit(X, y).influence(X, y)
