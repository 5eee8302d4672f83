"""Exit codes, and errors that end the command with one line."""

import re

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
    """An algorithm cannot be applied to a table that was read.

    Parameters
    ----------
    message : str
        What is wrong and what would be right.
    """


def explain_error(error):
    """Write an error and its notes, which name a member of an ensemble, in one line."""
    notes = getattr(error, "__notes__", [])
    return " ".join(" ".join([str(error), *notes]).split())


def explain_fold_error(error, remedy=""):
    """Write an error of cross-validation, whose rows are counted within a fold.

    Parameters
    ----------
    error : Exception
        The error.
    remedy : str, default=""
        How levels that a fold alone has are accepted, where the command can do that.

    Returns
    -------
    reason : str
        One line.
    """
    text = re.sub(r"(,| in) row \d+,?", " of a fold", explain_error(error)).rstrip(".")
    return text.replace(". Or set handle_unknown='mean'", remedy)


def make_fit_error(problem, path, column=None, remedy=None):
    """Make the error for a table to which an algorithm cannot be applied.

    Parameters
    ----------
    problem : str
        What is wrong.
    path : str
        The table.
    column : str, default=None
        Name of the column.
    remedy : str, default=None
        What would be right.

    Returns
    -------
    error : FitError
        Worded as the errors of reading a table are.
    """
    from sklearn_textbook.io import TableFileError

    return FitError(
        str(TableFileError(problem, path=path, column=column, remedy=remedy))
    )


def refuse_use(message):
    """Raise the error for a wrong use of the command.

    Parameters
    ----------
    message : str
        What is wrong and what would be right.
    """
    raise click.UsageError(message)
