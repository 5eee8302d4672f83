"""The command ``predict``: apply a model to a table."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from sklearn_textbook.cli import report
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.model_table import (
    predict_rows,
    read_model_table,
    read_notes,
    score_table,
)
from sklearn_textbook.cli.output import Output
from sklearn_textbook.io import TableFileError, read_model, write_arff
from sklearn_textbook.io.table_file import display_path


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
    _write(pa.table(columns), path)
    if rows.target is not None:
        score, _, _ = score_table(saved, rows, predicted, "")
        if score is not None:
            _report_score(score, display_path(rows.file.path))


def _report_score(score, path):
    means = ", ".join(f"{name} {value:.4g}" for name, value in score.means.items())
    Output(sys.stderr).write(f"{path}: {means} ({score.note})")


def _write(frame, path):
    """Write the predictions in the format that the ending of the name says."""
    if path is None:
        _write_csv(frame, sys.stdout, ",")
        return
    ending = Path(path).suffix.lower()
    try:
        if ending in (".parquet", ".pq"):
            parquet.write_table(frame, path)
        elif ending == ".arff":
            write_arff(frame, path, relation="predictions")
        else:
            with Path(path).open("w", encoding="utf-8", newline="") as stream:
                _write_csv(frame, stream, "\t" if ending == ".tsv" else ",")
    except OSError as error:
        reason = error.strerror or str(error)
        raise TableFileError(f"cannot be written ({reason})", path=path) from None


def _write_csv(frame, stream, delimiter):
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(frame.column_names)
    columns = [[_csv_text(value) for value in c.to_pylist()] for c in frame.columns]
    writer.writerows(zip(*columns, strict=True))


def _csv_text(value):
    if value is None:
        return ""
    return report.show_label(value) if isinstance(value, bool) else value
