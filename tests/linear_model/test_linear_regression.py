"""LinearRegression: a reference in fractions, other programs, and its measures."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as StockLinearRegression
from sklearn.linear_model import Ridge

from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.linear_model.least_squares import solution
from sklearn_textbook.linear_model.solve import row_triangle
from tests.linear_model.linear_cases import assert_same_model, make_table
from tests.loops import loop_over
from tests.memory import measure_peak
from tests.reference import linear_regression as reference


# -------------------------------------------------------------- reference in fractions
@loop_over("seed", range(12))
@pytest.mark.parametrize("offset", [0, 2**27])
@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
def test_reference(seed, offset):
    random = np.random.default_rng(seed)
    n_rows, n_columns = int(random.integers(2, 12)), int(random.integers(1, 6))
    X = random.integers(-3, 4, (n_rows, n_columns)) + offset
    if seed % 3 == 0:
        X[:, -1] = 2 * X[:, 0]  # depends, or is the only column
    y = random.integers(-9, 10, n_rows)
    weight = random.integers(1, 4, n_rows).tolist() if seed % 2 else None
    alpha = int(random.integers(0, 2)) if seed % 4 == 1 else 0
    fit_intercept = bool(seed % 5) or offset > 0
    coef, intercept, rank, squares, inverse = reference.fit(
        X.tolist(), y.tolist(), weight, alpha, fit_intercept
    )
    model = LinearRegression(fit_intercept=fit_intercept, alpha=alpha)
    model.fit(X, y, weight)
    size = 1 + max(map(abs, coef))
    np.testing.assert_allclose(
        model.coef_, [float(value) for value in coef], atol=1e-12 * float(size)
    )
    np.testing.assert_allclose(
        model.intercept_, float(intercept), atol=1e-12 * float(size) * (1 + offset)
    )
    np.testing.assert_allclose(
        model.residual_sum_of_squares_, float(squares), atol=1e-11 * float(y @ y + 1)
    )
    if not alpha:
        assert model.rank_ == rank
    freedom = model.residual_degrees_of_freedom_
    if inverse is not None and not alpha and freedom > 0:
        variance = float(squares) / freedom
        errors = [float(row[j]) * variance for j, row in enumerate(inverse)]
        np.testing.assert_allclose(model.standard_errors_**2, errors, rtol=1e-9)


def test_simple_regression_is_the_formula_of_the_book():
    """Formulas (3.7) and (3.8), and the same as of two columns of which one is zero."""
    X, y = make_table(n_columns=1)
    x, m = X[:, 0], len(y)
    w = (y * (x - x.mean())).sum() / ((x**2).sum() - x.sum() ** 2 / m)
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, [w], rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, (y - w * x).mean(), rtol=1e-10)
    with pytest.warns(UserWarning, match=r"or constant: 'x1'\. The rank is 1"):
        beside = LinearRegression().fit(np.column_stack([X, np.zeros(m)]), y)
    np.testing.assert_allclose(beside.coef_, [model.coef_[0], 0.0], rtol=1e-10)
    np.testing.assert_allclose(
        beside.standard_errors_, [model.standard_errors_[0], np.nan], rtol=1e-10
    )
    assert beside.residual_sum_of_squares_ == pytest.approx(
        model.residual_sum_of_squares_, rel=1e-12
    )


# ---------------------------------------------------------- the same numbers elsewhere
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_targets"),
    [
        (5000, 20, None),
        (9000, 3, 2),
        (600, 5, 40),
        (40, 40, None),
        (30, 80, 2),
        (2, 1, None),
        (1, 1, None),
        (1, 3, None),
    ],
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_shapes_as_scikit_learn(n_rows, n_columns, n_targets, fit_intercept):
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_columns))
    y = random.normal(size=n_rows if n_targets is None else (n_rows, n_targets))
    weight = random.uniform(0.5, 2.0, n_rows)
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight)
    theirs = StockLinearRegression(fit_intercept=fit_intercept)
    if hasattr(theirs, "tol"):  # from scikit-learn 1.7 on
        theirs.set_params(tol=1e-12)
    theirs.fit(X, y, weight)
    assert ours.rank_ == theirs.rank_
    for name in ("coef_", "intercept_", "singular_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), atol=1e-9, err_msg=name
        )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)


@pytest.mark.parametrize("shape", [(50, 4), (6, 9)])
def test_ridge_as_scikit_learn(shape):
    X, y = make_table(1, *shape, n_targets=2)
    ours = LinearRegression(alpha=3.0).fit(X, y)
    theirs = Ridge(alpha=3.0, solver="svd").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)


def test_many_columns_go_to_lapack_at_once(monkeypatch):
    X, y = make_table(9, 500, 6)
    blocks = LinearRegression().fit(X, y)
    monkeypatch.setattr(row_triangle, "MAX_BLOCK_COLUMNS", 3)
    assert_same_model(LinearRegression().fit(X, y), blocks)


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 3.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_of_rows_solve_as_reflections_do(alpha, fit_intercept, monkeypatch):
    random = np.random.default_rng(5)
    X = random.standard_normal((30, 500)) * np.exp(random.standard_normal(500))
    Y = random.standard_normal((30, 2))
    model = LinearRegression(alpha=alpha, fit_intercept=fit_intercept)
    fitted = clone(model).fit(X, Y)
    monkeypatch.setattr(solution, "MIN_CONDITION", np.inf)
    other = clone(model).fit(X, Y)
    assert fitted.rank_ == other.rank_
    assert_allclose(fitted.coef_, other.coef_, rtol=1e-9, atol=1e-11)
    assert_allclose(fitted.intercept_, other.intercept_, rtol=1e-9, atol=1e-11)


def test_wide_tables_are_copied_once():
    X = np.random.default_rng(6).standard_normal((100, 4000))
    model = LinearRegression(alpha=1.0).fit(X, X[:, 0])
    assert measure_peak(lambda: model.fit(X, X[:, 0])) < 2.0 * X.nbytes


def test_ridge_measures_follow_from_the_hat_matrix():
    X, y = make_table(2)
    X /= X.std(axis=0)
    alpha, n_rows = 7.0, len(y)
    centered = X - X.mean(axis=0)
    inverse = np.linalg.inv(centered.T @ centered + alpha * np.eye(X.shape[1]))
    hat = centered @ inverse @ centered.T + 1 / n_rows
    model = LinearRegression(alpha=alpha).fit(X, y)
    influence = model.influence(X, y)
    np.testing.assert_allclose(influence.fitted, hat @ y, rtol=1e-10)
    np.testing.assert_allclose(influence.leverage, np.diag(hat), rtol=1e-10)
    assert model.effective_rank_ + 1 == pytest.approx(np.trace(hat), rel=1e-10)
    freedom = n_rows - np.trace(2 * hat - hat @ hat.T)
    assert model.residual_degrees_of_freedom_ == pytest.approx(freedom, rel=1e-10)
    residuals = y - hat @ y
    variance = residuals @ residuals / freedom
    spread = inverse @ centered.T @ centered @ inverse * variance
    np.testing.assert_allclose(
        model.standard_errors_, np.sqrt(np.diag(spread)), rtol=1e-9
    )
    _, errors = model.predict(X, return_std=True)
    np.testing.assert_allclose(
        errors, np.sqrt(np.diag(hat @ hat.T) * variance), rtol=1e-9
    )


def test_standard_errors_are_those_of_many_samples():
    """Nothing but chance between them and the scatter of estimates."""
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 3)) @ np.array([[1, 0.9, 0], [0, 1, 0], [0, 0, 2.0]])
    targets = X @ [1.0, -1.0, 0.5] + random.normal(size=(4000, 30))
    model = LinearRegression().fit(X, targets.T)
    scatter = model.coef_.std(axis=0)
    np.testing.assert_allclose(
        np.sqrt((model.standard_errors_**2).mean(axis=0)), scatter, rtol=0.05
    )
    low, high = np.moveaxis(
        np.array([t.confidence_intervals for t in model.coefficient_table_]), 2, 0
    )
    is_inside = (low[:, 1:] <= [1.0, -1.0, 0.5]) & (high[:, 1:] >= [1.0, -1.0, 0.5])
    np.testing.assert_allclose(is_inside.mean(), 0.95, atol=0.01)


# ------------------------------------------------------------------------ metamorphic
def test_frequencies_are_repeated_rows():
    X, y = make_table()
    counts = np.arange(len(y)) % 4
    weighted = LinearRegression().fit(X, y, counts)
    repeated = LinearRegression().fit(np.repeat(X, counts, axis=0), y.repeat(counts))
    assert_same_model(weighted, repeated)
    assert weighted.bic_ == pytest.approx(repeated.bic_)
    np.testing.assert_allclose(
        weighted.influence(X, y).leverage, repeated.influence(X, y).leverage
    )


def test_precisions_have_no_unit():
    X, y = make_table()
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(y))
    one = LinearRegression(weight_type="variance").fit(X, y, weight)
    other = LinearRegression(weight_type="variance").fit(X, y, 1000.0 * weight)
    assert_same_model(one, other)
    frequency = LinearRegression().fit(X, y, np.ceil(1000.0 * weight))
    assert (frequency.standard_errors_ < 0.1 * one.standard_errors_).all()


def test_rows_of_weight_zero_leave_no_trace():
    X, y = make_table()
    weight = np.ones(len(y))
    weight[::3] = 0.0
    X[0] = 1e300
    for kind in ("frequency", "variance"):
        model = LinearRegression(weight_type=kind).fit(X, y, weight)
        assert_same_model(
            model, LinearRegression().fit(X[weight > 0], y[weight > 0]), rtol=1e-13
        )


def test_units_move_coefficients_and_nothing_else():
    X, y = make_table()
    units = 10.0 ** np.array([-9, 0, 4, 9])
    one, other = LinearRegression().fit(X, y), LinearRegression().fit(X * units, y)
    np.testing.assert_allclose(other.coef_ * units, one.coef_, rtol=1e-11)
    np.testing.assert_allclose(
        other.coefficient_table_.statistics, one.coefficient_table_.statistics
    )
    assert other.rank_ == 4
    column = X[:, :1]
    np.testing.assert_allclose(
        LinearRegression().fit(column * 1e-290, y).coef_ * 1e-290,
        LinearRegression().fit(column, y).coef_,
        rtol=1e-11,
    )
    tiny = LinearRegression().fit(X * 1e-200, y)
    for name in ("coef_", "standard_errors_"):
        np.testing.assert_allclose(
            getattr(tiny, name) * 1e-200, getattr(one, name), rtol=1e-11
        )


def test_offsets_cost_no_digits_but_those_of_the_values():
    random = np.random.default_rng(3)
    X = np.round(random.normal(size=(500, 3)), 6)
    y = random.normal(size=500) + X @ [1.0, 2.0, 3.0]
    offsets = np.array([1e8, -1e8, 1e7])
    far = X + offsets
    near = far - offsets  # what is left of X
    one = LinearRegression().fit(near, y)
    other = LinearRegression().fit(far, y + 1e8)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-7)
    np.testing.assert_allclose(other.standard_errors_, one.standard_errors_, rtol=1e-7)


def test_permuted_rows_and_columns():
    X, y = make_table()
    rows, columns = np.random.default_rng(0).permutation(len(y)), [2, 0, 3, 1]
    one, other = (
        LinearRegression().fit(X, y),
        LinearRegression().fit(X[rows][:, columns], y[rows]),
    )
    np.testing.assert_allclose(other.coef_, one.coef_[columns], rtol=1e-10)


# ------------------------------------------------------------------- further behaviour
def test_positive():
    X, y = make_table(7, n_targets=2)
    y -= 3 * (X[:, :1] / X[:, 0].std())
    ours = LinearRegression(positive=True).fit(X, y)
    theirs = StockLinearRegression(positive=True).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    assert (ours.coef_ == 0).any()
    assert np.isnan(ours.standard_errors_).all()
    assert np.isnan(ours.aic_).all()
    sums = ((y - ours.predict(X)) ** 2).sum(axis=0)
    np.testing.assert_allclose(ours.residual_sum_of_squares_, sums, rtol=1e-9)
    assert "no standard errors" in ours.summary()
    blocks = LinearRegression(positive=True)
    for start in range(0, 60, 20):
        blocks.partial_fit(X[start : start + 20], y[start : start + 20])
    np.testing.assert_allclose(blocks.coef_, ours.coef_, rtol=1e-9, atol=1e-12)
    from_sparse = LinearRegression(positive=True).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(from_sparse.coef_, ours.coef_, rtol=1e-9, atol=1e-12)


def test_every_parameter_matters():
    X, y = make_table(8)
    y -= 4 * X[:, 0] / X[:, 0].std()
    base = LinearRegression().fit(X, y)
    for parameters in ({"fit_intercept": False}, {"positive": True}, {"alpha": 9.0}):
        changed = LinearRegression(**parameters).fit(X, y)
        assert not np.allclose(changed.coef_, base.coef_)
    with pytest.warns(UserWarning, match="linearly dependent"):
        assert LinearRegression(tol=0.999).fit(X, y).rank_ < base.rank_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "'alpha' parameter must be a float in the range"),
        ({"tol": "small"}, "'tol' parameter must be a float"),
        (
            {"weight_type": "counts"},
            "'weight_type' parameter must be one of 'frequency'",
        ),
        ({"positive": 1}, "'positive' parameter must be True or False"),
        ({"reference_level": "middle"}, "'reference_level' parameter must be one of"),
        ({"handle_unknown": "zero"}, "'handle_unknown' parameter must be one of"),
        ({"n_jobs": 0}, "'n_jobs' parameter must be"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearRegression(**parameters).fit(*make_table())


def test_wrong_arguments():
    X, y = make_table()
    model = LinearRegression().fit(X, y)
    for level in (0, 1.0, 95, "0.9"):
        with pytest.raises(ValueError, match=r"level must be a float in .*\(0, 1\)"):
            model.predict_interval(X, level=level)
        with pytest.raises(ValueError, match="level must be a float"):
            model.summary(level=level)
    with pytest.raises(
        ValueError, match="'kind' parameter must be one of 'prediction'"
    ):
        model.predict_interval(X, kind="tolerance")
    with pytest.raises(ValueError, match=r"y has shape \(60, 2\).*one target"):
        model.influence(X, np.column_stack([y, y]))
    for factor in (1e160, 1e306):
        with pytest.raises(ValueError, match="square overflows"):
            LinearRegression().fit(X * factor, y)


def test_interval_kinds():
    X, y = make_table()
    model = LinearRegression().fit(X, y)
    mean = model.predict_interval(X, kind="confidence")
    new = model.predict_interval(X)
    assert ((new[:, 0] < mean[:, 0]) & (mean[:, 1] < new[:, 1])).all()
    assert (np.diff(model.predict_interval(X, level=0.5)) < np.diff(new)).all()
    two = LinearRegression().fit(X, np.column_stack([y, 2 * y]))
    np.testing.assert_allclose(two.predict_interval(X)[:, :, 0], new)
    np.testing.assert_allclose(two.predict_interval(X)[:, :, 1], 2 * new)


def test_summary_of_several_targets_and_of_rows():
    X, y = make_table()
    text = LinearRegression().fit(X, np.column_stack([y, y])).summary()
    assert text.count("Linear regression: least squares, target") == 2
    model = LinearRegression().fit(X, y)
    text = model.summary(X, y, level=0.9)
    assert "5%" in text
    residuals = y - model.predict(X)
    watson = (np.diff(residuals) ** 2).sum() / (residuals**2).sum()
    assert f"Durbin-Watson: {watson:.5g}" in text
    assert f"{np.median(residuals):.5g}" in text


def test_no_minus_before_zero():
    X, _ = make_table()
    text = LinearRegression().fit(X, np.ones(len(X))).summary()
    assert " 0 " in text
    assert "-0 " not in text


def test_pickle_and_reuse():
    X, y = make_table()
    model = LinearRegression().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.summary() == model.summary()
    # What has the rank at hand must not outlive the fit.
    model.fit(X[:, :2], y)
    assert len(model.standard_errors_) == 2


def test_rows_are_not_written_to():
    X, y = make_table()
    weight = np.ones(len(y))
    for array in (X, y, weight):
        array.flags.writeable = False
    LinearRegression(copy_X=False).fit(X, y, weight)
    LinearRegression().fit(X[:, :1], y, weight)
    LinearRegression().fit(X[:3], y[:3], weight[:3])


@pytest.mark.parametrize("kind", ["column", "indicators"])
def test_a_constant_among_the_columns_counts_as_the_intercept(kind):
    X, y = make_table()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    parts = [np.full(len(X), 3.0)]
    if kind == "indicators":
        is_first = np.arange(len(X)) % 3 == 0
        parts = [is_first, ~is_first]
        X = np.column_stack([X, is_first])
    expected = LinearRegression().fit(X, y, weight)
    n_own = X.shape[1] - (kind == "indicators")
    Z = np.column_stack([X[:, :n_own], *parts])
    whole = LinearRegression(fit_intercept=False).fit(Z, y, weight)
    blocks = LinearRegression(fit_intercept=False)
    blocks.partial_fit(Z[:20], y[:20], weight[:20])
    blocks.partial_fit(Z[20:], y[20:], weight[20:])
    sparse_one = LinearRegression(fit_intercept=False)
    sparse_one.fit(sparse.csr_array(Z), y, weight)
    for model in (whole, blocks, sparse_one):
        for name in ("r_squared_", "adjusted_r_squared_", "f_statistic_"):
            assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-8)
        assert_allclose(model.f_p_value_, expected.f_p_value_, rtol=1e-6)
        assert f"F({X.shape[1]}, " in model.summary()
    # Nearly constant is not constant.
    Z[:, n_own] += 1e-4 * np.arange(len(Z))
    model = LinearRegression(fit_intercept=False).fit(Z, y, weight)
    residual = weight @ (y - model.predict(Z)) ** 2
    assert_allclose(model.r_squared_, 1 - residual / (weight @ y**2), rtol=1e-9)


def test_constant_columns_fit_and_no_columns_say_what_to_give():
    y = np.arange(6.0) ** 2
    for fit_intercept in (True, False):
        model = LinearRegression(fit_intercept=fit_intercept).fit(np.ones((6, 1)), y)
        assert_allclose(model.predict([[1.0]]), y.mean())
        assert model.r_squared_ == pytest.approx(0.0, abs=1e-12)
        assert np.isnan(model.f_statistic_)
        assert "R²" in model.summary()
    for X in (np.empty((6, 0)), sparse.csr_array((6, 0)), pd.DataFrame(index=range(6))):
        with pytest.raises(ValueError, match=r"To fit only an intercept, pass a co"):
            LinearRegression().fit(X, y)


def test_a_penalty_and_one_row(capfd):
    """LAPACK is not asked to solve a system without equations."""
    model = LinearRegression(alpha=1.0).fit([[1.0, 2.0]], [3.0])
    assert model.coef_.tolist() == [0.0, 0.0]
    assert model.intercept_ == 3.0
    assert capfd.readouterr() == ("", "")


#: NIST's certified coefficients of Filip, from the intercept up.
FILIP = [
    *(-1467.48961422980, -2772.17959193342, -2316.37108160893, -1127.97394098372),
    *(-354.478233703349, -75.1242017393757, -10.8753180355343, -1.06221498588947),
    *(-0.0670191154593408, -0.00246781078275479, -0.0000402962525080404),
]


def test_polynomial_of_tenth_degree():
    table = pd.read_csv(Path(__file__).parents[1] / "data" / "nist_filip.csv")
    powers = np.column_stack([table["x"] ** power for power in range(1, 11)])
    model = LinearRegression().fit(powers, table["y"])
    assert model.rank_ == 10
    assert_allclose([model.intercept_, *model.coef_], FILIP, rtol=1e-6)
    assert_allclose(model.residual_standard_error_, 0.00334801051324544, rtol=1e-6)
    assert_allclose(model.intercept_standard_error_, 298.084530995537, rtol=1e-6)
