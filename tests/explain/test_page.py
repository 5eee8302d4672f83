"""Pages of trees: their data, and the routing of their script against the library."""

import datetime
import json
import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils import estimator_html_repr

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BoostingTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    OutputCodeClassifier,
    RandomForestClassifier,
    RandomSubspaceClassifier,
    VotingClassifier,
)
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    to_html,
)
from tests.explain.builders import (
    MODES,
    predict_distribution,
    random_rows,
    random_tree,
)

IRIS = load_iris(as_frame=True)
SPECIES = IRIS.target_names[IRIS.target]
MODEL_JS = files("sklearn_textbook.tree.explain.page") / "model.js"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def read_data(page):
    """The data of a page, as its script reads it."""
    (text,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', page, re.S
    )
    return json.loads(text)


def run_script(data, code, **values):
    """The result of JavaScript after the page's own, with its data."""
    text = MODEL_JS.read_text("utf-8")
    values = json.dumps({"page": data, **values})
    names = ", ".join(json.loads(values))
    code = f"{text}\nconst {{{names}}} = JSON.parse(input);\n{code}"
    code = f'"use strict"; const input = require("fs").readFileSync(0, "utf8");{code}'
    result = subprocess.run(
        [NODE, "-e", code],
        input=values,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


PREDICT = """
const trees = page.trees.map((_, number) => new Tree(page, number));
const results = rows.map((row) => trees.map((tree) => {
  const outcome = tree.route(row.map((value) => value === null ? NaN : value));
  const { stop, ends } = outcome;
  if (stop) return [stop.reason, stop.column ? stop.column.name : null];
  const { best, outputs } = tree.predict(ends);
  return { best, outputs, ends, entered: [...outcome.entered.keys()] };
}));
console.log(JSON.stringify(results));
"""


def route_rows(model, matrix, **options):
    """What the script finds for rows of numbers and codes, tree by tree."""
    rows = [[None if np.isnan(v) else v for v in row] for row in matrix.tolist()]
    data = read_data(to_html(model, **options))
    # Columns are numbered over all trees; a single tree has those of its table.
    return run_script(data, PREDICT, rows=rows)


def mixed_table(n_rows, seed=0):
    """Numbers, levels of two kinds, booleans and dates, with missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows).round(2),
            "colour": rng.choice(["red", "green", "blue", "深蓝"], n_rows),
            "size": pd.Categorical(
                rng.choice(["S", "M", "L", "XL"], n_rows),
                ["S", "M", "L", "XL"],
                ordered=True,
            ),
            "sold": rng.random(n_rows) < 0.5,
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 300, n_rows), unit="D"),
            "y": rng.normal(size=n_rows).round(1),
        }
    )
    late = frame["day"] > pd.Timestamp("2024-06-01")
    score = frame["x"] + (frame["colour"] == "red") + late * frame["y"]
    score += frame["size"].cat.codes * 0.5 + rng.normal(size=n_rows) * 0.3
    for name in ("x", "colour", "day", "size"):
        frame.loc[rng.random(n_rows) < 0.1, name] = None
    return frame, score.to_numpy()


def rows_to_predict(n_rows=300, unknown=True):
    """New rows, some of which have unknown levels."""
    frame, _ = mixed_table(n_rows, seed=1)
    if unknown:
        frame.loc[::7, "colour"] = "never seen"
    frame.loc[::11, "y"] = np.nan
    return frame


TABLE, SCORE = mixed_table(400)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(SCORE, [0.5, 1.8])]
TWO = np.stack([CLASSES, np.where(TABLE["sold"], "yes", "no")], axis=1)


def make_models():
    costs = [[0, 1, 4], [2, 0, 3], [9, 5, 0]]
    cart = {"random_state": 0, "min_samples_leaf": 4}
    return {
        "CART, learned": CARTClassifier(**cart).fit(TABLE, CLASSES),
        "CART, surrogate": CARTClassifier(missing="surrogate", **cart).fit(
            TABLE, CLASSES
        ),
        "CART, branch": CARTClassifier(missing="branch", **cart).fit(TABLE, CLASSES),
        "CART, fractional unknown": CARTClassifier(
            handle_unknown="fractional", **cart
        ).fit(TABLE, CLASSES),
        "CART, two outputs": CARTClassifier(**cart).fit(TABLE, TWO),
        "CART, weights": CARTClassifier(**cart).fit(
            TABLE, CLASSES, sample_weight=np.linspace(0.1, 3, len(TABLE))
        ),
        "regression": CARTRegressor(**cart).fit(TABLE, SCORE),
        "regression, two outputs": CARTRegressor(**cart).fit(
            TABLE, np.stack([SCORE, -(SCORE**2)], axis=1)
        ),
        "C4.5": C45Classifier().fit(TABLE, CLASSES),
        "C4.5, Laplace": C45Classifier(laplace=True, pruning=None).fit(TABLE, CLASSES),
        "costs": CARTClassifier(cost_matrix=costs, **cart).fit(TABLE, CLASSES),
        "C4.5, costs, fractional": C45Classifier(cost_matrix=costs).fit(TABLE, CLASSES),
        "ID3": ID3Classifier(handle_unknown="fractional").fit(
            TABLE[["colour", "size", "sold"]], CLASSES
        ),
        "oblique": ObliqueTreeClassifier(**cart).fit(TABLE, CLASSES),
        "oblique, fractional unknown": ObliqueTreeClassifier(
            handle_unknown="fractional", **cart
        ).fit(TABLE, CLASSES),
        "oblique regression": ObliqueTreeRegressor(**cart).fit(TABLE, SCORE),
    }


MODELS = make_models()


def as_outputs(proba, n_outputs):
    return [proba] if n_outputs == 1 else proba


@needs_node
@pytest.mark.parametrize("name", MODELS)
def test_the_page_predicts_as_the_model(name):
    model = MODELS[name]
    rows = rows_to_predict()[list(model.feature_names_in_)]
    results = route_rows(model, model.schema_.read(rows))
    results = [result[0] for result in results]
    n_outputs = model.n_outputs_
    predicted = np.asarray(model.predict(rows)).reshape(len(rows), n_outputs)
    for output in range(n_outputs):
        shown = np.array([result["outputs"][output] for result in results])
        if not hasattr(model, "classes_"):
            np.testing.assert_allclose(shown[:, 0], predicted[:, output], rtol=1e-12)
            continue
        proba = as_outputs(model.predict_proba(rows), n_outputs)[output]
        np.testing.assert_allclose(shown, proba, rtol=1e-12, atol=1e-15)
        classes = as_outputs(model.classes_, n_outputs)[output]
        best = [result["best"][output] for result in results]
        assert (classes[best] == predicted[:, output]).all()
    path = model.decision_path(rows)
    for number, result in enumerate(results):
        assert sorted(result["entered"]) == path[number].indices.tolist()
        assert sum(share for _, share in result["ends"]) == pytest.approx(1.0)
    if "fractional" in name or name in ("C4.5", "ID3"):
        assert max(len(result["ends"]) for result in results) > 1


@needs_node
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("unknown", ["parent", "fractional"])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_any_tree_is_routed_as_its_layout_says(mode, unknown, n_classes):
    for seed in range(3):
        model = random_tree(seed, mode, unknown, n_classes)
        rows = random_rows(np.random.default_rng(seed), model.schema_, 60, True)
        for row, (result,) in zip(rows, route_rows(model, rows), strict=True):
            expected = predict_distribution(model.tree_, row)
            np.testing.assert_allclose(result["outputs"], expected, rtol=1e-12)


@needs_node
def test_unknown_level_that_is_an_error_stops_the_row():
    model = CARTClassifier(handle_unknown="error", max_depth=5).fit(TABLE, CLASSES)
    rows = rows_to_predict()
    results = route_rows(model, model.schema_.read(rows))
    stopped = [result[0] for result in results if isinstance(result[0], list)]
    assert stopped
    assert set(map(tuple, stopped)) == {("unknown", "colour")}
    with pytest.raises(ValueError, match="colour"):
        model.predict(rows)


@needs_node
def test_missing_value_that_is_an_error_stops_the_row():
    model = CARTClassifier(missing="error").fit(IRIS.data, SPECIES)
    ((result,),) = route_rows(model, np.full((1, 4), np.nan))
    assert result == ["missing", "petal length (cm)"]


@needs_node
def test_a_row_stops_where_nodes_are_left_out():
    model = CARTClassifier().fit(IRIS.data, SPECIES)
    page = read_data(to_html(model, max_nodes=6))
    assert page["leftOut"] == {"trees": 0, "nodes": 12, "others": 0}
    (tree,) = page["trees"]
    assert tree["children"] == [2, 0, 2, 0, 0]
    assert sum(tree["cut"].values()) == 12
    results = [r[0] for r in route_rows(model, IRIS.data.to_numpy(), max_nodes=6)]
    assert ["cut", None] in results
    assert sum(isinstance(result, dict) for result in results) == 50


ENSEMBLES = {
    "forest": (RandomForestClassifier(n_estimators=5, random_state=0), SPECIES),
    "bagging": (BaggingClassifier(n_estimators=4, random_state=0), SPECIES),
    "subspaces": (RandomSubspaceClassifier(n_estimators=4, random_state=0), SPECIES),
    "AdaBoost": (AdaBoostClassifier(n_estimators=4), SPECIES),
    "boosting": (GradientBoostingClassifier(n_estimators=3), SPECIES),
    "boosting, values": (GradientBoostingRegressor(n_estimators=3), IRIS.target),
    "boosting tree": (BoostingTreeRegressor(n_estimators=3), IRIS.target),
    "extra trees": (ExtraTreesRegressor(n_estimators=3, random_state=0), IRIS.target),
}


@needs_node
@pytest.mark.parametrize("name", ENSEMBLES)
def test_each_tree_of_an_ensemble_predicts_as_the_member(name):
    model, y = ENSEMBLES[name]
    model.fit(IRIS.data, y)
    data = read_data(to_html(model))
    assert len(data["trees"]) == np.size(np.asarray(model.estimators_, dtype=object))
    places = [list(IRIS.data).index(column["name"]) for column in data["columns"]]
    rows = IRIS.data.to_numpy()[:, places]
    results = run_script(data, PREDICT, rows=rows.tolist())
    members = np.ravel(np.asarray(model.estimators_, dtype=object)).tolist()
    for number, member in enumerate(members):
        columns = [list(IRIS.data).index(name) for name in member.schema_.names]
        X = IRIS.data.iloc[:, columns]
        if not hasattr(member, "feature_names_in_"):
            X = X.to_numpy()
        shown = np.array([result[number]["outputs"][0] for result in results])
        expected = member.tree_.value[member.apply(X), 0]
        np.testing.assert_allclose(shown, expected, rtol=1e-12)


def test_names_and_weights_of_members():
    boosting = ENSEMBLES["boosting"][0].fit(IRIS.data, SPECIES)
    names = [tree["name"] for tree in read_data(to_html(boosting))["trees"]]
    assert names[2:4] == ["round 0, virginica", "round 1, setosa"]
    ada = ENSEMBLES["AdaBoost"][0].fit(IRIS.data, SPECIES)
    weights = [tree["ensembleWeight"] for tree in read_data(to_html(ada))["trees"]]
    np.testing.assert_allclose(weights, ada.estimator_weights_)


def test_class_names_of_boosting_and_output_codes():
    boosting = ENSEMBLES["boosting"][0].fit(IRIS.data, SPECIES)
    data = read_data(to_html(boosting, class_names=np.array(["s", "t", "u"])))
    assert [tree["name"] for tree in data["trees"][:2]] == ["round 0, s", "round 0, t"]
    codes = OutputCodeClassifier(CARTClassifier(max_depth=2)).fit(IRIS.data, SPECIES)
    data = read_data(to_html(codes, class_names=["s", "t", "u"]))
    assert all(len(names) == 2 for (names,) in (t["classes"] for t in data["targets"]))


@pytest.mark.parametrize("n_names", [1, 3, 5])
def test_wrong_number_of_names_for_an_ensemble_of_some_columns(n_names):
    model = ENSEMBLES["subspaces"][0].fit(IRIS.data, SPECIES)
    with pytest.raises(ValueError, match=f"must have 4 names, .*, got {n_names}"):
        to_html(model, feature_names=list("abcde"[:n_names]))


def test_names_given_for_an_ensemble_of_some_columns():
    model = ENSEMBLES["subspaces"][0].fit(IRIS.data, SPECIES)
    data = read_data(
        to_html(model, feature_names=list("abcd"), class_names=list("stu"))
    )
    assert {column["name"] for column in data["columns"]} <= set("abcd")
    assert data["targets"] == [{"classes": [["s", "t", "u"]]}]
    for tree, columns in zip(data["trees"], model.estimators_features_, strict=True):
        names = [data["columns"][number]["name"] for number in tree["columns"]]
        assert names == ["abcd"[column] for column in columns]


def test_limits_of_ensembles():
    model = RandomForestClassifier(n_estimators=6, random_state=0)
    model.fit(IRIS.data, SPECIES)
    assert read_data(to_html(model, max_trees=2))["leftOut"]["trees"] == 4
    sizes = [member.tree_.node_count for member in model.estimators_]
    data = read_data(to_html(model, max_nodes=sizes[0] + 3))
    assert [len(tree["children"]) for tree in data["trees"]] == [sizes[0], 3]
    assert data["leftOut"] == {"trees": 4, "nodes": sizes[1] - 3, "others": 0}
    assert read_data(to_html(model, max_trees=None, max_nodes=None))["leftOut"] == {
        "trees": 0,
        "nodes": 0,
        "others": 0,
    }


def test_members_of_other_kinds_are_counted():
    members = [("tree", CARTClassifier()), ("line", LogisticRegression(max_iter=500))]
    model = VotingClassifier(members).fit(IRIS.data, SPECIES)
    data = read_data(to_html(model))
    assert (len(data["trees"]), data["leftOut"]["others"]) == (1, 1)
    model = VotingClassifier(members[1:]).fit(IRIS.data, SPECIES)
    with pytest.raises(TypeError, match="got LogisticRegression"):
        to_html(model)


# --------------------------------------------------------------------- the file
def test_file_and_text_are_equal(tmp_path):
    model = CARTClassifier(max_depth=2).fit(IRIS.data, SPECIES)
    path = tmp_path / "tree.html"
    assert to_html(model, path) is None
    assert path.read_bytes() == to_html(model).encode()
    assert to_html(model, str(path), title="Iris") is None
    assert "<title>Iris</title>" in path.read_text("utf-8")


def test_notebooks_show_the_text_in_a_frame():
    page = to_html(CARTClassifier(max_depth=2).fit(IRIS.data, SPECIES))
    assert isinstance(page, str)
    frame = page._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert frame.count('"') == 8


EVIL = [
    "</script><script>alert(1)</script>",
    "<!--",
    'שלום "x"',
    "😀'&\u2028",
    "\ud800",
]


def test_names_cannot_end_the_script():
    table = pd.DataFrame(IRIS.data.to_numpy(), columns=EVIL[:4])
    model = CARTClassifier().fit(table, np.array(EVIL)[[0, 1, 4]][IRIS.target])
    page = to_html(model, title="</title><script>alert(1)</script>\ud800")
    assert page.count("<script") == page.count("</script>") == 2
    assert page.count("</title>") == 1
    page.encode("utf-8")  # a lone surrogate is no text of a file
    data = read_data(page)
    assert [column["name"] for column in data["columns"]][:3] == EVIL[:3]
    assert data["targets"][0]["classes"][0][1].startswith("<")


def test_page_forbids_network_and_names_no_address():
    page = to_html(CARTClassifier(max_depth=2).fit(IRIS.data, SPECIES))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http://" not in page
    assert "https://" not in page


def test_large_trees_make_small_files():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 4)), rng.integers(0, 2, 9000)
    model = CARTClassifier(max_leaf_nodes=2500).fit(X, y)
    assert model.tree_.node_count == 4999
    assert len(to_html(model)) < 100 * 4999


# -------------------------------------------------------------------- the words
WORDS = """
const tree = new Tree(page, 0);
const nodes = Array.from({ length: tree.count }, (_, node) => node);
console.log(JSON.stringify(nodes.map((node) => [
  describeRule(tree, node), describeNodePrediction(tree, node)])));
"""


@needs_node
def test_rules_join_the_thresholds_of_a_column():
    model = CARTClassifier(max_depth=3).fit(IRIS.data[["petal width (cm)"]], SPECIES)
    words = run_script(read_data(to_html(model)), WORDS)
    assert [["0.8 < petal width (cm) <= 1.35"], "versicolor"] in words
    assert words[0] == [[], "setosa"]


@needs_node
@pytest.mark.parametrize("name", MODELS)
def test_conditions_are_those_of_the_library(name):
    from sklearn_textbook.tree.explain.conditions import collect_branches
    from sklearn_textbook.tree.explain.describe import Words
    from sklearn_textbook.tree.explain.fitted import read_fitted

    model = MODELS[name]
    words = Words(read_fitted(model), max_levels=8)
    expected = [
        words.condition(condition)
        for node in np.flatnonzero(model.tree_.nodes["n_children"]).tolist()
        for condition in collect_branches(model.tree_, node)
    ]
    code = """
    const tree = new Tree(page, 0);
    const texts = [];
    for (let n = 1; n < tree.count; n++) texts.push(describeCondition(tree, n));
    console.log(JSON.stringify(texts));
    """
    assert run_script(read_data(to_html(model)), code) == expected


@needs_node
def test_typed_values_are_numbers_of_their_columns():
    utc = datetime.UTC

    def seconds(*moment):
        return datetime.datetime(*moment, tzinfo=utc).timestamp()

    cases = [
        ("date", "2024-02-29", seconds(2024, 2, 29)),
        ("date", "2024-02-29 13:30", seconds(2024, 2, 29, 13, 30)),
        ("date", "2024-02-29T13:30:15.5+02:00", seconds(2024, 2, 29, 11, 30, 15) + 0.5),
        ("date", "86400", 86400.0),
        ("date", "29.2.2024", None),
        ("duration", "1 day, 2:30:00", 95400.0),
        ("duration", "2 days", 172800.0),
        ("duration", "-1 day, 23:59:59", -1.0),
        ("duration", "90", 90.0),
        ("time", "14:30", 52200.0),
        ("number", "-1.5e3", -1500.0),
        ("number", "\u22122", -2.0),
        ("number", "1,5", None),
        ("number", "Infinity", None),
        ("number", "two", None),
    ]
    code = """
    const read = ([source, text]) => readNumber({ source }, text);
    console.log(JSON.stringify([cases.map(read), Number.isNaN(read(["number", " "]))]));
    """
    values, is_missing = run_script({}, code, cases=[case[:2] for case in cases])
    assert values == [case[2] for case in cases]
    assert is_missing


# ----------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_trees": 0}, "max_trees must be an integer >= 1 or None, got 0"),
        ({"max_nodes": 2.5}, "max_nodes must be an integer >= 1 or None, got 2.5"),
        ({"max_levels": 0}, "max_levels must be an integer >= 1 or None, got 0"),
        ({"title": 3}, "title must be a string or None, got 3"),
        ({"feature_names": ["a"]}, "feature_names must have 4 names"),
        ({"class_names": ["a"]}, "class_names must have 3 names"),
    ],
)
def test_wrong_parameters(options, message):
    models = (
        CARTClassifier(),
        RandomForestClassifier(n_estimators=2),
        GradientBoostingClassifier(n_estimators=2),
    )
    for model in models:
        with pytest.raises(ValueError, match=message):
            to_html(model.fit(IRIS.data, SPECIES), **options)


def test_models_without_trees():
    for model in (CARTClassifier(), RandomForestClassifier()):
        with pytest.raises(NotFittedError):
            to_html(model)
    with pytest.raises(TypeError, match="must be a fitted tree"):
        to_html(LogisticRegression(max_iter=500).fit(IRIS.data, SPECIES))
    with pytest.raises(TypeError, match="list of rules"):
        to_html(C45RulesClassifier().fit(IRIS.data, SPECIES))
    with pytest.raises(TypeError, match="must be a fitted tree"):
        to_html("tree")


# -------------------------------------------------------------------- notebooks
def test_notebooks_offer_the_page_of_small_models():
    model = CARTClassifier(max_depth=3)
    before = model._repr_mimebundle_()["text/html"]
    assert "<iframe" not in before
    model.fit(IRIS.data, SPECIES)
    shown = model._repr_mimebundle_(include=None, exclude=None)
    assert shown["text/plain"] == repr(model)
    assert shown["text/html"].startswith(estimator_html_repr(model)[:20])
    assert shown["text/html"].count("<iframe srcdoc=") == 1
    assert "<details><summary>CARTClassifier: the fitted tree" in shown["text/html"]
    assert model._repr_html_().count("<iframe srcdoc=") == 1
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    shown = forest.fit(IRIS.data, SPECIES)._repr_html_()
    assert "RandomForestClassifier: the fitted 3 trees" in shown


def test_notebooks_are_not_filled_with_large_models():
    forest = RandomForestClassifier(random_state=0).fit(IRIS.data, SPECIES)
    shown = forest._repr_html_()
    assert "<iframe" not in shown
    assert 'tree.to_html(model, "model.html")' in shown
    extra = shown.partition("<p>1,6")[2]
    assert len(extra) < 200


def test_notebooks_are_not_filled_with_long_lists_of_levels():
    levels = [f"{number} {'long' * 10}" for number in range(8000)]
    table = pd.DataFrame({"x": pd.Categorical(levels[:300], levels)})
    model = CARTClassifier(max_depth=2).fit(table, np.arange(300) % 2)
    shown = model._repr_html_()
    assert "<iframe" not in shown
    assert f"{model.tree_.node_count} nodes: <code>" in shown


def test_notebooks_show_models_without_trees_as_before():
    line = LogisticRegression(max_iter=500)
    bagging = BaggingClassifier(line, n_estimators=2).fit(IRIS.data, SPECIES)
    assert "the fitted" not in bagging._repr_html_()
    assert "to_html" not in bagging._repr_html_()


def test_notebooks_show_text_if_scikit_learn_is_set_to():
    model = CARTClassifier(max_depth=3).fit(IRIS.data, SPECIES)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_page_of_a_compact_forest_leaves_it_compact():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 4)), rng.integers(0, 2, 3000)
    forest = RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y)
    trees = [member.tree_.compact() for member in forest.estimators_]
    for member, tree in zip(forest.estimators_, trees, strict=True):
        member.tree_ = tree
    to_html(forest)
    assert all(tree.is_compact for tree in trees)
