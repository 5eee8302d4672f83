"""Rules: conversion of a grown tree to a shorter, ordered list of general rules."""

from sklearn_textbook._contract.lazy_names import make_lazy

# Loaded on first use: a list of rules is read without what makes one.
__getattr__, __dir__, __all__ = make_lazy(__name__)
