"""Random tables for lists of rules, and the reference on the tree of an estimator."""

import math
import random
from itertools import pairwise

import numpy as np
import pandas as pd

from tests.reference.c45_rules import RuleMaker

SPLITS = ("multiway", "one_vs_rest", "subset")


def make_table(seed, n_rows=None, missing=0.15):
    """A frame of numbers, unordered and ordered levels, labels and weights."""
    generator = random.Random(seed)
    n_rows = n_rows or generator.choice([1, 7, 30, 70, 150])
    frame = {}
    for number in range(generator.randint(1, 5)):
        kind = generator.choice(["numeric", "numeric", "nominal", "ordinal"])
        n_values = generator.choice([2, 3, 5, 20])
        codes = [generator.randrange(n_values) for _ in range(n_rows)]
        is_gone = [generator.random() < missing for _ in range(n_rows)]
        if kind == "numeric":
            pairs = zip(codes, is_gone, strict=True)
            frame[f"c{number}"] = [math.nan if gone else c / 2 for c, gone in pairs]
        else:
            codes = [-1 if g else c for c, g in zip(codes, is_gone, strict=True)]
            frame[f"c{number}"] = pd.Categorical.from_codes(
                codes, [f"v{code:02d}" for code in range(n_values)], kind == "ordinal"
            )
    frame = pd.DataFrame(frame)
    y = make_labels(frame, generator)
    weights = generator.choice(
        [
            [1.0] * n_rows,
            [2.5] * n_rows,
            [float(generator.randint(1, 3)) for _ in range(n_rows)],
            [generator.choice([0.3, 1.0, 1.7]) for _ in range(n_rows)],
        ]
    )
    return frame, y, np.array(weights)


def make_labels(frame, generator):
    """Classes that follow from two columns, with some noise."""
    n_classes = generator.randint(2, 4)
    codes = [
        column.cat.codes if column.dtype == "category" else column.fillna(-1) * 2
        for _, column in frame.items()
    ]
    mixed = codes[0].astype(int) // 2 + codes[-1].astype(int)
    noise = generator.choice([0.0, 0.1, 0.4])
    labels = [
        generator.randrange(n_classes) if generator.random() < noise else c % n_classes
        for c in mixed
    ]
    return np.array([f"class {label}" for label in labels])


def draw_parameters(seed):
    """Parameters for a random table."""
    generator = random.Random(-seed)
    return {
        "confidence": generator.choice([0.25, 0.25, 0.05, 0.5, 0.8]),
        "categorical_split": generator.choice(SPLITS),
        "min_samples_leaf": generator.choice([1, 2, 5]),
    }


def make_numeric_table(seed, n_rows=300):
    """Numbers without equal values, and classes with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    y = (X[:, 0] > 0.3) + 2 * (X[:, 1] * X[:, 2] > 0.5)
    y[rng.random(n_rows) < 0.1] = 0
    return X, y


def make_reference(model, frame, y, weights):
    """The reference on the tree of a fitted estimator."""
    matrix = model.schema_.read(frame)
    columns = [
        [None if math.isnan(value) else value for value in column]
        for column in matrix.T.tolist()
    ]
    codes = np.searchsorted(model.classes_, y).tolist()
    tree = model.tree_estimator_.tree_
    return RuleMaker(
        tree, columns, codes, weights.tolist(), model.confidence, model.significance
    )


def list_rules(model):
    """(class number, nodes of the conditions) of every rule of an estimator."""
    found = model.rule_list_
    return [
        (number, tuple(found.nodes[start:stop].tolist()))
        for number, (start, stop) in zip(
            found.rule_class[:-1].tolist(), pairwise(found.start), strict=True
        )
    ]
