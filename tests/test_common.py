"""scikit-learn's own checks, on every estimator and several parameter sets each."""

import importlib
from contextlib import suppress
from inspect import Parameter, signature
from unittest import SkipTest

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)

from sklearn_textbook._contract.registry import ESTIMATORS, find_class
from sklearn_textbook.ensemble.model_averaging import logistic_subsets
from tests.amount import FACTOR
from tests.loops import loop_over
from tests.public_api import public_estimators
from tests.registry import (
    INSTANCES,
    expected_failed_checks,
    explores_all_subsets,
    learns_by_chance,
)


def describe(estimator):
    """The class and the parameters that are not the defaults, in one line."""
    return " ".join(repr(estimator).split())


DEFAULTS = [instances[0] for _, instances in sorted(INSTANCES.items())]
OTHERS = [
    instance for _, instances in sorted(INSTANCES.items()) for instance in instances[1:]
]


#: scikit-learn has it from 1.8 on.
STRICT = {"xfail_strict": True}
if "xfail_strict" not in signature(parametrize_with_checks).parameters:
    STRICT = {}


@pytest.fixture
def few_subsets(monkeypatch):
    """Fewer models to average over, where there are too many for all to be fitted."""
    monkeypatch.setattr(logistic_subsets, "MOST_FITS", 20)


@parametrize_with_checks(
    DEFAULTS, expected_failed_checks=expected_failed_checks, **STRICT
)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
# Some checks ask for few iterations, or have separable classes, for which the
# likelihood has no maximum.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:(Complete|Quasi-complete) separation")
@pytest.mark.filterwarnings("ignore:Columns are (linearly dependent|constant within)")
@pytest.mark.filterwarnings("ignore:The least populated class in y has only")
@pytest.mark.filterwarnings("ignore:.* models may be within the window")
@pytest.mark.usefixtures("few_subsets")
def test_scikit_learn_check(estimator, check):
    try:
        check(estimator)
    except Exception as error:
        if check.func.__name__ in expected_failed_checks(estimator):
            # A failure that is declared is not shown: pytest need not parse the files
            # that it comes from.
            raise error.with_traceback(None) from None
        raise


#: Checks of the kinds of containers that tables, targets and weights come in. They are
#: read before any parameter matters.
CONTAINERS = {
    "check_classifier_data_not_an_array",
    # All formats become one or two; tests/test_malformed_sparse.py fits all parameters
    # to four of them, and the check of sparse tables with weights predicts from one.
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_regressor_data_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
    "check_transformer_data_not_an_array",
}


def is_repetition(check):
    """Whether a check of default parameters is as good for all others.

    For tables that cannot be written to there is a check of their own besides the
    variants of others. (In check_estimators_pickle it is the model that is mapped.)
    """
    name = check.func.__name__
    is_variant = "readonly_memmap" in check.keywords
    is_variant &= name != "check_estimators_pickle"
    return is_variant or name in CONTAINERS


# One test for all checks of further parameters: there are thousands, most of which take
# less time than pytest takes for a test.
@pytest.mark.parametrize("estimator", OTHERS, ids=describe)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:(Complete|Quasi-complete) separation")
@pytest.mark.filterwarnings("ignore:Columns are (linearly dependent|constant within)")
@pytest.mark.filterwarnings("ignore:The least populated class in y has only")
@pytest.mark.filterwarnings("ignore:.* models may be within the window")
@pytest.mark.usefixtures("few_subsets")
def test_scikit_learn_checks_of_parameters(estimator):
    declared = expected_failed_checks(estimator)
    errors, n_passed = [], 0
    for _, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if is_repetition(check) and FACTOR == 1:
            continue
        try:
            check(estimator)
        except SkipTest:
            continue
        except Exception as error:
            if name not in declared:
                error.add_note(f"in {name}")
                errors.append(error)
        else:
            n_passed += 1
            if name in declared:
                message = f"{name} passes, but is declared: {declared[name]}"
                errors.append(AssertionError(message))
    assert n_passed > 30
    if errors:
        raise ExceptionGroup(f"checks of {describe(estimator)}", errors)


def test_registry_lists_every_public_estimator():
    assert set(INSTANCES) == set(public_estimators())
    assert set(INSTANCES) == set(ESTIMATORS)


@loop_over("name", sorted(ESTIMATORS))
def test_rows_of_the_registry(name):
    row, kind = ESTIMATORS[name], public_estimators()[name]
    assert find_class(name) is kind
    assert name in importlib.import_module(row.module).__all__
    estimator = INSTANCES[name][0]
    is_kind = {"classes": is_classifier, "numbers": is_regressor}
    assert [what for what, asks in is_kind.items() if asks(estimator)] == [
        what for what in is_kind if what == row.predicts
    ]


