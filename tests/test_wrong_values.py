"""Wrong parameters, tables and weights of trees and ensembles: errors name them."""

import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from tests.loops import loop_over
from tests.registry import INSTANCES

BEYOND_FLOAT = 10**400


class NoEstimator:
    """Neither an estimator nor a value."""

    def __repr__(self):
        return "NoEstimator()"


WRONG = (
    NoEstimator(),
    NoEstimator,
    [],
    [1],
    {},
    {"a": 1},
    [{0: 1.0, 1: "a"}],
    {0: 1.0, 1: "a"},
    {0: BEYOND_FLOAT},
    "no such",
    b"bytes",
    (1,),
    {1, 2},
    -1,
    3.5,
    float("nan"),
    float("inf"),
    BEYOND_FLOAT,
    -BEYOND_FLOAT,
    True,
    None,
    np.array([1, 2]),
)
#: With many of them there is nothing wrong but the time or the memory.
COUNTS = ("n_estimators", "n_jobs")
GROUPS = ("sklearn_textbook.tree.", "sklearn_textbook.ensemble.")
ESTIMATORS = {
    name: instances[0]
    for name, instances in INSTANCES.items()
    if type(instances[0]).__module__.startswith(GROUPS)
}


def make_rows(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = rng.integers(0, 2, 40) if is_classifier(estimator) else rng.normal(size=40)
    return X, y


def find_complaint(function, word):
    """Say what is wrong with an error; None if there is none or it has the word."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function()
    except (ValueError, TypeError, NotImplementedError) as error:
        if word not in str(error):
            return f"{type(error).__name__} without {word!r}: {str(error)[:200]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


@pytest.fixture
def threads_only():
    """No processes for n_jobs=-1: each would take longer to start than all tests."""
    with joblib.parallel_config("threading"):
        yield


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.usefixtures("threads_only")
def test_parameters_are_named(name):
    X, y = make_rows(ESTIMATORS[name])
    found = {}
    for parameter in ESTIMATORS[name].get_params(deep=False):
        for value in WRONG:
            if parameter in COUNTS and value is BEYOND_FLOAT:
                continue
            estimator = clone(ESTIMATORS[name])
            if hasattr(estimator, "n_estimators"):
                estimator.n_estimators = min(2, estimator.n_estimators)
            setattr(estimator, parameter, value)
            complaint = find_complaint(
                lambda estimator=estimator: estimator.fit(X, y), parameter
            )
            if complaint is not None:
                found[f"{parameter}={str(value)[:30]}"] = complaint
    assert not found


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_that_are_none(name):
    estimator = clone(ESTIMATORS[name])
    if "estimator" not in estimator.get_params(deep=False):
        pytest.skip("has no members of any kind")
    for wrong in (NoEstimator(), NoEstimator, "no such", 3):
        estimator.estimator = wrong
        with pytest.raises(ValueError, match="'estimator' parameter must be"):
            estimator.fit(*make_rows(ESTIMATORS[name]))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_class_weights_that_are_none(name):
    estimator = clone(ESTIMATORS[name])
    if not hasattr(estimator, "class_weight"):
        pytest.skip("has no class weights")
    for wrong in ([1], [], [{0: 1}], "no such", 2.0, {0: "a"}, {0: BEYOND_FLOAT}):
        with pytest.raises(ValueError, match="class_weight"):
            estimator.set_params(class_weight=wrong).fit(*make_rows(estimator))


@loop_over("name", ESTIMATORS)
def test_integers_beyond_float64(name):
    """The error names the column, the target or the weights."""
    estimator = clone(ESTIMATORS[name])
    X, y = make_rows(estimator)
    table = X.astype(object)
    table[3, 1] = BEYOND_FLOAT
    for given in (table, table.tolist()):
        with pytest.raises(ValueError, match="column"):
            estimator.fit(given, y)
    if not is_classifier(estimator):
        with pytest.raises(ValueError, match=r"y must be finite numbers.*row 39"):
            estimator.fit(X, [*range(39), BEYOND_FLOAT])
    for weights in ([*[1] * 39, BEYOND_FLOAT], [*[1] * 39, "a"]):
        with pytest.raises(ValueError, match=r"sample_weight must be.*row 39"):
            estimator.fit(X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
    with pytest.raises(ValueError, match="column"):
        estimator.predict(table)
