"""The scores of columns for SelectKBest."""

import math
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest

from sklearn_textbook.criteria import (
    best_threshold,
    entropy,
    gain_ratio_score,
    gini,
    gini_score,
    information_gain_score,
    intrinsic_value,
)
from sklearn_textbook.datasets import load_play_tennis, load_watermelon
from tests.golden import get_example

SCORES = [information_gain_score, gain_ratio_score, gini_score]


@pytest.mark.parametrize("version", ["golf", "weka"])
def test_numeric_play_tennis(version):
    X, y = load_play_tennis(version, return_X_y=True)
    example = "classic.golf.tree" if version == "golf" else "classic.weather.tree"
    gains = get_example(example)["root_gains"]
    scores = information_gain_score(X, y)
    names = ["outlook", "temperature", "humidity", "windy"]
    for name, score in zip(names, scores, strict=True):
        assert score == pytest.approx(gains[name][0], abs=1e-6)


@pytest.mark.parametrize("score", SCORES)
def test_scores_do_not_depend_on_the_container(score):
    bunch = load_watermelon("3.0", as_frame=True, language="en")
    X, y = bunch.data, bunch.target
    array, _ = load_watermelon("3.0", language="en", return_X_y=True)
    expected = score(array, y)
    assert (expected > 0).all()
    for table in (
        X,
        array.tolist(),
        pl.from_pandas(X),
        pa.Table.from_pandas(X),
        X.convert_dtypes(),
    ):
        np.testing.assert_allclose(score(table, y), expected, atol=1e-15)
    as_codes = X.apply(lambda c: c.cat.codes if c.dtype == "category" else c)
    nominal = list(range(6))
    for choice in (nominal, np.arange(8) < 6, list(X.columns[:6])):
        scores = score(as_codes, y, categorical_features=choice)
        np.testing.assert_allclose(scores, expected, atol=1e-12)
    everything = score(as_codes, y, categorical_features="all")
    by_rows = {gain_ratio_score: entropy(y) / math.log2(17), gini_score: gini(y)}
    np.testing.assert_allclose(everything[6:], by_rows.get(score, entropy(y)))


@pytest.mark.parametrize("score", SCORES)
def test_scores_with_missing_values(score):
    X, y = load_watermelon("3.0", return_X_y=True)
    X[[1, 5], 0] = None
    X[3, 6] = None
    X[4, 6] = np.nan
    with_missing = score(X, y)
    color = [value for value in X[:, 0] if value is not None]
    known = [row is not None for row in X[:, 0]]
    alone = score(np.array(color, dtype=object)[:, None], y[known])[0]
    assert with_missing[0] == pytest.approx(alone * 15 / 17, abs=1e-12)
    rows = np.arange(17)[~np.isin(np.arange(17), [3, 4])]
    alone = score(X[rows, 6:7].astype(float), y[rows])[0]
    assert with_missing[6] == pytest.approx(alone * 15 / 17, abs=1e-12)


def test_numeric_gain_ratio_uses_the_threshold_of_the_gain():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 6)), rng.integers(0, 2, 40)
    scores = gain_ratio_score(X, y)
    for column, score in zip(X.T, scores, strict=True):
        threshold, gain = best_threshold(column, y)
        side = column <= threshold
        assert score == pytest.approx(gain / intrinsic_value(side), abs=1e-12)
    largest = [best_threshold(column, y, "gain_ratio")[1] for column in X.T]
    assert (scores <= largest).all()
    assert (scores < largest).any()


@pytest.mark.parametrize("score", SCORES)
def test_columns_that_cannot_be_split(score):
    X = np.array([[1.0, np.nan, 0.0], [1.0, np.nan, 1.0]])
    scores = score(X, ["a", "b"])
    assert scores.tolist()[:2] == [0.0, 0.0]
    assert scores[2] == (0.5 if score is gini_score else 1.0)
    assert score(X, ["a", "b"], categorical_features="all")[:2].tolist() == [0, 0]
    np.testing.assert_array_equal(score(X, ["a", "a"]), np.zeros(3))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_scores(score, container):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (50, 4)) * 1.0, rng.integers(0, 2, 50)
    np.testing.assert_array_equal(score(container(X), y), score(X, y))


@pytest.mark.parametrize("score", SCORES)
def test_select_k_best(score):
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 200)
    X = rng.integers(0, 3, (200, 5)) * 1.0
    X[:, 3] = np.where(y == "yes", 1.0, X[:, 3])  # the middle level tells most
    nominal = partial(score, categorical_features="all")
    selector = SelectKBest(nominal, k=1).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3]
    np.testing.assert_array_equal(selector.scores_, nominal(X, y))


@pytest.mark.parametrize(
    ("X", "y", "choice", "message"),
    [
        (np.zeros(3), [0, 1, 1], "from_dtype", "X must be two-dimensional"),
        (np.zeros((2, 2)), [0, 1], "some", "categorical_features must be .*'some'"),
        (np.zeros((2, 2)), [0, 1], [2], "X has no column 2"),
        (np.zeros((2, 2)), [0, 1], ["a"], "X has no column 'a'"),
        (np.zeros((2, 2)), [0, 1], [True], r"mask .*\(2,\).*\(1,\)"),
        (np.zeros((2, 2)), [0, None], "all", "^y has a missing value"),
        (np.array([[0, 1], [1, np.inf]]), [0, 1], "from_dtype", "column 1 of X"),
        (pd.DataFrame({"a": ["u", "v"]}), [0, 1], [], "column 'a' of X"),
        (np.eye(2), [0, 1, 1], "all", "column 0 of X .* differ in length: 2 and 3"),
    ],
)
def test_wrong_table(X, y, choice, message):
    with pytest.raises(ValueError, match=message):
        information_gain_score(X, y, categorical_features=choice)
