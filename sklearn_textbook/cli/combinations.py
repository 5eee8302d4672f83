"""Ensembles of members by name: making them, and what is printed of them."""

from __future__ import annotations

import copy

import numpy as np
from rich.text import Text

from sklearn_textbook.cli import report
from sklearn_textbook.cli.algorithms import (
    ALGORITHMS,
    MAYBE_ALONE,
    base_name,
    can_predict,
    find_class,
    grows_one_tree,
    is_many,
    make_estimator,
    set_parameters,
)
from sklearn_textbook.cli.ensemble_report import is_combination
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.model_report import print_numbers
from sklearn_textbook.cli.output import make_table

_FINAL = "final_estimator"


# ---------------------------------------------------------------------- making
def make_combination(
    algorithm, is_classes, settings, seed, *, members, n_trees, n_jobs, prunes, full
):
    """Make an ensemble of named members with their parameters.

    Parameters
    ----------
    algorithm : str
        Name of the algorithm.
    is_classes : bool
        Whether the target is classes.
    settings : sequence of (str, object)
        Parameters and their values; those of a member begin with its name and two
        underscores. ``final_estimator`` is the name of an algorithm.
    seed : int
        Seed of the random generators, unless the settings have one.
    members : sequence of (str, str)
        Names of the members and of their algorithms.
    n_trees : int or None
        Number of trees of the members that grow many.
    n_jobs : int or None
        Number of threads.
    prunes, full : bool
        Whether CART members are pruned, and whether no members are pruned.

    Returns
    -------
    estimator : estimator
        Not fitted.

    Raises
    ------
    click.UsageError
        If a member or a parameter is not possible.
    """
    kind = find_class(base_name(algorithm), is_classes)
    if not members and base_name(algorithm) in MAYBE_ALONE:
        return _make_alone(kind, algorithm, settings, seed, n_trees, n_jobs, full)
    _require_members(algorithm, is_classes, members, kind([]).get_params(deep=False))
    given = dict(settings)
    _refuse_settings(algorithm, given)
    final = given.get(_FINAL)
    parts = dict(members)
    if isinstance(final, str) and base_name(algorithm) == "stacking":
        _require_kind(f"--set {_FINAL}={final}", final, is_classes)
        parts[_FINAL] = given.pop(_FINAL)
    if n_trees is not None and not any(map(is_many, parts.values())):
        refuse_use("--trees: no member grows many trees")
    if full and not any(map(grows_one_tree, parts.values())):
        refuse_use("--full: no member has a tree that is pruned by default")
    made = {}
    for name, one in parts.items():
        own = _take_settings(given, name)
        made[name] = make_estimator(
            *(one, is_classes, own, seed),
            n_trees if is_many(one) else None,
            n_jobs,
            prunes,
            full and grows_one_tree(one),
        )
        # The out-of-bag score is printed only of an ensemble that is not a member.
        if "oob_score" in made[name].get_params() and "oob_score" not in dict(own):
            made[name].set_params(oob_score=False)
    final = made.pop(_FINAL, None)
    estimator = kind([*made.items()])
    if final is not None:
        estimator.set_params(final_estimator=final)
    elif any(name.startswith(f"{_FINAL}__") for name in given):
        estimator.set_params(final_estimator=estimator._make_default_final())
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    set_parameters(estimator, given)
    return estimator


def _make_alone(kind, algorithm, settings, seed, n_trees, n_jobs, full):
    """Make an ensemble that chooses its models itself, with its parameters."""
    for option, value in (("--trees", n_trees), ("--full", full or None)):
        if value is not None:
            refuse_use(f"{option}: {algorithm} without --member grows no trees")
    _refuse_settings(algorithm, dict(settings))
    estimator = kind(n_jobs=n_jobs, random_state=seed)
    set_parameters(estimator, dict(settings))
    return estimator


def _require_members(algorithm, is_classes, members, own):
    """Refuse unsuitable members, and names that are also parameters."""
    if not members:
        refuse_use(
            f"--algorithm {algorithm} requires members: --member NAME or "
            "NAME=ALGORITHM, as in --member c45 --member forest=random-forest"
        )
    seen = set()
    for name, one in members:
        if name in seen:
            refuse_use(
                f"--member {name} is given twice; NAME=ALGORITHM gives a member "
                f"a different name, as in {name}2={one}"
            )
        seen.add(name)
        if name in own:
            refuse_use(f"--member {name}: {algorithm} has a parameter of this name")
        _require_kind(f"--member {name}", one, is_classes)


