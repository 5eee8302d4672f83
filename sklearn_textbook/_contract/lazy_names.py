"""Names of a package that are imported on first use."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module


def make_lazy(
    package: str, needed: str = ""
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its stub.

    The stub ``__init__.pyi`` imports the public names, one a line, for type checkers,
    too. Errors about a missing optional package, ``needed``, say how to install it.
    """
    path = os.path.splitext(str(sys.modules[package].__file__))[0] + ".pyi"
    with open(path, encoding="utf-8") as stub:
        # Not by ast, which takes longer to import than the rest of this.
        lines = [line.split() for line in stub if line.startswith("from ")]
    homes = {name: module for _, module, _, name, *_ in lines}

    def getattr_(name):
        home, submodule = homes.get(name, "."), f"{package}.{name}"
        unknown = AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == "." and name.startswith("_"):
            raise unknown
        try:
            if home == ".":
                return import_module(submodule)
            value = getattr(import_module(package + home), name)
        except ModuleNotFoundError as error:
            if error.name == submodule:
                raise unknown from None
            if needed and (error.name or "").partition(".")[0] == needed:
                message = f"{name} requires {needed}: pip install {needed}"
                raise ImportError(message, name=needed) from error
            raise
        setattr(sys.modules[package], name, value)
        return value

    def dir_():
        return sorted(sys.modules[package].__all__)

    return getattr_, dir_, sorted(homes)
