"""The generator of mixed tables does what its docstring says."""

import inspect
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, spearmanr
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook.datasets import make_mixed_table
from tests.loops import loop_over
from tests.memory import measure_peak

OPERATORS = {
    "<=": lambda values, bound: values <= bound,
    ">": lambda values, bound: values > bound,
    "in": lambda values, levels: np.isin(values, levels),
    "not in": lambda values, levels: ~np.isin(values, levels),
}
MECHANISMS = ["completely_at_random", "at_random", "not_at_random"]
# Tables for the rules: task, columns and so on of many kinds.
SETTINGS = [
    {},
    {"n_classes": 5, "n_rules": 12, "correlation": 0.9},
    {"n_numeric": 0, "n_ordinal": 0, "n_nominal": 4},
    {"n_numeric": 0, "n_nominal": 0, "n_ordinal": 6, "n_rules": 3},
    {"n_numeric": 1, "n_nominal": 0, "n_ordinal": 0, "n_rules": 20},
    {"decimals": None, "n_rules": 30},
    {"decimals": 0, "n_levels": 2, "n_ordinal_levels": 2},
    {"task": "regression", "n_rules": 9},
    {"class_weights": [0.9, 0.1], "n_levels": 300},
]
SNAPSHOT = [
    [2038.1, 137.0, 7760.0, 3.0, 2.0],
    [1930.3, 104.0, 5160.0, 6.0, 1.0],
    [1094.3, 285.0, 1790.0, 9.0, 0.0],
    [324.8, 149.0, 3370.0, 3.0, 0.0],
]
SNAPSHOT_LABELS = [1, 1, 0, 1]


def get_values(X, column):
    return X.iloc[:, column] if isinstance(X, pd.DataFrame) else X[:, column]


def match_rules(rules, X):
    """Which row satisfies which rule, read off the records alone."""
    matches = np.ones((len(rules), len(X)), dtype=bool)
    for match, rule in zip(matches, rules, strict=True):
        for condition in rule["conditions"]:
            values = get_values(X, condition["column"])
            test = OPERATORS[condition["operator"]]
            match &= np.asarray(test(values, condition["value"]))
    return matches


@pytest.mark.parametrize("as_frame", [False, True])
@loop_over("seed", range(3))
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_planted_rules_hold_exactly(setting, seed, as_frame):
    bunch = make_mixed_table(
        1500, **setting, as_frame=as_frame, return_X_y=False, random_state=seed
    )
    matches = match_rules(bunch.rules, bunch.X)
    assert (matches.sum(axis=0) == 1).all()
    np.testing.assert_array_equal(matches.argmax(axis=0), bunch.rule_indices)
    key = "value" if setting.get("task") == "regression" else "class"
    targets = np.array([rule[key] for rule in bunch.rules])
    np.testing.assert_array_equal(targets[bunch.rule_indices], bunch.y_without_noise)
    np.testing.assert_array_equal(bunch.y, bunch.y_without_noise)
    assert len(bunch.rules) == setting.get("n_rules", 8)
    for rule in bunch.rules:
        assert rule["conditions"]
        for condition in rule["conditions"]:
            assert bunch.feature_names[condition["column"]] == condition["feature"]


def test_neighbouring_rules_differ_in_class():
    """So no two sides of one condition have the same class."""
    _, _, rules = make_mixed_table(10, n_rules=6, return_rules=True, random_state=0)
    classes = [rule["class"] for rule in rules]
    assert all(a != b for a, b in pairwise(classes))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_rules_hold_for_the_values_before_they_went_missing(mechanism):
    options = {"return_X_y": False, "random_state": 3}
    complete = make_mixed_table(800, **options)
    bunch = make_mixed_table(
        800, missing_fraction=0.3, missing_mechanism=mechanism, **options
    )
    known = ~np.isnan(bunch.X)
    assert not known.all()
    np.testing.assert_array_equal(bunch.X[known], complete.X[known])
    np.testing.assert_array_equal(bunch.y, complete.y)
    assert bunch.rules == complete.rules


