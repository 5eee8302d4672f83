"""Formatting of numbers with as few digits as needed."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

#: Minimum significant digits of a single number.
MIN_DIGITS = 4
#: Numbers with at most this many significant digits, or decimals, are not rounded.
EXACT_DIGITS = 6
EXACT_DECIMALS = 2
#: Maximum change of a shortened threshold, as a fraction of the distance to the next.
GAP_SHARE = 0.05


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


def format_number(value, decimals=None, tolerance=math.inf):
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


def format_weight(weight, n_digits=None, tolerance=math.inf):
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


def shorten_thresholds(thresholds, decimals=None):
    """Write the thresholds of one column so that they can be distinguished.

    Parameters
    ----------
    thresholds : array-like of float
        Thresholds of one column, in any order, repeated or not.
    decimals : int or None, default=None
        Decimals to show. ``None`` uses for each threshold as few digits as possible
        such that it changes by less than a twentieth of the distance to the next
        threshold.

    Returns
    -------
    dict of float to str
        The text of every distinct threshold.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.digits import shorten_thresholds
    >>> shorten_thresholds([0.8000000119, 1.75])
    {0.8000000119: '0.8', 1.75: '1.75'}
    >>> list(shorten_thresholds([2.33333, 2.333334]).values())
    ['2.33333', '2.333334']
    """
    return {
        value: format_number(value, decimals, tolerance)
        for value, tolerance in _find_tolerances(thresholds)
    }


def round_moments(thresholds):
    """Round dates, times of day or durations of one column to seconds if possible.

    A threshold halfway between two whole seconds has a fraction that says nothing.

    Parameters
    ----------
    thresholds : array-like of float
        Thresholds of one column in seconds, in any order, repeated or not.

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
    rounded = {}
    for value, tolerance in _find_tolerances(thresholds):
        choices = (float(round(value, decimals)) for decimals in (0, 3, 6))
        kept = (x for x in choices if abs(x - value) <= tolerance)
        rounded[value] = next(kept, value)
    return rounded


def _find_tolerances(thresholds):
    """List distinct thresholds, and by how much the text of each may differ."""
    distinct = np.unique(np.asarray(thresholds, dtype=np.float64))
    distinct = distinct[np.isfinite(distinct)]
    gaps = np.full(distinct.size, np.inf)
    with np.errstate(over="ignore"):
        gaps[1:] = np.diff(distinct)
    gaps[:-1] = np.minimum(gaps[:-1], gaps[1:])
    return zip(distinct.tolist(), (GAP_SHARE * gaps).tolist(), strict=True)


def format_share(share):
    """Format a fraction as a percentage; 0% and 100% only if exact.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.digits import format_share
    >>> [format_share(share) for share in (1.0, 0.9792, 0.5, 0.99999, 0.0)]
    ['100%', '97.9%', '50%', '>99.9%', '0%']
    """
    percent = 100.0 * float(share)
    # Sums of weights may differ from 0 or 1 by rounding.
    if abs(percent - round(percent)) < 1e-9:
        return f"{round(percent)}%"
    if percent > 99.9:
        return ">99.9%"
    if percent < 0.1:
        return "<0.1%"
    return f"{percent:.1f}".removesuffix(".0") + "%"
