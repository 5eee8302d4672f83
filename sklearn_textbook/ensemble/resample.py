"""Drawing rows and columns for the members of an ensemble, 样本扰动与属性扰动.

A draw is determined by its seed alone, so that members need not keep it: out-of-bag
rows are found again by drawing again. A seed draws the same as in scikit-learn.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blocks import BLOCK_ROWS
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.parameters import is_integer
from sklearn_textbook._contract.random_state import borrow_random_state
from sklearn_textbook.ensemble._count_draws import (
    count_seeded_draws,
    count_weighted_draws,
)

LARGEST_SEED = np.iinfo(np.int32).max


def draw_seeds(random_state, n_before: int, n_seeds: int) -> list[int]:
    """Draw a seed for each new member."""
    random_state = check_random_state(random_state)
    if n_before:
        random_state.randint(LARGEST_SEED, size=n_before)
    return [int(random_state.randint(LARGEST_SEED)) for _ in range(n_seeds)]


def count_drawn_rows(
    max_samples: int | float | None, n_rows: int, weight: np.ndarray | None = None
) -> int:
    """Count the rows of a sample."""
    if max_samples is None:
        return n_rows
    if is_integer(max_samples):
        return int(max_samples)
    total = n_rows if weight is None else weight.sum()
    n_drawn = max(int(max_samples * total), 1)
    if n_drawn < max(10, n_rows ** (1 / 3)):
        of_what = (
            "number of samples" if weight is None else "total sum of sample weights"
        )
        # The text of scikit-learn, for users who filter warnings by their text.
        warn_caller(
            f"Using the fractional value max_samples={max_samples} when the {of_what} "
            f"is {total} results in a low number ({n_drawn}) of bootstrap samples. We "
            "recommend passing `max_samples` as an integer instead.",
            UserWarning,
        )
    return n_drawn


def draw_rows(
    random_state,
    n_rows: int,
    n_drawn: int,
    weight: np.ndarray | None = None,
    replace: bool = True,
) -> np.ndarray:
    r"""Draw rows, 自助采样 (bootstrap) if with replacement.

    Of n rows drawn n times with replacement, a row is never drawn with probability
    :math:`(1 - 1/n)^n \to 1/e \approx 0.368`.

    Parameters
    ----------
    random_state : int or RandomState instance
        Seed of the draw.
    n_rows : int
        Number of rows.
    n_drawn : int
        Number of draws.
    weight : ndarray of float64, shape (n_rows,), default=None
        Rows are drawn with probabilities proportional to these; None: equal.
    replace : bool, default=True
        Whether a row may be drawn again.

    Returns
    -------
    rows : ndarray of int, shape (n_drawn,)
        Numbers of rows.

    References
    ----------
    周志华《机器学习》, section 2.2.3, formula 2.1. B. Efron, R. Tibshirani (1993), An
    Introduction to the Bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.resample import draw_rows
    >>> drawn = draw_rows(0, 100_000, 100_000)
    >>> round(len(np.unique(drawn)) / 100_000, 2)
    0.63
    """
    random_state = borrow_random_state(random_state)
    if weight is not None:
        probability = weight / np.sum(weight)
        return random_state.choice(n_rows, n_drawn, replace=replace, p=probability)
    if replace:
        return random_state.randint(0, n_rows, n_drawn)
    return sample_without_replacement(n_rows, n_drawn, random_state=random_state)


def count_draws(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """Count how often each row was drawn."""
    return np.bincount(rows, minlength=n_rows)


def count_sample(
    seed: int, n_rows: int, n_drawn: int, weight: np.ndarray | None = None
):
    """Count how often a bootstrap sample has each row."""
    if weight is None and 1 < n_rows <= LARGEST_SEED and n_drawn <= LARGEST_SEED:
        return count_seeded_draws(seed, n_rows, n_drawn)
    if weight is not None and n_rows <= LARGEST_SEED:
        # As RandomState.choice, which looks up every draw by itself.
        cumulated = (weight / np.sum(weight)).cumsum()
        cumulated /= cumulated[-1]
        uniform = borrow_random_state(seed).random_sample(n_drawn)
        return count_weighted_draws(cumulated, uniform)
    return count_draws(draw_rows(seed, n_rows, n_drawn, weight), n_rows)


@dataclass(frozen=True, eq=False)
class RowDraw:
    """The rows that a member is fitted to, determined by its seed alone.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_drawn_rows : int or None
        Rows of a bootstrap sample; None: every member is trained on every row once.
    weight : ndarray of float64, shape (n_rows,), default=None
        With samples, rows are drawn with probabilities in proportion; without, the
        weights of the rows.
    """

    n_rows: int
    n_drawn_rows: int | None
    weight: np.ndarray | None = None

    def __sizeof__(self):
        """Bytes of the arrays, by which clusters decide what to send only once."""
        n_bytes = [getattr(value, "nbytes", 0) for value in vars(self).values()]
        return object.__sizeof__(self) + sum(n_bytes)

    def list_rows(self, seed):
        """List the rows of the member with this seed, each as often as it is drawn."""
        if self.n_drawn_rows is None:
            return np.arange(self.n_rows, dtype=np.int32)
        rows = draw_rows(seed, self.n_rows, self.n_drawn_rows, self.weight)
        return rows.astype(np.int32)

    def count_rows(self, seed):
        """Count how often the member draws each row; 0: out of the bag."""
        return count_sample(seed, self.n_rows, self.n_drawn_rows, self.weight)

    def mark_out_of_bag(self, seed):
        """Mark the out-of-bag rows of the member."""
        if self.n_drawn_rows is None:
            return np.zeros(self.n_rows, dtype=bool)
        return self.count_rows(seed) == 0

    @property
    def design_effect(self):
        """Variance of a mean of drawn rows times their number, per row that differs.

        A row of weight w counts as w rows, of which one may be drawn several times.
        """
        if self.n_drawn_rows is None:
            return 1.0
        n_all = self.n_rows if self.weight is None else float(self.weight.sum())
        return 1.0 + (self.n_drawn_rows - 1) / n_all

    def weigh(self, seed):
        """Return the weights of the rows for the member; None: equal weights."""
        return self.weight if self.n_drawn_rows is None else self.count_rows(seed)


@dataclass(frozen=True, eq=False)
class BalancedRowDraw(RowDraw):
    """Samples in which all classes have the same total weight.

    Parameters
    ----------
    n_rows, n_drawn_rows : int
        Number of rows, and rows of a bootstrap sample.
    weight : ndarray of float64, shape (n_rows,), or None
        Rows are drawn with probabilities in proportion.
    labels : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The classes of the rows.
    """

    _: KW_ONLY
    labels: np.ndarray

    def weigh(self, seed):
        """Multiply the counts of the rows by the weights of their classes."""
        rows = self.list_rows(seed)
        of_class = compute_sample_weight("balanced", self.labels, indices=rows)
        return self.count_rows(seed) * of_class


class DrawnRowsMixin:
    """Ensembles whose members are trained on rows that are drawn by their seeds."""

    @abstractmethod
    def _list_draws(self):
        """List the draw of each member (a RowDraw) and its seed."""

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows to which each member was fitted, with repetitions.

        They are drawn again on each access, so the ensemble does not have to store
        them.

        Returns
        -------
        rows : list of ndarray of int
            Numbers of training rows.
        """
        check_is_fitted(self)
        return [draw.list_rows(seed) for draw, seed in self._list_draws()]


