"""Transformation of a target to its logarithm and back."""

from __future__ import annotations

import numpy as np

#: Predictions of y from a regression of ln y.
RETRANSFORMATIONS = ("median", "mean", "smearing")


def transform_target(y):
    """Take the logarithm of a target.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The target.

    Returns
    -------
    logarithm : ndarray of shape (n_rows,)
        Natural logarithm.

    Raises
    ------
    ValueError
        If a number is not above 0.
    """
    if (y <= 0.0).any():
        row = int(np.argmax(y <= 0.0))
        raise ValueError(
            f"transform_y='log' requires targets above 0, got {y[row]} in row {row}. "
            "link='log' uses the logarithm of the mean instead, and allows y to be 0."
        )
    return np.log(y)


def find_factor(retransform, residuals, weight, variance):
    r"""Find the factor that :math:`e^\eta` is multiplied by.

    Parameters
    ----------
    retransform : {"median", "mean", "smearing"}
        1 for the median of y; :math:`e^{\sigma^2/2}` for its mean, if ln y is normal;
        the mean of :math:`e^r` over the residuals r for its mean with any distribution
        of these (Duan's smearing).
    residuals : ndarray of shape (n_rows,)
        r, of ln y.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    variance : float
        :math:`\sigma^2`; if unknown, with no degrees of freedom left, 0 is taken.

    Returns
    -------
    factor : float
        The factor.
    """
    if retransform == "median":
        return 1.0
    if retransform == "smearing":
        return float(weight @ np.exp(residuals) / weight.sum())
    return float(np.exp(0.5 * variance)) if np.isfinite(variance) else 1.0
