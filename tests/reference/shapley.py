"""Shapley values by their definition: all subsets of the columns.

Of columns that are not known, a test sends a row into all children, by their training
weight. An oblique test counts as one column.
"""

from itertools import combinations
from math import factorial

import numpy as np

from tests.reference.cart_route import find_branch
from tests.reference.cart_splits import MISSING
from tests.reference.compare import read_grown_tree
from tests.reference.route import read_rows


class Game:
    """What a tree predicts for a row if only some columns are known."""

    def __init__(self, tree, row):
        self.nodes = read_grown_tree(tree)
        self.values = tree.statistics[:, :, 0]
        self.terms, self.n_levels = tree.terms, tree.n_levels
        self.threshold = tree.nodes["threshold"]
        self.handle_unknown = tree.handle_unknown
        (self.row,) = read_rows(np.asarray([row], dtype=float))
        self.kind, self.feature = tree.nodes["kind"], tree.nodes["feature"]
        self.players = sorted({self.player(n) for n in np.flatnonzero(self.kind)})

    def player(self, node):
        """The column of a test, or ~node of an oblique one."""
        return ~node if self.kind[node] == 4 else int(self.feature[node])

    def find_branch(self, number):
        """The branch of the row at a node."""
        if self.kind[number] != 4:
            return find_branch(self.nodes[number], self.row)
        total = 0.0
        terms = self.terms[self.terms["node"] == number]
        for column in dict.fromkeys(terms["feature"].tolist()):
            some = terms[terms["feature"] == column]
            value = self.row[column]
            if value is MISSING:
                total += some["fill"][0]
            elif some["level"][0] < 0:
                if self.n_levels[column] > 0 and value < 0:
                    return "unseen"
                total += some["weight"][0] * value
            else:
                some = some[some["level"] == value]
                if len(some) == 0:
                    return "unseen"
                total += some["weight"][0]
        return 0 if total <= self.threshold[number] else 1

    def play(self, known, number=0):
        """The prediction from some columns."""
        node = self.nodes[number]
        children = node["children"]
        if not children:
            return self.values[number]
        branch = "fractional"
        if self.player(number) in known:
            branch = self.find_branch(number)
            if branch == "unseen":
                divides = self.handle_unknown == "fractional"
                branch = "fractional" if divides else "stay"
        if branch == "stay":
            return self.values[number]
        if branch != "fractional":
            return self.play(known, children[branch])
        weights = [self.nodes[child]["weight"] for child in children]
        parts = zip(weights, children, strict=True)
        return sum(w * self.play(known, c) for w, c in parts) / sum(weights)


def find_shapley_values(tree, row):
    """The value of each player: a dict of arrays, one entry per output of the tree."""
    game = Game(tree, row)
    n = len(game.players)
    return {
        player: sum(
            factorial(size) * factorial(n - size - 1) / factorial(n)
            * (game.play({*some, player}) - game.play(set(some)))
            for size in range(n)
            for some in combinations([p for p in game.players if p != player], size)
        )
        for player in game.players
    }  # fmt: skip


def find_interaction(tree, row, one, other):
    """Half the Shapley interaction index of two players."""
    game = Game(tree, row)
    n = len(game.players)
    rest = [player for player in game.players if player not in (one, other)]
    return sum(
        factorial(size) * factorial(n - size - 2) / factorial(n - 1) / 2
        * (
            game.play({*some, one, other})
            - game.play({*some, one})
            - game.play({*some, other})
            + game.play(set(some))
        )
        for size in range(n - 1)
        for some in combinations(rest, size)
    )  # fmt: skip
