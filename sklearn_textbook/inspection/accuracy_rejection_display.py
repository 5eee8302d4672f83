"""Accuracy of a classifier that may reject rows, as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.inspection._axes import make_axes, name_curves, use_fonts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class AccuracyRejectionDisplay:
    r"""Accuracy of the remaining rows if the least certain ones are rejected.

    Rows are kept if their confidence reaches a threshold t, which ranges from keeping
    all rows to keeping only the most certain ones:

    .. math:: \text{coverage}(t) = \frac{\sum_n s_n \mathbb{I}(c_n \ge t)}
        {\sum_n s_n}, \qquad
        \text{accuracy}(t) = \frac{\sum_n s_n \mathbb{I}(c_n \ge t)
        \mathbb{I}(\hat y_n = y_n)}{\sum_n s_n \mathbb{I}(c_n \ge t)}.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create and draw a display;
    :meth:`plot` draws it again, with other axes or parameters.

    Parameters
    ----------
    coverage : ndarray of shape (n_thresholds,)
        Fraction of the rows that are kept, in ascending order; the last is 1.
    accuracy : ndarray of shape (n_thresholds,)
        Accuracy on the rows kept.
    thresholds : ndarray of shape (n_thresholds,)
        Smallest confidence of the rows kept.
    name : str or None, default=None
        Name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib.lines.Line2D
        The curve of the last drawing.
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.

    See Also
    --------
    sklearn_textbook.ensemble.VotingClassifier : Rejects rows by ``reject_threshold``.

    Notes
    -----
    Reference: C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE
    Transactions on Information Theory 16(1), 1970.

    Examples
    --------
    >>> from sklearn_textbook.inspection import AccuracyRejectionDisplay
    >>> display = AccuracyRejectionDisplay.from_predictions(
    ...     [0, 1, 1, 0], [0, 1, 0, 0], confidence=[0.9, 0.8, 0.6, 0.6])
    >>> display.coverage, display.accuracy
    (array([0.25, 0.5 , 1.  ]), array([1.  , 1.  , 0.75]))
    """

    def __init__(
        self,
        coverage: np.ndarray,
        accuracy: np.ndarray,
        thresholds: np.ndarray,
        *,
        name: str | None = None,
    ) -> None:
        self.coverage = coverage
        self.accuracy = accuracy
        self.thresholds = thresholds
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier. Its confidence is the largest fraction of votes in hard
            voting, and otherwise the largest probability.
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            Rows not used in the fit.
        y : array-like of shape (n_samples,)
            Class labels of the rows.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.
        name : str or None, default=None
            Name of the curve in the legend. None: the class name of the estimator.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on. None: a new figure.
        **kwargs : dict
            Parameters of matplotlib's ``plot``.

        Returns
        -------
        AccuracyRejectionDisplay
            The display.

        Raises
        ------
        ValueError
            If the estimator predicts neither votes nor probabilities.
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "predict_proba"):
            given = estimator.predict_proba(X)
        elif hasattr(estimator, "vote_fractions"):
            given = estimator.vote_fractions(X)
        else:
            raise ValueError(
                f"{type(estimator).__name__} has neither predict_proba nor "
                "vote_fractions. Use from_predictions and pass the confidence."
            )
        return cls.from_predictions(
            y,
            np.asarray(estimator.classes_).take(given.argmax(axis=1)),
            sample_weight,
            confidence=given.max(axis=1),
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        confidence: ArrayLike,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes.
        y_pred : array-like of shape (n_samples,)
            Predicted classes.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.
        confidence : array-like of shape (n_samples,)
            Confidence of each prediction, on any scale.
        name : str or None, default=None
            Name of the curve in the legend. None: no legend.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on. None: a new figure.
        **kwargs : dict
            Parameters of matplotlib's ``plot``.

        Returns
        -------
        AccuracyRejectionDisplay
            The display.
        """
        y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
        confidence = column_or_1d(confidence, dtype=np.float64)
        check_consistent_length(y_true, y_pred, confidence)
        if np.isnan(confidence).any():
            row = int(np.flatnonzero(np.isnan(confidence))[0])
            raise ValueError(f"confidence must not be NaN; it is in row {row}.")
        weight = check_weights(sample_weight, len(y_true))
        weight = np.ones(len(y_true)) if weight is None else weight
        order = np.argsort(-confidence, kind="stable")
        kept = np.cumsum(weight[order])
        right = np.cumsum((weight * (y_true == y_pred))[order])
        ordered = confidence[order]
        # Rows of equal confidence are kept or rejected together.
        is_last = np.append(ordered[1:] != ordered[:-1], True) & (kept > 0)
        display = cls(
            kept[is_last] / kept[-1],
            right[is_last] / kept[is_last],
            ordered[is_last],
            name=name,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on. None: a new figure.
        name : str or None, default=None
            Name of the curve in the legend. None: that of the display.
        **kwargs : dict
            Parameters of matplotlib's ``plot``.

        Returns
        -------
        AccuracyRejectionDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        self.ax_ = make_axes(ax)
        self.figure_ = self.ax_.figure
        name = self.name if name is None else name
        style = {"label": name, "drawstyle": "steps-pre"}
        if len(self.coverage) == 1:  # a line of one point is not visible
            style |= {"marker": "o", "clip_on": False}
        style |= kwargs
        (self.line_,) = self.ax_.plot(self.coverage, self.accuracy, **style)
        self.ax_.set_xlabel("coverage (fraction of the rows kept)")
        self.ax_.set_ylabel("accuracy of the rows kept")
        self.ax_.set_xlim(0.0, 1.0)
        if name is not None:
            name_curves(self.ax_)
            use_fonts(self.ax_)
        return self
