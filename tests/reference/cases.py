"""Random small tables with random parameters, for references and kernels alike."""

import math
import random
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.reference.cart_classifier import grow_classifier
from tests.reference.cart_regressor import grow_regressor
from tests.reference.cart_tree import Column

CRITERIA = {
    "classifier": ["gini", "entropy", "log_loss", "error"],
    "regressor": ["squared_error", "absolute_error", "poisson"],
}


@dataclass
class Case:
    """A table, what is to be predicted, and the parameters."""

    task: str  # "classifier" or "regressor"
    columns: list
    y: list  # y[row][output]; class numbers without a gap, or numbers
    weights: list
    settings: dict

    @property
    def n_classes(self):
        return [len(set(output)) for output in zip(*self.y, strict=True)]

    def grow_reference(self):
        """The nodes of the plain-Python tree."""
        settings = dict(self.settings)
        if settings.get("missing") == "error":  # what is left without missing values
            settings["missing"] = "learned"
        if self.task == "regressor":
            return grow_regressor(self.columns, self.y, self.weights, **settings)
        return grow_classifier(
            self.columns, self.y, self.weights, self.n_classes, **settings
        )

    def fit_kernel(self, n_jobs=1):
        """The fitted estimator."""
        estimators = {"classifier": CARTClassifier, "regressor": CARTRegressor}
        estimator = estimators[self.task](**self.settings, n_jobs=n_jobs)
        return estimator.fit(
            self.make_frame(), self.make_target(), sample_weight=self.weights
        )

    def take(self, rows):
        """The case with these rows, some of them perhaps several times."""
        columns = [
            replace(column, values=[column.values[row] for row in rows])
            for column in self.columns
        ]
        return replace(
            self,
            columns=columns,
            y=[self.y[row] for row in rows],
            weights=[self.weights[row] for row in rows],
        )

    def with_settings(self, **settings):
        """The case with some parameters changed."""
        return replace(self, settings={**self.settings, **settings})

    def make_frame(self):
        """The table as a data frame whose dtypes tell the kinds of the columns."""
        return make_frame(self.columns)

    def make_new_columns(self, generator, n_rows=12):
        """Columns to predict: values missing, and levels (code -1) never seen."""
        columns = []
        for column in self.columns:
            known = [value for value in column.values if value is not None] or [0]
            values = [generator.choice(known) for _ in range(n_rows)]
            if column.kind == "numeric":
                values = [value + generator.choice([0, 0.25]) for value in values]
            else:
                known = [*range(column.n_levels), -1]
                values = [generator.choice(known) for _ in range(n_rows)]
            share = 0 if self.settings["missing"] == "error" else 0.25
            values = [None if generator.random() < share else v for v in values]
            columns.append(replace(column, values=values))
        return columns

    def make_target(self):
        """y as the estimators take it: one column, or a matrix."""
        y = np.array(self.y)
        return y[:, 0] if y.shape[1] == 1 else y

    def __str__(self):
        return (
            f"Case(task={self.task!r},\n     columns={self.columns},\n"
            f"     y={self.y},\n     weights={self.weights},\n"
            f"     settings={self.settings})"
        )


def make_frame(columns):
    """Numbers, or categories in the order of their codes; -1 is an unseen level."""
    frame = {}
    for number, column in enumerate(columns):
        values = column.values
        if column.kind == "numeric":
            series = [math.nan if value is None else value for value in values]
        else:
            names = [f"level {code:02d}" for code in range(column.n_levels)]
            if -1 in values:
                names.append("never seen")
                values = [column.n_levels if v == -1 else v for v in values]
            series = pd.Categorical.from_codes(
                [-1 if value is None else value for value in values],
                names,
                ordered=column.kind == "ordinal",
            )
        frame[f"c{number}"] = series
    return pd.DataFrame(frame)


