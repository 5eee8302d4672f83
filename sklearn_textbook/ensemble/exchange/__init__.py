"""Conversion of ensembles of trees to those of scikit-learn."""

# These modules register their conversions.
from sklearn_textbook.ensemble.exchange import averaged, boosted  # noqa: F401
