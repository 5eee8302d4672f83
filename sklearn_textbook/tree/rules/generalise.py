"""Generalisation of the paths of a tree to rules without superfluous conditions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sklearn_textbook.tree.prune.error_based import measure_confidence
from sklearn_textbook.tree.rules._rules import generalise_rules
from sklearn_textbook.tree.rules.collect_paths import (
    AcceptedLevels,
    collect_tests,
    write_signature,
)

#: Bytes of the covers of the paths that are generalised at once.
BATCH_BYTES = 1 << 25


@dataclass(frozen=True)
class Rules:
    """Rules with the training rows that they cover.

    Parameters
    ----------
    nodes : list of tuple of int
        The conditions of each rule: the nodes to which their branches lead.
    rule_class : ndarray of int32, shape (n_rules,)
        Class of each rule.
    rate : ndarray of float64, shape (n_rules,)
        Pessimistic error rate.
    cover_start : ndarray of int64, shape (n_rules + 1,)
        Where the cover of each rule starts.
    cover_word : ndarray of int32
        The words of packed rows in which a rule covers a row, ascending.
    cover_bits : ndarray of uint64
        The rows that it covers in them.
    """

    nodes: list
    rule_class: np.ndarray
    rate: np.ndarray
    cover_start: np.ndarray
    cover_word: np.ndarray
    cover_bits: np.ndarray

    def __len__(self) -> int:
        return len(self.nodes)

    def take(self, numbers):
        """Select some of the rules, in the given order."""
        start, stop = self.cover_start[:-1][numbers], self.cover_start[1:][numbers]
        length = stop - start
        new_start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        entry = np.arange(new_start[-1]) + np.repeat(start - new_start[:-1], length)
        return Rules(
            nodes=[self.nodes[number] for number in numbers],
            rule_class=self.rule_class[numbers],
            rate=self.rate[numbers],
            cover_start=new_start,
            cover_word=self.cover_word[entry],
            cover_bits=self.cover_bits[entry],
        )


def generalise_paths(
    tree,
    paths,
    rows,
    confidence: float,
    significance: float | None = None,
    n_threads: int = 1,
) -> Rules:
    r"""Drop conditions from the paths of a tree, and keep the useful rules.

    As long as dropping some condition does not increase the pessimistic error rate
    :math:`(E + \mathrm{add}(N, E)) / N` of a rule that covers N training rows, E of
    them of other classes, the condition whose removal gives the lowest rate is dropped
    (at ties, the one nearest to the leaf). With ``significance``, conditions that are
    not significant by Fisher's exact test are dropped as well, the least significant
    first. Of equal rules one is kept. Rules whose rate is not below the error rate of
    predicting their class for every row are left out.
    """
    found = _Found(tree, rows)
    if len(paths):
        step = max(1, BATCH_BYTES // (8 * rows.n_words))
        run = _Run(tree, paths, rows, confidence, significance, n_threads)
        for first in range(0, len(paths), step):
            found.add(*run.generalise(first, min(first + step, len(paths))))
    return found.collect()


class _Run:
    """Data common to all batches of paths."""

    def __init__(self, tree, paths, rows, confidence, significance, n_threads) -> None:
        self.paths = paths
        self.rows = rows
        self.tests = collect_tests(tree)
        position = np.zeros(tree.n_features, dtype=np.int32)
        position[rows.columns] = np.arange(len(rows.columns))
        self.tests["column"] = position[self.tests["column"]]
        self.level_branch = tree.level_branch
        self.limits = (
            measure_confidence(confidence),
            1.0 if significance is None else float(significance),
        )
        longest = int(np.diff(paths.start).max())
        self.memory = (
            np.empty((n_threads, longest, rows.n_words), dtype=np.uint64),
            np.full((n_threads, longest), -1, dtype=np.int32),
            np.empty((n_threads, longest), dtype=np.int32),
            np.empty((n_threads, 2, longest)),
        )

    def generalise(self, first, stop):
        """Generalise paths; return kept conditions, class, counts, rates and covers."""
        paths, rows = self.paths, self.rows
        start = paths.start[first : stop + 1] - paths.start[first]
        nodes = paths.nodes[paths.start[first] : paths.start[stop]]
        path_class = paths.path_class[first:stop]
        n_paths = stop - first
        cover = np.empty((n_paths, rows.n_words), dtype=np.uint64)
        kept = np.zeros(len(nodes), dtype=np.uint8)
        counts, rate = np.empty((n_paths, 2)), np.empty(n_paths)
        generalise_rules(
            self.tests,
            self.level_branch,
            rows.values,
            rows.order,
            rows.n_known,
            rows.known,
            rows.filled,
            rows.weight,
            rows.common_weight,
            rows.class_start,
            start,
            nodes,
            path_class,
            *self.limits,
            *self.memory,
            cover,
            kept,
            counts,
            rate,
        )
        left = [
            tuple(nodes[a:b][kept[a:b] != 0].tolist())
            for a, b in pairwise(start.tolist())
        ]
        return left, path_class, rate, cover


class _Found:
    """The distinct rules to keep, collected batch by batch."""

    def __init__(self, tree, rows) -> None:
        self.accepted_levels = AcceptedLevels(tree)
        self.prior_rate = 1.0 - rows.class_weight / rows.total_weight
        self.known = set()
        self.nodes, self.rule_class, self.rate = [], [], []
        self.length, self.word, self.bits = [], [], []

    def add(self, nodes, rule_class, rate, cover) -> None:
        """Add the rules of a batch that are new and good enough."""
        new = []
        good = np.flatnonzero(rate < self.prior_rate[rule_class])
        for number in good.tolist():
            signature = write_signature(self.accepted_levels, nodes[number])
            key = (int(rule_class[number]), signature)
            if key not in self.known:
                self.known.add(key)
                self.nodes.append(nodes[number])
                new.append(number)
        self.rule_class.append(rule_class[new])
        self.rate.append(rate[new])
        cover = cover[new]
        number, word = np.nonzero(cover)
        self.length.append(np.bincount(number, minlength=len(new)))
        self.word.append(word.astype(np.int32))
        self.bits.append(cover[number, word])

    def collect(self):
        """Join the added rules."""
        length = _join(self.length, np.int64)
        return Rules(
            nodes=self.nodes,
            rule_class=_join(self.rule_class, np.int32),
            rate=_join(self.rate, np.float64),
            cover_start=np.concatenate([[0], np.cumsum(length)]).astype(np.int64),
            cover_word=_join(self.word, np.int32),
            cover_bits=_join(self.bits, np.uint64),
        )


def _join(parts, dtype):
    return np.concatenate([np.empty(0, dtype=dtype), *parts]).astype(dtype)
