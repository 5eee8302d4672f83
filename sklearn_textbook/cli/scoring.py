"""Scores: on the training rows, by cross-validation, on a test table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from sklearn.model_selection import KFold, StratifiedKFold

from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.metrics import measure
from sklearn_textbook.cli.options import (
    CLASS_SCORES,
    DEFAULT_CLASS_SCORES,
    DEFAULT_NUMBER_SCORES,
    NUMBER_SCORES,
)
from sklearn_textbook.io.naming import count_things


@dataclass(frozen=True)
class Score:
    """The metrics of some predictions.

    Metrics are NaN where they have no value; over folds they are means, and have
    standard deviations. The note is the number of rows or folds.
    """

    where: str
    means: dict
    deviations: dict
    note: str = ""


@dataclass(frozen=True)
class Predicted:
    """Labels or numbers that are predicted; probabilities of classes, intervals."""

    values: np.ndarray
    probabilities: np.ndarray | None = None
    intervals: np.ndarray | None = None

    def take(self, rows):
        """Return the predictions for some of the rows."""
        others = (
            None if part is None else part[rows]
            for part in (self.probabilities, self.intervals)
        )
        return Predicted(self.values[rows], *others)


@dataclass(frozen=True)
class Scorer:
    """How predictions are made and scored.

    Labels are in the order of ``classes_``; ``costs[true, predicted]``: the class with
    the least expected cost is predicted. Without metrics, the default ones are meant.
    """

    labels: np.ndarray | None
    costs: np.ndarray | None = None
    metrics: tuple[str, ...] = ()

    @property
    def is_classes(self) -> bool:
        """Whether classes are predicted."""
        return self.labels is not None

    def predict(self, estimator, X):
        """Predict with an estimator, which may know only some of the classes."""
        with warnings.catch_warnings():
            # Of a table to predict they are noted; of folds rare levels are expected.
            warnings.filterwarnings("ignore", message="Levels not seen in training")
            return self.predict_loudly(estimator, X)

    def predict_loudly(self, estimator, X):
        """Predict, and warn of levels that were not seen in training."""
        if not self.is_classes:
            return Predicted(estimator.predict(X))
        predict_proba = find_probabilities(estimator)
        if predict_proba is None:
            return self._predict_without_probabilities(estimator, X)
        known = predict_proba(X)
        probabilities = np.zeros((len(known), len(self.labels)))
        probabilities[:, np.searchsorted(self.labels, estimator.classes_)] = known
        if self.costs is None:
            return Predicted(estimator.predict(X), probabilities)
        return self.decide(probabilities)

    def _predict_without_probabilities(self, estimator, X):
        """Predict with an estimator that gives classes only."""
        if self.costs is not None:
            refuse_use(
                f"--cost: this {type(estimator).__name__} has no probabilities, from "
                "which costs are computed; use --set decoding=probability"
            )
        return Predicted(estimator.predict(X))

    def give_costs(self, estimator, y) -> None:
        """Train a model with the costs of the classes of y, if it can be."""
        if self.costs is None or "cost_matrix" not in estimator.get_params(deep=False):
            return
        is_known = np.isin(self.labels, y)
        costs = self.costs[np.ix_(is_known, is_known)]
        votes = getattr(estimator, "voting", "soft") == "hard"
        if not votes and costs.any(axis=1).all():
            estimator.set_params(cost_matrix=costs.tolist())

    def decide(self, probabilities):
        """Predict the most probable class, or the one with the least expected cost."""
        best = (
            probabilities.argmax(1)
            if self.costs is None
            else (probabilities @ self.costs).argmin(1)
        )
        return Predicted(self.labels[best], probabilities)

    def score(
        self, where: str, y_true, predicted, weights=None, note: str = ""
    ) -> Score:
        """Score predictions of some rows; without a note, it is their number."""
        values, probabilities = predicted.values, predicted.probabilities
        headings = CLASS_SCORES if self.is_classes else NUMBER_SCORES
        defaults = DEFAULT_CLASS_SCORES if self.is_classes else DEFAULT_NUMBER_SCORES
        means = {
            headings[name]: measure(
                name, y_true, values, probabilities, self.labels, weights
            )
            for name in self.metrics or defaults
        }
        if self.costs is not None:
            means["cost"] = _measure_cost(self, y_true, values, weights)
        if not note:
            weighted = "" if weights is None else ", weighted"
            note = f"{count_things(len(y_true), 'row')}{weighted}"
        return Score(where, means, {}, note)

    def score_baseline(self, y_true, weights=None):
        """Score the baseline: predicting the most frequent class, or the mean."""
        if not self.is_classes:
            mean = np.average(y_true, weights=weights)
            values = np.full(len(y_true), mean)
            return self.score("mean", y_true, Predicted(values), weights)
        sums = [_sum_weights(y_true == label, weights) for label in self.labels]
        values = np.full(len(y_true), self.labels[np.argmax(sums)])
        return self.score("majority class", y_true, Predicted(values), weights)


def find_probabilities(estimator):
    """Find the method for probabilities; for hard voting, proportions of votes."""
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba
    return getattr(estimator, "vote_fractions", None)


def _measure_cost(scorer, y, values, weights):
    """Mean cost of a row; NaN if a true class has none."""
    order = np.argsort(scorer.labels)
    ranked = scorer.labels[order]
    if not np.isin(y, ranked).all():
        return np.nan
    true, chosen = (order[np.searchsorted(ranked, labels)] for labels in (y, values))
    return float(np.average(scorer.costs[true, chosen], weights=weights))


def _sum_weights(is_chosen, weights):
    return is_chosen.sum() if weights is None else weights[is_chosen].sum()


def score_out_of_bag(scorer: Scorer, estimator, y, weights=None) -> Score | None:
    """Score the out-of-bag predictions of an ensemble, if it has any."""
    name = "oob_decision_function_" if scorer.is_classes else "oob_prediction_"
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
    decided = scorer.decide(predicted) if scorer.is_classes else Predicted(predicted)
    weights = None if weights is None else weights[judged]
    return scorer.score("out-of-bag", y[judged], decided, weights)


def choose_folds(n_folds: int, y: np.ndarray, is_classes: bool) -> tuple[int, list]:
    """Choose as many folds as the rows allow, 0 if not even two, and note why."""
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


def cross_validate(
    scorer, estimator, training, n_folds: int, seed: int, steps, list_members=None
) -> tuple[list[Score], Predicted]:
    """Score by cross-validation, stratified for classes, the rows shuffled.

    ``steps`` is told of every fold; ``list_members`` lists members of a fitted
    estimator that are scored, too. The predictions are those of the models that were
    not trained on the rows.
    """
    template = clone(estimator)
    if getattr(template, "oob_score", False):
        template.set_params(oob_score=False)  # it is not used
    y = training.goal.values
    values = np.empty_like(y)
    probabilities = (
        None if scorer.labels is None else np.empty((len(y), len(scorer.labels)))
    )
    by_part = {}
    for train, test in _split_folds(y, scorer.is_classes, n_folds, seed):
        model = clone(template)
        scorer.give_costs(model, y[train])
        with steps.watch(model):
            training.fit(model, train)
        weights = None if training.weights is None else training.weights[test]
        members = [] if list_members is None else list_members(model)
        for number, (name, part) in enumerate([("cross-validated", model), *members]):
            fold = scorer.predict(part, training.features.take(test))
            if part is model:
                values[test] = fold.values
                if fold.probabilities is None:
                    probabilities = None
                elif probabilities is not None:
                    probabilities[test] = fold.probabilities
            where = f"  {name}" if number else name
            means = scorer.score("", y[test], fold, weights).means
            by_part.setdefault(where, []).append(means)
        steps.advance()
    return [average_folds(*part) for part in by_part.items()], Predicted(
        values, probabilities
    )


def average_folds(where: str, scores: list[dict]) -> Score:
    """Average the metrics of the folds."""
    means, deviations = {}, {}
    for name in scores[0]:
        values = np.array([score[name] for score in scores])
        values = values[np.isfinite(values)]
        means[name], deviations[name] = np.nan, np.nan
        if len(values):
            means[name], deviations[name] = values.mean(), values.std()
    return Score(where, means, deviations, count_things(len(scores), "fold"))


def _split_folds(y, is_classes, n_folds, seed) -> list:
    splitter = StratifiedKFold if is_classes else KFold
    folds = splitter(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # `choose_folds` notes classes with fewer rows than folds.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(folds.split(np.zeros((len(y), 1)), y))


def count_confusions(y_true, y_predicted, labels, weights=None):
    """Sum the weights of rows by true class (rows) and predicted class (columns)."""
    return confusion_matrix(y_true, y_predicted, labels=labels, sample_weight=weights)


def score_classes(y_true, y_predicted, labels, weights=None):
    """Compute precision, recall, F1 and weight of every class, NaN where undefined."""
    return precision_recall_fscore_support(
        y_true, y_predicted, labels=labels, sample_weight=weights, zero_division=np.nan
    )
