"""Nominal columns of many levels: splits by smoothed means, and in declared order."""

import random

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sklearn_textbook import ensemble, tree
from sklearn_textbook.ensemble.boosting import adaboost
from sklearn_textbook.tree.members import MemberGrower
from tests.amount import FACTOR
from tests.growth.partitioners import PARTITIONERS, force
from tests.loops import loop_over
from tests.reference.cart_tree import Column
from tests.reference.cases import (
    CRITERIA,
    Case,
    make_classes,
    make_column,
    make_numbers,
    make_settings,
    make_weights,
)
from tests.reference.compare import find_difference, read_grown_tree

N_CASES = 60 * FACTOR


def make_many_levels(generator, n_rows, missing_share):
    """Levels in a column, some of them rare."""
    n_levels = generator.choice([9, 10, 12, 20, 40])
    power = generator.choice([1, 2, 3])
    values = [int(generator.random() ** power * n_levels) for _ in range(n_rows)]
    values = [None if generator.random() < missing_share else v for v in values]
    return Column(values, "nominal", n_levels)


def add_effects(generator, column, y):
    """Let classes or numbers depend on the levels."""
    effects = {
        level: generator.gauss(0, 1) for level in [*range(column.n_levels), None]
    }
    size = generator.choice([0, 1, 1, 3])
    shifts = [size * effects[value] for value in column.values]
    if isinstance(y[0][0], int):
        highest = max(label for row in y for label in row)
        return [
            tuple(highest if shift > 1 else label for label in row)
            for row, shift in zip(y, shifts, strict=True)
        ]
    return [
        tuple(max(label + round(shift, 1), 0.0) for label in row)
        for row, shift in zip(y, shifts, strict=True)
    ]


def make_case(seed):
    """A table of more rows than nodes that divide levels in declared order have."""
    generator = random.Random(seed)
    task = generator.choice(["classifier", "regressor"])
    criterion = generator.choice(CRITERIA[task])
    missing = generator.choice(["learned", "learned", "branch", "surrogate", "error"])
    share = generator.choice([0, 0.1]) if missing != "error" else 0
    n_rows = generator.randint(65, 140)
    columns = [make_many_levels(generator, n_rows, share)]
    for _ in range(generator.randint(0, 2)):
        make = generator.choice([make_many_levels, make_column])
        columns.append(make(generator, n_rows, share))
    settings = make_settings(generator, criterion, missing)
    settings["max_depth"] = generator.choice([1, 1, 2])
    settings["categorical_smoothing"] = generator.choice(["auto"] * 5 + [0.0, 2.5])
    n_outputs = generator.choice([1, 1, 1, 2])
    if task == "classifier":
        y = make_classes(generator, n_rows, n_outputs, generator.choice([2, 2, 3, 4]))
    else:
        y = make_numbers(generator, n_rows, n_outputs, criterion)
    y = add_effects(generator, columns[0], y)
    if criterion == "poisson":
        y[0] = tuple(1.0 for _ in y[0])
    return Case(task, columns, y, make_weights(generator, n_rows), settings)


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@loop_over("seed", range(N_CASES))
def test_tree_is_that_of_the_reference(partitioner, seed):
    case = make_case(seed)
    design_effect = random.Random(seed).choice([1.0, 1.0, 1.5, 2.0])
    is_served = case.settings["criterion"] != "absolute_error" and (
        case.settings["missing"] != "surrogate"
    )
    if partitioner == "sample-list" and not is_served:
        return
    reference = case.with_settings(design_effect=design_effect).grow_reference()
    with force(partitioner), pytest.MonkeyPatch.context() as patch:
        for cart in (tree.CARTClassifier, tree.CARTRegressor):
            patch.setattr(cart, "_design_effect", design_effect)
        grown = case.fit_kernel().tree_
    difference = find_difference(reference, read_grown_tree(grown))
    assert difference is None, f"make_case({seed}): {difference}\n{case}"


def test_cases_divide_levels_by_their_means_and_in_order():
    """The cases above test what they are meant to."""
    seen = set()
    for seed in range(N_CASES):
        case = make_case(seed)
        if case.settings["categorical_smoothing"] == 0.0:
            continue
        grown = case.fit_kernel().tree_
        root = grown.nodes[0]
        if not root["n_children"] or case.settings["categorical_split"] != "subset":
            seen.add((case.settings["categorical_split"], bool(root["n_children"])))
            continue
        column = case.columns[root["feature"]]
        if column.kind == "nominal" and column.n_levels > 9:
            branches = grown.read_level_map(root)
            branches = branches[branches >= 0]
            seen.add("in order" if (np.diff(branches) >= 0).all() else "by means")
    assert {"in order", "by means", ("one_vs_rest", True), ("multiway", True)} <= seen


