"""From tables to the matrix of a linear model: kinds of frames, levels, errors."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.linear_model.design import design as design_module
from sklearn_textbook.linear_model.design import read_design
from tests.containers import READS_POLARS

HEIGHTS = ["low", "middle", "high"]


def read(X, *arguments, **parameters):
    """Names of the made columns, and these as a dense array."""
    matrix, design = read_design(X, *arguments, **parameters)
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    assert dense.shape[1] == len(design.names)
    return list(design.names), dense


# --------------------------------------------------------------------- kinds of frames
def test_book_example():
    """周志华 3.2: heights become 1, 0.5, 0, melons become indicators."""
    X = [["high", "melon"], ["low", "pumpkin"], ["middle", "cucumber"]]
    declared = {0: HEIGHTS, 1: "nominal"}
    names, matrix = read(X, declared, None)
    assert names == ["x0", "x1=cucumber", "x1=melon", "x1=pumpkin"]
    assert matrix.tolist() == [[1.0, 0, 1, 0], [0.0, 0, 0, 1], [0.5, 1, 0, 0]]


COLUMNS = {"n": [1, 2, 3], "b": [True, False, True], "s": ["u", "v", "u"]}
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "nullable": pd.DataFrame(
        {
            "n": pd.array([1, 2, 3], dtype="Int64"),
            "b": pd.array([True, False, True], dtype="boolean"),
            "s": pd.array(["u", "v", "u"], dtype="string"),
        }
    ),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "dictionary": pa.table({**COLUMNS, "s": pa.array(list("uvu")).dictionary_encode()}),
    "category": pd.DataFrame({**COLUMNS, "s": pd.Categorical(COLUMNS["s"])}),
    "polars category": pl.DataFrame(
        {**COLUMNS, "s": pl.Series(COLUMNS["s"], dtype=pl.Categorical)}
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind):
    names, matrix = read(FRAMES[kind])
    assert names == ["n", "b", "s=v"]
    assert matrix.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
    model = LinearRegression().fit(FRAMES[kind], [1.0, 2.0, 4.0])
    if kind.startswith("polars") and not READS_POLARS:
        return
    assert model.feature_names_in_.tolist() == ["n", "b", "s"]
    assert model.coef_names_.tolist() == names
    # Another kind of frame with the same columns is the same table.
    np.testing.assert_allclose(
        model.predict(FRAMES["pandas"]), model.predict(FRAMES[kind])
    )


def test_dates_and_durations_are_seconds():
    day = datetime.datetime(2020, 1, 2)
    frame = pl.DataFrame({"t": [day], "d": [datetime.timedelta(hours=2)]})
    names, matrix = read(frame)
    assert names == ["t", "d"]
    seconds = (day - datetime.datetime(1970, 1, 1)).total_seconds()
    assert matrix.tolist() == [[seconds, 7200.0]]


def test_ordered_dtypes():
    levels = ["middle", "high", "middle"]
    enum = pl.DataFrame({"h": pl.Series(levels, dtype=pl.Enum(HEIGHTS))})
    ordered = pd.Categorical(levels, categories=HEIGHTS, ordered=True)
    for X in (enum, pd.DataFrame({"h": ordered})):
        names, matrix = read(X)
        assert names == ["h"]
        assert matrix.tolist() == [[0.5], [1.0], [0.5]]


def test_a_single_ordered_level_is_zero():
    _, matrix = read([["a"], ["a"]], {0: ["a"]})
    assert matrix.tolist() == [[0.0], [0.0]]


# ----------------------------------------------------------------------------- levels
def test_reference_levels():
    X = pd.DataFrame({"c": list("abbc")})
    for reference_level, names in (
        ("first", ["c=b", "c=c"]),
        ("last", ["c=a", "c=b"]),
        ("most_frequent", ["c=a", "c=c"]),
        (None, ["c=a", "c=b", "c=c"]),
    ):
        assert read(X, "from_dtype", reference_level)[0] == names


def test_levels_without_rows():
    X = pd.DataFrame({"c": pd.Categorical(list("bcb"), categories=list("abcd"))})
    assert read(X)[0] == ["c=c"]
    assert read(X, keeps_all_levels=True)[0] == ["c=b", "c=c", "c=d"]
    is_present = np.array([True, False, True])
    assert read(X, is_present=is_present)[0] == []
    model = LinearRegression(handle_unknown="error").fit(X, [1.0, 2.0, 3.0])
    with pytest.raises(
        ValueError, match="has the level 'a' that was not seen in training"
    ):
        model.predict(pd.DataFrame({"c": ["a"]}))


def test_a_table_without_made_columns_has_a_mean():
    model = LinearRegression().fit(pd.DataFrame({"c": ["b", "b"]}), [1.0, 2.0])
    assert model.intercept_ == pytest.approx(1.5, rel=1e-15)
    assert model.coef_.shape == (0,)
    assert model.predict(pd.DataFrame({"c": ["b"]})).tolist() == [model.intercept_]
    assert "0 of 0 columns" in model.summary()


def test_sets_declare_levels_without_order():
    X = [[3], [1], [3]]
    names, matrix = read(X, {0: {5, 3, 1}}, keeps_all_levels=True)
    assert names == ["x0=3", "x0=5"]
    assert matrix.tolist() == [[1, 0], [0, 0], [1, 0]]
    with pytest.raises(
        ValueError, match="'x0' contains 3, which is not one of the levels"
    ):
        read(X, {0: {5, 1}})


def test_rows_left_out_need_no_declared_level():
    X = pd.DataFrame({"c": ["a", "odd", "b"], "x": [1.0, np.nan, 2.0]})
    is_present = np.array([True, False, True])
    names, matrix = read(X, {"c": ["a", "b"]}, is_present=is_present)
    assert names == ["c", "x"]
    assert matrix.tolist() == [[0.0, 1.0], [1.0, 2.0]]
    model = LinearRegression(categorical_features={"c": ["a", "b"]})
    model.fit(X, [1.0, 9.0, 2.0], [1.0, 0.0, 1.0])
    np.testing.assert_allclose(model.predict(X.iloc[[0, 2]]), [1.0, 2.0])


def test_positions_of_columns():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": list("abc"), "y": [0.0, 1.0, 0.0]})
    _, design = read_design(X)
    assert [design.find_columns(position) for position in range(3)] == [
        slice(0, 1),
        slice(1, 3),
        slice(3, 4),
    ]


# ----------------------------------------------------------------------------- sparse
@pytest.mark.parametrize(
    "declared", [[0], {0: [0, 1, 2], 2: {0, 1, 3, 5}}, {1: "nominal"}]
)
def test_sparse_tables_with_levels(declared, monkeypatch):
    dense = np.array([[0, 2, 1.0], [1, 0, 0], [2, 0, 3], [0, 0, 1]])
    names, expected = read(dense, declared)
    for X in (sparse.csr_array(dense), sparse.coo_matrix(dense)):
        monkeypatch.setattr(design_module, "DENSE_CELLS", 6)  # blocks of two rows
        matrix, design = read_design(X, declared)
        assert sparse.issparse(matrix)
        assert list(design.names) == names
        assert matrix.toarray().tolist() == expected.tolist()
        assert design.read(X).toarray().tolist() == expected.tolist()


def test_many_indicators_are_sparse():
    codes = np.arange(30_000) % 3000
    X = pd.DataFrame({"c": pd.Categorical(codes), "x": codes / 3.0})
    matrix, _ = read_design(X)
    assert sparse.issparse(matrix)
    assert matrix.shape == (30_000, 3000)
    dense, _ = read_design(X.iloc[:1000])
    assert not sparse.issparse(dense)
    np.testing.assert_array_equal(matrix[:1000, :999].toarray(), dense[:, :999])
    np.testing.assert_array_equal(matrix[:, [2999]].toarray().ravel(), X["x"])


# ----------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"c": "ordinal"}, r"\['c'\] must be 'nominal', a set of levels, or a list"),
        ({"c": ["a", "a"]}, r"must be 'nominal'.*got \['a', 'a'\]"),
        ({"c": []}, r"must be 'nominal'.*got \[\]"),
        ({"c": 3}, "must be 'nominal'.*got 3"),
        ({"c": {"a": 1}}, "must be 'nominal'.*got {'a': 1}"),
        ({"c": [1.0, float("nan")]}, "must be 'nominal'"),
        ({"d": "nominal"}, "'d' which is not a valid feature name"),
        ({5: "nominal"}, r"must be in \[0, n_features - 1\] = \[0, 1\], got 5"),
        (
            {True: "nominal"},
            "keys of categorical_features must be column names or indices",
        ),
        ({"c": ["a"]}, "Column 'c' contains 'b', which is not one of the levels"),
        (None, "column 'c', row 0 contains 'a', but .* To treat its values as levels"),
    ],
)
def test_wrong_declarations(declared, message):
    X = pd.DataFrame({"c": ["a", "b"], "x": [1.0, 2.0]})
    with pytest.raises(ValueError, match=message):
        read_design(X, declared)


def test_missing_values_have_a_place():
    frame = pd.DataFrame({"c": ["a", None], "x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="NaN: column 'c', row 1. .*missing='mean'"):
        LinearRegression().fit(frame, [1, 2])
    frame = pd.DataFrame({"c": ["a", "b"], "x": pd.array([1, None], dtype="Int64")})
    with pytest.raises(ValueError, match="NaN, first in row 1, column 'x'"):
        LinearRegression().fit(frame, [1, 2])
    columns = sparse.csr_array(np.array([[0.0, 1], [1, 1], [1, 2]]))
    model = LinearRegression(categorical_features=[0]).fit(columns, [1, 2, 3])
    columns[2, 0] = np.nan
    with pytest.raises(ValueError, match="NaN: column 'x0', row 2"):
        model.predict(columns)


def test_unseen_levels_may_be_an_error():
    frame = pd.DataFrame({"c": list("abab"), "x": [1.0, 2, 3, 5]})
    new = pd.DataFrame({"c": ["a", "z"], "x": [1.0, 1.0]})
    y = [1.0, 2.0, 3.0, 4.0]
    model = LinearRegression(handle_unknown="error").fit(frame, y)
    with pytest.raises(
        ValueError,
        match=r"row 1, has the level 'z' .* were 'a', 'b'\. Or set handle_unknown",
    ):
        model.predict(new)
    ordered = LinearRegression(
        categorical_features={"c": ["a", "b"]}, handle_unknown="error"
    )
    with pytest.raises(ValueError, match="has the level 'z'"):
        ordered.fit(frame, y).predict(new)
    many = pd.DataFrame({"c": [f"level {number}" for number in range(30)]})
    model = LinearRegression(handle_unknown="error").fit(many, range(30))
    with pytest.raises(ValueError, match=r"'level 17', \.\.\.\. Or set"):
        model.predict(pd.DataFrame({"c": ["z"]}))


def make_levels(seed, n_rows=60):
    """Two columns of levels, a number, values and weights."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "town": generator.choice(list("abcde"), n_rows),
            "x": generator.standard_normal(n_rows),
            "size": pd.Categorical(
                generator.choice(["s", "m", "l"], n_rows),
                categories=["s", "m", "l"],
                ordered=True,
            ),
        }
    )
    y = frame["x"] + frame["town"].map(dict(zip("abcde", range(5), strict=True)))
    return (
        frame,
        y + generator.standard_normal(n_rows),
        generator.integers(0, 4, n_rows),
    )


