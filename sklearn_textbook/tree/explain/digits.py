"""Formatting of numbers with as few digits as needed."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike

#: Minimum significant digits of a single number.
MIN_DIGITS = 4
#: Numbers with at most this many significant digits, or decimals, are not rounded.
EXACT_DIGITS = 6
EXACT_DECIMALS = 2
#: Maximum change of a shortened threshold, as a fraction of the distance to the next.
GAP_FRACTION = 0.05
#: The same as a fraction of the distance to a value that it is compared with.
MARGIN_FRACTION = 0.4
#: This distance as a fraction of the threshold, if no such value is known.
UNKNOWN_MARGIN = 1e-9


def _spell(value, n_digits):
    """Format a number with some significant digits, without trailing zeros."""
    text = f"{value:.{n_digits}g}"
    if "e" in text:
        if not 1e-5 <= abs(value) < 1e15:
            mantissa, exponent = text.split("e")
            return f"{mantissa}e{int(exponent)}"
        text = format(Decimal(text), "f")
    return text


def _count_digits(text):
    """Significant digits and decimals of a number as text."""
    mantissa = text.split("e")[0].lstrip("-")
    decimals = len(mantissa.partition(".")[2])
    return len(mantissa.replace(".", "").lstrip("0")), decimals


def format_number(
    value: float, decimals: int | None = None, tolerance: float = math.inf
) -> str:
    """Write a number with few digits.

    Parameters
    ----------
    value : float
        The number.
    decimals : int or None, default=None
        Decimals to show. ``None`` shows numbers with few digits in full, and otherwise
        at least four digits and the whole integer part.
    tolerance : float, default=inf
        Maximum error of the shortened number.

    Returns
    -------
    str
        The number as text.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.digits import format_number
    >>> format_number(0.1 + 0.2), format_number(2 / 3), format_number(12345.6789)
    ('0.3', '0.6667', '12346')
    >>> format_number(2 / 3, decimals=2)
    '0.67'
    """
    value = float(value)
    if decimals is not None:
        return f"{value:.{decimals}f}"
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    short = _spell(value, 12)
    n_digits, n_decimals = _count_digits(short)
    is_short = n_digits <= EXACT_DIGITS or n_decimals <= EXACT_DECIMALS
    if is_short and abs(float(short) - value) <= tolerance:
        return short
    integer_digits = len(str(int(abs(value)))) if abs(value) < 1e15 else 0
    for n_digits in range(max(MIN_DIGITS, integer_digits), 17):
        text = _spell(value, n_digits)
        if abs(float(text) - value) <= tolerance:
            return text
    return _spell(value, 17)


def format_weight(
    weight: float, n_digits: int | None = None, tolerance: float = math.inf
) -> str:
    """Write a weight of a sum, which may be of any size.

    Parameters
    ----------
    weight : float
        The weight.
    n_digits : int or None, default=None
        Number of significant digits, at least 1. ``None`` is as in
        :func:`format_number`.
    tolerance : float, default=inf
        Maximum error of the shortened weight, unless ``n_digits`` is given.

    Returns
    -------
    str
        The weight as text.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.digits import format_weight
    >>> format_weight(0.00012345678), format_weight(0.00012345678, 2)
    ('0.0001235', '0.00012')
    """
    if n_digits is None or weight == 0:
        return format_number(weight, tolerance=tolerance)
    return _spell(weight, max(n_digits, 1))


def shorten_thresholds(
    thresholds: ArrayLike,
    decimals: int | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> dict[float, str]:
    """Write the thresholds of one column so that they can be distinguished.

    Parameters
    ----------
    thresholds : array-like of float
        Thresholds of one column, in any order, repeated or not.
    decimals : int or None, default=None
        Decimals to show. ``None`` uses for each threshold as few digits as possible
        such that it changes by less than a twentieth of the distance to the next
        threshold, and ``low <= text < high``.
    low, high : array-like of float or None, default=None
        The values next to each threshold, of those that are compared with it. None:
        unknown, for about nine digits.

    Returns
    -------
    dict of float to str
        The text of every distinct threshold.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.digits import shorten_thresholds
    >>> shorten_thresholds([0.8000000119, 1.75], low=[0.6, 1.7], high=[1.0, 1.8])
    {0.8000000119: '0.8', 1.75: '1.75'}
    >>> list(shorten_thresholds([2.33333, 2.333334]).values())
    ['2.33333', '2.333334']
    """
    if low is None or high is None:
        low, high = guess_neighbours(thresholds)
    texts = {}
    for value, *room in _find_room(thresholds, low, high):
        texts[value] = format_number(value, decimals, min(room))
        if decimals is None and room[0] == 0.0 < room[1] < math.inf:
            # No smaller number will do: look for a short one that is larger.
            half = room[1] / 2
            larger = format_number(value + half, tolerance=half)
            if len(larger) < len(texts[value]) and float(larger) >= value:
                texts[value] = larger
    return texts


def round_moments(
    thresholds: ArrayLike, low: ArrayLike | None = None, high: ArrayLike | None = None
) -> dict[float, float]:
    """Round dates, times of day or durations of one column to seconds if possible.

    A threshold halfway between two whole seconds has a fraction that says nothing.

    Parameters
    ----------
    thresholds : array-like of float
        Thresholds of one column in seconds, in any order, repeated or not.
    low, high : array-like of float or None, default=None
        As for :func:`shorten_thresholds`. None: not considered.

    Returns
    -------
    dict of float to float
        Every distinct threshold in whole seconds, or in thousandths or millionths, with
        the maximum change of :func:`shorten_thresholds`.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.digits import round_moments
    >>> round_moments([1.501, 90061.5])
    {1.501: 2.0, 90061.5: 90062.0}
    """
    if low is None or high is None:
        low, high = np.full(len(thresholds), -np.inf), np.full(len(thresholds), np.inf)
    rounded = {}
    for value, below, above in _find_room(thresholds, low, high):
        choices = (float(round(value, decimals)) for decimals in (0, 3, 6))
        kept = (x for x in choices if -below <= x - value <= above)
        rounded[value] = next(kept, value)
    return rounded


def guess_neighbours(thresholds):
    """Return neighbours of thresholds that leave about nine digits.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.digits import guess_neighbours
    >>> low, high = guess_neighbours([500.0])
    >>> (high - low).round(9)
    array([1.e-06])
    """
    thresholds = np.asarray(thresholds, dtype=np.float64)
    margins = np.where(np.isfinite(thresholds), UNKNOWN_MARGIN * np.abs(thresholds), 0)
    with np.errstate(over="ignore"):
        return thresholds - margins, thresholds + margins


def _find_room(thresholds, low, high):
    """List distinct thresholds, and how far below and above them their text may be."""
    thresholds = np.asarray(thresholds, dtype=np.float64)
    distinct, places = np.unique(thresholds, return_index=True)
    is_finite = np.isfinite(distinct)
    distinct, places = distinct[is_finite], places[is_finite]
    low, high = np.asarray(low)[places], np.asarray(high)[places]
    gaps = np.full(distinct.size, np.inf)
    with np.errstate(over="ignore"):
        gaps[1:] = np.diff(distinct)
        gaps[:-1] = np.minimum(gaps[:-1], gaps[1:])
        below = np.minimum(GAP_FRACTION * gaps, MARGIN_FRACTION * (distinct - low))
        above = np.minimum(GAP_FRACTION * gaps, MARGIN_FRACTION * (high - distinct))
    return zip(distinct.tolist(), below.tolist(), above.tolist(), strict=True)


def format_fraction(fraction):
    """Format a fraction as a percentage; 0% and 100% only if exact.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.digits import format_fraction
    >>> [format_fraction(fraction) for fraction in (1.0, 0.9792, 0.5, 0.99999, 0.0)]
    ['100%', '97.9%', '50%', '>99.9%', '0%']
    """
    percent = 100.0 * float(fraction)
    # Sums of weights may differ from 0 or 1 by rounding.
    if abs(percent - round(percent)) < 1e-9:
        return f"{round(percent)}%"
    if percent > 99.9:
        return ">99.9%"
    if percent < 0.1:
        return "<0.1%"
    return f"{percent:.1f}".removesuffix(".0") + "%"
