"""ID3 in plain Python: the column that gains most, a branch per level, parts of rows.

A node holds pairs (row, weight). A row whose value is missing goes down every branch
with a part of its weight, so one row may be in many nodes. Weights are exact
fractions; only logarithms are rounded, and gains that rounding could tell apart are
equal.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tests.reference.cart_splits import MISSING, midpoint
from tests.reference.cart_tree import FRACTIONAL, STAY, exact, number_breadth_first
from tests.reference.sampled_columns import sample_columns
from tests.reference.top_splits import draw_top

#: Weights that differ by less are equal: a sum of weights is not exact elsewhere.
TOLERANCE = Fraction(1, 10**6)


@dataclass
class Settings:
    """What the parameters of ID3Classifier mean that shape the tree."""

    min_gain: float = 0.0
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    categorical_split: str = "multiway"  # or "one_vs_rest"
    missing: str = "fractional"
    handle_unknown: str = "parent"
    top_splits: int = 1
    max_features: int | None = None
    seed: int = 0  # what the estimator draws from its random_state


def weigh(pieces):
    """Total weight of parts of rows."""
    return sum(weight for _, weight in pieces)


def grow_id3(columns, y, weights, n_classes, **settings):
    """The nodes (dicts) in breadth-first order; ``y[row]`` is a class number."""
    grower = Grower(columns, y, n_classes, Settings(**settings))
    pieces = [(row, exact(weight)) for row, weight in enumerate(weights) if weight > 0]
    return number_breadth_first(grower.make_node(pieces, (), None, False))


class Grower:
    """Makes nodes and looks for their splits."""

    def __init__(self, columns, y, n_classes, settings):
        self.columns = columns
        self.y = y
        self.n_classes = n_classes
        self.settings = settings

    def class_weights(self, pieces):
        totals = [0] * self.n_classes
        for row, weight in pieces:
            totals[self.y[row]] += weight
        return totals

    def weighted_entropy(self, pieces):
        """Entropy in bits times the weight: sum of n log2(N / n) over the classes."""
        counts, total = self.class_weights(pieces), weigh(pieces)
        return math.fsum(-float(n) * math.log2(n / total) for n in counts if n)

    def make_node(self, pieces, path, parent, is_divided):
        """A node and all that is below it; is_divided: some rows may be parts.

        The path has the child numbers on the way to the node.
        """
        weight = weigh(pieces)
        node = {
            "n_samples": len(pieces),
            "weight": float(weight),
            "feature": -2,
            "kind": "leaf",
            "threshold": -2.0,
            "level_map": None,
            "missing_branch": STAY,
            "improvement": 0.0,
            "surrogates": [],
            "children": [],
        }
        if not pieces:  # an empty branch says what its parent says
            return node | {key: parent[key] for key in ("statistics", "impurity")}
        node["statistics"] = [[float(n) for n in self.class_weights(pieces)]]
        node["impurity"] = self.weighted_entropy(pieces) / float(weight)
        split = self.find_split(pieces, path, is_divided)
        if split is None:
            return node
        branches = spread_missing(split["known"], split["missing"])
        left = math.fsum(map(self.weighted_entropy, branches)) / float(weight)
        node |= {key: split[key] for key in ("feature", "threshold", "level_map")}
        node["kind"] = self.columns[split["feature"]].kind
        node["improvement"] = max(0.0, node["impurity"] - left)
        node["missing_branch"] = FRACTIONAL
        is_divided = is_divided or bool(split["missing"])
        node["children"] = [
            self.make_node(branch, (*path, number), node, is_divided)
            for number, branch in enumerate(branches)
        ]
        return node

    def find_split(self, pieces, path, is_divided):
        """The candidate of largest gain, the first of equals; None: a leaf."""
        settings, weight = self.settings, weigh(pieces)
        if (
            sum(n > 0 for n in self.class_weights(pieces)) == 1
            or (settings.max_depth is not None and len(path) >= settings.max_depth)
            or (settings.min_samples_split > 2 and self.is_less(weight, "split"))
            or (is_divided and weight < 1 - TOLERANCE)
        ):
            return None
        margin = 1e-12 * self.weighted_entropy(pieces)
        margin += 1e-15 * weight * (1 + abs(math.log2(weight)))
        of_columns = []
        rows = [row for row, _ in pieces]
        for feature in sample_columns(settings, path, self.columns, rows):
            column = self.columns[feature]
            known = [p for p in pieces if column.values[p[0]] is not MISSING]
            missing = [p for p in pieces if column.values[p[0]] is MISSING]
            entropy, best = self.weighted_entropy(known), None
            for candidate in list_candidates(column, known, settings.categorical_split):
                branches = candidate["known"]
                if not self.is_valid(branches):
                    continue
                gain = entropy - math.fsum(map(self.weighted_entropy, branches))
                if best is None or gain > best["gain"] + margin:
                    best = candidate | {"gain": gain, "feature": feature}
                    best["missing"] = missing
            if best is not None:
                of_columns.append(best)
        return self.choose(of_columns, margin, settings.min_gain * weight, path)

    def choose(self, candidates, margin, least, path):
        """The best of the columns' candidates, or one of the best that gain at all."""

        def pick_best(candidates):
            best = None
            for candidate in candidates:
                if best is None or candidate["gain"] > best["gain"] + margin:
                    best = candidate
            return best

        top, seed = self.settings.top_splits, self.settings.seed
        candidates = [one for one in candidates if one["gain"] >= least - margin]
        good = [one for one in candidates if one["gain"] > margin]
        if top > 1 and good:
            return draw_top(good, top, pick_best, seed, path)
        return pick_best(candidates)

    def is_less(self, weight, limit):
        return weight < getattr(self.settings, f"min_samples_{limit}") - TOLERANCE

    def is_valid(self, branches):
        """Two branches with known cases, and none of these too light."""
        weights = [weigh(branch) for branch in branches if branch]
        if self.settings.min_samples_leaf > 1 and any(
            self.is_less(weight, "leaf") for weight in weights
        ):
            return False
        return len(weights) >= 2


def list_candidates(column, known, categorical_split):
    """Every way to divide the known cases, as ``known``: one list per branch."""

    def divide(branch_of, n_branches, threshold=math.nan, level_map=None):
        branches = [[] for _ in range(n_branches)]
        for row, weight in known:
            branches[branch_of(column.values[row])].append((row, weight))
        return {"known": branches, "threshold": threshold, "level_map": level_map}

    distinct = sorted({column.values[row] for row, _ in known})
    if column.kind != "nominal":
        for low, high in pairwise(distinct):
            middle = midpoint(low, high)
            yield divide(lambda v, t=middle: int(v > t), 2, threshold=middle)
    elif categorical_split == "multiway":
        levels = {level: level for level in range(column.n_levels)}
        yield divide(levels.get, column.n_levels, level_map=levels)
    else:
        for alone in distinct:
            sides = {level: int(level != alone) for level in range(column.n_levels)}
            yield divide(sides.get, 2, level_map=sides)


def spread_missing(branches, missing):
    """The branches, each with its share of the rows that could not be judged."""
    total = sum(map(weigh, branches))
    shares = [Fraction(weigh(branch)) / total for branch in branches]
    return [
        branch + [(row, weight * share) for row, weight in missing if share]
        for branch, share in zip(branches, shares, strict=True)
    ]
