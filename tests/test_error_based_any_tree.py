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
from sklearn_textbook.tree.grow.layout import FRACTIONAL, LEAF, NUMERIC, STAY
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
N_CASES = 40


# ----------------------------------------------------------------- against the twin
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
        categorical_split=generator.choice(["subset", "one-vs-rest", "multiway"]),
        missing=missing,
        unseen=generator.choice(["parent", "fractional", "error"]),
        min_samples_leaf=generator.choice([1, 1, 2]),
        splitter=generator.choice(["best", "random"]),
        random_state=seed,
        n_jobs=1,
    )
    frame = make_frame(columns)
    cart.fit(frame, labels, sample_weight=weights)
    confidence = generator.choice([0.25, 0.25, 0.1, 0.4, 0.6])
    return cart, columns, frame, labels, weights, confidence


def prune_twin(case, raises):
    cart, columns, _, labels, weights, confidence = case
    rows = list(zip(*(column.values for column in columns), strict=True))
    nodes = read_grown_tree(cart.tree_)
    twin = TreePruner(nodes, rows, labels, weights, cart.unseen, confidence)
    twin.prune(twin.root, raises=raises)
    return twin


def assert_same_nodes(twin, tree, criterion):
    """The nodes of the twin and of the pruned tree; what was computed up to 1e-9."""
    listed, nodes = twin.list_nodes(), read_grown_tree(tree)
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
        counts = twin.count_classes(expected["cases"])
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


def assert_same_steps(twin, report, listed):
    """The steps; the twin also looks again at branches where nothing can change."""
    steps, node = iter(twin.steps), 0
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
    assert set(report["node"]) == {step["node"] for step in twin.steps}
    numbers = {node["number"]: number for number, node in enumerate(listed)}
    expected = [numbers.get(node, -1) for node in report["node"].tolist()]
    assert report["tree_node"].tolist() == expected


@pytest.mark.parametrize("missing", MODES)
def test_raising_equals_twin(missing):
    found = {"pruned": 0, "raised": 0, "kept": 0}
    for seed in range(N_CASES):
        case = make_case(seed, missing)
        cart, _, frame, labels, weights, confidence = case
        pruner = ErrorBasedPruning(confidence)
        pruned = pruner.prune(cart, X=frame, y=labels, sample_weight=weights)
        check_tree(pruned.tree_)
        twin = prune_twin(case, raises=True)
        assert_same_nodes(twin, pruned.tree_, cart.criterion)
        assert_same_steps(twin, pruned.pruning_report_, twin.list_nodes())
        for decision in pruned.pruning_report_["decision"]:
            found[decision] += 1
    assert min(found.values()) > 3, found
