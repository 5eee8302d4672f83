"""Rules as the source code of a Python function."""

from __future__ import annotations

import builtins
import keyword
import math
import re

import numpy as np

from sklearn_textbook._contract.costs import SAME_COST
from sklearn_textbook.tree.encode.columns import TEMPORAL
from sklearn_textbook.tree.explain.conditions import SumCondition
from sklearn_textbook.tree.explain.describe import has_children
from sklearn_textbook.tree.explain.describe_sums import list_summands
from sklearn_textbook.tree.explain.rule_code import REFUSED, ConditionWriter
from sklearn_textbook.tree.grow.layout import FRACTIONAL, STAY

SECONDS = '''\
import datetime


def to_seconds(value):
    """Seconds since 1970-01-01 UTC, of a duration, or since midnight."""
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    if hasattr(value, "astype"):  # numpy
        value = value.astype(value.dtype.kind + "8[us]").item()
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(epoch, value.replace(tzinfo=None))
    if not isinstance(value, datetime.timedelta):
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime.combine(value, datetime.time())
        if value.tzinfo is None:
            value = value.replace(tzinfo=datetime.timezone.utc)
        value = value - epoch
    return (value // datetime.timedelta(microseconds=1)) / 1e6


'''
HEADER = '''\
def is_missing(value):
    """Whether a value is None, NaN or another missing value."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA compares to itself as missing
        return True


def predict_row(row):
    """{summary}"""
'''
INDENT = "    "
#: Python refuses more than 100 levels of indentation.
MAX_INDENT = 90
ADD_FRACTIONS = """\
    for part, outputs in ends:
        for total, values in zip(totals, outputs):
            for number, value in enumerate(values):
                total[number] += part * value
"""
ADD_COSTS = """\
    shares, costs = totals[0], {costs!r}
    totals = [[-sum(map(float.__mul__, shares, column)) for column in costs]]
"""
CHOOSE_CLASSES = """\
    predicted = []
    for labels, total in zip({classes!r}, totals):
        best = 0
        for number, value in enumerate(total):
            if value > total[best]{margin}:
                best = number
        predicted.append(labels[best])
"""
STOP = "pass\n"
NO_RULE = 'raise ValueError("No rule applies: a level was not seen in training.")\n'


def write_python(fitted, rules) -> str:
    """Write the source code of a function ``predict_row(row)``.

    Rows are mappings of names to values, or sequences if the columns had no names.
    """
    writer = PythonWriter(fitted)
    fractional = any(c.is_fractional for rule in rules for c in rule.conditions)
    if fractional:
        body = _walking_body(fitted, writer)
    elif fitted.is_list or fitted.tree.max_depth > MAX_INDENT:
        body = _flat_body(fitted, rules, writer)
    else:
        body = _nested_body(fitted, writer)
    what = "class" if fitted.tree.is_classifier else "value"
    what += "" if fitted.is_single else " of every output"
    row = "a mapping of column names to values"
    if not fitted.schema.has_names:
        row = "a sequence of the values of its columns"
    header = HEADER.format(summary=f"Predict the {what} of one row, {row}.")
    temporal = any(fitted.schema.columns[f].source in TEMPORAL for f in writer.names)
    start = SECONDS if temporal else ""
    return start + header + writer.write_lines() + body


