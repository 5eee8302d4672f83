"""Tables of the textbooks, a public table, and a generator of mixed tables."""

from sklearn_textbook.datasets.credit import load_credit
from sklearn_textbook.datasets.matrices import (
    load_pca_correlation_example,
    load_pca_exercise,
    load_svd_example,
    load_svd_exercise,
)
from sklearn_textbook.datasets.mixed_table import make_mixed_table
from sklearn_textbook.datasets.play_tennis import load_play_tennis
from sklearn_textbook.datasets.statistical_learning import (
    load_adaboost_example,
    load_boosting_tree_example,
    load_loan,
    load_recruitment,
    load_regression_tree_example,
)
from sklearn_textbook.datasets.watermelon import load_watermelon

__all__ = [
    "load_adaboost_example",
    "load_boosting_tree_example",
    "load_credit",
    "load_loan",
    "load_pca_correlation_example",
    "load_pca_exercise",
    "load_play_tennis",
    "load_recruitment",
    "load_regression_tree_example",
    "load_svd_example",
    "load_svd_exercise",
    "load_watermelon",
    "make_mixed_table",
]