@pytest.mark.parametrize("reference", ["first", "most_frequent", None, {"town": "c"}])
@pytest.mark.parametrize("makes_sparse", [False, True])
def test_an_unseen_level_has_the_mean_effect(monkeypatch, reference, makes_sparse):
    """The prediction is the weighted mean of those for the levels of the rows."""
    if makes_sparse:
        monkeypatch.setattr(design_module, "DENSE_CELLS", 1)
        monkeypatch.setattr(design_module, "SPARSE_FRACTION", 1.0)
    frame, y, weight = make_levels(0)
    model = LinearRegression(reference_level=reference).fit(frame, y, weight)
    row = frame.iloc[[7]]
    levels = [row.assign(town=level) for level in frame["town"]]
    expected = np.average(model.predict(pd.concat(levels)), weights=weight)
    with pytest.warns(UserWarning, match=r"'town' in 1 row \('z'\)") as caught:
        predicted = model.predict(row.assign(town="z"))
    assert caught[0].filename == __file__
    assert predicted[0] == pytest.approx(expected, rel=1e-12)


def test_an_unseen_ordered_level_is_in_the_middle():
    frame, y, weight = make_levels(1)
    model = LinearRegression().fit(frame, y, weight)
    sizes = [frame.iloc[[3]].assign(size=size) for size in frame["size"]]
    sizes = pd.concat(sizes).astype({"size": frame["size"].dtype})
    expected = np.average(model.predict(sizes), weights=weight)
    new = pd.concat([frame.iloc[[3]].assign(size="xl")] * 2)
    with pytest.warns(UserWarning, match=r"'size' in 2 rows \('xl'\)"):
        assert model.predict(new) == pytest.approx([expected] * 2, rel=1e-12)


