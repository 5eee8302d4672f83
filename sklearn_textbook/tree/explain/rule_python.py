"""Rules as the source code of a Python function."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from dataclasses import replace

import numpy as np

from sklearn_textbook.tree.encode.columns import TEMPORAL
from sklearn_textbook.tree.explain.conditions import (
    SumCondition,
    branch_condition,
    collect_branches,
    read_terms,
)
from sklearn_textbook.tree.explain.describe import has_children
from sklearn_textbook.tree.explain.describe_sums import list_summands
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
ADD_SHARES = """\
    for part, outputs in ends:
        for total, values in zip(totals, outputs):
            for number, value in enumerate(values):
                total[number] += part * value
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


def write_python(fitted, rules):
    """Write the source code of a function ``predict_row(row)``.

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
        body = _walking_body(fitted, variables)
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
    """The names of the local variables of the function, one per column."""

    def __init__(self, fitted):
        self.fitted = fitted
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


def _nested_body(fitted, variables):
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
            stack.extend(reversed(_nested_branches(fitted, node, depth, variables)))
        else:
            lines.append(f"{INDENT * depth}return {_prediction(fitted, node)}\n")
    return "".join(lines)


def _nested_branches(fitted, node, depth, variables):
    """Return stack entries for the branches of a node, the last one without a test."""
    tree = fitted.tree
    first = int(tree.nodes["first_child"][node])
    if read_terms(tree, node):
        return _nested_sum(fitted, node, depth, variables)
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


def _nested_sum(fitted, node, depth, variables):
    """Return stack entries for the branches of an oblique test."""
    tree, first = fitted.tree, int(fitted.tree.nodes["first_child"][node])
    below = branch_condition(tree, node, 0)
    unseen = _write_unseen(fitted, below, variables)
    tests = [(first, _write_sum(fitted, below, variables))]
    if unseen:
        stops = tree.handle_unknown == "parent"
        tests.insert(0, (node if stops else None, unseen))
    entries = [
        (child, depth + 1, f"{'elif' if number else 'if'} {test}", child == node)
        for number, (child, test) in enumerate(tests)
    ]
    return [*entries, (first + 1, depth + 1, "else", False)]


def _flat_body(fitted, rules, variables):
    """Write one ``if`` per rule: for lists, and trees too deep for nested ``if``."""
    lines = []
    for rule in rules:
        tests = [_write_test(fitted, c, variables) for c in rule.conditions]
        prediction = f"return {_prediction(fitted, rule.node)}\n"
        if not tests:  # the end of a list
            return "".join([*lines, INDENT + prediction])
        lines.append(f"    if {' and '.join(tests)}:\n        {prediction}")
    return "".join([*lines, INDENT + NO_RULE])


def _walking_body(fitted, variables):
    """Write the body for divided rows: their fractions in nodes, and the mean.

    The sums are those of ``predict``, operation by operation, so that nearly equal
    class proportions come out in the same order.
    """
    tree = fitted.tree
    lines = [f"    share = [1.0] + [0.0] * {tree.node_count - 1}\n"]
    ends, stack = [], [0]
    may_stop = tree.is_leaf.tolist()
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        moves, may_stop[node] = _walk_node(fitted, node, variables)
        lines += moves
    while stack:
        node = stack.pop()
        first, n_children = tree.nodes[["first_child", "n_children"]][node].tolist()
        stack.extend(reversed(range(first, first + n_children)))
        if not may_stop[node]:
            continue
        values = fitted.class_shares(node)
        ends.append((node, tuple(tuple(output) for output in values.tolist())))
    lines.append("    ends = (\n")
    lines += [f"        (share[{node}], {values!r}),\n" for node, values in ends]
    lines.append("    )\n")
    lines.append(f"    totals = {[[0.0] * len(values) for values in ends[0][1]]!r}\n")
    lines.append(ADD_SHARES)
    if tree.is_classifier:
        labels = [np.asarray(classes).tolist() for classes in fitted.classes]
        margin = fitted.class_tolerance
        margin = f" + {margin!r}" if margin else ""
        lines.append(CHOOSE_CLASSES.format(classes=labels, margin=margin))
    else:
        lines.append("    predicted = [total[0] for total in totals]\n")
    lines.append(f"    return {'predicted[0]' if fitted.is_single else 'predicted'}\n")
    return "".join(lines)


def _walk_node(fitted, node, variables):
    """Write the lines for one node; return them and whether rows may end in it."""
    tree, record = fitted.tree, fitted.tree.nodes[node]
    first = int(record["first_child"])
    cases = _list_cases(fitted, node, variables)
    lines = [f"    if share[{node}]:\n"]
    moves = [_move(tree, node, first, branch) for _, branch in cases]
    for number, ((test, _), move) in enumerate(zip(cases, moves, strict=True)):
        opening = f"{'elif' if number else 'if'} {test}:"
        if number == len(cases) - 1:  # the remaining fraction
            opening = "else:"
        lines.append(f"        {opening}\n            {move}")
    return lines, STOP in moves


def _list_cases(fitted, node, variables):
    """List the tests of a node and the branch of each; the first true one applies."""
    tree, record = fitted.tree, fitted.tree.nodes[node]
    branches = collect_branches(tree, node)
    unseen = {"parent": STAY, "fractional": FRACTIONAL, "error": None}
    if isinstance(branches[0], SumCondition):
        test = _write_unseen(fitted, branches[0], variables)
        cases = [(test, unseen[tree.handle_unknown])] if test else []
        return [*cases, (_write_sum(fitted, branches[0], variables), 0), ("True", 1)]
    column = int(record["feature"])
    name = variables.name(column)
    chains = [chain.stand_ins for c in branches for chain in c.chains]
    cases = []
    for stand_ins in zip(*chains, strict=True):
        for branch, stand_in in enumerate(stand_ins):
            test = _accepts(fitted, stand_in, variables)
            if test != "False":
                other = f"{variables.name(stand_in.feature)}_missing"
                cases.append((f"{name}_missing and not {other} and {test}", branch))
    cases.append((f"{name}_missing", int(record["missing_branch"])))
    for branch, condition in enumerate(branches):
        condition = replace(condition, shares=_whole_levels(condition.shares))
        if condition.takes_present:
            cases.append((_present(fitted, condition, name), branch))
    if tree.n_levels[column]:
        cases.append(("True", unseen[tree.handle_unknown]))
    return cases


def _whole_levels(shares):
    """Return the fractions of levels that are not divided among branches."""
    return shares and (*(float(share == 1.0) for share in shares[:-1]), 0.0)


def _move(tree, node, first, branch):
    """Write the line that moves a fraction of a row to a child."""
    if branch is None:
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


def _accepts(fitted, stand_in, variables):
    """Write the test of a surrogate on a present value."""
    name = variables.name(stand_in.feature)
    if stand_in.is_numeric:
        return _interval(stand_in, name) if stand_in.low < stand_in.high else "False"
    levels = fitted.schema.columns[stand_in.feature].levels
    accepted = [levels[code] for code in stand_in.accepted]
    return _member(name, accepted) if accepted else "False"


def _prediction(fitted, place):
    """Write the prediction of a place as a literal."""
    predicted = fitted.predicted(place)
    return repr(predicted[0] if fitted.is_single else predicted)


def _write_test(fitted, condition, variables):
    """Write a condition without fractions as a Boolean expression."""
    if isinstance(condition, SumCondition):
        if not condition.takes_sums:
            return f"({_write_unseen(fitted, condition, variables)})"
        seen = [term.level_condition(unseen=False) for term in condition.level_terms]
        tests = [_write_test(fitted, levels, variables) for levels in seen]
        return " and ".join([*tests, _write_sum(fitted, condition, variables)])
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


def _write_unseen(fitted, condition, variables):
    """Write the test that an oblique test has not seen some level; may be empty."""
    levels = [term.level_condition(unseen=True) for term in condition.level_terms]
    return " or ".join(_write_test(fitted, each, variables) for each in levels)


def _write_sum(fitted, condition, variables):
    """Write the comparison of a sum, whose levels have all been seen."""
    total = " + ".join(_write_term(fitted, t, variables) for t in condition.terms)
    if condition.low == -math.inf:
        return f"{total} <= {condition.high!r}"
    return f"{total} > {condition.low!r}"


def _write_term(fitted, term, variables):
    """Write a summand of an oblique test."""
    name, column = variables.name(term.feature), fitted.schema.columns[term.feature]
    summands = list_summands(term, column)
    if summands is None or column.levels is None:
        # As a float, since numpy's float32 would round the product.
        present = f"{term.weight!r} * float({name})"
    else:
        table = {column.levels[code]: value for code, value in summands}
        present = f"{table!r}[{name}]"
    return f"({term.fill!r} if {name}_missing else {present})"


def _present(fitted, test, name):
    """Write the condition on a present value."""
    if not test.takes_present:
        return "False"
    if test.takes_all_present:
        return "True"
    column = fitted.schema.columns[test.feature]
    if test.is_numeric:
        return _interval(test, name)
    *shares, unseen = test.shares
    wanted = [
        level
        for level, share in zip(column.levels, shares, strict=True)
        if (share == 0.0) == (unseen == 1.0)
    ]
    return _member(name, wanted, "not " if unseen == 1.0 else "")


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
    text = repr(bool(chain.otherwise))
    for stand_in in reversed(chain.stand_ins):
        name = variables.name(stand_in.feature)
        levels = fitted.schema.columns[stand_in.feature].levels
        here = _accepts(fitted, stand_in, variables)
        usable = f"not {name}_missing"
        if not stand_in.is_numeric:
            # A missing value is not a level, so the surrogate is not usable either.
            usable += f" and {_member(name, [levels[c] for c in stand_in.known])}"
        text = text if here == text else f"({here} if {usable} else {text})"
    return text
