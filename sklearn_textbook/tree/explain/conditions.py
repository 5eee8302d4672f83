"""Conditions of the branches of a tree as data, used by all exports.

A :class:`Condition` states, for one column, which present values take the branch, and
the fraction of a row with a missing value that does. Conditions on the same column are
combined, so that a path has one condition per column: ``x > 2`` and ``x > 3`` become
``x > 3``, ``x > 2`` and ``x <= 3`` become ``2 < x <= 3``, sets of levels intersect.

A :class:`SumCondition` is that of a branch of an oblique test. It is not combined with
others.
"""

from __future__ import annotations

import math
from bisect import bisect_left
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
    def is_numeric(self) -> bool:
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
    fractions : tuple of float or None
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
    fractions: tuple | None = None
    missing: float = 1.0
    chains: tuple = ()

    @property
    def key(self):
        """What conditions of a path must have in common to be combined."""
        return self.feature

    @property
    def is_numeric(self) -> bool:
        """Whether the column is numeric."""
        return self.fractions is None

    @property
    def takes_present(self):
        """Whether some present value follows the branch."""
        return self.low < self.high if self.is_numeric else any(self.fractions)

    @property
    def takes_all_present(self):
        """Whether every present value follows the branch wholly."""
        if self.is_numeric:
            return self.low == -math.inf and self.high == math.inf
        return all(fraction == 1.0 for fraction in self.fractions)

    @property
    def is_impossible(self):
        """Whether no row satisfies the condition."""
        return not self.takes_present and self.missing == 0.0

    @property
    def is_always_true(self):
        """Whether every row satisfies the condition."""
        return self.takes_all_present and self.missing == 1.0 and not self.chains

    @property
    def is_fractional(self) -> bool:
        """Whether some rows follow the branch with only a part of their weight."""
        fractions = (self.missing, *(chain.otherwise for chain in self.chains))
        return any(
            0.0 < fraction < 1.0 for fraction in (*fractions, *(self.fractions or ()))
        )

    @property
    def strict(self) -> Condition:
        """The same for values that are known, and not divided among branches."""
        fractions = self.fractions
        if fractions is not None:
            fractions = (*(float(fraction == 1.0) for fraction in fractions[:-1]), 0.0)
        return replace(self, fractions=fractions, missing=0.0, chains=())

    def meet(self, other):
        """Return the conjunction of both conditions."""
        missing = self.missing * other.missing
        fractions = self.fractions
        if fractions is not None:
            fractions = tuple(
                a * b for a, b in zip(fractions, other.fractions, strict=True)
            )
        return replace(
            self,
            low=max(self.low, other.low),
            high=min(self.high, other.high),
            fractions=fractions,
            missing=missing,
            chains=self.chains + other.chains if missing > 0.0 else (),
        )


@dataclass(frozen=True)
class ObliqueTerm:
    """A column of an oblique test.

    Parameters
    ----------
    feature : int
        Index of the column.
    fill : float
        What a missing value adds to the sum.
    weight : float
        Numeric columns: weight * value is added.
    summands : tuple of (float or None), or None
        Nominal and ordinal columns: what is added, per level code; None for a level
        that the node has not seen.
    """

    feature: int
    fill: float
    weight: float = 0.0
    summands: tuple | None = None

    def level_condition(self, unseen: bool):
        """Return the condition that a level is one of the test, or is not."""
        fractions = [float((summand is None) == unseen) for summand in self.summands]
        fractions = (*fractions, float(unseen))
        return Condition(self.feature, fractions=fractions, missing=float(not unseen))


@dataclass(frozen=True)
class SumCondition:
    """The condition of a branch of an oblique test.

    Parameters
    ----------
    node : int
        Number of the node.
    terms : tuple of ObliqueTerm
        The columns of the test, in the order in which they are added.
    low, high : float
        ``low < sum <= high`` follows the branch.
    unseen : float
        Fraction of a row with a level that the node has not seen that follows the
        branch.
    """

    node: int
    terms: tuple
    low: float
    high: float
    unseen: float

    # Both branches of a test have rows.
    is_always_true = False

    @property
    def key(self) -> str:
        """What conditions of a path must have in common to be combined."""
        return f"node {self.node}"

    @property
    def level_terms(self):
        """The terms of nominal and ordinal columns."""
        return [term for term in self.terms if term.summands is not None]

    @property
    def threshold(self):
        """The threshold; infinite for rows that end in the node."""
        return self.high if self.low == -math.inf else self.low

    @property
    def takes_sums(self):
        """Whether some sum follows the branch."""
        return self.low < self.high

    @property
    def is_impossible(self):
        """Whether no row satisfies the condition."""
        return not self.takes_sums and not (self.unseen and self.level_terms)

    @property
    def is_fractional(self):
        """Whether some rows follow the branch with only a part of their weight."""
        return 0.0 < self.unseen < 1.0 and bool(self.level_terms)

    def contradicts(self, path) -> bool:
        """Whether no row satisfies the condition and those of a path."""
        if self.takes_sums:
            return False
        return not any(_may_be_unseen(term, path) for term in self.level_terms)


