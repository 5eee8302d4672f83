"""Calls that can be pickled; this module imports nothing that is slow to load."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit of an estimator."""

    estimator: object
    X: object
    y: object
    sample_weight: object = None

    def __call__(self):
        weight = self.sample_weight
        weights = {} if weight is None else {"sample_weight": weight}
        self.estimator.fit(self.X, self.y, **weights)


@dataclass(frozen=True, eq=False)
class Prediction:
    """A call of a method of a fitted estimator."""

    estimator: object
    method: str
    X: object

    def __call__(self):
        getattr(self.estimator, self.method)(self.X)
