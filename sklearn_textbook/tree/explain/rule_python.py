"""Rules as the source of a Python function."""

from __future__ import annotations

import builtins
import keyword
import math
import re

import numpy as np

from sklearn_textbook.tree.encode.columns import TEMPORAL
from sklearn_textbook.tree.explain.conditions import branch_condition, collect_branches
from sklearn_textbook.tree.explain.describe import has_children
from sklearn_textbook.tree.grow.layout import STAY

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
NO_RULE = 'raise ValueError("No rule applies: a level was not seen in training.")\n'


def write_python(fitted, rules):
    """Source of a function ``predict_row(row)`` without imports.

    Parameters
    ----------
    fitted : FittedTree
        The tree and its names.
    rules : list of Rule
        All rules of the tree, inner nodes included; or those of a list, in order.

    Returns
    -------
    str
        The source; rows are mappings of column names to values, or sequences if the
        training table had no names.
    """
    variables = _Variables(fitted)
    fractional = any(c.is_fractional for rule in rules for c in rule.conditions)
    if fractional:
        body = _weighted_body(fitted, rules, variables)
    elif fitted.is_list or fitted.tree.max_depth > MAX_INDENT:
        body = _flat_body(fitted, rules, variables)
    else:
        body = _nested_body(fitted, variables)
    what = "class" if fitted.tree.is_classifier else "value"
    what += "" if fitted.is_single else " of every output"
    row = "a mapping of column names to values"
    if not fitted.schema.has_names:
        row = "a sequence of the values of its columns"
    header = HEADER.format(summary=f"Predict the {what} of one row, {row}.")
    temporal = any(fitted.schema.columns[f].source in TEMPORAL for f in variables.names)
    start = SECONDS if temporal else ""
    return start + header + variables.write_lines() + body


class _Variables:
    """The names under which the function knows the columns."""

    def __init__(self, fitted):
        self.fitted = fitted
        self.taken = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins)}
        self.taken |= {"row", "is_missing", "predict_row", "classes", "totals"}
        self.taken |= {"share", "values", "rules", "value", "total", "best"}
        self.taken |= {"outputs", "number", "labels", "datetime", "to_seconds"}
        self.names = {}

    def name(self, feature):
        """Find a readable and unused variable for the value of a column."""
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


def _nested_body(fitted, variables):
    """Write the tree as nested ``if`` statements."""
    lines = []
    # Nodes to write: number, depth, the line before them, whether rows stop there.
    stack = [(0, 1, "", False)]
    while stack:
        node, depth, opening, stops = stack.pop()
        if opening:
            lines.append(f"{INDENT * (depth - 1)}{opening}:\n")
        if node is None:
            lines.append(f"{INDENT * depth}{NO_RULE}")
        elif has_children(fitted.tree, node) and not stops:
            stack.extend(reversed(_nested_branches(fitted, node, depth, variables)))
        else:
            lines.append(f"{INDENT * depth}return {_prediction(fitted, node)}\n")
    return "".join(lines)


def _nested_branches(fitted, node, depth, variables):
    """Entries of the stack for the branches of a node, the last one without a test."""
    tree = fitted.tree
    first = int(tree.nodes["first_child"][node])
    tests = [
        (first + branch, _write_test(fitted, condition, variables))
        for branch, condition in enumerate(collect_branches(tree, node))
        if not condition.is_impossible
    ]
    entries = [
        (child, depth + 1, f"{'elif' if number else 'if'} {test}", False)
        for number, (child, test) in enumerate(tests)
    ]
    if not branch_condition(tree, node, STAY).is_impossible:
        return [*entries, (node, depth + 1, "else", True)]
    if tree.handle_unknown == "error" and tree.n_levels[tree.nodes["feature"][node]]:
        return [*entries, (None, depth + 1, "else", True)]
    if len(entries) > 1:
        entries[-1] = (entries[-1][0], depth + 1, "else", False)
    return entries


def _flat_body(fitted, rules, variables):
    """One ``if`` per rule: for lists, and trees too deep for Python's indentation."""
    lines = []
    for rule in rules:
        tests = [_write_test(fitted, c, variables) for c in rule.conditions]
        prediction = f"return {_prediction(fitted, rule.node)}\n"
        if not tests:  # the end of a list
            return "".join([*lines, INDENT + prediction])
        lines.append(f"    if {' and '.join(tests)}:\n        {prediction}")
    return "".join([*lines, INDENT + NO_RULE])


