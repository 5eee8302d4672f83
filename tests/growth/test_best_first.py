"""Best-first growth ends early, and gives what is kept of the whole tree."""

import numpy as np
import pytest

from sklearn_textbook import ensemble, tree
from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.tree.grow import _settings, _tree_grower
from sklearn_textbook.tree.prune import keep_best_first
from tests.amount import FACTOR
from tests.growth.digests import list_all_fields, list_fields
from tests.growth.freeze_digests import find_difference
from tests.growth.mixed_tables import TARGETS, draw_mixed_case
from tests.growth.partitioners import PARTITIONERS
from tests.reference.cases import make_seeded_case
from tests.reference.compare import find_difference as find_different_node
from tests.reference.compare import read_grown_tree


def grow_both(monkeypatch, grow):
    """What grows until there are enough leaves, and what is grown whole."""
    grown = []
    for rows_per_leaf in (0, np.inf):
        monkeypatch.setattr(_settings, "ROWS_PER_LEAF", rows_per_leaf)
        grown.append(grow())
    return grown


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("name", TARGETS)
def test_kept_splits_are_those_of_the_whole_tree(monkeypatch, name, partitioner):
    n_smaller = 0
    for seed in range(10 * FACTOR):
        drawn = draw_mixed_case(seed, name)
        for max_leaf_nodes in (2, 3, 5, 9, 20, 60):
            case = drawn.with_rules(max_leaf_nodes=max_leaf_nodes)
            trees = grow_both(monkeypatch, lambda: case.grow(partitioner))  # noqa: B023
            n_smaller += trees[0].node_count < trees[1].node_count
            kept = [list_fields(keep_best_first(t, max_leaf_nodes)) for t in trees]
            difference = find_difference(kept[1:], kept[:1])
            assert difference is None, (seed, name, max_leaf_nodes, difference)
    assert n_smaller > 6 * FACTOR


@pytest.fixture(params=[1, 4, None])
def task_rows(monkeypatch, request):
    """Rows of the subtrees that stand apart; None: as they come."""
    if request.param is not None:
        monkeypatch.setattr(
            _tree_grower,
            "choose_task_rows",
            lambda n_rows, _: min(request.param, n_rows),
        )
    return request.param


def test_trees_of_the_reference(monkeypatch, task_rows):
    monkeypatch.setattr(_settings, "ROWS_PER_LEAF", 0)
    n_limited = 0
    for seed in range(100 * FACTOR):
        case = make_seeded_case(4000 + seed)
        case = case.with_settings(max_leaf_nodes=2 + seed % 5)
        fitted = case.fit_kernel(n_jobs=2).tree_
        difference = find_different_node(case.grow_reference(), read_grown_tree(fitted))
        assert difference is None, f"make_seeded_case({4000 + seed}): {difference}"
        n_limited += fitted.n_leaves == 2 + seed % 5
    assert n_limited > 20 * FACTOR


def list_estimators():
    """Estimators of all kinds; pruning comes after growth."""
    for max_leaf_nodes in (2, 17, 60):
        limit = {"max_leaf_nodes": max_leaf_nodes, "random_state": 0}
        for criterion in ("gini", "entropy"):
            yield tree.CARTClassifier(criterion=criterion, **limit)
        for missing in ("branch", "surrogate"):
            yield tree.CARTClassifier(missing=missing, **limit)
            yield tree.CARTRegressor(missing=missing, **limit)
        yield tree.CARTClassifier(categorical_split="multiway", n_jobs=2, **limit)
        yield tree.CARTClassifier(top_splits=3, max_features=0.5, **limit)
        yield tree.CARTClassifier(ccp_alpha=0.002, **limit)
        yield tree.CARTClassifier(pruning=tree.CostComplexityPruning(cv=3), **limit)
        yield tree.CARTRegressor(criterion="absolute_error", max_depth=6, **limit)
        yield tree.CARTRegressor(criterion="poisson", **limit)
        yield tree.CARTRegressor(splitter="random", **limit)
        yield tree.ID3Classifier(**limit)
        yield tree.C45Classifier(**limit)
        yield tree.C45Classifier(categorical_split="subset", pruning=None, **limit)
        limit |= {"n_estimators": 3}
        yield ensemble.RandomForestClassifier(**limit)
        yield ensemble.RandomForestClassifier(class_weight="balanced", **limit)
        yield ensemble.RandomForestRegressor(max_features=0.4, **limit)
        yield ensemble.ExtraTreesClassifier(**limit)


@pytest.mark.parametrize(
    ("n_rows", "missing_fraction"), [(900, 0.0), (900, 0.1), (6000, 0.1)]
)
def test_estimators(monkeypatch, n_rows, missing_fraction):
    tables = {
        is_classifier: make_mixed_table(
            n_rows,
            task="classification" if is_classifier else "regression",
            n_classes=3,
            missing_fraction=missing_fraction,
            label_noise=0.1 if is_classifier else 0.0,
            noise=0.0 if is_classifier else 0.3,
            as_frame=True,
            random_state=0,
        )
        for is_classifier in (True, False)
    }
    for estimator in list_estimators():
        is_classifier = "Regressor" not in type(estimator).__name__
        X, y = tables[is_classifier]
        y = y if is_classifier else np.abs(y)
        limited, whole = grow_both(
            monkeypatch,
            lambda: list_all_fields(estimator.fit(X, y)),  # noqa: B023
        )
        difference = find_difference(whole, limited)
        assert difference is None, f"{estimator}: {difference}"
