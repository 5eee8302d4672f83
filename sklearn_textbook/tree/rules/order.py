"""Order of the chosen rules in a list in which the first rule that covers decides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.rules._rules import find_first_two, weigh_wrong


@dataclass(frozen=True)
class Contributions:
    """Effect of each rule of a list on some rows.

    Parameters
    ----------
    used : ndarray of float64, shape (n_rules,)
        Weight of the rows that the rule decides.
    wrong : ndarray of float64, shape (n_rules,)
        Of these, the weight of other classes.
    saved : ndarray of float64, shape (n_rules,)
        Weight of the rows classified correctly only with the rule.
    spoilt : ndarray of float64, shape (n_rules,)
        Weight of the rows classified correctly only without the rule.
    """

    used: np.ndarray
    wrong: np.ndarray
    saved: np.ndarray
    spoilt: np.ndarray

    @property
    def advantage(self):
        """Additional errors of the list without the rule."""
        return self.saved - self.spoilt


def measure_contributions(
    first: np.ndarray,
    second: np.ndarray,
    rule_class: np.ndarray,
    default_class: int,
    codes: np.ndarray,
    weight: np.ndarray,
) -> Contributions:
    """Measure the effect of each rule of a list on some rows."""
    classes = np.append(rule_class, default_class)
    is_used = first >= 0
    first, codes, weight = first[is_used], codes[is_used], weight[is_used]
    is_right = classes[first] == codes
    # Position -1 is the default, at the end.
    next_right = classes[second[is_used]] == codes

    def add_up(is_counted=slice(None)):
        return np.bincount(first[is_counted], weight[is_counted], len(rule_class))

    return Contributions(
        used=add_up(),
        wrong=add_up(~is_right),
        saved=add_up(is_right & ~next_right),
        spoilt=add_up(~is_right & next_right),
    )


def order_rules(rules, rows) -> tuple[np.ndarray, np.ndarray, int]:
    """Sort the rules, choose the default class and drop harmful rules.

    The next class is always the one whose rules cover the smallest weight of other
    classes among the rows not covered by earlier classes; ties go to the class with
    more weight, then to the first. Within a class rules are sorted by increasing
    pessimistic error rate. The default class is the one with the largest weight among
    the rows that no rule covers, with ties as before. Then, as long as removing some
    rule reduces the training errors, the rule whose removal reduces them most (at ties,
    the last) is dropped, and the default class is chosen again.
    """
    order = np.array(
        [
            number
            for class_number in order_classes(rules, rows)
            for number in _sort_by_rate(rules, class_number)
        ],
        dtype=np.int64,
    )
    slot_class = rows.slot_class
    while True:
        first, second = find_takers(rules, order, rows)
        default_class = choose_default(first, slot_class, rows)
        if not len(order):
            return order, first, default_class
        advantage = measure_contributions(
            first,
            second,
            rules.rule_class[order],
            default_class,
            slot_class,
            rows.weight,
        ).advantage
        worst = len(order) - 1 - int(np.argmin(advantage[::-1]))
        if advantage[worst] >= 0.0:
            return order, first, default_class
        order = np.delete(order, worst)


def _sort_by_rate(rules, class_number):
    of_class = np.flatnonzero(rules.rule_class == class_number)
    return of_class[np.argsort(rules.rate[of_class], kind="stable")].tolist()


def order_classes(rules, rows):
    """Order the classes that have rules; see :func:`order_rules`."""
    covered = np.zeros((rows.n_classes, rows.n_words), dtype=np.uint64)
    rule_class = np.repeat(rules.rule_class, np.diff(rules.cover_start))
    np.bitwise_or.at(covered, (rule_class, rules.cover_word), rules.cover_bits)
    left = rows.filled.copy()
    wrong = np.empty(rows.n_classes)
    waiting = np.unique(rules.rule_class).tolist()
    ordered = []
    while waiting:
        weigh_wrong(
            covered, left, rows.class_start, rows.weight, rows.common_weight, wrong
        )
        best = min(waiting, key=lambda c: (wrong[c], -rows.class_weight[c], c))
        ordered.append(best)
        waiting.remove(best)
        left &= ~covered[best]
    return ordered


def find_takers(rules, order, rows):
    """Return the positions of the first and second rule that cover each slot."""
    words = np.zeros((2, rows.n_words), dtype=np.uint64)
    first = np.full(rows.n_words * 64, -1, dtype=np.int32)
    second = first.copy()
    find_first_two(
        order,
        rules.cover_start,
        rules.cover_word,
        rules.cover_bits,
        words[0],
        words[1],
        first,
        second,
    )
    return first, second


def choose_default(first, slot_class, rows):
    """Choose the class of the rows that no rule covers; see :func:`order_rules`."""
    is_left = first < 0
    left = np.bincount(slot_class[is_left], rows.weight[is_left], rows.n_classes)
    return max(range(rows.n_classes), key=lambda c: (left[c], rows.class_weight[c], -c))
