"""Reading a table to learn from: features, target, and what is told of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from rich.text import Text

from sklearn_textbook.cli import report
from sklearn_textbook.cli.columns import count_missing, find_hints, print_columns
from sklearn_textbook.cli.errors import make_fit_error, refuse_use
from sklearn_textbook.cli.target import read_target
from sklearn_textbook.io import read_table
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.naming import count_things, explain_unknown_name, list_names
from sklearn_textbook.io.table_file import display_path
from sklearn_textbook.io.table_reader import guess_format


def read_training(table, target, algorithm, options):
    """Read a table to learn from.

    Parameters
    ----------
    table : str
        Its path.
    target : str or None
        Column to predict; None leaves it to the file.
    algorithm : str
        Name of the algorithm, which may demand classes or numbers.
    options : dict
        How the table is read. Columns that, as the file says, only name the rows are
        added to ``id``.

    Returns
    -------
    file : TableFile
        The table.
    features : pyarrow.Table
        The columns to predict from, of the rows that have a value of the target.
    goal : Target
        The target of these rows.
    """
    file = _read_training_file(table, target, options)
    if target is None:
        target = file.target
    if target is None:  # named by the file, and left out by an option
        _refuse_without_target()
    file = _set_ids_aside(file, target, options)
    return file, *_split_target(file, target, algorithm)


def _refuse_without_target():
    refuse_use("Missing option '--target'")


def _read_training_file(path, target, options):
    if target is None and guess_format(path) != "c45":
        _refuse_without_target()
    left_out = [*options["drop"], *options["id"]]
    if target in left_out:
        refuse_use(f"--target {target!r} is also in --drop or --id")
    types = dict.fromkeys(options["categorical"], "categorical")
    for name in options["numeric"]:
        if name in types:
            refuse_use(f"{name!r} is in both --categorical and --numeric")
        types[name] = "numeric"
    for name in types:
        if name in left_out:
            refuse_use(f"{name!r} is left out, and in --categorical or --numeric")
    return read_table(
        path,
        delimiter=options["delimiter"],
        header=options["header"],
        encoding=options["encoding"],
        missing_marks=options["missing_marks"] or MISSING_MARKS,
        column_types=types,
        drop=left_out,
        expected_names=[target, *left_out, *types],
    )


def _set_ids_aside(file, target, options):
    """Treat columns that only name the rows, as the file says, like those of --id."""
    given = [target, *options["categorical"], *options["numeric"]]
    ids = [name for name in file.id_columns if name not in given]
    options["id"] = [*options["id"], *ids]
    return replace(file, frame=file.frame.drop_columns(ids))


def _split_target(file, name, algorithm):
    """Give features and target of the rows that have a value of the target."""
    if name not in file.names:
        raise file.error(
            f"no column {name!r} to predict",
            remedy=explain_unknown_name(name, file.names),
        )
    if file.n_columns == 1:
        raise make_fit_error(
            "the target is the only column, so there is nothing to predict it from",
            file.path,
            name,
        )
    column = file.frame[name]
    frame = file.frame.drop_columns([name])
    n_missing = count_missing(column)
    if n_missing == len(column):
        raise make_fit_error("the target has no values at all", file.path, name)
    if n_missing:
        present = np.flatnonzero(~_is_missing(column))
        column, frame = column.take(present), frame.take(present)
    goal = read_target(column, name, algorithm, file.path)
    return frame, goal


def _is_missing(column):
    return column.is_null(nan_is_null=True).to_numpy()


def print_training(output, file, features, goal, options):
    """Say what was read before anything is done with it."""
    left_out = [*options["drop"], *options["id"]]
    rows = count_things(file.n_rows, "row")
    columns = count_things(file.n_columns + len(left_out), "column")
    line = Text(display_path(file.path), style="bold")
    line.append(f": {rows}, {columns} ({file.layout})", style="not bold")
    output.write(line)
    output.write(f"target {report.describe_target(goal)}")
    if left_out:
        output.write(f"left out: {list_names(left_out)}")
    n_dropped = file.n_rows - features.num_rows
    if n_dropped:
        missing = count_things(n_dropped, "row")
        output.write(f"left out: {missing} without a value of {goal.name!r}")
    print_columns(output, features)
    notes = [*file.notes, *([goal.note] if goal.note else [])]
    hints = find_hints(features)
    if notes or hints:
        output.write("")
        output.notes([*notes, *hints])
