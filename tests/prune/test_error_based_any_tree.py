"""Error-based pruning of trees of CART: every kind of test and of missing values."""

import math
import random

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV

from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ErrorBasedPruning,
    ID3Classifier,
)
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.layout import LEAF, NOMINAL, STAY
from sklearn_textbook.tree.prune import (
    collapse_tree,
    compute_added_errors,
    cut_below,
    prune_by_error,
)
from sklearn_textbook.tree.prune._error_based import estimate_nodes
from sklearn_textbook.tree.prune.error_based import measure_confidence
from tests.reference.c45_measures import count_errors
from tests.reference.c45_prune import estimate_more_errors
from tests.reference.cases import make_column, make_frame
from tests.reference.compare import is_close, is_same, read_grown_tree
from tests.reference.error_prune import TreePruner, compute_impurity
from tests.tree_builders import make_nodes, make_tree, write_level_map

MODES = ["learned", "branch", "surrogate", "error"]
N_CASES = 16


# ------------------------------------------------------------ against the reference
def make_case(seed, missing):
    """A random table with some signal, and a fitted tree large beside it."""
    generator = random.Random(seed)
    n_rows = generator.randint(20, 90)
    share = generator.choice([0.1, 0.3]) if missing != "error" else 0
    columns = [make_column(generator, n_rows, share) for _ in range(4)]
    n_classes = generator.choice([2, 2, 3])
    sums = [
        sum(0 if column.values[i] is None else column.values[i] for column in columns)
        for i in range(n_rows)
    ]
    middle = sorted(sums)[n_rows // 2]
    labels = [
        generator.randrange(n_classes)
        if generator.random() < 0.35
        else int(value > middle)
        for value in sums
    ]
    weights = [1.0] * n_rows
    if generator.random() < 0.5:
        weights = [generator.choice([0.0, 0.5, 1.0, 2.0, 3.25]) for _ in labels]
    labels[:n_classes] = range(n_classes)
    weights[:n_classes] = [1.0] * n_classes
    cart = CARTClassifier(
        criterion=generator.choice(["gini", "entropy", "error"]),
        categorical_split=generator.choice(["subset", "one_vs_rest", "multiway"]),
        missing=missing,
        handle_unknown=generator.choice(["parent", "fractional", "error"]),
        min_samples_leaf=generator.choice([1, 1, 2]),
        splitter=generator.choice(["best", "random"]),
        random_state=seed,
        n_jobs=1,
    )
    frame = make_frame(columns)
    cart.fit(frame, labels, sample_weight=weights)
    confidence = generator.choice([0.25, 0.25, 0.1, 0.4, 0.6])
    return cart, columns, frame, labels, weights, confidence


def prune_reference(case, raises):
    cart, columns, _, labels, weights, confidence = case
    rows = list(zip(*(column.values for column in columns), strict=True))
    nodes = read_grown_tree(cart.tree_)
    reference = TreePruner(
        nodes, rows, labels, weights, cart.handle_unknown, confidence
    )
    reference.prune(reference.root, raises=raises)
    return reference


def assert_same_nodes(reference, tree, criterion):
    """The nodes of reference and pruned tree; what was computed up to 1e-9."""
    listed, nodes = reference.list_nodes(), read_grown_tree(tree)
    assert len(listed) == len(nodes)
    for expected, got in zip(listed, nodes, strict=True):
        assert len(expected["children"]) == len(got["children"])
        assert got["n_samples"] == len(expected["cases"])
        if got["children"]:
            for name in ("feature", "kind", "threshold", "level_map", "missing_branch"):
                assert is_same(name, expected[name], got[name])
            assert is_same("surrogates", expected["surrogates"], got["surrogates"])
        else:
            assert got["kind"] == "leaf"
        if not expected["cases"]:
            continue
        counts = reference.count_classes(expected["cases"])
        assert got["statistics"][0] == pytest.approx(counts, rel=1e-9, abs=1e-9)
        assert is_close(math.fsum(counts), got["weight"])
        assert is_close(compute_impurity(counts, criterion), got["impurity"])
        parts = [nodes[child] for child in got["children"]]
        weight = sum(part["weight"] for part in parts)
        gain = weight * got["impurity"]
        gain -= sum(part["weight"] * part["impurity"] for part in parts)
        # A node that was not touched keeps what its growing measured.
        measured = {max(gain / got["weight"], 0.0), expected["improvement"]} - {None}
        assert any(is_close(gain, got["improvement"]) for gain in measured)


def assert_same_steps(reference, report, listed):
    """The steps; the reference looks again at branches where nothing can change."""
    steps = iter(reference.steps)
    for i in range(report.n_rows):
        step = next(steps)
        while step["decision"] == "kept" and (
            step["node"] != report["node"][i] or report["decision"][i] != "kept"
        ):
            step = next(steps)
        for name in ("node", "decision", "raised_node"):
            assert report[name][i] == step[name], name
        for name in ("before", "after"):
            assert is_close(step[name], report[name][i]), name
    assert all(step["decision"] == "kept" for step in steps)
    assert set(report["node"]) == {step["node"] for step in reference.steps}
    numbers = {node["number"]: number for number, node in enumerate(listed)}
    expected = [numbers.get(node, -1) for node in report["node"].tolist()]
    assert report["tree_node"].tolist() == expected


@pytest.mark.parametrize("missing", MODES)
def test_raising_equals_reference(missing):
    found = {"pruned": 0, "raised": 0, "kept": 0}
    for seed in range(N_CASES):
        case = make_case(seed, missing)
        cart, _, frame, labels, weights, confidence = case
        pruner = ErrorBasedPruning(confidence)
        pruned = pruner.prune(cart, X=frame, y=labels, sample_weight=weights)
        check_tree(pruned.tree_)
        reference = prune_reference(case, raises=True)
        assert_same_nodes(reference, pruned.tree_, cart.criterion)
        assert_same_steps(reference, pruned.pruning_report_, reference.list_nodes())
        for decision in pruned.pruning_report_["decision"]:
            found[decision] += 1
    assert min(found.values()) > 3, found


@pytest.mark.parametrize("missing", MODES)
def test_without_raising_equals_reference_and_needs_no_rows(missing):
    for seed in range(100, 100 + N_CASES):
        case = make_case(seed, missing)
        cart, _, frame, labels, weights, confidence = case
        pruner = ErrorBasedPruning(confidence, subtree_raising=False)
        pruned = pruner.prune(cart)
        check_tree(pruned.tree_)
        reference = prune_reference(case, raises=False)
        assert_same_nodes(reference, pruned.tree_, cart.criterion)
        report, steps = pruned.pruning_report_, reference.steps
        words = dict(zip(report["node"], report["decision"], strict=True))
        assert words == {step["node"]: step["decision"] for step in steps}
        fallen = [step["node"] for step in steps if step["decision"] == "pruned"]
        assert_equal_trees(pruned.tree_, cut_below(cart.tree_, fallen))
        again = pruner.prune(cart, X=frame, y=labels, sample_weight=weights)
        assert_equal_trees(again.tree_, pruned.tree_)


def assert_equal_trees(one, other):
    """Bit for bit."""
    for name in one.nodes.dtype.names:
        np.testing.assert_array_equal(one.nodes[name], other.nodes[name])
    for name in ("statistics", "level_branch"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in one.surrogates.dtype.names:
        np.testing.assert_array_equal(one.surrogates[name], other.surrogates[name])


# ------------------------------------------------------------------------- the report
def add_up_leaves(tree, confidence):
    """Estimated errors of a tree whose rows are all in leaves."""
    leaves = tree.is_leaf & (tree.nodes["n_samples"] > 0)
    counts = tree.statistics[leaves, 0]
    errors = np.array([count_errors(weights) for weights in counts.tolist()])
    added = compute_added_errors(counts.sum(axis=1), errors, confidence)
    return errors.sum() + added.sum()


def make_noisy_table(seed, n_rows=400):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (n_rows, 5)).astype(float)
    y = (X[:, 0] > X[:, 1]) ^ (rng.random(n_rows) < 0.25)
    return X, y.astype(int)


@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize("estimator", [CARTClassifier, C45Classifier, ID3Classifier])
def test_report_adds_up(estimator, raises):
    X, y = make_noisy_table(3)
    X[::7, 0] = np.nan
    grown = estimator(pruning=None, min_samples_leaf=1).fit(X, y)
    pruner = ErrorBasedPruning(0.3, subtree_raising=raises)
    pruned = pruner.prune(grown, X=X, y=y)
    report, tree = pruned.pruning_report_, pruned.tree_
    assert report.measure == "estimated errors"
    before, after = report["before"], report["after"]
    assert before[0] == pytest.approx(add_up_leaves(grown.tree_, 0.3))
    is_done = report["decision"] != "kept"
    assert is_done.sum() > 5
    np.testing.assert_array_equal(before[1:], np.where(is_done, after, before)[:-1])
    last = np.flatnonzero(is_done)[-1]
    assert after[last] == pytest.approx(add_up_leaves(tree, 0.3))
    # No step costs more than 0.1 errors, and whoever is kept would.
    assert np.all(after[is_done] <= before[is_done] + 0.1 + 1e-6)
    assert raises or np.all(after[~is_done] > before[~is_done] + 0.1 - 1e-6)
    # The last word on every node that stands is what became of it.
    words = dict(zip(report["node"], report["decision"], strict=True))
    places = dict(zip(report["node"], report["tree_node"], strict=True))
    standing = {node: word for node, word in words.items() if places[node] >= 0}
    assert {places[node] for node, word in standing.items() if word == "kept"} == set(
        np.flatnonzero(~tree.is_leaf)
    )
    for node, word in standing.items():
        assert tree.is_leaf[places[node]] == (word == "pruned")
        assert word == "pruned" or (
            tree.feature[places[node]] == grown.tree_.feature[node]
        )
    assert np.all((report["raised_node"] >= 0) == (report["decision"] == "raised"))


def test_collapsed_nodes_come_first():
    X, y = make_noisy_table(5)
    tables = {}
    for collapse in (True, False):
        c45 = C45Classifier(collapse=collapse, pruning="error_based")
        tables[collapse] = c45.fit(X, y).pruning_report_
    assert not tables[False]["collapsed"].any()
    grown = C45Classifier(collapse=False, pruning=None).fit(X, y).tree_
    n_collapsed = tables[True]["collapsed"].sum()
    assert n_collapsed > 0
    assert tables[True]["collapsed"][:n_collapsed].all()
    fallen = tables[True]["node"][:n_collapsed]
    assert np.all(tables[True]["decision"][:n_collapsed] == "pruned")
    collapsed = collapse_tree(grown)
    assert_equal_trees(cut_below(grown, fallen), collapsed)
    after = tables[True]["after"][n_collapsed - 1]
    assert after == pytest.approx(add_up_leaves(collapsed, 0.25))


def test_root_that_collapses():
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    X[:10] = 1
    grown = C45Classifier(collapse=False, pruning=None, min_samples_leaf=1)
    cart = CARTClassifier().fit(np.arange(3)[:, None], [0, 1, 0])
    tree = cart.tree_
    assert tree.node_count == 5
    pruned = prune_by_error(cut_below(tree, [2]), collapse=True, subtree_raising=False)
    assert pruned.node_count == 1
    report = ErrorBasedPruning().prune(grown.fit(X, y), X=X, y=y).pruning_report_
    assert report.n_rows == 0
    assert report.measure == "estimated errors"
    assert list(report)[:3] == ["node", "tree_node", "depth"]


# --------------------------------------------------------------------- rows that stay
def test_rows_that_stay_count_as_a_leaf():
    # 12 and 8 rows go to the branches; 10 stay, 4 of them not of class 0.
    nodes = make_nodes([2, 0, 0])
    nodes["threshold"][0], nodes["missing_branch"][0] = 0.5, STAY
    counts = np.array([[18.0, 12.0], [12.0, 0.0], [0.0, 8.0]])
    nodes["weight"] = nodes["n_samples"] = counts.sum(axis=1)
    tree = make_tree(nodes, counts[:, np.newaxis], is_classifier=True)
    X = np.repeat([0.0, 1.0, np.nan], [12, 8, 10])[:, np.newaxis]
    y = np.repeat([0, 1, 0, 1], [12, 8, 6, 4])
    leaf, rest = np.empty((2, 3))
    estimate = measure_confidence(0.25)
    estimate_nodes(tree.nodes, tree.statistics[:, 0], estimate, leaf, rest)
    staying = 4 + estimate_more_errors(10, 4, 0.25)
    assert rest == pytest.approx([staying, 0, 0])
    for raises in (True, False):
        assert prune_by_error(tree, X, y, subtree_raising=raises) is tree
    # Were the rest not counted, this test would be kept as well: 11 rows, 1 of 2, and
    # 11 of the 17 that stay are not of the class that is predicted.
    nodes, counts = nodes.copy(), np.array([[18.0, 12.0], [11.0, 0.0], [1.0, 1.0]])
    nodes["weight"][1:] = nodes["n_samples"][1:] = [11, 2]
    tree = make_tree(nodes, counts[:, np.newaxis], is_classifier=True)
    X = np.repeat([0.0, 1.0, np.nan], [11, 2, 17])[:, np.newaxis]
    y = np.repeat([0, 0, 1, 0, 1], [11, 1, 1, 6, 11])
    errors = np.array([12, 0, 1])
    as_leaf, *in_leaves = errors + compute_added_errors([30, 11, 2], errors)
    assert as_leaf > sum(in_leaves) + 0.1
    for raises in (True, False):
        pruned = prune_by_error(tree, X, y, subtree_raising=raises)
        assert pruned.node_count == 1


def make_level_tree(handle_unknown):
    """Column 0 takes a row off; below it two levels of column 1 tell the classes, and
    the row that was taken off has the third."""
    nodes = make_nodes([2, 2, 0, 0, 0])
    nodes["kind"][1] = NOMINAL
    nodes["feature"][:2], nodes["threshold"][0] = [0, 1], 0.5
    nodes["missing_branch"][:2] = nodes["map_start"][1] = 0
    X = np.repeat([[0.0, 0], [0, 1], [1, 2]], [10, 10, 1], axis=0)
    y = np.repeat([0, 1, 0], [10, 10, 1])
    counts = np.array([[11.0, 10], [10, 10], [1, 0], [10, 0], [0, 10]])
    nodes["weight"] = nodes["n_samples"] = counts.sum(axis=1)
    tree = make_tree(
        nodes,
        counts[:, np.newaxis],
        2,
        is_classifier=True,
        n_levels=np.array([0, 3]),
        level_branch=np.array(write_level_map([0, 1, -1], is_sparse=True), np.int32),
    )
    return tree.replace(handle_unknown=handle_unknown), X, y


@pytest.mark.parametrize(
    ("handle_unknown", "sizes", "weights"),
    [
        ("parent", [21, 10, 10], [21, 10, 10]),
        ("error", [21, 10, 10], [21, 10, 10]),
        ("fractional", [21, 11, 11], [21, 10.5, 10.5]),
    ],
)
def test_unknown_level_in_a_raised_branch(handle_unknown, sizes, weights):
    tree, X, y = make_level_tree(handle_unknown)
    pruned = prune_by_error(tree, X, y, criterion="gini")
    check_tree(pruned)
    assert pruned.nodes["kind"].tolist() == [NOMINAL, LEAF, LEAF]
    assert pruned.nodes["n_samples"].tolist() == sizes
    assert pruned.nodes["weight"].tolist() == weights
    gini = 2 * 0.5 * 10 / 10.5**2 if handle_unknown == "fractional" else 0
    assert pruned.impurity[2] == pytest.approx(gini)


# ------------------------------------------------------------------------- properties
@pytest.mark.parametrize("missing", ["learned", "branch"])
@pytest.mark.parametrize("raises", [True, False])
def test_weights_are_copies(raises, missing):
    X, y = make_noisy_table(7, 250)
    X[::5, 0] = np.nan
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    cart = CARTClassifier(
        pruning=ErrorBasedPruning(subtree_raising=raises), missing=missing
    )
    one = clone(cart).fit(X, y, sample_weight=weights.astype(float))
    other = clone(cart).fit(X[copies], y[copies])
    assert (
        1
        < one.get_n_leaves()
        < clone(cart)
        .set_params(pruning=None)
        .fit(X, y, sample_weight=weights.astype(float))
        .get_n_leaves()
    )
    for name in ("feature", "threshold", "value", "impurity"):
        np.testing.assert_allclose(
            getattr(one.tree_, name), getattr(other.tree_, name), atol=1e-12
        )
    for name in ("node", "decision", "raised_node", "tree_node"):
        np.testing.assert_array_equal(
            one.pruning_report_[name], other.pruning_report_[name]
        )


@pytest.mark.parametrize("missing", MODES)
def test_smaller_confidence_prunes_more(missing):
    X, y = make_noisy_table(11)
    if missing != "error":
        X[::6, 1] = np.nan
    cart = CARTClassifier(missing=missing).fit(X, y)
    sizes = [
        ErrorBasedPruning(confidence, subtree_raising=False).prune(cart).get_n_leaves()
        for confidence in (0.5, 0.25, 0.1, 0.01, 1e-6)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert cart.get_n_leaves() > sizes[0] > sizes[-1]


def test_columns_may_change_places():
    X, y = make_noisy_table(13)
    order = [3, 1, 4, 0, 2]
    cart = CARTClassifier(pruning="error_based", max_features=None)
    X += np.random.default_rng(1).random(X.shape)  # no ties between columns
    one, other = clone(cart).fit(X, y), clone(cart).fit(X[:, order], y)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X[:, order]))


