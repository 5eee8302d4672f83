"""Our trees and the tools they are compared with, behind one small protocol.

To add a peer, write a class with the members of :class:`Peer` and enter it in
:data:`PEERS`; nothing else knows which peers there are.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Protocol

import numpy as np

from benchmarks.boosting import OwnAdaBoost, ScikitLearnAdaBoost
from benchmarks.c50 import C50Tree
from benchmarks.decompositions import OwnTruncatedSVD, ScikitLearnTruncatedSVD
from benchmarks.discriminants import OwnDiscriminant, ScikitLearnDiscriminant
from benchmarks.forests import (
    IntelForest,
    ScikitLearnForest,
    YdfForest,
    count_mean_leaves,
    make_own_forest,
)
from benchmarks.gradient_boosting import (
    HistogramBoosting,
    LightGBM,
    OwnGradientBoosting,
    ScikitLearnBoosting,
    XGBoost,
)
from benchmarks.measure import count_cores, installed_version
from benchmarks.multiway import OrangeSimpleTree, OrangeTree, PDecisionTree
from benchmarks.ranger import RangerForest
from benchmarks.rpart import RpartDefaultTree, RpartTree
from benchmarks.tasks import (
    ADABOOST,
    C45,
    CART,
    CART_ALPHA,
    CLASSIFICATION,
    DISCRIMINANT,
    EXTRA_TREES,
    FOREST,
    FORESTS,
    GAIN_RATIO,
    GRADIENT_BOOSTING,
    ID3,
    OBLIQUE_FOREST,
    OBLIQUE_TREE,
    REGRESSION,
    TRUNCATED_SVD,
    Task,
)
from benchmarks.treeple import TreepleForest
from benchmarks.weka import J48Tree, WekaId3Tree


class Peer(Protocol):
    """A tool that grows the tree of a :class:`Task` without limits, or to a depth.

    Or a forest; then leaves are those of a tree, on average. Some members are optional.
    ``patient_rows`` is the number of rows from which a fit takes so long that it has to
    be asked for. ``answers_held_out_only`` keeps it out of the timing of predictions.
    ``count_nodes(model)`` is compared where
    both sides have it. A tool that does not tell its answers has instead of
    ``make_predict`` a ``training_score(model, task)``: accuracy or R².
    ``n_processes`` says how many it works with, if it is more than this one.
    """

    #: Name on the command line and in the tables.
    name: str
    #: What it can grow; it is not asked for anything else.
    algorithms: tuple[str, ...]
    #: Whether it can use more than one thread for one tree.
    is_threaded: bool
    #: Whether it can grow to a given depth.
    limits_depth: bool

    def find_version(self) -> str | None:
        """Its version, None where it is not at hand."""

    def refusal(self, task: Task) -> str | None:
        """Why it cannot do this task, None if it can."""

    def criterion(self, task: Task) -> str:
        """The impurity it grows by when asked for ``task.criterion``."""

    def make_fit(self, task: Task, n_threads: int, max_depth: int | None = None):
        """A function without arguments that fits and returns the model.

        Only what a user would do once beforehand (columns in the tool's own
        container) is done here; everything else counts as fitting. A model with
        ``own_seconds`` and ``own_cpu_seconds`` says itself how long it took.
        """

    def make_predict(self, model, task: Task, n_threads: int):
        """A function without arguments: class shares (n, classes) or values (n,)."""

    def count_leaves(self, model) -> int:
        """Leaves that are needed: splits of pure nodes are not counted."""


class _LikeScikitLearn:
    """What our estimators and scikit-learn's have in common."""

    limits_depth = True
    package: str

    def find_version(self):
        return installed_version(self.package)

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


#: What makes C45Classifier split by gain ratio and do nothing else.
GAIN_RATIO_ALONE = {
    "gain_ratio_rule": "plain",
    "mdl_correction": False,
    "min_samples_leaf": 1,
    "collapse": False,
    "pruning": None,
}


