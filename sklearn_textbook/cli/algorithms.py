"""The algorithms by name, their parameters, and which one a target calls for."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature
from typing import TYPE_CHECKING, NoReturn

from sklearn_textbook._contract.registry import (
    ESTIMATORS,
    PARTS,
    Row,
    find_class,
    list_estimators,
)
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.options import Call
from sklearn_textbook.io.naming import suggest_name

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Folds by which the pruning of trees is chosen, and the algorithms that are pruned so.
PRUNING_FOLDS = 10
PRUNED = ("cart", "oblique-tree")
#: With fewer rows, folds are too small to choose the pruning.
LEAST_ROWS_TO_PRUNE = 50

#: Modules of estimators that take numbers only.
_NUMERIC = ("decomposition", "discriminant_analysis")


def _group(*ways: str) -> dict[str, dict[str, Row]]:
    """Group estimators that are saved in some ways by algorithm, then by target."""
    groups = {}
    # Trees and ensembles come first, however they are saved.
    others = ("linear_model", *_NUMERIC)
    for row in sorted(ESTIMATORS.values(), key=lambda row: row.module.endswith(others)):
        if row.algorithm is not None and row.saved in ways:
            groups.setdefault(row.algorithm, {})[row.predicts] = row
    return groups


_ALL = _group("tree", "rules", "trees", "values")
#: For each algorithm, its estimators by what they predict.
ALGORITHMS = {name: rows for name, rows in _ALL.items() if "nothing" not in rows}
#: Those that need no target.
TRANSFORMERS = {name: rows for name, rows in _ALL.items() if "nothing" in rows}
#: Ensembles of members that are named one by one.
COMBINATIONS = _group("members", "either")
_ENTRIES = {**_ALL, **COMBINATIONS}
#: Those that, without members, average linear models on subsets of the columns.
MAYBE_ALONE = _group("either").keys()
#: What the members of an ensemble may be, by --set estimator=NAME.
MEMBERS = _group("tree").keys()
#: What predicts numbers instead of classes, or classes instead of numbers.
COUNTERPARTS = {
    "linear": "logistic",
    "generalized-linear": "logistic",
    "logistic": "linear",
    "maximum-entropy": "linear",
    "boosting-tree": "gradient-boosting",
    "voting": "averaging",
    "averaging": "voting",
}
Settings = Iterable[tuple[str, object]]


def list_algorithms(entries: dict[str, dict[str, Row]] = ALGORITHMS) -> list[str]:
    """List the names that --algorithm accepts: those for both kinds of targets, too."""
    names = []
    for name, rows in entries.items():
        names.append(name)
        if len(rows) == 2:
            names += [f"{name}-classifier", f"{name}-regressor"]
    return names


def base_name(algorithm: str) -> str:
    """Return the name of an algorithm without the kind of its target."""
    return algorithm.removesuffix("-classifier").removesuffix("-regressor")


def is_many(algorithm: str) -> bool:
    """Return whether an algorithm grows many trees."""
    return _is_saved_as(algorithm, "trees")


def takes_trees(algorithm: str, is_classes: bool) -> bool:
    """Return whether the number of trees of an algorithm can be set."""
    estimator = _make_default(base_name(algorithm), is_classes)
    return has_trees(algorithm) and "n_estimators" in estimator.get_params(deep=False)


def grows_one_tree(algorithm: str) -> bool:
    """Return whether an algorithm grows a single tree, which may be pruned."""
    return _is_saved_as(algorithm, "tree")


def has_trees(algorithm: str) -> bool:
    """Return whether an algorithm grows trees, which support missing values."""
    return _is_saved_as(algorithm, "tree", "rules", "trees")


def _is_saved_as(algorithm: str, *ways: str) -> bool:
    rows = ALGORITHMS[base_name(algorithm)]
    return all(row.saved in ways for row in rows.values())


def takes_numbers_only(algorithm: str, settings: Settings = ()) -> bool:
    """Return whether an algorithm with some parameters requires numeric columns."""
    if dict(settings).get("categorical_features") is not None:
        return False
    rows = _ENTRIES[base_name(algorithm)]
    return all(row.module.endswith(_NUMERIC) for row in rows.values())


def find_wish(algorithm: str) -> str | None:
    """Return the kind of target that a name requires; None: any."""
    for kind in ("classifier", "regressor"):
        if algorithm.endswith(f"-{kind}"):
            return kind
    if "classes" not in _ENTRIES[algorithm]:
        return "regressor"
    return None if "numbers" in _ENTRIES[algorithm] else "classifier"


def find_counterpart(algorithm: str, is_classes: bool) -> str:
    """Find an algorithm that predicts classes, or numbers, in place of another."""
    base = base_name(algorithm)
    if can_predict(base, is_classes):
        return base if is_classes else f"{base}-regressor"
    return COUNTERPARTS.get(base, "cart")


def can_predict(algorithm: str, is_classes: bool) -> bool:
    """Return whether an algorithm predicts classes, or whether it predicts numbers."""
    return ("classes" if is_classes else "numbers") in _ENTRIES[base_name(algorithm)]


def make_estimator(
    algorithm: str,
    is_classes: bool,
    settings: Settings,
    seed: int,
    n_trees: int | None = None,
    n_jobs: int | None = None,
    prunes: bool = False,
    full: bool = False,
) -> BaseEstimator:
    """Make the estimator with its parameters.

    What an ensemble does not know of the settings is a parameter of its members.
    `prunes` prunes trees of `PRUNED`, unless the settings say how; `full` leaves a tree
    whole. An ensemble that leaves rows out of the bag is to judge itself by them, if
    the settings do not say otherwise.
    """
    estimator = _make_default(base_name(algorithm), is_classes)
    params = estimator.get_params()
    if n_trees is not None and not takes_trees(algorithm, is_classes):
        what = "grows a single tree" if has_trees(algorithm) else "grows no trees"
        if base_name(algorithm) == "output-codes":
            what = "grows a tree for each column of the code; --set code_size=X"
        refuse_use(f"--trees: {algorithm} {what}")
    for name, value in (
        ("random_state", seed),
        ("n_estimators", n_trees),
        ("n_jobs", n_jobs),
    ):
        if name in params and value is not None:
            estimator.set_params(**{name: value})
    given = dict(settings)
    if full:
        _forbid_pruning(estimator, algorithm, given)
    elif prunes and base_name(algorithm) in PRUNED:
        _prune_by_default(estimator, given, seed, is_classes)
    named = given.get("estimator")
    if named is not None and not hasattr(named, "fit") and "estimator" in params:
        made_of = find_row(base_name(algorithm), is_classes).made_of
        has_classes = (
            ESTIMATORS[made_of].predicts == "classes" if made_of else is_classes
        )
        member = _make_member(given.pop("estimator"), has_classes)
        estimator.set_params(estimator=member)
    set_parameters(estimator, given)
    if "oob_score" in params and "oob_score" not in given:
        estimator.set_params(
            oob_score=estimator.bootstrap is True and estimator.warm_start is False
        )
    return estimator


def make_settings(settings: Settings, seed: int) -> list[tuple[str, object]]:
    """Make the objects of parameters that are written as calls of classes.

    Their values may be a `Call` or the name of a class: pruners, losses and estimators
    of this package. `seed` is that of objects that have one and are not given another.
    """
    return [
        (name, _make_called(value, f"--set {name}", seed)) for name, value in settings
    ]


def _make_called(value: object, where: str, seed: int) -> object:
    """Make the object that a call describes; return any other value as it is."""
    if not isinstance(value, Call | str):
        return value
    classes = [*list_estimators(), *PARTS]
    if isinstance(value, str):
        if value not in classes:
            return value
        value = Call(value, {})
    if value.name not in classes:
        pruners = [name for name in classes if name.endswith("Pruning")]
        question = suggest_name(value.name, classes)
        refuse_use(
            f"{where}: there is no class {value.name!r} to call; "
            f"{question}{' ' if question else ''}Possible are {', '.join(pruners)}, "
            "and estimators and losses of this package"
        )
    kind = find_class(value.name)
    known = signature(kind).parameters
    for name in value.parameters:
        if name not in known:
            question = suggest_name(name, known)
            refuse_use(
                f"{where}: {value.name} has no parameter {name!r}; "
                f"{question}{' ' if question else ''}It has {', '.join(known)}"
            )
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in value.parameters:
            refuse_use(f"{where}: {value.name} requires the parameter {name!r}")
    given = {"random_state": seed} if "random_state" in known else {}
    for name, each in value.parameters.items():
        given[name] = _make_called(each, where, seed)
    return kind(**given)


def make_transformer(algorithm: str, settings: Settings, seed: int) -> BaseEstimator:
    """Make an estimator that needs no target, with its parameters; not fitted."""
    kind = find_class(TRANSFORMERS[algorithm]["nothing"].name)
    estimator = kind(random_state=seed)
    set_parameters(estimator, dict(settings))
    return estimator


def _forbid_pruning(estimator: BaseEstimator, algorithm: str, given: dict) -> None:
    """Leave a tree whole; refuse parameters that prune it."""
    if is_many(algorithm) or "pruning" not in estimator.get_params(deep=False):
        refuse_use(f"--full: {algorithm} has no tree that is pruned by default")
    for name in given:
        if name.partition("__")[0] in ("pruning", "ccp_alpha"):
            refuse_use(f"--full grows the whole tree, and --set {name} prunes it")
    estimator.set_params(pruning=None)


def _prune_by_default(
    estimator: BaseEstimator, given: dict, seed: int, is_classes: bool
) -> None:
    """Prune by cross-validation.

    The error rate ignores probabilities. If one class is rare, it often chooses a
    single leaf, so classes are pruned by the Gini risk instead.
    """
    if "pruning" in given or "ccp_alpha" in given:
        return
    from sklearn_textbook.tree import CostComplexityPruning

    how = {"scoring": "gini"} if is_classes else {"rule": "1se"}
    pruner = CostComplexityPruning(PRUNING_FOLDS, random_state=seed, **how)
    estimator.set_params(pruning=pruner)


def _make_default(algorithm: str, is_classes: bool) -> BaseEstimator:
    """Make the estimator of an algorithm, with members whose parameters can be set."""
    row = find_row(algorithm, is_classes)
    estimator = find_class(row.name)()
    if row.made_of is not None and "estimator" in estimator.get_params(deep=False):
        estimator.set_params(estimator=find_class(row.made_of)())
    return estimator


def _make_member(algorithm: str, is_classes: bool) -> BaseEstimator:
    """Make the base estimator of an ensemble from the name of its algorithm."""
    fits = [name for name in MEMBERS if can_predict(name, is_classes)]
    if algorithm not in fits:
        kind = "classes" if is_classes else "numbers"
        refuse_use(
            f"--set estimator={algorithm}: the members predict {kind}; they may be "
            f"{', '.join(fits)}"
        )
    return _make_default(algorithm, is_classes)


def find_row(algorithm: str, is_classes: bool) -> Row:
    """Find the row of an algorithm that predicts classes, or numbers."""
    return _ENTRIES[algorithm]["classes" if is_classes else "numbers"]


def set_parameters(estimator: BaseEstimator, given: dict) -> None:
    """Set parameters, of members where the estimator has none of the name."""
    own, of_member = estimator.get_params(deep=False), {}
    if own.get("estimator") is not None:
        of_member = own["estimator"].get_params(deep=False)
    given = {
        f"estimator__{name}"
        if name.partition("__")[0] not in own and name.partition("__")[0] in of_member
        else name: value
        for name, value in given.items()
    }
    # Outer parameters first: whether there is a pruning__confidence depends on pruning.
    for depth in range(max((name.count("__") for name in given), default=0) + 1):
        group = {
            name: value for name, value in given.items() if name.count("__") == depth
        }
        allowed = estimator.get_params()
        for name in group:
            if name not in allowed:
                _refuse_parameter(estimator, name, allowed)
        estimator.set_params(**group)


def _refuse_parameter(
    estimator: BaseEstimator, name: str, allowed: Iterable[str]
) -> NoReturn:
    """Refuse a parameter that neither an estimator nor its members have."""
    # Parameters of members need no prefix.
    known = list(dict.fromkeys(each.removeprefix("estimator__") for each in allowed))
    question = suggest_name(name.removeprefix("estimator__"), known)
    # Of many members, only the parameters of the one that is meant are listed.
    member = name.replace("_", "-").partition("--")[0]
    of_member = [each for each in known if each.startswith(f"{member}__")]
    names = of_member or [each for each in known if "__" not in each]
    refuse_use(
        f"--set: {type(estimator).__name__} has no parameter {name!r}; "
        f"{question}{' ' if question else ''}It has {', '.join(names)}"
    )
