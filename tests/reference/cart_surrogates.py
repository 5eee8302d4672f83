"""CART in plain Python: tests that stand in for one whose value is missing.

After Breiman et al. (1984), section 5.3, in the way of the R package rpart.
"""

from fractions import Fraction
from itertools import pairwise

from tests.reference import smoothed_levels
from tests.reference.cart_splits import (
    MARGIN,
    MISSING,
    has_many_levels,
    midpoint,
)

MAX_SURROGATES = 5


def find_surrogates(grower, rows, split):
    """The best stand-ins for a split, at most five, the best first."""
    if len(split["children"]) != 2:  # only a two-way test can be imitated
        return []
    weights = grower.target.weights
    side = {row: number for number in (0, 1) for row in split["children"][number]}
    totals = [grower.target.weight(child) for child in split["children"]]
    total = sum(totals)
    constraints = grower.settings.monotonic_cst or [0] * len(grower.columns)
    found = []
    for feature, column in enumerate(grower.columns):
        if feature == split["feature"] or constraints[feature] != 0:
            continue
        present = [row for row in rows if column.values[row] is not MISSING]
        judged = (column.values, present, side, weights, MARGIN * total)
        if column.kind == "nominal":
            smoothing = grower.settings.categorical_smoothing
            is_smoothed = smoothing != 0 and has_many_levels(column)
            surrogate = imitate_by_levels(*judged, is_smoothed)
        else:
            surrogate = imitate_by_threshold(*judged)
        if surrogate is None:
            continue
        agreement = Fraction(surrogate.pop("agreeing_weight")) / total
        majority = Fraction(max(totals)) / total
        adjusted = (agreement - majority) / (1 - majority)
        if adjusted <= 1e-10:
            continue
        surrogate.update(
            feature=feature,
            kind=column.kind,
            agreement=agreement,
            adjusted_agreement=adjusted,
            n_used=0,
        )
        # Behind all that agree as well: the earlier column wins a tie.
        rank = sum(other["agreement"] >= agreement - MARGIN for other in found)
        found.insert(rank, surrogate)
    return found[:MAX_SURROGATES]


def has_few_rows(rows, weights):
    """Whether there are less than two rows."""
    return smoothed_levels.count_rows(rows, weights) < 2


def imitate_by_threshold(values, present, side, weights, margin):
    """The threshold, and its direction, that agrees best with the sides."""
    judged = [row for row in present if row in side]
    best = max(sum(weights[row] for row in judged if side[row] == k) for k in (0, 1))
    surrogate = None
    distinct = sorted({values[row] for row in present})
    for low, high in pairwise(distinct):
        below = [row for row in judged if values[row] <= low]
        above = [row for row in judged if values[row] > low]
        if (
            min(smoothed_levels.count_rows(part, weights) for part in (below, above))
            < 2
        ):
            continue
        for low_branch in (1, 0):
            agreeing = [row for row in below if side[row] == low_branch]
            agreeing += [row for row in above if side[row] != low_branch]
            agreement = sum(weights[row] for row in agreeing)
            if agreement > best + margin:
                best = agreement
                surrogate = {
                    "threshold": midpoint(low, high),
                    "low_branch": low_branch,
                    "level_map": None,
                    "agreeing_weight": agreement,
                }
    return surrogate


def imitate_by_levels(values, present, side, weights, margin, is_smoothed):
    """Every level to the side where most of its weight is.

    The agreement of a smoothed column is that of each row with the others of its level.
    """
    judged = [row for row in present if row in side]

    def heavier(rows, otherwise, left_out=None):
        first, second = (
            sum(weights[row] for row in rows if side[row] == k) for k in (0, 1)
        )
        if left_out is not None:
            n_rows = smoothed_levels.count_rows(rows, weights)
            mean = Fraction(first + second) / n_rows
            first, second = first - mean * (left_out == 0), second - mean * left_out
        if abs(first - second) <= margin:
            return otherwise
        return 0 if first > second else 1

    majority = heavier(judged, otherwise=1)
    level_map = {}
    for level in sorted({values[row] for row in judged}):
        rows = [row for row in judged if values[row] == level]
        level_map[level] = heavier(rows, otherwise=majority)
    agreeing = [row for row in judged if level_map[values[row]] == side[row]]
    others = [row for row in judged if level_map[values[row]] != side[row]]
    if (
        min(smoothed_levels.count_rows(part, weights) for part in (agreeing, others))
        < 2
    ):
        return None
    if is_smoothed:
        by_level = {level: [] for level in level_map}
        for row in judged:
            by_level[values[row]].append(row)
        agreeing = [
            row
            for row in judged
            if heavier(by_level[values[row]], majority, left_out=side[row]) == side[row]
        ]
    return {
        "threshold": float("nan"),
        "low_branch": -1,  # means nothing here
        "level_map": level_map,
        "agreeing_weight": sum(weights[row] for row in agreeing),
    }


def find_default_branch(grower, split):
    """The strictly heaviest child, or None."""
    weights = [grower.target.weight(child) for child in split["children"]]
    order = sorted(range(len(weights)), key=weights.__getitem__, reverse=True)
    first, second = weights[order[0]], weights[order[1]]
    return None if first - second <= MARGIN * sum(weights) else order[0]


def route_by_surrogates(grower, rows, children, surrogates, default):
    """Send the rows that the split could not judge; some may stay where they are."""
    sent = {row for child in children for row in child}
    for row in rows:
        if row in sent:
            continue
        branch = default
        for surrogate in surrogates:
            value = grower.columns[surrogate["feature"]].values[row]
            if value is MISSING:
                continue
            if surrogate["level_map"] is None:
                low = value <= surrogate["threshold"]
                branch = surrogate["low_branch"] if low else 1 - surrogate["low_branch"]
            elif value in surrogate["level_map"]:
                branch = surrogate["level_map"][value]
            else:
                continue
            surrogate["n_used"] += 1
            break
        if branch is not None:
            children[branch].append(row)
