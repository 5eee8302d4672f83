"""``max_features``: which columns a node tries."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_textbook.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
)
from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.amount import FACTOR
from tests.growth.partitioners import (
    assert_close_trees,
    assert_equal_trees,
    encode,
    grow_twice,
    make_classes,
    make_values,
)
from tests.growth.test_top_splits import draw_seed
from tests.reference.c45_cases import make_seeded_case as make_c45_case
from tests.reference.cases import make_seeded_case as make_cart_case
from tests.reference.compare import find_difference, read_grown_tree
from tests.reference.id3_cases import make_seeded_id3_case

CASES = {"cart": make_cart_case, "id3": make_seeded_id3_case, "c45": make_c45_case}
TREES = [CARTClassifier, CARTRegressor, ID3Classifier, C45Classifier]
FORESTS = [RandomForestClassifier, ExtraTreesClassifier]


def compare_with_reference(make_case, seed):
    """Grow kernel and reference with the same sampled columns."""
    case = make_case(seed)
    n_columns = len(case.columns)
    if n_columns == 1:
        return
    settings = {
        **case.settings,
        "max_features": 1 + seed % (n_columns - 1),
        "random_state": seed,
    }
    tree = replace(case, settings=settings).fit_kernel(n_jobs=2).tree_
    settings["seed"] = draw_seed(settings.pop("random_state"))
    reference = replace(case, settings=settings).grow_reference()
    difference = find_difference(reference, read_grown_tree(tree))
    assert difference is None, f"{make_case.__name__}({seed}): {difference}\n{case}"


@pytest.mark.parametrize("name", CASES)
def test_random_tables(name):
    for seed in range(80 * FACTOR):
        compare_with_reference(CASES[name], seed)


@pytest.mark.parametrize("n_rows", [50, 3000])
@pytest.mark.parametrize("random_splitter", [False, True])
@pytest.mark.parametrize("kind", [2, 5, "values"])
def test_both_partitioners(kind, random_splitter, n_rows):
    """A list of samples, its small subtrees, and sorted columns draw alike."""
    rng = np.random.default_rng(n_rows)
    X = rng.integers(0, 3, (n_rows, 9)).astype(float)
    X[:, 0] = rng.normal(size=n_rows)
    weight = rng.integers(1, 3, n_rows).astype(float)
    if kind == "values":
        target, compare = make_values(rng.normal(size=n_rows)), assert_close_trees
    else:
        target = make_classes(rng.integers(0, kind, n_rows))
        compare = assert_equal_trees
    rules = GrowthRules(
        "squared_error" if kind == "values" else "gini",
        max_features=2,
        random_splitter=random_splitter,
    )
    expected, tree = grow_twice(encode(X), target, rules, weight, 1)
    compare(expected, tree)


def make_constant_table():
    """One column that tells everything, and nine that tell nothing."""
    rng = np.random.default_rng(0)
    X = np.ones((200, 10))
    X[:, 4] = rng.normal(size=200)
    return X, (X[:, 4] > 0).astype(int)


@pytest.mark.parametrize("estimator_class", TREES)
def test_sampling_goes_on_until_a_column_is_not_constant(estimator_class):
    X, y = make_constant_table()
    for seed in range(30):
        estimator = estimator_class(max_features=3, random_state=seed)
        assert estimator.fit(X, y).tree_.node_count == 3


@pytest.mark.parametrize("estimator_class", FORESTS)
def test_forests_go_on_as_well(estimator_class):
    X, y = make_constant_table()
    forest = estimator_class(200, max_features=3, random_state=0).fit(X, y)
    assert all(tree.tree_.node_count > 1 for tree in forest.estimators_)
