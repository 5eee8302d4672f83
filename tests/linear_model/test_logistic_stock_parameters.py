"""scikit-learn's parameters of LogisticRegression mean what they mean there."""

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression as StockLogisticRegression
from sklearn.preprocessing import scale

from sklearn_textbook.linear_model import LogisticRegression

STOCK_PARAMETERS = inspect.signature(StockLogisticRegression).parameters
#: Not standardised: a penalised intercept depends on where zero is.
X_TWO, Y_TWO = load_iris(return_X_y=True)
X_TWO, Y_TWO = X_TWO[50:], Y_TWO[50:]
X_WINE, Y_WINE = load_wine(return_X_y=True)
X_WINE = scale(X_WINE)[:, :6]
DEPRECATED = pytest.mark.filterwarnings("ignore::FutureWarning")


def fit_stock(X, y, **parameters):
    """scikit-learn's estimator, without its warnings of what it has deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = StockLogisticRegression(tol=1e-9, max_iter=100_000, **parameters)
        return model.fit(X, y)


@DEPRECATED
@pytest.mark.parametrize(
    ("X", "y"), [(X_TWO, Y_TWO), (X_WINE, Y_WINE)], ids=["two", "three"]
)
@pytest.mark.parametrize(
    "parameters",
    [
        {"C": 1.0},
        {"C": 0.3, "random_state": 0, "solver": "newton-cg"},
        {"C": 2.0, "solver": "newton-cholesky", "class_weight": "balanced"},
        {"C": 0.5, "solver": "lbfgs", "fit_intercept": False},
        {"penalty": "l2"},
        {"penalty": "l2", "C": 0.2},
        {"penalty": "l1", "C": 0.2, "solver": "saga", "l1_ratio": 1.0},
        {"penalty": "elasticnet", "l1_ratio": 0.4, "solver": "saga"},
        pytest.param(
            {"l1_ratio": 1.0, "solver": "saga", "C": 0.2, "random_state": 3},
            marks=pytest.mark.skipif(
                "multi_class" in STOCK_PARAMETERS, reason="needs penalty before 1.8"
            ),
        ),
    ],
    ids=repr,
)
def test_coefficients_are_those_of_scikit_learn(X, y, parameters):
    stock = fit_stock(X, y, **parameters)
    model = LogisticRegression(**parameters).fit(X, y)
    assert model.coef_.shape == stock.coef_.shape
    assert_allclose(model.coef_, stock.coef_, atol=2e-4)
    assert_allclose(model.intercept_, stock.intercept_, atol=2e-4)


@DEPRECATED
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"C": 0.1, "intercept_scaling": 10.0},
        {"penalty": "l1", "l1_ratio": 1.0, "C": 0.3, "intercept_scaling": 0.5},
        {"dual": True, "random_state": 0, "intercept_scaling": 2.0},
        {"fit_intercept": False},
    ],
    ids=repr,
)
def test_liblinear_penalises_the_intercept(container, parameters):
    stock = fit_stock(X_TWO, Y_TWO, solver="liblinear", **parameters)
    table = container(X_TWO)
    model = LogisticRegression(solver="liblinear", **parameters).fit(table, Y_TWO)
    assert_allclose(model.coef_, stock.coef_, atol=1e-4)
    assert_allclose(model.intercept_, stock.intercept_, atol=1e-4)
    assert_allclose(model.predict_proba(table), stock.predict_proba(X_TWO), atol=1e-4)
    again = model.set_params(warm_start=True).fit(table, Y_TWO)
    assert again.n_iter_[0] <= 1
    with pytest.raises(ValueError, match="'liblinear' solver does not support"):
        model.fit(X_WINE, Y_WINE)


@pytest.mark.parametrize("parameters", [{"C": np.inf}, {"penalty": None}], ids=repr)
@DEPRECATED
def test_liblinear_needs_a_penalty(parameters):
    model = LogisticRegression(solver="liblinear", **parameters)
    with pytest.raises(ValueError, match="solver='liblinear' always has a penalty"):
        model.fit(X_TWO, Y_TWO)


def test_intercept_scaling_of_zero_is_refused_where_it_matters():
    model = LogisticRegression(solver="liblinear", intercept_scaling=0)
    with pytest.raises(ValueError, match="'intercept_scaling' parameter must be above"):
        model.fit(X_TWO, Y_TWO)


@DEPRECATED
def test_no_penalty_unless_one_is_asked_for():
    """Maximum likelihood by default; scikit-learn's strength where none is given."""
    free = LogisticRegression().fit(X_WINE[:, :3], Y_WINE)
    assert free.coef_.shape == (2, 3)
    for parameters in ({"penalty": None}, {"penalty": None, "C": 1.0}, {"C": np.inf}):
        model = LogisticRegression(**parameters).fit(X_WINE[:, :3], Y_WINE)
        assert_array_equal(model.coef_, free.coef_)
    one = LogisticRegression(C=1.0).fit(X_WINE, Y_WINE)
    asked = LogisticRegression(penalty="l2").fit(X_WINE, Y_WINE)
    assert_array_equal(asked.coef_, one.coef_)
    assert "C=1, l1_ratio=0: no standard errors" in asked.summary()
    lasso = LogisticRegression(l1_ratio=1.0).fit(X_WINE, Y_WINE)
    one.set_params(l1_ratio=1.0).fit(X_WINE, Y_WINE)
    assert_array_equal(lasso.coef_, one.coef_)
    infinite = LogisticRegression(penalty="l2", C=np.inf).fit(X_WINE[:, :3], Y_WINE)
    assert_array_equal(infinite.coef_, free.coef_)


