"""Declarations of the fitted attributes of a class in model files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sklearn_textbook._contract.kept import Kept


@dataclass(frozen=True)
class FittedModel:
    """Attributes of a class in a model file.

    Parameters
    ----------
    kept : tuple of Kept
        Attributes that are kept.
    check : callable
        Raises a ValueError if the attributes of a model are inconsistent.
    derived : tuple of str, default=()
        Attributes that are computed from those that are kept.
    derive : callable, default=None
        Sets the derived attributes; None: they are computed on access.
    """

    kept: tuple
    check: Callable
    derived: tuple = ()
    derive: Callable | None = None


def numbers(name, *shapes, **limits):
    """Numbers that are kept to the last bit, with one or several shapes."""
    shapes = [tuple(shape) for shape in shapes]
    return Kept(name, "float", shapes if len(shapes) > 1 else shapes[0], **limits)


#: Statistics that may be undefined.
ANY = {"is_finite": False}
MAYBE = {"is_optional": True}


def require(is_right, what):
    """Raise ValueError if a condition is false."""
    if not is_right:
        raise ValueError(f"{what} do not match")
