"""scikit-learn's own tests of what it has, too, passed by ours."""

import os
import re
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest

from tests.differential import sklearn_swap
from tests.differential.sklearn_expected_failures import EXPECTED_FAILURES

ROOT = Path(__file__).parents[2]

#: Tests of scikit-learn 1.9.1, and of how many cases at least: fewer mean that they
#: were not collected. Of test_export only what goes through export_graphviz:
#: export_text and plot_tree check that they are given scikit-learn's own two classes.
BOOSTING = "sklearn.ensemble.tests.test_weight_boosting"
HISTOGRAMS = "sklearn.ensemble._hist_gradient_boosting.tests"
DISCRIMINANT = "sklearn.tests.test_discriminant_analysis"
LINEAR = "sklearn.linear_model.tests.test_base"
LOGISTIC = "sklearn.linear_model.tests.test_logistic"
COORDINATES = "sklearn.linear_model.tests.test_coordinate_descent"
TREES, EXPORT = "sklearn.tree.tests", "sklearn.tree.tests.test_export"
SUITES = {
    "trees": (
        [
            f"{TREES}.test_tree",
            f"{TREES}.test_monotonic_tree",
            f"{TREES}.test_split",
            f"{EXPORT}::test_graphviz_toy",
            f"{EXPORT}::test_graphviz_feature_class_names_array_support",
            f"{EXPORT}::test_graphviz_errors",
            f"{EXPORT}::test_criterion_in_gradient_boosting_graphviz",
            f"{EXPORT}::test_precision",
        ],
        350,
    ),
    "forests": (["sklearn.ensemble.tests.test_forest"], 230),
    # Those of the regressor in the same file are not of ours.
    "AdaBoost": (
        [
            f"{BOOSTING}::{name}"
            for name in (
                "test_oneclass_adaboost_proba",
                "test_classification_toy",
                "test_iris",
                "test_staged_predict",
                "test_gridsearch",
                "test_pickle",
                "test_importances",
                "test_adaboost_classifier_sample_weight_error",
                "test_estimator",
                "test_sample_weights_infinite",
                "test_sparse_classification",
                "test_multidimensional_X",
                "test_adaboostclassifier_without_sample_weight",
                "test_adaboost_consistent_predict",
                "test_adaboost_negative_weight_error",
                "test_adaboost_numerically_stable_feature_importance_with_small_weights",
                "test_adaboost_decision_function",
            )
        ],
        17,
    ),
    "output codes": (
        [
            f"sklearn.tests.test_multiclass::{name}"
            for name in (
                "test_ecoc_exceptions",
                "test_ecoc_fit_predict",
                "test_ecoc_gridsearch",
                "test_ecoc_float_y",
                "test_ecoc_delegate_sparse_base_estimator",
            )
        ],
        3,
    ),
    "gradient boosting": (["sklearn.ensemble.tests.test_gradient_boosting"], 95),
    # Those that read the nodes of trees, or ask for private methods, are not of ours.
    "gradient boosting with histograms": (
        [
            *(
                f"{HISTOGRAMS}.test_gradient_boosting::{name}"
                for name in (
                    "test_init_parameters_validation",
                    "test_early_stopping_regression",
                    "test_early_stopping_classification",
                    "test_absolute_error",
                    "test_absolute_error_sample_weight",
                    "test_gamma_y_positive",
                    "test_gamma",
                    "test_quantile_asymmetric_error",
                    "test_poisson_y_positive",
                    "test_poisson",
                    "test_missing_values_trivial",
                    "test_missing_values_resilience",
                    "test_zero_division_hessians",
                    "test_missing_values_minmax_imputation",
                    "test_infinite_values",
                    "test_consistent_lengths",
                    "test_infinite_values_missing_values",
                    "test_string_target_early_stopping",
                    "test_zero_sample_weights_regression",
                    "test_zero_sample_weights_classification",
                    "test_sample_weight_effect",
                    "test_early_stopping_on_test_set_with_warm_start",
                    "test_staged_predict",
                    "test_unknown_categories_nan",
                    "test_categorical_spec_errors",
                    "test_categorical_spec_errors_with_feature_names",
                    "test_categorical_spec_no_categories",
                    "test_categorical_bad_encoding_errors",
                    "test_uint8_predict",
                    "test_interaction_cst_numerically",
                    "test_class_weights",
                    "test_unknown_category_that_are_negative",
                    "test_X_val_in_fit",
                    "test_X_val_raises_missing_y_val",
                    "test_X_val_raises_with_early_stopping_false",
                    "test_dataframe_categorical_errors",
                    "test_categorical_different_order_same_model",
                    "test_pandas_nullable_dtype",
                )
            ),
            *(
                f"{HISTOGRAMS}.test_monotonic_constraints::{name}"
                for name in (
                    "test_predictions",
                    "test_input_error",
                    "test_input_error_related_to_feature_names",
                )
            ),
            *(
                f"{HISTOGRAMS}.test_warm_start::{name}"
                for name in (
                    "test_max_iter_with_warm_start_validation",
                    "test_warm_start_yields_identical_results",
                    "test_warm_start_early_stopping",
                    "test_warm_start_equal_n_estimators",
                    "test_warm_start_clear",
                )
            ),
        ],
        80,
    ),
    "bagging": (["sklearn.ensemble.tests.test_bagging"], 70),
    "voting": (["sklearn.ensemble.tests.test_voting"], 36),
    "stacking": (["sklearn.ensemble.tests.test_stacking"], 64),
    # Those of private functions in the same file are not of ours.
    "linear regression": (
        [
            f"{LINEAR}::{name}"
            for name in (
                "test_linear_regression",
                "test_linear_regression_vs_lstsq",
                "test_linear_regression_sample_weights",
                "test_raises_value_error_if_positive_and_sparse",
                "test_raises_value_error_if_sample_weights_greater_than_1d",
                "test_fit_intercept",
                "test_linear_regression_sparse",
                "test_linear_regression_sparse_equal_dense",
                "test_linear_regression_multiple_outcome",
                "test_linear_regression_sparse_multiple_outcome",
                "test_linear_regression_positive",
                "test_linear_regression_positive_multiple_outcome",
                "test_linear_regression_positive_vs_nonpositive",
                "test_linear_regression_positive_vs_nonpositive_when_positive",
                "test_inplace_data_preprocessing",
                "test_linear_regression_sample_weight_consistency",
            )
        ],
        30,
    ),
    "truncated SVD": (["sklearn.decomposition.tests.test_truncated_svd"], 45),
    "principal components": (["sklearn.decomposition.tests.test_pca"], 170),
    "generalised linear models": (
        ["sklearn.linear_model._glm.tests.test_glm"],
        250,
    ),
    "logistic regression": ([LOGISTIC], 200),
    # Those of several targets, of private functions and of the classes with
    # cross-validation in the same file are not of ours; nor is check_input.
    "elastic net": (
        [
            f"{COORDINATES}::{name}"
            for name in (
                "test_lasso_zero",
                "test_enet_nonfinite_params",
                "test_lasso_toy",
                "test_enet_toy",
                "test_lasso_dual_gap",
                "test_warm_start",
                "test_lasso_alpha_warning",
                "test_lasso_positive_constraint",
                "test_enet_positive_constraint",
                "test_lasso_readonly_data",
                "test_elasticnet_precompute_gram_weighted_samples",
                "test_elasticnet_precompute_gram",
                "test_warm_start_convergence",
                "test_warm_start_convergence_with_regularizer_decrement",
                "test_random_descent",
                "test_lasso_non_float_y",
                "test_enet_float_precision",
                "test_coef_shape_not_zero",
                "test_enet_sample_weight_consistency",
                "test_enet_cv_grid_search",
                "test_enet_ridge_consistency",
                "test_enet_ols_consistency",
                "test_sample_weight_invariance",
            )
        ],
        50,
    ),
    # Those of quadratic discriminant analysis in the same file are not of ours.
    "discriminant analysis": (
        [
            f"{DISCRIMINANT}::{name}"
            for name in (
                "test_lda_predict",
                "test_lda_predict_proba",
                "test_lda_priors",
                "test_lda_coefs",
                "test_lda_transform",
                "test_lda_solver_agreement",
                "test_lda_explained_variance_ratio",
                "test_lda_orthogonality",
                "test_lda_scaling",
                "test_lda_store_covariance",
                "test_lda_shrinkage",
                "test_lda_ledoitwolf",
                "test_lda_dimension_warning",
                "test_lda_dtype_match",
                "test_lda_numeric_consistency_float32_float64",
                "test_raises_value_error_on_same_number_of_classes_and_samples",
                "test_get_feature_names_out",
            )
        ],
        35,
    ),
}

