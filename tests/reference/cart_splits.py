"""CART in plain Python: which splits of a node are tried, and which one wins.

A candidate is a dict: ``children`` (lists of rows), ``threshold`` or ``level_map``, and
``missing_branch`` (None if no row of the node has a missing value in the column).
"""

import math
from fractions import Fraction
from itertools import pairwise

from tests.reference import smoothed_levels
from tests.reference.sampled_columns import sample_columns
from tests.reference.smoothed_levels import (
    ORDERED_ROWS,
    SmoothedLevels,
    has_many_levels,
)
from tests.reference.top_splits import draw_top

#: A candidate replaces the best one only if it is better by this share of the
#: node's weighted impurity, so that rounding never decides.
MARGIN = Fraction(1, 10**12)

#: Stands for the level of missing values where they count as one more level.
MISSING = None

#: With more levels than this, all two-group splits are too many to try.
MAX_LEVELS_ENUMERATED = 10


def find_best_split(grower, rows, bounds, path):
    """The best candidate of the sampled columns, or None; earlier ones win ties.

    With ``top_splits`` one of the best that save something, each of another column.
    """
    of_columns = []
    for feature in sample_columns(grower.settings, path, grower.columns, rows):
        column = grower.columns[feature]
        judge = Judge(grower, feature, rows, bounds)
        best = None
        for candidate in list_candidates(grower, column, rows, judge):
            score = judge.score(candidate["children"], candidate.pop("expected", None))
            if score is None:
                continue
            if best is None or score > best["score"] + judge.margin:
                best = {
                    **candidate,
                    "score": score,
                    "decrease": judge.decrease,
                    "feature": feature,
                }
        if best is not None:
            of_columns.append(best)
    margin = MARGIN * grower.target.weighted_impurity(rows)
    settings = grower.settings

    def pick_best(candidates):
        best = None
        for candidate in candidates:
            if best is None or candidate["score"] > best["score"] + margin:
                best = candidate
        return best

    good = [
        candidate
        for candidate in of_columns
        if candidate["decrease"] > margin and not grower.gains_too_little(candidate)
    ]
    if settings.top_splits == 1 or not good:
        return pick_best(of_columns)
    return draw_top(good, settings.top_splits, pick_best, settings.seed, path)


class Judge:
    """Scores the candidates of one column in one node."""

    def __init__(self, grower, feature, rows, bounds):
        self.target = grower.target
        self.settings = grower.settings
        self.min_weight_leaf = grower.min_weight_leaf
        self.bounds = bounds
        constraints = self.settings.monotonic_cst
        self.direction = constraints[feature] if constraints else 0
        self.node_rows = rows
        if self.settings.missing == "surrogate":  # what is missing here counts nothing
            values = grower.columns[feature].values
            rows = [row for row in rows if values[row] is not MISSING]
        self.impurity = self.target.weighted_impurity(rows) if rows else 0
        self.margin = MARGIN * self.impurity
        self.rows = rows

    def score(self, children, expected=None):
        """Weighted impurity that the children save; None if they are not allowed.

        ``expected`` is the share of that to be expected on other rows, of what is not
        saved by parting missing values from the others; it must be something.
        """
        children = [rows for rows in children if rows]
        if len(children) < 2:
            return None
        for rows in children:
            if len(rows) < self.settings.min_samples_leaf:
                return None
            if self.target.weight(rows) < self.min_weight_leaf:
                return None
            if not self.target.allows_child(rows):
                return None
        if self.direction and not self.is_monotonic(children):
            return None
        score = self.impurity - sum(map(self.target.weighted_impurity, children))
        self.decrease = score
        # Most splits save no error, and rpart wants a gain as well.
        must_gain = (
            self.settings.missing == "surrogate" or self.target.criterion == "error"
        )
        if must_gain and score <= self.margin:
            return None
        if expected is None:
            return score
        parted = 0
        if len(children) > 2 and self.settings.categorical_split != "multiway":
            parted = self.part_missing(children[2])
        elif self.settings.categorical_split == "multiway" and self.own_missing:
            parted = self.part_missing(self.own_missing)
        score = parted + (score - parted) * expected
        if score <= parted or (must_gain and score <= self.margin):
            return None
        return score

    def part_missing(self, missing):
        """Weighted impurity that parting missing values from the others saves."""
        present = [row for row in self.rows if row not in set(missing)]
        parts = [present, missing]
        return self.impurity - sum(map(self.target.weighted_impurity, parts))

    def is_monotonic(self, children):
        """Whether the values rise (or fall) and stay within the node's bounds.

        The value of a third child, that of missing values, is clipped to them.
        """
        values = [self.target.value(rows) for rows in children[:2]]
        lower, upper = self.bounds
        if lower is not None and any(exceeds(lower, value) for value in values):
            return False
        if upper is not None and any(exceeds(value, upper) for value in values):
            return False
        if self.direction > 0:
            return not exceeds(values[0], values[1])
        return not exceeds(values[1], values[0])


