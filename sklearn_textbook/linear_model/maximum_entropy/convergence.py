"""Warnings of a solver that has not converged, or of a missing maximum."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook._contract.caller import warn_caller

#: Number of names that a warning lists.
MAX_NAMES = 5


def warn_of_gap(solution, solver, max_iter, tol):
    """Warn if the expectations differ by more than the tolerance."""
    if solution.has_converged:
        return
    if solution.n_iter >= max_iter:
        reason, advice = (
            f"in max_iter={max_iter} iterations",
            "increase max_iter or tol, or ",
        )
    else:
        reason = f"in {solution.n_iter} iterations, since rounding hides the slope"
        advice = "increase tol, or "
    message = (
        f"solver={solver!r} did not converge {reason}: expected and empirical "
        f"features differ by up to {solution.gap:.3g} (tol={tol:g}), the loss is "
        f"{solution.loss_path[-1]:.6g}. You may {advice}use another solver."
    )
    warn_caller(message, ConvergenceWarning)


def warn_of_boundaries(names, falls, rises, is_separated, solution):
    """Warn if the likelihood has no maximum, since weights would have to be infinite.

    Parameters
    ----------
    names : callable
        Names of features by their numbers.
    falls, rises : ndarray of bool, shape (n_features,)
        Weights that go to minus infinity, and to infinity.
    is_separated : bool
        Whether the model predicts the classes of all rows.
    solution : Solution
        Result of the solver.

    Returns
    -------
    has_warned : bool
        Whether a warning was issued.
    """
    reasons = []
    for which, end, extreme in (
        (falls, "minus infinity", "smallest"),
        (rises, "infinity", "largest"),
    ):
        numbers = np.flatnonzero(which)
        if not len(numbers):
            continue
        listed = ", ".join(names(j) for j in numbers[:MAX_NAMES])
        if len(numbers) > MAX_NAMES:
            listed += f" and {len(numbers) - MAX_NAMES} more"
        reasons.append(
            f"the weights of features with the {extreme} possible expectation diverge "
            f"to {end}: {listed}"
        )
    if is_separated:
        reasons.append("the features separate the classes")
    if not reasons:
        return False
    message = (
        f"The likelihood has no maximum: {'; '.join(reasons)}. Weights are finite only "
        f"because fitting stopped after {solution.n_iter} iterations, at a loss of "
        f"{solution.loss_path[-1]:.6g}, where expected and empirical features differ "
        f"by up to {solution.gap:.3g}. With a penalty, alpha > 0, there is a maximum."
    )
    warn_caller(message, ConvergenceWarning)
    return True


def warn_of_impossible(labels, is_impossible, distribution):
    """Warn of outcomes whose probability must be 0 under the constraints."""
    if not is_impossible.any():
        return
    lost = ", ".join(repr(label) for label in labels[is_impossible].tolist())
    message = (
        f"The constraints leave no probability to {lost}: weights would have to be "
        "infinite. They are finite only because fitting stopped; the largest of these "
        f"probabilities is {distribution[is_impossible].max():.3g}."
    )
    warn_caller(message, ConvergenceWarning)


def separates(scores, counts):
    """Whether each context has one class, and its score is above those of the others.

    Parameters
    ----------
    scores : ndarray of shape (n_contexts, n_classes)
        Scores of the model.
    counts : ndarray of shape (n_contexts, n_classes)
        Weights of the rows.

    Returns
    -------
    is_separated : bool
        Whether multiplying the weights by any number above 1 improves the model.
    """
    is_there = counts > 0
    if scores.shape[1] < 2 or (is_there.sum(axis=1) > 1).any():
        return False
    own = scores[is_there.any(axis=1)][is_there[is_there.any(axis=1)]]
    others = np.where(is_there, -np.inf, scores)[is_there.any(axis=1)]
    return bool((own > others.max(axis=1)).all())