@pytest.mark.parametrize("n_samples", [1, 2, 7, 5000])
def test_rules_do_not_depend_on_the_number_of_rows(n_samples):
    X, y, rules = make_mixed_table(n_samples, return_rules=True, random_state=5)
    assert X.shape == (n_samples, 10)
    assert y.shape == (n_samples,)
    assert rules == make_mixed_table(100, return_rules=True, random_state=5)[2]


@loop_over("seed", range(4))
def test_rules_share_the_rows_equally(seed):
    bunch = make_mixed_table(
        20_000, n_numeric=8, return_X_y=False, n_rules=8, random_state=seed
    )
    shares = np.bincount(bunch.rule_indices, minlength=8) / 20_000
    assert np.abs(shares - 1 / 8).max() < 0.05


@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.97, 0.03], [1, 2, 5]])
def test_class_weights(weights):
    weights = np.array(weights) / np.sum(weights)
    _, y = make_mixed_table(
        20_000,
        n_numeric=12,
        n_classes=len(weights),
        class_weights=list(weights),
        random_state=1,
    )
    shares = np.bincount(y) / len(y)
    np.testing.assert_allclose(shares, weights, rtol=0.2)


def test_a_tree_finds_the_rules():
    X, y = make_mixed_table(8000, random_state=2)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:4000], y[:4000])
    assert tree.score(X[4000:], y[4000:]) > 0.95


# ------------------------------------------------------------------------ columns


def test_same_seed_same_table():
    """The draws are numpy's frozen ones, so these numbers hold on every platform."""
    X, y = make_mixed_table(4, n_numeric=3, n_nominal=1, n_ordinal=1, random_state=0)
    again, _ = make_mixed_table(
        4, n_numeric=3, n_nominal=1, n_ordinal=1, random_state=np.random.RandomState(0)
    )
    np.testing.assert_array_equal(X, again)
    assert X.tolist() == SNAPSHOT
    assert y.tolist() == SNAPSHOT_LABELS
    other, _ = make_mixed_table(
        4, n_numeric=3, n_nominal=1, n_ordinal=1, random_state=1
    )
    assert (X[:, :3] != other[:, :3]).any()


def test_no_seed_and_the_global_state():
    first, _ = make_mixed_table(20)
    second, _ = make_mixed_table(20)
    assert (first != second).any()


def test_frame_and_array_hold_the_same():
    options = {"missing_fraction": 0.2, "random_state": 4, "return_X_y": False}
    array, frame = (
        make_mixed_table(**options),
        make_mixed_table(**options, as_frame=True),
    )
    assert frame.X.columns.tolist() == array.feature_names == frame.feature_names
    assert frame.y.name == "target"
    np.testing.assert_array_equal(frame.y, array.y)
    for i, (name, kind) in enumerate(
        zip(array.feature_names, array.feature_kinds, strict=True)
    ):
        column, values = frame.X[name], array.X[:, i]
        if kind == "numeric":
            np.testing.assert_array_equal(column, values)
            continue
        codes = np.where(np.isnan(values), -1, values)
        np.testing.assert_array_equal(column.cat.codes, codes)
        assert column.cat.categories.tolist() == array.levels[name]
        assert sorted(array.levels[name]) == array.levels[name]
        assert column.cat.ordered is (kind == "ordinal")
    assert array.categorical_features == [5, 6, 7]
    assert set(array.levels) == set(array.feature_names[5:])


def test_levels_without_rows_are_declared():
    X, _ = make_mixed_table(5, n_levels=50, as_frame=True, random_state=0)
    assert len(X["nominal_0"].cat.categories) == 50


def test_numbers_of_levels():
    def count(**setting):
        bunch = make_mixed_table(
            1, n_nominal=40, n_ordinal=3, **setting, return_X_y=False
        )
        return [len(bunch.levels[name]) for name in bunch.feature_names[5:]]

    assert count(n_levels=7)[:40] == [7] * 40
    drawn = count(n_levels=(3, 6), random_state=0)[:40]
    assert set(drawn) == {3, 4, 5, 6}
    chosen = list(range(2, 42))
    assert count(n_levels=chosen, n_ordinal_levels=[2, 9, 4]) == [*chosen, 2, 9, 4]