class PythonWriter(ConditionWriter):
    """Writes conditions in Python, with local variables for the columns."""

    equal = ("==", "!=")
    member = ("in", "not in")
    missing, present = "{}_missing", "True"
    write_literal = staticmethod(repr)

    def __init__(self, fitted) -> None:
        super().__init__(fitted)
        self.taken = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins)}
        self.taken |= {"row", "is_missing", "predict_row", "part", "totals"}
        self.taken |= {"share", "values", "ends", "value", "total", "best", "predicted"}
        self.taken |= {"outputs", "number", "labels", "datetime", "to_seconds"}
        self.names = {}

    def name(self, feature):
        """Return a readable, unused variable name for the value of a column."""
        if feature not in self.names:
            stem = re.sub(r"\W+", "_", self.fitted.feature_names[feature]).strip("_")
            stem = stem if stem.isidentifier() else f"column_{stem or feature}"
            name, number = stem, 1
            while name in self.taken or f"{name}_missing" in self.taken:
                number += 1
                name = f"{stem}_{number}"
            self.taken |= {name, f"{name}_missing"}
            self.names[feature] = name
        return self.names[feature]

    def write_lines(self):
        """Lines that read the columns that are used."""
        lines = []
        for feature, name in sorted(self.names.items()):
            has_names = self.fitted.schema.has_names
            key = self.fitted.feature_names[feature] if has_names else feature
            lines.append(f"    {name} = row[{key!r}]\n")
            lines.append(f"    {name}_missing = is_missing({name})\n")
            if self.fitted.schema.columns[feature].source in TEMPORAL:
                lines.append(f"    if not {name}_missing:\n")
                lines.append(f"        {name} = to_seconds({name})\n")
        return "".join(lines)

    def list_levels(self, feature) -> list:
        """Write the levels of a column."""
        return list(map(repr, self.fitted.schema.columns[feature].levels))

    def write_interval(self, test, name) -> str:
        """Write the condition that a present number is in an interval."""
        if test.low == -math.inf:
            return f"{name} <= {test.high!r}"
        if test.high == math.inf:
            return f"{name} > {test.low!r}"
        return f"{test.low!r} < {name} <= {test.high!r}"

    def write_term(self, condition, term) -> str:
        """Write a summand of an oblique test."""
        column, name = self.fitted.schema.columns[term.feature], self.name(term.feature)
        summands = list_summands(term, column)
        if summands is None or column.levels is None:
            # As a float, since numpy's float32 would round the product.
            present = f"{term.weight!r} * float({name})"
        else:
            table = {column.levels[code]: value for code, value in summands}
            present = f"{table!r}[{name}]"
        return f"({term.fill!r} if {name}_missing else {present})"

    def write_condition(self, condition):
        """Write the condition of a branch, without fractions."""
        if isinstance(condition, SumCondition):
            if not condition.takes_sums:
                return f"({self.write_unseen(condition)})"
            seen = [t.level_condition(unseen=False) for t in condition.level_terms]
            tests = list(map(self.write_condition, seen))
            return " and ".join([*tests, self.write_sum(condition)])
        absent = f"{self.name(condition.feature)}_missing"
        present = self.write_present(condition)
        missing = list(map(self._write_chain, condition.chains))
        if condition.missing == 0.0:
            return f"not {absent}" + ("" if present == "True" else f" and {present}")
        if missing:
            return f"({' and '.join(missing)} if {absent} else {present or False})"
        return absent if present is None else f"({absent} or {present})"

    def join_unseen(self, tests):
        """Write that one of several levels has not been seen; may be empty."""
        return " or ".join(tests)

    def join_stand_in(self, name, stand_in, test) -> str:
        """Write that a value is missing, and the test of a surrogate instead."""
        other = f"{self.name(stand_in.feature)}_missing"
        return f"{name}_missing and not {other} and {test}"

    def _write_chain(self, chain):
        """Write surrogates as nested conditional expressions."""
        text = repr(bool(chain.otherwise))
        for stand_in in reversed(chain.stand_ins):
            name, here = self.name(stand_in.feature), self.write_accepted(stand_in)
            usable, here = f"not {name}_missing", here or "False"
            if not stand_in.is_numeric:
                # A missing value is not a level, so the surrogate is not usable either.
                levels = self.list_levels(stand_in.feature)
                known = [levels[code] for code in stand_in.known]
                usable += f" and {self.write_member(name, known)}"
            text = text if here == text else f"({here} if {usable} else {text})"
        return text


def _nested_body(fitted, writer):
    """Write the tree as nested ``if`` statements."""
    lines = []
    # Nodes to write: number, depth, the line before them, whether rows end there.
    stack = [(0, 1, "", False)]
    while stack:
        node, depth, opening, stops = stack.pop()
        if opening:
            lines.append(f"{INDENT * (depth - 1)}{opening}:\n")
        if node is None:
            lines.append(f"{INDENT * depth}{NO_RULE}")
        elif has_children(fitted.tree, node) and not stops:
            stack.extend(reversed(_nested_branches(fitted, node, depth, writer)))
        else:
            lines.append(f"{INDENT * depth}return {_prediction(fitted, node)}\n")
    return "".join(lines)


