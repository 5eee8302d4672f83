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
from sklearn_textbook.tree.explain.rule_code import ConditionWriter

# SQL before 1999 has no literals for these.
ALWAYS, NEVER = "1 = 1", "1 = 0"
EPOCH = datetime.datetime(1970, 1, 1)


def write_sql(fitted, rules) -> str:
    """Write one CASE expression per output; missing values are NULL.

    Raise ValueError for what SQL cannot express: rows that several rules share, sums
    with dates or times of day, and NUL characters.
    """
    rules = _without_divided_rows(fitted, rules)
    writer = SqlWriter(fitted)
    tests = [
        " AND ".join(map(writer.write_condition, rule.conditions)) or ALWAYS
        for rule in rules
    ]
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
        conditions = tuple(_refuse_fractions(fitted, c) for c in rule.conditions)
        if not any(condition.is_impossible for condition in conditions):
            whole.append(replace(rule, conditions=conditions))
    return whole


def _refuse_fractions(fitted, condition):
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


class SqlWriter(ConditionWriter):
    """Writes conditions in SQL; missing values are NULL."""

    equal = ("=", "<>")
    member = ("IN", "NOT IN")
    missing, present = "{} IS NULL", "{} IS NOT NULL"

    def name(self, feature):
        """Write the value of a column: its name."""
        return quote_identifier(self.fitted.feature_names[feature])

    def write_literal(self, value):
        """Write a value."""
        return write_literal(value)

    def list_levels(self, feature):
        """Write the levels of a column."""
        return list_level_literals(self.fitted.schema.columns[feature])

    def write_interval(self, test, name):
        """Write the condition that a present number is in an interval."""
        column = self.fitted.schema.columns[test.feature]
        if column.source == BOOLEAN:
            return f"{name} = {write_literal(test.low >= 0.0)}"
        bounds, name = [], write_number(column, name)
        if test.low > -math.inf:
            bounds.append(f"{name} > {write_seconds(column, test.low)}")
        if test.high < math.inf:
            bounds.append(f"{name} <= {write_seconds(column, test.high)}")
        return " AND ".join(bounds)

    def write_term(self, condition, term) -> str:
        """Write a summand of an oblique test."""
        column = self.fitted.schema.columns[term.feature]
        name, number = self.fitted.feature_names[term.feature], self.name(term.feature)
        summands, fill = list_summands(term, column), write_literal(term.fill)
        if summands is None:
            refuse_seconds(condition.node, column.source, name)
            weight = write_literal(term.weight)
            return f"COALESCE({weight} * {write_number(column, number)}, {fill})"
        literals = [write_literal(False), write_literal(True)]
        if column.levels is not None:
            literals = list_level_literals(column)
        cases = [
            f"WHEN {number} = {literals[code]} THEN {write_literal(value)}"
            for code, value in summands
        ]
        return f"CASE {' '.join(cases)} WHEN {number} IS NULL THEN {fill} END"

    def write_condition(self, condition):
        """Write the condition of a branch, without fractions.

        A sum is NULL if some level has not been seen.
        """
        if isinstance(condition, SumCondition):
            write = self.write_sum if condition.takes_sums else self.write_unseen
            return write(condition)
        present = self.write_present(condition)
        if condition.missing == 0.0:
            return present
        absent = [f"{self.name(condition.feature)} IS NULL"]
        missing = " AND ".join([*absent, *map(self._write_chain, condition.chains)])
        return missing if present is None else f"({present} OR {missing})"

    def join_unseen(self, tests):
        """Write that one of several levels has not been seen; may be empty."""
        return f"({' OR '.join(tests)})" if len(tests) > 1 else "".join(tests)

    def join_stand_in(self, name, stand_in, test) -> str:
        """Write that a value is missing, and the test of a surrogate instead."""
        return f"{name} IS NULL AND {test}"

    def _write_chain(self, chain):
        """Write surrogates with AND and OR only, from the last one backwards."""
        test = ALWAYS if chain.otherwise else NEVER
        for stand_in in reversed(chain.stand_ins):
            here, name = self.write_accepted(stand_in), self.name(stand_in.feature)
            unusable = f"{name} IS NULL"
            if not stand_in.is_numeric:
                levels = self.list_levels(stand_in.feature)
                known = [levels[code] for code in stand_in.known]
                unusable = f"({unusable} OR {self.write_member(name, known, True)})"
            rest = unusable if test == ALWAYS else f"{unusable} AND {test}"
            if test == NEVER:
                test = here or NEVER
            else:
                test = f"({here} OR {rest})" if here else f"({rest})"
        return test


def refuse_seconds(node, source, name) -> None:
    """Raise ValueError for a column of dates or times in a sum of columns."""
    if source in TEMPORAL:
        raise ValueError(
            f"Node {node} has a sum of columns with {name!r}, which contains "
            f"{TEMPORAL[source]}, but SQL has no standard function for the number of "
            "seconds. Use Python instead."
        )


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
