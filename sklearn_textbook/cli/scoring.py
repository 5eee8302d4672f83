"""Scores: on the training rows, by cross-validation, on a test table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)
from sklearn.model_selection import KFold, StratifiedKFold

from sklearn_textbook.io.naming import count_things

CLASS_METRICS = {"accuracy": accuracy_score}
NUMBER_METRICS = {
    "R2": r2_score,
    "RMSE": root_mean_squared_error,
    "MAE": mean_absolute_error,
}


@dataclass(frozen=True)
class Score:
    """The metrics of some predictions.

    Parameters
    ----------
    where : str
        Of which rows.
    means : dict of str to float
        Metric by name; over folds: their mean.
    deviations : dict of str to float
        Standard deviation over the folds; empty without folds.
    note : str
        How many rows or folds.
    """

    where: str
    means: dict
    deviations: dict
    note: str = ""


def list_metrics(is_classes):
    """Give the metrics of classes or numbers by name."""
    return CLASS_METRICS if is_classes else NUMBER_METRICS


def score_rows(where, y_true, y_predicted, is_classes, note=""):
    """Score predictions.

    Parameters
    ----------
    where : str
        Of which rows.
    y_true, y_predicted : ndarray
        Labels or numbers.
    is_classes : bool
        Whether they are classes.
    note : str, default=""
        Shown beside the score.

    Returns
    -------
    score : Score
        The metrics; R2 is NaN for fewer than two rows.
    """
    means = {}
    for name, metric in list_metrics(is_classes).items():
        too_few = name == "R2" and len(y_true) < 2
        means[name] = np.nan if too_few else float(metric(y_true, y_predicted))
    return Score(where, means, {}, note or count_things(len(y_true), "row"))


def score_baseline(y_true, is_classes):
    """Score the prediction that knows no column: the largest class, or the mean."""
    if is_classes:
        classes, counts = np.unique(y_true, return_counts=True)
        guess = np.full(len(y_true), classes[np.argmax(counts)])
        return score_rows("largest class", y_true, guess, True)
    return score_rows("mean", y_true, np.full(len(y_true), y_true.mean()), False)


def score_out_of_bag(estimator, y, is_classes):
    """Score the out-of-bag predictions of an ensemble on the rows that have one.

    Parameters
    ----------
    estimator : estimator
        A fitted ensemble.
    y : ndarray
        The training labels or numbers.
    is_classes : bool
        Whether they are classes.

    Returns
    -------
    score : Score or None
        None if the ensemble has no such predictions.
    """
    name = "oob_decision_function_" if is_classes else "oob_prediction_"
    predicted = getattr(estimator, name, None)
    if predicted is None:
        return None
    is_seen_by_all = np.ones(len(y), dtype=bool)
    for rows in estimator.estimators_samples_:
        is_seen_by_all &= np.bincount(rows, minlength=len(y)) > 0
    judged = np.flatnonzero(~is_seen_by_all)
    if not len(judged):
        return None
    predicted = predicted[judged]
    if is_classes:
        predicted = estimator.classes_.take(predicted.argmax(axis=1))
    return score_rows("out-of-bag", y[judged], predicted, is_classes)


def choose_folds(n_folds, y, is_classes):
    """Choose as many folds as the rows allow.

    Parameters
    ----------
    n_folds : int
        Folds wished for.
    y : ndarray
        Labels or numbers.
    is_classes : bool
        Whether they are classes: no fold more than rows in the largest class.

    Returns
    -------
    n_folds : int
        0 if not even two are possible.
    notes : list of str
        Why they are fewer, and which classes are too small.
    """
    counts = np.unique(y, return_counts=True)[1] if is_classes else None
    most = int(counts.max()) if is_classes else len(y) // 2
    notes = []
    if most < 2:
        return 0, ["no cross-validation: too few rows"]
    if n_folds > most:
        reason = "the largest class has" if is_classes else "half the table has"
        rows = count_things(most, "row")
        notes.append(f"{most} folds instead of {n_folds}: {reason} {rows}")
        n_folds = most
    if is_classes and counts.min() < n_folds:
        rows = count_things(int(counts.min()), "row")
        notes.append(f"the smallest class has {rows}, so some folds are without it")
    return n_folds, notes


def cross_validate(estimator, frame, y, is_classes, n_folds, seed, advance):
    """Score by cross-validation, stratified for classes, the rows shuffled.

    Parameters
    ----------
    estimator : estimator
        Cloned for every fold.
    frame : pyarrow.Table
        The columns.
    y : ndarray
        Labels or numbers.
    is_classes : bool
        Whether they are classes.
    n_folds : int
        Number of folds.
    seed : int
        Seed of the shuffling.
    advance : callable
        Called after every fold.

    Returns
    -------
    score : Score
        Mean and standard deviation of the metrics over the folds.
    predicted : ndarray
        For every row, the prediction of the tree that was grown without it.
    """
    template = clone(estimator)
    if getattr(template, "oob_score", False):
        template.set_params(oob_score=False)  # nobody looks at it
    splitter = StratifiedKFold if is_classes else KFold
    folds = splitter(n_folds, shuffle=True, random_state=seed)
    predicted = np.empty_like(y)
    scores = []
    with warnings.catch_warnings():
        # Said beforehand, in our words: some class has fewer rows than folds.
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = list(folds.split(np.zeros((len(y), 1)), y))
    for train, test in splits:
        model = clone(template).fit(frame.take(train), y[train])
        predicted[test] = model.predict(frame.take(test))
        scores.append(score_rows("", y[test], predicted[test], is_classes).means)
        advance()
    means = {name: np.mean([s[name] for s in scores]) for name in scores[0]}
    deviations = {name: np.std([s[name] for s in scores]) for name in scores[0]}
    kind = "stratified fold" if is_classes else "fold"
    note = count_things(n_folds, kind)
    return Score("cross-validated", means, deviations, note), predicted


def count_confusions(y_true, y_predicted, labels):
    """Count predictions by true class (rows) and predicted class (columns)."""
    return confusion_matrix(y_true, y_predicted, labels=labels)
