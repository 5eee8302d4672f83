"""Combining learners, 结合策略: rules on arrays, and the ensembles that use them."""

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
from sklearn_textbook.ensemble.model_averaging.evidence_weights import (
    compute_evidence_weights,
    compute_pseudo_bma_plus_weights,
)

__all__ = [
    "choose_by_votes",
    "combine_probabilities",
    "compute_evidence_weights",
    "compute_inverse_error_weights",
    "compute_non_negative_weights",
    "compute_optimal_weights",
    "compute_pseudo_bma_plus_weights",
    "count_votes",
]
