"""C4.5: the compiled tree equals its reference; and what holds for any table."""

import math
import random
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_textbook.datasets import load_play_tennis
from sklearn_textbook.tree import C45Classifier, ErrorBasedPruning
from sklearn_textbook.tree.grow import _tree_grower
from tests.amount import FACTOR, count_chunks
from tests.property.test_cart_properties import (
    any_seed,
    assert_same_nodes,
    grow,
    some_examples,
)
from tests.reference.c45_cases import make_case, make_seeded_case
from tests.reference.c45_route import predict_class, predict_shares
from tests.reference.cart_tree import Column
from tests.reference.cases import make_frame
from tests.reference.compare import find_difference, read_grown_tree

N_CHUNKS = count_chunks(2)
CASES_PER_CHUNK = 200  # 400 tables


def check_case(case, source, **parameters):
    """Fit the case with the kernel and with the reference, and compare every node."""
    nodes = read_grown_tree(case.fit_kernel(**parameters).tree_)
    difference = find_difference(case.grow_reference(), nodes)
    assert difference is None, f"{source}: {difference}\n{case}"


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_random_tables(chunk):
    for seed in range(chunk * CASES_PER_CHUNK, (chunk + 1) * CASES_PER_CHUNK):
        check_case(make_seeded_case(seed), f"make_seeded_case({seed})")


@given(seed=st.integers(0, 2**32))
def test_any_table(seed):
    case = make_case(random.Random(seed))
    check_case(case, f"make_case(random.Random({seed}))")


@pytest.mark.parametrize("task_rows", [1, 8])
def test_first_phase_of_growing(monkeypatch, task_rows):
    """Tasks so small that large nodes, in which threads share columns, are many."""
    calls = []

    def choose_task_rows(n_rows, n_columns):
        calls.append(n_rows)
        return min(task_rows, n_rows)

    monkeypatch.setattr(_tree_grower, "choose_task_rows", choose_task_rows)
    for seed in range(5000, 5000 + 75 * FACTOR):
        check_case(make_seeded_case(seed), f"make_seeded_case({seed})", n_jobs=2)
    assert len(calls) == 75 * FACTOR


def make_rows_frame(case, rows):
    """The rows as a frame of the case's columns."""
    by_column = zip(*rows, strict=True)
    return make_frame(
        [
            replace(column, values=list(values))
            for column, values in zip(case.columns, by_column, strict=True)
        ]
    )


def test_new_rows_take_the_same_way():
    """Shares with and without Laplace's cases; the class is the same for both."""
    for seed in range(75 * FACTOR):
        case = make_seeded_case(seed)
        nodes = case.grow_reference()
        rows = case.make_new_rows(random.Random(seed))
        frame = make_rows_frame(case, rows)
        for laplace in (False, True):
            estimator = case.fit_kernel(laplace=laplace)
            shares, classes = estimator.predict_proba(frame), estimator.predict(frame)
            for row, got, label in zip(rows, shares, classes, strict=True):
                expected = predict_shares(nodes, row, laplace=laplace)
                place = (laplace, seed, row)
                assert list(got) == pytest.approx(expected, abs=1e-9), place
                assert label == predict_class(predict_shares(nodes, row)), place


def test_the_tables_cover_every_kind_of_split():
    """The random tables are no use if what they are for never happens."""
    splits = ("multiway", "one_vs_rest", "subset")
    wanted = {
        *product(splits, ("numeric", "ordinal", "nominal"), [False]),
        *product(("multiway", "subset"), ["nominal"], [True]),
        *product(("empty", "divided", "pruned"), (False, True)),
    }
    seen = set()
    for seed in range(400):
        case = make_seeded_case(seed)
        split = case.settings["categorical_split"]
        nodes = case.grow_reference()
        seen.add(("pruned", len(nodes) < len(grow_unpruned(case))))
        for node in nodes:
            n_children = len(node["children"])
            seen.add((split, node["kind"], n_children > 2))
            seen.add(("empty", node["weight"] == 0))
            seen.add(("divided", n_children > 0 and node["weight"] % 1 > 1e-9))
        if wanted <= seen:
            return
    assert wanted <= seen, wanted - seen


