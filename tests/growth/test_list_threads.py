"""A tree that grows from a list of samples is the same for any number of threads.

Threads share the columns of a node, and subtrees; which ones depends on their number.
Many small tables are grown with one to four threads, and trees of every kind of list
from a mixed table.
"""

from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest

from sklearn_textbook._contract import threads
from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.tree import (
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from sklearn_textbook.tree.grow import _tree_grower
from sklearn_textbook.tree.grow.plan import GrowthPlan
from tests.growth.partitioners import draw_case, force, serves_list
from tests.loops import loop_over

ARRAYS = ("nodes", "statistics", "level_branch", "surrogates", "terms")


@contextmanager
def recorded_tasks():
    """Let threads share nodes and subtrees of any size, and record how large tasks may
    be, for each tree that is asked for with threads."""
    limits, choose = [], _tree_grower.choose_list_task_rows

    def choose_task_rows(n_rows, *others):
        limits.append((n_rows, choose(n_rows, *others)))
        return limits[-1][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_tree_grower, "choose_list_task_rows", choose_task_rows)
        patch.setattr(threads, "CELLS_PER_THREAD", 1)
        yield limits


def assert_same_bits(expected, tree, message=""):
    for name in ARRAYS:
        one, other = getattr(expected, name), getattr(tree, name)
        assert one.tobytes() == other.tobytes(), f"{message}: {name}"


CASES = [
    ("values", "squared_error"),
    ("values", "poisson"),
    (2, "gini"),
    (2, "entropy"),
    (3, "gini"),
    (3, "entropy"),
    (3, "error"),
]


@pytest.mark.parametrize("random_splitter", [False, True])
@pytest.mark.parametrize(("kind", "criterion"), CASES)
def test_random_tables(kind, criterion, random_splitter):
    n_shared = 0
    for seed in range(40):
        table, target, rules, weight, random_state = draw_case(
            seed, kind, criterion, random_splitter=random_splitter
        )
        if criterion == "poisson" and not (target.values >= 0.0).all():
            target.values[:] = np.abs(target.values)
        assert serves_list(table, target, rules)
        with force("sample-list"), recorded_tasks() as limits:
            # The memory of the threads serves one tree after the other.
            plan = GrowthPlan(table, target, rules)
            trees = [plan.grow(weight, random_state, n) for n in (1, 2, 4, 3, 1)]
        n_shared += sum(n_rows > limit for n_rows, limit in limits)
        assert len(limits) in (0, 3)
        for tree in trees[1:]:
            assert_same_bits(trees[0], tree, f"seed {seed}")
    assert n_shared >= 30


MODELS = [
    (CARTClassifier, {}),
    (CARTClassifier, {"criterion": "entropy", "max_features": 3}),
    (CARTClassifier, {"missing": "branch", "max_features": 4}),
    (CARTClassifier, {"categorical_split": "multiway", "max_features": 4}),
    (CARTClassifier, {"splitter": "random"}),
    (CARTClassifier, {"splitter": "random", "top_splits": 3}),
    (CARTClassifier, {"max_features": 4, "top_splits": 2}),
    (CARTClassifier, {"max_features": 4, "min_samples_leaf": 5}),
    (CARTClassifier, {"max_features": 3, "max_leaf_nodes": 20}),
    (CARTClassifier, {"max_features": 3, "max_leaf_nodes": 2000}),
    (CARTRegressor, {}),
    (CARTRegressor, {"criterion": "poisson"}),
    (CARTRegressor, {"monotonic_cst": {"x0": 1, "x1": -1}}),
    (CARTRegressor, {"splitter": "random", "min_weight_fraction_leaf": 0.01}),
    (ObliqueTreeClassifier, {"direction": "lda"}),
    (ObliqueTreeClassifier, {"direction": "logistic", "max_depth": 5}),
    (ObliqueTreeClassifier, {"direction": "oc1", "max_depth": 4}),
    (ObliqueTreeClassifier, {"direction": "random", "n_directions": 4}),
    (ObliqueTreeClassifier, {"direction": "random", "prefer_axis": None}),
    (ObliqueTreeClassifier, {"direction": "lda", "max_leaf_nodes": 15}),
    (ObliqueTreeRegressor, {"direction": "ridge"}),
    (ObliqueTreeRegressor, {"direction": "random", "n_directions": 4}),
]


@cache
def make_table(estimator_class):
    is_classifier = estimator_class in (CARTClassifier, ObliqueTreeClassifier)
    X, y = make_mixed_table(
        2000,
        task="classification" if is_classifier else "regression",
        n_classes=2,
        missing_fraction=0.1,
        label_noise=0.2 if is_classifier else 0.0,
        noise=0.0 if is_classifier else 0.3,
        as_frame=True,
        random_state=0,
    )
    names = [f"x{column}" for column in range(X.shape[1])]
    return X.set_axis(names, axis=1), y if is_classifier else np.abs(y)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("estimator_class", "parameters"), MODELS)
def test_mixed_table(estimator_class, parameters, is_weighted):
    X, y = make_table(estimator_class)
    weight = np.random.default_rng(0).random(len(y)) if is_weighted else None
    with recorded_tasks() as limits:
        trees = [
            estimator_class(**parameters, random_state=0, n_jobs=n_jobs)
            .fit(X, y, sample_weight=weight)
            .tree_
            for n_jobs in (1, 2, 3, 4)
        ]
    assert len(limits) == 3
    for n_rows, limit in limits:
        assert n_rows > limit
    assert trees[0].node_count > 10
    for tree in trees[1:]:
        assert_same_bits(trees[0], tree)


@loop_over("n_outputs", (2, 3))
def test_several_outputs(n_outputs):
    rng = np.random.default_rng(n_outputs)
    X = rng.normal(size=(1500, 9))
    y = X[:, :n_outputs] + rng.normal(size=(1500, n_outputs))
    for model in (
        CARTRegressor(max_features=3, random_state=0),
        ObliqueTreeRegressor(direction="random", random_state=0),
    ):
        with recorded_tasks() as limits:
            trees = [model.set_params(n_jobs=n).fit(X, y).tree_ for n in (1, 2, 4)]
        assert len(limits) == 2
        for tree in trees[1:]:
            assert_same_bits(trees[0], tree)