def list_random_states(estimator, seed: int) -> dict[str, int]:
    """Draw a value for every ``random_state`` among the parameters of a member."""
    random_state = check_random_state(seed)
    return {
        name: int(random_state.randint(np.iinfo(np.int32).max))
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }


class BlockDraw:
    """Draws rows without replacement, from each block in proportion to its rows.

    Parameters
    ----------
    n_among : ndarray of int64, shape (n_blocks,)
        Numbers of rows to draw from, in blocks of `BLOCK_ROWS` rows.
    fraction : float
        Fraction of the rows that is drawn.
    seed : int
        The seed.
    """

    def __init__(self, n_among: np.ndarray, fraction: float, seed: int) -> None:
        ends = np.cumsum(n_among)
        n_drawn = max(1, int(fraction * int(ends[-1])))
        drawn_until = [int(end) * n_drawn // int(ends[-1]) for end in ends]
        self.n_drawn = np.diff([0, *drawn_until])
        self.seed, self.first_block = seed, 0

    def start_at(self, block: int) -> BlockDraw:
        """Return the draw from rows that begin with a block."""
        draw = copy(self)
        draw.first_block = block
        return draw

    def mark(self, rows: slice, is_among: np.ndarray) -> np.ndarray:
        """Mark the drawn ones among the rows of a block."""
        block = self.first_block + rows.start // BLOCK_ROWS
        random = np.random.default_rng([self.seed, block] if block else self.seed)
        among = np.flatnonzero(is_among)
        drawn = random.choice(
            len(among), self.n_drawn[block], replace=False, shuffle=False
        )
        is_drawn = np.zeros(len(is_among), dtype=bool)
        is_drawn[among[drawn]] = True
        return is_drawn
