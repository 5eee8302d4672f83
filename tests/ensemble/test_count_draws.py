"""Bootstrap samples are counted as if NumPy had drawn them row by row."""

import numpy as np

from sklearn_textbook.ensemble.resample import count_draws, count_sample, draw_rows
from tests.loops import loop_over

SIZES = [(1, 3), (2, 5), (3, 700), (4, 1), (624, 624), (1024, 2000), (1025, 2000)]


@loop_over("seed", [0, 1, 2**31 - 2, 2**32 - 1])
@loop_over(("n_rows", "n_drawn"), SIZES)
def test_counts_of_drawn_rows(seed, n_rows, n_drawn):
    """Row numbers that fill their bits, and those that leave half of them out."""
    expected = count_draws(draw_rows(seed, n_rows, n_drawn), n_rows)
    counts = count_sample(seed, n_rows, n_drawn)
    np.testing.assert_array_equal(counts, expected)
    assert counts.sum() == n_drawn


def test_counts_of_weighted_rows():
    weight = np.array([0.0, 1.0, 2.0, 0.5])
    counts = count_sample(5, 4, 200, weight)
    np.testing.assert_array_equal(counts, count_draws(draw_rows(5, 4, 200, weight), 4))
    assert counts[0] == 0
