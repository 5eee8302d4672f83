"""The command ``convert``: a model as a file for other programs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sklearn_textbook.cli.errors import explain_error, refuse_use
from sklearn_textbook.cli.output_files import refuse_overwriting
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.show import write_content
from sklearn_textbook.io import read_model
from sklearn_textbook.io.model_file import ModelFileError, looks_like_model


def _write_code(saved, path, language, **options) -> None:
    from sklearn_textbook.exchange import export_code

    write_content(export_code(saved.estimator, language, **options), path)


def _write_onnx(saved, path, **options) -> None:
    from sklearn_textbook.exchange import to_onnx

    to_onnx(saved.estimator, path, **options)


def _write_pmml(saved, path) -> None:
    from sklearn_textbook.exchange import to_pmml

    to_pmml(saved.estimator, path, target=saved.target or "target")


#: Writers by the end of a file name.
WRITERS = {
    ".c": partial(_write_code, language="c"),
    ".js": partial(_write_code, language="javascript"),
    ".mjs": partial(_write_code, language="javascript"),
    ".py": partial(_write_code, language="python"),
    ".sql": partial(_write_code, language="sql"),
    ".onnx": _write_onnx,
    ".pmml": _write_pmml,
}
#: The formats of options.
OPTIONS = {
    "table": (".sql",),
    "form": (".sql",),
    "prefix": (".c", ".sql"),
    "missing_string": (".onnx",),
}


def convert_model(model: str, path: str, **options) -> None:
    """Write a model for other programs."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS and looks_like_model(path) and not looks_like_model(model):
        refuse_use(f"{path} is a model file; give it first, and {model} after it")
    if suffix not in WRITERS:
        refuse_use(f"{path}: the name must end in one of {', '.join(WRITERS)}")
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if suffix not in OPTIONS[name]:
            formats = " and ".join(OPTIONS[name])
            refuse_use(f"--{name.replace('_', '-')} is for {formats} only")
    if "prefix" in given and suffix == ".sql" and given.get("form") != "nodes":
        refuse_use("--prefix is for .sql with --form nodes only")
    refuse_overwriting("OUTPUT", path, {"MODEL": [model]})
    with show_progress("reading the model"):
        saved = read_model(model)
    try:
        with show_progress(f"writing {suffix[1:]}"):
            WRITERS[suffix](saved, path, **given)
    except ModelFileError:
        raise
    except (TypeError, ValueError) as error:
        refuse_use(f"{model}: {explain_error(error)}")
    except OSError as error:
        raise ModelFileError(f"cannot be written ({error.strerror})", path) from None
