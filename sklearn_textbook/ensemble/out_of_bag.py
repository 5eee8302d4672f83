"""Out-of-bag estimates, 包外估计: each row predicted by members that did not see it.

周志华《机器学习》, section 8.3.1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, get_scorer, get_scorer_names, r2_score

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.costs import choose_classes, get_costs
from sklearn_textbook._contract.labels import decode_labels
from sklearn_textbook._contract.parameters import is_checked, show_value
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.tables import count_rows
from sklearn_textbook.ensemble.conformal import (
    KEPT_CALIBRATION,
    Calibration,
    is_calibrated,
)
from sklearn_textbook.ensemble.jackknife import StandardErrorMixin
from sklearn_textbook.ensemble.leaf_rows import KEPT_LEAF_ROWS
from sklearn_textbook.ensemble.members.estimator_members import take_rows

#: Fitted attributes of the estimate, and of the distribution of the target.
ATTRIBUTES = (
    *("oob_score_", "oob_curve_", "oob_prediction_", "oob_decision_function_"),
    *("_calibration", "_leaf_rows"),
)
#: New rows that all members predict at a time.
_ROWS_AT_ONCE = 4096
#: Those that model files keep; the predictions of the training rows are left out.
KEPT_OUT_OF_BAG = (
    SavedField("oob_score_", is_optional=True, is_finite=False),
    SavedField("oob_curve_", shape=(None,), is_optional=True, is_finite=False),
    KEPT_CALIBRATION,
    KEPT_LEAF_ROWS,
)


@dataclass(frozen=True, eq=False)
class OutOfBagEstimate:
    """Predictions of the members for the rows they have not seen."""

    #: Mean class probabilities, fractions of votes or values; 0 for a row that all
    #: members saw; (n_rows, n_outputs, n_statistics).
    prediction: np.ndarray
    #: Number of members that predicted each row.
    n_members: np.ndarray
    #: Error after 1, 2, ... members over the rows scored so far: the fraction of wrong
    #: classes, or the mean squared error; NaN if there is no such row.
    curve: np.ndarray
    #: Standard deviation of the members' values; NaN for a row that fewer than two
    #: predicted; (n_rows, n_outputs). None: not measured.
    spread: np.ndarray | None = None


def check_oob_score(value):
    """Require a truth value, the name of a scorer or a function."""
    if not is_checked() or isinstance(value, (bool, np.bool_)):
        return
    if (
        value in get_scorer_names()
        if isinstance(value, str)
        else (callable(value) and not isinstance(value, type))
    ):
        return
    raise ValueError(
        "The 'oob_score' parameter must be True, False, the name of a scikit-learn "
        "scorer (see sklearn.metrics.get_scorer_names) or a function of the true and "
        f"the predicted target; got {show_value(value)} of type {type(value).__name__}."
    )


def estimate_out_of_bag(
    predictions: Iterable | np.ndarray,
    target: np.ndarray,
    n_rows: int,
    n_statistics: int,
    costs: np.ndarray | None = None,
    *,
    measures_spread: bool = False,
) -> OutOfBagEstimate:
    r"""Combine out-of-bag predictions, and measure the error as members are added.

    .. math:: H^{oob}(x) = \arg\max_y \sum_t \mathbb{I}(h_t(x) = y) \cdot
        \mathbb{I}(x \notin D_t)

    ``predictions`` are of each member the numbers of its out-of-bag rows, and its
    predictions of them; ``target`` has class numbers or values.
    周志华《机器学习》, section 8.3.1, formulas 8.20 and 8.21; L. Breiman (1996),
    Out-of-bag estimation.
    """
    is_classifier = np.issubdtype(target.dtype, np.integer)
    total = np.zeros((n_rows, target.shape[1], n_statistics))
    n_members = np.zeros(n_rows, dtype=np.int64)
    # A member changes the errors of its own out-of-bag rows only.
    error = np.zeros(n_rows)
    curve = []
    means, squares = np.zeros((2, *target.shape)) if measures_spread else (None, None)
    for rows, predicted in predictions:
        sums = take_rows(total, rows) + predicted
        known = take_rows(target, rows)
        total[rows] = sums
        n_members[rows] += 1
        if measures_spread:
            # As by Welford: no difference of large sums.
            change = predicted[:, :, 0] - means[rows]
            means[rows] += change / n_members[rows, np.newaxis]
            squares[rows] += change * (predicted[:, :, 0] - means[rows])
        if is_classifier:
            error[rows] = (find_largest(sums, costs) != known).mean(axis=1)
        else:
            mean = sums[:, :, 0] / n_members[rows, np.newaxis]
            error[rows] = ((mean - known) ** 2).mean(axis=1)
        n_scored = np.count_nonzero(n_members)
        curve.append(error.sum() / n_scored if n_scored else np.nan)
    prediction = total / np.maximum(n_members, 1)[:, np.newaxis, np.newaxis]
    spread = None
    if measures_spread:
        n_free = np.where(n_members > 1, n_members - 1.0, np.nan)
        spread = np.sqrt(squares / n_free[:, np.newaxis])
    return OutOfBagEstimate(prediction, n_members, np.array(curve), spread)


def find_largest(sums, costs=None):
    """Return the class with the largest sum, the first of several.

    With costs, it is that of the least cost. ``argmax`` takes long for each row of a
    short axis.
    """
    if costs is not None:
        totals = sums[:, 0].sum(axis=1, keepdims=True)
        shares = sums[:, 0] / np.where(totals > 0.0, totals, 1.0)
        return choose_classes(shares, costs)[:, np.newaxis]
    if sums.shape[2] == 2:
        return (sums[:, :, 1] > sums[:, :, 0]).astype(np.intp)
    return sums.argmax(axis=2)


def warn_of_unscored_rows(n_members) -> None:
    """Warn if some row is out of bag for no member."""
    if (n_members == 0).any():
        # The text of scikit-learn, for users who filter warnings by their text.
        warn_caller(
            "Some inputs do not have OOB scores. This probably means too few "
            "estimators were used to compute any reliable oob estimates: "
            f"{np.count_nonzero(n_members == 0)} of {len(n_members)} rows were drawn "
            "for every one.",
            UserWarning,
        )


class _Predicted(BaseEstimator):
    """Replaces the ensemble in a call of a scorer, with predictions already made."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.predicted


