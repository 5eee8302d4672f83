"""Surrogate mode grows the trees of R's package rpart, and routes as it does.

Trees are compared up to the orientation of the children. A table where two splits
or two surrogates are equally good says nothing, because rpart lets rounding choose
between them: such a table is left out, and 200 others are required.
"""

import math
import random

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.differential.rpart import Table, grow_with_rpart, require_rpart
from tests.reference.cart_route import find_branch
from tests.reference.compare import read_grown_tree

pytestmark = pytest.mark.rpart

TIE = "tie"
N_GENERATED = 200
N_TIED = 20  # so many may be left out


def find_difference(nodes, tree, table):
    """First difference of our nodes from rpart's, TIE, or None."""
    pending = [(0, 1)]
    compared = 0
    while pending:
        number, rpart_number = pending.pop()
        ours, theirs = nodes[number], tree[rpart_number]
        compared += 1
        for name, value in describe_node(ours, table).items():
            if not math.isclose(value, theirs[name], rel_tol=1e-9, abs_tol=1e-8):
                return f"node {rpart_number}: {name} {value}, rpart {theirs[name]}"
        if theirs["split"] is None or not ours["children"]:
            if theirs["split"] or ours["children"]:
                return f"node {rpart_number}: a leaf in one tree only"
            continue
        left, difference = compare_split(ours, theirs["split"], table)
        if difference is None:
            difference = compare_surrogates(ours, theirs["surrogates"], left, table)
        if difference is not None:
            return difference if difference == TIE else f"{rpart_number}: {difference}"
        pending.append((ours["children"][left], 2 * rpart_number))
        pending.append((ours["children"][1 - left], 2 * rpart_number + 1))
    if compared != len(nodes) or compared != len(tree) - 1:
        return f"{len(nodes)} nodes, rpart {len(tree) - 1}"
    return None


def describe_node(node, table):
    """rpart's numbers of one of our nodes."""
    if table.method == "anova":
        risk = node["impurity"] * node["weight"]
    elif table.loss is not None:
        risk = min(np.array(node["statistics"][0]) @ table.loss)
    else:
        risk = node["weight"] - max(node["statistics"][0])
    return {"n": node["n_samples"], "weight": node["weight"], "risk": risk}


def compare_split(ours, theirs, table):
    """The child that is rpart's left one, and what differs."""
    # anova: a share of the node's sum of squares; class: on the scale of weights.
    improve = ours["improvement"] * ours["weight"]
    if table.method == "anova":
        improve /= ours["impurity"] * ours["weight"]
    elif table.split == "information":
        improve *= math.log(2)  # rpart measures in nats
    same_gain = math.isclose(improve, theirs["improve"], rel_tol=1e-9, abs_tol=1e-11)
    left = find_left(ours, theirs, table)
    if left is None:
        if same_gain:
            return None, TIE
        return None, f"split {ours}, rpart {theirs}"
    if not same_gain:
        return left, f"improve {improve}, rpart {theirs['improve']}"
    return left, None


def compare_surrogates(ours, theirs, left, table):
    """What differs in the surrogates of a node."""
    for mine, other in zip(ours["surrogates"], theirs, strict=False):
        same = find_left(mine, other, table) == left
        same_agreement = math.isclose(
            mine["agreement"], other["improve"], rel_tol=1e-10
        )
        if not same:
            if same_agreement:
                return TIE
            return f"surrogate {mine}, rpart {other}"
        if not same_agreement or not math.isclose(
            mine["adjusted_agreement"], other["adjusted"], rel_tol=1e-8, abs_tol=1e-9
        ):
            return f"agreement {mine}, rpart {other}"
        if mine["n_used"] != other["count"]:
            return f"surrogate sent {mine['n_used']} rows, rpart {other['count']}"
    if len(ours["surrogates"]) != len(theirs):
        return f"{len(ours['surrogates'])} surrogates, rpart {len(theirs)}"
    return None


