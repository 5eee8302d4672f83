"""The trees of a model: itself, or the members of an ensemble."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import read_feature_names
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.grow.grown_tree import GrownTree


@dataclass(frozen=True)
class Member:
    """A tree of a model.

    Parameters
    ----------
    name : str
        Its name; empty if it is the model.
    estimator : estimator
        The fitted tree.
    weight : float or None
        Its weight in the ensemble.
    columns : sequence of int or None
        The columns of the model that it has; None for all.
    model : estimator or None
        The ensemble.
    """

    name: str
    estimator: object
    weight: float | None = None
    columns: object = None
    model: object = None

    def read(self, feature_names, class_names):
        """Read the tree with names of the columns and classes of the model."""
        if feature_names is not None and self.columns is not None:
            names = read_feature_names(feature_names, self.model.n_features_in_)
            feature_names = [names[column] for column in self.columns]
        if not self._has_classes_of_model():
            class_names = None
        fitted = read_fitted(self.estimator, feature_names, class_names)
        if fitted.tree.is_compact:
            # The records would stay in the memory of the model.
            fitted = replace(fitted, tree=fitted.tree.compact())
        return fitted

    def _has_classes_of_model(self):
        """Whether names of the classes of the model are those of the tree.

        Trees of boosting have none, those of output codes two.
        """
        tree = self.estimator.tree_
        if self.model is None or not tree.is_classifier:
            return tree.is_classifier
        n_classes = np.atleast_1d(getattr(self.model, "n_classes_", tree.n_classes))
        return np.array_equal(n_classes, tree.n_classes)

    @property
    def addend(self) -> float:
        """What is added to each class weight in predicted probabilities."""
        tree = self.estimator.tree_
        share_statistics = getattr(self.estimator, "_share_statistics", None)
        shown = tree if share_statistics is None else share_statistics()
        if shown is tree:
            return 0.0
        return float(shown.statistics.flat[0] - tree.statistics.flat[0])


def list_members(
    model, class_names: ArrayLike | None = None
) -> tuple[list[Member], int]:
    """List the trees of a model."""
    if not hasattr(model, "tree_") and hasattr(model, "fit"):
        check_is_fitted(model)
    estimators = getattr(model, "estimators_", None)
    if estimators is None or hasattr(model, "tree_"):
        read_fitted(model)  # raises the errors for anything else
        return [Member("", model)], 0
    places = list(_list_places(estimators))
    members = [
        _make_member(model, place, estimator, class_names)
        for place, estimator in places
        if isinstance(getattr(estimator, "tree_", None), GrownTree)
    ]
    if not members:
        kinds = sorted({type(estimator).__name__ for _, estimator in places})
        raise TypeError(
            f"The members of {type(model).__name__} must be trees of "
            f"sklearn_textbook.tree, got {', '.join(kinds) or 'none'}."
        )
    return members, len(places) - len(members)


def _list_places(estimators):
    """List members with their numbers, or numbers of their round and class."""
    if isinstance(estimators, np.ndarray) and estimators.ndim == 2:
        return np.ndenumerate(estimators)
    return (((number,), estimator) for number, estimator in enumerate(estimators))


def _make_member(model, place, estimator, class_names):
    """Describe the member at a place of ``estimators_``: a number, round and class."""
    name = f"tree {place[0]}"
    if len(place) == 2:
        classes = list(getattr(model, "classes_", ()))
        is_named = class_names is not None and class_names is not True
        names = list(class_names) if classes and is_named else classes
        if len(names) != len(classes):
            raise ValueError(
                f"class_names must have {len(classes)} names, one per class, got "
                f"{class_names!r}."
            )
        name = f"round {place[0]}"
        if len(names) > 2:
            name += f", {names[place[1]]}"
    weights = getattr(model, "estimator_weights_", None)
    columns = getattr(model, "estimators_features_", None)
    return Member(
        name,
        estimator,
        None if weights is None else float(weights[place[0]]),
        None if columns is None else columns[place[0]],
        model,
    )
