"""Run tools that are programs, and read the times that they state themselves."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
import weakref
from dataclasses import dataclass, field
from pathlib import Path


class Scratch:
    """A directory for a program's files; it goes when nobody holds this any more."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)


@dataclass(frozen=True)
class ProgramRun:
    """What a program printed, and the time it says it needed.

    That time leaves out its start and, with Weka, the reading of the table, which
    the time of the whole call would not.
    """

    output: str = field(repr=False)
    own_seconds: float
    #: time of the whole call over its processor time
    waiting: float
    #: the files that it read and wrote
    table: Scratch | None = field(repr=False, default=None)

    @property
    def own_cpu_seconds(self):
        """The processor's share in its own time, if it is that of the whole call."""
        return self.own_seconds / self.waiting


def read_number(pattern, output):
    """The number that a program printed after something, as text."""
    found = re.search(pattern, output)
    if found is None:
        raise RuntimeError(f"nothing like {pattern!r} in the output:\n{output[-2000:]}")
    return found.group(1)


def call_program(command):
    """The output of a program; an error if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def _read_processor_seconds():
    spent = os.times()
    return spent.children_user + spent.children_system


def run_program(command, time_pattern, table=None):
    """Run a program that states its time in seconds after ``time_pattern``."""
    start, processor_start = time.perf_counter(), _read_processor_seconds()
    output = call_program(command)
    seconds = time.perf_counter() - start
    processor_seconds = _read_processor_seconds() - processor_start
    # Where the system does not count the processor's time of other programs, 0.
    waiting = seconds / processor_seconds if processor_seconds else 1.0
    return ProgramRun(output, float(read_number(time_pattern, output)), waiting, table)
