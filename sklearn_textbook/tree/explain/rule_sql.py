"""Rules as a CASE expression of SQL."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace

from sklearn_textbook.tree.encode.columns import (
    BOOLEAN,
    DURATION,
    STRING,
    TEMPORAL,
    TIME,
)
from sklearn_textbook.tree.explain.conditions import SumCondition
from sklearn_textbook.tree.explain.describe_sums import list_summands

# SQL before 1999 has no literals for these.
ALWAYS, NEVER = "1 = 1", "1 = 0"
EPOCH = datetime.datetime(1970, 1, 1)


def write_sql(fitted, rules):
    """Write one CASE expression per output; missing values are NULL.

    Parameters
    ----------
    fitted : FittedTree
        The tree and its names.
    rules : list of Rule
        All rules of the tree, inner nodes included; or those of a list, in order.

    Returns
    -------
    str
        The expressions, joined by a comma and a line feed.

    Raises
    ------
    ValueError
        If training rows, or rows with a level not seen in training, are divided among
        several rules, if an oblique test adds up dates or times of day, or if a name or
        a label contains a NUL character.
    """
    rules = _without_divided_rows(fitted, rules)
    tests = [_join_conditions(fitted, rule) for rule in rules]
    expressions = []
    for output in range(fitted.tree.n_outputs):
        lines = []
        for test, rule in zip(tests, rules, strict=True):
            is_rest = lines and not rule.conditions  # the end of a list
            start = "ELSE" if is_rest else f"WHEN {test} THEN"
            literal = write_literal(fitted.predicted(rule.node)[output])
            lines.append(f"  {start} {literal}")
        expressions.append("\n".join(["CASE", *lines, "END"]))
    return ",\n".join(expressions)


def _without_divided_rows(fitted, rules):
    """Exclude missing values that the tree divides among branches from all rules.

    There were none in these columns in training. Rules only for these are left out.
    """
    whole = []
    for rule in rules:
        conditions = tuple(_refuse_shares(fitted, c) for c in rule.conditions)
        if not any(condition.is_impossible for condition in conditions):
            whole.append(replace(rule, conditions=conditions))
    return whole


def _refuse_shares(fitted, condition):
    """Drop the fraction of a missing value; raise an error if this is not possible."""
    if not condition.is_fractional:
        return condition
    counts = fitted.n_missing
    if isinstance(condition, SumCondition):
        feature, is_whole = condition.level_terms[0].feature, False
    else:
        feature = condition.feature
        condition = replace(condition, missing=0.0, chains=())
        is_whole = not condition.is_fractional
    if not is_whole:
        which = "by a level not seen in training"
    elif counts is None or counts[feature]:
        which = "by a missing value, and there were missing values in training"
    else:
        return condition
    raise ValueError(
        "A CASE expression sends a row down one branch, but the tree divides rows "
        f"among several branches {which}, in column "
        f"{fitted.feature_names[feature]!r}. Use "
        'format="python".'
    )


def _join_conditions(fitted, rule):
    """Join all conditions of a rule; a rule without conditions applies to every row."""
    tests = [write_condition(fitted, condition) for condition in rule.conditions]
    return " AND ".join(tests) or ALWAYS


def write_condition(fitted, condition):
    """Write the condition of a branch, without fractions."""
    if isinstance(condition, SumCondition):
        return _write_sum(fitted, condition)
    name = quote_identifier(fitted.feature_names[condition.feature])
    present = write_present(fitted, condition, name)
    if condition.missing == 0.0:
        return present
    absent = [f"{name} IS NULL"]
    absent += [_write_chain(fitted, chain) for chain in condition.chains]
    missing = " AND ".join(absent)
    if present is None:
        return missing
    return f"({present} OR {missing})"


def _write_sum(fitted, condition):
    """Write the comparison of a sum, which is NULL if some level has not been seen."""
    if not condition.takes_sums:
        unseen = [t.level_condition(unseen=True) for t in condition.level_terms]
        tests = [write_condition(fitted, levels) for levels in unseen]
        return f"({' OR '.join(tests)})" if len(tests) > 1 else tests[0]
    total = " + ".join(_write_term(fitted, condition, t) for t in condition.terms)
    if condition.low == -math.inf:
        return f"{total} <= {write_literal(condition.high)}"
    return f"{total} > {write_literal(condition.low)}"


def _write_term(fitted, condition, term):
    """Write a summand of an oblique test."""
    column = fitted.schema.columns[term.feature]
    name = fitted.feature_names[term.feature]
    summands = list_summands(term, column)
    if summands is None:
        refuse_seconds(condition.node, column.source, name)
        number = write_number(column, quote_identifier(name))
        weight, fill = write_literal(term.weight), write_literal(term.fill)
        return f"COALESCE({weight} * {number}, {fill})"
    name = quote_identifier(name)
    literals = [write_literal(False), write_literal(True)]
    if column.levels is not None:
        literals = list_level_literals(column)
    cases = [
        f"WHEN {name} = {literals[code]} THEN {write_literal(value)}"
        for code, value in summands
    ]
    fill = write_literal(term.fill)
    return f"CASE {' '.join(cases)} WHEN {name} IS NULL THEN {fill} END"


def refuse_seconds(node, source, name):
    """Raise ValueError for a column of dates or times in an oblique test."""
    if source in TEMPORAL:
        raise ValueError(
            f"Node {node} has an oblique test with column {name!r}, which contains "
            f"{TEMPORAL[source]}, but SQL has no standard function for the number of "
            "seconds. Use Python instead."
        )


def write_present(fitted, test, name):
    """Write the condition on a present value; None if no value satisfies it."""
    if not test.takes_present:
        return None
    if test.takes_all_present:
        return f"{name} IS NOT NULL"
    if test.is_numeric:
        return _interval(fitted, test, name)
    levels = list_level_literals(fitted.schema.columns[test.feature])
    *shares, unseen = test.shares
    wanted = [
        level
        for level, share in zip(levels, shares, strict=True)
        if (share == 0.0) == (unseen == 1.0)
    ]
    return _member(name, wanted, "NOT " if unseen == 1.0 else "")


def _interval(fitted, test, name):
    column = fitted.schema.columns[test.feature]
    if column.source == BOOLEAN:
        return f"{name} = {write_literal(test.low >= 0.0)}"
    bounds, name = [], write_number(column, name)
    if test.low > -math.inf:
        bounds.append(f"{name} > {write_seconds(column, test.low)}")
    if test.high < math.inf:
        bounds.append(f"{name} <= {write_seconds(column, test.high)}")
    return " AND ".join(bounds)


def write_number(column, name):
    """Write a numeric column; text would not be compared as a number."""
    return f"CAST({name} AS DOUBLE PRECISION)" if column.source == STRING else name


def write_seconds(column, number):
    """Write a number, or the date, duration or time of day that it encodes.

    Dates include the time of day, so that they can also be compared as text; dates with
    a time zone are written in UTC.
    """
    if column.source not in TEMPORAL:
        return write_literal(number)
    # Rounding down keeps "<=" correct between two microseconds; a quarter exceeds the
    # rounding error of current dates, in seconds, in float64.
    whole, rest = divmod(number, 1.0)
    microseconds = math.floor(rest * 1e6 + 0.25)
    if column.source == DURATION:
        total = round(whole) * 10**6 + microseconds
        sign, (seconds, rest) = "-" * (total < 0), divmod(abs(total), 10**6)
        return f"INTERVAL '{sign}{seconds}.{rest:06d}' SECOND"
    moment = EPOCH + datetime.timedelta(seconds=whole, microseconds=microseconds)
    if column.source == TIME:
        return write_literal(str(moment.time()))
    return write_literal(f"{moment}{'' if column.time_zone is None else '+00:00'}")


def list_level_literals(column):
    """Write the levels of a column."""
    if column.source in TEMPORAL:
        return [write_seconds(column, level) for level in column.levels]
    return [write_literal(level) for level in column.levels]


def _member(name, literals, negation=""):
    if len(literals) == 1:
        return f"{name} {'<>' if negation else '='} {literals[0]}"
    return f"{name} {negation}IN ({', '.join(literals)})"


def _write_chain(fitted, chain):
    """Write surrogates with AND and OR only, from the last one backwards."""
    test = ALWAYS if chain.otherwise else NEVER
    for stand_in in reversed(chain.stand_ins):
        here, unusable = write_stand_in(fitted, stand_in)
        rest = unusable if test == ALWAYS else f"{unusable} AND {test}"
        if test == NEVER:
            test = here or NEVER
        else:
            test = f"({here} OR {rest})" if here else f"({rest})"
    return test


def write_stand_in(fitted, stand_in):
    """Write the test of a surrogate (None: never true), and when it is not usable."""
    name = quote_identifier(fitted.feature_names[stand_in.feature])
    unusable = f"{name} IS NULL"
    if stand_in.is_numeric:
        accepts = stand_in.low < stand_in.high
        return (_interval(fitted, stand_in, name) if accepts else None), unusable
    literals = list_level_literals(fitted.schema.columns[stand_in.feature])
    accepted = [literals[code] for code in stand_in.accepted]
    known = [literals[code] for code in stand_in.known]
    unusable = f"({unusable} OR {_member(name, known, 'NOT ')})"
    return (_member(name, accepted) if accepted else None), unusable


def quote_identifier(name):
    """Quote an identifier with double quotes, as in the SQL standard."""
    return '"' + _refuse_nul(name).replace('"', '""') + '"'


def write_literal(value):
    """Write a value as an SQL literal."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        # Without an exponent, numbers are decimals, which some databases round.
        text = repr(float(value))
        return text if "e" in text else f"{text}e0"
    if isinstance(value, int):
        return repr(value)
    return "'" + _refuse_nul(str(value)).replace("'", "''") + "'"


def _refuse_nul(text):
    if "\0" in text:
        raise ValueError(f"SQL cannot represent the NUL character in {text!r}.")
    return text
