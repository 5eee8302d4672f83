"""Hold that two tools did the same work before their times are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from benchmarks.peers import CLASSIFICATION, with_criterion

#: Small trees may differ by this many leaves whatever their size.
SLACK_LEAVES = 5


@dataclass(frozen=True)
class Tolerance:
    """How far two trees may differ through ties and rounding alone."""

    #: share by which the numbers of leaves may differ
    leaves: float = 0.02
    #: difference of the scores (accuracy or R²) on the training rows
    score: float = 1e-3
    #: depth down to which the trees are compared row by row; a node down there
    #: has enough rows for its best split to be the only best one
    top_depth: int = 5
    #: share of the training rows that must get the same answer at that depth
    agreement: float = 0.99


@dataclass(frozen=True)
class Outcome:
    """What a tool learned on a task."""

    n_leaves: int
    score: float
    #: answers on the training rows of a tree grown to a small depth only
    top_answers: np.ndarray


def _score(task, answers):
    if task.kind == CLASSIFICATION:
        return float(accuracy_score(task.y, np.argmax(answers, axis=1)))
    return float(r2_score(task.y, answers))


def find_top_depth(task, tolerance):
    """Depth to compare at: nodes should keep about a hundred rows."""
    return max(1, min(tolerance.top_depth, int(np.log2(max(2, task.n_rows / 100)))))


def observe(peer, task, n_threads, top_depth):
    """Let a tool learn the task and look at the result."""
    model = peer.make_fit(task, n_threads)()
    answers = peer.make_predict(model, task, n_threads)()
    score = _score(task, answers)
    n_leaves = peer.count_leaves(model)
    top = peer.make_fit(task, n_threads, max_depth=top_depth)()
    top_answers = peer.make_predict(top, task, n_threads)()
    return Outcome(n_leaves, score, np.asarray(top_answers, dtype=np.float64))


def find_differences(ours, theirs, tolerance):
    """Reasons why two outcomes are not the same work; empty if they are."""
    reasons = []
    allowed = SLACK_LEAVES + tolerance.leaves * max(ours.n_leaves, theirs.n_leaves)
    if abs(ours.n_leaves - theirs.n_leaves) > allowed:
        reasons.append(f"{ours.n_leaves} leaves against {theirs.n_leaves}")
    if abs(ours.score - theirs.score) > tolerance.score:
        reasons.append(f"training score {ours.score:.4f} against {theirs.score:.4f}")
    scale = max(1e-12, float(np.std(ours.top_answers)))
    close = np.isclose(
        ours.top_answers, theirs.top_answers, rtol=1e-4, atol=1e-4 * scale
    )
    agreement = close.reshape(close.shape[0], -1).all(axis=1).mean()
    if agreement < tolerance.agreement:
        reasons.append(f"tops of the trees agree on {agreement:.1%} of the rows only")
    return reasons


class Comparer:
    """Compare peers with ours on one task; ours learns once per criterion."""

    def __init__(self, own, task, n_threads, tolerance):
        self.own = own
        self.task = task
        self.n_threads = n_threads
        self.tolerance = tolerance
        self.top_depth = find_top_depth(task, tolerance)
        self._ours = {}

    def observe_ours(self, criterion):
        if criterion not in self._ours:
            self._ours[criterion] = observe(
                self.own,
                with_criterion(self.task, criterion),
                self.n_threads,
                self.top_depth,
            )
        return self._ours[criterion]

    def compare(self, peer):
        """Our outcome by the peer's criterion, the peer's outcome, differences."""
        ours = self.observe_ours(peer.criterion(self.task))
        theirs = observe(peer, self.task, self.n_threads, self.top_depth)
        return ours, theirs, find_differences(ours, theirs, self.tolerance)
