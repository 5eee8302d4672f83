"""C45Classifier with ReducedErrorPruning prunes as J48 does with its option -R.

J48 deals its rows into some that grow the tree and some that prune it; we get the same
ones as rows of weight 1 and as ``X_val``, so that all classes are declared. Two things
it takes from both kinds of rows together:

- the value to which it lowers a threshold. All rows of the table are on the same side
  of it and of the midpoint, so ours is the tree by midpoints, printed with its values;
- N, which tells whether a nominal column has many levels (0.3 N or more). Tables in
  which this would be another answer for the growing rows alone are left out.
"""

import random
from dataclasses import replace

import numpy as np
import pytest

from sklearn_textbook.tree import C45Classifier, ReducedErrorPruning
from tests.differential.j48 import (
    find_example,
    grow_with_j48,
    read_example,
    require_weka,
    write_table,
)
from tests.reference.c45_cases import make_case
from tests.reference.c45_measures import is_less
from tests.reference.compare import read_grown_tree

#: Leaves and size that J48 finds for three folds.
EXAMPLES = {
    "weather.nominal": (1, 1),
    "weather.numeric": (1, 1),
    "contact-lenses": (3, 5),
    "labor": (4, 7),
    "vote": (5, 9),
    "iris": (5, 9),
}
SETTINGS = [
    {"n_folds": 3},
    {"n_folds": 2, "min_samples_leaf": 1},
    {"n_folds": 5, "categorical_split": "one_vs_rest"},
]
N_GENERATED = 60


def deal_rows(y, n_folds):
    """Numbers of the rows that grow the tree, and of those that prune it."""
    rows = [row for row, label in enumerate(y) if label is not None]
    place = 1
    while place < len(rows):
        for other in range(place, len(rows)):
            if y[rows[other]] == y[rows[place - 1]]:
                rows[place], rows[other] = rows[other], rows[place]
                place += 1
        place += 1
    dealt = [row for first in range(n_folds) for row in rows[first::n_folds]]
    n_growing = len(rows) - len(rows) // n_folds
    return dealt[:n_growing], dealt[n_growing:]


def write_options(n_folds, min_samples_leaf=2, categorical_split="multiway"):
    binary = "-B " if categorical_split == "one_vs_rest" else ""
    return f"-M {min_samples_leaf} {binary}-R -N {n_folds}"


def fit(table, n_folds, **settings):
    """Grow and prune with J48's rows."""
    growing, pruning = deal_rows(table.y, n_folds)
    y = np.array([0 if label is None else label for label in table.y])
    weight = np.zeros(len(y))
    weight[growing] = 1.0
    estimator = C45Classifier(
        threshold="midpoint", pruning=ReducedErrorPruning(), **settings
    )
    return estimator.fit(
        table.frame, y, weight, X_val=table.frame.iloc[pruning], y_val=y[pruning]
    )


def lower_thresholds(nodes, columns):
    """Put the largest value of the table that is not above it for every midpoint."""
    lowered = []
    for node in nodes:
        if node["kind"] in ("numeric", "ordinal"):
            values = columns[node["feature"]].values
            below = [v for v in values if v is not None and v <= node["threshold"]]
            node = node | {"threshold": float(max(below))}
        lowered.append(node)
    return lowered


def count_many_valued(table, n_rows):
    return [not is_less(c.n_levels, 0.3 * n_rows) for c in table.columns if c.n_levels]


def is_comparable(table, n_folds):
    """Whether both kinds of rows together have the same columns of many levels."""
    n_growing = len(deal_rows(table.y, n_folds)[0])
    whole = count_many_valued(table, len(table.y))
    return whole == count_many_valued(table, n_growing)


