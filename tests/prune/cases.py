"""Fitted estimators on small random tables, for the tests of pruners.

Two-way and many-way trees of every recipe, with weights, missing values, empty
branches and several outputs.
"""

import random

from tests.reference import c45_cases, cases, id3_cases

KINDS = ["classifier", "regressor", "id3", "c45"]

#: Nothing but purity ends the growth.
UNLIMITED = {"max_depth": None, "min_samples_split": 2, "min_samples_leaf": 1}
UNLIMITED_CART = {
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
    "min_weight_fraction_leaf": 0.0,
}


def fit_unpruned(kind, seed, max_depth=None):
    """A fitted estimator whose tree stands as it was grown, to some depth."""
    generator = random.Random(seed)
    limits = {**UNLIMITED, "max_depth": max_depth}
    if kind == "c45":
        case = c45_cases.make_case(generator, n_rows=generator.randint(5, 40))
        return case.fit_kernel(**limits, pruning=None, collapse=False)
    if kind == "id3":
        case = id3_cases.make_id3_case(generator)
        return case.with_settings(**limits, min_gain=0.0).fit_kernel()
    case = cases.make_case(generator, task=kind)
    return case.with_settings(**limits, **UNLIMITED_CART).fit_kernel()
