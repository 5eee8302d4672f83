"""Diversity, 多样性: how the members of an ensemble differ.

All measures accept predictions as an array of shape (n_samples, n_members), with one
column of labels per member. Measures that are defined both for the predictions
themselves (周志华) and for whether they are right (Kuncheva and Whitaker) use the
latter if ``y_true`` is passed. If true labels are required, they are the first
argument, as in ``sklearn.metrics``.
"""

from sklearn_textbook.ensemble.diversity.contingency import contingency_table
from sklearn_textbook.ensemble.diversity.decomposition import (
    BiasVarianceCovariance,
    ErrorAmbiguity,
    bias_variance_covariance_decomposition,
    error_ambiguity_decomposition,
)
from sklearn_textbook.ensemble.diversity.group import (
    coincident_failure_diversity,
    difficulty,
    entropy,
    generalized_diversity,
    interrater_agreement,
    kohavi_wolpert_variance,
)
from sklearn_textbook.ensemble.diversity.members import predict_members
from sklearn_textbook.ensemble.diversity.pairwise import (
    correlation,
    disagreement,
    double_fault,
    kappa,
    kappa_error_points,
    q_statistic,
)
from sklearn_textbook.ensemble.diversity.report import (
    DiversityReport,
    diversity_report,
)

__all__ = [
    "BiasVarianceCovariance",
    "DiversityReport",
    "ErrorAmbiguity",
    "bias_variance_covariance_decomposition",
    "coincident_failure_diversity",
    "contingency_table",
    "correlation",
    "difficulty",
    "disagreement",
    "diversity_report",
    "double_fault",
    "entropy",
    "error_ambiguity_decomposition",
    "generalized_diversity",
    "interrater_agreement",
    "kappa",
    "kappa_error_points",
    "kohavi_wolpert_variance",
    "predict_members",
    "q_statistic",
]