def _require_kind(option, algorithm, is_classes):
    fits = [name for name in ALGORITHMS if can_predict(name, is_classes)]
    if algorithm not in fits:
        kind = "classes" if is_classes else "numbers"
        refuse_use(
            f"{option}: {algorithm} does not predict {kind}; "
            f"the algorithms that do are {', '.join(fits)}"
        )


def _refuse_settings(algorithm, given):
    """Refuse parameters that can only be used in Python."""
    for name in ("prefit", "reject_label", "estimators"):
        if given.get(name) not in (None, False):
            refuse_use(f"--set {name}: not possible on the command line")
    if given.get("cv") == "prefit":
        refuse_use("--set cv=prefit: not possible on the command line")
    if given.get("calibration") is not None:
        refuse_use(
            "--set calibration: calibrated members are scikit-learn objects, which a "
            "model file cannot contain"
        )


def _take_settings(given, name):
    """Remove the parameters of a member, and return them without its name."""
    start = f"{name}__"
    return [
        (key.removeprefix(start), given.pop(key))
        for key in list(given)
        if key.startswith(start)
    ]


# ------------------------------------------------------------------- reporting
def list_members(estimator):
    """List the names of the members of an ensemble and these, with its classes.

    Members that have learned numbers of classes are copied, and predict the classes.

    Parameters
    ----------
    estimator : estimator
        Fitted.

    Returns
    -------
    members : list of (str, estimator) tuples
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


def print_members(output, estimator, most=None):
    """Print the members, their weights, and the coefficients of the second learner.

    Parameters
    ----------
    output : Output
        Where to.
    estimator : estimator
        A fitted ensemble of named members.
    most : int, default=None
        Rows of a table of coefficients that are printed; None: all.
    """
    members = list_members(estimator)
    weights = getattr(estimator, "weights_", None)
    if weights is None and hasattr(estimator, "weights"):
        weights = estimator._list_weights()
    heads = ["member", "model"] if weights is None else ["member", "weight", "model"]
    # Descriptions of models are wrapped before names and weights are.
    table = make_table(*heads, right=("weight",), cut=("model",))
    for number, (name, member) in enumerate(members):
        weight = [] if weights is None else [f"{weights[number]:.4g}"]
        table.add_row(name, *weight, report.describe_model(member))
    output.write(table)
    if hasattr(estimator, "posterior_table_"):
        _print_posterior(output, estimator)
    final = getattr(estimator, f"{_FINAL}_", None)
    if final is None:
        return
    output.heading("second learner", report.describe_model(final))
    coef = np.atleast_2d(getattr(final, "coef_", np.empty((0, 0))))
    names = [name for name, _ in members]
    if coef.shape[1] != len(members):
        names = _name_answers(estimator, names)
    if coef.shape[1] != len(names):
        return  # text columns
    titles = _name_regressions(estimator, len(coef))
    numbers = np.column_stack([np.atleast_1d(final.intercept_), coef]).T
    print_numbers(output, titles, ["intercept", *names], numbers, most)


def _print_posterior(output, estimator):
    """Print how the weights of Bayesian model averaging are computed."""
    from sklearn_textbook.ensemble.model_averaging.summary import tabulate_members

    output.heading("posterior probabilities", f"weighting {estimator.weighting}")
    (first, *lines), names_are_cut = tabulate_members(estimator, output.width)
    output.write(Text(first, "dim"), *lines)
    if names_are_cut:
        output.notes(["names are shortened to the width of the terminal"])


def _name_answers(estimator, names):
    """Name the input columns of the second learner."""
    if not hasattr(estimator, "classes_"):
        return [*names, *estimator.get_feature_names_out()[len(names) :]]
    classes = [report.show_label(label) for label in estimator.classes_]
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
    classes = [report.show_label(label) for label in estimator.classes_]
    # The last class may be the reference, which has no coefficients.
    return classes[-1:] if n_regressions == 1 else classes[:n_regressions]