def test_one_warning_names_all_columns():
    frame, y, _ = make_levels(2)
    model = LinearRegression().fit(frame, y)
    new = frame.iloc[:8].assign(town=list("vwxyzvab"), size="xl")
    message = r"'town' in 6 rows \('v', 'w', 'x', ...\); 'size' in 8 rows \('xl'\)"
    with pytest.warns(UserWarning, match=message) as caught:
        model.predict(new)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="Levels not seen") as caught:
        make_pipeline("passthrough", model).predict(new)
    assert caught[0].filename == __file__


def test_means_of_parts_are_those_of_the_whole():
    frame, y, weight = make_levels(3)
    frame["town"] = pd.Categorical(frame["town"])
    new = frame.iloc[:1].assign(town="z")
    whole = LinearRegression().partial_fit(frame, y, weight)
    parts = [
        LinearRegression().partial_fit(frame[start:stop], y[start:stop], w)
        for start, stop, w in ((0, 25, weight[:25]), (25, 60, weight[25:]))
    ]
    steps = LinearRegression().partial_fit(frame[:25], y[:25], weight[:25])
    steps.partial_fit(frame[25:], y[25:], weight[25:])
    models = [whole, parts[0].merge(parts[1]), steps]
    with pytest.warns(UserWarning, match="Levels not seen"):
        one, two, three = (model.predict(new)[0] for model in models)
    assert (two, three) == pytest.approx((one, one), rel=1e-10)
    with pytest.raises(ValueError, match="has the level 'z'"):
        steps.partial_fit(new, y[:1])


