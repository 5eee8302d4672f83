"""Scores of predictions that are made block by block."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.metrics import measure
from sklearn_textbook.cli.options import CLASS_SCORES, NUMBER_SCORES
from sklearn_textbook.cli.scoring import Score, count_confusions
from sklearn_textbook.io.naming import count_things

#: Scores that need all rows at once.
_OF_ALL_ROWS = ("auc", "log_loss", "median_absolute_error")
#: As in scikit-learn, targets that errors are divided by are at least this.
_SMALL = np.finfo(np.float64).eps


def choose_metrics(names: tuple[str, ...], is_classes: bool) -> tuple[str, ...]:
    """Refuse scores that need all rows at once; without names, list the default."""
    for name in names:
        if name in _OF_ALL_ROWS:
            possible = CLASS_SCORES if is_classes else NUMBER_SCORES
            others = [one for one in possible if one not in _OF_ALL_ROWS]
            refuse_use(
                f"--scoring: {name} needs all rows at once, and the table is read in "
                f"blocks; choose from {', '.join(others)}"
            )
    return names or (("accuracy", "kappa") if is_classes else ("r2", "rmse", "mae"))


class BlockScores:
    """Sums of which scores are made."""

    def __init__(self, metrics: tuple[str, ...], *, is_classes: bool) -> None:
        self.metrics, self.is_classes = metrics, is_classes
        self.n_rows, self.weight, self.is_weighted = 0, 0.0, False
        #: Weights by true and predicted class.
        self.confusions: Counter = Counter()
        self.mean = self.squares = 0.0  # of the targets, and about their mean
        self.squared_errors = self.errors = self.shares = 0.0

    def add(
        self, true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None = None
    ) -> None:
        """Add the rows of a block."""
        if len(true) == 0:
            return
        self.n_rows += len(true)
        if weights is None:
            weights = np.ones(len(true))
        else:
            self.is_weighted = True
        if self.is_classes:
            self._add_classes(true, predicted, weights)
        elif weights.sum() > 0:
            self._add_numbers(true.astype(np.float64), predicted, weights)

    def _add_classes(self, true, predicted, weights):
        names, row = np.unique(true, return_inverse=True)
        others, column = np.unique(predicted, return_inverse=True)
        cells = np.bincount(
            row * len(others) + column, weights, len(names) * len(others)
        )
        pairs = ((a, b) for a in names.tolist() for b in others.tolist())
        self.confusions.update(dict(zip(pairs, cells.tolist(), strict=True)))

    def _add_numbers(self, true, predicted, weights):
        weight = weights.sum()
        mean = np.average(true, weights=weights)
        step, before = mean - self.mean, self.weight
        self.weight += weight
        # Sums of squares about the means of two parts.
        self.squares += weights @ (true - mean) ** 2
        self.squares += step**2 * before * weight / self.weight
        self.mean += step * weight / self.weight
        errors = np.abs(true - predicted)
        self.squared_errors += weights @ errors**2
        self.errors += weights @ errors
        self.shares += weights @ (errors / np.maximum(np.abs(true), _SMALL))

    def list_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List true and predicted classes, and the weight of their rows."""
        pairs = [pair for pair, weight in self.confusions.items() if weight > 0]
        true, predicted = (np.array(side) for side in zip(*pairs, strict=True))
        return true, predicted, np.array([self.confusions[pair] for pair in pairs])

    def count_confusions(self, labels) -> np.ndarray:
        """Return the confusion matrix."""
        true, predicted, weights = self.list_pairs()
        found = count_confusions(true, predicted, labels, weights)
        return found if self.is_weighted else found.astype(np.int64)

    def finish(self, where: str) -> Score:
        """Make the scores."""
        if self.is_classes:
            return self._score_classes(where, *self.list_pairs())
        squares = self.squares if self.squares > 0 else np.nan
        return self._write(
            where,
            {
                "r2": 1 - self.squared_errors / squares,
                "rmse": np.sqrt(self.squared_errors / self.weight),
                "mae": self.errors / self.weight,
                "mape": self.shares / self.weight,
            },
        )

    def score_baseline(self) -> Score:
        """Score predicting the most frequent class, or the mean."""
        if not self.is_classes:
            squares = self.squares / self.weight
            values = {"r2": 0.0 if squares > 0 else np.nan, "rmse": np.sqrt(squares)}
            return self._write("mean", values)
        true, _, weights = self.list_pairs()
        labels, places = np.unique(true, return_inverse=True)
        largest = labels[np.argmax(np.bincount(places, weights))]
        return self._score_classes(
            "majority class", true, np.full(len(true), largest), weights
        )

    def _score_classes(self, where, true, predicted, weights):
        values = {
            name: measure(name, true, predicted, None, None, weights)
            for name in self.metrics
        }
        return self._write(where, values)

    def _write(self, where, values):
        headings = CLASS_SCORES if self.is_classes else NUMBER_SCORES
        means = {
            headings[name]: float(values.get(name, np.nan)) for name in self.metrics
        }
        weighted = ", weighted" if self.is_weighted else ""
        return Score(where, means, {}, f"{count_things(self.n_rows, 'row')}{weighted}")
