"""What must hold for CART whatever the table: metamorphic tests."""

import math
import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.amount import FACTOR
from tests.growth.test_smoothed_levels import make_case as make_many_levels_case
from tests.reference import smoothed_levels
from tests.reference.cart_tree import Column
from tests.reference.cases import Case, make_case, make_seeded_case
from tests.reference.compare import find_difference, read_grown_tree

COUNTS_OF_ROWS = ("n_samples", "missing_branch")
any_seed = st.integers(0, 2**32)
some_examples = settings(max_examples=30)


def grow(case):
    return read_grown_tree(case.fit_kernel().tree_)


def without(nodes, *names):
    """The nodes and their surrogates less some fields."""
    return [
        {
            name: without(value, *names) if name == "surrogates" else value
            for name, value in node.items()
            if name not in names
        }
        for node in nodes
    ]


def assert_same_nodes(expected, got, case, *ignored):
    difference = find_difference(without(expected, *ignored), without(got, *ignored))
    assert difference is None, f"{difference}\n{case}"


def predict(case, estimator):
    """Class shares or values of the training rows."""
    if case.task == "classifier":
        return estimator.predict_proba(case.make_frame())
    return estimator.predict(case.make_frame())


def make_tie_free_case(seed, task, kinds=("numeric", "ordinal", "nominal")):
    """Large nodes and continuous weights: no two splits are equally good."""
    generator = random.Random(seed)
    n_rows = 120
    columns = []
    for kind in generator.choices(kinds, k=4):
        levels = 0 if kind == "numeric" else generator.randint(3, 6)
        values = [
            generator.randrange(levels) if levels else round(generator.gauss(0, 1), 6)
            for _ in range(n_rows)
        ]
        columns.append(
            Column(
                [None if generator.random() < 0.1 else v for v in values], kind, levels
            )
        )
    signal = [
        sum(v or 0 for v in row)
        for row in zip(*(c.values for c in columns), strict=True)
    ]
    signal = [value + generator.gauss(0, 1) for value in signal]
    y = [(value,) for value in signal]
    if task == "classifier":
        cuts = np.quantile(signal, [1 / 3, 2 / 3])
        y = [(int(np.searchsorted(cuts, value)),) for value in signal]
    weights = [generator.uniform(0.5, 2) for _ in range(n_rows)]
    return Case(task, columns, y, weights, {"min_samples_leaf": 12})


# ----------------------------------------------------------------- rows and weights
@some_examples
@given(any_seed)
def test_an_integer_weight_is_so_many_rows(seed):
    case = make_seeded_case(seed).with_settings(min_samples_split=2, min_samples_leaf=1)
    if case.settings["missing"] == "surrogate":  # surrogates count rows
        case = case.with_settings(missing="learned")
    generator = random.Random(seed)
    copies = [generator.randint(1, 3) for _ in case.y]
    repeated = case.take([row for row, n in enumerate(copies) for _ in range(n)])
    weighted = replace(
        case, weights=[w * n for w, n in zip(case.weights, copies, strict=True)]
    )
    assert_same_nodes(grow(weighted), grow(repeated), case, *COUNTS_OF_ROWS)


def make_weighted_and_repeated(case, seed):
    """A case with the weights 1, 2 and 3, and the same with so many rows instead."""
    case = case.with_settings(
        min_samples_split=2, min_samples_leaf=1, min_weight_fraction_leaf=0.0
    )
    copies = random.Random(seed).choices([1, 2, 3], k=len(case.y))
    weighted = replace(case, weights=[float(n) for n in copies])
    rows = [row for row, n in enumerate(copies) for _ in range(n)]
    return weighted, replace(case.take(rows), weights=[1.0] * len(rows))


