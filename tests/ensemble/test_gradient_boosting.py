"""Gradient boosting: the rounds, the losses, and tables as people have them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    GradientBoostingRegressor as StockRegressor,
)
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.neighbors import KNeighborsRegressor

from sklearn_textbook.datasets import load_watermelon, make_mixed_table
from sklearn_textbook.ensemble import (
    BoostingTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from sklearn_textbook.ensemble.boosting.losses import Loss
from sklearn_textbook.tree.members import boosting_grower
from tests.amount import FACTOR
from tests.loops import loop_over
from tests.reference.gradient_boosting import (
    boost,
    derive_logistic,
    derive_softmax,
    derive_squares,
)

SMALL = {"min_samples_leaf": 2, "max_leaf_nodes": 5, "n_estimators": 4}


def draw_table(seed, n_classes=None):
    """A small table and a target that depends on it."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 9, (40, 3)) + random.random(3)
    y = X[:, 0] * X[:, 1] + random.standard_normal(40)
    if n_classes is not None:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    return X, y


# ------------------------------------------------------------ reference implementation
@loop_over("seed", range(4 * FACTOR))
@pytest.mark.parametrize("l2", [0.0, 1.5])
def test_values_as_the_reference_implementation(seed, l2):
    X, y = draw_table(seed)
    model = GradientBoostingRegressor(learning_rate=0.3, l2_regularization=l2, **SMALL)
    expected = boost(
        X, y, derive_squares, [y.mean()], 4, 0.3, l2=l2, max_leaf_nodes=5,
        min_samples_leaf=2,
    )  # fmt: skip
    stages = list(model.fit(X, y).staged_predict(X))
    np.testing.assert_allclose(stages, [raw[0] for raw in expected], rtol=1e-9)


@loop_over("seed", range(4 * FACTOR))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_as_the_reference_implementation(seed, n_classes):
    X, y = draw_table(seed, n_classes)
    shares = np.bincount(y) / len(y)
    start, derive = np.log(shares), derive_softmax
    rate = 0.5 * (n_classes - 1) / n_classes  # Friedman's factor
    if n_classes == 2:
        rate = 0.5
        start, derive = [np.log(shares[1] / shares[0])], derive_logistic
    model = GradientBoostingClassifier(learning_rate=0.5, **SMALL).fit(X, y)
    expected = boost(
        X, y, derive, start, 4, rate, max_leaf_nodes=5, min_samples_leaf=2,
        min_weight_leaf=1e-3,
    )  # fmt: skip
    for scores, raw in zip(model.staged_decision_function(X), expected, strict=True):
        raw = raw[0] if n_classes == 2 else raw.T
        centred = scores - raw
        # A constant for all classes changes no probability.
        centred -= centred.mean(axis=-1, keepdims=True) if n_classes > 2 else 0.0
        np.testing.assert_allclose(centred, 0.0, atol=1e-9)


# --------------------------------------------------------------- what is known of it
def test_residual_fitting_is_boosting_of_the_squared_error():
    X, y = load_diabetes(return_X_y=True)
    limits = {"n_estimators": 15, "max_depth": 2, "learning_rate": 0.5}
    model = GradientBoostingRegressor(
        init="zero", max_leaf_nodes=None, min_samples_leaf=1, max_bins=None, **limits
    ).fit(X, y)
    residuals = BoostingTreeRegressor(**limits).fit(X, y)
    np.testing.assert_allclose(model.predict(X), residuals.predict(X), rtol=1e-9)


