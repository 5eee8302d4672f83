"""Members of a forest that are pruned by their out-of-bag rows."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.tree import OutOfBagPruning
from sklearn_textbook.tree.members import read_matrix
from tests.explain.builders import route_row
from tests.loops import loop_over

FORESTS = {
    "classifier": RandomForestClassifier(),
    "classifier-entropy": RandomForestClassifier(
        criterion="entropy", max_features=None, class_weight={0: 1.0, 1: 3.0}
    ),
    "classifier-c45": RandomForestClassifier(criterion="gain_ratio"),
    "regressor": RandomForestRegressor(max_features=0.5),
    "regressor-extra": ExtraTreesRegressor(bootstrap=True),
}


def make_table(name, seed):
    kind = "regression" if "regressor" in name else "classification"
    return make_mixed_table(
        120,
        n_numeric=3,
        n_nominal=2,
        n_ordinal=1,
        task=kind,
        label_noise=0.2 if kind == "classification" else 0.0,
        noise=0.5 if kind == "regression" else 0.0,
        missing_fraction=0.05,
        as_frame=True,
        random_state=seed,
    )


def pair_nodes(pruned, full):
    """(node of the pruned tree, the same node of the full tree), from the roots."""
    pairs = [(0, 0)]
    for small, large in pairs:
        node, whole = pruned.nodes[small], full.nodes[large]
        for child in range(node["n_children"]):
            pairs.append((node["first_child"] + child, whole["first_child"] + child))
    return pairs


def assert_same_nodes(tree, other):
    for field in tree.tree_.nodes.dtype.names:  # whole records differ where NaN stands
        np.testing.assert_array_equal(tree.tree_.nodes[field], other.tree_.nodes[field])


def measure_losses(tree, rows, target):
    """Sum of the losses of some rows; every part of a divided row is judged alone."""
    losses = 0.0
    for row, known in zip(rows, target, strict=True):
        for end, share in route_row(tree, row).items():
            said = tree.statistics[end, 0]
            is_value = len(said) == 1
            loss = (said[0] - known) ** 2 if is_value else said.argmax() != known
            losses += share * float(loss)
    return losses


def list_out_of_bag(forest, number, n_rows):
    return np.setdiff1d(np.arange(n_rows), forest.estimators_samples_[number])


@loop_over("seed", range(2))
@pytest.mark.parametrize("name", sorted(FORESTS))
def test_pruned_members_are_subtrees_that_err_no_more(name, seed):
    X, y = make_table(name, seed)
    forest = clone(FORESTS[name]).set_params(n_estimators=6, random_state=seed)
    full = clone(forest).fit(X, y)
    pruned = forest.set_params(pruning="out_of_bag").fit(X, y)
    matrix = read_matrix(full, X, full[0])
    target = y.to_numpy()
    n_smaller = n_better = 0
    for number, (small, large) in enumerate(zip(pruned, full, strict=True)):
        assert small.random_state == large.random_state
        for node, same in pair_nodes(small.tree_, large.tree_):
            ours, theirs = small.tree_.nodes[node], large.tree_.nodes[same]
            compared = ["weight", "n_samples", "impurity"]
            if ours["n_children"]:
                compared += ["n_children", "feature", "threshold", "missing_branch"]
            for field in compared:
                np.testing.assert_equal(ours[field], theirs[field])
            np.testing.assert_array_equal(
                small.tree_.statistics[node], large.tree_.statistics[same]
            )
        out = list_out_of_bag(full, number, len(X))
        before = measure_losses(large.tree_, matrix[out], target[out])
        after = measure_losses(small.tree_, matrix[out], target[out])
        assert after <= before * (1 + 1e-12)
        n_smaller += small.tree_.node_count < large.tree_.node_count
        n_better += after < before
    assert n_smaller >= 5
    assert n_better > 0


def test_the_seen_rows_do_not_judge():
    """A member pruned alone, with its out-of-bag rows given, is the same tree."""
    X, y = make_table("classifier", 5)
    forest = RandomForestClassifier(n_estimators=4, random_state=0)
    pruner = OutOfBagPruning(tie="keep")
    full = clone(forest).fit(X, y)
    pruned = forest.set_params(pruning=pruner).fit(X, y)
    for number, (small, large) in enumerate(zip(pruned, full, strict=True)):
        out = list_out_of_bag(full, number, len(X))
        alone = pruner.prune(large, X.iloc[out], y.iloc[out])
        assert_same_nodes(alone, small)
        assert small.pruning_report_["node"].tolist() == (
            alone.pruning_report_["node"].tolist()
        )


def test_a_tie_is_pruned_or_kept():
    X, y = make_table("classifier", 1)
    forest = RandomForestClassifier(n_estimators=6, random_state=0)
    counts = {
        tie: sum(
            member.tree_.node_count
            for member in clone(forest)
            .set_params(pruning=OutOfBagPruning(tie=tie))
            .fit(X, y)
        )
        for tie in ("prune", "keep")
    }
    assert counts["prune"] < counts["keep"]


def test_without_out_of_bag_rows_members_stay_whole():
    X, y = make_table("classifier", 2)
    forest = RandomForestClassifier(n_estimators=3, random_state=0, bootstrap=False)
    full = clone(forest).fit(X, y)
    pruned = forest.set_params(pruning="out_of_bag").fit(X, y)
    for small, large in zip(pruned, full, strict=True):
        assert_same_nodes(small, large)


def test_a_pruned_forest_is_the_same_for_any_number_of_jobs():
    X, y = make_table("regressor", 3)
    forest = RandomForestRegressor(n_estimators=6, random_state=0, pruning="out_of_bag")
    alone = clone(forest).set_params(n_jobs=1).fit(X, y)
    together = clone(forest).set_params(n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(alone.predict(X), together.predict(X))
