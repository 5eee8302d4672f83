"""What surrounds ``fit``: restoring after an error, and callbacks."""

from __future__ import annotations

import functools
from typing import Any, cast

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.types import Method


def all_or_nothing(fit: Method) -> Method:
    """Let a method of fitting succeed, or leave the estimator as it was before.

    Decorator of ``fit``, ``partial_fit`` and other methods that set fitted attributes.
    After an error or an interruption, all attributes are those of before: a fitted
    estimator predicts as before, any other is not fitted. Methods replace the values
    of attributes and do not change them in place.

    It is the outermost decorator, so that callbacks end before the attributes return.
    """

    @functools.wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        _require_whole_table(self, args[0] if args else kwargs.get("X"))
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return cast(Method, fit_or_restore)


def _require_whole_table(estimator, X) -> None:
    """Raise TypeError for a table in blocks, unless ``_fits_blocks`` is true."""
    if isinstance(X, BlockSource) and not getattr(estimator, "_fits_blocks", False):
        raise TypeError(
            f"{type(estimator).__name__} cannot be fitted to {X._describe()}, which is "
            "read in blocks; GradientBoostingClassifier and GradientBoostingRegressor "
            "can. Read the table, or a part of it, with io.read_table."
        )


try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
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

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Of estimators whose fit would tell callbacks about its tasks."""

        def _init_callback_context(self, **options) -> _NoContext:
            return _NoContext()

    def _with_callbacks(fit):
        return fit


def with_callbacks(fit: Method) -> Method:
    """Let a ``fit`` end the context of its callbacks, if there are any."""
    return _with_callbacks(fit)