def make_table(n_rows, n_levels, seed=0, effect=0.0, rows_per_level=None):
    """Numbers that matter, and levels with or without an effect; two classes."""
    generator = np.random.default_rng(seed)
    levels = generator.integers(n_levels, size=n_rows)
    score = generator.standard_normal(n_rows)
    X = pd.DataFrame({"x": score, "z": generator.standard_normal(n_rows)})
    X["text"] = pd.Categorical([f"level {code:04}" for code in levels])
    score = score + effect * generator.standard_normal(n_levels)[levels]
    y = (score + generator.logistic(size=n_rows) > 0).astype(int)
    return X, y


MODELS = {
    "tree": tree.CARTClassifier(min_samples_leaf=5),
    "oblique": tree.ObliqueTreeClassifier(max_depth=4),
    "forest": ensemble.RandomForestClassifier(10, random_state=0),
    "bagging": ensemble.BaggingClassifier(n_estimators=10, random_state=0),
    "subspace": ensemble.RandomSubspaceClassifier(n_estimators=10, random_state=0),
    "stumps": ensemble.AdaBoostClassifier(random_state=0),
    "adaboost": ensemble.AdaBoostClassifier(
        tree.CARTClassifier(max_depth=3), random_state=0
    ),
    "boosting": ensemble.GradientBoostingClassifier(random_state=0),
}


def measure_importance(model, X, y):
    """Importance of the text column."""
    model = clone(model).fit(X, y)
    if hasattr(model, "feature_importances_"):
        return model.feature_importances_[2]
    members = zip(model.estimators_, model.estimators_features_, strict=True)
    shares = [dict(zip(f, m.feature_importances_, strict=True)) for m, f in members]
    return np.mean([share.get(2, 0.0) for share in shares])


@pytest.mark.parametrize("name", MODELS)
def test_levels_without_effect_count_no_more_than_random_numbers(name):
    as_text, as_numbers = [], []
    for seed in range(6):
        X, y = make_table(1500, 300, seed=seed)
        as_text.append(measure_importance(MODELS[name], X, y))
        X["text"] = np.random.default_rng(100 + seed).standard_normal(len(X))
        as_numbers.append(measure_importance(MODELS[name], X, y))
    assert np.mean(as_text) < 1.2 * np.mean(as_numbers) + 0.01


@pytest.mark.parametrize("name", MODELS)
def test_effects_of_many_levels_are_found(name):
    X, y = make_table(4000, 200, effect=2.0)
    model = clone(MODELS[name]).fit(X[:2000], y[:2000])
    plain = clone(MODELS[name]).fit(X[["x", "z"]][:2000], y[:2000])
    score = model.score(X[2000:], y[2000:])
    # Half of the members of subspaces do not have the column.
    least = 0.005 if name == "subspace" else 0.04
    assert score > plain.score(X[["x", "z"]][2000:], y[2000:]) + least


def test_rare_levels_that_differ_are_found():
    """Ten levels of two hundred, twenty rows each, have another mean."""
    generator = np.random.default_rng(0)
    levels = generator.integers(200, size=4000)
    y = (levels % 20 == 7) * 3.0 + generator.standard_normal(4000)
    X = pd.DataFrame({"text": pd.Categorical(levels.astype(str))})
    model = tree.CARTRegressor(max_depth=1).fit(X[:3000], y[:3000])
    low, high = np.sort(np.unique(model.predict(X[3000:])))
    assert low == pytest.approx(0.0, abs=0.1)
    assert high == pytest.approx(3.0, abs=0.3)


@pytest.mark.parametrize("name", MODELS)
def test_few_levels_are_left_as_they_are(name):
    X, y = make_table(600, 9, effect=1.0)
    smoothing = "categorical_smoothing"
    model = clone(MODELS[name])
    if smoothing not in model.get_params():
        smoothing = f"estimator__{smoothing}"
        if "estimator__max_depth" not in model.get_params():
            kind = tree.CARTClassifier
            model.set_params(
                estimator=kind(criterion="error", max_depth=1)
                if name == "stumps"
                else kind()
            )
    other = clone(model).set_params(**{smoothing: 0.0}).fit(X, y)
    model.fit(X, y)
    assert np.array_equal(model.predict_proba(X), other.predict_proba(X))


