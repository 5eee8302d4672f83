"""The text of the ``summary()`` of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_textbook._contract.html import join, make, make_table
from sklearn_textbook._contract.text_table import (
    ENOUGH_FOR_A_NAME,
    TextTable,
    align_columns,
    measure_width,
    shorten,
    shorten_names,
)

if TYPE_CHECKING:
    from sklearn_textbook.linear_model.inference.coefficient_table import (
        CoefficientTable,
    )

#: p-values up to which a coefficient is marked, and the marks.
MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, "."))

#: Smaller p-values are shown as below this.
SMALLEST_P = 2e-16

#: Maximum length of lines.
WIDTH = 80
IS_PENALISED = (
    "The penalty shrinks coefficients towards 0, and standard errors do not include "
    "this bias: there are no tests, p-values and confidence intervals."
)
NAMES_ARE_CUT = (
    "Names are shortened (# is their number); coefficient_table_ has them in full."
)


class Summary(str):
    """The text of a summary, which notebooks show as tables.

    It is a string: ``print`` shows it.

    Attributes
    ----------
    tables : list of (str, CoefficientTable)
        The coefficients, with the name of the class of each vector, if there are
        several.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> frame = LinearRegression().fit(X, y).summary().to_frame()
    >>> frame["coef"].round(3).to_dict()
    {'intercept': 1.846, 'x0': 1.523, 'x1': 0.256}
    """

    title: str
    facts: list
    tables: list
    notes: list

    def to_frame(self) -> Any:
        """Return the coefficients as a pandas DataFrame, by their names.

        Returns
        -------
        frame : pandas.DataFrame
            Coefficients, standard errors, statistics, p-values and intervals; of
            several vectors, indexed by class and name.
        """
        if len(self.tables) == 1:
            return self.tables[0][1].to_frame()
        import pandas as pd

        parts = {heading: table.to_frame() for heading, table in self.tables}
        return pd.concat(parts, names=["class"])

    def _repr_html_(self) -> str:
        rows = [[name, str(value)] for name, value in self.facts]
        parts = [
            make("p", make("b", self.title)),
            make_table(TextTable(["", ""], rows)),
        ]
        for heading, table in self.tables:
            parts += [make("p", make("b", heading))] if heading else []
            parts.append(make_table(tabulate_coefficients(table)))
        return join(*parts, *(make("p", note) for note in self.notes))


def make_frame(columns: dict[str, np.ndarray]) -> Any:
    """Make a pandas DataFrame of columns, indexed by those named "name"."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "to_frame requires pandas: pip install pandas. as_dict returns the columns "
            "as arrays, from which any other data frame can be made."
        ) from error
    return pd.DataFrame(columns).set_index("name").rename_axis(None)


def write_summary(
    title: str,
    facts,
    tables,
    notes: Sequence[str] = (),
    *,
    more: Sequence[str] = (),
    width: int | None = WIDTH,
) -> Summary:
    """Write a summary."""
    tables = list(tables)
    width = np.inf if width is None else width
    lines = [title, "=" * measure_width(title), *_pair_facts(facts, width)]
    is_cut = False
    for heading, table in tables:
        make = partial(tabulate_coefficients, table)
        rows, names_are_cut = write_table(make, width)
        is_cut |= names_are_cut
        lines += ["", *([shorten(heading, width)] if heading else []), *rows]
    if more:
        lines += ["", *more]
    is_penalised = any(table.is_penalised for _, table in tables)
    notes = [NAMES_ARE_CUT] * is_cut + [*notes] + [IS_PENALISED] * is_penalised
    if notes:
        lines += ["", *(line for note in notes for line in wrap_words(note, width))]
    summary = Summary("\n".join(line.rstrip() for line in lines))
    summary.title, summary.facts, summary.tables = title, list(facts), tables
    # The text says what a shortened name means.
    summary.notes = [*more, *(note for note in notes if note != NAMES_ARE_CUT)]
    return summary


def tabulate_coefficients(table: CoefficientTable, digits: int = 5) -> TextTable:
    """Write the coefficients with their errors, tests and intervals."""
    fraction = f"{100 * (1 - table.level) / 2:g}%"
    other = f"{100 * (1 + table.level) / 2:g}%"
    heads = ["", "coef", "std. error", table.statistic_name, "p", fraction, other, ""]
    errors = table.standard_errors
    columns = [
        format_column(table.estimates, digits, errors),
        format_column(errors, digits),
        format_column(table.statistics, 4, 1.0),
        map(format_p, table.p_values),
        *(
            format_column(limits, digits, errors)
            for limits in table.confidence_intervals.T
        ),
        (find_mark(p_value).ljust(3) for p_value in table.p_values),
    ]
    return TextTable(heads, [*zip(table.names, *columns, strict=True)])


