"""Folds of a table that is read in blocks."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.random import RandomState

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.labels import check_target
from sklearn_textbook._contract.parameters import is_integer
from sklearn_textbook._contract.random_state import borrow_random_state
from sklearn_textbook.io.block_sources import Scan, scan

#: Classes by which folds may be stratified; each has a counter.
MOST_CLASSES = 1000


def folds(
    source: Any,
    n_splits: int = 5,
    *,
    random_state: int | RandomState | None = None,
    stratify: str | None = None,
) -> list[tuple[BlockSource, BlockSource]]:
    """Split a table that is read in blocks for cross-validation.

    Nothing is copied: each part reads the whole source and keeps its rows. The fold of
    a row depends on its number in the table and on the seed, not on the blocks.

    Parameters
    ----------
    source : path, sequence of paths, dataset, lazy data frame, Batches or Scan
        The table, as for :func:`scan`.
    n_splits : int, default=5
        Number of folds, at least 2. Of every ``n_splits`` rows in a row, each is in
        another fold, at random.
    random_state : int, RandomState or None, default=None
        Seed of the folds. None: another one each time.
    stratify : str, default=None
        A column of classes, of which every fold gets the same number of rows, or one
        more: of every ``n_splits`` rows of a class in a row, each is in another fold.

    Returns
    -------
    parts : list of pairs of tables
        For each fold the table of the other rows, to fit, and that of its rows, to
        test.

    Raises
    ------
    TableFileError
        If there is no such file, or if it cannot be read.
    ValueError
        If a parameter is invalid.

    See Also
    --------
    scan : Describe a table that does not fit into the memory.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_textbook import io
    >>> from sklearn_textbook.ensemble import GradientBoostingRegressor
    >>> frame = pd.DataFrame({"x": range(100), "y": [2.0 * x for x in range(100)]})
    >>> table = io.Batches(lambda: iter([frame[:70], frame[70:]]))
    >>> for train, test in io.folds(table, 2, random_state=0):
    ...     model = GradientBoostingRegressor(n_estimators=1).fit(train, "y")
    ...     print(len(model.predict(test)))
    50
    50
    """
    table = scan(source)
    if not is_integer(n_splits) or n_splits < 2:
        raise ValueError(
            f"n_splits must be an integer of at least 2, got {n_splits!r}."
        )
    if stratify is not None:
        table._require_columns("stratify", (stratify,))
    seed = int(borrow_random_state(random_state).randint(2**31))
    return [
        (
            _Part(table, int(n_splits), fold, False, seed, stratify),
            _Part(table, int(n_splits), fold, True, seed, stratify),
        )
        for fold in range(n_splits)
    ]


class _Part(BlockSource):
    """The rows of a fold, or the others."""

    def __init__(
        self,
        table: Scan,
        n_folds: int,
        fold: int,
        is_test: bool,
        seed: int,
        stratify: str | None,
    ) -> None:
        self.table, self.n_folds, self.fold = table, n_folds, fold
        self.is_test, self.seed, self.stratify = is_test, seed, stratify
        self.names, self.memory_limit = table.names, table.memory_limit

    def _read(self, names):
        dealer = _Dealer(self.n_folds, self.seed)
        extra = [] if self.stratify is None else [self.stratify]
        for block in self.table.read_blocks(dict.fromkeys([*names, *extra])):
            frame = nw.from_native(block, eager_only=True)
            if self.stratify is None:
                fold = dealer.deal(None, len(frame))
            else:
                fold = self._deal_classes(dealer, frame[self.stratify])
            rows = np.flatnonzero((fold == self.fold) == self.is_test)
            if len(rows):
                yield frame.select(names)[rows].to_native()

    def _deal_classes(self, dealer, column):
        """Deal the rows of each class."""
        labels = check_target(column.to_native(), is_numeric=False, name="stratify")
        found, places = np.unique(labels[:, 0], return_inverse=True)
        fold = np.empty(len(labels), dtype=np.intp)
        for number, label in enumerate(found.tolist()):
            rows = np.flatnonzero(places == number)
            fold[rows] = dealer.deal(label, len(rows))
        if len(dealer.n_dealt) > MOST_CLASSES:
            raise ValueError(
                f"stratify={self.stratify!r} has more than {MOST_CLASSES:,} distinct "
                f"values in {self._describe()}; it must be a column of classes."
            )
        return fold

    def _describe(self) -> str:
        """Name the table in messages."""
        rows = "fold" if self.is_test else "the rows outside fold"
        return f"{rows} {self.fold} of {self.table._describe()}"


class _Dealer:
    """Deals the rows of classes to folds, one after the other."""

    def __init__(self, n_folds: int, seed: int) -> None:
        self.n_folds, self.seed = n_folds, seed
        #: By class: a number that makes its folds differ from others, and rows so far.
        self.n_dealt: dict[object, list[int]] = {}

    def deal(self, label: object, n_rows: int) -> np.ndarray:
        """Return the folds of the next rows of a class."""
        known = self.n_dealt.setdefault(label, [len(self.n_dealt), 0])
        number, start = known
        known[1] = stop = start + n_rows
        first, k = start // self.n_folds, self.n_folds
        groups = np.arange(first * k, -(-stop // k) * k, dtype=np.uint64)
        keys = _mix(groups + _mix(np.uint64([number << 32 | self.seed])))
        # The places of sorted random numbers are a random order of the folds.
        folds = np.argsort(keys.reshape(-1, k), axis=1, kind="stable").ravel()
        return folds[start - first * k :][:n_rows]


def _mix(numbers: np.ndarray) -> np.ndarray:
    """Map numbers to random ones of 64 bits, each of them to another (SplitMix64)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
