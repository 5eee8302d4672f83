"""Binning in plain Python: neighbouring values share a bin."""

from collections import Counter
from itertools import count


def bin_values(values, max_bins):
    """The bins of a column: lists of neighbouring distinct values, ascending.

    None stands for a missing value, which has no bin.
    """
    n_rows = Counter(value for value in values if value is not None)
    if len(n_rows) <= max_bins:
        return [[value] for value in sorted(n_rows)]
    for capacity in count(1):
        bins = fill_bins(n_rows, capacity)
        if len(bins) <= max_bins:
            return bins
    return None


def fill_bins(n_rows, capacity):
    """A value joins the bin below it unless that has more rows than allowed then."""
    bins, n_held = [], 0
    for value in sorted(n_rows):
        n_held += n_rows[value]
        if bins and n_held <= capacity:
            bins[-1].append(value)
        else:
            bins.append([value])
            n_held = n_rows[value]
    return bins
