"""Random tables of all kinds that lists of samples serve, with targets and rules."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_textbook.tree.grow.rules import GrowthRules
from sklearn_textbook.tree.grow.target import Target
from tests.growth.partitioners import encode, grow_with, make_classes, make_values

#: Criteria and numbers of classes (one for every output), or of outputs with values.
TARGETS = {
    "two classes": ("gini", (2,)),
    "three classes": ("gini", (3,)),
    "ten classes": ("gini", (10,)),
    "entropy of two": ("entropy", (2,)),
    "entropy of five": ("log_loss", (5,)),
    "error": ("error", (3,)),
    "two outputs": ("gini", (3, 2)),
    "values": ("squared_error", 1),
    "whole values": ("squared_error", 1),
    "two outputs of values": ("squared_error", 2),
    "counts": ("poisson", 1),
}
WEIGHTS = ("none", "bootstrap", "floats", "classes", "large")
LEAST_WEIGHT_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class MixedCase:
    """A table, what is to be predicted, and how the tree is grown."""

    X: np.ndarray
    is_nominal: np.ndarray
    y: np.ndarray  # y[row][output]
    is_classifier: bool
    weight: np.ndarray | None
    rules: GrowthRules
    max_bins: int | None
    random_state: int

    @property
    def target(self) -> Target:
        return make_classes(self.y) if self.is_classifier else make_values(self.y)

    @property
    def has_whole_weights(self):
        return self.weight is None or bool((self.weight % 1 == 0).all())

    def encode(self):
        """Sort the columns, or bin them."""
        return encode(self.X, self.is_nominal, self.max_bins)

    def take(self, rows):
        """The case with these rows, some of them perhaps several times."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weight=weight)

    def with_rules(self, **rules):
        """The case with some rules changed."""
        return replace(self, rules=replace(self.rules, **rules))

    def grow(self, partitioner="sample-list"):
        """Grow the tree."""
        return grow_with(
            partitioner,
            self.encode(),
            self.target,
            self.rules,
            self.weight,
            self.random_state,
        )


def draw_mixed_column(rng, n_rows):
    """Draw a column; whether it is nominal."""
    kind = rng.integers(7)
    if kind == 0:
        return rng.normal(size=n_rows), False
    if kind == 1:
        return rng.integers(0, 10, n_rows), False
    if kind == 2:
        return rng.integers(0, 2, n_rows), False
    if kind == 3:
        return np.round(rng.normal(size=n_rows) * rng.choice([5, 50, 500])), False
    if kind == 4:
        return np.ones(n_rows), bool(rng.random() < 0.5)
    return rng.integers(0, rng.choice([2, 3, 8, 30, 400]), n_rows), True


def draw_missing(rng, X):
    """Let values of no column, of one or of all be missing."""
    kind = rng.choice(["none", "none", "column", "everywhere"])
    if kind == "column":
        column = rng.integers(X.shape[1])
        X[rng.random(len(X)) < rng.choice([0.01, 0.3, 0.9]), column] = np.nan
    elif kind == "everywhere":
        X[rng.random(X.shape) < rng.choice([0.05, 0.3])] = np.nan


def cut(signal, n_classes):
    """Classes of about equal size."""
    limits = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    return np.searchsorted(limits, signal)


def draw_mixed_target(rng, name, X):
    """Draw classes or values that follow the columns more or less."""
    centred = np.nan_to_num((X - X[0]) / (np.nanstd(X, axis=0) + 1.0))
    signal = centred @ rng.normal(size=X.shape[1])
    signal += rng.normal(size=len(X)) * rng.choice([0.1, 1.0, 5.0])
    criterion, outputs = TARGETS[name]
    if isinstance(outputs, tuple):
        columns = [cut(signal, outputs[0])]
        columns += [rng.integers(0, n_classes, len(X)) for n_classes in outputs[1:]]
        return np.stack(columns, axis=1)
    if criterion == "poisson":
        y = rng.poisson(np.exp(np.clip(signal, -3, 3)))
        y[0] += 1
    else:
        y = np.round(signal) if name == "whole values" else signal
    return np.stack([y, -(y[::-1] ** 2)][:outputs], axis=1).astype(float)


def draw_mixed_weight(rng, kind, y):
    """Draw the weights of a kind; that of the first row is not 0."""
    n_rows = len(y)
    if kind == "none":
        return None
    if kind == "bootstrap":
        weight = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows)).astype(float)
    elif kind == "floats":
        weight = 0.01 + 2 * rng.random(n_rows)
    elif kind == "classes":
        codes = np.unique(y[:, 0], return_inverse=True)[1]
        weight = (0.1 + rng.random(codes.max() + 1))[codes] * rng.integers(1, 4, n_rows)
    else:
        weight = rng.integers(0, 200_000, n_rows).astype(float)
    weight[0] = max(weight[0], 1.0)
    return weight


def draw_mixed_rules(rng, name, is_nominal, total_weight):
    """Draw limits and strategies, each left at its default most of the time."""
    criterion, outputs = TARGETS[name]
    n_columns = len(is_nominal)
    rules = {
        "max_features": int(rng.integers(1, n_columns, endpoint=True)),
        "missing": str(rng.choice(["learned", "branch"])),
    }
    limits = {
        "min_samples_leaf": int(rng.integers(2, 8)),
        "max_depth": int(rng.integers(1, 6)),
        "min_samples_split": int(rng.integers(3, 20)),
        "min_weight_leaf": LEAST_WEIGHT_SHARE * total_weight,
        "min_impurity_decrease": 0.005,
        "random_splitter": True,
        "top_splits": 3,
        "categorical_split": str(rng.choice(["one_vs_rest", "multiway"])),
    }
    if outputs in [(2,), 1] and not is_nominal.any():
        directions = rng.integers(-1, 1, n_columns, endpoint=True)
        limits["monotonic"] = tuple(directions.tolist())
    rules |= {limit: limits[limit] for limit in limits if rng.random() < 0.2}
    return GrowthRules(criterion, **rules)


def draw_mixed_case(seed, name, weights=None, shape=None):
    """Draw a case with one of ``TARGETS``; weights and shape may be given."""
    rng = np.random.default_rng([seed, *name.encode()])
    sizes = [1, 2, 3, 8, 20, 64, 65, 66, 100, 150, 300, 700, 1500, 3000]
    shares = np.array([1, 1, 1, 4, 9, 9, 9, 9, 12, 12, 12, 12, 6, 3])
    n_rows = int(rng.choice(sizes, p=shares / shares.sum()))
    n_columns = int(rng.integers(1, 9))
    if shape is not None:
        n_rows, n_columns = shape
    columns = [draw_mixed_column(rng, n_rows) for _ in range(n_columns)]
    X = np.column_stack([column for column, _ in columns]).astype(float)
    is_nominal = np.array([nominal for _, nominal in columns])
    y = draw_mixed_target(rng, name, X)
    draw_missing(rng, X)
    weight = draw_mixed_weight(rng, weights or rng.choice(WEIGHTS), y)
    total = float(n_rows if weight is None else weight.sum())
    return MixedCase(
        X=X,
        is_nominal=is_nominal,
        y=y,
        is_classifier=isinstance(TARGETS[name][1], tuple),
        weight=weight,
        rules=draw_mixed_rules(rng, name, is_nominal, total),
        max_bins=int(rng.choice([4, 16, 200])) if rng.random() < 0.2 else None,
        random_state=seed,
    )
