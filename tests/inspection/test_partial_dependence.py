"""Partial dependence: against scikit-learn, plain Python and predictions."""

import datetime
import inspect
import itertools
import pickle
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.inspection
from matplotlib.dates import date2num
from scipy import sparse
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
    OutputSmearingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)
from sklearn_textbook.exchange import to_sklearn
from sklearn_textbook.inspection import (
    PartialDependenceDisplay,
    partial_dependence,
    shap_values,
)
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
    recursion = sklearn.inspection.partial_dependence
    if "custom_values" in inspect.signature(recursion).parameters:  # 1.7 and newer
        expected = recursion(
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
        (1.5, {}, "indices from 0 to 1; got 1.5"),
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
        ("a", {"custom_values": {"z": [1]}}, "custom_values must be column names.*'z'"),
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


def test_models_that_are_not_accepted_are_named():
    X = make_table(100)
    y, labels = make_values(X), make_labels(X)
    with pytest.raises(TypeError, match='got str.*"brute"'):
        partial_dependence("model", X, 0)
    with pytest.raises(NotFittedError):
        partial_dependence(CARTRegressor(), X, 0)
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


# --------------------------------------------------------- rows of X (brute, ICE)
@pytest.mark.parametrize(
    "model",
    [
        CARTRegressor(max_leaf_nodes=20),
        CARTClassifier(max_depth=4),
        ObliqueTreeClassifier(max_depth=2, random_state=0),
        RandomForestClassifier(5, random_state=0),
        RandomForestClassifier(5, voting="hard", random_state=0),
        GradientBoostingClassifier(n_estimators=5),
        AdaBoostClassifier(n_estimators=5),
        OutputSmearingClassifier(n_estimators=3, random_state=0),
    ],
)
@pytest.mark.parametrize("features", [[0], [1, 2]])
def test_rows_equal_brute_of_scikit_learn(model, features):
    X = make_table(60).astype(np.float64)
    y = make_labels(X) if hasattr(model, "predict_proba") else make_values(X)
    model.fit(X, y)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    for kind in ("average", "individual", "both"):
        options = {"kind": kind, "grid_resolution": 4, "sample_weight": weight}
        result = partial_dependence(model, X, features, **options)
        expected = sklearn.inspection.partial_dependence(model, X, features, **options)
        assert list(result) == list(expected)
        for name in {"average", "individual"} & set(result):
            assert result[name] == pytest.approx(expected[name], abs=1e-9)


def test_levels_are_replaced_in_all_rows():
    X, y = mixed(n_classes=2)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    name = X.columns[2]
    result = partial_dependence(forest, X, name, kind="individual")
    for place, level in enumerate(result.grid_values[0]):
        changed = X.assign(
            **{name: X[name].mask(X[name].index >= 0, level).astype(X[name].dtype)}
        )
        expected = forest.predict_proba(changed)[:, 1]
        assert result.individual[0, :, place] == pytest.approx(expected)


def test_sparse_tables_are_read_in_blocks(monkeypatch):
    X = sparse.random(50, 6, density=0.3, random_state=0, format="csr")
    tree = CARTRegressor().fit(X, X.toarray().sum(axis=1))
    expected = partial_dependence(tree, X.toarray(), 0, kind="both")
    module = sys.modules["sklearn_textbook.inspection.partial_dependence"]
    monkeypatch.setattr(module, "BLOCK_CELLS", 100)
    result = partial_dependence(tree, X, 0, kind="both")
    np.testing.assert_array_equal(result.individual, expected.individual)
    assert result.average == pytest.approx(expected.average)


def test_what_is_averaged_for_gradient_boosting():
    X, y = mixed(n_classes=2)
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    name = X.columns[0]
    grid = {"custom_values": {name: [0.0]}}
    raw = partial_dependence(
        model, X, name, method="brute", response_method="decision_function", **grid
    )
    changed = X.assign(**{name: 0.0})
    assert raw.average.item() == pytest.approx(model.decision_function(changed).mean())
    for response in ("auto", "predict_proba"):
        options = {"method": "brute", "response_method": response, **grid}
        result = partial_dependence(model, X, name, **options)
        expected = model.predict_proba(changed)[:, 1].mean()
        assert result.average.item() == pytest.approx(expected)
    auto = partial_dependence(model, X, name, response_method="predict_proba", **grid)
    np.testing.assert_array_equal(auto.average, result.average)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (CARTClassifier(), {"kind": "all"}, "'kind' parameter"),
        (CARTClassifier(), {"method": "fast"}, "'method' parameter"),
        (CARTClassifier(), {"response_method": "score"}, "'response_method' parameter"),
        (
            CARTClassifier(),
            {"response_method": "decision_function"},
            "requires gradient boosting.*got CARTClassifier",
        ),
        (
            CARTRegressor(),
            {"response_method": "predict_proba"},
            "\"auto\" for a regressor, got 'predict_proba'",
        ),
        (
            CARTRegressor(),
            {"method": "recursion", "kind": "both"},
            "not possible for the predictions of single rows",
        ),
        (
            CARTRegressor(),
            {"method": "recursion", "sample_weight": np.ones(100)},
            "not possible with sample_weight",
        ),
        (
            GradientBoostingClassifier(n_estimators=2),
            {"method": "recursion", "response_method": "predict_proba"},
            "not possible for the probabilities of GradientBoostingClassifier",
        ),
        (
            AdaBoostClassifier(n_estimators=2),
            {"method": "recursion"},
            "not possible for AdaBoostClassifier, whose probabilities",
        ),
        (
            ObliqueTreeClassifier(max_depth=2, random_state=0),
            {"method": "recursion"},
            "not possible for ObliqueTreeClassifier with oblique tests",
        ),
        (
            CARTClassifier(),
            {"categorical_features": [True, False]},
            r"mask must have shape .*\(4,\), got: \(2,\)",
        ),
        (
            CARTClassifier(),
            {"categorical_features": ["z"]},
            r"'z' which is not a valid feature name .*\['x0', 'x1', 'x2', 'x3'\]",
        ),
        (CARTClassifier(), {"feature_names": ["a"]}, "must have 4 names.*got 1"),
    ],
)
def test_wrong_ways_to_average_are_named(model, options, message):
    X = make_table(100)
    y = make_labels(X) if hasattr(model, "predict_proba") else make_values(X)
    model.fit(X, y)
    with pytest.raises(ValueError, match=message):
        partial_dependence(model, X, 0, **options)


