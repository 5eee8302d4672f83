"""A fitted tree or ensemble of trees as a sum over trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.ensemble.bagging.base_bagging import BaseBagging
from sklearn_textbook.ensemble.boosting.base_adaboost import BaseAdaBoost
from sklearn_textbook.ensemble.boosting.base_gradient_boosting import (
    BaseGradientBoosting,
)
from sklearn_textbook.ensemble.boosting.boosting_tree import BoostingTreeRegressor
from sklearn_textbook.ensemble.boosting.class_losses import ExponentialLoss, LogLoss
from sklearn_textbook.ensemble.boosting.losses import (
    MultinomialLoss,
    SquaredError,
    TweedieLoss,
)
from sklearn_textbook.ensemble.forest.base_forest import BaseForest
from sklearn_textbook.ensemble.output_perturbation.base import BaseOutputPerturbation
from sklearn_textbook.ensemble.output_perturbation.output_smearing import (
    OutputSmearingClassifier,
)
from sklearn_textbook.tree.encode.schema import TableSchema
from sklearn_textbook.tree.grow.layout import SIDE_DTYPES, TREE_UNDEFINED
from sklearn_textbook.tree.members import (
    add_predictions,
    choose_member_classes,
    get_shown_tree,
    is_tree,
    read_matrix,
)


@dataclass(frozen=True, eq=False)
class TreeSum:
    r"""The raw scores of a model as a sum over trees.

    .. math:: s_k(x) = b_k + \sum_{t: k \in K_t} v_{tk}(x)

    where :math:`v_t(x)` is the value of the node in which x ends, or the weighted mean
    over several nodes if x is divided.

    Parameters
    ----------
    model : estimator
        The fitted model.
    trees : tuple of GrownTree
        Trees over all columns, with one output for each score to which they contribute;
        node numbers are those of the trees of the model. ``statistics[:, :, 0]`` are
        the values.
    first : ndarray of int, shape (n_trees,)
        First score to which each tree contributes; the others follow.
    start : ndarray of float64, shape (n_scores,)
        Scores before the first tree.
    schema : TableSchema
        The columns.
    feature_names : list of str
        One name per column.
    classes : list of ndarray
        Class labels of each output; empty for regression.
    n_outputs : int
        Number of outputs; the scores of each are consecutive.
    link : {"identity", "expit", "softmax", "exp", "positive_shares"}
        How scores are converted to predictions: values or class probabilities as they
        are; for a single score, the probability of the second class, expit(scale * s);
        softmax(scale * s); exp(s); or max(s, 0) divided by the sum (if that is 0, the
        largest score is chosen).
    scale : float
        Factor of the scores in ``link``.
    is_vote : bool
        Whether trees vote for a class instead of adding probabilities.
    class_tolerance : float
        A class is predicted instead of an earlier one only if its score is larger by
        more than this value.
    reader : estimator
        Estimator that reads new tables.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import RandomForestClassifier
    >>> from sklearn_textbook.exchange import read_trees
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> total = read_trees(forest)
    >>> len(total.trees), total.n_scores, total.link
    (10, 3, 'identity')
    >>> scores = total.compute_scores(total.read(X))
    >>> bool(abs(total.to_predictions(scores) - forest.predict_proba(X)).max() < 1e-12)
    True
    """

    model: object
    trees: tuple
    first: np.ndarray
    start: np.ndarray
    schema: TableSchema
    feature_names: list
    classes: list
    n_outputs: int = 1
    link: str = "identity"
    scale: float = 1.0
    is_vote: bool = False
    class_tolerance: float = 0.0
    reader: object = field(default=None, repr=False)

    @property
    def n_scores(self):
        """Number of scores of a row."""
        return len(self.start)

    @property
    def is_classifier(self):
        """Whether the model predicts classes."""
        return bool(self.classes)

    def read(self, X):
        """Read a new table as numbers and level codes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            The table.

        Returns
        -------
        matrix : ndarray of float64 or float32, or CSR array, shape (n_rows, n_features)
            Missing values are NaN; levels not seen in training are -1.
        """
        return read_matrix(self.model, X, self.reader)

    def compute_scores(self, matrix, n_threads=1):
        """Compute the scores of rows.

        Parameters
        ----------
        matrix : array of shape (n_rows, n_features)
            The table as returned by :meth:`read`.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        scores : ndarray of float64, shape (n_rows, n_scores)
            The scores.
        """
        scores = np.repeat(self.start[np.newaxis], matrix.shape[0], axis=0)
        names = self.schema.names
        starts = np.flatnonzero(np.diff(self.first, prepend=-1))
        for begin, end in zip(starts, [*starts[1:], len(self.trees)], strict=True):
            group = list(self.trees[begin:end])
            width, first = group[0].n_outputs, self.first[begin]
            out = np.zeros((matrix.shape[0], width, 1))
            add_predictions(group, matrix, out, n_threads, names)
            scores[:, first : first + width] += out[:, :, 0]
        return scores

    def to_predictions(self, scores):
        """Convert scores to class probabilities or values.

        Parameters
        ----------
        scores : ndarray of float64, shape (n_rows, n_scores)
            The scores, as returned by :meth:`compute_scores`.

        Returns
        -------
        predictions : ndarray of float64, shape (n_rows, n_values)
            Values, or class probabilities; those of several outputs follow one another.
        """
        if self.link == "identity":
            return scores
        if self.link == "exp":
            return np.exp(scores)
        if self.link == "softmax":
            return softmax(self.scale * scores, axis=1)
        if self.link == "expit":
            return expit(self.scale * np.concatenate([-scores, scores], axis=1))
        kept = np.maximum(scores, 0.0)
        is_low = np.flatnonzero(~(kept.sum(axis=1) > 0))
        kept[is_low, scores[is_low].argmax(axis=1)] = 1.0
        return kept / kept.sum(axis=1, keepdims=True)


def read_trees(model):
    """Read a fitted model as a sum over trees.

    Parameters
    ----------
    model : estimator
        A fitted tree, forest, bagging or random subspace ensemble of trees, output
        perturbation, AdaBoost of trees, boosting tree or gradient boosting model of
        this package.

    Returns
    -------
    TreeSum
        The trees, the columns, and how predictions are derived from the sums.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another kind, or its members are not trees of this package.
    ValueError
        If it starts from the predictions of another estimator (``init``).

    Examples
    --------
    >>> from sklearn_textbook.exchange import read_trees
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> model = CARTRegressor().fit([["red"], ["blue"]], [1.0, 3.0])
    >>> total = read_trees(model)
    >>> total.read([["blue"], ["green"]])
    array([[ 0.],
           [-1.]])
    """
    if hasattr(model, "fit") and not isinstance(model, type):
        check_is_fitted(model)
    return _read(model)


def is_tree_sum(model):
    """Whether a model is of a kind that `read_trees` reads."""
    return is_tree(model) or _read.dispatch(type(model)) is not _read.dispatch(object)


@singledispatch
def _read(model):
    if not is_tree(model):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise TypeError(
            "model must be a fitted tree or ensemble of trees of sklearn_textbook, got "
            f"{name}."
        )
    shown = get_shown_tree(model)
    values = shown.value if shown.is_classifier else shown.statistics
    tree = make_value_tree(model.tree_, values.reshape(len(values), -1))
    return make_sum(
        model,
        [tree],
        n_outputs=shown.n_outputs,
        class_tolerance=getattr(model, "_class_tolerance", 0.0),
        reader=model,
    )


def make_value_tree(tree, values, columns=None, n_features=None, n_levels=None):
    """Make a tree that predicts other values.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    values : ndarray of float64, shape (node_count, n_values)
        What a row that ends in a node adds to the scores.
    columns : ndarray of int or None, default=None
        The columns of the tree, if it has only some of those of the table.
    n_features : int or None, default=None
        Number of columns of the table.
    n_levels : ndarray of int or None, default=None
        Their numbers of levels.

    Returns
    -------
    GrownTree
    """
    others = {}
    if columns is not None:
        others = {"n_features": n_features, "n_levels": n_levels}
        for name in ("nodes", *SIDE_DTYPES):
            records = getattr(tree, name).copy()
            is_inner = records["feature"] != TREE_UNDEFINED
            records["feature"][is_inner] = np.asarray(columns)[
                records["feature"][is_inner]
            ]
            others[name] = records
    values = np.ascontiguousarray(values, dtype=np.float64)
    return tree.replace(
        statistics=values[:, :, np.newaxis],
        n_classes=np.ones(values.shape[1], dtype=np.int64),
        is_classifier=False,
        **others,
    )


def make_sum(model, trees, *, reader, first=None, start=None, **others):
    """Make a :class:`TreeSum` with the names of the model's columns and classes."""
    first = np.zeros(len(trees), dtype=np.int64) if first is None else first
    if start is None:
        start = np.zeros(trees[0].n_outputs)
    schema = reader.schema_
    classes = []
    if is_classifier(model):
        classes = model.classes_
        several = isinstance(classes, list)
        classes = list(classes) if several else [classes]
    return TreeSum(
        model,
        tuple(trees),
        np.asarray(first),
        np.asarray(start, dtype=np.float64),
        schema,
        [str(name) for name in schema.names],
        classes,
        reader=reader,
        **others,
    )