def test_exact_thresholds_give_the_trees_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    stock = StockRegressor(n_estimators=20, random_state=0).fit(X, y)
    model = GradientBoostingRegressor(
        n_estimators=20,
        max_depth=3,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        max_bins=None,
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), stock.predict(X), rtol=1e-6)
    np.testing.assert_allclose(2 * model.train_score_, stock.train_score_, rtol=1e-6)


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "absolute_error"])
def test_bins_of_single_values_and_sorted_columns_agree(monkeypatch, loss):
    random = np.random.default_rng(0)
    X = np.round(random.standard_normal((900, 4)), 1)
    X[random.random(X.shape) < 0.1] = np.nan
    y = np.exp(np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1])) * random.random(900)
    model = GradientBoostingRegressor(loss=loss, max_bins=None, n_estimators=10)
    by_bins = model.fit(X, y).predict(X)
    monkeypatch.setattr(boosting_grower, "MAX_EXACT_BINS", 0)
    np.testing.assert_allclose(model.fit(X, y).predict(X), by_bins, rtol=1e-6)


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_one_step_on_one_leaf_reaches_the_share(loss):
    """The start is the best constant: a tree without splits changes nothing."""
    y = np.array([0] * 6 + [1] * 14)
    model = GradientBoostingClassifier(loss=loss, n_estimators=3)
    proba = model.fit(np.zeros((20, 1)), y).predict_proba([[0.0]])
    np.testing.assert_allclose(proba, [[0.3, 0.7]])


def test_close_to_scikit_learns_histogram_boosting():
    X, y = make_classification(3000, 10, n_informative=6, random_state=0)
    shares = [
        model.fit(X[:2000], y[:2000]).predict_proba(X[2000:])
        for model in (
            GradientBoostingClassifier(),
            HistGradientBoostingClassifier(early_stopping=False),
        )
    ]
    losses = [log_loss(y[2000:], share) for share in shares]
    assert losses[0] < 1.1 * losses[1]
    assert np.corrcoef(shares[0][:, 0], shares[1][:, 0])[0, 1] > 0.99


@pytest.mark.parametrize("loss", ["poisson", "gamma", "absolute_error", "quantile"])
def test_losses_close_to_scikit_learns(loss):
    X, y = load_diabetes(return_X_y=True)
    extra = {"quantile": 0.7} if loss == "quantile" else {}
    stock = HistGradientBoostingRegressor(loss=loss, early_stopping=False, **extra)
    model = GradientBoostingRegressor(loss=loss, alpha=0.7).fit(X[:300], y[:300])
    ours, theirs = model.predict(X[300:]), stock.fit(X[:300], y[:300]).predict(X[300:])
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95


@pytest.mark.parametrize("loss", ["huber", "tweedie", "absolute_error", "quantile"])
def test_training_loss_falls(loss):
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(loss=loss, n_estimators=30).fit(X, y)
    assert (np.diff(model.train_score_) < 0).mean() > 0.9
    assert model.train_score_[-1] < 0.99 * model.train_score_[0]


# ------------------------------------------------------------------------- parameters
class HalfSquares(Loss):
    """The squared error, as somebody would write it."""

    name = "half-squares"

    def compute_row_losses(self, y, raw):
        return (y - raw[0]) ** 2 / 2

    def differentiate(self, y, raw):
        return raw - y, np.ones_like(raw)


def test_own_loss():
    X, y = load_diabetes(return_X_y=True)
    own = GradientBoostingRegressor(loss=HalfSquares(), n_estimators=9)
    known = GradientBoostingRegressor(n_estimators=9).fit(X, y)
    np.testing.assert_allclose(own.fit(X, y).predict(X), known.predict(X), rtol=1e-6)


@pytest.mark.parametrize("max_bins", [255, None])
def test_threads_change_nothing(max_bins):
    X, y = make_classification(9000, 12, random_state=0)
    models = [
        GradientBoostingClassifier(
            n_estimators=5, n_jobs=n_jobs, max_bins=max_bins, subsample=0.8,
            random_state=1,
        ).fit(X, y)
        for n_jobs in (1, 3)
    ]  # fmt: skip
    first, second = (model.decision_function(X) for model in models)
    assert first.tobytes() == second.tobytes()
    assert models[0].train_score_.tobytes() == models[1].train_score_.tobytes()


def test_warm_start_continues():
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"subsample": 0.6, "max_features": 0.5, "random_state": 3}
    whole = GradientBoostingClassifier(n_estimators=12, **settings).fit(X, y)
    parts = GradientBoostingClassifier(n_estimators=5, warm_start=True, **settings)
    parts.fit(X, y).set_params(n_estimators=12).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X))
    np.testing.assert_allclose(parts.train_score_, whole.train_score_)
    np.testing.assert_allclose(parts.oob_improvement_, whole.oob_improvement_)


