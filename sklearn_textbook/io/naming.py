"""Names in messages: the closest one, short lists, short texts."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn_textbook._contract.closest_name import find_closest


def count_things(number: int, thing: str) -> str:
    """Write a number with its noun in the singular or plural.

    Parameters
    ----------
    number : int
        The number of things.
    thing : str
        The noun in the singular, with a regular plural.

    Returns
    -------
    text : str
        Such as "1 row" or "1,024 rows".

    Examples
    --------
    >>> from sklearn_textbook.io.naming import count_things
    >>> count_things(1, "row"), count_things(1024, "row"), count_things(2, "class")
    ('1 row', '1,024 rows', '2 classes')
    """
    plural = "es" if thing.endswith("s") else "s"
    return f"{number:,} {thing}{'' if number == 1 else plural}"


def shorten(text, most: int = 40):
    """Truncate a text for a one-line message."""
    return text if len(text) <= most else text[: most - 3] + "..."


def suggest_name(name: str, names: Sequence[str], *, cutoff: float = 0.6) -> str:
    """Suggest the closest of some names: "did you mean ...?".

    Parameters
    ----------
    name : str
        The unknown name.
    names : sequence of str
        The known names.
    cutoff : float, default=0.6
        Required similarity of the names, from 0 to 1.

    Returns
    -------
    suggestion : str
        The question, or "".

    Examples
    --------
    >>> from sklearn_textbook.io.naming import suggest_name
    >>> suggest_name("Specis", ["length", "species"])
    "did you mean 'species'?"
    """
    closest = find_closest(str(name), map(str, names), cutoff)
    return "" if closest is None else f"did you mean {closest!r}?"


def list_names(names: Sequence[str], most: int = 12) -> str:
    """List names in quotes, at most `most` of them.

    Parameters
    ----------
    names : sequence of str
        The names.
    most : int, default=12
        Number of listed names before "and ... more".

    Returns
    -------
    text : str
        The list.

    Examples
    --------
    >>> from sklearn_textbook.io.naming import list_names
    >>> list_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = [repr(str(name)) for name in names]
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def explain_unknown_name(name: str, names: Sequence[str]) -> str:
    """Return a remedy for an unknown name: the closest one, or the list of all.

    Parameters
    ----------
    name : str
        The unknown name.
    names : sequence of str
        The known names.

    Returns
    -------
    remedy : str
        One clause.

    Examples
    --------
    >>> from sklearn_textbook.io.naming import explain_unknown_name
    >>> explain_unknown_name("q", ["length", "species"])
    "there are: 'length', 'species'"
    """
    return suggest_name(name, names) or f"there are: {list_names(names)}"