def test_nominal_levels_follow_zipf():
    X, _ = make_mixed_table(50_000, n_levels=10, random_state=0)
    expected = 1 / np.arange(1, 11) / np.sum(1 / np.arange(1, 11))
    for values in X[:, 5:8].T:
        shares = np.sort(np.bincount(values.astype(int), minlength=10))[::-1] / len(X)
        np.testing.assert_allclose(shares, expected, rtol=0.1)


def test_ties():
    def count_distinct(decimals):
        X, _ = make_mixed_table(
            3000, n_numeric=12, decimals=decimals, random_state=0, n_nominal=0
        )
        return np.array([len(np.unique(column)) for column in X[:, :12].T])

    by_decimals = [count_distinct(decimals) for decimals in (0, 1, 2, 4)]
    assert all((a < b).all() for a, b in pairwise(by_decimals))
    assert (by_decimals[0] <= 40).all()
    half_zero = np.arange(12) % 6 == 5
    distinct = count_distinct(None)
    assert (distinct[~half_zero] == 3000).all()
    assert (abs(distinct[half_zero] - 1500) < 150).all()
    each = count_distinct([0, 4] * 6)
    assert (each[::2] <= 40).all()
    assert (each[1::2] > 500).all()


def test_numeric_shapes():
    X, _ = make_mixed_table(20_000, n_numeric=6, decimals=None, random_state=0)
    standard = (X[:, :6] - X[:, :6].mean(axis=0)) / X[:, :6].std(axis=0)
    skewness = (standard**3).mean(axis=0)
    assert abs(skewness[0]) < 0.1  # normal
    assert skewness[1] > 1.5  # lognormal
    assert abs(skewness[2]) < 0.1  # uniform
    assert skewness[3] == pytest.approx(2, abs=0.3)  # exponential
    assert skewness[4] < -1  # left skewed
    assert np.mean(X[:, 5] == 0) == pytest.approx(0.5, abs=0.02)  # half zeros
    scales = np.log10(X[:, :6].std(axis=0))
    assert np.ptp(scales) > 1


@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.9])
def test_correlation_within_groups(correlation):
    n_columns = 8  # two groups: even and odd columns
    X, _ = make_mixed_table(
        20_000,
        n_numeric=n_columns,
        n_nominal=0,
        n_ordinal=0,
        decimals=None,
        correlation=correlation,
        random_state=0,
    )
    X = X[:, [i for i in range(n_columns) if i != 5]]  # ties would lower it
    groups = np.array([i % 2 for i in range(n_columns) if i != 5])
    ranks = spearmanr(X).statistic
    expected = 6 / np.pi * np.arcsin(correlation / 2)
    same = np.equal.outer(groups, groups)
    np.testing.assert_allclose(ranks[~same], 0, atol=0.03)
    np.fill_diagonal(same, False)
    np.testing.assert_allclose(ranks[same], expected, atol=0.03)


# ------------------------------------------------------------------------ missing


def split_by_missing(mechanism, fraction, n_samples=20_000):
    """The table without and with missing values, and the mask, codes left out."""
    options = {
        "n_numeric": 6,
        "n_nominal": 1,
        "n_ordinal": 1,
        "decimals": None,
        "correlation": 0.0,
        "random_state": 0,
    }
    complete, _ = make_mixed_table(n_samples, **options)
    X, _ = make_mixed_table(
        n_samples, missing_fraction=fraction, missing_mechanism=mechanism, **options
    )
    return complete, np.isnan(X)


def standardize_difference(values, mask):
    """Difference of the mean ranks of two groups in standard errors."""
    ranks = values.argsort(kind="stable").argsort() / len(values)
    a, b = ranks[mask], ranks[~mask]
    return (a.mean() - b.mean()) / np.sqrt(1 / 12 / len(a) + 1 / 12 / len(b))


@pytest.mark.parametrize("fraction", [0.05, 0.4, 0.8])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_missing_fraction(mechanism, fraction):
    _, mask = split_by_missing(mechanism, fraction)
    first = 1 if mechanism == "at_random" else 0
    assert mask[:, :first].sum() == 0
    np.testing.assert_allclose(mask[:, first:].mean(axis=0), fraction, atol=0.015)


