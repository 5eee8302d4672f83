"""Ensembles, 集成学习: combined predictions of many models."""

# Registers how ensembles become models of scikit-learn.
import sklearn_textbook.ensemble.exchange  # noqa: F401
from sklearn_textbook.ensemble.bagging.bagging import (
    BaggingClassifier,
    BaggingRegressor,
)
from sklearn_textbook.ensemble.bagging.random_subspace import (
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from sklearn_textbook.ensemble.boosting.adaboost import AdaBoostClassifier
from sklearn_textbook.ensemble.boosting.additive_model import (
    AdditiveModel,
    fit_additive_model,
)
from sklearn_textbook.ensemble.boosting.boosting_tree import BoostingTreeRegressor
from sklearn_textbook.ensemble.boosting.gradient_boosting_classifier import (
    GradientBoostingClassifier,
)
from sklearn_textbook.ensemble.boosting.gradient_boosting_regressor import (
    GradientBoostingRegressor,
)
from sklearn_textbook.ensemble.combination.averaging import AveragingRegressor
from sklearn_textbook.ensemble.combination.multi_response import (
    MultiResponseLinearRegression,
)
from sklearn_textbook.ensemble.combination.stacking import (
    StackingClassifier,
    StackingRegressor,
)
from sklearn_textbook.ensemble.combination.voting import VotingClassifier
from sklearn_textbook.ensemble.forest.extra_trees import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
from sklearn_textbook.ensemble.forest.oblique_forest import (
    ObliqueRandomForestClassifier,
    ObliqueRandomForestRegressor,
)
from sklearn_textbook.ensemble.forest.proximities import compute_proximities
from sklearn_textbook.ensemble.forest.random_forest import (
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.ensemble.model_averaging.classifier import (
    BayesianModelAveragingClassifier,
)
from sklearn_textbook.ensemble.model_averaging.regressor import (
    BayesianModelAveragingRegressor,
)
from sklearn_textbook.ensemble.negative_correlation.regressor import (
    NegativeCorrelationRegressor,
)
from sklearn_textbook.ensemble.output_codes.output_code_classifier import (
    OutputCodeClassifier,
)
from sklearn_textbook.ensemble.output_perturbation.output_flipping import (
    OutputFlippingClassifier,
)
from sklearn_textbook.ensemble.output_perturbation.output_smearing import (
    OutputSmearingClassifier,
)

__all__ = [
    "AdaBoostClassifier",
    "AdditiveModel",
    "AveragingRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BayesianModelAveragingClassifier",
    "BayesianModelAveragingRegressor",
    "BoostingTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "MultiResponseLinearRegression",
    "NegativeCorrelationRegressor",
    "ObliqueRandomForestClassifier",
    "ObliqueRandomForestRegressor",
    "OutputCodeClassifier",
    "OutputFlippingClassifier",
    "OutputSmearingClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "compute_proximities",
    "fit_additive_model",
]
