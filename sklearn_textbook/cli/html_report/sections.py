"""The sections of a report: summary, data, model, scores, settings."""

from __future__ import annotations

import copy
import inspect
import platform
from dataclasses import dataclass

import numpy as np
import sklearn

import sklearn_textbook
from sklearn_textbook._contract.text_table import Bar, TextTable
from sklearn_textbook.cli import models, report
from sklearn_textbook.cli.blocks import Note, count_more
from sklearn_textbook.cli.columns import report_columns
from sklearn_textbook.cli.html_report.elements import (
    Html,
    fold,
    join,
    list_terms,
    make,
    write_blocks,
    write_help,
    write_table,
)
from sklearn_textbook.cli.html_report.evaluation import write_scores
from sklearn_textbook.cli.html_report.figures import draw, draw_tree, draw_values
from sklearn_textbook.cli.html_report.file import write_report
from sklearn_textbook.cli.model_table import Tested
from sklearn_textbook.cli.scoring import Score
from sklearn_textbook.cli.training_table import TrainingTable, report_training
from sklearn_textbook.inspection import (
    BiplotDisplay,
    PruningPathDisplay,
    ScreeDisplay,
)
from sklearn_textbook.io.naming import count_things, list_names
from sklearn_textbook.io.saved_model import SavedModel
from sklearn_textbook.io.table_file import display_path

#: Classes of the target that are listed, and subtrees of a pruning path.
MOST_CLASSES = 20
MOST_SUBTREES = 30
#: Of a longer path, so many of the smallest subtrees are drawn, and as many others.
MOST_SUBTREES_DRAWN = 200
#: Largest picture of a tree, in inches; a larger tree is drawn to some depth.
TREE_SIZE = (10.4, 6.5)
#: Rows that are drawn with principal components.
MOST_ROWS_DRAWN = 2_000
_MOST_LETTERS = 200

_HELP = {
    "rules": "Each leaf of the tree as a rule. Support: fraction of the training rows "
    "to which the rule applies; confidence: fraction of these rows that have the "
    "predicted class.",
    "importances": "How much the splits at each column decrease the impurity of the "
    "training rows, as a fraction of the sum. Columns with many distinct values are "
    "favoured, and of columns with the same information, one may get all of it.",
    "model": "Estimated from all training rows.",
    "ensemble": "The predictions of the members are combined into one.",
}


@dataclass(frozen=True)
class FittedTable:
    """Everything that ``fit`` has computed from a table.

    ``judged`` are predictions of rows that the model has not seen, and where they are
    from; ``save`` is the model file.
    """

    model: SavedModel
    training: TrainingTable
    options: dict
    settings: list[tuple[str, object]]
    scores: list[Score]
    notes: list[str]
    judged: list[tuple[str, Tested]]
    seed: int
    save: str | None
    max_depth_shown: int


def report_fit(path: str, fitted: FittedTable) -> None:
    """Write the report of a model that predicts."""
    estimator, goal = fitted.model.estimator, fitted.training.goal
    sections = [
        ("", _summarize(fitted)),
        ("Data", _describe_data(fitted)),
        ("Model", _describe_model(fitted)),
        ("Scores", write_scores(fitted.scores, fitted.notes, fitted.judged)),
        ("Settings", _describe_settings(estimator, fitted.seed)),
    ]
    write_report(path, f"{goal.name}: {type(estimator).__name__}", sections)


def _summarize(fitted):
    """Summarise the model and its scores in a few lines."""
    training, goal = fitted.training, fitted.training.goal
    rows = count_things(training.features.num_rows, "row")
    columns = count_things(training.features.num_columns, "column")
    lines = {
        "table": display_path(training.file.path),
        "trained on": f"{rows}, {columns}",
        "target": report.describe_target(goal),
        "model": models.describe_model(fitted.model.estimator),
    }
    names = ("accuracy", "AUC") if goal.is_classes else ("R2", "RMSE")
    given = list(fitted.scores[0].means)  # by --scoring
    names = [name for name in names if name in given] or given[:2]
    shown = [score for score in fitted.scores if not score.where.startswith(" ")]
    unseen = [s for s in shown if s.where in ("cross-validated", "test", "out-of-bag")]
    for score in [*unseen, shown[0]]:
        words = [
            f"{name} {_write_score(score, name)}"
            for name in names
            if np.isfinite(score.means[name])
        ]
        is_mean = score is shown[0]
        baseline = f"{score.where.replace(' ', '-')} baseline"
        what = baseline if is_mean else score.where
        lines[what] = f"{', '.join(words)} ({score.note})"
    return list_terms(lines)


