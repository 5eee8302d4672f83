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
    """Refuse an output that is also another file of the command."""
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
    """Refuse a table that cannot be written, before the work."""
    if path is None:
        return
    from sklearn_textbook.io.table_writer import choose_writer

    choose_writer(path)
    refuse_overwriting("--output", path, {"MODEL": [model], **list_inputs(table)})


def require_model_output(path: str | None, inputs: Mapping[str, Sequence[str]]) -> None:
    """Refuse a model file that cannot be written, before fitting."""
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
