"""Error-based pruning: equal to the reference, and to the rules by example."""

import math
import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.layout import FRACTIONAL, LEAF
from sklearn_textbook.tree.grow.target import Target
from sklearn_textbook.tree.prune import (
    ErrorBasedPruning,
    Rows,
    TrainingData,
    collapse_tree,
    compute_added_errors,
    prune_by_error,
)
from tests.amount import count_chunks
from tests.loops import loop_over
from tests.reference.c45_cases import make_case
from tests.reference.c45_prune import estimate_more_errors
from tests.reference.compare import (
    KIND_NAMES,
    find_difference,
    read_grown_tree,
    to_numpy_column,
)
from tests.tree_builders import make_nodes, make_tree, write_level_map

N_CHUNKS = count_chunks(3)
CASES_PER_CHUNK = 60

MEASURES = ("n_samples", "weight", "impurity", "improvement")


# --------------------------------------------------------------------- the estimate
@pytest.mark.parametrize(
    ("weight", "errors", "added"),
    [
        (6, 0, 1.237797),
        (9, 0, 1.284804),
        (1, 0, 0.75),
        (0.4, 0, 0.3875),
        (3, 0.5, 1.077214),
        (16, 1, 1.475715),
        (2, 1, 0.791493),
        (4, 1, 1.171991),
        (2.5, 2.2, 0.3),
        (14, 5, 1.761120),
        (100, 10, 2.749611),
    ],
)
def test_errors_added_at_the_default_confidence(weight, errors, added):
    assert compute_added_errors([weight], [errors])[0] == pytest.approx(added, abs=5e-7)


@pytest.mark.parametrize("confidence", [0.25, 0.1, 0.5, 0.500001, 0.9, 0.001, 1 / 3])
def test_errors_added_equal_reference(confidence):
    rng = np.random.default_rng(0)
    weight = np.exp(rng.uniform(-3, 9, 500))
    errors = weight * rng.choice([0, rng.random(), 1], 500) * rng.random(500)
    errors[::7] = np.minimum(weight[::7], 1.0)
    expected = [
        estimate_more_errors(n, e, confidence)
        for n, e in zip(weight, errors, strict=True)
    ]
    added = compute_added_errors(weight, errors, confidence)
    np.testing.assert_allclose(added, expected, rtol=1e-9, atol=1e-11)


def test_confidence_is_held_in_single_precision():
    # 1.28155143 and not 1.28155157 is the quantile for 0.1.
    n, e, z = 100.0, 10.0, 1.28155143
    f = (e + 0.5) / n
    root = math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))
    upper = (f + z**2 / (2 * n) + z * root) / (1 + z**2 / n)
    added = compute_added_errors([n], [e], 0.1)[0]
    assert added == pytest.approx(n * upper - e, abs=2e-8)


@pytest.mark.parametrize("confidence", [1e-300, 1e-45, 1e-9])
def test_hardly_any_confidence_adds_all_other_cases(confidence):
    added = compute_added_errors([20, 20, 20], [0, 0.5, 5], confidence)
    assert np.all(added <= [20, 19.5, 15])
    assert np.all(added > [8, 8, 8])


# ------------------------------------------------------------ against the reference
def convert_reference(nodes, columns, n_classes):
    """The nodes of a reference as a tree."""
    kinds = {name: kind for kind, name in KIND_NAMES.items()}
    records = make_nodes([len(node["children"]) for node in nodes])
    level_branch = []
    for record, node in zip(records, nodes, strict=True):
        record["kind"] = kinds[node["kind"]]
        for name in ("feature", "threshold", "missing_branch", *MEASURES):
            record[name] = node[name]
        if node["kind"] == "nominal":
            levels = range(columns[node["feature"]].n_levels)
            children = [node["level_map"].get(level, -1) for level in levels]
            record["map_start"] = len(level_branch)
            level_branch += write_level_map(children, is_sparse=-1 in children)
    return make_tree(
        records,
        np.array([node["statistics"] for node in nodes]),
        len(columns),
        is_classifier=True,
        n_levels=np.array([column.n_levels for column in columns]),
        level_branch=np.array(level_branch, dtype=np.int32),
    )