def test_reference_levels_by_column():
    frame, y, _ = make_levels(4)
    frame["b"] = np.where(np.arange(60) % 7 < 3, "yes", "no")
    model = LinearRegression(reference_level={"town": "d", 3: "yes"}).fit(frame, y)
    names = model.coef_names_.tolist()
    assert names == ["town=a", "town=b", "town=c", "town=e", "x", "size", "b=no"]
    for wrong, message in (
        ({"x": 1.0}, "key 'x', which is no nominal column; these are 'town', 'b'"),
        ({"tow": "a"}, "key 'tow'"),
        ({17: "a"}, "key 17"),
        ({"town": "z"}, r"reference_level\['town'\] must be .* 'a', .*; got 'z'"),
    ):
        with pytest.raises(ValueError, match=message):
            LinearRegression(reference_level=wrong).fit(frame, y)


@pytest.mark.parametrize("seed", range(3))
def test_rare_levels_in_cross_validation(seed):
    """As one-hot encoding, but for levels that a fold lacks."""
    frame, y, _ = make_levels(seed, 200)
    frame["rare"] = [f"only {i}" if i % 50 == 0 else "common" for i in range(200)]
    ours = LinearRegression()
    with pytest.warns(UserWarning, match="Levels not seen"):
        scores = cross_val_score(ours, frame, y, cv=5)
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town", "rare"]),
        (OrdinalEncoder(categories=[["s", "m", "l"]]), ["size"]),
        remainder="passthrough",
    )
    others = cross_val_score(make_pipeline(encoder, Ridge(1e-8)), frame, y, cv=5)
    assert np.isfinite(scores).all()
    assert scores.mean() == pytest.approx(others.mean(), abs=0.01)


def test_columns_that_are_neither_numbers_nor_levels():
    with pytest.raises(
        TypeError,
        match="'a' is of the nested dtype .* cannot be read as numbers or levels",
    ):
        LinearRegression().fit(pl.DataFrame({"a": [[1], [2]]}), [1, 2])
    with pytest.raises(TypeError, match="lazy data frame"):
        LinearRegression().fit(pl.LazyFrame({"a": [1, 2]}), [1, 2])
    with pytest.raises(ValueError, match="Complex data not supported"):
        LinearRegression().fit(pd.DataFrame({"a": [1j, 2]}), [1, 2])
    with pytest.raises(ValueError, match="infinity, first in row 1, column 'x'"):
        LinearRegression().fit(
            pd.DataFrame({"s": list("ab"), "x": [1, np.inf]}), [1, 2]
        )
