"""Limits of memory, as numbers of bytes or as texts with a unit."""

from __future__ import annotations

import re
from numbers import Integral

#: Bytes of the units that a limit of memory may have.
_UNITS = {
    "": 1,
    "b": 1,
    **{f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)},
    **{f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)},
}


def read_memory_limit(limit: object) -> int | None:
    """Read a number of bytes, or a size such as "1.5 GiB"."""
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", limit.lower())
        if match and match[2] in _UNITS:
            limit = int(float(match[1]) * _UNITS[match[2]])
    if not isinstance(limit, Integral) or isinstance(limit, bool) or limit < 1:
        raise ValueError(
            "memory_limit must be a positive number of bytes, or a text such as "
            f"'512MB' or '1GiB', got {limit!r}."
        )
    return int(limit)
