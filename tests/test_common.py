"""scikit-learn's own checks, on every estimator and several parameter sets each."""

import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.public_api import public_estimators
from tests.registry import (
    INSTANCES,
    all_instances,
    expected_failed_checks,
    learns_by_chance,
)


@parametrize_with_checks(
    all_instances(), expected_failed_checks=expected_failed_checks, xfail_strict=True
)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
# Some checks have separable classes, for which the likelihood has no maximum.
@pytest.mark.filterwarnings("ignore:(Complete|Quasi-complete) separation")
# Others ask for as many iterations as gradient descent does not get along with.
@pytest.mark.filterwarnings("ignore:gradient failed to converge")
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_registry_lists_every_public_estimator():
    assert set(INSTANCES) == set(public_estimators())


@pytest.mark.parametrize("name", sorted(INSTANCES))
def test_registry_tests_defaults_and_more(name):
    instances = INSTANCES[name]
    assert {type(instance).__name__ for instance in instances} == {name}
    parameters = type(instances[0])().get_params()
    if "n_estimators" in parameters:
        # Fewer than the default, which would only take longer.
        parameters["n_estimators"] = instances[0].n_estimators
    assert parameters == instances[0].get_params()
    assert len(instances) > 1


@pytest.mark.parametrize("name", sorted(INSTANCES))
def test_defaults_pass_every_check(name):
    declared = expected_failed_checks(INSTANCES[name][0])
    if learns_by_chance(INSTANCES[name][0]):
        # The only ones that scikit-learn's own forests fail, too.
        declared = {
            check for check in declared if "sample_weight_equivalence" not in check
        }
    assert not declared


CLASSIFIERS = [name for name in sorted(INSTANCES) if name.endswith("Classifier")]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_missing_class(name):
    """Also where pyarrow would turn a null into the last class."""
    chunks = [pa.array(values).dictionary_encode() for values in (["a", None], ["b"])]
    estimator = INSTANCES[name][0]
    for y in (["a", None, "b"], pa.chunked_array(chunks)):
        with pytest.raises(ValueError, match=r"y contains a missing value.* row 1\."):
            clone(estimator).fit([[0.0], [1.0], [2.0]], y)
