"""Iterations of a solver as tasks of the callbacks."""

from __future__ import annotations


class IterationTasks:
    """One task for each iteration; the last one is empty.

    Parameters
    ----------
    context : CallbackContext
        The task of the fit.
    hooks : dict
        Arguments of the callbacks: the estimator, X, y and metadata.
    solver : str
        Name of the solver.
    list_fitted : callable
        Returns the fitted attributes for given estimates.
    """

    def __init__(self, context, hooks, solver, list_fitted):
        self.context = context
        self.hooks = hooks
        self.solver = solver
        self.list_fitted = list_fitted
        self.task = None
        self.latest = None

    def begin(self):
        """Begin the next iteration."""
        self.task = self.context.subcontext(task_name=f"{self.solver}-iter")
        self.task.call_on_fit_task_begin(
            **self.hooks, reconstruction_attributes=self.latest
        )

    def end_one(self, find_estimates):
        """End an iteration and begin the next one; return whether to stop.

        Parameters
        ----------
        find_estimates : callable
            Returns the estimates of the iteration.

        Returns
        -------
        is_stopped : bool
            Whether a callback ends the fit.
        """
        self.latest = lambda: self.list_fitted(find_estimates())
        is_stopped = self.task.call_on_fit_task_end(
            **self.hooks, reconstruction_attributes=self.latest
        )
        self.begin()
        return is_stopped

    def end(self):
        """End the empty task after the last iteration."""
        self.task.call_on_fit_task_end(**self.hooks)
