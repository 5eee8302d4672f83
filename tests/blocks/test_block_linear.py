"""A linear model of a table read in blocks is that of the same rows, bit for bit."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook.io import Batches
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    MaxEntClassifier,
)
from tests.amount import FACTOR
from tests.blocks.tables import cut, draw_frame, draw_table, list_features

#: More than one block of sums.
N_ROWS = 70_000
TABLE = draw_table(N_ROWS)
NAMES = list_features(TABLE)


def make_special(table):
    """Add columns that depend on others, or are tiny, and classes to separate."""
    x2, x3 = (table[name].to_numpy() for name in ("x2", "x3"))
    noise = np.random.default_rng(1).normal(size=(3, len(x2)))
    columns = {
        "twin": 2.0 * x2 - x3,
        "near": x2 + 1e-6 * noise[0],
        "tiny": 1e-130 * noise[1],
        "time": 0.5 + np.abs(noise[0]),
        "amount": 0.1 + np.abs(table["value"].to_numpy()),
        "claims": table["value"].to_numpy().clip(0.0),
        "share": 1.0 / (1.0 + np.exp(table["value"].to_numpy())),
        "sign": np.where(x2 > 0.5, "above", "below"),
        "group": np.rint(4.0 * x2 + noise[2]).clip(-12, 12).astype(int),
    }
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table


TABLE = make_special(TABLE)
#: Numbers alone, some of which are missing, and columns with few levels: their design
#: matrix is dense, that of all columns sparse.
NUMBERS = ["x0", "x1", "x2", "x3", "whole", "single"]
SPECIAL = ["x2", "x3", "twin", "near", "tiny"]
FEW = ["x2", "x3", "whole", "text", "flag", "size", "day"]

MEAN, DROP = {"missing": "mean"}, {"missing": "drop"}

CASES = {
    "all columns": (LinearRegression, "value", None, NAMES, MEAN),
    "weights": (LinearRegression, "value", "w", NAMES, MEAN),
    "complete rows": (LinearRegression, "value", "w", NAMES, DROP),
    "no intercept": (
        LinearRegression,
        "count",
        "w",
        NAMES,
        {**DROP, "fit_intercept": False, "weight_type": "variance"},
    ),
    "ridge": (LinearRegression, "value", "w", FEW, {**MEAN, "alpha": 3.0}),
    "numbers": (LinearRegression, "value", None, NUMBERS, DROP),
    "numbers without gaps": (LinearRegression, "value", "w", ["x2", "x3"], {}),
    "one column": (LinearRegression, "value", "w", ["single"], DROP),
    "not negative": (
        LinearRegression,
        "value",
        None,
        NUMBERS,
        {**MEAN, "positive": True},
    ),
    "declared levels": (
        LinearRegression,
        "value",
        "w",
        ["x2", "text", "size", "flag"],
        {
            **MEAN,
            "categorical_features": {
                "text": ["v", "w", "x", "y", "z"],
                "size": {"small", "middle", "large"},
                "flag": "nominal",
            },
            "reference_level": "most_frequent",
        },
    ),
    "two classes": (LogisticRegression, "answer", "w", NAMES, MEAN),
    "three classes": (LogisticRegression, "class", None, FEW, MEAN),
    "penalty": (
        LogisticRegression,
        "class",
        "w",
        NAMES,
        {**DROP, "C": 0.1, "solver": "lbfgs", "class_weight": "balanced"},
    ),
    "absolute values": (
        LogisticRegression,
        "answer",
        "w",
        FEW,
        {**MEAN, "C": 0.01, "l1_ratio": 0.7, "class_weight": {"yes": 3.0, "no": 0.5}},
    ),
    "gradient descent": (
        LogisticRegression,
        "answer",
        None,
        NUMBERS,
        {**DROP, "solver": "gradient", "max_iter": 5, "fit_intercept": False},
    ),
    "penalty of the intercept": (
        LogisticRegression,
        "answer",
        None,
        FEW,
        {**MEAN, "solver": "liblinear", "C": 0.5},
    ),
    "BFGS": (
        LogisticRegression,
        "class",
        "w",
        NUMBERS,
        {**MEAN, "solver": "bfgs", "parametrization": "symmetric", "max_iter": 4},
    ),
    # Columns and classes of `make_special`.
    "dependent columns": (LogisticRegression, "answer", "w", SPECIAL, {}),
    "dependent columns and L-BFGS": (
        LogisticRegression,
        "class",
        None,
        SPECIAL,
        {"solver": "lbfgs"},
    ),
    "separable classes": (LogisticRegression, "sign", None, ["x2", "x3"], MEAN),
    "poisson": (
        GeneralizedLinearRegressor,
        "count",
        "w",
        FEW,
        {**MEAN, "family": "poisson"},
        {"exposure": "time"},
    ),
    "gamma": (
        GeneralizedLinearRegressor,
        "amount",
        None,
        NUMBERS,
        {**MEAN, "family": "gamma", "link": "log", "alpha": 0.1},
        {"exposure": "time", "offset": "share"},
    ),
    "shares": (
        GeneralizedLinearRegressor,
        "share",
        "w",
        NAMES,
        {**DROP, "family": "binomial", "link": "probit", "weight_type": "variance"},
    ),
    "claims": (
        GeneralizedLinearRegressor,
        "claims",
        "w",
        ["x2", "x3"],
        {"family": "tweedie", "link": "log", "fit_intercept": False, "max_iter": 4},
        {"offset": "time"},
    ),
    "logarithm of the target": (
        GeneralizedLinearRegressor,
        "amount",
        "w",
        NUMBERS,
        {**DROP, "transform_y": "log", "retransform": "smearing"},
    ),
    "dropped columns": (
        GeneralizedLinearRegressor,
        "value",
        None,
        ["x2", "twin", "x3", "near"],
        {"dependent_columns": "drop", "dispersion": "deviance"},
    ),
    "many classes": (LogisticRegression, "group", "w", ["x2", "x3"], {"max_iter": 4}),
}


def take_numbers(model):
    """The numbers of a model that predictions and tests depend on."""
    numbers = [model.coef_, model.intercept_]
    if isinstance(model, LinearRegression):
        rows = model._rows
        numbers += [rows.triangle, rows.targets, rows.residual, rows.total_weight]
        numbers += [model.r_squared_, model.log_likelihood_, model.standard_errors_]
        numbers += [model.f_statistic_, model.rank_, rows.sum_log_weight]
        numbers += [rows.has_fractions]
    if isinstance(model, GeneralizedLinearRegressor):
        numbers += [model.deviance_path_, model.null_deviance_, model.covariance_]
        numbers += [model.log_likelihood_, model.aic_, model.dispersion_, model.rank_]
        numbers += [model.retransformation_factor_, model.standard_errors_]
    if isinstance(model, LogisticRegression):
        numbers += [model.classes_, model.loss_path_, model.log_likelihood_]
        numbers += [model.null_log_likelihood_, model.rank_, model.separation_]
        numbers += [model.n_observations_, getattr(model, "covariance_", 0.0)]
    return numbers


def assert_same(found, expected):
    assert found.design_ == expected.design_
    assert found.design_.to_dict() == expected.design_.to_dict()
    for one, other in zip(take_numbers(found), take_numbers(expected), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
@pytest.mark.filterwarnings("ignore:Standard errors, degrees of freedom and tests")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", list(CASES))
def test_the_model_is_that_of_memory(case):
    estimator, target, weight, features, options, *vectors = CASES[case]
    X, y = TABLE.select(features), TABLE[target].to_numpy(zero_copy_only=False)
    vectors = vectors[0] if vectors else {}
    arrays = {role: TABLE[name].to_numpy() for role, name in vectors.items()}
    weights = None if weight is None else TABLE[weight].to_numpy()
    expected = estimator(n_jobs=2, **options).fit(X, y, weights, **arrays)
    names = [*features, target, *([weight] if weight else []), *vectors.values()]
    for step, n_jobs in ((1000, 1), (65_536, 2), (N_ROWS, 1))[: 1 + 2 * FACTOR]:
        model = estimator(n_jobs=n_jobs, **options)
        source = cut(TABLE, step, names)
        model.fit(source, target, sample_weight=weight, **vectors)
        assert_same(model, expected)
    assert model.n_features_in_ == len(features)
    assert model.feature_names_in_.tolist() == features
    blocks = cut(TABLE, 9999, names)
    find = model.decision_function if is_classifier(model) else model.predict
    expect = expected.decision_function if is_classifier(model) else expected.predict
    np.testing.assert_array_equal(find(blocks, **vectors), expect(X, **arrays))
    if options.get("missing") != "drop":
        score = model.score(blocks, target, sample_weight=weight, **vectors)
        assert score == expected.score(X, y, sample_weight=weights, **arrays)


def test_errors_of_means_and_levels_that_are_new():
    rows = TABLE.slice(0, 3000)
    names = [*FEW, "value"]
    model = LinearRegression(missing="mean").fit(cut(rows, 700, names), "value")
    for found, expected in zip(
        model.predict(cut(rows, 11), return_std=True),
        model.predict(rows.select(FEW), return_std=True),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    frame = draw_frame(200)[FEW]
    frame.loc[[3, 150], "text"] = "never seen"
    frame["size"] = frame["size"].astype(str)
    source = cut(pa.Table.from_pandas(frame, preserve_index=False), 60)
    with pytest.warns(UserWarning, match="not seen in training: 'text' in 2 rows. "):
        found = model.predict(source)
    with pytest.warns(UserWarning, match=r"'text' in 2 rows \('never seen'\)"):
        np.testing.assert_array_equal(found, model.predict(frame))
    model.set_params(handle_unknown="error")
    with pytest.raises(ValueError, match="Column 'text', row 3, has a level that was"):
        model.predict(source)


def test_layouts_of_a_table_in_memory_have_the_same_bits():
    X = np.random.default_rng(0).normal(size=(N_ROWS, 5))
    y = X.sum(axis=1)
    for table in (X[:, :1], X):
        models = [
            LinearRegression(fit_intercept=False).fit(form, y)
            for form in (table, np.asfortranarray(table), pd.DataFrame(table.copy()))
        ]
        for other in models[1:]:
            for one, two in zip(*map(take_numbers, (models[0], other)), strict=True):
                np.testing.assert_array_equal(one, two)


REFUSED = [
    ({}, {}, "NaN, first in row 29, column 'x0'"),
    ({"x0": "text"}, {}, "contains NaN: column 'text', row 29"),
    ({"value": "flaw"}, {}, "y has a missing value in row 9: drop this row. Rows"),
    ({"w": "below"}, {}, "not be negative, got -1.0 in row 9. Rows are counted"),
    ({"w": "nothing"}, {}, "All sample weights are zero"),
    ({"x0": "gaps"}, DROP, "leaves none; column 'gaps' has the most"),
    ({"x0": "huge"}, {}, "'huge' has the value 1e[+]150 in row 29, .* overflows"),
    ({"value": "huge"}, MEAN, "y has the value 1e[+]150 in row 29"),
    ({}, {**MEAN, "reference_level": {"x0": 1}}, "the key 'x0', which is no nominal"),
    (
        {"x0": "text"},
        {**MEAN, "categorical_features": {"text": ["a", "b"]}},
        "contains 'c', which is not one of the levels declared",
    ),
]


@pytest.mark.parametrize(("change", "options", "message"), REFUSED)
def test_errors(change, options, message, tmp_path, monkeypatch):
    rows = np.arange(60)
    flaw = np.where(rows == 29, np.nan, 1.0)
    columns = {
        "x0": flaw * rows,
        "text": ["abc"[row % 3] if row != 29 else None for row in rows],
        "flaw": flaw,
        "below": np.where(rows == 29, -1.0, 1.0),
        "nothing": np.zeros(60),
        "gaps": pa.nulls(60, pa.float64()),
        "huge": np.where(rows == 29, 1e150, 1.0),
        "value": rows * 1.0,
        "w": np.ones(60),
    }
    names = [change.get(name, name) for name in ("x0", "value", "w")]
    source = cut(pa.table(columns), 20, names)
    model = LinearRegression(**options)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ValueError, match=message):
        model.fit(source, names[1], sample_weight=names[2])
    assert [*Path(tmp_path).iterdir()] == []
    assert not hasattr(model, "design_")


def test_rows_of_later_blocks_are_named():
    numbers = np.zeros(66_000)
    numbers[65_600] = np.nan
    table = pa.table({"x": numbers, "y": np.ones(66_000)})
    with pytest.raises(ValueError, match="row 64, .* counted from row 65536 of the"):
        LinearRegression().fit(cut(table, 9000), "y")


@pytest.mark.parametrize("solver", ["lbfgs", "iis"])
@pytest.mark.parametrize("missing", ["mean", "drop"])
def test_maximum_entropy(solver, missing):
    X, y = TABLE.select(FEW), TABLE["class"].to_numpy(zero_copy_only=False)
    options = {
        "solver": solver,
        "missing": missing,
        "class_weight": "balanced",
        "max_iter": 20,
    }
    expected = MaxEntClassifier(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected.fit(X, y, sample_weight=TABLE["w"])
        blocks = cut(TABLE, 9999, [*FEW, "class", "w"])
        model = MaxEntClassifier(**options).fit(blocks, "class", sample_weight="w")
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)
    assert model.design_.to_dict() == expected.design_.to_dict()
    blocks, found = cut(TABLE, 9999, FEW), model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(blocks), found)


def test_maximum_entropy_of_other_features_is_refused():
    blocks = cut(TABLE.slice(0, 100), 30, ["x2", "class"])
    model = MaxEntClassifier(features=[lambda x, y: x[0] * (y == "low")])
    with pytest.raises(ValueError, match="must be of a table in memory; of a table"):
        model.fit(blocks, "class")


def test_classes():
    rows = TABLE.slice(0, 200)
    frame = rows.select(["x2", "answer", "class"]).to_pandas()
    frame["w"] = (frame["class"] != "middle") * 1.0
    table = pa.Table.from_pandas(frame, preserve_index=False)
    model = LogisticRegression(C=1.0)
    model.fit(cut(table, 90, ["x2", "class", "w"]), "class", "w")
    assert model.classes_.tolist() == ["high", "low"]
    expected = LogisticRegression(C=1.0).fit(frame[["x2"]], frame["class"], frame["w"])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    blocks = cut(table, 30)
    np.testing.assert_array_equal(
        model.predict_proba(blocks), expected.predict_proba(frame[["x2"]])
    )
    assert model.predict(blocks).tolist() == expected.predict(frame[["x2"]]).tolist()
    exact = LogisticRegression(separation="exact").fit(
        cut(table, 90, ["x2", "class", "w"]), "class", "w"
    )
    assert exact.separation_ == "none"
    one = table.filter([name == "yes" for name in frame["answer"]])
    with pytest.raises(ValueError, match="contains only one class: 'yes'"):
        LogisticRegression().fit(cut(one, 7, ["x2", "answer"]), "answer")
    with pytest.raises(ValueError, match="weights above 0; got 0 for class 'yes'"):
        model.set_params(class_weight={"yes": 0}).fit(blocks, "answer")


@pytest.mark.parametrize(
    ("options", "vectors", "message"),
    [
        ({"family": "gamma"}, {}, "must be numbers above 0 for the family 'gamma'"),
        ({"family": "gamma"}, {"exposure": "x2"}, "requires the link 'log', with whi"),
        ({"link": "log"}, {"exposure": "x2"}, "exposure must be above 0, got -"),
        ({}, {"offset": "lacking"}, "offset='lacking' is not a column"),
        ({}, {"offset": "x0"}, "offset has .* missing values, first in row"),
        ({"transform_y": "log"}, {}, "requires targets above 0, got "),
    ],
)
def test_errors_of_generalised_models(options, vectors, message):
    names = ["x0", "x2", "x3", "value"]
    model = GeneralizedLinearRegressor(**MEAN, **options)
    with pytest.raises(ValueError, match=message):
        model.fit(cut(TABLE.slice(0, 200), 90, names), "value", **vectors)


def test_what_needs_all_rows_is_refused(monkeypatch):
    rows = TABLE.slice(0, 300)
    names = ["x2", "text", "value"]
    source = cut(rows, 100, names)
    model = LinearRegression(missing="drop").fit(source, "value")
    for method in (model.partial_fit, model.influence, model.summary):
        with pytest.raises(TypeError, match="needs all of its rows in memory"):
            method(source, "value")
    with pytest.raises(TypeError, match="y must be the name of a column"):
        model.fit(source, rows["value"])
    with pytest.raises(ValueError, match="sample_weight='weight' is not a column"):
        model.fit(source, "value", "weight")
    with pytest.raises(ValueError, match="y has 'target', which is not a column"):
        model.score(source, "target")
    with pytest.raises(ValueError, match="has no rows"):
        model.predict(Batches(lambda: iter([]), names))
    model.fit(rows.select(["x2"]).to_pandas().to_numpy(), rows["value"].to_numpy())
    with pytest.raises(ValueError, match="was fitted to a table without them"):
        model.predict(source)
    monkeypatch.setattr("sklearn_textbook.linear_model.design.design.DENSE_CELLS", 100)
    monkeypatch.setattr(
        "sklearn_textbook.linear_model.least_squares.linear_regression.MAX_SPARSE_WORK",
        100,
    )
    source = cut(rows, 100, ["many", "value"])
    with pytest.raises(ValueError, match="so large that it is fitted iteratively"):
        LinearRegression(missing="mean").fit(source, "value")
