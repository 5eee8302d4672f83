"""Linear discriminant analysis: the reference, the identities, what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import OAS, EmpiricalCovariance, ledoit_wolf
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis as StockAnalysis,
)
from sklearn.exceptions import DataConversionWarning

from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.discriminant_analysis.class_table import ClassTable
from sklearn_textbook.discriminant_analysis.covariance import choose_shrinkage
from tests.discriminant_analysis.cases import LONG, WIDE, make_table, make_weights
from tests.loops import loop_over
from tests.reference.linear_discriminant import (
    compute_posteriors,
    compute_scatters,
    find_direction,
    solve_eigenproblem,
)

SOLVERS = ("svd", "lsqr", "eigen")
SHAPES = LONG + WIDE
SCATTERS = ("within_scatter_", "between_scatter_", "total_scatter_")


@pytest.fixture(params=LONG, ids=str)
def long_case(request):
    X, y = make_table(len(LONG) + request.param[1], *request.param)
    return X, y, make_weights(1, len(y))


def fit(*case, **options):
    X, y, *weight = case
    return LinearDiscriminantAnalysis(**options).fit(X, y, *weight)


# -------------------------------------------------------------------- the reference
@pytest.mark.parametrize("solver", SOLVERS)
def test_scatter_equals_the_reference(solver, long_case):
    model = fit(*long_case, solver=solver)
    for name, expected in zip(SCATTERS, compute_scatters(*long_case), strict=True):
        tolerance = 1e-12 * np.abs(expected).max()
        assert_allclose(getattr(model, name), expected, rtol=1e-9, atol=tolerance)
    assert model.class_count_.tolist() == np.bincount(*long_case[1:]).tolist()


@pytest.mark.parametrize("solver", SOLVERS)
def test_direction_equals_the_reference(solver):
    for shape in LONG:
        if shape[2] == 2:
            case = (*make_table(3, *shape), make_weights(3, shape[0]))
            model = fit(*case, solver=solver)
            assert_allclose(model.direction_, find_direction(*case), rtol=1e-8)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_eigenproblem_equals_the_reference(solver, long_case):
    values, vectors = solve_eigenproblem(*long_case)
    model = fit(*long_case, solver=solver)
    assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    lengths = np.linalg.norm(model.scalings_, axis=0)
    cosines = np.abs(np.sum(model.scalings_ / lengths * vectors, axis=0))
    assert_allclose(cosines, 1.0, rtol=1e-8)


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_posterior_is_the_gaussian_rule(solver, equal, long_case):
    X, y, weight = long_case
    size = np.bincount(y, weight)
    priors = np.full(len(size), 1 / len(size)) if equal else size / size.sum()
    new_rows = X[:20] + 0.5
    expected = compute_posteriors(X, y, weight, priors, new_rows)
    model = fit(*long_case, solver=solver, priors=priors if equal else None)
    assert_allclose(model.predict_proba(new_rows), expected, rtol=1e-7, atol=1e-12)
    assert (model.predict(new_rows) == expected.argmax(axis=1)).all()
    logs = model.predict_log_proba(new_rows)
    assert_allclose(np.exp(logs), expected, rtol=1e-7, atol=1e-12)


def test_equal_priors_take_the_nearest_projected_centre(long_case):
    X, y, weight = long_case
    n_classes = y.max() + 1
    model = fit(X, y, weight, priors=np.full(n_classes, 1 / n_classes))
    projected = model.transform(X)
    offsets = projected[:, np.newaxis] - model.projected_means_
    nearest = np.square(offsets).sum(axis=2).argmin(axis=1)
    assert (model.predict(X) == nearest).all()


# ------------------------------------------------------------------- the identities
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_total_is_within_and_between(shape):
    X, y = make_table(5, *shape)
    model = fit(X, y, store_covariance=True)
    offsets = X - X.mean(axis=0)
    expected = offsets.T @ offsets
    tolerance = 1e-12 * np.abs(expected).max()
    assert_allclose(model.total_scatter_, expected, rtol=1e-9, atol=tolerance)
    summed = model.within_scatter_ + model.between_scatter_
    assert_allclose(summed, expected, rtol=1e-9, atol=tolerance)
    assert_allclose(model.covariance_ * len(X), model.within_scatter_)


@loop_over("scale", [1e-140, 1e-8, 1.0, 1e9, 1e140])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_directions_solve_the_eigenproblem(shape, scale):
    """S_b W = S_w W Λ and WᵀS_wW = m I, within what rows of a class span."""
    X, y = make_table(6, *shape)
    model = fit(X * scale, y, store_covariance=True)
    W = model.scalings_ * scale
    within = model.within_scatter_ / scale / scale
    between = model.between_scatter_ / scale / scale
    rank = shape[0] - shape[2] if shape in WIDE else shape[1]
    assert model.within_rank_ == rank
    assert_allclose(W.T @ within @ W, len(X) * np.eye(W.shape[1]), atol=1e-8 * len(X))
    left, right = W.T @ between, model.eigenvalues_[:, np.newaxis] * (W.T @ within)
    if shape in WIDE:  # where S_w is 0, the equation need not hold
        # An inverse of S_w is taken in units of the columns' deviations.
        deviation = np.sqrt(within.diagonal())
        _, _, rotation = np.linalg.svd(within / np.outer(deviation, deviation))
        span = rotation[:rank].T / deviation[:, np.newaxis]
        left = W.T @ between @ span
        right = model.eigenvalues_[:, np.newaxis] * (W.T @ within @ span)
    assert_allclose(left, right, atol=1e-8 * np.abs(right).max())


@pytest.mark.parametrize("shape", LONG, ids=str)
def test_no_competitor_has_a_larger_quotient(shape):
    X, y = make_table(7, *shape)
    model = fit(X, y)
    within, between = model.within_scatter_, model.between_scatter_
    random = np.random.default_rng(0)
    strangers = random.standard_normal((500, shape[1]))
    neighbours = model.scalings_[:, 0] * (
        1 + 0.1 * random.standard_normal((500, shape[1]))
    )

    def quotient(w):
        return np.einsum("ij,jk,ik->i", w, between, w) / np.einsum(
            "ij,jk,ik->i", w, within, w
        )

    best = quotient(model.scalings_[:, :1].T)[0]
    assert best == pytest.approx(model.eigenvalues_[0], rel=1e-9)
    competitors = quotient(np.vstack((strangers, neighbours)))
    assert (competitors <= best * (1 + 1e-9)).all()
    if shape[1] > 1:
        assert competitors.min() < 0.9 * best


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[2] == 2], ids=str)
def test_closed_form_is_the_eigenvector(shape):
    X, y = make_table(8, *shape)
    model = fit(X, y)
    w, v = model.direction_, model.scalings_[:, 0]
    cosine = w @ v / np.linalg.norm(w) / np.linalg.norm(v)
    assert cosine == pytest.approx(-1.0, rel=1e-9)  # the second class is positive
    assert model.projected_means_[1, 0] > 0 > model.projected_means_[0, 0]


WEIGHTED = [
    {},
    {"tol": 0.0},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "lsqr", "covariance_estimator": OAS()},
    {"solver": "eigen", "shrinkage": 0.2},
    {"solver": "eigen", "shrinkage": "auto"},
]


@pytest.mark.parametrize("options", WEIGHTED, ids=str)
@pytest.mark.parametrize("shape", [(80, 5, 3), (20, 30, 2)], ids=str)
# Copies are enough rows, but do not differ.
@pytest.mark.filterwarnings("ignore:Columns are linearly dependent within classes")
def test_weights_are_copies_of_rows(shape, options):
    X, y = make_table(9, *shape)
    weight = make_weights(9, len(y))
    weight[::7] = 0.0
    copies = weight.astype(int)
    one = fit(X, y, weight, **options)
    other = fit(np.repeat(X, copies, axis=0), np.repeat(y, copies), **options)
    for name in ("means_", "coef_", "intercept_", "priors_", "class_count_"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-7)
    if options.get("solver") != "lsqr":
        tolerance = 1e-9 * np.abs(other.scalings_).max()
        assert_allclose(one.scalings_, other.scalings_, rtol=1e-7, atol=tolerance)
        assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-7)


def test_scale_of_weights_matters_to_automatic_shrinkage_only():
    X, y = make_table(10, 30, 12, 2)
    weight = np.random.default_rng(0).random(30) + 0.1
    for options in ({}, {"solver": "eigen"}, {"solver": "lsqr", "shrinkage": 0.3}):
        one, other = fit(X, y, weight, **options), fit(X, y, weight * 7, **options)
        assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    options = {"solver": "lsqr", "shrinkage": "auto"}
    one, other = fit(X, y, weight, **options), fit(X, y, weight * 7, **options)
    assert np.abs(one.coef_ / other.coef_ - 1).max() > 0.01


@pytest.mark.parametrize("options", [{}, {"solver": "lsqr"}, {"solver": "eigen"}])
def test_affine_maps_change_nothing(options):
    X, y = make_table(11, 90, 5, 3)
    random = np.random.default_rng(1)
    mapped = X @ random.standard_normal((5, 5)) * 10.0 ** np.arange(5) + 100
    one, other = fit(X, y, **options), fit(mapped, y, **options)
    posterior = one.predict_proba(X)
    assert_allclose(other.predict_proba(mapped), posterior, rtol=1e-6, atol=1e-9)
    if "solver" not in options:
        projected = one.transform(X)
        assert_allclose(other.transform(mapped), projected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("exponent", [-150, 150])
def test_tiny_and_huge_columns_side_by_side(solver, exponent):
    X, y = make_table(12, 60, 4, 3)
    units = np.array([1.0, 10.0**exponent, 1.0, 10.0 ** (exponent + 3)])
    one, other = fit(X, y, solver=solver), fit(X * units, y, solver=solver)
    assert_allclose(
        other.predict_proba(X * units), one.predict_proba(X), rtol=1e-8, atol=1e-12
    )
    assert_allclose(other.means_, one.means_ * units, rtol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_far_from_the_origin(solver):
    X, y = make_table(13, 60, 4, 3)
    X = np.round(X * 2**20) / 2**20  # so that adding rounds nothing
    one, other = fit(X, y, solver=solver), fit(X + 2.0**24, y, solver=solver)
    assert_allclose(other.coef_, one.coef_, atol=1e-8)  # centres are rounded
    assert_allclose(other.predict_proba(X + 2.0**24), one.predict_proba(X), atol=1e-6)


# --------------------------------------------------------------------------- shrinkage
@pytest.mark.parametrize("shape", [(40, 6), (10, 30), (2, 3)], ids=str)
def test_weighted_shrinkage_is_that_of_ledoit_and_wolf(shape):
    Z = np.random.default_rng(2).standard_normal(shape)
    Z -= Z.mean(axis=0)
    table = ClassTable(Z, np.zeros(len(Z), dtype=np.intp), 1)
    rows = Z / np.sqrt(len(Z))
    found = choose_shrinkage(table, rows, rows.T @ rows)
    assert found == pytest.approx(ledoit_wolf(Z)[1], rel=1e-9)


@pytest.mark.parametrize("shrinkage", ["auto", 0, 0.0, 0.4, 1])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_shrunk_covariance_is_scikit_learns(solver, shrinkage):
    X, y = make_table(14, 60, 8, 3)
    options = {"solver": solver, "shrinkage": shrinkage}
    ours, theirs = fit(X, y, **options), StockAnalysis(**options).fit(X, y)
    assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    if solver == "eigen" and shrinkage != "auto":
        ratio = theirs.explained_variance_ratio_
        assert_allclose(ours.explained_variance_ratio_, ratio, atol=1e-9)
        ours, theirs = np.abs(ours.transform(X)), np.abs(theirs.transform(X))
        assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
def test_solvers_agree_with_given_priors(shrinkage):
    X, y = make_table(21, 90, 4, 3)
    priors = [0.7, 0.2, 0.1]
    options = {"priors": priors, "shrinkage": shrinkage, "store_covariance": True}
    eigen = fit(X, y, solver="eigen", **options)
    other = fit(X, y, solver="svd" if shrinkage is None else "lsqr", **options)
    assert_allclose(eigen.predict_proba(X), other.predict_proba(X), atol=1e-10)
    assert_allclose(eigen.covariance_, other.covariance_, rtol=1e-9, atol=1e-12)
    total = eigen.explained_variance_ratio_.sum()
    assert total < 1.0 if shrinkage == 0.3 else total == pytest.approx(1.0, rel=1e-12)
    if shrinkage is None:
        assert_allclose(
            eigen.explained_variance_ratio_, other.explained_variance_ratio_
        )
        assert_allclose(eigen.eigenvalues_, other.eigenvalues_)
        assert_allclose(eigen.scalings_, other.scalings_, rtol=1e-7, atol=1e-9)


class WeightedCovariance(EmpiricalCovariance):
    """An estimator that takes weights."""

    def fit(self, X, y=None, sample_weight=None):
        self.covariance_ = np.cov(X, rowvar=False, bias=True, aweights=sample_weight)
        return self


def test_covariance_estimator_is_given_the_weights():
    X, y = make_table(15, 50, 4, 2)
    weight = np.random.default_rng(3).random(50) + 0.1
    estimator = WeightedCovariance()
    options = {"solver": "eigen", "covariance_estimator": estimator}
    assert_allclose(
        fit(X, y, weight, **options).coef_, fit(X, y, weight, solver="eigen").coef_
    )
    assert not hasattr(estimator, "covariance_")
    with pytest.raises(
        ValueError, match="OAS does not accept sample_weight.* integers"
    ):
        fit(X, y, weight, solver="lsqr", covariance_estimator=OAS())


# ---------------------------------------------------------- what is not of full rank
def test_dependent_columns_change_nothing():
    X, y = make_table(16, 80, 4, 3)
    wide = np.column_stack((X, X[:, 0] + X[:, 1], np.full(80, 0.1), X[:, 2]))
    named = r"dependent within classes: 0, 1, 2, 4, 6\. The rank is 4 of 7 columns"
    one = fit(X, y)
    with pytest.warns(UserWarning, match=f"{named}.*are omitted"):
        other = fit(wide, y)
    assert (one.within_rank_, other.within_rank_) == (4, 4)
    assert_allclose(other.predict_proba(wide), one.predict_proba(X), atol=1e-9)
    assert_allclose(other.transform(wide), one.transform(X), atol=1e-8)
    with pytest.warns(UserWarning, match=f"{named}.*the smallest norm"):
        lsqr = fit(wide, y, solver="lsqr")
    assert lsqr.within_rank_ == 4
    assert_allclose(lsqr.predict_proba(wide), one.predict_proba(X), atol=1e-8)
    with pytest.raises(np.linalg.LinAlgError, match="is singular.*solver='svd'"):
        fit(wide, y, solver="eigen")
    assert fit(wide, y, solver="eigen", shrinkage=0.1).within_rank_ == 7


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_columns_dependent_within_classes_only(solver):
    """They separate the classes perfectly, and scikit-learn ignores them silently."""
    X, y = make_table(18, 90, 3, 2)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["sum"] = table["a"] + table["b"] + y
    with pytest.warns(UserWarning, match="within classes: 'a', 'b', 'sum'. The rank"):
        fit(table, y, solver=solver)


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_few_rows_are_no_dependence(solver):
    X, y = make_table(19, 20, 30, 2)
    assert fit(X, y, solver=solver).within_rank_ == 18


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_column_that_is_constant_but_for_rounding_is_left_out(solver):
    """0.1 added up and divided is not 0.1: what is left must not count."""
    X, y = make_table(17, 70, 3, 2)
    constant = np.where(y == 0, 0.1, 0.3)
    with pytest.warns(UserWarning, match="differ between classes: 3. They are ignored"):
        model = fit(np.column_stack((X, constant)), y, solver=solver)
    assert model.coef_[0, 3] == 0.0
    assert_allclose(model.coef_[:, :3], fit(X, y, solver=solver).coef_, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_scatter_within_the_classes(solver):
    X, y = [[0.0, 1.0], [0.0, 1.0], [2.0, 3.0]], ["a", "a", "b"]
    error = np.linalg.LinAlgError if solver == "eigen" else ValueError
    with pytest.raises(error, match=r"do not differ within|is singular"):
        fit(X, y, solver=solver)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_centres_on_a_line(solver):
    """Three classes, but one direction: no other is made up from rounding."""
    X, _ = make_table(18, 60, 4, 1)
    y = np.repeat([0, 1, 2], 60)
    rows = np.vstack([X - X.mean(axis=0) + k for k in range(3)])
    model = fit(rows, y, solver=solver)
    assert_allclose(model.explained_variance_ratio_, [1.0, 0.0], atol=1e-12)
    if solver == "svd":
        model.set_output(transform="pandas")
        frame = model.transform(rows)
        assert frame.columns.tolist() == ["lineardiscriminantanalysis0"]


def test_equal_centres():
    X, _ = make_table(19, 40, 3, 1)
    X = np.vstack((X, X)) + 0.1
    model = fit(X, np.repeat([0, 1], 40))
    assert model.transform(X).shape == (80, 0)
    assert_allclose(model.predict_proba(X), 0.5)
    assert model.explained_variance_ratio_.tolist() == [0.0]


def test_one_class():
    X, _ = make_table(20, 30, 3, 1)
    model = fit(X, np.full(30, "a"))
    assert (model.predict(X) == "a").all()
    assert model.predict_proba(X).tolist() == [[1.0]] * 30
    assert model.predict_log_proba(X).tolist() == [[0.0]] * 30
    assert model.transform(X).shape == (30, 0)


# ------------------------------------------------------------------------------- in use
def test_frames_names_and_pickles():
    X, y = make_table(21, 60, 4, 3)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = fit(frame, pd.Series(y).map({0: "x", 1: "y", 2: "z"}))
    assert model.feature_names_in_.tolist() == list("abcd")
    names = [f"lineardiscriminantanalysis{i}" for i in range(2)]
    assert model.get_feature_names_out().tolist() == names
    model.set_output(transform="polars")
    assert model.transform(frame).columns == names
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(frame) == model.predict(frame)).all()


def test_attributes_of_an_earlier_fit_are_gone():
    X, y = make_table(22, 40, 3, 2)
    model = fit(X, y, store_covariance=True)
    assert hasattr(model, "covariance_")
    model.set_params(store_covariance=False)
    wide, labels = make_table(22, 10, 30, 3)
    model.fit(wide, labels)
    for name in ("covariance_", *SCATTERS, "direction_"):
        assert not hasattr(model, name)
    model.set_params(solver="lsqr").fit(X, y)
    for name in ("scalings_", "eigenvalues_", "projected_means_"):
        assert not hasattr(model, name)


def test_single_precision_is_rounded_at_the_end_only():
    X, y = make_table(23, 80, 5, 3)
    X = (X + 1_000).astype(np.float32)
    one, other = fit(X, y), fit(X.astype(np.float64), y)
    assert one.coef_.dtype == one.transform(X).dtype == np.float32
    assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-7)


def test_log_posteriors_below_the_smallest_float():
    X = np.array([[0.0], [1.0], [1000.0], [1001.0]])
    model = fit(X, [0, 0, 1, 1])
    assert model.predict_proba([[-1000.0]])[0, 1] == 0.0
    log_posterior = model.predict_log_proba([[-1000.0]])[0, 1]
    assert log_posterior == pytest.approx(-1500.5 * 1000 * 4, rel=1e-6)


def test_prior_of_zero_is_never_predicted():
    X, y = make_table(24, 60, 3, 3)
    for solver in SOLVERS:
        model = fit(X, y, solver=solver, priors=[0.0, 0.4, 0.6])
        assert (model.predict_proba(X)[:, 0] == 0.0).all()
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "qr"}, "'solver' parameter must be one of 'svd', 'lsqr', 'eigen'"),
        ({"solver": "lsqr", "shrinkage": 1.5}, "'shrinkage' .* got 1.5"),
        ({"solver": "lsqr", "shrinkage": "some"}, "'shrinkage' .* got 'some'"),
        ({"tol": -1.0}, "'tol'"),
        ({"tol": 9.0}, "tol=9.0 omits every direction"),
        ({"n_components": 0}, "'n_components'"),
        ({"n_components": 3}, r"cannot be larger than .* = 2, .* got 3"),
        ({"store_covariance": 1}, "'store_covariance'"),
        ({"priors": [0.5, 0.5]}, r"must have shape \(3,\), .*; got \(2,\)"),
        ({"priors": [0.5, 0.6, -0.1]}, "non-negative"),
        ({"priors": [0.0, 0.0, 0.0]}, "not all zero"),
        ({"priors": [0.5, 0.5, np.nan]}, "priors contains NaN"),
        ({"solver": "lsqr", "covariance_estimator": 3}, "'covariance_estimator'"),
    ],
)
def test_parameters_are_checked(options, message):
    X, y = make_table(25, 40, 3, 3)
    with pytest.raises(ValueError, match=message):
        fit(X, y, **options)


def test_targets_and_weights_are_checked():
    X, y = make_table(26, 20, 2, 2)
    with pytest.raises(ValueError, match="missing value in row 1"):
        fit(X[:3], ["a", None, "b"])
    with pytest.raises(ValueError, match="Unknown label type"):
        fit(X, X[:, 0])
    with pytest.raises(ValueError, match="must not be negative"):
        fit(X, y, np.where(y, 1.0, -1.0))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = fit(X, y.reshape(-1, 1))
    assert (model.predict(X) == fit(X, y).predict(X)).all()
