"""Arrays in temporary files, for tables that do not fit into memory."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from sklearn_textbook._contract._file_memory import (
    drop_pages,
    get_failure,
    set_array_handler,
    set_files,
)

#: Bytes from which on memory is in a file. Blocks of rows are smaller.
SMALLEST_PIECE = 32 * 2**20
#: Seconds between two looks at the memory in use.
INTERVAL = 0.02
#: Of a process on Linux: pages in all, resident, and resident ones of files.
STATM = Path("/proc/self/statm")

_is_in_files: ContextVar[bool] = ContextVar("is_in_files", default=False)


def is_in_files() -> bool:
    """Return whether large memory is to be in files here."""
    return _is_in_files.get()


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
        Bytes of pages of files that may be in memory; where there are more, all are
        given back. None: as many as the system leaves there.
    smallest : int, default=None
        Bytes from which on an array is large. None: 32 MiB.

    Raises
    ------
    OSError
        If the disk is full.
    """
    set_files(
        os.fsencode(tempfile.gettempdir()),
        SMALLEST_PIECE if smallest is None else smallest,
    )
    before = set_array_handler()
    token = _is_in_files.set(True)
    stop = threading.Event()
    if limit is not None and STATM.exists():
        threading.Thread(target=_watch, args=(limit, stop), daemon=True).start()
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
        stop.set()
        _is_in_files.reset(token)
        set_array_handler(before)


def _watch(limit: int, stop: threading.Event) -> None:
    """Give pages of files back whenever more than the limit are in memory."""
    page = os.sysconf("SC_PAGE_SIZE")
    others = int(STATM.read_text().split()[2])  # of programs and libraries
    while not stop.wait(INTERVAL):
        if (int(STATM.read_text().split()[2]) - others) * page > limit:
            drop_pages()
