"""Conformal intervals and sets of classes, calibrated on rows that members did not see.

The rows are out of the bag or, in gradient boosting, validation rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_truth,
    is_real,
    show_value,
)
from sklearn_textbook._contract.saved_field import Record, SavedField
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.leaf_rows import predict_quantiles

#: Sums of weights are compared up to this fraction, for rounding.
_ROUNDING = 1e-10


def find_critical_score(
    scores: np.ndarray, coverage: float, weight: np.ndarray | None = None
) -> float:
    r"""Find the score that a new row exceeds with at most a given probability.

    .. math:: \min \Big\{ s : \sum_{i: s_i \leq s} w_i \geq
        (1 - \alpha) \Big( 1 + \frac{1}{n} \Big) \sum_i w_i \Big\}

    With equal weights, this is the score number :math:`\lceil (1 - \alpha)(n + 1)
    \rceil` in ascending order. A new row counts as one of mean weight. The score is
    infinite if there are too few rows.

    >>> from sklearn_textbook.ensemble.conformal import find_critical_score
    >>> find_critical_score(np.arange(1.0, 100.0), 0.9)
    90.0
    """
    n_rows = len(scores)
    if n_rows == 0:
        return np.inf
    order = np.argsort(scores, kind="stable")
    sums = np.cumsum(np.ones(n_rows) if weight is None else weight[order])
    wanted = coverage * (1 + 1 / n_rows) * (1 - _ROUNDING) * sums[-1]
    place = int(np.searchsorted(sums, wanted))
    return float(scores[order[place]]) if place < n_rows else np.inf


@dataclass(frozen=True, eq=False)
class Calibration:
    """The scores of rows that the members did not see."""

    #: Of a value its distance from the prediction, divided by the scale of the latter;
    #: of a class 1 less its predicted probability; (n_rows, n_outputs).
    scores: np.ndarray
    #: What is added to the spread of values to get the scale; (n_outputs,).
    floor: np.ndarray | None = None
    #: The classes of the rows.
    codes: np.ndarray | None = None
    #: The weights of the rows, above 0; None: equal.
    weight: np.ndarray | None = None

    @classmethod
    def of_values(cls, residuals, spread, weight=None):
        """Calibrate by residuals of values, and their spread; NaN: not known."""
        known = np.isfinite(spread)
        total = np.where(known, spread, 0.0).sum(axis=0)
        floor = total / np.maximum(known.sum(axis=0), 1)
        spread = np.where(known, spread, floor)
        floor = np.where(floor > 0, floor, 1.0)
        return cls(np.abs(residuals) / (spread + floor), floor, weight=weight)

    @classmethod
    def of_classes(cls, codes, probabilities, weight=None):
        """Calibrate by the classes of the rows, and their predicted probabilities."""
        return cls(1.0 - probabilities[:, np.newaxis], codes=codes, weight=weight)

    def require_target(self, n_outputs: int, n_classes: int) -> None:
        """Raise ValueError if the scores are not those of such a target."""
        fits = self.scores.shape[1] == n_outputs and len(self.scores) > 0
        if n_classes:
            fits = fits and self.codes is not None and self.codes.max() < n_classes
        else:
            fits = fits and self.floor is not None and len(self.floor) == n_outputs
        if not fits or (self.weight is not None and not self.weight.min() > 0):
            raise ValueError("the calibration does not match the target")

    def find_widths(self, spread: np.ndarray, coverage: float) -> np.ndarray:
        """Find half the widths of intervals; shape (n_rows, n_outputs)."""
        critical = [
            find_critical_score(of, coverage, self.weight) for of in self.scores.T
        ]
        return np.array(critical) * (spread + self.floor)

    def find_thresholds(
        self, n_classes: int, coverage: float, class_conditional: bool
    ) -> np.ndarray:
        """Find the probability from which on a class is in a set."""
        groups, critical = [slice(None)], []
        if class_conditional:
            groups = [self.codes == code for code in range(n_classes)]
        for rows in groups:
            weight = None if self.weight is None else self.weight[rows]
            critical.append(find_critical_score(self.scores[rows, 0], coverage, weight))
        return np.broadcast_to(1.0 - np.array(critical), n_classes)


def is_calibrated(model) -> bool:
    """Return whether an ensemble has stored what intervals or sets require."""
    return getattr(model, "_calibration", None) is not None


def get_calibration(model, caller: str) -> Calibration:
    """Return what an ensemble has stored; raise ValueError if there is nothing."""
    check_is_fitted(model)
    if not is_calibrated(model):
        rows = " and out-of-bag rows (bootstrap=True)"
        raise ValueError(
            f"{caller} requires a fit with store_distribution=True"
            f"{rows if hasattr(model, 'bootstrap') else ''}."
        )
    return model._calibration


def check_coverage(coverage) -> None:
    """Require a probability strictly between 0 and 1."""
    if not is_real(coverage) or not 0.0 < coverage < 1.0:
        raise ValueError(
            "The 'coverage' parameter must be a float in the range (0.0, 1.0); got "
            f"{show_value(coverage)} of type {type(coverage).__name__}."
        )


class IntervalMixin:
    """Intervals of the values that an ensemble of independent members predicts."""

    def predict_interval(
        self, X: MatrixLike, coverage: float = 0.9, *, method: str = "conformal"
    ) -> np.ndarray:
        r"""Predict an interval for the value of each row.

        .. math:: H(x) \pm q \, (s(x) + \bar s)

        where s is the standard deviation of the predictions of the members,
        :math:`\bar s` the mean of that of the training rows, each predicted by the
        members that did not see it (包外), and q the quantile of their absolute
        residuals in units of :math:`s + \bar s`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            Probability with which an interval shall contain the value.
        method : {"conformal", "quantile"}, default="conformal"
            "conformal": as above. "quantile": from the quantile :math:`(1 - c) / 2` to
            :math:`(1 + c) / 2` of the distribution in the leaves, which is not
            calibrated.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Lower and upper bounds; infinite if there are too few out-of-bag rows for
            the coverage.

        Raises
        ------
        ValueError
            If the ensemble was fitted without ``store_distribution=True``, or has no
            out-of-bag rows.

        Notes
        -----
        The coverage is that of rows from the same population as the training rows, on
        average over all of them, and not of each group of rows. Several outputs have an
        interval each, with this coverage.
        """
        check_coverage(coverage)
        check_choice("method", method, ("conformal", "quantile"))
        if method == "quantile":
            tails = [(1.0 - coverage) / 2, (1.0 + coverage) / 2]
            return predict_quantiles(self, X, tails)
        calibration, parts = get_calibration(self, "predict_interval"), []
        for block in self._predict_members(X):
            values = block[..., 0]
            center = values.mean(axis=0)
            # One member has no spread.
            spread = values.std(axis=0, ddof=min(1, len(values) - 1))
            width = calibration.find_widths(spread, coverage)
            parts.append(np.stack([center - width, center + width], axis=2))
        bounds = np.concatenate(parts)
        return bounds[:, 0] if bounds.shape[1] == 1 else bounds


class PredictionSetMixin:
    """Sets of classes that an ensemble predicts."""

    def predict_set(
        self, X: MatrixLike, coverage: float = 0.9, *, class_conditional: bool = False
    ) -> np.ndarray:
        r"""Predict the set of classes that each row may have.

        .. math:: \{ c : p(c \mid x) \geq 1 - q \}

        where q is the quantile of :math:`1 - p(y_i \mid x_i)` of rows that were
        predicted by members that did not see them: the training rows, each by the
        members for which it is out of the bag (包外), or the validation rows of
        gradient boosting.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            Probability with which a set shall contain the class.
        class_conditional : bool, default=False
            Whether the rows of each class shall be covered with this probability, by a
            quantile for each class. Sets are larger then, above all of rare classes.

        Returns
        -------
        is_member : ndarray of bool, shape (n_samples, n_classes)
            Whether each of ``classes_`` is in the set. A set is empty if no class is
            probable enough, which happens where the coverage is below the accuracy.
            With too few rows for the coverage (with ``class_conditional``, of a
            class), all classes (this class) are in every set.

        Raises
        ------
        ValueError
            If the ensemble was fitted without ``store_distribution=True``, has no
            out-of-bag rows, or has several outputs.

        Notes
        -----
        These are the smallest sets on average, if the probabilities are right [1]_. The
        coverage is that of rows from the same population as the training rows, on
        average over all of them (with ``class_conditional``, over those of a class).

        References
        ----------
        .. [1] M. Sadinle, J. Lei, L. Wasserman (2019), Least ambiguous set-valued
           classifiers with bounded error levels. Journal of the American Statistical
           Association 114.
        """
        check_coverage(coverage)
        check_truth("class_conditional", class_conditional)
        check_is_fitted(self)
        if isinstance(self.n_classes_, list):
            raise ValueError(
                f"predict_set requires a single output; got {len(self.n_classes_)}."
            )
        thresholds = get_calibration(self, "predict_set").find_thresholds(
            self.n_classes_, coverage, bool(class_conditional)
        )
        # Equal fractions of votes may differ by rounding.
        return self.predict_proba(X) >= thresholds - _ROUNDING


_FIELDS = (
    SavedField("scores", shape=("n_scored", None), least=0),
    SavedField("floor", shape=(None,), is_optional=True, least=0),
    SavedField("codes", "integer", ("n_scored",), is_optional=True, least=0),
    SavedField("weight", shape=("n_scored",), is_optional=True, least=0),
)
#: What model files keep of a fit with ``store_distribution=True``.
KEPT_CALIBRATION = SavedField(
    "_calibration", (Record(Calibration, _FIELDS),), is_optional=True
)
