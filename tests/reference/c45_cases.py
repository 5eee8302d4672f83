"""Random tables with random parameters of C4.5, for reference, kernel and J48 alike."""

import random
from dataclasses import dataclass, replace

from tests.reference.c45 import grow_c45
from tests.reference.cart_tree import Column
from tests.reference.cases import make_frame

#: Parameters of ErrorBasedPruning; the others are those of C45Classifier.
PRUNING_PARAMETERS = ["confidence", "subtree_raising"]


@dataclass
class C45Case:
    """A table, the class number of every row, and the parameters."""

    columns: list
    y: list
    weights: list
    settings: dict

    @property
    def n_classes(self):
        return max(self.y) + 1

    def grow_reference(self):
        """The nodes of the plain-Python tree."""
        return grow_c45(
            self.columns, self.y, self.weights, self.n_classes, **self.settings
        )

    def fit_kernel(self, **parameters):
        """The fitted estimator, with other parameters beside the case's."""
        estimator = make_classifier({**self.settings, **parameters})
        return estimator.fit(self.make_frame(), self.y, sample_weight=self.weights)

    def make_frame(self):
        """The table as a data frame whose dtypes tell the kinds of the columns."""
        return make_frame(self.columns)

    def take(self, rows):
        """The case with these rows, some of them perhaps several times."""
        return replace(
            self,
            columns=[
                replace(column, values=[column.values[row] for row in rows])
                for column in self.columns
            ],
            y=[self.y[row] for row in rows],
            weights=[self.weights[row] for row in rows],
        )

    def repeat_rows(self):
        """The case with copies of rows in place of weights, which must be integers."""
        rows = [row for row, w in enumerate(self.weights) for _ in range(int(w))]
        return replace(self.take(rows), weights=[1.0] * len(rows))

    def make_new_rows(self, generator, n_rows=12):
        """Rows to predict: other numbers, values missing; levels as declared."""
        rows = []
        for _ in range(n_rows):
            row = []
            for column in self.columns:
                value = generator.choice(column.values)
                if column.n_levels and generator.random() < 0.5:
                    value = generator.randrange(column.n_levels)
                elif value is not None and generator.random() < 0.3:
                    value = value if column.n_levels else value + 0.25
                row.append(None if generator.random() < 0.25 else value)
            rows.append(row)
        return rows


def make_classifier(settings):
    """The estimator for parameters of its own and of its pruner."""
    from sklearn_textbook.tree import C45Classifier, ErrorBasedPruning

    settings = dict(settings)
    pruning = {
        name: settings.pop(name) for name in PRUNING_PARAMETERS if name in settings
    }
    if pruning and settings.setdefault("pruning", "error_based") is not None:
        settings["pruning"] = ErrorBasedPruning(**pruning)
    return C45Classifier(**settings)


def make_case(generator, n_rows=None, **settings):
    """A random case of 5 to 200 rows, with some signal, ties and missing values.

    Parameters given by name are kept, all others are drawn.
    """
    if n_rows is None:
        n_rows = generator.choice(
            [generator.randint(5, 30), generator.randint(30, 90)] * 2
            + [generator.randint(90, 200)]
        )
    n_columns = generator.choice([1, 2, 3, 3, 4, 4, 5, 7])
    missing_share = generator.choice([0, 0, 0.03, 0.1, 0.25])
    hidden = [generator.gauss(0, 1) for _ in range(n_rows)]
    columns, score = [], [0.0] * n_rows
    for _ in range(n_columns):
        column, effects = make_column(generator, hidden)
        relevant = generator.random() < 0.7
        score = [s + relevant * e for s, e in zip(score, effects, strict=True)]
        share = missing_share if generator.random() < 0.7 else 0
        columns.append(
            replace(
                column,
                values=[
                    None if generator.random() < share else v for v in column.values
                ],
            )
        )
    y = make_classes(generator, score)
    weights = make_weights(generator, n_rows)
    return C45Case(columns, y, weights, {**make_settings(generator), **settings})


def make_column(generator, hidden):
    """Numbers or level codes, and what each row's value adds to its score."""
    kind = generator.choice(["numeric", "numeric", "nominal", "nominal", "ordinal"])
    noise = generator.choice([0.3, 1, 3])
    numbers = [part + noise * generator.gauss(0, 1) for part in hidden]
    if kind == "numeric":
        digits = generator.choice([0, 1, 1, 3])
        values = [round(2 * number, digits) + 0.0 for number in numbers]
        return Column(values, kind), numbers
    n_levels = generator.choice([1, 2, 2, 3, 3, 4, 5, 6, 9, 13])
    codes = [min(n_levels - 1, max(0, int(n + n_levels / 2))) for n in numbers]
    effect = [generator.gauss(0, 1.5) for _ in range(n_levels)]
    if kind == "ordinal":
        effect.sort()
    return Column(codes, kind, n_levels), [effect[code] for code in codes]


def make_classes(generator, score):
    """Intervals of the score, partly at random; two classes or more, none empty."""
    n_classes = generator.choice([2, 2, 2, 3, 3, 4, 5])
    noise = generator.choice([0, 0.3, 1])
    noisy = [value + noise * generator.gauss(0, 1) for value in score]
    cuts = sorted(generator.choice(noisy) for _ in range(n_classes - 1))
    intervals = [sum(value > cut for cut in cuts) for value in noisy]
    if len(set(intervals)) == 1:
        intervals[0] += 1
    labels = sorted(set(intervals), key=lambda _: generator.random())
    return [labels.index(interval) for interval in intervals]


def make_weights(generator, n_rows):
    """Mostly 1; or integers, some of them 0; or decimals."""
    return generator.choice(
        [
            [1.0] * n_rows,
            [1.0] * n_rows,
            [1.0]
            + [float(generator.choice([0, 1, 1, 2, 3])) for _ in range(n_rows - 1)],
            [round(generator.uniform(0.1, 2.5), 1) for _ in range(n_rows)],
        ]
    )


def make_settings(generator):
    """Every parameter at its default most of the time."""
    choices = {
        "gain_ratio_rule": ["above_average", "above_average", "plain"],
        "mdl_correction": [True, True, True, False],
        "threshold": ["observed", "observed", "midpoint"],
        "categorical_split": ["multiway", "multiway", "one_vs_rest", "subset"],
        "max_depth": [None, None, None, None, 1, 2, 4],
        "min_samples_split": [2, 2, 2, 2, 7, 20],
        "min_samples_leaf": [2, 2, 2, 1, 3, 6],
        "collapse": [True, True, True, False],
        "pruning": ["error_based", "error_based", None],
        "confidence": [0.25, 0.25, 0.1, 0.4, 0.5, 0.6, 0.01],
        "subtree_raising": [True, True, True, False],
    }
    return {name: generator.choice(values) for name, values in choices.items()}


def make_j48_settings(generator):
    """Parameters that J48 has as well."""
    kept = [
        "categorical_split",
        "min_samples_leaf",
        "pruning",
        "confidence",
        "subtree_raising",
    ]
    settings = make_settings(generator)
    if settings["categorical_split"] == "subset":
        settings["categorical_split"] = "multiway"
    return {name: settings[name] for name in kept}


def make_seeded_case(seed, **fixed):
    return make_case(random.Random(seed), **fixed)
