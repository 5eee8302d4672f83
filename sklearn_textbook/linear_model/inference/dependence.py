"""Warning of coefficients that the rows do not determine."""

from __future__ import annotations

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.parameters import name_some
from sklearn_textbook.tree.encode import NOMINAL


def warn_of_dependence(model, rank, n_rows, find_dependent):
    """Warn of linearly dependent columns.

    There is no warning where it is to be expected: if there are fewer rows than
    coefficients, if all levels of a nominal column have an indicator, or if the columns
    are constant, which is a model of the intercept alone.

    Parameters
    ----------
    model : BaseLinearModel
        The fitted model.
    rank : int
        Rank of the columns, without the intercept.
    n_rows : int
        Number of rows.
    find_dependent : callable
        Returns the mask of the columns whose coefficients are not determined.
    """
    names = model.coef_names_
    n_known = max(
        _count_superfluous(model),
        len(names) + bool(model.fit_intercept) - n_rows,
    )
    if rank == 0 or rank >= len(names) - n_known:
        return
    listed = name_some(names[find_dependent()].tolist())
    warn_caller(
        f"Columns are linearly dependent or constant: {listed}. The rank is {rank} of "
        f"{len(names)} columns. Of all coefficients that fit equally well, those with "
        "the smallest norm of the slopes are used; those that the rows do not "
        "determine have no standard error.",
        UserWarning,
    )


def _count_superfluous(model):
    """Count the indicators that reference_level=None adds to those needed."""
    n_complete = sum(
        term.kind == NOMINAL and term.reference is None and len(term.names) > 0
        for term in model.design_.terms
    )
    return max(0, n_complete - (not model.fit_intercept))