@pytest.mark.parametrize("rule", ["surrogates", "levels"])
def test_where_weights_are_not_copies(rule, monkeypatch):
    """Two rules count rows as documented; with them counting weights, all is equal.

    A surrogate needs two rows, and levels are divided by their means in nodes of more
    than 64 rows.
    """
    make = make_seeded_case if rule == "surrogates" else make_many_levels_case
    n_different = 0
    for seed in range(60 * FACTOR if rule == "levels" else 120 * FACTOR):
        case = make(seed)
        missing = "surrogate" if rule == "surrogates" else "learned"
        if rule == "surrogates" and case.settings["missing"] != missing:
            continue
        case = case.with_settings(missing=missing)
        weighted, repeated = make_weighted_and_repeated(case, seed)
        got = grow(repeated)
        with monkeypatch.context() as patch:
            patch.setattr(smoothed_levels, "count_rows", add_weights)
            expected = weighted.grow_reference()
        ignored = (*COUNTS_OF_ROWS, "n_used")
        assert_same_nodes(expected, got, weighted, *ignored)
        plain = without(grow(weighted), *ignored)
        n_different += find_difference(plain, without(got, *ignored)) is not None
    assert n_different > 0


def add_weights(rows, weights):
    return sum(weights[row] for row in rows)


@some_examples
@given(any_seed)
def test_the_unit_of_the_weights_does_not_matter(seed):
    case = make_seeded_case(seed)
    doubled = replace(case, weights=[8 * weight for weight in case.weights])
    ignored = ["weight"] + ["statistics"] * (case.task == "classifier")
    assert_same_nodes(grow(case), grow(doubled), case, *ignored)


# --------------------------------------------------------------------------- columns
@some_examples
@given(any_seed)
def test_a_constant_column_changes_nothing(seed):
    case = make_seeded_case(seed)
    constant = Column([7.0] * len(case.y))
    more = replace(case, columns=[*case.columns, constant])
    if "monotonic_cst" in case.settings:
        more = more.with_settings(monotonic_cst=[*case.settings["monotonic_cst"], 0])
    assert_same_nodes(grow(case), grow(more), case)


@some_examples
@given(any_seed)
def test_strictly_increasing_transforms_keep_the_partitions(seed):
    case = make_seeded_case(seed)
    columns = [
        column
        if column.kind != "numeric"
        else replace(
            column,
            values=[
                None if value is None else value**3 + math.exp(value)
                for value in column.values
            ],
        )
        for column in case.columns
    ]
    transformed = replace(case, columns=columns)
    assert_same_nodes(grow(case), grow(transformed), case, "threshold")


@some_examples
@given(seed=any_seed, task=st.sampled_from(["classifier", "regressor"]))
def test_the_order_of_the_columns_does_not_matter_without_ties(seed, task):
    case = make_tie_free_case(seed, task)
    order = list(range(len(case.columns)))
    random.Random(seed).shuffle(order)
    moved = replace(case, columns=[case.columns[column] for column in order])
    nodes = grow(moved)
    for node in nodes:
        if node["children"]:
            node["feature"] = order[node["feature"]]
    assert_same_nodes(grow(case), nodes, case)


@some_examples
@given(
    seed=any_seed,
    task=st.sampled_from(["classifier", "regressor"]),
    split=st.sampled_from(["subset", "one_vs_rest", "multiway"]),
    missing=st.sampled_from(["learned", "branch", "surrogate"]),
)
def test_the_codes_of_nominal_levels_do_not_matter_without_ties(
    seed, task, split, missing
):
    case = make_tie_free_case(seed, task, kinds=("nominal", "numeric"))
    case = case.with_settings(categorical_split=split, missing=missing)
    generator = random.Random(seed)
    columns = []
    for column in case.columns:
        codes = generator.sample(range(column.n_levels), column.n_levels)
        renamed = [
            value if value is None or column.kind == "numeric" else codes[value]
            for value in column.values
        ]
        columns.append(replace(column, values=renamed))
    relabelled = replace(case, columns=columns)
    np.testing.assert_allclose(
        predict(case, case.fit_kernel()), predict(relabelled, relabelled.fit_kernel())
    )


