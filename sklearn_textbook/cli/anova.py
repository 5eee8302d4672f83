"""The command ``anova``: tests of the terms of a formula, or of nested formulas."""

from __future__ import annotations

from sklearn_textbook.cli.algorithms import make_estimator, make_settings
from sklearn_textbook.cli.blocks import Heading, Line, Note
from sklearn_textbook.cli.errors import explain_error, make_fit_error
from sklearn_textbook.cli.formula import choose_algorithm
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.training_table import (
    keep_columns,
    leave_out_gaps,
    read_training,
    report_training,
)
from sklearn_textbook.linear_model import anova, compare_models


def report_tests(
    table: str,
    *,
    target: str,
    formulas: list[str],
    algorithm: str | None,
    settings,
    kind: int,
    test: str,
    jobs: int | None,
    **options,
) -> None:
    """Fit models of formulas to a table, and print the tests of their terms."""
    output = Output()
    settings = make_settings(settings, 0)
    training = read_training(table, target, algorithm or "cart", options, settings)
    training = keep_columns(training, formulas)
    is_classes = training.goal.is_classes
    algorithm = choose_algorithm(algorithm, is_classes)
    models, notes = [], []
    for text in formulas:
        own = [*settings, ("formula", text)]
        model = make_estimator(algorithm, is_classes, own, 0, n_jobs=jobs)
        training, found = leave_out_gaps(training, model)
        notes += found
        models.append(model)
    output.write(report_training(training, options), *map(Note, notes))
    y, weights = training.goal.values, training.weights
    try:
        with show_progress("fitting"):
            for model in models:
                training.fit(model)
            if len(models) == 1:
                rows = (training.features, y, weights)
                table_of_tests = anova(models[0], *rows, type=kind, test=test)
            else:
                table_of_tests = compare_models(*models, test=test)
    except (ValueError, TypeError) as error:
        reason = explain_error(error).rstrip(".")
        raise make_fit_error(reason, training.file.path) from error
    if len(models) == 1:
        how = f"type {kind}" if test != "wald" else f"type {kind}, Wald"
        output.write(Heading("tests of terms", how), table_of_tests.tabulate())
        return
    output.write(Heading("comparison of models"), table_of_tests.tabulate(), "")
    for number, text in enumerate(formulas, start=1):
        output.write(
            Line(f": {training.goal.name} ~ {text.strip()}", f"model {number}")
        )
