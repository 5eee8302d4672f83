"""Lists of rules as programs: whether each rule holds, and the first that does."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.exchange.score_program import Part, ScoreProgram
from sklearn_textbook.exchange.tree_sum import make_total
from sklearn_textbook.tree.encode.columns import NUMBER
from sklearn_textbook.tree.encode.read import numeric_schema
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import (
    DENSE_MAP,
    LEAF,
    NODE_DTYPE,
    NOMINAL,
    NUMERIC,
    STAY,
    TREE_UNDEFINED,
)


def make_chain(n_tests):
    """Make leaves for a chain of tests, each with a leaf and the next test as children.

    The children of test i are the nodes 1 + 2 i and 2 + 2 i.
    """
    nodes = np.zeros(1 + 2 * n_tests, dtype=NODE_DTYPE)
    nodes["first_child"], nodes["feature"] = -1, TREE_UNDEFINED
    nodes["missing_branch"], nodes["map_start"] = STAY, -1
    nodes["threshold"], nodes["kind"], nodes["weight"] = -2.0, LEAF, 1.0
    nodes["parent"] = -1
    return nodes


def make_tree(nodes, n_levels, maps=()):
    """Make a tree whose values are kept apart."""
    return GrownTree(
        nodes=nodes,
        statistics=np.zeros((len(nodes), 1, 1)),
        n_features=len(n_levels),
        n_levels=np.asarray(n_levels, dtype=np.int64),
        n_classes=np.ones(1, dtype=np.int64),
        is_classifier=False,
        level_branch=np.array(maps, dtype=np.int32),
    )


def make_rule_tree(rule_list, conditions):
    """Make the tree that is 1 if all conditions of a rule hold, and 0 otherwise.

    Conditions are nodes of the tree of the rules. A missing value, or a level not seen
    in training, stays where it is tested. The values are returned apart.
    """
    grown = rule_list.tree
    nodes, maps, place = make_chain(len(conditions)), [], 0
    for number, condition in enumerate(conditions):
        record = grown.nodes[grown.nodes["parent"][condition]]
        branch = condition - int(record["first_child"])
        first = 1 + 2 * number
        for name in ("feature", "kind", "threshold"):
            nodes[name][place] = record[name]
        nodes["first_child"][place], nodes["n_children"][place] = first, 2
        nodes["parent"][first : first + 2] = place
        holds = branch
        if record["kind"] == NOMINAL:
            children = grown.read_level_map(record)
            nodes["map_start"][place] = len(maps)
            maps.append(DENSE_MAP)
            maps += np.where(children < 0, -1, children != branch).tolist()
            holds = 0
        place = first + holds
    values = np.zeros((len(nodes), 1))
    values[place] = 1.0
    return make_tree(nodes, grown.n_levels, maps), values


def make_rule_program(model) -> ScoreProgram:
    """Make the program whose values say which rules hold."""
    rules = model.rule_list_
    parts = []
    for number in range(len(rules)):
        conditions = rules.nodes[rules.start[number] : rules.start[number + 1]]
        tree, values = make_rule_tree(rules, conditions.tolist())
        parts.append(Part(tree, values, score=number))
    total = make_total(model, model.schema_, np.zeros(len(rules)), classes=[])
    return ScoreProgram(total, parts)


def make_choice(model) -> ScoreProgram:
    """Make the program that reads which rules hold, and takes the first of them."""
    rules = model.rule_list_
    n_rules, (n_all, n_classes) = len(rules), rules.shares.shape
    nodes = make_chain(n_rules)
    place, ends = 0, np.zeros(len(nodes), dtype=np.int64)
    for number in range(n_rules):
        first = 1 + 2 * number
        nodes["feature"][place], nodes["kind"][place] = number, NUMERIC
        nodes["threshold"][place] = 0.5
        nodes["first_child"][place], nodes["n_children"][place] = first, 2
        nodes["parent"][first : first + 2] = place
        ends[first + 1] = number
        place = first
    ends[place] = n_all - 1
    # The class of a rule may not be the only one of its largest probability.
    values = np.concatenate(
        [rules.shares[ends], np.eye(n_classes)[rules.rule_class[ends]]], axis=1
    )
    schema = model.schema_
    if n_rules:
        names = tuple(f"rule {number}" for number in range(n_rules))
        schema = numeric_schema(names, False, NUMBER)
    tree = make_tree(nodes, schema.n_levels)
    total = make_total(model, schema, np.zeros(n_classes))
    return ScoreProgram(total, [Part(tree, values)], deciding=n_classes)
