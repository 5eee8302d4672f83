"""Predictions of the nodes of a tree in words."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from sklearn_textbook.tree.explain.describe import node_confidence
from sklearn_textbook.tree.explain.digits import format_fraction, format_number


class NodeWords:
    """Writes what the nodes of a tree predict.

    Parameters
    ----------
    words : Words
        The tree and its names.
    shown : ndarray of float64, shape (node_count, n_values)
        The predictions of all nodes: probabilities, or values.
    quoted : list of list of str
        The classes of each output as they are written in sentences.
    center : str
        What the values of a regression tree are: "mean" or "median".
    """

    def __init__(self, words, shown, *, quoted, center) -> None:
        self.words = words
        self.fitted = words.fitted
        self.tree = words.fitted.tree
        self.shown = shown.reshape(len(shown), self.tree.n_outputs, -1)
        self.quoted = quoted
        self.center = center
        for name in ("prediction", "support"):
            setattr(self, name, cache(getattr(self, name)))

    def find_classes(self, prediction):
        """Return the index of the predicted class of each output."""
        if not self.tree.is_classifier:
            return [0] * self.tree.n_outputs
        outputs = [prediction] if self.fitted.is_single else prediction
        return [
            np.asarray(classes).tolist().index(label)
            for classes, label in zip(self.fitted.classes, outputs, strict=True)
        ]

    def support(self, node):
        """Write what the training rows of a node are."""
        record = self.tree.nodes[node]
        n_samples, weight = int(record["n_samples"]), float(record["weight"])
        note = ""
        if not math.isclose(n_samples, weight, rel_tol=1e-9, abs_tol=1e-9):
            note = f" (weight {format_number(weight)})"
        if n_samples == 0:
            best = self.fitted.best[node] if self.tree.is_classifier else None
            rows = self.write(self.shown[node], best)
            return f"no training row is here, so the node above decides: {rows}"
        rows = f"the {n_samples:,} training rows here{note}"
        if n_samples == 1:
            rows = f"the only training row here{note}"
        if not self.tree.is_classifier:
            of = f"value of {rows}" if n_samples == 1 else f"{self.center} of {rows}"
            values = ", ".join(self.words.outputs(node))
            return f"the {of} is {values}"
        fractions = node_confidence(self.fitted, node)
        best = self.fitted.best[node]
        if len(fractions) == 1 and fractions[0] > 1 - 1e-12:
            verb = "is" if n_samples == 1 else "are"
            every = rows if n_samples == 1 else f"all {rows.removeprefix('the ')}"
            return f"{every} {verb} {self.quoted[0][best[0]]}"
        parts = [
            f"are {names[k]}{self._output(i)}"
            for i, (names, k) in enumerate(zip(self.quoted, best, strict=True))
        ]
        parts = [
            f"{format_fraction(s)} {p}" for s, p in zip(fractions, parts, strict=True)
        ]
        first = parts[0].replace(" are ", f" of {rows} are ", 1)
        return " and ".join([first, *parts[1:]])

    def _output(self, number):
        return "" if self.fitted.is_single else f" in output {number}"

    def write(self, values, best):
        """Write probabilities or values, of shape (n_outputs, n_values)."""
        if not self.tree.is_classifier:
            return ", ".join(
                format_number(v, self.words.decimals) for v in values[:, 0]
            )
        return " and ".join(
            f"{format_fraction(row[k])} for {names[k]}{self._output(i)}"
            for i, (row, names, k) in enumerate(
                zip(values, self.quoted, best, strict=True)
            )
        )

    def title(self, values, best):
        """Write predicted classes with their probabilities, or values."""
        if not self.tree.is_classifier:
            return ", ".join(
                format_number(v, self.words.decimals) for v in values[:, 0]
            )
        return ", ".join(
            f"{names[k]} ({format_fraction(row[k])})"
            for row, names, k in zip(values, self.quoted, best, strict=True)
        )

    def heads(self, best):
        """Heads of the columns of predictions in the table."""
        if not self.tree.is_classifier:
            several = [f"output {i}" for i in range(self.tree.n_outputs)]
            return several if len(several) > 1 else [self.center]
        return [names[k] for names, k in zip(self.quoted, best, strict=True)]

    def cells(self, node, best):
        """Write the probabilities of some classes in a node, or its values."""
        values = self.shown[node]
        if not self.tree.is_classifier:
            return [format_number(v, self.words.decimals) for v in values[:, 0]]
        return [format_fraction(row[k]) for row, k in zip(values, best, strict=True)]

    def prediction(self, node):
        """Return the prediction of a node: probabilities by class, or a value."""
        if self.tree.is_classifier:
            return self.unpack(self.shown[node])
        return self.single(self.shown[node][:, 0].tolist())

    def unpack(self, fractions):
        """Return proportions by class, a dictionary for each output."""
        found = []
        for classes, row in zip(self.fitted.classes, fractions, strict=True):
            labels = np.asarray(classes).tolist()
            found.append(dict(zip(labels, row.tolist(), strict=False)))
        return self.single(found)

    def single(self, entries):
        """Return the entry of a single output, else all."""
        return entries[0] if self.fitted.is_single else entries
