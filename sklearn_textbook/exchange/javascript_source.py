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

TEMPLATE = r"""
// {{about}}
//
// A row is an object with the names of the columns, or an array of their values:
{{columns}}
//
{{predictions}}
//
// An Error names a column whose value is not allowed.

const columns = [
{{column_rows}}
];
export const classes = {{labels}};
const WIDTH = {{width}}, N_SCORES = {{n_scores}}, N_OUTPUTS = {{n_outputs}};
%if trees
const STAY = -1, FRACTIONAL = -2, REFUSED = -3, UNKNOWN = -4;
%if kinds
const NUMERIC = 1, ORDINAL = 2, NOMINAL = 3, OBLIQUE = 4;
%end

// Places in the records: value <= threshold leads to child 0; feature -1 is a leaf.
// Children are consecutive from first on; missing is the child of a missing value, or
// STAY or FRACTIONAL; stop is the row of values of a node in which rows end, or -1.
const {{node_fields}};
const nodes = [
{{nodes}}
];
%end
%if surrogates

// Tests for rows whose value is missing: value <= threshold leads to LOW_BRANCH.
const LOW_BRANCH = {{low_branch}};
const surrogates = [
{{surrogates}}
];
%end
%if oblique

// Terms of sums of columns: feature, level, weight, fill; weight * value is added, or
// the weight of a level, or fill if the value is missing.
const terms = [
{{terms}}
];
%end
%if maps

%if trees
// Children of levels: -1 and the child of every level, or a number of levels, these,
// and their children; -1 is a level that the node has not seen.
%else
// Places in values of what levels add to the scores; -1 is a level that is refused.
%end
const maps = [
{{maps}}
];
%end
%if level_columns

const nLevels = [
{{n_levels}}
];
%end

const values = [
{{values}}
];
%if trees

// Root, first score and weight of every tree.
const trees = [
{{trees}}
];
%else

// What columns add to the scores: feature; number of levels; the place in values of the
// factors of a number, or the first of its levels in maps; the places in values of a
// missing value and of other levels, or -1 if they are refused; what is subtracted from
// a number before.
const linear = [
{{linear}}
];
%end

const start = [{{start}}];

// Read a row as numbers and codes of levels; NaN is a missing value, -1 a level that
// was not seen in training.
export function encodeRow(row) {
  const isArray = Array.isArray(row) || ArrayBuffer.isView(row);
  if (isArray && row.length !== columns.length) {
    throw new Error(`A row has ${row.length} values, not ${columns.length}.`);
  }
  return columns.map((column, number) => {
    const key = isArray ? number : column.name;
    if (!(key in row)) {
      throw new Error(`A row has no column ${JSON.stringify(column.name)}.`);
    }
    const code = encodeValue(column, row[key]);
    if ({{is_refused}}) {
      const name = JSON.stringify(column.name);
      throw new Error(`Column ${name} must not be ${String(row[key])}.`);
    }
    return code;
  });
}

%if numerals
const NUMERAL = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;

%end
function encodeValue(column, given) {
  let value = given;
  if (value === null || value === undefined || Number.isNaN(value) || column.unused) {
    return NaN;
  }
%if temporal
  if (value instanceof Date) {
    if (!column.temporal) {
      throw new Error(`Column ${JSON.stringify(column.name)} holds no dates.`);
    }
    value = value.getTime() / 1000;
  }
%end
  if (typeof value === "boolean" || typeof value === "bigint") {
    value = Number(value);
  }
  if (column.levels !== null && column.types.includes(typeof value)) {
    return column.levels.get(value) ?? -1;
  }
%if numerals
  if (column.numerals && typeof value === "string" && NUMERAL.test(value)) {
    value = Number(value);
  }
%end
  if (column.levels !== null || typeof value !== "number") {
    const name = JSON.stringify(column.name);
    const type = typeof given;
    throw new Error(`Column ${name} does not take the ${type} ${String(given)}.`);
  }
  return value;
}
%if trees

// Child of a value that is present, or UNKNOWN.
function testValue(test, lowBranch, value) {
%if levels
  if (test[KIND] !== NUMERIC && !(value >= 0 && value < nLevels[test[FEATURE]])) {
    return UNKNOWN;
  }
%end
%if nominal
  if (test[KIND] === NOMINAL) {
    const nPairs = maps[test[MAP]];
    let child = -1;
    if (nPairs < 0) {
      child = maps[test[MAP] + 1 + value];
    }
    for (let i = test[MAP] + 1; i <= test[MAP] + nPairs; i++) {
      if (maps[i] === value) {
        child = maps[i + nPairs];
      }
    }
    return child < 0 ? UNKNOWN : child;
  }
%end
  return value <= test[THRESHOLD] ? lowBranch : 1 - lowBranch;
}
%if oblique

// Child of a sum of columns, and the column of a level that it does not know.
function testSum(node, row) {
  const end = node[TERM] + node[N_TERMS];
  let total = 0;
  for (let i = node[TERM]; i < end; i++) {
    const [feature, level, weight, fill] = terms[i];
    const value = row[feature];
%if level_terms
    if (level >= 0) {
      let place = Number.isNaN(value) ? i : -1;
      for (; i < end && terms[i][0] === feature; i++) {
        place = terms[i][1] === value ? i : place;
      }
      i--;
      if (place < 0) {
        return [UNKNOWN, feature];
      }
      total += Number.isNaN(value) ? fill : terms[place][2];
      continue;
    }
    if (nLevels[feature] > 0 && !Number.isNaN(value)
        && !(value >= 0 && value < nLevels[feature])) {
      return [UNKNOWN, feature];
    }
%end
    total += Number.isNaN(value) ? fill : weight * value;
  }
  return [total <= node[THRESHOLD] ? 0 : 1, node[FEATURE]];
}
%end

// Child of a row, or STAY, FRACTIONAL or REFUSED, and the tested column.
function findBranch(node, row) {
  let branch, column = node[FEATURE];
%if oblique
  if (node[KIND] === OBLIQUE) {
    [branch, column] = testSum(node, row);
    return [branch === UNKNOWN ? {{unseen}} : branch, column];
  }
%end
  if (Number.isNaN(row[column])) {
%if surrogates
    for (let i = 0; i < node[N_SURROGATES]; i++) {
      const other = surrogates[node[SURROGATE] + i];
      if (!Number.isNaN(row[other[FEATURE]])) {
        branch = testValue(other, other[LOW_BRANCH], row[other[FEATURE]]);
        if (branch !== UNKNOWN) {
          return [branch, column];
        }
      }
    }
%end
    return [node[MISSING], column];
  }
  branch = testValue(node, 0, row[column]);
  return [branch === UNKNOWN ? {{unseen}} : branch, column];
}

// Add to mean what a share of a row gets from a node on.
function spread(number, share, row, mean) {
  let node = nodes[number];
  while (node[FEATURE] >= 0) {
    const [branch, column] = findBranch(node, row);
%if refuses_unseen
    if (branch === REFUSED) {
      const name = JSON.stringify(columns[column].name);
      throw new Error(`Column ${name} has a level that was not seen in training.`);
    }
%end
%if fractional
    if (branch === FRACTIONAL) {
      const children = nodes.slice(node[FIRST], node[FIRST] + node[N_CHILDREN]);
      const total = children.reduce((sum, child) => sum + child[WEIGHT], 0);
      for (let i = 0; i < children.length && total > 0; i++) {
        if (children[i][WEIGHT] > 0) {
          spread(node[FIRST] + i, share * children[i][WEIGHT] / total, row, mean);
        }
      }
      if (total > 0) {
        return;
      }
    }
%end
    if (branch < 0) {
      break;
    }
    node = nodes[node[FIRST] + branch];
  }
  values[node[STOP]].forEach((value, j) => { mean[j] += share * value; });
}
%end
%if chooses

// The first of the largest values, up to a tolerance.
function choose(value, tolerance) {
  let best = 0;
  for (let i = 1; i < value.length; i++) {
    best = value[i] > value[best] + tolerance ? i : best;
  }
  return best;
}
%end
%if trees

// Add up what the trees give.
function addUp(given) {
  const row = encodeRow(given);
  const sums = [...start, ...new Array({{n_sums}} - N_SCORES).fill(0)];
  for (const [root, score, weight] of trees) {
    const mean = new Array(WIDTH).fill(0);
    spread(root, 1, row, mean);
%if votes
    const n = N_SCORES / N_OUTPUTS;
    for (let j = 0; j < N_SCORES; j += n) {
      sums[j + choose(mean.slice(j, j + n), {{tolerance}})] += weight;
    }
%if ties
    for (let j = 0; j < N_SCORES; j++) {
      sums[N_SCORES + j] += mean[{{second}} + j];
    }
%end
%else
    mean.forEach((value, j) => { sums[score + j] += weight * value; });
%end
  }
%if divides_first
  for (let j = 0; j < N_SCORES; j++) {
    sums[j] /= {{divisor}};
  }
%end
  return sums;
}
%else

// Add up what the columns give.
function addUp(given) {
  const row = encodeRow(given);
  const sums = [...start, ...new Array({{n_sums}} - N_SCORES).fill(0)];
  for (const [feature, nLevels, first, missing, unseen, centre] of linear) {
    const value = row[feature];
    let place = first, factor = 1;
    if (Number.isNaN(value)) {
      place = missing;
%if maps
    } else if (nLevels > 0) {
      place = value >= 0 && value < nLevels ? maps[first + value] : unseen;
%end
    } else {
      factor = value - centre;
    }
%if refuses_unseen
    if (place < 0) {
      const name = JSON.stringify(columns[feature].name);
      throw new Error(`Column ${name} has a level that was not seen in training.`);
    }
%end
    values[place].forEach((weight, j) => { sums[j] += factor * weight; });
  }
  return sums;
}
%end

// {{about_scores}}
export function predictScores(row) {
  return addUp(row).slice(0, N_SCORES).map((score) => score{{last_division}});
}
%if classifier
%if has_shares

// Probabilities of the classes; those of several outputs follow one another.
export function predictProba(row) {
  const scores = predictScores(row);
%if expit
  return [1, -1].map((sign) => 1 / (1 + Math.exp({{scale}} * sign * scores[0])));
%end
%if softmax
  const largest = Math.max(...scores);
  const parts = scores.map((score) => Math.exp({{scale}} * (score - largest)));
%end
%if positive_shares
  const parts = scores.map((score) => Math.max(score, 0));
%end
%if clipped_shares
  const parts = scores.map((score) => Math.min(Math.max(score, 0), 1));
%end
%if some_shares
  if (!parts.some((part) => part > 0)) {
    parts[choose(scores, 0)] = 1;
  }
%end
%if shared
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
%end
%if identity
  return scores;
%end
}
%end

// Numbers of the predicted classes, one for each output.
export function predictClasses(row) {
  const sums = addUp(row);
%if one_score
  return [sums[0] > 0 ? 1 : 0];
%else
  const n = N_SCORES / N_OUTPUTS;
  const chosen = [];
  for (let j = 0; j < N_SCORES; j += n) {
    const first = {{deciding}} + j;
    let best = choose(sums.slice(first, first + n), {{final_tolerance}});
%if ties
    // Of those with most votes, the one with the largest sum of probabilities.
    for (let k = 0; k < n; k++) {
      if (sums[j + k] === sums[j + best]
          && sums[N_SCORES + j + k] > sums[N_SCORES + j + best]) {
        best = k;
      }
    }
%end
    chosen.push(best);
  }
  return chosen;
%end
}

// Label of the predicted class; of several outputs an array.
export function predict(row) {
  const chosen = predictClasses(row);
%if one_output
  return classes[chosen[0]];
%else
  return chosen.map((number, output) => classes[output][number]);
%end
}
%else

// Predicted value; of several outputs an array.
export function predict(row) {
  const predicted = predictScores(row){{to_values}};
%if one_output
  return predicted[0];
%else
  return predicted;
%end
}
%end
""".lstrip()