def _write_score(score, name):
    mean = f"{score.means[name]:.4g}"
    deviation = score.deviations.get(name)
    return mean if deviation is None else f"{mean} ± {deviation:.2g}"


# ------------------------------------------------------------------------ data
def _describe_data(fitted):
    training, goal = fitted.training, fitted.training.goal
    table = write_blocks(report_training(training, fitted.options))
    heading = make("h3", "Distribution of the target")
    values = goal.values
    if not goal.is_classes:
        low, high = values.min(), values.max()
        figure = draw(
            "target",
            f"Distribution of {goal.name}, from {low:.6g} to {high:.6g}",
            f"Mean {np.average(values, weights=training.weights):.6g}, median "
            f"{np.median(values):.6g}.",
            lambda ax: draw_values(ax, values, training.weights, goal.name),
            size=(5.2, 2.6),
        )
        return join(table, heading, figure)
    return join(table, heading, _list_classes(values))


def _list_classes(values):
    """List the classes with their rows, the largest first."""
    classes, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rows = [
        (
            report.show_label(classes[i]),
            f"{counts[i]:,}",
            f"{counts[i] / len(values):.1%}",
            Bar(counts[i] / counts.max()),
        )
        for i in order[:MOST_CLASSES]
    ]
    more = count_more(len(classes) - len(rows), "smaller class")
    table = TextTable(("class", "rows", "share", ""), rows, "lrrl", more)
    return write_table(table, "classes of the target")


# ----------------------------------------------------------------------- model
def _describe_model(fitted):
    """Print the model as the terminal does, with figures at their headings."""
    estimator = fitted.model.estimator
    additions = {name: write_help(text) for name, text in _HELP.items()}
    if models.is_rule_list(estimator):
        additions["rules"] = write_help(
            "The first rule whose conditions are met predicts the class; if there is "
            "none, the default does."
        )
    elif hasattr(estimator, "tree_") and not models.is_ensemble(estimator):
        additions["tree"] = _draw_tree(estimator)
        if hasattr(estimator, "pruning_path_"):
            additions["pruning"] = _draw_path(estimator)
    if models.is_ensemble(estimator) and not models.is_combination(estimator):
        additions["ensemble"] = Html()
    save, depth = fitted.save, fitted.max_depth_shown
    blocks = models.report_model(
        fitted.model, fitted.training, fitted.settings, depth, save
    )
    return write_blocks(blocks, additions)


def _draw_tree(estimator):
    if estimator.tree_.n_leaves < 2:
        return make("p", "The tree has no split: it predicts the same for every row.")
    depth = max(2, min(estimator.tree_.max_depth, 6))
    size = TREE_SIZE[0], min(TREE_SIZE[1], 1.4 + 1.25 * depth)
    return draw_tree(
        estimator,
        f"The tree, from the root down; {models.describe_model(estimator)}",
        "A row starts at the top and follows the condition that it meets. The last box "
        "shows the prediction; the number of rows and the bar refer to the training "
        "rows. If the tree is large, only its upper levels are drawn.",
        size,
    )


