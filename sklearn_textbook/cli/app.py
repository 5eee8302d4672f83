"""The group of commands, and what happens to errors."""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings

import click

from sklearn_textbook import __version__
from sklearn_textbook.cli import explain_missing_module
from sklearn_textbook.cli.commands import (
    anova,
    compare,
    convert,
    diversity,
    fit,
    predict,
    show,
    transform,
)
from sklearn_textbook.cli.errors import (
    DONE,
    EXIT_CODES,
    FIT_PROBLEM,
    INTERRUPTED,
    MODEL_PROBLEM,
    PROGRAM_ERROR,
    TABLE_PROBLEM,
    WRONG_USE,
)

COMMAND = "sklearn-textbook"

_CODES = {
    "TableFileError": TABLE_PROBLEM,
    "ModelFileError": MODEL_PROBLEM,
    "FitError": FIT_PROBLEM,
}


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, prog_name=COMMAND, message="%(prog)s %(version)s")
@click.pass_context
def app(context) -> None:
    """Fit, print and apply trees, ensembles of trees and linear models.

    Tables are csv or tsv (any separator), Parquet, Feather, JSON, Excel, ARFF and C4.5
    files; models are JSON.

    \b
    Examples:
      sklearn-textbook fit iris.csv --target species --save iris.json
      sklearn-textbook show iris.json --as rules
      sklearn-textbook predict iris.json new.csv -o predicted.csv
    """  # noqa: D301 - click wants the control character itself
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (fit, compare, anova, predict, transform, diversity, show, convert):
    app.add_command(_command)


def run(arguments: list[str] | None = None) -> int:
    """Run the command and turn errors into one line and an exit code."""
    streams = sys.stdout, sys.stderr
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            # Characters that the terminal cannot encode are replaced.
            stream.reconfigure(errors="replace")
    state = {"debug": False, "quiet": False}
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _WarningPrinter()
            code = app.main(
                args=arguments, prog_name=COMMAND, standalone_mode=False, obj=state
            )
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # The reader has closed the pipe, for which click raises SystemExit. Nothing
        # more may be written, not even when streams are flushed at exit.
        sys.stdout, sys.stderr = streams
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (click.Abort, KeyboardInterrupt):
        return _report("interrupted", INTERRUPTED)
    except Exception as error:
        if state["debug"]:
            traceback.print_exc()
        return _report(*_explain(error))
    return code if isinstance(code, int) else DONE


def _explain(error):
    """Return the message and the exit code of an error."""
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        where = context.command_path if context else COMMAND
        message = " ".join(error.format_message().split()).rstrip(".")
        see = "? See" if message.endswith("?") else "; see"
        return f"{message.rstrip('?')}{see} {where} --help", WRONG_USE
    if isinstance(error, ImportError) and explain_missing_module(error):
        return explain_missing_module(error), WRONG_USE
    # By name: the modules of these errors are loaded only by the commands that run.
    code = _CODES.get(type(error).__name__)
    if code is not None:
        return str(error), code
    if isinstance(error, MemoryError):
        # Its own class: a message with advice; numpy's subclass has only a size.
        advice = str(error) if type(error) is MemoryError else ""
        return advice or "not enough memory for this table", PROGRAM_ERROR
    reason = f"{type(error).__name__}: {error}"
    return f"internal error: {reason}; --debug shows the traceback", PROGRAM_ERROR


def _report(message, code):
    line = " ".join(message.split())
    print(f"{COMMAND}: {line}", file=sys.stderr)
    return code


class _WarningPrinter:
    """Prints a warning as one line, and once only if just its numbers differ."""

    def __init__(self) -> None:
        self.seen = set()

    def __call__(
        self, message, category, filename, lineno, file=None, line=None
    ) -> None:
        text = str(message)
        kind = re.sub(r"\b\d[\d.e+-]*", "#", text)
        if kind not in self.seen:
            self.seen.add(kind)
            _report(f"warning: {text}", DONE)
