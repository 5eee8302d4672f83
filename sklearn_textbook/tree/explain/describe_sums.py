"""Text of the weighted sums that oblique tests compare with a threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sklearn_textbook.tree.encode.columns import BOOLEAN, TEMPORAL
from sklearn_textbook.tree.explain.digits import (
    GAP_FRACTION,
    format_number,
    format_weight,
)

#: Maximum relative precision of the numbers of a test.
SMALLEST_CHANGE = 1e-9


def describe_terms(words, condition, sign: str = "*") -> list[str]:
    """Write the terms of a sum, such as ``["0.62*x", "- 0.3*y", "+ 2 more columns"]``.

    A column of levels is written with the summand of each level, as in ``+ colour(red:
    0.31, blue: -0.64)``; dates, times of day and durations are in seconds.
    """
    terms, tolerance = condition.terms, find_tolerance(condition)
    limit, n_terms = words.max_levels, len(terms)
    n_shown = n_terms if limit is None or n_terms <= limit else max(1, limit - 1)
    parts = []
    for term in terms[:n_shown]:
        is_negative, text = _describe_term(words, term, sign, tolerance)
        if parts:
            text = f"- {text}" if is_negative else f"+ {text}"
        elif is_negative:
            text = f"-{text}"
        parts.append(text)
    n_more = n_terms - n_shown
    if n_more:
        parts.append(f"+ {n_more:,} more column{'s' if n_more > 1 else ''}")
    return parts


def describe_threshold(condition, decimals: int | None) -> str:
    """Write the comparison of a sum, such as ``<= 0.85``."""
    operator = "<=" if condition.low == -math.inf else ">"
    tolerance = find_tolerance(condition)
    return f"{operator} {format_number(condition.threshold, decimals, tolerance)}"


def find_tolerance(condition) -> float:
    """Return how much each number of a test may change by rounding.

    All together change the sum by less than a twentieth of the distance between the
    threshold and the sum of the means.
    """
    fills = [term.fill for term in condition.terms]
    distance = abs(condition.threshold - math.fsum(fills))
    largest = max(map(abs, (condition.threshold, *fills)))
    fraction = GAP_FRACTION * distance / (len(fills) + 1)
    return max(fraction, SMALLEST_CHANGE * largest) or math.inf


def describe_fills(words, terms: Sequence) -> str:
    """Write what missing values count as; empty if there are no terms."""
    parts = [
        f"{words.name(term.feature)} counts as {_describe_fill(words, term)}"
        for term in terms[: words.max_levels]
    ]
    parts = words.cut_short(parts, terms)
    return f"if missing: {', '.join(parts)}" if parts else ""


def list_summands(term, column) -> list[tuple] | None:
    """List the values of a column and what each adds to a sum."""
    if term.summands is not None:
        return [(c, s) for c, s in enumerate(term.summands) if s is not None]
    if column.source == BOOLEAN:
        return [(False, 0.0), (True, term.weight)]
    return None


def _describe_term(words, term, sign, tolerance):
    """Return whether a term is subtracted, and its text without the sign."""
    column, name = words.fitted.schema.columns[term.feature], words.name(term.feature)
    summands = list_summands(term, column)
    if summands is not None:
        pairs = [
            f"{words.level(term.feature, code)}: "
            f"{format_weight(value, words.decimals, tolerance)}"
            for code, value in summands[: words.max_levels]
        ]
        return False, f"{name}({', '.join(words.cut_short(pairs, summands))})"
    if column.source in TEMPORAL:
        name = f"seconds({name})"
    # The mean of the column in the node shows how large its values are.
    tolerance *= abs(term.weight / term.fill) if term.fill else math.inf
    weight = format_weight(abs(term.weight), words.decimals, tolerance)
    return term.weight < 0.0, f"{weight}{sign}{name}"


def _describe_fill(words, term):
    """Write the value used for a missing one, or the terms of the levels."""
    column = words.fitted.schema.columns[term.feature]
    if list_summands(term, column) is not None or term.weight == 0.0:
        return format_weight(term.fill, words.decimals)
    value = term.fill / term.weight
    if column.source in TEMPORAL:
        return column.format_value(value)
    return format_number(value, words.decimals)
