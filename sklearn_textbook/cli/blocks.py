"""What the commands tell, as data: headings, lines, trees, rules and summaries.

Functions whose names begin with ``report_`` give such blocks, texts and `TextTable`
objects; ``output`` writes them on a terminal, ``html_report`` on a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sklearn_textbook._contract.text_table import TextTable
from sklearn_textbook.io.naming import count_things
from sklearn_textbook.tree import export_text


@dataclass(frozen=True)
class Heading:
    """A heading, and a note beside it."""

    text: str
    note: str = ""


@dataclass(frozen=True)
class Note:
    """A remark."""

    text: str


@dataclass(frozen=True)
class Line:
    """A line of text that may be long, and its emphasized beginning."""

    text: str
    start: str = ""


@dataclass(frozen=True)
class Tree:
    """A tree down to some depth, and some of the surrogates of its tests."""

    estimator: object
    max_depth: int | None = None
    max_surrogates: int | None = None

    def write(self, width: int | None = None) -> str:
        """Write the tree as text."""
        return export_text(
            self.estimator,
            max_depth=self.max_depth,
            max_surrogates=self.max_surrogates,
            max_width=width,
        )


@dataclass(frozen=True)
class RuleLines:
    """Rules, one a line, and marks before them such as their numbers."""

    lines: Sequence[str]
    marks: Sequence[str]


@dataclass(frozen=True)
class Summary:
    """The summary of a linear model, with some of the models that it averages."""

    estimator: object
    n_models: int | None = None

    def write(self, width: int | None = None) -> str:
        """Write the summary as text."""
        is_average = hasattr(self.estimator, "posterior_table_")
        options = {"n_models": self.n_models} if is_average else {}
        return self.estimator.summary(width=width, **options)


def count_more(number: int, what: str, remedy: str = "") -> list[str]:
    """Write the line that counts what a table leaves out, if it does."""
    return [f"... and {count_things(number, what)}{remedy}"] if number > 0 else []


Block = str | Heading | Note | Line | Tree | RuleLines | Summary | TextTable
Blocks = Iterator[Block]
