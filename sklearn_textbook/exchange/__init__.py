"""Fitted models for other programs."""

from sklearn_textbook.ensemble.exchange import to_sklearn

__all__ = ["to_sklearn"]
