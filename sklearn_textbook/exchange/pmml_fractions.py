"""Trees that divide rows, as derived fields of PMML.

``missingValueStrategy="weightedConfidence"``, which PMML has for them, is known to few
programs: jpmml-evaluator refuses it, and PMML4S gives no probabilities. Here a derived
field has the fraction of a row that reaches a node; scores are sums over those fields.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np

from sklearn_textbook.exchange.pmml_tree import list_levels, write_number
from sklearn_textbook.tree.grow.layout import FRACTIONAL, NUMERIC, STAY


def make_constant(value):
    """Make a Constant."""
    is_text = isinstance(value, str)
    kind = "string" if is_text else "double"
    element = ElementTree.Element("Constant", {"dataType": kind})
    element.text = value if is_text else write_number(value)
    return element


def make_field(name):
    """Make a FieldRef."""
    return ElementTree.Element("FieldRef", {"field": name})


def apply(function, *arguments):
    """Make an Apply."""
    element = ElementTree.Element("Apply", {"function": function})
    element.extend(arguments)
    return element


class FractionWriter:
    """Writes the fractions of a row at the nodes of trees."""

    def __init__(
        self, transformations, columns, allows_missing: bool, prefix: str
    ) -> None:
        self.transformations, self.columns = transformations, columns
        self.allows_missing, self.prefix = allows_missing, prefix

    def write(self, number: int, tree) -> list[tuple]:
        """Write the fields of a tree; list where rows may end, and their names."""
        unseen = STAY if tree.handle_unknown == "parent" else FRACTIONAL
        names = {0: f"{self.prefix}{number}_0"}
        self._write_field(names[0], make_constant(1.0))
        ends, is_leaf = [], tree.is_leaf
        for node in range(tree.node_count):
            if node not in names:
                continue  # no row gets there
            if is_leaf[node]:
                ends.append((node, names[node]))
                continue
            record = tree.nodes[node]
            for branch in [*range(record["n_children"]), STAY]:
                fractions = self._list_fractions(tree, record, branch, unseen)
                if not any(fractions):
                    continue
                child = int(record["first_child"]) + branch if branch >= 0 else None
                name = f"{self.prefix}{number}_{node}_end"
                if branch >= 0:
                    name = names[child] = f"{self.prefix}{number}_{child}"
                else:
                    ends.append((node, name))
                fraction = self._make_fraction(tree, record, branch, fractions)
                parent = make_field(names[node])
                self._write_field(name, apply("*", parent, fraction))
        return ends

    def _write_field(self, name, value) -> None:
        """Write a derived field."""
        attributes = {"name": name, "optype": "continuous", "dataType": "double"}
        field = ElementTree.SubElement(self.transformations, "DerivedField", attributes)
        field.append(value)

    def _list_fractions(self, tree, record, branch, unseen):
        """Shares of a branch: of present, missing and unseen values."""
        first, n_children = int(record["first_child"]), int(record["n_children"])
        weight = tree.nodes["weight"][first : first + n_children]
        total = float(weight.sum())
        divided = 0.0
        if branch >= 0 and total > 0:
            divided = float(weight[branch]) / total
        elif branch == STAY and not total > 0:
            divided = 1.0
        fractions = [float(branch >= 0)]
        missing = int(record["missing_branch"]) if self.allows_missing else None
        for where in (missing, unseen if record["kind"] != NUMERIC else None):
            fractions.append(divided if where == FRACTIONAL else float(where == branch))
        return fractions

    def _make_fraction(self, tree, record, branch, fractions):
        """Make the fraction of a branch in the rows of a node."""
        present = self._make_test(tree, record, branch, fractions[2])
        if not self.allows_missing:
            return present
        column = self.columns[record["feature"]]
        is_missing = apply("isMissing", make_field(column.name))
        return apply("if", is_missing, make_constant(fractions[1]), present)

    def _make_test(self, tree, record, branch, unseen):
        """Make the fraction of a branch for values that are present."""
        column = self.columns[record["feature"]]
        one, zero = make_constant(1.0), make_constant(0.0)
        if record["kind"] == NUMERIC:
            if np.isposinf(record["threshold"]):
                return one if branch == 0 else zero
            if branch not in (0, 1):
                return zero
            threshold = make_constant(float(record["threshold"]))
            function = "lessOrEqual" if branch == 0 else "greaterThan"
            test = apply(function, make_field(column.name), threshold)
            return apply("if", test, one, zero)
        levels = list_levels(tree, column, record, 0)
        value = make_constant(unseen)
        known = [
            code for other, codes in levels.items() if other != branch for code in codes
        ]
        for codes, result in ((known, zero), (levels.get(branch, []), one)):
            if codes:
                value = apply("if", self._is_in(column, codes), result, value)
        return value

    def _is_in(self, column, codes):
        """Make the test whether a value is one of some levels."""
        levels = [column.levels[code] for code in sorted(codes)]
        levels = [level if isinstance(level, str) else float(level) for level in levels]
        return apply("isIn", make_field(column.name), *map(make_constant, levels))