# --------------------------------------------------------- dates, times, booleans
def make_times():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 120
    day = pandas.Timestamp("2023-01-01", tz="Asia/Shanghai")
    X = pandas.DataFrame(
        {
            "day": day + pandas.to_timedelta(rng.integers(0, 700, n), "D"),
            "stay": pandas.to_timedelta(rng.integers(3600, 900000, n), "s"),
            "start": [datetime.time(int(h), 30) for h in rng.integers(0, 24, n)],
            "smoker": rng.random(n) < 0.3,
            "age": rng.normal(40, 12, n),
        }
    )
    y = X.smoker * 2 + X.age / 20 + X.day.dt.month / 6 + X.stay.dt.days / 5
    return X, y.to_numpy() - 10


def test_grids_are_dates_durations_times_and_booleans():
    X, y = make_times()
    tree = CARTRegressor(max_depth=5).fit(X, y)
    grids = [partial_dependence(tree, X, name).grid_values[0] for name in X.columns]
    assert [grid.dtype.kind for grid in grids] == list("MmObf")
    utc = X["day"].dt.tz_convert("UTC").dt.tz_localize(None)
    low, high = utc.min().to_datetime64(), utc.max().to_datetime64()
    assert ((grids[0] >= low) & (grids[0] <= high)).all()
    assert sorted(X["start"].unique()) == grids[2].tolist()
    assert grids[3].tolist() == [False, True]
    for name, values in {
        "day": [datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC)],
        "stay": [datetime.timedelta(days=2, microseconds=1)],
        "start": [datetime.time(3, 4, 5)],
    }.items():
        grid = partial_dependence(tree, X, name, custom_values={name: values})
        found = grid.grid_values[0].tolist()
        assert found == [v.replace(tzinfo=None) if name == "day" else v for v in values]