def _nested_branches(fitted, node, depth, writer):
    """Return stack entries for the branches of a node, the last one without a test."""
    first = int(fitted.tree.nodes["first_child"][node])
    ends = {STAY: node, REFUSED: None}
    return [
        (
            ends.get(branch, first + branch),
            depth + 1,
            _open(number, test),
            branch in ends,
        )
        for number, (test, branch) in enumerate(writer.list_branches(node))
    ]


def _open(number, test) -> str:
    """Write the beginning of a case; None is all else."""
    if test is None and number:
        return "else"
    return f"{'elif' if number else 'if'} {test or True}"


def _flat_body(fitted, rules, writer):
    """Write one ``if`` per rule: for lists, and trees too deep for nested ``if``."""
    lines = []
    for rule in rules:
        tests = list(map(writer.write_condition, rule.conditions))
        prediction = f"return {_prediction(fitted, rule.node)}\n"
        if not tests:  # the end of a list
            return "".join([*lines, INDENT + prediction])
        lines.append(f"    if {' and '.join(tests)}:\n        {prediction}")
    return "".join([*lines, INDENT + NO_RULE])


def _walking_body(fitted, writer):
    """Write the body for divided rows: their fractions in nodes, and the mean.

    The sums are those of ``predict``, operation by operation, so that nearly equal
    class proportions come out in the same order.
    """
    tree = fitted.tree
    lines = [f"    share = [1.0] + [0.0] * {tree.node_count - 1}\n"]
    ends, stack = [], [0]
    may_stop = tree.is_leaf.tolist()
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        moves, may_stop[node] = _walk_node(fitted, node, writer)
        lines += moves
    while stack:
        node = stack.pop()
        first, n_children = tree.nodes[["first_child", "n_children"]][node].tolist()
        stack.extend(reversed(range(first, first + n_children)))
        if not may_stop[node]:
            continue
        values = fitted.class_fractions(node)
        ends.append((node, tuple(tuple(output) for output in values.tolist())))
    lines.append("    ends = (\n")
    lines += [f"        (share[{node}], {values!r}),\n" for node, values in ends]
    lines.append("    )\n")
    lines.append(f"    totals = {[[0.0] * len(values) for values in ends[0][1]]!r}\n")
    lines.append(ADD_FRACTIONS)
    if tree.is_classifier:
        labels = [np.asarray(classes).tolist() for classes in fitted.classes]
        margin = fitted.class_tolerance
        if fitted.costs is not None:
            margin = float(max(margin, SAME_COST) * fitted.costs.max())
            lines.append(ADD_COSTS.format(costs=fitted.costs.T.tolist()))
        margin = f" + {margin!r}" if margin else ""
        lines.append(CHOOSE_CLASSES.format(classes=labels, margin=margin))
    else:
        lines.append("    predicted = [total[0] for total in totals]\n")
    lines.append(f"    return {'predicted[0]' if fitted.is_single else 'predicted'}\n")
    return "".join(lines)


def _walk_node(fitted, node, writer):
    """Write the lines for one node; return them and whether rows may end in it."""
    tree, record = fitted.tree, fitted.tree.nodes[node]
    first = int(record["first_child"])
    cases = writer.list_cases(node)
    lines = [f"    if share[{node}]:\n"]
    moves = [_move(tree, node, first, branch) for _, branch in cases]
    for number, ((test, _), move) in enumerate(zip(cases, moves, strict=True)):
        lines.append(f"        {_open(number, test)}:\n            {move}")
    return lines, STOP in moves


def _move(tree, node, first, branch):
    """Write the line that moves a fraction of a row to a child."""
    if branch == REFUSED:
        return NO_RULE
    if branch == FRACTIONAL:
        weights = tree.nodes["weight"][first : first + tree.nodes["n_children"][node]]
        total = float(np.add.accumulate(weights)[-1])
        parts = {
            first + child: f"share[{node}] * {weight!r} / {total!r}"
            for child, weight in enumerate(weights.tolist())
            if weight > 0.0
        }
    else:
        parts = {first + branch: f"share[{node}]"} if branch != STAY else {}
    if not parts:
        return STOP
    targets = ", ".join(f"share[{child}]" for child in [*parts, node])
    return f"{targets} = {', '.join([*parts.values(), '0.0'])}\n"


def _prediction(fitted, place):
    """Write the prediction of a place as a literal."""
    predicted = fitted.predicted(place)
    return repr(predicted[0] if fitted.is_single else predicted)