def find_difference(table, settings, tree):
    """What differs first, in words, and our tree."""
    estimator = fit(table, **settings)
    nodes = lower_thresholds(read_grown_tree(estimator.tree_), table.columns)
    difference = table.make_printer(settings).find_difference(nodes, tree.lines)
    if difference is None:
        assert estimator.tree_.n_leaves == tree.n_leaves
        assert estimator.tree_.node_count == tree.size
        known = [row for row, label in enumerate(table.y) if label is not None]
        rows = table.frame.iloc[known]
        np.testing.assert_array_equal(estimator.predict(rows), tree.predicted[known])
        np.testing.assert_allclose(
            estimator.predict_proba(rows), tree.shares[known], rtol=1e-9, atol=1e-9
        )
    return difference, estimator


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    require_weka()
    return tmp_path_factory.mktemp("j48")


def test_dealt_rows():
    """Rows 0 to 6 of two classes; three folds: the last two of the dealt ones prune."""
    assert deal_rows([0, 1, 0, 1, 1, 0, 1], 3) == ([0, 3, 6, 2, 4], [5, 1])


def test_example_tables(directory):
    tables = {
        name: read_example(find_example(name), directory)
        for name in EXAMPLES
        if find_example(name)
    }
    if not tables:
        pytest.skip("Weka's example tables are not installed")
    runs = [(table, settings) for table in tables.values() for settings in SETTINGS]
    trees = grow_with_j48([(t, write_options(**s)) for t, s in runs], directory)
    n_compared = 0
    for (table, settings), tree in zip(runs, trees, strict=True):
        if is_comparable(table, settings["n_folds"]):
            assert find_difference(table, settings, tree)[0] is None, table.path.stem
            n_compared += 1
        if settings == SETTINGS[0]:
            assert (tree.n_leaves, tree.size) == EXAMPLES[table.path.stem]
    assert n_compared >= 2 * len(tables)


def make_whole(column):
    """Numbers in thousandths, so that midpoints are exact.

    J48 takes a value for equal to a midpoint that is nearer than 1e-6, we do not.
    """
    if column.kind != "numeric":
        return column
    values = [None if v is None else float(round(1000 * v)) for v in column.values]
    return replace(column, values=values)


def make_case_of_pruning(seed):
    """A table and how it is dealt."""
    generator = random.Random(seed)
    case = make_case(generator, n_rows=generator.randint(12, 200))
    columns = [make_whole(column) for column in case.columns]
    case = replace(case, columns=columns, weights=[1.0] * len(case.y))
    settings = {
        "n_folds": generator.choice([2, 3, 3, 3, 5]),
        "min_samples_leaf": generator.choice([1, 2, 2, 3]),
        "categorical_split": generator.choice(["multiway", "multiway", "one_vs_rest"]),
    }
    return case, settings


def test_generated_tables(directory):
    check_generated_tables(directory, range(N_GENERATED))


def check_generated_tables(directory, seeds):
    """Compare; the counts of what was compared."""
    runs = []
    for seed in seeds:
        case, settings = make_case_of_pruning(seed)
        path = directory / f"pruned{seed}.arff"
        table = write_table(path, case.columns, case.y, case.n_classes)
        if is_comparable(table, settings["n_folds"]):
            runs.append((seed, table, settings))
    options = [(table, write_options(**settings)) for _, table, settings in runs]
    n_split = n_divided = n_fallen = 0
    for (seed, table, settings), tree in zip(
        runs, grow_with_j48(options, directory), strict=True
    ):
        difference, estimator = find_difference(table, settings, tree)
        assert difference is None, f"seed {seed}"
        weights = estimator.tree_.nodes["weight"]
        n_split += len(weights) > 1
        n_divided += (weights % 1 > 0).any()
        n_fallen += "pruned" in estimator.pruning_report_["decision"]
    # The tables do test what they are made for.
    assert len(runs) > 0.7 * len(seeds)
    assert min(n_split, n_fallen) > 0.3 * len(runs)
    assert n_divided > 0.05 * len(runs)
    return len(runs), n_split, n_divided, n_fallen
