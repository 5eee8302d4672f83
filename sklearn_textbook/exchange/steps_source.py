"""Source code of models that consist of steps: each of them, and what joins them."""

from __future__ import annotations

import re
from textwrap import indent

from sklearn_textbook.exchange import c_source, javascript_source, python_source
from sklearn_textbook.exchange.source_parts import (
    describe_columns,
    describe_predictions,
    list_level_groups,
    render,
)

PYTHON = r'''
"""{{about}}

A row is a mapping of column names to values, or a sequence of values:

{{columns}}

{{predictions}}

A ValueError names a column whose value is not allowed.
"""


{{steps}}


COLUMNS = {{names}}
# What each step but the last one gives, and the places of its columns among the columns
# of a row and the results of earlier steps.
STEPS = (
{{step_rows}}
)
LAST, PLACES = {{last}}
%if classifier
CLASSES = LAST["CLASSES"]
%end


def read_row(row):
    """Read a row as the last step does, with the results of the others."""
    has_names = hasattr(row, "keys")
    if not has_names and len(row) != len(COLUMNS):
        raise ValueError(f"A row has {len(row)} values, not {len(COLUMNS)}.")
    values = [row[name if has_names else i] for i, name in enumerate(COLUMNS)]
    for gives, places in STEPS:
        own = [values[place] for place in places]
        for give in gives:
            values += give(own)
    return [values[place] for place in PLACES]


def predict(row):
    """Predicted class or value; of several outputs a list."""
    return LAST["predict"](read_row(row))


def predict_scores(row):
    """Scores of the last step."""
    return LAST["predict_scores"](read_row(row))
%if classifier


def predict_classes(row):
    """Numbers of the predicted classes, one for each output."""
    return LAST["predict_classes"](read_row(row))
%if has_shares


def predict_proba(row):
    """Probabilities of the classes; those of several outputs follow one another."""
    return LAST["predict_proba"](read_row(row))
%end
%end
'''.lstrip()

JAVASCRIPT = r"""
// {{about}}
//
// A row is an object with the names of the columns, or an array of their values:
{{columns}}
//
{{predictions}}
//
// An Error names a column whose value is not allowed.

{{steps}}

const columns = {{names}};
// What each step but the last one gives, and the places of its columns among the
// columns of a row and the results of earlier steps.
const steps = [
{{step_rows}}
];
const [last, places] = {{last}};
%if classifier
export const classes = last.classes;
%end

// Read a row as the last step does, with the results of the others.
function readRow(row) {
  const isArray = Array.isArray(row) || ArrayBuffer.isView(row);
  if (isArray && row.length !== columns.length) {
    throw new Error(`A row has ${row.length} values, not ${columns.length}.`);
  }
  const values = columns.map((name, number) => {
    const key = isArray ? number : name;
    if (!(key in row)) {
      throw new Error(`A row has no column ${JSON.stringify(name)}.`);
    }
    return row[key];
  });
  for (const [gives, ownPlaces] of steps) {
    const own = ownPlaces.map((place) => values[place]);
    for (const give of gives) {
      values.push(...give(own));
    }
  }
  return places.map((place) => values[place]);
}

// Predicted class or value; of several outputs an array.
export function predict(row) {
  return last.predict(readRow(row));
}

// Scores of the last step.
export function predictScores(row) {
  return last.predictScores(readRow(row));
}
%if classifier

// Numbers of the predicted classes, one for each output.
export function predictClasses(row) {
  return last.predictClasses(readRow(row));
}
%if has_shares

// Probabilities of the classes; those of several outputs follow one another.
export function predictProba(row) {
  return last.predictProba(readRow(row));
}
%end
%end
""".lstrip()