@loop_over("name", sorted(INSTANCES))
def test_registry_tests_defaults_and_more(name):
    instances = INSTANCES[name]
    assert {type(instance).__name__ for instance in instances} == {name}
    kind = type(instances[0])
    required = {
        name: getattr(instances[0], name)
        for name, parameter in signature(kind).parameters.items()
        if parameter.default is Parameter.empty
    }
    parameters = kind(**required).get_params()
    for name in {"n_estimators", "cv"} & parameters.keys():
        # Fewer than the default, which would only take longer.
        parameters[name] = getattr(instances[0], name)
    assert parameters == instances[0].get_params()
    assert len(instances) > 1


@loop_over("name", sorted(INSTANCES))
def test_defaults_pass_every_check(name):
    declared = expected_failed_checks(INSTANCES[name][0])
    if learns_by_chance(INSTANCES[name][0]) or explores_all_subsets(INSTANCES[name][0]):
        # The only ones that scikit-learn's own forests fail, too, and whose table has
        # more columns than all subsets allow.
        declared = {
            check for check in declared if "sample_weight_equivalence" not in check
        }
    if name == "ElasticNet":  # nor does scikit-learn's pass it with its own alpha
        declared = set(declared) - {"check_regressors_train"}
    if name == "OptimalTreeClassifier":
        # The check limits the weight of leaves, where trees have a parameter for it. A
        # search has none: its bounds need subsets of rows that lose no more than all.
        declared = set(declared) - {"check_class_weight_classifiers"}
    assert not declared


CLASSIFIERS = [name for name in sorted(INSTANCES) if name.endswith("Classifier")]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_missing_class(name):
    """Also where pyarrow would turn a null into the last class."""
    chunks = [pa.array(values).dictionary_encode() for values in (["a", None], ["b"])]
    estimator = INSTANCES[name][0]
    for y in (["a", None, "b"], pa.chunked_array(chunks)):
        with pytest.raises(ValueError, match="y has a missing value in row 1: drop"):
            clone(estimator).fit([[0.0], [1.0], [2.0]], y)


REGRESSORS = [name for name in sorted(INSTANCES) if is_regressor(INSTANCES[name][0])]


@loop_over("name", REGRESSORS)
@pytest.mark.parametrize(
    ("y", "what"),
    [
        (["1", "b", "3"], "'b' in row 1"),
        ([1.0, 2.0, "c"], "'c' in row 2"),
        ([1.0, 2.0, 3j], "'3j' in row 2"),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "'a' in row 0"),
    ],
    ids=["strings", "mixed", "complex", "dictionary"],
)
def test_targets_that_are_no_numbers(name, y, what):
    estimator = INSTANCES[name][0]
    with pytest.raises(ValueError, match=f"y must be numbers for .*, got {what}"):
        clone(estimator).fit([[0.0], [1.0], [2.0]], y)


TARGETED = [
    name
    for name in sorted(INSTANCES)
    if not hasattr(INSTANCES[name][0], "transform") or name in CLASSIFIERS
]


@pytest.mark.parametrize("name", TARGETED)
def test_missing_and_infinite_targets(name):
    """How many there are, where the first is, and what to do: alike in all."""
    X = np.arange(24.0).reshape(12, 2)
    y = np.arange(12.0) % 2 + 1
    y[[7, 9, 10]] = np.nan
    for target in (y, pd.Series(y), y.tolist()):
        message = "^y has 3 missing values, first in row 7: drop these rows"
        with pytest.raises(ValueError, match=message):
            clone(INSTANCES[name][0]).fit(X, target)
    y[7], y[9:11] = -np.inf, 1.0
    with pytest.raises(ValueError, match="^y has an infinite value in row 7: drop"):
        clone(INSTANCES[name][0]).fit(X, y)


@loop_over("name", sorted(INSTANCES))
def test_what_must_become_a_table_first(name):
    """Dicts, as read from JSON, and lazy frames: the message says what to write."""
    estimator = clone(INSTANCES[name][0])
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.arange(12) % 2
    message = r"^X must be a table, got {}\. Pass pandas\.DataFrame\({}"
    frame = pd.DataFrame(X, columns=["a", "b"])
    fitted = clone(estimator).fit(frame, y)
    predict = getattr(fitted, "predict", None) or fitted.transform
    for table, found, code in (
        ({"a": 1.0, "b": 2.0}, "a dict", r"\[X\]\) if it is one row"),
        ({"a": X[:, 0], "b": X[:, 1]}, "a dict", r"X\) if its values are columns"),
        ([{"a": 1.0, "b": 2.0}] * 12, "a list of dicts", r"X\), in which each"),
    ):
        expected = message.format(found, code)
        with pytest.raises(TypeError, match=expected):
            clone(estimator).fit(table, y)
        with pytest.raises(TypeError, match=expected):
            predict(table)
    lazy = pl.from_pandas(frame).lazy()
    # Which some read in blocks; y is then the name of a column.
    message = "lazy data frame|in blocks|y must be None"
    with pytest.raises((TypeError, ValueError), match=message):
        clone(estimator).fit(lazy, y)
    found = None
    with suppress(TypeError):
        found = predict(lazy)
    if found is not None:
        np.testing.assert_array_equal(found, predict(frame))
