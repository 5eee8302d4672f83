"""What the ``summary()`` of a model prints."""

from __future__ import annotations

from unicodedata import east_asian_width

import numpy as np

#: p-values up to which a coefficient is marked, and with what.
MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, "."))

#: Smaller p-values are shown as below this.
SMALLEST_P = 2e-16


def write_summary(title, facts, tables, notes=()):
    """Write a summary.

    Parameters
    ----------
    title : str
        First line.
    facts : list of (str, str)
        What is known of the whole model, two in a line.
    tables : list of (str, CoefficientTable)
        Coefficients with their headings; an empty heading is left out.
    notes : sequence of str, default=()
        Last lines.

    Returns
    -------
    text : str
        The summary, without a line break at the end.
    """
    lines = [title, "=" * measure_width(title), *_pair_facts(facts)]
    for heading, table in tables:
        lines += ["", *([heading] if heading else []), *format_coefficients(table)]
    if notes:
        lines += ["", *notes]
    return "\n".join(line.rstrip() for line in lines)


def format_coefficients(table):
    """Write one line for each coefficient, and a heading.

    Parameters
    ----------
    table : CoefficientTable
        The coefficients.

    Returns
    -------
    lines : list of str
        Columns aligned.
    """
    share = f"{100 * (1 - table.level) / 2:g}%"
    other = f"{100 * (1 + table.level) / 2:g}%"
    heading = ["", "coef", "std. error", table.statistic_name, "p", share, other, ""]
    rows = [heading]
    low, high = table.confidence_intervals.T
    columns = (table.estimates, table.standard_errors, table.statistics)
    for row, name in enumerate(table.names):
        numbers = [format_number(column[row]) for column in columns]
        p_value = table.p_values[row]
        limits = [format_number(low[row]), format_number(high[row])]
        mark = find_mark(p_value).ljust(3)
        rows.append([name, *numbers, format_p(p_value), *limits, mark])
    return align_columns(rows)


def align_columns(rows, n_left=1):
    """Align cells: the first columns at the left, the others at the right.

    Parameters
    ----------
    rows : list of list of str
        The cells.
    n_left : int, default=1
        How many columns are aligned at the left.

    Returns
    -------
    lines : list of str
        One for each row.
    """
    widths = [max(map(measure_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for position, (text, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - measure_width(text))
            cells.append(text + space if position < n_left else space + text)
        lines.append("  ".join(cells).rstrip())
    return lines


def format_number(number):
    """Write a number with five digits."""
    if np.isnan(number):
        return "-"
    number += 0.0  # no minus before zero
    return f"{number:.5g}" if abs(number) < 1e5 else f"{number:.4e}"


def format_p(p_value):
    """Write a probability with four decimals, smaller ones by their power of ten.

    Below the rounding of 1, only that it is below, as in R.
    """
    if np.isnan(p_value):
        return "-"
    if p_value < SMALLEST_P:
        return f"<{SMALLEST_P:.0e}"
    return f"{p_value:.4f}" if p_value >= 1e-4 else f"{p_value:.1e}"


def find_mark(p_value):
    """Stars of a p-value, the more the smaller it is."""
    return next((mark for limit, mark in MARKS if p_value <= limit), "")


def measure_width(text):
    """Width of a text on a screen, where Chinese letters take two places."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _pair_facts(facts):
    """Write two facts in a line."""
    cells = [[f"{name}:", value] for name, value in facts]
    if len(cells) % 2:
        cells.append(["", ""])
    half = len(cells) // 2
    left = align_columns(cells[:half])
    right = align_columns(cells[half:])
    width = max(map(measure_width, left), default=0) + 4
    return [
        first + " " * (width - measure_width(first)) + second
        for first, second in zip(left, right, strict=True)
    ]
