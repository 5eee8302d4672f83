"""From the chosen rules to a list: the first that applies decides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.rules._rules import find_first_two, weigh_wrong


@dataclass(frozen=True)
class Contributions:
    """What each rule of a list does to some rows.

    Parameters
    ----------
    used : ndarray of float64, shape (n_rules,)
        Weight of the rows that it is the first to cover.
    wrong : ndarray of float64, shape (n_rules,)
        Of these, the weight of other classes.
    saved : ndarray of float64, shape (n_rules,)
        Weight that it gets right and that would be wrong without it.
    spoilt : ndarray of float64, shape (n_rules,)
        Weight that it gets wrong and that would be right without it.
    """

    used: np.ndarray
    wrong: np.ndarray
    saved: np.ndarray
    spoilt: np.ndarray

    @property
    def advantage(self):
        """Errors more that the list would make without the rule."""
        return self.saved - self.spoilt


def measure_contributions(first, second, rule_class, default_class, codes, weight):
    """Measure what each rule of a list does to some rows.

    Parameters
    ----------
    first, second : ndarray of int, shape (n_rows,)
        Places of the first and the second rule that cover each row; -1: none.
    rule_class : ndarray of int, shape (n_rules,)
        Class of every rule, in the order of the list.
    default_class : int
        Class of the rows that no rule covers.
    codes : ndarray of int, shape (n_rows,)
        Class of every row; -1 for a class not seen in training.
    weight : ndarray of float64, shape (n_rows,)
        Weight of every row.

    Returns
    -------
    contributions : Contributions
        Sums over the rows.
    """
    classes = np.append(rule_class, default_class)
    is_used = first >= 0
    first, codes, weight = first[is_used], codes[is_used], weight[is_used]
    is_right = classes[first] == codes
    # Place -1 is the default, at the end.
    next_right = classes[second[is_used]] == codes

    def add_up(is_counted=slice(None)):
        return np.bincount(first[is_counted], weight[is_counted], len(rule_class))

    return Contributions(
        used=add_up(),
        wrong=add_up(~is_right),
        saved=add_up(is_right & ~next_right),
        spoilt=add_up(~is_right & next_right),
    )


def order_rules(rules, rows):
    """Put the rules in order, choose the default class and drop rules that do harm.

    The next class is always the one whose rules cover the least weight of other
    classes among the rows that no class before covers; of equals the heavier class,
    then the first. Within a class the rules stand by rising pessimistic error rate.
    The default class is that with the most weight among the rows that no rule
    covers, of equals the heavier class, then the first. Then, as long as the list
    makes fewer errors in training without some rule, the rule is dropped without
    which it makes the fewest, of equals the last, and the default class is chosen
    anew.

    Parameters
    ----------
    rules : Rules
        The chosen rules of all classes.
    rows : PackedRows
        The training rows.

    Returns
    -------
    order : ndarray of int64
        Numbers of the rules that stay, in order.
    first : ndarray of int32, shape (n_slots,)
        Place in this order of the first rule that covers each slot; -1: none.
    default_class : int
        The default class.
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
    """Places of the first and second rule of a list that cover each slot."""
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
