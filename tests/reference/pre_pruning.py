"""Pre-pruning in plain Python: ID3 that asks other rows before it splits a node."""

import math

from tests.reference.cart_route import find_branch
from tests.reference.cart_tree import FRACTIONAL, exact, number_breadth_first
from tests.reference.id3 import Grower, Settings, spread_missing, weigh
from tests.reference.validation import TOLERANCE, decide_node


class AskingGrower(Grower):
    """Grows on some rows; parts (row, weight, class) of the others walk beside."""

    def __init__(self, columns, y, n_classes, settings, tie):
        super().__init__(columns, y, n_classes, Settings(**settings))
        self.tie = tie

    def find_split(self, *_):
        """Makes a leaf of every node that ``make_node`` makes."""

    def grow(self, pieces, arrived, path=(), parent=None, is_divided=False):
        """A node and, if the other rows agree, all that is below it."""
        node = self.make_node(pieces, path, parent, is_divided)
        split = super().find_split(pieces, path, is_divided) if pieces else None
        if split is None:
            return node
        branches = spread_missing(split["known"], split["missing"])
        divided = node | {key: split[key] for key in ("feature", "threshold")}
        divided["level_map"] = split["level_map"]
        divided["kind"] = self.columns[split["feature"]].kind
        divided["missing_branch"] = FRACTIONAL
        parts, staying = self.send(divided, branches, arrived)
        leaves = [
            self.make_node(branch, (*path, number), node, True)
            for number, branch in enumerate(branches)
        ]
        below = sum(map(count_errors, leaves, parts)) + count_errors(node, staying)
        gain = count_errors(node, arrived) - below
        if gain < -TOLERANCE or (gain <= TOLERANCE and self.tie == "prune"):
            return node
        left = math.fsum(map(self.weighted_entropy, branches)) / node["weight"]
        divided["improvement"] = max(0.0, node["impurity"] - left)
        is_divided = is_divided or bool(split["missing"])
        divided["children"] = [
            self.grow(branch, part, (*path, number), divided, is_divided)
            for number, (branch, part) in enumerate(zip(branches, parts, strict=True))
        ]
        return divided

    def send(self, node, branches, arrived):
        """The parts that enter each branch, and those that stay in the node."""
        parts, staying = [[] for _ in branches], []
        total = sum(map(weigh, branches))
        for row, weight, label in arrived:
            branch = find_branch(node, row)
            if branch == "unseen":
                is_divided = self.settings.handle_unknown == "fractional"
                branch = "fractional" if is_divided else "stay"
            if branch == "stay":
                staying.append((row, weight, label))
            elif branch == "fractional":
                for part, pieces in zip(parts, branches, strict=True):
                    if share := float(weigh(pieces) / total):
                        part.append((row, weight * share, label))
            else:
                parts[branch].append((row, weight, label))
        return parts, staying


def count_errors(node, arrived):
    """Weight of the parts that a node as a leaf would judge wrongly."""
    (decision,) = decide_node(node, "first")
    return sum(weight for _, weight, label in arrived if label != decision)


def grow_pre_pruned(columns, y, weights, n_classes, arrived, tie, **settings):
    """The nodes in breadth-first order."""
    grower = AskingGrower(columns, y, n_classes, settings, tie)
    pieces = [(row, exact(weight)) for row, weight in enumerate(weights) if weight > 0]
    return number_breadth_first(grower.grow(pieces, arrived))
