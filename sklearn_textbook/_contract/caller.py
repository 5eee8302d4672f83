"""Warnings that name the line of the caller, however deep they arise."""

from __future__ import annotations

import sys
import warnings

#: Packages whose frames are not the caller's: a pipeline calls for somebody else.
_PACKAGES = ("sklearn_textbook", "sklearn")


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside of this package and of scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] not in _PACKAGES:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
