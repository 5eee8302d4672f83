"""Errors of boosting after each round, as a Display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.inspection._axes import find_foreground, make_axes
from sklearn_textbook.inspection.round_measures import (
    GRADIENT_BOOSTING,
    choose_metric,
    measure_rounds,
    name_metric,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("rounds", "margins")
#: The colour-blind safe colours of Okabe and Ito, and grey.
STYLES = {
    "training": {"color": "#0072B2"},
    "bound": {"color": "#5F6368", "linestyle": "--", "linewidth": 1.2},
    "validation": {"color": "#009E73"},
    "out-of-bag": {"color": "#CC79A7"},
    "test": {"color": "#D55E00"},
}
LABELS = {"bound": r"bound $\prod Z_m$"}
MARGIN_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
#: Maximum number of rounds that are drawn as points.
MAX_MARKERS = 40


class LearningRoundsDisplay:
    r"""Plot of the training and test error of boosting by round, and of margins.

    Lines show an error or loss of the training rows and of other rows after each round.
    For AdaBoost, there is also the bound on the training error (训练误差界),
    :math:`\prod_m Z_m`, and with ``kind="margins"`` the distribution of the margins
    (间隔) of the rows after some rounds, as the fraction of rows with at most this
    margin. For gradient boosting, there are also the losses of the validation and
    out-of-bag rows.

    Use :meth:`from_estimator` to create and draw a display; :meth:`plot` draws it
    again, with other axes or parameters.

    Parameters
    ----------
    training : array-like of shape (n_rounds,) or None, default=None
        Error or loss of the training rows after each round.
    test : array-like of shape (n_rounds,) or None, default=None
        Error or loss of test rows.
    validation : array-like of shape (n_rounds,) or None, default=None
        Error or loss of the validation rows for early stopping.
    out_of_bag : array-like of shape (n_rounds,) or None, default=None
        Error or loss of the rows not used for the trees of the round; NaN if there are
        none.
    bound : array-like of shape (n_rounds,) or None, default=None
        Bound on the error of the training rows. Values above 1 are not drawn.
    margins : dict of array or None, default=None
        Margins of the rows, from -1 to 1, by number of rounds.
    margin_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows of the margins.
    metric : str, default="error"
        Name of the values.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the last drawing.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    lines_ : dict of matplotlib.lines.Line2D
        The lines: "training", "bound", "validation", "out-of-bag" and "test", or for
        margins the numbers of rounds.
    best_ : matplotlib.lines.Line2D or None
        The marker of the smallest value of the validation rows or, if there are none,
        of the out-of-bag rows.

    Raises
    ------
    ValueError
        If there is nothing to draw, or arrays differ in length.

    See Also
    --------
    sklearn_textbook.ensemble.AdaBoostClassifier : Provides the bound and margins.
    sklearn_textbook.ensemble.GradientBoostingClassifier : Supports early stopping by
        validation rows.

    Notes
    -----
    The values of n rows after M rounds take O(n M) predictions of trees, but no fit.

    References
    ----------
    .. [1] 李航《统计学习方法》(第2版), section 8.2, theorems 8.1 and 8.2 (the bound).
    .. [2] 周志华《机器学习》, section 8.2, and the margins of its further reading.
    .. [3] R. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998), "Boosting the margin",
       The Annals of Statistics 26 (the distribution of margins).

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_adaboost_example
    >>> from sklearn_textbook.ensemble import AdaBoostClassifier
    >>> from sklearn_textbook.inspection import LearningRoundsDisplay
    >>> X, y = load_adaboost_example(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> display = LearningRoundsDisplay.from_estimator(model, X, y)
    >>> display.training.round(3), display.bound.round(3)
    (array([0.3, 0.3, 0. ]), array([0.917, 0.752, 0.58 ]))
    """

    def __init__(
        self,
        *,
        training: ArrayLike | None = None,
        test: ArrayLike | None = None,
        validation: ArrayLike | None = None,
        out_of_bag: ArrayLike | None = None,
        bound: ArrayLike | None = None,
        margins: dict[str, Any] | None = None,
        margin_weight: ArrayLike | None = None,
        metric: str = "error",
    ) -> None:
        self.training = training
        self.test = test
        self.validation = validation
        self.out_of_bag = out_of_bag
        self.bound = bound
        self.margins = margins
        self.margin_weight = margin_weight
        self.metric = metric
        given = (training, bound, validation, out_of_bag, test)
        self._curves = _read_curves(dict(zip(STYLES, given, strict=True)))
        self._margins = _read_margins(margins or {})
        if not (self._curves or self._margins):
            raise ValueError(
                "There is nothing to draw: at least one of training, test, validation, "
                "out_of_bag, bound and margins is required."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        *,
        X_test: MatrixLike | None = None,
        y_test: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sample_weight_test: ArrayLike | None = None,
        metric: str | Callable[..., float] | None = None,
        margin_rounds: Sequence[int] | None = None,
        kind: str = "rounds",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the errors of a fitted boosting estimator after each round.

        Parameters
        ----------
        estimator : estimator
            A fitted boosting estimator of :mod:`sklearn_textbook.ensemble`, or any
            estimator with ``staged_predict``, such as those of scikit-learn.
        X, y : array-like, default=None
            The training rows. They are optional for the loss of gradient boosting,
            where by default the values stored by ``fit`` are used, which do not include
            its validation rows.
        X_test, y_test : array-like, default=None
            Test rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the training rows.
        sample_weight_test : array-like of shape (n_test,), default=None
            Weights of the test rows.
        metric : str, callable or None, default=None
            "error" or "log_loss" for classification, "squared_error" or
            "absolute_error" for regression, "loss" for the loss that gradient boosting,
            AdaBoost (the exponential loss) or a boosting tree minimises, or a function
            of true and predicted values, which also receives ``sample_weight`` if there
            are weights. None: "loss" for gradient boosting of this package, otherwise
            the first one supported.
        margin_rounds : sequence of int, default=None
            Numbers of rounds after which the margins of the training rows are computed,
            for AdaBoost of this package. None: with ``kind="margins"``, the first
            round, the square root of all rounds, and all rounds.
        kind : {"rounds", "margins"}, default="rounds"
            Kind of figure, as in :meth:`plot`.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        LearningRoundsDisplay
            The display, with the drawing in ``ax_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If the estimator has no stages, no such metric or no margins, a round does
            not exist, or rows are missing.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "staged_predict"):
            raise ValueError(
                "estimator must be a boosting estimator with staged_predict; got "
                f"{type(estimator).__name__}."
            )
        metric = choose_metric(estimator, metric)
        curves = _find_kept(estimator) if metric == "loss" else {}
        rows = {
            "training": (X, y, sample_weight),
            "test": (X_test, y_test, sample_weight_test),
        }
        for name, (table, target, weight) in rows.items():
            end = "_test" if name == "test" else ""
            if (table is None) != (target is None):
                raise ValueError(f"X{end} and y{end} must be given together.")
            if table is not None:
                values = measure_rounds(estimator, metric, table, target, weight)
                curves[name] = values
        if metric == "error" and X is not None:
            curves["bound"] = getattr(estimator, "error_bounds_", None)
        margins = None
        if kind == "margins" or margin_rounds is not None:
            margins = _measure_margins(estimator, X, y, margin_rounds)
        display = cls(
            **curves,
            margins=margins,
            margin_weight=sample_weight,
            metric=name_metric(estimator, metric),
        )
        return display.plot(ax=ax, kind=kind, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "rounds",
        legend: bool = True,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; ``None`` opens a new figure.
        kind : {"rounds", "margins"}, default="rounds"
            Values against rounds, or the distribution of margins.
        legend : bool, default=True
            Whether to draw a legend.
        line_kw : dict or None, default=None
            Parameters of matplotlib's ``plot`` for all lines.

        Returns
        -------
        LearningRoundsDisplay
            The display itself, with the drawing in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``kind`` is invalid, or there is nothing of this kind to draw.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {list(KINDS)}, got {kind!r}.")
        if not (self._curves if kind == "rounds" else self._margins):
            raise ValueError(
                f"There is nothing to draw with kind={kind!r}; pass "
                f"{'rows' if kind == 'rounds' else 'margin_rounds'} to from_estimator."
            )
        self.ax_ = ax = make_axes(ax)
        self.figure_, self.lines_, self.best_ = ax.figure, {}, None
        if kind == "rounds":
            self._draw_rounds(line_kw or {})
            self._mark_best()
        else:
            self._draw_margins(line_kw or {})
        if legend:
            ax.legend(fontsize="small")
        return self

    # ---------------------------------------------------------------------- parts
    def _draw_rounds(self, line_kw) -> None:
        """Draw values against rounds."""
        for name, values in self._curves.items():
            if name == "bound":
                values = np.where(values <= 1.0, values, np.nan)
                if np.isnan(values).all():
                    continue
            style = {"label": LABELS.get(name, name), "linewidth": 1.6} | STYLES[name]
            if len(values) <= MAX_MARKERS:
                style["marker"] = "."
            numbers = np.arange(1, len(values) + 1)
            (line,) = self.ax_.plot(numbers, values, **(style | line_kw))
            self.lines_[name] = line
        # With a single round, no other number would be on the axis.
        self.ax_.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        self.ax_.set_xlabel("round")
        self.ax_.set_ylabel(self.metric)

    def _mark_best(self):
        """Mark the best round on validation or out-of-bag rows."""
        for name in ("validation", "out-of-bag"):
            values = self._curves.get(name)
            if values is not None and not np.isnan(values).all():
                best = int(np.nanargmin(values))
                (self.best_,) = self.ax_.plot(
                    [best + 1],
                    [values[best]],
                    linestyle="none",
                    marker="o",
                    markersize=8,
                    markerfacecolor="none",
                    markeredgecolor=find_foreground(),
                    label=f"smallest {name}: round {best + 1}",
                )
                return

    def _draw_margins(self, line_kw) -> None:
        """Draw the distribution of the margins as steps."""
        some = next(iter(self._margins.values()))
        weight = check_weights(self.margin_weight, len(some))
        weight = np.ones(len(some)) if weight is None else weight
        for place, (number, margins) in enumerate(self._margins.items()):
            order = np.argsort(margins)
            fraction = np.cumsum(weight[order]) / weight.sum()
            style = {
                "label": f"{number} round{'' if number == 1 else 's'}",
                "color": MARGIN_COLORS[place % len(MARGIN_COLORS)],
                "linewidth": 1.6,
            }
            (self.lines_[number],) = self.ax_.plot(
                np.r_[-1.0, margins[order], 1.0],
                np.r_[0.0, fraction, 1.0],
                drawstyle="steps-post",
                **(style | line_kw),
            )
        self.ax_.axvline(0.0, color="#5F6368", linewidth=0.6, zorder=1)
        self.ax_.set_xlim(-1.02, 1.02)
        self.ax_.set_xlabel("margin")
        self.ax_.set_ylabel("fraction of rows with at most this margin")


def _read_curves(curves):
    """Check values by round, and drop those that are None."""
    read = {}
    for name, values in curves.items():
        if values is None:
            continue
        read[name] = values = np.asarray(values, dtype=np.float64)
        if values.ndim != 1 or len(values) == 0:
            raise ValueError(
                f"The values of {name!r} must be 1D, one per round; got shape "
                f"{values.shape}."
            )
    lengths = {name: len(values) for name, values in read.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"All lines must have the same number of rounds; got {lengths}."
        )
    return read


def _read_margins(margins):
    """Check margins by number of rounds."""
    read = {n: np.asarray(values, dtype=np.float64) for n, values in margins.items()}
    shapes = {number: values.shape for number, values in read.items()}
    if len(set(shapes.values())) > 1 or any(len(s) != 1 for s in shapes.values()):
        raise ValueError(
            "Margins must be 1D, one number per row, for the same rows after all "
            f"rounds; got shapes {shapes}."
        )
    for number, values in read.items():
        if not (np.abs(values) <= 1.0 + 1e-9).all():
            raise ValueError(
                f"Margins must be from -1 to 1; those after {number} rounds are not."
            )
    return read


def _find_kept(estimator):
    """Return the losses that gradient boosting stored in fit."""
    if not isinstance(estimator, GRADIENT_BOOSTING):
        return {}
    names = {
        "training": "train_score_",
        "validation": "validation_score_",
        "out_of_bag": "oob_scores_",
    }
    kept = {}
    for name, attribute in names.items():
        values = getattr(estimator, attribute, None)
        if values is not None:
            # After a warm start, only the later rounds may have been evaluated.
            n_lacking = estimator.n_estimators_ - len(values)
            kept[name] = np.r_[np.full(n_lacking, np.nan), values]
    return kept


def _measure_margins(estimator, X, y, numbers):
    """Compute margins after some rounds."""
    if not hasattr(estimator, "staged_margins"):
        raise ValueError(
            "Margins require an AdaBoostClassifier of sklearn_textbook; got "
            f"{type(estimator).__name__}."
        )
    if X is None:
        raise ValueError("Margins require the rows X and y.")
    n_rounds = len(estimator.estimators_)
    if numbers is None:
        numbers = sorted({1, round(n_rounds**0.5), n_rounds})
    for number in numbers:
        if number not in range(1, n_rounds + 1):
            raise ValueError(
                f"margin_rounds must be numbers from 1 to {n_rounds}, the rounds of "
                f"the estimator; got {number!r}."
            )
    wanted = set(numbers)
    stages = enumerate(estimator.staged_margins(X, y), start=1)
    found = {number: margins for number, margins in stages if number in wanted}
    return {number: found[number] for number in numbers}
