"""Ensembles of trees as those of scikit-learn."""

# These modules register their conversions.
from sklearn_textbook.ensemble.exchange import averaged, boosted  # noqa: F401
from sklearn_textbook.tree import to_sklearn

__all__ = ["to_sklearn"]
