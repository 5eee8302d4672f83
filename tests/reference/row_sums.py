"""Sums of weighted products over the rows, one after the other, rounded once."""

from math import fsum


def sum_products(rows, weight, targets):
    """Z'WZ and Z'WT of Z = [1, rows], as lists of rows."""
    table = [[1.0, *row] for row in rows]
    width, n_targets = len(table[0]), len(targets[0])
    products = [
        [
            fsum(w * row[i] * row[j] for row, w in zip(table, weight, strict=True))
            for j in range(width)
        ]
        for i in range(width)
    ]
    with_targets = [
        [
            fsum(
                w * row[i] * target[j]
                for row, w, target in zip(table, weight, targets, strict=True)
            )
            for j in range(n_targets)
        ]
        for i in range(width)
    ]
    return products, with_targets
