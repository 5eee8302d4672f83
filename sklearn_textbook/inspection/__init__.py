"""Displays that follow scikit-learn's conventions, and explanations of predictions."""

from sklearn_textbook.inspection.accuracy_rejection_display import (
    AccuracyRejectionDisplay,
)
from sklearn_textbook.inspection.biplot_display import BiplotDisplay
from sklearn_textbook.inspection.counterfactuals import find_counterfactuals
from sklearn_textbook.inspection.discriminant_display import DiscriminantDisplay
from sklearn_textbook.inspection.explaining import explain
from sklearn_textbook.inspection.importances_display import ImportancesDisplay
from sklearn_textbook.inspection.interval_display import IntervalDisplay
from sklearn_textbook.inspection.kappa_error_display import KappaErrorDisplay
from sklearn_textbook.inspection.learning_rounds_display import LearningRoundsDisplay
from sklearn_textbook.inspection.partial_dependence import partial_dependence
from sklearn_textbook.inspection.partial_dependence_display import (
    PartialDependenceDisplay,
)
from sklearn_textbook.inspection.pruning_path_display import PruningPathDisplay
from sklearn_textbook.inspection.regularization_path_display import (
    RegularizationPathDisplay,
)
from sklearn_textbook.inspection.residuals_display import ResidualsDisplay
from sklearn_textbook.inspection.scree_display import ScreeDisplay
from sklearn_textbook.inspection.shapley import ShapleyValues, shap_values
from sklearn_textbook.inspection.tree_display import TreeDisplay

__all__ = [
    "AccuracyRejectionDisplay",
    "BiplotDisplay",
    "DiscriminantDisplay",
    "ImportancesDisplay",
    "IntervalDisplay",
    "KappaErrorDisplay",
    "LearningRoundsDisplay",
    "PartialDependenceDisplay",
    "PruningPathDisplay",
    "RegularizationPathDisplay",
    "ResidualsDisplay",
    "ScreeDisplay",
    "ShapleyValues",
    "TreeDisplay",
    "explain",
    "find_counterfactuals",
    "partial_dependence",
    "shap_values",
]
