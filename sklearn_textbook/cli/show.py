"""The command ``show``: a model, or a tree of it, as text, code, drawing or data."""

from __future__ import annotations

import io
import json
import os
import sys
from functools import partial
from pathlib import Path

import numpy as np

from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.cli import models, report
from sklearn_textbook.cli.blocks import Heading, Line, Tree
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.output_files import refuse_overwriting
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.io.model_file import ModelFileError, read_with
from sklearn_textbook.io.printed_model import load_printed
from sklearn_textbook.tree import export_rules


def show_model(
    model: str,
    form: str,
    max_depth: int | None = None,
    member: str | None = None,
    path: str | None = None,
    shows_all: bool = False,
) -> None:
    """Print a model."""
    refuse_overwriting("--output", path, {"MODEL": [model]})
    with show_progress("reading the model"):
        saved = read_with(load_printed, model)
    estimator = _choose_estimator(saved.estimator, model, form, member)
    if form == "png" and path is None and sys.stdout.isatty():
        refuse_use("--as png: a terminal cannot show pictures; use --output FILE")
    if form in _WRITERS:
        with show_progress(f"writing {form}"):
            content = _WRITERS[form](estimator, model, max_depth)
    else:
        stream = io.StringIO()
        output = Output(sys.stdout if path is None else stream)
        if form == "text":
            output.write(_report_text(saved, estimator, max_depth, member))
        else:
            most = None if shows_all or path is not None else models.MOST_RULES
            output.write(
                models.report_rules(estimator, most, "; --all prints them all")
            )
        content = stream.getvalue()
    write_content(content, path)


def write_content(content, path):
    """Write to a file, or to the standard output."""
    if path is None:
        is_text = isinstance(content, str)
        (sys.stdout if is_text else sys.stdout.buffer).write(content)
        return
    try:
        write_file(path, content)
    except OSError as error:
        raise ModelFileError(f"cannot be written ({error.strerror})", path) from None


def _write_json(estimator, model, max_depth):
    document = json.loads(Path(model).read_text(encoding="utf-8"))
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _write_dot(estimator, model, max_depth):
    from sklearn_textbook.tree import export_graphviz

    drawing = export_graphviz(estimator, max_depth=max_depth, filled=True, rounded=True)
    return drawing.rstrip("\n") + "\n"


def _write_code(estimator, model, max_depth, form):
    try:
        return export_rules(estimator, form).rstrip("\n") + "\n"
    except ValueError as error:
        reason = " ".join(str(error).split())
        refuse_use(f"--as {form}: {reason}".replace('format="python"', "--as python"))


def _draw(estimator, model, max_depth, form):
    """Draw a tree with matplotlib, without a window."""
    from sklearn_textbook.tree import plot_tree

    os.environ["MPLBACKEND"] = "agg"
    figure = plot_tree(estimator, max_depth=max_depth, ax="new")[0].figure
    from matplotlib import pyplot

    picture = io.BytesIO()
    # Equal models give equal files.
    metadata = {"Date": None} if form == "svg" else None
    with pyplot.rc_context({"svg.hashsalt": "tree"}):
        figure.savefig(picture, format=form, bbox_inches="tight", metadata=metadata)
    pyplot.close(figure)
    return picture.getvalue().decode() if form == "svg" else picture.getvalue()


def _write_page(estimator, model, max_depth):
    from sklearn_textbook.tree import to_html

    return to_html(estimator)


_DRAWINGS = ("dot", "svg", "png", "html")
_FORMS_OF_ENSEMBLES = ("text", "json", "html")
_WRITERS = {
    "json": _write_json,
    "dot": _write_dot,
    "sql": partial(_write_code, form="sql"),
    "python": partial(_write_code, form="python"),
    "svg": partial(_draw, form="svg"),
    "png": partial(_draw, form="png"),
    "html": _write_page,
}


