"""What ``fit`` prints of a fitted model and of its predictions."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.cli import report
from sklearn_textbook.cli.combinations import print_members
from sklearn_textbook.cli.ensemble_report import (
    MOST_IMPORTANCES,
    compute_importances,
    is_combination,
    is_ensemble,
    print_importances,
    print_sizes,
)
from sklearn_textbook.cli.model_report import (
    MOST_ROWS,
    describe_other_model,
    is_other_model,
    print_other_model,
)
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.scoring import count_confusions, score_classes


def print_model(output, model, training, settings, max_depth_shown, save):
    """Print a fitted model according to its kind.

    Parameters
    ----------
    output : Output
        Where to.
    model : SavedModel
        The fitted model.
    training : TrainingTable
        The table that it was fitted to.
    settings : sequence of (str, object)
        Parameters that the user has set.
    max_depth_shown : int
        Depth to which a tree is printed.
    save : str or None
        The model file, which ``show`` prints in full.
    """
    estimator = model.estimator
    if is_combination(estimator):
        output.heading("ensemble", report.describe_model(estimator))
        print_members(output, estimator, MOST_ROWS)
    elif is_other_model(estimator):
        output.heading("model", describe_other_model(estimator))
        print_other_model(output, estimator, model.schema.names, MOST_ROWS)
    elif report.is_rule_list(estimator):
        _print_rule_list(output, estimator, training, save)
    else:
        _print_trees(output, model, settings, max_depth_shown, save)


def _print_trees(output, model, settings, max_depth_shown, save):
    """Print a tree and its rules, or a summary of many trees."""
    estimator = model.estimator
    if is_ensemble(estimator):
        _print_ensemble(output, model)
        return
    output.heading("tree", report.describe_model(estimator))
    report.print_tree(output, estimator, max_depth_shown, report.MOST_SURROGATES)
    if not {"pruning", "ccp_alpha"} & {name for name, _ in settings}:
        output.notes(report.describe_default_pruning(estimator))
    output.heading("rules", "IF conditions THEN prediction [support, confidence]")
    remedy = _explain_show(save, " --as rules --all")
    report.print_rules(
        output, estimator, report.MOST_RULES, remedy, report.MOST_SURROGATES
    )
    if hasattr(estimator, "pruning_report_"):
        output.heading("pruning", "the largest pruned branches")
        report.print_pruning(output, estimator, report.MOST_BRANCHES)
    if estimator.tree_.n_leaves > 1:
        _print_importances(output, model)


def _explain_show(save, options=""):
    """Return a note with the command that shows all rules."""
    first = "--save FILE and " if save is None else ""
    command = f"sklearn-textbook show {'FILE' if save is None else save}{options}"
    return f"; {first}{command} print{'' if first else 's'} them all"


def _print_ensemble(output, model):
    """Print how large the trees are, and which columns matter."""
    output.heading("ensemble", report.describe_model(model.estimator))
    print_sizes(output, model.estimator)
    _print_importances(output, model)


def _print_importances(output, model):
    output.heading("importances", "share in the decrease of impurity")
    importances = compute_importances(model.estimator)
    most = min(MOST_IMPORTANCES, np.count_nonzero(importances))
    print_importances(output, model.schema.names, importances, most)


def _print_rule_list(output, estimator, training, save):
    """Print the rules, and their statistics on the training rows."""
    most = report.MOST_RULES
    output.heading("rules", report.describe_model(estimator))
    report.print_numbered_rules(output, estimator, most, _explain_show(save))
    with show_progress("evaluating the rules"):
        evaluation = estimator.evaluate(
            training.features, training.goal.values, training.weights
        )
    output.heading(
        "use of the rules", "training; advantage: errors added without the rule"
    )
    report.print_evaluation(output, evaluation, most)
    output.heading("confusion matrix", "training")
    report.print_confusions(output, evaluation.confusion, evaluation.classes)


def print_confusions(output, judged, where):
    """Print the confusion matrix of some predictions, and the scores of the classes."""
    rows = (judged.true, judged.predicted, judged.labels, judged.weights)
    output.heading("confusion matrix", where)
    report.print_confusions(output, count_confusions(*rows), judged.labels)
    output.heading("classes", where)
    report.print_class_scores(output, score_classes(*rows), judged.labels)
