"""Output flipping and smearing as plain loops of fits over any estimator.

The draws are those of the ensembles: a seed per member, from which rows are drawn, and
a stream of its own for the outputs.
"""

import numpy as np
from sklearn.base import clone


def draw_seeds(random_state, n_members):
    source = np.random.RandomState(random_state)
    return [int(source.randint(2**31 - 1)) for _ in range(n_members)]


def flip_labels(y, flip_rate, seed):
    """Each row's class is drawn anew with such a probability that ``flip_rate`` of the
    labels change on average."""
    classes, codes = np.unique(y, return_inverse=True)
    shares = np.bincount(codes) / len(y)
    stream = np.random.default_rng([seed, 1])
    chance = flip_rate / sum(share * (1 - share) for share in shares)
    drawn = [row for row, u in enumerate(stream.random(len(y))) if u < chance]
    flipped = np.array(y)
    for row, uniform in zip(drawn, stream.random(len(drawn)), strict=True):
        first = next(c for c, top in enumerate(np.cumsum(shares)) if uniform < top)
        flipped[row] = classes[first]
    return flipped


def smear_labels(y, noise, seed):
    """One output per class: 1 or 0, and gaussian noise."""
    classes = np.unique(y)
    normal = np.random.default_rng([seed, 1]).normal(size=(len(y), len(classes)))
    outputs = np.empty(normal.shape)
    for row in range(len(y)):
        for number, label in enumerate(classes):
            share = np.mean(y == label)
            deviation = noise * np.sqrt(share * (1 - share))
            outputs[row, number] = (y[row] == label) + deviation * normal[row, number]
    return outputs


def fit_members(estimator, X, outputs, seeds, bootstrap):
    """One fit per seed: to all rows, or to as many drawn with replacement."""
    members = []
    for seed, output in zip(seeds, outputs, strict=True):
        rows = np.arange(len(X))
        if bootstrap:
            rows = np.sort(np.random.RandomState(seed).randint(0, len(X), len(X)))
        member = clone(estimator)
        if "random_state" in member.get_params():
            member.set_params(random_state=seed)
        members.append(member.fit(X[rows], output[rows]))
    return members
