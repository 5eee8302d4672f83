"""Pruning by other rows in plain Python: losses of nodes, decisions, their order."""

from itertools import product

from tests.reference.c45_route import predict_class
from tests.reference.cart_route import find_branch

#: Costs that differ by less are equal; fractions of rows do not add up exactly.
TOLERANCE = 1e-9


def measure_loss(y, decision, loss):
    """Mean over the outputs."""
    losses = {
        "error": lambda a, b: float(a != b),
        "squared_error": lambda a, b: (a - b) ** 2,
        "absolute_error": lambda a, b: abs(a - b),
    }
    parts = [losses[loss](a, b) for a, b in zip(y, decision, strict=True)]
    return sum(parts) / len(parts)


def decide_node(node, rule):
    """What a node predicts: "first" of the largest, "tolerant" as C4.5, "value"."""
    if rule == "value":
        return [statistics[0] for statistics in node["statistics"]]
    if rule == "tolerant":
        (counts,) = node["statistics"]
        return [predict_class([count / sum(counts) for count in counts])]
    return [counts.index(max(counts)) for counts in node["statistics"]]


class NodeLosses:
    """Per node: [loss, squared loss] as a leaf, and of the rows that end in it."""

    def __init__(self, nodes, rows, y, weights, loss, rule, handle_unknown="parent"):
        self.nodes, self.handle_unknown, self.loss = nodes, handle_unknown, loss
        self.decisions = [decide_node(node, rule) for node in nodes]
        self.leaf = [[0.0, 0.0] for _ in nodes]
        self.stay = [[0.0, 0.0] for _ in nodes]
        self.total = sum(weights)
        for row, target, weight in zip(rows, y, weights, strict=True):
            self.send(row, target, weight, 0)
        self.branch = [self.add_up(number) for number in range(len(nodes))]

    def send(self, row, y, weight, number):
        """Let a part of a row enter a node and all that comes after."""
        node = self.nodes[number]
        value = measure_loss(y, self.decisions[number], self.loss)
        self.add(self.leaf[number], weight, value)
        children = node["children"]
        if not children:
            return
        branch = find_branch(node, row)
        if branch == "unseen":
            branch = "fractional" if self.handle_unknown == "fractional" else "stay"
        if branch == "stay":
            self.add(self.stay[number], weight, value)
        elif branch == "fractional":
            total = sum(self.nodes[child]["weight"] for child in children)
            for child in children:
                if share := self.nodes[child]["weight"] / total:
                    self.send(row, y, weight * share, child)
        else:
            self.send(row, y, weight, children[branch])

    @staticmethod
    def add(losses, weight, value):
        losses[0] += weight * value
        losses[1] += weight * value * value

    def add_up(self, number, leaves=()):
        """Losses below a node if it, or nodes below, are made leaves."""
        children = self.nodes[number]["children"]
        if not children or number in leaves:
            return self.leaf[number]
        parts = [self.stay[number]] + [self.add_up(c, leaves) for c in children]
        return [sum(column) for column in zip(*parts, strict=True)]

    def is_less(self, one, other, tie):
        """Whether the first is cheaper, or as cheap, where ties go to the first."""
        slack = TOLERANCE * max(self.leaf[0][0], self.branch[0][0])
        return one <= other + slack if tie else one < other - slack


def prune_bottom_up(losses, tie):
    """The leaves that are made, and the steps (node, decision, before, after)."""
    nodes, leaves, steps = losses.nodes, set(), []
    inner = [number for number, node in enumerate(nodes) if node["children"]]
    for number in sorted(inner, key=lambda n: (-find_depth(nodes, n), n)):
        before = losses.add_up(0, leaves)[0]
        after = losses.add_up(0, leaves | {number})[0]
        local = losses.add_up(number, leaves)[0]
        falls = losses.is_less(losses.leaf[number][0], local, tie == "prune")
        steps.append((number, "pruned" if falls else "kept", before, after))
        leaves |= {number} if falls else set()
    return leaves, steps


def prune_top_down(losses, tie):
    """The same for pre-pruning, on a tree that is grown already."""
    nodes = losses.nodes
    leaves, steps, queue = {0}, [], [0]
    for number in queue:
        children = nodes[number]["children"]
        if not children:
            continue
        divided = leaves - {number} | set(children)
        before, after = losses.add_up(0, leaves)[0], losses.add_up(0, divided)[0]
        below = losses.stay[number][0] + sum(losses.leaf[c][0] for c in children)
        is_divided = losses.is_less(below, losses.leaf[number][0], tie == "keep")
        steps.append((number, "kept" if is_divided else "pruned", before, after))
        if is_divided:
            leaves, queue[len(queue) :] = divided, children
    return {number for number in leaves if nodes[number]["children"]}, steps


def list_subtrees(nodes, number=0):
    """All ways to make leaves of nodes, as sets of these."""
    children = nodes[number]["children"]
    if not children:
        return [frozenset()]
    below = product(*(list_subtrees(nodes, child) for child in children))
    return [frozenset([number]), *(frozenset().union(*parts) for parts in below)]


def find_depth(nodes, number):
    return 0 if number == 0 else 1 + find_depth(nodes, nodes[number]["parent"])


def count_leaves(nodes, leaves, number=0):
    """Number of leaves of a pruned tree."""
    children = nodes[number]["children"]
    if number in leaves or not children:
        return 1
    return sum(count_leaves(nodes, leaves, child) for child in children)
