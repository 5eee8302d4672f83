"""Components of a table: ``fit`` without a target, and the command ``transform``."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook.cli.algorithms import (
    make_settings,
    make_transformer,
    takes_numbers_only,
)
from sklearn_textbook.cli.columns import explain_gaps, print_columns
from sklearn_textbook.cli.errors import explain_error, make_fit_error, refuse_use
from sklearn_textbook.cli.fit import note_table
from sklearn_textbook.cli.html_report.file import require_report
from sklearn_textbook.cli.model_report import (
    MOST_ROWS,
    describe_other_model,
    print_other_model,
)
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
    print_layout,
    read_training_file,
    read_weights,
    require_numbers,
)
from sklearn_textbook.io import save_model

#: Columns whose standard deviations differ by less than that are of the same scale.
MOST_SPREAD = 20


def fit_components(
    table, *, target, algorithm, settings, seed, save, report_path, **options
):
    """Fit a model that has no target to the numbers of a table, and print it.

    Parameters
    ----------
    table : str
        Path of the table.
    target : str or None
        A column that is left out, and copied by `transform`.
    algorithm : str
        Name of the algorithm.
    settings : sequence of (str, object)
        Its parameters.
    seed : int
        Seed of the algorithm.
    save : str or None
        Model file to write.
    report_path : str or None
        Page of HTML to write.
    **options
        How the table is read, as for `fit_table`; others have no effect.
    """
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
    print_layout(output, file, options)
    print_columns(output, frame)
    notes = [*file.notes, *_find_scale_notes(estimator, frame)]
    if notes:
        output.write("")
    output.notes(notes)
    try:
        with show_progress("fitting"):
            estimator.fit(frame, sample_weight=weights)
    except (ValueError, TypeError) as error:
        gaps, remedy = explain_gaps(frame, error)
        reason = gaps or explain_error(error)
        raise make_fit_error(reason, file.path, remedy=remedy) from error
    output.heading("components", describe_other_model(estimator))
    print_other_model(output, estimator, frame.column_names, MOST_ROWS)
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


def transform_table(model, table, *, path, all_columns, **options):
    """Compute the components of the rows of a table and write them.

    Parameters
    ----------
    model : str
        Path of the model file.
    table : str
        Path of the table.
    path : str or None
        File to write, None for the standard output.
    all_columns : bool
        Whether all columns of the table are copied to the output.
    **options
        How the table is read: id, delimiter, header, encoding, sheet, skip_lines,
        comment, missing_marks, decimal, dates.
    """
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
