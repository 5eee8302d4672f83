"""Tables with many more columns than rows: the same results without large matrices."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import OAS
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis as StockAnalysis,
)

from sklearn_textbook.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    row_space,
)
from tests.discriminant_analysis.cases import make_table, make_weights

CASES = [
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": 0.3},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": 0.05},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": 0.3, "priors": [0.2, 0.3, 0.5]},
]
ATTRIBUTES = ("coef_", "intercept_", "scalings_", "eigenvalues_", "within_rank_")
ATTRIBUTES += ("explained_variance_ratio_", "covariance_", "within_scatter_")


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("options", CASES, ids=str)
def test_row_space_has_the_solution_of_all_columns(options, is_weighted, monkeypatch):
    X, y = make_table(3, 50, 300, 3)
    X *= np.exp(np.random.default_rng(1).standard_normal(300))
    X[:, 7] = 1.5
    if options["solver"] == "eigen" and options["shrinkage"] == "auto":
        X[:3, 7] = 0.0
    weight = make_weights(3, 50) if is_weighted else None
    full = LinearDiscriminantAnalysis(**options).fit(X, y, weight)
    monkeypatch.setattr(row_space, "MAX_COLUMNS", 100)
    wide = LinearDiscriminantAnalysis(**options).fit(X, y, weight)
    assert not hasattr(wide, "covariance_")
    assert not hasattr(wide, "within_scatter_")
    wide = LinearDiscriminantAnalysis(store_covariance=True, **options)
    wide.fit(X, y, weight)
    for name in ATTRIBUTES:
        assert hasattr(wide, name) == hasattr(full, name)
        if hasattr(full, name):
            expected = getattr(full, name)
            size = np.abs(expected).max()
            assert_allclose(getattr(wide, name), expected, rtol=0, atol=1e-9 * size)
    if "shrinkage" in options and not is_weighted:
        stock = StockAnalysis(**options).fit(X, y)
        expected = stock.predict(X)
        assert (wide.predict(X) == expected).all()


def test_wide_tables_without_inverse_are_refused_or_solved_by_rank(monkeypatch):
    monkeypatch.setattr(row_space, "MAX_COLUMNS", 100)
    X, y = make_table(4, 30, 200, 3)
    with pytest.raises(np.linalg.LinAlgError, match="Use solver='svd'"):
        LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    with pytest.raises(ValueError, match="do not differ within their classes"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(X[y], y)
    X[:, 20:] = 1.0
    X[:, 5] = X[:, 4] + X[:, 3]
    with pytest.warns(UserWarning, match="dependent within classes: 3, 4, 5. The rank"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"store_covariance": True}, "store_covariance=True"),
        ({"solver": "lsqr", "store_covariance": True}, "store_covariance=True"),
        ({"solver": "lsqr", "covariance_estimator": OAS()}, "covariance_estimator"),
    ],
)
def test_matrices_larger_than_the_memory_are_refused(options, what, monkeypatch):
    monkeypatch.setattr(os, "sysconf", lambda name: 4096)  # 16 MiB
    X, y = make_table(5, 20, 3000, 2)
    with pytest.raises(MemoryError, match=f"{what} needs 0.268[0-9]* GiB .* 3,000 x"):
        LinearDiscriminantAnalysis(**options).fit(X, y)
    options = {"solver": "lsqr", "shrinkage": "auto"}
    assert LinearDiscriminantAnalysis(**options).fit(X, y).score(X, y) > 0.9
