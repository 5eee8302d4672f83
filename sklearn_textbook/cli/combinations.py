"""Making ensembles of members by name."""

from __future__ import annotations

from sklearn_textbook._contract.registry import find_class
from sklearn_textbook.cli.algorithms import (
    ALGORITHMS,
    MAYBE_ALONE,
    base_name,
    can_predict,
    find_row,
    grows_one_tree,
    is_many,
    make_estimator,
    set_parameters,
)
from sklearn_textbook.cli.errors import refuse_use

_FINAL = "final_estimator"


def make_combination(
    algorithm, is_classes, settings, seed, *, members, n_trees, n_jobs, prunes, full
):
    """Make an ensemble of named members with their parameters.

    Parameters of a member begin with its name and two underscores; ``final_estimator``
    is the name of an algorithm. Members are names and their algorithms.
    """
    kind = find_class(find_row(base_name(algorithm), is_classes).name)
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


def _require_members(algorithm, is_classes, members, own) -> None:
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


def _require_kind(option, algorithm, is_classes) -> None:
    fits = [name for name in ALGORITHMS if can_predict(name, is_classes)]
    if algorithm not in fits:
        kind = "classes" if is_classes else "numbers"
        refuse_use(
            f"{option}: {algorithm} does not predict {kind}; "
            f"the algorithms that do are {', '.join(fits)}"
        )


def _refuse_settings(algorithm, given) -> None:
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