def test_warm_start_with_samples_of_rows_from_now_on():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=4, warm_start=True, random_state=0)
    model.fit(X, y).set_params(n_estimators=6, subsample=0.5).fit(X, y)
    assert np.isnan(model.oob_scores_[:4]).all()
    assert (model.oob_improvement_[:4] == 0).all()  # they are added up
    for losses in (model.oob_scores_, model.oob_improvement_):
        assert np.isfinite(losses[4:]).all()
        assert len(losses) == 6
    stock = StockRegressor(n_estimators=4, warm_start=True, random_state=0)
    stock.fit(X, y).set_params(n_estimators=6, subsample=0.5).fit(X, y)
    assert (stock.oob_improvement_[:4] == 0).all()
    assert model.oob_score_ == model.oob_scores_[-1]


def test_losses_are_those_of_the_last_fit():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(
        n_estimators=5, subsample=0.5, n_iter_no_change=2, random_state=0
    ).fit(X, y)
    model.set_params(n_estimators=3, subsample=1.0, n_iter_no_change=None).fit(X, y)
    assert len(model.train_score_) == 3
    for name in ("oob_scores_", "oob_improvement_", "validation_score_"):
        assert not hasattr(model, name)


def test_warm_start_refuses_other_classes():
    X, y = load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=2, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="the same classes"):
        model.set_params(n_estimators=3).fit(X, y + 1)


def test_early_stopping():
    X, y = make_classification(800, 8, flip_y=0.3, random_state=0)
    model = GradientBoostingClassifier(
        n_estimators=300, learning_rate=0.3, n_iter_no_change=4, random_state=0
    ).fit(X, y)
    assert 4 < model.n_estimators_ < 150
    assert len(model.validation_score_) == model.n_estimators_ == len(model)
    last = model.validation_score_[-1]
    assert not (last + model.tol < model.validation_score_[-5:-1]).any()


@pytest.mark.parametrize("n_rounds", [2, 5])
def test_when_early_stopping_stops(n_rounds):
    """Not when the best loss is ``n_rounds`` old, but as in scikit-learn."""
    X, y = make_classification(600, 8, flip_y=0.3, random_state=1)
    settings = {"n_estimators": 200, "learning_rate": 0.5, "random_state": 0}
    split = {"X_val": X[400:], "y_val": y[400:]}
    whole = GradientBoostingClassifier(**settings, subsample=0.5, n_iter_no_change=200)
    losses = whole.fit(X[:400], y[:400], **split).validation_score_
    model = clone(whole).set_params(n_iter_no_change=n_rounds)
    model.fit(X[:400], y[:400], **split)
    stops = [
        k + 1
        for k in range(n_rounds, 200)
        if not (losses[k] + model.tol < losses[k - n_rounds : k]).any()
    ]
    assert len(model.validation_score_) == stops[0]
    assert_allclose(model.validation_score_, losses[: stops[0]])
    assert stops[0] != losses[: stops[0]].argmin() + n_rounds + 1


def test_early_stopping_goes_on_with_the_rounds_before():
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"n_iter_no_change": 4, "random_state": 0}
    whole = GradientBoostingClassifier(n_estimators=500, **settings).fit(X, y)
    n_rounds = len(whole.estimators_)
    assert n_rounds < 500
    parts = GradientBoostingClassifier(
        n_estimators=n_rounds - 2, warm_start=True, **settings
    ).fit(X, y)
    parts.set_params(n_estimators=500).fit(X, y)
    np.testing.assert_allclose(parts.validation_score_, whole.validation_score_)
    # Where growth has ended, it soon ends again.
    assert n_rounds < len(parts.fit(X, y).estimators_) < n_rounds + 4


