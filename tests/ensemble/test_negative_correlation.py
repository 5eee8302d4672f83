"""Negative correlation learning: the loss of the papers, its training, and its use."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_textbook.ensemble import NegativeCorrelationRegressor
from sklearn_textbook.ensemble.negative_correlation import joint_members, regressor
from sklearn_textbook.ensemble.negative_correlation.joint_members import (
    MEMBERS,
    LinearMembers,
    NetworkMembers,
)
from sklearn_textbook.ensemble.negative_correlation.joint_training import (
    JointTraining,
    TrainingRows,
    TrainingRules,
    compute_joint_loss,
    compute_output_loss,
)

DIABETES = load_diabetes(return_X_y=True)


def make_rows(n_rows=30, n_columns=4, seed=0):
    rng = np.random.default_rng(seed)
    share = rng.random(n_rows)
    matrix = rng.normal(size=(n_rows, n_columns))
    target = np.sin(matrix[:, 0]) + 0.1 * rng.normal(size=n_rows)
    return TrainingRows(matrix, target, share / share.sum())


def draw_members(name, n_members=3, n_columns=4, seed=0):
    rng = np.random.default_rng(seed)
    sees = rng.random((n_members, n_columns)) < 0.7
    members = MEMBERS[name].draw(range(n_members), sees, 5)
    vector = rng.normal(size=members.to_vector().size) * members.mark_free(sees)
    return members.read_vector(vector), sees


# ------------------------------------------------------------------------- the loss
@pytest.mark.parametrize("penalty", [0.0, 0.3, 1.0])
def test_loss_and_derivatives_are_those_of_liu_and_yao(penalty):
    rng = np.random.default_rng(0)
    outputs, target, share = rng.normal(size=(7, 4)), rng.normal(size=7), rng.random(7)
    loss, slopes = compute_output_loss(outputs, target, share, penalty)
    expected, joint = np.empty_like(outputs), 0.0
    for row, (F, y) in enumerate(zip(outputs, target, strict=True)):
        mean = F.mean()
        for i in range(4):
            # The derivative of the penalty is the sum of the others' deviations.
            others = sum(F[j] - mean for j in range(4) if j != i)
            expected[row, i] = share[row] * (F[i] - y + penalty * others)
        ambiguity = ((F - mean) ** 2).mean()
        joint += share[row] * 4 / 2 * ((mean - y) ** 2 + (1 - penalty) * ambiguity)
    assert_allclose(slopes, expected)
    assert_allclose(loss, joint)


def test_derivatives_are_those_of_brown_wyatt_and_tino():
    rng = np.random.default_rng(1)
    outputs, y, n_members = rng.normal(size=(1, 5)), 0.3, 5
    gamma = 0.4
    penalty = 2 * gamma * (1 - 1 / n_members)
    _, slopes = compute_output_loss(outputs, np.array([y]), np.ones(1), penalty)
    step = 1e-6
    for i in range(n_members):
        errors = []
        for sign in (-1, 1):
            F = outputs[0].copy()
            F[i] += sign * step
            errors.append(0.5 * (F[i] - y) ** 2 - gamma * (F[i] - F.mean()) ** 2)
        assert_allclose((errors[1] - errors[0]) / (2 * step), slopes[0, i], atol=1e-8)


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("penalty", [0.0, 0.5, 1.0])
def test_gradient_is_that_of_finite_differences(name, penalty):
    rows, (members, sees) = make_rows(), draw_members(name)
    rules = TrainingRules(penalty, alpha=0.1, max_iter=1, tol=0.1)
    training = JointTraining(members, members.mark_free(sees), rows, None, rules)
    free = np.flatnonzero(training.free)

    def place(some):
        vector = members.to_vector().copy()
        vector[free] = some
        return vector

    start = members.to_vector()[free]
    error = check_grad(
        lambda some: training.compute(place(some))[0],
        lambda some: training.compute(place(some))[1][free],
        start,
    )
    assert error < 1e-5
    assert not training.compute(members.to_vector())[1][training.free == 0].any()


@pytest.mark.parametrize("name", MEMBERS)
def test_with_penalty_one_the_error_of_the_ensemble_alone_counts(name):
    rows, (members, _) = make_rows(), draw_members(name)
    loss, gradient = compute_joint_loss(members, rows, 1.0)

    def compute_error(vector):
        outputs = members.read_vector(vector).predict(rows.matrix)
        return 0.5 * rows.fraction @ (outputs.mean(axis=1) - rows.target) ** 2

    vector = members.to_vector()
    assert_allclose(loss, 3 * compute_error(vector))
    step = 1e-6
    for place in range(len(vector)):
        ends = np.repeat(vector[np.newaxis], 2, axis=0)
        ends[:, place] += (-step, step)
        slope = (compute_error(ends[1]) - compute_error(ends[0])) / (2 * step)
        assert_allclose(3 * slope, gradient[place], atol=1e-7)


@pytest.mark.parametrize("name", MEMBERS)
def test_blocks_of_rows_add_up(name, monkeypatch):
    rows, (members, _) = make_rows(), draw_members(name)
    loss, gradient = compute_joint_loss(members, rows, 0.5)
    monkeypatch.setattr(joint_members, "BLOCK_NUMBERS", 60)
    in_blocks = compute_joint_loss(members, rows, 0.5)
    assert_allclose(in_blocks[0], loss)
    assert_allclose(in_blocks[1], gradient, atol=1e-14)
    assert members.count_block_rows() < 30
    outputs = members.predict(rows.matrix)
    assert_allclose(members.predict_blocks(rows.matrix), outputs, rtol=1e-12)


# --------------------------------------------------------------------- the training
def test_without_penalty_members_are_trained_by_themselves():
    X, y = DIABETES
    together = NegativeCorrelationRegressor(
        3, correlation_penalty=0, hidden_units=3, random_state=0
    ).fit(X, y)
    values = together.predict_members(X)
    alone = NegativeCorrelationRegressor(
        1, correlation_penalty=0.7, hidden_units=3, random_state=0
    )
    assert_allclose(alone.fit(X, y).predict(X), values[:, 0])
    assert not np.allclose(values[:, 0], values[:, 1])
    # A joint minimisation of the same loss finds members as good.
    rules = TrainingRules(0.0, 0.01, 1000, 1e-3)
    share = np.full(len(y), 1 / len(y))
    units = together._units
    target = (y - units.target_mean) / units.target_scale
    rows = TrainingRows(units.standardise(X), target, share)
    free = np.ones(together._members.to_vector().size)
    training = JointTraining(together._members, free, rows, None, rules)
    assert_allclose(training.run().losses[0], together.loss_curve_[-1])
    assert abs(training.run().losses[-1] - together.loss_curve_[-1]) < 0.01


def test_linear_members_without_penalty_are_ridge_regressions():
    X, y = DIABETES
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    alpha = 0.2
    model = NegativeCorrelationRegressor(
        4,
        member="linear",
        correlation_penalty=0,
        alpha=alpha,
        tol=1e-10,
        random_state=0,
    ).fit(X, y, weight)
    Z = model._units.standardise(X)
    for member, values in zip(
        model.estimators_, model.predict_members(X).T, strict=True
    ):
        columns = np.flatnonzero(member.parameters.weights[0])
        assert len(columns) == 5
        ridge = Ridge(alpha * weight.sum()).fit(Z[:, columns], y, weight)
        assert_allclose(values, ridge.predict(Z[:, columns]), rtol=1e-6)
        assert_allclose(member.predict(X), values)


def test_linear_members_with_penalty_one_are_one_least_squares_fit():
    X, y = DIABETES
    model = NegativeCorrelationRegressor(
        12,
        member="linear",
        correlation_penalty=1,
        alpha=0,
        tol=1e-12,
        random_state=0,
    ).fit(X, y)
    assert_allclose(
        model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-5
    )


def test_error_and_ambiguity_rise_with_the_penalty():
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    models = [
        NegativeCorrelationRegressor(
            8, correlation_penalty=penalty, alpha=1e-3, hidden_units=4, random_state=0
        ).fit(X, y)
        for penalty in (0.0, 0.5, 0.9, 1.0)
    ]
    for model in models:
        difference = model.member_error_ - model.ambiguity_
        assert_allclose(difference, model.ensemble_error_, rtol=1e-9)
        outputs = model.predict_members(X)
        assert_allclose(model.ensemble_error_, ((outputs.mean(axis=1) - y) ** 2).mean())
        assert_allclose(model.ambiguity_, outputs.var(axis=1).mean())
    ambiguities = [model.ambiguity_ for model in models]
    assert ambiguities == sorted(ambiguities)
    assert models[-1].member_error_ > 2 * models[0].member_error_
    assert models[2].ensemble_error_ < models[0].ensemble_error_


def test_weak_members_are_better_together():
    X, y = make_friedman1(1000, noise=0.5, random_state=0)
    scores = [
        NegativeCorrelationRegressor(
            10, correlation_penalty=penalty, hidden_units=1, random_state=0
        )
        .fit(X[:500], y[:500])
        .score(X[500:], y[500:])
        for penalty in (0.0, 1.0)
    ]
    assert scores[1] > scores[0] + 0.1


@pytest.mark.filterwarnings("ignore:Training did not converge")
@pytest.mark.parametrize("member", MEMBERS)
def test_weights_are_copies_of_rows(member):
    X, y = DIABETES
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    model = NegativeCorrelationRegressor(
        3, member=member, hidden_units=2, max_iter=20, tol=0, random_state=0
    )
    weighted = model.fit(X, y, weight).predict(X)
    copied = model.fit(np.repeat(X, weight, 0), np.repeat(y, weight)).predict(X)
    assert_allclose(weighted, copied, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:Training did not converge")
@pytest.mark.parametrize("member", MEMBERS)
def test_units_of_columns_and_target_do_not_matter(member):
    X, y = DIABETES
    scales, shifts = 10.0 ** np.arange(-3, 7), np.arange(10) * 5.0
    model = NegativeCorrelationRegressor(3, member=member, max_iter=15, random_state=0)
    values = model.fit(X, y).predict(X)
    other = model.fit(X * scales + shifts, 1e4 * y - 3).predict(X * scales + shifts)
    assert_allclose((other + 3) / 1e4, values, rtol=1e-3)


def test_constant_columns_and_targets():
    X = np.column_stack([np.full(20, 0.1), np.arange(20.0)])
    model = NegativeCorrelationRegressor(2, random_state=0).fit(X, np.full(20, 7.3))
    assert_allclose(model.predict(X), 7.3)
    assert np.isfinite(model.fit(X, X[:, 1]).predict([[5.0, 3.0]])).all()


def test_loss_curve_and_end_of_training():
    X, y = DIABETES
    model = NegativeCorrelationRegressor(3, random_state=0).fit(X, y)
    assert len(model.loss_curve_) == model.n_iter_ + 1
    assert (np.diff(model.loss_curve_) <= 0).all()
    assert model.validation_curve_ is None
    longer = NegativeCorrelationRegressor(3, tol=1e-4, random_state=0).fit(X, y)
    assert longer.n_iter_ > model.n_iter_
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=5"):
        short = NegativeCorrelationRegressor(3, max_iter=5, random_state=0).fit(X, y)
    assert short.n_iter_ == 5
    assert_allclose(short.loss_curve_, model.loss_curve_[:6])


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_early_stopping_keeps_the_best_members(penalty):
    X, y = DIABETES
    model = NegativeCorrelationRegressor(
        4,
        correlation_penalty=penalty,
        alpha=0,
        early_stopping=True,
        validation_fraction=0.3,
        n_iter_no_change=4,
        random_state=0,
    ).fit(X, y)
    curve = model.validation_curve_
    assert len(curve) == len(model.loss_curve_)
    full = NegativeCorrelationRegressor(
        4, correlation_penalty=penalty, alpha=0, max_iter=300, random_state=0
    )
    with pytest.warns(ConvergenceWarning):
        full.fit(X, y)
    assert model.n_iter_ < full.n_iter_
    if penalty:
        assert len(curve) == curve.argmin() + 1 + 4
        seeds = NegativeCorrelationRegressor(4, random_state=0)
        assert seeds.fit(X, y).n_iter_ > 0
        # The error of the members that were kept is the smallest one.
        n_held = round(0.3 * len(y))
        errors = (model.predict(X) - y) ** 2
        held_error = curve.min() * model._units.target_scale**2
        total = errors.sum() - n_held * held_error
        assert_allclose(total / (len(y) - n_held), model.ensemble_error_)


def test_any_number_of_jobs_gives_the_same(monkeypatch):
    X, y = DIABETES
    monkeypatch.setattr(joint_members, "BLOCK_NUMBERS", 3_000)
    # So few rows would be given one thread.
    monkeypatch.setattr(regressor, "count_threads", lambda n_jobs, *_: n_jobs)
    one, two = (
        NegativeCorrelationRegressor(3, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert_array_equal(one.predict(X), two.predict(X))


def test_random_state_and_columns_of_members():
    X, y = DIABETES
    first, again, other = (
        NegativeCorrelationRegressor(
            5, max_features=3, hidden_units=2, random_state=seed
        ).fit(X, y)
        for seed in (0, 0, 1)
    )
    assert_array_equal(first.predict(X), again.predict(X))
    assert not np.allclose(first.predict(X), other.predict(X))
    for member in first.estimators_:
        assert member.parameters.hidden.any(axis=2).sum() == 3
    assert isinstance(first._members, NetworkMembers)
    linear = NegativeCorrelationRegressor(5, member="linear", random_state=0).fit(X, y)
    assert isinstance(linear._members, LinearMembers)
    assert ((linear._members.weights != 0).sum(axis=1) == 5).all()


# ------------------------------------------------------------------------- in use
def test_tables_with_levels():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=80), "kind": rng.choice(list("abc"), 80)}
    )
    y = frame["x"] + 3.0 * (frame["kind"] == "b")
    model = NegativeCorrelationRegressor(3, random_state=0).fit(frame, y)
    assert model.coef_names_.tolist() == ["x", "kind=b", "kind=c"]
    assert model.score(frame, y) > 0.95
    with pytest.warns(UserWarning, match="Levels not seen.*'kind' in 80 rows"):
        unseen = model.predict(frame.assign(kind="d"))
    assert unseen.mean() == pytest.approx(y.mean(), abs=1.0)
    model.set_params(handle_unknown="error")
    with pytest.raises(ValueError, match="kind"):
        model.predict(frame.assign(kind="d"))
    with pytest.raises(ValueError, match="NaN.*'x'"):
        model.predict(frame.assign(x=np.nan))


def test_members_and_mean():
    X, y = DIABETES
    model = NegativeCorrelationRegressor(4, random_state=0).fit(X, y)
    values = np.column_stack([member.predict(X) for member in model.estimators_])
    assert_allclose(model.predict_members(X), values)
    assert_allclose(model.predict(X), values.mean(axis=1))
    lines = model.summary().splitlines()
    assert lines[0] == f"4 networks, lambda 0.5, {model.n_iter_} iterations"
    assert float(lines[3].split()[-1]) == pytest.approx(model.ensemble_error_, rel=1e-4)


def test_in_a_grid_search_and_pickled():
    X, y = DIABETES
    search = GridSearchCV(
        NegativeCorrelationRegressor(3, member="linear", random_state=0),
        {"correlation_penalty": [0.0, 1.0]},
        cv=3,
    ).fit(X, y)
    loaded = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(loaded.predict(X), search.predict(X))


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_callbacks_stop_the_training(penalty):
    class Stop:
        n_iterations = 0
        n_members = ()

        def setup(self, estimator, context):
            """Nothing to prepare."""

        def on_fit_task_begin(self, estimator, context, **told):
            """Nothing to do."""

        def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
            if context.task_name != "lbfgs-iter" or fitted_estimator is None:
                return False
            assert np.isfinite(fitted_estimator.predict(X)).all()
            self.n_members += (len(fitted_estimator.estimators_),)
            self.n_iterations += 1
            return self.n_iterations >= 3

        def teardown(self, estimator, context):
            """Nothing to clean up."""

    X, y = DIABETES
    callback = Stop()
    model = NegativeCorrelationRegressor(
        2, correlation_penalty=penalty, random_state=0
    ).set_callbacks(callback)
    model.fit(X, y)
    assert model.n_iter_ == 3
    assert set(callback.n_members) == {2}
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter must be an int"),
        ({"correlation_penalty": 1.1}, r"float in the range \[0.0, 1.0\]; got 1.1"),
        ({"correlation_penalty": -0.1}, "'correlation_penalty' parameter"),
        ({"member": "tree"}, "'member' parameter must be one of 'network', 'linear'"),
        ({"hidden_units": 0}, "'hidden_units' parameter"),
        ({"max_features": "all"}, "'max_features' parameter"),
        (
            {"max_features": 11},
            "max_features must be at most 10, the number of columns, got 11",
        ),
        ({"alpha": -1}, "'alpha' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"tol": -1}, "'tol' parameter"),
        ({"early_stopping": 1}, "'early_stopping' parameter must be True or False"),
        ({"validation_fraction": 1.0}, r"in the range \(0.0, 1.0\); got 1.0"),
        ({"n_iter_no_change": 0}, "'n_iter_no_change' parameter"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"random_state": "a"}, "'random_state' parameter"),
        ({"handle_unknown": "no"}, "'handle_unknown' parameter"),
    ],
)
def test_wrong_parameters_are_named(params, text):
    with pytest.raises(ValueError, match=text):
        NegativeCorrelationRegressor(**params).fit(*DIABETES)


def test_wrong_tables_are_refused():
    X, y = DIABETES
    model = NegativeCorrelationRegressor(2, max_iter=20, random_state=0)
    incomplete = X.copy()
    incomplete[2, 1] = np.nan
    with pytest.raises(ValueError, match="NaN, first in row 2, column 'x1'"):
        model.fit(incomplete, y)
    with pytest.raises(ValueError, match="1d array"):
        model.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="y must be numbers"):
        model.fit(X, np.where(y > 100, "a", "b"))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        model.fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="holds out all n_samples=1 rows"):
        model.set_params(early_stopping=True).fit(X[:1], y[:1])
    with pytest.raises(NotFittedError):
        NegativeCorrelationRegressor().predict(X)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = NegativeCorrelationRegressor().estimators_