# ------------------------------------------------------------------------- estimators
def test_in_fit_and_after_the_fact():
    X, y = load_breast_cancer(return_X_y=True)
    X = X.copy()
    X[::9, 3] = X[::4, 20] = np.nan
    for missing in ("learned", "branch", "surrogate"):
        grown = CARTClassifier(missing=missing).fit(X, y)
        pruner = ErrorBasedPruning(0.1)
        fitted = CARTClassifier(missing=missing, pruning=pruner).fit(X, y)
        later = pruner.prune(grown, X=X, y=y)
        assert_equal_trees(fitted.tree_, later.tree_)
        for name, column in fitted.pruning_report_.items():
            np.testing.assert_array_equal(column, later.pruning_report_[name])
        assert fitted.get_n_leaves() < grown.get_n_leaves()
        assert not hasattr(grown, "pruning_report_")


def test_subtree_raising_asks_for_the_rows():
    X, y = load_iris(return_X_y=True)
    cart = CARTClassifier().fit(X, y)
    with pytest.raises(ValueError, match="as X and y, or use subtree_raising=False"):
        ErrorBasedPruning().prune(cart)
    with pytest.raises(ValueError, match="grown from 150 rows, but X has 149"):
        ErrorBasedPruning().prune(cart, X=X[1:], y=y[1:])
    assert ErrorBasedPruning(subtree_raising=False).prune(cart).get_n_leaves() == 7


