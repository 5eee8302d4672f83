"""Wrong parameters, tables and weights of trees and ensembles: errors name them."""

import re
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LogisticRegression,
    MaxEntClassifier,
)
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
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


def require_error(function, words):
    """Check that a call raises an error with these words."""
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        function()


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


NUMERIC = (PCA(), TruncatedSVD(n_components=1), LinearDiscriminantAnalysis())


@pytest.mark.parametrize("estimator", NUMERIC, ids=lambda one: type(one).__name__)
def test_columns_of_text_are_named(estimator):
    labels = [0, 0, 1, 1]
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 5.0], "colour": list("abab")})
    words = "column 'colour', row 0, contains 'a'. {} requires numeric columns"
    words = words.format(type(estimator).__name__)
    # pandas has another message if there is a nullable column as well.
    nullable = table.astype({"size": "Int64", "colour": "category"})
    for frame in (table, nullable):
        require_error(lambda X=frame: clone(estimator).fit(X, labels), words)
    array = np.array([[1, 2], [2, 3], [3, "a"], [5, 1]], dtype=object)
    words = "column 1, row 2, contains 'a'"
    require_error(lambda: clone(estimator).fit(array, labels), words)
    lists = table.assign(colour=[[1, 2], [1], [2], [3]])
    words = "column 'colour', row 0, contains [1, 2]"
    require_error(lambda: clone(estimator).fit(lists, labels), words)
    fitted = clone(estimator).fit(table.assign(colour=[1, 0, 2, 1]), labels)
    predict = getattr(fitted, "predict", None) or fitted.transform
    words = "column 'colour', row 0, contains 'a'"
    require_error(lambda: predict(table), words)
    words = "0 feature(s)"
    require_error(lambda: clone(estimator).fit(table[[]], labels), words)


@pytest.mark.parametrize("estimator", NUMERIC, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        (pd.date_range("2024", periods=4), TypeError, "row 0, contains datetime"),
        (
            pd.to_timedelta([3, 1, 2, 5], unit="h"),
            TypeError,
            "row 0, contains datetime.timedelta",
        ),
        (np.array([1, 2, 1j, 3]), ValueError, r"row 0, contains \(1\+0j\)"),
    ],
    ids=["dates", "durations", "complex"],
)
def test_columns_of_no_real_numbers_are_named(estimator, values, error, words):
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 5.0], "c": values})
    with pytest.raises(error, match=f"column 'c', {words}"):
        clone(estimator).fit(table, [0, 0, 1, 1])


NO_TABLES = {
    "1D": ([5.1, 3.5], ("a", "b"), np.array([5.1, 3.5])),
    "scalar": (5.0, "abc", None),
}


def test_a_row_is_no_table():
    """It has to be a list, or an array, of rows."""
    table = np.random.default_rng(0).normal(size=(40, 2))
    for estimator, *_ in INSTANCES.values():
        fitted = clone(estimator).fit(table, np.arange(40) % 2)
        predict = getattr(fitted, "predict", None) or fitted.transform
        for found, rows in NO_TABLES.items():
            for X in rows:
                words = f"Expected 2D array, got {found} array"
                with pytest.raises(ValueError, match=words):
                    predict(X)


def test_columns_of_the_same_name_are_named():
    table = pd.DataFrame(np.arange(24.0).reshape(6, 4), columns=["a", "b", "a", "c"])
    for name, (estimator, *_) in INSTANCES.items():
        with pytest.raises(
            ValueError, match=r"must be unique: 'a' 2 times\."
        ) as raised:
            clone(estimator).fit(table, [0, 0, 1, 1, 0, 1])
        assert raised.type is ValueError, name


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (VotingClassifier([("a", CARTClassifier())], cv="no such"), "'cv'"),
        (VotingClassifier([("a", CARTClassifier())], n_jobs=2**70), "'n_jobs'"),
        (RandomForestClassifier(2, n_jobs=2**70), "'n_jobs'"),
        (LogisticRegression(class_weight={0: "x"}), "got 'x' for class 0"),
        (LogisticRegression(class_weight={0: -1}), "got -1 for class 0"),
        (LinearDiscriminantAnalysis(priors="no such"), "'priors'"),
        (LinearDiscriminantAnalysis(priors=-7), "priors"),
        (LinearDiscriminantAnalysis(priors={"a": 1}), "'priors'"),
        (GeneralizedLinearRegressor(power="no such"), "'power'"),
        (GeneralizedLinearRegressor(link_power=BEYOND_FLOAT), "'link_power'"),
        (GradientBoostingRegressor(power=[1]), "'power'"),
    ],
)
def test_wrong_parameters_are_named(estimator, words):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.arange(40) % 2
    require_error(lambda: clone(estimator).fit(X, y), words)


def test_rows_of_wrong_weights_are_named():
    X, weight = np.arange(6.0).reshape(-1, 1), np.ones(6)
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        weight[4] = value
        words = f"Input sample_weight contains {word}, first in row 4"
        model = CARTRegressor()
        arguments = X, X[:, 0], weight
        require_error(partial(model.fit, *arguments), words)


@pytest.mark.parametrize("value", [1e-320, 1e-200, 1e200])
@pytest.mark.parametrize(
    "estimator",
    [
        CARTRegressor(),
        GradientBoostingRegressor(),
        GeneralizedLinearRegressor(),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_weights_whose_squares_are_no_numbers(estimator, value):
    """Trees would be single leaves and slopes 0, without a warning."""
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 2
    words = f"The largest weight of sample_weight, {value:.3g} in row 0"
    with pytest.raises(ValueError, match=re.escape(words)):
        clone(estimator).fit(X, y, np.full(40, value))


def test_class_weights_whose_squares_are_no_numbers():
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 2
    model = CARTClassifier(class_weight={0: 1e200, 1: 1e200})
    with pytest.raises(ValueError, match="largest weight of class_weight"):
        model.fit(X, y)


def test_one_class_is_written_as_in_y():
    def fit():
        GradientBoostingClassifier().fit(np.ones((3, 1)), np.array(["a"] * 3))

    require_error(fit, "only one class: 'a'")


def test_no_table():
    model = MaxEntClassifier()
    require_error(lambda: model.fit(None, [0, 1]), "Expected 2D array")
