"""Errors of boosting by round as a figure."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import (
    log_loss,
    mean_pinball_loss,
    mean_squared_error,
)

from sklearn_textbook.datasets import (
    load_adaboost_example,
    load_boosting_tree_example,
    make_mixed_table,
)
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BoostingTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn_textbook.inspection import LearningRoundsDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def make_rows(seed, n_rows=150, n_classes=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    scores = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.normal(size=n_rows)
    codes = np.digitize(scores, np.linspace(-0.8, 0.8, n_classes - 1))
    return X, np.array(["a", "b", "c", "d"])[codes], random.uniform(0.5, 2.0, n_rows)


def draw(model, *rows, **options):
    return LearningRoundsDisplay.from_estimator(model, *rows, **options)


def test_example_of_the_book():
    X, y = load_adaboost_example(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    display = draw(model, X, y)
    assert list(display.lines_) == ["training", "bound"]
    numbers, values = display.lines_["training"].get_data()
    assert_array_equal(numbers, [1, 2, 3])
    assert_allclose(values, [0.3, 0.3, 0.0])
    # Z_m = 2 sqrt(e_m (1 - e_m)) with the book's errors 3/10, 3/14, 2/11.
    errors = np.array([3 / 10, 3 / 14, 2 / 11])
    bound = np.cumprod(2 * np.sqrt(errors * (1 - errors)))
    assert_allclose(display.lines_["bound"].get_ydata(), bound)
    assert display.ax_.get_ylabel() == "error"
    assert display.best_ is None


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_exponential_loss_of_the_training_rows_is_the_bound(n_classes, is_weighted):
    X, y, weight = make_rows(n_classes, n_classes=n_classes)
    weight = weight if is_weighted else None
    model = AdaBoostClassifier(n_estimators=12).fit(X, y, sample_weight=weight)
    display = draw(model, X, y, sample_weight=weight, metric="loss")
    assert_allclose(display.training, model.error_bounds_, rtol=1e-9)
    assert "bound" not in display.lines_
    assert display.ax_.get_ylabel() == "mean loss (exponential)"


def test_bounds_above_one_are_not_drawn():
    curves = {"training": [0.5, 0.4, 0.3], "bound": [1.2, 1.0, 0.9]}
    line = LearningRoundsDisplay(**curves).plot().lines_["bound"]
    assert_array_equal(line.get_ydata(), [np.nan, 1.0, 0.9])
    useless = LearningRoundsDisplay(training=[0.5], bound=[2.0]).plot()
    assert list(useless.lines_) == ["training"]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("has_weights", [False, True])
def test_margins_after_some_rounds(n_classes, has_weights):
    X, y, weight = make_rows(5, n_classes=n_classes)
    model = AdaBoostClassifier(n_estimators=9).fit(X, y)
    options = {"sample_weight": weight} if has_weights else {}
    display = draw(model, X, y, kind="margins", **options)
    assert list(display.lines_) == [1, 3, 9]
    shorter = AdaBoostClassifier(n_estimators=3).fit(X, y).margins(X, y)
    assert_allclose(display.margins[3], shorter)
    assert_allclose(display.margins[9], model.margins(X, y))
    values, shares = display.lines_[9].get_data()
    assert_array_equal(values[1:-1], np.sort(display.margins[9]))
    weight = weight if has_weights else np.ones(len(y))
    for value, share in list(zip(values, shares, strict=True))[1:-1:10]:
        is_below = display.margins[9] <= value
        assert share <= weight[is_below].sum() / weight.sum() + 1e-12
    at_zero = shares[np.searchsorted(values, 0.0, side="left") - 1]
    wrong = model.predict(X) != y
    assert at_zero == pytest.approx(weight[wrong].sum() / weight.sum())


def test_margins_and_rounds_of_one_display():
    X, y, _ = make_rows(1)
    display = draw(
        AdaBoostClassifier(n_estimators=4).fit(X, y), X, y, margin_rounds=(4, 2)
    )
    assert "training" in display.lines_
    assert display.plot(kind="margins") is display
    assert list(display.lines_) == [4, 2]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["4 rounds", "2 rounds"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_losses_of_gradient_boosting_are_those_of_its_fit(n_classes):
    X, y, weight = make_rows(2, n_classes=n_classes)
    model = GradientBoostingClassifier(n_estimators=8, subsample=0.7, random_state=0)
    model.fit(X, y, sample_weight=weight)
    display = draw(model, X, y, sample_weight=weight)
    assert_allclose(display.training, model.train_score_, rtol=1e-9)
    assert_allclose(display.out_of_bag, model.oob_scores_)
    assert display.best_.get_label() == (
        f"smallest out-of-bag: round {model.oob_scores_.argmin() + 1}"
    )
    assert display.ax_.get_ylabel() == "mean loss (log loss)"
    by_shares = draw(model, X, y, sample_weight=weight, metric="log_loss")
    assert_allclose(by_shares.training, display.training, rtol=1e-9)
    assert list(by_shares.lines_) == ["training"]


def test_validation_rows_of_a_mixed_table():
    X, y = make_mixed_table(400, missing_fraction=0.1, as_frame=True, random_state=0)
    model = GradientBoostingClassifier(
        n_estimators=60, n_iter_no_change=3, learning_rate=0.3
    ).fit(X[:200], y[:200], X_val=X[200:300], y_val=y[200:300])
    display = draw(model, X_test=X[200:300], y_test=y[200:300])
    # The same rows under two names.
    assert_allclose(display.test, display.validation, rtol=1e-9)
    assert_allclose(display.training, model.train_score_)
    assert list(display.lines_) == ["training", "validation", "test"]
    assert display.best_.get_xdata() == model.validation_score_.argmin() + 1


def test_rounds_that_were_not_judged_are_gaps():
    X, y, _ = make_rows(3)
    model = GradientBoostingClassifier(n_estimators=3, warm_start=True).fit(X, y)
    model.set_params(n_estimators=7, n_iter_no_change=4).fit(X, y)
    values = draw(model).validation
    assert np.isnan(values[:3]).all()
    assert np.isfinite(values[3:]).all()
    assert_array_equal(values, model.validation_score_)


def test_values():
    X, y = load_boosting_tree_example(return_X_y=True)
    tree = BoostingTreeRegressor(n_estimators=6).fit(X, y)
    for metric in (None, "squared_error", "loss"):
        display = draw(tree, X, y, metric=metric)
        assert_allclose(display.training, tree.train_losses_ / len(y))
    X, _, weight = make_rows(4)
    y = np.exp(X[:, 0])
    model = GradientBoostingRegressor(loss="poisson", n_estimators=5).fit(X, y)
    assert_allclose(draw(model, X, y).training, model.train_score_, rtol=1e-9)
    display = draw(
        model, X, y, metric=mean_pinball_loss, sample_weight=weight, legend=False
    )
    expected = mean_pinball_loss(y, model.predict(X), sample_weight=weight)
    assert display.training[-1] == pytest.approx(expected)
    assert display.ax_.get_ylabel() == "mean pinball loss"
    assert display.ax_.get_legend() is None
    display = draw(model, X, y, metric="squared_error", line_kw={"color": "black"})
    assert display.training[-1] == pytest.approx(
        mean_squared_error(y, model.predict(X))
    )
    assert display.lines_["training"].get_color() == "black"


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "sparse", "lists"])
@pytest.mark.parametrize("model", [AdaBoostClassifier(), GradientBoostingClassifier()])
def test_tables_of_any_kind(model, kind):
    X, y, _ = make_rows(10)
    model.set_params(n_estimators=3).fit(X, y)
    expected = draw(model, X, y, metric="loss").training
    names = ["p", "q", "r", "s"]
    frame, labels = pd.DataFrame(X, columns=names), pd.Series(y)
    X, y = {
        "pandas": (frame, labels.astype("category")),
        "polars": (pl.from_pandas(frame), pl.from_pandas(labels)),
        "pyarrow": (pa.Table.from_pandas(frame), pa.array(y).dictionary_encode()),
        "sparse": (sparse.csr_array(X), y),
        "lists": (X.tolist(), y.tolist()),
    }[kind]
    model.fit(X, y)
    for metric in ("loss", "error", "log_loss"):
        display = draw(model, X, y, X_test=X, y_test=y, metric=metric)
        assert_array_equal(display.training, display.test)
        if metric == "loss":
            assert_allclose(display.test, expected)


def test_boosting_of_scikit_learn():
    X, y, weight = make_rows(6)
    model = HistGradientBoostingClassifier(max_iter=4).fit(X, y)
    figure, ax = plt.subplots()
    rows = {"X_test": X, "y_test": y, "sample_weight_test": weight}
    display = draw(model, metric="log_loss", ax=ax, **rows)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert display.test[-1] == pytest.approx(
        log_loss(y, model.predict_proba(X), sample_weight=weight)
    )
    assert draw(model, X, y).training[-1] == pytest.approx(1 - model.score(X, y))


def test_no_fractions_of_rounds_on_the_axis():
    display = LearningRoundsDisplay(test=[0.2, 0.1]).plot()
    display.figure_.draw_without_rendering()
    ticks = display.ax_.get_xticks()
    assert_array_equal(ticks, np.round(ticks))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "gini"}, r"one of \['error', 'log_loss', 'loss'\]; got 'gini'"),
        ({"metric": "squared_error"}, "got 'squared_error'"),
        ({"X_test": [[0.0]]}, "X_test and y_test must be given together"),
        ({"margin_rounds": [0]}, "numbers from 1 to 3, .* got 0"),
        ({"margin_rounds": [4]}, "got 4"),
        ({"kind": "both"}, r"kind must be one of \['rounds', 'margins'\]"),
    ],
)
def test_wrong_options_are_named(options, message):
    X, y = load_adaboost_example(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match=message):
        draw(model, X, y, **options)


def test_wrong_estimators_are_refused():
    X, y, _ = make_rows(7)
    with pytest.raises(NotFittedError):
        draw(AdaBoostClassifier(), X, y)
    forest = RandomForestClassifier(3).fit(X, y)
    with pytest.raises(
        ValueError, match="with staged_predict; got RandomForestClassifier"
    ):
        draw(forest, X, y)
    model = GradientBoostingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(
        ValueError, match="Margins require .*; got GradientBoostingClassifier"
    ):
        draw(model, X, y, kind="margins")
    with pytest.raises(ValueError, match="nothing to draw"):
        draw(AdaBoostClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(ValueError, match="require the rows X and y"):
        draw(AdaBoostClassifier(n_estimators=2).fit(X, y), kind="margins")
    hist = HistGradientBoostingClassifier(max_iter=2).fit(X, y)
    with pytest.raises(ValueError, match=r"\['error', 'log_loss'\]; got 'loss'"):
        draw(hist, X, y, metric="loss")


@pytest.mark.parametrize("model", [AdaBoostClassifier(), GradientBoostingClassifier()])
def test_classes_that_were_not_seen(model):
    X, y, _ = make_rows(8)
    model.set_params(n_estimators=2).fit(X, y)
    y[5] = "d"
    with pytest.raises(ValueError, match="classes seen in training.*'d'"):
        draw(model, X, y, metric="loss")
    assert draw(model, X, y, metric="error").training[-1] == pytest.approx(
        np.mean(model.predict(X) != y)
    )


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "nothing to draw"),
        ({"training": [[0.1]]}, r"'training' must be 1D.* got shape \(1, 1\)"),
        ({"training": [0.1], "test": [0.1, 0.2]}, "'training': 1, 'test': 2"),
        ({"margins": {1: [0.1], 2: [0.1, 0.2]}}, "the same rows after all rounds"),
        ({"margins": {2: [0.1, 1.5]}}, "after 2 rounds are not"),
    ],
)
def test_wrong_arrays_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        LearningRoundsDisplay(**arrays)


def test_drawing_what_is_not_there():
    with pytest.raises(ValueError, match="nothing to draw with kind='margins'"):
        LearningRoundsDisplay(training=[0.1]).plot(kind="margins")
    with pytest.raises(ValueError, match="nothing to draw with kind='rounds'"):
        LearningRoundsDisplay(margins={1: [0.5]}).plot()


def test_a_single_round_is_a_whole_number():
    display = LearningRoundsDisplay(training=[0.1]).plot()
    display.figure_.draw_without_rendering()
    low, high = display.ax_.get_xlim()
    assert [tick for tick in display.ax_.get_xticks() if low <= tick <= high] == [1]
