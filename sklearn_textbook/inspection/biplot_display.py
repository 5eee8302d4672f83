"""Scores and loadings of two principal components in one plane, as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import read_feature_names
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.inspection._axes import (
    add_legend,
    make_axes,
    use_fonts,
    write_names,
)
from sklearn_textbook.inspection._text_places import place_texts
from sklearn_textbook.tree.explain.colors import class_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("biplot", "scores", "loadings")
#: The colour-blind safe colours of Okabe and Ito.
CLASS_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442")
ARROW_COLOR = "#D55E00"
CIRCLE_COLOR = "#5F6368"
#: Length of the longest arrow of a biplot, as a fraction of the extent of the points.
ARROW_REACH = 0.85
#: Maximum number of variables whose names are drawn, and part of the area of the axes
#: that names may cover; the longest arrows have names.
MAX_NAMES, NAMES_FRACTION = 40, 0.2
#: Maximum number of placements of names while the limits are widened.
N_PLACEMENTS = 5
#: Minimum distance in points of a name that is connected with its arrow.
LEADER_REACH = 12.0


class BiplotDisplay:
    r"""Biplot of the scores (得分) and loadings (因子负荷量) of two components.

    Points are rows, drawn at scores with variance 1, :math:`y_k / \sqrt{\lambda_k}`.
    Arrows are variables, drawn at their correlations with the components, multiplied by
    a common factor to fill the figure; their names are outside the arrows, those of
    the longest arrows if there is no room for all. The inner
    product of a point and an arrow (without the factor) approximates the standardized
    value of the variable in this row: rows in the direction of an arrow have large
    values, and arrows in the same direction belong to correlated variables. In the
    correlation circle (相关圆), an arrow reaches the circle if the two components
    explain the variable completely.

    Use :meth:`from_estimator` to create and draw a display; :meth:`plot` draws it
    again, with other axes or parameters.

    Parameters
    ----------
    scores : array-like of shape (n_samples, 2) or None
        Scores with variance 1. None: only loadings are drawn.
    loadings : array-like of shape (n_features, 2)
        Correlations of the variables with the two components.
    feature_names : array-like of str or None, default=None
        Names of the variables. None: x0, x1, ...
    components : tuple of two int, default=(0, 1)
        Indices of the components, starting from 0.
    ratios : array-like of shape (2,) or None, default=None
        Contributions of the two components, shown in the axis labels.
    labels : array-like of shape (n_samples,) or None, default=None
        Classes or values by which the points are coloured.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    points_ : list of matplotlib.collections.PathCollection
        The rows, one collection per class.
    arrows_ : list of matplotlib.text.Annotation
        The variables.
    names_ : list of matplotlib.text.Text
        The names of the variables.
    circle_ : matplotlib.patches.Circle or None
        The correlation circle.
    arrow_scale_ : float
        The common factor of the loadings.

    Raises
    ------
    ValueError
        If shapes do not match.

    See Also
    --------
    sklearn_textbook.decomposition.PCA : Computes the components.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.decomposition import PCA
    >>> from sklearn_textbook.inspection import BiplotDisplay
    >>> iris = load_iris(as_frame=True)
    >>> pca = PCA(n_components=2, standardize=True).fit(iris.data)
    >>> species = iris.target_names[iris.target]
    >>> display = BiplotDisplay.from_estimator(pca, iris.data, labels=species)
    >>> display.ax_.get_xlabel()
    'component 1 (73.0%)'
    """

    def __init__(
        self,
        scores: ArrayLike | None,
        loadings: ArrayLike,
        *,
        feature_names: ArrayLike | None = None,
        components: tuple[int, int] = (0, 1),
        ratios: ArrayLike | None = None,
        labels: ArrayLike | None = None,
    ) -> None:
        self.scores = scores
        self.loadings = loadings
        self.feature_names = feature_names
        self.components = components
        self.ratios = ratios
        self.labels = labels
        self._loadings = _read_pairs("loadings", loadings)
        self._scores = None if scores is None else _read_pairs("scores", scores)
        read_feature_names(feature_names, len(self._loadings), each="row of loadings")
        n_rows = None if scores is None else len(self._scores)
        if labels is not None and len(labels) != n_rows:
            raise ValueError(
                "labels must have one entry per row of scores, "
                f"{0 if n_rows is None else n_rows} in all, got {len(labels)}."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike | None = None,
        *,
        labels: ArrayLike | None = None,
        components: tuple[int, int] = (0, 1),
        feature_names: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw rows and variables in the plane of two fitted components.

        Parameters
        ----------
        estimator : estimator
            A fitted :class:`~sklearn_textbook.decomposition.PCA`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Rows to draw, which need not be training rows. None: only the variables.
        labels : array-like of shape (n_samples,) or None, default=None
            Classes or values by which the points are coloured.
        components : tuple of two int, default=(0, 1)
            Indices of the components, starting from 0.
        feature_names : array-like of str or None, default=None
            Names of the variables. None: the names seen in ``fit``.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        BiplotDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If it has no loadings or lacks one of the components.
        """
        check_is_fitted(estimator)
        loadings = getattr(estimator, "loadings_", None)
        if loadings is None:
            raise ValueError(
                "estimator must have loadings_, as the PCA of sklearn_textbook does; "
                f"got {type(estimator).__name__}."
            )
        pair = _check_components(components, loadings.shape[1])
        scores = None
        if X is not None:
            scores = np.asarray(estimator.transform(X))[:, pair]
            if not estimator.whiten:
                deviations = np.sqrt(estimator.explained_variance_[pair])
                scores = scores / np.where(deviations > 0, deviations, 1.0)
        if feature_names is None:
            feature_names = getattr(estimator, "feature_names_in_", None)
            if "design_" in vars(estimator):
                feature_names = estimator.design_.names
        display = cls(
            scores,
            loadings[:, pair],
            feature_names=feature_names,
            components=tuple(components),
            ratios=estimator.explained_variance_ratio_[pair],
            labels=labels,
        )
        if X is None:
            kwargs = {"kind": "loadings"} | kwargs
        return display.plot(ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "biplot",
        show_circle: bool | None = None,
        legend: bool = True,
        point_kw: dict[str, Any] | None = None,
        arrow_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw points and arrows.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        kind : {"biplot", "scores", "loadings"}, default="biplot"
            Whether to draw rows and variables, only rows, or only variables.
        show_circle : bool or None, default=None
            Whether to draw the correlation circle. None: only with ``kind="loadings"``.
        legend : bool, default=True
            Whether to draw a legend of the classes or a colour bar of the values.
        point_kw : dict or None, default=None
            Parameters of matplotlib's ``scatter``.
        arrow_kw : dict or None, default=None
            Parameters of matplotlib's arrows, ``FancyArrowPatch``.

        Returns
        -------
        BiplotDisplay
            The display itself, with the drawing in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``kind`` is invalid, or there are no scores to draw.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {list(KINDS)}, got {kind!r}.")
        if kind != "loadings" and self._scores is None:
            raise ValueError(
                f"kind={kind!r} requires scores: pass rows X to from_estimator, or use "
                "kind='loadings'."
            )
        self.ax_ = ax = make_axes(ax, size=(7.0, 7.0))
        self.figure_ = ax.figure
        self.points_, self.arrows_, self.names_ = [], [], []
        self.circle_, self.arrow_scale_ = None, 1.0
        ax.axhline(0, color=CIRCLE_COLOR, linewidth=0.6, zorder=1)
        ax.axvline(0, color=CIRCLE_COLOR, linewidth=0.6, zorder=1)
        if kind != "loadings":
            self._draw_points(legend, point_kw or {})
        if kind != "scores":
            self._draw_arrows(kind, arrow_kw or {})
            if show_circle or (show_circle is None and kind == "loadings"):
                self._draw_circle()
        ax.set_aspect("equal", adjustable="datalim")
        for number, name in enumerate("xy"):
            getattr(ax, f"set_{name}label")(self._describe_component(number))
        use_fonts(ax)
        self._place_names()
        return self

    # ---------------------------------------------------------------------- parts
    def _draw_points(self, legend, point_kw):
        """Draw the rows, coloured by class or by value."""
        x, y = self._scores.T
        style = {"s": 18, "alpha": 0.75, "linewidth": 0, "zorder": 2} | point_kw
        labels = None if self.labels is None else np.asarray(self.labels)
        if labels is None:
            style = {"color": CLASS_COLORS[0]} | style
            self.points_.append(self.ax_.scatter(x, y, **style))
            return
        classes = np.unique(labels)
        is_number = labels.dtype.kind in "biuf"
        most = len(CLASS_COLORS) if is_number else len(classes)
        if labels.dtype.kind == "f" or len(classes) > most:
            style = {"c": labels.astype(float), "cmap": "viridis"} | style
            self.points_.append(self.ax_.scatter(x, y, **style))
            if legend:
                self.figure_.colorbar(self.points_[0], ax=self.ax_, shrink=0.7)
            return
        is_few = len(classes) <= len(CLASS_COLORS)
        colors = CLASS_COLORS if is_few else class_colors(len(classes))
        for color, label in zip(colors, classes, strict=False):
            rows = labels == label
            options = {"color": color, "label": str(label)} | style
            self.points_.append(self.ax_.scatter(x[rows], y[rows], **options))
        if legend:
            add_legend(self.ax_, list(zip(self.points_, classes, strict=True)))

    def _draw_arrows(self, kind, arrow_kw) -> None:
        """Draw the variables; those without a correlation are left out."""
        loadings = self._loadings
        if kind == "biplot":
            longest = np.nanmax(np.hypot(*loadings.T), initial=0.0)
            extent = np.hypot(*self._scores.T).max()
            if longest > 0 and extent > 0:
                self.arrow_scale_ = float(ARROW_REACH * extent / longest)
        style = {"arrowstyle": "-|>", "color": ARROW_COLOR, "linewidth": 1.2}
        style |= {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 10} | arrow_kw
        tips = loadings * self.arrow_scale_
        names = self.feature_names
        names = write_names(
            [f"x{k}" for k in range(len(tips))] if names is None else names
        )
        lengths = np.nan_to_num(np.hypot(*tips.T), nan=-1.0)
        named = set(np.argsort(-lengths, kind="stable")[:MAX_NAMES].tolist())
        for number, tip in enumerate(tips):
            if not np.isfinite(tip).all():
                continue
            arrow = self.ax_.annotate(
                "", xy=tip, xytext=(0, 0), arrowprops=style, zorder=3
            )
            self.arrows_.append(arrow)
            if number in named:
                self.names_.append(self._write_name(names[number], tip))
        # matplotlib ignores arrows in its data limits, so they are set here.
        reach = tips[np.isfinite(tips).all(axis=1)]
        self.ax_.update_datalim(np.vstack((1.2 * reach, [[0.0, 0.0]])))
        self.ax_.autoscale_view()

    def _write_name(self, name, tip):
        from matplotlib.patheffects import withStroke

        halo = withStroke(linewidth=2.0, foreground=self.ax_.get_facecolor())
        return self.ax_.annotate(
            name,
            in_layout=False,
            xy=tip,
            xytext=(0.0, 0.0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize="small",
            color=ARROW_COLOR,
            zorder=4,
            parse_math=False,
            path_effects=[halo],
        )

    def _place_names(self):
        """Place names outside the arrows, and widen the limits to include them."""
        ax = self.ax_
        ax.apply_aspect()
        names = sorted(self.names_, key=lambda name: -np.hypot(*name.xy))
        if not names:
            return
        names = self._choose_names(names)
        tips = np.array([name.xy for name in names])
        arrows = np.stack([np.zeros_like(tips), tips], axis=1)
        angles = np.arctan2(tips[:, 1], tips[:, 0])
        data = ax.dataLim.get_points().copy()
        self.figure_.figure.draw_without_rendering()  # gives the axes their final size
        for _ in range(N_PLACEMENTS):  # wider limits make arrows shorter
            place_texts(ax, names, angles, lines=arrows)
            to_data = ax.transData.inverted()
            corners = np.concatenate([_find_box(name).corners() for name in names])
            before = ax.viewLim.frozen().extents
            ax.dataLim.set_points(data)
            ax.update_datalim(to_data.transform(corners))
            ax.autoscale_view()
            self.figure_.figure.draw_without_rendering()
            if np.allclose(before, ax.viewLim.extents, rtol=0.02):
                break
        place_texts(ax, names, angles, lines=arrows)
        self._draw_leaders(names)

    def _choose_names(self, names):
        """Remove the names of the shortest arrows if there is too little room."""
        areas = [box.width * box.height for box in map(_find_box, names)]
        box = self.ax_.bbox
        is_kept = np.cumsum(areas) <= NAMES_FRACTION * box.width * box.height
        n_kept = max(1, int(is_kept.sum()))
        for name in names[n_kept:]:
            name.remove()
        self.names_ = [name for name in self.names_ if name in names[:n_kept]]
        n_more = len(self.arrows_) - n_kept
        if n_more > 0:
            self.ax_.annotate(
                f"+{n_more:,} names",
                (1.0, 0.0),
                xytext=(-4.0, 4.0),
                xycoords="axes fraction",
                textcoords="offset points",
                ha="right",
                fontsize="small",
                color=ARROW_COLOR,
            )
        return names[:n_kept]

    def _draw_leaders(self, names) -> None:
        """Connect names far from their arrow with its tip by a thin line."""
        for name in names:
            tip = self.ax_.transData.transform(name.xy)
            box = _find_box(name)
            gap = np.hypot(*(tip - np.clip(tip, box.min, box.max)))
            if gap * 72.0 / self.figure_.dpi < LEADER_REACH:
                continue
            style = {"arrowstyle": "-", "color": ARROW_COLOR, "linewidth": 0.5}
            self.ax_.annotate(
                "",
                xy=name.xy,
                xytext=name.get_position(),
                textcoords="offset points",
                arrowprops=style | {"shrinkA": 6, "shrinkB": 1, "alpha": 0.7},
                in_layout=False,
                zorder=2.5,
            )

    def _draw_circle(self) -> None:
        from matplotlib.patches import Circle

        radius = self.arrow_scale_
        self.circle_ = Circle(
            (0, 0), radius, fill=False, color=CIRCLE_COLOR, linewidth=1.0, zorder=1
        )
        self.ax_.add_patch(self.circle_)
        reach = 1.05 * radius
        self.ax_.update_datalim([(-reach, -reach), (reach, reach)])
        self.ax_.autoscale_view()

    def _describe_component(self, number):
        text = f"component {self.components[number] + 1}"
        if self.ratios is None:
            return text
        return f"{text} ({float(self.ratios[number]):.1%})"


def _find_box(name):
    return name.get_window_extent()


def _read_pairs(name, pairs):
    pairs = np.asarray(pairs, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0:
        raise ValueError(
            f"{name} must have two columns, one per component, and at least one row; "
            f"got shape {pairs.shape}."
        )
    return pairs


def _check_components(components, n_components):
    """Check the indices of two components, and return them as a list."""
    pair = [int(number) for number in components]
    if len(pair) != 2 or not all(0 <= number < n_components for number in pair):
        raise ValueError(
            f"components must be two integers from 0 to {n_components - 1}, since the "
            f"estimator has {n_components} components; got {components!r}."
        )
    return pair
