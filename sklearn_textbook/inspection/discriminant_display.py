"""The projection of a linear classifier as a Display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.inspection._axes import (
    add_legend,
    find_foreground,
    make_axes,
    separate_ticks,
    use_fonts,
    write_names,
)
from sklearn_textbook.inspection.decision_lines import find_decision_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colour-blind safe colours of classes.
COLORS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Fractions of the figure: margin around the points, height of the band of a class.
MARGIN, BAND = 0.08, 0.6
#: Maximum ratio of the ranges of two columns for a projection with equal units.
MAX_RATIO = 10.0
#: Maximum number of rows with dotted lines to their projections.
MAX_DROPPED = 100


class DiscriminantDisplay:
    """Plot of the points, projection and decision boundaries of a linear discriminant.

    See figure 3.3 of 周志华《机器学习》. There are three kinds of figures:

    * for two columns, the plane itself; for two classes, with the line onto which the
      rows are projected (投影直线), the projected rows and the projected class means;
    * for more columns and more than two classes, the plane of the first two directions
      of :class:`~sklearn_textbook.discriminant_analysis.LinearDiscriminantAnalysis`;
    * for more columns and two classes, the projected rows on a line.

    On decision boundaries, two classes have equal scores and no class a higher one. In
    the plane of two directions they apply to rows in this plane, which for three
    classes are all rows.

    Use :meth:`from_estimator` to create and draw a display. For coloured regions, and
    for nonlinear classifiers, use scikit-learn's ``DecisionBoundaryDisplay``, which
    also supports the estimators of this package.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2) or (n_samples, 1)
        The rows in the plane, or projected.
    codes : ndarray of int, shape (n_samples,)
        Class indices.
    class_names : list of str
        Names of the classes.
    weights : ndarray of shape (n_classes, n_coordinates)
        Coefficients of the class scores, ``weights @ point + offsets``.
    offsets : ndarray of shape (n_classes,)
        Intercepts of the class scores.
    centres : ndarray of shape (n_classes, n_coordinates)
        Centres of the classes.
    axis_names : list of str
        Names of the coordinates.
    direction : ndarray of shape (2,) or None, default=None
        Direction onto which the rows of the plane are projected.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    decision_lines_ : list of matplotlib.lines.Line2D
        The decision boundaries.
    projection_line_ : matplotlib.lines.Line2D or None
        The line onto which rows are projected, if any.

    See Also
    --------
    sklearn.inspection.DecisionBoundaryDisplay : Draws the regions of any classifier.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn_textbook.inspection import DiscriminantDisplay
    >>> X, y = load_watermelon(version="3.0alpha", language="en", return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> display = DiscriminantDisplay.from_estimator(model, X, y)
    >>> display.figure_.savefig("discriminant.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        points: np.ndarray,
        codes: np.ndarray,
        class_names: Sequence[str],
        weights: np.ndarray,
        offsets: np.ndarray,
        centres: np.ndarray,
        axis_names: Sequence[str],
        direction: np.ndarray | None = None,
    ) -> None:
        self.points = points
        self.codes = codes
        self.class_names = class_names
        self.weights = weights
        self.offsets = offsets
        self.centres = centres
        self.axis_names = axis_names
        self.direction = direction

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw rows projected by a fitted linear classifier.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``classes_``, ``coef_`` and ``intercept_``: a
            linear discriminant analysis or, for two columns or two classes, any linear
            classifier.
        X : array-like of shape (n_samples, n_features)
            Rows to draw.
        y : array-like of shape (n_samples,)
            Class labels of the rows, all in ``classes_``.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        DiscriminantDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        ValueError
            If the estimator is not linear, ``y`` has other classes, or there are too
            many columns and classes to draw.
        """
        check_is_fitted(estimator)
        weights, offsets = _read_scores(estimator)
        classes = estimator.classes_
        names = getattr(X, "columns", None)
        rows = check_array(X, dtype=np.float64, input_name="X")
        if rows.shape[1] != weights.shape[1]:
            raise ValueError(
                f"X must have the {weights.shape[1]} columns of the fitted "
                f"{type(estimator).__name__}, got {rows.shape[1]}."
            )
        codes = _find_codes(np.asarray(y), classes, len(rows))
        names = [f"x{j}" for j in range(rows.shape[1])] if names is None else names
        options = {"class_names": [str(label) for label in classes], "codes": codes}
        means = getattr(estimator, "means_", None)
        if means is None:
            # Other classifiers have no class means; those of the given rows are used.
            means = [
                rows[codes == k].mean(axis=0)
                if (codes == k).any()
                else np.full(rows.shape[1], np.nan)
                for k in range(len(classes))
            ]
        means = np.asarray(means, dtype=np.float64)
        if rows.shape[1] == 2:
            direction = weights[1] - weights[0] if len(classes) == 2 else None
            display = cls(
                rows,
                weights=weights,
                offsets=offsets,
                centres=means,
                axis_names=[str(name) for name in names],
                direction=direction,
                **options,
            )
        elif len(classes) == 2:
            display = cls._project_on_line(rows, weights, offsets, means, options)
        else:
            display = cls._project_on_plane(estimator, rows, means, options)
        return display.plot(ax=ax, **kwargs)

    @classmethod
    def _project_on_line(cls, rows, weights, offsets, means, options):
        """Project rows onto the normalized weights of two classes."""
        normal = weights[1] - weights[0]
        length = np.linalg.norm(normal)
        if length == 0.0:
            raise ValueError("All weights are zero: there is no direction to draw.")
        unit = normal[:, np.newaxis] / length
        return cls(
            rows @ unit,
            weights=np.array([[0.0], [length]]),
            offsets=offsets,
            centres=means @ unit,
            axis_names=["projection onto w, scaled to length 1"],
            **options,
        )

    @classmethod
    def _project_on_plane(cls, estimator, rows, means, options):
        """Project rows onto the first two discriminant directions."""
        scalings = getattr(estimator, "scalings_", None)
        if scalings is None or scalings.shape[1] < 2:
            raise ValueError(
                "For more than two classes and more than two columns, the estimator "
                "must have scalings_ with at least two columns; got "
                f"{type(estimator).__name__}."
            )
        scalings = np.asarray(scalings[:, :2], dtype=np.float64)
        priors = np.asarray(estimator.priors_, dtype=np.float64)
        centre = priors @ means
        centres = (means - centre) @ scalings
        with np.errstate(divide="ignore"):
            offsets = np.log(priors) - 0.5 * np.square(centres).sum(axis=1)
        return cls(
            (rows - centre) @ scalings,
            weights=centres,
            offsets=offsets,
            centres=centres,
            axis_names=["first direction", "second direction"],
            **options,
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        show_projection: bool | None = None,
        legend: bool = True,
        scatter_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the points, the projection and the decision boundaries.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        show_projection : bool or None, default=None
            Whether to draw the projection in the plane of two columns, with equal units
            on both axes. ``None`` draws it unless one column has more than 10 times the
            range of the other.
        legend : bool, default=True
            Whether to draw a legend.
        scatter_kw : dict or None, default=None
            Parameters of matplotlib's ``scatter`` for the points.

        Returns
        -------
        DiscriminantDisplay
            The display itself, with the drawing in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        is_new = ax is None
        self.ax_ = ax = make_axes(ax)
        self.figure_ = ax.figure
        if is_new:  # leaves room for a legend beside axes with equal units
            self.figure_.set_layout_engine("compressed")
        self.projection_line_ = None
        self.decision_lines_ = []
        if self.points.shape[1] == 1:
            self._draw_strip(scatter_kw or {})
        else:
            if show_projection is None:
                show_projection = _have_similar_ranges(self.points)
            is_projected = show_projection and self.direction is not None
            self._draw_plane(is_projected, scatter_kw or {})
        if legend:
            entries = zip(*ax.get_legend_handles_labels(), strict=True)
            others = [e for e in entries if e[0] not in self._class_points]
            classes = zip(self._class_points, self.class_names, strict=True)
            add_legend(ax, list(classes), others)
        use_fonts(ax)
        separate_ticks([ax])
        return self

    # ---------------------------------------------------------------------- parts
    def _draw_classes(self, heights, scatter_kw) -> None:
        """Draw the points of each class."""
        self._class_points = []
        for number, name in enumerate(self.class_names):
            rows = self.codes == number
            across = self.points[rows, 0]
            color, marker = _choose_style(number)
            style = {
                "color": color,
                "marker": marker,
                "s": 28,
                "edgecolors": "white",
                "linewidths": 0.4,
                "label": name,
                "zorder": 3,
            }
            points = self.ax_.scatter(across, heights[rows], **style | scatter_kw)
            self._class_points.append(points)

    def _draw_plane(self, is_projected, scatter_kw) -> None:
        """Draw the plane, with equal units if there is a projection."""
        self._draw_classes(self.points[:, 1], scatter_kw)
        drawn = np.vstack((self.points, self.centres[np.isfinite(self.centres[:, 0])]))
        if is_projected:
            drawn = self._draw_projection(drawn)
        else:
            self._draw_centres(self.centres, "class mean")
        frame = _find_frame(drawn)
        label = "decision boundary"
        for _, _, ends in find_decision_lines(self.weights, self.offsets, frame):
            style = {"color": find_foreground(), "linewidth": 1.2, "label": label}
            self.decision_lines_ += self.ax_.plot(*ends.T, **style)
            label = "_other decision boundary"
        self.ax_.set_xlim(frame[:2])
        self.ax_.set_ylim(frame[2:])
        if is_projected or self.axis_names[0] == "first direction":
            self.ax_.set_aspect("equal", adjustable="box")
        across, up = write_names(self.axis_names)
        self.ax_.set_xlabel(across, parse_math=False)
        self.ax_.set_ylabel(up, parse_math=False)

    def _draw_projection(self, drawn):
        """Draw the line, the projected points and centres; return all points."""
        length = np.linalg.norm(self.direction)
        if length == 0.0:
            raise ValueError("All weights are zero: there is no direction to draw.")
        unit = self.direction / length
        spread = float(np.ptp(drawn, axis=0).max())
        # The position of the line is arbitrary: next to the points, to hide none.
        across = np.array([-unit[1], unit[0]])
        across = -across if across[1] > 0 else across
        beyond = (drawn @ across).max() + 0.08 * spread
        projected = np.outer(drawn @ unit, unit) + beyond * across
        n_rows = len(self.points)
        ends = projected[[(drawn @ unit).argmin(), (drawn @ unit).argmax()]]
        ends = ends + np.outer([-0.04, 0.04], unit) * spread
        style = {"color": "#777777", "linewidth": 1.2, "zorder": 1}
        (self.projection_line_,) = self.ax_.plot(
            *ends.T, label="projection line", **style
        )
        if n_rows <= MAX_DROPPED:
            style |= {"linewidth": 0.5, "linestyle": ":"}
            pairs = np.stack((self.points, projected[:n_rows]), axis=1)
            for pair in pairs:
                self.ax_.plot(*pair.T, **style)
        for number in range(len(self.class_names)):
            rows = np.flatnonzero(self.codes == number)
            color, marker = _choose_style(number)
            self.ax_.scatter(
                *projected[rows].T, color=color, marker=marker, s=12, zorder=3
            )
        centres = np.outer(self.centres @ unit, unit) + beyond * across
        self._draw_centres(self.centres, "class mean")
        self._draw_centres(centres, None)
        return np.vstack((drawn, projected, ends))

    def _draw_centres(self, centres, label) -> None:
        """Draw class means as crosses with an outline."""
        for number, centre in enumerate(centres):
            self.ax_.scatter(
                *np.atleast_2d(centre).T,
                color=COLORS[number % len(COLORS)],
                marker="X",
                s=110,
                edgecolors=find_foreground(),
                linewidths=1.0,
                zorder=4,
                label=label if number == 0 else None,
            )

    def _draw_strip(self, scatter_kw) -> None:
        """Draw projected points, a band for each class, and the decision boundary."""
        n_classes = len(self.class_names)
        order = np.argsort(np.argsort(self.points[:, 0], kind="stable"), kind="stable")
        # Neighbours have very different heights, the same in every drawing.
        shift = (order * 0.6180339887498949) % 1.0 - 0.5
        self._draw_classes(self.codes + BAND * shift, scatter_kw)
        centres = np.column_stack((self.centres[:, 0], np.arange(n_classes)))
        self._draw_centres(centres, "class mean")
        slope = self.weights[1, 0] - self.weights[0, 0]
        border = (self.offsets[0] - self.offsets[1]) / slope
        if np.isfinite(border):
            style = {"color": find_foreground(), "linewidth": 1.2}
            style["label"] = "decision boundary"
            self.decision_lines_ = [self.ax_.axvline(border, **style)]
        names = write_names(self.class_names)
        self.ax_.set_yticks(range(n_classes), names, parse_math=False)
        self.ax_.set_xlabel(self.axis_names[0])


def _read_scores(estimator):
    """Return weights and offsets of every class of a linear classifier."""
    for name in ("classes_", "coef_", "intercept_"):
        if not hasattr(estimator, name):
            raise ValueError(
                "estimator must be a linear classifier with classes_, coef_ and "
                f"intercept_; {type(estimator).__name__} has no {name}."
            )
    weights = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    offsets = np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64))
    n_classes = len(estimator.classes_)
    if n_classes < 2:
        raise ValueError("DiscriminantDisplay requires at least two classes, got 1.")
    if n_classes == 2 and len(weights) == 1:
        weights = np.vstack((np.zeros_like(weights), weights))
        offsets = np.append(0.0, offsets)
    if len(weights) != n_classes:
        raise ValueError(
            f"coef_ must have one row for each of the {n_classes} classes; that of "
            f"{type(estimator).__name__} has {len(weights)}."
        )
    return weights, np.broadcast_to(offsets, (n_classes,))


def _find_codes(y, classes, n_rows):
    """Return the class indices of labels."""
    if y.shape != (n_rows,):
        raise ValueError(
            f"y must have shape ({n_rows},), one label per row of X; got {y.shape}."
        )
    number_of = {label: number for number, label in enumerate(classes.tolist())}
    codes = [number_of.get(label, -1) for label in y.tolist()]
    if -1 in codes:
        label = y.tolist()[codes.index(-1)]
        raise ValueError(
            f"y must contain only classes of the estimator, "
            f"{', '.join(map(repr, number_of))}; got {label!r}."
        )
    return np.array(codes, dtype=np.intp)


def _choose_style(number):
    """Return the colour and marker of a class; no two of 49 have both in common."""
    shift = number // len(COLORS)
    return COLORS[number % len(COLORS)], MARKERS[(number + shift) % len(MARKERS)]


def _have_similar_ranges(points):
    low, high = sorted(np.ptp(points, axis=0).tolist())
    return high <= MAX_RATIO * low


def _find_frame(points):
    """Return left, right, bottom and top of points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = MARGIN * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = low - room, high + room
    return left, right, bottom, top