def test_axes_of_dates_durations_times_and_booleans():
    X, y = make_times()
    tree = CARTRegressor(max_depth=5).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(tree, X, list(X.columns))
    display.figure_.draw_without_rendering()
    day, stay, start, smoker, age = display.axes_.ravel()[:5]
    labels = [label.get_text() for label in day.get_xticklabels()]
    assert "2024" in labels
    (new_year,) = [
        t for t, text in zip(day.get_xticks(), labels, strict=True) if text == "2024"
    ]
    # In the time zone of the column.
    assert new_year == date2num(np.datetime64("2023-12-31T16:00"))
    assert stay.get_xlabel() == "stay (days)"
    assert stay.get_xlim()[1] < 11
    assert {"06:00", "12:00"} <= {label.get_text() for label in start.get_xticklabels()}
    assert [label.get_text() for label in smoker.get_xticklabels()] == ["False", "True"]
    assert len(smoker.patches) == 2
    assert display.deciles_vlines_[0, 0].get_segments()[0][0, 0] > 19000  # days
    assert age.get_xlabel() == "age"
    # Booleans are numbers beside numbers, and have deciles only there.
    display = PartialDependenceDisplay.from_estimator(
        tree, X, ["smoker", ("smoker", "age")]
    )
    assert display.deciles_vlines_[0, 0] is None
    assert len(display.axes_[0, 0].collections) == 0
    assert display.deciles_vlines_[0, 1].get_segments()


# ------------------------------------------------------------------------ figure
def test_bars_start_at_the_mean_prediction():
    X, y = mixed(n_classes=2)
    model = GradientBoostingClassifier(n_estimators=20).fit(X, y)
    name = X.columns[2]
    display = PartialDependenceDisplay.from_estimator(model, X, [name])
    result = partial_dependence(model, X, name)
    axes = display.axes_[0, 0]
    tops = [bar.get_y() + bar.get_height() for bar in axes.patches]
    assert tops == pytest.approx(result.average[0])
    (base,) = {bar.get_y() for bar in axes.patches}
    low, high = axes.get_ylim()
    assert low < base < high
    assert low < min(tops) < max(tops) < high
    assert base == pytest.approx(shap_values(model, X.iloc[:1]).base_values)
    # Results alone have no mean.
    other = PartialDependenceDisplay(
        [result],
        features=[(2,)],
        feature_names=list(X.columns),
        target_idx=0,
        deciles={},
        is_categorical=[(True,)],
    ).plot()
    assert {bar.get_y() for bar in other.axes_[0, 0].patches} == {0.0}
    assert other.axes_[0, 0].get_ylim()[0] <= 0.0 <= other.axes_[0, 0].get_ylim()[1]


def test_long_names_of_levels_leave_room_for_the_axes():
    pandas = pytest.importorskip("pandas")
    names = [f"a very long description of the level with number {n}" for n in range(4)]
    X = pandas.DataFrame(
        {"level": names * 20, "many": [f"l{n % 70}" for n in range(80)]}
    )
    y = np.arange(80) % 4
    tree = CARTRegressor(categorical_smoothing=0.0).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(tree, X, ["level", "many"])
    display.figure_.draw_without_rendering()
    figure = display.figure_.bbox
    for axes in display.axes_.ravel():
        assert axes.bbox.height > 0.55 * figure.height
        labels = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert all(label.y0 > 0 for label in labels)
        pairs = itertools.pairwise(labels)
        assert all(left.x1 < right.x0 for left, right in pairs)
    texts = [label.get_text() for label in display.axes_[0, 0].get_xticklabels()]
    assert len(set(texts)) == 4  # names that would be equal lose their middle


