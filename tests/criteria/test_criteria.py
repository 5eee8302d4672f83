"""The formulas against the books' numbers, each other and small tables done by hand."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from sklearn_textbook import criteria
from sklearn_textbook.criteria import (
    best_threshold,
    conditional_entropy,
    entropy,
    gain_ratio,
    gini,
    gini_index,
    information_gain,
    intrinsic_value,
    squared_error,
)
from sklearn_textbook.datasets import (
    load_loan,
    load_play_tennis,
    load_regression_tree_example,
    load_watermelon,
)
from tests.golden import get_example
from tests.loops import loop_over

OF_X_AND_Y = [conditional_entropy, information_gain, gain_ratio, gini_index]


def read_columns(bunch, rows=slice(None)):
    columns = {
        name: column[rows]
        for name, column in zip(bunch.feature_names, bunch.data.T, strict=True)
    }
    return columns, bunch.target[rows]


def check_golden(example_id, computed, part=None):
    """Compare with the recomputed value tightly, with the print as it allows."""
    example = get_example(example_id)
    verified, printed = example["verified"]["value"], example["printed"]
    if part is not None:
        verified, printed = verified[part], printed and printed[part]
    compare(computed, verified, 1e-9)
    if printed is not None:
        compare(computed, printed, example["verified"]["tolerance_covering_printed"])


def compare(computed, expected, tolerance):
    if isinstance(expected, dict):
        assert expected.keys() <= computed.keys()
        for key in expected:
            compare(computed[key], expected[key], tolerance)
    else:
        # A print cut off after its last digit lies exactly at the tolerance.
        assert computed == pytest.approx(expected, abs=tolerance + 1e-12, rel=0)


# ---------------------------------------------------------------- books' numbers


def test_entropies_of_zhou_4_2_1():
    columns, y = read_columns(load_watermelon())
    check_golden("zhou.4.2.1.root_entropy", entropy(y))
    color = columns["色泽"]
    branches = {level: entropy(y[color == level]) for level in set(color)}
    check_golden("zhou.4.2.1.color_branch_entropy", branches)


@pytest.mark.parametrize(
    ("example_id", "level"),
    [
        ("zhou.4.2.1.root_gain", None),
        ("zhou.4.2.1.clear_gain", "清晰"),
        ("zhou.4.2.1.slightly_blurry_gain", "稍糊"),
    ],
)
def test_gains_of_zhou_4_2_1(example_id, level):
    bunch = load_watermelon()
    texture = bunch.data[:, 3]
    rows = slice(None) if level is None else texture == level
    columns, y = read_columns(bunch, rows)
    gains = {name: information_gain(column, y) for name, column in columns.items()}
    check_golden(example_id, gains)


def test_gain_ratios_of_zhou_4_2_2():
    bunch = load_watermelon()
    columns, y = read_columns(bunch)
    check_golden("zhou.4.2.2.id_gain", information_gain(bunch.sample_ids, y))
    values = {name: intrinsic_value(column) for name, column in columns.items()}
    check_golden("zhou.4.2.2.intrinsic_value_all", values)
    values["编号"] = intrinsic_value(bunch.sample_ids)
    check_golden("zhou.4.2.2.intrinsic_value", values)
    ratios = {name: gain_ratio(column, y) for name, column in columns.items()}
    check_golden("zhou.4.2.2.gain_ratio_all", ratios, "gain_ratio")


def test_gini_indices_of_zhou_4_2_3():
    columns, y = read_columns(load_watermelon())
    indices = {name: gini_index(column, y) for name, column in columns.items()}
    computed = {"gini": gini(y), "gini_index": indices}
    check_golden("zhou.4.2.3.gini_index_multiway", computed)
    by_level = {
        name: {level: gini_index(column, y, level) for level in set(column)}
        for name, column in columns.items()
    }
    check_golden("pumpkin.4.2.3.gini_index_binary", by_level)


def test_training_part_of_zhou_4_3():
    bunch = load_watermelon()
    columns, y = read_columns(bunch, bunch.subset == "train")
    gains = {name: information_gain(column, y) for name, column in columns.items()}
    check_golden("zhou.4.3.train_root_gain", gains)
    indices = {name: gini_index(column, y) for name, column in columns.items()}
    check_golden("zhou.ex4.4.train_root_gini", indices)


def test_thresholds_of_zhou_4_4_1():
    columns, y = read_columns(load_watermelon("3.0alpha"))
    best = {}
    for name, column in columns.items():
        threshold, gain = best_threshold(column, y)
        best[name] = {"gain": gain, "threshold": threshold}
    check_golden("zhou.4.4.1.continuous_gain", best)


def test_missing_values_of_zhou_4_4_2():
    columns, y = read_columns(load_watermelon("2.0alpha"))
    gains = {name: information_gain(column, y) for name, column in columns.items()}
    check_golden("zhou.4.4.2.missing_gain", gains)
    color = columns["色泽"]
    known = np.array([value is not None for value in color])
    detail = {
        "rho": known.mean(),
        "ent": entropy(y[known]),
        "ent_branch": {v: entropy(y[color == v]) for v in set(color[known])},
        "gain_known": information_gain(color[known], y[known]),
        "gain": gains["色泽"],
    }
    check_golden("zhou.4.4.2.color_detail", detail)
    left = entropy(y[known]) - conditional_entropy(color, y)
    assert left == pytest.approx(detail["gain_known"], abs=1e-12)


def test_fractional_cases_of_figure_4_9():
    """Every inner node of the tree, cases split by the shares of the known ones."""
    bunch = load_watermelon("2.0alpha")
    names, rows = bunch.feature_names, dict(enumerate(bunch.data))
    weights = np.ones(len(rows))
    texture = bunch.data[:, names.index("纹理")]
    known = np.array([value is not None for value in texture])
    nodes = {n["path"]: n for n in get_example("zhou.fig4.9.tree")["nodes"]}
    shares = get_example("zhou.4.4.2.branch_weights")["verified"]["value"]
    for level, share in shares.items():
        assert weights[known & (texture == level)].sum() / weights[
            known
        ].sum() == pytest.approx(share, abs=1e-9)
        weights_here = np.where(known, texture == level, share)
        node = nodes[f"root/纹理={level}"]
        assert bunch.sample_ids[weights_here > 0].tolist() == node["ids"]
        for name, gain in node["gains"].items():
            column = bunch.data[:, names.index(name)]
            computed = information_gain(column, bunch.target, weights_here)
            assert computed == pytest.approx(gain, abs=1e-6)


def test_loan_of_lihang_5_2():
    bunch = load_loan()
    columns, y = read_columns(bunch)
    check_golden("lihang.ex5.2.entropy", entropy(y))
    left = {name: conditional_entropy(column, y) for name, column in columns.items()}
    check_golden("lihang.ex5.2.conditional_entropy", left)
    gains = {name: information_gain(column, y) for name, column in columns.items()}
    check_golden("lihang.ex5.2.gain", gains)
    ratios = {
        "split_info": {name: intrinsic_value(c) for name, c in columns.items()},
        "gain_ratio": {name: gain_ratio(c, y) for name, c in columns.items()},
    }
    check_golden("lihang.exercise5.1.gain_ratio", ratios)
    columns, y = read_columns(bunch, bunch.data[:, 2] == "否")
    gains = {name: information_gain(column, y) for name, column in columns.items()}
    check_golden("lihang.ex5.3.gain_D2", {"entropy": entropy(y), "gain": gains})


def test_every_split_of_lihang_5_4():
    columns, y = read_columns(load_loan())
    by_level = {
        name: {level: gini_index(column, y, level) for level in set(column)}
        for name, column in columns.items()
    }
    check_golden("lihang.ex5.4.gini", by_level)
    # Yes against no is one split, whichever of the two is asked for.
    assert by_level["有工作"]["是"] == pytest.approx(by_level["有工作"]["否"])


def test_losses_of_lihang_exercise_5_2():
    X, y = load_regression_tree_example(return_X_y=True)
    x = X[:, 0]
    losses = get_example("lihang.exercise5.2.split_losses")["verified"]["value"]
    for split, loss in losses.items():
        sides = [y[x <= float(split)], y[x > float(split)]]
        computed = sum(len(side) * squared_error(side) for side in sides)
        assert computed == pytest.approx(loss, abs=1e-9)
    threshold, gain = best_threshold(x, y, "squared_error")
    assert threshold == 5.5
    loss = len(y) * (squared_error(y) - gain)
    assert loss == pytest.approx(losses["5.5"], abs=1e-9)


def test_play_tennis():
    columns, y = read_columns(load_play_tennis())
    check_golden("classic.tennis.entropy", entropy(y))
    gains = {name: information_gain(column, y) for name, column in columns.items()}
    check_golden("classic.tennis.gain", gains)
    values = {name: intrinsic_value(column) for name, column in columns.items()}
    check_golden("classic.tennis.split_info", values)
    ratios = {name: gain_ratio(column, y) for name, column in columns.items()}
    compare(ratios, get_example("classic.tennis.split_info")["gain_ratio"], 1e-9)


# ------------------------------------------------------------------- hand and peers


def test_values_by_hand():
    assert entropy([0, 0, 1, 1]) == 1.0
    assert entropy([7, 7]) == 0.0
    assert entropy(list("abcd")) == 2.0
    assert entropy([0, 1], base=math.e) == pytest.approx(math.log(2), abs=1e-15)
    assert gini(list("aabb")) == 0.5
    assert gini([1]) == 0.0
    assert squared_error([1.0, 3.0], [3, 1]) == 0.75
    assert gini_index(list("xxyy"), [0, 0, 1, 1]) == 0.0
    assert gini_index(list("xyxy"), [0, 0, 1, 1]) == 0.5
    assert conditional_entropy(list("xxyy"), [0, 1, 1, 1]) == 0.5
    assert gini_index(list("xx"), [0, 1], "x") == 0.5  # the other side is empty
    assert intrinsic_value(["a", None, "b"]) == 1.0
    assert gain_ratio(list("xxxx"), [0, 0, 1, 1]) == 0.0
    assert gain_ratio(list("xxyy"), [0, 0, 1, 1]) == 1.0


@loop_over("seed", range(5))
def test_mutual_information_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 5, 200), rng.integers(0, 3, 200)
    ours = information_gain(x, y, base=math.e)
    assert ours == pytest.approx(mutual_info_score(x, y), abs=1e-12)
    theirs = mutual_info_classif(x[:, None], y, discrete_features=True)[0]
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("function", OF_X_AND_Y)
def test_many_levels_on_both_sides(function):
    """The two ways of counting pairs agree; the second serves many levels."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3000, 4000), rng.integers(0, 3000, 4000)
    weights = rng.integers(0, 3, 4000)
    terms = {conditional_entropy: 0.0, gini_index: 0.0}
    for level in np.unique(x[weights > 0]):
        rows = x == level
        share = weights[rows].sum() / weights.sum()
        terms[conditional_entropy] += share * entropy(y[rows], weights[rows])
        terms[gini_index] += share * gini(y[rows], weights[rows])
    terms[information_gain] = entropy(y, weights) - terms[conditional_entropy]
    terms[gain_ratio] = terms[information_gain] / intrinsic_value(x, weights)
    computed = function(x, y, sample_weight=weights)
    assert computed == pytest.approx(terms[function], abs=1e-10)


