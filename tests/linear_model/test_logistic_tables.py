"""LogisticRegression: tables that are hard to solve, penalties, callbacks."""

import os
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as StockLogisticRegression

from sklearn_textbook.linear_model import LogisticRegression
from sklearn_textbook.linear_model.logistic import fitting, likelihood, solvers
from tests.linear_model.test_logistic_regression import MOST, SOLVERS, make_rows

# ------------------------------------------------------------- nearly dependent columns
POINTS = {
    # Like those of NIST's Filip, in which powers nearly depend on each other.
    "filip": (-8.8 + 5.7 * np.linspace(0.0, 1.0, 82) ** 1.2, 10),
    "years": (np.repeat(np.arange(1950.0, 2001.0), 2), 4),
    "counts": (np.repeat(np.arange(21.0), 4), 10),
}


def make_powers(name, n_classes):
    """Powers of a column, orthogonal polynomials of it, classes."""
    x, degree = POINTS[name]
    middle = (x.min() + x.max()) / 2.0
    scaled = (x - middle) / (x.max() - middle)
    orthogonal = np.polynomial.legendre.legvander(scaled, degree)[:, 1:]
    y = np.random.default_rng(0).integers(0, n_classes, len(x))
    return x[:, np.newaxis] ** np.arange(1, degree + 1), orthogonal, y


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_powers_are_as_good_as_orthogonal_polynomials(name, n_classes):
    X, orthogonal, y = make_powers(name, n_classes)
    model = LogisticRegression().fit(X, y)
    expected = LogisticRegression().fit(orthogonal, y)
    assert model.converged_
    assert model.rank_ == X.shape[1] + 1
    assert np.isfinite(model.standard_errors_).all()
    assert_allclose(model.log_likelihood_, expected.log_likelihood_, rtol=1e-7)
    proba = model.predict_proba(X)
    assert_allclose(proba, expected.predict_proba(orthogonal), atol=1e-5)
    # A larger model is no less likely.
    less = LogisticRegression().fit(X[:, :-1], y)
    assert model.log_likelihood_ >= less.log_likelihood_ - 1e-9


@pytest.mark.parametrize("solver", ["bfgs", "lbfgs"])
def test_other_solvers_have_the_orthogonal_columns_too(solver):
    X, _, y = make_powers("years", 2)
    newton = LogisticRegression().fit(X, y)
    model = LogisticRegression(solver=solver).fit(X, y)
    assert model.converged_
    assert_allclose(model.log_likelihood_, newton.log_likelihood_, rtol=1e-9)
    assert_allclose(model.standard_errors_, newton.standard_errors_, rtol=1e-4)
    # From where the last fit ended there is nothing to do.
    model.set_params(warm_start=True, tol=1e-6).fit(X, y)
    assert model.n_iter_[0] <= 2


@pytest.mark.parametrize("is_sparse", [False, True])
def test_columns_that_differ_by_little(is_sparse):
    generator = np.random.default_rng(0)
    one, other = generator.normal(size=(2, 200))
    y = (one + other + generator.logistic(size=200) > 0).astype(int)
    plain = LogisticRegression().fit(np.column_stack([one, other]), y)
    close = np.column_stack([one, one + 1e-8 * other])
    model = LogisticRegression().fit(sparse.csr_array(close) if is_sparse else close, y)
    assert model.rank_ == 3
    assert_allclose(model.log_likelihood_, plain.log_likelihood_, rtol=1e-6)
    errors = model.standard_errors_[0, 1] * 1e-8
    assert_allclose(errors, plain.standard_errors_[0, 1], rtol=1e-6)


def test_weak_penalty_of_nearly_dependent_columns():
    """The normal equations would lose what the penalty says."""
    generator = np.random.default_rng(1)
    one, other = generator.normal(size=(2, 100))
    y = (other + generator.logistic(size=100) > 0).astype(int)
    X = np.column_stack([one, one + 1e-7 * other])
    plain = LogisticRegression().fit(np.column_stack([one, other]), y)
    model = LogisticRegression(C=1e20).fit(X, y)
    assert_allclose(model.log_likelihood_, plain.log_likelihood_, rtol=1e-5)


