"""Validation rows that are held out from the training rows, in memory or in blocks."""

from __future__ import annotations

import pickle
import tempfile
import weakref
from collections.abc import Iterator
from math import ceil
from pathlib import Path

import narwhals as nw
import numpy as np
from numpy.random import RandomState

from sklearn_textbook._contract.blocks import BLOCK_ROWS, BlockSource, list_blocks
from sklearn_textbook._contract.labels import check_target
from sklearn_textbook.tree.members import count_rows_from, explain_full_disk


class HoldOutDraw:
    """Draws validation rows, the same fraction of every class, block by block.

    Parameters
    ----------
    fraction : float
        Fraction of the rows; at least one row of a class is not drawn.
    random_state : RandomState
        Draws the rows of each block of `BLOCK_ROWS` rows.
    """

    def __init__(self, fraction: float, random_state: RandomState) -> None:
        self.fraction, self.random_state = fraction, random_state
        self.n_rows: dict = {}  # of each class, in the blocks before

    def mark(self, labels: np.ndarray) -> np.ndarray:
        """Mark the validation rows of the next block."""
        is_held = np.zeros(len(labels), dtype=bool)
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            n_before = self.n_rows.get(label, 0)
            self.n_rows[label] = n_before + len(rows)
            n_held = self._count(self.n_rows[label]) - self._count(n_before)
            is_held[self.random_state.choice(rows, n_held, replace=False)] = True
        return is_held

    def _count(self, n_rows):
        """Count the validation rows among so many of a class."""
        return max(0, min(ceil(self.fraction * n_rows), n_rows - 1))

    def require_rows(self) -> None:
        """Raise ValueError if there are no validation rows."""
        if not any(map(self._count, self.n_rows.values())):
            raise ValueError(
                "n_iter_no_change requires validation rows, but "
                f"n_samples={sum(self.n_rows.values())} and validation_fraction="
                f"{self.fraction} leave none. Give X_val and y_val."
            )


def choose_held_rows(
    labels: np.ndarray, fraction: float, random_state: RandomState
) -> np.ndarray:
    """Mark rows for validation, the same fraction of every class."""
    draw = HoldOutDraw(fraction, random_state)
    is_held = [draw.mark(labels[rows]) for rows in list_blocks(len(labels))]
    draw.require_rows()
    return np.concatenate(is_held)


class HeldRows(BlockSource):
    """Rows of a source that were held out, in a temporary file.

    Parameters
    ----------
    source : BlockSource
        The source.
    """

    def __init__(self, source: BlockSource) -> None:
        self.source, self.names = source, source.names
        self.file = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self.file.close)

    def _describe(self) -> str:
        return f"the validation rows of {self.source._describe()}"

    def write(self, frame) -> None:
        """Append a block of rows, a frame of narwhals."""
        with explain_full_disk(Path(tempfile.gettempdir(), "validation rows")):
            pickle.dump(frame.to_native(), self.file, pickle.HIGHEST_PROTOCOL)
            self.file.flush()

    def _read(self, names):
        end = self.file.tell()
        self.file.seek(0)
        while self.file.tell() < end:
            frame = nw.from_native(pickle.load(self.file), eager_only=True)
            yield frame.select(list(names)).to_native()


class TrainingRows(BlockSource):
    """The rows of a source that are not held out; to be read once.

    Parameters
    ----------
    source : BlockSource
        The source.
    target : str
        The column of the target.
    is_numeric : bool
        Whether the target is numbers rather than classes.
    draw : HoldOutDraw
        Draws the validation rows.
    """

    def __init__(
        self, source: BlockSource, target: str, is_numeric: bool, draw: HoldOutDraw
    ) -> None:
        self.source, self.names, self.draw = source, source.names, draw
        self.target, self.is_numeric = target, is_numeric
        self.memory_limit = source.memory_limit
        self.held = HeldRows(source)

    def _describe(self) -> str:
        return self.source._describe()

    def _read(self, names):
        n_rows = 0
        for pieces in group_blocks(self.source._read(names)):
            labels = []
            for piece in pieces:
                with count_rows_from(n_rows):
                    values = piece.get_column(self.target).to_native()
                    labels.append(check_target(values, is_numeric=self.is_numeric))
                n_rows += len(piece)
            of_block = np.concatenate(labels)[:, 0]
            if self.is_numeric:
                of_block = np.zeros(len(of_block))
            is_held = self.draw.mark(of_block)
            start = 0
            for piece in pieces:
                is_held_here = is_held[start : start + len(piece)]
                self.held.write(piece[np.flatnonzero(is_held_here)])
                yield piece[np.flatnonzero(~is_held_here)].to_native()
                start += len(piece)
        self.draw.require_rows()


def group_blocks(blocks) -> Iterator[list[nw.DataFrame]]:
    """Cut frames into lists of frames, with `BLOCK_ROWS` rows in each list."""
    pieces, n_rows = [], 0
    for block in blocks:
        frame = nw.from_native(block, eager_only=True)
        while len(frame):
            pieces.append(frame[: BLOCK_ROWS - n_rows])
            frame = frame[BLOCK_ROWS - n_rows :]
            n_rows += len(pieces[-1])
            if n_rows == BLOCK_ROWS:
                yield pieces
                pieces, n_rows = [], 0
    if pieces:
        yield pieces