def make_pruning_case(seed):
    """A random table whose tree is large beside its signal."""
    generator = random.Random(seed)
    settings = {
        "mdl_correction": generator.random() < 0.3,
        "min_samples_leaf": generator.choice([1, 1, 2]),
        "min_samples_split": 2,
        "max_depth": None,
        "pruning": "error_based",
        "confidence": generator.choice([0.25, 0.25, 0.1, 0.4, 0.6]),
        "subtree_raising": generator.random() < 0.9,
    }
    return make_case(generator, n_rows=generator.randint(30, 200), **settings)


def convert_case(case):
    """The grown tree of a case, with what pruning needs of the table."""
    settings = {**case.settings, "collapse": False, "pruning": None}
    nodes = replace(case, settings=settings).grow_reference()
    tree = convert_reference(nodes, case.columns, case.n_classes)
    columns = [to_numpy_column(column.values) for column in case.columns]
    matrix = np.column_stack(columns).astype(np.float64)
    return tree, matrix, np.array(case.y), np.array(case.weights)


def prune_case(case, tree, matrix, codes, weight):
    settings = case.settings
    if settings["collapse"]:
        tree = collapse_tree(tree)
    pruner = ErrorBasedPruning(settings["confidence"], settings["subtree_raising"])
    return pruner.prune_tree(tree, make_data(matrix, codes, weight))


def make_data(matrix, codes, weight=None):
    """The rows as pruners get them; the encoded table has no say here."""
    codes = np.asarray(codes, dtype=np.int32).reshape(-1, 1)
    target = Target(codes, None, np.array([codes.max() + 1]))
    table = SimpleNamespace(level_codes=None)
    return TrainingData(Rows(matrix, target, weight), table)


def assert_same_tree(one, other):
    """Bit for bit."""
    for name in one.nodes.dtype.names:
        np.testing.assert_array_equal(one.nodes[name], other.nodes[name])
    np.testing.assert_array_equal(one.statistics, other.statistics)
    np.testing.assert_array_equal(one.level_branch, other.level_branch)


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_random_tables(chunk):
    n_raised = 0
    for seed in range(chunk * CASES_PER_CHUNK, (chunk + 1) * CASES_PER_CHUNK):
        case = make_pruning_case(seed)
        grown = convert_case(case)
        pruned = prune_case(case, *grown)
        check_tree(pruned)
        difference = find_difference(case.grow_reference(), read_grown_tree(pruned))
        assert difference is None, f"make_pruning_case({seed}): {difference}"
        n_raised += is_raised(grown[0], pruned)
    assert n_raised > 3


def is_raised(tree, pruned):
    """Whether some node has not the test that it had: else only leaves were made."""
    places = [(0, 0)]
    for node, before in places:
        record, former = pruned.nodes[node], tree.nodes[before]
        if record["kind"] == LEAF:
            continue
        for name in ("kind", "feature", "n_children"):
            if record[name] != former[name]:
                return True
        if record["n_samples"] != former["n_samples"]:
            return True
        firsts = record["first_child"], former["first_child"]
        places += [(firsts[0] + i, firsts[1] + i) for i in range(record["n_children"])]
    return False


@loop_over("seed", range(1000, 1080))
def test_layout_and_order_of_the_table_do_not_matter(seed):
    case = make_pruning_case(seed)
    tree, matrix, codes, weight = convert_case(case)
    expected = prune_case(case, tree, matrix, codes, weight)
    wide = np.full((len(codes), 2 * matrix.shape[1]), np.nan)
    wide[:, ::2] = matrix
    for view in (np.asfortranarray(matrix), wide[:, ::2], matrix.astype(np.float32)):
        if np.array_equal(view, matrix, equal_nan=True):
            pruned = prune_case(case, tree, view, codes, weight)
            assert_same_tree(pruned, expected)
    order = np.random.default_rng(seed).permutation(len(codes))
    pruned = prune_case(case, tree, matrix[order], codes[order], weight[order])
    assert find_difference(read_grown_tree(expected), read_grown_tree(pruned)) is None


