"""ID3: the compiled tree equals its reference; and what holds for any table."""

import math
import random
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_textbook.tree import ID3Classifier, export_rules
from tests.amount import count_chunks
from tests.explain.test_rules import share_of
from tests.growth.test_cart_reference import list_refused_rows, predict_with_kernel
from tests.property.test_cart_properties import (
    any_seed,
    assert_same_nodes,
    grow,
    make_tie_free_case,
    some_examples,
)
from tests.reference.cart_route import find_shares, predict_row
from tests.reference.cart_tree import Column
from tests.reference.cases import make_frame
from tests.reference.compare import find_difference, read_grown_tree
from tests.reference.id3_cases import ID3Case, make_id3_case, make_seeded_id3_case

N_CHUNKS = count_chunks(2)
CASES_PER_CHUNK = 200  # 400 tables
SPLITS = ("multiway", "one_vs_rest")


def check_case(case, source):
    """Fit the case with the kernel and with the reference, and compare every node."""
    difference = find_difference(case.grow_reference(), grow(case))
    assert difference is None, f"{source}: {difference}\n{case}"


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_random_tables(chunk):
    for seed in range(chunk * CASES_PER_CHUNK, (chunk + 1) * CASES_PER_CHUNK):
        check_case(make_seeded_id3_case(seed), f"make_seeded_id3_case({seed})")


@given(seed=st.integers(0, 2**32))
def test_any_table(seed):
    case = make_id3_case(random.Random(seed))
    check_case(case, f"make_id3_case(random.Random({seed}))")


def test_new_rows_take_the_same_way():
    """Values missing, levels never seen: each goes where the reference sends it."""
    n_refused = 0
    for seed in range(100):
        case = make_seeded_id3_case(seed)
        columns = case.make_new_columns(random.Random(seed))
        rows = list(zip(*(column.values for column in columns), strict=True))
        frame, estimator = make_frame(columns), case.fit_kernel()
        nodes = case.grow_reference()
        refused = list_refused_rows(case, nodes, rows)
        if refused:
            n_refused += 1
            with pytest.raises(ValueError, match=r"c\d"):
                estimator.predict_proba(frame.iloc[refused[:1]])
        kept = [number for number in range(len(rows)) if number not in refused]
        if not kept:
            continue
        predicted = predict_with_kernel(case, estimator, frame.iloc[kept])
        for number, (got,) in zip(kept, predicted, strict=True):
            row = rows[number]
            (expected,) = predict_row(
                nodes, row, case.task, case.settings["handle_unknown"]
            )
            assert list(got) == pytest.approx(expected, abs=1e-9), (seed, row)
    assert n_refused > 0


def test_the_tables_cover_every_kind_of_split():
    """The random tables are no use if what they are for never happens."""
    wanted = {
        *product(SPLITS, ("numeric", "ordinal", "nominal"), [False]),
        ("multiway", "nominal", True),
        *product(("empty", "gain", "divided", "light"), (False, True)),
    }
    seen = set()
    for seed in range(300):
        case = make_seeded_id3_case(seed)
        nodes = case.grow_reference()
        has_units = set(case.weights) <= {0.0, 1.0}
        for node in nodes:
            n_children = len(node["children"])
            seen.add((case.settings["categorical_split"], node["kind"], n_children > 2))
            seen.add(("empty", node["weight"] == 0))
            seen.add(("gain", n_children > 0 and node["improvement"] == 0))
            if has_units and n_children:  # a node that holds parts of rows was split
                seen.add(("divided", node["weight"] % 1 > 1e-9))
                seen.add(("light", node["weight"] < 2))
        if wanted <= seen:
            return
    assert wanted <= seen, wanted - seen


# ----------------------------------------------------------------- rows and weights
@some_examples
@given(any_seed)
def test_an_integer_weight_is_so_many_rows(seed):
    """All limits are weights, so this holds whatever they are."""
    case = make_seeded_id3_case(seed)
    generator = random.Random(seed)
    copies = [generator.randint(1, 3) for _ in case.y]
    repeated = case.take([row for row, n in enumerate(copies) for _ in range(n)])
    weights = [w * n for w, n in zip(case.weights, copies, strict=True)]
    weighted = replace(case, weights=weights)
    assert_same_nodes(grow(weighted), grow(repeated), case, "n_samples")


