"""Missing values: left out of the fit, or filled in with means and indicators."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone, is_classifier

from sklearn_textbook.decomposition import PCA
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    NegativeCorrelationRegressor,
)
from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    MaxEntClassifier,
)
from sklearn_textbook.linear_model.design import read_design

TEXT = {"categorical_features": "from_dtype"}
MODELS = [
    LinearRegression(),
    LinearRegression(alpha=2.0),
    GeneralizedLinearRegressor(),
    LogisticRegression(C=1.0),
    MaxEntClassifier(alpha=1.0),
    LinearDiscriminantAnalysis(**TEXT),
    PCA(2, **TEXT),
    BayesianModelAveragingRegressor(),
    BayesianModelAveragingClassifier(),
    NegativeCorrelationRegressor(n_estimators=2, max_iter=500, random_state=0),
]


def draw_table(seed=0, n_rows=120, share=0.1):
    """Numbers, text and ordered levels, all with gaps; a target of numbers."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n_rows),
            "job": rng.choice(["cook", "judge", "nurse"], n_rows).astype(object),
            "size": pd.Categorical(
                rng.choice(["S", "M", "L"], n_rows), ["S", "M", "L"], ordered=True
            ),
            "pay": rng.gamma(2.0, 10.0, n_rows),
        }
    )
    y = 0.1 * table["age"] + 2.0 * (table["job"] == "cook") + rng.normal(size=n_rows)
    for name in ("age", "job", "size"):
        table.loc[rng.uniform(size=n_rows) < share, name] = None
    return table, y.to_numpy()


def make_target(model, y):
    return (y > np.median(y)).astype(int) if is_classifier(model) else y


