"""Names of a package that are imported on first use."""

from __future__ import annotations

import sys
from importlib import import_module


def make_lazy(package, homes):
    """Make ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Name of the package.
    homes : dict of str to str
        Its public names, and the module of the package that defines each.

    Returns
    -------
    getattr_, dir_ : function
        For the names ``__getattr__`` and ``__dir__``. Submodules are found, too.
    """

    def getattr_(name):
        if name in homes:
            value = getattr(import_module(f"{package}.{homes[name]}"), name)
            setattr(sys.modules[package], name, value)
            return value
        submodule = f"{package}.{name}"
        if not name.startswith("_"):
            try:
                return import_module(submodule)
            except ModuleNotFoundError as error:
                if error.name != submodule:
                    raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def dir_():
        return sorted({*homes, *vars(sys.modules[package])})

    return getattr_, dir_
