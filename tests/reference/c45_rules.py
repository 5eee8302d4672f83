"""C4.5rules in plain Python: from the paths of a tree to an ordered list of rules.

Read this first. A rule is a class and a list of conditions; a condition is known by
the number of the node to which its branch leads, and is met by the rows in a set.
"""

import math
from dataclasses import dataclass, field

from tests.reference.c45_measures import find_majority_class
from tests.reference.c45_prune import estimate_more_errors

TOLERANCE = 1e-6
#: All subsets of at most so many rules are tried.
MAX_TRIED = 10


@dataclass
class Condition:
    """What a branch asks of a column, and the rows that meet it."""

    node: int
    column: int
    bits: float
    demand: tuple  # (low, high), or the accepted level codes
    rows: frozenset

    def is_met(self, value):
        if value is None or (isinstance(self.demand, frozenset) and value < 0):
            return False
        if isinstance(self.demand, frozenset):
            return value in self.demand
        low, high = self.demand
        return low < value <= high


@dataclass
class Rule:
    """A rule with the rows that it covers."""

    rule_class: int
    conditions: list
    rate: float = 1.0
    rows: frozenset = field(default_factory=frozenset)

    @property
    def nodes(self):
        return tuple(condition.node for condition in self.conditions)

    @property
    def cost(self):
        bits = sum(condition.bits for condition in self.conditions)
        bits -= math.log2(math.factorial(len(self.conditions)))
        return round(bits * 2**20) / 2**20

    @property
    def demands(self):
        """What it asks of each column, the same for all rules that mean the same."""
        together = {}
        for condition in self.conditions:
            known = together.setdefault(condition.column, condition.demand)
            if isinstance(known, frozenset):
                together[condition.column] = known & condition.demand
            else:
                low, high = zip(known, condition.demand, strict=True)
                together[condition.column] = max(low), min(high)
        return self.rule_class, frozenset(together.items())


def find_upper_limit(n, errors, confidence):
    """Pessimistic error rate; 1 for a rule that covers nothing."""
    if n == 0:
        return 1.0
    return (errors + estimate_more_errors(n, errors, confidence)) / n


def find_p_value(right, wrong, more_right, more_wrong):
    """Fisher's exact test: chance of at least so many right rows with the condition."""
    good, bad, drawn = right + more_right, wrong + more_wrong, right + wrong
    ways = [
        math.comb(good, k) * math.comb(bad, drawn - k)
        for k in range(right, min(good, drawn) + 1)
    ]
    return sum(ways) / math.comb(good + bad, drawn)


