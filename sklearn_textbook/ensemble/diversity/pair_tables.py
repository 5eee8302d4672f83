"""The contingency tables of all pairs of members, and the measures that they give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.ensemble._count_draws import sum_disagreements
from sklearn_textbook.ensemble.diversity.predictions import MemberCodes

#: Number of rows of a block of the compiled loop.
_BLOCK_ROWS = 1024
#: Approximate number of words (64 rows of two members) compared in one call.
_CALL_WORDS = 2**29


def _pack(codes, n_classes):
    """Write codes as bits, as the compiled loop reads them."""
    n_members, n_rows = codes.shape
    n_planes = max(1, (n_classes - 1).bit_length())
    n_blocks = -(-n_rows // _BLOCK_ROWS)
    packed = np.zeros((n_members, n_planes, n_blocks * _BLOCK_ROWS // 8), np.uint8)
    for plane in range(n_planes):
        bits = (codes >> plane) & 1
        packed[:, plane, : -(-n_rows // 8)] = np.packbits(
            bits.astype(np.uint8, copy=False), axis=1, bitorder="little"
        )
    words = packed.view(np.uint64).reshape(n_members, n_planes, n_blocks, -1)
    return np.ascontiguousarray(words.transpose(2, 0, 1, 3))


@dataclass(frozen=True, eq=False)
class PairTables:
    """The contingency tables of all pairs of members.

    They follow from the weight of the rows on which two members differ, which one
    compiled loop counts, and from how often each member predicts each class.

    Parameters
    ----------
    members : MemberCodes
        Predictions of the members.
    """

    members: MemberCodes

    @property
    def total(self):
        """Sum of the weights."""
        return self.members.total

    @cached_property
    def differing(self):
        """Weight of the rows on which two members differ; (n_members, n_members)."""
        codes, weight = self.members.codes, self.members.weight
        n_members, n_rows = codes.shape
        n_classes = len(self.members.classes)
        # Between the calls, Python looks for signals.
        n_blocks = 1 + _CALL_WORDS // (_BLOCK_ROWS // 64 * n_members**2)
        total = np.zeros((n_members, n_members))
        for start in range(0, n_rows, n_blocks * _BLOCK_ROWS):
            rows = slice(start, start + n_blocks * _BLOCK_ROWS)
            bits = _pack(codes[:, rows], n_classes)
            padded = None
            if weight is not None:
                padded = np.zeros(len(bits) * _BLOCK_ROWS)
                padded[: len(weight[rows])] = weight[rows]
            n_threads = count_threads(None, bits.size * n_members)
            total += sum_disagreements(bits, padded, n_threads)
        return total

    @cached_property
    def class_weights(self):
        """Weight of the rows that a member gives each class; (n_members, n_classes)."""
        members = self.members
        return np.array(
            [
                np.bincount(codes, members.weight, len(members.classes))
                for codes in members.codes
            ],
            dtype=np.float64,
        )

    @cached_property
    def is_constant(self):
        """Whether a member predicts the same for all rows."""
        return (self.members.codes == self.members.codes[:, :1]).all(axis=1)

    @cached_property
    def cells(self):
        """Weights a, b, c and d of two classes: both second, first, second, none."""
        second = self.class_weights[:, 1]
        surplus = second[:, np.newaxis] - second
        b = np.maximum(0.0, (self.differing + surplus) / 2)
        c = np.maximum(0.0, (self.differing - surplus) / 2)
        a = np.maximum(0.0, second[:, np.newaxis] - b)
        d = np.maximum(0.0, self.total - a - b - c)
        return a, b, c, d

    def divide(self, numerator, denominator, is_undefined):
        """Divide; 0/0 is 1 for members that agree on all rows, and 0 for others."""
        agree = (self.differing == 0).astype(np.float64)
        is_undefined = is_undefined | (denominator == 0)  # by underflow
        safe = np.where(is_undefined, 1.0, denominator)
        return np.where(is_undefined, agree, numerator / safe)

    def is_any_constant(self):
        """Whether one of two members predicts the same for all rows."""
        return self.is_constant[:, np.newaxis] | self.is_constant

    def require_two_classes(self, measure) -> None:
        """Raise ValueError if predictions have more than two classes."""
        classes = self.members.classes
        if len(classes) > 2:
            raise ValueError(
                f"{measure} of predictions is defined only for two classes, got "
                f"{len(classes)}, such as {', '.join(map(repr, classes[:3].tolist()))}."
                " Give y_true to measure whether the members are right."
            )

    # ------------------------------------------------------------------- measures
    def disagreement(self):
        """Share of the rows on which two members differ."""
        return self.differing / self.total

    def correlation(self):
        """Correlation of two members."""
        self.require_two_classes("correlation")
        if len(self.members.classes) < 2:
            return np.ones_like(self.differing)
        a, b, c, d = (cell / self.total for cell in self.cells)
        fractions = self.class_weights / self.total
        spread = np.sqrt(fractions[:, 0] * fractions[:, 1])
        denominator = spread[:, np.newaxis] * spread
        rho = self.divide(a * d - b * c, denominator, self.is_any_constant())
        return self._finish(rho)

    def q_statistic(self):
        """Yule's Q of two members."""
        self.require_two_classes("q_statistic")
        if len(self.members.classes) < 2:
            return np.ones_like(self.differing)
        a, b, c, d = (cell / self.total for cell in self.cells)
        is_undefined = self.is_any_constant()
        return self._finish(self.divide(a * d - b * c, a * d + b * c, is_undefined))

    def kappa(self):
        """Agreement of two members beyond that by chance."""
        fractions = self.class_weights / self.total
        by_chance = fractions @ fractions.T
        agreement = 1.0 - self.differing / self.total
        is_undefined = (
            self.is_constant[:, np.newaxis] & self.is_constant & (self.differing == 0)
        )
        return self._finish(
            self.divide(agreement - by_chance, 1.0 - by_chance, is_undefined)
        )

    def double_fault(self):
        """Share of the rows on which both members are wrong."""
        return self.cells[3] / self.total

    def mean_errors(self):
        """Mean error of two members."""
        errors = self.class_weights[:, 0] / self.total
        return (errors[:, np.newaxis] + errors) / 2

    def _finish(self, values):
        """Remove rounding errors, so that members that agree have 1."""
        values = np.where(self.differing == 0, 1.0, values)
        return np.clip((values + values.T) / 2, -1.0, 1.0)


def list_pairs(n_members):
    """List the numbers of the members of each pair, two arrays."""
    return np.triu_indices(n_members, 1)
