"""Evaluation of the predictions: scores, classes, curves, residuals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.metrics import auc, roc_curve

from sklearn_textbook._contract.text_table import TextTable
from sklearn_textbook.cli import report
from sklearn_textbook.cli.blocks import Note
from sklearn_textbook.cli.html_report.elements import (
    Html,
    fold,
    join,
    list_terms,
    make,
    make_table,
    scroll,
    write_blocks,
    write_help,
    write_table,
)
from sklearn_textbook.cli.html_report.figures import (
    MOST_POINTS,
    draw,
    draw_calibration,
    draw_predicted,
    draw_residuals,
    draw_roc,
    group_probabilities,
)
from sklearn_textbook.cli.metrics import measure
from sklearn_textbook.cli.options import (
    CLASS_SCORES,
    DEFAULT_NUMBER_SCORES,
    NUMBER_SCORES,
)
from sklearn_textbook.cli.predict import TEST_COVERAGE
from sklearn_textbook.cli.scoring import count_confusions, score_classes
from sklearn_textbook.inspection import IntervalDisplay
from sklearn_textbook.io.naming import count_things
from sklearn_textbook.tree.rules import write_weight

#: Classes that have curves, one-vs-rest.
MOST_CURVES = 6
_SOURCES = {
    "cross-validated": "Each row is predicted by a model that was not trained on it.",
    "test": "The rows of the test table, on which no model was trained.",
}
_CLASS_SCORES = (
    "Precision: fraction of the rows predicted as the class that belong to it. Recall: "
    "fraction of the rows of the class that are predicted as it. F1: their harmonic "
    "mean."
)
_CONFUSIONS = (
    "Rows: true classes; columns: predicted classes. The diagonal is correct. The "
    "shading shows the fraction of the true class."
)
_MEASURES = {
    "accuracy": "fraction of rows whose class is predicted correctly",
    "balanced accuracy": "mean recall of the classes, with equal weights",
    "kappa": "agreement beyond chance: 0 for guessing, 1 without errors",
    "AUC": "how often a row of a class has a higher probability of it than a row of "
    "another class: 0.5 is guessing (mean over the classes)",
    "F1 macro": "harmonic mean of precision and recall of a class, averaged over the "
    "classes with equal weights",
    "F1 micro": "F1 of all classes together, which equals the accuracy",
    "F1 weighted": "F1 of each class, averaged with the numbers of rows as weights",
    "precision macro": "fraction of the rows predicted as a class that belong to it, "
    "averaged over the classes",
    "recall macro": "fraction of the rows of a class that are predicted as it, "
    "averaged over the classes that are true or predicted",
    "MCC": "Matthews correlation of true and predicted classes: 0 for guessing, 1 "
    "without errors",
    "log loss": "mean of minus the logarithm of the probability of the true class: 0 "
    "is best, and confident errors cost most",
    "cost": "mean cost per row",
    "R2": "fraction of the variance of the target that is explained: 0 for always "
    "predicting the mean, 1 without errors",
    "RMSE": "square root of the mean squared error, in units of the target",
    "MAE": "mean absolute error, in units of the target",
    "median AE": "median absolute error, in units of the target",
    "MAPE": "mean of the absolute error divided by the absolute value of the target",
}


def write_scores(scores, notes, judged):
    """Write all scores, those of the terminal first.

    ``judged`` are predictions of rows that the model has not seen, and where they are
    from.
    """
    parts = [write_blocks([report.report_scores(scores), *map(Note, notes)])]
    pooled = [(where, _measure(rows), rows) for where, rows in judged]
    names = list(scores[0].means)
    if pooled:
        heads = list(pooled[0][1])
        names += [name for name in heads if name not in names]
        rows = [
            (where, *map(_write_number, values.values()), f"{len(rows.true):,} rows")
            for where, values, rows in pooled
        ]
        table = TextTable(["", *heads, " "], rows, "l" + "r" * len(heads) + "l")
        caption = "All predicted rows together, not averaged over folds"
        parts.append(write_table(table, caption=caption))
    terms = {name: _MEASURES[name] for name in names if name in _MEASURES}
    parts.append(fold("What the scores mean", list_terms(terms)))
    parts += [_write_judged(where, rows) for where, rows in judged]
    return join(*parts)


def _write_number(value):
    if not np.isfinite(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.5g}"


def _measure(rows):
    """Measure predictions all together; NaN where a measure has no value."""
    headings, names = NUMBER_SCORES, DEFAULT_NUMBER_SCORES
    if rows.labels is not None:
        headings, names = CLASS_SCORES, ["accuracy", "balanced_accuracy"]
        names += [] if rows.probabilities is None else ["log_loss"]
    found = (rows.true, rows.predicted, rows.probabilities, rows.labels, rows.weights)
    return {headings[name]: measure(name, *found) for name in names}


def _write_judged(where, rows):
    """Write what the predictions of some rows look like."""
    source = write_help(_SOURCES[where])
    if rows.labels is None:
        return join(make("h3", f"Errors: {where}"), source, _draw_errors(where, rows))
    compared = (rows.true, rows.predicted, rows.labels, rows.weights)
    confusions = count_confusions(*compared)
    classes = report.report_class_scores(score_classes(*compared), rows.labels)
    unit = "" if rows.weights is None else ", in weights"
    parts = [
        make("h3", f"Confusion matrix: {where}{unit}"),
        source,
        _write_confusions(confusions, rows.labels),
        make("h3", f"Classes: {where}"),
        write_table(classes, "classes"),
        write_help(_CLASS_SCORES),
    ]
    if rows.probabilities is not None:
        parts.append(_draw_curves(where, rows))
    return join(*parts)


def _write_confusions(confusions, labels):
    """Write a confusion matrix, shaded by row; of many classes the commonest errors."""
    table = report.report_confusions(confusions, labels)
    if len(labels) > report.MOST_CLASSES:
        return write_table(table, "confusions")
    totals = np.maximum(confusions.sum(axis=1), 1e-300)
    rows = []
    for row, (name, *_) in enumerate(table.rows):
        cells = [
            make(
                "td",
                write_weight(count),
                class_="right" if column == row else None,
                style=f"--share: {count / totals[row]:.3f}",
            )
            for column, count in enumerate(confusions[row])
        ]
        rows.append([name, *cells])
    matrix = make_table(replace(table, rows=rows), class_="matrix")
    return join(scroll(matrix, "confusion matrix"), write_help(_CONFUSIONS))


# ---------------------------------------------------------------------- figures
def _draw_curves(where, rows):
    """Draw ROC and calibration of the classes, those of the most rows."""
    chosen, rest = _choose_classes(rows)
    rocs, calibrations = [], []
    for column in chosen:
        is_class = rows.true == rows.labels[column]
        probabilities = rows.probabilities[:, column]
        name = report.show_label(rows.labels[column])
        wrong, right, _ = roc_curve(is_class, probabilities, sample_weight=rows.weights)
        rocs.append((name, wrong, right, auc(wrong, right)))
        groups = group_probabilities(is_class, probabilities, rows.weights)
        calibrations.append((name, *groups))
    if not rocs:
        return Html()
    against = "" if len(rows.labels) == 2 else " Each curve is one-vs-rest."
    areas = "; ".join(f"{name}: {area:.3f}" for name, *_, area in rocs)
    first = draw(
        f"roc-{where}",
        f"ROC curves, area under the curve: {areas}",
        "The closer a curve gets to the upper left corner, the better the class is "
        f"separated from the others; the dashed line is guessing.{against}{rest}",
        lambda ax: draw_roc(ax, rocs),
    )
    second = draw(
        f"calibration-{where}",
        "Calibration: frequency of the class by predicted probability",
        "Rows grouped by predicted probability. On the dashed line, the class is as "
        "frequent as predicted; below it, the probability is too high. Larger points "
        "have more rows.",
        lambda ax: draw_calibration(ax, calibrations),
    )
    return make(
        "div",
        make("div", make("h3", f"ROC: {where}"), first),
        make("div", make("h3", f"Calibration: {where}"), second),
        class_="pair",
    )


def _choose_classes(rows):
    """Choose the classes that have a curve, and count those without."""
    n_known = rows.probabilities.shape[1]
    weights = np.ones(len(rows.true)) if rows.weights is None else rows.weights
    sizes = np.array(
        [weights[rows.true == label].sum() for label in rows.labels[:n_known]]
    )
    possible = np.flatnonzero((sizes > 0) & (sizes < weights.sum()))
    if n_known == 2:
        return possible[-1:], ""
    chosen = possible[np.argsort(-sizes[possible], kind="stable")][:MOST_CURVES]
    n_more = len(possible) - len(chosen)
    more = "class is" if n_more == 1 else "classes are"
    rest = f" {n_more} smaller {more} left out." if n_more else ""
    return np.sort(chosen), rest


def _draw_errors(where, rows):
    """Draw predicted against actual values, and residuals."""
    true, predicted = rows.true, np.asarray(rows.predicted, dtype=np.float64)
    some = ""
    if len(true) > MOST_POINTS:
        all_rows = count_things(len(true), "row")
        some = f" {MOST_POINTS:,} of {all_rows}, drawn at random."
    first = draw(
        f"predicted-{where}",
        "Actual against predicted values",
        f"On the dashed line, predicted and actual value are equal.{some}",
        lambda ax: draw_predicted(ax, true, predicted),
    )
    second = draw(
        f"residuals-{where}",
        "Residuals against predicted values",
        "Errors should scatter evenly around 0; a bend or a funnel shows what the "
        f"model does not describe.{some}",
        lambda ax: draw_residuals(ax, true, predicted),
    )
    pair = make("div", first, second, class_="pair")
    if rows.intervals is None:
        return pair
    display, percent = IntervalDisplay.from_predictions, f"{TEST_COVERAGE * 100:g} %"
    intervals = draw(
        f"intervals-{where}",
        f"{percent} intervals and actual values",
        f"{percent} of the values should be inside, on average over all rows.",
        lambda ax: display(true, rows.intervals, rows.weights, ax=ax),
    )
    return join(pair, intervals)
