"""The command ``fit``: fit a model to a table and report its scores."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from sklearn_textbook.cli import models, report
from sklearn_textbook.cli.algorithms import (
    COMBINATIONS,
    LEAST_ROWS_TO_PRUNE,
    base_name,
    make_estimator,
    make_settings,
)
from sklearn_textbook.cli.blocks import Heading, Note
from sklearn_textbook.cli.columns import explain_gaps
from sklearn_textbook.cli.combinations import make_combination
from sklearn_textbook.cli.costs import make_scorer
from sklearn_textbook.cli.errors import (
    FitError,
    explain_error,
    explain_fold_error,
    make_fit_error,
    refuse_use,
)
from sklearn_textbook.cli.formula import choose_algorithm
from sklearn_textbook.cli.html_report.file import require_report
from sklearn_textbook.cli.model_table import (
    Tested,
    as_features,
    find_unseen_levels,
    predict_rows,
    read_model_table,
    read_notes,
    score_table,
)
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.output_files import list_inputs, require_model_output
from sklearn_textbook.cli.predict import TEST_COVERAGE, can_bound, predict_bounds
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.scoring import (
    choose_folds,
    count_confusions,
    cross_validate,
    score_classes,
    score_out_of_bag,
)
from sklearn_textbook.cli.training_table import (
    keep_columns,
    leave_out_gaps,
    read_training,
    report_training,
)
from sklearn_textbook.io import save_model
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.naming import explain_unknown_name
from sklearn_textbook.io.saved_model import SavedModel
from sklearn_textbook.io.table_file import require_file
from sklearn_textbook.io.table_reader import guess_format

#: Where a single leaf is left: trees of the forest that is asked, and what it must
#: find out of the bag.
_FOREST_TREES = 100
_LEAST_FOUND = {"AUC": 0.6, "R2": 0.05}


def fit_table(
    table: str,
    *,
    target: str | None,
    algorithm: str | None,
    settings,
    members,
    n_folds: int,
    test: str | None,
    seed: int,
    trees: int | None,
    jobs: int | None,
    save: str | None,
    report_path: str | None,
    max_depth_shown: int,
    cost: str | None,
    full: bool,
    scoring: list[str],
    **options,
) -> None:
    """Fit a model to a table, and print it and its scores."""
    inputs = list_inputs(table, test, cost)
    require_model_output(save, inputs)
    require_report(report_path, {**inputs, "--save": [save] if save else []})
    settings = make_settings(settings, seed)
    if test is not None:
        require_file(test)
    output = Output()
    reader = algorithm or "cart"
    training = read_training(table, target, reader, options, settings)
    terms = dict(settings).get("formula")
    if isinstance(terms, str):
        training = keep_columns(training, [terms])
    goal = training.goal
    algorithm = choose_algorithm(algorithm, goal.is_classes)
    make = _choose_maker(algorithm, members)
    scorer = make_scorer(goal, cost, scoring)
    estimator = make(
        *(algorithm, goal.is_classes, settings, seed),
        n_trees=trees,
        n_jobs=jobs,
        prunes=len(goal.values) >= LEAST_ROWS_TO_PRUNE,
        full=full,
    )
    output.write(report_training(training, options))
    order_notes = goal.order_classes(estimator)
    training, gap_notes = leave_out_gaps(training, estimator)
    output.write(*map(Note, [*order_notes, *gap_notes]))
    scorer.give_costs(estimator, training.goal.values)
    _grow(estimator, training, settings)
    model = SavedModel(estimator, goal.name, note_table(training.file, options, scorer))
    tested = None
    if test is not None:
        tested = _test(model, scorer, training, test, options)
    if save is not None:
        with show_progress("writing the model"):
            save_model(estimator, save, target=goal.name, table=model.table)
    output.write(models.report_model(model, training, settings, max_depth_shown, save))
    scores, notes, predicted = _score(
        scorer, estimator, training, n_folds, seed, tested
    )
    judged = [("cross-validated", predicted)] if predicted else []
    judged += [("test", tested)] if tested else []
    output.write(Heading("scores"), report.report_scores(scores), *map(Note, notes))
    if goal.is_classes:
        for where, rows in judged:
            output.write(_report_judged(rows, where))
    if save is not None:
        output.write("", f"saved to {save}")
    if report_path is not None:
        from sklearn_textbook.cli.html_report.sections import FittedTable, report_fit

        made = (model, training, options, settings, scores, notes, judged)
        with show_progress("writing the report"):
            report_fit(report_path, FittedTable(*made, seed, save, max_depth_shown))
        output.write(*([""] if save is None else []), f"report in {report_path}")


def _choose_maker(algorithm, members):
    """Choose the function that makes the estimator."""
    if base_name(algorithm) in COMBINATIONS:
        return partial(make_combination, members=members)
    if members:
        refuse_use(f"--member requires {', '.join(COMBINATIONS)}, got {algorithm}")
    return make_estimator


def _report_judged(judged, where):
    """Report the confusions of some predictions, and the scores of the classes."""
    rows = (judged.true, judged.predicted, judged.labels, judged.weights)
    yield Heading("confusion matrix", where)
    yield report.report_confusions(count_confusions(*rows), judged.labels)
    yield Heading("classes", where)
    yield report.report_class_scores(score_classes(*rows), judged.labels)


def _grow(estimator, training, settings) -> None:
    try:
        with warnings.catch_warnings():
            # The scores include the number of rows predicted.
            warnings.filterwarnings("ignore", message="Some inputs do not have OOB")
            with show_progress("fitting") as steps, steps.watch(estimator):
                training.fit(estimator)
    except (ValueError, TypeError) as error:
        reason = explain_error(error)
        for name, value in settings:
            own = value.get_params() if hasattr(value, "get_params") else ()
            names = map(repr, [name.rpartition("__")[2], *own])
            if "parameter" in reason and any(word in reason for word in names):
                refuse_use(f"--set {name}={value}: {reason}")
        gaps, remedy = explain_gaps(training.features, error)
        if gaps:
            reason, remedy = gaps, f"{remedy}; trees accept missing values"
        reason = reason.rstrip(".")
        raise make_fit_error(reason, training.file.path, remedy=remedy) from error


def note_table(file, options, scorer):
    """Note for `predict` how the table is to be read, and the costs."""
    notes = {
        "names": file.names,
        "id": options["id"],
        "missing_marks": list(options["missing_marks"] or MISSING_MARKS),
        "numeric": options["numeric"],
        "decimal": options["decimal"],
        "dates": dict(options["dates"]),
        "units": file.units,
        "has_header": file.has_header,
        "n_rows": file.n_rows,
    }
    if options["weight"] is not None:
        notes["weight"] = options["weight"]
    if scorer is not None and scorer.costs is not None:
        notes["costs"] = scorer.costs.tolist()
    return notes


def _score(scorer, estimator, training, n_folds, seed, tested):
    """Return all scores, notes on them, and the predictions of cross-validation."""
    y, weights = training.goal.values, training.weights
    with show_progress("predicting the training rows"):
        fitted = scorer.predict(estimator, training.features)
    scores = [
        scorer.score_baseline(y, weights),
        scorer.score("training", y, fitted, weights),
    ]
    if models.is_ensemble(estimator) and not models.is_combination(estimator):
        score = score_out_of_bag(scorer, estimator, y, weights)
        scores += [] if score is None else [score]
    notes, predicted = [], None
    if n_folds:
        n_folds, notes = choose_folds(n_folds, y, scorer.is_classes)
    if n_folds:
        tests, values = _cross_validate(scorer, estimator, training, n_folds, seed)
        scores += tests
        predicted = Tested(
            *(tests[0], y, values.values, scorer.labels, weights),
            probabilities=values.probabilities,
        )
    notes = [*notes, *_note_single_leaf(scorer, estimator, training, seed)]
    if tested is not None:
        scores.append(tested.score)
        notes += tested.notes
    if scorer.costs is not None:
        notes.append("the class with the least expected cost is predicted")
    return scores, notes, predicted


def _note_single_leaf(scorer, estimator, training, seed):
    """Say what to try where a forest finds something, but pruning left no split."""
    tree = getattr(estimator, "tree_", None)
    if tree is None or tree.n_leaves > 1 or not hasattr(estimator, "pruning_report_"):
        return []
    if estimator.pruning_report_.n_leaves_grown == 1:
        return []
    forest = make_estimator(
        "random-forest", scorer.is_classes, [], seed, _FOREST_TREES, estimator.n_jobs
    )
    with show_progress("fitting a random forest") as steps, steps.watch(forest):
        training.fit(forest)
    scorer = replace(scorer, metrics=())
    score = score_out_of_bag(scorer, forest, training.goal.values, training.weights)
    metric = "AUC" if scorer.is_classes else "R2"
    if score is None or not score.means[metric] > _LEAST_FOUND[metric]:
        return []
    ways = "--set pruning__rule=min or --full prunes less"
    if scorer.is_classes:
        ways = (
            "--set class_weight=balanced or --cost gives rare classes weight, --full "
            "disables pruning"
        )
    note = (
        f"the pruned tree is a single leaf, but the out-of-bag {metric} of a random "
        f"forest is {score.means[metric]:.2f}: {ways}, --algorithm random-forest or "
        "gradient-boosting adds up many weak effects"
    )
    return [note]


def _cross_validate(scorer, estimator, training, n_folds, seed):
    try:
        with show_progress("cross-validation", n_folds) as steps:
            return cross_validate(
                *(scorer, estimator, training, n_folds, seed, steps),
                models.list_members,
            )
    except ValueError as error:
        accepting = "; --set handle_unknown=mean accepts it"
        reason = explain_fold_error(error, accepting)
        raise FitError(f"cross-validation: {reason}; --cv 0 leaves it out") from error


def _test(model, scorer, training, path, options):
    """Score the model on a test table, which must have the target."""
    notes = read_notes(model, path)
    if guess_format(path) != training.file.format:
        # Options for one format mean nothing in another.
        options = {**options, "sheet": None, "skip_lines": 0, "comment": None}
    table = read_model_table(model, notes, path, options)
    if table.target is None:
        raise table.file.error(
            f"no column {model.target!r} to score on",
            remedy=explain_unknown_name(model.target, table.file.names),
        )
    predicted = predict_rows(model, scorer, table)
    if can_bound(model.estimator) and not scorer.is_classes:
        X = as_features(model.schema, table.features)
        bounds = predict_bounds(model.estimator, X, TEST_COVERAGE)
        if not any(bound.null_count for bound in bounds.values()):
            intervals = np.stack([*bounds.values()], axis=1)
            predicted = replace(predicted, intervals=intervals)
    tested = score_table(model, scorer, table, predicted, "test")
    if tested is None:
        raise table.file.error("no values that can be scored", column=model.target)
    notes = (*tested.notes, *find_unseen_levels(model, table))
    if tested.intervals is not None:
        low, high = tested.intervals.T
        is_inside = (low <= tested.true) & (tested.true <= high)
        share = np.average(is_inside, weights=tested.weights)
        width = np.average(high - low, weights=tested.weights)
        covered = f"{TEST_COVERAGE:.0%} intervals contain {share:.1%} of the values"
        notes = (*notes, f"{covered} of the test table; mean width {width:.4g}")
    return replace(tested, notes=notes)
