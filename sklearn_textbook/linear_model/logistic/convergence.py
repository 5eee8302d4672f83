"""Warnings of a logistic regression that did not end at a maximum."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook.linear_model.logistic.results import describe_separation
from sklearn_textbook.linear_model.logistic.separation import NONE


def warn_of_end(model, reason):
    """Warn of separated classes, or of a solver that did not converge."""
    n_iter = int(model.n_iter_[0])
    iterations = f"{n_iter} iteration{'' if n_iter == 1 else 's'}"
    if model.separation_ not in (None, NONE):
        largest = float(np.abs(model.coef_).max(initial=0.0))
        message = (
            f"{describe_separation(model.separation_)}: a linear score separates "
            "classes, so the likelihood has no maximum and coefficients diverge. "
            f"{model.solver_} stopped after {iterations} at a "
            f"log-likelihood of {model.log_likelihood_:.4g}, with coefficients up to "
            f"{largest:.4g}. Standard errors are meaningless. With a finite C, there "
            "is a maximum."
        )
    elif model.is_converged_ or reason == "callback":
        return
    else:
        advice = (
            "Increase the number of iterations (max_iter), or use solver='newton'."
            if reason == "iterations"
            else "Rounding prevents further progress: increase tol."
        )
        message = (
            f"{model.solver_} failed to converge after {iterations}, at a "
            f"log-likelihood of {model.log_likelihood_:.6g}. "
            f"{advice}"
        )
    warn_caller(message, ConvergenceWarning)
