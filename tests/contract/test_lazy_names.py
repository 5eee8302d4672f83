"""Packages whose names are imported on first use look like all others."""

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_textbook.tree.cart

PACKAGES = [
    "sklearn_textbook.tree",
    "sklearn_textbook.tree.encode",
    "sklearn_textbook.tree.explain",
    "sklearn_textbook.tree.rules",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_lists_of_names_agree(package):
    module = importlib.import_module(package)
    (block,) = [
        node
        for node in ast.parse(Path(module.__file__).read_text("utf-8")).body
        if isinstance(node, ast.If)
    ]
    homes = {
        alias.name: statement.module.removeprefix(f"{package}.")
        for statement in block.body
        for alias in statement.names
    }
    assert homes == module._HOMES
    assert sorted(module.__all__) == sorted(homes)
    assert set(module.__all__) <= set(dir(module))
    for name, home in homes.items():
        of_home = getattr(importlib.import_module(f"{package}.{home}"), name)
        assert getattr(module, name) is of_home


@pytest.mark.parametrize("package", PACKAGES)
def test_import_of_all_and_of_submodules(package):
    code = (
        f"import {package} as p\n"
        "assert not any(name in vars(p) for name in p._HOMES)\n"
        "home = next(iter(p._HOMES.values()))\n"
        "assert getattr(p, home).__name__ == f'{p.__name__}.{home}'\n"
        f"from {package} import *\n"
        "assert set(p.__all__) <= set(globals())\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


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


def test_pickles():
    tree = sklearn_textbook.tree.CARTClassifier().fit([[1.0], [2.0]], [0, 1])
    assert pickle.loads(pickle.dumps(tree)).predict([[2.0]]) == [1]
    assert type(tree).__module__ == "sklearn_textbook.tree.cart"
