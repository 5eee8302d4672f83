"""Grown trees as TreeModel elements of PMML.

Of a numeric test, the child that missing values take is the last one and has the
predicate True: with ``missingValueStrategy="none"``, comparisons with missing values
are false. In other tests, ``isMissing`` says which child they take.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np

from sklearn_textbook.exchange.onnx_trees import list_surrogates
from sklearn_textbook.exchange.score_program import find_stops
from sklearn_textbook.tree.grow.layout import (
    FRACTIONAL,
    NUMERIC,
    ORDINAL,
    STAY,
)

#: Elements of deeper trees cannot be nested by the XML library.
MAX_DEPTH = 400


def write_number(value):
    """Write a number so that it reads back equal."""
    return repr(float(value)).removesuffix(".0")


def format_label(value):
    """Write a level or class label as PMML does."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value)


def make_predicate(column, operator, value=None):
    """Make a SimplePredicate."""
    attributes = {"field": column.name, "operator": operator}
    if value is not None:
        attributes["value"] = write_number(value)
    return ElementTree.Element("SimplePredicate", attributes)


def make_set_predicate(column, levels, is_in: bool = True):
    """Make the predicate whether a value is one of the levels with some codes.

    Levels with quotes or backslashes are compared one by one, since programs differ in
    how they read these in arrays.
    """
    values = [column.levels[code] for code in levels]
    kind = "string" if isinstance(values[0], str) else "real"
    quote = '"{}"'.format if kind == "string" else write_number
    plain = [v for v in values if kind == "real" or not set('"\\') & set(v)]
    parts = []
    if plain:
        operator = "isIn" if is_in else "isNotIn"
        attributes = {"field": column.name, "booleanOperator": operator}
        element = ElementTree.Element("SimpleSetPredicate", attributes)
        attributes = {"n": str(len(plain)), "type": kind}
        array = ElementTree.SubElement(element, "Array", attributes)
        array.text = " ".join(map(quote, plain))
        parts.append(element)
    for value in values:
        if value not in plain:
            operator = "equal" if is_in else "notEqual"
            attributes = {"field": column.name, "operator": operator, "value": value}
            parts.append(ElementTree.Element("SimplePredicate", attributes))
    return combine("or" if is_in else "and", parts)


def combine(operator, parts):
    """Make a CompoundPredicate of two or more."""
    if len(parts) == 1:
        return parts[0]
    element = ElementTree.Element("CompoundPredicate", {"booleanOperator": operator})
    element.extend(parts)
    return element


def list_levels(tree, column, test, low_branch):
    """List the codes of the levels of every branch of a test."""
    if test["kind"] == ORDINAL:
        is_low = np.arange(len(column.levels)) <= test["threshold"]
        branches = np.where(is_low, low_branch, 1 - low_branch)
    else:
        branches = tree.read_level_map(test)
    found = np.unique(branches[branches >= 0]).tolist()
    return {branch: np.flatnonzero(branches == branch).tolist() for branch in found}


