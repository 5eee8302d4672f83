"""rpart as an oracle: many tables, grown by one process of R.

rpart numbers its nodes 1, then 2i (left) and 2i + 1 (right), and sends the group
with the smaller mean left. Here its trees are read back as they are printed; which of
our children is its left one is found while two trees are compared.
"""

import csv
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("rpart_oracle.R")


@dataclass
class Table:
    """A table of coded columns, and how rpart shall grow it."""

    name: str
    method: str  # "class" or "anova"
    source: str = "file"  # or a data set of R and its response, "iris:Species"
    columns: list = field(default_factory=list)  # lists of numbers, codes or None
    kinds: list = field(default_factory=list)  # "numeric", "ordinal", "nominal"
    n_levels: list = field(default_factory=list)
    y: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    n_classes: int = 0
    new_rows: list = field(default_factory=list)
    split: str = "gini"  # or "information"
    loss: list | None = None  # costs of errors, a row for each true class
    minsplit: int = 20
    minbucket: int = 7
    maxdepth: int = 30
    # Row i is left out by the tree of fold i % n_folds; 0: no cp table.
    n_folds: int = 0
    # Lines of CP, nsplit, rel error, xerror and xstd: filled in.
    cp_table: list = field(default_factory=list)


@cache
def require_rpart():
    """Skip the test where R or its package rpart is missing."""
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed (Debian: r-base-core)")
    probe = ["Rscript", "--vanilla", "-e", "library(rpart)"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("the R package rpart is not installed (Debian: r-cran-rpart)")


def grow_with_rpart(tables, directory):
    """Grow all tables; return one list of nodes per table.

    Tables that come from R are filled in, and the cp table (of cp = 0) of those with
    folds; the trees are those of cp = -1. A node is a dict: ``n``, ``weight``, ``risk``
    and, unless it is a leaf, ``split`` and ``surrogates``; the trees are dicts from
    rpart's node numbers, with the predictions for the new rows under "predicted".
    """
    settings = [
        "name",
        "source",
        "method",
        "split",
        "minsplit",
        "minbucket",
        "maxdepth",
        "n_folds",
    ]
    lines = [[getattr(table, name) for name in settings] for table in tables]
    write_csv(directory / "tables.csv", [settings, *lines])
    for table in tables:
        if table.source == "file":
            write_table(table, directory)
    subprocess.run(["Rscript", "--vanilla", str(SCRIPT), str(directory)], check=True)
    for table in tables:
        if table.source != "file":
            read_table(table, directory)
        if table.n_folds:
            table.cp_table = read_numbers(directory / f"{table.name}.cp_table.csv")
    return [read_tree(table, directory) for table in tables]


def write_csv(path, lines):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)


def read_numbers(path):
    """The lines of a file of numbers; None where R has NA."""
    with path.open(newline="") as file:
        return [
            [None if cell in {"NA", "NaN"} else float(cell) for cell in line]
            for line in csv.reader(file)
        ]


def write_table(table, directory):
    classes = ("nominal", table.n_classes) if table.n_classes else ("numeric", 0)
    kinds = list(zip(table.kinds, table.n_levels, strict=True))
    header = ("kind", "n_levels")
    write_csv(directory / f"{table.name}.kinds.csv", [header, *kinds, classes])
    cells = [*table.columns, table.y, table.weights]
    for name, lines in [("", zip(*cells, strict=True)), (".new", table.new_rows)]:
        coded = [["NA" if cell is None else cell for cell in line] for line in lines]
        write_csv(directory / f"{table.name}{name}.csv", coded)


def read_table(table, directory):
    """Fill in a table that R has exported."""
    with (directory / f"{table.name}.kinds.csv").open(newline="") as file:
        kinds = [(line["kind"], int(line["n_levels"])) for line in csv.DictReader(file)]
    *columns, y, weights = zip(
        *read_numbers(directory / f"{table.name}.csv"), strict=True
    )
    table.columns = [list(column) for column in columns]
    table.y, table.weights = list(y), list(weights)
    table.kinds = [kind for kind, _ in kinds[:-1]]
    table.n_levels = [n_levels for _, n_levels in kinds[:-1]]
    table.n_classes = kinds[-1][1] if table.method == "class" else 0
    table.new_rows = read_numbers(directory / f"{table.name}.new.csv")


def read_tree(table, directory):
    """rpart's frame, splits and csplit of one table, put together."""
    frame, splits, csplit, predicted = (
        read_numbers(directory / f"{table.name}.{what}.csv")
        for what in ("frame", "splits", "csplit", "predicted")
    )
    tree, remaining = {"predicted": predicted}, iter(splits)
    for number, variable, n, weight, risk, n_surrogates in frame:
        node = {"n": n, "weight": weight, "risk": risk, "split": None}
        if variable >= 0:
            node["split"] = read_split(next(remaining), table, csplit)
            node["surrogates"] = [
                read_split(next(remaining), table, csplit)
                for _ in range(int(n_surrogates))
            ]
        tree[int(number)] = node
    return tree


def read_split(line, table, csplit):
    """One line of rpart's splits, primary or surrogate.

    ``left`` and ``right`` are sets of level codes for nominal and ordinal columns;
    for numbers ``threshold`` and ``low`` ("left" or "right") say the same.
    """
    column, count, n_categories, improve, index, adjusted = line
    column = int(column)
    split = {
        "column": column,
        "count": count,
        "improve": improve,
        "adjusted": adjusted,
        "threshold": None,
    }
    if table.kinds[column] == "numeric":
        split["threshold"] = index
        split["low"] = "left" if n_categories < 0 else "right"
    else:
        directions = csplit[int(index) - 1][: table.n_levels[column]]
        split["left"] = {code for code, side in enumerate(directions) if side == 1}
        split["right"] = {code for code, side in enumerate(directions) if side == 3}
    return split