@loop_over("seed", range(2000, 2060))
def test_pruning_again_changes_nothing(seed):
    case = make_pruning_case(seed)
    tree, matrix, codes, weight = convert_case(case)
    pruned = prune_case(case, tree, matrix, codes, weight)
    case.settings["collapse"] = False
    assert prune_case(case, pruned, matrix, codes, weight) is pruned


# ---------------------------------------------------------------------- by example
def fit_tree(X, y):
    """A tree of CART as C4.5 has it, for a table without missing values."""
    tree = CARTClassifier(criterion="entropy").fit(X, y).tree_
    nodes = tree.nodes.copy()
    nodes["missing_branch"][nodes["kind"] != LEAF] = FRACTIONAL
    return tree.replace(nodes=nodes)


def make_counts_tree(n_children, class_weights, features, thresholds):
    """A tree of numeric tests from its counts."""
    nodes = make_nodes(n_children)
    inner = nodes["kind"] != LEAF
    statistics = np.array(class_weights, dtype=np.float64)
    nodes["feature"][inner], nodes["threshold"][inner] = features, thresholds
    nodes["missing_branch"][inner] = FRACTIONAL
    nodes["weight"] = nodes["n_samples"] = statistics.sum(axis=1)
    nodes["impurity"] = compute_entropies(statistics)
    return make_tree(
        nodes, statistics[:, np.newaxis], max(features) + 1, is_classifier=True
    )


def compute_entropies(class_weights):
    """In bits, of each row."""
    shares = class_weights / class_weights.sum(axis=1, keepdims=True)
    logarithms = np.log2(shares, where=shares > 0, out=np.zeros_like(shares))
    return -(shares * logarithms).sum(axis=1)


@pytest.mark.parametrize(
    ("left", "right", "falls"),
    [
        ((4, 1), (2, 1), True),  # 2 errors, as in the node
        ((5, 0), (1, 2), False),  # 1 error against 2
        ((5, 0), (0, 0.0009), True),  # saves too little
        ((5, 0), (0, 0.0011), False),
    ],
)
def test_collapse(left, right, falls):
    node = np.add(left, right)
    tree = make_counts_tree([2, 0, 0], [node, left, right], [0], [0.5])
    collapsed = collapse_tree(tree)
    assert (collapsed.node_count == 1) is falls
    assert falls or collapsed is tree
    np.testing.assert_array_equal(collapsed.statistics[0, 0], node)


def test_collapse_looks_below_a_node_that_is_kept():
    weights = [[8, 6], [8, 2], [0, 4], [4, 1], [4, 1]]
    tree = make_counts_tree([2, 2, 0, 0, 0], weights, [0, 1], [0.5, 0.5])
    collapsed = collapse_tree(tree)
    assert collapsed.nodes["n_children"].tolist() == [2, 0, 0]


def test_empty_leaf_makes_no_errors():
    weights = [[3, 2], [3, 2], [3, 2]]  # the second leaf shows its parent's weights
    tree = make_counts_tree([2, 0, 0], weights, [0], [0.5])
    nodes = tree.nodes.copy()
    nodes["n_samples"][2], nodes["weight"][2] = 0, 0.0
    assert collapse_tree(tree.replace(nodes=nodes)).node_count == 1


