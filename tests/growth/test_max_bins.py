"""Binned tables: the bins, and the trees that grow from them."""

from collections import Counter

import numpy as np
import pytest
from scipy import sparse

from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    recipe,
)
from sklearn_textbook.tree.encode import encode_table, read_training_table
from sklearn_textbook.tree.grow.rules import GrowthRules
from sklearn_textbook.tree.route import find_ends
from tests.amount import FACTOR, count_chunks
from tests.growth.partitioners import encode, grow_twice, make_classes
from tests.reference import c45_cases, cases
from tests.reference.bins import bin_values
from tests.reference.compare import find_difference, read_grown_tree


def make_numbers(rng, n_rows):
    """A column with or without ties, heavy values and missing ones."""
    values = rng.normal(size=n_rows)
    kind = rng.integers(5)
    if kind == 0:
        values = np.round(values * rng.choice([1, 5, 30]))
    elif kind == 1:
        values = rng.geometric(0.05, n_rows).astype(float)
    elif kind == 2:
        values = np.where(rng.random(n_rows) < 0.5, rng.choice([-9.0, 0.0]), values)
    elif kind == 3:
        values = np.arange(n_rows, dtype=float)
    if rng.random() < 0.5:
        values[rng.random(n_rows) < 0.2] = np.nan
    return values


def check_column(table, column, values, max_bins):
    """Compare one column of a binned table with the plain-Python bins."""
    bins = bin_values([None if np.isnan(v) else v for v in values], max_bins)
    assert table.n_distinct[column] == len(bins) <= max_bins
    assert table.n_missing[column] == np.isnan(values).sum()
    assert table.column_values(column).tolist() == [part[0] for part in bins]
    assert table.column_upper_values(column).tolist() == [part[-1] for part in bins]
    number_of = {value: number for number, part in enumerate(bins) for value in part}
    codes = [number_of.get(value, len(bins)) for value in values]
    np.testing.assert_array_equal(table.codes(column), codes)
    np.testing.assert_array_equal(table.ranks()[column], codes)
    np.testing.assert_array_equal(
        table.column_rows(column), np.argsort(values, kind="stable")
    )


def test_bins_are_those_of_the_reference():
    rng = np.random.default_rng(0)
    n_binned = 0
    for _ in range(300):
        n_rows, max_bins = int(rng.choice([1, 2, 5, 40, 300])), int(rng.integers(2, 40))
        X = np.column_stack([make_numbers(rng, n_rows) for _ in range(3)])
        matrix, schema = read_training_table(X)
        table = encode_table(matrix, schema, max_bins=max_bins)
        for column in range(3):
            check_column(table, column, X[:, column], max_bins)
        n_binned += table.upper_values is not table.values
    assert n_binned > 100


def test_bins_hold_about_equal_numbers_of_rows():
    """All bins are full but for the last, whose rows are what is left."""
    x = np.random.default_rng(0).normal(size=100_000)
    table = encode_table(*read_training_table(x[:, None]), max_bins=255)
    sizes = np.bincount(table.codes(0))
    assert len(sizes) == 255
    assert set(sizes[:-1]) == {393}  # 100,000 / 255 rounded up


def test_heavy_values_leave_room_for_the_others():
    """Each of nine values of 1,000 rows has a bin, the single ones share the rest."""
    x = np.concatenate([np.repeat(np.arange(9.0), 1000), np.arange(100, 1100)])
    table = encode_table(*read_training_table(x[:, None]), max_bins=109)
    sizes = np.bincount(table.codes(0))
    assert sizes.tolist() == [1000] * 9 + [10] * 100


def test_threads_and_storage_make_no_difference():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(3000, 30)), 2)
    X[rng.random(X.shape) < 0.7] = 0.0
    matrix, schema = read_training_table(X)
    expected = encode_table(matrix, schema, max_bins=50)
    assert (expected.n_distinct <= 50).all()
    sparse_matrix, sparse_schema = read_training_table(sparse.csr_array(X))
    for table in (
        encode_table(matrix, schema, 3, max_bins=50),
        encode_table(sparse_matrix, sparse_schema, 2, max_bins=50),
    ):
        np.testing.assert_array_equal(table.order, expected.order)
        for column in range(30):
            np.testing.assert_array_equal(
                table.column_values(column), expected.column_values(column)
            )
            np.testing.assert_array_equal(
                table.column_upper_values(column), expected.column_upper_values(column)
            )


def test_other_columns_are_not_binned():
    """Levels stay levels, however many; a column of few values stays exact."""
    case = cases.make_seeded_case(0)
    column = cases.Column([n % 6 for n in range(30)], "ordinal", 6)
    nominal = cases.Column([n % 7 for n in range(30)], "nominal", 7)
    numbers = cases.Column([float(n) for n in range(30)])
    few = cases.Column([float(n % 4) for n in range(30)])
    case = cases.replace(case, columns=[column, nominal, numbers, few])
    matrix, schema = read_training_table(case.make_frame())
    table = encode_table(matrix, schema, max_bins=4)
    assert table.n_distinct.tolist() == [6, 7, 4, 4]
    for number in (0, 1, 3):
        np.testing.assert_array_equal(
            table.column_upper_values(number), table.column_values(number)
        )
    assert table.column_values(0).tolist() == list(range(6))
    assert table.column_values(2).tolist() == [0, 8, 16, 24]
    assert table.column_upper_values(2).tolist() == [7, 15, 23, 29]