def add_members(model, weights, votes=False):
    """List trees that add up the predictions, or votes, of an ensemble's members."""
    if not all(map(is_tree, model.estimators_)):
        raise TypeError(
            f"The members of {type(model).__name__} must be trees of sklearn_textbook, "
            f"got {type(model.estimators_[0]).__name__}."
        )
    schema = model._get_reader().schema_
    n_levels = np.array([len(column.levels or ()) for column in schema.columns])
    trees = []
    for member, columns, weight in zip(
        model.estimators_, model._list_columns(), weights, strict=True
    ):
        shown = get_shown_tree(member)
        is_compact = shown.is_compact  # the tree of the member stays so
        shown = shown.compact() if is_compact else shown
        values = shown.value if shown.is_classifier else shown.statistics
        if votes:
            best = choose_member_classes(member, values)
            values = np.zeros_like(values)
            np.put_along_axis(values, best[:, :, np.newaxis], 1.0, axis=2)
        values = weight * values.reshape(len(values), -1)
        tree = make_value_tree(shown, values, columns, len(schema.columns), n_levels)
        trees.append(tree.compact() if is_compact else tree)
    return trees


def _average(model, **others):
    """Read the mean of members."""
    votes = is_classifier(model) and getattr(model, "voting", "soft") == "hard"
    n_members = len(model.estimators_)
    trees = add_members(model, np.full(n_members, 1.0 / n_members), votes)
    reader = model._get_reader()
    return make_sum(model, trees, reader=reader, is_vote=votes, **others)


