"""Signs of pairs of singular vectors."""

from __future__ import annotations

import numpy as np


def find_signs(rows: np.ndarray) -> np.ndarray:
    """Find the signs to multiply rows by.

    The entry of largest absolute value becomes positive. If several are equally large
    up to rounding, the first one does, so that the sign does not depend on rounding.
    """
    sizes = np.abs(rows)
    slack = np.sqrt(np.finfo(rows.dtype).eps)
    # A mask of all entries that are about as large; argmax finds the first one.
    is_large = sizes >= sizes.max(axis=1, keepdims=True) * (1 - slack)
    places = np.argmax(is_large, axis=1)
    chosen = rows[np.arange(len(rows)), places]
    return np.where(chosen < 0, -1, 1).astype(rows.dtype)


def fix_signs(U: np.ndarray, Vt: np.ndarray) -> None:
    """Flip pairs of singular vectors so that the largest entry on the right is > 0."""
    signs = find_signs(Vt)
    Vt *= signs[:, np.newaxis]
    U *= signs


def fix_column_signs(Q) -> None:
    """Flip columns that have no partner so that their largest entry is > 0."""
    Q *= find_signs(Q.T)
