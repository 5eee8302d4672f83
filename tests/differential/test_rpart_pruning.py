"""``sequence="rpart"`` has rpart's cp table, and cross-validation its xerror and xstd.

rpart's errors count with ``risk="error"``, its sums of squares with ``"impurity"``. A
table is compared where the trees are equal, those of all folds for xerror and xstd;
where two splits are equally good, rounding chooses in rpart, and the table is left out.
"""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_textbook.tree import CostComplexityPruning
from sklearn_textbook.tree.prune import (
    compute_rpart_sequence,
    compute_weakest_link_sequence,
)
from tests.differential.rpart import Table, grow_with_rpart, require_rpart
from tests.differential.test_rpart import TIE, find_difference, fit_ours, make_table
from tests.loops import loop_over
from tests.reference.cart_route import find_branch, judge_value
from tests.reference.compare import read_grown_tree

pytestmark = pytest.mark.rpart

N_FOLDS = 5
N_GENERATED = 24
# Tables whose exact sequence is another one.
INEXACT = [1052, 1100, 1114, 1148, 1181]
N_EQUAL_FOLDS = 20  # so many at least have equal trees in all folds

DATA_SETS = [
    Table("car90", "anova", "car90:Price", n_folds=2),
    Table("mileage", "anova", "car.test.frame:Mileage", n_folds=2),
    Table("reliability", "class", "car.test.frame:Reliability", n_folds=2),
    Table("price", "anova", "cu.summary:Price", n_folds=2),
    Table("type", "class", "cu.summary:Type", n_folds=2),
    Table("skips", "anova", "solder:skips", minbucket=5, n_folds=2),
    Table("opening", "class", "solder:Opening", n_folds=2),
    Table("stage", "class", "stagec:pgstat", n_folds=2),
    Table("iris", "class", "iris:Species", n_folds=2),
]
# Those whose folds have no ties either.
FOLDED_DATA_SETS = [
    Table("weight", "anova", "car.test.frame:Weight", n_folds=10),
    Table("all mileage", "anova", "cu.summary:Mileage", n_folds=10),
    Table("all reliability", "class", "cu.summary:Reliability", n_folds=10),
    Table("kyphosis", "class", "kyphosis:Kyphosis", n_folds=10),
    Table("start", "anova", "kyphosis:Start", n_folds=10),
    Table("progression", "anova", "stagec:pgtime", n_folds=10),
    Table("share of G2", "anova", "stagec:g2", n_folds=10),
]


def list_rows(lines):
    """CP, nsplit and the rest of a cp table; of CP that rounding sets apart, the first.

    It is the one without any of the splits that are equally good.
    """
    rows = [lines[0]]
    for line in lines[1:]:
        if rows[-1][0] - line[0] > 1e-9:
            rows.append(line)
    return np.array(rows, dtype=float)


def list_our_rows(sequence):
    """The same of a sequence of subtrees: largest alpha first."""
    root = sequence.impurities[-1]
    rows = []
    for alpha in np.unique(sequence.ccp_alphas)[::-1]:
        step = sequence.find_step(alpha)
        n_splits, risk = sequence.n_leaves[step] - 1, sequence.impurities[step]
        rows.append([alpha / root, n_splits, risk / root])
    return list_rows(rows)


def risk_of(table):
    return "error" if table.method == "class" else "impurity"


def make_fold_tables(table):
    """The tables that the trees of the folds grow from."""
    for fold in range(table.n_folds):
        rows = [row for row in range(len(table.y)) if row % table.n_folds != fold]
        yield replace(
            table,
            name=f"{table.name} fold {fold}",
            source="file",
            columns=[[column[row] for row in rows] for column in table.columns],
            y=[table.y[row] for row in rows],
            weights=[table.weights[row] for row in rows],
            new_rows=table.new_rows[:1],
            n_folds=0,
        )


def is_tied(nodes, tree, table):
    """Whether the trees differ because of a tie; they may not for other reasons."""
    difference = find_difference(nodes, tree, table)
    assert difference in (None, TIE), f"{table.name}: {difference}"
    return difference == TIE


def find_test(node, row):
    """The split or the surrogate that decides about the row; None: the default side."""
    for test in [node, *node["surrogates"]]:
        value = row[test["feature"]]
        if value is None:
            continue
        if test is node or judge_value(test, value, test["low_branch"]) != "unseen":
            return test
    return None


def find_default_sides(nodes, rows, weights, number=0):
    """The child that rows without any known value go to while rpart grows a tree.

    It is the heavier one, of those rows of the node whose value is present.
    """
    node = nodes[number]
    if not node["children"]:
        return {}
    parts, present = {0: [], 1: [], None: []}, [0.0, 0.0]
    for row in rows:
        test = find_test(node, row)
        branch = None if test is None else find_branch(node, row)
        if row[node["feature"]] is not None:
            present[branch] += weights[id(row)]
        parts[branch].append(row)
    side = int(present[1] > present[0])
    parts[side] += parts[None]
    sides = {number: side}
    for branch, child in enumerate(node["children"]):
        sides |= find_default_sides(nodes, parts[branch], weights, child)
    return sides


