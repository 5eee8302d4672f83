"""The elastic-net penalty, and how far coefficients are from the minimum with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: With less of the L1 norm than this, the largest alpha is chosen as with this.
LEAST_RATIO = 1e-3
#: Fraction of the penalty by which a derivative may exceed it because of rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Penalty:
    r"""The penalty of groups of columns, most of which have one column.

    .. math:: \alpha \sum_g f_g \Bigl(\rho \sqrt{m_g} \lVert b_g \rVert_2
        + \frac{1 - \rho}{2} \lVert b_g \rVert_2^2\Bigr)

    Parameters
    ----------
    l1_ratio : float
        :math:`\rho`.
    factors : ndarray of shape (n_groups,)
        :math:`f_g`; 0: not penalised.
    starts : ndarray of intp, shape (n_groups + 1,)
        The first column of each group, and the number of columns.
    is_positive : bool
        Whether coefficients are not negative.
    """

    l1_ratio: float
    factors: np.ndarray
    starts: np.ndarray
    is_positive: bool = False

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.starts[-1])

    @property
    def sizes(self) -> np.ndarray:
        """Number of columns of each group."""
        return np.diff(self.starts)

    @property
    def has_groups(self) -> bool:
        """Whether a group has several columns."""
        return len(self.factors) < self.n_columns

    def split(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors of the norms and of the halved squares of each group."""
        norms = alpha * self.l1_ratio * self.factors * np.sqrt(self.sizes)
        return norms, alpha * (1.0 - self.l1_ratio) * self.factors

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Repeat a value of each group for its columns."""
        return np.repeat(values, self.sizes, axis=-1) if self.has_groups else values

    def measure_norms(self, values: np.ndarray, *, of_slopes=False) -> np.ndarray:
        """Compute the norms of groups along the last axis.

        Of negative derivatives, only those count that would move a coefficient.
        """
        if of_slopes and self.is_positive:
            values = np.maximum(values, 0.0)
        if not self.has_groups:
            return np.abs(values)
        if not values.shape[-1]:
            return np.zeros((*values.shape[:-1], 0))
        squares = np.add.reduceat(np.square(values), self.starts[:-1], axis=-1)
        return np.sqrt(squares)

    def measure(self, theta: np.ndarray, alpha: float) -> float:
        """Compute the penalty of coefficients of shape (n_scores, n_columns)."""
        l1, l2 = self.split(alpha)
        squares = np.square(theta).sum(axis=0)
        size = float((self.measure_norms(theta) * l1).sum())
        return size + 0.5 * float(squares @ self.spread(l2))

    def find_largest_alpha(self, slopes: np.ndarray) -> float:
        """Find the smallest alpha for which all penalised coefficients are zero.

        Slopes (n_scores, n_columns): minus the derivatives where they are.
        """
        norms = self.measure_norms(slopes, of_slopes=True).reshape(
            -1, len(self.factors)
        )
        strength = self.factors * np.sqrt(self.sizes)
        is_penalised = strength > 0.0
        found = norms[:, is_penalised] / strength[is_penalised]
        largest = float(found.max(initial=0.0)) / max(self.l1_ratio, LEAST_RATIO)
        return largest * (1.0 + ROUNDING)

    def find_excess(self, slopes: np.ndarray, alpha: float) -> np.ndarray:
        """Mask of the columns whose derivatives exceed the penalty of zeros."""
        l1, _ = self.split(alpha)
        norms = self.measure_norms(slopes, of_slopes=True).reshape(-1, len(l1))
        # Of unpenalised columns, no derivative but 0 would do.
        is_over = (norms > l1 * (1.0 + ROUNDING)).any(axis=0) | (self.factors == 0.0)
        return self.spread(is_over)

    def select(self, places: np.ndarray) -> Penalty:
        """Penalty of some columns, which are whole groups."""
        if not self.has_groups:
            return Penalty(
                self.l1_ratio,
                self.factors[places],
                np.arange(len(places) + 1),
                self.is_positive,
            )
        is_inside = np.zeros(self.n_columns, dtype=bool)
        is_inside[places] = True
        is_group = is_inside[self.starts[:-1]]
        starts = np.append(0, np.cumsum(self.sizes[is_group])).astype(np.intp)
        return Penalty(self.l1_ratio, self.factors[is_group], starts, self.is_positive)

    def repeat(self, n_scores: int) -> Penalty:
        """Penalty of several vectors of coefficients, one after the other."""
        if n_scores == 1:
            return self
        first = np.arange(n_scores)[:, np.newaxis] * self.n_columns
        starts = np.append(
            (first + self.starts[:-1]).ravel(), n_scores * self.n_columns
        )
        factors = np.tile(self.factors, n_scores)
        return Penalty(self.l1_ratio, factors, starts, self.is_positive)


def measure_gap(
    penalty: Penalty,
    alpha: float,
    theta: np.ndarray,
    slopes: np.ndarray,
    square: float,
    cross: float,
) -> float:
    r"""Compute a bound of how far least squares with a penalty are from the minimum.

    Two points of the dual problem are tried: the residuals reduced until all
    derivatives of the lasso of a table with rows :math:`\sqrt{l_2}` are allowed, and
    the residuals as they are, whose excess is allowed for by the squares.

    Parameters
    ----------
    penalty : Penalty
        The penalty.
    alpha : float
        Its strength.
    theta, slopes : ndarray of shape (n_columns,)
        The coefficients, and the mean products of the columns and the residuals.
    square, cross : float
        The mean squared residual, and the mean product of residuals and targets.
    """
    l1, l2 = penalty.split(alpha)
    by_column = penalty.spread(l2)
    shrunk = float(by_column @ np.square(theta))
    primal = 0.5 * (square + shrunk) + float(penalty.measure_norms(theta) @ l1)
    free = penalty.spread(penalty.factors == 0.0)
    primal += float(np.abs(slopes[free] * theta[free]).sum())

    norms = penalty.measure_norms(slopes - by_column * theta, of_slopes=True)
    is_over = (norms > l1) & (penalty.factors > 0.0)
    share = float((l1[is_over] / norms[is_over]).min(initial=1.0))
    dual = share * cross - 0.5 * share**2 * (square + shrunk)

    excess = np.maximum(penalty.measure_norms(slopes, of_slopes=True) - l1, 0.0)
    is_over = (excess > 0.0) & (penalty.factors > 0.0)
    if (l2[is_over] > 0.0).all():
        lost = float((np.square(excess[is_over]) / l2[is_over]).sum())
        dual = max(dual, cross - 0.5 * square - 0.5 * lost)
    return max(primal - dual, 0.0)
