"""Source code in C99."""

from __future__ import annotations

import re
from textwrap import indent

import numpy as np

from sklearn_textbook.exchange.model_steps import ModelSteps
from sklearn_textbook.exchange.score_program import REAL_FIELDS, ScoreProgram, Tables
from sklearn_textbook.exchange.source_parts import (
    comment_nodes,
    describe_columns,
    describe_predictions,
    describe_steps,
    list_labels,
    list_level_groups,
    render,
    write_program,
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


def write_array(values):
    """Write the numbers of an array."""
    return f"{{{', '.join(map(write_number, values))}}}"


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


def list_encoders(columns, encoders, groups):
    """List what the functions that encode columns need."""
    found = []
    for number, functions in encoders.items():
        name = columns[number].name
        for function, group, is_text in zip(
            functions, groups[number], (True, False), strict=True
        ):
            levels = [
                write_string(level, f"The level of column {name!r}:")
                if isinstance(level, str)
                else write_number(level)
                for level, _ in group
            ]
            codes = write_array(code for _, code in group)
            found += [(quote(name), function, is_text, levels, codes)] * bool(group)
    return found


def declare_labels(program, prefix):
    """Declare the arrays of the class labels, one for each output."""
    found = []
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
        found.append((f"{kind} {prefix}classes{end}[{len(labels)}]", texts))
    return found


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


def list_texts(
    program: ScoreProgram, tables: Tables, prefix: str, is_inner: bool = False
) -> dict:
    """List what the template needs besides the program.

    The source of a step is inner, without labels and functions that encode levels.
    """
    total = program.total
    names, called = {"strings": False, "labels": [], "encoders": []}, {}
    if not is_inner:
        names, called = list_names(program, total.schema, prefix)
    rows, n_test = tables.rows, tables.n_test_fields
    comments = comment_nodes(program, quote, "  /* {} */")
    refused = ["a level that was not seen in training"] * (program.unseen == "REFUSED")
    refused += ["a missing value"] * program.refuses_missing
    return {
        **names,
        "prefix": prefix,
        "columns": describe_columns(
            total.schema, quote, "NaN", program.refuses_missing, called
        ),
        "predictions": describe_predictions(total, quote),
        "refused": "".join(f" or {what}" for what in refused),
        "n_test": n_test,
        "real_fields": REAL_FIELDS,
        "nodes": write_rows(rows["nodes"], write_number, "{}", n_test, comments),
        "surrogates": write_rows(rows["surrogates"], write_number, "{}", n_test),
        **{
            name: write_rows(rows[name], write_number, "{}")
            for name in ("terms", "slopes", "values", "trees", "linear")
        },
        "start": write_array(total.start.tolist()),
        "value": VALUES.get(total.link, "").format(scale=total.scale),
    }


def list_names(program, schema, prefix):
    """List the labels and the functions that encode levels, and the calls of these."""
    groups = {
        number: list_level_groups(column, "C")
        for number, column in enumerate(schema.columns)
        if column.levels is not None
    }
    encoders = name_encoders(groups, schema.columns, prefix)
    names = {
        "strings": any(group for group, _ in groups.values()),
        "labels": declare_labels(program, prefix),
        "encoders": list_encoders(schema.columns, encoders, groups),
    }
    return names, list_called(encoders, groups)


def write_c(steps: ModelSteps, prefix: str = "") -> str:
    """Write a model as C99, with a prefix of the names of functions."""
    if steps.is_single:
        return write_program(
            steps.program, "program.c.jinja", list_texts, prefix=prefix
        )
    schema, total = steps.schema, steps.program.total
    names, called = list_names(steps.program, schema, prefix)
    start, described = len(schema.columns), []
    for number, step in enumerate(steps.steps):
        name = f"{prefix}step_{number}"
        source = write_program(
            step.program,
            "program.c.jinja",
            list_texts,
            prefix=f"{name}_",
            is_inner=True,
        )
        results = []
        for kind, count in zip(step.gives, step.count_results(), strict=True):
            results.append(("proba" if kind == "probabilities" else kind, start, count))
            start += count
        margin = " " * (8 if step.gives else 4)
        described.append(
            {
                "name": name,
                "source": rename(source, f"{name}_"),
                "places": write_array(step.places),
                "n_columns": len(step.places),
                "codes": indent(_write_codes(schema, step), margin),
                "gives": step.gives,
                "results": results,
            }
        )
    return render(
        "steps.c.jinja",
        about=describe_steps(steps),
        columns=describe_columns(schema, quote, "NaN", encoders=called),
        predictions=describe_predictions(total, quote),
        total=total,
        steps=described,
        n_columns=len(schema.columns),
        n_values=start,
        prefix=prefix,
        **names,
    )


def rename(source, prefix):
    """Give all names of a C source file a prefix, except in comments.

    Its strings have none of them.
    """
    names = set(re.findall(r"^} (\w+);", source, re.MULTILINE))
    for line in re.findall(r"^(?:static|enum) (.*)", source, re.MULTILINE):
        if line.startswith("{"):
            names |= set(re.findall(r"(\w+) =", line))
        else:
            names |= set(re.findall(r"(\w+)(?:\[|\()", line)[:1])
    words = "|".join(sorted(names, key=len, reverse=True))
    # Every second part is a comment.
    parts = re.split(r"(/\*.*?\*/)", source, flags=re.DOTALL)
    parts[::2] = [
        re.sub(rf"(?<![\w.>])({words})\b", rf"{prefix}\1", part) for part in parts[::2]
    ]
    return "".join(parts)


def _write_codes(schema, step):
    """Write what turns the codes of levels of a table into those of a step."""
    lines = []
    for number, place in enumerate(step.places):
        column = step.program.total.schema.columns[number]
        if place >= len(schema.columns) or column.levels is None:
            continue
        levels = schema.columns[place].levels
        if levels == column.levels:
            continue
        codes = write_array(column.codes.get(level, -1) for level in levels)
        code = f"own[{number}]"
        lines.append(
            f"if ({code} >= 0.0) {{\n    static const int codes[] = {codes};\n    "
            f"{code} = {code} < {len(levels)} ? codes[(int){code}] : -1.0;\n}}"
        )
    return "\n".join(lines)
