"""Kappa-error diagram of an ensemble as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from sklearn_textbook._contract.parameters import check_truth
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.diversity import (
    diversity_report,
    kappa_error_points,
)
from sklearn_textbook.inspection._axes import make_axes, name_curves, use_fonts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Blue and orange of Okabe and Ito, safe for colour-blind people.
POINT_COLOR = "#0072B2"
CENTRE_COLOR = "#D55E00"
#: Above this number, points are rasterized, also in vector graphics.
MOST_SHAPES = 5000


class KappaErrorDisplay:
    r"""Kappa-error diagram of all pairs of members (κ-误差图).

    Each point is a pair of members: the further left, the less the two agree; the
    lower, the more accurate they are. Pairs that are both accurate and diverse are at
    the bottom left. Since these aims conflict, the points of an ensemble form a cloud
    from the top left to the bottom right.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create and draw a display;
    :meth:`plot` draws it again, with other axes or parameters.

    Parameters
    ----------
    kappa : array-like of shape (n_pairs,)
        Kappa of the predictions of each pair.
    error : array-like of shape (n_pairs,)
        Mean error of each pair.
    name : str or None, default=None
        Name of the ensemble in the legend.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    points_ : matplotlib.collections.PathCollection
        The points of the pairs.
    centre_ : matplotlib.collections.PathCollection or None
        The marker of the mean of the points.
    hull_ : matplotlib.lines.Line2D or None
        The convex hull of the points.

    Raises
    ------
    ValueError
        If the arrays are empty, differ in length or are not finite.

    See Also
    --------
    sklearn_textbook.ensemble.diversity.kappa_error_points : The points.
    sklearn_textbook.ensemble.diversity.diversity_report : Other measures of pairs.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.2, figure 8.10.
    .. [2] D. D. Margineantu, T. G. Dietterich (1997), "Pruning adaptive boosting",
       International Conference on Machine Learning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import BaggingClassifier
    >>> from sklearn_textbook.inspection import KappaErrorDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(n_estimators=10, random_state=0)
    >>> model = model.fit(X[::2], y[::2])
    >>> display = KappaErrorDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> display.kappa.shape, display.error.shape
    ((45,), (45,))
    """

    def __init__(
        self, kappa: ArrayLike, error: ArrayLike, *, name: str | None = None
    ) -> None:
        self.kappa = np.asarray(kappa, dtype=np.float64)
        self.error = np.asarray(error, dtype=np.float64)
        self.name = name
        if self.kappa.ndim != 1 or self.kappa.shape != self.error.shape:
            raise ValueError(
                "kappa and error must be 1D arrays of equal length, one entry per "
                f"pair; got shapes {self.kappa.shape} and {self.error.shape}."
            )
        for what, values in (("kappa", self.kappa), ("error", self.error)):
            if len(values) == 0 or not np.isfinite(values).all():
                raise ValueError(f"{what} must have at least one entry, all finite.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the members of a fitted ensemble.

        Parameters
        ----------
        estimator : estimator or sequence of estimator
            A fitted ensemble of classifiers, or several fitted classifiers, as in
            :func:`~sklearn_textbook.ensemble.diversity.predict_members`.
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. Rows not used in the fit are more informative.
        y : array-like of shape (n_samples,)
            True labels of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        name : str or None, default=None
            Name of the ensemble in the legend. None: its class name.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        KappaErrorDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If its members do not predict classes.
        """
        report = diversity_report(estimator, X, y, sample_weight)
        pairs = report.pairwise
        display = cls(pairs["kappa"], pairs["error"], name=name or report.name)
        return display.plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        predictions: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw members with known predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        predictions : array-like of shape (n_samples, n_members)
            Predicted labels, one column per member.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        name : str or None, default=None
            Name of the ensemble in the legend.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        KappaErrorDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        ValueError
            If shapes do not match, or labels are missing or continuous.
        """
        points = kappa_error_points(y_true, predictions, sample_weight=sample_weight)
        display = cls(points["kappa"], points["error"], name=name)
        return display.plot(ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        centre: bool = True,
        hull: bool = False,
        scatter_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        name : str or None, default=None
            Name of the ensemble in the legend. None: that of the display. Without a
            name there is no legend.
        centre : bool, default=True
            Whether to mark the mean of the points.
        hull : bool, default=False
            Whether to draw the convex hull of the points.
        scatter_kw : dict or None, default=None
            Parameters of matplotlib's ``scatter``.

        Returns
        -------
        KappaErrorDisplay
            The display itself, with the drawing in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``centre`` or ``hull`` is neither True nor False.
        """
        check_truth("centre", centre)
        check_truth("hull", hull)
        self.ax_ = ax = make_axes(ax)
        self.figure_, self.centre_, self.hull_ = ax.figure, None, None
        name = self.name if name is None else name
        style = {
            "color": POINT_COLOR,
            "s": 14,
            "alpha": min(0.7, max(0.05, 400 / len(self.kappa))),
            "linewidths": 0,
            "label": name,
            "rasterized": len(self.kappa) > MOST_SHAPES,
        }
        self.points_ = ax.scatter(
            self.kappa, self.error, **(style | (scatter_kw or {}))
        )
        if hull:
            self._draw_hull()
        if centre:
            self.centre_ = ax.scatter(
                *([self.kappa.mean()], [self.error.mean()]),
                marker="X",
                s=70,
                color=CENTRE_COLOR,
                edgecolors="white",
                label="mean",
                zorder=3,
            )
        ax.set_xlabel(r"$\kappa$ of two members")
        ax.set_ylabel("mean error of two members")
        if name is not None:
            legend = name_curves(ax, fontsize="small")
            for handle in legend.legend_handles:
                handle.set_alpha(1.0)  # points may be too faint to show their colour
        use_fonts(ax)
        return self

    def _draw_hull(self):
        """Draw the convex hull; of points on one line there is none."""
        try:
            found = ConvexHull(np.column_stack((self.kappa, self.error)))
        except QhullError:
            return
        corners = found.points[found.vertices]
        closed = np.vstack((corners, corners[:1]))
        color = self.points_.get_facecolor()[0, :3]
        (self.hull_,) = self.ax_.plot(*closed.T, color=color, linewidth=1.0)