def test_nearly_separated_rows_of_three_classes():
    """Curvatures of rows differ by many powers of ten."""
    X = np.array([-40.0, -30.0, -3.0, -2.0, 2.0, 3.0, 30.0, 40.0, 0.0, 0.5, -1.0, 1.0])
    y = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1, 0, 2, 1])
    model = LogisticRegression(tol=1e-10).fit(X[:, np.newaxis], y)
    assert model.converged_
    shares = model.predict_proba(X[:, np.newaxis])
    # At the maximum the means of the columns are those of the classes.
    assert_allclose(X @ (shares - np.eye(3)[y]), 0.0, atol=1e-6)


# --------------------------------------------------------------------------- penalties
def measure_objective(model, X, y, weight):
    logs = model.predict_log_proba(X)[np.arange(len(y)), y]
    coef, ratio = model.coef_, model.l1_ratio
    penalty = ratio * np.abs(coef).sum() + 0.5 * (1.0 - ratio) * (coef**2).sum()
    return penalty / model.C - weight @ logs


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_lasso_and_elastic_net(solver, n_classes, l1_ratio, is_sparse):
    X, y, weight = make_rows(n_classes, 120, 8)
    penalty = {"C": 0.1, "l1_ratio": l1_ratio}
    stock = StockLogisticRegression(
        **penalty, solver="saga", tol=1e-9, max_iter=100_000
    )
    stock.fit(X, y, weight)
    model = LogisticRegression(solver=solver, parametrization="symmetric", **penalty)
    model.set_params(max_iter=MOST[solver], tol=1e-9)
    model.fit(sparse.csr_array(X) if is_sparse else X, y, weight)
    assert model.converged_
    found = measure_objective(model, X, y, weight)
    assert_allclose(found, measure_objective(stock, X, y, weight), rtol=1e-9)
    assert_allclose(model.coef_, stock.coef_, atol=1e-5)
    assert_array_equal(model.coef_ == 0.0, np.abs(stock.coef_) < 1e-7)
    assert (model.coef_ == 0.0).any()
    assert_allclose(model.loss_path_[-1], found, rtol=1e-9)
    model.set_params(warm_start=True).fit(X, y, weight)
    assert model.n_iter_[0] <= 5


def test_strongest_penalty_leaves_the_shares():
    X, y, _ = make_rows(3)
    model = LogisticRegression(C=1e-6, l1_ratio=1.0).fit(X, y)
    assert_array_equal(model.coef_, 0.0)
    shares = np.bincount(y) / len(y)
    assert_allclose(model.predict_proba(X[:1]), [shares], rtol=1e-8)


def test_penalty_follows_the_units_of_large_columns():
    X, y, _ = make_rows()
    units = np.array([1.0, 2.0**400, 1.0])
    large = LogisticRegression(C=1.0, l1_ratio=0.5).fit(X * units, y)
    free = LogisticRegression(C=1.0, l1_ratio=0.5).fit(X * [1.0, 1e9, 1.0], y)
    assert_allclose(large.coef_ * units, free.coef_ * [1.0, 1e9, 1.0], rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("most", [10, 5000])
def test_lasso_of_many_columns(n_classes, most, monkeypatch):
    X, y, weight = make_rows(n_classes, 100, 1100)
    penalty = {"C": 0.05, "l1_ratio": 0.9}
    # With 10 coefficients at most, L-BFGS takes over.
    monkeypatch.setattr(solvers, "MAX_WORKING", most)
    model = LogisticRegression(**penalty, parametrization="symmetric", tol=1e-7)
    model.fit(X, y, weight)
    assert model.solver_ == "newton"
    assert model.converged_
    other = LogisticRegression(solver="lbfgs", **penalty, max_iter=5000)
    other.set_params(parametrization="symmetric", tol=1e-7).fit(X, y, weight)
    found = measure_objective(model, X, y, weight)
    assert_allclose(found, measure_objective(other, X, y, weight), rtol=1e-7)
    assert (model.coef_ == 0.0).mean() > 0.5
    model.set_params(warm_start=True).fit(X, y, weight)
    assert model.n_iter_[0] <= 3


def test_bfgs_takes_no_absolute_values():
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match="solver='bfgs'.*l1_ratio=0.5"):
        LogisticRegression(C=1.0, l1_ratio=0.5, solver="bfgs").fit(X, y)
    model = LogisticRegression(C=np.inf, l1_ratio=0.5, solver="bfgs")
    model.fit(X, y)  # no penalty at all


