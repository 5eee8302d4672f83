"""Distributions of forests in plain Python: one row, one tree, one leaf at a time."""

from __future__ import annotations

import math


def weigh_rows(train_nodes, parents, counts, query_nodes):
    """Weights of the training rows for one new row.

    train_nodes[t][i], query_nodes[t]: where row i and the new row end in tree t.
    parents[t][node]: the node above; counts[t][i]: the weight of row i in the tree.
    """
    n_trees, n_rows = len(train_nodes), len(train_nodes[0])
    weights = [0.0] * n_rows
    for nodes, above, count, node in zip(
        train_nodes, parents, counts, query_nodes, strict=True
    ):
        inside = []
        while not inside:  # of an empty node, those of the node above
            inside = [
                i for i in range(n_rows) if count[i] and is_below(nodes[i], node, above)
            ]
            node = above[node]
        total = sum(count[i] for i in inside)
        for i in inside:
            weights[i] += count[i] / total / n_trees
    return weights


def is_below(node, other, above):
    """Whether a node is another one or below it."""
    while node >= 0:
        if node == other:
            return True
        node = above[node]
    return False


def find_quantile(values, weights, level):
    """The smallest value with a weight up to which the weights add up to a level."""
    total = 0.0
    pairs = sorted((v, w) for v, w in zip(values, weights, strict=True) if w > 0)
    for value, weight in pairs:
        total += weight
        if total >= level - 1e-9:
            return value
    return pairs[-1][0]


def find_critical(scores, coverage, weights=None):
    """The score that a new row exceeds with at most the probability 1 - coverage."""
    weights = [1.0] * len(scores) if weights is None else weights
    wanted = coverage * sum(weights) * (1 + 1 / len(scores)) - 1e-9
    total = 0.0
    for score, weight in sorted(zip(scores, weights, strict=True)):
        total += weight
        if total >= wanted:
            return score
    return math.inf


def find_interval(train, counts, targets, query, coverage, weights=None):
    """An interval from the predictions of every tree.

    train[t][i], query[t]: predictions of tree t for training row i and the new row.
    counts[t][i]: how often tree t has drawn row i; 0: it has not seen it.
    weights[i]: the weight of row i; None: all are equal.
    """
    n_rows = len(targets)
    means, spreads, residuals, kept = [], [], [], []
    for i in range(n_rows):
        unseen = [
            of[i] for of, count in zip(train, counts, strict=True) if not count[i]
        ]
        if not unseen or (weights is not None and not weights[i]):
            continue
        kept.append(1.0 if weights is None else weights[i])
        means.append(math.fsum(unseen) / len(unseen))
        residuals.append(abs(targets[i] - means[-1]))
        spreads.append(spread(unseen))
    known = [s for s in spreads if s is not None]
    mean_spread = math.fsum(known) / len(known) if known else 0.0
    floor = mean_spread or 1.0
    scores = [
        r / ((mean_spread if s is None else s) + floor)
        for r, s in zip(residuals, spreads, strict=True)
    ]
    width = find_critical(scores, coverage, kept) * ((spread(query) or 0.0) + floor)
    center = math.fsum(query) / len(query)
    return center - width, center + width


def find_set(known, targets, classes, query, coverage, weights, is_conditional):
    """Which classes are in the set of a new row.

    known[i], query: probabilities of the classes in row i and in the new row.
    targets[i], weights[i]: the class and the weight of row i; None: all are equal.
    """
    is_member = []
    for number, label in enumerate(classes):
        scores, kept = [], []
        for i, target in enumerate(targets):
            weight = 1.0 if weights is None else weights[i]
            if weight and (target == label or not is_conditional):
                scores.append(1.0 - known[i][classes.index(target)])
                kept.append(weight)
        critical = find_critical(scores, coverage, kept) if scores else math.inf
        is_member.append(1.0 - query[number] <= critical + 1e-9)
    return is_member


def spread(values):
    """The standard deviation of some values; None: there is only one."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    squares = math.fsum((v - mean) ** 2 for v in values)
    return math.sqrt(squares / (len(values) - 1))


def jackknife(counts, query):
    """The sum of the squares of covariances, and its bias."""
    n_trees, n_rows = len(counts), len(counts[0])
    mean = math.fsum(query) / n_trees
    variance = math.fsum((p - mean) ** 2 for p in query) / n_trees
    total, scatter = 0.0, 0.0
    for i in range(n_rows):
        drawn = [count[i] for count in counts]
        mean_drawn = math.fsum(drawn) / n_trees
        covariance = math.fsum(
            (d - mean_drawn) * (p - mean) for d, p in zip(drawn, query, strict=True)
        )
        total += (covariance / n_trees) ** 2
        scatter += math.fsum((d - mean_drawn) ** 2 for d in drawn) / n_trees
    return total, scatter * variance / n_trees
