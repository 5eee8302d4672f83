"""The conditions of rows as source code, in any language."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from sklearn_textbook.tree.explain.conditions import (
    Condition,
    ObliqueTerm,
    StandIn,
    SumCondition,
    branch_condition,
    collect_branches,
)
from sklearn_textbook.tree.explain.fitted import FittedTree
from sklearn_textbook.tree.grow.layout import FRACTIONAL, STAY

#: Branch of a level that the model refuses.
REFUSED = -3
UNSEEN = {"parent": STAY, "fractional": FRACTIONAL, "error": REFUSED}


class ConditionWriter(ABC):
    """Writes conditions of rows; a subclass knows how its language does."""

    #: What compares a value with one level, and with several; negated.
    equal: tuple[str, str]
    member: tuple[str, str]
    #: That a value is missing, and that it is any present one.
    missing: str
    present: str

    def __init__(self, fitted: FittedTree) -> None:
        self.fitted = fitted

    @abstractmethod
    def name(self, feature: int) -> str:
        """Write the value of a column."""

    @abstractmethod
    def write_literal(self, value: object) -> str:
        """Write a value."""

    @abstractmethod
    def list_levels(self, feature: int) -> list[str]:
        """Write the levels of a column."""

    @abstractmethod
    def write_interval(self, test: Condition | StandIn, name: str) -> str:
        """Write the condition that a present number is in an interval."""

    @abstractmethod
    def write_term(self, condition: SumCondition, term: ObliqueTerm) -> str:
        """Write a summand of an oblique test."""

    @abstractmethod
    def write_condition(self, condition: Condition | SumCondition) -> str:
        """Write the condition of a branch, without fractions."""

    @abstractmethod
    def join_unseen(self, tests: list[str]) -> str:
        """Write that one of several levels has not been seen; may be empty."""

    @abstractmethod
    def join_stand_in(self, name: str, stand_in: StandIn, test: str) -> str:
        """Write that a value is missing, and the test of a surrogate instead."""

    def write_member(
        self, name: str, literals: list[str], negates: bool = False
    ) -> str:
        """Write that a value is one of some levels, or is not."""
        if len(literals) == 1:
            return f"{name} {self.equal[negates]} {literals[0]}"
        return f"{name} {self.member[negates]} ({', '.join(literals)})"

    def write_present(self, test: Condition) -> str | None:
        """Write the condition on a present value; None if no value satisfies it."""
        name = self.name(test.feature)
        if not test.takes_present:
            return None
        if test.takes_all_present:
            return self.present.format(name)
        if test.is_numeric:
            return self.write_interval(test, name)
        *fractions, unseen = test.fractions
        wanted = [
            level
            for level, fraction in zip(
                self.list_levels(test.feature), fractions, strict=True
            )
            if (fraction == 0.0) == (unseen == 1.0)
        ]
        return self.write_member(name, wanted, unseen == 1.0)

    def write_accepted(self, stand_in: StandIn) -> str | None:
        """Write the test of a surrogate on a present value; None if never true."""
        name = self.name(stand_in.feature)
        if stand_in.is_numeric:
            accepts = stand_in.low < stand_in.high
            return self.write_interval(stand_in, name) if accepts else None
        levels = self.list_levels(stand_in.feature)
        accepted = [levels[code] for code in stand_in.accepted]
        return self.write_member(name, accepted) if accepted else None

    def write_unseen(self, condition: SumCondition) -> str:
        """Write that an oblique test has not seen some level; may be empty."""
        levels = [term.level_condition(unseen=True) for term in condition.level_terms]
        return self.join_unseen(list(map(self.write_condition, levels)))

    def write_sum(self, condition: SumCondition) -> str:
        """Write the comparison of a sum, whose levels have all been seen."""
        total = " + ".join(self.write_term(condition, t) for t in condition.terms)
        if condition.low == -math.inf:
            return f"{total} <= {self.write_literal(condition.high)}"
        return f"{total} > {self.write_literal(condition.low)}"

    def list_cases(self, node: int) -> list[tuple[str | None, int]]:
        """List the tests of a node and their branches; the first true one applies.

        None is all else; the branch of divided rows is ``FRACTIONAL``.
        """
        tree = self.fitted.tree
        branches, unseen = collect_branches(tree, node), UNSEEN[tree.handle_unknown]
        if isinstance(branches[0], SumCondition):
            test = self.write_unseen(branches[0])
            cases = [(test, unseen)] if test else []
            return [*cases, (self.write_sum(branches[0]), 0), (None, 1)]
        feature = int(tree.nodes["feature"][node])
        name, cases = self.name(feature), []
        chains = [chain.stand_ins for c in branches for chain in c.chains]
        for stand_ins in zip(*chains, strict=True):
            for branch, stand_in in enumerate(stand_ins):
                test = self.write_accepted(stand_in)
                if test is not None:
                    cases.append((self.join_stand_in(name, stand_in, test), branch))
        branch = int(tree.nodes["missing_branch"][node])
        cases.append((self.missing.format(name), branch))
        for branch, condition in enumerate(branches):
            test = self.write_present(condition.strict)
            if test is not None:
                cases.append((test, branch))
        if tree.n_levels[feature]:
            return [*cases, (None, unseen)]
        return [*cases[:-1], (None, cases[-1][1])]

    def list_branches(self, node: int) -> list[tuple[str | None, int]]:
        """List the condition of each branch of a node that divides no rows."""
        tree = self.fitted.tree
        conditions = collect_branches(tree, node)
        if isinstance(conditions[0], SumCondition):
            return self.list_cases(node)
        cases = [
            (self.write_condition(condition), branch)
            for branch, condition in enumerate(conditions)
            if not condition.is_impossible
        ]
        if not branch_condition(tree, node, STAY).is_impossible:
            return [*cases, (None, STAY)]
        if tree.handle_unknown == "error" and tree.n_levels[conditions[0].feature]:
            return [*cases, (None, REFUSED)]
        return [*cases[:-1], (None, cases[-1][1])]
