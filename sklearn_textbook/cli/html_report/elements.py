"""What the commands tell as elements of a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sklearn_textbook._contract.html import Html, join, make, make_table
from sklearn_textbook._contract.text_table import TextTable
from sklearn_textbook.cli.blocks import (
    Block,
    Heading,
    Line,
    Note,
    RuleLines,
    Summary,
    Tree,
    count_more,
)
from sklearn_textbook.cli.models import (
    MOST_ROWS,
)

_COEFFICIENTS = (
    "The coefficient is the change of the prediction (in a generalised linear or "
    "logistic model, of its linear predictor) per unit of the column, all others "
    "being equal; p is the probability of an estimate at least as far from 0 if "
    "the coefficient is 0."
)


def write_blocks(blocks: Iterable[Block], additions: dict | None = None) -> Html:
    """Write blocks, and additions below the headings of some texts."""
    parts = []
    for block in blocks:
        parts.append(_write_block(block))
        if additions and isinstance(block, Heading):
            parts.append(additions.get(block.text, Html()))
    return join(*parts)


def _write_block(block):
    match block:
        case Heading(text, note):
            heading = make("h3", text[:1].upper() + text[1:])
            return join(heading, make("p", note, class_="note") if note else "")
        case Note(text):
            return make("p", f"Note: {text}", class_="remark")
        case Line(text, start):
            return _write_block(start + text)
        case Tree():
            text = scroll(make("pre", block.write().rstrip("\n")), "tree")
            return fold("The tree as text", text)
        case RuleLines(lines, marks):
            items = [
                make("li", make("code", mark + line))
                for mark, line in zip(marks, lines, strict=True)
            ]
            return make("ul", *items, class_="lines")
        case Summary():
            return _write_summary(block)
        case TextTable():
            return write_table(block)
    return make("p", block) if block else Html()


def write_table(table: TextTable, label: str = "table", caption: str | None = None):
    """Write a table in a box that scrolls if it is too wide; the label names it."""
    made = scroll(make_table(table, caption), caption or label)
    return join(made, *(make("p", line) for line in table.more))


def _write_summary(summary):
    """Write the coefficients with their uncertainty, if known, and the summary."""
    text = scroll(make("pre", summary.write()), "summary")
    table = getattr(summary.estimator, "coefficient_table_", None)
    if table is None or isinstance(table, list):
        return text
    # Imported here because it imports scikit-learn.
    from sklearn_textbook.linear_model.inference.summary import tabulate_coefficients

    made = tabulate_coefficients(table)
    n_more = len(made.rows) - MOST_ROWS
    heads, rows = ["column", *made.heads[1:]], made.rows[:MOST_ROWS]
    made = replace(made, heads=heads, rows=rows, more=count_more(n_more, "more row"))
    coefficients = join(write_table(made, "coefficients"), write_help(_COEFFICIENTS))
    return join(coefficients, fold("Statistics of the fit", text))


def write_help(text: str) -> Html:
    """Write how something is to be read."""
    return make("p", text, class_="help")


def scroll(content: Html, label: str) -> Html:
    """Put wide content into a box that scrolls, also by the keyboard."""
    return make(
        "div", content, class_="scroll", tabindex="0", role="region", aria_label=label
    )


def fold(title: str, *content: Html) -> Html:
    """Hide content until its title is clicked."""
    return make("details", make("summary", title), *content)


def list_terms(terms: dict[str, str]) -> Html:
    """Write a list of terms and what is said of each."""
    parts = [join(make("dt", name), make("dd", text)) for name, text in terms.items()]
    return make("dl", *parts)