def grow_unpruned(case):
    unpruned = {**case.settings, "pruning": None, "collapse": False}
    return replace(case, settings=unpruned).grow_reference()


# ----------------------------------------------------------------- rows and weights
@some_examples
@given(any_seed)
def test_an_integer_weight_is_so_many_rows(seed):
    """All limits are weights, so this holds whatever they are."""
    case = make_seeded_case(seed)
    generator = random.Random(seed)
    weights = [float(generator.randint(0, 3)) for _ in case.y]
    # Every class and level stays, so that it is declared either way.
    weights[: len(weights) // 2] = [1.0] * (len(weights) // 2)
    case = replace(case, weights=weights)
    repeated = case.repeat_rows()
    if max(repeated.y) == max(case.y) and len(set(repeated.y)) == len(set(case.y)):
        assert_same_nodes(grow(case), grow(repeated), case, "n_samples")


# --------------------------------------------------------------------------- columns
@some_examples
@given(any_seed)
def test_strictly_increasing_transforms_keep_the_partitions(seed):
    """As long as they bring no values closer together than J48 tells apart."""
    case = make_seeded_case(seed)
    columns = [
        replace(column, values=[transform(column, value) for value in column.values])
        for column in case.columns
    ]
    transformed = replace(case, columns=columns)
    # Midpoints move against the values of other nodes, which raised branches hold.
    case.settings["subtree_raising"] = False
    assert_same_nodes(grow(case), grow(transformed), case, "threshold")


def transform(column, value):
    if column.kind != "numeric" or value is None:
        return value
    return value + value**3 + math.exp(value)


@some_examples
@given(any_seed)
def test_columns_without_a_test_change_nothing(seed):
    """One value only, no known value at all, a known value in one row only."""
    case = make_seeded_case(seed)
    n_rows = len(case.y)
    useless = [
        Column([7.0] * n_rows, "numeric"),
        Column([None] * n_rows, "numeric"),
        Column([1, *[None] * (n_rows - 1)], "ordinal", 3),
    ]
    more = replace(case, columns=[*case.columns, *useless])
    if any(column.kind != "nominal" for column in case.columns):
        assert_same_nodes(grow(case), grow(more), case)


def test_neighbours_within_a_hundred_thousandth_are_one_value():
    X = [[0.0], [9e-6], [1.8e-5], [2.7e-5]] * 3
    y = [0, 0, 1, 1] * 3
    assert C45Classifier().fit(X, y).tree_.node_count == 1
    assert C45Classifier().fit(np.multiply(X, 10), y).tree_.node_count == 3


def test_the_threshold_is_a_value_of_the_whole_table():
    """77.5 would do for the node; another node's rows have 75."""
    X, y = load_play_tennis("weka", return_X_y=True)
    tree = C45Classifier().fit(X, y).tree_
    assert 75.0 in tree.nodes["threshold"]
    tree = C45Classifier(threshold="midpoint").fit(X, y).tree_
    assert 77.5 in tree.nodes["threshold"]


# ------------------------------------------------------------------------ parameters
@some_examples
@given(any_seed)
def test_a_pruned_tree_without_raising_is_the_top_of_the_grown_one(seed):
    case = make_seeded_case(seed, subtree_raising=False, pruning="error_based")
    full = grow(replace(case, settings={**case.settings, "pruning": None}))
    top, number_in_full = grow(case), {0: 0}
    for number, node in enumerate(top):
        above = full[number_in_full[number]]
        assert node["weight"] == pytest.approx(above["weight"])
        if node["children"]:
            assert node["feature"] == above["feature"]
            number_in_full |= dict(
                zip(node["children"], above["children"], strict=True)
            )


@some_examples
@given(any_seed)
def test_less_confidence_prunes_as_much_or_more(seed):
    sizes = []
    for confidence in (0.5, 0.25, 0.1, 0.01):
        case = make_seeded_case(
            seed,
            pruning="error_based",
            subtree_raising=False,
            confidence=confidence,
        )
        sizes.append(case.fit_kernel().tree_.node_count)
    assert sizes == sorted(sizes, reverse=True)


def test_limits_of_scikit_learn():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 4))
    y = (X[:, 0] * X[:, 1] + 0.3 * generator.normal(size=400) > 0).astype(int)
    free = {"pruning": None, "collapse": False, "mdl_correction": False}
    full = C45Classifier(**free).fit(X, y)
    assert full.get_n_leaves() > 20
    assert C45Classifier(**free, max_leaf_nodes=7).fit(X, y).get_n_leaves() == 7
    assert C45Classifier(**free, max_depth=2).fit(X, y).get_depth() == 2
    heavy = C45Classifier(**free, min_weight_fraction_leaf=0.1).fit(X, y).tree_
    assert heavy.nodes["weight"].min() >= 40
    share = C45Classifier(**free, min_samples_leaf=0.1).fit(X, y).tree_
    assert share.nodes["weight"].min() >= 40
    useful = C45Classifier(**free, min_impurity_decrease=0.01).fit(X, y).tree_
    inner = useful.nodes[~useful.is_leaf]
    assert (inner["improvement"] * inner["weight"] / 400 >= 0.01).all()
    assert useful.node_count < full.tree_.node_count


