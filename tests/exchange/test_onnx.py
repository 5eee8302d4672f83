"""Models as ONNX, run by onnxruntime."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsRegressor

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    AveragingRegressor,
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ObliqueRandomForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import to_onnx
from sklearn_textbook.exchange.onnx_program import MAX_PRODUCTS
from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
)
from tests.exchange import model_cases
from tests.exchange.tables import make_labels, make_table, make_values
from tests.exchange.test_levels import make_frame, make_target
from tests.exchange.test_tree_sum import MODELS, SOME, fit

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

STRING = onnx.TensorProto.STRING
COSTS = [[0, 1, 3], [4, 0, 1], [1, 9, 0]]


def make_feeds(onnx_model, X, missing=""):
    """What onnxruntime reads, by the names of the inputs."""
    feeds = {}
    for info in onnx_model.graph.input:
        if info.name == "X":
            feeds["X"] = np.asarray(X, dtype=np.float64)
            continue
        column = X[info.name]
        if info.type.tensor_type.elem_type == STRING:
            values = column.astype(object).where(column.notna(), missing)
            values = values.to_numpy(dtype=object)
        else:
            values = column.astype(np.float64).to_numpy()
        feeds[info.name] = values[:, np.newaxis]
    return feeds


def run(onnx_model, X, missing=""):
    """Run a model and return its outputs by name."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(onnx_model.SerializeToString(), options)
    outputs = session.run(None, make_feeds(onnx_model, X, missing))
    return dict(zip((o.name for o in session.get_outputs()), outputs, strict=True))


def require_equal(model, X, missing="", **parameters):
    """Compare predictions."""
    found = run(to_onnx(model, **parameters), X, missing)
    if not hasattr(model, "predict_proba"):
        expected = model.predict(X)
        assert list(found) == ["variable"]
        values = expected.reshape(len(expected), -1)
        assert_allclose(found["variable"], values, rtol=1e-12, atol=1e-12)
        return found
    expected = model.predict_proba(X)
    assert_allclose(found["probabilities"], expected, rtol=0, atol=1e-12)
    assert_array_equal(found["label"], model.predict(X))
    return found


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    new = make_frame(10_000, missing=0.2, seed=1, unknown=True)
    require_equal(fit(name, 3), new)


@pytest.mark.parametrize("name", ["forest", "votes", "boosting", "adaboost", "c45"])
def test_two_classes(name):
    new = make_frame(10_000, missing=0.2, seed=1, unknown=True)
    require_equal(fit(name, 2), new)


@pytest.mark.parametrize("split", ["subset", "one_vs_rest", "multiway"])
@pytest.mark.parametrize("missing", ["learned", "branch", "surrogate"])
@pytest.mark.parametrize("unknown", ["parent", "fractional"])
def test_tests_of_cart(split, missing, unknown):
    X = make_frame(missing=0.1)
    model = CARTRegressor(
        categorical_split=split, missing=missing, handle_unknown=unknown, max_depth=6
    )
    new = make_frame(1000, missing=0.2, seed=1, unknown=True)
    require_equal(model.fit(X, make_target(X)), new)


@pytest.mark.parametrize(
    "model",
    [
        ObliqueTreeClassifier(max_depth=4),
        ObliqueTreeClassifier(max_depth=4, handle_unknown="fractional"),
        ObliqueRandomForestClassifier(**SOME, handle_unknown="fractional"),
        BaggingClassifier(C45Classifier(laplace=True), **SOME),
        BaggingClassifier(C45Classifier(categorical_split="subset"), **SOME),
        RandomForestClassifier(8, voting="hard", random_state=0),
        RandomForestClassifier(8, cost_matrix=COSTS, random_state=0),
        C45Classifier(laplace=True, cost_matrix=COSTS),
    ],
    ids=str,
)
def test_more_models(model):
    X = make_frame(missing=0.1)
    y = np.digitize(make_target(X), [0.0, 2.0])
    new = make_frame(1000, missing=0.2, seed=1, unknown=True)
    require_equal(model.fit(X, y), new)


@pytest.mark.parametrize("inputs", ["matrix", "columns"])
def test_numbers(inputs):
    X = make_table(missing=0.1)
    new = make_table(10_000, missing=0.2, seed=1)
    model = RandomForestClassifier(**SOME).fit(X, make_labels(X))
    if inputs == "columns":
        new = pd.DataFrame(new.astype(float), columns=["x0", "x1", "x2", "x3"])
        model = clone(model).fit(pd.DataFrame(X, columns=list(new)), make_labels(X))
    found = require_equal(model, new, inputs=inputs)
    assert found["label"].dtype == object
    model = GradientBoostingRegressor(n_estimators=5).fit(X, make_values(X))
    require_equal(model, np.asarray(new))