def test_given_validation_rows():
    X, y = make_classification(800, 8, flip_y=0.3, random_state=0)
    X, X_val, y, y_val = X[:500], X[500:], y[:500], y[500:]
    model = GradientBoostingClassifier(n_estimators=200, n_iter_no_change=3)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    stages = list(model.staged_predict_proba(X_val))
    expected = [log_loss(y_val, proba) for proba in stages]
    np.testing.assert_allclose(model.validation_score_, expected)
    with pytest.raises(ValueError, match="X_val requires y_val"):
        model.fit(X, y, X_val=X_val)
    with pytest.raises(ValueError, match="y_val and sample_weight_val require X_val"):
        model.fit(X, y, y_val=y)
    model.set_params(n_iter_no_change=None)
    with pytest.raises(ValueError, match="X_val is used only with n_iter_no_change"):
        model.fit(X, y, X_val=X, y_val=y)


def test_out_of_bag_rows_judge():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(subsample=0.5, random_state=0).fit(X, y)
    assert model.oob_improvement_.shape == (100,)
    assert model.oob_improvement_[:10].sum() > 0
    assert model.oob_score_ == model.oob_scores_[-1]


class Recorder:
    """Sees the ensemble after each round, and stops after some."""

    def __init__(self, stop_after):
        self.stop_after, self.losses = stop_after, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        if context.task_name != "round":
            return False
        loss = log_loss(y, fitted_estimator.predict_proba(X))
        self.losses.append((fitted_estimator.train_score_[-1], loss))
        return len(self.losses) >= self.stop_after


def test_callbacks():
    """The ensemble of each round is told, and can be the last."""
    X, y = load_breast_cancer(return_X_y=True)
    recorder = Recorder(stop_after=3)
    stopped = GradientBoostingClassifier().set_callbacks(recorder).fit(X, y)
    smaller = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    assert len(stopped) == stopped.n_estimators_ == 3
    np.testing.assert_array_equal(stopped.predict_proba(X), smaller.predict_proba(X))
    told, seen = zip(*recorder.losses, strict=True)
    np.testing.assert_allclose(told, seen)
    np.testing.assert_array_equal(told, smaller.train_score_)


def test_init_estimator():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(init=LinearRegression(), n_estimators=3)
    model.fit(X, y)
    linear = LinearRegression().fit(X, y)
    assert mean_squared_error(y, model.predict(X)) < mean_squared_error(
        y, linear.predict(X)
    )
    start = GradientBoostingRegressor(init=DummyRegressor(), n_estimators=3).fit(X, y)
    plain = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    np.testing.assert_allclose(start.predict(X), plain.predict(X))


def test_init_that_takes_no_weights():
    X, y = load_diabetes(return_X_y=True)
    init = KNeighborsRegressor()
    model = GradientBoostingRegressor(init=init, n_estimators=2).fit(X, y)
    message = "KNeighborsRegressor does not support sample weights"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, np.ones(len(y)))


def test_number_of_columns_of_a_node_is_known():
    X, y = draw_table(0)
    model = GradientBoostingRegressor(max_features=0.7, n_estimators=2).fit(X, y)
    assert model.max_features_ == model.estimators_[0, 0].max_features_ == 2


def test_init_classifier():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :3]
    init = LogisticRegression(max_iter=1000)
    model = GradientBoostingClassifier(init=init, n_estimators=1, learning_rate=1e-9)
    np.testing.assert_allclose(
        model.fit(X, y).predict_proba(X), clone(init).fit(X, y).predict_proba(X),
        atol=1e-6,
    )  # fmt: skip


def test_monotonic_constraints():
    random = np.random.default_rng(0)
    X = random.random((800, 3))
    y = X[:, 0] - X[:, 1] + 0.5 * random.standard_normal(800)
    model = GradientBoostingRegressor(monotonic_cst=[1, -1, 0]).fit(X, y)
    grid = np.repeat(random.random((20, 1, 3)), 30, axis=1)
    for column, sign in ((0, 1), (1, -1)):
        table = grid.copy()
        table[:, :, column] = np.linspace(0, 1, 30)
        values = model.predict(table.reshape(-1, 3)).reshape(20, 30)
        assert (sign * np.diff(values, axis=1) >= -1e-12).all()


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("max_bins", [None, 30])
@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "absolute_error"},
        {"loss": "huber"},
        {"loss": "quantile", "alpha": 0.8},
        {"loss": "absolute_error", "subsample": 0.5},
        {"l2_regularization": 20.0},
        {"loss": "poisson", "l2_regularization": 20.0},
    ],
)
def test_all_losses_keep_monotonic_constraints(settings, max_bins, sign):
    n_rows = 400
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = random.uniform(size=(n_rows, 2))
        y = sign * 2 * X[:, 0] + 0.5 * random.standard_t(2, size=n_rows)
        y -= y.min() if settings.get("loss") == "poisson" else 0.0
        model = GradientBoostingRegressor(
            n_estimators=30, monotonic_cst=[sign, 0], max_bins=max_bins, random_state=0
        )
        model.set_params(**settings).fit(X, y, random.uniform(0.1, 3, n_rows))
        for other in (0.1, 0.5, 0.9):
            table = np.column_stack([np.linspace(0, 1, 300), np.full(300, other)])
            values = model.predict(table)
            assert np.ptp(values) > 0.3
            assert (sign * np.diff(values) >= -1e-12).all()


