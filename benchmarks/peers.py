"""Our trees and the tools they are compared with, behind one small protocol.

To add a peer, write a class with the members of :class:`Peer` and enter it in
:data:`PEERS`; nothing else knows which peers there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from benchmarks.measure import installed_version

CLASSIFICATION = "classification"
REGRESSION = "regression"


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned: a table, a target and how to grow on it."""

    X: Any
    y: np.ndarray
    kind: str = CLASSIFICATION
    criterion: str = "gini"
    sample_weight: np.ndarray | None = None
    has_nominal: bool = False

    @property
    def n_rows(self):
        return self.y.shape[0]


class Peer(Protocol):
    """A tool that grows the tree of a :class:`Task` without limits, or to a depth."""

    #: Name on the command line and in the tables.
    name: str
    #: Distribution whose version is reported.
    package: str
    #: Whether it can use more than one thread for one tree.
    is_threaded: bool

    def refusal(self, task: Task) -> str | None:
        """Why it cannot do this task, None if it can."""

    def criterion(self, task: Task) -> str:
        """The impurity it grows by when asked for ``task.criterion``."""

    def make_fit(self, task: Task, n_threads: int, max_depth: int | None = None):
        """A function without arguments that fits and returns the model.

        Only what a user would do once beforehand (columns in the tool's own
        container) is done here; everything else counts as fitting.
        """

    def make_predict(self, model, task: Task, n_threads: int):
        """A function without arguments: class shares (n, classes) or values (n,)."""

    def count_leaves(self, model) -> int:
        """Leaves that are needed: splits of pure nodes are not counted."""


class _LikeScikitLearn:
    """What our estimators and scikit-learn's have in common."""

    def criterion(self, task):
        return task.criterion

    def make_fit(self, task, n_threads, max_depth=None):
        estimator = self.make_estimator(task, n_threads, max_depth)
        return lambda: estimator.fit(task.X, task.y, sample_weight=task.sample_weight)

    def make_predict(self, model, task, n_threads):
        if task.kind == CLASSIFICATION:
            return lambda: model.predict_proba(task.X)
        return lambda: model.predict(task.X)

    def make_path(self, task, n_threads):
        """A function without arguments: the minimal cost-complexity path."""
        estimator = self.make_estimator(task, n_threads, None)
        return lambda: estimator.cost_complexity_pruning_path(
            task.X, task.y, sample_weight=task.sample_weight
        )

    def count_leaves(self, model):
        if not hasattr(model, "classes_"):
            return int(model.get_n_leaves())
        # With float weights scikit-learn goes on splitting pure nodes, because
        # their impurity is not exactly 0; such splits decide nothing.
        n_present = (model.tree_.value[:, 0] > 0).sum(axis=1)
        return int(1 + np.count_nonzero((n_present > 1) & (model.tree_.feature >= 0)))


class OwnTree(_LikeScikitLearn):
    """The trees of this project."""

    name = "sklearn_textbook"
    package = "sklearn-textbook"
    is_threaded = True

    def refusal(self, task):
        return None

    def make_estimator(self, task, n_threads, max_depth):
        from sklearn_textbook.tree import CARTClassifier, CARTRegressor

        estimator = CARTClassifier if task.kind == CLASSIFICATION else CARTRegressor
        return estimator(
            criterion=task.criterion,
            max_depth=max_depth,
            random_state=0,
            n_jobs=n_threads,
        )


class ScikitLearnTree(_LikeScikitLearn):
    """scikit-learn's decision trees (one thread)."""

    name = "scikit-learn"
    package = "scikit-learn"
    is_threaded = False

    def refusal(self, task):
        return "no nominal columns" if task.has_nominal else None

    def make_estimator(self, task, n_threads, max_depth):
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        estimator = (
            DecisionTreeClassifier
            if task.kind == CLASSIFICATION
            else DecisionTreeRegressor
        )
        return estimator(criterion=task.criterion, max_depth=max_depth, random_state=0)


class YdfTree:
    """YDF's CART learner: exact splits, fully grown, neither held out nor pruned.

    It classifies by information gain whatever is asked, computes in float32, and
    counts the root as depth 1.
    """

    name = "ydf"
    package = "ydf"
    is_threaded = True

    label = "target"
    weight = "weight"

    def refusal(self, task):
        return None

    def criterion(self, task):
        return "entropy" if task.kind == CLASSIFICATION else task.criterion

    def _make_columns(self, task):
        if task.has_nominal:
            return {name: task.X[name].to_numpy() for name in task.X.columns}
        X = np.asarray(task.X, dtype=np.float32)
        return {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}

    def make_fit(self, task, n_threads, max_depth=None):
        import ydf

        ydf.verbose(0)
        columns = self._make_columns(task)
        columns[self.label] = task.y
        if task.kind == REGRESSION:
            columns[self.label] = task.y.astype(np.float32)
        if task.sample_weight is not None:
            columns[self.weight] = task.sample_weight.astype(np.float32)
        learner = ydf.CartLearner(
            label=self.label,
            task=getattr(ydf.Task, task.kind.upper()),
            weights=None if task.sample_weight is None else self.weight,
            max_depth=-1 if max_depth is None else max_depth + 1,
            min_examples=1,
            validation_ratio=0.0,
            sorting_strategy="AUTO",
            min_vocab_frequency=1,
            max_vocab_count=-1,
            num_threads=n_threads,
        )
        return lambda: learner.train(columns)

    def make_predict(self, model, task, n_threads):
        columns = self._make_columns(task)
        if task.kind == REGRESSION:
            return lambda: model.predict(columns, num_threads=n_threads)

        in_order = np.argsort([int(label) for label in model.label_classes()])

        def predict_shares():
            shares = model.predict(columns, num_threads=n_threads)
            if shares.ndim == 1:
                shares = np.column_stack((1 - shares, shares))
            return shares[:, in_order]

        return predict_shares

    def count_leaves(self, model):
        return (model.num_nodes() + 1) // 2


OWN = OwnTree()

#: Every tool we can be compared with, by its name on the command line.
PEERS: dict[str, Peer] = {peer.name: peer for peer in (ScikitLearnTree(), YdfTree())}


def sort_out_missing(names):
    """Installed peers and, by name, those that are not installed."""
    unknown = sorted(set(names) - set(PEERS))
    if unknown:
        raise ValueError(
            f"unknown peer {', '.join(unknown)}; known are {', '.join(PEERS)}"
        )
    installed = [
        PEERS[name] for name in names if installed_version(PEERS[name].package)
    ]
    missing = [name for name in names if not installed_version(PEERS[name].package)]
    return installed, missing


def with_criterion(task, criterion):
    """The same task, grown by another impurity."""
    return task if criterion == task.criterion else replace(task, criterion=criterion)
