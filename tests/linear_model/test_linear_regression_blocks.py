"""LinearRegression trained on rows in blocks."""

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.linear_model import LinearRegression
from tests.linear_model.linear_cases import assert_same_model, make_table


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_targets", [None, 3])
def test_blocks(offset, fit_intercept, n_targets):
    X, y = make_table(4, 500, 5, n_targets)
    X = X / X.std(axis=0) + offset
    y = y + offset
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    whole = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight)
    blocks = LinearRegression(fit_intercept=fit_intercept)
    # The first are fewer than columns, one is a single row.
    for rows in np.split(np.arange(len(y)), [3, 4, 30, 300]):
        blocks.partial_fit(X[rows], y[rows], weight[rows])
    parts = [
        LinearRegression(fit_intercept=fit_intercept).fit(
            X[rows], y[rows], weight[rows]
        )
        for rows in np.split(np.arange(len(y)), [3, 4, 30, 300])
    ]
    merged = parts[-1]
    for part in parts[:-1]:
        merged.merge(part)
    # Values at 1e8 have eight digits less to tell the columns apart.
    rtol = 1e-10 if offset == 0 else (1e-7 if fit_intercept else 1e-4)
    for model in (blocks, merged):
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=rtol)
        np.testing.assert_allclose(
            model.standard_errors_, whole.standard_errors_, rtol=rtol
        )
        np.testing.assert_allclose(
            model.predict(X), whole.predict(X), rtol=1e-11, atol=1e-9
        )
        assert model.residual_degrees_of_freedom_ == pytest.approx(
            whole.residual_degrees_of_freedom_
        )


def test_blocks_whose_columns_move_away():
    """The origin stays where the first rows were."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    X[200:] += [1e6, -3e5]
    y = X @ [2.0, -1.0] + random.normal(size=400)
    whole = LinearRegression().fit(X[::-1], y[::-1])
    blocks = LinearRegression()
    for start in range(0, 400, 50):
        blocks.partial_fit(X[start : start + 50], y[start : start + 50])
    assert_same_model(blocks, whole, rtol=1e-8)


def test_fit_forgets_and_partial_fit_goes_on():
    X, y = make_table()
    model = LinearRegression().fit(X[:20], y[:20])
    model.summary()
    assert_same_model(
        model.partial_fit(X[20:], y[20:]), LinearRegression().fit(X, y), rtol=1e-9
    )
    assert_same_model(
        model.fit(X[:20], y[:20]), LinearRegression().fit(X[:20], y[:20]), rtol=1e-13
    )


def test_blocks_of_nominal_columns():
    levels = ["green", "red", "blue"]
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(random.choice(levels, 60), categories=levels),
            "size": random.normal(size=60),
        }
    )
    y = random.normal(size=60) + frame["colour"].cat.codes
    whole = LinearRegression().fit(frame, y)
    frame = frame.iloc[np.argsort(frame["colour"].cat.codes, kind="stable")]
    y = y[frame.index]
    declared = LinearRegression(categorical_features={"colour": set(levels)})
    for model, X in (
        (LinearRegression(), frame),
        (declared, frame.assign(colour=frame["colour"].astype(str))),
    ):
        for start in range(0, 60, 15):
            model.partial_fit(X[start : start + 15], y[start : start + 15])
        assert model.rank_ == 3
        np.testing.assert_allclose(model.predict(X), whole.predict(frame), rtol=1e-10)
        assert model.r_squared_ == pytest.approx(whole.r_squared_)


def test_levels_that_may_come_must_be_declared():
    y = [1.0, 2.0, 3.0]
    strings = pd.DataFrame({"colour": ["red", "green", "red"]})
    with pytest.raises(ValueError, match="'colour' is nominal.*Declare all levels"):
        LinearRegression().partial_fit(strings, y)
    categories = strings.astype("category")
    with pytest.raises(ValueError, match="reference_level='most_frequent' depends"):
        LinearRegression(reference_level="most_frequent").partial_fit(categories, y)
    model = LinearRegression().partial_fit(categories, y)
    with pytest.raises(
        ValueError, match="the level 'blue' that was not seen in training"
    ):
        model.partial_fit(pd.DataFrame({"colour": ["blue"]}), [1.0])


def test_only_models_alike_are_merged():
    X, y = make_table()
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="different columns"):
        model.merge(LinearRegression().fit(X[:, :2], y))
    with pytest.raises(ValueError, match="fit_intercept is False, but was True"):
        model.merge(LinearRegression(fit_intercept=False).fit(X, y))
    with pytest.raises(ValueError, match="same number of targets, got 1 and 2"):
        model.merge(LinearRegression().fit(X, np.column_stack([y, y])))
    with pytest.raises(ValueError, match="one target|number of dimensions"):
        model.merge(LinearRegression().fit(X, y[:, np.newaxis]))
    with pytest.raises(ValueError, match=r"y has shape \(60, 2\)"):
        model.partial_fit(X, np.column_stack([y, y]))
    with pytest.raises(
        ValueError, match="weight_type is 'variance', but was 'frequency'"
    ):
        model.set_params(weight_type="variance").partial_fit(X, y)