class TreeWriter:
    """Writes the TreeModel of one tree."""

    def __init__(
        self,
        tree,
        columns,
        allows_missing: bool,
        scores: list[str],
        values: np.ndarray | None,
        labels: list[str],
    ) -> None:
        self.tree, self.columns = tree, columns
        self.allows_missing = allows_missing
        self.scores, self.values, self.labels = scores, values, labels

    def write(self, parent, function: str, schema):
        """Write the model."""
        tree = self.tree
        inner = ~tree.is_leaf
        no_child = "returnLastPrediction"
        if tree.handle_unknown == "error":
            no_child = "returnNullPrediction"
        model = ElementTree.SubElement(
            parent,
            "TreeModel",
            {
                "functionName": function,
                "missingValueStrategy": "none",
                "noTrueChildStrategy": no_child,
                "splitCharacteristic": "multiSplit",
            },
        )
        used = {*tree.nodes["feature"][inner], *tree.surrogates["feature"]}
        schema(model, sorted(int(number) for number in used))
        self._write_nodes(model)
        return model

    def _write_nodes(self, model) -> None:
        """Write all nodes, those of a parent one after the other."""
        nodes, is_leaf = self.tree.nodes, self.tree.is_leaf
        # Where rows with a level that no child takes end.
        may_end = find_stops(self.tree) & (is_leaf | (nodes["kind"] != NUMERIC))
        stack = [(model, 0, 0, ElementTree.Element("True"))]
        while stack:
            parent, node, branch, predicate = stack.pop()
            if branch == STAY:
                self._write_node(parent, node, predicate, f"{node} missing")
                continue
            element = self._write_node(
                parent, node, predicate, str(node), may_end[node]
            )
            if is_leaf[node]:
                continue
            first = int(nodes["first_child"][node])
            # The last one is put on the stack first.
            for branch, predicate in reversed(self._list_predicates(node)):
                child = node if branch == STAY else first + branch
                stack.append((element, child, branch, predicate))

    def _write_node(self, parent, node, predicate, name, may_end: bool = True):
        """Write a node without its children, and its scores if rows may end in it."""
        element = ElementTree.SubElement(parent, "Node", {"id": name})
        element.append(predicate)
        if not may_end:
            return element
        weight = float(self.tree.nodes["weight"][node])
        element.set("recordCount", write_number(weight))
        element.set("score", self.scores[node])
        if self.values is not None:
            # Programs divide the counts if there are no probabilities.
            is_pure = self.values[node].max() == 1.0
            for label, value in zip(self.labels, self.values[node], strict=True):
                attributes = {"value": label}
                # A leaf of no weight has the probabilities of its parent.
                attributes["recordCount"] = write_number(value * (weight or 1.0))
                if not is_pure:
                    attributes["probability"] = write_number(value)
                ElementTree.SubElement(element, "ScoreDistribution", attributes)
        return element

    def _list_predicates(self, node):
        """List the branches of a node and when rows take them."""
        record = self.tree.nodes[node]
        column = self.columns[record["feature"]]
        found = self._list_tests(record, 0)
        n_children = int(record["n_children"])
        missing = int(record["missing_branch"]) if self.allows_missing else FRACTIONAL
        surrogates = list_surrogates(self.tree, node)
        if self.allows_missing and len(surrogates):
            return self._add_surrogates(column, found, surrogates, missing)
        if record["kind"] == NUMERIC:
            last = 1 if missing == FRACTIONAL else missing
            others = [(b, test) for b, test in found.items() if b != last]
            return [*others, (last, ElementTree.Element("True"))]
        if missing != FRACTIONAL:
            absent = make_predicate(column, "isMissing")
            if missing in found:
                found[missing] = combine("or", [absent, found[missing]])
            else:
                found[missing] = absent
        for branch in range(n_children):
            # No value of training has been here.
            found.setdefault(branch, ElementTree.Element("False"))
        return sorted(found.items())

    def _list_tests(self, test, low_branch):
        """Make the predicates of the branches of a value that is present."""
        column = self.columns[test["feature"]]
        if test["kind"] == NUMERIC and np.isposinf(test["threshold"]):
            # Divides missing values from all others.
            return {low_branch: make_predicate(column, "isNotMissing")}
        if test["kind"] == NUMERIC:
            low = make_predicate(column, "lessOrEqual", test["threshold"])
            high = make_predicate(column, "greaterThan", test["threshold"])
            return {low_branch: low, 1 - low_branch: high}
        return {
            branch: make_set_predicate(column, levels)
            for branch, levels in list_levels(
                self.tree, column, test, low_branch
            ).items()
        }

    def _add_surrogates(self, column, found, surrogates, missing):
        """Add surrogates to the predicates of the branches of a node.

        The operator "surrogate" goes on to the next one only if a value is missing, not
        after a level that is unknown.
        """
        is_simple = (surrogates["kind"] == NUMERIC).all()
        branches = sorted({*found, *range(2), missing} - {FRACTIONAL})
        result = []
        for branch in branches:
            primary = found.get(branch, ElementTree.Element("False"))
            if branch == missing:
                rest = ElementTree.Element("True")
            else:
                rest = ElementTree.Element("False")
            if is_simple and branch in found:
                tests = [
                    self._list_tests(other, int(other["low_branch"]))[branch]
                    for other in surrogates
                ]
                combined = combine("surrogate", [primary, *tests, rest])
            else:
                for other in surrogates[::-1]:
                    rest = self._add_surrogate(other, branch, rest)
                absent = make_predicate(column, "isMissing")
                rest = combine("and", [absent, rest])
                combined = combine("or", [rest, primary])
            result.append((branch, combined))
        return result

    def _add_surrogate(self, other, branch, rest):
        """Make the predicate of a surrogate, followed by those of the others."""
        column = self.columns[other["feature"]]
        low = max(int(other["low_branch"]), 0)
        tests = self._list_tests(other, low)
        undecided = [make_predicate(column, "isMissing")]
        if other["kind"] != NUMERIC:
            levels = [
                level
                for group in list_levels(self.tree, column, other, low).values()
                for level in group
            ]
            undecided.append(make_set_predicate(column, sorted(levels), is_in=False))
        rest = combine("and", [combine("or", undecided), rest])
        return combine("or", [rest, tests[branch]] if branch in tests else [rest])
