"""The members of an ensemble: how many are lacking, and how they come to it."""

from __future__ import annotations

import warnings


class MemberList:
    """Lets an ensemble be read as the list of its members."""

    def __len__(self):
        """Return the number of members."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return a member."""
        return self.estimators_[index]

    def __iter__(self):
        """Iterate over the members."""
        return iter(self.estimators_)


def count_lacking(n_estimators, n_members):
    """Count the members that a warm start has to add.

    Parameters
    ----------
    n_estimators : int
        Number of members wanted.
    n_members : int
        Number of members there are.

    Returns
    -------
    n_lacking : int
        At least 0.

    Raises
    ------
    ValueError
        If there are too many already.
    """
    if n_members > n_estimators:
        raise ValueError(
            f"n_estimators={n_estimators} must be larger or equal to "
            f"len(estimators_)={n_members} when warm_start==True"
        )
    return n_estimators - n_members


def warn_of_no_lack():
    """Warn of a warm start that has nothing to add."""
    warnings.warn(
        "Warm-start fitting without increasing n_estimators does not fit new trees.",
        UserWarning,
        stacklevel=5,  # who called fit
    )


def yield_until_stopped(grown, context, name, hooks, describe):
    """Yield new members, each a task of the callbacks, until one of these says stop.

    Parameters
    ----------
    grown : generator of estimator
        The members.
    context : CallbackContext
        The task of the ensemble.
    name : str
        What a member's task is called.
    hooks : dict
        What the callbacks are told of the fit: the estimator, X, y and metadata.
    describe : callable
        Gives the fitted attributes of the ensemble with the members yielded so far.

    Yields
    ------
    member : estimator
        Who takes it has it in the ensemble before asking for the next one.
    """
    for member in grown:
        subcontext = context.subcontext(task_name=name)
        subcontext.call_on_fit_task_begin(**hooks)
        yield member
        if subcontext.call_on_fit_task_end(**hooks, reconstruction_attributes=describe):
            grown.close()
            return
