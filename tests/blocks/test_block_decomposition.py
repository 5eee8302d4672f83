"""Components and discriminants of a table in blocks are those of memory."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_limits

from sklearn_textbook import io
from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from tests.amount import FACTOR
from tests.blocks.tables import cut, draw_table

LDA = LinearDiscriminantAnalysis
#: More than one block of sums.
N_ROWS = 70_000
NAMES = ["x2", "x3", "whole", "flag", "far", "near"]


def draw_numbers(n_rows):
    """Numbers of different sizes, some far from the origin, and nearly a copy."""
    table = draw_table(n_rows)
    rng = np.random.default_rng(1)
    x2 = table["x2"].to_numpy()
    table = table.append_column("far", [1e6 + x2 + rng.normal(size=n_rows)])
    return table.append_column("near", [x2 + 1e-3 * rng.normal(size=n_rows)])


TABLE = draw_numbers(N_ROWS)


def list_columns(estimator, weight, names=NAMES):
    return [*names, *["class"][: estimator is LDA], *[weight][: weight is not None]]


def fit_memory(model, table, weight, order="C"):
    columns = [table[name].to_numpy(zero_copy_only=False) for name in NAMES]
    X = np.array(columns, dtype=np.float64, order="F" if order == "C" else "C").T
    assert X.flags.c_contiguous == (order == "C")
    options = {}
    if weight is not None:
        options["sample_weight"] = table[weight].to_numpy()
    y = table["class"].to_numpy(zero_copy_only=False) if type(model) is LDA else None
    return describe(model.fit(X, y, **options))


def fit_blocks(model, table, weight, step):
    source = cut(table, step, list_columns(type(model), weight))
    options = {} if weight is None else {"sample_weight": weight}
    model.fit(source, "class" if type(model) is LDA else None, **options)
    return describe(model)


def describe(model):
    """What a fit sets, except the names of the columns."""
    found = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(model).items()
        if name.endswith("_") and name != "feature_names_in_"
    }
    if "design_" in found:
        found["design_"] = found["design_"].to_dict()
    return found


CASES = {
    "components": (PCA, None, {"n_components": 3}),
    "components, weights": (PCA, "w", {}),
    "components, a fraction": (PCA, "w", {"n_components": 0.9, "standardize": True}),
    "components of rows": (PCA, None, {"svd_solver": "full", "n_components": "mle"}),
    "components of rows, weights": (
        PCA,
        "w",
        {"svd_solver": "full", "standardize": True, "whiten": True},
    ),
    "vectors": (TruncatedSVD, None, {"n_components": 3, "algorithm": "lapack"}),
    "vectors, narrow": (TruncatedSVD, None, {"n_components": 2}),
    "vectors, gram": (TruncatedSVD, None, {"n_components": 4, "algorithm": "gram"}),
    "discriminants": (LDA, None, {"store_covariance": True}),
    "discriminants, weights": (LDA, "w", {"priors": [0.2, 0.3, 0.5]}),
    "discriminants of rows": (LDA, "w", {"tol": 0.0}),
    "discriminants, lsqr": (LDA, "w", {"solver": "lsqr"}),
    "discriminants, Ledoit and Wolf": (
        LDA,
        None,
        {"solver": "lsqr", "shrinkage": "auto"},
    ),
    "discriminants, eigen": (LDA, None, {"solver": "eigen", "shrinkage": 0.2}),
}


@pytest.mark.parametrize("case", list(CASES))
def test_the_model_is_that_of_memory(case):
    estimator, weight, options = CASES[case]
    model = estimator(**options)
    with threadpool_limits(1):
        expected = fit_memory(model, TABLE, weight)
        assert fit_memory(model, TABLE, weight, order="F") == expected
    for step, n_threads in ((1000, 1), (65_536, 2), (N_ROWS, 1))[: 1 + 2 * FACTOR]:
        with threadpool_limits(n_threads):
            assert fit_blocks(model, TABLE, weight, step) == expected


LEVELS = {
    "components, missing values dropped": (PCA, "w", {"missing": "drop"}),
    "components, means": (PCA, None, {"missing": "mean", "svd_solver": "full"}),
    "discriminants, missing values dropped": (LDA, None, {"missing": "drop"}),
    "discriminants, means": (LDA, "w", {"missing": "mean", "solver": "lsqr"}),
    "no missing values": (LDA, "w", {"missing": "error"}),
}


@pytest.mark.parametrize("case", list(LEVELS))
def test_text_dates_and_missing_values(case):
    estimator, weight, options = LEVELS[case]
    names = ["x2", "whole", "flag", "size"]
    if options["missing"] != "error":
        names += ["x0", "text", "day"]
    orders = {"size": ["small", "large"], "flag": "nominal"}
    for categorical in ("from_dtype", orders)[: 1 + (options["missing"] == "error")]:
        model = estimator(categorical_features=categorical, **options)
        options_of_fit, y = {}, None
        if weight is not None:
            options_of_fit["sample_weight"] = TABLE[weight].to_numpy()
        if estimator is LDA:
            y = TABLE["class"].to_numpy(zero_copy_only=False)
        expected = describe(model.fit(TABLE.select(names), y, **options_of_fit))
        for step in (1000, N_ROWS):
            source = cut(TABLE, step, list_columns(estimator, weight, names))
            fit = {} if weight is None else {"sample_weight": weight}
            model.fit(source, None if y is None else "class", **fit)
            assert describe(model) == expected
        rows = TABLE.slice(0, 2000)
        found = model.transform(cut(rows, 700)) if estimator is PCA else None
        if found is not None:
            expected = model.transform(rows.select(names))
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        PCA(),
        PCA(standardize=True, svd_solver="full"),
        TruncatedSVD(),
        TruncatedSVD(algorithm="gram"),
        LDA(),
        LDA("eigen"),
    ],
)
def test_threads_of_blas_change_nothing(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 20)) @ rng.normal(size=(20, 20)) + 0.3
    y, w = rng.integers(0, 12, N_ROWS), rng.random(N_ROWS)
    weights = [{}] if isinstance(model, TruncatedSVD) else [{}, {"sample_weight": w}]
    for weight in weights:
        with threadpool_limits(1):
            expected = describe(model.fit(X, y, **weight))
        with threadpool_limits(2):
            assert describe(model.fit(X, y, **weight)) == expected


SMALL = {
    "wide": (LDA, "w", {"shrinkage": "auto", "solver": "eigen"}),
    "all rows": (PCA, "w", {"svd_solver": "arpack", "n_components": 2}),
    "a random start": (PCA, None, {"svd_solver": "randomized", "n_components": 2}),
    "jacobi": (TruncatedSVD, None, {"algorithm": "jacobi"}),
    "propack": (TruncatedSVD, None, {"algorithm": "propack"}),
}


@pytest.mark.parametrize("case", list(SMALL))
def test_a_single_block_allows_everything(case):
    estimator, weight, options = SMALL[case]
    if "random_state" in estimator().get_params():
        options = options | {"random_state": 0}
    table, model = TABLE.slice(0, 300), estimator(**options)
    expected = fit_memory(model, table, weight)
    assert fit_memory(model, table, weight, order="F") == expected
    assert fit_blocks(model, table, weight, 70) == expected


def test_single_precision():
    frame = TABLE.select(["x2", "x3", "whole"]).to_pandas().astype(np.float32)

    def cut_frame(frame):
        return io.Batches(lambda: (frame[k : k + 9000] for k in range(0, N_ROWS, 9000)))

    for model in (PCA(2), PCA(2, svd_solver="full"), TruncatedSVD()):
        expected = describe(model.fit(frame))
        assert model.components_.dtype == np.float32
        assert describe(model.fit(cut_frame(frame))) == expected
        assert model.components_.dtype == np.float32
    # One column of double precision is enough, as in memory.
    wide = frame.astype({"whole": np.float64})
    assert PCA().fit(cut_frame(wide)).components_.dtype == np.float64
    parts = [frame[:100], wide[100:200]]
    mixed = PCA().fit(io.Batches(lambda: iter(parts)))
    assert mixed.components_.dtype == np.float64
    assert describe(mixed) == describe(PCA().fit(pd.concat(parts)))


def test_values_whose_squares_overflow():
    table = TABLE.select(["x2", "class"]).append_column(
        "large", [TABLE["x3"].to_numpy() * 1e200]
    )
    X = table.select(["x2", "large"])
    y = table["class"].to_numpy(zero_copy_only=False)
    expected = describe(LDA().fit(X, y))
    assert describe(LDA().fit(cut(table, 9000), "class")) == expected
    with pytest.raises(ValueError, match="'large' has a variance that is too large"):
        PCA().fit(cut(X, 9000))


def test_rows_of_blocks_are_transformed_and_predicted():
    table = TABLE.slice(0, 3000)
    X, y = table.select(NAMES), table["class"].to_numpy(zero_copy_only=False)
    blocks, weight = cut(table, 700), table["w"].to_numpy()
    pca, svd, lda = PCA(2).fit(X), TruncatedSVD().fit(X), LDA().fit(X, y)
    calls = [
        *((pca, name) for name in ("transform", "squared_cosines", "score_samples")),
        (svd, "transform"),
        *((lda, name) for name in ("transform", "predict", "predict_proba")),
        *((lda, name) for name in ("decision_function", "predict_log_proba")),
    ]
    for model, name in calls:
        found = getattr(model, name)(blocks)
        expected = getattr(model, name)(X)
        if name == "predict":
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert pca.score(blocks) == pytest.approx(pca.score(X), rel=1e-12)
    found = pca.score(blocks, sample_weight="w")
    assert found == pytest.approx(pca.score(X, sample_weight=weight), rel=1e-12)
    assert lda.score(blocks, "class") == lda.score(X, y)
    assert lda.score(blocks, "class", "w") == lda.score(X, y, weight)
    only = cut(table, 700, NAMES)
    for model in (PCA(2), TruncatedSVD()):
        found = model.fit_transform(only)
        np.testing.assert_allclose(found, model.fit_transform(X), atol=1e-6)


def test_transformed_rows_are_written(tmp_path):
    table = TABLE.slice(0, 3000)
    pca = PCA(2).fit(table.select(NAMES))
    path = tmp_path / "scores.parquet"
    assert io.predict_to(pca, cut(table, 700), path, method="transform") == 3000
    written = pq.read_table(path)
    assert written.column_names == ["pca0", "pca1"]
    found = written.to_pandas().to_numpy()
    np.testing.assert_allclose(found, pca.transform(table.select(NAMES)), atol=1e-8)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PCA(svd_solver="arpack"), "svd_solver='arpack' needs all rows at once"),
        (PCA(2, svd_solver="randomized"), "svd_solver='randomized' needs all rows"),
        (TruncatedSVD(algorithm="arpack"), "algorithm='arpack' needs all rows"),
        (TruncatedSVD(algorithm="jacobi"), "algorithm='jacobi' needs all rows"),
        (TruncatedSVD(n_iter=0, n_oversamples=1, n_components=1), "'randomized' needs"),
        (LDA("eigen", covariance_estimator=PCA()), "covariance_estimator=PCA.* needs"),
    ],
)
def test_what_blocks_do_not_allow(model, message):
    with pytest.raises(ValueError, match=message):
        fit_blocks(model, TABLE, None, 40_000)


def test_errors():
    table = TABLE.slice(0, 300)
    with pytest.raises(ValueError, match="y must be None, as the model has no target"):
        PCA().fit(cut(table, 70, NAMES), "x2")
    with pytest.raises(TypeError, match="y must be the name of a column of"):
        LDA().fit(cut(table, 70, NAMES), None)
    with pytest.raises(TypeError, match="sample_weight must be the name of a column"):
        PCA().fit(cut(table, 70, NAMES), sample_weight=np.ones(300))
    with pytest.raises(TypeError, match="partial_fit takes rows in memory"):
        PCA().partial_fit(cut(table, 70, NAMES))
    with pytest.raises(ValueError, match="x0.*column 'text', row 0|column 'text', row"):
        PCA().fit(cut(table, 70, ["x2", "text"]))
    with pytest.raises(TypeError, match="dates and durations are not numbers"):
        LDA().fit(cut(table, 70, ["x2", "day", "class"]), "class")
    with pytest.raises(ValueError, match="minimum of 2 is required by PCA"):
        PCA().fit(cut(table.slice(0, 1), 70, NAMES))
    fitted = PCA().fit(table.select(NAMES).to_pandas().to_numpy(float))
    with pytest.raises(ValueError, match="was fitted to a table without them"):
        fitted.transform(cut(table, 70, NAMES))


def test_a_missing_value_counts_if_its_row_does():
    values = TABLE["x2"].to_numpy().copy()
    values[66_000] = np.nan
    table = TABLE.set_column(TABLE.column_names.index("x2"), "x2", [values])
    message = (
        "contains NaN, first in row 464, column 'x2'.* from row 65536 of the table"
    )
    for model in (PCA(), TruncatedSVD(), LDA()):
        with pytest.raises(ValueError, match=message):
            fit_blocks(model, table, None, 9000)
    weight = TABLE["w"].to_numpy().copy()
    weight[66_000] = 0.0
    table = table.set_column(table.column_names.index("w"), "w", [weight])
    for model in (PCA(), LDA()):
        expected = fit_memory(model, table, "w")
        assert fit_blocks(model, table, "w", 9000) == expected


@pytest.mark.parametrize("weight", [None, "w"])
def test_shrinkage_of_a_class_of_more_than_a_block(weight, monkeypatch):
    labels = np.where(np.arange(N_ROWS) % 50 == 0, "rare", "frequent")
    table = TABLE.select(["x2", "far", "whole", "w"]).append_column("y", [labels])
    table = table.append_column("large", [TABLE["x3"].to_numpy() * 1e200])
    names, of_rows = ["x2", "far", "whole", "large"], None
    if weight is not None:
        # Positive weights, of which more than a block remain.
        of_rows = table["w"].to_numpy() + 0.1
        table = table.set_column(table.column_names.index("w"), "w", [of_rows])
    model = LDA("eigen", "auto").fit(table.select(names), labels, of_rows)
    expected = describe(model)
    columns = [*names, "y", *[weight][: weight is not None]]
    model.fit(cut(table, 9000, columns), "y", sample_weight=weight)
    assert describe(model) == expected
    module = "sklearn_textbook.discriminant_analysis.covariance"
    monkeypatch.setattr(f"{module}.BLOCK_ROWS", N_ROWS)
    whole = LDA("eigen", "auto").fit(table.select(names), labels, of_rows)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9)


def test_a_triangle_has_the_discriminants_of_the_rows(monkeypatch):
    X = TABLE.select(NAMES)
    y = TABLE["class"].to_numpy(zero_copy_only=False)
    model = LDA(tol=0.0).fit(X, y)
    module = "sklearn_textbook.discriminant_analysis.class_table"
    monkeypatch.setattr(f"{module}.BLOCK_ROWS", N_ROWS)
    whole = LDA(tol=0.0).fit(X, y)
    assert (whole.coef_ != model.coef_).any()
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7)


def test_a_class_without_weight_is_none():
    labels = np.where(np.arange(N_ROWS) % 7 == 0, "other", "one")
    labels[::2] = "two"
    weight = np.where(labels == "other", 0.0, 1.5)
    table = pa.table({"x2": TABLE["x2"], "far": TABLE["far"], "y": labels, "w": weight})
    model = LDA().fit(cut(table, 9000), "y", sample_weight="w")
    assert model.classes_.tolist() == ["one", "two"]
    expected = describe(LDA().fit(table.select(["x2", "far"]), labels, weight))
    assert describe(model) == expected


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    """Neither after a fit nor after an error while the rows are read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    PCA().fit(cut(TABLE, 9000, NAMES))
    LDA().fit(cut(TABLE, 9000, [*NAMES, "class"]), "class")
    assert [*Path(tmp_path).iterdir()] == []

    def make_blocks():
        yield TABLE.select(NAMES).slice(0, 100)
        raise OSError("the connection is lost")

    fitted = TruncatedSVD().fit(TABLE.select(NAMES[:3]))
    with pytest.raises(OSError, match="connection"):
        fitted.fit(io.Batches(make_blocks, NAMES))
    assert [*Path(tmp_path).iterdir()] == []
    assert fitted.n_features_in_ == 3