@pytest.mark.parametrize("sign", [-1, 1])
def test_classifiers_keep_monotonic_constraints(sign):
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = random.uniform(size=(400, 2))
        y = sign * X[:, 0] + 0.4 * random.standard_normal(400) > sign * 0.5
        for settings in ({"loss": "exponential"}, {"l2_regularization": 20.0}):
            model = GradientBoostingClassifier(
                n_estimators=30, monotonic_cst=[sign, 0], **settings
            ).fit(X, y)
            for other in (0.1, 0.5, 0.9):
                table = np.column_stack([np.linspace(0, 1, 300), np.full(300, other)])
                assert (sign * np.diff(model.decision_function(table)) >= -1e-12).all()


@pytest.mark.parametrize(
    ("interaction_cst", "groups"),
    [
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ([[0, 1]], [{0, 1}, {2, 3}]),
        ([[0, 1], [1, 2]], [{0, 1}, {1, 2}, {3}]),
    ],
)
def test_interaction_constraints(interaction_cst, groups):
    random = np.random.default_rng(0)
    X = random.random((600, 4))
    y = X[:, 0] * X[:, 1] * X[:, 2] * X[:, 3]
    model = GradientBoostingRegressor(
        interaction_cst=interaction_cst, n_estimators=10
    ).fit(X, y)
    for (member,) in model.estimators_:
        for leaf in member.rules_:
            names = {condition["feature"] for condition in leaf["conditions"]}
            used = {int(name.removeprefix("x")) for name in names}
            assert any(used <= group for group in groups), used


def test_pairs_of_columns_alone_interact():
    random = np.random.default_rng(0)
    X = random.random((600, 4))
    y = X.prod(axis=1)
    model = GradientBoostingRegressor(interaction_cst="pairwise", n_estimators=5)
    widths = {
        len({condition["feature"] for condition in leaf["conditions"]})
        for (member,) in model.fit(X, y).estimators_
        for leaf in member.rules_
    }
    assert max(widths) == 2


def test_class_weights_are_weights():
    X, y = make_classification(400, 5, weights=[0.8], random_state=0)
    weighted = GradientBoostingClassifier(n_estimators=8, class_weight={0: 1, 1: 4})
    by_row = GradientBoostingClassifier(n_estimators=8)
    by_row.fit(X, y, sample_weight=np.where(y == 1, 4.0, 1.0))
    np.testing.assert_allclose(
        weighted.fit(X, y).decision_function(X), by_row.decision_function(X)
    )


@pytest.mark.parametrize("max_bins", [255, None])
def test_unit_of_weights_changes_nothing(max_bins):
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    model = GradientBoostingClassifier(n_estimators=30, max_bins=max_bins)
    scores = model.fit(X, y, weight).decision_function(X)
    scaled = model.fit(X, y, weight * 2.0**-40).decision_function(X)
    np.testing.assert_allclose(scaled, scores)