class _PredictedClassifier(ClassifierMixin, _Predicted):
    def predict_proba(self, X):
        return self.probabilities


class _PredictedRegressor(RegressorMixin, _Predicted):
    pass


def score_named(
    name: str,
    is_scored: np.ndarray,
    target: np.ndarray,
    predicted: np.ndarray,
    probabilities: np.ndarray | list[np.ndarray] | None = None,
    classes: np.ndarray | list[np.ndarray] | None = None,
) -> float:
    """Score out-of-bag predictions with a scorer of scikit-learn."""
    model = _PredictedRegressor() if probabilities is None else _PredictedClassifier()
    if isinstance(probabilities, list):
        probabilities = [of_output[is_scored] for of_output in probabilities]
    elif probabilities is not None:
        probabilities = probabilities[is_scored]
    model.predicted, model.probabilities = predicted[is_scored], probabilities
    model.classes_, target = classes, target[is_scored]
    return get_scorer(name)(model, np.zeros((len(target), 1)), target)


def calibrate_out_of_bag(estimate, target, weight) -> Calibration | None:
    """Calibrate intervals or sets of classes by an estimate; None: by no row."""
    is_scored = estimate.n_members > 0
    if weight is not None:
        is_scored &= weight > 0
        weight = weight[is_scored]
    predicted, target = estimate.prediction[is_scored], target[is_scored]
    if len(target) == 0:
        return None
    if estimate.spread is not None:
        residuals, spread = target - predicted[:, :, 0], estimate.spread[is_scored]
        return Calibration.of_values(residuals, spread, weight)
    if target.shape[1] > 1:
        return None
    codes = target[:, 0].astype(np.int64)
    own = predicted[np.arange(len(codes)), 0, codes]
    return Calibration.of_classes(codes, own, weight)


