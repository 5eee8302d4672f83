"""AdaBoost and gradient boosting as those of scikit-learn."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.ensemble.boosting.base_adaboost import BaseAdaBoost
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
from sklearn_textbook.ensemble.exchange.averaged import make_template, require_trees
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
HISTORY = ("train_score_", "oob_improvement_", "oob_scores_", "oob_score_")


@to_sklearn.register
def convert_adaboost(model: BaseAdaBoost):
    """Make AdaBoost of scikit-learn, with the same votes."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    check_is_fitted(model)
    require_trees(model)
    total = model.estimator_weights_.sum()
    if not 0.0 < total < np.inf:
        raise ValueError(
            "The member weights (estimator_weights_) must have a positive, finite sum, "
            f"by which scikit-learn's AdaBoost divides; got {total}."
        )
    kind = DecisionTreeClassifier
    members = [make_sklearn_tree(member, kind) for member in model.estimators_]
    template = make_template(members[0])
    estimator = AdaBoostClassifier(kind(max_depth=1), n_estimators=1)
    fit_on_codes(estimator, model.n_features_in_, [model.n_classes_])
    share_parameters(model, estimator, estimator=template, n_estimators=len(members))
    estimator.estimator_, estimator.estimators_ = template, members
    estimator.classes_ = model.classes_.copy()
    estimator.estimator_weights_ = model.estimator_weights_.copy()
    estimator.estimator_errors_ = model.estimator_errors_.copy()
    return add_columns(model, estimator, model._get_reader().schema_)


@to_sklearn.register
def convert_gradient_boosting(model: BaseGradientBoosting):
    """Make gradient boosting of scikit-learn."""
    check_is_fitted(model)
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

    name = model.loss_.name
    estimator = fill_boosting(model, model.estimators_, name, adapt)
    start = model._start_score
    if model.init == "zero":
        pass
    elif not is_classifier(model):
        estimator.init_.constant_ = start.reshape(1, 1).copy()
    elif len(start) > 1:
        estimator.init_.class_prior_ = softmax(start)
    else:
        odds = start[0] * model.loss_._unit
        estimator.init_.class_prior_ = expit(np.array([-odds, odds]))
    return add_columns(model, estimator, model._get_reader().schema_)


@to_sklearn.register
def convert_boosting_tree(model: BoostingTreeRegressor):
    """Make gradient boosting of scikit-learn that starts from 0."""
    check_is_fitted(model)
    rounds = np.array(model.estimators_, dtype=object).reshape(-1, 1)
    estimator = fill_boosting(model, rounds, "squared_error", init="zero")
    return add_columns(model, estimator, model._get_reader().schema_)


def fill_boosting(model, rounds, loss, adapt=None, **others):
    """Make gradient boosting of scikit-learn from an array of rounds of members."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
    from sklearn.tree import DecisionTreeRegressor

    trees = np.empty(rounds.shape, dtype=object)
    for place, member in np.ndenumerate(rounds):
        trees[place] = make_sklearn_tree(member, DecisionTreeRegressor, adapt=adapt)
    classes = [model.n_classes_] if is_classifier(model) else None
    kind = GradientBoostingRegressor if classes is None else GradientBoostingClassifier
    init = others.get("init", model.get_params(deep=False).get("init"))
    estimator = kind(loss=loss, n_estimators=1, init=init)
    fit_on_codes(estimator, model.n_features_in_, classes)
    share_parameters(model, estimator, loss=loss, n_estimators=len(trees), **others)
    estimator.estimators_, estimator.n_estimators_ = trees, len(trees)
    estimator.max_features_ = trees[0, 0].max_features_
    if classes is not None:
        estimator.classes_ = model.classes_.copy()
    vars(estimator).pop("train_score_", None)
    for name in HISTORY:
        if hasattr(model, name):
            setattr(estimator, name, getattr(model, name))
    return estimator
