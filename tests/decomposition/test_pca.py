"""Principal components in use: parameters, blocks, matrices, errors."""

import pickle
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.decomposition import PCA
from tests.processes import run_program

StockPCA = sklearn.decomposition.PCA

SOLVERS = ("full", "covariance_eigh", "arpack", "randomized")
DENSE, SPARSE = np.asarray, sparse.csr_array


@pytest.fixture(name="X")
def make_rows():
    """Correlated columns of different units, far from the origin."""
    random = np.random.default_rng(0)
    columns = random.standard_normal((60, 3)) @ random.standard_normal((3, 6))
    columns += 0.1 * random.standard_normal((60, 6))
    return columns * [1, 10, 0.1, 1, 1, 1] + [5, 100, 0, -3, 0, 1]


# ------------------------------------------------------------------ beside the stock
@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("whiten", [False, True])
def test_equal_to_the_stock(X, svd_solver, whiten):
    options = {"svd_solver": svd_solver, "whiten": whiten, "random_state": 0}
    ours, stock = PCA(3, **options).fit(X), StockPCA(3, **options).fit(X)
    for name in ("explained_variance_", "explained_variance_ratio_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(stock, name))
    np.testing.assert_allclose(ours.singular_values_, stock.singular_values_)
    np.testing.assert_allclose(ours.noise_variance_, stock.noise_variance_)
    np.testing.assert_allclose(ours.components_, stock.components_, atol=1e-8)
    np.testing.assert_allclose(ours.transform(X), stock.transform(X), atol=1e-7)
    if not whiten:
        np.testing.assert_allclose(ours.get_covariance(), stock.get_covariance())
        np.testing.assert_allclose(ours.get_precision(), stock.get_precision())
        np.testing.assert_allclose(ours.score_samples(X), stock.score_samples(X))


def test_whitening_does_not_change_the_density(X):
    """The stock multiplies the variances twice."""
    plain, white = PCA(3).fit(X), PCA(3, whiten=True).fit(X)
    np.testing.assert_array_equal(plain.get_covariance(), white.get_covariance())
    np.testing.assert_array_equal(plain.score_samples(X), white.score_samples(X))


def test_standardize_is_the_scaler_but_for_the_divisor(X):
    ours = PCA(standardize=True).fit(X)
    piped = make_pipeline(StandardScaler(), StockPCA()).fit(X)
    factor = len(X) / (len(X) - 1)
    np.testing.assert_allclose(
        ours.explained_variance_ * factor, piped[-1].explained_variance_
    )
    np.testing.assert_allclose(
        ours.transform(X) * np.sqrt(factor), piped.transform(X), atol=1e-10
    )


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("svd_solver", SOLVERS)
def test_fit_transform_is_fit_and_transform(X, svd_solver, standardize):
    weights = np.arange(60) % 3 + 0.5
    for whiten in (False, True):
        for sample_weight in (None, weights):
            pca = PCA(3, svd_solver=svd_solver, standardize=standardize, whiten=whiten)
            pca.set_params(random_state=0, iterated_power=20)
            scores = pca.fit_transform(X, sample_weight=sample_weight)
            found = clone(pca).fit(X, sample_weight=sample_weight).transform(X)
            np.testing.assert_allclose(scores, found, atol=1e-9 * np.abs(found).max())


@pytest.mark.parametrize("standardize", [False, True])
def test_solvers_agree(X, standardize):
    expected = PCA(3, svd_solver="full", standardize=standardize).fit(X)
    weighted = PCA(3, svd_solver="full", standardize=standardize)
    weights = np.arange(60) % 4
    weighted.fit(X, sample_weight=weights)
    for make in (DENSE, SPARSE):
        for svd_solver in SOLVERS[1:]:
            if make is SPARSE and svd_solver == "randomized":
                continue
            pca = PCA(3, svd_solver=svd_solver, standardize=standardize)
            pca.set_params(random_state=0, iterated_power=20).fit(make(X))
            for name in ("mean_", "var_", "eigenvalues_", "explained_variance_ratio_"):
                found, wanted = getattr(pca, name), getattr(expected, name)
                np.testing.assert_allclose(
                    found[:3], wanted[:3], rtol=1e-9, atol=1e-12, err_msg=name
                )
            np.testing.assert_allclose(pca.loadings_, expected.loadings_, atol=1e-8)
            np.testing.assert_allclose(pca.noise_variance_, expected.noise_variance_)
            pca.fit(make(X), sample_weight=weights)
            np.testing.assert_allclose(pca.components_, weighted.components_, atol=1e-8)
            np.testing.assert_allclose(pca.var_, weighted.var_)


# ------------------------------------------------------------- how many components
def test_cumulative_contribution_chooses(X):
    ratios = PCA().fit(X).explained_variance_ratio_
    for threshold in (0.1, 0.7, 0.8, 0.999999, 1 - 1e-16):
        pca = PCA(threshold).fit(X)
        assert pca.cumulative_contribution_[-1] > min(threshold, ratios.sum() - 1e-12)
        if pca.n_components_ > 1:
            assert pca.cumulative_contribution_[-2] <= threshold


@pytest.mark.parametrize("threshold", [0.3, 0.75, 0.99])
def test_threshold_of_reconstruction(X, threshold):
    """周志华 (10.16): the fewest components that leave at most 1 - t of the squares."""
    centered = X - X.mean(axis=0)
    pca = PCA(threshold).fit(X)

    def find_loss(n_components):
        some = PCA(n_components).fit(X)
        return ((X - some.inverse_transform(some.transform(X))) ** 2).sum()

    total = (centered**2).sum()
    assert find_loss(pca.n_components_) <= (1 - threshold) * total
    assert find_loss(pca.n_components_ - 1) > (1 - threshold) * total


@pytest.mark.parametrize("shape", [(600, 10), (100, 30)])
def test_dimension_by_likelihood_is_the_stock(shape):
    for seed in range(5):
        random = np.random.default_rng(seed)
        X = random.standard_normal((shape[0], 4)) @ random.standard_normal(
            (4, shape[1])
        )
        X += 0.3 * random.standard_normal(shape)
        found = PCA("mle").fit(X).n_components_
        assert found == StockPCA("mle", svd_solver="full").fit(X).n_components_
        assert 4 <= found < shape[1]


def test_dimension_by_likelihood_of_equal_eigenvalues():
    """The stock takes the logarithm of 0 here."""
    covariance = np.diag([9.0, 9.0, 4.0, 1.0, 1.0, 1.0])
    pca = PCA("mle").fit_covariance(covariance, n_samples=1_000)
    assert pca.n_components_ == 3
    scaled = PCA("mle").fit_covariance(1e-30 * covariance, n_samples=1_000)
    assert scaled.n_components_ == 3
    with pytest.raises(ValueError, match="n_samples >= n_features; got None and 6"):
        PCA("mle").fit_covariance(covariance)


def test_neighbours_choose_in_a_pipeline():
    """周志华 10.3: d' by cross-validating a k-nearest-neighbour classifier."""
    wine = load_wine()
    pipeline = make_pipeline(PCA(standardize=True), KNeighborsClassifier())
    grid = {"pca__n_components": [1, 2, 4, 13], "pca__standardize": [True, False]}
    search = GridSearchCV(pipeline, grid, cv=5).fit(wine.data, wine.target)
    assert search.best_params_["pca__n_components"] in (2, 4, 13)
    assert search.best_params_["pca__standardize"]
    assert search.best_score_ > 0.94
    scores = search.cv_results_["mean_test_score"]
    assert scores.max() - scores.min() > 0.05


def test_none_of_the_components(X):
    pca = PCA(0, svd_solver="full").fit(X)
    assert pca.transform(X).shape == (60, 0)
    assert pca.noise_variance_ == pytest.approx(pca.var_.mean())
    np.testing.assert_allclose(pca.get_precision(), np.eye(6) / pca.var_.mean())
    assert np.isfinite(pca.score(X))


# -------------------------------------------------------------------- far from 0, 1
@pytest.mark.parametrize("svd_solver", SOLVERS)
def test_far_from_the_origin(svd_solver):
    """The stock loses all digits of the covariance here."""
    random = np.random.default_rng(0)
    X = np.round(random.standard_normal((500, 4)) * [8, 4, 2, 1] * 2**10) / 2**10
    near = PCA(2, svd_solver=svd_solver, random_state=0).fit(X)
    far = PCA(2, svd_solver=svd_solver, random_state=0).fit(X + 2.0**30)
    np.testing.assert_allclose(far.explained_variance_, near.explained_variance_)
    np.testing.assert_allclose(far.transform(X + 2.0**30), near.transform(X), atol=1e-6)


def test_blocks_that_drift():
    """The first rows say nothing about where the others are."""
    random = np.random.default_rng(0)
    steps = np.arange(40_000)[:, np.newaxis] // 4_000 * 1e7
    X = random.standard_normal((40_000, 30)) + np.where(np.arange(30) < 15, steps, 0.0)
    found = PCA(svd_solver="covariance_eigh").fit(X)
    expected = np.cov(X - X.mean(axis=0), rowvar=False)
    np.testing.assert_allclose(found.var_, np.diag(expected), rtol=1e-12)
    found = PCA(svd_solver="covariance_eigh", standardize=True).fit(X)
    np.testing.assert_allclose(
        found.get_covariance()[15:, 15:], expected[15:, 15:], atol=1e-9
    )
    blocks = PCA()
    for block in np.array_split(X, 7):
        blocks.partial_fit(block)
    np.testing.assert_allclose(blocks.var_, np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize("make", [DENSE, SPARSE])
@pytest.mark.parametrize("svd_solver", ["full", "covariance_eigh", "arpack"])
def test_constant_column(make, svd_solver):
    if make is SPARSE and svd_solver == "full":
        pytest.skip("sparse rows need another solver")
    random = np.random.default_rng(0)
    X = np.column_stack((random.standard_normal((50, 3)), np.full(50, 0.1)))
    pca = PCA(2, svd_solver=svd_solver, random_state=0).fit(make(X))
    assert pca.var_[3] == pytest.approx(0, abs=1e-30)
    assert np.isnan(pca.loadings_[3]).all()
    assert np.isfinite(pca.loadings_[:3]).all()
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(ValueError, match="Column 'd' is constant.*VarianceThreshold"):
        PCA(standardize=True).fit(frame)
    with pytest.raises(ValueError, match="Column 3 is constant"):
        PCA(2, standardize=True, svd_solver=svd_solver).fit(make(X))


@pytest.mark.parametrize("svd_solver", ["full", "covariance_eigh"])
def test_column_of_rounding_errors(svd_solver):
    """0.1 + 0.2 is not 0.3, and yet this is no variable."""
    X = np.random.default_rng(0).standard_normal((50, 2))
    X[:, 1] = np.where(X[:, 0] > 0, 0.1 + 0.2, 0.3)
    assert PCA(svd_solver=svd_solver).fit(X).var_[1] > 0
    with pytest.raises(ValueError, match="Column 1 is constant"):
        PCA(standardize=True, svd_solver=svd_solver).fit(X)


def test_sparse_rows_with_entries_in_parts():
    """Entries that stand twice are added, as scipy means them."""
    dense = np.random.default_rng(0).integers(0, 3, (40, 5)).astype(float)
    rows, columns = np.nonzero(np.ones((40, 5)))
    parts = np.concatenate((dense.ravel() - 1, np.ones(200)))
    places = (np.tile(rows, 2), np.tile(columns, 2))
    coo = sparse.coo_array((parts, places), shape=(40, 5))
    order = np.lexsort((coo.col, coo.row))
    pointers = np.arange(0, 401, 10)
    X = sparse.csr_array((parts[order], coo.col[order], pointers), shape=(40, 5))
    assert not X.has_canonical_format
    for svd_solver in ("arpack", "covariance_eigh"):
        pca = PCA(2, svd_solver=svd_solver, random_state=0)
        expected = clone(pca).fit(dense)
        pca.fit(X)
        np.testing.assert_allclose(pca.var_, expected.var_)
        np.testing.assert_allclose(pca.components_, expected.components_, atol=1e-9)


@pytest.mark.parametrize("shape", [(40, 5), (4, 9)])
def test_components_without_variance(shape):
    """They are completed in one way, have the variance 0, and whiten to 0."""
    random = np.random.default_rng(0)
    X = random.standard_normal((shape[0], 2)) @ random.standard_normal((2, shape[1]))
    weights = 1 + np.arange(shape[0]) % 3
    whole = PCA(svd_solver="full").fit(np.repeat(X, weights, axis=0))
    n_components = min(weights.sum(), shape[1])
    for svd_solver in ("full", "covariance_eigh"):
        pca = PCA(svd_solver=svd_solver, whiten=True).fit(X, sample_weight=weights)
        assert pca.components_.shape == (n_components, shape[1])
        np.testing.assert_allclose(pca.components_, whole.components_, atol=1e-8)
        assert (pca.explained_variance_[2:] == 0).all()
        assert (pca.explained_variance_[:2] > 0).all()
        scores = pca.transform(random.standard_normal(shape))
        assert (scores[:, 2:] == 0).all()
        assert np.isfinite(scores).all()


def test_values_beyond_double_precision():
    X = np.array([[1e200, 0.0], [-1e200, 1.0], [0.0, 2.0]])
    for svd_solver in ("full", "covariance_eigh"):
        with pytest.raises(
            ValueError, match="Column 0 has a variance that is too large"
        ):
            PCA(svd_solver=svd_solver).fit(X)
        with pytest.raises(ValueError, match="differences are too small for float64"):
            PCA(svd_solver=svd_solver).fit(np.array([[1e-200], [2e-200]]))
        with pytest.raises(ValueError, match="All rows of X are equal"):
            PCA(svd_solver=svd_solver).fit(np.full((5, 2), 0.3))
    with pytest.raises(ValueError, match="too large for float32"):
        PCA().fit(np.array([[3e20], [1e20]], dtype=np.float32))


@pytest.mark.parametrize("svd_solver", SOLVERS)
def test_single_precision(X, svd_solver):
    pca = PCA(3, svd_solver=svd_solver, random_state=0)
    single = clone(pca).fit(X.astype(np.float32))
    double = clone(pca).fit(X)
    names = ["components_", "explained_variance_", "mean_", "loadings_", "var_"]
    for name in names:
        assert getattr(single, name).dtype == np.float32
        np.testing.assert_allclose(
            getattr(single, name), getattr(double, name), rtol=1e-3, atol=1e-3
        )
    assert single.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("n_rows", [199, 200, 5000])
def test_full_makes_a_triangle_of_tall_tables_first(n_rows, monkeypatch):
    """LAPACK sees a square; values keep the digits that products would lose."""
    random = np.random.default_rng(3)
    basis = np.linalg.qr(random.standard_normal((50, 50)))[0]
    X = random.standard_normal((n_rows, 50)) * np.logspace(0, -9, 50) @ basis
    expected = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    shapes, decompose = [], linalg.svd

    def record(A, *args, **options):
        shapes.append(A.shape)
        return decompose(A, *args, **options)

    monkeypatch.setattr(linalg, "svd", record)
    pca = PCA(svd_solver="full")
    scores = pca.fit_transform(X)
    assert shapes == ([(50, n_rows)] if n_rows < 200 else [(50, 50)])
    np.testing.assert_allclose(pca.singular_values_, expected, rtol=1e-5)
    np.testing.assert_allclose(scores, pca.transform(X), atol=1e-13)


def test_copy(X):
    kept = X.copy()
    for svd_solver in SOLVERS:
        PCA(3, svd_solver=svd_solver, standardize=True).fit(X)
        np.testing.assert_array_equal(X, kept)
    options = {"svd_solver": "randomized", "random_state": 0}
    PCA(3, copy=False, **options).fit(X, sample_weight=np.ones(60))
    np.testing.assert_array_equal(X, kept)
    expected = PCA(3, **options).fit_transform(X)
    X.flags.writeable = False
    PCA(3, copy=False, **options).fit(X)
    np.testing.assert_array_equal(X, kept)
    X.flags.writeable = True
    found = PCA(3, copy=False, **options).fit_transform(X)
    np.testing.assert_allclose(found, expected)
    assert (kept != X).any()


# --------------------------------------------------------------------------- blocks
def assert_same_components(one, other):
    for name in ("mean_", "var_", "eigenvalues_", "components_", "noise_variance_"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-11
        )
    assert one.n_samples_ == other.n_samples_
    assert one.n_components_ == other.n_components_


@pytest.mark.parametrize("make", [DENSE, SPARSE])
@pytest.mark.parametrize("n_blocks", [1, 2, 7, 60])
def test_partial_fit(X, n_blocks, make):
    weights = np.arange(60) % 3 + 0.5
    for sample_weight in (None, weights):
        whole = PCA(0.9, svd_solver="covariance_eigh", standardize=True)
        whole.fit(make(X), sample_weight=sample_weight)
        blocks = PCA(0.9, standardize=True)
        for rows in np.array_split(np.arange(60), n_blocks):
            part = None if sample_weight is None else sample_weight[rows]
            assert blocks.partial_fit(make(X[rows]), sample_weight=part) is blocks
        assert_same_components(blocks, whole)
        np.testing.assert_allclose(blocks.transform(X), whole.transform(X), atol=1e-9)


def test_components_between_blocks(X):
    """Looking at them changes nothing, nor does a pickle or a copy."""
    pca = PCA()
    for rows in np.array_split(np.arange(60), 5):
        pca.partial_fit(X[rows])
        seen = X[: rows[-1] + 1]
        whole = PCA(svd_solver="covariance_eigh").fit(seen)
        assert_same_components(pickle.loads(pickle.dumps(pca)), whole)
        np.testing.assert_allclose(pca.transform(X), whole.transform(X), atol=1e-9)
        pca = pickle.loads(pickle.dumps(pca))
    assert "components_" not in vars(clone(pca))


def test_too_few_rows_so_far(X):
    pca = PCA(standardize=True).partial_fit(X[:1])
    assert not hasattr(pca, "components_")
    with pytest.raises(NotFittedError, match="rows passed so far.*more than 1"):
        pca.transform(X)
    pca.partial_fit(X[:1])
    with pytest.raises(NotFittedError, match="All rows of X are equal"):
        pca.transform(X)
    pca.partial_fit(np.where(np.arange(6) == 4, X[:1], X[1:2]))
    with pytest.raises(NotFittedError, match="Column 4 is constant"):
        pca.transform(X)
    assert pca.partial_fit(X[1:]).components_.shape == (6, 6)
    pca = PCA(5).partial_fit(X[:4])
    with pytest.raises(NotFittedError, match="n_components=5 must be between"):
        _ = pca.loadings_


def test_partial_fit_after_fit_begins_anew(X):
    pca = PCA().fit(X)
    with pytest.warns(UserWarning, match="starts from scratch"):
        pca.partial_fit(X[:30])
    assert_same_components(pca, PCA().partial_fit(X[:30]))
    # ... and fit forgets blocks.
    pca.fit(X)
    assert_same_components(pca, PCA().fit(X))


@pytest.mark.parametrize("svd_solver", ["full", "arpack", "randomized"])
def test_blocks_and_matrices_need_eigenvalues(svd_solver):
    pca = PCA(svd_solver=svd_solver)
    assert not hasattr(pca, "partial_fit")
    assert not hasattr(pca, "fit_covariance")


def test_wrong_blocks(X):
    pca = PCA().partial_fit(pd.DataFrame(X, columns=list("abcdef")))
    with pytest.raises(ValueError, match="feature names"):
        pca.partial_fit(pd.DataFrame(X[:, :5], columns=list("abcde")))
    with pytest.raises(ValueError, match="feature names"):
        pca.partial_fit(pd.DataFrame(X, columns=list("fedcba")))
    with pytest.raises(ValueError, match="NaN"):
        pca.partial_fit(pd.DataFrame(X * np.nan, columns=list("abcdef")))
    assert pca.n_samples_ == 60


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_table_larger_than_memory(tmp_path):
    """A file of 100 MB, read by a process that may take 60 MB beyond its libraries."""
    script = textwrap.dedent(
        """
        import resource, sys
        import numpy as np
        from sklearn_textbook.decomposition import PCA

        path = sys.argv[1]
        n_rows, n_columns = 125_000, 100
        rows = np.memmap(path, np.float64, "w+", shape=(n_rows, n_columns))
        random = np.random.default_rng(0)
        block = random.standard_normal((12_500, n_columns))
        block /= block.std(axis=0)
        for start in range(0, n_rows, len(block)):
            rows[start : start + len(block)] = block
        rows[:, 0] *= 3.0
        del rows, block
        PCA().fit(random.standard_normal((2_000, n_columns)))  # loads all libraries

        limit = int(open("/proc/self/status").read().split("VmData:")[1].split()[0])
        limit = 1024 * limit + 60 * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        try:
            np.ones(n_rows * n_columns)
        except MemoryError:
            pass
        else:
            sys.exit("the limit does not hold")
        rows = np.memmap(path, np.float64, "r", shape=(n_rows, n_columns))
        by_blocks = PCA(5)
        for start in range(0, n_rows, 20_000):
            by_blocks.partial_fit(rows[start : start + 20_000])
        for pca in (by_blocks, PCA(5).fit(rows)):
            print(pca.n_samples_, round(float(pca.explained_variance_[0]), 1))
        """
    )
    done = run_program(script, str(tmp_path / "rows"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == 2 * ["125000", "9.0"]


# ------------------------------------------------------------------------- matrices
@pytest.mark.parametrize("standardize", [False, True])
def test_fit_covariance(X, standardize):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_rows = PCA(3, standardize=standardize).fit(frame)
    by_matrix = PCA(3, standardize=standardize)
    assert by_matrix.fit_covariance(frame.cov()) is by_matrix
    np.testing.assert_allclose(by_matrix.components_, by_rows.components_, atol=1e-9)
    np.testing.assert_allclose(by_matrix.loadings_, by_rows.loadings_, atol=1e-9)
    np.testing.assert_allclose(by_matrix.communalities_, by_rows.communalities_)
    np.testing.assert_allclose(by_matrix.get_covariance(), by_rows.get_covariance())
    assert by_matrix.n_samples_ is None
    assert np.isnan(by_matrix.singular_values_).all()
    assert by_matrix.feature_names_in_.tolist() == list("abcdef")
    for use in (
        by_matrix.transform,
        by_matrix.score_samples,
        by_matrix.squared_cosines,
    ):
        with pytest.raises(ValueError, match="Pass the mean of the var"):
            use(frame)
    with pytest.raises(ValueError, match="Pass the mean of the var"):
        by_matrix.inverse_transform(np.zeros((1, 3)))
    by_matrix.fit_covariance(frame.cov(), mean=frame.mean(), n_samples=60)
    np.testing.assert_allclose(
        by_matrix.transform(frame), by_rows.transform(frame), atol=1e-8
    )
    np.testing.assert_allclose(by_matrix.singular_values_, by_rows.singular_values_)


def test_correlation_matrix_and_standardized_rows(X):
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    pca = PCA(2).fit_covariance(np.corrcoef(X, rowvar=False), mean=0)
    np.testing.assert_allclose(
        pca.transform(Z), PCA(2, standardize=True).fit_transform(X), atol=1e-9
    )


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ([[1.0, 0.2]], {}, r"square matrix; got shape \(1, 2\)"),
        ([[1.0, 0.2], [0.3, 1.0]], {}, r"symmetric; the entries at \(0, 1\)"),
        ([[1.0, 2.0], [2.0, 1.0]], {}, "must not have negative eigenvalues, got -1"),
        ([[-1.0, 0.0], [0.0, 1.0]], {}, "must not have negative diagonal entries"),
        ([[1.0, np.nan], [np.nan, 1.0]], {}, "NaN"),
        ([[0.0, 0.0], [0.0, 0.0]], {}, "no variance to explain"),
        (np.eye(2), {"mean": [1.0, 2.0, 3.0]}, "mean must be one finite number or 2"),
        (np.eye(2), {"n_samples": 1}, "n_samples must be more than 1 or None; got 1"),
        (np.eye(2), {"n_samples": "6"}, "n_samples must be more than 1 or None"),
    ],
)
def test_wrong_matrix(matrix, options, message):
    with pytest.raises(ValueError, match=message):
        PCA().fit_covariance(matrix, **options)


# --------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": -1}, r"'n_components' .* or None; got -1"),
        ({"n_components": 1.5}, r"float in the range \(0.0, 1.0\)"),
        ({"n_components": 1.0}, r"float in the range \(0.0, 1.0\)"),
        ({"n_components": "all"}, "'mle' or None; got 'all'"),
        ({"n_components": True}, "'mle' or None; got True"),
        ({"n_components": 7}, r"n_components=7 must be between 0 and .*=6 with"),
        ({"standardize": "yes"}, "'standardize' parameter must be True or False"),
        ({"svd_solver": "lapack"}, "'svd_solver' parameter must be one of 'auto'"),
        ({"tol": -1.0}, "'tol' parameter"),
        ({"iterated_power": -1}, "'iterated_power' parameter"),
        ({"n_oversamples": 0}, "'n_oversamples' parameter"),
        ({"power_iteration_normalizer": "qr"}, "'power_iteration_normalizer'"),
        ({"random_state": "0"}, "'random_state' parameter"),
        ({"copy": 1}, "'copy' parameter"),
        ({"whiten": None}, "'whiten' parameter"),
    ],
)
def test_wrong_parameters(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        PCA(**parameters).fit(X)


@pytest.mark.parametrize("svd_solver", SOLVERS)
def test_missing_values(X, svd_solver):
    X[3, 1] = np.nan
    message = r"NaN, first in row 3, column 1. .*PCA .*missing='mean'"
    with pytest.raises(ValueError, match=message):
        PCA(2, svd_solver=svd_solver).fit(X)
    with pytest.raises(ValueError, match="row 3, column 'b'"):
        PCA(2, svd_solver=svd_solver).fit(pd.DataFrame(X, columns=list("abcdef")))
    if svd_solver in ("covariance_eigh", "arpack"):
        with pytest.raises(ValueError, match=message):
            PCA(2, svd_solver=svd_solver).fit(sparse.csr_array(X))
    with pytest.raises(ValueError, match=message):
        PCA(2, svd_solver=svd_solver).fit(X, sample_weight=np.ones(60))
    X[3, 1] = -np.inf
    with pytest.raises(ValueError, match="infinity, first in row 3, column 1"):
        PCA(2, svd_solver=svd_solver).fit(X)
    pca = PCA(2).fit(X[:3])
    with pytest.raises(ValueError, match="infinity"):
        pca.transform(X)


def test_weights_that_are_shares(X):
    with pytest.raises(ValueError, match="total weight of 1. Multiply weights"):
        PCA().fit(X, sample_weight=np.full(60, 1 / 64) * 64 / 60)
    with pytest.raises(ValueError, match="zero"):
        PCA().fit(X, sample_weight=np.zeros(60))


def test_wrong_scores(X):
    pca = PCA(2).fit(X)
    with pytest.raises(ValueError, match="must have n_components_=2 columns, got 3"):
        pca.inverse_transform(np.zeros((2, 3)))


# ----------------------------------------------------------------- frames and names
def test_names_and_frames():
    iris = load_iris(as_frame=True)
    pca = PCA(2).set_output(transform="pandas")
    scores = pca.fit_transform(iris.data)
    assert scores.columns.tolist() == ["pca0", "pca1"]
    assert scores.index.equals(iris.data.index)
    assert pca.get_feature_names_out().tolist() == ["pca0", "pca1"]
    polars = PCA(2).set_output(transform="polars").fit_transform(iris.data)
    np.testing.assert_allclose(polars.to_numpy(), scores.to_numpy())


def test_measures_of_a_few_components(X):
    """Loadings, communalities and squared cosines of the first of many components."""
    some, whole = PCA(2, standardize=True).fit(X), PCA(standardize=True).fit(X)
    np.testing.assert_allclose(some.loadings_, whole.loadings_[:, :2], atol=1e-12)
    np.testing.assert_allclose(
        some.communalities_, (whole.loadings_[:, :2] ** 2).sum(axis=1)
    )
    cosines = whole.squared_cosines(X)
    np.testing.assert_allclose(some.squared_cosines(X), cosines[:, :2], atol=1e-12)
    np.testing.assert_allclose(
        PCA(2, standardize=True, whiten=True).fit(X).squared_cosines(X), cosines[:, :2]
    )
    assert np.isnan(some.squared_cosines(some.mean_[np.newaxis])).all()
