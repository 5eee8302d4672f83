"""Lists of cases in which every two values of different axes meet once."""

from itertools import combinations
from random import Random

#: Cases that are made for a pair of values, of which the best is taken.
N_CANDIDATES = 3
#: A pair that none of so many attempts can complete is taken for one that rules forbid.
MOST_ATTEMPTS = 30


def keeps_rules(case, rules):
    """Tell whether a case, perhaps with some axes still open, breaks no rule.

    Parameters
    ----------
    case : dict
        Values of some axes.
    rules : iterable of (axes, predicate)
        What must hold: names of axes and a function of their values.

    Returns
    -------
    keeps : bool
        Rules of axes that the case does not have are kept.
    """
    return all(
        rule(*[case[axis] for axis in axes])
        for axes, rule in rules
        if all(axis in case for axis in axes)
    )


class _Cover:
    """The pairs that are still to be covered, and cases that cover some of them."""

    def __init__(self, axes, rules, seed):
        self.axes = axes
        self.rules = rules
        self.rules_of = {
            axis: [rule for rule in rules if axis in rule[0]] for axis in axes
        }
        self.random = Random(seed)
        # item -> items of other axes that it has not met
        self.open = {
            (axis, value): {
                (other, b) for other in axes if other != axis for b in axes[other]
            }
            for axis in axes
            for value in axes[axis]
        }

    def pick(self, values):
        # Of all methods, only this one draws the same in every version of Python.
        return values[int(self.random.random() * len(values))]

    def complete(self, pair):
        """Make a case of a pair and others that are new; None where rules forbid."""
        case = dict(pair)
        if not keeps_rules(case, self.rules):
            return None
        others = [axis for axis in self.axes if axis not in case]
        while others:
            axis = self.pick(others)
            others.remove(axis)
            items, best, most = set(case.items()), [], -1
            for value in self.axes[axis]:
                n_new = len(self.open[axis, value] & items)
                if n_new < most:
                    continue
                if not keeps_rules({**case, axis: value}, self.rules_of[axis]):
                    continue
                best = [*best, value] if n_new == most else [value]
                most = n_new
            if not best:
                return None
            case[axis] = self.pick(best)
        return {axis: case[axis] for axis in self.axes}

    def count_new(self, case):
        items = set(case.items())
        return sum(len(self.open[item] & items) for item in items) // 2

    def close(self, items):
        items = set(items)
        for item in items:
            self.open[item] -= items

    def find_best(self, pair):
        """Make some cases of a pair and take the best; None where rules forbid all."""
        cases = []
        for _ in range(MOST_ATTEMPTS):
            case = self.complete(pair)
            if case is not None:
                cases.append(case)
            if len(cases) == N_CANDIDATES:
                break
        return max(cases, key=self.count_new, default=None)


def cover_pairs(axes, rules=(), seed=0):
    """List cases so that each two values are in one of them, if the rules allow.

    Parameters
    ----------
    axes : dict of str to sequence
        The values of every axis.
    rules : sequence of (axes, predicate)
        What must hold: names of axes and a function of their values.
    seed : int, default=0
        Another seed makes another list.

    Returns
    -------
    cases : list of dict
        A value for every axis each.
    """
    cover = _Cover(axes, rules, seed)
    cases = []
    for one, other in combinations(axes, 2):
        for a in axes[one]:
            for b in axes[other]:
                pair = ((one, a), (other, b))
                if pair[1] not in cover.open[pair[0]]:
                    continue
                case = cover.find_best(pair)
                cover.close(pair if case is None else case.items())
                if case is not None:
                    cases.append(case)
    return cases