@_read.register
def _read_forest(model: BaseForest):
    return _average(model, n_outputs=model.n_outputs_)


@_read.register
def _read_bagging(model: BaseBagging):
    n_outputs = 1 if is_classifier(model) else model._n_outputs
    return _average(model, n_outputs=n_outputs)


@_read.register
def _read_perturbed(model: BaseOutputPerturbation):
    is_smeared = isinstance(model, OutputSmearingClassifier)
    return _average(model, link="positive_shares" if is_smeared else "identity")


@_read.register
def _read_adaboost(model: BaseAdaBoost):
    trees = add_members(model, model.estimator_weights_, votes=True)
    reader = model._get_reader()
    return make_sum(
        model, trees, reader=reader, link="softmax", scale=2.0, is_vote=True
    )


@_read.register
def _read_boosting_tree(model: BoostingTreeRegressor):
    rates = np.full(len(model.estimators_), float(model.learning_rate))
    return make_sum(model, add_members(model, rates), reader=model._get_reader())


@_read.register
def _read_gradient_boosting(model: BaseGradientBoosting):
    if model.init_ is not None:
        raise ValueError(
            "Only models with init=None or init='zero' are sums of trees; got "
            f"init={model.init!r}."
        )
    loss = model.loss_
    link, scale = "identity", 1.0
    if isinstance(loss, LogLoss):
        link, scale = "expit", 2.0 if isinstance(loss, ExponentialLoss) else 1.0
    elif isinstance(loss, MultinomialLoss):
        link = "softmax"
    elif isinstance(loss, TweedieLoss):
        link = "exp"
    elif type(loss)._predict is not SquaredError._predict:
        raise ValueError(
            f"The loss {type(loss).__name__} defines its own conversion of scores to "
            "predictions, which cannot be exported."
        )
    n_scores = model.estimators_.shape[1]
    trees = [m.tree_ for m in model.estimators_.T.ravel()]
    trees = [make_value_tree(tree, tree.statistics[:, :, 0]) for tree in trees]
    first = np.repeat(np.arange(n_scores), len(model.estimators_))
    return make_sum(
        model,
        trees,
        reader=model._get_reader(),
        first=first,
        start=model._start_score,
        link=link,
        scale=scale,
    )
