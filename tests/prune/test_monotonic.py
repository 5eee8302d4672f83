"""Predictions that must rise with a column still do after pruning."""

import numpy as np
import pytest

from sklearn_textbook.tree import (
    CARTClassifier,
    CostComplexityPruning,
    ErrorBasedPruning,
    LossPruning,
    PrePruning,
    ReducedErrorPruning,
)

GRID = np.stack(np.meshgrid(*[np.arange(6.0)] * 3, indexing="ij"), -1).reshape(-1, 3)


def make_rising_table(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(150, 3)).astype(float)
    return X, X[:, 0] + X[:, 1] + 3.0 * rng.normal(size=150) > 5.0


@pytest.mark.parametrize(
    "pruner",
    [
        PrePruning(),
        ReducedErrorPruning(),
        LossPruning(),
        CostComplexityPruning(cv=4),
        ErrorBasedPruning(subtree_raising=False),
    ],
)
def test_shares_rise_with_the_column(pruner):
    n_pruned = 0
    for seed in range(10):
        X, y = make_rising_table(seed)
        fitted = CARTClassifier(monotonic_cst=[1, 0, 0], pruning=pruner).fit(X, y)
        shares = fitted.predict_proba(GRID)[:, 1].reshape(6, 6, 6)
        assert (np.diff(shares, axis=0) >= -1e-12).all()
        n_pruned += (fitted.pruning_report_["decision"] == "pruned").any()
    assert n_pruned > 5


def test_branches_are_not_raised():
    X, y = make_rising_table(3)
    estimator = CARTClassifier(monotonic_cst=[1, 0, 0], pruning="error_based")
    with pytest.raises(ValueError, match="may violate monotonic_cst"):
        estimator.fit(X, y)
    grown = CARTClassifier(monotonic_cst=[1, 0, 0]).fit(X, y)
    with pytest.raises(ValueError, match="may violate monotonic_cst"):
        ErrorBasedPruning().prune(grown, X=X, y=y)
    estimator.set_params(monotonic_cst=[0, 0, 0]).fit(X, y)
    assert (estimator.pruning_report_["decision"] == "raised").any()
