"""The subtrees among which pruning chose, as a Display."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.tree.prune import PruningTable, choose_loss, resolve_pruner

X_AXES = ("alpha", "n_leaves")
#: Blue and orange of Okabe and Ito, which people of every colour vision tell apart.
JUDGED_COLOR = "#0072B2"
CHOSEN_COLOR = "#D55E00"
TRAINING_COLOR = "#5F6368"
#: Values that span less than this factor are shown on a linear axis.
LINEAR_SPAN = 30.0
#: On an axis of powers of ten, all alphas below this part of the largest are near 0.
SMALLEST_SHARE = 1e-6
#: Length of the part of such an axis that is near 0, in powers of ten.
ZERO_DECADES = 0.5
#: How much farther than the last alpha the axis goes, since the root has no end.
LAST_STEP = 0.08
#: What a risk, or a score, is called, by the start of its column's name.
RISK_NAMES = {
    "cv": "cross-validated {}",
    "validation": "validation {}",
    "": "training {}",
}
#: So many subtrees are still drawn as single points.
MOST_MARKERS = 40
#: With more subtrees it takes too long to look for the best place of the legend.
MOST_FOR_LEGEND = 1_000


class PruningPathDisplay:
    """Risk of the nested subtrees of cost-complexity pruning, and which was chosen.

    Make one with :meth:`from_estimator`, which draws it at once; call :meth:`plot` to
    draw it again, elsewhere or in another way.

    Parameters
    ----------
    path : PruningTable or dict of array
        One entry per subtree, from the full tree to the root: ``alpha``,
        ``n_leaves``, ``risk``; if rows judged them ``cv_risk``, ``cv_risk_std`` or
        ``validation_risk``, ``validation_risk_std``; and ``selected``, a mask.
    scoring : str or None, default=None
        Name of the score that judged the subtrees. Their risk is then minus the
        score, the score is drawn, and greater is better.
    measure : str or None, default=None
        What the risk on rows that did not grow the tree is, such as "error".
    training_measure : str or None, default=None
        What the risk on the training rows is, such as "gini"; the two are often not
        the same.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        Their figure.
    top_ax_ : matplotlib.axes.Axes or None
        The axes of the second scale, at the top: leaves, or alpha.
    line_ : matplotlib.lines.Line2D
        The risk, or score, on rows that did not grow the tree; without such rows,
        the risk on the training rows.
    training_line_ : matplotlib.lines.Line2D or None
        The risk on the training rows; not drawn beside a score.
    band_ : matplotlib.collections.FillBetweenPolyCollection or None
        One standard error on either side.
    limit_line_ : matplotlib.lines.Line2D or None
        One standard error from the best subtree, on the worse side.
    best_ : matplotlib.lines.Line2D or None
        The mark of the subtree of the smallest risk, or the greatest score.
    chosen_ : matplotlib.lines.Line2D or None
        The mark of the subtree that was chosen.

    Raises
    ------
    ValueError
        If ``path`` lacks a column or has no rows, or if its columns differ in length.

    See Also
    --------
    sklearn_textbook.tree.export_pruning_report : What was pruned, in words.

    Examples
    --------
    >>> from sklearn_textbook.inspection import PruningPathDisplay
    >>> path = {"alpha": [0.0, 0.02, 0.3], "n_leaves": [7, 4, 1], "risk": [0, 0.1, 0.5]}
    >>> judged = {"cv_risk": [0.3, 0.2, 0.5], "cv_risk_std": [0.04, 0.03, 0.05]}
    >>> path = path | judged | {"selected": [False, True, False]}
    >>> display = PruningPathDisplay(path).plot()
    >>> display.chosen_.get_label()
    'chosen: 4 leaves'
    """

    def __init__(self, path, *, scoring=None, measure=None, training_measure=None):
        self.path = path
        self.scoring = scoring
        self.measure = measure
        self.training_measure = training_measure
        self._table = _read_path(path)

    @classmethod
    def from_estimator(cls, estimator, *, x="alpha", ax=None, **kwargs):
        """Draw the path of a fitted tree.

        Parameters
        ----------
        estimator : estimator
            A fitted tree of :mod:`sklearn_textbook.tree` that cost-complexity pruning
            has pruned.
        x : {"alpha", "n_leaves"}, default="alpha"
            What the subtrees are ordered by.
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw. ``None`` for a new figure.
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
            If its pruning leaves no path.
        """
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)
        path = getattr(estimator, "pruning_path_", None)
        if path is None:
            raise ValueError(
                f"{type(estimator).__name__} has no pruning_path_: it must be a tree "
                'of sklearn_textbook with pruning="cost_complexity", but its pruning '
                f"is {getattr(estimator, 'pruning', None)!r}."
            )
        pruner = resolve_pruner(estimator.pruning, strict=False)
        scoring = getattr(pruner, "scoring", None)
        if scoring is not None and not isinstance(scoring, str):
            scoring = getattr(scoring, "__name__", "score")
        display = cls(path, scoring=scoring, **_name_measures(estimator, pruner))
        return display.plot(x=x, ax=ax, **kwargs)

    def plot(
        self,
        ax=None,
        *,
        x="alpha",
        show_training=True,
        legend=True,
        line_kw=None,
        band_kw=None,
    ):
        """Draw the path.

        Over alpha, a subtree is drawn as a step, since it is the best one for a whole
        interval of alpha. The axis has powers of ten and, at its left end, 0.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw. ``None`` for a new figure.
        x : {"alpha", "n_leaves"}, default="alpha"
            What the subtrees are ordered by.
        show_training : bool, default=True
            Whether to draw the risk on the training rows, too, where there is
            another one.
        legend : bool, default=True
            Whether to say what lines and marks are.
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
            If ``x`` is none of its options.
        """
        if x not in X_AXES:
            raise ValueError(f"x must be one of {list(X_AXES)}, got {x!r}.")
        if ax is None:
            _, ax = _import_pyplot().subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        axis = _AlphaAxis(self._table) if x == "alpha" else _LeavesAxis(self._table)
        axis.set_up(ax)
        self._draw_lines(axis, show_training, line_kw or {}, band_kw or {})
        self._draw_marks(axis)
        ax.set_xlabel(axis.label)
        ax.set_ylabel(self.scoring if self._is_score() else "risk")
        self.top_ax_ = axis.add_top(ax, self._find_first_labels())
        if legend:
            is_long = self._table.n_rows > MOST_FOR_LEGEND
            place = "upper left" if is_long else "best"
            ax.legend(fontsize="small", loc=place)
        return self

    # ---------------------------------------------------------------------- parts
    def _find_judged(self):
        """Say which rows that did not grow the tree judged it; empty if none did."""
        names = (name for name in RISK_NAMES if f"{name}_risk" in self._table)
        return next(names, "")

    def _find_risk(self):
        """Find the risk on the rows that judged the tree, else on the training rows."""
        judged = self._find_judged()
        return self._table[f"{judged}_risk" if judged else "risk"]

    def _name_risk(self, judged, noun="risk"):
        """Name a risk or score, and say what it measures, if that is known."""
        measure = self.measure if judged else self.training_measure
        ending = f" ({measure})" if measure and noun == "risk" else ""
        return RISK_NAMES[judged].format(noun) + ending

    def _is_score(self):
        """Whether the rows that judged the tree were scored: risk is minus that."""
        return self.scoring is not None and self._find_judged() != ""

    def _draw_lines(self, axis, show_training, line_kw, band_kw):
        """Draw the risks, the band around them and the limit beside the best one."""
        table, judged = self._table, self._find_judged()
        self.training_line_ = self.band_ = self.limit_line_ = None
        if judged and show_training and not self._is_score():
            style = {"color": TRAINING_COLOR, "linestyle": "--", "linewidth": 1.2}
            style["label"] = self._name_risk("")
            self.training_line_ = axis.draw(self.ax_, table["risk"], style)
        sign, noun = (-1.0, "score") if self._is_score() else (1.0, "risk")
        risk = self._find_risk()
        style = {"color": JUDGED_COLOR, "linewidth": 1.8}
        style["label"] = self._name_risk(judged, noun)
        self.line_ = axis.draw(self.ax_, sign * risk, style | line_kw)
        if not judged:
            self.training_line_ = self.line_
        std = table.get(f"{judged}_risk_std")
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
            color="black",
            linestyle=":",
            linewidth=1.0,
            label=f"{words} standard error",
        )

    def _draw_marks(self, axis):
        """Mark the best subtree and the one that was chosen."""
        self.best_ = self.chosen_ = None
        risk = self._find_risk()
        sign, word = (-1.0, "best") if self._is_score() else (1.0, "smallest")
        if self._find_judged() and np.isfinite(risk).any():
            style = {"marker": "o", "markersize": 9, "markerfacecolor": "none"}
            style |= {"markeredgecolor": "black", "markeredgewidth": 1.4, "zorder": 4}
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
        """Row of the chosen subtree; None if nothing was chosen."""
        selected = self._table.get("selected")
        if selected is None or not selected.any():
            return None
        return int(selected.argmax())

    def _find_best(self, risk):
        """Row of the least risk: of equals the chosen one, else the smallest tree."""
        least = np.nanmin(risk)
        is_least = risk <= least + 1e-12 * abs(least)
        chosen = self._find_chosen()
        if chosen is not None and is_least[chosen]:
            return chosen
        return int(np.flatnonzero(is_least)[-1])

    def _find_first_labels(self):
        """Rows that the second scale should name before others."""
        chosen = self._find_chosen()
        rows = [] if chosen is None else [chosen]
        return [*rows, self._table.n_rows - 1, 0]


def _name_measures(estimator, pruner):
    """Say what the risks in the path of an estimator measure."""
    criterion = getattr(estimator, "criterion", "entropy")
    training = "error" if getattr(pruner, "risk", "") == "error" else criterion
    measures = {"measure": choose_loss(criterion), "training_measure": training}
    return {name: word.replace("_", " ") for name, word in measures.items()}


class _PathAxis:
    """What the horizontal axis is: where subtrees stand, and their second scale."""

    label = top_label = ""
    #: Middle of every subtree on the axis.
    places = None

    def __init__(self, table):
        self.table = table

    def draw(self, ax, risk, style):
        raise NotImplementedError

    def add_top(self, ax, first_rows):
        """Write the second scale at the top, as much as there is room for."""
        top = ax.twiny()
        top.set_xscale(ax.get_xscale(), **self.scale_options)
        top.set_xlim(ax.get_xlim())
        scale = ax.transScale
        left, right = scale.transform([(x, 0.5) for x in ax.get_xlim()])[:, 0]
        places = scale.transform([(x, 0.5) for x in self.places])[:, 0]
        places = (places - left) / (right - left)
        shown = _choose_labels(places, self.top_words, first_rows)
        top.set_xticks(self.places[shown], [self.top_words[row] for row in shown])
        top.set_xticks([], minor=True)
        top.set_xlabel(self.top_label, fontsize="small")
        top.tick_params(labelsize="small")
        # Zooming moves both scales.
        ax.callbacks.connect("xlim_changed", lambda axes: top.set_xlim(axes.get_xlim()))
        ax.figure.sca(ax)
        return top


class _AlphaAxis(_PathAxis):
    """Alpha: every subtree holds from its own alpha up to the next one's."""

    label = r"effective $\alpha$"
    top_label = "leaves"

    def __init__(self, table):
        super().__init__(table)
        alpha = table["alpha"]
        self.top_words = [f"{n:,}" for n in table["n_leaves"].tolist()]
        positive = alpha[alpha > 0]
        largest = float(alpha[-1]) if positive.size else 1.0
        self.scale, self.scale_options = "linear", {}
        end = largest * (1.0 + 2 * LAST_STEP)
        if positive.size and largest > LINEAR_SPAN * positive.min():
            least = max(float(positive.min()), SMALLEST_SHARE * largest)
            self.scale = "symlog"
            self.scale_options = {"linthresh": least, "linscale": ZERO_DECADES}
            end = largest * (largest / least) ** LAST_STEP * 1.2
        self.edges = np.append(alpha, end)

    def set_up(self, ax):
        """Set the scale of the axis, and find where the subtrees stand on it."""
        ax.set_xscale(self.scale, **self.scale_options)
        ax.set_xlim(0.0, self.edges[-1])
        if self.scale == "symlog":
            self._set_ticks(ax)
        scale = ax.transScale
        points = scale.transform([(x, 0.5) for x in self.edges])
        middles = (points[1:] + points[:-1]) / 2.0
        self.places = scale.inverted().transform(middles)[:, 0]

    def _set_ticks(self, ax):
        """Mark 0 and the powers of ten; between 0 and the first one there is none."""
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

    def __init__(self, table):
        super().__init__(table)
        self.places = table["n_leaves"].astype(float)
        self.top_words = [
            f"{alpha:.2g}" if alpha < 99.5 else f"{alpha:,.0f}"
            for alpha in table["alpha"].tolist()
        ]
        is_wide = self.places.max() > LINEAR_SPAN * self.places.min()
        self.scale, self.scale_options = ("log" if is_wide else "linear"), {}

    def set_up(self, ax):
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
        if len(risk) <= MOST_MARKERS:
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
            f"The path needs the columns 'alpha', 'n_leaves' and 'risk'; {missing} "
            "is missing."
        )
    table = PruningTable(**path)
    table.measure = getattr(path, "measure", None)
    if not table.n_rows:
        raise ValueError("The path has no rows; it needs at least the root alone.")
    return table


def _choose_labels(places, words, first_rows):
    """Choose rows whose words do not run into each other; ``places`` from 0 to 1."""
    shown = []
    for row in [*first_rows, *range(len(places))]:
        if not -1e-9 <= places[row] <= 1.0 + 1e-9:
            continue
        room = [0.012 * (len(words[row]) + len(words[other]) + 1) for other in shown]
        distances = np.abs(places[row] - places[shown]) if shown else []
        if all(gap >= need for gap, need in zip(distances, room, strict=True)):
            shown.append(row)
    return np.array(shown, dtype=np.intp)


def _import_pyplot():
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "PruningPathDisplay needs matplotlib: pip install 'sklearn-textbook[plot]'."
        ) from error
    return plt
