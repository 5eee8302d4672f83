"""The text of the ``summary()`` of a model."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sklearn_textbook._contract.text_table import align_columns, measure_width

#: p-values up to which a coefficient is marked, and the marks.
MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, "."))

#: Smaller p-values are shown as below this.
SMALLEST_P = 2e-16

#: Maximum length of lines, and a sufficient width of a name.
WIDTH = 80
ENOUGH_FOR_A_NAME = 16
#: Replacement for the middle of a shortened name.
GAP = "..."
NAMES_ARE_CUT = (
    "Names are shortened (# is their number); coefficient_table_ has them in full."
)


def write_summary(title, facts, tables, notes=(), *, more=(), width=WIDTH):
    """Write a summary.

    Parameters
    ----------
    title : str
        First line.
    facts : list of (str, str)
        Names and values of statistics of the whole model, two in a line.
    tables : list of (str, CoefficientTable)
        Coefficients with their headings; an empty heading is left out.
    notes : sequence of str, default=()
        Last lines.
    more : sequence of str, default=()
        Lines before the notes.
    width : int or None, default=80
        Maximum length of lines; None: any.

    Returns
    -------
    text : str
        The summary, without a line break at the end.
    """
    width = np.inf if width is None else width
    lines = [title, "=" * measure_width(title), *_pair_facts(facts, width)]
    is_cut = False
    for heading, table in tables:
        rows, names_are_cut = format_coefficients(table, width)
        is_cut |= names_are_cut
        lines += ["", *([shorten(heading, width)] if heading else []), *rows]
    if more:
        lines += ["", *more]
    notes = [NAMES_ARE_CUT] * is_cut + [*notes]
    if notes:
        lines += ["", *(line for note in notes for line in wrap_words(note, width))]
    return "\n".join(line.rstrip() for line in lines)


def format_coefficients(table, width=WIDTH):
    """Write one line for each coefficient, and a heading.

    Parameters
    ----------
    table : CoefficientTable
        The coefficients.
    width : int or float, default=80
        Longest line.

    Returns
    -------
    lines : list of str
        Columns aligned.
    names_are_cut : bool
        Whether there are names that had to be shortened.
    """
    share = f"{100 * (1 - table.level) / 2:g}%"
    other = f"{100 * (1 + table.level) / 2:g}%"
    heading = ["coef", "std. error", table.statistic_name, "p", share, other, ""]
    low, high = table.confidence_intervals.T
    columns = (table.estimates, table.standard_errors, table.statistics)

    def make_cells(row, digits):
        numbers = [format_number(column[row], digits) for column in columns]
        p_value = table.p_values[row]
        limits = [format_number(limit[row], digits) for limit in (low, high)]
        return [*numbers, format_p(p_value), *limits, find_mark(p_value).ljust(3)]

    return align_named(table.names, heading, make_cells, width)


def align_named(names, heading, make_cells, width=WIDTH):
    """Align names and numbers in lines that are not too long.

    Long names are shortened, and numbers get fewer digits if names would become too
    short.

    Parameters
    ----------
    names : sequence of str
        The names.
    heading : list of str
        Headings of the other columns.
    make_cells : callable
        Returns the other cells of a row from its number and the number of digits.
    width : int or float, default=80
        Longest line.

    Returns
    -------
    lines : list of str
        The heading, and one line for each name.
    names_are_cut : bool
        Whether there are names that had to be shortened.
    """
    longest = max(map(measure_width, names), default=0)
    for digits in (5, 4, 3):
        cells = [make_cells(row, digits) for row in range(len(names))]
        lines = align_columns([heading, *cells], "r")
        room = width - 2 - max(map(measure_width, lines))
        if room >= min(longest, ENOUGH_FOR_A_NAME):
            break
    shown = shorten_names(names, room)
    rows = [[name, *row] for name, row in zip(shown, cells, strict=True)]
    return align_columns([["", *heading], *rows]), shown != [*names]


def shorten(text, room):
    """Leave out the middle of a text that is too wide; at least five columns remain."""
    if measure_width(text) <= room:
        return text
    room = max(room, 5) - len(GAP)
    begin = _cut(text, room - room // 2)
    return begin + GAP + _cut(text[::-1], room // 2)[::-1]


def shorten_names(names, room):
    """Shorten names; those that would become equal get their numbers, from 1."""
    shown = [shorten(name, room) for name in names]
    counts = Counter(shown)
    for place, (name, short) in enumerate(zip(names, shown, strict=True)):
        if counts[short] > 1 and short != name:
            number = f"#{place + 1}"
            shown[place] = (
                _cut(name, max(room - len(GAP) - len(number), 1)) + GAP + number
            )
    return shown


def _cut(text, room):
    """Take the beginning of a text that fits."""
    widths = np.cumsum([measure_width(letter) for letter in text])
    return text[: int(np.searchsorted(widths, room, side="right"))]


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


def format_number(number, digits=5):
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
