"""Stage 7, exchange: conversion of fitted models to those of other packages."""

from sklearn_textbook._contract.lazy_names import make_lazy

# Loaded on first use: a tree is grown and printed without it.
_HOMES = {
    "add_columns": "encoder",
    "fit_on_codes": "fitted_shell",
    "make_sklearn_tree": "sklearn_tree",
    "share_parameters": "fitted_shell",
    "to_sklearn": "convert",
}

__all__ = [
    "add_columns",
    "fit_on_codes",
    "make_sklearn_tree",
    "share_parameters",
    "to_sklearn",
]

__getattr__, __dir__ = make_lazy(__name__, _HOMES)
