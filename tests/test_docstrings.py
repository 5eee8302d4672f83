"""Public docstrings: numpydoc's rules, and an example (run by pytest) per object.

Among numpydoc's rules: parameters are all documented, in the order of the signature.
"""

import inspect

from numpydoc.validate import validate

from tests.loops import loop_over
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


# A test for each object: its methods are many, and take less time than a test does.
@loop_over("name", sorted(OBJECTS))
def test_docstrings_are_valid(name):
    errors = {
        member: asked
        for member, _ in own_members(name, OBJECTS[name])
        if (
            asked := [
                f"{code}: {message}"
                for code, message in validate(member)["errors"]
                if code not in NOT_ASKED
            ]
        )
    }
    assert errors == {}


def test_docstrings_exist():
    assert [name for name, member in MEMBERS.items() if not member.__doc__] == []


def test_docstrings_have_an_example():
    documented = {name: member.__doc__ or "" for name, member in OBJECTS.items()}
    assert [name for name, text in documented.items() if ">>> " not in text] == []
