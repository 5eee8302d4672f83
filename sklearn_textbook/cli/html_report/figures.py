"""Figures of a report: drawn by matplotlib, coloured by the page."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from sklearn_textbook.cli.html_report.elements import Html, make, scroll

#: Colours of the page, light and dark (report.css), for those that are drawn with.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_GRID = "#B0B0B0"
_BY_PAGE = {
    **{color.lower(): f"var(--c{number})" for number, color in enumerate(COLORS)},
    _GRID.lower(): "var(--line)",
    "#000000": "currentColor",
    "#5f6368": "var(--soft)",
}
#: Most points that are drawn in a scatter plot, and of a curve.
MOST_POINTS = 2_000
MOST_CURVE_POINTS = 300
#: Equal intervals of probability, of which those with rows are drawn: at most so many,
#: and at most one for so many rows.
MOST_BINS = 10
ROWS_OF_A_BIN = 30
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9.5,
    "axes.edgecolor": _GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.5,
    "legend.framealpha": 0.0,
    "legend.edgecolor": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def plain(text):
    """Escape a name so that matplotlib does not read it as a formula."""
    return str(text).replace("$", r"\$")


def draw(name, label, caption, paint: Callable, *, size=(5.2, 3.9)) -> Html:
    """Draw a figure with axes, in the colours of the page.

    The name is a word for its elements, different from those of other figures; the
    label says what it shows, for those who do not see it; ``paint`` takes the axes;
    the size is in inches.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        paint(figure.subplots())
        # savefig would draw it twice, first to compute the layout.
        picture = _write_svg(FigureCanvasSVG(figure).print_svg, name, label)
    for color, ours in _BY_PAGE.items():
        picture = re.sub(rf"{color}\b", ours, picture, flags=re.IGNORECASE)
    return make("figure", Html(picture), make("figcaption", caption))


def draw_tree(estimator, label, caption, size: tuple[float, float]) -> Html:
    """Draw a tree, which has its own colours, on a light ground, in a box that scrolls.

    Of a tree larger than the size, in inches, the upper levels are drawn.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from sklearn_textbook.inspection import TreeDisplay

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "report"}):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")
            TreeDisplay.from_estimator(estimator, ax=ax)
        options = {"format": "svg", "bbox_inches": "tight", "pad_inches": 0.04}
        picture = _write_svg(partial(figure.savefig, **options), "tree", label)
    drawn = make("div", Html(picture), class_="paper")
    box = scroll(make("div", drawn, class_="wide"), label)
    return make("figure", box, make("figcaption", caption))


def _write_svg(save, name, label):
    """Write a figure as an element, with names of its own and no reference outside."""
    stream = io.StringIO()
    keys = ("Date", "Creator", "Format", "Type")
    with warnings.catch_warnings():
        # The browser has the characters that are missing in matplotlib's font.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        save(stream, metadata=dict.fromkeys(keys))
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", text)
    text = text.replace("xlink:href", "href")
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\1{name}-", text)
    head = make("svg", role="img", aria_label=label).removesuffix("></svg>")
    return text.replace("<svg", head, 1)


# ------------------------------------------------------------------- classes
def draw_roc(ax, curves) -> None:
    """Draw ROC curves: name, false and true positive rates, and area of each."""
    ax.plot([0, 1], [0, 1], color="#5F6368", linewidth=1.0, linestyle="--")
    for number, (name, wrong, right, area) in enumerate(curves):
        rows = _thin(len(wrong), MOST_CURVE_POINTS)
        label = f"{plain(name)}: AUC {area:.3f}"
        ax.plot(wrong[rows], right[rows], color=_color(number), label=label)
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(loc="lower right", fontsize="small")


def draw_calibration(ax, curves) -> None:
    """Draw the frequency of classes by their predicted probability.

    A curve is a name and, of every interval, mean probability, frequency and weight.
    """
    ax.plot([0, 1], [0, 1], color="#5F6368", linewidth=1.0, linestyle="--")
    for number, (name, means, fractions, weights) in enumerate(curves):
        color = _color(number)
        ax.plot(means, fractions, color=color, linewidth=1.2)
        sizes = 12 + 90 * weights / weights.sum()
        ax.scatter(means, fractions, sizes, color=color, label=plain(name))
    ax.set(xlabel="predicted probability", ylabel="share of rows of the class")
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    ax.legend(loc="upper left", fontsize="small")


def group_probabilities(is_class, fractions, weights):
    """Group rows by intervals of probability: mean, frequency and weight of each."""
    weights = np.ones(len(fractions)) if weights is None else weights
    n_bins = min(max(len(fractions) // ROWS_OF_A_BIN, 2), MOST_BINS)
    bins = np.minimum((fractions * n_bins).astype(int), n_bins - 1)
    totals = np.bincount(bins, weights, n_bins)
    used = totals > 0
    sums = [np.bincount(bins, weights * x, n_bins)[used] for x in (fractions, is_class)]
    return sums[0] / totals[used], sums[1] / totals[used], totals[used]


# ------------------------------------------------------------------- numbers
def draw_values(ax, values, weights, name) -> None:
    """Draw the distribution of a target of numbers."""
    ax.hist(
        values,
        bins="auto" if len(values) < 1_000 else 40,
        weights=weights,
        color=COLORS[0],
    )
    ax.set(xlabel=plain(name), ylabel="rows" if weights is None else "weight")


def draw_predicted(ax, true, predicted) -> None:
    """Draw predicted against actual values."""
    rows = _sample(len(true))
    ends = min(true.min(), predicted.min()), max(true.max(), predicted.max())
    ax.plot(ends, ends, color="#5F6368", linewidth=1.0, linestyle="--")
    ax.scatter(predicted[rows], true[rows], **_point_style(len(rows)))
    ax.set(xlabel="predicted", ylabel="actual")


def draw_residuals(ax, true, predicted) -> None:
    """Draw actual minus predicted values against the predicted ones."""
    rows = _sample(len(true))
    ax.axhline(0.0, color="#5F6368", linewidth=1.0, linestyle="--")
    style = _point_style(len(rows))
    ax.scatter(predicted[rows], (true - predicted)[rows], **style)
    ax.set(xlabel="predicted", ylabel="actual − predicted")


def _point_style(n_points):
    size = 14 if n_points <= 500 else 7
    return {"s": size, "color": COLORS[0], "alpha": 0.6, "linewidths": 0}


def _sample(n_rows):
    """Choose the rows that are drawn, the same ones in every report."""
    if n_rows <= MOST_POINTS:
        return np.arange(n_rows)
    return np.random.default_rng(0).choice(n_rows, MOST_POINTS, replace=False)


def _thin(n_points, most):
    """Choose evenly spaced points with both ends."""
    return np.unique(np.linspace(0, n_points - 1, min(n_points, most)).astype(int))


def _color(number):
    return COLORS[number % len(COLORS)]