# ---------------------------------------------------------------- metamorphic


def make_table(seed, n=60):
    rng = np.random.default_rng(seed)
    x = rng.choice(np.array(["p", "q", "r", None], dtype=object), n)
    z = np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 9, n))
    y = rng.choice(list("abc"), n)
    return x, z, y, rng.integers(0, 4, n)


def evaluate(x, z, y, weights):
    values = [f(x, y, sample_weight=weights) for f in OF_X_AND_Y]
    values += [gini_index(x, y, "q", weights), intrinsic_value(x, weights)]
    values += [entropy(y, weights), gini(y, weights)]
    for criterion in ("entropy", "gini", "gain_ratio"):
        values += best_threshold(z, y, criterion, weights)
    numbers = np.unique(y, return_inverse=True)[1] * 1.5
    values += [squared_error(numbers, weights)]
    values += best_threshold(z, numbers, "squared_error", weights)
    return np.array(values)


@loop_over("seed", range(10))
def test_weights_are_repeated_rows(seed):
    x, z, y, weights = make_table(seed)
    repeated = [np.repeat(column, weights) for column in (x, z, y)]
    expected = evaluate(*repeated, None)
    np.testing.assert_allclose(evaluate(x, z, y, weights), expected, atol=1e-12)
    np.testing.assert_allclose(evaluate(x, z, y, weights * 0.3), expected, atol=1e-12)


