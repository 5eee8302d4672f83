"""The command ``fit``: grow trees or rules of a table and tell how good they are."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from sklearn.utils.multiclass import unique_labels

from sklearn_textbook.cli import report
from sklearn_textbook.cli.algorithms import make_estimator
from sklearn_textbook.cli.ensemble_report import (
    MOST_IMPORTANCES,
    compute_importances,
    is_ensemble,
    print_importances,
    print_sizes,
)
from sklearn_textbook.cli.errors import FitError, make_fit_error, refuse_use
from sklearn_textbook.cli.model_table import (
    predict_rows,
    read_model_table,
    read_notes,
    score_table,
)
from sklearn_textbook.cli.output import Output, show_progress
from sklearn_textbook.cli.scoring import (
    choose_folds,
    count_confusions,
    cross_validate,
    score_baseline,
    score_out_of_bag,
    score_rows,
)
from sklearn_textbook.cli.training_table import print_training, read_training
from sklearn_textbook.io import ModelFileError, save_model
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.model_document import SavedModel
from sklearn_textbook.io.naming import explain_unknown_name


def fit_table(
    table,
    *,
    target,
    algorithm,
    settings,
    n_folds,
    test,
    seed,
    trees,
    jobs,
    save,
    max_depth_shown,
    **options,
):
    """Fit a table and print what came of it.

    Parameters
    ----------
    table : str
        Path of the table.
    target : str or None
        Column to predict; None leaves it to the file.
    algorithm : str
        Name of the algorithm.
    settings : sequence of (str, object)
        Parameters of the algorithm.
    n_folds : int
        Folds of the cross-validation, 0 for none.
    test : str or None
        Path of a table to score on.
    seed : int
        Seed of folds and algorithm.
    trees : int or None
        Number of trees of an ensemble.
    jobs : int or None
        Number of threads.
    save : str or None
        Model file to write.
    max_depth_shown : int
        Depth to which the tree is printed.
    **options
        How the table is read: categorical, numeric, drop, id, delimiter, header,
        encoding, missing_marks.
    """
    _require_folder(save)
    output = Output()
    file, features, goal = read_training(table, target, algorithm, options)
    target = goal.name
    estimator = make_estimator(algorithm, goal.is_classes, settings, seed, trees, jobs)
    print_training(output, file, features, goal, options)
    _grow(estimator, features, goal.values, settings, file.path)
    model = SavedModel(estimator, target, _note_table(file, options))
    tested = _score_test(model, test, options) if test is not None else None
    if save is not None:
        save_model(estimator, save, target=target, table=model.table)
    if report.is_rule_list(estimator):
        _print_rule_list(output, estimator, features, goal)
    else:
        _print_trees(output, model, max_depth_shown)
    predicted = _print_scores(output, estimator, features, goal, n_folds, seed, tested)
    if goal.is_classes:
        _print_confusions(output, estimator.classes_, goal.values, predicted, tested)
    if save is not None:
        output.write("", f"saved to {save}")


def _require_folder(save):
    """Refuse a place for the model that does not exist before the long work."""
    if save is not None and not Path(save).resolve().parent.is_dir():
        folder = str(Path(save).parent)
        raise ModelFileError(f"the folder {folder!r} does not exist", save)


def _grow(estimator, features, values, settings, path):
    try:
        with warnings.catch_warnings():
            # The scores tell how many rows were judged.
            warnings.filterwarnings("ignore", message="Some inputs do not have OOB")
            estimator.fit(features, values)
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        for name, value in settings:
            if "parameter" in reason and repr(name.rpartition("__")[2]) in reason:
                refuse_use(f"--set {name}={value}: {reason}")
        raise make_fit_error(reason, path) from error


def _note_table(file, options):
    """Note for `predict` how the table is to be read."""
    return {
        "names": file.names,
        "id": options["id"],
        "missing_marks": list(options["missing_marks"] or MISSING_MARKS),
        "has_header": file.has_header,
        "n_rows": file.n_rows,
    }


def _print_trees(output, model, max_depth_shown):
    """Print a tree and its rules, or what there is to say of many trees."""
    estimator = model.estimator
    if is_ensemble(estimator):
        _print_ensemble(output, model)
        return
    output.heading("tree", report.describe_model(estimator))
    report.print_tree(output, estimator, max_depth_shown)
    output.heading("rules", "IF conditions THEN prediction [support, confidence]")
    report.print_rules(output, estimator, report.MOST_RULES)
    if hasattr(estimator, "pruning_report_"):
        output.heading("pruning", "the largest branches that fell")
        report.print_pruning(output, estimator, report.MOST_BRANCHES)


def _print_ensemble(output, model):
    """Print how large the trees are, and which columns matter."""
    output.heading("ensemble", report.describe_model(model.estimator))
    print_sizes(output, model.estimator)
    output.heading("importances", "share in the decrease of impurity")
    importances = compute_importances(model.estimator)
    print_importances(output, model.schema.names, importances, MOST_IMPORTANCES)


def _print_rule_list(output, estimator, features, goal):
    """Print the rules, and what each of them does on the training rows."""
    most = report.MOST_RULES
    output.heading("rules", report.describe_model(estimator))
    report.print_numbered_rules(output, estimator, most)
    evaluation = estimator.evaluate(features, goal.values)
    output.heading(
        "use of the rules", "training; advantage: errors more without the rule"
    )
    report.print_evaluation(output, evaluation, most)
    output.heading("confusion matrix", "training")
    confusions = evaluation.confusion.astype(np.int64)
    report.print_confusions(output, confusions, evaluation.classes)


def _print_scores(output, estimator, features, goal, n_folds, seed, tested):
    """Print all scores; give the cross-validated predictions, if there are any."""
    y, is_classes = goal.values, goal.is_classes
    scores = [
        score_baseline(y, is_classes),
        score_rows("training", y, estimator.predict(features), is_classes),
    ]
    if is_ensemble(estimator):
        score = score_out_of_bag(estimator, y, is_classes)
        scores += [] if score is None else [score]
    notes, predicted = [], None
    if n_folds:
        n_folds, notes = choose_folds(n_folds, y, is_classes)
    if n_folds:
        score, predicted = _cross_validate(estimator, features, goal, n_folds, seed)
        scores.append(score)
    if tested is not None:
        scores.append(tested[0])
    output.heading("scores")
    report.print_scores(output, scores)
    output.notes(notes)
    return predicted


def _print_confusions(output, classes, y, predicted, tested):
    if predicted is not None:
        output.heading("confusion matrix", "cross-validated")
        confusions = count_confusions(y, predicted, classes)
        report.print_confusions(output, confusions, classes)
    if tested is not None:
        _, true, predicted = tested
        output.heading("confusion matrix", "test")
        labels = unique_labels(true, predicted)
        confusions = count_confusions(true, predicted, labels)
        report.print_confusions(output, confusions, labels)


def _cross_validate(estimator, features, goal, n_folds, seed):
    try:
        with show_progress("cross-validation", n_folds) as advance:
            return cross_validate(
                estimator,
                features,
                goal.values,
                goal.is_classes,
                n_folds,
                seed,
                advance,
            )
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise FitError(f"cross-validation: {reason} (--cv 0 leaves it out)") from error


def _score_test(model, path, options):
    """Score the tree on a table of its own, which must have the target."""
    notes = read_notes(model, path)
    table = read_model_table(model, notes, path, options)
    if table.target is None:
        raise table.file.error(
            f"no column {model.target!r} to score on",
            remedy=explain_unknown_name(model.target, table.file.names),
        )
    predicted = predict_rows(model, table)
    score, true, predicted = score_table(model, table, predicted, "test")
    if score is None:
        raise table.file.error("no value that can be scored", column=model.target)
    return score, true, predicted
