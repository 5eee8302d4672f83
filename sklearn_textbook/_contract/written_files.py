"""Writing files whole or not at all, without replacing what a path is."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

_FOLDER = "is a folder; give the path of a file"
_CLOSED_FOLDER = "its folder {} allows no new file, which takes its place when written"
_NO_FILE = "is neither a file nor a pipe or character device"


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file whole, or leave what is there as it is."""
    write_files({path: content})


def write_files(contents: Mapping[str | os.PathLike[str], str | bytes]) -> None:
    """Write several files; none is replaced before all are written."""
    with ExitStack() as unfinished:
        finished = []
        for path, content in contents.items():
            data = content.encode() if isinstance(content, str) else content
            state = check_writable(path)
            if state is not None and _is_written_into(state):
                _write_into(path, state, data)
                continue
            target = _find_target(path)
            temporary = _write_beside(target, state, data, unfinished)
            finished.append((temporary, target))
        for temporary, target in finished:
            temporary.replace(target)


def check_writable(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Raise OSError for a path at which no file can be written."""
    folder = _find_target(path).parent
    try:
        state = os.stat(path)
    except FileNotFoundError:
        if not folder.is_dir():
            raise
        if not os.access(folder, os.W_OK):
            raise _make_error(errno.EACCES, path) from None
        return None
    if stat.S_ISDIR(state.st_mode):
        raise _make_error(errno.EISDIR, path, _FOLDER)
    if not (stat.S_ISREG(state.st_mode) or _is_written_into(state)):
        raise _make_error(errno.EINVAL, path, _NO_FILE)
    if not os.access(path, os.W_OK):
        raise _make_error(errno.EACCES, path)
    if not _is_written_into(state) and not os.access(folder, os.W_OK):
        raise _make_error(errno.EACCES, path, _CLOSED_FOLDER.format(folder))
    return state


def is_same_file(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one regular file, which may not exist yet."""
    try:
        state = os.stat(path)
        is_file = stat.S_ISREG(state.st_mode)
        return is_file and os.path.samestat(state, os.stat(other))
    except OSError:
        return _find_target(path) == _find_target(other)


def _find_target(path) -> Path:
    return Path(os.path.realpath(os.fsdecode(path)))


def _make_error(number, path, reason=None) -> OSError:
    return OSError(number, reason or os.strerror(number), os.fsdecode(path))


def _is_written_into(state) -> bool:
    mode = state.st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or _find_stream(state) is not None


def _find_stream(state):
    """Find the standard stream that is redirected to a file, if there is one."""
    for stream in (sys.stdout, sys.stderr):
        # Streams that are replaced or closed have no descriptor.
        with suppress(OSError, ValueError, AttributeError):
            if os.path.samestat(os.fstat(stream.fileno()), state):
                return stream
    return None


def _write_into(path, state, data) -> None:
    stream = _find_stream(state)
    if stream is not None:
        # What was printed before comes first.
        stream.flush()
        number = os.dup(stream.fileno())
    else:
        number = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
    with open(number, "wb") as file:
        file.write(data)


def _write_beside(target, state, data, unfinished) -> Path:
    """Write to a new file in the folder of the target, with the same permissions."""
    # The name is unique also among threads, and short: that of the target may have the
    # greatest length that is possible.
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    mode = 0o666 if state is None else 0o600
    unfinished.callback(temporary.unlink, missing_ok=True)
    with open(temporary, "xb", opener=partial(os.open, mode=mode)) as file:
        file.write(data)
        file.flush()
        # Some file systems notice only now that they are full.
        os.fsync(file.fileno())
    if state is not None:
        if hasattr(os, "chown"):
            # Only root can keep another owner; the group may be kept by its members.
            with suppress(PermissionError):
                os.chown(temporary, -1, state.st_gid)
            with suppress(PermissionError):
                os.chown(temporary, state.st_uid, -1)
        temporary.chmod(stat.S_IMODE(state.st_mode))
    return temporary