def test_fixed_smoothing_is_a_number_of_rows():
    """The mean of a level of n rows counts n / (n + k): rare levels count less."""
    generator = np.random.default_rng(0)
    sizes = np.repeat([40, 3], [9, 1])
    levels = np.repeat(np.arange(10), sizes)
    y = generator.standard_normal(len(levels)) * 0.1
    y += np.where(levels == 9, 4.0, np.where(levels == 4, 1.0, 0.0))
    X = pd.DataFrame({"text": pd.Categorical(levels.astype(str))})

    def list_alone(smoothing):
        model = tree.CARTRegressor(max_depth=1, categorical_smoothing=smoothing)
        branches = model.fit(X, y).apply(pd.DataFrame({"text": list("0123456789")}))
        return {place for place in range(10) if branches[place] != branches[0]}

    assert list_alone(0.0) == {4, 9}
    # In declared order level 9 alone can be parted from the others at the end.
    assert list_alone(1.0) == {4, 9}
    assert list_alone(30.0) == {9}


@pytest.mark.parametrize("value", [-1, float("nan"), "none", None, "Auto"])
@pytest.mark.parametrize("name", ["tree", "oblique", "forest", "boosting"])
def test_wrong_smoothing(name, value):
    X, y = make_table(30, 12)
    model = clone(MODELS[name]).set_params(categorical_smoothing=value)
    with pytest.raises((ValueError, TypeError), match="categorical_smoothing"):
        model.fit(X, y)


@pytest.mark.parametrize("sampling", ["reweight", "resample"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_levels", [30, 400])
def test_stumps_of_the_kernel_are_trees(monkeypatch, sampling, n_classes, n_levels):
    X, y = make_table(900, n_levels, effect=1.0)
    y = y + (n_classes == 3) * (X["z"].to_numpy() > 0.7)
    X.loc[::11, "text"] = None
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    model = ensemble.AdaBoostClassifier(
        n_estimators=12, sampling=sampling, random_state=0
    )
    found = clone(model).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(adaboost, "choose_learner", lambda _: adaboost.TreeLearner)
    expected = clone(model).fit(X, y, sample_weight=weight)
    assert {e.tree_.feature[0] for e in found.estimators_} >= {2}
    for one, other in zip(found.estimators_, expected.estimators_, strict=True):
        assert one.tree_.feature[0] == other.tree_.feature[0]
    assert found.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=1e-9)


def test_counts_of_draws_tell_less_than_as_many_rows():
    """Of bootstrap samples, levels without effect are not split more often."""
    n_found = {1.0: 0, 2.0: 0}
    for seed in range(60):
        X, y = make_table(800, 60, seed)
        grower = MemberGrower(tree.CARTClassifier(max_depth=1), X[["text"]], y)
        rows = np.random.default_rng(seed).integers(800, size=800)
        counts = np.bincount(rows, minlength=800)
        for effect in n_found:
            member = grower.grow(counts, seed, design_effect=effect)
            found = member.tree_.nodes["improvement"][0] > 0.01
            n_found[effect] += int(found)
    assert n_found[1.0] > 15 > 5 > n_found[2.0]


def test_random_levels_are_no_surrogates():
    """Of levels of two rows, one agrees with any test on the rows it was found on."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = x > 0
    table = pd.DataFrame({"x": x, "twin": x + 0.8 * rng.normal(size=600)})
    table["random"] = rng.integers(0, 300, 600).astype(str)
    half = np.where(y ^ (rng.uniform(size=600) < 0.1), "high", "low").astype(object)
    table["group"] = half + rng.integers(0, 6, 600).astype(str)  # twelve levels
    table.loc[rng.uniform(size=600) < 0.3, "x"] = None
    ranks = {}
    for smoothing in ("auto", 0):
        grown = tree.CARTClassifier(
            max_depth=1, missing="surrogate", categorical_smoothing=smoothing
        ).fit(table, y)
        assert grown.tree_.nodes["feature"][0] == 0
        ranks[smoothing] = [
            (table.columns[one["feature"]], one["agreement"])
            for one in grown.tree_.surrogates
        ]
    assert [name for name, _ in ranks["auto"]] == ["group", "twin"]
    agreements = dict(ranks[0])
    assert agreements["random"] > 0.75
    # Levels of 50 rows agree with their test nearly as well without the row itself.
    assert 0 <= agreements["group"] - dict(ranks["auto"])["group"] < 0.01