@some_examples
@given(any_seed)
def test_the_names_of_levels_do_not_matter(seed):
    case = make_seeded_case(seed)
    frame = case.make_frame()
    for name, column in zip(frame, case.columns, strict=True):
        if column.kind != "numeric":
            names = [f"another {code:02d}" for code in range(column.n_levels)]
            frame[name] = frame[name].cat.rename_categories(names)
    estimator = case.fit_kernel()
    nodes = read_grown_tree(estimator.tree_)
    estimator.fit(frame, case.make_target(), sample_weight=case.weights)
    assert_same_nodes(nodes, read_grown_tree(estimator.tree_), case)


@settings(max_examples=20)
@given(
    seed=any_seed,
    criterion=st.sampled_from(
        ["gini", "entropy", "error", "squared_error", "absolute_error", "poisson"]
    ),
    n_classes=st.integers(2, 4),
)
def test_a_nominal_split_is_the_best_of_all_groups(seed, criterion, n_classes):
    """Compared with the 0/1 column of every group of levels."""
    generator = random.Random(seed)
    n_rows, n_levels = 40, 5
    codes = [generator.randrange(n_levels) for _ in range(n_rows)]
    y = [(generator.randrange(n_classes),) for _ in range(n_rows)]
    y[:n_classes] = [(label,) for label in range(n_classes)]
    classifier = criterion in {"gini", "entropy", "error"}
    case = Case(
        "classifier" if classifier else "regressor",
        [Column(codes, "nominal", n_levels)],
        y,
        [generator.uniform(0.5, 2) for _ in range(n_rows)],
        {"criterion": criterion, "max_depth": 1},
    )
    improvements = []
    for group in range(1, 2 ** (n_levels - 1)):
        indicator = Column([float(group >> code & 1) for code in codes])
        if len(set(indicator.values)) == 2:
            improvements.append(grow(replace(case, columns=[indicator]))[0])
    best = max(node["improvement"] for node in improvements)
    assert grow(case)[0]["improvement"] == pytest.approx(best, abs=1e-12)


# ---------------------------------------------------------------------------- target
@some_examples
@given(any_seed)
def test_the_order_of_the_classes_does_not_matter_without_ties(seed):
    case = make_tie_free_case(seed, "classifier")
    moved = [2, 0, 1]
    permuted = replace(case, y=[(moved[label],) for (label,) in case.y])
    np.testing.assert_allclose(
        predict(case, case.fit_kernel()),
        predict(permuted, permuted.fit_kernel())[:, moved],
        atol=1e-12,
    )


@some_examples
@given(
    seed=any_seed,
    criterion=st.sampled_from(["squared_error", "absolute_error", "poisson"]),
)
def test_the_unit_of_y_does_not_matter(seed, criterion):
    case = make_case(random.Random(seed), "regressor", criterion)
    case = case.with_settings(min_impurity_decrease=0.0)
    scaled = replace(case, y=[tuple(4 * y for y in row) for row in case.y])
    nodes = grow(scaled)
    for node in nodes:
        power = 2 if criterion == "squared_error" else 1
        node["impurity"] /= 4**power
        node["improvement"] /= 4**power
        node["statistics"] = [
            [value / 4 for value in row] for row in node["statistics"]
        ]
    assert_same_nodes(grow(case), nodes, case)


