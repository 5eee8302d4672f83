"""Measures of diversity: by hand, by the definitions, and what must not change them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import cohen_kappa_score

from sklearn_textbook.ensemble import diversity
from sklearn_textbook.ensemble._count_draws import sum_disagreements
from sklearn_textbook.ensemble.diversity import (
    coincident_failure_diversity,
    contingency_table,
    correlation,
    difficulty,
    disagreement,
    double_fault,
    entropy,
    generalized_diversity,
    interrater_agreement,
    kappa,
    kappa_error_points,
    kohavi_wolpert_variance,
    pair_tables,
    q_statistic,
)
from tests.loops import loop_over
from tests.reference import diversity as reference

PAIRWISE = ["disagreement", "correlation", "q_statistic", "kappa"]
GROUP = [
    "kohavi_wolpert_variance",
    "interrater_agreement",
    "generalized_diversity",
    "coincident_failure_diversity",
    "difficulty",
]


def make_predictions(seed, n_rows, n_members, n_classes):
    """Labels, and predictions that are right more often than not."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    guessed = rng.integers(0, n_classes, (n_rows, n_members))
    is_right = rng.random((n_rows, n_members)) < 0.6
    return y, np.where(is_right, y[:, np.newaxis], guessed)


# ------------------------------------------------------------------------- by hand
#: a = 4, b = 2, c = 1, d = 3 of ten rows.
TABLE = np.array([[1, 1]] * 4 + [[1, -1]] * 2 + [[-1, 1]] + [[-1, -1]] * 3)


def test_measures_of_a_table_worked_by_hand():
    first, second = TABLE.T
    table = contingency_table(first, second, labels=[1, -1])
    assert_array_equal(table, [[4, 2], [1, 3]])
    assert_array_equal(contingency_table(first, second), [[3, 1], [2, 4]])
    assert_allclose(disagreement(TABLE), [[0, 0.3], [0.3, 0]])
    assert_allclose(correlation(TABLE)[0, 1], (12 - 2) / np.sqrt(6 * 5 * 4 * 5))
    assert_allclose(q_statistic(TABLE)[0, 1], 10 / 14)
    by_chance = (6 * 5 + 4 * 5) / 100
    assert_allclose(kappa(TABLE)[0, 1], (0.7 - by_chance) / (1 - by_chance))


def test_right_and_wrong_of_the_same_table():
    # Members are right where they say 1.
    y = np.ones(10)
    table = contingency_table(*TABLE.T, y_true=y)
    assert_array_equal(table, [[4, 2], [1, 3]])
    for name in PAIRWISE:
        measure = getattr(diversity, name)
        assert_allclose(measure(TABLE, y_true=y), measure(TABLE))
    assert_allclose(double_fault(y, TABLE), [[0.4, 0.3], [0.3, 0.5]])
    points = kappa_error_points(y, TABLE)
    assert_allclose(points["error"], [0.45])
    assert_allclose(points["kappa"], [kappa(TABLE)[0, 1]])


