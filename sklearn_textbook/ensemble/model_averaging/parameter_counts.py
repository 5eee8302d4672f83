"""Counting the parameters of fitted members, for the Bayesian information criterion."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

#: Packages whose estimators with coefficients are linear models.
LINEAR = ("sklearn.linear_model.", "sklearn_textbook.linear_model.")


def count_parameters(name: str, member) -> float:
    """Count the free parameters of a fitted member."""
    last = member
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    n_scores = len(last.classes_) - 1 if is_classifier(last) else 1
    modules = [f"{one.__module__}." for one in type(last).__mro__]
    if hasattr(last, "get_n_leaves"):
        n_parameters = last.get_n_leaves() * n_scores
    elif hasattr(last, "coef_") and any(one.startswith(LINEAR) for one in modules):
        n_parameters = _count_coefficients(last, n_scores)
    else:
        raise ValueError(
            f"The parameters of the member {name!r}, {type(last).__name__}, cannot be "
            "counted; this is possible only for linear models and single trees. Set "
            'n_parameters, or use weighting="held_out" or "pseudo_bma_plus".'
        )
    return float(n_parameters + (not is_classifier(last)))


def _count_coefficients(model, n_scores):
    """Count coefficients and intercepts that the data determine."""
    has_intercept = bool(getattr(model, "fit_intercept", True))
    if is_classifier(model):
        rank = getattr(model, "rank_", None)
        if rank is not None:  # with the intercept
            return rank * n_scores
        # With a vector for every class, one vector is redundant.
        n_columns = np.shape(model.coef_)[-1] + has_intercept
        n_found = np.count_nonzero(model.coef_) + has_intercept * len(model.coef_)
        return min(n_found, n_columns * n_scores)
    n_found = np.count_nonzero(model.coef_)
    for attribute in ("effective_rank_", "rank_"):
        try:
            n_found = min(n_found, getattr(model, attribute))
        except AttributeError:  # unknown of large sparse tables
            continue
    return n_found + has_intercept
