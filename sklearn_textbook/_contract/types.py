"""Types of tables, and of methods that a decorator wraps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import sparray, spmatrix

#: A table: numpy's type of arrays has no sparse matrix, and no None in a list.
MatrixLike: TypeAlias = "ArrayLike | spmatrix | sparray | Sequence[Sequence[Any]]"

#: A decorator of it returns the same type.
Method = TypeVar("Method", bound=Callable[..., Any])