@pytest.mark.parametrize(
    "parameters",
    [
        {"gain_ratio_rule": "best"},
        {"threshold": 0.5},
        {"collapse": 1},
        {"laplace": "yes"},
        {"mdl_correction": None},
        {"min_samples_leaf": 0},
        {"missing": "surrogate"},
        {"categorical_split": "many"},
        {"pruning": "cost"},
        {"pruning": ErrorBasedPruning},
        {"pruning": ErrorBasedPruning(confidence=0.0)},
        {"pruning": ErrorBasedPruning(confidence="low")},
        {"pruning": ErrorBasedPruning(subtree_raising="no")},
        {"max_leaf_nodes": 1},
        {"min_weight_fraction_leaf": 0.6},
    ],
)
def test_parameters_out_of_range(parameters):
    (name,) = parameters
    value = parameters[name]
    if isinstance(value, ErrorBasedPruning):
        (name,) = (
            key
            for key, default in ErrorBasedPruning().get_params().items()
            if getattr(value, key) != default
        )
    with pytest.raises(ValueError, match=f"'{name}' parameter must be"):
        C45Classifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_parameters_of_a_pruner_that_is_only_named():
    estimator = C45Classifier()
    assert estimator.get_params()["pruning__confidence"] == 0.25
    estimator.set_params(pruning__confidence=0.1, min_samples_leaf=5)
    assert isinstance(estimator.pruning, ErrorBasedPruning)
    assert estimator.get_params()["pruning__confidence"] == 0.1
    assert estimator.min_samples_leaf == 5
    with pytest.raises(ValueError, match="confidenze"):
        C45Classifier().set_params(pruning__confidenze=0.1)


def test_one_output_only():
    with pytest.raises(ValueError, match="1d"):
        C45Classifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]])


@pytest.mark.parametrize("categorical_split", ["multiway", "one_vs_rest", "subset"])
@pytest.mark.parametrize("missing_share", [0.0, 0.05])
def test_the_number_of_threads_does_not_matter(categorical_split, missing_share):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(9000, 6))
    X[:, 3] = np.round(X[:, 3])
    X[generator.random(X.shape) < missing_share] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdef"))
    codes = generator.integers(-1 if missing_share else 0, 12, 9000)
    levels = [f"level {code}" for code in range(12)]
    frame["g"] = pd.Categorical.from_codes(codes, levels)
    y = np.digitize(np.nansum(X[:, :3], axis=1) + codes % 3, [-1, 0, 1])
    estimator = C45Classifier(categorical_split=categorical_split)
    weights = generator.random(9000) + 0.5
    one, two = (
        estimator.set_params(n_jobs=n_jobs).fit(frame, y, sample_weight=weights).tree_
        for n_jobs in (1, 2)
    )
    assert one.node_count > 50
    assert one.nodes.tobytes() == two.nodes.tobytes()
    assert one.statistics.tobytes() == two.statistics.tobytes()
    assert one.level_branch.tobytes() == two.level_branch.tobytes()
