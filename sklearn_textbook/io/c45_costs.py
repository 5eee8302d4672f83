"""The .costs file of C5.0: misclassification costs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from os import PathLike

import numpy as np

from sklearn_textbook.io.c45 import (
    NAMES_ENDING,
    find_beside,
    read_names,
    read_text,
    split_ending,
)
from sklearn_textbook.io.c45_syntax import read_word, strip_comments
from sklearn_textbook.io.naming import explain_unknown_name, shorten
from sklearn_textbook.io.table_file import TableFileError

_ENDING = ".costs"
_COST = re.compile(r"((?:\\.|[^\\,:])+),((?:\\.|[^\\,:])+):\s*([^\s:]+?)\.?")


def read_c45_costs(
    path: str | PathLike[str],
    classes: Sequence[str] | None = None,
    *,
    encoding: str | None = None,
) -> np.ndarray:
    r"""Read the misclassification costs of a .costs file.

    Each line has the form "predicted class, true class: cost".

    Parameters
    ----------
    path : str or path-like
        The file, or its path without the ending.
    classes : sequence of str, default=None
        The classes in the order of the rows and columns of the result. None: the order
        of the .names file in the same folder; note that ``classes_`` of an estimator
        are sorted.
    encoding : str, default=None
        Encoding of the files. None: UTF-8 or Chinese GB18030, as detected.

    Returns
    -------
    costs : ndarray of shape (n_classes, n_classes)
        ``costs[true, predicted]``: 0 for correct predictions, 1 where the file has no
        entry.

    Raises
    ------
    TableFileError
        If a line does not have this form, names an unknown class, or has a cost that is
        negative or not a number; the error gives the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_textbook.io import read_c45_costs
    >>> path = pathlib.Path(tempfile.mkdtemp(), "loan.costs")
    >>> _ = path.write_text("granted, refused: 10 | the bank pays\n")
    >>> read_c45_costs(path, classes=["granted", "refused"])
    array([[ 0.,  1.],
           [10.,  0.]])
    """
    path = str(path)
    stem, ending = split_ending(path)
    if ending != _ENDING:
        stem, path = path, find_beside(path, _ENDING) or path + _ENDING
    lines = read_text(path, encoding).decode().split("\n")
    classes = list(_find_classes(path, stem, encoding) if classes is None else classes)
    costs = 1.0 - np.eye(len(classes))
    for number, line in enumerate(lines, start=1):
        line = strip_comments(line).strip(" \t")
        if line:
            predicted, true, cost = _read_cost(line, classes, path, number)
            costs[true, predicted] = cost
    return costs


def _find_classes(path, stem, encoding):
    names = find_beside(stem, NAMES_ENDING)
    if names is None:
        raise TableFileError(
            "has no .names file in the same folder that lists the classes",
            path=path,
            remedy="give the classes",
        )
    parser = read_names(names, encoding)
    levels = next(a.levels for a in parser.attributes if a.name == parser.target)
    if not levels:
        raise TableFileError(
            "does not list the classes", path=names, remedy="give the classes"
        )
    return levels


def _read_cost(line, classes, path, number):
    """Return the predicted and the true class, as numbers, and the cost of a line."""
    match = _COST.fullmatch(line)
    if match is None:
        raise TableFileError(
            f"{shorten(line)!r} is not a cost",
            path=path,
            line=number,
            remedy="write predicted class, true class: cost",
        )
    names = [read_word(match[1]), read_word(match[2])]
    for name in names:
        if name not in classes:
            raise TableFileError(
                f"unknown class {name!r}",
                path=path,
                line=number,
                remedy=explain_unknown_name(name, classes),
            )
    try:
        cost = float(match[3])
    except ValueError:
        cost = math.nan
    if not 0 <= cost < math.inf or names[0] == names[1]:
        raise TableFileError(
            f"{match[3]!r} is not a cost of {names[0]!r} for {names[1]!r}",
            path=path,
            line=number,
            remedy="costs must be numbers >= 0, and correct predictions have none",
        )
    return classes.index(names[0]), classes.index(names[1]), cost
