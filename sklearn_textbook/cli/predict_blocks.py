"""The command ``predict`` for a table that is read in blocks of rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from sklearn_textbook.cli import report
from sklearn_textbook.cli.block_scores import BlockScores, choose_metrics
from sklearn_textbook.cli.block_tables import (
    open_blocks,
    refuse_options,
    require_column,
)
from sklearn_textbook.cli.blocks import Note
from sklearn_textbook.cli.costs import restore_scorer
from sklearn_textbook.cli.errors import explain_error, make_fit_error, refuse_use
from sklearn_textbook.cli.model_table import label_text, read_model_beside, read_notes
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.output_files import refuse_overwriting
from sklearn_textbook.cli.predict import (
    predict_bounds,
    report_score,
    require_predictor,
)
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.io import TableFileError
from sklearn_textbook.io.block_files import find_files, write_parquet, write_whole
from sklearn_textbook.io.table_file import find_ending
from sklearn_textbook.io.table_writer import choose_writer, write_csv


def predict_blocks(
    model: str,
    table: str,
    *,
    path: str | None,
    proba: bool,
    interval: float | None,
    all_columns: bool,
    **options,
) -> None:
    """Predict the rows of a table in blocks, and write the predictions."""
    refuse_options(options)
    _require_output(path, {"MODEL": [model], "TABLE": find_files(table)})
    saved = read_model_beside(model, table)
    require_predictor(saved.estimator, model, proba, interval)
    notes = read_notes(saved, model)
    ids = dict.fromkeys([*notes["id"], *options["id"]])
    source = open_blocks(table, written=ids)
    if not saved.schema.has_names:
        refuse_use(f"{model} has no names of columns, by which blocks are read")
    for name in saved.schema.names:
        require_column(source, table, name, "of the model")
    for name in options["id"]:
        require_column(source, table, name, "to copy")
    rows = _PredictedRows(
        *(saved, restore_scorer(saved, model), source, table),
        copied=[
            name
            for name in (source.names if all_columns else ids)
            if name in source.names
        ],
        has_probabilities=proba,
        interval=interval,
    )
    if path is None:
        _write_text(rows.predict(), sys.stdout)
    elif find_ending(path) == ".csv":
        with (
            write_whole(Path(path)) as unfinished,
            unfinished.open("w", encoding="utf-8", newline="") as stream,
        ):
            _write_text(rows.predict(), stream)
    else:
        write_parquet(rows.predict(), Path(path))
    if rows.scores is not None and rows.scores.n_rows:
        report_score(Output(sys.stderr), rows.scores.finish(""), table)
    elif rows.scores is not None:
        what = "classes" if rows.scores.is_classes else "numbers"
        note = f"no scores: column {saved.target!r} has no {what}"
        Output(sys.stderr).write(Note(note))


def _require_output(path, inputs):
    """Refuse a file that cannot be written block by block."""
    if path is None:
        return
    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        raise TableFileError(
            "a table that is read in blocks is written as .csv or .parquet", path=path
        )
    choose_writer(path)
    refuse_overwriting("--output", path, inputs)


def _write_text(frames, stream):
    """Write frames as one csv table."""
    has_names = True
    for frame in frames:
        write_csv(frame, stream, has_names=has_names)
        has_names = False


class _PredictedRows:
    """The predictions of a table in blocks, and columns that are copied to them.

    Parameters
    ----------
    model : SavedModel
        The model.
    scorer : Scorer
        How it predicts.
    source : BlockSource
        The table.
    path : str
        Its name in messages.
    copied : list of str
        The columns that are copied.
    has_probabilities : bool
        Whether to give the probabilities of the classes.
    interval : float or None
        Coverage of the intervals that are given.
    """

    def __init__(
        self,
        model,
        scorer,
        source,
        path,
        *,
        copied: list[str],
        has_probabilities: bool,
        interval: float | None,
    ) -> None:
        self.interval = interval
        self.model, self.scorer, self.source, self.path = model, scorer, source, path
        self.copied, self.has_probabilities = copied, has_probabilities
        self.features = list(model.schema.names)
        self.weight = model.table.get("weight")
        if self.weight not in source.names:
            self.weight = None
        self.scores: BlockScores | None = None
        if model.target in source.names and model.target not in self.features:
            metrics = choose_metrics((), scorer.is_classes)
            self.scores = BlockScores(metrics, is_classes=scorer.is_classes)

    def predict(self) -> Iterator[pa.Table]:
        """Give the frames that are written, block by block."""
        others = [self.weight] * (self.weight is not None)
        others += [self.model.target] * (self.scores is not None)
        names = dict.fromkeys([*self.copied, *self.features, *others])
        n_rows = 0
        with show_progress("predicting") as steps:
            for block in self.source.read_blocks(names):
                yield self._predict_block(block)
                n_rows += len(block)
                steps.describe(f"predicting: {n_rows:,} rows")
        if not n_rows:
            raise TableFileError("has no rows", path=self.path)

    def _predict_block(self, block):
        features = block.select(self.features)
        try:
            # Levels that were not seen in training are warned of.
            predicted = self.scorer.predict_loudly(self.model.estimator, features)
        except (ValueError, TypeError) as error:
            reason = explain_error(error).rstrip(".")
            raise make_fit_error(reason, self.path) from error
        if self.scores is not None:
            self._add_scores(block, predicted.values)
        made = {"prediction": pa.array(predicted.values.tolist())}
        if self.has_probabilities:
            for label, column in zip(
                self.scorer.labels, predicted.probabilities.T, strict=True
            ):
                made[f"probability_{report.show_label(label)}"] = pa.array(column)
        if self.interval is not None:
            made |= predict_bounds(self.model.estimator, features, self.interval)
        for name in made:
            if name in self.copied:
                raise TableFileError(
                    "the output has a column of this name, too",
                    path=self.path,
                    column=name,
                    remedy="rename it, or do not copy it",
                )
        return pa.table({**{name: block[name] for name in self.copied}, **made})

    def _add_scores(self, block, predicted):
        """Add the rows that have a target to the scores."""
        true = block[self.model.target]
        if pa.types.is_dictionary(true.type):
            true = true.cast(true.type.value_type)
        is_present = ~true.is_null(nan_is_null=True).to_numpy()
        weights = None
        if self.weight is not None:
            weights = block[self.weight].to_numpy()
            is_present &= weights > 0
            weights = weights[is_present]
        true, predicted = true.filter(pa.array(is_present)), predicted[is_present]
        if self.scorer.is_classes:
            true = np.array([label_text(label) for label in true.to_pylist()], str)
            predicted = np.array([label_text(x) for x in predicted.tolist()], str)
        elif not (pa.types.is_integer(true.type) or pa.types.is_floating(true.type)):
            return
        else:
            true = true.to_numpy()
        self.scores.add(true, predicted, weights)
