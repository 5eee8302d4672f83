"""Ensembles of trees as those of scikit-learn."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.costs import refuse_costs
from sklearn_textbook.ensemble.bagging.bagging import BaseBagging
from sklearn_textbook.ensemble.boosting.adaboost import BaseAdaBoost
from sklearn_textbook.ensemble.boosting.base_gradient_boosting import (
    BaseGradientBoosting,
)
from sklearn_textbook.ensemble.boosting.boosting_tree import BoostingTreeRegressor
from sklearn_textbook.ensemble.boosting.losses import (
    AbsoluteError,
    ExponentialLoss,
    HuberLoss,
    LogLoss,
    MultinomialLoss,
    QuantileLoss,
    SquaredError,
)
from sklearn_textbook.ensemble.forest.extra_trees import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
from sklearn_textbook.ensemble.forest.random_forest import BaseForest
from sklearn_textbook.ensemble.out_of_bag import ATTRIBUTES
from sklearn_textbook.tree import to_sklearn
from sklearn_textbook.tree.members import (
    add_columns,
    fit_on_codes,
    make_sklearn_tree,
    share_parameters,
)

#: Losses whose predictions follow from raw scores as in scikit-learn.
SHARED_LOSSES = (
    *(SquaredError, AbsoluteError, HuberLoss, QuantileLoss),
    *(LogLoss, ExponentialLoss, MultinomialLoss),
)
#: A step of gradient boosting that no sum with another one shows.
TINY = 1e-300
#: Attributes that both have: out-of-bag estimates, and those of the rounds.
COPIED = (*ATTRIBUTES, "train_score_", "oob_improvement_", "oob_scores_")


def require_convertible(model) -> None:
    """Raise an error for an ensemble that votes, or whose members are no trees."""
    check_is_fitted(model)
    refuse_costs(model)
    if getattr(model, "voting", "soft") == "hard":
        raise ValueError(
            f'{type(model).__name__} has voting="hard", but scikit-learn ensembles '
            "average the probabilities of their trees. Fit the model with "
            'voting="soft".'
        )
    if model._get_reader() is None:
        raise TypeError(
            f"to_sklearn requires {type(model).__name__} members that are "
            f"sklearn_textbook trees; got {type(model.estimators_[0]).__name__}."
        )


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


def fill(model, estimator, members, *, has_template: bool = False, **parameters):
    """Give a fitted ensemble the parameters, members, classes and columns of a model.

    If it has a template, that is the estimator of which the members are copies.
    """
    if has_template:
        usual = {**members[0].get_params(deep=False), "random_state": None}
        estimator.estimator_ = parameters["estimator"] = type(members[0])(**usual)
    share_parameters(model, estimator, n_estimators=len(members), **parameters)
    estimator.estimators_ = members
    if is_classifier(model):
        several = isinstance(model.classes_, list)
        estimator.classes_ = list(model.classes_) if several else model.classes_.copy()
    for name in COPIED:
        if hasattr(model, name):
            setattr(estimator, name, getattr(model, name))
    return add_columns(model, estimator, model._get_reader().schema_)


@to_sklearn.register
def convert_forest(model: BaseForest):
    """Make a random forest or extra trees of scikit-learn."""
    from sklearn import ensemble, tree

    require_convertible(model)
    is_extra = isinstance(model, ExtraTreesClassifier | ExtraTreesRegressor)
    task = "Classifier" if is_classifier(model) else "Regressor"
    forest = getattr(ensemble, ("ExtraTrees" if is_extra else "RandomForest") + task)
    kind = getattr(tree, ("ExtraTree" if is_extra else "DecisionTree") + task)
    n_classes = np.atleast_1d(model.n_classes_) if is_classifier(model) else None
    members = convert_members(model, kind, np.float64)
    estimator = fit_on_codes(
        forest(n_estimators=1), model.n_features_in_, n_classes, model.n_outputs_
    )
    return fill(model, estimator, members, criterion=members[0].criterion)


@to_sklearn.register
def convert_bagging(model: BaseBagging):
    """Make bagging of scikit-learn, also from random subspaces."""
    from sklearn import ensemble, tree

    require_convertible(model)
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
    # Random subspaces draw columns alone.
    draw = {} if hasattr(model, "bootstrap") else {"bootstrap": False}
    if getattr(model, "max_samples", None) is None:
        # Before 1.8, scikit-learn has 1.0 for as many rows as there are.
        draw["max_samples"] = bagging().max_samples
    estimator.estimators_features_ = [
        np.arange(model.n_features_in_) if columns is None else np.asarray(columns)
        for columns in model._list_columns()
    ]
    return fill(model, estimator, members, has_template=True, **draw)


@to_sklearn.register
def convert_adaboost(model: BaseAdaBoost):
    """Make AdaBoost of scikit-learn, with the same votes."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    require_convertible(model)
    total = model.estimator_weights_.sum()
    if not 0.0 < total < np.inf:
        raise ValueError(
            "The member weights (estimator_weights_) must have a positive, finite sum, "
            f"by which scikit-learn's AdaBoost divides; got {total}."
        )
    kind = DecisionTreeClassifier
    members = [make_sklearn_tree(member, kind) for member in model.estimators_]
    estimator = AdaBoostClassifier(kind(max_depth=1), n_estimators=1)
    fit_on_codes(estimator, model.n_features_in_, [model.n_classes_])
    estimator.estimator_weights_ = model.estimator_weights_.copy()
    estimator.estimator_errors_ = model.estimator_errors_.copy()
    return fill(model, estimator, members, has_template=True)


