"""Printed text: coloured on a terminal, plain and unwrapped in a pipe."""

from __future__ import annotations

import sys

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

# Lines are not wrapped in a pipe.
_NO_EDGE = 100_000
# Levels may be the same words; they are in braces or quotes, or follow an equals sign.
_RULE_WORDS = r"\{[^}]*\}|\"[^\"]*\"|(?P<cyan>(?<!= )\b(?:IF|AND|THEN|ELSE|ALWAYS)\b)"


class Output:
    """Where a command writes.

    Parameters
    ----------
    stream : text stream, default=None
        None is the standard output.
    """

    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        console = Console(file=self.stream, highlight=False, markup=False, emoji=False)
        self.is_terminal = console.is_terminal
        if not self.is_terminal:
            console = Console(
                file=self.stream,
                width=_NO_EDGE,
                color_system=None,
                highlight=False,
                markup=False,
                emoji=False,
            )
        self.console = console

    @property
    def width(self):
        """Columns of the terminal; in a pipe, practically no limit."""
        return self.console.width

    def write(self, *things, wrap=False):
        """Write lines of text or rich renderables.

        Parameters
        ----------
        *things : str or rich renderable
            What to write, each from the beginning of a line.
        wrap : bool, default=False
            Whether long lines are wrapped between words on a terminal.
        """
        with self.console.capture() as capture:
            for thing in things:
                if isinstance(thing, _CutTable):
                    _keep_columns_whole(thing, self.width)
                self.console.print(thing, soft_wrap=not wrap)
        # rich pads the cells of the last column.
        lines = [line.rstrip(" ") for line in capture.get().split("\n")]
        self.stream.write("\n".join(lines))

    def hang(self, text, indent=4):
        """Wrap a long text on a terminal, further lines indented; elsewhere keep it."""
        if not self.is_terminal:
            return text
        first, rest = text[:indent], text[indent:]
        lines = rest.wrap(self.console, max(self.console.width - indent, 20))
        return Text.assemble(first, Text("\n" + " " * indent).join(lines))

    def heading(self, text, note=""):
        """Write an empty line and a heading with a note beside it."""
        line = Text(text, style="bold")
        if note:
            line.append(f"  {note}", style="not bold dim")
        self.write("", line, wrap=True)

    def notes(self, notes):
        """Write notes, one per line."""
        for note in notes:
            self.write(Text(f"note: {note}", style="yellow"), wrap=True)


class _CutTable(Table):
    """A table of which some columns may be cut."""

    cut = ()


def make_table(*headers, right=(), widths=None, cut=()):
    """Make a table without lines.

    On a terminal that is too narrow, the columns of ``cut`` are shortened, and others
    wrapped if they need more than half of it; these lose nothing.

    Parameters
    ----------
    *headers : str
        Headers of the columns.
    right : sequence of str, default=()
        Headers of the right-aligned columns.
    widths : dict of str to int, default=None
        Least widths of columns.
    cut : sequence of str, default=()
        Headers of the columns whose values may be shortened.

    Returns
    -------
    table : rich.table.Table
        The table, without rows.
    """
    table = _CutTable(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim"
    )
    table.cut = cut
    for header in headers:
        table.add_column(
            header,
            justify="right" if header in right else "left",
            overflow="fold",
            min_width=(widths or {}).get(header),
        )
    return table


def _measure_columns(table):
    """Return the width of the longest cell of every column."""
    return [
        max(cell_len(str(cell)) for cell in (column.header, *column.cells))
        for column in table.columns
    ]


def measure_width(table):
    """Return the width at which a table is neither cut nor wrapped."""
    widths = _measure_columns(table)
    return sum(widths) + 2 * (len(widths) - 1)


def _keep_columns_whole(table, room):
    """Let columns that are not cut keep their width; the first, up to half the room."""
    for column, width in zip(table.columns, _measure_columns(table), strict=True):
        if column.header not in table.cut and width <= room // 2:
            column.no_wrap = True
            column.min_width = max(column.min_width or 0, width)


class ShortCell:
    """A cell that is cut between entries at the width of its column, never wrapped.

    Parameters
    ----------
    text : str
        Its entries, separated by commas.
    """

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    def __rich_measure__(self, console, options):
        return Measurement.get(console, options, Text(self.text))

    def __rich_console__(self, console, options):
        text = cut_between_entries(self.text, options.max_width)
        yield Text(text, no_wrap=True, overflow="ellipsis")


def cut_between_entries(text, width):
    """Cut a text after a comma, or at least after a word, where there is one."""
    if cell_len(text) <= width:
        return text
    for separator in (", ", " "):
        parts = text.split(separator)
        for n_parts in range(len(parts) - 1, 0, -1):
            cut = separator.join(parts[:n_parts]) + f"{separator}…"
            if cell_len(cut) <= width:
                return cut
    return text


def paint_tree(text):
    """Dim the branches of a tree written as text, and emphasize its predictions."""
    painted = Text(text.rstrip("\n"))
    painted.highlight_regex(r"(?m)^[| \-]+", "dim")
    painted.highlight_regex(
        r"(?m)(?<=: )[^:\n]+(?= \([^()]*rows?\b[^()]*\)$)", "bold green"
    )
    painted.highlight_regex(r"(?m)\([^()]*rows?\b[^()]*\)$", "dim")
    return painted


def paint_rules(text):
    """Emphasize the keywords of rules written as text, and dim their numbers."""
    painted = Text(text.rstrip("\n"))
    painted.highlight_regex(_RULE_WORDS)
    painted.highlight_regex(r"(?m)(?<= THEN ).*(?= \[support)", "bold green")
    painted.highlight_regex(r"(?m)(?<=^ELSE )(?!IF ).*(?= \[support)", "bold green")
    painted.highlight_regex(r"(?m)\[support.*\]$", "dim")
    return painted
