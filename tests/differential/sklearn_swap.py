"""pytest plugin: scikit-learn's own tests, run against our estimators.

``python -m pytest -p tests.differential.sklearn_swap --pyargs
sklearn.tree.tests.test_tree`` rebinds the names listed in ``SWAPPED`` before the tests
are collected, so that their modules import ours under these names. Tests that touch
scikit-learn's compiled internals are declared in ``sklearn_expected_failures``; the
declaration is strict.
"""

import copy
import functools
import importlib
from collections import defaultdict
from itertools import combinations

import joblib
import pytest

from tests.amount import FACTOR
from tests.differential.sklearn_expected_failures import (
    EXPECTED_FAILURES,
    ROUNDING_DECIDES,
)
from tests.less_overhead import pytest_collection  # noqa: F401

#: By module of scikit-learn: its name of a class, and where ours is. The stock
#: ensembles that are not listed keep the stock trees and forests they are made of.
SWAPPED = {
    "sklearn.discriminant_analysis": {
        "LinearDiscriminantAnalysis": (
            "sklearn_textbook.discriminant_analysis.LinearDiscriminantAnalysis"
        ),
    },
    "sklearn.multiclass": {
        "OutputCodeClassifier": "sklearn_textbook.ensemble.OutputCodeClassifier",
    },
    "sklearn.tree": {
        "DecisionTreeClassifier": "sklearn_textbook.tree.CARTClassifier",
        "DecisionTreeRegressor": "sklearn_textbook.tree.CARTRegressor",
    },
    "sklearn.decomposition": {
        "PCA": "sklearn_textbook.decomposition.PCA",
        "TruncatedSVD": "sklearn_textbook.decomposition.TruncatedSVD",
    },
    "sklearn.linear_model": {
        "LinearRegression": "sklearn_textbook.linear_model.LinearRegression",
        # Behind scikit-learn's parameters and defaults, which are not ours.
        "LogisticRegression": "tests.differential.stock_logistic.LogisticRegression",
        **{
            name: f"tests.differential.elastic_net_stand_ins.{name}"
            for name in ("ElasticNet", "Lasso")
        },
        # Special cases of our one estimator, with their parameters.
        **{
            name: f"tests.differential.glm_stand_ins.{name}"
            for name in ("GammaRegressor", "PoissonRegressor", "TweedieRegressor")
        },
    },
    "sklearn.linear_model._glm": {
        "_GeneralizedLinearRegressor": "tests.differential.glm_stand_ins.StandIn",
    },
    "sklearn.ensemble": {
        # Behind scikit-learn's parameters and defaults, which are not ours.
        **{
            name: f"tests.differential.stock_gradient_boosting.{name}"
            for name in (
                "GradientBoostingClassifier",
                "GradientBoostingRegressor",
                "HistGradientBoostingClassifier",
                "HistGradientBoostingRegressor",
            )
        },
        **{
            name: f"sklearn_textbook.ensemble.{name}"
            for name in (
                "AdaBoostClassifier",
                "BaggingClassifier",
                "BaggingRegressor",
                "ExtraTreesClassifier",
                "ExtraTreesRegressor",
                "RandomForestClassifier",
                "RandomForestRegressor",
                "StackingClassifier",
                "StackingRegressor",
                "VotingClassifier",
            )
        },
        "VotingRegressor": "sklearn_textbook.ensemble.AveragingRegressor",
    },
}

#: Estimators that are not swapped, nor made of swapped ones: a case of a test that
#: bears such a name tests nothing of ours.
STOCK = {
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "RandomTreesEmbedding",
    "cv",  # LogisticRegressionCV
}

#: Tests of LogisticRegressionCV alone, which is not swapped, nor is what it is made of.
#: (In others it is compared with LogisticRegression, which is.)
STOCK_TESTS = {
    f"test_logistic.py::{name}"
    for name in (
        "test_LogisticRegressionCV_elasticnet_attribute_shapes",
        "test_LogisticRegressionCV_no_refit",
        "test_logistic_cv_mock_scorer",
        "test_logistic_cv_refit_false_non_elasticnet",
        "test_logistic_cv_sparse",
        "test_logistic_regressioncv_class_weights",
        "test_logistic_regression_path_coefs_multinomial",
        "test_logistic_regression_path_convergence_fail",
        "test_logistic_regression_path_init_coefs",
        "test_logisticregressioncv_warns_with_use_legacy_attributes",
        "test_lr_cv_scores_differ_when_sample_weight_is_requested",
        "test_lr_cv_scores_without_enabling_metadata_routing",
        "test_lr_scoring_warns",
    )
}

#: Long tests that cross many parameters. Of their cases, as many are run as it takes
#: for every two values to meet; all if more tables are asked for.
CROSSING = {
    "test_bagging.py::test_sparse_classification",
    "test_base.py::test_linear_regression_sample_weight_consistency",
    "test_forest.py::test_forest_classifier_oob",
    "test_forest.py::test_forest_regressor_oob",
    "test_logistic.py::test_logistic_regression_sample_weights",
    "test_pca.py::test_pca_sparse",
}

#: Tests that take many seconds for what tests of ours ask for, too. They are run if
#: more tables are asked for.
LONG = {
    # A hundred calibrated support vector machines; ours are compared with plain loops
    # over the members (tests/ensemble/test_bagging.py).
    "test_bagging.py::test_oob_score_classification",
}

#: Fixtures that take longer than the tests that ask for them, which all make them anew:
#: made once for each of their parameters.
SLOW_FIXTURES = {"glm_dataset"}

#: Modules whose classes serve many tests as members or as yardsticks: they are swapped
#: where their own tests are run, and stay as they are for the others.
ONLY_FOR_OWN_TESTS = "sklearn.linear_model"


