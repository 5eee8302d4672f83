"""What a case of the frozen trees is: its name, its estimator, its fit.

A case has a value for every axis of :data:`DEFAULTS`; those that differ from the
default are its name.
"""

import warnings

import numpy as np

from sklearn_textbook import ensemble, tree
from tests.growth.tables import TABLES, make_table, make_weights

DEFAULTS = {
    "estimator": "cart",
    "target": "2-classes",
    # the default of the estimator
    "criterion": "default",
    "table": "continuous",
    # cells that are missing / what is done with them; "none" has nothing to do
    "missing": "none",
    "weights": "none",
    # columns drawn at a node
    "drawn": "all",
    "splitter": "best",
    "limit": "none",
    "option": "none",
    "levels": "default",
    # of levels: none, as it was before there was any
    "smoothing": 0.0,
    # of ensembles alone: rows and columns of a member, and bins
    "rows": "default",
    "columns": "all",
    "bins": None,
    "size": 1000,
    "seed": 0,
}
#: Criteria whose values depend on the logarithms of the C library.
LOGARITHMIC = ("entropy", "log_loss", "poisson", "gain_ratio")
GAIN_TREES = ("id3", "c45", "c45-plain", "c45-pruned")
FORESTS = {"forest": "RandomForest", "extra": "ExtraTrees"}
BAGS = {"bagging": "Bagging", "subspace": "RandomSubspace"}
N_MEMBERS = 3
#: What small tables and few members are warned of.
EXPECTED_WARNINGS = (
    "Some inputs do not have OOB scores",
    "Using the fractional value max_samples",
    "When fitting Bagging.* it is recommended to use bootstrap=True",
    "The tree is a single leaf: the weights of the .* rows sum to",
)

DRAWN = {"all": None, "sqrt": "sqrt", "third": 0.34, "one": 1}
LIMITS = {
    "none": {},
    "leaf": {"min_samples_leaf": 3},
    "share": {"min_weight_fraction_leaf": 0.01},
    "depth": {"max_depth": 7},
    "leaves": {"max_leaf_nodes": 40},
    "decrease": {"min_impurity_decrease": 0.0005},
    "split": {"min_samples_split": 0.02},
    "monotonic": {},  # depends on the table
}
OPTIONS = {
    "none": {},
    "random-ties": {"tie_breaking": "random"},
    "three-best": {"top_splits": 3},
}
ROWS = {
    "default": {},
    "bootstrap": {"bootstrap": True},
    "all": {"bootstrap": False},
    "half": {"bootstrap": True, "max_samples": 0.5},
    "out_of_bag": {"bootstrap": True, "oob_score": True},
}
COLUMNS = {
    "all": {"max_features": 1.0},
    "half": {"max_features": 0.5},
    "repeated": {"max_features": 0.5, "bootstrap_features": True},
}
GAIN_ALONE = {
    "gain_ratio_rule": "plain",
    "mdl_correction": False,
    "threshold": "midpoint",
    "min_samples_leaf": 1,
    "collapse": False,
    "pruning": None,
}


def name_case(case):
    """Name a case by what differs from the defaults."""
    return " ".join(
        f"{axis}={value}"
        for axis, value in (DEFAULTS | case).items()
        if value != DEFAULTS[axis]
    )


def uses_logarithms(case):
    """Whether what the nodes hold comes from logarithms."""
    case = DEFAULTS | case
    template = case["estimator"].rpartition("+")[2]
    return case["criterion"] in LOGARITHMIC or template in GAIN_TREES


# ------------------------------------------------------------------- estimator and fit
def _is_classification(case):
    return "class" in case["target"]


def _constrain(table):
    """Constraints of the numeric and ordinal columns: rising, free, falling, ..."""
    signs = (1, 0, -1)
    return [
        0 if form[0] == "nominal" else signs[number % 3]
        for number, form in enumerate(TABLES[table])
    ]


def _choose_criterion(case):
    is_chosen = case["criterion"] != "default"
    return {"criterion": case["criterion"]} if is_chosen else {}


def _describe_tree(case):
    """Parameters that single trees and forests share."""
    parameters = LIMITS[case["limit"]] | OPTIONS[case["option"]]
    if case["limit"] == "monotonic":
        parameters = parameters | {"monotonic_cst": _constrain(case["table"])}
    if case["weights"] in ("balanced", "balanced_subsample"):
        parameters = parameters | {"class_weight": case["weights"]}
    if case["levels"] != "default":
        parameters = parameters | {"categorical_split": case["levels"]}
    if case["missing"] != "none" and not case["missing"].endswith("fractional"):
        parameters = parameters | {"missing": case["missing"].partition("/")[2]}
    return parameters | {"max_features": DRAWN[case["drawn"]]}


def _make_tree(kind, case):
    """One tree, or the template of a bag."""
    parameters = _describe_tree(case)
    if kind == "id3":
        return tree.ID3Classifier(**parameters)
    if kind in GAIN_TREES:
        own = GAIN_ALONE if kind == "c45-plain" else {}
        own = {"pruning": None} if kind == "c45" else own
        return tree.C45Classifier(**own | parameters)
    cart = tree.CARTClassifier if _is_classification(case) else tree.CARTRegressor
    parameters["categorical_smoothing"] = case["smoothing"]
    return cart(splitter=case["splitter"], **_choose_criterion(case), **parameters)


def make_estimator(case, n_jobs):
    """Make the estimator of a case.

    Parameters
    ----------
    case : dict
        The case; axes that it does not have are at their defaults.
    n_jobs : int
        Number of threads.

    Returns
    -------
    estimator : estimator
        Not fitted.
    """
    case = DEFAULTS | case
    family, _, template = case["estimator"].partition("+")
    seeded = {"random_state": case["seed"], "n_jobs": n_jobs}
    if family not in FORESTS and family not in BAGS:
        return _make_tree(family, case).set_params(**seeded)
    kind = "Classifier" if _is_classification(case) else "Regressor"
    seeded |= ROWS[case["rows"]]
    if family in FORESTS:
        parameters = _choose_criterion(case) | _describe_tree(case) | seeded
        parameters["categorical_smoothing"] = case["smoothing"]
        return getattr(ensemble, FORESTS[family] + kind)(
            N_MEMBERS, max_bins=case["bins"], **parameters
        )
    seeded |= COLUMNS[case["columns"]]
    return getattr(ensemble, BAGS[family] + kind)(
        _make_tree(template, case), N_MEMBERS, **seeded
    )


def fit_case(case, n_jobs=1):
    """Fit the estimator of a case.

    Parameters
    ----------
    case : dict
        The case.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    estimator : estimator
        The fitted estimator.
    """
    estimator = make_estimator(case, n_jobs)
    case = DEFAULTS | case
    cells = case["missing"].partition("/")[0]
    X, y = make_table(case["table"], cells, case["target"], case["size"], case["seed"])
    weights = make_weights(case["weights"], case["size"], case["seed"])
    with warnings.catch_warnings():
        for message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message)
        return estimator.fit(X, y, sample_weight=weights)


def list_trees(estimator):
    """List the grown trees of a fitted estimator."""
    members = getattr(estimator, "estimators_", [estimator])
    return [member.tree_ for member in members]


def list_results(estimator):
    """List what a fitted ensemble tells of its rows and columns."""
    structure = [np.asarray(c) for c in getattr(estimator, "estimators_features_", [])]
    names = ("oob_score_", "oob_decision_function_", "oob_prediction_")
    values = [np.asarray(getattr(estimator, n)) for n in names if hasattr(estimator, n)]
    return structure, values