def test_three_classes_agree_by_chance_in_each():
    predictions = np.array([["a", "a"], ["a", "b"], ["b", "b"], ["c", "c"]])
    by_chance = (2 * 1 + 1 * 2 + 1 * 1) / 16
    assert_allclose(kappa(predictions)[0, 1], (0.75 - by_chance) / (1 - by_chance))
    assert_array_equal(
        contingency_table(*predictions.T), [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    )


def test_group_measures_worked_by_hand():
    # Four members on four rows, of which 4, 3, 2 and 0 are right.
    y = np.ones(4)
    predictions = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert_allclose(entropy(predictions, y_true=y), (0 + 1 + 2 + 0) / 2 / 4)
    quarter = -0.25 * np.log2(0.25) - 0.75 * np.log2(0.75)
    assert_allclose(entropy(predictions), (quarter + 1) / 4)
    assert_allclose(kohavi_wolpert_variance(y, predictions), (3 + 4) / 4 / 16)
    accuracy = 9 / 16
    fleiss = 1 - (3 + 4) / 4 / (4 * 3 * accuracy * (1 - accuracy))
    assert_allclose(interrater_agreement(y, predictions), fleiss)
    one = (0 + 1 / 4 + 2 / 4 + 1) / 4
    two = (0 + 0 + 2 / 4 * 1 / 3 + 1) / 4
    assert_allclose(generalized_diversity(y, predictions), 1 - two / one)
    failing = (3 / 3 + 2 / 3 + 0) / 3
    assert_allclose(coincident_failure_diversity(y, predictions), failing)
    assert_allclose(difficulty(y, predictions), np.var([1, 0.75, 0.5, 0]))


def test_values_that_deslib_expects():
    """Ten rows and two members of the tests of DESlib 0.3.7, and another seven."""
    y = [0, 0, 1, 0, 0, 0, 0, 1, 1, 1]
    first = [0, 0, 0, 1, 0, 1, 0, 0, 0, 0]
    second = [1, 0, 0, 1, 1, 0, 0, 0, 1, 1]
    predictions = np.column_stack((first, second))
    assert_allclose(contingency_table(first, second, y_true=y), [[2, 2], [3, 3]])
    assert_allclose(disagreement(predictions, y_true=y)[0, 1], 0.5)
    assert_allclose(q_statistic(predictions, y_true=y)[0, 1], 0.0, atol=1e-15)
    assert_allclose(correlation(predictions, y_true=y)[0, 1], 0.0, atol=1e-15)
    assert_allclose(double_fault(y, predictions)[0, 1], 0.3)
    y = [0, 0, 0, 0, 1, 1, 1]
    first, second = [1, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0, 0]
    shares = double_fault(y, np.column_stack((first, second)))
    assert_allclose(shares[0, 1], 3 / 7)
    # All ones against all zeros: one of them is right on each row.
    y = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0])
    predictions = np.column_stack((np.ones(15), np.zeros(15)))
    assert q_statistic(predictions, y_true=y)[0, 1] == -1.0
    assert_allclose(correlation(predictions, y_true=y)[0, 1], -1.0)
    assert_allclose(disagreement(predictions, y_true=y)[0, 1], 1.0)
    assert double_fault(y, predictions)[0, 1] == 0.0


