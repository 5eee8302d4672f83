"""The encoded table: order, values and codes of every column, exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_textbook.tree.encode import (
    ColumnSchema,
    EncodedTable,
    TableSchema,
    encode_table,
    read_training_table,
)

# Numbers that make trouble: both zeros, denormals, the extremes, neighbours.
HARD_NUMBERS = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1.0,
    1.0 + 2**-52,
    1.0 - 2**-53,
    1.0 + 2**-20,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    1e300,
    -1e-300,
    np.nan,
]


def encode(X, n_threads=1):
    return encode_table(*read_training_table(X), n_threads=n_threads)


def check_encoding(X, table):
    """Compare every column with what numpy says."""
    is_sparse = sparse.issparse(X)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    n_rows, n_columns = X.shape
    assert (table.n_rows, table.n_columns) == X.shape
    assert table.order.shape == (n_columns, n_rows)
    # Of a sparse table only the distinct values are kept.
    widths = {max(table.n_distinct.max(), 1), *(() if is_sparse else (n_rows,))}
    assert table.values.shape in {(n_columns, width) for width in widths}
    for c in range(n_columns):
        column = X[:, c]
        missing = np.isnan(column)
        distinct = np.unique(column[~missing])
        rows = np.argsort(column, kind="stable")  # NaN last
        assert_array_equal(table.column_rows(c), rows)
        assert_array_equal(table.column_values(c), distinct)
        assert table.n_distinct[c] == distinct.size
        assert table.n_missing[c] == np.count_nonzero(missing)
        ranks = np.searchsorted(distinct, column)
        ranks[missing] = distinct.size
        assert_array_equal(table.codes(c), ranks)
        starts = np.diff(ranks[rows], prepend=-1) != 0
        assert_array_equal(table.order[c] >> 31, starts)


finite_or_missing = st.one_of(
    st.sampled_from(HARD_NUMBERS),
    st.integers(-3, 3).map(float),
    st.floats(allow_infinity=False),
)


@settings(max_examples=60, deadline=None)
@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=16),
        elements=finite_or_missing,
    ),
    n_threads=st.integers(1, 3),
)
def test_encoding_is_exact(X, n_threads):
    check_encoding(X, encode(X, n_threads))


@settings(max_examples=40, deadline=None)
@given(
    X=hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=20),
        elements=st.floats(width=32, allow_infinity=False),
    )
)
def test_encoding_of_float32_is_exact(X):
    check_encoding(X, encode(X))


def draw_columns(n_rows, random):
    """Columns that reach every branch of the sort."""
    normal = random.normal(size=n_rows)
    with_missing = np.where(random.uniform(size=n_rows) < 0.3, np.nan, normal)
    outliers = normal.copy()
    outliers[:1] = 1e30
    outliers[1:2] = -1e30
    clustered = 1.0 + 1e-10 * random.uniform(size=n_rows)
    clustered_outlier = clustered.copy()
    clustered_outlier[-1] = 1e300
    signs = random.choice([-1.0, 1.0], size=n_rows)
    return {
        "normal": normal,
        "missing": with_missing,
        "all missing": np.full(n_rows, np.nan),
        "constant": np.full(n_rows, 3.0),
        "both zeros": 0.0 * signs,
        "binary": random.integers(0, 2, size=n_rows).astype(float),
        "few": np.round(3 * normal),
        "sorted": np.sort(normal),
        "sorted with ties": np.sort(np.round(5 * normal)),
        "sorted, missing last": np.sort(with_missing),
        "reversed": np.sort(normal)[::-1],
        "outliers": outliers,
        "heavy tails": random.standard_cauchy(size=n_rows),
        "skewed": np.exp(5 * normal),
        "all magnitudes": signs * np.exp(700 * random.uniform(-1, 1, size=n_rows)),
        "widest range": signs * 1.7e308 * random.uniform(size=n_rows),
        "denormal": 1e-310 * normal,
        "one denormal step": 5e-324 * random.integers(0, 3, size=n_rows),
        "same upper bits": clustered,
        "same upper bits but one": clustered_outlier,
        "mostly zero": np.where(random.uniform(size=n_rows) < 0.9, 0.0, normal),
        "large integers": (2**53 - random.integers(0, 1000, size=n_rows)).astype(float),
    }


@pytest.mark.parametrize("n_rows", [1, 2, 65, 1024, 1025, 6000])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_every_distribution(n_rows, n_threads):
    columns = draw_columns(n_rows, np.random.default_rng(n_rows))
    X = np.column_stack(list(columns.values()))
    check_encoding(X, encode(X, n_threads))


def test_many_rows():
    # More than two million rows are sorted by a third digit.
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=2_000_100), random.uniform(size=2_000_100)])
    X[::7, 1] = np.nan
    table = encode(X, n_threads=2)
    for c in range(2):
        rows = table.column_rows(c)
        n_present = table.n_rows - table.n_missing[c]
        assert_array_equal(np.bincount(rows), 1)
        assert np.all(np.diff(X[rows[:n_present], c]) >= 0)
        assert np.isnan(X[rows[n_present:], c]).all()


def test_threads_do_not_change_the_result():
    X = np.random.default_rng(1).normal(size=(500, 7))
    one, three = encode(X, 1), encode(X, 3)
    assert_array_equal(one.order, three.order)
    assert_array_equal(one.n_distinct, three.n_distinct)
    for c in range(7):
        assert_array_equal(one.column_values(c), three.column_values(c))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_layout(dtype):
    base = np.random.default_rng(2).normal(size=(60, 24)).astype(dtype)
    views = {
        "C": base,
        "Fortran": np.asfortranarray(base),
        "every second row and column": base[::2, ::2],
        "reversed rows": base[::-1],
        "reversed columns": base[:, ::-1],
        "Fortran, reversed rows": np.asfortranarray(base)[::-1],
        "transposed": base.T,
        "repeated row": np.broadcast_to(base[0], (5, 24)),
        "repeated column": np.broadcast_to(base[:, :1], (60, 3)),
        "one row": base[:1],
        "one column": base[:, 3:4],
    }
    for name, X in views.items():
        matrix, schema = read_training_table(X)
        assert matrix is X, name
        check_encoding(X, encode_table(matrix, schema))


@pytest.mark.parametrize("order", ["C", "F"])
def test_read_only_memory_map(tmp_path, order):
    X = np.random.default_rng(3).normal(size=(50, 4))
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    matrix, schema = read_training_table(mapped)
    assert matrix is mapped
    check_encoding(X, encode_table(matrix, schema))
    assert schema.read(mapped) is mapped


@settings(max_examples=40, deadline=None)
@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=15),
        elements=st.sampled_from([0.0, 0.0, 0.0, -1.5, 2.0, 3.0, np.nan]),
    ),
    form=st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]),
)
def test_sparse_equals_dense(X, form):
    table = encode(sparse.csr_array(X).asformat(form))
    check_encoding(X, table)


def test_explicit_and_implicit_zeros_are_equal():
    data, rows, columns = [0.0, 2.0, 1.0, 1.0], [0, 1, 2, 2], [0, 0, 0, 0]
    X = sparse.coo_array((data, (rows, columns)), shape=(4, 1))
    table = encode(X)  # the repeated entries of row 2 add up
    assert_array_equal(table.codes(0), [0, 1, 1, 0])
    csc = X.tocsc()
    for name in ("indices", "indptr"):
        setattr(csc, name, getattr(csc, name).astype(np.int64))
    assert_array_equal(encode(csc).codes(0), [0, 1, 1, 0])


def test_sparse_is_dense_only_block_by_block(monkeypatch):
    monkeypatch.setattr("sklearn_textbook.tree.encode.rank.BLOCK_BYTES", 1)
    X = sparse.random_array(
        (30, 9), density=0.3, random_state=np.random.default_rng(4), format="csr"
    )
    check_encoding(X, encode(X, n_threads=2))


def test_sparse_blocks_are_binned_like_dense_columns(monkeypatch):
    random = np.random.default_rng(5)
    X = np.where(random.random((60, 9)) < 0.4, random.integers(1, 40, (60, 9)), 0.0)
    X[:, 4] = X[:, 4] > 0  # not binned
    dense = encode_table(*read_training_table(X), max_bins=6)
    monkeypatch.setattr("sklearn_textbook.tree.encode.rank.BLOCK_BYTES", 1)
    table = encode_table(*read_training_table(sparse.csr_array(X)), max_bins=6)
    assert_array_equal(table.order, dense.order)
    assert_array_equal(table.n_distinct, dense.n_distinct)
    for c in range(9):
        assert_array_equal(table.column_values(c), dense.column_values(c))
        assert_array_equal(table.column_upper_values(c), dense.column_upper_values(c))


@pytest.mark.parametrize(
    ("n_distinct", "dtype"),
    [(255, np.uint8), (256, np.uint16), (65535, np.uint16), (65536, np.uint32)],
)
def test_codes_have_the_narrowest_type_with_room_for_missing(n_distinct, dtype):
    X = np.append(np.arange(n_distinct, dtype=np.float64)[::-1], np.nan)[:, np.newaxis]
    codes = encode(X).codes(0)
    assert codes.dtype == dtype
    assert_array_equal(codes, [*range(n_distinct - 1, -1, -1), n_distinct])


def test_table_is_read_only_and_keeps_codes():
    table = encode([[1.0], [2.0]])
    for array in (table.order, table.values, table.n_distinct, table.codes(0)):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert table.codes(0) is table.codes(0)


def test_codes_of_levels_are_values():
    table = encode([["b"], ["a"], [None], ["b"]])
    assert_array_equal(table.column_values(0), [0.0, 1.0])
    assert_array_equal(table.codes(0), [1, 0, 2, 1])


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_infinity_names_the_column(infinity, make):
    X = np.zeros((5, 3))
    X[3, 1] = infinity
    matrix, schema = read_training_table(make(X), feature_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="contains infinity: column 'b', row 3"):
        encode_table(matrix, schema)


def test_kernel_refuses_an_empty_table():
    schema = TableSchema((ColumnSchema("x0", "numeric"),))
    with pytest.raises(ValueError, match="at least one row"):
        encode_table(np.empty((0, 1)), schema)


def test_table_describes_itself():
    table = encode([[1.0, 2.0]])
    assert isinstance(table, EncodedTable)
    assert table.schema.names == ("x0", "x1")
