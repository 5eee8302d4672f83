"""Bayesian model averaging, 贝叶斯模型平均, of estimators or of subsets of columns."""

from sklearn_textbook.ensemble.model_averaging.evidence_weights import (
    compute_evidence_weights,
    compute_pseudo_bma_plus_weights,
)

__all__ = ["compute_evidence_weights", "compute_pseudo_bma_plus_weights"]
