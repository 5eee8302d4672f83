"""Lists of samples give the trees of sorted columns and of a reference in Python.

For classes with whole weights every bit must agree. Other sums round in the order of
summation; tests and numbers of rows must agree. Weights over many orders of magnitude
are left out, as rounding decides between near ties.
"""

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sklearn_textbook.tree.encode import read_training_table
from sklearn_textbook.tree.grow import layout, plan
from sklearn_textbook.tree.grow.plan import choose_sums
from sklearn_textbook.tree.route import find_ends
from tests.amount import FACTOR
from tests.growth.mixed_tables import TARGETS, WEIGHTS, draw_mixed_case
from tests.growth.partitioners import assert_close_trees, assert_equal_trees
from tests.growth.test_top_splits import draw_seed
from tests.reference.cases import (
    CRITERIA,
    Case,
    make_classes,
    make_column,
    make_numbers,
    make_settings,
    make_weights,
)
from tests.reference.compare import find_difference, read_grown_tree

#: Of every target: 308 tables in all, or more than 2,000.
N_CASES = 28 if FACTOR == 1 else 91 * FACTOR
#: That are compared with the reference.
N_REFERENCES = 100 * FACTOR


def compare_trees(case, expected, tree, message):
    """Compare two trees of a case as far as they must agree."""
    is_exact = case.is_classifier and case.has_whole_weights
    compare = assert_equal_trees if is_exact else assert_close_trees
    compare(expected, tree, message)


@pytest.mark.parametrize("name", TARGETS)
def test_random_tables(name):
    n_nodes = 0
    for seed in range(N_CASES):
        case = draw_mixed_case(seed, name)
        expected, tree = case.grow("sorted-columns"), case.grow("sample-list")
        compare_trees(case, expected, tree, f"draw_mixed_case({seed}, {name!r})")
        n_nodes += tree.node_count
    assert n_nodes > 20 * N_CASES


@pytest.mark.parametrize("shape", [(40_000, 5), (300, 65), (300, 130)])
@pytest.mark.parametrize("name", TARGETS)
def test_large_tables(name, shape):
    """Nodes of more rows than are copied, and more columns than a word has bits."""
    n_nodes = 0
    for seed in range(2 * FACTOR):
        case = draw_mixed_case(seed, name, shape=shape)
        expected, tree = case.grow("sorted-columns"), case.grow("sample-list")
        message = f"draw_mixed_case({seed}, {name!r}, shape={shape})"
        compare_trees(case, expected, tree, message)
        n_nodes += tree.node_count
    assert n_nodes > 2 * FACTOR  # single leaves say nothing


SUMS = ("binary", "moments", "class-counts", "class-weights", "general")


def list_facts(case, nodes):
    """What a case and the nodes of its tree are an example of."""
    rules = case.rules
    sums = choose_sums(case.encode(), case.target, rules, case.weight)
    inner = nodes[nodes["n_children"] > 0]
    has_missing = bool(np.isnan(case.X).any())
    yield sums, "random" if rules.random_splitter else "best"
    yield sums, rules.missing, has_missing
    yield sums, "binned" if case.max_bins else "not binned"
    yield sums, "histograms" if inner["n_samples"].max() > 64 else "few rows"
    for name in ("kind", "missing_branch", "n_children"):
        yield from ((name, value) for value in set(inner[name].tolist()))
    yield "is it missing", bool(np.isinf(inner["threshold"]).any())
    yield "top_splits", rules.top_splits
    yield "min_weight_leaf", rules.min_weight_leaf > 0
    yield "monotonic", rules.monotonic is not None


def test_the_tables_cover_what_lists_serve():
    """The random tables are no use if what they are for never happens."""
    wanted = {
        *product(SUMS, ["best", "random", "binned", "histograms", "few rows"]),
        *product(SUMS, ["learned", "branch"], [False, True]),
        *product(["kind"], [layout.NUMERIC, layout.NOMINAL]),
        *product(["missing_branch"], [-1, 0, 1]),
        *product(["n_children"], [2, 3]),
        ("is it missing", True),
        ("top_splits", 3),
        ("min_weight_leaf", True),
        ("monotonic", True),
    }
    seen = set()
    for seed, name in product(range(N_CASES), TARGETS):
        case = draw_mixed_case(seed, name)
        nodes = case.grow().nodes
        if len(nodes) > 1:
            seen.update(list_facts(case, nodes))
    assert wanted <= seen, wanted - seen