def test_node_is_kept_that_a_leaf_would_exceed():
    # Iris: 1.1101 + 2.0443 + 0.1 < 3.3213
    X, y = [[0.0]] * 3 + [[1.0]] * 3, np.array([2, 2, 2, 1, 1, 2])
    weights = [[0, 2, 4], [0, 0, 3], [0, 2, 1]]
    tree = make_counts_tree([2, 0, 0], weights, [0], [0.5])
    errors = np.array([0, 1, 2])
    estimates = errors + compute_added_errors([3, 3, 6], errors)
    assert estimates == pytest.approx([1.1101, 2.0443, 3.3213], abs=5e-5)
    assert prune_by_error(tree, np.array(X), y, None) is tree
    assert prune_by_error(tree, np.array(X), y, None, confidence=0.4) is tree
    assert prune_by_error(tree, np.array(X), y, None, confidence=0.1).node_count == 1


def make_twofold_table():
    """Column 0 says nothing; column 1 tells the classes, 0 and 2 or 0 and 4."""
    X = np.array([[x, 4.0 * c] for x in (0, 1) for c in (0, 1) for _ in range(8)])
    return X, (X[:, 1] > 0).astype(np.int32)


def test_last_of_equal_branches_is_raised():
    X, y = make_twofold_table()
    weights = [[16, 16], [8, 8], [8, 8], [8, 0], [0, 8], [8, 0], [0, 8]]
    tree = make_counts_tree([2, 2, 2, 0, 0, 0, 0], weights, [0, 1, 1], [0.5, 1, 3])
    pruned = prune_by_error(tree, X, y, None)
    assert pruned.nodes["threshold"].tolist() == [3, -2, -2]
    assert pruned.nodes["n_samples"].tolist() == [32, 16, 16]
    assert pruned.statistics[:, 0].tolist() == [[16, 16], [16, 0], [0, 16]]
    assert pruned.impurity.tolist() == [1.0, 0.0, 0.0]
    assert pruned.nodes["improvement"].tolist() == [1.0, 0.0, 0.0]
    assert prune_by_error(tree, X, y, None, subtree_raising=False) is tree


def test_heavier_branch_is_raised():
    X, y = make_twofold_table()
    X, y = np.vstack([X, [[0.0, 0.0]]]), np.append(y, 0)
    weights = [[17, 16], [9, 8], [8, 8], [9, 0], [0, 8], [8, 0], [0, 8]]
    tree = make_counts_tree([2, 2, 2, 0, 0, 0, 0], weights, [0, 1, 1], [0.5, 1, 3])
    assert prune_by_error(tree, X, y, None).nodes["threshold"][0] == 1


def test_raised_branch_divides_missing_values_anew():
    X, y = make_twofold_table()
    X[0, 1] = np.nan  # of class 0, in the first branch
    weights = np.array(
        [[16, 16], [8, 8], [8, 8], [7 + 7 / 15, 0], [8 / 15, 8], [8, 0], [0, 8]]
    )
    tree = make_counts_tree([2, 2, 2, 0, 0, 0, 0], weights, [0, 1, 1], [0.5, 1, 3])
    nodes = tree.nodes.copy()
    nodes["n_samples"] = [32, 16, 16, 8, 9, 8, 8]
    pruned = prune_by_error(tree.replace(nodes=nodes), X, y, None)
    share = 15 / 31  # of the rows of known value that the test now sends left
    counts = np.array([[16, 16], [15 + share, 0], [1 - share, 16]])
    np.testing.assert_allclose(pruned.statistics[:, 0], counts)
    np.testing.assert_allclose(pruned.nodes["weight"], counts.sum(axis=1))
    assert pruned.nodes["n_samples"].tolist() == [32, 16, 17]
    impurity = compute_entropies(counts)
    np.testing.assert_allclose(pruned.impurity, impurity)
    gain = 1 - (17 - share) / 32 * impurity[2]
    np.testing.assert_allclose(pruned.nodes["improvement"], [gain, 0, 0])


