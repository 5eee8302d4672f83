"""Hold that two tools did the same work before their times are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, r2_score

from benchmarks.tasks import (
    CLASSIFICATION,
    GRADIENT_BOOSTING,
    with_criterion,
    without_training_rows,
)

#: Small trees may differ by this many leaves whatever their size.
SLACK_LEAVES = 5


@dataclass(frozen=True)
class Tolerance:
    """How far two trees may differ through ties and rounding alone."""

    #: share by which the numbers of leaves, and of nodes, may differ
    leaves: float = 0.02
    #: number by which they may differ whatever their size
    slack: float = SLACK_LEAVES
    #: difference of the scores (accuracy or R²) on the training rows
    score: float = 1e-3
    #: times one over the square root of the number of training rows, what is added to
    #: that; scores on rows held out differ by so much if chance has a say in the fit
    chance: float = 0.0
    #: depth down to which the trees are compared row by row; a node down there
    #: has enough rows for its best split to be the only best one
    top_depth: int = 5
    #: share of the training rows that must get the same answer at that depth; of a
    #: peer that cannot stop there, the same class by the whole tree
    agreement: float = 0.99


#: Not a leaf, not a row may differ.
EXACT = Tolerance(leaves=0.0, slack=0, score=1e-9, agreement=1.0)


@dataclass(frozen=True)
class Outcome:
    """What a tool learned on a task."""

    n_leaves: int
    #: None if the tool does not say
    n_nodes: int | None
    score: float
    #: on the training rows, answers of a tree grown to a small depth only or the
    #: classes that the whole tree finds; None if the tool does not say
    answers: np.ndarray | None


def _score(task, answers):
    if task.kind == CLASSIFICATION and task.algorithm == GRADIENT_BOOSTING:
        # What it makes small: higher is better, as of the others.
        return -float(log_loss(task.y, answers, labels=np.arange(task.n_classes)))
    if task.kind == CLASSIFICATION:
        return float(accuracy_score(task.y, np.argmax(answers, axis=1)))
    return float(r2_score(task.y, answers))


def add_chance(tolerance, n_rows):
    """The tolerance with what chance does at a number of training rows."""
    slack = tolerance.chance / np.sqrt(n_rows)
    return replace(tolerance, score=tolerance.score + slack, chance=0.0)


def find_top_depth(task, tolerance):
    """Depth to compare at: nodes should keep about a hundred rows."""
    return max(1, min(tolerance.top_depth, int(np.log2(max(2, task.n_rows / 100)))))


def observe(peer, task, n_threads, top_depth):
    """Let a tool learn the task and look at the result.

    With a ``top_depth`` of None the answers are classes by the whole tree. If rows
    are held out, their score alone is what counts.
    """
    model = peer.make_fit(task, n_threads)()
    n_leaves = peer.count_leaves(model)
    n_nodes = peer.count_nodes(model) if hasattr(peer, "count_nodes") else None
    if not hasattr(peer, "make_predict"):
        return Outcome(n_leaves, n_nodes, peer.training_score(model, task), None)
    if task.X_test is not None:
        held_out = without_training_rows(task)
        answers = peer.make_predict(model, held_out, n_threads)()
        return Outcome(n_leaves, n_nodes, _score(held_out, answers), None)
    answers = peer.make_predict(model, task, n_threads)()
    score = _score(task, answers)
    if top_depth is None:
        return Outcome(n_leaves, n_nodes, score, np.argmax(answers, axis=1))
    top = peer.make_fit(task, n_threads, max_depth=top_depth)()
    answers = peer.make_predict(top, task, n_threads)()
    return Outcome(n_leaves, n_nodes, score, np.asarray(answers, dtype=np.float64))


def find_agreement(ours, theirs):
    """Share of the rows that get the same answer, but for rounding."""
    scale = max(1e-12, float(np.std(ours)))
    close = np.isclose(ours, theirs, rtol=1e-4, atol=1e-4 * scale)
    return close.reshape(close.shape[0], -1).all(axis=1).mean()


def find_differences(ours, theirs, tolerance):
    """Reasons why two outcomes are not the same work; empty if they are."""
    reasons = []
    for name in ("leaves", "nodes"):
        one, other = getattr(ours, f"n_{name}"), getattr(theirs, f"n_{name}")
        if one is None or other is None:
            continue
        if abs(one - other) > tolerance.slack + tolerance.leaves * max(one, other):
            reasons.append(f"{one} {name} against {other}")
    if abs(ours.score - theirs.score) > tolerance.score:
        reasons.append(f"score {ours.score:.4f} against {theirs.score:.4f}")
    if ours.answers is None or theirs.answers is None:
        return reasons
    agreement = find_agreement(ours.answers, theirs.answers)
    if agreement < tolerance.agreement:
        reasons.append(f"the trees agree on {agreement:.1%} of the rows only")
    return reasons


class Comparer:
    """Compare peers with ours on one task; ours learns once per way to look at it."""

    def __init__(self, own, task, n_threads, find_tolerance):
        self.own = own
        self.task = task
        self.n_threads = n_threads
        #: peer's name -> Tolerance
        self.find_tolerance = find_tolerance
        self._ours = {}

    def observe_ours(self, criterion, top_depth):
        if (criterion, top_depth) not in self._ours:
            self._ours[criterion, top_depth] = observe(
                self.own,
                with_criterion(self.task, criterion),
                self.n_threads,
                top_depth,
            )
        return self._ours[criterion, top_depth]

    def compare(self, peer):
        """Our outcome by the peer's criterion, the peer's outcome, differences."""
        tolerance = add_chance(self.find_tolerance(peer.name), self.task.n_rows)
        top_depth = None
        if peer.limits_depth and self.task.X_test is None:
            top_depth = find_top_depth(self.task, tolerance)
        ours = self.observe_ours(peer.criterion(self.task), top_depth)
        theirs = observe(peer, self.task, self.n_threads, top_depth)
        return ours, theirs, find_differences(ours, theirs, tolerance)
