"""Prediction intervals and the observed values as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.inspection._axes import make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INSIDE_COLOR, OUTSIDE_COLOR, INTERVAL_COLOR = "#0072B2", "#D55E00", "#8A9097"


class IntervalDisplay:
    """Prediction intervals of rows in ascending order, and the observed values.

    The rows are sorted by the middle of their intervals. Intervals that are narrow
    where values are close to the prediction, and wide where they are not, are of more
    use than equal ones. The title has the fraction of the values that are covered.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create and draw a display;
    :meth:`plot` draws it again, with other axes or parameters.

    Parameters
    ----------
    y_true : ndarray of shape (n_samples,)
        Observed values.
    intervals : ndarray of shape (n_samples, 2)
        Lower and upper bounds.
    coverage : float
        Fraction of the values that are in their intervals; weighted, if rows have
        weights.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    bars_ : matplotlib.collections.LineCollection
        The intervals of the last drawing.

    See Also
    --------
    sklearn_textbook.ensemble.RandomForestRegressor.predict_interval : Intervals of a
        forest.

    Examples
    --------
    >>> from sklearn_textbook.inspection import IntervalDisplay
    >>> display = IntervalDisplay.from_predictions(
    ...     [1.0, 2.0, 5.0], [[0.0, 2.0], [1.0, 4.0], [2.0, 4.5]])
    >>> round(display.coverage, 2)
    0.67
    """

    def __init__(
        self, y_true: np.ndarray, intervals: np.ndarray, coverage: float
    ) -> None:
        self.y_true, self.intervals, self.coverage = y_true, intervals, coverage

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        coverage: float = 0.9,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the intervals of a fitted regressor.

        Parameters
        ----------
        estimator : regressor
            A fitted regressor with ``predict_interval``: a forest, bagging, gradient
            boosting or a linear regression.
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            Rows not used in the fit.
        y : array-like of shape (n_samples,)
            Observed values.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.
        coverage : float, default=0.9
            The second parameter of ``predict_interval``.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on. None: a new figure.
        **kwargs : dict
            Parameters of :meth:`plot`.

        Returns
        -------
        IntervalDisplay
            The display.

        Raises
        ------
        TypeError
            If the estimator has no method ``predict_interval``.
        """
        if not hasattr(estimator, "predict_interval"):
            raise TypeError(
                "IntervalDisplay requires an estimator with predict_interval; got "
                f"{type(estimator).__name__}."
            )
        intervals = estimator.predict_interval(X, coverage)
        return cls.from_predictions(y, intervals, sample_weight, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        intervals: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw intervals.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Observed values.
        intervals : array-like of shape (n_samples, 2)
            Lower and upper bounds.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on. None: a new figure.
        **kwargs : dict
            Parameters of :meth:`plot`.

        Returns
        -------
        IntervalDisplay
            The display.
        """
        y_true = column_or_1d(y_true, dtype=np.float64)
        intervals = np.asarray(intervals, dtype=np.float64)
        if intervals.ndim != 2 or intervals.shape[1] != 2:
            raise ValueError(
                "intervals must have the shape (n_samples, 2); got "
                f"{intervals.shape}. Draw one output at a time."
            )
        check_consistent_length(y_true, intervals)
        weight = check_weights(sample_weight, len(y_true))
        is_inside = (intervals[:, 0] <= y_true) & (y_true <= intervals[:, 1])
        coverage = float(np.average(is_inside, weights=weight))
        return cls(y_true, intervals, coverage).plot(ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        subsample: int | None = 300,
        random_state: int | np.random.RandomState | None = 0,
    ) -> Self:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on. None: a new figure.
        subsample : int or None, default=300
            Maximum number of rows that are drawn, at random. None: all.
        random_state : int, RandomState instance or None, default=0
            Seed of the rows that are drawn.

        Returns
        -------
        IntervalDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_integer("subsample", subsample, 1, accepts_none=True)
        rows = np.flatnonzero(np.isfinite(self.intervals).all(axis=1))
        if subsample is not None and len(rows) > subsample:
            random_state = check_random_state(random_state)
            rows = random_state.choice(rows, subsample, replace=False)
        low, high = self.intervals[rows].T
        order = np.argsort(low + high, kind="stable")
        low, high, y = low[order], high[order], self.y_true[rows][order]
        place = np.arange(len(rows))
        is_inside = (low <= y) & (y <= high)
        self.ax_ = ax = make_axes(ax)
        self.figure_ = ax.figure
        self.bars_ = ax.vlines(
            place, low, high, color=INTERVAL_COLOR, linewidth=1.0, alpha=0.6
        )
        for chosen, color, name in (
            (is_inside, INSIDE_COLOR, "inside"),
            (~is_inside, OUTSIDE_COLOR, "outside"),
        ):
            style = {"s": 9, "linewidths": 0, "color": color, "zorder": 3}
            ax.scatter(place[chosen], y[chosen], label=name, **style)
        ax.set_xlabel("rows, by the middle of the interval")
        ax.set_ylabel("observed value and interval")
        ax.set_title(f"{self.coverage:.1%} of the values inside", fontsize="medium")
        ax.legend(loc="upper left")
        return self
