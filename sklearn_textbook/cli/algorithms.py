"""The algorithms by name, their parameters, and which one a target calls for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.io.naming import suggest_name

#: Whole numbers with at most so many distinct values are taken as classes.
MOST_NUMBERED_CLASSES = 10


@dataclass(frozen=True)
class Algorithm:
    """One algorithm.

    Parameters
    ----------
    module : str
        Where its estimators are.
    classifier : str
        Name of the classifier.
    regressor : str, default=None
        Name of the regressor; None if it has none.
    """

    module: str
    classifier: str
    regressor: str | None = None


ALGORITHMS = {
    "cart": Algorithm("sklearn_textbook.tree", "CARTClassifier", "CARTRegressor"),
    "id3": Algorithm("sklearn_textbook.tree", "ID3Classifier"),
    "c45": Algorithm("sklearn_textbook.tree", "C45Classifier"),
    "c45-rules": Algorithm("sklearn_textbook.tree", "C45RulesClassifier"),
}


def list_algorithms():
    """List the names that --algorithm takes.

    Returns
    -------
    names : list of str
        Every algorithm; those for both kinds of targets with either kind named, too.
    """
    names = []
    for name, algorithm in ALGORITHMS.items():
        names.append(name)
        if algorithm.regressor:
            names += [f"{name}-classifier", f"{name}-regressor"]
    return names


def base_name(algorithm):
    """Give the name of an algorithm without the kind of its target."""
    return algorithm.removesuffix("-classifier").removesuffix("-regressor")


def find_wish(algorithm):
    """Tell which kind of target a name asks for; None leaves it to the target."""
    for kind in ("classifier", "regressor"):
        if algorithm.endswith(f"-{kind}"):
            return kind
    return None if ALGORITHMS[algorithm].regressor else "classifier"


def make_estimator(algorithm, is_classes, settings, seed):
    """Make the estimator with its parameters.

    Parameters
    ----------
    algorithm : str
        Name of the algorithm.
    is_classes : bool
        Whether the target is classes.
    settings : sequence of (str, object)
        Parameters and their values.
    seed : int
        Seed of its random generator, unless the settings have one.

    Returns
    -------
    estimator : estimator
        Not fitted.

    Raises
    ------
    click.UsageError
        If there is no such parameter.
    """
    entry = ALGORITHMS[base_name(algorithm)]
    name = entry.classifier if is_classes else entry.regressor
    estimator = getattr(import_module(entry.module), name)()
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=seed)
    parts = {parameter: value for parameter, value in settings if "__" in parameter}
    whole = {parameter: value for parameter, value in settings if "__" not in parameter}
    # What a part has, such as pruning__confidence, depends on which part it is.
    for group in (whole, parts):
        allowed = estimator.get_params()
        for parameter in group:
            if parameter not in allowed:
                question = suggest_name(parameter, allowed)
                refuse_use(
                    f"--set: {name} has no parameter {parameter!r}; "
                    f"{question}{' ' if question else ''}It has {', '.join(allowed)}"
                )
        estimator.set_params(**group)
    return estimator
