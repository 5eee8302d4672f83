"""The sections of a report: summary, data, model, scores, settings."""

from __future__ import annotations

import copy
import inspect
import platform
from dataclasses import dataclass
from functools import partial

import numpy as np
import sklearn

import sklearn_textbook
from sklearn_textbook.cli import report
from sklearn_textbook.cli.columns import print_columns
from sklearn_textbook.cli.ensemble_report import is_combination, is_ensemble
from sklearn_textbook.cli.fitted_output import print_model
from sklearn_textbook.cli.html_report.elements import (
    Html,
    HtmlOutput,
    join,
    make,
    make_bar,
    make_table,
)
from sklearn_textbook.cli.html_report.evaluation import write_scores
from sklearn_textbook.cli.html_report.figures import draw, draw_tree, draw_values
from sklearn_textbook.cli.html_report.file import write_report
from sklearn_textbook.cli.model_report import MOST_ROWS, print_other_model
from sklearn_textbook.cli.training_table import print_training
from sklearn_textbook.inspection import (
    BiplotDisplay,
    PruningPathDisplay,
    ScreeDisplay,
)
from sklearn_textbook.io.model_document import SavedModel
from sklearn_textbook.io.naming import count_things, list_names
from sklearn_textbook.io.table_file import display_path
from sklearn_textbook.linear_model.inference.summary import format_number, format_p

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

    Parameters
    ----------
    model : SavedModel
        The fitted model.
    training : TrainingTable
        What it was fitted to.
    options : dict
        How the table was read.
    settings : sequence of (str, object)
        Parameters that the user has set.
    scores : list of Score
        Scores as the terminal has them.
    notes : list of str
        Remarks on them.
    judged : list of (str, Tested)
        Predictions of rows that the model has not seen, and where they are from.
    seed : int
        Seed of folds and algorithm.
    save : str or None
        The model file.
    max_depth_shown : int
        Depth to which the tree is printed as text.
    """

    model: SavedModel
    training: object
    options: dict
    settings: tuple
    scores: list
    notes: list
    judged: list
    seed: int
    save: str | None
    max_depth_shown: int


def report_fit(path, fitted):
    """Write the report of a model that predicts.

    Parameters
    ----------
    path : str
        The page.
    fitted : FittedTable
        The model, its table and its scores.
    """
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
        "model": report.describe_model(fitted.model.estimator),
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
    return _list_terms(lines)


def _write_score(score, name):
    mean = f"{score.means[name]:.4g}"
    deviation = score.deviations.get(name)
    return mean if deviation is None else f"{mean} ± {deviation:.2g}"


def _list_terms(lines):
    parts = [join(make("dt", name), make("dd", text)) for name, text in lines.items()]
    return make("dl", *parts)


# ------------------------------------------------------------------------ data
def _describe_data(fitted):
    training, goal = fitted.training, fitted.training.goal
    output = HtmlOutput(is_prose=True)
    print_training(output, training, fitted.options)
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
        return join(output.finish(), heading, figure)
    return join(output.finish(), heading, _list_classes(values))


def _list_classes(values):
    """List the classes with their rows, the largest first."""
    classes, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    lines = [
        (
            report.show_label(classes[i]),
            f"{counts[i]:,}",
            f"{counts[i] / len(values):.1%}",
            make_bar(counts[i] / counts.max()),
        )
        for i in order[:MOST_CLASSES]
    ]
    heads = ("class", "rows", "share", "")
    table = make_table(heads, lines, right=heads[1:3], label="classes of the target")
    n_more = len(classes) - len(lines)
    if not n_more:
        return table
    more = f"... and {n_more:,} smaller {'class' if n_more == 1 else 'classes'}"
    return join(table, make("p", more))


# ----------------------------------------------------------------------- model
def _describe_model(fitted):
    """Print the model as the terminal does, with figures at their headings."""
    estimator = fitted.model.estimator
    additions = {name: make("p", text, class_="help") for name, text in _HELP.items()}
    folded = {}
    if report.is_rule_list(estimator):
        additions["rules"] = make(
            "p",
            "The first rule whose conditions are met predicts the class; if there is "
            "none, the default does.",
            class_="help",
        )
    elif hasattr(estimator, "tree_") and not is_ensemble(estimator):
        additions["tree"] = _draw_tree(estimator)
        folded["tree"] = "The tree as text"
        if hasattr(estimator, "pruning_path_"):
            additions["pruning"] = _draw_path(estimator)
    if is_ensemble(estimator) and not is_combination(estimator):
        additions["ensemble"] = Html()
    if hasattr(estimator, "summary"):
        coefficients = _list_coefficients(estimator)
        additions["model"] = join(additions["model"], coefficients)
        if coefficients:
            folded["model"] = "Statistics of the fit"
    output = HtmlOutput(additions=additions, folded=folded)
    save, depth = fitted.save, fitted.max_depth_shown
    print_model(output, fitted.model, fitted.training, fitted.settings, depth, save)
    return output.finish()


def _draw_tree(estimator):
    if estimator.tree_.n_leaves < 2:
        return make("p", "The tree has no split: it predicts the same for every row.")
    depth = max(2, min(estimator.tree_.max_depth, 6))
    size = TREE_SIZE[0], min(TREE_SIZE[1], 1.4 + 1.25 * depth)
    return draw_tree(
        estimator,
        f"The tree, from the root down; {report.describe_model(estimator)}",
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
    table = make_table(heads, lines, right=heads[1:-1], label="pruned trees")
    title = "Table of the pruned trees"
    if total > len(lines):
        title += f", {len(lines)} of {total:,} around the chosen one"
    return join(figure, make("details", make("summary", title), table))


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


def _list_coefficients(estimator):
    """List coefficients with their uncertainty, where a model has them."""
    table = getattr(estimator, "coefficient_table_", None)
    if table is None or isinstance(table, list):
        return Html()
    columns = table.as_dict()
    names = {"standard_error": "std. error", "p_value": "p", "low": "2.5%"}
    heads = ["column", *(names.get(n, n) for n in list(columns)[1:-1]), "97.5%"]
    lines = [
        (
            str(row[0]),
            *(
                format_p(number) if head == "p" else format_number(number)
                for head, number in zip(heads[1:], row[1:], strict=True)
            ),
        )
        for row in list(zip(*columns.values(), strict=True))[:MOST_ROWS]
    ]
    more = len(table.names) - len(lines)
    rest = make("p", f"... and {count_things(more, 'more row')}") if more else ""
    listed = make_table(heads, lines, right=heads[1:], label="coefficients")
    help_text = make(
        "p",
        "The coefficient is the change of the prediction (in a generalised linear or "
        "logistic model, of its linear predictor) per unit of the column, all others "
        "being equal; p is the probability of an estimate at least as far from 0 if "
        "the coefficient is 0.",
        class_="help",
    )
    return join(listed, rest, help_text)


# -------------------------------------------------------------------- settings
def _describe_settings(estimator, seed):
    """List the parameters that are not the default ones, and the versions."""
    defaults = _find_defaults(type(estimator))
    lines = []
    for name, value in sorted(estimator.get_params(deep=False).items()):
        text = _shorten(repr(value))
        default = _shorten(repr(defaults[name])) if name in defaults else ""
        if text != default:
            lines.append((name, make("td", make("code", text)), default))
    parts = []
    if lines:
        heads = ("parameter", "value", "default")
        parts.append(make_table(heads, lines, label="parameters"))
        parts.append(make("p", "All other parameters have their default values."))
    else:
        parts.append(make("p", "All parameters have their default values."))
    versions = {
        "random seed": str(seed),
        "sklearn_textbook": sklearn_textbook.__version__,
        "scikit-learn": sklearn.__version__,
        "Python": platform.python_version(),
    }
    return join(*parts, _list_terms(versions))


def _find_defaults(kind):
    parameters = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _shorten(text):
    text = " ".join(text.split())
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


# ------------------------------------------------------------------ components
def report_components(path, estimator, file, frame, left_out, seed):
    """Write the report of a model that has no target.

    Parameters
    ----------
    path : str
        The page.
    estimator : estimator
        Fitted principal components.
    file : TableFile
        The table.
    frame : pyarrow.Table
        Its columns that were used.
    left_out : list of str
        Names of others.
    seed : int
        Seed of the algorithm.
    """
    lines = {
        "table": display_path(file.path),
        "trained on": f"{count_things(frame.num_rows, 'row')}, "
        f"{count_things(frame.num_columns, 'column')}",
        "model": report.describe_model(estimator),
    }
    data = HtmlOutput(is_prose=True)
    if left_out:
        data.write(f"left out: {list_names(left_out)}")
    print_columns(data, frame)
    data.notes(file.notes)
    numbers = HtmlOutput()
    print_other_model(numbers, estimator, frame.column_names, MOST_ROWS)
    sections = [
        ("", _list_terms(lines)),
        ("Data", data.finish()),
        ("Components", join(_draw_components(estimator, frame), numbers.finish())),
        ("Settings", _describe_settings(estimator, seed)),
    ]
    name = display_path(file.path)
    write_report(path, f"{name}: {type(estimator).__name__}", sections)


def _draw_components(estimator, frame):
    figures = [
        draw(
            "scree",
            "Fraction of the variance that each component explains",
            "The components before a bend of the line contain most of what the columns "
            "have in common.",
            partial(_draw_scree, estimator),
        )
    ]
    if len(estimator.components_) > 1:
        figures.append(
            draw(
                "biplot",
                "Rows and columns in the plane of the first two components",
                "Points are rows. Arrows are columns: those in the same direction are "
                "correlated, those at right angles are not.",
                partial(_draw_biplot, estimator, frame),
            )
        )
    return make("div", *figures, class_="pair")


def _draw_scree(estimator, ax):
    ScreeDisplay.from_estimator(estimator, ax=ax)


def _draw_biplot(estimator, frame, ax):
    BiplotDisplay.from_estimator(estimator, frame.slice(0, MOST_ROWS_DRAWN), ax=ax)
