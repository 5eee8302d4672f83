"""Importances of columns with intervals, as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    read_feature_names,
)
from sklearn_textbook.inspection._axes import (
    NAME_LENGTH,
    find_foreground,
    make_axes,
    use_fonts,
)
from sklearn_textbook.tree.explain.lettering import shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVALS = ("spread", "mean")
#: The colour-blind safe blue of Okabe and Ito, lighter.
BAR_COLOR = "#7FB8D9"
#: Height of a bar and of all else of a new figure, and its width, in inches.
SIZES = (0.26, 0.9, 6.4)


class ImportancesDisplay:
    r"""Plot of the importances of columns with intervals (特征重要性).

    Bars are mean importances, the largest first. Intervals are computed from several
    values per column: those of the trees of a forest, or those of the repeats or trees
    of permutation importances. With ``interval="spread"``, they contain the central
    part of these values, such as 90% of the trees; with ``interval="mean"``, they are
    confidence intervals of the mean based on Student's t distribution,

    .. math:: \bar I_j \pm t_{(1 + c) / 2,\, m - 1} \; s_j / \sqrt{m}.

    Both show how values differ among trees or permutations for the given training
    table; importances would differ more with another table.

    Use :meth:`from_estimator` or :meth:`from_importances` to create and draw a display;
    :meth:`plot` draws it again, with other axes or parameters.

    Parameters
    ----------
    importances : array-like of shape (n_features,)
        The importances.
    values : array-like of shape (n_features, n_values) or None, default=None
        The values from which intervals are computed. None: no intervals.
    feature_names : array-like of str or None, default=None
        Names of the columns. None: x0, x1, ...
    measure : str, default="importance"
        Label of the axis.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    bars_ : matplotlib.container.BarContainer
        The importances, the largest first.
    intervals_ : matplotlib.collections.LineCollection or None
        The intervals.
    order_ : ndarray of int
        Indices of the columns drawn, in the order of the bars.
    text_ : matplotlib.text.Text or None
        The note on the number of columns left out.

    Raises
    ------
    ValueError
        If shapes do not match.

    See Also
    --------
    sklearn.inspection.permutation_importance : Importances for all estimators.
    PartialDependenceDisplay : Plots how predictions depend on a column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import RandomForestClassifier
    >>> from sklearn_textbook.inspection import ImportancesDisplay
    >>> iris = load_iris(as_frame=True)
    >>> forest = RandomForestClassifier(random_state=0).fit(iris.data, iris.target)
    >>> display = ImportancesDisplay.from_estimator(forest)
    >>> display.ax_.get_yticklabels()[3].get_text()
    'sepal width (cm)'
    >>> result = forest.permutation_importances(iris.data, iris.target, random_state=0)
    >>> display = ImportancesDisplay.from_importances(
    ...     result, feature_names=iris.feature_names, interval="mean")
    """

    def __init__(
        self,
        importances: ArrayLike,
        values: ArrayLike | None = None,
        *,
        feature_names: ArrayLike | None = None,
        measure: str = "importance",
    ) -> None:
        self.importances = importances
        self.values = values
        self.feature_names = feature_names
        self.measure = measure
        self._means = np.asarray(importances, dtype=np.float64)
        if self._means.ndim != 1 or len(self._means) == 0:
            raise ValueError(
                "importances must be a non-empty 1D array; got shape "
                f"{self._means.shape}."
            )
        n_columns = len(self._means)
        self._values = None
        if values is not None:
            self._values = np.asarray(values, dtype=np.float64)
            shape = self._values.shape
            if len(shape) != 2 or shape[0] != n_columns or shape[1] == 0:
                raise ValueError(
                    f"values must have {n_columns} rows, one per importance, and at "
                    f"least one column; got shape {shape}."
                )
        read_feature_names(feature_names, n_columns, each="importance")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the impurity-based importances of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted model of this package or of scikit-learn with
            ``feature_importances_``. If the importances are the mean over members, as
            in forests, intervals are computed from the members.
        feature_names : array-like of str or None, default=None
            Names of the columns. None: ``feature_names_in_``, if available.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        ImportancesDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If it has no ``feature_importances_``.
        """
        check_is_fitted(estimator)
        importances = getattr(estimator, "feature_importances_", None)
        if importances is None:
            raise ValueError(
                "estimator must have feature_importances_; got "
                f"{type(estimator).__name__}. Use from_importances with the result of "
                "sklearn.inspection.permutation_importance."
            )
        if feature_names is None:
            feature_names = getattr(estimator, "feature_names_in_", None)
        display = cls(
            importances,
            _list_member_importances(estimator, importances),
            feature_names=feature_names,
            measure="importance (decrease in impurity)",
        )
        return display.plot(ax=ax, **kwargs)

    @classmethod
    def from_importances(
        cls,
        result: Any,
        *,
        feature_names: ArrayLike | None = None,
        measure: str = "importance (decrease in score)",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw permutation importances, or others with several values per column.

        Parameters
        ----------
        result : Bunch or array-like of shape (n_features, n_values)
            The result of :func:`sklearn.inspection.permutation_importance` or of
            ``permutation_importances`` of a forest, or the values themselves.
        feature_names : array-like of str or None, default=None
            Names of the columns. None: x0, x1, ...
        measure : str, default="importance (decrease in score)"
            Label of the axis.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        ImportancesDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        ValueError
            If the values are not 2D.
        """
        values = getattr(result, "importances", result)
        values = np.asarray(values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] == 0:
            raise ValueError(
                "result must contain importances of shape (n_features, n_values), got "
                f"shape {values.shape}."
            )
        means = getattr(result, "importances_mean", values.mean(axis=1))
        display = cls(means, values, feature_names=feature_names, measure=measure)
        return display.plot(ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        interval: str | None = "spread",
        confidence: float = 0.9,
        n_shown: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
        interval_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the importances.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure whose height fits the bars.
        interval : {"spread", "mean"} or None, default="spread"
            Intervals to draw: the central part of the values, confidence intervals of
            their mean, or none.
        confidence : float, default=0.9
            The fraction of the values in the interval, or the confidence level.
        n_shown : int or None, default=20
            Number of columns to draw, the most important ones. None: all.
        bar_kw : dict or None, default=None
            Parameters of matplotlib's ``barh``.
        interval_kw : dict or None, default=None
            Parameters of matplotlib's ``hlines``.

        Returns
        -------
        ImportancesDisplay
            The display itself, with the drawing in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a parameter is out of range.
        """
        check_choice("interval", interval, INTERVALS, accepts_none=True)
        check_integer("n_shown", n_shown, 1, accepts_none=True)
        if not 0 < confidence < 1:
            raise ValueError(
                "confidence must be a float in the range (0.0, 1.0); got "
                f"{confidence!r}."
            )
        # Ties keep the order of the columns.
        self.order_ = np.argsort(-self._means, kind="stable")[:n_shown]
        n_bars, (height, rest, width) = len(self.order_), SIZES
        self.ax_ = ax = make_axes(ax, size=(width, height * n_bars + rest))
        self.figure_ = ax.figure
        places = np.arange(n_bars)
        style = {"color": BAR_COLOR, "height": 0.7} | (bar_kw or {})
        self.bars_ = ax.barh(places, self._means[self.order_], **style)
        self.intervals_ = None
        if interval is not None and self._values is not None:
            low, high = self._find_intervals(interval, confidence)
            style = {"color": find_foreground(), "linewidth": 1.4} | (interval_kw or {})
            self.intervals_ = ax.hlines(places, low, high, **style)
        ax.axvline(0.0, color=find_foreground(), linewidth=0.8)
        names = self.feature_names
        names = [f"x{c}" if names is None else str(names[c]) for c in self.order_]
        ax.set_yticks(places, shorten_names(names, NAME_LENGTH), parse_math=False)
        ax.set_ylim(n_bars - 0.4, -0.6)
        ax.set_xlabel(self.measure)
        n_more = len(self._means) - n_bars
        self.text_ = None
        if n_more:
            note = f"+{n_more:,} more columns"
            self.text_ = ax.set_title(note, loc="right", fontsize="small")
        use_fonts(ax)
        return self

    def _find_intervals(self, interval, confidence):
        """Compute the ends of the intervals of the columns drawn."""
        values = self._values[self.order_]
        if interval == "spread":
            tails = (1.0 - confidence) / 2.0
            return np.quantile(values, [tails, 1.0 - tails], axis=1)
        n_values = values.shape[1]
        if n_values < 2:
            raise ValueError(
                'interval="mean" requires at least 2 values per column, got 1.'
            )
        quantile = stdtrit(n_values - 1, (1.0 + confidence) / 2.0)
        reach = quantile * values.std(axis=1, ddof=1) / np.sqrt(n_values)
        means = self._means[self.order_]
        return means - reach, means + reach


def _list_member_importances(estimator, importances):
    """List the importances of members; None if their mean is not that of the model."""
    members = getattr(estimator, "estimators_", None)
    if not isinstance(members, list) or not all(
        hasattr(member, "feature_importances_") for member in members
    ):
        return None
    values = np.stack([member.feature_importances_ for member in members], axis=1)
    if len(values) != len(importances):  # members have some of the columns
        return None
    mean = values.mean(axis=1)
    total = mean.sum()
    if not np.allclose(mean / total if total else mean, importances, atol=1e-9):
        return None
    return values