def goes_another_way(nodes, row, sides):
    """Whether rpart's rules of cross-validation are not ours on the row's way.

    It takes a level that a node has not seen for a missing value, a value at the
    threshold for a high one, and sends rows without any known value to the child that
    is heavier, where its predictions, like ours, go to the one with more rows.
    """
    number = 0
    while nodes[number]["children"]:
        node = nodes[number]
        branch, test = find_branch(node, row), find_test(node, row)
        if branch in ("unseen", "stay"):
            return True
        if test is None and branch != sides[number]:
            return True
        is_ordered = test is not None and test["kind"] != "nominal"
        if is_ordered and row[test["feature"]] == test["threshold"]:
            return True
        number = node["children"][branch]
    return False


def is_comparable_fold(table, fold, fold_table, tree):
    """Whether our tree of a fold is rpart's, and all left-out rows go the same way."""
    nodes = read_grown_tree(fit_ours(fold_table).tree_)
    if is_tied(nodes, tree, fold_table):
        return False
    rows = list(zip(*fold_table.columns, strict=True))
    weights = {id(row): w for row, w in zip(rows, fold_table.weights, strict=True)}
    sides = find_default_sides(nodes, rows, weights)
    left_out = list(zip(*table.columns, strict=True))[fold :: table.n_folds]
    return not any(goes_another_way(nodes, row, sides) for row in left_out)


def cross_validate(table):
    """Our lines of CP, nsplit, rel error, xerror and xstd."""
    row = np.arange(len(table.y))
    folds = [
        (np.flatnonzero(row % table.n_folds != fold), row[fold :: table.n_folds])
        for fold in range(table.n_folds)
    ]
    pruner = CostComplexityPruning(cv=folds, sequence="rpart", risk=risk_of(table))
    path = fit_ours(table, pruning=pruner).pruning_path_
    root = path["risk"][-1]
    names = ["alpha", "n_leaves", "risk", "cv_risk", "cv_risk_std"]
    lines = np.column_stack([path[name] for name in names])[::-1]
    lines[:, 1] -= 1
    lines[:, [0, 2, 3, 4]] /= root
    return list_rows(lines)


def compare_table(table, tree):
    """Compare CP, nsplit and rel error, unless there is a tie; whether they were."""
    ours = fit_ours(table).tree_
    if is_tied(read_grown_tree(ours), tree, table):
        return False
    np.testing.assert_allclose(
        list_our_rows(compute_rpart_sequence(ours, risk_of(table))),
        list_rows(table.cp_table)[:, :3],
        rtol=1e-8,
        atol=1e-10,
        err_msg=table.name,
    )
    return True


def compare_folds(table, fold_tables, fold_trees):
    """Compare xerror and xstd, if they can be; whether they could."""
    if not all(
        is_comparable_fold(table, *fold)
        for fold in zip(range(table.n_folds), fold_tables, fold_trees, strict=True)
    ):
        return False
    theirs = list_rows(table.cp_table)
    np.testing.assert_allclose(
        cross_validate(table), theirs, rtol=1e-8, atol=1e-10, err_msg=table.name
    )
    return True


def grow_all(tables, directory):
    """By name: table, rpart's tree, tables of its folds, rpart's trees of these."""
    first, second = directory / "tables", directory / "folds"
    first.mkdir()
    second.mkdir()
    trees = grow_with_rpart(tables, first)
    whole = {table.name for table in DATA_SETS}
    folds = [
        [] if table.name in whole else list(make_fold_tables(table)) for table in tables
    ]
    grown = iter(grow_with_rpart([fold for each in folds for fold in each], second))
    fold_trees = [[next(grown) for _ in each] for each in folds]
    parts = zip(tables, trees, folds, fold_trees, strict=True)
    return {part[0].name: part for part in parts}


@pytest.fixture(scope="module")
def grown_by_rpart(tmp_path_factory):
    """All tables of this module, by two processes of R."""
    require_rpart()
    seeds = [*range(1000, 1000 + N_GENERATED), *INEXACT]
    tables = [replace(make_table(seed), n_folds=N_FOLDS) for seed in seeds]
    tables += [replace(table) for table in DATA_SETS + FOLDED_DATA_SETS]
    return grow_all(tables, tmp_path_factory.mktemp("pruning"))


@pytest.mark.parametrize("name", [table.name for table in DATA_SETS])
def test_cp_tables_of_data_sets_of_r(grown_by_rpart, name):
    table, tree, _, _ = grown_by_rpart[name]
    assert compare_table(table, tree)


@pytest.mark.parametrize("name", [table.name for table in FOLDED_DATA_SETS])
def test_cross_validation_of_data_sets_of_r(grown_by_rpart, name):
    table, tree, *folds = grown_by_rpart[name]
    assert compare_table(table, tree)
    assert compare_folds(table, *folds)


def test_generated_tables(grown_by_rpart):
    n_equal, n_equal_folds = 0, 0
    for table, tree, *folds in grown_by_rpart.values():
        if table.source != "file":
            continue
        if compare_table(table, tree):
            n_equal += 1
            n_equal_folds += compare_folds(table, *folds)
    assert n_equal >= N_GENERATED
    assert n_equal_folds >= N_EQUAL_FOLDS


@loop_over("seed", INEXACT)
def test_exact_sequence_is_another_one(seed):
    """Else the tables above would not tell the two sequences apart."""
    tree = fit_ours(make_table(seed)).tree_
    exact = list_our_rows(compute_weakest_link_sequence(tree, "error"))
    approximate = list_our_rows(compute_rpart_sequence(tree, "error"))
    is_equal = exact.shape == approximate.shape and np.allclose(exact, approximate)
    assert not is_equal