class OutOfBagMixin(StandardErrorMixin):
    """Members one by one: scores and distributions from out-of-bag rows."""

    #: What ``oob_decision_function_`` has for a row that is out of bag for no member.
    _unscored_probability = 0.0

    @abstractmethod
    def _read_tables(self, X) -> Iterator:
        """Read a new table as the members take it, block by block."""

    @abstractmethod
    def _make_predictor(self) -> Callable:
        """Return a function of a member's number and a table: its predictions.

        They have the shape (n_rows, n_outputs, n_statistics).
        """

    def _read_rows(self, X):
        """Read a new table, some rows at a time."""
        for table in self._read_tables(X):
            n_rows = count_rows(table)
            for first in range(0, n_rows, _ROWS_AT_ONCE):
                rows = np.arange(first, min(first + _ROWS_AT_ONCE, n_rows))
                yield take_rows(table, rows)

    def _predict_members(self, X):
        """Predict blocks of rows, (n_members, n_rows, n_outputs, n_statistics)."""
        predict = self._make_predictor()
        for block in self._read_rows(X):
            numbers = range(len(self.estimators_))
            yield np.stack([predict(number, block) for number in numbers])

    def _require_stored(self, trees: Sequence) -> None:
        """Raise ValueError if what a file has does not match its trees."""
        if getattr(self, "_leaf_rows", None) is not None:
            self._leaf_rows.require_trees(trees)
        if is_calibrated(self):
            n_classes = getattr(self, "n_classes_", 0)
            self._calibration.require_target(trees[0].n_outputs, n_classes)

    def _estimate_out_of_bag(
        self,
        table,
        target: np.ndarray,
        n_statistics: int,
        weight: np.ndarray | None = None,
    ) -> None:
        """Set the attributes of the out-of-bag estimate, and calibrate by it."""
        is_classified = np.issubdtype(target.dtype, np.integer)
        estimate = estimate_out_of_bag(
            self._predict_out_of_bag(table),
            target,
            len(target),
            n_statistics,
            get_costs(self),
            measures_spread=self.store_distribution and not is_classified,
        )
        if self.store_distribution:
            self._calibration = calibrate_out_of_bag(estimate, target, weight)
        if not self.oob_score:
            return
        warn_of_unscored_rows(estimate.n_members)
        self.oob_curve_ = estimate.curve
        score = self._score_classes if is_classified else self._score_values
        self.oob_score_ = score(estimate, target)

    def _predict_out_of_bag(self, table):
        """Predict the out-of-bag rows of each member."""
        predict, nothing = self._make_predictor(), np.zeros((0, 1, 1))
        for number, (draw, seed) in enumerate(self._list_draws()):
            rows = np.flatnonzero(draw.mark_out_of_bag(seed))
            unseen = take_rows(table, rows)
            yield rows, predict(number, unseen) if len(rows) else nothing

    def _score_classes(self, estimate, known):
        """Keep the out-of-bag probabilities, and score them."""
        best = find_largest(estimate.prediction, get_costs(self))
        is_scored = estimate.n_members > 0
        of_output = list(estimate.prediction.swapaxes(0, 1))
        is_single = len(of_output) == 1
        classes = [self.classes_] if is_single else self.classes_
        decisions = of_output[0].copy() if is_single else np.stack(of_output, axis=2)
        decisions[~is_scored] = self._unscored_probability
        self.oob_decision_function_ = decisions
        if isinstance(self.oob_score, str):
            return score_named(
                self.oob_score,
                is_scored,
                decode_labels(known, classes),
                decode_labels(best, classes),
                of_output[0] if is_single else of_output,
                self.classes_,
            )
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        return score(known[:, 0], best[:, 0]) if is_single else score(known, best)

    def _score_values(self, estimate, known):
        """Keep the out-of-bag values, and score them."""
        predicted = estimate.prediction[:, :, 0]
        if predicted.shape[1] == 1:
            predicted, known = predicted[:, 0], known[:, 0]
        self.oob_prediction_ = predicted
        if isinstance(self.oob_score, str):
            is_scored = estimate.n_members > 0
            return score_named(self.oob_score, is_scored, known, predicted)
        score = self.oob_score if callable(self.oob_score) else r2_score
        return score(known, predicted)