# ------------------------------------------------------------------------- wide tables
def test_wide_sparse_table_needs_few_rounds():
    generator = np.random.default_rng(0)
    n_rows, n_columns = 2000, 5000
    places = np.minimum(5.0 * generator.pareto(0.7, (n_rows, 40)), n_columns - 1)
    rows = np.repeat(np.arange(n_rows), 40)
    X = sparse.csr_array(
        (np.ones(n_rows * 40), (rows, places.astype(int).ravel())),
        shape=(n_rows, n_columns),
    )
    scores = X @ generator.normal(size=n_columns)
    y = (0.3 * scores + generator.logistic(size=n_rows) > 0).astype(int)
    model = LogisticRegression(C=0.05).fit(X, y)
    assert model.solver_ == "lbfgs"
    assert model.converged_
    stock = StockLogisticRegression(C=0.05, tol=1e-8, max_iter=5000).fit(X, y)
    assert model.n_iter_[0] < 60
    assert_allclose(model.coef_, stock.coef_, atol=1e-4)


def test_weak_lasso_makes_no_large_matrices(monkeypatch):
    sizes, solve = [], solvers.solve_newton

    def note_size(part, *others):
        sizes.append(part.shape[1])
        return solve(part, *others)

    monkeypatch.setattr(solvers, "solve_newton", note_size)
    generator = np.random.default_rng(0)
    X = sparse.random_array(
        (2000, 4000), density=0.01, random_state=generator, format="csr"
    )
    y = generator.integers(0, 2, 2000)
    model = LogisticRegression(C=3.0, l1_ratio=1.0, tol=1e-4).fit(X, y)
    assert model.converged_
    assert 0 < max(sizes) <= 1001
    assert np.count_nonzero(model.coef_) > 1000


def test_gradient_works_on_scaled_columns():
    X, y, _ = make_rows()
    model = LogisticRegression(solver="gradient", tol=1e-6)
    n_rounds = model.fit(X, y).n_iter_[0]
    model.fit(X * [1e-3, 1.0, 1e6], y)
    assert abs(model.n_iter_[0] - n_rounds) <= 2
    assert model.converged_


@pytest.mark.parametrize("solver", ["newton", "bfgs"])
def test_matrices_larger_than_the_memory_are_refused(solver, monkeypatch):
    X, y, _ = make_rows(3, 80, 400)
    assert len(np.unique(y)) == 3
    monkeypatch.setattr(os, "sysconf", lambda name: 4096)  # 16 MiB
    with pytest.raises(ValueError, match=r"3 vector\(s\) of 401 coefficients and 80"):
        LogisticRegression(C=1.0, solver=solver).fit(X, y)
    monkeypatch.setattr(fitting, "MAX_UNASKED", 2**20)
    model = LogisticRegression(C=1.0).fit(X, y)
    assert model.solver_ == "lbfgs"
    # Without penalty a Hessian would give standard errors: there are none then.
    model = LogisticRegression(tol=1e-2, separation="ignore").fit(X, y)
    assert model.rank_ is None


def test_many_classes_are_read_in_blocks_of_rows(monkeypatch):
    X, _, _ = make_rows(2, 2500, 4)
    y = np.arange(len(X)) * 7 % 400
    model = LogisticRegression(C=0.1, tol=1e-6, parametrization="reference").fit(X, y)
    monkeypatch.setattr(likelihood, "BLOCK_NUMBERS", 2**10)
    other = LogisticRegression(C=0.1, tol=1e-6, parametrization="reference").fit(X, y)
    assert model.solver_ == "lbfgs"
    assert model.coef_.shape == (399, 4)
    assert_allclose(other.coef_, model.coef_, atol=1e-5)


# ----------------------------------------------------------------- classes without rows
@pytest.mark.parametrize(
    "make",
    [
        lambda labels: pd.Series(pd.Categorical(labels, categories=["a", "b", "c"])),
        lambda labels: pd.Categorical(labels, categories=["a", "b", "c"], ordered=True),
        lambda labels: pl.Series(labels, dtype=pl.Enum(["a", "b", "c"])),
    ],
)
def test_declared_class_without_rows_is_named(make):
    X, codes, weight = make_rows(3)
    labels = np.array(["a", "c", "b"])[codes]
    with pytest.warns(UserWarning, match="declares classes without rows: 'b'"):
        model = LogisticRegression().fit(X[codes < 2], make(labels[codes < 2]))
    assert model.classes_.tolist() == ["a", "c"]
    weight[codes == 2] = 0.0
    with pytest.warns(UserWarning, match="'b'"):
        LogisticRegression().fit(X, make(labels), weight)
    LogisticRegression().fit(X, make(labels))


