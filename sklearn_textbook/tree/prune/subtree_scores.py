"""Scores of all subtrees of a sequence from one pass of routing."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np
from sklearn.metrics import check_scoring, get_scorer

from sklearn_textbook.tree.prune._subtree import (
    find_gone_steps,
    find_representatives,
)
from sklearn_textbook.tree.prune.node_losses import measure_node_losses, take_dense
from sklearn_textbook.tree.prune.outcome import number_kept
from sklearn_textbook.tree.prune.rebuild import cut_below
from sklearn_textbook.tree.route import predict_in_nodes


def measure_step_losses(tree, sequence, losses) -> np.ndarray:
    """Sum the losses of the leaves of every subtree.

    A node is a leaf from the step that prunes it (or from the first step, if it is a
    leaf of the full tree) until a node above it is pruned. So it adds to a range of
    steps, and the total time is linear in the number of nodes.
    """
    n_steps = len(sequence.cut_node)
    is_leaf = tree.nodes["n_children"] == 0
    cut_step = np.where(is_leaf, 0, n_steps)
    cut_step[sequence.cut_node[1:]] = np.arange(1, n_steps)
    gone_step = np.empty(tree.node_count, dtype=np.int64)
    find_gone_steps(tree.nodes, cut_step, n_steps, gone_step)
    # Errors equal their squares, so one column is enough.
    is_square = all(np.array_equal(*of.T) for of in (losses.leaf, losses.stay))
    any_stays = bool(losses.stay.any())
    total = np.empty((n_steps, 2))
    for column in range(1 if is_square else 2):
        change = np.zeros(n_steps + 1)
        _add_runs(change, cut_step, gone_step, losses.leaf[:, column])
        if any_stays:
            stay = np.where(is_leaf, 0.0, losses.stay[:, column])
            end = np.minimum(cut_step, gone_step)
            _add_runs(change, np.zeros_like(cut_step), end, stay)
        total[:, column] = np.cumsum(change)[:-1]
    if is_square:
        total[:, 1] = total[:, 0]
    return np.maximum(total, 0.0)


def _add_runs(change, start, stop, amount) -> None:
    """Add amounts to ranges of steps, as differences between steps."""
    used = np.flatnonzero((start < stop) & (amount != 0.0))
    n_steps = len(change)
    change += np.bincount(start[used], amount[used], n_steps)
    change -= np.bincount(stop[used], amount[used], n_steps)


def score_by_loss(
    tree, sequence, steps: np.ndarray, rows, data, losses: tuple[str, ...]
) -> tuple[np.ndarray, float]:
    """Compute the losses of some subtrees on some rows."""
    measured = measure_node_losses(tree, rows, data, losses)
    summed = [measure_step_losses(tree, sequence, one)[steps] for one in measured]
    return np.array(summed), measured[0].total_weight


def score_by_scorer(
    tree, sequence, steps: np.ndarray, rows, data, scoring: str | Callable
) -> np.ndarray:
    """Score some subtrees on some rows with one of scikit-learn's scorers.

    Rows are routed once. In a subtree, a row ends in the lowest remaining ancestor of
    its leaf.
    """
    numbers, ends, fractions = data.find_ends(tree, rows.matrix)
    is_whole = len(numbers) == rows.n_rows
    cut = np.zeros(tree.node_count, dtype=bool)
    place = np.empty(tree.node_count, dtype=np.int32)

    def gather(shown):
        nodes = place[ends]
        if len(shown.slopes):
            found = predict_in_nodes(shown, take_dense(rows, numbers), nodes)
            found = found[:, np.newaxis, np.newaxis]
        else:
            found = shown.value[nodes]
        if is_whole:
            return found
        mixed = np.zeros((rows.n_rows, *found.shape[1:]))
        np.add.at(mixed, numbers, found * fractions[:, np.newaxis, np.newaxis])
        return mixed

    estimator = data.stand_in(tree, rows.matrix, gather)
    scorer = check_scoring(estimator, scoring=scoring)
    # Scorers from make_scorer use only predictions; others may use the tree.
    is_of_predictions = isinstance(scorer, type(get_scorer("accuracy")))
    y = _decode_target(rows.target, estimator)
    scores, done = {}, 0
    for step in np.unique(steps):
        cut[sequence.cut_node[done + 1 : step + 1]] = True
        done = step
        find_representatives(tree.nodes, cut.view(np.uint8), place)
        if not is_of_predictions:
            place = number_kept(tree, cut)[place].astype(np.int32)
            estimator = data.stand_in(cut_below(tree, cut), rows.matrix, gather)
        scores[step] = _call_scorer(scorer, estimator, rows, y)
    return np.array([scores[step] for step in steps])


def _call_scorer(scorer, estimator, rows, y) -> float:
    """Score one subtree; raise ValueError if the scorer fails."""
    weight = rows.sample_weight
    options = {} if weight is None else {"sample_weight": weight}
    try:
        score = scorer(estimator, rows.matrix, y, **options)
    except TypeError as error:
        if weight is None or "sample_weight" not in str(error):
            raise
        raise ValueError(
            "The 'scoring' parameter must accept sample_weight, since the rows have "
            f"weights; got {scorer!r}."
        ) from error
    score = score.item() if isinstance(score, np.ndarray) and score.size == 1 else score
    if not isinstance(score, Real):
        raise ValueError(
            "The 'scoring' parameter must return a single number; "
            f"{scorer!r} returned {score!r} of type {type(score).__name__}."
        )
    return float(score)


def _decode_target(target, estimator):
    """Convert class indices to labels."""
    if not target.is_classifier:
        y = target.values
    elif target.n_outputs == 1:
        return estimator.classes_[target.codes[:, 0]]
    else:
        y = np.column_stack(
            [
                classes[codes]
                for classes, codes in zip(
                    estimator.classes_, target.codes.T, strict=True
                )
            ]
        )
    return y[:, 0] if y.shape[1] == 1 else y