def test_weights_are_counts_of_rows_for_the_levels_of_nominal_columns():
    """With weights that sum to 1 there is not one row per level."""
    X, y = make_mixed_table(300, as_frame=True, random_state=0)
    X["text"] = pd.Categorical((np.arange(300) % 20).astype(str))
    model = GradientBoostingClassifier(n_estimators=3)
    weight = np.full(300, 1 / 300)
    with pytest.warns(UserWarning, match="sum to 1, less than the .* levels") as w:
        model.fit(X, y, weight)
    assert w[0].filename == __file__
    scores = model.set_params(categorical_smoothing=0).fit(X, y).decision_function(X)
    scaled = model.fit(X, y, weight).decision_function(X)
    np.testing.assert_allclose(scaled, scores)


def test_rows_of_weight_zero_take_no_part():
    X, y = load_diabetes(return_X_y=True)
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    model = GradientBoostingRegressor(n_estimators=10).fit(X, y, weight)
    alone = GradientBoostingRegressor(n_estimators=10).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(model.train_score_, alone.train_score_)


# ----------------------------------------------------------- tables as people have them
def make_frame(n_rows=600):
    """A frame with text, gaps and numbers, and classes that depend on all of it."""
    random = np.random.default_rng(0)
    size, colour = random.random(n_rows), random.choice(list("rgbyk"), n_rows)
    frame = pd.DataFrame({"size": size, "colour": colour})
    frame["age"] = random.integers(1, 90, n_rows).astype(float)
    odds = 4 * (size > 0.6) + 3 * np.isin(colour, ["r", "k"]) - 0.05 * frame["age"]
    y = np.where(odds + random.logistic(size=n_rows) > 0, "yes", "no")
    frame.loc[random.random(n_rows) < 0.1, ["colour"]] = None
    frame.loc[random.random(n_rows) < 0.1, ["age"]] = np.nan
    return frame, y


def test_frame_with_text_and_gaps():
    frame, y = make_frame()
    model = GradientBoostingClassifier(n_estimators=30).fit(frame[:400], y[:400])
    assert model.score(frame[400:], y[400:]) > 0.75
    assert list(model.feature_names_in_) == ["size", "colour", "age"]
    assert (model.feature_importances_ > 0.05).all()
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    copy = pickle.loads(pickle.dumps(model))
    new = frame[400:].copy()
    new.iloc[0, 1] = "purple"
    np.testing.assert_array_equal(model.predict(new), copy.predict(new))


def test_levels_of_few_rows_are_not_learned_by_heart():
    random = np.random.default_rng(0)
    sizes = (3, 30, 60, 120, 200)
    codes = np.column_stack([random.integers(0, size, 3000) for size in sizes])
    scores = sum(
        random.standard_normal(size)[column]
        for size, column in zip(sizes, codes.T, strict=True)
    )
    y = (scores + random.logistic(size=3000) > 0).astype(int)
    losses = []
    for settings in ({}, {"categorical_smoothing": 0}):
        model = GradientBoostingClassifier(
            categorical_features=range(5), n_estimators=60, **settings
        )
        shares = model.fit(codes[:2000], y[:2000]).predict_proba(codes[2000:])
        losses.append(log_loss(y[2000:], shares))
    assert losses[0] < 0.9 * losses[1]


def test_apply_names_leaves():
    frame, y = make_frame(200)
    model = GradientBoostingClassifier(n_estimators=3).fit(frame, y)
    leaves = model.apply(frame)
    assert leaves.shape == (200, 3, 1)
    raw = sum(
        model.estimators_[round_, 0].tree_.value[leaves[:, round_, 0], 0, 0]
        for round_ in range(3)
    )
    scores = model.decision_function(frame)
    np.testing.assert_allclose(np.ptp(scores - raw), 0.0, atol=1e-12)


def test_missing_values_may_be_an_error():
    frame, y = make_frame(200)
    with pytest.raises(ValueError, match="missing"):
        GradientBoostingClassifier(missing="error").fit(frame, y)


def test_books_table():
    X, y = load_watermelon(version="3.0", return_X_y=True, as_frame=True)
    model = GradientBoostingClassifier(n_estimators=20, min_samples_leaf=1).fit(X, y)
    assert model.score(X, y) == 1.0


def test_planted_rules_of_a_mixed_table():
    X, y = make_mixed_table(n_samples=2000, random_state=0, return_X_y=True)
    model = GradientBoostingClassifier().fit(X[:1500], y[:1500])
    _, counts = np.unique(y, return_counts=True)
    assert model.score(X[1500:], y[1500:]) > counts.max() / len(y) + 0.1


