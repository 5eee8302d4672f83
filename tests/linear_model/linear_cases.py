"""Tables for tests of linear regression, and the comparison of models."""

import numpy as np


def make_table(seed=0, n_rows=60, n_columns=4, n_targets=None):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_columns)) * 10.0 ** random.integers(
        -2, 3, n_columns
    )
    y = random.normal(size=n_rows if n_targets is None else (n_rows, n_targets))
    return X, y + (X / X.std(axis=0)).sum(axis=1).reshape(-1, *([1] * (y.ndim - 1)))


def assert_same_model(one, other, rtol=1e-9):
    for name in ("coef_", "intercept_", "standard_errors_", "log_likelihood_", "aic_"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=rtol, err_msg=name
        )
    assert one.rank_ == other.rank_
