"""Source code as a module of Python."""

from __future__ import annotations

from textwrap import indent

import numpy as np

from sklearn_textbook.exchange.model_steps import ModelSteps
from sklearn_textbook.exchange.score_program import ScoreProgram, Tables
from sklearn_textbook.exchange.source_parts import (
    comment_nodes,
    describe_columns,
    describe_predictions,
    describe_steps,
    list_labels,
    render,
    to_plain,
    write_program,
    write_rows,
)
from sklearn_textbook.linear_model.generalized.links import EPSILON
from sklearn_textbook.tree.encode.columns import NULL, STRING, TEMPORAL
from sklearn_textbook.tree.explain.rule_python import SECONDS

MISSING = "None, NaN or pandas.NA"
#: Predicted values from scores, by the link.
VALUES = {
    "exp": "math.exp(s)",
    "logit": f"min(max(expit(s), {EPSILON}), 1.0 - {EPSILON})",
    "cloglog": f"min(max(-math.expm1(-math.exp(min(s, 700.0))), {EPSILON}), "
    f"1.0 - {EPSILON})",
    "inverse": "(1.0 / s if s else math.copysign(math.inf, s))",
    "power": "power(s, {scale!r})",
}


def write_number(value):
    """Write a number, exactly."""
    if isinstance(value, float) and not np.isfinite(value):
        return f"{'-' * (value < 0)}math.{'inf' if np.isinf(value) else 'nan'}"
    return repr(value)


def quote_plain(text):
    """Quote a name for a docstring or comment."""
    return ascii(str(text)).replace("\\", "/").replace('"', "'")


def write_column(column) -> str:
    """Write the allowed values of a column as a tuple."""
    source = column.source
    if source not in TEMPORAL and source not in (STRING, NULL):
        source = "number"
    codes = None
    if column.levels is not None:
        codes = {to_plain(level): code for level, code in column.codes.items()}
    return f"    ({str(column.name)!r}, {source!r}, {codes!r}),"


def list_texts(program: ScoreProgram, tables: Tables) -> dict:
    """List what the template needs besides the program."""
    total, rows = program.total, tables.rows
    columns = describe_columns(
        total.schema, quote_plain, MISSING, program.refuses_missing
    )
    comments = comment_nodes(program, quote_plain, "  # {}")
    labels = list_labels(program)
    is_one = total.n_outputs == 1 and bool(labels)
    texts = {
        "columns": columns,
        "predictions": describe_predictions(total, quote_plain),
        "temporal": any(column.source in TEMPORAL for column in total.schema.columns),
        "to_seconds": SECONDS.rstrip(),
        "column_rows": map(write_column, total.schema.columns),
        "labels": repr(labels[0] if is_one else labels),
        "nodes": write_rows(rows["nodes"], write_number, "()", comments=comments),
        **{
            name: write_rows(rows[name], write_number, "()")
            for name in ("surrogates", "terms", "slopes", "values", "trees", "linear")
        },
        "start": map(write_number, total.start.tolist()),
        "predicted": "predict_scores(row)",
    }
    if total.link in VALUES:
        value = VALUES[total.link].format(scale=total.scale)
        texts["predicted"] = f"[{value} for s in predict_scores(row)]"
    return texts


def write_python(steps: ModelSteps) -> str:
    """Write a model as a module of Python."""
    if steps.is_single:
        return write_program(steps.program, "program.py.jinja", list_texts)
    sources = []
    for step in steps.steps:
        n_classes = sum(map(len, step.program.total.classes))
        is_one = step.program.total.n_outputs == 1
        kinds = {
            "values": f"lambda row: {'[predict(row)]' if is_one else 'predict(row)'}",
            "probabilities": "predict_proba",
            "scores": "predict_scores",
            "votes": (
                "lambda row: [float(k == c) for c in predict_classes(row) "
                f"for k in range({n_classes})]"
            ),
        }
        given = "locals()"
        if step.gives:
            given = f"({' '.join(f'{kinds[kind]},' for kind in step.gives)})"
        source = write_program(step.program, "program.py.jinja", list_texts)
        sources.append((indent(source.rstrip(), "    "), given))
    total = steps.program.total
    return render(
        "steps.py.jinja",
        about=describe_steps(steps),
        columns=describe_columns(steps.schema, quote_plain, MISSING),
        predictions=describe_predictions(total, quote_plain),
        total=total,
        steps=sources,
        names=tuple(str(name) for name in steps.schema.names),
        places=[step.places for step in steps.steps],
    )