# -------------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "loss"),
        ({"learning_rate": -0.1}, "learning_rate"),
        ({"subsample": 0.0}, "subsample"),
        ({"subsample": 1.5}, "subsample"),
        ({"max_bins": 1}, "max_bins"),
        ({"missing": "fractional"}, "missing"),
        ({"l2_regularization": -1}, "l2_regularization"),
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
        ({"interaction_cst": "none"}, "interaction_cst"),
        ({"interaction_cst": [[0, 7]]}, "interaction_cst"),
        ({"interaction_cst": [0, 1]}, "sequence of tuples or lists"),
        ({"interaction_cst": np.array([0, 1])}, r"interaction_cst=array\(\[0, 1\]"),
        ({"init": "best"}, "init"),
        ({"init": LinearRegression}, "init"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"monotonic_cst": [1]}, "monotonic_cst"),
        ({"n_estimators": 0}, "n_estimators"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    X, y = draw_table(0)
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("poisson", -1.0, "poisson"),
        ("gamma", 0.0, "gamma"),
        ("squared_error", np.nan, "y has a missing value in row 3"),
    ],
)
def test_targets_that_are_refused(loss, y, message):
    X, values = draw_table(0)
    values = np.abs(values) + 1
    values[3] = y
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(loss=loss).fit(X, values)


def test_classes_that_are_refused():
    X, _ = draw_table(0)
    with pytest.raises(ValueError, match="only one class"):
        GradientBoostingClassifier().fit(X, np.zeros(40))
    rising = GradientBoostingClassifier(monotonic_cst=np.array([0, 1, 0]))
    with pytest.raises(ValueError, match="constraints are not supported"):
        rising.fit(X, np.arange(40) % 3)
    with pytest.raises(ValueError, match="binary"):
        GradientBoostingClassifier(loss="exponential").fit(X, np.arange(40) % 3)


def test_growth_that_explodes_is_an_error():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(learning_rate=1e4, n_estimators=200)
    with pytest.raises(ValueError, match="not finite"):
        model.fit(X, y)


# ------------------------------------------------------------------------- leaves
@pytest.mark.parametrize("subsample", [1.0, 0.7])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_leaves_of_one_class(subsample, is_weighted):
    """With the exponential loss they have the limit of the documentation, always."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + 0.7 * X[:, 1] + 0.5 * rng.normal(size=400) > 0).astype(int)
    weight = rng.integers(0, 4, 400).astype(float) if is_weighted else None
    model = GradientBoostingClassifier(
        loss="exponential", n_estimators=40, min_samples_leaf=5, subsample=subsample
    ).fit(X, y, sample_weight=weight)
    n_found = 0
    for member in model.estimators_.ravel():
        leaves, values = member.apply(X), member.tree_.statistics[:, 0, 0] / 0.1
        for leaf in np.flatnonzero(member.tree_.is_leaf):
            inside = (leaves == leaf) & (weight > 0 if is_weighted else True)
            if len(np.unique(y[inside])) == 1:
                n_found += 1
                sign = 2 * y[inside][0] - 1
                limit = sign * 26 * np.log(2)
                assert values[leaf] == pytest.approx(limit)
    assert n_found > 20


def test_smallest_sum_of_hessians():
    """On separable rows, learning ends where leaves would have less."""
    X = np.repeat(np.arange(2.0), 50)[:, np.newaxis]
    y = X[:, 0].astype(int)
    for unit in (1.0, 1000.0):
        model = GradientBoostingClassifier(n_estimators=150, learning_rate=1.0)
        model.fit(X, y, sample_weight=np.full(100, unit))
        splits = [member.get_n_leaves() > 1 for member in model.estimators_.ravel()]
        n_rounds = np.count_nonzero(splits)
        assert splits == [True] * n_rounds + [False] * (150 - n_rounds)
        assert n_rounds < 20
        for member in model.estimators_.ravel()[:n_rounds]:
            tree = member.tree_
            assert tree.nodes["weight"][tree.is_leaf].min() >= 0.001 * unit
        stock = HistGradientBoostingClassifier(max_iter=150, learning_rate=1.0)
        stock.fit(X, y)
        assert_allclose(model.predict_proba(X), stock.predict_proba(X), rtol=1e-3)


# ------------------------------------------------------------------ nominal columns
def make_unrelated(n_distinct, n_rows=4000):
    """A column that no test can divide, as too few rows differ from the others."""
    column = np.zeros(n_rows)
    column[:n_distinct] = np.arange(1, n_distinct + 1)
    return column


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("smoothing", ["auto", 0, 20.0])
def test_levels_without_bins(smoothing, is_weighted):
    """How levels are divided does not depend on other columns."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 100, 4000)
    y = rng.normal(size=100)[level] + rng.normal(size=4000)
    names = np.array([f"k{k}" for k in range(100)], dtype=object)[level]
    names[rng.random(4000) < 0.1] = None
    weight = rng.uniform(0.5, 2.0, 4000) if is_weighted else None
    model = GradientBoostingRegressor(
        n_estimators=5,
        max_bins=None,
        min_samples_leaf=1100,
        categorical_smoothing=smoothing,
    )
    predicted = []
    for n_distinct in (1000, 1050):
        X = pd.DataFrame({"level": names, "other": make_unrelated(n_distinct)})
        model.fit(X, y, sample_weight=weight)
        assert all(
            (member.tree_.nodes["feature"] != 1).all()
            for member in model.estimators_.ravel()
        )
        predicted.append(model.predict(X))
    assert np.ptp(predicted[0]) > 0
    assert_allclose(predicted[0], predicted[1], rtol=1e-9)


