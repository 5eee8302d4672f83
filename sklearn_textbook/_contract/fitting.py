"""What surrounds ``fit``: restoring after an error, and callbacks."""

from __future__ import annotations

import functools
import inspect
from contextlib import closing, nullcontext
from typing import Any, cast

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.file_memory import arrays_in_files
from sklearn_textbook._contract.tables import open_lazy_table
from sklearn_textbook._contract.types import Method


def all_or_nothing(fit: Method) -> Method:
    """Let a method of fitting succeed, or leave the estimator as it was before.

    Decorator of ``fit``, ``partial_fit`` and other methods that set fitted attributes.
    After an error or an interruption, all attributes are those of before: a fitted
    estimator predicts as before, any other is not fitted. Methods replace the values
    of attributes and do not change them in place.

    It is the outermost decorator, so that callbacks end before the attributes return.
    A lazy table becomes a table in blocks where the estimator is fitted to these.
    """

    @functools.wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            if fits_blocks(type(self)):
                args = (*map(open_lazy_table, args[:1]), *args[1:])
                for name in {"X", "X_val"} & kwargs.keys():
                    kwargs[name] = open_lazy_table(kwargs[name])
            if isinstance(args[0] if args else kwargs.get("X"), BlockSource):
                return _fit_to_blocks(fit, self, *args, **kwargs)
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return cast(Method, fit_or_restore)


def fits_blocks(kind: type) -> bool:
    """Return whether estimators of a class are fitted to tables in blocks."""
    return getattr(kind, "_fits_blocks", False) or hasattr(kind, "_store_blocks")


def _fit_to_blocks(fit, estimator, X, *args, **kwargs):
    """Fit to a table in blocks.

    Some estimators read blocks themselves (``_fits_blocks``). Others are fitted as they
    are in memory to what their method ``_store_blocks`` returns for the table, the
    target and the weights, while large arrays are in files.
    """
    if getattr(estimator, "_fits_blocks", False):
        return fit(estimator, X, *args, **kwargs)
    store = getattr(estimator, "_store_blocks", None)
    if store is None:
        raise TypeError(
            f"{type(estimator).__name__} cannot be fitted to {X._describe()}, which is "
            "read in blocks. Trees, bagging, forests, boosting, linear models without "
            "an L1 penalty, decompositions and discriminant analysis can. Read the "
            "table, or a part of it, with io.read_table."
        )
    call = inspect.signature(fit).bind(estimator, X, *args, **kwargs)
    given = call.arguments
    with arrays_in_files(X.memory_limit):
        given["X"], given["y"], weight = store(
            X, given.get("y"), given.get("sample_weight")
        )
        if weight is not None:
            given["sample_weight"] = weight
        with closing(given["X"]) if hasattr(given["X"], "close") else nullcontext():
            return fit(*call.args, **call.kwargs)


try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:

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