class OwnTree(_LikeScikitLearn):
    """The trees and forests of this project."""

    name = "sklearn_textbook"
    package = "sklearn-textbook"
    algorithms = (
        *(CART, CART_ALPHA, ID3, C45, GAIN_RATIO, FOREST, EXTRA_TREES),
        *(OBLIQUE_FOREST, OBLIQUE_TREE),
        *(TRUNCATED_SVD, DISCRIMINANT, ADABOOST, GRADIENT_BOOSTING),
    )
    is_threaded = True
    #: what is no tree, by algorithm
    other_models = MappingProxyType(
        {
            TRUNCATED_SVD: OwnTruncatedSVD(),
            DISCRIMINANT: OwnDiscriminant(),
            ADABOOST: OwnAdaBoost(),
            GRADIENT_BOOSTING: OwnGradientBoosting(),
        }
    )

    def refusal(self, task):
        return None

    def make_fit(self, task, n_threads, max_depth=None):
        if task.algorithm in self.other_models:
            return self.other_models[task.algorithm].make_fit(task, n_threads)
        return super().make_fit(task, n_threads, max_depth)

    def make_predict(self, model, task, n_threads):
        if task.algorithm in self.other_models:
            return self.other_models[task.algorithm].make_predict(
                model, task, n_threads
            )
        return super().make_predict(model, task, n_threads)

    def make_estimator(self, task, n_threads, max_depth):
        from sklearn_textbook import tree

        if task.algorithm in self.other_models:
            return self.other_models[task.algorithm].make_estimator(task, n_threads)
        if task.algorithm in FORESTS:
            return make_own_forest(task, n_threads, max_depth)
        options = {"max_depth": max_depth, "n_jobs": n_threads}
        if task.algorithm == ID3:
            return tree.ID3Classifier(**options)
        if task.algorithm == C45:
            return tree.C45Classifier(**options)
        if task.algorithm == GAIN_RATIO:
            return tree.C45Classifier(**options, **GAIN_RATIO_ALONE)
        options |= {"criterion": task.criterion, "random_state": 0}
        if task.algorithm == OBLIQUE_TREE:
            return tree.ObliqueTreeClassifier(**options)
        if task.algorithm == CART_ALPHA:
            options["pruning"] = "cost_complexity"
        options["categorical_smoothing"] = task.categorical_smoothing
        if task.kind == CLASSIFICATION:
            return tree.CARTClassifier(**options)
        return tree.CARTRegressor(**options)

    def count_leaves(self, model):
        """Empty ones too, of levels without rows in a node; of forests the mean.

        Of other models the number of components, directions, members or rounds.
        """
        for other in self.other_models.values():
            if hasattr(model, other.attribute):
                return other.count_leaves(model)
        if hasattr(model, "estimators_"):
            return count_mean_leaves(model)
        if model.tree_.is_binary and not len(model.tree_.terms):
            return super().count_leaves(model)
        return int(model.get_n_leaves())

    def count_nodes(self, model):
        if not hasattr(model, "tree_"):
            return None
        return int(model.tree_.node_count)


class ScikitLearnTree(_LikeScikitLearn):
    """scikit-learn's decision trees (one thread)."""

    name = "scikit-learn"
    package = "scikit-learn"
    algorithms = (CART,)
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


class GridSearch(ScikitLearnTree):
    """scikit-learn's trees, alpha searched by GridSearchCV with ten folds.

    The alphas are a geometric grid over the path of the tree of all rows.
    """

    name = "grid-search"
    algorithms = (CART_ALPHA,)
    patient_rows = 2_000
    n_alphas, n_folds = 20, 10
    n_processes = min(2, count_cores())

    def make_fit(self, task, n_threads, max_depth=None):
        from sklearn.model_selection import GridSearchCV

        estimator = self.make_estimator(task, n_threads, max_depth)

        def search():
            path = estimator.cost_complexity_pruning_path(task.X, task.y)
            above = path.ccp_alphas[path.ccp_alphas > 0]
            grid = {"ccp_alpha": np.geomspace(above[0], above[-1], self.n_alphas)}
            searched = GridSearchCV(
                estimator, grid, cv=self.n_folds, n_jobs=self.n_processes
            )
            return searched.fit(task.X, task.y).best_estimator_

        return search


class YdfTree:
    """YDF's CART learner: exact splits, fully grown, neither held out nor pruned.

    It classifies by information gain whatever is asked, computes in float32, and
    counts the root as depth 1.
    """

    name = "ydf"
    package = "ydf"
    algorithms = (CART,)
    is_threaded = True
    limits_depth = True

    label = "target"
    weight = "weight"

    def find_version(self):
        return installed_version(self.package)

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
PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        ScikitLearnTree(),
        GridSearch(),
        YdfTree(),
        J48Tree(),
        C50Tree(),
        WekaId3Tree(),
        PDecisionTree(),
        OrangeTree(),
        OrangeSimpleTree(),
        RpartTree(),
        RpartDefaultTree(),
        ScikitLearnForest(),
        YdfForest(),
        IntelForest(),
        RangerForest(),
        TreepleForest(),
        ScikitLearnTruncatedSVD(),
        ScikitLearnDiscriminant(),
        ScikitLearnAdaBoost(),
        ScikitLearnBoosting(),
        HistogramBoosting(),
        LightGBM(),
        XGBoost(),
    )
}


def sort_out_missing(names):
    """Peers that are at hand and, by name, those that are not."""
    unknown = sorted(set(names) - set(PEERS))
    if unknown:
        raise ValueError(
            f"unknown peer {', '.join(unknown)}; known are {', '.join(PEERS)}"
        )
    at_hand = [PEERS[name] for name in names if PEERS[name].find_version()]
    missing = [name for name in names if not PEERS[name].find_version()]
    return at_hand, missing