# --------------------------------------------------------------------------- callbacks
class Recorder:
    """A callback that keeps the estimators of the iterations, and may stop."""

    def __init__(self, last=None):
        self.estimators, self.last = [], last

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if fitted_estimator is not None:
            self.estimators.append((context.task_name, fitted_estimator))
        return self.last is not None and len(self.estimators) >= self.last


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "parameters",
    [{}, {"C": 1.0, "parametrization": "symmetric"}, {"C": 1.0, "l1_ratio": 0.5}],
)
def test_callbacks_follow_the_iterations(solver, parameters):
    if solver == "bfgs" and "l1_ratio" in parameters:
        pytest.skip("bfgs takes no absolute values")
    X, y, weight = make_rows(3)
    recorder = Recorder()
    model = LogisticRegression(solver=solver, tol=1e-3, **parameters)
    model.set_callbacks(recorder).fit(X, y, weight)
    assert len(recorder.estimators) == model.n_iter_[0]
    for number, (name, estimator) in enumerate(recorder.estimators, 1):
        assert name == f"{solver}-iter"
        other = LogisticRegression(
            solver=solver, max_iter=number, tol=0.0, separation="ignore", **parameters
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            proba = other.fit(X, y, weight).predict_proba(X)
        assert_allclose(estimator.predict_proba(X), proba, rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_callback_stops_the_fit(solver):
    X, y, _ = make_rows(3)
    model = LogisticRegression(solver=solver).set_callbacks(Recorder(last=2))
    model.fit(X, y)
    assert_array_equal(model.n_iter_, [2])
    assert not model.converged_


def test_callbacks_of_working_sets_and_of_orthogonal_columns():
    X, y, weight = make_rows(2, 100, 1100)
    recorder = Recorder()
    model = LogisticRegression(C=0.05, l1_ratio=1.0).set_callbacks(recorder)
    model.fit(X, y, weight)
    _, last = recorder.estimators[-1]
    assert_allclose(last.predict_proba(X), model.predict_proba(X), atol=1e-6)
    X, _, y = make_powers("years", 2)
    recorder = Recorder()
    model = LogisticRegression().set_callbacks(recorder).fit(X, y)
    _, last = recorder.estimators[-1]
    assert_allclose(last.predict_proba(X), model.predict_proba(X), atol=1e-6)


# ------------------------------------------------------------------ weak L1 penalties
@pytest.mark.parametrize("C", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.7, 1.0])
def test_weak_penalties_of_correlated_columns_converge(C, n_classes, l1_ratio):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 8))
    twins = X @ random.normal(size=(8, 8)) + 1e-3 * random.normal(size=(300, 8))
    y = np.digitize(X[:, 0] + random.normal(size=300), [-0.5, 0.5][: n_classes - 1])
    X = np.hstack([X, twins])
    model = LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X, y)
    assert model.converged_
    assert model.n_iter_[0] < 50
    # Derivatives of the loss are those of the penalty, or less at 0.
    proba = model.predict_proba(X)
    wanted = np.eye(n_classes)[y]
    gradient = (X.T @ (proba - wanted)).T[-len(model.coef_) :]
    penalty = (1.0 - l1_ratio) / C * model.coef_ + l1_ratio / C * np.sign(model.coef_)
    gap = np.where(
        model.coef_ == 0.0,
        np.maximum(np.abs(gradient) - l1_ratio / C, 0.0),
        np.abs(gradient + penalty),
    )
    assert gap.max() < 1e-6


def test_advice_names_another_solver():
    X, y, _ = make_rows()
    for solver, advice in (("newton", "or tol"), ("lbfgs", "or use solver='newton'")):
        with pytest.warns(ConvergenceWarning, match=rf"\(max_iter\), {advice}\."):
            LogisticRegression(solver=solver, max_iter=1).fit(X, y)
