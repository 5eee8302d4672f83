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

TEMPLATE = r'''
"""{{about}}

A row is a mapping of column names to values, or a sequence of values:

{{columns}}

{{predictions}}

A ValueError names a column whose value is not allowed.
"""

import math
{{seconds}}
# Names of the columns, what they hold, and the codes of their levels.
COLUMNS = (
{{column_rows}}
)
CLASSES = {{labels}}
WIDTH, N_SCORES, N_OUTPUTS = {{width}}, {{n_scores}}, {{n_outputs}}
%if trees
STAY, FRACTIONAL, REFUSED, UNKNOWN = -1, -2, -3, -4
%if kinds
NUMERIC, ORDINAL, NOMINAL, OBLIQUE = 1, 2, 3, 4
%end

# Places in the records: value <= threshold leads to child 0; feature -1 is a leaf.
# Children are consecutive from first on; missing is the child of a missing value, or
# STAY or FRACTIONAL; stop is the row of values of a node in which rows end, or -1.
{{node_fields}} = range({{n_fields}})
NODES = (
{{nodes}}
)
%end
%if surrogates

# Tests for rows whose value is missing: value <= threshold leads to LOW_BRANCH.
LOW_BRANCH = {{low_branch}}
SURROGATES = (
{{surrogates}}
)
%end
%if oblique

# Terms of sums of columns: feature, level, weight, fill; weight * value is added, or
# the weight of a level, or fill if the value is missing.
TERMS = (
{{terms}}
)
%end
%if maps

%if trees
# Children of levels: -1 and the child of every level, or a number of levels, these,
# and their children; -1 is a level that the node has not seen.
%else
# Places in VALUES of what levels add to the scores; -1 is a level that is refused.
%end
MAPS = (
{{maps}}
)
%end

VALUES = (
{{values}}
)
%if trees

# Root, first score and weight of every tree.
TREES = (
{{trees}}
)
%else

# What columns add to the scores: feature; number of levels; the place in VALUES of the
# factors of a number, or the first of its levels in MAPS; the places in VALUES of a
# missing value and of other levels, or -1 if they are refused; what is subtracted from
# a number before.
LINEAR = (
{{linear}}
)
%end

START = ({{start}},)


def is_missing(value):
    """Whether a value is None, NaN or another missing value."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA compares to itself as missing
        return True


def encode_row(row):
    """Read a row as numbers and codes of levels.

    NaN is a missing value, -1 a level that was not seen in training.
    """
    has_names = hasattr(row, "keys")
    if not has_names and len(row) != len(COLUMNS):
        raise ValueError(f"A row has {len(row)} values, not {len(COLUMNS)}.")
    codes = []
    for number, (name, source, levels) in enumerate(COLUMNS):
        value = row[name if has_names else number]
        code = encode_value(name, source, levels, value)
        if {{is_refused}}:
            raise ValueError(f"Column {name!r} must not be {value!r}.")
        codes.append(code)
    return codes


def encode_value(name, source, levels, value):
    """Read a value as a number or the code of a level."""
    if is_missing(value) or source == "null":
        return math.nan
%if temporal
    if source in ("date", "duration", "time"):
        value = to_seconds(value)
%end
    if levels is not None:
        are_strings = {isinstance(level, str) for level in levels}
        if isinstance(value, str) in are_strings:
            return levels.get(value, -1)
    elif source == "string" or not isinstance(value, str):
        return float(value)
    raise ValueError(f"Column {name!r} does not take {value!r}.")
%if trees


def test_value(test, low_branch, value):
    """Child of a value that is present, or UNKNOWN."""
%if levels
    if test[KIND] != NUMERIC:
        if not 0 <= value < len(COLUMNS[test[FEATURE]][2]):
            return UNKNOWN
%end
%if nominal
    if test[KIND] == NOMINAL:
        start = test[MAP] + 1
        n_pairs = MAPS[start - 1]
        child = -1
        if n_pairs < 0:
            child = MAPS[start + value]
        elif value in MAPS[start : start + n_pairs]:
            child = MAPS[MAPS.index(value, start) + n_pairs]
        return UNKNOWN if child < 0 else child
%end
    return low_branch if value <= test[THRESHOLD] else 1 - low_branch
%if oblique


def test_sum(node, row):
    """Child of a sum of columns, and the column of a level that it does not know."""
    total, number, end = 0.0, node[TERM], node[TERM] + node[N_TERMS]
    while number < end:
        feature, level, weight, fill = TERMS[number]
        value = row[feature]
%if level_terms
        if level >= 0:
            # One term for every level of a column; any of them for a missing value.
            found = fill if value != value else None
            while number < end and TERMS[number][0] == feature:
                if TERMS[number][1] == value:
                    found = TERMS[number][2]
                number += 1
            if found is None:
                return UNKNOWN, feature
            total += found
            continue
        levels = COLUMNS[feature][2]
        if levels is not None and value == value and not 0 <= value < len(levels):
            return UNKNOWN, feature
%end
        total += fill if value != value else weight * value
        number += 1
    return 0 if total <= node[THRESHOLD] else 1, node[FEATURE]
%end


def find_branch(node, row):
    """Child of a row, or STAY, FRACTIONAL or REFUSED, and the tested column."""
    column = node[FEATURE]
%if oblique
    if node[KIND] == OBLIQUE:
        branch, column = test_sum(node, row)
        return {{unseen}} if branch == UNKNOWN else branch, column
%end
    value = row[column]
    if value != value:
%if surrogates
        first = node[SURROGATE]
        for other in SURROGATES[first : first + node[N_SURROGATES]]:
            value = row[other[FEATURE]]
            if value == value:
                branch = test_value(other, other[LOW_BRANCH], value)
                if branch != UNKNOWN:
                    return branch, column
%end
        return node[MISSING], column
    branch = test_value(node, 0, value)
    return {{unseen}} if branch == UNKNOWN else branch, column


def spread(number, share, row, mean):
    """Add to mean what a share of a row gets from a node on."""
    node = NODES[number]
    while node[FEATURE] >= 0:
        branch, column = find_branch(node, row)
%if refuses_unseen
        if branch == REFUSED:
            name = COLUMNS[column][0]
            raise ValueError(
                f"Column {name!r} has a level that was not seen in training."
            )
%end
%if fractional
        if branch == FRACTIONAL:
            first, count = node[FIRST], node[N_CHILDREN]
            weights = [NODES[child][WEIGHT] for child in range(first, first + count)]
            total = 0.0
            for weight in weights:
                total += weight
            for child, weight in enumerate(weights, first):
                if weight > 0.0:
                    spread(child, share * weight / total, row, mean)
            if total > 0.0:
                return
%end
        if branch < 0:
            break
        node = NODES[node[FIRST] + branch]
    for j, value in enumerate(VALUES[node[STOP]]):
        mean[j] += share * value
%end
%if chooses


def choose(values, tolerance):
    """The first of the largest values, up to a tolerance."""
    best = 0
    for number, value in enumerate(values):
        if value > values[best] + tolerance:
            best = number
    return best
%end


%if trees
def add_up(row):
    """Add up what the trees give."""
    row = encode_row(row)
    sums = [*START, *[0.0] * ({{n_sums}} - N_SCORES)]
    for root, score, weight in TREES:
        mean = [0.0] * WIDTH
        spread(root, 1.0, row, mean)
%if votes
        n = N_SCORES // N_OUTPUTS
        for j in range(0, N_SCORES, n):
            sums[j + choose(mean[j : j + n], {{tolerance}})] += weight
%if ties
        for j in range(N_SCORES):
            sums[N_SCORES + j] += mean[{{second}} + j]
%end
%else
        for j, value in enumerate(mean):
            sums[score + j] += weight * value
%end
%else
def add_up(row):
    """Add up what the columns give."""
    row = encode_row(row)
    sums = [*START, *[0.0] * ({{n_sums}} - N_SCORES)]
    for feature, n_levels, place, missing, unseen, centre in LINEAR:
        value, factor = row[feature], 1.0
        if value != value:
            place = missing
%if maps
        elif n_levels > 0:
            place = MAPS[place + value] if 0 <= value < n_levels else unseen
%end
        else:
            factor = value - centre
%if refuses_unseen
        if place < 0:
            name = COLUMNS[feature][0]
            raise ValueError(
                f"Column {name!r} has a level that was not seen in training."
            )
%end
        for j, value in enumerate(VALUES[place]):
            sums[j] += factor * value
%end
%if divides_first
    for j in range(N_SCORES):
        sums[j] /= {{divisor}}
%end
    return sums


def predict_scores(row):
    """{{about_scores}}"""
    return [score{{last_division}} for score in add_up(row)[:N_SCORES]]
%if sigmoid


def expit(value):
    """The logistic function."""
    if value < -700.0:  # where exp(-value) is too large
        return math.exp(value)
    return 1.0 / (1.0 + math.exp(-value))
%end
%if power


def power(value, exponent):
    """A power; NaN if it is not a real number."""
    try:
        return math.pow(value, exponent)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan if value else math.inf
%end
%if classifier
%if has_shares


def predict_proba(row):
    """Probabilities of the classes; those of several outputs follow one another."""
    scores = predict_scores(row)
%if identity
    return scores
%end
%if expit
    return [expit(-{{scale}} * scores[0]), expit({{scale}} * scores[0])]
%end
%if softmax
    parts = [math.exp({{scale}} * (score - max(scores))) for score in scores]
%end
%if positive_shares
    parts = [max(score, 0.0) for score in scores]
%end
%if clipped_shares
    parts = [min(max(score, 0.0), 1.0) for score in scores]
%end
%if some_shares
    if not any(part > 0.0 for part in parts):
        parts[choose(scores, 0.0)] = 1.0
%end
%if shared
    total = 0.0
    for part in parts:
        total += part
    return [part / total for part in parts]
%end
%end


def predict_classes(row):
    """Numbers of the predicted classes, one for each output."""
    sums = add_up(row)
%if one_score
    return [int(sums[0] > 0.0)]
%else
    n = N_SCORES // N_OUTPUTS
    chosen = []
    for j in range(0, N_SCORES, n):
        first = {{deciding}} + j
        best = choose(sums[first : first + n], {{final_tolerance}})
%if ties
        # Of those with most votes, the one with the largest sum of probabilities.
        for k in range(n):
            means = sums[N_SCORES + j + k], sums[N_SCORES + j + best]
            if sums[j + k] == sums[j + best] and means[0] > means[1]:
                best = k
%end
        chosen.append(best)
    return chosen
%end


def predict(row):
    """Label of the predicted class; of several outputs a list."""
    chosen = predict_classes(row)
%if one_output
    return CLASSES[chosen[0]]
%else
    return [classes[number] for classes, number in zip(CLASSES, chosen)]
%end
%else


def predict(row):
    """Predicted value; of several outputs a list."""
    predicted = {{predicted}}
%if one_output
    return predicted[0]
%else
    return predicted
%end
%end
'''.lstrip()

