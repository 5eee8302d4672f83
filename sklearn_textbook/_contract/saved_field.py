"""Declarations of the fitted attributes that a model file keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SavedField:
    """Declaration of a number, text, array or object that a model file keeps.

    `sklearn_textbook.io` writes the declared attributes, and checks what it reads
    against the declarations.

    Parameters
    ----------
    name : str
        Name in the file, which is that of the attribute unless a class overrides it.
    kind : str or tuple of Record, default="number"
        Kind of the value or of the entries of an array. "number", "integer", "truth" or
        "text"; "float": a number whose precision, single or double, is kept, as is the
        memory layout of an array; "precision": the type float32 or float64 itself;
        "part": an object that may be a parameter in a model file, such as a loss. A
        tuple of `Record`: an object of one of these classes.
    shape : tuple or list of tuple, default=None
        None: a single value. Otherwise the shape of the array. A length is an int, the
        number of "members", "columns", "classes" or "coefficients", the name of an
        integer that is kept before it, any other name, which then denotes the same
        length everywhere, a tuple of lengths to be added, or None for any. A list gives
        several allowed shapes, where () is a single number.
    is_optional : bool, default=False
        Whether it may be missing, or be None.
    is_finite : bool, default=True
        Whether NaN and infinity are refused.
    least : int or float, default=None
        Smallest allowed value.

    Examples
    --------
    >>> from sklearn_textbook._contract.saved_field import SavedField
    >>> SavedField("estimator_weights_", shape=("members",))
    SavedField(name='estimator_weights_', kind='number', shape=('members',), ...)
    """

    name: str
    kind: str | tuple = "number"
    shape: tuple | list | None = None
    is_optional: bool = False
    is_finite: bool = True
    least: float | None = None

    @property
    def shapes(self):
        """The allowed shapes; a single value has the shape ()."""
        if self.shape is None:
            return [()]
        return self.shape if isinstance(self.shape, list) else [self.shape]


@dataclass(frozen=True)
class Record:
    """A class whose objects are kept field by field.

    Parameters
    ----------
    of : type
        The class; its constructor accepts the fields as keywords.
    kept : tuple of SavedField
        The fields.
    """

    of: type
    kept: tuple = ()