# ---------------------------------------------------------------------- reference
def make_drawn_case(seed):
    """A case whose nodes try fewer than half of the columns, so that lists serve."""
    generator = random.Random(seed)
    task = generator.choice(["classifier", "regressor"])
    criteria = [name for name in CRITERIA[task] if name != "absolute_error"]
    criterion = generator.choice(criteria)
    n_rows = generator.choice([5, 10, 20, 30, 70, 120])
    missing = generator.choice(["learned", "learned", "branch"])
    share = generator.choice([0, 0.1, 0.3])
    columns = [
        make_column(generator, n_rows, share) for _ in range(generator.randint(3, 7))
    ]
    settings = make_settings(generator, criterion, missing)
    constrained = generator.random() < 0.25
    n_outputs = 1 if constrained else generator.choice([1, 1, 1, 2])
    if task == "classifier":
        most = 2 if constrained else generator.choice([2, 3, 4])
        y = make_classes(generator, n_rows, n_outputs, most)
        constrained &= len(set(y)) == 2
    else:
        y = make_numbers(generator, n_rows, n_outputs, criterion)
    if constrained:
        settings["monotonic_cst"] = [
            generator.choice([-1, 0, 1]) if column.kind == "numeric" else 0
            for column in columns
        ]
    settings["max_features"] = generator.randint(1, (len(columns) - 1) // 2)
    return Case(task, columns, y, make_weights(generator, n_rows), settings)


@pytest.fixture
def chosen(monkeypatch):
    """The partitioners that are chosen."""
    names = []
    choose_partitioner = plan.choose_partitioner

    def note(*arguments):
        names.append(choose_partitioner(*arguments))
        return names[-1]

    monkeypatch.setattr(plan, "choose_partitioner", note)
    return names


@pytest.mark.parametrize("chunk", range(4))
def test_tree_is_that_of_the_reference(chosen, chunk):
    n_nodes = 0
    for seed in range(chunk, N_REFERENCES, 4):
        case = make_drawn_case(seed)
        reference = case.with_settings(seed=draw_seed(seed)).grow_reference()
        tree = case.with_settings(random_state=seed).fit_kernel().tree_
        difference = find_difference(reference, read_grown_tree(tree))
        assert difference is None, f"make_drawn_case({seed}): {difference}\n{case}"
        n_nodes += tree.node_count
    assert len(chosen) >= N_REFERENCES // 4
    assert set(chosen) == {"sample-list"}
    assert n_nodes > N_REFERENCES


# ------------------------------------------------------------------ changes of a table
def list_cases(*weights, seeds=range(1000, 1000 + 8 * FACTOR)):
    """Cases of all targets, each with its name."""
    for seed, name in product(seeds, TARGETS):
        kind = weights[seed % len(weights)]
        yield f"draw_mixed_case({seed}, {name!r})", draw_mixed_case(seed, name, kind)


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_a_factor_of_all_weights_changes_no_test(factor):
    """Also where halves of rows are summed up as floats."""
    n_nodes = 0
    for message, case in list_cases("none", "bootstrap", "floats"):
        weight = np.ones(len(case.X)) if case.weight is None else case.weight
        least = case.rules.min_weight_leaf * factor
        scaled = replace(case.with_rules(min_weight_leaf=least), weight=weight * factor)
        expected, tree = case.grow(), scaled.grow()
        unscaled = tree.nodes.copy()
        unscaled["weight"] /= factor
        statistics = tree.statistics / (factor if case.is_classifier else 1.0)
        tree = tree.replace(nodes=unscaled, statistics=statistics)
        assert_close_trees(expected, tree, message)
        n_nodes += tree.node_count
    assert n_nodes > 1000


def test_a_weight_is_as_many_copies_of_the_row():
    """But for the rows they count, which choose where missing values go if none is."""
    n_nodes = 0
    for message, case in list_cases("none"):
        rules = {"min_samples_leaf": 1, "min_samples_split": 2, "missing": "branch"}
        case = replace(case.with_rules(**rules), max_bins=None)
        rng = np.random.default_rng(case.random_state)
        counts = rng.integers(1, 4, len(case.X))
        weighted = replace(case, weight=counts.astype(float)).grow()
        repeated = case.take(np.repeat(np.arange(len(case.X)), counts)).grow()
        assert repeated.nodes["n_samples"][0] == counts.sum()
        nodes = repeated.nodes.copy()
        nodes["n_samples"] = weighted.nodes["n_samples"]
        assert_close_trees(weighted, repeated.replace(nodes=nodes), message)
        n_nodes += weighted.node_count
    assert n_nodes > 1000


def test_order_of_the_rows_makes_no_difference():
    n_nodes = 0
    for message, case in list_cases(*WEIGHTS):
        rng = np.random.default_rng(case.random_state)
        expected = case.grow()
        tree = case.take(rng.permutation(len(case.X))).grow()
        compare_trees(case, expected, tree, message)
        n_nodes += tree.node_count
    assert n_nodes > 1000


def count_arrivals(tree, matrix):
    """Number of the rows that reach each node."""
    _, ends, shares = find_ends(tree, matrix)
    assert (shares == 1.0).all()
    arrivals = np.bincount(ends, minlength=tree.node_count)
    for node in range(tree.node_count - 1, 0, -1):
        arrivals[tree.nodes["parent"][node]] += arrivals[node]
    return arrivals


def test_training_rows_end_where_they_were_counted():
    n_nodes = 0
    for message, case in list_cases(*WEIGHTS):
        tree = case.grow()
        matrix, _ = read_training_table(case.X, case.is_nominal)
        if case.weight is not None:
            matrix = matrix[case.weight > 0]
        np.testing.assert_array_equal(
            count_arrivals(tree, matrix), tree.nodes["n_samples"], message
        )
        n_nodes += tree.node_count
    assert n_nodes > 1000
