"""Coefficients of a penalised model for a path of penalties, as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_integer, read_feature_names
from sklearn_textbook._contract.text_table import shorten_names
from sklearn_textbook.inspection._axes import find_foreground, make_axes, use_fonts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The colour-blind safe colours of Okabe and Ito, without yellow.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
OTHER_COLOR = "#B8BDC2"
#: Styles of the lines, one for each turn of the colours.
LINE_STYLES = ("-", "--", ":")
#: Maximum length of a name, in characters, and height of a line of text in points.
NAME_LENGTH, LINE_HEIGHT = 24, 11.0


class RegularizationPathDisplay:
    r"""Plot of the coefficients for a path of penalties (正则化路径).

    Each line is the coefficient of a column as a function of :math:`\alpha`, on a
    logarithmic scale that begins with the strongest penalty on the left. The largest
    coefficients at the end have names, beside the axes; others are grey. A vertical
    line marks the chosen alpha.

    Use :meth:`from_estimator` to create and draw a display; :meth:`plot` draws it
    again, with other axes or parameters.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,)
        The penalties, above 0.
    coefficients : array-like of shape (n_coefficients, n_alphas)
        The coefficients for each of them.
    feature_names : sequence of str or None, default=None
        Names of the coefficients. None: x0, x1, ...
    alpha : float or None, default=None
        The chosen penalty. None: none.
    n_nonzero : array-like of shape (n_alphas,) or None, default=None
        Numbers of columns in the model, written at the top. None: those of the
        coefficients that are not 0.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    top_ax_ : matplotlib.axes.Axes
        The axes of the numbers of columns at the top.
    lines_ : list of matplotlib.lines.Line2D
        The line of each coefficient.
    labels_ : list of matplotlib.text.Annotation
        The names, from the top.
    chosen_line_ : matplotlib.lines.Line2D or None
        The mark of the chosen penalty.

    Raises
    ------
    ValueError
        If the shapes do not match, an alpha is not above 0, or a number is not finite.

    See Also
    --------
    sklearn_textbook.linear_model.ElasticNet : Computes the path.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.inspection import RegularizationPathDisplay
    >>> from sklearn_textbook.linear_model import ElasticNet
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = ElasticNet("1se", l1_ratio=1.0).fit(X, y)
    >>> display = RegularizationPathDisplay.from_estimator(model, n_labels=3)
    >>> [label.get_text() for label in display.labels_]
    ['s5', 'bmi', 's1']
    """

    def __init__(
        self,
        alphas: ArrayLike,
        coefficients: ArrayLike,
        *,
        feature_names: Any = None,
        alpha: float | None = None,
        n_nonzero: ArrayLike | None = None,
    ) -> None:
        self.alphas, self.coefficients = alphas, coefficients
        self.feature_names, self.alpha, self.n_nonzero = feature_names, alpha, n_nonzero
        found = np.asarray(alphas, dtype=np.float64)
        values = np.asarray(coefficients, dtype=np.float64)
        if found.ndim != 1 or values.ndim != 2 or values.shape[1] != len(found):
            raise ValueError(
                "coefficients must have shape (n_coefficients, n_alphas), a column for "
                f"each of {found.size} alphas; got shape {values.shape}."
            )
        if not len(found) or not (np.isfinite(found) & (found > 0.0)).all():
            raise ValueError(
                "alphas must be finite numbers above 0, as the scale is logarithmic; "
                f"got {found.tolist()}."
            )
        if not np.isfinite(values).all():
            raise ValueError("coefficients must be finite.")
        names = read_feature_names(feature_names, len(values), each="coefficient")
        self._names = names or [f"x{number}" for number in range(len(values))]
        order = np.argsort(-found, kind="stable")
        counts = (values != 0.0).sum(axis=0)
        if n_nonzero is not None:
            counts = np.asarray(n_nonzero)
            if counts.shape != found.shape:
                raise ValueError(
                    f"n_nonzero must have one number for each of {len(found)} alphas; "
                    f"got shape {counts.shape}."
                )
        self._alphas, self._values = found[order], values[:, order]
        self._counts = counts[order]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        class_label: Any = None,
        standardize: bool = False,
        X: Any = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        estimator : ElasticNet or ElasticNetClassifier
            A fitted model with a path: with ``alpha="min"`` or "1se", or ``alphas``.
        class_label : object, default=None
            The class whose coefficients are drawn, of more than two.
        standardize : bool, default=False
            Whether coefficients are multiplied by the standard deviations of their
            columns, which makes them comparable.
        X : array-like, data frame or sparse matrix, default=None
            The rows for these standard deviations.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        RegularizationPathDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If it has no path of several alphas, if ``class_label`` is needed or not a
            class, or if ``standardize`` lacks rows.
        """
        check_is_fitted(estimator)
        path = getattr(estimator, "coef_path_", None)
        if path is None or len(estimator.alphas_) < 2:
            raise ValueError(
                "estimator must be a fitted ElasticNet or ElasticNetClassifier with a "
                "path, by alpha='min', alpha='1se' or alphas=100; got "
                f"{type(estimator).__name__}."
            )
        if path.ndim == 3:
            path = path[_find_vector(estimator, class_label)]
        if standardize:
            path = path * _measure_deviations(estimator, X)[:, np.newaxis]
        is_positive = estimator.alphas_ > 0.0
        display = cls(
            estimator.alphas_[is_positive],
            path[:, is_positive],
            feature_names=estimator.coef_names_.tolist(),
            alpha=estimator.alpha_ if estimator.alpha_ > 0.0 else None,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        n_labels: int = 10,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        n_labels : int, default=10
            Number of coefficients with a name: the largest for the weakest penalty, as
            far as there is room.
        line_kw : dict or None, default=None
            Parameters of matplotlib's ``plot``.

        Returns
        -------
        RegularizationPathDisplay
            The display itself, with the drawing in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``n_labels`` is negative.
        """
        check_integer("n_labels", n_labels, 0)
        self.ax_ = ax = make_axes(ax)
        self.figure_ = ax.figure
        ends = self._values[:, -1]
        room = int(ax.bbox.height * 72 / ax.figure.figure.dpi / LINE_HEIGHT)
        order = np.argsort(-np.abs(ends), kind="stable")
        order = order[np.abs(ends[order]) > 0.0][: min(n_labels, room)]
        styles = {}
        for place, number in enumerate(order.tolist()):
            turn = place // len(COLORS) % len(LINE_STYLES)
            color = COLORS[place % len(COLORS)]
            styles[number] = {"color": color, "linestyle": LINE_STYLES[turn]}
        self.lines_ = []
        ax.axhline(0.0, color=find_foreground(), linewidth=0.6)
        for number, values in enumerate(self._values):
            style = {"color": OTHER_COLOR, "zorder": 1.5} | styles.get(number, {})
            style = {"linewidth": 1.5} | style | (line_kw or {})
            self.lines_ += ax.plot(self._alphas, values, **style)
        ax.set_xscale("log")
        low, high = self._alphas[-1], self._alphas[0]
        if low == high:
            low, high = low / 1.1, high * 1.1
        ax.set_xlim(high, low)
        self.chosen_line_ = None
        if self.alpha is not None:
            self.chosen_line_ = ax.axvline(
                self.alpha, color=find_foreground(), linestyle="--", linewidth=1.0
            )
            ax.annotate(
                rf"$\alpha$ = {self.alpha:.3g}",
                (self.alpha, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(-4, -4),
                textcoords="offset points",
                rotation=90,
                ha="right",
                va="top",
                fontsize="small",
            )
        ax.set_xlabel(r"penalty $\alpha$, weaker to the right")
        ax.set_ylabel("coefficient")
        self._add_names(ax, order, styles)
        self._add_counts(ax, (high, low))
        use_fonts(ax)
        ax.figure.sca(ax)
        return self

    def _add_names(self, ax, order, styles) -> None:
        """Write names beside the ends of the lines, without overlaps."""
        ends = self._values[:, -1]
        order = sorted(order.tolist(), key=lambda number: -ends[number])
        names = shorten_names([self._names[n] for n in order], NAME_LENGTH)
        low, high = ax.get_ylim()
        height = max(ax.bbox.height * 72 / ax.figure.figure.dpi, 1.0)
        step = LINE_HEIGHT / height
        wanted = [(ends[number] - low) / (high - low) for number in order]
        self.labels_ = []
        for name, number, place in zip(
            names, order, _spread(wanted, step), strict=True
        ):
            label = ax.annotate(
                name,
                (1.0, (ends[number] - low) / (high - low)),
                xycoords="axes fraction",
                xytext=(1.04, place),
                textcoords="axes fraction",
                va="center",
                fontsize="small",
                color=styles[number]["color"],
                arrowprops={
                    "arrowstyle": "-",
                    "color": styles[number]["color"],
                    "linewidth": 0.6,
                    "shrinkA": 0.0,
                    "shrinkB": 0.0,
                },
                annotation_clip=False,
            )
            label.set_parse_math(False)
            self.labels_.append(label)
        ax.set_ylim(low, high)

    def _add_counts(self, ax, limits) -> None:
        """Write the numbers of columns in the model at the top."""
        from matplotlib.ticker import NullLocator

        self.top_ax_ = top = ax.twiny()
        top.set_xscale("log")
        top.set_xlim(*limits)
        shown = np.unique(np.linspace(0, len(self._alphas) - 1, 7).round().astype(int))
        top.xaxis.set_minor_locator(NullLocator())
        top.set_xticks(self._alphas[shown], [str(n) for n in self._counts[shown]])
        top.set_xlabel("columns in the model", fontsize="small")
        top.tick_params(labelsize="small")


def _find_vector(estimator, label) -> int:
    """Find the vector of coefficients of a class."""
    classes = estimator.classes_.tolist()
    if len(classes) == 2:
        if label is not None and label != classes[1]:
            raise ValueError(
                f"class_label must be None or {classes[1]!r}, the second of two "
                f"classes, whose coefficients there are; got {label!r}."
            )
        return 0
    if label not in classes:
        raise ValueError(f"class_label must be one of {classes}; got {label!r}.")
    return classes.index(label)


def _measure_deviations(estimator, X) -> np.ndarray:
    """Compute standard deviations of the columns of the design matrix."""
    if X is None:
        raise ValueError("standardize=True needs X, the rows of the columns.")
    matrix = estimator.design_.read(X)
    means = np.asarray(matrix.mean(axis=0)).ravel()
    squares = matrix.power(2) if hasattr(matrix, "power") else np.square(matrix - means)
    found = np.asarray(squares.mean(axis=0)).ravel()
    if hasattr(matrix, "power"):
        found = found - np.square(means)
    return np.sqrt(np.maximum(found, 0.0))


def _spread(wanted: list, step: float) -> list:
    """Move descending places on an axis from 0 to 1 apart, by least squares."""
    groups: list = []
    for place in wanted:
        # A group of labels that touch: the mean of where its first label should be.
        groups.append([place, 1])
        while len(groups) > 1:
            (above, n_above), (below, n_below) = groups[-2:]
            if above - n_above * step >= below:
                break
            first = (above * n_above + (below + n_above * step) * n_below) / (
                n_above + n_below
            )
            groups[-2:] = [[first, n_above + n_below]]
    places = [first - k * step for first, count in groups for k in range(count)]
    # Inside of the axes: from the bottom up, then from the top down.
    for k in reversed(range(len(places))):
        places[k] = max(places[k], (len(places) - k - 0.5) * step)
    return [min(place, 1.0 - (k + 0.5) * step) for k, place in enumerate(places)]
