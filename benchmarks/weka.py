"""Weka's J48 and Id3, run as programs; their own build time is what counts."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.programs import Scratch, call_program, read_number, run_program
from benchmarks.tasks import C45, ID3, as_shares, make_frame

#: Where Debian's package weka has its library.
LIBRARY = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))

#: Much memory and one thread that clears it up: the fastest setting of Java here.
JAVA = ["java", "-Xmx4g", "-XX:+UseSerialGC", "-Duser.language=en"]

PREDICTED_CLASS = re.compile(r"^ *\d+ +\S+ +(\d+):", re.MULTILINE)


@cache
def _read_version(library):
    """Weka's version, from its archive, which is large."""
    with zipfile.ZipFile(library) as archive:
        version = archive.read("weka/core/version.txt").decode()
    return version.strip().replace("-", ".")


class WekaTable(Scratch):
    """A task in a file, and beside it the path of the tree."""

    def __init__(self, task):
        from sklearn_textbook.io import write_arff

        super().__init__()
        self.path = self.directory / "table.arff"
        self.model_path = self.path.with_suffix(".model")
        write_arff(make_frame(task), self.path)


class WekaTree:
    """What J48 and Id3 have in common."""

    is_threaded = False
    limits_depth = False
    learner: str

    def find_version(self):
        """Weka's version, None without Java or Weka."""
        if shutil.which("java") is None or not LIBRARY.exists():
            return None
        return _read_version(LIBRARY)

    def criterion(self, task):
        return task.criterion

    def _command(self, *arguments):
        return [*JAVA, "-cp", str(LIBRARY), self.learner, "-c", "last", *arguments]

    def make_fit(self, task, n_threads, max_depth=None):
        if max_depth is not None:
            raise ValueError(f"{self.name} grows to no given depth")
        table = WekaTable(task)
        paths = ["-t", str(table.path), "-d", str(table.model_path)]
        # Neither cross-validation; Weka's -v would leave out the time as well.
        command = self._command(*paths, "-no-cv")
        time_pattern = r"Time taken to build model: ([\d.]+) seconds"
        return lambda: run_program(command, time_pattern, table)

    def make_predict(self, model, task, n_threads):
        table = model.table
        paths = ["-l", str(table.model_path), "-T", str(table.path)]

        def predict():
            output = call_program(self._command(*paths, "-p", "0"))
            labels = np.array(PREDICTED_CLASS.findall(output), dtype=np.int64) - 1
            if len(labels) != task.n_rows:
                raise RuntimeError(f"{self.name} answered for {len(labels)} rows only")
            return as_shares(labels, task.n_classes)

        return predict


class J48Tree(WekaTree):
    """C4.5 as Weka has it, with its defaults: they are ours, too."""

    name = "j48"
    learner = "weka.classifiers.trees.J48"
    algorithms = (C45,)

    def refusal(self, task):
        return None

    def count_leaves(self, model):
        return int(read_number(r"Number of Leaves\s*:\s*(\d+)", model.output))

    def count_nodes(self, model):
        return int(read_number(r"Size of the tree\s*:\s*(\d+)", model.output))


class WekaId3Tree(WekaTree):
    """ID3 for tables of nominal columns without missing values."""

    name = "weka-id3"
    learner = "weka.classifiers.trees.Id3"
    algorithms = (ID3,)

    def refusal(self, task):
        frame = make_frame(task)
        if any(frame[name].dtype != "category" for name in frame):
            return "nominal columns only"
        return "no missing values" if frame.isna().to_numpy().any() else None

    def count_leaves(self, model):
        tree = model.output.split("Time taken", 1)[0]
        return len(re.findall(r" = .*: ", tree)) or 1
