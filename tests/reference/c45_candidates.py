"""C4.5 in plain Python: the candidate test of each column, and which one wins."""

import math
from dataclasses import dataclass, field
from itertools import accumulate, combinations

from tests.reference.c45_measures import (
    EPSILON,
    compute_gain,
    compute_gain_ratio,
    is_at_least,
    is_greater,
)
from tests.reference.cart_splits import MISSING, midpoint
from tests.reference.sampled_columns import sample_columns
from tests.reference.top_splits import draw_top

#: Values closer than this are not parted.
SMALLEST_GAP = 1e-5

#: A gain may stay behind the average by so much.
AVERAGE_SLACK = 0.001


@dataclass
class NodeTest:
    """What a node asks: value <= threshold, or the branch of a level."""

    feature: int
    kind: str
    n_branches: int
    threshold: float = math.nan
    level_map: dict | None = None

    def find_branch(self, value):
        """The branch of a value; None if it is missing or its level has no branch."""
        if value is MISSING:
            return None
        if self.kind == "nominal":
            return self.level_map.get(value)
        return 0 if value <= self.threshold else 1


@dataclass
class Candidate:
    """A test with its gain and gain ratio; no test: it only counts in the average."""

    gain: float
    ratio: float
    test: NodeTest | None = None
    many_valued: bool = False


@dataclass
class NodeTable:
    """One column in one node: the class weights of every value that is present."""

    feature: int
    column: object
    node_weight: float  # missing cases included
    n_classes: int
    counts: dict = field(default_factory=dict)  # value -> class weights

    def weigh(self, values):
        """Weight of the cases that have one of the values."""
        return math.fsum(part for value in values for part in self.counts[value])

    def sum_classes(self, values):
        """Class weights of the cases that have one of the values."""
        lists = [self.counts[value] for value in values]
        if not lists:
            return [0.0] * self.n_classes
        return [math.fsum(parts) for parts in zip(*lists, strict=True)]


def choose_test(grower, cases, path):
    """The test of a node, or None: the best gain ratio of those that gain enough.

    With ``top_splits`` one of the best gain ratios.
    """
    settings = grower.settings
    rows = [row for row, _ in cases]
    candidates = [
        find_candidate(grower, tabulate(grower, feature, cases))
        for feature in sample_columns(settings, path, grower.columns, rows)
    ]
    candidates = [candidate for candidate in candidates if candidate is not None]
    least_gain = 0.0
    if settings.gain_ratio_rule == "above_average":
        counted = candidates
        if not all(grower.is_many_valued):
            counted = [one for one in candidates if not one.many_valued]
        if not counted:
            return None
        average = math.fsum(one.gain for one in counted) / len(counted)
        least_gain = average - AVERAGE_SLACK
    else:
        candidates = [one for one in candidates if is_greater(one.gain, 0)]
    good = [
        candidate
        for candidate in candidates
        if candidate.gain >= least_gain and is_greater(candidate.ratio, 0.0)
    ]
    if settings.top_splits > 1 and good:
        top, seed = settings.top_splits, settings.seed
        return draw_top(good, top, pick_best_ratio, seed, path).test
    return pick_best_ratio(good).test


def pick_best_ratio(candidates):
    """The candidate of the best gain ratio, the first of equals."""
    best = Candidate(0.0, 0.0)
    for candidate in candidates:
        if is_greater(candidate.ratio, best.ratio):
            best = candidate
    return best


def tabulate(grower, feature, cases):
    """Count the cases whose value is present, by value and class."""
    column = grower.columns[feature]
    parts = {}
    for row, weight in cases:
        value = column.values[row]
        if value is not MISSING:
            lists = parts.setdefault(value, [[] for _ in range(grower.n_classes)])
            lists[grower.y[row]].append(weight)
    counts = {value: list(map(math.fsum, parts[value])) for value in sorted(parts)}
    node_weight = math.fsum(weight for _, weight in cases)
    return NodeTable(feature, column, node_weight, grower.n_classes, counts)


def find_candidate(grower, node_table):
    """The candidate of a column, or None if it has none."""
    settings = grower.settings
    if node_table.column.kind != "nominal":
        return find_threshold(node_table, settings)
    find = {
        "multiway": find_multiway,
        "one_vs_rest": find_one_vs_rest,
        "subset": find_subset,
    }[settings.categorical_split]
    candidate = find(node_table, settings)
    if candidate is not None:
        candidate.many_valued = grower.is_many_valued[node_table.feature]
    return candidate