@some_examples
@given(any_seed)
def test_class_weights_are_weights_of_rows(seed):
    case = make_seeded_id3_case(seed)
    factors = {label: 0.5 + label for label in range(case.n_classes[0])}
    weights = [w * factors[y] for w, (y,) in zip(case.weights, case.y, strict=True)]
    estimator = ID3Classifier(**case.settings, class_weight=factors, n_jobs=1)
    estimator.fit(case.make_frame(), case.make_target(), sample_weight=case.weights)
    nodes = read_grown_tree(estimator.tree_)
    assert_same_nodes(grow(replace(case, weights=weights)), nodes, case)


@some_examples
@given(seed=any_seed, n_levels=st.integers(2, 5))
def test_a_missing_value_is_a_part_of_a_row_for_every_level(seed, n_levels):
    """In a table of one column the parts can be written as rows with weights."""
    generator = random.Random(seed)
    values = [generator.choice([None, *range(n_levels)]) for _ in range(30)]
    y = [(generator.randrange(2),) for _ in values]
    y[:2] = [(0,), (1,)]
    rows = [(v, label, 1.0) for v, label in zip(values, y, strict=True)]
    known = [value for value in values if value is not None]
    whole = [row for row in rows if row[0] is not None]
    parts = [
        (level, label, known.count(level) / len(known))
        for value, label, _ in rows
        for level in range(n_levels)
        if value is None and level in known
    ]

    def grow_one(rows):
        values, y, weights = map(list, zip(*rows, strict=True))
        column = Column(values, "nominal", n_levels)
        return grow(ID3Case("classifier", [column], y, weights, {}))

    assert_same_nodes(grow_one(rows), grow_one(whole + parts), seed, "n_samples")


# --------------------------------------------------------------------------- columns
@some_examples
@given(any_seed)
def test_columns_without_a_test_change_nothing(seed):
    """One value only, no known value at all, a known value in one row only."""
    case = make_seeded_id3_case(seed)
    n_rows = len(case.y)
    useless = [Column([7.0] * n_rows)]
    if case.settings["missing"] != "error":
        useless.append(Column([None] * n_rows, "nominal", 3))
        useless.append(Column([1, *[None] * (n_rows - 1)], "ordinal", 3))
    more = replace(case, columns=[*case.columns, *useless])
    assert_same_nodes(grow(case), grow(more), case)


@some_examples
@given(any_seed)
def test_strictly_increasing_transforms_keep_the_partitions(seed):
    case = make_seeded_id3_case(seed)
    columns = [
        replace(column, values=[transform(column, value) for value in column.values])
        for column in case.columns
    ]
    transformed = replace(case, columns=columns)
    assert_same_nodes(grow(case), grow(transformed), case, "threshold")


def transform(column, value):
    if column.kind != "numeric" or value is None:
        return value
    return value**3 + math.exp(value)


@some_examples
@given(any_seed)
def test_the_order_of_the_columns_does_not_matter_without_ties(seed):
    case = ID3Case(**vars(make_tie_free_case(seed, "classifier")))
    order = list(range(len(case.columns)))
    random.Random(seed).shuffle(order)
    moved = replace(case, columns=[case.columns[column] for column in order])
    nodes = grow(moved)
    for node in nodes:
        if node["children"]:
            node["feature"] = order[node["feature"]]
    assert_same_nodes(grow(case), nodes, case)


@some_examples
@given(any_seed)
def test_two_levels_are_two_numbers(seed):
    """Of two levels or two numbers a column has the same test."""
    case = make_seeded_id3_case(seed).with_settings(categorical_split="multiway")
    generator = random.Random(seed)
    values = [
        None if value is None else generator.randrange(2)
        for value in case.columns[0].values
    ]
    same = ("threshold", "kind", "level_map")
    trees = []
    for kind in ("numeric", "ordinal", "nominal"):
        column = Column(values, kind, 0 if kind == "numeric" else 2)
        trees.append(grow(replace(case, columns=[column, *case.columns[1:]])))
    for tree in trees[1:]:
        assert_same_nodes(trees[0], tree, case, *same)