# ---------------------------------------------------------------- by the definitions
CASES = [
    (1, 7, 3, 2),
    (2, 1023, 4, 2),
    (3, 1024, 3, 3),
    (4, 2100, 5, 7),
    (5, 40, 2, 300),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_measures_agree_with_the_reference(case, is_weighted):
    y, predictions = make_predictions(*case)
    n_rows, n_members = predictions.shape
    rng = np.random.default_rng(99)
    weight = rng.random(n_rows) * (rng.random(n_rows) < 0.9) if is_weighted else None
    w = [1.0] * n_rows if weight is None else weight.tolist()
    right = predictions == y[:, np.newaxis]
    pairs = [(i, j) for i in range(n_members) for j in range(n_members)]

    def check(values, measure, columns):
        expected = [measure(*columns[:, pair].T.tolist(), w) for pair in pairs]
        expected = np.reshape(expected, (n_members, n_members))
        assert_allclose(values, expected, rtol=1e-9, atol=1e-12)

    for name in PAIRWISE:
        measure, plain = getattr(diversity, name), getattr(reference, name)
        check(measure(predictions, y_true=y, sample_weight=weight), plain, right)
        if name in ("disagreement", "kappa") or case[3] == 2:
            check(measure(predictions, sample_weight=weight), plain, predictions)
    values = double_fault(y, predictions, sample_weight=weight)
    check(values, reference.double_fault, right)
    for name in GROUP:
        value = getattr(diversity, name)(y, predictions, sample_weight=weight)
        assert_allclose(value, getattr(reference, name)(right.tolist(), w), rtol=1e-9)
    value = entropy(predictions, y_true=y, sample_weight=weight)
    assert_allclose(value, reference.entropy(right.tolist(), w), rtol=1e-9)
    value = entropy(predictions, sample_weight=weight)
    assert_allclose(value, reference.vote_entropy(predictions.tolist(), w), rtol=1e-9)


def test_kappa_is_that_of_scikit_learn():
    _, predictions = make_predictions(6, 300, 4, 5)
    weight = np.random.default_rng(0).random(300)
    values = kappa(predictions, sample_weight=weight)
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        first, second = predictions[:, i], predictions[:, j]
        expected = cohen_kappa_score(first, second, sample_weight=weight)
        assert_allclose(values[i, j], expected)


@pytest.mark.parametrize("n_classes", [2, 3, 200])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_threads_count_the_same(n_classes, is_weighted):
    rng = np.random.default_rng(7)
    codes = rng.integers(0, n_classes, (21, 3000)).astype(np.uint8)
    bits = pair_tables._pack(codes, n_classes)
    weight = None
    if is_weighted:
        weight = np.zeros(bits.shape[0] * 1024)
        weight[:3000] = rng.random(3000)
    counts = sum_disagreements(bits, weight, 1)
    assert_array_equal(counts, sum_disagreements(bits, weight, 4))
    w = np.ones(3000) if weight is None else weight[:3000]
    expected = [[(w * (one != other)).sum() for other in codes] for one in codes]
    assert_allclose(counts, expected, rtol=1e-12)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_many_rows_are_counted_in_parts(is_weighted, monkeypatch):
    _, predictions = make_predictions(13, 5000, 4, 3)
    weight = np.random.default_rng(3).random(5000) if is_weighted else None
    expected = kappa(predictions, sample_weight=weight)
    monkeypatch.setattr(pair_tables, "_CALL_WORDS", 300)
    assert_allclose(kappa(predictions, sample_weight=weight), expected, rtol=1e-12)
    if weight is None:
        differ = predictions[:, 0] != predictions[:, 1]
        assert disagreement(predictions)[0, 1] == differ.mean()


# ---------------------------------------------------------------------- identities
@loop_over("seed", range(5))
def test_identities(seed):
    y, predictions = make_predictions(seed, 200, 6, 3)
    weight = np.random.default_rng(seed).random(200)
    options = {"y_true": y, "sample_weight": weight}
    rho, q = correlation(predictions, **options), q_statistic(predictions, **options)
    assert (np.abs(q) >= np.abs(rho) - 1e-12).all()
    assert (rho * q >= -1e-12).all()
    pairs = np.triu_indices(6, 1)
    mean_disagreement = disagreement(predictions, **options)[pairs].mean()
    variance = kohavi_wolpert_variance(y, predictions, sample_weight=weight)
    assert_allclose(variance, 5 / 12 * mean_disagreement)
    # Kuncheva and Whitaker's relation of Fleiss' kappa and the variance.
    errors = np.diag(double_fault(y, predictions, sample_weight=weight))
    p = 1 - errors.mean()
    fleiss = interrater_agreement(y, predictions, sample_weight=weight)
    assert_allclose(fleiss, 1 - 6 / 5 / (p * (1 - p)) * variance)


def test_independent_members_have_kappa_zero():
    predictions = [[0, 0], [0, 1], [1, 0], [1, 1]]
    for measure in (kappa, correlation, q_statistic):
        assert_allclose(measure(predictions), np.eye(2), atol=1e-15)


@pytest.mark.parametrize("weight", [None, [0.1, 0.7, 0.3, 0.2, 0.1]])
def test_members_without_variety_have_documented_values(weight):
    # The same, another one with equal labels, the opposite, and two constant ones.
    labels = np.array([0, 1, 1, 0, 1])
    predictions = np.column_stack(
        [
            labels,
            labels,
            1 - labels,
            np.zeros(5, int),
            np.zeros(5, int),
            np.ones(5, int),
        ]
    )
    same = [(0, 1), (3, 4)]
    constant = [(0, 3), (2, 4), (3, 5), (1, 5)]
    for measure in (correlation, q_statistic, kappa):
        values = measure(predictions, sample_weight=weight)
        assert_array_equal(np.diag(values), np.ones(6))
        assert all(values[pair] == 1.0 for pair in same)
        if measure is not kappa:
            assert all(values[pair] == 0.0 for pair in constant)
            assert_allclose(values[0, 2], -1.0)
        values = measure(predictions, y_true=np.zeros(5), sample_weight=weight)
        assert np.isfinite(values).all()
        assert values[3, 4] == 1.0
    assert_allclose(kappa(predictions, sample_weight=weight)[3, 5], 0.0)
    all_equal = np.ones((5, 3))
    for measure in (correlation, q_statistic, kappa):
        assert_array_equal(measure(all_equal, sample_weight=weight), np.ones((3, 3)))
    for y, agreement in ((np.ones(5), 1.0), (np.zeros(5), 1.0)):
        given = {"sample_weight": weight}
        assert interrater_agreement(y, all_equal, **given) == agreement
        assert generalized_diversity(y, all_equal, **given) == 0.0
        assert coincident_failure_diversity(y, all_equal, **given) == 0.0
        assert entropy(all_equal, y_true=y, **given) == 0.0
        assert entropy(all_equal, **given) == 0.0


# --------------------------------------------------------------------- invariances
def all_values(y, predictions, weight=None):
    """All measures that weights and labels of any kind leave as they are."""
    given = {"sample_weight": weight}
    values = [
        disagreement(predictions, **given),
        kappa(predictions, **given),
        double_fault(y, predictions, **given),
        entropy(predictions, **given),
        entropy(predictions, y_true=y, **given),
    ]
    for name in PAIRWISE:
        values.append(getattr(diversity, name)(predictions, y_true=y, **given))
    for name in GROUP:
        values.append(getattr(diversity, name)(y, predictions, **given))
    return values


def assert_same(values, others):
    for value, other in zip(values, others, strict=True):
        assert_allclose(value, other, rtol=1e-10, atol=1e-13)


def test_order_of_rows_and_members_does_not_matter():
    y, predictions = make_predictions(8, 90, 5, 3)
    values = all_values(y, predictions)
    rng = np.random.default_rng(1)
    rows, members = rng.permutation(90), rng.permutation(5)
    moved = all_values(y[rows], predictions[rows][:, members])
    turned = [v if np.ndim(v) == 0 else v[np.ix_(members, members)] for v in values]
    assert_same(turned, moved)


def test_whole_weights_are_repeated_rows():
    y, predictions = make_predictions(9, 90, 4, 3)
    weight = np.random.default_rng(2).integers(0, 4, 90)
    repeated = np.repeat(np.arange(90), weight)
    assert_same(
        all_values(y, predictions, weight),
        all_values(y[repeated], predictions[repeated]),
    )
    assert_same(
        all_values(y, predictions, 3.0 * weight), all_values(y, predictions, weight)
    )


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "perhaps", "yes"]),
        np.array(["no", "perhaps", "yes"], dtype=object),
        np.array([-7, 0, 2**40]),
        np.array([0.0, 5.0, 1e300]),
        np.array([2, 0, 1], dtype=np.uint8),
    ],
    ids=["text", "objects", "integers", "floats", "other order"],
)
def test_names_of_labels_do_not_matter(labels):
    y, predictions = make_predictions(10, 60, 4, 3)
    renamed = all_values(labels[y], labels[predictions])
    assert_same(all_values(y, predictions), renamed)


