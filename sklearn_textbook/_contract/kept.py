"""What a model file keeps of a fitted estimator, said once for writing and reading."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kept:
    """One number, text, array or object that a model file keeps of a fit.

    `sklearn_textbook.io` writes what is listed so, and checks what it reads by what is
    said here.

    Parameters
    ----------
    name : str
        Name in the file; that of the attribute, unless a class says otherwise.
    kind : str or tuple of Record, default="number"
        What it is, or the entries of an array are. "number", "integer", "truth" or
        "text"; "float": a number whose precision, single or double, is kept, as is the
        layout of an array of them; "precision": the type float32 or float64 itself;
        "part": an object that may be a parameter in a model file, such as a loss. A
        tuple of `Record`: an object of one of these classes.
    shape : tuple or list of tuple, default=None
        None: a single one. Otherwise the shape of the array; a length is an int, or
        "members", "columns", "classes", "coefficients" (how many there are), or the
        name of an integer that is kept before it, or any other name, which then stands
        for the same length everywhere, or a tuple of lengths to be added, or None for
        any. A list has several shapes, () being a single number.
    is_optional : bool, default=False
        Whether it may be missing, or be None.
    is_finite : bool, default=True
        Whether NaN and infinity are refused.
    least : int or float, default=None
        Smallest value that is allowed.

    Examples
    --------
    >>> from sklearn_textbook._contract.kept import Kept
    >>> Kept("estimator_weights_", shape=("members",))
    Kept(name='estimator_weights_', kind='number', shape=('members',), ...)
    """

    name: str
    kind: str | tuple = "number"
    shape: tuple | list | None = None
    is_optional: bool = False
    is_finite: bool = True
    least: float | None = None

    @property
    def shapes(self):
        """The shapes that are allowed; a single value has the shape ()."""
        if self.shape is None:
            return [()]
        return self.shape if isinstance(self.shape, list) else [self.shape]


@dataclass(frozen=True)
class Record:
    """A class whose objects are kept field by field.

    Parameters
    ----------
    of : type
        The class; it takes the fields as keywords.
    kept : tuple of Kept
        The fields.
    """

    of: type
    kept: tuple = ()
