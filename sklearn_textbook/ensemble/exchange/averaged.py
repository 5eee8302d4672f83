"""Forests and bagging as those of scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.ensemble.bagging.base_bagging import BaseBagging
from sklearn_textbook.ensemble.forest.base_forest import BaseForest
from sklearn_textbook.ensemble.forest.extra_trees import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
from sklearn_textbook.ensemble.out_of_bag import ATTRIBUTES
from sklearn_textbook.tree import to_sklearn
from sklearn_textbook.tree.members import (
    add_columns,
    fit_on_codes,
    make_sklearn_tree,
    share_parameters,
)


def require_means(model):
    """Raise ValueError for an ensemble whose members vote."""
    if getattr(model, "voting", "soft") == "hard":
        raise ValueError(
            f'{type(model).__name__} has voting="hard", but scikit-learn ensembles '
            "average the probabilities of their trees. Fit the model with "
            'voting="soft".'
        )


def require_trees(model):
    """Raise TypeError for an ensemble of which the members are other estimators."""
    if model._reader is None:
        raise TypeError(
            f"to_sklearn requires {type(model).__name__} members that are "
            f"sklearn_textbook trees; got {type(model.estimators_[0]).__name__}."
        )


def make_template(member):
    """Make the estimator of which members are copies, not fitted."""
    return type(member)(**{**member.get_params(deep=False), "random_state": None})


def convert_members(model, kind, label_type):
    """Make the members of an ensemble, which scikit-learn fits to class numbers."""
    members = []
    for member in model.estimators_:
        labels = None
        if is_classifier(model):
            n_classes = np.atleast_1d(member.n_classes_)
            labels = [np.arange(number, dtype=label_type) for number in n_classes]
        members.append(make_sklearn_tree(member, kind, labels))
    return members


def copy_out_of_bag(model, estimator):
    """Copy the out-of-bag estimates."""
    for name in ATTRIBUTES:
        if hasattr(model, name):
            setattr(estimator, name, getattr(model, name))


@to_sklearn.register
def convert_forest(model: BaseForest):
    """Make a random forest or extra trees of scikit-learn."""
    from sklearn import ensemble, tree

    check_is_fitted(model)
    require_means(model)
    is_extra = isinstance(model, ExtraTreesClassifier | ExtraTreesRegressor)
    task = "Classifier" if is_classifier(model) else "Regressor"
    forest = getattr(ensemble, ("ExtraTrees" if is_extra else "RandomForest") + task)
    kind = getattr(tree, ("ExtraTree" if is_extra else "DecisionTree") + task)
    n_classes = np.atleast_1d(model.n_classes_) if is_classifier(model) else None
    members = convert_members(model, kind, np.float64)
    estimator = fit_on_codes(
        forest(n_estimators=1), model.n_features_in_, n_classes, model.n_outputs_
    )
    share_parameters(
        model,
        estimator,
        n_estimators=len(members),
        criterion=members[0].criterion,
    )
    estimator.estimators_ = members
    if is_classifier(model):
        several = model.n_outputs_ > 1
        estimator.classes_ = list(model.classes_) if several else model.classes_.copy()
    copy_out_of_bag(model, estimator)
    return add_columns(model, estimator, model._get_reader().schema_)


@to_sklearn.register
def convert_bagging(model: BaseBagging):
    """Make bagging of scikit-learn, also from random subspaces."""
    from sklearn import ensemble, tree

    check_is_fitted(model)
    require_means(model)
    require_trees(model)
    task = "Classifier" if is_classifier(model) else "Regressor"
    kind = getattr(tree, "DecisionTree" + task)
    members = convert_members(model, kind, np.int64)
    n_classes = [model.n_classes_] if is_classifier(model) else None
    bagging = getattr(ensemble, "Bagging" + task)
    estimator = fit_on_codes(
        bagging(kind(), n_estimators=1),
        model.n_features_in_,
        n_classes,
        model._n_outputs,
    )
    template = make_template(members[0])
    # Random subspaces draw columns alone.
    draw = {} if hasattr(model, "bootstrap") else {"bootstrap": False}
    if getattr(model, "max_samples", None) is None:
        # Before 1.8, scikit-learn has 1.0 for as many rows as there are.
        draw["max_samples"] = bagging().max_samples
    share_parameters(
        model, estimator, estimator=template, n_estimators=len(members), **draw
    )
    estimator.estimator_, estimator.estimators_ = template, members
    estimator.estimators_features_ = [
        np.arange(model.n_features_in_) if columns is None else np.asarray(columns)
        for columns in model._list_columns()
    ]
    if is_classifier(model):
        estimator.classes_ = model.classes_.copy()
    copy_out_of_bag(model, estimator)
    return add_columns(model, estimator, model._get_reader().schema_)
