"""The command ``predict``: apply a model to a table."""

from __future__ import annotations

import sys

import pyarrow as pa

from sklearn_textbook.cli import report
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.model_table import (
    predict_rows,
    read_model_table,
    read_notes,
    score_table,
)
from sklearn_textbook.cli.output import Output
from sklearn_textbook.io import read_model
from sklearn_textbook.io.table_file import display_path
from sklearn_textbook.io.table_writer import choose_writer, write_csv


def predict_table(model, table, *, path, proba, **options):
    """Predict the rows of a table and write the predictions.

    Parameters
    ----------
    model : str
        Path of the model file.
    table : str
        Path of the table.
    path : str or None
        File to write, None for the standard output.
    proba : bool
        Whether to add the probabilities of the classes.
    **options
        How the table is read: id, delimiter, header, encoding, missing_marks.
    """
    if path is not None:
        choose_writer(path)  # refuses a name before the work
    saved = read_model(model)
    notes = read_notes(saved, model)
    if proba and not hasattr(saved.estimator, "predict_proba"):
        refuse_use(f"--proba: {model} predicts numbers, which have no probabilities")
    wanted = options["id"]
    notes["id"] = list(dict.fromkeys([*notes["id"], *wanted]))
    rows = read_model_table(saved, notes, table, options)
    for name in wanted:
        if name not in rows.file.names:
            raise rows.file.error(f"no column {name!r} to copy")
    predicted = predict_rows(saved, rows)
    columns = {
        name: rows.file.frame[name] for name in notes["id"] if name in rows.file.names
    }
    columns["prediction"] = pa.array(predicted.tolist())
    if proba:
        shares = predict_rows(saved, rows, "predict_proba")
        for label, share in zip(saved.estimator.classes_, shares.T, strict=True):
            columns[f"probability_{report.show_label(label)}"] = pa.array(share)
    frame = pa.table(columns)
    if path is None:
        write_csv(frame, sys.stdout)
    else:
        choose_writer(path)(frame, path)
    if rows.target is not None:
        score, _, _ = score_table(saved, rows, predicted, "")
        if score is not None:
            _report_score(score, display_path(rows.file.path))


def _report_score(score, path):
    means = ", ".join(f"{name} {value:.4g}" for name, value in score.means.items())
    Output(sys.stderr).write(f"{path}: {means} ({score.note})")
