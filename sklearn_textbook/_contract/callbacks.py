"""scikit-learn's callbacks, which it has from 1.9 on; before, a fit has none."""

from __future__ import annotations

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    from contextlib import nullcontext

    class _NoContext:
        """Of a fit without callbacks: nobody is told, nothing stops."""

        def subcontext(self, **task) -> _NoContext:
            return self

        def call_on_fit_task_begin(self, **hooks) -> None:
            pass

        def call_on_fit_task_end(self, **hooks) -> bool:
            return False

        def propagate_callback_context(self, member) -> nullcontext:
            return nullcontext()

    class CallbackSupportMixin:
        """Of estimators whose fit would tell callbacks about its tasks."""

        def _init_callback_context(self, **options) -> _NoContext:
            return _NoContext()

    def with_callbacks(fit):
        """Return the ``fit`` as it is."""
        return fit


__all__ = ["CallbackSupportMixin", "with_callbacks"]
