"""Stage 7, exchange: conversion of fitted models to those of other packages."""

from sklearn_textbook._contract.lazy_names import make_lazy

# Loaded on first use: a tree is grown and printed without it.
__getattr__, __dir__, __all__ = make_lazy(__name__)
