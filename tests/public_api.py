"""The public objects of the package, as tests of all of them need them."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator

import sklearn_textbook


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
