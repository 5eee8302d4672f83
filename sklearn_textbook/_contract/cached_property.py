"""A property that is computed on first use, without a lock."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - as in functools
        """``functools.cached_property`` as it is since Python 3.12.

        Before, all objects of a class share a lock that is held during the computation:
        they wait for each other, and a process forked meanwhile waits forever. Without
        it, threads may compute the value of one object twice; all get the same result.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            values = instance.__dict__
            if self.attrname in values:
                return values[self.attrname]
            return values.setdefault(self.attrname, self.func(instance))