def test_rows_that_go_elsewhere_are_an_error():
    X, y = make_noisy_table(17)
    X[::3, 0] = np.nan
    cart = CARTClassifier(missing="learned").fit(X, y)
    with pytest.raises(ValueError, match="do not reach the nodes of the tree as those"):
        ErrorBasedPruning().prune(cart, X=X[:, ::-1], y=y)


def test_names_and_search():
    X, y = make_noisy_table(19)
    cart = CARTClassifier(pruning="error_based").fit(X, y)
    assert cart.get_params()["pruning__confidence"] == 0.25
    assert cart.pruning_report_.measure == "estimated errors"
    grid = {"pruning__confidence": [0.01, 0.25, 0.5], "missing": ["learned", "branch"]}
    search = GridSearchCV(CARTClassifier(pruning="error_based"), grid, cv=3).fit(X, y)
    best = search.best_estimator_
    assert best.pruning.confidence == search.best_params_["pruning__confidence"]
    plain = CARTClassifier(missing=best.missing).fit(X, y)
    assert best.get_n_leaves() < plain.get_n_leaves()


@pytest.mark.parametrize("missing", ["learned", "surrogate"])
def test_sparse_tables(missing):
    X, y = make_noisy_table(32)
    X = np.where(X < 4, 0.0, X - 3)
    cart = CARTClassifier(missing=missing, pruning="error_based")
    dense = clone(cart).fit(X, y)
    for make in (sparse.csr_array, sparse.csc_matrix):
        assert_equal_trees(clone(cart).fit(make(X), y).tree_, dense.tree_)
    assert "raised" in dense.pruning_report_["decision"]
    assert (len(dense.tree_.surrogates) > 0) is (missing == "surrogate")


