"""Boosting trees, and additive models fitted stage by stage."""

import pickle
import signal
import time

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import BoostingTreeRegressor, fit_additive_model
from sklearn_textbook.ensemble.boosting.losses import (
    AbsoluteError,
    ExponentialLoss,
    LogLoss,
    MultinomialLoss,
    PoissonLoss,
    SquaredError,
)
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.loops import loop_over
from tests.processes import Program
from tests.reference.boosting_tree import boost


def make_rows(n_rows=60, seed=0, n_values=None):
    """Numbers, with few different ones if wanted."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, 3))
    if n_values:
        X = draw.integers(0, n_values, X.shape).astype(float)
    return X, 2 * X[:, 0] - np.sin(3 * X[:, 1]) + draw.normal(size=n_rows)


def list_nodes(tree, number=0):
    """A fitted tree in the form of the reference implementation."""
    if tree.children_left[number] < 0:
        return float(tree.value[number, 0, 0])
    return (
        int(tree.feature[number]),
        float(tree.threshold[number]),
        list_nodes(tree, tree.children_left[number]),
        list_nodes(tree, tree.children_right[number]),
    )


def assert_same_tree(found, expected):
    if not isinstance(expected, tuple):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        return
    assert found[:2] == expected[:2]
    assert_same_tree(found[2], expected[2])
    assert_same_tree(found[3], expected[3])


# ------------------------------------------------------------------- what is learned
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("depth", "learning_rate"), [(1, 1.0), (1, 0.3), (3, 0.5)])
@loop_over("seed", range(4))
def test_reference(seed, depth, learning_rate, is_weighted):
    X, y = make_rows(25, seed)
    weight = None
    if is_weighted:
        weight = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    given = None if weight is None else weight.tolist()
    trees, losses, tables = boost(
        X.tolist(),
        y.tolist(),
        8,
        weight=given,
        depth=depth,
        learning_rate=learning_rate,
    )
    model = BoostingTreeRegressor(8, max_depth=depth, learning_rate=learning_rate)
    model.fit(X, y, weight)
    for member, expected in zip(model, trees, strict=True):
        assert_same_tree(list_nodes(member.tree_), expected)
    np.testing.assert_allclose(model.train_losses_, losses, rtol=1e-9)
    np.testing.assert_allclose(model.compute_residual_table(X, y), tables, atol=1e-9)


@pytest.mark.parametrize("learning_rate", [1.0, 0.2])
@pytest.mark.parametrize("max_depth", [1, 3])
def test_scikit_learn(max_depth, learning_rate):
    """Values of float32, so that scikit-learn's thresholds are as exact as ours."""
    X, y = make_rows(300)
    X = X.astype(np.float32).astype(np.float64)
    shape = {"max_depth": max_depth, "learning_rate": learning_rate}
    theirs = GradientBoostingRegressor(n_estimators=40, init="zero", **shape).fit(X, y)
    ours = BoostingTreeRegressor(40, **shape).fit(X, y)
    for one, other in zip(
        ours.staged_predict(X), theirs.staged_predict(X), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-9)
    np.testing.assert_allclose(ours.train_losses_ / len(y), theirs.train_score_)
    if max_depth == 1:  # small nodes have ties between columns
        np.testing.assert_allclose(
            ours.feature_importances_, theirs.feature_importances_, atol=1e-9
        )


def test_weights_are_copies():
    X, y = make_rows(n_values=9)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = BoostingTreeRegressor(12).fit(X, y, counts)
    copied = BoostingTreeRegressor(12).fit(X.repeat(counts, 0), y.repeat(counts))
    np.testing.assert_allclose(weighted.predict(X), copied.predict(X), atol=1e-10)
    np.testing.assert_allclose(weighted.train_losses_, copied.train_losses_)
    tenfold = BoostingTreeRegressor(12).fit(X, y, 10.0 * counts)
    np.testing.assert_allclose(weighted.predict(X), tenfold.predict(X), atol=1e-10)


def test_stages_and_leaves():
    X, y = make_rows()
    model = BoostingTreeRegressor(15, max_depth=2, learning_rate=0.7).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model) == 15
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    squares = [np.sum((y - stage) ** 2) for stage in stages]
    np.testing.assert_allclose(model.train_losses_, squares)
    assert (np.diff(model.train_losses_) <= 0).all()
    leaves = model.apply(X)
    assert leaves.shape == (len(y), 15)
    total = sum(
        0.7 * member.tree_.value[leaves[:, number], 0, 0]
        for number, member in enumerate(model)
    )
    np.testing.assert_allclose(total, model.predict(X))