C = r"""
/*
 * {{about}}
 *
 * Columns of a row, an array of double:
{{columns}}
 *
{{predictions}}
 *
 * Every function returns 0, or 1 + the number of a column whose value is not allowed;
 * 1 + the number of columns is a step without a result. Compile with -std=c99, or with
 * -ffp-contract=off, so that sums are rounded as in the model.
 */
#include <math.h>
%if strings
#include <string.h>
%end
{{steps}}
enum { N_COLUMNS = {{n_columns}}, N_SCORES = {{n_scores}}, N_OUTPUTS = {{n_outputs}} };
{{labels}}
{{encoders}}
/* The columns of a step among the columns of a row and the results of earlier steps. */
static void {{prefix}}take(
    const double *values, const int *places, int n_places, double *own)
{
    int i;
    for (i = 0; i < n_places; i++)
        own[i] = values[places[i]];
}

/* What a step returns for a column, for the column of the row. */
static int {{prefix}}find_column(int status, const int *places)
{
    int place = status ? places[status - 1] : 0;
    return place < {{n_columns}} ? status ? 1 + place : 0 : 1 + {{n_columns}};
}

/* Read a row as the last step does, with the results of the others. */
static int {{prefix}}read_row(const double *row, double *own, int *status)
{
    static const int places[] = {{{last_places}}};
    double values[{{n_values}}];
    int i;
    for (i = 0; i < {{n_columns}}; i++)
        values[i] = row[i];
    *status = 0;
{{blocks}}
    {{prefix}}take(values, places, {{n_last}}, own);
{{last_codes}}
    return *status;
}

static int {{prefix}}find_last_column(int status)
{
    static const int places[] = {{{last_places}}};
    return {{prefix}}find_column(status, places);
}

/* Scores of the last step. */
int {{prefix}}predict_scores(const double *row, double *scores)
{
    double own[{{n_last}}];
    int status;
    if ({{prefix}}read_row(row, own, &status))
        return status;
    return {{prefix}}find_last_column({{last}}_predict_scores(own, scores));
}
%if classifier
%if has_shares

/* Probabilities of the classes; those of several outputs follow one another. */
int {{prefix}}predict_proba(const double *row, double *probabilities)
{
    double own[{{n_last}}];
    int status;
    if ({{prefix}}read_row(row, own, &status))
        return status;
    return {{prefix}}find_last_column({{last}}_predict_proba(own, probabilities));
}
%end

/* Numbers of the predicted classes, one for each output. */
int {{prefix}}predict_classes(const double *row, int *classes)
{
    double own[{{n_last}}];
    int status;
    if ({{prefix}}read_row(row, own, &status))
        return status;
    return {{prefix}}find_last_column({{last}}_predict_classes(own, classes));
}
%if one_output

/* Number of the predicted class; -1 - column if its value is not allowed. */
int {{prefix}}predict(const double *row)
{
    int number, status = {{prefix}}predict_classes(row, &number);
    return status ? -status : number;
}
%end
%else

/* Predicted values, one for each output. */
int {{prefix}}predict_values(const double *row, double *predicted)
{
    double own[{{n_last}}];
    int status;
    if ({{prefix}}read_row(row, own, &status))
        return status;
    return {{prefix}}find_last_column({{last}}_predict_values(own, predicted));
}
%if one_output

/* Predicted value; NaN if the value of a column is not allowed. */
double {{prefix}}predict(const double *row)
{
    double value;
    return {{prefix}}predict_values(row, &value) ? (double)NAN : value;
}
%end
%end
""".lstrip()

C_BLOCK = r"""    {
        static const int of_step[] = {{{places}}};
        double own[{{n_own}}];
{{declared}}
        {{prefix}}take(values, of_step, {{n_own}}, own);
{{codes}}
{{calls}}
    }
"""


class TableView:
    """The columns of a table and the last program, as functions of one program need it.

    Parameters
    ----------
    steps : ModelSteps
        The model.
    """

    def __init__(self, steps):
        self.steps, self.total = steps, steps.program.total
        self.schema = steps.schema
        self.refuses_missing = False

    def describe(self):
        """Describe the model."""
        n_steps = len(self.steps.steps)
        name = type(self.steps.model).__name__
        return f"{name}: {n_steps} step{'s' * (n_steps > 1)}, by sklearn_textbook."


def write_steps_python(steps, write):
    """Write a model of steps as a module of Python.

    Parameters
    ----------
    steps : ModelSteps
        The model.
    write : callable
        Writes a single program: the source from the program.

    Returns
    -------
    str
    """
    view, sources, rows = TableView(steps), [], []
    for number, step in enumerate(steps.steps):
        n_classes = sum(map(len, step.program.total.classes))
        is_one = step.program.total.n_outputs == 1
        kinds = {
            "values": f"lambda row: {'[predict(row)]' if is_one else 'predict(row)'}",
            "shares": "predict_proba",
            "scores": "predict_scores",
            "votes": (
                "lambda row: [float(k == c) for c in predict_classes(row) "
                f"for k in range({n_classes})]"
            ),
        }
        given = "locals()"
        if step.gives:
            given = f"({' '.join(f'{kinds[kind]},' for kind in step.gives)})"
        source = indent(write(step.program).rstrip(), "    ")
        sources.append(f"def make_step_{number}():\n{source}\n\n    return {given}")
        rows.append(f"make_step_{number}(), {step.places!r}")
    texts = {
        **_describe(
            view, python_source.quote_plain, "None, NaN or pandas.NA", "    {}"
        ),
        "steps": "\n\n\n".join(sources),
        "names": repr(tuple(str(name) for name in view.schema.names)),
        "step_rows": "\n".join(f"    ({row})," for row in rows[:-1]),
        "last": rows[-1],
    }
    return render(PYTHON, steps.program.list_flags(), texts)