STEPS_TEMPLATE = r'''
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


def list_texts(program: ScoreProgram, tables: Tables) -> tuple[dict, dict]:
    """List what the template needs: the flags of the model, the texts of the places."""
    total, rows = program.total, tables.rows
    columns = describe_columns(
        total.schema, quote_plain, MISSING, program.refuses_missing
    )
    fields = [name.upper() for name in tables.fields["nodes"]]
    comments = comment_nodes(program, quote_plain, "  # {}")
    temporal = any(column.source in TEMPORAL for column in total.schema.columns)
    labels = list_labels(program)
    is_one = total.n_outputs == 1 and bool(labels)
    is_refused = "not math.isfinite(code)"
    if not program.refuses_missing:
        is_refused = "math.isinf(code)"
    texts = {
        "columns": "\n".join(f"    {line}" for line in columns),
        "predictions": "\n".join(describe_predictions(total, quote_plain)),
        "seconds": SECONDS.rstrip() + "\n" if temporal else "",
        "column_rows": "\n".join(map(write_column, total.schema.columns)),
        "labels": repr(labels[0] if is_one else labels),
        "node_fields": ", ".join(fields),
        "n_fields": str(len(fields)),
        "low_branch": str(tables.n_test_fields),
        "nodes": write_rows(rows["nodes"], write_number, "()", comments=comments),
        **{
            name: write_rows(rows[name], write_number, "()")
            for name in ("surrogates", "terms", "values", "trees", "linear")
        },
        "start": ", ".join(map(write_number, total.start.tolist())),
        "is_refused": is_refused,
        "predicted": "predict_scores(row)",
    }
    if total.link in VALUES:
        value = VALUES[total.link].format(scale=total.scale)
        texts["predicted"] = f"[{value} for s in predict_scores(row)]"
    return {"temporal": temporal}, texts


def write_python(steps: ModelSteps) -> str:
    """Write a model as a module of Python."""
    if steps.is_single:
        return write_program(steps.program, TEMPLATE, list_texts)
    sources, rows = [], []
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
        source = write_program(step.program, TEMPLATE, list_texts)
        source = indent(source.rstrip(), "    ")
        sources.append(f"def make_step_{number}():\n{source}\n\n    return {given}")
        rows.append(f"make_step_{number}(), {step.places!r}")
    columns = describe_columns(steps.schema, quote_plain, MISSING)
    texts = {
        "about": f"{describe_steps(steps)}, by sklearn_textbook.",
        "columns": "\n".join(f"    {line}" for line in columns),
        "predictions": "\n".join(
            describe_predictions(steps.program.total, quote_plain)
        ),
        "steps": "\n\n\n".join(sources),
        "names": repr(tuple(str(name) for name in steps.schema.names)),
        "step_rows": "\n".join(f"    ({row})," for row in rows[:-1]),
        "last": rows[-1],
    }
    return render(STEPS_TEMPLATE, steps.program.list_flags(), texts)
