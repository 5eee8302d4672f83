"""Random small tables with random parameters for ID3: the reference and the kernel."""

import random
from dataclasses import dataclass

from sklearn_textbook.tree import ID3Classifier
from tests.reference.cases import Case, make_classes, make_column, make_weights
from tests.reference.id3 import grow_id3


@dataclass
class ID3Case(Case):
    """A table, its classes, and the parameters of ID3Classifier."""

    def grow_reference(self):
        y = [label for (label,) in self.y]
        return grow_id3(
            self.columns, y, self.weights, self.n_classes[0], **self.settings
        )

    def fit_kernel(self, n_jobs=1):
        estimator = ID3Classifier(**self.settings, n_jobs=n_jobs)
        return estimator.fit(
            self.make_frame(), self.make_target(), sample_weight=self.weights
        )


def make_id3_case(generator):
    """Small and full of ties, with every kind of column and many missing values."""
    n_rows = min(generator.randint(2, 40), generator.randint(2, 40))
    missing = generator.choice(["fractional"] * 4 + ["error"])
    share = 0 if missing == "error" else generator.choice([0, 0.1, 0.3, 0.5])
    n_columns = generator.choice([1, 2, 2, 3, 3, 4, 5])
    columns = [make_column(generator, n_rows, share) for _ in range(n_columns)]
    y = make_classes(generator, n_rows, 1, generator.choice([2, 2, 3, 4]))
    settings = make_id3_settings(generator, missing)
    return ID3Case("classifier", columns, y, make_weights(generator, n_rows), settings)


def make_id3_settings(generator, missing):
    """Every parameter at its default most of the time."""
    return {
        "min_gain": generator.choice([0.0, 0.0, 0.0, 0.0, 0.03179, 0.1473]),
        "max_depth": generator.choice([None, None, None, 1, 2, 3]),
        "min_samples_split": generator.choice([2, 2, 2, 3, 6]),
        "min_samples_leaf": generator.choice([1, 1, 1, 2, 3, 5]),
        "categorical_split": generator.choice(["multiway", "multiway", "one_vs_rest"]),
        "missing": missing,
        "handle_unknown": generator.choice(["parent", "fractional", "error"]),
    }


def make_seeded_id3_case(seed):
    return make_id3_case(random.Random(seed))