def find_left(test, theirs, table):
    """Which child is rpart's left one; None if the two tests are different."""
    if test["feature"] != theirs["column"]:
        return None
    low_branch = test.get("low_branch", 0)
    if test["kind"] == "numeric":
        same = math.isclose(test["threshold"], theirs["threshold"], rel_tol=1e-12)
        if not same:
            return None
        return low_branch if theirs["low"] == "left" else 1 - low_branch
    level_map = test["level_map"]
    if test["kind"] == "ordinal":
        codes = range(table.n_levels[test["feature"]])
        level_map = {
            code: low_branch if code <= test["threshold"] else 1 - low_branch
            for code in codes
        }
    for left in (0, 1):
        groups = [
            {code for code, child in level_map.items() if child == side}
            for side in (left, 1 - left)
        ]
        if groups == [theirs["left"], theirs["right"]]:
            return left
    return None


def make_frame(columns, table):
    """The table as a data frame that says of what kind each column is."""
    frame = {}
    for number, values in enumerate(columns):
        kind, n_levels = table.kinds[number], table.n_levels[number]
        if kind == "numeric":
            frame[f"c{number}"] = np.array(values, dtype=float)
        else:
            codes = [-1 if value is None else int(value) for value in values]
            frame[f"c{number}"] = pd.Categorical.from_codes(
                codes,
                [f"level {code:02d}" for code in range(n_levels)],
                ordered=kind == "ordinal",
            )
    return pd.DataFrame(frame)


def fit_ours(table, **parameters):
    common = {
        "missing": "surrogate",
        "categorical_smoothing": 0,
        "min_samples_split": table.minsplit,
        "min_samples_leaf": table.minbucket,
        "max_depth": table.maxdepth,
        **parameters,
    }
    if table.method == "anova":
        estimator = CARTRegressor(**common)
    else:
        criterion = {"gini": "gini", "information": "entropy"}[table.split]
        estimator = CARTClassifier(criterion=criterion, **common)
    return estimator.fit(
        make_frame(table.columns, table), table.y, sample_weight=table.weights
    )


def meets_unseen_level(nodes, row):
    """Whether the row has a level that a node on its way has not seen.

    rpart treats it as missing; here the parameter ``handle_unknown`` says what happens.
    """
    number = 0
    while nodes[number]["children"]:
        branch = find_branch(nodes[number], row)
        if branch == "unseen":
            return True
        if branch == "stay":
            return False
        number = nodes[number]["children"][branch]
    return False


def check_predictions(estimator, nodes, tree, table):
    rows = [not meets_unseen_level(nodes, row) for row in table.new_rows]
    new = make_frame(zip(*table.new_rows, strict=True), table)
    if table.method == "anova":
        predicted = estimator.predict(new)[:, np.newaxis]
    else:
        predicted = estimator.predict_proba(new)
    np.testing.assert_allclose(
        predicted[rows], np.array(tree["predicted"])[rows], rtol=1e-6, atol=1e-9
    )


def make_columns(generator):
    """Columns of every kind, their numbers of levels, and what the target follows."""
    n_rows, n_columns = generator.randint(50, 130), generator.randint(2, 6)
    kinds, n_levels, columns = [], [], []
    score = [generator.gauss(0, 1) for _ in range(n_rows)]
    hidden = [generator.gauss(0, 1) for _ in range(n_rows)]
    missing_share = generator.choice([0, 0.05, 0.2])
    for _ in range(n_columns):
        kind = generator.choice(["numeric", "numeric", "ordinal", "nominal"])
        levels = 0 if kind == "numeric" else generator.randint(2, 6)
        values = [round(part + generator.gauss(0, 1), 4) for part in hidden]
        if levels:
            effects = [generator.gauss(0, 1) for _ in range(levels)]
            values = [min(levels - 1, max(0, int(v + levels / 2))) for v in values]
            if kind == "nominal":
                score = [s + effects[v] for s, v in zip(score, values, strict=True)]
        else:
            score = [s + v for s, v in zip(score, values, strict=True)]
        columns.append(
            [None if generator.random() < missing_share else v for v in values]
        )
        kinds.append(kind)
        n_levels.append(levels)
    return columns, kinds, n_levels, score


