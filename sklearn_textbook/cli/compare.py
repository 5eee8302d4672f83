"""The command ``compare``: several algorithms on the same folds of a table."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import click
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
    make_settings,
    takes_trees,
)
from sklearn_textbook.cli.blocks import Heading, Note
from sklearn_textbook.cli.columns import count_missing, explain_gaps
from sklearn_textbook.cli.costs import make_scorer
from sklearn_textbook.cli.errors import FitError, explain_fold_error, refuse_use
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.scoring import Score, choose_folds, cross_validate
from sklearn_textbook.cli.training_table import read_training, report_training
from sklearn_textbook.io.naming import count_things, explain_unknown_name


def compare_algorithms(
    table: str,
    *,
    target: str | None,
    algorithms: list[str],
    settings,
    n_folds: int,
    seed: int,
    trees: int | None,
    jobs: int | None,
    cost: str | None,
    full: bool,
    scoring: list[str],
    **options,
) -> None:
    """Cross-validate several algorithms on the same folds, and print their scores."""
    output = Output()
    compared = _read_names(algorithms)
    kind = _choose_kind(list(compared.values()))
    training = read_training(table, target, kind, options)
    goal = training.goal
    is_classes = goal.is_classes
    compared = compared or {name: name for name in ALGORITHMS if _is_default(name)}
    compared = {
        name: one for name, one in compared.items() if can_predict(one, is_classes)
    }
    scorer = make_scorer(goal, cost, scoring)
    prunes = len(goal.values) >= LEAST_ROWS_TO_PRUNE

    def make(algorithm, own):
        return make_estimator(
            *(algorithm, is_classes, own, seed),
            trees if takes_trees(algorithm, is_classes) else None,
            jobs,
            prunes,
            full and grows_one_tree(algorithm),
        )

    has_gaps = any(map(count_missing, training.features.columns))
    settings = make_settings(settings, seed)
    estimators, notes = _make_estimators(compared, settings, make, has_gaps)
    for estimator in estimators.values():
        notes += goal.order_classes(estimator)
    output.write(report_training(training, options))
    n_folds, fold_notes = choose_folds(n_folds, goal.values, is_classes)
    if not n_folds:
        raise FitError(f"{training.file.path}: {fold_notes[0]}")
    scores = [scorer.score_baseline(goal.values, training.weights)]
    refusals = []
    with show_progress("cross-validation", n_folds * len(estimators)) as steps:
        for number, (name, estimator) in enumerate(estimators.items(), start=1):
            steps.describe(f"cross-validation of {name}")
            try:
                score, warned = _score(
                    scorer, name, estimator, training, n_folds, seed, steps
                )
                notes += warned
            except FitError as error:
                score = Score(
                    name, dict.fromkeys(scores[0].means, np.nan), {}, "refused"
                )
                refusals.append(str(error))
            scores.append(score)
            steps.advance(number * n_folds - steps.n_done)  # those that were refused
    if len(refusals) == len(estimators):
        raise FitError(f"{refusals[0]}; --algorithms chooses others")
    kind = "stratified fold" if is_classes else "fold"
    how = f"cross-validated, the same {count_things(n_folds, kind)}"
    output.write(Heading("scores", how), report.report_scores(scores))
    output.write(*map(Note, [*fold_notes, *notes, *refusals]))


def _is_default(name):
    """Return whether an algorithm is compared if none is named.

    The others of the linear models are equal to these without parameters of their own.
    A search of optimal trees may take a minute in every fold.
    """
    if name == "optimal-tree":
        return False
    return has_trees(name) or name in ("linear", "logistic")


def _read_names(algorithms):
    """Return the algorithms by the names under which they are compared."""
    compared = {}
    for text in algorithms:
        name, equals, one = (word.strip() for word in text.partition("="))
        one = one if equals else name
        if one not in list_algorithms():
            refuse_use(
                f"--algorithms: {one!r} is unknown; "
                f"{explain_unknown_name(one, ALGORITHMS)}"
            )
        if not name or "__" in name:
            refuse_use(
                f"--algorithms: {text!r} has no name, or a name with two underscores"
            )
        if name in compared:
            refuse_use(
                f"--algorithms: {name} is given twice; NAME=ALGORITHM gives it a "
                f"different name, as in {name}2={one}"
            )
        compared[name] = one
    return compared


def _make_estimators(
    compared: dict[str, str], settings, make: Callable, has_gaps: bool
) -> tuple[dict, list[str]]:
    """Make the estimators with their parameters."""
    own = {name: [] for name in compared}
    notes = []
    for name, algorithm in compared.items():
        if has_gaps and make(algorithm, []).get_params().get("missing") == "error":
            own[name].append(("missing", "mean"))
    filling = [name for name in compared if own[name]]
    # Outer parameters first: whether there is a pruning__confidence depends on pruning.
    for setting in sorted(settings, key=lambda setting: setting[0].count("__")):
        first, _, rest = setting[0].partition("__")
        name = next((n for n in compared if _fold(n) == _fold(first)), None)
        if rest and name is not None:
            own[name].append((rest, setting[1]))
            continue
        takers, refusals = [], []
        for name, algorithm in compared.items():
            try:
                make(algorithm, [*own[name], setting])
            except click.UsageError as error:
                refusals.append(error)
                continue
            takers.append(name)
            own[name].append(setting)
        if not takers:
            raise refusals[0]
        if refusals:
            others = [name for name in compared if name not in takers]
            notes.append(
                f"{setting[0]} is set for {', '.join(takers)} only"
                if len(takers) <= len(others)
                else f"{setting[0]} is not set for {', '.join(others)}"
            )
    filling = [name for name in filling if dict(own[name])["missing"] == "mean"]
    if filling:
        notes.append(
            f"{', '.join(filling)}: means are filled in for missing values, with "
            "indicators (missing='mean')"
        )
    return {name: make(one, own[name]) for name, one in compared.items()}, notes


def _fold(name):
    """Return a name as it is compared: dashes are underscores."""
    return name.replace("-", "_")


def _choose_kind(algorithms):
    """Choose the algorithm that determines whether classes or numbers are predicted."""
    by_wish = {}
    for name in algorithms:
        by_wish.setdefault(find_wish(name), name)
    if "classifier" in by_wish and "regressor" in by_wish:
        refuse_use(
            f"--algorithms: {by_wish['regressor']} predicts numbers and "
            f"{by_wish['classifier']} predicts classes, which cannot be compared"
        )
    wishes = [name for wish, name in by_wish.items() if wish]
    return [*wishes, *algorithms, "cart"][0]


def _score(scorer, name, estimator, training, n_folds, seed, steps):
    """Cross-validate one algorithm, and measure the time; return notes, too."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            (score,), _ = cross_validate(
                scorer, estimator, training, n_folds, seed, steps
            )
        except (ValueError, TypeError) as error:
            gaps, _ = explain_gaps(training.features, error)
            reason = gaps or explain_fold_error(error)
            raise FitError(f"{name}: {reason}") from error
    seconds = time.perf_counter() - start
    score = replace(score, where=name, note=f"{seconds:.1f} seconds")
    return score, _note_warnings(name, [str(each.message) for each in caught])


def _note_warnings(name, messages):
    """Write the warnings of folds as notes, without what concerns a single fold."""
    sentences = [re.split(r"(?<=\.) +", message.strip()) for message in messages]
    general = [
        " ".join([s for s in split if not re.search(r"\d", s)] or split)
        for split in sentences
    ]
    counts = Counter(general).items()
    return [
        f"{name}: {text.rstrip('.')} ({count_things(number, 'fold')})"
        for text, number in counts
    ]
