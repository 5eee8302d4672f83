"""A new table that is read in blocks, as numbers and codes in a file."""

from __future__ import annotations

import weakref

import numpy as np

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook.tree.encode.block_columns import (
    FileArray,
    add_weights,
    make_folder,
    measure_weight,
    remove_folder,
)


class BlockMatrix:
    """Rows as trees take them, with their targets and weights, in files.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    """

    def __init__(self, n_columns: int) -> None:
        self.n_rows, self.n_columns = 0, n_columns
        self.memory_limit: int | None = None  # that of the source
        self.folder, lock = make_folder()
        self.close = weakref.finalize(self, remove_folder, self.folder, lock)
        self._matrix = self.make_array("matrix", np.float64, (0, n_columns))
        self.target = self.make_array("target", np.float64, (0,))
        self.weight: FileArray | None = None

    def make_array(self, name: str, dtype, shape) -> FileArray:
        """Make a new file next to the others."""
        return FileArray(self.folder / name, dtype, shape)

    def append(self, matrix, target=None, weight=None) -> None:
        """Append a block of rows."""
        self._matrix.write(self.n_rows, matrix)
        if target is not None:
            self.target.write(self.n_rows, target)
        if weight is not None:
            if self.weight is None:
                self.weight = self.make_array("weight", np.float64, (0,))
            self.weight.write(self.n_rows, weight)
        self.n_rows += len(matrix)

    def read_matrix(self, rows: slice) -> np.ndarray:
        """Read a block of rows."""
        return self._matrix.read(rows)

    def measure_weights(self, name: str) -> float:
        """Add up the weights; messages call them by a name."""
        if self.weight is None:
            return float(self.n_rows)
        blocks = map(self.weight.read, list_blocks(self.n_rows))
        return add_weights((measure_weight(None, block) for block in blocks), name)[0]

    def map_matrix(self) -> np.ndarray:
        """Map all rows into memory; the files are removed with the array."""
        shape = (self.n_rows, self.n_columns)
        matrix = np.memmap(self._matrix.path, np.float64, "r", shape=shape)
        # The function keeps this object, whose files would go with it.
        weakref.finalize(matrix, lambda: self.close())
        return matrix