def _draw_path(estimator):
    """Draw the risk of the pruned trees, and list them."""
    path = estimator.pruning_path_
    figure = draw(
        "pruning",
        "Risk of the pruned trees by their complexity parameter alpha",
        "From the full tree (left) to only the root (right). The chosen tree has the "
        "smallest risk or, with the one-standard-error rule, the fewest leaves within "
        "one standard error of it.",
        lambda ax: PruningPathDisplay.from_estimator(_thin_path(estimator), ax=ax),
        size=(6.4, 3.9),
    )
    names = [name for name in _PATH_COLUMNS if name in path]
    chosen = np.flatnonzero(path["selected"]) if "selected" in path else []
    total = len(path["alpha"])
    shown = range(total)
    if total > MOST_SUBTREES:
        middle = int(chosen[0]) if len(chosen) else total // 2
        first = min(max(0, middle - MOST_SUBTREES // 2), total - MOST_SUBTREES)
        shown = range(first, first + MOST_SUBTREES)
    lines = [
        (
            f"{int(path['n_leaves'][row]):,}",
            *(f"{path[name][row]:.4g}" for name in names),
            "chosen" if row in chosen else "",
        )
        for row in shown
    ]
    heads = ["leaves", *(_PATH_COLUMNS[name] for name in names), ""]
    table = TextTable(heads, lines, "l" + "r" * len(names) + "l")
    title = "Table of the pruned trees"
    if total > len(lines):
        title += f", {len(lines)} of {total:,} around the chosen one"
    return join(figure, fold(title, write_table(table, "pruned trees")))


def _thin_path(estimator):
    """Copy a tree with fewer subtrees to draw: the smallest, and some of the others."""
    path = estimator.pruning_path_
    names = [name for name in ("selected", *_PATH_COLUMNS, "n_leaves") if name in path]
    total = len(path["alpha"])
    if total <= 2 * MOST_SUBTREES_DRAWN:
        return estimator
    first = total - MOST_SUBTREES_DRAWN
    rows = [
        *np.linspace(0, first, MOST_SUBTREES_DRAWN, dtype=int),
        *range(first, total),
        *np.flatnonzero(path["selected"]),
        *(
            np.nanargmin(path[name])
            for name in names
            if name.endswith("_risk") and np.isfinite(path[name]).any()
        ),
    ]
    thinned = copy.copy(estimator)
    thinned.pruning_path_ = {name: path[name][np.unique(rows)] for name in names}
    return thinned


_PATH_COLUMNS = {
    "alpha": "alpha",
    "risk": "training risk",
    "cv_risk": "cross-validated risk",
    "cv_risk_std": "standard error",
    "validation_risk": "validation risk",
    "validation_risk_std": "standard error",
}


# -------------------------------------------------------------------- settings
def _describe_settings(estimator, seed):
    """List the parameters that are not the default ones, and the versions."""
    defaults = _find_defaults(type(estimator))
    lines = []
    for name, value in sorted(estimator.get_params(deep=False).items()):
        text = _shorten(repr(value))
        default = _shorten(repr(defaults[name])) if name in defaults else ""
        if text != default:
            lines.append((name, make("code", text), default))
    table = TextTable(("parameter", "value", "default"), lines, "l")
    others = "other parameters" if lines else "parameters"
    parts = [
        *([write_table(table, "parameters")] if lines else []),
        make("p", f"All {others} have their default values."),
    ]
    versions = {
        "random seed": str(seed),
        "sklearn_textbook": sklearn_textbook.__version__,
        "scikit-learn": sklearn.__version__,
        "Python": platform.python_version(),
    }
    return join(*parts, list_terms(versions))


def _find_defaults(kind):
    parameters = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _shorten(text):
    text = " ".join(text.split())
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


# ------------------------------------------------------------------ components
def report_components(path: str, estimator, file, frame, left_out, seed: int) -> None:
    """Write the report of a model that has no target."""
    lines = {
        "table": display_path(file.path),
        "trained on": f"{count_things(frame.num_rows, 'row')}, "
        f"{count_things(frame.num_columns, 'column')}",
        "model": models.describe_model(estimator),
    }
    data = [
        *([f"left out: {list_names(left_out)}"] if left_out else []),
        *report_columns(frame),
        *map(Note, file.notes),
    ]
    numbers = models.report_other_model(estimator, frame.column_names, models.MOST_ROWS)
    figures = _draw_components(estimator, frame)
    sections = [
        ("", list_terms(lines)),
        ("Data", write_blocks(data)),
        ("Components", join(figures, write_blocks(numbers))),
        ("Settings", _describe_settings(estimator, seed)),
    ]
    name = display_path(file.path)
    write_report(path, f"{name}: {type(estimator).__name__}", sections)


def _draw_components(estimator, frame):
    rows = frame.slice(0, MOST_ROWS_DRAWN)
    figures = [
        draw(
            "scree",
            "Fraction of the variance that each component explains",
            "The components before a bend of the line contain most of what the columns "
            "have in common.",
            lambda ax: ScreeDisplay.from_estimator(estimator, ax=ax),
        )
    ]
    if len(estimator.components_) > 1:
        figures.append(
            draw(
                "biplot",
                "Rows and columns in the plane of the first two components",
                "Points are rows. Arrows are columns: those in the same direction are "
                "correlated, those at right angles are not.",
                lambda ax: BiplotDisplay.from_estimator(estimator, rows, ax=ax),
            )
        )
    return make("div", *figures, class_="pair")
