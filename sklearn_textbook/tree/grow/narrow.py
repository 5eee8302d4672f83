"""Conversion of arrays to the narrowest type that restores them bit for bit."""

from __future__ import annotations

import numpy as np

#: Number of values that are converted on trial before all of them.
N_SAMPLED = 64
# Integers up to here are exact in double precision.
_MAX_WHOLE = 2.0**53
_BLOCK_NUMBERS = 2**22


def is_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have the same type, shape and bits."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind == "f":
        bits = f"i{one.dtype.itemsize}"
        one, other = one.view(bits), other.view(bits)
    return bool((one == other).all())


def narrow(values) -> np.ndarray:
    """Copy numbers in the narrowest type that restores them bit for bit."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind == "f":
        return _narrow_floats(values)
    if values.size == 0:
        return values.astype(np.uint8)
    lowest, highest = values.min(), values.max()
    for name in "BHIL" if lowest >= 0 else "bhil":
        limits = np.iinfo(name)
        if limits.min <= lowest and highest <= limits.max:
            break
    return values.astype(name)


def _narrow_floats(values):
    # Block by block: most large arrays are integers that fit into a byte.
    n_blocks = values.size // _BLOCK_NUMBERS
    if n_blocks > 1:
        narrowed = []
        for block in np.array_split(values, min(n_blocks, len(values))):
            narrowed.append(_narrow_floats(block))
            if narrowed[-1].dtype.kind == "f":
                break
        else:
            return narrow(np.concatenate(narrowed))
    for convert in (_as_whole, _as_single):
        # For most columns, a sample shows that the conversion fails.
        sample = convert(values.ravel()[:N_SAMPLED])
        if sample is not None and (narrowed := convert(values)) is not None:
            return narrow(narrowed) if narrowed.dtype.kind == "i" else narrowed
    return values.copy()


def _as_whole(values):
    if not np.all(np.abs(values) <= _MAX_WHOLE):
        return None
    whole = values.astype(np.int64)
    return whole if is_same(whole.astype(np.float64), values) else None


def _as_single(values):
    with np.errstate(all="ignore"):
        short = values.astype(np.float32)
    return short if is_same(short.astype(np.float64), values) else None


def narrow_equal(values) -> np.ndarray:
    """As narrow; a single entry if all are equal and there is one at least."""
    # For most columns, a sample shows that they differ.
    if all(
        is_same(some, np.broadcast_to(values[:1], some.shape))
        for some in (values[:N_SAMPLED], values)
    ):
        values = values[:1]
    return narrow(values)