def test_thresholds_are_exact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    model = CARTRegressor().fit(X, rng.normal(size=300))
    nodes = model.tree_.nodes[~model.tree_.is_leaf]
    new = np.zeros((len(nodes), 2))
    for step in (-np.inf, np.inf, None):
        values = nodes["threshold"]
        values = values if step is None else np.nextafter(values, step)
        new[:] = model.tree_.nodes["threshold"][0]
        new[np.arange(len(nodes)), nodes["feature"]] = values
        require_equal(model, new)


def test_many_levels_booleans_and_dates():
    rng = np.random.default_rng(0)
    n_rows = 2000
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        rng.integers(0, 900, n_rows), "D"
    )
    X = pd.DataFrame(
        {
            "city": rng.choice([f"c{i}" for i in range(150)], n_rows),
            "number": pd.Categorical(rng.integers(0, 100, n_rows)),
            "is_new": rng.random(n_rows) < 0.5,
            "day": days,
        }
    )
    effect = X["city"].map({f"c{i}": i % 7 for i in range(150)}).to_numpy()
    y = effect + X["is_new"] * (days.year == 2021) + X["number"].astype(int) % 3
    model = CARTRegressor(max_depth=9).fit(X, y)
    assert (np.bincount(model.tree_.nodes["feature"] + 2, minlength=6)[2:] > 0).all()
    onnx_model = to_onnx(model)
    new = X.copy()  # as inputs of ONNX have it
    new["day"] = (new["day"] - pd.Timestamp("1970-01-01")).dt.total_seconds()
    found = run(onnx_model, new)["variable"][:, 0]
    assert_allclose(found, model.predict(X), atol=1e-12)
    texts = {info.name: info.doc_string for info in onnx_model.graph.input}
    assert "1970" in texts["day"]
    assert "strings" in texts["city"]


@pytest.mark.parametrize("name", model_cases.CASES)
def test_linear_models_steps_and_pipelines(name):
    model, (X, predicted, numbers) = model_cases.fit(name), model_cases.predict(name)
    found = run(to_onnx(model), X)
    if not hasattr(model, "classes_"):
        assert_allclose(found["variable"], numbers, rtol=1e-12, atol=1e-12)
        return
    assert_array_equal(found["label"], predicted)
    assert set(found) == {"label", "scores" if numbers is None else "probabilities"}
    if numbers is not None:
        assert_allclose(found["probabilities"], numbers, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(C45Classifier(pruning=None, max_depth=3), n_estimators=5),
        AdaBoostClassifier(C45Classifier(laplace=True, max_depth=3), n_estimators=3),
        BaggingClassifier(C45Classifier(), **SOME, voting="hard"),
        BaggingClassifier(
            C45Classifier(laplace=True, handle_unknown="fractional"),
            **SOME,
            voting="hard",
        ),
        RandomForestClassifier(**SOME, voting="hard", handle_unknown="fractional"),
    ],
    ids=str,
)
def test_votes_of_divided_rows(model):
    X = make_frame(missing=0.1)
    y = np.digitize(make_target(X), [0.0, 2.0])
    new = make_frame(1000, missing=0.2, seed=1, unknown=True)
    require_equal(model.fit(X, y), new)


