"""Conversion of a grown tree to an ordered list of rules."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.layout import LEAF
from sklearn_textbook.tree.route import find_leaves
from sklearn_textbook.tree.rules.choose_subset import choose_subsets
from sklearn_textbook.tree.rules.collect_paths import collect_paths
from sklearn_textbook.tree.rules.generalise import generalise_paths
from sklearn_textbook.tree.rules.order import order_rules
from sklearn_textbook.tree.rules.pack_rows import WORD, pack_rows
from sklearn_textbook.tree.rules.rule_list import RuleList


def build_rule_list(
    tree,
    schema,
    X,
    codes: np.ndarray,
    weight: np.ndarray | None,
    confidence: float,
    significance: float | None = None,
    n_threads: int = 1,
) -> RuleList:
    """Convert a classification tree to an ordered list of rules."""
    paths = collect_paths(tree)
    is_inner = tree.nodes["kind"] != LEAF
    columns = np.unique(tree.nodes["feature"][is_inner]).astype(np.int64)
    values = np.empty((len(columns), len(codes)))
    place = np.empty(len(codes), dtype=np.int64)
    for part, matrix in schema.read_blocks(X):
        values[:, part] = matrix[:, columns].T
        place[part] = paths.rank[find_leaves(tree, matrix, n_threads)]
    n_classes = tree.statistics.shape[2]
    rows = pack_rows(values, columns, codes, weight, place, n_classes)
    rules = generalise_paths(tree, paths, rows, confidence, significance, n_threads)
    rules = rules.take(choose_subsets(tree, schema, rules, rows))
    order, first, default_class = order_rules(rules, rows)
    return _describe(tree, rules.take(order), first, default_class, rows)


def _describe(tree, rules, first, default_class, rows):
    """Make the list; ``first`` is the position of the rule that decides each slot."""
    n_rules = len(rules)
    taker = np.where(first < 0, n_rules, first)
    cell = taker * rows.n_classes + rows.slot_class
    taken = np.bincount(cell, rows.weight, (n_rules + 1) * rows.n_classes)
    taken = taken.reshape(n_rules + 1, rows.n_classes)
    length = [len(nodes) for nodes in rules.nodes]
    rule_class = np.append(rules.rule_class, np.int32(default_class)).astype(np.int32)
    return RuleList(
        tree=tree,
        start=np.concatenate([[0], np.cumsum(length)]).astype(np.int64),
        nodes=np.array(
            [node for nodes in rules.nodes for node in nodes], dtype=np.int32
        ),
        rule_class=rule_class,
        shares=compute_shares(_fill_idle(taken, rules, rows), rule_class),
        rate=np.append(rules.rate, np.nan),
        n_samples=np.bincount(taker[rows.slot], minlength=n_rules + 1),
        weight=taken.sum(axis=1),
    )


def _fill_idle(taken, rules, rows):
    """Use the class weights of all covered rows for rules that decide no rows."""
    counts = taken.copy()
    for number in np.flatnonzero(counts.sum(axis=1) == 0.0).tolist():
        if number == len(rules):
            counts[number] = rows.class_weight
            continue
        part = slice(rules.cover_start[number], rules.cover_start[number + 1])
        bits = rules.cover_bits[part].astype("<u8").view(np.uint8)
        entry, place = np.nonzero(
            np.unpackbits(bits, bitorder="little").reshape(-1, WORD)
        )
        slots = rules.cover_word[part][entry].astype(np.int64) * WORD + place
        counts[number] = np.bincount(
            rows.slot_class[slots], rows.weight[slots], rows.n_classes
        )
    return counts


def compute_shares(counts: np.ndarray, rule_class: np.ndarray) -> np.ndarray:
    r"""Compute class probabilities by Laplace's rule, the largest for a given class.

    :math:`(n_k + 1) / (n + K)` where :math:`n_k` is the weight of class k of K, and n
    their sum. The weight of a class is limited to that of the given one.
    """
    own = np.arange(len(counts)), rule_class
    smoothed = np.minimum(counts, counts[own][:, None]) + 1.0
    shares = smoothed / smoothed.sum(axis=1, keepdims=True)
    largest = shares[own]
    shares = np.minimum(shares, np.nextafter(largest, 0.0)[:, None])
    shares[own] = largest
    return shares
