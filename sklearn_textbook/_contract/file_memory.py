"""Arrays in temporary files, for tables that do not fit into memory."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sklearn_textbook._contract._file_memory import (
    MemoryLimit,
    get_failure,
    set_array_handler,
    set_files,
)

#: Bytes from which on memory is in a file.
SMALLEST_PIECE = 8 * 2**20
#: Bytes of memory that work on large arrays may use if there is no limit.
DEFAULT_LIMIT = 2**30
# 0: large arrays are not in files.
_limit_in_files: ContextVar[int] = ContextVar("limit_in_files", default=0)


def is_in_files() -> bool:
    """Return whether large memory is to be in files here."""
    return limit_in_files() > 0


def limit_in_files() -> int:
    """Return how much memory may be used here if large memory is to be in files.

    In bytes; 0 if it is not.
    """
    return _limit_in_files.get()


@contextmanager
def arrays_in_files(
    limit: int | None = None, smallest: int | None = None
) -> Iterator[None]:
    """Let large arrays that are made here be in temporary files.

    Holds for this thread, and for functions run in a copy of its context. The files
    have no names, and end with the arrays.

    Parameters
    ----------
    limit : int, default=None
        Bytes that are added to the memory of the process, from which on the pages of
        the files are given back; a quarter of it may be such pages in any case. None:
        they stay there as long as the system lets them.
    smallest : int, default=None
        Bytes from which on an array is large. None: 8 MiB.

    Raises
    ------
    OSError
        If the disk is full.
    """
    set_files(
        os.fsencode(tempfile.gettempdir()),
        SMALLEST_PIECE if smallest is None else smallest,
    )
    watch = None if limit is None else MemoryLimit(limit)
    before = set_array_handler()
    token = _limit_in_files.set(DEFAULT_LIMIT if limit is None else max(limit, 1))
    try:
        yield
    except MemoryError:
        failure = get_failure()
        if failure not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise
        raise OSError(
            failure,
            f"{os.strerror(failure)}: the arrays of the fit do not fit into the folder "
            "of temporary files; let TMPDIR name a folder on a larger disk",
            tempfile.gettempdir(),
        ) from None
    finally:
        if watch is not None:
            watch.close()
        _limit_in_files.reset(token)
        set_array_handler(before)