def test_sizes_of_the_trees():
    X, y = make_rows()
    assert {tree.get_n_leaves() for tree in BoostingTreeRegressor(4).fit(X, y)} == {2}
    model = BoostingTreeRegressor(4, max_depth=None, max_leaf_nodes=5).fit(X, y)
    assert {tree.get_n_leaves() for tree in model} == {5}
    model = BoostingTreeRegressor(4, min_samples_leaf=20).fit(X, y)
    assert min(np.bincount(row)[1:].min() for row in model.apply(X).T) >= 20


def test_bins():
    """As many bins as values are no bins; few of them bound the thresholds."""
    X, y = make_rows(200)
    exact = BoostingTreeRegressor(30).fit(X, y)
    same = clone(exact).set_params(max_bins=200).fit(X, y)
    np.testing.assert_array_equal(exact.predict(X), same.predict(X))
    coarse = clone(exact).set_params(max_bins=4).fit(X, y)
    tests = {(t.tree_.feature[0], t.tree_.threshold[0]) for t in coarse}
    assert len(tests) <= 3 * 3
    assert coarse.train_losses_[-1] > exact.train_losses_[-1]


def test_constant_target_and_columns():
    X, y = make_rows()
    model = BoostingTreeRegressor(3).fit(X, np.full(len(y), 2.5))
    np.testing.assert_array_equal(model.predict(X), 2.5)
    np.testing.assert_array_equal(model.train_losses_, 0.0)
    np.testing.assert_array_equal(model.feature_importances_, 0.0)
    model = BoostingTreeRegressor(3).fit(np.ones_like(X), y)
    np.testing.assert_allclose(model.predict(X), y.mean())


# ---------------------------------------------------------------------------- in use
@pytest.mark.parametrize("missing", ["learned", "branch", "surrogate"])
def test_tables_of_all_sorts(missing):
    """Text, categories and missing values; the kind of frame does not matter."""
    frame, _ = make_mixed_table(
        150, missing_fraction=0.1, as_frame=True, random_state=0
    )
    # In polars these have no order.
    frame = frame.drop(columns=["ordinal_0", "ordinal_1"])
    frame = frame.astype({"nominal_0": object})
    y = np.random.default_rng(0).normal(size=150)
    model = BoostingTreeRegressor(10, max_depth=2, missing=missing).fit(frame, y)
    assert model.train_losses_[-1] < 0.8 * np.sum(y**2)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.feature_importances_[5:].sum() > 0.0
    other = pl.from_pandas(frame)
    np.testing.assert_allclose(
        clone(model).fit(other, y).predict(other), model.predict(frame)
    )


def test_missing_values_as_an_error():
    X, y = make_rows()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="missing"):
        BoostingTreeRegressor(2, missing="error").fit(X, y)


def test_sparse_table():
    X, y = make_rows(n_values=4)
    dense = BoostingTreeRegressor(10).fit(X, y)
    thin = BoostingTreeRegressor(10).fit(sparse.csc_array(X), y)
    np.testing.assert_array_equal(thin.predict(sparse.csr_array(X)), dense.predict(X))
    np.testing.assert_array_equal(thin.train_losses_, dense.train_losses_)


