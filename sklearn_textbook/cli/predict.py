"""The command ``predict``: apply a model to a table."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pyarrow as pa

from sklearn_textbook.cli import report
from sklearn_textbook.cli.blocks import Note
from sklearn_textbook.cli.costs import restore_scorer
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.explanations import explain_rows, require_explainable
from sklearn_textbook.cli.model_table import (
    as_features,
    copy_columns,
    find_unseen_levels,
    join_columns,
    predict_rows,
    read_model_beside,
    read_model_table,
    read_notes,
    score_table,
)
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.output_files import require_table_output, write_table_output
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.scoring import find_probabilities
from sklearn_textbook.io.table_file import display_path


def predict_table(
    model: str,
    table: str,
    *,
    path: str | None,
    proba: bool,
    interval: float | None,
    explain: bool,
    all_columns: bool,
    **options,
) -> None:
    """Predict the rows of a table and write the predictions."""
    require_table_output(path, model, table)
    saved = read_model_beside(model, table)
    require_predictor(saved.estimator, model, proba, interval)
    notes = read_notes(saved, model)
    if explain:
        require_explainable(saved.estimator, model)
    scorer = restore_scorer(saved, model)
    wanted = options["id"]
    notes["id"] = list(dict.fromkeys([*notes["id"], *wanted]))
    rows = read_model_table(saved, notes, table, options)
    copied = copy_columns(rows, notes["id"], wanted, path, copies_all=all_columns)
    predicted = predict_rows(saved, scorer, rows)
    columns = {"prediction": pa.array(predicted.values.tolist())}
    if proba:
        for label, probability in zip(
            scorer.labels, predicted.probabilities.T, strict=True
        ):
            columns[f"probability_{report.show_label(label)}"] = pa.array(probability)
    if interval is not None:
        X = as_features(saved.schema, rows.features)
        columns |= predict_bounds(saved.estimator, X, interval)
    if explain:
        X = as_features(saved.schema, rows.features)
        with show_progress("explaining"):
            sentences = explain_rows(scorer, saved.estimator, X, predicted)
        columns["explanation"] = pa.array(sentences)
    frame = join_columns(rows, copied, columns)
    write_table_output(path, frame)
    messages = Output(sys.stderr)
    messages.write(*map(Note, find_unseen_levels(saved, rows)))
    if rows.target is not None:
        tested = score_table(saved, scorer, rows, predicted, "")
        if tested is None:
            what = "classes" if scorer.is_classes else "numbers"
            messages.write(Note(f"no scores: column {saved.target!r} has no {what}"))
        else:
            messages.write(*map(Note, tested.notes))
            report_score(messages, tested.score, display_path(rows.file.path))


def predict_bounds(estimator, X, interval: float) -> dict[str, pa.Array]:
    """Predict an interval of each row, or the set of its classes, as columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Levels not seen in training")
        if hasattr(estimator, "predict_interval"):
            low, high = estimator.predict_interval(X, interval).T
            return {"lower": pa.array(low), "upper": pa.array(high)}
        is_member = estimator.predict_set(X, interval)
    labels = [report.show_label(label) for label in estimator.classes_]
    sets = [
        ", ".join(label for label, is_in in zip(labels, row, strict=True) if is_in)
        for row in is_member
    ]
    return {"set": pa.array(sets)}


def can_bound(estimator) -> bool:
    """Return whether a model has stored what intervals or sets of classes need."""
    return getattr(estimator, "_calibration", None) is not None


def require_predictor(estimator, model, proba, interval=None) -> None:
    """Refuse a model that cannot predict what is asked for."""
    if interval is not None:
        if not 0.0 < interval < 1.0:
            refuse_use(f"--interval must be between 0 and 1, got {interval:g}")
        if not can_bound(estimator):
            refuse_use(
                f"--interval: {model} has no intervals; they require a random forest, "
                "bagging or gradient boosting of numbers (with --set "
                "n_iter_no_change=10) that was fitted with --set "
                "store_distribution=true"
            )
    if not hasattr(estimator, "predict"):
        kind = type(estimator).__name__
        refuse_use(
            f"{model} contains a {kind}, which makes no predictions; use transform"
        )
    if proba and hasattr(estimator, "decoding") and estimator.decoding != "probability":
        refuse_use(
            f"--proba: {model} has no probabilities; fit it with "
            "--set decoding=probability"
        )
    if proba and find_probabilities(estimator) is None:
        refuse_use(f"--proba: {model} predicts numbers, which have no probabilities")


def report_score(output, score, path) -> None:
    """Write the scores of a table in one line."""
    means = ", ".join(
        f"{name} {value:.4g}"
        for name, value in score.means.items()
        if np.isfinite(value)
    )
    output.write(f"{path}: {means} ({score.note})")