def find_threshold(node_table, settings):
    """The threshold of largest gain, which must be worth more than the choice."""
    values = list(node_table.counts)
    groups = list(node_table.counts.values())
    left = list(accumulate(groups, add_classes))
    right = list(accumulate(reversed(groups), add_classes))[::-1]
    known_weight = node_table.weigh(values)
    least_weight = find_least_weight(node_table, known_weight, settings)
    best_gain, best_table, best_position, n_tries = 0.0, None, None, 0
    for position in range(len(values) - 1):
        if not values[position] + SMALLEST_GAP < values[position + 1]:
            continue
        table = [left[position], right[position + 1]]
        if not all(is_at_least(math.fsum(side), least_weight) for side in table):
            continue
        n_tries += 1
        gain = compute_gain(table, node_table.node_weight)
        if is_greater(gain, best_gain):
            best_gain, best_table, best_position = gain, table, position
    if best_table is None:
        return None
    if settings.mdl_correction:
        best_gain -= math.log2(n_tries) / node_table.node_weight
    if not is_greater(best_gain, 0):
        return None
    threshold = midpoint(values[best_position], values[best_position + 1])
    kind = node_table.column.kind
    return Candidate(
        best_gain,
        compute_gain_ratio(best_gain, best_table, node_table.node_weight),
        NodeTest(node_table.feature, kind, 2, threshold),
    )


def add_classes(one, other):
    return [a + b for a, b in zip(one, other, strict=True)]


def find_least_weight(node_table, known_weight, settings):
    """A tenth of the mean class weight, but no more than 25 and no less than the M."""
    least_weight = 0.1 * known_weight / node_table.n_classes
    if not is_greater(least_weight, settings.min_samples_leaf):
        return settings.min_samples_leaf
    return 25 if is_greater(least_weight, 25) else least_weight


def find_multiway(node_table, settings):
    """A branch for every declared level."""
    levels = range(node_table.column.n_levels)
    return make_nominal(node_table, settings, [[level] for level in levels])


def make_nominal(node_table, settings, groups):
    """A branch for each group of levels; two of them must have cases enough."""
    counts = node_table.counts
    groups = [list(group) for group in groups]
    known = [[level for level in group if level in counts] for group in groups]
    large = [
        group
        for group in known
        if is_at_least(node_table.weigh(group), settings.min_samples_leaf)
    ]
    if len(large) < 2:
        return None
    gain, ratio = measure_groups(node_table, known)
    level_map = {
        level: branch for branch, group in enumerate(groups) for level in group
    }
    test = NodeTest(node_table.feature, "nominal", len(groups), level_map=level_map)
    return Candidate(gain, ratio, test)


def measure_groups(node_table, groups):
    """Gain and gain ratio of a branch for each group of levels."""
    table = [node_table.sum_classes(group) for group in groups]
    gain = compute_gain(table, node_table.node_weight)
    return gain, compute_gain_ratio(gain, table, node_table.node_weight)


def find_one_vs_rest(node_table, settings):
    """The level against all others of best gain ratio.

    Level 0 is taken even without any gain; without a level that gains, the column
    counts in the average all the same.
    """
    levels = range(node_table.column.n_levels)
    best = None
    for level in levels:
        rest = [other for other in levels if other != level]
        candidate = make_nominal(node_table, settings, [[level], rest])
        if candidate is None:
            continue
        if best is None:
            best = candidate if level == 0 else Candidate(0.0, 0.0)
        if is_greater(candidate.ratio, best.ratio):
            best = candidate
    return best


def find_subset(node_table, settings):
    """Groups of levels: two are merged as long as the gain ratio does not fall."""
    groups = [[level] for level in node_table.counts]
    _, ratio = measure_groups(node_table, groups) if groups else (0, 0)
    while len(groups) > 2:
        best, best_ratio = None, -math.inf
        for pair in combinations(range(len(groups)), 2):
            merged = merge(groups, *pair)
            _, merged_ratio = measure_groups(node_table, merged)
            if is_greater(merged_ratio, best_ratio):
                best, best_ratio = merged, merged_ratio
        if not is_at_least(best_ratio, ratio):
            break
        groups, ratio = best, best_ratio
    return make_nominal(node_table, settings, groups)


def merge(groups, one, other):
    """The groups, the second of two joined to the first."""
    merged = [list(group) for group in groups]
    merged[one] += merged.pop(other)
    return merged


def find_observed_threshold(values, threshold):
    """The largest value that is not above the threshold (by EPSILON or more)."""
    return max(value for value in values if value - threshold < EPSILON)
