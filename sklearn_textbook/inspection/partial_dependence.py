"""Partial dependence of trees and sums of trees.

scikit-learn's function has a recursion only for classes of its own: 30 points of a
forest of 100 trees and 20,000 rows of 15 columns take it 0.95 s, and 0.06 s here (two
threads). It makes no grid for dates, text with missing values or (version 1.9)
integers; that of numbers with missing values is NaN.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.stats.mstats import mquantiles
from sklearn.utils import Bunch

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    find_column,
    read_feature_names,
)
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.exchange.tree_sum import read_sum
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.encode.columns import BOOLEAN, DATE, DURATION, NUMERIC, TIME
from sklearn_textbook.tree.encode.read import find_categorical
from sklearn_textbook.tree.grow.layout import FRACTIONAL, LEAF, OBLIQUE
from sklearn_textbook.tree.route import predict_statistics

#: Maximum number of cells of the rows that are predicted at once.
BLOCK_CELLS = 1 << 21
KINDS = ("average", "individual", "both")
RESPONSES = ("auto", "predict_proba", "decision_function")
METHODS = ("auto", "recursion", "brute")


def partial_dependence(
    estimator: Any,
    X: MatrixLike,
    features: Any,
    *,
    sample_weight: ArrayLike | None = None,
    categorical_features: ArrayLike | None = None,
    feature_names: ArrayLike | None = None,
    response_method: str = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: dict[Any, Any] | None = None,
    method: str = "auto",
    kind: str = "average",
) -> Bunch:
    r"""Compute the partial dependence of a tree model on columns.

    By recursion, a grid point follows its branch at a node that tests one of these
    columns; at all other nodes, it is divided among the branches in proportion to their
    training weights:

    .. math:: f_S(x_S) = \sum_{leaf} v_{leaf} \prod_{t \to c,\; j_t \notin S}
        \frac{W_c}{\sum_{c'} W_{c'}}

    where the sum is over the leaves that :math:`x_S` can reach. This extends
    ``method="recursion"`` of :func:`sklearn.inspection.partial_dependence`, which
    accepts only scikit-learn classes, to nominal columns, any number of branches,
    classifiers and bagging. With ``method="brute"``, the values of the columns are
    replaced by the grid point in all rows of ``X``, whose predictions are averaged:

    .. math:: f_S(x_S) = \frac{\sum_i w_i\, f(x_S, x_{i, \bar S})}{\sum_i w_i}

    Parameters
    ----------
    estimator : estimator
        A fitted tree, random forest, extra trees, bagging, random subspace or output
        perturbation ensemble of trees, AdaBoost of trees, gradient boosting model or
        :class:`~sklearn_textbook.ensemble.BoostingTreeRegressor` of this package.
    X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
        Rows from which the grid is made, usually the training rows.
    features : int, str or sequence of these
        The columns, by index or name.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows in their average; requires ``method="brute"``.
    categorical_features : array-like or None, default=None
        Numeric columns whose grid consists of all their distinct values, as indices,
        names or a mask. That of a nominal, ordinal or boolean column always does.
    feature_names : array-like of str or None, default=None
        Names of the columns in ``features``. None: those of the training table.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What is averaged for a classifier: probabilities or, for gradient boosting, raw
        scores. "auto" is the raw score of gradient boosting by recursion, otherwise
        the probability. A regressor requires "auto".
    percentiles : tuple of float, default=(0.05, 0.95)
        Lower and upper end of the grid of a numeric column, as quantiles of ``X``.
    grid_resolution : int, default=100
        Number of equally spaced values of a numeric column. If a column has fewer
        distinct values, these are used.
    custom_values : dict or None, default=None
        Values or levels of the grid, by index or name of the column as in ``features``.
    method : {"auto", "recursion", "brute"}, default="auto"
        How averages are computed. "auto" is recursion if it is possible, that is for
        ``kind="average"`` without ``sample_weight``, unless the model has oblique
        tests or linear equations in leaves, is an AdaBoost or output smearing model, or
        is gradient boosting whose probabilities are asked for. "brute" uses the threads
        of the estimator (``n_jobs``).
    kind : {"average", "individual", "both"}, default="average"
        Whether to return the averages, the predictions for each row (individual
        conditional expectation, ICE), or both.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        As in scikit-learn, with the entries

        grid_values : list of ndarray
            The values of each column: numbers, booleans, or the levels that occur in
            ``X``. Dates (in UTC if they have a time zone) are of dtype datetime64,
            durations of dtype timedelta64, times of day are ``datetime.time``.
        average : ndarray of shape (n_outputs, n_values_0, n_values_1, ...)
            Mean prediction, with a row for each output of a regressor. For a
            classifier, the probability of each class, or of only the second if there
            are two. By recursion, gradient boosting has the raw score
            (``decision_function``, or the logarithm of the prediction for losses
            with a logarithmic link), including the initial score, which scikit-learn
            leaves out. Not with ``kind="individual"``.
        individual : ndarray of shape (n_outputs, n_samples, n_values_0, ...)
            The prediction for each row, unless ``kind="average"``.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If the estimator is not such a model.
    ValueError
        If the model has several outputs in classification or starts from another
        estimator (``init``), if a column is unknown or has no values, if a parameter
        is out of range, or if recursion is requested where it is not possible.

    See Also
    --------
    PartialDependenceDisplay : Plots the curves.
    sklearn.inspection.partial_dependence : Supports all estimators.
    sklearn_textbook.exchange.to_sklearn : For ``method="recursion"`` of scikit-learn.

    Notes
    -----
    References: J. H. Friedman, "Greedy function approximation: a gradient boosting
    machine", The Annals of Statistics 29(5), 2001, section 8.2; A. Goldstein,
    A. Kapelner, J. Bleich, E. Pitkin, "Peeking inside the black box: visualizing
    statistical learning with plots of individual conditional expectation", Journal of
    Computational and Graphical Statistics 24(1), 2015.

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
    check_choice("kind", kind, KINDS)
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
        has_rows=kind != "average",
    )
    return model.compute(model.find_columns(features), kind)


