"""The public objects of the package, as tests of all of them need them.

``python -m tests.public_api`` freezes their names and signatures in public_api.json.
"""

import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path

from sklearn.base import BaseEstimator

import sklearn_textbook

API_PAGES = Path(__file__).parents[1] / "doc" / "api"
FROZEN = Path(__file__).with_suffix(".json")
#: Methods that users call by an operator, or that a notebook calls.
SPECIAL_METHODS = {
    *("__call__", "__contains__", "__getitem__", "__iter__", "__len__"),
    *("_repr_html_", "_repr_mimebundle_"),
}


def public_modules():
    """What users import from: the modules and packages with ``__all__`` that stand
    directly in the package, packages in these, and the losses.

    The stages inside the tree package are for those who work on it.
    """
    package = sklearn_textbook.__name__
    names = [package, f"{package}.ensemble.boosting.losses"]
    for module in pkgutil.walk_packages(sklearn_textbook.__path__, f"{package}."):
        parent, _, stem = module.name.rpartition(".")
        if stem.startswith("_"):
            continue
        if parent == package or (module.ispkg and parent != f"{package}.tree"):
            names.append(module.name)
    modules = [importlib.import_module(name) for name in names]
    return [module for module in modules if hasattr(module, "__all__")]


def public_objects():
    """Classes and functions of the public modules: full name -> object."""
    objects = {}
    for module in public_modules():
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isclass(member) or inspect.isfunction(member):
                objects.setdefault(id(member), (f"{module.__name__}.{name}", member))
    return dict(objects.values())


def public_estimators():
    """Public classes that scikit-learn would call estimators: they have fit."""
    return {
        member.__name__: member
        for member in public_objects().values()
        if inspect.isclass(member)
        and issubclass(member, BaseEstimator)
        and hasattr(member, "fit")
    }


def listed_names(page):
    """The full names of the objects that a page of the reference lists."""
    names, module = [], None
    for line in (API_PAGES / page).read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.removeprefix(".. currentmodule:: ")
        elif module and re.fullmatch(r"   [\w.]+", line):
            names.append(f"{module}.{line.strip()}")
    return names


def describe_api():
    """Names and signatures of all that the reference or a public module lists.

    By modules; of classes also the public methods and properties, inherited or not.
    """
    names = {
        *listed_names("index.rst"),
        *(f"{m.__name__}.{name}" for m in public_modules() for name in m.__all__),
    }
    api, first = {}, {}
    for full_name in sorted(names, key=lambda name: (name.count("."), name)):
        module, _, name = full_name.rpartition(".")
        member = getattr(importlib.import_module(module), name)
        if inspect.isclass(member) or inspect.isfunction(member):
            # The same object under another name.
            same = first.setdefault(member, full_name)
            described = describe(member) if same == full_name else f"is {same}"
        else:
            described = type(member).__name__
        api.setdefault(module, {})[name] = described
    return api


def describe(member):
    """The signature of a function, or a class with its bases and members."""
    if not inspect.isclass(member):
        return describe_signature(member)
    bases = [
        base.__name__
        for base in member.__mro__[1:-1]
        if base.__module__ in ("builtins", "sklearn.base")
    ]
    members = {
        name: describe_member(member, name, value)
        for name, value in inspect.getmembers_static(member)
        if hasattr(value, "__get__") and is_public(member, name)
    }
    return {"call": describe_signature(member), "bases": bases, **members}


def is_public(cls, name):
    """Whether users call a member, and every version of scikit-learn has it."""
    (owner, *_) = (base for base in cls.__mro__ if name in vars(base))
    if owner.__module__ == "sklearn.base":
        return not name.startswith("_")
    is_ours = owner.__module__.startswith(f"{sklearn_textbook.__name__}.")
    return is_ours and (name in SPECIAL_METHODS or not name.startswith("_"))


def describe_member(cls, name, value):
    """The signature of a method, with how it is called, or that it is a property."""
    member = getattr(cls, name)
    if not callable(member):
        return "property"
    kind = type(value).__name__
    prefix = f"{kind} " if isinstance(value, (classmethod, staticmethod)) else ""
    return prefix + describe_signature(member)


def describe_signature(function):
    """Parameters and defaults, without annotations and addresses."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    empty = inspect.Signature.empty
    text = str(signature.replace(parameters=parameters, return_annotation=empty))
    return re.sub(r" at 0x\w+", "", text)


if __name__ == "__main__":
    FROZEN.write_text(json.dumps(describe_api(), indent=1) + "\n", "utf-8")
