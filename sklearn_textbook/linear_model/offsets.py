"""Offsets and exposures: known parts of linear predictors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.scoring import read_vector


def read_offset(offset, exposure, n_rows: int, link) -> np.ndarray | None:
    """Read the offset of the predictors, with the logarithm of the exposure, or None.

    Parameters
    ----------
    offset, exposure : array-like or None
        Numbers of the rows.
    n_rows : int
        Number of rows.
    link : Link
        The link, which is the logarithm if there is an exposure.
    """
    total = None
    if offset is not None:
        total = read_numbers("offset", offset, (n_rows,))
    if exposure is not None:
        require_log_link(link)
        logarithm = take_logarithm(read_numbers("exposure", exposure, (n_rows,)))
        total = logarithm + (0.0 if total is None else total)
    return total


def read_named(X: Any, **known: Any) -> tuple:
    """Read columns of a table in blocks by their names; others are as they are."""
    if not isinstance(X, BlockSource):
        return tuple(known.values())
    return tuple(
        read_vector(X, role, name, is_numeric=False) for role, name in known.items()
    )


def take_rows_of(offset: np.ndarray | None, is_present: np.ndarray | None):
    """Take the offset of the rows that count."""
    return offset if offset is None or is_present is None else offset[is_present]


def read_numbers(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Read finite numbers of the rows, or a single one for all of them."""
    if np.isscalar(values):
        values = np.full(shape, values, dtype=np.float64)
    values = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    if values.shape != shape:
        per_row = "one number per row"
        if len(shape) > 1:
            per_row = "one number per row and class"
        raise ValueError(
            f"{name} must have shape {shape}, {per_row}, got {values.shape}."
        )
    return values


def require_log_link(link) -> None:
    """Raise ValueError for another link than the one that exposures require."""
    if link.name != "log":
        raise ValueError(
            "exposure requires the link 'log', with which means are proportional to "
            f"it; got {link.name!r}. Use an offset instead."
        )


def take_logarithm(exposure: np.ndarray) -> np.ndarray:
    """Take the logarithms of exposures."""
    if (exposure <= 0.0).any():
        row = int(np.argmax(exposure <= 0.0))
        raise ValueError(f"exposure must be above 0, got {exposure[row]} in row {row}.")
    return np.log(exposure)
