"""What source code in all languages shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np

from sklearn_textbook.exchange.model_steps import ModelSteps
from sklearn_textbook.exchange.score_program import ScoreProgram, write_tables
from sklearn_textbook.exchange.tree_sum import TreeSum
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.encode.columns import BOOLEAN, NULL, TEMPORAL
from sklearn_textbook.tree.grow.layout import NOMINAL, OBLIQUE

#: Largest number of nodes that have comments.
MAX_COMMENTED = 2000


@cache
def read_templates():
    """Find the templates, or raise ImportError with the command to install Jinja."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("export_code requires jinja2: pip install jinja2.") from error
    return jinja2.Environment(
        loader=jinja2.PackageLoader("sklearn_textbook.exchange"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **values) -> str:
    """Fill in a template of the folder ``templates``."""
    return read_templates().get_template(template).render(values)


def write_rows(
    rows: list[tuple],
    number: Callable,
    brackets: str,
    n_nested: int = 0,
    comments: list[str] | None = None,
) -> str:
    """Write the records of a table, a line each with its comment.

    ``brackets`` are the two that enclose a record, whose first ``n_nested`` fields are
    a record of their own.
    """
    opening, closing = tuple(brackets)
    # "(1)" would be no tuple in Python.
    end = f",{closing}" if opening == "(" else closing
    lines = []
    for place, row in enumerate(rows):
        words = [number(value) for value in row]
        if n_nested:
            nested = f"{opening}{', '.join(words[:n_nested])}{closing}"
            words[:n_nested] = [nested]
        line = f"    {opening}{', '.join(words)}{end},"
        lines.append(line + (comments[place] if comments else ""))
    return "\n".join(lines)


def write_numbers(values, per_line: int = 16):
    """Write integers in lines."""
    starts = range(0, len(values), per_line)
    parts = [", ".join(map(str, values[i : i + per_line])) for i in starts]
    return "\n".join(f"    {part}," for part in parts)


def comment_nodes(program, quote, style):
    """Write what every node tests, for models of a readable size."""
    trees = [part.tree for part in program.parts]
    if sum(tree.node_count for tree in trees) > MAX_COMMENTED:
        return None
    columns = program.total.schema.columns
    comments = []
    for number, tree in enumerate(trees):
        first = len(comments)
        for node, record in enumerate(tree.nodes):
            text = f"{first + node}"
            if node == 0 and len(trees) > 1:
                text += f" (tree {number})"
            if not tree.is_leaf[node]:
                column = columns[record["feature"]]
                text += f": {quote(column.name)}"
                if record["kind"] == OBLIQUE:
                    text += " and others: a sum"
                elif record["kind"] != NOMINAL and column.levels is None:
                    value = column.format_value(float(record["threshold"]))
                    text += f" <= {value}"
            comments.append(style.format(text))
    return comments


def list_level_groups(column, language: str):
    """List the levels of a column with their codes: the strings, and the numbers."""
    strings, numbers = [], []
    for code, level in enumerate(column.levels):
        if isinstance(level, str):
            strings.append((level, code))
            continue
        require_exact(level, f"The level {level} of column {column.name!r}", language)
        numbers.append((float(level), code))
    return strings, numbers


def require_exact(value, what, language) -> None:
    """Raise ValueError for an integer that float64 cannot represent."""
    try:
        is_exact = float(value) == value
    except OverflowError:
        is_exact = False
    if not is_exact:
        raise ValueError(
            f"{what} is an integer that numbers of {language} cannot represent "
            "exactly. Use strings instead."
        )


def describe_model(program) -> str:
    """Describe the model and its size."""
    trees = [part.tree for part in program.parts]
    if not trees:
        return f"{type(program.total.model).__name__} of sklearn_textbook."
    n_nodes = sum(tree.node_count for tree in trees)
    return (
        f"{type(program.total.model).__name__} of sklearn_textbook: "
        f"{len(trees)} tree{'s' * (len(trees) > 1)} with {n_nodes} nodes."
    )


def describe_columns(
    schema: TableSchema,
    quote: Callable,
    missing: str,
    refuses_missing: bool = False,
    encoders: Mapping = MappingProxyType({}),
) -> list[str]:
    """Describe the columns of a row, and how missing values are written.

    ``encoders`` names what turns the levels of columns into codes, by column.
    """
    lines = []
    for number, column in enumerate(schema.columns):
        what = "number"
        if column.source in TEMPORAL:
            what = TEMPORAL[column.source]
        elif column.source == BOOLEAN:
            what = "0 or 1"
        elif column.source == NULL:
            what = "not used, as training had no values"
        if column.levels is not None:
            what = f"one of {len(column.levels)} levels"
            if column.source in TEMPORAL:
                what += f", {TEMPORAL[column.source]}"
            if number in encoders:
                what += f", as a code: {encoders[number]}; -1 is any other level"
        lines.append(f"{number}: {quote(column.name)}, {what}")
    end = "none is allowed" if refuses_missing else missing
    return [*lines, f"missing values: {end}"]


def describe_predictions(total: TreeSum, quote: Callable) -> list[str]:
    """Describe what is predicted."""
    if not total.is_classifier:
        return [f"Predicts {total.n_outputs} value{'s' * (total.n_outputs > 1)}."]
    lines = []
    for number, classes in enumerate(total.classes):
        of = f" of output {number}" if total.n_outputs > 1 else ""
        names = [f"{i}: {quote(str(name))}" for i, name in enumerate(classes)]
        lines.append(f"Classes{of}, by number: {', '.join(names[:20])}")
        if len(names) > 20:
            lines[-1] += f", ... ({len(names)})"
    return lines


def describe_steps(steps: ModelSteps) -> str:
    """Describe a model that consists of steps."""
    n_steps = len(steps.steps)
    return f"{type(steps.model).__name__}: {n_steps} step{'s' * (n_steps > 1)}"


def write_program(
    program: ScoreProgram, template: str, list_texts: Callable, **options
) -> str:
    """Write a single program by the template of a language, and what it needs."""
    total, flags = program.total, program.list_flags()
    tables = write_tables(program, flags)
    divides_last = program.divisor != 1.0 and not program.divides_first
    values = {
        "program": program,
        "total": total,
        "tables": tables,
        "about": describe_model(program),
        "about_scores": SCORES[total.link].format(scale=total.scale) + ".",
        "scale": float(total.scale),
        "last_division": f" / {program.divisor!r}" if divides_last else "",
        "final_tolerance": 0.0 if program.votes else program.tolerance,
        "n_levels": write_numbers(total.schema.n_levels.tolist()),
        "maps": write_numbers(tables.maps),
    }
    return render(template, **flags, **values, **list_texts(program, tables, **options))


SCORES = {
    "identity": "Scores: the predictions themselves",
    "expit": "Scores: of the second class, whose probability is expit({scale} * score)",
    "softmax": "Scores: of every class; probabilities are softmax({scale} * scores)",
    "exp": "Scores: the logarithms of the predictions",
    "positive_fractions": "Scores: of every class; probabilities are shares of those "
    "> 0",
    "clipped_fractions": "Scores: of every class; probabilities are shares of "
    "min(max(score, 0), 1)",
    "scores": "Scores: of every class, of which the largest is predicted",
    "logit": "Scores: the log odds of the predictions",
    "cloglog": "Scores: log(-log(1 - prediction))",
    "inverse": "Scores: the reciprocals of the predictions",
    "power": "Scores: the predictions are their powers, score^{scale}",
}


def to_plain(value):
    """Turn a class label into a value of Python, or raise ValueError."""
    value = value.item() if isinstance(value, np.generic) else value
    value = str(value) if isinstance(value, str) else value
    if not isinstance(value, str | bool | int | float):
        raise ValueError(
            "Class labels must be strings, booleans or numbers to be written as source "
            f"code; got {value!r} of type {type(value).__name__}."
        )
    return value


def list_labels(program):
    """List the class labels of every output."""
    return [[to_plain(v) for v in classes] for classes in program.total.classes]
