"""The command ``fit`` for a table that is read in blocks of rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.fitting import fits_blocks
from sklearn_textbook._contract.registry import find_class
from sklearn_textbook.cli import models, report
from sklearn_textbook.cli.algorithms import (
    ALGORITHMS,
    LEAST_ROWS_TO_PRUNE,
    base_name,
    make_estimator,
    make_settings,
)
from sklearn_textbook.cli.block_scores import BlockScores, choose_metrics
from sklearn_textbook.cli.block_tables import (
    BlockTarget,
    LabelledRows,
    open_blocks,
    refuse_options,
    require_column,
    score_blocks,
)
from sklearn_textbook.cli.blocks import Heading, Line, Note
from sklearn_textbook.cli.costs import make_scorer
from sklearn_textbook.cli.errors import explain_error, make_fit_error, refuse_use
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.output_files import require_model_output
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.scoring import average_folds, score_classes
from sklearn_textbook.io import TableFileError, folds, save_model
from sklearn_textbook.io.block_files import find_files
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.naming import count_things, list_names
from sklearn_textbook.io.saved_model import SavedModel


def fit_blocks(
    path: str,
    memory: int | None,
    *,
    target: str | None,
    algorithm: str,
    settings,
    n_folds: int,
    test: str | None,
    seed: int,
    trees: int | None,
    jobs: int | None,
    save: str | None,
    scoring: list[str],
    max_depth_shown: int,
    full: bool,
    **options,
) -> None:
    """Fit a model to a table in blocks, and print it and its scores."""
    refuse_options(options)
    _require_blocks(algorithm)
    require_model_output(save, {"TABLE": find_files(path)})
    settings = make_settings(settings, seed)
    left_out = [*options["id"], *options["drop"]]
    table = _open_table(path, memory, target, options["weight"], left_out)
    with show_progress("reading the target") as steps:
        goal = BlockTarget(table, target, algorithm, path, steps)
    scorer = make_scorer(goal.goal, None, scoring)
    scorer = replace(scorer, metrics=choose_metrics(scorer.metrics, scorer.is_classes))
    estimator = make_estimator(
        *(algorithm, goal.goal.is_classes, settings, seed),
        n_trees=trees,
        n_jobs=jobs,
        prunes=goal.n_rows - goal.n_missing >= LEAST_ROWS_TO_PRUNE,
        full=full,
    )
    output = Output()
    output.write(_report_table(path, table, goal, left_out))
    output.write(*map(Note, goal.goal.order_classes(estimator)))
    training = _Training(path, table, goal, options["weight"])
    training.fit(estimator)
    notes = _note_table(training, options["id"])
    if save is not None:
        with show_progress("writing the model"):
            save_model(estimator, save, target=target, table=notes)
    model = SavedModel(estimator, target, notes)
    output.write(
        _report_columns(model),
        models.report_model(model, None, settings, max_depth_shown, save),
    )
    scores, judged = _score(training, estimator, scorer, n_folds, seed, test)
    output.write(Heading("scores"), report.report_scores(scores))
    if not n_folds:
        output.write(Note("no cross-validation; --cv FOLDS fits as many models more"))
    if goal.goal.is_classes:
        for where, found in judged:
            output.write(_report_judged(found, scorer.labels, where))
    if save is not None:
        output.write("", f"saved to {save}")


def _open_table(path, memory, target, weight, left_out):
    """Open the table, which must have the columns that are named."""
    for name in (target, weight):
        if name is not None and name in left_out:
            refuse_use(f"{name!r} is also in --drop or --id")
    if weight is not None and weight == target:
        refuse_use(f"--weight {weight!r} is also the --target")
    table = open_blocks(path, memory, left_out)
    if target is None:
        refuse_use(
            f"Missing option '--target', the column to predict: {path} has "
            f"{list_names(table.names)}"
        )
    require_column(table, path, target, "to predict")
    if weight is not None:
        require_column(table, path, weight, "of weights")
    return table


def _note_table(training, ids):
    """Note for `predict` how the table is to be read."""
    notes = {
        "names": list(training.table.names),
        "id": ids,
        "missing_marks": list(MISSING_MARKS),
        "has_header": True,
        "n_rows": training.goal.n_rows,
    }
    return notes | ({} if training.weight is None else {"weight": training.weight})


def _require_blocks(algorithm) -> None:
    """Refuse an algorithm that is not fitted in blocks."""
    fits = [
        name
        for name, rows in ALGORITHMS.items()
        if any(fits_blocks(find_class(row.name)) for row in rows.values())
    ]
    if base_name(algorithm) not in fits:
        refuse_use(
            f"--algorithm {algorithm} is not fitted to a table that is read in blocks; "
            f"choose from {', '.join(fits)}"
        )


def _report_table(path, table, goal, left_out):
    """Report the size of a table, and its target."""
    files = count_things(len(find_files(path)), "file")
    rows = count_things(goal.n_rows, "row")
    columns = count_things(len(table.names) + len(left_out), "column")
    yield Line(f": {files}, {rows}, {columns} (read in blocks)", path)
    yield Line(f"target {goal.describe()}")
    if left_out:
        yield Line(f"left out: {list_names(left_out)}")
    if goal.n_missing:
        missing = count_things(goal.n_missing, "row")
        yield f"left out: {missing} without a value of {goal.goal.name!r}"
    if goal.goal.note:
        yield Note(goal.goal.note)


def _report_columns(model):
    """Report the kinds of the columns."""
    kinds = Counter(column.kind for column in model.schema.columns)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    yield Line(f"columns: {counts}")


@dataclass(frozen=True)
class _Training:
    """A table in blocks to learn from."""

    path: str
    table: BlockSource
    goal: BlockTarget
    weight: str | None

    def fit(self, estimator) -> None:
        """Fit an estimator to the rows that have a target."""
        goal = self.goal
        with show_progress("fitting") as steps, steps.watch(estimator):

            def tell(n_rows):
                done = n_rows and f"reading {n_rows:,} of {goal.n_rows:,} rows"
                steps.describe(done or "fitting")

            self.fit_rows(estimator, LabelledRows(self.table, goal, tell))

    def fit_rows(self, estimator, rows: BlockSource) -> None:
        """Fit an estimator to some rows."""
        options = {} if self.weight is None else {"sample_weight": self.weight}
        try:
            estimator.fit(rows, self.goal.goal.name, **options)
        except TableFileError:
            raise
        except (ValueError, TypeError, OSError) as error:
            reason = explain_error(error).rstrip(".")
            raise make_fit_error(reason, self.path) from error


def _score(training, estimator, scorer, n_folds, seed, test):
    """Return all scores, and the sums of rows that took no part in a fit."""
    goal = training.goal

    def score(where, table, path):
        require_column(table, path, goal.goal.name, "to score on")
        found = BlockScores(scorer.metrics, is_classes=scorer.is_classes)
        rows = (scorer, LabelledRows(table, goal), goal.goal.name, training.weight)
        with show_progress("predicting") as steps:
            score_blocks(estimator, *rows, [found], steps)
        if not found.n_rows:
            raise make_fit_error("no row has a target to score on", path)
        return found

    found = score("training", training.table, training.path)
    scores = [found.score_baseline(), found.finish("training")]
    judged = []
    if n_folds:
        means, total = _cross_validate(training, estimator, scorer, n_folds, seed)
        scores.append(means)
        judged.append(("cross-validated", total))
    if test is not None:
        found = score("test", open_blocks(test), test)
        scores.append(found.finish("test"))
        judged.append(("test", found))
    return scores, judged


def _cross_validate(training, estimator, scorer, n_folds, seed):
    """Score by cross-validation; return the scores, and the sums of all folds."""
    goal = training.goal
    name = goal.goal.name
    parts = folds(
        LabelledRows(training.table, goal),
        n_folds,
        random_state=seed,
        stratify=name if goal.goal.is_classes else None,
    )
    total, means = BlockScores(scorer.metrics, is_classes=scorer.is_classes), []
    with show_progress("cross-validation", n_folds) as steps:
        for train, test in parts:
            model = clone(estimator)
            fold = BlockScores(scorer.metrics, is_classes=scorer.is_classes)
            with steps.watch(model):
                training.fit_rows(model, train)
            score_blocks(model, scorer, test, name, training.weight, [fold, total])
            if fold.n_rows:
                means.append(fold.finish("").means)
            steps.advance()
    return average_folds("cross-validated", means), total


def _report_judged(found, labels, where):
    """Report the confusions of some predictions, and the scores of the classes."""
    true, predicted, weights = found.list_pairs()
    labels = np.concatenate([labels, np.setdiff1d(true, labels)])
    yield Heading("confusion matrix", where)
    yield report.report_confusions(found.count_confusions(labels), labels)
    yield Heading("classes", where)
    scores = score_classes(true, predicted, labels, weights)
    yield report.report_class_scores(scores, labels)
