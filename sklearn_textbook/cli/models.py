"""Kinds of fitted models, and what the commands report of each."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from sklearn_textbook._contract.registry import ESTIMATORS
from sklearn_textbook._contract.text_table import BAR_WIDTH, Bar, TextTable
from sklearn_textbook.cli.blocks import (
    Blocks,
    Heading,
    Line,
    Note,
    RuleLines,
    Summary,
    Tree,
    count_more,
)
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.cli.report import report_confusions, show_label, write_count
from sklearn_textbook.io.naming import count_things
from sklearn_textbook.tree import export_rules
from sklearn_textbook.tree.explain.rules import collect_rules
from sklearn_textbook.tree.rules import tabulate_rules

#: Rules and pruned branches that ``fit`` lists, and columns with their importance.
MOST_RULES = 20
MOST_BRANCHES = 5
MOST_IMPORTANCES = 20
#: Surrogates of a test that ``fit`` prints; ``show`` prints all.
MOST_SURROGATES = 1
#: Columns that ``fit`` lists, and components or classes side by side.
MOST_ROWS = 40
MOST_COLUMNS = 6
#: Models of subsets of the columns that ``fit`` lists.
MOST_MODELS = 10
#: Kinds of separation of classes with which tests are meaningless.
_SEPARATED = ("complete", "quasi_complete")
_IN_FULL = "; show prints all of a saved model"


# --------------------------------------------------------------- kinds of models
def is_ensemble(estimator):
    """Return whether it is an ensemble of trees or of named members."""
    has_members = hasattr(estimator, "_list_members") or is_combination(estimator)
    return has_members and hasattr(estimator, "estimators_")


def is_combination(estimator) -> bool:
    """Return whether it is an ensemble of named members, of any kind."""
    return hasattr(estimator, "named_estimators_")


def is_other_model(estimator):
    """Return whether it is a linear model, components or discriminants."""
    name = type(estimator).__name__
    if ESTIMATORS[name].saved == "either":
        return not hasattr(estimator, "named_estimators_")
    return ESTIMATORS[name].saved == "values" or name == "MultiResponseLinearRegression"


def is_rule_list(estimator) -> bool:
    """Return whether the estimator is a list of rules."""
    return hasattr(estimator, "rule_list_")


def describe_model(estimator):
    """Describe a tree, a list of rules, an ensemble or another model, and its size."""
    name = type(estimator).__name__
    if is_other_model(estimator):
        return _describe_other_model(estimator)
    if is_ensemble(estimator):
        return _describe_ensemble(estimator)
    if not is_rule_list(estimator):
        return f"{name}, {_describe_size(estimator.tree_)}"
    rules = count_things(estimator.n_rules_, "rule")
    size = _describe_size(estimator.rule_list_.tree)
    return f"{name}, {rules} and a default, from a tree of {size}"


def _describe_size(tree) -> str:
    leaves = count_things(tree.n_leaves, "leaf").replace("leafs", "leaves")
    return f"{leaves}, depth {tree.max_depth}"


def _describe_other_model(estimator) -> str:
    """Describe a model by its class and size."""
    name = type(estimator).__name__
    if hasattr(estimator, "coef_"):
        shape = np.shape(estimator.coef_)
        per_class = " per class" if len(shape) > 1 and shape[0] > 1 else ""
        return f"{name}, {count_things(shape[-1], 'coefficient')}{per_class}"
    if hasattr(estimator, "estimators_"):
        return f"{name}, {count_things(len(estimator.estimators_), 'member')}"
    return f"{name}, {count_things(len(estimator.components_), 'component')}"


def _describe_ensemble(estimator) -> str:
    """Describe an ensemble by algorithm and number of trees or named members."""
    if is_combination(estimator):
        count = count_things(len(estimator._list_fitted()), "member")
        return f"{type(estimator).__name__}, {count}"
    members = estimator._list_members()
    kind, member = type(estimator).__name__, type(members[0]).__name__
    base = member.removesuffix("Classifier").removesuffix("Regressor")
    base = {"ObliqueTree": "oblique"}.get(base, base)
    trees = count_things(len(members), f"{base} tree")
    return f"{kind}, {trees}"


def report_model(model, training, settings, max_depth_shown, save) -> Blocks:
    """Report a fitted model according to its kind.

    ``settings`` are the parameters that the user has set; ``save`` is the model file,
    which ``show`` prints in full, or None. ``training`` is None for a table in blocks.
    """
    estimator = model.estimator
    if is_ensemble(estimator):
        yield Heading("ensemble", describe_model(estimator))
    if is_combination(estimator):
        yield from report_members(estimator, MOST_ROWS)
    elif is_other_model(estimator):
        yield Heading("model", describe_model(estimator))
        yield from report_other_model(estimator, model.schema.names, MOST_ROWS)
    elif is_rule_list(estimator):
        yield from _report_rule_list(estimator, training, save)
    elif is_ensemble(estimator):
        yield report_sizes(estimator)
        yield from _report_importances(model)
    else:
        yield from _report_tree(model, settings, max_depth_shown, save)


def _report_tree(model, settings, max_depth_shown, save):
    """Report a tree, its rules, and how it was pruned."""
    estimator = model.estimator
    yield Heading("tree", describe_model(estimator))
    yield Tree(estimator, max_depth_shown, MOST_SURROGATES)
    if not {"pruning", "ccp_alpha"} & {name for name, _ in settings}:
        yield from map(Note, describe_default_pruning(estimator))
    yield Heading("rules", "IF conditions THEN prediction [support, confidence]")
    remedy = _explain_show(save, " --as rules --all")
    yield report_rules(estimator, MOST_RULES, remedy, MOST_SURROGATES)
    if hasattr(estimator, "pruning_report_"):
        yield Heading("pruning", "the largest pruned branches")
        yield from report_pruning(estimator, MOST_BRANCHES)
    if estimator.tree_.n_leaves > 1:
        yield from _report_importances(model)


def _explain_show(save, options: str = "") -> str:
    """Return a note with the command that shows all rules."""
    first = "--save FILE and " if save is None else ""
    command = f"sklearn-textbook show {'FILE' if save is None else save}{options}"
    return f"; {first}{command} print{'' if first else 's'} them all"


def _report_importances(model):
    yield Heading("importances", "share in the decrease of impurity")
    importances = compute_importances(model.estimator)
    most = min(MOST_IMPORTANCES, np.count_nonzero(importances))
    yield report_importances(model.schema.names, importances, most)


def _report_rule_list(estimator, training, save):
    """Report the rules, and their statistics on the training rows."""
    yield Heading("rules", describe_model(estimator))
    yield report_rules(estimator, MOST_RULES, _explain_show(save), is_numbered=True)
    if training is None:
        return
    with show_progress("evaluating the rules"):
        evaluation = estimator.evaluate(
            training.features, training.goal.values, training.weights
        )
    yield Heading(
        "use of the rules", "training; advantage: errors added without the rule"
    )
    yield from report_evaluation(evaluation, MOST_RULES)
    yield Heading("confusion matrix", "training")
    yield report_confusions(evaluation.confusion, evaluation.classes)


# ----------------------------------------------------------------- trees and rules
def report_rules(
    estimator,
    most=None,
    remedy: str = "",
    max_surrogates=None,
    *,
    is_numbered: bool = False,
) -> RuleLines:
    """Report rules: of a tree those of the most weight, of a list the first ones."""
    text = export_rules(estimator, max_rules=None, max_surrogates=max_surrogates)
    lines, default, what = text.splitlines(), [], "rules with less support"
    if is_rule_list(estimator):
        default, what = [lines.pop()], "rules"
    elif most is not None and len(lines) > most:
        rules = collect_rules(estimator.tree_, inner_nodes=False)
        order = np.argsort([-rule.weight for rule in rules], kind="stable")
        # The heaviest ones, in the order of the tree, come first.
        lines = [lines[i] for i in [*np.sort(order[:most]), *order[most:]]]
    shown = [*_take_first(lines, most, f"{what}{remedy}"), *default]
    marks = [""] * len(shown)
    if is_numbered and lines:
        n_rules = len(lines[:most])
        width = len(str(n_rules - 1))
        marks[:n_rules] = [f"{number:>{width}}  " for number in range(n_rules)]
        marks[-1] = " " * (width + 2)
    return RuleLines(shown, marks)


def _take_first(lines, most, what):
    """Take the first lines, and one that counts the others."""
    more = 0 if most is None else len(lines) - most
    return [*lines[:most], *([f"... and {more:,} {what}"] if more > 0 else [])]


def report_pruning(estimator, most: int | None = None) -> Blocks:
    """Report how a tree was pruned, with some of the pruned branches."""
    from sklearn_textbook.tree.explain.pruning_report import list_pruning

    for block in list_pruning(estimator, max_rows=most):
        yield Line(block) if isinstance(block, str) else block


def describe_default_pruning(estimator):
    """List notes on a tree that was pruned by default."""
    if not hasattr(estimator, "pruning_path_") or estimator.pruning is None:
        return []
    before, after = estimator.pruning_report_.n_leaves_grown, estimator.tree_.n_leaves
    if before == after:
        return []
    leaves = "leaf" if after == 1 else "leaves"
    how = "one-standard-error rule" if estimator.pruning.rule == "1se" else "Gini risk"
    note = (
        f"pruned from {before:,} to {after:,} {leaves} by cost complexity "
        f"({estimator.pruning.cv}-fold cross-validation, {how}); --full disables "
        "pruning"
    )
    return [note]


def report_evaluation(evaluation, most: int | None = None) -> Blocks:
    """Report the statistics of the first rules of a list."""
    header, *lines = tabulate_rules(evaluation.rules)
    rows = [
        [*words[:-1], show_label(rule["class"])]
        for words, rule in zip(lines[:most], evaluation.rules, strict=False)
    ]
    more = _take_first(lines, most, "rules")[len(rows) :]
    if lines:
        heads = [name.lower() for name in header]
        yield TextTable(heads, rows, "r" * (len(heads) - 1) + "l", more)
    default = evaluation.default
    used, wrong = write_count(default["used"]), write_count(default["wrong"])
    label = show_label(default["class"])
    yield f"default class {label}: used {used}, wrong {wrong}"


# ------------------------------------------------------------------------ ensembles
def report_sizes(estimator) -> TextTable:
    """Report how many leaves the trees have, and how deep they are."""
    trees = [member.tree_ for member in estimator._list_members()]
    rows = []
    for what, sizes in (
        ("leaves of a tree", [tree.n_leaves for tree in trees]),
        ("depth of a tree", [tree.max_depth for tree in trees]),
    ):
        ends = np.min(sizes), np.median(sizes), np.max(sizes)
        rows.append([what, *(f"{end:,.1f}".removesuffix(".0") for end in ends)])
    return TextTable(["", "smallest", "median", "largest"], rows)


def compute_importances(estimator) -> np.ndarray:
    """Compute the fraction of each column in the decrease of impurity.

    Without importances of the ensemble, the mean over its trees, which for members of
    some columns is 0 in the others; all zero if no tree has a split.
    """
    if hasattr(estimator, "feature_importances_"):
        return estimator.feature_importances_
    total = np.zeros(estimator.n_features_in_)
    for member, columns in zip(
        estimator._list_members(), estimator._list_columns(), strict=True
    ):
        seen = np.arange(len(total)) if columns is None else columns
        # Bagging may draw a column twice.
        np.add.at(total, seen, member.tree_.compute_feature_importances())
    return total / total.sum() if total.sum() > 0 else total


def report_importances(names, importances, most: int | None = None) -> TextTable:
    """Report the importances of the columns, the largest first."""
    order = np.argsort(-importances, kind="stable")
    largest = importances.max()
    rows = [
        [
            names[column],
            f"{importances[column]:.3f}",
            Bar(importances[column] / largest if largest > 0 else 0.0),
        ]
        for column in order[:most]
    ]
    more = []
    if most is not None and len(order) > most:
        rest = importances[order[most:]].sum()
        columns = count_things(len(order) - most, "more column")
        what = f"with {rest:.3f} together" if rest > 0 else "without a split"
        more = [f"... and {columns} {what}"]
    heads, least = ("column", "share", ""), (0, 5, BAR_WIDTH)
    return TextTable(heads, rows, "lrl", more, least=least)


def list_members(estimator) -> list[tuple[str, object]]:
    """List the names of the members of an ensemble and these, with its classes.

    Members that have learned numbers of classes are copied, and predict the classes.
    Empty for all that has no named members.
    """
    if not is_combination(estimator):
        return []
    return [(name, relabel(one, estimator)) for name, one in estimator._list_fitted()]


def relabel(member, owner):
    """Copy a member, or a tree of it, with the classes whose numbers it has learned."""
    if not hasattr(member, "classes_") or not owner._fits_members():
        return member
    member = copy.copy(member)
    member.classes_ = owner.classes_[np.asarray(member.classes_, dtype=np.intp)]
    return member


def report_members(estimator, most: int | None = None) -> Blocks:
    """Report the members, their weights, and the coefficients of the second learner.

    ``most`` is the number of rows of a table of coefficients.
    """
    members = list_members(estimator)
    weights = getattr(estimator, "weights_", None)
    if weights is None and hasattr(estimator, "weights"):
        weights = estimator._list_weights()
    written = [[]] * len(members)
    if weights is not None:
        written = [[f"{weight:.4g}"] for weight in weights]
    rows = [
        [name, *weight, describe_model(member)]
        for (name, member), weight in zip(members, written, strict=True)
    ]
    if weights is None:
        yield TextTable(["member", "model"], rows, "l", narrow="wrap last")
    else:
        yield TextTable(["member", "weight", "model"], rows, "lrl", narrow="wrap last")
    if hasattr(estimator, "posterior_table_"):
        # Imported here because it imports scikit-learn.
        from sklearn_textbook.ensemble.model_averaging.summary import tabulate_members

        yield Heading("posterior probabilities", f"weighting {estimator.weighting}")
        yield replace(tabulate_members(estimator), narrow="split")
    final = getattr(estimator, "final_estimator_", None)
    if final is None:
        return
    yield Heading("second learner", describe_model(final))
    coef = np.atleast_2d(getattr(final, "coef_", np.empty((0, 0))))
    names = [name for name, _ in members]
    if coef.shape[1] != len(members):
        names = _name_answers(estimator, names)
    if coef.shape[1] != len(names):
        return  # text columns
    titles = _name_regressions(estimator, len(coef))
    numbers = np.column_stack([np.atleast_1d(final.intercept_), coef]).T
    yield tabulate_numbers(titles, ["intercept", *names], numbers, most)


def _name_answers(estimator, names):
    """Name the input columns of the second learner."""
    if not hasattr(estimator, "classes_"):
        return [*names, *estimator.get_feature_names_out()[len(names) :]]
    classes = [show_label(label) for label in estimator.classes_]
    counts = zip(names, estimator._n_answers, strict=True)
    answers = [
        f"{name} {label}"
        for name, count in counts
        for label in (classes if count == len(classes) else classes[-count:])
    ]
    return [*answers, *estimator.get_feature_names_out()[len(answers) :]]


def _name_regressions(estimator, n_regressions):
    """Name the columns of coefficients."""
    if not hasattr(estimator, "classes_"):
        return ["coefficient"]
    classes = [show_label(label) for label in estimator.classes_]
    # The last class may be the reference, which has no coefficients.
    return classes[-1:] if n_regressions == 1 else classes[:n_regressions]


# --------------------------------------------------------------------- other models
def report_other_model(estimator, names, most: int | None = None) -> Blocks:
    """Report the summary of a model, or some of the numbers that it consists of.

    ``names`` are those of the columns of its table.
    """
    if hasattr(estimator, "posterior_table_"):
        n_models = None if most is None else MOST_MODELS
        yield Summary(estimator, n_models)
        n_more = len(estimator.weights_) - (n_models or len(estimator.weights_))
        yield from count_more(n_more, "more model", _IN_FULL)
    elif hasattr(estimator, "summary"):
        yield Summary(estimator)
        yield from _report_terms(estimator)
    elif hasattr(estimator, "components_"):
        yield from _report_components(estimator, names, most)
    else:
        yield _tabulate_coefficients(estimator, names, most)


def _report_terms(estimator) -> Blocks:
    """Report the tests of the terms of a formula."""
    is_separated = getattr(estimator, "separation_", None) in _SEPARATED
    if is_separated or not estimator.design_.model_terms:
        return
    # Imported here because it imports scikit-learn.
    from sklearn_textbook.linear_model import anova

    try:
        tests = anova(estimator)
    except ValueError:  # with a penalty there are none
        return
    yield Heading("tests of terms", "type 2")
    yield tests.tabulate()


def _tabulate_coefficients(estimator, names, most):
    """Make a table of the coefficients, classes side by side, the intercept first."""
    names = _name_made_columns(estimator, names)
    classes = [str(label) for label in getattr(estimator, "classes_", ())]
    coef, intercept = np.atleast_2d(estimator.coef_), estimator.intercept_
    if coef.shape[1] != len(names):  # one probability of each member
        names = [f"member {number}" for number in range(coef.shape[1])]
    if not classes:
        classes = ["coefficient"]
    elif len(coef) == 1:
        classes = [f"{classes[-1]} against {classes[0]}"]
    numbers = np.column_stack([np.atleast_1d(intercept), coef]).T
    return tabulate_numbers(classes, ["intercept", *names], numbers, most)


def _report_components(estimator, names, most):
    """Report the variances of components, and the loadings of the columns."""
    titles = estimator.get_feature_names_out().tolist()
    fractions = estimator.explained_variance_ratio_
    variances, sums = estimator.explained_variance_, np.cumsum(fractions)
    rows = [
        [title, f"{variance:.5g}", f"{fraction:.3f}", f"{total:.3f}"]
        for title, variance, fraction, total in zip(
            titles[:most], variances, fractions, sums, strict=False
        )
    ]
    yield TextTable(["", "variance", "share", "cumulative"], rows)
    yield Heading("loadings", "coefficients of the columns in the components")
    names = _name_made_columns(estimator, names)
    yield tabulate_numbers(titles, names, estimator.components_.T, most)


def _name_made_columns(estimator, names):
    """Names of the columns that text and missing values were converted to."""
    return vars(estimator)["design_"].names if "design_" in vars(estimator) else names


def tabulate_numbers(titles, names, numbers, most: int | None = None) -> TextTable:
    """Make a table of numbers of some or all rows and columns."""
    shown = titles if most is None else titles[:MOST_COLUMNS]
    rows = [
        [str(name), *(f"{number:.5g}" for number in row[: len(shown)])]
        for name, row in zip(names[:most], numbers, strict=False)
    ]
    more = [
        *count_more(len(names) - len(rows), "more row", _IN_FULL),
        *count_more(len(titles) - len(shown), "more column", _IN_FULL),
    ]
    return TextTable(["", *shown], rows, more=more, narrow="split")
