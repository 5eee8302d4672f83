"""Ensembles, 集成学习: many models that decide together."""

from sklearn_textbook.ensemble.extra_trees import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
from sklearn_textbook.ensemble.random_forest import (
    RandomForestClassifier,
    RandomForestRegressor,
)

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