@loop_over("seed", range(5))
def test_order_and_names_do_not_matter(seed):
    x, z, y, weights = make_table(seed)
    expected = evaluate(x, z, y, weights)
    rows = np.random.default_rng(seed).permutation(len(y))
    shuffled = evaluate(x[rows], z[rows], y[rows], weights[rows])
    np.testing.assert_allclose(shuffled, expected, atol=1e-12)
    names = {"a": 3, "b": 1, "c": 2}
    renamed = np.array([names[label] for label in y])
    for function in OF_X_AND_Y:
        assert function(x, renamed) == pytest.approx(function(x, y), abs=1e-12)
    levels = {"p": 2.5, "q": -1.0, "r": 0.0, None: None}
    numbers = [levels[level] for level in x]
    for function in OF_X_AND_Y:
        assert function(numbers, y) == pytest.approx(function(x, y), abs=1e-12)


@loop_over("seed", range(5))
def test_bounds(seed):
    x, _, y, weights = make_table(seed)
    known = np.array([value is not None for value in x])
    h_known = entropy(y[known], weights[known])
    assert 0 <= information_gain(x, y, weights) <= h_known + 1e-12
    assert 0 <= conditional_entropy(x, y, weights) <= h_known + 1e-12
    assert 0 <= gain_ratio(x, y, weights) <= 1
    assert gini_index(x, y, None, weights) <= gini(y[known], weights[known]) + 1e-12
    # A coarser split gains less.
    merged = np.where(x == "r", "q", x)
    assert information_gain(merged, y) <= information_gain(x, y) + 1e-12


