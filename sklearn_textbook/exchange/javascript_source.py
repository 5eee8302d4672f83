"""Source code as a module of JavaScript."""

from __future__ import annotations

import json
import re

import numpy as np

from sklearn_textbook.exchange.model_steps import ModelSteps
from sklearn_textbook.exchange.score_program import ScoreProgram, Tables
from sklearn_textbook.exchange.source_parts import (
    comment_nodes,
    describe_columns,
    describe_predictions,
    describe_steps,
    list_labels,
    list_level_groups,
    render,
    require_exact,
    write_program,
    write_rows,
)
from sklearn_textbook.linear_model.generalized.links import EPSILON
from sklearn_textbook.tree.encode.columns import NULL, STRING, TEMPORAL

MISSING = "null, undefined or NaN"
#: Predicted values from scores, by the link.
VALUES = {
    "exp": "Math.exp(s)",
    "logit": f"Math.min(Math.max(1 / (1 + Math.exp(-s)), {EPSILON}), 1 - {EPSILON})",
    "cloglog": "Math.min(Math.max(-Math.expm1(-Math.exp(Math.min(s, 700))), "
    f"{EPSILON}), 1 - {EPSILON})",
    "inverse": "1 / s",
    "power": "s ** {scale!r}",
}


def write_number(value):
    """Write a number, exactly."""
    if isinstance(value, float) and not np.isfinite(value):
        return f"{'-' * (value < 0)}{'Infinity' if np.isinf(value) else 'NaN'}"
    return repr(value)


def quote(text):
    """Write a string literal that is also valid in comments."""
    return json.dumps(str(text))


def takes_numerals(column):
    """Whether a column of numbers was read from strings."""
    return column.source == STRING and column.levels is None


def write_column(column) -> str:
    """Write the allowed values of a column as an object literal."""
    levels, types = "null", []
    if column.levels is not None:
        strings, numbers = list_level_groups(column, "JavaScript")
        pairs = [f"[{quote(level)}, {code}]" for level, code in strings]
        pairs += [f"[{write_number(level)}, {code}]" for level, code in numbers]
        levels = f"new Map([{', '.join(pairs)}])"
        types = ["string"] * bool(strings) + ["number"] * bool(numbers)
    properties = {
        "unused": column.source == NULL,
        "temporal": column.source in TEMPORAL,
        "numerals": takes_numerals(column),
    }
    true = "".join(f" {name}: true," for name, holds in properties.items() if holds)
    return (
        f"  {{ name: {quote(column.name)},{true} types: {json.dumps(types)}, "
        f"levels: {levels} }},"
    )


def write_labels(program):
    """Write the class labels as a literal."""
    written = []
    for labels in list_labels(program):
        for label in labels:
            if isinstance(label, int):
                require_exact(label, f"The class label {label}", "JavaScript")
        words = [
            write_number(label) if isinstance(label, float) else json.dumps(label)
            for label in labels
        ]
        written.append(f"[{', '.join(words)}]")
    if program.total.n_outputs == 1 and written:
        return written[0]
    return f"[{', '.join(written)}]"


def list_texts(program: ScoreProgram, tables: Tables) -> dict:
    """List what the template needs besides the program."""
    total, rows = program.total, tables.rows
    columns = describe_columns(total.schema, quote, MISSING, program.refuses_missing)
    predictions = describe_predictions(total, quote)
    node_fields = enumerate(tables.fields["nodes"])
    comments = comment_nodes(program, quote, " // {}")
    temporal = [c.source in TEMPORAL for c in total.schema.columns]
    if any(temporal):
        columns.append("a date is a Date, or such a number of seconds")
    texts = {
        "columns": columns,
        "predictions": predictions,
        "column_rows": map(write_column, total.schema.columns),
        "labels": write_labels(program),
        "node_fields": ", ".join(f"{n.upper()} = {i}" for i, n in node_fields),
        "nodes": write_rows(rows["nodes"], write_number, "[]", comments=comments),
        **{
            name: write_rows(rows[name], write_number, "[]")
            for name in ("surrogates", "terms", "slopes", "values", "trees", "linear")
        },
        "start": map(write_number, total.start.tolist()),
        "to_values": "",
        "temporal": any(temporal),
        "numerals": any(map(takes_numerals, total.schema.columns)),
    }
    if total.link in VALUES:
        value = VALUES[total.link].format(scale=total.scale)
        texts["to_values"] = f".map((s) => {value})"
    return texts


def write_javascript(steps: ModelSteps) -> str:
    """Write a model as a module of JavaScript."""
    if steps.is_single:
        return write_program(steps.program, "program.js.jinja", list_texts)
    sources = []
    for step in steps.steps:
        total = step.program.total
        n_classes = sum(map(len, total.classes))
        kinds = {
            "values": "(row) => [predict(row)].flat()",
            "probabilities": "predictProba",
            "scores": "predictScores",
            "votes": (
                "(row) => predictClasses(row).flatMap((c) => "
                f"Array.from({{ length: {n_classes} }}, (_, k) => (k === c ? 1 : 0)))"
            ),
        }
        given = f"[{', '.join(kinds[kind] for kind in step.gives)}]"
        if not step.gives:
            names = ["predict", "predictScores"]
            names += ["classes", "predictClasses"] * total.is_classifier
            names += ["predictProba"] * (total.is_classifier and total.link != "scores")
            given = f"{{ {', '.join(names)} }}"
        source = write_program(step.program, "program.js.jinja", list_texts)
        source = re.sub("^export ", "", source, flags=re.MULTILINE)
        sources.append((source.rstrip(), given))
    total = steps.program.total
    return render(
        "steps.js.jinja",
        about=describe_steps(steps),
        columns=describe_columns(steps.schema, quote, MISSING),
        predictions=describe_predictions(total, quote),
        total=total,
        steps=sources,
        names=f"[{', '.join(map(quote, steps.schema.names))}]",
        places=[list(step.places) for step in steps.steps],
    )
