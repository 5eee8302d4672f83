"""Exit codes, and errors that end the command with one line."""

from __future__ import annotations

import re
from typing import NoReturn

import click

DONE = 0
PROGRAM_ERROR = 1
WRONG_USE = 2
TABLE_PROBLEM = 3
MODEL_PROBLEM = 4
FIT_PROBLEM = 5
INTERRUPTED = 130

EXIT_CODES = f"""Exit codes: {DONE} success, {PROGRAM_ERROR} internal error,
{WRONG_USE} wrong use of the command, {TABLE_PROBLEM} table that cannot be read or
written, {MODEL_PROBLEM} model file that cannot be read or written, {FIT_PROBLEM}
algorithm that cannot be applied to the table, {INTERRUPTED} interrupted. Errors are
printed to standard error as one line; --debug adds the traceback."""


class FitError(Exception):
    """An algorithm cannot be applied to a table that was read."""


def explain_error(error):
    """Write an error and its notes, which name a member of an ensemble, in one line."""
    notes = getattr(error, "__notes__", [])
    return " ".join(" ".join([str(error), *notes]).split())


def explain_fold_error(error: Exception, remedy: str = "") -> str:
    """Write an error of cross-validation, whose rows are counted within a fold.

    The remedy says how levels that a fold alone has are accepted.
    """
    text = re.sub(r"(,| in) row \d+,?", " of a fold", explain_error(error)).rstrip(".")
    return text.replace(". Or set handle_unknown='mean'", remedy)


def make_fit_error(
    problem: str, path: str, column: str | None = None, remedy: str | None = None
) -> FitError:
    """Make the error for a table to which an algorithm cannot be applied."""
    from sklearn_textbook.io import TableFileError

    return FitError(
        str(TableFileError(problem, path=path, column=column, remedy=remedy))
    )


def refuse_use(message: str) -> NoReturn:
    """Raise the error for a wrong use of the command."""
    raise click.UsageError(message)
