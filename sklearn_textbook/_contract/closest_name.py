"""The closest of some names. Imports no numpy, which the help of commands waits for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def find_closest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Find the closest of some names; case, hyphens and blanks do not matter."""
    spelled = {}
    for other in names:
        spelled.setdefault(spell(other), other)
    near = difflib.get_close_matches(spell(name), spelled, n=1, cutoff=cutoff)
    return spelled[near[0]] if near else None


def spell(word):
    """Write a word as names of parameters are: lower case, with underscores."""
    return word.strip().casefold().replace("-", "_").replace(" ", "_")
