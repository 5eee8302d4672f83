"""The scores of columns for SelectKBest."""

import math
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

from sklearn_textbook.criteria import (
    best_threshold,
    entropy,
    gain_ratio,
    gain_ratio_score,
    gini,
    gini_index,
    gini_score,
    information_gain_score,
    intrinsic_value,
)
from sklearn_textbook.datasets import load_play_tennis, load_watermelon
from sklearn_textbook.tree import CARTClassifier
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


def make_melons_with_missing():
    """Strings and nulls, in every container."""
    frame, y = load_watermelon("2.0alpha", return_X_y=True, as_frame=True)
    strings = frame.astype(object)
    tables = {
        "category": frame,
        "object": strings.where(frame.notna(), None),
        "NaN": strings,
        "str": frame.astype("str"),
        "string": frame.astype("string"),
        "array": strings.to_numpy(),
        "polars": pl.from_pandas(frame.astype("str")),
        "pyarrow": pa.Table.from_pandas(frame.astype("str")),
    }
    return tables, y


MELONS, RIPE = make_melons_with_missing()


@pytest.mark.parametrize("container", MELONS)
def test_strings_and_nulls(container):
    """The gains of section 4.4.2, and what follows from them."""
    X = MELONS[container]
    example = get_example("zhou.4.4.2.missing_gain")["verified"]["value"]
    names = list(MELONS["category"].columns)
    gains = information_gain_score(X, RIPE)
    assert gains == pytest.approx([example[name] for name in names], abs=1e-9)
    columns = MELONS["array"].T
    ratios = [gain_ratio(column, RIPE) for column in columns]
    np.testing.assert_array_equal(gain_ratio_score(X, RIPE), ratios)
    for column, score in zip(columns, gini_score(X, RIPE), strict=True):
        known = ~pd.isna(column)
        decrease = gini(RIPE[known]) - gini_index(column, RIPE)
        assert score == pytest.approx(known.mean() * decrease, abs=1e-12)


ENCODER = OrdinalEncoder(
    encoded_missing_value=-1, handle_unknown="use_encoded_value", unknown_value=-2
)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("container", ["category", "NaN", "str", "polars"])
def test_strings_and_nulls_in_a_pipeline(score, container):
    """SelectKBest takes numbers only: codes, and a mark for a missing value."""
    X = MELONS[container]
    score_codes = partial(score, categorical_features="all", missing_values=-1)
    selector = SelectKBest(score_codes, k=2)
    pipeline = make_pipeline(ENCODER, selector, CARTClassifier())
    if container == "polars":  # whose None would be one more level to the encoder
        as_pandas = FunctionTransformer(pl.DataFrame.to_pandas)
        pipeline.steps.insert(0, ("to_pandas", as_pandas))
    pipeline.fit(X, RIPE)
    np.testing.assert_allclose(selector.scores_, score(X, RIPE), atol=1e-12)
    assert selector.get_support(indices=True).tolist() == [3, 4]  # 纹理, 脐部
    codes = pipeline[:-2].transform(X)
    assert (codes == -1).sum() == 13
    # Not told of the mark, it takes that for one more level.
    as_level = score(codes, RIPE, categorical_features="all")
    assert (as_level != selector.scores_).all()


def test_number_of_columns_by_cross_validation():
    X, y = load_watermelon("3.0", return_X_y=True, as_frame=True)
    X.iloc[3, 0] = X.iloc[4, 6] = None
    imputer = SimpleImputer(strategy="constant", fill_value=-1)
    encoder = ColumnTransformer(
        [("nominal", ENCODER, [*X.columns[:6]]), ("numeric", imputer, [*X.columns[6:]])]
    )
    score = partial(gain_ratio_score, categorical_features=range(6), missing_values=-1)
    pipeline = make_pipeline(encoder, SelectKBest(score), CARTClassifier())
    search = GridSearchCV(pipeline, {"selectkbest__k": [1, 3, 8]}, cv=3).fit(X, y)
    scores = search.best_estimator_["selectkbest"].scores_
    assert scores == pytest.approx(gain_ratio_score(X, y), abs=1e-12)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("mark", [-1, -1.0, "?", np.nan])
def test_marks_of_missing_values(mark):
    """In numbers, strings and objects; one that does not occur changes nothing."""
    y = [0, 1, 1, 0, 1]
    score = partial(gini_score, categorical_features="all")
    numbers = np.array([[1.0], [2.0], [-1.0], [2.0], [1.0]])
    texts = np.array([["1"], ["2"], ["?"], ["2"], ["1"]])
    for X, own_mark in (
        (numbers, -1),
        (numbers.astype(int), -1),
        (texts, "?"),
        (pd.DataFrame(texts), "?"),
        (pl.DataFrame(texts), "?"),
    ):
        known = np.array(X, dtype=object)
        known[2] = None if mark == own_mark else known[2]
        assert score(X, y, missing_values=mark) == score(known, y)
    mixed = np.array([["1"], ["2"], [mark], ["2"], [pd.NA]], dtype=object)
    expected = score([["1"], ["2"], [None], ["2"], [None]], y)
    assert score(mixed, y, missing_values=mark) == expected
    # Without the marks, these are numbers: two, so one threshold.
    column = np.array([[1.5], [2.5], [mark], [2.5], [1.5]], dtype=object)
    known = [[1.5], [2.5], [None], [2.5], [1.5]]
    assert gini_score(column, y, missing_values=mark) == gini_score(known, y)


@pytest.mark.parametrize("score", SCORES)
def test_columns_of_other_types(score):
    """Booleans, dates, ordered levels and nothing at all, with nulls."""
    codes = [0, 1, 2, None, 1, 0, 2, 1]
    y = list("abbabaab")
    days = [None if code is None else f"2020-01-0{1 + code}" for code in codes]
    dates, levels = pd.to_datetime(days), pd.Categorical(days, ordered=True)
    two = [None if code is None else code > 0 for code in codes]
    frame = pd.DataFrame({"date": dates, "level": levels, "nothing": None})
    frame["yes"] = pd.array(two, dtype="boolean")
    plain = np.array([codes, codes, [None] * 8, two], dtype=object).T
    expected = score(plain, y, categorical_features="all")
    assert expected[2] == 0.0
    assert (expected[[0, 1, 3]] > 0).all()
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        np.testing.assert_allclose(score(table, y), expected, rtol=1e-12)


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
        (np.zeros((2, 2)), [0, 1], [2], "must be columns of X; got 2"),
        (np.zeros((2, 2)), [0, 1], ["a"], "must be columns of X; got 'a'"),
        (np.zeros((2, 2)), [0, 1], [True], r"mask .*\(2,\).*\(1,\)"),
        (np.zeros((2, 2)), [0, None], "all", "^y must not have missing values"),
        (np.array([[0, 1], [1, np.inf]]), [0, 1], "from_dtype", "column 1 of X"),
        (pd.DataFrame({"a": ["u", "v"]}), [0, 1], [], "column 'a' of X"),
        (np.eye(2), [0, 1, 1], "all", "column 0 of X .* same length; got 2 and 3"),
    ],
)
def test_wrong_table(X, y, choice, message):
    with pytest.raises(ValueError, match=message):
        information_gain_score(X, y, categorical_features=choice)
