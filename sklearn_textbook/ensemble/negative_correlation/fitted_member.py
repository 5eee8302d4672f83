"""One member of a fitted ensemble, in the units of the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from sklearn_textbook.ensemble.negative_correlation.joint_members import JointMembers


@dataclass(frozen=True, eq=False)
class MemberUnits:
    """The units of the table and of the target.

    Parameters
    ----------
    column_means, column_scales : ndarray of float64, shape (n_columns,)
        Means and standard deviations of the columns; 1 for the deviation of a constant
        column.
    target_mean, target_scale : float
        Those of the target; 0 for the deviation of a constant target.
    """

    column_means: np.ndarray
    column_scales: np.ndarray
    target_mean: float
    target_scale: float

    @classmethod
    def measure(cls, matrix, target, fraction):
        """Measure the units of some rows, whose fractions sum to 1."""
        means, mean = fraction @ matrix, float(fraction @ target)
        scales = np.sqrt(fraction @ (matrix - means) ** 2)
        # Rounding lets a constant column vary a little.
        largest = np.abs(matrix).max(axis=0, initial=0.0)
        scales = np.where(scales > 1e-12 * largest, scales, 1.0)
        scale = float(np.sqrt(fraction @ (target - mean) ** 2))
        is_spread = scale > 1e-12 * np.abs(target).max(initial=0.0)
        return cls(means, scales, mean, scale if is_spread else 0.0)

    def standardise(self, matrix):
        """Standardise columns to mean 0 and standard deviation 1."""
        return (matrix - self.column_means) / self.column_scales

    def predict(self, members, matrix):
        """Predict with all members; shape (n_rows, n_members)."""
        outputs = members.predict_blocks(self.standardise(matrix))
        return self.target_mean + self.target_scale * outputs


@dataclass(frozen=True, eq=False)
class FittedMember:
    """One member of a fitted ensemble.

    Parameters
    ----------
    parameters : JointMembers
        Those of this member.
    units : MemberUnits
        The units of the table.
    """

    parameters: JointMembers
    units: MemberUnits

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the target of rows."""
        matrix = check_array(X, dtype=np.float64)
        return self.units.predict(self.parameters, matrix)[:, 0]
