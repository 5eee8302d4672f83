"""The quick tests: every feature once, in at most 90 seconds on two cores.

``pytest`` without paths runs these, ``pytest --all`` runs everything. ``python -m
tests.quick`` runs them in one process and lists the public classes and functions that
they do not use.
"""

import sys
import threading
from inspect import isclass, unwrap

#: Files, folders and tests.
QUICK = [
    "sklearn_textbook",
    "doc/user_guide",
    "tests/golden",
    "tests/test_common.py::test_scikit_learn_check",
    "tests/test_common.py::test_registry_lists_every_public_estimator",
    "tests/test_common.py::test_missing_and_infinite_targets",
    "tests/test_documentation.py",
    "tests/test_import_rules.py",
    "tests/test_packaging.py",
    "tests/test_public_api.py",
    "tests/test_types.py",
    "tests/blocks/test_dask.py::test_a_part_made_again_gets_the_earlier_calls",
    "tests/blocks/test_dask.py::test_one_worker[two classes]",
    "tests/blocks/test_dask.py::test_partitions_that_differ",
    "tests/blocks/test_dask.py::test_two_workers[squared error]",
    *(
        f"tests/blocks/test_block_trees.py::test_tree_of_blocks_is_that_of_the_table[{case}]"
        for case in ("gini", "C4.5", "forest", "stumps")
    ),
    "tests/contract/test_callbacks.py",
    "tests/contract/test_declared_classes.py",
    "tests/contract/test_parameters.py",
    "tests/contract/test_written_files.py",
    "tests/criteria/test_missing.py",
    "tests/criteria/test_scores.py",
    "tests/datasets/test_datasets.py",
    "tests/decomposition/test_svd_methods.py",
    "tests/decomposition/test_truncated_svd.py",
    "tests/discriminant_analysis",
    "tests/encode",
    "tests/growth/test_c45_reference.py::test_random_tables[0]",
    "tests/growth/test_cart_reference.py::test_random_tables[0]",
    "tests/growth/test_gradient_trees.py",
    "tests/growth/test_grown_tree.py",
    "tests/growth/test_id3_reference.py::test_random_tables[0]",
    "tests/growth/test_many_levels.py",
    "tests/growth/test_monotonic_surrogates.py",
    "tests/growth/test_oblique_reference.py",
    "tests/growth/test_regression.py",
    "tests/prune/test_report.py",
    "tests/prune/test_rpart_sequence.py",
    "tests/route/test_many_trees.py",
    "tests/rules/test_c45_rules_reference.py",
    "tests/ensemble/test_boosting_losses.py",
    "tests/ensemble/test_combination_rules.py",
    "tests/ensemble/test_combining_in_use.py",
    "tests/ensemble/test_forest_measures.py",
    "tests/ensemble/test_oblique_forest.py",
    "tests/ensemble/test_out_of_bag_pruning.py",
    "tests/ensemble/test_stacking.py",
    "tests/ensemble/diversity",
    "tests/linear_model/test_dependence.py",
    "tests/linear_model/test_design.py",
    "tests/linear_model/test_generalized_linear.py",
    "tests/linear_model/test_linear_regression.py",
    "tests/linear_model/test_missing.py",
    "tests/linear_model/test_reading.py",
    "tests/explain/test_graphviz.py",
    "tests/explain/test_listed_rules.py",
    "tests/explain/test_page.py::test_the_page_predicts_as_the_model",
    "tests/explain/test_page_browser.py::test_typed_row_lights_its_path",
    "tests/explain/test_text.py",
    "tests/explain/test_threshold_digits.py",
    "tests/exchange/test_onnx.py::test_numbers",
    "tests/exchange/test_source_code.py::test_small_models",
    "tests/exchange/test_trees.py",
    "tests/io/test_arff.py",
    "tests/io/test_c45.py",
    "tests/io/test_c45_writing.py",
    "tests/io/test_column_names.py",
    "tests/io/test_frozen_models.py",
    "tests/io/test_iso_dates.py",
    "tests/io/test_read_table.py",
    "tests/io/test_table_formats.py",
    "tests/inspection/test_kappa_error_display.py",
    "tests/cli/test_cli.py::test_fit_predict_show_on_real_files",
    "tests/cli/test_convert.py",
    "tests/cli/test_help.py",
    "tests/cli/test_html_report.py::test_scores_are_those_of_the_terminal",
    "tests/cli/test_narrow_terminal.py",
    "tests/cli/test_predict.py",
    "tests/cli/test_terminal_session.py::test_numbers_of_models_fit",
    "tests/differential/test_glm.py",
    "tests/differential/test_lm.py",
]


class Calls:
    """What of the package is called, by functions and by methods of classes."""

    def __init__(self):
        self.codes = set()
        self.methods = set()

    def __call__(self, frame, event, _argument):
        if event != "call":
            return
        module = frame.f_globals.get("__name__") or ""
        if not module.startswith("sklearn_textbook"):
            return
        code = frame.f_code
        self.codes.add(code)
        if code.co_argcount and code.co_varnames[0] in ("self", "cls"):
            owner = frame.f_locals[code.co_varnames[0]]
            kind = owner if isclass(owner) else type(owner)
            self.methods.add((kind, code.co_name))

    def pytest_runtest_setup(self):
        """Watch again: an error in here, as that of too deep a recursion, ends it."""
        sys.setprofile(self)

    def has(self, member):
        """Whether a function ran; an estimator was fitted, another class used."""
        if not isclass(member):
            return unwrap(member).__code__ in self.codes
        names = {name for kind, name in self.methods if issubclass(kind, member)}
        return "fit" in names if hasattr(member, "fit") else bool(names)


def main():
    """Run the quick tests; fail if they do, or if a public name is not used."""
    import pytest

    from tests.public_api import public_objects

    calls = Calls()
    threading.setprofile(calls)
    sys.setprofile(calls)
    arguments = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    status = pytest.main(arguments, plugins=[calls])
    sys.setprofile(None)
    threading.setprofile(None)
    objects = public_objects()
    unused = [name for name, member in objects.items() if not calls.has(member)]
    print(f"{len(objects) - len(unused)} of {len(objects)} public names are used")
    for name in unused:
        print(f"not used: {name}")
    return bool(status or unused)


if __name__ == "__main__":
    sys.exit(main())
