"""Count the instructions of calls, in the processor's user mode.

Valgrind's tool callgrind counts them: the same for the same program and data but for a
ten-thousandth (two thousandths where a thread waits for another), however busy the
machine is. :func:`count_instructions` starts
``python -m benchmarks.callgrind DIRECTORY`` under it, which imports modules, and then
makes every call in a process of its own, twice: a first time that does not count, for
more is loaded in it, and a second time that does.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import mmap
import os
import pickle
import platform
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

MODULES, CALL, COUNTS = "modules.json", "call{}.pickle", "callgrind.out"
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


def _do_nothing():
    """What is counted is the call and what is around it."""


def _count_call(directory, number):
    """Count one call in a process that ends with it; this runs under valgrind."""
    with open(directory / CALL.format(number), "rb") as file:
        call = pickle.load(file)
    requests = Requests()
    gc.disable()
    # A thread that waits for its turn asks for it again and again, by the clock.
    sys.setswitchinterval(1_000)
    call()
    requests.count(call)


def _fork_calls(directory):
    """Count the calls of a directory; print the numbers of the processes."""
    for name in json.loads((directory / MODULES).read_text()):
        importlib.import_module(name)
    processes = []
    for number in range(len(list(directory.glob(CALL.format("*"))))):
        process = os.fork()
        if process == 0:
            status = 1
            try:
                _count_call(directory, number)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(process, 0)
        if status:
            sys.exit(f"call {number} failed")
        processes.append(process)
    print(json.dumps(processes))


def _read_total(path):
    """Instructions in one of callgrind's files."""
    if path.exists():
        for line in path.read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "totals":
                return int(value)
    raise CounterUnavailableError(f"callgrind has not written a total to {path.name}")


def _run_counter(valgrind, directory):
    """Start the process that counts; numbers of those that it has started."""
    command = [
        *(valgrind, "--tool=callgrind", "--instr-atstart=no"),
        f"--callgrind-out-file={directory / COUNTS}.%p",
        *(sys.executable, "-m", "benchmarks.callgrind", str(directory)),
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
    return json.loads(done.stdout.splitlines()[-1])


def count_instructions(calls, modules=()):
    """Count the instructions of calls.

    Parameters
    ----------
    calls : iterable of callable
        Without arguments; they are pickled.
    modules : iterable of str, default=()
        Names of modules that are imported once for all calls.

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
        (directory / MODULES).write_text(json.dumps(list(modules)))
        for number, call in enumerate((_do_nothing, *calls)):
            (directory / CALL.format(number)).write_bytes(pickle.dumps(call))
        processes = _run_counter(valgrind, directory)
        nothing, *counts = [
            _read_total(directory / f"{COUNTS}.{process}.1") for process in processes
        ]
    return [count - nothing for count in counts]


if __name__ == "__main__":
    _fork_calls(Path(sys.argv[1]))
