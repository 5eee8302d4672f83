"""Both phases of growing, and any number of threads, give the same tree.

Small tables are one task; these tests make tasks so small that the first phase, in
which threads share the columns of a node, has to do the work.
"""

import numpy as np
import pytest

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.grow import _tree_grower
from tests.growth.partitioners import force
from tests.reference.cases import make_seeded_case
from tests.reference.compare import find_difference, read_grown_tree


@pytest.fixture
def limit_tasks(monkeypatch):
    """Set the size of tasks; the calls of the engine are counted."""
    calls = []

    def limit(task_rows):
        def choose_task_rows(n_rows, n_columns):
            calls.append(n_rows)
            return min(task_rows, n_rows)

        monkeypatch.setattr(_tree_grower, "choose_task_rows", choose_task_rows)
        return calls

    return limit


@pytest.mark.parametrize("task_rows", [1, 4])
def test_first_phase_agrees_with_the_reference(limit_tasks, task_rows):
    calls = limit_tasks(task_rows)
    for seed in range(300 * task_rows, 300 * task_rows + 150):
        case = make_seeded_case(seed)
        with force("sorted-columns"):
            tree = case.fit_kernel(n_jobs=2).tree_
        difference = find_difference(case.grow_reference(), read_grown_tree(tree))
        assert difference is None, f"make_seeded_case({seed}): {difference}"
    assert len(calls) == 150


SETTINGS = [
    (CARTClassifier, {}),
    (CARTClassifier, {"criterion": "entropy"}),
    (CARTClassifier, {"missing": "surrogate", "max_depth": 8}),
    (CARTClassifier, {"missing": "branch", "categorical_split": "multiway"}),
    (CARTClassifier, {"max_features": 3, "random_state": 0}),
    (CARTClassifier, {"splitter": "random", "random_state": 0}),
    (CARTRegressor, {}),
    (CARTRegressor, {"criterion": "absolute_error", "max_depth": 6}),
    (CARTRegressor, {"criterion": "poisson"}),
]


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("estimator_class", "parameters"), SETTINGS)
def test_tree_depends_neither_on_threads_nor_on_tasks(
    limit_tasks, estimator_class, parameters, is_weighted
):
    is_classifier = estimator_class is CARTClassifier
    X, y = make_mixed_table(
        3000,
        task="classification" if is_classifier else "regression",
        n_classes=3,
        missing_fraction=0.1,
        label_noise=0.1 if is_classifier else 0.0,
        noise=0.0 if is_classifier else 0.3,
        as_frame=True,
        random_state=0,
    )
    if parameters.get("criterion") == "poisson":
        y = np.abs(y)
    weight = None
    if is_weighted:
        weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    trees, ends = [], []
    for n_jobs, task_rows in [(1, None), (2, None), (2, 100), (3, 700)]:
        if task_rows is not None:
            limit_tasks(task_rows)
        model = estimator_class(**parameters, n_jobs=n_jobs)
        trees.append(model.fit(X, y, sample_weight=weight).tree_)
        ends.append(model.apply(X))
    assert trees[0].node_count > 20
    # The number of threads changes no bit, and the size of tasks no test or leaf.
    assert trees[1].nodes.tobytes() == trees[0].nodes.tobytes()
    np.testing.assert_array_equal(trees[1].statistics, trees[0].statistics)
    np.testing.assert_array_equal(trees[1].level_branch, trees[0].level_branch)
    for tree, end in zip(trees[1:], ends[1:], strict=True):
        np.testing.assert_array_equal(end, ends[0])
        for name in ("feature", "first_child", "n_samples", "missing_branch"):
            np.testing.assert_array_equal(tree.nodes[name], trees[0].nodes[name])
        np.testing.assert_array_equal(
            tree.nodes["threshold"], trees[0].nodes["threshold"]
        )
        np.testing.assert_allclose(tree.statistics, trees[0].statistics, rtol=1e-12)
