"""Local regression (LOWESS), for smooth lines through points."""

from __future__ import annotations

import numpy as np

#: Maximum number of places at which the line is computed.
MAX_PLACES = 100


def smooth(
    x: np.ndarray, y: np.ndarray, *, fraction: float = 2 / 3, n_robust: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    r"""Fit a smooth line by robust, locally weighted linear regression.

    At each place, a line is fitted to the nearest ``fraction`` of the points with
    weights :math:`(1 - (d / d_{max})^3)^3`, d being the distance in x. Points with
    large residuals then get smaller weights, ``n_robust`` times. These are the settings
    of R's ``panel.smooth``.

    Parameters
    ----------
    x, y : ndarray of float64, shape (n_points,)
        The points, in any order; pairs that are not finite are left out.
    fraction : float, default=2/3
        Fraction of the points that each local fit uses.
    n_robust : int, default=3
        Number of reweighted fits.

    Returns
    -------
    places : ndarray of float64
        At most 100 values of x in increasing order: all of them, or quantiles.
    line : ndarray of float64
        The line at these places; empty for fewer than 3 distinct values of x.

    References
    ----------
    W. S. Cleveland, "Robust locally weighted regression and smoothing scatterplots",
    Journal of the American Statistical Association 74(368), 1979.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.inspection.lowess import smooth
    >>> x = np.arange(10.0)
    >>> places, line = smooth(x, 2 * x + 1)
    >>> bool(np.allclose(line, 2 * places + 1))
    True
    """
    is_known = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[is_known], kind="stable")
    x, y = x[is_known][order], y[is_known][order]
    places = np.unique(x)
    if len(places) < 3:
        return places[:0], places[:0]
    if len(places) > MAX_PLACES:
        ranks = np.linspace(0, len(x) - 1, MAX_PLACES).round().astype(int)
        places = np.unique(x[ranks])
    n_near = min(max(int(fraction * len(x) + 1e-7), 2), len(x))
    robustness = np.ones(len(x))
    for step in range(n_robust + 1):
        line = np.array([_fit_at(p, x, y, robustness, n_near) for p in places])
        residual = np.abs(y - np.interp(x, places, line))
        scale = 6.0 * np.median(residual)
        if step == n_robust or scale < 1e-7 * np.mean(residual) or scale == 0.0:
            break
        robustness = (1.0 - np.clip(residual / scale, 0.0, 1.0) ** 2) ** 2
    return places, line


def _fit_at(place, x, y, robustness, n_near):
    """Evaluate at one place the line fitted to the nearest points."""
    distance = np.abs(x - place)
    reach = np.partition(distance, n_near - 1)[n_near - 1]
    if reach > 0.0:
        weight = robustness * (1.0 - np.clip(distance / reach, 0.0, 1.0) ** 3) ** 3
    else:
        weight = robustness * (distance == 0.0)
    total = weight.sum()
    if total == 0.0:
        return np.median(y[distance <= reach])
    weight = weight / total
    center, level = weight @ x, weight @ y
    spread = weight @ (x - center) ** 2
    if spread <= (1e-3 * (x[-1] - x[0])) ** 2:
        return level
    return level + (place - center) * (weight @ ((x - center) * y)) / spread
