"""The parts of a fitted estimator that the explanations use, read and checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.costs import choose_classes, get_costs
from sklearn_textbook._contract.parameters import read_feature_names
from sklearn_textbook.tree.encode.schema import TableSchema
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.route import pick_classes
from sklearn_textbook.tree.rules import RuleList


@dataclass(frozen=True)
class FittedTree:
    """A grown tree with the names of its columns and classes.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    schema : TableSchema
        Its table's columns and their levels.
    feature_names : list of str
        One name per column.
    classes : list of ndarray
        The class labels of each output; empty for regression.
    class_names : list of list of str
        The names of the classes of each output; empty for regression.
    n_missing : ndarray of int or None
        Missing values of each column in training, if the estimator knows them.
    class_tolerance : float
        A class is predicted instead of an earlier one if its proportion is larger by
        more.
    costs : ndarray of float64, shape (n_classes, n_classes), or None
        Costs of errors, if the class of least cost is predicted.
    neighbours : ndarray of NEIGHBOUR_DTYPE or None
        The training values next to the thresholds, if the estimator knows them.
    """

    tree: GrownTree
    schema: TableSchema
    feature_names: list
    classes: list
    class_names: list
    n_missing: np.ndarray | None = None
    class_tolerance: float = 0.0
    costs: np.ndarray | None = None
    neighbours: np.ndarray | None = None

    #: Whether the rules are an ordered list, not those of the leaves of a tree.
    is_list: ClassVar[bool] = False

    @property
    def is_single(self):
        """Whether there is one output."""
        return self.tree.n_outputs == 1

    @property
    def statistics(self):
        """Class weights or values of every place where rows end, here of every node."""
        return self.tree.statistics

    @property
    def total_weight(self) -> float:
        """Weight of the training rows."""
        return float(self.tree.nodes["weight"][0])

    def class_fractions(self, place):
        """Class proportions in a place; shape (n_outputs, max_n_classes)."""
        return self.tree.compute_value([place])[0]

    @cached_property
    def best(self):
        """Index of the predicted class in every place, per output."""
        outputs = np.moveaxis(self.tree.value, 1, 0)
        if self.costs is not None:
            best = choose_classes(outputs[0], self.costs, self.class_tolerance)
            return best[:, np.newaxis]
        return np.stack([pick_classes(o, self.class_tolerance) for o in outputs], 1)

    def predicted(self, place):
        """List the class labels or values that a place predicts, one per output."""
        if not self.tree.is_classifier:
            return self.statistics[place][:, 0].tolist()
        return [
            np.asarray(classes).tolist()[best]
            for classes, best in zip(self.classes, self.best[place], strict=True)
        ]

    def had_missing(self, feature):
        """Return whether a column is known to have had missing values in training."""
        return self.n_missing is not None and bool(self.n_missing[feature])


def read_fitted(
    estimator,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
) -> FittedTree:
    """Read the tree of a fitted estimator with the names of its columns and classes."""
    tree = getattr(estimator, "tree_", None)
    if tree is None and hasattr(estimator, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
    if isinstance(getattr(estimator, "rule_list_", None), RuleList):
        raise TypeError(
            f"estimator must be a fitted tree, got {type(estimator).__name__}, which "
            "is a list of rules. Use export_rules, or its tree_estimator_, the tree "
            "from which the rules are derived."
        )
    if not isinstance(tree, GrownTree):
        raise TypeError(
            f"estimator must be a fitted tree of sklearn_textbook.tree, got "
            f"{type(estimator).__name__}. For scikit-learn trees, use the functions of "
            "the same names in sklearn.tree."
        )
    classes = getattr(estimator, "classes_", None) if tree.is_classifier else None
    fitted = join_names(tree, estimator.schema_, classes, feature_names, class_names)
    return replace(
        fitted,
        n_missing=getattr(estimator, "n_missing_", None),
        class_tolerance=getattr(estimator, "_class_tolerance", 0.0),
        costs=get_costs(estimator) if tree.is_classifier else None,
        neighbours=getattr(estimator, "_neighbours", None),
    )


def join_names(tree, schema, classes, feature_names=None, class_names=None):
    """Make a :class:`FittedTree` from its parts; see :func:`read_fitted`."""
    if feature_names is None:
        feature_names = schema.names
    feature_names = read_feature_names(feature_names, tree.n_features)
    if not tree.is_classifier:
        return FittedTree(tree, schema, feature_names, [], [])
    classes = _per_output(classes, tree.n_outputs)
    if class_names is None or class_names is True:
        labels = classes
    else:
        labels = _per_output(class_names, tree.n_outputs)
    if len(labels) != tree.n_outputs:
        raise ValueError(
            f"class_names must have one list of names for each of the "
            f"{tree.n_outputs} outputs, got {len(labels)}."
        )
    class_names = [
        _name_classes(names, n_classes)
        for names, n_classes in zip(labels, tree.n_classes.tolist(), strict=True)
    ]
    return FittedTree(tree, schema, feature_names, classes, class_names)


def _per_output(labels, n_outputs):
    """Return labels as a list with one entry per output."""
    return [labels] if n_outputs == 1 else list(labels)


def _name_classes(names, n_classes):
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    if not is_list or len(list(names)) != n_classes:
        raise ValueError(
            f"class_names must have {n_classes} names, one per class, got {names!r}."
        )
    return [word(name) for name in np.asarray(names, dtype=object).tolist()]


def word(value):
    """Format a label or level on one line; booleans as true and false."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