#: Suites that share a process, which takes seconds to start. Those of linear models are
#: apart: the others use scikit-learn's as members.
PROCESSES = [
    ("trees", "bagging", "AdaBoost", "output codes", "discriminant analysis"),
    ("gradient boosting", "gradient boosting with histograms", "voting", "stacking"),
    ("forests", "truncated SVD", "principal components"),
    (
        *("linear regression", "generalised linear models", "logistic regression"),
        "elastic net",
    ),
]


def run_their_tests(tests, directory):
    """Run tests in a fresh process; pytest's output and its cases by outcome."""
    report = directory / "report.xml"
    # A configuration of its own, or pytest would apply this project's.
    (directory / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    search_path = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [
            # Their assertions are not rewritten, nor are their files parsed where they
            # fail as declared: both take longer than many tests.
            *(sys.executable, "-m", "pytest", "-q", "--tb=native", "--assert=plain"),
            *("-p", "tests.differential.sklearn_swap"),
            *("-c", str(directory / "pytest.ini"), f"--junitxml={report}"),
            *("--pyargs", *tests),
        ],
        cwd=directory,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(filter(None, search_path)),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            # Their conftest gives this share of the cores to BLAS, whatever other
            # variables say. On busy cores two threads can take ten times as long.
            "PYTEST_XDIST_WORKER_COUNT": str(os.cpu_count()),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    cases = {"passed": [], "failed": [], "declared": [], "skipped": []}
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            cases[_find_outcome(case)].append(case.get("name"))
    return done, cases


def _find_outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "declared" if skipped.get("type") == "pytest.xfail" else "skipped"


@pytest.mark.slow
@pytest.mark.parametrize("suites", PROCESSES, ids=", ".join)
def test_everything_passes_but_the_declared(suites, tmp_path):
    tests = [test for suite in suites for test in SUITES[suite][0]]
    least_cases = sum(SUITES[suite][1] for suite in suites)
    files = {sklearn_swap.name_file(test.partition("::")[0]) for test in tests}
    declared = [key for key in EXPECTED_FAILURES if key.partition("::")[0] in files]
    done, cases = run_their_tests(tests, tmp_path)
    summary = done.stdout.strip().splitlines()[-1:]
    print(*summary)
    assert not cases["failed"], "\n".join([*cases["failed"], done.stdout[-4000:]])
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert len(cases["passed"]) > least_cases, summary
    assert len(cases["declared"]) >= len(declared), cases["declared"]


def test_every_suite_is_run():
    assert sorted(suite for suites in PROCESSES for suite in suites) == sorted(SUITES)


class Item:
    """What the plugin asks of a collected test."""

    module = ModuleType("test_tree")
    module.test_xor = None

    def __init__(self, name, **params):
        self.name, self.markers = name, []
        self.callspec = SimpleNamespace(params=params)

    def add_marker(self, marker):
        self.markers.append(marker.mark)


@pytest.fixture
def collect(monkeypatch):
    """Collect tests with a table of declared failures: those that would be run."""

    def collect(items, declared=()):
        monkeypatch.setattr(
            sklearn_swap, "EXPECTED_FAILURES", dict.fromkeys(declared, "wrongly")
        )
        config = SimpleNamespace(args=[], hook=SimpleNamespace())
        config.hook.pytest_deselected = lambda items: None
        sklearn_swap.pytest_collection_modifyitems(config, items)
        return items

    return collect


def test_declared_test_has_to_fail(collect):
    (item,) = collect([Item("test_xor")], ["test_tree.py::test_xor"])
    (mark,) = item.markers
    assert (mark.name, mark.kwargs["strict"]) == ("xfail", True)
    (item,) = collect([Item("test_xor")])
    assert not item.markers


def test_declared_test_has_to_exist(collect):
    unknown = ["test_tree.py::test_gone", "test_tree.py::test_xor[case]"]
    message = f"no such test: {unknown}"
    with pytest.raises(pytest.UsageError, match=re.escape(message)):
        collect([Item("test_xor")], unknown)


def test_module_that_is_not_swapped_is_refused(collect):
    item = Item("test_xor")
    item.module = ModuleType("test_tree")
    item.module.PCA = object
    with pytest.raises(pytest.UsageError, match=r"test_tree\.PCA is not ours"):
        collect([item])


def test_any_two_values_of_a_crossing_meet(collect, monkeypatch):
    monkeypatch.setattr(sklearn_swap, "CROSSING", {"test_tree.py::test_xor"})
    monkeypatch.setattr(sklearn_swap, "FACTOR", 1)
    values = list(product("ab", "cd", ("ef", "gh"), "ij"))
    items = [
        Item(f"test_xor[{number}]", a=a, b=b, c=tuple(c), d=d)
        for number, (a, b, c, d) in enumerate(values)
    ]
    chosen = collect(items.copy(), ["test_tree.py::test_xor[15]"])
    assert items[15] in chosen
    assert len(chosen) < 8
    for first, second in combinations(range(4), 2):
        met = {(values[i][first], values[i][second]) for i in map(items.index, chosen)}
        assert len(met) == 4
    monkeypatch.setattr(sklearn_swap, "FACTOR", 2)
    assert collect(items.copy()) == items


def test_tests_of_stock_estimators_are_left_out(collect, monkeypatch):
    items = [Item("test_xor[42-RandomTreesEmbedding]"), Item("test_xor[42-Tree]")]
    assert collect(items.copy()) == items[1:]
    monkeypatch.setattr(sklearn_swap, "STOCK_TESTS", {"test_tree.py::test_xor"})
    assert collect(items.copy()) == []


def test_one_of_sparse_matrices_and_arrays_is_run(collect, monkeypatch):
    monkeypatch.setattr(sklearn_swap, "FACTOR", 1)
    names = ("csr_matrix-1", "csr_array-1", "csr_matrix-2", "coo_matrix", "coo_array")
    items = [Item(f"test_xor[{name}]") for name in names]
    declared = ["test_tree.py::test_xor[coo_matrix]"]
    assert collect(items.copy(), declared) == items[1:]
    assert collect(items.copy()) == [items[1], items[2], items[4]]
    monkeypatch.setattr(sklearn_swap, "FACTOR", 2)
    assert collect(items.copy()) == items
