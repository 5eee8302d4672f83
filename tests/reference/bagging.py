"""Bagging in plain Python: what members see, how they decide, who judges whom.

The members are any estimators; everything about the ensemble is written out row by row.
"""

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

LARGEST_SEED = 2**31 - 1


def draw(random, n_all, n_drawn, with_replacement, weight=None):
    """Numbers of drawn things, with scikit-learn's random numbers."""
    if weight is not None:
        share = weight / weight.sum()
        return random.choice(n_all, n_drawn, replace=with_replacement, p=share)
    if with_replacement:
        return random.randint(0, n_all, n_drawn)
    return sample_without_replacement(n_all, n_drawn, random_state=random)


def fit_bagging(template, X, y, n_members, seed, n_rows, n_columns, replace=(1, 0)):
    """Members as (estimator, rows, columns), each fitted to copies of drawn rows."""
    random = check_random_state(seed)
    members = []
    for _ in range(n_members):
        member_seed = random.randint(LARGEST_SEED)
        draws = check_random_state(member_seed)
        columns = draw(draws, X.shape[1], n_columns, replace[1])
        rows = draw(draws, len(X), n_rows, replace[0])
        member = clone(template)
        if "random_state" in member.get_params():
            own_seed = check_random_state(member_seed).randint(LARGEST_SEED)
            member.set_params(random_state=own_seed)
        member.fit(X[np.ix_(rows, columns)], y[rows])
        members.append((member, rows, columns))
    return members


def give_shares(member, row, classes):
    """Class shares that a member gives to one row, for all classes."""
    shares = dict.fromkeys(classes, 0.0)
    given = member.predict_proba([row])[0]
    shares.update(zip(member.classes_.tolist(), given.tolist(), strict=True))
    return shares


def vote(members, row, classes):
    """The class with most votes, of equals the one with the largest mean share."""
    votes = dict.fromkeys(classes, 0)
    means = dict.fromkeys(classes, 0.0)
    for member, _, columns in members:
        votes[member.predict([row[columns]])[0]] += 1
        for label, share in give_shares(member, row[columns], classes).items():
            means[label] += share / len(members)
    return max(classes, key=lambda label: (votes[label], means[label]))


def judge_classes(members, X, y):
    """Out-of-bag shares of every row, and the error after each member."""
    classes = sorted(set(y.tolist()))
    sums = [dict.fromkeys(classes, 0.0) for _ in y]
    counts = [0] * len(y)
    curve = []
    for member, rows, columns in members:
        for row in set(range(len(y))) - set(rows.tolist()):
            given = give_shares(member, X[row, columns], classes)
            for label, share in given.items():
                sums[row][label] += share
            counts[row] += 1
        wrong = [
            max(classes, key=sums[row].get) != y[row]
            for row in range(len(y))
            if counts[row]
        ]
        curve.append(sum(wrong) / len(wrong))
    shares = [
        [sums[row][label] / counts[row] if counts[row] else np.nan for label in classes]
        for row in range(len(y))
    ]
    return np.array(shares), np.array(curve)


def judge_values(members, X, y):
    """Out-of-bag values of every row (0 if all members saw it), and the error curve."""
    sums, counts = [0.0] * len(y), [0] * len(y)
    curve = []
    for member, rows, columns in members:
        for row in set(range(len(y))) - set(rows.tolist()):
            sums[row] += member.predict([X[row, columns]])[0]
            counts[row] += 1
        squares = [
            (sums[row] / counts[row] - y[row]) ** 2
            for row in range(len(y))
            if counts[row]
        ]
        curve.append(sum(squares) / len(squares))
    values = [total / max(1, count) for total, count in zip(sums, counts, strict=True)]
    return np.array(values), np.array(curve)
