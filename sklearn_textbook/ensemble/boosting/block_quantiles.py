"""Weighted quantiles of numbers that are read in blocks of rows, again and again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: Number of bins of a pass, those of all groups together, and what each of them needs.
MOST_BINS, BIN_BYTES = 1 << 20, 32
#: Numbers that are sorted in memory, and what each of them needs.
MOST_SORTED, SORTED_BYTES = 1 << 19, 96

_SIGN = np.uint64(1 << 63)


def find_unit(total_weight: float) -> float:
    """Find the power of two by which weights are multiplied, to become integers.

    Sums of integers are exact, so that they do not depend on the order of the rows.
    """
    return float(np.ldexp(1.0, min(1023, 61 - int(np.frexp(total_weight)[1]))))


def count_units(weight: np.ndarray, unit: float) -> np.ndarray:
    """Round weights above 0 to integers of at least 1, as the kernel does."""
    return np.maximum(weight * unit + 0.5, 1.0).astype(np.int64)


def find_block_quantiles(
    read: Callable,
    n_groups: int,
    quantile: float,
    total_weight: float,
    memory_limit: int | None = None,
) -> np.ndarray:
    """Find a weighted quantile of each group of numbers: that of `find_leaf_quantiles`.

    Numbers are compared by their bits. A pass counts the numbers of each group by the
    next bits; those of the quantile follow. Once the numbers that begin like the
    quantiles fit into the memory, they are sorted.

    Parameters
    ----------
    read : callable
        Returns an iterator of blocks: the groups of the rows, negative for rows that do
        not count, their numbers, and their weights or None.
    n_groups : int
        Number of groups.
    quantile : float
        The fraction of the weight.
    total_weight : float
        Sum of the weights of all rows, also of those that do not count.
    memory_limit : int, default=None
        Bytes that may be kept in memory; a lower limit takes more passes.

    Returns
    -------
    quantiles : ndarray of float64, shape (n_groups,)
        The lowest numbers with at least this fraction of the weight up to them; 0 for
        a group without rows.
    """
    unit = find_unit(total_weight)
    n_bins, n_sorted = MOST_BINS, MOST_SORTED
    if memory_limit is not None:
        n_bins = min(n_bins, memory_limit // BIN_BYTES)
        n_sorted = min(n_sorted, memory_limit // SORTED_BYTES)
    bits = max(1, min(16, n_bins.bit_length() - 1 - n_groups.bit_length()))
    prefix = np.zeros(n_groups, dtype=np.uint64)
    below = np.zeros(n_groups, dtype=np.int64)
    enough = None
    shift = 64
    while shift > 0:
        step = min(bits, shift)
        n_units, n_rows = _count(
            _take_alike(read, prefix, shift, unit), n_groups, shift - step, step
        )
        if enough is None:
            total = n_units.sum(axis=1)
            enough = quantile * total - 1e-12 * total
            is_empty = ~n_rows.any(axis=1)
            if is_empty.all():
                break
        up_to = below[:, np.newaxis] + np.cumsum(n_units, axis=1)
        place = np.argmax((up_to >= enough[:, np.newaxis]) & (n_rows > 0), axis=1)
        groups = np.arange(n_groups)
        below = up_to[groups, place] - n_units[groups, place]
        shift -= step
        prefix |= place.astype(np.uint64) << np.uint64(shift)
        if shift and n_rows[groups, place].sum() <= n_sorted:
            parts = [*_take_alike(read, prefix, shift, unit)]
            prefix = _sort(
                *map(np.concatenate, zip(*parts, strict=True)), below, enough
            )
            break
    return np.where(is_empty, 0.0, _to_numbers(prefix))


def _take_alike(read, prefix, shift, unit):
    """Read the rows whose keys begin like the quantile of their group."""
    for group, numbers, weight in read():
        rows = np.flatnonzero(
            group >= 0 if weight is None else (group >= 0) & (weight > 0)
        )
        group, keys = group[rows], _to_keys(numbers[rows])
        if shift < 64:
            alike = (keys ^ prefix[group]) >> np.uint64(shift) == 0
            rows, group, keys = rows[alike], group[alike], keys[alike]
        units = np.ones(len(rows), dtype=np.int64)
        if weight is not None:
            units = count_units(weight[rows], unit)
        yield group, keys, units


def _to_keys(numbers):
    """Turn numbers to integers with the same order."""
    bits = (numbers + 0.0).view(np.uint64)  # minus zero equals zero
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _to_numbers(keys):
    """Invert `_to_keys`."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


def _count(blocks, n_groups, shift, step):
    """Add up the units of each group by some bits of the keys, and count the rows."""
    n_units, n_rows = np.zeros((2, n_groups << step), dtype=np.int64)
    mask = np.uint64((1 << step) - 1)
    for group, keys, units in blocks:
        place = (keys >> np.uint64(shift) & mask).astype(np.int64)
        place += group.astype(np.int64) << step
        np.add.at(n_units, place, units)
        np.add.at(n_rows, place, 1)
    shape = (n_groups, 1 << step)
    return n_units.reshape(shape), n_rows.reshape(shape)


def _sort(group, keys, units, below, enough):
    """Find the key of each group that, with all below, has enough units."""
    order = np.lexsort((keys, group))
    group, keys = group[order], keys[order]
    up_to = np.append(0, np.cumsum(units[order]))
    first = np.searchsorted(group, np.arange(len(below)))
    up_to = below[group] + up_to[1:] - up_to[first[group]]
    places = np.flatnonzero(up_to >= enough[group])
    found = np.searchsorted(group[places], np.arange(len(below)))
    # Of a group without rows, any key.
    return keys[places[np.minimum(found, len(places) - 1)]]
