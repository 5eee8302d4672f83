"""A borrowed random state draws what a new one draws."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.random import RandomState

from sklearn_textbook._contract.random_state import borrow_random_state
from tests.loops import loop_over


@loop_over("seed", [0, 7, 2**32 - 1, np.int64(5), True])
def test_same_stream_after_other_draws(seed):
    borrow_random_state(1).normal()  # leaves half of a pair behind
    borrowed, made = borrow_random_state(seed), RandomState(seed)
    np.testing.assert_array_equal(borrowed.normal(size=3), made.normal(size=3))
    np.testing.assert_array_equal(borrowed.randint(0, 9, 99), made.randint(0, 9, 99))


def test_random_states_are_not_seeded_again():
    random_state = RandomState(3)
    assert borrow_random_state(random_state) is random_state
    for seed in (-1, 2**32, "x"):
        with pytest.raises(ValueError, match="[Ss]eed|cannot be used"):
            borrow_random_state(seed)


def test_threads_do_not_share():
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(borrow_random_state, 4).result()
    assert borrow_random_state(4) is not other
