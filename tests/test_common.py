"""scikit-learn's own checks, on every estimator and several parameter sets each."""

import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.public_api import public_estimators
from tests.registry import (
    EXPECTED_FAILURES,
    INSTANCES,
    all_instances,
    expected_failed_checks,
    perturbs_outputs,
)


@parametrize_with_checks(
    all_instances(), expected_failed_checks=expected_failed_checks, xfail_strict=True
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_registry_lists_every_public_estimator():
    assert set(INSTANCES) == set(public_estimators())


@pytest.mark.parametrize("name", sorted(INSTANCES))
def test_registry_tests_defaults_and_more(name):
    instances = INSTANCES[name]
    assert {type(instance).__name__ for instance in instances} == {name}
    assert type(instances[0])().get_params() == instances[0].get_params()
    assert len(instances) > 1


@pytest.mark.parametrize("name", sorted(INSTANCES))
def test_defaults_pass_every_check(name):
    by_chance = {
        check
        for concerns, checks, _ in EXPECTED_FAILURES
        if concerns is perturbs_outputs
        for check in checks
    }
    assert set(expected_failed_checks(INSTANCES[name][0])) <= by_chance


CLASSIFIERS = [name for name in sorted(INSTANCES) if name.endswith("Classifier")]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_missing_class(name):
    """Also where pyarrow would turn a null into the last class."""
    chunks = [pa.array(values).dictionary_encode() for values in (["a", None], ["b"])]
    estimator = INSTANCES[name][0]
    for y in (["a", None, "b"], pa.chunked_array(chunks)):
        with pytest.raises(ValueError, match=r"y contains a missing value.* row 1\."):
            clone(estimator).fit([[0.0], [1.0], [2.0]], y)
