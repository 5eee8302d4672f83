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

#: Coverage of the intervals of a test table.
TEST_COVERAGE = 0.9


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
            bounds = estimator.predict_interval(X, interval).T
            # Linear regression may leave bounds unknown, NaN.
            low, high = (pa.array(bound, from_pandas=True) for bound in bounds)
            return {"lower": low, "upper": high}
        is_member = estimator.predict_set(X, interval)
    labels = [report.show_label(label) for label in estimator.classes_]
    sets = [
        ", ".join(label for label, is_in in zip(labels, row, strict=True) if is_in)
        for row in is_member
    ]
    return {"set": pa.array(sets)}


def can_bound(estimator) -> bool:
    """Return whether a model has intervals of new values, or sets of classes."""
    from sklearn_textbook.ensemble.conformal import is_calibrated
    from sklearn_textbook.linear_model import LinearRegression

    return is_calibrated(estimator) or isinstance(estimator, LinearRegression)


def require_predictor(estimator, model, proba, interval=None) -> None:
    """Refuse a model that cannot predict what is asked for."""
    if interval is not None:
        if not 0.0 < interval < 1.0:
            refuse_use(f"--interval must be between 0 and 1, got {interval:g}")
        if not can_bound(estimator):
            reason = (
                "has no intervals or sets of classes, which require linear regression, "
                "or with --set store_distribution=true a random forest, bagging or "
                "gradient boosting (with --set n_iter_no_change=10)"
            )
            if hasattr(estimator, "predict_interval") and hasattr(estimator, "link_"):
                reason = "has intervals of the mean of rows, not of new values"
            refuse_use(f"--interval: {model} {reason}")
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
