"""``cost_matrix`` grows, prunes and predicts the trees of rpart's ``loss``.

``rpart_costs.json`` is written by ``rpart_costs_oracle.R``: ten tables with text and
gaps, of two to six classes, each with both of rpart's criteria. Nodes are large enough
that no two splits are equally good, where rounding would choose in rpart.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from sklearn_textbook.tree.prune import compute_rpart_sequence
from sklearn_textbook.tree.prune.rebuild import cut_below
from sklearn_textbook.tree.route import RoutedTree
from tests.differential.rpart import Table, read_split
from tests.differential.test_rpart import (
    find_difference,
    fit_ours,
    make_frame,
    meets_unseen_level,
)
from tests.differential.test_rpart_pruning import list_our_rows, list_rows
from tests.reference.compare import read_grown_tree

FOUND = json.loads(Path(__file__).with_name("rpart_costs.json").read_text())
TABLE_FIELDS = ("name", "split", "minsplit", "minbucket", "kinds", "n_levels", "y")


def read_case(case):
    """The table of a case, and rpart's tree as a dict of its nodes."""
    table = Table(
        method="class",
        columns=case["columns"],
        weights=[1.0] * len(case["y"]),
        n_classes=case["n_classes"],
        new_rows=case["new_rows"],
        loss=case["loss"],
        **{name: case[name] for name in TABLE_FIELDS},
    )
    tree, remaining = {"predicted": case["probabilities"]}, iter(case["splits"])
    for number, variable, n, weight, risk, n_surrogates, _ in case["frame"]:
        node = {"n": n, "weight": weight, "risk": risk, "split": None}
        if variable >= 0:
            node["split"] = read_split(next(remaining), table, case["csplit"])
            node["surrogates"] = [
                read_split(next(remaining), table, case["csplit"])
                for _ in range(n_surrogates)
            ]
        tree[number] = node
    return table, tree


@pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in FOUND])
def test_tables(case):
    table, tree = read_case(case)
    model = fit_ours(table, cost_matrix=table.loss)
    nodes = read_grown_tree(model.tree_)
    assert find_difference(nodes, tree, table) is None
    # CP, nsplit and rel error.
    costs = np.array(table.loss, dtype=float)
    tree_ = model.tree_
    sequence = compute_rpart_sequence(tree_, "error", costs)
    np.testing.assert_allclose(
        list_our_rows(sequence),
        list_rows(case["cp_table"])[:, :3],
        rtol=1e-8,
        atol=1e-10,
    )
    known = [not meets_unseen_level(nodes, row) for row in table.new_rows]
    assert np.mean(known) > 0.9
    new = make_frame(zip(*table.new_rows, strict=True), table)
    np.testing.assert_allclose(
        model.predict_proba(new)[known],
        np.array(case["probabilities"])[known],
        rtol=1e-6,
        atol=1e-9,
    )
    for pruned in case["pruned"]:
        alpha = pruned["cp"] * sequence.impurities[-1]
        model.tree_ = RoutedTree.from_grown(
            cut_below(tree_, sequence.find_cut(sequence.find_step(alpha)))
        )
        expected = np.array(pruned["classes"])[known]
        np.testing.assert_array_equal(model.predict(new)[known], expected)
    model.tree_ = tree_
    classes = np.array(case["classes"])[known]
    np.testing.assert_array_equal(model.predict(new)[known], classes)