@pytest.mark.parametrize("is_classifier", [False, True])
def test_where_weights_of_levels_are_not_copies(is_classifier):
    """Rows are counted in two rules: more than 64 in a node, and a given smoothing."""
    kind = GradientBoostingRegressor
    if is_classifier:
        kind = GradientBoostingClassifier
    n_different = np.zeros(3, dtype=int)
    for seed in range(10 * FACTOR):
        rng = np.random.default_rng(seed)
        for number, (n_rows, smoothing) in enumerate(
            [(40, "auto"), (200, "auto"), (200, 5.0)]
        ):
            level = rng.integers(0, 15, n_rows)
            X = pd.DataFrame({"level": [f"k{k:02}" for k in level]})
            y = rng.normal(size=15)[level] + rng.normal(size=n_rows)
            y = (y > 0).astype(int) if is_classifier else y
            copies = rng.integers(1, 4, n_rows)
            rows = np.repeat(np.arange(n_rows), copies)
            # Of a tree with one test, only the root is divided.
            model = kind(
                n_estimators=3,
                max_leaf_nodes=2,
                min_samples_leaf=1,
                categorical_smoothing=smoothing,
            )
            stages = "staged_decision_function" if is_classifier else "staged_predict"
            weighted = model.fit(X, y, sample_weight=copies.astype(float))
            *_, found = getattr(weighted, stages)(X)
            if number == 2:
                scaled = smoothing * copies.sum() / n_rows
                model = clone(model).set_params(categorical_smoothing=scaled)
            *_, expected = getattr(clone(model).fit(X.iloc[rows], y[rows]), stages)(X)
            if number > 0:
                assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
            model.set_params(categorical_smoothing=smoothing)
            *_, plain = getattr(clone(model).fit(X.iloc[rows], y[rows]), stages)(X)
            n_different[number] += not np.allclose(found, plain, rtol=1e-9, atol=1e-9)
    assert n_different[0] > 0
    assert n_different[1] == 0
    assert n_different[2] > 0


def test_too_many_values_without_bins():
    X = pd.DataFrame({"x": np.arange(70_000.0), "level": ["a", "b"] * 35_000})
    model = GradientBoostingRegressor(n_estimators=1, max_bins=None)
    with pytest.raises(ValueError, match="Column 'x' has 70000 distinct values.*65535"):
        model.fit(X, X["x"])
    assert model.fit(X[["x"]], X["x"]).n_estimators_ == 1