def make_case(generator, task=None, criterion=None):
    """A random case: small, full of ties, with every kind of column."""
    task = task or generator.choice(["classifier", "regressor"])
    criterion = criterion or generator.choice(CRITERIA[task])
    n_rows = min(generator.randint(2, 30), generator.randint(2, 30))
    missing = generator.choice(["learned", "learned", "branch", "surrogate", "error"])
    constrained = generator.random() < 0.15
    missing_share = generator.choice([0, 0.1, 0.3]) if missing != "error" else 0
    n_columns = generator.choice([1, 2, 2, 3, 3, 4, 5])
    columns = [make_column(generator, n_rows, missing_share) for _ in range(n_columns)]
    settings = make_settings(generator, criterion, missing)
    n_outputs = 1 if constrained else generator.choice([1, 1, 1, 1, 2, 3])
    if task == "classifier":
        most = 2 if constrained else generator.choice([2, 2, 3, 4])
        y = make_classes(generator, n_rows, n_outputs, most)
        constrained &= len(set(y)) == 2
    else:
        y = make_numbers(generator, n_rows, n_outputs, criterion)
    if constrained:
        settings["monotonic_cst"] = [
            generator.choice([-1, 0, 1, 1]) if column.kind == "numeric" else 0
            for column in columns
        ]
    return Case(task, columns, y, make_weights(generator, n_rows), settings)


def make_column(generator, n_rows, missing_share):
    """Numbers with or without ties, or level codes, some levels without rows."""
    kind = generator.choice(["numeric", "numeric", "ordinal", "nominal", "nominal"])
    n_levels = 0
    if kind == "numeric":
        digits = generator.choice([0, 0, 1, 6])
        values = [round(generator.gauss(0, 2), digits) for _ in range(n_rows)]
    else:
        n_levels = generator.choice([1, 2, 3, 4, 5, 6] + [8, 13] * (n_rows > 15))
        values = [generator.randrange(n_levels) for _ in range(n_rows)]
    share = missing_share if generator.random() < 0.6 else 0
    values = [None if generator.random() < share else value for value in values]
    return Column(values, kind, n_levels)


def make_settings(generator, criterion, missing):
    """Every parameter at its default most of the time."""
    return {
        "criterion": criterion,
        "missing": missing,
        "categorical_split": generator.choice(
            ["subset", "subset", "one_vs_rest", "multiway"]
        ),
        "handle_unknown": generator.choice(["parent", "fractional", "error"]),
        "max_depth": generator.choice([None, None, None, 1, 2, 3]),
        "min_samples_split": generator.choice([2, 2, 2, 3, 6]),
        "min_samples_leaf": generator.choice([1, 1, 1, 2, 3, 5]),
        "min_weight_fraction_leaf": generator.choice([0.0, 0.0, 0.0, 0.0731, 0.1871]),
        "max_leaf_nodes": generator.choice([None, None, None, 2, 3, 4, 6]),
        "min_impurity_decrease": generator.choice([0.0, 0.0, 0.0, 0.01371, 0.09137]),
    }


def make_classes(generator, n_rows, n_outputs, most):
    """Class numbers; all numbers from 0 to the largest occur."""
    outputs = []
    for _ in range(n_outputs):
        labels = [generator.randrange(most) for _ in range(n_rows)]
        number_of = {label: number for number, label in enumerate(sorted(set(labels)))}
        outputs.append([number_of[label] for label in labels])
    return list(zip(*outputs, strict=True))


def make_numbers(generator, n_rows, n_outputs, criterion):
    """Small integers, or decimals; not negative for poisson."""
    digits = generator.choice([0, 0, 1, 4])
    rows = []
    for _ in range(n_rows):
        row = [round(generator.uniform(-3, 4), digits) for _ in range(n_outputs)]
        rows.append(tuple(max(y, 0.0) if criterion == "poisson" else y for y in row))
    if criterion == "poisson":  # no output may be 0 everywhere
        rows[0] = tuple(1.0 for _ in rows[0])
    return rows


def make_weights(generator, n_rows):
    """None that is negative, some that are 0, not all."""
    weights = generator.choice(
        [
            [1.0] * n_rows,
            [float(generator.randint(0, 3)) for _ in range(n_rows)],
            [round(generator.uniform(0.1, 2), 1) for _ in range(n_rows)],
            [generator.random() for _ in range(n_rows)],
        ]
    )
    weights[0] = weights[0] or 1.0  # row 0 keeps poisson's sums above 0
    return weights


def make_seeded_case(seed, **fixed):
    return make_case(random.Random(seed), **fixed)
