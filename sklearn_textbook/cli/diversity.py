"""The command ``diversity``: how the members of an ensemble differ."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sklearn_textbook._contract.text_table import TextTable
from sklearn_textbook.cli import models
from sklearn_textbook.cli.blocks import Heading, Note, count_more
from sklearn_textbook.cli.errors import make_fit_error, refuse_use
from sklearn_textbook.cli.model_table import (
    as_features,
    find_unseen_levels,
    label_text,
    read_model_beside,
    read_model_table,
    read_notes,
)
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.output_files import require_table_output, write_table_output
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.ensemble.diversity import diversity_report
from sklearn_textbook.ensemble.diversity.members import require_classifiers
from sklearn_textbook.io.naming import count_things
from sklearn_textbook.io.table_file import display_path

_NAMES = {
    "q_statistic": "Q",
    "kohavi_wolpert_variance": "Kohavi-Wolpert variance",
}


def measure_diversity(
    model: str, table: str, *, path: str | None, max_members_shown: int, **options
) -> None:
    """Measure how the members of an ensemble differ on a table, and print it."""
    require_table_output(path, model, table)
    saved = read_model_beside(model, table)
    kind = type(saved.estimator).__name__
    if not models.is_ensemble(saved.estimator):
        refuse_use(f"{model} contains a {kind}, which has no members")
    if not hasattr(saved.estimator, "classes_"):
        refuse_use(f"{model} contains a {kind}; diversity is measured for classifiers")
    try:
        require_classifiers(saved.estimator)
    except ValueError as error:
        refuse_use(f"{model}: {error}")
    rows = read_model_table(saved, read_notes(saved, model), table, options)
    present, y = _read_labels(saved, rows)
    features = as_features(saved.schema, rows.features.take(present))
    weights = None if rows.weights is None else rows.weights[present]
    try:
        with show_progress("measuring the diversity"):
            report = diversity_report(saved.estimator, features, y, weights)
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise make_fit_error(reason, rows.file.path) from error
    if path is not None:
        write_table_output(path, pa.table(dict(report.pairwise)))
    output = Output()
    weighted = ", weighted" if report.is_weighted else ""
    output.write(
        f"{display_path(rows.file.path)}: "
        f"{count_things(report.n_samples, 'row')}{weighted}"
    )
    n_left_out = rows.features.num_rows - len(present)
    if n_left_out:
        left_out = count_things(n_left_out, "row")
        output.write(Note(f"{left_out} without a target left out"))
    output.write(*map(Note, find_unseen_levels(saved, rows)))
    output.write(Heading("diversity", models.describe_model(saved.estimator)))
    output.write(_report_group(report), "", _report_pairs(report))
    names = dict(models.list_members(saved.estimator)) or range(report.n_members)
    if max_members_shown:
        names = [str(name) for name in names]
        output.write("", _report_members(report, names, max_members_shown))
    if path is not None:
        output.write("", f"pairs saved to {path}")


def _read_labels(saved, rows):
    """Read the rows that have a label, and their labels as the model knows them."""
    if rows.target is None:
        raise rows.file.error(
            f"no column {saved.target!r}, the target of the model",
            remedy="diversity is measured on rows whose class is known",
        )
    known = {label_text(label): label for label in saved.estimator.classes_.tolist()}
    present, labels = [], []
    for row, value in enumerate(rows.target.to_pylist()):
        if value is None:
            continue
        text = label_text(value)
        if text not in known:
            words = ", ".join(map(repr, list(known)[:8]))
            raise rows.file.error(
                f"{value!r} is not a class of the model",
                row=row,
                column=saved.target,
                remedy=f"it has {words}",
            )
        present.append(row)
        labels.append(known[text])
    if not present:
        raise rows.file.error("no row has a value of the target", column=saved.target)
    return np.array(present), np.array(labels, dtype=saved.estimator.classes_.dtype)


def _report_group(report):
    """Report the measures of all members together."""
    rows = [
        [_write_name(name), f"{value:.3f}"]
        for name, value in zip(*report.group.values(), strict=True)
    ]
    return TextTable(["all members", "value"], rows)


def _report_pairs(report):
    """Report a summary of the measures of pairs."""
    first = count_things(report.pairwise.n_rows, "pair")
    rows = [
        [_write_name(name), *(f"{value:.3f}" for value in values)]
        for name, *values in zip(*report.summarize_pairs().values(), strict=True)
    ]
    return TextTable([first, "mean", "smallest", "largest"], rows)


def _report_members(report, names, most):
    """Report the first members, with means over their pairs."""
    lines = zip(*report.members.values(), strict=True)
    rows = [
        [name, *(f"{value:.3f}" for value in values)]
        for name, (_, *values) in zip(names[:most], lines, strict=False)
    ]
    more = count_more(report.n_members - most, "more member")
    are_numbers = all(name.isdecimal() for name in names)
    heads = [_write_name(name) for name in report.members]
    return TextTable(heads, rows, "r" if are_numbers else "lr", more)


def _write_name(name):
    """Write the name of a measure in words."""
    return _NAMES.get(name, name.replace("_", " "))