def test_smaller_confidence_prunes_more():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 4)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=800) > 0).astype(int)
    tree = collapse_tree(fit_tree(X, y))
    n_leaves = [
        ErrorBasedPruning(confidence, subtree_raising=False)
        .prune_tree(tree, make_data(X, y))
        .n_leaves
        for confidence in (0.7, 0.5, 0.25, 0.1, 0.01, 1e-6)
    ]
    assert n_leaves == sorted(n_leaves, reverse=True)
    # Above a half, one error saved is enough, and each split left saves one.
    assert tree.n_leaves == n_leaves[0] > n_leaves[-1]


# ------------------------------------------------------------------- other tables
def divide_rows(tree, X, y, weight):
    """A tree of numeric tests with the counts of another table."""
    nodes, statistics = tree.nodes.copy(), np.zeros_like(tree.statistics)
    pending = [(0, np.arange(len(X)), weight)]
    while pending:
        node, rows, parts = pending.pop()
        record = nodes[node]
        statistics[node, 0] = np.bincount(y[rows], parts, statistics.shape[2])
        record["n_samples"], record["weight"] = len(rows), parts.sum()
        if record["kind"] == LEAF:
            continue
        value = X[rows, record["feature"]]
        is_missing = np.isnan(value)
        is_left = value <= record["threshold"]
        sides = [is_left, ~is_left & ~is_missing]
        known = parts[~is_missing].sum()
        for branch, side in enumerate(sides):
            kept = side | (is_missing & side.any())
            share = parts[side].sum() / known if known else 0.5
            scaled = np.where(is_missing, parts * share, parts)
            pending.append((record["first_child"] + branch, rows[kept], scaled[kept]))
    return tree.replace(nodes=nodes, statistics=statistics)


def make_chain(n_inner, size, to_the_right):
    """A chain of tests, each of which takes ``size`` rows of one class off."""
    step = [0, 2] if to_the_right else [2, 0]
    nodes = make_nodes([2, *step * (n_inner - 1), 0, 0])
    inner = nodes["kind"] != LEAF
    sign = 1 if to_the_right else -1
    nodes["threshold"][inner] = sign * (np.arange(n_inner) + 0.5)
    nodes["missing_branch"][inner] = FRACTIONAL
    X = sign * np.repeat(np.arange(n_inner + 1.0), size)[:, np.newaxis]
    y = np.repeat(np.arange(n_inner + 1), size) % 2
    tree = make_tree(nodes, np.zeros((len(nodes), 1, 2)), is_classifier=True)
    return tree, X, y


@pytest.mark.parametrize("to_the_right", [False, True])
@pytest.mark.parametrize(("n_inner", "size"), [(2000, 3), (2000, 1)])
def test_tree_of_thousands_of_levels(n_inner, size, to_the_right):
    tree, X, y = make_chain(n_inner, size, to_the_right)
    tree = divide_rows(tree, X, y, np.ones(len(X)))
    assert tree.max_depth == n_inner
    pruned = prune_by_error(tree, X, y, None)
    check_tree(pruned)
    # A leaf of one row is expected to err in 0.75, of three rows in 1.11: the others
    # would have to go to a leaf where they are wrong.
    assert pruned.n_leaves == (1 if size == 1 else n_inner + 1)


@pytest.mark.parametrize("to_the_right", [False, True])
def test_chain_of_missing_values(to_the_right):
    tree, X, y = make_chain(200, 6, to_the_right)
    X[::9] = np.nan
    tree = divide_rows(tree, X, y, np.ones(len(X)))
    pruned = prune_by_error(tree, X, y, None, confidence=0.3)
    check_tree(pruned)
    assert pruned.nodes["weight"][pruned.is_leaf].sum() == pytest.approx(len(X))