@pytest.mark.parametrize("max_bins", [1, 0, -3, 65536, 2.0, True, "many"])
def test_max_bins_must_be_allowed(max_bins):
    matrix, schema = read_training_table([[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"'max_bins'.*\[2, 65535\] or None; got"):
        encode_table(matrix, schema, max_bins=max_bins)


# ------------------------------------------------------------------------ trees


@pytest.fixture
def bin_tables(monkeypatch):
    """Let the estimators bin their tables."""

    def set_max_bins(max_bins):
        def encode(*arguments, **options):
            return encode_table(*arguments, **(options | {"max_bins": max_bins}))

        monkeypatch.setattr(recipe, "encode_table", encode)

    return set_max_bins


def number_bins(column, max_bins):
    """The column with numbers of bins in place of values, and the bins."""
    bins = bin_values(column.values, max_bins)
    number_of = {value: number for number, part in enumerate(bins) for value in part}
    numbers = [float(number_of.get(value, -1)) for value in column.values]
    numbers = [None if number < 0 else number for number in numbers]
    return cases.replace(column, values=numbers), bins


def find_threshold(values, reference_threshold, bins, rows):
    """The threshold that parts the same bins of a node as the reference's."""
    numbers = [values[row] for row in rows if values[row] is not None]
    below = max(int(number) for number in numbers if number <= reference_threshold)
    above = min(int(number) for number in numbers if number > reference_threshold)
    return bins[below][-1] / 2 + bins[above][0] / 2


def translate_thresholds(nodes, columns, bins):
    """Put thresholds of values in place of thresholds of bins."""
    for node in nodes:
        if node["kind"] == "numeric" and node["threshold"] != float("inf"):
            feature = node["feature"]
            node["threshold"] = find_threshold(
                columns[feature].values, node["threshold"], bins[feature], node["rows"]
            )
        for surrogate in node["surrogates"]:
            if surrogate["kind"] == "numeric":
                feature = surrogate["feature"]
                surrogate["threshold"] = find_threshold(
                    columns[feature].values,
                    surrogate["threshold"],
                    bins[feature],
                    node["rows"],
                )


@pytest.mark.parametrize("chunk", range(count_chunks(1)))
def test_tree_is_that_of_the_numbers_of_bins(bin_tables, chunk):
    """The reference grows from the numbers of bins: all but thresholds must agree."""
    seen = Counter()
    for seed in range(chunk * 200, chunk * 200 + 200):
        case = cases.make_seeded_case(seed)
        max_bins = 2 + seed % 5
        bin_tables(max_bins)
        pairs = [
            number_bins(column, max_bins)
            if column.kind == "numeric"
            else (column, None)
            for column in case.columns
        ]
        columns, bins = zip(*pairs, strict=True)
        nodes = cases.replace(case, columns=list(columns)).grow_reference()
        translate_thresholds(nodes, columns, bins)
        tree = case.fit_kernel().tree_
        difference = find_difference(nodes, read_grown_tree(tree))
        assert difference is None, f"make_seeded_case({seed}): {difference}\n{case}"
        seen[case.settings["missing"]] += tree.node_count > 1
        seen["surrogates"] += len(tree.surrogates)
    assert min(seen.values()) > 15


def assert_rows_end_where_they_are_counted(
    tree, frame, y, weights, *, counts_rows=True, takes_median=False
):
    """Route the training rows; compare what every node holds with what arrives."""
    matrix, _ = read_training_table(frame)
    weights = np.asarray(weights, dtype=float)
    rows, ends, shares = find_ends(tree, matrix)
    n_nodes, nodes = tree.node_count, tree.nodes
    mass = weights[rows] * shares
    weight = np.bincount(ends, mass, n_nodes)
    n_samples = np.bincount(ends, mass > 0, n_nodes)
    classes = np.zeros((n_nodes, 2 if tree.max_n_classes < 2 else tree.max_n_classes))
    np.add.at(classes, (ends, np.asarray(y, dtype=int)[rows]), mass)
    for node in range(n_nodes - 1, 0, -1):
        parent = nodes["parent"][node]
        weight[parent] += weight[node]
        n_samples[parent] += n_samples[node]
        classes[parent] += classes[node]
    np.testing.assert_allclose(weight, nodes["weight"], rtol=1e-9, atol=1e-9)
    if counts_rows:
        np.testing.assert_array_equal(n_samples, nodes["n_samples"])
    present = nodes["n_samples"] > 0
    found, expected = classes[present], tree.statistics[present, 0]
    if not tree.is_classifier:  # y is 0 or 1: the share of 1 tells mean and median
        found, expected = found[:, 1:] / weight[present, None], expected.copy()
        if takes_median:
            found = 0.5 + 0.5 * np.sign(np.round(found - 0.5, 9))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


CRITERIA = [
    (CARTClassifier, criterion) for criterion in ("gini", "entropy", "error")
] + [
    (CARTRegressor, criterion)
    for criterion in ("squared_error", "absolute_error", "poisson")
]


@pytest.mark.parametrize("missing", ["learned", "branch"])
@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize(("estimator_class", "criterion"), CRITERIA)
def test_training_rows_end_where_they_were_counted(
    bin_tables, estimator_class, criterion, splitter, missing
):
    rng = np.random.default_rng(2)
    n_nodes = 0
    for seed in range(8):
        X = np.column_stack([make_numbers(rng, 300) for _ in range(4)])
        score = np.nansum(X[:, :2] / np.nanstd(X[:, :2], axis=0), axis=1)
        y = (score + rng.normal(size=300) > np.median(score)).astype(int)
        weights = np.ones(300) if seed % 2 else rng.integers(0, 3, 300).astype(float)
        bin_tables(int(rng.integers(2, 30)))
        tree = estimator_class(
            criterion=criterion, splitter=splitter, missing=missing, random_state=seed
        )
        tree = tree.fit(X, y, sample_weight=weights).tree_
        assert_rows_end_where_they_are_counted(
            tree, X, y, weights, takes_median=criterion == "absolute_error"
        )
        n_nodes += tree.node_count
    assert n_nodes > 50


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_surrogates_of_bins_send_the_rows_that_they_sent(bin_tables, splitter):
    """Nodes so large that a surrogate is always there and decides."""
    n_used = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        hidden = rng.normal(size=600)
        X = hidden[:, None] + 0.3 * rng.normal(size=(600, 4))
        y = (hidden + 0.5 * rng.normal(size=600) > 0).astype(int)
        X[rng.random(600) < 0.3, 0] = np.nan
        X[rng.random(600) < 0.3, 1] = np.nan
        bin_tables(int(rng.integers(3, 30)))
        tree = CARTClassifier(
            missing="surrogate", splitter=splitter, max_depth=2, random_state=seed
        )
        tree = tree.fit(X, y).tree_
        assert_rows_end_where_they_are_counted(tree, X, y, np.ones(600))
        n_used += tree.surrogates["n_used"].sum()
    assert n_used > 500


@pytest.mark.parametrize(
    "parameters",
    [{}, {"threshold": "midpoint"}, {"gain_ratio_rule": "plain"}],
    ids=["observed", "midpoint", "plain"],
)
def test_c45_trees_are_honest(bin_tables, parameters):
    n_nodes = 0
    for seed in range(50 * FACTOR):
        case = c45_cases.make_seeded_case(seed, pruning=None, **parameters)
        bin_tables(2 + seed % 7)
        tree = case.fit_kernel().tree_
        assert_rows_end_where_they_are_counted(
            tree, case.make_frame(), case.y, case.weights, counts_rows=False
        )
        n_nodes += tree.node_count
    assert n_nodes > 150 * FACTOR


def test_observed_thresholds_end_a_bin(bin_tables):
    """C4.5 takes the largest value of the table that is not above the midpoint."""
    X = np.arange(40.0)[:, None]
    y = np.arange(40) >= 17
    bin_tables(4)
    tree = C45Classifier(pruning=None).fit(X, y).tree_
    assert tree.threshold[0] == 19.0  # the bin 10 to 19, with most of the first class
    tree = ID3Classifier().fit(X, y).tree_
    assert tree.threshold[0] == 19.5


def test_enough_bins_change_no_bit(bin_tables):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(2000, 5)), 2)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nansum(X, axis=1) + rng.normal(size=2000) > 0).astype(int)
    n_distinct = max(len(np.unique(column[column == column])) for column in X.T)
    estimators = [
        CARTClassifier(),
        CARTClassifier(missing="surrogate", max_depth=5),
        CARTClassifier(splitter="random", random_state=0),
        C45Classifier(),
    ]
    for estimator in estimators:
        trees = []
        for max_bins in (None, n_distinct, n_distinct // 4):
            bin_tables(max_bins)
            trees.append(estimator.fit(X, y).tree_)
        for name in ("nodes", "statistics", "level_branch", "surrogates"):
            one, other = getattr(trees[0], name), getattr(trees[1], name)
            assert one.tobytes() == other.tobytes()
        assert trees[2].nodes.tobytes() != trees[0].nodes.tobytes()


def test_both_partitioners_grow_the_same_binned_tree():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(5000, 9))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=5000) > 0).astype(np.int32)
    weight = np.bincount(rng.integers(0, 5000, 5000), minlength=5000).astype(float)
    rules = GrowthRules("gini", max_features=3)
    table = encode(X, max_bins=63)
    expected, tree = grow_twice(table, make_classes(y), rules, weight, 1)
    assert expected.nodes.tobytes() == tree.nodes.tobytes()
    assert_rows_end_where_they_are_counted(tree, X, y, weight)
