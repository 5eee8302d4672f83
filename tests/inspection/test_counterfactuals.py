"""The cheapest changes of rows that alter the prediction of a tree."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LinearRegression

from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.inspection import find_counterfactuals
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
)
from sklearn_textbook.tree.explain import build_rules
from tests.exchange.test_levels import SIZES, make_frame, make_target

TREES = {
    "plain": CARTClassifier(max_leaf_nodes=40),
    "branch": CARTClassifier(missing="branch", max_leaf_nodes=40),
    "learned": CARTClassifier(missing="learned", max_leaf_nodes=40),
    "surrogate": CARTClassifier(missing="surrogate", max_leaf_nodes=40),
    "c45": C45Classifier(),
    "unknown": C45Classifier(handle_unknown="fractional"),
    "id3": ID3Classifier(max_depth=3),
}


def fit(model, frame):
    return model.fit(frame, np.digitize(make_target(frame), [0.5, 2.5]))


def change(frame, found):
    """Make the changes in a copy of a frame."""
    frame = frame.copy()
    for name in frame.columns[frame.dtypes == "category"]:
        frame[name] = frame[name].astype(object)
    for entry in found:
        for name, value in entry.values.items():
            frame.loc[frame.index[entry.row], name] = value
    return frame


@pytest.mark.parametrize("name", TREES)
def test_changed_rows_are_predicted_as_wanted(name):
    model = fit(TREES[name], make_frame(missing=0.1))
    new = make_frame(500, missing=0.15, seed=1, unknown=True)
    predicted = model.predict(new)
    for target, options in [
        (None, {}),
        (2, {"cost": "distance", "directions": {"a": "increase", "size": "decrease"}}),
        (0, {"fixed": ["letter", 4], "max_changes": 2}),
    ]:
        found = find_counterfactuals(model, new, target=target, **options)
        after = model.predict(change(new, found))
        is_found = np.array([entry.is_found for entry in found])
        assert is_found.mean() > (0.3 if options else 0.99)
        assert_array_equal(after[~is_found], predicted[~is_found])
        wanted = [entry.new_prediction for entry in found if entry.is_found]
        assert_array_equal(after[is_found], wanted)
        if target is None:
            assert (after != predicted)[is_found].all()
        else:
            assert (after == target)[is_found].all()
        for entry in found:
            assert len(entry.changes) <= options.get("max_changes", 5)
            assert not {"letter", "code"} & set(entry.values) or "fixed" not in options
            for step in entry.changes if "directions" in options else ():
                if step.old is None or step.column not in ("a", "size"):
                    continue
                if step.column == "a":
                    assert step.new > step.old
                else:
                    assert SIZES.index(step.new) < SIZES.index(step.old)
        if target is not None:
            same = [entry for entry in found if predicted[entry.row] == target]
            assert all(entry.cost == 0 and not entry.changes for entry in same)


def measure(rule, row, ranges):
    """The number of changes and the distance of a row from a rule without missing."""
    n_changes, distance = 0, 0.0
    for condition in rule["conditions"]:
        name, operator = condition["feature"], condition["operator"]
        wanted, value = condition["value"], row[name]
        if operator in ("<=", ">", "range") and name in ranges:
            low = wanted if operator == ">" else -np.inf
            high = wanted if operator == "<=" else np.inf
            if operator == "range":
                low, high = wanted
            gap = max(low - value, value - high, 0.0)
            is_inside = low < value <= high
            n_changes += not is_inside
            distance += gap / ranges[name]
            continue
        if operator == "is missing":
            return 99, np.inf
        levels = SIZES if name == "size" else LEVELS[name]
        accepted = {"==": [wanted], "in": wanted}.get(operator)
        if operator == "not in":
            accepted = [level for level in levels if level not in wanted]
        if not accepted:
            return 99, np.inf
        if value not in accepted:
            n_changes += 1
            is_ordinal = name == "size"
            steps = [
                abs(SIZES.index(value) - SIZES.index(level)) / 2 if is_ordinal else 1.0
                for level in accepted
            ]
            distance += min(steps)
    return n_changes, distance


LEVELS = {"letter": list("pqrstuvw"), "code": [2, 7, 30]}


@pytest.mark.parametrize("cost", ["changes", "distance"])
@pytest.mark.parametrize("max_changes", [None, 1])
def test_cheapest_of_all_leaves(cost, max_changes):
    frame = make_frame()
    model = fit(CARTClassifier(max_leaf_nodes=60), frame)
    rules = build_rules(model.tree_, model.schema_, model.classes_)
    new = make_frame(200, seed=1)
    ranges = {name: np.ptp(pd.concat([frame[name], new[name]])) for name in "ab"}
    found = find_counterfactuals(
        model, new, cost=cost, max_changes=max_changes, reference=frame
    )
    for entry, (_, row) in zip(found, new.iterrows(), strict=True):
        others = [rule for rule in rules if rule["class"] != entry.prediction]
        costs = [measure(rule, row, ranges) for rule in others]
        if max_changes:
            costs = [c for c in costs if c[0] <= max_changes]
        if not costs:
            assert not entry.is_found
            continue
        best = min(costs) if cost == "changes" else min(costs, key=lambda c: c[1])
        assert entry.cost == pytest.approx(best[1])
        if cost == "changes":
            assert len(entry.changes) == best[0]


@pytest.mark.parametrize("name", ["plain", "branch", "learned"])
def test_no_change_of_one_column_is_cheaper(name):
    model = fit(TREES[name], make_frame(missing=0.1))
    new = make_frame(60, missing=0.3, seed=2, unknown=True)
    found = find_counterfactuals(model, new)
    nodes = model.tree_.nodes
    tries = []
    for number, column in enumerate(new):
        values = SIZES if column == "size" else LEVELS.get(column)
        if column in ("a", "b"):
            bounds = nodes["threshold"][nodes["feature"] == number]
            values = [*bounds, *np.nextafter(bounds, np.inf), -1e6, 1e6]
        for value in values:
            tries.append(new.astype(object).assign(**{column: value}))
    tries = pd.concat(tries)
    after = model.predict(tries.astype({"a": float, "b": float}))
    before = model.predict(new)
    is_other = (after.reshape(-1, len(new)) != before).any(axis=0)
    n_changes = np.array([len(entry.changes) for entry in found])
    assert_array_equal(n_changes == 1, is_other)
    assert is_other.mean() > 0.5


def test_regression():
    frame = make_frame()
    model = CARTRegressor(max_leaf_nodes=30).fit(frame, make_target(frame))
    for target in [(3.0, None), (None, 0.0), (1.0, 2.0)]:
        found = find_counterfactuals(model, frame, target=target)
        after = model.predict(change(frame, found))
        low, high = (
            e if e is not None else s * np.inf
            for e, s in zip(target, (-1, 1), strict=True)
        )
        assert ((after >= low) & (after <= high)).all()
        assert_allclose(after, [entry.new_prediction for entry in found])
        assert found[0].confidence is None
    assert not find_counterfactuals(model, frame[:1], target=(99, 100))[0].is_found


def test_kinds_of_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"count": rng.integers(0, 100, 200)})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        rng.integers(0, 300, 200), unit="D"
    )
    frame["is"] = rng.random(200) < 0.5
    for name, is_wanted in [
        ("count", frame["count"] > 40),
        ("day", frame["day"] > "2024-06-30"),
        ("is", frame["is"]),
    ]:
        model = CARTClassifier().fit(frame, is_wanted)
        low = frame[~is_wanted][:1]
        (up,) = find_counterfactuals(model, low)
        (step,) = up.changes
        assert step.column == name
        new = low.assign(
            **{name: pd.Series([step.new], low.index).astype(frame[name].dtype)}
        )
        assert model.predict(new)[0]
        if name == "count":
            assert step.new == frame["count"][is_wanted].min()
            assert isinstance(step.new, int)
        if name == "is":
            assert (step.old, step.new) == (False, True)
        if name == "day":
            assert step.new == "2024-07-01"
    # Single precision, where a threshold is no number of the table.
    X = rng.normal(size=(300, 2)).astype(np.float32)
    model = CARTClassifier().fit(X, X[:, 0] > 0.1)
    found = find_counterfactuals(model, X)
    for entry in found:
        X[entry.row, 0] = entry.values["x0"]
    assert_array_equal(model.predict(X), [entry.new_prediction for entry in found])


def test_close_thresholds():
    values = np.array([1.0, np.nextafter(1.0, 2.0), 1e300, -1e300, 1e-300])
    X = values[:, np.newaxis]
    for wanted in range(5):
        model = CARTClassifier().fit(X, np.arange(5) == wanted)
        for entry in find_counterfactuals(model, X, target=True):
            assert model.predict([[entry.values.get("x0", X[entry.row, 0])]])[0]


def test_missing_values():
    frame = make_frame(missing=0.3)
    y = frame["a"].isna() | (frame["b"] > 0)
    model = CARTClassifier(missing="branch").fit(frame[["a", "b"]], y)
    new = pd.DataFrame({"a": [None, 0.5], "b": [-1.0, -1.0]}, dtype=float)
    missing, present = find_counterfactuals(model, new)
    # No value becomes missing, but a missing one may be filled in.
    assert list(missing.values) == ["a"]
    assert missing.changes[0].old is None
    assert list(present.values) == ["b"]
    assert "a: missing -> " in str(missing)
    assert not find_counterfactuals(model, new, fixed=["a"])[0].is_found


def test_text():
    X = pd.DataFrame({"income": [10.0, 20, 30, 40], "sex": list("mfmf")})
    model = CARTClassifier().fit(X, ["no", "no", "yes", "yes"])
    found = find_counterfactuals(model, X[:1], reference=X)
    assert str(found) == (
        "Row 0: 'no' -> 'yes' (2 training rows, 100%) by\n"
        "  income: 10 -> 25.01 (income > 25)"
    )
    assert found[0].cost == pytest.approx(0.5)
    double = find_counterfactuals(model, X[:1], reference=X, column_costs={"income": 2})
    assert double[0].cost == pytest.approx(1.0)
    (none,) = find_counterfactuals(model, X[:1], fixed=["income"])
    assert str(none) == "Row 0: 'no'; no allowed change reaches the target"
    assert find_counterfactuals(model, X[:1], directions={"income": "decrease"}) == [
        none
    ]
    (same,) = find_counterfactuals(model, X[:1], target="no")
    assert str(same) == "Row 0: 'no', already the target"
    assert "income" in find_counterfactuals(model, X)._repr_html_()
    table = sparse.csr_array(np.array([[0.0, 1], [2, 0]]))
    tree = CARTClassifier().fit(table, [0, 1])
    assert len(find_counterfactuals(tree, table)[0].changes) == 1


def test_errors():
    X, y = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
    tree = CARTClassifier().fit(X, y)

    def refuse(match, error=ValueError, model=tree, **options):
        with pytest.raises(error, match=match):
            find_counterfactuals(model, X, **options)

    forest = RandomForestClassifier(n_estimators=2).fit(X, y)
    refuse("RandomForestClassifier", TypeError, forest)
    refuse("LinearRegression", TypeError, LinearRegression().fit(X, y))
    rng = np.random.default_rng(0)
    points = rng.normal(size=(100, 2))
    oblique = ObliqueTreeClassifier().fit(points, points.sum(axis=1) > 0)
    refuse("oblique tests", model=oblique)
    refuse(
        "requires a single output; got 2",
        model=CARTClassifier().fit(X, np.stack([y, y], axis=1)),
    )
    refuse("target must be one of the classes", target=2)
    refuse("target must be one of the classes", target=[0])
    refuse("max_changes", max_changes=0)
    refuse("cost", cost="none")
    refuse(r"fixed must be .*'x0', 'x1'.* from 0 to 1; got 'x9'", fixed=["x9"])
    refuse(r"fixed must be .*'x0', 'x1'.* from 0 to 1; got 2", fixed=[2])
    refuse("fixed must be a sequence", fixed="x0")
    refuse("increase", directions={"x0": "up"})
    refuse("directions must be a dictionary", directions=["x0"])
    refuse("positive number", column_costs={"x0": 0})
    refuse("features", reference=[[1.0]])
    values = CARTRegressor().fit(X, y)
    for target in (None, 3, "ab", (1, 0), (1, "a"), (1, 2, 3)):
        refuse("target must be a pair", model=values, target=target)
    levels = pd.DataFrame({"a": list("xyxy")})
    nominal = CARTClassifier().fit(levels, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="nominal"):
        find_counterfactuals(nominal, levels, directions={"a": "increase"})
