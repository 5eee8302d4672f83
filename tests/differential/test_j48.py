"""C45Classifier grows, prunes, prints and predicts as Weka's J48 3.6.

The numbers that J48 prints are rounded sums of weights. A sum half way between two
printed numbers goes to one or the other by its last bit, that is by the order of
summation: a tie. At most one table of a hundred may have one.
"""

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.differential.j48 import (
    EXAMPLES,
    find_example,
    grow_with_j48,
    read_example,
    require_weka,
    write_options,
    write_table,
)
from tests.differential.j48_text import TreePrinter
from tests.reference.c45_cases import make_case, make_classifier, make_j48_settings
from tests.reference.compare import read_grown_tree

EXAMPLE_NAMES = [
    "weather.nominal",
    "weather.numeric",
    "contact-lenses",
    "labor",
    "vote",
    "iris",
]

SETTINGS = {
    "default": {},
    "-U": {"pruning": None},
    "-S": {"subtree_raising": False},
    "-M 1": {"min_samples_leaf": 1},
    "-M 10": {"min_samples_leaf": 10},
    "-C 0.1": {"confidence": 0.1},
    "-C 0.5": {"confidence": 0.5},
    "-A": {"laplace": True},
    "-B": {"categorical_split": "one_vs_rest"},
    "-B -U -M 1": {
        "categorical_split": "one_vs_rest",
        "pruning": None,
        "min_samples_leaf": 1,
    },
}

N_GENERATED = 200
N_TIED = N_GENERATED // 100


def make_generated_case(seed):
    """A random case for J48: weights are integers, which it gets as repeated rows."""
    generator = random.Random(seed)
    settings = make_j48_settings(generator)
    settings["laplace"] = seed % 5 == 0
    case = replace(make_case(generator), settings=settings)
    if not all(weight.is_integer() for weight in case.weights):
        case = replace(case, weights=[1.0] * len(case.y))
    return case


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    require_weka()
    return tmp_path_factory.mktemp("j48")


@pytest.fixture(scope="module")
def grown_examples(directory):
    """Name -> (table, name of settings -> J48's tree)."""
    tables = {
        name: read_example(find_example(name), directory)
        for name in EXAMPLE_NAMES
        if find_example(name)
    }
    options = [write_options(settings) for settings in SETTINGS.values()]
    trees = iter(
        grow_with_j48([(t, o) for t in tables.values() for o in options], directory)
    )
    return {
        name: (table, dict(zip(SETTINGS, trees, strict=False)))
        for name, table in tables.items()
    }


def make_printer(estimator, class_names):
    """What prints a fitted estimator's tree as J48 does."""
    schema = estimator.schema_
    return TreePrinter(
        schema.names,
        [column.levels for column in schema.columns],
        class_names,
        binary=estimator.categorical_split == "one_vs_rest",
    )


def check_size_and_predictions(estimator, table, tree):
    """Leaves, nodes, and what is predicted for the training rows."""
    assert estimator.tree_.n_leaves == tree.n_leaves
    assert estimator.tree_.node_count == tree.size
    np.testing.assert_array_equal(estimator.predict(table.frame), tree.predicted)
    np.testing.assert_allclose(
        estimator.predict_proba(table.frame), tree.shares, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_example_tables(grown_examples, name, settings):
    if name not in grown_examples:
        pytest.skip(f"Weka's example table {name}.arff is not in {EXAMPLES}")
    table, trees = grown_examples[name]
    tree = trees[settings]
    estimator = make_classifier(SETTINGS[settings]).fit(table.frame, table.y)
    nodes = read_grown_tree(estimator.tree_)
    printer = make_printer(estimator, table.class_names)
    assert printer.find_difference(nodes, tree.lines) is None
    check_size_and_predictions(estimator, table, tree)


def test_generated_tables(directory):
    cases, runs = [], []
    for seed in range(N_GENERATED):
        case = make_generated_case(seed)
        rows = case.repeat_rows()
        path = directory / f"generated{seed}.arff"
        table = write_table(path, rows.columns, rows.y, case.n_classes)
        cases.append(case)
        runs.append((table, write_options(case.settings)))
    trees = grow_with_j48(runs, directory)
    tied, n_split, n_divided = [], 0, 0
    for seed, (case, (table, _), tree) in enumerate(
        zip(cases, runs, trees, strict=True)
    ):
        estimator = case.fit_kernel()
        nodes = read_grown_tree(estimator.tree_)
        printer = make_printer(estimator, table.class_names)
        assert printer.find_difference(nodes, tree.lines) is None, f"seed {seed}"
        if printer.write_lines(nodes) != tree.lines:
            tied.append(seed)
        check_size_and_predictions(estimator, table, tree)
        n_split += len(nodes) > 1
        n_divided += any(not node["weight"].is_integer() for node in nodes)
    assert len(tied) <= N_TIED, tied
    # The tables do test what they are made for.
    assert n_split >= N_GENERATED // 2
    assert n_divided >= N_GENERATED // 5
