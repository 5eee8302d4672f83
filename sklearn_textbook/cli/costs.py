"""The costs of errors: read from a file, kept with a model, used in predictions."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.options import CLASS_SCORES, NUMBER_SCORES
from sklearn_textbook.cli.report import show_label
from sklearn_textbook.cli.scoring import Scorer
from sklearn_textbook.cli.target import TargetColumn
from sklearn_textbook.io import ModelFileError, read_c45_costs
from sklearn_textbook.io.naming import suggest_name
from sklearn_textbook.io.saved_model import SavedModel


def make_scorer(goal: TargetColumn, path: str | None, metrics=()) -> Scorer:
    """Make what predicts and scores a target, with costs of errors from a file."""
    metrics = _check_metrics(goal, metrics)
    if not goal.is_classes:
        if path is not None:
            refuse_use(f"--cost requires classes, but {goal.name!r} is numeric")
        return Scorer(None, metrics=metrics)
    labels = np.unique(goal.values)
    costs = None
    if path is not None:
        costs = read_c45_costs(path, [show_label(x) for x in labels])
    return Scorer(labels, costs, metrics)


def _check_metrics(goal, names):
    """Check the names of scores: they must be for classes, or for numbers."""
    fits, others, kind, not_kind = CLASS_SCORES, NUMBER_SCORES, "classes", "numbers"
    if not goal.is_classes:
        fits, others, kind, not_kind = others, fits, not_kind, kind
    for name in names:
        if name in others:
            refuse_use(
                f"--scoring: {name} is for {not_kind}, and {goal.name!r} has {kind}; "
                f"choose from {', '.join(fits)}"
            )
        if name not in fits:
            near = [fit for fit in fits if name in fit or fit in name]
            question = suggest_name([*near, name][0], fits)
            refuse_use(
                f"--scoring: {name!r} is unknown; {question}{' ' if question else ''}"
                f"Choose from {', '.join(fits)}"
            )
    return tuple(names)


def restore_scorer(model: SavedModel, path: str) -> Scorer:
    """Make what predicts and scores with a model, with the costs that `fit` noted."""
    labels = getattr(model.estimator, "classes_", None)
    noted = model.table.get("costs")
    if labels is None or noted is None:
        return Scorer(labels)
    try:
        costs = np.array(noted, dtype=np.float64)
    except (TypeError, ValueError):
        costs = np.empty(0)
    if costs.shape != (len(labels), len(labels)) or not (costs >= 0).all():
        raise ModelFileError("is damaged: table.costs is not a matrix of costs", path)
    return Scorer(labels, costs)