def test_threads():
    X, y = make_rows(30_000)
    one, two = (
        BoostingTreeRegressor(5, max_depth=3, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_array_equal(one.train_losses_, two.train_losses_)


def test_warm_start():
    X, y = make_rows()
    whole = BoostingTreeRegressor(9).fit(X, y)
    parts = BoostingTreeRegressor(4, warm_start=True).fit(X, y)
    first = list(parts.estimators_)
    parts.set_params(n_estimators=9).fit(X, y)
    assert parts.estimators_[:4] == first
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    np.testing.assert_array_equal(parts.train_losses_, whole.train_losses_)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        parts.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2"):
        parts.set_params(n_estimators=2).fit(X, y)
    parts.set_params(n_estimators=12)
    with pytest.raises(ValueError, match="same columns"):
        parts.fit(X[:, :2], y)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


def test_pickle():
    X, y = make_rows()
    model = BoostingTreeRegressor(5).fit(X, y)
    stored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(stored.predict(X), model.predict(X))
    np.testing.assert_array_equal(stored.train_losses_, model.train_losses_)


def test_verbose(capsys):
    X, y = make_rows()
    model = BoostingTreeRegressor(2, verbose=1).fit(X, y)
    expected = [
        f"round {number}: squared error {loss:.6g}"
        for number, loss in enumerate(model.train_losses_, 1)
    ]
    assert capsys.readouterr().out.splitlines() == expected


class Recorder:
    """Sees the ensemble after each tree, and stops after some."""

    def __init__(self, stop_after):
        self.stop_after = stop_after
        self.losses = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        if context.task_name != "tree":
            return False
        residuals = y - fitted_estimator.predict(X)
        self.losses.append((fitted_estimator.train_losses_[-1], residuals @ residuals))
        return len(self.losses) >= self.stop_after


def test_callbacks():
    """The ensemble of each round is told, and can be the last."""
    X, y = make_rows()
    recorder = Recorder(stop_after=3)
    stopped = BoostingTreeRegressor(50).set_callbacks(recorder).fit(X, y)
    smaller = BoostingTreeRegressor(3).fit(X, y)
    assert len(stopped) == 3
    np.testing.assert_array_equal(stopped.predict(X), smaller.predict(X))
    np.testing.assert_array_equal(stopped.train_losses_, smaller.train_losses_)
    told, seen = zip(*recorder.losses, strict=True)
    np.testing.assert_allclose(told, seen)
    np.testing.assert_array_equal(told, smaller.train_losses_)


INTERRUPTED_FIT = """
import sys
import numpy as np
from sklearn_textbook import ensemble
X = np.random.default_rng(0).normal(size=(50_000, 10))
model = getattr(ensemble, sys.argv[1])(n_estimators=100_000, n_jobs=2)
print("ready", flush=True)
try:
    model.fit(X, X[:, 0] + X[:, 1])
except KeyboardInterrupt:
    print("interrupted", hasattr(model, "estimators_"), flush=True)
    print(len(model.set_params(n_estimators=3).fit(X[:50], X[:50, 0])), flush=True)
"""


@pytest.mark.parametrize("name", ["BoostingTreeRegressor", "GradientBoostingRegressor"])
def test_interruption(name):
    """Control-C ends a fit, and leaves an ensemble that can be fitted again."""
    process = Program(INTERRUPTED_FIT, name)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (output, errors) == ("interrupted False\n3\n", "")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter"),
        ({"learning_rate": -0.1}, "'learning_rate' parameter"),
        ({"max_depth": 0}, "'max_depth' parameter"),
        ({"max_leaf_nodes": 1}, "'max_leaf_nodes' parameter"),
        ({"missing": "mean"}, "'missing' parameter"),
        ({"max_bins": 1}, "max_bins"),
        ({"warm_start": 1}, "'warm_start' parameter"),
        ({"verbose": -1}, "'verbose' parameter"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"learning_rate": 1e60}, "not finite after round 3.*learning_rate=1e"),
    ],
)
def test_errors(parameters, message):
    X, y = make_rows()
    with pytest.raises(ValueError, match=message):
        BoostingTreeRegressor(**parameters).fit(X, y)


def test_errors_of_the_target():
    X, y = make_rows()
    model = BoostingTreeRegressor(3)
    with pytest.raises(ValueError, match="1d array"):
        model.fit(X, np.stack([y, y], axis=1))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model.fit(X, y[:, np.newaxis])
    with pytest.raises(ValueError, match="one value per row of X, 60 in all, got 59"):
        model.compute_residual_table(X, y[1:])
    with pytest.raises(ValueError, match="must not be negative"):
        model.fit(X, y, -np.ones(len(y)))


# ------------------------------------------------------------------- additive models
def make_classes(n_rows=120):
    X, y = make_rows(n_rows)
    return X, np.where(y > 0.3, "yes", "no")


@pytest.mark.parametrize("is_weighted", [False, True])
def test_squared_loss_fits_residuals(is_weighted):
    """The boosting tree is the additive model of regression trees."""
    X, y = make_rows()
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y)) if is_weighted else None
    boosted = BoostingTreeRegressor(10, max_depth=2).fit(X, y, weight)
    model = fit_additive_model(
        CARTRegressor(max_depth=2), X, y, n_estimators=10, sample_weight=weight
    )
    np.testing.assert_allclose(model.coefficients, 1.0, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), boosted.predict(X), atol=1e-10)
    total = len(y) if weight is None else weight.sum()
    np.testing.assert_allclose(2 * total * model.losses, boosted.train_losses_)