def _choose_estimator(estimator, model, form, member, start: str = ""):
    """Choose what is printed, the model or a member; refuse what is impossible."""
    if models.is_combination(estimator):
        return _choose_named(estimator, model, form, member)
    if models.is_other_model(estimator):
        if form not in ("text", "json") or member is not None:
            refuse_use(
                f"{model} contains a {type(estimator).__name__}, which has no tree; "
                "use --as text or json"
            )
        return estimator
    if models.is_rule_list(estimator) and form in _DRAWINGS:
        refuse_use(f"--as {form} draws trees, but {model} contains a list of rules")
    if not models.is_ensemble(estimator):
        if member is not None:
            refuse_use(f"--member: {model} is not an ensemble")
        return estimator
    members = estimator._list_members()
    last = len(members) - 1
    if member is None:
        if form not in _FORMS_OF_ENSEMBLES:
            refuse_use(
                f"--as {form} writes a single tree, but {model} has {len(members)}; "
                f"choose one with --member {start}0 to {start}{last}"
                f"{_explain_convert(model, form) if not start else ''}"
            )
        return estimator
    if form == "json":
        refuse_use("--as json prints the whole file; omit --member")
    if not member.isdecimal() or int(member) > last:
        refuse_use(
            f"--member must be from {start}0 to {start}{last}, got {start}{member}"
        )
    return members[int(member)]


def _explain_convert(model, form) -> str:
    """Name the command that writes all trees as code, which `show` does not."""
    ending = {"sql": ".sql", "python": ".py"}.get(form)
    if ending is None:
        return ""
    path = Path(model).with_suffix(ending).name
    return f", or write all of them with sklearn-textbook convert {model} {path}"


def _choose_named(estimator, model, form, member):
    """Choose a member by name or number, or a tree of it, as in forest/0."""
    members = dict(estimator._list_fitted())
    names = list(members)
    if form == "json" and member is not None:
        refuse_use("--as json prints the whole file; omit --member")
    if member is None:
        if form not in ("text", "json"):
            refuse_use(
                f"--as {form} writes a single member, but {model} has "
                f"{', '.join(names)}; choose one with --member NAME"
            )
        return estimator
    first, _, tree = (member, "", "") if member in names else member.partition("/")
    if first.isdecimal() and first not in names and int(first) < len(names):
        first = names[int(first)]
    if first not in names:
        refuse_use(
            f"--member {first}: {model} has the members {', '.join(names)}, or 0 to "
            f"{len(names) - 1}"
        )
    chosen = members[first]
    if tree or form != "text":
        where = f"the member {first} of {model}"
        start = f"{first}/"
        chosen = _choose_estimator(chosen, where, form, tree or None, start)
    return models.relabel(chosen, estimator)


def _report_text(saved, estimator, max_depth, member):
    """Report a list of rules, an ensemble or a tree."""
    title = models.describe_model(estimator)
    if member is not None:
        title = f"{type(saved.estimator).__name__}, member {member}: {title}"
        title += _explain_values(saved.estimator, estimator, member)
    elif saved.target:
        title += f", predicts {saved.target}"
    yield Line(title)
    if models.is_combination(estimator):
        yield ""
        yield from models.report_members(estimator)
    elif models.is_other_model(estimator):
        yield ""
        yield from models.report_other_model(estimator, saved.schema.names)
    elif models.is_rule_list(estimator):
        yield models.report_rules(estimator, is_numbered=True)
    elif models.is_ensemble(estimator):
        yield models.report_sizes(estimator)
        if hasattr(estimator, "oob_score_"):
            yield _describe_out_of_bag(estimator)
        yield Heading("importances", "share in the decrease of impurity")
        yield models.report_importances(
            saved.schema.names, models.compute_importances(estimator)
        )
    else:
        yield Tree(estimator, max_depth)


def _explain_values(ensemble, tree, member) -> str:
    """Explain the numbers that a tree of a classifier predicts, by their classes."""
    if not hasattr(ensemble, "classes_") or type(tree).__name__[-9:] != "Regressor":
        return ""
    labels = [report.show_label(label) for label in ensemble.classes_]
    if tree.tree_.value.ndim > 1 and tree.tree_.value.shape[1] == len(labels):
        return f"; values for {', '.join(labels)}"
    rounds = np.shape(ensemble.estimators_)
    label = labels[int(member) % rounds[1] if rounds[1] > 1 else -1]
    return f"; values for {label}"


def _describe_out_of_bag(estimator):
    """Describe the out-of-bag score and error of an ensemble."""
    text = f"out-of-bag score {estimator.oob_score_:.4g}"
    if estimator.oob_score is True and hasattr(estimator, "classes_"):
        text += f", error {1 - estimator.oob_score_:.4g}"
    return text
