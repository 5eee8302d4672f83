"""Warnings of a generalised linear model that did not end at a minimum."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook.linear_model.generalized.links import SHARE_LINKS

#: A predictor that changes by more than this in the last step is diverging.
RUNAWAY = 0.1
#: Fraction of the average mean below which a mean lies on the border at 0; and distance
#: of a share from 1.
BORDER = 1e-10


def warn_of_end(model, fit):
    """Warn if the iteration did not end at a minimum of the deviance.

    Parameters
    ----------
    model : GeneralizedLinearRegressor
        The model, with its family and link.
    fit : Fit
        Result of the iteration.
    """
    where = f"deviance {fit.deviance:.6g} after {fit.n_iter} iterations"
    if ends_at_border(fit):
        message = (
            f"{type(model).__name__} stopped at the boundary of the means that are "
            f"valid for the family {model.family!r}, which the link "
            f"{model.link_.name!r} does not exclude ({where}). Standard errors and "
            "tests are not valid there; use another link."
        )
    elif not fit.has_converged:
        path = fit.deviance_path
        change = path[-1] - path[-2] if len(path) > 1 else np.nan
        message = (
            f"{type(model).__name__} did not converge: {where}, changed by "
            f"{change:.3g} in the last iteration. Increase max_iter or tol, or scale "
            "the columns."
        )
    elif has_no_maximum(fit):
        others = "ones" if model.family == "binomial" else "other values of y"
        message = (
            "The likelihood seems to have no maximum: linear predictors still change "
            f"by {fit.largest_move:.2g} while the deviance is constant ({where}), so "
            "fitted means approach the boundary of the range of the family "
            f"{model.family!r}, as if the columns separate zeros from {others}. "
            "Coefficients and standard errors are those of the last iteration and are "
            "meaningless; alpha > 0 makes them finite."
        )
    else:
        return
    warn_caller(message, ConvergenceWarning)


def has_no_maximum(fit):
    """Whether predictors diverge while the deviance hardly decreases."""
    return fit.has_converged and fit.n_iter > 1 and fit.largest_move > RUNAWAY


def ends_at_border(fit):
    """Whether the iteration ended at the boundary of the valid means."""
    if fit.is_stuck:
        return True
    family, link, mean = fit.rows.family, fit.rows.link, fit.rows.mean
    is_share = family.name == "binomial"
    if link.name in SHARE_LINKS or not (is_share or family.has_positive_mean):
        return False
    if is_share and mean.max() > 1.0 - BORDER:
        return True
    # No predictor of the logarithm belongs to a mean of 0.
    return link.name != "log" and bool(mean.min() < BORDER * mean.mean())
