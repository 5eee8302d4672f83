"""Partial dependence of trees and sums of trees, by recursion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from scipy.stats.mstats import mquantiles
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook.ensemble.bagging.base_bagging import BaseBagging
from sklearn_textbook.ensemble.boosting.base_gradient_boosting import (
    BaseGradientBoosting,
)
from sklearn_textbook.ensemble.boosting.boosting_tree import BoostingTreeRegressor
from sklearn_textbook.ensemble.forest.base_forest import BaseForest
from sklearn_textbook.tree.encode.columns import NUMERIC
from sklearn_textbook.tree.grow.layout import FRACTIONAL, LEAF, OBLIQUE
from sklearn_textbook.tree.members import get_shown_tree, is_tree, read_matrix
from sklearn_textbook.tree.route import predict_statistics


def partial_dependence(
    estimator,
    X,
    features,
    *,
    percentiles=(0.05, 0.95),
    grid_resolution=100,
    custom_values=None,
):
    r"""Compute the partial dependence of a tree model on columns by recursion.

    At a node that tests one of these columns, a grid point follows its branch; at all
    other nodes, it is divided among the branches in proportion to their training
    weights:

    .. math:: f_S(x_S) = \sum_{leaf} v_{leaf} \prod_{t \to c,\; j_t \notin S}
        \frac{W_c}{\sum_{c'} W_{c'}}

    where the sum is over the leaves that :math:`x_S` can reach. This extends
    ``method="recursion"`` of :func:`sklearn.inspection.partial_dependence`, which
    accepts only scikit-learn classes, to nominal columns, any number of branches,
    classifiers and bagging. ``method="brute"`` of scikit-learn, which predicts all rows
    of ``X`` for every grid point, accepts all models of this package.

    Parameters
    ----------
    estimator : estimator
        A fitted tree, random forest, extra trees, bagging or random subspace ensemble
        of trees, gradient boosting model or
        :class:`~sklearn_textbook.ensemble.BoostingTreeRegressor` of this package. Tests
        must have a single column.
    X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
        Rows from which the grid is made, usually the training rows.
    features : int, str or sequence of these
        The columns, by index or name.
    percentiles : tuple of float, default=(0.05, 0.95)
        Lower and upper end of the grid of a numeric column, as quantiles of ``X``.
    grid_resolution : int, default=100
        Number of equally spaced values of a numeric column. If a column has fewer
        distinct values, these are used.
    custom_values : dict or None, default=None
        Values or levels of the grid, by index or name of the column as in ``features``.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        As in scikit-learn, with the entries

        grid_values : list of ndarray
            The values of each column: numbers, or the levels that occur in ``X``.
            Dates, times and durations are numbers of seconds.
        average : ndarray of shape (n_outputs, n_values_0, n_values_1, ...)
            Mean prediction, with a row for each output of a regressor. For a
            classifier, the probability of each class, or of only the second if there
            are two. For gradient boosting, the raw score (``decision_function``),
            including the initial score, which scikit-learn leaves out.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If the estimator is not such a model.
    ValueError
        If the model has oblique tests, votes or several outputs in classification, if a
        column is unknown or has no values, or if a parameter is out of range.

    See Also
    --------
    PartialDependenceDisplay : Plots the curves.
    sklearn.inspection.partial_dependence : Supports all estimators.
    sklearn_textbook.exchange.to_sklearn : For ``method="recursion"`` of scikit-learn.

    Notes
    -----
    Reference: J. H. Friedman, "Greedy function approximation: a gradient boosting
    machine", The Annals of Statistics 29(5), 2001, section 8.2.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_play_tennis
    >>> from sklearn_textbook.inspection import partial_dependence
    >>> from sklearn_textbook.tree import ID3Classifier
    >>> tennis = load_play_tennis(as_frame=True)
    >>> tree = ID3Classifier().fit(tennis.data, tennis.target)
    >>> result = partial_dependence(tree, tennis.data, "outlook")
    >>> result.grid_values[0].tolist(), result.average.round(3).tolist()
    (['sunny', 'overcast', 'rain'], [[0.4, 1.0, 0.6]])
    """
    model = read_tree_sum(estimator)
    columns = find_columns(model.schema, features)
    check_integer("grid_resolution", grid_resolution, 2)
    matrix = read_matrix(estimator, X, model.reader)
    custom = {
        find_columns(model.schema, key)[0]: values
        for key, values in (custom_values or {}).items()
    }
    coded, values = [], []
    for column in columns:
        schema = model.schema.columns[column]
        if column in custom:
            codes = _code_values(schema, custom[column])
        else:
            codes = _make_axis(
                schema, matrix[:, [column]], percentiles, grid_resolution
            )
        coded.append(codes)
        values.append(_decode_values(schema, codes))
    points = np.stack(np.meshgrid(*coded, indexing="ij"), axis=-1)
    average = model.average(points.reshape(-1, len(columns)), columns)
    shape = tuple(map(len, coded))
    return Bunch(grid_values=values, average=average.reshape(-1, *shape))


@dataclass(frozen=True)
class TreeSum:
    """A model whose prediction is a weighted sum of those of trees.

    Parameters
    ----------
    reader : tree estimator
        Reads tables.
    trees : list of list of GrownTree
        The trees of each score.
    columns : list of ndarray of int, or None
        Columns of each tree; None for all.
    weight : float
        Weight of every tree.
    start : ndarray of float64, shape (n_scores,)
        What is added to the scores.
    """

    reader: object
    trees: list
    columns: list
    weight: float
    start: np.ndarray

    @property
    def schema(self):
        """Description of the columns."""
        return self.reader.schema_

    def average(self, points, columns):
        """Compute the partial dependence at some points; (n_outputs, n_points)."""
        results = [
            start
            + self.weight
            * sum(
                _average_tree(tree, points, columns, seen)
                for tree, seen in zip(trees, self.columns, strict=True)
            )
            for trees, start in zip(self.trees, self.start.tolist(), strict=True)
        ]
        return np.concatenate(results)


def read_tree_sum(estimator):
    """Read the trees of a fitted model and how their predictions are added.

    Parameters
    ----------
    estimator : estimator
        As for :func:`partial_dependence`.

    Returns
    -------
    TreeSum
        The trees.

    Raises
    ------
    TypeError or ValueError
        As for :func:`partial_dependence`.
    """
    name = type(estimator).__name__
    if hasattr(estimator, "fit") and not isinstance(estimator, type):
        check_is_fitted(estimator)
    if is_tree(estimator):
        reader, trees, weight = estimator, [[get_shown_tree(estimator)]], 1.0
    elif isinstance(estimator, BaseGradientBoosting):
        reader, weight = estimator._get_reader(), 1.0
        trees = [[member.tree_ for member in rows] for rows in estimator.estimators_.T]
    elif isinstance(estimator, BoostingTreeRegressor):
        reader, weight = estimator._get_reader(), float(estimator.learning_rate)
        trees = [[member.tree_ for member in estimator.estimators_]]
    elif isinstance(estimator, BaseForest | BaseBagging) and (
        reader := estimator._get_reader()
    ):
        if getattr(estimator, "voting", "soft") == "hard":
            raise ValueError(
                f'{name} has voting="hard", and votes of trees are not sums of their '
                'probabilities. Use method="brute" of scikit-learn.'
            )
        trees = [[get_shown_tree(member) for member in estimator.estimators_]]
        weight = 1.0 / len(trees[0])
    else:
        raise TypeError(
            "estimator must be a tree, random forest, extra trees, bagging or random "
            "subspace ensemble of trees, or gradient boosting model of "
            f"sklearn_textbook; got {name}. sklearn.inspection.partial_dependence with "
            'method="brute" accepts all estimators.'
        )
    if getattr(estimator, "init_", None) is not None:
        raise ValueError(
            "Partial dependence by recursion requires init=None or init='zero'; got "
            f"{name} with init={estimator.init!r}."
        )
    if trees[0][0].is_classifier and trees[0][0].n_outputs > 1:
        raise ValueError(
            "Partial dependence of classifiers requires a single output; got "
            f"{name} with {trees[0][0].n_outputs}. Fit a model for each output."
        )
    for number, tree in enumerate(trees[0]):
        if (tree.read_columns("kind")[0] == OBLIQUE).any():
            raise ValueError(
                f"{name} has oblique tests (tree {number}), which do not depend on a "
                'single column. Use method="brute" of scikit-learn.'
            )
    is_bag = isinstance(estimator, BaseBagging)
    columns = estimator._list_columns() if is_bag else [None] * len(trees[0])
    start = getattr(estimator, "_start_score", np.zeros(len(trees)))
    return TreeSum(reader, trees, columns, weight, np.asarray(start, dtype=float))


def find_columns(schema, features):
    """Return the numbers of columns given by number or name.

    Parameters
    ----------
    schema : TableSchema
        The columns.
    features : int, str or sequence of these
        The columns to find.

    Returns
    -------
    list of int
        Their numbers.
    """
    keys = [features] if isinstance(features, str | Integral) else list(features)
    found = []
    for key in keys:
        if isinstance(key, str) and key in schema.names:
            found.append(schema.names.index(key))
        elif isinstance(key, Integral) and 0 <= key < len(schema.columns):
            found.append(int(key))
        else:
            raise ValueError(
                f"features must be column names, {list(schema.names)}, or indices from "
                f"0 to {len(schema.columns) - 1}; got {key!r}."
            )
    if not found or len(set(found)) < len(found):
        raise ValueError(f"features must be one or more columns, got {features!r}.")
    return found


def _make_axis(schema, values, percentiles, resolution):
    """Choose the grid of one column as scikit-learn does; levels as codes."""
    values = values.toarray() if hasattr(values, "toarray") else values
    values = values[np.isfinite(values)].astype(np.float64)
    distinct = np.unique(values)
    if schema.kind != NUMERIC:
        distinct = distinct[distinct >= 0]  # levels of training
    if len(distinct) == 0:
        raise ValueError(f"Column {schema.name!r} of X has no values for the grid.")
    if schema.kind != NUMERIC or len(distinct) < resolution:
        return distinct
    low, high = _check_percentiles(percentiles)
    ends = mquantiles(values, prob=(low, high))
    if not ends[0] < ends[1]:
        raise ValueError(
            f"percentiles={percentiles!r} of column {schema.name!r} are equal "
            f"({ends[0]:g}). Use percentiles that are further apart."
        )
    return np.linspace(*ends, num=resolution)


def _check_percentiles(percentiles):
    try:
        low, high = percentiles
        is_valid = 0 <= low < high <= 1
    except (TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise ValueError(
            "percentiles must be two increasing numbers from 0 to 1, got "
            f"{percentiles!r}."
        )
    return low, high


def _code_values(schema, values):
    """Return given values as numbers or codes of levels."""
    values = np.asarray(values, dtype=None if schema.kind == NUMERIC else object)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"custom_values of column {schema.name!r} must be a non-empty 1D array; "
            f"got shape {values.shape}."
        )
    if schema.kind == NUMERIC:
        return values.astype(np.float64)
    unknown = [value for value in values.tolist() if value not in schema.codes]
    if unknown:
        raise ValueError(
            f"custom_values of column {schema.name!r} must be levels seen in training, "
            f"{list(schema.levels)}; got {unknown[0]!r}."
        )
    return np.array([schema.codes[value] for value in values.tolist()], dtype=float)


def _decode_values(schema, codes):
    if schema.kind == NUMERIC:
        return codes
    return np.array([schema.levels[int(code)] for code in codes], dtype=object)


def _average_tree(tree, points, columns, seen=None):
    """Partial dependence of one tree; shape (n_outputs, n_points)."""
    places = columns
    if seen is not None:  # of the columns that the tree has
        place_of = {int(column): place for place, column in enumerate(seen)}
        kept = [n for n, column in enumerate(columns) if column in place_of]
        points = points[:, kept]
        places = [place_of[columns[n]] for n in kept]
    full = tree.compact() if tree.is_compact else tree  # a compact tree stays so
    nodes = full.nodes.copy()
    is_other = (nodes["kind"] != LEAF) & ~np.isin(nodes["feature"], places)
    nodes["missing_branch"][is_other] = FRACTIONAL
    divided = replace(
        tree, nodes=nodes, statistics=full.statistics, surrogates=tree.surrogates[:0]
    )
    matrix = np.full((len(points), tree.n_features), np.nan)
    matrix[:, places] = points
    if not np.isin(nodes["feature"], places).any():
        matrix = matrix[:1]  # the same for all points
    predicted = predict_statistics(divided, matrix)
    if tree.is_classifier:
        averages = predicted[:, 0].T
        averages = averages[1:] if len(averages) == 2 else averages
    else:
        averages = predicted[:, :, 0].T
    return np.broadcast_to(averages, (len(averages), len(points)))
