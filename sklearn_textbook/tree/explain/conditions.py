"""Conditions of the branches of a tree as data, used by all exports.

A :class:`Condition` states, for one column, which present values take the branch, and
the fraction of a row with a missing value that does. Conditions on the same column are
combined, so that a path has one condition per column: ``x > 2`` and ``x > 3`` become
``x > 3``, ``x > 2`` and ``x <= 3`` become ``2 < x <= 3``, sets of levels intersect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sklearn_textbook.tree.grow.layout import (
    FRACTIONAL,
    LEAF,
    NOMINAL,
    NUMERIC,
    OBLIQUE,
    STAY,
)


@dataclass(frozen=True)
class StandIn:
    """The condition of one surrogate for one branch.

    ``low < value <= high`` for a numeric column; for levels, ``accepted`` are the
    codes that take the branch and ``known`` those to which the surrogate is applicable.
    """

    feature: int
    low: float = -math.inf
    high: float = math.inf
    accepted: tuple | None = None
    known: tuple | None = None

    @property
    def is_numeric(self):
        """Whether the surrogate tests a numeric column."""
        return self.accepted is None


@dataclass(frozen=True)
class Chain:
    """The surrogates of a node in their order, for one branch.

    The first that is applicable is used; if none is, ``otherwise`` is the fraction of
    the row that takes the branch.
    """

    stand_ins: tuple
    otherwise: float


@dataclass(frozen=True)
class Condition:
    """The condition of a branch, or of a whole path, on one column.

    Parameters
    ----------
    feature : int
        Index of the column.
    low, high : float
        Numeric columns: ``low < value <= high`` follows the branch.
    shares : tuple of float or None
        Nominal and ordinal columns: the fraction of a row that follows the branch, per
        level code; the last entry is for a level never seen in training.
    missing : float
        Fraction of a row whose value is missing that follows the branch.
    chains : tuple of Chain
        Surrogates, whose results are multiplied with ``missing``.
    """

    feature: int
    low: float = -math.inf
    high: float = math.inf
    shares: tuple | None = None
    missing: float = 1.0
    chains: tuple = ()

    @property
    def is_numeric(self):
        """Whether the column is numeric."""
        return self.shares is None

    @property
    def takes_present(self):
        """Whether some present value follows the branch."""
        return self.low < self.high if self.is_numeric else any(self.shares)

    @property
    def takes_all_present(self):
        """Whether every present value follows the branch wholly."""
        if self.is_numeric:
            return self.low == -math.inf and self.high == math.inf
        return all(share == 1.0 for share in self.shares)

    @property
    def is_impossible(self):
        """Whether no row satisfies the condition."""
        return not self.takes_present and self.missing == 0.0

    @property
    def is_always_true(self):
        """Whether every row satisfies the condition."""
        return self.takes_all_present and self.missing == 1.0 and not self.chains

    @property
    def is_fractional(self):
        """Whether some rows follow the branch with only a part of their weight."""
        shares = (self.missing, *(chain.otherwise for chain in self.chains))
        return any(0.0 < share < 1.0 for share in (*shares, *(self.shares or ())))

    def meet(self, other):
        """Return the conjunction of both conditions."""
        missing = self.missing * other.missing
        shares = self.shares
        if shares is not None:
            shares = tuple(a * b for a, b in zip(shares, other.shares, strict=True))
        return replace(
            self,
            low=max(self.low, other.low),
            high=min(self.high, other.high),
            shares=shares,
            missing=missing,
            chains=self.chains + other.chains if missing > 0.0 else (),
        )


def branch_condition(tree, node, branch):
    """Return the condition of a branch of a node.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    node : int
        Number of an inner node.
    branch : int
        Index of the child; ``STAY`` (-1) for the rows that end in the node because of a
        missing value without a branch or a level not seen in the node.

    Returns
    -------
    Condition
        The condition.

    Raises
    ------
    NotImplementedError
        If the node has an oblique test.
    """
    record = tree.nodes[node]
    kind = int(record["kind"])
    if kind == OBLIQUE:
        raise NotImplementedError(
            f"Node {node} has an oblique test (a weighted sum of columns); trees with "
            "such tests cannot be explained as conditions on single columns."
        )
    if kind == LEAF:
        raise ValueError(f"Node {node} is a leaf and has no branches.")
    chains, missing = _missing_share(tree, node, branch)
    feature = int(record["feature"])
    if kind == NUMERIC:
        low, high = _numeric_range(float(record["threshold"]), branch)
        return Condition(feature, low, high, None, missing, chains)
    children = _level_children(tree, kind, record)
    shares = [float(child == branch) if child >= 0 else None for child in children]
    unseen = _unseen_share(tree, node, branch)
    shares = tuple(unseen if share is None else share for share in (*shares, None))
    return Condition(feature, shares=shares, missing=missing, chains=chains)


def collect_branches(tree, node):
    """Return the conditions of all branches of an inner node, in order."""
    n_children = int(tree.nodes["n_children"][node])
    return [branch_condition(tree, node, branch) for branch in range(n_children)]


def _numeric_range(threshold, branch):
    """Return the bounds of the present values that take a branch of a numeric test."""
    if branch == 0:
        return -math.inf, threshold
    if branch == 1:
        return threshold, math.inf
    # A third child and the node itself contain no present values.
    return math.inf, -math.inf


def _level_children(tree, kind, test):
    """Return the child index of every level code; -1 for unseen levels."""
    if kind == NOMINAL:
        return tree.read_level_map(test).tolist()
    n_levels = int(tree.n_levels[test["feature"]])
    return [int(code > test["threshold"]) for code in range(n_levels)]


def _child_share(tree, node, branch):
    """Return the fraction of the weight in one child; 0 for the node itself."""
    if branch == STAY:
        return 0.0
    first = int(tree.nodes["first_child"][node])
    weights = tree.nodes["weight"][first : first + int(tree.nodes["n_children"][node])]
    return float(weights[branch] / weights.sum())


def _unseen_share(tree, node, branch):
    if tree.handle_unknown == "fractional":
        return _child_share(tree, node, branch)
    return float(tree.handle_unknown == "parent" and branch == STAY)


def _missing_share(tree, node, branch):
    """Return the surrogates and the fraction of a missing value for a branch."""
    target = int(tree.nodes["missing_branch"][node])
    if target == FRACTIONAL:
        share = _child_share(tree, node, branch)
    else:
        share = float(target == branch)
    start, stop = np.searchsorted(tree.surrogates["node"], [node, node + 1])
    if start == stop:
        return (), share
    stand_ins = [
        _stand_in(tree, tree.surrogates[number], branch)
        for number in range(start, stop)
    ]
    # A surrogate without known levels never decides.
    usable = tuple(s for s in stand_ins if s.is_numeric or s.known)
    return (Chain(usable, share),), 1.0


def _stand_in(tree, surrogate, branch):
    feature, kind = int(surrogate["feature"]), int(surrogate["kind"])
    if kind == NUMERIC:
        threshold = float(surrogate["threshold"])
        if branch == STAY:
            low, high = math.inf, -math.inf
        elif branch == surrogate["low_branch"]:
            low, high = -math.inf, threshold
        else:
            low, high = threshold, math.inf
        return StandIn(feature, low, high)
    children = _level_children(tree, kind, surrogate)
    if kind != NOMINAL and surrogate["low_branch"] == 1:
        children = [1 - child for child in children]
    return StandIn(
        feature,
        accepted=tuple(c for c, child in enumerate(children) if child == branch >= 0),
        known=tuple(c for c, child in enumerate(children) if child >= 0),
    )
