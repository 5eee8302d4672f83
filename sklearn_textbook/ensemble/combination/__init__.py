"""Combining learners, 结合策略: rules for predictions, and ensembles using them."""

from sklearn_textbook.ensemble.combination.averaging_weights import (
    compute_inverse_error_weights,
    compute_non_negative_weights,
    compute_optimal_weights,
)
from sklearn_textbook.ensemble.combination.rules import (
    choose_by_votes,
    combine_probabilities,
    count_votes,
)

__all__ = [
    "choose_by_votes",
    "combine_probabilities",
    "compute_inverse_error_weights",
    "compute_non_negative_weights",
    "compute_optimal_weights",
    "count_votes",
]