@to_sklearn.register
def convert_gradient_boosting(model: BaseGradientBoosting):
    """Make gradient boosting of scikit-learn."""
    check_is_fitted(model)
    refuse_costs(model)
    if type(model.loss_) not in SHARED_LOSSES:
        names = sorted({loss.name for loss in SHARED_LOSSES})
        raise ValueError(
            f"The loss {type(model.loss_).__name__} has no equivalent in "
            f"scikit-learn's gradient boosting; supported are {', '.join(names)}."
        )
    if model.init_ is not None:
        raise ValueError(
            "Only models with init=None or init='zero' can be converted; got "
            f"init={model.init!r}."
        )
    rate = float(model.learning_rate)
    # Leaves of these trees are steps already multiplied by the rate.
    scale = 1.0 / rate if rate > 0.0 else 1.0
    # Of two classes scikit-learn predicts the second at a score of 0, models of this
    # package the first: such a step becomes one too small to change any other score.
    zero = -TINY if is_classifier(model) and model.n_classes_ == 2 else 0.0

    def adapt(values):
        return np.where(values == 0.0, zero, values * scale)

    trees, loss = model.estimators_, model.loss_
    estimator = fit_boosting(model, trees, loss.name, model.init, adapt)
    start = model._start_score
    if model.init == "zero":
        pass
    elif not is_classifier(model):
        estimator.init_.constant_ = start.reshape(1, 1).copy()
    elif len(start) > 1:
        estimator.init_.class_prior_ = softmax(start)
    else:
        odds = start[0] * loss._unit
        estimator.init_.class_prior_ = expit(np.array([-odds, odds]))
    return fill(model, estimator, estimator.estimators_, loss=loss.name)


@to_sklearn.register
def convert_boosting_tree(model: BoostingTreeRegressor):
    """Make gradient boosting of scikit-learn that starts from 0."""
    check_is_fitted(model)
    rounds = np.array(model.estimators_, dtype=object).reshape(-1, 1)
    estimator = fit_boosting(model, rounds, "squared_error", "zero")
    trees = estimator.estimators_
    return fill(model, estimator, trees, loss="squared_error", init="zero")


def fit_boosting(model, rounds, loss, init, adapt=None):
    """Fit gradient boosting of scikit-learn, and give it an array of members."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
    from sklearn.tree import DecisionTreeRegressor

    trees = np.empty(rounds.shape, dtype=object)
    for place, member in np.ndenumerate(rounds):
        trees[place] = make_sklearn_tree(member, DecisionTreeRegressor, adapt=adapt)
    classes = [model.n_classes_] if is_classifier(model) else None
    kind = GradientBoostingRegressor if classes is None else GradientBoostingClassifier
    estimator = kind(loss=loss, n_estimators=1, init=init)
    fit_on_codes(estimator, model.n_features_in_, classes)
    estimator.estimators_, estimator.n_estimators_ = trees, len(trees)
    estimator.max_features_ = trees[0, 0].max_features_
    vars(estimator).pop("train_score_", None)
    return estimator