def exceeds(value, limit):
    """Whether a value is above a limit by more than rounding."""
    return value > limit + MARGIN * max(abs(value), abs(limit))


def midpoint(low, high):
    """The number half way between two; the lower one if there is none between."""
    middle = low / 2 + high / 2
    return middle if middle < high else low


def list_candidates(grower, column, rows, judge):
    """All candidates of a column, in the order in which they are tried."""
    mode = grower.settings.missing
    present = [row for row in rows if column.values[row] is not MISSING]
    missing = [row for row in rows if column.values[row] is MISSING]
    if mode == "surrogate":
        missing = []
    if not present:
        return
    if column.kind == "nominal":
        yield from list_nominal(grower, column, present, missing, judge)
    else:
        yield from list_thresholds(column, present, missing, mode)
    # Last of all: is it missing or not?
    multiway = column.kind == "nominal" and (
        grower.settings.categorical_split == "multiway"
    )
    if missing and not multiway and (column.kind != "nominal" or mode == "branch"):
        yield {
            "children": [present, missing],
            "threshold": math.nan if column.kind == "nominal" else math.inf,
            "level_map": {column.values[row]: 0 for row in present}
            if column.kind == "nominal"
            else None,
            "missing_branch": 1,
        }


def list_thresholds(column, present, missing, mode):
    """value <= threshold to child 0, the others to child 1."""
    distinct = sorted({column.values[row] for row in present})
    pairs = list(pairwise(distinct))
    missing_branches = [None]
    if missing:
        missing_branches = [2] if mode == "branch" else [1, 0]
    for missing_branch in missing_branches:
        for low, high in pairs:
            threshold = midpoint(low, high)
            children = [
                [row for row in present if column.values[row] <= threshold],
                [row for row in present if column.values[row] > threshold],
            ]
            yield {
                "children": with_missing(children, missing, missing_branch),
                "threshold": threshold,
                "level_map": None,
                "missing_branch": missing_branch,
            }


def with_missing(children, missing, missing_branch):
    """The children, the rows with a missing value put where they belong."""
    if missing_branch is None:
        return children
    if missing_branch == len(children):
        return [*children, missing]
    return [
        rows + missing if number == missing_branch else rows
        for number, rows in enumerate(children)
    ]


def list_nominal(grower, column, present, missing, judge):
    """Candidates over levels: one group against the other, or a child per level."""
    settings = grower.settings
    rows_of = {}
    for level in sorted({column.values[row] for row in present}):
        rows_of[level] = [row for row in present if column.values[row] == level]
    judge.own_missing = missing if settings.missing == "branch" else []
    with_joined = dict(rows_of)
    if missing and settings.missing == "learned":
        with_joined[MISSING] = missing
    is_smoothed = settings.categorical_smoothing != 0 and has_many_levels(column)
    if settings.categorical_split == "multiway":
        smoothed = smooth(grower, with_joined, judge) if is_smoothed else None
        if smoothed is not None and smoothed.added is None:
            return
        for candidate in list_multiway(column, rows_of, missing, settings.missing):
            yield with_expectation(candidate, smoothed)
    elif len(with_joined) >= 2:
        own_child = judge.own_missing
        if is_smoothed and settings.categorical_split == "subset":
            for group in list_declared(with_joined):
                yield part_group(group, with_joined, own_child)
            n_rows = smoothed_levels.count_rows(judge.node_rows, grower.target.weights)
            if n_rows <= ORDERED_ROWS:
                return
        smoothed = smooth(grower, with_joined, judge) if is_smoothed else None
        if smoothed is not None and smoothed.added is None:
            return
        for group in list_groups(grower, with_joined, judge, smoothed):
            candidate = part_group(group, with_joined, own_child)
            yield with_expectation(candidate, smoothed, group)


def smooth(grower, levels, judge):
    settings = grower.settings
    return SmoothedLevels(
        grower.target,
        levels,
        judge.node_rows,
        settings.categorical_smoothing,
        settings.design_effect,
    )


def with_expectation(candidate, smoothed, group=None):
    """Add what the candidate is expected to be worth on other rows."""
    if smoothed is not None and smoothed.added != 0:
        if group is None:
            candidate["expected"] = smoothed.expect_all()
        else:
            candidate["expected"] = smoothed.expect(group)
    return candidate


