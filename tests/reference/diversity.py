"""Diversity of ensembles by the definitions, one row after the other.

周志华《机器学习》, section 8.5.2; L. I. Kuncheva, C. J. Whitaker (2003), "Measures of
diversity in classifier ensembles", Machine Learning 51. Rows have weights; a pair of
members is measured where both have a truth value: positive or not, right or not.
"""

import math


def count_cells(first, second, weight):
    """a, b, c, d: weights of rows where both, only the first, only the second, or none
    of two truth values holds, as shares."""
    cells = {(True, True): 0.0, (True, False): 0.0, (False, True): 0.0}
    cells[False, False] = 0.0
    for one, other, w in zip(first, second, weight, strict=True):
        cells[bool(one), bool(other)] += w
    return [cell / sum(weight) for cell in cells.values()]


def disagreement(first, second, weight):
    """Share of the rows on which labels differ."""
    differ = (w for f, s, w in zip(first, second, weight, strict=True) if f != s)
    return sum(differ) / sum(weight)


def correlation(first, second, weight):
    a, b, c, d = count_cells(first, second, weight)
    product = (a + b) * (a + c) * (c + d) * (b + d)
    return (a * d - b * c) / math.sqrt(product) if product else float(b + c == 0)


def q_statistic(first, second, weight):
    a, b, c, d = count_cells(first, second, weight)
    total = a * d + b * c
    return (a * d - b * c) / total if total else float(b + c == 0)


def kappa(first, second, weight):
    """Of labels."""
    agreement = 1 - disagreement(first, second, weight)
    by_chance = sum(
        share(first, label, weight) * share(second, label, weight)
        for label in set(first) | set(second)
    )
    if by_chance == 1:
        return 1.0
    return (agreement - by_chance) / (1 - by_chance)


def share(labels, label, weight):
    """Share of the rows that have a label."""
    return sum(w for x, w in zip(labels, weight, strict=True) if x == label) / sum(
        weight
    )


def double_fault(first, second, weight):
    """Of right and wrong."""
    return count_cells(first, second, weight)[3]


def mean(values, weight):
    return sum(v * w for v, w in zip(values, weight, strict=True)) / sum(weight)


def entropy(rows, weight):
    """Of right and wrong; ``rows`` has those of all members for each row."""
    n = len(rows[0])
    return mean(
        [min(sum(row), n - sum(row)) / (n - math.ceil(n / 2)) for row in rows], weight
    )


def vote_entropy(rows, weight):
    """Of labels."""
    values = []
    for row in rows:
        shares = [row.count(label) / len(row) for label in set(row)]
        values.append(-sum(p * math.log2(p) for p in shares))
    return mean(values, weight)


def kohavi_wolpert_variance(rows, weight):
    n = len(rows[0])
    return mean([sum(row) * (n - sum(row)) / n**2 for row in rows], weight)


def interrater_agreement(rows, weight):
    n = len(rows[0])
    accuracy = mean([sum(row) / n for row in rows], weight)
    if accuracy in (0, 1):
        return 1.0
    split = mean([sum(row) * (n - sum(row)) for row in rows], weight) / n
    return 1 - split / ((n - 1) * accuracy * (1 - accuracy))


def failure_shares(rows, weight):
    n = len(rows[0])
    return [share([n - sum(row) for row in rows], i, weight) for i in range(n + 1)]


def generalized_diversity(rows, weight):
    n, p = len(rows[0]), failure_shares(rows, weight)
    one = sum(i / n * p[i] for i in range(1, n + 1))
    two = sum(i / n * (i - 1) / (n - 1) * p[i] for i in range(1, n + 1))
    return 1 - two / one if one else 0.0


def coincident_failure_diversity(rows, weight):
    n, p = len(rows[0]), failure_shares(rows, weight)
    if p[0] == 1:
        return 0.0
    return sum((n - i) / (n - 1) * p[i] for i in range(1, n + 1)) / (1 - p[0])


def difficulty(rows, weight):
    shares = [sum(row) / len(row) for row in rows]
    middle = mean(shares, weight)
    return mean([(x - middle) ** 2 for x in shares], weight)