class RuleMaker:
    """Makes rules of one tree.

    ``tree`` is a GrownTree; ``columns[column][row]`` a number, a level code or None
    for missing; rows of weight 0 must be gone.
    """

    def __init__(self, tree, columns, y, weights, confidence, significance=None):
        self.tree = tree
        self.columns = columns
        self.y = y
        self.weights = weights
        self.confidence = confidence
        self.significance = significance
        self.n_classes = tree.statistics.shape[2]
        self.all_rows = frozenset(range(len(y)))
        self.class_weights = self.count_classes(self.all_rows)

    # ------------------------------------------------------------------ counting
    def weigh(self, rows):
        return math.fsum(self.weights[row] for row in rows)

    def count_classes(self, rows):
        return [
            self.weigh(row for row in rows if self.y[row] == number)
            for number in range(self.n_classes)
        ]

    def count(self, rows, rule_class):
        """Weight of the rows of a class, and of the others."""
        right = self.weigh(row for row in rows if self.y[row] == rule_class)
        wrong = self.weigh(row for row in rows if self.y[row] != rule_class)
        return right, wrong

    def find_rate(self, rows, rule_class):
        right, wrong = self.count(rows, rule_class)
        return find_upper_limit(right + wrong, wrong, self.confidence)

    # --------------------------------------------------------------------- paths
    def list_paths(self):
        """One rule per leaf with training rows, from left to right."""
        rules = []

        def walk(node, conditions):
            record = self.tree.nodes[node]
            if record["n_children"] == 0:
                if conditions and record["weight"] > 0:
                    weights = self.tree.statistics[node][0].tolist()
                    rules.append(Rule(find_majority_class(weights), conditions))
                return
            for branch in range(record["n_children"]):
                condition = self.make_condition(record, branch)
                walk(condition.node, [*conditions, condition])

        walk(0, [])
        return rules

    def make_condition(self, record, branch):
        column = int(record["feature"])
        values = self.columns[column]
        n_levels = int(self.tree.n_levels[column])
        bits = math.log2(self.tree.n_features)
        if record["kind"] == 3:
            children = self.tree.read_level_map(record).tolist()
            demand = frozenset(c for c in range(n_levels) if children[c] == branch)
            if len(demand) == 1:
                bits += self.find_entropy(values)
            elif len(demand) == n_levels - 1:
                bits += self.find_entropy(values) + 1
            else:
                bits += n_levels
        else:
            threshold = float(record["threshold"])
            demand = [(-math.inf, threshold), (threshold, math.inf)][branch]
            n_distinct = len({value for value in values if value is not None})
            bits += 1 + math.log2(max(n_distinct - 1, 1))
        condition = Condition(
            int(record["first_child"]) + branch, column, bits, demand, frozenset()
        )
        condition.rows = frozenset(
            row for row in self.all_rows if condition.is_met(values[row])
        )
        return condition

    def find_entropy(self, values):
        known = [row for row in self.all_rows if values[row] is not None]
        total = self.weigh(known)
        weights = [
            self.weigh(row for row in known if values[row] == level)
            for level in {values[row] for row in known}
        ]
        return -sum(w / total * math.log2(w / total) for w in weights)

    # ---------------------------------------------------------------- generalise
    def generalise(self, path):
        """Drop conditions from a rule as long as that does not raise its rate."""
        left = list(path.conditions)
        while True:
            rows = self.cover(left)
            without = [
                self.cover([c for c in left if c is not dropped]) for dropped in left
            ]
            rate = self.find_rate(rows, path.rule_class)
            rates = [self.find_rate(each, path.rule_class) for each in without]
            dropped = find_last_least(rates) if left else None
            if dropped is not None and rates[dropped] > rate:
                dropped = None
            if dropped is None and left and self.significance is not None:
                dropped = self.find_insignificant(rows, without, path.rule_class)
            if dropped is None:
                return Rule(path.rule_class, left, rate, rows)
            del left[dropped]

    def find_insignificant(self, rows, without, rule_class):
        right, wrong = self.count(rows, rule_class)
        p_values = []
        for wider in without:
            more_right, more_wrong = self.count(wider - rows, rule_class)
            counts = map(round, (right, wrong, more_right, more_wrong))
            p_values.append(find_p_value(*counts))
        worst = find_last_least([-p_value for p_value in p_values])
        return worst if p_values[worst] > self.significance else None

    def cover(self, conditions):
        return self.all_rows.intersection(*(c.rows for c in conditions))

    def list_general_rules(self):
        """The different generalised rules that are better than naming their class."""
        total = math.fsum(self.class_weights)
        rules, known = [], set()
        for rule in map(self.generalise, self.list_paths()):
            prior_rate = 1 - self.class_weights[rule.rule_class] / total
            if rule.rate < prior_rate and rule.demands not in known:
                known.add(rule.demands)
                rules.append(rule)
        return rules

    # -------------------------------------------------------------------- choose
    def measure(self, chosen, rule_class):
        """Bits of some rules of a class and of their exceptions."""
        covered = frozenset().union(*(rule.rows for rule in chosen))
        right, wrong = self.count(covered, rule_class)
        total = math.fsum(self.class_weights)
        theory = sum(rule.cost for rule in chosen)
        theory -= math.log2(math.factorial(len(chosen)))
        return (
            theory / 2
            + log2_ways(right + wrong, wrong)
            + log2_ways(total - right - wrong, self.class_weights[rule_class] - right)
        )

    def choose(self, rules, rule_class):
        """The subset of the rules of a class with the shortest description."""
        if len(rules) <= MAX_TRIED:
            return self.try_all(rules, rule_class)
        from_none = self.climb(rules, [], rule_class)
        from_all = self.climb(rules, rules, rule_class)
        gain = self.measure(from_none, rule_class) - self.measure(from_all, rule_class)
        return from_all if gain > TOLERANCE else from_none

    def try_all(self, rules, rule_class):
        """The best of all subsets, those without later rules first."""
        best, best_length = [], math.inf
        for number in range(2 ** len(rules)):
            subset = [rule for place, rule in enumerate(rules) if number >> place & 1]
            length = self.measure(subset, rule_class)
            if length < best_length - TOLERANCE:
                best, best_length = subset, length
        return best

    def climb(self, rules, chosen, rule_class):
        """Add or delete the rule that saves most bits, as long as one saves some."""
        length = self.measure(chosen, rule_class)
        while True:
            best = None
            for rule in rules:
                if rule in chosen:
                    changed = [other for other in chosen if other is not rule]
                else:
                    changed = [*chosen, rule]
                changed_length = self.measure(changed, rule_class)
                if changed_length < length - TOLERANCE:
                    best, length = changed, changed_length
            if best is None:
                return [rule for rule in rules if rule in chosen]
            chosen = best

    # --------------------------------------------------------------------- order
    def order_classes(self, chosen):
        """Classes by the weight of other classes that their rules cover of the rest."""
        rest, order = self.all_rows, []
        waiting = sorted({rule.rule_class for rule in chosen})
        covered = {
            number: frozenset().union(
                *(rule.rows for rule in chosen if rule.rule_class == number)
            )
            for number in waiting
        }
        while waiting:
            best = min(
                waiting,
                key=lambda c: (
                    self.count(covered[c] & rest, c)[1],
                    -self.class_weights[c],
                ),
            )
            waiting.remove(best)
            order.append(best)
            rest -= covered[best]
        return order

    def find_default(self, rules):
        rest = self.all_rows - frozenset().union(*(rule.rows for rule in rules))
        left = self.count_classes(rest)
        return max(
            range(self.n_classes), key=lambda c: (left[c], self.class_weights[c], -c)
        )

    def count_errors(self, rules, default):
        predicted = dict.fromkeys(self.all_rows, default)
        for rule in reversed(rules):
            predicted.update(dict.fromkeys(rule.rows, rule.rule_class))
        return self.weigh(row for row in self.all_rows if predicted[row] != self.y[row])

    def polish(self, rules):
        """Drop rules that do harm, the worst first."""
        while True:
            default = self.find_default(rules)
            errors = [
                self.count_errors(rules[:place] + rules[place + 1 :], default)
                for place in range(len(rules))
            ]
            if not rules or min(errors) >= self.count_errors(rules, default):
                return rules, default
            rules = list(rules)
            del rules[find_last_least(errors)]

    # ----------------------------------------------------------------- all of it
    def make_list(self):
        """The rules in order, and the default class."""
        rules = self.list_general_rules()
        chosen = []
        for number in range(self.n_classes):
            of_class = [rule for rule in rules if rule.rule_class == number]
            chosen += self.choose(of_class, number)
        ordered = []
        for number in self.order_classes(chosen):
            of_class = [rule for rule in chosen if rule.rule_class == number]
            ordered += sorted(of_class, key=lambda rule: rule.rate)
        return self.polish(ordered)

    def list_shares(self, rules, default):
        """Class shares of every rule, and of the default."""
        shares, rest = [], self.all_rows
        for rule in rules:
            counts = self.count_classes(rule.rows & rest or rule.rows)
            shares.append(self.smooth(counts, rule.rule_class))
            rest -= rule.rows
        counts = self.count_classes(rest or self.all_rows)
        return [*shares, self.smooth(counts, default)]

    def smooth(self, counts, rule_class):
        counts = [min(count, counts[rule_class]) + 1 for count in counts]
        return [count / sum(counts) for count in counts]


def find_last_least(values):
    """Place of the smallest value, the last of equals."""
    return max(range(len(values)), key=lambda place: (-values[place], place))


def log2_ways(n, k):
    """Bits that tell which k of n cases; n and k may be fractions."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return ways / math.log(2)
