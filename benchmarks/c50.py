"""Quinlan's C5.0, run as a program; the time that it prints is what counts."""

from __future__ import annotations

import re
import shutil
import subprocess

from benchmarks.programs import Scratch, read_number, run_program
from benchmarks.tasks import C45, make_frame

PROGRAM = "c5.0"

#: Below the heading of its summary: the leaves and, of the training rows, the errors.
SUMMARY = r"Size +Errors\s+{}"


class C50Table(Scratch):
    """A task in files of names and data."""

    def __init__(self, task):
        from sklearn_textbook.io import write_c45

        super().__init__()
        self.stem = self.directory / "table"
        target = "target"
        write_c45(make_frame(task, target), self.stem, target=target, named_target=True)


class C50Tree:
    """C5.0 with its defaults: one tree, pruned.

    Its rules are near C4.5's but other ones, so its trees are smaller; and its time
    includes the reading of the table.
    """

    name = "c5.0"
    is_threaded = False
    limits_depth = False
    algorithms = (C45,)

    def find_version(self):
        """The release, None where the program is not at hand."""
        if shutil.which(PROGRAM) is None:
            return None
        help_text = subprocess.run(
            [PROGRAM, "-h"], capture_output=True, text=True, check=False
        ).stdout
        found = re.search(r"Release ([\d.]+\w*)", help_text)
        return found.group(1) if found else "of unknown release"

    def refusal(self, task):
        return None

    def criterion(self, task):
        return task.criterion

    def make_fit(self, task, n_threads, max_depth=None):
        if max_depth is not None:
            raise ValueError(f"{self.name} grows to no given depth")
        table = C50Table(task)
        command = [PROGRAM, "-f", str(table.stem)]
        return lambda: run_program(command, r"Time: ([\d.]+) secs", table)

    def training_score(self, model, task):
        """It tells how many rows it gets wrong, not which."""
        errors = read_number(SUMMARY.format(r"\d+ +(\d+)\("), model.output)
        return 1 - int(errors) / task.n_rows

    def count_leaves(self, model):
        return int(read_number(SUMMARY.format(r"(\d+) +\d+\("), model.output))
