"""``top_splits``: one of the best tests of a node, at random."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
)
from sklearn_textbook.tree.grow import _tree_grower
from sklearn_textbook.tree.recipe import LARGEST_SEED
from tests.amount import FACTOR
from tests.loops import loop_over
from tests.reference.c45_cases import make_seeded_case as make_c45_case
from tests.reference.cases import make_seeded_case as make_cart_case
from tests.reference.compare import find_difference, read_grown_tree
from tests.reference.id3_cases import make_seeded_id3_case

CASES = {"cart": make_cart_case, "id3": make_seeded_id3_case, "c45": make_c45_case}
ESTIMATORS = [CARTClassifier, CARTRegressor, ID3Classifier, C45Classifier]


def draw_seed(random_state):
    """The seed that an estimator draws."""
    return int(np.random.RandomState(random_state).randint(LARGEST_SEED))


def compare_with_reference(make_case, seed):
    """Grow kernel and reference with the same draws; whether the draws matter."""
    case = make_case(seed)
    settings = {**case.settings, "top_splits": 2 + seed % 3}
    drawn = {"random_state": seed}
    reference = replace(
        case, settings={**settings, "seed": draw_seed(seed)}
    ).grow_reference()
    tree = replace(case, settings={**settings, **drawn}).fit_kernel(n_jobs=2).tree_
    difference = find_difference(reference, read_grown_tree(tree))
    assert difference is None, f"{make_case.__name__}({seed}): {difference}\n{case}"
    plain = case.fit_kernel().tree_
    return tree.nodes.tobytes() != plain.nodes.tobytes()


@pytest.mark.parametrize("task_rows", [1000, 4])
@pytest.mark.parametrize("name", CASES)
def test_random_tables(monkeypatch, name, task_rows):
    """Also where all nodes but the smallest are split in the first phase."""
    monkeypatch.setattr(
        _tree_grower, "choose_task_rows", lambda n_rows, _: min(task_rows, n_rows)
    )
    first = 1000 * FACTOR if task_rows == 4 else 0
    seeds = range(first, first + 50 * FACTOR)
    n_others = sum(compare_with_reference(CASES[name], seed) for seed in seeds)
    assert n_others > 10


def make_table(n_columns=5):
    """Columns that lower the impurity the less the later they stand."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    noise = np.linspace(0.5, 1.5, n_columns)
    return y[:, None] + noise * rng.normal(size=(400, n_columns)), y


@pytest.mark.parametrize("top_splits", [2, 3, 5, 100])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_each_of_the_best_is_as_likely(estimator_class, top_splits):
    X, y = make_table()
    estimator = estimator_class(max_depth=1, top_splits=top_splits)
    if estimator_class is C45Classifier:
        estimator.set_params(pruning=None, gain_ratio_rule="plain")
    tests = Counter()
    n_seeds = 150
    for seed in range(n_seeds):
        tree = estimator.set_params(random_state=seed).fit(X, y).tree_
        tests[int(tree.feature[0]), float(tree.threshold[0])] += 1
    n_tests = min(top_splits, 5)
    assert len(tests) == n_tests
    # The best columns, each with the threshold that it has alone.
    merits = {}
    for column in range(5):
        alone = estimator_class(max_depth=1)
        if estimator_class is C45Classifier:
            alone.set_params(pruning=None, gain_ratio_rule="plain")
        tree = alone.fit(X[:, [column]], y).tree_
        merits[column, float(tree.threshold[0])] = (
            compute_ratio(tree)
            if estimator_class is C45Classifier
            else tree.nodes["improvement"][0]
        )
    assert set(tests) == set(sorted(merits, key=merits.get)[-n_tests:])
    deviation = np.array(list(tests.values())) - n_seeds / n_tests
    chi_squared = (deviation**2).sum() / (n_seeds / n_tests)
    assert chi_squared < 20  # of at most 4 degrees of freedom: p = 0.0005


def compute_ratio(tree):
    """Gain ratio of a stump, whose threshold pays for its choice."""
    shares = tree.nodes["weight"][1:] / tree.nodes["weight"][0]
    gain = tree.nodes["improvement"][0] - np.log2(400 - 2 * 20 + 1) / 400
    return -gain / (shares * np.log2(shares)).sum()


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_one_is_the_best(estimator_class):
    """No bit differs, and no number is drawn."""
    X, y = make_table()
    random_state = np.random.RandomState(3)
    one = estimator_class(top_splits=1, random_state=random_state).fit(X, y).tree_
    default = estimator_class().fit(X, y).tree_
    assert one.nodes.tobytes() == default.nodes.tobytes()
    assert random_state.randint(1000) == np.random.RandomState(3).randint(1000)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_threads_make_no_difference(estimator_class):
    X, y = make_mixed_table(
        8000, missing_fraction=0.1, label_noise=0.2, as_frame=True, random_state=0
    )
    y = np.unique(y, return_inverse=True)[1]
    trees = [
        estimator_class(top_splits=3, max_depth=9, random_state=0, n_jobs=n_jobs)
        .fit(X, y)
        .tree_
        for n_jobs in (1, 2, 3)
    ]
    assert trees[0].node_count > 50
    for tree in trees[1:]:
        assert tree.nodes.tobytes() == trees[0].nodes.tobytes()
        assert tree.statistics.tobytes() == trees[0].statistics.tobytes()


def test_a_test_without_gain_is_not_drawn():
    """Nor one that min_impurity_decrease would refuse; nor one below min_gain."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    useless = np.tile([0.0, 1.0], 50)
    weak = np.where(rng.random(100) < 0.6, y, 1 - y).astype(float)
    X = np.column_stack([useless, weak, y])
    for estimator, features in [
        (CARTClassifier(), {1, 2}),
        (CARTClassifier(min_impurity_decrease=0.2), {2}),
        (CARTRegressor(splitter="random"), {1, 2}),
        (ID3Classifier(), {1, 2}),
        (ID3Classifier(min_gain=0.5), {2}),
        (ID3Classifier(min_impurity_decrease=0.5), {2}),
        (C45Classifier(), {2}),
        (C45Classifier(gain_ratio_rule="plain"), {1, 2}),
    ]:
        estimator.set_params(top_splits=3, max_depth=1)
        found = set()
        for seed in range(40):
            tree = estimator.set_params(random_state=seed).fit(X, y).tree_
            found.add(int(tree.feature[0]))
        assert found <= features | {-2}
        assert features <= found or isinstance(estimator, C45Classifier)
        assert 2 in found


def test_nothing_gains():
    """The first of the tests without gain, as ever."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    for seed in range(10):
        model = CARTClassifier(top_splits=2, random_state=seed).fit(X, [0, 1, 1, 0])
        assert model.tree_.feature[0] == 0
        assert model.tree_.n_leaves == 4


@loop_over("top_splits", [0, -1, 1.5, None, True, "all"])
@loop_over("estimator_class", ESTIMATORS)
def test_top_splits_must_be_a_positive_integer(estimator_class, top_splits):
    X, y = make_table()
    with pytest.raises(ValueError, match=r"'top_splits'.*\[1, inf\)"):
        estimator_class(top_splits=top_splits).fit(X, y)
