"""What the commands print of a target, a tree, rules and scores."""

from __future__ import annotations

import numpy as np
from rich.text import Text

from sklearn_textbook._contract.text_table import write_number
from sklearn_textbook.cli.ensemble_report import describe_ensemble, is_ensemble
from sklearn_textbook.cli.model_report import describe_other_model, is_other_model
from sklearn_textbook.cli.output import (
    make_table,
    measure_width,
    paint_rules,
    paint_tree,
)
from sklearn_textbook.io.naming import count_things
from sklearn_textbook.tree import export_rules, export_text
from sklearn_textbook.tree.explain.rules import collect_rules
from sklearn_textbook.tree.rules import tabulate_rules

#: Levels of a column, or classes of the target, that are listed.
MOST_LEVELS = 6
MOST_CLASSES = 15
MOST_CONFUSIONS = 10
MOST_RULES = 20
#: Pruned branches that ``fit`` lists, the lines of their rules and the width of these.
MOST_BRANCHES = 5
MOST_LINES = 4
LEAST_WIDTH = 32
#: Surrogates of a test that ``fit`` prints; ``show`` prints all.
MOST_SURROGATES = 1


def describe_target(target):
    """Describe the target in one line."""
    if not target.is_classes:
        low, high = target.values.min(), target.values.max()
        ends = f"{write_number(low)} to {write_number(high)}"
        return f"{target.name}: numbers from {ends} (regression)"
    classes, counts = np.unique(target.values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    shown = ", ".join(f"{show_label(classes[i])} {counts[i]:,}" for i in order)
    more = ", ..." if len(classes) > MOST_LEVELS else ""
    return f"{target.name}: {count_things(len(classes), 'class')} ({shown}{more})"


def show_label(label):
    """Write a class label; booleans as true and false."""
    return str(label).lower() if isinstance(label, bool | np.bool_) else str(label)


# ------------------------------------------------------------ tree and rules
def is_rule_list(estimator):
    """Return whether the estimator is a list of rules."""
    return hasattr(estimator, "rule_list_")


def describe_model(estimator):
    """Describe a tree, a list of rules, an ensemble or another model, and its size."""
    name = type(estimator).__name__
    if is_other_model(estimator):
        return describe_other_model(estimator)
    if is_ensemble(estimator):
        return describe_ensemble(estimator)
    if not is_rule_list(estimator):
        return f"{name}, {_describe_size(estimator.tree_)}"
    rules = count_things(estimator.n_rules_, "rule")
    size = _describe_size(estimator.rule_list_.tree)
    return f"{name}, {rules} and a default, from a tree of {size}"


def _describe_size(tree):
    leaves = count_things(tree.n_leaves, "leaf").replace("leafs", "leaves")
    return f"{leaves}, depth {tree.max_depth}"


def print_tree(output, estimator, max_depth=None, max_surrogates=None):
    """Print a tree as text down to some depth, None for all of it."""
    width = output.console.width if output.is_terminal else None
    text = export_text(
        estimator, max_depth=max_depth, max_surrogates=max_surrogates, max_width=width
    )
    output.write(paint_tree(text))


def print_rules(output, estimator, most=None, remedy="", max_surrogates=None):
    """Print rules of a tree or a list, some or all of them.

    Parameters
    ----------
    output : Output
        Where to.
    estimator : estimator
        The fitted tree or list of rules.
    most : int, default=None
        Rules of a tree that are printed, those of the most training weight, or first
        rules of a list, in addition to its default; None: all.
    remedy : str, default=""
        How to see all, for the line that counts the others.
    max_surrogates : int, default=None
        Surrogates of a test that are printed; None: all.
    """
    text = export_rules(estimator, max_rules=None, max_surrogates=max_surrogates)
    lines = text.splitlines()
    *first, default = lines if is_rule_list(estimator) else [*lines, None]
    if most is not None and len(first) > most:
        which = "rules"
        left_out = len(first) - most
        if default is None:
            rules = collect_rules(estimator.tree_, inner_nodes=False)
            weights = [-rule.weight for rule in rules]
            # The heaviest ones, in the order of the tree.
            heaviest = sorted(np.argsort(weights, kind="stable")[:most].tolist())
            first = [first[i] for i in heaviest]
            which = "rules with less support"
        lines = [*first[:most], f"... and {left_out:,} {which}{remedy}"]
        lines += [] if default is None else [default]
    output.write(*(output.hang(paint_rules(line)) for line in lines))


def print_pruning(output, estimator, most=None):
    """Print the pruning report with some of the pruned branches, None for all."""
    from sklearn_textbook.tree import export_pruning_report

    start = None
    for line in export_pruning_report(estimator, max_rows=most).splitlines():
        if line.startswith("leaves "):  # the header: rules wrap below the last column
            start = line.rindex("  ") + 2
        if start is None or line.startswith("..."):
            output.write(output.hang(Text(line)))
            continue
        indent = min(start, output.width - LEAST_WIDTH)
        room = MOST_LINES * (output.width - indent)
        rule = _shorten_rule(line[start:], room)
        output.write(output.hang(Text(line[:start] + rule), indent))


def _shorten_rule(text, room):
    """Leave out the last conditions of a long rule, but not what it predicts."""
    conditions, then, prediction = text.rpartition(" THEN ")
    if len(text) <= room or not then:
        return text
    kept = conditions[: max(room - len(then + prediction) - 2, 0)]
    return f"{kept.rpartition(' ')[0]} …{then}{prediction}"


def describe_default_pruning(estimator):
    """List notes on a tree that was pruned by default."""
    if not hasattr(estimator, "pruning_path_") or estimator.pruning is None:
        return []
    before, after = estimator.pruning_report_.n_leaves_grown, estimator.tree_.n_leaves
    if before == after:
        return []
    leaves = "leaf" if after == 1 else "leaves"
    how = "one-standard-error rule" if estimator.pruning.rule == "1se" else "Gini risk"
    note = (
        f"pruned from {before:,} to {after:,} {leaves} by cost complexity "
        f"({estimator.pruning.cv}-fold cross-validation, {how}); --full disables "
        "pruning"
    )
    return [note]


def print_numbered_rules(output, estimator, most=None, remedy=""):
    """Print the first rules of a list, None for all, and the default, numbered."""
    *lines, default = export_rules(estimator, max_rules=None).splitlines()
    shown = lines[:most]
    width = len(str(max(len(shown) - 1, 0)))
    marks = [f"{number:>{width}}  " for number in range(len(shown))]
    numbered = list(zip(marks, shown, strict=True))
    numbered.append((" " * (width + 2) if lines else "", default))
    texts = [
        output.hang(Text.assemble((mark, "dim"), paint_rules(line)))
        for mark, line in numbered
    ]
    if len(shown) < len(lines):
        more = f"... and {len(lines) - len(shown):,} rules{remedy}"
        texts.insert(-1, output.hang(Text(more)))
    output.write(*texts)


def print_evaluation(output, evaluation, most=None):
    """Print the statistics of the first rules of a list, None for all."""
    header, *lines = tabulate_rules(evaluation.rules)
    names = [name.lower() for name in header]
    if lines:
        table = make_table(*names, right=names[:-1])
        for words, rule in zip(lines[:most], evaluation.rules, strict=False):
            table.add_row(*words[:-1], show_label(rule["class"]))
        output.write(table)
    if most is not None and len(lines) > most:
        output.write(f"... and {len(lines) - most:,} rules")
    default = evaluation.default
    used, wrong = write_count(default["used"]), write_count(default["wrong"])
    label = show_label(default["class"])
    output.write(f"default class {label}: used {used}, wrong {wrong}")


def write_count(weight):
    """Write a number of rows, or the sum of their weights."""
    return f"{weight:,.12g}"


# -------------------------------------------------------------------- scores
def print_scores(output, scores):
    """Print scores, one a line; deviations below them if these are too long."""
    table = _tabulate_scores(scores)
    if measure_width(table) > output.width:
        table = _tabulate_scores(scores, are_apart=True)
    output.write(table)


def _tabulate_scores(scores, *, are_apart=False):
    """Make the table of scores, with deviations in the same cells or lines apart."""
    names = list(scores[0].means)
    table = make_table("", *names, "")
    decimals = {name: _choose_decimals(name, scores) for name in names}

    def write(values, name, mark=""):
        is_known = values and np.isfinite(values[name])
        return f"{mark}{values[name]:.{decimals[name]}f}" if is_known else ""

    for score in scores:
        means = [write(score.means, name) or "-" for name in names]
        mark = "" if are_apart else " ± "
        deviations = [
            write(score.deviations, name, mark) if mean != "-" else ""
            for name, mean in zip(names, means, strict=True)
        ]
        if not are_apart:
            cells = map("".join, zip(means, deviations, strict=True))
            table.add_row(score.where, *cells, score.note)
            continue
        table.add_row(score.where, *means, score.note)
        if any(deviations):
            table.add_row("  standard deviation", *deviations, "")
    return table


def _choose_decimals(name, scores):
    """Choose three decimals for shares, four digits of the largest error."""
    if name not in ("RMSE", "MAE", "median AE", "cost"):
        return 3
    largest = max(score.means[name] for score in scores)
    return max(0, 3 - int(np.floor(np.log10(largest)))) if largest > 0 else 0


def print_confusions(output, confusions, labels):
    """Print a confusion matrix, or the commonest confusions if it is too wide."""
    names = [show_label(label) for label in labels]
    table = make_table("true \\ predicted", *names, right=names)
    for name, counts in zip(names, confusions, strict=True):
        table.add_row(name, *(write_count(count) for count in counts))
    if len(labels) > MOST_CLASSES or measure_width(table) > output.width:
        _print_common_confusions(output, confusions, names)
    else:
        output.write(table)


def _print_common_confusions(output, confusions, names):
    wrong = confusions.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSIONS]
    table = make_table("true", "predicted", "rows", right=("rows",))
    for true, predicted in zip(*np.unravel_index(order, wrong.shape), strict=True):
        if wrong[true, predicted]:
            count = write_count(wrong[true, predicted])
            table.add_row(names[true], names[predicted], count)
    output.write(table)


def print_class_scores(output, scores, labels):
    """Print precision, recall and F1 of the classes, the largest if there are many."""
    names = ("precision", "recall", "F1", "rows")
    table = make_table("class", *names, right=names)
    order = np.argsort(-scores[-1], kind="stable")[:MOST_CLASSES]
    for number in sorted(order.tolist()):
        *shares, weight = (values[number] for values in scores)
        cells = (f"{share:.3f}" if np.isfinite(share) else "-" for share in shares)
        table.add_row(show_label(labels[number]), *cells, write_count(weight))
    output.write(table)
    if len(labels) > len(order):
        output.write(f"... and {len(labels) - len(order):,} smaller classes")
