"""After a fit that fails or is interrupted, every estimator is what it was before."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from sklearn_textbook.decomposition import PCA
from sklearn_textbook.linear_model import LinearRegression
from tests.registry import INSTANCES

ESTIMATORS = {name: instances[0] for name, instances in sorted(INSTANCES.items())}
#: Those that may keep members of an earlier fit.
WARM = {
    f"{name}{number}": instance
    for name, instances in sorted(INSTANCES.items())
    for number, instance in enumerate(instances[:2])
    if hasattr(instance, "warm_start") and hasattr(instance, "n_estimators")
}
METHODS = ("predict", "predict_proba", "decision_function", "transform")


class Failure(BaseException):
    """What no code catches, as KeyboardInterrupt."""


@contextmanager
def failing_at(estimator, number):
    """Fail when the estimator sets an attribute for the n-th time."""
    kind, n_set = type(estimator), 0
    own = kind.__dict__.get("__setattr__")

    def set_or_fail(self, name, value):
        nonlocal n_set
        # Not between those that scikit-learn sets for callbacks.
        if self is estimator and "callback" not in name:
            n_set += 1
            if n_set == number:
                raise Failure
        object.__setattr__(self, name, value)

    kind.__setattr__ = set_or_fail
    try:
        yield
    finally:
        if own is None:
            del kind.__setattr__
        else:
            kind.__setattr__ = own


def make_tables(estimator):
    """A table, and another with other columns and classes, and their targets."""
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(40, 3)), rng.normal(size=(50, 4))
    if is_classifier(estimator):
        y = np.array(["no", "yes"])[(X[:, 0] + X[:, 1] > 0).astype(int)]
        return (X, y), (others, np.array(["a", "b", "c"])[np.arange(50) % 3])
    return (X, 5.0 + X[:, 0]), (others, 7.0 + others[:, 1])


def predict(estimator, X):
    """All predictions, by the names of the methods."""
    methods = [name for name in METHODS if hasattr(estimator, name)]
    return {name: getattr(estimator, name)(X) for name in methods}


def require_failures(estimator, act, X):
    """Let an action fail at each of its steps; then nothing may have changed."""
    before, attributes = predict(estimator, X), dict(vars(estimator))
    number = 0
    while True:
        number += 1
        try:
            with failing_at(estimator, number):
                act()
        except Failure:
            pass
        else:
            break
        assert vars(estimator).keys() == attributes.keys(), number
        after = predict(estimator, X)
        assert after.keys() == before.keys()
        for name, values in after.items():
            np.testing.assert_array_equal(values, before[name], f"{name}, {number}")
    assert number > 1


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", ESTIMATORS)
def test_interrupted_fits(name):
    estimator = clone(ESTIMATORS[name])
    if hasattr(estimator, "random_state"):
        estimator.random_state = 0
    first, second = make_tables(estimator)
    unfitted = clone(estimator)
    with pytest.raises(Failure), failing_at(unfitted, 2):
        unfitted.fit(*second)
    for method in METHODS[::3]:
        if hasattr(unfitted, method):
            with pytest.raises(NotFittedError):
                getattr(unfitted, method)(second[0])
    estimator.fit(*first)
    require_failures(estimator, lambda: estimator.fit(*second), first[0])
    # The last fit succeeds.
    assert estimator.n_features_in_ == 4


@pytest.mark.parametrize("name", ESTIMATORS)
def test_refused_tables_and_weights(name):
    estimator = clone(ESTIMATORS[name])
    (X, y), (others, labels) = make_tables(estimator)
    estimator.fit(X, y)
    before = predict(estimator, X)
    infinite = others.copy()
    infinite[-1, -1] = np.inf
    wrong = [lambda: estimator.fit(infinite, labels)]
    if hasattr(estimator, "predict"):
        wrong.append(lambda: estimator.fit(others, labels[:-1]))
    wrong.append(lambda: estimator.fit(others, labels, [*[1.0] * 49, np.nan]))
    for refused in wrong:
        with pytest.raises((ValueError, TypeError)):
            refused()
        after = predict(estimator, X)
        for method, values in before.items():
            np.testing.assert_array_equal(after[method], values, method)


@pytest.mark.parametrize("name", WARM)
def test_interrupted_warm_starts(name):
    estimator = clone(WARM[name]).set_params(warm_start=True, n_estimators=3)
    (X, y), _ = make_tables(estimator)
    estimator.fit(X, y).set_params(n_estimators=5)
    require_failures(estimator, lambda: estimator.fit(X, y), X)


@pytest.mark.parametrize("method", ["partial_fit", "merge"])
def test_interrupted_additions_to_a_regression(method):
    model = LinearRegression()
    (X, y), _ = make_tables(model)
    more = (X + 1.0, 3.0 * y)
    given = more if method == "partial_fit" else [LinearRegression().fit(*more)]
    model.partial_fit(X, y)
    require_failures(model, lambda: getattr(model, method)(*given), X)
    whole = LinearRegression().fit(np.vstack([X, X + 1.0]), np.append(y, 3.0 * y))
    np.testing.assert_allclose(model.coef_, whole.coef_)


@pytest.mark.parametrize("method", ["partial_fit", "fit_covariance", "fit_transform"])
def test_interrupted_additions_to_components(method):
    model, X = PCA(), make_tables(PCA())[0][0]
    given = np.diag([1.0, 5.0, 2.0]) if method == "fit_covariance" else X[:, ::-1] * 2
    model.partial_fit(X)
    require_failures(model, lambda: getattr(model, method)(given), X)


def test_callbacks_end_after_a_failure():
    """They are torn down although the attributes return."""
    estimator = clone(INSTANCES["RandomForestClassifier"][0]).set_params(n_estimators=2)

    class Callback:
        ended = 0

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, *args, **kwargs):
            pass

        def on_fit_task_end(self, *args, **kwargs):
            pass

        def teardown(self, estimator, context):
            Callback.ended += 1

    estimator.set_callbacks(Callback())
    (X, y), _ = make_tables(estimator)
    with pytest.raises(Failure), failing_at(estimator, 2):
        estimator.fit(X, y)
    assert Callback.ended == 1
    assert set(vars(estimator)) == {*estimator.get_params(False), "_skl_callbacks"}
