"""The command ``sklearn-textbook``: fit, show and apply models of tables in files."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

_NEEDED = ("click", "rich", "pyarrow")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : list of str, default=None
        Arguments after the name of the command; None takes those of the process.

    Returns
    -------
    exit_code : int
        0: success; 1: internal error; 2: wrong usage of the command; 3: a table that
        cannot be read or written; 4: a model file that cannot be read or written; 5: an
        algorithm that cannot be applied to the table; 130: interrupted.

    Examples
    --------
    >>> from sklearn_textbook.cli import main
    >>> main(["--version"])
    sklearn-textbook ...
    0
    """
    try:
        from sklearn_textbook.cli.app import run
    except ImportError as error:
        message = explain_missing_module(error)
        if message is None:
            raise
        print(f"sklearn-textbook: {message}", file=sys.stderr)
        return 2
    return run(arguments)


def explain_missing_module(error) -> str | None:
    """Return the message for a missing optional dependency."""
    missing = (error.name or "").partition(".")[0]
    if missing not in _NEEDED:
        return str(error) if "pip install" in str(error) else None
    return f"the command requires {', '.join(_NEEDED)}: pip install {' '.join(_NEEDED)}"
