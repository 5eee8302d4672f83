"""Reading a table to learn from: features, target, weights, and notes on them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook.cli import report
from sklearn_textbook.cli.algorithms import takes_numbers_only
from sklearn_textbook.cli.blocks import Blocks, Line, Note
from sklearn_textbook.cli.columns import (
    count_missing,
    find_hints,
    find_useless,
    quote_name,
    report_columns,
)
from sklearn_textbook.cli.errors import make_fit_error, refuse_use
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.target import TargetColumn, read_target
from sklearn_textbook.io import read_table
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.naming import count_things, explain_unknown_name, list_names
from sklearn_textbook.io.table_file import TableFile, display_path
from sklearn_textbook.linear_model.design.formula import parse_formula

#: Options that say how a file is laid out.
LAYOUT = ("delimiter", "encoding", "sheet", "skip_lines", "comment")
#: How an algorithm of numbers takes text.
_INDICATORS = "use --set categorical_features=from_dtype for indicators of the levels"


@dataclass(frozen=True)
class TrainingTable:
    """A table to learn from.

    Features, target and weights are those of the rows with a value of the target;
    ``useless`` are columns that cannot help, and why.
    """

    file: TableFile
    features: pa.Table
    goal: TargetColumn
    weights: np.ndarray | None
    useless: dict

    def fit(self, estimator, rows=None) -> None:
        """Fit an estimator to some of the rows, None for all."""
        X, y, weights = self.features, self.goal.values, self.weights
        if rows is not None:
            X, y = X.take(rows), y[rows]
            weights = None if weights is None else weights[rows]
        options = {} if weights is None else {"sample_weight": weights}
        with warnings.catch_warnings():
            # The user was informed, and passed --keep.
            warnings.filterwarnings("ignore", message="Column .* identifies the rows")
            if rows is not None:  # of a fold; the fit of all rows has warned
                dependent = "Columns are linearly dependent or constant"
                warnings.filterwarnings("ignore", message=dependent)
            # There is a note on it.
            warnings.filterwarnings(
                "ignore", message="The pruned tree is a single leaf"
            )
            estimator.fit(X, y, **options)


def keep_columns(training: TrainingTable, formulas: Sequence[str]) -> TrainingTable:
    """Keep the columns that formulas name, so that gaps in others do not count."""
    names = training.features.column_names
    try:
        parsed = [parse_formula(text, names) for text in formulas]
    except ValueError as error:
        reason = str(error).rstrip(".")
        gone = [name for name in training.useless if name in reason]
        remedy = f"--keep {quote_name(gone[0])} keeps it" if gone else ""
        raise make_fit_error(reason, training.file.path, remedy=remedy) from error
    used = {name for formula in parsed for name in formula.columns}
    kept = [name for name in names if name in used]
    useless = {name: why for name, why in training.useless.items() if name in used}
    return replace(training, features=training.features.select(kept), useless=useless)


def leave_out_gaps(training: TrainingTable, estimator) -> tuple[TrainingTable, list]:
    """Leave out rows with missing values if a model leaves them out of its fit.

    A parameter ``missing="drop"``, perhaps of a member, says so. Then all scores are
    those of the same rows. Notes say how many they are.
    """
    params = estimator.get_params().items()
    asked = [
        value
        for name, value in params
        if name.rpartition("__")[2] == "missing" and isinstance(value, str)
    ]
    if "drop" not in asked:
        return training, []
    is_complete = np.ones(training.features.num_rows, dtype=bool)
    for column in training.features.columns:
        is_complete &= ~np.asarray(compute.is_null(column, nan_is_null=True))
    n_left_out = int(np.count_nonzero(~is_complete))
    if not n_left_out or not is_complete.any():
        return training, []
    rows = np.flatnonzero(is_complete)
    goal = replace(training.goal, values=training.goal.values[rows])
    weights = None if training.weights is None else training.weights[rows]
    features = training.features.take(rows)
    made = replace(training, features=features, goal=goal, weights=weights)
    return made, [f"{count_things(n_left_out, 'row')} with missing values left out"]


def read_training(
    table: str, target: str | None, algorithm: str, options: dict, settings=()
) -> TrainingTable:
    """Read a table to learn from.

    Without a target, the file names it. Columns that only name the rows, according to
    the file, are added to ``id`` of the options, and ``weight`` is set if the file has
    weights. Settings of the algorithm may say that it reads text.
    """
    file = read_training_file(table, target, options)
    if target is None:
        target = file.target
    if target is None:  # named by the file, and left out by an option
        _refuse_without_target(file)
    file = _set_ids_aside(file, target, options)
    if options["weight"] is None and file.weight != target:
        options["weight"] = file.weight
    frame, goal, weights = _split_columns(file, target, algorithm, options["weight"])
    useless = find_useless(frame, file.has_header)
    for name in [*options["keep"], *_list_types(options)]:
        useless.pop(name, None)
    if len(useless) == frame.num_columns:
        name, reason = next(iter(useless.items()))
        raise make_fit_error(
            f"{reason}, and no other column is left to predict from",
            file.path,
            name,
            _find_text_note(file, name) or f"use --keep {name} to keep it",
        )
    frame = frame.drop_columns(list(useless))
    if takes_numbers_only(algorithm, settings):
        require_numbers(file, frame, algorithm)
    return TrainingTable(file, frame, goal, weights, useless)


def _refuse_without_target(file) -> None:
    refuse_use(
        f"Missing option '--target', the column to predict: {file.path} has "
        f"{list_names(file.names)}"
    )


def read_training_file(path, target, options, *, needs_target: bool = True):
    """Read the file; columns of --drop and --id are left out."""
    left_out = [*options["drop"], *options["id"]]
    if target in left_out:
        refuse_use(f"--target {target!r} is also in --drop or --id")
    types = _list_types(options)
    weight = options["weight"]
    for name in [*types, *options["keep"], weight]:
        if name in left_out:
            refuse_use(
                f"{name!r} is left out, but listed in --categorical, --numeric, "
                "--ordinal, --date, --keep or --weight"
            )
    if weight is not None:
        if weight == target:
            refuse_use(f"--weight {weight!r} is also the --target")
        types[weight] = "numeric"
    with show_progress("reading the table"):
        file = read_table(
            path,
            **{name: options[name] for name in LAYOUT},
            header=options["header"],
            missing_marks=options["missing_marks"] or MISSING_MARKS,
            decimal=options["decimal"],
            column_types=types,
            drop=left_out,
            expected_names=[target, *left_out, *types, *options["keep"]],
        )
    if needs_target and target is None and file.target is None:
        _refuse_without_target(file)
    for name in options["keep"]:
        if name not in file.names:
            remedy = explain_unknown_name(name, file.names)
            raise file.error(f"no column {name!r} to keep", remedy=remedy)
    return file


def require_numbers(file, frame, algorithm) -> None:
    """Refuse columns that are not numeric, for algorithms that require numbers."""
    names = [
        name
        for name, kind in zip(frame.column_names, frame.schema.types, strict=True)
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind))
    ]
    if names:
        if len(names) == frame.num_columns:
            raise make_fit_error(
                f"{algorithm} requires numeric columns, and there are none",
                file.path,
                remedy=f"{_INDICATORS}, or choose another algorithm",
            )
        dropped = quote_name(",".join(names))
        it = "the column" if len(names) == 1 else "such columns"
        remedy = f"{_INDICATORS}, or --drop {dropped} to leave {it} out"
        note = _find_text_note(file, names[0])
        raise make_fit_error(
            f"{algorithm} requires numeric columns",
            file.path,
            names[0],
            f"{note}; or {remedy}" if note else remedy,
        )


def _find_text_note(file, name):
    """Find the note that tells how a column of text can be read, or return ""."""
    subject = f"column {name!r}"
    start = f"{subject} is read as text"
    notes = (note for note in file.notes if note.startswith(start))
    return next((f"it{note.removeprefix(subject)}" for note in notes), "")


def _list_types(options):
    """Return the types declared by the user, by column."""
    types = {}
    for option, declared in (
        ("--categorical", dict.fromkeys(options["categorical"], "categorical")),
        ("--numeric", dict.fromkeys(options["numeric"], "numeric")),
        ("--ordinal", dict(options["ordinal"])),
        ("--date", dict(options["dates"])),
    ):
        for name, wish in declared.items():
            if name in types:
                refuse_use(f"{name!r} is in {option} and also declared in another way")
            types[name] = wish
    return types


def _set_ids_aside(file, target, options):
    """Treat identifiers that the file declares like --id columns."""
    given = [target, *_list_types(options), *options["keep"]]
    ids = [name for name in file.id_columns if name not in given]
    options["id"] = [*options["id"], *ids]
    return replace(file, frame=file.frame.drop_columns(ids))


def _split_columns(file, name, algorithm, weight):
    """Return features, target and weights of the training rows."""
    if name not in file.names:
        raise file.error(
            f"no column {name!r} to predict",
            remedy=explain_unknown_name(name, file.names),
        )
    if file.n_columns == 1 + (weight is not None):
        raise make_fit_error(
            "the target is the only column, so there is nothing to predict it from",
            file.path,
            name,
        )
    weights = None if weight is None else read_weights(file, weight)
    column = file.frame[name]
    frame = file.frame.drop_columns([name] if weight is None else [name, weight])
    n_missing = count_missing(column)
    if n_missing == len(column):
        raise make_fit_error("the target has no values", file.path, name)
    is_used = ~column.is_null(nan_is_null=True).to_numpy()
    if weights is not None:
        is_used &= weights > 0
        if not is_used.any():
            raise make_fit_error("no row has a positive weight", file.path, weight)
    if not is_used.all():
        rows = np.flatnonzero(is_used)
        column, frame = column.take(rows), frame.take(rows)
        weights = None if weights is None else weights[rows]
    note = _find_text_note(file, name)
    return frame, read_target(column, name, algorithm, file.path, note), weights


def read_weights(file, name):
    """Read the weights of the rows, numbers from 0 upwards."""
    values = file.frame[name].to_numpy().astype(np.float64)
    wrong = np.flatnonzero(~(values >= 0))
    if len(wrong):
        row = int(wrong[0])
        is_missing = np.isnan(values[row])
        raise file.error(
            f"the weight is {'missing' if is_missing else f'{values[row]:g}'}",
            row=row,
            column=name,
            remedy="weights must be numbers >= 0",
        )
    return values


def report_layout(file, options, facts=()) -> Blocks:
    """Report the size of a table, some facts, and the columns that are left out."""
    left_out = list(dict.fromkeys([*options["drop"], *options["id"]]))
    rows = count_things(file.n_rows, "row")
    columns = count_things(file.n_columns + len(left_out), "column")
    yield Line(f": {rows}, {columns} ({file.layout})", display_path(file.path))
    if left_out:
        facts = [*facts, f"left out: {list_names(left_out)}"]
    yield from map(Line, facts)


def report_training(training, options) -> Blocks:
    """Report the table that was read."""
    file, features, goal = training.file, training.features, training.goal
    facts = [f"target {report.describe_target(goal)}"]
    if training.weights is not None:
        total = f"{training.weights.sum():,.12g}"
        facts.append(f"weights {options['weight']}: {total} in all")
    yield from report_layout(file, options, facts)
    n_dropped = file.n_rows - features.num_rows
    if n_dropped:
        missing = count_things(n_dropped, "row")
        no_weight = "" if training.weights is None else ", or of weight 0"
        yield f"left out: {missing} without a value of {goal.name!r}{no_weight}"
    yield from report_columns(features)
    notes = [
        *file.notes,
        *([goal.note] if goal.note else []),
        *(
            f"column {name!r} {reason}; it is left out (use --keep "
            f"{quote_name(name)} to keep it)"
            for name, reason in training.useless.items()
        ),
        *find_hints(features),
    ]
    if notes:
        yield from ["", *map(Note, notes)]