class DependenceModel:
    """A model and rows, whose partial dependence can be computed for any columns.

    Parameters
    ----------
    estimator, X, sample_weight, categorical_features, feature_names, response_method, \
            percentiles, grid_resolution, custom_values, method : object
        As for :func:`partial_dependence`.
    has_rows : bool
        Whether predictions for each row are asked for.

    Attributes
    ----------
    trees : TreeSum
        The trees of the model.
    fractions : ndarray of shape (n_samples,)
        The weights of the rows, divided by their sum.
    method : {"recursion", "brute"}
        How averages are computed.
    is_raw : bool
        Whether they are averages of raw scores that are not the predictions.
    is_level, is_categorical : list of bool
        Whether each column is nominal, ordinal or given as categorical, and whether it
        is one of these or boolean.
    """

    def __init__(
        self,
        estimator,
        X,
        *,
        sample_weight,
        categorical_features,
        feature_names,
        response_method,
        percentiles,
        grid_resolution,
        custom_values,
        method,
        has_rows,
    ) -> None:
        check_choice("response_method", response_method, RESPONSES)
        check_choice("method", method, METHODS)
        check_integer("grid_resolution", grid_resolution, 2)
        self.trees = trees = _read_sum(estimator)
        self.schema = trees.schema
        if feature_names is None:
            feature_names = self.schema.names
        self.names = read_feature_names(feature_names, len(self.schema.columns))
        self.matrix = trees.read(X)
        weight = check_weights(sample_weight, self.matrix.shape[0])
        needed = _why_brute(trees, has_rows, weight is not None, response_method)
        if needed and method == "recursion":
            raise ValueError(f'method="recursion" is not possible {needed}.')
        self.method = "brute" if needed or method == "brute" else "recursion"
        self.is_raw = trees.link != "identity" and (
            self.method == "recursion" or response_method == "decision_function"
        )
        weight = np.ones(self.matrix.shape[0]) if weight is None else weight
        self.fractions = weight / weight.sum()
        self.percentiles = percentiles
        self.grid_resolution = grid_resolution
        self.custom_values = {
            find_column("custom_values", key, self.names): values
            for key, values in (custom_values or {}).items()
        }
        is_level = np.array([column.kind != NUMERIC for column in self.schema.columns])
        declared = find_categorical(categorical_features, self.names, len(self.names))
        if declared is not None:
            is_level |= declared
        self.is_level = is_level.tolist()
        self.is_categorical = [
            is_level or column.source == BOOLEAN
            for is_level, column in zip(self.is_level, self.schema.columns, strict=True)
        ]

    def find_columns(self, features) -> list[int]:
        """Return the numbers of columns given by number or name, or of several."""
        is_one = isinstance(features, str) or not np.iterable(features)
        keys = [features] if is_one else list(features)
        found = [find_column("features", key, self.names) for key in keys]
        if not found or len(set(found)) < len(found):
            raise ValueError(f"features must be one or more columns, got {features!r}.")
        return found

    def compute(self, columns: Sequence[int], kind: str) -> Bunch:
        """Compute the partial dependence on some columns."""
        coded = [self._make_axis(column) for column in columns]
        schemas = [self.schema.columns[column] for column in columns]
        values = list(map(_decode_values, schemas, coded))
        points = np.stack(np.meshgrid(*coded, indexing="ij"), axis=-1)
        points = points.reshape(-1, len(columns))
        average, individual = self._predict(points, columns, kind != "average")
        shape = tuple(map(len, coded))
        result = Bunch(grid_values=values)
        if kind != "individual":
            result.average = average.reshape(-1, *shape)
        if kind != "average":
            result.individual = individual.reshape(*individual.shape[:2], *shape)
        return result

    def compute_mean(self) -> np.ndarray:
        """Compute the mean prediction, of the training rows by recursion, else of X."""
        return self._predict(np.empty((1, 0)), [], False)[0][:, 0]

    def _predict(self, points, columns, is_individual):
        """Average, and predict each row, at some points."""
        if self.method == "recursion":
            scores = np.repeat(self.trees.start[:, np.newaxis], len(points), axis=1)
            for tree, first in zip(self.trees.trees, self.trees.first, strict=True):
                found = _average_tree(tree, points, columns)
                scores[first : first + len(found)] += found
            return self._select(scores), None
        n_outputs, n_points = len(self._select(self.trees.start)), len(points)
        average = np.zeros((n_outputs, n_points))
        shape = (n_outputs, len(self.fractions), n_points)
        individual = np.empty(shape) if is_individual else None
        for rows, block in _read_dense(self.matrix):
            step = max(1, BLOCK_CELLS // block.size)
            for some in (slice(n, n + step) for n in range(0, n_points, step)):
                found = self._predict_block(block, points[some], columns)
                average[:, some] += found @ self.fractions[rows]
                if individual is not None:
                    individual[:, rows, some] = found.swapaxes(1, 2)
        return average, individual

    def _predict_block(self, block, points, columns):
        """Predict rows at some points; shape (n_outputs, n_points, n_rows)."""
        trees = self.trees
        table = np.tile(block, (len(points), 1))
        table[:, columns] = np.repeat(points, len(block), axis=0)
        n_threads = count_threads(trees.model.n_jobs, table.size * len(trees.trees))
        scores = trees.compute_scores(table, n_threads)
        if not self.is_raw:
            scores = trees.to_predictions(scores)
        return self._select(scores.T).reshape(-1, len(points), len(block))

    def _select(self, scores):
        """Leave out the first of two classes."""
        return scores[1:] if self.trees.is_classifier and len(scores) == 2 else scores

    def _make_axis(self, column):
        """Choose the grid of one column as scikit-learn does; levels as codes."""
        schema = self.schema.columns[column]
        if column in self.custom_values:
            return _code_values(schema, self.custom_values[column])
        values = self._read_values(column)
        distinct = np.unique(values)
        if schema.kind != NUMERIC:
            distinct = distinct[distinct >= 0]  # levels of training
        if len(distinct) == 0:
            raise ValueError(f"Column {schema.name!r} of X has no values for the grid.")
        if self.is_categorical[column] or len(distinct) < self.grid_resolution:
            return distinct
        low, high = _check_percentiles(self.percentiles)
        ends = mquantiles(values, prob=(low, high))
        if not ends[0] < ends[1]:
            raise ValueError(
                f"percentiles={self.percentiles!r} of column {schema.name!r} are equal "
                f"({ends[0]:g}). Use percentiles that are further apart."
            )
        return np.linspace(*ends, num=self.grid_resolution)

    def _read_values(self, column):
        """Return the present values of a column."""
        values = self.matrix[:, [column]]
        values = values.toarray() if sparse.issparse(values) else values
        return values[np.isfinite(values)].astype(np.float64)

    def find_deciles(self, column):
        """Compute the deciles of a numeric column, as values of the grid."""
        deciles = mquantiles(self._read_values(column), prob=np.arange(0.1, 1.0, 0.1))
        return _decode_values(self.schema.columns[column], np.asarray(deciles))


def _read_sum(estimator):
    """Read the trees of a model."""
    name = type(estimator).__name__
    try:
        trees = read_sum(estimator)
    except TypeError as error:
        raise TypeError(
            "estimator must be a tree, random forest, extra trees, bagging, random "
            "subspace or output perturbation ensemble of trees, AdaBoost of trees, or "
            f"gradient boosting model of sklearn_textbook; got {name}. "
            'sklearn.inspection.partial_dependence with method="brute" accepts all '
            "estimators."
        ) from error
    if trees.is_classifier and trees.n_outputs > 1:
        raise ValueError(
            "Partial dependence of classifiers requires a single output; got "
            f"{name} with {trees.n_outputs}. Fit a model for each output."
        )
    return trees


def _why_brute(trees, has_rows, has_weights, response):
    """Return why recursion is not possible, or None; check ``response_method``."""
    name = type(trees.model).__name__
    is_boosting = trees.link != "identity"
    is_vote = trees.link == "positive_fractions" or (is_boosting and trees.is_vote)
    if response != "auto" and not trees.is_classifier:
        raise ValueError(
            f'response_method must be "auto" for a regressor, got {response!r}.'
        )
    if response == "decision_function" and (is_vote or not is_boosting):
        raise ValueError(
            'response_method="decision_function" requires gradient boosting, whose '
            f"scores are sums over trees; got {name}."
        )
    if has_rows:
        return "for the predictions of single rows (kind)"
    if has_weights:
        return "with sample_weight"
    if response == "predict_proba" and is_boosting:
        return f"for the probabilities of {name}, which are not sums over trees"
    if is_vote:
        return f"for {name}, whose probabilities are not sums over trees"
    if any((tree.read_columns("kind")[0] == OBLIQUE).any() for tree in trees.trees):
        return f"for {name} with oblique tests, which depend on several columns"
    if any(len(tree.slopes) for tree in trees.trees):
        return f"for {name} with linear equations in its leaves"
    return None


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


def _read_dense(matrix):
    """Split a table into dense blocks of rows; yield their places and values."""
    n_rows, n_columns = matrix.shape
    matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix
    step = max(1, BLOCK_CELLS // n_columns)
    for rows in (slice(n, n + step) for n in range(0, n_rows, step)):
        block = matrix[rows]
        block = block.toarray() if sparse.issparse(block) else block
        yield rows, np.asarray(block, dtype=np.float64)


def _code_values(schema, values):
    """Return given values as numbers or codes of levels."""
    given = np.asarray(values, dtype=None if schema.kind == NUMERIC else object)
    if given.ndim != 1 or len(given) == 0:
        raise ValueError(
            f"custom_values of column {schema.name!r} must be a non-empty 1D array; "
            f"got shape {given.shape}."
        )
    if schema.kind == NUMERIC:
        if given.dtype.kind in "biuf":
            return given.astype(np.float64)
        return TableSchema((schema,)).read(given[:, np.newaxis])[:, 0]
    unknown = [value for value in given.tolist() if value not in schema.codes]
    if unknown:
        raise ValueError(
            f"custom_values of column {schema.name!r} must be levels seen in training, "
            f"{list(schema.levels)}; got {unknown[0]!r}."
        )
    return np.array([schema.codes[value] for value in given.tolist()], dtype=float)


def _decode_values(schema, codes):
    """Return numbers or codes of levels as the values of the column."""
    if schema.kind != NUMERIC:
        return np.array([schema.levels[int(code)] for code in codes], dtype=object)
    if schema.source == BOOLEAN and np.isin(codes, (0.0, 1.0)).all():
        return codes.astype(bool)
    if schema.source in (DATE, DURATION):
        dtype = "datetime64[us]" if schema.source == DATE else "timedelta64[us]"
        whole = np.where(np.isfinite(codes), np.round(codes * 1e6), np.nan)
        return whole.astype(dtype)  # NaN as NaT
    if schema.source == TIME and np.isfinite(codes).all():
        start = datetime.datetime(1970, 1, 1)
        moments = [start + datetime.timedelta(seconds=code) for code in codes.tolist()]
        return np.array([moment.time() for moment in moments], dtype=object)
    return codes


def _average_tree(tree, points, columns):
    """Partial dependence of one tree; shape (n_values, n_points)."""
    full = tree.compact() if tree.is_compact else tree  # a compact tree stays so
    nodes = full.nodes.copy()
    is_other = (nodes["kind"] != LEAF) & ~np.isin(nodes["feature"], columns)
    nodes["missing_branch"][is_other] = FRACTIONAL
    divided = tree.replace(
        nodes=nodes, statistics=full.statistics, surrogates=tree.surrogates[:0]
    )
    matrix = np.full((len(points), tree.n_features), np.nan)
    matrix[:, columns] = points
    if not np.isin(nodes["feature"], columns).any():
        matrix = matrix[:1]  # the same for all points
    averages = predict_statistics(divided, matrix)[:, :, 0].T
    return np.broadcast_to(averages, (len(averages), len(points)))