def make_table(seed):
    """A random table with some signal, of every kind of column."""
    generator = random.Random(seed)
    columns, kinds, n_levels, score = make_columns(generator)
    method = generator.choice(["class", "anova"])
    n_classes = generator.randint(2, 4) if method == "class" else 0
    if n_classes:
        cuts = np.quantile(score, [k / n_classes for k in range(1, n_classes)])
        y = [int(np.searchsorted(cuts, s + generator.gauss(0, 1))) for s in score]
    else:
        y = [round(s, 4) for s in score]
    split = generator.choice(["gini", "information"])
    minbucket = generator.randint(3, 8)
    if n_classes == 2 and "nominal" in kinds:
        # Levels with equal shares of the classes come in another order in rpart;
        # that is of no consequence as long as no candidate is forbidden.
        minbucket = 1
    if n_classes and split == "information":
        # rpart keeps the sums of the right side by subtraction. A share that is
        # rounded to just below 0 has no logarithm, and the candidate is lost.
        weights = [generator.randint(1, 4) for _ in y]
    else:
        weights = [round(generator.uniform(0.5, 2), 4) for _ in y]
    new_rows = [
        [
            None
            if generator.random() < 0.3
            else generator.randrange(levels)
            if levels
            else round(generator.gauss(0, 1.5), 6)
            for levels in n_levels
        ]
        for _ in range(30)
    ]
    return Table(
        name=f"generated{seed}",
        method=method,
        columns=columns,
        kinds=kinds,
        n_levels=n_levels,
        y=y,
        weights=weights,
        n_classes=n_classes,
        new_rows=new_rows,
        split=split,
        minsplit=generator.randint(15, 25),
        minbucket=minbucket,
        maxdepth=generator.choice([2, 4, 30]),
    )


@pytest.fixture(scope="module")
def grown_by_rpart(tmp_path_factory):
    """All tables of this module with rpart's trees, by one process of R."""
    require_rpart()
    tables = [
        Table("iris", "class", "iris:Species"),
        Table("mileage", "anova", "cu.summary:Mileage"),
        Table("price", "anova", "cu.summary:Price"),
        Table("reliability", "class", "cu.summary:Reliability"),
        # Many levels of equal means here; with larger leaves rounding decides.
        Table("solder", "anova", "solder:skips", minsplit=30, minbucket=3),
    ]
    tables += [make_table(seed) for seed in range(N_GENERATED + N_TIED)]
    trees = grow_with_rpart(tables, tmp_path_factory.mktemp("rpart"))
    return {
        table.name: (table, tree) for table, tree in zip(tables, trees, strict=True)
    }


@pytest.mark.parametrize("name", ["iris", "mileage", "price", "reliability", "solder"])
def test_data_sets_of_r(grown_by_rpart, name):
    table, tree = grown_by_rpart[name]
    estimator = fit_ours(table)
    nodes = read_grown_tree(estimator.tree_)
    assert find_difference(nodes, tree, table) is None
    check_predictions(estimator, nodes, tree, table)


def test_generated_tables(grown_by_rpart):
    n_equal, n_surrogates = 0, 0
    for name, (table, tree) in grown_by_rpart.items():
        if table.source != "file":
            continue
        estimator = fit_ours(table)
        nodes = read_grown_tree(estimator.tree_)
        difference = find_difference(nodes, tree, table)
        if difference == TIE:
            continue
        assert difference is None, f"{name}: {difference}"
        check_predictions(estimator, nodes, tree, table)
        n_equal += 1
        n_surrogates += sum(len(node["surrogates"]) for node in nodes)
    assert n_equal >= N_GENERATED
    assert n_surrogates >= N_GENERATED  # the tables do test what they are made for
