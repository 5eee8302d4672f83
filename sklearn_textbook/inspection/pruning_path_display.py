"""The sequence of subtrees of cost-complexity pruning, as a Display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.inspection._axes import find_foreground, make_axes
from sklearn_textbook.tree.prune import PruningTable, choose_loss, resolve_pruner

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X_AXES = ("alpha", "n_leaves")
#: The colour-blind safe blue and orange of Okabe and Ito.
RISK_COLOR = "#0072B2"
CHOSEN_COLOR = "#D55E00"
TRAINING_COLOR = "#5F6368"
#: Values with a ratio below this are shown on a linear axis.
LINEAR_SPAN = 30.0
#: On a logarithmic axis, alphas below this fraction of the largest are near 0.
SMALLEST_FRACTION = 1e-6
#: Length of the part of a logarithmic axis that is near 0, in powers of ten.
ZERO_DECADES = 0.5
#: Extension of the axis beyond the last alpha, since the interval of the root is
#: infinite.
LAST_STEP = 0.08
#: Name of a risk or a score, by the prefix of its column.
RISK_NAMES = {
    "cv": "cross-validated {}",
    "validation": "validation {}",
    "": "training {}",
}
#: Width of half a digit of a label of the second scale, in points, and some space.
LETTER_WIDTH = 4.8
#: Maximum number of subtrees that are drawn as points.
MAX_MARKERS = 40
#: Maximum number of subtrees for which the best position of the legend is searched.
MAX_FOR_LEGEND = 1_000


class PruningPathDisplay:
    """Plot of the risk of the subtrees of cost-complexity pruning.

    Use :meth:`from_estimator` to create and draw a display; :meth:`plot` draws it
    again, with other axes or parameters.

    Parameters
    ----------
    path : PruningTable or dict of array
        One entry per subtree, from the full tree to the root: ``alpha``, ``n_leaves``,
        ``risk``; with validation also ``cv_risk``, ``cv_risk_std`` or
        ``validation_risk``, ``validation_risk_std``; and the mask ``selected``.
    scoring : str or None, default=None
        Name of the score of the subtrees. The risk is then minus the score; the score
        is drawn, and higher is better.
    measure : str or None, default=None
        Name of the validation risk, such as "error".
    training_measure : str or None, default=None
        Name of the training risk, such as "gini", which may differ from ``measure``.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    top_ax_ : matplotlib.axes.Axes or None
        The axes of the second scale at the top, with leaves or alpha.
    line_ : matplotlib.lines.Line2D
        The validation risk or score; without validation, the training risk.
    training_line_ : matplotlib.lines.Line2D or None
        The training risk; it is not drawn together with a score.
    band_ : matplotlib.collections.FillBetweenPolyCollection or None
        One standard error on either side.
    limit_line_ : matplotlib.lines.Line2D or None
        One standard error from the best subtree, on the worse side.
    best_ : matplotlib.lines.Line2D or None
        The marker of the subtree with the smallest risk or the highest score.
    chosen_ : matplotlib.lines.Line2D or None
        The marker of the chosen subtree.

    Raises
    ------
    ValueError
        If ``path`` lacks a column or has no rows, or its columns differ in length.

    See Also
    --------
    sklearn_textbook.tree.export_pruning_report : The pruned branches as text.

    Examples
    --------
    >>> from sklearn_textbook.inspection import PruningPathDisplay
    >>> path = {"alpha": [0.0, 0.02, 0.3], "n_leaves": [7, 4, 1], "risk": [0, 0.1, 0.5]}
    >>> validated = {"cv_risk": [0.3, 0.2, 0.5], "cv_risk_std": [0.04, 0.03, 0.05]}
    >>> path = path | validated | {"selected": [False, True, False]}
    >>> display = PruningPathDisplay(path).plot()
    >>> display.chosen_.get_label()
    'chosen: 4 leaves'
    """

    def __init__(
        self,
        path: Any,
        *,
        scoring: str | None = None,
        measure: str | None = None,
        training_measure: str | None = None,
    ) -> None:
        self.path = path
        self.scoring = scoring
        self.measure = measure
        self.training_measure = training_measure
        self._table = _read_path(path)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, x: str = "alpha", ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the pruning path of a fitted tree.

        Parameters
        ----------
        estimator : estimator
            A fitted tree of :mod:`sklearn_textbook.tree` with
            ``pruning="cost_complexity"``.
        x : {"alpha", "n_leaves"}, default="alpha"
            Quantity on the horizontal axis.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        PruningPathDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If it has no ``pruning_path_``.
        """
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)
        path = getattr(estimator, "pruning_path_", None)
        if path is None:
            raise ValueError(
                "estimator must be a tree of sklearn_textbook fitted with "
                f'pruning="cost_complexity"; got {type(estimator).__name__} with '
                f"pruning={getattr(estimator, 'pruning', None)!r}."
            )
        pruner = resolve_pruner(estimator.pruning, strict=False)
        scoring = getattr(pruner, "scoring", None)
        if scoring is not None and not isinstance(scoring, str):
            scoring = getattr(scoring, "__name__", "score")
        display = cls(path, scoring=scoring, **_name_measures(estimator, pruner))
        return display.plot(x=x, ax=ax, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        x: str = "alpha",
        show_training: bool = True,
        legend: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the pruning path.

        With ``x="alpha"``, a subtree is drawn as a step, since it is optimal for an
        interval of alpha. The axis is logarithmic, with 0 at its left end.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        x : {"alpha", "n_leaves"}, default="alpha"
            Quantity on the horizontal axis.
        show_training : bool, default=True
            Whether to draw the training risk in addition to the validation risk.
        legend : bool, default=True
            Whether to draw a legend.
        line_kw : dict or None, default=None
            Parameters of matplotlib's ``plot`` for the main line.
        band_kw : dict or None, default=None
            Parameters of matplotlib's ``fill_between`` for the band.

        Returns
        -------
        PruningPathDisplay
            The display itself, with the drawing in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``x`` is invalid.
        """
        if x not in X_AXES:
            raise ValueError(f"x must be one of {list(X_AXES)}, got {x!r}.")
        self.ax_ = ax = make_axes(ax)
        self.figure_ = ax.figure
        axis = _AlphaAxis(self._table) if x == "alpha" else _LeavesAxis(self._table)
        axis.set_up(ax)
        self._draw_lines(axis, show_training, line_kw or {}, band_kw or {})
        self._draw_marks(axis)
        ax.set_xlabel(axis.label)
        ax.set_ylabel(self.scoring if self._is_score() else "risk")
        _avoid_offset(ax)
        self.top_ax_ = axis.add_top(ax, self._find_first_labels())
        if legend:
            is_long = self._table.n_rows > MAX_FOR_LEGEND
            place = "upper left" if is_long else "best"
            ax.legend(fontsize="small", loc=place)
        return self

    # ---------------------------------------------------------------------- parts
    def _find_validation(self):
        """Return the kind of validation, "cv" or "validation", or an empty string."""
        names = (name for name in RISK_NAMES if f"{name}_risk" in self._table)
        return next(names, "")

    def _find_risk(self):
        """Return the validation risk, or the training risk without validation."""
        validation = self._find_validation()
        return self._table[f"{validation}_risk" if validation else "risk"]

    def _name_risk(self, validation, noun: str = "risk"):
        """Return the name of a risk or score, with its measure if known."""
        measure = self.measure if validation else self.training_measure
        ending = f" ({measure})" if measure and noun == "risk" else ""
        return RISK_NAMES[validation].format(noun) + ending

    def _is_score(self):
        """Return whether the validation risk is minus a score."""
        return self.scoring is not None and self._find_validation() != ""

    def _draw_lines(self, axis, show_training, line_kw, band_kw):
        """Draw the risks, their band and the limit of one standard error."""
        table, validation = self._table, self._find_validation()
        self.training_line_ = self.band_ = self.limit_line_ = None
        if validation and show_training and not self._is_score():
            style = {"color": TRAINING_COLOR, "linestyle": "--", "linewidth": 1.2}
            style["label"] = self._name_risk("")
            self.training_line_ = axis.draw(self.ax_, table["risk"], style)
        sign, noun = (-1.0, "score") if self._is_score() else (1.0, "risk")
        risk = self._find_risk()
        style = {"color": RISK_COLOR, "linewidth": 1.8}
        style["label"] = self._name_risk(validation, noun)
        self.line_ = axis.draw(self.ax_, sign * risk, style | line_kw)
        if not validation:
            self.training_line_ = self.line_
        std = table.get(f"{validation}_risk_std")
        if std is None or not np.any(std > 0):
            return
        color = self.line_.get_color()
        style = {"color": color, "alpha": 0.18, "linewidth": 0}
        style |= {"label": "± 1 standard error"} | band_kw
        self.band_ = axis.fill(self.ax_, sign * risk - std, sign * risk + std, style)
        best = self._find_best(risk)
        words = "best − 1" if self._is_score() else "smallest + 1"
        self.limit_line_ = self.ax_.axhline(
            sign * (risk[best] + std[best]),
            color=find_foreground(),
            linestyle=":",
            linewidth=1.0,
            label=f"{words} standard error",
        )

    def _draw_marks(self, axis) -> None:
        """Mark the best subtree and the one that was chosen."""
        self.best_ = self.chosen_ = None
        risk = self._find_risk()
        sign, word = (-1.0, "best") if self._is_score() else (1.0, "smallest")
        if self._find_validation() and np.isfinite(risk).any():
            style = {"marker": "o", "markersize": 9, "markerfacecolor": "none"}
            style |= {"markeredgecolor": find_foreground(), "markeredgewidth": 1.4}
            style["zorder"] = 4
            self.best_ = self._mark(
                axis, self._find_best(risk), sign * risk, word, style
            )
        row = self._find_chosen()
        if row is not None:
            style = {"marker": "D", "markersize": 5.5, "color": CHOSEN_COLOR}
            style |= {"markeredgecolor": "black", "markeredgewidth": 0.6, "zorder": 5}
            self.chosen_ = self._mark(axis, row, sign * risk, "chosen", style)
            self.ax_.axvline(
                axis.places[row], color=CHOSEN_COLOR, linewidth=0.8, zorder=1
            )

    def _mark(self, axis, row, column, word, style):
        n_leaves = int(self._table["n_leaves"][row])
        label = f"{word}: {n_leaves:,} {'leaf' if n_leaves == 1 else 'leaves'}"
        place = axis.places[row]
        (mark,) = self.ax_.plot(
            [place], [column[row]], linestyle="none", label=label, **style
        )
        return mark

    def _find_chosen(self):
        """Return the row of the chosen subtree, or None."""
        selected = self._table.get("selected")
        if selected is None or not selected.any():
            return None
        return int(selected.argmax())

    def _find_best(self, risk):
        """Return the row of minimum risk; at ties the chosen or the smallest tree."""
        least = np.nanmin(risk)
        is_least = risk <= least + 1e-12 * abs(least)
        chosen = self._find_chosen()
        if chosen is not None and is_least[chosen]:
            return chosen
        return int(np.flatnonzero(is_least)[-1])

    def _find_first_labels(self):
        """Return the rows to label first on the second scale."""
        chosen = self._find_chosen()
        rows = [] if chosen is None else [chosen]
        return [*rows, self._table.n_rows - 1, 0]


def _name_measures(estimator, pruner):
    """Return the names of the measures in the path of an estimator."""
    criterion = getattr(estimator, "criterion", "entropy")
    training = "error" if getattr(pruner, "risk", "") == "error" else criterion
    scoring = getattr(pruner, "scoring", None)
    is_gini = isinstance(scoring, str) and scoring == "gini"
    judged = "gini" if is_gini else choose_loss(criterion)
    measures = {"measure": judged, "training_measure": training}
    return {name: word.replace("_", " ") for name, word in measures.items()}


class _PathAxis:
    """The horizontal axis: positions of the subtrees, and the second scale."""

    label = top_label = ""
    #: Middle of every subtree on the axis.
    places = None

    def __init__(self, table) -> None:
        self.table = table

    def draw(self, ax, risk, style):
        raise NotImplementedError

    def add_top(self, ax, first_rows):
        """Draw the second scale at the top, with as many labels as fit."""
        top = ax.twiny()
        top.set_xscale(ax.get_xscale(), **self.scale_options)
        top.set_xlim(ax.get_xlim())
        scale = ax.transScale
        left, right = scale.transform([(x, 0.5) for x in ax.get_xlim()])[:, 0]
        places = scale.transform([(x, 0.5) for x in self.places])[:, 0]
        places = (places - left) / (right - left)
        width = ax.bbox.width * 72.0 / ax.figure.dpi
        shown = _choose_labels(places, self.top_words, first_rows, width)
        top.set_xticks(self.places[shown], [self.top_words[row] for row in shown])
        top.set_xticks([], minor=True)
        top.set_xlabel(self.top_label, fontsize="small")
        top.tick_params(labelsize="small")
        # Keep both scales in sync when zooming.
        ax.callbacks.connect("xlim_changed", lambda axes: top.set_xlim(axes.get_xlim()))
        ax.figure.sca(ax)
        return top


class _AlphaAxis(_PathAxis):
    """Alpha: every subtree extends from its own alpha to that of the next one."""

    label = r"effective $\alpha$"
    top_label = "leaves"

    def __init__(self, table) -> None:
        super().__init__(table)
        alpha = table["alpha"]
        self.top_words = [f"{n:,}" for n in table["n_leaves"].tolist()]
        positive = alpha[alpha > 0]
        largest = float(alpha[-1]) if positive.size else 1.0
        self.scale, self.scale_options = "linear", {}
        end = largest * (1.0 + 2 * LAST_STEP)
        if positive.size and largest > LINEAR_SPAN * positive.min():
            least = max(float(positive.min()), SMALLEST_FRACTION * largest)
            self.scale = "symlog"
            self.scale_options = {"linthresh": least, "linscale": ZERO_DECADES}
            end = largest * (largest / least) ** LAST_STEP * 1.2
        self.edges = np.append(alpha, end)

    def set_up(self, ax) -> None:
        """Set the scale of the axis, and find the positions of the subtrees."""
        ax.set_xscale(self.scale, **self.scale_options)
        ax.set_xlim(0.0, self.edges[-1])
        if self.scale == "symlog":
            self._set_ticks(ax)
        scale = ax.transScale
        points = scale.transform([(x, 0.5) for x in self.edges])
        middles = (points[1:] + points[:-1]) / 2.0
        self.places = scale.inverted().transform(middles)[:, 0]

    def _set_ticks(self, ax) -> None:
        """Set ticks at 0 and the powers of ten, without minor ticks near 0."""
        least, largest = self.scale_options["linthresh"], self.edges[-1]
        exponents = np.arange(np.floor(np.log10(least)), np.log10(largest))
        powers = 10.0**exponents
        between = np.outer(powers, np.arange(2, 10)).ravel()
        ax.set_xticks([0.0, *powers[powers >= least]])
        is_shown = (between >= least) & (between <= largest)
        ax.set_xticks(between[is_shown], minor=True)

    def draw(self, ax, risk, style):
        """Draw a risk as steps."""
        (line,) = ax.plot(
            self.edges, np.append(risk, risk[-1]), drawstyle="steps-post", **style
        )
        return line

    def fill(self, ax, low, high, style):
        """Fill the space between two lines of steps."""
        low, high = (np.append(edge, edge[-1]) for edge in (low, high))
        return ax.fill_between(self.edges, low, high, step="post", **style)


class _LeavesAxis(_PathAxis):
    """The number of leaves: every subtree is a point."""

    label = "leaves"
    top_label = r"effective $\alpha$"

    def __init__(self, table) -> None:
        super().__init__(table)
        self.places = table["n_leaves"].astype(float)
        self.top_words = [
            f"{alpha:.2g}" if alpha < 99.5 else f"{alpha:,.0f}"
            for alpha in table["alpha"].tolist()
        ]
        is_wide = self.places.max() > LINEAR_SPAN * self.places.min()
        self.scale, self.scale_options = ("log" if is_wide else "linear"), {}

    def set_up(self, ax) -> None:
        """Set the scale of the axis."""
        from matplotlib import ticker

        ax.set_xscale(self.scale)
        ax.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
        low, high = self.places.min(), self.places.max()
        if self.scale == "log":
            steps = (1.0, 2.0, 5.0) if high < 1_000 * low else (1.0,)
            ax.xaxis.set_major_locator(ticker.LogLocator(subs=steps))
            ax.xaxis.set_minor_formatter(ticker.NullFormatter())
            ax.set_xlim(low * 0.85, high * 1.18)
        else:
            ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
            margin = max(0.05 * (high - low), 0.5)
            ax.set_xlim(low - margin, high + margin)

    def draw(self, ax, risk, style):
        """Draw a risk as a line with points."""
        if len(risk) <= MAX_MARKERS:
            style = {"marker": ".", "markersize": 6} | style
        (line,) = ax.plot(self.places, risk, **style)
        return line

    def fill(self, ax, low, high, style):
        """Fill the space between two lines."""
        return ax.fill_between(self.places, low, high, **style)


# ------------------------------------------------------------------------ small parts
def _read_path(path):
    """Check the columns of a path."""
    missing = [name for name in ("alpha", "n_leaves", "risk") if name not in path]
    if missing:
        raise ValueError(
            "The path must have the columns 'alpha', 'n_leaves' and 'risk'; "
            f"{missing} is missing."
        )
    table = PruningTable(**path)
    table.measure = getattr(path, "measure", None)
    if not table.n_rows:
        raise ValueError("The path must have at least one row, for the root.")
    return table


def _avoid_offset(ax) -> None:
    """Write large and small numbers in full; a common factor would be in the way."""
    largest = max(map(abs, ax.get_ylim()))
    if not 1e-4 < largest < 1e6:
        ax.yaxis.set_major_formatter("{x:.6g}")


def _choose_labels(places, words, first_rows, width):
    """Choose rows whose labels do not overlap.

    Places are from 0 to 1, of an axis with a width in points.
    """
    shown, letter = [], LETTER_WIDTH / width
    for row in [*first_rows, *range(len(places))]:
        if not -1e-9 <= places[row] <= 1.0 + 1e-9:
            continue
        room = [letter * (len(words[row]) + len(words[other]) + 1) for other in shown]
        distances = np.abs(places[row] - places[shown]) if shown else []
        if all(gap >= need for gap, need in zip(distances, room, strict=True)):
            shown.append(row)
    return np.array(shown, dtype=np.intp)