@loop_over("seed", range(5))
@pytest.mark.parametrize("base", [math.e, 3, 10])
def test_base_scales(seed, base):
    x, _, y, _ = make_table(seed)
    for function in (conditional_entropy, information_gain):
        in_base = function(x, y, base=base)
        assert in_base * math.log2(base) == pytest.approx(function(x, y), abs=1e-12)
    assert gain_ratio(x, y, base=base) == pytest.approx(gain_ratio(x, y), abs=1e-12)


@loop_over("seed", range(10))
@pytest.mark.parametrize("criterion", ["entropy", "gini", "gain_ratio"])
def test_best_threshold_beats_all_others(seed, criterion):
    _, z, y, weights = make_table(seed)
    measure = {
        "entropy": information_gain,
        "gain_ratio": gain_ratio,
        "gini": lambda side, y, w: _known_gini_decrease(side, y, w),
    }[criterion]
    threshold, gain = best_threshold(z, y, criterion, weights)
    values = np.unique(z[~np.isnan(z) & (weights > 0)])
    candidates = (values[:-1] + values[1:]) / 2
    gains = [
        measure(np.where(np.isnan(z), None, z <= t), y, weights) for t in candidates
    ]
    assert gain == pytest.approx(max(gains), abs=1e-12)
    near_best = candidates[np.array(gains) >= max(gains) * (1 - 1e-12)]
    assert threshold == near_best[0]


def _known_gini_decrease(side, y, weights):
    known = np.array([value is not None for value in side])
    rho = weights[known].sum() / weights.sum()
    before = gini(y[known], weights[known])
    return rho * (before - gini_index(side, y, None, weights))


def test_threshold_ties_go_to_the_lowest():
    assert best_threshold([1, 2, 3, 4], list("abba"))[0] == 1.5
    assert best_threshold([4, 3, 2, 1], list("aaaa")) == (1.5, 0.0)


def test_threshold_between_neighbouring_floats():
    for low in (1.0, np.nextafter(1, 2), 5e-324, -1.0):
        high = np.nextafter(low, 2)
        assert best_threshold([low, high], [0, 1]) == (low, 1.0)
    huge = np.finfo(float).max
    assert best_threshold([huge / 2, huge], [0, 1])[0] == 0.75 * huge


# -------------------------------------------------------------- kinds of input