@pytest.mark.parametrize("exponent", [-420, -1, 420])
def test_powers_of_two_of_y_give_the_same_tree(exponent):
    """As long as squares are numbers; beyond that, an error."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1000, 4))
    y = X[:, 0] + generator.normal(size=1000)
    tree, other = (CARTRegressor().fit(X, y * 2.0**e).tree_ for e in (0, exponent))
    for name in ("feature", "threshold", "first_child"):
        np.testing.assert_array_equal(other.nodes[name], tree.nodes[name])
    beyond = exponent + 20 * np.sign(exponent)
    if abs(beyond) > 400:
        with pytest.raises(ValueError, match=r"number of y, .* has a square"):
            CARTRegressor().fit(X, y * 2.0**beyond)


# ------------------------------------------------------------------------ parameters
@some_examples
@given(seed=any_seed, max_depth=st.integers(1, 3))
def test_a_limited_depth_gives_the_top_of_the_full_tree(seed, max_depth):
    case = make_seeded_case(seed).with_settings(max_depth=None, max_leaf_nodes=None)
    estimator = case.fit_kernel()
    depth = estimator.tree_.depth
    top = read_grown_tree(estimator.tree_)[: int(np.sum(depth <= max_depth))]
    cut = grow(case.with_settings(max_depth=max_depth))
    facts = ("parent", "n_samples", "weight", "impurity", "statistics")
    for number, (node, expected) in enumerate(zip(cut, top, strict=True)):
        if depth[number] == max_depth:
            assert not node["children"]
            node, expected = (
                {name: item[name] for name in facts} for item in (node, expected)
            )
        assert find_difference([expected], [node]) is None, case


@some_examples
@given(seed=any_seed)
def test_best_first_without_a_limit_is_the_same_tree(seed):
    case = make_seeded_case(seed).with_settings(max_leaf_nodes=None)
    unlimited = case.with_settings(max_leaf_nodes=10_000)
    assert_same_nodes(grow(case), grow(unlimited), case)


@pytest.mark.parametrize("task", ["classifier", "regressor"])
@pytest.mark.parametrize("missing", ["learned", "branch", "surrogate"])
def test_the_number_of_threads_does_not_matter(task, missing):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(3000, 6))
    X[:, 3] = np.round(X[:, 3])
    X[generator.random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=[f"c{number}" for number in range(6)])
    frame["nominal"] = pd.Categorical.from_codes(
        generator.integers(0, 8, 3000), list("abcdefgh")
    )
    y = np.nansum(X[:, :3], axis=1) + generator.normal(size=3000)
    weights = generator.random(3000)
    estimator = CARTRegressor(missing=missing)
    if task == "classifier":
        y, estimator = np.digitize(y, [-1, 0, 1]), CARTClassifier(missing=missing)
    one, two = (
        estimator.set_params(n_jobs=n_jobs).fit(frame, y, sample_weight=weights).tree_
        for n_jobs in (1, 2)
    )
    assert one.nodes.tobytes() == two.nodes.tobytes()
    assert one.statistics.tobytes() == two.statistics.tobytes()
    assert one.level_branch.tobytes() == two.level_branch.tobytes()
    assert one.surrogates.tobytes() == two.surrogates.tobytes()


def make_mixed_frame():
    """A table on which every parameter makes a difference."""
    generator = np.random.default_rng(1)
    n_rows = 240
    numbers = generator.normal(size=(n_rows, 3)).round(1)
    codes = generator.integers(0, 5, n_rows)
    y = numbers[:, 0] - numbers[:, 1] + np.array([0, 2, -1, 1, 0])[codes]
    y += generator.normal(size=n_rows)
    numbers[generator.random(numbers.shape) < 0.15] = np.nan
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    frame["d"] = codes.astype(float)
    frame["e"] = pd.Categorical.from_codes(codes, list("vwxyz"))
    return frame, y


BASE = {"max_depth": 4, "random_state": 0}
CHANGES = {
    "splitter": [({}, {"splitter": "random"})],
    "max_depth": [({}, {"max_depth": 2})],
    "min_samples_split": [({}, {"min_samples_split": 60})],
    "min_samples_leaf": [({}, {"min_samples_leaf": 15})],
    "min_weight_fraction_leaf": [({}, {"min_weight_fraction_leaf": 0.1})],
    "max_features": [({}, {"max_features": 1})],
    "max_leaf_nodes": [({}, {"max_leaf_nodes": 5})],
    "min_impurity_decrease": [({}, {"min_impurity_decrease": 0.02})],
    "ccp_alpha": [({}, {"ccp_alpha": 0.02})],
    "pruning": [({}, {"pruning": "cost_complexity"}), ({}, {"pruning": "loss"})],
    "monotonic_cst": [({}, {"monotonic_cst": [-1, 1, 0, 0, 0]})],
    "random_state": [({"max_features": 1}, {"random_state": 1})],
    "categorical_features": [({}, {"categorical_features": ["d", "e"]})],
    "categorical_split": [
        ({}, {"categorical_split": "one_vs_rest"}),
        ({}, {"categorical_split": "multiway"}),
    ],
    "categorical_smoothing": [
        ({"categorical_features": ["a", "e"]}, {"categorical_smoothing": 0.0})
    ],
    "missing": [
        ({}, {"missing": "branch"}),
        ({}, {"missing": "surrogate"}),
        ({"missing": "branch"}, {"missing": "surrogate"}),
    ],
    "handle_unknown": [({}, {"handle_unknown": "fractional"})],
    "tie_breaking": [({"max_depth": None}, {"tie_breaking": "random"})],
    "top_splits": [({}, {"top_splits": 2})],
    "max_bins": [({}, {"max_bins": 5})],
}
CLASSIFIER_CHANGES = {
    **CHANGES,
    "criterion": [({}, {"criterion": "entropy"}), ({}, {"criterion": "error"})],
    "class_weight": [({}, {"class_weight": {0: 1, 1: 3}})],
    "cost_matrix": [({}, {"cost_matrix": [[0, 1], [3, 0]]})],
}
REGRESSOR_CHANGES = {
    **CHANGES,
    "criterion": [
        ({}, {"criterion": "absolute_error"}),
        ({}, {"criterion": "poisson"}),
    ],
    "leaf_model": [({}, {"leaf_model": "linear"})],
    "leaf_shrinkage": [({"leaf_model": "linear"}, {"leaf_shrinkage": 0.0})],
}
WITHOUT_EFFECT = {"n_jobs"}


def list_changes(changes):
    return [(before, after) for pairs in changes.values() for before, after in pairs]


def describe_model(estimator, frame):
    """The splits, and the predictions for levels that were never seen."""
    nodes = estimator.tree_.nodes
    new = frame.astype({"e": object})
    new["e"] = "another"
    if hasattr(estimator, "predict_proba"):
        predicted = estimator.predict_proba(new)
    else:
        predicted = estimator.predict(new)
    return [nodes["feature"].tolist(), nodes["threshold"].tolist(), predicted.tolist()]


@pytest.mark.parametrize(("before", "after"), list_changes(CLASSIFIER_CHANGES))
def test_every_parameter_of_the_classifier_has_an_effect(before, after):
    frame, y = make_mixed_frame()
    labels = (y > 0).astype(int)
    estimator = CARTClassifier(**{**BASE, **before}).fit(frame, labels)
    expected = describe_model(estimator, frame)
    estimator.set_params(**after).fit(frame, labels)
    assert repr(expected) != repr(describe_model(estimator, frame))


@pytest.mark.parametrize(("before", "after"), list_changes(REGRESSOR_CHANGES))
def test_every_parameter_of_the_regressor_has_an_effect(before, after):
    frame, y = make_mixed_frame()
    counts = np.maximum(y, 0)
    estimator = CARTRegressor(**{**BASE, **before}).fit(frame, counts)
    expected = describe_model(estimator, frame)
    estimator.set_params(**after).fit(frame, counts)
    assert repr(expected) != repr(describe_model(estimator, frame))


@pytest.mark.parametrize(
    ("estimator", "changes"),
    [(CARTClassifier(), CLASSIFIER_CHANGES), (CARTRegressor(), REGRESSOR_CHANGES)],
)
def test_no_parameter_is_forgotten_above(estimator, changes):
    assert set(changes) | WITHOUT_EFFECT == set(estimator.get_params())
