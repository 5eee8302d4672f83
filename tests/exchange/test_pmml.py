"""Models as PMML, run by PMML4S (pypmml) and by JPMML where they are installed."""

import json
import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import to_pmml
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
)
from tests.exchange.test_levels import make_frame, make_target
from tests.exchange.test_tree_sum import MODELS, SOME, fit

SPACE = "{http://www.dmg.org/PMML-4_4}"
REFUSED = {
    "oblique": r"Node 0 tests a sum of columns, of which '\w+' is the first",
    "oblique forest": "Node 0 of member 0 tests a sum of columns",
    "votes": "voting='hard'",
    "bagging votes": "voting='hard'",
    "smearing": "OutputSmearingClassifier",
    "laplace": "divides rows .* other values than the probabilities choose the class",
}
#: Programs that run PMML, and their packages.
PROGRAMS = {"PMML4S": "pypmml", "JPMML": "jpmml_evaluator"}


def make_rows(X):
    """Rows as JSON has them."""
    columns = {}
    for name in X:
        values = X[name].astype(object).where(X[name].notna(), None).tolist()
        is_number = [isinstance(v, int | float) for v in values if v is not None]
        if all(is_number):
            values = [None if value is None else float(value) for value in values]
        columns[name] = values
    return columns


def run_pmml4s(text, X):
    """Predict by PMML4S."""
    from pypmml import Model

    columns = make_rows(X)
    data = list(map(list, zip(*columns.values(), strict=True)))
    table = json.dumps({"columns": list(columns), "data": data})
    result = json.loads(Model.fromString(text).predict(table))
    return pd.DataFrame(result["data"], columns=result["columns"])


def run_jpmml(text, X):
    """Predict by JPMML."""
    from jpmml_evaluator import make_evaluator
    from jpmml_evaluator.jpype import JPypeBackend

    evaluator = make_evaluator(text.encode(), backend=JPypeBackend())
    return evaluator.evaluateAll(pd.DataFrame(make_rows(X), dtype=object))


@pytest.fixture(params=PROGRAMS)
def run(request):
    if find_spec(PROGRAMS[request.param]) is None:
        pytest.skip(f"{PROGRAMS[request.param]} is not installed")
    return run_pmml4s if request.param == "PMML4S" else run_jpmml


def require_equal(run, model, X):
    """Compare predictions; of sums, rows without a clear largest one may differ."""
    text = to_pmml(model)
    found = run(text, X)
    labels = found["predicted_target"].to_numpy()
    if not hasattr(model, "predict_proba"):
        values = labels.astype(float)
        assert_allclose(values, model.predict(X), rtol=1e-12, atol=1e-12)
        return found
    expected = model.predict_proba(X)
    names = [f"probability_{label}" for label in model.classes_]
    assert_allclose(found[names].to_numpy(float), expected, rtol=0, atol=1e-12)
    ordered = np.sort(expected, axis=1)
    gap = ordered[:, -1] - ordered[:, -2]
    is_clear = (gap > 1e-6) | ("NumericPredictor" not in text)
    assert is_clear.mean() > 0.9
    assert_array_equal(labels[is_clear], model.predict(X)[is_clear])
    return found


