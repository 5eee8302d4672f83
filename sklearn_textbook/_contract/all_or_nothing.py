"""Fits that fail leave the estimator as it was."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def all_or_nothing(fit: Callable) -> Callable:
    """Let a method of fitting succeed, or leave the estimator as it was before.

    Decorator of ``fit``, ``partial_fit`` and other methods that set fitted attributes.
    After an error or an interruption, all attributes are those of before: a fitted
    estimator predicts as before, any other is not fitted. Methods replace the values
    of attributes and do not change them in place.

    It is the outermost decorator, so that callbacks end before the attributes return.
    """

    @functools.wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return fit_or_restore