@some_examples
@given(any_seed)
def test_the_first_of_equal_columns_is_taken(seed):
    """Mirrored, a column gains the same, but the terms are added in another order."""
    case = make_seeded_id3_case(seed)
    mirrored = [
        replace(column, values=[mirror(column, value) for value in column.values])
        for column in case.columns
    ]
    twice = replace(case, columns=[*case.columns, *mirrored])
    assert_same_nodes(grow(case), grow(twice), case)


def mirror(column, value):
    if value is None:
        return None
    return -value if column.kind == "numeric" else column.n_levels - 1 - value


@pytest.mark.parametrize("low", [1.0, -1.0, 5e-324, 1e300])
def test_neighbouring_floats(low):
    """No number lies between them, and no distance is too small."""
    high = np.nextafter(low, np.inf)
    tree = ID3Classifier().fit([[low], [high], [high]], [0, 1, 1]).tree_
    assert tree.threshold[0] == low
    assert tree.weighted_n_node_samples.tolist() == [3, 1, 2]


def test_equal_columns_drawn_at_random():
    generator = np.random.default_rng(0)
    column = generator.integers(0, 2, 50)
    X = np.column_stack([column] * 4).astype(str)
    roots = set()
    for seed in range(40):
        estimator = ID3Classifier(tie_breaking="random", random_state=seed)
        roots.add(int(estimator.fit(X, column).tree_.feature[0]))
    assert roots == {0, 1, 2, 3}


# ------------------------------------------------------------------------ parameters
FACTS = ("n_samples", "weight", "impurity", "statistics")


def find_cut_nodes(full, top, number=0, number_in_top=0):
    """Inner nodes of the full tree that are leaves of the other; all else equal."""
    node, cut = full[number], top[number_in_top]
    facts = [{name: one[name] for name in FACTS} for one in (node, cut)]
    assert find_difference(facts[:1], facts[1:]) is None
    if not cut["children"]:
        return [node] if node["children"] else []
    assert cut["feature"] == node["feature"]
    assert len(cut["children"]) == len(node["children"])
    return [
        found
        for child, child_in_top in zip(node["children"], cut["children"], strict=True)
        for found in find_cut_nodes(full, top, child, child_in_top)
    ]


@some_examples
@given(seed=any_seed, min_gain=st.floats(0.01, 0.5))
def test_min_gain_gives_the_top_of_the_full_tree(seed, min_gain):
    """Without missing values, the gain is the decrease of the entropy."""
    case = make_seeded_id3_case(seed).with_settings(min_gain=0.0)
    full, top = grow(case), grow(case.with_settings(min_gain=min_gain))
    cut_nodes = find_cut_nodes(full, top)
    if not any(None in column.values for column in case.columns):
        assert all(node["improvement"] < min_gain for node in cut_nodes)
        kept = [node for node in top if node["children"]]
        assert all(node["improvement"] >= min_gain - 1e-12 for node in kept)


@some_examples
@given(seed=any_seed, max_depth=st.integers(1, 3))
def test_a_limited_depth_gives_the_top_of_the_full_tree(seed, max_depth):
    case = make_seeded_id3_case(seed).with_settings(max_depth=None)
    limited = case.with_settings(max_depth=max_depth).fit_kernel()
    full = case.fit_kernel()
    find_cut_nodes(read_grown_tree(full.tree_), read_grown_tree(limited.tree_))
    assert limited.get_depth() == min(full.get_depth(), max_depth)


@some_examples
@given(seed=any_seed, min_samples_split=st.integers(3, 9))
def test_min_samples_split_gives_the_top_of_the_full_tree(seed, min_samples_split):
    case = make_seeded_id3_case(seed).with_settings(min_samples_split=2)
    full = grow(case)
    top = grow(case.with_settings(min_samples_split=min_samples_split))
    for node in find_cut_nodes(full, top):
        assert node["weight"] < min_samples_split
    for node in top:
        assert not node["children"] or node["weight"] > min_samples_split - 1e-5