def test_booleans_and_frames_are_read():
    y, predictions = make_predictions(11, 60, 3, 2)
    values = all_values(y, predictions)
    assert_same(values, all_values(y == 1, predictions == 1))
    assert_same(values, all_values(pd.Series(y), pd.DataFrame(predictions)))
    named = pd.DataFrame(np.array(["a", "b"])[predictions], dtype="category")
    assert_same(values, all_values(np.array(["a", "b"])[y], named))


@pytest.mark.parametrize("dtype", ["string", "Int64", "category"])
def test_missing_labels_of_frames_are_named(dtype):
    labels = ["1", "2"] if dtype == "string" else [1, 2]
    frame = pd.DataFrame({"a": labels, "b": [labels[0], None]}).astype(dtype)
    with pytest.raises(ValueError, match=r"predictions\['b'\] has a missing .* row 1"):
        kappa(frame)
    whole = pd.DataFrame({"a": labels, "b": labels}).astype(dtype)
    assert kappa(whole)[0, 1] == 1.0


def test_weights_too_small_for_a_float_are_no_division_by_zero():
    predictions, weight = [[0, 1], [1, 1], [1, 1]], [1e-320, 1.0, 1.0]
    for measure in (correlation, q_statistic, kappa):
        assert np.isfinite(measure(predictions, sample_weight=weight)).all()
    y = [0, 1, 1]
    assert np.isfinite(interrater_agreement(y, predictions, sample_weight=weight))


