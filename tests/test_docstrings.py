"""Public docstrings: numpydoc's rules, and an example (run by pytest) per object.

Among numpydoc's rules: parameters are all documented, in the order of the signature.
"""

import inspect

import pytest
from numpydoc.validate import validate

from tests.public_api import public_objects

PACKAGE = "sklearn_textbook"

# numpydoc's checks that we do not ask for; numpydoc.validate.ERROR_MSGS explains.
NOT_ASKED = {
    "GL01",  # we open on the line of the quotes
    "GL03",  # blank lines are the formatter's business
    "GL08",  # demanded below, for what is ours
    "ES01",  # an extended summary only where there is more to say
    "SA01",  # "See Also" only where there is something to see
    "SA04",
    "SS05",  # takes every plural noun for a verb
    "EX01",  # demanded below, of objects, not of every method
    "RT02",  # a named return value is welcome
    "YD01",
}


def own_members(name, member):
    """An object and, of a class, its public methods and properties that are ours."""
    yield name, member
    if not inspect.isclass(member):
        return
    for attribute, value in inspect.getmembers_static(member):
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        ours = (getattr(function, "__module__", None) or "").startswith(PACKAGE)
        is_method = inspect.isfunction(function) and function.__name__ != "<lambda>"
        if not attribute.startswith("_") and is_method and ours:
            yield f"{name}.{attribute}", value


OBJECTS = public_objects()
MEMBERS = dict(
    pair for name, member in OBJECTS.items() for pair in own_members(name, member)
)


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_docstring_is_valid(name):
    errors = [
        f"{code}: {message}"
        for code, message in validate(name)["errors"]
        if code not in NOT_ASKED
    ]
    assert errors == []


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_docstring_exists(name):
    assert MEMBERS[name].__doc__


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_docstring_has_an_example(name):
    assert ">>> " in (OBJECTS[name].__doc__ or "")