def test_light_parts_of_rows_are_branches_by_default_only():
    """A branch of weight 1/2 will do, unless a minimum above 1 is asked for."""
    X = pd.DataFrame({"a": ["p", "p", "q", "q", None, None]})
    X["b"] = ["u", "u", "u", "u", "u", "v"]
    y = [0, 0, 1, 1, 0, 1]
    nodes = read_grown_tree(ID3Classifier().fit(X, y).tree_)
    assert nodes[0]["feature"] == 0
    below = [nodes[child] for child in nodes[0]["children"]]
    assert [node["feature"] for node in below] == [1, 1]
    lightest = [min(nodes[c]["weight"] for c in node["children"]) for node in below]
    assert lightest == [0.5, 0.5]
    limited = ID3Classifier(min_samples_leaf=2).fit(X, y).tree_
    assert limited.node_count == 3


def test_a_column_of_gain_0_opens_the_way():
    """Exclusive or: no column gains anything alone."""
    X = np.array([["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]])
    estimator = ID3Classifier().fit(X, [0, 1, 1, 0])
    assert estimator.tree_.node_count == 7
    assert estimator.score(X, [0, 1, 1, 0]) == 1.0
    assert ID3Classifier(min_gain=1e-9).fit(X, [0, 1, 1, 0]).tree_.node_count == 1


def test_missing_values_as_an_error():
    X = pd.DataFrame({"a": [1.0, 2.0], "colour": ["red", None]})
    with pytest.raises(ValueError, match="column 'colour'"):
        ID3Classifier(missing="error").fit(X, [0, 1])


@pytest.mark.parametrize("categorical_split", ["multiway", "one_vs_rest"])
def test_the_number_of_threads_does_not_matter(categorical_split):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(3000, 5))
    X[:, 3] = np.round(X[:, 3])
    X[generator.random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=list("abcde"))
    for name, n_levels in (("f", 8), ("g", 30)):
        codes = generator.integers(-1, n_levels, 3000)
        levels = [f"level {code}" for code in range(n_levels)]
        frame[name] = pd.Categorical.from_codes(codes, levels)
    y = np.digitize(np.nansum(X[:, :3], axis=1), [-1, 0, 1])
    estimator = ID3Classifier(categorical_split=categorical_split, min_samples_leaf=5)
    weights = generator.random(3000)
    one, two = (
        estimator.set_params(n_jobs=n_jobs).fit(frame, y, sample_weight=weights).tree_
        for n_jobs in (1, 2)
    )
    assert one.nodes.tobytes() == two.nodes.tobytes()
    assert one.statistics.tobytes() == two.statistics.tobytes()
    assert one.level_branch.tobytes() == two.level_branch.tobytes()


# ----------------------------------------------------------------------------- rules
@some_examples
@given(seed=any_seed, handle_unknown=st.sampled_from(["parent", "fractional"]))
def test_the_rules_are_the_tree(seed, handle_unknown):
    """A row meets the rules of the nodes that it ends in, with the same shares."""
    case = make_seeded_id3_case(seed).with_settings(handle_unknown=handle_unknown)
    estimator = case.fit_kernel()
    frame = case.make_frame()
    nodes = read_grown_tree(estimator.tree_)
    predicted = estimator.predict(frame)
    rules = list(estimator.rules_)
    assert rules == export_rules(estimator, "dict")
    table = zip(*(column.values for column in case.columns), strict=True)
    for number, (codes, row) in enumerate(zip(table, list_rows(frame), strict=True)):
        shares = {rule["node"]: share_of(rule, row) for rule in rules}
        met = {node: share for node, share in shares.items() if share > 0}
        assert met == pytest.approx(
            dict(find_shares(nodes, codes, handle_unknown=handle_unknown))
        )
        if None not in codes and handle_unknown == "parent":
            ((node, share),) = met.items()
            (rule,) = (rule for rule in rules if rule["node"] == node)
            assert (share, rule["class"]) == (1.0, predicted[number])


def list_rows(frame):
    """The rows as the rules take them: name -> value, None for missing."""
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]