def test_symmetric_exactly_with_a_penalty():
    """Penalties do not depend on which class is the last."""
    order = 2 - Y_WINE
    one = LogisticRegression(C=1.0).fit(X_WINE, Y_WINE)
    other = LogisticRegression(C=1.0).fit(X_WINE, order)
    assert_allclose(other.coef_[::-1], one.coef_, atol=1e-7)
    assert one.reference_class_ is None
    model = LogisticRegression(C=1.0, parametrization="reference").fit(X_WINE, Y_WINE)
    assert model.coef_.shape == (2, 6)


@pytest.mark.parametrize(
    ("parameters", "category", "words"),
    [
        ({"penalty": "l2"}, FutureWarning, "'penalty' was deprecated .* 1.8"),
        ({"penalty": None}, FutureWarning, "'penalty' was deprecated .* 1.8"),
        ({"l1_ratio": None}, FutureWarning, "'l1_ratio=None' was deprecated"),
        ({"multi_class": "auto"}, FutureWarning, "'multi_class' was deprecated"),
        ({"penalty": None, "C": 2}, UserWarning, "ignore the C parameter, 2"),
        ({"penalty": "l1", "l1_ratio": 0.5}, UserWarning, "l1_ratio=0.5, which is ign"),
        ({"penalty": "l2", "l1_ratio": 1.0}, UserWarning, "l1_ratio=1.0, which is ign"),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_deprecated_parameters_warn(parameters, category, words):
    with pytest.warns(category, match=words):
        LogisticRegression(**parameters).fit(X_TWO, Y_TWO)


def test_penalty_comes_first():
    assert LogisticRegression("l1").penalty == "l1"


@DEPRECATED
def test_forms_that_are_other_models_are_refused():
    with pytest.raises(ValueError, match="'ovr' does not support.* OneVsRest"):
        LogisticRegression(multi_class="ovr").fit(X_WINE, Y_WINE)
    with pytest.raises(ValueError, match="'multinomial' of two classes"):
        LogisticRegression(C=1.0, multi_class="multinomial").fit(X_TWO, Y_TWO)
    with pytest.raises(ValueError, match="'elasticnet' requires an l1_ratio"):
        LogisticRegression("elasticnet", l1_ratio=None).fit(X_TWO, Y_TWO)
    model = LogisticRegression(multi_class="ovr").fit(X_TWO, Y_TWO)
    assert_array_equal(model.coef_, LogisticRegression().fit(X_TWO, Y_TWO).coef_)


def test_verbose_prints_the_loss_of_each_iteration(capsys):
    model = LogisticRegression(C=1.0, verbose=1).fit(X_TWO, Y_TWO)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_[0] > 2
    assert lines[0] == f"newton, iteration 1: loss {model.loss_path_[1]:.6g}"
    LogisticRegression(C=1.0).fit(X_TWO, Y_TWO)
    assert capsys.readouterr().out == ""