def test_completely_at_random():
    complete, mask = split_by_missing("completely_at_random", 0.3)
    for i in range(1, 6):
        assert abs(standardize_difference(complete[:, i], mask[:, i])) < 4
        assert abs(standardize_difference(complete[:, 0], mask[:, i])) < 4


def test_at_random():
    complete, mask = split_by_missing("at_random", 0.3)
    for i in range(1, 6):  # depends on the first column, not on the value itself
        assert abs(standardize_difference(complete[:, i], mask[:, i])) < 4
        assert standardize_difference(complete[:, 0], mask[:, i]) > 20


@pytest.mark.parametrize("fraction", [0.3, 0.8])
def test_not_at_random(fraction):
    complete, mask = split_by_missing("not_at_random", fraction)
    for i in range(1, 6):
        assert standardize_difference(complete[:, i], mask[:, i]) > 10
        assert abs(standardize_difference(complete[:, 0], mask[:, i])) < 4
    grades = complete[:, 7]
    assert standardize_difference(grades, mask[:, 7]) > 10


@pytest.mark.parametrize("fraction", [0.2, 0.7])
@pytest.mark.parametrize("mechanism", ["at_random", "not_at_random"])
def test_formula_of_the_missing_probability(mechanism, fraction):
    complete, mask = split_by_missing(mechanism, fraction, 40_000)
    column = 2
    driver = complete[:, 0 if mechanism == "at_random" else column]
    ranks = (driver.argsort().argsort() + 0.5) / len(driver)
    slope = min(1, 1 / fraction - 1)
    for lower in (0, 0.25, 0.5, 0.75):
        rows = (lower <= ranks) & (ranks < lower + 0.25)
        expected = fraction * (1 + slope * (2 * (lower + 0.125) - 1))
        assert mask[rows, column].mean() == pytest.approx(expected, abs=0.02)


def test_at_random_knows_only_the_observed_value():
    """With a tied first column, equal values have the same probability."""
    options = {"n_numeric": 0, "n_nominal": 3, "n_levels": 2, "n_rules": 2}
    X, _ = make_mixed_table(
        40_000,
        **options,
        missing_fraction=0.3,
        missing_mechanism="at_random",
        random_state=0,
    )
    for code in (0, 1):
        rows = X[:, 0] == code
        ranks = (0 if code == 0 else np.mean(X[:, 0] == 0)) + rows.mean() / 2
        expected = 0.3 * (1 + 2 * ranks - 1)
        assert np.isnan(X[rows, 1]).mean() == pytest.approx(expected, abs=0.015)


# -------------------------------------------------------------------------- noise


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("label_noise", [0.0, 0.15, 1.0])
def test_label_noise(label_noise, n_classes):
    bunch = make_mixed_table(
        20_000,
        n_classes=n_classes,
        label_noise=label_noise,
        return_X_y=False,
        random_state=0,
    )
    is_changed = bunch.y != bunch.y_without_noise
    assert is_changed.mean() == pytest.approx(label_noise, abs=0.01)
    assert set(bunch.y) == set(range(n_classes))
    if label_noise:
        steps = (bunch.y - bunch.y_without_noise)[is_changed] % n_classes
        shares = np.bincount(steps, minlength=n_classes) / len(steps)
        np.testing.assert_allclose(shares[1:], 1 / (n_classes - 1), atol=0.03)


def test_noise_of_regression():
    bunch = make_mixed_table(
        20_000, task="regression", noise=2.5, return_X_y=False, random_state=0
    )
    residuals = bunch.y - bunch.y_without_noise
    assert residuals.std() == pytest.approx(2.5, rel=0.03)
    assert residuals.mean() == pytest.approx(0, abs=0.1)
    fourth = np.mean((residuals / 2.5) ** 4)
    assert fourth == pytest.approx(norm.moment(4), abs=0.3)


# ---------------------------------------------------------------------- interface


