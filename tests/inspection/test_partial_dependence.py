"""Partial dependence: against scikit-learn, plain Python and predictions."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.inspection
from sklearn.exceptions import NotFittedError

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BoostingTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)
from sklearn_textbook.exchange import to_sklearn
from sklearn_textbook.inspection import PartialDependenceDisplay, partial_dependence
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
)
from tests.exchange.tables import make_labels, make_table, make_values


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def mixed(missing=0.1, **parameters):
    return make_mixed_table(
        300,
        n_numeric=2,
        n_nominal=2,
        n_ordinal=1,
        n_levels=(3, 5),
        missing_fraction=missing,
        as_frame=True,
        random_state=0,
        **parameters,
    )


# ----------------------------------------------------------------- scikit-learn
# Raised for init="zero" as well.
@pytest.mark.filterwarnings("ignore:Using recursion method with a non-constant init")
@pytest.mark.parametrize("features", [[0], [1, 2]])
@pytest.mark.parametrize(
    "model",
    [
        CARTRegressor(max_leaf_nodes=30),
        CARTRegressor(criterion="absolute_error", max_depth=4),
        RandomForestRegressor(10, random_state=0),
        GradientBoostingRegressor(n_estimators=20),
        GradientBoostingRegressor(n_estimators=20, init="zero", subsample=0.5),
        BoostingTreeRegressor(n_estimators=9, learning_rate=0.5),
        GradientBoostingClassifier(n_estimators=9),
    ],
)
def test_equal_to_recursion_of_scikit_learn(model, features):
    X = make_table()
    y = make_labels(X) if hasattr(model, "predict_proba") else make_values(X)
    # Scikit-learn rounds the grid to single precision, so its values are in it.
    grid = {
        column: np.quantile(X[:, column], np.linspace(0.05, 0.95, 17))
        for column in features
    }
    grid = {c: np.unique(values.astype(np.float32)) for c, values in grid.items()}
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    model.fit(X, y, sample_weight=weight)
    result = partial_dependence(model, X, features, custom_values=grid)
    expected = sklearn.inspection.partial_dependence(
        to_sklearn(model), X, features, method="recursion", custom_values=grid
    )
    start = getattr(model, "_start_score", np.zeros(len(result.average)))
    start = start.reshape(-1, *[1] * len(features))
    assert result.average == pytest.approx(expected.average + start, abs=1e-9)
    default = partial_dependence(model, X, features, grid_resolution=8)
    expected = sklearn.inspection.partial_dependence(
        to_sklearn(model), X, features, method="recursion", grid_resolution=8
    )
    for own, other in zip(default.grid_values, expected.grid_values, strict=True):
        assert own == pytest.approx(other)
    assert list(default) == list(expected)
    assert default.average.shape == expected.average.shape


# ------------------------------------------------------------------ plain Python
def walk(tree, node, point):
    """Mean of the leaves below a node; a point has values of some columns."""
    record = tree.nodes[node]
    n_children, first = int(record["n_children"]), int(record["first_child"])
    if n_children == 0:
        return tree.value[node, 0]
    children = range(first, first + n_children)
    if int(record["feature"]) in point:
        value = point[int(record["feature"])]
        if tree.n_levels[record["feature"]] and record["map_start"] >= 0:
            branch = tree.read_level_map(record)[int(value)]
        else:
            branch = int(value > record["threshold"])
        if branch >= 0:
            return walk(tree, first + branch, point)
        return tree.value[node, 0]  # level without a branch: the distribution here
    weight = tree.nodes["weight"][first : first + n_children]
    values = np.array([walk(tree, child, point) for child in children])
    return weight @ values / weight.sum()


@pytest.mark.parametrize(
    "model",
    [
        ID3Classifier(),
        C45Classifier(),
        CARTClassifier(missing="surrogate"),
        CARTClassifier(categorical_split="multiway", missing="branch"),
    ],
)
@pytest.mark.parametrize("columns", [(2,), (0, 3), (4,)])
def test_equal_to_a_walk_in_plain_python(model, columns):
    X, y = mixed(n_classes=3)
    model.fit(X, y)
    result = partial_dependence(model, X, columns, grid_resolution=5)
    levels = [model.schema_.columns[c].codes if c > 1 else None for c in columns]
    for place in np.ndindex(*map(len, result.grid_values)):
        point = {}
        for column, values, codes, n in zip(
            columns, result.grid_values, levels, place, strict=True
        ):
            point[column] = codes[values[n]] if codes else values[n]
        expected = walk(model.tree_, 0, point)
        assert result.average[:, *place] == pytest.approx(expected)


# ------------------------------------------------------------------- predictions
@pytest.mark.parametrize(
    "model",
    [
        ID3Classifier(),
        C45Classifier(laplace=True),
        CARTRegressor(missing="surrogate"),
        RandomForestClassifier(9, random_state=0),
        ExtraTreesRegressor(9, random_state=0),
        BaggingClassifier(C45Classifier(), 5, random_state=0),
        BaggingRegressor(CARTRegressor(), 5, random_state=0),
        RandomSubspaceRegressor(CARTRegressor(), 5, random_state=0),
        GradientBoostingClassifier(n_estimators=5),
    ],
)
def test_of_all_columns_it_is_the_prediction(model):
    is_classifier = hasattr(model, "predict_proba")
    X, y = mixed(task="classification" if is_classifier else "regression")
    model.fit(X, y)
    X = X[X.notna().all(axis=1)].iloc[:4]
    columns = list(X.columns)
    for row in range(len(X)):
        point = {name: [X[name].iloc[row]] for name in columns}
        average = partial_dependence(model, X, columns, custom_values=point).average
        row = X.iloc[[row]]
        if isinstance(model, GradientBoostingClassifier):
            expected = model.decision_function(row)
        else:
            expected = model.predict_proba(row) if is_classifier else model.predict(row)
            expected = expected[:, 1] if is_classifier else expected
        assert average.ravel() == pytest.approx(expected)


def test_several_outputs_of_regression():
    X = make_table()
    y = np.column_stack([make_values(X), X[:, 0]])
    tree = CARTRegressor(max_leaf_nodes=20).fit(X, y)
    result = partial_dependence(tree, X, 0)
    assert result.average.shape == (2, 100)
    brute = sklearn.inspection.partial_dependence(tree, X, [0], method="brute")
    assert result.grid_values[0] == pytest.approx(brute.grid_values[0])
    assert result.average[1] == pytest.approx(brute.average[1], abs=0.3)


def test_levels_and_missing_values_of_the_grid():
    X, y = mixed()
    tree = CARTClassifier(max_depth=3).fit(X, y)
    name = X.columns[2]
    result = partial_dependence(tree, X, name)
    assert sorted(result.grid_values[0]) == sorted(X[name].dropna().unique())
    numeric = X.columns[0]
    result = partial_dependence(tree, X, numeric, custom_values={numeric: [np.nan]})
    assert np.isfinite(result.average).all()
    assert np.isnan(result.grid_values[0]).all()


def test_compact_trees_of_a_forest_stay_compact():
    X = make_table()
    forest = RandomForestRegressor(3, random_state=0).fit(X, make_values(X))
    forest = pickle.loads(pickle.dumps(forest))
    assert forest.estimators_[0].tree_.is_compact
    partial_dependence(forest, X, [0])
    assert all(member.tree_.is_compact for member in forest.estimators_)


@pytest.mark.parametrize(
    ("features", "parameters", "message"),
    [
        ("z", {}, r"features must be column names, \['a', 'b'\], .*; got 'z'"),
        (2, {}, "indices from 0 to 1; got 2"),
        ([], {}, "one or more columns"),
        (["a", 0], {}, "one or more columns"),
        ("a", {"grid_resolution": 1}, "grid_resolution"),
        ("a", {"percentiles": (0.9, 0.1), "grid_resolution": 3}, "two increasing"),
        ("a", {"percentiles": 0.5, "grid_resolution": 3}, "two increasing"),
        ("a", {"percentiles": (0.5, 0.51), "grid_resolution": 3}, "further apart"),
        (
            "b",
            {"custom_values": {"b": ["u", "w"]}},
            r"levels seen in training.*got 'w'",
        ),
        ("a", {"custom_values": {"a": []}}, "must be a non-empty 1D array"),
    ],
)
def test_wrong_parameters_are_named(features, parameters, message):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [0.0, 1, 1, 1, 1, 2], "b": list("uvuvuv")})
    tree = CARTClassifier().fit(X, [0, 1, 0, 1, 1, 0])
    with pytest.raises(ValueError, match=message):
        partial_dependence(tree, X, features, **parameters)


def test_a_column_without_values_is_named():
    X = np.array([[1.0, 2.0], [2.0, 3.0]])
    tree = CARTRegressor().fit(X, [0.0, 1.0])
    with pytest.raises(ValueError, match="Column 'x1' of X has no value"):
        partial_dependence(tree, [[1.0, np.nan]], [1])


def test_models_without_a_recursion_are_named():
    X = make_table(100)
    y, labels = make_values(X), make_labels(X)
    oblique = ObliqueTreeClassifier(max_depth=2, random_state=0).fit(X, labels)
    with pytest.raises(ValueError, match=r"ObliqueTreeClassifier has oblique tests"):
        partial_dependence(oblique, X, 0)
    with pytest.raises(TypeError, match="got AdaBoostClassifier"):
        partial_dependence(AdaBoostClassifier(n_estimators=2).fit(X, labels), X, 0)
    with pytest.raises(TypeError, match='got str.*"brute"'):
        partial_dependence("model", X, 0)
    with pytest.raises(NotFittedError):
        partial_dependence(CARTRegressor(), X, 0)
    voting = RandomForestClassifier(2, voting="hard").fit(X, labels)
    with pytest.raises(ValueError, match='voting="hard"'):
        partial_dependence(voting, X, 0)
    start = GradientBoostingRegressor(init=CARTRegressor(), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match=r"init=CARTRegressor"):
        partial_dependence(start, X, 0)
    two = CARTClassifier().fit(X, np.column_stack([labels, labels]))
    with pytest.raises(
        ValueError, match="requires a single output; got CARTClassifier with 2"
    ):
        partial_dependence(two, X, 0)
    other = BaggingRegressor(sklearn.tree.DecisionTreeRegressor(), 2).fit(X, y)
    with pytest.raises(TypeError, match="got BaggingRegressor"):
        partial_dependence(other, X, 0)


# ------------------------------------------------------------------------ figure
def test_display_draws_curves_bars_and_contours():
    X, y = mixed(n_classes=3)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    a, b, c, d, _ = X.columns
    features = [a, c, (a, b), (c, d)]
    display = PartialDependenceDisplay.from_estimator(
        forest, X, features, target=forest.classes_[1], grid_resolution=5
    )
    assert isinstance(display, sklearn.inspection.PartialDependenceDisplay)
    curve = display.lines_[0, 0].get_data()
    result = partial_dependence(forest, X, a, grid_resolution=5)
    assert curve[1] == pytest.approx(result.average[1])
    assert len(display.axes_[0, 1].patches) == X[c].nunique()
    assert display.axes_[0, 0].get_xlabel() == a
    # Deciles of the second column are along the y axis.
    display.figure_.draw_without_rendering()
    lines = display.deciles_hlines_[0, 2]
    ends = lines.get_transform().transform(np.concatenate(lines.get_segments()))
    bounds = display.axes_[0, 2].bbox
    assert ends[:, 0].min() == pytest.approx(bounds.x0)
    assert np.ptp(ends[:, 0]) == pytest.approx(0.05 * bounds.width)
    _, ax = plt.subplots()
    again = display.plot(ax=ax)
    assert again is display
    assert again.figure_ is ax.figure


@pytest.mark.parametrize("boosted", [False, True])
def test_each_of_two_classes_can_be_drawn(boosted):
    X, y = mixed(n_classes=2)
    a = X.columns[0]
    model = GradientBoostingClassifier(n_estimators=3) if boosted else CARTClassifier()
    model.fit(X, y)
    first, second = model.classes_
    draw = PartialDependenceDisplay.from_estimator
    curves = {
        target: draw(model, X, [a], target=target).lines_[0, 0].get_ydata()
        for target in (None, first, second)
    }
    np.testing.assert_array_equal(curves[None], curves[second])
    total = 0.0 if boosted else 1.0
    np.testing.assert_allclose(curves[first] + curves[second], total, atol=1e-12)
    label = draw(model, X, [a], target=first).axes_[0, 0].get_ylabel()
    kind = "score" if boosted else "probability"
    assert label == f"Partial dependence\n({kind} of {first})"
    with pytest.raises(ValueError, match=r"target must be one of .*, got 'other'"):
        draw(model, X, [a], target="other")


def test_names_of_columns_are_short_and_written_as_they_are():
    X, y = mixed(n_classes=2)
    a = X.columns[0]
    long = {a: "Average monthly income ($ per month, $1000) of the applicant"}
    X = X.rename(columns=long)
    tree = CARTClassifier(max_depth=3).fit(X, y)
    with plt.style.context("dark_background"):
        display = PartialDependenceDisplay.from_estimator(tree, X, [long[a]])
    label = display.axes_[0, 0].xaxis.label
    assert label.get_text() == "Average monthly income\n($ per month…"
    assert not label.get_parse_math()
    deciles = display.deciles_vlines_[0, 0]
    assert deciles.get_color()[0][:3].tolist() == [1.0, 1.0, 1.0]


def test_wrong_parameters_of_the_display_are_named():
    X, y = mixed(n_classes=3)
    tree = CARTClassifier(max_depth=2).fit(X, y)
    a, _, c, d, e = X.columns
    draw = PartialDependenceDisplay.from_estimator
    with pytest.raises(ValueError, match=r"target must be one of .*, got None"):
        draw(tree, X, [a])
    with pytest.raises(ValueError, match="both numeric or both nominal"):
        draw(tree, X, [(a, c)], target=tree.classes_[0])
    with pytest.raises(ValueError, match="columns or pairs of columns"):
        draw(tree, X, [(c, d, e)], target=tree.classes_[0])
    with pytest.raises(ValueError, match="features must be a list of columns"):
        draw(tree, X, a, target=tree.classes_[0])
