"""Packages whose names are imported on first use look like all others."""

import ast
import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_textbook.tree.cart

PACKAGES = [
    "sklearn_textbook",
    "sklearn_textbook.io",
    "sklearn_textbook.tree",
    "sklearn_textbook.tree.encode",
    "sklearn_textbook.tree.exchange",
    "sklearn_textbook.tree.explain",
    "sklearn_textbook.tree.rules",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_names_are_those_of_the_stub(package):
    module = importlib.import_module(package)
    stub = Path(module.__file__).with_suffix(".pyi").read_text("utf-8")
    homes = {
        alias.asname: f"{package}.{statement.module or ''}".rstrip(".")
        for statement in ast.parse(stub).body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname == alias.name  # or type checkers do not see the name
    }
    assert homes
    assert set(module.__all__) - {"__version__"} == set(homes)
    assert dir(module) == sorted(module.__all__)
    for name, home in homes.items():
        of_home = getattr(importlib.import_module(home), name)
        assert getattr(module, name) is of_home


#: Each package is imported in a process that has imported no other.
IMPORT_ALL = """
import importlib, os, pkgutil, sys
import sklearn.ensemble, sklearn.model_selection  # take long, and are imported once

def check(package):
    p = importlib.import_module(package)
    assert set(p.__all__) & set(vars(p)) <= {"__version__"}
    stems = (stem for _, stem, _ in pkgutil.iter_modules(p.__path__))
    home = next(stem for stem in stems if not stem.startswith("_"))
    assert getattr(p, home).__name__ == f"{p.__name__}.{home}"
    names = {}
    exec(f"from {package} import *", names)
    assert set(p.__all__) <= set(names)

assert "sklearn_textbook" not in sys.modules
*others, last = sys.argv[1:]
for package in others:
    process = os.fork()
    if process == 0:
        check(package)
        sys.exit()
    assert os.waitpid(process, 0)[1] == 0, package
check(last)
"""
GROUPS = [PACKAGES] if hasattr(os, "fork") else [[package] for package in PACKAGES]


@pytest.mark.parametrize("packages", GROUPS)
def test_import_of_all_and_of_submodules(packages):
    subprocess.run([sys.executable, "-c", IMPORT_ALL, *packages], check=True)


def test_unknown_name():
    with pytest.raises(AttributeError, match="has no attribute 'Oak'"):
        getattr(sklearn_textbook.tree, "Oak")  # noqa: B009
    with pytest.raises(ImportError, match="cannot import name 'Oak'"):
        from sklearn_textbook.tree import Oak  # noqa: F401


def test_failing_import_of_a_submodule_is_not_hidden(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn_textbook.tree.cart_recipe", None)
    monkeypatch.delitem(sys.modules, "sklearn_textbook.tree.cart")
    monkeypatch.delattr(sklearn_textbook.tree, "cart")
    with pytest.raises(ModuleNotFoundError, match=r"tree\.cart_recipe"):
        getattr(sklearn_textbook.tree, "cart")  # noqa: B009


def test_missing_optional_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "sklearn_textbook.io.table_reader", raising=False)
    monkeypatch.delattr(sklearn_textbook.io, "table_reader", raising=False)
    monkeypatch.delattr(sklearn_textbook.io, "read_table", raising=False)
    hint = "read_table requires pyarrow: pip install pyarrow"
    with pytest.raises(ImportError, match=hint):
        from sklearn_textbook.io import read_table  # noqa: F401


def test_pickles():
    tree = sklearn_textbook.tree.CARTClassifier().fit([[1.0], [2.0]], [0, 1])
    assert pickle.loads(pickle.dumps(tree)).predict([[2.0]]) == [1]
    assert type(tree).__module__ == "sklearn_textbook.tree.cart"
