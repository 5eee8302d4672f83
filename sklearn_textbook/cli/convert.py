"""The command ``convert``: a model as a file for other programs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sklearn_textbook.cli.errors import explain_error, refuse_use
from sklearn_textbook.cli.show import write_content
from sklearn_textbook.io import read_model


def _write_code(estimator, language, **options):
    from sklearn_textbook.exchange import export_code

    return export_code(estimator, language, **options)


#: Writers by the end of a file name; they take the estimator and options.
WRITERS = {
    ".c": partial(_write_code, language="c"),
    ".js": partial(_write_code, language="javascript"),
    ".mjs": partial(_write_code, language="javascript"),
    ".py": partial(_write_code, language="python"),
    ".sql": partial(_write_code, language="sql"),
}


def convert_model(model, path, **options):
    """Write a model for other programs.

    Parameters
    ----------
    model : str
        Path of the model file.
    path : str
        File to write; the end of its name chooses the format.
    **options
        Options of the format; None where not given.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        refuse_use(f"{path}: the name must end in one of {', '.join(WRITERS)}")
    given = {name: value for name, value in options.items() if value is not None}
    for option, taken in (("table", ".sql"), ("prefix", ".c")):
        if option in given and suffix != taken:
            refuse_use(f"--{option} is for {taken} only")
    estimator = read_model(model).estimator
    try:
        content = WRITERS[suffix](estimator, **given)
    except (TypeError, ValueError) as error:
        refuse_use(f"{model}: {explain_error(error)}")
    write_content(content, path)
