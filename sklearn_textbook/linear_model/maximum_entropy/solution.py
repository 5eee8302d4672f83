"""Result of the solvers of maximum entropy models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solver.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        The weights.
    expected : ndarray of shape (n_features,)
        Sums of the features expected under the model.
    loss_path : ndarray of shape (n_iter + 1,)
        The loss at the start and after every round.
    gap : float
        Largest slope of the loss, per unit of weight.
    has_converged : bool
        Whether the gap is within the tolerance.
    """

    weights: np.ndarray
    expected: np.ndarray
    loss_path: np.ndarray
    gap: float
    has_converged: bool

    @property
    def n_iter(self):
        """Number of rounds."""
        return len(self.loss_path) - 1