def find_our_classes(config):
    """Our class for each of the swapped names, by module and name."""
    is_own = any(ONLY_FOR_OWN_TESTS in str(argument) for argument in config.args)
    ours = {}
    for module, names in SWAPPED.items():
        if module.startswith(ONLY_FOR_OWN_TESTS) and not is_own:
            continue
        for name, path in names.items():
            our_module, _, our_name = path.rpartition(".")
            ours[module, name] = getattr(importlib.import_module(our_module), our_name)
    return ours


def name_file(module):
    """The file of a test module; of two of the same name, one with its folder."""
    *folders, name = module.split(".")
    folder = "_hist_gradient_boosting"
    return f"{folder}/{name}.py" if folder in folders else f"{name}.py"


def make_key(item):
    """``file::function[case]`` of a collected test."""
    return f"{name_file(item.module.__name__)}::{item.name}"


def drop_case(key):
    """The key without its case."""
    return key.partition("[")[0]


def mark_expected_failures(items, declared):
    """Mark the declared tests; the keys of those among them that were collected."""
    used = set()
    for item in items:
        case = make_key(item)
        key = case if case in declared else drop_case(case)
        if key in declared:
            used.add(key)
            is_strict = case not in ROUNDING_DECIDES
            item.add_marker(pytest.mark.xfail(reason=declared[key], strict=is_strict))
    return used


def find_unknown(items, declared, used):
    """Declared keys that name no test of the collected files, or no case of it."""
    modules = {name_file(item.module.__name__): item.module for item in items}
    collected = {drop_case(make_key(item)) for item in items}
    unknown = []
    for key in sorted(set(declared) - used):
        file, _, function = drop_case(key).partition("::")
        is_gone = file in modules and not hasattr(modules[file], function)
        if is_gone or drop_case(key) in collected:
            unknown.append(key)
    return unknown


def list_pairs(item):
    """Every two values of a case's parameters; a tuple is several parameters."""
    values = set()
    for name, of in item.callspec.params.items():
        parts = of if isinstance(of, tuple) else [of]
        values |= {(name, place, repr(part)) for place, part in enumerate(parts)}
    return set(combinations(sorted(values), 2))


def cover_pairs(items, declared):
    """Few cases of a test in which every two values meet, and all that are declared."""
    pairs = {item: list_pairs(item) for item in items}
    chosen = {item for item in items if make_key(item) in declared}
    missing = set().union(*pairs.values()) - set().union(*map(pairs.get, chosen))
    while missing:
        best = max(items, key=lambda item: len(pairs[item] & missing))
        chosen.add(best)
        missing -= pairs[best]
    return chosen


def tests_stock(item):
    """Whether a test has nothing of ours."""
    names = item.name.partition("[")[2].rstrip("]").split("-")
    return not STOCK.isdisjoint(names) or drop_case(make_key(item)) in STOCK_TESTS


def choose_cases(items, declared):
    """The tests to run, and those left out: of stock estimators, or repetitions.

    Sparse matrices are read as sparse arrays are, which tests/test_common.py checks for
    every estimator: of two cases that differ in this alone, one is run.
    """
    left_out, crossed = set(), defaultdict(list)
    keys = set(map(make_key, items))
    for item in items:
        key = make_key(item)
        test, twin = drop_case(key), key.replace("_matrix", "_array")
        if tests_stock(item):
            left_out.add(item)
        elif FACTOR == 1 and (test in LONG or (twin != key and twin in keys)):
            left_out |= set() if key in declared else {item}
        elif test in CROSSING and FACTOR == 1:
            crossed[test].append(item)
    for cases in crossed.values():
        left_out |= set(cases) - cover_pairs(cases, declared)
    chosen = [item for item in items if item not in left_out]
    return chosen, [item for item in items if item in left_out]


def pytest_configure(config):
    if FACTOR == 1:
        # Processes take seconds to start. Tests of ours grow members in processes
        # (tests/ensemble/test_more_machines.py).
        joblib.parallel_config("threading")
    # The stock estimators build on private methods of each other: all are imported
    # first, so that they keep what they build on.
    for module in SWAPPED:
        importlib.import_module(module)
    for (module, name), our_class in find_our_classes(config).items():
        setattr(importlib.import_module(module), name, our_class)


def pytest_collection_modifyitems(config, items):
    our_classes = find_our_classes(config)
    for module in {item.module for item in items}:
        for (_, name), our_class in our_classes.items():
            if getattr(module, name, our_class) is not our_class:
                raise pytest.UsageError(f"{module.__name__}.{name} is not ours")
    used = mark_expected_failures(items, EXPECTED_FAILURES)
    unknown = find_unknown(items, EXPECTED_FAILURES, used)
    if unknown:
        raise pytest.UsageError(f"declared, but there is no such test: {unknown}")
    items[:], left_out = choose_cases(items, EXPECTED_FAILURES)
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def make_once(make):
    """The function of a fixture that keeps what it made, and gives copies."""
    made = {}

    @functools.wraps(make)
    def make_or_copy(request, **others):
        key = repr((request.param, others))
        if key not in made:
            made[key] = make(request=request, **others)
        return copy.deepcopy(made[key])

    return make_or_copy


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    is_slow = fixturedef.argname in SLOW_FIXTURES
    if is_slow and not hasattr(fixturedef.func, "__wrapped__"):
        fixturedef.func = make_once(fixturedef.func)


def pytest_report_header(config):
    return [
        f"{module}.{name} is {our_class.__module__}.{our_class.__qualname__}"
        for (module, name), our_class in find_our_classes(config).items()
    ]