def _may_be_unseen(term, path):
    """Whether some level that satisfies the conditions of a path is not of a term."""
    levels = term.level_condition(unseen=True)
    for condition in path.values():
        if isinstance(condition, SumCondition):
            known = condition.level_terms if condition.unseen == 0.0 else ()
            others = [other.level_condition(unseen=False) for other in known]
        else:
            others = [condition]
        for other in others:
            if other.feature == term.feature:
                levels = levels.meet(other)
    return levels.takes_present


def branch_condition(tree, node: int, branch: int) -> Condition | SumCondition:
    """Return the condition of a branch of a node."""
    record = tree.nodes[node]
    kind = int(record["kind"])
    if kind == LEAF:
        raise ValueError(f"Node {node} is a leaf and has no branches.")
    if kind == OBLIQUE:
        low, high = _numeric_range(float(record["threshold"]), branch)
        unseen = _unseen_fraction(tree, node, branch)
        return SumCondition(node, tuple(read_terms(tree, node)), low, high, unseen)
    chains, missing = _missing_fraction(tree, node, branch)
    feature = int(record["feature"])
    if kind == NUMERIC:
        low, high = _numeric_range(float(record["threshold"]), branch)
        return Condition(feature, low, high, None, missing, chains)
    children = list_level_children(tree, kind, record)
    fractions = [float(child == branch) if child >= 0 else None for child in children]
    unseen = _unseen_fraction(tree, node, branch)
    fractions = tuple(
        unseen if fraction is None else fraction for fraction in (*fractions, None)
    )
    return Condition(feature, fractions=fractions, missing=missing, chains=chains)


def strict_condition(tree, node: int) -> Condition | SumCondition:
    """Return the condition of present and known values that leads to a child."""
    parent = int(tree.nodes["parent"][node])
    branch = node - int(tree.nodes["first_child"][parent])
    condition = branch_condition(tree, parent, branch)
    if isinstance(condition, SumCondition):
        return replace(condition, unseen=0.0)
    return condition.strict


def collect_branches(tree, node):
    """Return the conditions of all branches of an inner node, in order."""
    n_children = int(tree.nodes["n_children"][node])
    return [branch_condition(tree, node, branch) for branch in range(n_children)]


def read_terms(tree, node: int) -> list[ObliqueTerm]:
    """List the columns of an oblique test; none for any other node."""
    # Unlike numpy's search, this does not copy the field.
    start, stop = (bisect_left(tree.terms["node"], n) for n in (node, node + 1))
    records = tree.terms[start:stop][["feature", "level", "weight", "fill"]]
    terms, summands = {}, {}
    for feature, level, weight, fill in records.tolist():
        n_levels = int(tree.n_levels[feature])
        terms.setdefault(feature, ObliqueTerm(feature, fill, weight))
        if level >= 0:
            summands.setdefault(feature, [None] * n_levels)[level] = weight
        elif n_levels:
            summands[feature] = [weight * code + 0.0 for code in range(n_levels)]
    for feature, values in summands.items():
        terms[feature] = replace(terms[feature], summands=tuple(values))
    return list(terms.values())


def _numeric_range(threshold, branch):
    """Return the bounds of the present values that take a branch of a numeric test."""
    if branch == 0:
        return -math.inf, threshold
    if branch == 1:
        return threshold, math.inf
    # A third child and the node itself contain no present values.
    return math.inf, -math.inf


def list_level_children(tree, kind, test):
    """Return the child index of every level code; -1 for unseen levels."""
    if kind == NOMINAL:
        return tree.read_level_map(test).tolist()
    n_levels = int(tree.n_levels[test["feature"]])
    return [int(code > test["threshold"]) for code in range(n_levels)]


def _child_fraction(tree, node, branch) -> float:
    """Return the fraction of the weight in one child; 0 for the node itself."""
    if branch == STAY:
        return 0.0
    first = int(tree.nodes["first_child"][node])
    weights = tree.nodes["weight"][first : first + int(tree.nodes["n_children"][node])]
    return float(weights[branch] / weights.sum())


def _unseen_fraction(tree, node, branch):
    if tree.handle_unknown == "fractional":
        return _child_fraction(tree, node, branch)
    return float(tree.handle_unknown == "parent" and branch == STAY)


def _missing_fraction(tree, node, branch):
    """Return the surrogates and the fraction of a missing value for a branch."""
    target = int(tree.nodes["missing_branch"][node])
    if target == FRACTIONAL:
        fraction = _child_fraction(tree, node, branch)
    else:
        fraction = float(target == branch)
    start, stop = np.searchsorted(tree.surrogates["node"], [node, node + 1])
    if start == stop:
        return (), fraction
    stand_ins = [
        _stand_in(tree, tree.surrogates[number], branch)
        for number in range(start, stop)
    ]
    # A surrogate without known levels never decides.
    usable = tuple(s for s in stand_ins if s.is_numeric or s.known)
    return (Chain(usable, fraction),), 1.0


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
    children = list_level_children(tree, kind, surrogate)
    if kind != NOMINAL and surrogate["low_branch"] == 1:
        children = [1 - child for child in children]
    return StandIn(
        feature,
        accepted=tuple(c for c, child in enumerate(children) if child == branch >= 0),
        known=tuple(c for c, child in enumerate(children) if child >= 0),
    )