LABELS = ["a", "b", None, "a", "b", "b"]
CONTAINERS = {
    "list": LABELS,
    "object array": np.array(LABELS, dtype=object),
    "list with NaN": ["a", "b", np.nan, "a", "b", "b"],
    "masked": np.ma.array(list("abaabb"), mask=[0, 0, 1, 0, 0, 0]),
    "pandas": pd.Series(LABELS),
    "pandas object": pd.Series(LABELS, dtype=object),
    "category": pd.Series(LABELS, dtype="category"),
    "pandas.NA": pd.Series([1, 2, pd.NA, 1, 2, 2], dtype="Int64"),
    "polars": pl.Series(LABELS),
    "polars enum": pl.Series(LABELS, dtype=pl.Enum(["b", "a"])),
    "pyarrow": pa.chunked_array([LABELS]),
    "pyarrow dictionary": pa.chunked_array([LABELS]).dictionary_encode(),
    "pyarrow array": pa.array(LABELS).dictionary_encode(),
    "float": [1.0, 2.0, np.nan, 1.0, 2.0, 2.0],
    "float array": np.array([1.0, 2.0, np.nan, 1.0, 2.0, 2.0], dtype=np.float32),
    "datetime": np.array(
        ["2020", "2021", "NaT"] * 1 + ["2020", "2021", "2021"], "M8[D]"
    ),
    "boolean": pd.Series([True, False, None, True, False, False], dtype="boolean"),
    "mixed": [1, "b", None, 1, "b", "b"],
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_labels_of_any_type(kind):
    y = [0, 1, 1, 1, 1, 0]
    x = CONTAINERS[kind]
    expected = information_gain(["a", "b", None, "a", "b", "b"], y)
    assert expected > 0
    assert information_gain(x, y) == pytest.approx(expected, abs=1e-15)
    assert intrinsic_value(x) == pytest.approx(entropy(list("ababb")), abs=1e-15)
    with pytest.raises(
        ValueError, match="y must not have missing values; got one at position 2"
    ):
        entropy(x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: entropy([]), "y must have at least one value"),
        (lambda: entropy([[0], [1]]), r"y must be one-dimensional.*\(2, 1\)"),
        (lambda: entropy(3), "y must be one-dimensional"),
        (lambda: entropy([0, 1], base=1), "base must be .* greater than 1; got 1"),
        (lambda: entropy([0, 1], base="e"), "base must be"),
        (lambda: entropy([0, 1], base=math.inf), "base must be"),
        (lambda: entropy([0, 1], [1, -1]), "must not be negative; got -1"),
        (lambda: entropy([0, 1], [1, np.nan]), "must be finite"),
        (
            lambda: entropy([0, 1], [0, 0]),
            "sample_weight must not be zero for every row",
        ),
        (lambda: entropy([0, 1], [1]), r"sample_weight .*\(2,\).*\(1,\)"),
        (
            lambda: information_gain([0], [0, 1]),
            "must have the same length; got 1 and 2",
        ),
        (lambda: information_gain([0, 1], [0, None]), "y must not have missing values"),
        (
            lambda: gini([0.0, np.nan]),
            "y must not have missing values; got one at position 1",
        ),
        (
            lambda: gini_index([0, 1], [0, 1], "a"),
            "value must be a level of x; got 'a'",
        ),
        (
            lambda: gini_index([0, 1], [0, 1], 1, [1, 0]),
            "value must be a level of x; got 1",
        ),
        (lambda: squared_error(["a", "b"]), "y must be numbers"),
        (
            lambda: squared_error([1.0, np.inf]),
            "y must be finite; it contains infinity",
        ),
        (lambda: squared_error([1.0, np.nan]), "y must not have missing values"),
        (lambda: best_threshold([1, 2], [0, 1], "error"), "criterion must be one of"),
        (lambda: best_threshold([1, 1], [0, 1]), "at least two distinct known"),
        (
            lambda: best_threshold([1, 2], [0, 1], sample_weight=[1, 0]),
            "at least two distinct",
        ),
        (
            lambda: best_threshold([1, np.inf], [0, 1]),
            "x must be finite; it contains infinity",
        ),
        (lambda: best_threshold(["a", "b"], [0, 1]), "x must be numbers"),
        (lambda: best_threshold([1, 2, 3], [0, 1]), "must have the same length"),
    ],
)
def test_wrong_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_values_that_are_no_labels():
    with pytest.raises(TypeError, match=r"y must be labels; got .* at position 1"):
        entropy(np.array(["a", {"b"}], dtype=object))


def test_all_functions_are_public():
    assert set(criteria.__all__) == {
        *(function.__name__ for function in OF_X_AND_Y),
        *("entropy", "gini", "intrinsic_value", "squared_error", "best_threshold"),
        *("information_gain_score", "gain_ratio_score", "gini_score", "expected_cost"),
    }