def test_return_values():
    assert len(make_mixed_table(5)) == 2
    X, y, rules = make_mixed_table(5, return_rules=True)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert y.dtype == np.int64
    assert isinstance(rules, list)
    assert make_mixed_table(5, task="regression")[1].dtype == np.float64
    bunch = make_mixed_table(5, n_rules=3, return_X_y=False)
    signature = inspect.signature(make_mixed_table)
    assert list(bunch.parameters) == list(signature.parameters)
    assert bunch.parameters["n_rules"] == 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 0}, ValueError, "n_samples == 0"),
        ({"n_samples": 10.5}, TypeError, "n_samples"),
        ({"n_numeric": -1}, ValueError, "n_numeric == -1"),
        (
            {"n_numeric": 0, "n_nominal": 0, "n_ordinal": 0},
            ValueError,
            "at least one of n_numeric",
        ),
        ({"n_levels": 1}, ValueError, "n_levels == 1"),
        ({"n_levels": (5, 3)}, ValueError, r"n_levels as a tuple.*\(5, 3\)"),
        ({"n_levels": (2, 3, 4)}, ValueError, "n_levels as a tuple"),
        ({"n_levels": [2, 3]}, ValueError, "n_levels as a list .* 3 columns"),
        ({"n_levels": "many"}, TypeError, "n_levels"),
        ({"n_ordinal_levels": [2]}, ValueError, "n_ordinal_levels as a list"),
        ({"decimals": -1}, ValueError, "decimals == -1"),
        ({"decimals": 0.5}, TypeError, "decimals"),
        ({"correlation": 1}, ValueError, "correlation == 1"),
        ({"correlation": float("nan")}, ValueError, "correlation must be finite"),
        ({"missing_fraction": 1.0}, ValueError, "missing_fraction == 1.0"),
        ({"missing_fraction": -0.1}, ValueError, "missing_fraction == -0.1"),
        ({"missing_mechanism": "often"}, ValueError, "missing_mechanism .*'often'"),
        (
            {
                "n_numeric": 1,
                "n_nominal": 0,
                "n_ordinal": 0,
                "missing_fraction": 0.1,
                "missing_mechanism": "at_random",
            },
            ValueError,
            "at least two columns",
        ),
        ({"label_noise": 1.1}, ValueError, "label_noise == 1.1"),
        ({"noise": -1.0}, ValueError, "noise == -1.0"),
        ({"noise": 1.0}, ValueError, "noise is not allowed with task='classif"),
        ({"task": "ranking"}, ValueError, "task .*'ranking'"),
        (
            {"task": "regression", "label_noise": 0.1},
            ValueError,
            "label_noise is not allowed",
        ),
        (
            {"task": "regression", "class_weights": [1]},
            ValueError,
            "class_weights is not allowed",
        ),
        ({"n_classes": 1}, ValueError, "n_classes == 1"),
        ({"n_classes": 9}, ValueError, "n_rules must be at least n_classes=9; got 8"),
        ({"n_rules": 1}, ValueError, "n_rules == 1"),
        ({"class_weights": [1, 2, 3]}, ValueError, "class_weights must be 2 positive"),
        ({"class_weights": [1, 0]}, ValueError, "class_weights must be 2 positive"),
        (
            {"n_numeric": 0, "n_nominal": 1, "n_ordinal": 0, "n_levels": 3},
            ValueError,
            "n_rules=8 is too large",
        ),
    ],
)
def test_wrong_argument(arguments, error, message):
    with pytest.raises(error, match=message):
        make_mixed_table(**arguments)


def test_pandas_is_needed_for_frames_only(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    make_mixed_table(10)
    with pytest.raises(ImportError, match="make_mixed_table with as_frame=True"):
        make_mixed_table(10, as_frame=True)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_memory_beside_the_table(mechanism):
    """A few arrays of n_samples, however many columns there are."""
    n_samples = 20_000

    def make():
        return make_mixed_table(
            n_samples,
            n_numeric=24,
            n_nominal=8,
            n_ordinal=8,
            missing_fraction=0.1,
            missing_mechanism=mechanism,
            random_state=0,
        )

    X, _ = make()
    assert measure_peak(make) < X.nbytes + 12 * 8 * n_samples
