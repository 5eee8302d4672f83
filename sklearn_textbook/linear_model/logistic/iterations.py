"""Iterations of a solver as tasks of the callbacks."""

from __future__ import annotations

from collections.abc import Callable


class IterationTasks:
    """One task for each iteration; the last one is empty."""

    def __init__(
        self, context, hooks: dict, solver: str, list_fitted: Callable
    ) -> None:
        self.context = context
        self.hooks = hooks
        self.solver = solver
        self.list_fitted = list_fitted
        self.task = None
        self.latest = None

    def begin(self) -> None:
        """Begin the next iteration."""
        self.task = self.context.subcontext(task_name=f"{self.solver}-iter")
        self.task.call_on_fit_task_begin(
            **self.hooks, reconstruction_attributes=self.latest
        )

    def end_one(self, find_estimates: Callable) -> bool:
        """End an iteration and begin the next one; return whether to stop."""
        self.latest = lambda: self.list_fitted(find_estimates())
        is_stopped = self.task.call_on_fit_task_end(
            **self.hooks, reconstruction_attributes=self.latest
        )
        self.begin()
        return is_stopped

    def end(self) -> None:
        """End the empty task after the last iteration."""
        self.task.call_on_fit_task_end(**self.hooks)