STEPS_TEMPLATE = r"""
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


def list_texts(program: ScoreProgram, tables: Tables) -> tuple[dict, dict]:
    """List what the template needs: the flags of the model, the texts of the places."""
    total, rows = program.total, tables.rows
    columns = describe_columns(total.schema, quote, MISSING, program.refuses_missing)
    predictions = describe_predictions(total, quote)
    node_fields = enumerate(tables.fields["nodes"])
    comments = comment_nodes(program, quote, " // {}")
    temporal = [c.source in TEMPORAL for c in total.schema.columns]
    if any(temporal):
        columns.append("a date is a Date, or such a number of seconds")
    is_refused = "!Number.isFinite(code)"
    if not program.refuses_missing:
        is_refused = "Math.abs(code) === Infinity"
    texts = {
        "columns": "\n".join(f"//   {line}" for line in columns),
        "predictions": "\n".join(f"// {line}" for line in predictions),
        "column_rows": "\n".join(map(write_column, total.schema.columns)),
        "labels": write_labels(program),
        "node_fields": ", ".join(f"{n.upper()} = {i}" for i, n in node_fields),
        "low_branch": str(tables.n_test_fields),
        "nodes": write_rows(rows["nodes"], write_number, "[]", comments=comments),
        **{
            name: write_rows(rows[name], write_number, "[]")
            for name in ("surrogates", "terms", "values", "trees", "linear")
        },
        "start": ", ".join(map(write_number, total.start.tolist())),
        "is_refused": is_refused,
        "to_values": "",
    }
    if total.link in VALUES:
        value = VALUES[total.link].format(scale=total.scale)
        texts["to_values"] = f".map((s) => {value})"
    numerals = any(map(takes_numerals, total.schema.columns))
    return {"temporal": any(temporal), "numerals": numerals}, texts


def write_javascript(steps: ModelSteps) -> str:
    """Write a model as a module of JavaScript."""
    if steps.is_single:
        return write_program(steps.program, TEMPLATE, list_texts)
    sources, rows = [], []
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
        source = write_program(step.program, TEMPLATE, list_texts)
        source = re.sub("^export ", "", source, flags=re.MULTILINE)
        sources.append(
            f"const step{number} = (() => {{\n{source.rstrip()}\nreturn {given};\n"
            "})();"
        )
        rows.append(f"[step{number}, [{', '.join(map(str, step.places))}]]")
    columns = describe_columns(steps.schema, quote, MISSING)
    predictions = describe_predictions(steps.program.total, quote)
    texts = {
        "about": f"{describe_steps(steps)}, by sklearn_textbook.",
        "columns": "\n".join(f"//   {line}" for line in columns),
        "predictions": "\n".join(f"// {line}" for line in predictions),
        "steps": "\n\n".join(sources),
        "names": f"[{', '.join(map(quote, steps.schema.names))}]",
        "step_rows": "\n".join(f"  {row}," for row in rows[:-1]),
        "last": rows[-1],
    }
    return render(STEPS_TEMPLATE, steps.program.list_flags(), texts)
