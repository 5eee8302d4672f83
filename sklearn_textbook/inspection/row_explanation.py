"""Explanations of predictions as records, and their text."""

from __future__ import annotations

from dataclasses import dataclass, field

from sklearn_textbook._contract.html import join, make, make_table
from sklearn_textbook._contract.text_table import (
    TextTable,
    align_columns,
    measure_width,
)
from sklearn_textbook.tree.explain.lettering import break_lines, shorten

#: Width of the text, and of a value of a column in its tables.
WIDTH, VALUE_WIDTH = 79, 18
#: Maximum number of explanations that are printed.
SHOWN_ROWS = 10


@dataclass(frozen=True)
class RowTest:
    """A test that a row meets on its way through a tree.

    Parameters
    ----------
    node : int
        Number of the node of the test.
    child : int
        Number of the node to which it leads.
    column : str or tuple of str
        The tested column; the columns of an oblique test.
    value : float, bool, int, str, tuple or None
        Its value; None if it is missing.
    condition : str
        The condition of the branch that the row follows.
    reason : str
        Why the row follows the branch if its value does not decide: that it is missing
        or unknown, and what is done then. Otherwise empty.
    part : float
        Part of the row that follows the branch, 1 unless a row is divided.
    n_samples : int
        Training rows that follow the branch.
    share : float
        Part of the weight of the training rows at the test that follows the branch.
    before, after : dict, float or list
        Prediction before and after the test: the probability of each class, or a value;
        a list for several outputs.
    terms : tuple of (str, float)
        What the columns of an oblique test add to its sum, the largest first.
    """

    node: int
    child: int
    column: str | tuple
    value: object
    condition: str
    reason: str
    part: float
    n_samples: int
    share: float
    before: object
    after: object
    terms: tuple = ()


@dataclass(frozen=True)
class RowLeaf:
    """A node in which a row ends.

    Parameters
    ----------
    node : int
        Number of the node.
    part : float
        Part of the row that ends there, 1 unless a row is divided.
    condition : str
        The conditions on the way, of each column one.
    n_samples : int
        Training rows in the node.
    weight : float
        Their weight.
    prediction : object
        The class or value; a list for several outputs.
    distribution : dict, list of dict, or None
        Proportion of each class among the training rows; None in regression.
    confidence : float, list of float, or None
        Proportion of the predicted class among them; None in regression.
    """

    node: int
    part: float
    condition: str
    n_samples: int
    weight: float
    prediction: object
    distribution: object
    confidence: object


@dataclass(frozen=True)
class Contribution:
    """What a column contributes to a score.

    Parameters
    ----------
    column : str
        The column.
    value : float, bool, int, str or None
        Its value in the row; None if it is missing.
    amount : float
        Its Shapley value.
    """

    column: str
    value: object
    amount: float


@dataclass(frozen=True)
class RowExplanation:
    """Explanation of the prediction for a row.

    Printed, it is a sentence and a table; in a notebook an HTML table.

    Parameters
    ----------
    row : int
        Position of the row in the table.
    prediction : object
        What ``model.predict`` returns for the row.
    probabilities : dict, list of dict, or None
        The probability of each class, a dictionary for each of several outputs; None in
        regression, and for models without ``predict_proba``.
    sentence : str
        The explanation.
    path : tuple of RowTest
        The tests of the row in a tree, in the order of the path; empty for ensembles.
    leaves : tuple of RowLeaf
        Where it ends; several if a missing value or unknown level divides it.
    contributions : tuple of Contribution
        Those of all columns of an ensemble, the largest first; empty for trees.
    base : float or None
        The score of an ensemble if no column is known.
    score : float or None
        The score: the base and all contributions.
    score_name : str or None
        What the score is.
    title : str
        The prediction in words.
    header, lines : list of str, list of list of str
        The table that is printed.
    """

    row: int
    prediction: object
    probabilities: object
    sentence: str
    path: tuple = ()
    leaves: tuple = ()
    contributions: tuple = ()
    base: float | None = None
    score: float | None = None
    score_name: str | None = None
    title: str = field(default="", repr=False)
    header: list = field(default_factory=list, repr=False)
    lines: list = field(default_factory=list, repr=False)

    @property
    def leaf(self):
        """The node in which the largest part of the row ends; None for ensembles."""
        return max(self.leaves, key=lambda leaf: leaf.part, default=None)

    def __str__(self):
        head = f"Row {self.row}: {self.title}"
        text = [f"  {line}" for line in break_lines(f"{self.sentence}.", WIDTH - 2)]
        table = [f"  {line}" for line in align(self.header, self.lines, WIDTH - 2)]
        return "\n".join([head, *text, *([""] if table else []), *table])

    def _repr_html_(self):
        title = make("b", f"Row {self.row}: {self.title}")
        head = make("p", title, make("br"), f"{self.sentence}.")
        return join(head, make_table(TextTable(self.header, self.lines)))


class Explanations(list):
    """A list of explanations, one per row, which prints the first ten."""

    def __str__(self):
        return "\n\n".join([*map(str, self[:SHOWN_ROWS]), *self._count_others()])

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        shown = [entry._repr_html_() for entry in self[:SHOWN_ROWS]]
        return "".join([*shown, *(f"<p>{text}</p>" for text in self._count_others())])

    def _count_others(self):
        n_more = len(self) - SHOWN_ROWS
        return [f"... and {n_more:,} more rows"] if n_more > 0 else []


def align(header: list, lines: list, width: int) -> list[str]:
    """Write a table of some width, of which long cells are shortened."""
    if not lines:
        return []
    table = [
        [first, *(shorten(cell, VALUE_WIDTH) for cell in others)]
        for first, *others in [header, *lines]
    ]
    rest = max(map(measure_width, align_columns([row[1:] for row in table], "r")))
    longest = max(measure_width(row[0]) for row in table)
    room = min(longest, max(20, width - rest - 2))
    head, *firsts = (shorten(row[0], room) for row in table)
    firsts = [head.ljust(room), *firsts]
    return align_columns(
        [first, *row[1:]] for first, row in zip(firsts, table, strict=True)
    )
