"""Explanations of the scores of ensembles by the contributions of columns."""

from __future__ import annotations

import math

import numpy as np

from sklearn_textbook.inspection.row_explanation import Contribution, RowExplanation
from sklearn_textbook.inspection.row_values import describe_value
from sklearn_textbook.inspection.shapley import shap_values
from sklearn_textbook.tree.explain.digits import format_fraction, format_number
from sklearn_textbook.tree.explain.fitted import word


class ScoreExplainer:
    """Writes how the columns make up the scores of a sum of trees.

    Parameters
    ----------
    trees : TreeSum
        The model.
    names : list of str
        The names of its columns.
    values : RowValues
        The rows.
    quoted : list of list of str
        The classes of each output as they are written in sentences.
    max_terms : int
        Maximum number of columns that a sentence names.
    decimals : int or None
        Decimals of the numbers; None for three digits of the largest.
    """

    def __init__(self, trees, names, values, *, quoted, max_terms, decimals) -> None:
        self.trees = trees
        self.names = [word(name) for name in names]
        self.values = values
        self.quoted = quoted
        self.max_terms = max_terms
        self.decimals = decimals

    def explain(
        self, X, predictions: list, probabilities: list, n_jobs: int | None
    ) -> list[RowExplanation]:
        """Explain all rows."""
        found = shap_values(self.trees.model, X, n_jobs=n_jobs)
        amounts = found.values.reshape(len(predictions), len(self.names), -1)
        base = np.atleast_1d(found.base_values)
        return [
            self._explain_row(row, prediction, probabilities, amounts[row], base)
            for row, (prediction, probabilities) in enumerate(
                zip(predictions, probabilities, strict=True)
            )
        ]

    def _explain_row(self, row, prediction, probabilities, amounts, base):
        several = self.trees.n_outputs > 1
        outcomes = prediction if several else [prediction]
        of_outputs = probabilities if several else [probabilities]
        parts = [
            self._explain_output(row, output, outcome, probability, amounts, base)
            for output, (outcome, probability) in enumerate(
                zip(outcomes, of_outputs or [None] * len(outcomes), strict=True)
            )
        ]
        lines = [line for part in parts for line in part["lines"]]
        return RowExplanation(
            row,
            prediction,
            probabilities,
            "; ".join(part["sentence"] for part in parts),
            contributions=_single([part["contributions"] for part in parts]),
            base=_single([part["base"] for part in parts]),
            score=_single([part["score"] for part in parts]),
            score_name=_single([part["name"] for part in parts]),
            title=", ".join(part["title"] for part in parts),
            header=["column", "value", "contribution"],
            lines=lines,
        )

    def _explain_output(self, row, output, outcome, probabilities, amounts, base):
        column, label = self._choose_score(output, outcome)
        amounts, base = amounts[:, column], float(base[column])
        score = base + float(amounts.sum())
        order = np.argsort(-np.abs(amounts), kind="stable").tolist()
        contributions = tuple(
            Contribution(self.names[j], self.values.value(row, j), float(amounts[j]))
            for j in order
        )
        name = self._name_score(label, output)
        shown = contributions[: self.max_terms]
        shown = [c for c in shown if c.amount != 0.0]
        rest = contributions[len(shown) :]
        others = sum(c.amount for c in rest)
        write = self._choose_digits([base, score, *(c.amount for c in shown)])
        parts = [f"{write(base)} on average"]
        lines = [["average", "", write(base)]]
        for c in shown:
            value = describe_value(c.value)
            parts.append(f"{_sign(write(c.amount))} because {c.column} is {value}")
            lines.append([c.column, value, _sign(write(c.amount))])
        if any(c.amount != 0.0 for c in rest):
            count = f"{len(rest):,} other column{'s' if len(rest) > 1 else ''}"
            parts.append(f"{_sign(write(others))} from {count}")
            lines.append([count, "", _sign(write(others))])
        lines.append([name, "", write(score)])
        sentence = f"{name}: {write(score)} = {', '.join(parts)}"
        return {
            "name": name,
            "base": base,
            "score": score,
            "contributions": contributions,
            "sentence": sentence + self._tail(score, label, probabilities),
            "title": self._title(outcome, output, probabilities),
            "lines": lines,
        }

    def _choose_score(self, output, outcome):
        """Return the number of the score to explain, and the index of its class."""
        trees = self.trees
        if not trees.is_classifier:
            return output, None
        if trees.link == "expit":
            return 0, 1
        index = trees.classes[output].tolist().index(outcome)
        return output * (trees.n_scores // trees.n_outputs) + index, index

    def _name_score(self, label, output):
        """Name a score."""
        trees = self.trees
        where = f" of output {output}" if trees.n_outputs > 1 else ""
        if label is None:
            names = {"identity": "prediction", "exp": "logarithm of the prediction"}
            return names[trees.link] + where
        name = self.quoted[output][label]
        if trees.link == "identity":
            kind = "share of votes" if trees.is_vote else "probability"
        elif trees.link == "expit" and trees.scale == 1.0:
            kind = "log odds"
        else:
            kind = "votes" if trees.is_vote else "score"
        return f"{kind} of {name}{where}"

    def _tail(self, score, label, probabilities) -> str:
        """Write the prediction of a score that is not the prediction itself."""
        if self.trees.link == "exp":
            return f"; its exponential {format_number(math.exp(score))} is predicted"
        if label is None or self.trees.link == "identity" or probabilities is None:
            return ""
        probability = list(probabilities.values())[label]
        return f"; the probability is {format_fraction(probability)}"

    def _title(self, outcome, output, probabilities):
        if not self.trees.is_classifier:
            return format_number(outcome, self.decimals)
        index = self.trees.classes[output].tolist().index(outcome)
        name = self.quoted[output][index]
        return (
            name
            if probabilities is None
            else f"{name} ({format_fraction(probabilities[outcome])})"
        )

    def _choose_digits(self, numbers):
        """Return a function that writes all numbers with the same decimals."""
        decimals = self.decimals
        if decimals is None:
            largest = max(map(abs, numbers))
            power = math.floor(math.log10(largest)) if largest > 0.0 else 0
            decimals = max(0, 2 - power)
        # No sign before a rounded zero.
        return lambda number: f"{round(number, decimals) + 0.0:.{decimals}f}"


def _sign(text):
    return text if text.startswith("-") else f"+{text}"


def _single(entries):
    return entries[0] if len(entries) == 1 else entries
