"""Source code in C99."""

from __future__ import annotations

import re
from textwrap import indent

import numpy as np

from sklearn_textbook.exchange.c_template import (
    ENCODE_NUMBER,
    ENCODE_TEXT,
    STEP_TEMPLATE,
    STEPS_TEMPLATE,
    TEMPLATE,
)
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


def list_texts(
    program: ScoreProgram, tables: Tables, prefix: str, is_inner: bool = False
) -> tuple[dict, dict]:
    """List what the template needs: the flags of the model, the texts of the places.

    The source of a step is inner, without labels and functions that encode levels.
    """
    schema = program.total.schema
    groups = {
        number: list_level_groups(column, "C")
        for number, column in enumerate(schema.columns)
        if column.levels is not None
    }
    encoders = name_encoders(groups, schema.columns, prefix)
    called = {} if is_inner else list_called(encoders, groups)
    columns = describe_columns(schema, quote, "NaN", program.refuses_missing, called)
    predictions = describe_predictions(program.total, quote)
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


def write_c(steps: ModelSteps, prefix: str = "") -> str:
    """Write a model as C99, with a prefix of the names of functions."""
    if steps.is_single:
        return write_program(steps.program, TEMPLATE, list_texts, prefix=prefix)
    schema, sources, blocks = steps.schema, [], []
    groups = {
        number: list_level_groups(column, "C")
        for number, column in enumerate(schema.columns)
        if column.levels is not None
    }
    encoders = name_encoders(groups, schema.columns, prefix)
    start = len(schema.columns)
    for number, step in enumerate(steps.steps):
        own = f"{prefix}step_{number}"
        source = write_program(
            step.program, TEMPLATE, list_texts, prefix=f"{own}_", is_inner=True
        )
        sources.append(rename(source, f"{own}_"))
        declared, calls = ["int result;"], []
        for kind, count in zip(step.gives, step.count_results(), strict=True):
            functions = {"shares": "proba", "scores": "scores", "values": "values"}
            call = f"{own}_predict_{functions.get(kind)}(own, values + {start});"
            if kind == "votes":
                declared.append("int chosen = 0, k;")
                call = f"{own}_predict_classes(own, &chosen);"
            calls.append(f"result = {call}")
            if kind == "votes":
                calls += [
                    f"for (k = 0; k < {count}; k++)",
                    f"    values[{start} + k] = k == chosen;",
                ]
            calls += [
                "if (result) {",
                f"    *status = {prefix}find_column(result, of_step);",
                "    return *status;",
                "}",
            ]
            start += count
        texts = {
            "places": ", ".join(map(str, step.places)),
            "n_own": str(len(step.places)),
            "declared": indent("\n".join(declared), " " * 8),
            "codes": indent(_write_codes(schema, step), " " * 8),
            "calls": indent("\n".join(calls), " " * 8),
            "prefix": prefix,
        }
        blocks.append(render(STEP_TEMPLATE, {}, texts))
    last, total = steps.steps[-1], steps.program.total
    columns = describe_columns(
        schema, quote, "NaN", encoders=list_called(encoders, groups)
    )
    texts = {
        "about": f"{describe_steps(steps)}, by sklearn_textbook.",
        "columns": "\n".join(f" *   {line}" for line in columns),
        "predictions": "\n".join(
            f" * {line}" for line in describe_predictions(total, quote)
        ),
        "steps": "\n".join(sources),
        "labels": write_labels(steps.program, prefix),
        "encoders": write_encoders(schema.columns, encoders, groups),
        "n_columns": str(len(schema.columns)),
        "n_scores": str(total.n_scores),
        "n_outputs": str(total.n_outputs),
        "n_values": str(start),
        "n_last": str(len(last.places)),
        "last_places": ", ".join(map(str, last.places)),
        "last_codes": indent(_write_codes(schema, last), " " * 4),
        "last": f"{prefix}step_{len(steps.steps) - 1}",
        "blocks": "\n".join(blocks[:-1]),
        "prefix": prefix,
    }
    strings = any(group for group, _ in groups.values())
    return render(
        STEPS_TEMPLATE, steps.program.list_flags() | {"strings": strings}, texts
    )


def rename(source, prefix):
    """Give all names of a C source file a prefix; its strings have none of them."""
    names = set(re.findall(r"^} (\w+);", source, re.MULTILINE))
    for line in re.findall(r"^(?:static|enum) (.*)", source, re.MULTILINE):
        if line.startswith("{"):
            names |= set(re.findall(r"(\w+) =", line))
        else:
            names |= set(re.findall(r"(\w+)(?:\[|\()", line)[:1])
    words = "|".join(sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w.>])({words})\b", rf"{prefix}\1", source)


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
        codes = ", ".join(str(column.codes.get(level, -1)) for level in levels)
        code = f"own[{number}]"
        lines.append(
            f"if ({code} >= 0.0) {{\n    static const int codes[] = {{{codes}}};\n    "
            f"{code} = {code} < {len(levels)} ? codes[(int){code}] : -1.0;\n}}"
        )
    return "\n".join(lines)
