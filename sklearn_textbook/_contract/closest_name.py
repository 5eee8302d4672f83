"""The closest of some names. Imports no numpy, which the help of commands waits for."""

from __future__ import annotations

import difflib


def find_closest(name, names, cutoff=0.6):
    """Find the closest of some names; case, hyphens and blanks do not matter.

    Parameters
    ----------
    name : str
        The unknown name.
    names : iterable of str
        The known names.
    cutoff : float, default=0.6
        Required similarity, from 0 to 1.

    Returns
    -------
    closest : str or None
        None if no name is that similar.
    """
    spelled = {}
    for other in names:
        spelled.setdefault(spell(other), other)
    near = difflib.get_close_matches(spell(name), spelled, n=1, cutoff=cutoff)
    return spelled[near[0]] if near else None


def spell(word):
    """Write a word as names of parameters are: lower case, with underscores."""
    return word.strip().casefold().replace("-", "_").replace(" ", "_")