def write_steps_javascript(steps, write):
    """Write a model of steps as a module of JavaScript; see `write_steps_python`."""
    view, sources, rows = TableView(steps), [], []
    for number, step in enumerate(steps.steps):
        total = step.program.total
        n_classes = sum(map(len, total.classes))
        kinds = {
            "values": "(row) => [predict(row)].flat()",
            "shares": "predictProba",
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
        source = re.sub("^export ", "", write(step.program), flags=re.MULTILINE)
        sources.append(
            f"const step{number} = (() => {{\n{source.rstrip()}\nreturn {given};\n"
            "})();"
        )
        rows.append(f"[step{number}, [{', '.join(map(str, step.places))}]]")
    texts = {
        **_describe(view, javascript_source.quote, "null, undefined or NaN", "//   {}"),
        "steps": "\n\n".join(sources),
        "names": f"[{', '.join(map(javascript_source.quote, view.schema.names))}]",
        "step_rows": "\n".join(f"  {row}," for row in rows[:-1]),
        "last": rows[-1],
    }
    texts["predictions"] = "\n".join(
        f"// {line}" for line in describe_predictions(view, javascript_source.quote)
    )
    return render(JAVASCRIPT, steps.program.list_flags(), texts)


def write_steps_c(steps, write, prefix=""):
    """Write a model of steps as C99; see `write_steps_python`."""
    view, sources, blocks = TableView(steps), [], []
    groups = {
        number: list_level_groups(column, "C")
        for number, column in enumerate(view.schema.columns)
        if column.levels is not None
    }
    encoders = c_source.name_encoders(groups, view.schema.columns, prefix)
    start = len(view.schema.columns)
    for number, step in enumerate(steps.steps):
        own = f"{prefix}step_{number}"
        source = write(step.program, prefix=f"{own}_", is_inner=True)
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
            "codes": indent(_write_codes(view, step), " " * 8),
            "calls": indent("\n".join(calls), " " * 8),
            "prefix": prefix,
        }
        blocks.append(render(C_BLOCK, {}, texts))
    last = steps.steps[-1]
    columns = describe_columns(
        view, c_source.quote, "NaN", c_source.list_called(encoders, groups)
    )
    texts = {
        "about": view.describe(),
        "columns": "\n".join(f" *   {line}" for line in columns),
        "predictions": "\n".join(
            f" * {line}" for line in describe_predictions(view, c_source.quote)
        ),
        "steps": "\n".join(sources),
        "labels": c_source.write_labels(steps.program, prefix),
        "encoders": c_source.write_encoders(view.schema.columns, encoders, groups),
        "n_columns": str(len(view.schema.columns)),
        "n_scores": str(view.total.n_scores),
        "n_outputs": str(view.total.n_outputs),
        "n_values": str(start),
        "n_last": str(len(last.places)),
        "last_places": ", ".join(map(str, last.places)),
        "last_codes": indent(_write_codes(view, last), " " * 4),
        "last": f"{prefix}step_{len(steps.steps) - 1}",
        "blocks": "\n".join(blocks[:-1]),
        "prefix": prefix,
    }
    strings = any(group for group, _ in groups.values())
    return render(C, steps.program.list_flags() | {"strings": strings}, texts)


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


def _write_codes(view, step):
    """Write what turns the codes of levels of a table into those of a step."""
    lines = []
    for number, place in enumerate(step.places):
        column = step.program.total.schema.columns[number]
        if place >= len(view.schema.columns) or column.levels is None:
            continue
        levels = view.schema.columns[place].levels
        if levels == column.levels:
            continue
        codes = ", ".join(str(column.codes.get(level, -1)) for level in levels)
        code = f"own[{number}]"
        lines.append(
            f"if ({code} >= 0.0) {{\n    static const int codes[] = {{{codes}}};\n    "
            f"{code} = {code} < {len(levels)} ? codes[(int){code}] : -1.0;\n}}"
        )
    return "\n".join(lines)


def _describe(view, quote, missing, line):
    """Write the texts at the beginning."""
    columns = describe_columns(view, quote, missing, {})
    return {
        "about": view.describe(),
        "columns": "\n".join(map(line.format, columns)),
        "predictions": "\n".join(describe_predictions(view, quote)),
    }
