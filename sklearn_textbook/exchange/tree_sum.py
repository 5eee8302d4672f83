"""A fitted tree or ensemble of trees as a sum over trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.encode.schema import TableSchema
from sklearn_textbook.tree.grow.grown_tree import (
    GrownTree,
    refuse_slopes,
)
from sklearn_textbook.tree.grow.layout import SIDE_DTYPES, TREE_UNDEFINED
from sklearn_textbook.tree.members import (
    MemberSum,
    add_predictions,
    choose_member_classes,
    get_shown_tree,
    is_tree,
    read_matrix,
)
from sklearn_textbook.tree.route import multiply_equations


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
    link : {"identity", "expit", "softmax", "exp", "positive_fractions"}
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
    def n_scores(self) -> int:
        """Number of scores of a row."""
        return len(self.start)

    @property
    def is_classifier(self) -> bool:
        """Whether the model predicts classes."""
        return bool(self.classes)

    @property
    def _is_one_tree(self) -> bool:
        """Whether the model is a tree, not an ensemble."""
        return self.reader is self.model

    def read(self, X: MatrixLike) -> np.ndarray | Any:
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

    def compute_scores(self, matrix: np.ndarray, n_threads: int = 1) -> np.ndarray:
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

    def to_predictions(self, scores: np.ndarray) -> np.ndarray:
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


def read_trees(model: Any) -> TreeSum:
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
        If it starts from the predictions of another estimator (``init``), or its trees
        have linear equations in their leaves.

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
    total = read_sum(model)
    refuse_slopes(total.trees, "This function")
    return total


def read_sum(model: Any, is_weighed: bool = True) -> TreeSum:
    """Read a model, whose trees may have linear equations in their leaves.

    Without ``is_weighed``, trees are not multiplied by their weights in the sum.
    """
    if hasattr(model, "fit") and not isinstance(model, type):
        check_is_fitted(model)
    if not is_tree_sum(model):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise TypeError(
            "model must be a fitted tree or ensemble of trees of sklearn_textbook, got "
            f"{name}."
        )
    described = model._describe_sum()
    members, reader = described.members, described.reader
    if not (is_tree(reader) and all(map(is_tree, members))):
        raise TypeError(
            f"The members of {type(model).__name__} must be trees of sklearn_textbook, "
            f"got {type(members[0]).__name__}."
        )
    weights = list_weights(described)
    if described.is_mean:
        weights = np.full(len(members), 1.0 / len(members))
    if not is_weighed:
        weights = np.ones(len(members))
    trees = [
        _make_value_tree(member, weight, described.is_vote, columns, reader.schema_)
        for member, weight, columns in zip(
            members, weights, described.columns, strict=True
        )
    ]
    first, start = described.first, described.start
    return make_total(
        model,
        reader.schema_,
        np.zeros(trees[0].n_outputs) if start is None else start,
        tuple(trees),
        np.zeros(len(trees)) if first is None else first,
        link=described.link,
        scale=described.scale,
        is_vote=described.is_vote,
        class_tolerance=0.0 if described.is_vote else described.tolerance,
        reader=reader,
    )


def is_tree_sum(model: object) -> bool:
    """Whether a model is of a kind that `read_trees` reads."""
    return hasattr(model, "_describe_sum") and not isinstance(model, type)


def make_total(model, schema, start, trees=(), first=(), classes=None, **others):
    """Make a :class:`TreeSum` with the names of the model's columns and classes."""
    if classes is None:
        classes = model.classes_ if is_classifier(model) else []
        classes = list(classes) if isinstance(classes, list) else [classes]
    others.setdefault("n_outputs", len(classes) or len(start))
    first, names = np.asarray(first, dtype=np.int64), list(map(str, schema.names))
    start = np.asarray(start, dtype=np.float64)
    return TreeSum(model, trees, first, start, schema, names, classes, **others)


def list_weights(described: MemberSum) -> np.ndarray:
    """List what the values of members are multiplied by, but for that of a mean."""
    weights = described.weights
    return np.ones(len(described.members)) if weights is None else weights


def read_values(tree: GrownTree) -> np.ndarray:
    """Read the probabilities or values of all nodes; shape (node_count, n_values)."""
    tree = tree.compact() if tree.is_compact else tree  # it stays so
    values = tree.value if tree.is_classifier else tree.statistics
    return values.reshape(len(values), -1)


def _make_value_tree(member, weight, is_vote, columns, schema):
    """Make the tree of what a member adds to the scores, over all columns."""
    shown = get_shown_tree(member)
    tree = shown.compact() if shown.is_compact else shown
    values = read_values(shown)
    if is_vote:
        fractions = values.reshape(len(values), shown.n_outputs, -1)
        best = choose_member_classes(member, fractions)
        values = np.zeros_like(fractions)
        np.put_along_axis(values, best[:, :, np.newaxis], 1.0, axis=2)
        values = values.reshape(len(values), -1)
    others = {}
    if columns is not None:
        others = {"n_features": len(schema.columns), "n_levels": schema.n_levels}
        for name in ("nodes", *SIDE_DTYPES):
            records = getattr(tree, name).copy()
            is_inner = records["feature"] != TREE_UNDEFINED
            features = np.asarray(columns)[records["feature"][is_inner]]
            records["feature"][is_inner] = features
            others[name] = records
    made = tree.replace(
        statistics=np.ascontiguousarray(weight * values)[:, :, np.newaxis],
        n_classes=np.ones(values.shape[1], dtype=np.int64),
        is_classifier=False,
        **others,
    )
    if len(made.slopes):
        made = multiply_equations(made, weight)
    return made.compact() if shown.is_compact else made
