"""Files that a command writes, and what is refused before the work."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sklearn_textbook._contract.written_files import check_writable, is_same_file
from sklearn_textbook.cli.errors import refuse_use


def refuse_overwriting(
    option: str, path: str | None, others: Mapping[str, Sequence[str]]
) -> None:
    """Refuse an output that is also another file of the command.

    Parameters
    ----------
    option : str
        The option or argument of the output.
    path : str or None
        The file to write; None if there is none.
    others : dict of str to sequence of str
        Other files of the command, by option or argument.

    Raises
    ------
    click.UsageError
        If the output is one of them.
    """
    if path is None:
        return
    for name, files in others.items():
        for file in files:
            if is_same_file(path, file):
                refuse_use(f"{option} {path}: this is also the file of {name} {file}")


def list_inputs(
    table: str, test: str | None = None, cost: str | None = None
) -> dict[str, list[str]]:
    """List the files that a command reads, by option; those of C4.5 in full."""
    from sklearn_textbook.io.c45 import find_beside, find_c45_files
    from sklearn_textbook.io.table_file import STANDARD_INPUT

    inputs: dict[str, list[str]] = {}
    for name, path in (("TABLE", table), ("--test", test)):
        if path == STANDARD_INPUT:
            inputs[name] = ["/dev/stdin"]
        elif path is not None:
            files = find_c45_files(path)
            more = [] if files is None else [files.names, files.cases]
            inputs[name] = list(dict.fromkeys([path, *more]))
    if cost is not None:
        inputs["--cost"] = [cost, *filter(None, [find_beside(cost, ".costs")])]
    return inputs


def require_table_output(path: str | None, model: str, table: str) -> None:
    """Refuse a table that cannot be written, before the work.

    Parameters
    ----------
    path : str or None
        The file to write; None for the standard output.
    model : str
        Path of the model file.
    table : str
        Path of the table that is read.

    Raises
    ------
    TableFileError
        If no table can be written there.
    click.UsageError
        If it is the model or the table that is read.
    """
    if path is None:
        return
    from sklearn_textbook.io.table_writer import choose_writer

    choose_writer(path)
    refuse_overwriting("--output", path, {"MODEL": [model], **list_inputs(table)})


def require_model_output(path: str | None, inputs: Mapping[str, Sequence[str]]) -> None:
    """Refuse a model file that cannot be written, before fitting.

    Parameters
    ----------
    path : str or None
        The file to write; None if there is none.
    inputs : dict of str to sequence of str
        Files that are read, by option.

    Raises
    ------
    ModelFileError
        If no file can be written there.
    click.UsageError
        If it is a file that is read.
    """
    if path is None:
        return
    from sklearn_textbook.io import ModelFileError

    try:
        check_writable(path)
    except IsADirectoryError as error:
        raise ModelFileError(error.strerror, path) from None
    except FileNotFoundError:
        folder = str(Path(path).parent)
        raise ModelFileError(f"the folder {folder!r} does not exist", path) from None
    except OSError as error:
        raise ModelFileError(f"cannot be written ({error.strerror})", path) from None
    refuse_overwriting("--save", path, inputs)


def write_table_output(path: str | None, frame) -> None:
    """Write a table to a file or, without one, as csv to the standard output."""
    from sklearn_textbook.cli.progress import show_progress
    from sklearn_textbook.io.table_writer import choose_writer, write_csv

    if path is None:
        write_csv(frame, sys.stdout)
        return
    with show_progress("writing the table"):
        choose_writer(path)(frame, path)
