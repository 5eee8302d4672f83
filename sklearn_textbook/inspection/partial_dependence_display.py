"""Partial dependence of tree models as a Display."""

from __future__ import annotations

import numpy as np
import sklearn.inspection
from scipy.stats.mstats import mquantiles

from sklearn_textbook.inspection._axes import (
    find_foreground,
    make_axes,
    use_fonts,
    write_names,
)
from sklearn_textbook.inspection.partial_dependence import (
    find_columns,
    partial_dependence,
    read_tree_sum,
)
from sklearn_textbook.tree.encode.columns import NUMERIC
from sklearn_textbook.tree.explain.lettering import shorten
from sklearn_textbook.tree.members import read_matrix

#: Size of one plot of a new figure, in inches.
SIZE = (4.0, 3.4)


class PartialDependenceDisplay(sklearn.inspection.PartialDependenceDisplay):
    """Partial dependence plot of tree models, computed by recursion.

    This is the display of scikit-learn with the same parameters, attributes and
    :meth:`plot`; :meth:`from_estimator` uses :func:`partial_dependence`, which is fast
    for large tables and recognises the nominal columns of the model.

    Parameters
    ----------
    pd_results : list of Bunch
        Results of :func:`partial_dependence`, one per plot.
    features : list of tuple of int
        The one or two columns of each plot.
    feature_names : list of str
        Names of all columns.
    target_idx : int
        The row of ``average`` to draw.
    deciles : dict
        Deciles of numeric columns, by index.
    kind : {"average"}, default="average"
        Individual curves of rows are not supported.
    subsample : float, int or None, default=1000
        Ignored.
    random_state : int, RandomState instance or None, default=None
        Ignored.
    is_categorical : list of tuple of bool or None, default=None
        Whether the columns of each plot are nominal. None: all are numeric.

    See Also
    --------
    partial_dependence : Computes the values of the curves.
    sklearn.inspection.PartialDependenceDisplay : Supports all estimators, and
        individual curves of rows.

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

    #: Label of the axis of the curves.
    measure = None

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        features,
        *,
        feature_names=None,
        target=None,
        percentiles=(0.05, 0.95),
        grid_resolution=100,
        custom_values=None,
        ax=None,
        **kwargs,
    ):
        """Draw the partial dependence of a fitted tree model.

        Parameters
        ----------
        estimator : estimator
            A fitted model, as for :func:`partial_dependence`.
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            Rows for the grids and for the deciles on the axes.
        features : list of {int, str, pair of int, pair of str}
            The plots: a curve for a numeric column, bars for a nominal one, contours
            for two numeric columns, colours for two nominal ones.
        feature_names : array-like of str or None, default=None
            Names of the columns. None: those of the training table.
        target : int, str or None, default=None
            The class, or the index of the output of a regressor with several outputs.
            ``None`` is the second of two classes, and the only output.
        percentiles : tuple of float, default=(0.05, 0.95)
            Ends of the grids, as in :func:`partial_dependence`.
        grid_resolution : int, default=100
            Number of values of the grids.
        custom_values : dict or None, default=None
            Values of the grids, by index or name of the column.
        ax : matplotlib.axes.Axes, array of these or None, default=None
            Axes to draw on; None opens a new figure.
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
            or if a pair has a numeric and a nominal column.
        """
        model = read_tree_sum(estimator)
        is_nominal = [kind != NUMERIC for kind in model.schema.kinds]
        columns = _list_columns(model.schema, features, is_nominal)
        custom = {
            find_columns(model.schema, key)[0]: values
            for key, values in (custom_values or {}).items()
        }
        results = [
            partial_dependence(
                estimator,
                X,
                pair,
                percentiles=percentiles,
                grid_resolution=grid_resolution,
                custom_values={c: custom[c] for c in pair if c in custom},
            )
            for pair in columns
        ]
        measure, number = _choose_target(estimator, model, target, results)
        names = model.schema.names if feature_names is None else feature_names
        matrix = read_matrix(estimator, X, model.reader)
        display = cls(
            results,
            features=columns,
            feature_names=list(names),
            target_idx=number,
            deciles={
                column: _find_deciles(matrix[:, [column]])
                for pair in columns
                for column in pair
                if not is_nominal[column]
            },
            is_categorical=[tuple(is_nominal[c] for c in pair) for pair in columns],
        )
        display.measure = measure
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax=None, n_cols=3, **kwargs):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, array of these or None, default=None
            Axes to draw on; None opens a new figure whose size fits the plots.
        n_cols : int, default=3
            Maximum number of plots in a row.
        **kwargs : dict
            Other parameters of scikit-learn's display, such as ``line_kw`` and
            ``contour_kw``.

        Returns
        -------
        PartialDependenceDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        n_plots = len(self.features)
        if ax is None:
            columns = min(n_cols, n_plots)
            rows = -(-n_plots // n_cols)
            ax = make_axes(size=(SIZE[0] * columns, SIZE[1] * rows))
        super().plot(ax=ax, n_cols=n_cols, **kwargs)
        for axes, lines in zip(
            self.axes_.ravel(), self.deciles_hlines_.ravel(), strict=True
        ):
            if lines is not None:  # scikit-learn draws them in the scale of the x axis
                lines.set_transform(axes.get_yaxis_transform())
        for lines in (*self.deciles_vlines_.ravel(), *self.deciles_hlines_.ravel()):
            if lines is not None:  # scikit-learn draws them in black
                lines.set_color(find_foreground())
        for axes in self.axes_.ravel():
            if axes is not None:
                self._write_labels(axes)
        return self

    def _write_labels(self, axes):
        """Break the names of columns into lines, and name what the curve shows."""
        for label in (axes.xaxis.label, axes.yaxis.label):
            text = label.get_text()
            if text == "Partial dependence":  # of scikit-learn
                text = self.measure or text
            elif text:
                (text,) = write_names([text])
            label.set(text=text, parse_math=False)
        use_fonts(axes)


def _list_columns(schema, features, is_nominal):
    """Return the one or two columns of each plot."""
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        raise ValueError(f"features must be a list of columns, got {features!r}.")
    columns = [tuple(find_columns(schema, feature)) for feature in features]
    for pair in columns:
        if len(pair) > 2 or len({is_nominal[c] for c in pair}) > 1:
            names = [schema.names[c] for c in pair]
            raise ValueError(
                "features must be columns or pairs of columns, both numeric or both "
                f"nominal; got {names}."
            )
    return columns


def _choose_target(estimator, model, target, results):
    """Return the label and index of the class or output to draw.

    For the first of two classes, the averages become those of this class.
    """
    n_targets = len(results[0].average)
    if not hasattr(estimator, "classes_"):
        if n_targets == 1:
            return None, 0
        _check_target(target, list(range(n_targets)))
        return f"Partial dependence\n(output {target})", int(target)
    classes = np.asarray(estimator.classes_).tolist()
    is_probability = model.trees[0][0].is_classifier
    if len(classes) == 2 and target is None:
        target = classes[1]
    _check_target(target, classes)
    measure = "probability" if is_probability else "score"
    measure = f"Partial dependence\n({measure} of {shorten(str(target), 30)})"
    number = classes.index(target)
    if n_targets > 1:
        return measure, number
    if number == 0:
        for result in results:
            result.average = float(is_probability) - result.average
    return measure, 0


def _check_target(target, known):
    if target not in known:
        raise ValueError(f"target must be one of {known}, got {target!r}.")


def _find_deciles(values):
    values = values.toarray() if hasattr(values, "toarray") else values
    values = values[np.isfinite(values)]
    return mquantiles(values, prob=np.arange(0.1, 1.0, 0.1))
