"""李航《统计学习方法》, 例6.1 and 例6.2: distributions of largest entropy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.linear_model import MaxEntClassifier
from tests.golden import get_example

CONSTRAINTS = {
    "lihang.ex6.1.uniform": ([], []),
    "lihang.ex6.1.one_constraint": ([{"A", "B"}], [0.3]),
    "lihang.ex6.1.two_constraints": ([{"A", "B"}, {"A", "C"}], [0.3, 0.5]),
}


@pytest.mark.parametrize("solver", ["iis", "gis", "bfgs", "lbfgs"])
@pytest.mark.parametrize("example_id", CONSTRAINTS)
def test_distribution(example_id, solver):
    example = get_example(example_id)
    model = MaxEntClassifier.from_constraints(
        "ABCDE", *CONSTRAINTS[example_id], solver=solver
    )
    assert model.classes_.tolist() == list("ABCDE")
    value = example["verified"]["value"]
    assert_allclose(model.distribution_, [value[y] for y in "ABCDE"], atol=2e-9)
    if example["printed"] is not None:
        printed = [example["printed"][y] for y in "ABCDE"]
        half = 0.5 * 10.0 ** -example["printed_decimals"]
        assert_allclose(model.distribution_, printed, atol=half)


@pytest.mark.parametrize("example_id", CONSTRAINTS)
def test_duality(example_id):
    """The largest entropy is the smallest value of the dual, the sign apart."""
    model = MaxEntClassifier.from_constraints("ABCDE", *CONSTRAINTS[example_id])
    shares = model.distribution_
    assert_allclose(model.entropy_, -(shares @ np.log(shares)), rtol=1e-14)
    assert_allclose(model.entropy_, -model.dual_value_, atol=1e-9)
    assert_allclose(model.model_expectation_, CONSTRAINTS[example_id][1], atol=1e-10)


def test_multipliers_of_one_constraint():
    """例6.2: the constraint lowers A and B by a factor, ln(0.15 / (7 / 30))."""
    model = MaxEntClassifier.from_constraints("ABCDE", [{"A", "B"}], [0.3])
    assert_allclose(model.weights_, [np.log(0.15 / (0.7 / 3))], atol=1e-8)