@pytest.mark.parametrize("n_rows", [500, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [name for name in MODELS if name not in REFUSED])
def test_models(name, n_rows, run):
    model = MODELS[name]
    if name == "id3":
        model = ID3Classifier(max_depth=3)
        X = make_frame(missing=0.1)
        y = np.digitize(make_target(X), [0.0, 2.0])
        model.fit(X, y)
    else:
        model = fit(name, 3)
    new = make_frame(n_rows, missing=0.2, seed=1, unknown=True)
    require_equal(run, model, new)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(ValueError, match=REFUSED[name]):
        to_pmml(fit(name, 3))


@pytest.mark.parametrize("name", ["forest", "adaboost", "boosting", "bagging", "c45"])
def test_two_classes(name, run):
    new = make_frame(500, missing=0.2, seed=1, unknown=True)
    require_equal(run, fit(name, 2), new)


@pytest.mark.parametrize("split", ["subset", "one_vs_rest", "multiway"])
@pytest.mark.parametrize("missing", ["learned", "branch", "surrogate"])
@pytest.mark.parametrize("unknown", ["parent", "fractional"])
def test_tests_of_cart(split, missing, unknown, run):
    X = make_frame(missing=0.1)
    model = CARTRegressor(
        categorical_split=split, missing=missing, handle_unknown=unknown, max_depth=4
    )
    model.fit(X, make_target(X))
    new = make_frame(500, missing=0.2, seed=1, unknown=True)
    if missing == "surrogate" and unknown == "fractional":
        with pytest.raises(ValueError, match="the tree has surrogate splits"):
            to_pmml(model)
        return
    require_equal(run, model, new)


def test_ties(run):
    X = make_frame(missing=0.1)
    y = np.where(make_target(X) > 1, "low", "high")
    model = RandomForestClassifier(2, random_state=0).fit(X, y)
    new = make_frame(2000, missing=0.1, seed=1)
    assert (model.predict_proba(new)[:, 0] == 0.5).any()
    require_equal(run, model, new)


@pytest.mark.parametrize("n_classes", [4, 6])
def test_ties_of_many_classes(n_classes, run):
    """Of more than four classes, PMML4S predicts any of the most probable."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 4, (300, 3)).astype(float), columns=list("pqr"))
    y = np.array(list("abcdef"))[rng.integers(0, n_classes, 300)]
    model = RandomForestClassifier(2, random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    ordered = np.sort(probabilities, axis=1)
    is_tie = ordered[:, -1] == ordered[:, -2]
    assert is_tie.sum() > 10
    found = run(to_pmml(model), X)["predicted_target"].to_numpy()
    expected = model.predict(X)
    assert_array_equal(found[~is_tie], expected[~is_tie])
    if n_classes > 4 and run is run_pmml4s:
        codes = np.searchsorted(model.classes_, found)
        chosen = np.take_along_axis(probabilities, codes[:, np.newaxis], 1)[:, 0]
        assert_array_equal(chosen, ordered[:, -1])
        assert (found != expected).any()
    else:
        assert_array_equal(found, expected)


def test_strings_that_need_quotes(run):
    X = make_frame()
    levels = {"p": 'a "b" c', "q": "back\\slash", "r": "<&>", "s": "中 文", "t": "it's"}
    X["letter"] = X["letter"].replace(levels)
    X = X.rename(columns={"letter": "größe <&>"})
    y = make_frame()["letter"].isin(list("prt")).to_numpy()
    model = CARTClassifier().fit(X, np.where(y, 'a "quoted" <one>', "other & one"))
    require_equal(run, model, X)


def test_booleans_and_dates(run):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 500), "D")
    X = pd.DataFrame({"is_new": rng.random(500) < 0.5, "day": days})
    X["is_old"] = pd.Categorical(rng.random(500) < 0.5)
    y = X["is_new"] * (days.year == 2021) + X["is_old"].astype(float)
    model = CARTRegressor().fit(X, y)
    assert model.schema_.kinds == ("numeric", "numeric", "nominal")
    new = X.copy()  # as fields of PMML have it
    new["day"] = (new["day"] - pd.Timestamp("1970-01-01")).dt.total_seconds()
    text = to_pmml(model)
    found = run(text, new)["predicted_target"].to_numpy(float)
    assert_allclose(found, model.predict(X))
    assert "seconds since 1970-01-01" in text


def test_rows_that_the_model_refuses(run):
    X = make_frame()
    y = np.where(make_target(X) > 1, "high", "low")
    model = CARTClassifier(handle_unknown="error", max_depth=5).fit(X, y)
    new = make_frame(1000, seed=1, unknown=True)
    found = run(to_pmml(model), new)["predicted_target"].to_numpy(object)
    n_refused = 0
    for i in range(200):
        try:
            expected = model.predict(new.iloc[[i]])[0]
        except ValueError:
            expected = None
            n_refused += 1
        assert found[i] == expected or (expected is None and found[i] != found[i])
    assert n_refused > 2


def test_missing_values_that_the_model_refuses(run):
    X = make_frame()
    model = CARTRegressor(missing="error", max_depth=5).fit(X, make_target(X))
    new = make_frame(300, missing=0.05, seed=1)
    is_missing = new.isna().any(axis=1).to_numpy()
    found = run(to_pmml(model), new)["predicted_target"].to_numpy(float)
    is_refused = np.isnan(found)
    # JPMML reads a column only if the tests that a row meets need it.
    assert is_missing[is_refused].all()
    assert is_refused.any()
    assert run is run_jpmml or is_refused[is_missing].all()
    assert_allclose(found[~is_missing], model.predict(new[~is_missing]))


def test_trees_without_tests(run):
    X = make_frame(50)
    for model in (CARTRegressor(), RandomForestRegressor(2)):
        require_equal(run, model.fit(X, np.full(50, 2.5)), make_frame(20))


def test_elements(tmp_path):
    """The parts that programs look for."""
    text = to_pmml(fit("forest", 3), tmp_path / "model.pmml", target="what")
    assert (tmp_path / "model.pmml").read_text("utf-8") == text
    root = ElementTree.fromstring(text)
    assert root.get("version") == "4.4"
    fields = {f.get("name"): f for f in root.iter(f"{SPACE}DataField")}
    assert list(fields) == ["a", "letter", "size", "b", "code", "what"]
    assert fields["letter"].get("dataType") == "string"
    assert [v.get("value") for v in fields["what"]] == ["0", "1", "2"]
    ensemble = root.find(f"{SPACE}MiningModel/{SPACE}Segmentation")
    assert ensemble.get("multipleModelMethod") == "average"
    assert len(ensemble) == 7
    surrogates = ElementTree.fromstring(to_pmml(fit("cart", 3)))
    predicates = surrogates.iter(f"{SPACE}CompoundPredicate")
    assert "surrogate" in {p.get("booleanOperator") for p in predicates}


def test_size(monkeypatch):
    """Large models have no line breaks, and scores only where rows end."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("pqrs"))
    y = rng.integers(0, 3, 1000)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    text = to_pmml(model)
    n_nodes = sum(member.tree_.node_count for member in model.estimators_)
    n_leaves = sum(member.get_n_leaves() for member in model.estimators_)
    assert n_nodes > 2000
    assert len(text) < 200 * n_nodes
    assert text.count("<ScoreDistribution") == 3 * n_leaves
    assert text.count("\n") == 2
    # Where an unknown level may end a row, inner nodes have scores, too.
    X["letter"] = rng.choice(list("abc"), 1000)
    tree = CARTClassifier(max_depth=4).fit(X, y)
    is_inner = ~tree.tree_.is_leaf
    tests_levels = tree.tree_.nodes["feature"] == 4
    assert (tests_levels & is_inner).any()
    n_ends = (tests_levels | ~is_inner).sum()
    assert to_pmml(tree).count("<ScoreDistribution") == 3 * n_ends
    monkeypatch.setattr("sklearn_textbook.exchange.pmml_model.LONG", 1000)
    with pytest.warns(UserWarning, match=r"The PMML text has 0\.\d million characters"):
        to_pmml(model)


def test_errors():
    X = make_frame(missing=0.1)
    y = make_target(X) > 1
    with pytest.raises(NotFittedError):
        to_pmml(CARTClassifier())
    with pytest.raises(TypeError, match="LinearRegression"):
        to_pmml(LinearRegression().fit(X[["a"]].fillna(0), y))
    model = CARTClassifier(missing="branch").fit(X, y)
    with pytest.raises(TypeError, match="target must be a non-empty string"):
        to_pmml(model, target=3)
    with pytest.raises(ValueError, match="'size', is also that of the target"):
        to_pmml(model, target="size")
    votes = AdaBoostClassifier(C45Classifier(), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match=r"Node 0 of member 0 divides .* members vote"):
        to_pmml(votes)
    strict = C45Classifier(handle_unknown="error").fit(X, y)
    with pytest.raises(ValueError, match="other unseen levels are errors"):
        to_pmml(strict)
    both = RandomForestRegressor(2).fit(X, np.stack([y, y], 1))
    with pytest.raises(ValueError, match="a single output; got a model with 2"):
        to_pmml(both)
    forest = RandomForestClassifier(**SOME, voting="hard").fit(X, y)
    with pytest.raises(ValueError, match="voting='hard'.*to_onnx"):
        to_pmml(forest)
    mixed = X.assign(letter=[1, "a"] * 200)
    with pytest.raises(ValueError, match="'letter' mix strings and numbers"):
        to_pmml(clone(model).fit(mixed, y))
    with pytest.raises(ValueError, match="character that XML does not allow"):
        to_pmml(clone(model).fit(X.rename(columns={"b": "b\x01"}), y))
    deep = np.arange(1000.0)[:, np.newaxis]
    alternating = BaggingRegressor(CARTRegressor(), n_estimators=1, bootstrap=False)
    alternating.fit(deep, deep[:, 0] % 2)
    with pytest.raises(ValueError, match="depth of"):
        to_pmml(alternating)
    boosting = GradientBoostingClassifier(n_estimators=2).fit(X, y)
    assert "logit" in to_pmml(boosting)
