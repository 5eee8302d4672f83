"""What a model file keeps of an ensemble beside its parameters and trees."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kept:
    """One number, text, array or part that an ensemble keeps beside its trees.

    An ensemble lists them in its class attribute ``_kept``; `sklearn_textbook.io`
    writes them, and checks what it reads by what is said here.

    Parameters
    ----------
    name : str
        Name in the file; that of the attribute, unless the class has a
        ``_list_kept`` of its own.
    kind : {"number", "integer", "truth", "text", "part"}, default="number"
        What it is, or the entries of an array are. A part is an object that may be a
        parameter in a model file, such as a loss; its parameters are kept.
    shape : tuple, default=None
        None: a single one. Otherwise the shape of the array; a length is an int, or
        "members", "columns", "classes" (how many there are), or the name of an integer
        that is kept before it, or None for any.
    is_optional : bool, default=False
        Whether it may be missing, or be None.
    is_finite : bool, default=True
        Whether NaN and infinity are refused.
    least : int or float, default=None
        Smallest value that is allowed.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.kept import Kept
    >>> Kept("estimator_weights_", shape=("members",))
    Kept(name='estimator_weights_', kind='number', shape=('members',), ...)
    """

    name: str
    kind: str = "number"
    shape: tuple | None = None
    is_optional: bool = False
    is_finite: bool = True
    least: float | None = None


#: What both forests and bagging keep of their out-of-bag estimate. What it says of
#: every training row is left out, as are the rows.
KEPT_OUT_OF_BAG = (
    Kept("oob_score_", is_optional=True, is_finite=False),
    Kept("oob_curve_", shape=(None,), is_optional=True, is_finite=False),
)
