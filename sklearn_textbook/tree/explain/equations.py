"""Linear equations in the nodes of a tree, as text and as records."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.encode.columns import TEMPORAL
from sklearn_textbook.tree.explain.digits import format_number

#: Maximum error of an equation as written, as a part of the range of its predictions.
PRECISION = 1e-3


def read_slopes(tree, node: int) -> np.ndarray:
    """Read the slopes of a node, the largest effects first as they were chosen."""
    first, last = np.searchsorted(tree.slopes["node"], [node, node + 1])
    return tree.slopes[first:last]


def describe_equation(words, node: int) -> str:
    """Write an equation, such as ``3.2 + 0.41 (0.05)*x``, with standard errors.

    Ordinal columns count the levels from 0; dates, times of day and durations are in
    seconds.
    """
    fitted, slopes = words.fitted, read_slopes(words.fitted.tree, node)
    low, high = fitted.tree.bounds[node].tolist()
    tolerance = PRECISION * (high - low) / (len(slopes) + 1) or np.inf
    value = float(fitted.tree.statistics[node, 0, 0])
    constant = value - float(np.dot(slopes["weight"], slopes["center"]))
    parts = [format_number(constant, words.decimals, tolerance)]
    for slope in slopes[["feature", "weight", "center", "error"]].tolist():
        feature, weight, center, error = slope
        name, column = words.name(feature), fitted.schema.columns[feature]
        if column.source in TEMPORAL:
            name = f"seconds({name})"
        elif column.levels is not None:
            name = f"level({name})"
        allowed = tolerance / abs(center) if center else np.inf
        number = format_number(abs(weight), words.decimals, allowed)
        sign = "-" if weight < 0.0 else "+"
        parts.append(f"{sign} {number} ({format_number(error, words.decimals)})*{name}")
    return " ".join(parts)


def make_equation_record(fitted, node: int) -> dict:
    """Make the entries of a rule that describe the equation of its node."""
    names = fitted.feature_names
    low, high = fitted.tree.bounds[node].tolist()
    terms = [
        {"feature": names[f], "weight": w, "center": c, "standard_error": e}
        for f, w, c, e in read_slopes(fitted.tree, node)[
            ["feature", "weight", "center", "error"]
        ].tolist()
    ]
    return {"slopes": terms, "low": low, "high": high}
