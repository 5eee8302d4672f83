"""The list of members of an ensemble, and warm starts that add members to it."""

from __future__ import annotations

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook.tree.members import MemberSum, PageReprMixin


class MemberList(PageReprMixin):
    """Lets an ensemble be read as the list of its members, and be kept in a file.

    What a model file keeps (:mod:`sklearn_textbook.io`) are the parameters, the
    columns, the classes, the trees, and what ``_kept`` lists.
    """

    #: Tuple of :class:`~sklearn_textbook._contract.kept.Kept`.
    _kept = ()

    def __len__(self):
        """Return the number of members."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return a member."""
        return self.estimators_[index]

    def __iter__(self):
        """Iterate over the members."""
        return iter(self.estimators_)

    # ---------------------------------------------------------------- model files
    def _get_reader(self):
        """Return a tree estimator with the columns and classes; None if there is none.

        The parameters of members are written where they differ from its own.
        """
        return self._list_members()[0]

    def _list_members(self):
        """List the members, each of which has one tree."""
        return list(self.estimators_)

    def _list_columns(self):
        """List the columns of each member; None: all of them."""
        return [None] * len(self._list_members())

    def _sum_members(self, **others) -> MemberSum:
        """Describe a sum over the members."""
        return MemberSum(
            self._list_members(), self._get_reader(), self._list_columns(), **others
        )

    def _list_member_classes(self, classes):
        """List the classes of each output of a member, from those of the ensemble."""
        return classes

    def _list_kept(self):
        """List the attributes of ``_kept`` that are set."""
        names = (kept.name for kept in self._kept)
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def _restore(self, reader, members, columns, kept):
        """Set the fitted attributes again, but for those of columns and classes.

        Parameters
        ----------
        reader : tree estimator
            As that of ``_get_reader``, without a tree.
        members : list of tree estimator
            The members.
        columns : list of ndarray of int, or None
            As those of ``_list_columns``.
        kept : dict of str to object
            What ``_list_kept`` returned, checked against ``_kept``.

        Raises
        ------
        ValueError
            If these do not belong together.
        """
        self.estimators_ = members
        for name, value in kept.items():
            setattr(self, name, value)


def count_lacking(n_estimators, n_members):
    """Count the members that a fit has to add.

    Parameters
    ----------
    n_estimators : int
        Requested number of members.
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
    warn_caller(
        "Warm-start fitting without increasing n_estimators does not fit new trees.",
        UserWarning,
    )


def yield_until_stopped(grown, context, name, hooks, describe):
    """Yield new members, each a task of the callbacks, until a callback stops the fit.

    Parameters
    ----------
    grown : generator of estimator
        The members.
    context : CallbackContext
        The task of the ensemble.
    name : str
        What a member's task is called.
    hooks : dict
        Arguments of the callbacks: the estimator, X, y and metadata.
    describe : callable
        Returns the fitted attributes of the ensemble with the members yielded so far.

    Yields
    ------
    member : estimator
        Is to be in the ensemble before the next one is taken.
    """
    for member in grown:
        subcontext = context.subcontext(task_name=name)
        subcontext.call_on_fit_task_begin(**hooks)
        yield member
        if subcontext.call_on_fit_task_end(**hooks, reconstruction_attributes=describe):
            grown.close()
            return
