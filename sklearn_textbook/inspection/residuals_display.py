"""Residuals of a regression as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.inspection._axes import make_axes, separate_ticks
from sklearn_textbook.inspection._text_places import ALL_AROUND, place_texts
from sklearn_textbook.inspection.lowess import smooth
from sklearn_textbook.linear_model.inference.influence import GeneralizedInfluence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_textbook.linear_model.inference.influence import Influence

#: The colour-blind safe blue and orange of Okabe and Ito.
POINT_COLOR = "#0072B2"
LINE_COLOR = "#D55E00"
GUIDE_COLOR = "#8A9097"
SMOOTH_COLOR = "#009E73"
KINDS = ("fitted", "normal", "scale", "leverage")
#: Cook's distances of the contours, as in R.
COOK_LEVELS = (0.5, 1.0)
#: Maximum number of points that labels keep clear of.
MAX_OBSTACLES = 2000
#: Size of one panel in inches.
SIZE = (5.0, 4.0)


class ResidualsDisplay:
    r"""Residual plots of a regression (残差图), as in R's ``plot.lm``.

    "fitted": residuals against fitted values; a curved trend shows a misspecified
    model. "normal": standardized residuals against quantiles of the normal distribution
    (Q-Q 图), which are on the line if the noise is normal. "scale": square roots of the
    absolute standardized residuals against fitted values, which are constant if the
    noise has constant variance. "leverage": standardized residuals against leverage
    (杠杆值), with contours of Cook's distance (库克距离); rows beyond them are
    influential. A smooth line (robust local regression) shows the trend in all plots
    except "normal".

    Of generalised linear models and logistic regressions of two classes, Pearson
    residuals are drawn against linear predictors, and the smooth lines are not robust,
    since few rows of a rare class would count as outliers.

    Use :meth:`from_estimator` to create and draw a display; :meth:`plot` draws it
    again, with other axes or parameters.

    Parameters
    ----------
    influence : Influence or GeneralizedInfluence
        Residuals and leverage of the rows for one target.

    Attributes
    ----------
    axes_ : dict
        The axes of the last drawing, by kind.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    smooth_lines_ : dict
        The smooth lines, by kind; empty if there are none.

    Raises
    ------
    ValueError
        If there are several targets.

    See Also
    --------
    sklearn.metrics.PredictionErrorDisplay : Residuals against predictions for any
        regressor.
    sklearn_textbook.linear_model.LinearRegression.influence : Computes the data.
    sklearn_textbook.linear_model.GeneralizedLinearRegressor.influence : Also with an
        offset or an exposure.
    sklearn_textbook.linear_model.LogisticRegression.influence : For two classes.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_boosting_tree_example
    >>> from sklearn_textbook.inspection import ResidualsDisplay
    >>> from sklearn_textbook.linear_model import LinearRegression
    >>> X, y = load_boosting_tree_example(return_X_y=True)
    >>> display = ResidualsDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
    >>> list(display.axes_)
    ['fitted', 'normal', 'scale', 'leverage']
    """

    def __init__(self, influence: Influence | GeneralizedInfluence) -> None:
        self.influence = influence
        self._n_robust = 3
        if isinstance(influence, GeneralizedInfluence):
            self._x, self._residuals = (
                influence.linear_predictor,
                influence.pearson_residuals,
            )
            self._standardized = influence.standardized_pearson_residuals
            self._x_name, self._name = "linear predictor", "Pearson residual"
            self._n_robust = 0
            return
        if np.ndim(influence.residuals) != 1:
            raise ValueError(
                "ResidualsDisplay requires a single target; got residuals of shape "
                f"{np.shape(influence.residuals)}."
            )
        self._x, self._residuals = influence.fitted, influence.residuals
        self._standardized = influence.standardized_residuals
        self._x_name, self._name = "fitted value", "residual"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the residuals of a fitted regression.

        Parameters
        ----------
        estimator : LinearRegression, GeneralizedLinearRegressor or LogisticRegression
            The fitted regression, of one target or two classes. Rows with an offset or
            an exposure: draw ``ResidualsDisplay(estimator.influence(...))``.
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Targets of the rows.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.
        ax : matplotlib.axes.Axes or None, default=None
            Axes for a single plot; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        ResidualsDisplay
            The display, with the drawing in ``axes_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator has no method ``influence``.
        """
        if not hasattr(estimator, "influence"):
            raise TypeError(
                "ResidualsDisplay requires a LinearRegression, a "
                "GeneralizedLinearRegressor or a LogisticRegression; got "
                f"{type(estimator).__name__}."
            )
        influence = estimator.influence(X, y, sample_weight)
        return cls(influence).plot(ax=ax, **kwargs)

    def plot(
        self,
        kind: str = "all",
        *,
        ax: Axes | None = None,
        n_labels: int = 3,
        show_smooth: bool = True,
        scatter_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the residuals.

        Parameters
        ----------
        kind : {"all", "fitted", "normal", "scale", "leverage"}, default="all"
            The plot to draw.
        ax : matplotlib.axes.Axes or None, default=None
            Axes for a single plot; ``None`` opens a new figure.
        n_labels : int, default=3
            Number of the most extreme rows to label with their index.
        show_smooth : bool, default=True
            Whether to draw a smooth line, if there are at least 3 distinct values.
        scatter_kw : dict or None, default=None
            Parameters of matplotlib's ``scatter``.

        Returns
        -------
        ResidualsDisplay
            The display itself, with the drawing in ``axes_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``kind`` is invalid, or is "all" although ``ax`` is given.
        """
        check_choice("kind", kind, ("all", *KINDS))
        if kind != "all":
            self.axes_ = {kind: make_axes(ax, size=SIZE)}
        elif ax is not None:
            raise ValueError("ax requires a single kind of plot, but kind is 'all'.")
        else:
            first = make_axes(size=(2 * SIZE[0], 2 * SIZE[1]))
            figure = first.figure
            first.remove()
            grid = figure.subplots(2, 2).ravel().tolist()
            self.axes_ = dict(zip(KINDS, grid, strict=True))
        self.figure_ = next(iter(self.axes_.values())).figure
        style = {"color": POINT_COLOR, "s": 18, "alpha": 0.8, "linewidths": 0}
        style |= scatter_kw or {}
        self.smooth_lines_ = {}
        labels = {
            name: getattr(self, f"_plot_{name}")(axes, style, n_labels)
            for name, axes in self.axes_.items()
        }
        if show_smooth:
            for name in self.axes_.keys() - {"normal"}:
                self._draw_smooth(name)
        separate_ticks([*self.axes_.values()])
        for name, axes in self.axes_.items():
            _place_labels(axes, labels[name], below=name == "normal")
        return self

    def _draw_smooth(self, kind) -> None:
        """Draw the trend of the points."""
        ax = self.axes_[kind]
        points = np.ma.filled(ax.collections[0].get_offsets(), np.nan)
        places, line = smooth(*points.T, n_robust=self._n_robust)
        if len(places):
            limits = ax.axis()
            style = {"color": SMOOTH_COLOR, "linewidth": 1.6}
            (self.smooth_lines_[kind],) = ax.plot(places, line, **style)
            ax.axis(limits)

    def _plot_fitted(self, ax, style, n_labels):
        x, y = self._x, self._residuals
        ax.axhline(0.0, color=GUIDE_COLOR, linestyle=":", linewidth=1.0)
        _name_axes(ax, self._x_name, self._name, f"Residuals vs {self._x_name}s")
        return _draw_points(ax, x, y, style, np.abs(y), n_labels)

    def _plot_normal(self, ax, style, n_labels):
        y = self._standardized
        n_rows = int(np.isfinite(y).sum())
        rows = np.argsort(y)[:n_rows]  # NaN sort last
        # The plotting positions of R.
        shift = 3 / 8 if n_rows <= 10 else 1 / 2
        x = np.full(len(y), np.nan)
        x[rows] = ndtri((np.arange(1, n_rows + 1) - shift) / (n_rows + 1 - 2 * shift))
        if n_rows > 1:
            low, high = np.quantile(y[rows], [0.25, 0.75])
            slope = (high - low) / (2 * ndtri(0.75))
            line = {"color": LINE_COLOR, "linewidth": 1.2}
            ax.axline((0.0, (low + high) / 2), slope=slope, **line)
        _name_axes(
            ax,
            "quantile of the normal distribution",
            f"standardized {self._name}",
            "Normal Q-Q",
        )
        return _draw_points(ax, x, y, style, np.abs(y), n_labels)

    def _plot_scale(self, ax, style, n_labels):
        x, y = self._x, np.sqrt(np.abs(self._standardized))
        _name_axes(ax, self._x_name, f"√|standardized {self._name}|", "Scale-location")
        labels = _draw_points(ax, x, y, style, y, n_labels)
        ax.set_ylim(bottom=0.0)
        return labels

    def _plot_leverage(self, ax, style, n_labels):
        influence = self.influence
        x, y = influence.leverage, self._standardized
        ax.axhline(0.0, color=GUIDE_COLOR, linestyle=":", linewidth=1.0)
        labels = _draw_points(ax, x, y, style, influence.cooks_distance, n_labels)
        right = min(1.0, 1.08 * float(x.max(initial=0.0)) + 1e-9)
        limits = ax.get_ylim()
        h = np.linspace(right / 200, right, 200)
        is_shown = False
        for level in COOK_LEVELS:
            r = np.sqrt(level * influence.n_coefficients * (1.0 - h) / h)
            line = {"color": LINE_COLOR, "linestyle": "--", "linewidth": 1.0}
            ax.plot(h, r, **line)
            ax.plot(h, -r, **line)
            is_shown = is_shown or r[-1] < max(map(abs, limits))
            if r[-1] < limits[1]:
                ax.annotate(
                    f"{level:g}",
                    (h[-1], r[-1]),
                    xytext=(2, 0),
                    textcoords="offset points",
                    color=LINE_COLOR,
                    fontsize="small",
                    va="bottom" if level == COOK_LEVELS[-1] else "top",
                )
        ax.set_ylim(limits)
        ax.set_xlim(0.0, 1.08 * right)  # space for the labels of the contours
        note = " (dashed: Cook's distance)" if is_shown else ""
        title = f"Residuals vs leverage{note}"
        _name_axes(ax, "leverage", f"standardized {self._name}", title)
        return labels


def _draw_points(ax, x, y, style, sizes, n_labels):
    """Draw rows and the indices of those with the largest values; return the texts."""
    ax.margins(0.08)
    ax.scatter(x, y, **style)
    known = np.flatnonzero(np.isfinite(sizes) & np.isfinite(x) & np.isfinite(y))
    largest = known[np.argsort(sizes[known], kind="stable")[::-1][:n_labels]]
    return [
        ax.annotate(
            str(row),
            (x[row], y[row]),
            xytext=(4, 3),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize="small",
        )
        for row in largest.tolist()
    ]


def _place_labels(ax, labels, below) -> None:
    """Place the indices of rows beside their points, clear of each other."""
    points = np.ma.filled(ax.collections[0].get_offsets(), np.nan)
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) > MAX_OBSTACLES:
        points = points[:0]
    obstacles = [np.stack([points, points], axis=1), *_list_segments(ax)]
    middle = np.mean(ax.get_xlim())
    angles = [-40.0 if below else 40.0 if t.xy[0] <= middle else 140.0 for t in labels]
    place_texts(
        ax,
        labels,
        np.radians(angles),
        lines=np.concatenate(obstacles),
        turns=ALL_AROUND,
        stay_inside=True,
        is_nearest=True,
    )


def _list_segments(ax):
    """List the segments of the curves in axes and of the line through quantiles."""
    for line in ax.lines:
        path = line.get_xydata()
        if hasattr(line, "get_slope"):
            x, (x1, y1) = np.array(ax.get_xlim()), line.get_xy1()
            path = np.stack([x, y1 + (x - x1) * line.get_slope()], axis=1)
        elif line.get_transform() != ax.transData:  # a guide
            continue
        yield np.stack([path[:-1], path[1:]], axis=1)


def _name_axes(ax, x, y, title) -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title, fontsize="medium")
