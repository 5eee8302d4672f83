"""Weka's J48 as an oracle: many trees, grown by one process of Java."""

import atexit
import gzip
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.io import read_table, write_arff
from tests.differential.j48_text import TreePrinter
from tests.reference.cart_tree import Column
from tests.reference.cases import make_frame

#: Where Debian's package weka has its library and its example tables.
LIBRARY = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))
EXAMPLES = Path(os.environ.get("WEKA_EXAMPLES", "/usr/share/doc/weka/examples"))

SPLIT_OPTIONS = {"multiway": [], "one_vs_rest": ["-B"]}


@dataclass
class Table:
    """A table in the reference's form, and the file from which J48 reads it."""

    path: Path
    frame: pd.DataFrame  # as our estimators read it, without the class
    columns: list  # of Column
    y: list  # class numbers
    column_names: list
    level_names: list  # one list per column, empty for numbers
    class_names: list

    def make_printer(self, settings):
        """What prints trees over this table as J48 does."""
        return TreePrinter(
            self.column_names,
            self.level_names,
            self.class_names,
            binary=settings.get("categorical_split") == "one_vs_rest",
        )


@dataclass
class J48Tree:
    """What J48 says of a tree and of the rows it was grown from."""

    lines: list = field(repr=False)  # the printed tree, without its head and foot
    n_leaves: int
    size: int
    predicted: np.ndarray  # class numbers
    shares: np.ndarray  # class probabilities


@cache
def require_weka():
    """Skip the test where there is no Java compiler or no Weka."""
    if shutil.which("java") is None:
        pytest.skip("java is not installed (Debian: default-jdk-headless)")
    modules = subprocess.run(
        ["java", "--list-modules"], capture_output=True, text=True, check=False
    )
    if "jdk.compiler" not in modules.stdout:
        pytest.skip("java has no compiler (Debian: default-jdk-headless)")
    if not LIBRARY.exists():
        pytest.skip(f"Weka is not installed: no {LIBRARY} (Debian: weka)")


@cache
def _compile(oracle):
    """Compile a program to a folder: that takes longer than most of its runs."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiler = ("-m", "jdk.compiler/com.sun.tools.javac.Main", "-cp", LIBRARY)
    source = Path(__file__).with_name(f"{oracle}.java")
    _run_java(*compiler, "-proc:none", "-d", folder, source)
    return folder


def _run_java(*arguments):
    java = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    done = subprocess.run(
        [*java, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"Java failed:\n{done.stderr}")


def run_oracle(oracle, *arguments):
    """Run a Java program of this folder, with Weka.

    Parameters
    ----------
    oracle : str
        Its class, and its file without the suffix.
    *arguments : path-like
        Its arguments.
    """
    search_path = os.pathsep.join([str(LIBRARY), _compile(oracle)])
    _run_java("-cp", search_path, oracle, *arguments)


def grow_with_j48(runs, directory):
    """Grow a tree for every (table, options); return a list of J48Tree."""
    questions, answers = directory / "runs.txt", directory / "answers.txt"
    questions.write_text(
        "".join(f"{table.path}\t{options}\n" for table, options in runs)
    )
    run_oracle("J48Oracle", questions, answers)
    with answers.open() as file:
        return [read_tree(file) for _ in runs]


def read_tree(file):
    """The next tree of the oracle's answers."""
    n_leaves, size, n_lines, n_rows = map(int, next(file).split())
    text = [next(file).rstrip("\n") for _ in range(n_lines)]
    rows = [next(file).split() for _ in range(n_rows)]
    first = next(k for k, line in enumerate(text) if line.startswith("---")) + 1
    last = next(k for k, line in enumerate(text) if line.startswith("Number of Leaves"))
    return J48Tree(
        lines=[line for line in text[first:last] if line],
        n_leaves=n_leaves,
        size=size,
        predicted=np.array([int(row[0]) for row in rows]),
        shares=np.array([[float(share) for share in row[1:]] for row in rows]),
    )


def find_example(name):
    """The path of one of Weka's example tables, or None."""
    paths = [EXAMPLES / f"{name}.arff", EXAMPLES / f"{name}.arff.gz"]
    return next((path for path in paths if path.exists()), None)


def read_example(path, directory):
    """An example table; its last column is the class."""
    frame = read_table(path).frame.to_pandas()
    if path.suffix == ".gz":
        packed, path = path, directory / path.stem
        path.write_bytes(gzip.decompress(packed.read_bytes()))
    columns, level_names = [], []
    for name in frame.columns:
        series = frame[name]
        if isinstance(series.dtype, pd.CategoricalDtype):
            levels = series.cat.categories.tolist()
            values = [None if code < 0 else code for code in series.cat.codes.tolist()]
            columns.append(Column(values, "nominal", len(levels)))
        else:
            levels = []
            values = [None if v != v else float(v) for v in series.tolist()]
            columns.append(Column(values))
        level_names.append(levels)
    return Table(
        path,
        frame.iloc[:, :-1],
        columns[:-1],
        columns[-1].values,
        frame.columns.tolist()[:-1],
        level_names[:-1],
        level_names[-1],
    )


def write_table(path, columns, y, n_classes):
    """Write a table for J48, which takes ordinal columns for numbers."""
    numbers_for_ordinal = [
        replace(column, kind="numeric") if column.kind == "ordinal" else column
        for column in columns
    ]
    frame = make_frame(numbers_for_ordinal)
    column_names = frame.columns.tolist()
    level_names = [
        frame[name].cat.categories.tolist() if column.kind == "nominal" else []
        for name, column in zip(column_names, columns, strict=True)
    ]
    class_names = [f"class {label}" for label in range(n_classes)]
    frame["class"] = pd.Categorical.from_codes(y, class_names)
    write_arff(frame, path)
    return Table(
        path, make_frame(columns), columns, y, column_names, level_names, class_names
    )


def write_options(settings):
    """J48's options for parameters of ours that it has as well."""
    settings = dict(settings)
    options = [f"-M {settings.pop('min_samples_leaf', 2)}"]
    options += SPLIT_OPTIONS[settings.pop("categorical_split", "multiway")]
    options += ["-A"] * settings.pop("laplace", False)
    confidence = settings.pop("confidence", 0.25)
    subtree_raising = settings.pop("subtree_raising", True)
    if settings.pop("pruning", "error_based") is None:
        options.append("-U")
    else:
        options += [f"-C {confidence}"] + ["-S"] * (not subtree_raising)
    assert not settings, f"J48 has no {list(settings)}"
    return " ".join(options)
