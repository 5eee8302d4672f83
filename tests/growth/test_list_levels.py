"""Nominal columns in a list of samples: levels are summed up, and their bits read.

Numbers of levels on both sides of what a word of bits, a byte of children and a word of
words hold; most levels of the large ones have no rows in most nodes.
"""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.growth.mixed_tables import TARGETS, MixedCase, draw_mixed_target
from tests.growth.partitioners import assert_close_trees, assert_equal_trees
from tests.loops import loop_over

N_LEVELS = (2, 63, 64, 65, 255, 256, 300, 5000)


def make_case(n_levels, name, n_rows=1500, missing_share=0.1, seed=0):
    """Two nominal columns, one of them with half of the levels, and one of numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    is_nominal = np.array([True, True, False, False, False])
    # Levels without rows are declared all the same: codes need not be consecutive.
    X[:, 0] = rng.integers(0, n_levels, n_rows)
    X[:, 1] = 2 * rng.integers(0, (n_levels + 1) // 2, n_rows)
    y = draw_mixed_target(rng, name, X)
    X[rng.random(n_rows) < missing_share, 0] = np.nan
    criterion, outputs = TARGETS[name]
    rules = GrowthRules(criterion, max_features=2, shuffles_columns=True)
    is_classifier = isinstance(outputs, tuple)
    return MixedCase(X, is_nominal, y, is_classifier, None, rules, None, seed)


def compare(case):
    expected, tree = case.grow("sorted-columns"), case.grow("sample-list")
    is_exact = case.is_classifier and case.has_whole_weights
    (assert_equal_trees if is_exact else assert_close_trees)(expected, tree)
    return tree


@loop_over("categorical_split", ["subset", "one_vs_rest", "multiway"])
@loop_over("n_levels", N_LEVELS)
@loop_over("name", ["two classes", "entropy of five", "values"])
def test_numbers_of_levels(name, n_levels, categorical_split):
    # Divisions of several classes are searched level by level, again and again.
    n_rows = 300 if n_levels > 300 and name == "entropy of five" else 1500
    case = make_case(n_levels, name, n_rows)
    case = case.with_rules(categorical_split=categorical_split, max_depth=6)
    for missing in ("learned", "branch"):
        tree = compare(case.with_rules(missing=missing))
        assert (tree.nodes["kind"] == 3).any()


@loop_over("name", TARGETS)
@loop_over("categorical_split", ["subset", "one_vs_rest", "multiway"])
def test_random_divisions(name, categorical_split):
    case = make_case(30, name, 400)
    rules = {"categorical_split": categorical_split, "random_splitter": True}
    for missing in ("learned", "branch"):
        compare(case.with_rules(**rules, missing=missing))


@pytest.mark.parametrize("weights", ["whole", "floats"])
@pytest.mark.parametrize("name", TARGETS)
def test_weights(name, weights):
    rng = np.random.default_rng(1)
    case = make_case(20, name, 600)
    weight = rng.integers(0, 4, 600).astype(float)
    weight[0] = 1.0
    if weights == "floats":
        weight = 0.5 + rng.random(600)
    compare(replace(case, weight=weight))
    compare(replace(case, weight=weight).with_rules(top_splits=3))
