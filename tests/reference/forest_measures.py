"""Proximities and permutation importances of a forest as plain loops."""

import numpy as np

from tests.explain.builders import route_row


def list_out_of_bag(member, n_rows):
    """Rows that a tree of a forest with bootstrap samples of full size has not seen."""
    drawn = np.random.RandomState(member.random_state).randint(0, n_rows, n_rows)
    return sorted(set(range(n_rows)) - set(drawn.tolist()))


def measure_proximities(forest, matrix, others=None, out_of_bag=False):
    """Chance that two rows end in the same node, averaged over trees."""
    same = others is None
    others = matrix if same else others
    total = np.zeros((len(matrix), len(others)))
    n_trees = np.zeros(total.shape)
    for member in forest.estimators_:
        ends = [route_row(member.tree_, row) for row in matrix]
        other_ends = ends if same else [route_row(member.tree_, row) for row in others]
        judged = range(len(matrix))
        if out_of_bag:
            judged = list_out_of_bag(member, len(matrix))
        for i in judged:
            for j in judged if out_of_bag else range(len(others)):
                shared = ends[i].keys() & other_ends[j].keys()
                total[i, j] += sum(ends[i][end] * other_ends[j][end] for end in shared)
                n_trees[i, j] += 1
    result = total / np.maximum(n_trees, 1)
    if same:
        np.fill_diagonal(result, 1.0)
    return result


def measure_importances(forest, X, y, n_repeats, random_state, measure_error):
    """Rise of each tree's error on its out-of-bag rows, column by column."""
    source = np.random.RandomState(random_state)
    seeds = [source.randint(2**31 - 1) for _ in forest.estimators_]
    rises = np.zeros((X.shape[1], len(seeds)))
    for number, (member, seed) in enumerate(zip(forest, seeds, strict=True)):
        stream = np.random.RandomState(seed)
        rows = list_out_of_bag(member, len(X))
        error = measure_error(y[rows], member.predict(X[rows]))
        tested = {int(feature) for feature in member.tree_.nodes["feature"]}
        tested |= {int(feature) for feature in member.tree_.surrogates["feature"]}
        for column in sorted(tested - {-2}):
            for _ in range(n_repeats):
                permuted = X[rows].copy()
                permuted[:, column] = permuted[stream.permutation(len(rows)), column]
                risen = measure_error(y[rows], member.predict(permuted)) - error
                rises[column, number] += risen / n_repeats
    return rises
