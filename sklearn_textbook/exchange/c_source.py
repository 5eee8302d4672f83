"""Source code in C99."""

from __future__ import annotations

import re

import numpy as np

from sklearn_textbook.exchange.c_template import ENCODE_NUMBER, ENCODE_TEXT
from sklearn_textbook.exchange.score_program import REAL_FIELDS
from sklearn_textbook.exchange.source_parts import (
    comment_nodes,
    describe_columns,
    describe_predictions,
    list_labels,
    list_level_groups,
    write_rows,
)
from sklearn_textbook.linear_model.generalized.links import EPSILON

#: Predicted values from scores, by the link.
VALUES = {
    "exp": "exp(s)",
    "logit": f"fmin(fmax(1.0 / (1.0 + exp(-s)), {EPSILON}), 1.0 - {EPSILON})",
    "cloglog": f"fmin(fmax(-expm1(-exp(fmin(s, 700.0))), {EPSILON}), 1.0 - {EPSILON})",
    "inverse": "1.0 / s",
    "power": "pow(s, {scale!r})",
}


def quote(text):
    """Quote a name for a comment."""
    quoted = ascii(text).replace("*/", "*\\/").replace("/*", "/\\*")
    return quoted.replace("??", "?\\?")


def write_string(text, what):
    """Write a string literal in UTF-8."""
    try:
        code = text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"{what} {text!r} has a surrogate character, which a UTF-8 string in C "
            "cannot contain."
        ) from None
    if 0 in code:
        raise ValueError(f"{what} {text!r} has a NUL character, which ends C strings.")
    plain = {ord(" "), *range(ord("0"), ord("9") + 1)} | {
        byte for letters in ("az", "AZ") for byte in range(*map(ord, letters))
    }
    plain |= set(b"zZ.,;:-_+()<>=!/'#$%&*@[]{}|~^`")
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in code) + '"'


def write_number(value):
    """Write a number, exactly."""
    if isinstance(value, int):
        return str(value)
    if np.isnan(value):
        return "(double)NAN"
    if np.isinf(value):
        return "(double)INFINITY" if value > 0 else "-(double)INFINITY"
    return repr(value)


def name_encoders(groups, columns, prefix):
    """Name the functions that encode columns: for strings and for numbers."""
    names, taken = {}, set()
    for number, (strings, numbers) in groups.items():
        stem = re.sub(r"\W+", "_", columns[number].name, flags=re.ASCII).strip("_")
        stem = stem or f"column_{number}"
        while stem in taken or f"{stem}_number" in taken:
            stem += "_"
        taken |= {stem, f"{stem}_number"}
        function = f"{prefix}encode_{stem}"
        is_mixed = bool(strings) and bool(numbers)
        names[number] = (function, f"{function}_number" if is_mixed else function)
    return names


def write_encoders(columns, encoders, groups):
    """Write the functions that encode columns."""
    written = []
    for number, functions in encoders.items():
        name = columns[number].name
        for function, template, group in zip(
            functions, (ENCODE_TEXT, ENCODE_NUMBER), groups[number], strict=True
        ):
            levels = [
                write_string(level, f"The level of column {name!r}:")
                if isinstance(level, str)
                else write_number(level)
                for level, _ in group
            ]
            text = template.format(
                name=quote(name),
                function=function,
                levels="\n".join(f"        {level}," for level in levels),
                codes=", ".join(str(code) for _, code in group),
                count=len(group),
            )
            written += [text] * bool(group)
    return "".join(written)


def declare(fields):
    """Declare the fields of a record."""
    kinds = (("double" if field in REAL_FIELDS else "int", field) for field in fields)
    return "\n".join(f"    {kind} {field};" for kind, field in kinds)


def write_labels(program, prefix):
    """Write the labels of the classes."""
    lines = []
    for number, labels in enumerate(list_labels(program)):
        end = "" if program.total.n_outputs == 1 else f"_{number}"
        if all(isinstance(label, str) for label in labels):
            texts = [write_string(label, "The class label") for label in labels]
            kind = "const char *const"
        elif all(isinstance(label, int) for label in labels):  # booleans too
            texts, kind = [str(int(label)) for label in labels], "const long long"
        elif not any(isinstance(label, str) for label in labels):
            texts = [write_number(float(label)) for label in labels]
            kind = "const double"
        else:
            raise ValueError(
                f"The class labels {labels} mix strings and numbers, which a C array "
                "cannot contain."
            )
        name = f"{kind} {prefix}classes{end}[{len(labels)}]"
        lines += ["", f"extern {name};", f"{name} = {{"]
        lines += [f"    {text}," for text in texts]
        lines.append("};")
    return "\n".join(lines)


def list_called(encoders, groups):
    """List the calls of the functions that encode each column."""
    return {
        number: " or ".join(
            f"{function}()"
            for function, group in zip(encoders[number], groups[number], strict=True)
            if group
        )
        for number in encoders
    }


def write_c(program, tables, prefix="", is_inner=False):
    """Write what the template of C needs.

    Parameters
    ----------
    program : ScoreProgram
        The model.
    tables : Tables
        Its records.
    prefix : str, default=""
        Beginning of the names of functions.
    is_inner : bool, default=False
        Whether labels and functions that encode levels are left out.

    Returns
    -------
    flags : dict of bool
        What the model needs.
    texts : dict of str
        Texts of the places.
    """
    schema = program.total.schema
    groups = {
        number: list_level_groups(column, "C")
        for number, column in enumerate(schema.columns)
        if column.levels is not None
    }
    encoders = name_encoders(groups, schema.columns, prefix)
    called = {} if is_inner else list_called(encoders, groups)
    columns = describe_columns(program, quote, "NaN", called)
    predictions = describe_predictions(program, quote)
    rows, n_test = tables.rows, tables.n_test_fields
    comments = comment_nodes(program, quote, "  /* {} */")
    refused = ["a level that was not seen in training"] * (program.unseen == "REFUSED")
    refused += ["a missing value"] * program.refuses_missing
    texts = {
        "test_fields": declare(tables.fields["nodes"][:n_test]),
        "node_fields": declare(tables.fields["nodes"][n_test:]),
        "nodes": write_rows(rows["nodes"], write_number, "{}", n_test, comments),
        "surrogates": write_rows(rows["surrogates"], write_number, "{}", n_test),
        **{
            name: write_rows(rows[name], write_number, "{}")
            for name in ("terms", "values", "trees", "linear")
        },
        "start": ", ".join(map(write_number, program.total.start.tolist())),
        "labels": "" if is_inner else write_labels(program, prefix),
        "encoders": "",
        "columns": "\n".join(f" *   {line}" for line in columns),
        "predictions": "\n".join(f" * {line}" for line in predictions),
        "refused": "".join(f" or {what}" for what in refused),
        "or_missing": " || isnan(row[j])" if program.refuses_missing else "",
        "n_linear": str(len(rows["linear"])),
        "prefix": prefix,
        "value": VALUES.get(program.total.link, "").format(scale=program.total.scale),
    }
    if not is_inner:
        texts["encoders"] = write_encoders(schema.columns, encoders, groups)
    strings = not is_inner and any(group for group, _ in groups.values())
    return {"strings": strings, "converts": program.total.link in VALUES}, texts