def write_table(make: Callable[[int], TextTable], width: float = WIDTH):
    """Write a table of numbers with digits, and say whether its names are shortened.

    Numbers get fewer digits, at least 3, if names would become too short.
    """
    for digits in (5, 4, 3):
        table = make(digits)
        names = [name for name, *_ in table.rows]
        cells = align_columns([row[1:] for row in [table.heads, *table.rows]], "r")
        room = width - 2 - max(map(measure_width, cells))
        longest = max(map(measure_width, names), default=0)
        if room >= min(longest, ENOUGH_FOR_A_NAME):
            break
    shown = shorten_names(names, room)
    rows = [[name, *row[1:]] for name, row in zip(shown, table.rows, strict=True)]
    return replace(table, rows=rows).write_lines(), shown != names


def wrap_words(text, width):
    """Break a text into lines between words, all indented like the first."""
    words = text.split()
    margin = " " * (len(text) - len(text.lstrip()))
    lines = [margin + shorten(words[0], width - len(margin))]
    margin = margin and margin + "  "
    for word in words[1:]:
        if measure_width(lines[-1]) + 1 + measure_width(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(margin + shorten(word, width - len(margin)))
    return lines


def format_column(numbers, digits: int = 5, scale=None) -> list[str]:
    """Format the numbers of a column with the same decimals, as R does.

    The largest number gets all digits, the smallest two or three; with ``scale``, such
    as standard errors, that of the smallest scale. Numbers that would need many more
    decimals than others, or are very large, are formatted alone.
    """
    numbers = np.asarray(numbers, dtype=np.float64) + 0.0  # no minus before zero
    powers = _find_powers(numbers)
    if scale is None:
        scale = numbers
    needed = max(digits, 4) - 3 - _find_powers(np.broadcast_to(scale, numbers.shape))
    is_counted = np.isfinite(numbers) & (powers < digits + 4)
    largest = max(powers[is_counted], default=0)
    limit = max(digits + 1 - max(largest, 0), 0)
    is_common = is_counted & (needed <= limit)
    decimals = max([digits - 1 - largest, 0, *needed[is_common]])
    decimals = min(decimals, limit)
    texts = [f"{number:.{decimals}f}" for number in numbers]
    if decimals and is_common.any():
        zeros = (len(t) - len(t.rstrip("0")) for t in np.array(texts)[is_common])
        unused = min(zeros)
        unused += unused == decimals  # the point
        texts = [text[: len(text) - unused] for text in texts]
    return [
        text if common else format_statistic(number, digits)
        for text, number, common in zip(texts, numbers, is_common, strict=True)
    ]


def _find_powers(numbers) -> np.ndarray:
    """Find the powers of ten of numbers; 0 for zero and what is not finite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.floor(np.log10(np.abs(numbers)))
    return np.where(np.isfinite(powers), powers, 0.0).astype(np.int64)


def format_statistic(number, digits: int = 5) -> str:
    """Format a number with up to five digits, but all digits before the point."""
    if np.isnan(number):
        return "-"
    number += 0.0  # no minus before zero
    if abs(number) >= 1e5:
        return f"{number:.{digits - 1}e}"
    return f"{number:.{max(digits, len(str(int(abs(number)))))}g}"


def format_p(p_value):
    """Format a probability with four decimals, smaller ones by their power of ten.

    Below the machine epsilon it is only shown as smaller, as in R.
    """
    if np.isnan(p_value):
        return "-"
    if p_value < SMALLEST_P:
        return f"<{SMALLEST_P:.0e}"
    return f"{p_value:.4f}" if p_value >= 1e-4 else f"{p_value:.1e}"


def find_mark(p_value):
    """Return the stars of a p-value."""
    return next((mark for limit, mark in MARKS if p_value <= limit), "")


def _pair_facts(facts, width):
    """Write two facts per line, after those that need a whole line."""
    facts, alone = [*facts], []
    lines = _align_pairs(facts)
    while facts and max(map(measure_width, lines)) > width:
        widest = max(facts, key=lambda fact: measure_width("".join(fact)))
        facts.remove(widest)
        alone += wrap_words(": ".join(widest), width)
        lines = _align_pairs(facts)
    return alone + lines


def _align_pairs(facts):
    cells = [[f"{name}:", value] for name, value in facts]
    if len(cells) % 2:
        cells.append(["", ""])
    half = len(cells) // 2
    left = align_columns(cells[:half])
    right = align_columns(cells[half:])
    width = max(map(measure_width, left), default=0) + 4
    return [
        (first + " " * (width - measure_width(first)) + second).rstrip()
        for first, second in zip(left, right, strict=True)
    ]
