"""Gradient boosting in plain Python: rounds of trees, in the order of the book."""

import numpy as np

from tests.reference.gradient_tree import GradientTree


def route(tree, row):
    """The value of the leaf where a row without missing values ends."""
    node = tree.root
    while node.children:
        split = node.split
        if split.threshold is None:
            goes_left = row[split.column] in split.values_left
        else:
            goes_left = row[split.column] <= split.threshold
        node = node.children[0 if goes_left else 1]
    return node.value


def boost(X, y, derive, start, n_rounds, learning_rate, **limits):
    """Raw scores of the training rows after each round.

    ``derive`` gives the first and second derivatives of the losses, from the targets
    and the raw scores, one row for each score.
    """
    raw = np.repeat(np.asarray(start, float)[:, None], len(X), axis=1)
    stages = []
    for _ in range(n_rounds):
        gradient, hessian = derive(y, raw)
        raw = raw.copy()
        for score in range(len(raw)):
            tree = GradientTree(X, gradient[score], hessian[score], **limits)
            raw[score] += learning_rate * np.array([route(tree, row) for row in X])
        stages.append(raw)
    return stages


def derive_squares(y, raw):
    """Derivatives of half the squared error."""
    return raw - y, np.ones_like(raw)


def derive_logistic(y, raw):
    """Derivatives of the log loss of two classes, 0 and 1."""
    p = 1 / (1 + np.exp(-raw))
    return p - y, p * (1 - p)


def derive_softmax(y, raw):
    """Derivatives of the log loss of several classes, 0, 1, ..."""
    p = np.exp(raw) / np.exp(raw).sum(axis=0)
    return p - (y == np.arange(len(raw))[:, None]), p * (1 - p)
