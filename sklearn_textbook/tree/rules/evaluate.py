"""Evaluation of a list of rules on rows with known classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.text_table import align_columns
from sklearn_textbook.tree.rules.order import measure_contributions

# Fields of a rule that are weights of rows.
_WEIGHTS = ("used", "wrong", "advantage", "saved", "spoilt")
# Number of labels shown in a message.
MAX_LISTED = 5


@dataclass(frozen=True, eq=False)
class RuleEvaluation:
    """Evaluation of each rule of a list on some rows; ``print`` shows it as tables.

    Parameters
    ----------
    rules : list of dict
        One per rule, in order: ``rule``, its number; ``class``; ``size``, the number
        of its conditions; ``error``, its pessimistic error rate in training; ``used``,
        the weight of the rows that it decides; ``wrong``, of these, the weight of
        other classes; ``saved``, the weight that would be wrong without the rule;
        ``spoilt``, the weight that would be right without it; ``advantage``, the
        difference of the two.
    default : dict
        ``class``, ``used`` and ``wrong`` of the rows that no rule covers.
    weight : float
        Weight of all rows.
    errors : float
        Weight of the misclassified rows.
    classes : ndarray
        Labels of the rows and columns of the confusion matrix: those of the model,
        followed by those that occur only in the rows, which are always misclassified.
    confusion : ndarray of float64, shape (n_classes, n_classes)
        Weight by true class (rows) and predicted class (columns).
    """

    rules: list
    default: dict
    weight: float
    errors: float
    classes: np.ndarray
    confusion: np.ndarray

    @property
    def error_rate(self) -> float:
        """Fraction of the weight that is misclassified."""
        return self.errors / self.weight

    def __str__(self):
        default = self.default["class"]
        used = write_weight(self.default["used"])
        wrong = write_weight(self.default["wrong"])
        weight, errors = write_weight(self.weight), write_weight(self.errors)
        header, *rules = tabulate_rules(self.rules)
        widths = [max(map(len, words)) for words in zip(header, *rules, strict=True)]
        dashes = ["-" * width for width in widths]
        sides = "r" * (len(header) - 1) + "l"
        lines = [
            *align_columns([header, dashes, *rules], sides),
            "",
            f"Default class {default}: used {used}, wrong {wrong}",
            f"Tested {weight}, errors {errors} ({self.error_rate:.1%})",
            "",
            *_write_confusion(self.confusion, self.classes),
        ]
        return "\n".join(lines)


def evaluate_rules(
    rule_list,
    first: np.ndarray,
    second: np.ndarray,
    y: np.ndarray,
    classes: np.ndarray,
    weight: np.ndarray | None = None,
) -> RuleEvaluation:
    """Evaluate each rule of a list on some rows."""
    weight = np.ones(len(y)) if weight is None else weight
    codes, all_classes = _find_codes(y, classes)
    rule_class, default_class = rule_list.rule_class[:-1], rule_list.rule_class[-1]
    parts = measure_contributions(
        first, second, rule_class, default_class, codes, weight
    )
    predicted = rule_list.rule_class[first]
    is_wrong = predicted != codes
    is_default = first < 0
    labels = classes.tolist()
    rules = [
        {
            "rule": number,
            "class": labels[rule_class[number]],
            "size": int(rule_list.n_conditions[number]),
            "error": float(rule_list.rate[number]),
            "used": float(parts.used[number]),
            "wrong": float(parts.wrong[number]),
            "saved": float(parts.saved[number]),
            "spoilt": float(parts.spoilt[number]),
            "advantage": float(parts.advantage[number]),
        }
        for number in range(len(rule_list))
    ]
    default = {
        "class": labels[default_class],
        "used": float(weight[is_default].sum()),
        "wrong": float(weight[is_default & is_wrong].sum()),
    }
    return RuleEvaluation(
        rules=rules,
        default=default,
        weight=float(weight.sum()),
        errors=float(weight[is_wrong].sum()),
        classes=all_classes,
        confusion=_count_confusions(codes, predicted, len(all_classes), weight),
    )


def _find_codes(y, classes):
    """Return the class index of every row, and all classes, new ones last.

    Labels are compared by ``==``: 1, 1.0 and True are equal, "1" is different.
    """
    labels = y.tolist()
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    n_classes = len(numbers)
    for label in _sort_labels(set(labels).difference(numbers)):
        numbers[label] = len(numbers)
    codes = np.fromiter(map(numbers.__getitem__, labels), np.int64, len(labels))
    if (codes >= n_classes).all():
        raise ValueError(
            f"No label in y is a class of the model: y contains {_list_labels(labels)},"
            f" the classes are {_list_labels(classes.tolist())}. Labels must be of the "
            "same type as in training."
        )
    if len(numbers) == n_classes:
        return codes, classes
    new = [*numbers][n_classes:]
    if y.dtype.kind == classes.dtype.kind:
        return codes, np.concatenate([classes, np.array(new, dtype=y.dtype)])
    all_classes = np.empty(len(numbers), dtype=object)
    all_classes[:] = [*classes.tolist(), *new]
    return codes, all_classes


def _sort_labels(labels) -> list:
    """Sort labels of any types."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def _list_labels(labels):
    """List the first distinct labels of many."""
    found = list(map(repr, dict.fromkeys(labels)))
    more = ["..."] if len(found) > MAX_LISTED else []
    return ", ".join([*found[:MAX_LISTED], *more])


def _count_confusions(codes, predicted, n_classes, weight):
    counts = np.bincount(codes * n_classes + predicted, weight, n_classes * n_classes)
    return counts.reshape(n_classes, n_classes)


def tabulate_rules(rules: list[dict]):
    """Format the evaluation of the rules as the cells of a table."""
    lines = [("Rule", "Size", "Error", "Used", "Wrong", "Advantage", "Class")]
    for rule in rules:
        fraction = rule["wrong"] / rule["used"] if rule["used"] else 0.0
        words = {key: write_weight(rule[key]) for key in _WEIGHTS}
        lines.append(
            (
                str(rule["rule"]),
                str(rule["size"]),
                f"{rule['error']:.1%}",
                words["used"],
                f"{words['wrong']} ({fraction:.1%})",
                f"{words['advantage']} ({words['saved']}|{words['spoilt']})",
                str(rule["class"]),
            )
        )
    return lines


def write_weight(weight) -> str:
    """Format a weight: integers in full, other numbers without rounding errors."""
    return f"{weight:.12g}"


def _write_confusion(confusion, classes):
    """Format the matrix, one column per predicted and one line per true class."""
    marks = [f"({_write_mark(number)})" for number in range(len(classes))]
    cells = [
        [write_weight(value) if value else "" for value in line] for line in confusion
    ]
    labels = list(map(str, classes.tolist()))
    if len(set(labels)) < len(labels):  # such as 0 and "0"
        labels = list(map(repr, classes.tolist()))
    # All columns have the same width.
    width = max(len(word) for word in [*marks, *(w for line in cells for w in line)])
    rows = [[*(mark.rjust(width) for mark in marks), "<- classified as"]]
    for line, mark, label in zip(cells, marks, labels, strict=True):
        rows.append([*line, f"{mark}: class {label}"])
    return align_columns(rows, "r" * len(marks) + "l")


def _write_mark(number):
    """Format the index of a class as a, b, ..., z, aa, ab, ..."""
    mark = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        mark = chr(ord("a") + rest) + mark
    return mark