def test_sparse_table():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (500, 30)) * (rng.random((500, 30)) < 0.3) * 1.0
    y = (X[:, 7] + X[:, 21] + rng.normal(size=500) > 1.5).astype(int)
    tree = fit_tree(X, y)
    expected = prune_by_error(tree, X, y, None)
    assert 1 < expected.n_leaves < tree.n_leaves
    for make in (sparse.csr_array, sparse.csc_matrix):
        pruned = prune_by_error(tree, make(X), y, None)
        assert_same_tree(pruned, expected)


def test_rows_of_weight_zero_and_copies():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (200, 3)).astype(float)
    y = rng.integers(0, 3, 200)
    weight = rng.integers(0, 4, 200).astype(float)
    copies = np.repeat(np.arange(200), weight.astype(int))
    tree = fit_tree(X[copies], y[copies])
    expected = prune_by_error(tree, X[copies], y[copies], None)
    weighted = divide_rows(tree, X[weight > 0], y[weight > 0], weight[weight > 0])
    pruned = prune_by_error(weighted, X, y, weight)
    assert pruned.node_count == expected.node_count
    np.testing.assert_array_equal(pruned.nodes["threshold"], expected.threshold)
    np.testing.assert_array_equal(pruned.statistics, expected.statistics)


# --------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    "confidence", [0, 1, 0.0, 1.0, -0.1, 2, "0.25", None, math.nan]
)
def test_confidence_is_checked(confidence):
    with pytest.raises(ValueError, match="'confidence' parameter must be a float in"):
        ErrorBasedPruning(confidence).check_parameters()
    with pytest.raises(ValueError, match="'confidence' parameter must be a float in"):
        compute_added_errors([1], [0], confidence)
    with pytest.raises(ValueError, match=r"got shapes \(2,\) and \(1,\)"):
        compute_added_errors([1, 2], [0])


@pytest.mark.parametrize("raising", [1, "yes", None])
def test_subtree_raising_is_checked(raising):
    with pytest.raises(ValueError, match="'subtree_raising' parameter must be a bool"):
        ErrorBasedPruning(subtree_raising=raising).check_parameters()


def test_parameters_are_an_estimators():
    pruner = clone(ErrorBasedPruning().set_params(confidence=np.float32(0.1)))
    pruner.check_parameters()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"matrix": np.zeros((32, 3))}, r"must have shape \(32, 2\).*; got"),
        (
            {"codes": np.zeros(31, int)},
            r"for 31 class numbers and 2 columns; got \(32, 2\)",
        ),
        (
            {"sample_weight": np.ones(3)},
            r"sample_weight must have shape \(32,\), got \(3,\)",
        ),
        ({"sample_weight": np.eye(1, 32)[0]}, "from 32 rows, but the table has 1"),
        ({"codes": np.full(32, 2)}, "class numbers from 0 to 1"),
        ({"codes": np.full(32, -1)}, "class numbers from 0 to 1"),
    ],
)
def test_table_is_checked(changes, message):
    X, y = make_twofold_table()
    arguments = {"matrix": X, "codes": y, "sample_weight": None}
    tree = fit_tree(X, y)
    assert prune_by_error(tree, **arguments) is tree
    with pytest.raises(ValueError, match=message):
        prune_by_error(tree, **{**arguments, **changes})


def test_tree_is_checked():
    X, y = make_twofold_table()
    tree = CARTClassifier().fit(X, y).tree_
    with pytest.raises(ValueError, match="requires the training table of the tree"):
        prune_by_error(tree)
    regression = CARTRegressor().fit(X, y).tree_
    with pytest.raises(ValueError, match="got a regression tree with n_outputs=1"):
        collapse_tree(regression)
    two = CARTClassifier().fit(X, np.column_stack([y, y])).tree_
    with pytest.raises(ValueError, match="got a classification tree with n_outputs=2"):
        prune_by_error(two, X, y, None)


def test_tree_of_one_node():
    tree = fit_tree([[0.0], [1.0]], [0, 0])
    assert collapse_tree(tree) is tree
    assert prune_by_error(tree, np.zeros((2, 1)), np.zeros(2), None) is tree