def _weighted_body(fitted, rules, variables):
    """Shares of the row in all rules, and the mean of what they predict."""
    is_classifier = fitted.tree.is_classifier
    lines = ["    rules = (\n"]
    for rule in rules:
        shares = [_write_share(fitted, c, variables) for c in rule.conditions]
        statistics = fitted.statistics[rule.node]
        if is_classifier:
            statistics = fitted.class_shares(rule.node)
        values = ", ".join(f"{tuple(output)!r}" for output in statistics.tolist())
        lines.append(f"        ({' * '.join(shares) or '1.0'}, ({values},)),\n")
    lines.append("    )\n")
    lines.append(
        "    if sum(share for share, _ in rules) < 0.999999:\n        " + NO_RULE
    )
    lines.append(
        f"    totals = {[[0.0] * len(output) for output in statistics]!r}\n"
        "    for share, outputs in rules:\n"
        "        for total, values in zip(totals, outputs):\n"
        "            for number, value in enumerate(values):\n"
        "                total[number] += share * value\n"
    )
    if is_classifier:
        lines.append(f"    classes = {_all_classes(fitted)}\n")
        best = "labels[total.index(max(total))]"
        best = f"[{best} for labels, total in zip(classes, totals)]"
    else:
        best = "[total[0] for total in totals]"
    lines.append(f"    best = {best}\n")
    lines.append(f"    return {'best[0]' if fitted.is_single else 'best'}\n")
    return "".join(lines)


def _all_classes(fitted):
    return repr([np.asarray(classes).tolist() for classes in fitted.classes])


def _prediction(fitted, node):
    """Write what a node predicts as a literal."""
    statistics = fitted.statistics[node]
    if fitted.tree.is_classifier:
        predicted = [
            classes.tolist()[int(weights[: len(classes)].argmax())]
            for classes, weights in zip(fitted.classes, statistics, strict=True)
        ]
    else:
        predicted = statistics[:, 0].tolist()
    return repr(predicted[0] if fitted.is_single else predicted)


def _write_test(fitted, condition, variables):
    """Write a condition of whole rows as a Boolean expression."""
    name = variables.name(condition.feature)
    absent = f"{name}_missing"
    present = _present(fitted, condition, name)
    missing = [_write_chain(fitted, chain, variables) for chain in condition.chains]
    if condition.missing == 0.0:
        if present == "True":
            return f"not {absent}"
        return f"not {absent} and {present}"
    if missing:
        return f"({' and '.join(missing)} if {absent} else {present})"
    if present == "False":
        return absent
    return f"({absent} or {present})"


def _write_share(fitted, condition, variables):
    """Write a condition as the share of the row that meets it."""
    name = variables.name(condition.feature)
    missing = [_write_chain(fitted, chain, variables) for chain in condition.chains]
    if condition.missing < 1.0 or not missing:
        missing.append(repr(condition.missing))
    present = _present(fitted, condition, name)
    return f"({' * '.join(missing)} if {name}_missing else {present})"


def _present(fitted, test, name):
    """Write what a present value must be, or the share that it has."""
    if not test.takes_present:
        return "False"
    if test.takes_all_present:
        return "True"
    column = fitted.schema.columns[test.feature]
    if test.is_numeric:
        return _interval(test, name)
    *shares, unseen = test.shares
    if all(share in (0.0, 1.0) for share in test.shares):
        wanted = [
            level
            for level, share in zip(column.levels, shares, strict=True)
            if (share == 0.0) == (unseen == 1.0)
        ]
        return _member(name, wanted, "not " if unseen == 1.0 else "")
    table = dict(zip(column.levels, shares, strict=True))
    return f"{table!r}.get({name}, {unseen!r})"


def _interval(test, name):
    if test.low == -math.inf:
        return f"{name} <= {test.high!r}"
    if test.high == math.inf:
        return f"{name} > {test.low!r}"
    return f"{test.low!r} < {name} <= {test.high!r}"


def _member(name, levels, negation=""):
    if len(levels) == 1:
        return f"{name} {'!=' if negation else '=='} {levels[0]!r}"
    return f"{name} {negation}in {tuple(levels)!r}"


def _write_chain(fitted, chain, variables):
    """Surrogates as nested conditional expressions."""
    share = chain.otherwise
    text = repr(bool(share)) if share in (0.0, 1.0) else repr(share)
    for stand_in in reversed(chain.stand_ins):
        name = variables.name(stand_in.feature)
        levels = fitted.schema.columns[stand_in.feature].levels
        if stand_in.is_numeric:
            usable = f"not {name}_missing"
            accepts = stand_in.low < stand_in.high
            here = _interval(stand_in, name) if accepts else "False"
        else:
            # A missing value is no level, so it is not usable either.
            usable = _member(name, [levels[code] for code in stand_in.known])
            accepted = [levels[code] for code in stand_in.accepted]
            here = _member(name, accepted) if accepted else "False"
            usable = f"not {name}_missing and {usable}"
        text = text if here == text else f"({here} if {usable} else {text})"
    return text
