"""Two pages of the guide say what the estimators take and what can be made of them."""

import numpy as np
import pytest

from tests import exported, supported
from tests.loops import loop_over
from tests.registry import INSTANCES
from tests.supported import fits, make_numbers, make_target


def test_tables_are_those_that_are_taken():
    """``python -m tests.supported`` writes the page anew."""
    text = supported.PAGE.read_text("utf-8")
    assert supported.write_page(text) == text


def test_exports_are_those_that_can_be_made():
    """``python -m tests.exported`` writes the page anew."""
    pytest.importorskip("onnx")
    text = exported.PAGE.read_text("utf-8")
    assert exported.write_page(text) == text


@loop_over("name", sorted(INSTANCES))
def test_infinite_numbers_are_refused(name):
    estimator = INSTANCES[name][0]
    X = make_numbers()
    assert fits(estimator, X, make_target(estimator))
    X.iloc[3, 0] = np.inf
    assert not fits(estimator, X, make_target(estimator))