def part_group(group, rows_of, own_child):
    """The levels of a group in child 0, the others in child 1."""
    level_map = {level: 0 if level in group else 1 for level in rows_of}
    children = [
        [row for level in rows_of if level_map[level] == side for row in rows_of[level]]
        for side in (0, 1)
    ]
    missing_branch = level_map.pop(MISSING, None)
    if own_child:
        children, missing_branch = [*children, own_child], 2
    return {
        "children": children,
        "threshold": math.nan,
        "level_map": level_map,
        "missing_branch": missing_branch,
    }


def list_groups(grower, rows_of, judge, smoothed):
    """The groups of levels that are tried, in the order of the compiled search."""
    if smoothed is not None and smoothed.added == 0:
        smoothed = None
    if grower.settings.categorical_split == "one_vs_rest":
        return [{level} for level in rows_of]
    if grower.target.ordering_is_exact:
        return list_ordered(rows_of, grower.target, smoothed)
    if len(rows_of) <= MAX_LEVELS_ENUMERATED:
        return list_gray(list(rows_of))

    def make_candidate(group):
        return part_group(group, rows_of, judge.own_missing)

    return search_group(rows_of, grower.target, judge, make_candidate, smoothed)


def list_declared(rows_of):
    """The first levels in declared order; missing values in child 1, then child 0."""
    levels = [level for level in rows_of if level is not MISSING]
    for count in range(1, len(levels) + (MISSING in rows_of)):
        yield set(levels[:count])
    if MISSING in rows_of:
        for count in range(1, len(levels)):
            yield {MISSING, *levels[:count]}


def list_multiway(column, rows_of, missing, mode):
    """A child for every declared level; missing values join a level or stand alone."""
    children = [rows_of.get(level, []) for level in range(column.n_levels)]
    missing_branches = [None]
    if missing:
        missing_branches = [column.n_levels] if mode == "branch" else list(rows_of)
    for missing_branch in missing_branches:
        yield {
            "children": with_missing(children, missing, missing_branch),
            "threshold": math.nan,
            "level_map": {level: level for level in range(column.n_levels)},
            "missing_branch": missing_branch,
        }


def list_prefixes(rows_of, order):
    """The first 1, 2, ... levels of an order, ties in level order."""
    keys = {level: order(level) for level in rows_of}
    levels = sorted(rows_of, key=keys.get)
    return [set(levels[:count]) for count in range(1, len(levels))]


def list_orders(rows_of, target, smoothed):
    """What levels may be ordered by: functions of a level."""
    orders = target.level_orders()
    if smoothed is None:
        return [lambda level, mean=mean: mean(rows_of[level]) for mean in orders]
    numbers = [1] if len(orders) < len(smoothed.total) else range(len(orders))
    return [lambda level, k=k: smoothed.mean(level, k) for k in numbers]


def list_ordered(rows_of, target, smoothed):
    """Prefixes by the mean; of equal means the small levels first, then the large."""
    (mean,) = list_orders(rows_of, target, smoothed)
    for sign in (1, -1):
        yield from list_prefixes(
            rows_of,
            lambda level, sign=sign: (
                mean(level),
                sign * len(rows_of[level]),
                sign * target.weight(rows_of[level]),
            ),
        )


def list_gray(levels):
    """All two-group splits; the next differs from the one before in one level."""
    group, groups = set(), []
    for step in range(1, 2 ** (len(levels) - 1)):
        trailing_zeros = (step & -step).bit_length() - 1
        group = group ^ {levels[trailing_zeros]}
        groups.append(group)
    return groups


def search_group(rows_of, target, judge, make_candidate, smoothed):
    """A good group among many levels: the best prefix of any order, then improved."""

    def score_group(group):
        if not 0 < len(group) < len(rows_of):
            return None
        expected = None if smoothed is None else smoothed.expect(group)
        return judge.score(make_candidate(group)["children"], expected)

    best, best_score = None, None
    for order in list_orders(rows_of, target, smoothed):
        for group in list_prefixes(rows_of, order):
            score = score_group(group)
            if score is not None and (
                best is None or score > best_score + judge.margin
            ):
                best, best_score = group, score
    if best is None:
        return []
    for _ in range(10):
        changed = False
        for level in rows_of:
            moved = best ^ {level}
            score = score_group(moved)
            if score is not None and score > best_score + judge.margin:
                best, best_score, changed = moved, score, True
        if not changed:
            break
    return [best]