def answer(model, X):
    for name in ("predict_proba", "transform", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(X)
    raise AssertionError(model)


def fill_by_hand(table, train, levels=("judge", "nurse")):
    """The documented matrix: means of the training rows, and their indicators."""
    present = table[train]
    columns = {"age": table["age"].fillna(present["age"].mean())}
    columns["missing(age)"] = table["age"].isna()
    jobs = present["job"].dropna()
    for job in levels:
        share = (jobs == job).mean()
        columns[f"job={job}"] = np.where(
            table["job"].isna(), share, table["job"] == job
        )
    columns["missing(job)"] = table["job"].isna()
    codes = table["size"].cat.codes.to_numpy() / 2.0
    is_missing = table["size"].isna().to_numpy()
    columns["size"] = np.where(is_missing, codes[train & ~is_missing].mean(), codes)
    columns["missing(size)"] = is_missing
    columns["pay"] = table["pay"]
    return pd.DataFrame(columns).astype(float)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_drop_fits_the_complete_rows(model):
    table, y = draw_table()
    y = make_target(model, y)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    complete = table.notna().all(axis=1).to_numpy()
    assert 60 < complete.sum() < 110
    options = {} if "Negative" in repr(model) else {"sample_weight": weight}
    dropped = clone(model).set_params(missing="drop").fit(table, y, **options)
    options = {name: each[complete] for name, each in options.items()}
    expected = clone(model).fit(table[complete], y[complete], **options)
    assert dropped.design_.n_dropped == (~complete).sum()
    given = answer(dropped, table)
    assert_allclose(
        given[complete], answer(expected, table[complete]), rtol=1e-9, atol=1e-9
    )
    assert np.isnan(given[~complete]).all()
    if is_classifier(model):
        first = int(np.argmin(complete))
        with pytest.raises(ValueError, match=f"first row {first}: with missing='drop'"):
            dropped.predict(table)
        assert set(dropped.predict(table[complete])) == {0, 1}


@pytest.mark.parametrize("model", MODELS[:7], ids=repr)
def test_mean_equals_means_and_indicators_by_hand(model):
    table, y = draw_table()
    y = make_target(model, y)
    train = np.arange(len(y)) < 90
    levels = ("cook", "judge", "nurse")[
        not isinstance(model, (MaxEntClassifier, PCA)) :
    ]
    filled = fill_by_hand(table, train, levels)
    own = clone(model).set_params(missing="mean").fit(table[train], y[train])
    plain = clone(model).fit(filled[train], y[train])
    assert list(own.design_.names) == list(filled.columns)
    if hasattr(own, "coef_"):
        assert_allclose(own.coef_, plain.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(answer(own, table), answer(plain, filled), rtol=1e-6, atol=1e-8)


def test_components_of_levels_and_gaps():
    table, _ = draw_table()
    everything = np.ones(len(table), dtype=bool)
    filled = fill_by_hand(table, everything, ("cook", "judge", "nurse"))
    own = PCA(3, missing="mean", **TEXT).fit(table)
    plain = PCA(3).fit(filled)
    assert own.design_.names == tuple(filled.columns)
    assert own.n_features_in_ == 4
    assert own.components_.shape == (3, 9)
    assert_allclose(own.components_, plain.components_, atol=1e-10)
    assert_allclose(own.fit_transform(table), plain.transform(filled), atol=1e-8)


def test_weights_of_the_means():
    X = np.array([[1.0], [np.nan], [4.0]])
    y = [0.0, 1.0, 2.0]
    model = LinearRegression(missing="mean")
    model.fit(X, y, sample_weight=[1.0, 5.0, 2.0])
    assert model.design_.terms[0].means == (3.0, 0.0)
    assert model.coef_names_.tolist() == ["x0", "missing(x0)"]


def test_columns_with_the_same_gaps_share_an_indicator():
    X = np.array([[1.0, 2, 3], [np.nan, np.nan, 1], [2, 5, np.nan], [4, 1, 0]])
    _, design = read_design(X, missing="mean")
    assert design.names == ("x0", "missing(x0)", "x1", "x2", "missing(x2)")
    matrix = design.read([[np.nan, np.nan, 7.0]])
    assert_allclose(matrix, [[7 / 3, 1, 8 / 3, 7, 0]])


def test_gaps_where_training_rows_have_none():
    X = np.array([[1.0, 5.0], [2.0, 3.0], [6.0, 4.0]])
    model = LinearRegression(missing="mean").fit(X, [1.0, 2.0, 3.0])
    assert model.coef_names_.tolist() == ["x0", "x1"]
    assert_allclose(model.predict([[np.nan, 4.0]]), model.predict([[3.0, 4.0]]))


def test_column_without_any_value_is_left_out():
    table = pd.DataFrame({"x": [1.0, 2.0, 4.0], "none": [np.nan] * 3})
    model = LinearRegression(missing="mean").fit(table, [1.0, 2.0, 4.0])
    assert model.coef_names_.tolist() == ["x"]
    new = pd.DataFrame({"x": [3.0], "none": [8.0]})
    assert_allclose(model.predict(new), [3.0])
    with pytest.raises(ValueError, match="column 'none' has the most"):
        LinearRegression(missing="drop").fit(table, [1.0, 2.0, 4.0])


@pytest.mark.parametrize("missing", ["mean", "drop"])
def test_sparse_tables(missing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * (rng.uniform(size=(60, 4)) < 0.5)
    y = X.sum(axis=1) + rng.normal(size=60)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    dense = LinearRegression(missing=missing).fit(X, y)
    thin = LinearRegression(missing=missing).fit(sparse.csr_array(X), y)
    assert_allclose(thin.coef_, dense.coef_, rtol=1e-8)
    assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X), rtol=1e-8)


def test_wide_tables_are_sparse():
    """Above the size up to which the matrix of indicators is dense."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 700, 7000)
    table = pd.DataFrame({"c": pd.Series(level).map("level {}".format)})
    table["x"] = rng.normal(size=7000)
    table.loc[rng.uniform(size=7000) < 0.1, "c"] = None
    table.loc[rng.uniform(size=7000) < 0.1, "x"] = None
    matrix, design = read_design(table, missing="mean")
    assert sparse.issparse(matrix)
    small = matrix[:50].toarray()
    assert_allclose(small, design.read(table[:50]), rtol=1e-12)
    is_missing = table["c"].isna().to_numpy()[:50]
    assert_allclose(small[is_missing, -3], 1.0)
    assert_allclose(small[is_missing, :-3].sum(axis=1), 1.0, atol=0.01)


def test_rows_in_parts():
    table, y = draw_table()
    table["job"] = pd.Categorical(table["job"])
    whole = LinearRegression(missing="drop").fit(table, y)
    parts = LinearRegression(missing="drop")
    for rows in (slice(0, 50), slice(50, None)):
        parts.partial_fit(table[rows], y[rows])
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
    assert parts.n_dropped_ == whole.n_dropped_ > 0
    components = PCA(2, missing="drop", **TEXT)
    for rows in (slice(0, 50), slice(50, None)):
        components.partial_fit(table[rows])
    one = PCA(2, missing="drop", svd_solver="covariance_eigh", **TEXT).fit(table)
    assert_allclose(components.components_, one.components_, atol=1e-9)
    for model in (LinearRegression(missing="mean"), PCA(missing="mean")):
        with pytest.raises(ValueError, match="missing='mean' requires the means of"):
            model.partial_fit(np.eye(3), [1.0, 2.0, 3.0])


def test_other_errors():
    X = np.array([[1.0], [np.nan], [3.0], [np.inf]])
    y = [0, 1, 0, 1]
    for missing in ("mean", "drop"):
        message = r"infinity.*(row 3, column 'x0'|column 'x0', row 3)"
        with pytest.raises(ValueError, match=message):
            LogisticRegression(missing=missing).fit(X, y)
        model = LogisticRegression(C=1.0, missing=missing)
        model.fit(X[[0, 2, 0]], [0, 1, 1])
        with pytest.raises(ValueError, match=message):
            model.predict_proba(X)
    with pytest.raises(ValueError, match=r"'missing' parameter must be .*'mean'"):
        LogisticRegression(missing="median").fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="missing='mean' requires features='columns'"):
        MaxEntClassifier(features="precomputed", missing="mean").fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        PCA(missing="mean").fit(X)
    with pytest.raises(ValueError, match="1 sample.s. that can be used"):
        PCA(missing="drop").fit(X[:2])


def test_classes_of_complete_rows():
    X = np.array([[1.0], [2.0], [3.0], [2.5], [np.nan]])
    y = ["a", "b", "a", "b", "c"]
    for model in (LogisticRegression(C=1.0), LinearDiscriminantAnalysis()):
        model.set_params(missing="drop").fit(X, y)
        assert model.classes_.tolist() == ["a", "b"]


def test_diagnostics_leave_rows_out():
    table, y = draw_table()
    complete = table.notna().all(axis=1).to_numpy()
    model = GeneralizedLinearRegressor(missing="drop").fit(table, y)
    other = GeneralizedLinearRegressor().fit(table[complete], y[complete])
    assert_allclose(
        model.profile_intervals(table, y),
        other.profile_intervals(table[complete], y[complete]),
        rtol=1e-6,
    )
    least = LinearRegression(missing="drop").fit(table, y)
    influence = least.influence(table, y)
    assert np.isnan(influence.leverage[~complete]).all()
    assert influence.leverage[complete].sum() == pytest.approx(least.rank_ + 1)


@pytest.mark.parametrize("missing", ["mean", "drop"])
@pytest.mark.parametrize("model", MODELS[:7], ids=repr)
def test_model_files(model, missing, tmp_path):
    table, y = draw_table()
    y = make_target(model, y)
    fitted = clone(model).set_params(missing=missing).fit(table, y)
    save_model(fitted, tmp_path / "m.json")
    read = load_model(tmp_path / "m.json")
    assert read.design_.n_dropped == fitted.design_.n_dropped
    assert read.design_.missing == missing
    assert_allclose(answer(read, table), answer(fitted, table), rtol=1e-12)
    new = table.assign(job="pilot")
    with pytest.warns(UserWarning, match="Levels not seen in training: 'job'"):
        found = answer(read, new)
    with pytest.warns(UserWarning, match="Levels not seen in training: 'job'"):
        assert_allclose(found, answer(fitted, new), rtol=1e-12)
