"""Reference of the forests' voting and out-of-bag estimates: loops over rows and trees.

It asks each tree for one row after the other, and draws every bootstrap sample itself.
"""

from collections import Counter

import numpy as np


def draw_sample(seed, n_rows, n_drawn, weight=None):
    """Rows of a bootstrap sample."""
    random_state = np.random.RandomState(seed)
    if weight is None:
        return random_state.randint(0, n_rows, n_drawn)
    return random_state.choice(n_rows, n_drawn, p=np.array(weight) / sum(weight))


def vote_soft(shares_of_trees):
    """Mean of the trees' shares, and the class of the largest."""
    shares = [
        sum(column) / len(shares_of_trees)
        for column in zip(*shares_of_trees, strict=True)
    ]
    return shares, shares.index(max(shares))


def vote_hard(shares_of_trees):
    """Shares of the votes, and the class with most; of equals the larger mean share."""
    votes = Counter(list(shares).index(max(shares)) for shares in shares_of_trees)
    n_classes = len(shares_of_trees[0])
    means = [sum(column) for column in zip(*shares_of_trees, strict=True)]
    best = max(range(n_classes), key=lambda k: (votes[k], means[k], -k))
    return [votes[k] / len(shares_of_trees) for k in range(n_classes)], best


def estimate_out_of_bag(outputs, samples, target, combine):
    """Out-of-bag predictions and the error curve of a forest.

    ``outputs[t][i]`` is what tree t says of row i, ``samples[t]`` the rows it grew
    from; ``combine`` makes a prediction and its error for a row from what some trees
    say of it. Rows that all trees have seen have the prediction None.
    """
    n_rows, curve = len(target), []
    for n_trees in range(1, len(outputs) + 1):
        predictions, errors = [None] * n_rows, []
        for i in range(n_rows):
            said = [outputs[t][i] for t in range(n_trees) if i not in set(samples[t])]
            if said:
                predictions[i], error = combine(said, target[i])
                errors.append(error)
        curve.append(sum(errors) / len(errors) if errors else float("nan"))
    return predictions, curve
