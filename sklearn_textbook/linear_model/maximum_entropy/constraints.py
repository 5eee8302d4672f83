"""Constraints on one distribution: expectations of features of its outcomes."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.optimize import linprog

#: Deviations of expectations, and probabilities, up to this one count as 0.
PRECISION = 1e-9


def read_constraints(
    outcomes, features, expectations
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read outcomes, their features, and the expectation of each feature.

    Returns (outcomes, matrix, expectations).
    """
    is_array = isinstance(outcomes, np.ndarray)
    labels = outcomes.tolist() if is_array else list(outcomes)
    if not labels or len(set(labels)) < len(labels):
        raise ValueError(
            f"outcomes must be one or more distinct labels; got {labels!r}."
        )
    rows = [_read_feature(feature, j, labels) for j, feature in enumerate(features)]
    matrix = np.array(rows, dtype=np.float64).reshape(len(rows), len(labels))
    expectations = np.asarray(expectations, dtype=np.float64)
    if expectations.shape != (len(rows),):
        raise ValueError(
            f"expectations must have shape ({len(rows)},), one number per feature; "
            f"got {expectations.shape}."
        )
    if not (np.isfinite(matrix).all() and np.isfinite(expectations).all()):
        raise ValueError("features and expectations must be finite numbers.")
    return _make_array(labels), matrix, expectations


def _make_array(labels):
    """Make an array of labels without conversion, also of pairs and mixed types."""
    array = np.array(labels)
    if array.ndim == 1 and array.tolist() == labels:
        return array
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _read_feature(feature, j, labels):
    """Values of a feature for all outcomes."""
    if callable(feature):
        return [float(feature(label)) for label in labels]
    is_numeric = isinstance(feature, np.ndarray) or (
        isinstance(feature, list) and len(feature) == len(labels)
        and all(isinstance(value, (int, float)) for value in feature)
    )  # fmt: skip
    if is_numeric:
        if len(feature) != len(labels):
            raise ValueError(
                f"features[{j}] must have {len(labels)} values, one per outcome; got "
                f"{len(feature)}."
            )
        return feature
    if not isinstance(feature, Collection) or isinstance(feature, str):
        raise ValueError(
            f"features[{j}] must be a function of an outcome, a collection of outcomes "
            f"or {len(labels)} numbers; got {feature!r}."
        )
    unknown = [label for label in feature if label not in labels]
    if unknown:
        raise ValueError(
            f"features[{j}] contains {unknown[0]!r}, which is not one of the outcomes "
            f"{labels!r}."
        )
    return [float(label in feature) for label in labels]


def require_feasible(matrix, expectations):
    """Raise ValueError if no distribution has these expectations.

    The sum of the absolute deviations is minimised by linear programming.
    """
    n_features, n_outcomes = matrix.shape
    if not n_features:
        return
    smallest, largest = matrix.min(axis=1), matrix.max(axis=1)
    slack = PRECISION * np.maximum(1.0, np.abs(matrix).max(axis=1))
    is_out = (expectations < smallest - slack) | (expectations > largest + slack)
    if is_out.any():
        j = int(np.argmax(is_out))
        raise ValueError(
            f"No distribution has these expectations: expectations[{j}] must be "
            f"between {smallest[j]:g} and {largest[j]:g}, the range of the feature; "
            f"got {expectations[j]:g}."
        )
    eye = np.eye(n_features)
    found = linprog(
        np.concatenate((np.zeros(n_outcomes), np.ones(2 * n_features))),
        A_eq=np.block(
            [
                [matrix, eye, -eye],
                [np.ones((1, n_outcomes)), np.zeros((1, 2 * n_features))],
            ]
        ),
        b_eq=np.append(expectations, 1.0),
    )
    if not found.fun <= slack.sum():
        fractions = np.clip(found.x[:n_outcomes], 0.0, None)
        nearest = (matrix @ fractions).round(6).tolist()
        raise ValueError(
            "No distribution has these expectations, since they contradict each other: "
            f"got {expectations.tolist()}; the closest possible expectations are "
            f"{nearest}."
        )


def find_impossible(matrix, expectations) -> np.ndarray:
    """Find the outcomes that have probability 0 in all allowed distributions."""
    n_outcomes = matrix.shape[1]
    equations = np.vstack((matrix, np.ones(n_outcomes)))
    values = np.append(expectations, 1.0)
    is_impossible = np.zeros(n_outcomes, dtype=bool)
    for outcome in range(n_outcomes):
        goal = np.zeros(n_outcomes)
        goal[outcome] = -1.0
        found = linprog(goal, A_eq=equations, b_eq=values)
        is_impossible[outcome] = found.success and -found.fun <= PRECISION
    return is_impossible
