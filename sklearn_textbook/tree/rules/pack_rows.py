"""The training rows, sorted and packed in words of 64 rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WORD = 64
#: Maximum sum of weights in units of their grid, in bits.
WEIGHT_BITS = 51


@dataclass(frozen=True)
class PackedRows:
    """Training rows, sorted by class, every class starting a new word.

    A *slot* is a place for a row; word w has the slots 64 w to 64 w + 63, the lowest
    bit first. Slots between classes are empty and have weight 0.

    Parameters
    ----------
    columns : ndarray of int64, shape (n_columns,)
        The columns of the table that the tree tests.
    values : ndarray of float64, shape (n_columns, n_rows)
        Their numbers and level codes, ascending, missing ones last.
    order : ndarray of int32, shape (n_columns, n_rows)
        The slots of the rows with these values.
    n_known : ndarray of int64, shape (n_columns,)
        Number of rows whose value is not missing.
    known : ndarray of uint64, shape (n_columns, n_words)
        Mask of the slots of rows whose value is not missing.
    slot : ndarray of int64, shape (n_rows,)
        Slot of every training row of positive weight.
    row : ndarray of int64, shape (n_rows,)
        Numbers of these rows in the training table.
    filled : ndarray of uint64, shape (n_words,)
        Mask of the slots with a row.
    weight : ndarray of float64, shape (n_slots,)
        Weights, integer multiples of a power of two.
    common_weight : float
        Weight of every row if all are equal, otherwise 0.
    class_start : ndarray of int64, shape (n_classes + 1,)
        First word of every class.
    class_weight : ndarray of float64, shape (n_classes,)
        Weight of every class.
    """

    columns: np.ndarray
    values: np.ndarray
    order: np.ndarray
    n_known: np.ndarray
    known: np.ndarray
    slot: np.ndarray
    row: np.ndarray
    filled: np.ndarray
    weight: np.ndarray
    common_weight: float
    class_start: np.ndarray
    class_weight: np.ndarray

    @property
    def n_words(self) -> int:
        """Number of words."""
        return len(self.filled)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_weight)

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.class_weight.sum())

    @property
    def slot_class(self):
        """Class of every slot, int32."""
        words = np.diff(self.class_start) * WORD
        return np.repeat(np.arange(self.n_classes, dtype=np.int32), words)


def pack_rows(
    values: np.ndarray,
    columns: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray | None,
    place: np.ndarray,
    n_classes: int,
) -> PackedRows:
    """Sort and pack the training rows."""
    weight = np.ones(len(codes)) if weight is None else round_weights(weight)
    row = np.flatnonzero(weight > 0.0)
    row = row[np.lexsort((place[row], codes[row]))]
    n_of_class = np.bincount(codes[row], minlength=n_classes)
    class_start = np.concatenate([[0], np.cumsum(-(-n_of_class // WORD))])
    before = np.concatenate([[0], np.cumsum(n_of_class)[:-1]])
    slot = np.arange(len(row)) + (class_start[:-1] * WORD - before)[codes[row]]
    n_slots = int(class_start[-1]) * WORD
    slot_weight = np.zeros(n_slots)
    slot_weight[slot] = weight[row]
    is_common = bool((weight[row] == weight[row[0]]).all())
    return PackedRows(
        columns=columns,
        **_sort_columns(values, row, slot, n_slots),
        slot=slot,
        row=row,
        filled=pack_bits(slot_weight > 0.0),
        weight=slot_weight,
        common_weight=float(weight[row[0]]) if is_common else 0.0,
        class_start=class_start.astype(np.int64),
        class_weight=np.bincount(codes[row], weight[row], n_classes),
    )


def _sort_columns(values, row, slot, n_slots):
    """Sort the values of every column; see :class:`PackedRows`."""
    n_columns, n_words = len(values), n_slots // WORD
    sorted_values = np.empty((n_columns, len(row)))
    order = np.empty((n_columns, len(row)), dtype=np.int32)
    n_known = np.empty(n_columns, dtype=np.int64)
    known = np.empty((n_columns, n_words), dtype=np.uint64)
    for number in range(n_columns):
        column = values[number, row]
        by_value = np.argsort(column, kind="stable")
        sorted_values[number] = column[by_value]
        order[number] = slot[by_value]
        is_known = np.zeros(n_slots, dtype=bool)
        is_known[slot] = ~np.isnan(column)
        n_known[number] = is_known.sum()
        known[number] = pack_bits(is_known)
    return {
        "values": sorted_values,
        "order": order,
        "n_known": n_known,
        "known": known,
    }


def round_weights(weight: np.ndarray) -> np.ndarray:
    """Round weights to a grid on which sums are exact in any order."""
    _, exponent = np.frexp(weight.sum())
    unit = 2.0 ** (int(exponent) - WEIGHT_BITS)
    rounded = np.round(weight / unit) * unit
    return np.where((rounded == 0.0) & (weight > 0.0), unit, rounded)


def pack_bits(is_set):
    """Pack a mask of slots into words."""
    packed = np.packbits(is_set, bitorder="little")
    return packed.view(np.dtype("<u8")).astype(np.uint64, copy=False)