def test_rows_of_weight_zero_are_left_out():
    _, predictions = make_predictions(12, 50, 3, 2)
    more = np.vstack((predictions, [[5, 6, 7]]))
    weight = np.r_[np.ones(50), 0.0]
    assert_allclose(correlation(more, sample_weight=weight), correlation(predictions))


# -------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("predictions", "given", "message"),
    [
        ([0, 1, 1], {}, r"\(n_samples, n_members\).*got \(3,\)"),
        ([[0], [1]], {}, r"at least two members; got \(2, 1\)"),
        (np.zeros((2, 2, 2)), {}, r"got \(2, 2, 2\)"),
        (
            [[0, 1], [1, 0.5]],
            {},
            r"predictions\[:, 1\].*continuous number 0.5 in row 1",
        ),
        (
            [[0, 1], [np.nan, 1]],
            {},
            r"predictions\[:, 0\] has a missing value in row 1",
        ),
        (
            np.array([["a", None], ["b", "a"]], dtype=object),
            {},
            r"predictions\[:, 1\] has a missing value in row 0",
        ),
        (
            np.array([["a", 1], ["b", "a"]], dtype=object),
            {},
            r"predictions\[:, 1\] mixes",
        ),
        (
            np.array([["a", 1], ["b", 2]], dtype=object),
            {},
            r"predictions\[:, 0\] and predictions\[:, 1\].*'a' and 1",
        ),
        ([[0, 1], [1, 1]], {"y_true": ["0", "1"]}, r"y_true.*0 and '0'"),
        (
            [[0, 1], [1, 1]],
            {"y_true": [0]},
            "y_true must have one entry per row of predictions, 2 in all, got 1",
        ),
        ([[0, 1], [1, 1]], {"y_true": [0, None]}, "y_true has a missing value"),
        ([[0, 1], [1, 1]], {"y_true": [[0, 1], [1, 1]]}, "y_true must have shape"),
        (
            [[0, 1], [1, 1]],
            {"sample_weight": [1]},
            "sample_weight must have one entry per row of predictions, 2 in all, got 1",
        ),
        ([[0, 1], [1, 1]], {"sample_weight": [1, -1]}, "not be negative, got -1.0"),
        ([[0, 1], [1, 1]], {"sample_weight": [0, 0]}, "All sample weights are zero"),
        ([[0, 1], [1, 1]], {"sample_weight": [1, np.nan]}, "NaN"),
    ],
)
def test_wrong_input_is_refused(predictions, given, message):
    with pytest.raises(ValueError, match=message):
        disagreement(predictions, **given)


def test_measures_of_two_classes_refuse_three():
    for measure in (correlation, q_statistic):
        with pytest.raises(ValueError, match="two classes, got 3, such as 0, 1"):
            measure([[0, 1], [1, 2]])


@pytest.mark.parametrize("name", [*GROUP, "double_fault", "kappa_error_points"])
def test_truth_is_needed(name):
    with pytest.raises(ValueError, match="y_true must be the true labels"):
        getattr(diversity, name)(None, [[0, 1], [1, 1]])
    with pytest.raises(ValueError, match="y_true must have shape"):
        getattr(diversity, name)([[0, 1], [1, 1]], [[0, 1], [1, 1]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": [0]}, "labels must include 1"),
        ({"labels": [0, 1, 1]}, "labels must be unique"),
        ({"labels": [0, 1], "y_true": [0, 1]}, "cannot be given together"),
        (
            {"labels": ["0", "1"]},
            "first and labels have labels of different types",
        ),
        ({"y_true": [0]}, "y_true must have as many entries as first, 2, got 1"),
        (
            {"sample_weight": [1]},
            "sample_weight must have one entry per row of predictions, 2 in all, got 1",
        ),
    ],
)
def test_contingency_table_refuses(given, message):
    with pytest.raises(ValueError, match=message):
        contingency_table([0, 1], [1, 1], **given)
    with pytest.raises(
        ValueError, match="second must have as many entries as first, 2, got 3"
    ):
        contingency_table([0, 1], [1, 1, 1])


def test_contingency_table_with_weights_and_further_labels():
    table = contingency_table(
        ["a", "b", "b"],
        ["a", "a", "b"],
        labels=["c", "b", "a"],
        sample_weight=[1, 2, 4],
    )
    assert_array_equal(table, [[0, 0, 0], [0, 4, 2], [0, 0, 1]])
