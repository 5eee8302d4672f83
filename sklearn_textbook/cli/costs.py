"""The costs of errors: read from a file, kept with a model, used in predictions."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.report import show_label
from sklearn_textbook.cli.scoring import Scorer
from sklearn_textbook.io import ModelFileError, read_c45_costs


def make_scorer(goal, path):
    """Make what predicts and scores a target.

    Parameters
    ----------
    goal : Target
        The target.
    path : str or None
        File with the costs of errors.

    Returns
    -------
    scorer : Scorer
        With the classes of the target, and the costs.
    """
    if not goal.is_classes:
        if path is not None:
            refuse_use(f"--cost requires classes, but {goal.name!r} is numeric")
        return Scorer(None)
    labels = np.unique(goal.values)
    if path is None:
        return Scorer(labels)
    return Scorer(labels, read_c45_costs(path, [show_label(x) for x in labels]))


def restore_scorer(model, path):
    """Make what predicts and scores with a model from a file.

    Parameters
    ----------
    model : SavedModel
        The model.
    path : str
        Its file, for the message.

    Returns
    -------
    scorer : Scorer
        With the classes of the model, and the costs that `fit` noted.

    Raises
    ------
    ModelFileError
        If the costs are not those of the classes.
    """
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
