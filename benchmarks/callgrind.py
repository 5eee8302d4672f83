"""Count the instructions of one call, of the processor's user mode and one thread.

Valgrind's tool callgrind counts them: the same for the same program and data but for
some millionths, however busy the machine is. :func:`count_instructions` starts
``python -m benchmarks.callgrind DIRECTORY`` under it, which reads ``calls.pickle`` and
makes every call twice: a first one that does not count, because modules are loaded in
it, and one that does. This module imports little, for all is slow there.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import pickle
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS, COUNTS = "calls.pickle", "callgrind.out"
#: What valgrind.h and callgrind.h call RUNNING_ON_VALGRIND, ZERO_STATS, ...
RUNNING = 0x1001
_CALLGRIND = ord("C") << 24 | ord("T") << 16
DUMP, ZERO, START, STOP = (_CALLGRIND + number for number in (0, 1, 4, 5))
#: The request of valgrind.h for x86-64 as a function of the arguments' address: four
#: rotations of a register that together do nothing, which valgrind recognises.
REQUEST_CODE = bytes.fromhex(
    "4889f8"  # mov rax, rdi
    "31d2"  # xor edx, edx
    "48c1c703 48c1c70d 48c1c73d 48c1c733"  # rol rdi, 3, 13, 61 and 51
    "4887db"  # xchg rbx, rbx
    "4889d0"  # mov rax, rdx
    "c3"  # ret
)
#: One thread, and sets in the same order every time.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}


class CounterUnavailableError(RuntimeError):
    """Instructions cannot be counted on this machine."""


def find_valgrind():
    """The path of valgrind; CounterUnavailableError where it cannot be used."""
    if platform.machine() not in ("x86_64", "AMD64") or sys.platform != "linux":
        raise CounterUnavailableError(
            "instructions are counted on Linux with an x86-64 processor only, not on "
            f"{sys.platform} with {platform.machine()}"
        )
    path = shutil.which("valgrind")
    if path is None:
        raise CounterUnavailableError(
            "instructions are counted by valgrind, which is not on the path: install "
            "it (Debian: apt install valgrind)"
        )
    return path


class Requests:
    """Requests to the valgrind that runs this process; without one, nothing happens."""

    def __init__(self):
        access = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        self._memory = mmap.mmap(-1, mmap.PAGESIZE, prot=access)
        self._memory.write(REQUEST_CODE)
        self._first = ctypes.c_char.from_buffer(self._memory)
        kind = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)
        self._function = kind(ctypes.addressof(self._first))

    def send(self, request):
        """Make a request without arguments; its answer, 0 without valgrind."""
        arguments = (ctypes.c_uint64 * 6)(request)
        return self._function(ctypes.addressof(arguments))

    def count(self, call):
        """Count one call, and write the number to the next file."""
        self.send(ZERO)
        self.send(START)
        call()
        self.send(STOP)
        self.send(DUMP)


def _count_calls(directory):
    """Count the calls of a directory; this runs under valgrind."""
    with open(Path(directory) / CALLS, "rb") as file:
        calls = pickle.load(file)
    requests = Requests()
    gc.disable()
    for call in (_do_nothing, *calls):
        call()
        requests.count(call)


def _do_nothing():
    """What is counted is the call and what is around it."""


def _read_total(path):
    """Instructions in one of callgrind's files."""
    for line in path.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "totals":
            return int(value)
    raise CounterUnavailableError(f"{path.name} of callgrind has no line of totals")


def count_instructions(calls):
    """Count the instructions of calls.

    Parameters
    ----------
    calls : list of callable
        Without arguments; they are pickled.

    Returns
    -------
    counts : list of int
        Instructions of each, when it is called a second time.

    Raises
    ------
    CounterUnavailableError
        If there is no valgrind, or it does not do what it should.
    RuntimeError
        If a call fails.
    """
    valgrind = find_valgrind()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / CALLS).write_bytes(pickle.dumps(calls))
        command = [
            *(valgrind, "--tool=callgrind", "--instr-atstart=no"),
            f"--callgrind-out-file={directory / COUNTS}",
            *(sys.executable, "-m", "benchmarks.callgrind", name),
        ]
        done = subprocess.run(
            command,
            cwd=Path(__file__).parent.parent,
            env=os.environ | ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"counting failed:\n{done.stderr[-4000:]}")
        paths = [
            directory / f"{COUNTS}.{number}" for number in range(1, len(calls) + 2)
        ]
        if not all(path.exists() for path in paths):
            raise CounterUnavailableError(
                f"valgrind wrote {sum(path.exists() for path in paths)} counts instead "
                f"of {len(paths)}:\n{done.stderr[-4000:]}"
            )
        nothing, *counts = map(_read_total, paths)
    return [count - nothing for count in counts]


if __name__ == "__main__":
    _count_calls(sys.argv[1])
