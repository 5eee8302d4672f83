"""LinearRegression of sparse rows, and with threads."""

import threading

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.linear_model.least_squares import linear_regression as module
from sklearn_textbook.linear_model.solve import row_triangle
from tests.linear_model.linear_cases import assert_same_model, make_table


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    monkeypatch.setattr(row_triangle, "BLOCK_CELLS", 512)
    X, y = make_table(5, 3000, 4)
    one = LinearRegression(n_jobs=1).fit(X, y)
    monkeypatch.setattr(module, "count_threads", lambda *_: 3)
    other = LinearRegression().fit(X, y)
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert one.residual_sum_of_squares_ == other.residual_sum_of_squares_


def test_fits_at_the_same_time_leave_blas_as_it_was():
    def count():
        return [
            library["num_threads"]
            for library in threadpool_info()
            if library["user_api"] == "blas"
        ]

    before = count()
    X, y = make_table(6, 20_000, 8)
    expected = LinearRegression().fit(X, y).coef_
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(LinearRegression().fit(X, y).coef_)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count() == before
    assert all((coef == expected).all() for coef in found)
    assert len(found) == 4


# ----------------------------------------------------------------------------- sparse
def make_sparse(n_rows=300, n_columns=30):
    X = sparse.random_array(
        (n_rows, n_columns),
        density=0.1,
        random_state=np.random.default_rng(0),
        format="csr",
    )
    return X, X @ np.arange(n_columns) + np.random.default_rng(1).normal(size=n_rows)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_give_what_dense_rows_give(fit_intercept):
    X, y = make_sparse()
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    dense = LinearRegression(fit_intercept=fit_intercept).fit(X.toarray(), y, weight)
    for rows in (X, X.tocsc(), X.tocoo()):
        model = LinearRegression(fit_intercept=fit_intercept).fit(rows, y, weight)
        assert_same_model(model, dense)
        for found, expected in zip(
            model.predict(rows, return_std=True),
            dense.predict(X.toarray(), return_std=True),
            strict=True,
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def count_dense(monkeypatch):
    """Sparse tables that are reduced as dense rows."""
    seen = []
    reduce_dense = row_triangle._reduce_dense

    def reduce_and_count(X, *arguments):
        seen.append(X.shape)
        return reduce_dense(X, *arguments)

    monkeypatch.setattr(row_triangle, "_reduce_dense", reduce_and_count)
    return seen


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_of_sparse_columns(fit_intercept, monkeypatch):
    X = sparse.random_array(
        (2000, 40), density=0.03, random_state=np.random.default_rng(0), format="csr"
    )
    y = np.random.default_rng(0).normal(size=(2000, 2)) + 1e3
    weight = np.random.default_rng(1).integers(1, 4, 2000)
    dense = LinearRegression(fit_intercept=fit_intercept).fit(X.toarray(), y, weight)
    seen = count_dense(monkeypatch)
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight)
    assert seen == []
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(
        model.standard_errors_, dense.standard_errors_, rtol=1e-10
    )
    np.testing.assert_allclose(model.log_likelihood_, dense.log_likelihood_, rtol=1e-11)
    blocks = LinearRegression(fit_intercept=fit_intercept)
    for start in range(0, 2000, 400):
        rows = slice(start, start + 400)
        blocks.partial_fit(X[rows], y[rows], weight[rows])
    np.testing.assert_allclose(blocks.coef_, dense.coef_, rtol=1e-9, atol=1e-10)


@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
def test_products_of_sparse_columns_that_are_alike_or_far_lose_digits(monkeypatch):
    X = sparse.random_array(
        (2000, 40), density=0.03, random_state=np.random.default_rng(0), format="csc"
    )
    y = np.random.default_rng(0).normal(size=2000)
    far = sparse.csc_array(X + 0.0)
    far = sparse.hstack([far, sparse.csc_array(1e6 + np.arange(2000.0)[:, np.newaxis])])
    other = sparse.random_array(
        (2000, 1), density=0.03, random_state=np.random.default_rng(1), format="csc"
    )
    alike = sparse.hstack([X, X[:, [0]] + 1e-5 * other])
    dependent = sparse.hstack([X, X[:, [0]] + X[:, [1]]])
    for table, rank in ((far, 41), (alike, 41), (dependent, 40)):
        dense = LinearRegression().fit(table.toarray(), y)
        seen = count_dense(monkeypatch)
        model = LinearRegression().fit(table, y)
        assert seen == [table.shape]
        assert model.rank_ == rank
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("n_targets", [None, 2])
def test_large_sparse_tables_are_solved_by_iterations(monkeypatch, alpha, n_targets):
    X, y = make_sparse()
    y = y if n_targets is None else np.column_stack([y, -y])
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    exact = LinearRegression(alpha=alpha).fit(X, y, weight)
    monkeypatch.setattr(module, "MAX_SPARSE_WORK", 100)
    model = LinearRegression(alpha=alpha).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), exact.predict(X), rtol=1e-6)
    assert not hasattr(model, "rank_")
    with pytest.raises(AttributeError, match="fitted iteratively"):
        _ = model.standard_errors_
    with pytest.raises(ValueError, match="cannot be updated"):
        model.partial_fit(X, y)
