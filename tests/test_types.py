"""Public functions have types, and programs that use them pass a type checker.

``mypy`` checks the second test; pytest only runs it.
"""

import importlib
import inspect
from typing import Any, assert_type

import numpy as np

from sklearn_textbook.decomposition import PCA
from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.tree import (
    C45RulesClassifier,
    CARTClassifier,
    CostComplexityPruning,
    export_text,
)
from tests.public_api import listed_names


def public_functions() -> dict[str, Any]:
    """Functions, methods and properties of the reference, unwrapped."""
    functions = {}
    for name in listed_names("index.rst"):
        module, _, stem = name.rpartition(".")
        member = getattr(importlib.import_module(module), stem)
        members = {name: member}
        if inspect.isclass(member):
            members = {
                f"{name}.{attribute}": value
                for attribute, value in inspect.getmembers_static(member)
                if attribute == "__init__" or not attribute.startswith("_")
            }
        for full_name, value in members.items():
            # Of properties, class methods, and methods that some objects lack.
            for wrapped in ("fget", "__func__", "fn", "func"):
                value = getattr(value, wrapped, value)
            function = inspect.unwrap(value) if callable(value) else None
            module = getattr(function, "__module__", None) or ""
            is_named = getattr(function, "__name__", "<lambda>") != "<lambda>"
            is_ours = module.startswith("sklearn_textbook.") and is_named
            if inspect.isfunction(function) and is_ours:
                functions[full_name] = function
    return functions


def test_public_functions_have_types() -> None:
    functions = public_functions()
    assert len(functions) > 500
    untyped = [
        name
        for name, function in functions.items()
        if {*inspect.signature(function).parameters, "return"} - {"self", "cls"}
        != function.__annotations__.keys()
    ]
    assert untyped == []


def test_program_of_a_user(tmp_path: Any) -> None:
    X = [[1.0, "a"], [2.0, None], [3.0, "b"], [4.0, "b"]]
    y = ["no", "no", "yes", "yes"]
    pruning = CostComplexityPruning(cv=2)
    tree = CARTClassifier(max_features="sqrt", pruning=pruning).fit(X, y)
    assert_type(tree.max_depth, int | None)
    assert_type(tree, CARTClassifier)
    assert_type(tree.predict(X), np.ndarray)
    assert_type(export_text(tree), str)
    assert_type(C45RulesClassifier().fit(X, y).n_rules_, int)
    forest = RandomForestClassifier(n_estimators=2).fit(np.eye(4), y, [1, 2, 1, 1])
    assert_type(forest, RandomForestClassifier)
    assert_type(forest.feature_importances_, np.ndarray)
    line = LinearRegression().fit(np.eye(4)[:, :1], np.arange(4.0))
    assert_type(line.summary(), str)
    assert_type(PCA(2).fit_transform(np.eye(4)), np.ndarray)
    assert_type(save_model(tree, tmp_path / "tree.json"), None)
    assert_type(load_model(tmp_path / "tree.json"), Any)