def test_members_that_are_no_trees():
    """Nearest neighbours fitted to residuals, one step done by hand."""
    X, y = make_rows()
    model = fit_additive_model(KNeighborsRegressor(), X, y, n_estimators=2)
    first = KNeighborsRegressor().fit(X, y).predict(X)
    slope = (first @ y) / (first @ first)
    assert model.coefficients[0] == pytest.approx(slope)
    residuals = y - slope * first
    second = KNeighborsRegressor().fit(X, residuals).predict(X)
    slope = (second @ residuals) / (second @ second)
    assert model.coefficients[1] == pytest.approx(slope)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_exponential_loss_is_adaboost(is_weighted):
    """Members and coefficients of AdaBoost, which scikit-learn takes twice as large."""
    X, y = make_classes()
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y)) if is_weighted else None
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = fit_additive_model(
        stump, X, y, loss=ExponentialLoss(), n_estimators=12, sample_weight=weight
    )
    theirs = AdaBoostClassifier(stump, n_estimators=12, random_state=0)
    theirs.fit(X, y, weight)
    np.testing.assert_allclose(2 * model.coefficients, theirs.estimator_weights_)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    assert list(model.classes) == ["no", "yes"]


@pytest.mark.parametrize("loss", [LogLoss(), ExponentialLoss()])
@pytest.mark.parametrize("member", [CARTRegressor, CARTClassifier])
def test_losses_fall(loss, member):
    """From the best constant on, and no coefficient nearby is better."""
    X, y = make_classes()
    model = fit_additive_model(
        member(max_depth=1), X, y, loss=loss, n_estimators=15, init="constant"
    )
    codes = loss.check_target(y == "yes")
    assert model.start == loss.find_start(codes)[0]
    stages = list(model.staged_scores(X))
    losses = [loss.compute_loss(codes, stage[np.newaxis]) for stage in stages]
    np.testing.assert_allclose(losses[1:], model.losses)
    assert (np.diff(losses) < 0).all()
    step = stages[-1] - stages[-2]
    for factor in (0.99, 1.01):
        moved = stages[-2] + factor * step
        assert loss.compute_loss(codes, moved[np.newaxis]) > losses[-1]


def test_counts():
    """With a log link the predictions are means; they fit their sum."""
    X, _ = make_rows(200)
    y = np.random.default_rng(0).poisson(np.exp(X[:, 0])).astype(float)
    model = fit_additive_model(
        CARTRegressor(max_depth=2), X, y, loss=PoissonLoss(), init="constant"
    )
    assert (model.predict(X) > 0).all()
    assert model.losses[-1] < model.losses[0]


def test_absolute_error():
    X, y = make_rows()
    model = fit_additive_model(
        CARTRegressor(max_depth=2), X, y, loss=AbsoluteError(), n_estimators=30
    )
    assert model.losses[-1] < 0.5 * np.mean(np.abs(y))


def test_member_that_makes_no_error():
    """The coefficient stays finite, and nothing is left to learn."""
    X = np.arange(6.0)[:, np.newaxis]
    y = np.array([0, 0, 0, 1, 1, 1])
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = fit_additive_model(stump, X, y, loss=ExponentialLoss(), n_estimators=5)
    assert np.isfinite(model.coefficients).all()
    assert 14 < model.coefficients[0] < 64
    np.testing.assert_array_equal(model.predict(X), y)


def test_member_that_does_not_help():
    """A constant cannot lower the loss once it is the best one."""
    X, y = make_rows()
    dummy = DummyRegressor()
    model = fit_additive_model(dummy, X, y, init="constant", n_estimators=5)
    assert model.estimators == []
    np.testing.assert_array_equal(model.predict(X), y.mean())
    model = fit_additive_model(dummy, X, y, n_estimators=5)
    assert len(model.estimators) == 1
    np.testing.assert_allclose(model.predict(X), y.mean())


@pytest.mark.parametrize(
    ("estimator", "loss", "weight", "message"),
    [
        (LinearRegression(), MultinomialLoss(3), None, "3 raw scores per row"),
        (LinearRegression(), PoissonLoss(), None, "at least 0 for the loss 'poisson'"),
        (CARTRegressor(), LogLoss(), None, "2 classes for the loss 'log_loss', got 3"),
        (KNeighborsRegressor(), SquaredError(), 1.0, "does not accept sample_weight"),
        (
            KNeighborsClassifier(),
            SquaredError(),
            None,
            "needed if the members are class",
        ),
        (LinearRegression(), SquaredError(), -1.0, "must not be negative"),
    ],
)
def test_errors_of_additive_models(estimator, loss, weight, message):
    X, y = make_rows()
    y = y if loss.n_classes is None else np.arange(len(y)) % 3
    with pytest.raises(ValueError, match=message):
        fit_additive_model(estimator, X, y, loss=loss, sample_weight=weight)


@pytest.mark.parametrize("name", ["n_estimators", "init"])
def test_parameters_of_additive_models(name):
    X, y = make_rows()
    with pytest.raises(ValueError, match=f"{name!r} parameter"):
        fit_additive_model(DecisionTreeRegressor(), X, y, **{name: 0})
