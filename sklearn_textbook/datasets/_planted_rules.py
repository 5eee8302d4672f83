"""Plant if-then rules in a table: the leaves of a random tree with given coverage."""

from dataclasses import dataclass

import numpy as np

# A split whose fraction of rows is this close to the desired one (relative to the
# smaller side) is accepted; otherwise the closest one of all columns is taken.
_FRACTION_TOLERANCE = 0.1


@dataclass(frozen=True)
class Split:
    """A binary test of one column: the left side, and the fraction of rows it takes.

    ``threshold`` for ordered columns (left is <=), ``levels`` (a mask over the level
    codes) for nominal ones.
    """

    column: int
    fraction: float
    threshold: float | None = None
    levels: np.ndarray | None = None

    def goes_left(self, values):
        if self.levels is None:
            return values <= self.threshold
        return self.levels[values.astype(np.intp)]


@dataclass(frozen=True)
class PlantedRule:
    """A conjunction of one region per tested column, and the target it implies.

    A region is ``(low, high)`` for low < value <= high, or a mask of level codes.
    """

    regions: dict
    target: float

    def restrict(self, split, is_left):
        """Return this rule with one more condition."""
        regions = dict(self.regions)
        if split.levels is not None:
            side = split.levels if is_left else ~split.levels
            regions[split.column] = regions.get(split.column, True) & side
        else:
            low, high = regions.get(split.column, (-np.inf, np.inf))
            if is_left:
                regions[split.column] = (low, split.threshold)
            else:
                regions[split.column] = (split.threshold, high)
        return PlantedRule(regions, self.target)

    def matches(self, column, values):
        """Return which values of one column satisfy the rule's condition on it."""
        region = self.regions[column]
        if isinstance(region, tuple):
            low, high = region
            return (low < values) & (values <= high)
        return region[values.astype(np.intp)]


def _split_ordered(column, values, fraction, is_continuous):
    """Return the threshold split with the closest left fraction, or None."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        return None
    fractions = np.cumsum(counts)[:-1] / len(values)
    threshold = float(distinct[np.argmin(np.abs(fractions - fraction))])
    if is_continuous:  # a readable number; the data need not contain it
        threshold = float(f"{threshold:.4g}")
    taken = float(np.mean(values <= threshold))
    return Split(column, taken, threshold) if 0 < taken < 1 else None


def _split_nominal(column, values, fraction, n_levels, rng):
    """Return a subset of levels with a close fraction, or None."""
    counts = np.bincount(values.astype(np.intp), minlength=n_levels)
    present = rng.permutation(np.flatnonzero(counts))
    if len(present) < 2:
        return None
    wanted = fraction * len(values)
    chosen, total = [], 0
    for level in present:
        if total + counts[level] <= wanted * (1 + _FRACTION_TOLERANCE):
            chosen.append(level)
            total += counts[level]
    if not chosen:
        chosen = [present[np.argmin(counts[present])]]
    levels = np.zeros(n_levels, dtype=bool)
    levels[chosen] = True
    taken = float(counts[levels].sum() / len(values))
    return Split(column, taken, levels=levels) if taken < 1 else None


def _choose_split(pilot, columns, rows, fraction, rng):
    """Return a split of a random column with a left fraction near the desired one."""
    best, best_distance = None, np.inf
    for i in rng.permutation(len(columns)):
        values, spec = pilot[rows, i], columns[i]
        if spec.kind == "nominal":
            split = _split_nominal(int(i), values, fraction, spec.n_levels, rng)
        else:
            is_continuous = spec.kind == "numeric" and spec.decimals is None
            split = _split_ordered(int(i), values, fraction, is_continuous)
        if split is None:
            continue
        distance = abs(split.fraction - fraction)
        if distance <= _FRACTION_TOLERANCE * min(fraction, 1 - fraction):
            return split
        if distance < best_distance:
            best, best_distance = split, distance
    return best


def plant_rules(pilot, columns, targets, fractions, rng):
    """Return mutually exclusive rules that cover every row, one per target.

    ``pilot`` is a sample of the table; rule i covers about the fraction ``shares[i]``
    of it. The rules are the leaves of a binary tree: at each node a random column is
    split such that both sides get the fractions of their leaves.
    """
    rules = []
    root = PlantedRule({}, 0.0)
    pending = [(np.arange(len(pilot)), 0, len(targets), root)]
    while pending:
        rows, first, last, rule = pending.pop()
        if last - first == 1:
            rules.append(PlantedRule(rule.regions, targets[first]))
            continue
        cut = first + 1 + int(rng.random_sample() * (last - first - 1))
        fraction = float(np.sum(fractions[first:cut]) / np.sum(fractions[first:last]))
        split = _choose_split(pilot, columns, rows, fraction, rng)
        if split is None:
            raise ValueError(
                f"n_rules={len(targets)} is too large for this table; use fewer rules, "
                "more columns or more levels"
            )
        left = split.goes_left(pilot[rows, split.column])
        pending.append((rows[~left], cut, last, rule.restrict(split, False)))
        pending.append((rows[left], first, cut, rule.restrict(split, True)))
    return rules


def describe_rule(rule, columns, task, use_labels):
    """Return a rule as a record of plain Python values."""
    conditions = []
    for i, region in sorted(rule.regions.items()):
        spec = columns[i]
        values = spec.labels if use_labels and spec.kind != "numeric" else None
        feature = {"feature": spec.name, "column": i}

        def name_value(value, values=values):
            return value if values is None else values[int(value)]

        if isinstance(region, tuple):
            for operator, bound in zip((">", "<="), region, strict=True):
                if np.isfinite(bound):
                    condition = {"operator": operator, "value": name_value(bound)}
                    conditions.append({**feature, **condition})
        else:
            operator = "in" if 2 * region.sum() <= len(region) else "not in"
            codes = np.flatnonzero(region if operator == "in" else ~region).tolist()
            names = [name_value(code) for code in codes]
            conditions.append({**feature, "operator": operator, "value": names})
    key = "class" if task == "classification" else "value"
    return {"conditions": conditions, key: rule.target}
