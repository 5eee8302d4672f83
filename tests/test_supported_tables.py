"""The page of the guide says what tables the estimators take; it is tried here."""

import numpy as np

from tests.loops import loop_over
from tests.registry import INSTANCES
from tests.supported import PAGE, fits, make_numbers, make_target, write_page


def test_page_says_what_is_found():
    """``python -m tests.supported`` writes the page anew."""
    text = PAGE.read_text("utf-8")
    assert write_page(text) == text


@loop_over("name", sorted(INSTANCES))
def test_infinite_numbers_are_refused(name):
    estimator = INSTANCES[name][0]
    X = make_numbers()
    assert fits(estimator, X, make_target(estimator))
    X.iloc[3, 0] = np.inf
    assert not fits(estimator, X, make_target(estimator))
