"""Fitted models for other programs."""

from sklearn_textbook.ensemble.exchange import to_sklearn
from sklearn_textbook.exchange.source_code import export_code

__all__ = ["export_code", "to_sklearn"]
