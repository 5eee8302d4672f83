"""Reading a table for a model: the columns as the model knows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sklearn_textbook.cli.errors import explain_error, make_fit_error, refuse_use
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.scoring import Predicted, Score, Scorer
from sklearn_textbook.cli.training_table import LAYOUT, read_weights
from sklearn_textbook.io import (
    ModelFileError,
    TableFileError,
    read_model,
    read_table,
)
from sklearn_textbook.io.date_formats import is_date_format
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.model_file import looks_like_model
from sklearn_textbook.io.naming import count_things, list_names, suggest_name
from sklearn_textbook.io.number_formats import DECIMAL_MARKS, PERCENT
from sklearn_textbook.io.saved_model import SavedModel
from sklearn_textbook.io.table_file import TableFile
from sklearn_textbook.io.table_writer import writes_text

_TEXT_SOURCES = ("string", "category", "mixed")


#: Levels not seen in training that are named.
MOST_LEVELS = 5


@dataclass(frozen=True)
class Tested:
    """The predictions of a table that has the target.

    Texts of labels, or numbers, are compared; ``probabilities`` are those of the
    classes of the model, the first ones of ``labels``; ``intervals`` those of numbers.
    """

    score: Score
    true: np.ndarray
    predicted: np.ndarray
    labels: np.ndarray | None
    weights: np.ndarray | None
    notes: tuple = ()
    probabilities: np.ndarray | None = None
    intervals: np.ndarray | None = None


@dataclass(frozen=True)
class ModelTable:
    """A table with the columns of a model, and perhaps its target and weights."""

    file: TableFile
    features: pa.Table
    target: object = None
    weights: np.ndarray | None = None

    def explain(self, error):
        """Make the error for a refused table, with the first line without a value."""
        for name in self.features.column_names if "contains NaN" in str(error) else ():
            is_missing = self.features[name].is_null(nan_is_null=True).to_numpy()
            if is_missing.any():
                return self.file.error(
                    "the value is missing, which the model does not accept",
                    row=int(is_missing.argmax()),
                    column=name,
                    remedy="fill it in, or remove the row",
                )
        return make_fit_error(explain_error(error), self.file.path)


def read_notes(model: SavedModel, path: str) -> dict:
    """Check and return the notes of `fit` on the training table."""
    defaults = {"names": [], "id": [], "numeric": []}
    defaults["missing_marks"] = list(MISSING_MARKS)
    notes = {name: model.table.get(name, value) for name, value in defaults.items()}
    for name, value in notes.items():
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            raise ModelFileError(
                f"is damaged: table.{name} is not a list of names", path
            )
    weight = model.table.get("weight")
    if not (weight is None or isinstance(weight, str)):
        raise ModelFileError("is damaged: table.weight is not a name", path)
    for name in ("dates", "units"):
        notes[name] = model.table.get(name, {})
        texts = notes[name].values() if isinstance(notes[name], dict) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise ModelFileError(f"is damaged: table.{name} is not of texts", path)
    for name, text in notes["dates"].items():
        if not is_date_format(text):
            raise ModelFileError(
                f"is damaged: table.dates: {text!r} of {name!r} is no date format", path
            )
    notes["decimal"] = model.table.get("decimal")
    if notes["decimal"] not in (None, *DECIMAL_MARKS):
        raise ModelFileError("is damaged: table.decimal is not a decimal mark", path)
    notes["has_header"] = model.table.get("has_header", True) is not False
    return notes


def read_model_beside(model: str, table: str) -> SavedModel:
    """Read a model, and recognise that it and a table were swapped."""
    try:
        with show_progress("reading the model"):
            return read_model(model)
    except ModelFileError:
        if looks_like_model(table):
            refuse_use(
                f"{table} is a model file and {model} is not; give the model first, "
                "and the table after it"
            )
        raise


def copy_columns(table: ModelTable, ids, wanted, path, *, copies_all: bool) -> dict:
    """Return the columns of a table that are copied to the output.

    Those of ``ids`` if the table has them, those of ``wanted``, which it must have, or
    all in the order of the table: to a text file as they are written.
    """
    for name in wanted:
        if name not in table.file.names:
            raise table.file.error(f"no column {name!r} to copy")
    frame = table.file.frame
    if copies_all:
        frame = table.file.read_written() if writes_text(path) else frame
        return dict(zip(frame.column_names, frame.columns, strict=True))
    return {name: frame[name] for name in ids if name in table.file.names}


def join_columns(table: ModelTable, copied: dict, made: dict) -> pa.Table:
    """Join columns of a table with those that were made; refuse equal names."""
    for name in made:
        if name in copied:
            raise table.file.error(
                "the output has a column of this name, too",
                column=name,
                remedy="rename it, or do not copy it",
            )
    return pa.table({**copied, **made})


def read_model_table(model, notes: dict, path: str, options: dict) -> ModelTable:
    """Read a table with the columns of a model, whatever order they have.

    Text is text where training had text, and a number where it had numbers; columns
    the model does not know are left alone.
    """
    schema = model.schema
    # Labels and identifiers are compared and copied as they are written.
    wishes = dict.fromkeys(notes["id"], "text")
    if model.target is not None and hasattr(model.estimator, "classes_"):
        wishes[model.target] = "text"
    if schema.has_names:
        for column in schema.columns:
            if column.source in _TEXT_SOURCES:
                wishes[column.name] = "text"
            elif column.source == "number":
                wishes[column.name] = "numeric"
    if model.table.get("weight") is not None:
        wishes[model.table["weight"]] = "numeric"
    wishes = dict.fromkeys(notes["numeric"], "numeric") | wishes
    wishes |= notes["dates"] | dict(options["dates"])
    header = options["header"]
    if header is None and not notes["has_header"]:
        header = False
    without_target = [name for name in notes["names"] if name != model.target]
    with show_progress("reading the table"):
        file = read_table(
            path,
            **{name: options[name] for name in LAYOUT},
            header=header,
            missing_marks=options["missing_marks"] or notes["missing_marks"],
            decimal=options["decimal"] or notes["decimal"],
            column_types=wishes,
            names_without_header=(notes["names"], without_target),
            expected_names=schema.names if schema.has_names else (),
            unknown_names="ignore",
        )
    _require_units(file, notes["units"])
    target = None
    if model.target in file.names and model.target not in schema.names:
        target = file.frame[model.target]
    weight = model.table.get("weight")
    weights = read_weights(file, weight) if weight in file.names else None
    features = _select_features(file, schema, (model.target, weight, file.weight))
    return ModelTable(file, features, target, weights)


def _require_units(file, units) -> None:
    """Refuse percentages where training had none, and another currency."""
    for name, unit in file.units.items():
        known = units.get(name, "")
        if unit != known and (known or unit == PERCENT):
            sign = f"the sign {known}" if known else "no sign"
            raise file.error(
                f"the numbers have the sign {unit}, and those in training had {sign}",
                column=name,
                remedy="write them as in training",
            )


def _select_features(file, schema, others):
    if schema.has_names:
        wanted, given = dict.fromkeys(schema.names), dict.fromkeys(file.names)
        missing = [name for name in wanted if name not in given]
        if missing:
            wording = "no columns" if len(missing) > 1 else "no column"
            others = [name for name in given if name not in wanted]
            raise file.error(
                f"{wording} {list_names(missing)}, which the model needs",
                remedy=suggest_name(missing[0], others)
                or f"there are: {list_names(list(given))}",
            )
        return file.frame.select(list(wanted))
    features = file.frame.drop_columns([name for name in file.names if name in others])
    if features.num_columns != len(schema.columns):
        raise TableFileError(
            f"has {features.num_columns} columns to predict from, but the model has "
            f"{len(schema.columns)}",
            path=file.path,
        )
    return features


def predict_rows(model: SavedModel, scorer: Scorer, table: ModelTable) -> Predicted:
    """Predict, and name the line of a level that the model refuses."""
    features = as_features(model.schema, table.features)
    try:
        with show_progress("predicting"):
            return scorer.predict(model.estimator, features)
    except ValueError as error:
        call = model.estimator.predict
        refused = _find_refused_level(model.schema, table, call, features)
        raise (refused or table.explain(error)) from error


def as_features(schema, frame):
    """Return the columns as in training: a frame, or values without names."""
    if schema.has_names:
        return frame
    values = [column.to_numpy(zero_copy_only=False) for column in frame.columns]
    if all(value.dtype.kind in "fiub" for value in values):
        return np.column_stack([value.astype(np.float64) for value in values])
    return np.column_stack([value.astype(object) for value in values])


def _find_refused_level(schema, table, call, features):
    """Find the first row whose unseen level the model refuses."""
    codes = schema.read(features)
    nominal = np.array([column.kind != "numeric" for column in schema.columns])
    unseen = (codes < 0) & nominal
    for row in np.flatnonzero(unseen.any(axis=1)).tolist():
        try:
            call(features[row : row + 1])
        except ValueError:
            position = int(np.flatnonzero(unseen[row])[0])
            column = schema.columns[position]
            value = table.features.column(position)[row].as_py()
            known = ", ".join(repr(level) for level in column.levels[:8])
            return table.file.error(
                f"{value!r} was not seen in training, and the model has "
                "handle_unknown='error'",
                row=row,
                column=column.name,
                remedy=f"training had {known}",
            )
    return None


def find_unseen_levels(model: SavedModel, table: ModelTable) -> list[str]:
    """Note levels that were not seen in training, and the rows that have them."""
    schema = model.schema
    codes = schema.read(as_features(schema, table.features))
    notes = []
    for position, column in enumerate(schema.columns):
        rows = np.flatnonzero(codes[:, position] < 0)
        if column.kind == "numeric" or not len(rows):
            continue
        values = table.features.column(position).take(rows).to_pylist()
        counts = Counter(map(str, values)).most_common()
        shown = ", ".join(
            f"{level!r} ({count_things(count, 'row')})"
            for level, count in counts[:MOST_LEVELS]
        )
        if len(counts) > MOST_LEVELS:
            more = sum(count for _, count in counts[MOST_LEVELS:])
            shown += f" and {len(counts) - MOST_LEVELS:,} more levels ({more:,} rows)"
        notes.append(f"column {column.name!r} has levels not seen in training: {shown}")
    return notes


def score_table(model, scorer, table, predicted, where: str) -> Tested | None:
    """Score predictions where the table has the target; None if it has no value."""
    present = np.flatnonzero(table.target.is_valid().to_numpy(zero_copy_only=False))
    notes, weights = (), None
    if not scorer.is_classes:
        # Of a model fitted with missing="drop".
        is_known = ~np.isnan(np.asarray(predicted.values, dtype=np.float64)[present])
        if not is_known.all():
            rows = count_things(int(np.count_nonzero(~is_known)), "row")
            notes = (f"{rows} with missing values: no prediction, not in the scores",)
            present = present[is_known]
    if table.weights is not None:
        present = present[table.weights[present] > 0]
        weights = table.weights[present]
    values = table.target.take(present).to_pylist()
    if not values:
        return None
    predicted = predicted.take(present)
    if scorer.is_classes:
        true, chosen, labels = (
            np.asarray([label_text(label) for label in labels], dtype=str)
            for labels in (values, predicted.values.tolist(), scorer.labels.tolist())
        )
        scorer = replace(scorer, labels=labels)
        predicted = replace(predicted, values=chosen)
    elif not isinstance(values[0], int | float):
        return None
    else:
        true = np.asarray(values, dtype=np.float64)
    score = scorer.score(where, true, predicted, weights)
    labels = scorer.labels
    if scorer.is_classes:
        new = np.setdiff1d(true, labels)
        labels = np.concatenate([labels, new])
        if len(new):
            rows = count_things(int(np.isin(true, new).sum()), "row")
            start = f"column {model.target!r} has classes not seen in training"
            notes = (f"{start}, which count as errors: {list_names(new)} ({rows})",)
    values, others = predicted.values, (predicted.probabilities, predicted.intervals)
    return Tested(score, true, values, labels, weights, notes, *others)


def label_text(label: object) -> str:
    """Write a label so that 1, 1.0 and "1" are the same one."""
    if isinstance(label, bool):
        return str(label).lower()
    text = str(label)
    if text.lower() in ("true", "false"):
        return text.lower()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)
