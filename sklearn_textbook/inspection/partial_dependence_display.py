"""Partial dependence of tree models as a Display: scikit-learn's, of other results."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import sklearn.inspection
from numpy.typing import ArrayLike
from sklearn.utils import Bunch
from sklearn.utils.parallel import Parallel, delayed

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_count_or_fraction,
    check_integer,
    check_random_seed,
)
from sklearn_textbook._contract.threads import Call
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.inspection._axes import (
    choose_unit,
    find_foreground,
    make_axes,
    use_fonts,
    write_levels,
    write_names,
    write_time_axis,
)
from sklearn_textbook.inspection.partial_dependence import KINDS, DependenceModel
from sklearn_textbook.tree.encode.columns import TIME
from sklearn_textbook.tree.encode.objects import seconds_from_objects
from sklearn_textbook.tree.explain.lettering import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Size of one plot of a new figure, in inches, and height that rotated names of levels
#: add to it.
SIZE = (4.0, 3.4)
NAMES_HEIGHT = 0.9
#: Number of cells of a table of colours up to which numbers are written in them, and
#: number of columns.
MAX_CELLS, MAX_CELL_COLUMNS = 64, 8


class PartialDependenceDisplay(sklearn.inspection.PartialDependenceDisplay):
    """Partial dependence plot of tree models.

    This is the display of scikit-learn with the same parameters and attributes;
    :meth:`from_estimator` uses :func:`partial_dependence`, which is fast for large
    tables and recognises the nominal columns of the model. Dates and times have an axis
    of dates and times, and booleans are drawn as levels.

    The bars of levels start at the mean prediction, which is a line. Those of a display
    made from results start at 0.

    Parameters
    ----------
    pd_results : list of Bunch
        Results of :func:`partial_dependence`, one per plot.
    features : list of tuple of int
        The one or two columns of each plot.
    feature_names : list of str
        Names of all columns.
    target_idx : int
        The row of ``average`` and ``individual`` to draw.
    deciles : dict
        Deciles of numeric columns, by index.
    kind : {"average", "individual", "both"} or list of these, default="average"
        Whether to draw the averages, a line per row (individual conditional
        expectation, ICE), or both; one for all plots, or one for each.
    subsample : float, int or None, default=1000
        Number of rows, or proportion of the rows, that have a line. None: all.
    random_state : int, RandomState instance or None, default=None
        Controls which rows have a line.
    is_categorical : list of tuple of bool or None, default=None
        Whether the columns of each plot are drawn as levels. None: all are numeric.

    See Also
    --------
    partial_dependence : Computes the values of the curves.
    sklearn.inspection.PartialDependenceDisplay : Supports all estimators.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import RandomForestRegressor
    >>> from sklearn_textbook.inspection import PartialDependenceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    >>> features = ["bmi", "s5", ("bmi", "s5")]
    >>> display = PartialDependenceDisplay.from_estimator(forest, X, features)
    >>> display.axes_.shape
    (1, 3)
    """

    #: Label of the axis of the curves, the mean prediction, and time zones of columns.
    measure, mean, time_zones = None, 0.0, {}

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        features: Any,
        *,
        sample_weight: ArrayLike | None = None,
        categorical_features: ArrayLike | None = None,
        feature_names: ArrayLike | None = None,
        target: int | str | None = None,
        response_method: str = "auto",
        n_cols: int = 3,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = (0.05, 0.95),
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        line_kw: dict[str, Any] | None = None,
        ice_lines_kw: dict[str, Any] | None = None,
        pd_line_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        ax: Axes | Any | None = None,
        kind: str = "average",
        centered: bool = False,
        subsample: float | None = 1000,
        random_state: int | np.random.RandomState | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the partial dependence of a fitted tree model.

        Parameters
        ----------
        estimator : estimator
            A fitted model, as for :func:`partial_dependence`.
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            Rows for the grids and for the deciles on the axes, for averages of
            ``method="brute"``, and for lines of single rows.
        features : list of {int, str, pair of int, pair of str}
            The plots: a curve for a numeric column, bars for a nominal, ordinal or
            boolean one, contours for two numeric columns, colours for two others.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows in their average, with ``method="brute"``.
        categorical_features : array-like or None, default=None
            Numeric columns that are drawn as levels, too, as indices, names or a mask.
        feature_names : array-like of str or None, default=None
            Names of the columns. None: those of the training table.
        target : int, str or None, default=None
            The class, or the index of the output of a regressor with several outputs.
            ``None`` is the second of two classes, and the only output.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            What is drawn for a classifier, as in :func:`partial_dependence`; the same
            in all plots.
        n_cols : int, default=3
            Maximum number of plots in a row.
        grid_resolution : int, default=100
            Number of values of the grids.
        percentiles : tuple of float, default=(0.05, 0.95)
            Ends of the grids, as in :func:`partial_dependence`.
        custom_values : dict or None, default=None
            Values of the grids, by index or name of the column.
        method : {"auto", "recursion", "brute"}, default="auto"
            How averages are computed, as in :func:`partial_dependence`; in all plots by
            ``"brute"`` if one of them has lines of single rows.
        n_jobs : int or None, default=None
            Number of plots that are computed at the same time, by threads. None: 1
            unless in a :obj:`joblib.parallel_config` context; -1: one per core.
        verbose : int, default=0
            Verbosity of joblib.
        line_kw, ice_lines_kw, pd_line_kw, contour_kw : dict or None, default=None
            As in :meth:`plot`.
        ax : matplotlib.axes.Axes, array of these or None, default=None
            Axes to draw on; None opens a new figure.
        kind : {"average", "individual", "both"} or list of these, default="average"
            Averages, a line per row (ICE), or both; pairs of columns have only
            averages. Lines of single rows pass through the levels of a nominal column.
        centered : bool, default=False
            Whether all lines start at 0, and bars show the difference to the first
            level.
        subsample : float, int or None, default=1000
            Number of rows, or proportion of the rows, that have a line. None: all.
            Averages are those of all rows.
        random_state : int, RandomState instance or None, default=None
            Controls which rows have a line.
        **kwargs : dict
            Other parameters of :meth:`plot`.

        Returns
        -------
        PartialDependenceDisplay
            The display.

        Raises
        ------
        TypeError or ValueError
            As in :func:`partial_dependence`; also if ``target`` is required or unknown,
            if a pair has a numeric and a nominal column, or if ``kind`` asks for lines
            of single rows in the plot of a pair.
        """
        check_count_or_fraction("subsample", subsample, 1, words=(None,))
        check_random_seed("random_state", random_state)
        _check_list(features)
        kinds = _read_kinds(kind, len(features))
        model = DependenceModel(
            estimator,
            X,
            sample_weight=sample_weight,
            categorical_features=categorical_features,
            feature_names=feature_names,
            response_method=response_method,
            percentiles=percentiles,
            grid_resolution=grid_resolution,
            custom_values=custom_values,
            method=method,
            has_rows=any(each != "average" for each in kinds),
        )
        columns = [tuple(model.find_columns(feature)) for feature in features]
        is_categorical = [
            _choose_kind(model, *both) for both in zip(columns, kinds, strict=True)
        ]
        with Call() as call:
            results = Parallel(n_jobs=n_jobs, verbose=verbose, prefer="threads")(
                delayed(call.run)(model.compute, *both)
                for both in zip(columns, kinds, strict=True)
            )
        mean = model.compute_mean()
        measure, number = _choose_target(model, target, results, mean)
        numeric = {
            column
            for pair, levels in zip(columns, is_categorical, strict=True)
            for column in pair
            if not any(levels)
        }
        display = cls(
            results,
            features=columns,
            feature_names=model.names,
            target_idx=number,
            deciles={column: model.find_deciles(column) for column in sorted(numeric)},
            kind=kind,
            subsample=subsample,
            random_state=random_state,
            is_categorical=is_categorical,
        )
        display.measure, display.mean = measure, float(mean[number])
        display.time_zones = {
            column: model.schema.columns[column].time_zone for column in numeric
        }
        return display.plot(
            ax=ax,
            n_cols=n_cols,
            line_kw=line_kw,
            ice_lines_kw=ice_lines_kw,
            pd_line_kw=pd_line_kw,
            contour_kw=contour_kw,
            centered=centered,
            **kwargs,
        )

    def plot(
        self,
        *,
        ax: Axes | Any | None = None,
        n_cols: int = 3,
        pd_line_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        pdp_lim: dict[Any, Any] | None = None,
        centered: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, array of these or None, default=None
            Axes to draw on; None opens a new figure whose size fits the plots.
        n_cols : int, default=3
            Maximum number of plots in a row.
        pd_line_kw : dict or None, default=None
            Parameters of ``plot`` for averages.
        heatmap_kw : dict or None, default=None
            Parameters of ``imshow`` for pairs of nominal columns.
        pdp_lim : dict or None, default=None
            Smallest and largest value of the curves, by the key 1, and of the pairs of
            columns, by the key 2. None: those of all plots.
        centered : bool, default=False
            Whether all lines start at 0, and bars show the difference to the first
            level.
        **kwargs : dict
            Other parameters of scikit-learn's display: ``line_kw``, ``ice_lines_kw``,
            ``contour_kw`` and ``bar_kw``.

        Returns
        -------
        PartialDependenceDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_integer("n_cols", n_cols, 1)
        n_plots = len(self.features)
        kinds = _read_kinds(self.kind, n_plots)
        levels = self.is_categorical or [(False,) * len(pair) for pair in self.features]
        results = [
            _select(result, self.target_idx, centered and len(pair) == 1)
            for result, pair in zip(self.pd_results, self.features, strict=True)
        ]
        base = 0.0 if centered else self.mean
        has_bars = [
            tuple(pair) == (True,) and kind == "average"
            for pair, kind in zip(levels, kinds, strict=True)
        ]
        if pdp_lim is None:
            pdp_lim = _find_limits(results, base if any(has_bars) else None)
        if "both" in kinds:  # scikit-learn draws averages in the colour of the rows
            pd_line_kw = _distinguish(pd_line_kw)
        height = SIZE[1] + NAMES_HEIGHT * any(map(any, levels))
        n_rows = -(-n_plots // n_cols)
        drawn = self._place(results, levels, kinds)
        drawn.plot(
            ax=make_axes(ax, size=(SIZE[0] * min(n_cols, n_plots), height * n_rows)),
            n_cols=n_cols,
            pdp_lim=pdp_lim,
            pd_line_kw=pd_line_kw,
            heatmap_kw={"aspect": "auto", **(heatmap_kw or {})},
            **kwargs,
        )
        vars(self).update({k: v for k, v in vars(drawn).items() if k.endswith("_")})
        self._correct_deciles(levels)
        for number, axes in enumerate(self.axes_.ravel()[:n_plots]):
            if has_bars[number]:
                _move_bars(axes, base, is_named=number == has_bars.index(True))
            self._write_labels(axes, number, any(levels[number]))
        return self

    def _place(self, results, levels, kinds):
        """Make a display of scikit-learn with the results at positions on the axes."""
        units = {
            column: choose_unit(values)[1]
            for pair, result in zip(self.features, results, strict=True)
            for column, values in zip(pair, result.grid_values, strict=True)
            if values.dtype.kind == "m"
        }
        for pair, result, has_levels in zip(
            self.features, results, map(any, levels), strict=True
        ):
            result.grid_values = [
                np.arange(len(v)) if has_levels else _place_values(v, units.get(c, 1))
                for c, v in zip(pair, result.grid_values, strict=True)
            ]
        return sklearn.inspection.PartialDependenceDisplay(
            results,
            features=self.features,
            feature_names=self.feature_names,
            target_idx=0,
            deciles={
                column: _place_values(values, units.get(column, 1))
                for column, values in self.deciles.items()
            },
            kind=kinds,
            subsample=self.subsample,
            random_state=self.random_state,
            is_categorical=[
                c if kind == "average" else (False,)
                for c, kind in zip(levels, kinds, strict=True)
            ],
        )

    def _correct_deciles(self, levels) -> None:
        """Draw deciles in the scale of their axis and the colour of the style.

        scikit-learn draws those of the y axis in the scale of the x axis, all in black,
        and those of a boolean beside a number also in the plot of its levels.
        """
        for number, axes in enumerate(self.axes_.ravel()[: len(levels)]):
            across = self.deciles_vlines_.flat[number]
            along = self.deciles_hlines_.flat[number]
            if across is not None and any(levels[number]):
                across.remove()
                across = self.deciles_vlines_.flat[number] = None
            if along is not None:
                along.set_transform(axes.get_yaxis_transform())
            for lines in filter(None, (across, along)):
                lines.set_color(find_foreground())

    def _write_labels(self, axes, number, has_levels) -> None:
        """Write names of columns and levels, dates, and what the curve shows."""
        values = list(map(np.asarray, self.pd_results[number]["grid_values"]))
        pair = self.features[number]
        axis_of = [axes.xaxis, axes.yaxis][: len(pair)]
        if has_levels and len(pair) == 2:
            axis_of.reverse()  # rows of the table of colours are the first column
            _write_cells(axes)
            axes.images[-1].colorbar.set_label(self.measure)
        units = [""] * len(pair)
        for n, (axis, column) in enumerate(zip(axis_of, pair, strict=True)):
            if has_levels:
                write_levels(axis, list(map(str, values[n].tolist())))
            else:
                units[n] = write_time_axis(axis, values[n], self.time_zones.get(column))
        for axis in (axes.xaxis, axes.yaxis):
            text = axis.label.get_text()
            if text == "Partial dependence":  # of scikit-learn
                text = self.measure or text
            elif text:
                (text,) = write_names([text])
                text += dict(zip(axis_of, units, strict=True)).get(axis, "")
            axis.label.set(text=text, parse_math=False)
        use_fonts(axes)


def _check_list(features) -> None:
    if (
        isinstance(features, str)
        or not hasattr(features, "__len__")
        or not len(features)
    ):
        raise ValueError(f"features must be a list of columns, got {features!r}.")


def _read_kinds(kind, n_plots):
    """Return the kind of each plot."""
    kinds = [kind] * n_plots if isinstance(kind, str) else list(kind)
    for each in kinds:
        check_choice("kind", each, KINDS)
    if len(kinds) != n_plots:
        raise ValueError(
            f"kind must be one word, or one for each of the {n_plots} plots; got "
            f"{kind!r}."
        )
    return kinds


def _choose_kind(model, pair, kind):
    """Check the columns of a plot; return whether they are drawn as levels."""
    names = [model.names[column] for column in pair]
    levels = tuple(model.is_categorical[column] for column in pair)
    if len(pair) == 2 and not all(levels):
        # Booleans can be numbers beside numbers.
        levels = tuple(model.is_level[column] for column in pair)
    if len(pair) > 2 or len(set(levels)) > 1:
        raise ValueError(
            "features must be columns or pairs of columns, both numeric or both "
            f"nominal; got {names}."
        )
    if len(pair) == 2 and kind != "average":
        raise ValueError(
            f'kind must be "average" for pairs of columns, got {kind!r} for {names}; '
            'a list has a kind for each plot, such as ["both", "average"].'
        )
    return levels


def _choose_target(model, target, results, mean):
    """Return the label and index of the class or output to draw.

    For the first of two classes, results and mean become those of this class.
    """
    n_targets = len(mean)
    trees = model.trees
    if not trees.is_classifier:
        is_logarithm = model.is_raw and trees.link == "exp"
        text = "Partial dependence"
        text += "\n(logarithm of the prediction)" if is_logarithm else ""
        if n_targets == 1:
            return text, 0
        _check_target(target, list(range(n_targets)))
        return f"{text}\n(output {target})", int(target)
    (classes,) = trees.classes
    classes = classes.tolist()
    if len(classes) == 2 and target is None:
        target = classes[1]
    _check_target(target, classes)
    measure = "score" if model.is_raw else "probability"
    measure = f"Partial dependence\n({measure} of {shorten(str(target), 30)})"
    number = classes.index(target)
    if n_targets > 1:
        return measure, number
    if len(classes) == 2 and number == 0:
        for values in [mean, *(v for r in results for k, v in r.items() if k in KINDS)]:
            np.subtract(0.0 if model.is_raw else 1.0, values, out=values)
    return measure, 0


def _check_target(target, known) -> None:
    if target not in known:
        raise ValueError(f"target must be one of {known}, got {target!r}.")


def _select(result, number, is_centered):
    """Return the results of one class or output, on request as differences."""
    chosen = Bunch(grid_values=list(map(np.asarray, result["grid_values"])))
    for kind in (kind for kind in KINDS if kind in result):
        values = np.asarray(result[kind])[[number]]
        chosen[kind] = values - values[..., :1] if is_centered else values
    return chosen


def _find_limits(results, base):
    """Return the limits of the curves, by 1, and of the pairs of columns, by 2."""
    ends = {} if base is None else {1: [base]}
    for result in results:
        of_plot = ends.setdefault(len(result["grid_values"]), [])
        for values in (result[kind] for kind in KINDS if kind in result):
            of_plot += [np.min(values), np.max(values)]
    limits = {}
    for n_columns, of_plots in ends.items():
        low, high = float(min(of_plots)), float(max(of_plots))
        margin = 0.05 * (high - low)
        # A constant: axes need a range that is not empty.
        margin = margin if high + margin > low else max(0.05 * abs(low), 0.05)
        limits[n_columns] = (low - margin, high + margin)
    return limits


def _distinguish(given):
    """Return parameters of the lines of averages among those of rows."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    line = {"color": "tab:orange", "linestyle": "--"}
    return {**line, **normalize_kwargs(given, Line2D)}


def _place_values(values, unit):
    """Return positions on an axis; durations in units of some seconds."""
    if values.dtype.kind == "M":
        from matplotlib.dates import date2num

        return date2num(values)
    if values.dtype.kind == "m":
        return values / np.timedelta64(unit, "s")
    if values.dtype.kind == "O" and isinstance(values[0], datetime.time):
        return seconds_from_objects(values, TIME)
    return values.astype(float) if values.dtype.kind == "b" else values


def _move_bars(axes, base, is_named) -> None:
    """Let the bars that were just drawn start at a value, and draw a line there."""
    for bar in axes.containers[-1]:
        bar.set(y=base, height=bar.get_height() - base)
    line = axes.axhline(base, color=find_foreground(), linewidth=0.8)
    if base and is_named:
        axes.legend([line], ["mean prediction"], fontsize="small")


def _write_cells(axes) -> None:
    """Remove the numbers in a table of colours if they have too little room."""
    n_rows, n_columns = axes.images[-1].get_array().shape
    if n_rows * n_columns > MAX_CELLS or n_columns > MAX_CELL_COLUMNS:
        for text in list(axes.texts):
            text.remove()