def test_lines_of_rows():
    X, y = mixed(n_classes=2)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    a, b, c, *_ = X.columns
    draw = PartialDependenceDisplay.from_estimator
    options = {"subsample": 7, "random_state": 0, "grid_resolution": 6}
    display = draw(forest, X, [a, c], kind="both", **options)
    assert display.lines_.shape == (1, 2, 8)
    for place, name in enumerate([a, c]):
        result = partial_dependence(forest, X, name, kind="both", grid_resolution=6)
        rows = {tuple(row) for row in result.individual[0].tolist()}
        *lines, average = [line.get_ydata() for line in display.lines_[0, place]]
        assert all(tuple(line.tolist()) in rows for line in lines)
        assert average == pytest.approx(result.average[0])
    ticks = display.axes_[0, 1].get_xticklabels()
    assert [text.get_text() for text in ticks] == list(map(str, result.grid_values[0]))
    colors = [line.get_color() for line in display.lines_[0, 0, [0, 7]]]
    assert colors[0] != colors[1]
    # Lines that start at 0, and one kind per plot.
    display = draw(
        forest, X, [a, (a, b)], kind=["individual", "average"], centered=True, **options
    )
    assert {line.get_ydata()[0] for line in display.lines_[0, 0]} == {0.0}
    first = draw(forest, X, [a], kind="both", target=forest.classes_[0], **options)
    second = draw(forest, X, [a], kind="both", **options)
    for one, other in zip(first.lines_.ravel(), second.lines_.ravel(), strict=True):
        np.testing.assert_allclose(one.get_ydata() + other.get_ydata(), 1.0)


def test_parameters_of_scikit_learn_are_accepted():
    """Every parameter of from_estimator and plot, under the same name and default."""
    for name in ("from_estimator", "plot", "__init__"):
        own, other = (
            inspect.signature(getattr(cls, name)).parameters
            for cls in (
                PartialDependenceDisplay,
                sklearn.inspection.PartialDependenceDisplay,
            )
        )
        for key, parameter in other.items():
            if key in own:
                assert own[key].default == parameter.default
            else:  # passed on
                assert name == "plot"
                assert key in {"line_kw", "ice_lines_kw", "contour_kw", "bar_kw"}
    X, y = mixed(n_classes=2)
    tree = CARTClassifier(max_depth=3).fit(X, y)
    a, b, c, *_ = X.columns
    display = PartialDependenceDisplay.from_estimator(
        tree,
        X,
        [a, b, c],
        sample_weight=np.ones(len(X)),
        categorical_features=[b],
        n_jobs=2,
        verbose=0,
        n_cols=1,
        grid_resolution=5,
        line_kw={"linewidth": 3},
        contour_kw={"alpha": 0.5},
        bar_kw={"color": "red"},
    )
    assert display.axes_.shape == (3, 1)
    assert display.lines_[0, 0].get_linewidth() == 3
    assert len(display.axes_[1, 0].patches) == X[b].nunique()
    assert display.bars_[2, 0].get_facecolor()[:3] == (1.0, 0.0, 0.0)


def test_constant_models_have_axes():
    X = make_table(50)
    tree = CARTRegressor(max_depth=1).fit(X, np.full(50, 3.0))
    display = PartialDependenceDisplay.from_estimator(tree, X, [0, (0, 1)])
    low, high = display.axes_[0, 0].get_ylim()
    assert low < 3.0 < high


def test_pairs_of_many_levels_have_no_numbers():
    X, y = mixed(n_classes=2)
    *_, c, d, _ = X.columns
    many = X.assign(many=[f"l{n % 20}" for n in range(len(X))])
    tree = CARTClassifier(max_depth=4).fit(many, y)
    pairs = [(c, d), (c, "many")]
    display = PartialDependenceDisplay.from_estimator(tree, many, pairs)
    few, many = display.axes_[0]
    assert len(few.texts) == X[c].nunique() * X[d].nunique()
    assert len(many.texts) == 0
    assert few.images[0].colorbar.ax.get_ylabel() == display.measure


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
    first = {"target": tree.classes_[0]}
    with pytest.raises(ValueError, match="'kind' parameter must be one of 'average'"):
        draw(tree, X, [a], kind="mean", **first)
    with pytest.raises(ValueError, match="one for each of the 2 plots"):
        draw(tree, X, [a, c], kind=["both"], **first)
    with pytest.raises(ValueError, match=r'"average" for pairs .*got \'both\' for'):
        draw(tree, X, [(c, d)], kind="both", **first)
    with pytest.raises(ValueError, match="'subsample' parameter must be"):
        draw(tree, X, [a], subsample=0, **first)
