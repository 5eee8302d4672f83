"""What the commands report of a target, scores and confusions."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.text_table import TextTable, write_rounded
from sklearn_textbook.cli.blocks import count_more
from sklearn_textbook.io.naming import count_things

#: Levels of a column, or classes of the target, that are listed.
MOST_LEVELS = 6
MOST_CLASSES = 15
MOST_CONFUSIONS = 10


def describe_target(target) -> str:
    """Describe the target in one line."""
    if not target.is_classes:
        low, high = target.values.min(), target.values.max()
        ends = f"{write_rounded(low)} to {write_rounded(high)}"
        return f"{target.name}: numbers from {ends} (regression)"
    return describe_classes(target.name, *np.unique(target.values, return_counts=True))


def describe_classes(name: str, classes, counts) -> str:
    """Describe a target of classes in one line."""
    order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    shown = ", ".join(f"{show_label(classes[i])} {counts[i]:,}" for i in order)
    more = ", ..." if len(classes) > MOST_LEVELS else ""
    return f"{name}: {count_things(len(classes), 'class')} ({shown}{more})"


def show_label(label):
    """Write a class label; booleans as true and false."""
    return str(label).lower() if isinstance(label, bool | np.bool_) else str(label)


def write_count(weight) -> str:
    """Write a number of rows, or the sum of their weights."""
    return f"{weight:,.12g}"


# -------------------------------------------------------------------- scores
def report_scores(scores) -> TextTable:
    """Report scores, one a line; deviations below them if these are too long."""
    return _tabulate_scores(scores, _tabulate_scores(scores))


def _tabulate_scores(scores, narrow: str = "wrap"):
    """Make the table of scores, with deviations in the same cells or lines apart."""
    names = list(scores[0].means)
    decimals = {name: _choose_decimals(name, scores) for name in names}
    is_narrow = narrow == "wrap"

    def write(values, name, mark=""):
        is_known = values and np.isfinite(values[name])
        return f"{mark}{values[name]:.{decimals[name]}f}" if is_known else ""

    rows = []
    for score in scores:
        means = [write(score.means, name) or "-" for name in names]
        mark = "" if is_narrow else " ± "
        deviations = [
            write(score.deviations, name, mark) if mean != "-" else ""
            for name, mean in zip(names, means, strict=True)
        ]
        if is_narrow:
            rows.append([score.where, *means, score.note])
            if any(deviations):
                rows.append(["  standard deviation", *deviations, ""])
        else:
            cells = map("".join, zip(means, deviations, strict=True))
            rows.append([score.where, *cells, score.note])
    return TextTable(["", *names, ""], rows, "l", narrow=narrow)


def _choose_decimals(name, scores):
    """Choose three decimals for shares, four digits of the largest error."""
    if name not in ("RMSE", "MAE", "median AE", "cost"):
        return 3
    values = [score.means[name] for score in scores]
    largest = max(filter(np.isfinite, values), default=0.0)
    return max(0, 3 - int(np.floor(np.log10(largest)))) if largest > 0 else 0


def report_confusions(confusions, labels) -> TextTable:
    """Report a confusion matrix, or the commonest confusions if it is too wide."""
    names = [show_label(label) for label in labels]
    common = _tabulate_common_confusions(confusions, names)
    if len(labels) > MOST_CLASSES:
        return common
    rows = [
        [name, *map(write_count, counts)]
        for name, counts in zip(names, confusions, strict=True)
    ]
    return TextTable(["true \\ predicted", *names], rows, narrow=common)


def _tabulate_common_confusions(confusions, names):
    wrong = confusions.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSIONS]
    rows = [
        [names[true], names[predicted], write_count(wrong[true, predicted])]
        for true, predicted in zip(*np.unravel_index(order, wrong.shape), strict=True)
        if wrong[true, predicted]
    ]
    return TextTable(["true", "predicted", "rows"], rows, "llr")


def report_class_scores(scores, labels) -> TextTable:
    """Report precision, recall and F1 of the classes, the largest if there are many."""
    order = np.argsort(-scores[-1], kind="stable")[:MOST_CLASSES]
    rows = []
    for number in sorted(order.tolist()):
        *fractions, weight = (values[number] for values in scores)
        cells = (
            f"{fraction:.3f}" if np.isfinite(fraction) else "-"
            for fraction in fractions
        )
        rows.append([show_label(labels[number]), *cells, write_count(weight)])
    more = count_more(len(labels) - len(order), "smaller class")
    return TextTable(["class", "precision", "recall", "F1", "rows"], rows, more=more)
