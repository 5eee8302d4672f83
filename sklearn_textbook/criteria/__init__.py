"""Splitting criteria of decision trees as functions of arrays.

Entropy, information gain and gain ratio, the Gini index, the squared error, the best
threshold of a numeric column, three score functions for
:class:`~sklearn.feature_selection.SelectKBest`, and the mean cost of predictions.

Labels may have any type. A missing value in ``x`` (None, NaN, NaT or pandas.NA) is
handled by weights as in Zhou (周志华), section 4.4.2; ``y`` must be complete.
In all formulas 0 log 0 = 0, and a row of weight w counts as w copies of it.
"""

from sklearn_textbook.criteria._costs import expected_cost
from sklearn_textbook.criteria._impurity import gini, gini_index, squared_error
from sklearn_textbook.criteria._information import (
    conditional_entropy,
    entropy,
    gain_ratio,
    information_gain,
    intrinsic_value,
)
from sklearn_textbook.criteria._scores import (
    gain_ratio_score,
    gini_score,
    information_gain_score,
)
from sklearn_textbook.criteria._threshold import best_threshold

__all__ = [
    "best_threshold",
    "conditional_entropy",
    "entropy",
    "expected_cost",
    "gain_ratio",
    "gain_ratio_score",
    "gini",
    "gini_index",
    "gini_score",
    "information_gain",
    "information_gain_score",
    "intrinsic_value",
    "squared_error",
]
