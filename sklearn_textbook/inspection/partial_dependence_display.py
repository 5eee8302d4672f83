"""Partial dependence of tree models as a Display."""

from __future__ import annotations

import numpy as np
import sklearn.inspection
from scipy.stats.mstats import mquantiles

from sklearn_textbook.inspection._axes import make_axes
from sklearn_textbook.inspection.partial_dependence import (
    find_columns,
    partial_dependence,
    read_tree_sum,
)
from sklearn_textbook.tree.encode.columns import NUMERIC
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
            The class if there are more than two, or the index of the output of a
            regressor with several outputs.
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
        columns = [
            tuple(find_columns(model.schema, feature))
            for feature in _list_features(features)
        ]
        is_nominal = [kind != NUMERIC for kind in model.schema.kinds]
        is_categorical = [tuple(is_nominal[c] for c in pair) for pair in columns]
        for pair, flags in zip(columns, is_categorical, strict=True):
            if len(pair) > 2 or len(set(flags)) > 1:
                names = [model.schema.names[column] for column in pair]
                raise ValueError(
                    "features must be columns or pairs of columns, both numeric or "
                    f"both nominal; got {names}."
                )
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
        names = model.schema.names if feature_names is None else feature_names
        matrix = read_matrix(estimator, X, model.reader)
        display = cls(
            results,
            features=columns,
            feature_names=list(names),
            target_idx=_find_target(estimator, target, len(results[0].average)),
            deciles={
                column: _find_deciles(matrix[:, [column]])
                for pair in columns
                for column in pair
                if not is_nominal[column]
            },
            is_categorical=is_categorical,
        )
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
        return self


def _list_features(features):
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        raise ValueError(f"features must be a list of columns, got {features!r}.")
    return list(features)


def _find_target(estimator, target, n_targets):
    """Return the number of the class or output to draw."""
    if n_targets == 1:
        return 0
    known = list(range(n_targets))
    if hasattr(estimator, "classes_"):
        known = np.asarray(estimator.classes_).tolist()
    if target not in known:
        raise ValueError(f"target must be one of {known}, got {target!r}.")
    return known.index(target)


def _find_deciles(values):
    values = values.toarray() if hasattr(values, "toarray") else values
    values = values[np.isfinite(values)]
    return mquantiles(values, prob=np.arange(0.1, 1.0, 0.1))
