"""Explanations of the predictions of a single tree."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np

from sklearn_textbook.inspection.row_explanation import (
    RowExplanation,
    RowLeaf,
    RowTest,
)
from sklearn_textbook.inspection.row_values import describe_value
from sklearn_textbook.tree.explain.conditions import (
    SumCondition,
    branch_condition,
    read_terms,
    strict_condition,
)
from sklearn_textbook.tree.explain.describe import (
    has_children,
    join_words,
    node_confidence,
)
from sklearn_textbook.tree.explain.digits import format_fraction, format_number
from sklearn_textbook.tree.explain.rules import extend_path
from sklearn_textbook.tree.grow.layout import FRACTIONAL, OBLIQUE, STAY
from sklearn_textbook.tree.route import find_decision_path

#: Maximum number of columns of an oblique test in the sentence.
SHOWN_SUMMANDS = 3
#: Maximum number of leaves of a divided row in the sentence.
MAX_LEAVES = 3


class TreeExplainer:
    """Writes why rows end where they do.

    Parameters
    ----------
    nodes : NodeWords
        The predictions of the tree.
    values : RowValues
        The rows.
    max_terms : int
        Maximum number of terms of an oblique test.
    """

    def __init__(self, nodes, values, max_terms) -> None:
        self.words = nodes.words
        self.fitted = nodes.fitted
        self.tree = nodes.fitted.tree
        self.values = values
        self.nodes = nodes
        self.max_terms = max_terms
        # Records of nodes do not depend on the row.
        for name in ("_clause", "_join_clauses", "_known_levels", "_ways"):
            setattr(self, name, cache(getattr(self, name)))

    def explain(self, predictions: list, probabilities: list) -> list[RowExplanation]:
        """Explain all rows."""
        path = find_decision_path(
            self.tree, self.values.matrix, feature_names=self.fitted.feature_names
        )
        indptr, indices = path.indptr.tolist(), path.indices.tolist()
        return [
            self._explain_row(row, indices[indptr[row] : indptr[row + 1]], *outcome)
            for row, outcome in enumerate(zip(predictions, probabilities, strict=True))
        ]

    def _explain_row(self, row, entered, prediction, probabilities):
        edges, parts = self._list_edges(entered)
        # Only sums are written with the values of the row.
        whose = row if len(self.tree.terms) else None
        tests = tuple(self._describe_test(row, *edge, parts) for edge in edges)
        reasons = {test.node: test.reason for test in tests if test.reason}
        split = {parent for parent, _ in edges}
        ends = [node for node in entered if node not in split]
        for node in ends:
            if has_children(self.tree, node):
                reasons[node] = self._why_it_stays(row, node)
        mean = sum(parts[node] * self.nodes.shown[node] for node in ends)
        best = self.nodes.find_classes(prediction)
        leaves = tuple(self._describe_leaf(whose, n, parts[n], reasons) for n in ends)
        if len(leaves) == 1:
            conditions = leaves[0].condition
            support = self.nodes.support(ends[0])
            sentence = f"{conditions}: {support}" if conditions else support
        else:
            sentence = self._join_leaves(whose, leaves, reasons)
            sentence += f": {self.nodes.write(mean, best)} together"
        return RowExplanation(
            row,
            prediction,
            probabilities,
            sentence,
            tests,
            leaves,
            title=self.nodes.title(mean, best),
            header=["test", "value", "rows", *self.nodes.heads(best)],
            lines=self._lines(row, tests, best),
        )

    # ---------------------------------------------------------------- the path
    def _list_edges(self, entered):
        """List (parent, child) depth first, and the part of the row in each node."""
        if len(entered) == 1:
            return [], {entered[0]: 1.0}
        nodes, children = self.tree.nodes, {}
        for node in entered[1:]:
            children.setdefault(int(nodes["parent"][node]), []).append(node)
        edges, parts, stack = [], {0: 1.0}, [0]
        while stack:
            node = stack.pop()
            below = children.get(node, ())
            weights = nodes["weight"][list(below)] if len(below) > 1 else np.ones(1)
            for child, weight in zip(below, weights / weights.sum(), strict=False):
                parts[child] = parts[node] * float(weight)
            if node:
                edges.append((int(nodes["parent"][node]), node))
            stack.extend(reversed(below))
        return edges, parts

    def _describe_test(self, row, parent, child, parts):
        record, feature = self.tree.nodes, int(self.tree.nodes["feature"][parent])
        terms = ()
        if record["kind"][parent] == OBLIQUE:
            column, value, terms = self._read_terms(row, parent)
        else:
            column = self.fitted.feature_names[feature]
            value = self.values.value(row, feature)
        weight = float(record["weight"][parent])
        return RowTest(
            parent,
            child,
            column,
            value,
            self._clause(child),
            self._find_reason(row, parent, child),
            parts[child],
            int(record["n_samples"][child]),
            float(record["weight"][child]) / weight if weight else 0.0,
            self.nodes.prediction(parent),
            self.nodes.prediction(child),
            terms,
        )

    def _read_terms(self, row, node):
        """Return the columns of an oblique test, their values, and what they add."""
        found = []
        for term in read_terms(self.tree, node):
            code = self.values.code(row, term.feature)
            if math.isnan(code):
                amount = term.fill
            elif term.summands is None:
                amount = term.weight * code
            else:
                amount = term.summands[int(code)] if code >= 0 else None
            name = self.fitted.feature_names[term.feature]
            found.append((name, self.values.value(row, term.feature), amount))
        found.sort(key=lambda entry: -abs(entry[2] or 0.0))
        names, values, _ = zip(*found, strict=True)
        return names, values, tuple((n, a) for n, _, a in found if a is not None)

    def _find_reason(self, row, parent, child):
        """Why a row follows a branch that its value does not decide; else empty."""
        record = self.tree.nodes[parent]
        if record["kind"] == OBLIQUE:
            unknown = self._find_unknown_term(row, parent)
            return "" if unknown is None else self._name_unknown(row, unknown)
        feature = int(record["feature"])
        code = self.values.code(row, feature)
        if not math.isnan(code):
            is_known = self._is_known(parent, feature, code)
            return "" if is_known else self._name_unknown(row, feature)
        name = self.words.name(feature)
        branch = child - int(record["first_child"])
        decider = self._find_stand_in(row, parent, branch)
        if decider is not None:
            return f"{name} is missing, and {decider} decides instead"
        if record["missing_branch"] == FRACTIONAL:
            return f"{name} is missing"
        where = self._ways(parent)[branch]
        return f"{name} is missing, which follows {where}"

    def _find_unknown_term(self, row, node):
        for term in read_terms(self.tree, node):
            code = self.values.code(row, term.feature)
            if term.summands is None or math.isnan(code):
                continue
            if code < 0 or term.summands[int(code)] is None:
                return term.feature
        return None

    def _is_known(self, node, feature, code):
        if self.tree.n_levels[feature] == 0:
            return True
        return code >= 0 and self._known_levels(node)[int(code)]

    def _known_levels(self, node):
        """Whether the test of a node has a branch for each level."""
        first, n = (
            int(self.tree.nodes[f][node]) for f in ("first_child", "n_children")
        )
        fractions = [strict_condition(self.tree, first + i).fractions for i in range(n)]
        return np.any(fractions, axis=0).tolist()

    def _name_unknown(self, row, feature) -> str:
        value = describe_value(self.values.value(row, feature))
        name = self.words.name(feature)
        if self.values.code(row, feature) < 0:
            return f"{name} is {value}, which was not seen in training"
        return f"{name} is {value}, which has no branch here"

    def _find_stand_in(self, row, node, branch):
        """Write the surrogate that decides for a row; None if there is none."""
        for chain in branch_condition(self.tree, node, branch).chains:
            for stand_in in chain.stand_ins:
                code = self.values.code(row, stand_in.feature)
                is_known = stand_in.is_numeric or code in stand_in.known
                if is_known and not math.isnan(code):
                    return self.words.stand_in(stand_in)
        return None

    def _ways(self, node):
        """Name the branches of a node for missing values."""
        first, n = (
            int(self.tree.nodes[f][node]) for f in ("first_child", "n_children")
        )
        weights = self.tree.nodes["weight"][first : first + n]
        is_larger = weights == weights.max()
        size = "larger" if n == 2 else "largest"
        names = []
        for branch in range(n):
            condition = strict_condition(self.tree, first + branch)
            if not condition.takes_present:
                names.append("a branch of its own")
                continue
            text = self.words.clause(condition)
            unique = is_larger[branch] and is_larger.sum() == 1
            names.append(f"the {size} branch ({text})" if unique else f"that of {text}")
        return names

    def _why_it_stays(self, row, node):
        record = self.tree.nodes[node]
        if record["kind"] == OBLIQUE:
            return self._name_unknown(row, self._find_unknown_term(row, node))
        feature = int(record["feature"])
        if math.isnan(self.values.code(row, feature)):
            if record["missing_branch"] != STAY:
                return f"{self.words.name(feature)} is missing"
            return f"{self.words.name(feature)} is missing, which has no branch here"
        return self._name_unknown(row, feature)

    # --------------------------------------------------------------- the leaves
    def _describe_leaf(self, row, node, part, reasons):
        fitted, record = self.fitted, self.tree.nodes[node]
        labels, confidence = fitted.predicted(node), None
        distribution = None
        if self.tree.is_classifier:
            distribution = self.nodes.unpack(fitted.class_fractions(node))
            confidence = self.nodes.single(node_confidence(fitted, node))
        return RowLeaf(
            node,
            part,
            self._describe_way(row, node, reasons),
            int(record["n_samples"]),
            float(record["weight"]),
            self.nodes.single(labels),
            distribution,
            confidence,
        )

    def _describe_way(self, row, node, reasons):
        """Write the conditions of the way to a node, those of a column as one."""
        decided = tuple(n for n in self._list_way(node) if n in reasons)
        notes = dict.fromkeys(reasons[n] for n in decided)
        if node in reasons:
            notes[reasons[node]] = None
        return "; ".join(filter(None, [self._join_clauses(node, decided, row), *notes]))

    def _list_way(self, node):
        """List the tests above a node, from the root."""
        parents = self.tree.nodes["parent"]
        way = []
        while node:
            node = int(parents[node])
            way.append(node)
        return way[::-1]

    def _join_clauses(self, node, left_out=(), row=None):
        """Join the conditions of the tests of present values on the way to a node."""
        conditions, way = {}, [*self._list_way(node), node]
        for parent, child in pairwise(way):
            if parent in left_out:
                continue
            longer = extend_path(conditions, strict_condition(self.tree, child))
            conditions = conditions if longer is None else longer
        return " and ".join(
            self._write_sum(row, condition)
            if isinstance(condition, SumCondition)
            else self.words.clause(condition)
            for condition in conditions.values()
        )

    def _write_sum(self, row, condition) -> str:
        """Write the largest summands of a row in an oblique test."""
        columns, _, terms = self._read_terms(row, condition.node)
        branch = self.words.branch(condition)
        if len(terms) < len(columns):
            return f"the sum of {len(columns)} columns is {branch}"
        parts = [f"{name} ({format_number(a)})" for name, a in terms[:SHOWN_SUMMANDS]]
        n_more = len(terms) - len(parts)
        if n_more:
            parts.append(f"{n_more} more column{'s' if n_more > 1 else ''}")
        total = format_number(sum(amount for _, amount in terms))
        names = join_words(parts, "and")
        return f"the sum {total} of {names} is {branch}"

    def _join_leaves(self, row, leaves, reasons) -> str:
        """Write the sentence of a row that is divided among several leaves."""
        notes = "; ".join(dict.fromkeys(reasons.values()))
        largest = sorted(leaves, key=lambda leaf: -leaf.part)
        shown = [
            f"{format_fraction(leaf.part)} to {self._join_clauses(leaf.node, (), row)}"
            f" ({self.nodes.support(leaf.node)})"
            for leaf in largest[:MAX_LEAVES]
        ]
        others = largest[MAX_LEAVES:]
        if others:
            rest = sum(leaf.part for leaf in others)
            shown.append(f"{format_fraction(rest)} to {len(others)} more")
        where = f"divided among {len(leaves)} leaves"
        return f"{notes}, so the row is {where}: {'; '.join(shown)}"

    # ------------------------------------------------------------------- words
    def _clause(self, child):
        condition = strict_condition(self.tree, child)
        if not isinstance(condition, SumCondition) and not condition.takes_present:
            return f"{self.words.name(condition.feature)} is missing"
        return self.words.clause(condition)

    def _lines(self, row, tests, best):
        """Write the table: the root, then each test with the prediction after it."""
        root = int(self.tree.nodes["n_samples"][0])
        lines = [["all training rows", "", f"{root:,}", *self.nodes.cells(0, best)]]
        for test in tests:
            condition = test.condition
            if isinstance(test.column, str):
                feature = int(self.tree.nodes["feature"][test.node])
                tolerance = self.words.find_tolerance(feature, test.value)
                value = describe_value(test.value, tolerance)
            else:
                value = "unknown level"
                if self._find_unknown_term(row, test.node) is None:
                    value = format_number(sum(amount for _, amount in test.terms))
                branch = self.words.branch(strict_condition(self.tree, test.child))
                condition = f"sum of {len(test.column)} columns {branch}"
            if test.part < 1.0:
                condition = f"{format_fraction(test.part)}: {condition}"
            cells = [condition, value, f"{test.n_samples:,}"]
            lines.append([*cells, *self.nodes.cells(test.child, best)])
            added = [(f"{name} adds", a) for name, a in test.terms[: self.max_terms]]
            n_more = len(test.terms) - len(added)
            if n_more:
                rest = sum(amount for _, amount in test.terms[self.max_terms :])
                some = "1 more column adds" if n_more == 1 else f"{n_more} more add"
                added.append((some, rest))
            for text, amount in added:
                cells = [f"    {text}", format_number(amount), ""]
                lines.append(cells + [""] * len(best))
        return lines
