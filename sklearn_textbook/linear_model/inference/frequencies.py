"""Weights that count equal rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook._contract.caller import warn_caller


def has_fractions(weight: Any) -> bool:
    """Whether weights, in memory or in a file, are not all whole numbers."""
    if weight is None:
        return False
    blocks = (weight[rows] for rows in list_blocks(len(weight)))
    return any((block != np.rint(block)).any() for block in blocks)


def warn_of_fractions(remedy: str) -> None:
    """Warn that errors of frequencies that are not whole numbers are asked for."""
    warn_caller(
        "Standard errors, degrees of freedom and tests take a weight w for w equal "
        "rows, but sample_weight was not whole numbers. For weights that are "
        f"inverse variances, {remedy}; the coefficients are the same.",
        UserWarning,
    )
