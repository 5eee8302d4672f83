"""Components of a table: ``fit`` without a target, and the command ``transform``."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook.cli import models
from sklearn_textbook.cli.algorithms import (
    make_settings,
    make_transformer,
    takes_numbers_only,
)
from sklearn_textbook.cli.blocks import Heading, Note
from sklearn_textbook.cli.columns import explain_gaps, report_columns
from sklearn_textbook.cli.errors import explain_error, make_fit_error, refuse_use
from sklearn_textbook.cli.fit import note_table
from sklearn_textbook.cli.html_report.file import require_report
from sklearn_textbook.cli.model_table import (
    as_features,
    copy_columns,
    join_columns,
    read_model_beside,
    read_model_table,
    read_notes,
)
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.output_files import (
    list_inputs,
    require_model_output,
    require_table_output,
    write_table_output,
)
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.training_table import (
    read_training_file,
    read_weights,
    report_layout,
    require_numbers,
)
from sklearn_textbook.io import save_model

#: Columns whose standard deviations differ by less than that are of the same scale.
MOST_SPREAD = 20


def fit_components(
    table: str,
    *,
    target: str | None,
    algorithm: str,
    settings,
    seed: int,
    save: str | None,
    report_path: str | None,
    **options,
) -> None:
    """Fit a model that has no target to the numbers of a table, and print it."""
    inputs = list_inputs(table)
    require_model_output(save, inputs)
    require_report(report_path, {**inputs, "--save": [save] if save else []})
    if options["test"] is not None or options["cost"] is not None or options["scoring"]:
        refuse_use(f"--test, --cost, --scoring: {algorithm} makes no predictions")
    settings = make_settings(settings, seed)
    estimator = make_transformer(algorithm, settings, seed)
    if target is not None:
        options["id"] = [*options["id"], target]
    file = read_training_file(table, None, options, needs_target=False)
    if options["weight"] is None:
        options["weight"] = file.weight
    weight = options["weight"]
    weights = None if weight is None else read_weights(file, weight)
    frame = file.frame if weight is None else file.frame.drop_columns([weight])
    if file.target in frame.column_names:
        frame = frame.drop_columns([file.target])
    if takes_numbers_only(algorithm, settings):
        require_numbers(file, frame, algorithm)
    output = Output()
    output.write(report_layout(file, options), report_columns(frame))
    notes = [*file.notes, *_find_scale_notes(estimator, frame)]
    output.write(*([""] if notes else []), *map(Note, notes))
    try:
        with show_progress("fitting"):
            estimator.fit(frame, sample_weight=weights)
    except (ValueError, TypeError) as error:
        gaps, remedy = explain_gaps(frame, error)
        reason = gaps or explain_error(error)
        raise make_fit_error(reason, file.path, remedy=remedy) from error
    output.write(Heading("components", models.describe_model(estimator)))
    output.write(
        models.report_other_model(estimator, frame.column_names, models.MOST_ROWS)
    )
    if save is not None:
        save_model(estimator, save, table=note_table(file, options, None))
        output.write("", f"saved to {save}")
    if report_path is not None:
        from sklearn_textbook.cli.html_report.sections import report_components

        left_out = [*options["drop"], *options["id"]]
        with show_progress("writing the report"):
            report_components(report_path, estimator, file, frame, left_out, seed)
        output.write(*([""] if save is None else []), f"report in {report_path}")


def _find_scale_notes(estimator, frame):
    """Point out that the column of the largest unit would decide the components."""
    numeric = (pa.types.is_integer, pa.types.is_floating)
    frame = frame.select(
        [field.name for field in frame.schema if any(of(field.type) for of in numeric)]
    )
    spreads = [compute.stddev(column).as_py() or 0 for column in frame.columns]
    smallest = min((spread for spread in spreads if spread > 0), default=np.inf)
    if estimator.standardize or max(spreads, default=0) < MOST_SPREAD * smallest:
        return []
    widest = frame.column_names[int(np.argmax(spreads))]
    note = (
        f"column {widest!r} has by far the largest variance and decides the first "
        "component; --set standardize=true scales all columns to variance 1"
    )
    return [note]


def transform_table(
    model: str, table: str, *, path: str | None, all_columns: bool, **options
) -> None:
    """Compute the components of the rows of a table and write them."""
    require_table_output(path, model, table)
    saved = read_model_beside(model, table)
    estimator = saved.estimator
    if not hasattr(estimator, "transform"):
        refuse_use(
            f"{model} contains a {type(estimator).__name__}, which has no components; "
            "use predict"
        )
    notes = read_notes(saved, model)
    notes["id"] = list(dict.fromkeys([*notes["id"], *options["id"]]))
    rows = read_model_table(saved, notes, table, options)
    ids, wanted = notes["id"], options["id"]
    copied = copy_columns(rows, ids, wanted, path, copies_all=all_columns)
    try:
        with show_progress("computing the components"):
            made = estimator.transform(as_features(saved.schema, rows.features))
    except (NotImplementedError, ValueError) as error:
        raise rows.explain(error) from error
    names = estimator.get_feature_names_out().tolist()
    columns = {name: pa.array(each) for name, each in zip(names, made.T, strict=True)}
    frame = join_columns(rows, copied, columns)
    write_table_output(path, frame)