def test_frames_with_nominal_columns():
    X, y = make_noisy_table(23)
    frame = pd.DataFrame({f"c{j}": X[:, j] for j in range(4)})
    frame["name"] = np.array(list("abcdefghijkl"))[X[:, 4].astype(int)]
    frame.loc[::8, "name"] = None
    for split in ("subset", "one_vs_rest", "multiway"):
        cart = CARTClassifier(categorical_split=split).fit(frame, y)
        pruned = ErrorBasedPruning().prune(cart, X=frame, y=y)
        check_tree(pruned.tree_)
        assert 1 < pruned.get_n_leaves() < cart.get_n_leaves()


@pytest.mark.parametrize("raises", [True, False])
def test_other_trees_are_refused(raises):
    X, y = make_noisy_table(29)
    pruner = ErrorBasedPruning(subtree_raising=raises)
    with pytest.raises(ValueError, match="got a regression tree with n_outputs=1"):
        CARTRegressor(pruning=pruner).fit(X, y)
    with pytest.raises(ValueError, match="got a regression tree with n_outputs=1"):
        pruner.prune(CARTRegressor().fit(X, y), X=X, y=y)
    two = np.column_stack([y, y])
    with pytest.raises(ValueError, match="y should be a 1d array"):
        CARTClassifier(pruning=pruner).fit(X, two)
    with pytest.raises(ValueError, match="got a classification tree with n_outputs=2"):
        pruner.prune(CARTClassifier().fit(X, two), X=X, y=two)


def test_regressor_is_told_that_it_is_for_classifiers():
    tree = CARTRegressor(pruning="error_based")
    message = r"pruning=\"error_based\"\) .* got a regression tree with n_outputs=1"
    with pytest.raises(ValueError, match=message):
        tree.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
