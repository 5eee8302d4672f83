"""Oblique trees are pruned like all others; their terms stay with their nodes."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import BaggingClassifier, BaggingRegressor
from sklearn_textbook.ensemble.forest.permutation_importances import (
    list_tested_columns,
)
from sklearn_textbook.tree import (
    CostComplexityPruning,
    ErrorBasedPruning,
    LossPruning,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    PrePruning,
    ReducedErrorPruning,
)
from sklearn_textbook.tree.explain.conditions import read_terms
from sklearn_textbook.tree.grow.layout import OBLIQUE
from sklearn_textbook.tree.prune import merge_equal_leaves, prune_by_error

TREES = {
    "classifier": ObliqueTreeClassifier(),
    "classifier-random": ObliqueTreeClassifier(
        direction="random", prefer_axis=None, random_state=0
    ),
    "regressor": ObliqueTreeRegressor(prefer_axis=None),
}
PRUNERS = {
    "cost complexity": CostComplexityPruning(random_state=0),
    "rpart": CostComplexityPruning(sequence="rpart", random_state=0),
    "reduced error": ReducedErrorPruning(random_state=0),
    "loss": LossPruning(alpha=3.0),
    "pre-pruning": PrePruning(random_state=0),
    "error-based": ErrorBasedPruning(0.01, subtree_raising=False),
}


def make_table(name, seed=0, n_rows=200):
    is_regression = "regressor" in name
    X, y = make_mixed_table(
        n_rows,
        n_numeric=3,
        n_nominal=2,
        n_ordinal=1,
        task="regression" if is_regression else "classification",
        label_noise=0.0 if is_regression else 0.2,
        noise=0.5 if is_regression else 0.0,
        missing_fraction=0.05,
        as_frame=True,
        random_state=seed,
    )
    return X, y.to_numpy()


def assert_consistent(tree):
    """Exactly the oblique nodes have terms, in the order of the nodes."""
    (oblique,) = np.nonzero(tree.nodes["kind"] == OBLIQUE)
    assert np.unique(tree.terms["node"]).tolist() == oblique.tolist()
    assert np.all(np.diff(tree.terms["node"]) >= 0)


def assert_subtree(pruned, full):
    """Every inner node of the pruned tree is one of the full tree, terms included."""
    assert_consistent(pruned)
    pairs = [(0, 0)]
    for small, large in pairs:
        node, whole = pruned.nodes[small], full.nodes[large]
        np.testing.assert_array_equal(pruned.statistics[small], full.statistics[large])
        if node["n_children"] == 0:
            assert read_terms(pruned, small) == []
            continue
        for field in ("kind", "feature", "threshold", "n_children"):
            np.testing.assert_equal(node[field], whole[field])
        assert read_terms(pruned, small) == read_terms(full, large)
        for child in range(node["n_children"]):
            pairs.append((node["first_child"] + child, whole["first_child"] + child))


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("pruner", PRUNERS)
def test_pruned_trees_are_subtrees(pruner, name):
    if pruner == "error-based" and "regressor" in name:
        pytest.skip("for classification")
    X, y = make_table(name)
    X_val, y_val = make_table(name, seed=1)
    full = clone(TREES[name]).fit(X, y)
    assert (full.tree_.nodes["kind"] == OBLIQUE).sum() > 5
    rows = {"X": X, "y": y}
    pruner = PRUNERS[pruner]
    if pruner.uses_validation == "always":
        rows |= {"X_val": X_val, "y_val": y_val}
    pruned = pruner.prune(full, **rows)
    assert 1 <= pruned.get_n_leaves() < full.get_n_leaves()
    assert_subtree(pruned.tree_, full.tree_)
    in_fit = clone(full).set_params(pruning=clone(pruner)).fit(X, y)
    assert_consistent(in_fit.tree_)
    report = pruned.pruning_report_
    n_columns = [len(read_terms(full.tree_, node)) or 1 for node in report["node"]]
    is_inner = full.tree_.nodes["n_children"][report["node"]] > 0
    np.testing.assert_array_equal(report["n_columns"], np.where(is_inner, n_columns, 0))


def test_subtree_raising_is_refused():
    X, y = make_table("classifier")
    message = r"cannot prune an oblique tree.*use subtree_raising=False"
    with pytest.raises(ValueError, match=message):
        ObliqueTreeClassifier(pruning="error_based").fit(X, y)
    tree = ObliqueTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=message):
        ErrorBasedPruning().prune(tree)
    with pytest.raises(ValueError, match=message):
        prune_by_error(tree.tree_)
    # Without a sum of columns, the tree is like any other.
    axis = ObliqueTreeClassifier(prefer_axis=1e9).fit(X, y)
    assert len(axis.tree_.terms) == 0
    assert ErrorBasedPruning().prune(axis, X=X, y=y).get_n_leaves() > 0


@pytest.mark.parametrize("name", TREES)
def test_limits_of_leaves_and_alpha(name):
    X, y = make_table(name)
    full = clone(TREES[name]).fit(X, y)
    path = full.cost_complexity_pruning_path(X, y)
    alpha = path.ccp_alphas[len(path.ccp_alphas) // 2]
    by_alpha = clone(full).set_params(ccp_alpha=alpha).fit(X, y)
    assert 1 < by_alpha.get_n_leaves() < full.get_n_leaves()
    assert_subtree(by_alpha.tree_, full.tree_)
    best = clone(full).set_params(max_leaf_nodes=5).fit(X, y)
    assert best.get_n_leaves() == 5
    assert_subtree(best.tree_, full.tree_)


def test_simplified_trees_predict_the_same():
    X, y = make_table("classifier")
    # Splits below which both classes are the same, by cutting a tree in half.
    full = ObliqueTreeClassifier(max_depth=3, min_samples_leaf=20).fit(X, y)
    simple = full.simplify()
    assert simple.get_n_leaves() < full.get_n_leaves()
    assert_subtree(simple.tree_, full.tree_)
    np.testing.assert_array_equal(simple.predict(X), full.predict(X))
    assert merge_equal_leaves(simple.tree_) is simple.tree_


@pytest.mark.parametrize("name", TREES)
def test_members_are_pruned_by_their_out_of_bag_rows(name):
    X, y = make_table(name)
    bagging = BaggingClassifier if is_classifier(TREES[name]) else BaggingRegressor
    member = clone(TREES[name])
    full = bagging(member, n_estimators=3, random_state=0).fit(X, y)
    member = clone(member).set_params(pruning="out_of_bag")
    pruned = bagging(member, n_estimators=3, random_state=0).fit(X, y)
    for small, large in zip(pruned, full, strict=True):
        assert small.get_n_leaves() < large.get_n_leaves()
        assert_subtree(small.tree_, large.tree_)


def test_all_columns_of_a_sum_are_tested_columns():
    X, y = make_table("regressor")
    tree = ObliqueTreeRegressor(prefer_axis=None, max_depth=1).fit(X, y).tree_
    assert len(list_tested_columns(tree)) == len(read_terms(tree, 0)) > 1
