"""Choice of the rules of each class by minimum description length."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
from scipy.special import gammaln

from sklearn_textbook.tree.grow.layout import NOMINAL
from sklearn_textbook.tree.rules._rules import SubsetSearch
from sklearn_textbook.tree.rules.collect_paths import AcceptedLevels

#: Weight of the bits of the rules relative to those of their exceptions: the same rules
#: can be written in several ways, so that a plain sum would overestimate them.
THEORY_WEIGHT = 0.5
#: All subsets are tried up to this number of rules.
MAX_TRIED = 10
#: Minimum number of bits that a subset must save to replace another.
MARGIN = 1e-6
#: Costs are integer multiples of this, so that their sums are exact.
COST_UNIT = 2.0**-20
#: Logarithms of factorials are tabulated up to this total weight.
LARGEST_TABLE = 1 << 22


def choose_subsets(tree, schema, rules, rows) -> np.ndarray:
    """Choose a subset of the rules of every class."""
    cost = compute_costs(tree, schema, rules, rows)
    table = make_factorial_table(rows)
    chosen = [np.empty(0, dtype=np.int64)]
    for number in range(rows.n_classes):
        of_class = np.flatnonzero(rules.rule_class == number)
        if len(of_class):
            mask = choose_subset(rules.take(of_class), cost[of_class], rows, table)
            chosen.append(of_class[mask])
    return np.sort(np.concatenate(chosen))


def choose_subset(
    rules, cost: np.ndarray, rows, log2_factorial: np.ndarray
) -> np.ndarray:
    r"""Choose the subset of the rules of one class with minimum description length.

    For a table of weight n in which the class has weight m, the description of a subset
    R whose rules cover a weight of r, f of it of other classes, takes

    .. math::

        \tfrac12 \Big( \sum_{i \in R} c_i - \log_2 |R|! \Big)
        + \log_2 \binom{r}{f} + \log_2 \binom{n - r}{m - (r - f)}

    bits: the first bracket encodes the rules, in any order; the rest encodes which of
    the covered rows are of other classes, and which of the other rows are of the class.
    Up to ten rules all subsets are tried, those without later rules first; ties go to
    the first. For more rules, the rule whose addition or deletion saves most bits (ties
    to the first) is added or deleted until none saves bits, starting once from no rule
    and once from all rules; the better result is taken, at ties that from no rule.
    """
    n_rules = len(rules)
    make = _prepare_search(rules, cost, rows, log2_factorial)
    if n_rules <= MAX_TRIED:
        best = np.zeros(n_rules, dtype=np.uint8)
        search, _ = make()
        search.try_all(best)
        return best != 0
    ends = []
    for starts_full in (False, True):
        search, chosen = make()
        if starts_full:
            search.choose_all()
        search.climb()
        ends.append((search.get_length(), chosen != 0))
    (from_none, chosen), (from_all, other) = ends
    return other if from_all < from_none - MARGIN else chosen


def _prepare_search(rules, cost, rows, log2_factorial):
    """Make a function that starts a search and returns the mask of chosen rules."""
    rule = np.repeat(np.arange(len(rules), dtype=np.int32), np.diff(rules.cover_start))
    by_word = np.argsort(rules.cover_word, kind="stable")
    counts = np.bincount(rules.cover_word, minlength=rows.n_words)
    word_start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    number = int(rules.rule_class[0])

    def make():
        state = (
            np.zeros(len(rules), dtype=np.uint8),
            np.zeros(rows.n_words * 64, dtype=np.int32),
            np.empty(len(rules)),
            np.empty(len(rules)),
        )
        search = SubsetSearch(
            cover=(rules.cover_start, rules.cover_word, rules.cover_bits),
            by_word=(word_start, rule[by_word], rules.cover_bits[by_word]),
            cost=cost,
            weight=rows.weight,
            common_weight=rows.common_weight,
            class_words=(rows.class_start[number], rows.class_start[number + 1]),
            class_weight=rows.class_weight[number],
            total_weight=rows.total_weight,
            log2_factorial=log2_factorial,
            theory_weight=THEORY_WEIGHT,
            margin=MARGIN,
            state=state,
        )
        return search, state[0]

    return make


def make_factorial_table(rows):
    """Tabulate log2 k! for k up to the total weight, if the weights are integers."""
    is_whole = bool((rows.weight == np.floor(rows.weight)).all())
    if not is_whole or rows.total_weight > LARGEST_TABLE:
        return np.empty(0)
    return gammaln(np.arange(1.0, rows.total_weight + 2.0)) / log(2.0)


def compute_costs(tree, schema, rules, rows) -> np.ndarray:
    r"""Compute the bits that encode each rule.

    A rule of k conditions costs the sum of their bits minus :math:`\log_2 k!`, since
    their order does not matter. A condition costs :math:`\log_2 d` for its column, one
    of d, and for its test

    - ``x <= t`` or ``x > t``: :math:`1 + \log_2 v` with v the number of possible
      thresholds of the column;
    - one level: the entropy of the column; all levels but one: the same plus 1;
    - another set of levels: one bit per level.
    """
    column_bits = {
        int(column): _measure_column(rows, number, schema.columns[column])
        for number, column in enumerate(rows.columns)
    }
    accepted_levels, of_node = AcceptedLevels(tree), {}
    cost = np.empty(len(rules))
    for number, nodes in enumerate(rules.nodes):
        for node in nodes:
            if node not in of_node:
                of_node[node] = _measure_condition(accepted_levels, node, column_bits)
        bits = sum(of_node[node] for node in nodes) - lgamma(len(nodes) + 1) / log(2)
        cost[number] = round(bits / COST_UNIT) * COST_UNIT
    return cost


def _measure_column(rows, number, column):
    """Return the bits of a threshold, or of one level, of a column."""
    n_known = rows.n_known[number]
    values = rows.values[number, :n_known]
    if column.kind != "nominal":
        n_cuts = np.count_nonzero(np.diff(values))
        return 1.0 + float(np.log2(max(n_cuts, 1)))
    weight = rows.weight[rows.order[number, :n_known]]
    counts = np.bincount(values.astype(np.int64), weight)
    fraction = counts[counts > 0.0] / counts.sum()
    return -float((fraction * np.log2(fraction)).sum())


def _measure_condition(accepted_levels, node, column_bits):
    """Return the bits of one condition."""
    tree = accepted_levels.tree
    parent = tree.nodes[tree.nodes["parent"][node]]
    column = int(parent["feature"])
    bits = float(np.log2(tree.n_features))
    if parent["kind"] != NOMINAL:
        return bits + column_bits[column]
    n_levels = int(tree.n_levels[column])
    n_accepted = len(accepted_levels.find(node))
    if n_accepted == 1:
        return bits + column_bits[column]
    if n_accepted == n_levels - 1:
        return bits + column_bits[column] + 1.0
    return bits + n_levels
