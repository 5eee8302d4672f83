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
        self.estimator.fit(self.X, self.y, sample_weight=self.sample_weight)


@dataclass(frozen=True, eq=False)
class Prediction:
    """A call of a method of a fitted estimator."""

    estimator: object
    method: str
    X: object

    def __call__(self):
        getattr(self.estimator, self.method)(self.X)
