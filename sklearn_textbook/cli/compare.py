"""The command ``compare``: several algorithms on the same folds of a table."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from sklearn_textbook.cli import report
from sklearn_textbook.cli.algorithms import (
    ALGORITHMS,
    LEAST_ROWS_TO_PRUNE,
    can_predict,
    find_wish,
    grows_one_tree,
    has_trees,
    list_algorithms,
    make_estimator,
    takes_trees,
)
from sklearn_textbook.cli.columns import explain_gaps
from sklearn_textbook.cli.costs import make_scorer
from sklearn_textbook.cli.errors import FitError, explain_fold_error, refuse_use
from sklearn_textbook.cli.output import Output, show_progress
from sklearn_textbook.cli.scoring import Score, choose_folds, cross_validate
from sklearn_textbook.cli.training_table import print_training, read_training
from sklearn_textbook.io.naming import count_things, explain_unknown_name


def compare_algorithms(
    table, *, target, algorithms, n_folds, seed, trees, jobs, cost, full, **options
):
    """Cross-validate several algorithms on the same folds, and print their scores.

    Parameters
    ----------
    table : str
        Path of the table.
    target : str or None
        Column to predict; None leaves it to the file.
    algorithms : list of str
        Their names; all trees and ensembles that can predict the target if it is
        empty.
    n_folds : int
        Number of folds.
    seed : int
        Seed of folds and algorithms.
    trees : int or None
        Number of trees of ensembles.
    jobs : int or None
        Number of threads.
    cost : str or None
        File with the costs of errors.
    full : bool
        Whether trees are left unpruned.
    **options
        How the table is read, as for ``fit``.
    """
    output = Output()
    training = read_training(table, target, _choose_kind(algorithms), options)
    goal = training.goal
    is_classes = goal.is_classes
    # Other algorithms may not accept text or missing values.
    names = algorithms or list(filter(has_trees, ALGORITHMS))
    names = [name for name in names if can_predict(name, is_classes)]
    scorer = make_scorer(goal, cost)
    prunes = len(goal.values) >= LEAST_ROWS_TO_PRUNE
    estimators = {
        name: make_estimator(
            *(name, is_classes, [], seed),
            trees if takes_trees(name, is_classes) else None,
            jobs,
            prunes,
            full and grows_one_tree(name),
        )
        for name in names
    }
    print_training(output, training, options)
    n_folds, notes = choose_folds(n_folds, goal.values, is_classes)
    if not n_folds:
        raise FitError(f"{training.file.path}: {notes[0]}")
    scores = [scorer.score_baseline(goal.values, training.weights)]
    refusals = []
    with show_progress("cross-validation", n_folds * len(estimators)) as advance:
        for name, estimator in estimators.items():
            try:
                score = _score(
                    scorer, name, estimator, training, n_folds, seed, advance
                )
            except FitError as error:
                score = Score(
                    name, dict.fromkeys(scores[0].means, np.nan), {}, "refused"
                )
                refusals.append(str(error))
            scores.append(score)
    if len(refusals) == len(estimators):
        raise FitError(f"{refusals[0]}; --algorithms chooses others")
    kind = "stratified fold" if is_classes else "fold"
    output.heading("scores", f"cross-validated, the same {count_things(n_folds, kind)}")
    report.print_scores(output, scores)
    output.notes([*notes, *refusals])


def _choose_kind(algorithms):
    """Choose the algorithm that determines whether classes or numbers are predicted."""
    by_wish = {}
    for name in algorithms:
        if name not in list_algorithms():
            refuse_use(
                f"--algorithms: {name!r} is unknown; "
                f"{explain_unknown_name(name, ALGORITHMS)}"
            )
        by_wish.setdefault(find_wish(name), name)
    if "classifier" in by_wish and "regressor" in by_wish:
        refuse_use(
            f"--algorithms: {by_wish['regressor']} predicts numbers and "
            f"{by_wish['classifier']} predicts classes, which cannot be compared"
        )
    wishes = [name for wish, name in by_wish.items() if wish]
    return [*wishes, *algorithms, "cart"][0]


def _score(scorer, name, estimator, training, n_folds, seed, advance):
    """Cross-validate one algorithm, and measure the time."""
    start = time.perf_counter()
    try:
        (score,), _ = cross_validate(
            scorer, estimator, training, n_folds, seed, advance
        )
    except (ValueError, TypeError) as error:
        gaps, _ = explain_gaps(training.features, error)
        reason = gaps or explain_fold_error(error)
        raise FitError(f"{name}: {reason}") from error
    seconds = time.perf_counter() - start
    return replace(score, where=name, note=f"{seconds:.1f} seconds")