def test_many_columns():
    """Sums of many products are products of matrices."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 700))).add_prefix("x")
    X["text"] = rng.choice(list("abc"), 200)
    X.iloc[::7, 3] = np.nan
    y = X["x0"] + X["x3"].fillna(2) + (X["text"] == "a")
    y = np.stack([np.digitize(y, [0.0, 1.0]) == k for k in range(6)], axis=1) * 1.0
    model = LinearRegression(missing="mean", alpha=1.0).fit(X, y)
    assert len(X.columns) * y.shape[1] > MAX_PRODUCTS
    found = run(to_onnx(model), X)["variable"]
    assert_allclose(found, model.predict(X), rtol=1e-12, atol=1e-12)
    model = LinearRegression(missing="drop", alpha=1.0).fit(X, y)
    found = run(to_onnx(model), X)["variable"]
    assert np.isnan(found).any()
    assert_allclose(found, model.predict(X), rtol=1e-12, atol=1e-12)


def test_levels_in_another_order():
    """Members that were fitted apart have other codes for the levels."""
    X, y = make_frame(), make_target(make_frame())
    other = X.assign(letter=pd.Categorical(X["letter"], list("wvutsrqp")))
    tables = {"one": X, "two": other}
    members = [(name, CARTRegressor().fit(table, y)) for name, table in tables.items()]
    model = AveragingRegressor(members, prefit=True).fit(X, y)
    new = make_frame(500, missing=0.2, seed=1, unknown=True)
    require_equal(model, new)


def test_several_outputs():
    X = make_frame(missing=0.1)
    y = make_target(X)
    both = np.stack([y > 0, np.digitize(y, [-1, 1])], axis=1).astype(int)
    new = make_frame(2000, missing=0.1, seed=1, unknown=True)
    for voting in ("soft", "hard"):
        model = RandomForestClassifier(**SOME, voting=voting).fit(X, both)
        found = run(to_onnx(model), new)
        labels, expected = model.predict(new), model.predict_proba(new)
        for i in range(2):
            assert_array_equal(found[f"label_{i}"], labels[:, i])
            assert_allclose(found[f"probabilities_{i}"], expected[i], atol=1e-12)
    values = np.stack([y, -y * y], axis=1)
    require_equal(RandomForestRegressor(**SOME).fit(X, values), new)


def test_rows_that_the_model_refuses():
    X = make_frame()
    y = np.where(make_target(X) > 1, "high", "low")
    model = CARTClassifier(missing="error", handle_unknown="error", max_depth=5)
    model.fit(X, y)
    new = make_frame(3000, missing=0.02, seed=1, unknown=True)
    new.loc[5, "a"] = np.inf
    found = run(to_onnx(model), new)
    is_refused = np.zeros(len(new), dtype=bool)
    for i in range(100):
        try:
            expected = model.predict_proba(new.iloc[[i]])
        except ValueError:
            is_refused[i] = True
        else:
            assert_allclose(found["probabilities"][[i]], expected)
    assert is_refused[5]
    assert 5 < is_refused.sum() < 80
    assert_array_equal(np.isnan(found["probabilities"][:100]).all(1), is_refused[:100])
    assert_array_equal(found["label"][:100] == "", is_refused[:100])


@pytest.mark.parametrize("kind", [CARTRegressor, GradientBoostingRegressor])
def test_trees_without_tests(kind):
    X = make_frame(50)
    model = kind().fit(X, np.full(50, 2.5))
    require_equal(model, make_frame(20, missing=0.1, unknown=True))


def test_missing_string(tmp_path):
    X = make_frame(missing=0.1)
    X["letter"] = X["letter"].replace({"p": ""})
    model = CARTRegressor(missing="branch").fit(X, make_target(X))
    with pytest.raises(
        ValueError, match="must not be a level of column 'letter'; got ''"
    ):
        to_onnx(model)
    with pytest.raises(TypeError, match="missing_string"):
        to_onnx(model, missing_string=None)
    require_equal(model, X, missing="?", missing_string="?")
    to_onnx(model, tmp_path / "model.onnx", missing_string="?")
    assert onnx.load(tmp_path / "model.onnx").producer_name == "sklearn_textbook"


def test_errors():
    X = make_frame(missing=0.1)
    y = make_target(X) > 1
    with pytest.raises(NotFittedError):
        to_onnx(CARTClassifier())
    with pytest.raises(TypeError, match="got KNeighborsRegressor, which cannot be"):
        to_onnx(KNeighborsRegressor().fit(X[["a"]].fillna(0), y))
    model = CARTClassifier(missing="branch").fit(X, y)
    with pytest.raises(ValueError, match="inputs"):
        to_onnx(model, inputs="rows")
    with pytest.raises(ValueError, match="column 'letter' has strings"):
        to_onnx(model, inputs="matrix")
    votes = RandomForestClassifier(2, voting="hard", handle_unknown="fractional")
    votes.fit(X, np.stack([y, X["a"] > 0], axis=1))
    with pytest.raises(ValueError, match=r"Node \d+ of member 0 divides rows"):
        to_onnx(votes)
    mixed = X.assign(letter=[1, "a"] * 200)
    model = CARTClassifier(missing="branch").fit(mixed, y)
    with pytest.raises(ValueError, match="'letter' mix strings and numbers"):
        to_onnx(model)
    named = X.rename(columns={"letter": "label"})
    model = CARTClassifier(missing="branch").fit(named, y)
    with pytest.raises(ValueError, match="'label', cannot be used for an input"):
        to_onnx(model)


def test_classes():
    X = make_table()
    y = make_values(X) > 0
    model = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    assert_array_equal(run(to_onnx(model), X)["label"], model.predict(X).astype(int))
    model = CARTClassifier(max_depth=2).fit(X, y + 1.0)
    found = run(to_onnx(model), X)["label"]
    assert_array_equal(found, model.predict(X))
    assert found.dtype == np.float64


def test_without_onnx(monkeypatch):
    model = CARTClassifier().fit([[0.0], [1.0]], [0, 1])
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="pip install onnx"):
        to_onnx(model)
